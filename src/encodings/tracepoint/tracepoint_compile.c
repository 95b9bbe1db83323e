/* Compiler of print formats: splits the format string into items (literal text and conversions) and
 * binds each conversion to its argument.
 *
 * It supports the printk conversions that libtraceevent supports: %d %i %u %x %X %o with the length
 * modifiers h hh l ll L z, %s, %c, and %p with its extensions (S s F f, M m, I i, U, h, *pbl).
 * Width and precision may be "*". Other letters after %p are literal text. */
#include "encodings/tracepoint/tracepoint_print.h"

#define ITEMS_MAX 4096u

struct compiling {
    struct tracepoint_parser parser;
    ttr_text format;
    uint32_t *argument; /* nodes of the arguments, in order */
    uint32_t arguments_n, arguments_capacity, next;
    struct tracepoint_item *item;
    uint32_t items_n, items_capacity;
    char *text;             /* buffer for literal text, sized for the rest of the format */
    bool has_own_arguments; /* trace_printk: the arguments are stored in the record */
};

static bool complain(struct compiling *compiling, const char *why)
{
    (void)tracepoint_complain(&compiling->parser, why, (ttr_text){"", 0});
    return false;
}

static bool complain_memory(struct compiling *compiling)
{
    compiling->parser.is_out_of_memory = true;
    return complain(compiling, "memory is out");
}

/* Doubles the capacity of an array in the arena if it is full. Returns false if out of memory or at
 * ITEMS_MAX. */
static bool grow(struct compiling *compiling, void **list, uint32_t n, uint32_t *capacity,
                 size_t size)
{
    if (n < *capacity)
        return true;
    if (n >= ITEMS_MAX)
        return complain(compiling, "the format is too large");
    uint32_t more = *capacity ? 2 * *capacity : 8;
    void *grown = arena_take(compiling->parser.arena, more * size);
    if (!grown)
        return complain_memory(compiling);
    if (n)
        memcpy(grown, *list, n * size);
    *list = grown;
    *capacity = more;
    return true;
}

static bool add_item(struct compiling *compiling, const struct tracepoint_item *item)
{
    if (!grow(compiling, (void **)&compiling->item, compiling->items_n, &compiling->items_capacity,
              sizeof *item))
        return false;
    compiling->item[compiling->items_n++] = *item;
    return true;
}

/* --- Arguments after the format string --- */

static bool take_arguments(struct compiling *compiling)
{
    struct tracepoint_parser *parser = &compiling->parser;
    tracepoint_lex(&parser->lexer);
    if (parser->lexer.word != WORD_TEXT)
        return complain(compiling, "the print format does not begin with a text");
    compiling->format = parser->lexer.text;
    tracepoint_lex(&parser->lexer);
    while (parser->lexer.word != WORD_END) {
        if (!tracepoint_expect(parser, ","))
            return false;
        uint32_t node = tracepoint_expression(parser, 0);
        if (parser->why || !grow(compiling, (void **)&compiling->argument, compiling->arguments_n,
                                 &compiling->arguments_capacity, sizeof node))
            return false;
        compiling->argument[compiling->arguments_n++] = node;
    }
    return true;
}

static bool next_argument(struct compiling *compiling, uint32_t *node)
{
    if (compiling->has_own_arguments) {
        *node = tracepoint_add_node(&compiling->parser,
                                    &(struct tracepoint_node){.op = OP_ARGUMENT,
                                                              .peer = PEER_ATOM,
                                                              .value = compiling->next++,
                                                              .a = NODE_NONE,
                                                              .b = NODE_NONE,
                                                              .c = NODE_NONE});
        return *node != NODE_NONE;
    }
    if (compiling->next == compiling->arguments_n)
        return complain(compiling, "a conversion without an argument");
    *node = compiling->argument[compiling->next++];
    return true;
}

/* --- Format string --- */

/* Copies literal text up to the next conversion and resolves escape sequences. */
static bool take_text(struct compiling *compiling, size_t *at)
{
    ttr_text format = compiling->format;
    char *text = compiling->text;
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
    compiling->text += n;
    return n == 0 || add_item(compiling, &(struct tracepoint_item){.kind = ITEM_TEXT,
                                                                   .text = {text, n},
                                                                   .node = NODE_NONE,
                                                                   .star = NODE_NONE});
}

