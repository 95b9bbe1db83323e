/* Lines written by several threads: see parallel_writer.h.
 *
 * Batches are numbered; who comes to one first claims it, by one counter, and all others pass it.
 * Claims rise one by one, since nobody passes a batch that is not claimed.  A claimed batch has a
 * slot, with the text when it is written; the caller's thread hands texts over in order, up to
 * where it is itself.  What another thread claims is compared with the caller's own batch: where
 * the trace has changed in between the others are sent away. */
#include "model/parallel_writer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/status.h"
#include "model/context.h"

#define SLOTS 16u
#define TEXT_KEPT ((size_t)256 << 10) /* bytes of room that a text keeps for the next one */
#define TEXT_MOST ((size_t)4 << 20)   /* bytes that wait: who would claim more waits, too */
#define LOOKS 2000u                   /* before a thread sleeps: some 20 us */

/* What tells whether two readers gave the same. */
struct batch_print {
    uint32_t n;
    uint16_t source[2];
    int64_t time[2];
    uint64_t offset[2];
};

enum slot_state { SLOT_FREE = 0, SLOT_CLAIMED, SLOT_WRITTEN };

struct slot {
    _Atomic enum slot_state state;
    struct batch_print print;
    struct buffer *text; /* a hand's */
    ttr_loss *lost;      /* by rule */
    bool has_lost;
    ttr_status status;
    ttr_error error;
};

/* A thread that writes; the first is the caller's. */
struct hand {
    struct parallel_writer *shared;
    struct ttr_writer *writer; /* its buffer goes nowhere */
    struct buffer text[SLOTS];
    pthread_t thread;
};

struct parallel_writer {
    struct ttr_writer *out;
    struct reader_reopener again;
    _Atomic uint64_t claimed; /* batches */
    _Atomic uint64_t handed;  /* texts handed over */
    _Atomic size_t waiting;   /* bytes of texts that are not */
    uint64_t at;              /* the caller's next batch */
    atomic_bool is_ending;
    pthread_mutex_t lock;
    pthread_cond_t room, written;
    atomic_uint sleepers;      /* waiting for room */
    atomic_bool is_waited_for; /* the caller waits for a text */
    struct slot slot[SLOTS];
    struct hand *hand;
    unsigned hands_n, threads_n; /* hand[1] to hand[threads_n] have one */
};

static struct batch_print print_of(const ttr_batch *batch)
{
    const ttr_event *first = ttr_batch_at(batch, 0), *last = ttr_batch_at(batch, batch->n - 1);
    return (struct batch_print){.n = batch->n,
                                .source = {first->source, last->source},
                                .time = {first->time, last->time},
                                .offset = {first->offset, last->offset}};
}

static bool is_same(const struct batch_print *a, const struct batch_print *b)
{
    return a->n == b->n && a->source[0] == b->source[0] && a->source[1] == b->source[1] &&
           a->time[0] == b->time[0] && a->time[1] == b->time[1] && a->offset[0] == b->offset[0] &&
           a->offset[1] == b->offset[1];
}

static inline void pause_shortly(void)
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

/* --- Claiming and writing --- */

/* Claims a batch; false where another thread has it. */
static bool claim(struct parallel_writer *shared, uint64_t batch)
{
    uint64_t expected = batch;
    return atomic_compare_exchange_strong(&shared->claimed, &expected, batch + 1);
}

/* Writes a claimed batch into its slot. */
static void write_claimed(struct hand *hand, uint64_t number, const ttr_batch *batch)
{
    struct ttr_writer *writer = hand->writer;
    struct slot *slot = &hand->shared->slot[number % SLOTS];
    struct buffer *text = &hand->text[number % SLOTS], ctx = writer->buffer;
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
    atomic_fetch_add(&hand->shared->waiting, text->n);
    atomic_store(&slot->state, SLOT_WRITTEN);
}

static bool has_room(struct parallel_writer *shared, uint64_t batch)
{
    return batch < atomic_load(&shared->handed) + SLOTS &&
           atomic_load(&shared->waiting) < TEXT_MOST;
}

/* Waits until there is room for a batch, or another thread has it, or all is over. */
static void wait_for_room(struct parallel_writer *shared, uint64_t batch)
{
    for (unsigned i = 0; i < LOOKS && !has_room(shared, batch); i++)
        pause_shortly();
    if (has_room(shared, batch))
        return;
    (void)pthread_mutex_lock(&shared->lock);
    atomic_fetch_add(&shared->sleepers, 1);
    while (!has_room(shared, batch) && atomic_load(&shared->claimed) == batch &&
           !atomic_load(&shared->is_ending))
        (void)pthread_cond_wait(&shared->room, &shared->lock);
    atomic_fetch_sub(&shared->sleepers, 1);
    (void)pthread_mutex_unlock(&shared->lock);
}

