/* Recovery of events from a damaged block of events.
 *
 * Event headers of V4 to V6 are deltas to the event before, and only the sizes of payloads lead to
 * the next header. So one wrong byte makes all headers after it wrong. The end of the block is
 * known, however, and its header has the lowest and the highest time. That is enough to find the
 * next undamaged event:
 *
 *   block   | e e e e x x x x x x e e e e e e e |
 *           '-segment-'         '---segment-----'
 *                     ^         ^ smallest offset from which plausible events lead exactly to the
 *                     |           end of the block, or CHAIN_MIN plausible events follow each other
 *                     first implausible event, or up to RECENT_MAX events before it: damage is
 *                     noticed only some events later
 *
 * Order of calls: nettrace_scan_block() scans a block once. If its events do not fill the block,
 * nettrace_salvage_block() returns segments of plausible events, which are scanned in place of the
 * block. If the events fill the block, but their times contradict its header, one time delta is
 * damaged: nettrace_correct_damaged_time() returns two segments, of which the second has corrected
 * times.
 *
 * An event is plausible if its metadata are defined and its time is in the range of the block; in
 * V6 its thread must be declared, too. The state from which headers are decoded is that of the last
 * undamaged event. Time after the damage is fitted, so that the last event is at the highest time
 * of the block. This holds for blocks with exact times: all of .NET, and V6 if earlier blocks were
 * exact.
 *
 * Invariants: segments are in ascending order and do not overlap; each ends at the end of an event.
 * Cost: none for undamaged blocks; else at most WORK_EACH header decodes per byte of the block.
 *
 * Left out: V1 and V2, which have no blocks (nettrace_resync.c). Sequence numbers after damage are
 * unknown, so loss is not counted in a damaged block. */
#include "formats/nettrace/nettrace.h"

enum { RECENT_MAX = 16, CHAIN_MIN = 64, WORK_EACH = 8, METADATA_MIN = 20, LARGE = 1024 };
enum { CHECKED = 4, CHOICE_BYTES = 4096 };
#define CPUS_MAX 65536u

/* State after an event, from which the next event can be decoded. */
struct event_end {
    struct nettrace_header header;
    uint64_t least, most; /* lowest and highest ticks of all events so far */
};

struct salvage {
    const struct nettrace_reader *reader;
    const struct nettrace_block *block;
    struct event_end recent[RECENT_MAX]; /* ring buffer of the last plausible events */
    uint32_t recent_n;                   /* number of plausible events so far */
    /* header of the event after them, which is not plausible */
    struct nettrace_header broken;
    uint64_t work;         /* number of headers that may still be decoded */
    bool is_v6, has_times; /* has_times: the times in the block's header can be used */
    bool is_strict;        /* true if each payload must end with the last field of its type */
};

static bool decode_next_header(const struct salvage *salvage, struct nettrace_header *h,
                               const uint8_t *origin)
{
    const struct nettrace_header_range span = nettrace_make_header_range(
        origin, salvage->block->end, (enum nettrace_codec)salvage->block->codec);
    return h->next < span.end && nettrace_decode_header(h, &span, salvage->is_v6);
}

static bool has_delta_times(const struct salvage *salvage)
{
    return salvage->block->codec == CODEC_COMPRESSED;
}

/* Returns true if an event may be part of this block, apart from its time. */
static bool is_plausible_event(const struct salvage *salvage, const struct nettrace_header *h)
{
    const struct nettrace_reader *reader = salvage->reader;
    bool is_old = salvage->block->codec >= CODEC_OLD;
    /* the size of a damaged event was not checked yet */
    if (h->payload > salvage->block->end ||
        h->payload_size > (size_t)(salvage->block->end - h->payload))
        return false;
    if (salvage->block->is_metadata || (is_old && h->metadata == 0))
        return h->metadata == 0 && h->payload_size >= METADATA_MIN &&
               nettrace_metadata_is_usable(reader->version,
                                           cursor_init(h->payload, h->payload_size, 0));
    const struct nettrace_type *type =
        h->metadata ? nettrace_find_type(&reader->types, h->metadata) : NULL;
    if (!type || (h->cpu >= CPUS_MAX && h->cpu != UINT32_MAX))
        return false;
    if ((salvage->is_strict || h->payload_size >= LARGE) && !type->has_misfits &&
        !nettrace_fields_end_with_payload(type, h->payload, h->payload_size))
        return false;
    return !salvage->is_v6 || pair_map_get(&reader->threads.by_index, h->thread, 0) != NULL;
}

