/* Evaluates the truth of an expression for many events at once.
 *
 * AND and OR pass to their right operand only the events that the left one leaves open, so that a
 * field is decoded only if it can matter.  A node that depends on one column of strings alone is
 * evaluated once per string.  Comparisons of an integer column with literals are a loop.  All
 * other nodes are evaluated event by event. */
#include <string.h>

#include "base/status.h"
#include "expression/tree.h"

/* --- Preparing --- */

static bool is_one_string_column(uint32_t depends)
{
    return depends && (depends & (depends - 1)) == 0 && depends < 1u << COLUMN_STRINGS;
}

static bool keep_results(struct expression *expression, struct node *node)
{
    if (!alloc_reserve(&expression->t->counted, (void **)&expression->cached,
                       &expression->cached_capacity, expression->cached_n + 1,
                       sizeof(struct node *)))
        return false;
    expression->cached[expression->cached_n++] = node;
    return true;
}

/* Allocates the memory in which a node and its children store results per event or per string.
 * Returns false if memory is exhausted. */
static bool allocate_node_results(struct expression *expression, struct node *node)
{
    if (is_one_string_column(node->depends))
        return keep_results(expression, node);
    if (node->kind != NODE_AND && node->kind != NODE_OR && node->kind != NODE_NOT)
        return true;
    node->open = arena_alloc(&expression->arena, EXPRESSION_CHUNK * sizeof *node->open);
    node->truths = arena_alloc(&expression->arena, EXPRESSION_CHUNK);
    if (!node->open || !node->truths)
        return false;
    memset(node->truths, TRUTH_UNKNOWN, EXPRESSION_CHUNK);
    for (uint32_t i = 0; i < node->children_n; i++)
        if (!allocate_node_results(expression, node->children[i]))
            return false;
    return true;
}

/* --- One column of strings --- */

/* Returns the entry of a string in the results of a node, or NULL if memory is exhausted. */
static uint8_t *known_result(struct expression *expression, struct node *node, uint32_t id)
{
    const size_t before = node->known_n;
    if (id < before)
        return &node->known[id];
    if (!alloc_reserve(&expression->t->counted, (void **)&node->known, &node->known_n,
                       (size_t)id + 1, 1)) {
        expression->failure = TTR_E_NOMEM;
        return NULL;
    }
    memset(node->known + before, 0, node->known_n - before);
    return &node->known[id];
}

static void select_by_string(struct expression *expression, struct node *node,
                             const ttr_event *events, const uint32_t *rows, uint32_t n,
                             uint8_t *truth)
{
    const enum column column = (enum column)__builtin_ctz(node->depends);
    for (uint32_t i = 0; i < n; i++) {
        const ttr_event *event = &events[rows[i]];
        uint8_t *known = known_result(expression, node, column_string_id(event, column));
        if (!known)
            return;
        if (!*known) {
            const struct value value = node_evaluate(expression, node, event);
            *known = (uint8_t)(value_truth(&value) + 1);
        }
        truth[i] = (uint8_t)(*known - 1);
    }
}

/* --- Comparison of an integer column with literals --- */

/* The values for which a comparison holds, or does not hold. */
struct range {
    int64_t low, high; /* inclusive; low > high: empty */
    bool is_outside;   /* the comparison holds outside of the range, not inside */
};

static enum node_kind mirrored(enum node_kind kind)
{
    switch (kind) {
    case NODE_LT:
        return NODE_GT;
    case NODE_LE:
        return NODE_GE;
    case NODE_GT:
        return NODE_LT;
    case NODE_GE:
        return NODE_LE;
    default:
        return kind;
    }
}

static struct range get_range(enum node_kind kind, int64_t value)
{
    static const struct range empty = {1, 0, false};
    switch (kind) {
    case NODE_EQ:
    case NODE_NE:
        return (struct range){value, value, kind == NODE_NE};
    case NODE_LT:
        return value == INT64_MIN ? empty : (struct range){INT64_MIN, value - 1, false};
    case NODE_LE:
        return (struct range){INT64_MIN, value, false};
    case NODE_GT:
        return value == INT64_MAX ? empty : (struct range){value + 1, INT64_MAX, false};
    default:
        return (struct range){value, INT64_MAX, false};
    }
}

