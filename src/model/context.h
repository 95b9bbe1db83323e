/* The context: state shared by all readers and writers of one `ttr`.
 *
 * Append-only tables of strings, processes, threads, tracks, sources and schemas. An id is an index
 * and never changes its meaning; only details are added later (names, the pid of a thread). Thread
 * rule: one thread at a time. */
#ifndef TRACETTA_MODEL_CONTEXT_H
#define TRACETTA_MODEL_CONTEXT_H

#include <tracetta/advanced.h>
#include <tracetta/fields.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include <pthread.h>

#include "base/alloc.h"
#include "base/endian.h"
#include "base/intern.h"
#include "base/pair_map.h"
#include "model/symbols.h"

struct descriptor_pool;
struct type;

/* Data that a format computed for one input, for example parsed metadata, and offers to other
 * inputs of the context. The input embeds this struct in its data and withdraws the offer before
 * freeing them. */
struct offer {
    struct offer *next;
    const void *of; /* the struct format that published the offer */
    uint64_t key;   /* hash of the input data that the result was computed from */
};

#define OFFER_CHAINS 256u /* number of hash chains */

/* Cache of the fields of one schema's events. Names and types stay in memory between events; only
 * the values are written per event. */
struct field_cache {
    ttr_field *field;
    uint32_t n; /* number of elements that `field` has room for */
    /* names and types in `field` are set; done by field_ops.decode_cached */
    bool is_prepared;
    bool is_full; /* an event had more fields than `n` */
};

/* A field that is stored at the same place in all events of a schema. */
struct field_position {
    uint32_t offset; /* bytes from the address that field_ops.record returns */
    uint32_t bytes;  /* 1, 2, 4 or 8 of a number; size of a text, which ends at a zero */
    bool is_text, is_signed, is_big_endian;
};

/* Functions that decode the fields of events of a schema; implemented in the format's folder. */
struct field_ops {
    void (*begin)(
        /* starts an iteration; may set fields->state; not called if schema.start is not NULL */
        ttr_fields *fields);
    /* returns the next field; sets each member of *field, to 0 if not used */
    bool (*next)(ttr_fields *fields, ttr_field *field);
    /* Writes up to `room` > 0 fields and returns their number. Returns fewer only after the last
     * field, or after a field with several labels. May set fields->ops to NULL after the last
     * field. NULL = the caller calls `next` instead. */
    uint32_t (*decode_batch)(ttr_fields *fields, ttr_field *field, uint32_t room);
    /* Decodes all fields of an event into the cache, before iteration has begun, and returns their
     * number. Sets fields->ops to NULL if that was all; otherwise iteration continues with the
     * remaining fields. Returns 0 if it decoded nothing. NULL = not supported. */
    uint32_t (*decode_cached)(ttr_fields *fields, struct field_cache *held);
    /* Starts an iteration over the fields of the event's packet or event header. NULL = the format
     * has neither. */
    void (*begin_group)(ttr_fields *fields, ttr_group group);
    /* Returns the number of the event's packet, counted from 1 per source; 0 = the event is not in
     * a packet. NULL = the format has no packets. */
    uint64_t (*packet)(const void *ctx, const ttr_event *event);
    /* Returns label i of the enumerated value that was returned last. NULL = a value has no other
     * label than value->text. */
    bool (*label)(const ttr_fields *fields, const ttr_value *value, uint32_t i, ttr_text *label);
    /* Returns the stack of an event with `stack` != 0, as ttr_event_frames does. NULL = events have
     * no stack other than in their fields. */
    uint32_t (*frames)(const void *ctx, const ttr_event *event, uint64_t *addresses, uint32_t room);
    /* Returns the stack of an event without copying it, as ttr_event_stack does. NULL = not
     * supported. */
    const uint64_t *(*stack)(const void *ctx, const ttr_event *event, uint32_t *n);
    /* Returns the declared type of the field that was returned last, or NULL if none is declared.
     * The member is NULL if no field has a declared type. */
    const struct type *(*type)(const ttr_fields *fields);
    /* Returns true if the fixed-size text that `next` returned last has nonzero bytes after its
     * terminating zero. NULL = no field has such bytes. */
    bool (*has_bytes_after_end)(const ttr_fields *fields, const ttr_value *text);
    /* Finds a top-level field by its displayed name. Returns false if the schema has no such field,
     * or if its position, size or type differ between events or are not those of struct
     * field_position. NULL = not supported. */
    bool (*locate)(const void *ctx, ttr_group group, ttr_text name,
                   struct field_position *position);
    /* Returns the address of an event's record that positions of `locate` refer to, and the number
     * of its bytes. NULL = not supported. */
    const uint8_t *(*record)(const void *ctx, const ttr_event *event, size_t *n);
};

