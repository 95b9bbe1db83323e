/* Event writing: assembles the fields of TTR_WRITE into one block and passes it to the backends.
 *
 * |  block: [0..3] free for the backend | event
 * |  event: [0..7] header: flags, version, id, tag, opcode, level
 * |         [size u16][kind 0x8002][16 or 32 bytes: activity, related]   optional
 * |         [size u16][kind 1][event name, field names and types]
 * |         payload
 *
 * Header and metadata are constant data of the call site and are copied as one piece. Order of
 * calls: ttr_site_write, write_small_event, then write_large_event if the event exceeds 1 KiB,
 * provider_send. The second attempt assembles the event again; that is cheaper for common events
 * than measuring first.
 *
 * The block is on the stack: no allocation, no sharing between threads, and a signal handler may
 * interrupt at any instruction. Only write_large_event has a stack frame of 8 KiB, so threads with
 * small stacks can write small events. provider_send does steps 1 to 4 of the writer protocol in
 * state.h.
 *
 * Failure: an event above TTR_EVENT_MAX is counted and dropped as a whole. If one backend fails,
 * the others still get the event. errno is preserved for the caller. Left out: partial events and
 * retries. */
#include <errno.h>
#include <string.h>

#include "provider/state.h"

#define SMALL_EVENT_MAX 1024u
/* largest event in bytes that ftrace accepts with 4 KiB sub-buffers; measured, see
 * docs/user/provider.md */
#define FTRACE_EVENT_MAX 4064u
#define HEADER_SIZE 8u
#define EXTENSION_HEAD_SIZE 4u /* size and kind fields before the extension data */
#define ACTIVITY_KIND 0x8002u  /* activity id (2); bit 15: another extension follows */

/* The part of the event that is not written yet. `at` is NULL if a field did not fit; later fields
 * are then ignored. */
struct block {
    uint8_t *at, *end;
};

struct sixteen {
    uint64_t words[2];
};

static inline void copy_16_bytes(uint8_t *to, const uint8_t *from)
{
    struct sixteen words;
    memcpy(&words, from, sizeof words);
    memcpy(to, &words, sizeof words);
}

/* Copies n bytes without a libc call up to 256 bytes. Kernel entry flushes the indirect branch
 * predictor on many CPUs, so a call through the PLT after each write() would be mispredicted. */
static inline void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n > 256) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        for (size_t i = 0; i + 16 < n; i += 16)
            copy_16_bytes(to + i, from + i);
        copy_16_bytes(to + n - 16, from + n - 16);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

static void append_bytes(struct block *block, const void *bytes, size_t n)
{
    if (!block->at || n > (size_t)(block->end - block->at)) {
        block->at = NULL;
        return;
    }
    if (bytes)
        copy_bytes(block->at, bytes, n);
    else
        memset(block->at, 0, n);
    block->at += n;
}

static void append_u16(struct block *block, unsigned x)
{
    uint16_t word = (uint16_t)x;
    append_bytes(block, &word, 2);
}

/* Returns the length of a string in units, at most the number of units left in the block. */
static size_t count_units_before_zero(const struct block *block, const uint8_t *bytes,
                                      uint32_t unit)
{
    static const uint8_t zeros[8];
    size_t n = 0, units_max = block->at ? (size_t)(block->end - block->at) / unit : 0;
    if (unit == 1)
        return strnlen((const char *)bytes, units_max);
    while (n < units_max && memcmp(bytes + n * unit, zeros, unit) != 0)
        n++;
    return n;
}

/* Appends the first n bytes of `value`. If the block has 8 bytes left, a single 8-byte store
 * replaces the copy. */
static void append_value(struct block *block, uint64_t value, size_t n)
{
    if (block->at && (size_t)(block->end - block->at) >= sizeof value) {
        memcpy(block->at, &value, sizeof value);
        block->at += n;
    } else {
        append_bytes(block, &value, n);
    }
}

static void append_array(struct block *block, const ttr_piece *piece)
{
    size_t n = piece->is.bytes ? piece->n : 0;
    append_u16(block, (unsigned)n);
    append_bytes(block, piece->is.bytes, n <= UINT16_MAX ? n * piece->unit : SIZE_MAX);
}

static void append_zstring(struct block *block, const ttr_piece *piece)
{
    append_bytes(block, piece->is.bytes,
                 piece->is.bytes
                     ? count_units_before_zero(block, piece->is.bytes, piece->unit) * piece->unit
                     : 0);
    append_value(block, 0, piece->unit);
}

/* Comparisons instead of a switch: a jump table is an indirect jump, which is mispredicted after
 * each write() (see copy_bytes). */
static inline void append_piece(struct block *block, const ttr_piece *piece)
{
    if (piece->kind == TTR_PIECE_VALUE)
        append_value(block, piece->is.value, piece->n <= 8 ? piece->n : 8);
    else if (piece->kind == TTR_PIECE_ZSTRING)
        append_zstring(block, piece);
    else if (piece->kind == TTR_PIECE_ARRAY)
        append_array(block, piece);
    else if (piece->kind == TTR_PIECE_BYTES)
        append_bytes(block, piece->is.bytes, piece->n);
}

static const void *find_related_activity(const ttr_piece *pieces)
{
    while (pieces->kind != TTR_PIECE_END && pieces->kind != TTR_PIECE_RELATED)
        pieces++;
    return pieces->kind == TTR_PIECE_RELATED ? pieces->is.bytes : NULL;
}

