/* Recovery from damage: emits what is readable of an invalid packet, and finds the next valid
 * packet.
 *
 * A packet is accepted if its magic number is right, its content fills its size exactly, and
 * another packet or the end of the input follows. A magic number alone proves nothing, since it
 * may be part of a string. So an invalid packet is first read from its own start. If its
 * attributes lead to a valid packet, only its size is wrong. If all else is valid, only the magic
 * number is wrong. Otherwise the bytes after its frame are searched. The number of steps is limited
 * in proportion to the bytes skipped, so malicious input cannot make it quadratic. */
#include <string.h>

#include "base/status.h"
#include "formats/heph/heph.h"
#include "formats/heph/heph_attributes.h"

/* number of bytes that are loaded before an invalid packet is examined */
#define LOOKAHEAD_SIZE 65536u
#define ZERO_PIECE_SIZE 16384u

/* Maximum work of searches, which may examine bytes repeatedly: WORK_START steps, and
 * WORK_PER_BYTE steps for each byte before the current offset. A step examines about eight
 * bytes. */
#define WORK_PER_BYTE 16u
#define WORK_START (UINT64_C(4) << 20)

enum packet_verdict { IS_NO_PACKET, IS_PACKET, NEEDS_MORE };

struct candidate {
    const uint8_t *p;
    size_t left;   /* number of bytes at `p` in the window */
    bool at_end;   /* true if the input ends after these bytes */
    uint64_t need; /* number of bytes needed from `p` on; valid with NEEDS_MORE */
};

/* Returns the bytes from file offset `offset` up to `until` as a candidate for a packet. Ignores
 * later bytes in memory: the result must not depend on their number. */
static struct candidate load_candidate_at(const struct input *in, uint64_t offset, uint64_t until)
{
    size_t at = (size_t)(offset - in->window.offset);
    struct candidate candidate = {
        .p = in->window.bytes + at, .left = in->window.n - at, .at_end = in->window.at_end};
    if (candidate.left > until - offset) {
        candidate.left = (size_t)(until - offset);
        candidate.at_end = false;
    }
    return candidate;
}

/* Decides whether the bytes after a packet confirm it: the end of the input, a complete or partial
 * frame, or zeros. */
static enum packet_verdict classify_next_packet(const struct heph_reader *reader,
                                                struct candidate *candidate, uint32_t size)
{
    const uint8_t *next = candidate->p + size;
    size_t left = candidate->left - size;
    if (left < HEPH_FRAME_SIZE && !candidate->at_end) {
        candidate->need = (uint64_t)size + HEPH_FRAME_SIZE;
        return NEEDS_MORE;
    }
    if (left < HEPH_FRAME_SIZE)
        return left == 0 || next[0] == HEPH_MAGIC_EVENT >> 24 ||
                       next[0] == HEPH_MAGIC_METADATA >> 24 || next[0] == 0
                   ? IS_PACKET
                   : IS_NO_PACKET;
    return heph_is_valid_frame(next, reader->layout, reader->max_packet) || load_u64be(next) == 0
               ? IS_PACKET
               : IS_NO_PACKET;
}

/* Adds `work` to the number of steps done so far. Returns false if the sum exceeds the maximum,
 * which grows with reader->offset. */
static bool consume_budget(struct heph_reader *reader, uint64_t work)
{
    if (reader->work + work > WORK_START + reader->offset * WORK_PER_BYTE)
        return false;
    reader->work += work;
    return true;
}

static enum packet_verdict classify_candidate(struct heph_reader *reader,
                                              struct candidate *candidate)
{
    if (candidate->left < HEPH_FRAME_SIZE) {
        candidate->need = HEPH_FRAME_SIZE;
        return candidate->at_end ? IS_NO_PACKET : NEEDS_MORE;
    }
    if (!heph_is_valid_frame(candidate->p, reader->layout, reader->max_packet))
        return IS_NO_PACKET;
    uint32_t size = heph_load_packet_size(candidate->p);
    if (size > candidate->left) {
        candidate->need = size;
        return candidate->at_end ? IS_NO_PACKET : NEEDS_MORE;
    }
    enum packet_verdict next = classify_next_packet(reader, candidate, size);
    if (next != IS_PACKET || !consume_budget(reader, size / 8))
        return next == NEEDS_MORE ? next : IS_NO_PACKET;
    return heph_is_valid_packet(candidate->p, size, reader->layout) ? IS_PACKET : IS_NO_PACKET;
}

