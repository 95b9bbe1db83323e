/* Translation of a reader's metadata to a shape, so that payloads can be copied without decoding:
 * their bytes mean the same in all versions that have their types.
 *
 * Left out: options and tags that a reader does not use. */
#include <string.h>

#include "base/utf.h"
#include "formats/nettrace/nettrace_writer.h"

#define DEPTH_MAX 24u

enum {
    OPTION_OPCODE = 1,
    OPTION_KEYWORDS = 3,
    OPTION_MESSAGE = 4,
    OPTION_DESCRIPTION = 5,
    OPTION_PAIR = 6,
    OPTION_GUID = 7,
    OPTION_LEVEL = 8,
    OPTION_VERSION = 9
};

struct translation {
    struct cursor c;
    struct buffer *shape;
    bool is_second, is_v6, failed;
};

/* Appends z16 text as UTF-8. Sets c->failed if its zero is missing. */
static void add_z16(struct buffer *to, struct cursor *c)
{
    size_t units = 0, room = cursor_left(c) / 2;
    while (units < room && load_u16le(c->p + 2 * units) != 0)
        units++;
    uint8_t *at = units < room ? buffer_room(to, 3 * units + 1) : NULL;
    c->failed |= !at;
    if (!at)
        return;
    buffer_filled(to, utf8_from_utf16le((char *)at, c->p, units));
    (void)cursor_skip(c, 2 * units + 2);
}

static void add_name(struct translation *t, struct cursor *c)
{
    size_t at = t->shape->n;
    nettrace_put_u32(t->shape, 0);
    if (t->is_v6) {
        ttr_text name = nettrace_take_string(c);
        buffer_add(t->shape, name.p, name.n);
    } else {
        add_z16(t->shape, c);
    }
    if (!t->shape->failed)
        store_u32le(t->shape->bytes + at, (uint32_t)(t->shape->n - at - 4));
}

static void take_fields(struct translation *t, unsigned depth);

static uint32_t take_code(struct translation *t)
{
    return t->is_v6 ? cursor_u8(&t->c) : cursor_u32le(&t->c);
}

static void take_type(struct translation *t, unsigned depth)
{
    uint32_t code = take_code(t);
    uint32_t most = t->is_v6 ? NETTRACE_BOOLEAN8 : NETTRACE_ARRAY;
    t->failed |= depth > DEPTH_MAX || code > most || code == 0 || code == 2 || t->c.failed;
    if (t->failed)
        return;
    buffer_add_byte(t->shape, (uint8_t)code);
    if (code == NETTRACE_OBJECT)
        take_fields(t, depth + 1);
    else if (code == NETTRACE_ARRAY || code == NETTRACE_FIXED_ARRAY || code == NETTRACE_REL_LOC ||
             code == NETTRACE_DATA_LOC)
        take_type(t, depth + 1);
    if (code == NETTRACE_FIXED_ARRAY)
        nettrace_put_u16(t->shape, cursor_u16le(&t->c));
}

/* Translates a field of form 1. Its name is after its type; in a shape it is before it. */
static void take_first(struct translation *t, unsigned depth)
{
    struct buffer *shape = t->shape;
    size_t at = shape->n;
    take_type(t, depth);
    size_t name_at = shape->n;
    add_name(t, &t->c);
    size_t type_n = name_at - at, name_n = shape->n - name_at;
    uint8_t *room = buffer_room(shape, name_n);
    if (!room)
        return;
    memcpy(room, shape->bytes + name_at, name_n);
    memmove(shape->bytes + at + name_n, shape->bytes + at, type_n);
    memcpy(shape->bytes + at, room, name_n);
}

/* Translates a field with its size before it. */
static void take_sized(struct translation *t, unsigned depth)
{
    struct cursor all = t->c, field;
    uint32_t size = t->is_v6 ? cursor_u16le(&t->c) : cursor_u32le(&t->c), before = t->is_v6 ? 2 : 4,
             own = t->is_v6 ? 0 : 4;
    (void)cursor_skip(&all, before);
    field = cursor_part(&all, size >= own ? size - own : UINT32_MAX);
    t->c = field;
    add_name(t, &t->c);
    take_type(t, depth);
    t->failed |= t->c.failed;
    t->c = all;
}

static void take_fields(struct translation *t, unsigned depth)
{
    enum { LEAST = 3 };
    uint32_t n = t->is_v6 ? cursor_u16le(&t->c) : cursor_u32le(&t->c);
    t->failed |= t->c.failed || n > cursor_left(&t->c) / LEAST;
    nettrace_put_u32(t->shape, n);
    for (uint32_t i = 0; i < n && !t->failed; i++) {
        if (t->is_v6 || t->is_second)
            take_sized(t, depth);
        else
            take_first(t, depth);
        t->failed |= t->c.failed;
    }
}

/* --- V1 to V5 --- */

static void take_tags(struct translation *t, struct nettrace_told *told, size_t shape_at)
{
    while (cursor_left(&t->c) >= 5 && !t->failed) {
        uint32_t size = cursor_u32le(&t->c);
        uint8_t kind = cursor_u8(&t->c);
        struct cursor tag = cursor_part(&t->c, size), behind = t->c;
        if (tag.failed)
            return;
        if (kind == NETTRACE_EXTRA_OPCODE)
            told->opcode = cursor_u8(&tag);
        if (kind != NETTRACE_EXTRA_PARAMS)
            continue;
        t->c = tag;
        t->is_second = true;
        t->shape->n = shape_at;
        take_fields(t, 0);
        t->c = behind;
    }
}

