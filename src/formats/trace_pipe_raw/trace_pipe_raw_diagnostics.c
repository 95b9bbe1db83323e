/* Diagnostic codes of trace_pipe_raw: severity, meaning, effect on the events, advice. */
#include "formats/trace_pipe_raw/trace_pipe_raw.h"

const ttr_diagnostic_info trace_pipe_raw_diagnostics[] = {
    {TTR_NOTE_DAMAGE, TTR_NOTE_DAMAGE, "trace_pipe_raw.bad-event", "event that exceeds its page",
     "skipped to the next event or page", ""},
    {TTR_NOTE_DAMAGE, TTR_NOTE_DAMAGE, "trace_pipe_raw.bad-page", "impossible page size", "skipped",
     ""},
    {TTR_NOTE_ODD, TTR_NOTE_ODD, "trace_pipe_raw.event",
     "event without a format, or not fitting it", "kept up to there", "--option=formats=PATH"},
    {TTR_NOTE_ODD, TTR_NOTE_ODD, "trace_pipe_raw.format", "malformed tracepoint format",
     "events kept as raw bytes", ""},
    {TTR_NOTE_ODD, TTR_NOTE_ODD, "trace_pipe_raw.formats", "incomplete file of formats",
     "complete part is used", ""},
    {.code = NULL},
};
