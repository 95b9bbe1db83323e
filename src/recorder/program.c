/* Programs that are recorded: their rings and their end.
 *
 * Trust: nothing that a program wrote is used before it is copied and checked.  Each word of shared
 * memory is loaded once.  A commit position may be at most one ring ahead of what was read, a chunk
 * is copied before its records are validated, string records must continue the table, and thread
 * ids count only within the process that the kernel reports for the socket.  Each breach is a
 * violation: the valid prefix is kept, the rest of the chunk is counted as invalid;
 * RECORDER_VIOLATIONS_MAX of them end the connection.  The memory is sealed against shrinking, so
 * that reading it cannot fault. */
#include <string.h>

#include "base/utf.h"
#include "recorder/recorder.h"
#include "trace/trace_fxt.h"

#define HEAD_ROOM 1024u /* bytes of a piece before its records, without strings */
/* maximum index of a chunk, so that positions fit into 64 bits */
#define CHUNK_INDEX_MAX (UINT64_MAX >> 20)

static struct trace_ring_header *get_ring(const ttr_manager *manager, const struct program *program,
                                          uint32_t i)
{
    return (struct trace_ring_header *)(void *)(program->memory + TRACE_PAGE + TRACE_STRINGS_SIZE +
                                                i * trace_ring_stride(manager->chunks));
}

static const uint8_t *get_chunk(const struct trace_ring_header *ring, uint64_t index,
                                uint64_t chunks)
{
    return (const uint8_t *)ring + TRACE_PAGE + index % chunks * TRACE_CHUNK;
}

static uint32_t count_used_rings(const ttr_manager *manager, const struct program *program)
{
    const uint32_t n = __atomic_load_n(&get_shared_header(program)->rings_used, __ATOMIC_ACQUIRE);
    return n < manager->rings ? n : manager->rings;
}

/* --- Pieces --- */

/* Copies new string records of a program to manager->strings. Returns the number of valid bytes. */
static size_t copy_strings(ttr_manager *manager, struct program *program)
{
    const uint64_t used =
        __atomic_load_n(&get_shared_header(program)->strings_used, __ATOMIC_ACQUIRE);
    if (used <= program->strings_done || used > TRACE_STRINGS_SIZE)
        return 0;
    const size_t n = used - program->strings_done;
    memcpy(manager->strings, program->memory + TRACE_PAGE + program->strings_done, n);
    const size_t valid = records_validate_strings((const uint64_t *)(const void *)manager->strings,
                                                  n, &program->next_string);
    if (valid != n) {
        program_count_violation(program);
        manager->stats.invalid += n - valid;
    }
    program->strings_done += valid == n ? n : TRACE_STRINGS_SIZE;
    return valid;
}

/* Returns thread and name of a ring, each loaded once; a name that is not UTF-8 is left out. */
static struct piece_head read_piece_head(const struct trace_ring_header *ring)
{
    struct piece_head head = {.tid = __atomic_load_n(&ring->tid, __ATOMIC_RELAXED),
                              .first = UINT64_MAX};
    memcpy(head.name, ring->name, sizeof head.name);
    head.name[sizeof head.name - 1] = '\0';
    if (!utf8_is_valid(head.name, strlen(head.name)))
        head.name[0] = '\0';
    return head;
}

