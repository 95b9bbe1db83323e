/* What a trace says of its types of events: each a class, by provider (which stands for the stream)
 * and in the order in which they were told. */
#include <stdlib.h>

#include "formats/nettrace/nettrace.h"

static int by_provider(const void *one, const void *other)
{
    const struct nettrace_type *a = *(struct nettrace_type *const *)one,
                               *b = *(struct nettrace_type *const *)other;
    if (a->provider_index != b->provider_index)
        return a->provider_index < b->provider_index ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Puts all types there are by now in order; false when memory is out. */
static bool list(struct nettrace_reader *reader)
{
    struct nettrace_types *types = &reader->types;
    if (types->shown_n == types->all_n)
        return true;
    if (!alloc_reserve(&reader->t->counted, (void **)&types->shown, &types->shown_capacity,
                       types->all_n, sizeof(struct nettrace_type *)))
        return false;
    memcpy(types->shown, types->all, types->all_n * sizeof(struct nettrace_type *));
    types->shown_n = types->all_n;
    qsort(types->shown, types->shown_n, sizeof(struct nettrace_type *), by_provider);
    return true;
}

bool nettrace_describe(struct input *in, size_t i, struct event_class *about, uint64_t *events)
{
    struct nettrace_reader *reader = in->own;
    struct nettrace_types *types = &reader->types;
    if (i >= types->all_n || !list(reader))
        return false;
    const struct nettrace_type *type = types->shown[i];
    *about = (struct event_class){.name = ttr_text_get(reader->t, type->name),
                                  .id = type->id,
                                  .stream_id = type->provider_index,
                                  .stream_name = ttr_text_get(reader->t, type->provider),
                                  .level = type->level,
                                  .emf_uri = {"", 0},
                                  .message = type->message,
                                  .description = type->description,
                                  .root = {[ROOT_PAYLOAD] = type->readings->root},
                                  .has_clock = true,
                                  .has_version = true,
                                  .version = type->version};
    *events = type->given;
    return true;
}
