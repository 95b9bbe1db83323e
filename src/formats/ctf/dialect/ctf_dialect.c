/* Reader of the dialect: replaces field types of the dialect by the types they encode, before any
 * layout is compiled. The bits stay the same. Attributes are located in the specific context (RFC:
 * at the start of the payload) and copied into events.
 *
 * Order of calls: ctf_dialect_prepare after metadata was parsed; ctf_dialect_find_attributes once
 * per event class; ctf_dialect_set_attributes per event.
 *
 * Traces that only claim to use the dialect are read as far as they follow it. */
#include "formats/ctf/dialect/ctf_dialect.h"

#include "base/bit_cursor.h"
#include "base/status.h"

#define WRAPPER_ELEMENTS "elements"
#define LENGTH_BITS 32u

/* --- Replacing types --- */

struct turning {
    struct ctf_description *description;
    /* (type, use) to the index of its replacement; use 0: a type, 1: a root with attributes */
    struct pair_map done;
    const struct type **type;
    size_t n, capacity;
    unsigned depth;
    bool failed;
};

static const struct type *replace_member(struct turning *turning, const struct type *type);

static bool is_text_type(ttr_text text, const char *expected)
{
    return text.n == strlen(expected) && memcmp(text.p, expected, text.n) == 0;
}

static bool is_same_type(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static void *take(struct turning *turning, size_t size)
{
    void *block = arena_alloc(&turning->description->arena, size);
    turning->failed |= !block;
    return block;
}

static struct type *copy_type(struct turning *turning, const struct type *type)
{
    struct type *copy = take(turning, sizeof *copy);
    if (copy)
        *copy = *type;
    return copy;
}

/* Reports whether label i of an enumeration has this name and only this value. */
static bool has_label(const struct type *type, uint32_t i, const char *name, uint64_t value)
{
    const struct type_label *label = &type->labels->label[i];
    return is_text_type(label->name, name) && label->ranges_n == 1 &&
           label->ranges[0].low == value && label->ranges[0].high == value;
}

static const struct type *replace_number(struct turning *turning, const struct type *type)
{
    uint32_t labels_n =
        type->labels && type->bits == 8 && type->kind == TYPE_UINT ? type->labels->n : 0;
    bool is_bool = labels_n == 2 && has_label(type, 0, "false", 0) && has_label(type, 1, "true", 1);
    bool is_absent = labels_n == 1 && has_label(type, 0, "absent", 0),
         is_null = is_absent || (labels_n == 1 && has_label(type, 0, "null", 0));
    if (!is_bool && !is_null && (type->base != 16 || type->labels))
        return type;
    struct type *copy = copy_type(turning, type);
    if (!copy)
        return type;
    copy->labels = NULL;
    copy->base = 10;
    copy->kind = is_bool ? TYPE_BOOL : is_null ? TYPE_NULL : type->kind;
    copy->hint = is_absent            ? TTR_DISPLAY_ABSENT
                 : is_bool || is_null ? TTR_DISPLAY_NONE
                                      : TTR_DISPLAY_POINTER;
    return copy;
}

/* Removes the structs that were flattened from the path to a length. */
static void replace_reference(struct turning *turning, struct type *type)
{
    struct type_reference *reference = &type->reference;
    ttr_text *names = reference->names_n ? take(turning, reference->names_n * sizeof *names) : NULL;
    uint32_t n = 0;
    if (!names)
        return;
    for (uint32_t i = 0; i < reference->names_n; i++)
        if (!is_text_type(reference->names[i], WRAPPER_ELEMENTS) &&
            !is_text_type(reference->names[i], "_" WRAPPER_ELEMENTS))
            names[n++] = reference->names[i];
    reference->names = names;
    reference->names_n = n;
}

static bool is_hexadecimal_byte(const struct type *type)
{
    return type->kind == TYPE_UINT && type->bits == 8 && type->base == 16 && type->align == 3 &&
           !type->labels;
}

/* Replaces an array or sequence. `length`: type of its length field if known. */
static const struct type *replace_array(struct turning *turning, const struct type *type,
                                        const struct type *length)
{
    struct type *copy = copy_type(turning, type);
    if (!copy)
        return type;
    bool is_bytes = type->kind == TYPE_SEQUENCE && length && length->bits == LENGTH_BITS &&
                    is_hexadecimal_byte(type->element);
    replace_reference(turning, copy);
    if (is_bytes)
        copy->kind = TYPE_BLOB;
    copy->element = is_bytes ? NULL : replace_member(turning, type->element);
    return copy;
}

/* Reports whether member i is the length of the next member. */
static bool is_length_of_next(const struct type *type, uint32_t i)
{
    if (i + 1 >= type->members_n || type->members[i].type->kind != TYPE_UINT)
        return false;
    const struct type *next = type->members[i + 1].type;
    bool is_counted = next->kind == TYPE_SEQUENCE || next->kind == TYPE_BLOB;
    return is_counted && !next->has_inline_length && next->reference.names_n &&
           is_same_type(next->reference.names[next->reference.names_n - 1], type->members[i].name);
}

static const struct type *replace_value(struct turning *turning, const struct type *type,
                                        const struct type *length)
{
    switch (type->kind) {
    case TYPE_SEQUENCE:
        return replace_array(turning, type, type->has_inline_length ? type->length_type : length);
    case TYPE_ARRAY:
        return replace_array(turning, type, NULL);
    case TYPE_BLOB: {
        struct type *copy = copy_type(turning, type);
        if (copy)
            replace_reference(turning, copy);
        return copy ? copy : type;
    }
    default:
        return replace_member(turning, type);
    }
}

static ttr_text unescape_name(struct turning *turning, ttr_text name)
{
    struct buffer plain;
    buffer_init(&plain, turning->description->alloc);
    ctf_name_unescape(&plain, name);
    const char *ctx =
        plain.failed ? NULL : arena_copy(&turning->description->arena, plain.bytes, plain.n);
    ttr_text text = {ctx ? ctx : "", ctx ? plain.n : 0};
    turning->failed |= !ctx;
    buffer_free(&plain);
    return text;
}

/* Returns the earlier replacement of a type; NULL if it was not replaced yet. */
static const struct type *find_replacement(const struct turning *turning, const struct type *type,
                                           unsigned use)
{
    const uint32_t *index = pair_map_get(&turning->done, (uintptr_t)type, use);
    return index ? turning->type[*index] : NULL;
}

static const struct type *add_replacement(struct turning *turning, const struct type *type,
                                          unsigned use, const struct type *became)
{
    if (turning->n >= UINT32_MAX ||
        !alloc_reserve(turning->description->alloc, (void **)&turning->type, &turning->capacity,
                       turning->n + 1, sizeof *turning->type) ||
        !pair_map_put(&turning->done, (uintptr_t)type, use, (uint32_t)turning->n)) {
        turning->failed = true;
        return became;
    }
    turning->type[turning->n++] = became;
    return became;
}

/* Returns a copy of a number that readers do not see; its bits remain in the record. */
static const struct type *hide_number(struct turning *turning, const struct type *type,
                                      unsigned role)
{
    const struct type *known = find_replacement(turning, type, role);
    struct type *copy = known ? NULL : copy_type(turning, type);
    if (!copy)
        return known ? known : type;
    copy->role = (uint16_t)role;
    return add_replacement(turning, type, role, copy);
}

static enum ctf_attribute attribute_of_member(ttr_text name)
{
    unsigned i = 0;
    while (i < CTF_ATTRIBUTE_COUNT && !is_text_type(name, ctf_attribute_names[i]))
        i++;
    return (enum ctf_attribute)i;
}

static const struct type *replace_members(struct turning *turning, const struct type *type,
                                          bool has_attributes)
{
    struct type *copy = copy_type(turning, type);
    struct type_member *members = take(turning, type->members_n * sizeof *members + 1);
    if (!copy || !members)
        return type;
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type_member *member = &type->members[i];
        enum ctf_attribute attribute =
            has_attributes ? attribute_of_member(member->shown) : CTF_ATTRIBUTE_COUNT;
        members[i] = *member;
        members[i].shown = unescape_name(turning, member->shown);
        if (attribute != CTF_ATTRIBUTE_COUNT)
            members[i].type = hide_number(turning, member->type, CTF_ROLE_ATTRIBUTE + attribute);
        else if (is_length_of_next(type, i))
            members[i].type = hide_number(turning, member->type, CTF_ROLE_HIDDEN);
        else
            members[i].type = replace_value(
                turning, member->type,
                i && is_length_of_next(type, i - 1) ? type->members[i - 1].type : NULL);
    }
    copy->members = members;
    return copy;
}

