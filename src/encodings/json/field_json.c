/* Fields as JSON members.  A comma is due unless the last byte written opens the array or object,
 * so no state is kept for it. Names are made unique where they stand in the output.  Those of an
 * event are listed, and a filter of some bits tells nearly always that a name is new; only else a
 * hash table is made of the list: also a crafted event with very many fields costs linear time.
 * Names of an object that has ended leave both. Events of one schema mostly have the same names:
 * their sequence is a shape, learned once, whose names need not even be listed. */
#include "encodings/json/field_json.h"

#include <math.h>

#include "base/hash.h"
#include "base/jsontext.h"
#include "base/number.h"
#include "encodings/json/append.h"

#define MANY 16u /* fields of one call */
#define SHAPES ((size_t)32)
#define SHAPE_TEXT ((size_t)3 * TEXT_CACHE_PADDING)
#define SHAPE_MISSES 4u /* so many, and a schema has no shape */
#define NAMES_FIRST ((size_t)64)
#define RELIEF ((size_t)256 << 10) /* bytes: before, nobody is called to take any */
#define KEPT (SIZE_MAX / 2 + 1)    /* added to where a name is in what is kept */
#define HASH_OBJECT \
    0x9e3779b97f4a7c15u /* 2^64 / golden ratio: names of each object hash otherwise */

/* A name of the event. */
struct field_name {
    uint64_t object; /* generation of its object */
    uint64_t hash;
    size_t at, n;   /* of the escaped name in the output, or in what is kept (KEPT) */
    uint64_t again; /* the number to try next */
};

/* A named field as the shape's events have it: with the same names before it, its own is new. */
struct shape_item {
    ttr_id name_id;
    uint16_t depth;
    uint8_t n;
    char text[SHAPE_TEXT]; /* what is appended: comma, name, colon */
};

struct field_shape {
    ttr_id schema;
    uint8_t n;      /* items learned; more fields may follow */
    uint8_t misses; /* events that were otherwise */
    bool is_learned;
    struct shape_item item[FIELD_JSON_SHAPE];
};

struct field_name_slot {
    uint64_t event; /* generation of the event; free when it is another */
    size_t index;   /* of the name */
};

void field_json_init(struct field_json *json, const ttr *t, struct buffer *to)
{
    *json =
        (struct field_json){.t = t, .to = to, .generation = 1, .oldest = 1, .bytes_max = SIZE_MAX};
    text_cache_init(&json->texts, to->alloc, json_escape);
    buffer_init(&json->kept, to->alloc);
}

void field_json_free(struct field_json *json)
{
    if (!json->to)
        return;
    text_cache_free(&json->texts);
    buffer_free(&json->kept);
    ttr_field_buffer_free(json->fields);
    alloc_free(json->to->alloc, json->names, json->names_capacity, sizeof *json->names);
    alloc_free(json->to->alloc, json->shapes, SHAPES, sizeof *json->shapes);
    alloc_free(json->to->alloc, json->slots, json->slots_n, sizeof *json->slots);
}

static void lost(struct field_json *json, enum field_json_loss loss)
{
    json->losses[loss]++;
    json->lost_any++;
}

static void add_escaped(struct field_json *json, const void *p, size_t n)
{
    if (json_escape(json->to, p, n) > 0)
        lost(json, FIELD_JSON_TEXT);
}

static const uint8_t *text_of(const struct field_json *json, const struct field_name *name)
{
    return name->at & KEPT ? json->kept.bytes + (name->at - KEPT) : json->to->bytes + name->at;
}

static bool is_same(const struct field_json *json, const struct field_name *a,
                    const struct field_name *b)
{
    return a->hash == b->hash && a->object == b->object && a->n == b->n &&
           memcmp(text_of(json, a), text_of(json, b), a->n) == 0;
}

/* The slot of a name, or the free one where it belongs.  There always is a free one. */
static struct field_name_slot *find_slot(struct field_json *json, const struct field_name *name)
{
    for (size_t i = (size_t)name->hash;; i++) {
        struct field_name_slot *slot = &json->slots[i & (json->slots_n - 1)];
        if (slot->event != json->oldest || is_same(json, &json->names[slot->index], name))
            return slot;
    }
}

