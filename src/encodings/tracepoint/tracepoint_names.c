/* Tables of kernel symbols, printk formats and thread names, to which print formats and events
 * refer by address or pid. The kernel prints them as text with one entry per line. Malformed lines
 * are skipped. */
#include <stdlib.h>
#include <string.h>

#include "encodings/tracepoint/tracepoint.h"

static bool next_table_line(ttr_text *rest, ttr_text *line)
{
    if (rest->n == 0)
        return false;
    const char *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *line = (ttr_text){rest->p, n};
    rest->p += end ? n + 1 : n;
    rest->n -= end ? n + 1 : n;
    return true;
}

static void skip_line_blanks(ttr_text *text)
{
    while (text->n && (*text->p == ' ' || *text->p == '\t'))
        text->p++, text->n--;
}

static ttr_text read_line_word(ttr_text *text)
{
    size_t n = 0;
    skip_line_blanks(text);
    while (n < text->n && text->p[n] != ' ' && text->p[n] != '\t')
        n++;
    ttr_text word = {text->p, n};
    text->p += n;
    text->n -= n;
    return word;
}

static bool parse_hexadecimal(ttr_text text, uint64_t *x)
{
    *x = 0;
    if (text.n > 2 && text.p[0] == '0' && (text.p[1] | 0x20) == 'x')
        text.p += 2, text.n -= 2;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i], lower = (char)(c | 0x20);
        unsigned digit = c >= '0' && c <= '9'           ? (unsigned)(c - '0')
                         : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10
                                                        : 16;
        if (digit > 15)
            return false;
        *x = *x << 4 | digit;
    }
    return text.n > 0 && text.n <= 16;
}

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = ((const struct tracepoint_symbol *)a)->address,
             y = ((const struct tracepoint_symbol *)b)->address;
    return (x > y) - (x < y);
}

/* Sorts symbols by address. Symbols with equal addresses are in no particular order. */
static void sort_symbols(struct tracepoint_symbols *symbols)
{
    if (symbols->n)
        qsort(symbols->symbol, symbols->n, sizeof *symbols->symbol, compare_addresses);
}

static bool add_symbol(struct tracepoints *all, struct tracepoint_symbols *symbols,
                       uint64_t address, ttr_text name)
{
    char *copy = arena_copy(&all->arena, name.p, name.n);
    if (!copy || !alloc_reserve(all->alloc, (void **)&symbols->symbol, &symbols->capacity,
                                symbols->n + 1, sizeof *symbols->symbol))
        return false;
    symbols->symbol[symbols->n++] =
        (struct tracepoint_symbol){.address = address, .name = {copy, name.n}, .program = NULL};
    return true;
}

bool tracepoints_add_kallsyms(struct tracepoints *all, ttr_text lines)
{
    ttr_text line;
    while (next_table_line(&lines, &line)) {
        uint64_t address;
        ttr_text number = read_line_word(&line), kind = read_line_word(&line),
                 name = read_line_word(&line);
        if (!parse_hexadecimal(number, &address) || address == 0 || kind.n != 1 || name.n == 0)
            continue;
        if (!add_symbol(all, &all->names.kernel, address, name))
            return false;
    }
    sort_symbols(&all->names.kernel);
    return true;
}

bool tracepoints_add_printk(struct tracepoints *all, ttr_text lines)
{
    ttr_text line;
    while (next_table_line(&lines, &line)) {
        uint64_t address;
        ttr_text number = read_line_word(&line), colon = read_line_word(&line);
        skip_line_blanks(&line);
        if (!parse_hexadecimal(number, &address) || colon.n != 1 || *colon.p != ':')
            continue;
        if (line.n >= 2 && line.p[0] == '"' && line.p[line.n - 1] == '"')
            line = (ttr_text){line.p + 1, line.n - 2};
        if (!add_symbol(all, &all->names.printk, address, line))
            return false;
    }
    sort_symbols(&all->names.printk);
    return true;
}

bool tracepoints_add_comms(struct tracepoints *all, ttr_text lines)
{
    ttr *t = all->spec.t;
    ttr_text line;
    while (next_table_line(&lines, &line)) {
        uint64_t pid = 0;
        ttr_text number = read_line_word(&line);
        bool is_number = number.n > 0 && number.n <= 10;
        skip_line_blanks(&line);
        for (size_t i = 0; i < number.n && is_number; i++) {
            is_number = number.p[i] >= '0' && number.p[i] <= '9';
            pid = pid * 10 + (uint64_t)(number.p[i] - '0');
        }
        if (!is_number || line.n == 0)
            continue;
        ttr_id name = ttr_text_add(t, line.p, line.n);
        if (!name || !context_name_tid(t, all->spec.source, pid, name))
            return false;
    }
    return true;
}

const struct tracepoint_symbol *tracepoint_find_symbol(const struct tracepoint_symbols *symbols,
                                                       uint64_t address)
{
    size_t low = 0, high = symbols->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->symbol[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &symbols->symbol[low - 1] : NULL;
}

void tracepoint_names_free(struct tracepoint_names *names)
{
    alloc_free(names->alloc, names->kernel.symbol, names->kernel.capacity,
               sizeof *names->kernel.symbol);
    alloc_free(names->alloc, names->printk.symbol, names->printk.capacity,
               sizeof *names->printk.symbol);
}
