/* Converts all FXT records except events: each is applied to the tables or emitted as an event.
 * Each function first measures the record (fxt_measure.c). If the size in the header differs from
 * that of the content, it returns FXT_BAD_SIZE and changes nothing. Records that only define
 * something are emitted as TTR_KIND_DEFINITION, if definitions are wanted.
 *
 * Left out: joining blobs of one name, and any use of objects other than naming processes and
 * threads. */
#include "formats/fxt/fxt_read.h"

#include "base/cursor.h"
#include "base/status.h"

static enum fxt_convert_result fail_out_of_memory(struct fxt_reader *reader)
{
    (void)fail_memory(reader->error);
    return FXT_FAILED;
}

static enum fxt_convert_result emit_as_definition(struct fxt_reader *reader,
                                                  const struct fxt_record *record)
{
    fxt_emit_definition(reader, record->bytes, (size_t)record->words * FXT_WORD_BYTES,
                        record->offset);
    return FXT_CONVERTED;
}

/* Measures the record. Returns false if header and content have different sizes, unless the reader
 * has accepted this. */
static bool measure_record(const struct fxt_reader *reader, const struct fxt_record *record,
                           struct fxt_record_shape *shape)
{
    struct fxt_span span = {record->bytes, record->words, reader->common.is_big};
    fxt_measure_record(&span, record->words, shape);
    return (shape->total == record->words && !shape->is_cut) || record->is_accepted;
}

/* Adds an event to the batch, and sets the members that are equal for all types of records. */
static ttr_event *add_event_of_record(struct fxt_reader *reader, const struct fxt_record *record,
                                      const struct fxt_record_shape *shape, ttr_kind kind)
{
    ttr_event *event = input_add_event(reader->in);
    event->kind = (uint8_t)kind;
    event->flags = TTR_EVENT_RAW;
    if (shape->total > record->words || shape->is_cut || shape->is_broken)
        event->flags |= TTR_EVENT_PARTIAL;
    event->payload = record->bytes;
    event->payload_size = record->words * FXT_WORD_BYTES;
    event->body = (uint32_t)shape->body * FXT_WORD_BYTES;
    event->schema = reader->provider->schema;
    event->provider = reader->provider->name;
    event->track = reader->provider->track;
    event->offset = record->offset;
    reader->has_fields = true;
    return event;
}

static void set_event_time(struct fxt_reader *reader, ttr_event *event, uint64_t ticks)
{
    bool clamped = false;
    event->ticks = ticks;
    event->time = reader->last_time = fxt_ticks_to_ns(reader->provider, ticks, &clamped);
    if (clamped)
        event->flags |= TTR_EVENT_CLAMPED;
}

static void set_event_without_time(const struct fxt_reader *reader, ttr_event *event)
{
    event->time = reader->last_time;
    event->flags |= TTR_EVENT_NO_TIME;
}

/* --- Metadata records --- */

static enum fxt_convert_result convert_provider_info(struct fxt_reader *reader,
                                                     const struct fxt_record *record)
{
    struct cursor at =
        cursor_init(record->bytes, (size_t)record->words * FXT_WORD_BYTES, record->offset);
    uint64_t n = fxt_get_bits(record->header, FXT_METADATA_NAME_BYTES);
    (void)cursor_skip(&at, FXT_WORD_BYTES);
    const uint8_t *text = cursor_read_bytes(&at, n);
    if (!text)
        return FXT_BAD_SIZE;
    bool is_new;
    ttr_id name = ttr_text_add(reader->common.t, text, (size_t)n);
    if ((name == 0 && n) ||
        !fxt_provider_select(reader, (uint32_t)fxt_get_bits(record->header, FXT_METADATA_PROVIDER),
                             &is_new))
        return fail_out_of_memory(reader);
    fxt_provider_set_name(reader, name);
    return emit_as_definition(reader, record);
}

