/* Packet filter: rebuilds a packet from the events that are left, because a filter dropped some or
 * because the packet is damaged. Re-encoding would lose fields that have no equivalent in our
 * model; moving bits loses nothing.
 *
 * Layout of a source packet and of the packet rebuilt without event B:
 *
 * |  source   | header, context     | A        | B            | C           | padding |
 * |           |  sizes, times, seq  |          |  (dropped)   |             |
 * |                 |                  |                          |
 * |                 v stored again     v bits copied              v bits copied or moved by value
 * |  rebuilt  | header, context     | A        |pad| C'          |
 * |                                             ^ event header alignment
 *
 * Order of calls: ctf_filter_packet -> find_role_positions (finds the numbers to replace) ->
 * copy_events -> for each event copy_event -> write_rebuilt_packet (replaces the numbers, writes
 * the packet).
 *
 * Algorithm, per event:
 *   1. Align to the event header. If the distance to the old position is a multiple of the
 *      event's largest alignment, copy its bits: all padding inside stays valid.
 *   2. Otherwise walk its fields (layout/bit_offsets.h) and copy value by value with new padding.
 *   3. The same if the event mixes byte orders inside a byte, which only CTF 2 allows: a plain
 *      bit copy needs one order.
 *
 * Timestamps: event headers may hold only the low bits of a time, 27 of LTTng's compact header:
 *
 * |  A t=10          (dropped events)                    C t=10+2^28     low bits: ambiguous
 * |  packet 1: A     packet 2, start time = time of C: C                 time is restored
 *
 * If the gap between neighbours is not less than 2^width of the timestamp, the packet is split; its
 * start time is the full time of the event. Without start times in packets that is impossible and
 * CTF_LOST_WRAP is counted.
 *
 * Invariants: values, order and classes of events never change; sequence numbers have no holes
 * other than reported ones (`shift` counts dropped packets and split ones).
 *
 * Cost: O(bits of the kept events); alignments and byte orders are computed once per type. Left
 * out: recomputation of fields without a role, such as a tracer's own checksum. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/write/ctf_copy.h"

#define CTF_UUID_BYTES ((size_t)16)

/* A number in the packet's header or context that gets a new value: its type, bit offset, and
 * width in bits. */
struct number_pos {
    const struct type *type;
    uint64_t at, bits;
};

struct packet_filter {
    struct ctf_file_copy *file;
    struct ttr_writer *out;
    struct number_pos number_pos[CTF_ROLE_COUNT];
    struct buffer bytes;
    struct bit_writer put;
    const uint8_t *source; /* bytes that copy_event_by_value copies from */
    /* width in bits of the narrowest timestamp in event headers; 64 if timestamps cannot wrap */
    unsigned time_width;
    unsigned header_align;
    /* start and end time in ticks of the packet that is being rebuilt */
    uint64_t begin, end;
    /* events: number of copied events; uncounted: number of those that are not counted as written
     * (is_uncounted) */
    uint64_t events, uncounted;
};

/* --- Numbers in packet header and packet context --- */

/* Overwrites an unsigned LEB128 number. The new value gets the length of the old one, by
 * padding. */
static void overwrite_leb128(struct bit_writer *put, uint64_t at, uint64_t bits, uint64_t value)
{
    for (uint64_t i = 0; i < bits / 8; i++, value >>= 7)
        bit_writer_overwrite_le(put, at + i * 8, (value & 0x7f) | (i + 1 < bits / 8 ? 0x80u : 0u),
                                8);
}

static void store_number(struct bit_writer *put, const struct number_pos *number_pos,
                         uint64_t value)
{
    if (!number_pos->type)
        return;
    unsigned width = number_pos->type->bits;
    if (number_pos->type->kind == TYPE_VAR_UINT)
        overwrite_leb128(put, number_pos->at, number_pos->bits, value);
    else if (number_pos->type->is_big_endian)
        bit_writer_overwrite_be(put, number_pos->at,
                                number_pos->type->is_reversed ? bits_reverse(value, width) : value,
                                width);
    else
        bit_writer_overwrite_le(put, number_pos->at,
                                number_pos->type->is_reversed ? bits_reverse(value, width) : value,
                                width);
}

