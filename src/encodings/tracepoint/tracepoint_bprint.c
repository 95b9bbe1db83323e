/* Printer of trace_printk events (ftrace:bprint). A record contains the address of a printk format
 * and the packed arguments. The format texts are in the trace (printk_formats); each is compiled
 * when the first record refers to it.
 *
 *   ip     address of the caller
 *   fmt    address of the format text
 *   buf    arguments in order: numbers of 4 or 8 bytes or of a `long`, each aligned to 4 bytes;
 *          strings up to a zero
 *
 * Left out: newer kernels store the formatted text of some pointers instead of an address. Such
 * text is detected by a printable first byte, as libtraceevent does. */
#include "encodings/tracepoint/tracepoint_print.h"

static bool equals_word(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

static const struct tracepoint_field *find_payload_field(const struct tracepoint *tp,
                                                         const char *name)
{
    return tracepoint_find_field(tp, (ttr_text){name, strlen(name)});
}

bool tracepoint_is_bprint(const struct tracepoint *tp)
{
    const struct tracepoint_field *format = find_payload_field(tp, "fmt"),
                                  *decoder = find_payload_field(tp, "buf"),
                                  *from = find_payload_field(tp, "ip");
    return equals_word(tp->system, "ftrace") && equals_word(tp->name, "bprint") && format &&
           decoder && from && format->size <= 8 && from->size <= 8 &&
           decoder->place <= TRACEPOINT_REST;
}

static uint64_t read_field_number(const struct tracepoint *tp, const char *name,
                                  struct tracepoint_raw raw)
{
    const struct tracepoint_field *field = find_payload_field(tp, name);
    if (field->offset > raw.n || field->size > raw.n - field->offset)
        return 0;
    return tracepoint_load_integer(raw.p + field->offset, field->size, tp->all->spec.is_big_endian);
}

static struct tracepoint_symbol *find_printk_format(const struct tracepoint *tp,
                                                    struct tracepoint_raw raw)
{
    uint64_t address = read_field_number(tp, "fmt", raw);
    const struct tracepoint_symbols *printk = &tp->all->names.printk;
    const struct tracepoint_symbol *symbol = tracepoint_find_symbol(printk, address);
    return symbol && symbol->address == address ? &printk->symbol[symbol - printk->symbol] : NULL;
}

bool tracepoint_prepare_bprint(const struct tracepoint *tp, struct tracepoint_raw raw)
{
    struct tracepoint_symbol *symbol = find_printk_format(tp, raw);
    if (!symbol || symbol->program)
        return true;
    symbol->program = tracepoint_compile_text(tp, &tp->all->arena, symbol->name);
    return symbol->program != NULL;
}

/* --- Decoding of packed arguments --- */

struct argument_decoder {
    const struct tracepoint_run *run;
    struct cursor c;
    struct tracepoint_argument *argument;
    uint32_t n;
};

static void append_argument(struct argument_decoder *decoder, struct tracepoint_argument argument)
{
    if (decoder->n < TRACEPOINT_ARGUMENTS_MAX)
        decoder->argument[decoder->n++] = argument;
}

static void decode_number_argument(struct argument_decoder *decoder, unsigned bytes)
{
    (void)cursor_skip(&decoder->c, (4 - (decoder->c.offset & 3)) & 3);
    const uint8_t *p = cursor_read_bytes(&decoder->c, bytes);
    append_argument(
        decoder,
        (struct tracepoint_argument){
            .value = p ? tracepoint_load_integer(p, bytes, decoder->run->is_big_endian) : 0});
}

static void decode_text_argument(struct argument_decoder *decoder)
{
    const uint8_t *p = decoder->c.p;
    size_t left = cursor_left(&decoder->c);
    const uint8_t *zero = left ? memchr(p, 0, left) : NULL;
    size_t n = zero ? (size_t)(zero - p) : left;
    (void)cursor_skip(&decoder->c, zero ? n + 1 : n);
    append_argument(decoder,
                    (struct tracepoint_argument){.text = {(const char *)p, n}, .is_text = true});
}

/* Decodes an argument of %p: a text if the kernel stored the formatted text, else an address. */
static void decode_pointer_argument(struct argument_decoder *decoder,
                                    const struct tracepoint_item *item)
{
    bool may_be_followed = item->conversion && !strchr("SsFf", item->conversion);
    uint8_t first = cursor_left(&decoder->c) ? *decoder->c.p : 0;
    if (may_be_followed && first >= ' ' && first < 0x7f)
        decode_text_argument(decoder);
    else
        decode_number_argument(decoder, decoder->run->tp->all->spec.long_bytes);
}

static void decode_item_arguments(struct argument_decoder *decoder,
                                  const struct tracepoint_item *item)
{
    if (item->has_star)
        decode_number_argument(decoder, 4);
    switch (item->kind) {
    case ITEM_TEXT:
        break;
    case ITEM_STRING:
        decode_text_argument(decoder);
        break;
    case ITEM_POINTER:
        decode_pointer_argument(decoder, item);
        break;
    case ITEM_NUMBER:
        decode_number_argument(decoder, item->longs <= 0   ? 4
                                        : item->longs == 1 ? decoder->run->tp->all->spec.long_bytes
                                                           : 8);
        break;
    default:
        decode_number_argument(decoder, 4);
    }
}

void tracepoint_print_bprint(const struct tracepoint *tp, struct tracepoint_raw raw,
                             struct buffer *to)
{
    struct tracepoint_argument arguments[TRACEPOINT_ARGUMENTS_MAX];
    struct tracepoint_run run = {.tp = tp,
                                 .raw = raw,
                                 .is_big_endian = tp->all->spec.is_big_endian,
                                 .to = to,
                                 .argument = arguments};
    const struct tracepoint_symbol *symbol = find_printk_format(tp, raw);
    struct argument_decoder decoder = {.run = &run, .argument = arguments};
    const struct tracepoint_field *field = find_payload_field(tp, "buf");
    tracepoint_print_function(&run, read_field_number(tp, "ip", raw), false);
    buffer_add(to, ": ", 2);
    if (!symbol || !symbol->program || symbol->program->why) {
        buffer_add_text(to, "(NO FORMAT FOUND at ");
        tracepoint_print_hex(to, read_field_number(tp, "fmt", raw), 1);
        buffer_add_text(to, ")\n");
        return;
    }
    decoder.c = cursor_init(raw.p, raw.n, 0);
    (void)cursor_skip(&decoder.c, field->offset);
    run.program = symbol->program;
    for (uint32_t i = 0; i < run.program->items_n; i++)
        decode_item_arguments(&decoder, &run.program->item[i]);
    run.arguments_n = decoder.n;
    tracepoint_run_items(&run);
}
