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
/* Limit of array elements without payload bytes; only malicious input exceeds it. */
#define EVENT_HEADER_EMPTY_ELEMENTS_MAX 4096u

enum event_header_array { ARRAY_NONE = 0, ARRAY_FIXED, ARRAY_COUNTED };

/* Declaration of one field: an element of a plan. */
struct event_header_step {
    ttr_text name;  /* without attributes */
    ttr_id name_id; /* interned field name; 0 if there is no plan */
    uint32_t at;    /* offset of the declaration in the metadata */
    /* position of the next declaration; after a struct this is its first member */
    uint32_t next;
    uint32_t after_members; /* struct in a plan: position after its last member */
    /* tag: tag of the field; count: elements of an array of constant length */
    uint16_t tag, count;
    uint8_t encoding, format;
    uint8_t array;   /* enum event_header_array */
    uint8_t bytes;   /* size of a value in bytes; 0 if variable */
    uint8_t unit;    /* bytes per character; 0 if not a string */
    uint8_t members; /* struct: declared number of members */
    /* struct: actual number of members, which is less than `members` if the metadata end early */
    uint8_t members_found;
    /* enum event_header_format of all values; 0 if it depends on the size of each value */
    uint8_t meaning;
};

/* Plan: the compiled metadata of events of one tracepoint and one byte order. */
struct event_header_plan {
    struct event_header_tracepoint *kind;
    const uint8_t *bytes; /* copy of the metadata, in the arena */
    const struct event_header_step *step;
    uint32_t bytes_n, steps;
    uint32_t size; /* payload size in bytes if it is constant, else EVENT_HEADER_VARIES */
    ttr_id schema, name;
    uint64_t *events; /* number of events with these metadata */
    /* payload type for format_description.describe; NULL until first requested */
    const struct type *type;
    const char *why; /* static text with the reason why the metadata end; NULL if they are valid */
    bool is_big_endian, has_attributes; /* has_attributes: some name contains ';' */
    bool has_struct_arrays;
};

/* Context of a schema, shared by all events of the schema. `plan` is NULL if the events have no
 * metadata, or the plan cache was full. */
struct event_header_schema_data {
    struct event_header_tracepoint *kind;
    const struct event_header_plan *plan;
};

struct event_header_tracepoint {
    struct event_header_decoder *all;
    struct event_header_schema_data own_without_plan;
    ttr_id schema;               /* schema of events without a plan */
    ttr_id provider, tracepoint; /* interned strings; tracepoint: complete name of the tracepoint */
    /* parsed tracepoint name; its texts are valid as long as this struct */
    struct event_header_name name;
    const void *owner; /* returned by event_header_schema_owner() */
    bool is_named;     /* the tracepoint name follows the convention of EventHeader */
    uint32_t skip, index;
    const struct event_header_plan *last; /* plan of the previous event, which is compared first */
};

struct event_header_decoder {
    struct event_header_decoder_spec spec;
    struct arena arena;    /* owns tracepoints and plans until event_header_decoder_free() */
    struct arena scratch;  /* decoded texts of the current batch */
    struct pair_map kinds; /* maps (name id, skip) to an index in `kind` */
    struct pair_map plans; /* maps (hash of metadata, kind and byte order) to an index in `plan` */
    struct event_header_tracepoint **kind;
    size_t kinds_n, kinds_capacity;
    struct event_header_plan **plan;
    size_t plans_n, plans_capacity, plan_bytes;
};

/* Header and extensions of an event; pointers refer to the stored bytes. */
struct event_header_parts {
    uint16_t id, tag;
    uint8_t flags, version, opcode, level;
    bool is_big_endian;
    const uint8_t *activity, *related; /* 16 bytes each; NULL if absent */
    const uint8_t *metadata;           /* NULL if absent */
    uint32_t metadata_n;
    /* bytes after the extensions; if the header is damaged, all bytes from the damage on */
    struct cursor payload;
    const char *why; /* static description of the damage; NULL if none */
};

/* Parses header and extensions. Returns false if fewer than EVENT_HEADER_BYTES follow the first
 * `skip` bytes. */
bool event_header_parse(struct event_header_raw raw, uint32_t skip,
                        struct event_header_parts *parts);

/* --- event_header_name.c --- */

/* Returns `name` without its attributes (up to the first ';'). */
ttr_text event_header_strip_attributes(ttr_text name);

