/* Encoder of event fields as JSON members. Whether a comma is needed is derived from the last byte
 * written: none after an opening bracket.
 *
 * Duplicate names in an object get a suffix ("name#2"). Three levels detect them at low cost:
 *
 *   1. Events of one schema mostly have the same names. Their sequence of names is learned once as
 *      a shape; names that follow the shape are appended from it without any check.
 *   2. Otherwise names are listed, and a Bloom filter reports most of them as new.
 *   3. If the filter cannot exclude a duplicate, the list is indexed in a hash table (open
 *      addressing, linear probing). A crafted event with many names thus costs linear time.
 *
 * Invariants: a name is stored as an offset into the output, so the output must not be drained
 * while an object is open. When an object ends, its names leave list, filter and table. */
#include "encodings/json/field_json.h"

#include <math.h>

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/number.h"
#include "encodings/json/emit.h"

#define SHAPES ((size_t)32)
#define SHAPE_TEXT ((size_t)3 * TEXT_CACHE_PADDING)
/* a schema with so many events that do not match its shape gets no further shape */
#define SHAPE_MISSES_MAX 4u
#define NAMES_FIRST ((size_t)64)
/* 2^64 / golden ratio. Multiplied by the object number and added to the hash of a name, so that
 * equal names of different objects have different hashes. */
#define HASH_OBJECT 0x9e3779b97f4a7c15u

/* A field name in the output of the current event. */
struct field_name {
    /* number of the object that contains the name; numbers count the objects of the output */
    uint64_t object;
    uint64_t hash;
    /* at, n: offset in the output, and length, of the escaped name */
    size_t at, n;
    /* suffix number that the next duplicate of this name tries first */
    uint64_t next_suffix;
};

/* A field name of a shape. It needs no comparison with other names if all fields before it match
 * the shape, too. */
struct shape_item {
    ttr_id name_id;
    uint16_t depth;
    uint8_t n;
    char text[SHAPE_TEXT]; /* bytes that are appended: comma, escaped name, colon */
};

struct field_shape {
    ttr_id schema;
    uint8_t n;      /* number of names; an event may have more fields */
    uint8_t misses; /* number of events that did not match the shape */
    bool is_learned;
    struct shape_item item[FIELD_JSON_SHAPE];
};

struct field_name_slot {
    /* number of the event that used the slot last; the slot is free if the current event has
     * another number */
    uint64_t event;
    size_t index; /* index of the name in `names` */
};

void field_json_init(struct field_json *json, const ttr *t, struct buffer *to)
{
    *json =
        (struct field_json){.t = t, .to = to, .generation = 1, .oldest = 1, .bytes_max = SIZE_MAX};
    text_cache_init(&json->texts, to->alloc, json_append_escaped);
}

void field_json_free(struct field_json *json)
{
    if (!json->to)
        return;
    text_cache_free(&json->texts);
    ttr_field_buffer_free(json->fields);
    alloc_free(json->to->alloc, json->names, json->names_capacity, sizeof *json->names);
    alloc_free(json->to->alloc, json->shapes, SHAPES, sizeof *json->shapes);
    alloc_free(json->to->alloc, json->slots, json->slots_n, sizeof *json->slots);
}

static void count_json_loss(struct field_json *json, enum field_json_loss loss)
{
    json->losses[loss]++;
    json->losses_total++;
}

static void append_escaped_text(struct field_json *json, const void *p, size_t n)
{
    if (json_append_escaped(json->to, p, n) > 0)
        count_json_loss(json, FIELD_JSON_TEXT);
}

static const uint8_t *get_name_text(const struct field_json *json, const struct field_name *name)
{
    return json->to->bytes + name->at;
}

static bool is_same_name(const struct field_json *json, const struct field_name *a,
                         const struct field_name *b)
{
    return a->hash == b->hash && a->object == b->object && a->n == b->n &&
           memcmp(get_name_text(json, a), get_name_text(json, b), a->n) == 0;
}

/* Returns the slot of a name in the hash table; a free slot if it does not contain the name. The
 * search ends, because the table always has free slots. */
static struct field_name_slot *find_name_slot(struct field_json *json,
                                              const struct field_name *name)
{
    for (size_t i = (size_t)name->hash;; i++) {
        struct field_name_slot *slot = &json->slots[i & (json->slots_n - 1)];
        if (slot->event != json->oldest || is_same_name(json, &json->names[slot->index], name))
            return slot;
    }
}

