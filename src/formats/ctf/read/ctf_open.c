/* Opening traces: an input for each stream file, once it is known what the trace is read by
 * (ctf_open_metadata.c).
 *
 * Every regular file of the folder but `metadata` is a stream file; hidden files and those of
 * subfolders (index/) are none.  What is not in order within a file is dealt into lanes that are
 * (ctf_build_index.h); how all of them become one is in ctf_stream_set.h. */
#include "formats/ctf/read/ctf_open.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/description/ctf_attributes.h"
#include "formats/ctf/metadata/ctf_metadata_prefix.h"
#include "formats/ctf/read/ctf_intersect.h"
#include "formats/ctf/live/ctf_live.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "formats/ctf/read/rfc11_read.h"
#include "model/options.h"

#define WINDOW_SMALL ((size_t)32 << 10)
#define WINDOW_LEAST ((size_t)12 << 10)
#define READERS_MOST 1024u
#define FEW_LANES                                                                                  \
    ((size_t)256) /* windows of so many take 16 MiB: they hold more of what is passed over than of \
                     what is read */

/* --- Stream files --- */

static bool wants_copies(const struct ctf_opening *opening)
{
    return opening->options && opening->options->flags & TTR_READ_DEFINITIONS;
}

/* Whether a file is called as stream files are. */
static bool is_stream_file(const struct ctf_opening *opening, const struct folder_file *file)
{
    if (strchr(file->name, '/') || strcmp(file->name, CTF_METADATA) == 0 || file->name[0] == '.')
        return false;
    return !opening->only || strcmp(opening->only, file->name) == 0;
}

/* Empty files are only told to copies, also where they cannot be opened; what is gone since the
 * folder was listed is told as what cannot be. `source`: of the file, where it could be opened. */
static bool is_nothing(const struct ctf_opening *opening, const struct folder_file *file,
                       const struct source *source)
{
    uint64_t size = 0;
    if (wants_copies(opening))
        return false;
    return source ? source_disk_size(source) == 0
                  : folder_file_size(opening->trace->folder, file, &size) && size == 0;
}

static bool has_section(const struct ctf_opening *opening, const struct folder_file *file)
{
    const struct ctf_description *description = &opening->trace->class->description;
    bool has_cpu;
    uint32_t cpu;
    return description->version != CTF_RFC_1_1 ||
           rfc11_find_section_of_file(description, file->name, &has_cpu, &cpu);
}

/* Few places for packets, where there are many inputs. */
static void choose_slots(const struct ctf_opening *opening, struct input *in)
{
    const size_t chunk = opening->how.chunk;
    if (chunk && chunk <= WINDOW_SMALL)
        ((struct ctf_reader *)in->ctx)->slots_most =
            chunk <= WINDOW_LEAST ? CTF_SLOTS_MIN : CTF_SLOTS_SMALL;
}

/* Takes the source over; NULL stands for one that cannot be opened. */
static struct input *make_input(struct ctf_opening *opening, const struct folder_file *file,
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
    choose_slots(opening, in);
    if (trace->class->description.version == CTF_RFC_1_1)
        rfc11_assign_section(in->ctx);
    return in;
}

/* The same once more, of a file of which there is one. */
static struct input *make_another(struct ctf_opening *opening, const struct folder_file *file,
                                  ttr_error *error)
{
    return make_input(opening, file,
                      folder_open_file(opening->trace->folder, file, &opening->how, error), error);
}

/* Lets an input read a lane. */
static void join_lane(struct input *in, struct ctf_file_index *file_index, uint32_t i)
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

/* Finds where the lane that was opened last ends, where that is asked for and not told rightly. */
static ttr_status correct_end(struct ctf_opening *opening, const struct folder_file *file,
                              ttr_error *error)
{
    struct ctf_opened_queue *opened = &opening->set->opened[opening->set->n - 1];
    const struct ctf_reader *reader = opened->in->ctx;
    if (!opening->set->intersects || !ctf_has_wrong_end(opening->trace, &opened->queue))
        return TTR_OK;
    struct input *in = make_another(opening, file, error);
    if (!in)
        return error->status;
    join_lane(in, reader->file_index, opened->lane_i);
    context_share_attributes(opening->t, in->id, opening->trace->thread_source);
    return ctf_decode_queue_end(in, &opened->queue, error);
}

