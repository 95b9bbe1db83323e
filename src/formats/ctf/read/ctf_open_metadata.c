/* Finds and parses the metadata of a trace that is being opened.
 *
 * Candidates in this order: the file of option `metadata`; the file `metadata` of the folder; and,
 * if they exist, longer metadata in another folder of the trace that start with the same bytes
 * (ctf_metadata_prefix.h). Diagnostics are stored until an input exists that can report them. */
#include "formats/ctf/read/ctf_open.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/ctf_metadata_prefix.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/read/rfc11_read.h"
#include "model/options.h"

void ctf_opening_add_diagnostic(struct ctf_opening *opening, ttr_severity severity, uint64_t offset,
                                const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    diagnostics_add(&opening->notes, severity, &(ttr_region){.offset = offset, .code = code},
                    format, values);
    va_end(values);
}

static void store_metadata_diagnostic(void *ctx, ttr_severity severity, uint64_t offset,
                                      const char *code, const char *text)
{
    struct ctf_opening *opening = ctx;
    opening->trace->class->has_bad_metadata |= severity == TTR_SEVERITY_DAMAGE;
    ctf_opening_add_diagnostic(opening, severity, offset, code, "%s", text);
}

/* Returns true if the metadata file is a link out of the folder that was not followed. */
static bool is_metadata_link_skipped(const struct folder *folder)
{
    enum folder_skip why;
    const char *name;
    for (size_t i = 0; (name = folder_get_skipped_entry(folder, i, &why)) != NULL; i++)
        if (why == FOLDER_SKIP_OUTSIDE && strcmp(name, CTF_METADATA) == 0)
            return true;
    return false;
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
    if (ctf_prefix_move_metadata(opening->set->prefix_set, opening->set->folders, trace))
        return TTR_OK;
    if (!file && is_metadata_link_skipped(trace->folder)) {
        const ttr_status status = fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                                       "%s: file \"%s\" is a link out of the folder; use "
                                       "TTR_READ_FOLLOW_LINKS to read it",
                                       folder_path(trace->folder), CTF_METADATA);
        return error_set_option(error, status, "follow_links");
    }
    if (!file)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "%s: file \"%s\" is missing, which describes the stream files",
                    folder_path(trace->folder), CTF_METADATA);
    return folder_read_file(trace->folder, file, CTF_METADATA_MAX, &trace->class->metadata,
                            &trace->class->metadata_n, error);
}

const ttr_diagnostic *ctf_opening_find_damage(const struct ctf_opening *opening)
{
    for (size_t i = 0; i < opening->notes.n; i++)
        if (opening->notes.note[i].severity == TTR_SEVERITY_DAMAGE)
            return &opening->notes.note[i];
    return NULL;
}

/* Returns true if the text of the diagnostic starts with the path of the metadata file, as TSDL
 * diagnostics do. */
static bool diagnostic_starts_with_file_name(const struct ctf_opening *opening,
                                             const ttr_diagnostic *note)
{
    return strncmp(note->text, opening->path, strlen(opening->path)) == 0;
}

static ttr_status reject_damaged_metadata(const struct ctf_opening *opening, ttr_error *error)
{
    const ttr_diagnostic *damage = opening->options && opening->options->flags & TTR_READ_STRICT
                                       ? ctf_opening_find_damage(opening)
                                       : NULL;
    if (!damage)
        return TTR_OK;
    if (diagnostic_starts_with_file_name(opening, damage))
        return fail(error, TTR_E_MALFORMED, damage->first_offset, "%s (%s)", damage->text,
                    damage->code);
    return fail(error, TTR_E_MALFORMED, damage->first_offset, "%s: %s (%s)", opening->path,
                damage->text, damage->code);
}

/* The text has no opening comment of TSDL, so it was parsed as v1.1. Returns true if it is
 * probably TSDL, so the errors of the v1.1 parser would mislead: it contains ":=", which v1.1 has
 * only inside strings. */