/* Adds the names of the list that the hash table does not contain yet. Keeps a third of the table
 * free. Returns false if memory runs out. */
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
        *find_name_slot(json, &json->names[json->indexed]) =
            (struct field_name_slot){json->oldest, json->indexed};
    return true;
}

/* Returns an earlier name of the same object that is equal; NULL if there is none, or memory is
 * out. */
static struct field_name *find_name(struct field_json *json, const struct field_name *name)
{
    if (!index_names(json))
        return NULL;
    const struct field_name_slot *slot = find_name_slot(json, name);
    return slot->event == json->oldest ? &json->names[slot->index] : NULL;
}

static inline struct field_name make_field_name(const struct field_json *json, size_t at, size_t n,
                                                uint64_t hash)
{
    uint64_t object = json->objects[json->depth];
    return (struct field_name){
        .object = object, .at = at, .n = n, .next_suffix = 2, .hash = hash + object * HASH_OBJECT};
}

/* Returns the field_name of the escaped name from offset `at` on, which is the end of the
 * output. */
static struct field_name add_last_output_name(const struct field_json *json, size_t at)
{
    size_t n = json->to->n - at;
    return make_field_name(json, at, n, hash_bytes(json->to->bytes + at, n));
}

/* Adds a name to the list. Returns true if the Bloom filter shows that no earlier name is equal. */
static inline bool add_name_to_list(struct field_json *json, const struct field_name *name)
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

/* Appends a suffix "#2", "#3" ... to the name at the end of the output, so that it becomes unique
 * in its object. */
static __attribute__((noinline)) void make_name_unique(struct field_json *json)
{
    struct field_name name = json->names[--json->names_n];
    size_t at = name.at;
    struct field_name *same = find_name(json, &name);
    if (same)
        count_json_loss(json, FIELD_JSON_DUPLICATE);
    for (struct field_name *first = same; same && !json->to->failed;
         same = find_name(json, &name)) {
        json->to->n = at + first->n;
        char number[NUMBER_MAX] = "#";
        buffer_add(json->to, number, 1 + number_format_u64(number + 1, first->next_suffix++));
        name = add_last_output_name(json, at);
    }
    (void)add_name_to_list(json, &name);
}

void field_json_append_separator(struct field_json *json)
{
    const struct buffer *to = json->to;
    uint8_t last = to->n ? to->bytes[to->n - 1] : '{';
    if (last != '{' && last != '[')
        buffer_add_byte(json->to, ',');
    if (json->spaced)
        buffer_add_byte(json->to, ' ');
}

static void append_json_pointer(struct field_json *json, uint64_t x)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    if (!at)
        return;
    size_t n = 1 + number_format_hex(at + 1, x);
    at[0] = at[n] = '"';
    buffer_commit(json->to, n + 1);
    json->pointers++;
}

static void append_json_number(struct field_json *json, const ttr_value *value)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    ttr_thread thread;
    if (!at)
        return;
    if (value->type == TTR_TYPE_INT)
        buffer_commit(json->to, number_format_i64(at, value->v.s));
    else if (value->hint == TTR_DISPLAY_THREAD &&
             ttr_thread_get(json->t, (ttr_id)value->v.u, &thread))
        buffer_commit(json->to, number_format_u64(at, thread.tid));
    else
        buffer_commit(json->to, number_format_u64(at, value->v.u));
}

static inline void append_plain_number(struct field_json *json, uint64_t x)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    if (at)
        buffer_commit(json->to, number_format_u64(at, x));
}

