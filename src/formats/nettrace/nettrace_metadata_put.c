/* Metadata writer: a shape (nettrace_writer.h) in the encoding of each version. nettrace_metadata.c
 * and nettrace_metadata6.c have the layouts.
 *
 * A shape has no version. Types that a version lacks must be excluded first, by
 * nettrace_shape_fits():
 *
 *   version   largest type code    encoding of fields
 *   V4        18 (string)          form 1: code, then name
 *   V5        19 (array)           form 1 if it has no arrays, else form 2 in a tag of kind 2
 *   V6        26 (boolean8)        u16 size, name, type
 *
 * Left out: messages, descriptions and other options of V6, which are counted as losses. */
#include "base/utf.h"
#include "formats/nettrace/nettrace_writer.h"

#define ROW_MAX 60000u /* limit of a record: sizes of rows and fields in V6 have 16 bits */

enum { OPTION_OPCODE = 1, OPTION_KEYWORDS = 3, OPTION_LEVEL = 8, OPTION_VERSION = 9 };

/* Encodings of fields. */
enum dialect { DIALECT_V1, DIALECT_V2, DIALECT_V6 };

static bool has_element(uint8_t code)
{
    return code == NETTRACE_ARRAY || code == NETTRACE_REL_LOC || code == NETTRACE_DATA_LOC ||
           code == NETTRACE_FIXED_ARRAY;
}

/* --- Types that versions have --- */

static bool fits_fields(struct cursor *shape, uint8_t most);

static bool fits_type(struct cursor *shape, uint8_t most)
{
    uint8_t code = cursor_u8(shape);
    if (code > most)
        return false;
    if (code == NETTRACE_OBJECT)
        return fits_fields(shape, most);
    bool fits = !has_element(code) || fits_type(shape, most);
    if (code == NETTRACE_FIXED_ARRAY)
        (void)cursor_u16le(shape);
    return fits;
}

static bool fits_fields(struct cursor *shape, uint8_t most)
{
    uint32_t n = cursor_u32le(shape);
    for (uint32_t i = 0; i < n && !shape->failed; i++) {
        (void)cursor_skip(shape, cursor_u32le(shape));
        if (!fits_type(shape, most))
            return false;
    }
    return !shape->failed;
}

bool nettrace_shape_fits(const struct cursor *shape, unsigned version)
{
    struct cursor c = *shape;
    return fits_fields(&c, version >= NETTRACE_V6 ? NETTRACE_BOOLEAN8
                           : version == 5         ? NETTRACE_ARRAY
                                                  : NETTRACE_STRING);
}

/* --- Names that UTF-16 cannot store --- */

static struct nettrace_text_flaws flaws_of(ttr_text text)
{
    struct nettrace_text_flaws flaws = {false, false};
    const uint8_t *p = (const uint8_t *)text.p, *end = p + text.n;
    while (p < end) {
        size_t n = *p < 0x80 ? 1 : utf8_character(p, (size_t)(end - p));
        flaws.has_zeros |= *p == 0;
        flaws.is_broken |= n == 0;
        p += n ? n : 1;
    }
    return flaws;
}

static void add_flaws(struct nettrace_text_flaws *sum, ttr_text text)
{
    struct nettrace_text_flaws flaws = flaws_of(text);
    sum->has_zeros |= flaws.has_zeros;
    sum->is_broken |= flaws.is_broken;
}

static ttr_text take_name(struct cursor *shape)
{
    uint32_t n = cursor_u32le(shape);
    const uint8_t *p = cursor_take(shape, n);
    return (ttr_text){p ? (const char *)p : "", p ? n : 0};
}

static void add_fields_flaws(struct nettrace_text_flaws *sum, struct cursor *shape)
{
    uint32_t n = cursor_u32le(shape);
    for (uint32_t i = 0; i < n && !shape->failed; i++) {
        add_flaws(sum, take_name(shape));
        uint8_t code = cursor_u8(shape);
        for (; has_element(code);
             code =
                 /* fixed arrays, whose count follows the type, come only from V6 */
             cursor_u8(shape))
            if (code == NETTRACE_FIXED_ARRAY)
                return;
        if (code == NETTRACE_OBJECT)
            add_fields_flaws(sum, shape);
    }
}

struct nettrace_text_flaws nettrace_told_flaws(const struct nettrace_told *told)
{
    struct nettrace_text_flaws flaws = {false, false};
    struct cursor shape = told->shape;
    add_flaws(&flaws, told->provider);
    add_flaws(&flaws, told->name);
    add_fields_flaws(&flaws, &shape);
    return flaws;
}

/* --- Fields --- */

static void put_count(struct buffer *to, enum dialect dialect, uint32_t n)
{
    if (dialect == DIALECT_V6)
        nettrace_put_u16(to, (uint16_t)n);
    else
        nettrace_put_u32(to, n);
}

