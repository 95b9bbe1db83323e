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

/* Data that a format computed for one input and that other inputs of the context may share, for
 * example parsed metadata. Embedded in the owner's object; the owner withdraws it before it frees
 * that object. */
struct offer {
    struct offer *next;
    const void *of; /* the struct format */
    uint64_t key;   /* hash of the data it was computed from */
};

#define OFFER_CHAINS 256u /* hash chains of offers */

/* Cached fields of the events of one schema. They stay in memory from one event to the next, so
 * that only the values are written. */
struct field_cache {
    ttr_field *field;
    uint32_t n;       /* capacity of `field` */
    bool is_prepared; /* `field` holds the parts that all events share; set by field_ops.hold */
    bool is_full;     /* an event had more fields than fit */
};

/* Decoder of the fields of one kind of payload; implemented in the format's folder. */
struct field_ops {
    void (*begin)(
        ttr_fields *fields); /* may fill fields->state; not called if the schema has a `start` */
    bool (*next)(ttr_fields *fields, ttr_field *field); /* zeroes all other parts of *field */
    /* Writes up to `room` > 0 fields and returns how many. Returns fewer at the end, or after a
     * field with several labels. NULL: `next` is called for each field. */
    uint32_t (*take)(ttr_fields *fields, ttr_field *field, uint32_t room);
    /* Writes the fields of an event whose iteration has not begun, and returns how many. Sets
     * fields->ops to NULL if these are all; otherwise iteration continues after them. 0 = nothing
     * was written, iteration starts with the first field. NULL: not supported. */
    uint32_t (*hold)(ttr_fields *fields, struct field_cache *held);
    /* Like begin, for the group PACKET or HEADER. NULL: the format has neither. */
    void (*begin_group)(ttr_fields *fields, ttr_group group);
    /* Returns the number of the event's packet, from 1, unique in its source. NULL, 0: the format
     * has no packets. */
    uint64_t (*packet)(const void *ctx, const ttr_event *event);
    /* Returns label i of the enumerated value just returned. NULL: value->text is the only label.
     */
    bool (*label)(const ttr_fields *fields, const ttr_value *value, uint32_t i, ttr_text *label);
    /* Returns the stack of an event with `stack` != 0, as ttr_event_frames does. NULL: the format
     * has no stacks apart from fields. */
    uint32_t (*frames)(const void *ctx, const ttr_event *event, uint64_t *addresses, uint32_t room);
    /* Returns the same stack without copying, as ttr_event_stack does. NULL: not possible. */
    const uint64_t *(*stack)(const void *ctx, const ttr_event *event, uint32_t *n);
    /* Returns the declared type of the field just returned, NULL = undeclared. NULL: no field has a
     * type. */
    const struct type *(*type)(const ttr_fields *fields);
    /* Returns true if the room of the text just returned contains other bytes than zeros after the
     * text's end. For fields returned by `next`. NULL: unknown, treated as false. */
    bool (*goes_on)(const ttr_fields *fields, const ttr_value *text);
};

/* Zeroes a field and sets its name to the empty text. Uses vectors, because compilers do not for a
 * struct assignment. */
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
    /* declared types by enum type_root; NULL = the events lack that root */
    const struct type *root[6];
    bool has_log_level, has_clock, has_version;
    uint32_t version;              /* version of the class, if has_version */
    int64_t log_level;             /* in the format's own numbering */
    ttr_text emf_uri;              /* Eclipse Modeling Framework URI; "" = none */
    ttr_text message, description; /* human-readable; "" or NULL = none */
};

