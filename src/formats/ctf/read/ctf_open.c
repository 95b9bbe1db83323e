/* Opens a CTF trace: one input for each packet queue of each stream file.
 *
 * Steps, for each folder (open_folder_trace):
 * |  1. Copy and check the options (prepare_opening).
 * |  2. Find the metadata: option `metadata`, the file `metadata` of the folder, or the longer
 * |     metadata of another folder of the trace (ctf_open_metadata.c). Traces with equal
 * |     metadata share one parsed class.
 * |  3. Open each stream file: build its index (ctf_build_index.h), and make one input per
 * |     packet queue. Copies get one input for all queues, since they need packets in file
 * |     order.
 * |  4. Add the inputs to the stream set, which sorts, links and merges them
 * |     (ctf_stream_set.h).
 *
 * All regular files of the folder are stream files, except for `metadata`, hidden files and files
 * of subfolders (index/).
 *
 * A folder or file that cannot be read does not prevent the others from being read. It is replaced
 * by an input without events that reports the reason as damage. Opening fails in strict mode, if
 * memory runs out, if options are wrong, and if nothing at all can be read.
 *
 * Memory: with hundreds of files the windows get smaller (source_chunk_size), and the packet queues
 * of one file share the window size of a file. Left out: live traces (live/ctf_live.c). */
#include "formats/ctf/read/ctf_open.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/description/ctf_attributes.h"
#include "formats/ctf/metadata/ctf_metadata_prefix.h"
#include "formats/ctf/read/ctf_intersect.h"
#include "formats/ctf/read/ctf_receiver_losses.h"
#include "formats/ctf/live/ctf_live.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/read/rfc11_read.h"
#include "model/options.h"

#define WINDOW_SMALL ((size_t)32 << 10)
#define WINDOW_TINY ((size_t)12 << 10)
#define READERS_MAX 1024u
/* if a trace has more inputs, their windows are smaller, because large ones would mostly contain
 * packets that the input skips */
#define LARGE_WINDOWS_MAX ((size_t)256)

/* --- Stream files --- */

static bool is_opened_for_copy(const struct ctf_opening *opening)
{
    return opening->options && opening->options->flags & TTR_READ_DEFINITIONS;
}

/* Returns true if a file may be a stream file by its name. If `only` is set, the name must be
 * `only`. */
static bool is_stream_file_name(const struct ctf_opening *opening, const struct folder_file *file)
{
    if (strchr(file->name, '/') || strcmp(file->name, CTF_METADATA) == 0 || file->name[0] == '.')
        return false;
    return !opening->only || strcmp(opening->only, file->name) == 0;
}

/* Returns true if a file is empty and may be skipped. `source`: the open file, or NULL if it
 * cannot be opened. Copies include empty files. A file that was deleted after the folder was
 * listed does not count as empty, so that it is reported. */
static bool is_empty_stream_file(const struct ctf_opening *opening, const struct folder_file *file,
                                 const struct source *source)
{
    uint64_t size = 0;
    if (is_opened_for_copy(opening))
        return false;
    return source ? source_disk_size(source) == 0
                  : folder_file_size(opening->trace->folder, file, &size) && size == 0;
}

static bool file_has_stream_class(const struct ctf_opening *opening, const struct folder_file *file)
{
    const struct ctf_description *description = &opening->trace->class->description;
    bool has_cpu;
    uint32_t cpu;
    return description->version != CTF_RFC_1_1 ||
           rfc11_find_section_of_file(description, file->name, &has_cpu, &cpu);
}

/* Lowers the maximum number of packets per batch if windows are small because there are many
 * inputs. */
static void set_packet_slot_limit(const struct ctf_opening *opening, struct input *in)
{
    const size_t chunk = opening->source_options.chunk;
    if (chunk && chunk <= WINDOW_SMALL)
        ((struct ctf_reader *)in->ctx)->slots_max =
            chunk <= WINDOW_TINY ? CTF_SLOTS_MIN : CTF_SLOTS_SMALL;
}

/* Returns an input for a stream file. Consumes `source`; NULL means that the file could not be
 * opened. Returns NULL with `error` on failure. */
