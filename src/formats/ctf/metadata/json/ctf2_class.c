/* Field classes: from JSON objects to types. A table has one row per class: its properties, its
 * kind of type, and its build function.
 *
 * Alignments follow CTF2-SPEC-2.0 section 6: fixed-length classes declare theirs; LEB128, strings
 * and blobs are aligned to bytes; structures and arrays to the maximum inside or their declared
 * minimum; optionals and variants have no alignment. Left out: attributes of field classes and
 * members, which no reader needs. */
#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

/* Maximum length of a number in bits. Longer numbers are mistakes, and decoding them would need
 * memory. */
#define BITS_MAX 65536u
/* Maximum number of types in one structure such as a payload, counting each use of an alias. Real
 * traces have far fewer. */
#define TYPES_MAX 100000u

#define COMMON \
    (CTF2_SET(TYPE) | CTF2_SET(ATTRIBUTES) | CTF2_SET(EXTENSIONS) | CTF2_SET(USER_ATTRIBUTES))
#define FIXED \
    (COMMON | CTF2_SET(LENGTH) | CTF2_SET(BYTE_ORDER) | CTF2_SET(BIT_ORDER) | CTF2_SET(ALIGNMENT))
#define FIXED_MUST (CTF2_SET(LENGTH) | CTF2_SET(BYTE_ORDER))
#define INTEGER (CTF2_SET(PREFERRED_DISPLAY_BASE) | CTF2_SET(MAPPINGS))
#define LENGTH_AT CTF2_SET(LENGTH_FIELD_LOCATION)
#define SELECTOR_AT CTF2_SET(SELECTOR_FIELD_LOCATION)
#define ELEMENTS (COMMON | CTF2_SET(ELEMENT_FIELD_CLASS) | CTF2_SET(MINIMUM_ALIGNMENT))

struct class_row {
    const char *name;
    struct ctf2_property_set properties;
    enum type_kind kind;
    ttr_status (*build)(struct ctf2_build *build, const struct ctf2_object *object,
                        struct type *type);
    bool is_rc7;
};

/* --- Integers, booleans, floats --- */

static ttr_status get_display_base(struct ctf2_parser *parser, const struct json_value *json,
                                   struct type *type)
{
    uint64_t base = 0;
    ttr_status status = ctf2_get_u64(parser, json, &base);
    if (status != TTR_OK || !json)
        return status;
    if (base != 2 && base != 8 && base != 10 && base != 16)
        return ctf2_fail(parser, json, "expected 2, 8, 10 or 16");
    type->base = (uint8_t)base;
    return TTR_OK;
}

static ttr_status get_length_in_bits(struct ctf2_parser *parser, const struct json_value *json,
                                     struct type *type)
{
    uint64_t bits = 0;
    ttr_status status = ctf2_get_u64(parser, json, &bits);
    if (status != TTR_OK)
        return status;
    bool is_float = bits == 16 || bits == 32 || bits == 64 || (bits >= 128 && bits % 32 == 0);
    if (type->kind == TYPE_FLOAT && !is_float)
        return ctf2_fail(parser, json, "expected 16, 32, 64, 128 or a larger multiple of 32 bits");
    if (bits == 0)
        return ctf2_fail(parser, json, "expected a length of at least one bit");
    if (bits > BITS_MAX)
        return ctf2_fail_with_status(parser, TTR_E_LIMIT, json,
                                     "numbers of more than %u bits are not supported", BITS_MAX);
    if (type->kind == TYPE_FLOAT && bits > 64)
        ctf2_add_diagnostic(parser, TTR_SEVERITY_REMARK, json, "ctf.wide-float",
                            "floating point numbers of %u bits are given as the nearest ones of 64",
                            (unsigned)bits);
    type->bits = (uint32_t)bits;
    return TTR_OK;
}

static ttr_status get_byte_and_bit_order(struct ctf2_parser *parser,
                                         const struct ctf2_object *object, struct type *type)
{
    static const char *const byte_orders[] = {"little-endian", "big-endian", NULL};
    /* index 0 is the natural order of bits for little-endian, index 1 for big-endian numbers */
    static const char *const bit_orders[] = {"first-to-last", "last-to-first", NULL};
    unsigned byte_order = 0, bit_order = 0;
    ttr_status status =
        ctf2_get_word(parser, object->at[CTF2_BYTE_ORDER], byte_orders, &byte_order);
    type->is_big_endian = byte_order == 1;
    if (status != TTR_OK || !object->at[CTF2_BIT_ORDER])
        return status;
    status = ctf2_get_word(parser, object->at[CTF2_BIT_ORDER], bit_orders, &bit_order);
    type->is_reversed = bit_order != byte_order;
    return status;
}

