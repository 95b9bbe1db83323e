/* Opening traces: what tells how a trace is read.
 *
 * That is the file `metadata` of its folder, one that is given instead, or that of another folder
 * of the trace, which begins with its own and goes on (ctf_metadata_prefix.h).  What is to be told
 * of it waits until there is an input. */
#include "formats/ctf/read/ctf_open.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/ctf_metadata_prefix.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/read/rfc11_read.h"
#include "model/options.h"

void ctf_opening_note(struct ctf_opening *opening, ttr_severity severity, uint64_t offset,
                      const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    diagnostics_add(&opening->notes, severity, &(ttr_region){.offset = offset, .code = code},
                    format, values);
    va_end(values);
}

static void take_note(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                      const char *text)
{
    struct ctf_opening *opening = ctx;
    opening->trace->class->has_bad_metadata |= severity == TTR_SEVERITY_DAMAGE;
    ctf_opening_note(opening, severity, offset, code, "%s", text);
}

static ttr_status read_metadata(struct ctf_opening *opening, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    const char *other = options_get(opening->copies, opening->copies_n, "metadata");
    if (other) {
        (void)snprintf(opening->path, sizeof opening->path, "%s", other);
        return ctf_read_metadata_file(opening->t, other, &trace->class->metadata,
                                      &trace->class->metadata_n, error);
    }
    const struct folder_file *file = folder_find_file(trace->folder, CTF_METADATA);
    if (ctf_prefix_pass_metadata(opening->set->grown, opening->set->folders, trace))
        return TTR_OK;
    if (!file)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "%s holds no file \"%s\", which tells how the others are read",
                    folder_path(trace->folder), CTF_METADATA);
    return folder_read_file(trace->folder, file, CTF_METADATA_MAX, &trace->class->metadata,
                            &trace->class->metadata_n, error);
}

/* The first damage of the metadata; NULL where there is none. */
const ttr_diagnostic *ctf_opening_damage(const struct ctf_opening *opening)
{
    for (size_t i = 0; i < opening->notes.n; i++)
        if (opening->notes.note[i].severity == TTR_SEVERITY_DAMAGE)
            return &opening->notes.note[i];
    return NULL;
}

/* Those of TSDL begin with file and line. */
static bool names_file(const struct ctf_opening *opening, const ttr_diagnostic *note)
{
    return strncmp(note->text, opening->path, strlen(opening->path)) == 0;
}

static ttr_status refuse_damage(const struct ctf_opening *opening, ttr_error *error)
{
    const ttr_diagnostic *damage = opening->options && opening->options->flags & TTR_READ_STRICT
                                       ? ctf_opening_damage(opening)
                                       : NULL;
    if (!damage)
        return TTR_OK;
    if (names_file(opening, damage))
        return fail(error, TTR_E_MALFORMED, damage->first_offset, "%s (%s)", damage->text,
                    damage->code);
    return fail(error, TTR_E_MALFORMED, damage->first_offset, "%s: %s (%s)", opening->path,
                damage->text, damage->code);
}

/* Bare text without its opening comment is taken for the RFC's, which has no ":=" outside of texts:
 * what it breaks of that grammar would mislead. */
static bool lacks_opening(const struct ctf_text *text)
{
    return text->p && text->n && memmem(text->p, text->n, ":=", 2);
}

static ttr_status parse_metadata(struct ctf_opening *opening, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    struct ctf_description *description = &trace->class->description;
    struct ctf_key key = {trace->has_key ? trace->key : NULL};
    struct ctf_text text = {.file = opening->path};
    bool is_packetised;
    description->note = take_note;
    description->note_ctx = opening;
    enum ctf_version version = ctf_detect_metadata_language(
        trace->class->metadata, trace->class->metadata_n, &is_packetised);
    ttr_status status = ctf_unpack_metadata(description, trace->class->metadata,
                                            trace->class->metadata_n, &key, &text, error);
    text.is_part = opening->is_part;
    if (status == TTR_OK && version == CTF_RFC_1_1)
        status = rfc11_find_byte_order(trace, error);
    if (status == TTR_OK)
        status = ctf_trace_parse(trace, version, &text, error);
    if (status == TTR_E_MALFORMED && version == CTF_RFC_1_1 && !is_packetised &&
        lacks_opening(&text))
        status = fail(error, TTR_E_MALFORMED, 0,
                      "%s does not begin with \"/* CTF 1.8 */\", as metadata of CTF 1.8 must",
                      opening->path);
    if (status == TTR_OK && version == CTF_RFC_1_1)
        status = rfc11_find_alignment(trace, error);
    if (status == TTR_OK && version == CTF_RFC_1_1)
        status = rfc11_compile_cpu_context(trace, error);
    description->note = NULL;
    description->note_ctx = NULL;
    return status == TTR_OK ? refuse_damage(opening, error) : status;
}