/* Ignores the size field, and reads attributes until a valid packet follows. Returns the resulting
 * size in bytes; 0 if no packet follows. */
static uint32_t find_size_by_reading_attributes(struct input *in, const struct candidate *bad)
{
    struct heph_reader *reader = in->ctx;
    const struct heph_layout *layout = reader->layout;
    struct cursor c = cursor_init(bad->p, bad->left, reader->offset);
    (void)cursor_skip(&c, layout->description_length);
    (void)cursor_skip(&c, cursor_u16be(&c));
    while (!c.failed && consume_budget(reader, 8)) {
        uint64_t size = c.offset - reader->offset;
        if (size > reader->max_packet)
            return 0;
        struct candidate next = load_candidate_at(in, c.offset, reader->offset + bad->left);
        next.at_end = bad->at_end;
        if (next.left == 0 ? bad->at_end : classify_candidate(reader, &next) == IS_PACKET)
            return (uint32_t)size;
        if (!heph_skip_attribute(&c))
            return 0;
    }
    return 0;
}

/* Returns true if an event packet is valid except for its magic number. */
static bool has_only_wrong_magic(struct heph_reader *reader, const struct candidate *bad)
{
    uint32_t size = bad->left >= reader->layout->header ? heph_load_packet_size(bad->p) : 0;
    struct candidate rest = *bad;
    return size >= reader->layout->header && size <= reader->max_packet && size <= bad->left &&
           consume_budget(reader, size / 8) &&
           classify_next_packet(reader, &rest, size) == IS_PACKET &&
           heph_is_valid_packet(bad->p, size, reader->layout);
}

/* Emits a packet with a damaged frame as an event without stored bytes, so that writers encode the
 * event instead of copying the damage. */
static ttr_status emit_repaired_packet(struct input *in, const struct candidate *bad, uint32_t size,
                                       ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    uint64_t offset = reader->offset;
    ttr_event *event = heph_add_event(in, bad->p, size, reader->schema);
    if (!event)
        return fail_memory(error);
    event->flags &= (uint8_t)~TTR_EVENT_RAW;
    reader->offset += size;
    return input_add_damage(
        in, offset, HEPH_FRAME_SIZE, "heph.bad-frame", error,
        "the frame of an event packet is damaged (magic %08x, size %u); its content fits %u bytes",
        load_u32be(bad->p), heph_load_packet_size(bad->p), size);
}

/* Returns how many bytes at the start of an event packet are valid: header, description and
 * complete attributes. Returns 0 if the header is invalid. */
static uint32_t count_valid_bytes(const struct heph_reader *reader, const struct candidate *bad,
                                  size_t until)
{
    struct cursor c = cursor_init(bad->p, until, 0);
    (void)cursor_skip(&c, reader->layout->description_length);
    (void)cursor_skip(&c, cursor_u16be(&c));
    if (c.failed || load_u32be(bad->p) != HEPH_MAGIC_EVENT)
        return 0;
    struct cursor valid_n = c;
    while (cursor_left(&c) && heph_skip_attribute(&c))
        valid_n = c;
    return (uint32_t)valid_n.offset;
}

/* Returns the offset, in the bad packet, of the first valid packet after its frame; `until` if
 * none starts before `until`. */
static size_t find_valid_packet(struct heph_reader *reader, const struct candidate *bad,
                                size_t until)
{
    for (size_t at = HEPH_FRAME_SIZE; at < until && at + HEPH_FRAME_SIZE <= bad->left; at++) {
        struct candidate here = {.p = bad->p + at, .left = bad->left - at, .at_end = bad->at_end};
        if (classify_candidate(reader, &here) == IS_PACKET)
            return at;
    }
    return until;
}