/* Removes the name from a head if the archive has it already. */
static void skip_known_name(struct ring_state *state, struct piece_head *head)
{
    uint64_t hash = (UINT64_C(14695981039346656037) ^ head->tid) * UINT64_C(1099511628211);
    for (const char *at = head->name; *at; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(1099511628211); /* FNV-1a */
    if (hash == state->name)
        head->name[0] = '\0';
    state->name = hash;
}

/* Remembers where the clock frequency of a program is in the archive. */
static void remember_clock_frequency(ttr_manager *manager, uint64_t at)
{
    if (alloc_reserve(manager->alloc, (void **)&manager->frequencies,
                      &manager->frequencies_capacity, manager->frequencies_n + 1,
                      sizeof *manager->frequencies))
        manager->frequencies[manager->frequencies_n++] = at;
}

/* Adds a piece at offset `at` to the index. */
static void index_piece(ttr_manager *manager, const struct piece_head *about, uint64_t at,
                        bool has_definitions)
{
    struct archive_index_entry entry = {
        .offset = at,
        .flags = has_definitions || about->has_names ? TRACE_INDEX_HAS_DEFINITIONS : 0,
        .first = about->first,
        .last = about->last};
    if (about->losses[0]) {
        const uint64_t first = about->losses[1] ? about->losses[1] : about->losses[2];
        entry.first = first < entry.first ? first : entry.first;
        entry.last = about->losses[2] > entry.last ? about->losses[2] : entry.last;
    }
    archive_index_add(&manager->archive.index, &entry);
}

/* Writes a piece: records of a thread, preceded by the strings and names that a reader needs. */
static void write_piece(ttr_manager *manager, struct program *program,
                        const struct piece_head *about, const void *records, size_t n)
{
    uint64_t head[8 + 4 * TRACE_FXT_PROVIDER_WORDS];
    size_t words = 0, frequency = 0, after;
    const bool is_first = !program->has_head;
    const struct trace_fxt_clock clock = {manager->ticks_per_second, manager->clock.unix_ticks,
                                          manager->clock.unix_ns};
    if (is_first)
        words = trace_fxt_append_provider(head, program->provider, program->name, program->pid,
                                          &clock, &frequency);
    else
        words = trace_fxt_append_section(head, program->provider);
    after = words;
    trace_append_thread(head + words, TRACE_REAL_THREAD, program->pid, about->tid);
    words += 3;
    if (about->virtual_koid) {
        trace_append_thread(head + words, TRACE_VIRTUAL_THREAD, program->pid, about->virtual_koid);
        words += 3;
    }
    if (about->name[0])
        words += trace_fxt_append_thread_name(head + words, program->pid, about->tid, about->name);
    if (about->losses[0])
        words += trace_fxt_append_losses(head + words, program->provider, about->losses[0],
                                         about->losses[1], about->losses[2]);
    const struct archive_part parts[] = {{head, after * 8},
                                         {manager->strings, copy_strings(manager, program)},
                                         {head + after, (words - after) * 8},
                                         {records, n}};
    const uint64_t at = manager->archive.whole;
    if (!archive_write(&manager->archive, parts, 4))
        return;
    index_piece(manager, about, at, is_first || parts[1].n || about->name[0]);
    if (is_first) {
        program->has_head = true;
        remember_clock_frequency(manager, at + frequency * 8);
    }
}

/* Reads drops that are not in the archive yet, and advances `done`. */
static void read_losses(ttr_manager *manager, struct trace_drops *drops, uint64_t *done,
                        uint64_t losses[3])
{
    const uint64_t dropped = __atomic_load_n(&drops->count, __ATOMIC_ACQUIRE);
    losses[0] = dropped > *done ? dropped - *done : 0;
    losses[1] = losses[0] ? __atomic_exchange_n(&drops->first, 0, __ATOMIC_RELAXED) : 0;
    losses[2] = __atomic_load_n(&drops->last, __ATOMIC_RELAXED);
    manager->stats.dropped += losses[0];
    *done += losses[0];
}

/* Writes the number of events of threads without a ring as losses of the main thread. */
static void write_lost_counts(ttr_manager *manager, struct program *program)
{
    struct piece_head head = {.tid = (uint32_t)program->pid, .first = UINT64_MAX};
    read_losses(manager, &get_shared_header(program)->lost, &program->lost, head.losses);
    if (head.losses[0])
        write_piece(manager, program, &head, NULL, 0);
}

/* --- Rings --- */

/* Returns true if a chunk that is being read was overwritten. */
static bool is_chunk_overwritten(const ttr_manager *manager, const struct trace_ring_header *ring,
                                 uint64_t index)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return manager->may_overwrite &&
           __atomic_load_n(&ring->writing, __ATOMIC_RELAXED) >= index + manager->chunks;
}

/* Bytes of a chunk, as positions in the ring, and the thread that wrote them. */
struct chunk_range {
    uint32_t tid;
    uint64_t from, to;
};

