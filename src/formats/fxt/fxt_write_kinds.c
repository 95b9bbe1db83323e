/* Writes one record for each event, by its kind (specification: "Record types"). Each function
 * resolves the refs of its record, computes its size, and appends its words in stored order.
 * Members of the event that the record cannot store become arguments; if the record has no
 * arguments, they are counted as lost. */
#include "base/utf.h"
#include "formats/fxt/fxt_write.h"

/* --- Conversion of times to ticks --- */

static uint64_t fxt_ns_to_section_ticks(struct fxt_writer *w, uint64_t ns)
{
    bool clamped = false;
    if (!w->is_inline)
        return ns;
    uint64_t base = w->copied.base_ns > 0 ? (uint64_t)w->copied.base_ns : 0;
    return w->copied.base_ticks +
           ns_to_ticks(&w->copied.clock, ns > base ? ns - base : 0, &clamped);
}

uint64_t fxt_convert_event_ticks(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    if (e->ticks != (uint64_t)e->time && e->source && !(e->flags & TTR_EVENT_NO_TIME))
        fxt_count_loss(w, FXT_LOST_TICKS);
    if (e->time >= 0)
        return fxt_ns_to_section_ticks(w, (uint64_t)e->time);
    fxt_count_loss(w, FXT_LOST_TIME_NEGATIVE);
    return 0;
}

/* --- Event members that a record cannot store --- */

/* Flags for members of the event that the type of record cannot store. */
enum unstored_member { NO_NAME = 1, NO_CATEGORY = 2, NO_THREAD = 4, NO_TIME = 8 };

