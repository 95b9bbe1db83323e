/* Pending names: a binary min-heap by time; pending_names.h describes its use. */
#include "model/pending_names.h"

#include "model/context.h"

void pending_names_init(struct pending_names *renames, ttr *t)
{
    *renames = (struct pending_names){.t = t};
}

void pending_names_free(struct pending_names *renames)
{
    alloc_free(&renames->t->counted, renames->waiting, renames->room, sizeof *renames->waiting);
    *renames = (struct pending_names){.t = renames->t};
}

static bool name_precedes(const struct pending_name *a, const struct pending_name *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->merge_position != b->merge_position ? a->merge_position < b->merge_position
                                                  : a->arrival < b->arrival;
}

bool pending_names_add(struct pending_names *renames, const struct rename *what, int64_t time,
                       uint32_t merge_position)
{
    const struct pending_name added = {.time = time,
                                       .arrival = renames->arrival++,
                                       .merge_position = merge_position,
                                       .what = *what};
    if (!alloc_reserve(&renames->t->counted, (void **)&renames->waiting, &renames->room,
                       renames->n + 1, sizeof added))
        return false;
    struct pending_name *heap = renames->waiting;
    size_t at = renames->n++;
    for (; at > 0 && name_precedes(&added, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = added;
    return true;
}

void name_change_apply(ttr *t, const struct rename *what)
{
    const ttr_id name = what->like ? t->threads[what->like].name : what->name;
    if (what->like && !name)
        return;
    if (what->is_of_process)
        context_name_process_of_thread(t, what->thread, name);
    else
        context_name_thread(t, what->thread, name);
}

/* Removes the earliest name change from the heap. */
static void remove_first_name(struct pending_names *renames)
{
    struct pending_name *heap = renames->waiting;
    const struct pending_name last = heap[--renames->n];
    size_t at = 0, next;
    while ((next = 2 * at + 1) < renames->n) {
        next += next + 1 < renames->n && name_precedes(&heap[next + 1], &heap[next]);
        if (!name_precedes(&heap[next], &last))
            break;
        heap[at] = heap[next];
        at = next;
    }
    heap[at] = last;
}

static void apply_first_name(struct pending_names *renames)
{
    name_change_apply(renames->t, &renames->waiting[0].what);
    remove_first_name(renames);
}

void pending_names_apply_all(struct pending_names *renames)
{
    while (renames->n)
        apply_first_name(renames);
}

/* Returns true if an event precedes a name change in the merged order. If both have the same time
 * and input, the name change is first: a reader ends its batch before it queues a name. */
static bool event_precedes_name(const ttr *t, const ttr_event *event,
                                const struct pending_name *next)
{
    return event->time < next->time ||
           (event->time == next->time &&
            t->sources[event->source].merge_position < next->merge_position);
}

uint32_t pending_names_apply(struct pending_names *renames, const ttr_batch *batch)
{
    uint32_t n = 0;
    while (renames->n &&
           !event_precedes_name(renames->t, ttr_batch_at(batch, 0), &renames->waiting[0]))
        apply_first_name(renames);
    while (n < batch->n && (!renames->n || event_precedes_name(renames->t, ttr_batch_at(batch, n),
                                                               &renames->waiting[0])))
        n++;
    return n;
}
