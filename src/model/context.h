/* The context: what all readers and writers of one `ttr` share.
 *
 * Append-only tables of strings, processes, threads, tracks, sources and schemas; ids are indices
 * and never change meaning, only more may become known about them (names, the pid of a thread).
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_MODEL_CONTEXT_H
#define TRACETTA_MODEL_CONTEXT_H

#include <tracetta/event.h>

#include <pthread.h>

#include "base/alloc.h"
#include "base/endian.h"
#include "base/intern.h"
#include "base/pair_map.h"
#include "model/symbols.h"

struct descriptor_pool;
struct type;

/* What a format has made of one input, and other inputs of the context may use too: a part of what
 * its owner made, which withdraws it before that goes. */
struct offer {
    struct offer *next;
    const void *of; /* the struct format */
    uint64_t key;   /* a hash of what it was made from */
};

#define OFFER_CHAINS 256u /* chains of them */

/* Fields of the events of one schema.  They stay in memory from one event to the next, so that only
 * values are written. */
struct field_cache {
    ttr_field *field;
    uint32_t n;       /* capacity of `field` */
    bool is_prepared; /* `field` has what all events have in common; set by field_ops.hold */
    bool is_full;     /* an event had more fields */
};

/* How the fields of a kind of payload are walked; lives in the format's folder. */
struct field_ops {
    void (*begin)(
        ttr_fields *fields); /* may fill fields->state; not called where the schema has a `start` */
    bool (*next)(ttr_fields *fields, ttr_field *field); /* all parts of *field are zeroed before */
    /* Writes the next fields, up to `room` > 0, and returns how many; fewer at the end, or after
     * one that has several labels.  NULL: `next` is called for each. */
    uint32_t (*take)(ttr_fields *fields, ttr_field *field, uint32_t room);
    /* Writes the fields of an event whose walk has not begun.  Returns how many; fields->ops is
     * NULL if these are all.  Otherwise the walk continues after them; 0 = it begins with the
     * first. NULL: the format has `take` or `next` only. */
    uint32_t (*hold)(ttr_fields *fields, struct field_cache *held);
    /* As begin, for the group PACKET or HEADER; NULL: the format has neither. */
    void (*begin_group)(ttr_fields *fields, ttr_group group);
    /* A number that all events of one packet share and no others of their source, from 1; NULL, 0:
     * there are no packets. */
    uint64_t (*packet)(const void *ctx, const ttr_event *event);
    /* The i-th name of the enumerated value just given; NULL: value->text is the only one there is.
     */
    bool (*label)(const ttr_fields *fields, const ttr_value *value, uint32_t i, ttr_text *label);
    /* The stack of an event whose `stack` is not 0, as ttr_event_frames gives it; NULL: the format
     * has no stacks beside its fields. */
    uint32_t (*frames)(const void *ctx, const ttr_event *event, uint64_t *addresses, uint32_t room);
    /* The same where they stand, as ttr_event_stack gives it; NULL: they stand nowhere so. */
    const uint64_t *(*stack)(const void *ctx, const ttr_event *event, uint32_t *n);
    /* The declared type of the field just given, NULL = has none; NULL: no field has one. */
    const struct type *(*type)(const ttr_fields *fields);
    /* Whether anything but zeros stands behind the end of the text that was given last, one by one,
     * in the room that the trace has for it; NULL: nothing is known to. */
    bool (*goes_on)(const ttr_fields *fields, const ttr_value *text);
};

/* Zeroes a field, its name being the empty text; by whole vectors, which compilers do not make of
 * an assignment. */
static inline void field_clear(ttr_field *field)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    _Static_assert(sizeof(ttr_field) == 4 * sizeof(lanes), "a field is four vectors");
    lanes *part = (lanes *)field;
    const lanes zero = {0, 0};
    part[0] = zero, part[1] = zero, part[2] = zero, part[3] = zero;
    field->name.p = "";
}

/* What a format says beforehand of all events of one class.  Belongs to the reader; lives as long
 * as the schema. */
