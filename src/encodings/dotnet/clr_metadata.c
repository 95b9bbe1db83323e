/* Parser of EventPipe field metadata, and text forms of .NET values (GUID, decimal, date). */
#include "encodings/dotnet/clr_metadata.h"

#include "base/number.h"
#include "base/utf.h"

#define DEPTH_MAX 24u
#define FIELD_BYTES_MIN 6u /* bytes of the smallest possible field declaration */

const char *clr_read_z16(struct cursor *c, struct arena *arena, size_t *n)
{
    size_t units = 0;
    while (cursor_left(c) / 2 > units && load_u16le(c->p + 2 * units) != 0)
        units++;
    if (cursor_left(c) / 2 <= units) {
        c->failed = true;
        return NULL;
    }
    char *to = arena_alloc(arena, 3 * units + 1);
    *n = to ? utf8_from_utf16le(to, c->p, units) : 0;
    (void)cursor_skip(c, 2 * units + 2);
    return to;
}

static struct type *allocate_field_type(struct clr_field_parser *making, struct type type)
{
    struct type *ctx = arena_alloc(making->arena, sizeof *ctx);
    making->is_out_of_memory |= !ctx;
    type.align = 3;
    if (ctx)
        *ctx = type;
    return ctx;
}

const struct type *clr_get_type_of_code(uint32_t code)
{
    static const struct type plain[] = {
        [NETTRACE_BOOLEAN] = {.kind = TYPE_BOOL, .bits = 32, .align = 3},
        [NETTRACE_CHAR] =
            {.kind = TYPE_TEXT, .encoding = ENCODING_UTF16LE, .bits = 16, .count = 2, .align = 3},
        [NETTRACE_I8] = {.kind = TYPE_INT, .bits = 8, .align = 3},
        [NETTRACE_U8] = {.kind = TYPE_UINT, .bits = 8, .align = 3},
        [NETTRACE_I16] = {.kind = TYPE_INT, .bits = 16, .align = 3},
        [NETTRACE_U16] = {.kind = TYPE_UINT, .bits = 16, .align = 3},
        [NETTRACE_I32] = {.kind = TYPE_INT, .bits = 32, .align = 3},
        [NETTRACE_U32] = {.kind = TYPE_UINT, .bits = 32, .align = 3},
        [NETTRACE_I64] = {.kind = TYPE_INT, .bits = 64, .align = 3},
        [NETTRACE_U64] = {.kind = TYPE_UINT, .bits = 64, .align = 3},
        [NETTRACE_F32] = {.kind = TYPE_FLOAT, .bits = 32, .align = 3},
        [NETTRACE_F64] = {.kind = TYPE_FLOAT, .bits = 64, .align = 3},
        [NETTRACE_DECIMAL] = {.kind = TYPE_BLOB,
                              .count = 16,
                              .align = 3,
                              .role = NETTRACE_ROLE_DECIMAL},
        [NETTRACE_DATE_TIME] = {.kind = TYPE_UINT,
                                .bits = 64,
                                .align = 3,
                                .role = NETTRACE_ROLE_DATE},
        [NETTRACE_GUID] = {.kind = TYPE_BLOB, .count = 16, .align = 3, .role = NETTRACE_ROLE_GUID},
        [NETTRACE_STRING] = {.kind = TYPE_STRING,
                             .encoding = ENCODING_UTF16LE,
                             .bits = 16,
                             .align = 3},
    };
    return code < sizeof plain / sizeof *plain && plain[code].kind != TYPE_NONE ? &plain[code]
                                                                                : NULL;
}

static struct type *parse_member_list(struct clr_field_parser *making, unsigned depth);

/* Returns the type for a type code. For arrays and objects also parses the declaration at the
 * cursor. Returns NULL, with making->problem set, if the code is unknown. */
