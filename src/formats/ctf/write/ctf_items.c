/* The item list: allocation, and conversion of event attributes to items. Attributes are
 * properties of an event that are not fields, such as kind, provider or thread
 * (ctf_conventions.h). */
#include "formats/ctf/write/ctf_write.h"

#include "base/number.h"

/* --- Item list --- */

void ctf_items_init(struct ctf_items *items, const struct alloc *alloc)
{
    *items = (struct ctf_items){.alloc = alloc};
}

void ctf_items_free(struct ctf_items *items)
{
    if (items->alloc)
        alloc_free(items->alloc, items->field, items->capacity, sizeof *items->field);
}

ttr_field *ctf_items_add(struct ctf_items *items)
{
    if (items->n == items->capacity &&
        !alloc_reserve(items->alloc, (void **)&items->field, &items->capacity, items->n + 1,
                       sizeof *items->field)) {
        items->failed = true;
        return NULL;
    }
    ttr_field *field = &items->field[items->n++];
    field_clear(field);
    return field;
}

size_t ctf_items_count_nested(const struct ctf_items *items, size_t at)
{
    size_t inside = 0;
    for (uint64_t left = 1; left && at + inside < items->n; inside++) {
        const ttr_value *value = &items->field[at + inside].value;
        left--;
        left += value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT ? value->count : 0;
    }
    return inside;
}

/* --- Attributes of events --- */

void ctf_items_clear(struct ctf_items *items)
{
    items->n = items->common_n = items->context_n = items->attributes_n = items->payload_at = 0;
    items->context_members = 0;
    items->common_shape = items->context_shape = items->payload_shape = 0;
}

static ttr_field *add_attribute(struct ctf_items *items, enum ctf_attribute attribute)
{
    ttr_field *field = ctf_items_add(items);
    if (field)
        field->name =
            (ttr_text){ctf_attribute_names[attribute], strlen(ctf_attribute_names[attribute])};
    return field;
}

static void add_number_attribute(struct ctf_items *items, enum ctf_attribute attribute,
                                 uint64_t value, unsigned bits)
{
    ttr_field *field = add_attribute(items, attribute);
    if (field)
        field->value = (ttr_value){.type = TTR_TYPE_UINT, .v.u = value, .bits = (uint8_t)bits};
}

void ctf_items_add_constant(struct ctf_items *items, enum ctf_attribute attribute, uint64_t value,
                            ttr_text label)
{
    ttr_field *field = add_attribute(items, attribute);
    if (field)
        field->value = (ttr_value){.type = TTR_TYPE_UINT,
                                   .hint = CTF_ITEM_CONSTANT,
                                   .v.u = value,
                                   .bits = 8,
                                   .text = label};
}

/* Adds a number as 32 bits if it fits, otherwise as 64 bits. Uses no other widths, because each
 * width requires another event class. */
static void add_number_attribute_32_or_64(struct ctf_items *items, enum ctf_attribute attribute,
                                          uint64_t value)
{
    add_number_attribute(items, attribute, value, value > UINT32_MAX ? 64 : 32);
}

void ctf_items_add_thread(struct ctf_items *items, const ttr_thread *thread, enum ctf_attribute pid)
{
    if (thread->pid_known)
        add_number_attribute_32_or_64(items, pid, thread->pid);
    if (thread->tid_known)
        add_number_attribute_32_or_64(items, pid + 1, thread->tid);
}

static void add_uuid_attribute(struct ctf_items *items, enum ctf_attribute attribute,
                               const uint8_t *id)
{
    ttr_field *field = id ? add_attribute(items, attribute) : NULL;
    if (field)
        field->value = (ttr_value){
            .type = TTR_TYPE_BYTES, .hint = CTF_ITEM_FIXED, .text = {(const char *)id, 16}};
}

static void add_optional_attributes(struct ctf_items *items, const ttr_event *event)
{
    uint8_t flags = event->flags & (uint8_t) ~(TTR_EVENT_RAW | TTR_EVENT_HAS_CPU);
    if (event->tag)
        add_number_attribute(items, CTF_ATTRIBUTE_TAG, event->tag, 16);
    if (flags)
        add_number_attribute(items, CTF_ATTRIBUTE_FLAGS, flags, 8);
    if (event->level > TTR_LEVEL_FATAL)
        add_number_attribute(items, CTF_ATTRIBUTE_LEVEL, event->level, 8);
    if (event->opcode)
        add_number_attribute(items, CTF_ATTRIBUTE_OPCODE, event->opcode, 8);
    if (event->keyword)
        add_number_attribute(items, CTF_ATTRIBUTE_KEYWORD, event->keyword, 64);
    if (event->sequence)
        add_number_attribute(items, CTF_ATTRIBUTE_SEQUENCE, event->sequence, 32);
    add_uuid_attribute(items, CTF_ATTRIBUTE_ACTIVITY, event->activity);
    add_uuid_attribute(items, CTF_ATTRIBUTE_RELATED, event->related);
}

