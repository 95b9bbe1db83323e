/* Views of event records: the hot path of the reader.
 *
 * Most traces are events by nine tenths, in no order a branch predictor could learn.  So the sizes
 * of up to four arguments are walked without branches, inline parts are unlikely, and what depends
 * on the kind comes from tables and masks. Left out here: the arguments' values (fxt_fields.c). */
#include "formats/fxt/fxt_read.h"

#include "base/status.h"

/* Kinds of the model by FXT's kinds; TTR_KIND_NONE: unknown. */
static const uint8_t kinds[16] = {
    [FXT_INSTANT] = TTR_KIND_INSTANT,          [FXT_COUNTER] = TTR_KIND_COUNTER,
    [FXT_DURATION_BEGIN] = TTR_KIND_BEGIN,     [FXT_DURATION_END] = TTR_KIND_END,
    [FXT_DURATION_COMPLETE] = TTR_KIND_SPAN,   [FXT_ASYNC_BEGIN] = TTR_KIND_ASYNC_BEGIN,
    [FXT_ASYNC_INSTANT] = TTR_KIND_ASYNC_STEP, [FXT_ASYNC_END] = TTR_KIND_ASYNC_END,
    [FXT_FLOW_BEGIN] = TTR_KIND_FLOW_BEGIN,    [FXT_FLOW_STEP] = TTR_KIND_FLOW_STEP,
    [FXT_FLOW_END] = TTR_KIND_FLOW_END,
};

/* Which bits of the last word are a link, and which the end of a span; all or none. */
static const uint64_t link_masks[16] = {
    [FXT_COUNTER] = UINT64_MAX,   [FXT_ASYNC_BEGIN] = UINT64_MAX, [FXT_ASYNC_INSTANT] = UINT64_MAX,
    [FXT_ASYNC_END] = UINT64_MAX, [FXT_FLOW_BEGIN] = UINT64_MAX,  [FXT_FLOW_STEP] = UINT64_MAX,
    [FXT_FLOW_END] = UINT64_MAX,
};
static const uint64_t span_masks[16] = {[FXT_DURATION_COMPLETE] = UINT64_MAX};

static enum fxt_taken no_memory(struct fxt_reader *reader)
{
    (void)fail_memory(reader->error);
    return FXT_FAILED;
}

void fxt_give_definition(struct fxt_reader *reader, const uint8_t *bytes, size_t n, uint64_t offset)
{
    if (!(reader->in->flags & TTR_READ_DEFINITIONS))
        return;
    ttr_event *event = input_event(reader->in);
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

enum fxt_taken fxt_string_id(struct fxt_reader *reader, const struct fxt_record *record,
                             uint32_t ref, uint32_t at, ttr_id *id)
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

/* A thread of its own for an index nobody defined: an invalid process, and a koid that no kernel
 * gives, ending in the index.  It gets no name: a writer would make an object of it, and give the
 * name to whatever thread really has that koid. */
static ttr_id unknown_thread(struct fxt_reader *reader, uint32_t ref)
{
    return context_thread(reader->common.t, reader->in->id, 0, ~(uint64_t)0xff | ref);
}

enum fxt_taken fxt_thread_id(struct fxt_reader *reader, const struct fxt_record *record,
                             uint32_t ref, uint32_t at, ttr_id *id)
{
    if (ref == 0) {
        if (record->words - at < 2)
            return FXT_ODD;
        *id = context_thread(reader->common.t, reader->in->id, fxt_word(reader, record, at),
                             fxt_word(reader, record, at + 1));
        return *id ? FXT_TAKEN : no_memory(reader);
    }
    *id = ~reader->provider->threads[ref];
    if (FXT_LIKELY(*id != UINT32_MAX))
        return FXT_TAKEN;
    input_note(
        reader->in, TTR_NOTE_ODD, record->offset, "fxt.unknown-thread",
        "thread %u was never defined for this provider; its events come on a thread of their own",
        ref);
    *id = unknown_thread(reader, ref);
    return *id ? FXT_TAKEN : no_memory(reader);
}

/* For the i-th of the first four arguments: its size field's mask where there is one, and 1; else
 * zeros. */
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

/* The word at a place, or the record's header where the place is behind its end.  By a mask:
 * whether an argument is the last thing in its record is what no predictor can guess, and a wrong
 * guess costs more than everything else here. */
static FXT_INLINE uint64_t argument_at(const struct fxt_record *record, uint32_t at, bool is_big)
{
    uint32_t is_inside = at < record->words;
    return fxt_load(record->bytes + (size_t)(at & (0u - is_inside)) * FXT_WORD, is_big);
}

/* The place behind the arguments; above record->words where an argument is empty or leaves the
 * record.  Sizes are at least 1, so a place at or behind the end only grows, and one comparison of
 * the result with the end is enough.  Places never grow past words + 15 * 4095, so nothing
 * overflows; a load at a place that is too far is made at the header instead. */
static FXT_INLINE uint32_t walk_arguments(const struct fxt_record *record, uint32_t at,
                                          uint32_t args, bool is_big)
{
    const struct argument_masks *masks = &argument_masks[args < 4 ? args : 4];
    uint32_t empty = 0;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t header = argument_at(record, at, is_big);
        uint32_t size = (uint32_t)(header >> ARGUMENT_SIZE_SHIFT) & masks->size[i];
        empty |= size - masks->is_there[i];
        at += size;
    }
    for (uint32_t i = 4; FXT_UNLIKELY(i < args); i++) {
        uint64_t header = argument_at(record, at, is_big);
        uint32_t size = (uint32_t)fxt_get(header, FXT_ARG_SIZE);
        empty |= size - 1;
        at += size;
    }
    return empty >> 31 ? UINT32_MAX - FXT_ARGS_MAX : at;
}

