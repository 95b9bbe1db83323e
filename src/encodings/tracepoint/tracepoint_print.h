/* Compiler and interpreter of tracepoint print formats. The kernel describes how to print an event
 * by printf arguments in C, for example: "comm=%s pid=%d", REC->comm, REC->pid. A recursive-descent
 * parser turns them into a program, which is then run over each record.
 *
 *   print fmt: "pid=%d %s", REC->pid, __print_symbolic(REC->s, {0, "R"})
 *
 *   items   TEXT "pid=" | NUMBER %d, node 0 | TEXT " " | STRING %s, node 2
 *   nodes   0: LOAD pid | 1: LOAD s | 2: SYMBOL a = 1, table {0 "R"}
 *
 * Order of calls: tracepoint_compile once per tracepoint, tracepoint_run_items per event (through
 * tracepoint_print). For trace_printk (ftrace:bprint) every record refers to its own format:
 * tracepoint_prepare_bprint compiles it when first seen, tracepoint_print_bprint runs it.
 *
 * Semantics are those of libtraceevent, the library that perf and trace-cmd print with. All numbers
 * are unsigned 64-bit; a conversion uses as many bits as its length modifier selects. Names that
 * are not fields are 0. A format that libtraceevent cannot parse is rejected here, too. tests/peers
 * compares the output with that library.
 *
 * Invariants: an operand has a lower index than its operator. Every expression is at most
 * TRACEPOINT_DEPTH_MAX deep, which bounds the recursion of parser and interpreter. Values outside
 * the record read as 0.
 *
 * Cost: compiling is linear in the length of the format. Running allocates nothing except room in
 * the output buffer; the output per event is limited to TRACEPOINT_TEXT_MAX.
 *
 *   tracepoint_lex.c        lexer
 *   tracepoint_parse.c      parser of expressions; folds constants
 *   tracepoint_calls.c      parser of macro calls: __print_symbolic(...), sizeof(...)
 *   tracepoint_compile.c    parser of the format string: text and conversions become items
 *   tracepoint_print_run.c  runs the items of a program; prints fields by name as fallback
 *   tracepoint_value.c      evaluates nodes as numbers
 *   tracepoint_text.c       evaluates nodes as texts; formats conversions
 *   tracepoint_address.c    formats %pI4, %pM, %pU, %ph and similar
 *   tracepoint_display.c     derives display hints of fields (names of values, base)
 *   tracepoint_bprint.c     trace_printk
 *
 * Left out, as in libtraceevent: pointer dereferences, assignments, calls of kernel functions.
 *
 * Ownership: programs live in the arena passed to the compiler. Thread rule: a compiled program is
 * constant, except for the printk formats, which are compiled on first use. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_PRINT_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_PRINT_H

#include "encodings/tracepoint/tracepoint.h"

#define TRACEPOINT_DEPTH_MAX 64u   /* maximum nesting of an expression */
#define TRACEPOINT_NODES_MAX 4096u /* maximum number of nodes in a print format */
/* bytes; longer texts of an event are cut off */
#define TRACEPOINT_TEXT_MAX ((size_t)1 << 20)
/* maximum number of arguments of a trace_printk format */
#define TRACEPOINT_ARGUMENTS_MAX 64u

/* --- Lexer of print formats --- */

enum tracepoint_word {
    WORD_END,
    WORD_ERROR,
    WORD_NAME, /* word: identifier or number */
    WORD_TEXT, /* word: "..." without the quotes; adjacent strings are joined */
    WORD_CHAR, /* word: '...' without the quotes */
    WORD_SIGN  /* word: operator, bracket or comma */
};

struct tracepoint_lexer {
    struct arena *arena;
    ttr_text rest;
    uint8_t word;  /* kind of the current word (enum tracepoint_word) */
    ttr_text text; /* characters of the current word */
    bool is_out_of_memory;
};

/* Reads the next word into `word` and `text`. If a closing quote is missing, sets WORD_ERROR. */
void tracepoint_next_word(struct tracepoint_lexer *lexer);

/* --- Expressions as nodes --- */