static const struct type *replace_with_hint(struct turning *turning, const struct type *type,
                                            uint8_t hint)
{
    struct type *copy = copy_type(turning, type);
    if (copy)
        copy->hint = hint;
    return copy ? copy : type;
}

static const struct type *replace_struct(struct turning *turning, const struct type *type)
{
    const struct type_member *first = type->members;
    if (type->members_n == 1 && is_text_type(first->shown, "koid") &&
        (first->type->kind == TYPE_UINT || first->type->kind == TYPE_INT))
        return replace_with_hint(turning, first->type, TTR_DISPLAY_KOID);
    if (type->members_n == 1 && is_text_type(first->shown, "number") &&
        first->type->kind == TYPE_STRING)
        return replace_with_hint(turning, first->type, TTR_DISPLAY_DECIMAL);
    if (type->members_n != 2 || !is_text_type(first[1].shown, WRAPPER_ELEMENTS) ||
        !is_length_of_next(type, 0))
        return replace_members(turning, type, false);
    /* An array in an array: the length of the inner one becomes part of its type. */
    struct type *copy = copy_type(turning, replace_value(turning, first[1].type, first->type));
    if (!copy)
        return type;
    copy->reference = (struct type_reference){.names = NULL};
    copy->has_inline_length = true;
    copy->length_type = first->type;
    return copy;
}

