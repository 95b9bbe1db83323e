/* Writes FXT: copies records of an FXT reader byte for byte, and encodes all other events.
 *
 * Copying starts if the first event is raw and from an FXT reader that emits definitions, or is the
 * first record of a trace. Then all raw events of that source are appended unchanged, in their own
 * byte order. Events of other sources get separate provider sections; a section record resumes the
 * copied section after them. A copied trace without provider records cannot be resumed. Then other
 * events are written into its section with inline refs and in ticks of its clock.
 *
 * Encoded events of each source and provider get one provider in the output, with separate tables
 * and ticks of 1 ns. Left out: sorting (FXT requires no order), and separating process ids of
 * several hosts other than by provider. */
#include "formats/fxt/fxt_write.h"

#include "base/status.h"
#include "base/utf.h"

/* provider id of the first encoded event in a copied trace, which will hardly use it */
#define ENCODED_PROVIDERS 0x74726100u

const ttr_loss fxt_losses[FXT_LOSSES] = {
    [FXT_LOST_TIME_NEGATIVE] = {.code = "time.negative",
                                .what = "times before zero",
                                .rule = "become zero"},
    [FXT_LOST_TIME_PLACE] = {.code = "time.place",
                             .what = "times of objects and gaps",
                             .rule = "are left out",
                             .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_TIME_UNKNOWN] = {.code = "time.unknown",
                               .what = "events without a time",
                               .rule = "get the time of the event before them"},
    [FXT_LOST_TICKS] = {.code = "clock.ticks",
                        .what = "raw clock ticks",
                        .rule = "become nanoseconds"},
    [FXT_LOST_SPAN_END] = {.code = "span.end",
                           .what = "spans that end after the latest possible time",
                           .rule = "end at that time"},
    [FXT_LOST_BACKWARD] = {.code = "span.backward",
                           .what = "spans that end before they start",
                           .rule = "become spans of no length"},
    [FXT_LOST_LEVEL] = {.code = "attribute.level",
                        .what = "levels",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_OPCODE] = {.code = "attribute.opcode",
                         .what = "opcodes",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_KEYWORD] = {.code = "attribute.keyword",
                          .what = "keywords",
                          .rule = "are left out",
                          .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_NUMBER] = {.code = "attribute.number",
                         .what = "event numbers of providers",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_ACTIVITY] = {.code = "attribute.activity",
                           .what = "activity ids",
                           .rule = "are left out",
                           .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_SEQUENCE] = {.code = "attribute.sequence",
                           .what = "sequence numbers",
                           .rule = "are left out",
                           .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_CPU] = {.code = "attribute.cpu",
                      .what = "CPUs of events other than switches",
                      .rule = "are left out",
                      .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_CPU_RANGE] = {.code = "switch.cpu",
                            .what = "CPUs of switches that are unknown or above 65535",
                            .rule = "become 0 or 65535"},
    [FXT_LOST_STATE] = {.code = "switch.state",
                        .what = "thread states above 15",
                        .rule = "become suspended"},
    [FXT_LOST_THREAD_NONE] = {.code = "thread.none",
                              .what = "events without a thread",
                              .rule = "become events of thread 0 of the process"},
    [FXT_LOST_THREAD_NAME] = {.code = "thread.name",
                              .what = "names of threads without a number",
                              .rule = "are left out",
                              .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_THREAD_KOID] =
        {.code = "thread.koid",
         .what = "threads in switches and wake-ups that share their number or exceed the table",
         .rule = "are identified by number only"},
    [FXT_LOST_THREAD_PLACE] = {.code = "thread.place",
                               .what = "threads of objects and gaps",
                               .rule = "are left out",
                               .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_CATEGORY] = {.code = "category.place",
                           .what = "categories of records other than events",
                           .rule = "are left out",
                           .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_NAME] = {.code = "name.place",
                       .what = "names of switches, logs, samples, mappings and gaps",
                       .rule = "are left out",
                       .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_FIELD_COUNT] = {.code = "field.count",
                              .what = "fields beyond the 15th",
                              .rule = "are left out",
                              .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_FIELD_ROOM] = {.code = "field.room",
                             .what = "fields that exceed the size of a record",
                             .rule = "are left out",
                             .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_FIELD_PLACE] = {.code = "field.place",
                              .what = "fields of records without arguments",
                              .rule = "are left out",
                              .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_FIELD_NESTED] = {.code = "field.nested",
                               .what = "arrays and structs",
                               .rule = "become arguments with dotted names"},
    [FXT_LOST_FIELD_LABEL] = {.code = "field.label",
                              .what = "names of enumerated values and flags",
                              .rule = "are left out; the numbers stay",
                              .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_FIELD_CONTEXT] = {.code = "field.context",
                                .what = "fields of an event's context",
                                .rule = "become fields of the payload"},
    [FXT_LOST_TEXT] = {.code = "text.length",
                       .what = "texts and bytes that are too long",
                       .rule = "are cut"},
    [FXT_LOST_BLOB_TYPE] = {.code = "blob.type",
                            .what = "types of large blobs",
                            .rule = "are left out",
                            .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_FRAMES] = {.code = "sample.frames",
                         .what = "stack frames beyond the 255th, of a text beyond 28000 bytes",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_GAP_COUNT] = {.code = "gap.count",
                            .what = "counts of missing events",
                            .rule = "are left out",
                            .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_OBJECT_ID] = {.code = "object.id",
                            .what = "module ids above 65535 and object types above 255",
                            .rule = "lose their upper bits"},
    [FXT_LOST_EVENT_ID] = {.code = "event.id",
                           .what = "ids of events that cannot have ids in FXT",
                           .rule = "are left out",
                           .kind = TTR_LOSS_DROPPED},
    [FXT_LOST_PARTIAL] = {.code = "event.partial",
                          .what = "events with damaged content",
                          .rule = "keep the decoded part without the mark"},
    [FXT_LOST_KIND] = {.code = "event.kind",
                       .what = "events of unknown kind",
                       .rule = "are left out",
                       .kind = TTR_LOSS_DROPPED},
};