static void note_times(struct ctf_trace *trace, const struct ctf_packet_queue *queue)
{
    trace->lacks_times |= queue->kind && !queue->has_begin;
    if (queue->has_begin && queue->begin < trace->begin)
        trace->begin = queue->begin;
    if (queue->has_begin && queue->end > trace->end)
        trace->end = queue->end;
}

/* An input takes its lane. */
static ttr_status take_lane(struct ctf_opening *opening, struct input *in,
                            struct ctf_file_index *file_index, uint32_t i, ttr_error *error)
{
    struct ctf_opened_queue opened = {.in = in,
                                      .lane_i = i,
                                      .queue = file_index->queue[i],
                                      .folder = opening->set->folders,
                                      .file = opening->files};
    note_times(opening->trace, &opened.queue);
    opened.number = opened.queue.has_number ? opened.queue.number : opened.file;
    opened.is_shared = i > 0 && in->flags & TTR_READ_DEFINITIONS;
    ttr_status status = ctf_stream_set_add(opening->set, &opened, error);
    if (status != TTR_OK || opened.is_shared)
        return status;
    opening->first = opening->first ? opening->first : in;
    join_lane(in, file_index, i);
    return ctf_add_attributes(in, opening->trace, &opened.queue, opened.number)
               ? TTR_OK
               : fail_memory(error);
}

/* Whether the reason is one trace's or file's own, so that others can be read. */
static bool is_of_trace(const struct ctf_stream_set *set, ttr_status status)
{
    bool is_strict = set->options && set->options->flags & TTR_READ_STRICT;
    return !is_strict && status != TTR_OK && status != TTR_E_NOMEM && status != TTR_E_MISUSE &&
           status != TTR_AGAIN;
}

/* An input without events; the caller adds it. */
static struct input *make_silent(struct ctf_opening *opening, const char *path, uint64_t number,
                                 ttr_error *error)
{
    struct source *source = source_open_memory(&opening->t->counted, "", 0, NULL, error);
    struct input *in =
        source ? input_new(opening->t, source, &format_ctf, path, opening->options, error) : NULL;
    if (!in)
        return NULL;
    ctf_trace_add_input(opening->trace, in, CTF_METADATA, number);
    ((struct ctf_reader *)in->ctx)->is_nothing = true;
    return in;
}

/* In the place of a file of which nothing can be read: an input without events that tells why, as
 * damage of these bytes. */
