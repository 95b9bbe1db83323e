/* Composer: events with fields that are only known at run time. Metadata and payload are collected
 * in two buffers and joined by ttr_compose_write. An invalid call makes that write fail; the status
 * is reset by the next ttr_compose_begin. */
#include <string.h>

#include "base/buffer.h"
#include "provider/state.h"

#define FLAG_POINTER64 1u
#define FLAG_LITTLE_ENDIAN 2u
#define FLAG_EXTENSION 4u
#define KIND_METADATA 1u
#define KIND_ACTIVITY 2u
#define KIND_FLAG_MORE 0x8000u
#define TAG_FOLLOWS 0x80u

struct ttr_composer {
    struct buffer metadata, payload, block;
    ttr_status status;
    uint16_t id, tag;
    uint8_t version, opcode;
    bool has_activity, has_related;
    uint8_t activity[32]; /* 16 bytes of the activity id, then 16 of the related activity id */
};

/* Returns the bytes of one value or string unit, 0 for an unknown encoding. */
static size_t get_encoding_unit_size(unsigned encoding)
{
    static const uint8_t units[] = {0, 0, 1, 2, 4, 8, 16, 1, 2, 4, 1, 2, 4, 1};
    return encoding < sizeof units ? units[encoding] : 0;
}

static bool is_value_encoding(unsigned encoding)
{
    return encoding >= TTR_EH_VALUE8 && encoding <= TTR_EH_VALUE128;
}

static void set_first_error(ttr_composer *composer, ttr_status status)
{
    if (composer->status == TTR_OK)
        composer->status = status;
}

/* Appends to a buffer. Fails if it exceeds TTR_EVENT_MAX, so that a faulty loop cannot exhaust
 * memory. */
static void append_bounded(ttr_composer *composer, struct buffer *to, const void *bytes, size_t n)
{
    if (n > TTR_EVENT_MAX || to->n > TTR_EVENT_MAX)
        set_first_error(composer, TTR_E_LIMIT);
    else if (composer->status == TTR_OK)
        buffer_add(to, bytes, n);
}

static void append_u16(ttr_composer *composer, struct buffer *to, unsigned x)
{
    uint16_t word = (uint16_t)x;
    append_bounded(composer, to, &word, sizeof word);
}

static void append_byte(ttr_composer *composer, struct buffer *to, unsigned x)
{
    uint8_t byte = (uint8_t)x;
    append_bounded(composer, to, &byte, 1);
}

/* Appends name, 0, encoding[, format[, tag u16]][, length u16]. The format is omitted if it is the
 * default, unless a tag follows. */
static void append_field_metadata(ttr_composer *composer, const ttr_field_shape *shape,
                                  unsigned flags, size_t fixed_n)
{
    struct buffer *to = &composer->metadata;
    bool has_format = shape->format || shape->tag;
    if (!shape->name || shape->format > 127) {
        set_first_error(composer, TTR_E_MISUSE);
        return;
    }
    append_bounded(composer, to, shape->name, strlen(shape->name) + 1);
    append_byte(composer, to, shape->encoding | flags | (has_format ? TTR_EH_FORMAT : 0u));
    if (has_format)
        append_byte(composer, to, shape->format | (shape->tag ? TAG_FOLLOWS : 0u));
    if (shape->tag)
        append_u16(composer, to, shape->tag);
    if (flags & TTR_EH_FIXED)
        append_u16(composer, to, (unsigned)fixed_n);
}

ttr_composer *ttr_composer_new(void)
{
    ttr_composer *composer = alloc_zero(alloc_default(), 1, sizeof *composer);
    if (!composer)
        return NULL;
    buffer_init(&composer->metadata, alloc_default());
    buffer_init(&composer->payload, alloc_default());
    buffer_init(&composer->block, alloc_default());
    composer->status = TTR_E_MISUSE;
    return composer;
}

void ttr_composer_free(ttr_composer *composer)
{
    if (!composer)
        return;
    buffer_free(&composer->metadata);
    buffer_free(&composer->payload);
    buffer_free(&composer->block);
    alloc_free(alloc_default(), composer, 1, sizeof *composer);
}

void ttr_compose_begin(ttr_composer *composer, const char *name)
{
    buffer_clear(&composer->metadata);
    buffer_clear(&composer->payload);
    composer->metadata.failed = composer->payload.failed = composer->block.failed = false;
    composer->status = name ? TTR_OK : TTR_E_MISUSE;
    composer->id = composer->tag = 0;
    composer->version = composer->opcode = 0;
    composer->has_activity = composer->has_related = false;
    if (name)
        append_bounded(composer, &composer->metadata, name, strlen(name) + 1);
}

void ttr_compose_tag(ttr_composer *composer, uint16_t tag)
{
    composer->tag = tag;
}

void ttr_compose_id(ttr_composer *composer, uint16_t id, uint8_t version)
{
    composer->id = id;
    composer->version = version;
}

void ttr_compose_opcode(ttr_composer *composer, uint8_t opcode)
{
    composer->opcode = opcode;
}

void ttr_compose_activity(ttr_composer *composer, const void *activity, const void *related)
{
    composer->has_activity = activity != NULL;
    composer->has_related = activity && related;
    if (activity)
        memcpy(composer->activity, activity, 16);
    if (related)
        memcpy(composer->activity + 16, related, 16);
}

/* Returns the number of units before the first zero unit of a text, at most n. */
static size_t count_string_units(const uint8_t *text, size_t unit, size_t n)
{
    static const uint8_t zeros[4];
    size_t i = 0;
    while (i < n && i <= TTR_EVENT_MAX && memcmp(text + i * unit, zeros, unit) != 0)
        i++;
    return i;
}

