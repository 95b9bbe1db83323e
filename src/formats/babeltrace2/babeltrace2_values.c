/* Values that are not structs or arrays: quoted texts, numbers, labels, bytes. */
#include <stdio.h>

#include "base/number.h"
#include "formats/babeltrace2/babeltrace2_quote.h"
#include "formats/babeltrace2/babeltrace2_output.h"
#include "layout/layout.h"

static char *emit_escaped_character(char *at, uint8_t byte)
{
    static const char letters[256] = {
        ['\\'] = '\\', ['\''] = '\'', ['"'] = '"',  ['?'] = '?',  ['\a'] = 'a', ['\b'] = 'b',
        [0x1b] = 'e',  ['\f'] = 'f',  ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['\v'] = 'v'};
    *at++ = '\\';
    if (letters[byte]) {
        *at++ = letters[byte];
        return at;
    }
    *at++ = 'x';
    *at++ = "0123456789abcdef"[byte >> 4];
    *at++ = "0123456789abcdef"[byte & 15];
    return at;
}

char *babeltrace2_emit_escaped(char *at, const uint8_t *p, const uint8_t *limit)
{
    for (; p < limit && *p; p++) {
        if (is_special(*p))
            at = emit_escaped_character(at, *p);
        else
            *at++ = (char)*p;
    }
    return at;
}

void babeltrace2_add_quoted(struct bt2_output *output, ttr_text text)
{
    const uint8_t *p = (const uint8_t *)text.p;
    if (!reserve_room(output, 4 * text.n + 2 + TEXT_BEYOND))
        return;
    *output->at++ = '"';
    output->at = emit_quotable_text(output->at, p, p, p + text.n);
    *output->at++ = '"';
}

/* Appends `n` digits in base 2, 8 or 16 (`shift` bits each), the most significant digit first. */
static char *emit_digits(char *at, uint64_t x, unsigned shift, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at[i] = "0123456789ABCDEF"[x >> shift * (n - 1 - i) & ((1u << shift) - 1)];
    return at + n;
}

static unsigned count_digits(uint64_t x, unsigned shift)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(x | 1);
    return (bits + shift - 1) / shift;
}

/* Returns the lowest `bits` bits of a number, where `bits` is rounded up to complete digits of
 * `per` bits each. */
static uint64_t mask_value_to_digits(uint64_t x, unsigned bits, unsigned per)
{
    unsigned rounded = (bits + per - 1) / per * per;
    return bits < 64 && rounded < 64 ? x & ((UINT64_C(1) << rounded) - 1) : x;
}

/* Returns eight hexadecimal digits as characters, the first in the highest byte: spreads the
 * nibbles over the bytes, then adds '0' or 'A' - 10 to all bytes at once. */