/* Copies bytes of a chunk and writes those that are valid. */
static void read_records(ttr_manager *manager, struct program *program,
                         struct trace_ring_header *ring, struct ring_state *state,
                         const struct chunk_range *range)
{
    const uint64_t from = range->from, to = range->to;
    rotation_advance_if_due(manager, to - from + sizeof(struct trace_chunk_header) + HEAD_ROOM);
    struct piece_head head = read_piece_head(ring);
    memcpy(manager->copy, get_chunk(ring, from / TRACE_CHUNK, manager->chunks) + from % TRACE_CHUNK,
           to - from);
    if (is_chunk_overwritten(manager, ring, from / TRACE_CHUNK)) {
        manager->stats.overwritten += to - from;
        return;
    }
    const struct records_report report =
        records_validate((const uint64_t *)(const void *)manager->copy, to - from, program->pid);
    if (report.valid != to - from) {
        program_count_violation(program);
        manager->stats.invalid += to - from - report.valid;
    }
    if (head.tid != range->tid) /* the chunk was written by an earlier thread of the ring */
        head = (struct piece_head){.tid = range->tid};
    else
        skip_known_name(state, &head);
    /* A chunk starts with its virtual thread; the rest of one that was read before does not. */
    head.virtual_koid = from % TRACE_CHUNK == TRACE_CHUNK_HEADER || head.tid != state->tid
                            ? 0
                            : state->virtual_koid;
    state->virtual_koid = report.virtual_koid ? report.virtual_koid : head.virtual_koid;
    state->tid = head.tid;
    head.first = report.first;
    head.last = report.last;
    head.has_names = report.has_names;
    read_losses(manager, &ring->drops, &state->dropped, head.losses);
    write_piece(manager, program, &head, manager->copy, report.valid);
    if (manager->archive.reason == 0)
        manager->stats.events += report.events;
}

/* Reads the rest of the chunk that `done` is in. Returns false if its size is invalid. */
static bool read_chunk(ttr_manager *manager, struct program *program,
                       struct trace_ring_header *ring, struct ring_state *state, uint64_t commit)
{
    const uint64_t index = state->done / TRACE_CHUNK, newest = (commit - 1) / TRACE_CHUNK;
    const struct trace_chunk_header *header = (const void *)get_chunk(ring, index, manager->chunks);
    const uint32_t used = __atomic_load_n(&header->used, __ATOMIC_ACQUIRE),
                   tid = __atomic_load_n(&header->tid, __ATOMIC_RELAXED);
    const uint64_t first = index * TRACE_CHUNK + TRACE_CHUNK_HEADER;
    const uint64_t from = state->done < first ? first : state->done;
    const uint64_t to = index == newest ? commit : index * TRACE_CHUNK + used;
    state->done = index == newest ? commit : (index + 1) * TRACE_CHUNK;
    if (is_chunk_overwritten(manager, ring, index)) {
        manager->stats.overwritten += state->done - from;
        return true;
    }
    if (index != newest && (used < TRACE_CHUNK_HEADER || used > TRACE_CHUNK || used % 8 != 0))
        return false;
    if (to > from)
        read_records(manager, program, ring, state, &(struct chunk_range){tid, from, to});
    __atomic_store_n(&ring->tail, state->done / TRACE_CHUNK, __ATOMIC_RELEASE);
    return true;
}

/* Returns the commit position of a ring, or 0 if it is invalid. Skips chunks that were overwritten
 * in circular mode. */
static uint64_t check_commit(ttr_manager *manager, struct program *program,
                             const struct trace_ring_header *ring, struct ring_state *state)
{
    const uint64_t commit = __atomic_load_n(&ring->commit, __ATOMIC_ACQUIRE);
    const uint64_t newest = commit ? (commit - 1) / TRACE_CHUNK : 0;
    if (commit == 0 || commit < state->done)
        return 0;
    const bool is_ahead = newest >= state->done / TRACE_CHUNK + manager->chunks;
    if (commit % 8 != 0 || newest > CHUNK_INDEX_MAX || (is_ahead && !manager->may_overwrite)) {
        program_count_violation(program);
        return 0;
    }
    if (is_ahead) {
        const uint64_t first = (newest + 1 - manager->chunks) * TRACE_CHUNK;
        manager->stats.overwritten += first - state->done;
        state->done = first;
    }
    return commit;
}

