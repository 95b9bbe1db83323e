/* Sums over the reports of a reader. */
#include "cli/input/findings.h"

static bool has_anchor(const ttr_report *report)
{
    for (size_t i = 0; i < report->clocks_n; i++)
        if (report->clocks[i].is_anchored)
            return true;
    return false;
}

void findings_begin(struct findings *sum)
{
    *sum = (struct findings){.is_anchored = true};
}

void findings_add(struct findings *sum, const ttr_report *report)
{
    sum->inputs++;
    sum->files += !report->shares_file;
    sum->bytes += report->bytes;
    sum->disk_size += report->disk_size;
    sum->events += report->events;
    sum->lost += report->lost;
    sum->lost_packets += report->lost_packets;
    sum->gaps += report->gaps;
    sum->damage_regions += report->damage_regions;
    sum->damage_bytes += report->damage_bytes;
    sum->is_anchored = sum->is_anchored && has_anchor(report);
    sum->notes += report->notes_n;
    for (size_t k = 0; k < report->notes_n; k++) {
        const ttr_diagnostic *note = &report->notes[k];
        sum->odd += note->severity == TTR_SEVERITY_ODD ? note->count : 0;
    }
}
