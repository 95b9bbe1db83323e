/* Finishes copied files and writes their indexes. Continues the copy in a new file if more packets
 * follow a packet that declares no size. */
#include "formats/ctf/write/ctf_copy.h"
#include "base/number.h"
#include "base/status.h"

bool ctf_copy_keeps_index(const struct ctf_file_copy *file)
{
    const struct ctf_options *options = file->trace->options;
    return options->has_index || (file->old_index.file && !options->has_no_index);
}

ttr_status ctf_copy_flush_index(struct ctf_file_copy *file, struct ttr_writer *out,
                                ttr_error *error)
{
    if (!ctf_index_out_is_full(&file->index))
        return TTR_OK;
    file->old_index.fits = file->old_index.fits && !file->is_changed;
    ttr_status status =
        ctf_source_index_compare(&file->old_index, &file->index.entries, file->unnumbered, error);
    return status == TTR_OK ? ctf_index_out_flush_full(&file->index, out, file->trace->home.folder,
                                                       file->name, error)
                            : status;
}

static ttr_status write_copied_index(struct ctf_file_copy *file, struct ttr_writer *out,
                                     ttr_error *error)
{
    struct ctf_source_index *old = &file->old_index;
    const char *folder = file->trace->home.folder;
    if (!ctf_copy_keeps_index(file) ||
        (!old->file && file->index.entries.n == 0 && !file->index.file))
        return TTR_OK;
    if (file->index.entries.failed)
        return fail_memory(error);
    old->fits = old->fits && !file->is_changed;
    ttr_status status =
        ctf_source_index_compare(old, &file->index.entries, file->unnumbered, error);
    if (status != TTR_OK)
        return status;
    if (!ctf_source_index_matches(old) || file->index.is_refused)
        return ctf_index_out_finish(&file->index, out, folder, file->name, error);
    struct sink *to;
    ctf_index_out_discard(&file->index);
    status = ctf_index_create_file(out, folder, file->name, &to, error);
    return to ? ctf_source_index_copy(old, to, error) : status;
}

/* Returns the next name of the series FIRST_2, FIRST_3 ... that no source file has; the caller
 * frees it. Sets *size to its allocated bytes. Returns NULL if memory runs out. */
static char *name_next_file(struct ctf_file_copy *file, const char *first,
                            const struct alloc *alloc, size_t *size)
{
    struct folder *folder = file->trace->source->folder;
    char digits[NUMBER_MAX];
    size_t n = strlen(first);
    *size = n + NUMBER_MAX + 2;
    char *name = alloc_zero(alloc, *size, 1);
    if (!name)
        return NULL;
    memcpy(name, first, n);
    name[n] = '_';
    do {
        const size_t digits_n = number_format_u64(digits, ++file->part + 1);
        memcpy(name + n + 1, digits, digits_n);
        name[n + 1 + digits_n] = '\0';
    } while (folder && folder_find_file(folder, name));
    return name;
}

/* Adds the finished file to the writer's list of copies, so that it is moved if the trace's folder
 * is renamed (ctf_output_dirs.c). Returns NULL if memory runs out. */
static struct ctf_file_copy *add_finished_copy(const struct ctf_file_copy *file,
                                               struct ttr_writer *out)
{
    struct ctf_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    struct ctf_file_copy *ended = alloc_reserve(alloc, (void **)&w->copies, &w->copies_capacity,
                                                w->copies_n + 1, sizeof *w->copies)
                                      ? alloc_zero(alloc, 1, sizeof *ended)
                                      : NULL;
    if (!ended)
        return NULL;
    *ended = (struct ctf_file_copy){.trace = file->trace};
    ctf_index_out_init(&ended->index, alloc);
    buffer_init(&ended->packet.head, alloc);
    buffer_init(&ended->packet.room.event_bytes, alloc);
    w->copies[w->copies_n++] = ended;
    return ended;
}

ttr_status ctf_copy_finish_file(struct ctf_file_copy *file, struct ttr_writer *out,
                                ttr_error *error)
{
    ttr_status status = sink_finish(file->sink, error);
    file->sink = NULL;
    return status == TTR_OK ? write_copied_index(file, out, error) : status;
}

ttr_status ctf_copy_next_file(struct ctf_file_copy *file, struct ttr_writer *out, ttr_error *error)
{
    size_t size;
    if (!file->is_ended)
        return TTR_OK;
    file->is_changed = true;
    ttr_status status = ctf_copy_finish_file(file, out, error);
    if (status != TTR_OK)
        return status;
    struct ctf_file_copy *ended = add_finished_copy(file, out);
    char *name = ended ? name_next_file(file, file->first_name ? file->first_name : file->name,
                                        &out->t->counted, &size)
                       : NULL;
    if (!name)
        return fail_memory(error);
    ended->name = file->name;
    ended->name_size = file->name_size;
    file->first_name =
        /* `ended` owns the name, and is freed with the writer */
        file->first_name ? file->first_name : ended->name;
    file->name = name;
    file->name_size = size;
    file->offset = 0;
    file->is_ended = false;
    output_count_loss(out, CTF_LOST_FILE, file->packet.about.offset);
    file->sink = ctf_create_file(file->trace->home.folder, out, "", name, "", error);
    return file->sink ? TTR_OK : error ? error->status : TTR_E_IO;
}