/* Puts all names into the table, a third of which stays free; false when memory is out. */
static bool index_names(struct field_json *json)
{
    if (json->names_n * 3 >= json->slots_n * 2) {
        size_t n = json->slots_n ? json->slots_n : NAMES_FIRST;
        while (json->names_n * 3 >= n * 2)
            n *= 2;
        struct field_name_slot *slots = alloc_zero(json->to->alloc, n, sizeof *slots);
        if (!slots) {
            json->to->failed = true;
            return false;
        }
        alloc_free(json->to->alloc, json->slots, json->slots_n, sizeof *json->slots);
        json->slots = slots;
        json->slots_n = n;
        json->indexed = 0;
    }
    for (; json->indexed < json->names_n; json->indexed++)
        *find_slot(json, &json->names[json->indexed]) =
            (struct field_name_slot){json->oldest, json->indexed};
    return true;
}

/* The name that is the same; NULL = none, or memory is out. */
static struct field_name *find_name(struct field_json *json, const struct field_name *name)
{
    if (!index_names(json))
        return NULL;
    const struct field_name_slot *slot = find_slot(json, name);
    return slot->event == json->oldest ? &json->names[slot->index] : NULL;
}

static inline struct field_name name_from(const struct field_json *json, size_t at, size_t n,
                                          uint64_t hash)
{
    uint64_t object = json->objects[json->depth];
    return (struct field_name){
        .object = object, .at = at, .n = n, .again = 2, .hash = hash + object * HASH_OBJECT};
}

/* The escaped name that ends the output. */
static struct field_name last_name(const struct field_json *json, size_t at)
{
    size_t n = json->to->n - at;
    return name_from(json, at, n, hash_bytes(json->to->bytes + at, n));
}

/* Lists a name; true where the filter says that it is new. */
static inline bool list_name(struct field_json *json, const struct field_name *name)
{
    uint64_t bit = UINT64_C(1) << (name->hash >> 8 & 63),
             *seen = &json->seen[name->hash & (FIELD_JSON_SEEN - 1)];
    bool is_new = !(*seen & bit);
    *seen |= bit;
    if (json->names_n == json->names_capacity &&
        !alloc_reserve(json->to->alloc, (void **)&json->names, &json->names_capacity,
                       json->names_n + 1, sizeof *json->names)) {
        json->to->failed = true;
        return true;
    }
    json->names[json->names_n++] = *name;
    return is_new;
}

/* Appends "#2", "#3", ... to the name listed last, which ends the output, until no other of its
 * object is like it. */
static __attribute__((noinline)) void make_unique(struct field_json *json)
{
    struct field_name name = json->names[--json->names_n];
    size_t at = name.at;
    struct field_name *same = find_name(json, &name);
    if (same)
        lost(json, FIELD_JSON_DUPLICATE);
    for (struct field_name *first = same; same && !json->to->failed;
         same = find_name(json, &name)) {
        json->to->n = at + first->n;
        char number[NUMBER_MAX] = "#";
        buffer_add(json->to, number, 1 + number_put_u64(number + 1, first->again++));
        name = last_name(json, at);
    }
    (void)list_name(json, &name);
}

void field_json_element(struct field_json *json)
{
    const struct buffer *to = json->to;
    uint8_t last = to->n ? to->bytes[to->n - 1] : '{';
    if (last != '{' && last != '[')
        buffer_add_byte(json->to, ',');
    if (json->spaced)
        buffer_add_byte(json->to, ' ');
}

static void add_pointer(struct field_json *json, uint64_t x)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    if (!at)
        return;
    size_t n = 1 + number_put_hex(at + 1, x);
    at[0] = at[n] = '"';
    buffer_filled(json->to, n + 1);
    json->pointers++;
}

static void add_number(struct field_json *json, const ttr_value *value)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    ttr_thread thread;
    if (!at)
        return;
    if (value->type == TTR_TYPE_INT)
        buffer_filled(json->to, number_put_i64(at, value->v.s));
    else if (value->hint == TTR_HINT_THREAD && ttr_thread_get(json->t, (ttr_id)value->v.u, &thread))
        buffer_filled(json->to, number_put_u64(at, thread.tid));
    else
        buffer_filled(json->to, number_put_u64(at, value->v.u));
}