static void append_json_float(struct field_json *json, double x)
{
    char *at = (char *)buffer_room(json->to, NUMBER_MAX);
    if (!at)
        return;
    if (isfinite(x)) {
        buffer_commit(json->to, number_format_double(at, x));
        return;
    }
    count_json_loss(json, FIELD_JSON_NOT_FINITE);
    buffer_add_text(json->to, isnan(x) ? "\"NaN\"" : x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
}

static void append_json_bytes(struct field_json *json, ttr_text bytes)
{
    static const char digits[] = "0123456789abcdef";
    count_json_loss(json, FIELD_JSON_BYTES);
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
    buffer_commit(json->to, bytes.n * 2 + 4);
}

static void append_json_text(struct field_json *json, ttr_text text)
{
    char *at = text.n < SIZE_MAX / 4 ? (char *)buffer_room(json->to, text.n + 2) : NULL;
    if (at && json_copy_plain(at + 1, text.p, text.n)) {
        at[0] = at[text.n + 1] = '"';
        buffer_commit(json->to, text.n + 2);
        return;
    }
    buffer_add_byte(json->to, '"');
    append_escaped_text(json, text.p, text.n);
    buffer_add_byte(json->to, '"');
}

static bool is_number_value(const ttr_value *value)
{
    return value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
}

static bool is_array_or_struct(const ttr_value *value)
{
    return value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT;
}

/* Stores the number of names and the Bloom filter at the start of an object or array, to restore
 * them at its end. */
static void save_names_mark(struct field_json *json, unsigned depth)
{
    struct field_json_mark *mark = &json->marks[depth];
    mark->names_n = json->names_n;
    memcpy(mark->seen, json->seen, sizeof mark->seen);
}

/* Removes the names of an object at its end, so that arrays of millions of objects need little
 * memory. Frees slots in reverse order of insertion, since otherwise the search by linear probing
 * would miss names. */
static void remove_object_names(struct field_json *json, const struct field_json_mark *mark)
{
    while (json->indexed > mark->names_n)
        find_name_slot(json, &json->names[--json->indexed])->event = 0;
    json->names_n = mark->names_n;
    memcpy(json->seen, mark->seen, sizeof json->seen);
}

void field_json_open_value(struct field_json *json, const ttr_value *value)
{
    bool is_array = value->type == TTR_TYPE_ARRAY;
    if (json->depth == FIELD_JSON_DEPTH) {
        /* deeper members become members of the current level */
        buffer_add_text(json->to, "null");
        return;
    }
    buffer_add_byte(json->to, is_array ? '[' : '{');
    json->objects[++json->depth] = is_array ? 0 : ++json->generation;
    save_names_mark(json, json->depth);
}

void field_json_close_value(struct field_json *json)
{
    if (json->spaced)
        buffer_add_byte(json->to, ' ');
    buffer_add_byte(json->to, json->objects[json->depth] ? '}' : ']');
    const struct field_json_mark *mark = &json->marks[json->depth--];
    if (json->names_n > mark->names_n)
        remove_object_names(json, mark);
}

void field_json_begin(struct field_json *json)
{
    json->oldest = ++json->generation;
    json->names_n = json->indexed = 0;
    json->shape = NULL;
    json->shaped_n = 0;
    memset(json->seen, 0, sizeof json->seen);
    json->depth = 0;
    json->objects[0] = json->generation;
}

/* --- Shapes: sequences of names that were seen before --- */

/* Selects the shape for an event. The shape of a schema is created at its second event, because
 * many schemas have only one. */
static void select_shape(struct field_json *json, ttr_id schema)
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
    json->shape = shape->misses < SHAPE_MISSES_MAX ? shape : NULL;
    json->is_learning = !shape->is_learned;
}

/* Stops using the shape for this event. Adds the names that it has appended to the list, so that
 * later names are compared with them. */
static void stop_using_shape(struct field_json *json)
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
                                        .next_suffix = 2,
                                        .hash = piece->hash + shaped->object * HASH_OBJECT};
        (void)add_name_to_list(json, &name);
    }
    /* any object that contains the current position may have such names */
    for (unsigned depth = 1; depth <= json->depth; depth++)
        save_names_mark(json, depth);
}

/* Adds the name that was appended at output offset `begin` to the shape. */
static void add_name_to_shape(struct field_json *json, const ttr_field *field, size_t begin)
{
    struct field_shape *shape = json->shape;
    size_t n = json->to->n - begin;
    if (json->to->failed || n > SHAPE_TEXT || shape->n == FIELD_JSON_SHAPE) {
        stop_using_shape(json);
        return;
    }
    struct shape_item *item = &shape->item[shape->n++];
    *item = (struct shape_item){.name_id = field->name_id, .depth = field->depth, .n = (uint8_t)n};
    memcpy(item->text, json->to->bytes + begin, n);
}

/* Appends the next name of the shape. Returns false if the field has another name. */
static inline bool append_shaped_name(struct field_json *json, const ttr_field *field)
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
    (void)emit_cached_piece(at, (ttr_text){item->text, item->n});
    return true;
}

/* --- Names of fields without a shape --- */

/* Appends a name; escapes it if necessary. */
static void append_name_with_escaping(struct field_json *json, const void *p, size_t n)
{
    if (json->shape)
        stop_using_shape(json);
    field_json_append_separator(json);
    buffer_add_byte(json->to, '"');
    size_t at = json->to->n;
    append_escaped_text(json, p, n);
    if (json->to->failed)
        return;
    struct field_name name = add_last_output_name(json, at);
    if (!add_name_to_list(json, &name))
        make_name_unique(json);
    buffer_add(json->to, "\": ", json->spaced ? 3 : 2);
}