static bool is_probably_tsdl(const struct ctf_text *text)
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
    description->note = store_metadata_diagnostic;
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
        is_probably_tsdl(&text))
        status = fail(error, TTR_E_MALFORMED, 0,
                      "%s does not start with \"/* CTF 1.8 */\", as metadata of CTF 1.8 must",
                      opening->path);
    if (status == TTR_OK && version == CTF_RFC_1_1)
        status = rfc11_find_alignment(trace, error);
    if (status == TTR_OK && version == CTF_RFC_1_1)
        status = rfc11_compile_cpu_context(trace, error);
    description->note = NULL;
    description->note_ctx = NULL;
    return status == TTR_OK ? reject_damaged_metadata(opening, error) : status;
}

/* Parses the metadata and compiles the trace class. */
static ttr_status parse_and_compile_class(struct ctf_opening *opening, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    ttr_status status = parse_metadata(opening, error);
    if (status == TTR_OK)
        status = ctf_trace_compile(trace, error);
    if (status != TTR_OK)
        return status;
    ctf_detect_tracer_quirks(trace);
    /* a class with diagnostics is not shared, because their texts contain the file name; a v1.1
     * class is not, because it depends on the packets */
    if (!opening->notes.n && trace->class->description.version != CTF_RFC_1_1)
        ctf_trace_publish_class(trace);
    return TTR_OK;
}

/* --- Metadata with a common prefix --- */

/* Parses the longer metadata of another folder and stores the class in the prefix set. Their
 * diagnostics are reported when that folder is opened. */
static ttr_status parse_longer_metadata(const struct ctf_opening *opening, ttr_error *error)
{
    ttr *t = opening->t;
    struct ctf_prefix_set *prefix_set = opening->set->prefix_set;
    const size_t folder = opening->set->folders;
    struct ctf_trace *trace = ctf_trace_new(t, NULL, error);
    struct ctf_opening longer = {.t = t, .set = opening->set, .trace = trace};
    ttr_error ctx = {0};
    ttr_status status = TTR_OK;
    if (!trace)
        return TTR_E_NOMEM;
    diagnostics_init(&longer.notes, &t->counted);
    (void)snprintf(longer.path, sizeof longer.path, "%s",
                   ctf_prefix_get_longer_path(prefix_set, folder));
    trace->class->rounds_times = opening->trace->class->rounds_times;
    trace->class->hides_mapped = opening->trace->class->hides_mapped;
    const bool is_there = ctf_prefix_move_longer_metadata(prefix_set, folder, trace);
    if (is_there && !ctf_trace_use_published_class(trace))
        status = parse_and_compile_class(&longer, &ctx);
    if (status != TTR_E_NOMEM)
        ctf_prefix_store_class_of_longer(
            prefix_set, folder, is_there && status == TTR_OK ? trace : NULL, longer.notes.n > 0);
    diagnostics_free(&longer.notes);
    ctf_trace_unref(trace);
    return status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
}

/* Sets *longer to the trace that has the parsed longer metadata of another folder. Sets it to NULL
 * if no other folder has longer metadata, or they are unusable or have no UUID. */
static ttr_status find_longer_metadata(struct ctf_opening *opening, const struct ctf_trace **longer,
                                       ttr_error *error)
{
    bool is_bad;
    const struct ctf_prefix_set *prefix_set = opening->set->prefix_set;
    const size_t folder = opening->set->folders;
    *longer = NULL;
    if (!ctf_prefix_has_longer_metadata(prefix_set, folder))
        return TTR_OK;
    ttr_status status = ctf_prefix_get_longer_class(prefix_set, folder, &is_bad) || is_bad
                            ? TTR_OK
                            : parse_longer_metadata(opening, error);
    *longer = ctf_prefix_get_longer_class(prefix_set, folder, &is_bad);
    if (*longer && !(*longer)->class->description.has_uuid)
        *longer = NULL;
    return status;
}

static void set_longer_metadata(struct ctf_opening *opening, const struct ctf_trace *longer)
{
    opening->longer = ctf_prefix_get_longer_path(opening->set->prefix_set, opening->set->folders);
    ctf_trace_set_class(opening->trace, longer->class);
}

/* Uses the longer metadata of another folder unless only they are damaged. A tracer declares an
 * event class before it writes such events, but an older copy of the metadata may lack the
 * declaration. */
