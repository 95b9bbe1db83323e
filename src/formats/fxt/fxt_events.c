/* Views of event records: the hot path of the reader.
 *
 * Most traces are events by nine tenths, in no order a branch predictor could learn.  So the sizes of up to four arguments are
 * walked without branches, inline parts are unlikely, and what depends on the kind comes from tables and masks.
 * Left out here: the arguments' values (fxt_fields.c). */
#include "formats/fxt/fxt_read.h"

#include <stdio.h>

#include "base/status.h"

/* Kinds of the model by FXT's kinds; TTR_KIND_NONE: unknown. */
static const uint8_t kinds[16] = {
    [FXT_INSTANT] = TTR_KIND_INSTANT,
    [FXT_COUNTER] = TTR_KIND_COUNTER,
    [FXT_DURATION_BEGIN] = TTR_KIND_BEGIN,
    [FXT_DURATION_END] = TTR_KIND_END,
    [FXT_DURATION_COMPLETE] = TTR_KIND_SPAN,
    [FXT_ASYNC_BEGIN] = TTR_KIND_ASYNC_BEGIN,
    [FXT_ASYNC_INSTANT] = TTR_KIND_ASYNC_STEP,
    [FXT_ASYNC_END] = TTR_KIND_ASYNC_END,
    [FXT_FLOW_BEGIN] = TTR_KIND_FLOW_BEGIN,
    [FXT_FLOW_STEP] = TTR_KIND_FLOW_STEP,
    [FXT_FLOW_END] = TTR_KIND_FLOW_END,
};

static enum fxt_taken no_memory(struct fxt_reader *reader)
{
    (void)fail_memory(reader->error);
    return FXT_FAILED;
}

enum fxt_taken fxt_string_id(struct fxt_reader *reader, const struct fxt_record *record, uint32_t ref, uint32_t at, ttr_id *id)
{
    if (ref & FXT_REF_INLINE) {
        uint32_t n = fxt_ref_bytes(ref);
        if (fxt_words(n) > record->words - at)
            return FXT_ODD;
        *id = ttr_text_add(reader->common.t, record->bytes + (size_t)at * FXT_WORD, n);
        return *id || n == 0 ? FXT_TAKEN : no_memory(reader);
    }
    *id = ~fxt_string_slot(reader->provider, ref);
    if (FXT_LIKELY(*id != UINT32_MAX))
        return FXT_TAKEN;
    input_note(reader->in, TTR_NOTE_ODD, record->offset, "fxt.unknown-string",
               "string %u was never defined for this provider; it reads as <string %u>", ref, ref);
    *id = fxt_unknown_string(&reader->common, ref);
    return *id ? FXT_TAKEN : no_memory(reader);
}

/* A thread of its own for an index nobody defined: an invalid process, and a koid that no kernel gives. */
static ttr_id unknown_thread(struct fxt_reader *reader, uint32_t ref)
{
    ttr *t = reader->common.t;
    char text[24];
    int n = snprintf(text, sizeof text, "<thread %u>", ref);
    ttr_id name = ttr_text_add(t, text, (size_t)n);
    ttr_id thread = context_thread(t, reader->in->id, 0, ~(uint64_t)0xff | ref);
    context_name_thread(t, thread, name);
    return name ? thread : 0;
}

enum fxt_taken fxt_thread_id(struct fxt_reader *reader, const struct fxt_record *record, uint32_t ref, uint32_t at, ttr_id *id)
{
    if (ref == 0) {
        if (record->words - at < 2)
            return FXT_ODD;
        *id = context_thread(reader->common.t, reader->in->id, fxt_word(reader, record, at), fxt_word(reader, record, at + 1));
        return *id ? FXT_TAKEN : no_memory(reader);
    }
    *id = ~reader->provider->threads[ref];
    if (FXT_LIKELY(*id != UINT32_MAX))
        return FXT_TAKEN;
    input_note(reader->in, TTR_NOTE_ODD, record->offset, "fxt.unknown-thread",
               "thread %u was never defined for this provider; its events come on a thread of their own", ref);
    *id = unknown_thread(reader, ref);
    return *id ? FXT_TAKEN : no_memory(reader);
}

/* The place behind the arguments; above record->words where an argument is empty or leaves the record.  Places never grow past
 * words + 15 * 4095, so nothing overflows; a load at a place that is too far is made at the header instead. */
static inline uint32_t walk_arguments(const struct fxt_reader *reader, const struct fxt_record *record, uint32_t at, uint32_t args)
{
    uint32_t words = record->words, broken = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t is_there = i < args;
        uint64_t header = fxt_word(reader, record, at < words ? at : 0);
        uint32_t size = (uint32_t)fxt_get(header, FXT_ARG_SIZE) & (0u - is_there);
        broken |= is_there & ((at >= words) | (size == 0));
        at += size;
    }
    for (uint32_t i = 4; i < args && !broken; i++) {
        uint64_t header = fxt_word(reader, record, at < words ? at : 0);
        uint32_t size = (uint32_t)fxt_get(header, FXT_ARG_SIZE);
        broken = (at >= words) | (size == 0);
        at += size;
    }
    return broken ? UINT32_MAX - FXT_ARGS_MAX : at;
}

static void fill_span(struct fxt_reader *reader, ttr_event *event, uint64_t end_ticks)
{
    bool clamped = false;
    int64_t end = fxt_time(reader->provider, end_ticks, &clamped);
    if (end < event->time)
        event->flags |= TTR_EVENT_BACKWARD;
    else
        event->duration = (uint64_t)end - (uint64_t)event->time;
    if (clamped)
        event->flags |= TTR_EVENT_CLAMPED;
}

