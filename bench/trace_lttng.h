/* The event of LTTng-UST that bench/trace.c compares with. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tracetta_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./trace_lttng.h"
#if !defined(TRACETTA_BENCH_TRACE_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACETTA_BENCH_TRACE_LTTNG_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(tracetta_bench, instant, LTTNG_UST_TP_ARGS(int, n),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, n, n)))
LTTNG_UST_TRACEPOINT_EVENT(tracetta_bench, disabled, LTTNG_UST_TP_ARGS(int, n),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, n, n)))
#endif
#include <lttng/tracepoint-event.h>
