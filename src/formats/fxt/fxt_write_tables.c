/* String and thread tables of a written trace: an id gets a slot at its first use; later records
 * refer to the slot.
 *
 * Ids of the model are small integers, so a slot is found in an array of pages without hashing.
 * When a table is full (32,767 strings, 255 threads), new ids are written inline. When inline refs
 * have cost as many bytes as registering all ids again, the table is cleared, because other ids are
 * in use by then. Computed for threads in random order, compared with replacing the oldest entry:
 * 3 instead of 11 bytes per event for 300 threads, 13 instead of 21 for 1,000. Left out: evicting
 * single entries. */
#include "base/utf.h"
#include "formats/fxt/fxt_write.h"

void fxt_slots_init(struct fxt_slots *slots, uint32_t limit, uint32_t patience)
{
    *slots = (struct fxt_slots){.limit = limit, .patience = patience, .epoch = 1};
}

void fxt_slots_free(struct fxt_slots *slots, const struct alloc *alloc)
{
    alloc_free(alloc, slots->page, slots->pages, sizeof *slots->page);
    alloc_free(alloc, slots->entry, slots->entries, sizeof *slots->entry);
    slots->page = NULL;
    slots->entry = NULL;
    slots->pages = slots->entries = slots->used_pages = 0;
}

void fxt_slots_clear(struct fxt_slots *slots, const struct alloc *alloc)
{
    slots->refused = slots->used = 0;
    /* start a new epoch, which empties all entries, unless all epochs are used or `limit` more
     * pages could exceed the 16-bit page number */
    if (++slots->epoch <= UINT16_MAX && slots->used_pages <= UINT16_MAX - slots->limit)
        return;
    fxt_slots_free(slots, alloc);
    slots->epoch = 1;
}

/* Adds an empty page of entries. Returns false if memory runs out. */
static bool add_page_of_slots(struct fxt_slots *slots, const struct alloc *alloc)
{
    size_t before = slots->entries;
    if (!alloc_reserve(alloc, (void **)&slots->entry, &slots->entries,
                       (slots->used_pages + 1) * FXT_SLOTS_PAGE, sizeof *slots->entry))
        return false;
    memset(slots->entry + before, 0, (slots->entries - before) * sizeof *slots->entry);
    slots->used_pages++;
    return true;
}

/* Returns the entry of an id; adds a page if needed. Returns NULL if memory runs out. */
static uint32_t *get_slots_entry(struct fxt_slots *slots, const struct alloc *alloc, ttr_id id)
{
    size_t page = id / FXT_SLOTS_PAGE, before = slots->pages;
    if (slots->used_pages == 0 && !add_page_of_slots(slots, alloc))
        return NULL;
    if (!alloc_reserve(alloc, (void **)&slots->page, &slots->pages, page + 1, sizeof *slots->page))
        return NULL;
    memset(slots->page + before, 0, (slots->pages - before) * sizeof *slots->page);
    if (slots->page[page] == 0) {
        if (!add_page_of_slots(slots, alloc))
            return NULL;
        slots->page[page] = (uint16_t)(slots->used_pages - 1);
    }
    return &slots->entry[(size_t)slots->page[page] * FXT_SLOTS_PAGE + id % FXT_SLOTS_PAGE];
}

/* Assigns a free slot to an id. cut: FXT_SLOT_CUT if the string was cut off, else 0. Returns the
 * slot; 0 if the table is full or memory runs out. */
static uint32_t assign_slot(struct fxt_writer *w, struct fxt_slots *slots, ttr_id id, uint32_t cut)
{
    if (slots->used >= slots->limit) {
        slots->refused++;
        return 0;
    }
    uint32_t *entry = get_slots_entry(slots, &w->out->t->counted, id);
    if (!entry) {
        w->failed = true;
        return 0;
    }
    *entry = slots->epoch << 16 | cut | ++slots->used;
    return slots->used;
}

struct fxt_text fxt_inline_text(struct fxt_writer *w, ttr_text text, size_t limit)
{
    size_t n = text.n;
    if (n > limit) {
        n = utf8_truncated_length(text.p, n, limit);
        fxt_count_loss(w, FXT_LOST_TEXT);
    }
    return (struct fxt_text){.ref = n ? FXT_REF_INLINE | (uint32_t)n : 0, .p = text.p};
}

