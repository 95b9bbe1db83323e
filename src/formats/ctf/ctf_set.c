/* Order and kinship of inputs.
 *
 * Events of equal time come as babeltrace2 gives them: by the uuid of the trace, stream class, number of the data stream; files of one
 * stream by their begin.  Traces without a uuid come behind, in the order of their folders. */
#include "formats/ctf/ctf_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

ttr_status ctf_set_add(struct ctf_set *set, const struct ctf_opened *opened, ttr_error *error)
{
    if (alloc_reserve(&set->t->counted, (void **)&set->opened, &set->capacity, set->n + 1, sizeof *set->opened)) {
        set->opened[set->n++] = *opened;
        return TTR_OK;
    }
    ttr_close(&opened->in->base);
    return fail_memory(error);
}

void ctf_set_free(struct ctf_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        ttr_close(&set->opened[i].in->base);
    alloc_free(&set->t->counted, set->opened, set->capacity, sizeof *set->opened);
    set->n = 0;
}

static const struct ctf_description *description_of(const struct ctf_opened *opened)
{
    return &((const struct ctf_reader *)opened->in->own)->trace->description;
}

static uint64_t class_of(const struct ctf_opened *opened)
{
    return opened->lane.kind ? opened->lane.kind->class->id : UINT64_MAX;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_traces(const struct ctf_opened *a, const struct ctf_opened *b)
{
    const struct ctf_description *x = description_of(a), *y = description_of(b);
    if (x->has_uuid != y->has_uuid)
        return x->has_uuid ? -1 : 1;
    return x->has_uuid ? memcmp(x->uuid, y->uuid, 16) : compare_numbers(a->folder, b->folder);
}

static int compare(const void *a, const void *b)
{
    const struct ctf_opened *x = a, *y = b;
    int order = compare_traces(x, y);
    if (order == 0)
        order = compare_numbers(class_of(x), class_of(y));
    if (order == 0)
        order = compare_numbers(x->number, y->number);
    if (order == 0)
        order = x->lane.begin < y->lane.begin ? -1 : x->lane.begin > y->lane.begin;
    if (order == 0)
        order = compare_numbers(x->folder, y->folder);
    return order ? order : compare_numbers(x->file, y->file);
}

/* Whether two are parts of one data stream in different files. */
static bool is_one_stream(const struct ctf_opened *a, const struct ctf_opened *b)
{
    return a->lane.kind && b->lane.kind && a->lane.has_number && b->lane.has_number && a->lane.number == b->lane.number &&
           class_of(a) == class_of(b) && (a->folder != b->folder || a->file != b->file) && compare_traces(a, b) == 0;
}

/* What the files of a stream that begin earlier have. */
static void link_stream(struct ctf_set *set)
{
    struct ctf_before last = {.is_there = false};
    int64_t end = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct ctf_opened *here = &set->opened[i];
        struct ctf_reader *reader = here->in->own;
        bool goes_on = i > 0 && here->lane.has_begin && set->opened[i - 1].lane.has_begin && is_one_stream(&set->opened[i - 1], here);
        if (goes_on) {
            reader->initial = last;
            reader->had = last;
            reader->had_until = end;
        }
        if (!goes_on || here->lane.end > end) {
            last = here->lane.last;
            end = here->lane.end;
        }
    }
}

ttr_reader *ctf_set_merge(struct ctf_set *set, ttr_error *error)
{
    ttr *t = set->t;
    size_t n = set->n;
    ttr_reader **list = alloc_zero(&t->counted, n, sizeof(ttr_reader *));
    if (!list) {
        (void)fail_memory(error);
        return NULL;
    }
    if (n)
        qsort(set->opened, n, sizeof *set->opened, compare);
    link_stream(set);
    for (size_t i = 0; i < n; i++)
        list[i] = &set->opened[i].in->base;
    set->n = 0; /* taken over */
    bool is_alone = n == 1 && list[0]->order == TTR_ORDER_TIME;
    ttr_reader *reader = is_alone ? list[0] : ttr_merge(t, list, n, error);
    alloc_free(&t->counted, list, n, sizeof(ttr_reader *));
    return reader;
}