/* Another thread comes to a batch. */
static void meet_batch(struct hand *hand, uint64_t number, const ttr_batch *batch)
{
    struct parallel_writer *shared = hand->shared;
    struct slot *slot = &shared->slot[number % SLOTS];
    while (atomic_load(&shared->claimed) == number && !has_room(shared, number) &&
           !atomic_load(&shared->is_ending))
        wait_for_room(shared, number);
    if (atomic_load(&shared->is_ending))
        return;
    if (!claim(shared, number)) {
        hand->writer->format->writer->pass(hand->writer, batch);
        return;
    }
    slot->print = print_of(batch);
    atomic_store(&slot->state, SLOT_CLAIMED);
    write_claimed(hand, number, batch);
    if (!atomic_load(&shared->is_waited_for))
        return;
    (void)pthread_mutex_lock(&shared->lock);
    (void)pthread_cond_broadcast(&shared->written);
    (void)pthread_mutex_unlock(&shared->lock);
}

static bool make_writer(struct hand *hand, ttr *t)
{
    hand->writer = output_new_helper(hand->shared->out, t);
    return hand->writer != NULL;
}

/* What another thread does: reads all once more, and writes what it comes to first.  Whatever ends
 * it is the caller's to find, too. */
static void *help(void *ctx)
{
    struct hand *hand = ctx;
    struct parallel_writer *shared = hand->shared;
    const ttr *of = shared->out->t;
    const ttr_options options = {.size = sizeof options,
                                 .resize = of->alloc.resize,
                                 .ctx = of->alloc.ctx,
                                 .max_memory = of->max_memory};
    ttr *t = ttr_new(&options);
    if (t)
        context_share_descriptors(t, of);
    ttr_reader *in =
        t && !atomic_load(&shared->is_ending) ? shared->again.open(shared->again.ctx, t) : NULL;
    ttr_batch batch;
    ttr_error error;
    if (in && make_writer(hand, t))
        for (uint64_t i = 0;
             !atomic_load(&shared->is_ending) && ttr_read(in, &batch, &error) == TTR_OK;
             i += batch.n > 0)
            if (batch.n)
                meet_batch(hand, i, &batch);
    if (hand->writer)
        output_free(hand->writer);
    hand->writer = NULL;
    ttr_close(in);
    ttr_free(t);
    return NULL;
}

/* --- The caller's thread --- */

static void wait_for_text(struct parallel_writer *shared, struct slot *slot)
{
    for (unsigned i = 0; i < LOOKS && atomic_load(&slot->state) != SLOT_WRITTEN; i++)
        pause_shortly();
    if (atomic_load(&slot->state) == SLOT_WRITTEN)
        return;
    (void)pthread_mutex_lock(&shared->lock);
    atomic_store(&shared->is_waited_for, true);
    while (atomic_load(&slot->state) != SLOT_WRITTEN)
        (void)pthread_cond_wait(&shared->written, &shared->lock);
    atomic_store(&shared->is_waited_for, false);
    (void)pthread_mutex_unlock(&shared->lock);
}

/* Leaves a slot to a later batch. */
static void free_slot(struct slot *slot)
{
    if (slot->text && slot->text->capacity > TEXT_KEPT)
        buffer_free(slot->text);
    else if (slot->text)
        buffer_clear(slot->text);
    slot->text = NULL;
    slot->has_lost = false;
    atomic_store(&slot->state, SLOT_FREE);
}

/* The text of the next batch goes out. */
static ttr_status hand_over(struct parallel_writer *shared, ttr_error *error)
{
    struct ttr_writer *out = shared->out;
    struct slot *slot = &shared->slot[atomic_load(&shared->handed) % SLOTS];
    ttr_status status = slot->status;
    if (status == TTR_OK)
        status = sink_write(out->sink, slot->text->bytes, slot->text->n, error);
    else
        *error = slot->error;
    for (size_t i = 0; slot->has_lost && i < out->format->writer->losses_n; i++) {
        ttr_loss *loss = &out->ledger[i];
        loss->first_offset = loss->count ? loss->first_offset : slot->lost[i].first_offset;
        loss->count += slot->lost[i].count;
        out->losses_total += slot->lost[i].count;
    }
    atomic_fetch_sub(&shared->waiting, slot->text->n);
    free_slot(slot);
    atomic_fetch_add(&shared->handed, 1);
    if (!atomic_load(&shared->sleepers))
        return status;
    (void)pthread_mutex_lock(&shared->lock);
    (void)pthread_cond_broadcast(&shared->room);
    (void)pthread_mutex_unlock(&shared->lock);
    return status;
}

/* Hands over texts: those that are written, and all before `behind`. */
static ttr_status hand_over_up_to(struct parallel_writer *shared, uint64_t behind, ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint64_t i; status == TTR_OK && (i = atomic_load(&shared->handed)) < shared->at;) {
        struct slot *slot = &shared->slot[i % SLOTS];
        if (atomic_load(&slot->state) != SLOT_WRITTEN && i >= behind)
            break;
        wait_for_text(shared, slot);
        status = hand_over(shared, error);
    }
    return status;
}

/* Ends the other threads.  What they have written of batches that the caller's thread did not come
 * to is of no use. */
