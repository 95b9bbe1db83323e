/* The threads that have rings, and the start of a session for them. */
#include "trace/trace_internal.h"

void trace_thread_add(struct ttr_trace_thread *thread)
{
    for (struct ttr_trace_thread *at = trace_session.threads; at; at = at->next)
        if (at == thread)
            return;
    thread->next = trace_session.threads;
    trace_session.threads = thread;
}

void trace_thread_remove(struct ttr_trace_thread *thread)
{
    struct ttr_trace_thread **link = &trace_session.threads;
    while (*link && *link != thread)
        link = &(*link)->next;
    if (*link)
        *link = thread->next;
}

void trace_threads_reset(void)
{
    __atomic_fetch_add(&trace_session.generation, 1, __ATOMIC_SEQ_CST);
    for (struct ttr_trace_thread *thread = trace_session.threads; thread; thread = thread->next)
        for (unsigned i = 0; i < 2; i++)
            __atomic_store_n(&thread->ring[i].end, NULL, __ATOMIC_SEQ_CST);
}

void trace_session_begin(void)
{
    trace_strings_copy_to_session();
    trace_threads_reset();
}
