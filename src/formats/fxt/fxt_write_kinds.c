/* Writes one record for each kind of event (specification: "Record types").
 *
 * Each function resolves the refs of its record, computes the size, and appends the words in stored
 * order. Attributes without a position in the record become arguments if it has arguments;
 * otherwise they are counted as lost. */
#include "base/utf.h"
#include "formats/fxt/fxt_write.h"

/* --- Times --- */

static uint64_t fxt_ticks_of(struct fxt_writer *w, uint64_t ns)
{
    bool clamped = false;
    if (!w->is_inline)
        return ns;
    uint64_t base = w->copied.base_ns > 0 ? (uint64_t)w->copied.base_ns : 0;
    return w->copied.base_ticks +
           clockmath_ticks(&w->copied.clock, ns > base ? ns - base : 0, &clamped);
}

uint64_t fxt_ticks_slowly(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    if (e->ticks != (uint64_t)e->time && e->source && !(e->flags & TTR_EVENT_NO_TIME))
        fxt_lost(w, FXT_LOST_TICKS);
    if (e->time >= 0)
        return fxt_ticks_of(w, (uint64_t)e->time);
    fxt_lost(w, FXT_LOST_TIME_NEGATIVE);
    return 0;
}

/* --- Attributes without a position --- */

/* Attributes that a record type cannot hold, as flags. */
enum place { NO_NAME = 1, NO_CATEGORY = 2, NO_THREAD = 4, NO_TIME = 8 };

static void lose_places(struct fxt_writer *w, unsigned places)
{
    const ttr_event *e = w->event;
    if ((places & NO_NAME) && e->name)
        fxt_lost(w, FXT_LOST_NAME);
    if ((places & NO_CATEGORY) && e->category)
        fxt_lost(w, FXT_LOST_CATEGORY);
    if ((places & NO_THREAD) && e->thread)
        fxt_lost(w, FXT_LOST_THREAD_PLACE);
    if (!(places & NO_TIME) && (e->flags & TTR_EVENT_NO_TIME))
        fxt_lost(w, FXT_LOST_TIME_UNKNOWN);
    else if ((places & NO_TIME) && !(e->flags & TTR_EVENT_NO_TIME))
        fxt_lost(w, FXT_LOST_TIME_PLACE);
}

/* --- Event records (type 4) --- */

static const uint8_t event_kinds[TTR_KIND_COUNT] = {
    [TTR_KIND_INSTANT] = FXT_INSTANT,          [TTR_KIND_COUNTER] = FXT_COUNTER,
    [TTR_KIND_BEGIN] = FXT_DURATION_BEGIN,     [TTR_KIND_END] = FXT_DURATION_END,
    [TTR_KIND_SPAN] = FXT_DURATION_COMPLETE,   [TTR_KIND_ASYNC_BEGIN] = FXT_ASYNC_BEGIN,
    [TTR_KIND_ASYNC_STEP] = FXT_ASYNC_INSTANT, [TTR_KIND_ASYNC_END] = FXT_ASYNC_END,
    [TTR_KIND_FLOW_BEGIN] = FXT_FLOW_BEGIN,    [TTR_KIND_FLOW_STEP] = FXT_FLOW_STEP,
    [TTR_KIND_FLOW_END] = FXT_FLOW_END,
};

/* Returns the end of a span in ticks.  A span that starts before 0 keeps its duration. An end past
 * the maximum is clamped. */
static uint64_t span_end(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    uint64_t begin = e->time < 0 ? 0 : (uint64_t)e->time;
    if (e->duration <= INT64_MAX - begin)
        return fxt_ticks_of(w, begin + e->duration);
    fxt_lost(w, FXT_LOST_SPAN_END);
    return fxt_ticks_of(w, INT64_MAX);
}