static struct input *make_stream_input(struct ctf_opening *opening, const struct folder_file *file,
                                       struct source *source, ttr_error *error)
{
    char path[1024];
    struct ctf_trace *trace = opening->trace;
    if (!source)
        return NULL;
    folder_file_path(trace->folder, file, path, sizeof path);
    struct input *in = input_new(opening->t, source, &format_ctf, path, opening->options, error);
    if (!in)
        return NULL;
    ctf_trace_add_input(trace, in, file->name, opening->files);
    set_packet_slot_limit(opening, in);
    if (trace->class->description.version == CTF_RFC_1_1)
        rfc11_assign_stream_class(in->ctx);
    return in;
}

/* Opens a stream file again and returns a further input for it, for another packet queue. */
static struct input *make_second_input(struct ctf_opening *opening, const struct folder_file *file,
                                       ttr_error *error)
{
    return make_stream_input(
        opening, file,
        folder_open_file(opening->trace->folder, file, &opening->source_options, error), error);
}

/* Sets the packet queue that the input reads; an input for copies reads all queues. Adds a
 * reference to the index. */
static void set_reader_queue(struct input *in, struct ctf_file_index *file_index, uint32_t i)
{
    struct ctf_reader *reader = in->ctx;
    bool is_copy = in->flags & TTR_READ_DEFINITIONS;
    file_index->users++;
    reader->file_index = file_index;
    reader->queue = i;
    reader->reads_all_queues = is_copy;
    in->shares_file = i > 0;
    reader->is_in_order = file_index->queue[i].is_in_order && (!is_copy || file_index->n == 1);
    bool is_ordered = (reader->is_in_order || is_copy) && !(in->flags & TTR_READ_UNORDERED);
    in->base.order = is_ordered ? TTR_ORDER_TIME : TTR_ORDER_NONE;
}

/* Decodes the last event of the queue that was added last, and sets the end of the queue to its
 * time. Does so only if the option stream-intersection is set and the tracer is known to write
 * wrong packet ends. */
static ttr_status correct_queue_end(struct ctf_opening *opening, const struct folder_file *file,
                                    ttr_error *error)
{
    struct ctf_opened_queue *opened = &opening->set->opened[opening->set->n - 1];
    const struct ctf_reader *reader = opened->in->ctx;
    if (!opening->set->intersects || !ctf_queue_end_is_unreliable(opening->trace, &opened->queue))
        return TTR_OK;
    struct input *in = make_second_input(opening, file, error);
    if (!in)
        return error->status;
    set_reader_queue(in, reader->file_index, opened->queue_i);
    context_share_attributes(opening->t, in->id, opening->trace->thread_source);
    return ctf_decode_queue_end(in, &opened->queue, error);
}

static void extend_trace_time_range(struct ctf_trace *trace, const struct ctf_packet_queue *queue)
{
    trace->lacks_times |= queue->kind && !queue->has_begin;
    if (queue->has_begin && queue->begin < trace->begin)
        trace->begin = queue->begin;
    if (queue->has_begin && queue->end > trace->end)
        trace->end = queue->end;
}

/* Adds packet queue `i` of the file, and the input that reads it, to the set. The set becomes
 * owner of the input, even on failure. */
static ttr_status add_queue_input(struct ctf_opening *opening, struct input *in,
                                  struct ctf_file_index *file_index, uint32_t i, ttr_error *error)
{
    struct ctf_opened_queue opened = {.in = in,
                                      .queue_i = i,
                                      .queue = file_index->queue[i],
                                      .folder = opening->set->folders,
                                      .file = opening->files};
    extend_trace_time_range(opening->trace, &opened.queue);
    opened.number = opened.queue.has_number ? opened.queue.number : opened.file;
    opened.is_shared = i > 0 && in->flags & TTR_READ_DEFINITIONS;
    ttr_status status = ctf_stream_set_add(opening->set, &opened, error);
    if (status != TTR_OK || opened.is_shared)
        return status;
    opening->first = opening->first ? opening->first : in;
    set_reader_queue(in, file_index, i);
    return ctf_add_stream_attributes(in, opening->trace, &opened.queue, opened.number)
               ? TTR_OK
               : fail_memory(error);
}

