/* Samples of other formats in V6: events of "Universal.Events", which one-collect and TraceEvent
 * define, with the code at their addresses as events of "Universal.System".
 *
 *   ExistingProcess   once per process
 *   ProcessMapping    a mapped file, before the first sample with an address in it
 *   ProcessSymbol     a function, before the first sample with an address in it
 *   cpu               the sample: its value is the field "period", else 1; its stack
 *
 * nettrace_universal.c describes the payloads. A function that only the symbolizer of the context
 * knows has no known range; its symbol covers the one address. Callers are looked up one byte
 * before the return address. Memory: 32 bytes per address. Left out: samples if the context has no
 * symbols, which stay events with fields. */
#include <string.h>

#include "base/hash.h"
#include "formats/nettrace/nettrace_writer.h"

/* makes keys of processes different from addresses */
#define PROCESS_TAG UINT64_C(0x70726f63657373)

enum { UNIVERSAL_VARINT = 21, UNIVERSAL_TEXT = 23, UNIVERSAL_FIELDS_MAX = 6 };

/* The event classes of the two Universal providers. */
static const struct universal_class {
    const char *provider, *name;
    uint8_t id, fields_n;
    struct {
        const char *name;
        uint8_t type;
    } field[UNIVERSAL_FIELDS_MAX];
} universal_classes[NETTRACE_UNIVERSAL_CLASSES] = {
    [NETTRACE_UNIVERSAL_PROCESS] = {"Universal.System",
                                    "ExistingProcess",
                                    0,
                                    3,
                                    {{"NamespaceId", UNIVERSAL_VARINT},
                                     {"Name", UNIVERSAL_TEXT},
                                     {"NamespaceName", UNIVERSAL_TEXT}}},
    [NETTRACE_UNIVERSAL_MAPPING] = {"Universal.System",
                                    "ProcessMapping",
                                    3,
                                    6,
                                    {{"Id", UNIVERSAL_VARINT},
                                     {"StartAddress", UNIVERSAL_VARINT},
                                     {"EndAddress", UNIVERSAL_VARINT},
                                     {"FileOffset", UNIVERSAL_VARINT},
                                     {"FileName", UNIVERSAL_TEXT},
                                     {"MetadataId", UNIVERSAL_VARINT}}},
    [NETTRACE_UNIVERSAL_SYMBOL] = {"Universal.System",
                                   "ProcessSymbol",
                                   4,
                                   5,
                                   {{"Id", UNIVERSAL_VARINT},
                                    {"MappingId", UNIVERSAL_VARINT},
                                    {"StartAddress", UNIVERSAL_VARINT},
                                    {"EndAddress", UNIVERSAL_VARINT},
                                    {"Name", UNIVERSAL_TEXT}}},
    [NETTRACE_UNIVERSAL_CPU] = {"Universal.Events", "cpu", 17, 1, {{"Value", UNIVERSAL_VARINT}}},
};

static void append_name(struct buffer *to, const char *name)
{
    nettrace_append_varint(to, strlen(name));
    buffer_add(to, name, strlen(name));
}

/* Returns the number of a class; adds it if it is new. Returns 0 if memory runs out. */
static uint32_t get_universal_class(struct nettrace_writer *w, enum nettrace_universal_class index)
{
    const struct universal_class *class = &universal_classes[index];
    struct buffer *row = &w->scratch;
    if (w->samples.class[index])
        return w->samples.class[index];
    buffer_clear(row);
    append_name(row, class->provider);
    nettrace_append_varint(row, class->id);
    append_name(row, class->name);
    nettrace_append_u16(row, class->fields_n);
    for (size_t i = 0; i < class->fields_n; i++) {
        const size_t at = row->n;
        nettrace_append_u16(row, 0);
        append_name(row, class->field[i].name);
        buffer_add_byte(row, class->field[i].type);
        if (!row->failed)
            store_u16le(row->bytes + at, (uint16_t)(row->n - at - 2));
    }
    nettrace_append_u16(row, 0); /* the metadata have no options */
    return w->samples.class[index] = nettrace_add_row_class(w, row);
}

/* Appends a text as events of Universal.* store it: a 16-bit size, then UTF-8. */
static void append_text(struct buffer *to, ttr_text text)
{
    const uint16_t n = text.n > UINT16_MAX ? UINT16_MAX : (uint16_t)text.n;
    nettrace_append_u16(to, n);
    buffer_add(to, text.p, n);
}

