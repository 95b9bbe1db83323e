/* LTTng index files (`index/NAME.idx`), read entry by entry. */
#include "formats/ctf/packet/ctf_index.h"

#include <stdio.h>

#include "base/cursor.h"

static bool read_index_header(struct ctf_index *index)
{
    const uint64_t file_size = source_disk_size(index->source);
    struct cursor c = cursor_init(index->window.bytes, index->window.n, 0);
    uint32_t magic = cursor_u32be(&c), major = cursor_u32be(&c), minor = cursor_u32be(&c);
    index->entry_bytes = cursor_u32be(&c);
    index->has_instance = minor >= 1;
    uint32_t least = index->has_instance ? CTF_INDEX_ENTRY_1 : CTF_INDEX_ENTRY_0;
    if (c.failed || file_size < CTF_INDEX_HEADER || magic != CTF_INDEX_MAGIC || major != 1 ||
        index->entry_bytes < least || index->entry_bytes > 4096)
        return false;
    index->n = (file_size - CTF_INDEX_HEADER) / index->entry_bytes;
    return (file_size - CTF_INDEX_HEADER) % index->entry_bytes == 0;
}

bool ctf_index_open(struct ctf_index *index, const struct ctf_trace *trace, const char *file,
                    bool *is_odd)
{
    char name[512];
    *index = (struct ctf_index){.source = NULL};
    *is_odd = false;
    if (!trace->folder || !folder_has_index(trace->folder))
        return false;
    int n = snprintf(name, sizeof name, "index/%s.idx", file);
    const struct folder_file *found =
        n > 0 && (size_t)n < sizeof name ? folder_find_file(trace->folder, name) : NULL;
    if (!found)
        return false;
    const struct source_options how = {.chunk = (size_t)64 << 10};
    index->source = folder_open_file(trace->folder, found, &how, NULL);
    if (!index->source)
        return false;
    const ttr_status status = source_fill(index->source, 0, CTF_INDEX_HEADER, &index->window, NULL);
    const bool is_good =
        status == TTR_OK && source_is_seekable(index->source) && read_index_header(index);
    /* memory runs out, so nothing is known about the file */
    *is_odd = !is_good && status != TTR_E_NOMEM;
    if (!is_good)
        ctf_index_close(index);
    return is_good;
}

bool ctf_index_next(struct ctf_index *index, struct ctf_index_entry *entry)
{
    uint64_t offset = CTF_INDEX_HEADER + index->at * index->entry_bytes;
    if (index->at == index->n)
        return false;
    if (offset - index->window.offset > index->window.n ||
        index->window.offset + index->window.n - offset < index->entry_bytes)
        if (source_fill(index->source, offset, index->entry_bytes, &index->window, NULL) != TTR_OK)
            return false;
    struct cursor c = cursor_init(index->window.bytes, index->window.n, index->window.offset);
    if (!cursor_skip(&c, offset - index->window.offset))
        return false;
    *entry = (struct ctf_index_entry){.offset = cursor_u64be(&c), .size = cursor_u64be(&c)};
    entry->content = cursor_u64be(&c);
    entry->begin = cursor_u64be(&c);
    entry->end = cursor_u64be(&c);
    entry->discarded = cursor_u64be(&c);
    entry->stream_id = cursor_u64be(&c);
    if (index->has_instance) {
        entry->instance = cursor_u64be(&c);
        entry->sequence = cursor_u64be(&c);
    }
    index->at++;
    return !c.failed;
}

void ctf_index_close(struct ctf_index *index)
{
    source_close(index->source);
    index->source = NULL;
}
