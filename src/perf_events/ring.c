/* Reading rings; see the header. */
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
    int protection =
        is_backward
            ? PROT_READ
            : PROT_READ | PROT_WRITE; /* a tail that cannot be written makes the kernel overwrite */
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

/* Copies n bytes from a place that may lie across the end. */
static void copy_out(const struct ring *ring, uint64_t at, void *to, size_t n)
{
    uint64_t first = at & (ring->size - 1), room = ring->size - first;
    size_t part = room < n ? (size_t)room : n;
    memcpy(to, ring->data + first, part);
    memcpy((uint8_t *)to + part, ring->data, n - part);
}

static void give_out(const struct ring *ring, uint64_t at, uint64_t n, ring_give give, void *own)
{
    uint64_t first = at & (ring->size - 1), part = ring->size - first < n ? ring->size - first : n;
    if (part)
        give(own, ring->data + first, (size_t)part);
    if (n > part)
        give(own, ring->data, (size_t)(n - part));
}

/* The size of the record at a place of which `left` bytes can be read; 0 when it is none. */
static uint64_t record_at(const struct ring *ring, uint64_t at, uint64_t left,
                          uint8_t header[PERF_RECORD_HEADER])
{
    if (left < PERF_RECORD_HEADER)
        return 0;
    copy_out(ring, at, header, PERF_RECORD_HEADER);
    uint64_t n = load_u16(header + 6);
    return n >= PERF_RECORD_HEADER && n <= left ? n : 0;
}

#define MAPPING_MAX 8192u /* bytes of an MMAP2 record: a path and some numbers */

static void show_mapping(const struct ring *ring, uint64_t at, uint64_t n,
                         const struct ring_sums *sums)
{
    uint8_t bytes[MAPPING_MAX];
    if (!sums->mapped || n > sizeof bytes)
        return;
    copy_out(ring, at, bytes, (size_t)n);
    sums->mapped(sums->own, bytes, (size_t)n);
}

static void count_record(const struct ring *ring, uint64_t at, const uint8_t *header, uint64_t n,
                         struct ring_sums *sums)
{
    uint8_t bytes[24];
    uint32_t type = load_u32(header);
    sums->records++;
    sums->samples += type == PERF_SAMPLE;
    if (type == PERF_LOST && n >= sizeof bytes) {
        copy_out(ring, at, bytes, sizeof bytes);
        sums->lost += load_u64(bytes + 16);
    } else if (type == PERF_LOST_SAMPLES && n >= 16) {
        copy_out(ring, at, bytes, 16);
        sums->lost += load_u64(bytes + 8);
    } else if (type == PERF_MMAP2) {
        show_mapping(ring, at, n, sums);
    }
}

static uint64_t take_forward(struct ring *ring, struct ring_sums *sums, ring_give give, void *own)
{
    uint8_t header[PERF_RECORD_HEADER];
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), at = ring->at, n = 0;
    if (head - at > ring->size) /* the kernel never does; then only what is still there */
        at = head - ring->size;
    uint64_t begin = at;
    while (at < head && (n = record_at(ring, at, head - at, header)) > 0) {
        count_record(ring, at, header, n, sums);
        at += n;
    }
    sums->broken += at < head;
    give_out(ring, begin, at - begin, give, own);
    ring->at = head;
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
    return at - begin;
}

/* Places of records, the newest first. */
struct places {
    const struct alloc *alloc;
    uint64_t *list;
    size_t n, capacity;
};

/* Finds what was written since the last time and is not yet overwritten: up to a record that is not
 * whole any more, or to bytes that were never written.  False when memory is out. */
static bool find_places(const struct ring *ring, uint64_t head, uint64_t end, struct places *places)
{
    uint8_t header[PERF_RECORD_HEADER];
    uint64_t n;
    for (uint64_t at = head; at != end && (n = record_at(ring, at, end - at, header)) > 0;
         at += n) {
        if (!alloc_reserve(places->alloc, (void **)&places->list, &places->capacity, places->n + 1,
                           sizeof *places->list))
            return false;
        places->list[places->n++] = at;
    }
    return true;
}

/* The kernel counts down from 0: the newest record is at data_head, the one before it behind. */
static uint64_t take_backward(struct ring *ring, const struct alloc *alloc, struct ring_sums *sums,
                              ring_give give, void *own)
{
    struct places places = {.alloc = alloc};
    uint8_t header[PERF_RECORD_HEADER];
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), bytes = 0;
    uint64_t end = ring->at - head > ring->size ? head + ring->size : ring->at;
    if (find_places(ring, head, end, &places))
        ring->at = head;
    else
        places.n = 0;
    for (size_t i = places.n; i-- > 0;) {
        uint64_t n = record_at(ring, places.list[i], end - places.list[i], header);
        count_record(ring, places.list[i], header, n, sums);
        give_out(ring, places.list[i], n, give, own);
        bytes += n;
    }
    alloc_free(alloc, places.list, places.capacity, sizeof *places.list);
    return bytes;
}

uint64_t ring_take(struct ring *ring, const struct alloc *alloc, struct ring_sums *sums,
                   ring_give give, void *own)
{
    return ring->is_backward ? take_backward(ring, alloc, sums, give, own)
                             : take_forward(ring, sums, give, own);
}