/* Reads display base, mappings and roles of an integer. */
static ttr_status get_integer_properties(struct ctf2_build *build, const struct ctf2_object *object,
                                         struct type *type)
{
    bool is_signed = type->kind == TYPE_INT || type->kind == TYPE_VAR_INT;
    ttr_status status =
        get_display_base(build->parser, object->at[CTF2_PREFERRED_DISPLAY_BASE], type);
    if (status == TTR_OK && object->at[CTF2_MAPPINGS])
        status = ctf2_get_labels(build->parser, object->at[CTF2_MAPPINGS],
                                 is_signed ? CTF2_SIGNED : CTF2_UNSIGNED, true, &type->labels);
    return status == TTR_OK ? ctf2_get_roles(build, object->at[CTF2_ROLES], type) : status;
}

static ttr_status build_variable_length_integer(struct ctf2_build *build,
                                                const struct ctf2_object *object, struct type *type)
{
    type->align = 3;
    return get_integer_properties(build, object, type);
}

static ttr_status build_fixed_length_number(struct ctf2_build *build,
                                            const struct ctf2_object *object, struct type *type)
{
    ttr_status status = get_length_in_bits(build->parser, object->at[CTF2_LENGTH], type);
    if (status == TTR_OK)
        status = get_byte_and_bit_order(build->parser, object, type);
    if (status == TTR_OK)
        status = ctf2_get_align(build->parser, object->at[CTF2_ALIGNMENT], &type->align);
    return status == TTR_OK ? get_integer_properties(build, object, type) : status;
}

static ttr_status build_flags(struct ctf2_build *build, const struct ctf2_object *object,
                              struct type *type)
{
    const struct json_value *flags = object->at[CTF2_FLAGS];
    ttr_status status = build_fixed_length_number(build, object, type);
    if (status == TTR_OK)
        status = ctf2_get_labels(build->parser, flags, CTF2_UNSIGNED, false, &type->labels);
    if (status != TTR_OK)
        return status;
    if (!type->labels)
        return ctf2_fail(build->parser, flags, "expected at least one flag");
    const struct json_value *flag = flags->first;
    for (uint32_t i = 0; i < type->labels->n; i++, flag = flag->next)
        for (uint32_t j = 0; j < type->labels->label[i].ranges_n; j++)
            if (type->labels->label[i].ranges[j].high >= type->bits)
                return ctf2_fail(build->parser, flag, "expected bits from 0 to %u", type->bits - 1);
    return TTR_OK;
}

/* --- Strings and blobs --- */

/* Reads the size of a blob: a fixed number of bytes, or the location of its length. */
static ttr_status get_byte_count(struct ctf2_build *build, const struct ctf2_object *object,
                                 struct type *type)
{
    const struct json_value *location = object->at[CTF2_LENGTH_FIELD_LOCATION];
    unsigned found;
    type->align = 3;
    if (!location)
        return ctf2_get_u64(build->parser, object->at[CTF2_LENGTH], &type->count);
    ttr_status status = ctf2_get_location(build, location, &type->reference, &found);
    if (status == TTR_OK && !build->is_definition && found != CTF2_TARGET_UINT)
        return ctf2_fail(build->parser, location, "a length must be an unsigned integer");
    return status;
}

static ttr_status build_text(struct ctf2_build *build, const struct ctf2_object *object,
                             struct type *type)
{
    static const char *const words[] = {"utf-8",    "utf-16le", "utf-16be",
                                        "utf-32le", "utf-32be", NULL};
    static const uint8_t encodings[] = {ENCODING_UTF8, ENCODING_UTF16LE, ENCODING_UTF16BE,
                                        ENCODING_UTF32LE, ENCODING_UTF32BE};
    static const uint8_t units[] = {8, 16, 16, 32, 32};
    unsigned which = 0;
    ttr_status status = get_byte_count(build, object, type);
    if (status == TTR_OK && object->at[CTF2_ENCODING])
        status = ctf2_get_word(build->parser, object->at[CTF2_ENCODING], words, &which);
    type->encoding = encodings[which];
    type->bits = units[which];
    /* a length that is not a multiple of the character size only causes a diagnostic, since the
     * text is readable if it ends with a zero character earlier */
    if (status == TTR_OK && type->count % (type->bits / 8))
        ctf2_add_diagnostic(build->parser, TTR_SEVERITY_ODD, object->at[CTF2_LENGTH],
                            "ctf.odd-length", "text in %s has no multiple of %u bytes",
                            words[which], type->bits / 8);
    return status;
}