static ttr_status stand_in(struct ctf_opening *opening, const struct folder_file *file,
                           const ttr_region *where, const char *reason, ttr_error *error)
{
    char path[1024];
    struct ctf_trace *trace = opening->trace;
    folder_file_path(trace->folder, file, path, sizeof path);
    struct input *in = make_silent(opening, path, opening->files++, error);
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

/* Inputs of the lanes of a file have together the room of one that has none: a window for each
 * would be as much as there are lanes. */
static void share_window(struct ctf_opening *opening, struct input *first,
                         const struct ctf_file_index *file_index)
{
    if (file_index->n == 1 || first->flags & TTR_READ_DEFINITIONS)
        return;
    const size_t n = opening->set->files * file_index->n;
    opening->how.chunk = source_chunk_size(n > FEW_LANES ? n : (n + 1) / 2);
    opening->how.is_sparse = true;
    source_limit_window(first->source, opening->how.chunk);
    choose_slots(opening, first);
}

/* A file that cannot be opened, where others may be read. */
static ttr_status pass_over(struct ctf_opening *opening, const struct folder_file *file,
                            ttr_error *error)
{
    const ttr_error reason = *error;
    if (!is_of_trace(opening->set, reason.status))
        return reason.status;
    if (opening->unreadable++ == 0)
        opening->reason = reason;
    return stand_in(opening, file, &(ttr_region){.offset = NO_OFFSET, .code = "ctf.unreadable"},
                    reason.text, error);
}

/* RFC: a file of no section is told and passed over.  Where all are, it is the metadata that lack
 * their sections, and the events are lost. */
static ttr_status pass_over_unnamed(struct ctf_opening *opening, const struct folder_file *file,
                                    bool is_lost, ttr_error *error)
{
    static const char code[] = "ctf.no-section";
    uint64_t size;
    if (!folder_file_size(opening->trace->folder, file, &size) || size == 0 || !is_lost) {
        ctf_opening_note(opening, TTR_SEVERITY_ODD, 0, code,
                         "the file %s has the name of no section: it was passed over", file->name);
        return TTR_OK;
    }
    ttr_status status = stand_in(
        opening, file, &(ttr_region){.bytes = size == FOLDER_SIZE_UNKNOWN ? 0 : size, .code = code},
        "no stream file has a section in the metadata, which may have been cut", error);
    if (status == TTR_OK && !opening->first)
        opening->first = opening->set->opened[opening->set->n - 1].in;
    return status;
}

/* Opens a file: an input for each of its lanes; one for all of them for copies, which want packets
 * in the order of the file. */
static ttr_status open_file(struct ctf_opening *opening, const struct folder_file *file,
                            ttr_error *error)
{
    opening->how.chunk = opening->set->chunk;
    opening->how.is_sparse = false;
    struct source *source = folder_open_file(opening->trace->folder, file, &opening->how, error);
    if (is_nothing(opening, file, source)) {
        source_close(source);
        return TTR_OK;
    }
    struct input *in = make_input(opening, file, source, error);
    if (!in)
        return pass_over(opening, file, error);
    struct ctf_file_index *file_index = ctf_build_index(in->ctx, error);
    if (!file_index) {
        ttr_close(&in->base);
        return pass_over(opening, file, error);
    }
    share_window(opening, in, file_index);
    ttr_status status = take_lane(opening, in, file_index, 0, error);
    if (status == TTR_OK)
        status = correct_end(opening, file, error);
    for (uint32_t i = 1; i < file_index->n && status == TTR_OK; i++) {
        in = wants_copies(opening) ? in : make_another(opening, file, error);
        status = in ? take_lane(opening, in, file_index, i, error) : error->status;
        if (status == TTR_OK)
            status = correct_end(opening, file, error);
    }
    ctf_file_index_unref(file_index);
    opening->files++;
    return status;
}

/* What stands among the stream files but cannot be one, since packets are looked for where they
 * lie. */
static void tell_others(struct ctf_opening *opening)
{
    const char *name;
    bool is_link;
    for (size_t i = 0;
         !opening->only && (name = folder_skipped_entry(opening->trace->folder, i, &is_link)); i++)
        if (!strchr(name, '/'))
            ctf_opening_note(opening, TTR_SEVERITY_ODD, NO_OFFSET, "ctf.no-file",
                             "%s is a %s: it was passed over", name,
                             is_link ? "link that leads nowhere" : "FIFO, a socket or a device");
}

/* True where no stream file has a section. */
static bool has_no_section(const struct ctf_opening *opening)
{
    const struct folder_file *file;
    for (size_t i = 0; (file = folder_file_at(opening->trace->folder, i)); i++)
        if (is_stream_file(opening, file) && has_section(opening, file) &&
            !is_nothing(opening, file, NULL))
            return false;
    return true;
}

static ttr_status open_files(struct ctf_opening *opening, ttr_error *error)
{
    const struct ctf_trace *trace = opening->trace;
    const struct folder_file *file;
    ttr_status status = TTR_OK;
    opening->how.no_mmap = opening->options && opening->options->flags & TTR_READ_NO_MMAP;
    const bool is_lost =
        trace->class->description.version == CTF_RFC_1_1 && has_no_section(opening);
    for (size_t i = 0; status == TTR_OK && (file = folder_file_at(trace->folder, i)); i++)
        if (is_stream_file(opening, file) && has_section(opening, file))
            status = open_file(opening, file, error);
        else if (is_stream_file(opening, file) && !is_nothing(opening, file, NULL))
            status = pass_over_unnamed(opening, file, is_lost, error);
    tell_others(opening);
    if (status == TTR_OK && opening->unreadable && !opening->first) {
        *error = opening->reason;
        return error->status;
    }
    return status;
}

/* A trace without stream files has one input all the same, without events, which knows what its
 * metadata says. */
static ttr_status open_nothing(struct ctf_opening *opening, ttr_error *error)
{
    struct input *in = make_silent(opening, opening->path, 0, error);
    if (!in)
        return error->status;
    in->size = opening->metadata_n; /* what is told of it lies inside */
    ttr_status status = ctf_stream_set_add(
        opening->set, &(struct ctf_opened_queue){.in = in, .folder = opening->set->folders}, error);
    if (status != TTR_OK)
        return status;
    opening->first = in;
    opening->is_metadata = true;
    return ctf_add_trace_only_attributes(in, opening->trace) ? TTR_OK : fail_memory(error);
}

/* Damage of metadata has its place in their file, so it is told by an input of that name. */
static ttr_status open_metadata(struct ctf_opening *opening, ttr_error *error)
{
    struct input *in = make_silent(opening, opening->path, opening->files, error);
    if (!in)
        return error->status;
    in->size = opening->metadata_n;
    in->shares_file = true; /* its bytes do not count, as they do not elsewhere */
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

/* --- All together --- */

/* An option of two words: `usual`, which it is without being given, or `other`, where *is_other is
 * set. */
static ttr_status read_choice(const struct ctf_opening *opening, const char *key, const char *usual,
                              const char *other, bool *is_other, ttr_error *error)
{
    const char *value = options_get(opening->copies, opening->copies_n, key);
    *is_other = value && strcmp(value, other) == 0;
    if (!value || *is_other || strcmp(value, usual) == 0)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "option %s=%s of ctf: expected %s or %s", key,
                value, usual, other);
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

static ttr_status prepare(struct ctf_opening *opening, ttr_error *error)
{
    const char *const *given = opening->options ? opening->options->format_options : NULL;
    struct options_list list = {&opening->t->counted, given, &format_ctf, false};
    ttr_status status = options_copy(&list, &opening->copies, &opening->copies_n, error);
    if (status == TTR_OK)
        status = read_choice(opening, "time", "exact", "double",
                             &opening->trace->class->rounds_times, error);
    if (status == TTR_OK)
        status = read_choice(opening, "mapped", "shown", "hidden",
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
    const bool is_damaged = ctf_opening_damage(opening) != NULL;
    status = open_files(opening, error);
    const bool is_nothing = status == TTR_OK && !opening->first;
    if (is_nothing)
        status = open_nothing(opening, error);
    if (status == TTR_OK && !ctf_add_longer_metadata_attribute(opening->trace, opening->longer))
        status = fail_memory(error);
    return status == TTR_OK && is_damaged && !is_nothing ? open_metadata(opening, error) : status;
}

/* Adds the inputs of a folder's trace to the set; takes the folder over. */
static ttr_status open_trace(struct ctf_stream_set *set, struct folder *folder, const char *only,
                             ttr_error *error)
{
    ttr *t = set->t;
    struct ctf_trace *trace =
        ctf_trace_new(t, folder, error); /* held by this function, until the inputs are there */
    struct ctf_opening opening = {
        .t = t, .set = set, .only = only, .options = set->options, .trace = trace};
    if (!trace)
        return TTR_E_NOMEM;
    diagnostics_init(&opening.notes, &t->counted);
    trace->begin = INT64_MAX;
    trace->end = INT64_MIN;
    ttr_status status = prepare(&opening, error);
    trace->group = set->n ? set->opened[0].in->id : 0;
    ctf_opening_report(&opening);
    options_free(&t->counted, opening.copies, opening.copies_n);
    diagnostics_free(&opening.notes);
    ctf_trace_unref(trace);
    set->folders++;
    return status;
}

/* In the place of a trace that cannot be read: an input without events that tells why, as damage
 * there. */
static ttr_status open_refused(struct ctf_stream_set *set, const char *path, const char *code,
                               const char *reason, ttr_error *error)
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
    ((struct ctf_reader *)in->ctx)->is_nothing = true;
    ttr_status status =
        input_add_damage(in, NO_OFFSET, 0, code, error, "%.*s", (int)strcspn(reason, "\n"), reason);
    if (status == TTR_OK)
        return ctf_stream_set_add(
            set, &(struct ctf_opened_queue){.in = in, .folder = set->folders - 1}, error);
    ttr_close(&in->base);
    return status;
}

/* In the place of a folder of which nothing tells how to read it. */
static ttr_status open_untold(struct ctf_stream_set *set, const struct found_folder *found,
                              ttr_error *error)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s", folder_path(found->folder));
    folder_close(found->folder);
    set->folders++;
    return open_refused(set, path, "directory.untold", found->untold, error);
}

/* Adds the inputs of a folder.  Others are there: what is wrong with this one is told, and counted
 * in *bad; the first time it stays in `first`. */
static ttr_status open_one_of(struct ctf_stream_set *set, struct folder *folder, size_t *bad,
                              ttr_error *first)
{
    char path[1024];
    ttr_error ctx = {0};
    (void)snprintf(path, sizeof path, "%s", folder_path(folder));
    ttr_status status = open_trace(set, folder, NULL, &ctx);
    if (is_of_trace(set, status)) {
        if ((*bad)++ == 0)
            *first = ctx;
        ttr_error reason = ctx;
        status = open_refused(set, path, "trace.unreadable", reason.text, &ctx);
    }
    if (status != TTR_OK)
        *first = ctx;
    return status;
}

/* Files that are not in subfolders. */
static size_t count_files(const struct found_folder *folders, size_t n)
{
    const struct folder_file *file;
    size_t files = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; (file = folder_file_at(folders[i].folder, k)); k++)
            files += !strchr(file->name, '/');
    return files;
}

