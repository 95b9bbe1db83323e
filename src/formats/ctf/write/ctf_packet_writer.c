/* Packet writer: collects the events of a stream in a packet in memory and appends full packets to
 * the stream file.
 *
 * Order of calls:
 * |  ctf_stream_start_packet   starts a packet explicitly (transcoding)
 * |  ctf_stream_append_event   appends an event; first ends a full packet or starts the first one
 * |  ctf_stream_finish         writes the last packet and the index
 *
 * Algorithm: a packet starts as a copy of a template (`head`), in which all numbers are zero.
 * Events are appended. When the packet ends, the numbers are stored over the zeros, since only then
 * sizes, times and counters are known:
 *
 * |  CTF 1.8, 2
 * |  byte  0       magic 0xC1FC1FC1
 * |        4       UUID
 * |       20       stream class, u32
 * |       24       u64 each, in this order; [] = only if the stream class has it:
 * |                [stream number] [start time, end time] content size (bits), packet size (bits)
 * |                [sequence number] [discarded events]
 * |        then    [CPU, u32] [fields of the source's packets] events, padding to a byte
 * |  RFC v1.1      rfc11_packet.h; the packet is compressed, encrypted and checksummed at its end
 *
 * Limits: an event that would exceed the size limit is removed (bit_writer_truncate), the packet
 * ends, and the event is encoded again as the first of the next packet. A packet always holds at
 * least one event, however large. A packet with counts_to_end may grow beyond the limit: if it were
 * split, only its last part would have the counter.
 *
 * Invariants: times in a stream never decrease; sequence and discarded never decrease; the UUID of
 * a trace is fixed before its first packet is written.
 *
 * Cost: one encoding per event, two for the first event of a packet; one write per packet. Memory:
 * all open packets together about OPEN_PACKETS_MAX. Left out: the choice of stream and class
 * (ctf_encode.c, ctf_transcode.c). */
#include "formats/ctf/write/ctf_write.h"

#include "base/endian.h"
#include "base/hash.h"
#include "base/status.h"

/* bytes of magic number, UUID and stream class id in a packet header */
#define HEAD_BYTES 24u
/* maximum number of u64 members in packet header and packet context together */
#define HEAD_NUMBERS 7u
#define MAGIC 0xC1FC1FC1u

/* id in LTTng's event header that means: the extended header follows */
#define ID_EXTENDED 65535u

/* OPEN_PACKETS_MAX: bytes; maximum of all open packets together, which share it. PACKET_SIZE_MIN:
 * bytes; smallest share of a packet; shares are multiples of it, because v1.1 pads packets to
 * it. */
#define OPEN_PACKETS_MAX ((uint64_t)8 << 20)
#define PACKET_SIZE_MIN ((uint64_t)4 << 10)

/* if a trace has more streams than this, packets are smaller than the write buffer of a file, so
 * they are written without it */
#define BUFFERED_STREAMS_MAX 64u

/* Growth of packet buffers: the capacity is doubled up to MEMORY_FIRST bytes, then set to the
 * packet limit plus twice MEMORY_SPARE bytes, because doubling would waste up to half of the
 * buffer. Limits above MEMORY_SMALL bytes only double. */
#define MEMORY_FIRST ((size_t)4 << 10)
#define MEMORY_SPARE ((size_t)1 << 10)
#define MEMORY_SMALL ((uint64_t)64 << 10)

static bool is_rfc_stream(const struct ctf_stream_out *stream)
{
    return stream->trace->description.version == CTF_RFC_1_1;
}

/* Sets `numbers` to the values of the u64 members of packet header and packet context, in file
 * order. Returns their number. */
static size_t collect_head_numbers(const struct ctf_stream_out *stream, uint64_t content_bits,
                                   uint64_t *numbers)
{
    const struct ctf_stream_class_out *kind = stream->kind;
    size_t n = 0;
    if (stream->trace->has_numbers)
        numbers[n++] = stream->number;
    if (kind->has_clock) {
        numbers[n++] = stream->begin;
        numbers[n++] = stream->last;
    }
    numbers[n++] = content_bits;
    numbers[n++] = stream->put.at;
    if (kind->has_sequence)
        numbers[n++] = stream->sequence;
    if (kind->has_discarded)
        numbers[n++] = stream->discarded;
    return n;
}

