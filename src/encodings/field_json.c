/* Fields as JSON members.  A comma is due unless the last byte written opens the array or object, so no state is kept for it.
 * Names are made unique by a hash table over the escaped names where they stand in the output: also a crafted event with very
 * many fields costs linear time. */
#include "encodings/field_json.h"

#include <math.h>

#include "base/hash.h"
#include "base/jsontext.h"
#include "base/number.h"

#define AT_ONCE 16u /* fields taken in one call */
#define NAMES_FIRST ((size_t)64)

struct field_name {
    uint64_t object; /* generation of its object; stale when older than the event */
    uint64_t hash;
    size_t at, n;    /* of the escaped name in the output */
    uint64_t again;  /* the number to try next */
};

void field_json_init(struct field_json *json, const ttr *t, struct buffer *to)
{
    *json = (struct field_json){.t = t, .to = to, .generation = 1, .oldest = 1, .bytes_max = SIZE_MAX};
    text_cache_init(&json->texts, to->alloc, json_escape);
}

void field_json_free(struct field_json *json)
{
    if (!json->to)
        return;
    text_cache_free(&json->texts);
    alloc_free(json->to->alloc, json->names, json->names_n, sizeof *json->names);
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

/* The slot of a name, or the free one where it belongs.  There always is a free one. */
static struct field_name *find_name(struct field_json *json, const struct field_name *name)
{
    const uint8_t *bytes = json->to->bytes;
    for (size_t i = (size_t)name->hash;; i++) {
        struct field_name *slot = &json->names[i & (json->names_n - 1)];
        if (slot->object < json->oldest)
            return slot;
        if (slot->hash == name->hash && slot->object == name->object && slot->n == name->n &&
            memcmp(bytes + slot->at, bytes + name->at, name->n) == 0)
            return slot;
    }
}

static bool make_names(struct field_json *json)
{
    struct field_name *old = json->names;
    size_t old_n = json->names_n, n = old_n ? old_n * 2 : NAMES_FIRST;
    struct field_name *names = alloc_zero(json->to->alloc, n, sizeof *names);
    if (!names) {
        json->to->failed = true;
        return false;
    }
    json->names = names;
    json->names_n = n;
    for (size_t i = 0; i < old_n; i++)
        if (old[i].object >= json->oldest)
            *find_name(json, &old[i]) = old[i];
    alloc_free(json->to->alloc, old, old_n, sizeof *old);
    return true;
}

/* Keeps a third of the slots free. */
static inline bool make_room(struct field_json *json)
{
    return json->used * 3 < json->names_n * 2 || make_names(json);
}

/* The escaped name that ends the output. */
static struct field_name name_from(const struct field_json *json, size_t at, uint64_t hash)
{
    uint64_t object = json->objects[json->depth];
    return (struct field_name){.object = object, .at = at, .n = json->to->n - at, .again = 2, .hash = hash_pair(hash, object)};
}

/* Appends "#2", "#3", ... to the name that begins at `at` until no other of its object is like it. */
static void make_unique(struct field_json *json, size_t at, uint64_t hash)
{
    struct field_name name = name_from(json, at, hash);
    struct field_name *same = find_name(json, &name);
    if (same->object == name.object)
        lost(json, FIELD_JSON_DUPLICATE);
    for (struct field_name *first = same; same->object == name.object && !json->to->failed; same = find_name(json, &name)) {
        json->to->n = at + first->n;
        char number[NUMBER_MAX] = "#";
        buffer_add(json->to, number, 1 + number_put_u64(number + 1, first->again++));
        name = name_from(json, at, hash_bytes(json->to->bytes + at, json->to->n - at));
    }
    *same = name;
    json->used++;
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

void field_json_open(struct field_json *json, const ttr_value *value)
{
    bool is_array = value->type == TTR_TYPE_ARRAY;
    if (json->depth == FIELD_JSON_DEPTH) {
        buffer_add_text(json->to, "null"); /* what it holds follows it in the same level */
        return;
    }
    buffer_add_byte(json->to, is_array ? '[' : '{');
    json->objects[++json->depth] = is_array ? 0 : ++json->generation;
}

void field_json_close(struct field_json *json)
{
    if (json->spaced)
        buffer_add_byte(json->to, ' ');
    buffer_add_byte(json->to, json->objects[json->depth--] ? '}' : ']');
}

void field_json_begin(struct field_json *json)
{
    json->oldest = ++json->generation;
    json->used = 0;
    json->depth = 0;
    json->objects[0] = json->generation;
}

/* A name of any bytes. */
static void add_any_name(struct field_json *json, const void *p, size_t n)
{
    field_json_element(json);
    buffer_add_byte(json->to, '"');
    size_t at = json->to->n;
    add_escaped(json, p, n);
    if (json->to->failed || !make_room(json))
        return;
    make_unique(json, at, hash_bytes(json->to->bytes + at, json->to->n - at));
    buffer_add(json->to, "\": ", json->spaced ? 3 : 2);
}

/* A name that is escaped already. */
static void add_name(struct field_json *json, ttr_text text, uint64_t hash)
{
    struct buffer *to = json->to;
    char *at = (char *)buffer_room(to, text.n + sizeof ", \"\": ");
    if (!at || !make_room(json))
        return;
    char last = to->n ? at[-1] : '{';
    size_t n = last != '{' && last != '[', end = json->spaced ? 3 : 2;
    *at = ',';
    if (json->spaced)
        at[n++] = ' ';
    at[n++] = '"';
    memcpy(at + n, text.p, text.n);
    buffer_filled(to, n + text.n);
    struct field_name name = name_from(json, to->n - text.n, hash);
    struct field_name *slot = find_name(json, &name);
    if (slot->object == name.object) {
        make_unique(json, name.at, hash);
        buffer_add(to, "\": ", end);
        return;
    }
    *slot = name;
    json->used++;
    memcpy(at + n + text.n, "\": ", end);
    buffer_filled(to, end);
}

void field_json_constant_name(struct field_json *json, const char *name)
{
    size_t n = strlen(name);
    add_name(json, (ttr_text){name, n}, hash_bytes(name, n));
}

/* A known string, escaped. */
static const struct text_piece *known_text(struct field_json *json, ttr_id id)
{
    const struct text_piece *piece = text_cache_get(&json->texts, json->t, id);
    json->to->failed |= json->texts.failed;
    if (piece->changed)
        lost(json, FIELD_JSON_TEXT);
    return piece;
}

void field_json_field_name(struct field_json *json, const ttr_field *field)
{
    if (!field->name_id) {
        add_any_name(json, field->name.p, field->name.n);
        return;
    }
    const struct text_piece *piece = known_text(json, field->name_id);
    add_name(json, piece->text, piece->hash);
}

static void add_known_text(struct field_json *json, ttr_id id)
{
    ttr_text text = known_text(json, id)->text;
    char *at = (char *)buffer_room(json->to, text.n + 2);
    if (!at)
        return;
    at[0] = at[text.n + 1] = '"';
    memcpy(at + 1, text.p, text.n);
    buffer_filled(json->to, text.n + 2);
}

void field_json_value(struct field_json *json, const ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_BOOL: buffer_add_text(json->to, value->v.u ? "true" : "false"); return;
    case TTR_TYPE_UINT:
        if (json->hex_pointers && value->hint == TTR_HINT_POINTER) {
            add_pointer(json, value->v.u);
            return;
        }
        add_number(json, value);
        return;
    case TTR_TYPE_INT: add_number(json, value); return;
    case TTR_TYPE_FLOAT: add_float(json, value->v.f); return;
    case TTR_TYPE_BYTES: add_bytes(json, value->text); return;
    case TTR_TYPE_TEXT: break;
    default: buffer_add_text(json->to, "null"); return;
    }
    if (value->text_id)
        add_known_text(json, value->text_id);
    else if (value->hint == TTR_HINT_NUMBER && number_is_integer(value->text.p, value->text.n))
        buffer_add(json->to, value->text.p, value->text.n);
    else
        add_text(json, value->text);
}

/* A value with names; the number stays a number. */
static void add_labelled(struct field_json *json, const ttr_fields *fields, const ttr_value *value)
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
        if (!ttr_fields_label(fields, value, i, &label))
            break;
        if (i)
            buffer_add_byte(json->to, ',');
        add_text(json, label);
    }
    buffer_add_text(json->to, is_list ? "]}" : "}");
}

