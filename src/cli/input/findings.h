/* Sums over the reports of several inputs. */
#ifndef TRACETTA_CLI_INPUT_FINDINGS_H
#define TRACETTA_CLI_INPUT_FINDINGS_H

#include <tracetta/report.h>

/* Sums over reports. `lost`: missing events; `notes`: number of diagnostics. */
struct findings {
    uint64_t bytes, disk_size, events, lost, lost_packets, gaps, damage_regions, damage_bytes;
    size_t inputs, files, notes;
    uint64_t odd;     /* number of records that break a rule of the format */
    bool is_anchored; /* every input has a clock with a known date */
};

/* Clears the sums. */
void findings_begin(struct findings *sum);
/* Adds the report of one input. */
void findings_add(struct findings *sum, const ttr_report *report);

#endif