static ttr_status build_blob(struct ctf2_build *build, const struct ctf2_object *object,
                             struct type *type)
{
    ttr_status status = get_byte_count(build, object, type);
    if (status == TTR_OK)
        status = ctf2_get_text(build->parser, object->at[CTF2_MEDIA_TYPE], &type->media_type);
    return status == TTR_OK ? ctf2_get_roles(build, object->at[CTF2_ROLES], type) : status;
}

/* --- Arrays, structures, optionals, variants --- */

/* Enters the class `json` in the stack of open classes. The caller leaves it by decrementing
 * build->depth. */
static ttr_status push_build_frame(struct ctf2_build *build, const struct json_value *json,
                                   uint8_t kind)
{
    if (build->depth > TYPE_DEPTH_MAX)
        return ctf2_fail_with_status(build->parser, TTR_E_LIMIT, json,
                                     "field classes are nested more than %u deep", TYPE_DEPTH_MAX);
    build->frames[build->depth++] = (struct ctf2_frame){.kind = kind};
    if (build->depth > build->deepest)
        build->deepest = build->depth;
    return TTR_OK;
}

/* Builds the class inside an array, optional or other class that is not a structure. */
static ttr_status build_nested_class(struct ctf2_build *build, const struct json_value *json,
                                     uint8_t kind, const struct type **inner)
{
    ttr_status status = push_build_frame(build, json, kind);
    if (status != TTR_OK)
        return status;
    status = ctf2_build_class(build, json, inner);
    build->depth--;
    return status;
}

static bool is_cpu_member(const struct ctf2_build *build, const struct type_member *member)
{
    return build->depth == 1 && member->name.n == 6 && memcmp(member->name.p, "cpu_id", 6) == 0 &&
           (member->type->kind == TYPE_UINT || member->type->kind == TYPE_VAR_UINT) &&
           member->type->role == CTF_ROLE_NONE;
}

/* Marks the member "cpu_id" of a packet context as the CPU. CTF 2 has no role for it, but all
 * tracers use this name. */
static ttr_status set_cpu_role(struct ctf2_build *build, struct type_member *member)
{
    if (!is_cpu_member(build, member))
        return TTR_OK;
    build->is_contextual = true;
    if (build->is_definition || build->root != ROOT_PACKET_CONTEXT)
        return TTR_OK;
    struct type *ctx = ctf2_alloc(build->parser, 1, sizeof *ctx);
    if (!ctx)
        return TTR_E_NOMEM;
    *ctx = *member->type;
    ctx->name = (ttr_text){"", 0};
    ctx->role = CTF_ROLE_CPU;
    member->type = ctx;
    return TTR_OK;
}

/* Reports a name that occurs twice in one object. The specification forbids this, but the values
 * can be decoded; a field location refers to the first of them. */
static void report_repeated_name(struct ctf2_parser *parser, const struct json_value *json,
                                 const char *what)
{
    ctf2_add_diagnostic(parser, TTR_SEVERITY_ODD, json, "ctf.same-name", "two %s have one name",
                        what);
}

static ttr_status build_member(struct ctf2_build *build, const struct json_value *json,
                               struct ctf2_names *names, struct type_member *member)
{
    static const struct ctf2_property_set properties = {
        "a member class",
        CTF2_SET(NAME) | CTF2_SET(FIELD_CLASS) | CTF2_SET(ATTRIBUTES) | CTF2_SET(EXTENSIONS) |
            CTF2_SET(USER_ATTRIBUTES),
        CTF2_SET(NAME) | CTF2_SET(FIELD_CLASS)};
    struct ctf2_object object;
    struct ctf2_frame *frame = &build->frames[build->depth - 1];
    ttr_status status = ctf2_read_object(build->parser, json, &properties, &object);
    if (status == TTR_OK)
        status = ctf2_get_text(build->parser, object.at[CTF2_NAME], &member->name);
    if (status != TTR_OK)
        return status;
    member->shown = member->name;
    if (!ctf2_names_add(names, &member->name))
        report_repeated_name(build->parser, object.at[CTF2_NAME], "members of a structure");
    frame->open = member->name;
    status = ctf2_build_class(build, object.at[CTF2_FIELD_CLASS], &member->type);
    if (status == TTR_OK)
        status = set_cpu_role(build, member);
    frame->done_n++;
    return status;
}

