/* The parts of the writer of lines as perf script and trace-cmd print them. */
#ifndef TRACETTA_FORMATS_PERFSCRIPT_PERFSCRIPT_H
#define TRACETTA_FORMATS_PERFSCRIPT_PERFSCRIPT_H

#include "model/output.h"

/* Appends the text of a switch or wake-up as trace-cmd has it; false where the event is none. */
bool perfscript_add_sched(struct ttr_writer *out, const ttr_event *event, ttr_text name);

#endif
