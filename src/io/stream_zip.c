/* Decompression: a byte stream over another byte stream.
 *
 * Purpose: traces are often compressed, as a whole, in several members (`cat a.gz b.gz`), or twice.
 *
 * Order of calls: stream_zip_open peeks at the first bytes. If they are the magic number of a
 * decoder (decoder.h), it puts a stream over the input, and repeats that for the decompressed
 * bytes, at most 4 times. stream_zip_read then alternates between members:
 *
 *     input    | member | zeros | member | zeros | end or other bytes
 *                ^ start_member, decode_one_step, decode_one_step, ... DECODE_MEMBER_END
 *
 * start_member skips zero bytes after a member (tape blocks, xz stream padding) and matches the
 * next magic number. decode_one_step calls the decoder. refill_input refills the 128 KiB input
 * buffer when the decoder has used it up.
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
#include "base/sanitizer.h"
#include "io/stream_zip.h"

#include <string.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "io/decoder.h"

enum {
    LEVELS_MAX = 4,
    INPUT_SIZE = 128 << 10,
    OUTPUT_MAX = 1 << 30 /* bytes of output per call: zlib and bzip2 count in unsigned int */
};

struct stream_zip {
    struct byte_stream stream;
    const struct alloc *alloc;
    const struct decoder *decoder;
    void *state;
    struct byte_stream *input;
    uint8_t *in; /* compressed bytes, INPUT_SIZE at most; those at [in_at, in_at + in_n) are not
                  * decoded yet */
    size_t in_at, in_n;
    size_t decoded_n;  /* number of bytes decoded by the current read */
    bool is_in_member; /* a member was begun and has not ended */
    bool had_member;
    bool has_input_ended;
    bool has_input_failed; /* reading the input failed; `input` describes the error */
    ttr_error failure;
};

/* Reads more input after the bytes that are not decoded yet. Returns false if the input has
 * ended. */