/* Loads a number from a record of `n` bytes. Returns false if the record is too short. */
static inline bool field_position_load(const struct field_position *position, const uint8_t *record,
                                       size_t n, uint64_t *value)
{
    const uint8_t *p = record + position->offset;
    if (position->bytes > n || position->offset > n - position->bytes)
        return false;
    switch (position->bytes) {
    case 1:
        *value = position->is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
        return true;
    case 2:
        *value = position->is_big_endian ? load_u16be(p) : load_u16le(p);
        *value = position->is_signed ? (uint64_t)(int64_t)(int16_t)*value : *value;
        return true;
    case 4:
        *value = position->is_big_endian ? load_u32be(p) : load_u32le(p);
        *value = position->is_signed ? (uint64_t)(int64_t)(int32_t)*value : *value;
        return true;
    default:
        *value = position->is_big_endian ? load_u64be(p) : load_u64le(p);
        return true;
    }
}

/* Zeroes a field and sets its name to the empty text. Uses vector stores, because compilers emit
 * slower code for a struct assignment. */
static inline void field_clear(ttr_field *field)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(sizeof(ttr_field) == 4 * sizeof(lanes), "a field is four vectors");
    lanes *part = (lanes *)field;
    const lanes zero = {0, 0};
    part[0] = zero, part[1] = zero, part[2] = zero, part[3] = zero;
    field->name.p = "";
}

/* Declared properties of an event class. Owned by the reader; lives as long as the schema. */
struct event_class {
    ttr_text name;          /* "" = none */
    uint64_t id, stream_id; /* ids of the class and of its stream class */
    ttr_text stream_name;   /* name of the stream class, "" = none */
    uint8_t level;          /* ttr_level */
    /* declared types, indexed by enum type_root; NULL = events have no such root */
    const struct type *root[6];
    bool has_log_level, has_clock, has_version;
    uint32_t version;              /* version of the class, if has_version */
    int64_t log_level;             /* log level, if has_log_level, in the format's own numbering */
    ttr_text emf_uri;              /* Eclipse Modeling Framework URI; "" = none */
    ttr_text message, description; /* human-readable; "" or NULL = none */
};

struct schema {
    const struct field_ops *ops;
    const void *ctx; /* data of the reader that the functions of `ops` use */
    /* initial fields->state[0] of an iteration; NULL = ops->begin sets the state */
    const void *start;
    uint64_t start_with; /* initial fields->state[1] of an iteration */
    /* the struct format with a writer that can copy the raw records of these events; NULL = none */
    const void *format;
    /* declared properties of the events; NULL = undeclared */
    const struct event_class *event_class;
    /* schema of the original events, for copies and for events with added fields; 0 = none */
    ttr_id base_schema;
    ttr_id packed; /* schema for copies of these events; 0 = not created yet */
    /* name of these events in the trace, if a stage gives them other names; 0 = unchanged */
    ttr_id class_name;
    bool has_number; /* the provider numbers its events: number `number`, version `version` */
    uint32_t number, version;
    /* the trace has human-readable texts for these events, outside of the events */
    bool has_texts;
    bool has_packet; /* copies contain the fields of their packet first (event_copy.h) */
};

struct process {
    uint64_t pid;
    ttr_id name;
    uint32_t parent; /* index + 1 of the process it was forked from, 0 = unknown */
    int64_t forked;  /* time of that fork in ns; valid if `parent` is not 0 */
    uint16_t source;
};

struct thread {
    uint64_t tid;
    uint32_t process; /* index in ttr.processes */
    ttr_id name;
    uint16_t source;
    bool pid_known, tid_known;
};

/* Meaning of the times of a source: SOURCE_UNKNOWN if some of its clocks are anchored and others
 * are not, or if it has none. */
enum source_clock { SOURCE_UNKNOWN, SOURCE_UNIX_TIME, SOURCE_OWN_TIME };

