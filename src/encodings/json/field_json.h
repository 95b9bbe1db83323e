/* Fields as members of a JSON object (RFC 8259), for every container that holds JSON: strict
 * whatever the fields hold.
 *
 *   null null | bool true, false | uint, int exact integers | float shortest decimal, not finite:
 * "NaN", "Infinity", "-Infinity" text string, bytes that are no UTF-8: U+FFFD | bytes "0x" and
 * hexadecimal digits | array [...] | struct {...} a thread (hint): its tid | a name used again in
 * one object: "name#2", "name#3" an enumerated value {"value":1,"label":"A"}, with
 * "labels":["A","B"] where it has several names, without any where it has none; flags
 * {"value":5,"labels":["A","C"]} | an integer of more than 64 bits (hint): its digits
 *
 * What JSON cannot tell apart afterwards is counted, see enum field_json_loss.  Text is appended to
 * a buffer that must not be drained between field_json_begin and the end of the object: names are
 * compared there. Who sets `relieve` has what was appended so far, but for its last byte, taken now
 * and then, so that an event larger than memory can be written. Left out: nesting below
 * FIELD_JSON_DEPTH levels is flattened. */
#ifndef TRACETTA_ENCODINGS_JSON_FIELD_JSON_H
#define TRACETTA_ENCODINGS_JSON_FIELD_JSON_H

#include "encodings/json/text_cache.h"
#include "model/output.h"

#define FIELD_JSON_DEPTH 255
#define FIELD_JSON_SEEN 4u
#define FIELD_JSON_SHAPE 16u

/* A format that writes fields has these losses first in its table: FIELD_JSON_LOSS_ROWS. */
enum field_json_loss {
    FIELD_JSON_TEXT,       /* a string with bytes that are no UTF-8 */
    FIELD_JSON_BYTES,      /* a byte field: a string now */
    FIELD_JSON_NOT_FINITE, /* NaN, infinity: a string now */
    FIELD_JSON_DUPLICATE,  /* a name used again */
    FIELD_JSON_LOSSES
};

#define FIELD_JSON_LOSS_ROWS                                                  \
    {.code = "text.not-utf8",                                                 \
     .what = "strings with bytes that are no UTF-8",                          \
     .rule = "have U+FFFD for each such byte"},                               \
        {.code = "field.bytes",                                               \
         .what = "byte fields",                                               \
         .rule = "become strings of hexadecimal digits"},                     \
        {.code = "field.not-finite",                                          \
         .what = "floats that are not finite",                                \
         .rule = "become strings"},                                           \
    {                                                                         \
        .code = "field.duplicate", .what = "fields of one name in one event", \
        .rule = "are numbered: name, name#2"                                  \
    }

/* Where a name stands that was appended by a shape. */
struct shaped_name {
    uint64_t object; /* its generation */
    size_t end;      /* behind its ':' */
};

struct field_json {
    const ttr *t;
    struct buffer *to;
    ttr_field_buffer *fields;      /* made for the first event; NULL until then */
    const ttr_field_buffer *shown; /* the fields that are appended, for their labels */
    struct text_cache texts;       /* known strings, escaped; for the writer's other strings too */
    void (*relieve)(struct ttr_writer *writer); /* called while fields are appended that are many;
                                                   NULL = the buffer is left alone */
    struct ttr_writer *writer;
    struct buffer kept;       /* names that were in the buffer when it was relieved */
    struct field_name *names; /* of the event */
    size_t names_n, names_capacity;
    struct field_name_slot *slots; /* a hash table of the first so many of them */
    size_t slots_n, indexed;
    uint64_t seen[FIELD_JSON_SEEN]; /* filter of the names: a bit is set for each */
    struct field_shape *shapes; /* by schema: which names its events have; NULL = not needed yet */
    struct field_shape *shape;  /* of the event; NULL = its names are listed */
    bool is_learning;           /* the shape */
    uint8_t shaped_n;           /* names that the shape spared from listing */
    struct shaped_name shaped[FIELD_JSON_SHAPE];
    uint64_t generation,
        oldest; /* each object has its own; names from before `oldest` do not count */
    unsigned depth;
    size_t bytes_max; /* of a byte field; what is beyond is left out and counted in bytes_cut.
                         SIZE_MAX unless set */
    uint64_t bytes_cut;
    bool spaced; /* write blanks behind ':' and ',' and inside of brackets; set before anything is
                    written */
    bool hex_pointers; /* write pointers as strings, "0x7f00", and count them in `pointers` */
    uint64_t pointers;
    uint64_t
        contexts; /* fields of an event's context that field_json_fields put among the others */
    uint64_t
        objects[FIELD_JSON_DEPTH + 1]; /* generation of the open object at each level, 0 = array */
    struct field_json_mark {
        size_t names_n; /* listed before it */
        uint64_t seen[FIELD_JSON_SEEN];
    } marks[FIELD_JSON_DEPTH +
            1]; /* of the same: what is listed behind is forgotten when it ends */
    uint64_t losses[FIELD_JSON_LOSSES];
    uint64_t lost_any;
};

void field_json_init(struct field_json *json, const ttr *t, struct buffer *to);
void field_json_free(struct field_json *json);

/* Begins the members of an object; the caller has appended its '{' and appends its '}'. */
void field_json_begin(struct field_json *json);

/* Appends a name and ':', with a comma before it where one is needed; the value follows.  A
 * constant name has nothing to escape. */
void field_json_constant_name(struct field_json *json, const char *name);
void field_json_field_name(struct field_json *json, const ttr_field *field);

/* For writers that spell values in their own way: what divides an element from the one before it;
 * begins the object or array of a value, whose members or elements follow; ends the innermost that
 * was begun. */
void field_json_element(struct field_json *json);
void field_json_open(struct field_json *json, const ttr_value *value);
void field_json_close(struct field_json *json);

/* Appends a value that is no array or struct. */
void field_json_value(struct field_json *json, const ttr_value *value);

/* Appends all fields of an event as members. */
void field_json_fields(struct field_json *json, const ttr_event *event);

/* The same, those of the event's context (groups COMMON and CONTEXT) apart, which has a buffer of
 * its own; true where there are such. */
bool field_json_parts(struct field_json *json, struct field_json *context, const ttr_event *event);

/* Counts what was lost since the last call in the ledger of a writer. */
void field_json_tell(struct field_json *json, struct ttr_writer *out, uint64_t offset);

#endif
