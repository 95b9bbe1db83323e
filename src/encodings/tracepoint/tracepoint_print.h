/* Print formats of tracepoints, compiled: "comm=%s pid=%d", REC->comm, REC->pid becomes a list of
 * items (a text, a conversion with its expression) that is run over records without allocating.
 *
 * The expressions are C over the fields of the record, with what the kernel's macros leave in a
 * format: __print_flags, __get_str, ... .  They mean what they mean to libtraceevent, which perf
 * and trace-cmd print with: all numbers are unsigned and of 64 bits, a conversion takes of them
 * what its length says, names that are no fields are 0.  What that library cannot read is not read
 * here either.
 *
 *   tracepoint_lex.c      words
 *   tracepoint_parse.c    expressions become nodes, constant ones numbers
 *   tracepoint_calls.c    what looks like a call: __print_symbolic(...), sizeof(...)
 *   tracepoint_compile.c  the format text becomes items
 *   tracepoint_print_run.c      items over a record
 *   tracepoint_value.c    nodes over a record: numbers
 *   tracepoint_text.c     nodes over a record: texts; conversions
 *   tracepoint_address.c  %pI4, %pM, %pU, %ph and their like
 *   tracepoint_labels.c   what a print format tells of the fields: names of values
 *   tracepoint_bprint.c   trace_printk, whose format the record refers to
 *
 * Ownership: programs live in the arena of the kind.  Thread rule: compiled ones are constant. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_PRINT_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_PRINT_H

#include "encodings/tracepoint/tracepoint.h"

#define TRACEPOINT_DEPTH_MAX 64u              /* of an expression */
#define TRACEPOINT_NODES_MAX 4096u            /* of a print format */
#define TRACEPOINT_TEXT_MAX ((size_t)1 << 20) /* of an event; more is left out */
#define TRACEPOINT_ARGUMENTS_MAX 64u          /* of trace_printk */

/* --- Words --- */

enum tracepoint_word {
    WORD_END,
    WORD_ERROR,
    WORD_NAME, /* names and numbers */
    WORD_TEXT, /* "...", without the quotes, concatenated */
    WORD_CHAR, /* '...' */
    WORD_SIGN  /* an operator, a bracket, a comma */
};

struct tracepoint_lexer {
    struct arena *arena;
    ttr_text rest;
    uint8_t word;  /* enum tracepoint_word */
    ttr_text text; /* of the word */
    bool is_out_of_memory;
};

/* Goes to the next word. */
void tracepoint_lex(struct tracepoint_lexer *lexer);

/* --- Nodes --- */

enum tracepoint_op {
    /* numbers */
    OP_NUMBER, /* value */
    OP_LOAD,   /* a field of 1, 2, 4 or 8 bytes at `value` */
    OP_LENGTH, /* bytes of the dynamic array `field` */
    OP_CAST,   /* (type)a: a & value; as a text nothing */
    OP_NOT,
    OP_COMPLEMENT,
    OP_NEGATE,
    OP_SAME,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REST,
    OP_ADD,
    OP_SUBTRACT,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_LESS,
    OP_MORE,
    OP_LESS_EQUAL,
    OP_MORE_EQUAL,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_AND,
    OP_XOR,
    OP_OR,
    OP_BOTH,
    OP_EITHER,
    OP_CHOOSE,  /* a ? b : c */
    OP_ELEMENT, /* field[a], of `size` bytes each, & value */
    /* texts; 0 as numbers */
    OP_TEXT,     /* text */
    OP_WHOLE,    /* the field itself: %s of it, %pI4 of it; as a number what a load gives */
    OP_STRING,   /* the dynamic array `field` up to a zero */
    OP_ARRAY,    /* the dynamic array `field` */
    OP_FLAGS,    /* a by `table`, `text` between */
    OP_SYMBOL,   /* a by `table` */
    OP_HEX,      /* b bytes of a, blanks between */
    OP_HEX_TEXT, /* the same without blanks */
    OP_NUMBERS,  /* b numbers of c bytes of a */
    OP_BITS,     /* the mask `field` as hexadecimal digits */
    OP_CPUS,     /* the mask `field` as a list */
    /* either */
    OP_ARGUMENT /* the `value`-th of those that the record holds */
};