static void append_text(ttr_composer *composer, unsigned encoding, const void *text, size_t n)
{
    bool is_zstring = encoding <= TTR_EH_ZSTRING32;
    size_t unit = get_encoding_unit_size(encoding);
    n = !text ? 0 : is_zstring || n == SIZE_MAX ? count_string_units(text, unit, n) : n;
    if (n > TTR_EVENT_MAX) {
        set_first_error(composer, TTR_E_LIMIT);
        return;
    }
    if (!is_zstring)
        append_u16(composer, &composer->payload, (unsigned)n);
    append_bounded(composer, &composer->payload, text, n * unit);
    if (is_zstring)
        append_bounded(composer, &composer->payload, "\0\0\0", unit);
}

void ttr_compose_value(ttr_composer *composer, const ttr_field_shape *shape, const void *value,
                       size_t n)
{
    size_t unit = get_encoding_unit_size(shape->encoding);
    if (!unit || (is_value_encoding(shape->encoding) && !value)) {
        set_first_error(composer, TTR_E_MISUSE);
        return;
    }
    append_field_metadata(composer, shape, 0, 0);
    if (is_value_encoding(shape->encoding))
        append_bounded(composer, &composer->payload, value, unit);
    else
        append_text(composer, shape->encoding, value, n);
}

void ttr_compose_array(ttr_composer *composer, const ttr_field_shape *shape, const void *values,
                       size_t n, bool is_fixed)
{
    size_t unit = get_encoding_unit_size(shape->encoding);
    if (!is_value_encoding(shape->encoding) || (n && !values) || (is_fixed && n == 0)) {
        set_first_error(composer, TTR_E_MISUSE);
        return;
    }
    if (n > TTR_EVENT_MAX) {
        set_first_error(composer, TTR_E_LIMIT);
        return;
    }
    append_field_metadata(composer, shape, is_fixed ? TTR_EH_FIXED : TTR_EH_ARRAY, n);
    if (!is_fixed)
        append_u16(composer, &composer->payload, (unsigned)n);
    append_bounded(composer, &composer->payload, values, n * unit);
}

void ttr_compose_struct(ttr_composer *composer, const ttr_field_shape *shape, unsigned fields)
{
    if (shape->encoding != TTR_EH_STRUCT || fields < 1 || fields > 127) {
        set_first_error(composer, TTR_E_MISUSE);
        return;
    }
    ttr_field_shape counted = *shape;
    counted.format = (uint8_t)fields;
    append_field_metadata(composer, &counted, 0, 0);
}

void ttr_compose_metadata(ttr_composer *composer, const ttr_field_shape *shape, uint16_t fixed_n)
{
    unsigned arrays = shape->encoding & (TTR_EH_FIXED | TTR_EH_ARRAY),
             plain = shape->encoding & 0x1Fu;
    bool is_known = get_encoding_unit_size(plain) || (plain == TTR_EH_STRUCT && shape->format);
    if (!is_known || arrays == (TTR_EH_FIXED | TTR_EH_ARRAY) ||
        (arrays == TTR_EH_FIXED && fixed_n == 0)) {
        set_first_error(composer, TTR_E_MISUSE);
        return;
    }
    ttr_field_shape bare = *shape;
    bare.encoding = (uint8_t)plain;
    append_field_metadata(composer, &bare, arrays, fixed_n);
}

void ttr_compose_payload(ttr_composer *composer, const void *bytes, size_t n)
{
    append_bounded(composer, &composer->payload, bytes, n);
}

static void block_add_u16(struct buffer *to, unsigned x)
{
    uint16_t word = (uint16_t)x;
    buffer_add(to, &word, sizeof word);
}

/* Joins header, activity, metadata and payload to an event. BLOCK_FRONT bytes before it stay free
 * for the backend. */
static void assemble_composed_event(ttr_composer *composer, uint8_t level)
{
    struct buffer *to = &composer->block;
    unsigned flags = (sizeof(void *) == 8 ? FLAG_POINTER64 : 0) | FLAG_EXTENSION;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    flags |= FLAG_LITTLE_ENDIAN;
#endif
    buffer_clear(to);
    buffer_add_zeros(to, BLOCK_FRONT);
    buffer_add_byte(to, (uint8_t)flags);
    buffer_add_byte(to, composer->version);
    block_add_u16(to, composer->id);
    block_add_u16(to, composer->tag);
    buffer_add_byte(to, composer->opcode);
    buffer_add_byte(to, level);
    if (composer->has_activity) {
        unsigned n = composer->has_related ? 32 : 16;
        block_add_u16(to, n);
        block_add_u16(to, KIND_ACTIVITY | KIND_FLAG_MORE);
        buffer_add(to, composer->activity, n);
    }
    block_add_u16(to, (unsigned)composer->metadata.n);
    block_add_u16(to, KIND_METADATA);
    buffer_add(to, composer->metadata.bytes, composer->metadata.n);
    buffer_add(to, composer->payload.bytes, composer->payload.n);
}

ttr_status ttr_compose_write(ttr_composer *composer, ttr_tracepoint *point)
{
    if (composer->status == TTR_E_LIMIT)
        return provider_count_too_large(point);
    if (composer->status != TTR_OK)
        return composer->status;
    if (!ttr_tracepoint_enabled(point))
        return TTR_OK;
    assemble_composed_event(composer, point->level);
    if (composer->metadata.failed || composer->payload.failed || composer->block.failed)
        return TTR_E_NOMEM;
    size_t n = composer->block.n - BLOCK_FRONT;
    return n > TTR_EVENT_MAX ? provider_count_too_large(point)
                             : provider_send(point, composer->block.bytes + BLOCK_FRONT, n);
}
