/* Translates the metadata of a nettrace source to a signature (nettrace_writer.h). Payloads can
 * then be copied without decoding: a payload has the same bytes in all versions that support its
 * types.
 *
 * Left out: options and tags that the reader does not use. */
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

struct metadata_translation {
    struct cursor c;
    struct buffer *signature;
    bool is_second, is_v6, failed;
};

/* Appends UTF-16 text up to its zero as UTF-8. Sets c->failed if the zero is missing. */
static void translate_z16(struct buffer *to, struct cursor *c)
{
    size_t units = 0, room = cursor_left(c) / 2;
    while (units < room && load_u16le(c->p + 2 * units) != 0)
        units++;
    uint8_t *at = units < room ? buffer_room(to, 3 * units + 1) : NULL;
    c->failed |= !at;
    if (!at)
        return;
    buffer_commit(to, utf8_from_utf16le((char *)at, c->p, units));
    (void)cursor_skip(c, 2 * units + 2);
}

static void translate_name(struct metadata_translation *t, struct cursor *c)
{
    size_t at = t->signature->n;
    nettrace_append_u32(t->signature, 0);
    if (t->is_v6) {
        ttr_text name = nettrace_read_string(c);
        buffer_add(t->signature, name.p, name.n);
    } else {
        translate_z16(t->signature, c);
    }
    if (!t->signature->failed)
        store_u32le(t->signature->bytes + at, (uint32_t)(t->signature->n - at - 4));
}

static void translate_fields(struct metadata_translation *t, unsigned depth);

static uint32_t read_type_code(struct metadata_translation *t)
{
    return t->is_v6 ? cursor_u8(&t->c) : cursor_u32le(&t->c);
}

static void translate_type(struct metadata_translation *t, unsigned depth)
{
    uint32_t code = read_type_code(t);
    uint32_t most = t->is_v6 ? NETTRACE_BOOLEAN8 : NETTRACE_ARRAY;
    t->failed |= depth > DEPTH_MAX || code > most || code == 0 || code == 2 || t->c.failed;
    if (t->failed)
        return;
    buffer_add_byte(t->signature, (uint8_t)code);
    if (code == NETTRACE_OBJECT)
        translate_fields(t, depth + 1);
    else if (code == NETTRACE_ARRAY || code == NETTRACE_FIXED_ARRAY || code == NETTRACE_REL_LOC ||
             code == NETTRACE_DATA_LOC)
        translate_type(t, depth + 1);
    if (code == NETTRACE_FIXED_ARRAY)
        nettrace_append_u16(t->signature, cursor_u16le(&t->c));
}

/* Translates a field of form 1, which has its type before its name. In a signature, the name is
 * first. */
static void translate_field_form1(struct metadata_translation *t, unsigned depth)
{
    struct buffer *signature = t->signature;
    size_t at = signature->n;
    translate_type(t, depth);
    size_t name_at = signature->n;
    translate_name(t, &t->c);
    size_t type_n = name_at - at, name_n = signature->n - name_at;
    uint8_t *room = buffer_room(signature, name_n);
    if (!room)
        return;
    memcpy(room, signature->bytes + name_at, name_n);
    memmove(signature->bytes + at + name_n, signature->bytes + at, type_n);
    memcpy(signature->bytes + at, room, name_n);
}

/* Translates a field that starts with its size. */
static void translate_sized_field(struct metadata_translation *t, unsigned depth)
{
    struct cursor all = t->c, field;
    uint32_t size = t->is_v6 ? cursor_u16le(&t->c) : cursor_u32le(&t->c), before = t->is_v6 ? 2 : 4,
             ctx = t->is_v6 ? 0 : 4;
    (void)cursor_skip(&all, before);
    field = cursor_slice(&all, size >= ctx ? size - ctx : UINT32_MAX);
    t->c = field;
    translate_name(t, &t->c);
    translate_type(t, depth);
    t->failed |= t->c.failed;
    t->c = all;
}

static void translate_fields(struct metadata_translation *t, unsigned depth)
{
    enum { LEAST = 3 };
    uint32_t n = t->is_v6 ? cursor_u16le(&t->c) : cursor_u32le(&t->c);
    t->failed |= t->c.failed || n > cursor_left(&t->c) / LEAST;
    nettrace_append_u32(t->signature, n);
    for (uint32_t i = 0; i < n && !t->failed; i++) {
        if (t->is_v6 || t->is_second)
            translate_sized_field(t, depth);
        else
            translate_field_form1(t, depth);
        t->failed |= t->c.failed;
    }
}

/* --- Translation of V1 to V5 --- */

static void translate_tags(struct metadata_translation *t, struct nettrace_class_info *info,
                           size_t signature_at)
{
    while (cursor_left(&t->c) >= 5 && !t->failed) {
        uint32_t size = cursor_u32le(&t->c);
        uint8_t kind = cursor_u8(&t->c);
        struct cursor tag = cursor_slice(&t->c, size), following = t->c;
        if (tag.failed)
            return;
        if (kind == NETTRACE_EXTRA_OPCODE)
            info->opcode = cursor_u8(&tag);
        if (kind != NETTRACE_EXTRA_PARAMS)
            continue;
        t->c = tag;
        t->is_second = true;
        t->signature->n = signature_at;
        translate_fields(t, 0);
        t->c = following;
    }
}

