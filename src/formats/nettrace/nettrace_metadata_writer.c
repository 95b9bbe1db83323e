/* Metadata writer: encodes a field signature (nettrace_writer.h) as each version requires.
 * nettrace_metadata.c and nettrace_metadata6.c have the layouts.
 *
 * The signature is the same for all versions. The caller first checks with
 * nettrace_signature_fits() that the version has all its types:
 *
 *   version   largest type code    encoding of fields
 *   V4        18 (string)          form 1: code, then name
 *   V5        19 (array)           form 1 if it has no arrays, else form 2 in a tag of kind 2
 *   V6        26 (boolean8)        u16 size, name, type
 *
 * Left out: messages, descriptions and other options of V6, which are counted as losses. */
#include "base/utf.h"
#include "formats/nettrace/nettrace_writer.h"

#define ROW_MAX                                                                      \
    60000u /* largest record in bytes: V6 stores sizes of rows and fields in 16 bits \
            */

enum { OPTION_OPCODE = 1, OPTION_KEYWORDS = 3, OPTION_LEVEL = 8, OPTION_VERSION = 9 };

/* Byte forms of fields, which nettrace_metadata.c and nettrace_metadata6.c describe. */
enum field_form { FORM_1, FORM_2, FORM_V6 };

static bool has_element_type(uint8_t code)
{
    return code == NETTRACE_ARRAY || code == NETTRACE_REL_LOC || code == NETTRACE_DATA_LOC ||
           code == NETTRACE_FIXED_ARRAY;
}

/* --- Types that each version supports --- */

static bool fields_fit_version(struct cursor *signature, uint8_t most);

static bool type_fits_version(struct cursor *signature, uint8_t most)
{
    uint8_t code = cursor_u8(signature);
    if (code > most)
        return false;
    if (code == NETTRACE_OBJECT)
        return fields_fit_version(signature, most);
    bool fits = !has_element_type(code) || type_fits_version(signature, most);
    if (code == NETTRACE_FIXED_ARRAY)
        (void)cursor_u16le(signature);
    return fits;
}

static bool fields_fit_version(struct cursor *signature, uint8_t most)
{
    uint32_t n = cursor_u32le(signature);
    for (uint32_t i = 0; i < n && !signature->failed; i++) {
        (void)cursor_skip(signature, cursor_u32le(signature));
        if (!type_fits_version(signature, most))
            return false;
    }
    return !signature->failed;
}

bool nettrace_signature_fits(const struct cursor *signature, unsigned version)
{
    struct cursor c = *signature;
    return fields_fit_version(&c, version >= NETTRACE_V6 ? NETTRACE_BOOLEAN8
                                  : version == 5         ? NETTRACE_ARRAY
                                                         : NETTRACE_STRING);
}

/* --- Names that cannot be stored in UTF-16 --- */

static struct nettrace_text_flaws find_text_flaws(ttr_text text)
{
    struct nettrace_text_flaws flaws = {false, false};
    const uint8_t *p = (const uint8_t *)text.p, *end = p + text.n;
    while (p < end) {
        size_t n = *p < 0x80 ? 1 : utf8_char_length(p, (size_t)(end - p));
        flaws.has_zeros |= *p == 0;
        flaws.is_broken |= n == 0;
        p += n ? n : 1;
    }
    return flaws;
}

static void merge_text_flaws(struct nettrace_text_flaws *sum, ttr_text text)
{
    struct nettrace_text_flaws flaws = find_text_flaws(text);
    sum->has_zeros |= flaws.has_zeros;
    sum->is_broken |= flaws.is_broken;
}

static ttr_text read_signature_name(struct cursor *signature)
{
    uint32_t n = cursor_u32le(signature);
    const uint8_t *p = cursor_read_bytes(signature, n);
    return (ttr_text){p ? (const char *)p : "", p ? n : 0};
}

static void merge_field_name_flaws(struct nettrace_text_flaws *sum, struct cursor *signature)
{
    uint32_t n = cursor_u32le(signature);
    for (uint32_t i = 0; i < n && !signature->failed; i++) {
        merge_text_flaws(sum, read_signature_name(signature));
        uint8_t code = cursor_u8(signature);
        /* fixed arrays, which only V6 has, store their length after the type code */
        for (; has_element_type(code); code = cursor_u8(signature))
            if (code == NETTRACE_FIXED_ARRAY)
                return;
        if (code == NETTRACE_OBJECT)
            merge_field_name_flaws(sum, signature);
    }
}

struct nettrace_text_flaws nettrace_find_class_text_flaws(const struct nettrace_class_info *info)
{
    struct nettrace_text_flaws flaws = {false, false};
    struct cursor signature = info->signature;
    merge_text_flaws(&flaws, info->provider);
    merge_text_flaws(&flaws, info->name);
    merge_field_name_flaws(&flaws, &signature);
    return flaws;
}

/* --- Encoding of field declarations --- */

