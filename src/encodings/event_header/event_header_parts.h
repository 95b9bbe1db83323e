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
/* Limit of array elements that need no payload bytes. Only malicious input exceeds it. */
#define EVENT_HEADER_EMPTY_ELEMENTS_MAX 4096u

enum event_header_array { ARRAY_NONE = 0, ARRAY_FIXED, ARRAY_COUNTED };

/* Declaration of a field. A plan is an array of these. */
struct event_header_step {
    ttr_text name;  /* without attributes */
    ttr_id name_id; /* interned field name; 0 if the event has no plan */
    uint32_t at;    /* offset of the declaration in the metadata */
    /* position of the next declaration; for a struct, that of its first member */
    uint32_t next;
    uint32_t after_members; /* for a struct in a plan: position after the last member */
    /* tag: tag of the field; count: number of elements of an array of constant length */
    uint16_t tag, count;
    uint8_t encoding, format;
    uint8_t array;   /* enum event_header_array */
    uint8_t bytes;   /* size of a value in bytes; 0 if variable */
    uint8_t unit;    /* bytes per character; 0 if not a string */
    uint8_t members; /* struct: declared number of members */
    /* for a struct: number of members found; less than `members` if the metadata end early */
    uint8_t members_found;
    /* enum event_header_format that all values have; 0 if the value's size decides */
    uint8_t meaning;
};

/* The compiled metadata of some events of a tracepoint, in one byte order. */
struct event_header_plan {
    struct event_header_tracepoint *kind;
    const uint8_t *bytes; /* copy of the metadata, in the arena */
    const struct event_header_step *step;
    uint32_t bytes_n, steps;
    uint32_t size; /* payload size in bytes if it is constant, else EVENT_HEADER_VARIES */
    ttr_id schema, name;
    uint64_t *events; /* number of events with these metadata */
    /* payload type for format_description.describe; NULL until requested */
    const struct type *type;
    const char *why; /* damage that ends the metadata, as a static text; NULL if they are valid */
    bool is_big_endian, has_attributes; /* has_attributes: at least one name has attributes (';') */
    bool has_struct_arrays;
};

/* Data of a schema. `plan` is NULL for events without metadata, or if the plan cache was full. */
struct event_header_schema_data {
    struct event_header_tracepoint *kind;
    const struct event_header_plan *plan;
};

struct event_header_tracepoint {
    struct event_header_decoder *all;
    struct event_header_schema_data own_without_plan;
    ttr_id schema;               /* schema of the events without a plan */
    ttr_id provider, tracepoint; /* string ids; tracepoint: complete name of the tracepoint */
    /* parts of the tracepoint's name; texts are valid as long as this struct */
    struct event_header_name name;
    const void *owner; /* caller's data, returned by event_header_schema_owner() */
    bool is_named;     /* the tracepoint name follows the convention of EventHeader */
    uint32_t skip, index;
    const struct event_header_plan *last; /* plan of the previous event, which is tried first */
};

struct event_header_decoder {
    struct event_header_decoder_spec spec;
    struct arena arena;    /* owns tracepoints and plans until event_header_decoder_free() */
    struct arena scratch;  /* decoded texts of the current batch */
    struct pair_map kinds; /* (name id, skip) -> index in `kind` */
    struct pair_map plans; /* (hash of metadata, tracepoint and byte order) -> index in `plan` */
    struct event_header_tracepoint **kind;
    size_t kinds_n, kinds_capacity;
    struct event_header_plan **plan;
    size_t plans_n, plans_capacity, plan_bytes;
};

/* Header and extensions of an event. Pointers refer to the stored bytes of the event. */
struct event_header_parts {
    uint16_t id, tag;
    uint8_t flags, version, opcode, level;
    bool is_big_endian;
    const uint8_t *activity, *related; /* 16 bytes each; NULL if absent */
    const uint8_t *metadata;           /* NULL if absent */
    uint32_t metadata_n;
    /* bytes after the extensions; in a damaged header, all bytes from the damage on */
    struct cursor payload;
    const char *why; /* static description of damage in the header; NULL if undamaged */
};

/* Parses header and extensions of an event, which start `skip` bytes after the start of its bytes.
 * Returns false if the header is incomplete. */
bool event_header_parse(struct event_header_raw raw, uint32_t skip,
                        struct event_header_parts *parts);

/* --- event_header_name.c --- */

/* Returns `name` without its attributes (up to the first ';'). */
ttr_text event_header_strip_attributes(ttr_text name);

/* Parses the attribute at `*at` in `name` (the byte after a ';') and advances `*at`. Returns false
 * at the end of the name. A ";;" in `value` is an escaped ';': see
 * event_header_unescape_value(). */