static inline uint64_t convert_to_8_hex_digits(uint32_t x)
{
    uint64_t digits = (x | (uint64_t)x << 16) & UINT64_C(0x0000ffff0000ffff);
    digits = (digits | digits << 8) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits | digits << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    const uint64_t letters =
        (digits + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return digits + UINT64_C(0x3030303030303030) + letters * ('A' - '9' - 1);
}

char *babeltrace2_emit_hex(char *at, uint64_t x)
{
    const bool is_long = x >> 32 != 0;
    const uint32_t first = (uint32_t)(is_long ? x >> 32 : x);
    const unsigned n = count_digits(first, 4);
    at = emit_constant(at, "0x");
    store_u64be(at, convert_to_8_hex_digits(first << 4 * (8 - n)));
    at += n;
    if (!is_long)
        return at;
    store_u64be(at, convert_to_8_hex_digits((uint32_t)x));
    return at + 8;
}

uint64_t babeltrace2_hex_mask(const ttr_value *value)
{
    return mask_value_to_digits(UINT64_MAX, value->bits && value->bits <= 64 ? value->bits : 64, 4);
}

char *babeltrace2_emit_based(char *at, const ttr_value *value)
{
    unsigned bits = value->bits && value->bits <= 64 ? value->bits : 64;
    uint64_t x = value->v.u;
    if (value->base == 2)
        return emit_digits(emit_constant(at, "0b"), x, 1, bits);
    if (value->base == 8) {
        x = value->type == TTR_TYPE_INT ? mask_value_to_digits(x, bits, 3) : x;
        return emit_digits(emit_constant(at, "0"), x, 3, count_digits(x, 3));
    }
    return babeltrace2_emit_hex(at, x & babeltrace2_hex_mask(value));
}

static inline char *emit_integer(char *at, const ttr_value *value)
{
    if (value->base == 2 || value->base == 8 || value->base == 16)
        return babeltrace2_emit_based(at, value);
    return value->type == TTR_TYPE_INT ? emit_i64(at, value->v.s) : emit_u64(at, value->v.u);
}

/* Appends a float as "%g" would, if its magnitude needs no exponent. Returns NULL if rounding to
 * six digits is uncertain, since scaling has a relative error of up to a millionth of the sixth
 * digit. */
static char *emit_plain_float(char *at, double x)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    static const double limits[] = {1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5};
    const double size = x < 0 ? -x : x;
    char digits[6];
    if (!(size >= 1e-4 && size < 999999))
        return NULL;
    /* number of digits before the decimal point; if it is zero or negative, the negated number of
     * zeros after the point */
    int before = -3;
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++)
        before += size >= limits[i];
    const double scaled = size * tens[6 - before];
    uint32_t whole = (uint32_t)scaled;
    const double part = scaled - (double)whole;
    const bool is_exact =
        before ==
        /* x is not scaled with six digits before the point, so ties round to even as in %g */
        6;
    if (scaled < 99999 || scaled >= 999999 || (!is_exact && part > 0.499999 && part < 0.500001))
        return NULL;
    whole += part > 0.5 || (is_exact && whole % 2 && !(part < 0.5));
    if (whole < 100000)
        return NULL;
    number_format_digits(digits, whole, sizeof digits);
    int n = sizeof digits;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    *at = '-';
    at += x < 0;
    if (before <= 0) {
        memcpy(at, "0.000", 5);
        at += 2 - before;
        memcpy(at, digits, sizeof digits);
        return at + n;
    }
    memcpy(at, digits, sizeof digits);
    if (n <= before)
        return at + before;
    memmove(at + before + 1, digits + before, (size_t)(n - before));
    at[before] = '.';
    return at + n + 1;
}

char *babeltrace2_emit_float(char *at, double x)
{
    char *following = emit_plain_float(at, x);
    return following ? following : at + snprintf(at, NUMBER_MAX, "%g", x);
}

/* Appends the labels of a value, with commas between them. */
static void add_label_names(struct bt2_output *output, const ttr_value *value)
{
    for (uint32_t i = 0; i < value->count; i++) {
        ttr_text label = {"", 0};
        (void)ttr_fields_label(output->fields, value, i, &label);
        if (!reserve_room(output, VALUE_ROOM))
            return;
        output->at = emit_constant(output->at, i ? ", " : "");
        emit_color(output, COLOR_VALUE);
        babeltrace2_add_quoted(output, label);
        if (!reserve_room(output, VALUE_ROOM))
            return;
        emit_color(output, COLOR_OFF);
    }
}

static void add_enum_value(struct bt2_output *output, const ttr_value *value)
{
    output->at = emit_constant(output->at, value->count > 1 ? "( { " : "( ");
    if (value->count > 0) {
        add_label_names(output, value);
    } else {
        emit_color(output, COLOR_UNKNOWN);
        output->at = emit_constant(output->at, "<unknown>");
        emit_color(output, COLOR_OFF);
    }
    if (!reserve_room(output, VALUE_ROOM))
        return;
    output->at =
        emit_constant(output->at, value->count > 1 ? " } : container = " : " : container = ");
    emit_color(output, COLOR_VALUE);
    output->at = emit_integer(output->at, value);
    emit_color(output, COLOR_OFF);
    output->at = emit_constant(output->at, " )");
}

