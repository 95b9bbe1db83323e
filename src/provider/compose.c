/* Events whose shape is known only at run time: metadata and payload grow in two buffers and are
 * put together when the event is written. What broke a rule is kept until the next event and told
 * by ttr_compose_write. */
#include <string.h>

#include "base/buffer.h"
#include "provider/state.h"

#define FLAG_POINTER64 1u
#define FLAG_LITTLE_ENDIAN 2u
#define FLAG_EXTENSION 4u
#define KIND_METADATA 1u
#define KIND_ACTIVITY 2u
#define KIND_MORE 0x8000u
#define TAG_FOLLOWS 0x80u

struct ttr_composer {
    struct buffer metadata, payload, block;
    ttr_status status;
    uint16_t id, tag;
    uint8_t version, opcode;
    bool has_activity, has_related;
    uint8_t activity[32]; /* and the related one */
};

/* Bytes of one unit, or of a value; 0 = no such encoding. */
static size_t unit_of(unsigned encoding)
{
    static const uint8_t units[] = {0, 0, 1, 2, 4, 8, 16, 1, 2, 4, 1, 2, 4, 1};
    return encoding < sizeof units ? units[encoding] : 0;
}

static bool is_value(unsigned encoding)
{
    return encoding >= TTR_EH_VALUE8 && encoding <= TTR_EH_VALUE128;
}

static void refuse(ttr_composer *composer, ttr_status status)
{
    if (composer->status == TTR_OK)
        composer->status = status;
}

/* Appends, but never much more than an event may have. */
static void add(ttr_composer *composer, struct buffer *to, const void *bytes, size_t n)
{
    if (n > TTR_EVENT_MAX || to->n > TTR_EVENT_MAX)
        refuse(composer, TTR_E_LIMIT);
    else if (composer->status == TTR_OK)
        buffer_add(to, bytes, n);
}

static void add_u16(ttr_composer *composer, struct buffer *to, unsigned x)
{
    uint16_t word = (uint16_t)x;
    add(composer, to, &word, sizeof word);
}

static void add_byte(ttr_composer *composer, struct buffer *to, unsigned x)
{
    uint8_t byte = (uint8_t)x;
    add(composer, to, &byte, 1);
}

/* name, zero, encoding[, format[, tag]][, length]; a format is said where it is not the default,
 * and before a tag. */