struct schema {
    const struct field_ops *ops;
    const void *ctx; /* tables of the reader that `ops` needs */
    /* initial fields->state[0] of an iteration; NULL = ops->begin sets the state */
    const void *start;
    uint64_t start_with; /* initial fields->state[1] */
    const void *format;  /* the struct format whose raw records these events are, or NULL */
    const struct event_class
        *event_class; /* declared properties of the events; NULL = undeclared */
    /* schema of the original events if these have added fields or are copies; 0 = none */
    ttr_id beneath;
    ttr_id packed;   /* schema for copies of these events; 0 = not created yet */
    bool has_number; /* the provider numbers its events: number `number`, version `version` */
    uint32_t number, version;
    bool has_texts;  /* the trace has human-readable texts about these events outside of them */
    bool has_packet; /* copies contain the fields of their packet before their own (event_copy.h) */
};

struct process {
    uint64_t pid;
    ttr_id name;
    uint32_t parent; /* index + 1 of the process it was forked from, 0 = unknown */
    uint16_t source;
};

struct thread {
    uint64_t tid;
    uint32_t process; /* index in ttr.processes */
    ttr_id name;
    uint16_t source;
    bool pid_known, tid_known;
};

struct source_entry {
    ttr_id path;
    ttr_id trace_path; /* path of the trace that the source is part of */
    const char *format;
    struct pair_map processes;      /* (pid, 0) to process index */
    struct pair_map threads;        /* (pid, tid) to thread id */
    struct pair_map threads_by_tid; /* (tid, 0) to the thread id last seen with that tid */
    struct pair_map names_by_tid;   /* (tid, 0) to string id */
    /* index + 1 of the process that holds the mappings shared by all processes (the kernel), 0 =
     * none */
    uint32_t kernel;
    ttr_attribute *attributes;
    size_t attributes_n, attributes_capacity;
    uint16_t shares; /* source whose attributes also apply to this one, 0 = none */
    /* position among the inputs that are merged with it; orders names at equal times
     * (model/pending_names.h) */
    uint32_t lane;
    /* position among all inputs below a merging reader, set by reader_assign_ranks; initially the
     * source's number */
    uint32_t rank;
};

struct ttr {
    struct alloc alloc;   /* the caller's allocator, or the default */
    struct alloc counted; /* allocator of the library; counts against max_memory */
    uint64_t memory, max_memory;
    ttr_progress progress; /* see ttr_progress_set; may be NULL */
    void *progress_ctx;
    /* shared pool of file descriptors for traces of many files, in folders */
    struct descriptor_pool *descriptor_pool;
    struct intern strings;
    struct process *processes;
    size_t processes_n, processes_capacity;
    struct thread *threads; /* [0] is unused: id 0 = no thread */
    size_t threads_n, threads_capacity;
    /* number of name changes of processes and threads; while it is the same, cached names are valid
     */
    uint32_t name_change_count;
    ttr_track *tracks; /* [0] is unused: id 0 = no track */
    size_t tracks_n, tracks_capacity;
    struct schema *schemas; /* [0] is unused: id 0 = no fields; [1] is SCHEMA_EVENT_COPY */
    size_t schemas_n, schemas_capacity;
    struct source_entry *sources; /* [0] is the program: events built by hand */
    size_t sources_n, sources_capacity;
    size_t traces_n; /* number of traces; several sources may be parts of one */
    struct symbols symbols;
    struct offer *offers[OFFER_CHAINS]; /* hash table by key */
};

#define SCHEMA_EVENT_COPY 1u

/* Calls the progress callback. Returns false if the program wants to cancel. */
static inline bool context_should_continue(const ttr *t)
{
    return !t->progress || t->progress(t->progress_ctx);
}

/* Makes a context use the descriptor pool of another context that outlives it. Call before opening
 * inputs. */
void context_share_descriptors(ttr *t, const ttr *with);

/* Publishes an offer, withdraws it, or finds one by format and key. context_find_offer returns NULL
 * if there is none; the format must compare the data, since the key is a hash. */
void context_publish_offer(ttr *t, struct offer *offer);
void context_withdraw_offer(ttr *t, const struct offer *offer);
struct offer *context_find_offer(const ttr *t, const void *of, uint64_t key);

/* Adds an input. Returns its id, or UINT16_MAX if memory or ids run out. */
TTR_MUST uint16_t context_add_source(ttr *t, const char *path, const char *format);

