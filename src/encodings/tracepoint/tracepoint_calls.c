/* Parses macro calls in print formats: the kernel macros that libtraceevent supports, sizeof and
 * __builtin_expect. A format that calls any other function is rejected, since that exists only in
 * the kernel. */
#include "encodings/tracepoint/tracepoint_print.h"

static const ttr_text no_word = {"", 0};

static bool equals_word(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

/* Parses a field name and the parenthesis that closes the call. Sets `*field` to NULL if the
 * tracepoint does not have the field. Returns false if the syntax is wrong. */
static bool parse_field_argument(struct tracepoint_parser *parser,
                                 const struct tracepoint_field **field, ttr_text *name)
{
    if (parser->lexer.word != WORD_NAME) {
        (void)tracepoint_set_error(parser, "expected the name of a field", parser->lexer.text);
        return false;
    }
    *name = parser->lexer.text;
    *field = tracepoint_find_field(parser->tp, *name);
    tracepoint_next_word(&parser->lexer);
    return tracepoint_expect_sign(parser, ")");
}

static uint32_t parse_dynamic_array(struct tracepoint_parser *parser, uint8_t op, uint8_t peer)
{
    const struct tracepoint_field *field;
    ttr_text name;
    if (!parse_field_argument(parser, &field, &name))
        return NODE_NONE;
    bool wants_field = op == OP_ARRAY || op == OP_LENGTH;
    if (wants_field && !field)
        return tracepoint_set_error(parser, "unknown field", name);
    return tracepoint_add_node(parser, &(struct tracepoint_node){.op = op,
                                                                 .peer = peer,
                                                                 .field = field,
                                                                 .a = NODE_NONE,
                                                                 .b = NODE_NONE,
                                                                 .c = NODE_NONE});
}

/* --- Tables of names of values --- */

static const struct {
    const char *name;
    int64_t value;
} kernel_names[] = {
    {"HI_SOFTIRQ", 0},      {"TIMER_SOFTIRQ", 1},     {"NET_TX_SOFTIRQ", 2},
    {"NET_RX_SOFTIRQ", 3},  {"BLOCK_SOFTIRQ", 4},     {"IRQ_POLL_SOFTIRQ", 5},
    {"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},     {"HRTIMER_SOFTIRQ", 8},
    {"RCU_SOFTIRQ", 9},     {"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1},
};

static int64_t clip_value_like_libtraceevent(const struct tracepoint_node *node)
{
    char first = node->text.n ? *node->text.p : '0';
    if (node->peer != PEER_ATOM)
        return (int64_t)node->value < 0 ? -1 : (int64_t)node->value;
    if (first >= '0' && first <= '9')
        return (int64_t)node->value;
    for (size_t i = 0; i < sizeof kernel_names / sizeof *kernel_names; i++)
        if (equals_word(node->text, kernel_names[i].name))
            return kernel_names[i].value;
    return -1;
}

/* Parses one entry of a table: "{ value, text }". */
static bool parse_label(struct tracepoint_parser *parser, struct tracepoint_label *label)
{
    if (!tracepoint_expect_sign(parser, "{"))
        return false;
    uint32_t value = tracepoint_parse_expression(parser, 0);
    if (!tracepoint_expect_sign(parser, ","))
        return false;
    uint32_t text = tracepoint_parse_expression(parser, 0);
    if (!tracepoint_expect_sign(parser, "}"))
        return false;
    const struct tracepoint_node *node = parser->nodes.node;
    bool is_constant =
        node[value].op == OP_NUMBER && (node[text].op == OP_TEXT || node[text].op == OP_NUMBER);
    if (!is_constant) {
        (void)tracepoint_set_error(parser, "labelled value is not constant", no_word);
        return false;
    }
    *label = (struct tracepoint_label){.value = clip_value_like_libtraceevent(&node[value]),
                                       .real = node[value].value,
                                       .text = node[text].text};
    return true;
}

/* Parses the entries of a table up to its closing parenthesis: "{ ... }, { ... })". Returns NULL on
 * error. */
static const struct tracepoint_table *parse_table(struct tracepoint_parser *parser)
{
    struct tracepoint_table *table = arena_alloc(parser->arena, sizeof *table);
    struct tracepoint_label *label = NULL;
    uint32_t n = 0, capacity = 0;
    uint32_t nodes = parser->nodes.n;
    for (;;) {
        struct tracepoint_label one;
        if (!parse_label(parser, &one))
            return NULL;
        /* the label stores the value, so its nodes are not needed any more */
        parser->nodes.n = nodes;
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 8;
            struct tracepoint_label *grown = arena_alloc(parser->arena, capacity * sizeof *grown);
            if (!grown || !table) {
                parser->is_out_of_memory = true;
                (void)tracepoint_set_error(parser, "out of memory", no_word);
                return NULL;
            }
            if (n)
                memcpy(grown, label, n * sizeof *label);
            label = grown;
        }
        label[n++] = one;
        if (!tracepoint_is_at_sign(parser, ","))
            break;
        tracepoint_next_word(&parser->lexer);
    }
    *table = (struct tracepoint_table){.label = label, .n = n};
    return tracepoint_expect_sign(parser, ")") ? table : NULL;
}

static uint32_t parse_named_values(struct tracepoint_parser *parser, uint8_t op, uint8_t peer,
                                   unsigned depth)
{
    ttr_text between = no_word;
    uint32_t value = tracepoint_parse_expression(parser, depth + 1);
    if (!tracepoint_expect_sign(parser, ","))
        return NODE_NONE;
    if (op == OP_FLAGS) {
        between = parser->lexer.text;
        if (parser->lexer.word != WORD_SIGN)
            tracepoint_next_word(&parser->lexer);
        else
            between = no_word;
        if (!tracepoint_expect_sign(parser, ","))
            return NODE_NONE;
    }
    const struct tracepoint_table *table = parse_table(parser);
    return tracepoint_add_node(parser, &(struct tracepoint_node){.op = op,
                                                                 .peer = peer,
                                                                 .a = value,
                                                                 .b = NODE_NONE,
                                                                 .c = NODE_NONE,
                                                                 .text = between,
                                                                 .table = table});
}

/* --- Macros for bytes and arrays --- */

static uint32_t parse_call_arguments(struct tracepoint_parser *parser, uint8_t op, uint8_t peer,
                                     unsigned n, unsigned depth)
{
    uint32_t argument[3] = {NODE_NONE, NODE_NONE, NODE_NONE};
    for (unsigned i = 0; i < n; i++) {
        argument[i] = tracepoint_parse_expression(parser, depth + 1);
        if (!tracepoint_expect_sign(parser, i + 1 < n ? "," : ")"))
            return NODE_NONE;
    }
    while (parser->nodes.node[argument[0]].op == OP_CAST)
        argument[0] = parser->nodes.node[argument[0]].a;
    uint8_t from = parser->nodes.node[argument[0]].op;
    if (from != OP_ARRAY && from != OP_FIELD && from != OP_LOAD)
        return tracepoint_set_error(parser, "argument is not an array", no_word);
    return tracepoint_add_node(
        parser, &(struct tracepoint_node){
                    .op = op, .peer = peer, .a = argument[0], .b = argument[1], .c = argument[2]});
}

/* --- sizeof and __builtin_expect --- */

static uint64_t get_c_type_size(ttr_text type, unsigned long_bytes)
{
    static const struct {
        const char *name;
        uint8_t bytes;
    } known[] = {
        {"int", 4},
        {"unsigned int", 4},
        {"unsigned", 4},
        {"long", 0},
        {"unsigned long", 0},
        {"long long", 8},
        {"unsigned long long", 8},
        {"u8", 1},
        {"s8", 1},
        {"u16", 2},
        {"s16", 2},
        {"u32", 4},
        {"s32", 4},
        {"u64", 8},
        {"s64", 8},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (equals_word(type, known[i].name))
            return known[i].bytes ? known[i].bytes : long_bytes;
    return 0;
}

static uint32_t parse_sizeof(struct tracepoint_parser *parser)
{
    ttr_text type = parser->lexer.text;
    uint64_t bytes = 0;
    if (parser->lexer.word != WORD_NAME)
        return tracepoint_set_error(parser, "sizeof of something that is not a type", type);
    tracepoint_next_word(&parser->lexer);
    if (equals_word(type, "REC")) {
        if (!tracepoint_expect_sign(parser, "->"))
            return NODE_NONE;
        const struct tracepoint_field *field =
            tracepoint_find_field(parser->tp, parser->lexer.text);
        bytes = field && !field->is_array ? field->size : 0;
        tracepoint_next_word(&parser->lexer);
    } else {
        while (parser->lexer.word == WORD_NAME) {
            type.n = (size_t)(parser->lexer.text.p + parser->lexer.text.n - type.p);
            tracepoint_next_word(&parser->lexer);
        }
        bytes = get_c_type_size(type, parser->tp->all->spec.long_bytes);
    }
    if (bytes == 0)
        return tracepoint_set_error(parser, "sizeof of an unknown type", type);
    if (!tracepoint_expect_sign(parser, ")"))
        return NODE_NONE;
    return tracepoint_add_node(parser, &(struct tracepoint_node){.op = OP_NUMBER,
                                                                 .peer = PEER_ATOM,
                                                                 .value = bytes,
                                                                 .text = {"4", 1},
                                                                 .a = NODE_NONE,
                                                                 .b = NODE_NONE,
                                                                 .c = NODE_NONE});
}

/* Parses __builtin_expect(value, hint). Ignores the hint, which is for the C compiler. */
static uint32_t parse_builtin_expect(struct tracepoint_parser *parser, unsigned depth)
{
    uint32_t value = tracepoint_parse_expression(parser, depth + 1);
    if (!tracepoint_expect_sign(parser, ","))
        return NODE_NONE;
    (void)tracepoint_parse_expression(parser, depth + 1);
    return tracepoint_expect_sign(parser, ")") ? value : NODE_NONE;
}

uint32_t tracepoint_parse_call(struct tracepoint_parser *parser, ttr_text name, unsigned depth)
{
    static const struct {
        const char *name;
        uint8_t op, peer, arguments;
    } known[] = {
        {"__get_str", OP_STRING, PEER_STRING, 0},
        {"__get_rel_str", OP_STRING, PEER_STRING, 0},
        {"__get_dynamic_array", OP_ARRAY, PEER_DYNAMIC_ARRAY, 0},
        {"__get_rel_dynamic_array", OP_ARRAY, PEER_DYNAMIC_ARRAY, 0},
        {"__get_sockaddr", OP_ARRAY, PEER_DYNAMIC_ARRAY, 0},
        {"__get_sockaddr_rel", OP_ARRAY, PEER_DYNAMIC_ARRAY, 0},
        {"__get_rel_sockaddr", OP_ARRAY, PEER_DYNAMIC_ARRAY, 0},
        {"__get_dynamic_array_len", OP_LENGTH, PEER_DYNAMIC_ARRAY_LEN, 0},
        {"__get_rel_dynamic_array_len", OP_LENGTH, PEER_DYNAMIC_ARRAY_LEN, 0},
        {"__get_bitmask", OP_BITS, PEER_BITMASK, 0},
        {"__get_rel_bitmask", OP_BITS, PEER_BITMASK, 0},
        {"__get_cpumask", OP_CPUS, PEER_CPUMASK, 0},
        {"__get_rel_cpumask", OP_CPUS, PEER_CPUMASK, 0},
        {"__print_hex", OP_HEX, PEER_HEX, 2},
        {"__print_hex_str", OP_HEX_TEXT, PEER_HEX_STR, 2},
        {"__print_array", OP_NUMBERS, PEER_INT_ARRAY, 3},
    };
    if (depth > TRACEPOINT_DEPTH_MAX)
        return tracepoint_set_error(parser, "expression is too large", no_word);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!equals_word(name, known[i].name))
            continue;
        return known[i].arguments ? parse_call_arguments(parser, known[i].op, known[i].peer,
                                                         known[i].arguments, depth)
                                  : parse_dynamic_array(parser, known[i].op, known[i].peer);
    }
    if (equals_word(name, "__print_flags"))
        return parse_named_values(parser, OP_FLAGS, PEER_FLAGS, depth);
    if (equals_word(name, "__print_symbolic"))
        return parse_named_values(parser, OP_SYMBOL, PEER_SYMBOL, depth);
    if (equals_word(name, "sizeof"))
        return parse_sizeof(parser);
    if (equals_word(name, "__builtin_expect"))
        return parse_builtin_expect(parser, depth);
    return tracepoint_set_error(parser, "unknown function", name);
}