static void write_event(struct fxt_writer *w)
{
    struct fxt_out to;
    const ttr_event *e = w->event;
    unsigned kind = event_kinds[e->kind];
    uint64_t last = kind == FXT_DURATION_COMPLETE ? span_end(w) : e->link;
    uint64_t ticks = fxt_ticks(w);
    uint32_t has_last = fxt_event_last_words(kind);
    if (e->flags & TTR_EVENT_NO_TIME)
        fxt_lost(w, FXT_LOST_TIME_UNKNOWN);
    struct fxt_thread thread = fxt_thread_by_id(w, e->thread);
    struct fxt_text category = fxt_text_by_id(w, e->category), name = fxt_text_by_id(w, e->name);
    uint32_t words = 2 + fxt_thread_words(&thread) + fxt_ref_words(category.ref) +
                     fxt_ref_words(name.ref) + has_last;
    fxt_args_collect(w, NULL, 0, FXT_SIZE_MAX - words);
    if (w->has_scope) {
        last = w->scope;
        has_last = 1;
        words++;
    }
    if (!fxt_record(w, &to, words + w->args_words,
                    FXT_EVENT | fxt_put(FXT_EVENT_KIND, kind) | fxt_put(FXT_EVENT_ARGS, w->args_n) |
                        fxt_put(FXT_EVENT_THREAD, thread.ref) |
                        fxt_put(FXT_EVENT_CATEGORY, category.ref) |
                        fxt_put(FXT_EVENT_NAME, name.ref)))
        return;
    fxt_word_out(&to, ticks);
    fxt_thread_out(&to, &thread);
    fxt_text_out(&to, &category);
    fxt_text_out(&to, &name);
    to.at = fxt_args_out(w, to);
    if (has_last)
        fxt_word_out(&to, last);
}

/* --- Scheduling (type 8) --- */

static uint64_t cpu_of(struct fxt_writer *w, uint32_t most)
{
    const ttr_event *e = w->event;
    if ((e->flags & TTR_EVENT_HAS_CPU) && e->cpu <= most)
        return e->cpu;
    fxt_lost(w, FXT_LOST_CPU_RANGE);
    return e->flags & TTR_EVENT_HAS_CPU ? most : 0;
}

static uint64_t state_of(struct fxt_writer *w)
{
    if (w->event->tag <= 15)
        return w->event->tag;
    fxt_lost(w, FXT_LOST_STATE);
    return TTR_THREAD_SUSPENDED;
}

/* Returns whether the legacy record can hold the switch: its fields are exactly the two priorities
 * (specification: "Context switch record"). */
static bool is_legacy(const struct fxt_writer *w, uint64_t priorities[2])
{
    static const char *const names[2] = {"outgoing_priority", "incoming_priority"};
    const ttr_event *e = w->event;
    ttr_fields fields;
    ttr_field field;
    unsigned n = 0;
    if (!(e->flags & TTR_EVENT_HAS_CPU) || e->cpu > UINT8_MAX || e->link == 0 || e->thread == 0)
        return false;
    for (ttr_fields_begin(w->out->t, e, &fields); ttr_fields_next(&fields, &field); n++) {
        if (n == 2 || field.value.type != TTR_TYPE_UINT || field.value.v.u > UINT8_MAX ||
            field.name.n != strlen(names[n]) || memcmp(field.name.p, names[n], field.name.n) != 0)
            return false;
        priorities[n] = field.value.v.u;
    }
    return n == 2;
}

static void write_legacy_switch(struct fxt_writer *w, const uint64_t priorities[2])
{
    struct fxt_out to;
    const ttr_event *e = w->event;
    uint64_t ticks = fxt_ticks(w), state = state_of(w);
    struct fxt_thread outgoing = fxt_thread_by_id(w, (ttr_id)e->link),
                      incoming = fxt_thread_by_id(w, e->thread);
    if (!fxt_record(w, &to, 2 + fxt_thread_words(&outgoing) + fxt_thread_words(&incoming),
                    FXT_SCHEDULING | fxt_put(FXT_LEGACY_CPU, e->cpu) |
                        fxt_put(FXT_LEGACY_STATE, state) |
                        fxt_put(FXT_LEGACY_OUTGOING, outgoing.ref) |
                        fxt_put(FXT_LEGACY_INCOMING, incoming.ref) |
                        fxt_put(FXT_LEGACY_OUTGOING_PRIORITY, priorities[0]) |
                        fxt_put(FXT_LEGACY_INCOMING_PRIORITY, priorities[1])))
        return;
    fxt_word_out(&to, ticks);
    fxt_thread_out(&to, &outgoing);
    fxt_thread_out(&to, &incoming);
}

