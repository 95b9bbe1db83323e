/* Inside of the column store: columns, tables, and the builders that fill them.
 *
 * A builder is a struct of its own with three functions: one that adds its tables, one per event,
 * one at the end.  store.c calls those of the wanted tables. */
#ifndef TRACETTA_STORE_STORE_H
#define TRACETTA_STORE_STORE_H

#include <tracetta/fields.h>
#include <tracetta/store.h>

#include "base/alloc.h"
#include "base/pair_map.h"
#include "store/column.h"
#include "store/store_memory.h"
#include "store/store_slices.h"
#include "store/store_states.h"

#define STORE_COLUMNS_MAX 512u
#define TRACKS_MAX (UINT32_MAX / 2 - 1) /* of slices, and as many of counters */
#define FIELDS_CACHED 32u               /* fields of an event class with known columns */

/* --- Tables (table.c) --- */

struct column_info {
    const char *name, *description;
    uint8_t type; /* ttr_store_type */
    bool is_ordered;
};

struct table {
    const char *name, *description;
    const struct column_info *infos; /* columns that are known when the table is made */
    struct column_info *added;       /* class table: the columns of its fields */
    size_t infos_n, added_n, added_capacity;
    struct column *columns;
    size_t columns_n, columns_capacity;
    uint64_t rows;
    bool is_class, is_wanted;
    bool is_loaded;                 /* class table: a saved store contains it */
    uint16_t fields[FIELDS_CACHED]; /* class table: column of the i-th field; 0 = unknown */
};

/* Name and columns of a table. */
struct table_definition {
    const char *name, *description;
    const struct column_info *infos;
    size_t n;
};

TTR_MUST bool table_init(struct table *table, struct block_pool *pool,
                         const struct table_definition *definition);
void table_free(struct table *table, const struct alloc *alloc);

/* Appends a row with a value per column that the table was made with. */
TTR_MUST bool table_append(struct table *table, const int64_t *values);

/* Returns true if a column of the table is filled. */
static inline bool table_wants(const struct table *table, size_t column)
{
    return table->is_wanted && !table->columns[column].is_unwanted;
}

const struct column_info *table_column(const struct table *table, size_t i);

/* Returns true if the events of a name belong to a class table. */
bool store_is_name_of_class(ttr_text name, const char *table);

/* --- The store --- */

enum track_kind {
    TRACK_THREAD,
    TRACK_ASYNC, /* asynchronous slices of one id */
    TRACK_CPU,   /* interrupts of a CPU */
    TRACK_OTHER, /* slices without a thread */
    TRACK_COUNTER,
    TRACK_CPU_COUNTER
};

struct raw_track {
    int64_t latest;       /* time of the latest begin or end; INT64_MIN = none */
    int64_t latest_start; /* latest start of all slices; INT64_MIN = none */
    uint64_t counter_id;  /* counters: id among the counters of this name */
    uint32_t thread, name;
    uint32_t series;    /* counters: name of the series */
    uint32_t open;      /* index + 1 in `slices.open` of the innermost open slice; 0 = none */
    uint32_t cpu;       /* valid for TRACK_CPU and TRACK_CPU_COUNTER */
    uint8_t kind;       /* enum track_kind */
    bool is_disordered; /* a begin or end was earlier than the one before it */
};

struct raw_flow {
    int64_t ts;
    uint64_t event; /* row of the event */
    uint64_t scope, link;
    uint32_t track;
    uint32_t slice;     /* index + 1 of the enclosing slice; 0 = none */
    uint8_t kind;       /* TTR_KIND_FLOW_... */
    bool binds_to_next; /* an end that precedes the slice to which it leads */
};

struct raw_class {
    uint64_t events;
    uint32_t provider, name;
};

struct raw_field {
    uint64_t events; /* number of events that have it, once or more */
    uint64_t latest; /* number of the latest of these events among those of the class, from 1 */
    uint32_t class, name;
    uint8_t type; /* ttr_type of the first value */
};

/* Classes of events and their fields (store_classes.c). */
struct store_kinds {
    struct raw_class *classes;
    size_t classes_n, classes_capacity;
    struct raw_field *fields;
    size_t fields_n, fields_capacity;
    struct pair_map class_ids, field_ids;
};

#define STACK_FRAMES_MAX 1024u /* innermost frames of a stack; others are left out */

struct raw_frame {
    uint64_t address;
    int64_t ts; /* time of its first sample */
    uint32_t thread;
};

struct raw_callsite {
    uint32_t parent; /* index + 1 of the callsite of the caller; 0 = none */
    uint32_t frame, depth;
};

