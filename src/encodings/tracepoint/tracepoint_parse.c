/* Recursive-descent parser of expressions in print formats; precedence climbing for binary
 * operators. Accepts C operators, casts to type names, and fields as REC->name; folds constants.
 * Left out, as in libtraceevent: pointer dereferences, address-of, struct members, assignments,
 * and calls of unknown functions. */
#include "encodings/tracepoint/tracepoint_print.h"

static const ttr_text no_word = {"", 0};

static bool equals_word(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

uint32_t tracepoint_set_error(struct tracepoint_parser *parser, const char *why, ttr_text what)
{
    if (!parser->why) {
        parser->why = why;
        parser->what = what;
    }
    return NODE_NONE;
}

static uint32_t set_parser_out_of_memory(struct tracepoint_parser *parser)
{
    parser->is_out_of_memory = true;
    return tracepoint_set_error(parser, "out of memory", no_word);
}

bool tracepoint_is_at_sign(const struct tracepoint_parser *parser, const char *sign)
{
    return parser->lexer.word == WORD_SIGN && equals_word(parser->lexer.text, sign);
}

bool tracepoint_expect_sign(struct tracepoint_parser *parser, const char *sign)
{
    if (parser->why)
        return false;
    if (!tracepoint_is_at_sign(parser, sign)) {
        (void)tracepoint_set_error(parser, "unexpected", parser->lexer.text);
        return false;
    }
    tracepoint_next_word(&parser->lexer);
    return true;
}

const struct tracepoint_field *tracepoint_find_field(const struct tracepoint *tp, ttr_text name)
{
    for (uint32_t i = 0; i < tp->fields_n; i++)
        if (tp->field[i].name.n == name.n && memcmp(tp->field[i].name.p, name.p, name.n) == 0)
            return &tp->field[i];
    return NULL;
}

/* Parses the number at the start of a text, like strtoull: 0x is the prefix of hexadecimal, 0 of
 * octal numbers. */
static uint64_t parse_leading_number(ttr_text text)
{
    unsigned base = 10;
    uint64_t x = 0;
    size_t i = 0;
    if (text.n > 1 && text.p[0] == '0') {
        base = (text.p[1] | 0x20) == 'x' ? 16 : 8;
        i = base == 16 ? 2 : 1;
    }
    for (; i < text.n; i++) {
        char c = text.p[i], lower = (char)(c | 0x20);
        unsigned digit = c >= '0' && c <= '9'           ? (unsigned)(c - '0')
                         : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10
                                                        : 99;
        if (digit >= base)
            break;
        x = x * base + digit;
    }
    return x;
}

/* --- Nodes and constant folding --- */

static uint64_t compute_constant_operator(uint8_t op, uint64_t a, uint64_t b)
{
    struct tracepoint_node node[3] = {
        {.op = OP_NUMBER, .value = a}, {.op = OP_NUMBER, .value = b}, {.op = op, .a = 0, .b = 1}};
    const struct tracepoint_program program = {.node = node, .nodes_n = 3};
    return tracepoint_eval_number(&(struct tracepoint_run){.program = &program}, 2);
}

static unsigned get_node_depth(const struct tracepoint_parser *parser, uint32_t node)
{
    return node < parser->nodes.n ? parser->nodes.node[node].depth : 0;
}

uint32_t tracepoint_add_node(struct tracepoint_parser *parser, const struct tracepoint_node *node)
{
    struct tracepoint_nodes *nodes = &parser->nodes;
    if (parser->why)
        return NODE_NONE;
    unsigned a = get_node_depth(parser, node->a), b = get_node_depth(parser, node->b),
             c = get_node_depth(parser, node->c);
    unsigned deeper = a > b ? a : b, depth = 1 + (deeper > c ? deeper : c);
    if (depth > TRACEPOINT_DEPTH_MAX || nodes->n == TRACEPOINT_NODES_MAX)
        return tracepoint_set_error(parser, "expression is too large", no_word);
    if (nodes->n == nodes->capacity) {
        uint32_t capacity = nodes->capacity ? 2 * nodes->capacity : 16;
        struct tracepoint_node *grown = arena_alloc(parser->arena, capacity * sizeof *grown);
        if (!grown)
            return set_parser_out_of_memory(parser);
        if (nodes->n)
            memcpy(grown, nodes->node, nodes->n * sizeof *grown);
        nodes->node = grown;
        nodes->capacity = capacity;
    }
    nodes->node[nodes->n] = *node;
    nodes->node[nodes->n].depth = (uint8_t)depth;
    return nodes->n++;
}

static uint32_t add_number_node(struct tracepoint_parser *parser, uint64_t value, ttr_text text)
{
    return tracepoint_add_node(parser, &(struct tracepoint_node){.op = OP_NUMBER,
                                                                 .peer = PEER_ATOM,
                                                                 .value = value,
                                                                 .text = text,
                                                                 .a = NODE_NONE,
                                                                 .b = NODE_NONE,
                                                                 .c = NODE_NONE});
}

static bool is_number_node(const struct tracepoint_parser *parser, uint32_t node)
{
    return parser->nodes.node[node].op == OP_NUMBER;
}

static uint32_t add_binary_node(struct tracepoint_parser *parser, uint8_t op, uint32_t a,
                                uint32_t b)
{
    if (a == NODE_NONE || (b == NODE_NONE && op > OP_UNARY_PLUS))
        return NODE_NONE;
    bool is_constant = is_number_node(parser, a) && (b == NODE_NONE || is_number_node(parser, b));
    if (!is_constant)
        return tracepoint_add_node(
            parser,
            &(struct tracepoint_node){.op = op, .peer = PEER_OP, .a = a, .b = b, .c = NODE_NONE});
    uint64_t value = compute_constant_operator(op, parser->nodes.node[a].value,
                                               b == NODE_NONE ? 0 : parser->nodes.node[b].value);
    uint32_t node = add_number_node(parser, value, no_word);
    if (node != NODE_NONE)
        parser->nodes.node[node].peer = PEER_OP;
    return node;
}

static uint32_t add_field_node(struct tracepoint_parser *parser,
                               const struct tracepoint_field *field)
{
    struct tracepoint_node node = {.op = OP_FIELD,
                                   .peer = PEER_FIELD,
                                   .field = field,
                                   .a = NODE_NONE,
                                   .b = NODE_NONE,
                                   .c = NODE_NONE};
    bool is_loadable =
        field && (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
    if (is_loadable && !field->is_array && field->place == TRACEPOINT_HERE) {
        node.op = OP_LOAD;
        node.size = (uint8_t)field->size;
        node.value = field->offset;
    }
    return tracepoint_add_node(parser, &node);
}

/* --- Type casts --- */

/* Returns the mask by which a cast to the type cuts off a number. Like libtraceevent, knows only
 * these types, and does not extend the sign. */
static uint64_t get_cast_mask(ttr_text type)
{
    static const struct {
        const char *name;
        uint64_t mask;
    } known[] = {
        {"u8", 0xff},        {"s8", 0xff},        {"char", 0xff},      {"unsigned char", 0xff},
        {"u16", 0xffff},     {"s16", 0xffff},     {"short", 0xffff},   {"unsigned short", 0xffff},
        {"u32", UINT32_MAX}, {"s32", UINT32_MAX}, {"int", UINT32_MAX}, {"unsigned int", UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (equals_word(type, known[i].name))
            return known[i].mask;
    return UINT64_MAX;
}

static uint32_t add_cast_node(struct tracepoint_parser *parser, ttr_text type, bool is_pointer,
                              uint32_t a)
{
    if (a == NODE_NONE)
        return NODE_NONE;
    uint64_t mask = is_pointer ? UINT64_MAX : get_cast_mask(type);
    if (is_number_node(parser, a)) {
        uint32_t node = add_number_node(parser, parser->nodes.node[a].value & mask, no_word);
        if (node != NODE_NONE)
            parser->nodes.node[node].peer = PEER_TYPE;
        return node;
    }
    return tracepoint_add_node(parser, &(struct tracepoint_node){.op = OP_CAST,
                                                                 .peer = PEER_TYPE,
                                                                 .value = mask,
                                                                 .text = type,
                                                                 .a = a,
                                                                 .b = NODE_NONE,
                                                                 .c = NODE_NONE});
}

/* --- Operands: fields, numbers, parentheses --- */

static uint32_t parse_field_reference(struct tracepoint_parser *parser)
{
    if (!tracepoint_expect_sign(parser, "->"))
        return NODE_NONE;
    if (parser->lexer.word != WORD_NAME)
        return tracepoint_set_error(parser, "expected the name of a field", parser->lexer.text);
    ttr_text name = parser->lexer.text;
    tracepoint_next_word(&parser->lexer);
    return add_field_node(parser, tracepoint_find_field(parser->tp, name));
}

/* Parses several words as one name, such as "unsigned int" in a cast. */
static ttr_text parse_multiword_name(struct tracepoint_parser *parser)
{
    ttr_text first = parser->lexer.text;
    const char *end = first.p + first.n;
    tracepoint_next_word(&parser->lexer);
    while (parser->lexer.word == WORD_NAME) {
        end = parser->lexer.text.p + parser->lexer.text.n;
        tracepoint_next_word(&parser->lexer);
    }
    return (ttr_text){first.p, (size_t)(end - first.p)};
}

static uint32_t parse_name(struct tracepoint_parser *parser, unsigned depth)
{
    ttr_text name = parser->lexer.text;
    tracepoint_next_word(&parser->lexer);
    if (equals_word(name, "REC"))
        return parse_field_reference(parser);
    if (tracepoint_is_at_sign(parser, "(")) {
        tracepoint_next_word(&parser->lexer);
        return tracepoint_parse_call(parser, name, depth);
    }
    while (parser->lexer.word == WORD_NAME) {
        name.n = (size_t)(parser->lexer.text.p + parser->lexer.text.n - name.p);
        tracepoint_next_word(&parser->lexer);
    }
    return add_number_node(parser, parse_leading_number(name), name);
}

/* Returns true if an operand can start with the current word. Then a name in parentheses before it
 * is the type of a cast. */
static bool starts_operand(const struct tracepoint_parser *parser)
{
    return parser->lexer.word == WORD_NAME || parser->lexer.word == WORD_TEXT ||
           parser->lexer.word == WORD_CHAR || tracepoint_is_at_sign(parser, "(");
}

static uint32_t parse_primary(struct tracepoint_parser *parser, unsigned depth);

/* Parses the text after an opening parenthesis: "type)x", "type *)x", "REC)->x", or a name and
 * ")". */
static uint32_t parse_cast_or_name(struct tracepoint_parser *parser, unsigned depth)
{
    struct tracepoint_lexer before = parser->lexer;
    ttr_text name = parse_multiword_name(parser);
    bool is_pointer = tracepoint_is_at_sign(parser, "*");
    if (is_pointer)
        tracepoint_next_word(&parser->lexer);
    if (!tracepoint_is_at_sign(parser, ")")) {
        parser->lexer = before;
        uint32_t node = tracepoint_parse_expression(parser, depth + 1);
        return tracepoint_expect_sign(parser, ")") ? node : NODE_NONE;
    }
    tracepoint_next_word(&parser->lexer);
    if (equals_word(name, "REC") && !is_pointer)
        return parse_field_reference(parser);
    if (starts_operand(parser))
        return add_cast_node(parser, name, is_pointer, parse_primary(parser, depth + 1));
    return add_number_node(parser, parse_leading_number(name), name);
}

static uint32_t parse_parentheses(struct tracepoint_parser *parser, unsigned depth)
{
    tracepoint_next_word(&parser->lexer);
    if (parser->lexer.word == WORD_NAME)
        return parse_cast_or_name(parser, depth);
    uint32_t node = tracepoint_parse_expression(parser, depth + 1);
    if (!tracepoint_expect_sign(parser, ")"))
        return NODE_NONE;
    if (starts_operand(parser))
        return tracepoint_set_error(parser, "cast to something that is not a type",
                                    parser->lexer.text);
    return node;
}

static uint32_t parse_unary(struct tracepoint_parser *parser, unsigned depth)
{
    static const struct {
        char sign;
        uint8_t op;
    } known[] = {{'!', OP_NOT}, {'~', OP_COMPLEMENT}, {'-', OP_NEGATE}, {'+', OP_UNARY_PLUS}};
    ttr_text sign = parser->lexer.text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (sign.n != 1 || *sign.p != known[i].sign)
            continue;
        tracepoint_next_word(&parser->lexer);
        return add_binary_node(parser, known[i].op, parse_primary(parser, depth + 1), NODE_NONE);
    }
    return tracepoint_set_error(parser, "unexpected", sign);
}

static uint32_t parse_plain_primary(struct tracepoint_parser *parser, unsigned depth)
{
    ttr_text text = parser->lexer.text;
    switch (parser->lexer.word) {
    case WORD_NAME:
        return parse_name(parser, depth);
    case WORD_TEXT:
    case WORD_CHAR: {
        bool is_character = parser->lexer.word == WORD_CHAR;
        tracepoint_next_word(&parser->lexer);
        uint64_t value =
            is_character && text.n ? (uint8_t)text.p[text.n - 1] : parse_leading_number(text);
        return tracepoint_add_node(
            parser, &(struct tracepoint_node){.op = is_character ? OP_NUMBER : OP_TEXT,
                                              .peer = PEER_ATOM,
                                              .value = value,
                                              .text = text,
                                              .a = NODE_NONE,
                                              .b = NODE_NONE,
                                              .c = NODE_NONE});
    }
    case WORD_SIGN:
        return *text.p == '(' ? parse_parentheses(parser, depth) : parse_unary(parser, depth);
    default:
        return tracepoint_set_error(parser, "expected a value", text);
    }
}

/* Parses the index in REC->field[index], and returns the node of the element. Ignores casts of the
 * field. */
static uint32_t parse_array_index(struct tracepoint_parser *parser, uint32_t of, unsigned depth)
{
    tracepoint_next_word(&parser->lexer);
    uint32_t index = tracepoint_parse_expression(parser, depth + 1), from = of;
    if (!tracepoint_expect_sign(parser, "]") || index == NODE_NONE || of == NODE_NONE)
        return NODE_NONE;
    const struct tracepoint_node *node = parser->nodes.node;
    uint64_t mask = UINT64_MAX;
    while (node[from].op == OP_CAST) {
        mask = mask == UINT64_MAX ? get_cast_mask(node[from].text) : mask;
        from = node[from].a;
    }
    const struct tracepoint_field *field = node[from].field;
    bool is_field = (node[from].op == OP_FIELD || node[from].op == OP_LOAD) && field &&
                    field->place <= TRACEPOINT_REST;
    if (!is_field)
        return tracepoint_set_error(parser, "index of something that is not an array", no_word);
    uint8_t size = field->shape == TRACEPOINT_ARRAY ? field->element
                   : field->is_array                ? 1
                                                    : (uint8_t)field->size;
    return tracepoint_add_node(parser, &(struct tracepoint_node){.op = OP_ELEMENT,
                                                                 .peer = PEER_OP,
                                                                 .size = size,
                                                                 .field = field,
                                                                 .value = mask,
                                                                 .a = index,
                                                                 .b = NODE_NONE,
                                                                 .c = NODE_NONE});
}

static uint32_t parse_primary(struct tracepoint_parser *parser, unsigned depth)
{
    if (depth > TRACEPOINT_DEPTH_MAX)
        return tracepoint_set_error(parser, "expression is too large", no_word);
    uint32_t node = parse_plain_primary(parser, depth);
    while (!parser->why && tracepoint_is_at_sign(parser, "["))
        node = parse_array_index(parser, node, depth);
    return parser->why ? NODE_NONE : node;
}

/* --- Binary operators and ?: --- */

static const struct binary {
    char sign[3];
    /* level: precedence; of two operators, the one with the higher level is evaluated first */
    uint8_t level, op;
} binaries[] = {
    {"*", 10, OP_MULTIPLY},    {"/", 10, OP_DIVIDE},      {"%", 10, OP_REMAINDER},
    {"+", 9, OP_ADD},          {"-", 9, OP_SUBTRACT},     {"<<", 8, OP_SHIFT_LEFT},
    {">>", 8, OP_SHIFT_RIGHT}, {"<", 7, OP_LESS},         {">", 7, OP_MORE},
    {"<=", 7, OP_LESS_EQUAL},  {">=", 7, OP_MORE_EQUAL},  {"==", 6, OP_EQUAL},
    {"!=", 6, OP_UNEQUAL},     {"&", 5, OP_AND},          {"^", 4, OP_XOR},
    {"|", 3, OP_OR},           {"&&", 2, OP_LOGICAL_AND}, {"||", 1, OP_LOGICAL_OR},
};

static const struct binary *find_binary_operator(const struct tracepoint_parser *parser)
{
    for (size_t i = 0; parser->lexer.word == WORD_SIGN && i < sizeof binaries / sizeof *binaries;
         i++)
        if (equals_word(parser->lexer.text, binaries[i].sign))
            return &binaries[i];
    return NULL;
}

static uint32_t parse_binary(struct tracepoint_parser *parser, unsigned level, unsigned depth)
{
    uint32_t left = parse_primary(parser, depth);
    const struct binary *binary;
    while (!parser->why && (binary = find_binary_operator(parser)) && binary->level >= level) {
        if (depth > TRACEPOINT_DEPTH_MAX)
            return tracepoint_set_error(parser, "expression is too large", no_word);
        tracepoint_next_word(&parser->lexer);
        left = add_binary_node(parser, binary->op, left,
                               parse_binary(parser, binary->level + 1u, depth + 1));
    }
    return parser->why ? NODE_NONE : left;
}

uint32_t tracepoint_parse_expression(struct tracepoint_parser *parser, unsigned depth)
{
    uint32_t condition = parse_binary(parser, 1, depth);
    if (parser->why || !tracepoint_is_at_sign(parser, "?"))
        return parser->why ? NODE_NONE : condition;
    if (depth > TRACEPOINT_DEPTH_MAX)
        return tracepoint_set_error(parser, "expression is too large", no_word);
    tracepoint_next_word(&parser->lexer);
    uint32_t yes = tracepoint_parse_expression(parser, depth + 1);
    if (!tracepoint_expect_sign(parser, ":"))
        return NODE_NONE;
    uint32_t no = tracepoint_parse_expression(parser, depth + 1);
    return tracepoint_add_node(
        parser, &(struct tracepoint_node){
                    .op = OP_CONDITIONAL, .peer = PEER_OP, .a = condition, .b = yes, .c = no});
}
