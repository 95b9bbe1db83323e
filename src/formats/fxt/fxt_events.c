/* Converts event records: the hot path of the reader. Most records are events, and no branch
 * predictor can learn the order of their types. So the sizes of up to four arguments are added
 * without branches, inline strings and threads are treated as unlikely, and differences between
 * event kinds are handled by tables and masks. fxt_fields.c decodes argument values. */
#include "formats/fxt/fxt_read.h"

#include "base/status.h"

/* Event kind of the model for each event kind of FXT; TTR_KIND_NONE if FXT does not define the
 * kind. */
static const uint8_t kinds[16] = {
    [FXT_INSTANT] = TTR_KIND_INSTANT,          [FXT_COUNTER] = TTR_KIND_COUNTER,
    [FXT_DURATION_BEGIN] = TTR_KIND_BEGIN,     [FXT_DURATION_END] = TTR_KIND_END,
    [FXT_DURATION_COMPLETE] = TTR_KIND_SPAN,   [FXT_ASYNC_BEGIN] = TTR_KIND_ASYNC_BEGIN,
    [FXT_ASYNC_INSTANT] = TTR_KIND_ASYNC_STEP, [FXT_ASYNC_END] = TTR_KIND_ASYNC_END,
    [FXT_FLOW_BEGIN] = TTR_KIND_FLOW_BEGIN,    [FXT_FLOW_STEP] = TTR_KIND_FLOW_STEP,
    [FXT_FLOW_END] = TTR_KIND_FLOW_END,
};

/* By event kind: mask of the last word of a record. link_masks: all ones if that word is the
 * event's link; span_masks: all ones if it is the end of a span; else 0. */
static const uint64_t link_masks[16] = {
    [FXT_COUNTER] = UINT64_MAX,   [FXT_ASYNC_BEGIN] = UINT64_MAX, [FXT_ASYNC_INSTANT] = UINT64_MAX,
    [FXT_ASYNC_END] = UINT64_MAX, [FXT_FLOW_BEGIN] = UINT64_MAX,  [FXT_FLOW_STEP] = UINT64_MAX,
    [FXT_FLOW_END] = UINT64_MAX,
};
static const uint64_t span_masks[16] = {[FXT_DURATION_COMPLETE] = UINT64_MAX};

static enum fxt_convert_result fail_out_of_memory(struct fxt_reader *reader)
{
    (void)fail_memory(reader->error);
    return FXT_FAILED;
}

void fxt_emit_definition(struct fxt_reader *reader, const uint8_t *bytes, size_t n, uint64_t offset)
{
    if (!(reader->in->flags & TTR_READ_DEFINITIONS))
        return;
    ttr_event *event = input_add_event(reader->in);
    event->kind = TTR_KIND_DEFINITION;
    event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME;
    event->time = reader->last_time;
    event->schema = reader->schema;
    event->payload = bytes;
    event->payload_size = (uint32_t)n;
    event->body = (uint32_t)n;
    event->offset = offset;
    if (!reader->provider)
        return;
    event->provider = reader->provider->name;
    event->track = reader->provider->track;
}

enum fxt_convert_result fxt_resolve_string(struct fxt_reader *reader,
                                           const struct fxt_record *record, uint32_t ref,
                                           uint32_t at, ttr_id *id)
{
    if (ref & FXT_REF_INLINE) {
        uint32_t n = fxt_get_inline_bytes(ref);
        if (fxt_words_for_bytes(n) > record->words - at)
            return FXT_BAD_SIZE;
        *id = ttr_text_add(reader->common.t, record->bytes + (size_t)at * FXT_WORD_BYTES, n);
        return *id || n == 0 ? FXT_CONVERTED : fail_out_of_memory(reader);
    }
    *id = ~fxt_find_string_slot(reader->provider, ref);
    if (FXT_LIKELY(*id != UINT32_MAX))
        return FXT_CONVERTED;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, record->offset, "fxt.unknown-string",
                         "string %u was never defined for this provider; it reads as <string %u>",
                         ref, ref);
    *id = fxt_add_placeholder_string(&reader->common, ref);
    return *id ? FXT_CONVERTED : fail_out_of_memory(reader);
}

/* Returns a placeholder for a thread index that no record has defined. Its process is 0. Its koid
 * contains the index in the low byte; no kernel assigns such a koid. It has no name, because a
 * writer would write that to an object record, which readers would apply to a real thread with
 * this koid. */
static ttr_id get_placeholder_thread(struct fxt_reader *reader, uint32_t ref)
{
    return context_thread(reader->common.t, reader->in->id, 0, ~(uint64_t)0xff | ref);
}