static void add_field(struct field_json *json, const ttr_fields *fields, const ttr_field *field)
{
    const ttr_value *value = &field->value;
    while (json->depth > field->depth)
        field_json_close(json);
    if (json->objects[json->depth])
        field_json_field_name(json, field);
    else
        field_json_element(json);
    if (is_container(value))
        field_json_open(json, value);
    else if ((value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS) && is_number(value))
        add_labelled(json, fields, value);
    else
        field_json_value(json, value);
}

static bool is_context(const ttr_field *field)
{
    return field->group == TTR_GROUP_COMMON || field->group == TTR_GROUP_CONTEXT;
}

static void close_all(struct field_json *json)
{
    while (json->depth > 0)
        field_json_close(json);
}

void field_json_fields(struct field_json *json, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field[AT_ONCE];
    uint32_t n;
    ttr_fields_begin(json->t, event, &fields);
    while ((n = ttr_fields_take(&fields, field, AT_ONCE)) > 0)
        for (uint32_t i = 0; i < n; i++) {
            json->contexts += field[i].depth == 0 && is_context(&field[i]);
            add_field(json, &fields, &field[i]);
        }
    close_all(json);
}

bool field_json_parts(struct field_json *json, struct field_json *context, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field[AT_ONCE];
    uint32_t n;
    bool has_context = false;
    ttr_fields_begin(json->t, event, &fields);
    while ((n = ttr_fields_take(&fields, field, AT_ONCE)) > 0)
        for (uint32_t i = 0; i < n; i++) {
            bool is_apart = is_context(&field[i]);
            has_context |= is_apart;
            add_field(is_apart ? context : json, &fields, &field[i]);
        }
    close_all(json);
    close_all(context);
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
