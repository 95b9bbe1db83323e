/* Decoder of .NET events in tracepoints: collects event types from transmitted metadata, per
 * process and event number, and decodes the fields of events. */
#include "encodings/dotnet/clr_user_events.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/pair_map.h"
#include "base/utf.h"
#include "encodings/dotnet/clr_events.h"
#include "encodings/dotnet/clr_metadata.h"
#include "model/activity.h"
#include "layout/layout.h"

#define LABEL_METADATA 1u
#define LABEL_ACTIVITY 2u
#define LABEL_RELATED 3u
#define EXTRA_HEAD 5u

/* Type of the events that have the same number in a process, or in several processes with equal
 * metadata. */
struct clr_user_type {
    struct clr_user_tracepoint *kind;
    /* layout compiled from the fields; NULL if the fields are unknown */
    const struct layout *layout;
    ttr_id schema, name;
    uint64_t keyword;
    uint8_t level, opcode;
};

struct clr_user_tracepoint {
    struct clr_user_decoder *all;
    struct clr_user_offsets places;
    struct clr_user_type unknown;
    const void *owner;
    /* provider of the .NET runtime with its name in the tracepoint's name; NULL if it is not one
     * of the runtime */
    const char *known;
    ttr_id provider;
    uint32_t index;
};

struct clr_user_decoder {
    struct event_header_decoder_spec spec;
    struct arena arena, scratch;
    /* maps (process, hash of tracepoint and event number) to an index in `type` */
    struct pair_map by_process;
    /* maps (hash of metadata, index of the tracepoint) to an index in `type` */
    struct pair_map by_bytes;
    struct clr_user_tracepoint **kind;
    size_t kinds_n, kinds_capacity;
    struct clr_user_type **type;
    size_t types_n, types_capacity;
    /* number of metadata blocks parsed so far; limited, because damaged blocks need memory, too */
    uint32_t tries;
};

struct clr_field_iter {
    struct layout_iter payload;
    const uint8_t *end; /* end of the event's payload */
    const uint8_t *begin;
    uint32_t extra;
    uint8_t stage;
};
enum stage { STAGE_EXTRA, STAGE_PAYLOAD, STAGE_OVER };
_Static_assert(sizeof(struct clr_field_iter) <= sizeof(((ttr_fields *)0)->state), "walk fits");

/* --- Parts of a record --- */

struct clr_record_parts {
    struct cursor extension, payload;
    uint32_t id;
};

static struct cursor get_rel_loc_bytes(struct event_header_raw raw, uint32_t at, bool is_big_endian)
{
    struct cursor c = cursor_init(raw.p, raw.n, 0);
    (void)cursor_skip(&c, at);
    uint32_t word = is_big_endian ? cursor_u32be(&c) : cursor_u32le(&c);
    (void)cursor_skip(&c, word & 0xffff);
    return c.failed ? c : cursor_slice(&c, word >> 16);
}

static bool parse_record(const struct clr_user_tracepoint *kind, struct event_header_raw raw,
                         struct clr_record_parts *parts)
{
    bool is_big_endian = kind->places.is_big_endian;
    struct cursor c = cursor_init(raw.p, raw.n, 0);
    (void)cursor_skip(&c, kind->places.id);
    parts->id = is_big_endian ? cursor_u16be(&c) : cursor_u16le(&c);
    parts->extension = get_rel_loc_bytes(raw, kind->places.extension, is_big_endian);
    parts->payload = get_rel_loc_bytes(raw, kind->places.payload, is_big_endian);
    return !c.failed && !parts->extension.failed && !parts->payload.failed;
}

/* --- Iteration over fields --- */

static void begin_clr_fields(ttr_fields *fields)
{
    struct clr_field_iter *iter = (struct clr_field_iter *)fields->state;
    const struct clr_user_type *type = fields->ctx;
    const struct event_header_decoder_spec *spec = &type->kind->all->spec;
    struct event_header_raw raw = spec->raw(spec->ctx, fields->event);
    struct clr_record_parts parts;
    if (!parse_record(type->kind, raw, &parts))
        parts.payload = cursor_init(raw.p, raw.n, 0);
    struct bits bits = bits_init(parts.payload.p, 0, (uint64_t)cursor_left(&parts.payload) * 8);
    iter->begin = parts.payload.p;
    iter->end = parts.payload.end;
    iter->extra = 0;
    iter->stage = spec->extra ? STAGE_EXTRA : STAGE_PAYLOAD;
    iter->payload.run.bits = bits;
    if (type->layout)
        layout_iter_begin(&iter->payload, type->layout, &bits, &type->kind->all->scratch);
}

