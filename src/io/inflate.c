/* Decompression: a byte stream over another byte stream.
 *
 * Purpose: traces are often compressed, as a whole, in several members (`cat a.gz b.gz`), or twice.
 *
 * Order of calls: inflate_over peeks at the first bytes. If they are the magic number of a decoder
 * (decoder.h), it puts a stream over the input, and repeats that for the decompressed bytes, at
 * most 4 times. inflate_read then alternates between members:
 *
 *     input    | member | zeros | member | zeros | end or other bytes
 *                ^ enter_member, step, step, ... DECODE_MEMBER_END
 *
 * enter_member skips zero bytes after a member (tape blocks, xz stream padding) and matches the
 * next magic number. step calls the decoder once. more_input refills the 128 KiB input buffer when
 * the decoder has used it up.
 *
 * Invariants: all bytes that can be decoded are returned before an error is reported, also if the
 * error comes from the stream below. A read returns as soon as it has any bytes instead of waiting
 * for more, because the input may be a live pipe. A decoder that makes no progress with input and
 * room available is an error, so the loop terminates.
 *
 * Errors: TTR_E_TRUNCATED if the input ends within a member; TTR_E_MALFORMED for damaged data and
 * for other bytes after a member; TTR_E_LIMIT if the decoder needs too much memory; or the error of
 * the stream below. Texts contain the offset in the compressed bytes, `error->offset` is that in
 * the decompressed ones.
 *
 * Cost: each level copies its input once, and uses 128 KiB plus the memory of the decoder.
 *
 * Left out: seeking, recovery after damage within a member, formats without magic number. */
#include "io/inflate.h"

#include <string.h>

#include "base/status.h"
#include "io/decoder.h"

enum {
    LEVELS_MAX = 4,
    INPUT_SIZE = 128 << 10,
    OUTPUT_MOST = 1 << 30 /* bytes of output per call: zlib and bzip2 count in unsigned int */
};

struct inflate {
    struct feed feed;
    const struct alloc *alloc;
    const struct decoder *decoder;
    void *state;
    struct feed *input;
    uint8_t *in; /* INPUT_SIZE bytes; [in_at, in_at + in_n) are not decoded yet */
    size_t in_at, in_n;
    size_t given;   /* bytes decoded by the current read */
    bool is_inside; /* within a member */
    bool had_member;
    bool input_is_over;
    bool input_failed; /* the input ended with an error, which it describes */
    ttr_error failure;
};

