/* Event copies, in the encoding that event_copy.h draws. They exist in memory only, so the host's
 * byte order is used; they are still read through a bounded cursor, because tests truncate them
 * anywhere.
 *
 * Reading (event_copy_field_ops): copy_iter_begin places a cursor after the ids, the stack and the
 * packet's fields; copy_iter_next decodes one field, or the next element of a row. The declared
 * type of a field is found by its name among the members of the enclosing type (set_declared_type),
 * starting after the member found last.
 *
 * Writing: event_copy_add appends the ids, the stack, the packet's fields and all fields of an
 * iteration. A row of equal elements is open (struct repeat) as long as elements match its head;
 * its count is stored when it ends. */
#include "model/event_copy.h"

#include <string.h>

#include "base/cursor.h"
#include "model/type.h"

#define HEAD 16u
#define MORE 8u
#define HAS_MORE 0x80u /* bit of copy_head.type: a struct copy_more follows */
#define IS_REPEATED                                                            \
    0x40u /* bit of copy_head.type: an array's elements, which share this head \
           * (struct repeat) */
/* bit of copy_head.type: the text is the string `text_id` of the context, and not stored here */
#define IS_SHARED 0x20u
/* bytes from which on a text, a stack or packet fields are stored once in the context */
#define SHARED_TEXT_MIN 32u
#define SHARED_DATA_MIN 512u
/* bit of the size of a stack or of packet fields: the id of a string with the bytes follows */
#define SIZE_IS_SHARED (UINT64_C(1) << 63)
/* bit of copy_more.flags: a pointer to the declared type follows the labels */
#define HAS_TYPE 1u
/* bit of copy_more.flags: the text had nonzero bytes after its terminating zero; they were not
 * copied */
#define HAS_BYTES_AFTER_END 2u
#define TYPES_DEPTH_MAX 16u /* nesting levels for which declared types are known */

struct copy_head {
    uint8_t type, hint, bits, depth;
    uint32_t name_id, count, text_id;
};

/* Rare properties of a field. */
struct copy_more {
    uint8_t group, base, choices;
    uint8_t flags;   /* HAS_TYPE, HAS_BYTES_AFTER_END */
    uint32_t labels; /* number of label ids that follow */
};

