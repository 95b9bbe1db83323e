/* Fields.  A value that was chosen by an optional or a variant stands in braces of its own, as do structs; what has to be closed behind
 * a value is kept by level.
 * Text is written straight into the buffer's room: whoever is about to write asks for all of it (room_for) and then only moves `at`.
 * Left out: nesting below 64 levels is flattened. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "encodings/put.h"
#include "formats/babeltrace2/babeltrace2.h"
#include "model/layout.h"
#include "model/type.h"

#define DEPTH_MAX 64u
#define ROOM_MIN ((size_t)4096)
#define FIELDS_AT_ONCE 32u
#define VALUE_ROOM 192u /* of any value without text, with the braces around it */

struct level {
    bool is_array;
    uint8_t choices;  /* braces to close behind it */
    uint64_t printed; /* members or elements so far */
};

struct walk {
    struct buffer *to;
    char *at, *end; /* room of the buffer, not in its count yet */
    struct babeltrace2_cache *cache;
    const ttr_fields *fields;
    bool with_names, with_color;
    unsigned depth; /* level[0 .. depth] are open */
    struct level level[DEPTH_MAX + 1];
};

static void begin_room(struct walk *walk, size_t n)
{
    if (n < ROOM_MIN)
        n = ROOM_MIN;
    walk->at = walk->end = (char *)buffer_room(walk->to, n);
    if (walk->at)
        walk->end = walk->at + n;
}

static void end_room(struct walk *walk)
{
    if (walk->at)
        buffer_filled(walk->to, (size_t)(walk->at - (char *)(walk->to->bytes + walk->to->n)));
    walk->at = walk->end = NULL;
}

/* Makes room for n bytes; false when that cannot be. */
static inline bool room_for(struct walk *walk, size_t n)
{
    if ((size_t)(walk->end - walk->at) >= n)
        return true;
    end_room(walk);
    begin_room(walk, n);
    return (size_t)(walk->end - walk->at) >= n;
}

static inline void color(struct walk *walk, const char *code)
{
    if (walk->with_color)
        walk->at = put_text(walk->at, code);
}

/* Bytes that stand for themselves between quotes. */
static inline bool is_plain(uint8_t byte)
{
    static const bool special[256] = {[0] = true,    [1] = true,    [2] = true,    [3] = true,    [4] = true,    [5] = true,    [6] = true,
                                      [7] = true,    [8] = true,    [9] = true,    [10] = true,   [11] = true,   [12] = true,   [13] = true,
                                      [14] = true,   [15] = true,   [16] = true,   [17] = true,   [18] = true,   [19] = true,   [20] = true,
                                      [21] = true,   [22] = true,   [23] = true,   [24] = true,   [25] = true,   [26] = true,   [27] = true,
                                      [28] = true,   [29] = true,   [30] = true,   [31] = true,   [0x7f] = true, ['\\'] = true, ['\''] = true,
                                      ['"'] = true,  ['?'] = true};
    return !special[byte];
}

typedef uint8_t sixteen __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t two_halves __attribute__((vector_size(16), may_alias));

/* Copies a text of at least 16 bytes, the last 16 of them perhaps twice; false where a byte of it is special. */
static bool copy_long(char *at, const uint8_t *p, size_t n)
{
    sixteen found = {0};
    for (size_t i = 0; i < n; i += 16) {
        size_t from = n - i < 16 ? n - 16 : i;
        const sixteen x = *(const sixteen *)(p + from);
        *(sixteen *)(at + from) = x;
        found |= (sixteen)((x < 0x20) | ((x | 0x40) == 0x7f) | (x == '\\') | (x == '\'') | (x == '"'));
    }
    two_halves any = (two_halves)found;
    return (any[0] | any[1]) == 0;
}

/* Copies a text that has no special bytes; false where it has. */
static inline bool copy_plain(char *at, const uint8_t *p, size_t n)
{
    if (n >= 16)
        return copy_long(at, p, n);
    bool is_fine = true;
    for (size_t i = 0; i < n; i++) {
        at[i] = (char)p[i];
        is_fine = is_fine && is_plain(p[i]);
    }
    return is_fine;
}

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

