/* Parallel writer: helper threads format batches of lines (see parallel_writer.h).
 *
 * Order of calls: parallel_writer_start starts the helper threads. The caller passes every batch to
 * parallel_writer_write; each helper reads the same trace and passes every batch to
 * handle_helper_batch. parallel_writer_flush waits for all texts, parallel_writer_stop stops the
 * threads.
 *
 *   batch:      0        1        2        3        4
 *   caller:     format   pass     format   pass     ...      claimed = 4
 *   helper:     pass     format   pass     format   ...      texts_written = 2
 *   slot:       free     free     written  claimed
 *
 * Algorithm: work sharing by a claim counter. Batches are numbered in reading order. The first
 * thread that reaches batch n increments `claimed` from n to n + 1 (compare and swap), formats the
 * batch into a slot, and marks the slot as written. All other threads only pass the batch, which
 * updates their writer's state. The caller writes the texts to the sink in order of the batches (a
 * ring of SLOTS slots, as a reorder buffer).
 *
 * Invariants: texts_written <= at <= claimed <= texts_written + SLOTS. `claimed` grows by one at a
 * time, since no thread passes an unclaimed batch. Only the caller's thread touches the sink, the
 * ledger and the caller's context. A helper's batch is used only if its fingerprint
 * (batch_fingerprint) equals that of the caller's batch: if the trace grew between the reads, the
 * helpers are stopped and the caller formats the rest.
 *
 * Cost: every thread decodes the whole trace; formatting is divided. At most TEXT_WAITING_MAX bytes
 * of text wait for the sink. A thread polls for about 20 us before it sleeps.
 *
 * Left out: formats with output that depends on later batches, folders, and strict mode, which
 * needs losses in order. */
#include "model/parallel_writer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/status.h"
#include "model/context.h"

#define SLOTS 16u
/* bytes; a larger text buffer is freed after use */
#define TEXT_CAPACITY_KEPT ((size_t)256 << 10)
/* bytes; limit of formatted text that waits for the sink; at that limit helper threads pause */
#define TEXT_WAITING_MAX ((size_t)4 << 20)
#define POLLS_MAX 2000u /* polls before a thread sleeps, about 20 us */

/* Fingerprint of a batch: equal fingerprints mean that two readers returned the same events. */
struct batch_fingerprint {
    uint32_t n;
    uint16_t source[2];
    int64_t time[2];
    uint64_t offset[2];
};

enum slot_state { SLOT_FREE = 0, SLOT_CLAIMED, SLOT_WRITTEN };

struct slot {
    _Atomic enum slot_state state;
    struct batch_fingerprint print;
    struct buffer *text; /* text of the batch, in a buffer of the thread that formatted it */
    ttr_loss *lost;      /* losses in the batch, in the order of format->writer->losses */
    bool has_lost;
    ttr_status status;
    ttr_error error;
};

/* Writer state of a thread; worker[0] is the caller's thread. */
struct worker {
    struct parallel_writer *shared;
    struct ttr_writer *writer; /* writer of this thread; a helper's is never written to a sink */
    struct buffer text[SLOTS];
    pthread_t thread;
};

struct parallel_writer {
    struct ttr_writer *out;
    struct reader_reopener again;
    _Atomic uint64_t claimed;       /* number of batches claimed */
    _Atomic uint64_t texts_written; /* number of texts written to the sink */
    _Atomic size_t waiting;         /* bytes of formatted text that waits for the sink */
    uint64_t at;                    /* number of the caller's next batch */
    atomic_bool is_ending;
    pthread_mutex_t lock;
    pthread_cond_t room, written;
    atomic_uint sleepers;      /* number of helper threads that wait for TEXT_WAITING_MAX */
    atomic_bool is_waited_for; /* the caller's thread sleeps until a helper has formatted a batch */
    struct slot slot[SLOTS];
    struct worker *worker;
    /* allocated entries of `worker`, and number of running helper threads: worker[1] to
     * worker[threads_n] */
    unsigned workers_n, threads_n;
};

static struct batch_fingerprint compute_batch_fingerprint(const ttr_batch *batch)
{
    const ttr_event *first = ttr_batch_at(batch, 0), *last = ttr_batch_at(batch, batch->n - 1);
    return (struct batch_fingerprint){.n = batch->n,
                                      .source = {first->source, last->source},
                                      .time = {first->time, last->time},
                                      .offset = {first->offset, last->offset}};
}

static bool fingerprints_equal(const struct batch_fingerprint *a, const struct batch_fingerprint *b)
{
    return a->n == b->n && a->source[0] == b->source[0] && a->source[1] == b->source[1] &&
           a->time[0] == b->time[0] && a->time[1] == b->time[1] && a->offset[0] == b->offset[0] &&
           a->offset[1] == b->offset[1];
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static uint64_t count_events(const ttr_batch *batch)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < batch->n; i++) {
        const uint8_t kind = ttr_batch_at(batch, i)->kind;
        events += kind != TTR_KIND_DEFINITION && kind != TTR_KIND_GAP;
    }
    return events;
}