static enum fxt_convert_result convert_provider_section(struct fxt_reader *reader,
                                                        const struct fxt_record *record)
{
    uint32_t id = (uint32_t)fxt_get_bits(record->header, FXT_METADATA_PROVIDER);
    bool is_new;
    if (!fxt_provider_select(reader, id, &is_new))
        return fail_out_of_memory(reader);
    if (is_new)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, record->offset, "fxt.unknown-provider",
            "a section of provider %u, which no record before it introduces; its tables "
            "begin empty",
            id);
    return emit_as_definition(reader, record);
}

static enum fxt_convert_result convert_provider_event(struct fxt_reader *reader,
                                                      const struct fxt_record *record,
                                                      const struct fxt_record_shape *shape)
{
    unsigned what = (unsigned)fxt_get_bits(record->header, FXT_METADATA_EVENT);
    if (what != 0) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, record->offset, "fxt.provider-event",
                             "provider event %u, only 0 is known", what);
        return emit_as_definition(reader, record);
    }
    /* the record may be about another provider, so restore the current one afterwards */
    struct fxt_provider *current = reader->provider;
    bool is_new;
    if (!fxt_provider_select(reader, (uint32_t)fxt_get_bits(record->header, FXT_METADATA_PROVIDER),
                             &is_new))
        return fail_out_of_memory(reader);
    ttr_event *event = add_event_of_record(reader, record, shape, TTR_KIND_GAP);
    if (reader->lost_end == record->offset)
        event->link = reader->lost;
    set_event_without_time(reader, event);
    reader->provider = current;
    return FXT_CONVERTED;
}

static enum fxt_convert_result convert_metadata(struct fxt_reader *reader,
                                                const struct fxt_record *record)
{
    struct fxt_record_shape shape;
    if (!measure_record(reader, record, &shape) || (!shape.is_known && !record->is_accepted))
        return FXT_BAD_SIZE;
    switch (fxt_get_bits(record->header, FXT_METADATA_KIND)) {
    case FXT_PROVIDER_INFO:
        return convert_provider_info(reader, record);
    case FXT_PROVIDER_SECTION:
        return convert_provider_section(reader, record);
    case FXT_PROVIDER_EVENT:
        return convert_provider_event(reader, record, &shape);
    case FXT_TRACE_INFO:
        if (record->header != FXT_MAGIC)
            input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, record->offset, "fxt.trace-info",
                                 "trace info of an unknown type; kept, not used");
        return emit_as_definition(reader, record);
    default:
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, record->offset,
                             "fxt.unknown-metadata",
                             "metadata of type %u, known are 1 to 4; skipped",
                             (unsigned)fxt_get_bits(record->header, FXT_METADATA_KIND));
        return emit_as_definition(reader, record);
    }
}

/* --- Records that define the clock, strings and threads --- */

static enum fxt_convert_result convert_initialization(struct fxt_reader *reader,
                                                      const struct fxt_record *record)
{
    bool is_usual = record->words == FXT_INITIALIZATION_WORDS ||
                    record->words == FXT_INITIALIZATION_WORDS_ANCHORED;
    if (!is_usual && !(record->is_accepted && record->words > FXT_INITIALIZATION_WORDS))
        return FXT_BAD_SIZE;
    uint64_t frequency = fxt_load_record_word(reader, record, 1);
    if (frequency)
        fxt_provider_set_clock(reader, frequency);
    else
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, record->offset, "fxt.no-frequency",
                             "0 ticks per second; the rate before is kept");
    if (record->words >= FXT_INITIALIZATION_WORDS_ANCHORED)
        fxt_provider_set_clock_reference(reader, fxt_load_record_word(reader, record, 2),
                                         (int64_t)fxt_load_record_word(reader, record, 3));
    return emit_as_definition(reader, record);
}