/* Readers that share the memory for windows. */
static size_t readers_of(const ttr_read_options *options)
{
    const uint32_t readers = options && options->readers ? options->readers : 1;
    return readers < READERS_MOST ? readers : READERS_MOST;
}

/* Compares the metadata of folders, where there are several of them or a further file. */
static ttr_status compare_with(struct ctf_stream_set *set, const struct found_folders *found,
                               const char *further, ttr_error *error)
{
    if (found->n < 2 && !further)
        return TTR_OK;
    set->grown = ctf_prefix_set_new(set->t, found, further, error);
    return set->grown ? TTR_OK : error->status;
}

/* Compares the metadata of several folders, unless other metadata are given for all of them.  What
 * is wrong with options is told by who reads them. */
static ttr_status compare_metadata(struct ctf_stream_set *set, const struct found_folders *found,
                                   ttr_error *error)
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
        status = compare_with(set, found, options_get(copies, copies_n, "longer-metadata"), error);
    options_free(alloc, copies, copies_n);
    return status;
}

static ttr_reader *open_all(struct ctf_stream_set *set, const struct found_folders *found,
                            const char *only, ttr_error *error)
{
    const struct found_folder *folders = found->list;
    const size_t n = found->n;
    ttr_error ctx = {0};
    ttr_status status = TTR_OK;
    size_t bad = 0, told = 0;
    set->files = only ? 1 : count_files(folders, n);
    set->chunk = source_chunk_size(set->files * readers_of(set->options));
    status = compare_metadata(set, found, &ctx);
    for (size_t i = 0; i < n; i++) {
        told += !folders[i].untold;
        if (status != TTR_OK)
            folder_close(folders[i].folder);
        else if (folders[i].untold)
            status = open_untold(set, &folders[i], &ctx);
        else if (n > 1 || found->has_others)
            status = open_one_of(set, folders[i].folder, &bad, &ctx);
        else
            status = open_trace(set, folders[i].folder, only, &ctx);
    }
    ctf_prefix_set_free(set->grown);
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
    return open_all(&(struct ctf_stream_set){.t = t, .options = options}, found, NULL, error);
}

ttr_reader *ctf_open_folder(ttr *t, struct folder *folder, const char *only,
                            const ttr_read_options *options, ttr_error *error)
{
    const struct found_folders found = {&(struct found_folder){folder, NULL}, 1, false};
    return open_all(&(struct ctf_stream_set){.t = t, .options = options}, &found, only, error);
}
