/* The assembler of golden vectors.  The text is run twice, so that numbers may name labels that
 * come later: nothing but numbers depends on a label, hence every label has its final place after
 * the first run. Left out: any knowledge of a format, because a vector is written from the
 * specification and not from our code. */
#include "support/hexa.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (64u << 20) /* a vector beyond this is a slip of the pen */
#define DEPTH_MAX 8

struct assembler {
    const char *text, *p, *end;
    struct hexa *out;
    size_t capacity;
    unsigned depth;
    bool is_first_run,
        is_repeating; /* labels are set in the first run, by the first round of a repeat */
    char *message;
    size_t message_size;
};

struct directive {
    const char *name;
    bool (*run)(struct assembler *a, const struct directive *directive);
    unsigned bytes;
    bool is_big_endian;
};

static bool refuse(struct assembler *a, const char *format, ...) TTR_PRINTF(2, 3);

static bool refuse(struct assembler *a, const char *format, ...)
{
    unsigned line = 1;
    for (const char *at = a->text; at < a->p; at++)
        line += *at == '\n';
    int used = snprintf(a->message, a->message_size, "line %u: ", line);
    va_list values;
    va_start(values, format);
    if (used > 0 && (size_t)used < a->message_size)
        (void)vsnprintf(a->message + used, a->message_size - (size_t)used, format, values);
    va_end(values);
    return false;
}

/* Memory is never short in a test: when it is, the test cannot go on. */
static void *grow(void *block, size_t count, size_t size)
{
    void *larger = realloc(block, count * size + 1);
    if (!larger)
        abort();
    return larger;
}

static char *copy(const char *p, size_t n)
{
    char *text = grow(NULL, n, 1);
    memcpy(text, p, n);
    text[n] = '\0';
    return text;
}

static bool emit(struct assembler *a, const void *bytes, size_t n)
{
    struct hexa *out = a->out;
    if (n > BYTES_MAX - out->n)
        return refuse(a, "more than %u bytes", BYTES_MAX);
    if (out->n + n > a->capacity) {
        a->capacity = 2 * (out->n + n);
        out->bytes = grow(out->bytes, a->capacity, 1);
    }
    if (n)
        memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
    return true;
}

static bool emit_integer(struct assembler *a, uint64_t x, unsigned bytes, bool is_big_endian)
{
    uint8_t word[8];
    for (unsigned i = 0; i < bytes; i++)
        word[is_big_endian ? bytes - 1 - i : i] = (uint8_t)(x >> (8 * i));
    return emit(a, word, bytes);
}

static void skip_space(struct assembler *a)
{
    while (a->p < a->end && (isspace((unsigned char)*a->p) || *a->p == '#')) {
        if (*a->p == '#')
            while (a->p < a->end && *a->p != '\n')
                a->p++;
        else
            a->p++;
    }
}

static bool take_if(struct assembler *a, char expected)
{
    bool is_there = a->p < a->end && *a->p == expected;
    a->p += is_there;
    return is_there;
}

/* Letters, digits and '_': a directive, a label, or the digits of a number. */
static size_t word_length(const struct assembler *a)
{
    const char *at = a->p;
    while (at < a->end && (isalnum((unsigned char)*at) || *at == '_'))
        at++;
    return (size_t)(at - a->p);
}

static bool is_word(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(p, word, n) == 0;
}

static bool take_label(struct assembler *a, uint64_t *x)
{
    size_t n = word_length(a);
    char *name = copy(a->p, n);
    *x = hexa_label(a->out, name);
    free(name);
    if (*x == HEXA_NO_OFFSET && !a->is_first_run)
        return refuse(a, "no label @%.*s", (int)n, a->p);
    if (*x == HEXA_NO_OFFSET)
        *x = 0;
    a->p += n;
    return true;
}

