/* Categories of programs and libraries: enable bytes. */
#include "trace/trace_internal.h"

void trace_module_enable(struct ttr_trace_module *module, bool is_enabled)
{
    const struct ttr_trace_category *category = module->categories;
    for (size_t i = 0; category[i].name && i < TTR_TRACE_PAGE; i++)
        module->enabled[i] =
            is_enabled ? trace_filter_level(trace_session.filter, category[i].name) : 0;
}

void trace_categories_enable(bool is_enabled)
{
    for (struct ttr_trace_module *module = trace_session.modules; module; module = module->next)
        trace_module_enable(module, is_enabled);
}

void trace_category_added(struct ttr_trace_module *module, size_t i)
{
    if (trace_session.socket_fd >= 0)
        trace_send_category(module, i);
    else if (trace_session.memory)
        module->enabled[i] = trace_filter_level(trace_session.filter, module->categories[i].name);
}