/* Returns true if the error concerns only one trace or file: the others can still be read. */
static bool is_error_of_one_trace(const struct ctf_stream_set *set, ttr_status status)
{
    bool is_strict = set->options && set->options->flags & TTR_READ_STRICT;
    return !is_strict && status != TTR_OK && status != TTR_E_NOMEM && status != TTR_E_MISUSE &&
           status != TTR_AGAIN;
}

/* Returns an input without events, for the file with this number. The caller must add it to the
 * set. */
static struct input *make_eventless_input(struct ctf_opening *opening, const char *path,
                                          uint64_t number, ttr_error *error)
{
    struct source *source = source_open_memory(&opening->t->counted, "", 0, NULL, error);
    struct input *in =
        source ? input_new(opening->t, source, &format_ctf, path, opening->options, error) : NULL;
    if (!in)
        return NULL;
    ctf_trace_add_input(opening->trace, in, CTF_METADATA, number);
    ((struct ctf_reader *)in->ctx)->is_eventless = true;
    return in;
}

/* Adds an input without events in place of an unreadable file. The input reports `reason` as damage
 * at `where`. */
static ttr_status add_damage_input(struct ctf_opening *opening, const struct folder_file *file,
                                   const ttr_region *where, const char *reason, ttr_error *error)
{
    char path[1024];
    struct ctf_trace *trace = opening->trace;
    folder_file_path(trace->folder, file, path, sizeof path);
    struct input *in = make_eventless_input(opening, path, opening->files++, error);
    if (!in)
        return error->status;
    in->size = where->bytes;
    ttr_status status = input_add_damage(in, where->offset, where->bytes, where->code, error,
                                         "%.*s", (int)strcspn(reason, "\n"), reason);
    if (status != TTR_OK) {
        ttr_close(&in->base);
        return status;
    }
    status =
        ctf_stream_set_add(opening->set,
                           &(struct ctf_opened_queue){
                               .in = in, .folder = opening->set->folders, .file = opening->files},
                           error);
    if (status != TTR_OK)
        return status;
    if (in->id == trace->thread_source)
        return ctf_add_trace_only_attributes(in, trace) ? TTR_OK : fail_memory(error);
    context_share_attributes(opening->t, in->id, trace->thread_source);
    return TTR_OK;
}

/* Divides the window size of a file among the inputs of its packet queues, so that a file with many
 * queues needs no more memory than others. */
static void divide_window_size(struct ctf_opening *opening, struct input *first,
                               const struct ctf_file_index *file_index)
{
    if (file_index->n == 1 || first->flags & TTR_READ_DEFINITIONS)
        return;
    const size_t n = opening->set->files * file_index->n;
    opening->source_options.chunk = source_chunk_size(n > LARGE_WINDOWS_MAX ? n : (n + 1) / 2);
    opening->source_options.is_sparse = true;
    source_limit_window(first->source, opening->source_options.chunk);
    set_packet_slot_limit(opening, first);
}

/* Replaces a file that cannot be opened by an input that reports the error. */
static ttr_status replace_unreadable_file(struct ctf_opening *opening,
                                          const struct folder_file *file, ttr_error *error)
{
    const ttr_error reason = *error;
    if (!is_error_of_one_trace(opening->set, reason.status))
        return reason.status;
    if (opening->unreadable++ == 0)
        opening->reason = reason;
    return add_damage_input(opening, file,
                            &(ttr_region){.offset = NO_OFFSET, .code = "ctf.unreadable"},
                            reason.text, error);
}

/* RFC v1.1: skips and reports a file with a name that matches no stream class. `is_lost`: no file
 * of the trace matches, so the metadata must be incomplete, and the file is reported as damage. */
static ttr_status skip_file_without_stream_class(struct ctf_opening *opening,
                                                 const struct folder_file *file, bool is_lost,
                                                 ttr_error *error)
{
    static const char code[] = "ctf.no-section";
    uint64_t size;
    if (!folder_file_size(opening->trace->folder, file, &size) || size == 0 || !is_lost) {
        ctf_opening_add_diagnostic(opening, TTR_SEVERITY_ODD, 0, code,
                                   "the name of file %s matches no section: skipped", file->name);
        return TTR_OK;
    }
    ttr_status status = add_damage_input(
        opening, file, &(ttr_region){.bytes = size == FOLDER_SIZE_UNKNOWN ? 0 : size, .code = code},
        "no stream file matches a section; the metadata may be truncated", error);
    if (status == TTR_OK && !opening->first)
        opening->first = opening->set->opened[opening->set->n - 1].in;
    return status;
}

