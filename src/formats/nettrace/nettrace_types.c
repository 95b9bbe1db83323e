/* Table of event types: metadata records become types with a schema, one for each distinct record.
 */
#include "base/hash.h"
#include "base/status.h"
#include "formats/nettrace/nettrace.h"
#include "model/activity.h"
#include <stdlib.h>

void nettrace_types_init(struct nettrace_reader *reader)
{
    pairmap_init(&reader->types.sparse, &reader->t->counted);
    pairmap_init(&reader->types.known, &reader->t->counted);
    pairmap_init(&reader->types.providers, &reader->t->counted);
}

void nettrace_types_free(struct nettrace_reader *reader)
{
    struct nettrace_types *types = &reader->types;
    const struct alloc *alloc = &reader->t->counted;
    for (size_t i = 0; i < types->all_n; i++)
        context_drop_schema(reader->t, types->all[i]->schema);
    alloc_free(alloc, types->all, types->all_capacity, sizeof *types->all);
    alloc_free(alloc, types->dense, types->dense_n, sizeof *types->dense);
    pairmap_free(&types->sparse);
    alloc_free(alloc, types->shown, types->shown_capacity, sizeof *types->shown);
    pairmap_free(&types->known);
    pairmap_free(&types->providers);
}

void nettrace_types_forget(struct nettrace_reader *reader)
{
    struct nettrace_types *types = &reader->types;
    for (size_t i = 0; i < types->dense_n; i++)
        types->dense[i] = NULL;
    pairmap_free(&types->sparse);
    pairmap_init(&types->sparse, &reader->t->counted);
    types->awaited = 0;
}

struct nettrace_type *nettrace_type_sparse(const struct nettrace_types *types, uint32_t number)
{
    const uint32_t *index = number < NETTRACE_DENSE ? NULL : pairmap_get(&types->sparse, number, 0);
    return index ? types->all[*index] : NULL;
}

static bool put(struct nettrace_reader *reader, uint32_t number, uint32_t index)
{
    struct nettrace_types *types = &reader->types;
    if (number >= NETTRACE_DENSE)
        return pairmap_put(&types->sparse, number, 0, index);
    if (number >= types->dense_n) {
        size_t n = types->dense_n ? types->dense_n : 64;
        while (n <= number)
            n *= 2;
        struct nettrace_type **dense = alloc_resize(
            &reader->t->counted, types->dense, types->dense_n, n, sizeof(struct nettrace_type *));
        if (!dense)
            return false;
        for (size_t i = types->dense_n; i < n; i++)
            dense[i] = NULL;
        types->dense = dense;
        types->dense_n = n;
    }
    types->dense[number] = types->all[index];
    return true;
}

uint8_t nettrace_level(uint32_t level)
{
    static const uint8_t levels[] = {TTR_LEVEL_NONE,    TTR_LEVEL_FATAL, TTR_LEVEL_ERROR,
                                     TTR_LEVEL_WARNING, TTR_LEVEL_INFO,  TTR_LEVEL_DEBUG};
    return level < sizeof levels ? levels[level] : TTR_LEVEL_TRACE;
}

/* True for samples of the runtime's profiler, and of processors in traces of a complete machine. */
static bool is_sample(const struct nettrace_reader *reader, const struct nettrace_said *said)
{
    static const char sampler[] = "Microsoft-DotNETCore-SampleProfiler";
    ttr_text provider = ttr_text_get(reader->t, said->provider);
    if (nettrace_is_universal_sample(provider, ttr_text_get(reader->t, said->name)))
        return true;
    return said->id == 0 && provider.n == sizeof sampler - 1 &&
           memcmp(provider.p, sampler, provider.n) == 0;
}

/* Returns the number of a provider, the next one if it is new; UINT32_MAX if memory is exhausted.
 */
static uint32_t index_of(struct nettrace_types *types, ttr_id provider)
{
    const uint32_t *known = pairmap_get(&types->providers, provider, 0);
    uint32_t index = known ? *known : (uint32_t)types->providers.used;
    return known || pairmap_put(&types->providers, provider, 0, index) ? index : UINT32_MAX;
}

static bool copy_text(struct nettrace_reader *reader, ttr_text text, ttr_text *copy)
{
    *copy = (ttr_text){text.n ? arena_copy(&reader->arena, text.p, text.n) : "", text.n};
    return copy->p != NULL;
}

