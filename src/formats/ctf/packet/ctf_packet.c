/* Packet framing of CTF 1.8 and CTF 2: decodes packet header and packet context, evaluates the
 * fields that have a role (enum ctf_role), and checks the sizes.
 *
 * CTF 1.8.3 section 5, CTF 2 section 6 (packet header and context).
 *
 * Order of work for each packet (ctf_parse_header_and_context):
 *
 * |  header -> check magic and UUID -> find stream class -> context -> times -> sizes
 *
 * A header or context with fixed offsets is read by ctf_packet_header.h, any other one by its
 * layout. Sizes are measured from the start of the packet. If only one of packet size and content
 * size is declared, the other one equals it; if both are missing, the rest of the file is one
 * packet. Left out: whether all bytes of the packet are available, which the caller checks. RFC
 * v1.1 has a separate parser (rfc11_read.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/rfc11_read.h"

/* a UUID with zero bytes counts as a damaged UUID of the trace if at least this many other bytes
 * are equal */
#define UUID_EQUAL_MIN 4u
/* an undeclared id of a stream class up to this number is not considered damaged */
#define CLASS_ID_SMALL_MAX 255u

/* Values of the fields with a role (enum ctf_role) in the header and context of one packet. */
struct roles {
    struct ctf_frame *frame;
    uint64_t class_id, magic, size, content, end_low;
    unsigned size_width, content_width, end_width;
    uint8_t uuid[16];
    uint32_t uuid_n; /* number of bytes of the UUID read so far */
    bool wants_uuid; /* true if the next elements of the array are bytes of the UUID */
    bool has_class_id, has_magic, has_size, has_content;
};

static enum ctf_framing reject_packet_frame(struct ctf_frame *frame, const char *code,
                                            const char *format, ...) TTR_PRINTF(3, 4);

static enum ctf_framing reject_packet_frame(struct ctf_frame *frame, const char *code,
                                            const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(frame->text, sizeof frame->text, format, values);
    va_end(values);
    frame->code = code;
    return CTF_FRAME_BAD;
}

static void store_uuid_field(struct roles *roles, const ttr_field *field)
{
    roles->wants_uuid = field->value.type == TTR_TYPE_ARRAY;
    if (field->value.type == TTR_TYPE_BYTES && field->value.text.n == 16) {
        memcpy(roles->uuid, field->value.text.p, 16);
        roles->uuid_n = 16;
    }
}

/* Returns the width in bits of a counter that may wrap; 64 for LEB128 and larger numbers. */
static unsigned get_counter_width(const struct type *type)
{
    return type->kind == TYPE_VAR_UINT || type->bits > 64 ? 64 : type->bits;
}

/* Updates the clock by a context field that is mapped to it. The clock starts at the packet's
 * begin time; if the packet declares none, the new value becomes the begin time. */
static void update_clock_from_field(struct ctf_frame *frame, uint64_t value, unsigned width)
{
    struct ctf_packet *packet = &frame->packet;
    uint64_t before = frame->has_ticks ? frame->ticks : packet->has_begin ? packet->begin : 0;
    frame->ticks = ctf_clock_extend(before, value, width);
    frame->has_ticks = true;
    if (!packet->has_begin)
        packet->begin = frame->ticks;
    packet->has_begin = true;
}

static void store_context_field(struct roles *roles, const struct type *type, uint64_t value)
{
    struct ctf_packet *packet = &roles->frame->packet;
    switch (type->role) {
    case CTF_ROLE_PACKET_SIZE:
        roles->has_size = true;
        roles->size = value;
        roles->size_width = get_counter_width(type);
        break;
    case CTF_ROLE_CONTENT_SIZE:
        roles->has_content = true;
        roles->content = value;
        roles->content_width = get_counter_width(type);
        break;
    case CTF_ROLE_TIME_BEGIN:
        packet->has_begin = true;
        packet->begin = value;
        roles->frame->has_ticks = false;
        break;
    case CTF_ROLE_TIME:
        update_clock_from_field(roles->frame, value, get_counter_width(type));
        break;
    case CTF_ROLE_TIME_END:
        packet->has_end = true;
        roles->end_low = value;
        roles->end_width = get_counter_width(type);
        break;
    case CTF_ROLE_DISCARDED:
        packet->has_discarded = true;
        packet->discarded = value;
        roles->frame->discarded_width = get_counter_width(type);
        break;
    case CTF_ROLE_SEQUENCE:
        packet->has_sequence = true;
        packet->sequence = value;
        roles->frame->sequence_width = get_counter_width(type);
        roles->frame->packet.sequence_bits = (uint8_t)(roles->frame->sequence_width & 63);
        break;
    case CTF_ROLE_CPU:
        packet->has_cpu = value <= UINT32_MAX;
        packet->cpu = (uint32_t)value;
        break;
    default:
        break;
    }
}

