/* The trace that the inputs of its streams share: stream classes made ready when the first of their packets is met, and its end. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/ctf_dialect.h"
#include "formats/ctf/ctf_reader.h"

#define ENTRIES 64u /* of small tables, asked for at once */

struct ctf_trace *ctf_trace_new(ttr *t, struct folder *folder, ttr_error *error)
{
    struct ctf_trace *trace = alloc_zero(&t->counted, 1, sizeof *trace);
    if (!trace) {
        folder_close(folder);
        (void)fail_memory(error);
        return NULL;
    }
    trace->t = t;
    trace->users = 1;
    trace->folder = folder;
    trace->format = &format_ctf;
    ctf_description_init(&trace->description, &t->counted);
    arena_init(&trace->met, &t->counted);
    arena_init(&trace->scratch, &t->counted);
    trace->scratch.is_shared = true; /* two threads may write what is read (model/output_half.c) */
    return trace;
}

ttr_status ctf_trace_parse(struct ctf_trace *trace, enum ctf_version version, const struct ctf_text *text, ttr_error *error)
{
    static const char *const names[] = {[CTF_1_8] = "1.8", [CTF_2] = "2", [CTF_RFC_1_1] = "RFC 1.1"};
    struct ctf_description *description = &trace->description;
    ttr_status status;
    description->version = version;
    if (version == CTF_1_8)
        status = tsdl_parse(description, text, error);
    else if (version == CTF_2)
        status = ctf2_parse(description, text, error);
    else if (version == CTF_RFC_1_1)
        status = rfc11_parse(description, text, error);
    else
        status = fail(error, TTR_E_UNSUPPORTED, 0, "%s is no metadata of CTF 1.8, CTF 2 or the RFC of 2010", text->file);
    if (status == TTR_OK)
        status = ctf_dialect_prepare(description, error);
    trace->is_dialect = status == TTR_OK && ctf_is_dialect(description);
    (void)snprintf(trace->version, sizeof trace->version, "%s", status == TTR_OK ? names[version] : "");
    return status;
}

void ctf_trace_join(struct ctf_trace *trace, struct input *in, const char *name, uint64_t number)
{
    struct ctf_reader *reader = in->own;
    reader->trace = trace;
    reader->file = name;
    reader->number = number;
    trace->users++;
    trace->thread_source = trace->thread_source ? trace->thread_source : in->id;
    in->version = trace->version;
    in->base.apart = trace->format;
}

bool ctf_trace_know(struct ctf_trace *trace, const struct ctf_reader *reader)
{
    const uint16_t id = reader->in->id;
    const size_t had = trace->readers_n, before = had && id < trace->readers_from ? (size_t)(trace->readers_from - id) : 0;
    if (had == 0 || before)
        trace->readers_from = id;
    const size_t at = (size_t)(id - trace->readers_from), need = at < had + before ? had + before : at + 1;
    if (!alloc_reserve(&trace->t->counted, (void **)&trace->readers, &trace->readers_n, need, sizeof *trace->readers)) {
        trace->readers_from = (uint16_t)(trace->readers_from + before);
        return false;
    }
    memmove(trace->readers + before, trace->readers, had * sizeof *trace->readers);
    for (size_t i = 0; i < before; i++)
        trace->readers[i] = NULL;
    for (size_t i = had + before; i < trace->readers_n; i++)
        trace->readers[i] = NULL;
    trace->readers[at] = reader;
    return true;
}

void ctf_trace_forget(struct ctf_trace *trace, const struct ctf_reader *reader)
{
    const size_t at = (size_t)reader->in->id - trace->readers_from;
    if (at < trace->readers_n)
        trace->readers[at] = NULL;
}

/* Forgets schemas that streams shared. */
static void drop_schemas(const struct ctf_trace *trace)
{
    const struct ctf_description *description = &trace->description;
    for (size_t i = 0; i < description->streams_n; i++)
        for (size_t k = 0; k < description->streams[i]->events_n; k++)
            if (description->streams[i]->events[k]->schema)
                context_drop_schema(trace->t, description->streams[i]->events[k]->schema->id);
}

void ctf_trace_release(struct ctf_trace *trace)
{
    if (!trace || --trace->users)
        return;
    const struct alloc *alloc = &trace->t->counted;
    drop_schemas(trace);
    arena_free(&trace->scratch);
    alloc_free(alloc, trace->readers, trace->readers_n, sizeof *trace->readers);
    alloc_free(alloc, trace->kinds, trace->kinds_capacity, sizeof(struct ctf_kind *));
    if (trace->metadata)
        alloc_free(alloc, trace->metadata, trace->metadata_n + 1, 1);
    ctf_description_free(&trace->description);
    arena_free(&trace->met);
    folder_close(trace->folder);
    ctf_trace_release(trace->other_order);
    alloc_free(alloc, trace, 1, sizeof *trace);
}

struct ctf_entry *ctf_take_entries(struct ctf_trace *trace, size_t n)
{
    if (trace->entries_n < n) {
        const size_t more = n > ENTRIES ? n : ENTRIES;
        void *memory = arena_take(&trace->met, (more + 1) * sizeof *trace->entries);
        if (!memory)
            return NULL;
        trace->entries = (struct ctf_entry *)(((uintptr_t)memory + CTF_LINE - 1) & ~(uintptr_t)(CTF_LINE - 1));
        trace->entries_n = more;
    }
    trace->entries += n;
    trace->entries_n -= n;
    return trace->entries - n;
}

