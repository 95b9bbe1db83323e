/* Inside the parser of RFC v1.1: types as declared, which inherit from each other, and types as
 * made of them for the description.
 *
 * A declaration is a set of attributes; a child has its parent's where it states none itself
 * (4.1.1).  A concrete one is made into a `struct type` once.  Ownership: the description's arena.
 */
#ifndef TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_TYPES_H
#define TRACETTA_FORMATS_CTF_METADATA_RFC11_RFC11_TYPES_H

#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/metadata/rfc11/rfc11_lex.h"

/* Where a type's alignment comes from. */
enum rfc11_rule {
    RULE_FIXED = 0, /* type.align as it is */
    RULE_BASIC,     /* stated, or by `natural` */
    RULE_COMPOUND,  /* the largest inside, at least what is stated */
    RULE_HEADER     /* by `natural`, whatever is inside */
};

struct rfc11_type {
    struct type type;            /* first: a const struct type * of the description points here */
    struct rfc11_type *next;     /* in the order they were made: what is inside comes first */
    struct type_member *members; /* of fixed structs, while they are made */
    uint8_t rule;
    uint8_t depth;    /* levels inside, its own counted */
    bool is_empty;    /* never takes a bit */
    uint32_t natural; /* bits it is aligned to in natural mode, where the word is as large */
    uint32_t fields;  /* fields in all, structs and arrays counted with what is inside */
};

/* Names to things, in the arena. */
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

void *rfc11_names_get(const struct rfc11_names *names, ttr_text name);
TTR_MUST bool rfc11_names_put(struct rfc11_names *names, struct arena *arena, ttr_text name,
                              void *thing);

/* A header of events, and what it was made for. */
struct rfc11_header {
    struct rfc11_type *header,
        *size; /* NULL = none yet; size: of event_size, made when it is needed */
    const struct ctf_clock *clock;
    uint32_t word_size;
    uint8_t type, alignment;
    bool is_big_endian, has_no_time;
};

/* What is remembered between texts: description->parser. */
struct rfc11_state {
    struct rfc11_type *first, *last; /* all types made */
    struct rfc11_type *unaligned;    /* the first whose alignment was not set yet */
    struct rfc11_names types;        /* to struct rfc11_declaration */
    struct rfc11_names sections;     /* to struct ctf_stream_class */
    struct ctf_clock *clock;
    struct rfc11_header
        made; /* the last header of events that was made: hundreds of sections have the same */
    uint32_t word_size; /* 0 = not given */
    bool has_trace;     /* the block trace was there */
};

/* Gives the state, made when there is none; NULL when memory is out. */
struct rfc11_state *rfc11_state_of(struct ctf_description *description);

/* A zeroed type that joins the state's list; NULL when memory is out. */
struct rfc11_type *rfc11_add_type(struct ctf_description *description, uint8_t kind,
                                  enum rfc11_rule rule);

/* Sets the alignment of those types that were made since. */
void rfc11_align_new(struct ctf_description *description);

/* The logarithm of a power of two. */
static inline uint8_t rfc11_log2(uint32_t power)
{
    return (uint8_t)__builtin_ctz(power);
}

/* The attributes of types. */
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
    ATTRIBUTE_FLOAT, /* an extension, as is the next */
    ATTRIBUTE_LENGTH_FIELD,
    ATTRIBUTE_COUNT
};

/* What a type is at its root. */
enum rfc11_kind {
    RFC11_KIND_NONE = 0,
    RFC11_INTEGER = 1,
    RFC11_STRUCT = 2,
    RFC11_ARRAY = 4,
    RFC11_SEQUENCE = 8,
    RFC11_STRING_KIND = 16
};

struct rfc11_declaration {
    ttr_text name; /* "" = none */
    enum rfc11_kind kind;
    const struct rfc11_declaration *parent;
    uint32_t given; /* 1 << attribute: stated here or by an ancestor */
    bool is_abstract, is_built_in;
    bool wants_map, wants_unit; /* of enum, of gcc_bitfield */
    bool is_signed, is_big_endian, is_float;
    uint8_t base, encoding;
    uint32_t align, size, unit_size;
    struct type_label *labels;
    uint32_t labels_n;
    uint64_t entries; /* of the map, from which they were made */
    uint64_t most,
        least; /* largest and least label; `least` is two's complement, 0 unless negative */
    size_t most_at, least_at; /* where they stand in the text */
    struct type_member *members;
    uint32_t members_n;
    uint64_t length;
    ttr_text length_field;
    const struct rfc11_type *element, *length_type;
    struct rfc11_type *made; /* NULL = not yet */
};

struct rfc11_parser {
    struct rfc11_lexer lexer;
    struct ctf_description *description;
    struct rfc11_state *state;
    unsigned depth;      /* of types inside one another, and of blocks passed over */
    uint64_t repeatable; /* names met that a block may have again: what was passed over, entries of
                            env */
    bool states_alignment; /* the text says how types are aligned that do not say so themselves */
};

/* True for integer, gcc_bitfield, enum, struct, array, sequence and string, which nobody may
 * declare. */
bool rfc11_is_root_name(ttr_text name);

/* Makes a struct like another, of which the first members are an event's context; NULL when memory
 * is out. */
const struct rfc11_type *rfc11_with_context(struct rfc11_parser *parser,
                                            const struct rfc11_type *type, uint32_t context_n);

/* Makes the type of a complete declaration (once); NULL when it is refused: `at` is the place for
 * that. */
struct rfc11_type *rfc11_make_type(struct rfc11_parser *parser,
                                   struct rfc11_declaration *declaration, size_t at);

/* Reads a type where one is used: a name, or `type { ... }`.  NULL when refused. */
struct rfc11_type *rfc11_parse_type(struct rfc11_parser *parser);

/* Reads a list of fields { { type, name }, ... } as a struct of its own.  NULL when refused. */
struct rfc11_type *rfc11_parse_fields(struct rfc11_parser *parser);

/* Reads `NAME { ... }` behind `type` or `abstract_type`, and remembers it. */
bool rfc11_parse_declaration(struct rfc11_parser *parser, bool is_abstract);

/* --- Attributes, in all blocks: rfc11_types.c --- */

/* Notes something at an offset of the text. */
void rfc11_note(const struct rfc11_parser *parser, ttr_severity severity, size_t at,
                const char *code, const char *text);

/* Begins an attribute: a leading point is passed over, its name given, then `=` must follow.
 * `is_block`: `{` follows instead; it is not taken. */
bool rfc11_begin_attribute(struct rfc11_parser *parser, struct rfc11_token *name, bool *is_block);

/* Ends an attribute: `;`, which may be missing behind `}`. */
bool rfc11_end_attribute(struct rfc11_parser *parser, bool ended_with_brace);

/* Passes over the value of an attribute, or a block, that the language does not have, and notes so.
 */
bool rfc11_skip_unknown(struct rfc11_parser *parser, const struct rfc11_token *name,
                        const char *where);

/* true OR false. */
bool rfc11_take_bool(struct rfc11_parser *parser, bool *value);

#endif