/* If `text` is the name of an attribute, remembers that the provider uses it. */
static void remember_attribute_name(struct fxt_reader *reader, const uint8_t *text, size_t n,
                                    ttr_id id)
{
    static const char *const names[FXT_ATTRIBUTES] = {
        [FXT_ATTRIBUTE_LEVEL] = "tracetta.level",
        [FXT_ATTRIBUTE_KEYWORD] = "tracetta.keyword",
        [FXT_ATTRIBUTE_OPCODE] = "tracetta.opcode",
    };
    for (size_t i = 0; i < FXT_ATTRIBUTES; i++)
        if (n == strlen(names[i]) && memcmp(text, names[i], n) == 0) {
            reader->attribute[i] = id;
            reader->provider->has_attributes = true;
        }
}

static enum fxt_convert_result convert_string(struct fxt_reader *reader,
                                              const struct fxt_record *record)
{
    uint32_t index = (uint32_t)fxt_get_bits(record->header, FXT_STRING_INDEX);
    uint64_t n = fxt_get_bits(record->header, FXT_STRING_BYTES);
    if (1 + fxt_words_for_bytes(n) != record->words &&
        !(record->is_accepted && fxt_words_for_bytes(n) < record->words))
        return FXT_BAD_SIZE;
    if (index == 0) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, record->offset, "fxt.string-zero",
                             "a definition of string 0, which is always empty; ignored");
        return emit_as_definition(reader, record);
    }
    ttr_id text = ttr_text_add(reader->common.t, record->bytes + FXT_WORD_BYTES, (size_t)n);
    if (text == 0 && n)
        return fail_out_of_memory(reader);
    bool is_same = fxt_find_string_slot(reader->provider, index) == ~text;
    if (!is_same && reader->has_fields)
        return FXT_END_BATCH;
    if (!is_same && !fxt_provider_set_string(reader, index, text))
        return fail_out_of_memory(reader);
    remember_attribute_name(reader, record->bytes + FXT_WORD_BYTES, (size_t)n, text);
    return emit_as_definition(reader, record);
}

/* Events refer to threads by id, so events of the current batch keep their thread if an index is
 * redefined. */
static enum fxt_convert_result convert_thread(struct fxt_reader *reader,
                                              const struct fxt_record *record)
{
    uint32_t index = (uint32_t)fxt_get_bits(record->header, FXT_THREAD_INDEX);
    if (record->words != FXT_THREAD_WORDS &&
        !(record->is_accepted && record->words > FXT_THREAD_WORDS))
        return FXT_BAD_SIZE;
    if (index == 0) {
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, record->offset, "fxt.thread-zero",
            "a definition of thread 0, which is reserved for inline threads; ignored");
        return emit_as_definition(reader, record);
    }
    ttr_id thread =
        context_thread(reader->common.t, reader->in->id, fxt_load_record_word(reader, record, 1),
                       fxt_load_record_word(reader, record, 2));
    if (thread == 0 || !fxt_provider_set_thread(reader, index, thread))
        return fail_out_of_memory(reader);
    return emit_as_definition(reader, record);
}

/* --- Records for objects and blobs --- */

/* Returns true if a blob belongs to the index of an archive. */
static bool is_index_blob(const struct fxt_reader *reader, const struct fxt_record *record)
{
    if (reader->common.is_big || record->words < 3 ||
        fxt_get_bits(record->header, FXT_BLOB_NAME) != (FXT_REF_INLINE | FXT_INDEX_NAME_BYTES))
        return false;
    const uint64_t end = fxt_load_record_word(reader, record, 2);
    return fxt_load_record_word(reader, record, 1) == FXT_INDEX_NAME_START &&
           (end == FXT_INDEX_ENTRIES || end == FXT_INDEX_LOCATOR);
}

