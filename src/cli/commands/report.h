/* Findings of reading: a line of warning per trace, and the same figures in JSON. */
#ifndef TRACETTA_CLI_COMMANDS_REPORT_H
#define TRACETTA_CLI_COMMANDS_REPORT_H

#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/input/findings.h"
#include "cli/ui/json.h"

struct call;
struct inputs;
struct trace;

/* Returns the sums over all inputs of a reader. */
struct findings sum_findings(ttr_reader *reader);

/* Formats the number of missing events and packets: "3 events", "1 packet", "3 events and 1
 * packet". */
#define LOST_TEXT 80u
const char *format_lost_counts(uint64_t events, uint64_t packets, char text[LOST_TEXT]);

/* Prints one line for each trace that is damaged or has lost events; nothing with --quiet. Returns
 * OUTCOME_NO instead of OUTCOME_FINE if something was damaged. */
int warn_about_findings(const struct call *call, ttr_reader *reader, int outcome);

/* Returns true if the command "recover" can write this format. */
bool can_recover_trace(const char *format);

/* Like warn_about_findings, for a command that has already reported lost events. */
int warn_about_damage(const struct call *call, ttr_reader *reader, int outcome);

/* Returns true if some streams were not read to their ends. Always true for a pipe. */
bool is_report_of_part(ttr_reader *reader);

/* Reports, after an interruption, how many streams were read completely, in part, and not at all:
 * streams may be read one after another. */
void report_interruption(const struct call *call, ttr_reader *reader);

/* Returns true if damage extends to the end of a file: the amount of missing data is then
 * unknown. */
bool is_cut_at_end(ttr_reader *reader);

/* Prints the members "interrupted" and "streams_read". */
void write_streams_read_json(struct json *json, ttr_reader *reader);

/* Prints the members "lost", "lost_packets", "gaps" and "damage". */
void write_damage_json(struct json *json, const struct findings *findings);

/* write_clocks_json and write_notes_json print "clocks" and "notes", summed per trace.
 * write_trace_clocks_json prints the clocks of one trace. */
void write_clocks_json(struct json *json, ttr_reader *reader);
void write_notes_json(struct json *json, const struct inputs *inputs);
void write_trace_clocks_json(struct json *json, ttr_reader *reader, const struct trace *trace);

/* Prints the member "regions": damaged byte ranges of all inputs, with paths if there are several
 * inputs. */
void write_regions_json(struct json *json, ttr_reader *reader);

/* Prints the notes of a trace of at least severity `from`. Also prints an oddity for up to `others`
 * more streams that have it. */
void print_trace_notes(const struct call *call, const struct inputs *inputs,
                       const struct trace *trace, ttr_severity from, size_t others);

#endif