/* Iteration state, stored in fields->state. */
struct copy_iter {
    struct cursor at;
    const struct intern *strings;
    const uint8_t *labels; /* label ids of the last field; as many as its count */
    const struct event_class
        *about; /* event class of the copy's schema; NULL = fields have no declared types */
    const struct type *
        /* declared types of the last field (at its depth) and of its enclosing structs and
         * arrays */
        type[TYPES_DEPTH_MAX];
    uint32_t next[TYPES_DEPTH_MAX]; /* per depth: index at which the search for the next member
                                     * starts */
    const struct type *root;        /* declared type of the root that contains the last field */
    ttr_field repeated;             /* for elements that share a head: template without the value */
    uint32_t repeats;               /* for elements that share a head: number of elements left */
    /* declared type stored with the last field, or NULL; valid as long as the event class
     * `about` */
    const struct type *chosen;
    uint16_t depth;
    /* for elements that share a head: bytes per value, and bytes of padding after the last value */
    uint8_t width, following;
    bool has_bytes_after_end; /* the last field has the flag HAS_BYTES_AFTER_END */
};
_Static_assert(sizeof(struct copy_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");
_Static_assert(sizeof(struct copy_head) == HEAD, "head is 16 bytes");
_Static_assert(sizeof(struct copy_more) == MORE, "the rest is 8 bytes");

static bool is_counted_bytes(uint8_t type)
{
    return type == TTR_TYPE_TEXT || type == TTR_TYPE_BYTES;
}

static void copy_iter_begin(ttr_fields *fields)
{
    const ttr_event *event = fields->event;
    const ttr *t = fields->ctx;
    struct copy_iter iter = {.strings = &t->strings,
                             .about = context_schema(t, event->schema)->event_class};
    iter.at = cursor_init(event->payload, event->payload_size, 0);
    if (event->body)
        (void)cursor_skip(&iter.at, event->body);
    memcpy(fields->state, &iter, sizeof iter);
}

static size_t get_labels_size(uint32_t labels)
{
    return (labels * (size_t)4 + 7) / 8 * 8;
}

static ttr_text get_label(const struct copy_iter *iter, uint32_t i)
{
    uint32_t id;
    memcpy(&id, iter->labels + 4 * (size_t)i, sizeof id);
    struct intern_text text = intern_get(iter->strings, id);
    return (ttr_text){text.p, text.n};
}

static bool read_optional_parts(struct copy_iter *iter, struct cursor *from, ttr_field *field)
{
    const uint8_t *bytes = cursor_read_bytes(from, MORE);
    struct copy_more more;
    if (!bytes)
        return false;
    memcpy(&more, bytes, sizeof more);
    iter->labels = cursor_read_bytes(from, get_labels_size(more.labels));
    const uint8_t *type =
        more.flags & HAS_TYPE ? cursor_read_bytes(from, sizeof iter->chosen) : NULL;
    if (!iter->labels || (more.flags & HAS_TYPE && !type))
        return false;
    if (type)
        memcpy(&iter->chosen, type, sizeof iter->chosen);
    field->group = more.group;
    field->choices = more.choices;
    iter->has_bytes_after_end = more.flags & HAS_BYTES_AFTER_END;
    field->value.base = more.base;
    if (more.labels)
        field->value.text = get_label(iter, 0);
    return true;
}

/* Returns true if a value can belong to a field of the declared type. */
static bool type_suits_value(const struct type *type, const ttr_value *value)
{
    switch (type->kind) {
    case TYPE_STRUCT:
        return value->type == TTR_TYPE_STRUCT;
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return value->type == TTR_TYPE_ARRAY;
    case TYPE_STRING:
    case TYPE_TEXT:
        return value->type == TTR_TYPE_TEXT;
    case TYPE_BLOB:
        return value->type == TTR_TYPE_BYTES;
    case TYPE_FLOAT:
        return value->type == TTR_TYPE_FLOAT;
    case TYPE_BOOL:
        return value->type == TTR_TYPE_BOOL;
    case TYPE_INT:
    case TYPE_VAR_INT:
        return value->type == TTR_TYPE_INT;
    default:
        return value->type == TTR_TYPE_UINT;
    }
}

/* Returns the type of a value inside optionals and variants. A copy does not store which option of
 * a variant was selected, so the first option that suits the value is returned. */
static const struct type *resolve_type(const struct type *type, const ttr_value *value)
{
    while (type && type->kind == TYPE_OPTIONAL)
        type = type->element;
    for (uint32_t i = 0; type && type->kind == TYPE_VARIANT && i < type->members_n; i++)
        if (type_suits_value(type->members[i].type, value))
            return type->members[i].type;
    return type && type_suits_value(type, value) ? type : NULL;
}

static bool member_is_named(const struct type_member *member, ttr_text name)
{
    ttr_text ctx = member->shown.p ? member->shown : member->name;
    return ctx.n == name.n && (name.n == 0 || memcmp(ctx.p, name.p, name.n) == 0);
}

/* Returns the type of the member with the field's name. Fields are in member order, but some
 * members have no field. The search therefore starts at *next, the member after the previous match,
 * and wraps around. */
static const struct type *find_member_type(const struct type *outer, const ttr_field *field,
                                           uint32_t *next)
{
    if (outer && (outer->kind == TYPE_ARRAY || outer->kind == TYPE_SEQUENCE))
        return outer->element;
    const uint32_t n = outer && outer->kind == TYPE_STRUCT ? outer->members_n : 0;
    uint32_t i = *next < n ? *next : 0;
    for (uint32_t tried = 0; tried < n; tried++) {
        const struct type_member *member = &outer->members[i++];
        i = i < n ? i : 0;
        if (!member_is_named(member, field->name))
            continue;
        *next = i;
        return member->type;
    }
    return NULL;
}

/* Sets iter->type for a field: its declared type is found by name among the members of the
 * enclosing type. */
static void set_declared_type(struct copy_iter *iter, const ttr_field *field)
{
    static const uint8_t roots[] = {[TTR_GROUP_PAYLOAD] = ROOT_PAYLOAD,
                                    [TTR_GROUP_CONTEXT] = ROOT_SPECIFIC_CONTEXT,
                                    [TTR_GROUP_COMMON] = ROOT_COMMON_CONTEXT,
                                    [TTR_GROUP_PACKET] = ROOT_PACKET_CONTEXT};
    iter->depth = field->depth;
    if (!iter->about || field->depth >= TYPES_DEPTH_MAX || field->group >= sizeof roots)
        return;
    const struct type *const *root = iter->about->root;
    bool is_joined = field->group == TTR_GROUP_CONTEXT &&
                     /* The context belongs to the payload type if the class declares no context
                      * root. */
                     !root[ROOT_SPECIFIC_CONTEXT];
    const struct type *outer = field->depth ? iter->type[field->depth - 1]
                               : is_joined  ? root[ROOT_PAYLOAD]
                                            : root[roots[field->group]];
    if (field->depth == 0 && outer != iter->root) {
        iter->root = outer;
        iter->next[0] = 0;
    }
    if (field->depth + 1u < TYPES_DEPTH_MAX)
        iter->next[field->depth + 1u] = 0;
    const struct type *declared = find_member_type(outer, field, &iter->next[field->depth]);
    iter->type[field->depth] = iter->chosen ? iter->chosen : resolve_type(declared, &field->value);
}

static const struct type *copy_iter_type(const ttr_fields *fields)
{
    const struct copy_iter *iter = (const struct copy_iter *)fields->state;
    return iter->about && iter->depth < TYPES_DEPTH_MAX ? iter->type[iter->depth] : NULL;
}

/* Returns the number of bytes per value for elements that share a head. */
static uint8_t row_value_width(uint8_t type, uint8_t bits)
{
    if (type == TTR_TYPE_FLOAT || bits == 0 || bits > 32)
        return 8;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

/* Extends the lowest `width` bytes of x to 64 bits: by the sign for TTR_TYPE_INT, else by zeros. */
static uint64_t extend_value(uint8_t type, uint64_t x, uint8_t width)
{
    const unsigned spare = 64 - 8u * width;
    return type == TTR_TYPE_INT ? (uint64_t)((int64_t)(x << spare) >> spare) : x << spare >> spare;
}

static bool read_row_element(struct copy_iter *iter, ttr_field *field)
{
    uint8_t low[8] = {0};
    const uint8_t *bytes = cursor_read_bytes(&iter->at, iter->width);
    if (!bytes)
        return false;
    memcpy(low, bytes, iter->width);
    *field = iter->repeated;
    field->value.v.u = extend_value(field->value.type, load_u64le(low), iter->width);
    if (--iter->repeats == 0 && !cursor_skip(&iter->at, iter->following))
        return false;
    set_declared_type(iter, field);
    return true;
}

static bool begin_row(struct copy_iter *iter, uint32_t n, ttr_field *field)
{
    iter->repeated = *field;
    iter->repeats = n;
    iter->width = row_value_width(field->value.type, field->value.bits);
    iter->following = (uint8_t)((8 - (uint64_t)n * iter->width % 8) % 8);
    return n && read_row_element(iter, field);
}

/* Reads the head of a field and, if present, its additional properties and labels. */
static inline bool read_value_head(struct copy_iter *iter, struct cursor *from,
                                   struct copy_head *head, ttr_field *field)
{
    const uint8_t *bytes = cursor_read_bytes(from, HEAD);
    if (!bytes)
        return false;
    memcpy(head, bytes, sizeof *head);
    struct intern_text name = intern_get(iter->strings, head->name_id);
    *field = (ttr_field){.name = {name.p, name.n}, .name_id = head->name_id, .depth = head->depth};
    field->value.type = head->type & (uint8_t) ~(HAS_MORE | IS_REPEATED | IS_SHARED);
    field->value.hint = head->hint;
    field->value.bits = head->bits;
    field->value.text_id = head->text_id;
    iter->chosen = NULL;
    iter->has_bytes_after_end = false;
    return !(head->type & HAS_MORE) || read_optional_parts(iter, from, field);
}

static inline bool read_value(const struct copy_iter *iter, struct cursor *from,
                              const struct copy_head *head, ttr_field *field)
{
    if (head->type & IS_SHARED) {
        const struct intern_text text = intern_get(iter->strings, head->text_id);
        field->value.text = (ttr_text){text.p, text.n};
        return true;
    }
    if (is_counted_bytes(field->value.type)) {
        const uint8_t *text = cursor_read_bytes(from, head->count);
        field->value.text = (ttr_text){(const char *)text, head->count};
        return text && cursor_skip(from, (8 - head->count % 8) % 8);
    }
    field->value.count = head->count;
    const uint8_t *scalar = cursor_read_bytes(from, 8);
    if (scalar)
        memcpy(&field->value.v, scalar, 8);
    return scalar != NULL;
}

static bool copy_iter_next(ttr_fields *fields, ttr_field *field)
{
    struct copy_iter *iter = (struct copy_iter *)fields->state;
    struct copy_head head;
    if (iter->repeats)
        return read_row_element(iter, field);
    if (!read_value_head(iter, &iter->at, &head, field))
        return false;
    if (head.type & IS_REPEATED)
        return begin_row(iter, head.count, field);
    if (!read_value(iter, &iter->at, &head, field))
        return false;
    set_declared_type(iter, field);
    return true;
}

static bool copy_iter_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                            ttr_text *label)
{
    const struct copy_iter *iter = (const struct copy_iter *)fields->state;
    if (i >= value->count || !iter->labels)
        return false;
    *label = get_label(iter, i);
    return true;
}

static bool copy_iter_goes_on(const ttr_fields *fields, const ttr_value *text)
{
    (void)text;
    return ((const struct copy_iter *)fields->state)->has_bytes_after_end;
}

/* Reads a size in units of `unit` bytes and the bytes, which are in the copy or in a string of the
 * context. Returns a cursor over them, at its end if they are invalid. */
static struct cursor read_sized_data(const ttr *t, struct cursor *from, size_t unit)
{
    const uint64_t size = cursor_left(from) >= 8 ? cursor_u64le(from) : 0;
    const uint64_t n = size & ~SIZE_IS_SHARED;
    if (size & SIZE_IS_SHARED) {
        const uint64_t id = cursor_left(from) >= 8 ? cursor_u64le(from) : 0;
        const struct intern_text text = intern_get(&t->strings, (uint32_t)id);
        return cursor_init(text.p, text.n, 0);
    }
    const uint8_t *bytes =
        n <= cursor_left(from) / unit ? cursor_read_bytes(from, (size_t)n * unit) : NULL;
    if (!bytes)
        from->p = from->end;
    return cursor_init(bytes ? bytes : from->end, bytes ? (size_t)n * unit : 0, 0);
}

/* Returns a cursor to the bytes after a copy's activity ids. */
static struct cursor cursor_after_ids(const ttr_event *event)
{
    struct cursor c = cursor_init(event->payload, event->body, 0);
    (void)cursor_skip(&c, (event->activity ? 16u : 0u) + (event->related ? 16u : 0u));
    return c;
}

static uint32_t copy_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                            uint32_t room)
{
    struct cursor c = cursor_after_ids(event);
    struct cursor frames = read_sized_data(ctx, &c, 8);
    const uint32_t n = (uint32_t)(cursor_left(&frames) / 8);
    for (uint32_t i = 0; i < n && i < room; i++)
        addresses[i] = cursor_u64le(&frames);
    return n;
}

struct event_copy_packet event_copy_find_packet(const ttr *t, const ttr_event *copy)
{
    if (!context_schema(t, copy->schema)->has_packet || !copy->payload)
        return (struct event_copy_packet){.n = 0};
    struct cursor c = cursor_after_ids(copy);
    if (copy->stack)
        (void)read_sized_data(t, &c, 8);
    const struct cursor packet = read_sized_data(t, &c, 1);
    return (struct event_copy_packet){packet.p, cursor_left(&packet)};
}

static void copy_iter_begin_group(ttr_fields *fields, ttr_group group)
{
    const ttr_event *event = fields->event;
    const ttr *t = fields->ctx;
    const struct event_copy_packet part = group == TTR_GROUP_PACKET
                                              ? event_copy_find_packet(t, event)
                                              : (struct event_copy_packet){.n = 0};
    struct copy_iter iter = {.strings = &t->strings,
                             .about = context_schema(t, event->schema)->event_class};
    iter.at = cursor_init(part.bytes, part.n, 0);
    memcpy(fields->state, &iter, sizeof iter);
}

const struct field_ops event_copy_field_ops = {.begin = copy_iter_begin,
                                               .next = copy_iter_next,
                                               .begin_group = copy_iter_begin_group,
                                               .label = copy_iter_label,
                                               .frames = copy_frames,
                                               .type = copy_iter_type,
                                               .has_bytes_after_end = copy_iter_goes_on};

static ttr_id intern_label(ttr *t, struct buffer *to, ttr_text text)
{
    ttr_id id = intern_add(&t->strings, text.p, text.n);
    to->failed |= id == UINT32_MAX;
    return id;
}

static bool has_labels(const ttr_value *value)
{
    return (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS) &&
           value->count > 0;
}

/* Appends a copy_more: group, base, labels and, for an option of a variant, a pointer to its type.
 * `fields` is the iteration that returned the field; if it is NULL, only the first label is
 * stored. */
static void append_rare_properties(ttr *t, struct buffer *to, const ttr_field *field,
                                   const ttr_fields *fields)
{
    const ttr_value *value = &field->value;
    const struct type *chosen = fields && field->choices ? fields_declared_type(fields) : NULL;
    struct copy_more more = {.group = field->group,
                             .base = value->base,
                             .choices = field->choices,
                             .flags = chosen ? HAS_TYPE : 0};
    more.flags |= fields && text_has_bytes_after_end(fields, value) ? HAS_BYTES_AFTER_END : 0;
    more.labels = !has_labels(value) ? 0 : fields ? value->count : 1;
    buffer_add(to, &more, sizeof more);
    for (uint32_t i = 0; i < more.labels && !to->failed; i++) {
        ttr_text label = value->text;
        if (fields && !ttr_fields_label(fields, value, i, &label))
            label = (ttr_text){"", 0};
        ttr_id id = intern_label(t, to, label);
        buffer_add(to, &id, sizeof id);
    }
    buffer_add_zeros(to, get_labels_size(more.labels) - more.labels * (size_t)4);
    if (chosen)
        buffer_add(to, &chosen, sizeof chosen);
}

/* Returns true if a text is a string of the context and large enough that copies refer to it. */
static bool is_shared_text(const ttr *t, const ttr_value *value)
{
    const struct intern_text text = intern_get(&t->strings, value->text_id);
    return value->text_id && value->text.n >= SHARED_TEXT_MIN && text.p == value->text.p &&
           text.n == value->text.n;
}

/* Replaces large data at the end of the buffer, after its size at `at`, by the id of a string. Not
 * if the memory is half used, since strings are kept until the end. */
static void share_data(ttr *t, struct buffer *to, size_t at)
{
    if (to->failed || to->n - at - 8 < SHARED_DATA_MIN || t->memory > t->max_memory / 2)
        return;
    const uint32_t id = intern_add(&t->strings, to->bytes + at + 8, to->n - at - 8);
    to->failed |= id == UINT32_MAX;
    store_u64le(to->bytes + at, load_u64le(to->bytes + at) | SIZE_IS_SHARED);
    store_u64le(to->bytes + at + 8, id);
    to->n = at + 16;
}

static void append_field(ttr *t, struct buffer *to, const ttr_field *field,
                         const ttr_fields *fields)
{
    const ttr_value *value = &field->value;
    bool counted = is_counted_bytes(value->type), labelled = has_labels(value);
    bool has_more = field->group || value->base || field->choices || labelled ||
                    (fields && text_has_bytes_after_end(fields, value));
    ttr_id name_id =
        field->name_id || !field->name.n ? field->name_id : intern_label(t, to, field->name);
    to->failed |= counted && value->text.n > UINT32_MAX - 8;
    struct copy_head head = {
        .type = (uint8_t)(value->type | (has_more ? HAS_MORE : 0)),
        .hint = value->hint,
        .bits = value->bits,
        .name_id = name_id,
        .depth =
            (uint8_t)(field->depth < EVENT_COPY_DEPTH_MAX ? field->depth : EVENT_COPY_DEPTH_MAX),
        .text_id = value->text_id};
    const bool is_shared = value->type == TTR_TYPE_TEXT && is_shared_text(t, value);
    head.type |= is_shared ? IS_SHARED : 0;
    head.count = counted ? (uint32_t)value->text.n : labelled && !fields ? 1 : value->count;
    buffer_add(to, &head, sizeof head);
    if (has_more)
        append_rare_properties(t, to, field, fields);
    if (is_shared)
        return;
    if (counted) {
        buffer_add(to, value->text.p, value->text.n);
        buffer_add_zeros(to, (8 - value->text.n % 8) % 8);
    } else {
        buffer_add(to, &value->v, 8);
    }
}

/* Array elements that share one head, while they are written. */
struct repeat {
    struct copy_head head;
    struct copy_more more;
    const struct type *chosen;
    size_t at;  /* offset of the head in the buffer */
    uint32_t n; /* number of elements; 0: no elements are open */
    uint8_t width;
};

static bool is_plain_element(const ttr_field *field)
{
    const uint8_t type = field->value.type;
    return field->depth && field->depth < 255 && !field->name.n && !field->name_id &&
           !field->value.count &&
           (type == TTR_TYPE_UINT || type == TTR_TYPE_INT || type == TTR_TYPE_FLOAT ||
            type == TTR_TYPE_BOOL);
}

static void end_row(struct buffer *to, struct repeat *repeat)
{
    if (repeat->n && !to->failed) {
        repeat->head.count = repeat->n;
        memcpy(to->bytes + repeat->at, &repeat->head, sizeof repeat->head);
        buffer_add_zeros(to, (8 - (size_t)repeat->n * repeat->width % 8) % 8);
    }
    repeat->n = 0;
}

/* Appends an element to those that share a head, or starts such elements. Returns false if the
 * value does not fit into its declared width. */
static bool append_row_element(struct buffer *to, struct repeat *repeat, const ttr_field *field,
                               const ttr_fields *fields)
{
    const ttr_value *value = &field->value;
    const struct type *chosen = field->choices ? fields_declared_type(fields) : NULL;
    const struct copy_more more = {.group = field->group,
                                   .base = value->base,
                                   .choices = field->choices,
                                   .flags = chosen ? HAS_TYPE : 0};
    const bool has_more = field->group || value->base || field->choices;
    const struct copy_head head = {
        .type = (uint8_t)(value->type | IS_REPEATED | (has_more ? HAS_MORE : 0)),
        .hint = value->hint,
        .bits = value->bits,
        .depth = (uint8_t)field->depth,
        .text_id = value->text_id};
    const uint8_t width = row_value_width(value->type, value->bits);
    uint8_t low[8];
    if (extend_value(value->type, value->v.u, width) != value->v.u)
        return false;
    if (repeat->n == UINT32_MAX || memcmp(&head, &repeat->head, sizeof head) != 0 ||
        memcmp(&more, &repeat->more, sizeof more) != 0 || chosen != repeat->chosen)
        end_row(to, repeat);
    if (!repeat->n) {
        *repeat = (struct repeat){
            .head = head, .more = more, .chosen = chosen, .at = to->n, .width = width};
        buffer_add(to, &head, sizeof head);
        if (has_more)
            buffer_add(to, &more, sizeof more);
        if (chosen)
            buffer_add(to, &chosen, sizeof chosen);
    }
    store_u64le(low, value->v.u);
    buffer_add(to, low, width);
    repeat->n++;
    return true;
}

void event_copy_add_field(ttr *t, struct buffer *to, const ttr_field *field)
{
    append_field(t, to, field, NULL);
}

/* Appends the stack of an event. A stack that is a field of the event is copied with the fields. */
static void append_frames(ttr *t, struct buffer *to, const ttr_event *event)
{
    uint64_t some[512];
    const size_t start = to->n;
    uint32_t n = ttr_event_frames(t, event, some, 512);
    uint8_t *at = buffer_room(to, 8 + 8 * (size_t)n);
    if (!at)
        return;
    store_u64le(at, n);
    uint64_t *all = n > 512 ? alloc_zero(to->alloc, n, sizeof *all) : some;
    to->failed |= !all;
    if (all && n > 512)
        (void)ttr_event_frames(t, event, all, n);
    for (uint32_t i = 0; all && i < n; i++)
        store_u64le(at + 8 + 8 * (size_t)i, all[i]);
    buffer_commit(to, 8 + 8 * (size_t)n);
    if (n > 512)
        alloc_free(to->alloc, all, n, sizeof *all);
    share_data(t, to, start);
}

/* Appends the remaining fields of an iteration. Inlined, because sorting spends most of its time
 * here. */
static inline __attribute__((always_inline)) void append_fields(ttr *t, struct buffer *to,
                                                                ttr_fields *fields)
{
    ttr_field field;
    struct repeat repeat = {.n = 0};
    while (ttr_fields_next(fields, &field)) {
        if (is_plain_element(&field) && append_row_element(to, &repeat, &field, fields))
            continue;
        end_row(to, &repeat);
        append_field(t, to, &field, fields);
    }
    end_row(to, &repeat);
}

/* Appends the fields of the event's packet, since the copy is not in a packet. */
static __attribute__((noinline)) void append_packet_fields(ttr *t, struct buffer *to,
                                                           const ttr_event *event)
{
    const size_t at = to->n;
    ttr_fields fields;
    buffer_add_zeros(to, 8);
    ttr_fields_begin_group(t, event, TTR_GROUP_PACKET, &fields);
    append_fields(t, to, &fields);
    if (!to->failed)
        store_u64le(to->bytes + at, to->n - at - 8);
    share_data(t, to, at);
}

size_t event_copy_add(ttr *t, struct buffer *to, const ttr_event *event, ttr_event *copy)
{
    size_t at = to->n;
    ttr_fields fields;
    *copy = *event;
    copy->schema = context_copy_schema(t, event->schema);
    to->failed |= !copy->schema;
    if (event->activity)
        buffer_add(to, event->activity, 16);
    if (event->related)
        buffer_add(to, event->related, 16);
    if (event->stack)
        append_frames(t, to, event);
    if (context_schema(t, copy->schema)->has_packet)
        append_packet_fields(t, to, event);
    copy->body = (uint32_t)(to->n - at);
    ttr_fields_begin(t, event, &fields);
    append_fields(t, to, &fields);
    to->failed |= to->n - at > UINT32_MAX;
    copy->payload = NULL;
    copy->payload_size = (uint32_t)(to->n - at);
    copy->flags &= (uint8_t)~TTR_EVENT_RAW;
    return at;
}
