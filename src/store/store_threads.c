/* Threads, processes and inputs, from the tables of the context at the end of the trace. */
#include <string.h>

#include <tracetta/advanced.h>

#include "store/store.h"

/* Returns the row of a process, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_process(ttr_store *store, struct pair_map *known, const ttr_thread *thread)
{
    const uint32_t *found = pair_map_get(known, thread->pid, thread->process_name);
    if (found)
        return *found;
    const uint32_t upid = (uint32_t)known->used;
    const int64_t row[] = {upid, store_clamp(thread->pid),
                           store_text_or_null(thread->process_name)};
    return pair_map_put(known, thread->pid, thread->process_name, upid) &&
                   store_append(store, STORE_PROCESS, row)
               ? upid
               : UINT32_MAX;
}

bool store_end_threads(ttr_store *store)
{
    struct pair_map known;
    bool is_fine = true;
    pair_map_init(&known, store->alloc);
    const uint32_t n = ttr_thread_count(store->t);
    alloc_free(store->alloc, store->process_of, store->process_of_n, sizeof *store->process_of);
    store->process_of_n = (size_t)n + 1;
    store->process_of = alloc_zero(store->alloc, store->process_of_n, sizeof *store->process_of);
    if (!store->process_of)
        return false;
    for (uint32_t i = 1; i <= n && is_fine; i++) {
        ttr_thread thread;
        uint32_t upid = 0;
        if (!ttr_thread_get(store->t, i, &thread))
            continue;
        if (thread.pid_known) {
            upid = find_process(store, &known, &thread);
            store->process_of[i] = upid + 1;
        }
        is_fine = upid != UINT32_MAX;
        const int64_t row[] = {i, thread.tid_known ? store_clamp(thread.tid) : TTR_STORE_NULL,
                               store_text_or_null(thread.thread_name),
                               thread.pid_known ? (int64_t)upid : TTR_STORE_NULL,
                               thread.tid_known && thread.pid_known ? thread.tid == thread.pid
                                                                    : TTR_STORE_NULL};
        is_fine = is_fine && store_append(store, STORE_THREAD, row);
    }
    for (uint16_t i = 0; is_fine; i++) {
        ttr_source source;
        if (!ttr_source_get(store->t, i, &source))
            break;
        const char *format = source.format ? source.format : "";
        const int64_t row[] = {i, store_text_or_null(source.path),
                               store_text_or_null(ttr_text_add(store->t, format, strlen(format)))};
        is_fine = store_append(store, STORE_SOURCE, row);
    }
    pair_map_free(&known);
    return is_fine;
}
