/* What writing perf.data may lose: samples have a time, a thread, a processor, a stack, and the fields of their tracepoint. */
#include "formats/perf/perf_write.h"

const ttr_loss perf_losses[PERF_LOSSES] = {
    EVENT_HEADER_LOSS_ROWS,
    [PERF_LOSS_CATEGORY] = {.code = "event.category", .what = "categories", .rule = "are left out", .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_NUMBER] = {.code = "event.number", .what = "numbers and versions that providers have for their events", .rule = "are left out", .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_TIME] = {.code = "time.range", .what = "times of zero, before it, or an hour and more before the first event",
                        .rule = "become the earliest time there is"},
    [PERF_LOSS_MARK] = {.code = "time.mark", .what = "events without a time of their own, or with one that had been clamped",
                        .rule = "keep the time they were given, and lose the mark that says so"},
    [PERF_LOSS_THREAD] = {.code = "thread.number", .what = "processes and threads that are unknown, or whose number has more than 32 bits",
                          .rule = "have 0, or the number of the process, or their low 32 bits"},
    [PERF_LOSS_NAME] = {.code = "thread.name", .what = "names of threads and processes", .rule = "become COMM records, cut at 15 bytes"},
    [PERF_LOSS_CONTENT] = {.code = "event.partial", .what = "events whose content was damaged",
                           .rule = "keep what could be decoded, and lose the mark that says so"},
    [PERF_LOSS_STACK] = {.code = "stack.long", .what = "stacks of more than 4096 addresses", .rule = "are cut", .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_MAPPING] = {.code = "object.mapping", .what = "mappings of modules", .rule = "become MMAP2 records, without fields that these do not have",
                           .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_GAP] = {.code = "event.gap", .what = "gaps", .rule = "become LOST records of so many events, without anything else"},
    [PERF_LOSS_TRACEPOINTS] = {.code = "event.kinds", .what = "events of more than 60,000 providers, levels and keywords", .rule = "are left out",
                               .kind = TTR_LOSS_DROPPED},
    [PERF_LOSS_FOREIGN] = {.code = "event.foreign", .what = "events of other traces, in a copy of a perf.data", .rule = "are left out", .kind = TTR_LOSS_DROPPED},
};