static ttr_status build_members(struct ctf2_build *build, const struct json_value *list,
                                struct type *type)
{
    struct ctf2_names names;
    struct type_member *members = ctf2_alloc(build->parser, list->count, sizeof *members);
    ttr_status status = TTR_OK;
    if (!members)
        return TTR_E_NOMEM;
    if (!ctf2_names_init(&names, &build->parser->scratch, list->count))
        return fail_memory(build->parser->error);
    type->members = build->frames[build->depth - 1].done = members;
    for (const struct json_value *item = list->first; item && status == TTR_OK; item = item->next) {
        struct type_member *member = &members[type->members_n++];
        status = build_member(build, item, &names, member);
        if (status == TTR_OK && member->type->align > type->align)
            type->align = member->type->align;
    }
    return status;
}

static ttr_status build_struct(struct ctf2_build *build, const struct ctf2_object *object,
                               struct type *type)
{
    const struct json_value *list = object->at[CTF2_MEMBER_CLASSES];
    ttr_status status =
        ctf2_get_align(build->parser, object->at[CTF2_MINIMUM_ALIGNMENT], &type->minimum_align);
    type->align = type->minimum_align;
    if (status == TTR_OK && list)
        status = ctf2_expect_kind(build->parser, list, JSON_ARRAY);
    if (status != TTR_OK || !list || list->count == 0)
        return status;
    status = push_build_frame(build, object->json, TYPE_STRUCT);
    if (status != TTR_OK)
        return status;
    status = build_members(build, list, type);
    build->depth--;
    return status;
}

static ttr_status build_array(struct ctf2_build *build, const struct ctf2_object *object,
                              struct type *type)
{
    const struct json_value *location = object->at[CTF2_LENGTH_FIELD_LOCATION];
    unsigned found;
    ttr_status status =
        ctf2_get_align(build->parser, object->at[CTF2_MINIMUM_ALIGNMENT], &type->minimum_align);
    if (status == TTR_OK)
        status = location ? ctf2_get_location(build, location, &type->reference, &found)
                          : ctf2_get_u64(build->parser, object->at[CTF2_LENGTH], &type->count);
    if (status == TTR_OK && location && !build->is_definition && found != CTF2_TARGET_UINT)
        return ctf2_fail(build->parser, location, "a length must be an unsigned integer");
    if (status == TTR_OK)
        status = build_nested_class(build, object->at[CTF2_ELEMENT_FIELD_CLASS], TYPE_ARRAY,
                                    &type->element);
    if (status == TTR_OK)
        type->align =
            type->element->align > type->minimum_align ? type->element->align : type->minimum_align;
    return status;
}

/* Resolves the selector field of a variant or optional. `*sign`: sign of the selector, or
 * CTF2_ANY_SIGN if not known yet; `*found`: kinds of the fields that it refers to (enum
 * ctf2_target). */
static ttr_status get_selector(struct ctf2_build *build, const struct json_value *json,
                               struct type *type, enum ctf2_sign *sign, unsigned *found)
{
    ttr_status status = ctf2_get_location(build, json, &type->reference, found);
    *sign = build->is_definition        ? CTF2_ANY_SIGN
            : *found == CTF2_TARGET_INT ? CTF2_SIGNED
                                        : CTF2_UNSIGNED;
    if (status == TTR_OK && (*found & (*found - 1)))
        return ctf2_fail(
            build->parser, json,
            "a selector must be of one kind in all options: signed, unsigned or boolean");
    type->is_selector_signed = *sign == CTF2_SIGNED;
    return status;
}

