/* Parser of tracefs `format` files:
 *
 *   name: sched_wakeup
 *   ID: 317
 *   format:
 *           field:unsigned short common_type;  offset:0;  size:2;  signed:0;
 *           ...   common fields, which all tracepoints share, then an empty line
 *           field:char comm[16];  offset:8;  size:16;  signed:0;
 *
 *   print fmt: "comm=%s", REC->comm
 *
 * The name of a field is the last word before its brackets ("char comm[16]", "__rel_loc u8
 * data[]"), or the word after them ("__data_loc char[] name"). The text inside brackets is ignored,
 * since some kernels print unresolved macros there; the declared size decides instead. const,
 * volatile and attributes are ignored. `long` and pointers have the size of the traced machine.
 *
 * Left out: nested struct declarations (kernels do not print them). A type with an unknown name is
 * an integer if its size is that of an integer, else bytes. */
#include <string.h>

#include "base/number.h"
#include "encodings/tracepoint/tracepoint.h"

/* bytes; no field is larger, because records of the ring buffer are not */
#define FIELD_BYTES_MAX 65536u
#define FIELDS_MAX 4096u

struct format_parser {
    struct tracepoint *tp;
    struct arena *arena;
    ttr_text rest;
    unsigned long_bytes;
    struct tracepoint_parse_error *complaint;
    struct tracepoint_field *field;
    uint32_t capacity;
};

static bool set_parse_error(struct format_parser *parser, const char *why)
{
    parser->complaint->why = why;
    return false;
}

