/* Values that need more than a load: labels, flags, floats of unusual width, integers of more than
 * 64 bits, LEB128, text of wide characters.
 *
 * A 128-bit IEEE 754 float is rounded to the nearest double, ties to even. An integer of more than
 * 64 bits is returned as decimal text if it has at most WIDE_BITS_MAX bits, since conversion is
 * quadratic, else as bytes. Invalid wide characters (lone surrogates, above U+10FFFF, half a unit
 * at the end) become U+FFFD. */
#include "base/utf.h"
#include "base/wide.h"
#include "layout/layout_program.h"

#define WIDE_BITS_MAX 4096u
#define LIMB_DIGITS 9u
#define LIMB_BASE 1000000000u

uint64_t step_load_bits(const struct step *step, const uint8_t *base, uint64_t at, uint64_t end)
{
    struct bits bits = bits_init(base, at, end);
    uint64_t x = step->flags & STEP_BIG ? bits_read_be(&bits, step->width)
                                        : bits_read_le(&bits, step->width);
    if (step->flags & STEP_REVERSED)
        x = bits_reverse(x, step->width);
    return step->flags & STEP_SIGNED ? (uint64_t)bits_sign_extend(x, step->width) : x;
}

/* --- Labels --- */

void layout_get_enum_value(const struct value_source *source, ttr_value *value)
{
    const struct step *step = source->step;
    const struct type_labels *labels = step->type->labels;
    const struct lookup *lookup = step->table;
    uint64_t number = value->v.u;
    uint32_t index = lookup_find(lookup, number);
    if (index == LOOKUP_NONE)
        return;
    value->text = labels->label[index].name;
    value->count = 1;
    uint32_t n = labels->n < LAYOUT_LABELS_SEARCHED_MAX ? labels->n : LAYOUT_LABELS_SEARCHED_MAX;
    for (uint32_t i = index + 1; lookup->has_overlaps && i < n && value->count < LAYOUT_LABELS_MAX;
         i++) {
        const struct type_label *label = &labels->label[i];
        value->count +=
            type_ranges_contain(label->ranges, label->ranges_n, labels->is_signed, number);
    }
}

static void get_flags_value(const struct value_source *source, ttr_value *value)
{
    const struct type_labels *labels = source->step->type->labels;
    const uint64_t *masks = source->step->table;
    uint32_t n = labels->n < LAYOUT_LABELS_SEARCHED_MAX ? labels->n : LAYOUT_LABELS_SEARCHED_MAX;
    for (uint32_t i = 0; i < n && value->count < LAYOUT_LABELS_MAX; i++) {
        if (!(masks[i] & value->v.u))
            continue;
        if (value->count++ == 0)
            value->text = labels->label[i].name;
    }
}

/* --- Bit access for values of any width --- */

/* Returns bit i of a value; bit 0 is the least significant. */
static unsigned get_bit_value(const struct value_source *source, uint64_t i)
{
    const struct step *step = source->step;
    bool is_big = step->flags & STEP_BIG;
    bool from_behind = is_big != ((step->flags & STEP_REVERSED) != 0);
    uint64_t x = source->at + (from_behind ? step->width - 1 - i : i);
    unsigned byte = source->base[x >> 3];
    return byte >> (is_big ? 7 - (x & 7) : x & 7) & 1;
}

static uint64_t load_value_bits(const struct value_source *source, uint64_t from, unsigned n)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < n; i++)
        x |= (uint64_t)get_bit_value(source, from + i) << i;
    return x;
}

/* Returns the bytes of a value in its own byte order. They are not copied if the value starts at a
 * byte boundary and its bits are not reversed. Returns false if memory runs out. */