/* Names of values, as __print_symbolic and __print_flags have them. */
struct tracepoint_label {
    int64_t value; /* as that library reads it: -1 for all that does not begin with a digit */
    uint64_t real; /* what the kernel means */
    ttr_text text;
};

struct tracepoint_table {
    const struct tracepoint_label *label;
    uint32_t n;
};

struct tracepoint_node {
    uint8_t op;       /* enum tracepoint_op */
    uint8_t size;     /* LOAD, ELEMENT: bytes */
    uint8_t depth;    /* of what is below */
    uint8_t peer;     /* what that library calls it, for its complaints in place of a value */
    uint32_t a, b, c; /* nodes */
    uint64_t value;
    ttr_text text;
    const struct tracepoint_field *field;
    const struct tracepoint_table *table;
};

/* Numbers by which libtraceevent tells of an argument it cannot use: "ARG TYPE NOT FIELD BUT 10".
 */
enum tracepoint_peer {
    PEER_ATOM = 1,
    PEER_FIELD = 2,
    PEER_FLAGS = 3,
    PEER_SYMBOL = 4,
    PEER_HEX = 5,
    PEER_INT_ARRAY = 6,
    PEER_TYPE = 7,
    PEER_STRING = 8,
    PEER_DYNAMIC_ARRAY = 10,
    PEER_OP = 11,
    PEER_BITMASK = 13,
    PEER_DYNAMIC_ARRAY_LEN = 14,
    PEER_HEX_STR = 15,
    PEER_CPUMASK = 16
};

struct tracepoint_nodes {
    struct tracepoint_node *node;
    uint32_t n, capacity;
};

/* --- Reading expressions --- */

struct tracepoint_parser {
    const struct tracepoint *tp;
    struct arena *arena;
    struct tracepoint_lexer lexer;
    struct tracepoint_nodes nodes;
    const char *why; /* NULL: fine; static */
    ttr_text what;   /* the word it is about, "" = none */
    bool is_out_of_memory;
};

#define NODE_NONE UINT32_MAX

/* Complains, once; gives NODE_NONE. */
uint32_t tracepoint_complain(struct tracepoint_parser *parser, const char *why, ttr_text what);

/* Adds a node; NODE_NONE when it is too deep, there are too many, or memory is out. */
uint32_t tracepoint_add_node(struct tracepoint_parser *parser, const struct tracepoint_node *node);

/* Reads one expression up to a comma or closing bracket; NODE_NONE when it cannot be. */
uint32_t tracepoint_expression(struct tracepoint_parser *parser, unsigned depth);

/* Reads what is behind the name and opening parenthesis of a call. */
uint32_t tracepoint_call(struct tracepoint_parser *parser, ttr_text name, unsigned depth);

bool tracepoint_at_sign(const struct tracepoint_parser *parser, const char *sign);

/* Passes over a sign; false with a complaint where another word stands. */
bool tracepoint_expect(struct tracepoint_parser *parser, const char *sign);

/* The field of a name, common ones too; NULL = none. */
const struct tracepoint_field *tracepoint_field_named(const struct tracepoint *tp, ttr_text name);

/* --- Programs --- */

enum tracepoint_item_kind { ITEM_TEXT, ITEM_NUMBER, ITEM_STRING, ITEM_CHARACTER, ITEM_POINTER };

struct tracepoint_item {
    uint8_t kind;    /* enum tracepoint_item_kind */
    char conversion; /* d u x X o; of pointers the letter behind: S s M I i U h b, 0 = none */
    char form;       /* the letter behind that: 4, 6, S, R, F, ... */
    char order;      /* of the bytes of an address: h n l b, 0 = none */
    bool has_port, is_short; /* of addresses */
    int8_t bytes;            /* of the number */
    int8_t longs;            /* how many l's it has, h's counting down */
    bool is_left, has_zeros, has_prefix, has_sign, has_blank;
    bool is_plain;                    /* none of these, neither width nor precision */
    bool has_star, star_is_precision; /* `star` is the width, or precision */
    int16_t width, precision;         /* -1 = none */
    uint32_t node, star;              /* star: NODE_NONE = none */
    ttr_text text;                    /* ITEM_TEXT */
};