/* Adds an attribute; copies its texts. Returns false if memory runs out. */
TTR_MUST bool context_add_attribute(ttr *t, uint16_t source, const char *name,
                                    const ttr_value *value);

/* Adds an attribute whose texts live as long as the context: interned, or constants. */
TTR_MUST bool context_add_interned_attribute(ttr *t, uint16_t source,
                                             const ttr_attribute *attribute);

/* Makes a source part of the trace of `from`, whose attributes it then inherits. Call at most once
 * per source; `from` must not be a part itself. */
void context_share_attributes(ttr *t, uint16_t source, uint16_t from);

/* Sets the path of a source's trace, before other sources become parts of it. Returns false if
 * memory runs out. */
TTR_MUST bool context_name_trace(ttr *t, uint16_t source, const char *path);

/* Returns the thread of a process; adds it if it is new. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_thread(ttr *t, uint16_t source, uint64_t pid, uint64_t tid);

/* Returns the thread last seen with a tid, or adds one whose pid may be learned later. Returns 0 if
 * memory runs out. */
TTR_MUST ttr_id context_thread_by_tid(ttr *t, uint16_t source, uint64_t tid);

/* Returns the pseudo thread for a process as a whole. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_process_thread(ttr *t, uint16_t source, uint64_t pid);

/* Name a process, or every thread with a tid. Return false if memory runs out. */
TTR_MUST bool context_name_process(ttr *t, uint16_t source, uint64_t pid, ttr_id name);
TTR_MUST bool context_name_tid(ttr *t, uint16_t source, uint64_t tid, ttr_id name);

/* Name a thread, or the process of a thread. Formats whose names change between events use
 * input_add_name_change instead. */
void context_name_thread(ttr *t, ttr_id thread, ttr_id name);
void context_name_process_of_thread(ttr *t, ttr_id thread, ttr_id name);

/* Adds a track. Returns 0 if memory runs out. */
TTR_MUST ttr_id context_add_track(ttr *t, const ttr_track *track);

/* Adds a schema. Returns 0 if memory runs out. context_drop_schema removes the fields of a schema's
 * events when its reader is closed. */
TTR_MUST ttr_id context_add_schema(ttr *t, const struct schema *schema);
void context_drop_schema(ttr *t, ttr_id schema);

/* Sets the provider's event number and version for a schema. */
void context_set_event_number(ttr *t, ttr_id schema, uint32_t number, uint32_t version);

/* Returns the schema for copies of a schema's events; it keeps their event class. Returns 0 if
 * memory runs out. */
TTR_MUST ttr_id context_copy_schema(ttr *t, ttr_id schema);

/* Returns the trace path to print with the events of a source, or 0 if there is only one trace. */
static inline ttr_id context_displayed_path(const ttr *t, uint16_t source)
{
    return t->traces_n > 1 && source < t->sources_n ? t->sources[source].trace_path : 0;
}

static inline const struct schema *context_schema(const ttr *t, ttr_id id)
{
    return &t->schemas[id < t->schemas_n ? id : 0];
}

/* Starts an iteration like ttr_fields_begin, for a schema that the caller has looked up. */
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

/* Returns the iteration over the event whose fields a buffer returned last. It finds labels and
 * types. */
const ttr_fields *field_buffer_iter(const ttr_field_buffer *buffer);

/* Returns the declared type of the field that ttr_fields_next just returned; NULL = undeclared. */
static inline const struct type *fields_declared_type(const ttr_fields *fields)
{
    const struct field_ops *ops = fields->ops;
    return ops && ops->type ? ops->type(fields) : NULL;
}

/* Calls field_ops.goes_on; returns false if the value is not a text. */
static inline bool text_has_bytes_after_end(const ttr_fields *fields, const ttr_value *value)
{
    const struct field_ops *ops = fields->ops;
    return value->type == TTR_TYPE_TEXT && ops && ops->goes_on && ops->goes_on(fields, value);
}

#endif