/* Compiles one root of packets or headers: with all that is in it, or with what people want to see. */
static const struct layout *compile_root(struct ctf_trace *trace, const struct ctf_stream_class *class, enum type_root root,
                                         bool shows_hidden, ttr_error *error)
{
    struct layout_spec spec = {.t = trace->t, .arena = &trace->description.arena, .shows_hidden = shows_hidden,
                               .shown_roles = UINT64_C(1) << CTF_ROLE_CPU};
    const struct type *const types[] = {
        [ROOT_PACKET_HEADER] = trace->description.packet_header,
        [ROOT_PACKET_CONTEXT] = class ? class->packet_context : NULL,
        [ROOT_EVENT_HEADER] = class ? class->event_header : NULL,
    };
    spec.root[root] = types[root];
    for (size_t i = 0; i < (size_t)root; i++)
        spec.outer[i] = types[i];
    return layout_compile(&spec, error);
}

ttr_status ctf_trace_ready(struct ctf_trace *trace, ttr_error *error)
{
    const struct type *header = trace->description.packet_header;
    (void)memset(trace->magic, 0, sizeof trace->magic);
    if (!header)
        return TTR_OK;
    trace->packet_header = compile_root(trace, NULL, ROOT_PACKET_HEADER, true, error);
    if (!trace->packet_header)
        return TTR_E_MALFORMED;
    ctf_head_init(&trace->head, header, 0);
    const struct type *first = header->members_n ? header->members[0].type : NULL;
    trace->has_magic = first && first->role == CTF_ROLE_MAGIC && first->bits == 32;
    if (trace->has_magic && first->is_big_endian)
        store_u32be(trace->magic, CTF_MAGIC);
    else if (trace->has_magic)
        store_u32le(trace->magic, CTF_MAGIC);
    for (uint32_t i = 0; i < header->members_n; i++)
        trace->has_uuid |= header->members[i].type->role == CTF_ROLE_UUID;
    trace->has_uuid &= trace->description.has_uuid;
    return TTR_OK;
}

/* Where the window may begin in packets of a stream class. */
static uint8_t step_of(const struct ctf_trace *trace, const struct ctf_stream_class *class)
{
    const struct type *const root[] = {trace->description.packet_header, class->packet_context, class->event_header, class->event_context};
    uint8_t step = CTF_STEP_LEAST;
    for (size_t i = 0; i < sizeof root / sizeof *root; i++) {
        const uint8_t align = type_most_align(root[i]);
        step = align > step ? align : step;
    }
    for (size_t i = 0; i < class->events_n; i++) {
        const uint8_t context = type_most_align(class->events[i]->context), payload = type_most_align(class->events[i]->payload);
        step = context > step ? context : step;
        step = payload > step ? payload : step;
    }
    return step < CTF_STEP_MOST ? step : CTF_STEP_MOST;
}

static struct ctf_kind *make_kind(struct ctf_trace *trace, const struct ctf_stream_class *class, ttr_error *error)
{
    struct ctf_kind *kind = arena_take(&trace->description.arena, sizeof *kind);
    if (!kind) {
        (void)fail_memory(error);
        return NULL;
    }
    *kind = (struct ctf_kind){.class = class, .first = kind};
    if (class->packet_context) {
        kind->context = compile_root(trace, class, ROOT_PACKET_CONTEXT, true, error);
        kind->context_shown = kind->context ? compile_root(trace, class, ROOT_PACKET_CONTEXT, false, error) : NULL;
        if (!kind->context_shown)
            return NULL;
        if (!trace->packet_header || trace->head.is_fixed)
            ctf_head_init(&kind->head, class->packet_context, trace->packet_header ? trace->head.end : 0);
    }
    if (class->event_header) {
        kind->header = compile_root(trace, class, ROOT_EVENT_HEADER, true, error);
        if (!kind->header)
            return NULL;
    }
    ctf_timeline_init(&kind->timeline, class->clock);
    if (trace->rounds_times)
        ctf_timeline_round(&kind->timeline, class->clock);
    ctf_plan_init(&kind->plan, class, kind->header);
    kind->step = step_of(trace, class);
    return kind;
}

struct ctf_kind *ctf_kind_of(struct ctf_trace *trace, const struct ctf_stream_class *class, ttr_error *error)
{
    const struct ctf_description *description = &trace->description;
    size_t index = 0, before = trace->kinds_capacity;
    while (index < description->streams_n && description->streams[index] != class)
        index++;
    if (index >= before) {
        if (!alloc_reserve(&trace->t->counted, (void **)&trace->kinds, &trace->kinds_capacity, index + 1, sizeof(struct ctf_kind *))) {
            (void)fail_memory(error);
            return NULL;
        }
        memset(trace->kinds + before, 0, (trace->kinds_capacity - before) * sizeof(struct ctf_kind *));
    }
    if (!trace->kinds[index])
        trace->kinds[index] = make_kind(trace, class, error);
    return trace->kinds[index];
}
