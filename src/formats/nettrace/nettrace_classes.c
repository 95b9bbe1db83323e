/* Event classes of the writer: events with equal provider, name, signature, level, opcode and
 * keywords share one metadata record.
 *
 * Event ids are numbered from 1 for each provider. Events copied from a nettrace trace keep their
 * ids. Events of the same provider from other formats are then numbered from FIRST_SPARE. */
#include <string.h>

#include "base/hash.h"
#include "formats/nettrace/nettrace_writer.h"

#define CLASSES_MAX 100000u
#define FIRST_SPARE 30000u
#define NO_CLASS UINT32_MAX

/* Flags in the upper bits of a class number, for losses that every event of the class causes. */
#define CLASS_IS_BARE (UINT32_C(1) << 31)   /* the metadata are written without fields */
#define CLASS_IS_BROKEN (UINT32_C(1) << 30) /* some names are not valid UTF-8 */
#define CLASS_HAS_ZEROS (UINT32_C(1) << 29) /* some names contain NUL characters */
#define CLASS_NUMBER (CLASS_HAS_ZEROS - 1)

static const char sampler[] = "Microsoft-DotNETCore-SampleProfiler";

/* Converts a level of ttr_event to a level of .NET. */
static uint8_t convert_level_to_clr(uint8_t level)
{
    static const uint8_t levels[] = {
        [TTR_LEVEL_NONE] = 0,    [TTR_LEVEL_TRACE] = 6, [TTR_LEVEL_DEBUG] = 5, [TTR_LEVEL_INFO] = 4,
        [TTR_LEVEL_WARNING] = 3, [TTR_LEVEL_ERROR] = 2, [TTR_LEVEL_FATAL] = 1};
    return level < sizeof levels ? levels[level] : 0;
}

uint8_t nettrace_get_output_opcode(const struct nettrace_writer *w, const ttr_event *event)
{
    if (w->version == 4)
        return 0;
    if (event->kind == TTR_KIND_BEGIN || event->kind == TTR_KIND_ASYNC_BEGIN)
        return 1;
    return event->kind == TTR_KIND_END || event->kind == TTR_KIND_ASYNC_END ? 2 : event->opcode;
}

/* Appends a metadata record to those that are written before the next block of events. */
static void append_metadata_row(struct nettrace_writer *w, uint32_t number, const uint8_t *row,
                                size_t n)
{
    struct buffer *to = &w->blocks.metadata;
    if (nettrace_is_v6(w)) {
        size_t at = to->n;
        nettrace_append_u16(to, 0);
        nettrace_append_varint(to, number);
        buffer_add(to, row, n);
        if (!to->failed)
            store_u16le(to->bytes + at, (uint16_t)(to->n - at - 2));
        return;
    }
    nettrace_append_u32(
        to, (uint32_t)n + 4); /* size of the row; needed in the buffer, not written to the file */
    nettrace_append_u32(to, number);
    buffer_add(to, row, n);
}

/* Returns the metadata number of a class; adds the class if it is new. Returns 0 if memory runs
 * out. Sets `is_bare` if the record was too large, so it was written without fields. */
static uint32_t find_or_add_class(struct ttr_writer *out, const struct nettrace_class_info *info,
                                  bool *is_bare)
{
    static const uint8_t no_fields[4];
    struct nettrace_writer *w = out->ctx;
    struct nettrace_class_info bare = *info;
    bare.signature = cursor_init(no_fields, sizeof no_fields, 0);
    buffer_clear(&w->scratch);
    *is_bare =
        w->classes_n >= CLASSES_MAX || !nettrace_append_metadata(&w->scratch, w->version, info);
    if (*is_bare) {
        buffer_clear(&w->scratch);
        (void)nettrace_append_metadata(&w->scratch, w->version, &bare);
    }
    if (w->scratch.failed)
        return 0;
    uint64_t hash = hash_bytes(w->scratch.bytes, w->scratch.n);
    const uint32_t *known = key_map_get(&w->rows, hash);
    if (known)
        return *known;
    uint32_t number = ++w->classes_n;
    append_metadata_row(w, number, w->scratch.bytes, w->scratch.n);
    return key_map_put(&w->rows, hash, number) ? number : 0;
}

uint32_t nettrace_add_row_class(struct nettrace_writer *w, const struct buffer *row)
{
    const uint32_t number = ++w->classes_n;
    append_metadata_row(w, number, row->bytes, row->n);
    return row->failed ? 0 : number;
}

/* --- Classes of events that are encoded by fields --- */

/* Returns the next free event id of a provider. is_spare: ids from FIRST_SPARE on, because a
 * source trace uses lower ones. */
static uint32_t choose_event_id(struct ttr_writer *out, ttr_id provider, bool is_spare)
{
    struct nettrace_writer *w = out->ctx;
    const uint32_t *last = pair_map_get(&w->ids, provider, 0);
    uint32_t id = last ? *last + 1 : is_spare ? FIRST_SPARE : 1;
    w->is_out_of_memory |= !pair_map_put(&w->ids, provider, 0, id);
    return id;
}

