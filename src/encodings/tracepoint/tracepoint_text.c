/* Evaluates nodes as texts, and prints printf conversions. Does not use printf, because one call
 * costs more than the rest of an event. */
#include "base/number.h"
#include "encodings/tracepoint/tracepoint_print.h"

#define DIGITS_MAX 72u

/* --- Conversions of numbers and texts --- */

static void append_padding(struct buffer *to, char with, int n)
{
    uint8_t *at = n > 0 ? buffer_room(to, (size_t)n) : NULL;
    if (!at)
        return;
    memset(at, with, (size_t)n);
    buffer_commit(to, (size_t)n);
}

void tracepoint_print_hex(struct buffer *to, uint64_t x, unsigned digits)
{
    char text[16];
    unsigned n = 0;
    do
        text[15 - n++] = "0123456789abcdef"[x & 15];
    while ((x >>= 4) != 0 || n < digits);
    buffer_add(to, text + 16 - n, n);
}

/* Writes the digits of a number to the end of `text`. Returns the number of digits. */
static unsigned write_digits(char *text, uint64_t x, char conversion)
{
    const char *letters = conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned n = 0, bits = conversion == 'o' ? 3 : 4;
    if (conversion == 'd' || conversion == 'u') {
        char forward[NUMBER_MAX];
        n = (unsigned)number_format_u64(forward, x);
        memcpy(text + DIGITS_MAX - n, forward, n);
        return n;
    }
    for (; x; x >>= bits)
        text[DIGITS_MAX - ++n] = letters[x & ((1u << bits) - 1)];
    if (n == 0)
        text[DIGITS_MAX - ++n] = '0';
    return n;
}

/* Cuts off or sign-extends a number to the size that the length modifier states. If it is
 * negative, sets `is_negative` and returns the absolute value. */
static uint64_t truncate_to_conversion(const struct tracepoint_item *item, uint64_t x,
                                       bool *is_negative)
{
    unsigned unused = 64 - 8u * (unsigned)item->bytes;
    *is_negative = false;
    if (item->conversion != 'd')
        return x << unused >> unused;
    int64_t s = (int64_t)(x << unused) >> unused;
    *is_negative = s < 0;
    return s < 0 ? 0 - (uint64_t)s : (uint64_t)s;
}

static void print_number_digits(struct buffer *to, const struct tracepoint_item *item, uint64_t x,
                                int star)
{
    char text[DIGITS_MAX], head[4];
    bool is_negative, is_left = item->is_left;
    uint64_t number = truncate_to_conversion(item, x, &is_negative);
    int width = item->has_star && !item->star_is_precision ? star : item->width;
    int precision = item->has_star && item->star_is_precision ? star : item->precision;
    unsigned head_n = 0;
    if (width < -1) {
        is_left = true;
        width = width < -1024 ? 1024 : -width;
    }
    width = width > 1024 ? 1024 : width;
    precision = precision > 1024 ? 1024 : precision;
    int n = (int)write_digits(text, number, item->conversion);
    if (precision == 0 && number == 0)
        n = 0;
    if (item->conversion == 'd' && (is_negative || item->has_sign || item->has_blank))
        head[head_n++] = is_negative ? '-' : item->has_sign ? '+' : ' ';
    if (item->has_prefix && number && (item->conversion | 0x20) == 'x')
        head[head_n++] = '0', head[head_n++] = item->conversion;
    int zeros = precision > n ? precision - n : 0;
    if (item->has_prefix && item->conversion == 'o' && zeros == 0 && number)
        zeros = 1;
    if (item->has_zeros && !is_left && precision < 0 && width > n + zeros + (int)head_n)
        zeros = width - n - (int)head_n;
    int blanks = width - n - zeros - (int)head_n;
    if (!is_left)
        append_padding(to, ' ', blanks);
    buffer_add(to, head, head_n);
    append_padding(to, '0', zeros);
    buffer_add(to, text + DIGITS_MAX - n, (size_t)n);
    if (is_left)
        append_padding(to, ' ', blanks);
}

void tracepoint_print_number(struct buffer *to, const struct tracepoint_item *item, uint64_t x,
                             int star)
{
    bool is_negative;
    if (!item->is_plain) {
        print_number_digits(to, item, x, star);
        return;
    }
    uint64_t number = truncate_to_conversion(item, x, &is_negative);
    char *at = (char *)buffer_room(to, NUMBER_MAX);
    if (!at)
        return;
    if (item->conversion == 'x')
        tracepoint_print_hex(to, number, 1);
    else if (item->conversion == 'u')
        buffer_commit(to, number_format_u64(at, number));
    else if (item->conversion == 'd')
        buffer_commit(to,
                      number_format_i64(at, is_negative ? (int64_t)(0 - number) : (int64_t)number));
    else
        print_number_digits(to, item, x, star);
}