/* Appends bytes in the form "{ 59 6f }". */
static void add_bytes(struct bt2_output *output, ttr_text bytes)
{
    if (!reserve_room(output, 3 * bytes.n + 3))
        return;
    char *at = output->at;
    *at++ = '{';
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t byte = (uint8_t)bytes.p[i];
        *at++ = ' ';
        *at++ = "0123456789abcdef"[byte >> 4];
        *at++ = "0123456789abcdef"[byte & 15];
    }
    output->at = emit_constant(at, " }");
}

static int compare_texts(ttr_text a, ttr_text b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Stores the labels of a set of flags in `to`, in bytewise order and without duplicates. Returns
 * their number. */
static uint32_t sort_labels(const struct bt2_output *output, const ttr_value *value,
                            ttr_text to[LAYOUT_LABELS_MAX])
{
    uint32_t n = 0;
    ttr_text label;
    for (uint32_t i = 0; i < value->count && n < LAYOUT_LABELS_MAX &&
                         ttr_fields_label(output->fields, value, i, &label);
         i++) {
        uint32_t at = n;
        while (at > 0 && compare_texts(label, to[at - 1]) < 0)
            at--;
        if (at > 0 && compare_texts(label, to[at - 1]) == 0)
            continue;
        memmove(to + at + 1, to + at, (n++ - at) * sizeof *to);
        to[at] = label;
    }
    return n;
}

/* Appends a set of flags: 0xA2 { "a", "b" }, or only the number (0x40) if no flag matches. */
static void add_flags_value(struct bt2_output *output, const ttr_value *value)
{
    emit_color(output, COLOR_VALUE);
    output->at = babeltrace2_emit_hex(output->at, value->v.u);
    emit_color(output, COLOR_OFF);
    ttr_text labels[LAYOUT_LABELS_MAX];
    const uint32_t n = sort_labels(output, value, labels);
    for (uint32_t i = 0; i < n && reserve_room(output, VALUE_ROOM); i++) {
        output->at = emit_constant(output->at, i ? ", " : " { ");
        emit_color(output, COLOR_VALUE);
        babeltrace2_add_quoted(output, labels[i]);
        if (!reserve_room(output, VALUE_ROOM))
            return;
        emit_color(output, COLOR_OFF);
    }
    if (value->count && reserve_room(output, 2))
        output->at = emit_constant(output->at, " }");
}

/* Appends a text or a number in the color of values. */
static void add_colored_value(struct bt2_output *output, const ttr_value *value)
{
    emit_color(output, COLOR_VALUE);
    switch (value->type) {
    case TTR_TYPE_BOOL:
        output->at = emit_constant(output->at, value->v.u ? "true" : "false");
        break;
    case TTR_TYPE_FLOAT:
        output->at = babeltrace2_emit_float(output->at, value->v.f);
        break;
    case TTR_TYPE_TEXT:
        if (value->hint != TTR_DISPLAY_DECIMAL)
            babeltrace2_add_quoted(output, value->text);
        else if (reserve_room(output, value->text.n))
            output->at = emit_piece(output->at, value->text);
        break;
    default:
        output->at = emit_integer(output->at, value);
    }
    if (output->with_color && reserve_room(output, 8))
        emit_color(output, COLOR_OFF);
}

void babeltrace2_add_value(struct bt2_output *output, const ttr_value *value)
{
    bool is_integer = value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
    if (is_integer && value->hint == TTR_DISPLAY_ENUM)
        add_enum_value(output, value);
    else if (value->type == TTR_TYPE_UINT && value->hint == TTR_DISPLAY_FLAGS)
        add_flags_value(output, value);
    else if (value->type == TTR_TYPE_BYTES)
        add_bytes(output, value->text);
    else if (value->type == TTR_TYPE_NULL)
        output->at = emit_constant(output->at, "<none>");
    else
        add_colored_value(output, value);
}