/* Stores the value of a field by its role, except for UUIDs, which consist of several fields. */
static void store_field_by_role(struct roles *roles, const struct type *type, uint64_t value)
{
    switch (type->role) {
    case CTF_ROLE_MAGIC:
        roles->has_magic = true;
        roles->magic = value;
        break;
    case CTF_ROLE_STREAM_CLASS_ID:
        roles->has_class_id = true;
        roles->class_id = value;
        break;
    case CTF_ROLE_STREAM_ID:
        roles->frame->has_number = true;
        roles->frame->number = value;
        break;
    default:
        store_context_field(roles, type, value);
    }
}

/* Decodes a packet header or context by its layout, from bits->at on, and stores the values of
 * fields with roles. `outer`: values of the header that the layout of the context needs; NULL if
 * none. On success, bits->at is the end of the structure. */
static enum layout_status read_structure_by_layout(struct roles *roles, const struct layout *layout,
                                                   const struct layout_cursor *outer,
                                                   struct bits *bits)
{
    struct layout_iter walk;
    const struct type *type;
    ttr_field field;
    layout_iter_begin(&walk, layout, bits, NULL);
    if (outer)
        memcpy(walk.run.slots, outer->slots, sizeof walk.run.slots);
    while (layout_iter_next(&walk, &field, &type)) {
        if (roles->wants_uuid && roles->uuid_n < 16 && field.depth > 0)
            roles->uuid[roles->uuid_n++] = (uint8_t)field.value.v.u;
        else if (type->role == CTF_ROLE_UUID)
            store_uuid_field(roles, &field);
        else if (type->role)
            store_field_by_role(roles, type, field.value.v.u);
    }
    *bits = walk.run.bits;
    return walk.end;
}

/* Decodes a packet header or context that has fixed offsets, and stores the values of fields with
 * roles. */
static void read_fixed_structure(struct roles *roles, const struct ctf_fixed_root *head,
                                 struct bits *bits)
{
    for (uint32_t i = 0; i < head->n; i++) {
        const struct ctf_fixed_field *part = &head->part[i];
        if (part->type->role != CTF_ROLE_UUID) {
            store_field_by_role(roles, part->type, ctf_fixed_field_load(part, bits));
            continue;
        }
        memcpy(roles->uuid, bits->base + part->at, sizeof roles->uuid);
        roles->uuid_n = sizeof roles->uuid;
    }
    bits->at = head->end;
}

/* Copies values of header fields that the decoding of the context needs, such as lengths and
 * selectors, to the slots of `run`. */
static void copy_header_values_to_slots(const struct ctf_trace *trace, const struct layout *context,
                                        const struct bits *header, struct layout_cursor *run)
{
    uint32_t n;
    const struct layout_import *import = layout_imports(context, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct layout_cursor outer = {.bits = *header};
        uint64_t value;
        if (trace->class->packet_header &&
            layout_evaluate_reference(trace->class->packet_header, &outer, &import[i].from, &value))
            run->slots[import[i].slot] = value;
    }
}

static enum ctf_framing convert_layout_status_to_framing(struct ctf_frame *frame,
                                                         enum layout_status end, const char *what)
{
    if (end == LAYOUT_OK)
        return CTF_FRAME_OK;
    if (end == LAYOUT_TRUNCATED)
        return CTF_FRAME_SHORT;
    return reject_packet_frame(frame, "ctf.bad-packet",
                               "the packet %s cannot be read: a length or selector in it cannot be",
                               what);
}

/* Returns true if the UUID of a packet is probably that of the trace with damage: it differs in
 * one bit, or only in bytes that are zero. The UUIDs of two traces differ in several bits, even if
 * they were made at one time on one host. */
static bool is_damaged_uuid(const uint8_t *uuid, const uint8_t *of_trace)
{
    unsigned bits = 0, others = 0, equal = 0;
    for (unsigned i = 0; i < 16; i++) {
        bits += (unsigned)__builtin_popcount(uuid[i] ^ of_trace[i]);
        others += uuid[i] != of_trace[i] && uuid[i] != 0;
        equal += uuid[i] == of_trace[i] && uuid[i] != 0;
    }
    return bits == 1 || (!others && equal >= UUID_EQUAL_MIN);
}

