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
    /* syntax tree of the event block being processed, if trees of event blocks are not kept */
    struct arena block;
    size_t tree_max; /* maximum size of the syntax tree in bytes */
    ttr_error *error;
    ttr_status status; /* status of the first failure; TTR_OK if none */
    bool is_at_end;    /* the failure is that the text ended unexpectedly */
    /* true if the text ends inside the declaration at `cut_at`; everything from there on is
     * dropped */
    bool is_cut;
    size_t cut_at;
};

/* Set an error at offset `at`, or the error that memory runs out, unless there is an error already.
 * Return false. */
bool tsdl_fail(struct tsdl_reading *reading, size_t at, const char *format, ...) TTR_PRINTF(3, 4);
bool tsdl_fail_memory(struct tsdl_reading *reading);

/* Allocates zeroed bytes of the syntax tree. At the memory limit, returns NULL and sets the
 * error. */
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
    /* one of the characters []().{}*+-<>:;=, which is stored in `keyword` */
    TSDL_TOKEN_SIGN
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
    bool is_unescaped; /* a string without escapes, as LTTng prints some values */
    /* byte offsets in the text: of the token's first byte, and after its last byte */
    size_t at, end;
    /* the word of a name or keyword; the decoded characters of a string */
    ttr_text text;
    uint64_t number;
};

/* Reads the token after `token->end`. Returns false if it is invalid. */
TTR_MUST bool tsdl_next_token(struct tsdl_reading *reading, struct tsdl_token *token);

/* Returns the number of a keyword; 0 if the word is not a keyword. */
uint8_t tsdl_find_keyword(ttr_text word);

enum tsdl_value_kind {
    TSDL_VALUE_NUMBER,
    TSDL_VALUE_STRING,
    TSDL_VALUE_PATH /* names joined by points, as text "a.b.c" */
};

struct tsdl_value {
    /* keyword: number of the keyword if the path is a single keyword */
    uint8_t kind, keyword;
    bool is_negative;
    bool is_unescaped; /* a string with quotes and backslashes that are not escaped */
    size_t at;
    uint64_t number; /* absolute value of a number */
    ttr_text text;
};

struct tsdl_statement;

struct tsdl_enumerator {
    const struct tsdl_enumerator *next;
    size_t at;
    ttr_text label;
    /* low: first value; if NULL, the number after the previous enumerator. high: last value; if
     * NULL, equal to `low` */
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

/* A type specifier: the part of a declaration before the declared names. */
struct tsdl_specifier {
    uint8_t class;
    bool has_body;
    size_t at, end; /* offsets in the text: first byte, and start of the token after it */
    /* NAMED: type name such as "unsigned long". STRUCT, VARIANT, ENUM: tag; "" if there is none */
    ttr_text name;
    const struct tsdl_statement *body; /* first attribute or field in the braces */
    const struct tsdl_enumerator *enumerator;
    /* ENUM: specifier of the integer type; NULL = int */
    const struct tsdl_specifier *container;
    const struct tsdl_value *tag;   /* VARIANT: path to the selector */
    const struct tsdl_value *align; /* STRUCT: value of the minimum alignment */
};

struct tsdl_dimension {
    /* next dimension; arrays of that dimension are the elements of this one */
    const struct tsdl_dimension *next;
    const struct tsdl_value *length;
};

/* Name of a field or new type, with the array dimensions, stars and bitfield width that modify the
 * type. */
struct tsdl_declarator {
    const struct tsdl_declarator *next;
    size_t at;
    ttr_text name; /* declared name; "" if there is none */
    uint32_t pointers;
    const struct tsdl_dimension *dimension;
    /* width in bits of a GNU C bitfield; NULL for other declarators */
    const struct tsdl_value *bits;
};

enum tsdl_statement_kind {
    TSDL_ASSIGN,      /* statement `name = value` */
    TSDL_ASSIGN_TYPE, /* statement `name := specifier` */
    TSDL_FIELDS,      /* statement `specifier declarator, declarator;` */
    TSDL_TYPES,       /* statement `typedef specifier declarator, declarator;` */
    TSDL_ALIAS,       /* statement `typealias specifier declarator := name;` */
    TSDL_DECLARE,     /* statement `struct name { ... };` */
    TSDL_BLOCK        /* statement `keyword { body };` */
};

struct tsdl_statement {
    const struct tsdl_statement *next;
    uint8_t kind, keyword;
    /* BLOCK: the body is not in `body`; tsdl_parse_block parses it when it is needed */
    bool is_deferred;
    uint32_t alias_pointers;
    size_t at;
    ttr_text name; /* ASSIGN: name such as "packet.header" */
    union {
        const struct tsdl_value *value; /* ASSIGN */
        const struct tsdl_specifier *specifier;
        const struct tsdl_statement *body; /* BLOCK */
    };
    /* FIELDS, TYPES, ALIAS: first declarator */
    const struct tsdl_declarator *declarator;
    /* ALIAS: the new name, followed by `pointers` stars */
    const struct tsdl_specifier *alias;
};

/* Parses a complete text. `*first` is the first declaration, NULL if there is none. */
TTR_MUST bool tsdl_parse_text(struct tsdl_reading *reading, const struct tsdl_statement **first);

/* Parse the body of a deferred block, and free it again. Freeing the body also frees all nodes
 * that were allocated since it was parsed. */
TTR_MUST bool tsdl_parse_block(struct tsdl_reading *reading, const struct tsdl_statement *block,
                               const struct tsdl_statement **body);
void tsdl_free_block(struct tsdl_reading *reading, const struct tsdl_statement *block);

#endif