static inline void add_plain(struct field_json *json, uint64_t x)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    if (at)
        buffer_filled(json->to, number_put_u64(at, x));
}

static void add_float(struct field_json *json, double x)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    if (!at)
        return;
    if (isfinite(x)) {
        buffer_filled(json->to, number_put_double(at, x));
        return;
    }
    lost(json, FIELD_JSON_NOT_FINITE);
    buffer_add_text(json->to, isnan(x) ? "\"NaN\"" : x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
}

static void add_bytes(struct field_json *json, ttr_text bytes)
{
    static const char digits[] = "0123456789abcdef";
    lost(json, FIELD_JSON_BYTES);
    if (bytes.n > json->bytes_max) {
        bytes.n = json->bytes_max;
        json->bytes_cut++;
    }
    char *at = bytes.n < SIZE_MAX / 4 ? (char *)buffer_room(json->to, bytes.n * 2 + 4) : NULL;
    if (!at) {
        json->to->failed = true;
        return;
    }
    memcpy(at, "\"0x", 3);
    at += 3;
    for (size_t i = 0; i < bytes.n; i++) {
        *at++ = digits[(uint8_t)bytes.p[i] >> 4];
        *at++ = digits[(uint8_t)bytes.p[i] & 15];
    }
    *at = '"';
    buffer_filled(json->to, bytes.n * 2 + 4);
}

static void add_text(struct field_json *json, ttr_text text)
{
    char *at = text.n < SIZE_MAX / 4 ? (char *)buffer_room(json->to, text.n + 2) : NULL;
    if (at && json_copy_plain(at + 1, text.p, text.n)) {
        at[0] = at[text.n + 1] = '"';
        buffer_filled(json->to, text.n + 2);
        return;
    }
    buffer_add_byte(json->to, '"');
    add_escaped(json, text.p, text.n);
    buffer_add_byte(json->to, '"');
}

static bool is_number(const ttr_value *value)
{
    return value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
}

static bool is_container(const ttr_value *value)
{
    return value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT;
}

/* Names listed up to here stay when the innermost object or array, which begins at this level,
 * ends. */
static void set_mark(struct field_json *json, unsigned depth)
{
    struct field_json_mark *mark = &json->marks[depth];
    mark->names_n = json->names_n;
    memcpy(mark->seen, json->seen, sizeof mark->seen);
}

/* Forgets the names of what has ended, which none is compared with any more: elements of arrays may
 * be millions.  Slots are freed in the reverse of the order in which they were taken, so that none
 * is behind a free one that it was put behind. */
static void forget_names(struct field_json *json, const struct field_json_mark *mark)
{
    while (json->indexed > mark->names_n)
        find_slot(json, &json->names[--json->indexed])->event = 0;
    json->names_n = mark->names_n;
    memcpy(json->seen, mark->seen, sizeof json->seen);
}

void field_json_open(struct field_json *json, const ttr_value *value)
{
    bool is_array = value->type == TTR_TYPE_ARRAY;
    if (json->depth == FIELD_JSON_DEPTH) {
        buffer_add_text(json->to, "null"); /* what it holds follows it in the same level */
        return;
    }
    buffer_add_byte(json->to, is_array ? '[' : '{');
    json->objects[++json->depth] = is_array ? 0 : ++json->generation;
    set_mark(json, json->depth);
}

void field_json_close(struct field_json *json)
{
    if (json->spaced)
        buffer_add_byte(json->to, ' ');
    buffer_add_byte(json->to, json->objects[json->depth] ? '}' : ']');
    const struct field_json_mark *mark = &json->marks[json->depth--];
    if (json->names_n > mark->names_n)
        forget_names(json, mark);
}

void field_json_begin(struct field_json *json)
{
    json->oldest = ++json->generation;
    json->names_n = json->indexed = 0;
    buffer_clear(&json->kept);
    json->shape = NULL;
    json->shaped_n = 0;
    memset(json->seen, 0, sizeof json->seen);
    json->depth = 0;
    json->objects[0] = json->generation;
}

/* --- Shapes --- */

