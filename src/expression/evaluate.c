/* Evaluates nodes for one event, with the rules of SQLite for each operator. */
#include <string.h>

#include "expression/tree.h"

static struct value evaluate(struct expression *expression, const struct node *node, uint32_t child,
                             const ttr_event *event)
{
    return node_evaluate(expression, node->children[child], event);
}

/* --- Texts --- */

/* Returns memory for a text of the current chunk, or NULL after noting the failure. */
static char *allocate_text(struct expression *expression, size_t n)
{
    char *text = n <= VALUE_TEXT_MAX ? arena_alloc(&expression->scratch, n + 1) : NULL;
    if (!text)
        expression->failure = n <= VALUE_TEXT_MAX ? TTR_E_NOMEM : TTR_E_LIMIT;
    return text;
}

/* Converts a value that is not NULL to a text; `number` has room for that of a number. */
static ttr_text text_of(const struct value *value, char number[VALUE_NUMBER_MAX])
{
    if (value->type == VALUE_TEXT)
        return value->v.text;
    return (ttr_text){number, value_format(value, number)};
}

static struct value copy_text(struct expression *expression, ttr_text a, ttr_text b)
{
    char *text = allocate_text(expression, a.n + b.n);
    if (!text)
        return value_null();
    if (a.n)
        memcpy(text, a.p, a.n);
    if (b.n)
        memcpy(text + a.n, b.p, b.n);
    return value_text((ttr_text){text, a.n + b.n});
}

/* --- Comparisons --- */

static struct value compare(enum node_kind kind, const struct value *left,
                            const struct value *right)
{
    const bool is_null = left->type == VALUE_NULL || right->type == VALUE_NULL;
    if (is_null && kind != NODE_IS && kind != NODE_IS_NOT)
        return value_null();
    const int order =
        is_null ? left->type != right->type
                : value_compare(*left, *right,
                                value_comparison_affinity(left->affinity, right->affinity));
    switch (kind) {
    case NODE_EQ:
    case NODE_IS:
        return value_int(order == 0);
    case NODE_NE:
    case NODE_IS_NOT:
        return value_int(order != 0);
    case NODE_LT:
        return value_int(order < 0);
    case NODE_LE:
        return value_int(order <= 0);
    case NODE_GT:
        return value_int(order > 0);
    default:
        return value_int(order >= 0);
    }
}

static enum truth negate(enum truth truth)
{
    return truth == TRUTH_UNKNOWN ? truth : truth == TRUTH_FALSE ? TRUTH_TRUE : TRUTH_FALSE;
}

static enum truth both(enum truth a, enum truth b)
{
    if (a == TRUTH_FALSE || b == TRUTH_FALSE)
        return TRUTH_FALSE;
    return a == TRUTH_TRUE && b == TRUTH_TRUE ? TRUTH_TRUE : TRUTH_UNKNOWN;
}

static struct value evaluate_between(struct expression *expression, const struct node *node,
                                     const ttr_event *event)
{
    const struct value x = evaluate(expression, node, 0, event),
                       low = evaluate(expression, node, 1, event),
                       high = evaluate(expression, node, 2, event);
    const struct value above = compare(NODE_GE, &x, &low), below = compare(NODE_LE, &x, &high);
    const enum truth truth = both(value_truth(&above), value_truth(&below));
    return value_of_truth(node->is_negated ? negate(truth) : truth);
}

/* The list of IN is compared with the affinity of the left operand alone. */
static struct value evaluate_in(struct expression *expression, const struct node *node,
                                const ttr_event *event)
{
    const struct value x = evaluate(expression, node, 0, event);
    enum truth truth = x.type == VALUE_NULL && node->children_n > 1 ? TRUTH_UNKNOWN : TRUTH_FALSE;
    for (uint32_t i = 1; x.type != VALUE_NULL && truth != TRUTH_TRUE && i < node->children_n; i++) {
        struct value member = evaluate(expression, node, i, event);
        member.affinity = AFFINITY_NONE;
        const struct value equal = compare(NODE_EQ, &x, &member);
        if (value_truth(&equal) != TRUTH_FALSE)
            truth = value_truth(&equal);
    }
    return value_of_truth(node->is_negated ? negate(truth) : truth);
}

