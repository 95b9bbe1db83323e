/* Prints events by their compiled print format. If it cannot be evaluated, prints fields with
 * their names, exactly as perf and trace-cmd do. */
#include <ctype.h>

#include "base/number.h"
#include "encodings/tracepoint/tracepoint_print.h"

static void print_item(const struct tracepoint_run *run, const struct tracepoint_item *item)
{
    int star = item->has_star ? (int)(uint32_t)tracepoint_eval_number(run, item->star) : -1;
    switch (item->kind) {
    case ITEM_TEXT:
        buffer_add(run->to, item->text.p, item->text.n);
        break;
    case ITEM_NUMBER:
        tracepoint_print_number(run->to, item, tracepoint_eval_number(run, item->node), star);
        break;
    case ITEM_STRING:
        tracepoint_print_string(run, item, item->node, star);
        break;
    case ITEM_CHARACTER: {
        char c = (char)tracepoint_eval_number(run, item->node);
        tracepoint_print_padded(run->to, item, (ttr_text){&c, c != 0},
                                star); /* %c with character 0 prints nothing */
        break;
    }
    default:
        tracepoint_print_pointer(run, item, star);
    }
}

void tracepoint_run_items(const struct tracepoint_run *run)
{
    size_t before = run->to->n;
    for (uint32_t i = 0; i < run->program->items_n && run->to->n - before < TRACEPOINT_TEXT_MAX;
         i++)
        print_item(run, &run->program->item[i]);
}

/* --- Fallback: fields with their names --- */

static bool type_contains_word(ttr_text type, const char *word)
{
    return memmem(type.p, type.n, word, strlen(word)) != NULL;
}

static bool is_printable_text(ttr_text text)
{
    for (size_t i = 0; i < text.n && text.p[i]; i++)
        if (!isprint((unsigned char)text.p[i]) && !isspace((unsigned char)text.p[i]))
            return false;
    return true;
}

static void print_array_field(const struct tracepoint_run *run,
                              const struct tracepoint_field *field)
{
    ttr_text bytes = tracepoint_get_array_bytes(run, field);
    bool is_text = type_contains_word(field->type, "char") ||
                   type_contains_word(field->type, "u8") || type_contains_word(field->type, "s8");
    if (is_text && is_printable_text(bytes)) {
        const char *zero = bytes.n ? memchr(bytes.p, 0, bytes.n) : NULL;
        buffer_add(run->to, bytes.p, zero ? (size_t)(zero - bytes.p) : bytes.n);
        return;
    }
    buffer_add_text(run->to, "ARRAY[");
    for (size_t i = 0; i < bytes.n; i++) {
        if (i)
            buffer_add(run->to, ", ", 2);
        tracepoint_print_hex(run->to, (uint8_t)bytes.p[i], 2);
    }
    buffer_add_byte(run->to, ']');
}

/* Prints an integer field. Prints a `long` in hexadecimal, because it often is an address. */
static void print_number_field(const struct tracepoint_run *run,
                               const struct tracepoint_field *field)
{
    uint64_t x =
        field->offset <= run->raw.n && field->size <= run->raw.n - field->offset
            ? tracepoint_load_integer(run->raw.p + field->offset, field->size, run->is_big_endian)
            : 0;
    char text[NUMBER_MAX];
    bool is_long = type_contains_word(field->type, "long"),
         is_signed = field->is_signed && !field->is_pointer;
    bool is_hex = field->is_pointer || (is_long && (!is_signed || field->size == 4));
    if (is_hex) {
        buffer_add(run->to, "0x", 2);
        tracepoint_print_hex(run->to, x, 1);
    } else if (is_signed) {
        int64_t s = tracepoint_sign_extend(x, field->size);
        if (field->size == 2 && s >= 0 && s < 10)
            buffer_add_byte(run->to, ' ');
        buffer_add(run->to, text, number_format_i64(text, s));
    } else {
        buffer_add(run->to, text, number_format_u64(text, x));
    }
}

static void print_all_fields(const struct tracepoint_run *run)
{
    const struct tracepoint *tp = run->tp;
    size_t before = run->to->n;
    for (uint32_t i = tp->common_n; i < tp->fields_n && run->to->n - before < TRACEPOINT_TEXT_MAX;
         i++) {
        buffer_add_byte(run->to, ' ');
        buffer_add(run->to, tp->field[i].name.p, tp->field[i].name.n);
        buffer_add_byte(run->to, '=');
        if (tp->field[i].is_array || tp->field[i].place >= TRACEPOINT_DATA_LOC)
            print_array_field(run, &tp->field[i]);
        else
            print_number_field(run, &tp->field[i]);
    }
}

static void print_event(const struct tracepoint *tp, const struct tracepoint_program *program,
                        struct tracepoint_raw raw, struct buffer *to)
{
    const struct tracepoint_run run = {.tp = tp,
                                       .program = program,
                                       .raw = raw,
                                       .is_big_endian = tp->all->spec.is_big_endian,
                                       .to = to};
    tracepoint_run_items(&run);
    if (!program->why)
        return;
    buffer_add_text(to, "[FAILED TO PARSE]");
    print_all_fields(&run);
}

bool tracepoint_print(const ttr *t, const ttr_event *event, struct buffer *to)
{
    const struct tracepoint *tp = tracepoint_get_from_event(t, event);
    if (!tp || !tp->lazy || !tp->lazy->program)
        return false;
    const struct tracepoints_spec *spec = &tp->all->spec;
    struct tracepoint_raw raw = spec->container->raw(spec->ctx, event);
    if (tp->is_bprint)
        tracepoint_print_bprint(tp, raw, to);
    else
        print_event(tp, tp->lazy->program, raw, to);
    return true;
}
