/* Definitions of all tables: names, columns, types and descriptions.  `tracetta query`, its manual
 * page and the documentation print them. */
#include "store/store.h"

#define INT TTR_STORE_INT
#define REAL TTR_STORE_REAL
#define TEXT TTR_STORE_TEXT

static const struct column_info event_columns[] = {
    {"id", "number of the event", INT, true},
    {"ts", "time in ns", INT, true},
    {"dur", "duration in ns of complete spans and gaps, else 0", INT, false},
    {"kind", "kind of event, as in JSON Lines", TEXT, false},
    {"category", "categories, separated by commas", TEXT, false},
    {"name", "name of the event", TEXT, false},
    {"provider", "component that wrote it", TEXT, false},
    {"utid", "thread, a row of table thread", INT, false},
    {"cpu", "processor", INT, false},
    {"level", "severity: 1 trace to 6 fatal", INT, false},
    {"source", "input, a row of table source", INT, false},
    {"offset", "byte offset in the input", INT, false},
    {"arg_set_id", "the same as id; key of table args", INT, true},
};
static const struct column_info args_columns[] = {
    {"arg_set_id", "number of the event", INT, true},
    {"key", "name of the argument", TEXT, false},
    {"int_value", "value of an integer or a boolean", INT, false},
    {"string_value", "value of a text", TEXT, false},
    {"real_value", "value of a floating-point number", REAL, false},
    {"value_type", "type of the value", TEXT, false},
};
static const struct column_info slice_columns[] = {
    {"id", "number of the slice", INT, true},
    {"ts", "start in ns", INT, true},
    {"dur", "duration in ns; -1 = it did not end; 0 for instants", INT, false},
    {"track_id", "a row of table track", INT, false},
    {"category", "categories, separated by commas", TEXT, false},
    {"name", "name; of events that start and stop a task, the name of the task", TEXT, false},
    {"depth", "number of slices around it on its track", INT, false},
    {"parent_id", "slice around it", INT, false},
    {"arg_set_id", "number of its first event; key of table args", INT, false},
    {"self_dur", "duration without the slices directly inside", INT, false},
    {"utid", "thread, a row of table thread", INT, false},
    {"tid", "thread id", INT, false},
    {"pid", "process id", INT, false},
    {"thread_name", "name of the thread", TEXT, false},
    {"process_name", "name of the process", TEXT, false},
};
#define ID                                     \
    {                                          \
        "id", "number of the track", INT, true \
    }
#define TYPE                                                                                    \
    {                                                                                           \
        "type",                                                                                 \
            "thread_track, async_track, cpu_track, counter_track, cpu_counter_track, or track", \
            TEXT, false                                                                         \
    }
#define UTID                                                \
    {                                                       \
        "utid", "thread, a row of table thread", INT, false \
    }
#define UPID                                                  \
    {                                                         \
        "upid", "process, a row of table process", INT, false \
    }
#define CPU                            \
    {                                  \
        "cpu", "processor", INT, false \
    }
static const struct column_info track_columns[] = {
    ID,
    {"name", "name of the counter, of the events of an async track, or of a track without a thread",
     TEXT, false},
    TYPE,
    UTID,
    UPID,
    CPU,
};
static const struct column_info thread_track_columns[] = {
    ID, {"name", "always NULL: table thread has the names", TEXT, false}, TYPE, UTID};
static const struct column_info process_track_columns[] = {
    ID, {"name", "name of the events", TEXT, false}, TYPE, UPID};
static const struct column_info cpu_track_columns[] = {
    ID, {"name", "name of the track", TEXT, false}, TYPE, CPU};
static const struct column_info cpu_counter_track_columns[] = {
    ID, {"name", "name of the counter", TEXT, false}, TYPE, CPU};
static const struct column_info process_counter_track_columns[] = {
    ID, {"name", "name of the counter", TEXT, false}, TYPE, UPID};
static const struct column_info thread_counter_track_columns[] = {
    ID, {"name", "name of the counter", TEXT, false}, TYPE, UTID};
