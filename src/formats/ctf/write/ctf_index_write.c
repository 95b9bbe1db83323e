/* Writes the LTTng index of a stream file; ctf_index.h shows its byte layout. Entries are
 * collected and written in blocks of at least ENTRIES_WAIT bytes, so memory does not grow with the
 * number of packets. If the file system does not allow the stream's name with ".idx" appended, the
 * index is counted as lost; the trace is readable without it. */
#include <errno.h>

#include "base/status.h"
#include "formats/ctf/packet/ctf_index.h"
#include "formats/ctf/write/ctf_write.h"

#define ENTRIES_WAIT \
    ((size_t)8 << 10) /* bytes; writes of this size bypass the file's own buffer (io/sink.h) */

void ctf_index_out_init(struct ctf_index_out *index, const struct alloc *alloc)
{
    *index = (struct ctf_index_out){.file = NULL};
    buffer_init(&index->entries, alloc);
}

void ctf_index_out_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS])
{
    struct bit_writer put = bit_writer_init(&index->entries);
    for (size_t i = 0; i < CTF_INDEX_NUMBERS; i++)
        bit_writer_add_be(&put, numbers[i], 64);
}

bool ctf_index_out_is_full(const struct ctf_index_out *index)
{
    return index->entries.n >= ENTRIES_WAIT;
}

ttr_status ctf_index_create_file(struct ttr_writer *out, const char *folder, const char *name,
                                 struct sink **file, ttr_error *error)
{
    ttr_error ctx = {0};
    *file = ctf_create_file(folder, out, "index/", name, ".idx", &ctx);
    if (*file)
        return TTR_OK;
    if (ctx.sys != ENAMETOOLONG) {
        if (error)
            *error = ctx;
        return ctx.status;
    }
    output_count_loss(out, CTF_LOST_INDEX, 0);
    return TTR_OK;
}

/* Creates the index file and writes its header and the buffered entries. Sets is_refused if the
 * file system cannot store the name. */
static ttr_status create_index_with_header(struct ctf_index_out *index, struct ttr_writer *out,
                                           const char *folder, const char *name, ttr_error *error)
{
    static const uint32_t numbers[] = {CTF_INDEX_MAGIC, 1, 1, CTF_INDEX_ENTRY_1};
    struct buffer bytes;
    ttr_status status = ctf_index_create_file(out, folder, name, &index->file, error);
    index->is_refused = status == TTR_OK && !index->file;
    if (!index->file)
        return status;
    buffer_init(&bytes, &out->t->counted);
    struct bit_writer put = bit_writer_init(&bytes);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bit_writer_add_be(&put, numbers[i], 32);
    buffer_add(&bytes, index->entries.bytes, index->entries.n);
    status =
        bytes.failed ? fail_memory(error) : sink_write(index->file, bytes.bytes, bytes.n, error);
    buffer_free(&bytes);
    return status;
}

static ttr_status write_index_entries(struct ctf_index_out *index, struct ttr_writer *out,
                                      const char *folder, const char *name, ttr_error *error)
{
    ttr_status status;
    if (index->entries.failed)
        return fail_memory(error);
    if (index->is_refused)
        status = TTR_OK;
    else if (index->file)
        status = sink_write(index->file, index->entries.bytes, index->entries.n, error);
    else
        status = create_index_with_header(index, out, folder, name, error);
    buffer_clear(&index->entries);
    return status;
}

ttr_status ctf_index_out_flush_full(struct ctf_index_out *index, struct ttr_writer *out,
                                    const char *folder, const char *name, ttr_error *error)
{
    return ctf_index_out_is_full(index) ? write_index_entries(index, out, folder, name, error)
                                        : TTR_OK;
}

ttr_status ctf_index_out_finish(struct ctf_index_out *index, struct ttr_writer *out,
                                const char *folder, const char *name, ttr_error *error)
{
    ttr_status status = write_index_entries(index, out, folder, name, error);
    struct sink *file = index->file;
    const bool is_refused = index->is_refused;
    /* if the stream continues in another file, its name may be short enough */
    index->is_refused = false;
    if (status != TTR_OK || is_refused)
        return status;
    index->file = NULL;
    return sink_finish(file, error);
}

void ctf_index_out_discard(struct ctf_index_out *index)
{
    sink_abandon(index->file);
    index->file = NULL;
    buffer_clear(&index->entries);
}

void ctf_index_out_free(struct ctf_index_out *index)
{
    ctf_index_out_discard(index);
    buffer_free(&index->entries);
}
