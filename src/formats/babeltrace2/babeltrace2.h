/* Text output byte-identical to `babeltrace2` (sink.text.pretty), for scripts that parse it.
 *
 *   babeltrace2_write.c   options, the line up to its fields, cache of line heads
 *   babeltrace2_fields.c  fields of any event, with a cache of the texts between values
 *   babeltrace2_plan.c    fields of frequent event classes, by a compiled plan
 *   babeltrace2_values.c  values: quoted texts, numbers, labels, bytes
 *   babeltrace2_output.h  position in the output; only for these files
 *   babeltrace2_quote.h   quoting; only for these files
 *
 * Fields are printed in up to four parts, each in braces and in this order: packet context, common
 * context, specific context, payload. The event class determines which parts are printed; for
 * formats without classes, only parts with fields are. */
#ifndef TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H
#define TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H

#include "base/arena.h"
#include "model/context.h"
#include "model/output.h"

/* Which field names are printed, selected by the option --names of babeltrace2. */
struct babeltrace2_names {
    bool payload, context, scope, header;
};

#define BABELTRACE2_NAMES 512u
#define BABELTRACE2_NAME_MAX 26u
#define BABELTRACE2_PACKETS 64u
#define BABELTRACE2_INDEXES 100u

/* Cached text ", NAME = " of a short field name. It is one entry of a hash table by name id. */
struct babeltrace2_name {
    ttr_id id;
    uint8_t n;
    char text[BABELTRACE2_NAME_MAX + 5];
};

/* Cached text ", [N] = " of an array index. The array is larger than the text, because emit_u64
 * may write beyond the digits. */
struct babeltrace2_index {
    char text[15];
    uint8_t n; /* length of the text in bytes; 0 in an empty slot */
};

/* Cached text of a packet context: that of the last printed packet of an input. */
struct babeltrace2_packet {
    uint64_t number; /* number of the packet; 0 in an empty slot */
    uint16_t source;
    uint32_t n;
    char text[64];
};

#define BABELTRACE2_SEPARATORS 1024u
#define BABELTRACE2_SEPARATOR_MAX 48u

/* Cached separator: the text between the value of a field and the previous value, or the end of the
 * line. It depends only on the schema and the two fields. Separators of array elements are not
 * cached, since they contain the index. */
struct babeltrace2_separator {
    uint64_t key; /* hash of (schema, field, previous field); 0 in an empty slot */
    /* combination of type, hint, bits and base of the value; the separator is valid only for
     * values with the same combination */
    uint32_t print_style;
    /* how the value is printed, or whether it opens a struct or array (enum value_kind) */
    uint8_t kind;
    uint8_t depth; /* nesting depth of the field; 0 is a top-level field */
    /* index of the next part if this field is the first of its part; else 0 */
    uint8_t next;
    uint8_t n;
    char text[BABELTRACE2_SEPARATOR_MAX];
};

/* Compiled program that prints the events of a class directly from their payload bytes
 * (babeltrace2_plan.c). */
struct babeltrace2_plan;

/* Cached state of an event class. A zero-initialized struct is empty. */
struct babeltrace2_class {
    /* cached text of a line from the host name to the event name; p is NULL before the first event
     */
    ttr_text head;
    const struct babeltrace2_plan *plan; /* plan of the class; NULL if it has none */
    /* number of events of the class that were printed; it stops at the number from which on a plan
     * is used */
    uint32_t seen;
};

/* Decimal text of an eight-bit number. */
struct babeltrace2_byte {
    char text[3];
    uint8_t n;
};

#define BABELTRACE2_LABELS 64u
#define BABELTRACE2_PLANS 256u

/* Cached text of an enumeration value that a plan operation has printed. */
struct babeltrace2_label {
    /* operation of the plan that printed the text; NULL in an empty slot */
    const void *op;
    uint64_t number;
    uint32_t n;
    char text[64];
};

/* Print options and caches. A zero-initialized struct is empty. */
struct babeltrace2_cache {
    struct babeltrace2_names names;
    bool with_color;
    /* true for a terminal: the ESC character in names must be escaped, since output_write_bytes
     * leaves color codes unchanged */
    bool hides_escapes;
    ttr_field_buffer *fields; /* fields of the event that is being printed */
    struct arena *arena;      /* arena that owns the plans */
    size_t plans_size;        /* total size of all plans in bytes */
    /* hash table of plans; the key is the member `start` of their schema */
    struct babeltrace2_plan *plans[BABELTRACE2_PLANS];
    /* decimal texts of all eight-bit numbers, set when the first plan is made */
    struct babeltrace2_byte byte[256];
    struct babeltrace2_label label[BABELTRACE2_LABELS];
    struct babeltrace2_separator separator[BABELTRACE2_SEPARATORS];
    struct babeltrace2_name name[BABELTRACE2_NAMES];
    struct babeltrace2_packet packet[BABELTRACE2_PACKETS];
    struct babeltrace2_index index[BABELTRACE2_INDEXES];
};

/* Callback that counts an event of a class before the first field of the event is printed
 * (babeltrace2_count_event_of_class()). */
struct bt2_parts;
typedef void (*babeltrace2_count_event_fn)(const struct bt2_parts *parts,
                                           const struct schema *schema,
                                           struct babeltrace2_class *of_class);

/* Prints the fields of an event as "{ ... }, { ... }" and a line feed, field by field. `of_class`
 * is NULL if the event has no class. The callback may make the plan of a frequent class. A large
 * event is flushed to the output several times. */
void babeltrace2_add_parts(struct ttr_writer *out, const ttr_event *event,
                           struct babeltrace2_class *of_class, struct babeltrace2_cache *cache,
                           babeltrace2_count_event_fn count_event);

/* Prints the fields of an event by the plan of its class, with the same result as
 * babeltrace2_add_parts(). If the event does not fit the plan, appends nothing and returns
 * false. */
bool babeltrace2_run_plan(struct buffer *to, const struct schema *schema, const ttr_event *event,
                          const struct babeltrace2_plan *plan, struct babeltrace2_cache *cache);

#define COLOR_OFF "\033[0m"
#define COLOR_VALUE "\033[1m"
#define COLOR_FIELD "\033[36m"
#define COLOR_SCOPE "\033[1m"
/* babeltrace2 prints bright colors with an additional bold attribute */
#define COLOR_UNKNOWN "\033[1m\033[1m\033[31m"
#define COLOR_EVENT "\033[1m\033[1m\033[35m"
#define COLOR_TIME "\033[1m\033[1m\033[33m"

#endif