/* Appends an escaped name. is_padded: the text is from the text cache, so it may be copied in
 * blocks. Writes the bytes last, because the compiler reloads all other state after a store
 * through char *. */
static inline void append_escaped_name(struct field_json *json, ttr_text text, uint64_t hash,
                                       bool is_padded)
{
    struct buffer *to = json->to;
    char *at = (char *)buffer_room(to, text.n + TEXT_CACHE_PADDING + sizeof ", \"\": ");
    if (!at)
        return;
    size_t before = to->n, spaced = json->spaced;
    char last = before ? at[-1] : '{';
    size_t skip = (last != '{' && last != '[') + spaced + 1;
    const struct field_name name = make_field_name(json, before + skip, text.n, hash);
    bool is_new = add_name_to_list(json, &name);
    to->n = before + skip + text.n + (is_new ? 2 + spaced : 0);
    at[0] = ',';
    if (spaced)
        at[skip - 2] = ' ';
    at += skip;
    at[-1] = '"';
    if (is_padded)
        (void)emit_cached_piece(at, text);
    else
        memcpy(at, text.p, text.n);
    memcpy(at + text.n, "\": ", 3);
    if (!is_new) {
        make_name_unique(json);
        buffer_add(to, "\": ", 2 + spaced);
    }
}

void field_json_append_constant_name(struct field_json *json, const char *name)
{
    size_t n = strlen(name);
    if (json->shape)
        stop_using_shape(json);
    append_escaped_name(json, (ttr_text){name, n}, hash_bytes(name, n), false);
}

/* Returns the cached escaped form of an interned string. */
static inline const struct text_piece *get_escaped_string(struct field_json *json, ttr_id id)
{
    const struct text_piece *piece = text_cache_get(&json->texts, json->t, id);
    json->to->failed |= json->texts.failed;
    if (piece->changed)
        count_json_loss(json, FIELD_JSON_TEXT);
    return piece;
}

/* Appends a name that is not in the shape; adds it if the shape is still being created. */
static __attribute__((noinline)) void append_unshaped_name(struct field_json *json,
                                                           const ttr_field *field)
{
    if (json->shape && (!json->is_learning || !field->name_id))
        stop_using_shape(json);
    if (!field->name_id) {
        append_name_with_escaping(json, field->name.p, field->name.n);
        return;
    }
    const struct text_piece *piece = get_escaped_string(json, field->name_id);
    size_t begin = json->to->n;
    uint64_t duplicates = json->losses[FIELD_JSON_DUPLICATE];
    append_escaped_name(json, piece->text, piece->hash, true);
    if (json->shape && (piece->changed || json->losses[FIELD_JSON_DUPLICATE] != duplicates))
        stop_using_shape(json);
    else if (json->shape)
        add_name_to_shape(json, field, begin);
}

void field_json_append_field_name(struct field_json *json, const ttr_field *field)
{
    if (!append_shaped_name(json, field))
        append_unshaped_name(json, field);
}

static void append_interned_text(struct field_json *json, ttr_id id)
{
    ttr_text text = get_escaped_string(json, id)->text;
    char *at = (char *)buffer_room(json->to, text.n + TEXT_CACHE_PADDING + 2);
    if (!at)
        return;
    at[0] = '"';
    *emit_cached_piece(at + 1, text) = '"';
    buffer_commit(json->to, text.n + 2);
}

void field_json_append_value(struct field_json *json, const ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_BOOL:
        buffer_add_text(json->to, value->v.u ? "true" : "false");
        return;
    case TTR_TYPE_UINT:
        if (json->hex_pointers && value->hint == TTR_DISPLAY_POINTER) {
            append_json_pointer(json, value->v.u);
            return;
        }
        append_json_number(json, value);
        return;
    case TTR_TYPE_INT:
        append_json_number(json, value);
        return;
    case TTR_TYPE_FLOAT:
        append_json_float(json, value->v.f);
        return;
    case TTR_TYPE_BYTES:
        append_json_bytes(json, value->text);
        return;
    case TTR_TYPE_TEXT:
        break;
    default:
        buffer_add_text(json->to, "null");
        return;
    }
    if (value->text_id)
        append_interned_text(json, value->text_id);
    else if (value->hint == TTR_DISPLAY_DECIMAL && number_is_integer(value->text.p, value->text.n))
        buffer_add(json->to, value->text.p, value->text.n);
    else
        append_json_text(json, value->text);
}