/* --- Claims and formatting --- */

/* Claims batch number `batch` for this thread. Returns false if another thread has claimed it. */
static bool claim_batch(struct parallel_writer *shared, uint64_t batch)
{
    uint64_t expected = batch;
    return atomic_compare_exchange_strong(&shared->claimed, &expected, batch + 1);
}

/* Formats a batch that this thread has claimed into its slot. */
static void format_claimed_batch(struct worker *worker, uint64_t number, const ttr_batch *batch)
{
    struct ttr_writer *writer = worker->writer;
    struct slot *slot = &worker->shared->slot[number % SLOTS];
    struct buffer *text = &worker->text[number % SLOTS], ctx = writer->buffer;
    writer->buffer = *text;
    slot->status = writer->format->writer->write(writer, batch, &slot->error);
    if (slot->status == TTR_OK && writer->buffer.failed)
        slot->status = fail_memory(&slot->error);
    *text = writer->buffer;
    writer->buffer = ctx;
    slot->text = text;
    slot->has_lost = writer->losses_total > 0;
    for (size_t i = 0; slot->has_lost && i < writer->format->writer->losses_n; i++) {
        slot->lost[i] = writer->ledger[i];
        writer->ledger[i].count = writer->ledger[i].first_offset = 0;
    }
    writer->losses_total = 0;
    atomic_fetch_add(&worker->shared->waiting, text->n);
    atomic_store(&slot->state, SLOT_WRITTEN);
}

static bool batch_has_room(struct parallel_writer *shared, uint64_t batch)
{
    return batch < atomic_load(&shared->texts_written) + SLOTS &&
           atomic_load(&shared->waiting) < TEXT_WAITING_MAX;
}

/* Waits until the text of this batch fits the limit, another thread has claimed the batch, or the
 * writer stops. */
static void wait_for_room(struct parallel_writer *shared, uint64_t batch)
{
    for (unsigned i = 0; i < POLLS_MAX && !batch_has_room(shared, batch); i++)
        cpu_relax();
    if (batch_has_room(shared, batch))
        return;
    (void)pthread_mutex_lock(&shared->lock);
    atomic_fetch_add(&shared->sleepers, 1);
    while (!batch_has_room(shared, batch) && atomic_load(&shared->claimed) == batch &&
           !atomic_load(&shared->is_ending))
        (void)pthread_cond_wait(&shared->room, &shared->lock);
    atomic_fetch_sub(&shared->sleepers, 1);
    (void)pthread_mutex_unlock(&shared->lock);
}

/* Handles a batch on a helper thread: claims and formats it. If another thread has claimed it, only
 * updates the writer's state. */
static void handle_helper_batch(struct worker *worker, uint64_t number, const ttr_batch *batch)
{
    struct parallel_writer *shared = worker->shared;
    struct slot *slot = &shared->slot[number % SLOTS];
    while (atomic_load(&shared->claimed) == number && !batch_has_room(shared, number) &&
           !atomic_load(&shared->is_ending))
        wait_for_room(shared, number);
    if (atomic_load(&shared->is_ending))
        return;
    if (!claim_batch(shared, number)) {
        worker->writer->format->writer->pass(worker->writer, batch);
        return;
    }
    slot->print = compute_batch_fingerprint(batch);
    atomic_store(&slot->state, SLOT_CLAIMED);
    format_claimed_batch(worker, number, batch);
    if (!atomic_load(&shared->is_waited_for))
        return;
    (void)pthread_mutex_lock(&shared->lock);
    (void)pthread_cond_broadcast(&shared->written);
    (void)pthread_mutex_unlock(&shared->lock);
}

static bool create_worker_writer(struct worker *worker, ttr *t)
{
    worker->writer = output_new_helper(worker->shared->out, t);
    return worker->writer != NULL;
}

/* Main function of a helper thread: reads the trace again and formats the batches that no other
 * thread has claimed. Failures are ignored here: the caller's reader fails in the same way. */
static void *helper_main(void *ctx)
{
    struct worker *worker = ctx;
    struct parallel_writer *shared = worker->shared;
    const ttr *of = shared->out->t;
    const ttr_options options = {.size = sizeof options,
                                 .resize = of->alloc.resize,
                                 .user_data = of->alloc.ctx,
                                 .max_memory = of->max_memory,
                                 .max_temporary = of->max_temporary};
    ttr *t = ttr_new(&options);
    if (t)
        context_share_descriptor_pool(t, of);
    ttr_reader *in =
        t && !atomic_load(&shared->is_ending) ? shared->again.open(shared->again.ctx, t) : NULL;
    ttr_batch batch;
    ttr_error error;
    if (in && create_worker_writer(worker, t))
        for (uint64_t i = 0;
             !atomic_load(&shared->is_ending) && ttr_read(in, &batch, &error) == TTR_OK;
             i += batch.n > 0)
            if (batch.n)
                handle_helper_batch(worker, i, &batch);
    if (worker->writer)
        output_free(worker->writer);
    worker->writer = NULL;
    ttr_close(in);
    ttr_free(t);
    return NULL;
}

