/* Table of event types. Each different metadata record becomes a type with a schema. */
#include "base/hash.h"
#include "base/status.h"
#include "formats/nettrace/nettrace.h"
#include "model/activity.h"
#include <stdlib.h>

void nettrace_types_init(struct nettrace_reader *reader)
{
    pair_map_init(&reader->types.sparse, &reader->t->counted);
    pair_map_init(&reader->types.known, &reader->t->counted);
    pair_map_init(&reader->types.providers, &reader->t->counted);
}

void nettrace_types_free(struct nettrace_reader *reader)
{
    struct nettrace_types *types = &reader->types;
    const struct alloc *alloc = &reader->t->counted;
    for (size_t i = 0; i < types->all_n; i++)
        for (struct nettrace_type *type = types->all[i]; type; type = type->next_version)
            context_drop_schema(reader->t, type->schema);
    alloc_free(alloc, types->all, types->all_capacity, sizeof *types->all);
    alloc_free(alloc, types->dense, types->dense_n, sizeof *types->dense);
    pair_map_free(&types->sparse);
    alloc_free(alloc, types->sorted, types->sorted_capacity, sizeof *types->sorted);
    pair_map_free(&types->known);
    pair_map_free(&types->providers);
}

void nettrace_types_clear_numbers(struct nettrace_reader *reader)
{
    struct nettrace_types *types = &reader->types;
    for (size_t i = 0; i < types->dense_n; i++)
        types->dense[i] = NULL;
    pair_map_free(&types->sparse);
    pair_map_init(&types->sparse, &reader->t->counted);
    types->awaited = 0;
}

struct nettrace_type *nettrace_find_sparse_type(const struct nettrace_types *types, uint32_t number)
{
    const uint32_t *index =
        number < NETTRACE_DENSE_MAX ? NULL : pair_map_get(&types->sparse, number, 0);
    return index ? types->all[*index] : NULL;
}