/* Stacks (store_samples.c). */
struct store_samples {
    uint32_t texts_n;         /* texts of the context that were searched for names of stacks */
    bool has_stack_fields;    /* fields of events can be stacks */
    struct pair_map searched; /* schema and name of events to the number that was searched */
    struct raw_frame *frames;
    size_t frames_n, frames_capacity;
    struct raw_callsite *callsites;
    size_t callsites_n, callsites_capacity;
    struct pair_map frame_ids, callsite_ids;
    size_t symbols_n; /* rows of stack_profile_symbol */
};

enum store_table {
    STORE_EVENT,
    STORE_ARGS,
    STORE_SLICE,
    STORE_TRACK,
    STORE_COUNTER,
    STORE_COUNTER_TRACK,
    STORE_THREAD_TRACK,
    STORE_PROCESS_TRACK,
    STORE_CPU_TRACK,
    STORE_CPU_COUNTER_TRACK,
    STORE_PROCESS_COUNTER_TRACK,
    STORE_THREAD_COUNTER_TRACK,
    STORE_SCHED,
    STORE_THREAD_STATE,
    STORE_THREAD,
    STORE_PROCESS,
    STORE_FLOW,
    STORE_PERF_SAMPLE,
    STORE_STACK_CALLSITE,
    STORE_STACK_FRAME,
    STORE_STACK_SYMBOL,
    STORE_STACK_MAPPING,
    STORE_LOG,
    STORE_LOSS,
    STORE_CLASS,
    STORE_FIELD,
    STORE_SOURCE,
    STORE_BOUNDS,
    STORE_METADATA,
    STORE_STATS,
    STORE_DAMAGE,
    STORE_TABLES
};

struct ttr_store {
    ttr *t;
    const struct alloc *alloc; /* &memory.alloc */
    struct store_memory memory;
    /* ended_pool: memory of the tables that are made at the end of the trace */
    struct block_pool pool, ended_pool;
    bool is_updating;      /* more events follow the end of the tables */
    char **wanted_columns; /* copy of options.columns; NULL = all columns */
    size_t wanted_n;
    struct table tables[STORE_TABLES];
    struct table **classes; /* tables of event classes */
    size_t classes_n, classes_capacity;
    uint32_t *class_of_name; /* class table of each name, indexed by text id: 0 = not looked up, 1 =
                                none, else index + 2 */
    size_t class_of_name_n;
    ttr_field_buffer *fields;
    uint64_t events;
    uint32_t kinds[TTR_KIND_COUNT]; /* text ids of the names of kinds */
    int64_t latest;                 /* time of the latest event */
    int64_t first, last;            /* lowest and highest time of all events */
    bool has_event_tables;          /* tables need each event: args, log or loss */
    /* kinds of events that the wanted tables need */
    bool has_slices, has_flows, has_counters, has_states, has_classes, has_samples;
    bool has_track_numbers; /* numbers of tracks are shown: they count all tracks of slices */
    bool is_disordered;     /* an event was earlier than the one before it */
    uint32_t *process_of;   /* upid + 1 of each thread, at the end of the trace; 0 = unknown */
    size_t process_of_n;
    struct store_slices slices;
    uint32_t *thread_tracks; /* number of the track of each thread, + 1; 0 = none */
    size_t thread_tracks_n;
    struct raw_track *tracks;
    size_t tracks_n, tracks_capacity;
    struct pair_map track_ids;
    struct raw_flow *flows;
    size_t flows_n, flows_capacity;
    struct store_kinds seen; /* tables class and field */
    struct store_samples samples;
    /* counters: their tracks are numbered after those of slices */
    struct raw_track *counter_tracks;
    size_t counter_tracks_n, counter_tracks_capacity;
    uint32_t counter_tracks_from; /* number of the first one in table counter */
    struct pair_map counter_ids;
    struct store_states states; /* scheduling */
    /* a loaded store */
    int file; /* descriptor, borrowed from the caller */
    struct saved_part *parts;
    size_t parts_n;
    bool is_loaded;
};

/* Values of cells. */
static inline int64_t store_text_or_null(uint32_t id)
{
    return id ? (int64_t)id : TTR_STORE_NULL;
}

