/* Appends the byte forms of nettrace: file head, Trace object, frames of objects and blocks, event
 * headers. nettrace_format.h has the layouts. */
#include "formats/nettrace/nettrace_bytes.h"

#include <string.h>

#include "base/number.h"

void nettrace_append_varint(struct buffer *to, uint64_t x)
{
    uint8_t *at = buffer_room(to, 10);
    if (at)
        buffer_commit(to, (size_t)(nettrace_encode_varint(at, x) - at));
}

void nettrace_append_string(struct buffer *to, ttr_text text)
{
    nettrace_append_varint(to, text.n);
    buffer_add(to, text.p, text.n);
}

static bool is_same_guid(const uint8_t *a, const uint8_t *b)
{
    static const uint8_t none[16];
    return a == b || memcmp(a ? a : none, b ? b : none, 16) == 0;
}

static uint8_t *encode_guid(uint8_t *to, const uint8_t *guid)
{
    if (guid)
        memcpy(to, guid, 16);
    else
        memset(to, 0, 16);
    return to + 16;
}

/* Returns the flags of those header members that differ from what a reader derives from the
 * previous event. */
static uint8_t compute_header_flags(const struct nettrace_header *last,
                                    const struct nettrace_header *h, bool is_v6)
{
    uint32_t next = last->sequence + (h->metadata != 0);
    unsigned flags = h->flags & NETTRACE_IS_SORTED;
    flags |= h->metadata != last->metadata ? NETTRACE_HAS_METADATA : 0u;
    flags |= h->capture != last->capture || h->cpu != last->cpu || h->sequence != next
                 ? NETTRACE_HAS_CAPTURE
                 : 0u;
    flags |= h->thread != last->thread ? NETTRACE_HAS_THREAD : 0u;
    flags |= h->stack != last->stack ? NETTRACE_HAS_STACK : 0u;
    flags |= h->payload_size != last->payload_size ? NETTRACE_HAS_SIZE : 0u;
    if (is_v6)
        return (uint8_t)(flags | (h->labels != last->labels ? NETTRACE_HAS_ACTIVITY : 0u));
    flags |= is_same_guid(h->activity, last->activity) ? 0u : NETTRACE_HAS_ACTIVITY;
    return (uint8_t)(flags | (is_same_guid(h->related, last->related) ? 0u : NETTRACE_HAS_RELATED));
}

uint8_t *nettrace_encode_header(uint8_t *to, struct nettrace_header *last,
                                const struct nettrace_header *h, bool is_v6)
{
    uint8_t flags = compute_header_flags(last, h, is_v6);
    *to++ = flags;
    if (flags & NETTRACE_HAS_METADATA)
        to = nettrace_encode_varint(to, h->metadata);
    if (flags & NETTRACE_HAS_CAPTURE) {
        to = nettrace_encode_varint(to, (uint32_t)(h->sequence - last->sequence - 1));
        to = nettrace_encode_varint(to, h->capture);
        to = nettrace_encode_varint(to, h->cpu);
    }
    if (flags & NETTRACE_HAS_THREAD)
        to = nettrace_encode_varint(to, h->thread);
    if (flags & NETTRACE_HAS_STACK)
        to = nettrace_encode_varint(to, h->stack);
    to = nettrace_encode_varint(to, h->ticks - last->ticks);
    if (is_v6 && flags & NETTRACE_HAS_ACTIVITY)
        to = nettrace_encode_varint(to, h->labels);
    if (!is_v6 && flags & NETTRACE_HAS_ACTIVITY)
        to = encode_guid(to, h->activity);
    if (!is_v6 && flags & NETTRACE_HAS_RELATED)
        to = encode_guid(to, h->related);
    if (flags & NETTRACE_HAS_SIZE)
        to = nettrace_encode_varint(to, h->payload_size);
    *last = *h;
    return to;
}

void nettrace_append_padding(struct ttr_writer *out)
{
    buffer_add_zeros(&out->buffer, (size_t)(0 - ttr_writer_bytes(out)) & 3);
}

static void append_object_frame(struct ttr_writer *out, const char *name, uint32_t version,
                                uint32_t least, uint8_t tag)
{
    struct buffer *to = &out->buffer;
    buffer_add_byte(to, tag);
    buffer_add_byte(to, tag);
    buffer_add_byte(to, NETTRACE_NULL);
    nettrace_append_u32(to, version);
    nettrace_append_u32(to, least);
    nettrace_append_u32(to, (uint32_t)strlen(name));
    buffer_add_text(to, name);
    buffer_add_byte(to, NETTRACE_END);
}