static const struct type *parse_type(struct clr_field_parser *making, uint32_t code, unsigned depth)
{
    static const struct type u16 = {.kind = TYPE_UINT, .bits = 16, .align = 3};
    if (depth >= DEPTH_MAX) {
        making->problem = "objects and arrays are nested too deeply";
        return NULL;
    }
    if (code == NETTRACE_OBJECT)
        return parse_member_list(making, depth + 1);
    if (code != NETTRACE_ARRAY) {
        const struct type *type = clr_get_type_of_code(code);
        making->could_lie |= code == NETTRACE_BOOLEAN ? 1 : code == NETTRACE_U8 ? 2 : 0;
        making->problem = type ? making->problem : "a field has a type that is not known";
        return type;
    }
    uint32_t of = cursor_u32le(&making->c);
    const struct type *element = of == NETTRACE_CHAR ? &u16 : parse_type(making, of, depth + 1);
    if (of == NETTRACE_CHAR)
        return allocate_field_type(making, (struct type){.kind = TYPE_SEQUENCE,
                                                         .has_inline_length = true,
                                                         .length_type = &u16,
                                                         .element = element,
                                                         .role = NETTRACE_ROLE_TEXT16});
    return element ? allocate_field_type(making, (struct type){.kind = TYPE_SEQUENCE,
                                                               .has_inline_length = true,
                                                               .length_type = &u16,
                                                               .element = element})
                   : NULL;
}

static bool parse_member_name(struct clr_field_parser *making, struct type_member *member)
{
    size_t n = 0;
    const char *name = clr_read_z16(&making->c, making->arena, &n);
    making->is_out_of_memory |= !name && !making->c.failed;
    member->name = (ttr_text){name ? name : "", n};
    return name != NULL;
}

static bool parse_member(struct clr_field_parser *making, struct type_member *member,
                         unsigned depth)
{
    if (!making->is_second) {
        member->type = parse_type(making, cursor_u32le(&making->c), depth);
        return member->type && parse_member_name(making, member);
    }
    struct cursor all = making->c;
    uint32_t size = cursor_u32le(&making->c);
    if (size < 4 || !cursor_skip(&all, size) || !parse_member_name(making, member))
        return false;
    member->type = parse_type(making, cursor_u32le(&making->c), depth);
    if (!member->type || making->c.failed || making->c.p > all.p)
        return false;
    making->c = all;
    return true;
}

/* Parses the number of fields (i32), then the fields. Returns NULL if they are damaged
 * (making->problem is set) or memory is exhausted. */
static struct type *parse_member_list(struct clr_field_parser *making, unsigned depth)
{
    uint32_t n = cursor_u32le(&making->c);
    if (n > cursor_left(&making->c) / FIELD_BYTES_MIN) {
        making->problem = "more fields are declared than stored";
        return NULL;
    }
    struct type_member *members = arena_alloc(making->arena, n ? n * sizeof *members : 1);
    making->is_out_of_memory |= !members;
    for (uint32_t i = 0; members && i < n; i++) {
        members[i] = (struct type_member){.name = {"", 0}};
        if (!parse_member(making, &members[i], depth) || making->c.failed) {
            making->problem = making->problem ? making->problem : "a field is not whole";
            return NULL;
        }
    }
    return members
               ? allocate_field_type(
                     making, (struct type){.kind = TYPE_STRUCT, .members = members, .members_n = n})
               : NULL;
}

struct type *clr_parse_fields(struct clr_field_parser *fields)
{
    return parse_member_list(fields, 0);
}

/* --- Text forms of GUIDs, decimals and dates --- */

/* Returns eight hexadecimal digits of `x` as bytes, the most significant digit in the lowest byte.
 * Works on all digits at once: spreads nibbles to bytes, then adds the distance to 'a' if a nibble
 * exceeds 9. */
static uint64_t format_hex_digits(uint32_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t v = (uint64_t)x >> 16 | (uint64_t)(x & 0xffff) << 32;
    v = (v & UINT64_C(0x0000ff000000ff00)) >> 8 | (v & UINT64_C(0x000000ff000000ff)) << 16;
    v = (v & UINT64_C(0x00f000f000f000f0)) >> 4 | (v & UINT64_C(0x000f000f000f000f)) << 8;
    const uint64_t letters = (v + 6 * ones) >> 4 & ones;
    return v + '0' * ones + ('a' - '0' - 10) * letters;
}