static bool has_nettrace_source(const struct ttr_writer *out, const ttr_event *event)
{
    ttr_source source;
    return ttr_source_get(out->t, event->source, &source) && source.format &&
           strcmp(source.format, "nettrace") == 0;
}

/* Appends the properties of an event to w->signature that distinguish classes with equal fields. */
static void append_class_key(struct ttr_writer *out, const ttr_event *event)
{
    enum { KEY = 24 };
    struct nettrace_writer *w = out->ctx;
    uint8_t *at = buffer_room(&w->signature, KEY);
    if (!at)
        return;
    store_u32le(at, event->provider);
    store_u32le(at + 4, event->name);
    store_u64le(at + 8, event->keyword);
    store_u32le(at + 16, (uint32_t)convert_level_to_clr(event->level) |
                             (uint32_t)nettrace_get_output_opcode(w, event) << 8 |
                             (uint32_t)event->kind << 16);
    store_u32le(at + 20, has_nettrace_source(out, event));
    buffer_commit(&w->signature, KEY);
}

static void fill_class_info(struct ttr_writer *out, const ttr_event *event, size_t signature_n,
                            struct nettrace_class_info *info)
{
    struct nettrace_writer *w = out->ctx;
    const char *kind = ttr_kind_text(event->kind);
    *info = (struct nettrace_class_info){.keyword = event->keyword,
                                         .level = convert_level_to_clr(event->level),
                                         .opcode = nettrace_get_output_opcode(w, event)};
    info->provider =
        event->provider ? ttr_text_get(out->t, event->provider) : (ttr_text){"tracetta", 8};
    info->name = event->name ? ttr_text_get(out->t, event->name) : (ttr_text){kind, strlen(kind)};
    info->id = choose_event_id(out, event->provider, has_nettrace_source(out, event));
    info->signature = cursor_init(w->signature.bytes, signature_n, 0);
}

/* Adds the class of an event with the hash of its class key. Returns the class number; 0 if memory
 * is out. */
static uint32_t add_class_of_signature(struct ttr_writer *out, const ttr_event *event,
                                       size_t signature_n, uint64_t hash)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_class_info info;
    bool is_bare;
    fill_class_info(out, event, signature_n, &info);
    uint32_t number = find_or_add_class(out, &info, &is_bare);
    struct nettrace_text_flaws flaws = nettrace_is_v6(w)
                                           ? (struct nettrace_text_flaws){false, false}
                                           : nettrace_find_class_text_flaws(&info);
    uint32_t with = number | (is_bare ? CLASS_IS_BARE : 0) |
                    (flaws.is_broken ? CLASS_IS_BROKEN : 0) |
                    (flaws.has_zeros ? CLASS_HAS_ZEROS : 0);
    return number && key_map_put(&w->classes, hash, with) ? with : 0;
}

uint32_t nettrace_get_signature_class(struct ttr_writer *out, const ttr_event *event)
{
    struct nettrace_writer *w = out->ctx;
    size_t signature_n = w->signature.n;
    append_class_key(out, event);
    if (w->signature.failed)
        return 0;
    uint64_t hash = hash_bytes(w->signature.bytes, w->signature.n);
    const uint32_t *known = key_map_get(&w->classes, hash);
    uint32_t number = known ? *known : add_class_of_signature(out, event, signature_n, hash);
    if (number & CLASS_IS_BROKEN)
        output_count_loss(out, NETTRACE_LOST_TEXT, event->offset);
    if (number & CLASS_HAS_ZEROS)
        output_count_loss(out, NETTRACE_LOST_NUL, event->offset);
    if (number & CLASS_IS_BARE) {
        output_count_loss(out, NETTRACE_LOST_LARGE, event->offset);
        buffer_clear(&w->payload);
    }
    return number & CLASS_NUMBER;
}

/* --- Class of CPU samples of the runtime --- */

uint32_t nettrace_get_sample_class(struct ttr_writer *out, const ttr_event *event)
{
    enum { MANAGED = 2 };
    static const uint8_t no_fields[4];
    ttr_text provider = ttr_text_get(out->t, event->provider);
    bool is_sampler =
        provider.n == sizeof sampler - 1 && memcmp(provider.p, sampler, provider.n) == 0;
    struct nettrace_writer *w = out->ctx;
    struct nettrace_class_info info = {.provider = {sampler, sizeof sampler - 1},
                                       .name = {"", 0},
                                       .keyword = event->keyword,
                                       .level = convert_level_to_clr(event->level),
                                       .opcode = nettrace_get_output_opcode(w, event),
                                       .signature = cursor_init(no_fields, sizeof no_fields, 0)};
    uint32_t type = MANAGED;
    ttr_fields fields;
    ttr_field field;
    if (!is_sampler && (event->provider || event->name || event->category || event->link))
        return 0;
    ttr_fields_begin(out->t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_type = is_sampler && field.name.n == 4 && memcmp(field.name.p, "Type", 4) == 0 &&
                       field.value.type == TTR_TYPE_UINT;
        bool is_frames =
            field.depth > 0 || (field.name.n == 6 && memcmp(field.name.p, "frames", 6) == 0);
        if (!is_type && !is_frames)
            return 0;
        type = is_type ? (uint32_t)field.value.v.u : type;
    }
    if (!is_sampler)
        output_count_loss(out, NETTRACE_LOST_SAMPLE, event->offset);
    bool is_bare;
    buffer_clear(&w->payload);
    nettrace_append_u32(&w->payload, type);
    return find_or_add_class(out, &info, &is_bare);
}