/* Appends an event of Universal.System with the payload in w->payload. */
static bool append_system_event(struct ttr_writer *out, const ttr_event *sample, uint64_t ticks,
                                enum nettrace_universal_class class)
{
    struct nettrace_writer *w = out->ctx;
    struct nettrace_header header = {.ticks = ticks,
                                     .flags = NETTRACE_IS_SORTED,
                                     .metadata = get_universal_class(w, class),
                                     .payload_size = (uint32_t)w->payload.n};
    if (!header.metadata || w->payload.failed || !nettrace_set_header_threads(out, sample, &header))
        return false;
    nettrace_append_event(w, &header, w->payload.bytes);
    return true;
}

/* Writes an event that declares the process of a sample, at its first sample. */
static bool declare_process(struct ttr_writer *out, const ttr_event *sample, uint64_t ticks)
{
    struct nettrace_writer *w = out->ctx;
    ttr_thread thread;
    if (!ttr_thread_get(out->t, sample->thread, &thread) ||
        pair_map_get(&w->samples.known, thread.pid, PROCESS_TAG))
        return true;
    buffer_clear(&w->payload);
    nettrace_append_varint(&w->payload, thread.pid);
    append_text(&w->payload, ttr_text_get(out->t, thread.process_name));
    append_text(&w->payload, (ttr_text){"", 0});
    return pair_map_put(&w->samples.known, thread.pid, PROCESS_TAG, 1) &&
           append_system_event(out, sample, ticks, NETTRACE_UNIVERSAL_PROCESS);
}

/* Writes an event that declares a mapping in the process of a sample, unless one was written.
 * Returns the id of the mapping; 0 if memory runs out. */
static uint32_t declare_mapping(struct ttr_writer *out, const ttr_event *sample, uint64_t ticks,
                                const struct symbol_range *mapping)
{
    struct nettrace_writer *w = out->ctx;
    const struct symbols *symbols = &out->t->symbols;
    const uint64_t first = hash_pair(mapping->start, out->t->threads[sample->thread].process),
                   second = hash_pair((uint64_t)mapping->from, mapping->module);
    const uint32_t *known = pair_map_get(&w->samples.mappings, first, second);
    if (known)
        return *known;
    const uint32_t id = ++w->samples.mappings_n;
    ttr_text path = {"", 0};
    if (mapping->module) {
        const struct symbol_module *module = &symbols->module[mapping->module - 1];
        path = ttr_text_get(out->t, module->path);
        if (module->name && (path.n == 0 || path.p[0] != '/')) /* "[kernel.kallsyms]" */
            path = ttr_text_get(out->t, module->name);
    }
    buffer_clear(&w->payload);
    nettrace_append_varint(&w->payload, id);
    nettrace_append_varint(&w->payload, mapping->start);
    nettrace_append_varint(&w->payload, mapping->start + mapping->size - 1);
    nettrace_append_varint(&w->payload, mapping->offset);
    append_text(&w->payload, path);
    nettrace_append_varint(&w->payload, 0);
    return pair_map_put(&w->samples.mappings, first, second, id) &&
                   append_system_event(out, sample, ticks, NETTRACE_UNIVERSAL_MAPPING)
               ? id
               : 0;
}

/* Writes events that declare the mapping and the function at an address, unless they were written.
 * address: the last byte of a call, or the address of the innermost frame. */