static struct value evaluate_like(struct expression *expression, const struct node *node,
                                  const ttr_event *event)
{
    char text_number[VALUE_NUMBER_MAX], pattern_number[VALUE_NUMBER_MAX];
    const struct value text = evaluate(expression, node, 0, event),
                       pattern = evaluate(expression, node, 1, event);
    uint32_t escape = 0;
    if (text.type == VALUE_NULL || pattern.type == VALUE_NULL)
        return value_null();
    if (node->children_n > 2) {
        const char *p = node->children[2]->literal.v.text.p;
        escape = value_next_character(&p, p + node->children[2]->literal.v.text.n);
    }
    const ttr_text a = text_of(&pattern, pattern_number), b = text_of(&text, text_number);
    const bool is_match =
        node->kind == NODE_GLOB ? value_matches_glob(a, b) : value_matches_like(a, b, escape);
    return value_int(is_match != node->is_negated);
}

/* --- Arithmetic --- */

static struct value calculate_real(enum node_kind kind, double a, double b)
{
    switch (kind) {
    case NODE_ADD:
        return value_real(a + b);
    case NODE_SUBTRACT:
        return value_real(a - b);
    case NODE_MULTIPLY:
        return value_real(a * b);
    default:
        return b != 0 ? value_real(a / b) : value_null();
    }
}

/* Calculates with integers. Returns false if the result is not an integer of 64 bits. */
static bool calculate_int(enum node_kind kind, int64_t a, int64_t b, struct value *result)
{
    int64_t i = 0;
    bool is_wide;
    switch (kind) {
    case NODE_ADD:
        is_wide = __builtin_add_overflow(a, b, &i);
        break;
    case NODE_SUBTRACT:
        is_wide = __builtin_sub_overflow(a, b, &i);
        break;
    case NODE_MULTIPLY:
        is_wide = __builtin_mul_overflow(a, b, &i);
        break;
    default:
        if (b == 0) {
            *result = value_null();
            return true;
        }
        is_wide = a == INT64_MIN && b == -1;
        i = is_wide ? 0 : a / b;
    }
    *result = value_int(i);
    return !is_wide;
}

static struct value calculate_remainder(const struct value *left, const struct value *right)
{
    const struct value a = value_to_number(left), b = value_to_number(right);
    const int64_t divisor = value_to_int(right);
    if (divisor == 0)
        return value_null();
    const int64_t i = divisor == -1 ? 0 : value_to_int(left) % divisor;
    return a.type == VALUE_INT && b.type == VALUE_INT ? value_int(i) : value_real((double)i);
}

static int64_t shift(int64_t number, int64_t by, bool is_left)
{
    if (by < 0) {
        is_left = !is_left;
        by = by > -64 ? -by : 64;
    }
    if (by >= 64)
        return number >= 0 || is_left ? 0 : -1;
    return is_left ? (int64_t)((uint64_t)number << by) : number >> by;
}

static struct value calculate_bits(enum node_kind kind, const struct value *left,
                                   const struct value *right)
{
    const int64_t a = value_to_int(left), b = value_to_int(right);
    switch (kind) {
    case NODE_BIT_AND:
        return value_int(a & b);
    case NODE_BIT_OR:
        return value_int(a | b);
    default:
        return value_int(shift(a, b, kind == NODE_SHIFT_LEFT));
    }
}

static struct value calculate(struct expression *expression, enum node_kind kind,
                              const struct value *left, const struct value *right)
{
    char left_number[VALUE_NUMBER_MAX], right_number[VALUE_NUMBER_MAX];
    struct value result;
    if (left->type == VALUE_NULL || right->type == VALUE_NULL)
        return value_null();
    if (kind == NODE_CONCAT)
        return copy_text(expression, text_of(left, left_number), text_of(right, right_number));
    if (kind == NODE_REMAINDER)
        return calculate_remainder(left, right);
    if (kind >= NODE_BIT_AND)
        return calculate_bits(kind, left, right);
    const struct value a = value_to_number(left), b = value_to_number(right);
    if (a.type == VALUE_INT && b.type == VALUE_INT && calculate_int(kind, a.v.i, b.v.i, &result))
        return result;
    return calculate_real(kind, value_to_real(&a), value_to_real(&b));
}

/* --- CASE and CAST --- */

static struct value evaluate_case(struct expression *expression, const struct node *node,
                                  const ttr_event *event)
{
    const uint32_t end = node->children_n - node->has_else;
    const struct value operand =
        node->has_operand ? evaluate(expression, node, 0, event) : value_null();
    for (uint32_t i = node->has_operand; i + 1 < end; i += 2) {
        struct value when = evaluate(expression, node, i, event);
        if (node->has_operand)
            when = compare(NODE_EQ, &operand, &when);
        if (value_truth(&when) == TRUTH_TRUE)
            return evaluate(expression, node, i + 1, event);
    }
    return node->has_else ? evaluate(expression, node, end, event) : value_null();
}