static void count_lost_members(struct fxt_writer *w, unsigned places)
{
    const ttr_event *e = w->event;
    if ((places & NO_NAME) && e->name)
        fxt_count_loss(w, FXT_LOST_NAME);
    if ((places & NO_CATEGORY) && e->category)
        fxt_count_loss(w, FXT_LOST_CATEGORY);
    if ((places & NO_THREAD) && e->thread)
        fxt_count_loss(w, FXT_LOST_THREAD_PLACE);
    if (!(places & NO_TIME) && (e->flags & TTR_EVENT_NO_TIME))
        fxt_count_loss(w, FXT_LOST_TIME_UNKNOWN);
    else if ((places & NO_TIME) && !(e->flags & TTR_EVENT_NO_TIME))
        fxt_count_loss(w, FXT_LOST_TIME_PLACE);
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

/* Returns the end of a span in ticks. If the span starts before tick 0, keeps its duration. If the
 * end is above the maximum, returns the maximum. */
static uint64_t compute_span_end(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    uint64_t begin = e->time < 0 ? 0 : (uint64_t)e->time;
    if (e->duration <= INT64_MAX - begin)
        return fxt_ns_to_section_ticks(w, begin + e->duration);
    fxt_count_loss(w, FXT_LOST_SPAN_END);
    return fxt_ns_to_section_ticks(w, INT64_MAX);
}

static void write_event(struct fxt_writer *w)
{
    struct fxt_output to;
    const ttr_event *e = w->event;
    unsigned kind = event_kinds[e->kind];
    uint64_t last = kind == FXT_DURATION_COMPLETE ? compute_span_end(w) : e->link;
    uint64_t ticks = fxt_get_event_ticks(w);
    uint32_t has_last = fxt_count_event_last_words(kind);
    if (e->flags & TTR_EVENT_NO_TIME)
        fxt_count_loss(w, FXT_LOST_TIME_UNKNOWN);
    struct fxt_thread thread = fxt_get_thread_ref(w, e->thread);
    struct fxt_text category = fxt_get_string_ref(w, e->category),
                    name = fxt_get_string_ref(w, e->name);
    uint32_t words = 2 + fxt_count_thread_words(&thread) + fxt_get_inline_words(category.ref) +
                     fxt_get_inline_words(name.ref) + has_last;
    fxt_collect_args(w, NULL, 0, FXT_SIZE_MAX - words);
    if (w->has_scope) {
        last = w->scope;
        has_last = 1;
        words++;
    }
    if (!fxt_begin_record(w, &to, words + w->args_words,
                          FXT_EVENT | fxt_set_bits(FXT_EVENT_KIND, kind) |
                              fxt_set_bits(FXT_EVENT_ARGS, w->args_n) |
                              fxt_set_bits(FXT_EVENT_THREAD, thread.ref) |
                              fxt_set_bits(FXT_EVENT_CATEGORY, category.ref) |
                              fxt_set_bits(FXT_EVENT_NAME, name.ref)))
        return;
    fxt_append_word(&to, ticks);
    fxt_append_thread(&to, &thread);
    fxt_append_text(&to, &category);
    fxt_append_text(&to, &name);
    to.at = fxt_append_args(w, to);
    if (has_last)
        fxt_append_word(&to, last);
}

/* --- Scheduling records (type 8) --- */

static uint64_t get_cpu_for_record(struct fxt_writer *w, uint32_t most)
{
    const ttr_event *e = w->event;
    if ((e->flags & TTR_EVENT_HAS_CPU) && e->cpu <= most)
        return e->cpu;
    fxt_count_loss(w, FXT_LOST_CPU_RANGE);
    return e->flags & TTR_EVENT_HAS_CPU ? most : 0;
}

static uint64_t get_thread_state(struct fxt_writer *w)
{
    if (w->event->tag <= 15 && w->event->tag != TTR_THREAD_UNINTERRUPTIBLE &&
        w->event->tag != TTR_THREAD_PREEMPTED)
        return w->event->tag;
    fxt_count_loss(w, FXT_LOST_STATE);
    switch (w->event->tag) {
    case TTR_THREAD_UNINTERRUPTIBLE:
        return TTR_THREAD_BLOCKED;
    case TTR_THREAD_PREEMPTED:
        return TTR_THREAD_RUNNING;
    default:
        return TTR_THREAD_SUSPENDED;
    }
}

/* Returns true if a legacy record can store the switch: its only fields are the two priorities
 * (specification: "Context switch record"). */
static bool fits_legacy_switch(const struct fxt_writer *w, uint64_t priorities[2])
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
    struct fxt_output to;
    const ttr_event *e = w->event;
    uint64_t ticks = fxt_get_event_ticks(w), state = get_thread_state(w);
    struct fxt_thread outgoing = fxt_get_thread_ref(w, (ttr_id)e->link),
                      incoming = fxt_get_thread_ref(w, e->thread);
    if (!fxt_begin_record(w, &to,
                          2 + fxt_count_thread_words(&outgoing) + fxt_count_thread_words(&incoming),
                          FXT_SCHEDULING | fxt_set_bits(FXT_LEGACY_CPU, e->cpu) |
                              fxt_set_bits(FXT_LEGACY_STATE, state) |
                              fxt_set_bits(FXT_LEGACY_OUTGOING, outgoing.ref) |
                              fxt_set_bits(FXT_LEGACY_INCOMING, incoming.ref) |
                              fxt_set_bits(FXT_LEGACY_OUTGOING_PRIORITY, priorities[0]) |
                              fxt_set_bits(FXT_LEGACY_INCOMING_PRIORITY, priorities[1])))
        return;
    fxt_append_word(&to, ticks);
    fxt_append_thread(&to, &outgoing);
    fxt_append_thread(&to, &incoming);
}

static void write_switch(struct fxt_writer *w)
{
    struct fxt_output to;
    uint64_t priorities[2];
    const ttr_event *e = w->event;
    count_lost_members(w, NO_NAME | NO_CATEGORY);
    if (fits_legacy_switch(w, priorities)) {
        write_legacy_switch(w, priorities);
        return;
    }
    bool is_fiber = e->opcode == FXT_FIBER_SWITCH && !(e->flags & TTR_EVENT_HAS_CPU) &&
                    e->tag == TTR_THREAD_SUSPENDED;
    fxt_prepare_koid(w, (ttr_id)e->link);
    fxt_prepare_koid(w, e->thread);
    uint64_t ticks = fxt_get_event_ticks(w), outgoing = fxt_get_thread_koid(w, (ttr_id)e->link),
             incoming = fxt_get_thread_koid(w, e->thread);
    uint64_t header =
        FXT_SCHEDULING |
        fxt_set_bits(FXT_SCHEDULING_KIND, is_fiber ? FXT_FIBER_SWITCH : FXT_CONTEXT_SWITCH);
    if (!is_fiber)
        header |= fxt_set_bits(FXT_SCHEDULING_CPU, get_cpu_for_record(w, UINT16_MAX)) |
                  fxt_set_bits(FXT_SCHEDULING_STATE, get_thread_state(w));
    fxt_collect_args(w, NULL, 0, FXT_SIZE_MAX - 4);
    if (!fxt_begin_record(w, &to, 4 + w->args_words,
                          header | fxt_set_bits(FXT_SCHEDULING_ARGS, w->args_n)))
        return;
    fxt_append_word(&to, ticks);
    fxt_append_word(&to, outgoing);
    fxt_append_word(&to, incoming);
    to.at = fxt_append_args(w, to);
}

