/* Access to the fields of an event: finds the body, the packet context and the event header of an
 * event in its packet. Supplies the values of earlier fields that the decoder needs, such as
 * lengths in the packet header. Implements the callbacks of struct layout_schema
 * (layout/layout.h); decoding itself is in layout/. */
#include <string.h>

#include "formats/ctf/read/ctf_event_class.h"

/* The packet and stream that an event belongs to, and its header, for reading its fields. */
struct event_view {
    const struct ctf_reader *reader;
    const struct ctf_packet *packet;
    const struct ctf_stream_decoder *kind;
    struct bits header; /* all bits of the event, starting with its header */
};

/* Returns the layout of a structure that precedes the event body (packet header, packet context or
 * event header), and sets *bits to its position. Returns NULL if the trace does not have that
 * structure. */
static const struct layout *find_earlier_structure(const struct event_view *view,
                                                   enum type_root root, struct bits *bits)
{
    const struct ctf_packet *packet = view->packet;
    *bits = bits_init(view->reader->heads.bytes + packet->head_at, 0, (uint64_t)packet->head_n * 8);
    if (root == ROOT_PACKET_HEADER)
        return view->reader->trace->class->packet_header;
    if (root == ROOT_PACKET_CONTEXT) {
        bits->at = packet->context_bit;
        return view->kind->context;
    }
    *bits = view->header;
    return root == ROOT_EVENT_HEADER ? view->kind->header : NULL;
}

/* Sets the slots of `run` to the values of fields before this structure that its layout needs.
 * Recursive: decoding those structures may need earlier values, too. */
static void fill_earlier_values(const struct event_view *view, const struct layout *layout,
                                struct layout_cursor *run)
{
    uint32_t n;
    const struct layout_import *import = layout_imports(layout, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct layout_cursor outer = {.value = 0};
        const struct layout *before =
            find_earlier_structure(view, import[i].from.root, &outer.bits);
        uint64_t value = 0;
        run->slots[import[i].slot] = 0;
        if (!before || before == layout)
            continue;
        fill_earlier_values(view, before, &outer);
        if (layout_evaluate_reference(before, &outer, &import[i].from, &value))
            run->slots[import[i].slot] = value;
    }
}

void ctf_load_values_before_body(struct ctf_reader *reader, const struct layout *layout,
                                 const struct bits *header, struct layout_cursor *run)
{
    struct event_view view = {reader, &reader->packets[reader->slot], reader->stream->kind,
                              *header};
    fill_earlier_values(&view, layout, run);
}

struct ctf_origin ctf_find_event_origin(const struct ctf_schema *schema, const ttr_event *event)
{
    const struct ctf_trace *trace = schema->trace;
    if (schema->reader)
        return (struct ctf_origin){schema->reader, schema->stream};
    struct ctf_origin origin = {.reader =
                                    (size_t)event->source - trace->readers_from < trace->readers_n
                                        ? trace->readers[event->source - trace->readers_from]
                                        : NULL};
    if (origin.reader)
        origin.stream =
            ctf_find_stream_of_event(origin.reader, schema->event->stream, event->track);
    return origin;
}

/* Returns the offset of an event in its packet, in bytes from packet->base. Computed from file
 * offsets, because the event's payload may be a copy; in v1.1 from addresses, because unpacked
 * content has no file offsets. */
static uint64_t get_event_offset_in_packet(const struct ctf_reader *reader,
                                           const struct ctf_packet *packet, const ttr_event *event)
{
    if (reader->trace->class->description.version == CTF_RFC_1_1)
        return (uint64_t)(event->payload - packet->base);
    return event->offset - packet->offset - packet->base_bit / 8;
}

static struct event_view make_event_view(const struct ctf_origin *origin, const ttr_event *event,
                                         uint64_t *from)
{
    const struct ctf_reader *reader = origin->reader;
    const struct ctf_packet *packet = &reader->packets[event->part % reader->slots_max];
    *from = get_event_offset_in_packet(reader, packet, event) * 8;
    uint64_t end = *from + (uint64_t)event->payload_size * 8;
    struct bits header = bits_init(packet->base, *from + ctf_event_header_bit(event),
                                   end < packet->content_end ? end : packet->content_end);
    return (struct event_view){reader, packet, origin->stream->kind, header};
}

void ctf_locate_event_body(const struct layout_schema *base, const ttr_event *event,
                           struct layout_cursor *run)
{
    const struct ctf_schema *schema = (const struct ctf_schema *)base;
    const struct ctf_origin origin = ctf_find_event_origin(schema, event);
    if (!origin.stream) {
        run->bits = (struct bits){.failed = true};
        return;
    }
    const struct ctf_packet *packet =
        &origin.reader->packets[event->part % origin.reader->slots_max];
    uint64_t from = get_event_offset_in_packet(origin.reader, packet, event) * 8,
             end = from + (uint64_t)event->payload_size * 8;
    /* members are assigned one by one: the compiler would copy a struct with vector loads, which
     * stall on members that were just written (store forwarding) */
    run->bits.base = packet->base;
    run->bits.at = from + ctf_event_body_bit(event);
    run->bits.end = end < packet->content_end ? end : packet->content_end;
    /* the event is not in this packet, because the slot was reused */
    run->bits.failed = from > packet->content_end;
    if (!schema->has_imports || run->bits.failed)
        return;
    struct event_view view = make_event_view(&origin, event, &from);
    fill_earlier_values(&view, base->layout, run);
}

