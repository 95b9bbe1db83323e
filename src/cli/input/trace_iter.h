/* Iterates over the traces of a reader. All files and streams of a trace count as one. Ownership:
 * texts belong to the reader, as in a ttr_report. */
#ifndef TRACETTA_CLI_INPUT_TRACE_ITER_H
#define TRACETTA_CLI_INPUT_TRACE_ITER_H

#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/input/findings.h"

/* A trace: consecutive reports of a reader. */
struct trace {
    size_t first, n; /* index of the first report, and number of reports */
    uint16_t source; /* source with the attributes of the trace */
    struct findings sum;
    uint64_t packets;
    size_t lossy; /* number of streams with missing events */
    bool has_times;
    int64_t begin_ns, end_ns;
    ttr_report report; /* report of its first stream */
};

/* Advances to the next trace; a zeroed struct to the first. Returns false after the last. */
bool traces_read_next(ttr_reader *reader, struct trace *trace);

/* Iterates over traces in the order of their paths. Readers return traces in the order of UUIDs. */
struct traces_walk {
    ttr_reader *reader;
    struct trace *sorted; /* traces sorted by path; NULL if memory ran out: the reader's order is
                           * used */
    size_t n, i;
    struct trace at;
};

void traces_walk_begin(struct traces_walk *walk, ttr_reader *reader);
bool traces_walk_step(struct traces_walk *walk, struct trace *trace);
void traces_walk_end(struct traces_walk *walk);

/* Returns the number of traces. */
size_t traces_count(ttr_reader *reader);

/* Finds an attribute of a source, such as "trace.name". Returns false if it has none. */
bool traces_get_attribute(const ttr *t, uint16_t source, const char *name, ttr_value *value);

/* Orders readers like babeltrace2 for events of the same time: by the UUID of their first trace,
 * then those without one by name. If memory runs out, the order is unchanged. */
void traces_sort(const ttr *t, ttr_reader **readers, size_t n);

/* A diagnostic code with the sums over the streams of a trace. */
struct trace_note {
    /* count and bytes are sums; severity, text and offset are from the first stream with the worst
     * severity */
    ttr_diagnostic note;
    ttr_text path;          /* path of the stream that the text is from */
    size_t inputs, streams; /* number of inputs and of streams that have it */
};

#define TRACE_NOTES 64

/* Collects the diagnostics of a trace in the order of their first occurrence. Returns the number of
 * codes, at most TRACE_NOTES. */
size_t traces_collect_notes(const ttr *t, ttr_reader *reader, const struct trace *trace,
                            struct trace_note note[TRACE_NOTES]);

/* Returns true if a report describes a stream, not only metadata. */
bool traces_is_stream(const ttr *t, const ttr_report *report);

/* Returns true if the trace has diagnostics of at least this severity. */
bool traces_have_notes(ttr_reader *reader, const struct trace *trace, ttr_severity from);

#define TRACE_CLOCKS 32

/* Collects the clocks of a trace without duplicates. Returns their number, at most TRACE_CLOCKS. */
size_t traces_clocks(ttr_reader *reader, const struct trace *trace, ttr_clock clock[TRACE_CLOCKS]);

#endif