/* Joins the elements that are left of an array of UTF-16 characters into one text value. */
static void join_characters_to_text(struct clr_field_iter *iter, struct arena *scratch,
                                    ttr_field *field)
{
    ttr_field character;
    const struct type *shape;
    uint64_t left = (iter->payload.run.bits.end - iter->payload.run.bits.at) / 16;
    uint32_t n = field->value.count, room = n < left ? n : (uint32_t)left, got = 0;
    uint8_t *units = arena_alloc(scratch, 2 * (size_t)room + 1);
    for (; got < room && layout_iter_next(&iter->payload, &character, &shape); got++)
        if (units)
            store_u16le(units + 2 * (size_t)got, (uint16_t)character.value.v.u);
    char *to = units ? arena_alloc(scratch, 3 * (size_t)got + 1) : NULL;
    field->value = (ttr_value){.type = TTR_TYPE_TEXT,
                               .text = {to ? to : "", to ? utf8_from_utf16le(to, units, got) : 0}};
}

/* Converts GUIDs, decimals and dates to text. If memory runs out, they keep their binary form. */
static void format_value(struct clr_field_iter *iter, struct arena *scratch, unsigned role,
                         ttr_field *field)
{
    if (role == NETTRACE_ROLE_TEXT16)
        join_characters_to_text(iter, scratch, field);
    if (role >= NETTRACE_ROLE_TEXT16)
        return;
    char *to = arena_alloc(scratch, NUMBER_MAX);
    size_t n = to ? clr_format_value(to, role, &field->value) : 0;
    if (n)
        field->value = (ttr_value){.type = TTR_TYPE_TEXT,
                                   .text = {to, n},
                                   .hint = role == NETTRACE_ROLE_DECIMAL ? TTR_DISPLAY_DECIMAL
                                                                         : TTR_DISPLAY_NONE};
}

static bool return_undecoded_bytes(struct clr_field_iter *iter, ttr_field *field)
{
    const uint8_t *from = iter->begin + (iter->payload.run.bits.at >> 3);
    iter->stage = STAGE_OVER;
    if (from >= iter->end)
        return false;
    field_clear(field);
    field->name = (ttr_text){"undecoded", 9};
    field->value.type = TTR_TYPE_BYTES;
    field->value.hint = TTR_DISPLAY_RAW;
    field->value.text = (ttr_text){(const char *)from, (size_t)(iter->end - from)};
    return true;
}

static bool next_clr_field(ttr_fields *fields, ttr_field *field)
{
    struct clr_field_iter *iter = (struct clr_field_iter *)fields->state;
    const struct clr_user_type *type = fields->ctx;
    const struct event_header_decoder_spec *spec = &type->kind->all->spec;
    const struct type *shape;
    if (iter->stage == STAGE_EXTRA) {
        field_clear(field);
        if (spec->extra(spec->ctx, fields->event, iter->extra++, field))
            return true;
        iter->stage = STAGE_PAYLOAD;
    }
    if (iter->stage == STAGE_OVER)
        return false;
    if (!type->layout || !layout_iter_next(&iter->payload, field, &shape))
        return return_undecoded_bytes(iter, field);
    if (shape && shape->role)
        format_value(iter, &type->kind->all->scratch, shape->role, field);
    return true;
}

static bool find_field_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                             ttr_text *text)
{
    return layout_field_ops.label(fields, value, i, text);
}

static uint32_t copy_clr_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                                uint32_t room)
{
    const struct event_header_decoder_spec *spec =
        &((const struct clr_user_type *)ctx)->kind->all->spec;
    return spec->frames ? spec->frames(spec->ctx, event, addresses, room) : 0;
}

static const struct field_ops clr_user_ops = {.begin = begin_clr_fields,
                                              .next = next_clr_field,
                                              .label = find_field_label,
                                              .frames = copy_clr_frames};

const void *clr_user_schema_owner(const struct schema *schema)
{
    const struct clr_user_type *type = schema->ctx;
    return schema->ops == &clr_user_ops && type ? type->kind->owner : NULL;
}

/* --- Tracepoints --- */