static ttr_status build_optional(struct ctf2_build *build, const struct ctf2_object *object,
                                 struct type *type)
{
    const struct json_value *location = object->at[CTF2_SELECTOR_FIELD_LOCATION],
                            *set = object->at[CTF2_SELECTOR_FIELD_RANGES];
    struct ctf2_ranges ranges = {NULL, 0};
    enum ctf2_sign sign;
    unsigned found;
    ttr_status status = get_selector(build, location, type, &sign, &found);
    bool is_bool = found == CTF2_TARGET_BOOL;
    if (status == TTR_OK && !build->is_definition && !is_bool && !set)
        return ctf2_fail(
            build->parser, object->json,
            "a selector that is an integer needs the property \"selector-field-ranges\"");
    if (status == TTR_OK && set)
        status =
            ctf2_get_ranges(build->parser, set, is_bool ? CTF2_ANY_SIGN : sign, false, &ranges);
    if (status == TTR_OK && set && is_bool) {
        ctf2_add_diagnostic(build->parser, TTR_SEVERITY_ODD, set, "ctf.ranges-of-boolean",
                            "ranges for a selector that is a boolean mean nothing");
        ranges = (struct ctf2_ranges){NULL, 0};
    }
    type->ranges = ranges.range;
    type->ranges_n = ranges.n;
    return status == TTR_OK ? build_nested_class(build, object->at[CTF2_FIELD_CLASS], TYPE_OPTIONAL,
                                                 &type->element)
                            : status;
}

static ttr_status build_option(struct ctf2_build *build, const struct json_value *json,
                               enum ctf2_sign sign, struct type_member *option)
{
    static const struct ctf2_property_set properties = {
        "an option",
        CTF2_SET(NAME) | CTF2_SET(FIELD_CLASS) | CTF2_SET(SELECTOR_FIELD_RANGES) |
            CTF2_SET(ATTRIBUTES) | CTF2_SET(EXTENSIONS) | CTF2_SET(USER_ATTRIBUTES),
        CTF2_SET(FIELD_CLASS) | CTF2_SET(SELECTOR_FIELD_RANGES)};
    struct ctf2_object object;
    struct ctf2_ranges ranges;
    ttr_status status = ctf2_read_object(build->parser, json, &properties, &object);
    option->name = (ttr_text){"", 0};
    if (status == TTR_OK)
        status = ctf2_get_text(build->parser, object.at[CTF2_NAME], &option->name);
    if (status == TTR_OK)
        status = ctf2_get_ranges(build->parser, object.at[CTF2_SELECTOR_FIELD_RANGES], sign, false,
                                 &ranges);
    if (status != TTR_OK)
        return status;
    option->shown = option->name;
    option->ranges = ranges.range;
    option->ranges_n = ranges.n;
    return build_nested_class(build, object.at[CTF2_FIELD_CLASS], TYPE_VARIANT, &option->type);
}

static ttr_status build_variant(struct ctf2_build *build, const struct ctf2_object *object,
                                struct type *type)
{
    const struct json_value *list = object->at[CTF2_OPTIONS];
    enum ctf2_sign sign;
    unsigned found;
    struct ctf2_names names;
    ttr_status status =
        get_selector(build, object->at[CTF2_SELECTOR_FIELD_LOCATION], type, &sign, &found);
    if (status == TTR_OK && found == CTF2_TARGET_BOOL)
        return ctf2_fail(build->parser, object->at[CTF2_SELECTOR_FIELD_LOCATION],
                         "the selector of a variant must be an integer");
    if (status == TTR_OK)
        status = ctf2_expect_kind(build->parser, list, JSON_ARRAY);
    if (status == TTR_OK && list->count == 0)
        return ctf2_fail(build->parser, list, "a variant must have an option");
    if (status != TTR_OK)
        return status;
    if (!ctf2_names_init(&names, &build->parser->scratch, list->count))
        return fail_memory(build->parser->error);
    struct type_member *options = ctf2_alloc(build->parser, list->count, sizeof *options);
    if (!options)
        return TTR_E_NOMEM;
    type->members = options;
    for (const struct json_value *item = list->first; item && status == TTR_OK; item = item->next) {
        struct type_member *option = &options[type->members_n++];
        status = build_option(build, item, sign, option);
        if (status == TTR_OK && option->name.n && !ctf2_names_add(&names, &option->name))
            report_repeated_name(build->parser, item, "options of a variant");
    }
    return status == TTR_OK && !build->is_definition ? ctf2_check_options(build->parser, list, type)
                                                     : status;
}

/* --- Table of all field classes --- */

