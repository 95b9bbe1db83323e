/* The fast loop: plain events one after another, as far as the window holds them.
 *
 * Most events of most traces are plain: the header is two loads of whole bytes, ticks are
 * nanoseconds of their own clock, the class was met before and its events need nothing but their
 * bytes, and the end of the body follows from its shape in bytes. The loop stops before any other
 * event; ctf_events.c reads that one. Its state is made of the reader's for each call.
 * Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_FAST_LOOP_H
#define TRACETTA_FORMATS_CTF_READ_CTF_FAST_LOOP_H

#include <stddef.h>

#include "formats/ctf/read/ctf_reader.h"

/* What views have in common while a packet is read. */
struct ctf_packet_views {
    const struct ctf_timeline *timeline;
    const uint8_t *base;
    uint64_t offset; /* of base in the file */
    uint64_t there; /* bytes from base on that may be looked at, also beyond the packet's content */
    uint32_t part, cpu;
    uint8_t cpu_flag;
    bool has_time;
    uint64_t
        plain_ticks; /* ticks below this become nanoseconds by adding plain_shift; 0: none do */
    uint64_t plain_shift;
};

/* The state of the loop. */
struct ctf_fast_loop {
    const uint8_t *next; /* where the next event may begin */
    const uint8_t *bytes;
    uint64_t end; /* of content or window, in bytes from there */
    uint64_t ticks;
    int64_t time;
    const struct ctf_header_plan *plan;
    struct ctf_class_entry *by_id;
    uint64_t plain_shift;
    uint64_t before;       /* added to an address among the bytes, it is the offset in the file */
    uint64_t origin, kind; /* the last two words of all views, except for the parts of a class */
    uint16_t body;         /* bits of a header */
    uint8_t wider; /* bytes that an extended header is longer; 0: the loop stops at such headers */
    uint32_t ids;
};

/* Copies by whole vectors, see input_clear_event. */
static inline void ctf_copy_event(ttr_event *to, const ttr_event *from)
{
    typedef uint64_t file_index __attribute__((vector_size(16), aligned(8), may_alias));
    file_index *part = (file_index *)to;
    const file_index *of = (const file_index *)from;
    part[0] = of[0], part[1] = of[1], part[2] = of[2], part[3] = of[3];
    part[4] = of[4], part[5] = of[5], part[6] = of[6], part[7] = of[7];
}

/* Whether events of such headers and times may be plain. */
bool ctf_fast_loop_is_possible(const struct ctf_header_plan *plan,
                               const struct ctf_packet_views *views);

/* A state of the reader's present packet, at reader->bits. */
void ctf_fast_loop_init(struct ctf_fast_loop *run, const struct ctf_reader *reader,
                        const struct ctf_packet_views *views);

/* Where the next event may begin, in bytes from run->bytes. */
static inline uint64_t ctf_fast_loop_offset(const struct ctf_fast_loop *run)
{
    return (uint64_t)(run->next - run->bytes);
}

/* The same as a bit, where `before` was the place that the run was made at: that of a run that did
 * not move. */
static inline uint64_t ctf_fast_loop_bit(const struct ctf_fast_loop *run, uint64_t before)
{
    const uint64_t at = ctf_fast_loop_offset(run);
    return at == (before + 7) >> 3 ? before : at << 3;
}

/* Gives plain events behind the some->n that are there.  Stops at whatever is no such event, at its
 * begin.  `there`: bytes from run->bytes on that may be looked at, not fewer than run->end. */
void ctf_fast_loop_read(struct ctf_fast_loop *run, uint64_t there,
                        struct reader_partial_read *some);

#endif
