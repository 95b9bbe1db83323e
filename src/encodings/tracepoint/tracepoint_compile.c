/* Compiler of print formats: splits the format string into items (literal text and conversions) and
 * binds each conversion to its argument.
 *
 * It supports the printk conversions that libtraceevent supports: %d %i %u %x %X %o with the length
 * modifiers h hh l ll L z, %s, %c, and %p with its extensions (S s F f, M m, I i, U, h, *pbl).
 * Width and precision may be "*". Other letters after %p are literal text. */
#include "encodings/tracepoint/tracepoint_print.h"

#define ITEMS_MAX 4096u

struct format_compiler {
    struct tracepoint_parser parser;
    ttr_text format;
    uint32_t *argument; /* node of each argument */
    uint32_t arguments_n, arguments_capacity, next;
    struct tracepoint_item *item;
    uint32_t items_n, items_capacity;
    /* buffer for the texts of items; as large as the format, which they cannot exceed */
    char *text;
    /* arguments are stored in the record (trace_printk), they are not fields */
    bool has_own_arguments;
};

static bool set_format_error(struct format_compiler *compiler, const char *why)
{
    (void)tracepoint_set_error(&compiler->parser, why, (ttr_text){"", 0});
    return false;
}

static bool set_format_out_of_memory(struct format_compiler *compiler)
{
    compiler->parser.is_out_of_memory = true;
    return set_format_error(compiler, "out of memory");
}

/* Doubles the capacity of an array in the arena if it is full. Returns false if memory runs out, or
 * the array has ITEMS_MAX elements. */
static bool grow_array_in_arena(struct format_compiler *compiler, void **list, uint32_t n,
                                uint32_t *capacity, size_t size)
{
    if (n < *capacity)
        return true;
    if (n >= ITEMS_MAX)
        return set_format_error(compiler, "format is too large");
    uint32_t more = *capacity ? 2 * *capacity : 8;
    void *grown = arena_alloc(compiler->parser.arena, more * size);
    if (!grown)
        return set_format_out_of_memory(compiler);
    if (n)
        memcpy(grown, *list, n * size);
    *list = grown;
    *capacity = more;
    return true;
}

static bool append_item(struct format_compiler *compiler, const struct tracepoint_item *item)
{
    if (!grow_array_in_arena(compiler, (void **)&compiler->item, compiler->items_n,
                             &compiler->items_capacity, sizeof *item))
        return false;
    compiler->item[compiler->items_n++] = *item;
    return true;
}

/* --- Arguments after the format --- */

static bool parse_format_arguments(struct format_compiler *compiler)
{
    struct tracepoint_parser *parser = &compiler->parser;
    tracepoint_next_word(&parser->lexer);
    if (parser->lexer.word != WORD_TEXT)
        return set_format_error(compiler, "print format does not begin with a string");
    compiler->format = parser->lexer.text;
    tracepoint_next_word(&parser->lexer);
    while (parser->lexer.word != WORD_END) {
        if (!tracepoint_expect_sign(parser, ","))
            return false;
        uint32_t node = tracepoint_parse_expression(parser, 0);
        if (parser->why ||
            !grow_array_in_arena(compiler, (void **)&compiler->argument, compiler->arguments_n,
                                 &compiler->arguments_capacity, sizeof node))
            return false;
        compiler->argument[compiler->arguments_n++] = node;
    }
    return true;
}

static bool assign_next_argument(struct format_compiler *compiler, uint32_t *node)
{
    if (compiler->has_own_arguments) {
        *node = tracepoint_add_node(&compiler->parser,
                                    &(struct tracepoint_node){.op = OP_ARGUMENT,
                                                              .peer = PEER_ATOM,
                                                              .value = compiler->next++,
                                                              .a = NODE_NONE,
                                                              .b = NODE_NONE,
                                                              .c = NODE_NONE});
        return *node != NODE_NONE;
    }
    if (compiler->next == compiler->arguments_n)
        return set_format_error(compiler, "conversion has no argument");
    *node = compiler->argument[compiler->next++];
    return true;
}

/* --- Parsing of the format string --- */

/* Appends an item with the text up to the next conversion, and replaces escape sequences by
 * characters. */
