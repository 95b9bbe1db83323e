/* Index files as they are written: entries go out as they come, so that an index of millions of packets takes no memory. */
#include "base/endian.h"
#include "base/status.h"
#include "formats/ctf/ctf_index.h"
#include "formats/ctf/ctf_write.h"

/* Entries wait up to so many bytes: an index that has fewer is no file until its end. */
#define WAITING_MOST (16u << 10)

void ctf_index_add(struct ctf_index_out *index, const uint64_t numbers[CTF_INDEX_NUMBERS])
{
    struct bitput put = bitput_begin(&index->entries);
    for (size_t i = 0; i < CTF_INDEX_NUMBERS; i++)
        bitput_be(&put, numbers[i], 64);
}

/* Writes what waits, and first of all the header. */
static ttr_status write_out(struct ctf_index_out *index, const struct ctf_index_place *place, ttr_error *error)
{
    uint8_t head[CTF_INDEX_HEADER];
    const uint32_t numbers[] = {CTF_INDEX_MAGIC, 1, 1, CTF_INDEX_ENTRY_1};
    ttr_status status = TTR_OK;
    if (index->entries.failed)
        return fail_memory(error);
    if (!index->sink) {
        for (size_t i = 0; i < 4; i++)
            store_u32be(head + 4 * i, numbers[i]);
        index->sink = ctf_add_file(place->folder, place->out, "index/", place->name, ".idx", error);
        if (!index->sink)
            return error ? error->status : TTR_E_IO;
        status = sink_write(index->sink, head, sizeof head, error);
    }
    if (status == TTR_OK)
        status = sink_write(index->sink, index->entries.bytes, index->entries.n, error);
    buffer_clear(&index->entries);
    return status;
}

ttr_status ctf_index_drain(struct ctf_index_out *index, const struct ctf_index_place *place, ttr_error *error)
{
    return index->entries.n < WAITING_MOST && !index->entries.failed ? TTR_OK : write_out(index, place, error);
}

ttr_status ctf_index_finish(struct ctf_index_out *index, const struct ctf_index_place *place, ttr_error *error)
{
    ttr_status status = write_out(index, place, error);
    if (status == TTR_OK)
        status = sink_finish(index->sink, error);
    else
        sink_abandon(index->sink);
    index->sink = NULL;
    return status;
}

void ctf_index_drop(struct ctf_index_out *index)
{
    sink_abandon(index->sink);
    buffer_free(&index->entries);
}