static struct value evaluate_cast(struct expression *expression, const struct node *node,
                                  const ttr_event *event)
{
    char number[VALUE_NUMBER_MAX];
    struct value value = evaluate(expression, node, 0, event);
    if (value.type == VALUE_NULL)
        ;
    else if (node->affinity == AFFINITY_INTEGER)
        value = value_int(value_to_int(&value));
    else if (node->affinity == AFFINITY_REAL)
        value = value_real(value_to_real(&value));
    else if (value.type != VALUE_TEXT)
        value = copy_text(expression, text_of(&value, number), (ttr_text){"", 0});
    value.affinity = node->affinity;
    return value;
}

/* --- Functions --- */

/* Returns the part of a text that functions see: the bytes before the first zero byte. */
static ttr_text before_zero(ttr_text text)
{
    const char *zero = text.n ? memchr(text.p, 0, text.n) : NULL;
    return (ttr_text){text.p, zero ? (size_t)(zero - text.p) : text.n};
}

static int64_t count_characters(ttr_text text)
{
    int64_t n = 0;
    for (const char *p = text.p, *end = p + text.n; p < end; n++)
        (void)value_next_character(&p, end);
    return n;
}

static struct value change_case(struct expression *expression, ttr_text text, bool to_lower)
{
    const struct value copy = copy_text(expression, text, (ttr_text){"", 0});
    if (copy.type != VALUE_TEXT)
        return copy;
    char *p = arena_alloc(&expression->scratch, text.n + 1);
    if (!p) {
        expression->failure = TTR_E_NOMEM;
        return value_null();
    }
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        p[i] = to_lower && c >= 'A' && c <= 'Z'    ? (char)(c - 'A' + 'a')
               : !to_lower && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A')
                                                   : c;
    }
    return value_text((ttr_text){p, text.n});
}

static struct value find_text(ttr_text text, ttr_text part)
{
    int64_t character = 1;
    for (const char *p = text.p, *end = p + text.n;; character++) {
        if ((size_t)(end - p) < part.n)
            return value_int(0);
        if (part.n == 0 || memcmp(p, part.p, part.n) == 0)
            return value_int(character);
        (void)value_next_character(&p, end);
    }
}

/* Implements substr of SQLite: returns the `count` characters of a text from number `first` on.
 * Characters are counted from 1, or from the end if `first` is negative. If `count` is negative,
 * returns the -count characters before `first`. */
static struct value cut_text(ttr_text text, int64_t first, int64_t count)
{
    const int64_t all = count_characters(text);
    int64_t begin = first > 0 ? first - 1 : first < 0 ? first + all : -1, end = begin + count;
    if (count < 0) {
        end = begin;
        begin += count;
    }
    const char *p = text.p, *text_end = p + text.n;
    for (int64_t i = 0; i < begin && p < text_end; i++)
        (void)value_next_character(&p, text_end);
    const char *from = p;
    for (int64_t i = begin > 0 ? begin : 0; i < end && p < text_end; i++)
        (void)value_next_character(&p, text_end);
    return value_text((ttr_text){from, (size_t)(p - from)});
}

/* SQLite cuts the numbers of substr() to 32 bits. */
static int64_t int32_of(const struct value *value)
{
    return (int32_t)(uint32_t)(uint64_t)value_to_int(value);
}

static struct value call_text_function(struct expression *expression, const struct node *node,
                                       const struct value *arguments)
{
    char number[VALUE_NUMBER_MAX], part_number[VALUE_NUMBER_MAX];
    for (uint32_t i = 0; i < node->children_n; i++)
        if (arguments[i].type == VALUE_NULL)
            return value_null();
    const ttr_text text = text_of(&arguments[0], number);
    switch (node->detail) {
    case FUNCTION_LENGTH:
        return value_int(count_characters(before_zero(text)));
    case FUNCTION_LOWER:
    case FUNCTION_UPPER:
        return change_case(expression, before_zero(text), node->detail == FUNCTION_LOWER);
    case FUNCTION_INSTR:
        return find_text(text, text_of(&arguments[1], part_number));
    default: {
        const struct value copy = copy_text(expression, before_zero(text), (ttr_text){"", 0});
        return copy.type == VALUE_TEXT
                   ? cut_text(copy.v.text, int32_of(&arguments[1]),
                              node->children_n > 2 ? int32_of(&arguments[2])
                                                   : VALUE_TEXT_MAX * INT64_C(2))
                   : copy;
    }
    }
}