static void write_wake(struct fxt_writer *w)
{
    struct fxt_output to;
    count_lost_members(w, NO_NAME | NO_CATEGORY);
    fxt_prepare_koid(w, w->event->thread);
    uint64_t ticks = fxt_get_event_ticks(w), koid = fxt_get_thread_koid(w, w->event->thread),
             cpu = get_cpu_for_record(w, UINT16_MAX);
    fxt_collect_args(w, NULL, 0, FXT_SIZE_MAX - 3);
    if (!fxt_begin_record(w, &to, 3 + w->args_words,
                          FXT_SCHEDULING | fxt_set_bits(FXT_SCHEDULING_KIND, FXT_THREAD_WAKEUP) |
                              fxt_set_bits(FXT_SCHEDULING_CPU, cpu) |
                              fxt_set_bits(FXT_SCHEDULING_ARGS, w->args_n)))
        return;
    fxt_append_word(&to, ticks);
    fxt_append_word(&to, koid);
    to.at = fxt_append_args(w, to);
}

/* --- Log and sample records --- */

static void write_log(struct fxt_writer *w)
{
    struct fxt_output to;
    struct fxt_wanted_field message = {.name = "message", .type = TTR_TYPE_TEXT};
    count_lost_members(w, NO_NAME | NO_CATEGORY);
    uint64_t ticks = fxt_get_event_ticks(w);
    struct fxt_thread thread = fxt_get_thread_ref(w, w->event->thread);
    fxt_collect_args(w, &message, 1, 0);
    struct fxt_text text = fxt_inline_text(w, message.value.text, FXT_STRING_MAX);
    if (!fxt_begin_record(w, &to,
                          2 + fxt_count_thread_words(&thread) + fxt_get_inline_words(text.ref),
                          FXT_LOG | fxt_set_bits(FXT_LOG_BYTES, text.ref & FXT_REF_LENGTH) |
                              fxt_set_bits(FXT_LOG_THREAD, thread.ref)))
        return;
    fxt_append_word(&to, ticks);
    fxt_append_thread(&to, &thread);
    fxt_append_text(&to, &text);
}

/* Writes the first words of a profiler record: header, time and thread. Returns false if memory is
 * out. */
static bool begin_profiler_record(struct fxt_writer *w, struct fxt_output *to, uint64_t header,
                                  uint64_t ticks, uint64_t more_words)
{
    struct fxt_thread thread = fxt_get_thread_ref(w, w->event->thread);
    if (!fxt_begin_record(w, to, 2 + fxt_count_thread_words(&thread) + more_words,
                          FXT_PROFILER | header | fxt_set_bits(FXT_PROFILER_THREAD, thread.ref)))
        return false;
    fxt_append_word(to, ticks);
    fxt_append_thread(to, &thread);
    return true;
}

/* Returns true if a sample has a field of ttr_stack_fields. */
static bool has_stack_field(const struct fxt_writer *w)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(w->out->t, w->event, &fields);
    while (ttr_fields_next(&fields, &field))
        if (fxt_is_stack_field(&field))
            return true;
    return false;
}

/* Writes a sample as an instant, which keeps its name and its fields. The reader recognizes it by
 * its category. */