static const struct type *replace_type(struct turning *turning, const struct type *type)
{
    switch (type->kind) {
    case TYPE_UINT:
    case TYPE_INT:
        return replace_number(turning, type);
    case TYPE_STRUCT:
        return replace_struct(turning, type);
    case TYPE_SEQUENCE:
    case TYPE_ARRAY:
    case TYPE_BLOB:
        return replace_value(turning, type, NULL);
    default:
        return type;
    }
}

static const struct type *replace_member(struct turning *turning, const struct type *type)
{
    const struct type *known = find_replacement(turning, type, 0);
    if (known || turning->failed || turning->depth > TYPE_DEPTH_MAX)
        return known ? known : type;
    turning->depth++;
    const struct type *became = replace_type(turning, type);
    turning->depth--;
    return add_replacement(turning, type, 0, became);
}

/* Replaces a root: only its members, including the attributes. */
static const struct type *replace_root(struct turning *turning, const struct type *type,
                                       bool has_attributes)
{
    if (!type || type->kind != TYPE_STRUCT)
        return type;
    const struct type *known = find_replacement(turning, type, 1u + has_attributes);
    return known ? known
                 : add_replacement(turning, type, 1u + has_attributes,
                                   replace_members(turning, type, has_attributes));
}

/* Hides the event size, which is only needed to read damaged packets. */
static void hide_event_size(struct turning *turning, struct ctf_stream_class *stream)
{
    const struct type *context = stream->event_context;
    if (!stream->rfc_has_event_size || !context || context->members_n != 1 ||
        context->members[0].type->role)
        return;
    struct type *copy = copy_type(turning, context);
    struct type_member *member = take(turning, sizeof *member);
    if (!copy || !member)
        return;
    *member = context->members[0];
    member->type = hide_number(turning, member->type, CTF_ROLE_HIDDEN);
    copy->members = member;
    stream->event_context = copy;
}

ttr_status ctf_dialect_prepare(struct ctf_description *description, ttr_error *error)
{
    struct turning turning = {.description = description};
    bool is_rfc = description->version == CTF_RFC_1_1;
    if (!ctf_uses_dialect(description))
        return TTR_OK;
    pair_map_init(&turning.done, description->alloc);
    for (size_t i = 0; i < description->streams_n; i++) {
        hide_event_size(&turning, description->streams[i]);
        for (size_t k = 0; k < description->streams[i]->events_n; k++) {
            struct ctf_event_class *event = description->streams[i]->events[k];
            if (event->is_dialect_prepared)
                continue;
            event->context = replace_root(&turning, event->context, true);
            event->payload = replace_root(&turning, event->payload, is_rfc);
            event->is_dialect_prepared = true;
        }
    }
    pair_map_free(&turning.done);
    alloc_free(description->alloc, turning.type, turning.capacity, sizeof *turning.type);
    return turning.failed ? fail_memory(error) : TTR_OK;
}

/* --- Attributes --- */

bool ctf_is_listed_class(const struct ctf_event_class *event)
{
    size_t n = strlen(CTF_DIALECT_LISTED);
    return event->name.n == n && memcmp(event->name.p, CTF_DIALECT_LISTED, n) == 0;
}

