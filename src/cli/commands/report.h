/* What was found while reading: one line of warning for every command, the same figures in JSON for
 * those that report. */
#ifndef TRACETTA_CLI_COMMANDS_REPORT_H
#define TRACETTA_CLI_COMMANDS_REPORT_H

#include <tracetta/tracetta.h>

#include "cli/ui/json.h"

struct call;
struct inputs;
struct trace;

/* Sums over inputs. */
struct findings {
    uint64_t bytes, disk_size, events, lost, lost_packets, gaps, damage_regions, damage_bytes;
    size_t inputs, files, notes;
    uint64_t odd;     /* records that break a rule */
    uint64_t twice;   /* packets that were left out: another file has them */
    bool is_anchored; /* every input has a clock that knows the Unix time */
};

void findings_begin(struct findings *sum);
void findings_add(struct findings *sum, const ttr_report *report);

/* Over all inputs of a reader. */
struct findings report_sum(ttr_reader *reader);

/* "3 events", "1 packet", "3 events and 1 packet": what is missing. */
#define LOST_TEXT 80u
const char *report_lost(uint64_t events, uint64_t packets, char text[LOST_TEXT]);

/* Says in one line for each trace whether it is damaged or events are missing; nothing for clean
 * ones and with --quiet.  Gives the outcome of the command: what was fine so far is OUTCOME_NO when
 * something was damaged, so that scripts learn of it too. */
int report_warn(const struct call *call, ttr_reader *reader, int outcome);

/* Whether "recover" can write a format. */
bool report_can_recover(const char *format);

/* The same without what is missing, which was told already. */
int report_warn_damage(const struct call *call, ttr_reader *reader, int outcome);

/* Whether streams were read in part, or not at all; of a pipe nobody knows that it was read whole.
 */
bool report_is_of_part(ttr_reader *reader);

/* Where a signal ended the reading: tells how many streams were read whole, in part and not at all,
 * for they may be read one after another. */
void report_interrupted(const struct call *call, ttr_reader *reader);

/* Whether damage reaches the end of a file: then more may be missing than was found. */
bool report_ends_early(ttr_reader *reader);

/* The same as members "interrupted" and "streams_read". */
void report_json_extent(struct json *json, ttr_reader *reader);

/* "damage": {...}, "lost": n */
void report_json_damage(struct json *json, const struct findings *findings);

/* "clocks": [...] and "notes": [...] of all inputs of a reader, those of one trace put together.
 * One trace's alone. */
void report_json_clocks(struct json *json, ttr_reader *reader);
void report_json_notes(struct json *json, const struct inputs *inputs);
void report_json_trace_clocks(struct json *json, ttr_reader *reader, const struct trace *trace);

/* "regions": [...] of all inputs (with their path where there are several); the bytes between them
 * are good. */
void report_json_regions(struct json *json, ttr_reader *reader);

/* Prints the notes of a trace for people, `from` the mildest severity shown; of what is odd also
 * the first of `others` more of its streams. */
void report_print_notes(const struct call *call, const struct inputs *inputs,
                        const struct trace *trace, ttr_severity from, size_t others);

#endif
