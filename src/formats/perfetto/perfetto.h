/* The Perfetto writer's state and what its parts offer each other.
 *
 *   perfetto.c         the format, its losses; batches, put in the order Perfetto needs
 *   perfetto_write.c   one event of each kind
 *   perfetto_fields.c  fields and attributes as debug annotations
 *   perfetto_tracks.c  processes, threads, counters, async ids: which track an event goes on
 *   perfetto_kernel.c  scheduling and stack samples
 *   perfetto_packet.c  packets, interned strings, texts
 *   perfetto_nest.c    whether a span can go on the track of its thread
 *
 * Everything is written to out->buffer; a failed allocation sets its `failed`, which output_drain
 * tells.  Tables grow with the number of distinct strings, threads, counters, open async ids and
 * mappings, never with the number of events. */
#ifndef TRACETTA_FORMATS_PERFETTO_PERFETTO_H
#define TRACETTA_FORMATS_PERFETTO_PERFETTO_H

#include "base/keymap.h"
#include "base/pairmap.h"
#include "base/protobuf.h"
#include "formats/perfetto/perfetto_format.h"
#include "formats/perfetto/perfetto_nest.h"
#include "model/output.h"

/* Indices into the table of losses. */
enum perfetto_loss {
    LOSS_TEXT,
    LOSS_BYTES,
    LOSS_NULL,
    LOSS_DUPLICATE,
    LOSS_DEEP,
    LOSS_CONTEXT,
    LOSS_TIME,
    LOSS_THREAD_ID,
    LOSS_SPAN,
    LOSS_FLOW,
    LOSS_COUNTER_VALUE,
    LOSS_COUNTER_FIELD,
    LOSS_COUNTER_EMPTY,
    LOSS_COUNTER_ATTRIBUTE,
    LOSS_SCHED_ATTRIBUTE,
    LOSS_SCHED_STATE,
    LOSS_SCHED_NO_CPU,
    LOSS_SAMPLE_ATTRIBUTE,
    LOSS_SAMPLE_EMPTY,
    LOSS_BLOB,
    LOSS_OBJECT,
    LOSS_GAP,
    LOSS_KIND,
    LOSS_COUNT
};

/* Dictionaries of strings; bits of string_use.in. */
enum dictionary {
    IN_CATEGORIES,
    IN_NAMES,
    IN_KEYS,
    IN_VALUES,
    IN_LOG_BODIES,
    IN_MAPPING_PATHS,
    IN_BUILD_IDS,
    DICTIONARIES
};

struct string_use {
    uint32_t iid; /* the same in every dictionary; 0 = none yet */
    uint8_t in;   /* bit set of dictionaries that have it since the state was cleared */
    bool is_known, has_comma, is_broken; /* looked at; holds categories; is no UTF-8 */
};

/* A track of slices. */
struct lane {
    uint64_t uuid;     /* 0 = not described yet */
    ttr_id provider;   /* of its events unless they say otherwise */
    bool has_provider; /* decided */
    struct perfetto_nest nest;
    uint64_t aside_uuid; /* a track beside it for spans that clash, free from aside_end on */
    int64_t aside_end;
};

struct process_state {
    uint64_t uuid;   /* 0 = not described yet */
    int32_t pid;     /* as written */
    bool is_known;   /* pid is decided */
    ttr_id name;     /* as described last */
    ttr_id provider; /* of its tracks unless they say otherwise */
};

struct thread_state {
    struct lane lane;
    uint64_t round; /* names were looked at in this one */
    uint64_t tid;   /* as written */
    uint32_t process;
    bool is_known, is_in_tree;
    ttr_id name;      /* as described last */
    ttr_id tree_name; /* as told to the kernel's tree last */
};

struct counter_track {
    uint32_t uuid;
    ttr_id provider, category, thread;
};

struct async_track {
    int64_t end; /* latest time on it */
    uint32_t uuid;
    int32_t depth; /* begins minus ends */
    uint32_t next; /* free track of the same process and name */
    ttr_id provider, thread;
};