/* Writes the drops after the last record of a ring. */
static void write_last_losses(ttr_manager *manager, struct program *program,
                              struct trace_ring_header *ring, struct ring_state *state)
{
    struct piece_head head = read_piece_head(ring);
    read_losses(manager, &ring->drops, &state->dropped, head.losses);
    if (head.losses[0])
        write_piece(manager, program, &head, NULL, 0);
}

/* Reads a ring, until at least `limit` bytes were read. Returns the bytes read. */
static uint64_t drain_ring(ttr_manager *manager, struct program *program, uint32_t i,
                           uint64_t limit)
{
    struct trace_ring_header *ring = get_ring(manager, program, i);
    struct ring_state *state = &program->rings[i];
    uint32_t phase = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
    if (phase != RING_ACTIVE && phase != RING_FINISHED)
        return 0;
    const uint64_t commit = check_commit(manager, program, ring, state), before = state->done;
    while (state->done < commit && state->done - before < limit &&
           program->violations < RECORDER_VIOLATIONS_MAX)
        if (!read_chunk(manager, program, ring, state, commit)) {
            program_count_violation(program);
            state->done = commit;
        }
    if (state->done < commit)
        return state->done - before;
    write_last_losses(manager, program, ring, state);
    /* A thread may have claimed the ring meanwhile, in circular mode. */
    if (phase == RING_FINISHED)
        (void)__atomic_compare_exchange_n(&ring->state, &phase, RING_FREE, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED);
    return state->done - before;
}

bool program_drain(ttr_manager *manager, struct program *program, bool reads_all)
{
    uint64_t bytes = 0;
    const uint64_t limit = reads_all ? UINT64_MAX : RECORDER_PASS_BYTES;
    if (!program->is_welcomed || (manager->mode == TTR_MANAGER_CIRCULAR && !reads_all))
        return false;
    const uint32_t n = count_used_rings(manager, program), first = program->next_ring;
    for (uint32_t k = 0; k < n && program->violations < RECORDER_VIOLATIONS_MAX; k++) {
        const uint32_t i = (first + k) % n;
        bytes += drain_ring(manager, program, i, limit - bytes);
        program->next_ring = i + 1;
        if (bytes >= limit)
            return true;
    }
    write_lost_counts(manager, program);
    return bytes > 0;
}

/* --- End --- */

/* Writes the zones that a ring has open as events "begin" without an end. */
static void write_open_zones(ttr_manager *manager, struct program *program, uint32_t i)
{
    const struct trace_ring_header *ring = get_ring(manager, program, i);
    struct piece_head head = read_piece_head(ring);
    uint64_t words[2 * TRACE_OPEN_ZONES];
    const uint64_t depth = __atomic_load_n(&ring->open_zones[0], __ATOMIC_ACQUIRE);
    const size_t n = depth < TRACE_OPEN_ZONES ? (size_t)depth : TRACE_OPEN_ZONES;
    if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != RING_ACTIVE || n == 0)
        return;
    for (size_t k = 0; k < n; k++) {
        const uint64_t strings = ring->open_zones[2 + 2 * k] & UINT64_C(0x7fff7fff00000000);
        words[2 * k] = TRACE_FXT_EVENT | UINT64_C(2) << 4 | UINT64_C(2) << 16 |
                       TRACE_REAL_THREAD << 24 | strings;
        words[2 * k + 1] = ring->open_zones[3 + 2 * k];
        head.first = words[2 * k + 1] < head.first ? words[2 * k + 1] : head.first;
        head.last = words[2 * k + 1] > head.last ? words[2 * k + 1] : head.last;
    }
    write_piece(manager, program, &head, words, n * 16);
    manager->stats.open_zones += (uint32_t)n;
    manager->stats.events += n;
}

void program_end(ttr_manager *manager, struct program *program)
{
    if (program->is_welcomed && program->violations < RECORDER_VIOLATIONS_MAX) {
        (void)program_drain(manager, program, true);
        const uint32_t n = count_used_rings(manager, program);
        for (uint32_t i = 0; i < n && program->violations < RECORDER_VIOLATIONS_MAX; i++)
            write_open_zones(manager, program, i);
    }
    program_free(manager, program);
}