static bool is_time_in_block(const struct salvage *salvage, uint64_t ticks)
{
    return !salvage->has_times || (ticks >= salvage->block->least && ticks <= salvage->block->most);
}

/* Consecutive plausible events. */
struct chain {
    uint64_t first; /* ticks of the first event */
    /* lowest and highest ticks of all events, relative to `first` */
    int64_t lowest, highest;
    uint32_t n;
    uint32_t
        /* number of payloads, of the first CHECKED events, that do not end with the last field
         * of their type */
        misfits;
    bool is_complete; /* true if the last event ends at the end of the block */
};

/* Returns true if the time since the first event is possible in this block. */
static bool add_time_to_chain(const struct salvage *salvage, struct chain *chain, uint64_t ticks)
{
    uint64_t range = salvage->block->most - salvage->block->least;
    int64_t since = (int64_t)(ticks - chain->first);
    chain->lowest = since < chain->lowest ? since : chain->lowest;
    chain->highest = since > chain->highest ? since : chain->highest;
    if (!salvage->has_times)
        return true;
    return has_delta_times(salvage) ? (uint64_t)chain->highest - (uint64_t)chain->lowest <= range
                                    : is_time_in_block(salvage, ticks);
}

static bool is_payload_valid(const struct salvage *salvage, const struct nettrace_header *h)
{
    const struct nettrace_type *type =
        h->metadata ? nettrace_find_type(&salvage->reader->types, h->metadata) : NULL;
    return !type || nettrace_fields_end_with_payload(type, h->payload, h->payload_size);
}

/* Decodes a chain of events from `h->next` on, as far as the remaining work permits. */
static void parse_chain(struct salvage *salvage, struct nettrace_header h, struct chain *chain)
{
    const uint8_t *origin = h.next;
    *chain = (struct chain){.n = 0};
    while (h.next < salvage->block->end && salvage->work > 0) {
        salvage->work--;
        if (!decode_next_header(salvage, &h, origin) || !is_plausible_event(salvage, &h))
            return;
        if (chain->n == 0)
            chain->first = h.ticks;
        if (!add_time_to_chain(salvage, chain, h.ticks))
            return;
        chain->misfits += chain->n < CHECKED && !is_payload_valid(salvage, &h);
        chain->n++;
    }
    chain->is_complete = chain->n > 0 && h.next == salvage->block->end;
}

/* Returns true if only zeros are at `p`: an event without flags, at the time of the event before
 * it, with an empty payload. Damage often consists of zeros, so this is not accepted as an
 * event. */
static bool is_all_zeros(const struct salvage *salvage, const uint8_t *p)
{
    size_t left = (size_t)(salvage->block->end - p);
    return has_delta_times(salvage) && left >= 4 && load_u32le(p) == 0;
}

/* Decodes plausible events from `begin` on, and keeps the last ones in the ring buffer. Returns
 * true if they end at the end of the block. */
static bool decode_plausible_events(struct salvage *salvage, const struct nettrace_header *begin)
{
    struct event_end *ring = salvage->recent;
    const uint8_t *origin = begin->next;
    struct nettrace_header h = *begin;
    uint64_t least = UINT64_MAX, most = 0;
    ring[0] = (struct event_end){*begin, least, most};
    salvage->recent_n = 1;
    while (decode_next_header(salvage, &h, origin) && is_plausible_event(salvage, &h) &&
           is_time_in_block(salvage, h.ticks)) {
        least = h.ticks < least ? h.ticks : least;
        most = h.ticks > most ? h.ticks : most;
        ring[salvage->recent_n++ % RECENT_MAX] = (struct event_end){h, least, most};
    }
    salvage->broken = h;
    return ring[(salvage->recent_n - 1) % RECENT_MAX].header.next == salvage->block->end;
}

/* Sets the ticks before a chain such that its deltas lead to the highest or lowest time in the
 * block's header, unless earlier events have that time. */
static void set_ticks_before_chain(const struct salvage *salvage, const struct event_end *before,
                                   const struct chain *chain, struct nettrace_header *begin)
{
    const struct nettrace_block *block = salvage->block;
    uint64_t delta = chain->first - begin->ticks, least = block->least - (uint64_t)chain->lowest,
             most = block->most - (uint64_t)chain->highest;
    if (!salvage->has_times || !has_delta_times(salvage) || !chain->is_complete)
        return;
    if (before->most < block->most && most + (uint64_t)chain->lowest >= block->least)
        begin->ticks = most - delta;
    else if (before->least > block->least && least + (uint64_t)chain->highest <= block->most)
        begin->ticks = least - delta;
}

