/* Values of elements that are too many to be kept: of an array that is in no other only the first
 * element stays, and what types are made of.  When the event is encoded its fields are taken once
 * more, and values are given as far as they have come. Left out: arrays in others, whose values go
 * where all those of the outer one's element are there. */
#include "formats/ctf/write/ctf_flatten_form.h"

#define VALUES_MOST ((size_t)1 << 20) /* bytes: events with fewer are taken once */

struct ctf_items_again {
    const struct ctf_items *of;
    struct ctf_items items; /* the same once more, as far as they were taken */
    struct forming form;
    struct taking taking;
    bool has_begun;
    size_t entry;         /* whose values are asked for */
    struct buffer values; /* given last */
    struct alike_source source;
};

void ctf_items_may_go(struct ctf_items *items, const struct ctf_items_for *what,
                      const ttr_event *event)
{
    items->values_most = VALUES_MOST;
    items->what = what;
    items->event = event;
}

void ctf_items_let_go(struct ctf_items *items, size_t array)
{
    struct ctf_items_again *again = items->again;
    const size_t at = items->n - 1;
    ttr_field *more = &items->field[at];
    if (items->failed || !alike_is_more(more) || more->value.text.p ||
        at - more->value.text.n != array + 1)
        return;
    const size_t begin = (size_t)more->value.v.u;
    if (items->values.n - begin < VALUES_MOST)
        return;
    if (again && at == again->entry)
        buffer_add(&again->values, items->values.bytes + begin, items->values.n - begin);
    items->values.n = begin;
    more->value.hint = ALIKE_IN_PIECES;
    items->in_pieces = true;
}

/* The last values of an entry all of whose elements were taken: nothing stands behind them yet, for
 * a step adds no more than one field then. */
static void take_last(struct ctf_items_again *again)
{
    struct ctf_items *items = &again->items;
    const ttr_field *more = again->entry < items->n ? &items->field[again->entry] : NULL;
    if (!more || !alike_is_more(more) ||
        more->value.count < again->of->field[again->entry].value.count)
        return;
    const size_t begin = (size_t)more->value.v.u;
    buffer_add(&again->values, items->values.bytes + begin, items->values.n - begin);
    items->values.n = begin;
}

/* Takes fields until there are values. */
static bool give(void *own, size_t entry, const uint8_t **values, size_t *n)
{
    struct ctf_items_again *again = own;
    struct ctf_items *items = &again->items;
    bool has_more = true;
    again->entry = entry;
    buffer_clear(&again->values);
    if (!again->has_begun)
        ctf_items_begin_taking(&again->taking, &again->form, again->of->event);
    again->has_begun = true;
    while (has_more && !again->values.n && !items->failed && !again->values.failed) {
        has_more = ctf_items_take_next(&again->taking);
        take_last(again);
    }
    *values = again->values.bytes;
    *n = again->values.n;
    return !items->failed && !again->values.failed;
}

struct ctf_items_again *ctf_items_ask(const struct ctf_items *of)
{
    struct ctf_items_again *again = alloc_zero(of->alloc, 1, sizeof *again);
    if (!again)
        return NULL;
    ctf_items_init(&again->items, of->alloc);
    ctf_items_begin(&again->items);
    buffer_init(&again->values, of->alloc);
    again->of = of;
    again->items.again = again;
    again->items.values_most = VALUES_MOST;
    again->form = (struct forming){
        .items = &again->items, .what = of->what, .offset = of->offset, .is_again = true};
    again->source = (struct alike_source){.give = give, .own = again};
    return again;
}

const struct alike_source *ctf_items_source(const struct ctf_items_again *again)
{
    return &again->source;
}

bool ctf_items_asked(struct ctf_items_again *again)
{
    if (!again)
        return false;
    const struct alloc *alloc = again->items.alloc;
    const bool is_fine = !again->items.failed && !again->values.failed;
    ctf_items_free(&again->items);
    buffer_free(&again->values);
    alloc_free(alloc, again, 1, sizeof *again);
    return is_fine;
}
