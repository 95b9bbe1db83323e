/* The list that items are, and elements of arrays that stand together in it
 * (layout/element_runs.h).  What is like the first element of its array in all that a type depends
 * on leaves its items and becomes values behind those of the elements before it.  One that is not,
 * or where only the whole event could tell, stays as it is: shapes are found either way. */
#include "formats/ctf/write/ctf_write.h"

#define LONG_RUN                                                                                   \
    4096u /* elements that stay where the event has them: short ones had better stand with what is \
             around them */

void ctf_items_init(struct ctf_items *items, const struct alloc *alloc)
{
    *items = (struct ctf_items){.alloc = alloc};
    buffer_init(&items->values, alloc);
    buffer_init(&items->spare, alloc);
}

void ctf_items_free(struct ctf_items *items)
{
    if (!items->alloc)
        return;
    alloc_free(items->alloc, items->field, items->capacity, sizeof *items->field);
    buffer_free(&items->values);
    buffer_free(&items->spare);
}

ttr_field *ctf_items_add(struct ctf_items *items)
{
    if (items->n == items->capacity &&
        !alloc_reserve(items->alloc, (void **)&items->field, &items->capacity, items->n + 1,
                       sizeof *items->field)) {
        items->failed = true;
        return NULL;
    }
    ttr_field *field = &items->field[items->n++];
    field_clear(field);
    return field;
}

/* --- One by one --- */

/* Two values in the items. */
struct pair {
    const struct ctf_items *items;
    size_t first, other;
};

/* Whether all but the values is the same, and what is in them. */
static bool is_same(const ttr_value *a, const ttr_value *b)
{
    const bool is_fixed = a->hint == CTF_ITEM_FIXED,
               has_labels = a->hint == CTF_ITEM_LABELLED || a->hint == CTF_ITEM_FLAGS;
    if (a->type != b->type || a->hint != b->hint || a->bits != b->bits || a->base != b->base ||
        a->hint == CTF_ITEM_CONSTANT || !alike_fits(a, b))
        return false;
    switch (a->type) {
    case TTR_TYPE_STRUCT:
        return a->count == b->count;
    case TTR_TYPE_ARRAY:
        return a->text_id == b->text_id && a->text.p == b->text.p &&
               (!is_fixed || a->count == b->count);
    case TTR_TYPE_TEXT:
        return !is_fixed || a->v.u == b->v.u;
    case TTR_TYPE_BYTES:
        return a->text_id == b->text_id && (!is_fixed || a->text.n == b->text.n);
    case ALIKE_MORE:
        return false;
    default:
        return !has_labels || a->text.p == b->text.p;
    }
}

/* The end of an array's elements, where all stand with the first one; 0 where they do not. */
static size_t end_of(const struct ctf_items *items, size_t behind_first, uint32_t count)
{
    const bool is_more = behind_first < items->n && alike_is_more(&items->field[behind_first]);
    if (count == 1)
        return behind_first;
    return is_more && items->field[behind_first].value.count == count - 1 ? behind_first + 1 : 0;
}

static bool is_alike(struct pair *pair);

/* The same of what is in two arrays, the pair being behind these. */
static bool has_alike(struct pair *pair, const ttr_value *first, const ttr_value *other)
{
    const struct ctf_items *items = pair->items;
    const size_t begin = pair->first;
    ttr_value likeness;
    if (first->count == 0)
        return other->count == 0;
    pair->first = end_of(items, begin + ctf_items_inside(items, begin), first->count);
    if (!pair->first)
        return false;
    if (other->count == 0)
        return ctf_items_likeness(other, &likeness) &&
               is_same(&items->field[begin].value, &likeness);
    struct pair inner = {.items = items, .first = begin, .other = pair->other};
    if (!is_alike(&inner))
        return false;
    pair->other = end_of(items, inner.other, other->count);
    return pair->other;
}

/* Whether a value is like the first, as far as items go; the pair is then behind both. */
static bool is_alike(struct pair *pair)
{
    if (pair->first >= pair->items->n || pair->other >= pair->items->n)
        return false;
    const ttr_value *first = &pair->items->field[pair->first++].value,
                    *other = &pair->items->field[pair->other++].value;
    if (!is_same(first, other))
        return false;
    if (first->type == TTR_TYPE_ARRAY)
        return has_alike(pair, first, other);
    for (uint32_t i = 0; first->type == TTR_TYPE_STRUCT && i < first->count; i++) {
        const bool has_both = pair->first < pair->items->n && pair->other < pair->items->n;
        if (!has_both ||
            pair->items->field[pair->first].name_id != pair->items->field[pair->other].name_id ||
            !is_alike(pair))
            return false;
    }
    return true;
}

