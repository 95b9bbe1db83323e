/* Faults anywhere in a whole chain: read, rearrange, write.  With the n-th allocation failing, with
 * the output full after k bytes, with the input failing after k bytes, and with input in small
 * pieces, each pair of formats must end with the right status, give back all its memory, and leave
 * nothing open.  Where there are thousands of places, every some-th is tried. usage: chain_test;
 * speaks TAP. */
#include <errno.h>
#include <stdio.h>

#include <tracetta/read.h>
#include <tracetta/write.h>

#include "base/buffer.h"
#include "matrix/sources.h"
#include "support/support.h"
#include "support/tap.h"
#include "support/writing.h"

enum { EVENTS = 60, PLACES_MAX = 150 };

struct chain {
    const char *from, *to;
    unsigned wrapping;
    struct buffer input[2];   /* a merge takes both */
    size_t fail_at;           /* allocation; 0: none */
    size_t room;              /* bytes that the output takes */
    size_t give;              /* bytes that the input gives */
    size_t requests, written; /* what the last run came to */
    uint64_t events;
};

/* Input in pieces of 100 bytes, which fails after `most`. */
struct feed {
    const struct buffer *bytes;
    size_t at, most;
};

static const char *const wrappings[] = {"copied", "sorted", "merged", "filtered", "paired"};

static int64_t pull(void *ctx, void *to, size_t n)
{
    struct feed *feed = ctx;
    size_t end = feed->bytes->n < feed->most ? feed->bytes->n : feed->most, left = end - feed->at;
    if (left == 0 && feed->most < feed->bytes->n) {
        errno = EIO;
        return -1;
    }
    n = n < 100 ? n : 100;
    n = n < left ? n : left;
    if (n)
        memcpy(to, feed->bytes->bytes + feed->at, n);
    feed->at += n;
    return (int64_t)n;
}

static int64_t push(void *ctx, const void *bytes, size_t n)
{
    struct chain *chain = ctx;
    size_t left = chain->room - chain->written;
    (void)bytes;
    if (left == 0 && n) {
        errno = ENOSPC;
        return -1;
    }
    n = n < 1000 ? n : 1000;
    n = n < left ? n : left;
    chain->written += n;
    return (int64_t)n;
}

static ttr_reader *wrap(ttr *t, const struct chain *chain, ttr_reader *in[2], ttr_error *error)
{
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.from_ns = 1010;
    switch (chain->wrapping) {
    case 1:
        return ttr_sort(in[0], error);
    case 2:
        return ttr_merge(t, in, 2, error);
    case 3:
        return ttr_filter_new(in[0], &filter, error);
    case 4:
        return ttr_pair_spans(in[0], error);
    default:
        return in[0];
    }
}

static ttr_reader *open_chain(ttr *t, const struct chain *chain, struct feed feeds[2],
                              ttr_error *error)
{
    ttr_read_options options = {.size = sizeof options, .from = chain->from};
    ttr_reader *in[2] = {ttr_open_pull(t, pull, &feeds[0], "first", &options, error), NULL};
    if (!in[0])
        return NULL;
    if (chain->wrapping == 2) {
        in[1] = ttr_open_pull(t, pull, &feeds[1], "second", &options, error);
        if (!in[1]) {
            ttr_close(in[0]);
            return NULL;
        }
    }
    return wrap(t, chain, in, error);
}

static ttr_status pump(ttr_reader *in, ttr_writer *out, uint64_t *events, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    while ((status = ttr_read(in, &batch, error)) == TTR_OK) {
        *events += batch.n;
        status = ttr_write(out, &batch, error);
        if (status != TTR_OK)
            return status;
    }
    return status;
}

static ttr_status run_in(ttr *t, struct chain *chain, ttr_error *error)
{
    struct feed feeds[2] = {{&chain->input[0], 0, chain->give}, {&chain->input[1], 0, chain->give}};
    ttr_reader *in = open_chain(t, chain, feeds, error);
    if (!in)
        return error->status;
    ttr_writer *out = ttr_create_push(t, push, chain, chain->to, NULL, error);
    ttr_status status = out ? pump(in, out, &chain->events, error) : error->status;
    if (out && status == TTR_END)
        status = ttr_finish(out, error) == TTR_OK ? TTR_END : error->status;
    else
        ttr_writer_abort(out);
    ttr_close(in);
    return status;
}

