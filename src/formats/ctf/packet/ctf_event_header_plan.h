/* How the header of an event is read: plans for the shapes that tracers write, the layout for all
 * others.
 *
 * A plan is a list of numbers in a row, after which the record's body begins; where the id has a
 * value that says so ("extended"), a second list follows whose id and time replace those of the
 * first.  That covers LTTng's compact (id:5, time:27) and large (id:16, time:32) headers, both
 * headers of the RFC, and headers of plain members (barectf, perf, babeltrace).  Where the places
 * do not depend on the header's own place, the first list is two loads, and so is the first with
 * the second. Ownership: plain data; types are borrowed.  Thread rule: read-only once made. */
#ifndef TRACETTA_FORMATS_CTF_PACKET_CTF_EVENT_HEADER_PLAN_H
#define TRACETTA_FORMATS_CTF_PACKET_CTF_EVENT_HEADER_PLAN_H

#include "formats/ctf/description/ctf_clock.h"
#include "layout/layout.h"

#define CTF_PARTS 12u
#define CTF_WIDER_MOST 64u

enum ctf_part_use { CTF_PART_PASS = 0, CTF_PART_ID, CTF_PART_TIME };

/* A number, or bits to pass over, at the next place of its alignment. */
struct ctf_part {
    uint64_t bits; /* at most 64 for numbers */
    uint8_t use;   /* enum ctf_part_use */
    uint8_t align; /* log2 of bits */
    bool is_big_endian;
};

struct ctf_parts {
    struct ctf_part part[CTF_PARTS];
    uint32_t n;
};

/* A header as two loads of eight bytes. */
struct ctf_loads {
    uint64_t id_mask, time_mask;
    uint64_t time_step;      /* what a wrap adds */
    uint32_t id_at, time_at; /* bytes from the header's start */
    uint8_t id_shift, time_shift;
    uint32_t bits; /* of the header */
    uint32_t room; /* bytes that must be there from its start on */
};

enum ctf_plan_kind {
    CTF_PLAN_LOADS = 0, /* `loads`, and `parts` where these do not do */
    CTF_PLAN_PARTS,
    CTF_PLAN_LAYOUT
};

struct ctf_plan {
    uint8_t kind;       /* enum ctf_plan_kind */
    uint8_t align;      /* log2: of the header */
    bool is_big_endian; /* loads */
    bool has_time;
    uint64_t only_id; /* where the header has no id */
    uint64_t escape;  /* ids from here on mean that `extended` follows; UINT64_MAX = none */
    struct ctf_loads loads;
    struct ctf_loads wide; /* with has_wide: the same of extended headers, which are less than
                              CTF_WIDER_MOST bytes longer */
    bool has_wide;
    struct ctf_parts first, otherwise,
        extended; /* otherwise: follows `first` where the id is below `escape` */
    const struct layout *layout;
};

/* Whether a number in a type is mapped to the stream's clock; NULL is none. */
bool ctf_moves_clock(const struct type *type);

/* Whether anything behind the header of any event of the stream moves its clock, as only CTF 1.8
 * can say (8). */
bool ctf_moves_clock_behind(const struct ctf_stream_class *stream);

/* Makes the plan of a stream class; `layout`: that of its header, borrowed, NULL where there is
 * none. */
void ctf_plan_init(struct ctf_plan *plan, const struct ctf_stream_class *stream,
                   const struct layout *layout);

/* What a header said.  In: the clock before it. */
struct ctf_header {
    uint64_t id;
    uint64_t ticks;      /* the clock behind it */
    uint32_t bits;       /* of one read by loads */
    enum layout_end end; /* LAYOUT_SHORT: the header goes on behind bits->end */
};

/* Reads a header anywhere, by parts or by layout.  `bits` stands where the record before ended;
 * behind the header where fine. `slots`: LAYOUT_SLOTS values that the layout needs from outside. */
void ctf_read_header(const struct ctf_plan *plan, struct bits *bits, const uint64_t *slots,
                     struct ctf_header *header);

/* Walks any header, or what stands behind one: what has a role counts, the last id and all times.
 * `slots`: the layout's imports. */
void ctf_walk_times(const struct layout *layout, struct bits *bits, const uint64_t *slots,
                    struct ctf_header *header);

static inline uint64_t ctf_load(const struct ctf_plan *plan, const uint8_t *p)
{
    return plan->is_big_endian ? load_u64be(p) : load_u64le(p);
}

/* Reads a header of a plan with loads at p, where loads.room bytes are; false where it has an
 * extension that loads do not read: then nothing is read. */
static inline bool ctf_load_header(const struct ctf_plan *plan, const uint8_t *p,
                                   struct ctf_header *header)
{
    const struct ctf_loads *loads = &plan->loads;
    uint64_t id =
        ((ctf_load(plan, p + loads->id_at) >> loads->id_shift) & loads->id_mask) | plan->only_id;
    if (__builtin_expect(id >= plan->escape, 0)) {
        if (!plan->has_wide)
            return false;
        loads = &plan->wide;
        id = (ctf_load(plan, p + loads->id_at) >> loads->id_shift) & loads->id_mask;
    }
    const uint64_t ticks =
        (header->ticks & ~loads->time_mask) |
        ((ctf_load(plan, p + loads->time_at) >> loads->time_shift) & loads->time_mask);
    header->ticks = ticks < header->ticks ? ticks + loads->time_step : ticks;
    header->id = id;
    header->bits = loads->bits;
    return true;
}

#endif