/* A text in quotes, up to its first zero. */
static void add_quoted(struct walk *walk, ttr_text text)
{
    const uint8_t *p = (const uint8_t *)text.p, *end = p + text.n;
    if (!room_for(walk, 4 * text.n + 2))
        return;
    char *at = walk->at;
    *at++ = '"';
    if (copy_plain(at, p, text.n)) {
        at += text.n;
        p = end;
    }
    for (; p < end && *p; p++) {
        if (is_plain(*p))
            *at++ = (char)*p;
        else
            at = put_special(at, *p);
    }
    *at++ = '"';
    walk->at = at;
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

static char *put_based(char *at, const ttr_value *value)
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
        return put_based(at, value);
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

static char *put_float(char *at, double x)
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
        add_quoted(walk, label);
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
        add_quoted(walk, labels[i]);
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
    case TTR_TYPE_FLOAT: walk->at = put_float(walk->at, value->v.f); break;
    case TTR_TYPE_TEXT:
        if (value->hint != TTR_HINT_NUMBER)
            add_quoted(walk, value->text);
        else if (room_for(walk, value->text.n))
            walk->at = put_piece(walk->at, value->text);
        break;
    default: walk->at = put_integer(walk->at, value);
    }
    if (walk->with_color && room_for(walk, 8))
        color(walk, COLOR_OFF);
}

/* A value that opens no level.  There is room for VALUE_ROOM. */
static void add_scalar(struct walk *walk, const ttr_value *value)
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

static void close_choices(struct walk *walk, unsigned choices)
{
    if (!room_for(walk, 2 * (size_t)choices))
        return;
    while (choices-- > 0)
        walk->at = put_text(walk->at, " }");
}

static void close_level(struct walk *walk)
{
    const struct level *level = &walk->level[walk->depth--];
    if (room_for(walk, 2))
        walk->at = put_text(walk->at, level->is_array ? " ]" : " }");
    close_choices(walk, level->choices);
}

static void open_level(struct walk *walk, bool is_array, uint8_t choices)
{
    *walk->at++ = is_array ? '[' : '{';
    walk->level[++walk->depth] = (struct level){.is_array = is_array, .choices = choices};
}

/* ", NAME = " as it was made for this name before; copied whole, of which only its length counts. */
static char *put_known_name(struct walk *walk, const ttr_field *field, char *at)
{
    struct babeltrace2_name *known = &walk->cache->name[field->name_id % BABELTRACE2_NAMES];
    if (known->id != field->name_id) {
        known->id = field->name_id;
        known->n = (uint8_t)(put_text(put_piece(put_text(known->text, ", "), field->name), " = ") - known->text);
    }
    memcpy(at, known->text, sizeof known->text);
    return at + known->n;
}

/* ", [N] = " of the first elements, made when they first come; copied whole. */
static char *put_index(struct walk *walk, uint64_t index, char *at)
{
    if (index == 0)
        return put_text(at, " [0] = ");
    if (index >= BABELTRACE2_INDEXES)
        return put_text(put_u64(put_text(at, ", ["), index), "] = ");
    struct babeltrace2_index *known = &walk->cache->index[index];
    if (known->n == 0)
        known->n = (uint8_t)(put_text(put_u64(put_text(known->text, ", ["), index), "] = ") - known->text);
    memcpy(at, known->text, sizeof known->text);
    return at + known->n;
}

/* The comma and the name of a field; then there is room for VALUE_ROOM. */
static bool add_name(struct walk *walk, const ttr_field *field)
{
    struct level *level = &walk->level[walk->depth];
    uint64_t index = level->printed++;
    if (!room_for(walk, field->name.n + 2 * (size_t)VALUE_ROOM))
        return false;
    char *at = walk->at;
    bool is_named = walk->with_names && !level->is_array;
    if (is_named && index && field->name_id && !walk->with_color && field->name.n <= BABELTRACE2_NAME_MAX) {
        walk->at = put_known_name(walk, field, at);
        return true;
    }
    if (walk->with_names && level->is_array) {
        walk->at = put_index(walk, index, at);
        return true;
    }
    at = put_text(at, index ? ", " : " ");
    if (is_named) {
        at = put_text(at, walk->with_color ? COLOR_FIELD : "");
        at = put_piece(at, field->name);
        at = put_text(at, walk->with_color ? COLOR_OFF " = " : " = ");
    }
    walk->at = at;
    return true;
}