static bool take_digits(struct assembler *a, uint64_t *x)
{
    size_t n = word_length(a);
    bool is_hex = n > 2 && a->p[0] == '0' && a->p[1] == 'x';
    char *digits = copy(a->p, n), *rest = digits;
    errno = 0;
    *x = n ? strtoull(digits, &rest, is_hex ? 16 : 10) : 0;
    bool is_number = n > 0 && *rest == '\0' && errno == 0;
    free(digits);
    if (!is_number)
        return refuse(a, "'%.*s' is not a 64-bit number", (int)n, a->p);
    a->p += n;
    return true;
}

/* [+-] term {(+|-) term} without spaces, where a term is digits or @label; wraps at 2^64 like two's
 * complement does. */
static bool take_number(struct assembler *a, uint64_t *x)
{
    skip_space(a);
    *x = 0;
    do {
        bool is_minus = take_if(a, '-');
        if (!is_minus)
            take_if(a, '+');
        uint64_t term;
        if (!(take_if(a, '@') ? take_label(a, &term) : take_digits(a, &term)))
            return false;
        *x = is_minus ? *x - term : *x + term;
    } while (a->p < a->end && (*a->p == '+' || *a->p == '-'));
    return true;
}

/* Whether x, unsigned or as two's complement, has a place in so many bits. */
static bool fits(uint64_t x, unsigned bits)
{
    return bits >= 64 || x >> bits == 0 || x >= UINT64_MAX - (UINT64_C(1) << (bits - 1)) + 1;
}

static bool run_integer(struct assembler *a, const struct directive *directive)
{
    uint64_t x;
    if (!take_number(a, &x))
        return false;
    if (!fits(x, 8 * directive->bytes) && !a->is_first_run)
        return refuse(a, "%lld does not fit %s", (long long)x, directive->name);
    return emit_integer(a, x, directive->bytes, directive->is_big_endian);
}

/* Seven bits a byte, lowest first. */
static bool run_varint(struct assembler *a, const struct directive *directive)
{
    (void)directive;
    uint64_t x;
    bool is_good = take_number(a, &x);
    for (; is_good && x > 0x7f; x >>= 7)
        is_good = emit_integer(a, (x & 0x7f) | 0x80, 1, false);
    return is_good && emit_integer(a, x, 1, false);
}

static bool run_float(struct assembler *a, const struct directive *directive)
{
    skip_space(a);
    char digits[64] = "", *rest;
    size_t n = strcspn(a->p, " \t\r\n#}");
    if (n > 0 && n < sizeof digits && n <= (size_t)(a->end - a->p))
        memcpy(digits, a->p, n);
    double x = strtod(digits, &rest);
    if (rest == digits || *rest)
        return refuse(a, "'%s' is not a number", digits);
    a->p += n;
    float narrow = (float)x;
    uint32_t bits32;
    uint64_t bits64;
    memcpy(&bits32, &narrow, sizeof bits32);
    memcpy(&bits64, &x, sizeof bits64);
    return emit_integer(a, directive->bytes == 4 ? bits32 : bits64, directive->bytes,
                        directive->is_big_endian);
}

/* One character of a string, its escape undone. */
static bool take_character(struct assembler *a, uint8_t *byte)
{
    static const char names[] = "ntr0\\\"", values[] = "\n\t\r\0\\\"";
    if (*a->p != '\\') {
        *byte = (uint8_t)*a->p++;
        return true;
    }
    const char *name = a->p + 1 < a->end && a->p[1] ? strchr(names, a->p[1]) : NULL;
    if (name) {
        *byte = (uint8_t)values[name - names];
        a->p += 2;
        return true;
    }
    if (a->end - a->p < 4 || a->p[1] != 'x' || !isxdigit((unsigned char)a->p[2]) ||
        !isxdigit((unsigned char)a->p[3]))
        return refuse(a, "escapes are \\n \\t \\r \\0 \\\\ \\\" and \\xNN");
    *byte = (uint8_t)strtoul((char[]){a->p[2], a->p[3], '\0'}, NULL, 16);
    a->p += 4;
    return true;
}

/* The bytes of a "string"; each becomes `width` bytes, zeros after it (or before it when
 * big-endian). */