/* Opens a stream file: adds one input per packet queue; only one input if packets are to be
 * copied. */
static ttr_status open_stream_file(struct ctf_opening *opening, const struct folder_file *file,
                                   ttr_error *error)
{
    opening->source_options.chunk = opening->set->chunk;
    opening->source_options.is_sparse = false;
    struct source *source =
        folder_open_file(opening->trace->folder, file, &opening->source_options, error);
    if (is_empty_stream_file(opening, file, source)) {
        source_close(source);
        return TTR_OK;
    }
    struct input *in = make_stream_input(opening, file, source, error);
    if (!in)
        return replace_unreadable_file(opening, file, error);
    struct ctf_file_index *file_index = ctf_build_index(in->ctx, error);
    if (!file_index) {
        ttr_close(&in->base);
        return replace_unreadable_file(opening, file, error);
    }
    divide_window_size(opening, in, file_index);
    ttr_status status = add_queue_input(opening, in, file_index, 0, error);
    if (status == TTR_OK)
        status = correct_queue_end(opening, file, error);
    for (uint32_t i = 1; i < file_index->n && status == TTR_OK; i++) {
        in = is_opened_for_copy(opening) ? in : make_second_input(opening, file, error);
        status = in ? add_queue_input(opening, in, file_index, i, error) : error->status;
        if (status == TTR_OK)
            status = correct_queue_end(opening, file, error);
    }
    ctf_file_index_unref(file_index);
    opening->files++;
    return status;
}

/* Reports folder entries that cannot be stream files: pipes, sockets, broken links. */
static void report_unusable_entries(struct ctf_opening *opening)
{
    static const char *const reasons[] = {[FOLDER_SKIP_SPECIAL] = "FIFO, a socket or a device",
                                          [FOLDER_SKIP_DANGLING] = "broken link",
                                          [FOLDER_SKIP_OUTSIDE] =
                                              "link to a file outside of the trace's folder"};
    const char *name;
    enum folder_skip why;
    for (size_t i = 0;
         !opening->only && (name = folder_get_skipped_entry(opening->trace->folder, i, &why)); i++)
        if (!strchr(name, '/'))
            ctf_opening_add_diagnostic(opening, TTR_SEVERITY_ODD, NO_OFFSET,
                                       why == FOLDER_SKIP_OUTSIDE ? "ctf.link" : "ctf.no-file",
                                       "%s is a %s: skipped%s", name, reasons[why],
                                       why == FOLDER_SKIP_OUTSIDE ? ", unless links are followed"
                                                                  : "");
}

/* RFC v1.1: returns true if the name of no file matches a stream class. */
static bool has_no_file_with_stream_class(const struct ctf_opening *opening)
{
    const struct folder_file *file;
    for (size_t i = 0; (file = folder_get_file(opening->trace->folder, i)); i++)
        if (is_stream_file_name(opening, file) && file_has_stream_class(opening, file) &&
            !is_empty_stream_file(opening, file, NULL))
            return false;
    return true;
}

static ttr_status open_stream_files(struct ctf_opening *opening, ttr_error *error)
{
    const struct ctf_trace *trace = opening->trace;
    const struct folder_file *file;
    ttr_status status = TTR_OK;
    opening->source_options.no_mmap =
        opening->options && opening->options->flags & TTR_READ_NO_MMAP;
    const bool is_lost =
        trace->class->description.version == CTF_RFC_1_1 && has_no_file_with_stream_class(opening);
    for (size_t i = 0; status == TTR_OK && (file = folder_get_file(trace->folder, i)); i++)
        if (is_stream_file_name(opening, file) && file_has_stream_class(opening, file))
            status = open_stream_file(opening, file, error);
        else if (is_stream_file_name(opening, file) && !is_empty_stream_file(opening, file, NULL))
            status = skip_file_without_stream_class(opening, file, is_lost, error);
    report_unusable_entries(opening);
    if (status == TTR_OK && opening->unreadable && !opening->first) {
        *error = opening->reason;
        return error->status;
    }
    return status;
}

