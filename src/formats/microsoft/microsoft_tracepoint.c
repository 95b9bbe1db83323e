/* Prints kernel tracepoint fields as perf-decode does: by their C declaration, not by their
 * meaning. `unsigned long` and unknown type names are printed in hexadecimal, characters are
 * decoded as ISO 8859-1, and structs are printed as bytes. */
#include "encodings/tracepoint/tracepoint.h"
#include "formats/microsoft/microsoft.h"

enum look { LOOK_BYTES, LOOK_HEX, LOOK_UNSIGNED, LOOK_SIGNED, LOOK_TEXT };

struct declared {
    enum look look;
    uint32_t element; /* size in bytes of one element of the field */
    bool is_array;
};

enum word {
    WORD_LONG = 1u << 0,
    WORD_LONG_LONG = 1u << 1,
    WORD_SHORT = 1u << 2,
    WORD_UNSIGNED = 1u << 3,
    WORD_SIGNED = 1u << 4,
    WORD_STRUCT = 1u << 5,
    WORD_ARRAY = 1u << 6,
    WORD_POINTER = 1u << 7
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_equal_word(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

static unsigned parse_type_word(ttr_text word, unsigned words, ttr_text *base)
{
    static const struct {
        const char *word;
        unsigned bit;
    } known[] = {{"short", WORD_SHORT},
                 {"unsigned", WORD_UNSIGNED},
                 {"signed", WORD_SIGNED},
                 {"struct", WORD_STRUCT},
                 {"__data_loc", WORD_ARRAY},
                 {"__rel_loc", WORD_ARRAY},
                 {"__attribute__", 0},
                 {"const", 0},
                 {"volatile", 0}};
    if (is_equal_word(word, "long"))
        return words & WORD_LONG ? words | WORD_LONG_LONG : words | WORD_LONG;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_equal_word(word, known[i].word))
            return words | known[i].bit;
    *base = word;
    return words;
}

/* Returns flags (WORD_*) for the C keywords in a declared type. Sets *base to the last word that
 * is not a keyword. */
static unsigned parse_type_words(ttr_text type, ttr_text *base)
{
    unsigned words = 0;
    *base = (ttr_text){"", 0};
    for (size_t i = 0, n; i < type.n; i += n ? n : 1) {
        for (n = 0; i + n < type.n && is_letter(type.p[i + n]);)
            n++;
        bool is_number = n && type.p[i] >= '0' && type.p[i] <= '9';
        if (n && !is_number)
            words = parse_type_word((ttr_text){type.p + i, n}, words, base);
        words |= n                  ? 0u
                 : type.p[i] == '*' ? (unsigned)WORD_POINTER
                 : type.p[i] == '[' ? (unsigned)WORD_ARRAY
                                    : 0u;
    }
    return words;
}

/* Recognizes names of types with a fixed size, such as u8, __u8 and uint8_t. Returns false for all
 * other names. */
static bool classify_sized_type(ttr_text base, struct declared *declared)
{
    static const struct {
        const char *names[3];
        uint8_t bytes;
        bool is_signed;
    } known[] = {{{"u8", "__u8", "uint8_t"}, 1, false},    {{"s8", "__s8", "int8_t"}, 1, true},
                 {{"u16", "__u16", "uint16_t"}, 2, false}, {{"s16", "__s16", "int16_t"}, 2, true},
                 {{"u32", "__u32", "uint32_t"}, 4, false}, {{"s32", "__s32", "int32_t"}, 4, true},
                 {{"u64", "__u64", "uint64_t"}, 8, false}, {{"s64", "__s64", "int64_t"}, 8, true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t k = 0; k < 3; k++)
            if (is_equal_word(base, known[i].names[k])) {
                declared->look = known[i].is_signed ? LOOK_SIGNED : LOOK_UNSIGNED;
                declared->element = known[i].bytes;
                return true;
            }
    return false;
}

static void classify_int_type(unsigned words, unsigned long_bytes, struct declared *declared)
{
    bool is_long = (words & (WORD_LONG | WORD_LONG_LONG)) == WORD_LONG;
    declared->look = words & WORD_UNSIGNED ? is_long ? LOOK_HEX : LOOK_UNSIGNED : LOOK_SIGNED;
    declared->element = words & WORD_LONG_LONG ? 8
                        : is_long              ? long_bytes
                        : words & WORD_SHORT   ? 2
                                               : 4;
}

static struct declared classify_field(const struct tracepoint_field *field, unsigned long_bytes)
{
    ttr_text base;
    unsigned words = parse_type_words(field->type, &base);
    struct declared declared = {.look = LOOK_HEX,
                                .element = field->element ? field->element : 1,
                                .is_array = (words & WORD_ARRAY) != 0};
    if (words & WORD_POINTER)
        declared.element = long_bytes;
    else if (words & WORD_STRUCT)
        declared.look = LOOK_BYTES;
    else if (base.n == 0 || is_equal_word(base, "int"))
        classify_int_type(words, long_bytes, &declared);
    else if (is_equal_word(base, "char"))
        declared.look = words & WORD_UNSIGNED ? LOOK_UNSIGNED
                        : words & WORD_SIGNED ? LOOK_SIGNED
                                              : LOOK_TEXT;
    else
        (void)classify_sized_type(base, &declared);
    if (declared.look == LOOK_UNSIGNED || declared.look == LOOK_SIGNED)
        declared.look = field->is_signed ? LOOK_SIGNED : LOOK_UNSIGNED;
    bool is_number = field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8;
    if (!declared.is_array && is_number)
        declared.element = field->size;
    return declared;
}

static void add_number(struct field_json *json, const struct declared *declared, const uint8_t *p,
                       bool is_big_endian)
{
    ttr_value value = {.type = TTR_TYPE_UINT,
                       .v.u = tracepoint_load_integer(p, declared->element, is_big_endian)};
    if (declared->look == LOOK_SIGNED) {
        value.type = TTR_TYPE_INT;
        value.v.s = tracepoint_sign_extend(value.v.u, declared->element);
    }
    value.base = declared->look == LOOK_UNSIGNED ? 0 : 16;
    microsoft_add_value(json->to, json->t, &value);
}

static void append_quoted_characters(struct buffer *to, const uint8_t *p, size_t n)
{
    buffer_add_byte(to, '"');
    for (size_t i = 0; i < n && p[i]; i++)
        microsoft_add_text(to, p + i, 1);
    buffer_add_byte(to, '"');
}

static void add_field(struct field_json *json, const struct tracepoint *tp,
                      const struct tracepoint_field *field, struct tracepoint_raw raw)
{
    static const ttr_value array = {.type = TTR_TYPE_ARRAY};
    bool is_big_endian = tp->all->spec.is_big_endian;
    struct declared declared = classify_field(field, tp->all->spec.long_bytes);
    const uint8_t *p = raw.p;
    size_t n = 0;
    if (!tracepoint_locate_bytes(field, is_big_endian, raw, &p, &n))
        n = 0;
    field_json_append_field_name(json,
                                 &(ttr_field){.name = field->name, .name_id = field->name_id});
    if (declared.look == LOOK_TEXT) {
        append_quoted_characters(json->to, p, n);
    } else if (declared.look == LOOK_BYTES && (!declared.is_array || declared.element == 1)) {
        microsoft_add_bytes(json->to, p, n);
    } else if (declared.is_array) {
        field_json_open_value(json, &array);
        for (size_t at = 0; n - at >= declared.element; at += declared.element) {
            field_json_append_separator(json);
            add_number(json, &declared, p + at, is_big_endian);
        }
        field_json_close_value(json);
    } else if (n < declared.element) {
        buffer_add_text(json->to, "null");
    } else {
        add_number(json, &declared, p, is_big_endian);
    }
}

bool microsoft_add_tracepoint(struct field_json *json, const ttr_event *event)
{
    const struct tracepoint *tp = tracepoint_get_from_event(json->t, event);
    struct event_header_get_stored_header head;
    if (!tp || tp->is_broken || event_header_get_stored_header(json->t, event, &head))
        return false;
    const struct tracepoints_spec *spec = &tp->all->spec;
    struct tracepoint_raw raw = spec->container->raw(spec->ctx, event);
    for (uint32_t i = tp->common_n; i < tp->fields_n; i++)
        add_field(json, tp, &tp->field[i], raw);
    return true;
}