/* Begins an event's fields by the shape of its schema, or learns it: the second time, since a
 * schema seen once may never come again. */
static void choose_shape(struct field_json *json, ttr_id schema)
{
    if (json->names_n > 0)
        return;
    if (!json->shapes)
        json->shapes = alloc_zero(json->to->alloc, SHAPES, sizeof *json->shapes);
    json->to->failed |= !json->shapes;
    if (!json->shapes)
        return;
    struct field_shape *shape = &json->shapes[schema % SHAPES];
    if (shape->schema != schema) {
        *shape = (struct field_shape){.schema = schema};
        return;
    }
    json->shape = shape->misses < SHAPE_MISSES ? shape : NULL;
    json->is_learning = !shape->is_learned;
}

/* Lists the names that the shape spared: from here on the event goes its own way. */
static void leave_shape(struct field_json *json)
{
    struct field_shape *shape = json->shape;
    json->shape = NULL;
    if (json->is_learning) {
        shape->is_learned = true;
        return;
    }
    shape->misses++;
    for (unsigned i = 0; i < json->shaped_n; i++) {
        const struct text_piece *piece =
            text_cache_get(&json->texts, json->t, shape->item[i].name_id);
        const struct shaped_name *shaped = &json->shaped[i];
        size_t at = shaped->end - json->spaced - 2 - piece->text.n;
        const struct field_name name = {.object = shaped->object,
                                        .at = at,
                                        .n = piece->text.n,
                                        .again = 2,
                                        .hash = piece->hash + shaped->object * HASH_OBJECT};
        (void)list_name(json, &name);
    }
    for (unsigned depth = 1; depth <= json->depth;
         depth++) /* the names are those of any of these */
        set_mark(json, depth);
}

/* Learns the name that was appended just now from `begin` on. */
static void learn_name(struct field_json *json, const ttr_field *field, size_t begin)
{
    struct field_shape *shape = json->shape;
    size_t n = json->to->n - begin;
    if (json->to->failed || n > SHAPE_TEXT || shape->n == FIELD_JSON_SHAPE) {
        leave_shape(json);
        return;
    }
    struct shape_item *item = &shape->item[shape->n++];
    *item = (struct shape_item){.name_id = field->name_id, .depth = field->depth, .n = (uint8_t)n};
    memcpy(item->text, json->to->bytes + begin, n);
}

/* Appends a name where it is the next one of the shape. */
static inline bool add_shaped_name(struct field_json *json, const ttr_field *field)
{
    const struct field_shape *shape = json->shape;
    if (!shape || json->is_learning || json->shaped_n == shape->n)
        return false;
    const struct shape_item *item = &shape->item[json->shaped_n];
    struct buffer *to = json->to;
    char *at = item->name_id == field->name_id && item->depth == field->depth
                   ? (char *)buffer_room(to, SHAPE_TEXT)
                   : NULL;
    if (!at)
        return false;
    size_t n = to->n + item->n;
    json->shaped[json->shaped_n++] = (struct shaped_name){json->objects[json->depth], n};
    to->n = n;
    (void)put_cached(at, (ttr_text){item->text, item->n});
    return true;
}

/* --- Names --- */

/* A name of any bytes. */
static void add_any_name(struct field_json *json, const void *p, size_t n)
{
    if (json->shape)
        leave_shape(json);
    field_json_element(json);
    buffer_add_byte(json->to, '"');
    size_t at = json->to->n;
    add_escaped(json, p, n);
    if (json->to->failed)
        return;
    struct field_name name = last_name(json, at);
    if (!list_name(json, &name))
        make_unique(json);
    buffer_add(json->to, "\": ", json->spaced ? 3 : 2);
}

/* A name that is escaped already; of the text cache, where is_padded.  Characters are stored last:
 * compilers take them for a change of anything. */