static enum ctf_framing check_packet_header(const struct ctf_trace *trace,
                                            const struct roles *roles)
{
    const bool has_uuids = roles->uuid_n >= 16 && trace->class->description.has_uuid;
    const bool has_trace_uuid =
        has_uuids && memcmp(roles->uuid, trace->class->description.uuid, 16) == 0;
    /* a packet with the UUID of the trace belongs to it, so a wrong magic number is damage */
    roles->frame->has_bad_magic = roles->has_magic && roles->magic != CTF_MAGIC && has_trace_uuid;
    roles->frame->has_doubtful_magic =
        roles->has_magic && roles->magic != CTF_MAGIC && !roles->uuid_n;
    if (roles->has_magic && roles->magic != CTF_MAGIC && !has_trace_uuid)
        return reject_packet_frame(roles->frame, "ctf.bad-magic",
                                   "the packet begins with 0x%llx, expected the magic number 0x%x",
                                   (unsigned long long)roles->magic, CTF_MAGIC);
    if (has_trace_uuid || roles->uuid_n < 16 || !trace->class->description.has_uuid)
        return CTF_FRAME_OK;
    roles->frame->is_foreign = true;
    /* packets of CTF 1.8 may have another UUID, as in babeltrace2, since some tracers use one per
     * session */
    if (trace->class->description.version == CTF_1_8)
        return CTF_FRAME_OK;
    roles->frame->has_bad_uuid = is_damaged_uuid(roles->uuid, trace->class->description.uuid);
    roles->frame->is_foreign = !roles->frame->has_bad_uuid;
    if (roles->frame->has_bad_uuid)
        return CTF_FRAME_OK;
    (void)reject_packet_frame(roles->frame, "ctf.other-trace",
                              "the packet has the uuid of another trace");
    return CTF_FRAME_FOREIGN;
}

/* Returns true if the id of a stream class is probably that of the only class with one bit
 * damaged. Small ids do not count: they may be of a class that incomplete metadata do not
 * declare. */
static bool is_damaged_class_id(const struct ctf_description *description, uint64_t id)
{
    const uint64_t differs =
        description->streams_n == 1 ? id ^ description->streams[0]->id : CLASS_ID_SMALL_MAX;
    return differs > CLASS_ID_SMALL_MAX && (differs & (differs - 1)) == 0;
}

/* Returns the stream class of a packet: the one with the id in the packet header. If the header
 * has no id: the only class, or the class with id 0 if there are several. NULL if the class is not
 * declared. */
static const struct ctf_stream_class *find_stream_class(const struct ctf_trace *trace,
                                                        const struct roles *roles)
{
    const struct ctf_description *description = &trace->class->description;
    const struct ctf_stream_class *class =
        roles->has_class_id ? ctf_find_stream(description, roles->class_id) : NULL;
    if (class || (roles->has_class_id && !is_damaged_class_id(description, roles->class_id)))
        return class;
    roles->frame->has_bad_class_id = roles->has_class_id;
    return description->streams_n == 1 ? description->streams[0] : ctf_find_stream(description, 0);
}

/* Returns true if a declared size was never written: tracers that write sizes last leave 0 or all
 * bits set. */
static bool is_size_unset(bool is_there, uint64_t size, unsigned width)
{
    return is_there && (size == 0 || (width && size == UINT64_MAX >> (64 - width)));
}

/* Rounds a number of bits up to bytes, because packets start at byte boundaries even if the
 * declared content ends inside a byte. */
static uint64_t round_up_to_byte(uint64_t bits)
{
    return bits > UINT64_MAX - 7 ? bits : (bits + 7) & ~UINT64_C(7);
}

static enum ctf_framing check_declared_sizes(const struct roles *roles, struct ctf_frame *frame)
{
    struct ctf_packet *packet = &frame->packet;
    packet->size = packet->content = UINT64_MAX;
    frame->is_whole_file = !roles->has_size && !roles->has_content;
    frame->is_rounded = !roles->has_size || !roles->has_content;
    if (frame->is_whole_file)
        return CTF_FRAME_OK;
    uint64_t size = roles->has_size ? roles->size : round_up_to_byte(roles->content);
    uint64_t content = roles->has_content ? roles->content : roles->size;
    const bool is_content_unset =
                   is_size_unset(roles->has_content, roles->content, roles->content_width),
               is_open = is_content_unset || content < frame->head;
    bool has_size =
        roles->has_size ? !is_size_unset(true, roles->size, roles->size_width) : !is_open;
    frame->has_unset_size = !has_size && !is_open;
    if (frame->has_unset_size) {
        size = round_up_to_byte(content);
        has_size = true;
    }
    frame->is_unfinished = !has_size || is_open;
    frame->is_underfull = roles->has_content && !is_content_unset && is_open;
    frame->declared_content = roles->has_content ? content : 0;
    frame->is_size_wrong = has_size && (size & 7 || size < frame->head);
    packet->size = frame->is_size_wrong ? size : UINT64_MAX;
    if (has_size && (size & 7))
        return reject_packet_frame(frame, "ctf.bad-size",
                                   "the packet has %llu bits, expected whole bytes",
                                   (unsigned long long)size);
    if (has_size && size < frame->head)
        return reject_packet_frame(frame, "ctf.bad-size",
                                   "the packet claims %llu bits, its header alone has %llu",
                                   (unsigned long long)size, (unsigned long long)frame->head);
    packet->size = has_size ? size : UINT64_MAX;
    frame->is_overfull = !frame->is_unfinished && content > size;
    packet->content = frame->is_unfinished || frame->is_overfull ? packet->size : content;
    return CTF_FRAME_OK;
}

