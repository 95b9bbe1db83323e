/* TSDL syntax: tokens, and the syntax tree made of them (CTF 1.8.3 appendix C).
 *
 *   text -> tsdl_next_token -> tokens -> tsdl_parse_text -> statements
 *        -> tsdl_resolve_text -> description
 *
 * Ownership: tokens and nodes borrow the text; decoded strings and nodes are in the arenas of
 * struct tsdl_reading and are freed with it. Thread rule: one thread per struct tsdl_reading. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TREE_H
#define TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TREE_H

#include "formats/ctf/description/ctf_description.h"

#define TSDL_DEPTH_MAX 64u /* maximum nesting of blocks, brackets and parentheses */

/* State of one call of tsdl_parse, shared by lexer, parser and resolver. */
struct tsdl_reading {
    const struct ctf_text *text;
    struct arena tree;
    /* nodes of the current event block, if trees of event blocks are not kept */
    struct arena block;
    size_t tree_max; /* limit of `tree` in bytes */
    ttr_error *error;
    ttr_status status; /* status of the first failure; TTR_OK if none */
    bool is_at_end;    /* the failure is that the text ended unexpectedly */
    /* the text ends inside the declaration at `cut_at`, which is dropped with everything after it
     */
    bool is_cut;
    size_t cut_at;
};

/* Set an error at offset `at`, or that memory is out, unless one is set already. Return false. */
bool tsdl_fail(struct tsdl_reading *reading, size_t at, const char *format, ...) TTR_PRINTF(3, 4);
bool tsdl_fail_memory(struct tsdl_reading *reading);

/* Allocates zeroed bytes of the tree. Returns NULL, and records the failure, at the memory limit.
 */
void *tsdl_tree_alloc(struct tsdl_reading *reading, size_t size);

enum tsdl_token_kind {
    TSDL_TOKEN_END = 0,
    TSDL_TOKEN_NAME,
    TSDL_TOKEN_KEYWORD,
    TSDL_TOKEN_NUMBER,
    TSDL_TOKEN_STRING,     /* "..." */
    TSDL_TOKEN_CHARACTERS, /* '...' */
    TSDL_TOKEN_DEFINE,     /* := */
    TSDL_TOKEN_ARROW,      /* -> */
    TSDL_TOKEN_DOTS,       /* ... */
    TSDL_TOKEN_SIGN        /* one of []().{}*+-<>:;=, : the character in `keyword` */
};

enum tsdl_keyword {
    TSDL_ALIGN = 1,
    TSDL_CALLSITE,
    TSDL_CHAR,
    TSDL_CLOCK,
    TSDL_CONST,
    TSDL_DOUBLE,
    TSDL_ENUM,
    TSDL_ENV,
    TSDL_EVENT,
    TSDL_FLOAT,
    TSDL_FLOATING_POINT,
    TSDL_INT,
    TSDL_INTEGER,
    TSDL_LONG,
    TSDL_SHORT,
    TSDL_SIGNED,
    TSDL_STREAM,
    TSDL_STRING,
    TSDL_STRUCT,
    TSDL_TRACE,
    TSDL_TYPEALIAS,
    TSDL_TYPEDEF,
    TSDL_UNSIGNED,
    TSDL_VARIANT,
    TSDL_VOID,
    TSDL_BOOL,
    TSDL_COMPLEX,
    TSDL_IMAGINARY
};

struct tsdl_token {
    uint8_t kind, keyword;
    bool is_unescaped; /* a string taken literally, without escapes (LTTng) */
    size_t at, end;    /* byte offsets in the text */
    ttr_text text;     /* word of a name or keyword; decoded characters of a string */
    uint64_t number;
};

/* Reads the token after `token->end`. Returns false if it is invalid. */
TTR_MUST bool tsdl_next_token(struct tsdl_reading *reading, struct tsdl_token *token);

/* Returns the keyword that a word is; 0 if it is not a keyword. */
uint8_t tsdl_find_keyword(ttr_text word);