/* Returns the state from which the event at `p` can be decoded: that after the damaged event if
 * its header is undamaged, as usual, since most damage is in payloads; else that after the event
 * before it. */
static struct nettrace_header decode_header_after(const struct salvage *salvage, uint32_t i,
                                                  uint32_t last, const uint8_t *p)
{
    const struct event_end *ring = salvage->recent;
    struct nettrace_header h = ring[i % RECENT_MAX].header;
    const struct nettrace_header *damaged =
        i < last ? &ring[(i + 1) % RECENT_MAX].header : &salvage->broken;
    bool is_usable = damaged->start == h.next && damaged->payload && damaged->payload <= p &&
                     is_plausible_event(salvage, damaged) &&
                     is_time_in_block(salvage, damaged->ticks);
    if (is_usable)
        h = *damaged;
    h.next = p;
    return h;
}

/* Returns how many events of the ring buffer before `p` are undamaged. Does not count the last
 * ones if their payloads do not match their type: they are probably damaged, too. */
static uint32_t count_undamaged_events(const struct salvage *salvage, uint32_t first,
                                       const uint8_t *p)
{
    const struct event_end *ring = salvage->recent;
    uint32_t i = first, last = salvage->recent_n - 1;
    while (i < last && ring[(i + 1) % RECENT_MAX].header.next <= p)
        i++;
    while (i > first && !is_payload_valid(salvage, &ring[i % RECENT_MAX].header))
        i--;
    return i;
}

/* A possible continuation after damage. */
struct choice {
    struct chain chain;
    struct nettrace_header header; /* state before the first event of the chain */
    bool is_set;
};

/* Returns true if a chain has more events than the ones in the ring buffer that it would replace;
 * `last - i` of these end after its start. */
static bool has_more_events(const struct chain *chain, uint32_t i, uint32_t last)
{
    return chain->n > last - i && (chain->is_complete || chain->n >= CHAIN_MIN);
}

static bool is_better_choice(const struct chain *chain, const struct choice *best)
{
    if (!best->is_set || chain->is_complete != best->chain.is_complete)
        return !best->is_set || chain->is_complete;
    return chain->misfits < best->chain.misfits;
}

/* Finds the next chain of plausible events after those in the ring buffer. Sets `end` to the end
 * of the last event before it, and `begin` to the state before its first event. Returns false if
 * there is none.
 *
 * A chain that starts inside the damage may lead to the undamaged events, too. So chains that
 * start at the next bytes are compared, and the one with the fewest payloads that do not match
 * their type is chosen. */
static bool find_plausible_chain(struct salvage *salvage, struct event_end *end,
                                 struct nettrace_header *begin)
{
    uint32_t last = salvage->recent_n - 1, first = last < RECENT_MAX ? 0 : last - RECENT_MAX + 1;
    const struct event_end *ring = salvage->recent;
    struct choice best = {.is_set = false};
    struct chain chain;
    uint32_t i = first;
    const uint8_t *stop = salvage->block->end;
    for (const uint8_t *p = ring[first % RECENT_MAX].header.next + 1; p < stop; p++) {
        while (i < last && ring[(i + 1) % RECENT_MAX].header.next <= p)
            i++;
        struct nettrace_header h = decode_header_after(salvage, i, last, p);
        if (is_all_zeros(salvage, p))
            continue;
        parse_chain(salvage, h, &chain);
        if (has_more_events(&chain, i, last) && is_better_choice(&chain, &best))
            best = (struct choice){chain, h, true};
        if (chain.is_complete && (size_t)(stop - p) > CHOICE_BYTES)
            stop = p + CHOICE_BYTES;
        if (best.is_set && best.chain.is_complete && best.chain.misfits == 0)
            break;
    }
    i = best.is_set ? count_undamaged_events(salvage, first, best.header.next) : last;
    *end = ring[i % RECENT_MAX];
    *begin = best.header;
    if (best.is_set)
        set_ticks_before_chain(salvage, end, &best.chain, begin);
    return best.is_set;
}

static struct salvage init_salvage(const struct nettrace_reader *reader,
                                   const struct nettrace_block *block)
{
    struct salvage salvage = {.reader = reader,
                              .block = block,
                              .work = WORK_EACH * (uint64_t)(block->end - block->begin),
                              .is_v6 = reader->version >= NETTRACE_V6};
    struct nettrace_header first = {.next = block->begin};
    bool are_exact = reader->blocks_inexact == 0 && (!salvage.is_v6 || reader->blocks_exact > 0);
    /* if even the first event is outside of the range in the block's header, that header may be
     * damaged */
    salvage.has_times = block->has_times && are_exact &&
                        decode_next_header(&salvage, &first, block->begin) &&
                        first.ticks >= block->least && first.ticks <= block->most;
    return salvage;
}

