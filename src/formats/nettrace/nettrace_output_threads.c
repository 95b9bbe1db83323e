/* Threads of the output trace: their sequence numbers, and the numbers that events use for them. */
#include <string.h>

#include "formats/nettrace/nettrace_writer.h"

/* limit of a thread name in bytes, since a row of the thread table has at most 64 KiB */
#define NAME_BYTES_MAX 4095u

enum { ROW_NAME = 1, ROW_PID = 2, ROW_TID = 3 };

size_t nettrace_get_thread_index_of_tid(struct nettrace_writer *w, uint64_t pid, uint64_t tid)
{
    uint64_t process = nettrace_is_v6(w) ? pid : 0;
    const uint32_t *known = pair_map_get(&w->thread_of, process, tid);
    if (known)
        return *known;
    const struct alloc *alloc = w->thread_of.alloc;
    if (!alloc_reserve(alloc, (void **)&w->threads, &w->threads_capacity, w->threads_n + 1,
                       sizeof *w->threads) ||
        !pair_map_put(&w->thread_of, process, tid, (uint32_t)w->threads_n))
        return SIZE_MAX;
    w->threads[w->threads_n] = (struct nettrace_output_thread){.pid = pid, .tid = tid};
    return w->threads_n++;
}

/* Returns the table entry of a thread id; enlarges the table if needed. Returns NULL if memory is
 * out. */
static struct nettrace_thread_id *find_or_add_thread_id(struct ttr_writer *out, ttr_id id)
{
    struct nettrace_writer *w = out->ctx;
    size_t n = w->by_id_n ? w->by_id_n : 64;
    while (n <= id)
        n *= 2;
    if (n > w->by_id_n) {
        struct nettrace_thread_id *by_id =
            alloc_resize(&out->t->counted, w->by_id, w->by_id_n, n, sizeof *by_id);
        if (!by_id)
            return NULL;
        memset(by_id + w->by_id_n, 0, (n - w->by_id_n) * sizeof *by_id);
        w->by_id = by_id;
        w->by_id_n = n;
    }
    return &w->by_id[id];
}

size_t nettrace_get_output_thread_index(struct ttr_writer *out, ttr_id id)
{
    struct nettrace_writer *w = out->ctx;
    ttr_thread thread = {0};
    if (id < w->by_id_n && w->by_id[id].index)
        return w->by_id[id].index - 1;
    (void)ttr_thread_get(out->t, id, &thread);
    size_t index = nettrace_get_thread_index_of_tid(w, thread.pid, thread.tid);
    struct nettrace_thread_id *entry = index == SIZE_MAX ? NULL : find_or_add_thread_id(out, id);
    if (!entry)
        return SIZE_MAX;
    bool is_settled = thread.pid_known || id == 0; /* an unknown pid may still become known */
    entry->index = is_settled || !nettrace_is_v6(w) ? (uint32_t)index + 1 : 0;
    if (!w->threads[index].thread)
        w->threads[index].thread = id;
    return index;
}

/* V6: returns true if the name of thread `id` can be stored in the row of `thread`. Threads of two
 * inputs with equal pid and tid share a row, which contains the name of the first. */
static bool can_store_name(struct ttr_writer *out, const struct nettrace_output_thread *thread,
                           ttr_id id, ttr_id name)
{
    ttr_thread first;
    if (ttr_text_get(out->t, name).n > NAME_BYTES_MAX)
        return false;
    return thread->thread == id ||
           (ttr_thread_get(out->t, thread->thread, &first) && first.thread_name == name);
}

bool nettrace_count_lost_names(struct ttr_writer *out, ttr_id id, size_t index, uint64_t offset)
{
    const struct nettrace_writer *w = out->ctx;
    ttr_thread about;
    if (!ttr_thread_get(out->t, id, &about) || (!about.process_name && !about.thread_name))
        return true;
    struct nettrace_thread_id *entry = find_or_add_thread_id(out, id);
    if (!entry)
        return false;
    bool is_process = about.process_name && about.process_name != entry->process_name;
    bool is_thread = about.thread_name && about.thread_name != entry->thread_name;
    if (is_process || (is_thread && !(nettrace_is_v6(w) && can_store_name(out, &w->threads[index],
                                                                          id, about.thread_name))))
        output_count_loss(out, NETTRACE_LOST_THREAD_NAME, offset);
    entry->process_name = about.process_name ? about.process_name : entry->process_name;
    entry->thread_name = about.thread_name ? about.thread_name : entry->thread_name;
    return true;
}