/* --- The caller's thread --- */

static void wait_for_text(struct parallel_writer *shared, struct slot *slot)
{
    for (unsigned i = 0; i < POLLS_MAX && atomic_load(&slot->state) != SLOT_WRITTEN; i++)
        cpu_relax();
    if (atomic_load(&slot->state) == SLOT_WRITTEN)
        return;
    (void)pthread_mutex_lock(&shared->lock);
    atomic_store(&shared->is_waited_for, true);
    while (atomic_load(&slot->state) != SLOT_WRITTEN)
        (void)pthread_cond_wait(&shared->written, &shared->lock);
    atomic_store(&shared->is_waited_for, false);
    (void)pthread_mutex_unlock(&shared->lock);
}

/* Makes a slot available for a later batch. */
static void release_slot(struct slot *slot)
{
    if (slot->text && slot->text->capacity > TEXT_CAPACITY_KEPT)
        buffer_free(slot->text);
    else if (slot->text)
        buffer_clear(slot->text);
    slot->text = NULL;
    slot->has_lost = false;
    atomic_store(&slot->state, SLOT_FREE);
}

/* Writes the text of the next batch to the sink and adds its losses to the ledger. */
static ttr_status write_next_text(struct parallel_writer *shared, ttr_error *error)
{
    struct ttr_writer *out = shared->out;
    struct slot *slot = &shared->slot[atomic_load(&shared->texts_written) % SLOTS];
    ttr_status status = slot->status;
    if (status == TTR_OK)
        status = output_write_bytes(out, slot->text->bytes, slot->text->n, error);
    else
        *error = slot->error;
    for (size_t i = 0; slot->has_lost && i < out->format->writer->losses_n; i++) {
        ttr_loss *loss = &out->ledger[i];
        loss->first_offset = loss->count ? loss->first_offset : slot->lost[i].first_offset;
        loss->count += slot->lost[i].count;
        out->losses_total += slot->lost[i].count;
    }
    atomic_fetch_sub(&shared->waiting, slot->text->n);
    release_slot(slot);
    atomic_fetch_add(&shared->texts_written, 1);
    if (!atomic_load(&shared->sleepers))
        return status;
    (void)pthread_mutex_lock(&shared->lock);
    (void)pthread_cond_broadcast(&shared->room);
    (void)pthread_mutex_unlock(&shared->lock);
    return status;
}

/* Writes the formatted texts to the sink in batch order. Waits for the texts of all batches before
 * number `end`. */
static ttr_status write_finished_texts(struct parallel_writer *shared, uint64_t end,
                                       ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint64_t i; status == TTR_OK && (i = atomic_load(&shared->texts_written)) < shared->at;) {
        struct slot *slot = &shared->slot[i % SLOTS];
        if (atomic_load(&slot->state) != SLOT_WRITTEN && i >= end)
            break;
        wait_for_text(shared, slot);
        status = write_next_text(shared, error);
    }
    return status;
}

/* Stops the helper threads. Discards their texts for batches that the caller has not read. */
static void stop_helpers(struct parallel_writer *shared)
{
    (void)pthread_mutex_lock(&shared->lock);
    atomic_store(&shared->is_ending, true);
    (void)pthread_cond_broadcast(&shared->room);
    (void)pthread_mutex_unlock(&shared->lock);
    for (unsigned i = 1; i <= shared->threads_n; i++)
        (void)pthread_join(shared->worker[i].thread, NULL);
    shared->threads_n = 0;
    for (uint64_t i = shared->at, following = atomic_load(&shared->claimed); i < following; i++) {
        struct slot *slot = &shared->slot[i % SLOTS];
        atomic_fetch_sub(&shared->waiting, slot->text ? slot->text->n : 0);
        release_slot(slot);
    }
    atomic_store(&shared->claimed, shared->at);
}

/* Returns true if a helper thread formats this batch of the caller. If the helper read other
 * events, stops all helpers and returns false, so that the caller formats the batch. */
static bool is_formatted_by_helper(struct parallel_writer *shared, const ttr_batch *batch)
{
    const struct slot *slot = &shared->slot[shared->at % SLOTS];
    const struct batch_fingerprint print = compute_batch_fingerprint(batch);
    if (claim_batch(shared, shared->at))
        return false;
    for (unsigned i = 0; atomic_load(&slot->state) == SLOT_FREE; i++)
        i < POLLS_MAX ? cpu_relax() : (void)sched_yield();
    if (fingerprints_equal(&slot->print, &print))
        return true;
    stop_helpers(shared);
    return !claim_batch(shared, shared->at);
}