static bool is_integer(const struct node *node)
{
    return node->kind == NODE_LITERAL && node->literal.type == VALUE_INT;
}

/* Finds the column and the range of a comparison with integers. Returns false if the node is none.
 */
static bool find_range(const struct node *node, enum column *column, struct range *range)
{
    const enum node_kind kind = (enum node_kind)node->kind;
    struct node *const *children = node->children;
    const bool is_mirrored = kind != NODE_BETWEEN && kind >= NODE_EQ && kind <= NODE_GE &&
                             children[0]->kind == NODE_LITERAL;
    if (kind == NODE_BETWEEN) {
        if (!is_integer(children[1]) || !is_integer(children[2]))
            return false;
        *range =
            (struct range){children[1]->literal.v.i, children[2]->literal.v.i, node->is_negated};
    } else if (kind >= NODE_EQ && kind <= NODE_GE && is_integer(children[!is_mirrored])) {
        *range =
            get_range(is_mirrored ? mirrored(kind) : kind, children[!is_mirrored]->literal.v.i);
    } else {
        return false;
    }
    *column = (enum column)children[is_mirrored]->detail;
    return children[is_mirrored]->kind == NODE_COLUMN && *column >= COLUMN_TS &&
           *column <= COLUMN_OFFSET;
}

static uint8_t is_in_range(struct range range, int64_t value)
{
    return (uint8_t)((value >= range.low && value <= range.high) != range.is_outside);
}

/* Sets the truth of each event from `value`, or TRUTH_UNKNOWN if not `is_known`. */
#define SELECT_EACH(is_known, value)                                                           \
    for (uint32_t i = 0; i < n; i++) {                                                         \
        const ttr_event *event = &events[rows[i]];                                             \
        truth[i] = (is_known) ? is_in_range(range, (int64_t)(value)) : (uint8_t)TRUTH_UNKNOWN; \
    }                                                                                          \
    return true

/* Selects by a comparison of an integer column with integers. Returns false if the node is none. */
static bool select_by_number(const struct node *node, const ttr_event *events, const uint32_t *rows,
                             uint32_t n, uint8_t *truth)
{
    struct range range;
    enum column column;
    if (!find_range(node, &column, &range))
        return false;
    switch (column) {
    case COLUMN_TS:
        SELECT_EACH(true, event->time);
    case COLUMN_DUR:
        SELECT_EACH(true, event->duration > INT64_MAX ? INT64_MAX : (int64_t)event->duration);
    case COLUMN_CPU:
        SELECT_EACH(event->flags & TTR_EVENT_HAS_CPU, event->cpu);
    case COLUMN_LEVEL:
        SELECT_EACH(event->level, event->level);
    case COLUMN_SOURCE:
        SELECT_EACH(true, event->source);
    default:
        SELECT_EACH(true, event->offset > INT64_MAX ? INT64_MAX : (int64_t)event->offset);
    }
}

/* --- All nodes --- */

static void select_chunk(struct expression *expression, struct node *node, const ttr_event *events,
                         const uint32_t *rows, uint32_t n, uint8_t *truth);

static uint8_t join(enum node_kind kind, uint8_t a, uint8_t b)
{
    const uint8_t decided = kind == NODE_AND ? TRUTH_FALSE : TRUTH_TRUE;
    if (a == decided || b == decided)
        return decided;
    return a == TRUTH_UNKNOWN || b == TRUTH_UNKNOWN ? TRUTH_UNKNOWN : !decided;
}

