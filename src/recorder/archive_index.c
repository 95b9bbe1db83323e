/* The index of an archive: which times are where, so that a reader can skip what it does not need.
 *
 * It consists of blob records at the end of the file, which any reader accepts: some refuse
 * metadata of a type that they do not know.
 *
 *   entries   blob "tracetta.index": offset | flags | first | last | offset ...   at most 1,023
 *   locator   blob "tracetta.where": offset of the first entries | number of entries | hash of them
 *
 * An entry describes consecutive pieces, from `offset` to that of the next entry: the first and
 * last time of their events in ticks, ends of zones included, and whether they have definitions
 * that later pieces need.  The locator is the last record, so that one read at the end of the file
 * finds it.  It repeats the offset of the entries: a reader ignores an index that is elsewhere,
 * because then the file was changed after it was recorded.
 *
 * Entries cover 64 KiB each.  If there are INDEX_ENTRIES_MAX, pairs of them are merged and later
 * ones cover twice as much, so memory is bounded.  Left out: archives that are compressed, written
 * to a pipe, or not complete. */
#include <string.h>

#include "recorder/recorder.h"

#define GROUP_BYTES_MIN ((uint64_t)64 << 10)
#define ENTRY_WORDS 4u
#define RECORD_ENTRIES_MAX 1023u

void archive_index_start(struct archive_index *index)
{
    index->n = 0;
    index->group_bytes = GROUP_BYTES_MIN;
}

void archive_index_free(struct archive_index *index)
{
    alloc_free(alloc_default(), index->entries, index->capacity, sizeof *index->entries);
    *index = (struct archive_index){0};
}

static void merge_entry(struct archive_index_entry *into, const struct archive_index_entry *entry)
{
    into->flags |= entry->flags;
    into->first = entry->first < into->first ? entry->first : into->first;
    into->last = entry->last > into->last ? entry->last : into->last;
}

static void merge_pairs(struct archive_index *index)
{
    for (size_t i = 0; i < index->n; i += 2) {
        index->entries[i / 2] = index->entries[i];
        if (i + 1 < index->n)
            merge_entry(&index->entries[i / 2], &index->entries[i + 1]);
    }
    index->n = (index->n + 1) / 2;
    index->group_bytes *= 2;
}

void archive_index_add(struct archive_index *index, const struct archive_index_entry *entry)
{
    struct archive_index_entry *newest = index->n ? &index->entries[index->n - 1] : NULL;
    if (newest && entry->offset - newest->offset < index->group_bytes) {
        merge_entry(newest, entry);
        return;
    }
    if (index->n == INDEX_ENTRIES_MAX)
        merge_pairs(index);
    /* If memory is exhausted, the newest entry covers this piece too. */
    if (alloc_reserve(alloc_default(), (void **)&index->entries, &index->capacity, index->n + 1,
                      sizeof *index->entries))
        index->entries[index->n++] = *entry;
    else if (newest)
        merge_entry(newest, entry);
}

uint64_t archive_index_size(const struct archive_index *index)
{
    const size_t records = (index->n + RECORD_ENTRIES_MAX - 1) / RECORD_ENTRIES_MAX;
    return 8 *
           (index->n * ENTRY_WORDS + records * TRACE_INDEX_HEAD_WORDS + TRACE_INDEX_LOCATOR_WORDS);
}

/* Writes header and name of a blob of n words. Returns the words written. */
static size_t append_head(uint64_t *words, uint64_t n, uint64_t name_end)
{
    words[0] = TRACE_FXT_BLOB | (TRACE_INDEX_HEAD_WORDS + n) << 4 |
               (uint64_t)(0x8000u | TRACE_INDEX_NAME_BYTES) << 16 | n * 8 << 32 | UINT64_C(1) << 48;
    words[1] = TRACE_INDEX_NAME_START;
    words[2] = name_end;
    return TRACE_INDEX_HEAD_WORDS;
}

size_t archive_index_write(const struct archive_index *index, uint64_t offset, uint64_t *words)
{
    size_t n = 0;
    uint64_t hash = TRACE_INDEX_HASH_START;
    for (size_t i = 0; i < index->n; i++) {
        const struct archive_index_entry *entry = &index->entries[i];
        const uint64_t values[ENTRY_WORDS] = {entry->offset, entry->flags, entry->first,
                                              entry->last};
        const size_t left = index->n - i;
        if (i % RECORD_ENTRIES_MAX == 0)
            n += append_head(words + n,
                             ENTRY_WORDS * (left < RECORD_ENTRIES_MAX ? left : RECORD_ENTRIES_MAX),
                             TRACE_INDEX_ENTRIES);
        for (size_t k = 0; k < ENTRY_WORDS; k++)
            hash = (hash ^ values[k]) * TRACE_INDEX_HASH_FACTOR;
        memcpy(words + n, values, sizeof values);
        n += ENTRY_WORDS;
    }
    n += append_head(words + n, 3, TRACE_INDEX_LOCATOR);
    words[n++] = offset;
    words[n++] = index->n;
    words[n++] = hash;
    return n;
}
