/* Struct ctf_trace, which the inputs of its stream files share, and struct ctf_trace_class, which
 * several traces may share. Compiles stream classes at first use. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/conventions/ctf_conventions.h"
#include "formats/ctf/read/ctf_reader.h"

/* bytes that suffice for one stream with few event classes */
#define CLASS_ARENA_BYTES_MIN 1024u

/* --- Trace classes --- */

static struct ctf_trace_class *new_trace_class(const struct alloc *alloc)
{
    struct ctf_trace_class *class = alloc_zero(alloc, 1, sizeof *class);
    if (!class)
        return NULL;
    class->users = 1;
    ctf_description_init(&class->description, alloc);
    return class;
}

static void unref_trace_class(struct ctf_trace_class *class, ttr *t)
{
    const struct alloc *alloc = &t->counted;
    if (--class->users)
        return;
    if (class->is_offered)
        context_withdraw_offer(t, &class->offer);
    alloc_free(alloc, class->kinds, class->kinds_capacity, sizeof(struct ctf_stream_decoder *));
    if (class->metadata)
        alloc_free(alloc, class->metadata, class->metadata_n + 1, 1);
    ctf_description_free(&class->description);
    alloc_free(alloc, class, 1, sizeof *class);
}

/* --- Traces --- */

struct ctf_trace *ctf_trace_new(ttr *t, struct folder *folder, ttr_error *error)
{
    struct ctf_trace *trace = alloc_zero(&t->counted, 1, sizeof *trace);
    struct ctf_trace_class *class = trace ? new_trace_class(&t->counted) : NULL;
    if (!class) {
        alloc_free(&t->counted, trace, 1, sizeof *trace);
        folder_close(folder);
        (void)fail_memory(error);
        return NULL;
    }
    trace->t = t;
    trace->users = 1;
    trace->folder = folder;
    trace->format = &format_ctf;
    trace->class = class;
    arena_init_small(&trace->class_arena, &t->counted, CLASS_ARENA_BYTES_MIN);
    arena_init(&trace->scratch, &t->counted);
    return trace;
}

ttr_status ctf_trace_parse(struct ctf_trace *trace, enum ctf_version version,
                           const struct ctf_text *text, ttr_error *error)
{
    static const char *const names[] = {
        [CTF_1_8] = "1.8", [CTF_2] = "2", [CTF_RFC_1_1] = "RFC 1.1"};
    struct ctf_trace_class *class = trace->class;
    struct ctf_description *description = &class->description;
    ttr_status status;
    description->version = version;
    if (version == CTF_1_8)
        status = tsdl_parse(description, text, error);
    else if (version == CTF_2)
        status = ctf2_parse(description, text, error);
    else if (version == CTF_RFC_1_1)
        status = rfc11_parse(description, text, error);
    else
        status = fail(error, TTR_E_UNSUPPORTED, 0,
                      "%s is not metadata of CTF 1.8, CTF 2 or the RFC of 2010", text->file);
    if (status == TTR_OK)
        status = ctf_conventions_prepare(description, error);
    class->has_conventions = status == TTR_OK && ctf_uses_conventions(description);
    (void)snprintf(class->version, sizeof class->version, "%s",
                   status == TTR_OK ? names[version] : "");
    return status;
}

void ctf_trace_add_input(struct ctf_trace *trace, struct input *in, const char *name,
                         uint64_t number)
{
    struct ctf_reader *reader = in->ctx;
    reader->trace = trace;
    reader->file = name;
    reader->number = number;
    trace->users++;
    trace->thread_source = trace->thread_source ? trace->thread_source : in->id;
    in->version = trace->class->version;
    in->base.per_source_format = trace->format;
}

/* Returns how many elements to insert at the start of trace->readers, for a source id that is
 * below all others. The number doubles, so that descending ids cost constant time on average. */
static size_t count_slots_to_insert(const struct ctf_trace *trace, uint16_t id)
{
    if (trace->readers_n == 0 || id >= trace->readers_from)
        return 0;
    const size_t least = (size_t)(trace->readers_from - id),
                 wanted = trace->readers_n > least ? trace->readers_n : least;
    return wanted < trace->readers_from ? wanted : trace->readers_from;
}

bool ctf_trace_register_reader(struct ctf_trace *trace, const struct ctf_reader *reader)
{
    const uint16_t id = reader->in->id;
    const size_t had = trace->readers_n, before = count_slots_to_insert(trace, id),
                 from = had ? trace->readers_from - before : id;
    const size_t at = id - from, need = at < had + before ? had + before : at + 1;
    if (!alloc_reserve(&trace->t->counted, (void **)&trace->readers, &trace->readers_n, need,
                       sizeof *trace->readers))
        return false;
    trace->readers_from = (uint16_t)from;
    memmove(trace->readers + before, trace->readers, had * sizeof *trace->readers);
    for (size_t i = 0; i < before; i++)
        trace->readers[i] = NULL;
    for (size_t i = had + before; i < trace->readers_n; i++)
        trace->readers[i] = NULL;
    trace->readers[at] = reader;
    return true;
}