/* Whether the surplus word of an instant is a scope (thread, process, global) and not the next record. */
static bool is_scoped(const struct fxt_reader *reader, const struct fxt_record *record, uint32_t end)
{
    return fxt_get(record->header, FXT_EVENT_KIND) == FXT_INSTANT && end + 1 == record->words && fxt_word(reader, record, end) <= 2;
}

/* An event of a kind that nobody knows. */
static enum fxt_taken skip_event(struct fxt_reader *reader, const struct fxt_record *record)
{
    input_note(reader->in, TTR_NOTE_ODD, record->offset, "fxt.unknown-event", "event of type %u, known are 0 to 10; skipped",
               (unsigned)fxt_get(record->header, FXT_EVENT_KIND));
    fxt_give_definition(reader, record->bytes, (size_t)record->words * FXT_WORD, record->offset);
    return FXT_TAKEN;
}

/* Refs that lead into the record itself, or nowhere. */
struct event_refs {
    ttr_id thread, category, name;
};

static enum fxt_taken resolve_rare(struct fxt_reader *reader, const struct fxt_record *record, struct event_refs *ids)
{
    uint64_t header = record->header;
    uint32_t thread = (uint32_t)fxt_get(header, FXT_EVENT_THREAD);
    uint32_t category = (uint32_t)fxt_get(header, FXT_EVENT_CATEGORY);
    uint32_t at = thread ? 2 : 4;
    enum fxt_taken taken = fxt_thread_id(reader, record, thread, 2, &ids->thread);
    if (taken == FXT_TAKEN)
        taken = fxt_string_id(reader, record, category, at, &ids->category);
    at += fxt_ref_words(category);
    if (taken == FXT_TAKEN)
        taken = fxt_string_id(reader, record, (uint32_t)fxt_get(header, FXT_EVENT_NAME), at, &ids->name);
    return taken;
}

/* Ids by table; false where one of the refs is inline or not defined. */
static inline bool resolve_usual(const struct fxt_provider *provider, uint64_t header, struct event_refs *ids)
{
    uint32_t thread = (uint32_t)fxt_get(header, FXT_EVENT_THREAD);
    uint32_t category = (uint32_t)fxt_get(header, FXT_EVENT_CATEGORY);
    uint32_t name = (uint32_t)fxt_get(header, FXT_EVENT_NAME);
    uint32_t thread_slot = provider->threads[thread];
    uint32_t category_slot = fxt_string_slot(provider, category & FXT_REF_LENGTH);
    uint32_t name_slot = fxt_string_slot(provider, name & FXT_REF_LENGTH);
    *ids = (struct event_refs){~thread_slot, ~category_slot, ~name_slot};
    return ((category | name) & FXT_REF_INLINE) == 0 && thread_slot && category_slot && name_slot;
}

enum fxt_taken fxt_view_event(struct fxt_reader *reader, const struct fxt_record *record)
{
    uint64_t header = record->header;
    unsigned kind = (unsigned)fxt_get(header, FXT_EVENT_KIND);
    uint32_t body = 2 + (fxt_get(header, FXT_EVENT_THREAD) ? 0 : 2u) + fxt_ref_words((uint32_t)fxt_get(header, FXT_EVENT_CATEGORY)) +
                    fxt_ref_words((uint32_t)fxt_get(header, FXT_EVENT_NAME));
    uint32_t end = walk_arguments(reader, record, body, (uint32_t)fxt_get(header, FXT_EVENT_ARGS));
    uint32_t last = fxt_event_last_words(kind);
    if (FXT_UNLIKELY(end + last != record->words) && !record->is_accepted && !is_scoped(reader, record, end))
        return FXT_ODD;
    if (FXT_UNLIKELY(kinds[kind] == TTR_KIND_NONE))
        return record->is_accepted ? skip_event(reader, record) : FXT_ODD;
    struct event_refs ids;
    if (FXT_UNLIKELY(!resolve_usual(reader->provider, header, &ids))) {
        enum fxt_taken taken = resolve_rare(reader, record, &ids);
        if (taken != FXT_TAKEN)
            return taken;
    }
    bool is_whole = end + last <= record->words;
    uint64_t last_word = fxt_word(reader, record, last && is_whole ? end : 0);
    uint64_t ticks = fxt_word(reader, record, 1);
    bool clamped = false;
    ttr_event *event = input_event(reader->in);
    event->time = fxt_time(reader->provider, ticks, &clamped);
    event->ticks = ticks;
    event->link = kind != FXT_DURATION_COMPLETE && last ? last_word : 0;
    event->payload = record->bytes;
    event->payload_size = record->words * FXT_WORD;
    event->body = body * FXT_WORD;
    event->schema = reader->provider->schema;
    event->name = ids.name;
    event->provider = reader->provider->name;
    event->category = ids.category;
    event->track = reader->provider->track;
    event->thread = ids.thread;
    event->offset = record->offset;
    event->kind = kinds[kind];
    event->flags = TTR_EVENT_RAW;
    if (FXT_UNLIKELY(clamped))
        event->flags |= TTR_EVENT_CLAMPED;
    if (FXT_UNLIKELY(!is_whole))
        event->flags |= TTR_EVENT_PARTIAL;
    else if (kind == FXT_DURATION_COMPLETE)
        fill_span(reader, event, last_word);
    reader->last_time = event->time;
    reader->has_fields = true;
    return FXT_TAKEN;
}
