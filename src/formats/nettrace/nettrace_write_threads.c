/* Threads as they are written: who counts events, and how events name them. */
#include <string.h>

#include "formats/nettrace/nettrace_writer.h"

enum { ROW_NAME = 1, ROW_PID = 2, ROW_TID = 3 };

size_t nettrace_thread_numbered(struct nettrace_writer *w, uint64_t pid, uint64_t tid)
{
    uint64_t process = nettrace_is_v6(w) ? pid : 0;
    const uint32_t *known = pairmap_get(&w->thread_of, process, tid);
    if (known)
        return *known;
    const struct alloc *alloc = w->thread_of.alloc;
    if (!alloc_reserve(alloc, (void **)&w->threads, &w->threads_capacity, w->threads_n + 1, sizeof *w->threads) ||
        !pairmap_put(&w->thread_of, process, tid, (uint32_t)w->threads_n))
        return SIZE_MAX;
    w->threads[w->threads_n] = (struct nettrace_thread_out){.pid = pid, .tid = tid};
    return w->threads_n++;
}

size_t nettrace_thread_out(struct ttr_writer *out, ttr_id id)
{
    struct nettrace_writer *w = out->own;
    ttr_thread thread = {0};
    if (id < w->by_id_n && w->by_id[id])
        return w->by_id[id] - 1;
    (void)ttr_thread_get(out->t, id, &thread);
    size_t index = nettrace_thread_numbered(w, thread.pid, thread.tid), n = w->by_id_n ? w->by_id_n : 64;
    if (index == SIZE_MAX)
        return SIZE_MAX;
    while (n <= id)
        n *= 2;
    if (n > w->by_id_n) {
        uint32_t *by_id = alloc_resize(&out->t->counted, w->by_id, w->by_id_n, n, sizeof *by_id);
        if (!by_id)
            return SIZE_MAX;
        memset(by_id + w->by_id_n, 0, (n - w->by_id_n) * sizeof *by_id);
        w->by_id = by_id;
        w->by_id_n = n;
    }
    bool is_settled = thread.pid_known || id == 0; /* a pid may become known later */
    w->by_id[id] = is_settled || !nettrace_is_v6(w) ? (uint32_t)index + 1 : 0;
    if (!w->threads[index].thread)
        w->threads[index].thread = id;
    return index;
}

/* V6: u16 bytes, varint index, what is known of it. */
static void put_row(struct ttr_writer *out, struct nettrace_thread_out *thread)
{
    struct nettrace_writer *w = out->own;
    struct buffer *to = &w->region.threads;
    size_t at = to->n;
    ttr_thread about = {0};
    (void)ttr_thread_get(out->t, thread->thread, &about);
    ttr_text name = ttr_text_get(out->t, about.thread_name);
    thread->told_name = about.thread_name;
    nettrace_put_u16(to, 0);
    nettrace_put_varint(to, thread->index);
    if (name.n && name.n < 4096) {
        buffer_add_byte(to, ROW_NAME);
        nettrace_put_string(to, name);
    }
    buffer_add_byte(to, ROW_PID);
    nettrace_put_varint(to, thread->pid);
    buffer_add_byte(to, ROW_TID);
    nettrace_put_varint(to, thread->tid);
    if (!to->failed)
        store_u16le(to->bytes + at, (uint16_t)(to->n - at - 2));
}

uint64_t nettrace_thread_name(struct ttr_writer *out, size_t index)
{
    struct nettrace_writer *w = out->own;
    struct nettrace_thread_out *thread = &w->threads[index];
    if (!nettrace_is_v6(w))
        return thread->tid;
    if (thread->era != w->region.era) {
        thread->era = w->region.era;
        thread->index = ++w->region.indices;
        thread->sequence = 0;
        put_row(out, thread);
    }
    return thread->index;
}

bool nettrace_threads_are_stale(struct ttr_writer *out)
{
    enum { INDICES_MAX = 4096 };
    const struct nettrace_writer *w = out->own;
    ttr_thread about;
    bool is_stale = w->region.indices > INDICES_MAX;
    for (size_t i = 0; !is_stale && i < w->threads_n; i++) {
        const struct nettrace_thread_out *thread = &w->threads[i];
        is_stale = thread->era == w->region.era && ttr_thread_get(out->t, thread->thread, &about) && about.thread_name != thread->told_name;
    }
    return is_stale;
}