/* Returns the size in bytes of packet header and packet context, without context members that come
 * from the source. These bytes are overwritten when the packet ends. */
static size_t get_head_size(const struct ctf_stream_out *stream)
{
    uint64_t numbers[HEAD_NUMBERS];
    if (is_rfc_stream(stream))
        return RFC11_HEADER;
    return HEAD_BYTES + 8 * collect_head_numbers(stream, 0, numbers) +
           (stream->kind->has_cpu ? 4 : 0);
}

/* Builds stream->head, the bytes with which each new packet starts. All numbers in it are zero.
 * `items`: values of context members that come from the source. */
static void build_head_template(struct ctf_stream_out *stream, const struct ctf_items *items)
{
    buffer_clear(&stream->head);
    struct field_encoder encode;
    encode.put = bit_writer_init(&stream->head);
    bit_writer_add_zeros(&encode.put, get_head_size(stream) * 8);
    encode_begin(&encode, items ? items->field : NULL, items ? items->n : 0);
    if (stream->kind->fields)
        encode_members(&encode, stream->kind->fields);
    stream->head_bits = encode.put.at;
}

static void start_packet(struct ctf_stream_out *stream, uint64_t ticks)
{
    if (stream->head.n == 0)
        build_head_template(stream, NULL);
    buffer_clear(&stream->packet);
    stream->put = bit_writer_init(&stream->packet);
    buffer_add(&stream->packet, stream->head.bytes, stream->head.n);
    stream->packet.failed |= stream->head.failed;
    stream->put.at = stream->head_bits;
    stream->begin = stream->last = ticks;
    stream->events = 0;
    stream->is_open = true;
}

/* --- End of a packet --- */

/* Sets the trace's UUID to a hash of its first packet, so that equal input gives equal output. */
static void hash_first_packet_to_uuid(struct ctf_stream_out *stream)
{
    struct ctf_description *description = &stream->trace->description;
    size_t head = get_head_size(stream);
    uint64_t a = hash_bytes(stream->packet.bytes + head, stream->packet.n - head),
             b = hash_pair(a, stream->begin);
    for (unsigned i = 0; i < 8; i++) {
        description->uuid[i] = (uint8_t)(a >> i * 8);
        description->uuid[8 + i] = (uint8_t)(b >> i * 8);
    }
    /* the bits of version 8 (custom) and variant 10 in RFC 9562, section 5.8 */
    description->uuid[6] = (uint8_t)((description->uuid[6] & 0x0f) | 0x80);
    description->uuid[8] = (uint8_t)((description->uuid[8] & 0x3f) | 0x80);
}

/* Sets the trace's UUID and session id. Equal inputs have equal hashes but must remain separate
 * traces, so the UUID is changed until it differs from that of all other traces of this output. */
static void assign_trace_uuid(const struct ctf_writer *w, struct ctf_stream_out *stream)
{
    struct ctf_description *description = &stream->trace->description;
    hash_first_packet_to_uuid(stream);
    uint32_t rank = 0;
    for (size_t i = 0; i < w->traces_n; i++) {
        const struct ctf_description *other = &w->traces[i]->description;
        if (other == description || !other->has_uuid ||
            memcmp(other->uuid, description->uuid, sizeof other->uuid) != 0)
            continue;
        ctf_derive_uuid(description->uuid, ++rank);
        /* the loop increments i to 0, so that the new UUID is compared with all traces again */
        i = SIZE_MAX;
    }
    description->has_uuid = true;
    description->session_id = load_u32le(description->uuid);
    description->has_session_id = true;
}