/* One row of the table: word for the class in the metadata, its name in messages, permitted and
 * required properties, kind of type, build function. The row is for a class of CTF 2, not of its
 * release candidate. */
#define ROW(text, what, may, must, kind, build)     \
    {                                               \
        text, {what, may, must}, kind, build, false \
    }

static const struct class_row rows[] = {
    ROW("fixed-length-unsigned-integer", "a fixed-length integer class",
        FIXED | INTEGER | CTF2_SET(ROLES), FIXED_MUST, TYPE_UINT, build_fixed_length_number),
    ROW("fixed-length-signed-integer", "a fixed-length integer class", FIXED | INTEGER, FIXED_MUST,
        TYPE_INT, build_fixed_length_number),
    ROW("structure", "a structure class",
        COMMON | CTF2_SET(MEMBER_CLASSES) | CTF2_SET(MINIMUM_ALIGNMENT), 0, TYPE_STRUCT,
        build_struct),
    ROW("null-terminated-string", "a string class", COMMON | CTF2_SET(ENCODING), 0, TYPE_STRING,
        build_text),
    ROW("static-length-string", "a string class", COMMON | CTF2_SET(ENCODING) | CTF2_SET(LENGTH),
        CTF2_SET(LENGTH), TYPE_TEXT, build_text),
    ROW("dynamic-length-string", "a string class", COMMON | CTF2_SET(ENCODING) | LENGTH_AT,
        LENGTH_AT, TYPE_TEXT, build_text),
    ROW("static-length-array", "an array class", ELEMENTS | CTF2_SET(LENGTH),
        CTF2_SET(LENGTH) | CTF2_SET(ELEMENT_FIELD_CLASS), TYPE_ARRAY, build_array),
    ROW("dynamic-length-array", "an array class", ELEMENTS | LENGTH_AT,
        LENGTH_AT | CTF2_SET(ELEMENT_FIELD_CLASS), TYPE_SEQUENCE, build_array),
    ROW("variant", "a variant class", COMMON | CTF2_SET(OPTIONS) | SELECTOR_AT,
        CTF2_SET(OPTIONS) | SELECTOR_AT, TYPE_VARIANT, build_variant),
    ROW("optional", "an optional class",
        COMMON | CTF2_SET(FIELD_CLASS) | SELECTOR_AT | CTF2_SET(SELECTOR_FIELD_RANGES),
        CTF2_SET(FIELD_CLASS) | SELECTOR_AT, TYPE_OPTIONAL, build_optional),
    ROW("fixed-length-floating-point-number", "a floating-point class", FIXED, FIXED_MUST,
        TYPE_FLOAT, build_fixed_length_number),
    ROW("fixed-length-boolean", "a boolean class", FIXED, FIXED_MUST, TYPE_BOOL,
        build_fixed_length_number),
    ROW("fixed-length-bit-array", "a bit array class", FIXED, FIXED_MUST, TYPE_BITS,
        build_fixed_length_number),
    ROW("fixed-length-bit-map", "a bit map class", FIXED | CTF2_SET(FLAGS),
        FIXED_MUST | CTF2_SET(FLAGS), TYPE_FLAGS, build_flags),
    ROW("variable-length-unsigned-integer", "a variable-length integer class",
        COMMON | INTEGER | CTF2_SET(ROLES), 0, TYPE_VAR_UINT, build_variable_length_integer),
    ROW("variable-length-signed-integer", "a variable-length integer class", COMMON | INTEGER, 0,
        TYPE_VAR_INT, build_variable_length_integer),
    ROW("static-length-blob", "a blob class",
        COMMON | CTF2_SET(MEDIA_TYPE) | CTF2_SET(LENGTH) | CTF2_SET(ROLES), CTF2_SET(LENGTH),
        TYPE_BLOB, build_blob),
    ROW("dynamic-length-blob", "a blob class", COMMON | CTF2_SET(MEDIA_TYPE) | LENGTH_AT, LENGTH_AT,
        TYPE_BLOB, build_blob),
    /* the release candidate of CTF 2 distinguished enumerations from integers */
    {"fixed-length-unsigned-enumeration",
     {"an enumeration class", FIXED | INTEGER | CTF2_SET(ROLES), FIXED_MUST | CTF2_SET(MAPPINGS)},
     TYPE_UINT,
     build_fixed_length_number,
     true},
    {"fixed-length-signed-enumeration",
     {"an enumeration class", FIXED | INTEGER, FIXED_MUST | CTF2_SET(MAPPINGS)},
     TYPE_INT,
     build_fixed_length_number,
     true},
    {"variable-length-unsigned-enumeration",
     {"an enumeration class", COMMON | INTEGER | CTF2_SET(ROLES), CTF2_SET(MAPPINGS)},
     TYPE_VAR_UINT,
     build_variable_length_integer,
     true},
    {"variable-length-signed-enumeration",
     {"an enumeration class", COMMON | INTEGER, CTF2_SET(MAPPINGS)},
     TYPE_VAR_INT,
     build_variable_length_integer,
     true},
};

