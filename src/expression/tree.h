/* The tree of an expression, inside of this folder: nodes, tokens, and how the parts call each
 * other.
 *
 *     parse.c --> tree --> select.c: truth of many events at once
 *                             |  AND, OR, NOT: only the events that the other side left open
 *                             |  one column of strings: once per string
 *                             +-> evaluate.c: one value of one event --> columns.c */
#ifndef TRACETTA_EXPRESSION_TREE_H
#define TRACETTA_EXPRESSION_TREE_H

#include "base/arena.h"
#include "expression/expression.h"
#include "model/context.h"

#define EXPRESSION_DEPTH_MAX 500u
#define EXPRESSION_NESTING_MAX 100u /* parentheses, and operators before an operand */
#define EXPRESSION_NODES_MAX 10000u
#define EXPRESSION_CHUNK 256u /* events that are evaluated at once */

enum node_kind {
    NODE_LITERAL,
    NODE_COLUMN,
    NODE_FIELD,
    NODE_AND,
    NODE_OR,
    NODE_NOT,
    NODE_EQ,
    NODE_NE,
    NODE_LT,
    NODE_LE,
    NODE_GT,
    NODE_GE,
    NODE_IS,      /* IS: equality for which NULL equals NULL */
    NODE_IS_NOT,  /* IS NOT: negation of NODE_IS */
    NODE_IS_TRUE, /* the right operand is TRUE or FALSE */
    NODE_IS_NOT_TRUE,
    NODE_BETWEEN, /* three operands */
    NODE_IN,      /* the operand, then the list */
    NODE_LIKE,    /* text, pattern, perhaps an escape character */
    NODE_GLOB,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_REMAINDER,
    NODE_BIT_AND,
    NODE_BIT_OR,
    NODE_SHIFT_LEFT,
    NODE_SHIFT_RIGHT,
    NODE_BIT_NOT,
    NODE_NEGATE,
    NODE_PLUS, /* unary plus, which removes the affinity of a column */
    NODE_CONCAT,
    NODE_CASE, /* perhaps an operand; pairs of WHEN and THEN; perhaps ELSE */
    NODE_CAST,
    NODE_FUNCTION
};

enum column {
    COLUMN_NAME,
    COLUMN_PROVIDER,
    COLUMN_CATEGORY,
    COLUMN_KIND,
    COLUMN_STRINGS, /* the columns before are strings that an id or a number selects */
    COLUMN_TS = COLUMN_STRINGS,
    COLUMN_DUR,
    COLUMN_CPU,
    COLUMN_LEVEL,
    COLUMN_SOURCE,
    COLUMN_OFFSET,
    COLUMN_THREADS, /* the columns from here on depend on the thread */
    COLUMN_UTID = COLUMN_THREADS,
    COLUMN_PID,
    COLUMN_TID,
    COLUMN_THREAD_NAME,
    COLUMN_PROCESS_NAME,
    COLUMN_COUNT
};

enum function {
    FUNCTION_COALESCE, /* coalesce() and ifnull() */
    FUNCTION_NULLIF,
    FUNCTION_IIF,
    FUNCTION_LENGTH,
    FUNCTION_LOWER,
    FUNCTION_UPPER,
    FUNCTION_INSTR,
    FUNCTION_SUBSTR,
    FUNCTION_TYPEOF
};

/* The detail of a literal that is TRUE or FALSE, or made by an empty list. */
#define LITERAL_TRUTH 1u

/* Dependencies of a node: a bit per column, and this bit for fields. */
#define DEPENDS_ON_FIELDS (1u << COLUMN_COUNT)

/* How a field of a schema is found; by schema id. */
enum field_access {
    ACCESS_UNKNOWN = 0,
    ACCESS_SEARCH,  /* iterate over the fields of each event */
    ACCESS_POSITION /* an integer at a fixed position of the record */
};

struct field_place {
    struct field_position position;
    uint8_t access; /* enum field_access */
};

/* A field by its name. */
struct field_column {
    char *name;
    struct field_place *places; /* positions of the fields, indexed by schema id */
    size_t places_n;
};

struct node {
    uint8_t kind;     /* enum node_kind */
    uint8_t affinity; /* affinity of a literal, column or cast; that of fields is in their values */
    uint8_t detail;   /* enum column, enum function, or LITERAL_TRUTH */
    bool is_negated;  /* NOT BETWEEN, NOT IN, NOT LIKE, NOT GLOB */
    bool has_operand, has_else; /* CASE */
    uint32_t offset;            /* byte of the text */
    uint32_t depth;             /* nodes below it on the longest path, itself included */
    uint32_t depends;
    uint32_t children_n;
    struct node **children;
    struct value literal;
    struct field_column *field;
    /* results by string id or kind, if the node depends on one column of strings */
    uint8_t *known; /* enum truth + 1; 0 = not evaluated yet */
    size_t known_n;
    /* AND and OR: the events that the left operand leaves open */
    uint32_t *open;
    uint8_t *truths;
};

struct expression {
    ttr *t;
    struct arena arena;   /* nodes, names, literals */
    struct arena scratch; /* texts of one chunk of events */
    struct node *root;
    struct field_column **fields;
    size_t fields_n, fields_capacity;
    struct node **cached; /* nodes with `known` */
    size_t cached_n, cached_capacity;
    ttr_status failure; /* error of the current chunk: TTR_OK, TTR_E_NOMEM or TTR_E_LIMIT */
};

/* --- parse.c --- */

/* Parses a text into expression->root. */
TTR_MUST ttr_status expression_parse(struct expression *expression, const char *text,
                                     ttr_error *error);

/* --- columns.c --- */

/* Returns the column of a name, or COLUMN_COUNT. */
enum column column_find(const char *name);
enum affinity column_affinity(enum column column);

/* Loads a column of an event. */
struct value column_load(const ttr *t, const ttr_event *event, enum column column);

/* Returns the id that selects the value of a column of strings. */
static inline uint32_t column_string_id(const ttr_event *event, enum column column)
{
    switch (column) {
    case COLUMN_NAME:
        return event->name;
    case COLUMN_PROVIDER:
        return event->provider;
    case COLUMN_CATEGORY:
        return event->category;
    default:
        return event->kind;
    }
}

/* Loads a field of an event; NULL if it has none. */
struct value field_load(struct expression *expression, struct field_column *field,
                        const ttr_event *event);

/* --- evaluate.c --- */

/* Evaluates a node for an event, which is NULL for constant nodes. */
struct value node_evaluate(struct expression *expression, const struct node *node,
                           const ttr_event *event);

#endif
