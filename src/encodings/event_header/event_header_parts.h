/* Internals of the EventHeader decoder, shared by its files:
 *
 *   event_header.c           tracepoints, plan cache, decoding of an event's header
 *   event_header_name.c      parser for tracepoint names and field attributes
 *   event_header_metadata.c  parser for field declarations; compiler of plans
 *   event_header_iter.c      iterator over the values of a payload
 *   event_header_fields.c    field operations of the schema: context, payload, header group
 *   event_header_value.c     conversion of stored bytes to a ttr_value
 *
 * A plan is a list of steps, one per declared field; positions are indexes of steps. If an event
 * has no plan, positions are byte offsets in its metadata, and each step is parsed when the
 * iterator reaches it. */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_PARTS_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_PARTS_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/find_zero.h"
#include "base/pair_map.h"
#include "encodings/event_header/event_header.h"

#define EVENT_HEADER_VARIES UINT32_MAX
/* Maximum number of array elements that occupy no bytes of the payload. Only malicious input has
 * more. */
#define EVENT_HEADER_EMPTY_ELEMENTS_MAX 4096u

enum event_header_array { ARRAY_NONE = 0, ARRAY_FIXED, ARRAY_COUNTED };

/* Declaration of a field. A plan is an array of declarations. */
struct event_header_step {
    ttr_text name;  /* field name without attributes */
    ttr_id name_id; /* interned name; 0 if the event has no plan */
    uint32_t at;    /* offset of the declaration in the metadata */
    /* position of the next declaration; if the field is a struct, of its first member */
    uint32_t next;
    /* only for a struct in a plan: position after its last member */
    uint32_t after_members;
    /* tag: as declared; count: number of elements of an array of constant length */
    uint16_t tag, count;
    uint8_t encoding, format;
    uint8_t array;   /* kind of array (enum event_header_array) */
    uint8_t bytes;   /* bytes of a value; 0 if the size varies */
    uint8_t unit;    /* bytes of a character; 0 if the field is not a string */
    uint8_t members; /* struct: number of members that is declared */
    /* struct: number of members that exist; less than `members` if the metadata end early */
    uint8_t members_found;
    /* format of all values (enum event_header_format); 0 if it depends on the size of a value */
    uint8_t meaning;
};

/* Compiled metadata. All events of a tracepoint with the same metadata and byte order have the
 * same plan. */
struct event_header_plan {
    struct event_header_tracepoint *kind;
    const uint8_t *bytes; /* copy of the metadata in the arena */
    const struct event_header_step *step;
    uint32_t bytes_n, steps;
    /* bytes of the payload if that is constant, else EVENT_HEADER_VARIES */
    uint32_t size;
    ttr_id schema, name;
    uint64_t *events; /* number of events with this plan */
    /* type of the payload, for format_description.describe; NULL until requested */
    const struct type *type;
    /* damage with which the metadata end, constant text; NULL if they are valid */
    const char *why;
    /* has_attributes: some name has attributes (';') */
    bool is_big_endian, has_attributes;
    bool has_struct_arrays;
};

/* Data of a schema. `plan` is NULL if the events have no metadata, or the plan cache was full. */
struct event_header_schema_data {
    struct event_header_tracepoint *kind;
    const struct event_header_plan *plan;
};

struct event_header_tracepoint {
    struct event_header_decoder *all;
    struct event_header_schema_data own_without_plan;
    ttr_id schema; /* schema of the events that have no plan */
    /* provider: string id of the provider; tracepoint: string id of the complete tracepoint
     * name */
    ttr_id provider, tracepoint;
    /* parts of the tracepoint's name; the texts are valid as long as this struct */
    struct event_header_name name;
    /* data of the caller, which event_header_schema_owner() returns */
    const void *owner;
    /* true if the tracepoint's name has the form that EventHeader prescribes */
    bool is_named;
    uint32_t skip, index;
    const struct event_header_plan *last; /* plan of the previous event, to try first */
};

