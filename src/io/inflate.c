/* Drives one decoder: members one after another, and what to say when they are damaged, cut, or
 * followed by something else.
 *
 * All that decodes is handed out before a failure is told, also when the failure comes from the
 * feed below.  Zero bytes between and after members are padding (tape blocks, xz stream padding).
 */
#include "io/inflate.h"

#include <string.h>

#include "base/status.h"
#include "io/decoder.h"

enum {
    LEVELS_MAX = 4,
    INPUT_SIZE = 128 << 10,
    OUTPUT_MOST = 1 << 30 /* zlib and bzip2 count in unsigned */
};

struct inflate {
    struct feed feed;
    const struct alloc *alloc;
    const struct decoder *decoder;
    void *state;
    struct feed *input;
    uint8_t *in; /* INPUT_SIZE bytes, of which [in_at, in_at + in_n) are to be decoded */
    size_t in_at, in_n;
    size_t given;   /* bytes decoded by the read under way */
    bool is_inside; /* of a member */
    bool had_member;
    bool input_is_over;
    bool input_failed; /* the input tells why it is over */
    ttr_error failure;
};

/* Reads behind what is there; false when the input is over. */
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

/* Where in the compressed bytes decoding stands. */
static unsigned long long place(const struct inflate *inflate)
{
    return feed_used(inflate->input) - inflate->in_n;
}

/* The same in the decompressed bytes. */
static uint64_t offset(const struct inflate *inflate)
{
    return feed_used(&inflate->feed) + inflate->given;
}

/* Nothing more comes, though the member wants it: the failure below, or an early end. */
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

/* Goes to the next member; false at the end, and (with the failure set) before anything that is
 * none. */
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

/* One step of the decoder; true when it is worth another. */
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
        bool may_wait = inflate->given == 0; /* what there is must not wait for more */
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
    inflate->given = 0; /* feed_used has them from here on */
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

/* NULL when memory is out; the input is then still the caller's. */
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

/* Asks for one byte more only as long as that could decide: a slow pipe may hold no more for now.
 */
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