/* Appends an enumerated value as an object with the number and its labels. */
static void append_labelled_number(struct field_json *json, const ttr_value *value)
{
    bool is_list = value->hint == TTR_DISPLAY_FLAGS || value->count > 1;
    buffer_add_text(json->to, "{\"value\":");
    append_json_number(json, value);
    if (value->hint == TTR_DISPLAY_ENUM && value->count > 0) {
        buffer_add_text(json->to, ",\"label\":");
        append_json_text(json, value->text);
    }
    if (is_list)
        buffer_add_text(json->to, ",\"labels\":[");
    for (uint32_t i = 0; is_list && i < value->count; i++) {
        ttr_text label;
        if (!ttr_event_label(json->shown, value, i, &label))
            break;
        if (i)
            buffer_add_byte(json->to, ',');
        append_json_text(json, label);
    }
    buffer_add_text(json->to, is_list ? "]}" : "}");
}

/* Starts an array element. If it is an object, stops using the shape, since the lengths of arrays
 * differ. */
static void append_array_element(struct field_json *json, const ttr_value *value)
{
    if (json->shape && is_array_or_struct(value))
        stop_using_shape(json);
    field_json_append_separator(json);
}

static void append_json_field(struct field_json *json, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    while (json->depth > field->depth)
        field_json_close_value(json);
    if (!json->objects[json->depth])
        append_array_element(json, value);
    else if (!append_shaped_name(json, field))
        append_unshaped_name(json, field);
    if (value->type == TTR_TYPE_UINT && value->hint == TTR_DISPLAY_NONE)
        append_plain_number(json, value->v.u);
    else if (is_array_or_struct(value))
        field_json_open_value(json, value);
    else if ((value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS) &&
             is_number_value(value))
        append_labelled_number(json, value);
    else
        field_json_append_value(json, value);
}

static bool is_context_field(const ttr_field *field)
{
    return field->group == TTR_GROUP_COMMON || field->group == TTR_GROUP_CONTEXT;
}

static void close_open_levels(struct field_json *json)
{
    while (json->depth > 0)
        field_json_close_value(json);
    if (json->shape && json->is_learning && json->shape->n > 0)
        stop_using_shape(json);
}

/* Fetches the first fields of an event. Returns their number; 0 if the event has none, or memory
 * is out. */
static inline uint32_t fetch_first_fields(struct field_json *json, const ttr_event *event,
                                          const ttr_field **field)
{
    if (!json->fields)
        json->shown = json->fields = ttr_field_buffer_new(json->t);
    json->to->failed |= !json->fields;
    return json->fields ? ttr_event_fields(json->fields, event, field) : 0;
}

void field_json_append_fields(struct field_json *json, const ttr_event *event)
{
    const ttr_field *field;
    select_shape(json, event->schema);
    for (uint32_t n = fetch_first_fields(json, event, &field); n > 0;
         n = ttr_event_fields_next(json->fields, &field))
        for (uint32_t i = 0; i < n; i++) {
            json->contexts += field[i].depth == 0 && is_context_field(&field[i]);
            append_json_field(json, &field[i]);
        }
    close_open_levels(json);
}

bool field_json_append_fields_and_context(struct field_json *json, struct field_json *context,
                                          const ttr_event *event)
{
    const ttr_field *field;
    bool has_context = false;
    select_shape(json, event->schema);
    uint32_t n = fetch_first_fields(json, event, &field);
    context->shown = json->fields;
    for (; n > 0; n = ttr_event_fields_next(json->fields, &field))
        for (uint32_t i = 0; i < n; i++) {
            bool is_apart = is_context_field(&field[i]);
            if (is_apart && !has_context)
                select_shape(context, event->schema);
            has_context |= is_apart;
            append_json_field(is_apart ? context : json, &field[i]);
        }
    close_open_levels(json);
    close_open_levels(context);
    return has_context;
}

void field_json_report_losses(struct field_json *json, struct ttr_writer *out, uint64_t offset)
{
    if (json->losses_total == 0)
        return;
    for (size_t i = 0; i < FIELD_JSON_LOSSES; i++)
        for (; json->losses[i] > 0; json->losses[i]--)
            output_count_loss(out, i, offset);
    json->losses_total = 0;
}