/* Parses the part of %pI that follows the I: 4, 6 or S with modifiers. Returns its length. After S,
 * only port (p) and short form (c) directly following are recognized, in this order. */
static size_t address_form(ttr_text rest, struct tracepoint_item *item)
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

/* Parses the extension letters after %p. Returns how many characters belong to the conversion. */
static size_t pointer_form(ttr_text rest, struct tracepoint_item *item)
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
    return is_list ? 2 : is_address ? address_form(rest, item) : 0;
}

/* Returns the size of an integer argument; `longs` is the number of l modifiers, negative for h. */
static int8_t number_bytes(int longs)
{
    return longs <= -2 ? 1 : longs == -1 ? 2 : longs == 0 ? 4 : 8;
}

struct conversion {
    size_t at; /* index after the characters parsed so far */
    int longs;
};

/* Parses flags, width, precision and length modifiers, up to the conversion letter. */
static bool take_flags(struct compiling *compiling, struct conversion *conversion,
                       struct tracepoint_item *item)
{
    bool is_precision = false;
    for (; conversion->at < compiling->format.n; conversion->at++) {
        char c = compiling->format.p[conversion->at];
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
            if (item->has_star || !next_argument(compiling, &item->star))
                return complain(compiling, "two widths of one conversion");
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
    return complain(compiling, "a conversion without its letter");
}

static bool take_conversion(struct compiling *compiling, size_t *at)
{
    struct tracepoint_item item = {
        .width = -1, .precision = -1, .node = NODE_NONE, .star = NODE_NONE};
    struct conversion conversion = {.at = *at + 1};
    if (!take_flags(compiling, &conversion, &item))
        return false;
    char c = compiling->format.p[conversion.at++];
    if (conversion.longs < -2 || conversion.longs > 2)
        return complain(compiling, "a length that no number has");
    if (!next_argument(compiling, &item.node))
        return false;
    item.conversion = c == 'i' ? 'd' : c;
    item.bytes = number_bytes(conversion.longs);
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
        conversion.at += pointer_form(
            (ttr_text){compiling->format.p + conversion.at, compiling->format.n - conversion.at},
            &item);
    } else {
        return complain(compiling, "a conversion that is not known");
    }
    *at = conversion.at;
    return add_item(compiling, &item);
}

static bool take_format(struct compiling *compiling)
{
    compiling->text = arena_take(compiling->parser.arena, compiling->format.n + 1);
    if (!compiling->text)
        return complain_memory(compiling);
    for (size_t at = 0; at < compiling->format.n;) {
        bool is_conversion = compiling->format.p[at] == '%' &&
                             (at + 1 == compiling->format.n || compiling->format.p[at + 1] != '%');
        bool is_fine = is_conversion ? take_conversion(compiling, &at) : take_text(compiling, &at);
        if (!is_fine)
            return false;
    }
    return true;
}

static const struct tracepoint_program *finish(struct compiling *compiling, bool is_fine)
{
    struct tracepoint_program *program = arena_take(compiling->parser.arena, sizeof *program);
    if (!program || compiling->parser.is_out_of_memory || compiling->parser.lexer.is_out_of_memory)
        return NULL;
    *program = (struct tracepoint_program){.item = compiling->item,
                                           .items_n = is_fine ? compiling->items_n : 0,
                                           .node = compiling->parser.nodes.node,
                                           .nodes_n = compiling->parser.nodes.n,
                                           .why = compiling->parser.why,
                                           .what = compiling->parser.what};
    return program;
}

const struct tracepoint_program *tracepoint_compile(const struct tracepoint *tp,
                                                    struct arena *arena)
{
    struct compiling compiling = {.parser = {.tp = tp,
                                             .arena = arena,
                                             .lexer = {.arena = arena, .rest = tp->print},
                                             .what = {"", 0}}};
    return finish(&compiling, take_arguments(&compiling) && take_format(&compiling));
}

const struct tracepoint_program *tracepoint_compile_text(const struct tracepoint *tp,
                                                         struct arena *arena, ttr_text format)
{
    struct compiling compiling = {.parser = {.tp = tp, .arena = arena, .what = {"", 0}},
                                  .format = format,
                                  .has_own_arguments = true};
    return finish(&compiling, take_format(&compiling));
}