struct clr_user_decoder *clr_user_decoder_new(const struct event_header_decoder_spec *spec)
{
    const struct alloc *alloc = &spec->t->counted;
    struct clr_user_decoder *all = alloc_zero(alloc, 1, sizeof *all);
    if (!all)
        return NULL;
    all->spec = *spec;
    arena_init(&all->arena, alloc);
    arena_init(&all->scratch, alloc);
    pair_map_init(&all->by_process, alloc);
    pair_map_init(&all->by_bytes, alloc);
    return all;
}

void clr_user_decoder_free(struct clr_user_decoder *all)
{
    if (!all)
        return;
    const struct alloc *alloc = &all->spec.t->counted;
    for (size_t i = 0; i < all->types_n; i++)
        context_drop_schema(all->spec.t, all->type[i]->schema);
    for (size_t i = 0; i < all->kinds_n; i++)
        context_drop_schema(all->spec.t, all->kind[i]->unknown.schema);
    alloc_free(alloc, all->kind, all->kinds_capacity, sizeof *all->kind);
    alloc_free(alloc, all->type, all->types_capacity, sizeof *all->type);
    pair_map_free(&all->by_process);
    pair_map_free(&all->by_bytes);
    arena_free(&all->arena);
    arena_free(&all->scratch);
    alloc_free(alloc, all, 1, sizeof *all);
}

void clr_user_begin_batch(struct clr_user_decoder *all)
{
    arena_reset(&all->scratch);
}

/* Returns true if the tracepoint's name contains the provider's name, with '_' in place of '-' and
 * '.'. The name of another provider that only starts with this name does not count. */
static bool contains_provider(ttr_text name, const char *provider)
{
    size_t n = strlen(provider);
    for (size_t at = 0; name.n >= n && at <= name.n - n; at++) {
        size_t same = 0;
        while (same < n &&
               name.p[at + same] ==
                   (provider[same] == '-' || provider[same] == '.' ? '_' : provider[same]))
            same++;
        if (same == n && (at + n == name.n || name.p[at + n] == '_' || name.p[at + n] == '.'))
            return true;
    }
    return false;
}

static bool intern_clr_text(const struct clr_user_decoder *all, ttr_text text, ttr_id *id)
{
    *id = intern_add(&all->spec.t->strings, text.p, text.n);
    return *id != UINT32_MAX;
}

static bool add_type_schema(const struct clr_user_decoder *all, struct clr_user_type *type)
{
    type->schema = context_add_schema(
        all->spec.t,
        &(struct schema){.ops = &clr_user_ops, .ctx = type, .format = all->spec.format});
    return type->schema != 0;
}

struct clr_user_tracepoint *clr_user_add_tracepoint(struct clr_user_decoder *all, ttr_text name,
                                                    const struct clr_user_offsets *places,
                                                    const void *owner)
{
    struct clr_user_tracepoint *kind = arena_alloc(&all->arena, sizeof *kind);
    if (!kind || !alloc_reserve(&all->spec.t->counted, (void **)&all->kind, &all->kinds_capacity,
                                all->kinds_n + 1, sizeof *all->kind))
        return NULL;
    *kind = (struct clr_user_tracepoint){.all = all,
                                         .places = *places,
                                         .owner = owner,
                                         .index = (uint32_t)all->kinds_n,
                                         .unknown = {.kind = kind}};
    for (size_t i = 0; i < clr_providers_n; i++)
        if (contains_provider(name, clr_providers[i].name))
            kind->known = clr_providers[i].name;
    ttr_text provider = kind->known ? (ttr_text){kind->known, strlen(kind->known)} : name;
    if (!intern_clr_text(all, provider, &kind->provider) ||
        !intern_clr_text(all, name, &kind->unknown.name) || !add_type_schema(all, &kind->unknown))
        return NULL;
    all->kind[all->kinds_n++] = kind;
    return kind;
}

/* --- Types of events, from metadata --- */

struct clr_metadata_block {
    ttr_text name;
    uint64_t keyword;
    uint32_t level;
    uint8_t opcode;
    struct type *root;
};

/* Parses the field declarations at the cursor. If they are damaged, does not change block->root.
 * Returns false if memory runs out. */
static bool parse_block_fields(struct clr_user_decoder *all, struct cursor *c, bool is_second,
                               struct clr_metadata_block *block)
{
    struct clr_field_parser fields = {.arena = &all->arena, .c = *c, .is_second = is_second};
    struct type *root = clr_parse_fields(&fields);
    block->root = root ? root : block->root;
    *c = fields.c;
    c->failed |= !root;
    return !fields.is_out_of_memory;
}