void tracepoint_print_padded(struct buffer *to, const struct tracepoint_item *item, ttr_text text,
                             int star)
{
    if (item->is_plain) {
        buffer_add(to, text.p, text.n);
        return;
    }
    int width = item->has_star && !item->star_is_precision ? star : item->width;
    int precision = item->has_star && item->star_is_precision ? star : item->precision;
    bool is_left = item->is_left || width < -1;
    width = width < -1 ? (width < -1024 ? 1024 : -width) : width > 1024 ? 1024 : width;
    size_t n = precision >= 0 && (size_t)precision < text.n ? (size_t)precision : text.n;
    int blanks = width - (int)(n > 2048 ? 2048 : n);
    if (!is_left)
        append_padding(to, ' ', blanks);
    buffer_add(to, text.p, n);
    if (is_left)
        append_padding(to, ' ', blanks);
}

/* --- Values of nodes as text --- */

static ttr_text cut_at_zero(const uint8_t *p, size_t n)
{
    const uint8_t *zero = n ? memchr(p, 0, n) : NULL;
    return (ttr_text){(const char *)p, zero ? (size_t)(zero - p) : n};
}

/* Prints a field by %s. If it is a pointer, prints the printk text at that address; the address if
 * the text is unknown. */
static void print_field_string(const struct tracepoint_run *run, const struct tracepoint_item *item,
                               const struct tracepoint_field *field, int star)
{
    const struct tracepoints *all = run->tp->all;
    if (!field || field->offset > run->raw.n || field->size > run->raw.n - field->offset)
        return;
    if (!field->is_array && field->size == all->spec.long_bytes) {
        uint64_t address =
            tracepoint_load_integer(run->raw.p + field->offset, field->size, run->is_big_endian);
        const struct tracepoint_symbol *symbol =
            tracepoint_find_symbol(&all->names.printk, address);
        if (symbol && symbol->address == address)
            buffer_add(run->to, symbol->name.p, symbol->name.n);
        else
            tracepoint_print_hex(run->to, address, 1);
        return;
    }
    size_t n = field->size ? field->size : run->raw.n - field->offset;
    tracepoint_print_padded(run->to, item, cut_at_zero(run->raw.p + field->offset, n), star);
}

static void print_array_string(const struct tracepoint_run *run, const struct tracepoint_item *item,
                               const struct tracepoint_field *field, int star)
{
    ttr_text text = tracepoint_get_array_bytes(run, field);
    if (text.n)
        tracepoint_print_padded(run->to, item, cut_at_zero((const uint8_t *)text.p, text.n), star);
}

static void print_unnamed_flags(const struct tracepoint_run *run, uint64_t value)
{
    buffer_add(run->to, "0x", 2);
    tracepoint_print_hex(run->to, value, 1);
}

static void print_flags(const struct tracepoint_run *run, const struct tracepoint_item *item,
                        const struct tracepoint_node *node, int star)
{
    uint64_t value = tracepoint_eval_number(run, node->a);
    bool is_first = true;
    for (uint32_t i = 0; i < node->table->n; i++) {
        const struct tracepoint_label *label = &node->table->label[i];
        if (!value && label->value < 0) {
            tracepoint_print_padded(run->to, item, label->text, star);
            break;
        }
        if (label->value <= 0 || (value & (uint64_t)label->value) != (uint64_t)label->value)
            continue;
        if (!is_first)
            buffer_add(run->to, node->text.p, node->text.n);
        tracepoint_print_padded(run->to, item, label->text, star);
        is_first = false;
        value &= ~(uint64_t)label->value;
    }
    if (!value)
        return;
    if (!is_first)
        buffer_add(run->to, node->text.p, node->text.n);
    print_unnamed_flags(run, value);
}

static void print_symbol(const struct tracepoint_run *run, const struct tracepoint_item *item,
                         const struct tracepoint_node *node, int star)
{
    uint64_t value = tracepoint_eval_number(run, node->a);
    for (uint32_t i = 0; i < node->table->n; i++) {
        if ((uint64_t)node->table->label[i].value != value)
            continue;
        tracepoint_print_padded(run->to, item, node->table->label[i].text, star);
        return;
    }
    print_unnamed_flags(run, value);
}

/* Returns the bytes of the record from the start of a node's array or field on. */
static ttr_text get_node_bytes(const struct tracepoint_run *run, uint32_t index)
{
    const struct tracepoint_node *node = &run->program->node[index];
    const struct tracepoint_field *field = node->field;
    if (node->op == OP_ARRAY) {
        ttr_text array = tracepoint_get_array_bytes(run, field);
        return array.n
                   ? (ttr_text){array.p, (size_t)((const char *)run->raw.p + run->raw.n - array.p)}
                   : array;
    }
    if (!field || field->offset > run->raw.n)
        return (ttr_text){"", 0};
    return (ttr_text){(const char *)run->raw.p + field->offset, run->raw.n - field->offset};
}