static void add_link_attribute(struct ctf_items *items, const struct ctf_items_config *what,
                               const ttr_event *event)
{
    ttr_thread other;
    bool is_thread = event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE;
    if (!is_thread && event->link)
        add_number_attribute_32_or_64(items, CTF_ATTRIBUTE_LINK, event->link);
    else if (is_thread && event->link <= UINT32_MAX &&
             ttr_thread_get(what->out->t, (ttr_id)event->link, &other))
        ctf_items_add_thread(items, &other, CTF_ATTRIBUTE_OTHER_PID);
}

static void add_kind_attribute(struct ctf_items *items, const struct ctf_items_config *what,
                               const ttr_event *event)
{
    unsigned kind = event->kind < TTR_KIND_COUNT ? event->kind : TTR_KIND_NONE;
    const char *label = ttr_kind_text(kind);
    if (kind != event->kind)
        output_count_loss(what->out, CTF_LOST_KIND, event->offset);
    if (kind != TTR_KIND_INSTANT)
        ctf_items_add_constant(items, CTF_ATTRIBUTE_KIND, kind, (ttr_text){label, strlen(label)});
}

/* Adds the provider's event id and version as labels of constants, which need no bits in events:
 * all events of a class have the same values. */
static void add_event_number(struct ctf_items *items, const ttr *t, const ttr_event *event)
{
    uint32_t number, version;
    if (!ttr_event_number(t, event, &number, &version))
        return;
    size_t n = number_format_u64(items->number, number),
           version_n = number_format_u64(items->version, version);
    ctf_items_add_constant(items, CTF_ATTRIBUTE_EVENT_ID, 0, (ttr_text){items->number, n});
    if (version)
        ctf_items_add_constant(items, CTF_ATTRIBUTE_EVENT_VERSION, 0,
                               (ttr_text){items->version, version_n});
}

void ctf_items_add_attributes(struct ctf_items *items, const struct ctf_items_config *what,
                              const ttr_event *event)
{
    const ttr *t = what->out->t;
    ttr_thread thread;
    add_kind_attribute(items, what, event);
    if (event->category)
        ctf_items_add_constant(items, CTF_ATTRIBUTE_CATEGORY, 0, ttr_text_get(t, event->category));
    if (event->provider)
        ctf_items_add_constant(items, CTF_ATTRIBUTE_PROVIDER, 0, ttr_text_get(t, event->provider));
    add_event_number(items, t, event);
    if (event->thread && ttr_thread_get(t, event->thread, &thread))
        ctf_items_add_thread(items, &thread, CTF_ATTRIBUTE_PID);
    if ((event->flags & TTR_EVENT_HAS_CPU) && !what->has_cpu)
        add_number_attribute(items, CTF_ATTRIBUTE_CPU, event->cpu, 32);
    if (event->kind == TTR_KIND_SPAN || event->duration)
        add_number_attribute_32_or_64(items, CTF_ATTRIBUTE_DURATION, event->duration);
    add_link_attribute(items, what, event);
    add_optional_attributes(items, event);
    items->attributes_n = items->n;
}

void ctf_items_add_text(struct ctf_items *items, const char *name, ttr_text text)
{
    items->attributes_n = items->attributes_n ? items->attributes_n : items->n;
    ttr_field *field = ctf_items_add(items);
    if (!field)
        return;
    field->name = (ttr_text){name, strlen(name)};
    field->value = (ttr_value){.type = TTR_TYPE_TEXT, .text = text};
}

void ctf_items_add_name(struct ctf_items *items, ttr_text name, bool is_rfc)
{
    ttr_field *field = add_attribute(items, CTF_ATTRIBUTE_NAME);
    if (!field)
        return;
    ttr_field ctx = *field;
    ctx.value = (ttr_value){.type = TTR_TYPE_TEXT, .text = name};
    field = &items->field[items->attributes_n];
    memmove(field + 1, field, (items->n - 1 - items->attributes_n) * sizeof *field);
    *field = ctx;
    items->attributes_n++;
    items->payload_at++;
    items->context_members += items->context_members > 0;
    uint64_t *shape = is_rfc ? &items->payload_shape : &items->context_shape;
    *shape = hash_pair(*shape, CTF_ATTRIBUTE_NAME);
    items->context_n += !is_rfc;
}
