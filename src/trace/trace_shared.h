/* Memory that a recorded process shares with its manager: header, strings, ring buffers.
 *
 *   0                 header, one page
 *   strings_offset    FXT string records, appended; `strings_used` bytes are valid
 *   rings_offset      rings, one per thread:
 *                       ring header    one page
 *                       chunks         `chunks` times TRACE_CHUNK bytes
 *
 *   chunk   | index | events before it | dropped before it | used bytes, thread | FXT records ...
 *
 * One thread writes a ring; the manager, or the thread that writes the file of the process, reads
 * it.  The commit position counts bytes since the start of the session: chunk index times
 * TRACE_CHUNK plus the offset in the chunk.  Everything below it is complete records, because the
 * thread stores it after the record (release) and the reader loads it before (acquire). A process
 * that is killed therefore loses only the record that it was writing.
 *
 * Circular mode: the thread stores `writing` (the index of the chunk that it starts to overwrite)
 * before it overwrites, with a release fence between. The reader copies a chunk, issues an acquire
 * fence, and loads `writing` again: a chunk below writing - chunks + 1 was overwritten meanwhile.
 * Streaming mode: the thread does not start a chunk before the reader has stored `tail` above
 * index - chunks.
 *
 * Trust: the process reads sizes once and keeps them in its own memory.  The manager created the
 * memory, so it knows the sizes; everything else that it reads here is a claim of the process. */
#ifndef TRACETTA_TRACE_TRACE_SHARED_H
#define TRACETTA_TRACE_TRACE_SHARED_H

#include <stdint.h>

#define TRACE_MAGIC UINT64_C(0x3152454452434552) /* "RECRDER1" */
#define TRACE_VERSION 1u
#define TRACE_PAGE 4096u
#define TRACE_CHUNK 65536u
#define TRACE_CHUNK_HEADER 32u
#define TRACE_CHUNKS_MIN 2u
#define TRACE_CHUNKS_MAX 4096u
#define TRACE_CHUNKS_DEFAULT 8u
#define TRACE_STRINGS_SIZE (2u << 20)
#define TRACE_RINGS_MAX 4096u
#define TRACE_OPEN_ZONES 63u
#define TRACE_THREAD_NAME 64u /* bytes, with the NUL */

enum trace_ring_state {
    RING_FREE,     /* may be claimed */
    RING_CLAIMED,  /* a thread is filling in the ring header */
    RING_ACTIVE,   /* in use by a thread */
    RING_FINISHED, /* its thread ended; the reader sets it to RING_FREE when it is empty */
};

/* Events that were dropped. */
struct trace_drops {
    uint64_t count; /* atomic; number of dropped events */
    uint64_t first; /* atomic; time of the first in ticks; 0 after the reader has consumed it */
    uint64_t last;  /* atomic; time of the last in ticks */
};

struct trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t mode; /* enum ttr_trace_mode; atomic, the manager may change it at any time */
    uint32_t rings, chunks;
    uint64_t strings_offset, rings_offset, ring_stride;
    uint64_t strings_used;   /* atomic, bytes */
    uint64_t zone_min_ticks; /* read when the session starts */
    uint64_t ticks_per_second;
    uint32_t rings_used; /* atomic; rings from this one on were never claimed */
    uint32_t sleeping;   /* atomic; 1 = the manager waits for the wake-up descriptor */
    uint32_t uses_tsc;   /* 1 = ticks are of the time stamp counter; read at the start */
    uint32_t pad;
    struct trace_drops lost; /* losses of threads without a ring, and of points without strings */
};

struct trace_ring_header {
    uint32_t state; /* atomic, enum trace_ring_state */
    uint32_t tid;
    char name[TRACE_THREAD_NAME];
    uint32_t is_nested; /* 1 = second ring of the thread, for signal handlers */
    uint32_t claims;    /* number of times that the ring was claimed */
    uint64_t first;     /* index of the first chunk of the thread that claimed it */
    uint8_t pad0[40];
    uint64_t commit;  /* atomic, bytes */
    uint64_t events;  /* atomic, events written; may be ahead of `commit` by one */
    uint64_t writing; /* atomic, index of the newest chunk */
    uint8_t pad1[40];
    struct trace_drops drops;
    uint8_t pad2[40];
    uint64_t tail; /* atomic, written by the reader: chunks below it may be overwritten */
    uint8_t pad3[56];
    /* stack of open zones: depth, a word of padding, then pairs of header and start in ticks */
    uint64_t open_zones[2 + 2 * TRACE_OPEN_ZONES];
};
_Static_assert(sizeof(struct trace_ring_header) <= TRACE_PAGE, "a ring header fits in a page");

struct trace_chunk_header {
    uint64_t index;
    uint64_t events_before;  /* events written to the ring before this chunk */
    uint64_t dropped_before; /* events dropped before it */
    uint32_t used; /* atomic; bytes of a complete chunk, header included; 0 = not complete */
    uint32_t tid;  /* thread that writes the chunk */
};
_Static_assert(sizeof(struct trace_chunk_header) == TRACE_CHUNK_HEADER, "layout of a chunk header");

/* Bits of FXT headers that trace points and the manager compose. */
#define TRACE_FXT_STRING 2u
#define TRACE_FXT_THREAD 3u
#define TRACE_FXT_EVENT 4u
#define TRACE_FXT_BLOB 5u
#define TRACE_FXT_OBJECT 6u
#define TRACE_FXT_KERNEL_OBJECT 7u
#define TRACE_FXT_LOG 9u
#define TRACE_FXT_MAGIC UINT64_C(0x0016547846040010)
#define TRACE_FXT_RECORD_MAX 32760u /* bytes */
#define TRACE_FXT_STRINGS 32768u    /* indices of strings, 0 included */

/* Thread references in a ring: its thread, and the virtual thread that runs on it. */
#define TRACE_REAL_THREAD UINT64_C(1)
#define TRACE_VIRTUAL_THREAD UINT64_C(2)

/* Writes a thread record, three words. */
static inline void trace_append_thread(uint64_t *p, uint64_t index, uint64_t pid, uint64_t tid)
{
    p[0] = TRACE_FXT_THREAD | UINT64_C(3) << 4 | index << 16;
    p[1] = pid;
    p[2] = tid;
}

/* Returns the size of the memory for these numbers of rings and chunks. */
static inline uint64_t trace_ring_stride(uint32_t chunks)
{
    return TRACE_PAGE + (uint64_t)chunks * TRACE_CHUNK;
}

static inline uint64_t trace_memory_size(uint32_t rings, uint32_t chunks)
{
    return TRACE_PAGE + TRACE_STRINGS_SIZE + rings * trace_ring_stride(chunks);
}

#endif