struct source_entry {
    ttr_id path;
    ttr_id trace_path; /* path of the trace that the source is part of */
    const char *format;
    struct pair_map processes;      /* (pid, 0) to process index */
    struct pair_map threads;        /* (pid, tid) to thread id */
    struct pair_map threads_by_tid; /* (tid, 0) to the id of the last thread seen with that tid */
    struct pair_map names_by_tid;   /* (tid, 0) to string id */
    /* index + 1 of the pseudo process with mappings that all processes share (the kernel); 0 = none
     */
    uint32_t kernel;
    ttr_attribute *attributes;
    size_t attributes_n, attributes_capacity;
    uint8_t clock;   /* enum source_clock */
    uint16_t shares; /* source that also lists this one's attributes; 0 = none */
    /* position of the input in the merge that reads it; name changes of equal time apply in this
     * order (model/pending_names.h) */
    uint32_t merge_position;
    /* position among all sources of a merge, set by reader_assign_ranks; until then the source's
     * id */
    uint32_t rank;
};

struct ttr {
    struct alloc alloc;   /* the caller's allocator, or malloc if there is none */
    struct alloc counted; /* allocator for the library's objects; enforces max_memory */
    uint64_t memory, max_memory;
    uint64_t max_temporary; /* limit of each temporary file in bytes; 0 = by the free space */
    ttr_progress progress;  /* callback set by ttr_progress_set; may be NULL */
    void *progress_ctx;
    /* limit of open files, for traces that consist of many files */
    struct descriptor_pool *descriptor_pool;
    struct intern strings;
    struct process *processes;
    size_t processes_n, processes_capacity;
    struct thread *threads; /* [0] is unused: id 0 = no thread */
    size_t threads_n, threads_capacity;
    /* number of name changes of processes and threads so far; a cached name is valid while it is
     * unchanged */
    uint32_t name_change_count;
    ttr_track *tracks; /* [0] is unused: id 0 = no track */
    size_t tracks_n, tracks_capacity;
    /* [0] is unused: id 0 = no fields; [1] is SCHEMA_EVENT_COPY, for events from a builder */
    struct schema *schemas;
    size_t schemas_n, schemas_capacity;
    struct source_entry *sources; /* inputs; [0] is the application, the source of events from a
                                   * builder */
    size_t sources_n, sources_capacity;
    size_t traces_n; /* number of traces; the sources of one trace count once */
    struct symbols symbols;
    ttr_symbolizer locate; /* callback set by ttr_set_symbolizer; may be NULL */
    void *locate_ctx;
    struct offer *offers[OFFER_CHAINS]; /* hash table of published offers, by key */
};

#define SCHEMA_EVENT_COPY 1u

/* Calls the progress callback. Returns false if it asks to cancel. */
static inline bool context_should_continue(const ttr *t)
{
    return !t->progress || t->progress(t->progress_ctx);
}

/* Makes a context share the descriptor pool of context `with`, which must outlive it. Call before
 * opening inputs. */
void context_share_descriptor_pool(ttr *t, const ttr *with);

/* Publish an offer, withdraw it, or find one by format and key. context_find_offer returns NULL if
 * there is none. The key is a hash, so the format must also compare the data. */
void context_publish_offer(ttr *t, struct offer *offer);
void context_withdraw_offer(ttr *t, const struct offer *offer);
struct offer *context_find_offer(const ttr *t, const void *of, uint64_t key);

/* Adds an input. Returns its id, or UINT16_MAX if memory or ids run out. */
TTR_MUST uint16_t context_add_source(ttr *t, const char *path, const char *format);

/* Adds an attribute; copies its texts. Returns false if memory runs out. */
TTR_MUST bool context_add_attribute(ttr *t, uint16_t source, const char *name,
                                    const ttr_value *value);

/* Adds an attribute with texts that live as long as the context: interned, or constants. */
TTR_MUST bool context_add_interned_attribute(ttr *t, uint16_t source,
                                             const ttr_attribute *attribute);

/* Makes `source` belong to the same trace as `from` and inherit the trace's attributes. Call at
 * most once per source; `from` must be the first source of its trace. */
void context_share_attributes(ttr *t, uint16_t source, uint16_t from);

/* Sets the trace path of a source. Call before context_share_attributes adds other sources to its
 * trace. Returns false if memory runs out. */
TTR_MUST bool context_name_trace(ttr *t, uint16_t source, const char *path);

/* Returns the thread of a process; adds it if it is new. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_thread(ttr *t, uint16_t source, uint64_t pid, uint64_t tid);

/* Returns the last thread that used a tid. If there is none, adds one with a pid that may become
 * known later. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_thread_by_tid(ttr *t, uint16_t source, uint64_t tid);

/* Adds a thread without a known tid; each call adds another one. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_add_unnumbered_thread(ttr *t, uint16_t source, uint64_t pid);

/* Returns the pseudo thread that represents a process. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_process_thread(ttr *t, uint16_t source, uint64_t pid);

/* Adds a thread of process 0 with tid 0, which lookups by number do not find: the idle thread of a
 * CPU. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_add_idle_thread(ttr *t, uint16_t source);

/* Ends the use of a tid: the next lookup adds another thread with that number. */
void context_release_tid(ttr *t, uint16_t source, ttr_id thread);