static const struct column_info counter_columns[] = {
    {"id", "number of the value", INT, true},
    {"ts", "time in ns", INT, true},
    {"track_id", "a row of counter_track", INT, false},
    {"value", "value", REAL, false},
};
static const struct column_info counter_track_columns[] = {
    ID,
    {"name", "name of the counter", TEXT, false},
    TYPE,
    {"series", "name of the series", TEXT, false},
    {"counter_id", "id among the counters of that name", INT, false},
    UTID,
    UPID,
};
static const struct column_info sched_columns[] = {
    {"id", "number of the row", INT, true},
    {"ts", "start in ns", INT, true},
    {"dur", "time on the processor in ns; -1 = to the end of the trace; NULL = its end was lost",
     INT, false},
    {"cpu", "processor", INT, false},
    {"utid", "thread, a row of table thread", INT, false},
    {"end_state", "state of the thread when it left, as in thread_state", TEXT, false},
};
static const struct column_info thread_state_columns[] = {
    {"id", "number of the row", INT, true},
    {"ts", "start in ns", INT, true},
    {"dur", "duration in ns; -1 = to the end of the trace; NULL = its end was lost", INT, false},
    {"cpu", "processor of a running thread", INT, false},
    {"utid", "thread, a row of table thread", INT, false},
    {"state",
     "Running; R = runnable, R+ = preempted, S = sleeping, D = uninterruptible sleep, T = stopped, "
     "X = dead",
     TEXT, false},
    {"waker_utid", "R: thread that woke it", INT, false},
    {"waker_id", "R: row of thread_state in which the waker ran", INT, false},
};
static const struct column_info thread_columns[] = {
    {"utid", "number of the thread", INT, true},
    {"tid", "thread id", INT, false},
    {"name", "name", TEXT, false},
    {"upid", "process, a row of table process", INT, false},
    {"is_main_thread", "1 if tid and pid are equal", INT, false},
};
static const struct column_info process_columns[] = {
    {"upid", "number of the process", INT, true},
    {"pid", "process id", INT, false},
    {"name", "name", TEXT, false},
};
static const struct column_info flow_columns[] = {
    {"id", "number of the arrow", INT, true},
    {"slice_out", "slice in which it starts", INT, false},
    {"slice_in", "slice in which it ends", INT, false},
    {"trace_id", "id of the flow in the trace", INT, false},
    {"arg_set_id", "number of the event at its end; key of table args", INT, true},
};
static const struct column_info perf_sample_columns[] = {
    {"id", "number of the sample", INT, true},
    {"ts", "time in ns", INT, true},
    {"utid", "thread, a row of table thread", INT, false},
    {"cpu", "processor", INT, false},
    {"callsite_id", "innermost callsite; NULL = the stack is empty", INT, false},
    {"name", "name of the event that has the stack", TEXT, false},
    {"arg_set_id", "number of the event; key of table args", INT, true},
};
static const struct column_info stack_callsite_columns[] = {
    {"id", "number of the callsite", INT, true},
    {"depth", "number of callers", INT, false},
    {"parent_id", "callsite of the caller", INT, false},
    {"frame_id", "a row of stack_profile_frame", INT, false},
};
static const struct column_info stack_frame_columns[] = {
    {"id", "number of the frame", INT, true},
    {"name", "function, from the trace or the symbols of the file", TEXT, false},
    {"mapping", "a row of stack_profile_mapping", INT, false},
    {"rel_pc", "offset in the mapped file; an address if the file is unknown", INT, false},
    {"symbol_set_id", "rows of stack_profile_symbol; NULL = the trace names the function", INT,
     false},
};
static const struct column_info stack_symbol_columns[] = {
    {"id", "number of the symbol", INT, true},
    {"symbol_set_id", "the same as id", INT, true},
    {"name", "function, from the symbols of the mapped file", TEXT, false},
    {"source_file", "path of its source", TEXT, false},
    {"line_number", "line of the address", INT, false},
    {"inlined", "always 0: inlined functions are not listed", INT, false},
};
static const struct column_info stack_mapping_columns[] = {
    {"id", "number of the mapping", INT, true},
    {"name", "path of the file or name of the module", TEXT, false},
};
static const struct column_info class_columns[] = {
    {"id", "number of the class", INT, true},
    {"name", "name of its events", TEXT, false},
    {"provider", "component that wrote them", TEXT, false},
    {"events", "number of events; 0 = declared, but it did not occur", INT, false},
};
static const struct column_info field_columns[] = {
    {"id", "number of the field", INT, true},
    {"class_id", "a row of table class", INT, false},
    {"name", "name of the field", TEXT, false},
    {"type", "type of its first value", TEXT, false},
    {"events", "number of events with this field", INT, false},
};
static const struct column_info log_columns[] = {
    {"id", "number of the event", INT, true},
    {"ts", "time in ns", INT, true},
    {"utid", "thread, a row of table thread", INT, false},
    {"level", "severity: 1 trace to 6 fatal, 0 unknown", INT, false},
    {"message", "text", TEXT, false},
};
static const struct column_info loss_columns[] = {
    {"ts", "start of the gap in ns", INT, true},
    {"dur", "length of the gap in ns, 0 = near ts", INT, false},
    {"count", "missing events or packets; NULL = unknown", INT, false},
    {"unit", "events or packets", TEXT, false},
    {"source", "input, a row of table source", INT, false},
};
static const struct column_info source_columns[] = {
    {"id", "number of the input", INT, true},
    {"path", "path as given", TEXT, false},
    {"format", "name of the format", TEXT, false},
};