static void select_both(struct expression *expression, struct node *node, const ttr_event *events,
                        const uint32_t *rows, uint32_t n, uint8_t *truth)
{
    const enum node_kind kind = (enum node_kind)node->kind;
    const uint8_t decided = kind == NODE_AND ? TRUTH_FALSE : TRUTH_TRUE;
    uint32_t open = 0;
    select_chunk(expression, node->children[0], events, rows, n, truth);
    for (uint32_t i = 0; i < n; i++) {
        node->open[open] = rows[i];
        open += truth[i] != decided;
    }
    if (open > 0)
        select_chunk(expression, node->children[1], events, node->open, open, node->truths);
    open = 0;
    for (uint32_t i = 0; i < n; i++)
        if (truth[i] != decided)
            truth[i] = join(kind, truth[i], node->truths[open++]);
}

static void select_chunk(struct expression *expression, struct node *node, const ttr_event *events,
                         const uint32_t *rows, uint32_t n, uint8_t *truth)
{
    if (is_one_string_column(node->depends)) {
        select_by_string(expression, node, events, rows, n, truth);
    } else if (node->kind == NODE_AND || node->kind == NODE_OR) {
        select_both(expression, node, events, rows, n, truth);
    } else if (node->kind == NODE_NOT) {
        select_chunk(expression, node->children[0], events, rows, n, truth);
        for (uint32_t i = 0; i < n; i++)
            truth[i] = truth[i] == TRUTH_UNKNOWN ? TRUTH_UNKNOWN : !truth[i];
    } else if (!select_by_number(node, events, rows, n, truth)) {
        for (uint32_t i = 0; i < n && expression->failure == TTR_OK; i++) {
            const struct value value = node_evaluate(expression, node, &events[rows[i]]);
            truth[i] = (uint8_t)value_truth(&value);
        }
    }
}

ttr_status expression_select(struct expression *expression, const ttr_event *events,
                             const uint32_t *rows, uint32_t n, uint8_t *truth, ttr_error *error)
{
    memset(truth, TRUTH_UNKNOWN, n);
    expression->failure = TTR_OK;
    for (uint32_t done = 0; done < n && expression->failure == TTR_OK; done += EXPRESSION_CHUNK) {
        const uint32_t chunk = n - done < EXPRESSION_CHUNK ? n - done : EXPRESSION_CHUNK;
        select_chunk(expression, expression->root, events, rows + done, chunk, truth + done);
        arena_reset(&expression->scratch);
    }
    if (expression->failure == TTR_E_LIMIT)
        return error_set_option(
            error,
            fail(error, TTR_E_LIMIT, NO_OFFSET, "a text that the condition creates exceeds 1 MiB"),
            "where");
    return expression->failure == TTR_OK ? TTR_OK : fail_memory(error);
}

bool expression_uses_threads(const struct expression *expression)
{
    return (expression->root->depends & (DEPENDS_ON_FIELDS - 1)) >= 1u << COLUMN_THREADS;
}

void expression_free(struct expression *expression)
{
    if (!expression)
        return;
    const struct alloc *alloc = &expression->t->counted;
    for (size_t i = 0; i < expression->cached_n; i++)
        alloc_free(alloc, expression->cached[i]->known, expression->cached[i]->known_n, 1);
    for (size_t i = 0; i < expression->fields_n; i++)
        alloc_free(alloc, expression->fields[i]->places, expression->fields[i]->places_n,
                   sizeof *expression->fields[i]->places);
    alloc_free(alloc, expression->cached, expression->cached_capacity, sizeof(struct node *));
    alloc_free(alloc, expression->fields, expression->fields_capacity,
               sizeof(struct field_column *));
    arena_free(&expression->scratch);
    arena_free(&expression->arena);
    alloc_free(alloc, expression, 1, sizeof *expression);
}

struct expression *expression_new(ttr *t, const char *text, ttr_error *error)
{
    struct expression *expression = alloc_zero(&t->counted, 1, sizeof *expression);
    if (!expression) {
        (void)fail_memory(error);
        return NULL;
    }
    expression->t = t;
    arena_init(&expression->arena, &t->counted);
    arena_init(&expression->scratch, &t->counted);
    ttr_status status = expression_parse(expression, text, error);
    if (status == TTR_OK && !allocate_node_results(expression, expression->root))
        status = fail_memory(error);
    if (status == TTR_OK)
        return expression;
    expression_free(expression);
    return NULL;
}