/* Parses a metadata block. Returns false if memory is exhausted. Sets c->failed if the block ends
 * within the event name. */
static bool parse_metadata_block(struct clr_user_decoder *all, struct cursor *c,
                                 struct clr_metadata_block *block)
{
    (void)cursor_u32le(c);
    block->name.p = clr_read_z16(c, &all->arena, &block->name.n);
    if (!block->name.p)
        return c->failed;
    block->keyword = cursor_u64le(c);
    (void)cursor_u32le(c);
    block->level = cursor_u32le(c);
    struct cursor rest = *c;
    if (rest.failed || cursor_left(&rest) < 4)
        return true;
    bool is_fine = parse_block_fields(all, &rest, false, block);
    while (is_fine && !rest.failed && cursor_left(&rest) >= EXTRA_HEAD) {
        uint32_t size = cursor_u32le(&rest);
        uint8_t kind = cursor_u8(&rest);
        struct cursor extra = cursor_slice(&rest, size);
        if (kind == 1 && cursor_left(&extra))
            block->opcode = cursor_u8(&extra);
        if (kind == 2 && !extra.failed)
            is_fine = parse_block_fields(all, &extra, true, block);
    }
    return is_fine;
}

static uint8_t level_from_clr(uint32_t level)
{
    static const uint8_t levels[] = {TTR_LEVEL_NONE,    TTR_LEVEL_FATAL, TTR_LEVEL_ERROR,
                                     TTR_LEVEL_WARNING, TTR_LEVEL_INFO,  TTR_LEVEL_DEBUG};
    return level < sizeof levels ? levels[level] : TTR_LEVEL_TRACE;
}

/* Creates an event type from metadata. Returns NULL if memory is exhausted. If the fields cannot be
 * decoded, events of this type have raw bytes instead. */
static struct clr_user_type *create_event_type(struct clr_user_tracepoint *kind,
                                               const struct clr_metadata_block *block)
{
    struct clr_user_decoder *all = kind->all;
    struct clr_user_type *type = arena_alloc(&all->arena, sizeof *type);
    ttr_error error = {.status = TTR_OK};
    if (!type || !alloc_reserve(&all->spec.t->counted, (void **)&all->type, &all->types_capacity,
                                all->types_n + 1, sizeof *all->type))
        return NULL;
    *type = (struct clr_user_type){.kind = kind,
                                   .keyword = block->keyword,
                                   .level = level_from_clr(block->level),
                                   .opcode = block->opcode};
    struct layout_spec spec = {.t = all->spec.t,
                               .arena = &all->arena,
                               .root = {[ROOT_PAYLOAD] = block->root},
                               .shows_hidden = true};
    if (block->root)
        type->layout = layout_compile(&spec, &error);
    if (error.status == TTR_E_NOMEM || !intern_clr_text(all, block->name, &type->name) ||
        !add_type_schema(all, type))
        return NULL;
    all->type[all->types_n++] = type;
    return type;
}

/* Creates the type of an event without metadata: from clr_events.h if the runtime has such an
 * event, else without fields. Returns NULL if memory is exhausted. */
static struct clr_user_type *create_builtin_type(struct clr_user_tracepoint *kind, uint32_t id)
{
    char name[EVENT_HEADER_NAME_MAX + NUMBER_MAX];
    ttr_text provider = ttr_text_get(kind->all->spec.t, kind->provider);
    const struct clr_event *known = kind->known ? clr_find_event(provider, id, UINT32_MAX) : NULL;
    const struct clr_type_options making = {.arena = &kind->all->arena,
                                            .pointer_bytes = kind->places.long_bytes,
                                            .guid_role = NETTRACE_ROLE_GUID};
    struct clr_metadata_block block = {.root = known ? clr_make_event_type(&making, known) : NULL};
    int n = snprintf(name, sizeof name, "%.*s/%u",
                     (int)(provider.n < EVENT_HEADER_NAME_MAX ? provider.n : EVENT_HEADER_NAME_MAX),
                     provider.p, id);
    block.name = known ? (ttr_text){known->name, strlen(known->name)}
                       : (ttr_text){name, n > 0 ? (size_t)n : 0};
    return known && !block.root ? NULL : create_event_type(kind, &block);
}

static uint64_t hash_type_key(const struct clr_user_tracepoint *kind, uint32_t id)
{
    return (uint64_t)kind->index << 16 | id;
}