static bool get_bytes_value(const struct value_source *source, ttr_value *value)
{
    const struct step *step = source->step;
    size_t n = (step->width + 7u) / 8u;
    value->type = TTR_TYPE_BYTES;
    value->hint = TTR_DISPLAY_RAW;
    value->bits = 0;
    if (!((source->at | step->width) & 7) && !(step->flags & STEP_REVERSED)) {
        value->text = (ttr_text){(const char *)source->base + (source->at >> 3), n};
        return true;
    }
    uint8_t *to = source->scratch ? arena_alloc(source->scratch, n) : NULL;
    value->text = (ttr_text){(const char *)to, to ? n : 0};
    for (size_t i = 0; to && i < n; i++) {
        uint64_t from = 8 * (uint64_t)i, left = step->width - from;
        to[step->flags & STEP_BIG ? n - 1 - i : i] =
            (uint8_t)load_value_bits(source, from, left < 8 ? (unsigned)left : 8);
    }
    return to != NULL;
}

static void get_bool_value(const struct value_source *source, ttr_value *value)
{
    struct bits bits = bits_init(source->base, source->at, source->at + source->step->width);
    bool is_big = source->step->flags & STEP_BIG;
    uint64_t any = 0;
    while (bits_left(&bits) > 0) {
        unsigned n = bits_left(&bits) < 64 ? (unsigned)bits_left(&bits) : 64;
        any |= is_big ? bits_read_be(&bits, n) : bits_read_le(&bits, n);
    }
    value->v.u = any != 0;
}

/* --- Floats --- */

static double convert_half_to_double(uint64_t half)
{
    uint64_t sign = half >> 15 & 1, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 0) {
        double x = (double)fraction * 0x1p-24;
        return sign ? -x : x;
    }
    exponent = exponent == 31 ? 2047 : exponent + 1008;
    return double_of_bits(sign << 63 | exponent << 52 | fraction << 42);
}

static double convert_quad_to_double(uint64_t high, uint64_t low)
{
    uint64_t sign = high & UINT64_C(1) << 63, fraction = high & UINT64_C(0xffffffffffff);
    int exponent = (int)(high >> 48 & 0x7fff) - 16383;
    if (exponent == 16384) {
        uint64_t quiet = fraction | low ? UINT64_C(1) << 51 : 0;
        return double_of_bits(sign | UINT64_C(0x7ff) << 52 | quiet | fraction << 4 | low >> 60);
    }
    if (exponent > 1023)
        return double_of_bits(sign | UINT64_C(0x7ff) << 52);
    if (exponent < -1075)
        return double_of_bits(sign);
    /* The top 64 bits of the significand. The lowest of these is sticky: set if any discarded bit
     * is. */
    uint64_t significand = UINT64_C(1) << 63 | fraction << 15 | low >> 49 | (low << 15 != 0);
    unsigned keep = exponent < -1022 ? (unsigned)(1075 + exponent) : 53;
    uint64_t kept = keep ? significand >> (64 - keep) : 0, rest = significand << keep,
             half = UINT64_C(1) << 63;
    kept += rest > half || (rest == half && (kept & 1));
    /* The addition lets a rounding overflow in `kept` carry into the exponent. */
    return double_of_bits(sign |
                          ((exponent < -1022 ? 0 : (uint64_t)(exponent + 1022) << 52) + kept));
}

static void get_float_value(const struct value_source *source, ttr_value *value)
{
    uint32_t width = source->step->width;
    uint64_t low = load_value_bits(source, 0, width < 64 ? width : 64);
    uint32_t single = (uint32_t)low;
    float f;
    memcpy(&f, &single, sizeof f);
    switch (width) {
    case 16:
        value->v.f = convert_half_to_double(low);
        return;
    case 32:
        value->v.f = (double)f;
        return;
    case 64:
        value->v.f = double_of_bits(low);
        return;
    case 128:
        value->v.f = convert_quad_to_double(load_value_bits(source, 64, 64), low);
        return;
    default:
        (void)get_bytes_value(source, value);
    }
}

/* --- Integers of more than 64 bits --- */