size_t clr_format_guid(char *to, const uint8_t *guid)
{
    enum { GUID_TEXT = 36 };
    const uint64_t middle = format_hex_digits((uint32_t)load_u16le(guid + 4) << 16 |
                                              load_u16le(guid + 6)),
                   rest = format_hex_digits(load_u32be(guid + 8));
    store_u64le(to, format_hex_digits(load_u32le(guid)));
    store_u32le(to + 9, (uint32_t)middle);
    store_u32le(to + 14, (uint32_t)(middle >> 32));
    store_u32le(to + 19, (uint32_t)rest);
    store_u32le(to + 24, (uint32_t)(rest >> 32));
    store_u64le(to + 28, format_hex_digits(load_u32be(guid + 12)));
    to[8] = to[13] = to[18] = to[23] = '-';
    return GUID_TEXT;
}

/* Divides a number of three 32-bit words, most significant first, by ten in place. Returns the
 * remainder. */
static uint32_t divide_by_ten(uint32_t *words)
{
    uint64_t rest = 0;
    for (unsigned i = 0; i < 3; i++) {
        rest = rest << 32 | words[i];
        words[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
    return (uint32_t)rest;
}

/* Formats a System.Decimal: [0..3] flags: bit 31 sign, bits 16..23 decimal places | [4..7] high |
 * [8..11] low | [12..15] middle word of the 96-bit integer. */
static size_t format_decimal(char *to, const uint8_t *p)
{
    enum { MOST = 40 };
    uint32_t flags = load_u32le(p),
             words[3] = {load_u32le(p + 4), load_u32le(p + 12), load_u32le(p + 8)};
    unsigned scale = flags >> 16 & 0xff, digits = 0;
    char digit[MOST];
    if (scale > 28 || flags & 0x7f00ffff)
        return 0;
    do
        digit[digits++] = (char)('0' + divide_by_ten(words));
    while (words[0] | words[1] | words[2] || digits <= scale);
    size_t n = 0;
    if (flags >> 31)
        to[n++] = '-';
    while (digits > 0) {
        if (digits == scale)
            to[n++] = '.';
        to[n++] = digit[--digits];
    }
    return n;
}

/* Formats a date in units of 100 ns since 1601, up to the year 9999. Returns the length, 0 if out
 * of range. The formatter for nanoseconds covers 1677 to 2262; other years are shifted by multiples
 * of 400 years, in which the Gregorian calendar repeats. */
static size_t format_date(char *to, uint64_t date)
{
    enum { YEAR_DIGITS = 4 };
    const uint64_t unix_epoch = UINT64_C(116444736000000000), cycle = UINT64_C(126227808000000000),
                   after = UINT64_C(2650467744000000000);
    int years = 1600;
    if (date >= after)
        return 0;
    for (date += 4 * cycle; date >= unix_epoch + cycle / 2; date -= cycle)
        years -= 400;
    size_t n = number_format_iso(to, ((int64_t)date - (int64_t)unix_epoch) * 100);
    int year = 0;
    for (unsigned i = 0; i < YEAR_DIGITS; i++)
        year = 10 * year + (to[i] - '0');
    year -= years;
    for (unsigned i = YEAR_DIGITS; i > 0; i--, year /= 10)
        to[i - 1] = (char)('0' + year % 10);
    return n;
}

size_t clr_format_value(char *to, unsigned role, const ttr_value *value)
{
    if (role == NETTRACE_ROLE_DATE)
        return format_date(to, value->v.u);
    if (value->text.n != 16)
        return 0;
    const uint8_t *bytes = (const uint8_t *)value->text.p;
    return role == NETTRACE_ROLE_GUID ? clr_format_guid(to, bytes) : format_decimal(to, bytes);
}
