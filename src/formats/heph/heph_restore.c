/* Restores instants, samples, objects, switches and wake-ups, which our writer stores as spans of
 * no length.
 *
 * Their first attribute is "kind", so that one comparison decides for each event. Further members
 * of the event follow it in the order in which the writer stores them, each only if the event has
 * it; the fields come after them:
 *
 *   kind | id, or outgoing_pid outgoing_tid, or waker_pid waker_tid | object or state |
 *   category | provider | cpu | level | fields ...
 *
 * Other kinds stay spans; "kind" is not their first attribute. */
#include <string.h>

#include "formats/heph/heph.h"
#include "formats/heph/heph_attributes.h"

/* The attributes of an event, in progress. */
struct restoring {
    struct input *in;
    ttr_event *event;
    struct cursor at; /* after the attributes that are members of the event */
};

/* Consumes the next attribute's head if it has a name and a type. */
static bool consume_head(struct cursor *c, const char *name, uint8_t type)
{
    const size_t n = strlen(name);
    struct cursor next = *c;
    const uint8_t *found = cursor_u16be(&next) == n ? cursor_read_bytes(&next, n) : NULL;
    if (!found || memcmp(found, name, n) != 0 || cursor_u8(&next) != type || next.failed)
        return false;
    *c = next;
    return true;
}

/* Consumes the next attribute if it is a number of this name, at most `limit`. */
static bool consume_number(struct restoring *r, const char *name, uint64_t limit, uint64_t *number)
{
    struct cursor next = r->at;
    if (!consume_head(&next, name, HEPH_TYPE_UINT))
        return false;
    *number = cursor_u64be(&next);
    if (next.failed || *number > limit)
        return false;
    r->at = next;
    return true;
}

/* Consumes the next attribute if it is a text of this name. */
static bool consume_text(struct restoring *r, const char *name, ttr_text *text)
{
    struct cursor next = r->at;
    if (!consume_head(&next, name, HEPH_TYPE_TEXT))
        return false;
    text->n = cursor_u16be(&next);
    text->p = (const char *)cursor_read_bytes(&next, text->n);
    if (next.failed || !text->p)
        return false;
    r->at = next;
    return true;
}

/* Sets a member to the text of the next attribute, if that has this name. */
static void restore_string(struct restoring *r, const char *name, ttr_id *member)
{
    struct heph_reader *reader = r->in->ctx;
    ttr_text text;
    const struct cursor before = r->at;
    if (!consume_text(r, name, &text))
        return;
    if (text.n == 0) { /* our writer stores no empty ones */
        r->at = before;
        return;
    }
    *member = ttr_text_add(r->in->base.t, text.p, text.n);
    reader->is_out_of_memory |= !*member;
}

/* Sets the link to the other thread of a switch or wake-up. */
static void restore_thread(struct restoring *r, const char *pid_name, const char *tid_name)
{
    struct heph_reader *reader = r->in->ctx;
    const struct cursor before = r->at;
    uint64_t pid, tid;
    if (!consume_number(r, pid_name, UINT64_MAX, &pid) ||
        !consume_number(r, tid_name, UINT64_MAX, &tid)) {
        r->at = before;
        return;
    }
    r->event->link = context_thread(r->in->base.t, r->in->id, pid, tid);
    reader->is_out_of_memory |= !r->event->link;
}

static void restore_link(struct restoring *r)
{
    uint64_t number = 0;
    const struct cursor before = r->at;
    if (r->event->kind == TTR_KIND_SWITCH)
        restore_thread(r, "outgoing_pid", "outgoing_tid");
    else if (r->event->kind == TTR_KIND_WAKE)
        restore_thread(r, "waker_pid", "waker_tid");
    else if (consume_number(r, "id", UINT64_MAX, &number) && number == 0)
        r->at = before; /* our writer stores no link 0 */
    else
        r->event->link = number;
}

static void restore_tag(struct restoring *r)
{
    uint64_t number;
    const uint8_t kind = r->event->kind;
    const char *name = kind == TTR_KIND_OBJECT   ? "object"
                       : kind == TTR_KIND_SWITCH ? "state"
                                                 : NULL;
    if (name && consume_number(r, name, UINT16_MAX, &number))
        r->event->tag = (uint16_t)number;
}

/* Returns the kind with a name, if the reader restores it; else TTR_KIND_SPAN. */
static uint8_t find_restored_kind(ttr_text name)
{
    static const uint8_t kinds[] = {TTR_KIND_SAMPLE, TTR_KIND_OBJECT, TTR_KIND_INSTANT,
                                    TTR_KIND_SWITCH, TTR_KIND_WAKE};
    for (size_t i = 0; i < sizeof kinds; i++) {
        const char *text = ttr_kind_text(kinds[i]);
        if (name.n == strlen(text) && memcmp(name.p, text, name.n) == 0)
            return kinds[i];
    }
    return TTR_KIND_SPAN;
}

void heph_restore_event_kind(struct input *in, ttr_event *event)
{
    uint64_t number;
    ttr_text kind;
    struct restoring r = {.in = in, .event = event};
    r.at = cursor_init(event->payload, event->payload_size, 0);
    if (!cursor_skip(&r.at, event->body) || !consume_text(&r, "kind", &kind))
        return;
    event->kind = find_restored_kind(kind);
    if (event->kind == TTR_KIND_SPAN)
        return;
    restore_link(&r);
    restore_tag(&r);
    restore_string(&r, "category", &event->category);
    restore_string(&r, "provider", &event->provider);
    if (consume_number(&r, "cpu", UINT32_MAX, &number)) {
        event->cpu = (uint32_t)number;
        event->flags |= TTR_EVENT_HAS_CPU;
    }
    const struct cursor before = r.at;
    if (consume_number(&r, "level", UINT8_MAX, &number) && number)
        event->level = (uint8_t)number;
    else
        r.at = before;
    event->body = (uint32_t)((size_t)event->payload_size - cursor_left(&r.at));
}