static void record_role_position(void *ctx, const struct type *type, uint64_t at, uint64_t bits)
{
    struct number_pos *number_pos = ctx;
    /* each value is also stored at CTF_ROLE_NONE: the last one there is the last value of the
     * packet context, which determines the byte order in start_rebuilt_packet */
    number_pos[CTF_ROLE_NONE] = (struct number_pos){type, at, bits};
    bool is_number = (type->kind == TYPE_UINT && type->bits <= 64) || type->kind == TYPE_VAR_UINT;
    if (is_number && type->role && type->role < CTF_ROLE_COUNT)
        number_pos[type->role] = (struct number_pos){type, at, bits};
}

/* Decodes packet header and packet context. Sets number_pos[role] to the number with that role.
 * Keeps numbers to which event fields refer, such as lengths. Returns false if the bytes cannot be
 * decoded. */
static bool find_role_positions(struct ctf_file_copy *file, struct number_pos *number_pos)
{
    const struct ctf_open_packet *packet = &file->packet;
    struct bit_offsets *places = &file->trace->places;
    const struct type *header = file->trace->source->class->description.packet_header;
    const struct type *context = packet->kind->class->packet_context;
    bit_offsets_reset(places);
    places->bits = bits_init(packet->head.bytes, 0, (uint64_t)packet->head.n * 8);
    places->ctx = number_pos;
    places->value = record_role_position;
    places->align = NULL;
    return (!header || bit_offsets_visit_root(places, ROOT_PACKET_HEADER, header)) &&
           (!context || bit_offsets_visit_root(places, ROOT_PACKET_CONTEXT, context));
}

/* --- UUID of the packet --- */

/* Returns the byte offset of the UUID in `head`; UINT64_MAX if the packet header does not have one.
 */
static uint64_t find_head_uuid(const struct ctf_trace *trace, const struct buffer *head)
{
    struct layout_iter walk;
    const struct type *type;
    ttr_field field;
    struct bits bits = bits_init(head->bytes, 0, (uint64_t)head->n * 8);
    bool is_inside = false;
    layout_iter_begin(&walk, trace->class->packet_header, &bits, NULL);
    while (layout_iter_next(&walk, &field, &type)) {
        if (is_inside)
            /* the first element of a UUID array was just read, so the iterator is one byte after
             * the start of the array */
            return walk.run.bits.at / 8 - 1;
        if (type->role == CTF_ROLE_UUID && type->kind == TYPE_TEXT)
            return walk.run.bits.at / 8 - CTF_UUID_BYTES;
        /* the value of a blob is a pointer to its bytes in `head` */
        if (type->role == CTF_ROLE_UUID && type->kind == TYPE_BLOB)
            return (uint64_t)((const uint8_t *)field.value.text.p - head->bytes);
        is_inside = type->role == CTF_ROLE_UUID;
    }
    return UINT64_MAX;
}

void ctf_set_packet_uuid(struct ctf_file_copy *file)
{
    const struct ctf_trace *trace = file->trace->source;
    struct ctf_open_packet *packet = &file->packet;
    packet->uuid_at = UINT64_MAX;
    const uint8_t *uuid = file->trace->uuid;
    bool becomes_strict =
        trace->class->description.version == CTF_1_8 && file->trace->options->version == CTF_2;
    bool has_other = memcmp(uuid, trace->class->description.uuid, CTF_UUID_BYTES) != 0;
    if ((!becomes_strict && !has_other) || !trace->class->description.has_uuid ||
        !trace->class->packet_header)
        return;
    uint64_t at = packet->head.failed ? UINT64_MAX : find_head_uuid(trace, &packet->head);
    if (at > packet->head.n || packet->head.n - at < CTF_UUID_BYTES ||
        memcmp(packet->head.bytes + at, uuid, CTF_UUID_BYTES) == 0)
        return;
    memcpy(packet->head.bytes + at, uuid, CTF_UUID_BYTES);
    packet->uuid_at = at;
}

/* --- Sequence numbers and gaps --- */

