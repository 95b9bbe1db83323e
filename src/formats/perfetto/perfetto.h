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

/* Dictionaries of interned strings; each constant is a bit number in string_use.in. */
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
    uint32_t iid; /* interning id, the same in each dictionary; 0 if none is assigned */
    /* bit set of the dictionaries that contain the string since they were last cleared */
    uint16_t in;
    /* is_known: the next two are valid; has_comma: the string is a list of categories; is_broken:
     * the string is not valid UTF-8 */
    bool is_known, has_comma, is_broken;
};

/* A Perfetto track for the spans (slices) of a thread or process. */
struct slice_track {
    uint64_t uuid; /* uuid of the track; 0 until its descriptor is written */
    /* provider in the track's descriptor; events of other providers contain their provider */
    ttr_id provider;
    bool has_provider; /* `provider` is valid */
    uint32_t open_n;   /* begins without an end so far */
    struct perfetto_nest nest;
    /* second track, for spans that do not nest with those of the first track; from time
     * overflow_end on, no span is open on it */
    uint64_t overflow_uuid;
    int64_t overflow_end;
};

struct process_state {
    uint64_t uuid; /* uuid of the process track; 0 until the descriptor is written */
    int32_t pid;   /* pid in the output; valid if `is_known` */
    bool is_known; /* `pid` is assigned */
    ttr_id name;   /* name in the last written descriptor */
    /* provider in the process's descriptor; events of other providers contain their provider */
    ttr_id provider;
};

struct thread_state {
    struct slice_track slice_track;
    uint64_t round; /* value of perfetto.round when the names of the thread were last compared */
    uint64_t tid;   /* tid in the output; may differ from the tid of the thread */
    uint32_t process;
    bool is_known, is_in_tree;
    bool is_running;       /* state that was written last */
    uint32_t cpu;          /* CPU of a running thread */
    int64_t running_since; /* ns; of a running thread */
    ttr_id name;           /* name in the last written descriptor */
    ttr_id tree_name;      /* name last written to the kernel process tree */
};

struct counter_track {
    uint32_t uuid;
    ttr_id provider, category, thread;
};

struct async_track {
    int64_t end; /* latest time of an event on the track */
    uint32_t uuid;
    uint32_t depth; /* number of open spans */
    uint32_t next;  /* index of the next free track with the same process and name */
    uint32_t process;
    ttr_id name, provider, thread;
    uint64_t scope, id_scope; /* first key of the track in async_index, in async_by_id */
    uint64_t link;            /* second key of the track in both */
};

/* The idle thread of a CPU, as the written packets have it. */
struct idle_state {
    bool is_running;
    bool is_in_tree; /* the thread was described */
};

/* Array of items that grows; new items are zero. */
struct table {
    void *items;
    size_t n;
};

struct perfetto {
    struct ttr_writer *out;
    struct buffer *to;      /* equals &out->buffer */
    struct buffer interned; /* interned entries to be added to the open packet */
    struct buffer scratch;
    uint64_t offset;         /* file offset of the current event */
    int64_t base;            /* time of the source, in ns, that is written as 0 */
    bool is_begun, has_base; /* is_begun: the first packet was written; has_base: `base` is valid */
    bool has_time;           /* the current event has a time */
    uint64_t round;
    uint32_t next_uuid;
    /* entries: number of entries interned since the dictionaries were last cleared */
    uint32_t next_iid, entries;
    uint8_t flags; /* SEQUENCE_ flags of the open packet */
    int32_t next_pid;

    struct table strings; /* struct string_use per string, indexed by ttr_id */
    struct table tracks;  /* struct slice_track per named ttr_track, indexed by ttr_id */
    struct table threads; /* struct thread_state per thread, indexed by ttr_id */
    /* struct process_state per process, indexed by process index of the context */
    struct table processes;
    struct pair_map pids; /* maps (pid in the output, 0) to a process index */
    struct pair_map tids; /* maps (tid in the output, 0) to a thread id */

    struct counter_track *counters;
    size_t counters_n, counters_capacity;
    struct key_map counter_index;
    struct async_track *asyncs;
    size_t asyncs_n, asyncs_capacity; /* index 0 means no track */
    struct pair_map async_index; /* (process or task and category, id) to the innermost track */
    struct pair_map async_by_id; /* (category, id) to the same track, for ends elsewhere */
    struct pair_map async_free;
    struct pair_map flows; /* (category, name and input, id) to the number of an open flow */
    uint32_t next_flow;

    struct schedule schedule; /* states of all threads but idle ones */
    struct table cpus;        /* struct idle_state per CPU that switched threads */
    size_t cpus_n;
    struct pair_map cpu_index; /* (CPU number, 0) to index in `cpus` */

