/* Fast loop: decodes consecutive plain events (defined below) that the window contains completely.
 *
 * Purpose: most events of most traces are plain, and only their boundaries and times are needed
 * until a caller asks for fields. An event is plain if
 * |  - its header consists of two loads of whole bytes (CTF_PLAN_LOADS, little-endian);
 * |  - its ticks are nanoseconds, so its time is one addition;
 * |  - its class was met before, belongs to no thread, and needs no fields of the packet or of
 * |     the event header;
 * |  - its end follows from the class's size rule in bytes (struct layout_byte_shape).
 *
 * Order of calls: ctf_fast_loop_is_possible and ctf_fast_loop_init once per call of the reader;
 * ctf_fast_loop_read; then ctf_fast_loop_get_bit for the new position. ctf_events.c decodes the
 * event at which the loop stopped and may call ctf_fast_loop_read again.
 *
 * Layout of a plain event, from a byte boundary:
 *
 * |  | id + low time bits | (extended id, time) | fixed part | text, 0 | fixed rest |
 * |    `- loads.bits -------- wider bytes ----'   `------- layout_byte_shape -----------'
 *
 * Invariants: the loop never reads after `there`; it writes no member of the reader; it stops at
 * the start of the first event that is not plain, so the caller sees no half-decoded state. All
 * state is copied to locals, because the compiler must assume that stores to events alias the
 * reader.
 *
 * Cost: about 30 instructions per event; one cache line per event class (struct ctf_class_entry).
 * The loop is compiled three times, for simple, extended and other headers (enum heads in the .c
 * file).
 *
 * Left out: big-endian and bit-packed headers, threads, backward times, classes that need fields of
 * the packet, clock fields in bodies. Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_FAST_LOOP_H
#define TRACETTA_FORMATS_CTF_READ_CTF_FAST_LOOP_H

#include <stddef.h>

#include "formats/ctf/read/ctf_reader.h"

/* Values that all events of the current packet share. */
struct ctf_packet_views {
    const struct ctf_timeline *timeline;
    const uint8_t *base;
    uint64_t offset; /* file offset of the byte at `base` */
    /* number of bytes from `base` that may be loaded; includes bytes after the packet's content */
    uint64_t there;
    uint32_t part, cpu;
    uint8_t cpu_flag;
    bool has_time;
    /* ticks below this value are converted to ns by adding plain_shift; if 0, no ticks are */
    uint64_t plain_ticks;
    uint64_t plain_shift;
};

/* State of the fast loop: position, clock, and values for the events. */
struct ctf_fast_loop {
    const uint8_t *next; /* address of the end of the last event */
    const uint8_t *bytes;
    uint64_t end; /* end of the content or window, in bytes from `bytes` */
    uint64_t ticks;
    int64_t time;
    const struct ctf_header_plan *plan;
    struct ctf_class_entry *by_id;
    uint64_t plain_shift;
    uint64_t before; /* difference between the file offset of a byte and its address */
    /* values for the last 16 bytes of each ttr_event; kind, level, opcode and flags of the class
     * are added */
    uint64_t origin, kind;
    uint16_t body; /* size of the event header in bits */
    /* bytes by which an extended event header is longer than a short one; if 0, the loop stops at
     * extended headers */
    uint8_t wider;
    uint32_t ids;
};

/* Copies an event by loads and stores of 16 bytes (see input_clear_event). */
static inline void ctf_copy_event(ttr_event *to, const ttr_event *from)
{
    typedef uint64_t vec16 __attribute__((vector_size(16), aligned(8), may_alias));
    vec16 *part = (vec16 *)to;
    const vec16 *of = (const vec16 *)from;
    part[0] = of[0], part[1] = of[1], part[2] = of[2], part[3] = of[3];
    part[4] = of[4], part[5] = of[5], part[6] = of[6], part[7] = of[7];
}

/* Returns true if the fast loop can decode event headers of this plan and times of this clock. */
bool ctf_fast_loop_is_possible(const struct ctf_header_plan *plan,
                               const struct ctf_packet_views *views);

/* Initializes the state. The loop starts at reader->bits.at in the current packet. */
void ctf_fast_loop_init(struct ctf_fast_loop *run, const struct ctf_reader *reader,
                        const struct ctf_packet_views *views);

/* Returns the position of the next event, in bytes from run->bytes. */
static inline uint64_t ctf_fast_loop_get_offset(const struct ctf_fast_loop *run)
{
    return (uint64_t)(run->next - run->bytes);
}

/* Returns the position of the next event in bits. `before`: bit position before
 * ctf_fast_loop_init. If the loop decoded no event, returns `before`, which may be inside a
 * byte. */
static inline uint64_t ctf_fast_loop_get_bit(const struct ctf_fast_loop *run, uint64_t before)
{
    const uint64_t at = ctf_fast_loop_get_offset(run);
    return at == (before + 7) >> 3 ? before : at << 3;
}

/* Decodes plain events and appends them to the batch, which already contains some->n. Stops before
 * the first event that is not plain. `there`: number of bytes from run->bytes that may be loaded;
 * it may exceed run->end, which is the end of the last possible event. */
void ctf_fast_loop_read(struct ctf_fast_loop *run, uint64_t there,
                        struct reader_partial_read *some);

#endif
