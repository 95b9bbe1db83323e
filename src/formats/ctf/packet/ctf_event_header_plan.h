/* Event header plans: a plan reads the id and time of an event header without interpreting its
 * layout. Plans cover the forms of headers that tracers write.
 *
 * A plan is a list of numbers in order; the event's body follows. If the id is at or above
 * `escape`, a second list follows, and its id and time replace the first ones ("extended" header):
 *
 * |  id (5 bits) | time (27 bits) | body                               LTTng compact, id < 31
 * |  id = 31     | padding | id (32 bits) | time (64 bits) | body      LTTng compact, extended
 * |  id (16)     | time (32 bits) | body                               LTTng large, id < 65535
 *
 * Plans cover both LTTng headers, both headers of the RFC, and structs of plain numbers (barectf,
 * perf, Babeltrace). If all offsets are fixed, id and time are read by two loads of eight bytes.
 * All other headers are read by their layout (CTF_PLAN_LAYOUT).
 *
 * Order of calls: ctf_header_plan_init once per stream class; then per event ctf_load_event_header
 * if the plan has loads and `room` bytes are available, else ctf_read_event_header.
 *
 * Ownership: plain data; types are borrowed. Thread rule: read-only after ctf_header_plan_init. */
#ifndef TRACETTA_FORMATS_CTF_PACKET_CTF_EVENT_HEADER_PLAN_H
#define TRACETTA_FORMATS_CTF_PACKET_CTF_EVENT_HEADER_PLAN_H

#include "formats/ctf/description/ctf_clock.h"
#include "layout/layout.h"

#define CTF_PARTS_MAX 12u
#define CTF_WIDER_MAX 64u

enum ctf_header_part_use { CTF_PART_SKIP = 0, CTF_PART_ID, CTF_PART_TIME };

/* A number of an event header to read, or bits to skip. Padding up to its alignment precedes it. */
struct ctf_header_part {
    uint64_t bits; /* width of the number or field; at most 64 for numbers */
    uint8_t use;   /* how the number is used (enum ctf_header_part_use) */
    uint8_t align; /* log2 of the alignment in bits */
    bool is_big_endian;
};

struct ctf_header_parts {
    struct ctf_header_part part[CTF_PARTS_MAX];
    uint32_t n;
};

/* Byte offsets, shifts and masks that read a header by two loads of eight bytes. */
struct ctf_header_loads {
    uint64_t id_mask, time_mask;
    /* ticks to add to the clock when the time field wraps: 2^width of the field, or 0 for 64 bits
     */
    uint64_t time_step;
    uint32_t id_at, time_at; /* byte offsets of the two loads, from the start of the header */
    uint8_t id_shift, time_shift;
    uint32_t bits; /* size of the header in bits */
    /* number of bytes from the start of the header that must be readable for the two loads */
    uint32_t room;
};

enum ctf_plan_kind {
    /* the header is read by two loads; an extended header without `wide` is read number by number
     */
    CTF_PLAN_LOADS = 0,
    CTF_PLAN_PARTS,
    CTF_PLAN_LAYOUT
};

struct ctf_header_plan {
    uint8_t kind;       /* how the header is read (enum ctf_plan_kind) */
    uint8_t align;      /* log2 of the header's alignment in bits */
    bool is_big_endian; /* byte order of `loads` */
    bool has_time;
    uint64_t only_id; /* id of all events if the header does not contain an id; otherwise 0 */
    /* smallest id that means that an extended header follows; UINT64_MAX if there are no extended
     * headers */
    uint64_t escape;
    struct ctf_header_loads loads;
    /* loads of an extended header, valid if has_wide; the header is at most CTF_WIDER_MAX - 1 bytes
     * longer than a short one */
    struct ctf_header_loads wide;
    bool has_wide;
    /* lists of numbers: `first`, then `extended` if the id is at least `escape`, else `otherwise`
     */
    struct ctf_header_parts first, otherwise, extended;
    const struct layout *layout;
};

/* Returns true if the type or a member of it is mapped to the stream's clock. Returns false for
 * NULL. */
bool ctf_type_updates_clock(const struct type *type);

/* Returns true if a context or payload field of any event class of the stream is mapped to the
 * clock. Only CTF 1.8 allows this (section 8). */
bool ctf_body_updates_clock(const struct ctf_stream_class *stream);

/* Compiles the plan of a stream class. `layout`: layout of the event header, borrowed; NULL =
 * events have no header. */
void ctf_header_plan_init(struct ctf_header_plan *plan, const struct ctf_stream_class *stream,
                          const struct layout *layout);

/* Result of reading an event header. The caller first sets `ticks` to the clock after the previous
 * event. */
struct ctf_event_header {
    uint64_t id;
    /* ticks of the clock; in: before the event; out: after the header */
    uint64_t ticks;
    /* size of the header in bits; set by ctf_load_event_header only */
    uint32_t bits;
    enum layout_status end; /* LAYOUT_TRUNCATED: the header continues beyond bits->end */
};

/* Reads an event header number by number or by its layout. On input, bits->at is the end of the
 * previous event; on success, the end of the header. `slots`: LAYOUT_SLOTS_MAX values of earlier
 * fields that the layout needs. Sets header->end to the result. */
void ctf_read_event_header(const struct ctf_header_plan *plan, struct bits *bits,
                           const uint64_t *slots, struct ctf_event_header *header);

/* Decodes an event header or body by its layout. Stores the event id in `header`, and updates
 * header->ticks for each field that is mapped to the clock. `slots`: values of earlier fields that
 * the layout needs. */
void ctf_update_clock_from_fields(const struct layout *layout, struct bits *bits,
                                  const uint64_t *slots, struct ctf_event_header *header);

static inline uint64_t ctf_load_u64(const struct ctf_header_plan *plan, const uint8_t *p)
{
    return plan->is_big_endian ? load_u64be(p) : load_u64le(p);
}

/* Reads the header at p by two loads; loads.room bytes must be readable. Returns false and no
 * result for an extended header if the plan has no loads for it. */
static inline bool ctf_load_event_header(const struct ctf_header_plan *plan, const uint8_t *p,
                                         struct ctf_event_header *header)
{
    const struct ctf_header_loads *loads = &plan->loads;
    uint64_t id = ((ctf_load_u64(plan, p + loads->id_at) >> loads->id_shift) & loads->id_mask) |
                  plan->only_id;
    if (__builtin_expect(id >= plan->escape, 0)) {
        if (!plan->has_wide)
            return false;
        loads = &plan->wide;
        id = (ctf_load_u64(plan, p + loads->id_at) >> loads->id_shift) & loads->id_mask;
    }
    const uint64_t ticks =
        (header->ticks & ~loads->time_mask) |
        ((ctf_load_u64(plan, p + loads->time_at) >> loads->time_shift) & loads->time_mask);
    header->ticks = ticks < header->ticks ? ticks + loads->time_step : ticks;
    header->id = id;
    header->bits = loads->bits;
    return true;
}

#endif