static void write_sample_event(struct fxt_writer *w)
{
    const ttr_event *sample = w->event;
    ttr_event event = *sample;
    if (!w->sample_category)
        w->sample_category =
            ttr_text_add(w->out->t, FXT_SAMPLE_CATEGORY, strlen(FXT_SAMPLE_CATEGORY));
    if (event.category && event.category != w->sample_category)
        fxt_count_loss(w, FXT_LOST_CATEGORY);
    event.kind = TTR_KIND_INSTANT;
    event.category = w->sample_category;
    w->event = &event;
    write_event(w);
    w->event = sample;
}

static void write_sample(struct fxt_writer *w)
{
    struct fxt_output to;
    if (has_stack_field(w)) {
        write_sample_event(w);
        return;
    }
    struct fxt_wanted_field frames = {.name = "frames", .type = TTR_TYPE_ARRAY};
    count_lost_members(w, NO_NAME | NO_CATEGORY);
    uint64_t ticks = fxt_get_event_ticks(w);
    fxt_collect_args(w, &frames, 1, 0);
    if (!begin_profiler_record(w, &to,
                               fxt_set_bits(FXT_PROFILER_KIND, FXT_BACKTRACE) |
                                   fxt_set_bits(FXT_BACKTRACE_FRAMES, w->frames_n),
                               ticks, w->frames_n))
        return;
    for (uint32_t i = 0; i < w->frames_n; i++)
        fxt_append_word(&to, w->frames[i]);
}

/* --- Blob records (types 5 and 15) --- */

static void write_small_blob(struct fxt_writer *w, struct fxt_text name, ttr_text data)
{
    struct fxt_output to;
    if (!fxt_begin_record(w, &to, 1 + fxt_get_inline_words(name.ref) + fxt_words_for_bytes(data.n),
                          FXT_BLOB | fxt_set_bits(FXT_BLOB_NAME, name.ref) |
                              fxt_set_bits(FXT_BLOB_BYTES, data.n) |
                              fxt_set_bits(FXT_BLOB_TYPE, w->event->tag & 255)))
        return;
    fxt_append_text(&to, &name);
    fxt_append_stream(&to, data.p, data.n);
}

/* Writes a large blob; with time, thread and category if the event has any of these. */
static void write_large_blob(struct fxt_writer *w, struct fxt_text name, ttr_text data)
{
    struct fxt_output to;
    const ttr_event *e = w->event;
    bool is_bare = (e->flags & TTR_EVENT_NO_TIME) && e->thread == 0 && w->args_n == 0;
    struct fxt_thread thread = {.ref = 1};
    uint64_t ticks = is_bare ? 0 : fxt_get_event_ticks(w);
    if (e->tag)
        fxt_count_loss(w, FXT_LOST_BLOB_TYPE);
    count_lost_members(w, is_bare ? NO_TIME : 0);
    if (!is_bare)
        thread = fxt_get_thread_ref(w, e->thread);
    struct fxt_text category = fxt_get_string_ref(w, e->category);
    uint64_t refs =
        fxt_set_bits(FXT_LARGE_CATEGORY, category.ref) | fxt_set_bits(FXT_LARGE_NAME, name.ref);
    uint64_t words = 3 + fxt_get_inline_words(category.ref) + fxt_get_inline_words(name.ref) +
                     fxt_words_for_bytes(data.n);
    if (!is_bare) {
        refs |=
            fxt_set_bits(FXT_LARGE_ARGS, w->args_n) | fxt_set_bits(FXT_LARGE_THREAD, thread.ref);
        words += 1 + fxt_count_thread_words(&thread) + w->args_words;
    }
    if (!fxt_begin_record(
            w, &to, words,
            FXT_LARGE | fxt_set_bits(FXT_LARGE_KIND, FXT_LARGE_BLOB) |
                fxt_set_bits(FXT_LARGE_FORMAT, is_bare ? FXT_LARGE_BARE : FXT_LARGE_WITH_METADATA)))
        return;
    fxt_append_word(&to, refs);
    fxt_append_text(&to, &category);
    fxt_append_text(&to, &name);
    if (!is_bare) {
        fxt_append_word(&to, ticks);
        fxt_append_thread(&to, &thread);
        to.at = fxt_append_args(w, to);
    }
    fxt_append_word(&to, data.n);
    fxt_append_stream(&to, data.p, data.n);
}