struct nettrace_frame nettrace_frame_begin(struct ttr_writer *out, unsigned version,
                                           enum nettrace_block_kind kind)
{
    static const char *const names[] = {[NETTRACE_BLOCK_TRACE] = "Trace",
                                        [NETTRACE_BLOCK_EVENTS] = "EventBlock",
                                        [NETTRACE_BLOCK_METADATA] = "MetadataBlock",
                                        [NETTRACE_BLOCK_POINT] = "SPBlock",
                                        [NETTRACE_BLOCK_STACKS] = "StackBlock"};
    struct nettrace_frame frame = {.version = version, .kind = (uint8_t)kind};
    if (version < NETTRACE_V6)
        append_object_frame(out, names[kind], version < 4 ? 1 : 2, version < 4 ? 0 : 2,
                            version < 4 ? NETTRACE_BEGIN : NETTRACE_BEGIN_PRIVATE);
    frame.size_at = out->buffer.n;
    nettrace_append_u32(&out->buffer, 0);
    if (version < NETTRACE_V6)
        nettrace_append_padding(out);
    frame.body = out->buffer.n;
    return frame;
}

void nettrace_frame_end(struct ttr_writer *out, const struct nettrace_frame *frame)
{
    if (out->buffer.failed)
        return;
    uint32_t size = (uint32_t)(out->buffer.n - frame->body);
    store_u32le(out->buffer.bytes + frame->size_at,
                frame->version < NETTRACE_V6 ? size : size | (uint32_t)frame->kind << 24);
    if (frame->version < NETTRACE_V6)
        buffer_add_byte(&out->buffer, NETTRACE_END);
}

void nettrace_append_file_head(struct ttr_writer *out, unsigned version)
{
    struct buffer *to = &out->buffer;
    if (version >= 4)
        buffer_add(to, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES);
    if (version >= NETTRACE_V6) {
        nettrace_append_u32(to, 0);
        nettrace_append_u32(to, NETTRACE_V6);
        nettrace_append_u32(to, 0);
        return;
    }
    nettrace_append_u32(to, NETTRACE_SERIALIZATION_BYTES);
    buffer_add(to, NETTRACE_SERIALIZATION, NETTRACE_SERIALIZATION_BYTES);
}

void nettrace_append_date(struct buffer *to, int64_t unix_ms)
{
    enum { MS_A_DAY = 86400000 };
    int64_t days = unix_ms / MS_A_DAY - (unix_ms % MS_A_DAY < 0);
    uint32_t ms = (uint32_t)(unix_ms - days * MS_A_DAY);
    /* civil_from_days by Howard Hinnant; an "era" is 400 years, starting in March */
    int64_t shifted = days + 719468,
            generation = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    uint32_t of_era = (uint32_t)(shifted - generation * 146097);
    uint32_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100),
             month = (5 * of_year + 2) / 153;
    uint32_t day = of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    int64_t year = (int64_t)year_of_era + generation * 400 + (month <= 2),
            weekday = ((days + 4) % 7 + 7) % 7;
    const uint32_t parts[] = {(uint32_t)year, month,           (uint32_t)weekday, day,
                              ms / 3600000,   ms / 60000 % 60, ms / 1000 % 60,    ms % 1000};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        nettrace_append_u16(to, (uint16_t)parts[i]);
}

void nettrace_append_end_mark(struct ttr_writer *out, unsigned version)
{
    if (version >= NETTRACE_V6)
        nettrace_append_u32(&out->buffer, NETTRACE_BLOCK_END);
    else
        buffer_add_byte(&out->buffer, version < 3 ? NETTRACE_END : NETTRACE_NULL);
}

static void append_key_value(struct buffer *to, const char *key, uint64_t value)
{
    char digits[NUMBER_MAX];
    nettrace_append_string(to, (ttr_text){key, strlen(key)});
    nettrace_append_string(to, (ttr_text){digits, number_format_u64(digits, value)});
}

static void append_process_pairs(struct buffer *to, const struct nettrace_trace_info *info)
{
    nettrace_append_u32(to, (info->has_pid ? 1u : 0u) + (info->processors ? 1u : 0u) +
                                (info->sampling_ns ? 1u : 0u));
    if (info->processors)
        append_key_value(to, "HardwareThreadCount", info->processors);
    if (info->has_pid)
        append_key_value(to, "ProcessId", info->pid);
    if (info->sampling_ns)
        append_key_value(to, "ExpectedCPUSamplingRate", info->sampling_ns);
}

void nettrace_append_trace(struct ttr_writer *out, unsigned version,
                           const struct nettrace_trace_info *info)
{
    struct buffer *to = &out->buffer;
    struct nettrace_frame frame = {0};
    if (version >= NETTRACE_V6)
        frame = nettrace_frame_begin(out, version, NETTRACE_BLOCK_TRACE);
    else
        append_object_frame(out, "Trace", version, version < 4 ? 0 : 4,
                            version < 4 ? NETTRACE_BEGIN : NETTRACE_BEGIN_PRIVATE);
    nettrace_append_date(to, info->sync_ms);
    nettrace_append_u64(to, info->sync_ticks);
    nettrace_append_u64(to, info->frequency);
    nettrace_append_u32(to, info->pointer_bytes);
    if (version >= NETTRACE_V6) {
        append_process_pairs(to, info);
        nettrace_frame_end(out, &frame);
        return;
    }
    nettrace_append_u32(to, info->has_pid ? (uint32_t)info->pid : 0);
    nettrace_append_u32(to, info->processors);
    nettrace_append_u32(to, info->sampling_ns);
    buffer_add_byte(to, NETTRACE_END);
}