struct event_class {
    ttr_text name;              /* "" = none */
    uint64_t id, stream_id;     /* of the class, and of its stream class */
    ttr_text stream_name;       /* of that, "" = none */
    uint8_t level;              /* ttr_level */
    const struct type *root[6]; /* enum type_root: which parts its events have, and what is in them;
                                   NULL = absent */
    bool has_log_level, has_clock, has_version;
    uint32_t version;              /* of the class, where has_version */
    int64_t log_level;             /* as the format counts */
    ttr_text emf_uri;              /* "" = none */
    ttr_text message, description; /* for people; "" or NULL = none */
};

struct schema {
    const struct field_ops *ops;
    const void *ctx;   /* tables of the reader that the walk needs */
    const void *start; /* what walks over its events begin with: fields->state[0]; NULL = ops->begin
                          does it */
    uint64_t start_with; /* fields->state[1] */
    const void *format;  /* the struct format whose raw records these are, or NULL */
    const struct event_class
        *event_class; /* what is known beforehand of events of this schema; NULL = nothing */
    ttr_id beneath;   /* the schema of the same events before something was added to them, or they
                         were copied; 0 = none */
    ttr_id packed;    /* the schema of copies of its events; 0 = not made yet */
    bool has_number;  /* the provider numbers its events: these are `number` in `version` */
    uint32_t number, version;
    bool has_texts;  /* the trace has texts for people about its events, which stand in no event */
    bool has_packet; /* copies that hold, before their own fields, what their packet says
                        (event_copy.h) */
};

struct process {
    uint64_t pid;
    ttr_id name;
    uint32_t parent; /* index + 1 of the one whose memory it began with, 0 = not told */
    uint16_t source;
};

struct thread {
    uint64_t tid;
    uint32_t process; /* index */
    ttr_id name;
    uint16_t source;
    bool pid_known, tid_known;
};

struct source_entry {
    ttr_id path;
    ttr_id trace_path; /* of the trace that it is a part of */
    const char *format;
    struct pair_map processes;      /* (pid, 0) to process index */
    struct pair_map threads;        /* (pid, tid) to thread id */
    struct pair_map threads_by_tid; /* (tid, 0) to the thread id seen last with it */
    struct pair_map names_by_tid;   /* (tid, 0) to string id */
    uint32_t kernel; /* index + 1 of the process that what is mapped in all of them is told of, 0 =
                        none */
    ttr_attribute *attributes;
    size_t attributes_n, attributes_capacity;
    uint16_t shares; /* the source whose attributes are this one's too, 0 = none */
    uint32_t lane;   /* its place among the inputs that it is put in order with; see
                        model/pending_names.h */
    uint32_t rank;   /* its place among all inputs below a reader that puts them in order, see
                        reader_assign_ranks; its number before that */
};

struct ttr {
    struct alloc alloc;   /* the caller's, or the default */
    struct alloc counted; /* what the library allocates with: counts against max_memory */
    uint64_t memory, max_memory;
    ttr_progress progress; /* see ttr_progress_set; may be NULL */
    void *progress_ctx;
    struct descriptor_pool *descriptor_pool; /* of all files that are read or written in folders:
                                        any number of them with few descriptors */
    struct intern strings;
    struct process *processes;
    size_t processes_n, processes_capacity;
    struct thread *threads; /* [0] is none */
    size_t threads_n, threads_capacity;
    uint32_t name_change_count; /* how often a process or thread got another name: who asks for
                               names again need not before that changes */
    ttr_track *tracks;          /* [0] is none */
    size_t tracks_n, tracks_capacity;
    struct schema *schemas; /* [0] is none, [1] is packed */
    size_t schemas_n, schemas_capacity;
    struct source_entry *sources; /* [0] is the caller: events built by hand */
    size_t sources_n, sources_capacity;
    size_t traces_n; /* of sources, those of one trace counted once */
    struct symbols symbols;
    struct offer *offers[OFFER_CHAINS]; /* by their keys */
};

#define SCHEMA_EVENT_COPY 1u

/* Asks who watches whether a long call should go on. */
static inline bool context_should_continue(const ttr *t)
{
    return !t->progress || t->progress(t->progress_ctx);
}

/* Lets a context whose inputs are not opened yet take its descriptors from where another one, which
 * outlives it, has them. */
void context_share_descriptors(ttr *t, const ttr *with);

/* Offers something to other inputs; ends that; and what a format offered under a key, NULL =
 * nothing.  Whether it is of the very same is for the format to see. */
