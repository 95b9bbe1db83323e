/* Diagnostic codes of trace_pipe_raw: severity, meaning, effect on the events, advice. */
#include "formats/trace_pipe_raw/trace_pipe_raw.h"

const ttr_diagnostic_info trace_pipe_raw_diagnostics[] = {
    {TTR_SEVERITY_DAMAGE, TTR_SEVERITY_DAMAGE, "trace_pipe_raw.bad-event",
     "event that exceeds its page", "skipped to the next event or page", ""},
    {TTR_SEVERITY_DAMAGE, TTR_SEVERITY_DAMAGE, "trace_pipe_raw.bad-page", "impossible page size",
     "skipped", ""},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "trace_pipe_raw.event",
     "event without a format, or not fitting it", "kept up to there", "--option=formats=PATH"},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "trace_pipe_raw.format", "malformed tracepoint format",
     "events kept as raw bytes", ""},
    {TTR_SEVERITY_ODD, TTR_SEVERITY_ODD, "trace_pipe_raw.formats", "incomplete file of formats",
     "complete part is used", ""},
    {.code = NULL},
};