static bool map_metadata_number(struct nettrace_reader *reader, uint32_t number, uint32_t index)
{
    struct nettrace_types *types = &reader->types;
    if (number >= NETTRACE_DENSE_MAX)
        return pair_map_put(&types->sparse, number, 0, index);
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

uint8_t nettrace_convert_clr_level(uint32_t level)
{
    static const uint8_t levels[] = {TTR_LEVEL_NONE,    TTR_LEVEL_FATAL, TTR_LEVEL_ERROR,
                                     TTR_LEVEL_WARNING, TTR_LEVEL_INFO,  TTR_LEVEL_DEBUG};
    return level < sizeof levels ? levels[level] : TTR_LEVEL_TRACE;
}

/* Returns true if events of a type are samples: of the runtime's profiler, or of CPUs in
 * machine-wide traces. */
static bool is_sample_type(const struct nettrace_reader *reader,
                           const struct nettrace_definition *definition)
{
    static const char sampler[] = "Microsoft-DotNETCore-SampleProfiler";
    ttr_text provider = ttr_text_get(reader->t, definition->provider);
    if (nettrace_is_universal_sample(provider, ttr_text_get(reader->t, definition->name)))
        return true;
    return definition->id == 0 && provider.n == sizeof sampler - 1 &&
           memcmp(provider.p, sampler, provider.n) == 0;
}

/* Returns the number of a provider; adds it if it is new. Returns UINT32_MAX if memory runs out. */
static uint32_t find_or_add_provider(struct nettrace_types *types, ttr_id provider)
{
    const uint32_t *known = pair_map_get(&types->providers, provider, 0);
    uint32_t index = known ? *known : (uint32_t)types->providers.used;
    return known || pair_map_put(&types->providers, provider, 0, index) ? index : UINT32_MAX;
}

static bool copy_text(struct nettrace_reader *reader, ttr_text text, ttr_text *copy)
{
    *copy = (ttr_text){text.n ? arena_copy(&reader->arena, text.p, text.n) : "", text.n};
    return copy->p != NULL;
}

/* Copies the stored bytes and texts of a definition to a type. Returns false if memory is
 * exhausted.
 */
static bool copy_definition(struct nettrace_reader *reader,
                            const struct nettrace_definition *definition,
                            struct nettrace_type *type)
{
    type->stored =
        (const uint8_t *)arena_copy(&reader->arena, definition->bytes, definition->bytes_n);
    type->stored_n = (uint32_t)definition->bytes_n;
    return type->stored && copy_text(reader, definition->message, &type->message) &&
           copy_text(reader, definition->description, &type->description);
}

/* Sets what follows from provider, id and name: symbols, kind, opcode, span rule. */
static void classify_type(struct nettrace_reader *reader,
                          const struct nettrace_definition *definition, struct nettrace_type *type)
{
    ttr_text provider = ttr_text_get(reader->t, definition->provider);
    type->symbols_kind = nettrace_get_symbol_kind(provider, definition->id);
    if (!type->symbols_kind)
        type->symbols_kind = nettrace_get_universal_symbol_kind(provider, definition->id);
    reader->has_universal |= type->symbols_kind >= SYMBOLS_PROCESS;
    type->kind = is_sample_type(reader, definition) ? TTR_KIND_SAMPLE : TTR_KIND_INSTANT;
    if (type->opcode == 0 && !definition->has_opcode && !definition->is_known)
        type->opcode = activity_opcode_of_name(ttr_text_get(reader->t, definition->name));
    nettrace_choose_span_rule(reader, type);
}

/* Adds the schema of a type to the library context. Returns false if memory runs out. */
static bool add_type_schema(struct nettrace_type *type, bool has_texts)
{
    struct nettrace_reader *reader = type->reader;
    type->schema = context_add_schema(reader->t, &(struct schema){.ops = &nettrace_field_ops,
                                                                  .ctx = type,
                                                                  .format = reader->in->format,
                                                                  .has_number = true,
                                                                  .number = type->id,
                                                                  .version = type->version,
                                                                  .has_texts = has_texts});
    type->template.schema = type->schema;
    return type->schema != 0;
}

struct nettrace_type *nettrace_type_add_version(struct nettrace_type *type, uint32_t version,
                                                const struct type *root)
{
    struct nettrace_reader *reader = type->reader;
    struct nettrace_type *other = arena_alloc(&reader->arena, sizeof *other);
    struct nettrace_layouts *layouts = arena_alloc(&reader->arena, sizeof *layouts);
    if (!other || !layouts)
        return NULL;
    *layouts = (struct nettrace_layouts){
        .root = root, .offset = type->layouts->offset, .could_lie = type->layouts->could_lie};
    *other = *type;
    other->layouts = layouts;
    other->version = version;
    if (!add_type_schema(other, context_schema(reader->t, type->schema)->has_texts))
        return NULL;
    type->next_version = other; /* the copy is linked to the rest of the list */
    return other;
}

/* Appends a type to `all` and sets `index` to its index there. */
static ttr_status add_type(struct nettrace_reader *reader,
                           const struct nettrace_definition *definition, uint64_t offset,
                           uint32_t *index)
{
    struct nettrace_types *types = &reader->types;
    struct nettrace_type *type = arena_alloc(&reader->arena, sizeof *type);
    struct nettrace_layouts *layouts = arena_alloc(&reader->arena, sizeof *layouts);
    if (!type || !layouts ||
        !alloc_reserve(&reader->t->counted, (void **)&types->all, &types->all_capacity,
                       types->all_n + 1, sizeof *types->all))
        return fail_memory(reader->error);
    *layouts = (struct nettrace_layouts){
        .root = definition->root, .offset = offset, .could_lie = definition->could_lie};
    *type = (struct nettrace_type){.reader = reader,
                                   .layouts = layouts,
                                   .id = definition->id,
                                   .version = definition->version,
                                   .name = definition->name,
                                   .provider = definition->provider,
                                   .keyword = definition->keyword,
                                   .level = nettrace_convert_clr_level(definition->level),
                                   .opcode = definition->opcode,
                                   .has_locations = definition->has_locations,
                                   .has_stored_fields = definition->has_stored_fields,
                                   .number = definition->number};
    if (!copy_definition(reader, definition, type))
        return fail_memory(reader->error);
    bool has_texts = definition->message.n || definition->description.n;
    classify_type(reader, definition, type);
    type->task = activity_task_of_name(reader->t, definition->name);
    if (!type->task)
        return fail_memory(reader->error);
    type->template = (ttr_event){.name = type->name,
                                 .provider = type->provider,
                                 .keyword = type->keyword,
                                 .source = reader->in->id,
                                 .kind = type->kind,
                                 .level = type->level,
                                 .opcode = type->opcode};
    if (!add_type_schema(type, has_texts))
        return fail_memory(reader->error);
    *index = type->index = (uint32_t)types->all_n;
    type->provider_index = find_or_add_provider(types, definition->provider);
    if (type->provider_index == UINT32_MAX)
        return fail_memory(reader->error);
    types->all[types->all_n++] = type;
    return TTR_OK;
}

static void report_late_metadata(struct nettrace_reader *reader, uint32_t number, uint64_t offset)
{
    if (number == 0 || number != reader->types.awaited)
        return;
    reader->types.awaited = 0;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "nettrace.late-metadata",
                         "metadata %u are defined after an event that uses them", number);
}