static void write_switch(struct fxt_writer *w)
{
    struct fxt_out to;
    uint64_t priorities[2];
    const ttr_event *e = w->event;
    lose_places(w, NO_NAME | NO_CATEGORY);
    if (is_legacy(w, priorities)) {
        write_legacy_switch(w, priorities);
        return;
    }
    bool is_fiber = e->opcode == FXT_FIBER_SWITCH && !(e->flags & TTR_EVENT_HAS_CPU) &&
                    e->tag == TTR_THREAD_SUSPENDED;
    fxt_koid_prepare(w, (ttr_id)e->link);
    fxt_koid_prepare(w, e->thread);
    uint64_t ticks = fxt_ticks(w), outgoing = fxt_koid_by_id(w, (ttr_id)e->link),
             incoming = fxt_koid_by_id(w, e->thread);
    uint64_t header = FXT_SCHEDULING | fxt_put(FXT_SCHEDULING_KIND,
                                               is_fiber ? FXT_FIBER_SWITCH : FXT_CONTEXT_SWITCH);
    if (!is_fiber)
        header |= fxt_put(FXT_SCHEDULING_CPU, cpu_of(w, UINT16_MAX)) |
                  fxt_put(FXT_SCHEDULING_STATE, state_of(w));
    fxt_args_collect(w, NULL, 0, FXT_SIZE_MAX - 4);
    if (!fxt_record(w, &to, 4 + w->args_words, header | fxt_put(FXT_SCHEDULING_ARGS, w->args_n)))
        return;
    fxt_word_out(&to, ticks);
    fxt_word_out(&to, outgoing);
    fxt_word_out(&to, incoming);
    to.at = fxt_args_out(w, to);
}

static void write_wake(struct fxt_writer *w)
{
    struct fxt_out to;
    lose_places(w, NO_NAME | NO_CATEGORY);
    fxt_koid_prepare(w, w->event->thread);
    uint64_t ticks = fxt_ticks(w), koid = fxt_koid_by_id(w, w->event->thread),
             cpu = cpu_of(w, UINT16_MAX);
    fxt_args_collect(w, NULL, 0, FXT_SIZE_MAX - 3);
    if (!fxt_record(w, &to, 3 + w->args_words,
                    FXT_SCHEDULING | fxt_put(FXT_SCHEDULING_KIND, FXT_THREAD_WAKEUP) |
                        fxt_put(FXT_SCHEDULING_CPU, cpu) | fxt_put(FXT_SCHEDULING_ARGS, w->args_n)))
        return;
    fxt_word_out(&to, ticks);
    fxt_word_out(&to, koid);
    to.at = fxt_args_out(w, to);
}

/* --- Logs and samples --- */

static void write_log(struct fxt_writer *w)
{
    struct fxt_out to;
    struct fxt_wanted message = {.name = "message", .type = TTR_TYPE_TEXT};
    lose_places(w, NO_NAME | NO_CATEGORY);
    uint64_t ticks = fxt_ticks(w);
    struct fxt_thread thread = fxt_thread_by_id(w, w->event->thread);
    fxt_args_collect(w, &message, 1, 0);
    struct fxt_text text = fxt_text_in_place(w, message.value.text, FXT_STRING_MAX);
    if (!fxt_record(w, &to, 2 + fxt_thread_words(&thread) + fxt_ref_words(text.ref),
                    FXT_LOG | fxt_put(FXT_LOG_BYTES, text.ref & FXT_REF_LENGTH) |
                        fxt_put(FXT_LOG_THREAD, thread.ref)))
        return;
    fxt_word_out(&to, ticks);
    fxt_thread_out(&to, &thread);
    fxt_text_out(&to, &text);
}

/* Writes the words that all profiler records start with. */
static bool begin_profiler(struct fxt_writer *w, struct fxt_out *to, uint64_t header,
                           uint64_t ticks, uint64_t more_words)
{
    struct fxt_thread thread = fxt_thread_by_id(w, w->event->thread);
    if (!fxt_record(w, to, 2 + fxt_thread_words(&thread) + more_words,
                    FXT_PROFILER | header | fxt_put(FXT_PROFILER_THREAD, thread.ref)))
        return false;
    fxt_word_out(to, ticks);
    fxt_thread_out(to, &thread);
    return true;
}

