/* Restores instants, samples, objects, switches and wake-ups, which our writer stores as spans of
 * no length.
 *
 * Their first attribute is "kind", so that one comparison decides for each event. The attributes
 * stay visible as fields. Other kinds stay spans; "kind" is not their first attribute. */
#include <string.h>

#include "formats/heph/heph.h"

static bool text_is(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

/* Interns a text attribute. Returns 0 for other types, and if memory runs out. */
static ttr_id intern_attribute(struct input *in, const ttr_field *field)
{
    struct heph_reader *reader = in->ctx;
    if (field->value.type != TTR_TYPE_TEXT)
        return 0;
    const ttr_id id = ttr_text_add(in->base.t, field->value.text.p, field->value.text.n);
    reader->is_out_of_memory |= !id && field->value.text.n;
    return id;
}

/* Members of an event that several attributes store. */
struct restored {
    uint64_t pid, tid; /* of the other thread of a switch or wake-up */
    bool has_pid, has_tid;
};

/* Sets the member of the event that a number stores. The first attribute of a name is ours. */
static void apply_number(ttr_event *event, ttr_text name, uint64_t number,
                         struct restored *restored)
{
    const bool is_object = event->kind == TTR_KIND_OBJECT;
    if (is_object && !event->link && text_is(name, "id"))
        event->link = number;
    else if (!event->tag && text_is(name, is_object ? "object" : "state"))
        event->tag = (uint16_t)number;
    else if (text_is(name, "cpu") && number <= UINT32_MAX) {
        event->cpu = (uint32_t)number;
        event->flags |= TTR_EVENT_HAS_CPU;
    } else if (!restored->has_pid && (text_is(name, "outgoing_pid") || text_is(name, "waker_pid")))
        restored->pid = number, restored->has_pid = true;
    else if (!restored->has_tid && (text_is(name, "outgoing_tid") || text_is(name, "waker_tid")))
        restored->tid = number, restored->has_tid = true;
}

static void apply_attribute(struct input *in, ttr_event *event, const ttr_field *field,
                            struct restored *restored)
{
    if (field->value.type == TTR_TYPE_UINT)
        apply_number(event, field->name, field->value.v.u, restored);
    else if (text_is(field->name, "provider"))
        event->provider = intern_attribute(in, field);
    else if (text_is(field->name, "category"))
        event->category = intern_attribute(in, field);
}

/* Returns the kind with a name, if the reader restores it; else TTR_KIND_SPAN. */
static uint8_t find_restored_kind(ttr_text name)
{
    static const uint8_t kinds[] = {TTR_KIND_SAMPLE, TTR_KIND_OBJECT, TTR_KIND_INSTANT,
                                    TTR_KIND_SWITCH, TTR_KIND_WAKE};
    for (size_t i = 0; i < sizeof kinds; i++)
        if (text_is(name, ttr_kind_text(kinds[i])))
            return kinds[i];
    return TTR_KIND_SPAN;
}

void heph_restore_kind(struct input *in, ttr_event *event)
{
    struct heph_reader *reader = in->ctx;
    struct restored restored = {0};
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(in->base.t, event, &fields);
    if (!ttr_fields_next(&fields, &field) || field.value.type != TTR_TYPE_TEXT)
        return;
    event->kind = find_restored_kind(field.value.text);
    if (event->kind == TTR_KIND_SPAN)
        return;
    while (ttr_fields_next(&fields, &field))
        if (field.depth == 0)
            apply_attribute(in, event, &field, &restored);
    if (!restored.has_pid || !restored.has_tid ||
        (event->kind != TTR_KIND_SWITCH && event->kind != TTR_KIND_WAKE))
        return;
    event->link = context_thread(in->base.t, in->id, restored.pid, restored.tid);
    reader->is_out_of_memory |= !event->link;
}