/* Returns true if two or more valid packets fill the end of the bad packet: this proves that its
 * size is wrong. A single packet may be part of a string, so it proves nothing. */
static bool contains_packets(struct heph_reader *reader, const struct candidate *bad, uint32_t size)
{
    size_t at = find_valid_packet(reader, bad, size);
    unsigned n = 0;
    while (at < size) {
        struct candidate here = {.p = bad->p + at, .left = bad->left - at, .at_end = bad->at_end};
        if (classify_candidate(reader, &here) != IS_PACKET)
            return false;
        at += heph_load_packet_size(here.p);
        n++;
    }
    return at == size && n > 1;
}

/* Emits an event of which only the first `valid_n` bytes are valid. The damaged bytes end at
 * offset `until`. */
static ttr_status emit_partial_packet(struct input *in, const struct candidate *bad,
                                      uint32_t valid_n, uint32_t until, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    ttr_event *event = heph_add_event(in, bad->p, until, reader->schema);
    if (!event)
        return fail_memory(error);
    event->flags = (uint8_t)((event->flags & ~TTR_EVENT_RAW) | TTR_EVENT_PARTIAL);
    uint64_t offset = reader->offset + valid_n;
    reader->offset += until;
    return input_add_damage(
        in, offset, until - valid_n, "heph.bad-content", error,
        "an event packet of %u bytes has attributes that make sense up to byte %u of it",
        heph_load_packet_size(bad->p), valid_n);
}

static bool is_zero_candidate(const struct candidate *bad)
{
    for (size_t i = 0; i < bad->left; i++)
        if (bad->p[i])
            return false;
    return true;
}

/* Sets *end to the file offset after the zeros at reader->offset, and sets *is_tail to true if the
 * input ends there. Needs little memory even for many zeros. */
static ttr_status count_zeros(struct input *in, uint64_t *end, bool *is_tail, ttr_error *error)
{
    const struct heph_reader *reader = in->ctx;
    size_t n = 0;
    *end = reader->offset;
    do {
        ttr_status status = input_fill(in, *end, 1, error);
        if (status != TTR_OK)
            return status;
        for (n = 0; n < in->window.n && in->window.bytes[n] == 0;)
            n++;
        *end += n;
    } while (n > 0 && n == in->window.n);
    *is_tail = n == in->window.n;
    return TTR_OK;
}

/* Starts a search for a packet at file offset `at`. The damage starts at `from`. */
static void begin_search(struct heph_reader *reader, uint64_t from, uint64_t at)
{
    reader->is_lost = true;
    reader->is_torn = false;
    reader->lost_from = from;
    reader->offset = at;
}

/* Decides what zeros in place of a packet are: unused space if only zeros follow, else damage. */
static ttr_status skip_zeros_or_report_damage(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    uint64_t end, from = reader->offset;
    bool is_tail;
    ttr_status status = count_zeros(in, &end, &is_tail, error);
    if (status != TTR_OK)
        return status;
    if (is_tail) {
        input_add_diagnostic(in, TTR_SEVERITY_REMARK, from, "heph.zeros",
                             "%llu zero bytes up to the end: room not written",
                             (unsigned long long)(end - from));
        reader->zeros_until = end;
        return TTR_OK;
    }
    begin_search(reader, from, end);
    return TTR_OK;
}

void heph_skip_zeros(struct input *in)
{
    static const uint8_t zeros[ZERO_PIECE_SIZE] = {0};
    struct heph_reader *reader = in->ctx;
    while (in->flags & TTR_READ_DEFINITIONS && in->n < in->batch &&
           reader->offset < reader->zeros_until) {
        uint64_t left = reader->zeros_until - reader->offset;
        size_t n = left < sizeof zeros ? (size_t)left : sizeof zeros;
        heph_emit_definition(in, zeros, n, 0);
        reader->offset += n;
    }
    if (!(in->flags & TTR_READ_DEFINITIONS))
        reader->offset = reader->zeros_until;
}