static inline int64_t store_clamp(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* Returns true if options.columns has a name, or is NULL. */
bool store_wants_column(const ttr_store *store, const char *name);

/* Makes the tables that are made at the end of the trace (store_update.c). Returns false if memory
 * is exhausted. */
TTR_MUST bool store_end_tables(ttr_store *store, ttr_reader *in);
bool store_is_ended_table(size_t table);

/* Returns TTR_E_NOMEM, or the error of the temporary file. */
ttr_status store_fail_full(const ttr_store *store, ttr_error *error);

/* Builders; each returns false if memory is exhausted. */
TTR_MUST bool store_add_events(ttr_store *store, const ttr_batch *batch);
TTR_MUST bool store_add_event(ttr_store *store, const ttr_event *event);
TTR_MUST bool store_add_class_row(ttr_store *store, struct table *table, const ttr_event *event);
TTR_MUST bool store_slices_init(ttr_store *store);

/* Frees the memory of reading, after the last event. Returns false if memory is exhausted. */
TTR_MUST bool store_slices_finish(ttr_store *store);
void store_slices_free(ttr_store *store);

/* Adds the slices and flows of a batch. */
TTR_MUST bool store_add_slices(ttr_store *store, const ttr_batch *batch);

/* Adds the tracks of spans, instants and flow events, but no slices. */
TTR_MUST bool store_number_slice_tracks(ttr_store *store, const ttr_batch *batch);

TTR_MUST bool store_end_slices(ttr_store *store);

#define SLICE_OPEN (-1) /* duration of a slice without an end */

/* Returns the duration of a slice; SLICE_OPEN if it ends with all times. */
static inline int64_t store_get_duration(int64_t ts, int64_t end)
{
    return end == INT64_MAX ? SLICE_OPEN : store_clamp((uint64_t)end - (uint64_t)ts);
}

/* Adds an end to a list. Returns false if memory is exhausted. */
TTR_MUST bool store_keep_end(const ttr_store *store, struct slice_ends *ends, struct slice_end end);

/* Pairs begins and ends again on tracks that are not in order of time: sets `dur` of their slices,
 * and in `ends` the ends of these slices (store_pairing.c). Returns false if memory is exhausted.
 */
TTR_MUST bool store_pair_again(ttr_store *store, struct column *dur, struct slice_ends *ends);
bool store_has_disordered_tracks(const ttr_store *store);

/* Sort the slices (store_order.c). store_sort_ties moves only slices of equal start, within their
 * columns; store_order_slices returns the row of each slice in order, `slices.n` items. Return
 * false or NULL if memory is exhausted. */
TTR_MUST bool store_sort_ties(ttr_store *store);
TTR_MUST uint32_t *store_order_slices(ttr_store *store);

/* Copies to `rows` the order of reading of n slices from a row on, after store_sort_ties. */
void store_get_read_rows(const ttr_store *store, uint64_t row, size_t n, uint32_t *rows);

/* Adds the flow event of a row. `slices` are columns of sorted slices. */
TTR_MUST bool store_add_flow(ttr_store *store, const ttr_event *event, uint64_t row);
TTR_MUST bool store_end_flows(ttr_store *store, const struct column *slices);
TTR_MUST bool store_add_to_classes(ttr_store *store, const ttr_event *event);
TTR_MUST bool store_end_classes(ttr_store *store, ttr_reader *in);
void store_classes_init(ttr_store *store);
void store_classes_free(ttr_store *store);
TTR_MUST bool store_add_sample(ttr_store *store, const ttr_event *event);
TTR_MUST bool store_end_samples(ttr_store *store);
void store_samples_init(ttr_store *store);
void store_samples_free(ttr_store *store);
TTR_MUST bool store_end_tracks(ttr_store *store);
TTR_MUST bool store_add_counter(ttr_store *store, const ttr_event *event);
void store_end_counters(ttr_store *store);
TTR_MUST bool store_add_state(ttr_store *store, const ttr_event *event);
TTR_MUST bool store_end_states(ttr_store *store);
void store_states_init(ttr_store *store);
void store_states_free(ttr_store *store);
TTR_MUST bool store_end_threads(ttr_store *store);
TTR_MUST bool store_end_reports(ttr_store *store, ttr_reader *in);

/* Return the number of a track; UINT32_MAX if memory is exhausted (store_tracks.c). */
uint32_t store_add_thread_track(ttr_store *store, const ttr_event *event);
/* A track per provider and id: begin and end may have different names. */
uint32_t store_find_async_track(ttr_store *store, const ttr_event *event);

static inline uint32_t store_find_thread_track(ttr_store *store, const ttr_event *event)
{
    const uint32_t known = event->thread && event->thread < store->thread_tracks_n
                               ? store->thread_tracks[event->thread]
                               : 0;
    return known ? known - 1 : store_add_thread_track(store, event);
}

/* Appends a row to a table, if it is wanted. */
TTR_MUST static inline bool store_append(ttr_store *store, enum store_table table,
                                         const int64_t *row)
{
    return !store->tables[table].is_wanted || table_append(&store->tables[table], row);
}

/* Returns the upid of a thread, or TTR_STORE_NULL. Call it after store_end_threads. */
static inline int64_t store_find_process(const ttr_store *store, uint32_t thread)
{
    return thread < store->process_of_n && store->process_of[thread]
               ? (int64_t)store->process_of[thread] - 1
               : TTR_STORE_NULL;
}

extern const struct table_definition store_definitions[STORE_TABLES];
extern const struct column_info store_class_columns[];
#define STORE_CLASS_COLUMNS 5u

int64_t store_convert_real(double value);

#endif