enum tracepoint_op {
    /* nodes with a number as value: */
    OP_NUMBER, /* the constant `value` */
    OP_LOAD,   /* an integer field of `size` bytes at offset `value` */
    OP_LENGTH, /* the length in bytes of the dynamic array `field` */
    OP_CAST,   /* (type)a: a & `value`; no effect if a is a text */
    OP_NOT,
    OP_COMPLEMENT,
    OP_NEGATE,
    OP_UNARY_PLUS,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
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
    OP_LOGICAL_AND,
    OP_LOGICAL_OR,
    OP_CONDITIONAL, /* a ? b : c */
    OP_ELEMENT,     /* element a of `field`, with elements of `size` bytes, & `value` */
    /* nodes with a text as value; as a number, they are 0: */
    OP_TEXT,     /* the constant `text` */
    OP_FIELD,    /* `field` itself, for %s and %pI4; as a number, its value */
    OP_STRING,   /* the dynamic array `field`, up to a zero */
    OP_ARRAY,    /* all bytes of the dynamic array `field` */
    OP_FLAGS,    /* names in `table` of the bits that are set in a, separated by `text` */
    OP_SYMBOL,   /* name in `table` of the value a */
    OP_HEX,      /* b bytes at a, in hexadecimal, separated by blanks */
    OP_HEX_TEXT, /* b bytes at a, in hexadecimal, without blanks */
    OP_NUMBERS,  /* array a of b numbers of c bytes each */
    OP_BITS,     /* the bit mask `field`, in hexadecimal */
    OP_CPUS,     /* the bit mask `field`, as a list: "0-3,7" */
    /* nodes with a number or text as value: */
    OP_ARGUMENT /* argument number `value` of a trace_printk record */
};

/* A value and its name, in __print_symbolic or __print_flags. */
struct tracepoint_label {
    /* value that libtraceevent parses: -1 if the text does not start with a digit */
    int64_t value;
    uint64_t real; /* value that the kernel uses */
    ttr_text text;
};

struct tracepoint_table {
    const struct tracepoint_label *label;
    uint32_t n;
};

struct tracepoint_node {
    uint8_t op;    /* kind of node (enum tracepoint_op) */
    uint8_t size;  /* OP_LOAD, OP_ELEMENT: bytes of the number */
    uint8_t depth; /* depth of the expression below the node */
    /* type number in error texts of libtraceevent (enum tracepoint_peer) */
    uint8_t peer;
    uint32_t a, b, c; /* indexes of the operand nodes */
    uint64_t value;
    ttr_text text;
    const struct tracepoint_field *field;
    const struct tracepoint_table *table;
};

/* Argument types of libtraceevent; their numbers appear in its error text "ARG TYPE NOT FIELD BUT
 * 10". */
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

/* --- Parser of print format expressions --- */

struct tracepoint_parser {
    const struct tracepoint *tp;
    struct arena *arena;
    struct tracepoint_lexer lexer;
    struct tracepoint_nodes nodes;
    const char *why; /* first error, constant text; NULL if there is none */
    ttr_text what;   /* word with the first error; empty if there is none */
    bool is_out_of_memory;
};

#define NODE_NONE UINT32_MAX

/* Stores an error unless there is one already. Returns NODE_NONE. */
uint32_t tracepoint_set_error(struct tracepoint_parser *parser, const char *why, ttr_text what);

/* Appends a node and returns its index. Returns NODE_NONE if it is nested too deep, there are too
 * many nodes (TRACEPOINT_NODES_MAX), or memory runs out. */
uint32_t tracepoint_add_node(struct tracepoint_parser *parser, const struct tracepoint_node *node);

/* Parses one expression, which ends before a comma or closing bracket. Returns its node; NODE_NONE
 * on error. */
uint32_t tracepoint_parse_expression(struct tracepoint_parser *parser, unsigned depth);

/* Parses a macro call after its name and opening parenthesis. Returns its node; NODE_NONE on
 * error. */
uint32_t tracepoint_parse_call(struct tracepoint_parser *parser, ttr_text name, unsigned depth);

bool tracepoint_is_at_sign(const struct tracepoint_parser *parser, const char *sign);

/* Consumes the operator or bracket `sign`. If the current word is not that, stores an error and
 * returns false. */
bool tracepoint_expect_sign(struct tracepoint_parser *parser, const char *sign);

/* Returns the field with that name, which may be a common field; NULL if there is none. */
const struct tracepoint_field *tracepoint_find_field(const struct tracepoint *tp, ttr_text name);

/* --- Programs: items of a compiled format string --- */

enum tracepoint_item_kind { ITEM_TEXT, ITEM_NUMBER, ITEM_STRING, ITEM_CHARACTER, ITEM_POINTER };