static enum fxt_convert_result convert_blob(struct fxt_reader *reader,
                                            const struct fxt_record *record)
{
    struct fxt_record_shape shape;
    ttr_id name;
    if (!measure_record(reader, record, &shape))
        return FXT_BAD_SIZE;
    if (is_index_blob(reader, record))
        return emit_as_definition(reader, record);
    enum fxt_convert_result result = fxt_resolve_string(
        reader, record, (uint32_t)fxt_get_bits(record->header, FXT_BLOB_NAME), 1, &name);
    if (result != FXT_CONVERTED)
        return result;
    ttr_event *event = add_event_of_record(reader, record, &shape, TTR_KIND_BLOB);
    event->name = name;
    event->tag = (uint16_t)fxt_get_bits(record->header, FXT_BLOB_TYPE);
    set_event_without_time(reader, event);
    return FXT_CONVERTED;
}

/* Finds the owner of a userspace object: a thread, by its index or two inline words; or a process,
 * by one inline word. */
static enum fxt_convert_result resolve_object_owner(struct fxt_reader *reader,
                                                    const struct fxt_record *record,
                                                    const struct fxt_record_shape *shape,
                                                    ttr_id *id)
{
    uint32_t ref = (uint32_t)fxt_get_bits(record->header, FXT_USERSPACE_THREAD);
    if (ref || shape->inline_words == 2)
        return fxt_resolve_thread(reader, record, ref, 2, id);
    *id = context_process_thread(reader->common.t, reader->in->id,
                                 fxt_load_record_word(reader, record, 2));
    return *id ? FXT_CONVERTED : fail_out_of_memory(reader);
}

static enum fxt_convert_result convert_userspace_object(struct fxt_reader *reader,
                                                        const struct fxt_record *record)
{
    struct fxt_record_shape shape;
    ttr_id owner, name;
    if (!measure_record(reader, record, &shape))
        return FXT_BAD_SIZE;
    enum fxt_convert_result result = resolve_object_owner(reader, record, &shape, &owner);
    if (result == FXT_CONVERTED)
        result = fxt_resolve_string(reader, record,
                                    (uint32_t)fxt_get_bits(record->header, FXT_USERSPACE_NAME),
                                    2 + shape.inline_words, &name);
    if (result != FXT_CONVERTED)
        return result;
    ttr_event *event = add_event_of_record(reader, record, &shape, TTR_KIND_OBJECT);
    event->name = name;
    event->thread = owner;
    event->link = fxt_load_record_word(reader, record, 1);
    event->tag = TTR_OBJECT_POINTER;
    set_event_without_time(reader, event);
    return FXT_CONVERTED;
}

/* Returns the koid of a thread object's process, which is its argument "process"; 0 if missing. */
static uint64_t find_process_argument(const struct fxt_reader *reader, const ttr_event *event)
{
    ttr_field field;
    if (!ttr_field_find(reader->common.t, event, "process", &field))
        return 0;
    return field.value.type == TTR_TYPE_UINT || field.value.type == TTR_TYPE_INT ? field.value.v.u
                                                                                 : 0;
}

/* Sets the name of the process or thread that an object record describes, and the thread of the
 * event. Returns false if memory runs out. */
static bool set_names_from_kernel_object(struct fxt_reader *reader, ttr_event *event, uint64_t type)
{
    ttr *t = reader->common.t;
    uint16_t source = reader->in->id;
    if (type == FXT_KERNEL_PROCESS) {
        event->tag = TTR_OBJECT_PROCESS;
        event->thread = context_process_thread(t, source, event->link);
        return event->thread && context_name_process(t, source, event->link, event->name);
    }
    if (type != FXT_KERNEL_THREAD)
        return true;
    event->tag = TTR_OBJECT_THREAD;
    uint64_t process = find_process_argument(reader, event);
    if (process == 0) {
        event->thread = context_thread_by_tid(t, source, event->link);
        return event->thread && context_name_tid(t, source, event->link, event->name);
    }
    event->thread = context_thread(t, source, process, event->link);
    context_name_thread(t, event->thread, event->name);
    return event->thread != 0;
}