static bool emit_text(struct assembler *a, unsigned width, bool is_big_endian)
{
    skip_space(a);
    if (!take_if(a, '"'))
        return refuse(a, "a \"string\" is missing");
    while (a->p < a->end && *a->p != '"' && *a->p != '\n') {
        uint8_t byte = 0;
        if (!take_character(a, &byte) || !emit_integer(a, byte, width, is_big_endian))
            return false;
    }
    return take_if(a, '"') || refuse(a, "the string does not end on its line");
}

/* `bytes` is the width of the length in front, 0 for none. */
static bool run_string(struct assembler *a, const struct directive *directive)
{
    size_t before = a->out->n;
    if (!emit_integer(a, 0, directive->bytes, false) || !emit_text(a, 1, false))
        return false;
    size_t after = a->out->n, length = after - before - directive->bytes;
    if (directive->bytes == 0)
        return true;
    if (!fits(length, 8 * directive->bytes))
        return refuse(a, "a length of %zu does not fit %s", length, directive->name);
    a->out->n = before;
    bool is_good = emit_integer(a, length, directive->bytes, directive->is_big_endian);
    a->out->n = after;
    return is_good;
}

static bool run_utf16(struct assembler *a, const struct directive *directive)
{
    return emit_text(a, 2, directive->is_big_endian);
}

static bool emit_zeros(struct assembler *a, uint64_t n)
{
    if (n > BYTES_MAX)
        return refuse(a, "more than %u bytes", BYTES_MAX);
    bool is_good = true;
    while (is_good && n--)
        is_good = emit_integer(a, 0, 1, false);
    return is_good;
}

static bool run_zeros(struct assembler *a, const struct directive *directive)
{
    (void)directive;
    uint64_t n;
    return take_number(a, &n) && emit_zeros(a, n);
}

static bool run_pad(struct assembler *a, const struct directive *directive)
{
    (void)directive;
    uint64_t unit;
    if (!take_number(a, &unit))
        return false;
    return unit ? emit_zeros(a, (unit - a->out->n % unit) % unit) : refuse(a, "pad 0");
}

/* One field of a word, "[first..last]=number" with bit 0 the lowest, or "[bit]=number". */
static bool take_field(struct assembler *a, unsigned bits, uint64_t *word, uint64_t *used)
{
    uint64_t first, last, x;
    if (!take_number(a, &first))
        return false;
    last = first;
    if (take_if(a, '.') && (!take_if(a, '.') || !take_number(a, &last)))
        return refuse(a, "a field is [first..last]=number");
    if (!take_if(a, ']') || !take_if(a, '=') || last < first || last >= bits)
        return refuse(a, "a field is [first..last]=number within %u bits", bits);
    if (!take_number(a, &x))
        return false;
    unsigned width = (unsigned)(last - first + 1);
    uint64_t mask = (width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1) << first;
    if (*used & mask)
        return refuse(a, "bits %u..%u overlap an earlier field", (unsigned)first, (unsigned)last);
    if (!fits(x, width) && !a->is_first_run)
        return refuse(a, "%lld does not fit %u bits", (long long)x, width);
    *used |= mask;
    *word |= (x << first) & mask;
    return true;
}

static bool run_word(struct assembler *a, const struct directive *directive)
{
    uint64_t word = 0, used = 0;
    for (skip_space(a); take_if(a, '['); skip_space(a))
        if (!take_field(a, 8 * directive->bytes, &word, &used))
            return false;
    return emit_integer(a, word, directive->bytes, directive->is_big_endian);
}

static bool run_items(struct assembler *a);

/* repeat N { items } */
static bool run_repeat(struct assembler *a, const struct directive *directive)
{
    (void)directive;
    uint64_t count;
    if (!take_number(a, &count))
        return false;
    skip_space(a);
    if (count == 0 || !take_if(a, '{'))
        return refuse(a, "repeat N { ... } with N from 1");
    if (++a->depth > DEPTH_MAX)
        return refuse(a, "more than %u repeats inside one another", DEPTH_MAX);
    const char *body = a->p;
    bool was_repeating = a->is_repeating;
    for (uint64_t i = 0; i < count; i++) {
        a->p = body;
        a->is_repeating = was_repeating || i > 0;
        if (!run_items(a))
            return false;
    }
    a->is_repeating = was_repeating;
    a->depth--;
    return true;
}