struct event_header_decoder {
    struct event_header_decoder_spec spec;
    struct arena arena;    /* memory of tracepoints and plans, freed with the decoder */
    struct arena scratch;  /* memory of the texts decoded in the current batch */
    struct pair_map kinds; /* maps (name id, skip) to an index in `kind` */
    /* maps (hash of metadata, tracepoint and byte order) to an index in `plan` */
    struct pair_map plans;
    struct event_header_tracepoint **kind;
    size_t kinds_n, kinds_capacity;
    struct event_header_plan **plan;
    size_t plans_n, plans_capacity, plan_bytes;
};

/* Parsed header and extensions of an event. Pointers point into the stored bytes of the event. */
struct event_header_parts {
    uint16_t id, tag;
    uint8_t flags, version, opcode, level;
    bool is_big_endian;
    const uint8_t *activity, *related; /* ids of 16 bytes; NULL if the event has none */
    const uint8_t *metadata;           /* metadata of the event; NULL if it has none */
    uint32_t metadata_n;
    /* bytes after the extensions; if the header is damaged, all bytes from the damage on */
    struct cursor payload;
    const char *why; /* damage of the header, constant text; NULL if there is none */
};

/* Parses the header and the extensions of an event, `skip` bytes after the start of its stored
 * bytes. Returns false if the header is incomplete. */
bool event_header_parse_header(struct event_header_raw raw, uint32_t skip,
                               struct event_header_parts *parts);

/* --- Names (event_header_name.c) --- */

/* Returns `name` without its attributes, which start at the first ';'. */
ttr_text event_header_strip_attributes(ttr_text name);

/* Parses the attribute of `name` at `*at`, which is after a ';', and sets `*at` to the next one.
 * Returns false at the end of the name. "value" may contain the escape ";;": see
 * event_header_unescape_value(). */
bool event_header_next_attribute(ttr_text name, size_t *at, ttr_text *key, ttr_text *value);
ttr_text event_header_unescape_value(ttr_text value, struct arena *scratch);

/* --- Metadata and plans (event_header_metadata.c) --- */

struct event_header_metadata {
    const uint8_t *p;
    uint32_t n;
    bool is_big_endian;
};

/* Reads the event name with its attributes. Returns the position of the first field declaration;
 * UINT32_MAX if the zero at the end of the name is missing. */
uint32_t event_header_read_event_name(const struct event_header_metadata *metadata, ttr_text *name);

/* Parses the field declaration at position `at`, which is before the end of the metadata. Returns
 * NULL on success, else a constant text that describes the damage. */
const char *event_header_parse_field(const struct event_header_metadata *metadata, uint32_t at,
                                     struct event_header_step *step);

/* Skips the declarations of a struct's members from `at` on; stops early at damage. Returns the
 * position after them, and sets `*members_found` to their number. */
uint32_t event_header_skip_fields(const struct event_header_metadata *metadata, uint32_t at,
                                  unsigned members, uint8_t *members_found);

/* Compiles the metadata of `plan`, starting with the field at position `first`. Damage is stored
 * in plan->why. Returns false if memory runs out. */
TTR_MUST bool event_header_compile_plan(struct event_header_decoder *all,
                                        struct event_header_plan *plan, uint32_t first);

/* --- Iteration over values (event_header_iter.c) --- */

enum event_header_iter_result {
    EVENT_HEADER_ITER_VALUE,  /* the result is a value; iter->value has its bytes */
    EVENT_HEADER_ITER_ARRAY,  /* an array starts; its iter->count elements follow */
    EVENT_HEADER_ITER_STRUCT, /* a struct starts; its iter->count members follow */
    /* the payload has ended; iter->why is set if it ended early */
    EVENT_HEADER_ITER_END
};