static void append_field_count(struct buffer *to, enum field_form form, uint32_t n)
{
    if (form == FORM_V6)
        nettrace_append_u16(to, (uint16_t)n);
    else
        nettrace_append_u32(to, n);
}

static void append_fields(struct buffer *to, struct cursor *signature, enum field_form form);

static void append_type(struct buffer *to, struct cursor *signature, enum field_form form)
{
    uint8_t code = cursor_u8(signature);
    if (form == FORM_V6)
        buffer_add_byte(to, code);
    else
        nettrace_append_u32(to, code);
    if (code == NETTRACE_OBJECT)
        append_fields(to, signature, form);
    else if (has_element_type(code))
        append_type(to, signature, form);
    if (code == NETTRACE_FIXED_ARRAY)
        nettrace_append_u16(to, cursor_u16le(signature));
}

/* Appends the size of a field, then the field. The size includes its own bytes in form 2, but not
 * in V6. */
static void append_sized_field(struct buffer *to, struct cursor *signature, enum field_form form)
{
    size_t at = to->n;
    ttr_text name = read_signature_name(signature);
    if (form == FORM_V6) {
        nettrace_append_u16(to, 0);
        nettrace_append_string(to, name);
    } else {
        nettrace_append_u32(to, 0);
        (void)nettrace_append_z16(to, name);
    }
    append_type(to, signature, form);
    if (to->failed)
        return;
    if (form == FORM_V6)
        store_u16le(to->bytes + at, (uint16_t)(to->n - at - 2));
    else
        store_u32le(to->bytes + at, (uint32_t)(to->n - at));
}

static void append_fields(struct buffer *to, struct cursor *signature, enum field_form form)
{
    uint32_t n = cursor_u32le(signature);
    append_field_count(to, form, n);
    for (uint32_t i = 0; i < n && !signature->failed; i++) {
        if (form != FORM_1) {
            append_sized_field(to, signature, form);
            continue;
        }
        ttr_text name = read_signature_name(signature);
        append_type(to, signature, form);
        (void)nettrace_append_z16(to, name);
    }
}

/* --- Encoding of a metadata record --- */

static void append_tag(struct buffer *to, enum nettrace_extra kind, uint32_t size)
{
    nettrace_append_u32(to, size);
    buffer_add_byte(to, (uint8_t)kind);
}

/* V4, V5: appends the fields in form 1; in form 2, as a tag, if they have types that form 1 cannot
 * store. */
static void append_field_description(struct buffer *to, unsigned version,
                                     const struct nettrace_class_info *info)
{
    struct cursor signature = info->signature;
    bool is_plain = nettrace_signature_fits(&info->signature, 4);
    if (is_plain)
        append_fields(to, &signature, FORM_1);
    else
        nettrace_append_u32(to, 0);
    if (info->opcode && version >= 5) {
        append_tag(to, NETTRACE_EXTRA_OPCODE, 1);
        buffer_add_byte(to, info->opcode);
    }
    if (is_plain)
        return;
    size_t at = to->n;
    append_tag(to, NETTRACE_EXTRA_PARAMS, 0);
    append_fields(to, &signature, FORM_2);
    if (!to->failed)
        store_u32le(to->bytes + at, (uint32_t)(to->n - at - 5));
}

static void append_options(struct buffer *to, const struct nettrace_class_info *info)
{
    size_t at = to->n;
    nettrace_append_u16(to, 0);
    if (info->opcode) {
        buffer_add_byte(to, OPTION_OPCODE);
        buffer_add_byte(to, info->opcode);
    }
    if (info->keyword) {
        buffer_add_byte(to, OPTION_KEYWORDS);
        nettrace_append_u64(to, info->keyword);
    }
    if (info->level) {
        buffer_add_byte(to, OPTION_LEVEL);
        buffer_add_byte(to, info->level);
    }
    if (info->version) {
        buffer_add_byte(to, OPTION_VERSION);
        buffer_add_byte(to, (uint8_t)info->version);
    }
    if (!to->failed)
        store_u16le(to->bytes + at, (uint16_t)(to->n - at - 2));
}

bool nettrace_append_metadata(struct buffer *to, unsigned version,
                              const struct nettrace_class_info *info)
{
    size_t at = to->n;
    struct cursor signature = info->signature;
    if (version >= NETTRACE_V6) {
        nettrace_append_string(to, info->provider);
        nettrace_append_varint(to, info->id);
        nettrace_append_string(to, info->name);
        append_fields(to, &signature, FORM_V6);
        append_options(to, info);
        return to->n - at <= ROW_MAX;
    }
    (void)nettrace_append_z16(to, info->provider);
    nettrace_append_u32(to, info->id);
    (void)nettrace_append_z16(to, info->name);
    nettrace_append_u64(to, info->keyword);
    nettrace_append_u32(to, info->version);
    nettrace_append_u32(to, info->level);
    append_field_description(to, version, info);
    return to->n - at <= ROW_MAX;
}
