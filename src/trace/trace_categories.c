/* Categories of programs and libraries: registration and enable bytes. */
#include "trace/trace_internal.h"

/* Sets the enable bytes of a module, unless the manager owns them. */
static void enable_module(struct ttr_trace_module *module, bool is_enabled)
{
    const struct ttr_trace_category *category = module->categories;
    for (size_t i = 0; category[i].name && i < TTR_TRACE_PAGE; i++)
        module->enabled[i] =
            is_enabled ? trace_filter_level(trace_session.filter, category[i].name) : 0;
}

void trace_categories_enable(bool is_enabled)
{
    for (struct ttr_trace_module *module = trace_session.modules; module; module = module->next)
        enable_module(module, is_enabled);
}

void trace_category_added(struct ttr_trace_module *module, size_t i)
{
    if (trace_session.socket_fd >= 0)
        trace_send_category(module, i);
    else if (trace_session.memory)
        module->enabled[i] = trace_filter_level(trace_session.filter, module->categories[i].name);
}

void ttr_trace_module_add(struct ttr_trace_module *module)
{
    if (!trace_lock())
        return;
    module->next = trace_session.modules;
    trace_session.modules = module;
    if (trace_session.socket_fd >= 0)
        trace_connect_module(module);
    else if (trace_session.memory)
        enable_module(module, true);
    trace_unlock();
}

/* Trace points of the module are not used any more, because its code is unmapped next. */
void ttr_trace_module_remove(struct ttr_trace_module *module)
{
    if (!trace_lock())
        return;
    struct ttr_trace_module **link = &trace_session.modules;
    while (*link && *link != module)
        link = &(*link)->next;
    if (*link)
        *link = module->next;
    trace_unlock();
}
