/* Evaluates nodes as numbers: unsigned 64-bit arithmetic, as in libtraceevent. Bytes after the end
 * of the record are 0; division by 0 returns 0. */
#include "encodings/tracepoint/tracepoint_print.h"

/* Loads a number from the record. Returns 0 if its size is not 1, 2, 4 or 8 bytes. */
static uint64_t load_from_record(const struct tracepoint_run *run, uint64_t offset, uint32_t size)
{
    if (offset > run->raw.n || size > run->raw.n - offset)
        return 0;
    return tracepoint_load_integer(run->raw.p + offset, size, run->is_big_endian);
}

ttr_text tracepoint_get_array_bytes(const struct tracepoint_run *run,
                                    const struct tracepoint_field *field)
{
    const uint8_t *p;
    size_t n;
    if (!field || !tracepoint_locate_bytes(field, run->is_big_endian, run->raw, &p, &n))
        return (ttr_text){"", 0};
    return (ttr_text){(const char *)p, n};
}

static uint64_t get_dynamic_array_length(const struct tracepoint_run *run,
                                         const struct tracepoint_field *field)
{
    return field->place == TRACEPOINT_DATA_LOC || field->place == TRACEPOINT_REL_LOC
               ? tracepoint_get_array_bytes(run, field).n
               : 0;
}

static uint64_t eval_element(const struct tracepoint_run *run, const struct tracepoint_node *node)
{
    uint64_t index = tracepoint_eval_number(run, node->a);
    if (index > UINT16_MAX)
        return 0;
    return load_from_record(run, node->field->offset + index * node->size, node->size) &
           node->value;
}

static uint64_t eval_whole_field(const struct tracepoint_run *run,
                                 const struct tracepoint_field *field)
{
    return field ? load_from_record(run, field->offset, field->size) : 0;
}

static uint64_t shift_bits(uint64_t a, uint64_t b, bool is_left)
{
    /* C does not define large shift counts; only six bits are used, as on x86-64 and ARM64 */
    return is_left ? a << (b & 63) : a >> (b & 63);
}

static uint64_t compute_operator(uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return b ? a / b : 0;
    case OP_REMAINDER:
        return b ? a % b : 0;
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_SHIFT_LEFT:
        return shift_bits(a, b, true);
    case OP_SHIFT_RIGHT:
        return shift_bits(a, b, false);
    case OP_LESS:
        return a < b;
    case OP_MORE:
        return a > b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_MORE_EQUAL:
        return a >= b;
    case OP_EQUAL:
        return a == b;
    case OP_UNEQUAL:
        return a != b;
    case OP_AND:
        return a & b;
    case OP_XOR:
        return a ^ b;
    case OP_OR:
        return a | b;
    case OP_LOGICAL_AND:
        return a && b;
    default:
        return a || b;
    }
}

/* recursive; TRACEPOINT_DEPTH_MAX limits the depth, because the parser rejects deeper
 * expressions */
uint64_t tracepoint_eval_number(const struct tracepoint_run *run, uint32_t index)
{
    const struct tracepoint_node *node = &run->program->node[index];
    switch (node->op) {
    case OP_NUMBER:
        return node->value;
    case OP_LOAD:
        return load_from_record(run, node->value, node->size);
    case OP_LENGTH:
        return get_dynamic_array_length(run, node->field);
    case OP_CAST:
        return tracepoint_eval_number(run, node->a) & node->value;
    case OP_NOT:
        return !tracepoint_eval_number(run, node->a);
    case OP_COMPLEMENT:
        return ~tracepoint_eval_number(run, node->a);
    case OP_NEGATE:
        return 0 - tracepoint_eval_number(run, node->a);
    case OP_UNARY_PLUS:
        return tracepoint_eval_number(run, node->a);
    case OP_CONDITIONAL:
        return tracepoint_eval_number(run, node->a) ? tracepoint_eval_number(run, node->b)
                                                    : tracepoint_eval_number(run, node->c);
    case OP_ELEMENT:
        return eval_element(run, node);
    case OP_FIELD:
        return eval_whole_field(run, node->field);
    case OP_TEXT:
        return node->value;
    case OP_ARGUMENT:
        return node->value < run->arguments_n ? run->argument[node->value].value : 0;
    default:
        if (node->op >= OP_STRING)
            return 0;
        return compute_operator(node->op, tracepoint_eval_number(run, node->a),
                                tracepoint_eval_number(run, node->b));
    }
}
