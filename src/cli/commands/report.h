/* Findings of reading: one line of warning for every command, and the same figures in JSON. */
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
struct findings report_sum(ttr_reader *reader);

/* Formats missing events and packets: "3 events", "1 packet", "3 events and 1 packet". */
#define LOST_TEXT 80u
const char *report_lost(uint64_t events, uint64_t packets, char text[LOST_TEXT]);

/* Prints one line for each trace that is damaged or has lost events; nothing with --quiet. Returns
 * OUTCOME_NO instead of OUTCOME_FINE if something was damaged. */
int report_warn(const struct call *call, ttr_reader *reader, int outcome);

/* Returns true if the command "recover" can write this format. */
bool report_can_recover(const char *format);

/* Like report_warn, but without lost events, which were reported already. */
int report_warn_damage(const struct call *call, ttr_reader *reader, int outcome);

/* Returns true if some streams were not read to their ends. For a pipe, always. */
bool report_is_of_part(ttr_reader *reader);

/* After an interruption: prints how many streams were read completely, in part and not at all,
 * since streams may be read one after another. */
void report_interrupted(const struct call *call, ttr_reader *reader);

/* Returns true if damage extends to the end of a file; more data may then be missing than is
 * reported. */
bool report_ends_early(ttr_reader *reader);

/* Prints the members "interrupted" and "streams_read". */
void report_json_extent(struct json *json, ttr_reader *reader);

/* Prints the members "lost", "lost_packets", "gaps" and "damage". */
void report_json_damage(struct json *json, const struct findings *findings);

/* Print the members "clocks" and "notes" of all inputs, summed per trace; or the clocks of one
 * trace. */
void report_json_clocks(struct json *json, ttr_reader *reader);
void report_json_notes(struct json *json, const struct inputs *inputs);
void report_json_trace_clocks(struct json *json, ttr_reader *reader, const struct trace *trace);

/* Prints the member "regions": damaged byte ranges of all inputs, with their path if there are
 * several. */
void report_json_regions(struct json *json, ttr_reader *reader);

/* Prints the notes of a trace from a severity on. Oddities are also printed for the first `others`
 * further streams. */
void report_print_notes(const struct call *call, const struct inputs *inputs,
                        const struct trace *trace, ttr_severity from, size_t others);

#endif
