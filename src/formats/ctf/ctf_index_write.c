/* LTTng's index of a stream file being written (ctf_index.h draws it): entries wait in memory and go to their file some hundred at a time,
 * so that a file of millions of packets takes no more memory than one of some hundred, and small indexes are one write. */
#include "base/status.h"
#include "formats/ctf/ctf_index.h"
#include "formats/ctf/ctf_write.h"

#define ENTRIES_WAIT ((size_t)8 << 10) /* bytes; pieces so large pass the file's own buffer by (io/sink.h) */

void ctf_index_out_begin(struct ctf_index_out *index, const struct alloc *alloc)
{
    *index = (struct ctf_index_out){.file = NULL};
    buffer_init(&index->entries, alloc);
}

void ctf_index_out_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS])
{
    struct bitput put = bitput_begin(&index->entries);
    for (size_t i = 0; i < CTF_INDEX_NUMBERS; i++)
        bitput_be(&put, numbers[i], 64);
}

bool ctf_index_out_is_full(const struct ctf_index_out *index)
{
    return index->entries.n >= ENTRIES_WAIT;
}

/* The header, and the entries that are there. */
static ttr_status begin_file(struct ctf_index_out *index, struct ttr_writer *out, const char *folder, const char *name, ttr_error *error)
{
    static const uint32_t numbers[] = {CTF_INDEX_MAGIC, 1, 1, CTF_INDEX_ENTRY_1};
    struct buffer bytes;
    index->file = ctf_add_file(folder, out, "index/", name, ".idx", error);
    if (!index->file)
        return error ? error->status : TTR_E_IO;
    buffer_init(&bytes, &out->t->counted);
    struct bitput put = bitput_begin(&bytes);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bitput_be(&put, numbers[i], 32);
    buffer_add(&bytes, index->entries.bytes, index->entries.n);
    ttr_status status = bytes.failed ? fail_memory(error) : sink_write(index->file, bytes.bytes, bytes.n, error);
    buffer_free(&bytes);
    return status;
}

static ttr_status write_entries(struct ctf_index_out *index, struct ttr_writer *out, const char *folder, const char *name, ttr_error *error)
{
    ttr_status status;
    if (index->entries.failed)
        return fail_memory(error);
    if (index->file)
        status = sink_write(index->file, index->entries.bytes, index->entries.n, error);
    else
        status = begin_file(index, out, folder, name, error);
    buffer_clear(&index->entries);
    return status;
}

ttr_status ctf_index_out_settle(struct ctf_index_out *index, struct ttr_writer *out, const char *folder, const char *name, ttr_error *error)
{
    return ctf_index_out_is_full(index) ? write_entries(index, out, folder, name, error) : TTR_OK;
}

ttr_status ctf_index_out_end(struct ctf_index_out *index, struct ttr_writer *out, const char *folder, const char *name, ttr_error *error)
{
    ttr_status status = write_entries(index, out, folder, name, error);
    struct sink *file = index->file;
    if (status != TTR_OK)
        return status;
    index->file = NULL;
    return sink_finish(file, error);
}

void ctf_index_out_drop(struct ctf_index_out *index)
{
    sink_abandon(index->file);
    index->file = NULL;
    buffer_clear(&index->entries);
}

void ctf_index_out_free(struct ctf_index_out *index)
{
    ctf_index_out_drop(index);
    buffer_free(&index->entries);
}
