/* Fields.  A value that was chosen by an optional or a variant stands in braces of its own, as do structs; what has to be closed behind
 * a value is kept by level.
 * Left out: nesting below 64 levels is flattened. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "encodings/put.h"
#include "formats/babeltrace2/babeltrace2.h"
#include "model/type.h"

#define DEPTH_MAX 64u

struct level {
    bool is_array;
    uint8_t choices;  /* braces to close behind it */
    uint64_t printed; /* members or elements so far */
};

struct walk {
    struct buffer *to;
    const ttr_fields *fields;
    bool with_names, with_color;
    unsigned depth; /* level[0 .. depth] are open */
    struct level level[DEPTH_MAX + 1];
};

static void color(const struct walk *walk, const char *code)
{
    if (walk->with_color)
        buffer_add_text(walk->to, code);
}

/* The length of the run that needs no backslash. */
static size_t plain_run(const uint8_t *p, size_t n)
{
    size_t at = 0;
    while (at < n && p[at] >= 0x20 && p[at] != 0x7f && p[at] != '\\' && p[at] != '\'' && p[at] != '"' && p[at] != '?')
        at++;
    return at;
}

static void add_special(struct buffer *to, uint8_t byte)
{
    static const char letters[256] = {['\\'] = '\\', ['\''] = '\'', ['"'] = '"', ['?'] = '?',  ['\a'] = 'a', ['\b'] = 'b',
                                      [0x1b] = 'e',  ['\f'] = 'f',  ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['\v'] = 'v'};
    if (letters[byte])
        buffer_add(to, (const char[2]){'\\', letters[byte]}, 2);
    else
        buffer_add(to, (const char[4]){'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]}, 4);
}

/* A text in quotes, up to its first zero. */
static void add_quoted(struct buffer *to, ttr_text text)
{
    const uint8_t *p = (const uint8_t *)text.p;
    size_t n = strnlen(text.p, text.n);
    buffer_add_byte(to, '"');
    while (n > 0) {
        size_t run = plain_run(p, n);
        buffer_add(to, p, run);
        if (run < n)
            add_special(to, p[run++]);
        p += run;
        n -= run;
    }
    buffer_add_byte(to, '"');
}

/* Digits of a number in base 2, 8 or 16: one a character, the highest first. */
static void add_digits(struct buffer *to, uint64_t x, unsigned shift, unsigned n)
{
    char *at = (char *)buffer_room(to, 64);
    if (!at)
        return;
    for (unsigned i = 0; i < n; i++)
        at[i] = "0123456789ABCDEF"[x >> shift * (n - 1 - i) & ((1u << shift) - 1)];
    buffer_filled(to, n);
}

static unsigned digits_of(uint64_t x, unsigned shift)
{
    unsigned n = 1;
    while (n < 64 / shift + (64 % shift != 0) && x >> shift * n)
        n++;
    return n;
}

/* The lowest `bits` of a number, rounded up to whole digits of `per` bits. */
static uint64_t masked(uint64_t x, unsigned bits, unsigned per)
{
    unsigned rounded = (bits + per - 1) / per * per;
    return bits < 64 && rounded < 64 ? x & ((UINT64_C(1) << rounded) - 1) : x;
}

static void add_integer(struct buffer *to, const ttr_value *value)
{
    unsigned bits = value->bits && value->bits <= 64 ? value->bits : 64;
    uint64_t x = value->v.u;
    char *at;
    switch (value->base) {
    case 2:
        buffer_add(to, "0b", 2);
        add_digits(to, x, 1, bits);
        return;
    case 8:
        x = value->type == TTR_TYPE_INT ? masked(x, bits, 3) : x;
        buffer_add_byte(to, '0');
        add_digits(to, x, 3, digits_of(x, 3));
        return;
    case 16:
        x = masked(x, bits, 4);
        buffer_add(to, "0x", 2);
        add_digits(to, x, 4, digits_of(x, 4));
        return;
    default:
        at = (char *)buffer_room(to, NUMBER_MAX);
        if (at)
            buffer_filled(to, value->type == TTR_TYPE_INT ? number_put_i64(at, value->v.s) : number_put_u64(at, x));
    }
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
    if (scaled < 99999 || scaled >= 999999 || (part > 0.499999 && part < 0.500001))
        return 0;
    whole += part > 0.5;
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

static void add_float(struct buffer *to, double x)
{
    char *at = (char *)buffer_room(to, NUMBER_MAX);
    if (!at)
        return;
    size_t n = put_plain_float(at, x);
    if (n == 0)
        n = (size_t)snprintf(at, NUMBER_MAX, "%g", x);
    buffer_filled(to, n);
}

static void add_labels(struct walk *walk, const ttr_value *value)
{
    ttr_text label;
    if (value->count > 1)
        buffer_add(walk->to, "{ ", 2);
    for (uint32_t i = 0; i < value->count && ttr_fields_label(walk->fields, value, i, &label); i++) {
        if (i > 0)
            buffer_add(walk->to, ", ", 2);
        color(walk, COLOR_VALUE);
        add_quoted(walk->to, label);
        color(walk, COLOR_OFF);
    }
    if (value->count > 1)
        buffer_add(walk->to, " }", 2);
}

static void add_enum(struct walk *walk, const ttr_value *value)
{
    buffer_add(walk->to, "( ", 2);
    if (value->count > 0) {
        add_labels(walk, value);
    } else {
        color(walk, COLOR_UNKNOWN);
        buffer_add_text(walk->to, "<unknown>");
        color(walk, COLOR_OFF);
    }
    buffer_add_text(walk->to, " : container = ");
    color(walk, COLOR_VALUE);
    add_integer(walk->to, value);
    color(walk, COLOR_OFF);
    buffer_add(walk->to, " )", 2);
}

/* Bytes: "{ 59 6f }". */
static void add_bytes(struct walk *walk, ttr_text bytes)
{
    char *at = (char *)buffer_room(walk->to, 3 * bytes.n + 4), *begin = at;
    if (!at)
        return;
    *at++ = '{';
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t byte = (uint8_t)bytes.p[i];
        *at++ = ' ';
        *at++ = "0123456789abcdef"[byte >> 4];
        *at++ = "0123456789abcdef"[byte & 15];
    }
    at = put_text(at, " }");
    buffer_filled(walk->to, (size_t)(at - begin));
}

/* A bit map: 0xA2 { "a", "b" }. */
static void add_flags(struct walk *walk, const ttr_value *value)
{
    color(walk, COLOR_VALUE);
    buffer_add(walk->to, "0x", 2);
    add_digits(walk->to, value->v.u, 4, digits_of(value->v.u, 4));
    color(walk, COLOR_OFF);
    buffer_add(walk->to, " {", 2);
    for (uint32_t i = 0; i < value->count; i++) {
        ttr_text label = {"", 0};
        (void)ttr_fields_label(walk->fields, value, i, &label);
        buffer_add(walk->to, i ? ", " : " ", i ? 2 : 1);
        add_quoted(walk->to, label);
    }
    buffer_add(walk->to, " }", 2);
}

/* A value that opens no level. */
static void add_scalar(struct walk *walk, const ttr_value *value)
{
    struct buffer *to = walk->to;
    if (value->hint == TTR_HINT_ENUM && (value->type == TTR_TYPE_UINT || value->type == TTR_TYPE_INT)) {
        add_enum(walk, value);
        return;
    }
    if (value->hint == TTR_HINT_FLAGS && value->type == TTR_TYPE_UINT) {
        add_flags(walk, value);
        return;
    }
    if (value->type == TTR_TYPE_BYTES) {
        add_bytes(walk, value->text);
        return;
    }
    if (value->type == TTR_TYPE_NULL) {
        buffer_add_text(to, "<none>");
        return;
    }
    color(walk, COLOR_VALUE);
    if (value->type == TTR_TYPE_BOOL)
        buffer_add_text(to, value->v.u ? "true" : "false");
    else if (value->type == TTR_TYPE_FLOAT)
        add_float(to, value->v.f);
    else if (value->type == TTR_TYPE_TEXT && value->hint == TTR_HINT_NUMBER)
        buffer_add(to, value->text.p, value->text.n);
    else if (value->type == TTR_TYPE_TEXT)
        add_quoted(to, value->text);
    else
        add_integer(to, value);
    color(walk, COLOR_OFF);
}

static void close_choices(struct walk *walk, unsigned choices)
{
    while (choices-- > 0)
        buffer_add(walk->to, " }", 2);
}

static void close_level(struct walk *walk)
{
    const struct level *level = &walk->level[walk->depth--];
    buffer_add(walk->to, level->is_array ? " ]" : " }", 2);
    close_choices(walk, level->choices);
}

static void open_level(struct walk *walk, bool is_array, uint8_t choices)
{
    buffer_add_byte(walk->to, is_array ? '[' : '{');
    walk->level[++walk->depth] = (struct level){.is_array = is_array, .choices = choices};
}

static void add_name(struct walk *walk, const ttr_field *field)
{
    struct level *level = &walk->level[walk->depth];
    uint64_t index = level->printed++;
    char *at = (char *)buffer_room(walk->to, field->name.n + NUMBER_MAX + 32);
    if (!at)
        return;
    char *begin = at;
    at = put_text(at, index ? ", " : " ");
    if (walk->with_names && level->is_array) {
        at = put_text(put_u64(put_text(at, "["), index), "] = ");
    } else if (walk->with_names) {
        at = put_text(at, walk->with_color ? COLOR_FIELD : "");
        at = put_piece(at, field->name);
        at = put_text(at, walk->with_color ? COLOR_OFF " = " : " = ");
    }
    buffer_filled(walk->to, (size_t)(at - begin));
}

/* One field; `depth` 0 is the part itself. */
static void add_field(struct walk *walk, const ttr_field *field)
{
    while (walk->depth > field->depth)
        close_level(walk);
    add_name(walk, field);
    bool is_absent = field->value.hint == TTR_HINT_ABSENT;
    unsigned choices = field->choices - (is_absent && field->choices > 0 ? 1u : 0u);
    for (unsigned i = 0; i < choices; i++)
        buffer_add(walk->to, "{ ", 2);
    bool is_open = field->value.type == TTR_TYPE_STRUCT || field->value.type == TTR_TYPE_ARRAY;
    if (is_open && walk->depth < DEPTH_MAX) {
        open_level(walk, field->value.type == TTR_TYPE_ARRAY, (uint8_t)choices);
        return;
    }
    add_scalar(walk, &field->value);
    close_choices(walk, choices);
}

/* Parts in order, with whether the one before has been closed. */
struct parts {
    struct walk walk;
    const struct babeltrace2_names *names;
    const struct event_class *event_class;
    bool has_part, is_open;
    unsigned next; /* part that comes next, see `order` */
};

static const struct part {
    ttr_group group;
    enum type_root root;
    const char *scope;
} order[] = {
    {TTR_GROUP_PACKET, ROOT_PACKET_CONTEXT, "stream.packet.context"},
    {TTR_GROUP_COMMON, ROOT_COMMON_CONTEXT, "stream.event.context"},
    {TTR_GROUP_CONTEXT, ROOT_SPECIFIC_CONTEXT, "event.context"},
    {TTR_GROUP_PAYLOAD, ROOT_PAYLOAD, "event.fields"},
};

#define PARTS (sizeof order / sizeof *order)

static void close_part(struct parts *parts)
{
    struct walk *walk = &parts->walk;
    while (parts->is_open && walk->depth > 0)
        close_level(walk);
    if (parts->is_open)
        buffer_add(walk->to, " }", 2);
    parts->is_open = false;
}

static void open_part(struct parts *parts, const struct part *part)
{
    struct walk *walk = &parts->walk;
    close_part(parts);
    if (parts->has_part)
        buffer_add(walk->to, ", ", 2);
    if (parts->names->scope) {
        color(walk, COLOR_SCOPE);
        buffer_add_text(walk->to, part->scope);
        color(walk, COLOR_OFF);
        buffer_add_text(walk->to, " = ");
    }
    buffer_add_byte(walk->to, '{');
    walk->with_names = part->group == TTR_GROUP_PAYLOAD ? parts->names->payload : parts->names->context;
    walk->depth = 0;
    walk->level[0] = (struct level){0};
    parts->has_part = parts->is_open = true;
}

/* Whether a part without fields is printed.  A packet context of nothing but sizes and times, which are not shown, is not. */
static bool is_there(const struct event_class *event_class, const struct part *part)
{
    const struct type *root = event_class ? event_class->root[part->root] : NULL;
    return root && (part->group != TTR_GROUP_PACKET || root->members_n == 0);
}

/* Opens all parts up to (and with) the one of a group; those that the class has though they are empty are there too. */
static void open_up_to(struct parts *parts, ttr_group group)
{
    while (parts->next < PARTS) {
        const struct part *part = &order[parts->next++];
        bool is_it = part->group == group;
        if (is_it || is_there(parts->event_class, part))
            open_part(parts, part);
        if (is_it)
            return;
    }
}

static void walk_fields(struct parts *parts, ttr_fields *fields)
{
    ttr_field field;
    parts->walk.fields = fields;
    while (ttr_fields_next(fields, &field)) {
        if (parts->next == 0 || order[parts->next - 1].group != field.group)
            open_up_to(parts, field.group);
        add_field(&parts->walk, &field);
    }
}

void babeltrace2_add_parts(struct buffer *to, const ttr *t, const ttr_event *event, const struct babeltrace2_names *names,
                           bool with_color)
{
    ttr_fields fields;
    struct parts parts;
    parts.walk.to = to;
    parts.walk.with_color = with_color;
    parts.walk.depth = 0;
    parts.names = names;
    parts.event_class = context_schema(t, event->schema)->event_class;
    parts.has_part = parts.is_open = false;
    parts.next = 0;
    if (parts.event_class && parts.event_class->root[ROOT_PACKET_CONTEXT]) {
        ttr_fields_begin_group(t, event, TTR_GROUP_PACKET, &fields);
        walk_fields(&parts, &fields);
    }
    ttr_fields_begin(t, event, &fields);
    walk_fields(&parts, &fields);
    open_up_to(&parts, TTR_GROUP_HEADER); /* no part has it: all that are left */
    close_part(&parts);
}