static ttr_status make(struct nettrace_reader *reader, const struct nettrace_said *said,
                       uint64_t offset, uint32_t *index)
{
    struct nettrace_types *types = &reader->types;
    struct nettrace_type *type = arena_take(&reader->arena, sizeof *type);
    struct nettrace_readings *readings = arena_take(&reader->arena, sizeof *readings);
    if (!type || !readings ||
        !alloc_reserve(&reader->t->counted, (void **)&types->all, &types->all_capacity,
                       types->all_n + 1, sizeof *types->all))
        return fail_memory(reader->error);
    *readings = (struct nettrace_readings){
        .root = said->root, .offset = offset, .could_lie = said->could_lie};
    *type = (struct nettrace_type){.reader = reader,
                                   .readings = readings,
                                   .id = said->id,
                                   .version = said->version,
                                   .name = said->name,
                                   .provider = said->provider,
                                   .keyword = said->keyword,
                                   .level = nettrace_level(said->level),
                                   .opcode = said->opcode,
                                   .has_places = said->has_places,
                                   .number = said->number};
    type->said = (const uint8_t *)arena_copy(&reader->arena, said->bytes, said->bytes_n);
    type->said_n = (uint32_t)said->bytes_n;
    bool has_texts = said->message.n || said->description.n;
    if (!type->said || !copy_text(reader, said->message, &type->message) ||
        !copy_text(reader, said->description, &type->description))
        return fail_memory(reader->error);
    type->symbols = nettrace_symbols_kind(ttr_text_get(reader->t, said->provider), said->id);
    if (!type->symbols)
        type->symbols = nettrace_universal_kind(ttr_text_get(reader->t, said->provider), said->id);
    reader->has_universal |= type->symbols >= SYMBOLS_PROCESS;
    type->kind = is_sample(reader, said) ? TTR_KIND_SAMPLE : TTR_KIND_INSTANT;
    if (type->opcode == 0 && !said->has_opcode && !said->is_known)
        type->opcode = activity_opcode(ttr_text_get(reader->t, said->name));
    nettrace_span_of(reader, type);
    type->task = activity_task(reader->t, said->name);
    if (!type->task)
        return fail_memory(reader->error);
    type->schema = context_add_schema(reader->t, &(struct schema){.ops = &nettrace_field_ops,
                                                                  .own = type,
                                                                  .format = reader->in->format,
                                                                  .has_number = true,
                                                                  .number = said->id,
                                                                  .version = said->version,
                                                                  .has_texts = has_texts});
    if (!type->schema)
        return fail_memory(reader->error);
    type->like = (ttr_event){.schema = type->schema,
                             .name = type->name,
                             .provider = type->provider,
                             .keyword = type->keyword,
                             .source = reader->in->id,
                             .kind = type->kind,
                             .level = type->level,
                             .opcode = type->opcode};
    *index = type->index = (uint32_t)types->all_n;
    type->provider_index = index_of(types, said->provider);
    if (type->provider_index == UINT32_MAX)
        return fail_memory(reader->error);
    types->all[types->all_n++] = type;
    return TTR_OK;
}

static void check_awaited(struct nettrace_reader *reader, uint32_t number, uint64_t offset)
{
    if (number == 0 || number != reader->types.awaited)
        return;
    reader->types.awaited = 0;
    input_note(reader->in, TTR_NOTE_ODD, offset, "nettrace.late-metadata",
               "metadata %u are defined behind an event of theirs", number);
}

bool nettrace_type_again(struct nettrace_reader *reader, const struct nettrace_said *said)
{
    const uint32_t *known =
        pairmap_get(&reader->types.known, hash_bytes(said->bytes, said->bytes_n), said->number);
    const struct nettrace_type *there = nettrace_type_of(&reader->types, said->number);
    if (!known || (there && there != reader->types.all[*known]))
        return false;
    return there || put(reader, said->number, *known);
}

ttr_status nettrace_type_add(struct nettrace_reader *reader, const struct nettrace_said *said,
                             uint64_t offset)
{
    struct nettrace_types *types = &reader->types;
    uint64_t hash = hash_bytes(said->bytes, said->bytes_n);
    const uint32_t *known = pairmap_get(&types->known, hash, said->number);
    const struct nettrace_type *there = nettrace_type_of(types, said->number);
    uint32_t index = known ? *known : 0;
    if (there) {
        if (!known || types->all[*known] != there)
            input_note(
                reader->in, TTR_NOTE_ODD, offset, "nettrace.duplicate-metadata",
                "metadata %u are defined again, otherwise (\"%s\"); the first definition stays",
                said->number, ttr_text_get(reader->t, said->name).p);
        return TTR_OK;
    }
    if (!known) {
        ttr_status status = make(reader, said, offset, &index);
        if (status != TTR_OK)
            return status;
        if (!pairmap_put(&types->known, hash, said->number, index))
            return fail_memory(reader->error);
    }
    check_awaited(reader, said->number, offset);
    return put(reader, said->number, index) ? TTR_OK : fail_memory(reader->error);
}

/* --- Description: types sorted by provider, then by order of declaration --- */

static int by_provider(const void *one, const void *other)
{
    const struct nettrace_type *a = *(struct nettrace_type *const *)one,
                               *b = *(struct nettrace_type *const *)other;
    if (a->provider_index != b->provider_index)
        return a->provider_index < b->provider_index ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts all types read so far for the description. Returns false if memory is exhausted. */
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