/* Makes of the metadata what the trace is read by. */
static ttr_status make_class(struct ctf_opening *opening, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    ttr_status status = parse_metadata(opening, error);
    if (status == TTR_OK)
        status = ctf_trace_compile(trace, error);
    if (status != TTR_OK)
        return status;
    ctf_find_quirks(trace);
    /* What is told of metadata names their file; and how v1.1 is read depends on packets. */
    if (!opening->notes.n && trace->class->description.version != CTF_RFC_1_1)
        ctf_trace_publish_class(trace);
    return TTR_OK;
}

/* --- Metadata that grew --- */

/* Makes a class of the longer metadata of another folder; what is to be told of them is told where
 * they lie. */
static ttr_status make_longer(const struct ctf_opening *opening, ttr_error *error)
{
    ttr *t = opening->t;
    struct ctf_prefix_set *grown = opening->set->grown;
    const size_t folder = opening->set->folders;
    struct ctf_trace *trace = ctf_trace_new(t, NULL, error);
    struct ctf_opening longer = {.t = t, .set = opening->set, .trace = trace};
    ttr_error ctx = {0};
    ttr_status status = TTR_OK;
    if (!trace)
        return TTR_E_NOMEM;
    diagnostics_init(&longer.notes, &t->counted);
    (void)snprintf(longer.path, sizeof longer.path, "%s", ctf_prefix_longer_path(grown, folder));
    trace->class->rounds_times = opening->trace->class->rounds_times;
    trace->class->hides_mapped = opening->trace->class->hides_mapped;
    const bool is_there = ctf_prefix_pass_longer_metadata(grown, folder, trace);
    if (is_there && !ctf_trace_use_published_class(trace))
        status = make_class(&longer, &ctx);
    if (status != TTR_E_NOMEM)
        ctf_prefix_keep_longer_class(grown, folder, is_there && status == TTR_OK ? trace : NULL,
                                     longer.notes.n > 0);
    diagnostics_free(&longer.notes);
    ctf_trace_unref(trace);
    return status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
}

/* What was made of the longer metadata, where they are this trace's; NULL with TTR_OK where there
 * are none, or none of use. */
static ttr_status find_longer(struct ctf_opening *opening, const struct ctf_trace **longer,
                              ttr_error *error)
{
    bool is_bad;
    const struct ctf_prefix_set *grown = opening->set->grown;
    const size_t folder = opening->set->folders;
    *longer = NULL;
    if (!ctf_prefix_is_extended(grown, folder))
        return TTR_OK;
    ttr_status status = ctf_prefix_longer_class(grown, folder, &is_bad) || is_bad
                            ? TTR_OK
                            : make_longer(opening, error);
    *longer = ctf_prefix_longer_class(grown, folder, &is_bad);
    if (*longer && !(*longer)->class->description.has_uuid)
        *longer = NULL;
    return status;
}

static void adopt(struct ctf_opening *opening, const struct ctf_trace *longer)
{
    opening->longer = ctf_prefix_longer_path(opening->set->grown, opening->set->folders);
    ctf_trace_set_class(opening->trace, longer->class);
}

/* Where metadata of another folder of this trace begin with these and go on, it is read by those: a
 * tracer declares events before it writes them, but what it had declared need not have come into
 * these.  Longer ones that are damaged themselves are no better than these as long as these are
 * not. */