static struct fxt_text register_text(struct fxt_writer *w, ttr_id id, ttr_text text)
{
    struct fxt_output to;
    struct fxt_slots *slots = &w->target->strings;
    uint32_t slot = assign_slot(w, slots, id, text.n > FXT_STRING_MAX ? FXT_SLOT_CUT : 0);
    if (!slot)
        return fxt_inline_text(w, text, FXT_INLINE_MAX);
    size_t n = text.n;
    if (n > FXT_STRING_MAX) {
        n = utf8_truncated_length(text.p, n, FXT_STRING_MAX);
        fxt_count_loss(w, FXT_LOST_TEXT);
    }
    if (fxt_begin_record(w, &to, 1 + fxt_words_for_bytes(n),
                         FXT_STRING | fxt_set_bits(FXT_STRING_INDEX, slot) |
                             fxt_set_bits(FXT_STRING_BYTES, n)))
        fxt_append_stream(&to, text.p, n);
    return (struct fxt_text){.ref = slot};
}

struct fxt_text fxt_register_text(struct fxt_writer *w, ttr_id id)
{
    uint32_t slot = w->is_inline ? 0 : fxt_slots_find(&w->target->strings, id);
    if (slot) {
        if (slot & FXT_SLOT_CUT)
            fxt_count_loss(w, FXT_LOST_TEXT);
        return (struct fxt_text){.ref = slot & FXT_REF_LENGTH};
    }
    ttr_text text = ttr_text_get(w->out->t, id);
    if (text.n == 0)
        return (struct fxt_text){.ref = 0};
    return w->is_inline ? fxt_inline_text(w, text, FXT_INLINE_MAX) : register_text(w, id, text);
}

bool fxt_is_text_registered(const struct fxt_writer *w, ttr_id id)
{
    if (id == 0 || w->is_inline)
        return false;
    const struct fxt_slots *slots = &w->target->strings;
    return slots->used < slots->limit || fxt_slots_find(slots, id);
}

/* --- Threads and their names --- */

/* Writes a kernel object record with the name of a process or thread (specification: "Kernel
 * object record"). */
static void write_name_object(struct fxt_writer *w, const ttr_thread *thread, bool is_thread)
{
    struct fxt_output to;
    bool has_process = is_thread && thread->pid_known;
    struct fxt_text key = {.ref = 0};
    if (has_process)
        key = fxt_inline_text(w, (ttr_text){"process", 7}, FXT_INLINE_MAX);
    struct fxt_text name =
        fxt_get_string_ref(w, is_thread ? thread->thread_name : thread->process_name);
    uint64_t words =
        2 + fxt_get_inline_words(name.ref) + (has_process ? 2 + fxt_get_inline_words(key.ref) : 0);
    uint64_t type = is_thread ? FXT_KERNEL_THREAD : FXT_KERNEL_PROCESS;
    if (!fxt_begin_record(w, &to, words,
                          FXT_KERNEL_OBJECT | fxt_set_bits(FXT_KERNEL_TYPE, type) |
                              fxt_set_bits(FXT_KERNEL_NAME, name.ref) |
                              fxt_set_bits(FXT_KERNEL_ARGS, has_process)))
        return;
    fxt_append_word(&to, is_thread ? thread->tid : thread->pid);
    fxt_append_text(&to, &name);
    if (!has_process)
        return;
    fxt_append_word(&to, FXT_ARG_KOID |
                             fxt_set_bits(FXT_ARG_SIZE, 2 + fxt_get_inline_words(key.ref)) |
                             fxt_set_bits(FXT_ARG_NAME, key.ref));
    fxt_append_text(&to, &key);
    fxt_append_word(&to, thread->pid);
}

/* Allocates space for the names of a thread. Clears each array right after its reallocation,
 * because the next one may fail. */
static bool reserve_names(struct fxt_writer *w, ttr_id thread)
{
    const ttr *t = w->out->t;
    const struct alloc *alloc = &w->out->t->counted;
    size_t known = w->known_n, processes = w->processes_n;
    bool has_room =
        alloc_reserve(alloc, (void **)&w->known, &w->known_n, (size_t)thread + 1, sizeof *w->known);
    if (w->known_n > known)
        memset(w->known + known, 0, (w->known_n - known) * sizeof *w->known);
    has_room = has_room && alloc_reserve(alloc, (void **)&w->processes, &w->processes_n,
                                         t->processes_n, sizeof *w->processes);
    if (w->processes_n > processes)
        memset(w->processes + processes, 0, (w->processes_n - processes) * sizeof *w->processes);
    w->failed |= !has_room;
    return has_room;
}

/* Remembers that a record contains the koids of the thread and its process together. Readers
 * assign a koid to the thread with which it was written last: in a thread record, inline, or in an
 * object. */
static void write_thread_record(struct fxt_writer *w, ttr_id id)
{
    ttr_thread thread = {0};
    if (id >= w->out->t->threads_n || !reserve_names(w, id) || w->known[id].is_introduced)
        return;
    (void)ttr_thread_get(w->out->t, id, &thread);
    w->known[id].is_introduced = true;
    if (pair_map_get(&w->introduced, thread.pid, thread.tid))
        return; /* another thread has these koids, or the event has no thread */
    if (!pair_map_put(&w->introduced, thread.pid, thread.tid, id) ||
        !pair_map_put(&w->by_koid, thread.tid, 0, id))
        w->failed = true;
}