static inline void add_name(struct field_json *json, ttr_text text, uint64_t hash, bool is_padded)
{
    struct buffer *to = json->to;
    char *at = (char *)buffer_room(to, text.n + TEXT_CACHE_PADDING + sizeof ", \"\": ");
    if (!at)
        return;
    size_t before = to->n, spaced = json->spaced;
    char last = before ? at[-1] : '{';
    size_t skip = (last != '{' && last != '[') + spaced + 1;
    const struct field_name name = name_from(json, before + skip, text.n, hash);
    bool is_new = list_name(json, &name);
    to->n = before + skip + text.n + (is_new ? 2 + spaced : 0);
    at[0] = ',';
    if (spaced)
        at[skip - 2] = ' ';
    at += skip;
    at[-1] = '"';
    if (is_padded)
        (void)put_cached(at, text);
    else
        memcpy(at, text.p, text.n);
    memcpy(at + text.n, "\": ", 3);
    if (!is_new) {
        make_unique(json);
        buffer_add(to, "\": ", 2 + spaced);
    }
}

void field_json_constant_name(struct field_json *json, const char *name)
{
    size_t n = strlen(name);
    if (json->shape)
        leave_shape(json);
    add_name(json, (ttr_text){name, n}, hash_bytes(name, n), false);
}

/* A known string, escaped. */
static inline const struct text_piece *known_text(struct field_json *json, ttr_id id)
{
    const struct text_piece *piece = text_cache_get(&json->texts, json->t, id);
    json->to->failed |= json->texts.failed;
    if (piece->changed)
        lost(json, FIELD_JSON_TEXT);
    return piece;
}

/* A name that no shape has appended. */
static __attribute__((noinline)) void add_other_name(struct field_json *json,
                                                     const ttr_field *field)
{
    if (json->shape && (!json->is_learning || !field->name_id))
        leave_shape(json);
    if (!field->name_id) {
        add_any_name(json, field->name.p, field->name.n);
        return;
    }
    const struct text_piece *piece = known_text(json, field->name_id);
    size_t begin = json->to->n;
    uint64_t duplicates = json->losses[FIELD_JSON_DUPLICATE];
    add_name(json, piece->text, piece->hash, true);
    if (json->shape && (piece->changed || json->losses[FIELD_JSON_DUPLICATE] != duplicates))
        leave_shape(json);
    else if (json->shape)
        learn_name(json, field, begin);
}

void field_json_field_name(struct field_json *json, const ttr_field *field)
{
    if (!add_shaped_name(json, field))
        add_other_name(json, field);
}

static void add_known_text(struct field_json *json, ttr_id id)
{
    ttr_text text = known_text(json, id)->text;
    char *at = (char *)buffer_room(json->to, text.n + TEXT_CACHE_PADDING + 2);
    if (!at)
        return;
    at[0] = '"';
    *put_cached(at + 1, text) = '"';
    buffer_filled(json->to, text.n + 2);
}

void field_json_value(struct field_json *json, const ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_BOOL:
        buffer_add_text(json->to, value->v.u ? "true" : "false");
        return;
    case TTR_TYPE_UINT:
        if (json->hex_pointers && value->hint == TTR_HINT_POINTER) {
            add_pointer(json, value->v.u);
            return;
        }
        add_number(json, value);
        return;
    case TTR_TYPE_INT:
        add_number(json, value);
        return;
    case TTR_TYPE_FLOAT:
        add_float(json, value->v.f);
        return;
    case TTR_TYPE_BYTES:
        add_bytes(json, value->text);
        return;
    case TTR_TYPE_TEXT:
        break;
    default:
        buffer_add_text(json->to, "null");
        return;
    }
    if (value->text_id)
        add_known_text(json, value->text_id);
    else if (value->hint == TTR_HINT_NUMBER && number_is_integer(value->text.p, value->text.n))
        buffer_add(json->to, value->text.p, value->text.n);
    else
        add_text(json, value->text);
}

/* A value with names; the number stays a number. */
static void add_labelled(struct field_json *json, const ttr_value *value)
{
    bool is_list = value->hint == TTR_HINT_FLAGS || value->count > 1;
    buffer_add_text(json->to, "{\"value\":");
    add_number(json, value);
    if (value->hint == TTR_HINT_ENUM && value->count > 0) {
        buffer_add_text(json->to, ",\"label\":");
        add_text(json, value->text);
    }
    if (is_list)
        buffer_add_text(json->to, ",\"labels\":[");
    for (uint32_t i = 0; is_list && i < value->count; i++) {
        ttr_text label;
        if (!ttr_event_label(json->shown, value, i, &label))
            break;
        if (i)
            buffer_add_byte(json->to, ',');
        add_text(json, label);
    }
    buffer_add_text(json->to, is_list ? "]}" : "}");
}

