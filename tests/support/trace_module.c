/* A library with a trace point of its own, which trace_loop.c loads many times. */
#include <tracetta/trace.h>

#define MODULE_CATEGORIES(X) X(plugin, "plugin", "a library that is loaded and unloaded")
TTR_CATEGORIES_DECLARE(MODULE_CATEGORIES);
TTR_CATEGORIES_DEFINE(MODULE_CATEGORIES);

__attribute__((visibility("default"))) void trace_module_write(unsigned i);
void trace_module_write(unsigned i)
{
    TTR_ZONE(plugin, "call");
    TTR_INSTANT(plugin, "loaded", TTR_ARG("n", i));
}
