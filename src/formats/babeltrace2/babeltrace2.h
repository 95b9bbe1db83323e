/* Text output byte-identical to `babeltrace2` (sink.text.pretty), for scripts that parse it.
 *
 *   babeltrace2_write.c   options, the line up to its fields, cache of line heads
 *   babeltrace2_fields.c  fields of any event, with a cache of the texts between values
 *   babeltrace2_plan.c    fields of frequent event classes, by a compiled plan
 *   babeltrace2_values.c  values: quoted texts, numbers, labels, bytes
 *   babeltrace2_output.h, babeltrace2_quote.h   position in the output; quoting, for these files
 * only
 *
 * The parts that the class of an event has are printed in braces, in this order: packet context,
 * common context, specific context, payload.  An event of a format without classes has only the
 * parts that it has fields in. */
#ifndef TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H
#define TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H

#include "base/arena.h"
#include "model/context.h"
#include "model/output.h"

/* Selects which field names are printed; as the option --names of babeltrace2. */
struct babeltrace2_names {
    bool payload, context, scope, header;
};

#define BABELTRACE2_NAMES 512u
#define BABELTRACE2_NAME_MAX 26u
#define BABELTRACE2_PACKETS 64u
#define BABELTRACE2_INDEXES 100u

/* Cached ", NAME = " of a short field name; a hash slot by name id. */
struct babeltrace2_name {
    ttr_id id;
    uint8_t n;
    char text[BABELTRACE2_NAME_MAX + 5];
};

/* Cached ", [N] = " of an array element; sized so that emit_u64 may write past the number. */
struct babeltrace2_index {
    char text[15];
    uint8_t n; /* length; 0 = empty slot */
};

/* Cached text of the packet context part for the last packet of an input. */
struct babeltrace2_packet {
    uint64_t number; /* packet number; 0 = empty slot */
    uint16_t source;
    uint32_t n;
    char text[64];
};

#define BABELTRACE2_STEPS 1024u
#define BABELTRACE2_STEP_MAX 48u

/* Cached text between the value of a field and the value before it, or the end of the line.  The
 * text depends only on the schema and the two fields.  Array elements are not cached: their index
 * differs. */
struct babeltrace2_step {
    uint64_t key;  /* hash of (schema, field, previous field); 0 = empty slot */
    uint32_t look; /* type, hint, bits and base of the value; the text is valid only for the same */
    uint8_t kind;  /* how the value is printed, or which level it opens: enum value_kind */
    uint8_t depth; /* depth of the level that the field is in */
    uint8_t next;  /* index of the next part, if the field opened its part; else 0 */
    uint8_t n;
    char text[BABELTRACE2_STEP_MAX];
};

/* Compiled program that prints the events of a class directly from their bytes
 * (babeltrace2_plan.c). */
struct babeltrace2_plan;

/* State per event class; zero-initialized. */
struct babeltrace2_class {
    ttr_text head; /* text from the environment to the event name; p is NULL until it is made */
    const struct babeltrace2_plan *plan; /* NULL if the class has none */
    /* events seen, counted up to the threshold for making a plan */
    uint32_t seen;
};

/* Decimal text of an eight-bit number. */
struct babeltrace2_byte {
    char text[3];
    uint8_t n;
};

#define BABELTRACE2_LABELS 64u
#define BABELTRACE2_PLANS 256u

/* Cached text of an enumeration value at one operation of a plan. */
struct babeltrace2_label {
    const void *place; /* the operation; NULL = empty slot */
    uint64_t number;
    uint32_t n;
    char text[64];
};

/* Print options and caches; zero-initialized. */
struct babeltrace2_cache {
    struct babeltrace2_names names;
    bool with_color;
    ttr_field_buffer *fields; /* of the event that is printed */
    struct arena *arena;      /* owns the plans */
    size_t plans_size;        /* total size of all plans in bytes */
    /* hash table of plans by their schema start */
    struct babeltrace2_plan *plans[BABELTRACE2_PLANS];
    struct babeltrace2_byte byte[256]; /* filled when the first plan is made */
    struct babeltrace2_label label[BABELTRACE2_LABELS];
    struct babeltrace2_step step[BABELTRACE2_STEPS];
    struct babeltrace2_name name[BABELTRACE2_NAMES];
    struct babeltrace2_packet packet[BABELTRACE2_PACKETS];
    struct babeltrace2_index index[BABELTRACE2_INDEXES];
};

/* Counts an event of a class, before its first field is printed (see babeltrace2_meet). */
struct bt2_parts;
typedef void (*babeltrace2_count_event_fn)(const struct bt2_parts *parts,
                                           const struct schema *schema,
                                           struct babeltrace2_class *of_class);

/* Appends "{ ... }, { ... }" and the line feed, field by field.  `of_class` is NULL if the event
 * has no class; else its plan is made once it is frequent.  Large events are flushed to the output
 * in parts. */
void babeltrace2_add_parts(struct ttr_writer *out, const ttr_event *event,
                           struct babeltrace2_class *of_class, struct babeltrace2_cache *cache,
                           babeltrace2_count_event_fn meet);

/* Appends the same by the plan of the class.  Returns false, and appends nothing, if the event does
 * not fit the plan. */
bool babeltrace2_run_plan(struct buffer *to, const struct schema *schema, const ttr_event *event,
                          const struct babeltrace2_plan *plan, struct babeltrace2_cache *cache);

#define COLOR_OFF "\033[0m"
#define COLOR_VALUE "\033[1m"
#define COLOR_FIELD "\033[36m"
#define COLOR_SCOPE "\033[1m"
/* babeltrace2 makes bright colors by the bold attribute */
#define COLOR_UNKNOWN "\033[1m\033[1m\033[31m"
#define COLOR_EVENT "\033[1m\033[1m\033[35m"
#define COLOR_TIME "\033[1m\033[1m\033[33m"

#endif
