/* The parts of the writer of lines as perf script and trace-cmd print them. */
#ifndef TRACETTA_FORMATS_PERFSCRIPT_PERFSCRIPT_H
#define TRACETTA_FORMATS_PERFSCRIPT_PERFSCRIPT_H

#include "base/pairmap.h"
#include "model/output.h"

/* --- perfscript_sched.c --- */

/* Appends the text of a switch or wake-up as trace-cmd has it; false where the event is none. */
bool perfscript_add_sched(struct ttr_writer *out, const ttr_event *event, ttr_text name);

/* --- perfscript_code.c --- */

/* Appends an address, and what is known of it: "            1234 name+0x10 (file)". */
void perfscript_add_code(struct ttr_writer *out, const ttr_event *event, ttr_id thread,
                         uint64_t address);

/* Appends a callchain, a line for each address. */
void perfscript_add_chain(struct ttr_writer *out, const ttr_event *event, ttr_id thread);

/* --- perfscript_counters.c --- */

/* What counters had at the last sample of each. */
struct perfscript_counters {
    const struct alloc *alloc;
    struct pairmap by_id; /* (id, source) to index */
    uint64_t *value;
    size_t n, capacity;
    bool is_out_of_memory;
};

struct perfscript_counter {
    ttr_text event;
    uint64_t period; /* since the sample before; 0: no line */
};

void perfscript_counters_init(struct perfscript_counters *counters, const struct alloc *alloc);
void perfscript_counters_free(struct perfscript_counters *counters);

/* Begins with the counters of an event; false where it has none. */
bool perfscript_counters_begin(const struct ttr_writer *out, const ttr_event *event,
                               ttr_fields *fields);
bool perfscript_counters_next(struct perfscript_counters *counters, ttr_fields *fields,
                              struct perfscript_counter *counter);

#endif