static void compute_packet_end_time(const struct roles *roles, struct ctf_packet *packet)
{
    if (!packet->has_end)
        return;
    if (roles->end_low == 0 && packet->has_begin && packet->begin != 0)
        /* an end time of 0 after a later begin time means that the tracer did not finish the
         * packet */
        packet->has_end = false;
    else
        packet->end = ctf_clock_extend(packet->has_begin ? packet->begin : 0, roles->end_low,
                                       roles->end_width ? roles->end_width : 64);
}

/* Decodes the packet context, which starts at bits->at. `header`: position of the packet header,
 * since the context may depend on its values. */
static enum ctf_framing read_packet_context(const struct ctf_trace *trace, struct roles *roles,
                                            const struct bits *header, struct bits *bits)
{
    struct ctf_frame *frame = roles->frame;
    const struct ctf_stream_decoder *kind = frame->kind;
    frame->context_bit = bits->at;
    if (ctf_fixed_root_is_available(&kind->head, bits)) {
        read_fixed_structure(roles, &kind->head, bits);
        return CTF_FRAME_OK;
    }
    struct layout_cursor outer = {.bits = *bits};
    copy_header_values_to_slots(trace, kind->context, header, &outer);
    return convert_layout_status_to_framing(
        frame, read_structure_by_layout(roles, kind->context, &outer, bits), "context");
}

/* Decodes the packet context, which starts at bits->at, and checks times and sizes. `from`:
 * position of the packet header. */
static enum ctf_framing parse_and_check_context(struct ctf_trace *trace,
                                                const struct ctf_stream_class *section,
                                                struct roles *roles, const struct bits *from,
                                                struct bits *bits, ttr_error *error)
{
    struct ctf_frame *frame = roles->frame;
    const struct ctf_stream_class *class = section ? section : find_stream_class(trace, roles);
    enum ctf_framing framing = CTF_FRAME_OK;
    if (!class)
        return reject_packet_frame(
            frame, "ctf.unknown-stream",
            "the packet is of stream class %llu, which the metadata does not declare",
            (unsigned long long)roles->class_id);
    frame->kind = ctf_get_stream_decoder(trace, class, error);
    if (!frame->kind)
        return CTF_FRAME_FAILED;
    if (frame->kind->context)
        framing = read_packet_context(trace, roles, from, bits);
    if (framing != CTF_FRAME_OK)
        return framing;
    frame->head = bits->at;
    compute_packet_end_time(roles, &frame->packet);
    return check_declared_sizes(roles, frame);
}

enum ctf_framing ctf_parse_header_and_context(struct ctf_trace *trace,
                                              const struct ctf_stream_class *section,
                                              const struct bits *from, struct ctf_frame *frame,
                                              ttr_error *error)
{
    struct roles roles = {.frame = frame};
    struct bits bits = *from;
    enum ctf_framing framing = CTF_FRAME_OK, header;
    if (trace->class->description.version == CTF_RFC_1_1)
        return rfc11_parse_header_and_context(trace, section, from, frame, error);
    *frame = (struct ctf_frame){.number = 0};
    if (ctf_fixed_root_is_available(&trace->class->head, &bits))
        read_fixed_structure(&roles, &trace->class->head, &bits);
    else if (trace->class->packet_header)
        framing = convert_layout_status_to_framing(
            frame, read_structure_by_layout(&roles, trace->class->packet_header, NULL, &bits),
            "header");
    if (framing != CTF_FRAME_OK)
        return roles.has_magic && roles.magic != CTF_MAGIC ? check_packet_header(trace, &roles)
                                                           : framing;
    header = check_packet_header(trace, &roles);
    if (header == CTF_FRAME_BAD && !frame->has_doubtful_magic)
        return header;
    framing = parse_and_check_context(trace, section, &roles, from, &bits, error);
    if (frame->has_doubtful_magic && framing != CTF_FRAME_FAILED) {
        /* parse_and_check_context may have overwritten frame->text, so check the header again to
         * set it */
        header = check_packet_header(trace, &roles);
        frame->has_doubtful_magic = framing == CTF_FRAME_OK;
        return header;
    }
    return framing == CTF_FRAME_OK ? header : framing;
}