static void write_sample(struct fxt_writer *w)
{
    struct fxt_out to;
    struct fxt_wanted frames = {.name = "frames", .type = TTR_TYPE_ARRAY};
    lose_places(w, NO_NAME | NO_CATEGORY);
    uint64_t ticks = fxt_ticks(w);
    fxt_args_collect(w, &frames, 1, 0);
    if (!begin_profiler(w, &to,
                        fxt_put(FXT_PROFILER_KIND, FXT_BACKTRACE) |
                            fxt_put(FXT_BACKTRACE_FRAMES, w->frames_n),
                        ticks, w->frames_n))
        return;
    for (uint32_t i = 0; i < w->frames_n; i++)
        fxt_word_out(&to, w->frames[i]);
}

/* --- Blobs (types 5 and 15) --- */

static void write_small_blob(struct fxt_writer *w, struct fxt_text name, ttr_text data)
{
    struct fxt_out to;
    if (!fxt_record(w, &to, 1 + fxt_ref_words(name.ref) + fxt_words(data.n),
                    FXT_BLOB | fxt_put(FXT_BLOB_NAME, name.ref) | fxt_put(FXT_BLOB_BYTES, data.n) |
                        fxt_put(FXT_BLOB_TYPE, w->event->tag & 255)))
        return;
    fxt_text_out(&to, &name);
    fxt_stream_out(&to, data.p, data.n);
}

/* Writes a large blob; with time, thread and category if the event has any of them. */
static void write_large_blob(struct fxt_writer *w, struct fxt_text name, ttr_text data)
{
    struct fxt_out to;
    const ttr_event *e = w->event;
    bool is_bare = (e->flags & TTR_EVENT_NO_TIME) && e->thread == 0 && w->args_n == 0;
    struct fxt_thread thread = {.ref = 1};
    uint64_t ticks = is_bare ? 0 : fxt_ticks(w);
    if (e->tag)
        fxt_lost(w, FXT_LOST_BLOB_TYPE);
    lose_places(w, is_bare ? NO_TIME : 0);
    if (!is_bare)
        thread = fxt_thread_by_id(w, e->thread);
    struct fxt_text category = fxt_text_by_id(w, e->category);
    uint64_t refs = fxt_put(FXT_LARGE_CATEGORY, category.ref) | fxt_put(FXT_LARGE_NAME, name.ref);
    uint64_t words = 3 + fxt_ref_words(category.ref) + fxt_ref_words(name.ref) + fxt_words(data.n);
    if (!is_bare) {
        refs |= fxt_put(FXT_LARGE_ARGS, w->args_n) | fxt_put(FXT_LARGE_THREAD, thread.ref);
        words += 1 + fxt_thread_words(&thread) + w->args_words;
    }
    if (!fxt_record(
            w, &to, words,
            FXT_LARGE | fxt_put(FXT_LARGE_KIND, FXT_LARGE_BLOB) |
                fxt_put(FXT_LARGE_FORMAT, is_bare ? FXT_LARGE_BARE : FXT_LARGE_WITH_METADATA)))
        return;
    fxt_word_out(&to, refs);
    fxt_text_out(&to, &category);
    fxt_text_out(&to, &name);
    if (!is_bare) {
        fxt_word_out(&to, ticks);
        fxt_thread_out(&to, &thread);
        to.at = fxt_args_out(w, to);
    }
    fxt_word_out(&to, data.n);
    fxt_stream_out(&to, data.p, data.n);
}