void ctf_trace_unregister_reader(struct ctf_trace *trace, const struct ctf_reader *reader)
{
    const size_t at = (size_t)reader->in->id - trace->readers_from;
    if (at < trace->readers_n)
        trace->readers[at] = NULL;
}

/* Returns a hash of the metadata and options of a trace class. If both are equal, traces share the
 * class. */
static uint64_t hash_trace_class(const struct ctf_trace_class *class)
{
    return hash_pair(hash_bytes(class->metadata, class->metadata_n),
                     class->rounds_times * 2u + class->hides_mapped);
}

void ctf_trace_publish_class(struct ctf_trace *trace)
{
    struct ctf_trace_class *class = trace->class;
    class->offer = (struct offer){.of = &format_ctf, .key = hash_trace_class(class)};
    class->is_offered = true;
    context_publish_offer(trace->t, &class->offer);
}

void ctf_trace_retract_class(const struct ctf_trace *trace)
{
    struct ctf_trace_class *class = trace->class;
    if (class->is_offered)
        context_withdraw_offer(trace->t, &class->offer);
    class->is_offered = false;
}

void ctf_trace_set_class(struct ctf_trace *trace, struct ctf_trace_class *class)
{
    class->users++;
    unref_trace_class(trace->class, trace->t);
    trace->class = class;
}

bool ctf_trace_use_published_class(struct ctf_trace *trace)
{
    struct ctf_trace_class *ctx = trace->class;
    /* the cast is valid because `offer` is the first member of struct ctf_trace_class */
    struct ctf_trace_class *like =
        (struct ctf_trace_class *)context_find_offer(trace->t, &format_ctf, hash_trace_class(ctx));
    if (!like || like->rounds_times != ctx->rounds_times ||
        like->hides_mapped != ctx->hides_mapped || like->metadata_n != ctx->metadata_n ||
        memcmp(like->metadata, ctx->metadata, ctx->metadata_n) != 0)
        return false;
    ctf_trace_set_class(trace, like);
    return true;
}

void ctf_trace_unref(struct ctf_trace *trace)
{
    if (!trace || --trace->users)
        return;
    const struct alloc *alloc = &trace->t->counted;
    for (size_t i = 0; i < trace->schemas_n; i++)
        if (trace->schemas[i])
            context_drop_schema(trace->t, trace->schemas[i]->id);
    alloc_free(alloc, trace->schemas, trace->schemas_n, sizeof(struct ctf_schema *));
    arena_free(&trace->scratch);
    alloc_free(alloc, trace->readers, trace->readers_n, sizeof *trace->readers);
    unref_trace_class(trace->class, trace->t);
    arena_free(&trace->class_arena);
    folder_close(trace->folder);
    ctf_trace_unref(trace->other_order);
    alloc_free(alloc, trace, 1, sizeof *trace);
}

/* Compiles the layout of a packet header, packet context or event header. shows_hidden: include
 * fields that are not printed. Returns NULL with `error` on failure. */
static const struct layout *compile_packet_layout(const struct ctf_trace *trace,
                                                  const struct ctf_stream_class *class,
                                                  enum type_root root, bool shows_hidden,
                                                  ttr_error *error)
{
    struct ctf_description *description = &trace->class->description;
    struct layout_spec spec = {.t = trace->t,
                               .arena = &description->arena,
                               .shows_hidden = shows_hidden,
                               .shown_roles = UINT64_C(1) << CTF_ROLE_CPU};
    const struct type *const types[] = {
        [ROOT_PACKET_HEADER] = description->packet_header,
        [ROOT_PACKET_CONTEXT] = class ? class->packet_context : NULL,
        [ROOT_EVENT_HEADER] = class ? class->event_header : NULL,
    };
    spec.root[root] = types[root];
    for (size_t i = 0; i < (size_t)root; i++)
        spec.outer[i] = types[i];
    return layout_compile(&spec, error);
}

