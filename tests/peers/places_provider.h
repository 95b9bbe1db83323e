/* The tracepoint of places_app.c and places_library.c. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER PLACES_PROVIDER

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./places_provider.h"

#if !defined(PLACES_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PLACES_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(PLACES_PROVIDER, here, LTTNG_UST_TP_ARGS(int, count),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, count, count)))

#endif

#include <lttng/tracepoint-event.h>
