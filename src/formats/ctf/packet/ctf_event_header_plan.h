/* Event header plans: read the id and time of an event header without its general layout. They
 * cover the forms of headers that tracers write.
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

/* A number or a field to skip in an event header; padding to its alignment comes first. */
struct ctf_header_part {
    uint64_t bits; /* width of the number or field; at most 64 for numbers */
    uint8_t use;   /* enum ctf_header_part_use */
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
    /* ticks after which the time field wraps to 0; 0 for a field of 64 bits */
    uint64_t time_step;
    uint32_t id_at, time_at; /* byte offsets of the two loads, from the start of the header */
    uint8_t id_shift, time_shift;
    uint32_t bits; /* size of the header in bits */
    uint32_t room; /* bytes that must be readable from the start of the header on */
};

enum ctf_plan_kind {
    CTF_PLAN_LOADS = 0, /* read by `loads`; headers that these do not cover are read by parts */
    CTF_PLAN_PARTS,
    CTF_PLAN_LAYOUT
};

struct ctf_header_plan {
    uint8_t kind;       /* enum ctf_plan_kind */
    uint8_t align;      /* log2 of the header's alignment in bits */
    bool is_big_endian; /* byte order of `loads` */
    bool has_time;
    uint64_t only_id; /* id of all events if the header contains no id; otherwise 0 */
    /* smallest id that selects the extended header; UINT64_MAX if there is none */
    uint64_t escape;
    struct ctf_header_loads loads;
    /* loads of an extended header if has_wide; less than CTF_WIDER_MAX bytes longer than `loads`
     */
    struct ctf_header_loads wide;
    bool has_wide;
    /* `first` is read first; then `extended` if the id is at or above `escape`, else `otherwise` */
    struct ctf_header_parts first, otherwise, extended;
    const struct layout *layout;
};

/* Reports whether a member of the type is mapped to the stream's clock. Returns false for NULL. */
bool ctf_type_updates_clock(const struct type *type);

/* Reports whether the contexts or the payload of some event class in the stream update the clock.
 * Only CTF 1.8 allows this (section 8). */
bool ctf_body_updates_clock(const struct ctf_stream_class *stream);

/* Compiles the plan of a stream class. `layout` is that of the event header, NULL if there is none;
 * the plan borrows it. */
void ctf_header_plan_init(struct ctf_header_plan *plan, const struct ctf_stream_class *stream,
                          const struct layout *layout);

/* Result of reading a header. The caller sets `ticks` to the clock before the event. */
struct ctf_event_header {
    uint64_t id;
    uint64_t ticks; /* in: clock before the event; out: clock after the header */
    /* size of the header in bits; only set if the header was read by loads */
    uint32_t bits;
    enum layout_status end; /* LAYOUT_TRUNCATED: the header continues beyond bits->end */
};

/* Reads a header by parts or by layout. On input, bits->at is the end of the previous event; on
 * success it is the end of the header. `slots` has LAYOUT_SLOTS_MAX values of earlier fields that
 * the layout needs. */
void ctf_read_event_header(const struct ctf_header_plan *plan, struct bits *bits,
                           const uint64_t *slots, struct ctf_event_header *header);

/* Decodes a header or a body by its layout. Stores the last event id found in `header`, and updates
 * its clock from each field mapped to the clock. `slots` has the values of earlier fields that the
 * layout needs. */
void ctf_apply_mapped_times(const struct layout *layout, struct bits *bits, const uint64_t *slots,
                            struct ctf_event_header *header);

static inline uint64_t ctf_load_u64(const struct ctf_header_plan *plan, const uint8_t *p)
{
    return plan->is_big_endian ? load_u64be(p) : load_u64le(p);
}

/* Reads a header at p by two loads; loads.room bytes must be readable. Returns false, without a
 * result, for an extended header that the loads do not cover. */
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
