/* TSDL as it is written: tokens, and the small tree that the parser makes of them (CTF 1.8.3,
 * appendix C).
 *
 * Ownership: tokens and nodes borrow the text; decoded strings and nodes lie in the arena of the
 * reading and die with it. Thread rule: one reading, one thread. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TREE_H
#define TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TREE_H

#include "formats/ctf/description/ctf_description.h"

#define TSDL_DEPTH_MAX 64u /* blocks, brackets and parentheses inside one another */

/* One call of tsdl_parse: what all its parts need. */
struct tsdl_reading {
    const struct ctf_text *text;
    struct arena tree;
    struct arena block; /* of the one event block at hand, where the tree does not keep them */
    size_t tree_max;    /* bytes of `tree` */
    ttr_error *error;
    ttr_status status; /* why it failed */
    bool is_at_end;    /* it did because the text was over */
    bool is_cut; /* the text is over inside the declaration at `cut_at`, which is left out with what
                    is behind it */
    size_t cut_at;
};

/* Both note why the reading fails, and give false. */
bool tsdl_fail(struct tsdl_reading *reading, size_t at, const char *format, ...) TTR_PRINTF(3, 4);
bool tsdl_fail_memory(struct tsdl_reading *reading);

/* Bytes of the tree, zeroed; NULL when there is no more (noted as failure). */
void *tsdl_tree_take(struct tsdl_reading *reading, size_t size);

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
    bool is_unescaped; /* a string that is taken as it stands */
    size_t at, end;    /* in the text */
    ttr_text text;     /* of names and keywords; the decoded characters of a string */
    uint64_t number;
};

/* Reads the token behind `token->end`; false when it is none. */
TTR_MUST bool tsdl_lex(struct tsdl_reading *reading, struct tsdl_token *token);

/* The keyword that a word is, or 0. */
uint8_t tsdl_keyword_of(ttr_text word);

enum tsdl_value_kind {
    TSDL_VALUE_NUMBER,
    TSDL_VALUE_STRING,
    TSDL_VALUE_PATH /* names with points between: text "a.b.c" */
};

struct tsdl_value {
    uint8_t kind, keyword; /* keyword: the only name of a path is one */
    bool is_negative;
    bool is_unescaped; /* a string whose quotes and backslashes are its own */
    size_t at;
    uint64_t number; /* without sign */
    ttr_text text;
};

struct tsdl_statement;

struct tsdl_enumerator {
    const struct tsdl_enumerator *next;
    size_t at;
    ttr_text label;
    const struct tsdl_value *low, *high; /* high NULL: as low; low NULL: one more than the last */
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

/* What stands for a type. */
struct tsdl_specifier {
    uint8_t class;
    bool has_body;
    size_t at;
    ttr_text name; /* NAMED: "unsigned long"; STRUCT, VARIANT, ENUM: its own, "" = none */
    const struct tsdl_statement *body; /* attributes; fields */
    const struct tsdl_enumerator *enumerator;
    const struct tsdl_specifier *container; /* ENUM; NULL = int */
    const struct tsdl_value *tag;           /* VARIANT */
    const struct tsdl_value *align;         /* STRUCT */
};

struct tsdl_dimension {
    const struct tsdl_dimension *next; /* inside this one */
    const struct tsdl_value *length;
};

/* The name of a field or of a new type, and what its writing adds to the type. */
struct tsdl_declarator {
    const struct tsdl_declarator *next;
    size_t at;
    ttr_text name; /* "" = none */
    uint32_t pointers;
    const struct tsdl_dimension *dimension;
    const struct tsdl_value *bits; /* of a GNU/C bitfield */
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
    bool is_put_off; /* BLOCK: `body` is made by tsdl_parse_block, and forgotten again */
    uint32_t alias_pointers;
    size_t at;
    ttr_text name; /* ASSIGN: "packet.header" */
    union {
        const struct tsdl_value *value; /* ASSIGN */
        const struct tsdl_specifier *specifier;
        const struct tsdl_statement *body; /* BLOCK */
    };
    const struct tsdl_declarator *declarator; /* FIELDS, TYPES, ALIAS */
    const struct tsdl_specifier *alias; /* ALIAS: the name it gives, and behind it so many stars */
};

/* Makes the tree of a whole text: its first declaration, NULL where there is none. */
TTR_MUST bool tsdl_parse_text(struct tsdl_reading *reading, const struct tsdl_statement **first);

/* Between these two calls the tree of a block that was put off is there; what is taken for it lasts
 * as long. */
TTR_MUST bool tsdl_parse_block(struct tsdl_reading *reading, const struct tsdl_statement *block,
                               const struct tsdl_statement **body);
void tsdl_forget_block(struct tsdl_reading *reading, const struct tsdl_statement *block);

#endif