static ttr_status take_longer(struct ctf_opening *opening, ttr_error *error)
{
    const struct ctf_trace *longer;
    const struct ctf_trace_class *class = opening->trace->class;
    const bool is_bad = class->has_bad_metadata;
    ttr_status status = find_longer(opening, &longer, error);
    if (status != TTR_OK || !longer || (longer->class->has_bad_metadata && !is_bad))
        return status;
    if (!opening->notes.n)
        ctf_prefix_keep_without_notes(opening->set->grown, opening->set->folders);
    adopt(opening, longer);
    if (is_bad)
        ctf_opening_note(opening, TTR_SEVERITY_REMARK, NO_OFFSET, "ctf.longer-metadata",
                         "%s begins with these metadata and goes on: the events are read by it",
                         opening->longer);
    return TTR_OK;
}

/* Metadata that are no use by themselves, as they end before they declare a stream, cost nothing
 * where others begin with them and go on. */
static ttr_status take_longer_alone(struct ctf_opening *opening, ttr_error *error)
{
    const struct ctf_trace *longer = NULL;
    const ttr_error reason = *error;
    const bool is_strict = opening->options && opening->options->flags & TTR_READ_STRICT;
    if (is_strict || reason.status == TTR_E_NOMEM)
        return reason.status;
    ttr_status status = find_longer(opening, &longer, error);
    if (status != TTR_OK)
        return status;
    if (!longer) {
        *error = reason;
        return reason.status;
    }
    adopt(opening, longer);
    ctf_opening_note(opening, TTR_SEVERITY_DAMAGE, opening->metadata_n, "ctf.cut-metadata",
                     "the metadata end before they declare a stream");
    ctf_opening_note(opening, TTR_SEVERITY_REMARK, NO_OFFSET, "ctf.longer-metadata",
                     "%s begins with these metadata and goes on: the events are read by it",
                     opening->longer);
    return TTR_OK;
}

ttr_status ctf_find_metadata(struct ctf_opening *opening, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    struct ctf_prefix_set *grown = opening->set->grown;
    const size_t folder = opening->set->folders;
    const struct folder_file *file = folder_find_file(trace->folder, CTF_METADATA);
    if (file)
        folder_file_path(trace->folder, file, opening->path, sizeof opening->path);
    if (ctf_prefix_share_class(grown, folder, trace, &opening->metadata_n)) {
        opening->longer =
            ctf_prefix_is_extended(grown, folder) ? ctf_prefix_longer_path(grown, folder) : NULL;
        return TTR_OK;
    }
    ttr_status status = read_metadata(opening, error);
    if (status != TTR_OK)
        return status;
    opening->metadata_n = trace->class->metadata_n;
    opening->is_part = ctf_prefix_is_extended(grown, folder);
    if (!ctf_trace_use_published_class(trace))
        status = make_class(opening, error);
    ctf_prefix_keep_class(grown, folder, status == TTR_OK ? trace : NULL, opening->notes.n > 0);
    return status == TTR_OK ? take_longer(opening, error) : take_longer_alone(opening, error);
}

/* What became of what metadata end in. */
static const char *consequence_of(const struct ctf_opening *opening, const ttr_diagnostic *note)
{
    if (strcmp(note->code, "ctf.cut-metadata") != 0)
        return "";
    return opening->longer ? ", where those of another folder go on, which are read"
                           : ", which is left out";
}

/* Notes of metadata without damage are told by the first stream's input, which has no such places:
 * the texts have them. */
void ctf_opening_report(const struct ctf_opening *opening)
{
    for (size_t i = 0; i < opening->notes.n && opening->first; i++) {
        const ttr_diagnostic *note = &opening->notes.note[i];
        const bool has_place = opening->is_metadata || !note->first_offset ||
                               note->first_offset == NO_OFFSET || names_file(opening, note);
        const char *consequence = consequence_of(opening, note);
        char place[48] = "";
        if (!has_place)
            (void)snprintf(place, sizeof place,
                           CTF_METADATA ", byte %llu: ", (unsigned long long)note->first_offset);
        for (uint64_t k = 0; k < note->count; k++)
            input_add_diagnostic(opening->first, note->severity,
                                 opening->is_metadata ? note->first_offset : NO_OFFSET, note->code,
                                 "%s%s%s", place, note->text, consequence);
    }
}
