/* Recovery of events after damage within a packet.
 *
 * Events have no sizes and no marks. The end of the content is known, however, and usually the time
 * of the packet's end. So the next undamaged event is the first position from which plausible
 * events lead exactly to the end of the content:
 *
 * |  packet  | e e e e x x x x e e e e e | padding
 * |                    ^bad    ^ declared ids, times up to the packet's end, exact end
 *
 * Signs of damage, checked once per call of ctf_read_events, not per event:
 *   - an event cannot be decoded
 *   - the clock is far after the packet's end: a compact timestamp wrapped although it is damaged
 *   - a run of events of zero bytes: unwritten or erased bytes, if other events follow
 *
 * Damage is noticed late: up to RECENT_MAX events before the first bad one may be damaged. For each
 * of them the search is repeated with the clock before it; is_better_chain() chooses the result.
 *
 * If no such position exists, but the clock is too far, one step is subtracted from the later
 * times.
 *
 * Order of calls: ctf_read_packet_events() calls ctf_skip_damaged_events() after ctf_read_events().
 * Cost: one comparison per call and one load per SAMPLE events; after damage at most WORK_EACH
 * decoded events per byte in the window.
 *
 * Left out: RFC v1.1 (events have sizes), packets without known end, and the search in packets of
 * which neither header fields nor packet times can contradict an event. */
#include "formats/ctf/read/ctf_salvage.h"

#include "base/status.h"
#include "formats/ctf/read/ctf_read_step.h"
#include "formats/ctf/read/ctf_resync.h"

enum { CHAIN_MIN = 48 };
enum { RECENT_MAX = 8, SAMPLE = 8, WORK_EACH = 16, CHOICE_BYTES = 256, RECENT_BYTES = 4096 };
/* a run of zero events is damage if it has at least so many bytes and events */
enum { ZERO_RUN_BYTES = 48, ZERO_RUN_EVENTS = 4 };

/* A chain of plausible events up to the end of the content. */
struct chain {
    uint64_t begin, end, ticks, last_ticks; /* ticks: clock before the first event */
    uint32_t n;
    uint32_t kept; /* index of the first event of the batch that is left out */
};

struct salvage {
    struct ctf_reader *reader;
    const struct ctf_read_mark *mark;
    uint64_t limit; /* highest plausible ticks */
    uint64_t work;  /* remaining events that may be decoded */
};

static const struct ctf_packet *get_current_packet(const struct ctf_reader *reader)
{
    return &reader->packets[reader->slot];
}

/* Returns the highest plausible ticks of the packet. Events may be a little later than its end in
 * undamaged traces, but not by a quarter of the range of the timestamp field. */
static uint64_t get_search_limit(const struct ctf_reader *reader)
{
    const struct ctf_packet *packet = get_current_packet(reader);
    const struct ctf_header_plan *plan = &reader->stream->kind->plan;
    bool has_limit = plan->has_time && packet->has_begin && packet->has_end &&
                     packet->end >= packet->begin && plan->kind == CTF_PLAN_LOADS &&
                     plan->loads.time_step > 0;
    uint64_t slack = has_limit ? plan->loads.time_step / 4 : 0;
    return has_limit && packet->end < UINT64_MAX - slack ? packet->end + slack : UINT64_MAX;
}

/* Returns the position of an event of the batch, in bits from reader->bits.base. */
static uint64_t get_event_bit(const struct ctf_reader *reader, uint32_t i)
{
    const ttr_event *event = &reader->in->events[i];
    return (event->offset - reader->offset) * 8 + (event->body >> 29);
}

/* Returns the position of event `i`, or that of the event that could not be decoded. */
static uint64_t get_bad_event_bit(const struct ctf_reader *reader, uint32_t i)
{
    return i < reader->in->n ? get_event_bit(reader, i) : reader->bits.at;
}

static uint64_t subtract_wrap(const struct salvage *salvage, uint32_t i)
{
    return i > salvage->mark->n ? salvage->reader->in->events[i - 1].ticks : salvage->mark->ticks;
}

/* Decodes the chain from chain->begin on. Returns whether it extends to the end of the content, or
 * nearly to the end of a window that ends before, or has many events: other damage may follow. */