enum fxt_convert_result fxt_resolve_thread(struct fxt_reader *reader,
                                           const struct fxt_record *record, uint32_t ref,
                                           uint32_t at, ttr_id *id)
{
    if (ref == 0) {
        if (record->words - at < 2)
            return FXT_BAD_SIZE;
        *id = context_thread(reader->common.t, reader->in->id,
                             fxt_load_record_word(reader, record, at),
                             fxt_load_record_word(reader, record, at + 1));
        return *id ? FXT_CONVERTED : fail_out_of_memory(reader);
    }
    *id = ~reader->provider->threads[ref];
    if (FXT_LIKELY(*id != UINT32_MAX))
        return FXT_CONVERTED;
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, record->offset, "fxt.unknown-thread",
        "thread %u was never defined for this provider; its events come on a thread of their own",
        ref);
    *id = get_placeholder_thread(reader, ref);
    return *id ? FXT_CONVERTED : fail_out_of_memory(reader);
}

/* Masks for the first four arguments, by the number of arguments of the event. size[i]: selects
 * the size field of argument i; is_there[i]: 1. Both are 0 if the event has fewer arguments. */
struct argument_masks {
    uint32_t size[4], is_there[4];
};
#define ARGUMENT_MASKS(a, b, c, d)                                                        \
    {                                                                                     \
        {FXT_SIZE_MAX * (a), FXT_SIZE_MAX * (b), FXT_SIZE_MAX * (c), FXT_SIZE_MAX * (d)}, \
        {                                                                                 \
            a, b, c, d                                                                    \
        }                                                                                 \
    }
static const struct argument_masks argument_masks[5] = {
    ARGUMENT_MASKS(0, 0, 0, 0), ARGUMENT_MASKS(1, 0, 0, 0), ARGUMENT_MASKS(1, 1, 0, 0),
    ARGUMENT_MASKS(1, 1, 1, 0), ARGUMENT_MASKS(1, 1, 1, 1),
};
#define ARGUMENT_SIZE_SHIFT (FXT_ARG_SIZE & 0xff)

/* Returns the word at index `at` of the record; the header if `at` is outside of the record. Uses
 * a mask, because a mispredicted branch would cost more than the function. */
static FXT_INLINE uint64_t load_word_or_header(const struct fxt_record *record, uint32_t at,
                                               bool is_big)
{
    uint32_t is_inside = at < record->words;
    return fxt_load_u64(record->bytes + (size_t)(at & (0u - is_inside)) * FXT_WORD_BYTES, is_big);
}

/* Returns the index of the word after the arguments; above record->words if an argument has size 0
 * or exceeds the record. All other sizes are at least 1, so an index that has left the record can
 * only grow, and one final comparison is sufficient. An index is at most words + 15 * 4095, so
 * nothing overflows. */
static FXT_INLINE uint32_t find_arguments_end(const struct fxt_record *record, uint32_t at,
                                              uint32_t args, bool is_big)
{
    const struct argument_masks *masks = &argument_masks[args < 4 ? args : 4];
    uint32_t empty = 0;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t header = load_word_or_header(record, at, is_big);
        uint32_t size = (uint32_t)(header >> ARGUMENT_SIZE_SHIFT) & masks->size[i];
        empty |= size - masks->is_there[i];
        at += size;
    }
    for (uint32_t i = 4; FXT_UNLIKELY(i < args); i++) {
        uint64_t header = load_word_or_header(record, at, is_big);
        uint32_t size = (uint32_t)fxt_get_bits(header, FXT_ARG_SIZE);
        empty |= size - 1;
        at += size;
    }
    return empty >> 31 ? UINT32_MAX - FXT_ARGS_MAX : at;
}

/* Returns true if an instant has exactly one word after its content, and that is a valid scope (0
 * thread, 1 process, 2 global). */
static bool has_scope_word(const struct fxt_reader *reader, const struct fxt_record *record,
                           uint32_t end)
{
    return fxt_get_bits(record->header, FXT_EVENT_KIND) == FXT_INSTANT &&
           end + 1 == record->words && fxt_load_record_word(reader, record, end) <= 2;
}

/* Reports an event kind that the specification does not define, and emits the record as a
 * definition. */
static enum fxt_convert_result emit_unknown_event(struct fxt_reader *reader,
                                                  const struct fxt_record *record)
{
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, record->offset, "fxt.unknown-event",
                         "event of type %u, known are 0 to 10; skipped",
                         (unsigned)fxt_get_bits(record->header, FXT_EVENT_KIND));
    fxt_emit_definition(reader, record->bytes, (size_t)record->words * FXT_WORD_BYTES,
                        record->offset);
    return FXT_CONVERTED;
}