static bool parse_literal_text(struct format_compiler *compiler, size_t *at)
{
    ttr_text format = compiler->format;
    char *text = compiler->text;
    size_t n = 0, i = *at;
    for (; i < format.n; i++) {
        char c = format.p[i];
        bool has_more = i + 1 < format.n;
        if (c == '%' && (!has_more || format.p[i + 1] != '%'))
            break;
        if (c == '%')
            i++;
        if (c == '\\' && has_more) {
            c = format.p[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
        text[n++] = c;
    }
    *at = i;
    compiler->text += n;
    return n == 0 || append_item(compiler, &(struct tracepoint_item){.kind = ITEM_TEXT,
                                                                     .text = {text, n},
                                                                     .node = NODE_NONE,
                                                                     .star = NODE_NONE});
}

/* Parses the letters after %pI: 4, 6 or S with modifiers. Returns their number. After S, accepts
 * only port (p) and short form (c), in this order. */
static size_t parse_address_extension(ttr_text rest, struct tracepoint_item *item)
{
    size_t n = 2, at = 2;
    item->form = rest.p[1];
    while (item->form == 'S' && n < rest.n && strchr("pfs", rest.p[n]))
        n++;
    if (item->form != '6' && n < rest.n && strchr("hnlb", rest.p[n]))
        n++;
    if (item->form != '4' && n < rest.n && rest.p[n] == 'c')
        n++;
    if (item->form == 'S' && *rest.p == 'I' && at < n && rest.p[at] == 'p')
        item->has_port = true, at++;
    if (item->form != '4' && *rest.p == 'I' && at < n && rest.p[at] == 'c')
        item->is_short = true, at++;
    if (item->form != '6' && at < n)
        item->order = rest.p[at];
    return n;
}

/* Parses the extension letters after %p. Returns their number. */
static size_t parse_pointer_extension(ttr_text rest, struct tracepoint_item *item)
{
    static const struct {
        char letter;
        const char *forms;
    } known[] = {
        {'S', ""},   {'s', ""},   {'F', ""},     {'f', ""},
        {'M', "RF"}, {'m', "RF"}, {'U', "LlBb"}, {'h', "CDN"},
    };
    char letter = rest.n ? *rest.p : 0, form = rest.n > 1 ? rest.p[1] : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (letter != known[i].letter)
            continue;
        item->conversion = letter;
        item->form = form && strchr(known[i].forms, form) ? form : 0;
        return item->form ? 2 : 1;
    }
    bool is_list = letter == 'b' && form == 'l' && item->has_star;
    bool is_address =
        (letter == 'I' || letter == 'i') && (form == '4' || form == '6' || form == 'S');
    if (is_list || is_address)
        item->conversion = letter;
    return is_list ? 2 : is_address ? parse_address_extension(rest, item) : 0;
}

/* Returns the size in bytes of an integer argument. longs: number of l modifiers, or minus the
 * number of h modifiers. */
static int8_t get_integer_argument_size(int longs)
{
    return longs <= -2 ? 1 : longs == -1 ? 2 : longs == 0 ? 4 : 8;
}

struct conversion {
    size_t at; /* index of the first character that is not parsed yet */
    int longs;
};

/* Parses flags, width, precision and length modifiers, up to the conversion letter. */
static bool parse_conversion_flags(struct format_compiler *compiler, struct conversion *conversion,
                                   struct tracepoint_item *item)
{
    bool is_precision = false;
    for (; conversion->at < compiler->format.n; conversion->at++) {
        char c = compiler->format.p[conversion->at];
        int16_t *number = is_precision ? &item->precision : &item->width;
        if (c == '0' && !is_precision && item->width < 0) {
            item->has_zeros = true;
        } else if (c >= '0' && c <= '9') {
            int value = (*number < 0 ? 0 : *number) * 10 + (c - '0');
            *number = (int16_t)(value > 1024 ? 1024 : value);
        } else if (c == '.') {
            is_precision = true;
            item->precision = 0;
        } else if (c == '*') {
            if (item->has_star || !assign_next_argument(compiler, &item->star))
                return set_format_error(compiler, "conversion has two widths");
            item->has_star = true;
            item->star_is_precision = is_precision;
        } else if (!strchr("-#+ hlLzZt", c)) {
            return true;
        }
        item->is_left |= c == '-';
        item->has_prefix |= c == '#';
        item->has_sign |= c == '+';
        item->has_blank |= c == ' ';
        conversion->longs += c == 'l' ? 1 : c == 'h' ? -1 : 0;
        conversion->longs = c == 'L' ? 2 : strchr("zZt", c) ? 1 : conversion->longs;
    }
    return set_format_error(compiler, "conversion has no letter");
}

static bool parse_conversion(struct format_compiler *compiler, size_t *at)
{
    struct tracepoint_item item = {
        .width = -1, .precision = -1, .node = NODE_NONE, .star = NODE_NONE};
    struct conversion conversion = {.at = *at + 1};
    if (!parse_conversion_flags(compiler, &conversion, &item))
        return false;
    char c = compiler->format.p[conversion.at++];
    if (conversion.longs < -2 || conversion.longs > 2)
        return set_format_error(compiler, "length modifier is invalid");
    if (!assign_next_argument(compiler, &item.node))
        return false;
    item.conversion = c == 'i' ? 'd' : c;
    item.bytes = get_integer_argument_size(conversion.longs);
    item.longs = (int8_t)conversion.longs;
    item.is_plain = !item.is_left && !item.has_zeros && !item.has_prefix && !item.has_sign &&
                    !item.has_blank && !item.has_star && item.width < 0 && item.precision < 0;
    if (strchr("duxXo", item.conversion)) {
        item.kind = ITEM_NUMBER;
    } else if (c == 's' || c == 'c') {
        item.kind = c == 's' ? ITEM_STRING : ITEM_CHARACTER;
    } else if (c == 'p') {
        item.kind = ITEM_POINTER;
        item.conversion = 0;
        conversion.at += parse_pointer_extension(
            (ttr_text){compiler->format.p + conversion.at, compiler->format.n - conversion.at},
            &item);
    } else {
        return set_format_error(compiler, "conversion is unknown");
    }
    *at = conversion.at;
    return append_item(compiler, &item);
}

static bool parse_format_string(struct format_compiler *compiler)
{
    compiler->text = arena_alloc(compiler->parser.arena, compiler->format.n + 1);
    if (!compiler->text)
        return set_format_out_of_memory(compiler);
    for (size_t at = 0; at < compiler->format.n;) {
        bool is_conversion = compiler->format.p[at] == '%' &&
                             (at + 1 == compiler->format.n || compiler->format.p[at + 1] != '%');
        bool is_fine =
            is_conversion ? parse_conversion(compiler, &at) : parse_literal_text(compiler, &at);
        if (!is_fine)
            return false;
    }
    return true;
}

static const struct tracepoint_program *build_program(struct format_compiler *compiler,
                                                      bool is_fine)
{
    struct tracepoint_program *program = arena_alloc(compiler->parser.arena, sizeof *program);
    if (!program || compiler->parser.is_out_of_memory || compiler->parser.lexer.is_out_of_memory)
        return NULL;
    *program = (struct tracepoint_program){.item = compiler->item,
                                           .items_n = is_fine ? compiler->items_n : 0,
                                           .node = compiler->parser.nodes.node,
                                           .nodes_n = compiler->parser.nodes.n,
                                           .why = compiler->parser.why,
                                           .what = compiler->parser.what};
    return program;
}

const struct tracepoint_program *tracepoint_compile(const struct tracepoint *tp,
                                                    struct arena *arena)
{
    struct format_compiler compiler = {.parser = {.tp = tp,
                                                  .arena = arena,
                                                  .lexer = {.arena = arena, .rest = tp->print},
                                                  .what = {"", 0}}};
    return build_program(&compiler,
                         parse_format_arguments(&compiler) && parse_format_string(&compiler));
}

const struct tracepoint_program *tracepoint_compile_text(const struct tracepoint *tp,
                                                         struct arena *arena, ttr_text format)
{
    struct format_compiler compiler = {.parser = {.tp = tp, .arena = arena, .what = {"", 0}},
                                       .format = format,
                                       .has_own_arguments = true};
    return build_program(&compiler, parse_format_string(&compiler));
}