static bool declare_code(struct ttr_writer *out, const ttr_event *sample, uint64_t ticks,
                         uint64_t address)
{
    ttr *t = out->t;
    struct nettrace_writer *w = out->ctx;
    const uint32_t process = t->threads[sample->thread].process;
    ttr_symbol symbol;
    if (!symbols_change_with_time(t, sample->thread, address)) {
        if (pair_map_get(&w->samples.known, address, process))
            return true;
        if (!pair_map_put(&w->samples.known, address, process, 1))
            return false;
    }
    const struct symbol_range *found =
        symbols_find_mapping(t, sample->thread, address, sample->time);
    const struct symbol_range mapping = found ? *found : (struct symbol_range){0};
    const uint32_t id = found ? declare_mapping(out, sample, ticks, &mapping) : 0;
    if (found && !id)
        return false;
    (void)ttr_symbol_get(t, sample->thread, address, sample->time, &symbol);
    uint64_t start = symbol.start, last = symbol.start + symbol.size_bytes - 1;
    if (!symbol.name) {
        symbol.name =
            symbols_locate(t, t->locate, t->locate_ctx, sample->thread, address, sample->time);
        start = address;
        last = address + 1; /* the range includes the return address */
    }
    const uint64_t rest = hash_pair(process, last);
    const uint32_t *known = pair_map_get(&w->samples.functions, start, rest);
    if (!symbol.name || (known && *known == symbol.name))
        return true;
    if (!pair_map_put(&w->samples.functions, start, rest, symbol.name))
        return false;
    buffer_clear(&w->payload);
    nettrace_append_varint(&w->payload, ++w->samples.functions_n);
    nettrace_append_varint(&w->payload, id);
    nettrace_append_varint(&w->payload, start);
    nettrace_append_varint(&w->payload, last);
    append_text(&w->payload, ttr_text_get(t, symbol.name));
    return append_system_event(out, sample, ticks, NETTRACE_UNIVERSAL_SYMBOL);
}

static bool text_equals(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

/* Sets the period of a sample. Returns true if it has fields that are not stored. */
static bool read_sample_fields(const struct ttr_writer *out, const ttr_event *sample,
                               uint64_t *period)
{
    ttr_fields fields;
    ttr_field field;
    bool is_lost = sample->name || sample->category || sample->provider;
    *period = 1;
    ttr_fields_begin(out->t, sample, &fields);
    while (ttr_fields_next(&fields, &field)) {
        const bool is_frames = field.depth > 0 || text_equals(field.name, "frames");
        const bool is_period = !field.depth && text_equals(field.name, "period") &&
                               field.value.type == TTR_TYPE_UINT && field.value.v.u;
        if (is_period)
            *period = field.value.v.u;
        is_lost |= !is_frames && !is_period;
    }
    return is_lost;
}

void nettrace_samples_init(struct nettrace_samples *samples, const struct alloc *alloc)
{
    pair_map_init(&samples->known, alloc);
    pair_map_init(&samples->mappings, alloc);
    pair_map_init(&samples->functions, alloc);
}

void nettrace_samples_free(struct nettrace_samples *samples)
{
    pair_map_free(&samples->known);
    pair_map_free(&samples->mappings);
    pair_map_free(&samples->functions);
}

bool nettrace_is_code_sample(const struct ttr_writer *out, const ttr_event *event)
{
    const struct symbols *symbols = &out->t->symbols;
    return event->kind == TTR_KIND_SAMPLE && event->thread && event->thread < out->t->threads_n &&
           nettrace_is_v6(out->ctx) &&
           (symbols->table[SYMBOL_FUNCTION].n || symbols->table[SYMBOL_MAPPING].n) &&
           ttr_event_frames(out->t, event, NULL, 0) > 0;
}

bool nettrace_declare_sample_code(struct ttr_writer *out, const ttr_event *event, uint64_t ticks)
{
    struct nettrace_writer *w = out->ctx;
    const uint32_t n = ttr_event_frames(out->t, event, w->frames, (uint32_t)w->frames_capacity);
    if (n > w->frames_capacity) {
        if (!alloc_reserve(&out->t->counted, (void **)&w->frames, &w->frames_capacity, n,
                           sizeof *w->frames))
            return false;
        (void)ttr_event_frames(out->t, event, w->frames, n);
    }
    bool is_good = declare_process(out, event, ticks);
    for (uint32_t i = 0; i < n && is_good; i++)
        is_good = declare_code(out, event, ticks, w->frames[i] - (i > 0 && w->frames[i] > 0));
    return is_good;
}

uint32_t nettrace_encode_code_sample(struct ttr_writer *out, const ttr_event *event)
{
    struct nettrace_writer *w = out->ctx;
    uint64_t period;
    if (read_sample_fields(out, event, &period))
        output_count_loss(out, NETTRACE_LOST_SAMPLE_FIELDS, event->offset);
    const uint32_t class = get_universal_class(w, NETTRACE_UNIVERSAL_CPU);
    buffer_clear(&w->payload);
    nettrace_append_varint(&w->payload, period);
    return class;
}