/* Reads the attribute at `*at` in `name`, the byte after a ';', and advances `*at`. Returns false
 * at the end of the name. In `value`, ";;" stands for ";": see event_header_unescape_value(). */
bool event_header_next_attribute(ttr_text name, size_t *at, ttr_text *key, ttr_text *value);
ttr_text event_header_unescape_value(ttr_text value, struct arena *scratch);

/* --- event_header_metadata.c --- */

struct event_header_metadata {
    const uint8_t *p;
    uint32_t n;
    bool is_big_endian;
};

/* Reads the event name including attributes. Returns the position of the first field declaration;
 * UINT32_MAX if the name has no terminating zero. */
uint32_t event_header_read_event_name(const struct event_header_metadata *metadata, ttr_text *name);

/* Parses the field declaration at position `at`, which must be before the end. Returns NULL on
 * success, else a static description of the damage. */
const char *event_header_parse_field(const struct event_header_metadata *metadata, uint32_t at,
                                     struct event_header_step *step);

/* Skips the declarations of a struct's members; the first is at `at`. Returns the position after
 * them, and sets `*direct` to the number of members found. Stops early at damage. */
uint32_t event_header_skip_fields(const struct event_header_metadata *metadata, uint32_t at,
                                  unsigned members, uint8_t *members_found);

/* Compiles the metadata of `plan`; the first field is at `first`. Returns false if memory is
 * exhausted. Damage is stored in plan->why. */
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
    uint32_t first;    /* position of the first member's declaration */
    uint32_t members;  /* members that were not returned yet */
    uint32_t elements; /* array of structs: elements that were not started yet */
    uint8_t members_declared, members_found;
    uint8_t depth; /* nesting depth of the members */
    bool is_array;
};

struct event_header_iter {
    const struct event_header_plan *plan; /* NULL if the metadata are interpreted directly */
    struct event_header_metadata metadata;
    struct cursor data;
    struct event_header_step direct_step; /* storage for `step` if there is no plan */
    const struct event_header_step *step; /* declaration of the current field */
    /* position of the next declaration, and end of the declarations */
    uint32_t at, end;
    uint32_t elements; /* array of values: elements that were not returned yet */
    uint32_t count;
    /* struct elements that may still be returned; limits malicious counts */
    uint64_t element_budget;
    const uint8_t *value;
    uint32_t value_n;
    uint8_t depth; /* nesting depth of the last returned field */
    uint8_t levels;
    bool is_element; /* the last returned field is an array element, which has no name */
    const char *why;
    /* open structs; [0] is the event */
    struct event_header_level level[EVENT_HEADER_DEPTH_MAX + 1];
};

/* Starts iterating over the payload in `parts`. */
void event_header_iter_begin(struct event_header_iter *iter, const struct event_header_plan *plan,
                             const struct event_header_parts *parts);

/* Advances to the next value, or to the start of the next array or struct. */
enum event_header_iter_result event_header_iter_next(struct event_header_iter *iter);

/* Reads one value of `step` at the cursor, and advances the cursor. Returns false, without moving
 * the cursor, if the value is truncated or is a zero-terminated string of 16- or 32-bit characters.
 */
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

/* Returns whether the payload is long enough for all fields. May return false for a valid payload
 * if its size can be computed only by iterating (arrays of structs, wide strings). */
bool event_header_payload_fits(const struct event_header_plan *plan, struct cursor payload);

/* --- event_header_value.c --- */

/* Converts the current value of `iter`. If `scratch` is exhausted, texts become values of type
 * BYTES. */
void event_header_convert_value(const struct event_header_iter *iter, struct arena *scratch,
                                ttr_value *value);

/* Fast path for consecutive fields without structs and arrays: decodes up to `room` of them into
 * `field`. Returns their number, and advances `iter`. Returns 0 if the next field needs
 * event_header_iter_next(). */
uint32_t event_header_decode_values(struct event_header_iter *iter, struct arena *scratch,
                                    ttr_field *field, uint32_t room);

/* --- event_header_fields.c --- */

extern const struct field_ops event_header_field_ops;

/* Returns the number of bytes after the last field that are padding. The container may append up to
 * spec.padding bytes of any value, or fewer than 8 zeros. Returns 0 if the bytes may be data. */
size_t event_header_padding_size(const struct event_header_decoder *all, const struct cursor *rest);

#endif