/* Adds an input without events for a trace without stream files, so that a caller can query its
 * metadata. */
static ttr_status add_eventless_trace(struct ctf_opening *opening, ttr_error *error)
{
    struct input *in = make_eventless_input(opening, opening->path, 0, error);
    if (!in)
        return error->status;
    /* diagnostics of this input are offsets in the metadata file, so it has the size of that file
     */
    in->size = opening->metadata_n;
    ttr_status status = ctf_stream_set_add(
        opening->set, &(struct ctf_opened_queue){.in = in, .folder = opening->set->folders}, error);
    if (status != TTR_OK)
        return status;
    opening->first = in;
    opening->is_metadata = true;
    return ctf_add_trace_only_attributes(in, opening->trace) ? TTR_OK : fail_memory(error);
}

/* Adds an input that represents the metadata file, so that damage can be reported with offsets in
 * it. */
static ttr_status add_metadata_input(struct ctf_opening *opening, ttr_error *error)
{
    struct input *in = make_eventless_input(opening, opening->path, opening->files, error);
    if (!in)
        return error->status;
    in->size = opening->metadata_n;
    in->shares_file = true; /* excludes this input from the progress in bytes */
    ttr_status status =
        ctf_stream_set_add(opening->set,
                           &(struct ctf_opened_queue){
                               .in = in, .folder = opening->set->folders, .file = opening->files},
                           error);
    if (status != TTR_OK)
        return status;
    opening->first = in;
    opening->is_metadata = true;
    return ctf_add_metadata_attributes(in, opening->trace) ? TTR_OK : fail_memory(error);
}

/* --- Traces in folders --- */

/* Parses an option with two possible values. Sets *is_other to true if the option is `other`, and
 * to false if it is the default or unset. */
static ttr_status parse_choice_option(const struct ctf_opening *opening, const char *key,
                                      const char *default_value, const char *other, bool *is_other,
                                      ttr_error *error)
{
    const char *value = options_get(opening->copies, opening->copies_n, key);
    *is_other = value && strcmp(value, other) == 0;
    if (!value || *is_other || strcmp(value, default_value) == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "option %s=%s of ctf: expected %s or %s", key,
                value, default_value, other);
}

static ttr_status read_intersection_option(struct ctf_opening *opening, ttr_error *error)
{
    const char *value = options_get(opening->copies, opening->copies_n, "stream-intersection");
    opening->set->intersects = value && strcmp(value, "yes") == 0;
    if (!value || opening->set->intersects || strcmp(value, "no") == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET,
                "option stream-intersection=%s of ctf: expected yes or no", value);
}

/* Reads the losses of the receiver that stored the trace. Reports a file of them that is invalid.
 */
static ttr_status load_receiver_losses(struct ctf_opening *opening, ttr_error *error)
{
    bool is_valid;
    ttr_status status = ctf_load_receiver_losses(opening->trace, &is_valid, error);
    if (status == TTR_OK && !is_valid)
        ctf_opening_add_diagnostic(opening, TTR_SEVERITY_ODD, NO_OFFSET, "ctf.bad-losses",
                                   "%s has other lines than a name of a loss and its number: "
                                   "losses of the receiver are unknown",
                                   CTF_RECEIVER_LOSSES);
    return status;
}