/* Returns true if the bad packet is an oversized one: it covers all loaded bytes and contains no
 * other packet. */
static bool is_oversized_packet(struct heph_reader *reader, const struct candidate *bad)
{
    if (bad->left < LOOKAHEAD_SIZE || heph_load_packet_size(bad->p) <= reader->max_packet)
        return false;
    struct cursor c = cursor_init(bad->p, bad->left, 0);
    bool is_event = load_u32be(bad->p) == HEPH_MAGIC_EVENT;
    if (!is_event && load_u32be(bad->p) != HEPH_MAGIC_METADATA)
        return false;
    (void)cursor_skip(&c, is_event ? reader->layout->description_length : HEPH_FRAME_SIZE);
    (void)cursor_skip(&c, cursor_u16be(&c));
    while (is_event && heph_skip_attribute(&c))
        continue;
    return (is_event ? c.failed : !c.failed) &&
           find_valid_packet(reader, bad, bad->left) == bad->left;
}

/* Emits the loaded bytes of an oversized event. Skips the rest up to the end according to its
 * size, unless a packet is found before, which shows that the size is damaged. */
static ttr_status emit_start_of_oversized_packet(struct input *in, const struct candidate *bad,
                                                 ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    uint32_t valid_n = count_valid_bytes(reader, bad, bad->left),
             size = heph_load_packet_size(bad->p);
    ttr_event *event = valid_n ? heph_add_event(in, bad->p, valid_n, reader->schema) : NULL;
    if (valid_n && !event)
        return fail_memory(error);
    if (event)
        event->flags = (uint8_t)((event->flags & ~TTR_EVENT_RAW) | TTR_EVENT_PARTIAL);
    reader->large_size = size;
    reader->large_until = reader->offset + size;
    begin_search(reader, reader->offset + valid_n,
                 reader->offset + (valid_n > HEPH_FRAME_SIZE ? valid_n : HEPH_FRAME_SIZE));
    return TTR_OK;
}

/* Returns true if the packet contains the epoch and is damaged only in its frame. */
static bool is_epoch_with_bad_frame(struct heph_reader *reader, const struct candidate *bad)
{
    static const uint8_t name[] = {0, 5, 'e', 'p', 'o', 'c', 'h'};
    struct candidate rest = *bad;
    return bad->left >= HEPH_EPOCH_PACKET &&
           memcmp(bad->p + HEPH_FRAME_SIZE, name, sizeof name) == 0 &&
           classify_next_packet(reader, &rest, HEPH_EPOCH_PACKET) == IS_PACKET;
}

/* Uses the epoch of a packet with a damaged frame, and emits the packet with a corrected frame as
 * a definition. */
static ttr_status use_epoch_with_bad_frame(struct input *in, const struct candidate *bad,
                                           ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    const uint32_t magic = load_u32be(bad->p), size = heph_load_packet_size(bad->p);
    memcpy(reader->repaired, bad->p, HEPH_EPOCH_PACKET);
    store_u32be(reader->repaired, HEPH_MAGIC_METADATA);
    store_u32be(reader->repaired + 4, HEPH_EPOCH_PACKET);
    const uint64_t epoch = load_u64be(bad->p + HEPH_EPOCH_PACKET - 8);
    /* this may move bytes in memory */
    ttr_status status = heph_use_epoch_of_packet(in, epoch, error);
    if (status == TTR_OK && !reader->is_restart)
        heph_emit_definition(in, reader->repaired, HEPH_EPOCH_PACKET, 0);
    if (status == TTR_OK && !reader->is_restart)
        status = input_add_damage(
            in, reader->offset, HEPH_FRAME_SIZE, "heph.bad-frame", error,
            "the frame of the epoch packet is damaged (magic %08x, size %u; expected %08x, %u)",
            magic, size, HEPH_MAGIC_METADATA, HEPH_EPOCH_PACKET);
    reader->offset += reader->is_restart ? 0 : HEPH_EPOCH_PACKET;
    return status;
}