/* Runs the chain once; the status, or TTR_E_MISUSE when memory leaked. */
static ttr_status run(struct chain *chain, ttr_error *error)
{
    struct support_heap heap;
    support_heap_init(&heap, chain->fail_at);
    *error = (ttr_error){.status = TTR_E_NOMEM};
    chain->written = chain->events = 0;
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap.alloc.resize, .ctx = heap.alloc.ctx});
    ttr_status status = t ? run_in(t, chain, error) : TTR_E_NOMEM;
    ttr_free(t);
    chain->requests = heap.requests;
    return heap.blocks || heap.bytes ? TTR_E_MISUSE : status;
}

static bool tell(const struct chain *chain, const char *what, size_t at, ttr_status status)
{
    printf("# %s to %s, %s: %s %zu: %s\n", chain->from, chain->to, wrappings[chain->wrapping], what,
           at, ttr_status_text(status));
    return false;
}

/* The first places one by one, then every some-th. */
static size_t next_place(size_t at, size_t all)
{
    return at < 60 || all < PLACES_MAX ? at + 1 : at + all / PLACES_MAX + 1;
}

static bool fail_allocations(struct chain chain)
{
    ttr_error error;
    size_t all = chain.requests;
    for (size_t at = 1; at <= all; at = next_place(at, all)) {
        chain.fail_at = at;
        ttr_status status = run(&chain, &error);
        if (status != TTR_E_NOMEM)
            return tell(&chain, "allocation", at, status);
    }
    chain.fail_at = all + 1;
    return run(&chain, &error) == TTR_END || tell(&chain, "allocation", all + 1, error.status);
}

static bool fail_output(struct chain chain)
{
    ttr_error error;
    size_t all = chain.written;
    for (size_t at = 0; at < all; at = next_place(at, all)) {
        chain.room = at;
        ttr_status status = run(&chain, &error);
        if (status != TTR_E_IO || error.sys != ENOSPC)
            return tell(&chain, "full after bytes", at, status);
    }
    return true;
}

static bool fail_input(struct chain chain)
{
    ttr_error error;
    size_t all = chain.input[0].n;
    for (size_t at = 0; at < all; at = next_place(at, all)) {
        chain.give = at;
        ttr_status status = run(&chain, &error);
        if (status != TTR_E_IO || error.sys != EIO)
            return tell(&chain, "input fails after bytes", at, status);
    }
    return true;
}

/* --- Inputs --- */

static bool make_input(const char *format, uint64_t seed, struct buffer *to)
{
    ttr *t = ttr_new(NULL);
    ttr_builder *b = ttr_builder_new(t);
    ttr_writer *out = ttr_create_push(t, writing_to_buffer, to, format, NULL, NULL);
    bool ok = true;
    buffer_init(to, alloc_default());
    for (int i = 0; i < EVENTS; i++) {
        sources_make_event(b, &seed, 1000 + i);
        ok = ttr_event_end(b, out, NULL) == TTR_OK && ok;
    }
    ok = ttr_finish(out, NULL) == TTR_OK && ok;
    ttr_builder_free(b);
    ttr_free(t);
    return ok;
}

static void check(struct chain *chain)
{
    ttr_error error;
    chain->room = chain->give = SIZE_MAX;
    chain->fail_at = 0;
    ttr_status status = run(chain, &error);
    bool ok = status == TTR_END && chain->events > 0;
    if (!ok)
        printf("# without a fault: %s %s\n", ttr_status_text(status), error.text);
    ok = ok && fail_allocations(*chain) && fail_output(*chain) && fail_input(*chain);
    (void)tap_case(ok, "%s, %s, to %s: %zu allocations, %zu bytes out, %zu bytes in, each may fail",
                   chain->from, wrappings[chain->wrapping], chain->to, chain->requests,
                   chain->written, chain->input[0].n);
}

int main(void)
{
    static const char *const readers[] = {"fxt", "heph"}, *const writers[] = {
                                                              "fxt",   "heph", "perfetto", "chrome",
                                                              "jsonl", "text", "csv"};
    struct chain chain = {.from = NULL};
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++) {
        chain.from = readers[r];
        bool is_made = make_input(chain.from, 2, &chain.input[0]);
        (void)tap_case(make_input(chain.from, 3, &chain.input[1]) && is_made,
                       "inputs of %s are made", chain.from);
        for (size_t i = 0; i < 5 * sizeof writers / sizeof *writers; i++) {
            chain.to = writers[i / 5];
            chain.wrapping = (unsigned)(i % 5);
            check(&chain);
        }
        buffer_free(&chain.input[0]);
        buffer_free(&chain.input[1]);
    }
    return tap_end();
}