/* Overwrites a number of `bits` bits at byte offset `byte` in the packet. */
static void store_head_number(struct ctf_stream_out *stream, uint64_t byte, uint64_t value,
                              unsigned bits)
{
    if (stream->trace->description.is_big_endian)
        bit_writer_overwrite_be(&stream->put, byte * 8, value, bits);
    else
        bit_writer_overwrite_le(&stream->put, byte * 8, value, bits);
}

static void store_head_numbers(struct ctf_stream_out *stream, uint64_t content_bits)
{
    const struct ctf_description *description = &stream->trace->description;
    uint64_t numbers[HEAD_NUMBERS];
    size_t n = collect_head_numbers(stream, content_bits, numbers);
    store_head_number(stream, 0, MAGIC, 32);
    for (unsigned i = 0; i < 16; i++)
        store_head_number(stream, 4 + i, description->uuid[i], 8);
    store_head_number(stream, 20, stream->kind->class->id, 32);
    for (size_t i = 0; i < n; i++)
        store_head_number(stream, HEAD_BYTES + 8 * i, numbers[i], 64);
    if (stream->kind->has_cpu)
        store_head_number(stream, HEAD_BYTES + 8 * n, stream->cpu, 32);
}

static void add_packet_index_entry(struct ctf_stream_out *stream, uint64_t content_bits,
                                   uint64_t packet_bits)
{
    const uint64_t numbers[CTF_INDEX_NUMBERS] = {
        stream->offset,          packet_bits,    content_bits,
        stream->begin,           stream->last,   stream->discarded,
        stream->kind->class->id, stream->number, stream->sequence};
    ctf_index_out_add(&stream->index, numbers);
}

/* Builds the finished v1.1 packet in out->buffer: header and content, padded, compressed, encrypted
 * and checksummed as the options require. */
static ttr_status build_rfc_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                                   ttr_error *error)
{
    struct rfc11_pack_options packing = stream->trace->options->packing;
    struct rfc11_packet packet = {.session_id = stream->trace->description.session_id,
                                  .section_packet_count = (uint32_t)stream->sequence,
                                  .section_packet_count_bits = 32,
                                  .timestamp_begin = stream->begin,
                                  .timestamp_end = stream->last,
                                  .events_discarded = (uint32_t)stream->discarded,
                                  .is_big_endian = stream->trace->description.is_big_endian};
    ttr_status status = packing.encryption ? rfc11_make_random_iv(packing.iv, error) : TTR_OK;
    buffer_clear(&out->buffer);
    if (status != TTR_OK)
        return status;
    return rfc11_append_packet(&packet, stream->packet.bytes + RFC11_HEADER,
                               stream->packet.n - RFC11_HEADER, &packing, &out->buffer, error);
}

/* Frees the packet buffer and out->buffer if the last packet exceeded the size limit, because they
 * have become large. */
static void free_large_buffers(struct ctf_stream_out *stream, struct ttr_writer *out)
{
    struct ctf_writer *w = out->ctx;
    w->packets_excess -= stream->excess_bytes;
    stream->excess_bytes = 0;
    buffer_free(&stream->packet);
    buffer_init(&stream->packet, &out->t->counted);
    buffer_free(&out->buffer);
    buffer_init(&out->buffer, &out->t->counted);
}

/* Returns the size limit of a packet in bytes: the option packet_size, or an equal share of
 * OPEN_PACKETS_MAX if that is less. */
static uint64_t get_packet_limit(const struct ctf_stream_out *stream)
{
    const uint64_t share =
                       OPEN_PACKETS_MAX / (stream->trace->streams_n ? stream->trace->streams_n : 1),
                   least =
                       share > PACKET_SIZE_MIN ? share & ~(PACKET_SIZE_MIN - 1) : PACKET_SIZE_MIN;
    return stream->trace->options->packet_size < least ? stream->trace->options->packet_size
                                                       : least;
}