static void write_blob(struct fxt_writer *w)
{
    struct fxt_wanted data = {.name = "data", .type = TTR_TYPE_BYTES};
    const ttr_event *e = w->event;
    struct fxt_text name = fxt_text_by_id(w, e->name);
    fxt_args_collect(w, &data, 1, FXT_SIZE_MAX - 16 - 3 * FXT_INLINE_MAX / FXT_WORD);
    ttr_text bytes = data.value.text;
    bool fits = 1 + fxt_ref_words(name.ref) + fxt_words(bytes.n) <= FXT_SIZE_MAX && e->tag <= 255;
    bool is_plain = (e->flags & TTR_EVENT_NO_TIME) && e->opcode != FXT_LARGE && !e->category &&
                    !e->thread && w->args_n == 0;
    if (fits && is_plain)
        write_small_blob(w, name, bytes);
    else
        write_large_blob(w, name, bytes);
}

/* --- Objects (types 6, 7 and 10) --- */

/* Writes a userspace object with its owner: a registered thread, or the koid of a process in one
 * word. */
static void write_pointer(struct fxt_writer *w)
{
    struct fxt_out to;
    const ttr_event *e = w->event;
    ttr_thread owner = {0};
    struct fxt_thread thread = {0};
    lose_places(w, NO_CATEGORY | NO_TIME);
    (void)ttr_thread_get(w->out->t, e->thread, &owner);
    if (owner.tid_known)
        thread = fxt_thread_by_id(w, e->thread);
    if (owner.tid_known ? !thread.ref : e->thread == 0)
        fxt_lost(w, FXT_LOST_THREAD_NONE);
    struct fxt_text name = fxt_text_by_id(w, e->name);
    uint32_t words = 2u + (thread.ref == 0) + fxt_ref_words(name.ref);
    fxt_args_collect(w, NULL, 0, FXT_SIZE_MAX - words);
    if (!fxt_record(w, &to, words + w->args_words,
                    FXT_USERSPACE_OBJECT | fxt_put(FXT_USERSPACE_THREAD, thread.ref) |
                        fxt_put(FXT_USERSPACE_NAME, name.ref) |
                        fxt_put(FXT_USERSPACE_ARGS, w->args_n)))
        return;
    fxt_word_out(&to, e->link);
    if (!thread.ref)
        fxt_word_out(&to, owner.pid);
    fxt_text_out(&to, &name);
    to.at = fxt_args_out(w, to);
}

/* Adds the process of a thread object as an argument, unless a field contains it. */
static void add_process(struct fxt_writer *w)
{
    ttr_thread thread;
    ttr_field field;
    if (!ttr_thread_get(w->out->t, w->event->thread, &thread) || !thread.pid_known ||
        w->args_n == FXT_ARGS_MAX || ttr_field_find(w->out->t, w->event, "process", &field))
        return;
    struct fxt_argument *arg = &w->args[w->args_n++];
    *arg = (struct fxt_argument){
        .value = thread.pid,
        .name = fxt_text_in_place(w, (ttr_text){"process", 7}, FXT_INLINE_MAX)};
    arg->header = FXT_ARG_KOID | fxt_put(FXT_ARG_SIZE, 3) | fxt_put(FXT_ARG_NAME, arg->name.ref);
    w->args_words += 3;
}

static void write_kernel_object(struct fxt_writer *w, uint64_t kernel_type)
{
    struct fxt_out to;
    struct fxt_wanted type = {.name = "type", .type = TTR_TYPE_UINT};
    const ttr_event *e = w->event;
    struct fxt_text name = fxt_text_by_id(w, e->name);
    uint32_t words = 2 + fxt_ref_words(name.ref);
    fxt_args_collect(w, &type, kernel_type == 0, FXT_SIZE_MAX - words - 3);
    if (kernel_type == FXT_KERNEL_THREAD)
        add_process(w);
    if (type.found)
        kernel_type = type.value.v.u;
    if (kernel_type > 255)
        fxt_lost(w, FXT_LOST_OBJECT_ID);
    lose_places(w, NO_CATEGORY | NO_TIME |
                       (kernel_type == FXT_KERNEL_PROCESS || kernel_type == FXT_KERNEL_THREAD
                            ? 0u
                            : NO_THREAD));
    if (!fxt_record(w, &to, words + w->args_words,
                    FXT_KERNEL_OBJECT | fxt_put(FXT_KERNEL_TYPE, kernel_type & 255) |
                        fxt_put(FXT_KERNEL_NAME, name.ref) | fxt_put(FXT_KERNEL_ARGS, w->args_n)))
        return;
    fxt_word_out(&to, e->link);
    fxt_text_out(&to, &name);
    to.at = fxt_args_out(w, to);
}