/* Returns true if the packet may be truncated by the end of the input: its frame is incomplete, or
 * valid but larger than the rest of the input. */
static bool may_be_truncated(const struct heph_reader *reader, const struct candidate *bad)
{
    if (bad->left < HEPH_FRAME_SIZE)
        return bad->at_end &&
               (bad->p[0] == HEPH_MAGIC_EVENT >> 24 || bad->p[0] == HEPH_MAGIC_METADATA >> 24);
    return bad->at_end && heph_is_valid_frame(bad->p, reader->layout, reader->max_packet) &&
           heph_load_packet_size(bad->p) > bad->left;
}

/* Processes a packet of which the frame is invalid, or the size doubtful because no packet
 * follows. */
static ttr_status recover_bad_frame(struct input *in, const struct candidate *bad, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    bool is_event = bad->left >= HEPH_FRAME_SIZE && load_u32be(bad->p) == HEPH_MAGIC_EVENT;
    uint32_t size = is_event ? find_size_by_reading_attributes(in, bad) : 0;
    if (size)
        return emit_repaired_packet(in, bad, size, error);
    if (is_epoch_with_bad_frame(reader, bad))
        return use_epoch_with_bad_frame(in, bad, error);
    if (!is_event && has_only_wrong_magic(reader, bad))
        return emit_repaired_packet(in, bad, heph_load_packet_size(bad->p), error);
    reader->is_lost = true;
    reader->is_torn =
        may_be_truncated(reader, bad) && find_valid_packet(reader, bad, bad->left) == bad->left;
    size_t until = is_event && !reader->is_torn ? heph_load_packet_size(bad->p) : 0;
    until = find_valid_packet(reader, bad, until < bad->left ? until : bad->left);
    uint32_t valid_n = until > HEPH_FRAME_SIZE ? count_valid_bytes(reader, bad, until) : 0;
    reader->lost_from = reader->offset + valid_n;
    return valid_n ? emit_partial_packet(in, bad, valid_n, valid_n, error) : TTR_OK;
}

/* Processes a packet of which the content is invalid, but which another packet follows. Either the
 * content is damaged, or the size is wrong and covers other packets. */
static ttr_status recover_bad_content(struct input *in, const struct candidate *bad, uint32_t size,
                                      ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    if (contains_packets(reader, bad, size))
        return recover_bad_frame(in, bad, error);
    uint32_t valid_n = count_valid_bytes(reader, bad, size);
    if (valid_n)
        return emit_partial_packet(in, bad, valid_n, size, error);
    uint64_t offset = reader->offset;
    reader->offset += size;
    return input_add_damage(
        in, offset, size, "heph.bad-content", error,
        "a string of this packet is longer than its %u bytes; expected lengths that fit", size);
}

/* Loads `need` bytes of the bad packet, and LOOKAHEAD_SIZE bytes that follow. */
static ttr_status load_candidate(struct input *in, uint64_t need, struct candidate *bad,
                                 ttr_error *error)
{
    const struct heph_reader *reader = in->ctx;
    ttr_status status = heph_load_packet(in, need, error);
    if (status == TTR_OK)
        *bad = load_candidate_at(in, reader->offset, reader->offset + need);
    return status;
}

ttr_status heph_recover_packet(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    struct candidate bad;
    ttr_status status = load_candidate(in, LOOKAHEAD_SIZE, &bad, error);
    if (status == TTR_OK && is_zero_candidate(&bad))
        return skip_zeros_or_report_damage(in, error);
    if (status == TTR_OK && is_oversized_packet(reader, &bad))
        return emit_start_of_oversized_packet(in, &bad, error);
    bool is_framed = status == TTR_OK && bad.left >= HEPH_FRAME_SIZE &&
                     heph_is_valid_frame(bad.p, reader->layout, reader->max_packet);
    if (is_framed)
        status = load_candidate(in, (uint64_t)heph_load_packet_size(bad.p) + LOOKAHEAD_SIZE, &bad,
                                error);
    if (status != TTR_OK)
        return status;
    bool is_at_end = is_framed && heph_load_packet_size(bad.p) <= bad.left;
    if (is_at_end && classify_next_packet(reader, &bad, heph_load_packet_size(bad.p)) == IS_PACKET)
        return recover_bad_content(in, &bad, heph_load_packet_size(bad.p), error);
    return recover_bad_frame(in, &bad, error);
}