static void put_fields(struct buffer *to, struct cursor *shape, enum dialect dialect);

static void put_type(struct buffer *to, struct cursor *shape, enum dialect dialect)
{
    uint8_t code = cursor_u8(shape);
    if (dialect == DIALECT_V6)
        buffer_add_byte(to, code);
    else
        nettrace_put_u32(to, code);
    if (code == NETTRACE_OBJECT)
        put_fields(to, shape, dialect);
    else if (has_element(code))
        put_type(to, shape, dialect);
    if (code == NETTRACE_FIXED_ARRAY)
        nettrace_put_u16(to, cursor_u16le(shape));
}

/* Appends a field with its size before it. In form 2 the size includes itself, in V6 it does not.
 */
static void put_sized(struct buffer *to, struct cursor *shape, enum dialect dialect)
{
    size_t at = to->n;
    ttr_text name = take_name(shape);
    if (dialect == DIALECT_V6) {
        nettrace_put_u16(to, 0);
        nettrace_put_string(to, name);
    } else {
        nettrace_put_u32(to, 0);
        (void)nettrace_put_z16(to, name);
    }
    put_type(to, shape, dialect);
    if (to->failed)
        return;
    if (dialect == DIALECT_V6)
        store_u16le(to->bytes + at, (uint16_t)(to->n - at - 2));
    else
        store_u32le(to->bytes + at, (uint32_t)(to->n - at));
}

static void put_fields(struct buffer *to, struct cursor *shape, enum dialect dialect)
{
    uint32_t n = cursor_u32le(shape);
    put_count(to, dialect, n);
    for (uint32_t i = 0; i < n && !shape->failed; i++) {
        if (dialect != DIALECT_V1) {
            put_sized(to, shape, dialect);
            continue;
        }
        ttr_text name = take_name(shape);
        put_type(to, shape, dialect);
        (void)nettrace_put_z16(to, name);
    }
}

/* --- Metadata --- */

static void put_tag(struct buffer *to, enum nettrace_extra kind, uint32_t size)
{
    nettrace_put_u32(to, size);
    buffer_add_byte(to, (uint8_t)kind);
}

/* V4, V5: appends the fields in form 1, or in a tag if form 1 lacks their types. */
static void put_description(struct buffer *to, unsigned version, const struct nettrace_told *told)
{
    struct cursor shape = told->shape;
    bool is_plain = nettrace_shape_fits(&told->shape, 4);
    if (is_plain)
        put_fields(to, &shape, DIALECT_V1);
    else
        nettrace_put_u32(to, 0);
    if (told->opcode && version >= 5) {
        put_tag(to, NETTRACE_EXTRA_OPCODE, 1);
        buffer_add_byte(to, told->opcode);
    }
    if (is_plain)
        return;
    size_t at = to->n;
    put_tag(to, NETTRACE_EXTRA_PARAMS, 0);
    put_fields(to, &shape, DIALECT_V2);
    if (!to->failed)
        store_u32le(to->bytes + at, (uint32_t)(to->n - at - 5));
}

static void put_options(struct buffer *to, const struct nettrace_told *told)
{
    size_t at = to->n;
    nettrace_put_u16(to, 0);
    if (told->opcode) {
        buffer_add_byte(to, OPTION_OPCODE);
        buffer_add_byte(to, told->opcode);
    }
    if (told->keyword) {
        buffer_add_byte(to, OPTION_KEYWORDS);
        nettrace_put_u64(to, told->keyword);
    }
    if (told->level) {
        buffer_add_byte(to, OPTION_LEVEL);
        buffer_add_byte(to, told->level);
    }
    if (told->version) {
        buffer_add_byte(to, OPTION_VERSION);
        buffer_add_byte(to, (uint8_t)told->version);
    }
    if (!to->failed)
        store_u16le(to->bytes + at, (uint16_t)(to->n - at - 2));
}

bool nettrace_put_metadata(struct buffer *to, unsigned version, const struct nettrace_told *told)
{
    size_t at = to->n;
    struct cursor shape = told->shape;
    if (version >= NETTRACE_V6) {
        nettrace_put_string(to, told->provider);
        nettrace_put_varint(to, told->id);
        nettrace_put_string(to, told->name);
        put_fields(to, &shape, DIALECT_V6);
        put_options(to, told);
        return to->n - at <= ROW_MAX;
    }
    (void)nettrace_put_z16(to, told->provider);
    nettrace_put_u32(to, told->id);
    (void)nettrace_put_z16(to, told->name);
    nettrace_put_u64(to, told->keyword);
    nettrace_put_u32(to, told->version);
    nettrace_put_u32(to, told->level);
    put_description(to, version, told);
    return to->n - at <= ROW_MAX;
}
