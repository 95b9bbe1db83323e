/* The parts of the decoder of EventHeader events: what they share.
 *
 *   event_header.c           kinds, plans, one event
 *   event_header_name.c      names of tracepoints, of fields with attributes
 *   event_header_metadata.c  one field of metadata; metadata become a plan
 *   event_header_walk.c      from value to value of a payload
 *   event_header_fields.c    the same as fields, with all that stands around them
 *   event_header_value.c     bytes become a value
 *
 * A plan is a list of steps, one a field of the metadata.  Where there is no plan, positions are
 * offsets in the metadata, and each step is made when it is come to. */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_PARTS_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_PARTS_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/find_zero.h"
#include "base/pairmap.h"
#include "encodings/event_header/event_header.h"

#define EVENT_HEADER_VARIES UINT32_MAX
#define EVENT_HEADER_SPINS \
    4096u /* elements of structs that take no bytes: more are nobody's data */

enum event_header_array { ARRAY_NONE = 0, ARRAY_FIXED, ARRAY_COUNTED };

/* A field as metadata declare it. */
struct event_header_step {
    ttr_text name;       /* without attributes */
    ttr_id name_id;      /* 0 where there is no plan */
    uint32_t at;         /* offset in the metadata */
    uint32_t next;       /* position of the field behind it; of a struct's first member */
    uint32_t behind;     /* of a struct in a plan: position behind its members */
    uint16_t tag, count; /* count: of a fixed array */
    uint8_t encoding, format;
    uint8_t array;   /* enum event_header_array */
    uint8_t bytes;   /* of a value of fixed size, else 0 */
    uint8_t unit;    /* bytes of a character */
    uint8_t members; /* of a struct: so many are announced, ... */
    uint8_t direct;  /* ... and so many there are before the metadata end */
    uint8_t meaning; /* enum event_header_format of its values; 0: depends on their sizes */
};

/* Metadata of events of one tracepoint and one byte order. */
struct event_header_plan {
    struct event_header_kind *kind;
    const uint8_t *bytes; /* the metadata */
    const struct event_header_step *step;
    uint32_t bytes_n, steps;
    uint32_t size; /* of every payload, EVENT_HEADER_VARIES */
    ttr_id schema, name;
    uint64_t *events;        /* so many had these metadata */
    const struct type *type; /* of its payload; NULL = nobody asked yet */
    const char *why; /* what is wrong with the metadata behind the last step, NULL = nothing */
    bool is_big_endian, has_attributes; /* has_attributes: somewhere in the names */
    bool has_struct_arrays;
};

/* A schema's own: what all events of it have in common.  With a plan, or without (metadata that did
 * not find room, or none at all). */
struct event_header_own {
    struct event_header_kind *kind;
    const struct event_header_plan *plan;
};

struct event_header_kind {
    struct event_headers *all;
    struct event_header_own loose;
    ttr_id schema;                 /* of events without a plan */
    ttr_id provider, tracepoint;   /* strings; tracepoint: its whole name */
    struct event_header_name name; /* texts as long as the context */
    const void *owner;             /* the container's */
    bool is_named;                 /* the name is one of EventHeader */
    uint32_t skip, index;
    const struct event_header_plan *last; /* the plan used last */
};

struct event_headers {
    struct event_headers_spec spec;
    struct arena arena;   /* kinds, plans */
    struct arena scratch; /* texts of the batch */
    struct pairmap kinds; /* (id of the name, skip) to index */
    struct pairmap plans; /* (hash of metadata, kind and order) to index */
    struct event_header_kind **kind;
    size_t kinds_n, kinds_capacity;
    struct event_header_plan **plan;
    size_t plans_n, plans_capacity, plan_bytes;
};

/* An event taken apart. */
struct event_header_parts {
    uint16_t id, tag;
    uint8_t flags, version, opcode, level;
    bool is_big_endian;
    const uint8_t *activity, *related; /* NULL = none */
    const uint8_t *metadata;           /* NULL = none */
    uint32_t metadata_n;
    struct cursor payload; /* where the header is broken: all behind what was understood */
    const char *why;       /* what is broken, NULL = nothing */
};

/* Takes an event apart; false when not even its header is whole. */
bool event_header_parse(struct event_header_raw raw, uint32_t skip,
                        struct event_header_parts *parts);

/* --- event_header_name.c --- */

/* The name without its attributes. */
ttr_text event_header_proper(ttr_text name);

