/* What was found while reading: one line of warning for every command, the same figures in JSON for those that report. */
#ifndef TRACETTA_CLI_REPORT_H
#define TRACETTA_CLI_REPORT_H

#include <tracetta/tracetta.h>

#include "json.h"

struct call;

/* Sums over all inputs of a reader. */
struct findings {
    uint64_t bytes, disk_size, events, lost, gaps, damage_regions, damage_bytes;
    size_t inputs;
    uint64_t odd;     /* records that break a rule */
    bool is_anchored; /* every input has a clock that knows the Unix time */
};

struct findings report_sum(ttr_reader *reader);

/* Says in one line for each input whether bytes were skipped or events are missing; nothing for clean ones and with --quiet. */
void report_warn(const struct call *call, ttr_reader *reader);

/* "damage": {...}, "lost": n */
void report_json_damage(struct json *json, const struct findings *findings);

/* "clocks": [...] and "notes": [...] of all inputs of a reader. */
void report_json_clocks(struct json *json, ttr_reader *reader);
void report_json_notes(struct json *json, ttr_reader *reader);

/* "regions": [...] of all inputs (with their path where there are several); the bytes between them are good. */
void report_json_regions(struct json *json, ttr_reader *reader);

/* Prints the notes of a report for people, `from` the mildest severity shown. */
void report_print_notes(const struct call *call, const ttr_report *report, ttr_severity from);

#endif