void context_publish_offer(ttr *t, struct offer *offer);
void context_withdraw_offer(ttr *t, const struct offer *offer);
struct offer *context_find_offer(const ttr *t, const void *of, uint64_t key);

/* Adds an input; UINT16_MAX when memory or numbers are out. */
TTR_MUST uint16_t context_add_source(ttr *t, const char *path, const char *format);

/* Adds an attribute (texts are copied); false when memory is out. */
TTR_MUST bool context_add_attribute(ttr *t, uint16_t source, const char *name,
                                    const ttr_value *value);

/* The same where all texts live as long as the context: its own, or constants. */
TTR_MUST bool context_add_interned_attribute(ttr *t, uint16_t source,
                                             const ttr_attribute *attribute);

/* Makes a source part of the same trace as another one: attributes of `from` are its too.  At most
 * once, and `from` is no part itself. */
void context_share_attributes(ttr *t, uint16_t source, uint16_t from);

/* Names the trace of a source, before others become parts of it; false when memory is out. */
TTR_MUST bool context_name_trace(ttr *t, uint16_t source, const char *path);

/* Gives the thread of a process, added when new; 0 when memory is out. */
TTR_MUST ttr_id context_thread(ttr *t, uint16_t source, uint64_t pid, uint64_t tid);

/* Gives a thread by its tid alone: the one seen last with it, or a new one whose pid is learned
 * later; 0 = out of memory. */
TTR_MUST ttr_id context_thread_by_tid(ttr *t, uint16_t source, uint64_t tid);

/* Gives the thread that stands for a whole process; 0 = out of memory. */
TTR_MUST ttr_id context_process_thread(ttr *t, uint16_t source, uint64_t pid);

/* Names a process, or every thread with a tid.  False when memory is out. */
TTR_MUST bool context_name_process(ttr *t, uint16_t source, uint64_t pid, ttr_id name);
TTR_MUST bool context_name_tid(ttr *t, uint16_t source, uint64_t tid, ttr_id name);

/* Names one thread, or the process that it is of.  Formats that tell names between events do it by
 * input_add_name_change. */
void context_name_thread(ttr *t, ttr_id thread, ttr_id name);
void context_name_process_of_thread(ttr *t, ttr_id thread, ttr_id name);

/* Adds a track; 0 = out of memory. */
TTR_MUST ttr_id context_add_track(ttr *t, const ttr_track *track);

/* Adds a schema; 0 = out of memory.  context_drop_schema makes its events have no fields (its
 * reader is gone). */
TTR_MUST ttr_id context_add_schema(ttr *t, const struct schema *schema);
void context_drop_schema(ttr *t, ttr_id schema);

/* Says which number, in which version, the provider has for events of a schema. */
void context_set_event_number(ttr *t, ttr_id schema, uint32_t number, uint32_t version);

/* The schema of packed copies of a schema's events: where these have classes, one that knows them
 * still; 0 when memory is out. */
TTR_MUST ttr_id context_copy_schema(ttr *t, ttr_id schema);

/* The path to be told with events of a source: of its trace where there are several, else 0. */
static inline ttr_id context_displayed_path(const ttr *t, uint16_t source)
{
    return t->traces_n > 1 && source < t->sources_n ? t->sources[source].trace_path : 0;
}

static inline const struct schema *context_schema(const ttr *t, ttr_id id)
{
    return &t->schemas[id < t->schemas_n ? id : 0];
}

/* ttr_fields_begin, the event's schema being known. */
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

/* The walk over the event whose fields a buffer returned last: where its labels are found. */
const ttr_fields *field_buffer_iter(const ttr_field_buffer *buffer);

/* The declared type of the field that ttr_fields_next gave just now; NULL = has none. */
static inline const struct type *fields_declared_type(const ttr_fields *fields)
{
    const struct field_ops *ops = fields->ops;
    return ops && ops->type ? ops->type(fields) : NULL;
}

/* See field_ops.goes_on; false of what is no text. */
static inline bool text_has_bytes_after_end(const ttr_fields *fields, const ttr_value *value)
{
    const struct field_ops *ops = fields->ops;
    return value->type == TTR_TYPE_TEXT && ops && ops->goes_on && ops->goes_on(fields, value);
}

#endif