static const struct class_row *find_class_row(const struct json_value *json)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (json_text_equals(json, rows[i].name))
            return &rows[i];
    return NULL;
}

static ttr_status count_field_classes(struct ctf2_build *build, const struct json_value *json,
                                      uint64_t types)
{
    build->size += types;
    if (build->size > TYPES_MAX)
        return ctf2_fail_with_status(build->parser, TTR_E_LIMIT, json,
                                     "more than %u field classes in one", TYPES_MAX);
    return TTR_OK;
}

/* Builds a class from the name of an alias. Shares the type of the alias, or builds it again if its
 * meaning depends on where it is used. */
static ttr_status build_from_alias(struct ctf2_build *build, const struct json_value *json,
                                   const struct type **type)
{
    struct ctf2_parser *parser = build->parser;
    const struct ctf2_alias *alias =
        ctf2_find_alias(parser->state, json->token.text, json->token.n);
    if (!alias)
        return ctf2_fail(parser, json, "no field class alias \"%.60s\" is defined before",
                         json->token.text);
    if (alias->type) {
        if (build->depth + alias->height > build->deepest)
            build->deepest = build->depth + alias->height;
        if (build->deepest > TYPE_DEPTH_MAX + 1)
            return ctf2_fail_with_status(parser, TTR_E_LIMIT, json,
                                         "field classes are nested more than %u deep",
                                         TYPE_DEPTH_MAX);
        *type = alias->type;
        return count_field_classes(build, json, alias->size);
    }
    ttr_status status = ctf2_count_work(parser, json, alias->nodes);
    if (status != TTR_OK)
        return status;
    const struct json_value *use = parser->alias_use;
    parser->alias_use = use ? use : json;
    status = ctf2_build_class(build, alias->json, type);
    parser->alias_use = use;
    return status;
}

/* Rejects roles on classes that cannot have any: ignoring them would make packets unreadable. */
static ttr_status reject_roles(struct ctf2_parser *parser, const struct json_value *json)
{
    const struct json_value *roles = json_find_member(json, "roles");
    return roles ? ctf2_fail(parser, roles,
                             "roles are for unsigned integers and blobs of a fixed length")
                 : TTR_OK;
}

ttr_status ctf2_build_class(struct ctf2_build *build, const struct json_value *json,
                            const struct type **type)
{
    struct ctf2_parser *parser = build->parser;
    struct ctf2_object object;
    if (json->token.kind == JSON_TEXT)
        return build_from_alias(build, json, type);
    if (json->token.kind != JSON_OBJECT)
        return ctf2_fail(parser, json, "expected a field class or the name of an alias, found %s",
                         json_kind_text(json->token.kind));
    const struct json_value *name = json_find_member(json, "type");
    const struct class_row *row = name ? find_class_row(name) : NULL;
    if (!name)
        return ctf2_fail(parser, json, "a field class must have the property \"type\"");
    if (!row)
        return ctf2_fail(parser, name, "no such field class: \"%.60s\"", name->token.text);
    if (row->is_rc7)
        ctf2_report_rc7_syntax(parser, name, "an enumeration class");
    struct type *made = ctf2_alloc(parser, 1, sizeof *made);
    ttr_status status = made ? count_field_classes(build, json, 1) : TTR_E_NOMEM;
    if (status == TTR_OK && !(row->properties.may & CTF2_SET(ROLES)))
        status = reject_roles(parser, json);
    if (status == TTR_OK)
        status = ctf2_read_object(parser, json, &row->properties, &object);
    if (status != TTR_OK)
        return status;
    made->kind = (uint8_t)row->kind;
    made->name = made->media_type = (ttr_text){"", 0};
    *type = made;
    return row->build(build, &object, made);
}
