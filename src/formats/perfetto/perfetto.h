/* The Perfetto writer: its state and the internal functions of its files.
 *
 *   perfetto.c         format and losses; batches, sorted as Perfetto requires
 *   perfetto_write.c   writes one event of each kind
 *   perfetto_fields.c  fields and attributes as debug annotations
 *   perfetto_tracks.c  chooses the track of an event: process, thread, counter, async id
 *   perfetto_sched.c   scheduling
 *   perfetto_frames.c  call stacks, frames, mappings, stack samples
 *   perfetto_async.c   tracks of async events, ids of flows
 *   perfetto_packet.c  packets, interned strings, texts
 *   perfetto_nest.c    decides whether a span can be on the track of its thread
 *
 * All output goes to out->buffer; a failed allocation sets its `failed` flag, which output_drain
 * reports. Tables grow with the number of distinct strings, threads, counters, open async ids and
 * mappings, not with the number of events. */
#ifndef TRACETTA_FORMATS_PERFETTO_PERFETTO_H
#define TRACETTA_FORMATS_PERFETTO_PERFETTO_H

#include "base/key_map.h"
#include "base/pair_map.h"
#include "base/protobuf.h"
#include "formats/perfetto/perfetto_format.h"
#include "formats/perfetto/perfetto_nest.h"
#include "model/output.h"
#include "model/schedule.h"

/* Indices into the table of losses in perfetto.c. */
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
    LOSS_SPAN_END,
    LOSS_FLOW,
    LOSS_FLOW_ATTRIBUTE,
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
    LOSS_NO_TIME,
    LOSS_KIND,
    LOSS_COUNT
};

/* Dictionaries of interned strings. Each constant is the number of a bit in string_use.in. */
enum dictionary {
    IN_CATEGORIES,
    IN_NAMES,
    IN_KEYS,
    IN_VALUES,
    IN_LOG_BODIES,
    IN_MAPPING_PATHS,
    IN_BUILD_IDS,
    IN_FUNCTIONS,
    DICTIONARIES
};

struct string_use {
    /* id under which the string is interned, the same in all dictionaries; 0 if it has none */
    uint32_t iid;
    /* bit set of the dictionaries that contain the string, since dictionaries are cleared now and
     * then */
    uint16_t in;
    /* is_known: the next two members are valid; has_comma: the string is a list of categories;
     * is_broken: the string is not valid UTF-8 */
    bool is_known, has_comma, is_broken;
};

/* A Perfetto track for the spans (slices) of a thread or process. */
struct slice_track {
    uint64_t uuid; /* uuid of the track; 0 before its descriptor is written */
    /* provider in the track's descriptor; an event of another provider contains the provider
     * itself */
    ttr_id provider;
    bool has_provider; /* true if `provider` is valid */
    uint32_t open_n;   /* number of begins on the track that have no end yet */
    struct perfetto_nest nest;
    /* uuid of a second track, for spans that do not nest with those of the first; no span is open
     * on it from time overflow_end on */
    uint64_t overflow_uuid;
    int64_t overflow_end;
};

struct process_state {
    uint64_t uuid; /* uuid of the process track; 0 before its descriptor is written */
    int32_t pid;   /* pid in the output; valid if `is_known` is true */
    bool is_known; /* true if `pid` has been assigned */
    ttr_id name;   /* name in the descriptor that was written last */
    /* provider in the process's descriptor; an event of another provider contains the provider
     * itself */
    ttr_id provider;
};

struct thread_state {
    struct slice_track slice_track;
    /* value of perfetto.round at the last comparison of the thread's names */
    uint64_t round;
    uint64_t tid; /* tid in the output, which may differ from the thread's own tid */
    uint32_t process;
    bool is_known, is_in_tree;
    bool is_running;       /* true if the state that was written last is "running" */
    uint32_t cpu;          /* CPU on which the thread runs, if is_running */
    int64_t running_since; /* time in ns since which the thread runs, if is_running */
    ttr_id name;           /* name in the descriptor that was written last */
    /* name of the thread that was written last to the kernel process tree */
    ttr_id tree_name;
};

struct counter_track {
    uint32_t uuid;
    ttr_id provider, category, thread;
};