static ttr_status prepare_opening(struct ctf_opening *opening, ttr_error *error)
{
    const char *const *given = opening->options ? opening->options->format_options : NULL;
    struct options_list list = {&opening->t->counted, given, &format_ctf, false};
    ttr_status status = options_copy(&list, &opening->copies, &opening->copies_n, error);
    if (status == TTR_OK)
        status = parse_choice_option(opening, "time", "exact", "double",
                                     &opening->trace->class->rounds_times, error);
    if (status == TTR_OK)
        status = parse_choice_option(opening, "mapped", "shown", "hidden",
                                     &opening->trace->class->hides_mapped, error);
    if (status == TTR_OK)
        status = read_intersection_option(opening, error);
    if (status == TTR_OK)
        status = rfc11_read_options(opening->trace, opening->copies, opening->copies_n, error);
    if (status == TTR_OK)
        status = ctf_check_live_options(opening->copies, opening->copies_n, error);
    if (status == TTR_OK)
        status = ctf_find_metadata(opening, error);
    if (status != TTR_OK)
        return status;
    const bool is_damaged = ctf_opening_find_damage(opening) != NULL;
    status = load_receiver_losses(opening, error);
    status = status == TTR_OK ? open_stream_files(opening, error) : status;
    const bool is_eventless = status == TTR_OK && !opening->first;
    if (is_eventless)
        status = add_eventless_trace(opening, error);
    if (status == TTR_OK && !ctf_add_longer_metadata_attribute(opening->trace, opening->longer))
        status = fail_memory(error);
    return status == TTR_OK && is_damaged && !is_eventless ? add_metadata_input(opening, error)
                                                           : status;
}

/* Opens the trace in a folder and adds its inputs to the set. Consumes the folder. */
static ttr_status open_folder_trace(struct ctf_stream_set *set, struct folder *folder,
                                    const char *only, ttr_error *error)
{
    ttr *t = set->t;
    /* this function holds a reference to the trace until it returns */
    struct ctf_trace *trace = ctf_trace_new(t, folder, error);
    struct ctf_opening opening = {
        .t = t, .set = set, .only = only, .options = set->options, .trace = trace};
    if (!trace)
        return TTR_E_NOMEM;
    diagnostics_init(&opening.notes, &t->counted);
    trace->begin = INT64_MAX;
    trace->end = INT64_MIN;
    ttr_status status = prepare_opening(&opening, error);
    trace->group = set->n ? set->opened[0].in->id : 0;
    ctf_opening_report_diagnostics(&opening);
    options_free(&t->counted, opening.copies, opening.copies_n);
    diagnostics_free(&opening.notes);
    ctf_trace_unref(trace);
    set->folders++;
    return status;
}

/* Adds an input without events for an unreadable trace. The input reports `reason` as damage. */
static ttr_status add_unreadable_trace(struct ctf_stream_set *set, const char *path,
                                       const char *code, const char *reason, ttr_error *error)
{
    ttr *t = set->t;
    struct source *source = source_open_memory(&t->counted, "", 0, NULL, error);
    struct input *in = source ? input_new(t, source, &format_ctf, path, set->options, error) : NULL;
    struct ctf_trace *trace = in ? ctf_trace_new(t, NULL, error) : NULL;
    if (!trace) {
        ttr_close(in ? &in->base : NULL);
        return error->status;
    }
    ctf_trace_add_input(trace, in, CTF_METADATA, 0);
    ctf_trace_unref(trace);
    ((struct ctf_reader *)in->ctx)->is_eventless = true;
    ttr_status status =
        input_add_damage(in, NO_OFFSET, 0, code, error, "%.*s", (int)strcspn(reason, "\n"), reason);
    if (status == TTR_OK)
        return ctf_stream_set_add(
            set, &(struct ctf_opened_queue){.in = in, .folder = set->folders - 1}, error);
    ttr_close(&in->base);
    return status;
}

/* Adds an input that reports a folder with stream files but without metadata. Closes the folder. */
static ttr_status add_folder_without_metadata(struct ctf_stream_set *set,
                                              const struct found_folder *found, ttr_error *error)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s", folder_path(found->folder));
    folder_close(found->folder);
    set->folders++;
    return add_unreadable_trace(set, path, "directory.bad-main-file", found->unreadable_reason,
                                error);
}

/* Opens the trace in one of several folders. If that fails, adds an input that reports the error,
 * increments *bad, and stores the first such error in `first`. */
static ttr_status open_folder_or_report(struct ctf_stream_set *set, struct folder *folder,
                                        size_t *bad, ttr_error *first)
{
    char path[1024];
    ttr_error ctx = {0};
    (void)snprintf(path, sizeof path, "%s", folder_path(folder));
    ttr_status status = open_folder_trace(set, folder, NULL, &ctx);
    if (is_error_of_one_trace(set, status)) {
        if ((*bad)++ == 0)
            *first = ctx;
        ttr_error reason = ctx;
        status = add_unreadable_trace(set, path, "trace.unreadable", reason.text, &ctx);
    }
    if (status != TTR_OK)
        *first = ctx;
    return status;
}