/* Inserts the activity extension after the header by moving the metadata. The move is acceptable,
 * because few events have an activity. */
static void insert_activity(struct block *block, uint8_t *event, const void *activity,
                            const void *related)
{
    uint8_t ids[32];
    size_t n = related ? 32 : 16;
    if (!activity || !block->at)
        return;
    if ((size_t)(block->end - block->at) < EXTENSION_HEAD_SIZE + n) {
        block->at = NULL;
        return;
    }
    memcpy(ids, activity, 16);
    memcpy(ids + 16, related ? related : activity, 16);
    memmove(event + HEADER_SIZE + EXTENSION_HEAD_SIZE + n, event + HEADER_SIZE,
            (size_t)(block->at - event) - HEADER_SIZE);
    struct block gap = {event + HEADER_SIZE, event + HEADER_SIZE + EXTENSION_HEAD_SIZE + n};
    append_u16(&gap, (unsigned)n);
    append_u16(&gap, ACTIVITY_KIND);
    append_bytes(&gap, ids, n);
    block->at += EXTENSION_HEAD_SIZE + n;
}

/* Assembles an event of at most `room` bytes. Returns its size, or 0 if it is larger. */
static size_t assemble_event(uint8_t *event, size_t room, const ttr_site *site,
                             const ttr_piece *pieces)
{
    struct block block = {event, event + room};
    append_bytes(&block, site->metadata, site->metadata_n);
    for (const ttr_piece *piece = pieces; piece->kind != TTR_PIECE_END; piece++)
        if (piece->kind == TTR_PIECE_ACTIVITY)
            insert_activity(&block, event, piece->is.bytes, find_related_activity(pieces));
        else
            append_piece(&block, piece);
    return block.at ? (size_t)(block.at - event) : 0;
}

__attribute__((noinline)) static ttr_status write_large_event(ttr_site *site,
                                                              const ttr_piece *pieces)
{
    uint8_t block[BLOCK_FRONT + TTR_EVENT_MAX];
    size_t n = assemble_event(block + BLOCK_FRONT, TTR_EVENT_MAX, site, pieces);
    return n ? provider_send(&site->point, block + BLOCK_FRONT, n)
             : provider_count_too_large(&site->point);
}

__attribute__((noinline)) static ttr_status write_small_event(ttr_site *site,
                                                              const ttr_piece *pieces,
                                                              bool *is_done)
{
    uint8_t block[BLOCK_FRONT + SMALL_EVENT_MAX];
    size_t n = assemble_event(block + BLOCK_FRONT, SMALL_EVENT_MAX, site, pieces);
    *is_done = n > 0;
    return n ? provider_send(&site->point, block + BLOCK_FRONT, n) : TTR_OK;
}

ttr_status ttr_site_write(ttr_site *site, const ttr_piece *pieces)
{
    bool is_done = false;
    if (__atomic_load_n(&site->point.enabled, __ATOMIC_RELAXED) & TTR_SITE_LATE) {
        provider_register_late(&site->point);
        if (!(__atomic_load_n(&site->point.enabled, __ATOMIC_RELAXED) & PROVIDER_BITS))
            return TTR_OK;
    }
    ttr_status status = write_small_event(site, pieces, &is_done);
    return is_done ? status : write_large_event(site, pieces);
}

/* Selects the counter shard of a thread by hashing its stack address. Addresses in the same 64 KiB
 * select the same shard. */
static struct provider_shard *get_current_shard(struct provider_state *state)
{
    uint8_t here;
    uint64_t place = (uint64_t)(uintptr_t)&here >> 16;
    return &state->shards[(place * UINT64_C(0x9E3779B97F4A7C15)) >> 61];
}

static void increment_counter(uint64_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

ttr_status provider_count_too_large(ttr_tracepoint *point)
{
    struct provider_state *state = __atomic_load_n(&point->provider->state, __ATOMIC_ACQUIRE);
    if (state)
        increment_counter(&get_current_shard(state)->too_large);
    return TTR_E_LIMIT;
}

/* Implements steps 2 and 3 of the writer protocol. Backends stay valid here, because closing waits
 * until the caller has incremented `ended`. */
static ttr_status write_to_backends(struct provider_state *state, const ttr_tracepoint *point,
                                    uint8_t *event, size_t n)
{
    ttr_status status = TTR_OK;
    uint32_t bits = __atomic_load_n(&point->enabled, __ATOMIC_SEQ_CST) & PROVIDER_BITS;
    for (unsigned i = 0; bits >> i; i++) {
        uint32_t index = __atomic_load_n(&point->index[i], __ATOMIC_ACQUIRE);
        ttr_backend *backend = __atomic_load_n(&state->backends[i], __ATOMIC_ACQUIRE);
        if (!(bits >> i & 1) || index == PROVIDER_NO_INDEX || !backend)
            continue;
        int sys = backend->functions.write(backend->ctx, index, event, n);
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
    struct provider_shard *shard = get_current_shard(state);
    (void)__atomic_fetch_add(&shard->begun, 1, __ATOMIC_SEQ_CST);
    ttr_status status = write_to_backends(state, point, event, n);
    if (n > FTRACE_EVENT_MAX)
        increment_counter(&shard->above_page);
    if (status != TTR_OK)
        increment_counter(&shard->failed);
    (void)__atomic_fetch_add(&shard->ended, 1, __ATOMIC_RELEASE);
    errno = sys_before;
    return status;
}
