/* Encoder of event fields as members of a JSON object (RFC 8259), for all formats that contain
 * JSON. The output is valid JSON whatever the fields contain.
 *
 *   null                  null
 *   bool                  true, false
 *   uint, int             exact integers; more than 64 bits (hint): their digits
 *   float                 shortest decimal; "NaN", "Infinity", "-Infinity" as strings
 *   text                  string; invalid UTF-8 becomes U+FFFD
 *   bytes                 "0x" and hexadecimal digits
 *   array, struct         [...], {...}
 *   thread (hint)         its tid
 *   enumerated value      {"value":1,"label":"A"}, or "labels":["A","B"] for several names
 *   flags                 {"value":5,"labels":["A","C"]}
 *   duplicate name        "name#2", "name#3" within one object
 *
 * Order of calls: field_json_init once, then per object: append '{', field_json_begin, names and
 * values (or field_json_append_fields for all fields of an event), append '}'.
 * field_json_report_losses reports losses to the writer; field_json_free ends.
 *
 * Values that JSON cannot distinguish afterwards are counted (enum field_json_loss). The buffer
 * must not be drained between field_json_begin and the end of the object, since names are compared
 * in it.
 *
 * Left out: nesting deeper than FIELD_JSON_DEPTH levels is flattened. */
#ifndef TRACETTA_ENCODINGS_JSON_FIELD_JSON_H
#define TRACETTA_ENCODINGS_JSON_FIELD_JSON_H

#include "encodings/json/text_cache.h"
#include "model/output.h"

#define FIELD_JSON_DEPTH 255
#define FIELD_JSON_SEEN 4u
#define FIELD_JSON_SHAPE 16u

/* Losses of the encoder. The loss table of each format that uses it must begin with
 * FIELD_JSON_LOSS_ROWS, since these numbers are indexes of that table. */
enum field_json_loss {
    FIELD_JSON_TEXT,       /* texts with invalid UTF-8 */
    FIELD_JSON_BYTES,      /* bytes that are written as a string */
    FIELD_JSON_NOT_FINITE, /* NaN or infinity, written as a string */
    FIELD_JSON_DUPLICATE,  /* duplicate names, which get a suffix */
    FIELD_JSON_LOSSES
};

#define FIELD_JSON_LOSS_ROWS                                                                       \
    {.code = "text.not-utf8",                                                                      \
     .what = "strings with invalid UTF-8",                                                         \
     .rule = "get U+FFFD for each invalid byte"},                                                  \
        {.code = "field.bytes",                                                                    \
         .what = "byte fields",                                                                    \
         .rule = "become strings of hexadecimal digits"},                                          \
        {.code = "field.not-finite", .what = "NaN and infinite floats", .rule = "become strings"}, \
    {                                                                                              \
        .code = "field.duplicate", .what = "duplicate field names in one event",                   \
        .rule = "get a number: name, name#2"                                                       \
    }

/* A name that was appended from a shape (a sequence of names that was seen before). */
struct shaped_name {
    uint64_t object; /* number of the object that contains the name */
    size_t end;      /* output offset of the end of the name, after its ':' */
};

struct field_json {
    const ttr *t;
    struct buffer *to;
    /* buffer for the fields of an event; NULL before the first event */
    ttr_field_buffer *fields;
    /* fields that are being appended; the labels of their values are looked up in it */
    const ttr_field_buffer *shown;
    /* cache of escaped strings, which writers may use for strings of their own */
    struct text_cache texts;
    struct field_name *names; /* array of the names of the current event */
    size_t names_n, names_capacity;
    /* hash table of the first `indexed` elements of `names` */
    struct field_name_slot *slots;
    size_t slots_n, indexed;
    uint64_t seen[FIELD_JSON_SEEN]; /* Bloom filter of all names in the list */
    struct field_shape *shapes;     /* hash table of shapes by schema; NULL until needed */
    /* shape for the current event; NULL if its names are in `names` */
    struct field_shape *shape;
    bool is_learning; /* true if the shape is being created from the current event */
    /* number of names of this event that were appended from the shape */
    uint8_t shaped_n;
    struct shaped_name shaped[FIELD_JSON_SHAPE];
    uint64_t generation,
        /* generation: number of the current object; oldest: number of the first object of the
         * current event; names of earlier objects are ignored */
        oldest;
    unsigned depth;
    /* maximum bytes of a field of bytes; further bytes are dropped and counted in bytes_cut;
     * SIZE_MAX by default */
    size_t bytes_max;
    uint64_t bytes_cut;
    /* write blanks after ':' and ',' and inside brackets; must be set before anything is written */
    bool spaced;
    /* write pointers as strings ("0x7f00") and count them in `pointers` */
    bool hex_pointers;
    uint64_t pointers;
    uint64_t
        /* number of context fields that were appended like other fields */
        contexts;
    uint64_t
        /* number of the object on each level; 0 if the level is an array */
        objects[FIELD_JSON_DEPTH + 1];
    struct field_json_mark {
        size_t names_n; /* number of names in the list at the start of the level */
        uint64_t seen[FIELD_JSON_SEEN];
        /* state per nesting level that is restored at the end of the object or array */
    } marks[FIELD_JSON_DEPTH + 1];
    uint64_t losses[FIELD_JSON_LOSSES];
    uint64_t losses_total;
};

void field_json_init(struct field_json *json, const ttr *t, struct buffer *to);
void field_json_free(struct field_json *json);

/* Starts to write members of an object. The caller appends '{' before and '}' after them. */
void field_json_begin(struct field_json *json);

/* Append a comma if needed, a name, and ':'. The caller appends the value next. A constant name
 * must not contain characters that need escaping. */
void field_json_append_constant_name(struct field_json *json, const char *name);
void field_json_append_field_name(struct field_json *json, const ttr_field *field);

/* For writers that format values themselves. field_json_append_separator: appends the comma
 * between elements. field_json_open_value: starts the object or array of a value.
 * field_json_close_value: ends the innermost object or array. */
void field_json_append_separator(struct field_json *json);
void field_json_open_value(struct field_json *json, const ttr_value *value);
void field_json_close_value(struct field_json *json);

/* Appends a value that is not an array or struct. */
void field_json_append_value(struct field_json *json, const ttr_value *value);

/* Appends all fields of an event as members. */
void field_json_append_fields(struct field_json *json, const ttr_event *event);

/* Appends the fields of an event to two places: context fields (groups COMMON and CONTEXT) to
 * `context`, which writes to another buffer, all others to `json`. Returns true if the event has
 * context fields. */
bool field_json_append_fields_and_context(struct field_json *json, struct field_json *context,
                                          const ttr_event *event);

/* Adds the losses that were counted since the last call to those of the writer. `offset`: current
 * offset in the output. */
void field_json_report_losses(struct field_json *json, struct ttr_writer *out, uint64_t offset);

#endif