/* Appends input to the bytes not decoded yet. Returns false if the input has ended. */
static bool more_input(struct inflate *inflate)
{
    if (inflate->input_is_over)
        return false;
    if (inflate->in_n)
        memmove(inflate->in, inflate->in + inflate->in_at, inflate->in_n);
    inflate->in_at = 0;
    int64_t got =
        feed_read(inflate->input, inflate->in + inflate->in_n, INPUT_SIZE - inflate->in_n, NULL);
    inflate->input_is_over = got <= 0;
    inflate->input_failed = got < 0;
    inflate->in_n += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Returns the offset in the compressed bytes up to which they are decoded. */
static unsigned long long place(const struct inflate *inflate)
{
    return feed_used(inflate->input) - inflate->in_n;
}

/* Returns the offset in the decompressed bytes. */
static uint64_t offset(const struct inflate *inflate)
{
    return feed_used(&inflate->feed) + inflate->given;
}

/* Fails because the input ended within a member: with the error of the input, or with
 * TTR_E_TRUNCATED. */
static void input_ended_early(struct inflate *inflate)
{
    struct feed *feed = &inflate->feed;
    feed->failed = true;
    if (inflate->input_failed)
        inflate->input->ops->tell(inflate->input, &inflate->failure);
    else
        (void)fail(
            &inflate->failure, TTR_E_TRUNCATED, offset(inflate),
            "%s: the %s data ends too early, at compressed byte %llu; all before was decoded",
            feed->name, inflate->decoder->name, place(inflate) + inflate->in_n);
}

static void decoding_failed(struct inflate *inflate, enum decode_result result, const char *reason)
{
    struct feed *feed = &inflate->feed;
    const char *kind = inflate->decoder->name;
    feed->failed = true;
    if (result == DECODE_NO_MEMORY)
        (void)fail_memory(&inflate->failure);
    else if (result == DECODE_TOO_LARGE)
        (void)fail(&inflate->failure, TTR_E_LIMIT, offset(inflate),
                   "%s: its %s settings need too much memory to decode here; decompress it first "
                   "with %s -d",
                   feed->name, kind, strcmp(kind, "zstd") == 0 ? "zstd --long=31" : kind);
    else
        (void)fail(
            &inflate->failure, TTR_E_MALFORMED, offset(inflate),
            "%s: the %s data is damaged near compressed byte %llu (%s); all before was decoded",
            feed->name, kind, place(inflate), reason);
}

static void skip_padding(struct inflate *inflate)
{
    while (inflate->in_n || more_input(inflate)) {
        if (inflate->in[inflate->in_at] != 0)
            return;
        inflate->in_at++;
        inflate->in_n--;
    }
}

/* Starts the next member. Returns false at the end of the input, or with an error set if other
 * bytes follow. */
static bool enter_member(struct inflate *inflate)
{
    struct feed *feed = &inflate->feed;
    if (inflate->had_member)
        skip_padding(inflate);
    enum decoder_match match = DECODER_MAYBE;
    do
        match = decoder_match(inflate->decoder, inflate->in + inflate->in_at, inflate->in_n);
    while (match == DECODER_MAYBE && more_input(inflate));
    if (match == DECODER_YES) {
        inflate->is_inside = inflate->had_member = inflate->decoder->begin(inflate->state);
        if (!inflate->is_inside)
            decoding_failed(inflate, DECODE_NO_MEMORY, NULL);
    } else if (match == DECODER_NO) {
        feed->failed = true;
        (void)fail(
            &inflate->failure, TTR_E_MALFORMED, offset(inflate),
            "%s: what follows the %s data at compressed byte %llu is not %s; it was left out",
            feed->name, inflate->decoder->name, place(inflate), inflate->decoder->name);
    } else if (inflate->in_n || inflate->input_failed) {
        input_ended_early(inflate);
    }
    return inflate->is_inside;
}

/* Calls the decoder once. Returns true if it should be called again. */
static bool step(struct inflate *inflate, struct decode_io *io)
{
    size_t in_before = inflate->in_n, out_before = io->out_n;
    io->in = inflate->in + inflate->in_at;
    io->in_n = inflate->in_n;
    enum decode_result result = inflate->decoder->step(inflate->state, io);
    inflate->in_at += in_before - io->in_n;
    inflate->in_n = io->in_n;
    inflate->given += out_before - io->out_n;
    inflate->is_inside = result != DECODE_MEMBER_END;
    if (!inflate->is_inside)
        return true;
    if (result == DECODE_GOING && in_before && inflate->in_n == in_before &&
        io->out_n == out_before) {
        result = DECODE_DAMAGED;
        io->reason = "decoding does not go on";
    }
    if (result != DECODE_GOING)
        decoding_failed(inflate, result, io->reason);
    return result == DECODE_GOING;
}

static size_t inflate_read(struct feed *feed, void *to, size_t n)
{
    struct inflate *inflate = (struct inflate *)feed;
    size_t asked = n < OUTPUT_MOST ? n : OUTPUT_MOST;
    struct decode_io io = {.out = to, .out_n = asked};
    inflate->given = 0;
    while (io.out_n) {
        bool may_wait = inflate->given == 0; /* bytes that are there must not wait for more */
        if (!inflate->is_inside && !(may_wait && enter_member(inflate)))
            break;
        if (!step(inflate, &io))
            break;
        if (inflate->in_n || !inflate->is_inside)
            continue;
        if (inflate->given)
            break;
        if (!more_input(inflate)) {
            input_ended_early(inflate);
            break;
        }
    }
    size_t given = inflate->given;
    inflate->given = 0; /* from here on they are counted in feed_used */
    return given;
}

static void inflate_close(struct feed *feed)
{
    struct inflate *inflate = (struct inflate *)feed;
    if (inflate->state)
        inflate->decoder->end(inflate->state);
    feed_close(inflate->input);
    alloc_free(inflate->alloc, inflate->state, 1, inflate->decoder->state_size);
    alloc_free(inflate->alloc, inflate->in, INPUT_SIZE, 1);
    alloc_free(inflate->alloc, inflate, 1, sizeof *inflate);
}

static void inflate_tell(const struct feed *feed, ttr_error *error)
{
    *error = ((const struct inflate *)feed)->failure;
}

static const struct feed_ops inflate_ops = {
    .read = inflate_read, .tell = inflate_tell, .close = inflate_close};

/* Returns NULL if memory is out; the caller still owns the input then. */
static struct feed *inflate_new(const struct alloc *alloc, const struct decoder *decoder,
                                struct feed *input)
{
    struct inflate *inflate = alloc_zero(alloc, 1, sizeof *inflate);
    if (!inflate)
        return NULL;
    inflate->feed.ops = &inflate_ops;
    inflate->feed.name = input->name;
    inflate->alloc = alloc;
    inflate->decoder = decoder;
    inflate->state = alloc_zero(alloc, 1, decoder->state_size);
    inflate->in = alloc_resize(alloc, NULL, 0, INPUT_SIZE, 1);
    if (!inflate->state || !inflate->in) {
        inflate_close(&inflate->feed);
        return NULL;
    }
    inflate->input = input;
    return &inflate->feed;
}

/* Peeks at one more byte only while that can change the result, because a live pipe may not have it
 * yet. Returns NULL if the input is not compressed. */
static const struct decoder *recognise(struct feed *feed)
{
    const struct decoder *found = NULL;
    enum decoder_match match = DECODER_MAYBE;
    for (size_t n = 1; match == DECODER_MAYBE && n <= DECODER_MAGIC_MAX; n++) {
        size_t have = feed_peek(feed, n);
        found = decoder_find(feed->head + feed->head_at, have, &match);
        if (have < n)
            break;
    }
    return found;
}

bool inflate_over(const struct alloc *alloc, struct feed **feed, const char **name)
{
    *name = "";
    for (int level = 0; level < LEVELS_MAX; level++) {
        const struct decoder *decoder = recognise(*feed);
        if (!decoder)
            break;
        struct feed *above = inflate_new(alloc, decoder, *feed);
        if (!above)
            return false;
        if (level == 0)
            *name = decoder->name;
        *feed = above;
    }
    return true;
}