static ttr_status write_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                               ttr_error *error)
{
    uint64_t content_bits = stream->put.at;
    struct buffer *bytes = &stream->packet;
    ttr_status status = TTR_OK;
    stream->is_open = stream->counts_to_end = false;
    stream->last = stream->end > stream->last ? stream->end : stream->last;
    stream->end = 0;
    bit_writer_align(&stream->put, 3);
    if (stream->packet.failed)
        return fail_memory(error);
    if (!stream->sink)
        stream->sink =
            ctf_create_file(stream->trace->home.folder, out, "", stream->name, "", error);
    if (!stream->sink)
        return error ? error->status : TTR_E_IO;
    if (!stream->trace->description.has_uuid)
        assign_trace_uuid(out->ctx, stream);
    if (is_rfc_stream(stream)) {
        status = build_rfc_packet(stream, out, error);
        bytes = &out->buffer;
    } else {
        store_head_numbers(stream, content_bits);
        if (!stream->trace->options->has_no_index)
            add_packet_index_entry(stream, content_bits, stream->put.at);
    }
    if (status == TTR_OK)
        status = (stream->trace->streams_n > BUFFERED_STREAMS_MAX
                      ? sink_write_unbuffered
                      : sink_write)(stream->sink, bytes->bytes, bytes->n, error);
    if (status == TTR_OK)
        status = ctf_index_out_flush_full(&stream->index, out, stream->trace->home.folder,
                                          stream->name, error);
    stream->offset += bytes->n;
    stream->sequence++;
    buffer_clear(bytes);
    if (stream->excess_bytes)
        free_large_buffers(stream, out);
    return status;
}

/* --- Encoding of events --- */

/* Appends LTTng's large event header: u16 id and u32 timestamp, or the extended form. If the
 * stream has no timestamps, the header is a u32 id. */
static void write_event_header(struct ctf_stream_out *stream, uint64_t id, uint64_t ticks)
{
    struct bit_writer *put = &stream->put;
    void (*number)(struct bit_writer *, uint64_t, unsigned) =
        stream->trace->description.is_big_endian ? bit_writer_add_be : bit_writer_add_le;
    bit_writer_align(put, 3);
    if (!stream->kind->has_time) {
        number(put, id, 32);
        return;
    }
    if (id < ID_EXTENDED && ticks - stream->last <= UINT32_MAX) {
        number(put, id, 16);
        number(put, ticks, 32);
    } else {
        number(put, ID_EXTENDED, 16);
        number(put, id, 32);
        number(put, ticks, 64);
    }
}

/* Appends an event header of v1.1, type 1 or 2, in its compact form if id and time difference fit.
 * Aligns its members if the trace has natural alignment. */
static void write_rfc_event_header(struct ctf_stream_out *stream, uint64_t id, uint64_t ticks)
{
    struct bit_writer *put = &stream->put;
    const struct ctf_description *description = &stream->trace->description;
    bool is_first = stream->kind->class->rfc_header == 1,
         is_natural = description->alignment != CTF_ALIGN_PACKED;
    const unsigned wide = !is_natural ? 3
                          : description->alignment == CTF_ALIGN_NATURAL_32
                              ? 5
                              : 6; /* log2 of the alignment of 64-bit integers */
    void (*number)(struct bit_writer *, uint64_t, unsigned) =
        description->is_big_endian ? bit_writer_add_be : bit_writer_add_le;
    uint64_t escape = is_first ? RFC11_ID_EXTENDED_1 : RFC11_ID_EXTENDED_2,
             distance = ticks - stream->last;
    bool is_compact = id < escape && distance < (is_first ? UINT64_C(1) << 27 : UINT64_C(1) << 32);
    bit_writer_align(put, is_natural ? 5 : 3);
    if (is_first) {
        number(put, is_compact ? id : escape, 5);
        number(put, ticks, 27);
    } else {
        number(put, ticks, 32);
        number(put, is_compact ? id : escape, 16);
    }
    if (is_compact)
        return;
    if (is_first) {
        number(put, id, 32);
        number(put, ticks, 64);
    } else {
        bit_writer_align(put, wide);
        number(put, ticks, 64);
        number(put, id, 32);
    }
    bit_writer_align(put, is_first ? wide : is_natural ? 5 : 3);
}

