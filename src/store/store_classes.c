/* Tables class and field: which events there are, and which fields they have.
 *
 * A class is a provider and a name, both as the trace has them, without interpretation.  Classes
 * that the trace declares and that have no event have rows too (CTF).  The fields are those at the
 * top level. */
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/event_class.h>
#include <tracetta/meaning.h>

#include "store/store.h"

/* Returns a class, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_class(ttr_store *store, ttr_id provider, ttr_id name)
{
    struct store_kinds *kinds = &store->seen;
    const uint32_t *known = pair_map_get(&kinds->class_ids, provider, name);
    if (known)
        return *known;
    if (!alloc_reserve(store->alloc, (void **)&kinds->classes, &kinds->classes_capacity,
                       kinds->classes_n + 1, sizeof *kinds->classes) ||
        !pair_map_put(&kinds->class_ids, provider, name, (uint32_t)kinds->classes_n))
        return UINT32_MAX;
    kinds->classes[kinds->classes_n] = (struct raw_class){.provider = provider, .name = name};
    return (uint32_t)kinds->classes_n++;
}

/* Returns a field of a class, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t find_field(ttr_store *store, uint32_t class, ttr_text name)
{
    struct store_kinds *kinds = &store->seen;
    const ttr_id id = ttr_text_add(store->t, name.p, name.n);
    const uint32_t *known = pair_map_get(&kinds->field_ids, class, id);
    if (known)
        return *known;
    if (!alloc_reserve(store->alloc, (void **)&kinds->fields, &kinds->fields_capacity,
                       kinds->fields_n + 1, sizeof *kinds->fields) ||
        !pair_map_put(&kinds->field_ids, class, id, (uint32_t)kinds->fields_n))
        return UINT32_MAX;
    kinds->fields[kinds->fields_n] = (struct raw_field){.class = class, .name = id};
    return (uint32_t)kinds->fields_n++;
}

bool store_add_to_classes(ttr_store *store, const ttr_event *event)
{
    const ttr_field *field;
    ttr_event original;
    if (event->flags & TTR_EVENT_ADDED)
        return true;
    (void)ttr_event_original(store->t, event, &original);
    const uint32_t class = find_class(store, original.provider, original.name);
    if (class == UINT32_MAX)
        return false;
    const uint64_t number = ++store->seen.classes[class].events;
    if (!store->tables[STORE_FIELD].is_wanted)
        return true;
    for (uint32_t n = ttr_event_fields(store->fields, &original, &field); n > 0;
         n = ttr_event_fields_next(store->fields, &field))
        for (uint32_t i = 0; i < n; i++) {
            if (field[i].depth > 0)
                continue;
            const uint32_t known = find_field(store, class, field[i].name);
            if (known == UINT32_MAX)
                return false;
            struct raw_field *seen = &store->seen.fields[known];
            seen->events += seen->latest != number;
            seen->latest = number;
            seen->type = seen->type ? seen->type : field[i].value.type;
        }
    return true;
}

/* Adds the declared fields of a class. */
static bool add_declared_fields(ttr_store *store, uint32_t class, const ttr_event_class *about)
{
    ttr_field_declarations iter;
    ttr_field_declaration field;
    ttr_field_declarations_begin(about, &iter);
    while (ttr_field_declarations_next(&iter, &field)) {
        if (field.depth > 0 || field.is_technical || field.name.n == 0 ||
            field.group == TTR_GROUP_PACKET || field.group == TTR_GROUP_HEADER)
            continue;
        const uint32_t known = find_field(store, class, field.name);
        if (known == UINT32_MAX)
            return false;
        struct raw_field *seen = &store->seen.fields[known];
        seen->type = seen->type ? seen->type : field.type;
    }
    return true;
}

