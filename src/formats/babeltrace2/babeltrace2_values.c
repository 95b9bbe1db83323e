/* Values that open no level: texts in quotes, numbers, names of numbers, bytes. */
#include <stdio.h>

#include "base/number.h"
#include "formats/babeltrace2/babeltrace2_quote.h"
#include "formats/babeltrace2/babeltrace2_walk.h"
#include "model/layout.h"

static char *put_special(char *at, uint8_t byte)
{
    static const char letters[256] = {['\\'] = '\\', ['\''] = '\'', ['"'] = '"', ['?'] = '?',  ['\a'] = 'a', ['\b'] = 'b',
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

char *babeltrace2_put_escaped(char *at, const uint8_t *p, const uint8_t *limit)
{
    for (; p < limit && *p; p++) {
        if (is_special(*p))
            at = put_special(at, *p);
        else
            *at++ = (char)*p;
    }
    return at;
}

void babeltrace2_add_quoted(struct walk *walk, ttr_text text)
{
    const uint8_t *p = (const uint8_t *)text.p;
    if (!room_for(walk, 4 * text.n + 2 + TEXT_BEYOND))
        return;
    *walk->at++ = '"';
    walk->at = put_quotable(walk->at, p, p, p + text.n);
    *walk->at++ = '"';
}

/* Digits of a number in base 2, 8 or 16, the highest first. */
static char *put_digits(char *at, uint64_t x, unsigned shift, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at[i] = "0123456789ABCDEF"[x >> shift * (n - 1 - i) & ((1u << shift) - 1)];
    return at + n;
}

static unsigned digits_of(uint64_t x, unsigned shift)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(x | 1);
    return (bits + shift - 1) / shift;
}

/* The lowest `bits` of a number, rounded up to whole digits of `per` bits. */
static uint64_t masked(uint64_t x, unsigned bits, unsigned per)
{
    unsigned rounded = (bits + per - 1) / per * per;
    return bits < 64 && rounded < 64 ? x & ((UINT64_C(1) << rounded) - 1) : x;
}

char *babeltrace2_put_based(char *at, const ttr_value *value)
{
    unsigned bits = value->bits && value->bits <= 64 ? value->bits : 64;
    uint64_t x = value->v.u;
    if (value->base == 2)
        return put_digits(put_text(at, "0b"), x, 1, bits);
    if (value->base == 8) {
        x = value->type == TTR_TYPE_INT ? masked(x, bits, 3) : x;
        return put_digits(put_text(at, "0"), x, 3, digits_of(x, 3));
    }
    x = masked(x, bits, 4);
    return put_digits(put_text(at, "0x"), x, 4, digits_of(x, 4));
}

static inline char *put_integer(char *at, const ttr_value *value)
{
    if (value->base == 2 || value->base == 8 || value->base == 16)
        return babeltrace2_put_based(at, value);
    return value->type == TTR_TYPE_INT ? put_i64(at, value->v.s) : put_u64(at, value->v.u);
}

/* Six digits the way of %g for the numbers that are plain there, where rounding is beyond doubt: the scaled number is off by less than a
 * millionth of its last digit.  0: not done. */
static size_t put_plain_float(char *to, double x)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10};
    double size = x < 0 ? -x : x;
    if (!(size >= 1e-4 && size < 999999))
        return 0;
    int exponent = -4;
    while (exponent < 5 && size >= (exponent < -1 ? 1 / tens[-exponent - 1] : tens[exponent + 1]))
        exponent++;
    unsigned decimals = (unsigned)(5 - exponent);
    double scaled = size * tens[decimals];
    uint64_t whole = (uint64_t)scaled;
    double part = scaled - (double)whole;
    bool is_exact = decimals == 0; /* then nothing was scaled, and a half goes to the even neighbour */
    if (scaled < 99999 || scaled >= 999999 || (!is_exact && part > 0.499999 && part < 0.500001))
        return 0;
    whole += part > 0.5 || (is_exact && whole % 2 && !(part < 0.5));
    if (whole < 100000)
        return 0;
    char *at = to;
    while (decimals > 0 && whole % 10 == 0) {
        whole /= 10;
        decimals--;
    }
    if (x < 0)
        *at++ = '-';
    uint64_t divider = (uint64_t)tens[decimals];
    at += number_put_u64(at, whole / divider);
    if (decimals == 0)
        return (size_t)(at - to);
    *at++ = '.';
    number_put_digits(at, whole % divider, decimals);
    return (size_t)(at + decimals - to);
}

char *babeltrace2_put_float(char *at, double x)
{
    size_t n = put_plain_float(at, x);
    return at + (n ? n : (size_t)snprintf(at, NUMBER_MAX, "%g", x));
}