static void print_hex_bytes(const struct tracepoint_run *run, const struct tracepoint_node *node)
{
    ttr_text bytes = get_node_bytes(run, node->a);
    uint32_t n = (uint32_t)tracepoint_eval_number(run, node->b);
    for (uint32_t i = 0; i < n && i < bytes.n; i++) {
        if (i && node->op == OP_HEX)
            buffer_add_byte(run->to, ' ');
        tracepoint_print_hex(run->to, (uint8_t)bytes.p[i], 2);
    }
}

static void print_number_array(const struct tracepoint_run *run, const struct tracepoint_node *node)
{
    ttr_text bytes = get_node_bytes(run, node->a);
    uint32_t n = (uint32_t)tracepoint_eval_number(run, node->b),
             size = (uint32_t)tracepoint_eval_number(run, node->c);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return;
    for (uint32_t i = 0; i < n && (uint64_t)(i + (uint64_t)1) * size <= bytes.n; i++) {
        char text[NUMBER_MAX];
        if (i)
            buffer_add_byte(run->to, ' ');
        buffer_add(run->to, text,
                   number_format_u64(
                       text, tracepoint_load_integer((const uint8_t *)bytes.p + (size_t)i * size,
                                                     size, run->is_big_endian)));
    }
}

/* Returns byte `i` of a bit mask; byte 0 has the lowest bits. The mask is an array of `long` in
 * the byte order of the traced machine. */
static uint8_t get_mask_byte(const struct tracepoint_run *run, ttr_text mask, size_t i)
{
    return (uint8_t)mask.p[run->is_big_endian ? mask.n - 1 - i : i];
}

/* Prints a mask in hexadecimal, with commas between groups of 32 bits, like the kernel. */
static void print_cpu_mask_digits(const struct tracepoint_run *run, ttr_text mask)
{
    for (size_t i = mask.n; i-- > 0;) {
        tracepoint_print_hex(run->to, get_mask_byte(run, mask, i), 2);
        if (i > 0 && i % 4 == 0)
            buffer_add_byte(run->to, ',');
    }
}

void tracepoint_print_bit_ranges(const struct tracepoint_run *run, ttr_text mask, size_t bits)
{
    bool is_first = true;
    for (size_t i = 0; i < bits; i++) {
        char text[NUMBER_MAX];
        size_t begin = i;
        while (i < bits && get_mask_byte(run, mask, i / 8) >> i % 8 & 1)
            i++;
        if (i == begin)
            continue;
        if (!is_first)
            buffer_add_byte(run->to, ',');
        is_first = false;
        buffer_add(run->to, text, number_format_u64(text, begin));
        if (i - begin > 1) {
            buffer_add_byte(run->to, '-');
            buffer_add(run->to, text, number_format_u64(text, i - 1));
        }
    }
}

/* Prints a bit mask. Inserts the padding for its width afterwards, when the length is known. */
static void print_cpu_mask(const struct tracepoint_run *run, const struct tracepoint_item *item,
                           const struct tracepoint_node *node, int star)
{
    size_t before = run->to->n;
    ttr_text mask = tracepoint_get_array_bytes(run, node->field);
    if (node->op == OP_BITS)
        print_cpu_mask_digits(run, mask);
    else
        tracepoint_print_bit_ranges(run, mask, 8 * mask.n);
    int width = item->has_star ? star : item->width;
    size_t n = run->to->n - before;
    if (run->to->failed || width <= 0 || (size_t)width <= n || width > 1024)
        return;
    int blanks = width - (int)n;
    append_padding(run->to, ' ', blanks);
    if (item->is_left || run->to->failed)
        return;
    memmove(run->to->bytes + before + blanks, run->to->bytes + before, n);
    memset(run->to->bytes + before, ' ', (size_t)blanks);
}

void tracepoint_print_string(const struct tracepoint_run *run, const struct tracepoint_item *item,
                             uint32_t index, int star)
{
    const struct tracepoint_node *node = &run->program->node[index];
    switch (node->op) {
    case OP_TEXT:
        tracepoint_print_padded(run->to, item, node->text, star);
        break;
    case OP_NUMBER:
        if (node->peer == PEER_ATOM)
            tracepoint_print_padded(run->to, item, node->text, star);
        break;
    case OP_LOAD:
    case OP_FIELD:
        print_field_string(run, item, node->field, star);
        break;
    case OP_STRING:
        print_array_string(run, item, node->field, star);
        break;
    case OP_FLAGS:
        print_flags(run, item, node, star);
        break;
    case OP_SYMBOL:
        print_symbol(run, item, node, star);
        break;
    case OP_HEX:
    case OP_HEX_TEXT:
        print_hex_bytes(run, node);
        break;
    case OP_NUMBERS:
        print_number_array(run, node);
        break;
    case OP_BITS:
    case OP_CPUS:
        print_cpu_mask(run, item, node, star);
        break;
    case OP_ARGUMENT:
        if (node->value < run->arguments_n)
            tracepoint_print_padded(run->to, item, run->argument[node->value].text, star);
        break;
    case OP_CONDITIONAL:
        tracepoint_print_string(run, item, tracepoint_eval_number(run, node->a) ? node->b : node->c,
                                star);
        break;
    default:
        break;
    }
}