/* Collects the first class of each name. Returns false if memory is exhausted. */
static bool index_names(const struct store_kinds *kinds, struct pair_map *names)
{
    for (uint32_t i = 0; i < kinds->classes_n; i++)
        if (!pair_map_get(names, kinds->classes[i].name, 0) &&
            !pair_map_put(names, kinds->classes[i].name, 0, i))
            return false;
    return true;
}

/* Returns the class of a declared name: one that has events, or a new one; UINT32_MAX if memory is
 * exhausted. */
static uint32_t find_declared_class(ttr_store *store, struct pair_map *names, ttr_text name)
{
    const ttr_id id = ttr_text_add(store->t, name.p, name.n);
    const uint32_t *known = pair_map_get(names, id, 0);
    if (known)
        return *known;
    const uint32_t class = find_class(store, 0, id);
    return class != UINT32_MAX && pair_map_put(names, id, 0, class) ? class : UINT32_MAX;
}

static bool add_declared_classes(ttr_store *store, ttr_reader *in)
{
    struct pair_map names; /* names to classes */
    ttr_event_class about = {.size = sizeof about};
    pair_map_init(&names, store->alloc);
    bool is_fine = index_names(&store->seen, &names);
    for (size_t i = 0; is_fine && ttr_reader_class(in, 0, i, &about); i++) {
        const uint32_t class = find_declared_class(store, &names, about.name);
        is_fine = class != UINT32_MAX && (!store->tables[STORE_FIELD].is_wanted ||
                                          add_declared_fields(store, class, &about));
    }
    pair_map_free(&names);
    return is_fine;
}

static bool write_classes(ttr_store *store)
{
    const struct store_kinds *kinds = &store->seen;
    for (size_t i = 0; i < kinds->classes_n; i++) {
        const struct raw_class *class = &kinds->classes[i];
        const int64_t row[] = {(int64_t)i, store_text_or_null(class->name),
                               store_text_or_null(class->provider), store_clamp(class->events)};
        if (!store_append(store, STORE_CLASS, row))
            return false;
    }
    for (size_t i = 0; i < kinds->fields_n; i++) {
        const struct raw_field *field = &kinds->fields[i];
        const char *type = ttr_type_text(field->type);
        const int64_t row[] = {(int64_t)i, field->class, store_text_or_null(field->name),
                               (int64_t)ttr_text_add(store->t, type, strlen(type)),
                               store_clamp(field->events)};
        if (!store_append(store, STORE_FIELD, row))
            return false;
    }
    return true;
}

/* Removes classes and fields that have been added since there were `classes_n` and `fields_n`. */
static void remove_declared(struct store_kinds *kinds, size_t classes_n, size_t fields_n)
{
    while (kinds->classes_n > classes_n) {
        const struct raw_class *class = &kinds->classes[--kinds->classes_n];
        (void)pair_map_remove(&kinds->class_ids, class->provider, class->name);
    }
    while (kinds->fields_n > fields_n) {
        const struct raw_field *field = &kinds->fields[--kinds->fields_n];
        (void)pair_map_remove(&kinds->field_ids, field->class, field->name);
    }
}

bool store_end_classes(ttr_store *store, ttr_reader *in)
{
    const size_t classes_n = store->seen.classes_n, fields_n = store->seen.fields_n;
    const bool is_fine =
        !store->has_classes || (add_declared_classes(store, in) && write_classes(store));
    if (store->is_updating)
        remove_declared(&store->seen, classes_n, fields_n);
    return is_fine;
}

void store_classes_init(ttr_store *store)
{
    pair_map_init(&store->seen.class_ids, store->alloc);
    pair_map_init(&store->seen.field_ids, store->alloc);
}

void store_classes_free(ttr_store *store)
{
    struct store_kinds *kinds = &store->seen;
    alloc_free(store->alloc, kinds->classes, kinds->classes_capacity, sizeof *kinds->classes);
    alloc_free(store->alloc, kinds->fields, kinds->fields_capacity, sizeof *kinds->fields);
    pair_map_free(&kinds->class_ids);
    pair_map_free(&kinds->field_ids);
}