struct ctf_stream_copy *ctf_get_stream_copy(struct ctf_file_copy *file)
{
    struct ctf_trace_copy *trace = file->trace;
    const struct ctf_open_packet *packet = &file->packet;
    const uint32_t *index =
        pair_map_get(&trace->stream_of, packet->kind->class->id, packet->number);
    if (index)
        return &trace->streams[*index];
    if (!alloc_reserve(trace->aligns.alloc, (void **)&trace->streams, &trace->streams_capacity,
                       trace->streams_n + 1, sizeof *trace->streams) ||
        !pair_map_put(&trace->stream_of, packet->kind->class->id, packet->number,
                      (uint32_t)trace->streams_n))
        return NULL;
    trace->streams[trace->streams_n] = (struct ctf_stream_copy){.shift = 0};
    return &trace->streams[trace->streams_n++];
}

/* Clears the pending gap of a stream, because the counters of the packet that is written report
 * it. If it is the first packet of the stream, its counters report a gap only if its sequence
 * number is 0; otherwise the gap is counted as lost. */
static void report_event_gap(const struct ctf_file_copy *file, struct ttr_writer *out,
                             struct ctf_stream_copy *stream, uint64_t sequence)
{
    const struct ctf_packet *about = &file->packet.about;
    const bool is_number_0 = about->has_sequence && sequence == 0,
               is_reported =
                   stream->is_begun || (is_number_0 && about->discarded == stream->events);
    if (!is_reported)
        output_count_losses(out, CTF_LOST_EVENTS, stream->events, about->offset);
    if (!stream->is_begun)
        output_count_losses(out, CTF_LOST_PACKETS, stream->packets, about->offset);
    stream->is_begun = true;
    stream->events = stream->packets = 0;
}

ttr_status ctf_write_packet(struct ctf_file_copy *file, struct ttr_writer *out,
                            const uint8_t *bytes, size_t n, ttr_error *error)
{
    struct number_pos number_pos[CTF_ROLE_COUNT] = {{.type = NULL}};
    struct ctf_stream_copy *stream = ctf_get_stream_copy(file);
    if (!stream)
        return fail_memory(error);
    const struct ctf_open_packet *packet = &file->packet;
    const int64_t shift = stream->shift;
    report_event_gap(file, out, stream, ctf_shift_sequence(&packet->about, shift));
    out->events += packet->kept_n - packet->uncounted_n;
    file->offset += n;
    /* another packet must not follow a packet that declares no size, because readers extend it to
     * the end of the file */
    file->is_ended = packet->about.size == UINT64_MAX;
    if (shift == 0 && packet->uuid_at == UINT64_MAX)
        return sink_write(file->sink, bytes, n, error);
    file->is_changed = true;
    struct buffer copy;
    buffer_init(&copy, &out->t->counted);
    struct bit_writer put = bit_writer_init(&copy);
    bit_writer_add_bytes(&put, bytes, n);
    if (shift && find_role_positions(file, number_pos))
        store_number(&put, &number_pos[CTF_ROLE_SEQUENCE],
                     packet->about.sequence - (uint64_t)shift);
    if (packet->uuid_at != UINT64_MAX && !copy.failed)
        memcpy(copy.bytes + packet->uuid_at, packet->head.bytes + packet->uuid_at, CTF_UUID_BYTES);
    ttr_status status =
        copy.failed ? fail_memory(error) : sink_write(file->sink, copy.bytes, copy.n, error);
    buffer_free(&copy);
    return status;
}

/* --- Alignments --- */