static struct value call_function(struct expression *expression, const struct node *node,
                                  const ttr_event *event)
{
    static const char *const types[] = {"null", "integer", "real", "text"};
    struct value arguments[3];
    if (node->detail == FUNCTION_COALESCE) {
        struct value value = value_null();
        for (uint32_t i = 0; i < node->children_n && value.type == VALUE_NULL; i++)
            value = evaluate(expression, node, i, event);
        return value;
    }
    for (uint32_t i = 0; i < node->children_n && i < 3; i++)
        arguments[i] = evaluate(expression, node, i, event);
    switch (node->detail) {
    case FUNCTION_NULLIF:
        if (arguments[0].type != VALUE_NULL && arguments[1].type != VALUE_NULL &&
            value_compare(arguments[0], arguments[1], AFFINITY_NONE) == 0)
            return value_null();
        return arguments[0];
    case FUNCTION_IIF:
        return arguments[value_truth(&arguments[0]) == TRUTH_TRUE ? 1 : 2];
    case FUNCTION_TYPEOF: {
        const char *name = types[arguments[0].type];
        return value_text((ttr_text){name, strlen(name)});
    }
    default:
        return call_text_function(expression, node, arguments);
    }
}

/* --- All nodes --- */

/* Evaluates NOT, AND and OR; the right operand only if the left one leaves the result open. */
static struct value evaluate_logic(struct expression *expression, const struct node *node,
                                   const ttr_event *event)
{
    const struct value left = evaluate(expression, node, 0, event);
    const enum truth truth = value_truth(&left);
    if (node->kind == NODE_NOT)
        return value_of_truth(negate(truth));
    const enum truth decided = node->kind == NODE_AND ? TRUTH_FALSE : TRUTH_TRUE;
    if (truth == decided)
        return value_int(decided);
    const struct value right = evaluate(expression, node, 1, event);
    const enum truth other = value_truth(&right);
    return value_of_truth(node->kind == NODE_AND ? both(truth, other)
                                                 : negate(both(negate(truth), negate(other))));
}

static struct value evaluate_truth_test(struct expression *expression, const struct node *node,
                                        const ttr_event *event)
{
    const struct value left = evaluate(expression, node, 0, event);
    const enum truth wanted = node->children[1]->literal.v.i ? TRUTH_TRUE : TRUTH_FALSE;
    return value_int((value_truth(&left) == wanted) == (node->kind == NODE_IS_TRUE));
}

static struct value evaluate_unary(const struct node *node, const struct value *operand)
{
    const struct value zero = value_int(0);
    if (operand->type == VALUE_NULL || node->kind == NODE_PLUS)
        return *operand;
    if (node->kind == NODE_BIT_NOT)
        return value_int(~value_to_int(operand));
    return calculate(NULL, NODE_SUBTRACT, &zero, operand);
}

/* Evaluates all nodes but those that keep the affinity of their value. */
static struct value evaluate_operation(struct expression *expression, const struct node *node,
                                       const ttr_event *event)
{
    struct value left, right;
    switch ((enum node_kind)node->kind) {
    case NODE_AND:
    case NODE_OR:
    case NODE_NOT:
        return evaluate_logic(expression, node, event);
    case NODE_IS_TRUE:
    case NODE_IS_NOT_TRUE:
        return evaluate_truth_test(expression, node, event);
    case NODE_BETWEEN:
        return evaluate_between(expression, node, event);
    case NODE_IN:
        return evaluate_in(expression, node, event);
    case NODE_LIKE:
    case NODE_GLOB:
        return evaluate_like(expression, node, event);
    case NODE_CASE:
        return evaluate_case(expression, node, event);
    case NODE_FUNCTION:
        return call_function(expression, node, event);
    case NODE_NEGATE:
    case NODE_PLUS:
    case NODE_BIT_NOT:
        left = evaluate(expression, node, 0, event);
        return evaluate_unary(node, &left);
    default:
        left = evaluate(expression, node, 0, event);
        right = evaluate(expression, node, 1, event);
        return node->kind <= NODE_IS_NOT
                   ? compare((enum node_kind)node->kind, &left, &right)
                   : calculate(expression, (enum node_kind)node->kind, &left, &right);
    }
}

struct value node_evaluate(struct expression *expression, const struct node *node,
                           const ttr_event *event)
{
    switch ((enum node_kind)node->kind) {
    case NODE_LITERAL:
        return node->literal;
    case NODE_COLUMN:
        return column_load(expression->t, event, (enum column)node->detail);
    case NODE_FIELD:
        return field_load(expression, node->field, event);
    case NODE_CAST:
        return evaluate_cast(expression, node, event);
    default: {
        struct value value = evaluate_operation(expression, node, event);
        value.affinity = AFFINITY_NONE;
        return value;
    }
    }
}