static void translate_metadata(struct metadata_translation *t, const struct nettrace_type *type,
                               struct nettrace_class_info *info, struct buffer *texts,
                               size_t *provider_n)
{
    struct cursor *c = &t->c;
    unsigned version = type->reader->version;
    ttr_text known = ttr_text_get(type->reader->t, type->provider);
    if (version >= 3)
        (void)cursor_u32le(c);
    /* V1 stores a GUID; if it is known, the reader has replaced it by the provider's name */
    if (version == 1 && cursor_skip(c, 16))
        buffer_add(texts, known.p, known.n);
    else
        translate_z16(texts, c);
    *provider_n = texts->n;
    info->id = cursor_u32le(c);
    if (version < 3) {
        info->version = cursor_u32le(c);
        if (cursor_u32le(c))
            (void)cursor_u32le(c);
    }
    t->failed |= c->failed;
    if (cursor_left(c))
        translate_z16(texts, c);
    info->keyword = cursor_u64le(c);
    info->version = cursor_left(c) >= 4 ? cursor_u32le(c) : info->version;
    info->level = (uint8_t)cursor_u32le(c);
    size_t at = t->signature->n;
    if (c->failed || cursor_left(c) < 4) {
        c->failed = false;
        nettrace_append_u32(t->signature, 0);
        return;
    }
    translate_fields(t, 0);
    if (version >= 4)
        translate_tags(t, info, at);
}

/* --- Translation of V6 --- */

static void translate_options(struct cursor *c, struct nettrace_class_info *info)
{
    while (cursor_left(c) > 0) {
        switch (cursor_u8(c)) {
        case OPTION_OPCODE:
            info->opcode = cursor_u8(c);
            break;
        case OPTION_KEYWORDS:
            info->keyword = cursor_u64le(c);
            break;
        case OPTION_LEVEL:
            info->level = cursor_u8(c);
            break;
        case OPTION_VERSION:
            info->version = cursor_u8(c);
            break;
        case OPTION_GUID:
            (void)cursor_skip(c, 16);
            break;
        case OPTION_PAIR:
            (void)nettrace_read_string(c), (void)nettrace_read_string(c);
            break;
        case OPTION_MESSAGE:
        case OPTION_DESCRIPTION:
            (void)nettrace_read_string(c);
            break;
        default:
            return;
        }
    }
}

static void translate_row6(struct metadata_translation *t, struct nettrace_class_info *info,
                           struct buffer *texts, size_t *provider_n)
{
    struct cursor *c = &t->c;
    ttr_text provider = nettrace_read_string(c);
    info->id = (uint32_t)nettrace_read_varint(c);
    ttr_text name = nettrace_read_string(c);
    buffer_add(texts, provider.p, provider.n);
    *provider_n = texts->n;
    buffer_add(texts, name.p, name.n);
    translate_fields(t, 0);
    struct cursor options = cursor_slice(c, cursor_u16le(c));
    translate_options(&options, info);
    t->failed |= c->failed;
}

/* --- Correction of the sizes of booleans and bytes --- */

struct signature_correction {
    uint8_t *at;
    unsigned layout_index; /* bit 0: booleans have one byte; bit 1: bytes have four */
};

static void correct_fields(struct signature_correction *correction);

/* Corrects the sizes in one type of the signature, and moves to the end of the type. */
static void correct_type(struct signature_correction *correction)
{
    uint8_t *code = correction->at++;
    if (*code == NETTRACE_OBJECT)
        correct_fields(correction);
    else if (*code == NETTRACE_ARRAY)
        correct_type(correction);
    else if (*code == NETTRACE_BOOLEAN && correction->layout_index & 1)
        *code = NETTRACE_BOOLEAN8;
    else if (*code == NETTRACE_U8 && correction->layout_index & 2)
        *code = NETTRACE_U32;
}

static void correct_fields(struct signature_correction *correction)
{
    uint32_t n = load_u32le(correction->at);
    correction->at += 4;
    for (uint32_t i = 0; i < n; i++) {
        correction->at += 4 + (size_t)load_u32le(correction->at);
        correct_type(correction);
    }
}

bool nettrace_translate_metadata(const struct nettrace_type *type, struct nettrace_class_info *info,
                                 struct buffer *signature, struct buffer *texts,
                                 unsigned layout_index)
{
    unsigned version = type->reader->version;
    struct metadata_translation t = {.c = cursor_init(type->stored, type->stored_n, 0),
                                     .signature = signature,
                                     .is_v6 = version >= NETTRACE_V6};
    size_t provider_n = 0, at = signature->n;
    *info = (struct nettrace_class_info){.id = 0};
    buffer_clear(texts);
    if (t.is_v6)
        translate_row6(&t, info, texts, &provider_n);
    else
        translate_metadata(&t, type, info, texts, &provider_n);
    const char *text = (const char *)texts->bytes;
    if (t.failed || !text || signature->failed || texts->failed)
        return false;
    if (layout_index)
        correct_fields(&(struct signature_correction){.at = signature->bytes + at,
                                                      .layout_index = layout_index});
    info->provider = (ttr_text){text, provider_n};
    info->name = (ttr_text){text + provider_n, texts->n - provider_n};
    info->signature = cursor_init(signature->bytes + at, signature->n - at, 0);
    return true;
}