    uint64_t *stack; /* current call stack: addresses, which are replaced by iids of frames */
    size_t stack_n, stack_capacity;
    bool is_stack_timed; /* some frame of the stack depends on the time */
    uint32_t symbols_n;  /* number of symbols in the context when addresses were last looked up */
    /* iids of mappings by address and module; of frames by address, and by what was found there; of
     * call stacks by addresses, and by frames */
    struct pair_map mappings, frames, resolved_frames, stacks, callstacks;
    ttr_id unknown_text;
    struct slice_track nowhere, objects, gaps;

    uint64_t *seen; /* names used so far in the open objects; a repeated name gets a number */
    size_t seen_n, seen_capacity;
    /* maps (object, name) to the number of uses; only for objects with many fields */
    struct key_map name_counts;
    uint32_t objects_n; /* number of objects in the current event so far */
    ttr_id keys[21];    /* interned attribute names, indexed by enum attribute_key */
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

/* Begin and end a packet with a track descriptor, in a separate sequence: readers attribute events
 * to the thread that was described last in their sequence. */
size_t perfetto_begin_descriptor(struct perfetto *p);
void perfetto_end_descriptor(struct perfetto *p, size_t mark);

/* Begins a packet with a track event on track `uuid`. The caller must add the name. `type` 0: the
 * caller adds a legacy event. */
struct open_event perfetto_begin_event(struct perfetto *p, int64_t time, unsigned type,
                                       uint64_t uuid);
void perfetto_end_event(struct perfetto *p, struct open_event open);

/* Slow path of perfetto_intern(): assigns an id, or adds the string to the dictionary. */
uint32_t perfetto_intern_new(struct perfetto *p, ttr_id id, enum dictionary dictionary);

/* Returns the interning id of a string, never 0. Adds the string to the packet if the dictionary
 * does not contain it. */
static inline uint32_t perfetto_intern(struct perfetto *p, ttr_id id, enum dictionary dictionary)
{
    const struct string_use *uses = p->strings.items;
    if (id >= p->strings.n || !(uses[id].in & 1u << dictionary) || uses[id].is_broken)
        return perfetto_intern_new(p, id, dictionary);
    p->flags |= SEQUENCE_NEEDED;
    return uses[id].iid;
}

/* Initialize and free the maps of interned mappings, frames and call stacks. */
void perfetto_init_interning(struct perfetto *p);
void perfetto_free_interning(struct perfetto *p);

/* Returns an unused interning id for an entry that is not a string. */
uint32_t perfetto_new_iid(struct perfetto *p);

/* Appends a text as a string field. Replaces bytes that are not UTF-8 by U+FFFD, and counts a loss.
 */
void perfetto_append_text(struct perfetto *p, struct buffer *to, uint32_t field, ttr_text text);

/* Returns the interning state of a string; NULL if memory is exhausted. */
struct string_use *perfetto_string_properties(struct perfetto *p, ttr_id id);

/* Returns item `index`, and grows the table if needed. If memory is exhausted, sets the buffer's
 * `failed` and returns NULL. */
void *perfetto_table_item(struct perfetto *p, struct table *table, size_t index, size_t size);

static inline void perfetto_count_loss(struct perfetto *p, enum perfetto_loss loss)
{
    output_count_loss(p->out, loss, p->offset);
}

/* --- perfetto_tracks.c: tracks and their descriptors --- */

/* A pid or tid that is replaced by another number in the output, since the format cannot store it.
 */
struct renumbered {
    const char *what; /* "pid" or "tid", for the text */
    uint64_t real, written;
};

/* Appends a name as a string field. If the id was replaced in the output, appends the real id:
 * "worker (tid 9223372036854775817)". */
void perfetto_add_name(struct perfetto *p, uint32_t field, ttr_id name,
                       const struct renumbered *number);

/* Return the state of a process or thread; its descriptor with the current names has been written.
 * Return NULL if memory is exhausted. */
struct process_state *perfetto_describe_process(struct perfetto *p, uint32_t index);
struct thread_state *perfetto_describe_thread(struct perfetto *p, ttr_id id);

/* Returns the state of a thread, and assigns its tid and pid in the output. Writes no descriptor.
 */
struct thread_state *perfetto_assign_thread_ids(struct perfetto *p, ttr_id id);

/* Returns the slice track of an event's thread, and writes its descriptor if needed. Returns NULL
 * if memory is exhausted. */
struct slice_track *perfetto_get_slice_track(struct perfetto *p, const ttr_event *event);

/* Returns a track with a fixed name, for events without a thread. */
struct slice_track *perfetto_get_global_track(struct perfetto *p, struct slice_track *slice_track,
                                              const char *name);

/* Returns the uuid of the track for a span: the track of the thread, or its second track if the
 * span does not nest with earlier ones. */
uint64_t perfetto_choose_span_track(struct perfetto *p, struct slice_track *slice_track,
                                    int64_t begin, int64_t end);

/* Returns the track for one field of a counter event. */
struct counter_track *perfetto_get_counter_track(struct perfetto *p, const ttr_event *event,
                                                 const ttr_field *field);

/* Initializes the track tables. */
void perfetto_init_tracks(struct perfetto *p);

/* Writes new descriptors for all tracks that were renamed after their last descriptor. */
void perfetto_describe_renamed_tracks(struct perfetto *p);
void perfetto_free_tracks(struct perfetto *p);

/* Return the state of an event's process; its descriptor is written. NULL if it has none. */
const struct process_state *perfetto_find_event_process(struct perfetto *p, const ttr_event *event);

/* Returns the process index of an event's thread, UINT32_MAX if it has none. */
static inline uint32_t perfetto_process_index(const struct perfetto *p, ttr_id thread)
{
    const ttr *t = p->out->t;
    return thread && thread < t->threads_n ? t->threads[thread].process : UINT32_MAX;
}

/* Adds the provider to a track descriptor unless it is the provider of the process. */
void perfetto_add_provider(struct perfetto *p, const struct process_state *process,
                           ttr_id provider);

/* Returns whether a span of a track contains a time, so that a flow can be attached to it. */
bool perfetto_has_open_slice(const struct slice_track *slice_track, int64_t time);

/* --- perfetto_async.c: tracks of async events, flows --- */

/* Returns the track of an async event. `change` is +1 for a begin, -1 for an end, else 0. Returns
 * NULL for an end without a begin, or if memory is exhausted. */
struct async_track *perfetto_get_async_track(struct perfetto *p, const ttr_event *event,
                                             int change);

/* Returns the number of the flow that an event belongs to; 0 = no begin precedes it. */
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

/* Appends all fields as debug annotations. `skip`: a top-level field that is not appended, or NULL.
 * Fields of bytes are truncated to `most` bytes. */
void perfetto_add_fields(struct perfetto *p, const ttr_event *event, const char *skip, size_t most);

/* Appends the attributes of an event that differ from those of its track. Also resets the names
 * used in the event. */
void perfetto_add_event_attributes(struct perfetto *p, const ttr_event *event,
                                   const struct slice_track *slice_track);
void perfetto_add_u64(struct perfetto *p, enum attribute_key key, uint64_t value);
void perfetto_add_pointer(struct perfetto *p, enum attribute_key key, uint64_t value);
void perfetto_add_word(struct perfetto *p, enum attribute_key key, const char *word);
void perfetto_add_thread(struct perfetto *p, ttr_id thread);

/* Returns the number of attributes of an event that are lost in a packet without annotations; name
 * and category are not included. */
unsigned perfetto_count_lost_attributes(const struct perfetto *p, const ttr_event *event);

/* Counts losses for the attributes and `fields` fields that scheduling and sample packets cannot
 * store. */
void perfetto_count_lost_parts(struct perfetto *p, const ttr_event *event, enum perfetto_loss loss,
                               unsigned fields);

/* Interns the names of attributes. Returns false if memory is exhausted. */
bool perfetto_intern_attribute_keys(struct perfetto *p);

/* --- perfetto_sched.c: scheduling --- */

/* Write scheduling packets. Return false, and write nothing, if the event must be written as an
 * instant instead. */
bool perfetto_write_switch(struct perfetto *p, const ttr_event *event);
bool perfetto_write_wake(struct perfetto *p, const ttr_event *event);

/* Returns the word for a ttr_thread_state: "blocked"; NULL for an unknown number. */
const char *perfetto_thread_state_word(unsigned state);

void perfetto_init_sched(struct perfetto *p);
void perfetto_free_sched(struct perfetto *p);

/* --- perfetto_frames.c: call stacks, stack samples --- */

/* Writes a sample. Returns false, and writes nothing, if it has no stack. */
bool perfetto_write_sample(struct perfetto *p, const ttr_event *event);

/* Writes the stack of an event, if it has one, as a sample of a thread. */
void perfetto_write_event_stack(struct perfetto *p, const ttr_event *event, ttr_id thread);

/* Returns the interning id of the call stack of an event; 0 if it has none. */
uint32_t perfetto_intern_event_stack(struct perfetto *p, const ttr_event *event);

/* Returns false if memory is exhausted. */
bool perfetto_init_frames(struct perfetto *p);

void perfetto_free_frames(struct perfetto *p);

/* --- perfetto_write.c: one event of each kind --- */

void perfetto_write_event(struct perfetto *p, const ttr_event *event);

#endif