static void write_blob(struct fxt_writer *w)
{
    struct fxt_wanted_field data = {.name = "data", .type = TTR_TYPE_BYTES};
    const ttr_event *e = w->event;
    struct fxt_text name = fxt_get_string_ref(w, e->name);
    fxt_collect_args(w, &data, 1, FXT_SIZE_MAX - 16 - 3 * FXT_INLINE_MAX / FXT_WORD_BYTES);
    ttr_text bytes = data.value.text;
    bool fits = 1 + fxt_get_inline_words(name.ref) + fxt_words_for_bytes(bytes.n) <= FXT_SIZE_MAX &&
                e->tag <= 255;
    bool is_plain = (e->flags & TTR_EVENT_NO_TIME) && e->opcode != FXT_LARGE && !e->category &&
                    !e->thread && w->args_n == 0;
    if (fits && is_plain)
        write_small_blob(w, name, bytes);
    else
        write_large_blob(w, name, bytes);
}

/* --- Object records (types 6, 7 and 10) --- */

/* Writes a userspace object and its owner: a thread ref, or the koid of a process in one word. */
static void write_pointer(struct fxt_writer *w)
{
    struct fxt_output to;
    const ttr_event *e = w->event;
    ttr_thread owner = {0};
    struct fxt_thread thread = {0};
    count_lost_members(w, NO_CATEGORY | NO_TIME);
    (void)ttr_thread_get(w->out->t, e->thread, &owner);
    if (owner.tid_known)
        thread = fxt_get_thread_ref(w, e->thread);
    if (owner.tid_known ? !thread.ref : e->thread == 0)
        fxt_count_loss(w, FXT_LOST_THREAD_NONE);
    struct fxt_text name = fxt_get_string_ref(w, e->name);
    uint32_t words = 2u + (thread.ref == 0) + fxt_get_inline_words(name.ref);
    fxt_collect_args(w, NULL, 0, FXT_SIZE_MAX - words);
    if (!fxt_begin_record(w, &to, words + w->args_words,
                          FXT_USERSPACE_OBJECT | fxt_set_bits(FXT_USERSPACE_THREAD, thread.ref) |
                              fxt_set_bits(FXT_USERSPACE_NAME, name.ref) |
                              fxt_set_bits(FXT_USERSPACE_ARGS, w->args_n)))
        return;
    fxt_append_word(&to, e->link);
    if (!thread.ref)
        fxt_append_word(&to, owner.pid);
    fxt_append_text(&to, &name);
    to.at = fxt_append_args(w, to);
}

/* Adds the process koid of a thread object as argument "process", unless the event has such a
 * field. */
static void add_process_argument(struct fxt_writer *w)
{
    ttr_thread thread;
    ttr_field field;
    if (!ttr_thread_get(w->out->t, w->event->thread, &thread) || !thread.pid_known ||
        w->args_n == FXT_ARGS_MAX || ttr_field_find(w->out->t, w->event, "process", &field))
        return;
    struct fxt_argument *arg = &w->args[w->args_n++];
    *arg = (struct fxt_argument){
        .value = thread.pid, .name = fxt_inline_text(w, (ttr_text){"process", 7}, FXT_INLINE_MAX)};
    arg->header =
        FXT_ARG_KOID | fxt_set_bits(FXT_ARG_SIZE, 3) | fxt_set_bits(FXT_ARG_NAME, arg->name.ref);
    w->args_words += 3;
}

static void write_kernel_object(struct fxt_writer *w, uint64_t kernel_type)
{
    struct fxt_output to;
    struct fxt_wanted_field type = {.name = "type", .type = TTR_TYPE_UINT};
    const ttr_event *e = w->event;
    struct fxt_text name = fxt_get_string_ref(w, e->name);
    uint32_t words = 2 + fxt_get_inline_words(name.ref);
    fxt_collect_args(w, &type, kernel_type == 0, FXT_SIZE_MAX - words - 3);
    if (kernel_type == FXT_KERNEL_THREAD)
        add_process_argument(w);
    if (type.found)
        kernel_type = type.value.v.u;
    if (kernel_type > 255)
        fxt_count_loss(w, FXT_LOST_OBJECT_ID);
    count_lost_members(w, NO_CATEGORY | NO_TIME |
                              (kernel_type == FXT_KERNEL_PROCESS || kernel_type == FXT_KERNEL_THREAD
                                   ? 0u
                                   : NO_THREAD));
    if (!fxt_begin_record(w, &to, words + w->args_words,
                          FXT_KERNEL_OBJECT | fxt_set_bits(FXT_KERNEL_TYPE, kernel_type & 255) |
                              fxt_set_bits(FXT_KERNEL_NAME, name.ref) |
                              fxt_set_bits(FXT_KERNEL_ARGS, w->args_n)))
        return;
    fxt_append_word(&to, e->link);
    fxt_append_text(&to, &name);
    to.at = fxt_append_args(w, to);
}

