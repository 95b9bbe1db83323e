/* Reader of perf ring buffers; ring.h describes the protocol. */
#include "perf_events/ring.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/endian.h"
#include "encodings/perf_data/perf_layout.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define load_u16 load_u16le
#define load_u32 load_u32le
#define load_u64 load_u64le
#else
#define load_u16 load_u16be
#define load_u32 load_u32be
#define load_u64 load_u64be
#endif

bool ring_open(struct ring *ring, int fd, size_t bytes, bool is_backward)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int protection = is_backward
                         ? PROT_READ
                         /* if the control page is read-only, the kernel overwrites old records */
                         : PROT_READ | PROT_WRITE;
    void *at = mmap(NULL, page + bytes, protection, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    *ring = (struct ring){.page = at,
                          .data = (const uint8_t *)at + page,
                          .size = bytes,
                          .mapped = page + bytes,
                          .fd = fd,
                          .is_backward = is_backward};
    return true;
}

void ring_close(struct ring *ring)
{
    if (ring->page)
        (void)munmap(ring->page, ring->mapped);
    ring->page = NULL;
}

/* Copies n bytes from offset `at` of the ring; the range may wrap around the end of the data. */
static void ring_copy_bytes(const struct ring *ring, uint64_t at, void *to, size_t n)
{
    uint64_t first = at & (ring->size - 1), room = ring->size - first;
    size_t part = room < n ? (size_t)room : n;
    memcpy(to, ring->data + first, part);
    memcpy((uint8_t *)to + part, ring->data, n - part);
}

static void ring_pass_bytes(const struct ring *ring, uint64_t at, uint64_t n,
                            ring_receive_fn receive, void *ctx)
{
    uint64_t first = at & (ring->size - 1), part = ring->size - first < n ? ring->size - first : n;
    if (part)
        receive(ctx, ring->data + first, (size_t)part);
    if (n > part)
        receive(ctx, ring->data, (size_t)(n - part));
}

/* Copies the header of the record at `at` and returns the record's size. Returns 0 if that size is
 * impossible or exceeds the `left` readable bytes. */
static uint64_t ring_record_size(const struct ring *ring, uint64_t at, uint64_t left,
                                 uint8_t header[PERF_RECORD_HEADER])
{
    if (left < PERF_RECORD_HEADER)
        return 0;
    ring_copy_bytes(ring, at, header, PERF_RECORD_HEADER);
    uint64_t n = load_u16(header + 6);
    return n >= PERF_RECORD_HEADER && n <= left ? n : 0;
}

/* size in bytes of the largest MMAP2 record: fixed fields and a path of PATH_MAX */
#define MMAP2_RECORD_MAX 8192u

static void report_mapping(const struct ring *ring, uint64_t at, uint64_t n,
                           const struct ring_stats *stats)
{
    uint8_t bytes[MMAP2_RECORD_MAX];
    if (!stats->mapped || n > sizeof bytes)
        return;
    ring_copy_bytes(ring, at, bytes, (size_t)n);
    stats->mapped(stats->ctx, bytes, (size_t)n);
}

static void count_record(const struct ring *ring, uint64_t at, const uint8_t *header, uint64_t n,
                         struct ring_stats *stats)
{
    uint8_t bytes[24];
    uint32_t type = load_u32(header);
    stats->records++;
    stats->samples += type == PERF_SAMPLE;
    if (type == PERF_LOST && n >= sizeof bytes) {
        ring_copy_bytes(ring, at, bytes, sizeof bytes);
        stats->lost += load_u64(bytes + 16);
    } else if (type == PERF_LOST_SAMPLES && n >= 16) {
        ring_copy_bytes(ring, at, bytes, 16);
        stats->lost += load_u64(bytes + 8);
    } else if (type == PERF_MMAP2) {
        report_mapping(ring, at, n, stats);
    }
}

static uint64_t read_forward(struct ring *ring, struct ring_stats *stats, ring_receive_fn receive,
                             void *ctx)
{
    uint8_t header[PERF_RECORD_HEADER];
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at = ring->at, n = 0;
    /* A correct kernel never exceeds the size. Otherwise only the newest `size` bytes are read. */
    if (head - at > ring->size)
        at = head - ring->size;
    uint64_t begin = at;
    while (at < head && (n = ring_record_size(ring, at, head - at, header)) > 0) {
        count_record(ring, at, header, n, stats);
        at += n;
    }
    stats->broken += at < head;
    ring_pass_bytes(ring, begin, at - begin, receive, ctx);
    ring->at = head;
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
    return at - begin;
}

/* Offsets of records, newest first. */
struct record_offsets {
    const struct alloc *alloc;
    uint64_t *list;
    size_t n, capacity;
};

/* Collects the offsets of the records between `head` and `end`, newest first. Ends at an
 * overwritten record or at unwritten bytes. Returns false if memory is exhausted. */
static bool find_record_offsets(const struct ring *ring, uint64_t head, uint64_t end,
                                struct record_offsets *record_offsets)
{
    uint8_t header[PERF_RECORD_HEADER];
    uint64_t n;
    for (uint64_t at = head; at != end && (n = ring_record_size(ring, at, end - at, header)) > 0;
         at += n) {
        if (!alloc_reserve(record_offsets->alloc, (void **)&record_offsets->list,
                           &record_offsets->capacity, record_offsets->n + 1,
                           sizeof *record_offsets->list))
            return false;
        record_offsets->list[record_offsets->n++] = at;
    }
    return true;
}

/* Reads a paused backward ring, in which offsets count down from 0: the newest record is at
 * data_head, and older records follow it. */
static uint64_t read_backward(struct ring *ring, const struct alloc *alloc,
                              struct ring_stats *stats, ring_receive_fn receive, void *ctx)
{
    struct record_offsets record_offsets = {.alloc = alloc};
    uint8_t header[PERF_RECORD_HEADER];
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), bytes = 0;
    uint64_t end = ring->at - head > ring->size ? head + ring->size : ring->at;
    if (find_record_offsets(ring, head, end, &record_offsets))
        ring->at = head;
    else
        record_offsets.n = 0;
    for (size_t i = record_offsets.n; i-- > 0;) {
        uint64_t n =
            ring_record_size(ring, record_offsets.list[i], end - record_offsets.list[i], header);
        count_record(ring, record_offsets.list[i], header, n, stats);
        ring_pass_bytes(ring, record_offsets.list[i], n, receive, ctx);
        bytes += n;
    }
    alloc_free(alloc, record_offsets.list, record_offsets.capacity, sizeof *record_offsets.list);
    return bytes;
}

uint64_t ring_read_records(struct ring *ring, const struct alloc *alloc, struct ring_stats *stats,
                           ring_receive_fn receive, void *ctx)
{
    return ring->is_backward ? read_backward(ring, alloc, stats, receive, ctx)
                             : read_forward(ring, stats, receive, ctx);
}