static enum fxt_convert_result convert_kernel_object(struct fxt_reader *reader,
                                                     const struct fxt_record *record)
{
    struct fxt_record_shape shape;
    ttr_id name;
    if (!measure_record(reader, record, &shape))
        return FXT_BAD_SIZE;
    enum fxt_convert_result result = fxt_resolve_string(
        reader, record, (uint32_t)fxt_get_bits(record->header, FXT_KERNEL_NAME), 2, &name);
    if (result != FXT_CONVERTED)
        return result;
    ttr_event *event = add_event_of_record(reader, record, &shape, TTR_KIND_OBJECT);
    event->name = name;
    event->link = fxt_load_record_word(reader, record, 1);
    set_event_without_time(reader, event);
    return set_names_from_kernel_object(reader, event,
                                        fxt_get_bits(record->header, FXT_KERNEL_TYPE))
               ? FXT_CONVERTED
               : fail_out_of_memory(reader);
}

/* --- Scheduling records and log records --- */

static enum fxt_convert_result convert_legacy_switch(struct fxt_reader *reader,
                                                     const struct fxt_record *record,
                                                     const struct fxt_record_shape *shape)
{
    uint64_t header = record->header;
    uint32_t outgoing_ref = (uint32_t)fxt_get_bits(header, FXT_LEGACY_OUTGOING);
    ttr_id outgoing, incoming;
    enum fxt_convert_result result = fxt_resolve_thread(reader, record, outgoing_ref, 2, &outgoing);
    if (result == FXT_CONVERTED)
        result =
            fxt_resolve_thread(reader, record, (uint32_t)fxt_get_bits(header, FXT_LEGACY_INCOMING),
                               outgoing_ref ? 2 : 4, &incoming);
    if (result != FXT_CONVERTED)
        return result;
    ttr_event *event = add_event_of_record(reader, record, shape, TTR_KIND_SWITCH);
    event->thread = incoming;
    event->link = outgoing;
    event->tag = (uint16_t)fxt_get_bits(header, FXT_LEGACY_STATE);
    event->cpu = (uint32_t)fxt_get_bits(header, FXT_LEGACY_CPU);
    event->flags |= TTR_EVENT_HAS_CPU;
    set_event_time(reader, event, fxt_load_record_word(reader, record, 1));
    return FXT_CONVERTED;
}

/* Converts scheduling records of kinds 1 to 3, which contain only koids of threads. */
static enum fxt_convert_result convert_modern_scheduling(struct fxt_reader *reader,
                                                         const struct fxt_record *record,
                                                         const struct fxt_record_shape *shape)
{
    uint64_t header = record->header;
    uint64_t kind = fxt_get_bits(header, FXT_SCHEDULING_KIND);
    ttr_id first = context_thread_by_tid(reader->common.t, reader->in->id,
                                         fxt_load_record_word(reader, record, 2));
    ttr_id second = first;
    if (kind != FXT_THREAD_WAKEUP)
        second = context_thread_by_tid(reader->common.t, reader->in->id,
                                       fxt_load_record_word(reader, record, 3));
    if (!first || !second)
        return fail_out_of_memory(reader);
    ttr_event *event = add_event_of_record(
        reader, record, shape, kind == FXT_THREAD_WAKEUP ? TTR_KIND_WAKE : TTR_KIND_SWITCH);
    event->thread = second;
    event->opcode = (uint8_t)kind;
    if (kind != FXT_THREAD_WAKEUP)
        event->link = first;
    if (kind == FXT_CONTEXT_SWITCH)
        event->tag = (uint16_t)fxt_get_bits(header, FXT_SCHEDULING_STATE);
    /* a fiber gives up the CPU itself, and its record has no state */
    if (kind == FXT_FIBER_SWITCH)
        event->tag = TTR_THREAD_SUSPENDED;
    else
        event->flags |= TTR_EVENT_HAS_CPU;
    if (kind != FXT_FIBER_SWITCH)
        event->cpu = (uint32_t)fxt_get_bits(header, FXT_SCHEDULING_CPU);
    set_event_time(reader, event, fxt_load_record_word(reader, record, 1));
    return FXT_CONVERTED;
}