static bool run_label(struct assembler *a)
{
    size_t n = word_length(a);
    if (n == 0)
        return refuse(a, "a label needs a name");
    if (a->is_first_run && !a->is_repeating) {
        char *name = copy(a->p, n);
        if (hexa_label(a->out, name) != HEXA_NO_OFFSET) {
            free(name);
            return refuse(a, "the label @%.*s is there twice", (int)n, a->p);
        }
        a->out->labels = grow(a->out->labels, a->out->labels_n + 1, sizeof *a->out->labels);
        a->out->labels[a->out->labels_n++] = (struct hexa_label){name, a->out->n};
    }
    a->p += n;
    return true;
}

static bool run_hex(struct assembler *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isxdigit((unsigned char)a->p[i]) || n % 2)
            return refuse(a, "'%.*s' is neither a directive nor whole hex bytes", (int)n, a->p);
    for (; n; n -= 2, a->p += 2)
        if (!emit_integer(a, strtoul((char[]){a->p[0], a->p[1], '\0'}, NULL, 16), 1, false))
            return false;
    return true;
}

static bool run_item(struct assembler *a)
{
    static const struct directive directives[] = {
        {"u8", run_integer, 1, false},     {"u16le", run_integer, 2, false},
        {"u16be", run_integer, 2, true},   {"u32le", run_integer, 4, false},
        {"u32be", run_integer, 4, true},   {"u64le", run_integer, 8, false},
        {"u64be", run_integer, 8, true},   {"f32le", run_float, 4, false},
        {"f32be", run_float, 4, true},     {"f64le", run_float, 8, false},
        {"f64be", run_float, 8, true},     {"varint", run_varint, 0, false},
        {"str", run_string, 0, false},     {"str8", run_string, 1, false},
        {"str16le", run_string, 2, false}, {"str16be", run_string, 2, true},
        {"str32le", run_string, 4, false}, {"str32be", run_string, 4, true},
        {"utf16le", run_utf16, 2, false},  {"utf16be", run_utf16, 2, true},
        {"pad", run_pad, 0, false},        {"zeros", run_zeros, 0, false},
        {"word32le", run_word, 4, false},  {"word32be", run_word, 4, true},
        {"word64le", run_word, 8, false},  {"word64be", run_word, 8, true},
        {"repeat", run_repeat, 0, false},
    };
    if (take_if(a, '@'))
        return run_label(a);
    size_t n = word_length(a);
    if (n == 0)
        return refuse(a, "'%c' is not expected here", *a->p);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (is_word(a->p, n, directives[i].name)) {
            a->p += n;
            return directives[i].run(a, &directives[i]);
        }
    return run_hex(a, n);
}

/* Runs items to the end of the text, or inside a repeat to its closing brace. */
static bool run_items(struct assembler *a)
{
    for (skip_space(a); a->p < a->end; skip_space(a)) {
        if (a->depth > 0 && take_if(a, '}'))
            return true;
        if (!run_item(a))
            return false;
    }
    return a->depth == 0 || refuse(a, "a } is missing");
}

static void add_ids(struct hexa *out, const char *at, const char *end)
{
    while (at < end) {
        size_t n = strcspn(at, " \t\r\n");
        if (n > 0) {
            out->ids = grow(out->ids, out->ids_n + 1, sizeof *out->ids);
            out->ids[out->ids_n++] = copy(at, n);
        }
        at += n + 1;
    }
}