/* Returns the number of files in the folders, without files in their subfolders. */
static size_t count_stream_files(const struct found_folder *folders, size_t n)
{
    const struct folder_file *file;
    size_t files = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; (file = folder_get_file(folders[i].folder, k)); k++)
            files += !strchr(file->name, '/');
    return files;
}

/* Returns the number of readers that share the memory for windows. */
static size_t count_readers_sharing_windows(const ttr_read_options *options)
{
    const uint32_t readers = options && options->readers ? options->readers : 1;
    return readers < READERS_MAX ? readers : READERS_MAX;
}

/* Finds which metadata are a prefix of others, among several folders, or of one folder and the file
 * `further`. Stores the result in set->prefix_set. */
static ttr_status compare_metadata_prefixes(struct ctf_stream_set *set,
                                            const struct found_folders *found, const char *further,
                                            ttr_error *error)
{
    if (found->n < 2 && !further)
        return TTR_OK;
    set->prefix_set = ctf_prefix_set_new(set->t, found, further, error);
    return set->prefix_set ? TTR_OK : error->status;
}

/* Compares the metadata of the folders, unless the option `metadata` replaces them. Ignores
 * invalid options, since open_folder_trace reports them. */
static ttr_status compare_folder_metadata(struct ctf_stream_set *set,
                                          const struct found_folders *found, ttr_error *error)
{
    const struct alloc *alloc = &set->t->counted;
    const struct options_list list = {alloc, set->options ? set->options->format_options : NULL,
                                      &format_ctf, false};
    char **copies = NULL;
    size_t copies_n = 0;
    ttr_error ctx = {0};
    ttr_status status = options_copy(&list, &copies, &copies_n, &ctx);
    if (status != TTR_OK)
        status = status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
    else if (!options_get(copies, copies_n, "metadata"))
        status = compare_metadata_prefixes(set, found,
                                           options_get(copies, copies_n, "longer-metadata"), error);
    options_free(alloc, copies, copies_n);
    return status;
}

static ttr_reader *open_folder_list(struct ctf_stream_set *set, const struct found_folders *found,
                                    const char *only, ttr_error *error)
{
    const struct found_folder *folders = found->list;
    const size_t n = found->n;
    ttr_error ctx = {0};
    ttr_status status = TTR_OK;
    size_t bad = 0, told = 0;
    set->files = only ? 1 : count_stream_files(folders, n);
    set->chunk = source_chunk_size(set->files * count_readers_sharing_windows(set->options));
    status = compare_folder_metadata(set, found, &ctx);
    for (size_t i = 0; i < n; i++) {
        told += !folders[i].unreadable_reason;
        if (status != TTR_OK)
            folder_close(folders[i].folder);
        else if (folders[i].unreadable_reason)
            status = add_folder_without_metadata(set, &folders[i], &ctx);
        else if (n > 1 || found->has_others)
            status = open_folder_or_report(set, folders[i].folder, &bad, &ctx);
        else
            status = open_folder_trace(set, folders[i].folder, only, &ctx);
    }
    ctf_prefix_set_free(set->prefix_set);
    if (status == TTR_OK && told && bad == told && !found->has_others)
        status = ctx.status;
    ttr_reader *reader = status == TTR_OK ? ctf_stream_set_merge(set, &ctx) : NULL;
    ctf_stream_set_free(set);
    if (!reader && error) {
        *error = ctx;
        (void)snprintf(error->format, sizeof error->format, "%s", format_ctf.name);
    }
    return reader;
}

ttr_reader *ctf_open_folders(ttr *t, const struct found_folders *found,
                             const ttr_read_options *options, ttr_error *error)
{
    return open_folder_list(&(struct ctf_stream_set){.t = t, .options = options}, found, NULL,
                            error);
}

ttr_reader *ctf_open_folder(ttr *t, struct folder *folder, const char *only,
                            const ttr_read_options *options, ttr_error *error)
{
    const struct found_folders found = {&(struct found_folder){folder, NULL}, 1, false};
    return open_folder_list(&(struct ctf_stream_set){.t = t, .options = options}, &found, only,
                            error);
}
