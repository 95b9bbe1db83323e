/* Parser of V6 metadata.
 *
 *   block     u16 size of a header   header   rows
 *   row       u16 size   varint number   string provider   varint id   string name   fields
 *             u16 size of options   options   rest
 *   fields    u16 n   n times: u16 size, string name, type, rest
 *   type      u8 code   19, 24, 25: type of the elements   22: type of the elements, u16 count
 *             1: fields
 *   options   u8 kind   1 u8 opcode   3 u64 keywords   4 string message   5 string description
 *             6 two strings   7 GUID   8 u8 level   9 u8 version
 *
 * Providers "Universal.*" declare texts as one UTF-8 character, but store a 16-bit length and the
 * text. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

#define DEPTH_MAX 24u
#define LEAST_FIELD 4u

enum {
    OPTION_OPCODE = 1,
    OPTION_KEYWORDS = 3,
    OPTION_MESSAGE = 4,
    OPTION_DESCRIPTION = 5,
    OPTION_PAIR = 6,
    OPTION_GUID = 7,
    OPTION_LEVEL = 8,
    OPTION_VERSION = 9
};

struct metadata6_parser {
    struct nettrace_reader *reader;
    bool is_universal;
    bool has_locations;
    bool is_out_of_memory;
    const char *problem;
};

static const struct type length16 = {.kind = TYPE_UINT, .bits = 16, .align = 3};

static const struct type *new_arena_type(struct metadata6_parser *parser, struct type type)
{
    struct type *copy = arena_alloc(&parser->reader->arena, sizeof *copy);
    parser->is_out_of_memory |= !copy;
    type.align = 3;
    if (copy)
        *copy = type;
    return copy;
}

static const struct type *make_text_type(struct metadata6_parser *parser, uint64_t bytes)
{
    return new_arena_type(parser, (struct type){.kind = TYPE_TEXT,
                                                .bits = 8,
                                                .count = bytes,
                                                .has_inline_length = !bytes,
                                                .length_type = bytes ? NULL : &length16});
}

static const struct type *parse_struct_type(struct metadata6_parser *parser, struct cursor *c,
                                            unsigned depth);
static const struct type *parse_type6(struct metadata6_parser *parser, struct cursor *c,
                                      unsigned depth);

/* Parses an array type. An array of characters becomes text. */
static const struct type *parse_array_type(struct metadata6_parser *parser, struct cursor *c,
                                           bool is_fixed, unsigned depth)
{
    static const struct type u16 = {.kind = TYPE_UINT, .bits = 16, .align = 3};
    uint8_t code = cursor_left(c) ? *c->p : 0;
    const struct type *element = code == NETTRACE_CHAR ? &u16 : parse_type6(parser, c, depth + 1);
    if (code == NETTRACE_CHAR)
        (void)cursor_skip(c, 1);
    uint16_t count = is_fixed ? cursor_u16le(c) : 0;
    if (!element)
        return NULL;
    if (code == NETTRACE_CHAR8 && (count || !is_fixed))
        return make_text_type(parser, count);
    return new_arena_type(
        parser,
        (struct type){.kind = is_fixed ? TYPE_ARRAY : TYPE_SEQUENCE,
                      .count = count,
                      .element = element,
                      .has_inline_length = !is_fixed,
                      .length_type = is_fixed ? NULL : &length16,
                      .role = code == NETTRACE_CHAR ? NETTRACE_ROLE_TEXT16 : NETTRACE_ROLE_NONE});
}

/* Parses a location type (rel_loc, data_loc): a field of four bytes that refers to a value
 * elsewhere in the payload. The role of the result contains the type of that value, and from where
 * its offset counts. */
static const struct type *parse_location_type(struct metadata6_parser *parser, struct cursor *c,
                                              bool is_relative)
{
    uint8_t code = cursor_u8(c);
    if (code != NETTRACE_CHAR8 && (code < NETTRACE_BOOLEAN || code > NETTRACE_GUID) &&
        code != NETTRACE_BOOLEAN8) {
        parser->problem = "a location field with values of no fixed size";
        return NULL;
    }
    parser->has_locations = true;
    unsigned role = (is_relative ? NETTRACE_ROLE_RELATIVE : NETTRACE_ROLE_LOCATION) |
                    (unsigned)code << NETTRACE_ROLE_CODE_SHIFT;
    return new_arena_type(parser,
                          (struct type){.kind = TYPE_BLOB, .count = 4, .role = (uint16_t)role});
}

static const struct type *parse_type6(struct metadata6_parser *parser, struct cursor *c,
                                      unsigned depth)
{
    uint8_t code = cursor_u8(c);
    const struct type *type = NULL;
    if (depth >= DEPTH_MAX)
        parser->problem = "objects or arrays are nested too deeply";
    else if (code == NETTRACE_OBJECT)
        return parse_struct_type(parser, c, depth + 1);
    else if (code == NETTRACE_ARRAY || code == NETTRACE_FIXED_ARRAY)
        return parse_array_type(parser, c, code == NETTRACE_FIXED_ARRAY, depth);
    else if (code == NETTRACE_REL_LOC || code == NETTRACE_DATA_LOC)
        return parse_location_type(parser, c, code == NETTRACE_REL_LOC);
    else if (code == NETTRACE_CHAR8)
        return make_text_type(parser, parser->is_universal ? 0 : 1);
    else if (code == NETTRACE_VAR_INT)
        return new_arena_type(parser,
                              (struct type){.kind = TYPE_VAR_UINT, .role = NETTRACE_ROLE_ZIGZAG});
    else if (code == NETTRACE_VAR_UINT)
        return new_arena_type(parser, (struct type){.kind = TYPE_VAR_UINT});
    else if (code == NETTRACE_BOOLEAN8)
        return new_arena_type(parser, (struct type){.kind = TYPE_BOOL, .bits = 8});
    else if (!(type = clr_get_type_of_code(code)))
        parser->problem = "a field has an unknown type";
    return type;
}