/* One line "#: key value"; `a->p` stands behind the "#:". */
static bool run_header(struct assembler *a, const char *end)
{
    a->p += strspn(a->p, " ");
    const char *key = a->p, *value = key + word_length(a);
    size_t key_n = (size_t)(value - key);
    value += strspn(value, " ");
    size_t value_n = strcspn(value, "\r\n");
    char **text = NULL;
    if (is_word(key, key_n, "title"))
        text = &a->out->title;
    else if (is_word(key, key_n, "status"))
        text = &a->out->status;
    if (text) {
        free(*text);
        *text = copy(value, value_n);
        return true;
    }
    if (is_word(key, key_n, "id")) {
        add_ids(a->out, value, end);
        return true;
    }
    uint64_t *number = is_word(key, key_n, "offset")   ? &a->out->offset
                       : is_word(key, key_n, "damage") ? &a->out->damage
                       : is_word(key, key_n, "limit")  ? &a->out->max_record
                                                       : NULL;
    if (!number)
        return refuse(a, "'#: %.*s' is not one of id, title, status, offset, damage, limit",
                      (int)key_n, key);
    a->p = value;
    return take_number(a, number);
}

static bool run_headers(struct assembler *a)
{
    a->is_first_run = false;
    for (const char *line = a->text, *end; line < a->end; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        a->p = line + 2;
        if (strncmp(line, "#:", 2) == 0 && !run_header(a, end))
            return false;
    }
    return true;
}

static bool run_text(struct assembler *a, bool is_first_run)
{
    a->p = a->text;
    a->depth = 0;
    a->is_first_run = is_first_run;
    a->is_repeating = false;
    a->out->n = 0;
    return run_items(a);
}

/* The place of the line "---", or the end of the text; what follows the line is what the vector
 * expects. */
static const char *split_expect(struct hexa *out, const char *text)
{
    const char *line = text;
    while (*line) {
        const char *end = line + strcspn(line, "\n");
        const char *next = *end ? end + 1 : end;
        if (strncmp(line, "---", 3) == 0 && strspn(line, "-\r") == (size_t)(end - line)) {
            out->expect = copy(next, strlen(next));
            break;
        }
        line = next;
    }
    return line;
}

bool hexa_parse(const char *text, size_t n, struct hexa *out, char *message, size_t message_size)
{
    *out = (struct hexa){.title = copy("", 0), .status = copy("", 0), .offset = HEXA_NO_OFFSET};
    char *ctx = copy(text, n);
    struct assembler a = {
        .text = ctx, .out = out, .message = message, .message_size = message_size};
    a.end = split_expect(out, ctx);
    bool is_good = run_text(&a, true) && run_text(&a, false) && run_headers(&a);
    free(ctx);
    return is_good;
}

bool hexa_load(const char *path, struct hexa *out, char *message, size_t message_size)
{
    *out = (struct hexa){.offset = HEXA_NO_OFFSET};
    FILE *file = fopen(path, "rb");
    if (!file) {
        (void)snprintf(message, message_size, "%s: %s", path, strerror(errno));
        return false;
    }
    char *text = NULL;
    size_t n = 0, got;
    do {
        text = grow(text, n + 4096, 1);
        got = fread(text + n, 1, 4096, file);
        n += got;
    } while (got > 0);
    (void)fclose(file);
    char reason[200] = "";
    bool is_good = hexa_parse(text, n, out, reason, sizeof reason);
    free(text);
    if (!is_good)
        (void)snprintf(message, message_size, "%s: %s", path, reason);
    return is_good;
}

uint64_t hexa_label(const struct hexa *hexa, const char *name)
{
    for (size_t i = 0; i < hexa->labels_n; i++)
        if (strcmp(hexa->labels[i].name, name) == 0)
            return hexa->labels[i].offset;
    return HEXA_NO_OFFSET;
}

void hexa_free(struct hexa *hexa)
{
    for (size_t i = 0; i < hexa->labels_n; i++)
        free(hexa->labels[i].name);
    for (size_t i = 0; i < hexa->ids_n; i++)
        free(hexa->ids[i]);
    free(hexa->labels);
    free(hexa->ids);
    free(hexa->bytes);
    free(hexa->title);
    free(hexa->status);
    free(hexa->expect);
    *hexa = (struct hexa){.offset = HEXA_NO_OFFSET};
}
