/* The recorded process: its modules, fork and exit. */
#include <stdlib.h>

#include "trace/trace_internal.h"

static void before_fork(void)
{
    pthread_mutex_lock(&trace_session.lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&trace_session.lock);
}

/* The child has no session of its parent: its thread has no ring. It connects to the manager as a
 * process of its own. */
static void after_fork_in_child(void)
{
    if (trace_session.socket_fd >= 0)
        trace_disconnect();
    else
        trace_categories_enable(false);
    trace_session.memory = NULL;
    trace_session.file = NULL;
    trace_session.threads = NULL;
    trace_session.generation++;
    memset(&ttr_trace_thread, 0, sizeof ttr_trace_thread);
    trace_connect();
    pthread_mutex_unlock(&trace_session.lock);
}

static void at_exit(void)
{
    (void)ttr_trace_stop();
}

static void begin(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    atexit(at_exit);
    if (trace_lock()) {
        trace_connect();
        trace_unlock();
    }
}

/* Prepares for fork and exit, and connects to the manager, at the first call. */
static void begin_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
}

/* --- Modules --- */

void ttr_trace_module_add(struct ttr_trace_module *module)
{
    begin_once();
    if (!trace_lock())
        return;
    module->next = trace_session.modules;
    trace_session.modules = module;
    if (trace_session.socket_fd >= 0)
        trace_connect_module(module);
    else if (trace_session.memory)
        trace_module_enable(module, true);
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