/* --- Copying of records --- */

/* Returns true if the copy of a trace starts with this event: definitions were requested, or it is
 * the first record of its trace. */
static bool can_start_copy(const struct fxt_writer *w, const ttr_event *e)
{
    return !w->is_started && output_is_own_raw(w->out, e) &&
           (e->kind == TTR_KIND_DEFINITION || e->offset == 0);
}

static uint64_t load_word(const struct fxt_writer *w, const uint8_t *bytes)
{
    return w->is_big ? load_u64be(bytes) : load_u64le(bytes);
}

static void begin_copy(struct fxt_writer *w, const ttr_event *e)
{
    w->is_started = true;
    w->copied = (struct fxt_copied){.source = e->source, .is_active = true};
    clock_math_init(&w->copied.clock, FXT_DEFAULT_FREQUENCY);
    if (e->payload_size < FXT_WORD_BYTES)
        return;
    uint64_t header = load_u64le(e->payload);
    w->is_big = (uint64_t)fxt_get_record_words(header) * FXT_WORD_BYTES != e->payload_size &&
                (uint64_t)fxt_get_record_words(__builtin_bswap64(header)) * FXT_WORD_BYTES ==
                    e->payload_size;
}

/* Updates current provider and clock of the copied trace when a definition was copied. */
static void update_copied_section(struct fxt_writer *w, const ttr_event *e)
{
    struct fxt_copied *copied = &w->copied;
    uint64_t header = e->payload_size >= FXT_WORD_BYTES ? load_word(w, e->payload) : 0;
    uint64_t metadata = fxt_get_bits(header, FXT_METADATA_KIND);
    bool is_section = metadata == FXT_PROVIDER_INFO || metadata == FXT_PROVIDER_SECTION;
    if (fxt_get_record_type(header) == FXT_METADATA && is_section) {
        copied->has_provider = true;
        copied->provider = (uint32_t)fxt_get_bits(header, FXT_METADATA_PROVIDER);
    }
    if (fxt_get_record_type(header) != FXT_INITIALIZATION ||
        e->payload_size < FXT_INITIALIZATION_WORDS * FXT_WORD_BYTES)
        return;
    uint64_t frequency = load_word(w, e->payload + FXT_WORD_BYTES);
    if (frequency)
        clock_math_init(&copied->clock, frequency);
    if (e->payload_size >= FXT_INITIALIZATION_WORDS_ANCHORED * FXT_WORD_BYTES) {
        copied->base_ticks = load_word(w, e->payload + (size_t)2 * FXT_WORD_BYTES);
        copied->base_ns = (int64_t)load_word(w, e->payload + (size_t)3 * FXT_WORD_BYTES);
    }
}

