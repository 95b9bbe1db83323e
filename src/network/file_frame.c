/* Encodes and decodes the frames in which the files of a trace are sent (file_frame.h has the byte
 * layout). */
#include "network/file_frame.h"

#include <zlib.h>

#include "base/endian.h"

static const uint8_t magic[4] = {0xD7, 'T', 'R', 'F'};

/* Returns the CRC-32 (zlib) of all bytes of a frame after its checksum field. */
static uint32_t compute_checksum(const uint8_t *bytes, size_t n)
{
    return (uint32_t)crc32_z(0, bytes + 12, n - 12);
}

bool file_frame_is_valid_name(const char *name, size_t n)
{
    size_t levels = 1;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)name[i];
        const bool is_start = i == 0 || name[i - 1] == '/';
        if (c < ' ' || c == 0x7f || c == '\\' || (is_start && (c == '.' || c == '/')))
            return false;
        levels += c == '/';
    }
    return n > 0 && n <= FILE_FRAME_NAME_MAX && name[n - 1] != '/' &&
           levels <= FILE_FRAME_LEVELS_MAX;
}

void file_frame_write(struct buffer *to, const struct file_frame *frame)
{
    const size_t n = FILE_FRAME_HEADER + frame->name_n + frame->content_n;
    uint8_t *at = buffer_room(to, n);
    if (!at)
        return;
    memcpy(at, magic, sizeof magic);
    store_u32be(at + 4, (uint32_t)n);
    store_u64be(at + 12, frame->session);
    memcpy(at + 20, frame->format, FILE_FRAME_FORMAT_MAX);
    store_u32be(at + 28, frame->file);
    store_u32be(at + 32, frame->number);
    store_u32be(at + 36, frame->parts);
    store_u32be(at + 40, frame->events);
    store_u64be(at + 44, frame->events_before);
    store_u16be(at + 52, (uint16_t)frame->name_n);
    memcpy(at + FILE_FRAME_HEADER, frame->name, frame->name_n);
    if (frame->content_n)
        memcpy(at + FILE_FRAME_HEADER + frame->name_n, frame->content, frame->content_n);
    store_u32be(at + 8, compute_checksum(at, n));
    buffer_commit(to, n);
}

bool file_frame_parse(const uint8_t *bytes, size_t n, struct file_frame *frame)
{
    *frame = (struct file_frame){.session = load_u64be(bytes + 12),
                                 .file = load_u32be(bytes + 28),
                                 .number = load_u32be(bytes + 32),
                                 .parts = load_u32be(bytes + 36),
                                 .events = load_u32be(bytes + 40),
                                 .events_before = load_u64be(bytes + 44),
                                 .name = (const char *)bytes + FILE_FRAME_HEADER,
                                 .name_n = load_u16be(bytes + 52)};
    memcpy(frame->format, bytes + 20, FILE_FRAME_FORMAT_MAX);
    if (frame->name_n > n - FILE_FRAME_HEADER ||
        load_u32be(bytes + 8) != compute_checksum(bytes, n))
        return false;
    frame->content = bytes + FILE_FRAME_HEADER + frame->name_n;
    frame->content_n = n - FILE_FRAME_HEADER - frame->name_n;
    return file_frame_is_valid_name(frame->name, frame->name_n) &&
           frame->parts <= FILE_FRAME_PARTS_MAX && (!frame->parts || frame->number < frame->parts);
}

static uint64_t get_size(const uint8_t *bytes, uint64_t max)
{
    const uint64_t n = load_u32be(bytes + 4);
    return memcmp(bytes, magic, sizeof magic) == 0 && n > FILE_FRAME_HEADER && n <= max ? n : 0;
}

static bool parse(const uint8_t *bytes, size_t n, struct packet_facts *facts)
{
    struct file_frame frame;
    const bool is_valid = file_frame_parse(bytes, n, &frame);
    *facts = (struct packet_facts){.has_epoch = is_valid,
                                   .epoch_ns = frame.session,
                                   .is_head = frame.parts > 0,
                                   .is_counted = frame.parts == 0,
                                   .stream = frame.file,
                                   .counter = frame.number,
                                   .events = frame.parts ? 0 : frame.events,
                                   .has_events_before = true,
                                   .events_before = frame.events_before};
    return is_valid;
}

const struct format_transfer file_frame_transfer = {
    .frame_size = FILE_FRAME_HEADER,
    .has_checksum = true,
    .allows_datagrams = true,
    .get_size = get_size,
    .parse = parse,
};