/* Place for the size of an event, which is stored after the event was encoded. at: bit offset of
 * the size member; count_from: bit offset of the end of the context, from which the size counts. */
struct size_pos {
    uint64_t at, count_from;
    unsigned bits; /* width of the size member in bits; 0 if the event has none */
};

/* Stores the number of bytes from size->count_from to the current position in the size member. If
 * it does not fit, stores the member's maximum and returns false. */
static bool store_event_size(struct ctf_stream_out *stream, const struct size_pos *size)
{
    const uint64_t bytes = stream->put.at > size->count_from
                               ? (stream->put.at - size->count_from + 7) / 8
                               : 0,
                   most = UINT64_MAX >> (64 - size->bits);
    (stream->trace->description.is_big_endian ? bit_writer_overwrite_be : bit_writer_overwrite_le)(
        &stream->put, size->at, bytes < most ? bytes : most, size->bits);
    return bytes <= most;
}

/* Encodes the common context of a v1.1 event that stores its size. It is the context of the source
 * if that has a size member; otherwise only a u16 size. Returns the position of the size, which is
 * set later (store_event_size). */
static struct size_pos encode_sized_context(const struct ctf_stream_out *stream,
                                            struct field_encoder *encode)
{
    const struct type *context = stream->kind->class->event_context;
    const uint32_t to = stream->kind->size_member;
    struct type first = *context, rest = *context;
    struct size_pos size = {.bits = 16};
    if (to) {
        first.members_n = to;
        rest.members += to;
        rest.members_n -= to;
        rest.align = 0;
        encode_members(encode, &first);
        size.bits = context->members[to - 1].type->bits;
    } else {
        bit_writer_align(&encode->put,
                         stream->trace->description.alignment != CTF_ALIGN_PACKED ? 4 : 3);
        bit_writer_add_zeros(&encode->put, 16);
    }
    size.at = encode->put.at - size.bits;
    if (to)
        encode_members(encode, &rest);
    size.count_from = (encode->put.at + 7) & ~UINT64_C(7);
    return size;
}

/* Appends an event to the open packet. Returns false if the event's size does not fit in its size
 * member. */
static bool encode_event_to_packet(struct ctf_stream_out *stream,
                                   const struct ctf_event_class *class,
                                   const struct ctf_items *items, uint64_t ticks)
{
    struct field_encoder encode;
    struct size_pos size = {.bits = 0};
    if (is_rfc_stream(stream))
        write_rfc_event_header(stream, class->id, ticks);
    else
        write_event_header(stream, class->id, ticks);
    encode_begin(&encode, items->field, items->n);
    encode.put = stream->put;
    if (is_rfc_stream(stream) && stream->kind->class->rfc_has_event_size)
        size = encode_sized_context(stream, &encode);
    else if (stream->kind->class->event_context)
        encode_members(&encode, stream->kind->class->event_context);
    if (class->context)
        encode_members(&encode, class->context);
    if (class->payload)
        encode_members(&encode, class->payload);
    stream->put = encode.put;
    return !size.bits || store_event_size(stream, &size);
}

ttr_status ctf_stream_start_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                                   const struct ctf_items *items, uint64_t begin, ttr_error *error)
{
    ttr_status status = stream->is_open ? write_packet(stream, out, error) : TTR_OK;
    if (status != TTR_OK)
        return status;
    build_head_template(stream, items);
    start_packet(stream, begin);
    return stream->packet.failed ? fail_memory(error) : TTR_OK;
}

ttr_status ctf_stream_start_empty_packet(struct ctf_stream_out *stream, struct ttr_writer *out,
                                         const uint64_t *begin, ttr_error *error)
{
    ttr_status status = stream->is_open ? write_packet(stream, out, error) : TTR_OK;
    if (status != TTR_OK)
        return status;
    start_packet(stream, begin ? *begin : stream->last);
    return stream->packet.failed ? fail_memory(error) : TTR_OK;
}

/* Once a packet buffer has MEMORY_FIRST bytes and is nearly full, reserves its final capacity: the
 * packet limit, and MEMORY_SPARE for an event that exceeds it. */