static enum fxt_convert_result convert_unknown_record(struct fxt_reader *reader,
                                                      const struct fxt_record *record)
{
    /* the content of an unknown record does not prove its size, so the records after it must be
     * checked first */
    if (!record->is_accepted)
        return FXT_BAD_SIZE;
    input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, record->offset, "fxt.unknown-record",
                         "unknown record type %u, header %016llx; skipped by its size",
                         fxt_get_record_type(record->header), (unsigned long long)record->header);
    return emit_as_definition(reader, record);
}

static enum fxt_convert_result convert_scheduling_record(struct fxt_reader *reader,
                                                         const struct fxt_record *record)
{
    struct fxt_record_shape shape;
    bool fits = measure_record(reader, record, &shape);
    if (!shape.is_known)
        return convert_unknown_record(reader, record);
    if (!fits)
        return FXT_BAD_SIZE;
    bool is_legacy = fxt_get_bits(record->header, FXT_SCHEDULING_KIND) == FXT_LEGACY_SWITCH;
    return is_legacy ? convert_legacy_switch(reader, record, &shape)
                     : convert_modern_scheduling(reader, record, &shape);
}

static enum fxt_convert_result convert_log_record(struct fxt_reader *reader,
                                                  const struct fxt_record *record)
{
    struct fxt_record_shape shape;
    ttr_id thread;
    if (!measure_record(reader, record, &shape))
        return FXT_BAD_SIZE;
    enum fxt_convert_result result = fxt_resolve_thread(
        reader, record, (uint32_t)fxt_get_bits(record->header, FXT_LOG_THREAD), 2, &thread);
    if (result != FXT_CONVERTED)
        return result;
    ttr_event *event = add_event_of_record(reader, record, &shape, TTR_KIND_LOG);
    event->thread = thread;
    set_event_time(reader, event, fxt_load_record_word(reader, record, 1));
    return FXT_CONVERTED;
}

/* --- Profiler records --- */

static enum fxt_convert_result resolve_profiler_thread(struct fxt_reader *reader,
                                                       const struct fxt_record *record,
                                                       const struct fxt_record_shape *shape,
                                                       ttr_id *id)
{
    uint32_t ref = (uint32_t)fxt_get_bits(record->header, FXT_PROFILER_THREAD);
    if (ref || shape->inline_words == 2)
        return fxt_resolve_thread(reader, record, ref, 2, id);
    *id = context_process_thread(reader->common.t, reader->in->id,
                                 fxt_load_record_word(reader, record, 2));
    return *id ? FXT_CONVERTED : fail_out_of_memory(reader);
}

/* Sets the event's name to the name of a module. Returns false if memory runs out. */
static bool set_module_name(struct fxt_reader *reader, const struct fxt_record *record,
                            ttr_event *event)
{
    struct cursor at =
        cursor_init(record->bytes, (size_t)record->words * FXT_WORD_BYTES, record->offset);
    uint64_t n = fxt_get_bits(record->header, FXT_MODULE_NAME_BYTES);
    (void)cursor_skip(&at, event->body);
    const uint8_t *text = cursor_read_bytes(&at, n);
    event->name = text ? ttr_text_add(reader->common.t, text, (size_t)n) : 0;
    return event->name || n == 0 || !text;
}

