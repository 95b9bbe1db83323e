/* Styles of printed lines: the writer options that --style and its companion options select, and
 * gaps reported as babeltrace2 does. Ownership: a style owns the option texts until style_end. */
#ifndef TRACETTA_CLI_UI_STYLE_H
#define TRACETTA_CLI_UI_STYLE_H

#include <tracetta/event.h>

#include "cli/commands/command.h"

#define STYLE_TEXTS 8

struct style {
    struct call *call;
    const ttr *t;
    const char *format;      /* format of the writer */
    uint32_t read_flags;     /* TTR_READ_* flags that the style needs */
    char *text[STYLE_TEXTS]; /* "babeltrace2.fields=..." */
    size_t texts_n;
    int64_t from_ns, to_ns; /* range of time in which gaps are reported */
    bool has_color;         /* gaps are reported with colours */
};

/* Selects the writer of a style and adds its format options to those of the call. Returns
 * OUTCOME_FINE, or the outcome after reporting an error. */
int style_begin(struct style *style, struct call *call);

/* Implements copy_loop.see; ctx is the style: reports the gaps of a batch on stderr. */
void style_report_gaps(void *ctx, const ttr_batch *batch);

void style_end(struct style *style);

#endif