static void write_section(struct fxt_writer *w, uint32_t id)
{
    struct fxt_output to;
    (void)fxt_begin_record(w, &to, 1,
                           FXT_METADATA | fxt_set_bits(FXT_METADATA_KIND, FXT_PROVIDER_SECTION) |
                               fxt_set_bits(FXT_METADATA_PROVIDER, id));
}

/* Copies the record of event `i`, and records of the events after it as long as they are adjacent
 * in memory. Returns the index of the next event. */
static uint32_t copy_adjacent_records(struct fxt_writer *w, const ttr_batch *batch, uint32_t i)
{
    const ttr_event *e = ttr_batch_at(batch, i);
    const uint8_t *begin = e->payload;
    size_t n = 0;
    if (w->target) {
        write_section(w, w->copied.provider);
        w->target = NULL;
    }
    for (;;) {
        n += e->payload_size;
        if (e->kind == TTR_KIND_DEFINITION)
            update_copied_section(w, e);
        else
            output_count_event(w->out, e);
        if (++i == batch->n)
            break;
        e = ttr_batch_at(batch, i);
        if (e->payload != begin + n || e->source != w->copied.source ||
            !output_is_own_raw(w->out, e))
            break;
    }
    buffer_add(&w->out->buffer, begin, n);
    return i;
}

/* --- Provider sections of encoded events --- */

static void write_trace_start(struct fxt_writer *w)
{
    w->is_started = true;
    uint8_t *at = buffer_room(&w->out->buffer, FXT_WORD_BYTES);
    if (!at)
        return;
    store_u64le(at, FXT_MAGIC);
    buffer_commit(&w->out->buffer, FXT_WORD_BYTES);
}

/* Writes the first records of the event's provider: provider info, and frequency of the clock. */
static void write_provider(struct fxt_writer *w, uint32_t id)
{
    struct fxt_output to;
    const ttr_event *e = w->event;
    ttr_text name = ttr_text_get(w->out->t, e->provider);
    if (name.n > UINT8_MAX) {
        name.n = utf8_truncated_length(name.p, name.n, UINT8_MAX);
        fxt_count_loss(w, FXT_LOST_TEXT);
    }
    if (fxt_begin_record(w, &to, 1 + fxt_words_for_bytes(name.n),
                         FXT_METADATA | fxt_set_bits(FXT_METADATA_KIND, FXT_PROVIDER_INFO) |
                             fxt_set_bits(FXT_METADATA_PROVIDER, id) |
                             fxt_set_bits(FXT_METADATA_NAME_BYTES, name.n)))
        fxt_append_stream(&to, name.p, name.n);
    uint64_t words = w->is_anchored ? FXT_INITIALIZATION_WORDS_ANCHORED : FXT_INITIALIZATION_WORDS;
    if (!fxt_begin_record(w, &to, words, FXT_INITIALIZATION))
        return;
    fxt_append_word(&to, FXT_DEFAULT_FREQUENCY);
    if (!w->is_anchored)
        return;
    uint64_t base = e->time > 0 ? (uint64_t)e->time : 0;
    fxt_append_word(&to, base);
    fxt_append_word(&to, base);
}

static struct fxt_written_provider *add_written_provider(struct fxt_writer *w)
{
    const struct alloc *alloc = &w->out->t->counted;
    if (!alloc_reserve(alloc, (void **)&w->targets, &w->targets_capacity, w->targets_n + 1,
                       sizeof *w->targets) ||
        !pair_map_put(&w->target_by, w->event->source, w->event->provider,
                      (uint32_t)w->targets_n)) {
        w->failed = true;
        return NULL;
    }
    struct fxt_written_provider *target = &w->targets[w->targets_n++];
    target->id = (w->copied.is_active ? ENCODED_PROVIDERS : 0) + (uint32_t)w->targets_n;
    fxt_slots_init(&target->strings, FXT_STRINGS - 1, 2 * FXT_STRINGS);
    fxt_slots_init(&target->threads, FXT_THREADS - 1, 4 * FXT_THREADS);
    write_provider(w, target->id);
    return target;
}