/* Arrays of structs have as many names as they have elements: they have no shape. */
static void add_element(struct field_json *json, const ttr_value *value)
{
    if (json->shape && is_container(value))
        leave_shape(json);
    field_json_element(json);
}

static void add_field(struct field_json *json, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    while (json->depth > field->depth)
        field_json_close(json);
    if (!json->objects[json->depth])
        add_element(json, value);
    else if (!add_shaped_name(json, field))
        add_other_name(json, field);
    if (value->type == TTR_TYPE_UINT && value->hint == TTR_HINT_NONE)
        add_plain(json, value->v.u);
    else if (is_container(value))
        field_json_open(json, value);
    else if ((value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS) && is_number(value))
        add_labelled(json, value);
    else
        field_json_value(json, value);
}

/* Has the text taken that is there, where it is much; names that may come again are kept. */
static __attribute__((noinline)) void relieve(struct field_json *json)
{
    if (json->to->n < RELIEF || !json->relieve)
        return;
    if (json->shape)
        leave_shape(json);
    for (size_t i = json->names_n; i-- > 0 && !(json->names[i].at & KEPT);) {
        struct field_name *name = &json->names[i];
        const size_t at = json->kept.n;
        buffer_add(&json->kept, json->to->bytes + name->at, name->n);
        name->at = at + KEPT;
    }
    json->to->failed |= json->kept.failed;
    if (!json->to->failed)
        json->relieve(json->writer);
}

static bool is_context(const ttr_field *field)
{
    return field->group == TTR_GROUP_COMMON || field->group == TTR_GROUP_CONTEXT;
}

static void end_fields(struct field_json *json)
{
    while (json->depth > 0)
        field_json_close(json);
    if (json->shape && json->is_learning && json->shape->n > 0)
        leave_shape(json);
}

/* Returns the first fields of an event; 0 also if memory is out. */
static inline uint32_t first_fields(struct field_json *json, const ttr_event *event,
                                    const ttr_field **field)
{
    if (!json->fields)
        json->shown = json->fields = ttr_field_buffer_new(json->t);
    json->to->failed |= !json->fields;
    return json->fields ? ttr_event_fields(json->fields, event, field) : 0;
}

/* Returns the next fields, after large text has left memory. */
static inline uint32_t more_fields(struct field_json *json, uint32_t n, const ttr_field **field)
{
    if (n >= MANY)
        relieve(json);
    return ttr_more_fields(json->fields, field);
}

void field_json_fields(struct field_json *json, const ttr_event *event)
{
    const ttr_field *field;
    choose_shape(json, event->schema);
    for (uint32_t n = first_fields(json, event, &field); n > 0; n = more_fields(json, n, &field))
        for (uint32_t i = 0; i < n; i++) {
            json->contexts += field[i].depth == 0 && is_context(&field[i]);
            add_field(json, &field[i]);
        }
    end_fields(json);
}

bool field_json_parts(struct field_json *json, struct field_json *context, const ttr_event *event)
{
    const ttr_field *field;
    bool has_context = false;
    choose_shape(json, event->schema);
    uint32_t n = first_fields(json, event, &field);
    context->shown = json->fields;
    for (; n > 0; n = more_fields(json, n, &field))
        for (uint32_t i = 0; i < n; i++) {
            bool is_apart = is_context(&field[i]);
            if (is_apart && !has_context)
                choose_shape(context, event->schema);
            has_context |= is_apart;
            add_field(is_apart ? context : json, &field[i]);
        }
    end_fields(json);
    end_fields(context);
    return has_context;
}

void field_json_tell(struct field_json *json, struct ttr_writer *out, uint64_t offset)
{
    if (json->lost_any == 0)
        return;
    for (size_t i = 0; i < FIELD_JSON_LOSSES; i++)
        for (; json->losses[i] > 0; json->losses[i]--)
            output_lost(out, i, offset);
    json->lost_any = 0;
}