static bool parse_field6(struct metadata6_parser *parser, struct cursor *c,
                         struct type_member *member, unsigned depth)
{
    struct cursor field = cursor_slice(c, cursor_u16le(c));
    ttr_text name = nettrace_read_string(&field);
    const char *copy = arena_copy(&parser->reader->arena, name.p, name.n);
    parser->is_out_of_memory |= !copy;
    member->name = (ttr_text){copy ? copy : "", copy ? name.n : 0};
    member->type = field.failed ? NULL : parse_type6(parser, &field, depth);
    return member->type && !field.failed && !c->failed;
}

static const struct type *parse_struct_type(struct metadata6_parser *parser, struct cursor *c,
                                            unsigned depth)
{
    uint16_t n = cursor_u16le(c);
    if (n > cursor_left(c) / LEAST_FIELD) {
        parser->problem = "more fields are declared than present";
        return NULL;
    }
    struct type_member *members = arena_alloc(&parser->reader->arena, n ? n * sizeof *members : 1);
    parser->is_out_of_memory |= !members;
    for (uint16_t i = 0; members && i < n; i++) {
        members[i] = (struct type_member){.name = {"", 0}};
        if (!parse_field6(parser, c, &members[i], depth)) {
            parser->problem = parser->problem ? parser->problem : "a field is incomplete";
            return NULL;
        }
    }
    return members
               ? new_arena_type(
                     parser, (struct type){.kind = TYPE_STRUCT, .members = members, .members_n = n})
               : NULL;
}

/* Parses options up to the first with an unknown kind, which has an unknown size. */
static void parse_options6(struct cursor *c, struct nettrace_definition *definition)
{
    while (cursor_left(c) > 0) {
        switch (cursor_u8(c)) {
        case OPTION_OPCODE:
            definition->opcode = cursor_u8(c);
            definition->has_opcode = true;
            break;
        case OPTION_KEYWORDS:
            definition->keyword = cursor_u64le(c);
            break;
        case OPTION_LEVEL:
            definition->level = cursor_u8(c);
            break;
        case OPTION_VERSION:
            definition->version = cursor_u8(c);
            break;
        case OPTION_GUID:
            (void)cursor_skip(c, 16);
            break;
        case OPTION_PAIR:
            (void)nettrace_read_string(c);
            (void)nettrace_read_string(c);
            break;
        case OPTION_MESSAGE:
            definition->message = nettrace_read_string(c);
            break;
        case OPTION_DESCRIPTION:
            definition->description = nettrace_read_string(c);
            break;
        default:
            return;
        }
    }
}

static ttr_id intern_text(struct nettrace_reader *reader, ttr_text text, bool *is_out_of_memory)
{
    uint32_t id = intern_add(&reader->t->strings, text.p, text.n);
    *is_out_of_memory |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

static ttr_status parse_metadata_row(struct nettrace_reader *reader, struct cursor *row)
{
    struct nettrace_definition definition = {.number = (uint32_t)nettrace_read_varint(row)};
    definition.bytes = row->p;
    definition.bytes_n = cursor_left(row);
    struct metadata6_parser parser = {.reader = reader};
    if (nettrace_reuse_known_type(reader, &definition))
        return TTR_OK;
    uint64_t offset = row->offset;
    ttr_text provider = nettrace_read_string(row);
    parser.is_universal = nettrace_is_universal(provider);
    definition.provider = intern_text(reader, provider, &parser.is_out_of_memory);
    definition.id = (uint32_t)nettrace_read_varint(row);
    definition.name = intern_text(reader, nettrace_read_string(row), &parser.is_out_of_memory);
    if (row->failed)
        return TTR_OK; /* the caller reports once per block that rows are cut off */
    const struct type *root = parse_struct_type(&parser, row, 0);
    if (root) {
        struct cursor options = cursor_slice(row, cursor_u16le(row));
        parse_options6(&options, &definition);
        definition.has_locations = parser.has_locations;
        definition.root = arena_alloc(&reader->arena, sizeof *root);
        if (definition.root)
            *definition.root = *root;
        parser.is_out_of_memory |= !definition.root;
        definition.could_lie = nettrace_get_earlier_count_bit(definition.root);
    } else if (!parser.is_out_of_memory) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "nettrace.bad-metadata",
                             "the fields of \"%s\" are not decoded: %s",
                             ttr_text_get(reader->t, definition.name).p,
                             parser.problem ? parser.problem : "they are incomplete");
    }
    if (parser.is_out_of_memory || !nettrace_fill_known_event(reader, &definition))
        return fail_memory(reader->error);
    row->failed = false;
    return nettrace_add_event_type(reader, &definition, offset);
}

ttr_status nettrace_parse_metadata6(struct nettrace_reader *reader, struct cursor *c)
{
    ttr_status status = TTR_OK;
    (void)cursor_skip(c, cursor_u16le(c));
    while (cursor_left(c) > 0 && !c->failed && status == TTR_OK) {
        struct cursor row = cursor_slice(c, cursor_u16le(c));
        if (c->failed)
            break;
        status = parse_metadata_row(reader, &row);
        c->failed |= row.failed;
    }
    return status;
}