ttr_status parallel_writer_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    struct parallel_writer *shared = out->shared;
    struct worker *worker = &shared->worker[0];
    if (batch->n == 0)
        return TTR_OK;
    const uint64_t before = shared->at < SLOTS ? 0 : shared->at - SLOTS + 1;
    ttr_status status = write_finished_texts(
        shared, atomic_load(&shared->waiting) < TEXT_WAITING_MAX ? before : shared->at, error);
    if (status != TTR_OK)
        return status;
    if (is_formatted_by_helper(shared, batch)) {
        out->format->writer->pass(worker->writer, batch);
        out->events += count_events(batch);
    } else {
        format_claimed_batch(worker, shared->at, batch);
        out->events += worker->writer->events;
        worker->writer->events = 0;
    }
    shared->at++;
    return write_finished_texts(shared, 0, error);
}

ttr_status parallel_writer_flush(struct ttr_writer *out, ttr_error *error)
{
    return out->shared ? write_finished_texts(out->shared, out->shared->at, error) : TTR_OK;
}

/* --- Creation and destruction --- */

void parallel_writer_stop(struct ttr_writer *out)
{
    const struct alloc *alloc = &out->t->counted;
    struct parallel_writer *shared = out->shared;
    const size_t rules = out->format->writer->losses_n;
    if (!shared)
        return;
    stop_helpers(shared);
    out->shared = NULL;
    for (unsigned i = 0; shared->worker && i < shared->workers_n; i++) {
        if (shared->worker[i].writer)
            output_free(shared->worker[i].writer);
        for (unsigned k = 0; k < SLOTS; k++)
            buffer_free(&shared->worker[i].text[k]);
    }
    for (unsigned k = 0; k < SLOTS; k++)
        alloc_free(alloc, shared->slot[k].lost, rules, sizeof *shared->slot[k].lost);
    (void)pthread_cond_destroy(&shared->written);
    (void)pthread_cond_destroy(&shared->room);
    (void)pthread_mutex_destroy(&shared->lock);
    alloc_free(alloc, shared->worker, shared->workers_n, sizeof *shared->worker);
    alloc_free(alloc, shared, 1, sizeof *shared);
}

/* Allocates slots and workers. Text buffers bypass the context's memory count, which only one
 * thread may change. */
static bool allocate_workers(struct parallel_writer *shared, unsigned threads)
{
    const struct alloc *alloc = &shared->out->t->counted;
    const size_t rules = shared->out->format->writer->losses_n;
    bool is_fine = true;
    for (unsigned k = 0; k < SLOTS && rules && is_fine; k++)
        is_fine =
            (shared->slot[k].lost = alloc_zero(alloc, rules, sizeof *shared->slot[k].lost)) != NULL;
    shared->worker = is_fine ? alloc_zero(alloc, threads + 1, sizeof *shared->worker) : NULL;
    if (!shared->worker)
        return false;
    shared->workers_n = threads + 1;
    for (unsigned i = 0; i < shared->workers_n; i++) {
        shared->worker[i].shared = shared;
        for (unsigned k = 0; k < SLOTS; k++)
            buffer_init(&shared->worker[i].text[k], &shared->out->t->alloc);
    }
    return create_worker_writer(&shared->worker[0], shared->out->t);
}

/* Starts the helper threads with all signals blocked, so that the application's threads receive
 * them. */
static void start_helper_threads(struct parallel_writer *shared)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    /* SIGBUS stays enabled: a mapped file that shrank raises it in the thread that reads the
     * file. */
    (void)sigdelset(&all, SIGBUS);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (shared->threads_n + 1 < shared->workers_n) {
        struct worker *worker = &shared->worker[shared->threads_n + 1];
        if (pthread_create(&worker->thread, NULL, helper_main, worker) != 0)
            break;
        shared->threads_n++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool parallel_writer_start(struct ttr_writer *out, unsigned threads,
                           const struct reader_reopener *again)
{
    struct parallel_writer *shared = alloc_zero(&out->t->counted, 1, sizeof *shared);
    if (!shared)
        return false;
    shared->out = out;
    shared->again = *again;
    (void)pthread_mutex_init(&shared->lock, NULL);
    (void)pthread_cond_init(&shared->room, NULL);
    (void)pthread_cond_init(&shared->written, NULL);
    out->shared = shared;
    if (allocate_workers(shared, threads))
        start_helper_threads(shared);
    if (shared->threads_n)
        return true;
    parallel_writer_stop(out);
    return false;
}
