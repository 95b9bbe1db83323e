/* Iterates over the traces of a reader. All files and streams of a trace are one trace.
 *
 * Ownership: everything shown belongs to the reader, as in a ttr_report. */
#ifndef TRACETTA_CLI_INPUT_TRACE_ITER_H
#define TRACETTA_CLI_INPUT_TRACE_ITER_H

#include <tracetta/read.h>

#include "cli/input/findings.h"

/* A trace: a range of the reports of a reader. */
struct trace {
    size_t first, n; /* range of reports */
    uint16_t source; /* the source that has the attributes of the trace */
    struct findings sum;
    uint64_t packets;
    size_t lossy; /* number of streams with missing events */
    bool has_times;
    int64_t begin_ns, end_ns;
    ttr_report report; /* report of its first stream */
};

/* Moves to the next trace; a zeroed struct moves to the first. Returns false after the last. */
bool traces_next(ttr_reader *reader, struct trace *trace);

/* Iterates in the order of paths, which users expect. Readers order traces by UUID. */
struct traces_walk {
    ttr_reader *reader;
    struct trace *sorted; /* NULL without memory: then the order is that of the reader */
    size_t n, i;
    struct trace at;
};

void traces_walk_begin(struct traces_walk *walk, ttr_reader *reader);
bool traces_walk_next(struct traces_walk *walk, struct trace *trace);
void traces_walk_end(struct traces_walk *walk);

/* Returns the number of traces. */
size_t traces_count(ttr_reader *reader);

/* Finds an attribute of a source ("trace.name"). */
bool traces_attribute(const ttr *t, uint16_t source, const char *name, ttr_value *value);

/* Orders readers as babeltrace2 does for events of the same time: by the UUID of their first trace;
 * readers without one come last, by name. Without memory the order stays. */
void traces_order(const ttr *t, ttr_reader **readers, size_t n);

/* A kind of finding, summed over the streams of a trace. */
struct trace_note {
    /* counts and bytes are sums; severity, text and offset are from the first stream with the worst
     * severity */
    ttr_diagnostic note;
    ttr_text path;          /* path of that stream */
    size_t inputs, streams; /* number of inputs and of streams that have it */
};

#define TRACE_NOTES 64

/* Collects the findings of a trace in the order of their first occurrence. Returns the number of
 * kinds, at most TRACE_NOTES. */
size_t traces_notes(const ttr *t, ttr_reader *reader, const struct trace *trace,
                    struct trace_note note[TRACE_NOTES]);

/* Whether a report is of a stream, not of metadata alone. */
bool traces_is_stream(const ttr *t, const ttr_report *report);

/* Whether the trace has findings of this severity or a worse one. */
bool traces_have_notes(ttr_reader *reader, const struct trace *trace, ttr_severity from);

#define TRACE_CLOCKS 32

/* Collects the different clocks of a trace. Returns their number, at most TRACE_CLOCKS. */
size_t traces_clocks(ttr_reader *reader, const struct trace *trace, ttr_clock clock[TRACE_CLOCKS]);

#endif