static bool parse_event_chain(struct salvage *salvage, struct chain *chain)
{
    enum { EDGE_BITS = 4096 * 8 };
    struct ctf_reader *reader = salvage->reader;
    const uint64_t end = reader->bits.end,
                   mask = (UINT64_C(1) << reader->stream->kind->plan.align) - 1;
    uint64_t at = chain->begin;
    chain->n = 0;
    chain->last_ticks = chain->ticks;
    while (((at + mask) & ~mask) < end && salvage->work > 0) {
        salvage->work--;
        const uint64_t before = chain->last_ticks,
                       next = ctf_probe_event(reader, at, &chain->last_ticks);
        /* only an event with a complete timestamp can go back: the clock before it is wrong */
        if (next == UINT64_MAX || chain->last_ticks > salvage->limit || chain->last_ticks < before)
            return chain->n >= CHAIN_MIN ||
                   (chain->n > 1 && end != reader->content_end && end - at < EDGE_BITS);
        chain->n++;
        chain->end = at = next;
    }
    return chain->n > 1 && salvage->work > 0;
}

/* Returns whether a chain is better than another one: it extends further, or ends earlier (each
 * false wrap of the clock adds a step), or has more events. */
static bool is_better_chain(const struct chain *chain, const struct chain *best)
{
    if (best->n == 0 || chain->end != best->end)
        return best->n == 0 || chain->end > best->end;
    if (chain->last_ticks != best->last_ticks)
        return chain->last_ticks < best->last_ticks;
    return chain->kept + chain->n > best->kept + best->n;
}

/* Searches for chains after the start of event `kept`, with the clock before it. */
static void find_event_chain(struct salvage *salvage, uint32_t kept, uint64_t stop,
                             struct chain *best)
{
    const struct ctf_reader *reader = salvage->reader;
    const unsigned align = reader->stream->kind->plan.align;
    const uint64_t step = align > 3 ? UINT64_C(1) << align : 8;
    uint64_t at = (get_bad_event_bit(reader, kept) & ~(step - 1)) + step;
    for (; at + 32 <= stop; at += step) {
        struct chain chain = {.begin = at, .ticks = subtract_wrap(salvage, kept), .kept = kept};
        if (load_u32le(reader->bits.base + at / 8) == 0 || !parse_event_chain(salvage, &chain))
            continue;
        const bool is_first = best->n == 0 || best->kept != kept;
        if (is_better_chain(&chain, best))
            *best = chain;
        if (is_first && stop - at > CHOICE_BYTES * 8)
            stop = at + CHOICE_BYTES * 8;
    }
}

/* --- Changes of the batch --- */

/* Removes the events of the batch from index `kept` on, and continues reading at the chain. */
static void continue_at_chain(struct salvage *salvage, const struct chain *chain)
{
    struct ctf_reader *reader = salvage->reader;
    struct input *in = reader->in;
    for (uint32_t i = chain->kept; i < in->n; i++)
        ctf_uncount_event(reader, get_event_bit(reader, i));
    reader->events_read -= in->n - chain->kept;
    reader->time =
        chain->kept > salvage->mark->n ? in->events[chain->kept - 1].time : salvage->mark->time;
    in->n = chain->kept;
    reader->bits.at = chain->begin;
    reader->ticks = chain->ticks;
}

/* Subtracts one step of the timestamp field from the ticks of event `bad` and all later ones. */
static ttr_status undo_wrap(struct salvage *salvage, uint32_t bad)
{
    struct ctf_reader *reader = salvage->reader;
    const struct ctf_stream_decoder *kind = reader->stream->kind;
    const uint64_t step = kind->plan.loads.time_step, at = get_bad_event_bit(reader, bad);
    bool is_clamped = false;
    for (uint32_t i = bad; i < reader->in->n; i++) {
        ttr_event *event = &reader->in->events[i];
        event->ticks -= step;
        event->time = ctf_ticks_to_ns(&kind->timeline, event->ticks, &is_clamped);
    }
    reader->ticks -= step;
    reader->time = ctf_ticks_to_ns(&kind->timeline, reader->ticks, &is_clamped);
    return input_add_damage(
        reader->in, ctf_file_offset_of_bit(reader, at), 0, "ctf.bad-time", reader->error,
        "%s: the times of events from here on are after the end of the packet at byte %llu: a "
        "timestamp before is damaged; they are corrected",
        reader->file, (unsigned long long)get_current_packet(reader)->offset);
}