/* Whether the surplus word of an instant is a scope (thread, process, global) and not the next
 * record. */
static bool is_scoped(const struct fxt_reader *reader, const struct fxt_record *record,
                      uint32_t end)
{
    return fxt_get(record->header, FXT_EVENT_KIND) == FXT_INSTANT && end + 1 == record->words &&
           fxt_word(reader, record, end) <= 2;
}

/* An event of a kind that nobody knows. */
static enum fxt_taken skip_event(struct fxt_reader *reader, const struct fxt_record *record)
{
    input_note(reader->in, TTR_NOTE_ODD, record->offset, "fxt.unknown-event",
               "event of type %u, known are 0 to 10; skipped",
               (unsigned)fxt_get(record->header, FXT_EVENT_KIND));
    fxt_give_definition(reader, record->bytes, (size_t)record->words * FXT_WORD, record->offset);
    return FXT_TAKEN;
}

/* Where arguments begin. */
static inline uint32_t body_words(uint64_t header)
{
    return 2 + (fxt_get(header, FXT_EVENT_THREAD) ? 0 : 2u) +
           fxt_ref_words((uint32_t)fxt_get(header, FXT_EVENT_CATEGORY)) +
           fxt_ref_words((uint32_t)fxt_get(header, FXT_EVENT_NAME));
}

/* Refs that lead into the record itself, or nowhere. */
struct event_refs {
    ttr_id thread, category, name;
};

static enum fxt_taken resolve_rare(struct fxt_reader *reader, const struct fxt_record *record,
                                   struct event_refs *ids)
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
        taken = fxt_string_id(reader, record, (uint32_t)fxt_get(header, FXT_EVENT_NAME), at,
                              &ids->name);
    return taken;
}

/* Ids by table; false where one of the refs is inline or not defined. */
static inline bool resolve_usual(const struct fxt_provider *provider, uint64_t header,
                                 struct event_refs *ids)
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

/* Gives an event whose parts are known.  Made for each case at compile time: the byte order, and
 * whether the record is exactly as long as its content, so that the usual one asks for neither. */