/* Gives the attribute that begins at `*at` of a name (behind its ';'), and moves behind it; false
 * at the end.  The value is as stored: ';' stands twice, which event_header_unescape puts right in
 * scratch. */
bool event_header_attribute(ttr_text name, size_t *at, ttr_text *key, ttr_text *value);
ttr_text event_header_unescape(ttr_text value, struct arena *scratch);

/* --- event_header_metadata.c --- */

struct event_header_metadata {
    const uint8_t *p;
    uint32_t n;
    bool is_big_endian;
};

/* The event's name with attributes, and the position of its first field; UINT32_MAX where the name
 * does not end. */
uint32_t event_header_event_name(const struct event_header_metadata *metadata, ttr_text *name);

/* Makes the step of the field at a position below the end; NULL, or what is wrong with it. */
const char *event_header_step_make(const struct event_header_metadata *metadata, uint32_t at,
                                   struct event_header_step *step);

/* The position behind the members of a struct whose first stands at `at`; `*direct` = how many of
 * them there are.  Broken metadata end. */
uint32_t event_header_pass(const struct event_header_metadata *metadata, uint32_t at,
                           unsigned members, uint8_t *direct);

/* Compiles metadata whose first field stands at `first`; false when memory is out. */
TTR_MUST bool event_header_compile(struct event_headers *all, struct event_header_plan *plan,
                                   uint32_t first);

/* --- event_header_walk.c --- */

enum event_header_place {
    PLACE_VALUE,  /* a value: its bytes are in walk->value */
    PLACE_ARRAY,  /* elements follow, walk->count */
    PLACE_STRUCT, /* members follow, walk->count */
    PLACE_END     /* the end; walk->why where it is a bad one */
};

struct event_header_level {
    uint32_t first;    /* position of the first member */
    uint32_t members;  /* to come */
    uint32_t elements; /* to come behind this one */
    uint8_t announced, direct;
    uint8_t depth; /* of its members */
    bool is_array;
};

struct event_header_walk {
    const struct event_header_plan *plan; /* NULL: by the metadata alone */
    struct event_header_metadata metadata;
    struct cursor data;
    struct event_header_step loose;       /* the step at hand where there is no plan */
    const struct event_header_step *step; /* at hand */
    uint32_t at, end;                     /* positions */
    uint32_t elements;                    /* of an array of values: to come */
    uint32_t count;
    uint64_t spins; /* structs that may still come */
    const uint8_t *value;
    uint32_t value_n;
    uint8_t depth; /* of what was given */
    uint8_t levels;
    bool is_element; /* what was given has no name */
    const char *why;
    struct event_header_level level[EVENT_HEADER_DEPTH + 1]; /* [0] is the event */
};

/* Begins a walk over the payload of an event. */
void event_header_walk_begin(struct event_header_walk *walk, const struct event_header_plan *plan,
                             const struct event_header_parts *parts);

/* Goes to the next place. */
enum event_header_place event_header_walk_next(struct event_header_walk *walk);

/* The bytes of a value of a step at the cursor, which moves behind it; false where it is not whole,
 * or of wide characters. */
static inline bool event_header_next_value(const struct event_header_step *step, bool is_big_endian,
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
        *p = cursor_take(c, *n + (uint64_t)1);
        return true;
    }
    if (!step->bytes)
        *n = is_big_endian ? cursor_u16be(&at) : cursor_u16le(&at);
    *p = at.failed ? NULL : cursor_take(&at, *n);
    if (!*p)
        return false;
    *c = at;
    return true;
}

/* Whether a payload has room for all its fields, seen without walking over them; false also where
 * that cannot be seen. */
bool event_header_fits(const struct event_header_plan *plan, struct cursor payload);

/* --- event_header_value.c --- */

/* Makes a value of the bytes at hand; without memory of the scratch a text is given as bytes. */
void event_header_value(const struct event_header_walk *walk, struct arena *scratch,
                        ttr_value *value);

/* Takes the next fields as long as they are whole values that stand beside each other, at most
 * `room`, and tells how many; the walk is behind them. 0: event_header_walk_next knows more. */
uint32_t event_header_take_values(struct event_header_walk *walk, struct arena *scratch,
                                  ttr_field *field, uint32_t room);

/* --- event_header_fields.c --- */

extern const struct field_ops event_header_field_ops;

/* How many of the bytes behind the last field are nobody's: containers fill up to 8 bytes with
 * zeros, or up to what they say with anything. */
size_t event_header_padding(const struct event_headers *all, const struct cursor *rest);

#endif