/* Makes the provider of w->event the current one of the output; writes a section record if it was
 * not. Returns false if memory runs out. */
static bool switch_to_event_provider(struct fxt_writer *w)
{
    const ttr_event *e = w->event;
    if (w->target && e->source == w->target_source && e->provider == w->target_name)
        return true;
    if (!w->is_started)
        write_trace_start(w);
    w->is_inline = w->copied.is_active && !w->copied.has_provider;
    if (w->is_inline)
        return true;
    const uint32_t *known = pair_map_get(&w->target_by, e->source, e->provider);
    if (known) {
        w->target = &w->targets[*known];
        write_section(w, w->target->id);
    } else {
        w->target = add_written_provider(w);
    }
    w->target_source = e->source;
    w->target_name = e->provider;
    return w->target != NULL;
}

static void encode_event(struct fxt_writer *w, const ttr_event *e)
{
    w->event = e;
    if (e->kind == TTR_KIND_DEFINITION || !switch_to_event_provider(w))
        return;
    if (!w->is_inline) {
        fxt_slots_clear_if_stale(&w->target->strings, &w->out->t->counted);
        fxt_slots_clear_if_stale(&w->target->threads, &w->out->t->counted);
    }
    fxt_write_event_record(w);
    output_count_event(w->out, e);
}

/* --- Entry points of the writer --- */

ttr_status fxt_writer_create(struct ttr_writer *out, ttr_error *error)
{
    struct fxt_writer *w = out->ctx;
    const char *anchor = output_option(out, "anchor");
    w->out = out;
    pair_map_init(&w->target_by, &out->t->counted);
    pair_map_init(&w->by_koid, &out->t->counted);
    pair_map_init(&w->introduced, &out->t->counted);
    key_map_init(&w->stacks, &out->t->counted);
    if (anchor && strcmp(anchor, "yes") != 0 && strcmp(anchor, "no") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "option anchor=%s of fxt is neither yes nor no",
                    anchor);
    w->is_anchored = anchor && strcmp(anchor, "yes") == 0;
    return TTR_OK;
}

ttr_status fxt_writer_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    struct fxt_writer *w = out->ctx;
    w->stamp = 1 + out->t->name_change_count;
    for (uint32_t i = 0; i < batch->n;) {
        const ttr_event *e = ttr_batch_at(batch, i);
        if (can_start_copy(w, e))
            begin_copy(w, e);
        if (w->copied.is_active && e->source == w->copied.source && output_is_own_raw(out, e)) {
            i = copy_adjacent_records(w, batch, i);
        } else {
            encode_event(w, e);
            i++;
        }
    }
    return w->failed ? fail_memory(error) : TTR_OK;
}

ttr_status fxt_writer_finish(struct ttr_writer *out, ttr_error *error)
{
    struct fxt_writer *w = out->ctx;
    if (!w->is_started)
        write_trace_start(w);
    w->event = NULL;
    fxt_write_missing_names(w);
    return w->failed ? fail_memory(error) : TTR_OK;
}

void fxt_writer_free(struct ttr_writer *out)
{
    struct fxt_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    if (!w->out)
        return;
    for (size_t i = 0; i < w->targets_n; i++) {
        fxt_slots_free(&w->targets[i].strings, alloc);
        fxt_slots_free(&w->targets[i].threads, alloc);
    }
    alloc_free(alloc, w->targets, w->targets_capacity, sizeof *w->targets);
    alloc_free(alloc, w->known, w->known_n, sizeof *w->known);
    alloc_free(alloc, w->processes, w->processes_n, sizeof *w->processes);
    pair_map_free(&w->target_by);
    pair_map_free(&w->by_koid);
    pair_map_free(&w->introduced);
    key_map_free(&w->stacks);
}
