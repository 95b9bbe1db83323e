/* The recorded process: its modules, fork and exit. */
#include <stdlib.h>
#include <sys/mman.h>

#include "trace/trace_internal.h"

static bool is_locked_for_fork; /* protected by the lock of the session */

/* The lock is held already if a signal handler that interrupted the holder forks. */
static void before_fork(void)
{
    if (trace_lock())
        is_locked_for_fork = true;
}

static void after_fork_in_parent(void)
{
    if (!is_locked_for_fork)
        return;
    is_locked_for_fork = false;
    trace_unlock();
}

/* Replaces the memory of the parent's session, which a child does not inherit: a zone that is open
 * or an event that is being written when the process forks still stores there. */
static void replace_shared_memory(void)
{
    if (trace_session.memory)
        (void)mmap(trace_session.memory, trace_session.memory_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* The child has no session of its parent: its thread has no ring. It connects to the manager as a
 * process of its own. */
static void after_fork_in_child(void)
{
    struct ttr_trace_thread *thread = &ttr_trace_thread;
    trace_attach_forget_after_fork();
    replace_shared_memory();
    if (trace_session.socket_fd >= 0)
        trace_disconnect();
    else
        trace_modules_disable();
    trace_file_close_after_fork();
    trace_session.memory = NULL;
    trace_session.file = NULL;
    trace_session.threads = NULL;
    trace_session.generation++;
    /* An event that a forking signal handler interrupted still uses the positions. */
    for (unsigned i = 0; i < 2; i++) {
        thread->ring[i].end = NULL;
        thread->ring[i].open_zones = NULL;
        thread->ring[i].shared = NULL;
    }
    thread->virtual_koid = 0;
    thread->next = NULL;
    trace_connect();
    after_fork_in_parent();
}

static void at_exit(void)
{
    (void)ttr_trace_stop();
}

static void prepare_process(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    atexit(at_exit);
    if (trace_lock()) {
        trace_connect();
        trace_unlock();
    }
}

/* Prepares for fork and exit, and connects to the manager, at the first call. */
static void prepare_process_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_process);
}

/* --- Modules --- */

void ttr_trace_module_add(struct ttr_trace_module *module)
{
    prepare_process_once();
    if (!trace_lock())
        return;
    module->next = trace_session.modules;
    trace_session.modules = module;
    trace_connect_module(module);
    if (trace_session.file)
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
    trace_disconnect_module(module);
    trace_unlock();
}