const struct layout *ctf_locate_event_group(const struct layout_schema *base,
                                            const ttr_event *event, ttr_group group,
                                            struct layout_cursor *run)
{
    const struct ctf_schema *schema = (const struct ctf_schema *)base;
    uint64_t from;
    if (!event->payload_size || !schema->event ||
        (group != TTR_GROUP_PACKET && group != TTR_GROUP_HEADER))
        return NULL;
    const struct ctf_origin origin = ctf_find_event_origin(schema, event);
    if (!origin.stream)
        return NULL;
    if (group == TTR_GROUP_PACKET && origin.reader->has_cpu) {
        run->bits = (struct bits){.base = origin.reader->cpu_bytes, .end = 32};
        return schema->trace->cpu;
    }
    struct event_view view = make_event_view(&origin, event, &from);
    if (from > view.packet->content_end)
        return NULL;
    const struct layout *layout = find_earlier_structure(
        &view, group == TTR_GROUP_PACKET ? ROOT_PACKET_CONTEXT : ROOT_EVENT_HEADER, &run->bits);
    if (layout && group == TTR_GROUP_PACKET)
        layout = origin.stream->kind->context_shown;
    if (layout)
        fill_earlier_values(&view, layout, run);
    return layout;
}

uint64_t ctf_get_event_packet_number(const struct layout_schema *base, const ttr_event *event)
{
    const struct ctf_reader *reader =
        ctf_find_event_origin((const struct ctf_schema *)base, event).reader;
    return reader && event->part < reader->slots_max && reader->packets
               ? reader->packets[event->part].offset + 1
               : 0;
}

/* Flags for where values of a type may end. ENDS_NOWHERE: the value may have no bits;
 * ENDS_AT_BYTE: at a byte boundary; ENDS_INSIDE: inside a byte. */
enum { ENDS_NOWHERE = 1u, ENDS_AT_BYTE = 2u, ENDS_INSIDE = 4u };

/* Returns the ENDS_* flags of a type. A struct ends where its last member ends; if that may have
 * no bits, also where the member before ends. */
static unsigned find_possible_ends(const struct type *type)
{
    unsigned ends = ENDS_NOWHERE;
    switch (type->kind) {
    case TYPE_BITS:
    case TYPE_BOOL:
    case TYPE_UINT:
    case TYPE_INT:
    case TYPE_FLAGS:
    case TYPE_FLOAT:
    case TYPE_NULL:
        return type->bits % 8 || type->align < 3 ? ENDS_INSIDE : ENDS_AT_BYTE;
    case TYPE_STRUCT:
        for (uint32_t i = type->members_n; i > 0 && (ends & ENDS_NOWHERE); i--)
            ends = (ends & ~(unsigned)ENDS_NOWHERE) | find_possible_ends(type->members[i - 1].type);
        return ends;
    case TYPE_ARRAY:
        return type->count ? find_possible_ends(type->element) : ends;
    case TYPE_SEQUENCE:
        return (type->has_inline_length ? find_possible_ends(type->length_type) : ends) |
               find_possible_ends(type->element);
    case TYPE_OPTIONAL:
        return ends | find_possible_ends(type->element);
    case TYPE_VARIANT:
        for (uint32_t i = 0; i < type->members_n; i++)
            ends |= find_possible_ends(type->members[i].type);
        return ends;
    default:
        return ENDS_AT_BYTE;
    }
}

bool ctf_event_may_end_inside_byte(const struct ctf_stream_class *stream,
                                   const struct ctf_event_class *event)
{
    const struct type *const parts[] = {event->payload, event->context, stream->event_context,
                                        stream->event_header};
    unsigned ends = ENDS_NOWHERE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && (ends & ENDS_NOWHERE); i++)
        if (parts[i])
            ends = (ends & ~(unsigned)ENDS_NOWHERE) | find_possible_ends(parts[i]);
    return ends & ENDS_INSIDE;
}

void ctf_compute_event_bit_range(const struct ctf_schema *schema, const ttr_event *event,
                                 uint64_t *from, uint64_t *to)
{
    const struct ctf_packet *packet = &schema->reader->packets[event->part];
    uint64_t first =
        packet->base_bit + get_event_offset_in_packet(schema->reader, packet, event) * 8;
    struct layout_cursor run = {.has_cut_text = false};
    *from = first + ctf_event_header_bit(event);
    *to = first + (uint64_t)event->payload_size * 8;
    if (!schema->ends_inside)
        return;
    ctf_locate_event_body(&schema->base, event, &run);
    if (!schema->base.layout)
        *to = first + ctf_event_body_bit(event);
    else if (layout_find_record_end(schema->base.layout, &run) == LAYOUT_OK)
        *to = packet->base_bit + run.bits.at;
}
