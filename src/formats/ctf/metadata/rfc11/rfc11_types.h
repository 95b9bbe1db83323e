/* Parser of RFC v1.1: type declarations, which inherit from each other, and the types made of them.
 *
 * A declaration is a set of attributes; a child inherits the attributes that it does not declare
 * (4.1.1). Each concrete declaration is made into a `struct type` once:
 *   text -> rfc11_declaration (rfc11_declare.c) -> rfc11_type (rfc11_make.c)
 *        -> alignment (rfc11_types.c)
 *
 * Ownership: all data are in the description's arena. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_TYPES_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_TYPES_H

#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/metadata/rfc11/rfc11_lex.h"

/* Rule by which the alignment of a type is determined. */
enum rfc11_rule {
    RULE_FIXED = 0, /* type.align is final */
    RULE_BASIC,     /* the declared alignment; else `natural` or the default of the trace */
    /* the largest alignment of the members, or the declared one if that is larger */
    RULE_COMPOUND,
    /* struct of an event header: `natural`; the alignment of the members does not matter */
    RULE_HEADER
};

struct rfc11_type {
    /* the first member, since pointers to it are cast to struct rfc11_type */
    struct type type;
    struct rfc11_type
        /* next type that was created; inner types are created before the types that contain
         * them */
        *next;
    /* array of the members, to fill them in while the type is made */
    struct type_member *members;
    uint8_t rule;
    uint8_t depth; /* levels of nested types, including this one */
    bool is_empty; /* true if values of the type occupy no bits */
    /* alignment in bits if the trace declares natural alignment; at most the word size */
    uint32_t natural;
    uint32_t fields; /* number of fields, including those of nested structs and arrays */
};

/* Hash table from names to declarations; allocated in the arena. */
struct rfc11_names {
    struct rfc11_name **buckets;
    size_t buckets_n, n;
};

struct rfc11_name {
    ttr_text name;
    uint64_t hash;
    void *thing;
    struct rfc11_name *next;
};

void *rfc11_names_find(const struct rfc11_names *names, ttr_text name);
TTR_MUST bool rfc11_names_add(struct rfc11_names *names, struct arena *arena, ttr_text name,
                              void *thing);

/* The type of an event header, with the properties of the section that determine it. */
struct rfc11_header {
    /* header: event header type; size: event context that event_size = true implies; NULL until
     * needed */
    struct rfc11_type *header, *size;
    const struct ctf_clock *clock;
    uint32_t word_size;
    uint8_t type, alignment;
    bool is_big_endian, has_no_time;
};

/* State of the parser that is kept between calls of rfc11_parse (description->parser). */
struct rfc11_state {
    struct rfc11_type *first, *last; /* list of all types in order of creation */
    struct rfc11_type *unaligned;    /* first type of the list without a final alignment */
    struct rfc11_names types;        /* maps a name to a struct rfc11_declaration */
    struct rfc11_names sections;     /* maps a name to a struct ctf_stream_class */
    struct ctf_clock *clock;
    /* event header that was made last; often hundreds of sections share one */
    struct rfc11_header made;
    uint32_t word_size; /* word size in bits; 0 if not declared */
    bool has_trace;     /* true if a trace block was parsed */
};

/* Returns the parser's state, creating it if needed. Returns NULL if memory runs out. */
struct rfc11_state *rfc11_get_state(struct ctf_description *description);

/* Allocates a zeroed type and appends it to the list. Returns NULL if memory runs out. */
struct rfc11_type *rfc11_add_type(struct ctf_description *description, uint8_t kind,
                                  enum rfc11_rule rule);

/* Sets the alignment of the types that were added since the last call. */
void rfc11_align_new_types(struct ctf_description *description);

/* Returns the base 2 logarithm of a power of two. */
static inline uint8_t rfc11_get_log2(uint32_t power)
{
    return (uint8_t)__builtin_ctz(power);
}

/* Attributes of type declarations. */
enum rfc11_attribute {
    ATTRIBUTE_PARENT,
    ATTRIBUTE_ALIGN,
    ATTRIBUTE_BYTE_ORDER,
    ATTRIBUTE_SIZE,
    ATTRIBUTE_SIGNED,
    ATTRIBUTE_BASE,
    ATTRIBUTE_UNIT_SIZE,
    ATTRIBUTE_MAP,
    ATTRIBUTE_FIELDS,
    ATTRIBUTE_LENGTH,
    ATTRIBUTE_ELEM_TYPE,
    ATTRIBUTE_LENGTH_TYPE,
    ATTRIBUTE_ENCODING,
    ATTRIBUTE_FLOAT, /* is_float; not in the RFC, like the attribute that follows */
    ATTRIBUTE_LENGTH_FIELD,
    ATTRIBUTE_COUNT
};

