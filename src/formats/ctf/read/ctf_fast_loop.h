/* Plain events one after another, from a state of two lines of the cache.
 *
 * Plain are most events of most traces: the header is two loads in whole bytes, ticks are
 * nanoseconds of their own clock, the class was met and needs nothing but its bytes, the end of the
 * body is found by its shape in bytes.  The state is made of the reader's where such events may
 * follow.  Kept by who reads many inputs in turn (model/reader.h), it goes on without the reader
 * being looked at, which learns of it later (ctf_run_settle). Thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_FAST_LOOP_H
#define TRACETTA_FORMATS_CTF_READ_CTF_FAST_LOOP_H

#include <stddef.h>

#include "formats/ctf/read/ctf_reader.h"

/* What views have in common while a packet is read. */
struct ctf_views {
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

/* Finding events takes what is on the first line, making views of them what is on the second. */
struct ctf_run {
    struct reader_run base; /* its `next`: where the next event may begin */
    const uint8_t *bytes;
    uint64_t end; /* of content or window, in bytes from there */
    uint64_t ticks;
    int64_t time;
    const struct ctf_plan *plan;
    uint32_t margin; /* bytes that must be there from a header on for what has a fixed size not to
                        be looked at */
    uint32_t stride_most;
    /* The second line. */
    struct ctf_entry *by_id;
    uint64_t plain_shift;
    uint64_t before;       /* this and an address among the bytes are an offset in the file */
    uint64_t origin, kind; /* the last two words of all views, but for what is their class's */
    struct ctf_reader *reader;
    uint16_t body;          /* bits of a header */
    uint8_t visits;         /* since the reader's scratch was looked at */
    bool has_scratch : 1;   /* it is in use */
    bool has_one_class : 1; /* was met so far */
    uint8_t wider : 6; /* bytes that an extended header is longer; 0: such headers are not for the
                          run */
    uint32_t ids;
    uint32_t given;  /* since the reader learnt of it */
    uint32_t stride; /* twice the bytes that take most times, up to stride_most */
};

_Static_assert(offsetof(struct ctf_run, by_id) == CTF_LINE, "two lines of the cache");
_Static_assert(sizeof(struct ctf_run) <= READER_RUN, "a run has a place of that size");

/* Copies by whole vectors, see input_clear_event. */
static inline void ctf_copy_event(ttr_event *to, const ttr_event *from)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    lanes *part = (lanes *)to;
    const lanes *of = (const lanes *)from;
    part[0] = of[0], part[1] = of[1], part[2] = of[2], part[3] = of[3];
    part[4] = of[4], part[5] = of[5], part[6] = of[6], part[7] = of[7];
}

/* Whether events of such headers and times may be plain. */
bool ctf_run_can(const struct ctf_plan *plan, const struct ctf_views *views);

/* A state of the reader's present packet, at reader->bits. */
void ctf_run_init(struct ctf_run *run, const struct ctf_reader *reader,
                  const struct ctf_views *views);

/* Where the next event may begin, in bytes from run->bytes. */
static inline uint64_t ctf_run_at(const struct ctf_run *run)
{
    return (uint64_t)(run->base.next - run->bytes);
}

/* The same in the file. */
static inline uint64_t ctf_run_offset(const struct ctf_run *run)
{
    return run->before + (uintptr_t)run->base.next;
}

/* The same as a bit, where `before` was the place that the run was made at: that of a run that did
 * not move. */
static inline uint64_t ctf_run_bit(const struct ctf_run *run, uint64_t before)
{
    const uint64_t at = ctf_run_at(run);
    return at == (before + 7) >> 3 ? before : at << 3;
}

/* Gives plain events behind the some->n that are there.  Stops at whatever is no such event, at its
 * begin.  `there`: bytes from run->bytes on that may be looked at, not fewer than run->end. */
void ctf_run_plain(struct ctf_run *run, uint64_t there, struct reader_some *some);

/* Makes a run that goes on from where the reader is now. */
void ctf_run_begin(struct ctf_run *run, struct ctf_reader *reader, const struct ctf_views *views);

/* The reader is where its run came to; that does not go on. */
void ctf_run_settle(struct ctf_reader *reader);

/* For struct format: the reader's counts are those of its run. */
void ctf_settle(struct input *in);

#endif
