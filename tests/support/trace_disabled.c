/* Every macro with TTR_TRACE_DISABLE: this file compiles, and refers to nothing of the library. */
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
    return TTR_TRACE_ENABLED(none) || n;
}
