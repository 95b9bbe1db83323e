/* Index of a copied stream file. If all entries of the source's index match the written packets,
 * the index file is copied byte by byte, because its entries may contain data that this writer does
 * not know. Otherwise a new index is written.
 *
 * Entries are compared in blocks while packets are written. They may differ because tracers leave
 * stale indexes, and because LTTng before 2.4 wrote entries without stream and packet numbers. */
#include "base/cursor.h"
#include "base/status.h"
#include "formats/ctf/write/ctf_copy.h"
#include "formats/ctf/packet/ctf_index.h"

#define PIECE ((size_t)16 << 10)
#define ENTRY_MAX 4096u

static struct source *open_source_index(const struct ctf_source_index *old, ttr_error *error)
{
    const struct source_options how = {.chunk = PIECE};
    return folder_open_file(old->folder, old->file, &how, error);
}

/* Returns TTR_OK for all errors except TTR_E_NOMEM, because an index that cannot be read is
 * treated as missing. */
static ttr_status ignore_all_but_nomem(ttr_status status)
{
    return status == TTR_E_NOMEM ? status : TTR_OK;
}

static ttr_status read_index_header(struct ctf_source_index *old, ttr_error *error)
{
    struct window window = {.bytes = NULL};
    struct source *source = open_source_index(old, error);
    ttr_status status = source  ? source_fill(source, 0, CTF_INDEX_HEADER, &window, error)
                        : error ? error->status
                                : TTR_E_NOMEM;
    if (status == TTR_OK) {
        struct cursor c = cursor_init(window.bytes, window.n, 0);
        uint32_t magic = cursor_u32be(&c), major = cursor_u32be(&c), minor = cursor_u32be(&c);
        old->entry_bytes = cursor_u32be(&c);
        old->compared = minor ? CTF_INDEX_ENTRY_1 : CTF_INDEX_ENTRY_0;
        old->fits = !c.failed && magic == CTF_INDEX_MAGIC && major == 1 &&
                    old->entry_bytes >= old->compared && old->entry_bytes <= ENTRY_MAX;
    }
    source_close(source);
    return ignore_all_but_nomem(status);
}

ttr_status ctf_source_index_open(struct ctf_source_index *old, struct folder *folder,
                                 const char *name, const struct alloc *alloc, ttr_error *error)
{
    struct buffer path;
    *old = (struct ctf_source_index){.folder = folder};
    buffer_init(&path, alloc);
    buffer_add_text(&path, "index/");
    buffer_add_text(&path, name);
    buffer_add(&path, ".idx", 5);
    if (path.failed) {
        buffer_free(&path);
        return fail_memory(error);
    }
    old->file = folder_find_file(folder, (const char *)path.bytes);
    buffer_free(&path);
    return old->file ? read_index_header(old, error) : TTR_OK;
}

static bool is_same_index_entry(struct cursor *old, struct cursor *new, uint32_t compared,
                                uint32_t unnumbered)
{
    for (uint32_t i = 0; i < compared / 8; i++) {
        const uint64_t found = cursor_u64be(old), expected = cursor_u64be(new);
        if (old->failed || (found != expected && !(unnumbered >> i & 1)))
            return false;
    }
    return true;
}

ttr_status ctf_source_index_compare(struct ctf_source_index *old, const struct buffer *entries,
                                    uint32_t unnumbered, ttr_error *error)
{
    struct window window = {.bytes = NULL};
    const size_t n = entries->n / CTF_INDEX_ENTRY_1;
    if (!old->fits || n == 0)
        return TTR_OK;
    struct source *source = open_source_index(old, error);
    ttr_status status = source  ? source_fill(source, CTF_INDEX_HEADER + old->at * old->entry_bytes,
                                              n * old->entry_bytes, &window, error)
                        : error ? error->status
                                : TTR_E_NOMEM;
    struct cursor was = cursor_init(window.bytes, window.n, 0),
                  is = cursor_init(entries->bytes, entries->n, 0);
    old->fits = status == TTR_OK;
    for (size_t i = 0; i < n && old->fits; i++)
        old->fits = is_same_index_entry(&was, &is, old->compared, unnumbered) &&
                    cursor_skip(&was, old->entry_bytes - old->compared) &&
                    cursor_skip(&is, CTF_INDEX_ENTRY_1 - old->compared);
    old->at += n;
    source_close(source);
    return ignore_all_but_nomem(status);
}

bool ctf_source_index_matches(const struct ctf_source_index *old)
{
    uint64_t size;
    return old->fits && folder_file_size(old->folder, old->file, &size) &&
           size == CTF_INDEX_HEADER + old->at * old->entry_bytes;
}

ttr_status ctf_source_index_copy(const struct ctf_source_index *old, struct sink *to,
                                 ttr_error *error)
{
    struct window window = {.bytes = NULL};
    struct source *source = to ? open_source_index(old, error) : NULL;
    ttr_status status = source ? TTR_OK : error ? error->status : TTR_E_IO;
    const uint64_t size = CTF_INDEX_HEADER + old->at * old->entry_bytes;
    for (uint64_t at = 0; status == TTR_OK && at < size; at += window.n) {
        status = source_fill(source, at, 1, &window, error);
        if (status == TTR_OK && window.n == 0)
            status = fail(error, TTR_E_IO, at, "%s was made shorter while it was copied",
                          old->file->name);
        if (status == TTR_OK)
            status = sink_write(to, window.bytes,
                                window.n < size - at ? window.n : (size_t)(size - at), error);
    }
    source_close(source);
    if (status == TTR_OK)
        return sink_finish(to, error);
    sink_abandon(to);
    return status;
}