/* Returns the index of the first word of the arguments. */
static inline uint32_t find_arguments_start(uint64_t header)
{
    return 2 + (fxt_get_bits(header, FXT_EVENT_THREAD) ? 0 : 2u) +
           fxt_get_inline_words((uint32_t)fxt_get_bits(header, FXT_EVENT_CATEGORY)) +
           fxt_get_inline_words((uint32_t)fxt_get_bits(header, FXT_EVENT_NAME));
}

/* Ids of an event's thread, category and name in the library context. */
struct event_refs {
    ttr_id thread, category, name;
};

/* An event "events lost" of our recorder (trace_fxt_append_losses): inline texts of 14 and 11
 * bytes, then the count as a 64-bit argument. */
#define LOSSES_REFS UINT64_C(0x800b800e)
#define LOSSES_TEXTS "tracetta.trace\0\0events lost\0\0\0\0\0"
#define LOSSES_COUNT 8u /* word of the count */

/* Remembers the count of lost events for the provider event that follows. */
static void note_losses(struct fxt_reader *reader, const struct fxt_record *record)
{
    if (record->words <= LOSSES_COUNT || !fxt_get_bits(record->header, FXT_EVENT_THREAD) ||
        memcmp(record->bytes + (size_t)2 * FXT_WORD_BYTES, LOSSES_TEXTS, sizeof LOSSES_TEXTS - 1) !=
            0)
        return;
    reader->lost = fxt_load_record_word(reader, record, LOSSES_COUNT);
    reader->lost_end = record->offset + (uint64_t)record->words * FXT_WORD_BYTES;
}

static enum fxt_convert_result find_ids_of_inline_refs(struct fxt_reader *reader,
                                                       const struct fxt_record *record,
                                                       struct event_refs *ids)
{
    uint64_t header = record->header;
    uint32_t thread = (uint32_t)fxt_get_bits(header, FXT_EVENT_THREAD);
    uint32_t category = (uint32_t)fxt_get_bits(header, FXT_EVENT_CATEGORY);
    uint32_t at = thread ? 2 : 4;
    if (header >> 32 == LOSSES_REFS)
        note_losses(reader, record);
    enum fxt_convert_result result = fxt_resolve_thread(reader, record, thread, 2, &ids->thread);
    if (result == FXT_CONVERTED)
        result = fxt_resolve_string(reader, record, category, at, &ids->category);
    at += fxt_get_inline_words(category);
    if (result == FXT_CONVERTED)
        result = fxt_resolve_string(reader, record, (uint32_t)fxt_get_bits(header, FXT_EVENT_NAME),
                                    at, &ids->name);
    return result;
}

/* Looks up thread, category and name of an event in the provider's tables. Returns false if one of
 * them is inline, or not defined. */
static inline bool find_ids_of_table_refs(const struct fxt_provider *provider, uint64_t header,
                                          struct event_refs *ids)
{
    uint32_t thread = (uint32_t)fxt_get_bits(header, FXT_EVENT_THREAD);
    uint32_t category = (uint32_t)fxt_get_bits(header, FXT_EVENT_CATEGORY);
    uint32_t name = (uint32_t)fxt_get_bits(header, FXT_EVENT_NAME);
    uint32_t thread_slot = provider->threads[thread];
    uint32_t category_slot = fxt_find_string_slot(provider, category & FXT_REF_LENGTH);
    uint32_t name_slot = fxt_find_string_slot(provider, name & FXT_REF_LENGTH);
    *ids = (struct event_refs){~thread_slot, ~category_slot, ~name_slot};
    return ((category | name) & FXT_REF_INLINE) == 0 && thread_slot && category_slot && name_slot;
}

/* Makes an instant of the category of samples a sample again, if it has a stack as our writer
 * stores it: addresses in a text. */
static FXT_NOINLINE void restore_sample(struct fxt_reader *reader, ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(reader->common.t, event, &fields);
    const size_t n = sizeof FXT_STACK_PREFIX - 1;
    while (event->kind == TTR_KIND_INSTANT && ttr_fields_next(&fields, &field))
        if (field.value.type == TTR_TYPE_TEXT && field.name.n > n &&
            memcmp(field.name.p, FXT_STACK_PREFIX, n) == 0)
            event->kind = TTR_KIND_SAMPLE;
}

/* --- Arguments that are attributes --- */