enum tsdl_value_kind {
    TSDL_VALUE_NUMBER,
    TSDL_VALUE_STRING,
    TSDL_VALUE_PATH /* names joined by points, as text "a.b.c" */
};

struct tsdl_value {
    uint8_t kind, keyword; /* keyword: set if the path is a single keyword */
    bool is_negative;
    bool is_unescaped; /* a string with literal quotes and backslashes */
    size_t at;
    uint64_t number; /* absolute value of a number */
    ttr_text text;
};

struct tsdl_statement;

struct tsdl_enumerator {
    const struct tsdl_enumerator *next;
    size_t at;
    ttr_text label;
    /* low: first value; NULL: the number after the previous enumerator; high: last value; NULL:
     * only `low` */
    const struct tsdl_value *low, *high;
};

enum tsdl_class {
    TSDL_CLASS_NAMED,
    TSDL_CLASS_INTEGER,
    TSDL_CLASS_FLOAT,
    TSDL_CLASS_STRING,
    TSDL_CLASS_STRUCT,
    TSDL_CLASS_VARIANT,
    TSDL_CLASS_ENUM
};

/* A type specifier. */
struct tsdl_specifier {
    uint8_t class;
    bool has_body;
    size_t at;
    ttr_text name; /* NAMED: "unsigned long"; STRUCT, VARIANT, ENUM: its tag, "" if there is none */
    const struct tsdl_statement *body; /* first attribute or field in the braces */
    const struct tsdl_enumerator *enumerator;
    const struct tsdl_specifier *container; /* ENUM: integer type; NULL = int */
    const struct tsdl_value *tag;           /* VARIANT: selector */
    const struct tsdl_value *align;         /* STRUCT: minimum alignment */
};

struct tsdl_dimension {
    const struct tsdl_dimension *next; /* next dimension, which is inside this one */
    const struct tsdl_value *length;
};

/* Name of a field or new type, with the array dimensions, stars and bitfield width that modify the
 * type. */
struct tsdl_declarator {
    const struct tsdl_declarator *next;
    size_t at;
    ttr_text name; /* "" if there is none */
    uint32_t pointers;
    const struct tsdl_dimension *dimension;
    const struct tsdl_value *bits; /* width of a GNU/C bitfield */
};

enum tsdl_statement_kind {
    TSDL_ASSIGN,      /* name = value */
    TSDL_ASSIGN_TYPE, /* name := specifier */
    TSDL_FIELDS,      /* specifier declarator, declarator; */
    TSDL_TYPES,       /* typedef specifier declarator, declarator; */
    TSDL_ALIAS,       /* typealias specifier declarator := name; */
    TSDL_DECLARE,     /* struct name { ... }; */
    TSDL_BLOCK        /* keyword { body }; */
};

struct tsdl_statement {
    const struct tsdl_statement *next;
    uint8_t kind, keyword;
    bool is_deferred; /* BLOCK: `body` is parsed when needed by tsdl_parse_block, and then freed */
    uint32_t alias_pointers;
    size_t at;
    ttr_text name; /* ASSIGN: name such as "packet.header" */
    union {
        const struct tsdl_value *value; /* ASSIGN */
        const struct tsdl_specifier *specifier;
        const struct tsdl_statement *body; /* BLOCK */
    };
    const struct tsdl_declarator *declarator; /* FIELDS, TYPES, ALIAS */
    const struct tsdl_specifier *alias; /* ALIAS: the new name; followed by `pointers` stars */
};

/* Parses a complete text. `*first` is the first declaration, NULL if there is none. */
TTR_MUST bool tsdl_parse_text(struct tsdl_reading *reading, const struct tsdl_statement **first);

/* Parse the body of a deferred block, and free it again. Nodes that are allocated between the two
 * calls are freed with the body. */
TTR_MUST bool tsdl_parse_block(struct tsdl_reading *reading, const struct tsdl_statement *block,
                               const struct tsdl_statement **body);
void tsdl_free_block(struct tsdl_reading *reading, const struct tsdl_statement *block);

#endif