/* Sets the process that a thread's process was forked from. */
void context_set_parent(ttr *t, ttr_id thread, ttr_id parent);

/* Set the name of a process, or of every thread with a tid. Return false if memory runs out. */
TTR_MUST bool context_name_process(ttr *t, uint16_t source, uint64_t pid, ttr_id name);
TTR_MUST bool context_name_tid(ttr *t, uint16_t source, uint64_t tid, ttr_id name);

/* Set the name of a thread, or of the process of a thread, for all events that are read later. If
 * names change between events, use input_add_name_change instead. */
void context_name_thread(ttr *t, ttr_id thread, ttr_id name);
void context_name_process_of_thread(ttr *t, ttr_id thread, ttr_id name);

/* Adds a track. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_add_track(ttr *t, const ttr_track *track);

/* context_add_schema returns the id of a new schema, or 0 if memory runs out. context_drop_schema
 * removes the schema's functions when its reader is closed. */
TTR_MUST ttr_id context_add_schema(ttr *t, const struct schema *schema);
void context_drop_schema(ttr *t, ttr_id schema);

/* Sets the provider's event number and version for a schema. */
void context_set_event_number(ttr *t, ttr_id schema, uint32_t number, uint32_t version);

/* Returns the schema for copies of events of a schema, with the same event class. Returns 0 if
 * memory runs out. */
TTR_MUST ttr_id context_copy_schema(ttr *t, ttr_id schema);

/* Returns the trace path to print with the events of a source, or 0 if the context has only one
 * trace. */
static inline ttr_id context_displayed_path(const ttr *t, uint16_t source)
{
    return t->traces_n > 1 && source < t->sources_n ? t->sources[source].trace_path : 0;
}

/* Times above this (1970-04-15 in Unix time) are probably Unix times: no machine has that uptime.
 * In nanoseconds. */
#define CONTEXT_UNIX_TIME_MIN INT64_C(9000000000000000)

/* Returns whether an event's time counts from the Unix epoch. The clock of its source decides; if
 * that is unknown, as for events of the program, the size of the number. */
static inline bool context_has_unix_time(const ttr *t, const ttr_event *event)
{
    uint8_t clock = event->source < t->sources_n ? t->sources[event->source].clock : 0;
    return clock == SOURCE_UNKNOWN
               ? event->time > CONTEXT_UNIX_TIME_MIN || event->time < -CONTEXT_UNIX_TIME_MIN
               : clock == SOURCE_UNIX_TIME;
}

static inline const struct schema *context_schema(const ttr *t, ttr_id id)
{
    return &t->schemas[id < t->schemas_n ? id : 0];
}

/* Starts an iteration like ttr_fields_begin, for a caller that has found the event's schema. */
static inline void fields_begin_with_schema(ttr_fields *fields, const struct schema *schema,
                                            const ttr_event *event)
{
    fields->event = event;
    fields->ops = schema->ops;
    fields->ctx = schema->ctx;
    if (schema->start) {
        fields->state[0] = (uintptr_t)schema->start;
        fields->state[1] = schema->start_with;
    } else if (schema->ops) {
        schema->ops->begin(fields);
    }
}

/* Returns true for a value with several labels. A batch of fields ends after it, because labels can
 * only be queried for the last field returned. */
static inline bool field_has_labels(const ttr_value *value)
{
    return value->count > 1 &&
           (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS);
}

/* Returns the iteration that decoded the last event of a field buffer, for queries of labels and
 * types. */
const ttr_fields *field_buffer_iter(const ttr_field_buffer *buffer);

/* Returns the declared type of the field that ttr_fields_next just returned; NULL = undeclared. */
static inline const struct type *fields_declared_type(const ttr_fields *fields)
{
    const struct field_ops *ops = fields->ops;
    return ops && ops->type ? ops->type(fields) : NULL;
}

/* Returns true if the text that was returned last has nonzero bytes after its terminating zero.
 * Returns false if the value is not a text. */
static inline bool text_has_bytes_after_end(const ttr_fields *fields, const ttr_value *value)
{
    const struct field_ops *ops = fields->ops;
    return value->type == TTR_TYPE_TEXT && ops && ops->has_bytes_after_end &&
           ops->has_bytes_after_end(fields, value);
}

#endif