/* Returns the module id; the record holds 16 bits of it. */
static uint64_t module_id(struct fxt_writer *w)
{
    if (w->event->link > UINT16_MAX)
        fxt_lost(w, FXT_LOST_OBJECT_ID);
    return w->event->link & UINT16_MAX;
}

static ttr_text cut_to_byte(struct fxt_writer *w, ttr_text text, bool is_text)
{
    if (text.n <= UINT8_MAX)
        return text;
    fxt_lost(w, FXT_LOST_TEXT);
    return (ttr_text){text.p, is_text ? utf8_cut(text.p, text.n, UINT8_MAX) : UINT8_MAX};
}

static void write_module(struct fxt_writer *w)
{
    struct fxt_out to;
    struct fxt_wanted build_id = {.name = "build_id", .type = TTR_TYPE_BYTES};
    lose_places(w, NO_CATEGORY);
    uint64_t ticks = fxt_ticks(w);
    fxt_args_collect(w, &build_id, 1, 0);
    ttr_text name = cut_to_byte(w, ttr_text_get(w->out->t, w->event->name), true);
    ttr_text id = cut_to_byte(w, build_id.value.text, false);
    uint64_t header =
        fxt_put(FXT_PROFILER_KIND, FXT_MODULE) | fxt_put(FXT_MODULE_ID, module_id(w)) |
        fxt_put(FXT_MODULE_NAME_BYTES, name.n) | fxt_put(FXT_MODULE_BUILD_ID_BYTES, id.n);
    if (!begin_profiler(w, &to, header, ticks, fxt_words(name.n) + fxt_words(id.n)))
        return;
    fxt_stream_out(&to, name.p, name.n);
    fxt_stream_out(&to, id.p, id.n);
}

static void write_mapping(struct fxt_writer *w)
{
    struct fxt_out to;
    struct fxt_wanted fields[] = {{.name = "start", .type = TTR_TYPE_UINT},
                                  {.name = "size", .type = TTR_TYPE_UINT},
                                  {.name = "address_in_module", .type = TTR_TYPE_UINT},
                                  {.name = "flags", .type = TTR_TYPE_UINT}};
    lose_places(w, NO_NAME | NO_CATEGORY);
    uint64_t ticks = fxt_ticks(w);
    fxt_args_collect(w, fields, 4, 0);
    if (fields[3].value.v.u > 7)
        fxt_lost(w, FXT_LOST_FIELD_PLACE);
    uint64_t header = fxt_put(FXT_PROFILER_KIND, FXT_MAPPING) |
                      fxt_put(FXT_MODULE_ID, module_id(w)) |
                      fxt_put(FXT_MAPPING_FLAGS, fields[3].value.v.u & 7);
    if (!begin_profiler(w, &to, header, ticks, 3))
        return;
    for (unsigned i = 0; i < 3; i++)
        fxt_word_out(&to, fields[i].value.v.u);
}

static void write_object(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    switch (e->tag) {
    case TTR_OBJECT_PROCESS:
        write_kernel_object(w, FXT_KERNEL_PROCESS);
        fxt_process_named(w, e->thread, e->name);
        return;
    case TTR_OBJECT_THREAD:
        write_kernel_object(w, FXT_KERNEL_THREAD);
        fxt_thread_named(w, e->thread, e->name);
        return;
    case TTR_OBJECT_POINTER:
        write_pointer(w);
        return;
    case TTR_OBJECT_MODULE:
        write_module(w);
        return;
    case TTR_OBJECT_MAPPING:
        write_mapping(w);
        return;
    default:
        write_kernel_object(w, 0);
        return;
    }
}

/* --- Gaps --- */

/* Writes provider event 0, "buffer filled up".  It contains the provider id, so it needs no
 * section. */
