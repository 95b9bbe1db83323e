/* Wrapping of packets in frames. */
#include "network/bare_packets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/endian.h"
#include "formats/table.h"
#include "network/file_frame.h"

#define NAME_MAX_BYTES 64u

const struct format *bare_packets_recognise(const uint8_t *bytes, size_t n)
{
    bool is_whole;
    for (size_t i = 0; format_at(i); i++) {
        const struct format_bare *bare = format_at(i)->bare;
        if (bare && (bare->is_packet(bytes, n) || bare->is_main(bytes, n, &is_whole)))
            return format_at(i);
    }
    return NULL;
}

const struct format *bare_packets_check_main(const uint8_t *bytes, size_t n, ttr_error *error)
{
    for (size_t i = 0; format_at(i); i++) {
        const struct format_bare *bare = format_at(i)->bare;
        void *trace = bare ? bare->open(bytes, n, error) : NULL;
        if (!trace)
            continue;
        bare->close(trace);
        return format_at(i);
    }
    return NULL;
}

struct bare_packets *bare_packets_new(const struct alloc *alloc, const struct format *format,
                                      const struct buffer *main, size_t held_max)
{
    struct timespec now = {0};
    struct bare_packets *bare = alloc_zero(alloc, 1, sizeof *bare);
    if (!bare)
        return NULL;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *bare =
        (struct bare_packets){.alloc = alloc,
                              .format = format,
                              .session = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
                              .held_max = held_max};
    buffer_init(&bare->main, alloc);
    buffer_init(&bare->held, alloc);
    if (!main)
        return bare;
    bare->is_main_given = true;
    buffer_add(&bare->main, main->bytes, main->n);
    bare->trace = format->bare->open(main->bytes, main->n, NULL);
    return bare;
}

void bare_packets_free(struct bare_packets *bare)
{
    if (!bare)
        return;
    bare->format->bare->close(bare->trace);
    alloc_free(bare->alloc, bare->streams, bare->streams_capacity, sizeof *bare->streams);
    buffer_free(&bare->main);
    buffer_free(&bare->held);
    alloc_free(bare->alloc, bare, 1, sizeof *bare);
}

static void add_frame(const struct bare_packets *bare, struct file_frame *frame,
                      struct buffer *frames)
{
    frame->session = bare->session;
    (void)snprintf(frame->format, sizeof frame->format, "%s", bare->format->name);
    file_frame_write(frames, frame);
}

/* Appends a frame with the metadata received so far, the main file of the trace. */
static void append_main_file_frame(const struct bare_packets *bare, struct buffer *frames)
{
    const char *name = bare->format->folder->main_file;
    struct file_frame frame = {.parts = 1,
                               .name = name,
                               .name_n = strlen(name),
                               .content = bare->main.bytes,
                               .content_n = bare->main.n};
    add_frame(bare, &frame, frames);
}

/* --- Packets --- */

/* Returns the index of a stream, which is added if it is new; BARE_STREAMS_MAX = a limit refuses
 * it. */
static size_t find_stream(struct bare_packets *bare, const struct bare_facts *facts)
{
    void *list = bare->streams;
    for (size_t i = 0; i < bare->streams_n; i++)
        if (bare->streams[i].class_id == facts->class_id &&
            bare->streams[i].number == facts->number)
            return i;
    if (bare->streams_n >= BARE_STREAMS_MAX ||
        !alloc_reserve(bare->alloc, &list, &bare->streams_capacity, bare->streams_n + 1,
                       sizeof *bare->streams))
        return BARE_STREAMS_MAX;
    bare->streams = list;
    bare->streams[bare->streams_n] =
        (struct bare_stream){.class_id = facts->class_id, .number = facts->number};
    return bare->streams_n++;
}

/* Appends the frames of a datagram with packets. Returns the number of garbage bytes. */
static uint64_t add_packets(struct bare_packets *bare, const uint8_t *bytes, size_t n,
                            struct buffer *frames)
{
    struct bare_facts facts;
    char name[NAME_MAX_BYTES];
    size_t at = 0;
    while (at < n && bare->format->bare->examine(bare->trace, bytes + at, n - at, &facts)) {
        const size_t i = find_stream(bare, &facts);
        if (i == BARE_STREAMS_MAX)
            break;
        struct bare_stream *stream = &bare->streams[i];
        const int name_n = snprintf(name, sizeof name, "stream_%" PRIu64 "_%" PRIu64,
                                    stream->class_id, stream->number);
        struct file_frame frame = {.file = (uint32_t)i + 1,
                                   .number = facts.has_sequence ? (uint32_t)facts.sequence
                                                                : stream->packets++,
                                   .name = name,
                                   .name_n = (size_t)name_n,
                                   .content = bytes + at,
                                   .content_n = (size_t)facts.size};
        add_frame(bare, &frame, frames);
        at += (size_t)facts.size;
    }
    return n - at;
}