static void write_changed_names(struct fxt_writer *w, ttr_id id)
{
    const ttr *t = w->out->t;
    uint32_t process = t->threads[id].process;
    ttr_thread thread;
    if (!ttr_thread_get(t, id, &thread))
        return;
    if (thread.process_name && thread.process_name != w->processes[process]) {
        write_name_object(w, &thread, false);
        w->processes[process] = thread.process_name;
    }
    if (!thread.thread_name || thread.thread_name == w->known[id].name)
        return;
    w->known[id].name = thread.thread_name;
    if (!thread.tid_known) {
        fxt_count_loss(w, FXT_LOST_THREAD_NAME);
        return;
    }
    write_name_object(w, &thread, true);
    write_thread_record(w, id);
}

/* Writes the names of a thread and its process at first use, and when a name has changed. Does not
 * write names from FXT traces, which arrive as object events; fxt_write_missing_names writes those
 * that do not. */
static void write_thread_names(struct fxt_writer *w, ttr_id id)
{
    const ttr *t = w->out->t;
    if (id < w->known_n && w->known[id].stamp == w->stamp)
        return;
    if (id >= t->threads_n || !reserve_names(w, id))
        return;
    w->known[id].stamp = w->stamp;
    if (id && t->sources[t->threads[id].source].format != w->out->format->name)
        write_changed_names(w, id);
}

void fxt_write_missing_names(struct fxt_writer *w)
{
    for (size_t id = 1; id < w->known_n && w->target; id++)
        if (w->known[id].stamp)
            write_changed_names(w, (ttr_id)id);
}

void fxt_record_thread_name(struct fxt_writer *w, ttr_id thread, ttr_id name)
{
    if (!thread || !reserve_names(w, thread))
        return;
    write_thread_record(w, thread);
    w->known[thread].name = name;
}

void fxt_record_process_name(struct fxt_writer *w, ttr_id thread, ttr_id name)
{
    if (thread && thread < w->out->t->threads_n && reserve_names(w, thread))
        w->processes[w->out->t->threads[thread].process] = name;
}

static struct fxt_thread register_thread(struct fxt_writer *w, ttr_id id)
{
    struct fxt_output to;
    ttr_thread thread = {0};
    (void)ttr_thread_get(w->out->t, id, &thread);
    struct fxt_thread in_place = {.pid = thread.pid, .tid = thread.tid};
    uint32_t slot = w->is_inline ? 0 : assign_slot(w, &w->target->threads, id, 0);
    if (!slot)
        return in_place;
    if (fxt_begin_record(w, &to, FXT_THREAD_WORDS,
                         FXT_THREAD | fxt_set_bits(FXT_THREAD_INDEX, slot))) {
        fxt_append_word(&to, thread.pid);
        fxt_append_word(&to, thread.tid);
    }
    return (struct fxt_thread){.ref = slot};
}

static struct fxt_thread append_thread_reference(struct fxt_writer *w, ttr_id id)
{
    if (id == 0 || !w->out->t->threads[id < w->out->t->threads_n ? id : 0].tid_known)
        fxt_count_loss(w, FXT_LOST_THREAD_NONE);
    write_thread_names(w, id);
    uint32_t slot = w->is_inline ? 0 : fxt_slots_find(&w->target->threads, id);
    if (slot == 0)
        return register_thread(w, id);
    return (struct fxt_thread){.ref = slot};
}

struct fxt_thread fxt_register_thread(struct fxt_writer *w, ttr_id id)
{
    write_thread_record(w, id);
    if (id && id < w->known_n && w->out->t->threads[id].tid_known)
        w->known[id].is_plain = true;
    return append_thread_reference(w, id);
}

void fxt_prepare_koid(struct fxt_writer *w, ttr_id id)
{
    ttr_thread thread;
    if (ttr_thread_get(w->out->t, id, &thread) && thread.pid_known &&
        append_thread_reference(w, id).ref)
        write_thread_record(w, id);
}

uint64_t fxt_get_thread_koid(struct fxt_writer *w, ttr_id id)
{
    ttr_thread thread, taken_for = {0}; /* events without a thread use this value of zeros */
    if (!ttr_thread_get(w->out->t, id, &thread)) {
        fxt_count_loss(w, FXT_LOST_THREAD_NONE);
        return 0;
    }
    const uint32_t *last = pair_map_get(&w->by_koid, thread.tid, 0);
    if (last)
        (void)ttr_thread_get(w->out->t, *last, &taken_for);
    if (thread.pid_known && (!last || taken_for.pid != thread.pid))
        fxt_count_loss(w, FXT_LOST_THREAD_KOID);
    return thread.tid;
}