bool nettrace_reuse_known_type(struct nettrace_reader *reader,
                               const struct nettrace_definition *definition)
{
    const uint32_t *known =
        pair_map_get(&reader->types.known, hash_bytes(definition->bytes, definition->bytes_n),
                     definition->number);
    const struct nettrace_type *there = nettrace_find_type(&reader->types, definition->number);
    if (!known || (there && there != reader->types.all[*known]))
        return false;
    return there || map_metadata_number(reader, definition->number, *known);
}

ttr_status nettrace_add_event_type(struct nettrace_reader *reader,
                                   const struct nettrace_definition *definition, uint64_t offset)
{
    struct nettrace_types *types = &reader->types;
    uint64_t hash = hash_bytes(definition->bytes, definition->bytes_n);
    const uint32_t *known = pair_map_get(&types->known, hash, definition->number);
    const struct nettrace_type *there = nettrace_find_type(types, definition->number);
    uint32_t index = known ? *known : 0;
    if (there) {
        if (!known || types->all[*known] != there)
            input_add_diagnostic(
                reader->in, TTR_SEVERITY_ODD, offset, "nettrace.duplicate-metadata",
                "metadata %u are defined twice with different contents (\"%s\"); the first "
                "definition stays",
                definition->number, ttr_text_get(reader->t, definition->name).p);
        return TTR_OK;
    }
    if (!known) {
        ttr_status status = add_type(reader, definition, offset, &index);
        if (status != TTR_OK)
            return status;
        if (!pair_map_put(&types->known, hash, definition->number, index))
            return fail_memory(reader->error);
    }
    report_late_metadata(reader, definition->number, offset);
    return map_metadata_number(reader, definition->number, index) ? TTR_OK
                                                                  : fail_memory(reader->error);
}

/* --- Description of types: sorted by provider, then by order of declaration --- */

static int compare_by_provider(const void *one, const void *other)
{
    const struct nettrace_type *a = *(struct nettrace_type *const *)one,
                               *b = *(struct nettrace_type *const *)other;
    if (a->provider_index != b->provider_index)
        return a->provider_index < b->provider_index ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts all types declared so far by provider, for their description. Returns false if memory is
 * out. */
static bool sort_types_by_provider(struct nettrace_reader *reader)
{
    struct nettrace_types *types = &reader->types;
    if (types->sorted_n == types->all_n)
        return true;
    if (!alloc_reserve(&reader->t->counted, (void **)&types->sorted, &types->sorted_capacity,
                       types->all_n, sizeof(struct nettrace_type *)))
        return false;
    memcpy(types->sorted, types->all, types->all_n * sizeof(struct nettrace_type *));
    types->sorted_n = types->all_n;
    qsort(types->sorted, types->sorted_n, sizeof(struct nettrace_type *), compare_by_provider);
    return true;
}

bool nettrace_describe_type(struct input *in, size_t i, struct event_class *about, uint64_t *events)
{
    struct nettrace_reader *reader = in->ctx;
    struct nettrace_types *types = &reader->types;
    if (i >= types->all_n || !sort_types_by_provider(reader))
        return false;
    const struct nettrace_type *type = types->sorted[i];
    *about = (struct event_class){.name = ttr_text_get(reader->t, type->name),
                                  .id = type->id,
                                  .stream_id = type->provider_index,
                                  .stream_name = ttr_text_get(reader->t, type->provider),
                                  .level = type->level,
                                  .emf_uri = {"", 0},
                                  .message = type->message,
                                  .description = type->description,
                                  .root = {[ROOT_PAYLOAD] = type->layouts->root},
                                  .has_clock = true,
                                  .has_version = true,
                                  .version = type->version};
    *events = type->events_emitted;
    return true;
}
