/* Every macro and function with TTR_TRACE_DISABLE: this file compiles, and refers to nothing of the
 * library. */
#define TTR_TRACE_DISABLE
#include <tracetta/trace.h>

#define NO_CATEGORIES(X) X(none, "none", "never recorded")
TTR_CATEGORIES_DECLARE(NO_CATEGORIES);
TTR_CATEGORIES_DEFINE(NO_CATEGORIES);

int main(void)
{
    int n = 0;
    TTR_ZONE(none, "zone", TTR_ARG("n", ++n));
    TTR_ZONE_ARG("added", ++n);
    TTR_LAP(none, "lap");
    TTR_BEGIN(none, "begin");
    TTR_END(none, "end");
    TTR_INSTANT(none, "instant", TTR_ARG("n", ++n), TTR_ARG_TEXT("text", "x", 1));
    TTR_INSTANT_LEVEL(TTR_TRACE_ERROR, none, "error");
    TTR_COUNTER(none, "counter", ++n, TTR_ARG("n", ++n));
    TTR_ASYNC_BEGIN(++n, none, "async");
    TTR_ASYNC_INSTANT(++n, none, "async");
    TTR_ASYNC_END(++n, none, "async");
    TTR_FLOW_BEGIN(++n, none, "flow");
    TTR_FLOW_STEP(++n, none, "flow");
    TTR_FLOW_END(++n, none, "flow");
    TTR_LOG(none, "%d", ++n);
    TTR_LOG_LEVEL(TTR_TRACE_ERROR, none, "%d", ++n);
    TTR_BLOB(none, "blob", &n, sizeof n);
    TTR_OBJECT(none, &n, "object");
    ttr_trace_stats stats;
    const char *const names[] = {"n"};
    ttr_trace_site *site =
        ttr_trace_site_new("none", "site", TTR_TRACE_INSTANT, TTR_TRACE_ERROR, names, 1);
    n += ttr_trace_start_file("/no/such/folder/file", NULL);
    ttr_trace_thread_name("main");
    n += !ttr_trace_virtual_thread_enter(1, "virtual");
    ttr_trace_virtual_thread_leave();
    ttr_trace_trigger("trigger");
    if (ttr_trace_site_is_enabled(site))
        ttr_trace_site_write(site, ttr_trace_now(), ttr_trace_read_clock(), NULL);
    ttr_trace_get_stats(&stats);
    n += ttr_trace_flush() + ttr_trace_stop() + stats.is_active + (int)stats.written;
    return TTR_TRACE_ENABLED(none) || n;
}