struct tracepoint_item {
    uint8_t kind; /* kind of item (enum tracepoint_item_kind) */
    /* letter of the conversion: d u x X o; for pointers, the letter after %p (S s M m I i U h b);
     * 0 if it has none */
    char conversion;
    char form;               /* letter after `conversion`, such as 4, 6, S, R, F */
    char order;              /* byte order of an address: h n l b; 0 for network order */
    bool has_port, is_short; /* modifiers of %pISpc: print the port; shorten IPv6 */
    int8_t bytes;            /* size of the argument in bytes */
    int8_t longs;            /* number of l modifiers; -1 for h, -2 for hh */
    bool is_left, has_zeros, has_prefix, has_sign, has_blank;
    bool is_plain; /* true if the conversion has no flags, width or precision */
    /* has_star: width or precision is "*", with the value of node `star`; star_is_precision: it is
     * the precision */
    bool has_star, star_is_precision;
    int16_t width, precision; /* width and precision; -1 if not specified */
    /* node: the argument; star: the argument for "*"; NODE_NONE if there is none */
    uint32_t node, star;
    ttr_text text; /* ITEM_TEXT: text that is printed */
};

struct tracepoint_program {
    const struct tracepoint_item *item;
    uint32_t items_n;
    const struct tracepoint_node *node;
    uint32_t nodes_n;
    /* why the format cannot be evaluated, constant text; NULL if it can */
    const char *why;
    ttr_text what; /* the word that cannot be evaluated; empty if it is not one word */
};

/* Compiles the print format of a tracepoint. If it contains an error, the program has the reason
 * in `why`. Returns NULL only if memory runs out. */
TTR_MUST const struct tracepoint_program *tracepoint_compile(const struct tracepoint *tp,
                                                             struct arena *arena);

/* Compiles a trace_printk format; its arguments are in the record. Returns NULL only if memory is
 * out. */
TTR_MUST const struct tracepoint_program *tracepoint_compile_text(const struct tracepoint *tp,
                                                                  struct arena *arena,
                                                                  ttr_text format);

/* --- Derivation of display hints --- */

/* Derives one display hint per field from a compiled print format. Returns NULL if memory is
 * out. */
TTR_MUST const struct tracepoint_display *tracepoint_derive_displays(
    const struct tracepoint *tp, const struct tracepoint_program *program, struct arena *arena);

/* tracepoint_set_base_and_labels() sets the base and the number of labels of a value.
 * tracepoint_get_label() sets `label` to label number i of the value; returns false if it has
 * fewer. */
void tracepoint_set_base_and_labels(const struct tracepoint_display *look, ttr_value *value);
bool tracepoint_get_label(const struct tracepoint_display *look, const ttr_value *value, uint32_t i,
                          ttr_text *label);

/* --- Evaluation of programs --- */

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
    /* arguments in a trace_printk record, after decoding */
    const struct tracepoint_argument *argument;
    uint32_t arguments_n;
};

/* Prints all items of the program to the buffer run->to. */
void tracepoint_run_items(const struct tracepoint_run *run);

/* --- trace_printk (ftrace:bprint) --- */

/* Returns true if the tracepoint is ftrace:bprint. */
bool tracepoint_is_bprint(const struct tracepoint *tp);

/* Compiles the format of the record, unless it was compiled before. Returns false if memory is
 * out. */
TTR_MUST bool tracepoint_prepare_bprint(const struct tracepoint *tp, struct tracepoint_raw raw);

/* Prints a trace_printk record. */
void tracepoint_print_bprint(const struct tracepoint *tp, struct tracepoint_raw raw,
                             struct buffer *to);

uint64_t tracepoint_eval_number(const struct tracepoint_run *run, uint32_t node);

/* Returns the bytes of a dynamic array; an empty text if they are not all in the record. */
ttr_text tracepoint_get_array_bytes(const struct tracepoint_run *run,
                                    const struct tracepoint_field *field);

/* Prints the value of a node by %s. star: value for "*" as width or precision. */
void tracepoint_print_string(const struct tracepoint_run *run, const struct tracepoint_item *item,
                             uint32_t node, int star);

/* Print a number or a text with the flags, width and precision of `item`. star: value for "*". */
void tracepoint_print_number(struct buffer *to, const struct tracepoint_item *item, uint64_t x,
                             int star);
void tracepoint_print_padded(struct buffer *to, const struct tracepoint_item *item, ttr_text text,
                             int star);

/* Prints the name of the kernel function at `address`; if has_place, also the offset in it and its
 * size. */
void tracepoint_print_function(const struct tracepoint_run *run, uint64_t address, bool has_place);

/* Prints the argument of an item by %p and its extensions. */
void tracepoint_print_pointer(const struct tracepoint_run *run, const struct tracepoint_item *item,
                              int star);

/* Prints the set bits among the first `bits` bits of a mask as ranges: "0-3,7". */
void tracepoint_print_bit_ranges(const struct tracepoint_run *run, ttr_text mask, size_t bits);

/* Prints a number with at least `digits` hexadecimal digits. */
void tracepoint_print_hex(struct buffer *to, uint64_t x, unsigned digits);

#endif