static FXT_INLINE enum fxt_taken give(struct fxt_reader *reader, const struct fxt_record *record,
                                      uint32_t end, bool is_big, bool is_exact)
{
    const struct fxt_provider *provider = reader->provider;
    uint64_t header = record->header;
    unsigned kind = (unsigned)fxt_get(header, FXT_EVENT_KIND);
    uint32_t last = fxt_event_last_words(kind);
    struct event_refs ids;
    if (FXT_UNLIKELY(!resolve_usual(provider, header, &ids))) {
        enum fxt_taken taken = resolve_rare(reader, record, &ids);
        if (taken != FXT_TAKEN)
            return taken;
    }
    bool is_whole = is_exact || end + last <= record->words, clamped = false;
    uint64_t last_word =
        fxt_load(record->bytes + (size_t)(is_whole ? end & (0u - last) : 0) * FXT_WORD, is_big);
    uint64_t ticks = fxt_load(record->bytes + FXT_WORD, is_big);
    /* What is no span ends where it begins: its duration comes out as 0 without asking. */
    uint64_t span = is_whole ? span_masks[kind] : 0;
    int64_t time = fxt_time(provider, ticks, &clamped);
    int64_t end_time = fxt_time(provider, (last_word & span) | (ticks & ~span), &clamped);
    unsigned flags = TTR_EVENT_RAW;
    if (FXT_UNLIKELY(clamped | !is_whole | (end_time < time))) {
        flags |= (clamped ? TTR_EVENT_CLAMPED : 0u) | (is_whole ? 0u : TTR_EVENT_PARTIAL);
        flags |= end_time < time ? TTR_EVENT_BACKWARD : 0u;
        end_time = end_time < time ? time : end_time;
    }
    ttr_event *event = input_event(reader->in);
    event->time = time;
    event->ticks = ticks;
    event->duration = (uint64_t)end_time - (uint64_t)time;
    event->link = last_word & link_masks[kind];
    event->payload = record->bytes;
    event->payload_size = record->words * FXT_WORD;
    event->body = body_words(header) * FXT_WORD;
    event->schema = provider->schema;
    event->name = ids.name;
    event->provider = provider->name;
    event->category = ids.category;
    event->track = provider->track;
    event->thread = ids.thread;
    event->offset = record->offset;
    event->kind = kinds[kind];
    event->flags = (uint8_t)flags;
    reader->last_time = time;
    return FXT_TAKEN;
}

/* An event whose size is not that of its content, or of a kind nobody knows. */
static enum fxt_taken view_odd(struct fxt_reader *reader, const struct fxt_record *record,
                               uint32_t end)
{
    unsigned kind = (unsigned)fxt_get(record->header, FXT_EVENT_KIND);
    bool is_exact = end + fxt_event_last_words(kind) == record->words;
    if (!is_exact && !record->is_accepted && !is_scoped(reader, record, end))
        return FXT_ODD;
    if (kind > FXT_FLOW_END)
        return record->is_accepted ? skip_event(reader, record) : FXT_ODD;
    reader->has_fields = true;
    return give(reader, record, end, reader->common.is_big, false);
}

static FXT_INLINE enum fxt_taken view(struct fxt_reader *reader, const struct fxt_record *record,
                                      bool is_big)
{
    unsigned kind = (unsigned)fxt_get(record->header, FXT_EVENT_KIND);
    uint32_t args = (uint32_t)fxt_get(record->header, FXT_EVENT_ARGS);
    uint32_t end = walk_arguments(record, body_words(record->header), args, is_big);
    if (FXT_UNLIKELY(end + fxt_event_last_words(kind) != record->words || kind > FXT_FLOW_END))
        return view_odd(reader, record, end);
    return give(reader, record, end, is_big, true);
}

enum fxt_taken fxt_view_event(struct fxt_reader *reader, const struct fxt_record *record)
{
    reader->has_fields = true;
    return reader->common.is_big ? view(reader, record, true) : view(reader, record, false);
}

static FXT_INLINE enum fxt_taken view_run(struct fxt_reader *reader, struct fxt_span *left,
                                          bool is_big)
{
    struct input *in = reader->in;
    reader->has_fields = true;
    do {
        struct fxt_record record = {
            .bytes = left->bytes, .header = fxt_load(left->bytes, is_big), .offset = reader->at};
        record.words = (uint32_t)fxt_get(record.header, FXT_SIZE);
        if (fxt_type(record.header) != FXT_EVENT || record.words == 0 || record.words > left->words)
            return FXT_TAKEN;
        enum fxt_taken taken = view(reader, &record, is_big);
        if (FXT_UNLIKELY(taken != FXT_TAKEN))
            return taken;
        left->bytes += (size_t)record.words * FXT_WORD;
        left->words -= record.words;
        reader->at += (uint64_t)record.words * FXT_WORD;
    } while (in->n < in->batch && left->words);
    return FXT_TAKEN;
}

enum fxt_taken fxt_view_events(struct fxt_reader *reader, struct fxt_span *left)
{
    return left->is_big ? view_run(reader, left, true) : view_run(reader, left, false);
}
