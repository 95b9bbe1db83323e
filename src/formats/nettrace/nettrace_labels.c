/* Label lists of V6: a list of properties that many events share. Events refer to a list by its
 * number. Each sequence point removes all lists.
 *
 *   block   u32 first number   u32 n   n lists
 *   label   u8 kind, bit 7 is set in the last label of a list; content:
 *           1 activity GUID   2 related activity GUID   3 trace id, 16 bytes   4 span id, u64
 *           5 key, string   6 key, zigzag varint   7 u8 opcode   8 u64 keywords   9 u8 level
 *           10 u8 version
 *
 * Kinds 1, 2 and 7 to 10 override the event's metadata. Kinds 3 to 6 become fields of the event's
 * context. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

enum {
    LABEL_ACTIVITY = 1,
    LABEL_RELATED = 2,
    LABEL_TRACE = 3,
    LABEL_SPAN = 4,
    LABEL_TEXT = 5,
    LABEL_NUMBER = 6,
    LABEL_OPCODE = 7,
    LABEL_KEYWORDS = 8,
    LABEL_LEVEL = 9,
    LABEL_VERSION = 10,
    LABEL_LAST = 0x80
};

/* Moves the cursor to the end of a label's content. Returns false if the kind of the label is
 * unknown. */
static bool skip_label(struct cursor *c, unsigned kind)
{
    switch (kind) {
    case LABEL_ACTIVITY:
    case LABEL_RELATED:
    case LABEL_TRACE:
        return cursor_skip(c, 16);
    case LABEL_SPAN:
    case LABEL_KEYWORDS:
        return cursor_skip(c, 8);
    case LABEL_TEXT:
        (void)nettrace_read_string(c);
        (void)nettrace_read_string(c);
        return true;
    case LABEL_NUMBER:
        (void)nettrace_read_string(c);
        (void)nettrace_read_varint(c);
        return true;
    case LABEL_OPCODE:
    case LABEL_LEVEL:
    case LABEL_VERSION:
        return cursor_skip(c, 1);
    default:
        return false;
    }
}

bool nettrace_skip_label_list(struct cursor *c)
{
    for (;;) {
        uint8_t kind = cursor_u8(c);
        if (c->failed || !skip_label(c, kind & ~(unsigned)LABEL_LAST) || c->failed)
            return false;
        if (kind & LABEL_LAST)
            return true;
    }
}

static bool add_label_list(struct nettrace_reader *reader, const uint8_t *p, size_t n)
{
    struct nettrace_labels *labels = &reader->labels;
    const struct alloc *alloc = &reader->t->counted;
    if (!alloc_reserve(alloc, (void **)&labels->bytes, &labels->bytes_capacity, labels->bytes_n + n,
                       1) ||
        !alloc_reserve(alloc, (void **)&labels->list, &labels->list_capacity, labels->list_n + 1,
                       sizeof *labels->list))
        return false;
    memcpy(labels->bytes + labels->bytes_n, p, n);
    labels->list[labels->list_n++] = (struct nettrace_label_list){labels->bytes_n, n};
    labels->bytes_n += n;
    return true;
}

ttr_status nettrace_labels_parse(struct nettrace_reader *reader, struct cursor *c)
{
    struct nettrace_labels *labels = &reader->labels;
    uint32_t first = cursor_u32le(c), n = cursor_u32le(c);
    for (uint32_t i = 0; i < n && cursor_left(c) > 0; i++) {
        const uint8_t *begin = c->p;
        if (!nettrace_skip_label_list(c)) {
            c->failed = true;
            break;
        }
        if (!add_label_list(reader, begin, (size_t)(c->p - begin)) ||
            !pair_map_put(&labels->by_number, first + i, 0, (uint32_t)labels->list_n - 1))
            return fail_memory(reader->error);
    }
    return TTR_OK;
}

void nettrace_labels_reset(struct nettrace_reader *reader)
{
    struct nettrace_labels *labels = &reader->labels;
    labels->bytes_n = labels->list_n = 0;
    pair_map_free(&labels->by_number);
    pair_map_init(&labels->by_number, &reader->t->counted);
}