/* Holds a datagram until the metadata arrive. Returns false if the limit is
 * reached. */
static bool hold_packets(struct bare_packets *bare, const uint8_t *bytes, size_t n)
{
    uint8_t size[4];
    store_u32be(size, (uint32_t)n);
    if (bare->held.n + sizeof size + n > bare->held_max)
        return false;
    buffer_add(&bare->held, size, sizeof size);
    buffer_add(&bare->held, bytes, n);
    return !bare->held.failed;
}

static uint64_t release_held_packets(struct bare_packets *bare, struct buffer *frames)
{
    uint64_t garbage = 0;
    for (size_t at = 0, n; at < bare->held.n; at += n) {
        n = load_u32be(bare->held.bytes + at);
        at += 4;
        garbage += add_packets(bare, bare->held.bytes + at, n, frames);
    }
    buffer_clear(&bare->held);
    return garbage;
}

/* --- Metadata --- */

/* Returns the offset in `main` of an equal piece of metadata, and sets *i to its index. Returns
 * SIZE_MAX if no piece is equal. */
static size_t find_piece(const struct bare_packets *bare, const uint8_t *bytes, size_t n,
                         uint32_t *i)
{
    size_t at = 0;
    for (*i = 0; *i < bare->pieces_n; at += bare->pieces[(*i)++])
        if (bare->pieces[*i] == n && memcmp(bare->main.bytes + at, bytes, n) == 0)
            return at;
    return SIZE_MAX;
}

/* Appends a piece of the metadata, after removing an equal piece that came earlier; a whole file
 * replaces all pieces. Returns false if the metadata do not change, or would exceed a limit. */
static bool keep_piece(struct bare_packets *bare, const uint8_t *bytes, size_t n, bool is_whole)
{
    uint32_t i;
    struct buffer *main = &bare->main;
    const size_t at = find_piece(bare, bytes, n, &i);
    if (at != SIZE_MAX && (bare->trace || is_whole))
        return false;
    if (is_whole) {
        buffer_clear(main);
        bare->pieces_n = 0;
    } else if (at != SIZE_MAX) {
        memmove(main->bytes + at, main->bytes + at + n, main->n - at - n);
        memmove(bare->pieces + i, bare->pieces + i + 1,
                (bare->pieces_n - i - 1) * sizeof *bare->pieces);
        main->n -= n;
        bare->pieces_n--;
    }
    if (bare->pieces_n == BARE_PIECES_MAX || main->n + n > BARE_MAIN_MAX ||
        bare->attempts >= BARE_ATTEMPTS_MAX)
        return false;
    buffer_add(main, bytes, n);
    bare->pieces[bare->pieces_n++] = (uint32_t)n;
    return !main->failed;
}

struct bare_result bare_packets_add(struct bare_packets *bare, const uint8_t *bytes, size_t n,
                                    struct buffer *frames)
{
    struct bare_result result = {0};
    bool is_whole;
    const struct format_bare *format = bare->format->bare;
    if (!format->is_main(bytes, n, &is_whole)) {
        if (!format->is_packet(bytes, n))
            result.garbage = n;
        else if (bare->trace && bare->streams_n == 0 && bare->is_main_given)
            append_main_file_frame(bare, frames);
        if (result.garbage == 0 && bare->trace)
            result.garbage = add_packets(bare, bytes, n, frames);
        else if (result.garbage == 0)
            result.dropped = !hold_packets(bare, bytes, n);
        return result;
    }
    if (bare->is_main_given || !keep_piece(bare, bytes, n, is_whole))
        return result;
    bare->attempts++;
    void *trace = format->open(bare->main.bytes, bare->main.n, NULL);
    if (!trace)
        return result; /* more pieces may follow */
    format->close(bare->trace);
    bare->trace = trace;
    result.has_main_changed = true;
    append_main_file_frame(bare, frames);
    result.garbage = release_held_packets(bare, frames);
    return result;
}