static void reserve_event_space(struct ctf_stream_out *stream)
{
    struct buffer *packet = &stream->packet;
    if (packet->capacity - packet->n > MEMORY_SPARE || packet->capacity < MEMORY_FIRST)
        return;
    const uint64_t limit = get_packet_limit(stream), room = limit + 2 * MEMORY_SPARE;
    if (limit <= MEMORY_SMALL && packet->capacity < room)
        buffer_reserve(packet, (size_t)room);
}

/* Returns true if the packet's counter includes events that were discarded after its last event.
 * Such a packet must not be split, because only the counter of its last part would be right. */
static bool is_gap_counted_to_end(const struct ctf_stream_out *stream)
{
    return stream->counts_to_end && stream->end > stream->last;
}

/* Returns true if a full packet may grow instead of being split, because its counter must be right
 * for all of its events. All packets together may exceed their limits by OPEN_PACKETS_MAX bytes. */
static bool can_exceed_packet_limit(struct ctf_stream_out *stream, struct ctf_writer *w)
{
    const uint64_t excess_bytes = stream->put.at / 8 - get_packet_limit(stream);
    if (!is_gap_counted_to_end(stream) ||
        excess_bytes - stream->excess_bytes > OPEN_PACKETS_MAX - w->packets_excess)
        return false;
    w->packets_excess += excess_bytes - stream->excess_bytes;
    stream->excess_bytes = excess_bytes;
    return true;
}

ttr_status ctf_stream_append_event(struct ctf_stream_out *stream, struct ttr_writer *out,
                                   const struct ctf_event_class *class,
                                   const struct ctf_items *items, uint64_t ticks, ttr_error *error)
{
    if (!stream->is_open)
        start_packet(stream, ticks);
    reserve_event_space(stream);
    const uint64_t at = stream->put.at;
    bool fits = encode_event_to_packet(stream, class, items, ticks);
    if (stream->packet.failed)
        return fail_memory(error);
    if (stream->events && stream->put.at / 8 > get_packet_limit(stream) &&
        !can_exceed_packet_limit(stream, out->ctx)) {
        uint64_t end = stream->end;
        if (is_gap_counted_to_end(stream))
            output_count_loss(out, CTF_LOST_GAP_TIME, items->offset);
        stream->end = 0;
        bit_writer_truncate(&stream->put, at);
        ttr_status status = write_packet(stream, out, error);
        stream->end = end;
        if (status != TTR_OK)
            return status;
        start_packet(stream, ticks);
        fits = encode_event_to_packet(stream, class, items, ticks);
    }
    if (!fits)
        output_count_loss(out, CTF_LOST_SIZE, items->offset);
    stream->last = ticks;
    stream->events++;
    return stream->packet.failed ? fail_memory(error) : TTR_OK;
}

/* --- End of a stream file --- */

static ttr_status finish_stream_index(struct ctf_stream_out *stream, struct ttr_writer *out,
                                      ttr_error *error)
{
    if (stream->index.entries.n == 0 && !stream->index.file)
        return TTR_OK;
    return ctf_index_out_finish(&stream->index, out, stream->trace->home.folder, stream->name,
                                error);
}

ttr_status ctf_stream_finish(struct ctf_stream_out *stream, struct ttr_writer *out,
                             ttr_error *error)
{
    ttr_status status = stream->is_open ? write_packet(stream, out, error) : TTR_OK;
    if (status != TTR_OK || !stream->sink)
        return status;
    status = sink_finish(stream->sink, error);
    stream->sink = NULL;
    return status == TTR_OK ? finish_stream_index(stream, out, error) : status;
}

void ctf_stream_free(struct ctf_stream_out *stream, const struct alloc *alloc)
{
    sink_abandon(stream->sink);
    buffer_free(&stream->packet);
    ctf_index_out_free(&stream->index);
    buffer_free(&stream->head);
    alloc_free(alloc, stream->name, stream->name_size, 1);
}