void nettrace_labels_free(struct nettrace_reader *reader)
{
    struct nettrace_labels *labels = &reader->labels;
    alloc_free(&reader->t->counted, labels->bytes, labels->bytes_capacity, 1);
    alloc_free(&reader->t->counted, labels->list, labels->list_capacity, sizeof *labels->list);
    pair_map_free(&labels->by_number);
}

bool nettrace_find_label_list(const struct nettrace_reader *reader, uint32_t number,
                              const uint8_t **p, uint32_t *n)
{
    const uint32_t *index = number ? pair_map_get(&reader->labels.by_number, number, 0) : NULL;
    if (!index)
        return false;
    const struct nettrace_label_list *list = &reader->labels.list[*index];
    *p = reader->labels.bytes + list->at;
    *n = list->n < UINT32_MAX ? (uint32_t)list->n : 0;
    return true;
}

/* Changes an event's schema to that of its type in another version. */
static void set_event_type_version(struct nettrace_type *type, uint8_t version, ttr_event *event)
{
    const struct nettrace_type *other = nettrace_get_type_of_version(type, version);
    if (other)
        event->schema = other->schema;
    else
        type->reader->is_out_of_memory = true; /* the next read returns the error */
}

void nettrace_override_by_labels(struct nettrace_type *type, ttr_event *event)
{
    const struct nettrace_reader *reader = type->reader;
    const uint8_t *p;
    uint32_t n;
    if (!nettrace_find_label_list(reader, event->part, &p, &n)) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, event->offset, "nettrace.no-labels",
                             "an event with label list %u, which is not defined", event->part);
        return;
    }
    struct cursor c = cursor_init(p, n, 0);
    while (cursor_left(&c) > 0) {
        unsigned kind = cursor_u8(&c) & ~(unsigned)LABEL_LAST;
        struct cursor value = c;
        (void)skip_label(&c, kind);
        switch (kind) {
        case LABEL_ACTIVITY:
            event->activity = nettrace_get_guid_or_null(value.p);
            break;
        case LABEL_RELATED:
            event->related = nettrace_get_guid_or_null(value.p);
            break;
        case LABEL_OPCODE:
            event->opcode = cursor_u8(&value);
            break;
        case LABEL_KEYWORDS:
            event->keyword = cursor_u64le(&value);
            break;
        case LABEL_LEVEL:
            event->level = nettrace_convert_clr_level(cursor_u8(&value));
            break;
        case LABEL_VERSION:
            set_event_type_version(type, cursor_u8(&value), event);
            break;
        default:
            break;
        }
    }
}

static void init_label_field(ttr_field *field, ttr_text name, uint8_t type)
{
    field_clear(field);
    field->name = name;
    field->group = TTR_GROUP_CONTEXT;
    field->value.type = type;
}

bool nettrace_next_label_field(const uint8_t **p, uint32_t *n, ttr_field *field)
{
    struct cursor c = cursor_init(*p, *n, 0);
    bool is_field = false;
    while (!is_field && cursor_left(&c) > 0) {
        unsigned kind = cursor_u8(&c) & ~(unsigned)LABEL_LAST;
        struct cursor value = c;
        (void)skip_label(&c, kind);
        is_field = kind >= LABEL_TRACE && kind <= LABEL_NUMBER;
        if (kind == LABEL_TRACE) {
            init_label_field(field, (ttr_text){"TraceId", 7}, TTR_TYPE_BYTES);
            field->value.text = (ttr_text){(const char *)value.p, 16};
        } else if (kind == LABEL_SPAN) {
            init_label_field(field, (ttr_text){"SpanId", 6}, TTR_TYPE_UINT);
            field->value.v.u = cursor_u64le(&value);
        } else if (kind == LABEL_TEXT) {
            init_label_field(field, nettrace_read_string(&value), TTR_TYPE_TEXT);
            field->value.text = nettrace_read_string(&value);
        } else if (kind == LABEL_NUMBER) {
            init_label_field(field, nettrace_read_string(&value), TTR_TYPE_INT);
            uint64_t x = nettrace_read_varint(&value);
            field->value.v.s = (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
        }
    }
    *p = c.p;
    *n = (uint32_t)cursor_left(&c);
    return is_field;
}