/* Converts a level of tracetta/provider.h to a level of ttr_event. */
static uint8_t convert_level(uint64_t level)
{
    static const uint8_t levels[] = {TTR_LEVEL_NONE,    TTR_LEVEL_FATAL, TTR_LEVEL_ERROR,
                                     TTR_LEVEL_WARNING, TTR_LEVEL_INFO,  TTR_LEVEL_DEBUG};
    return level < sizeof levels ? levels[level] : TTR_LEVEL_TRACE;
}

/* Sets an attribute of the event from an argument. Returns false if the argument is not an
 * attribute. */
static bool set_attribute(const struct fxt_reader *reader, const struct fxt_record *record,
                          uint32_t at, ttr_event *event)
{
    const uint64_t header = fxt_load_record_word(reader, record, at);
    const uint64_t type = fxt_get_bits(header, FXT_ARG_TYPE);
    const uint32_t ref = (uint32_t)fxt_get_bits(header, FXT_ARG_NAME),
                   words = (uint32_t)fxt_get_bits(header, FXT_ARG_SIZE);
    const ttr_id name = ref & FXT_REF_INLINE ? 0 : ~fxt_find_string_slot(reader->provider, ref);
    if (name == 0 || words > record->words - at)
        return false;
    if (name == reader->attribute[FXT_ATTRIBUTE_LEVEL] && type == FXT_ARG_UINT32 && words == 1)
        event->level = convert_level(header >> 32);
    else if (name == reader->attribute[FXT_ATTRIBUTE_OPCODE] && type == FXT_ARG_UINT32 &&
             words == 1)
        event->opcode = (uint8_t)(header >> 32);
    else if (name == reader->attribute[FXT_ATTRIBUTE_KEYWORD] && type == FXT_ARG_UINT64 &&
             words == 2)
        event->keyword = fxt_load_record_word(reader, record, at + 1);
    else
        return false;
    event->body += words * FXT_WORD_BYTES;
    return true;
}

/* Sets attributes from the first arguments of an event; the fields of the event start after
 * them. */
static FXT_NOINLINE void set_attributes(const struct fxt_reader *reader,
                                        const struct fxt_record *record, ttr_event *event)
{
    const uint32_t args = (uint32_t)fxt_get_bits(record->header, FXT_EVENT_ARGS);
    for (uint32_t i = 0; i < args && event->body < event->payload_size; i++)
        if (!set_attribute(reader, record, event->body / FXT_WORD_BYTES, event))
            return;
}

uint32_t fxt_count_attributes(const struct fxt_provider *provider, const ttr_event *event)
{
    const bool is_big = provider->common->is_big;
    const uint64_t header = fxt_load_u64(event->payload, is_big);
    uint32_t n = 0;
    for (uint32_t at = find_arguments_start(header); at * FXT_WORD_BYTES < event->body; n++)
        at += (uint32_t)fxt_get_bits(
            fxt_load_u64(event->payload + (size_t)at * FXT_WORD_BYTES, is_big), FXT_ARG_SIZE);
    return n;
}

/* Converts an event record with a valid size. Inline, with constants for the byte order and for
 * is_exact (no words follow the content), so that the common case tests neither. */
static FXT_INLINE enum fxt_convert_result emit_event(struct fxt_reader *reader,
                                                     const struct fxt_record *record, uint32_t end,
                                                     bool is_big, bool is_exact)
{
    const struct fxt_provider *provider = reader->provider;
    uint64_t header = record->header;
    unsigned kind = (unsigned)fxt_get_bits(header, FXT_EVENT_KIND);
    uint32_t last = fxt_count_event_last_words(kind);
    struct event_refs ids;
    if (FXT_UNLIKELY(!find_ids_of_table_refs(provider, header, &ids))) {
        enum fxt_convert_result result = find_ids_of_inline_refs(reader, record, &ids);
        if (result != FXT_CONVERTED)
            return result;
    }
    bool is_whole = is_exact || end + last <= record->words, clamped = false;
    uint64_t last_word = fxt_load_u64(
        record->bytes + (size_t)(is_whole ? end & (0u - last) : 0) * FXT_WORD_BYTES, is_big);
    uint64_t ticks = fxt_load_u64(record->bytes + FXT_WORD_BYTES, is_big);
    /* for kinds without an end, `end_time` equals the start, so the duration is 0 without a branch
     */
    uint64_t span = is_whole ? span_masks[kind] : 0;
    int64_t time = fxt_ticks_to_ns(provider, ticks, &clamped);
    int64_t end_time = fxt_ticks_to_ns(provider, (last_word & span) | (ticks & ~span), &clamped);
    unsigned flags = TTR_EVENT_RAW;
    if (FXT_UNLIKELY(clamped | !is_whole | (end_time < time))) {
        flags |= (clamped ? TTR_EVENT_CLAMPED : 0u) | (is_whole ? 0u : TTR_EVENT_PARTIAL);
        flags |= end_time < time ? TTR_EVENT_BACKWARD : 0u;
        end_time = end_time < time ? time : end_time;
    }
    ttr_event *event = input_add_event(reader->in);
    event->time = time;
    event->ticks = ticks;
    event->duration = (uint64_t)end_time - (uint64_t)time;
    event->link = last_word & link_masks[kind];
    event->payload = record->bytes;
    event->payload_size = record->words * FXT_WORD_BYTES;
    event->body = find_arguments_start(header) * FXT_WORD_BYTES;
    event->schema = provider->schema;
    event->name = ids.name;
    event->provider = provider->name;
    event->category = ids.category;
    event->track = provider->track;
    event->thread = ids.thread;
    event->offset = record->offset;
    event->kind = kinds[kind];
    event->flags = (uint8_t)flags;
    if (FXT_UNLIKELY(provider->has_attributes))
        set_attributes(reader, record, event);
    reader->last_time = time;
    if (FXT_UNLIKELY(ids.category == reader->sample_category))
        restore_sample(reader, event);
    return FXT_CONVERTED;
}