ttr_id ctf_intern_unescaped(ttr *t, ttr_text escaped, bool *failed)
{
    struct buffer plain;
    if (!ctf_has_escapes(escaped)) {
        ttr_id id = escaped.n ? ttr_text_add(t, escaped.p, escaped.n) : 0;
        *failed |= escaped.n && !id;
        return id;
    }
    buffer_init(&plain, &t->counted);
    ctf_name_unescape(&plain, escaped);
    ttr_id id = plain.failed || plain.n == 0 ? 0 : ttr_text_add(t, plain.bytes, plain.n);
    *failed |= plain.failed || (plain.n && !id);
    buffer_free(&plain);
    return id;
}

/* Parses a label as a number. Returns false unless it is a number of 32 bits. */
static bool parse_label_number(ttr_text label, uint32_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < label.n && value <= UINT32_MAX; i++) {
        if (label.p[i] < '0' || label.p[i] > '9')
            return false;
        value = 10 * value + (uint64_t)(label.p[i] - '0');
    }
    *number = value <= UINT32_MAX ? (uint32_t)value : 0;
    return label.n > 0 && value <= UINT32_MAX;
}

/* Copies an attribute that is the same for all events of the class. */
static void set_constant_attribute(ttr *t, const struct type *type,
                                   struct ctf_dialect_attributes *said)
{
    const struct type_label *label =
        type->labels && type->labels->n ? &type->labels->label[0] : NULL;
    if (!label || label->ranges_n == 0)
        return;
    switch (type->role - CTF_ROLE_ATTRIBUTE) {
    case CTF_ATTRIBUTE_KIND:
        said->kind = (uint8_t)label->ranges[0].low;
        break;
    case CTF_ATTRIBUTE_CATEGORY:
        said->category = ctf_intern_unescaped(t, label->name, &said->failed);
        break;
    case CTF_ATTRIBUTE_PROVIDER:
        said->provider = ctf_intern_unescaped(t, label->name, &said->failed);
        break;
    case CTF_ATTRIBUTE_EVENT_ID:
        said->has_number = parse_label_number(label->name, &said->number);
        break;
    default:
        (void)parse_label_number(label->name, &said->version);
    }
}

/* Adds an attribute at bit `bit` from the start of the root. Returns its size in bits, or 0 if the
 * offsets after it are not fixed. */
static uint64_t add_attribute_spot(const struct type *type, uint64_t bit,
                                   struct ctf_dialect_attributes *said)
{
    bool is_id = (type->kind == TYPE_ARRAY || type->kind == TYPE_BLOB) && type->count == 16 &&
                 !type->reference.names_n && (!type->element || type->element->bits == 8);
    bool is_number = type->kind == TYPE_UINT && type->bits <= 64 &&
                     (type->bits & (type->bits - 1)) == 0 && type->bits >= 8 && !type->is_reversed;
    bool is_string = type->kind == TYPE_STRING && type->bits == 8;
    uint64_t bits = is_number ? type->bits : is_id ? 128 : 0;
    if ((!bits && !is_string) || (bit & 7) || bit / 8 > UINT16_MAX)
        return 0;
    struct ctf_attribute_pos spot = {.at = (uint16_t)(bit / 8),
                                     .bytes = is_string ? 1 : (uint8_t)(bits / 8),
                                     .is_big_endian = type->is_big_endian,
                                     .attribute = (uint8_t)(type->role - CTF_ROLE_ATTRIBUTE)};
    if (spot.attribute > CTF_ATTRIBUTE_LAST_CONSTANT && said->n < CTF_ATTRIBUTE_COUNT &&
        is_string == (spot.attribute == CTF_ATTRIBUTE_NAME))
        said->spot[said->n++] = spot;
    if (said->bytes < (uint32_t)spot.at + spot.bytes)
        said->bytes = (uint32_t)spot.at + spot.bytes;
    return bits;
}

/* Adds the size in bits of a common context that contains only numbers, such as the RFC's event
 * size. Returns false for any other context. */
static bool skip_common_context(const struct type *type, struct ctf_dialect_attributes *said)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; type && i < type->members_n; i++) {
        const struct type *member = type->members[i].type;
        uint64_t mask = (UINT64_C(1) << member->align) - 1;
        if (member->kind != TYPE_UINT && member->kind != TYPE_INT)
            return false;
        bits = ((bits + mask) & ~mask) + member->bits;
    }
    said->context_align = type ? type->align : 0;
    said->context_bits = (uint32_t)bits;
    return bits < UINT32_MAX;
}