/* Abstract root types from which declarations derive. */
enum rfc11_kind {
    RFC11_KIND_NONE = 0,
    RFC11_INTEGER = 1,
    RFC11_STRUCT = 2,
    RFC11_ARRAY = 4,
    RFC11_SEQUENCE = 8,
    RFC11_STRING_KIND = 16
};

struct rfc11_declaration {
    ttr_text name; /* declared name; "" for types without a name */
    enum rfc11_kind kind;
    const struct rfc11_declaration *parent;
    /* bit set of attributes (1 << enum rfc11_attribute) that are declared here or inherited */
    uint32_t declared;
    bool is_abstract, is_built_in;
    /* lacks_map: an enum has no map yet; lacks_unit: a gcc_bitfield has no unit yet */
    bool lacks_map, lacks_unit;
    bool is_signed, is_big_endian, is_float;
    uint8_t base, encoding;
    uint32_t align, size, unit_size;
    struct type_label *labels;
    uint32_t labels_n;
    uint64_t entries; /* number of entries in the map, as written */
    /* most, least: greatest and smallest value of a label; `least` is two's complement, and 0 if
     * no value is negative */
    uint64_t most, least;
    size_t most_at, least_at; /* offsets in the text of the labels with these values */
    struct type_member *members;
    uint32_t members_n;
    uint64_t length;
    ttr_text length_field;
    const struct rfc11_type *element, *length_type;
    /* type that was made of the declaration; NULL until it is used */
    struct rfc11_type *made;
};

struct rfc11_parser {
    struct rfc11_lexer lexer;
    struct ctf_description *description;
    struct rfc11_state *state;
    /* levels of types and skipped blocks that contain the current position */
    unsigned depth;
    /* number of names in blocks that may be repeated: unknown attributes, and entries of env */
    uint64_t repeatable;
    bool states_alignment; /* true if the text declares the default alignment */
};

/* Returns true if a name is that of an abstract root type: integer, gcc_bitfield, enum, struct,
 * array, sequence or string. Declaring such a name is an error. */
bool rfc11_is_root_name(ttr_text name);

/* Copies a payload struct with its first `context_n` members marked as the event's context. Returns
 * NULL if memory runs out. */
const struct rfc11_type *rfc11_mark_context_members(struct rfc11_parser *parser,
                                                    const struct rfc11_type *type,
                                                    uint32_t context_n);

/* Returns the type of a complete declaration; the first call makes it. Returns NULL on failure;
 * `at` is the offset in the text for messages. */
struct rfc11_type *rfc11_make_type(struct rfc11_parser *parser,
                                   struct rfc11_declaration *declaration, size_t at);

/* Parses the use of a type: a name, or `type { ... }`. Returns NULL on failure. */
struct rfc11_type *rfc11_parse_type(struct rfc11_parser *parser);

/* Parses a list of fields { { type, name }, ... } as an unnamed struct. Returns NULL on failure. */
struct rfc11_type *rfc11_parse_fields(struct rfc11_parser *parser);

/* Parses `NAME { ... }` after the word `type` or `abstract_type`, and declares the type. */
bool rfc11_parse_declaration(struct rfc11_parser *parser, bool is_abstract);

/* --- Attributes of types and blocks (rfc11_types.c) --- */

/* Emits a diagnostic for an offset in the text. */
void rfc11_add_diagnostic(const struct rfc11_parser *parser, ttr_severity severity, size_t at,
                          const char *code, const char *text);

/* Parses the start of an attribute: an optional point, the name, and `=`. If `{` follows the name
 * instead, sets `*is_block` and does not consume the brace. */
bool rfc11_begin_attribute(struct rfc11_parser *parser, struct rfc11_token *name, bool *is_block);

/* Parses the end of an attribute: `;`, which is optional after `}`. */
bool rfc11_end_attribute(struct rfc11_parser *parser, bool ended_with_brace);

/* Skips the value of an unknown attribute, or an unknown block, and emits a diagnostic. */
bool rfc11_skip_unknown(struct rfc11_parser *parser, const struct rfc11_token *name,
                        const char *where);

/* Parses the word `true` or `false`. */
bool rfc11_parse_bool(struct rfc11_parser *parser, bool *value);

#endif
