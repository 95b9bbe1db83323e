/* The traces that a reader has: a trace of many files is one of them, whatever the number of its
 * streams.
 *
 * Ownership: everything shown belongs to the reader, as in a ttr_report. */
#ifndef TRACETTA_CLI_INPUT_TRACE_ITER_H
#define TRACETTA_CLI_INPUT_TRACE_ITER_H

#include <tracetta/tracetta.h>

#include "cli/commands/report.h"

/* A trace: neighbours among the reports of a reader. */
struct trace {
    size_t first, n; /* reports */
    uint16_t source; /* whose attributes are those of the whole trace */
    struct findings sum;
    uint64_t packets;
    size_t lossy; /* streams in which events are missing */
    bool has_times;
    int64_t begin_ns, end_ns;
    ttr_report report; /* of its first stream */
};

/* Moves on to the next trace; a zeroed one moves to the first.  False past the last. */
bool traces_next(ttr_reader *reader, struct trace *trace);

/* The same in the order of their paths, which people know. Readers have them in the order of what
 * happens at one time, that of uuids. */
struct traces_walk {
    ttr_reader *reader;
    struct trace *sorted; /* NULL without memory: then they come as the reader has them */
    size_t n, i;
    struct trace at;
};

void traces_walk_begin(struct traces_walk *walk, ttr_reader *reader);
bool traces_walk_next(struct traces_walk *walk, struct trace *trace);
void traces_walk_end(struct traces_walk *walk);

/* How many there are. */
size_t traces_count(ttr_reader *reader);

/* Finds what an input says of itself ("trace.name"). */
bool traces_attribute(const ttr *t, uint16_t source, const char *name, ttr_value *value);

/* Puts readers in the order in which babeltrace2 gives what happens at one time: by the uuid of
 * their first trace, those without one behind, by name.  Without memory they stay as they are. */
void traces_order(const ttr *t, ttr_reader **readers, size_t n);

/* A kind of finding in any of the streams of a trace. */
struct trace_note {
    ttr_note note; /* counts and bytes together; severity, text and offset are those of the first
                      stream that has it worst */
    ttr_text path; /* of that */
    size_t inputs, streams; /* that have it: all, and those that are streams */
};

#define TRACE_NOTES 64

/* Collects the findings of a trace in order of their first; gives how many kinds there are, no more
 * than TRACE_NOTES. */
size_t traces_notes(const ttr *t, ttr_reader *reader, const struct trace *trace,
                    struct trace_note note[TRACE_NOTES]);

/* Whether a report is of a stream: what tells what is wrong with the metadata is none. */
bool traces_is_stream(const ttr *t, const ttr_report *report);

/* Whether there are any from this severity on. */
bool traces_have_notes(ttr_reader *reader, const struct trace *trace, ttr_severity from);

#define TRACE_CLOCKS 32

/* Collects the clocks of a trace that differ; gives how many, no more than TRACE_CLOCKS. */
size_t traces_clocks(ttr_reader *reader, const struct trace *trace, ttr_clock clock[TRACE_CLOCKS]);

#endif
