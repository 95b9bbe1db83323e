/* The index that "tracetta record" writes at the end of an archive: skips parts of the file that
 * have no event in the wanted range of time.
 *
 *   entries   blob "tracetta.index": offset | flags | first | last | offset | flags ...
 *   locator   blob "tracetta.where": offset of the first entries | number of entries | hash of them
 *
 * An entry describes the records from its offset to that of the next entry (src/recorder has more).
 * Parts with definitions are always read, because later ones need their strings.
 *
 * Order of calls: fxt_set_range loads the index if a range is wanted. fxt_enter_parts is called
 * when reader->at may have reached the start of a part; it skips parts, and sets reader->boundary
 * to the start of the next one, at which read_window stops.
 *
 * Trust: an index that is not at the offset that it declares, not at the end of the file, or that
 * has another hash or no rising offsets is ignored, because the file was changed. A record across a
 * boundary ends the use of the index. A wrong index can hide events, but nothing else.
 *
 * Cost: two reads at the end of the file; 32 bytes per part. Left out: inputs that are compressed
 * or not seekable. */
#include "formats/fxt/fxt_read.h"

#define ENTRY_WORDS 4u
#define HEAD_WORDS 3u /* header and name of a blob */
#define LOCATOR_WORDS 6u
#define RECORD_ENTRIES_MAX 1023u
#define ENTRIES_MAX ((uint64_t)1 << 20)
#define INDEX_HAS_DEFINITIONS 1u
#define HASH_START UINT64_C(14695981039346656037) /* FNV-1a, over words */
#define HASH_FACTOR UINT64_C(1099511628211)

struct fxt_index_entry {
    uint64_t offset, flags, first, last;
};

/* Returns true if a record starts with the head of a blob of n words with that name. */
static bool has_head(const uint64_t *words, uint64_t n, uint64_t name_end)
{
    const uint64_t header = FXT_BLOB | fxt_set_bits(FXT_SIZE, HEAD_WORDS + n) |
                            fxt_set_bits(FXT_BLOB_NAME, FXT_REF_INLINE | FXT_INDEX_NAME_BYTES) |
                            fxt_set_bits(FXT_BLOB_BYTES, n * FXT_WORD_BYTES) |
                            fxt_set_bits(FXT_BLOB_TYPE, FXT_BLOB_DATA);
    return words[0] == header && words[1] == FXT_INDEX_NAME_START && words[2] == name_end;
}

/* Reads n words at an offset. Returns false if the file does not have them. */
static bool read_words(const struct fxt_reader *reader, uint64_t offset, uint64_t *words, size_t n)
{
    ttr_error error;
    if (source_peek_at(reader->in->source, offset, words, n * FXT_WORD_BYTES, &error) !=
        (int64_t)(n * FXT_WORD_BYTES))
        return false;
    for (size_t i = 0; i < n; i++)
        words[i] = fxt_load_u64((const uint8_t *)&words[i], reader->common.is_big);
    return true;
}

static uint64_t count_index_bytes(uint64_t entries)
{
    const uint64_t records = (entries + RECORD_ENTRIES_MAX - 1) / RECORD_ENTRIES_MAX;
    return FXT_WORD_BYTES * (entries * ENTRY_WORDS + records * HEAD_WORDS + LOCATOR_WORDS);
}

/* Reads the locator at the end of the file. Returns false if it is not there, or was moved. */
static bool read_locator(const struct fxt_reader *reader, uint64_t locator[LOCATOR_WORDS])
{
    const uint64_t end = source_end_offset(reader->in->source);
    const uint64_t n = (uint64_t)LOCATOR_WORDS * FXT_WORD_BYTES;
    return end > n && read_words(reader, end - n, locator, LOCATOR_WORDS) &&
           has_head(locator, LOCATOR_WORDS - HEAD_WORDS, FXT_INDEX_LOCATOR) && locator[4] > 0 &&
           locator[4] <= ENTRIES_MAX && count_index_bytes(locator[4]) < end &&
           locator[3] == end - count_index_bytes(locator[4]);
}