/* --- Classes of events with a copied payload --- */

static uint32_t add_translated_class(struct ttr_writer *out, const ttr_event *event,
                                     const struct nettrace_type *type, unsigned layout_index)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_class_info info;
    bool is_bare;
    struct buffer texts;
    buffer_init(&texts, &out->t->counted);
    buffer_clear(&w->signature);
    uint32_t number = NO_CLASS;
    bool is_understood =
        nettrace_translate_metadata(type, &info, &w->signature, &texts, layout_index);
    w->is_out_of_memory |= texts.failed || w->signature.failed;
    /* no opcode is written if readers derive the same one from the name */
    info.opcode = event->opcode == type->opcode ? info.opcode : event->opcode;
    info.version = type->version; /* a label may have overridden the stored version */
    if (is_understood && nettrace_signature_fits(&info.signature, w->version) &&
        (info.opcode == 0 || w->version > 4)) {
        info.keyword = event->keyword;
        info.level = event->level == type->level ? info.level : convert_level_to_clr(event->level);
        number = find_or_add_class(out, &info, &is_bare);
        number = is_bare ? NO_CLASS : number;
    }
    buffer_free(&texts);
    return number;
}

/* Returns the index of the payload layout of an event; 0 if the fields are as the metadata
 * declare. */
static unsigned get_layout_index(const struct nettrace_type *type, const ttr_event *event)
{
    const struct nettrace_layouts *layouts = type->layouts;
    const struct layout *layout =
        layouts->could_lie ? nettrace_get_event_layout(type, event) : NULL;
    unsigned layout_index = NETTRACE_LAYOUTS_MAX - 1;
    while (layout_index > 0 && (!layout || layouts->layout[layout_index] != layout))
        layout_index--;
    return layout_index;
}

static bool reserve_source_classes(struct ttr_writer *out, ttr_id schema)
{
    struct nettrace_writer *w = out->ctx;
    size_t n = w->source_classes_n ? w->source_classes_n : 64;
    if (schema < w->source_classes_n)
        return true;
    while (n <= schema)
        n *= 2;
    struct nettrace_source_class *known =
        alloc_resize(&out->t->counted, w->source_classes, w->source_classes_n, n, sizeof *known);
    if (!known)
        return false;
    memset(known + w->source_classes_n, 0, (n - w->source_classes_n) * sizeof *known);
    w->source_classes = known;
    w->source_classes_n = n;
    return true;
}

/* Returns true if an event has labels that are fields; before V6, they can be stored only in the
 * payload. */
static bool has_label_fields(const struct nettrace_type *type, const ttr_event *event)
{
    const uint8_t *p;
    uint32_t n;
    ttr_field field;
    return event->part && nettrace_find_label_list(type->reader, event->part, &p, &n) &&
           nettrace_next_label_field(&p, &n, &field);
}

uint32_t nettrace_get_source_class(struct ttr_writer *out, const ttr_event *event)
{
    struct nettrace_writer *w = out->ctx;
    const struct schema *schema = context_schema(out->t, event->schema);
    if (schema->format != out->format || schema->ops != &nettrace_field_ops)
        return 0;
    const struct nettrace_type *type = schema->ctx;
    if (type->reader->pointer_bytes != w->trace_info.pointer_bytes ||
        (!nettrace_is_v6(w) && has_label_fields(type, event)))
        return 0;
    if (!reserve_source_classes(out, event->schema)) {
        w->is_out_of_memory = true;
        return 0;
    }
    struct nettrace_source_class *known = &w->source_classes[event->schema];
    unsigned layout_index = nettrace_is_v6(w) ? get_layout_index(type, event) : 0;
    bool is_same = known->class && known->layout_index == layout_index &&
                   known->keyword == event->keyword && known->level == event->level &&
                   known->opcode == event->opcode;
    if (!is_same)
        *known = (struct nettrace_source_class){
            .class = add_translated_class(out, event, type, layout_index),
            .keyword = event->keyword,
            .level = event->level,
            .opcode = event->opcode,
            .layout_index = (uint8_t)layout_index};
    return known->class == NO_CLASS ? 0 : known->class;
}