static void send_away(struct parallel_writer *shared)
{
    (void)pthread_mutex_lock(&shared->lock);
    atomic_store(&shared->is_ending, true);
    (void)pthread_cond_broadcast(&shared->room);
    (void)pthread_mutex_unlock(&shared->lock);
    for (unsigned i = 1; i <= shared->threads_n; i++)
        (void)pthread_join(shared->hand[i].thread, NULL);
    shared->threads_n = 0;
    for (uint64_t i = shared->at, behind = atomic_load(&shared->claimed); i < behind; i++) {
        struct slot *slot = &shared->slot[i % SLOTS];
        atomic_fetch_sub(&shared->waiting, slot->text ? slot->text->n : 0);
        free_slot(slot);
    }
    atomic_store(&shared->claimed, shared->at);
}

/* Whether another thread has the batch, and it is the same. */
static bool is_taken(struct parallel_writer *shared, const ttr_batch *batch)
{
    const struct slot *slot = &shared->slot[shared->at % SLOTS];
    const struct batch_print print = print_of(batch);
    if (claim(shared, shared->at))
        return false;
    for (unsigned i = 0; atomic_load(&slot->state) == SLOT_FREE; i++)
        i < LOOKS ? pause_shortly() : (void)sched_yield();
    if (is_same(&slot->print, &print))
        return true;
    send_away(shared);
    return !claim(shared, shared->at);
}

ttr_status parallel_writer_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    struct parallel_writer *shared = out->shared;
    struct hand *hand = &shared->hand[0];
    if (batch->n == 0)
        return TTR_OK;
    const uint64_t before = shared->at < SLOTS ? 0 : shared->at - SLOTS + 1;
    ttr_status status = hand_over_up_to(
        shared, atomic_load(&shared->waiting) < TEXT_MOST ? before : shared->at, error);
    if (status != TTR_OK)
        return status;
    if (is_taken(shared, batch)) {
        out->format->writer->pass(hand->writer, batch);
        out->events += count_events(batch);
    } else {
        write_claimed(hand, shared->at, batch);
        out->events += hand->writer->events;
        hand->writer->events = 0;
    }
    shared->at++;
    return hand_over_up_to(shared, 0, error);
}

ttr_status parallel_writer_flush(struct ttr_writer *out, ttr_error *error)
{
    return out->shared ? hand_over_up_to(out->shared, out->shared->at, error) : TTR_OK;
}

/* --- Made and freed --- */

void parallel_writer_stop(struct ttr_writer *out)
{
    const struct alloc *alloc = &out->t->counted;
    struct parallel_writer *shared = out->shared;
    const size_t rules = out->format->writer->losses_n;
    if (!shared)
        return;
    send_away(shared);
    out->shared = NULL;
    for (unsigned i = 0; shared->hand && i < shared->hands_n; i++) {
        if (shared->hand[i].writer)
            output_free(shared->hand[i].writer);
        for (unsigned k = 0; k < SLOTS; k++)
            buffer_free(&shared->hand[i].text[k]);
    }
    for (unsigned k = 0; k < SLOTS; k++)
        alloc_free(alloc, shared->slot[k].lost, rules, sizeof *shared->slot[k].lost);
    (void)pthread_cond_destroy(&shared->written);
    (void)pthread_cond_destroy(&shared->room);
    (void)pthread_mutex_destroy(&shared->lock);
    alloc_free(alloc, shared->hand, shared->hands_n, sizeof *shared->hand);
    alloc_free(alloc, shared, 1, sizeof *shared);
}

/* Texts are memory of no context, since of those only one thread may ask. */
static bool make_parts(struct parallel_writer *shared, unsigned threads)
{
    const struct alloc *alloc = &shared->out->t->counted;
    const size_t rules = shared->out->format->writer->losses_n;
    bool is_fine = true;
    for (unsigned k = 0; k < SLOTS && rules && is_fine; k++)
        is_fine =
            (shared->slot[k].lost = alloc_zero(alloc, rules, sizeof *shared->slot[k].lost)) != NULL;
    shared->hand = is_fine ? alloc_zero(alloc, threads + 1, sizeof *shared->hand) : NULL;
    if (!shared->hand)
        return false;
    shared->hands_n = threads + 1;
    for (unsigned i = 0; i < shared->hands_n; i++) {
        shared->hand[i].shared = shared;
        for (unsigned k = 0; k < SLOTS; k++)
            buffer_init(&shared->hand[i].text[k], &shared->out->t->alloc);
    }
    return make_writer(&shared->hand[0], shared->out->t);
}

/* Signals are for the program's own threads. */
static void start_threads(struct parallel_writer *shared)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS); /* of the thread itself: a mapped file was cut */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (shared->threads_n + 1 < shared->hands_n) {
        struct hand *hand = &shared->hand[shared->threads_n + 1];
        if (pthread_create(&hand->thread, NULL, help, hand) != 0)
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
    if (make_parts(shared, threads))
        start_threads(shared);
    if (shared->threads_n)
        return true;
    parallel_writer_stop(out);
    return false;
}
