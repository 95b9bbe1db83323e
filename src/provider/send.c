/* The way of an event: TTR_WRITE's pieces become one block, which goes to each backend where
 * somebody listens.
 *
 *     [4 bytes for the backend][header 8][activity: size, kind, 16 or 32 bytes][metadata: size,
 * kind, names and types][payload]
 *
 * The block lies on the stack: nothing to allocate, nothing to share, and a signal handler may come
 * at any time.  Most events fit into a small one; only those that do not make the frame large, so
 * that threads and handlers with little stack can write the others. */
#include <errno.h>
#include <string.h>

#include "provider/state.h"

#define SMALL_EVENT 1024u
#define PAGE_EVENT                                                                                \
    4064u /* the largest that ftrace takes with sub-buffers of 4 KiB: docs/user/provider.md tells \
             how it was found */
#define HEADER 8u
#define EXTENSION 4u          /* size and kind before its bytes */
#define ACTIVITY_KIND 0x8002u /* activity id; another extension follows */

/* The block being filled; `at` is NULL once something did not fit. */
struct block {
    uint8_t *at, *end;
};

struct sixteen {
    uint64_t words[2];
};

static inline void copy_sixteen(uint8_t *to, const uint8_t *from)
{
    struct sixteen words;
    memcpy(&words, from, sizeof words);
    memcpy(to, &words, sizeof words);
}

/* Copies n bytes, not too many without a call: behind a system call every indirect jump, into libc
 * too, is one that the processor did not foresee. */
static inline void copy(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n > 256) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        for (size_t i = 0; i + 16 < n; i += 16)
            copy_sixteen(to + i, from + i);
        copy_sixteen(to + n - 16, from + n - 16);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

static void put(struct block *block, const void *bytes, size_t n)
{
    if (!block->at || n > (size_t)(block->end - block->at)) {
        block->at = NULL;
        return;
    }
    if (bytes)
        copy(block->at, bytes, n);
    else
        memset(block->at, 0, n);
    block->at += n;
}

static void put_u16(struct block *block, unsigned x)
{
    uint16_t word = (uint16_t)x;
    put(block, &word, 2);
}

/* How many units stand before the zero unit, as far as there is room for them. */
static size_t units_before_zero(const struct block *block, const uint8_t *bytes, uint32_t unit)
{
    static const uint8_t zeros[8];
    size_t n = 0, most = block->at ? (size_t)(block->end - block->at) / unit : 0;
    if (unit == 1)
        return strnlen((const char *)bytes, most);
    while (n < most && memcmp(bytes + n * unit, zeros, unit) != 0)
        n++;
    return n;
}

/* The n bytes that a value begins with in memory: one store where the block has room for more. */
static void put_value(struct block *block, uint64_t value, size_t n)
{
    if (block->at && (size_t)(block->end - block->at) >= sizeof value) {
        memcpy(block->at, &value, sizeof value);
        block->at += n;
    } else {
        put(block, &value, n);
    }
}

static void put_array(struct block *block, const ttr_piece *piece)
{
    size_t n = piece->is.bytes ? piece->n : 0;
    put_u16(block, (unsigned)n);
    put(block, piece->is.bytes, n <= UINT16_MAX ? n * piece->unit : SIZE_MAX);
}

static void put_zstring(struct block *block, const ttr_piece *piece)
{
    put(block, piece->is.bytes,
        piece->is.bytes ? units_before_zero(block, piece->is.bytes, piece->unit) * piece->unit : 0);
    put_value(block, 0, piece->unit);
}

/* By comparisons, as no table of jumps is: see copy. */
static inline void put_piece(struct block *block, const ttr_piece *piece)
{
    if (piece->kind == TTR_PIECE_VALUE)
        put_value(block, piece->is.value, piece->n <= 8 ? piece->n : 8);
    else if (piece->kind == TTR_PIECE_ZSTRING)
        put_zstring(block, piece);
    else if (piece->kind == TTR_PIECE_ARRAY)
        put_array(block, piece);
    else if (piece->kind == TTR_PIECE_BYTES)
        put(block, piece->is.bytes, piece->n);
}

static const void *find_related(const ttr_piece *pieces)
{
    while (pieces->kind != TTR_PIECE_END && pieces->kind != TTR_PIECE_RELATED)
        pieces++;
    return pieces->kind == TTR_PIECE_RELATED ? pieces->is.bytes : NULL;
}

/* Moves what stands behind the header to make room for the activity: events with one are few. */
static void insert_activity(struct block *block, uint8_t *event, const void *activity,
                            const void *related)
{
    uint8_t ids[32];
    size_t n = related ? 32 : 16;
    if (!activity || !block->at)
        return;
    if ((size_t)(block->end - block->at) < EXTENSION + n) {
        block->at = NULL;
        return;
    }
    memcpy(ids, activity, 16);
    memcpy(ids + 16, related ? related : activity, 16);
    memmove(event + HEADER + EXTENSION + n, event + HEADER, (size_t)(block->at - event) - HEADER);
    struct block gap = {event + HEADER, event + HEADER + EXTENSION + n};
    put_u16(&gap, (unsigned)n);
    put_u16(&gap, ACTIVITY_KIND);
    put(&gap, ids, n);
    block->at += EXTENSION + n;
}