struct mapping_state {
    uint64_t start, size, offset;
    uint32_t process;
    ttr_id path, build_id;
    uint32_t iid; /* 0 = not told since the state was cleared */
};

struct module_state {
    ttr_id name, build_id;
};

/* A growing table of zeroed items. */
struct table {
    void *items;
    size_t n;
};

struct perfetto {
    struct ttr_writer *out;
    struct buffer *to;      /* out->buffer */
    struct buffer interned; /* entries for the packet under way */
    struct buffer scratch;
    uint64_t offset;         /* of the event under way */
    int64_t base;            /* subtracted from times */
    bool is_begun, has_base; /* the first packet is written; the clock is chosen */
    bool has_time;           /* the event under way has one */
    uint64_t round;
    uint32_t next_uuid;
    uint32_t next_iid, entries; /* interned since the state was cleared */
    uint8_t flags;              /* of the packet under way */
    int32_t next_pid;

    struct table strings;   /* struct string_use by ttr_id */
    struct table threads;   /* struct thread_state by ttr_id */
    struct table processes; /* struct process_state by index in the context */
    struct pairmap pids;    /* pid as written to process index */

    struct counter_track *counters;
    size_t counters_n, counters_capacity;
    struct keymap counter_index;
    struct async_track *asyncs;
    size_t asyncs_n, asyncs_capacity; /* [0] is none */
    struct keymap async_index;
    struct pairmap async_free;

    struct table mappings;
    size_t mappings_n;
    struct table modules;
    size_t modules_n;
    struct pairmap module_index, frames, callstacks;
    uint32_t mapping_round, empty_mapping;
    struct lane nowhere, objects, gaps;

    uint64_t *seen; /* names of the open objects, for fields of one name */
    size_t seen_n, seen_capacity;
    struct keymap often; /* of objects with many fields: (object, name) to how often it is there */
    uint32_t objects_n;  /* in the event, so far */
    ttr_id keys[21];     /* of attributes, enum attribute_key */
    ttr_id null_text;
};

/* Marks of an open packet with a track event. */
struct open_event {
    size_t packet, event;
};

/* --- perfetto_packet.c --- */

/* Begins and ends a packet; the end adds what was interned meanwhile. */
size_t perfetto_begin(struct perfetto *p);
size_t perfetto_begin_at(struct perfetto *p, int64_t time);
void perfetto_end(struct perfetto *p, size_t mark);

/* Begins a packet with a track event on a track, without a name. */
struct open_event perfetto_begin_event(struct perfetto *p, int64_t time, unsigned type,
                                       uint64_t uuid);
void perfetto_end_event(struct perfetto *p, struct open_event open);

/* Slow path of perfetto_intern. */
uint32_t perfetto_intern_new(struct perfetto *p, ttr_id id, enum dictionary dictionary);

/* The iid of a known string in a dictionary, told to the reader when it is new; never 0. */
static inline uint32_t perfetto_intern(struct perfetto *p, ttr_id id, enum dictionary dictionary)
{
    const struct string_use *uses = p->strings.items;
    if (id >= p->strings.n || !(uses[id].in & 1u << dictionary) || uses[id].is_broken)
        return perfetto_intern_new(p, id, dictionary);
    p->flags |= SEQUENCE_NEEDED;
    return uses[id].iid;
}

/* A number for an interned thing that is no string. */
uint32_t perfetto_new_iid(struct perfetto *p);

/* Adds a text as a string field; bytes that are no UTF-8 become U+FFFD and count as a loss. */
void perfetto_text(struct perfetto *p, struct buffer *to, uint32_t field, ttr_text text);

/* What is known of a string; NULL when memory is out. */
struct string_use *perfetto_string(struct perfetto *p, ttr_id id);

/* Gives item `index`, growing the table; NULL (and the buffer failed) when memory is out. */
void *perfetto_item(struct perfetto *p, struct table *table, size_t index, size_t size);

static inline void perfetto_lost(struct perfetto *p, enum perfetto_loss loss)
{
    output_lost(p->out, loss, p->offset);
}

/* --- perfetto_tracks.c --- */