struct tracepoint_program {
    const struct tracepoint_item *item;
    uint32_t items_n;
    const struct tracepoint_node *node;
    uint32_t nodes_n;
    const char *why; /* NULL, or why it cannot be printed so; static */
    ttr_text what;   /* the word that is about */
};

/* Compiles the print format of a kind; NULL when memory is out. */
TTR_MUST const struct tracepoint_program *tracepoint_compile(const struct tracepoint *tp,
                                                             struct arena *arena);

/* Compiles a format whose arguments are in the record, in order; NULL when memory is out. */
TTR_MUST const struct tracepoint_program *tracepoint_compile_text(const struct tracepoint *tp,
                                                                  struct arena *arena,
                                                                  ttr_text format);

/* --- What is told of fields --- */

/* A look for each field of the kind; NULL when memory is out. */
TTR_MUST const struct tracepoint_look *tracepoint_find_looks(
    const struct tracepoint *tp, const struct tracepoint_program *program, struct arena *arena);

/* Gives a number its base and names, and the i-th of these. */
void tracepoint_look_at(const struct tracepoint_look *look, ttr_value *value);
bool tracepoint_look_label(const struct tracepoint_look *look, const ttr_value *value, uint32_t i,
                           ttr_text *label);

/* --- Running --- */

struct tracepoint_argument {
    uint64_t value;
    ttr_text text;
    bool is_text;
};

struct tracepoint_run {
    const struct tracepoint *tp;
    const struct tracepoint_program *program;
    struct tracepoint_raw raw;
    bool is_big_endian;
    struct buffer *to;
    const struct tracepoint_argument *argument; /* of trace_printk */
    uint32_t arguments_n;
};

/* Runs all items of the program. */
void tracepoint_run_items(const struct tracepoint_run *run);

/* --- trace_printk --- */

/* Whether the kind is that of trace_printk. */
bool tracepoint_is_bprint(const struct tracepoint *tp);

/* Makes what a record of it needs; false when memory is out. */
TTR_MUST bool tracepoint_prepare_bprint(const struct tracepoint *tp, struct tracepoint_raw raw);

/* Appends its text. */
void tracepoint_put_bprint(const struct tracepoint *tp, struct tracepoint_raw raw,
                           struct buffer *to);

uint64_t tracepoint_value(const struct tracepoint_run *run, uint32_t node);

/* The bytes of a dynamic array, as far as they are in the record; 0 of them where it is elsewhere.
 */
ttr_text tracepoint_array(const struct tracepoint_run *run, const struct tracepoint_field *field);

/* Appends what %s prints of a node. */
void tracepoint_put_string(const struct tracepoint_run *run, const struct tracepoint_item *item,
                           uint32_t node, int star);

/* Appends a number, a text or a character by a conversion. */
void tracepoint_put_number(struct buffer *to, const struct tracepoint_item *item, uint64_t x,
                           int star);
void tracepoint_put_padded(struct buffer *to, const struct tracepoint_item *item, ttr_text text,
                           int star);

/* Appends the name of the function at an address, and the place in it where that is wanted. */
void tracepoint_put_function(const struct tracepoint_run *run, uint64_t address, bool has_place);

/* Appends what %p and its kin print. */
void tracepoint_put_pointer(const struct tracepoint_run *run, const struct tracepoint_item *item,
                            int star);

/* Appends the numbers of the bits that are set among the first so many, which the mask has:
 * "0-3,7". */
void tracepoint_put_bits(const struct tracepoint_run *run, ttr_text mask, size_t bits);

/* Appends a number in hexadecimal digits, at least `digits` of them. */
void tracepoint_put_hex(struct buffer *to, uint64_t x, unsigned digits);

#endif