ttr_status ctf_dialect_find_attributes(const struct ctf_description *description, ttr *t,
                                       const struct ctf_event_class *event,
                                       struct ctf_dialect_attributes *said, ttr_error *error)
{
    const struct type *type = description->version == CTF_RFC_1_1 ? event->payload : event->context;
    uint64_t bit = 0;
    *said = (struct ctf_dialect_attributes){
        .kind = TTR_KIND_INSTANT,
        .level = (uint8_t)(event->has_log_level ? ctf_level_of_log_level(event->log_level) : 0)};
    size_t unnamed_n = strlen(CTF_DIALECT_UNNAMED);
    bool is_unnamed =
        event->name.n >= unnamed_n && memcmp(event->name.p, CTF_DIALECT_UNNAMED, unnamed_n) == 0;
    said->name = is_unnamed ? 0 : ctf_intern_unescaped(t, event->name, &said->failed);
    said->align = type ? type->align : 0;
    bool is_fixed = skip_common_context(event->stream->event_context, said);
    for (uint32_t i = 0; type && i < type->members_n; i++) {
        const struct type *member = type->members[i].type;
        unsigned attribute = (unsigned)member->role - CTF_ROLE_ATTRIBUTE;
        if (member->role < CTF_ROLE_ATTRIBUTE || attribute >= CTF_ATTRIBUTE_COUNT)
            break; /* attributes come before all other fields */
        if (attribute <= CTF_ATTRIBUTE_LAST_CONSTANT)
            set_constant_attribute(t, member, said);
        uint64_t mask = (UINT64_C(1) << member->align) - 1, bits = 0;
        bit = (bit + mask) & ~mask;
        if (is_fixed)
            bits = add_attribute_spot(member, bit, said);
        is_fixed = bits > 0;
        bit += bits;
    }
    said->is_names = said->kind == CTF_KIND_NAMES;
    said->is_listed = ctf_is_listed_class(event);
    return said->failed ? fail_memory(error) : TTR_OK;
}

static uint64_t load_attribute(const struct ctf_attribute_pos *spot, const uint8_t *p)
{
    switch (spot->bytes) {
    case 1:
        return *p;
    case 2:
        return spot->is_big_endian ? load_u16be(p) : load_u16le(p);
    case 4:
        return spot->is_big_endian ? load_u32be(p) : load_u32le(p);
    default:
        return spot->is_big_endian ? load_u64be(p) : load_u64le(p);
    }
}

void ctf_dialect_apply_attribute(enum ctf_attribute attribute, uint64_t number,
                                 struct ctf_dialect_threads *who, ttr_event *event)
{
    switch (attribute) {
    case CTF_ATTRIBUTE_PID:
    case CTF_ATTRIBUTE_TID:
    case CTF_ATTRIBUTE_OTHER_PID:
    case CTF_ATTRIBUTE_OTHER_TID:
        who->number[attribute] = number;
        who->has_attribute[attribute] = true;
        break;
    case CTF_ATTRIBUTE_CPU:
        event->cpu = (uint32_t)number;
        event->flags |= TTR_EVENT_HAS_CPU;
        break;
    case CTF_ATTRIBUTE_DURATION:
        event->duration = number;
        break;
    case CTF_ATTRIBUTE_LINK:
        event->link = number;
        break;
    case CTF_ATTRIBUTE_TAG:
        event->tag = (uint16_t)number;
        break;
    case CTF_ATTRIBUTE_FLAGS:
        event->flags |= (uint8_t)number & (uint8_t) ~(TTR_EVENT_RAW | TTR_EVENT_HAS_CPU);
        break;
    case CTF_ATTRIBUTE_LEVEL:
        event->level = (uint8_t)number;
        break;
    case CTF_ATTRIBUTE_OPCODE:
        event->opcode = (uint8_t)number;
        break;
    case CTF_ATTRIBUTE_KEYWORD:
        event->keyword = number;
        break;
    case CTF_ATTRIBUTE_SEQUENCE:
        event->sequence = (uint32_t)number;
        break;
    default:
        break;
    }
}

/* Returns the thread for a pid and tid as far as they are known; 0 if neither is, or if memory is
 * out (*failed). */