/* Reads one record of entries. Returns false if it is malformed. */
static bool read_entries(const struct fxt_reader *reader, uint64_t offset,
                         struct fxt_index_entry *entries, size_t n)
{
    uint64_t head[HEAD_WORDS];
    _Static_assert(sizeof *entries == (size_t)ENTRY_WORDS * FXT_WORD_BYTES,
                   "an entry has four words");
    return read_words(reader, offset, head, HEAD_WORDS) &&
           has_head(head, n * ENTRY_WORDS, FXT_INDEX_ENTRIES) &&
           read_words(reader, offset + sizeof head, (uint64_t *)(void *)entries, n * ENTRY_WORDS);
}

static bool are_entries_valid(const struct fxt_index *index, uint64_t hash)
{
    uint64_t found = HASH_START;
    for (size_t i = 0; i < index->n; i++) {
        const struct fxt_index_entry *entry = &index->entries[i];
        const uint64_t words[] = {entry->offset, entry->flags, entry->first, entry->last};
        const uint64_t next = i + 1 < index->n ? index->entries[i + 1].offset : index->end;
        if (entry->offset >= next || entry->offset % FXT_WORD_BYTES)
            return false;
        for (size_t k = 0; k < ENTRY_WORDS; k++)
            found = (found ^ words[k]) * HASH_FACTOR;
    }
    return found == hash;
}

/* Loads the index. Returns false if the file has no valid one, or without memory. */
static bool load_index(struct fxt_reader *reader)
{
    struct fxt_index *index = &reader->index;
    uint64_t locator[LOCATOR_WORDS];
    if (reader->common.is_big || !source_is_seekable(reader->in->source) ||
        !read_locator(reader, locator))
        return false;
    index->entries =
        alloc_zero(&reader->common.t->counted, (size_t)locator[4], sizeof *index->entries);
    if (!index->entries)
        return false;
    index->n = (size_t)locator[4];
    index->end = locator[3];
    uint64_t at = locator[3];
    for (size_t i = 0; i < index->n; i += RECORD_ENTRIES_MAX) {
        const size_t left = index->n - i, n = left < RECORD_ENTRIES_MAX ? left : RECORD_ENTRIES_MAX;
        if (!read_entries(reader, at, index->entries + i, n))
            return false;
        at += (HEAD_WORDS + n * ENTRY_WORDS) * FXT_WORD_BYTES;
    }
    return are_entries_valid(index, locator[5]);
}

void fxt_free_index(struct fxt_reader *reader)
{
    alloc_free(&reader->common.t->counted, reader->index.entries, reader->index.n,
               sizeof *reader->index.entries);
    reader->index = (struct fxt_index){0};
    reader->boundary = UINT64_MAX;
}

void fxt_set_range(struct input *in, int64_t from_ns, int64_t to_ns)
{
    struct fxt_reader *reader = in->ctx;
    struct fxt_index *index = &reader->index;
    if (reader->at != 0)
        return;
    if (!index->entries && !load_index(reader)) {
        fxt_free_index(reader);
        return;
    }
    index->from = !index->is_limited || from_ns > index->from ? from_ns : index->from;
    index->to = !index->is_limited || to_ns < index->to ? to_ns : index->to;
    index->is_limited = true;
    reader->boundary = index->entries[0].offset;
}

/* Returns true if no event of a part is in the range. The clock is that of the current provider; an
 * archive has one clock. */
static bool is_outside_range(const struct fxt_reader *reader, const struct fxt_index_entry *entry)
{
    const struct fxt_index *index = &reader->index;
    bool is_clamped = false;
    if (!reader->provider || (entry->flags & INDEX_HAS_DEFINITIONS))
        return false;
    if (entry->first > entry->last)
        return true;
    const int64_t first = fxt_ticks_to_ns(reader->provider, entry->first, &is_clamped);
    const int64_t last = fxt_ticks_to_ns(reader->provider, entry->last, &is_clamped);
    return !is_clamped && (last < index->from || first >= index->to);
}

void fxt_enter_parts(struct fxt_reader *reader)
{
    struct fxt_index *index = &reader->index;
    while (index->next < index->n && index->entries[index->next].offset <= reader->at) {
        const struct fxt_index_entry *entry = &index->entries[index->next++];
        if (reader->at == entry->offset && is_outside_range(reader, entry))
            reader->at = index->next < index->n ? index->entries[index->next].offset : index->end;
    }
    reader->boundary = index->next < index->n ? index->entries[index->next].offset : UINT64_MAX;
}