struct async_track {
    int64_t end; /* time in ns of the latest event on the track */
    uint32_t uuid;
    uint32_t depth; /* number of spans that are open on the track */
    uint32_t next;  /* index of the next unused track with the same process and name */
    uint32_t process;
    ttr_id name, provider, thread;
    /* first key of the track: `scope` in async_index, `id_scope` in async_by_id */
    uint64_t scope, id_scope;
    uint64_t link; /* second key of the track in both maps */
};

/* State of the idle thread of a CPU, according to the packets written so far. */
struct idle_state {
    bool is_running;
    bool is_in_tree; /* true if the process tree contains the thread */
};

/* Array that grows on demand; new items are filled with zeros. */
struct table {
    void *items;
    size_t n;
};

struct perfetto {
    struct ttr_writer *out;
    struct buffer *to; /* output buffer, the same as &out->buffer */
    /* interned entries that will be appended to the open packet */
    struct buffer interned;
    struct buffer scratch;
    uint64_t offset; /* file offset of the current event, in bytes */
    int64_t base;    /* time of the source, in ns, that is written as 0 */
    /* is_begun: the first packet has been written; has_base: `base` is valid */
    bool is_begun, has_base;
    bool has_time; /* true if the current event has a time */
    uint64_t round;
    uint32_t next_uuid;
    /* entries: number of entries that were interned since the dictionaries were cleared */
    uint32_t next_iid, entries;
    uint8_t flags; /* bit set of SEQUENCE_ flags for the open packet */
    int32_t next_pid;

    /* array of struct string_use, indexed by ttr_id of the string */
    struct table strings;
    /* array of struct slice_track, indexed by ttr_id of named tracks (ttr_track) */
    struct table tracks;
    /* array of struct thread_state, indexed by ttr_id of the thread */
    struct table threads;
    /* array of struct process_state, indexed by the context's process index */
    struct table processes;
    struct pair_map pids; /* maps (pid in the output, 0) to a process index */
    struct pair_map tids; /* maps (tid in the output, 0) to a thread id */

    struct counter_track *counters;
    size_t counters_n, counters_capacity;
    struct key_map counter_index;
    struct async_track *asyncs;
    /* number of entries in `asyncs`; entry 0 is not used */
    size_t asyncs_n, asyncs_capacity;
    /* maps (hash of category and process or task, id) to the innermost open track */
    struct pair_map async_index;
    /* maps (category, id) to the same track, for ends in another process */
    struct pair_map async_by_id;
    struct pair_map async_free;
    /* maps (hash of category, name and input; id) to the number of an open flow */
    struct pair_map flows;
    uint32_t next_flow;

    struct schedule schedule; /* states of all threads except idle threads */
    /* array of struct idle_state, one for each CPU on which threads switched */
    struct table cpus;
    size_t cpus_n;
    struct pair_map cpu_index; /* maps (CPU number, 0) to an index in `cpus` */

    /* current call stack: its addresses, later overwritten by iids of frames */
    uint64_t *stack;
    size_t stack_n, stack_capacity;
    /* true if at least one frame of the stack depends on the time */
    bool is_stack_timed;
    /* number of symbols in the context at the last lookup of addresses */
    uint32_t symbols_n;
    /* iids of mappings by address and module; of frames by address, and by what was found there; of
     * call stacks by addresses, and by frames */
    struct pair_map mappings, frames, resolved_frames, stacks, callstacks;
    ttr_id unknown_text;
    struct slice_track nowhere, objects, gaps;

    /* names that the open objects contain so far; a repeated name gets a number */
    uint64_t *seen;
    size_t seen_n, seen_capacity;
    /* maps (object, name) to the number of times the name was used; only for objects with many
     * fields */
    struct key_map name_counts;
    uint32_t objects_n; /* number of objects in the current event up to now */
    ttr_id keys[21];    /* ids of attribute names, indexed by enum attribute_key */
    ttr_id null_text;
};

/* Buffer offsets of the open packet and of the track event in it. */
struct open_event {
    size_t packet, event;
};

/* --- perfetto_packet.c: packets and interning --- */

/* Begin and end a packet. perfetto_end_packet() also appends the entries that were interned for the
 * packet. */
size_t perfetto_begin_packet(struct perfetto *p);
size_t perfetto_begin_packet_at(struct perfetto *p, int64_t time);
void perfetto_end_packet(struct perfetto *p, size_t mark);

/* Begin and end a packet that contains a track descriptor. It is in a separate sequence, since
 * readers assign events to the thread that their sequence described last. */
size_t perfetto_begin_descriptor(struct perfetto *p);
void perfetto_end_descriptor(struct perfetto *p, size_t mark);

