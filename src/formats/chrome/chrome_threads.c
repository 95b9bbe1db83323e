/* Threads: formats their ids as text once, and writes their names as metadata events when they
 * change. Readers add names only between batches, so the names of a thread are compared once per
 * batch. */
#include "formats/chrome/chrome.h"

static bool reserve_entries(struct ttr_writer *out, void **items, size_t *n, size_t need,
                            size_t size)
{
    size_t before = *n;
    if (!alloc_reserve(&out->t->counted, items, n, need, size)) {
        out->buffer.failed = true;
        return false;
    }
    if (*n > before)
        memset((char *)*items + before * size, 0, (*n - before) * size);
    return true;
}

/* Returns the number to write for a pid, or for a tid if `is_tid`. It is another number if the id
 * is too large. */
static uint64_t assign_number(struct ttr_writer *out, uint64_t id, bool is_tid)
{
    struct chrome *ctx = out->ctx;
    if (id <= CHROME_ID_MAX)
        return id;
    const uint32_t *known = pair_map_get(&ctx->renumbered, id, is_tid);
    if (known)
        return *known;
    uint32_t number = CHROME_ID_FIRST + ctx->next_id++;
    out->buffer.failed |= !pair_map_put(&ctx->renumbered, id, is_tid, number);
    return number;
}

static size_t append_ids(struct ttr_writer *out, char *to, uint64_t pid, uint64_t tid)
{
    char *at = emit_u64(emit_constant(to, ",\"pid\":"), assign_number(out, pid, false));
    at = emit_u64(emit_constant(at, ",\"tid\":"), assign_number(out, tid, true));
    return (size_t)(at - to);
}

/* Counts a loss if two inputs use the same pid for different processes, because viewers merge
 * these. */
static void count_shared_pid(struct ttr_writer *out, ttr_id id, uint64_t pid, uint64_t offset)
{
    struct chrome *ctx = out->ctx;
    uint16_t source = out->t->threads[id].source;
    const uint32_t *first = pair_map_get(&ctx->pids, pid, 0);
    if (first && (*first == source || pair_map_get(&ctx->pids, pid, (uint64_t)source + 1)))
        return;
    if (first)
        output_count_loss(out, CHROME_SAME_PID, offset);
    out->buffer.failed |= !pair_map_put(&ctx->pids, pid, first ? (uint64_t)source + 1 : 0, source);
}

/* Returns the entry of a thread, with its ids formatted. `thread` is all zeros if the event has no
 * thread. If memory runs out, sets `failed` of the buffer and returns NULL. */
static struct chrome_thread *find_thread_entry(struct ttr_writer *out, ttr_id id,
                                               const ttr_thread *thread, uint64_t offset)
{
    struct chrome *ctx = out->ctx;
    if (id >= ctx->threads_n && !reserve_entries(out, (void **)&ctx->threads, &ctx->threads_n,
                                                 (size_t)id + 1, sizeof *ctx->threads))
        return NULL;
    struct chrome_thread *slot = &ctx->threads[id];
    /* open spans must end with the same ids with which they began */
    if (slot->ids_n > 0 && (!slot->is_guess || slot->open_n > 0))
        return slot;
    slot->is_guess = !thread->pid_known || !thread->tid_known;
    if (slot->ids_n == 0 && id)
        count_shared_pid(out, id, thread->pid, offset);
    if (slot->ids_n == 0 && (thread->pid > CHROME_ID_MAX || thread->tid > CHROME_ID_MAX))
        output_count_loss(out, CHROME_WIDE_ID, offset);
    if (slot->ids_n == 0)
        slot->rank.time_ns = INT64_MIN;
    slot->ids_n = (uint8_t)append_ids(out, slot->ids, thread->pid, thread->tid);
    return slot;
}

static void write_metadata(struct ttr_writer *out, const char *what,
                           const struct chrome_thread *thread, int64_t time_ns)
{
    struct chrome_line line = {
        .phase = 'M', .ids = thread->ids, .ids_n = thread->ids_n, .category = {"", 0}, .extra = ""};
    line.time_ns = time_ns;
    line.name = (ttr_text){what, strlen(what)};
    chrome_begin_line(out, &line);
}

/* Appends the member "name": the thread's or process's name, and its real id if another number is
 * written. */
static void add_name_args(struct ttr_writer *out, const char *id_word, ttr_id name, uint64_t id)
{
    struct chrome *ctx = out->ctx;
    struct buffer text;
    char number[NUMBER_MAX];
    if (id <= CHROME_ID_MAX) {
        chrome_add_string(ctx, "name", out->t, name);
        return;
    }
    ttr_text plain = ttr_text_get(out->t, name);
    buffer_init(&text, &out->t->counted);
    buffer_add(&text, plain.p, plain.n);
    buffer_add_text(&text, plain.n ? " (" : "(");
    buffer_add_text(&text, id_word);
    buffer_add_byte(&text, ' ');
    buffer_add(&text, number, number_format_u64(number, id));
    buffer_add_byte(&text, ')');
    out->buffer.failed |= text.failed;
    field_json_append_constant_name(&ctx->fields, "name");
    field_json_append_value(
        &ctx->fields, &(ttr_value){.type = TTR_TYPE_TEXT,
                                   .text = {(const char *)text.bytes, text.failed ? 0 : text.n}});
    buffer_free(&text);
}

static void write_process_name(struct ttr_writer *out, const struct chrome_thread *thread,
                               ttr_id name, uint64_t pid)
{
    const struct chrome *ctx = out->ctx;
    write_metadata(out, "process_name", thread, ctx->base_ns);
    add_name_args(out, "pid", name, pid);
    chrome_end_line(out);
}