static const struct column_info bounds_columns[] = {
    {"start_ts", "time of the first event in ns", INT, true},
    {"end_ts", "time of the last event in ns", INT, false},
};
static const struct column_info metadata_columns[] = {
    {"source", "input, a row of table source", INT, false},
    {"name", "name of the attribute", TEXT, false},
    {"str_value", "its value, if it is a text", TEXT, false},
    {"int_value", "its value, if it is a number", INT, false},
};
static const struct column_info stats_columns[] = {
    {"name", "what is counted", TEXT, false},
    {"source", "input, a row of table source", INT, false},
    {"value", "number", INT, false},
};
static const struct column_info damage_columns[] = {
    {"source", "input, a row of table source", INT, false},
    {"code", "identifier of the finding", TEXT, false},
    {"severity", "remark, odd, or damage", TEXT, false},
    {"count", "occurrences", INT, false},
    {"bytes", "bytes that were not read", INT, false},
    {"offset", "byte offset of the first occurrence", INT, false},
    {"text", "description of the first occurrence", TEXT, false},
};

#define TABLE(name, description, columns)                               \
    {                                                                   \
        name, description, columns, sizeof(columns) / sizeof *(columns) \
    }
const struct table_definition store_definitions[STORE_TABLES] = {
    [STORE_EVENT] = TABLE("event", "all events, in order of the trace", event_columns),
    [STORE_ARGS] = TABLE("args", "arguments of events, a row each", args_columns),
    [STORE_SLICE] = TABLE("slice", "spans and instants with their nesting", slice_columns),
    [STORE_TRACK] = TABLE("track", "tracks of slices and counters", track_columns),
    [STORE_COUNTER] = TABLE("counter", "values of counters", counter_columns),
    [STORE_COUNTER_TRACK] = TABLE("counter_track", "series of counters", counter_track_columns),
    [STORE_THREAD_TRACK] = TABLE("thread_track", "tracks of threads", thread_track_columns),
    [STORE_PROCESS_TRACK] =
        TABLE("process_track", "async tracks of processes", process_track_columns),
    [STORE_CPU_TRACK] = TABLE("cpu_track", "interrupts of processors", cpu_track_columns),
    [STORE_CPU_COUNTER_TRACK] =
        TABLE("cpu_counter_track", "counters of processors", cpu_counter_track_columns),
    [STORE_PROCESS_COUNTER_TRACK] =
        TABLE("process_counter_track", "counters of processes and of their threads",
              process_counter_track_columns),
    [STORE_THREAD_COUNTER_TRACK] =
        TABLE("thread_counter_track", "counters of threads", thread_counter_track_columns),
    [STORE_SCHED] = TABLE("sched", "threads on processors", sched_columns),
    [STORE_THREAD_STATE] =
        TABLE("thread_state", "states of threads over time", thread_state_columns),
    [STORE_THREAD] = TABLE("thread", "threads", thread_columns),
    [STORE_PROCESS] = TABLE("process", "processes", process_columns),
    [STORE_FLOW] = TABLE("flow", "arrows between slices", flow_columns),
    [STORE_PERF_SAMPLE] = TABLE("perf_sample", "events with a stack", perf_sample_columns),
    [STORE_STACK_CALLSITE] =
        TABLE("stack_profile_callsite", "frames below their callers", stack_callsite_columns),
    [STORE_STACK_FRAME] = TABLE("stack_profile_frame", "functions by address", stack_frame_columns),
    [STORE_STACK_SYMBOL] =
        TABLE("stack_profile_symbol", "functions and lines by the symbols of files",
              stack_symbol_columns),
    [STORE_STACK_MAPPING] =
        TABLE("stack_profile_mapping", "binaries and modules", stack_mapping_columns),
    [STORE_LOG] = TABLE("log", "messages", log_columns),
    [STORE_LOSS] = TABLE("loss", "gaps: lost events and packets", loss_columns),
    [STORE_CLASS] = TABLE("class", "names of events, by provider", class_columns),
    [STORE_FIELD] = TABLE("field", "fields of the events of each class", field_columns),
    [STORE_SOURCE] = TABLE("source", "inputs", source_columns),
    [STORE_BOUNDS] = TABLE("trace_bounds", "times of the first and last event", bounds_columns),
    [STORE_METADATA] = TABLE("metadata", "attributes of the inputs", metadata_columns),
    [STORE_STATS] = TABLE("stats", "counts of each input", stats_columns),
    [STORE_DAMAGE] = TABLE("damage", "findings of the readers", damage_columns),
};