/* Returns the id of the event's module. Counts a loss if it needs more than the 16 bits in the
 * record. */
static uint64_t get_module_id(struct fxt_writer *w)
{
    if (w->event->link > UINT16_MAX)
        fxt_count_loss(w, FXT_LOST_OBJECT_ID);
    return w->event->link & UINT16_MAX;
}

static ttr_text truncate_to_byte_length(struct fxt_writer *w, ttr_text text, bool is_text)
{
    if (text.n <= UINT8_MAX)
        return text;
    fxt_count_loss(w, FXT_LOST_TEXT);
    return (ttr_text){text.p,
                      is_text ? utf8_truncated_length(text.p, text.n, UINT8_MAX) : UINT8_MAX};
}

static void write_module(struct fxt_writer *w)
{
    struct fxt_output to;
    struct fxt_wanted_field build_id = {.name = "build_id", .type = TTR_TYPE_BYTES};
    count_lost_members(w, NO_CATEGORY);
    uint64_t ticks = fxt_get_event_ticks(w);
    fxt_collect_args(w, &build_id, 1, 0);
    ttr_text name = truncate_to_byte_length(w, ttr_text_get(w->out->t, w->event->name), true);
    ttr_text id = truncate_to_byte_length(w, build_id.value.text, false);
    uint64_t header = fxt_set_bits(FXT_PROFILER_KIND, FXT_MODULE) |
                      fxt_set_bits(FXT_MODULE_ID, get_module_id(w)) |
                      fxt_set_bits(FXT_MODULE_NAME_BYTES, name.n) |
                      fxt_set_bits(FXT_MODULE_BUILD_ID_BYTES, id.n);
    if (!begin_profiler_record(w, &to, header, ticks,
                               fxt_words_for_bytes(name.n) + fxt_words_for_bytes(id.n)))
        return;
    fxt_append_stream(&to, name.p, name.n);
    fxt_append_stream(&to, id.p, id.n);
}

static void write_mapping(struct fxt_writer *w)
{
    struct fxt_output to;
    struct fxt_wanted_field fields[] = {{.name = "start", .type = TTR_TYPE_UINT},
                                        {.name = "size", .type = TTR_TYPE_UINT},
                                        {.name = "address_in_module", .type = TTR_TYPE_UINT},
                                        {.name = "flags", .type = TTR_TYPE_UINT}};
    count_lost_members(w, NO_NAME | NO_CATEGORY);
    uint64_t ticks = fxt_get_event_ticks(w);
    fxt_collect_args(w, fields, 4, 0);
    if (fields[3].value.v.u > 7)
        fxt_count_loss(w, FXT_LOST_FIELD_PLACE);
    uint64_t header = fxt_set_bits(FXT_PROFILER_KIND, FXT_MAPPING) |
                      fxt_set_bits(FXT_MODULE_ID, get_module_id(w)) |
                      fxt_set_bits(FXT_MAPPING_FLAGS, fields[3].value.v.u & 7);
    if (!begin_profiler_record(w, &to, header, ticks, 3))
        return;
    for (unsigned i = 0; i < 3; i++)
        fxt_append_word(&to, fields[i].value.v.u);
}

/* Writes a mapping. One without a module is a description of another format. */
static void write_mapping_or_object(struct fxt_writer *w)
{
    ttr_field field;
    if (ttr_field_find(w->out->t, w->event, "path", &field))
        write_kernel_object(w, 0);
    else
        write_mapping(w);
}