/* Ends the search in an oversized packet: at the packet's end, at the end of the input, or at
 * another packet. */
static ttr_status end_oversized_search(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    const uint64_t offset = reader->lost_from, n = reader->offset - offset,
                   until = reader->large_until;
    const bool is_cut = reader->offset < until &&
                        reader->offset == in->window.offset + in->window.n && in->window.at_end;
    reader->large_until = 0;
    if (reader->offset < until && !is_cut)
        return input_add_damage(in, offset, n, "heph.bad-frame", error,
                                "size is %u bytes, but another packet starts inside",
                                reader->large_size);
    ttr_status status =
        input_add_damage(in, offset, n, "heph.too-large", error,
                         "a packet of %u bytes, more than the %llu that may be held "
                         "(ttr_read_options.max_record): passed over",
                         reader->large_size, (unsigned long long)reader->max_packet);
    if (status != TTR_OK)
        return error_set_option(error, status, "max_record");
    if (is_cut)
        status = input_add_damage(in, reader->offset, 0, "heph.truncated", error,
                                  "the input ends inside a packet of %u bytes", reader->large_size);
    return status != TTR_OK || !is_cut ? status
                                       : fail(error, TTR_E_TRUNCATED, offset,
                                              "the input ends inside a packet (heph.truncated)");
}

/* Ends a search, and reports the skipped bytes as one range of damage. */
static ttr_status end_search(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    uint64_t offset = reader->lost_from, n = reader->offset - offset;
    reader->is_lost = false;
    if (reader->large_until)
        return end_oversized_search(in, error);
    if (n == 0)
        return TTR_OK;
    if (!reader->is_torn || !in->window.at_end)
        return input_add_damage(
            in, offset, n, "heph.no-packet", error,
            "no packet begins here (magic %08x or %08x and contents that fit were expected)",
            HEPH_MAGIC_EVENT, HEPH_MAGIC_METADATA);
    ttr_status status =
        input_add_damage(in, offset, n, "heph.truncated", error, "the input ends inside a packet");
    return status == TTR_OK ? status
                            : fail(error, TTR_E_TRUNCATED, offset,
                                   "the input ends inside a packet (heph.truncated)");
}

ttr_status heph_search_packet(struct input *in, ttr_error *error)
{
    struct heph_reader *reader = in->ctx;
    ttr_status status = heph_load_packet(in, LOOKAHEAD_SIZE, error);
    if (status != TTR_OK)
        return status;
    struct candidate all = load_candidate_at(in, reader->offset, UINT64_MAX);
    const uint64_t stop = reader->large_until ? reader->large_until - reader->offset : UINT64_MAX;
    size_t at = 0;
    for (; at < stop && at + HEPH_FRAME_SIZE <= all.left; at++) {
        if (all.p[at] != HEPH_MAGIC_EVENT >> 24 && all.p[at] != HEPH_MAGIC_METADATA >> 24)
            continue;
        struct candidate here = {.p = all.p + at, .left = all.left - at, .at_end = all.at_end};
        enum packet_verdict packet_verdict = classify_candidate(reader, &here);
        if (packet_verdict == IS_NO_PACKET)
            continue;
        reader->offset += at;
        return packet_verdict == IS_PACKET ? end_search(in, error)
                                           : heph_load_packet(in, here.need, error);
    }
    const bool is_over = at >= stop || all.at_end;
    reader->offset += at >= stop || stop < all.left ? stop
                      : all.at_end                  ? all.left
                                                    : all.left - (HEPH_FRAME_SIZE - 1);
    return is_over ? end_search(in, error) : TTR_OK;
}