bool event_header_next_attribute(ttr_text name, size_t *at, ttr_text *key, ttr_text *value);
ttr_text event_header_unescape_value(ttr_text value, struct arena *scratch);

/* --- event_header_metadata.c --- */

struct event_header_metadata {
    const uint8_t *p;
    uint32_t n;
    bool is_big_endian;
};

/* Reads the event name with its attributes. Returns the position of the first field declaration, or
 * UINT32_MAX if the name has no terminating zero. */
uint32_t event_header_read_event_name(const struct event_header_metadata *metadata, ttr_text *name);

/* Parses the field declaration at position `at`, which must be before the end. Returns NULL on
 * success, else a static description of the damage. */
const char *event_header_parse_field(const struct event_header_metadata *metadata, uint32_t at,
                                     struct event_header_step *step);

/* Skips the declarations of a struct's members, starting at `at`. Returns the position after them
 * and sets `*members_found`. Stops early at damage. */
uint32_t event_header_skip_fields(const struct event_header_metadata *metadata, uint32_t at,
                                  unsigned members, uint8_t *members_found);

/* Compiles the metadata of `plan` from the field at `first` on. Damage is stored in plan->why.
 * Returns false if memory is exhausted. */
TTR_MUST bool event_header_compile_plan(struct event_header_decoder *all,
                                        struct event_header_plan *plan, uint32_t first);

/* --- event_header_iter.c --- */

enum event_header_iter_result {
    EVENT_HEADER_ITER_VALUE,  /* a value; its bytes are in iter->value */
    EVENT_HEADER_ITER_ARRAY,  /* start of an array of iter->count elements, which follow */
    EVENT_HEADER_ITER_STRUCT, /* start of a struct of iter->count members, which follow */
    EVENT_HEADER_ITER_END     /* end of the payload; iter->why is set if it ended early */
};

struct event_header_level {
    uint32_t first;    /* position of the declaration of the first member */
    uint32_t members;  /* number of members not returned yet */
    uint32_t elements; /* for an array of structs: number of elements not started yet */
    uint8_t members_declared, members_found;
    uint8_t depth; /* nesting depth of the members */
    bool is_array;
};

struct event_header_iter {
    const struct event_header_plan *plan; /* NULL if the event has no plan; `metadata` are then
                                           * interpreted */
    struct event_header_metadata metadata;
    struct cursor data;
    struct event_header_step direct_step; /* declaration of the current field if the event has no
                                           * plan */
    const struct event_header_step *step; /* declaration of the current field: a step of the plan,
                                           * or `direct_step` */
    /* position of the next declaration; position after the last */
    uint32_t at, end;
    uint32_t elements; /* for an array of values: number of elements not returned yet */
    uint32_t count;
    /* remaining limit of struct elements, against malicious counts */
    uint64_t element_budget;
    const uint8_t *value;
    uint32_t value_n;
    uint8_t depth; /* nesting depth of the last returned field */
    uint8_t levels;
    bool is_element; /* the last returned field is an array element, which has no name */
    const char *why;
    /* stack of open structs; [0] is the event */
    struct event_header_level level[EVENT_HEADER_DEPTH_MAX + 1];
};

/* Starts iterating over the payload in `parts`. */
void event_header_iter_begin(struct event_header_iter *iter, const struct event_header_plan *plan,
                             const struct event_header_parts *parts);

/* Advances to the next value, or to the start of the next array or struct. */
enum event_header_iter_result event_header_iter_next(struct event_header_iter *iter);

/* Reads a value of field `step` at the cursor. Returns false, without moving the cursor, if the
 * value is truncated or is a zero-terminated string of 16- or 32-bit characters. */
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

/* Returns true if the payload has all declared fields. Returns false for arrays of structs and wide
 * strings, which need an iteration to decide. */
bool event_header_payload_fits(const struct event_header_plan *plan, struct cursor payload);

/* --- event_header_value.c --- */

/* Converts the current value of `iter` to a ttr_value. A text becomes BYTES if memory for it runs
 * out. */
void event_header_convert_value(const struct event_header_iter *iter, struct arena *scratch,
                                ttr_value *value);

/* Fast path for consecutive fields without structs and arrays: decodes up to `room` of them into
 * `field`. Returns their number, and advances `iter`. Returns 0 if the next field needs
 * event_header_iter_next(). */
uint32_t event_header_decode_values(struct event_header_iter *iter, struct arena *scratch,
                                    ttr_field *field, uint32_t room);

/* --- event_header_fields.c --- */

extern const struct field_ops event_header_field_ops;

/* Returns how many of the bytes after the last field are padding: up to spec.padding bytes of any
 * value, or fewer than 8 zeros. Returns 0 if the bytes may be data. */
size_t event_header_padding_size(const struct event_header_decoder *all, const struct cursor *rest);

#endif