static unsigned get_larger_alignment(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Returns log2 of the largest alignment in bits of any type inside a type, using a cache. Searches
 * all nested types, because the alignment of a variant does not include that of its options. */
static unsigned find_type_alignment(struct ctf_trace_copy *trace, const struct type *type,
                                    unsigned depth)
{
    if (!type || depth > TYPE_DEPTH_MAX)
        return 0;
    const uint32_t *known = pair_map_get(&trace->aligns, (uintptr_t)type, 0);
    if (known)
        return *known;
    unsigned align = type->align;
    if (type->kind >= TYPE_VAR_UINT && type->kind <= TYPE_BLOB)
        align = get_larger_alignment(align, 3);
    if (type->unit)
        align = get_larger_alignment(align, (unsigned)__builtin_ctz(type->unit) < TYPE_ALIGN_MAX &&
                                                    (type->unit & (type->unit - 1)) == 0
                                                ? (unsigned)__builtin_ctz(type->unit)
                                                : TYPE_ALIGN_MAX);
    align = get_larger_alignment(align, find_type_alignment(trace, type->length_type, depth + 1));
    align = get_larger_alignment(align, find_type_alignment(trace, type->element, depth + 1));
    for (uint32_t i = 0; i < type->members_n; i++)
        align = get_larger_alignment(align,
                                     find_type_alignment(trace, type->members[i].type, depth + 1));
    /* without memory for the cache, the result is valid, but is computed again each time */
    bool is_kept = pair_map_put(&trace->aligns, (uintptr_t)type, 0, align);
    return is_kept ? align : get_larger_alignment(align, 0);
}

static unsigned find_event_alignment(const struct packet_filter *r,
                                     const struct ctf_event_class *event)
{
    struct ctf_trace_copy *trace = r->file->trace;
    const struct ctf_stream_class *class = r->file->packet.kind->class;
    unsigned align = get_larger_alignment(find_type_alignment(trace, class->event_header, 0),
                                          find_type_alignment(trace, class->event_context, 0));
    return get_larger_alignment(
        align, get_larger_alignment(find_type_alignment(trace, event->context, 0),
                                    find_type_alignment(trace, event->payload, 0)));
}

/* Returns the width in bits of the narrowest timestamp in an event header type; 0 if a timestamp
 * is a LEB128 number; 64 if there are no timestamps. */
static unsigned find_min_time_width(const struct type *type, unsigned depth)
{
    unsigned width = 64;
    if (!type || depth > TYPE_DEPTH_MAX)
        return width;
    if (type->role == CTF_ROLE_TIME)
        return type->kind == TYPE_VAR_UINT ? 0 : type->bits < 64 ? type->bits : 64;
    for (uint32_t i = 0; i < type->members_n; i++) {
        unsigned ctx = find_min_time_width(type->members[i].type, depth + 1);
        width = ctx < width ? ctx : width;
    }
    unsigned ctx = find_min_time_width(type->element, depth + 1);
    return ctx < width ? ctx : width;
}

/* --- Copying of events --- */

static void copy_bits(struct packet_filter *r, const uint8_t *bytes, uint64_t at, uint64_t n,
                      bool is_big)
{
    struct bits from = bits_init(bytes, at, at + n);
    if (!((at | r->put.at) & 7)) {
        bit_writer_add_bytes(&r->put, bytes + (at >> 3), (size_t)(n >> 3));
        from.at += n & ~UINT64_C(7);
    }
    while (bits_left(&from) > 0) {
        unsigned width = bits_left(&from) < 64 ? (unsigned)bits_left(&from) : 64;
        if (is_big)
            bit_writer_add_be(&r->put, bits_read_be(&from, width), width);
        else
            bit_writer_add_le(&r->put, bits_read_le(&from, width), width);
    }
}

static void write_alignment(void *ctx, unsigned log2)
{
    struct packet_filter *r = ctx;
    bit_writer_align(&r->put, log2);
}

static void copy_value(void *ctx, const struct type *type, uint64_t at, uint64_t bits)
{
    struct packet_filter *r = ctx;
    bool is_number = type->kind < TYPE_VAR_UINT || type->kind == TYPE_NULL;
    if (is_number)
        bit_writer_add_zeros(&r->put, bit_offsets_align_number(type, r->put.at) - r->put.at);
    else
        bit_writer_align(&r->put, type->align > 3 && !type->has_inline_length ? type->align : 3);
    copy_bits(r, r->source, at, bits, type->is_big_endian);
}

enum { ORDER_LITTLE = 1, ORDER_BIG = 2 };
/* second key of byte orders in the map `aligns`; that of alignments is 0 */
enum { KEY_ORDERS = 1 };

/* Returns the byte orders (ORDER_* bits) of all numbers in a type that do not fill complete bytes.
 * The byte order of such a number decides which bits of a byte it occupies. Only CTF 2 allows both
 * orders in one event. */
static unsigned find_type_byte_orders(const struct type *type, unsigned depth)
{
    unsigned orders = 0;
    if (!type || depth > TYPE_DEPTH_MAX)
        return 0;
    if (type->kind < TYPE_VAR_UINT && (type->bits % 8 || type->align < 3))
        orders = type->is_big_endian ? ORDER_BIG : ORDER_LITTLE;
    for (uint32_t i = 0; i < type->members_n; i++)
        orders |= find_type_byte_orders(type->members[i].type, depth + 1);
    return orders | find_type_byte_orders(type->element, depth + 1) |
           find_type_byte_orders(type->length_type, depth + 1);
}

/* Returns the byte orders (ORDER_* bits) of all types in an event that find_type_byte_orders
 * finds. Keeps the result of each class in a cache, unless memory runs out. */
static unsigned find_event_byte_orders(const struct packet_filter *r,
                                       const struct ctf_event_class *event)
{
    struct pair_map *known = &r->file->trace->aligns;
    const struct ctf_stream_class *class = r->file->packet.kind->class;
    const uint32_t *orders = pair_map_get(known, (uintptr_t)event, KEY_ORDERS);
    if (orders)
        return *orders;
    unsigned found = find_type_byte_orders(class->event_header, 0) |
                     find_type_byte_orders(class->event_context, 0) |
                     find_type_byte_orders(event->context, 0) |
                     find_type_byte_orders(event->payload, 0);
    bool is_kept = pair_map_put(known, (uintptr_t)event, KEY_ORDERS, found);
    (void)is_kept;
    return found;
}

/* Copies an event value by value, with the padding that its new position requires. Returns false
 * if the event cannot be decoded, which should not happen, since the reader has decoded it. */
static bool copy_event_by_value(struct packet_filter *r, const struct ctf_kept *kept,
                                const uint8_t *event_bytes, uint64_t at, uint64_t end)
{
    struct bit_offsets *places = &r->file->trace->places;
    const struct ctf_stream_class *class = r->file->packet.kind->class;
    struct number_pos ignored[CTF_ROLE_COUNT];
    if (!find_role_positions(r->file, ignored))
        return false;
    places->bits = bits_init(event_bytes, at, end);
    places->ctx = r;
    places->align = write_alignment;
    places->value = copy_value;
    r->source = event_bytes;
    return (!class->event_header ||
            bit_offsets_visit_root(places, ROOT_EVENT_HEADER, class->event_header)) &&
           (!class->event_context ||
            bit_offsets_visit_root(places, ROOT_COMMON_CONTEXT, class->event_context)) &&
           (!kept->event->context ||
            bit_offsets_visit_root(places, ROOT_SPECIFIC_CONTEXT, kept->event->context)) &&
           (!kept->event->payload ||
            bit_offsets_visit_root(places, ROOT_PAYLOAD, kept->event->payload));
}

static void copy_event(struct packet_filter *r, const struct ctf_kept *kept)
{
    const struct ctf_open_packet *packet = &r->file->packet;
    uint64_t mask = (UINT64_C(1) << find_event_alignment(r, kept->event)) - 1,
             base = packet->event_bytes_at * 8;
    bit_writer_align(&r->put, r->header_align);
    uint64_t before = r->put.at;
    unsigned orders = find_event_byte_orders(r, kept->event);
    bool is_mixed =
        orders == (ORDER_LITTLE | ORDER_BIG) && ((kept->at | kept->end | r->put.at) & 7) != 0;
    if (((r->put.at - kept->at) & mask) == 0 && !is_mixed) {
        copy_bits(r, packet->room.event_bytes.bytes, kept->at - base, kept->end - kept->at,
                  orders == ORDER_BIG);
    } else if (!copy_event_by_value(r, kept, packet->room.event_bytes.bytes, kept->at - base,
                                    kept->end - base)) {
        bit_writer_truncate(&r->put, before);
        output_count_loss(r->out, CTF_LOST_MOVED, packet->about.offset + kept->at / 8);
        return;
    }
    r->end = kept->ticks;
    r->events++;
    r->uncounted += kept->is_uncounted;
}

/* --- Rebuilt packets --- */

static void start_rebuilt_packet(struct packet_filter *r, uint64_t ticks)
{
    const struct ctf_open_packet *packet = &r->file->packet;
    uint64_t head = packet->about.first_bit, whole = head & ~UINT64_C(7);
    buffer_clear(&r->bytes);
    r->put = bit_writer_init(&r->bytes);
    copy_bits(r, packet->head.bytes, 0, whole, false);
    const struct type *last = r->number_pos[CTF_ROLE_NONE].type;
    copy_bits(r, packet->head.bytes, whole, head - whole, last && last->is_big_endian);
    r->begin = ticks;
    r->events = r->uncounted = 0;
}

/* Returns the checksum scheme of a rebuilt packet: that of the source packet; if unknown, that of
 * the trace's first packet; else none. */
static uint8_t choose_checksum(const struct packet_filter *r, const struct rfc11_packet *packet)
{
    const struct ctf_trace *trace = r->file->trace->source;
    if (packet->checksum_scheme <= RFC11_CRC32)
        return packet->checksum_scheme;
    output_count_loss(r->out, CTF_LOST_CHECKSUM, r->file->packet.about.offset);
    return trace->has_first && trace->first.checksum_scheme <= RFC11_CRC32
               ? trace->first.checksum_scheme
               : RFC11_CHECKSUM_NONE;
}

/* Writes a rebuilt v1.1 packet: builds its header, then compresses, encrypts and checksums its
 * content like the source packet. */
static ttr_status write_rebuilt_rfc_packet(struct packet_filter *r, uint64_t sequence,
                                           ttr_error *error)
{
    const struct ctf_trace *trace = r->file->trace->source;
    struct rfc11_packet packet;
    if (rfc11_read_header(r->file->packet.head.bytes, r->file->packet.head.n, &packet) !=
        RFC11_FINE)
        return fail(error, TTR_E_MALFORMED, r->file->packet.about.offset,
                    "the packet's header cannot be read again");
    struct rfc11_pack_options packing = {.compression = packet.compression_scheme,
                                         .encryption = packet.encryption_scheme,
                                         .checksum = choose_checksum(r, &packet),
                                         .key = {trace->has_key ? trace->key : NULL},
                                         .align = packet.packet_size % 4096 ? 1 : 4096};
    ttr_status status = packing.encryption ? rfc11_make_random_iv(packing.iv, error) : TTR_OK;
    packet.section_packet_count = (uint32_t)sequence;
    packet.timestamp_begin = r->begin;
    packet.timestamp_end = r->end;
    buffer_clear(&r->out->buffer);
    if (status == TTR_OK)
        status = rfc11_append_packet(&packet, r->bytes.bytes + RFC11_HEADER,
                                     r->bytes.n - RFC11_HEADER, &packing, &r->out->buffer, error);
    if (status == TTR_OK)
        status = sink_write(r->file->sink, r->out->buffer.bytes, r->out->buffer.n, error);
    r->file->offset += r->out->buffer.n;
    buffer_clear(&r->out->buffer);
    return status;
}

static void add_rebuilt_index_entry(const struct packet_filter *r, uint64_t content,
                                    uint64_t sequence)
{
    struct ctf_file_copy *file = r->file;
    const struct ctf_packet *about = &file->packet.about;
    if (!ctf_copy_keeps_index(file))
        return;
    /* Times in the index equal those in the packet. A source packet that was never closed has no
     * end time, but the rebuilt packet has one. */
    const uint64_t begin = r->number_pos[CTF_ROLE_TIME_BEGIN].type ? r->begin : 0,
                   end = r->number_pos[CTF_ROLE_TIME_END].type ? r->end : 0;
    const uint64_t numbers[CTF_INDEX_NUMBERS] = {file->offset,
                                                 r->put.at,
                                                 content,
                                                 begin,
                                                 end,
                                                 about->discarded,
                                                 file->packet.kind->class->id,
                                                 file->packet.number,
                                                 sequence};
    ctf_index_out_add(&file->index, numbers);
}

/* Returns true if packets declare their size; if not, readers extend a packet to the end of the
 * file. */
static bool packet_has_size_fields(const struct packet_filter *r)
{
    return r->number_pos[CTF_ROLE_PACKET_SIZE].type || r->number_pos[CTF_ROLE_CONTENT_SIZE].type;
}

static ttr_status write_rebuilt_packet(struct packet_filter *r, bool is_last, ttr_error *error)
{
    struct ctf_file_copy *file = r->file;
    const struct ctf_packet *about = &file->packet.about;
    struct ctf_stream_copy *stream = ctf_get_stream_copy(file);
    if (r->events == 0)
        return TTR_OK;
    if (!stream)
        return fail_memory(error);
    uint64_t content = r->put.at, sequence = ctf_shift_sequence(about, stream->shift);
    bit_writer_align(&r->put, 3);
    if (r->bytes.failed)
        return fail_memory(error);
    if (is_last && about->has_end && about->end > r->end)
        r->end = about->end;
    stream->shift -= !is_last;
    report_event_gap(file, r->out, stream, sequence);
    r->out->events += r->events - r->uncounted;
    if (file->trace->source->class->description.version == CTF_RFC_1_1)
        return write_rebuilt_rfc_packet(r, sequence, error);
    if (!r->number_pos[CTF_ROLE_PACKET_SIZE].type)
        /* if packets declare no packet size, readers use the content size, so it must be a
         * multiple of 8 bits */
        content = r->put.at;
    store_number(&r->put, &r->number_pos[CTF_ROLE_CONTENT_SIZE], content);
    store_number(&r->put, &r->number_pos[CTF_ROLE_PACKET_SIZE], r->put.at);
    store_number(&r->put, &r->number_pos[CTF_ROLE_TIME_BEGIN], r->begin);
    store_number(&r->put, &r->number_pos[CTF_ROLE_TIME_END], r->end);
    store_number(&r->put, &r->number_pos[CTF_ROLE_SEQUENCE], sequence);
    ttr_status status = ctf_copy_next_file(file, r->out, error);
    if (status != TTR_OK)
        return status;
    file->is_ended = !packet_has_size_fields(r);
    add_rebuilt_index_entry(r, content, sequence);
    file->offset += r->bytes.n;
    status = ctf_copy_flush_index(file, r->out, error);
    return status == TTR_OK ? sink_write(file->sink, r->bytes.bytes, r->bytes.n, error) : status;
}

/* Returns true if readers would compute a wrong time for an event at `ticks` that follows an event
 * at `before`, because the timestamp has too few bits for the difference. */
static bool is_time_ambiguous(const struct packet_filter *r, uint64_t before, uint64_t ticks)
{
    return r->time_width < 64 && (ticks - before) >> r->time_width != 0;
}

static ttr_status copy_events(struct packet_filter *r, ttr_error *error)
{
    const struct ctf_open_packet *packet = &r->file->packet;
    const struct ctf_packet *about = &packet->about;
    bool may_split = about->has_begin;
    /* the time to which readers add the next timestamp, which has only the low bits */
    uint64_t last = about->has_begin ? about->begin : 0;
    ttr_status status = TTR_OK;
    start_rebuilt_packet(r, about->has_begin ? last : packet->room.kept[0].ticks);
    for (size_t i = 0; i < packet->kept_n && status == TTR_OK; i++) {
        const struct ctf_kept *kept = &packet->room.kept[i];
        bool is_far = is_time_ambiguous(r, last, kept->ticks);
        if (is_far && !may_split)
            output_count_loss(r->out, CTF_LOST_WRAP, about->offset + kept->at / 8);
        if (is_far && may_split) {
            status = write_rebuilt_packet(r, false, error);
            start_rebuilt_packet(r, kept->ticks);
        }
        copy_event(r, kept);
        last = kept->ticks;
    }
    return status == TTR_OK ? write_rebuilt_packet(r, true, error) : status;
}

ttr_status ctf_filter_packet(struct ctf_file_copy *file, struct ttr_writer *out, ttr_error *error)
{
    const struct ctf_open_packet *packet = &file->packet;
    struct packet_filter r = {.file = file,
                              .out = out,
                              .time_width =
                                  find_min_time_width(packet->kind->class->event_header, 0),
                              .header_align = packet->kind->plan.align};
    file->is_changed = true;
    struct ctf_stream_copy *stream = ctf_get_stream_copy(file);
    if (!stream)
        return fail_memory(error);
    if (packet->kept_n == 0) {
        stream->shift++;
        return TTR_OK;
    }
    if (!find_role_positions(file, r.number_pos))
        return fail(error, TTR_E_MALFORMED, packet->about.offset,
                    "the packet's header cannot be read again");
    buffer_init(&r.bytes, &out->t->counted);
    ttr_status status = copy_events(&r, error);
    buffer_free(&r.bytes);
    return status;
}