/* What stands before a value: braces of fields before it, its name, its own braces.  False where no value follows. */
static bool begin_field(struct walk *walk, const ttr_field *field, unsigned choices)
{
    while (walk->depth > field->depth)
        close_level(walk);
    if (!add_name(walk, field))
        return false;
    if (choices && !room_for(walk, 2 * (size_t)choices + VALUE_ROOM))
        return false;
    for (unsigned i = 0; i < choices; i++)
        walk->at = put_text(walk->at, "{ ");
    bool is_open = field->value.type == TTR_TYPE_STRUCT || field->value.type == TTR_TYPE_ARRAY;
    if (!is_open || walk->depth >= DEPTH_MAX)
        return true;
    open_level(walk, field->value.type == TTR_TYPE_ARRAY, (uint8_t)choices);
    return false;
}

static unsigned choices_of(const ttr_field *field)
{
    bool is_absent = field->value.hint == TTR_HINT_ABSENT;
    return field->choices - (is_absent && field->choices > 0 ? 1u : 0u);
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
    if (parts->is_open && room_for(walk, 2))
        walk->at = put_text(walk->at, " }");
    parts->is_open = false;
}

static void open_part(struct parts *parts, const struct part *part)
{
    struct walk *walk = &parts->walk;
    close_part(parts);
    walk->with_names = part->group == TTR_GROUP_PAYLOAD ? parts->names->payload : parts->names->context;
    walk->depth = 0;
    walk->level[0] = (struct level){0};
    if (!room_for(walk, VALUE_ROOM))
        return;
    walk->at = put_text(walk->at, parts->has_part ? ", " : "");
    if (parts->names->scope) {
        color(walk, COLOR_SCOPE);
        walk->at = put_text(walk->at, part->scope);
        color(walk, COLOR_OFF);
        walk->at = put_text(walk->at, " = ");
    }
    *walk->at++ = '{';
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

/* --- What comes again --- */

/* What stands for a field before the first one of an event, where the packet's part was printed or not; for those that are not known; and
 * for the end. */
enum { BEFORE_ALL = 0, STEPS_TOLD = 0xfff0, BEHIND_PACKET, UNKNOWN, LINE_END };

enum step_kind { STEP_OTHER, STEP_UNSIGNED, STEP_SIGNED, STEP_TEXT, STEP_STRUCT, STEP_ARRAY };

static inline uint64_t key_of(ttr_id schema, uint32_t step, uint32_t before)
{
    return (uint64_t)schema << 32 | step << 16 | before;
}

static inline struct babeltrace2_step *place_of(const struct walk *walk, uint64_t key)
{
    return &walk->cache->step[((key >> 32) * 37 + (key >> 16 & 0xffff)) % BABELTRACE2_STEPS];
}

/* What the way to print a value depends on. */
static inline uint32_t look_of(const ttr_value *value)
{
    return (uint32_t)value->type | (uint32_t)value->hint << 8 | (uint32_t)value->bits << 16 | (uint32_t)value->base << 24;
}

static uint8_t kind_of(const ttr_value *value)
{
    bool is_based = value->base == 2 || value->base == 8 || value->base == 16;
    switch (value->type) {
    case TTR_TYPE_STRUCT: return STEP_STRUCT;
    case TTR_TYPE_ARRAY: return STEP_ARRAY;
    case TTR_TYPE_TEXT: return value->hint == TTR_HINT_NUMBER ? STEP_OTHER : STEP_TEXT;
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        if (is_based || value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS)
            return STEP_OTHER;
        return value->type == TTR_TYPE_INT ? STEP_SIGNED : STEP_UNSIGNED;
    default: return STEP_OTHER;
    }
}

/* Keeps what was written from a place of the buffer on. */
static void keep_step(const struct walk *walk, uint64_t key, struct babeltrace2_step step, size_t from)
{
    size_t n = walk->at ? (size_t)(walk->at - (const char *)walk->to->bytes) - from : SIZE_MAX;
    if (n > BABELTRACE2_STEP_MAX)
        return;
    step.key = key;
    step.n = (uint8_t)n;
    memcpy(step.text, walk->to->bytes + from, n);
    *place_of(walk, key) = step;
}

static inline size_t place_in(const struct walk *walk)
{
    return walk->at ? (size_t)(walk->at - (const char *)walk->to->bytes) : 0;
}

/* Numbers below 100, of which arrays are full, need no call. */
static inline char *put_unsigned(char *at, uint64_t x)
{
    if (x >= 10)
        return put_u64(at, x);
    *at = (char)('0' + x);
    return at + 1;
}

/* A field that was met before, behind the same one; false where it was not. */
static inline bool add_known(struct parts *parts, const ttr_field *field, uint64_t key)
{
    struct walk *walk = &parts->walk;
    const struct babeltrace2_step *known = place_of(walk, key);
    const ttr_value *value = &field->value;
    if (known->key != key || known->look != look_of(value) || !room_for(walk, BABELTRACE2_STEP_MAX + VALUE_ROOM))
        return false;
    memcpy(walk->at, known->text, BABELTRACE2_STEP_MAX);
    walk->at += known->n;
    walk->depth = known->depth;
    if (known->next) {
        parts->next = known->next;
        parts->is_open = parts->has_part = true;
        walk->with_names = order[known->next - 1].group == TTR_GROUP_PAYLOAD ? parts->names->payload : parts->names->context;
        walk->level[0] = (struct level){0};
    }
    walk->level[walk->depth].printed++;
    switch (known->kind) {
    case STEP_UNSIGNED: walk->at = put_unsigned(walk->at, value->v.u); break;
    case STEP_SIGNED: walk->at = value->v.s >= 0 ? put_unsigned(walk->at, value->v.u) : put_i64(walk->at, value->v.s); break;
    case STEP_TEXT: add_quoted(walk, value->text); break;
    case STEP_STRUCT: walk->level[++walk->depth] = (struct level){.is_array = false}; break;
    case STEP_ARRAY: walk->level[++walk->depth] = (struct level){.is_array = true}; break;
    default: add_scalar(walk, value);
    }
    return true;
}

/* ", [N] = " where it was made before; NULL: it was not. */
static inline char *put_known_index(const struct walk *walk, uint64_t index, char *at)
{
    const struct babeltrace2_index *known = &walk->cache->index[index % BABELTRACE2_INDEXES];
    if (index >= BABELTRACE2_INDEXES || known->n == 0)
        return NULL;
    memcpy(at, known, sizeof *known); /* of which the text counts */
    return at + known->n;
}

static inline char *put_element(char *at, const ttr_value *value, bool is_signed)
{
    return is_signed && value->v.s < 0 ? put_i64(at, value->v.s) : put_unsigned(at, value->v.u);
}

/* Elements of an array that are plain numbers, from one on; gives how many. */
static uint32_t add_elements(struct walk *walk, const ttr_field *field, uint32_t n)
{
    const uint32_t look = look_of(&field->value), step = field->value.step;
    struct level *level = &walk->level[walk->depth];
    const uint8_t kind = kind_of(&field->value);
    uint32_t i = 0;
    if ((kind != STEP_UNSIGNED && kind != STEP_SIGNED) || walk->depth != field->depth || field->choices || !walk->with_names ||
        walk->with_color || !room_for(walk, (size_t)FIELDS_AT_ONCE * VALUE_ROOM))
        return 0;
    char *at = walk->at;
    uint64_t index = level->printed;
    for (; i < n && field[i].value.step == step && look_of(&field[i].value) == look; i++, index++) {
        char *behind = put_known_index(walk, index, at);
        at = put_element(behind ? behind : put_index(walk, index, at), &field[i].value, kind == STEP_SIGNED);
    }
    walk->at = at;
    level->printed = index;
    return i;
}

/* Any field; what stands before its value is kept where it may come again. */
static void add_field(struct parts *parts, const ttr_field *field, uint64_t key)
{
    struct walk *walk = &parts->walk;
    size_t from = place_in(walk);
    bool opens_part = parts->next == 0 || order[parts->next - 1].group != field->group;
    unsigned choices = choices_of(field);
    if (opens_part)
        open_up_to(parts, field->group);
    bool has_value = begin_field(walk, field, choices);
    unsigned depth = walk->depth - (has_value || walk->depth == 0 ? 0 : 1);
    uint8_t kind = has_value && kind_of(&field->value) >= STEP_STRUCT ? STEP_OTHER : kind_of(&field->value);
    if (key && !choices && !walk->level[depth].is_array)
        keep_step(walk, key, (struct babeltrace2_step){.look = look_of(&field->value), .kind = kind, .depth = (uint8_t)depth,
                                                       .next = (uint8_t)(opens_part ? parts->next : 0)}, from);
    if (!has_value)
        return;
    add_scalar(walk, &field->value);
    if (choices)
        close_choices(walk, choices);
}

/* Prints fields behind the one that is given as `before` (UNKNOWN: not known), and gives the last.  Of schema 0 nothing is kept. */
static uint32_t walk_fields(struct parts *parts, ttr_fields *fields, ttr_id schema, uint32_t before)
{
    struct walk *walk = &parts->walk;
    ttr_field field[FIELDS_AT_ONCE];
    walk->fields = fields;
    for (uint32_t n; (n = ttr_fields_take(fields, field, FIELDS_AT_ONCE)) > 0;)
        for (uint32_t i = 0, elements; i < n; i += elements) {
            const uint32_t step = field[i].value.step - 1 < STEPS_TOLD ? field[i].value.step : UNKNOWN;
            const uint64_t key = schema && step != UNKNOWN && before != UNKNOWN ? key_of(schema, step, before) : 0;
            before = step;
            elements = step != UNKNOWN && walk->depth > 0 && walk->level[walk->depth].is_array ? add_elements(walk, &field[i], n - i) : 0;
            if (elements)
                continue;
            elements = 1;
            if (!key || !add_known(parts, &field[i], key))
                add_field(parts, &field[i], key);
        }
    return before;
}

/* The part of the packet is the same for all its events: it is kept until another packet of that input comes. */
static void add_packet_part(struct parts *parts, const ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    struct walk *walk = &parts->walk;
    const struct schema *schema = context_schema(t, event->schema);
    uint64_t number = schema->ops->packet ? schema->ops->packet(schema->own, event) : 0;
    struct babeltrace2_packet *kept = &walk->cache->packet[event->source % BABELTRACE2_PACKETS];
    if (number && kept->number == number && kept->source == event->source && room_for(walk, sizeof kept->text)) {
        memcpy(walk->at, kept->text, sizeof kept->text);
        walk->at += kept->n;
        parts->has_part = kept->n > 0;
        parts->next = parts->has_part ? 1 : 0;
        return;
    }
    end_room(walk);
    begin_room(walk, 0);
    size_t begin = walk->to->n;
    ttr_fields_begin_group(t, event, TTR_GROUP_PACKET, &fields);
    (void)walk_fields(parts, &fields, 0, UNKNOWN);
    close_part(parts);
    end_room(walk);
    size_t n = walk->to->n - begin;
    kept->number = 0;
    if (n <= sizeof kept->text && !walk->to->failed) {
        if (n)
            memcpy(kept->text, walk->to->bytes + begin, n);
        kept->number = number;
        kept->source = event->source;
        kept->n = (uint32_t)n;
    }
    begin_room(walk, 0);
}

/* The end of a line: parts that are left, and braces. */
static void add_end(struct parts *parts, ttr_id schema, uint32_t before)
{
    struct walk *walk = &parts->walk;
    uint64_t key = before == UNKNOWN || walk->with_color ? 0 : key_of(schema, LINE_END, before);
    const struct babeltrace2_step *known = place_of(walk, key);
    if (key && known->key == key && room_for(walk, BABELTRACE2_STEP_MAX)) {
        memcpy(walk->at, known->text, BABELTRACE2_STEP_MAX);
        walk->at += known->n;
        return;
    }
    size_t from = place_in(walk);
    open_up_to(parts, TTR_GROUP_HEADER); /* no part has it: all that are left */
    close_part(parts);
    if (!room_for(walk, 1))
        return;
    *walk->at++ = '\n';
    if (key)
        keep_step(walk, key, (struct babeltrace2_step){.n = 0}, from);
}

void babeltrace2_add_parts(struct buffer *to, const ttr *t, const ttr_event *event, const struct babeltrace2_names *names,
                           struct babeltrace2_cache *cache, bool with_color)
{
    ttr_fields fields;
    struct parts parts;
    parts.walk.to = to;
    parts.walk.cache = cache;
    parts.walk.with_color = with_color;
    parts.walk.depth = 0;
    parts.names = names;
    parts.event_class = context_schema(t, event->schema)->event_class;
    parts.has_part = parts.is_open = false;
    parts.next = 0;
    begin_room(&parts.walk, 0);
    if (parts.event_class && parts.event_class->root[ROOT_PACKET_CONTEXT])
        add_packet_part(&parts, t, event);
    ttr_fields_begin(t, event, &fields);
    add_end(&parts, event->schema, walk_fields(&parts, &fields, with_color ? 0 : event->schema, parts.has_part ? BEHIND_PACKET : BEFORE_ALL));
    end_room(&parts.walk);
}