/* Converts an event record of an unknown kind, or with more or fewer words than its content needs.
 * Returns FXT_BAD_SIZE, unless the additional word is a scope, or the reader has accepted the
 * size. */
static enum fxt_convert_result convert_unusual_event(struct fxt_reader *reader,
                                                     const struct fxt_record *record, uint32_t end)
{
    unsigned kind = (unsigned)fxt_get_bits(record->header, FXT_EVENT_KIND);
    bool is_exact = end + fxt_count_event_last_words(kind) == record->words;
    if (!is_exact && !record->is_accepted && !has_scope_word(reader, record, end))
        return FXT_BAD_SIZE;
    if (kind > FXT_FLOW_END)
        return record->is_accepted ? emit_unknown_event(reader, record) : FXT_BAD_SIZE;
    reader->has_fields = true;
    return emit_event(reader, record, end, reader->common.is_big, false);
}

static FXT_INLINE enum fxt_convert_result convert_usual_event(struct fxt_reader *reader,
                                                              const struct fxt_record *record,
                                                              bool is_big)
{
    unsigned kind = (unsigned)fxt_get_bits(record->header, FXT_EVENT_KIND);
    uint32_t args = (uint32_t)fxt_get_bits(record->header, FXT_EVENT_ARGS);
    uint32_t end = find_arguments_end(record, find_arguments_start(record->header), args, is_big);
    if (FXT_UNLIKELY(end + fxt_count_event_last_words(kind) != record->words ||
                     kind > FXT_FLOW_END))
        return convert_unusual_event(reader, record, end);
    return emit_event(reader, record, end, is_big, true);
}

enum fxt_convert_result fxt_convert_event(struct fxt_reader *reader,
                                          const struct fxt_record *record)
{
    reader->has_fields = true;
    return reader->common.is_big ? convert_usual_event(reader, record, true)
                                 : convert_usual_event(reader, record, false);
}

static FXT_INLINE enum fxt_convert_result convert_consecutive_events(struct fxt_reader *reader,
                                                                     struct fxt_span *left,
                                                                     bool is_big)
{
    struct input *in = reader->in;
    reader->has_fields = true;
    do {
        struct fxt_record record = {.bytes = left->bytes,
                                    .header = fxt_load_u64(left->bytes, is_big),
                                    .offset = reader->at};
        record.words = (uint32_t)fxt_get_bits(record.header, FXT_SIZE);
        if (fxt_get_record_type(record.header) != FXT_EVENT || record.words == 0 ||
            record.words > left->words)
            return FXT_CONVERTED;
        enum fxt_convert_result result = convert_usual_event(reader, &record, is_big);
        if (FXT_UNLIKELY(result != FXT_CONVERTED))
            return result;
        left->bytes += (size_t)record.words * FXT_WORD_BYTES;
        left->words -= record.words;
        reader->at += (uint64_t)record.words * FXT_WORD_BYTES;
    } while (in->n < in->batch && left->words);
    return FXT_CONVERTED;
}

enum fxt_convert_result fxt_convert_events(struct fxt_reader *reader, struct fxt_span *left)
{
    return left->is_big ? convert_consecutive_events(reader, left, true)
                        : convert_consecutive_events(reader, left, false);
}