static void write_gap(struct fxt_writer *w)
{
    struct fxt_out to;
    uint32_t provider = w->target ? w->target->id : w->copied.provider;
    lose_places(w, NO_NAME | NO_CATEGORY | NO_THREAD | NO_TIME);
    if (w->event->link)
        fxt_lost(w, FXT_LOST_GAP_COUNT);
    fxt_args_collect(w, NULL, 0, 0);
    (void)fxt_record(w, &to, 1,
                     FXT_METADATA | fxt_put(FXT_METADATA_KIND, FXT_PROVIDER_EVENT) |
                         fxt_put(FXT_METADATA_PROVIDER, provider));
}

/* --- All kinds --- */

static void (*const writers[TTR_KIND_COUNT])(struct fxt_writer *) = {
    [TTR_KIND_INSTANT] = write_event,    [TTR_KIND_BEGIN] = write_event,
    [TTR_KIND_END] = write_event,        [TTR_KIND_SPAN] = write_event,
    [TTR_KIND_COUNTER] = write_event,    [TTR_KIND_ASYNC_BEGIN] = write_event,
    [TTR_KIND_ASYNC_STEP] = write_event, [TTR_KIND_ASYNC_END] = write_event,
    [TTR_KIND_FLOW_BEGIN] = write_event, [TTR_KIND_FLOW_STEP] = write_event,
    [TTR_KIND_FLOW_END] = write_event,   [TTR_KIND_SWITCH] = write_switch,
    [TTR_KIND_WAKE] = write_wake,        [TTR_KIND_SAMPLE] = write_sample,
    [TTR_KIND_LOG] = write_log,          [TTR_KIND_BLOB] = write_blob,
    [TTR_KIND_OBJECT] = write_object,    [TTR_KIND_GAP] = write_gap,
};

/* Returns whether the record of this kind stores `link`; write_gap counts that of a gap itself. */
static bool has_id(unsigned kind)
{
    const uint32_t kinds = 1u << TTR_KIND_COUNTER | 7u << TTR_KIND_ASYNC_BEGIN |
                           7u << TTR_KIND_FLOW_BEGIN | 1u << TTR_KIND_SWITCH |
                           1u << TTR_KIND_OBJECT | 1u << TTR_KIND_GAP;
    return kind < TTR_KIND_COUNT && (kinds >> kind & 1);
}

/* Counts attributes that no FXT record can hold. */
static void lose_attributes(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    bool is_scheduling = e->kind == TTR_KIND_SWITCH || e->kind == TTR_KIND_WAKE;
    if (e->level)
        fxt_lost(w, FXT_LOST_LEVEL);
    if (e->opcode && !is_scheduling && e->kind != TTR_KIND_BLOB)
        fxt_lost(w, FXT_LOST_OPCODE);
    if (e->keyword)
        fxt_lost(w, FXT_LOST_KEYWORD);
    if (e->activity || e->related)
        fxt_lost(w, FXT_LOST_ACTIVITY);
    uint32_t number, version;
    if (ttr_event_number(w->out->t, e, &number, &version))
        fxt_lost(w, FXT_LOST_NUMBER);
    if (e->sequence)
        fxt_lost(w, FXT_LOST_SEQUENCE);
    if ((e->flags & TTR_EVENT_HAS_CPU) && !is_scheduling)
        fxt_lost(w, FXT_LOST_CPU);
    if (e->link && !has_id(e->kind))
        fxt_lost(w, FXT_LOST_EVENT_ID);
    if (e->flags & TTR_EVENT_PARTIAL)
        fxt_lost(w, FXT_LOST_PARTIAL);
    if (e->flags & TTR_EVENT_BACKWARD)
        fxt_lost(w, FXT_LOST_BACKWARD);
}

void fxt_write_kind(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    const uint8_t rare = TTR_EVENT_HAS_CPU | TTR_EVENT_PARTIAL | TTR_EVENT_BACKWARD;
    if (e->level | e->opcode | (e->flags & rare) || e->keyword || e->sequence || e->activity ||
        e->related || (e->link && !has_id(e->kind)))
        lose_attributes(w);
    void (*write)(struct fxt_writer *) = e->kind < TTR_KIND_COUNT ? writers[e->kind] : NULL;
    if (write)
        write(w);
    else
        fxt_lost(w, FXT_LOST_KIND);
}
