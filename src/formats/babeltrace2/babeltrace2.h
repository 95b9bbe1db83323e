/* Lines as `babeltrace2` prints them, to the byte, so that scripts made for its output go on
 * working.
 *
 * The parts of an event that its class has are printed one after another in braces: packet context,
 * common context, specific context, payload.  Where nothing is known beforehand of an event (it
 * comes from a format without classes) only the parts that it has fields in are there. */
#ifndef TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H
#define TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H

#include "base/arena.h"
#include "model/context.h"
#include "model/output.h"

/* Which names are printed; as the options of that program. */
struct babeltrace2_names {
    bool payload, context, scope, header;
};

#define BABELTRACE2_NAMES 512u
#define BABELTRACE2_NAME_MAX 26u
#define BABELTRACE2_PACKETS 64u
#define BABELTRACE2_INDEXES 100u

/* ", NAME = " of short names, found by their ids. */
struct babeltrace2_name {
    ttr_id id;
    uint8_t n;
    char text[BABELTRACE2_NAME_MAX + 5];
};

/* ", [N] = " of an element; its text has room for what put_u64 stores beyond. */
struct babeltrace2_index {
    char text[15];
    uint8_t n; /* 0 = not made */
};

/* The part of the packet that an input's last event was in. */
struct babeltrace2_packet {
    uint64_t number; /* 0 = none kept */
    uint16_t source;
    uint32_t n;
    char text[64];
};

#define BABELTRACE2_STEPS 1024u
#define BABELTRACE2_STEP_MAX 48u

/* All that stands between a field's value and that of the field before it, or the line's end: it is
 * the same whenever the same two follow each other in an event of one schema.  Places in arrays are
 * not. */
struct babeltrace2_step {
    uint64_t key;  /* schema, field, field before; 0 = none */
    uint32_t look; /* type, hint, bits and base of the value */
    uint8_t kind;  /* how the value is printed, or what is opened */
    uint8_t depth; /* level that the field is in */
    uint8_t next;  /* the part that comes next, where the field opened its part; else 0 */
    uint8_t n;
    char text[BABELTRACE2_STEP_MAX];
};

/* How to print the events of a class that lie straight in their payloads (babeltrace2_plan.c). */
struct babeltrace2_plan;

/* What is kept of a class; zeroed at first. */
struct babeltrace2_class {
    ttr_text head; /* from the environment to the name; p NULL = not made yet */
    const struct babeltrace2_plan *plan; /* NULL = none */
    uint32_t met;                        /* events, up to those that make a plan worth while */
};

/* A number of eight bits. */
struct babeltrace2_byte {
    char text[3];
    uint8_t n;
};

#define BABELTRACE2_LABELS 64u
#define BABELTRACE2_PLANS 256u

/* A number with its names, as it was printed at a place of a plan. */
struct babeltrace2_label {
    const void *place; /* NULL = none */
    uint64_t number;
    uint32_t n;
    char text[64];
};

/* How fields are printed, and what was made before and may come again; zeroed at first. */
struct babeltrace2_cache {
    struct babeltrace2_names names;
    bool with_color;
    ttr_field_buffer *fields;
    struct arena *arena;                               /* of plans */
    size_t plans_size;                                 /* bytes of all plans */
    struct babeltrace2_plan *plans[BABELTRACE2_PLANS]; /* those made, by their start */
    struct babeltrace2_byte byte[256];                 /* made with the first plan */
    struct babeltrace2_label label[BABELTRACE2_LABELS];
    struct babeltrace2_step step[BABELTRACE2_STEPS];
    struct babeltrace2_name name[BABELTRACE2_NAMES];
    struct babeltrace2_packet packet[BABELTRACE2_PACKETS];
    struct babeltrace2_index index[BABELTRACE2_INDEXES];
};

/* Counts an event of a class; called before its first field is printed (babeltrace2_meet). */
struct parts;
typedef void (*babeltrace2_meet_function)(const struct parts *parts, const struct schema *schema,
                                          struct babeltrace2_class *of_class);

/* Appends "{ ... }, { ... }" and the line's end, field by field.  `of_class`: NULL where the event
 * has no class; its plan is made when it came often. What is there of a large event goes to the
 * output before the rest comes. */
void babeltrace2_add_parts(struct ttr_writer *out, const ttr_event *event,
                           struct babeltrace2_class *of_class, struct babeltrace2_cache *cache,
                           babeltrace2_meet_function meet);

/* Appends the same the way that the plan of its class tells; false where the event is not as the
 * plan has it: then nothing is appended. */
bool babeltrace2_follow(struct buffer *to, const struct schema *schema, const ttr_event *event,
                        const struct babeltrace2_plan *plan, struct babeltrace2_cache *cache);

#define COLOR_OFF "\033[0m"
#define COLOR_VALUE "\033[1m"
#define COLOR_FIELD "\033[36m"
#define COLOR_SCOPE "\033[1m"
/* Its bright colours are bold ones. */
#define COLOR_UNKNOWN "\033[1m\033[1m\033[31m"
#define COLOR_EVENT "\033[1m\033[1m\033[35m"
#define COLOR_TIME "\033[1m\033[1m\033[33m"

#endif