static ttr_id find_said_thread(const struct ctf_dialect_threads *who, enum ctf_attribute pid,
                               ttr *t, uint16_t source, bool *failed)
{
    uint64_t process = who->number[pid], thread = who->number[pid + 1];
    if (!who->has_attribute[pid] && !who->has_attribute[pid + 1])
        return 0;
    ttr_id id = !who->has_attribute[pid + 1] ? context_process_thread(t, source, process)
                : who->has_attribute[pid]    ? context_thread(t, source, process, thread)
                                             : context_thread_by_tid(t, source, thread);
    *failed |= !id;
    return id;
}

bool ctf_dialect_apply_threads(const struct ctf_dialect_threads *who, ttr *t, uint16_t source,
                               ttr_event *event)
{
    bool failed = false;
    event->thread = find_said_thread(who, CTF_ATTRIBUTE_PID, t, source, &failed);
    if (who->has_attribute[CTF_ATTRIBUTE_OTHER_PID] || who->has_attribute[CTF_ATTRIBUTE_OTHER_TID])
        event->link = find_said_thread(who, CTF_ATTRIBUTE_OTHER_PID, t, source, &failed);
    return !failed;
}

/* Sets the name of an event that contains its own name. */
static bool set_event_name(ttr *t, const uint8_t *p, const uint8_t *end, ttr_event *event)
{
    const uint8_t *zero = memchr(p, 0, (size_t)(end - p));
    bool failed = false;
    event->name =
        zero ? ctf_intern_unescaped(t, (ttr_text){(const char *)p, (size_t)(zero - p)}, &failed)
             : 0;
    return !failed;
}

static bool fill_attribute(ttr *t, const struct ctf_attribute_pos *spot, const uint8_t *p,
                           const uint8_t *end, ttr_event *event)
{
    switch (spot->attribute) {
    case CTF_ATTRIBUTE_ACTIVITY:
        event->activity = spot->bytes == 16 ? p : NULL;
        break;
    case CTF_ATTRIBUTE_RELATED:
        event->related = spot->bytes == 16 ? p : NULL;
        break;
    default:
        return set_event_name(t, p, end, event);
    }
    return true;
}

bool ctf_dialect_set_attributes(const struct ctf_dialect_attributes *said, ttr *t, uint16_t source,
                                const struct bits *bits, ttr_event *event)
{
    uint64_t context_mask = (UINT64_C(1) << said->context_align) - 1,
             mask = (UINT64_C(1) << said->align) - 1;
    uint64_t begin =
        (((bits->at + context_mask) & ~context_mask) + said->context_bits + mask) & ~mask;
    const uint8_t *body = bits->base + (begin >> 3);
    size_t n = begin < bits->end ? (size_t)((bits->end - begin) >> 3) : 0;
    struct ctf_dialect_threads who = {.has_attribute = {false}};
    bool is_fine = true;
    if (n < said->bytes || (begin & 7))
        return true; /* the name is truncated, which the layout reports */
    for (uint32_t i = 0; i < said->n; i++) {
        const struct ctf_attribute_pos *spot = &said->spot[i];
        if (spot->attribute >= CTF_ATTRIBUTE_ACTIVITY)
            is_fine = fill_attribute(t, spot, body + spot->at, body + n, event) && is_fine;
        else
            ctf_dialect_apply_attribute((enum ctf_attribute)spot->attribute,
                                        load_attribute(spot, body + spot->at), &who, event);
    }
    return (said->is_listed || ctf_dialect_apply_threads(&who, t, source, event)) && is_fine;
}

bool ctf_dialect_apply_names(struct input *in, const ttr_event *event)
{
    ttr *t = in->base.t;
    ttr_fields fields;
    ttr_field field;
    bool is_fine = true;
    if (!event->thread)
        return true;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.value.type != TTR_TYPE_TEXT || field.depth)
            continue;
        const bool is_of_process = is_text_type(field.name, "process");
        if (!is_of_process && !is_text_type(field.name, "thread"))
            continue;
        const struct rename what = {.thread = event->thread,
                                    .is_of_process = is_of_process,
                                    .name =
                                        ttr_text_add(t, field.value.text.p, field.value.text.n)};
        is_fine = is_fine && (what.name || field.value.text.n == 0) &&
                  input_add_name_change(in, &what, event->time);
    }
    return is_fine;
}
