/* Styles of lines: what --style and its companions mean for a writer, and gaps told the way
 * babeltrace2 does.
 *
 * Ownership: a style owns the texts it made for the writer until style_end. */
#ifndef TRACETTA_CLI_UI_STYLE_H
#define TRACETTA_CLI_UI_STYLE_H

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"

#define STYLE_TEXTS 8

struct style {
    struct call *call;
    const ttr *t;
    const char *format;      /* of the writer */
    uint32_t read_flags;     /* TTR_READ_*: what it wants to be read */
    char *text[STYLE_TEXTS]; /* "babeltrace2.fields=..." */
    size_t texts_n;
    int64_t from_ns, to_ns; /* gaps are told as far as they are in this time */
    bool has_color;         /* what is told of them has */
};

/* Finds the writer for what the user asked and adds its options to the call's.  OUTCOME_FINE, or
 * after telling what is wrong. */
int style_begin(struct style *style, struct call *call);

/* For pump.see with the style as `own`: tells the gaps of a batch on stderr. */
void style_tell_gaps(void *own, const ttr_batch *batch);

void style_end(struct style *style);

#endif
