/* Writer of lines byte-identical to perf script and trace-cmd report: its files and shared types.
 *
 *   perfscript.c           columns, event names, times, options
 *   perfscript_sched.c     trace-cmd's own texts for switches and wake-ups
 *   perfscript_code.c      addresses of code and callchains
 *   perfscript_counters.c  counter values in samples, a line for each */
#ifndef TRACETTA_FORMATS_PERFSCRIPT_PERFSCRIPT_H
#define TRACETTA_FORMATS_PERFSCRIPT_PERFSCRIPT_H

#include "base/pair_map.h"
#include "model/output.h"

/* --- perfscript_sched.c: texts of switches and wake-ups --- */

/* Appends the text of a switch or wake-up in trace-cmd's notation. Returns false for other
 * events. */
bool perfscript_add_sched(struct ttr_writer *out, const ttr_event *event, ttr_text name);

/* Stores the name that an event gives to a thread in `names`, as (tid, source) to text id, unless
 * the thread has a name. trace-cmd prints such names for threads that its table of names lacks.
 * Returns false if memory runs out. */
bool perfscript_record_thread_name(struct pair_map *names, ttr *t, const ttr_event *event,
                                   ttr_text name);

/* --- perfscript_code.c: addresses and callchains --- */

/* Appends an address with its symbol and file: "            1234 name+0x10 (file)". */
void perfscript_add_code(struct ttr_writer *out, const ttr_event *event, ttr_id thread,
                         uint64_t address);

/* Appends a callchain as one line for each address. */
void perfscript_add_chain(struct ttr_writer *out, const ttr_event *event, ttr_id thread);

/* --- perfscript_counters.c: counter values in samples --- */

/* Last value of each counter, from which increases are computed. */
struct perfscript_counters {
    const struct alloc *alloc;
    struct pair_map by_id; /* maps (id, source) to an index in `value` */
    uint64_t *value;
    size_t n, capacity;
    bool is_out_of_memory;
};

struct perfscript_counter {
    ttr_text event;
    /* increase of the counter since the previous sample; if 0, no line is printed */
    uint64_t period;
};

void perfscript_counters_init(struct perfscript_counters *counters, const struct alloc *alloc);
void perfscript_counters_free(struct perfscript_counters *counters);

/* Starts to iterate over the counter values of a sample. Returns false if the sample has no
 * counter values. */
bool perfscript_counters_begin(const struct ttr_writer *out, const ttr_event *event,
                               ttr_fields *fields);
bool perfscript_counters_next(struct perfscript_counters *counters, ttr_fields *fields,
                              struct perfscript_counter *counter);

#endif