ttr_status ctf_trace_compile(struct ctf_trace *trace, ttr_error *error)
{
    struct ctf_trace_class *class = trace->class;
    const struct type *header = class->description.packet_header;
    (void)memset(class->magic, 0, sizeof class->magic);
    if (!header)
        return TTR_OK;
    class->packet_header = compile_packet_layout(trace, NULL, ROOT_PACKET_HEADER, true, error);
    if (!class->packet_header)
        return TTR_E_MALFORMED;
    ctf_fixed_root_init(&class->head, header, 0);
    const struct type *first = header->members_n ? header->members[0].type : NULL;
    class->has_magic = first && first->role == CTF_ROLE_MAGIC && first->bits == 32;
    if (class->has_magic && first->is_big_endian)
        store_u32be(class->magic, CTF_MAGIC);
    else if (class->has_magic)
        store_u32le(class->magic, CTF_MAGIC);
    for (uint32_t i = 0; i < header->members_n; i++)
        class->has_uuid |= header->members[i].type->role == CTF_ROLE_UUID;
    class->has_uuid &= class->description.has_uuid;
    return TTR_OK;
}

/* Returns the binary logarithm of the largest alignment, in bits, of any type in the class,
 * limited to CTF_STEP_MIN and CTF_STEP_MAX. */
static uint8_t compute_window_step(const struct ctf_trace *trace,
                                   const struct ctf_stream_class *class)
{
    const struct type *const root[] = {trace->class->description.packet_header,
                                       class->packet_context, class->event_header,
                                       class->event_context};
    uint8_t step = CTF_STEP_MIN;
    for (size_t i = 0; i < sizeof root / sizeof *root; i++) {
        const uint8_t align = type_largest_align(root[i]);
        step = align > step ? align : step;
    }
    for (size_t i = 0; i < class->events_n; i++) {
        const uint8_t context = type_largest_align(class->events[i]->context),
                      payload = type_largest_align(class->events[i]->payload);
        step = context > step ? context : step;
        step = payload > step ? payload : step;
    }
    return step < CTF_STEP_MAX ? step : CTF_STEP_MAX;
}

/* Compiles the layout of the event header. Reuses the layout of the previous class if the types
 * are the same, because traces of v1.1 have hundreds of classes with one header. */
static const struct layout *compile_event_header(const struct ctf_trace *trace,
                                                 const struct ctf_stream_class *class,
                                                 ttr_error *error)
{
    const struct ctf_stream_decoder *latest = trace->class->latest;
    if (latest && latest->class->event_header == class->event_header &&
        latest->class->packet_context == class->packet_context)
        return latest->header;
    return compile_packet_layout(trace, class, ROOT_EVENT_HEADER, true, error);
}

static struct ctf_stream_decoder *compile_stream_class(const struct ctf_trace *trace,
                                                       const struct ctf_stream_class *class,
                                                       ttr_error *error)
{
    struct ctf_trace_class *of = trace->class;
    struct ctf_stream_decoder *kind = arena_alloc(&of->description.arena, sizeof *kind);
    if (!kind) {
        (void)fail_memory(error);
        return NULL;
    }
    *kind = (struct ctf_stream_decoder){.class = class, .first = kind};
    if (class->packet_context) {
        kind->context = compile_packet_layout(trace, class, ROOT_PACKET_CONTEXT, true, error);
        kind->context_shown =
            kind->context ? compile_packet_layout(trace, class, ROOT_PACKET_CONTEXT, false, error)
                          : NULL;
        if (!kind->context_shown)
            return NULL;
        if (!of->packet_header || of->head.is_fixed)
            ctf_fixed_root_init(&kind->head, class->packet_context,
                                of->packet_header ? of->head.end : 0);
    }
    if (class->event_header) {
        kind->header = compile_event_header(trace, class, error);
        if (!kind->header)
            return NULL;
    }
    ctf_timeline_init(&kind->timeline, class->clock);
    if (trace->class->rounds_times)
        ctf_timeline_use_rounding(&kind->timeline, class->clock);
    ctf_header_plan_init(&kind->plan, class, kind->header);
    kind->step = compute_window_step(trace, class);
    of->latest = kind;
    return kind;
}

struct ctf_stream_decoder *ctf_get_stream_decoder(struct ctf_trace *trace,
                                                  const struct ctf_stream_class *class,
                                                  ttr_error *error)
{
    struct ctf_trace_class *of = trace->class;
    size_t index = 0, before = of->kinds_capacity;
    while (index < of->description.streams_n && of->description.streams[index] != class)
        index++;
    if (index >= before) {
        if (!alloc_reserve(&trace->t->counted, (void **)&of->kinds, &of->kinds_capacity, index + 1,
                           sizeof(struct ctf_stream_decoder *))) {
            (void)fail_memory(error);
            return NULL;
        }
        memset(of->kinds + before, 0,
               (of->kinds_capacity - before) * sizeof(struct ctf_stream_decoder *));
    }
    if (!of->kinds[index])
        of->kinds[index] = compile_stream_class(trace, class, error);
    return of->kinds[index];
}