static void write_object(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    switch (e->tag) {
    case TTR_OBJECT_PROCESS:
        write_kernel_object(w, FXT_KERNEL_PROCESS);
        fxt_record_process_name(w, e->thread, e->name);
        return;
    case TTR_OBJECT_THREAD:
        write_kernel_object(w, FXT_KERNEL_THREAD);
        fxt_record_thread_name(w, e->thread, e->name);
        return;
    case TTR_OBJECT_POINTER:
        write_pointer(w);
        return;
    case TTR_OBJECT_MODULE:
        write_module(w);
        return;
    case TTR_OBJECT_MAPPING:
        write_mapping_or_object(w);
        return;
    default:
        write_kernel_object(w, 0);
        return;
    }
}

/* --- Gap records --- */

/* Writes provider event 0, "buffer filled up". It contains the id of the provider, so it needs no
 * section record. */
static void write_gap(struct fxt_writer *w)
{
    struct fxt_output to;
    uint32_t provider = w->target ? w->target->id : w->copied.provider;
    count_lost_members(w, NO_NAME | NO_CATEGORY | NO_THREAD | NO_TIME);
    if (w->event->link)
        fxt_count_loss(w, FXT_LOST_GAP_COUNT);
    fxt_collect_args(w, NULL, 0, 0);
    (void)fxt_begin_record(w, &to, 1,
                           FXT_METADATA | fxt_set_bits(FXT_METADATA_KIND, FXT_PROVIDER_EVENT) |
                               fxt_set_bits(FXT_METADATA_PROVIDER, provider));
}

/* --- Table of write functions by event kind --- */

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

/* Returns true if records for this kind of event store event->link. Also for gaps, because
 * write_gap counts the loss itself. */
static bool record_has_link(unsigned kind)
{
    const uint32_t kinds = 1u << TTR_KIND_COUNTER | 7u << TTR_KIND_ASYNC_BEGIN |
                           7u << TTR_KIND_FLOW_BEGIN | 1u << TTR_KIND_SWITCH |
                           1u << TTR_KIND_OBJECT | 1u << TTR_KIND_GAP;
    return kind < TTR_KIND_COUNT && (kinds >> kind & 1);
}

/* Counts the losses of event members that no FXT record can store. */
static void count_lost_attributes(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    bool is_scheduling = e->kind == TTR_KIND_SWITCH || e->kind == TTR_KIND_WAKE;
    if (e->level)
        fxt_count_loss(w, FXT_LOST_LEVEL);
    if (e->opcode && !is_scheduling && e->kind != TTR_KIND_BLOB)
        fxt_count_loss(w, FXT_LOST_OPCODE);
    if (e->keyword)
        fxt_count_loss(w, FXT_LOST_KEYWORD);
    if (e->activity || e->related)
        fxt_count_loss(w, FXT_LOST_ACTIVITY);
    uint32_t number, version;
    if (ttr_event_number(w->out->t, e, &number, &version))
        fxt_count_loss(w, FXT_LOST_NUMBER);
    if (e->sequence)
        fxt_count_loss(w, FXT_LOST_SEQUENCE);
    if ((e->flags & TTR_EVENT_HAS_CPU) && !is_scheduling)
        fxt_count_loss(w, FXT_LOST_CPU);
    if (e->link && !record_has_link(e->kind))
        fxt_count_loss(w, FXT_LOST_EVENT_ID);
    if (e->flags & TTR_EVENT_PARTIAL)
        fxt_count_loss(w, FXT_LOST_PARTIAL);
    if (e->flags & TTR_EVENT_BACKWARD)
        fxt_count_loss(w, FXT_LOST_BACKWARD);
}

void fxt_write_event_record(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    const uint8_t rare = TTR_EVENT_HAS_CPU | TTR_EVENT_PARTIAL | TTR_EVENT_BACKWARD;
    if (e->level | e->opcode | (e->flags & rare) || e->keyword || e->sequence || e->activity ||
        e->related || (e->link && !record_has_link(e->kind)))
        count_lost_attributes(w);
    void (*write)(struct fxt_writer *) = e->kind < TTR_KIND_COUNT ? writers[e->kind] : NULL;
    if (write)
        write(w);
    else
        fxt_count_loss(w, FXT_LOST_KIND);
}