/* Fills an event of at most `room` bytes; gives how many it has, or 0 where it has more. */
static size_t fill(uint8_t *event, size_t room, const ttr_site *site, const ttr_piece *pieces)
{
    struct block block = {event, event + room};
    put(&block, site->metadata, site->metadata_n);
    for (const ttr_piece *piece = pieces; piece->kind != TTR_PIECE_END; piece++)
        if (piece->kind == TTR_PIECE_ACTIVITY)
            insert_activity(&block, event, piece->is.bytes, find_related(pieces));
        else
            put_piece(&block, piece);
    return block.at ? (size_t)(block.at - event) : 0;
}

__attribute__((noinline)) static ttr_status write_large(ttr_site *site, const ttr_piece *pieces)
{
    uint8_t block[BLOCK_FRONT + TTR_EVENT_MAX];
    size_t n = fill(block + BLOCK_FRONT, TTR_EVENT_MAX, site, pieces);
    return n ? provider_send(&site->point, block + BLOCK_FRONT, n) : provider_refuse(&site->point);
}

__attribute__((noinline)) static ttr_status write_small(ttr_site *site, const ttr_piece *pieces,
                                                        bool *is_done)
{
    uint8_t block[BLOCK_FRONT + SMALL_EVENT];
    size_t n = fill(block + BLOCK_FRONT, SMALL_EVENT, site, pieces);
    *is_done = n > 0;
    return n ? provider_send(&site->point, block + BLOCK_FRONT, n) : TTR_OK;
}

ttr_status ttr_site_write(ttr_site *site, const ttr_piece *pieces)
{
    bool is_done = false;
    if (__atomic_load_n(&site->point.enabled, __ATOMIC_RELAXED) & TTR_SITE_LATE) {
        provider_take_late(&site->point);
        if (!(__atomic_load_n(&site->point.enabled, __ATOMIC_RELAXED) & PROVIDER_BITS))
            return TTR_OK;
    }
    ttr_status status = write_small(site, pieces, &is_done);
    return is_done ? status : write_large(site, pieces);
}

/* The shard of this thread: threads have their stacks megabytes apart. */
static struct provider_shard *shard_of(struct provider_state *state)
{
    uint8_t here;
    uint64_t place = (uint64_t)(uintptr_t)&here >> 16;
    return &state->shards[(place * UINT64_C(0x9E3779B97F4A7C15)) >> 61];
}

static void count(uint64_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

ttr_status provider_refuse(ttr_tracepoint *point)
{
    struct provider_state *state = __atomic_load_n(&point->provider->state, __ATOMIC_ACQUIRE);
    if (state)
        count(&shard_of(state)->too_large);
    return TTR_E_LIMIT;
}

/* Between begun and ended: nothing here is taken away until we are through. */
static ttr_status send_to_all(struct provider_state *state, const ttr_tracepoint *point,
                              uint8_t *event, size_t n)
{
    ttr_status status = TTR_OK;
    uint32_t bits = __atomic_load_n(&point->enabled, __ATOMIC_SEQ_CST) & PROVIDER_BITS;
    for (unsigned i = 0; bits >> i; i++) {
        uint32_t index = __atomic_load_n(&point->index[i], __ATOMIC_ACQUIRE);
        ttr_backend *backend = __atomic_load_n(&state->backends[i], __ATOMIC_ACQUIRE);
        if (!(bits >> i & 1) || index == PROVIDER_NO_INDEX || !backend)
            continue;
        int sys = backend->functions.write(backend->own, index, event, n);
        if (sys) {
            __atomic_store_n(&state->last_errno, sys, __ATOMIC_RELAXED);
            status = TTR_E_IO;
        }
    }
    return status;
}

ttr_status provider_send(ttr_tracepoint *point, uint8_t *event, size_t n)
{
    struct provider_state *state = __atomic_load_n(&point->provider->state, __ATOMIC_ACQUIRE);
    if (!state)
        return TTR_OK;
    int sys_before = errno;
    struct provider_shard *shard = shard_of(state);
    (void)__atomic_fetch_add(&shard->begun, 1, __ATOMIC_SEQ_CST);
    ttr_status status = send_to_all(state, point, event, n);
    if (n > PAGE_EVENT)
        count(&shard->above_page);
    if (status != TTR_OK)
        count(&shard->failed);
    (void)__atomic_fetch_add(&shard->ended, 1, __ATOMIC_RELEASE);
    errno = sys_before;
    return status;
}