/* A number that could not be written as it is. */
struct renumbered {
    const char *what; /* "pid", "tid" */
    uint64_t real, written;
};

/* Adds a name as a string field, with the real number where that is not the one written: "worker
 * (tid 9223372036854775817)". */
void perfetto_add_name(struct perfetto *p, uint32_t field, ttr_id name,
                       const struct renumbered *number);

/* The process or thread, its track described with the names known by now; NULL when memory is out.
 */
struct process_state *perfetto_process(struct perfetto *p, uint32_t index);
struct thread_state *perfetto_thread(struct perfetto *p, ttr_id id);

/* The thread without a track: its tid and pid as written. */
struct thread_state *perfetto_thread_numbers(struct perfetto *p, ttr_id id);

/* The track for slices of an event's thread, described; NULL when memory is out. */
struct lane *perfetto_lane(struct perfetto *p, const ttr_event *event);

/* A track of its own for what belongs to no thread. */
struct lane *perfetto_global(struct perfetto *p, struct lane *lane, const char *name);

/* The track of a span of the lane: the lane's, or one beside it. */
uint64_t perfetto_span_track(struct perfetto *p, struct lane *lane, int64_t begin, int64_t end);

/* The track of one series of a counter. */
struct counter_track *perfetto_counter(struct perfetto *p, const ttr_event *event,
                                       const ttr_field *field);

/* The track of an async event; `change` is +1 for a begin, -1 for an end. */
struct async_track *perfetto_async(struct perfetto *p, const ttr_event *event, int change);

/* What the tables start from. */
void perfetto_init_tracks(struct perfetto *p);

/* Describes anew what got a name since it was described. */
void perfetto_finish_tracks(struct perfetto *p);
void perfetto_free_tracks(struct perfetto *p);

/* --- perfetto_fields.c --- */

enum attribute_key {
    KEY_PROVIDER,
    KEY_LEVEL,
    KEY_KEYWORD,
    KEY_OPCODE,
    KEY_ACTIVITY,
    KEY_RELATED,
    KEY_FLAGS,
    KEY_CPU,
    KEY_ID,
    KEY_PID,
    KEY_TID,
    KEY_TYPE,
    KEY_LOST,
    KEY_SOURCE,
    KEY_KIND,
    KEY_FROM,
    KEY_VALUE,
    KEY_LABEL,
    KEY_LABELS,
    KEY_EVENT_ID,
    KEY_EVENT_VERSION
};

/* Adds all fields as annotations; `skip` names a top-level field that is told otherwise, or NULL.
 * `most` is the most bytes of a byte field that are kept. */
void perfetto_add_fields(struct perfetto *p, const ttr_event *event, const char *skip, size_t most);

/* Adds attributes of an event that its track does not imply; afterwards names start anew. */
void perfetto_add_attributes(struct perfetto *p, const ttr_event *event, const struct lane *lane);
void perfetto_add_u64(struct perfetto *p, enum attribute_key key, uint64_t value);
void perfetto_add_pointer(struct perfetto *p, enum attribute_key key, uint64_t value);
void perfetto_add_thread(struct perfetto *p, ttr_id thread);

/* How many attributes an event has that a packet without annotations loses: name and category too
 * where asked. */
unsigned perfetto_count_attributes(const struct perfetto *p, const ttr_event *event);

/* Makes the keys; false when memory is out. */
bool perfetto_make_keys(struct perfetto *p);

/* --- perfetto_kernel.c --- */

/* These give false for an event that must become an instant. */
bool perfetto_switch(struct perfetto *p, const ttr_event *event);
bool perfetto_wake(struct perfetto *p, const ttr_event *event);
bool perfetto_sample(struct perfetto *p, const ttr_event *event);

/* Remembers a module or mapping for samples. */
void perfetto_module(struct perfetto *p, const ttr_event *event);
void perfetto_mapping(struct perfetto *p, const ttr_event *event);

void perfetto_init_kernel(struct perfetto *p);
void perfetto_free_kernel(struct perfetto *p);

/* --- perfetto_write.c --- */

void perfetto_event(struct perfetto *p, const ttr_event *event);

#endif