struct event_header_level {
    uint32_t first;    /* position of the first member's declaration */
    uint32_t members;  /* number of members that are still to be returned */
    uint32_t elements; /* array of structs: number of elements that did not start yet */
    uint8_t members_declared, members_found;
    uint8_t depth; /* number of structs and arrays that contain the members */
    bool is_array;
};

struct event_header_iter {
    /* plan to follow; if NULL, the iterator parses `metadata` */
    const struct event_header_plan *plan;
    struct event_header_metadata metadata;
    struct cursor data;
    /* parsed declaration of the current field, if the event has no plan */
    struct event_header_step direct_step;
    /* declaration of the current field, in the plan or in `direct_step` */
    const struct event_header_step *step;
    /* at: position of the next declaration; end: position after the last one */
    uint32_t at, end;
    /* array of values: number of elements that are still to be returned */
    uint32_t elements;
    uint32_t count;
    /* number of struct elements that may still follow; limited, because counts may be malicious */
    uint64_t element_budget;
    const uint8_t *value;
    uint32_t value_n;
    /* number of structs and arrays that contain the last returned field */
    uint8_t depth;
    uint8_t levels;
    /* true if the last returned field is an array element, so it has no name */
    bool is_element;
    const char *why;
    /* stack of the structs that contain the current position; [0] is the event */
    struct event_header_level level[EVENT_HEADER_DEPTH_MAX + 1];
};

/* Starts an iteration over the payload in `parts`. */
void event_header_iter_begin(struct event_header_iter *iter, const struct event_header_plan *plan,
                             const struct event_header_parts *parts);

/* Advances to the next value, array or struct. */
enum event_header_iter_result event_header_iter_next(struct event_header_iter *iter);

/* Reads a value of the field `step` at the cursor. Returns false, without moving the cursor, if
 * the value is cut off, or is a zero-terminated string of 16- or 32-bit characters. */
static inline bool event_header_read_value(const struct event_header_step *step, bool is_big_endian,
                                           struct cursor *c, const uint8_t **p, uint32_t *n)
{
    struct cursor at = *c;
    *n = step->bytes;
    if (!step->bytes && step->unit != 1)
        return false;
    if (!step->bytes && step->encoding < EVENT_HEADER_STRING8) {
        const uint8_t *zero = cursor_left(&at) ? find_zero(at.p, at.p, at.end) : NULL;
        if (!zero)
            return false;
        *n = (uint32_t)(zero - at.p);
        *p = cursor_read_bytes(c, *n + (uint64_t)1);
        return true;
    }
    if (!step->bytes)
        *n = is_big_endian ? cursor_u16be(&at) : cursor_u16le(&at);
    *p = at.failed ? NULL : cursor_read_bytes(&at, *n);
    if (!*p)
        return false;
    *c = at;
    return true;
}

/* Returns true if the payload contains all declared fields. Returns false if this would need an
 * iteration, as for arrays of structs and wide strings. */
bool event_header_payload_fits(const struct event_header_plan *plan, struct cursor payload);

/* --- Conversion of values (event_header_value.c) --- */

/* Converts the current value of `iter` to a ttr_value. If memory for a text is out, the value
 * becomes BYTES. */
void event_header_convert_value(const struct event_header_iter *iter, struct arena *scratch,
                                ttr_value *value);

/* Fast path for fields that are not structs or arrays: decodes up to `room` of them into `field`,
 * and advances `iter`. Returns their number; 0 if the next field needs event_header_iter_next(). */
uint32_t event_header_decode_values(struct event_header_iter *iter, struct arena *scratch,
                                    ttr_field *field, uint32_t room);

/* --- Field operations (event_header_fields.c) --- */

extern const struct field_ops event_header_field_ops;

/* Returns how many of the bytes after the last field are padding: any bytes up to spec.padding, or
 * fewer than 8 zeros. Returns 0 if they may be data. */
size_t event_header_count_padding(const struct event_header_decoder *all,
                                  const struct cursor *rest);

#endif
