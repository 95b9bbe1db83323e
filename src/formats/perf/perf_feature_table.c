/* Search for a table of features that is not at its declared offset, since bytes of the file before
 * it are missing or were added (PERF-FILE-7).
 *
 *   header | records | table: {u64 offset, u64 size} of each feature | feature | feature ...
 *
 * perf writes the features without gaps after the table, which may have room for features that were
 * then left out. So a table is known by its contents: each entry starts where the one before it
 * ends, and they refer to the place where the table should be. */
#include "formats/perf/perf.h"

/* A table of fewer features may be found by chance in other bytes, so it is not searched. */
#define SEARCHED_FEATURES_MIN 4u

/* Returns true if `p` is a table of `size` bytes of which the declared end is file offset `end`. */
static bool is_feature_table(const uint8_t *p, uint64_t size, uint64_t end, bool is_big)
{
    const uint64_t first = perf_u64(p, is_big),
                   most = end + (uint64_t)PERF_FEATURES_MAX * PERF_SECTION_BYTES;
    uint64_t next = first;
    if (first < end || first > most || (first - end) % PERF_SECTION_BYTES != 0)
        return false;
    for (uint64_t i = 0; i < size; i += PERF_SECTION_BYTES) {
        const uint64_t offset = perf_u64(p + i, is_big), n = perf_u64(p + i + 8, is_big);
        if (offset != next || n > UINT64_MAX - offset)
            return false;
        next = offset + n;
    }
    return true;
}

uint64_t perf_find_feature_table(const struct perf_bytes_at *bytes, uint64_t declared,
                                 uint64_t size, bool is_big)
{
    const uint64_t end = declared + size;
    if (size < (uint64_t)SEARCHED_FEATURES_MIN * PERF_SECTION_BYTES)
        return declared;
    for (uint64_t moved = 0; moved <= PERF_TABLE_MOVED_MAX; moved++) {
        const uint64_t candidates[] = {declared - moved, declared + moved};
        for (unsigned i = 0; i < 2; i++) {
            const uint64_t at = candidates[i] - bytes->offset;
            if (candidates[i] >= bytes->offset && at <= bytes->n && size <= bytes->n - at &&
                is_feature_table(bytes->p + at, size, end, is_big))
                return candidates[i];
        }
    }
    return declared;
}