static ttr_status use_longer_metadata(struct ctf_opening *opening, ttr_error *error)
{
    const struct ctf_trace *longer;
    const struct ctf_trace_class *class = opening->trace->class;
    const bool is_bad = class->has_bad_metadata;
    ttr_status status = find_longer_metadata(opening, &longer, error);
    if (status != TTR_OK || !longer || (longer->class->has_bad_metadata && !is_bad))
        return status;
    if (!opening->notes.n)
        ctf_prefix_mark_undamaged(opening->set->prefix_set, opening->set->folders);
    set_longer_metadata(opening, longer);
    if (is_bad)
        ctf_opening_add_diagnostic(
            opening, TTR_SEVERITY_REMARK, NO_OFFSET, "ctf.longer-metadata",
            "%s starts with these metadata and is longer: events are read with it",
            opening->longer);
    return TTR_OK;
}

/* If the folder's own metadata cannot be parsed because they end too early: uses longer metadata
 * of another folder. Returns the original error if no other folder has any. */
static ttr_status use_longer_metadata_after_failure(struct ctf_opening *opening, ttr_error *error)
{
    const struct ctf_trace *longer = NULL;
    const ttr_error reason = *error;
    const bool is_strict = opening->options && opening->options->flags & TTR_READ_STRICT;
    if (is_strict || reason.status == TTR_E_NOMEM)
        return reason.status;
    ttr_status status = find_longer_metadata(opening, &longer, error);
    if (status != TTR_OK)
        return status;
    if (!longer) {
        *error = reason;
        return reason.status;
    }
    set_longer_metadata(opening, longer);
    ctf_opening_add_diagnostic(opening, TTR_SEVERITY_DAMAGE, opening->metadata_n,
                               "ctf.cut-metadata", "the metadata end before they declare a stream");
    ctf_opening_add_diagnostic(
        opening, TTR_SEVERITY_REMARK, NO_OFFSET, "ctf.longer-metadata",
        "%s starts with these metadata and is longer: events are read with it", opening->longer);
    return TTR_OK;
}

ttr_status ctf_find_metadata(struct ctf_opening *opening, ttr_error *error)
{
    struct ctf_trace *trace = opening->trace;
    struct ctf_prefix_set *prefix_set = opening->set->prefix_set;
    const size_t folder = opening->set->folders;
    const struct folder_file *file = folder_find_file(trace->folder, CTF_METADATA);
    if (file)
        folder_file_path(trace->folder, file, opening->path, sizeof opening->path);
    if (ctf_prefix_share_class(prefix_set, folder, trace, &opening->metadata_n)) {
        opening->longer = ctf_prefix_has_longer_metadata(prefix_set, folder)
                              ? ctf_prefix_get_longer_path(prefix_set, folder)
                              : NULL;
        return TTR_OK;
    }
    ttr_status status = read_metadata(opening, error);
    if (status != TTR_OK)
        return status;
    opening->metadata_n = trace->class->metadata_n;
    opening->is_part = ctf_prefix_has_longer_metadata(prefix_set, folder);
    if (!ctf_trace_use_published_class(trace))
        status = parse_and_compile_class(opening, error);
    ctf_prefix_store_class(prefix_set, folder, status == TTR_OK ? trace : NULL,
                           opening->notes.n > 0);
    return status == TTR_OK ? use_longer_metadata(opening, error)
                            : use_longer_metadata_after_failure(opening, error);
}

/* Returns a text that states the consequence of truncated metadata, to be appended to the
 * diagnostic; "" for other diagnostics. */
static const char *get_consequence_text(const struct ctf_opening *opening,
                                        const ttr_diagnostic *note)
{
    if (strcmp(note->code, "ctf.cut-metadata") != 0)
        return "";
    return opening->longer ? "; the longer metadata of another folder are used" : "; skipped";
}

/* An input that represents the metadata file reports all diagnostics with their offsets. Without
 * one, the input of the first stream file reports them, and their offsets are part of the text. */
void ctf_opening_report_diagnostics(const struct ctf_opening *opening)
{
    for (size_t i = 0; i < opening->notes.n && opening->first; i++) {
        const ttr_diagnostic *note = &opening->notes.note[i];
        const bool has_place = opening->is_metadata || !note->first_offset ||
                               note->first_offset == NO_OFFSET ||
                               diagnostic_starts_with_file_name(opening, note);
        const char *consequence = get_consequence_text(opening, note);
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