static void take_old(struct translation *t, const struct nettrace_type *type,
                     struct nettrace_told *told, struct buffer *texts, size_t *provider_n)
{
    struct cursor *c = &t->c;
    unsigned version = type->reader->version;
    ttr_text known = ttr_text_get(type->reader->t, type->provider);
    if (version >= 3)
        (void)cursor_u32le(c);
    if (version == 1 && cursor_skip(c, 16)) /* V1 stores a GUID; the reader has the names of some */
        buffer_add(texts, known.p, known.n);
    else
        add_z16(texts, c);
    *provider_n = texts->n;
    told->id = cursor_u32le(c);
    if (version < 3) {
        told->version = cursor_u32le(c);
        if (cursor_u32le(c))
            (void)cursor_u32le(c);
    }
    t->failed |= c->failed;
    if (cursor_left(c))
        add_z16(texts, c);
    told->keyword = cursor_u64le(c);
    told->version = cursor_left(c) >= 4 ? cursor_u32le(c) : told->version;
    told->level = (uint8_t)cursor_u32le(c);
    size_t at = t->shape->n;
    if (c->failed || cursor_left(c) < 4) {
        c->failed = false;
        nettrace_put_u32(t->shape, 0);
        return;
    }
    take_fields(t, 0);
    if (version >= 4)
        take_tags(t, told, at);
}

/* --- V6 --- */

static void take_options(struct cursor *c, struct nettrace_told *told)
{
    while (cursor_left(c) > 0) {
        switch (cursor_u8(c)) {
        case OPTION_OPCODE:
            told->opcode = cursor_u8(c);
            break;
        case OPTION_KEYWORDS:
            told->keyword = cursor_u64le(c);
            break;
        case OPTION_LEVEL:
            told->level = cursor_u8(c);
            break;
        case OPTION_VERSION:
            told->version = cursor_u8(c);
            break;
        case OPTION_GUID:
            (void)cursor_skip(c, 16);
            break;
        case OPTION_PAIR:
            (void)nettrace_take_string(c), (void)nettrace_take_string(c);
            break;
        case OPTION_MESSAGE:
        case OPTION_DESCRIPTION:
            (void)nettrace_take_string(c);
            break;
        default:
            return;
        }
    }
}

static void take_row(struct translation *t, struct nettrace_told *told, struct buffer *texts,
                     size_t *provider_n)
{
    struct cursor *c = &t->c;
    ttr_text provider = nettrace_take_string(c);
    told->id = (uint32_t)nettrace_take_varint(c);
    ttr_text name = nettrace_take_string(c);
    buffer_add(texts, provider.p, provider.n);
    *provider_n = texts->n;
    buffer_add(texts, name.p, name.n);
    take_fields(t, 0);
    struct cursor options = cursor_part(c, cursor_u16le(c));
    take_options(&options, told);
    t->failed |= c->failed;
}

/* --- Correction of wrong metadata --- */

struct truth {
    uint8_t *at;
    unsigned lies; /* bit 0: booleans of one byte, bit 1: bytes of four */
};

static void tell_fields(struct truth *truth);

/* Corrects one type, and moves past it. */
static void tell_type(struct truth *truth)
{
    uint8_t *code = truth->at++;
    if (*code == NETTRACE_OBJECT)
        tell_fields(truth);
    else if (*code == NETTRACE_ARRAY)
        tell_type(truth);
    else if (*code == NETTRACE_BOOLEAN && truth->lies & 1)
        *code = NETTRACE_BOOLEAN8;
    else if (*code == NETTRACE_U8 && truth->lies & 2)
        *code = NETTRACE_U32;
}

static void tell_fields(struct truth *truth)
{
    uint32_t n = load_u32le(truth->at);
    truth->at += 4;
    for (uint32_t i = 0; i < n; i++) {
        truth->at += 4 + (size_t)load_u32le(truth->at);
        tell_type(truth);
    }
}

bool nettrace_translate(const struct nettrace_type *type, struct nettrace_told *told,
                        struct buffer *shape, struct buffer *texts, unsigned reading)
{
    unsigned version = type->reader->version;
    struct translation t = {.c = cursor_over(type->said, type->said_n, 0),
                            .shape = shape,
                            .is_v6 = version >= NETTRACE_V6};
    size_t provider_n = 0, at = shape->n;
    *told = (struct nettrace_told){.id = 0};
    buffer_clear(texts);
    if (t.is_v6)
        take_row(&t, told, texts, &provider_n);
    else
        take_old(&t, type, told, texts, &provider_n);
    const char *text = (const char *)texts->bytes;
    if (t.failed || !text || shape->failed || texts->failed)
        return false;
    if (reading)
        tell_fields(&(struct truth){.at = shape->bytes + at, .lies = reading});
    told->provider = (ttr_text){text, provider_n};
    told->name = (ttr_text){text + provider_n, texts->n - provider_n};
    told->shape = cursor_over(shape->bytes + at, shape->n - at, 0);
    return true;
}