static ttr_status report_skipped_bytes(struct salvage *salvage, uint64_t from, uint64_t to)
{
    struct ctf_reader *reader = salvage->reader;
    const uint64_t begin = ctf_file_offset_of_bit(reader, from),
                   end = ctf_file_offset_of_bit(reader, to + 7);
    return input_add_damage(reader->in, begin, end > begin ? end - begin : 0, "ctf.skipped-events",
                            reader->error,
                            "%s: bytes that contradict the metadata, or the times of the packet at "
                            "byte %llu: reading continues at the next plausible event",
                            reader->file, (unsigned long long)get_current_packet(reader)->offset);
}

/* --- Signs of damage --- */

static bool is_zero_event(const ttr_event *event)
{
    return ctf_is_all_zero(event->payload, event->payload_size);
}

/* Returns the index of the first event of a run of zero events after which other events follow, in
 * the batch or, if `is_followed`, after it; in->n if there is none. */
static uint32_t find_zero_run(const struct ctf_reader *reader, uint32_t first, bool is_followed)
{
    const struct input *in = reader->in;
    const uint32_t n = in->n;
    for (uint32_t i = first + SAMPLE - 1; i < n; i += SAMPLE) {
        if (in->events[i].payload_size == 0 || in->events[i].payload[0] != 0 ||
            !is_zero_event(&in->events[i]))
            continue;
        uint32_t begin = i, end = i + 1;
        uint64_t bytes = 0;
        while (begin > first && is_zero_event(&in->events[begin - 1]))
            begin--;
        while (end < n && is_zero_event(&in->events[end]))
            end++;
        for (uint32_t k = begin; k < end; k++)
            bytes += in->events[k].payload_size;
        if ((end < n || is_followed) && bytes >= ZERO_RUN_BYTES && end - begin >= ZERO_RUN_EVENTS)
            return begin;
        i = end;
    }
    return n;
}

/* Returns the index of the first event of this call that is too late; in->n if there is none. */
static uint32_t find_late_event(const struct ctf_reader *reader, uint32_t first, uint64_t limit)
{
    uint32_t i = first;
    while (i < reader->in->n && reader->in->events[i].ticks <= limit)
        i++;
    return i;
}

/* Returns true if reading stopped at an event that cannot be decoded, or that exceeds the content.
 */
static bool stops_at_bad_event(const struct ctf_reader *reader, enum ctf_stop_reason stop)
{
    if (stop == CTF_STOP_UNKNOWN || stop == CTF_STOP_CLASS || stop == CTF_STOP_BAD)
        return true;
    return stop == CTF_STOP_EDGE && reader->bits.end == reader->content_end &&
           reader->bits.at + 8 < reader->bits.end;
}

ttr_status ctf_skip_damaged_events(struct ctf_reader *reader, const struct ctf_read_mark *mark,
                                   enum ctf_stop_reason *stop)
{
    const uint64_t limit = get_search_limit(reader);
    const bool is_late = reader->ticks > limit && limit != UINT64_MAX;
    const bool is_bad = stops_at_bad_event(reader, *stop) && limit != UINT64_MAX;
    const struct input *in = reader->in;
    uint32_t bad = find_zero_run(reader, mark->n, is_bad || is_late);
    if ((!is_late && !is_bad && bad == in->n) || reader->content_end == UINT64_MAX ||
        ctf_ends_with_zeros(&reader->frame) || ctf_reader_is_rfc11(reader) ||
        *stop == CTF_STOP_FAILED || *stop == CTF_STOP_NAMES)
        return TTR_OK;
    struct salvage salvage = {reader, mark, limit, 0};
    struct chain best = {.n = 0};
    const uint32_t late = is_late ? find_late_event(reader, mark->n, limit) : in->n;
    bad = late < bad ? late : bad;
    const uint64_t from = get_bad_event_bit(reader, bad), end = reader->bits.end,
                   near = from + RECENT_BYTES * 8 < end ? from + RECENT_BYTES * 8 : end;
    salvage.work = WORK_EACH * (end > from ? end - from : 0) / 8 + RECENT_BYTES;
    for (uint32_t d = 0; d <= RECENT_MAX && d <= bad - mark->n; d++)
        find_event_chain(&salvage, bad - d, d == 0 ? end : near, &best);
    if (best.n == 0) {
        reader->is_damaged |= is_late;
        return is_late && !is_bad ? undo_wrap(&salvage, bad) : TTR_OK;
    }
    const uint64_t begin = get_bad_event_bit(reader, best.kept);
    continue_at_chain(&salvage, &best);
    reader->is_damaged = true;
    *stop = CTF_STOP_FULL;
    return report_skipped_bytes(&salvage, begin, best.begin);
}