/* Appends a segment, unless it is empty or there are too many. */
static void add_segment(struct nettrace_segments *segments, const struct salvage *salvage,
                        const struct nettrace_header *begin, const uint8_t *end)
{
    const uint8_t *p = begin->next, *origin = salvage->block->begin;
    if (p >= end || segments->n == NETTRACE_SEGMENTS_MAX)
        return;
    segments->all[segments->n++] = (struct nettrace_segment){
        .before = *begin,
        .begin = (uint32_t)(p - origin),
        .end = (uint32_t)(end - origin),
        .activity_at = begin->activity ? (uint32_t)(begin->activity - origin) : 0,
        .related_at = begin->related ? (uint32_t)(begin->related - origin) : 0};
}

bool nettrace_salvage_block(struct nettrace_reader *reader, const struct nettrace_block *block,
                            bool is_strict, struct nettrace_segments *segments)
{
    struct salvage salvage = init_salvage(reader, block);
    salvage.is_strict = is_strict;
    struct nettrace_header begin = {.next = block->begin}, next;
    struct event_end end;
    segments->n = 0;
    while (segments->n < NETTRACE_SEGMENTS_MAX - 1) {
        bool is_complete = decode_plausible_events(&salvage, &begin);
        if (is_complete) {
            add_segment(segments, &salvage, &begin, block->end);
            return segments->n > 0;
        }
        bool has_next = find_plausible_chain(&salvage, &end, &next);
        add_segment(segments, &salvage, &begin, end.header.next);
        if (!has_next)
            break;
        begin = next;
    }
    return segments->n > 0;
}

/* --- Repair of one damaged time --- */

/* Returns how many bytes `x` needs as a varint. */
static unsigned count_varint_bytes(uint64_t x)
{
    unsigned n = 1;
    for (; x >= 0x80; x >>= 7)
        n++;
    return n;
}

/* Returns the index of the only bit that is set in `x`; 64 if none or several are. */
static unsigned find_single_bit(uint64_t x)
{
    return x && (x & (x - 1)) == 0 ? (unsigned)__builtin_ctzll(x) : 64;
}

/* Finds the event with the damaged time delta: one inverted bit in it explains that all later
 * times differ by `difference`. If there are several, the one with the largest delta, since most
 * deltas are small. Sets `begin` to the state before the event. */
static bool find_damaged_delta(const struct salvage *salvage, int64_t difference,
                               struct nettrace_header *begin)
{
    const struct nettrace_block *block = salvage->block;
    bool is_set = difference > 0, is_found = false;
    uint64_t size = is_set ? (uint64_t)difference : 0 - (uint64_t)difference, largest = 0;
    unsigned bit = find_single_bit(size);
    struct nettrace_header h = {.next = block->begin}, before = h;
    while (bit < 64 && decode_next_header(salvage, &h, block->begin)) {
        uint64_t delta = h.ticks - before.ticks;
        bool is_small = (int64_t)delta >= 0;
        bool may_be = is_small && (delta >> bit & 1) == is_set &&
                      (is_set || bit < 7 * count_varint_bytes(delta));
        if (may_be && delta >= largest) {
            largest = delta;
            *begin = before;
            is_found = true;
        }
        /* the damaged event is not after the first one that is out of range */
        if (h.ticks > block->most && is_set)
            break;
        before = h;
    }
    return is_found;
}

bool nettrace_correct_damaged_time(const struct nettrace_reader *reader,
                                   const struct nettrace_block *block, uint64_t least,
                                   uint64_t most, struct nettrace_segments *segments)
{
    struct salvage salvage = {
        .reader = reader, .block = block, .is_v6 = reader->version >= NETTRACE_V6};
    struct nettrace_header begin = {.next = block->begin}, first = begin;
    int64_t difference = (int64_t)(most - block->most);
    bool moves_all = least - block->least == most - block->most;
    segments->n = 0;
    if (!has_delta_times(&salvage) || difference == 0 ||
        (!moves_all && !find_damaged_delta(&salvage, difference, &begin)))
        return false;
    if (begin.next > block->begin)
        add_segment(segments, &salvage, &first, begin.next);
    begin.ticks -= (uint64_t)difference;
    add_segment(segments, &salvage, &begin, block->end);
    return true;
}