static bool is_format_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static ttr_text trim_blanks(ttr_text text)
{
    while (text.n && is_format_blank(*text.p))
        text.p++, text.n--;
    while (text.n && is_format_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

static bool equals_word(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

static bool has_prefix(ttr_text text, const char *word)
{
    size_t n = strlen(word);
    return text.n >= n && memcmp(text.p, word, n) == 0;
}

static ttr_text skip_text(ttr_text text, size_t n)
{
    return (ttr_text){text.p + n, text.n - n};
}

static bool next_format_line(struct format_parser *parser, ttr_text *line)
{
    if (parser->rest.n == 0)
        return false;
    const char *end = memchr(parser->rest.p, '\n', parser->rest.n);
    size_t n = end ? (size_t)(end - parser->rest.p) : parser->rest.n;
    *line = (ttr_text){parser->rest.p, n};
    parser->rest = skip_text(parser->rest, end ? n + 1 : n);
    parser->complaint->line++;
    return true;
}

/* --- Declarations of fields: type words and name --- */

/* A field declaration, split into the words of the type and the name. */
struct declaration {
    ttr_text word[8];
    unsigned n;
    bool is_pointer, is_array;
    uint8_t place;
    ttr_text name; /* name of the field: the last word */
};

/* Skips a balanced "(...)" and returns the text after it. */
static ttr_text skip_parentheses(ttr_text text)
{
    unsigned depth = 0;
    size_t i = 0;
    for (; i < text.n; i++) {
        depth += text.p[i] == '(';
        if (text.p[i] == ')' && --depth == 0)
            break;
    }
    return skip_text(text, i < text.n ? i + 1 : i);
}

static ttr_text skip_brackets(ttr_text text)
{
    const char *end = memchr(text.p, ']', text.n);
    return skip_text(text, end ? (size_t)(end - text.p) + 1 : text.n);
}

static bool is_ignored_word(ttr_text word)
{
    return equals_word(word, "const") || equals_word(word, "volatile") ||
           equals_word(word, "__attribute__") || equals_word(word, "__user") ||
           equals_word(word, "__percpu") || equals_word(word, "__rcu");
}

static void append_type_word(struct declaration *words, ttr_text word)
{
    if (equals_word(word, "__data_loc"))
        words->place = TRACEPOINT_DATA_LOC;
    else if (equals_word(word, "__rel_loc"))
        words->place = TRACEPOINT_REL_LOC;
    else if (words->n < sizeof words->word / sizeof *words->word)
        words->word[words->n++] = word;
}

/* Splits a declaration into the words of the type and the name. Returns false if it has no name. */
static bool split_declaration(ttr_text text, struct declaration *words)
{
    *words = (struct declaration){.place = TRACEPOINT_HERE};
    while (text.n) {
        size_t n = 0;
        while (n < text.n && is_word_character(text.p[n]))
            n++;
        if (n > 0) {
            ttr_text word = {text.p, n};
            if (!is_ignored_word(word) && words->name.p)
                append_type_word(words, words->name);
            if (!is_ignored_word(word))
                words->name = word;
            text = skip_text(text, n);
            continue;
        }
        char c = *text.p;
        words->is_pointer |= c == '*' || c == '&';
        words->is_array |= c == '[';
        text = c == '['   ? skip_brackets(text)
               : c == '(' ? skip_parentheses(text)
                          : skip_text(text, 1);
    }
    return words->name.p != NULL;
}

/* --- Types of fields: size, sign and shape --- */

struct known_type {
    const char *name;
    uint8_t bytes; /* size in bytes; 0 for that of `long` on the traced machine */
    bool is_signed;
};

static const struct known_type known_types[] = {
    {"char", 1, true},        {"short", 2, true},     {"int", 4, true},      {"long", 0, true},
    {"bool", 1, false},       {"_Bool", 1, false},    {"u8", 1, false},      {"u16", 2, false},
    {"u32", 4, false},        {"u64", 8, false},      {"s8", 1, true},       {"s16", 2, true},
    {"s32", 4, true},         {"s64", 8, true},       {"__u8", 1, false},    {"__u16", 2, false},
    {"__u32", 4, false},      {"__u64", 8, false},    {"__s8", 1, true},     {"__s16", 2, true},
    {"__s32", 4, true},       {"__s64", 8, true},     {"uint8_t", 1, false}, {"uint16_t", 2, false},
    {"uint32_t", 4, false},   {"uint64_t", 8, false}, {"int8_t", 1, true},   {"int16_t", 2, true},
    {"int32_t", 4, true},     {"int64_t", 8, true},   {"__le16", 2, false},  {"__le32", 4, false},
    {"__le64", 8, false},     {"__be16", 2, false},   {"__be32", 4, false},  {"__be64", 8, false},
    {"pid_t", 4, true},       {"uid_t", 4, false},    {"gid_t", 4, false},   {"dev_t", 4, false},
    {"size_t", 0, false},     {"ssize_t", 0, true},   {"uint", 4, false},    {"ulong", 0, false},
    {"ushort", 2, false},     {"uchar", 1, false},    {"ktime_t", 8, true},  {"loff_t", 8, true},
    {"dma_addr_t", 8, false},
};

/* Returns size in bytes and sign of an integer type that consists of several words. Returns 0 for
 * other types. */
static unsigned get_integer_type_size(const struct declaration *words, unsigned long_bytes,
                                      bool *is_signed)
{
    unsigned bytes = 0, longs = 0;
    bool says_signed = false, says_unsigned = false;
    *is_signed = true;
    for (unsigned i = 0; i < words->n; i++) {
        ttr_text word = words->word[i];
        if (equals_word(word, "struct") || equals_word(word, "union"))
            return 0;
        says_signed |= equals_word(word, "signed") || equals_word(word, "enum");
        says_unsigned |= equals_word(word, "unsigned");
        longs += equals_word(word, "long");
        for (size_t j = 0; j < sizeof known_types / sizeof *known_types; j++) {
            if (!equals_word(word, known_types[j].name))
                continue;
            /* the word "int" changes nothing in "short int" and "long int" */
            bool is_rest = equals_word(word, "int") && bytes;
            bytes = is_rest ? bytes : known_types[j].bytes ? known_types[j].bytes : long_bytes;
            *is_signed = known_types[j].is_signed;
        }
    }
    if (longs > 1)
        bytes = 8;
    if (says_unsigned)
        *is_signed = false;
    return bytes ? bytes : says_unsigned || says_signed ? 4 : 0;
}

static bool has_type_word(const struct declaration *words, const char *word)
{
    for (unsigned i = 0; i < words->n; i++)
        if (equals_word(words->word[i], word))
            return true;
    return false;
}

static bool is_integer_size(uint32_t bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static void set_array_shape(struct tracepoint_field *field, const struct declaration *words,
                            unsigned long_bytes)
{
    bool is_signed = false;
    unsigned element =
        field->is_pointer ? long_bytes : get_integer_type_size(words, long_bytes, &is_signed);
    field->shape = TRACEPOINT_BYTES;
    field->element = 1;
    if (has_type_word(words, "char") && !has_type_word(words, "unsigned") &&
        !has_type_word(words, "signed") && !field->is_pointer)
        field->shape = TRACEPOINT_TEXT;
    else if (element > 1 && (field->place != TRACEPOINT_HERE || field->size % element == 0))
        field->shape = TRACEPOINT_ARRAY, field->element = (uint8_t)element,
        field->is_signed = is_signed;
}

static void set_field_shape(struct tracepoint_field *field, const struct declaration *words,
                            unsigned long_bytes)
{
    bool is_struct = has_type_word(words, "struct") || has_type_word(words, "union");
    if (field->is_array || field->place != TRACEPOINT_HERE)
        set_array_shape(field, words, long_bytes);
    else if (!is_integer_size(field->size) || (is_struct && !field->is_pointer))
        field->shape = TRACEPOINT_BYTES;
    else if (field->is_pointer)
        field->shape = TRACEPOINT_POINTER;
    else if ((has_type_word(words, "bool") || has_type_word(words, "_Bool")) && field->size == 1)
        field->shape = TRACEPOINT_BOOL;
    else
        field->shape = field->is_signed ? TRACEPOINT_INT : TRACEPOINT_UINT;
}

/* --- Lines of a format file --- */

/* Parses the number after `key` in a line such as "\toffset:8;\tsize:16;". Returns false if the
 * line does not contain the key. */
static bool parse_line_number(ttr_text line, const char *key, uint64_t *number)
{
    for (ttr_text part = line; part.n;) {
        const char *end = memchr(part.p, ';', part.n);
        size_t n = end ? (size_t)(end - part.p) : part.n;
        ttr_text one = trim_blanks((ttr_text){part.p, n});
        if (has_prefix(one, key)) {
            one = trim_blanks(skip_text(one, strlen(key)));
            return number_parse_u64(one.p, one.n, number);
        }
        part = skip_text(part, end ? n + 1 : n);
    }
    return false;
}

static struct tracepoint_field *append_new_field(struct format_parser *parser)
{
    struct tracepoint *tp = parser->tp;
    if (tp->fields_n == parser->capacity) {
        uint32_t capacity = parser->capacity ? 2 * parser->capacity : 16;
        struct tracepoint_field *field = arena_alloc(parser->arena, capacity * sizeof *field);
        if (!field)
            return NULL;
        if (tp->fields_n)
            memcpy(field, parser->field, tp->fields_n * sizeof *field);
        parser->field = field;
        parser->capacity = capacity;
    }
    struct tracepoint_field *field = &parser->field[tp->fields_n];
    *field = (struct tracepoint_field){.name = {"", 0}};
    return field;
}

/* Returns the type in a field declaration, which is everything but the name. */
static ttr_text copy_type_text(const struct format_parser *parser, ttr_text declaration,
                               ttr_text name)
{
    size_t before = (size_t)(name.p - declaration.p);
    ttr_text tail = skip_text(declaration, before + name.n);
    ttr_text head = trim_blanks((ttr_text){declaration.p, before});
    if (tail.n == 0)
        return head;
    char *both = arena_alloc(parser->arena, head.n + tail.n);
    if (!both)
        return head;
    memcpy(both, head.p, head.n);
    memcpy(both + head.n, tail.p, tail.n);
    return (ttr_text){both, head.n + tail.n};
}

static bool parse_field_line(struct format_parser *parser, ttr_text line)
{
    const char *colon = memchr(line.p, ':', line.n), *end = memchr(line.p, ';', line.n);
    if (!colon || !end || colon > end)
        return set_parse_error(parser, "field: expected \":\" and \";\"");
    ttr_text declaration = trim_blanks((ttr_text){colon + 1, (size_t)(end - colon) - 1});
    ttr_text places = skip_text(line, (size_t)(end - line.p) + 1);
    uint64_t offset = 0, size = 0, is_signed = 0;
    struct declaration words;
    if (!split_declaration(declaration, &words))
        return set_parse_error(parser, "field has no name");
    if (!parse_line_number(places, "offset:", &offset) ||
        !parse_line_number(places, "size:", &size))
        return set_parse_error(parser, "field has no offset or size");
    if (offset > FIELD_BYTES_MAX || size > FIELD_BYTES_MAX)
        return set_parse_error(parser, "field extends beyond 64 KiB");
    bool has_sign = parse_line_number(places, "signed:", &is_signed), means_signed = false;
    if (!has_sign) /* kernels before 2.6.33 do not print "signed:" */
        is_signed =
            get_integer_type_size(&words, parser->long_bytes, &means_signed) > 0 && means_signed;
    if (words.place != TRACEPOINT_HERE && size != 2 && size != 4)
        return set_parse_error(parser, "__data_loc or __rel_loc has neither 2 nor 4 bytes");
    if (parser->tp->fields_n == FIELDS_MAX)
        return set_parse_error(parser, "too many fields");
    struct tracepoint_field *field = append_new_field(parser);
    if (!field)
        return set_parse_error(parser, NULL);
    field->name = words.name;
    field->type = copy_type_text(parser, declaration, words.name);
    field->offset = (uint32_t)offset;
    field->size = (uint32_t)size;
    field->place = words.place != TRACEPOINT_HERE || size > 0 ? words.place : TRACEPOINT_REST;
    field->is_signed = is_signed != 0;
    field->is_array = words.is_array;
    field->is_pointer = words.is_pointer;
    set_field_shape(field, &words, parser->long_bytes);
    parser->tp->fields_n++;
    parser->tp->has_places |= words.place != TRACEPOINT_HERE;
    if (offset + size > parser->tp->fixed_bytes)
        parser->tp->fixed_bytes = (uint32_t)(offset + size);
    return true;
}

/* Parses the lines "name:" and "ID:", in any order, up to "format:". Returns false if one of them
 * is missing. */
static bool parse_format_head(struct format_parser *parser)
{
    ttr_text line;
    bool has_id = false;
    while (next_format_line(parser, &line)) {
        ttr_text text = trim_blanks(line);
        uint64_t id = 0;
        if (has_prefix(text, "format:"))
            return parser->tp->name.n && has_id
                       ? true
                       : set_parse_error(parser, "\"format:\" before \"name:\" and \"ID:\"");
        if (has_prefix(text, "name:"))
            parser->tp->name = trim_blanks(skip_text(text, 5));
        if (!has_prefix(text, "ID:"))
            continue;
        text = trim_blanks(skip_text(text, 3));
        if (!number_parse_u64(text.p, text.n, &id) || id >= TRACEPOINTS_DENSE)
            return set_parse_error(parser, "\"ID:\" is not a number below 65,536");
        parser->tp->id = (uint32_t)id;
        has_id = true;
    }
    return set_parse_error(parser, "text ends before \"format:\"");
}

/* Parses the lines of the fields, and stores the text after "print fmt:". */
static bool parse_field_lines(struct format_parser *parser)
{
    struct tracepoint *tp = parser->tp;
    ttr_text line;
    while (next_format_line(parser, &line)) {
        ttr_text text = trim_blanks(line);
        if (has_prefix(text, "print fmt:")) {
            const char *at = text.p + strlen("print fmt:");
            tp->print = trim_blanks((ttr_text){at, (size_t)(parser->rest.p + parser->rest.n - at)});
            return true;
        }
        if (has_prefix(text, "field") && !parse_field_line(parser, text))
            return false;
    }
    return true;
}

/* Returns how many fields at the start have the prefix "common_". */
static uint32_t count_common_fields(const struct tracepoint *tp)
{
    uint32_t n = 0;
    while (n < tp->fields_n && has_prefix(tp->field[n].name, "common_"))
        n++;
    return n;
}

bool tracepoint_parse(struct tracepoint *tp, struct arena *arena, ttr_text text,
                      unsigned long_bytes, struct tracepoint_parse_error *complaint)
{
    struct format_parser parser = {
        .tp = tp, .arena = arena, .rest = text, .long_bytes = long_bytes, .complaint = complaint};
    *complaint = (struct tracepoint_parse_error){.why = NULL, .line = 0};
    bool is_fine = parse_format_head(&parser) && parse_field_lines(&parser);
    tp->field = parser.field;
    if (is_fine)
        tp->common_n = count_common_fields(tp);
    else
        tp->fields_n = tp->common_n = 0;
    return is_fine;
}