static bool refill_input(struct stream_zip *zip)
{
    if (zip->has_input_ended)
        return false;
    if (zip->in_n)
        memmove(zip->in, zip->in + zip->in_at, zip->in_n);
    zip->in_at = 0;
    int64_t got = byte_stream_read(zip->input, zip->in + zip->in_n, INPUT_SIZE - zip->in_n, NULL);
    zip->has_input_ended = got <= 0;
    zip->has_input_failed = got < 0;
    zip->in_n += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Returns the offset in the compressed input up to which bytes were decoded, for messages. */
static unsigned long long compressed_offset(const struct stream_zip *zip)
{
    return byte_stream_offset(zip->input) - zip->in_n;
}

/* Returns the number of bytes decoded so far. */
static uint64_t decompressed_offset(const struct stream_zip *zip)
{
    return byte_stream_offset(&zip->stream) + zip->decoded_n;
}

/* Fails because the input ended within a member: with the error of the input, or with
 * TTR_E_TRUNCATED. */
static void fail_truncated(struct stream_zip *zip)
{
    struct byte_stream *stream = &zip->stream;
    stream->failed = true;
    if (zip->has_input_failed)
        zip->input->ops->describe_error(zip->input, &zip->failure);
    else
        (void)fail(&zip->failure, TTR_E_TRUNCATED, decompressed_offset(zip),
                   "%s: the %s data ends too early, at compressed byte %llu; all data before it "
                   "was decoded",
                   stream->name, zip->decoder->name, compressed_offset(zip) + zip->in_n);
}

static void fail_decoding(struct stream_zip *zip, enum decode_result result, const char *reason)
{
    struct byte_stream *stream = &zip->stream;
    const char *kind = zip->decoder->name;
    stream->failed = true;
    if (result == DECODE_NO_MEMORY)
        (void)fail_memory(&zip->failure);
    else if (result == DECODE_TOO_LARGE)
        (void)fail(&zip->failure, TTR_E_LIMIT, decompressed_offset(zip),
                   "%s: its %s settings need too much memory to decode here; decompress it first "
                   "with %s -d",
                   stream->name, kind, strcmp(kind, "zstd") == 0 ? "zstd --long=31" : kind);
    else
        (void)fail(&zip->failure, TTR_E_MALFORMED, decompressed_offset(zip),
                   "%s: the %s data is damaged near compressed byte %llu (%s); all data before it "
                   "was decoded",
                   stream->name, kind, compressed_offset(zip), reason);
}

static void skip_padding(struct stream_zip *zip)
{
    while (zip->in_n || refill_input(zip)) {
        if (zip->in[zip->in_at] != 0)
            return;
        zip->in_at++;
        zip->in_n--;
    }
}

/* Starts decoding the next member. Returns false at the end of the input. Returns false with an
 * error set if bytes follow that are not a member. */
static bool start_member(struct stream_zip *zip)
{
    struct byte_stream *stream = &zip->stream;
    if (zip->had_member)
        skip_padding(zip);
    enum decoder_match match = DECODER_MAYBE;
    do
        match = decoder_match(zip->decoder, zip->in + zip->in_at, zip->in_n);
    while (match == DECODER_MAYBE && refill_input(zip));
    if (match == DECODER_YES) {
        zip->is_in_member = zip->had_member = zip->decoder->begin(zip->state);
        if (!zip->is_in_member)
            fail_decoding(zip, DECODE_NO_MEMORY, NULL);
    } else if (match == DECODER_NO) {
        stream->failed = true;
        (void)fail(
            &zip->failure, TTR_E_MALFORMED, decompressed_offset(zip),
            "%s: the bytes after the %s data at compressed byte %llu are not %s; they were ignored",
            stream->name, zip->decoder->name, compressed_offset(zip), zip->decoder->name);
    } else if (zip->in_n || zip->has_input_failed) {
        fail_truncated(zip);
    }
    return zip->is_in_member;
}

/* Calls the decoder once. Returns true if the caller should call again for more output. */
static bool decode_one_step(struct stream_zip *zip, struct decode_io *io)
{
    size_t in_before = zip->in_n, out_before = io->out_n;
    io->in = zip->in + zip->in_at;
    io->in_n = zip->in_n;
    const uint8_t *out = io->out;
    enum decode_result result = zip->decoder->step(zip->state, io);
    sanitizer_mark_written(out, out_before - io->out_n);
    zip->in_at += in_before - io->in_n;
    zip->in_n = io->in_n;
    zip->decoded_n += out_before - io->out_n;
    zip->is_in_member = result != DECODE_MEMBER_END;
    if (!zip->is_in_member)
        return true;
    if (result == DECODE_CONTINUE && in_before && zip->in_n == in_before &&
        io->out_n == out_before) {
        result = DECODE_DAMAGED;
        io->reason = "decoding does not go on";
    }
    if (result != DECODE_CONTINUE)
        fail_decoding(zip, result, io->reason);
    return result == DECODE_CONTINUE;
}

static size_t stream_zip_read(struct byte_stream *stream, void *to, size_t n)
{
    SELF_ZONE(read, "decompress");
    struct stream_zip *zip = (struct stream_zip *)stream;
    size_t asked = n < OUTPUT_MAX ? n : OUTPUT_MAX;
    struct decode_io io = {.out = to, .out_n = asked};
    zip->decoded_n = 0;
    while (io.out_n) {
        /* Once some bytes are decoded, they are returned instead of waiting for more input. */
        bool may_wait = zip->decoded_n == 0;
        if (!zip->is_in_member && !(may_wait && start_member(zip)))
            break;
        if (!decode_one_step(zip, &io))
            break;
        if (zip->in_n || !zip->is_in_member)
            continue;
        if (zip->decoded_n)
            break;
        if (!refill_input(zip)) {
            fail_truncated(zip);
            break;
        }
    }
    size_t decoded_n = zip->decoded_n;
    zip->decoded_n = 0; /* from now on byte_stream_offset includes these bytes */
    return decoded_n;
}

static void stream_zip_close(struct byte_stream *stream)
{
    struct stream_zip *zip = (struct stream_zip *)stream;
    if (zip->state)
        zip->decoder->end(zip->state);
    byte_stream_close(zip->input);
    alloc_free(zip->alloc, zip->state, 1, zip->decoder->state_size);
    alloc_free(zip->alloc, zip->in, INPUT_SIZE, 1);
    alloc_free(zip->alloc, zip, 1, sizeof *zip);
}

static void stream_zip_describe_error(const struct byte_stream *stream, ttr_error *error)
{
    *error = ((const struct stream_zip *)stream)->failure;
}

static const struct byte_stream_ops stream_zip_ops = {.read = stream_zip_read,
                                                      .describe_error = stream_zip_describe_error,
                                                      .close = stream_zip_close};

/* Creates a decompression stream. Returns NULL if memory runs out; the caller then still owns
 * `input`. */
static struct byte_stream *stream_zip_new(const struct alloc *alloc, const struct decoder *decoder,
                                          struct byte_stream *input)
{
    struct stream_zip *zip = alloc_zero(alloc, 1, sizeof *zip);
    if (!zip)
        return NULL;
    zip->stream.ops = &stream_zip_ops;
    zip->stream.name = input->name;
    zip->alloc = alloc;
    zip->decoder = decoder;
    zip->state = alloc_zero(alloc, 1, decoder->state_size);
    zip->in = alloc_resize(alloc, NULL, 0, INPUT_SIZE, 1);
    if (!zip->state || !zip->in) {
        stream_zip_close(&zip->stream);
        return NULL;
    }
    zip->input = input;
    return &zip->stream;
}

/* Detects the compression from the first bytes. Returns NULL if the input is not compressed. A live
 * pipe may have few bytes yet, so more are peeked only while they can change the result. */
static const struct decoder *detect_decoder(struct byte_stream *stream)
{
    const struct decoder *found = NULL;
    enum decoder_match match = DECODER_MAYBE;
    for (size_t n = 1; match == DECODER_MAYBE && n <= DECODER_MAGIC_MAX; n++) {
        size_t have = byte_stream_peek(stream, n);
        found = decoder_detect(stream->head + stream->head_at, have, &match);
        if (have < n)
            break;
    }
    return found;
}

bool stream_zip_open(const struct alloc *alloc, struct byte_stream **stream, const char **name)
{
    *name = "";
    for (int level = 0; level < LEVELS_MAX; level++) {
        const struct decoder *decoder = detect_decoder(*stream);
        if (!decoder)
            break;
        struct byte_stream *above = stream_zip_new(alloc, decoder, *stream);
        if (!above)
            return false;
        if (level == 0)
            *name = decoder->name;
        *stream = above;
    }
    return true;
}