/* V6: appends a row of the thread table: u16 size, varint index, properties. */
static void append_thread_row(struct ttr_writer *out, struct nettrace_output_thread *thread)
{
    struct nettrace_writer *w = out->ctx;
    struct buffer *to = &w->blocks.threads;
    size_t at = to->n;
    ttr_thread about = {0};
    (void)ttr_thread_get(out->t, thread->thread, &about);
    ttr_text name = ttr_text_get(out->t, about.thread_name);
    thread->declared_name = about.thread_name;
    nettrace_append_u16(to, 0);
    nettrace_append_varint(to, thread->index);
    if (name.n && name.n <= NAME_BYTES_MAX) {
        buffer_add_byte(to, ROW_NAME);
        nettrace_append_string(to, name);
    }
    buffer_add_byte(to, ROW_PID);
    nettrace_append_varint(to, thread->pid);
    buffer_add_byte(to, ROW_TID);
    nettrace_append_varint(to, thread->tid);
    if (!to->failed)
        store_u16le(to->bytes + at, (uint16_t)(to->n - at - 2));
}

/* Adds a thread to the list of declared threads. If memory runs out, the caller reports it after
 * the event. */
static void record_declared_thread(struct ttr_writer *out, uint32_t index)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_block_writer *blocks = &w->blocks;
    if (alloc_reserve(&out->t->counted, (void **)&blocks->declared, &blocks->declared_capacity,
                      (size_t)blocks->declared_n + 1, sizeof *blocks->declared))
        blocks->declared[blocks->declared_n++] = index;
    else
        w->is_out_of_memory = true;
}

uint64_t nettrace_declare_thread(struct ttr_writer *out, size_t index)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_output_thread *thread = &w->threads[index];
    if (!nettrace_is_v6(w))
        return thread->tid;
    if (thread->generation != w->blocks.generation) {
        record_declared_thread(out, (uint32_t)index);
        thread->generation = w->blocks.generation;
        thread->index = w->blocks.declared_n;
        thread->sequence = 0;
        append_thread_row(out, thread);
    }
    return thread->index;
}

bool nettrace_thread_is_renamed(const struct ttr_writer *out, size_t index)
{
    const struct nettrace_writer *w = out->ctx;
    const struct nettrace_output_thread *thread = &w->threads[index];
    ttr_thread about;
    return thread->generation == w->blocks.generation &&
           ttr_thread_get(out->t, thread->thread, &about) &&
           about.thread_name != thread->declared_name;
}

bool nettrace_threads_are_stale(struct ttr_writer *out)
{
    enum { INDICES_MAX = 4096 };
    const struct nettrace_writer *w = out->ctx;
    bool is_stale = w->blocks.declared_n > INDICES_MAX;
    for (size_t i = 0; !is_stale && i < w->blocks.declared_n; i++)
        is_stale = nettrace_thread_is_renamed(out, w->blocks.declared[i]);
    return is_stale;
}

/* --- Threads that an event refers to --- */

const struct nettrace_reader *nettrace_get_source_reader(const struct ttr_writer *out,
                                                         const ttr_event *event)
{
    const struct schema *schema = context_schema(out->t, event->schema);
    const struct nettrace_type *type = schema->ctx;
    return schema->format == out->format && schema->ops == &nettrace_field_ops ? type->reader
                                                                               : NULL;
}

/* Returns the index of the output thread that captured an event: the thread of its track if the
 * source is nettrace, else the thread of the event. Returns SIZE_MAX if memory runs out. */
static size_t find_capture_thread(struct ttr_writer *out, const ttr_event *event, size_t thread)
{
    struct nettrace_writer *w = out->ctx;
    ttr_track track;
    if (event->track && event->track == w->last_track &&
        (w->is_capture || w->last_capture == thread))
        return w->last_capture;
    w->is_capture = nettrace_get_source_reader(out, event) != NULL;
    size_t capture = thread;
    if (w->is_capture && ttr_track_get(out->t, event->track, &track))
        capture = nettrace_get_thread_index_of_tid(w, w->threads[thread].pid, track.number);
    if (capture == SIZE_MAX ||
        (event->track && !pair_map_put(&w->of_track, event->track, 0, (uint32_t)capture)))
        return SIZE_MAX;
    w->last_track = event->track;
    w->last_capture = capture;
    return capture;
}

bool nettrace_set_header_threads(struct ttr_writer *out, const ttr_event *event,
                                 struct nettrace_header *header)
{
    struct nettrace_writer *w = out->ctx;
    size_t thread = nettrace_get_output_thread_index(out, event->thread);
    size_t capture = thread == SIZE_MAX ? SIZE_MAX : find_capture_thread(out, event, thread);
    if (capture == SIZE_MAX)
        return false;
    header->thread = nettrace_declare_thread(out, thread);
    header->capture = nettrace_declare_thread(out, capture);
    w->threads[capture].missing = 0;
    header->sequence = ++w->threads[capture].sequence;
    header->cpu = event->flags & TTR_EVENT_HAS_CPU ? event->cpu : UINT32_MAX;
    return true;
}