static enum fxt_convert_result convert_profiler_record(struct fxt_reader *reader,
                                                       const struct fxt_record *record)
{
    static const uint8_t kinds[] = {[FXT_MODULE] = TTR_KIND_OBJECT,
                                    [FXT_MAPPING] = TTR_KIND_OBJECT,
                                    [FXT_BACKTRACE] = TTR_KIND_SAMPLE};
    struct fxt_record_shape shape;
    ttr_id thread;
    uint64_t kind = fxt_get_bits(record->header, FXT_PROFILER_KIND);
    bool fits = measure_record(reader, record, &shape);
    if (!shape.is_known)
        return convert_unknown_record(reader, record);
    enum fxt_convert_result result =
        fits ? resolve_profiler_thread(reader, record, &shape, &thread) : FXT_BAD_SIZE;
    if (result != FXT_CONVERTED)
        return result;
    ttr_event *event = add_event_of_record(reader, record, &shape, kinds[kind]);
    event->thread = thread;
    set_event_time(reader, event, fxt_load_record_word(reader, record, 1));
    if (kind == FXT_BACKTRACE)
        return FXT_CONVERTED;
    event->tag = kind == FXT_MODULE ? TTR_OBJECT_MODULE : TTR_OBJECT_MAPPING;
    event->link = fxt_get_bits(record->header, FXT_MODULE_ID);
    return kind == FXT_MAPPING || set_module_name(reader, record, event)
               ? FXT_CONVERTED
               : fail_out_of_memory(reader);
}

/* --- Large records --- */

/* Looks up category and name of a large blob, and moves *at to the word after their inline
 * strings. */
static enum fxt_convert_result find_names_of_large_record(struct fxt_reader *reader,
                                                          const struct fxt_record *record,
                                                          ttr_event *names, uint32_t *at)
{
    uint64_t refs = fxt_load_record_word(reader, record, 1);
    uint32_t category = (uint32_t)fxt_get_bits(refs, FXT_LARGE_CATEGORY),
             name = (uint32_t)fxt_get_bits(refs, FXT_LARGE_NAME);
    enum fxt_convert_result result =
        fxt_resolve_string(reader, record, category, 2, &names->category);
    *at = 2 + fxt_get_inline_words(category);
    if (result == FXT_CONVERTED)
        result = fxt_resolve_string(reader, record, name, *at, &names->name);
    *at += fxt_get_inline_words(name);
    return result;
}

static enum fxt_convert_result convert_large_record(struct fxt_reader *reader,
                                                    const struct fxt_record *record)
{
    struct fxt_record_shape shape;
    ttr_event names = {0};
    uint32_t at;
    bool fits = measure_record(reader, record, &shape);
    if (!shape.is_known)
        return convert_unknown_record(reader, record);
    if (!fits)
        return FXT_BAD_SIZE;
    bool has_time = fxt_get_bits(record->header, FXT_LARGE_FORMAT) == FXT_LARGE_WITH_METADATA;
    enum fxt_convert_result result = find_names_of_large_record(reader, record, &names, &at);
    if (result == FXT_CONVERTED && has_time)
        result = fxt_resolve_thread(
            reader, record,
            (uint32_t)fxt_get_bits(fxt_load_record_word(reader, record, 1), FXT_LARGE_THREAD),
            at + 1, &names.thread);
    if (result != FXT_CONVERTED)
        return result;
    ttr_event *event = add_event_of_record(reader, record, &shape, TTR_KIND_BLOB);
    event->category = names.category;
    event->name = names.name;
    event->thread = names.thread;
    event->opcode = FXT_LARGE;
    if (has_time)
        set_event_time(reader, event, fxt_load_record_word(reader, record, at));
    else
        set_event_without_time(reader, event);
    return FXT_CONVERTED;
}

const fxt_convert_fn fxt_converters[16] = {
    [FXT_METADATA] = convert_metadata,
    [FXT_INITIALIZATION] = convert_initialization,
    [FXT_STRING] = convert_string,
    [FXT_THREAD] = convert_thread,
    [FXT_EVENT] = fxt_convert_event,
    [FXT_BLOB] = convert_blob,
    [FXT_USERSPACE_OBJECT] = convert_userspace_object,
    [FXT_KERNEL_OBJECT] = convert_kernel_object,
    [FXT_SCHEDULING] = convert_scheduling_record,
    [FXT_LOG] = convert_log_record,
    [FXT_PROFILER] = convert_profiler_record,
    [11] = convert_unknown_record,
    [12] = convert_unknown_record,
    [13] = convert_unknown_record,
    [14] = convert_unknown_record,
    [FXT_LARGE] = convert_large_record,
};