/* Appends the values of an element that is the last of the items. */
static void put_values(struct ctf_items *items, struct buffer *to, size_t element)
{
    for (size_t i = element; i < items->n; i++) {
        const ttr_field *field = &items->field[i];
        const char *elsewhere = field->value.text.p;
        if (alike_is_more(field))
            buffer_add(to,
                       elsewhere ? (const void *)elsewhere : items->values.bytes + field->value.v.u,
                       field->name.n);
        else
            alike_put(to, &field->value, &field->value);
    }
}

/* The item that elements of an array have their values with, whose last ones are at `values`; a new
 * one where there is none.  NULL when memory is out. */
static ttr_field *more_of(struct ctf_items *items, size_t array, size_t values)
{
    ttr_field *last = &items->field[items->n - 1];
    if (alike_is_more(last) && !last->value.text.p &&
        items->n - 1 - last->value.text.n == array + 1)
        return last;
    last = ctf_items_add(items);
    if (last)
        last->value = (ttr_value){
            .type = ALIKE_MORE, .v.u = values, .text = {NULL, items->n - 1 - (array + 1)}};
    return last;
}

void ctf_items_pack(struct ctf_items *items, size_t array, size_t element, size_t values)
{
    struct pair pair = {.items = items, .first = array + 1, .other = element};
    if (items->failed || element == array + 1 || !is_alike(&pair) || pair.other != items->n)
        return;
    const bool has_values =
        items->values.n > values; /* arrays inside, which must come in their order */
    buffer_clear(&items->spare);
    put_values(items, has_values ? &items->spare : &items->values, element);
    items->values.n = has_values ? values : items->values.n;
    if (has_values)
        buffer_add(&items->values, items->spare.bytes, items->spare.n);
    items->failed = items->values.failed || items->spare.failed;
    items->n = element;
    ttr_field *more = more_of(items, array, values);
    if (!more)
        return;
    more->value.count++;
    more->name.n = items->values.n - (size_t)more->value.v.u;
}

/* --- Many at once --- */

bool ctf_items_take_runs(const struct ctf_items *items, size_t array, const ttr_value *taken)
{
    const ttr_field *last = &items->field[items->n - 1];
    const bool is_number = taken->type == TTR_TYPE_UINT || taken->type == TTR_TYPE_INT ||
                           taken->type == TTR_TYPE_FLOAT;
    return is_number && (taken->hint == TTR_HINT_NONE || taken->hint == TTR_HINT_POINTER) &&
           !items->failed && alike_is_more(last) && items->n - 1 - last->value.text.n == array + 1;
}

/* Whether a number has no more bits than the first. */
static bool has_bits_for(const ttr_value *first, const ttr_value *value)
{
    const unsigned spare = 64 - first->bits;
    if (first->type == TTR_TYPE_FLOAT)
        return alike_fits(first, value);
    return (first->type == TTR_TYPE_INT ? (uint64_t)((int64_t)(value->v.u << spare) >> spare)
                                        : value->v.u << spare >> spare) == value->v.u;
}

/* Whether elements lie as their values are kept, and all fit. */
static bool is_as_kept(const ttr_value *first, const struct field_elements *elements)
{
    const bool is_float = first->type == TTR_TYPE_FLOAT;
    return elements->width == alike_width(first) && elements->stride == elements->width &&
           (elements->width == 1 || !elements->is_big_endian) &&
           first->bits == 8 * elements->width &&
           (!is_float || elements->is_single == (first->bits == 32));
}

/* Has an item tell of elements where they lie. */
static uint32_t leave_run(struct ctf_items *items, size_t array,
                          const struct field_elements *elements)
{
    ttr_field *more = ctf_items_add(items);
    if (!more)
        return 0;
    more->name.n = (size_t)elements->n * elements->width;
    more->value = (ttr_value){.type = ALIKE_MORE,
                              .count = elements->n,
                              .text = {(const char *)elements->bytes, items->n - 1 - (array + 1)}};
    return elements->n;
}

uint32_t ctf_items_pack_run(struct ctf_items *items, size_t array,
                            const struct field_elements *elements)
{
    const bool is_kept = is_as_kept(&items->field[array + 1].value, elements);
    if (is_kept && elements->n >= LONG_RUN)
        return leave_run(items, array, elements);
    ttr_field *more = more_of(items, array, items->values.n);
    if (!more)
        return 0;
    const ttr_value *first = &items->field[array + 1].value;
    ttr_value value = *first;
    uint32_t n = is_kept ? elements->n : 0;
    buffer_add(&items->values, elements->bytes, (size_t)n * elements->width);
    for (; n < elements->n; n++) {
        value.v.u = field_element(elements, n);
        if (!has_bits_for(first, &value))
            break;
        alike_put(&items->values, first, &value);
    }
    items->failed |= items->values.failed;
    more->value.count += n;
    more->name.n = items->values.n - (size_t)more->value.v.u;
    return n;
}