/* Names of a value, with commas between them. */
static void add_labels(struct walk *walk, const ttr_value *value)
{
    for (uint32_t i = 0; i < value->count; i++) {
        ttr_text label = {"", 0};
        (void)ttr_fields_label(walk->fields, value, i, &label);
        if (!room_for(walk, VALUE_ROOM))
            return;
        walk->at = put_text(walk->at, i ? ", " : "");
        color(walk, COLOR_VALUE);
        babeltrace2_add_quoted(walk, label);
        if (!room_for(walk, VALUE_ROOM))
            return;
        color(walk, COLOR_OFF);
    }
}

static void add_enum(struct walk *walk, const ttr_value *value)
{
    walk->at = put_text(walk->at, value->count > 1 ? "( { " : "( ");
    if (value->count > 0) {
        add_labels(walk, value);
    } else {
        color(walk, COLOR_UNKNOWN);
        walk->at = put_text(walk->at, "<unknown>");
        color(walk, COLOR_OFF);
    }
    if (!room_for(walk, VALUE_ROOM))
        return;
    walk->at = put_text(walk->at, value->count > 1 ? " } : container = " : " : container = ");
    color(walk, COLOR_VALUE);
    walk->at = put_integer(walk->at, value);
    color(walk, COLOR_OFF);
    walk->at = put_text(walk->at, " )");
}

/* Bytes: "{ 59 6f }". */
static void add_bytes(struct walk *walk, ttr_text bytes)
{
    if (!room_for(walk, 3 * bytes.n + 3))
        return;
    char *at = walk->at;
    *at++ = '{';
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t byte = (uint8_t)bytes.p[i];
        *at++ = ' ';
        *at++ = "0123456789abcdef"[byte >> 4];
        *at++ = "0123456789abcdef"[byte & 15];
    }
    walk->at = put_text(at, " }");
}

static int compare_texts(ttr_text a, ttr_text b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* The names of a value's flags in the order of their bytes, each once; how many. */
static uint32_t sort_labels(const struct walk *walk, const ttr_value *value, ttr_text to[LAYOUT_LABELS])
{
    uint32_t n = 0;
    ttr_text label;
    for (uint32_t i = 0; i < value->count && n < LAYOUT_LABELS && ttr_fields_label(walk->fields, value, i, &label); i++) {
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

/* A bit map: 0xA2 { "a", "b" }, or 0x40 where no flag is set. */
static void add_flags(struct walk *walk, const ttr_value *value)
{
    color(walk, COLOR_VALUE);
    walk->at = put_digits(put_text(walk->at, "0x"), value->v.u, 4, digits_of(value->v.u, 4));
    color(walk, COLOR_OFF);
    ttr_text labels[LAYOUT_LABELS];
    const uint32_t n = sort_labels(walk, value, labels);
    for (uint32_t i = 0; i < n && room_for(walk, VALUE_ROOM); i++) {
        walk->at = put_text(walk->at, i ? ", " : " { ");
        color(walk, COLOR_VALUE);
        babeltrace2_add_quoted(walk, labels[i]);
        if (!room_for(walk, VALUE_ROOM))
            return;
        color(walk, COLOR_OFF);
    }
    if (value->count && room_for(walk, 2))
        walk->at = put_text(walk->at, " }");
}

/* A text or a number; what it is has the colour of values. */
static void add_colored(struct walk *walk, const ttr_value *value)
{
    color(walk, COLOR_VALUE);
    switch (value->type) {
    case TTR_TYPE_BOOL: walk->at = put_text(walk->at, value->v.u ? "true" : "false"); break;
    case TTR_TYPE_FLOAT: walk->at = babeltrace2_put_float(walk->at, value->v.f); break;
    case TTR_TYPE_TEXT:
        if (value->hint != TTR_HINT_NUMBER)
            babeltrace2_add_quoted(walk, value->text);
        else if (room_for(walk, value->text.n))
            walk->at = put_piece(walk->at, value->text);
        break;
    default: walk->at = put_integer(walk->at, value);
    }
    if (walk->with_color && room_for(walk, 8))
        color(walk, COLOR_OFF);
}

void babeltrace2_add_value(struct walk *walk, const ttr_value *value)
{
    bool is_integer = value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT;
    if (is_integer && value->hint == TTR_HINT_ENUM)
        add_enum(walk, value);
    else if (value->type == TTR_TYPE_UINT && value->hint == TTR_HINT_FLAGS)
        add_flags(walk, value);
    else if (value->type == TTR_TYPE_BYTES)
        add_bytes(walk, value->text);
    else if (value->type == TTR_TYPE_NULL)
        walk->at = put_text(walk->at, "<none>");
    else
        add_colored(walk, value);
}