/* Begins a packet with a track event on track `uuid`; the caller must add the event's name. If
 * `type` is 0, the caller adds a legacy event. */
struct open_event perfetto_begin_event(struct perfetto *p, int64_t time, unsigned type,
                                       uint64_t uuid);
void perfetto_end_event(struct perfetto *p, struct open_event open);

/* Slow path of perfetto_intern(): assigns an id to the string, or adds it to the dictionary. */
uint32_t perfetto_intern_new(struct perfetto *p, ttr_id id, enum dictionary dictionary);

/* Returns the id of an interned string, which is never 0. If the dictionary does not contain the
 * string, adds it to the open packet. */
static inline uint32_t perfetto_intern(struct perfetto *p, ttr_id id, enum dictionary dictionary)
{
    const struct string_use *uses = p->strings.items;
    if (id >= p->strings.n || !(uses[id].in & 1u << dictionary) || uses[id].is_broken)
        return perfetto_intern_new(p, id, dictionary);
    p->flags |= SEQUENCE_NEEDED;
    return uses[id].iid;
}

/* Initialize and free the maps for interned mappings, frames and call stacks. */
void perfetto_init_interning(struct perfetto *p);
void perfetto_free_interning(struct perfetto *p);

/* Returns a new id for an interned entry that is not a string. */
uint32_t perfetto_assign_iid(struct perfetto *p);

/* Appends a text as a string field to `to`. Replaces invalid UTF-8 by U+FFFD, and then counts a
 * loss. */
void perfetto_append_text(struct perfetto *p, struct buffer *to, uint32_t field, ttr_text text);

/* Returns what is known about a string for interning; NULL if memory runs out. */
struct string_use *perfetto_get_string_properties(struct perfetto *p, ttr_id id);

/* Returns the address of item `index`. Enlarges the table if needed. If memory runs out, sets
 * `failed` of the output buffer and returns NULL. */
void *perfetto_get_table_item(struct perfetto *p, struct table *table, size_t index, size_t size);

static inline void perfetto_count_loss(struct perfetto *p, enum perfetto_loss loss)
{
    output_count_loss(p->out, loss, p->offset);
}

/* --- perfetto_tracks.c: tracks and their descriptors --- */

/* A pid or tid that the format cannot store, and the number that the writer stores instead. */
struct renumbered {
    const char *what; /* "pid" or "tid", which precedes the number in the name */
    uint64_t real, written;
};

/* Appends a name as a string field. If the output contains another pid or tid than the source,
 * appends the original one: "worker (tid 9223372036854775817)". */
void perfetto_add_name(struct perfetto *p, uint32_t field, ttr_id name,
                       const struct renumbered *number);

/* Return the state of a process or thread, after writing a descriptor with its current names if
 * needed. Return NULL if memory runs out. */
struct process_state *perfetto_describe_process(struct perfetto *p, uint32_t index);
struct thread_state *perfetto_describe_thread(struct perfetto *p, ttr_id id);

/* Returns the state of a thread, and assigns tid and pid in the output to it. Does not write a
 * descriptor. */
struct thread_state *perfetto_assign_thread_ids(struct perfetto *p, ttr_id id);

/* Returns the slice track of an event's thread, after writing the track's descriptor if needed.
 * Returns NULL if memory runs out. */
struct slice_track *perfetto_get_slice_track(struct perfetto *p, const ttr_event *event);

/* Returns a track with the name `name`, for events that have no thread. */
struct slice_track *perfetto_get_global_track(struct perfetto *p, struct slice_track *slice_track,
                                              const char *name);

/* Returns the uuid of the track for a span: the thread's track, or its second track if the span
 * does not nest with earlier spans. */
uint64_t perfetto_choose_span_track(struct perfetto *p, struct slice_track *slice_track,
                                    int64_t begin, int64_t end);

/* Returns the track for the values of one field of a counter event. */
struct counter_track *perfetto_get_counter_track(struct perfetto *p, const ttr_event *event,
                                                 const ttr_field *field);

/* Initializes the tables of tracks, processes and threads. */
void perfetto_init_tracks(struct perfetto *p);

/* Writes a new descriptor for each track of which the name has changed. */
void perfetto_describe_renamed_tracks(struct perfetto *p);
void perfetto_free_tracks(struct perfetto *p);

/* Returns the state of an event's process, after writing its descriptor if needed. Returns NULL if
 * the event has no process. */