/* Converts n limbs (32 bits each, least significant first) to decimal text in `scratch`. Destroys
 * the limbs. Returns false if memory runs out. */
static bool format_limbs(uint32_t *limbs, size_t n, bool is_negative, struct arena *scratch,
                         ttr_text *text)
{
    size_t room = n * 10 + 2, at = room;
    char *to = scratch ? arena_alloc(scratch, room) : NULL;
    if (!to)
        return false;
    while (n > 0) {
        uint64_t rest = 0;
        for (size_t i = n; i-- > 0;) {
            uint64_t x = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(x / LIMB_BASE);
            rest = x % LIMB_BASE;
        }
        while (n > 0 && limbs[n - 1] == 0)
            n--;
        for (unsigned digit = 0; digit < LIMB_DIGITS && (n > 0 || rest > 0); digit++, rest /= 10)
            to[--at] = (char)('0' + rest % 10);
    }
    if (at == room)
        to[--at] = '0';
    if (is_negative)
        to[--at] = '-';
    *text = (ttr_text){to + at, room - at};
    return true;
}

static void negate_limbs(uint32_t *limbs, size_t n)
{
    uint64_t carry = 1;
    for (size_t i = 0; i < n; i++) {
        carry += (uint32_t)~limbs[i];
        limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Converts n limbs in two's complement to a text value. Returns false if memory runs out. */
static bool set_wide_value(uint32_t *limbs, size_t n, bool is_signed, struct arena *scratch,
                           ttr_value *value)
{
    bool is_negative = is_signed && limbs[n - 1] >> 31;
    if (is_negative)
        negate_limbs(limbs, n);
    while (n > 0 && limbs[n - 1] == 0)
        n--;
    ttr_text text;
    if (!format_limbs(limbs, n, is_negative, scratch, &text))
        return false;
    *value = (ttr_value){.text = text, .type = TTR_TYPE_TEXT, .hint = TTR_DISPLAY_DECIMAL};
    return true;
}

static void get_wide_integer_value(const struct value_source *source, ttr_value *value)
{
    uint32_t limbs[WIDE_BITS_MAX / 32 + 1], width = source->step->width;
    if (width > WIDE_BITS_MAX) {
        (void)get_bytes_value(source, value);
        return;
    }
    size_t n = (width + 31) / 32;
    for (size_t i = 0; i < n; i++) {
        uint32_t left = width - 32 * (uint32_t)i;
        limbs[i] = (uint32_t)load_value_bits(source, 32 * i, left < 32 ? left : 32);
    }
    bool is_signed = source->step->flags & STEP_SIGNED;
    if (is_signed && width % 32 && limbs[n - 1] >> (width % 32 - 1) & 1)
        limbs[n - 1] |= UINT32_MAX << width % 32;
    if (!set_wide_value(limbs, n, is_signed, source->scratch, value))
        (void)get_bytes_value(source, value);
}

/* --- LEB128 --- */

size_t layout_count_leb_bytes(const uint8_t *p, const uint8_t *end)
{
    for (const uint8_t *at = p; at < end; at++)
        if (*at < 0x80)
            return (size_t)(at - p) + 1;
    return 0;
}

bool layout_decode_leb(const uint8_t *p, size_t n, bool is_signed, uint64_t *value)
{
    bool is_negative = is_signed && p[n - 1] & 0x40;
    uint64_t x = is_negative ? UINT64_MAX : 0;
    unsigned padding = is_negative ? 0x7f : 0;
    for (size_t i = 0; i < n; i++) {
        unsigned group = p[i] & 0x7fu;
        if (i < 9)
            x = (x & ~(UINT64_C(0x7f) << 7 * i)) | (uint64_t)group << 7 * i;
        else if (i == 9)
            x = (x & UINT64_MAX >> 1) | (uint64_t)group << 63;
        /* A number fits in 64 bits if all bits above are copies of the sign. */
        if (i == 9 && (is_signed ? group != padding : group > 1))
            return false;
        if (i > 9 && group != padding)
            return false;
    }
    *value = x;
    return true;
}

void layout_get_leb_value(const struct value_source *source, size_t n, ttr_value *value)
{
    const uint8_t *p = source->base + (source->at >> 3);
    bool is_signed = source->step->type->kind == TYPE_VAR_INT;
    if (layout_decode_leb(p, n, is_signed, &value->v.u)) {
        if (source->step->table)
            layout_get_enum_value(source, value);
        return;
    }
    uint32_t limbs[WIDE_BITS_MAX / 32 + 1] = {0};
    if (n * 7 <= WIDE_BITS_MAX) {
        size_t limbs_n = n * 7 / 32 + 1;
        bool is_negative = is_signed && p[n - 1] & 0x40;
        for (size_t i = 0; i < limbs_n && is_negative; i++)
            limbs[i] = UINT32_MAX;
        for (size_t i = 0; i < n * 7; i++) {
            uint32_t bit = p[i / 7] >> i % 7 & 1u;
            limbs[i / 32] = (limbs[i / 32] & ~(UINT32_C(1) << i % 32)) | bit << i % 32;
        }
        if (set_wide_value(limbs, limbs_n, is_signed, source->scratch, value))
            return;
    }
    *value =
        (ttr_value){.text = {(const char *)p, n}, .type = TTR_TYPE_BYTES, .hint = TTR_DISPLAY_RAW};
}

/* --- Wide characters --- */

static uint32_t load_character(const uint8_t *p, unsigned encoding)
{
    switch (encoding) {
    case ENCODING_UTF16LE:
        return load_u16le(p);
    case ENCODING_UTF16BE:
        return load_u16be(p);
    case ENCODING_UTF32LE:
        return load_u32le(p);
    default:
        return load_u32be(p);
    }
}

/* Skips 2-byte characters, eight and then four at a time, while none of them is zero. */
static const uint8_t *skip_characters(const uint8_t *p, const uint8_t *end)
{
    typedef uint16_t wide __attribute__((vector_size(16)));
    typedef uint64_t lanes __attribute__((vector_size(16)));
    const uint64_t ones = UINT64_C(0x0001000100010001), highs = UINT64_C(0x8000800080008000);
    for (wide eight; end - p >= 16; p += 16) {
        memcpy(&eight, p, sizeof eight);
        lanes zeros = (lanes)(eight == (wide){0});
        if (zeros[0] | zeros[1])
            break;
    }
    for (uint64_t four; end - p >= 8; p += 8) {
        memcpy(&four, p, sizeof four);
        if ((four - ones) & ~four & highs)
            break;
    }
    return p;
}

size_t layout_count_wide_bytes(const uint8_t *p, const uint8_t *end, unsigned unit)
{
    if (unit == 1) {
        const uint8_t *zero = find_zero(p, p, end);
        return zero ? (size_t)(zero - p) : SIZE_MAX;
    }
    const uint8_t *begin = p;
    if (unit == 2)
        p = skip_characters(p, end);
    for (const uint8_t *at = p; (size_t)(end - at) >= unit; at += unit)
        if ((unit == 2 ? load_u16le(at) : load_u32le(at)) == 0)
            return (size_t)(at - begin);
    return SIZE_MAX;
}

/* Converts UTF-16 text that is ASCII, up to its terminating zero, in one pass. Returns SIZE_MAX if
 * the text has other characters, or if memory runs out. */
static size_t convert_ascii16(const struct value_source *source, ttr_value *value)
{
    const uint8_t *p = source->base + (source->at >> 3), *end = source->base + (source->end >> 3);
    const size_t room = (size_t)(end - p) / 2 + 8;
    char *spare = source->scratch ? arena_next_free(source->scratch, room) : NULL;
    if (spare) {
        const size_t n = utf8_from_ascii16(spare, source->base, p, end);
        value->text = (ttr_text){spare, n};
        if (n == SIZE_MAX)
            return n;
        arena_commit(source->scratch, n);
        return 2 * n;
    }
    char *to = source->scratch ? arena_alloc(source->scratch, room) : NULL;
    if (!to)
        return SIZE_MAX;
    const size_t n = utf8_from_ascii16(to, source->base, p, end);
    arena_shrink_last(source->scratch, to, n < room ? n : 0);
    value->text = (ttr_text){to, n};
    return n == SIZE_MAX ? n : 2 * n;
}

size_t layout_get_wide_string(const struct value_source *source, ttr_value *value)
{
    const uint8_t *p = source->base + (source->at >> 3), *end = source->base + (source->end >> 3);
    const bool is_usual = source->step->load == ENCODING_UTF16LE;
    size_t n = is_usual ? convert_ascii16(source, value) : SIZE_MAX;
    if (n != SIZE_MAX)
        return n;
    n = layout_count_wide_bytes(p, end, source->step->width);
    char *to = n != SIZE_MAX && is_usual && source->scratch
                   ? arena_alloc(source->scratch, n + n / 2 + 3)
                   : NULL;
    if (to)
        value->text = (ttr_text){to, utf8_from_utf16le(to, p, n / 2)};
    else if (n != SIZE_MAX)
        layout_get_wide_text(source, n, value);
    return n;
}

void layout_get_wide_text(const struct value_source *source, size_t n, ttr_value *value)
{
    unsigned encoding = source->step->load,
             unit = encoding == ENCODING_UTF16LE || encoding == ENCODING_UTF16BE ? 2 : 4;
    const uint8_t *p = source->base + (source->at >> 3), *end = p + n;
    /* UTF-8 needs at most 3 bytes per 2-byte unit, 4 per 4-byte unit, and 3 for the replacement of
     * an incomplete unit at the end. */
    char *to = source->scratch && n < SIZE_MAX / 2 - 8 ? arena_alloc(source->scratch, n + n / 2 + 3)
                                                       : NULL;
    if (!to) {
        value->type = TTR_TYPE_BYTES;
        value->text = (ttr_text){(const char *)p, n};
        return;
    }
    size_t at = 0;
    if (encoding == ENCODING_UTF16LE) {
        size_t whole = n & ~(size_t)1, length = layout_count_wide_bytes(p, p + whole, 2);
        length = length == SIZE_MAX ? whole : length;
        at = utf8_from_utf16le(to, p, length / 2);
        p = length < whole ? end : p + whole;
    }
    while (p < end) {
        if ((size_t)(end - p) < unit) {
            at += utf8_encode(to + at, 0xfffd);
            break;
        }
        uint32_t c = load_character(p, encoding);
        if (c == 0)
            break;
        p += unit;
        uint32_t low =
            unit == 2 && c >> 10 == 0x36 && end - p >= 2 ? load_character(p, encoding) : 0;
        if (low >> 10 == 0x37) {
            c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
            p += unit;
        }
        at += utf8_encode(to + at, c);
    }
    value->text = (ttr_text){to, at};
}

/* --- Fixed-size values --- */

void layout_get_fixed_value(const struct value_source *source, ttr_value *value)
{
    const struct step *step = source->step;
    switch (step->code) {
    case FIELD_FLOAT:
        get_float_value(source, value);
        break;
    case FIELD_BOOL:
        get_bool_value(source, value);
        break;
    case FIELD_WIDE:
        get_wide_integer_value(source, value);
        break;
    case FIELD_FLAGS:
        value->v.u = step_load(step, source->base, source->at, source->end);
        get_flags_value(source, value);
        break;
    case FIELD_TEXT_WIDE:
        layout_get_wide_text(source, (size_t)step->count, value);
        break;
    default:
        value->text =
            (ttr_text){(const char *)source->base + (source->at >> 3), (size_t)step->count};
        break; /* FIELD_BLOB */
    }
}