static void write_thread_name(struct ttr_writer *out, const struct chrome_thread *thread,
                              ttr_id name, uint64_t tid)
{
    const struct chrome *ctx = out->ctx;
    write_metadata(out, "thread_name", thread, ctx->base_ns);
    add_name_args(out, "tid", name, tid);
    chrome_end_line(out);
}

/* Stores a name in `*written`. Returns true if the name differs from the previous one. */
static bool update_written_name(struct ttr_writer *out, ttr_id *written, ttr_id name,
                                uint64_t offset)
{
    if (name == 0 || name == *written)
        return false;
    if (*written)
        output_count_loss(out, CHROME_RENAMED, offset);
    *written = name;
    return true;
}

static ttr_id *find_written_process_name(struct ttr_writer *out, uint32_t process)
{
    struct chrome *ctx = out->ctx;
    if (process >= ctx->processes_n &&
        !reserve_entries(out, (void **)&ctx->processes, &ctx->processes_n, (size_t)process + 1,
                         sizeof *ctx->processes))
        return NULL;
    return &ctx->processes[process];
}

void chrome_write_changed_names(struct ttr_writer *out, ttr_id id, uint64_t offset)
{
    const struct chrome *ctx = out->ctx;
    ttr_thread known = {0};
    bool is_known = ttr_thread_get(out->t, id, &known);
    struct chrome_thread *thread = find_thread_entry(out, is_known ? id : 0, &known, offset);
    if (!thread)
        return;
    const bool is_first = thread->batch == 0;
    thread->batch = ctx->batch;
    if (!is_known)
        return;
    ttr_id *process = find_written_process_name(out, out->t->threads[id].process);
    if (process && (update_written_name(out, process, known.process_name, offset) ||
                    (is_first && known.pid > CHROME_ID_MAX && !known.process_name)))
        write_process_name(out, thread, known.process_name, known.pid);
    if (update_written_name(out, &thread->name, known.thread_name, offset) ||
        (is_first && known.tid > CHROME_ID_MAX && !known.thread_name))
        write_thread_name(out, thread, known.thread_name, known.tid);
}

void chrome_write_all_changed_names(struct ttr_writer *out)
{
    const struct chrome *ctx = out->ctx;
    for (size_t id = 1; id < ctx->threads_n; id++)
        if (ctx->threads[id].ids_n > 0)
            chrome_write_changed_names(out, (ttr_id)id, 0);
}

struct chrome_thread *chrome_find_track(struct ttr_writer *out, ttr_id id)
{
    struct chrome *ctx = out->ctx;
    ttr_track track;
    if (!ttr_track_get(out->t, id, &track) || !track.name)
        return NULL;
    if (id >= ctx->tracks_n && !reserve_entries(out, (void **)&ctx->tracks, &ctx->tracks_n,
                                                (size_t)id + 1, sizeof *ctx->tracks))
        return NULL;
    struct chrome_thread *slot = &ctx->tracks[id];
    if (slot->ids_n > 0)
        return slot;
    slot->rank.time_ns = INT64_MIN;
    slot->ids_n = (uint8_t)append_ids(out, slot->ids, CHROME_TRACK_PID, id);
    if (!ctx->has_tracks) {
        write_metadata(out, "process_name", slot, ctx->base_ns);
        chrome_add_text(ctx, "name", "tracks without threads");
        chrome_end_line(out);
    }
    ctx->has_tracks = true;
    write_thread_name(out, slot, track.name, id);
    return slot;
}

/* Returns the index of the process to which an object event refers; NULL if the process is
 * unknown. */
static const uint32_t *get_process_of_object(const struct ttr_writer *out, const ttr_event *event)
{
    return event->source < out->t->sources_n
               ? pair_map_get(&out->t->sources[event->source].processes, event->link, 0)
               : NULL;
}

static const uint32_t *get_thread_of_object(const struct ttr_writer *out, const ttr_event *event)
{
    if (event->thread || event->source >= out->t->sources_n)
        return event->thread ? &event->thread : NULL;
    return pair_map_get(&out->t->sources[event->source].threads_by_tid, event->link, 0);
}

/* Finds the ids of the process or thread that an object event names, and stores the name as
 * written. */
static void find_ids_of_named_object(struct ttr_writer *out, const ttr_event *event,
                                     struct chrome_thread *ids)
{
    if (event->tag == TTR_OBJECT_PROCESS) {
        const uint32_t *process = get_process_of_object(out, event);
        ttr_id *name = process ? find_written_process_name(out, *process) : NULL;
        if (name)
            (void)update_written_name(out, name, event->name, event->offset);
        ids->ids_n = (uint8_t)append_ids(out, ids->ids, event->link, 0);
        return;
    }
    const uint32_t *id = get_thread_of_object(out, event);
    ttr_thread known;
    bool is_known = id && ttr_thread_get(out->t, *id, &known);
    struct chrome_thread *thread =
        is_known ? find_thread_entry(out, *id, &known, event->offset) : NULL;
    if (thread)
        (void)update_written_name(out, &thread->name, event->name, event->offset);
    if (thread)
        *ids = *thread;
    else
        ids->ids_n = (uint8_t)append_ids(out, ids->ids, 0, event->link);
}

void chrome_write_name_object(struct ttr_writer *out, const ttr_event *event)
{
    struct chrome *ctx = out->ctx;
    struct chrome_thread ids = {0};
    find_ids_of_named_object(out, event, &ids);
    write_metadata(out, event->tag == TTR_OBJECT_PROCESS ? "process_name" : "thread_name", &ids,
                   chrome_get_line_time(ctx, event));
    add_name_args(out, event->tag == TTR_OBJECT_PROCESS ? "pid" : "tid", event->name, event->link);
    field_json_append_fields(&ctx->fields, event);
    chrome_add_attributes(ctx, event);
    chrome_end_line(out);
}