/* Stores the metadata of an event number in a process. Equal metadata share a type. Returns false
 * if memory is exhausted. */
static bool add_metadata(struct clr_user_tracepoint *kind, uint64_t process, uint32_t id,
                         struct cursor metadata, const char **why)
{
    struct clr_user_decoder *all = kind->all;
    uint64_t hash = hash_bytes(metadata.p, cursor_left(&metadata));
    const uint32_t *known = pair_map_get(&all->by_bytes, hash, kind->index);
    uint32_t index = known ? *known : (uint32_t)all->types_n;
    struct clr_metadata_block block = {.name = {"", 0}};
    if (!known && (all->types_n == CLR_USER_TYPES_MAX || all->tries++ >= CLR_USER_TYPES_MAX))
        return true;
    if (!known && !parse_metadata_block(all, &metadata, &block))
        return false;
    if (!known && metadata.failed) {
        *why = "metadata are truncated";
        return true;
    }
    if (!known && (!create_event_type(kind, &block) ||
                   !pair_map_put(&all->by_bytes, hash, kind->index, index)))
        return false;
    return pair_map_put(&all->by_process, process, hash_type_key(kind, id), index) &&
           pair_map_put(&all->by_process, UINT64_MAX, hash_type_key(kind, id), index);
}

static bool parse_extension_parts(struct clr_user_tracepoint *kind, uint64_t process,
                                  const struct clr_record_parts *parts, ttr_event *event,
                                  const char **why)
{
    struct cursor c = parts->extension;
    while (cursor_left(&c) && !*why) {
        uint8_t what = cursor_u8(&c);
        uint32_t n = what != LABEL_METADATA       ? 16
                     : kind->places.is_big_endian ? cursor_u32be(&c)
                                                  : cursor_u32le(&c);
        struct cursor part = cursor_slice(&c, n);
        if (what == 0 || what > LABEL_RELATED || part.failed)
            *why = "extension is unknown or truncated";
        else if (what == LABEL_ACTIVITY)
            event->activity = part.p;
        else if (what == LABEL_RELATED)
            event->related = part.p;
        else if (n && !add_metadata(kind, process, parts->id, part, why))
            return false;
    }
    return true;
}

/* Returns the type of an event, created at its first use. Returns NULL if memory is exhausted. */
static const struct clr_user_type *find_or_create_type(struct clr_user_tracepoint *kind,
                                                       uint64_t process, uint32_t id)
{
    struct clr_user_decoder *all = kind->all;
    const uint32_t *index = pair_map_get(&all->by_process, process, hash_type_key(kind, id));
    if (!index)
        index = pair_map_get(&all->by_process, UINT64_MAX, hash_type_key(kind, id));
    if (index)
        return all->type[*index];
    if (all->types_n == CLR_USER_TYPES_MAX)
        return &kind->unknown;
    if (!create_builtin_type(kind, id) ||
        !pair_map_put(&all->by_process, UINT64_MAX, hash_type_key(kind, id),
                      (uint32_t)all->types_n - 1))
        return NULL;
    return all->type[all->types_n - 1];
}

bool clr_user_decode(struct clr_user_tracepoint *kind, struct event_header_raw raw,
                     ttr_event *event, const char **why)
{
    struct clr_record_parts parts;
    ttr_thread thread = {.pid = 0};
    const struct clr_user_type *type = &kind->unknown;
    (void)ttr_thread_get(kind->all->spec.t, event->thread, &thread);
    *why = parse_record(kind, raw, &parts) ? NULL : "the event is shorter than its places say";
    if (!*why) {
        if (!parse_extension_parts(kind, thread.pid, &parts, event, why))
            return false;
        type = find_or_create_type(kind, thread.pid, parts.id);
    }
    if (!type)
        return false;
    event->kind = TTR_KIND_INSTANT;
    event->provider = kind->provider;
    event->name = type->name;
    event->schema = type->schema;
    event->level = type->level;
    event->keyword = type->keyword;
    event->opcode = type->opcode;
    if (*why)
        event->flags |= TTR_EVENT_PARTIAL;
    if (!event->activity || (event->opcode != ACTIVITY_START && event->opcode != ACTIVITY_STOP))
        return true;
    ttr_id task = activity_task_of_name(kind->all->spec.t, event->name);
    activity_make_span(kind->all->spec.t, event, task);
    return task || !event->name;
}