static void add_metadata(ttr_composer *composer, const ttr_field_shape *shape, unsigned flags,
                         size_t fixed_n)
{
    struct buffer *to = &composer->metadata;
    bool has_format = shape->format || shape->tag;
    if (!shape->name || shape->format > 127) {
        refuse(composer, TTR_E_MISUSE);
        return;
    }
    add(composer, to, shape->name, strlen(shape->name) + 1);
    add_byte(composer, to, shape->encoding | flags | (has_format ? TTR_EH_FORMAT : 0u));
    if (has_format)
        add_byte(composer, to, shape->format | (shape->tag ? TAG_FOLLOWS : 0u));
    if (shape->tag)
        add_u16(composer, to, shape->tag);
    if (flags & TTR_EH_FIXED)
        add_u16(composer, to, (unsigned)fixed_n);
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

void ttr_compose(ttr_composer *composer, const char *name)
{
    buffer_clear(&composer->metadata);
    buffer_clear(&composer->payload);
    composer->metadata.failed = composer->payload.failed = composer->block.failed = false;
    composer->status = name ? TTR_OK : TTR_E_MISUSE;
    composer->id = composer->tag = 0;
    composer->version = composer->opcode = 0;
    composer->has_activity = composer->has_related = false;
    if (name)
        add(composer, &composer->metadata, name, strlen(name) + 1);
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

/* Units before the first zero unit, at most n. */
static size_t count_units(const uint8_t *text, size_t unit, size_t n)
{
    static const uint8_t zeros[4];
    size_t i = 0;
    while (i < n && i <= TTR_EVENT_MAX && memcmp(text + i * unit, zeros, unit) != 0)
        i++;
    return i;
}

static void add_text(ttr_composer *composer, unsigned encoding, const void *text, size_t n)
{
    bool is_zstring = encoding <= TTR_EH_ZSTRING32;
    size_t unit = unit_of(encoding);
    n = !text ? 0 : is_zstring || n == SIZE_MAX ? count_units(text, unit, n) : n;
    if (n > TTR_EVENT_MAX) {
        refuse(composer, TTR_E_LIMIT);
        return;
    }
    if (!is_zstring)
        add_u16(composer, &composer->payload, (unsigned)n);
    add(composer, &composer->payload, text, n * unit);
    if (is_zstring)
        add(composer, &composer->payload, "\0\0\0", unit);
}

void ttr_compose_value(ttr_composer *composer, const ttr_field_shape *shape, const void *value,
                       size_t n)
{
    size_t unit = unit_of(shape->encoding);
    if (!unit || (is_value(shape->encoding) && !value)) {
        refuse(composer, TTR_E_MISUSE);
        return;
    }
    add_metadata(composer, shape, 0, 0);
    if (is_value(shape->encoding))
        add(composer, &composer->payload, value, unit);
    else
        add_text(composer, shape->encoding, value, n);
}

void ttr_compose_array(ttr_composer *composer, const ttr_field_shape *shape, const void *values,
                       size_t n, bool is_fixed)
{
    size_t unit = unit_of(shape->encoding);
    if (!is_value(shape->encoding) || (n && !values) || (is_fixed && n == 0)) {
        refuse(composer, TTR_E_MISUSE);
        return;
    }
    if (n > TTR_EVENT_MAX) {
        refuse(composer, TTR_E_LIMIT);
        return;
    }
    add_metadata(composer, shape, is_fixed ? TTR_EH_FIXED : TTR_EH_ARRAY, n);
    if (!is_fixed)
        add_u16(composer, &composer->payload, (unsigned)n);
    add(composer, &composer->payload, values, n * unit);
}

void ttr_compose_struct(ttr_composer *composer, const ttr_field_shape *shape, unsigned fields)
{
    if (shape->encoding != TTR_EH_STRUCT || fields < 1 || fields > 127) {
        refuse(composer, TTR_E_MISUSE);
        return;
    }
    ttr_field_shape counted = *shape;
    counted.format = (uint8_t)fields;
    add_metadata(composer, &counted, 0, 0);
}

void ttr_compose_metadata(ttr_composer *composer, const ttr_field_shape *shape, uint16_t fixed_n)
{
    unsigned arrays = shape->encoding & (TTR_EH_FIXED | TTR_EH_ARRAY),
             plain = shape->encoding & 0x1Fu;
    bool is_known = unit_of(plain) || (plain == TTR_EH_STRUCT && shape->format);
    if (!is_known || arrays == (TTR_EH_FIXED | TTR_EH_ARRAY) ||
        (arrays == TTR_EH_FIXED && fixed_n == 0)) {
        refuse(composer, TTR_E_MISUSE);
        return;
    }
    ttr_field_shape bare = *shape;
    bare.encoding = (uint8_t)plain;
    add_metadata(composer, &bare, arrays, fixed_n);
}

void ttr_compose_payload(ttr_composer *composer, const void *bytes, size_t n)
{
    add(composer, &composer->payload, bytes, n);
}

static void put_u16(struct buffer *to, unsigned x)
{
    uint16_t word = (uint16_t)x;
    buffer_add(to, &word, sizeof word);
}

/* Puts the event together behind the bytes that are the backend's. */
static void put_event(ttr_composer *composer, uint8_t level)
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
    put_u16(to, composer->id);
    put_u16(to, composer->tag);
    buffer_add_byte(to, composer->opcode);
    buffer_add_byte(to, level);
    if (composer->has_activity) {
        unsigned n = composer->has_related ? 32 : 16;
        put_u16(to, n);
        put_u16(to, KIND_ACTIVITY | KIND_MORE);
        buffer_add(to, composer->activity, n);
    }
    put_u16(to, (unsigned)composer->metadata.n);
    put_u16(to, KIND_METADATA);
    buffer_add(to, composer->metadata.bytes, composer->metadata.n);
    buffer_add(to, composer->payload.bytes, composer->payload.n);
}

ttr_status ttr_compose_write(ttr_composer *composer, ttr_tracepoint *point)
{
    if (composer->status == TTR_E_LIMIT)
        return provider_refuse(point);
    if (composer->status != TTR_OK)
        return composer->status;
    if (!ttr_tracepoint_enabled(point))
        return TTR_OK;
    put_event(composer, point->level);
    if (composer->metadata.failed || composer->payload.failed || composer->block.failed)
        return TTR_E_NOMEM;
    size_t n = composer->block.n - BLOCK_FRONT;
    return n > TTR_EVENT_MAX ? provider_refuse(point)
                             : provider_send(point, composer->block.bytes + BLOCK_FRONT, n);
}