const struct process_state *perfetto_find_event_process(struct perfetto *p, const ttr_event *event);

/* Returns the process index of a thread; UINT32_MAX if it has no process. */
static inline uint32_t perfetto_get_process_index(const struct perfetto *p, ttr_id thread)
{
    const ttr *t = p->out->t;
    return thread && thread < t->threads_n ? t->threads[thread].process : UINT32_MAX;
}

/* Adds a provider to a track descriptor, unless the descriptor of the process already contains
 * this provider. */
void perfetto_add_provider(struct perfetto *p, const struct process_state *process,
                           ttr_id provider);

/* Returns true if at `time` a span of the track is open, so that a flow can be attached to it. */
bool perfetto_has_open_slice(const struct slice_track *slice_track, int64_t time);

/* --- perfetto_async.c: tracks of async events, flows --- */

/* Returns the track of an async event. `change` is +1 for a begin, -1 for an end, else 0. Returns
 * NULL for an end without a begin, or if memory runs out. */
struct async_track *perfetto_get_async_track(struct perfetto *p, const ttr_event *event,
                                             int change);

/* Returns the number of the flow to which an event belongs; 0 if no begin of the flow precedes the
 * event. */
uint32_t perfetto_get_flow_number(struct perfetto *p, const ttr_event *event);

void perfetto_init_async(struct perfetto *p);
void perfetto_free_async(struct perfetto *p);

/* --- perfetto_fields.c: debug annotations --- */

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

/* Appends all fields of an event as debug annotations. Omits the top-level field with the name
 * `skip` (may be NULL). Truncates fields of bytes to `most` bytes. */
void perfetto_append_fields(struct perfetto *p, const ttr_event *event, const char *skip,
                            size_t most);

/* Appends the attributes of an event that differ from those of its track. Also clears the list of
 * names that the event uses. */
void perfetto_add_event_attributes(struct perfetto *p, const ttr_event *event,
                                   const struct slice_track *slice_track);
void perfetto_add_u64(struct perfetto *p, enum attribute_key key, uint64_t value);
void perfetto_add_pointer(struct perfetto *p, enum attribute_key key, uint64_t value);
void perfetto_add_word(struct perfetto *p, enum attribute_key key, const char *word);
void perfetto_add_thread(struct perfetto *p, ttr_id thread);

/* Returns the number of attributes (without name and category) that an event loses in a packet
 * without annotations. */
unsigned perfetto_count_lost_attributes(const struct perfetto *p, const ttr_event *event);

/* Counts as lost the attributes of an event and its `fields` fields: packets for scheduling and
 * samples cannot store them. */
void perfetto_count_lost_parts(struct perfetto *p, const ttr_event *event, enum perfetto_loss loss,
                               unsigned fields);

/* Interns the names of attributes. Returns false if memory runs out. */
bool perfetto_intern_attribute_keys(struct perfetto *p);

/* --- perfetto_sched.c: scheduling --- */

/* Write scheduling packets for an event. If the event must be written as an instant instead, write
 * nothing and return false. */
bool perfetto_write_switch(struct perfetto *p, const ttr_event *event);
bool perfetto_write_wake(struct perfetto *p, const ttr_event *event);

/* Returns the name of a ttr_thread_state, such as "blocked"; NULL for an unknown number. */
const char *perfetto_get_thread_state_name(unsigned state);

void perfetto_init_sched(struct perfetto *p);
void perfetto_free_sched(struct perfetto *p);

/* --- perfetto_frames.c: call stacks, stack samples --- */

/* Writes a stack sample. If the event has no stack, writes nothing and returns false. */
bool perfetto_write_sample(struct perfetto *p, const ttr_event *event);

/* Writes the stack of an event as a sample of a thread. Writes nothing if the event has no
 * stack. */
void perfetto_write_event_stack(struct perfetto *p, const ttr_event *event, ttr_id thread);

/* Returns the iid of an event's call stack; 0 if the event has no stack. */
uint32_t perfetto_intern_event_stack(struct perfetto *p, const ttr_event *event);

/* Initializes the state for call stacks. Returns false if memory runs out. */
bool perfetto_init_frames(struct perfetto *p);

void perfetto_free_frames(struct perfetto *p);

/* --- perfetto_write.c: one event of each kind --- */

void perfetto_write_event(struct perfetto *p, const ttr_event *event);

#endif
