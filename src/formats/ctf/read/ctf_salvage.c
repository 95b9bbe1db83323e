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
 *   - a run of events of zero bytes, if other events follow and the clock is not zero: erased bytes
 *
 * Damage is noticed late: up to RECENT_MAX events before the first bad one may be damaged, and some
 * of them may be in batches that were returned (struct ctf_clock_history). For each of them the
 * search is repeated with the clock before it; is_better_chain() chooses the result.
 *
 * If no such position exists, but the clock is too far, one step is subtracted from the later
 * times. ctf_false_wrap.c finds single timestamps with a damaged bit within the packet's times.
 *
 * Order of calls: ctf_read_packet_events() calls ctf_skip_damaged_events() after ctf_read_events();
 * ctf_next() calls ctf_store_clocks() after each batch. Each restart is later than the one before
 * (clocks.kept), so reading ends.
 * Cost: one comparison per call and one load per SAMPLE events; after damage at most WORK_EACH
 * decoded events per byte in the window.
 *
 * Left out: RFC v1.1 (events have sizes), packets without known end, and the search in packets of
 * which neither header fields nor packet times can contradict an event. Times after a damaged
 * complete timestamp are unknown up to the next complete one. */
#include "formats/ctf/read/ctf_salvage.h"

#include "base/status.h"
#include "formats/ctf/read/ctf_read_step.h"
#include "formats/ctf/read/ctf_resync.h"

enum { CHAIN_MIN = 48 };
enum { RECENT_MAX = 8, SAMPLE = 8, WORK_EACH = 16, RECENT_BYTES = 4096 };

#define CHOICE_BITS (UINT64_C(8) * 256)
#define RECENT_BITS (UINT64_C(8) * RECENT_BYTES)
/* zero events count as damage if at least so many bytes and events follow each other */
enum { ZERO_RUN_BYTES = 48, ZERO_RUN_EVENTS = 4 };
/* maximum number of bytes after the batch that are searched for the end of zeros */
enum { ZERO_BYTES_MAX = 4096 };
/* an older clock is preferred only in a burst of events: the events before the damage, and the
 * first event after it, are within step >> NEAR_SHIFT */
enum { NEAR_SHIFT = 2 };

/* A chain of plausible events up to the end of the content. */
struct chain {
    /* ticks: clock before the first event; last_ticks: clock after the last event */
    uint64_t begin, end, ticks, last_ticks;
    uint64_t gap; /* ticks from that clock to the first event of the chain */
    uint32_t n;
    /* number of events that remain in the batch, because they precede the chain */
    uint32_t kept;
};

struct salvage {
    struct ctf_reader *reader;
    uint32_t first; /* index of the packet's first event in the batch */
    bool is_late;
    uint64_t limit; /* highest ticks that an event of the packet may have */
    uint64_t work;  /* number of events that may still be decoded in the search */
};

static const struct ctf_packet *get_current_packet(const struct ctf_reader *reader)
{
    return &reader->packets[reader->slot];
}

/* Returns the highest ticks that an event of the packet may have. In undamaged traces, events may
 * be a little later than the packet's end, but never by a quarter of the range of the timestamp
 * field. */
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

/* Returns the bit position of event `i`; if `i` is the number of events, of the event that could
 * not be decoded. */
static uint64_t get_bad_event_bit(const struct ctf_reader *reader, uint32_t i)
{
    return i < reader->in->n ? ctf_bit_of_event(reader, i) : reader->bits.at;
}

void ctf_store_clocks(struct ctf_reader *reader)
{
    struct ctf_clock_history *clocks = &reader->clocks;
    const struct ctf_clock_history old = *clocks;
    const uint32_t n = reader->in->n, first = ctf_first_event_of_packet(reader);
    clocks->kept = 0;
    if (n == first)
        return;
    clocks->n = n - first < CTF_CLOCKS_MAX - old.n ? n - first + old.n : CTF_CLOCKS_MAX;
    clocks->ticks[0] = reader->ticks;
    for (uint32_t k = 1; k < clocks->n; k++)
        clocks->ticks[k] =
            n - first > k ? reader->in->events[n - 1 - k].ticks : old.ticks[k - (n - first)];
}

/* Returns true if the event header at the bit has only zero bytes. In undamaged traces, a zero
 * timestamp is very rare. */
static bool is_zero_header(const struct ctf_reader *reader, uint64_t at)
{
    const uint64_t bytes = reader->stream->kind->plan.loads.bits / 8, from = (at + 7) / 8,
                   n = bytes < 4 ? 4 : bytes;
    return from + n <= reader->bits.end / 8 && ctf_is_all_zero(reader->bits.base + from, (size_t)n);
}

/* Decodes the chain of events that starts at chain->begin. Returns true if it ends at the end of
 * the content, or if other damage may follow: it ends near the end of the window, or has many
 * events. */
static bool parse_event_chain(struct salvage *salvage, struct chain *chain)
{
    enum { EDGE_BITS = 4096 * 8 };
    struct ctf_reader *reader = salvage->reader;
    const uint64_t end = reader->bits.end,
                   mask = (UINT64_C(1) << reader->stream->kind->plan.align) - 1;
    uint64_t at = chain->begin;
    chain->n = 0;
    chain->gap = 0;
    chain->last_ticks = chain->ticks;
    while (((at + mask) & ~mask) < end && salvage->work > 0) {
        salvage->work--;
        const uint64_t before = chain->last_ticks,
                       next = ctf_decode_event_without_emitting(reader, at, &chain->last_ticks);
        /* only a complete timestamp can be earlier than the event before: then the clock at the
         * start is wrong */
        if (next == UINT64_MAX || chain->last_ticks > salvage->limit ||
            chain->last_ticks < before || is_zero_header(reader, at))
            return chain->n >= CHAIN_MIN ||
                   (chain->n > 1 && end != reader->content_end && end - at < EDGE_BITS);
        chain->gap = chain->n++ ? chain->gap : chain->last_ticks - before;
        chain->end = at = next;
    }
    return chain->n > 1 && salvage->work > 0;
}

/* Returns true if the events before the chain are near each other, compared with the range of the
 * timestamp field. */
static bool is_near_earlier_events(const struct salvage *salvage, const struct chain *chain)
{
    const struct ctf_reader *reader = salvage->reader;
    const uint32_t first = salvage->first,
                   i = chain->kept > first + RECENT_MAX ? chain->kept - RECENT_MAX : first;
    const uint64_t begin = ctf_clock_before_event(reader, first, i),
                   step = reader->stream->kind->plan.loads.time_step;
    return chain->ticks < begin || chain->ticks - begin < step >> NEAR_SHIFT;
}

/* Returns true if a chain is better than another one: it extends further, or ends earlier (each
 * false wrap of the clock adds a step), or has more events. In a trace with rare events, an older
 * clock makes the end earlier even without a false wrap; then its first event is not near. */
static bool is_better_chain(const struct salvage *salvage, const struct chain *chain,
                            const struct chain *best)
{
    const uint64_t near = salvage->reader->stream->kind->plan.loads.time_step >> NEAR_SHIFT;
    if (best->n == 0 || chain->end != best->end)
        return best->n == 0 || chain->end > best->end;
    /* the chains are equal, or differ only in the time of the first event, if a complete timestamp
     * follows */
    const uint64_t a = chain->ticks + chain->gap, b = best->ticks + best->gap;
    if (chain->last_ticks != best->last_ticks || (chain->begin == best->begin && a != b)) {
        const bool is_earlier =
            chain->last_ticks != best->last_ticks ? chain->last_ticks < best->last_ticks : a < b;
        const struct chain *early = is_earlier ? chain : best, *late = is_earlier ? best : chain;
        const bool is_trusted =
            salvage->is_late || (early->gap < near && early->gap < late->gap / 4 &&
                                 is_near_earlier_events(salvage, early));
        return is_earlier == is_trusted;
    }
    return chain->kept + chain->n > best->kept + best->n;
}

/* Searches for chains of events from a position and clock (`from`) on, up to bit `stop`. Replaces
 * *best by each better chain. */
static void find_event_chain(struct salvage *salvage, const struct ctf_restart *from, uint64_t stop,
                             struct chain *best)
{
    const struct ctf_reader *reader = salvage->reader;
    const unsigned align = reader->stream->kind->plan.align;
    const uint64_t step = align > 3 ? UINT64_C(1) << align : 8;
    bool is_first = true;
    for (uint64_t at = (from->bit + step - 1) & ~(step - 1); at + 32 <= stop; at += step) {
        struct chain chain = {.begin = at, .ticks = from->ticks, .kept = from->kept};
        if (is_zero_header(reader, at) || !parse_event_chain(salvage, &chain))
            continue;
        if (is_better_chain(salvage, &chain, best))
            *best = chain;
        if (is_first && stop - at > CHOICE_BITS)
            stop = at + CHOICE_BITS;
        is_first = false;
    }
}

/* Searches for chains after the bad event, and after each of the events before it, since they may
 * be damaged, too. Of events in earlier batches, only the clock is known. */
static void find_best_chain(struct salvage *salvage, uint32_t bad, struct chain *best)
{
    const struct ctf_reader *reader = salvage->reader;
    const uint64_t from = get_bad_event_bit(reader, bad), end = reader->bits.end,
                   near = from + RECENT_BITS < end ? from + RECENT_BITS : end;
    const uint32_t oldest =
        reader->clocks.kept > salvage->first ? reader->clocks.kept : salvage->first;
    salvage->work = WORK_EACH * (end > from ? end - from : 0) / 8 + RECENT_BYTES;
    uint32_t i = bad;
    for (uint32_t d = 0; d <= RECENT_MAX; d++) {
        const uint64_t ticks = ctf_clock_before_event(reader, salvage->first, i);
        const struct ctf_restart after = {i, get_bad_event_bit(reader, i) + 1, ticks};
        find_event_chain(salvage, &after, d == 0 ? end : near, best);
        if (i-- == oldest)
            break;
    }
    if (bad - oldest > RECENT_MAX || oldest > salvage->first)
        return;
    for (uint32_t j = 1; j < reader->clocks.n; j++) {
        const struct ctf_restart again = {salvage->first, get_bad_event_bit(reader, salvage->first),
                                          reader->clocks.ticks[j]};
        find_event_chain(salvage, &again, near, best);
    }
}

/* --- Changes of the batch --- */

/* Subtracts one step of the timestamp field from the ticks of event `bad` and all later ones. */
static ttr_status correct_time_wrap(struct salvage *salvage, uint32_t bad)
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
    return event->payload_size && event->payload[0] == 0 &&
           ctf_is_all_zero(event->payload, event->payload_size);
}

/* Returns the number of zero bytes after the last event. Returns UINT64_MAX if the content ends
 * with them, or there are very many. */
static uint64_t count_zeros_before_content(const struct ctf_reader *reader)
{
    const uint64_t from = reader->bits.at / 8, end = reader->bits.end / 8,
                   stop = end - from < ZERO_BYTES_MAX ? end : from + ZERO_BYTES_MAX;
    for (uint64_t i = from; i < stop; i++)
        if (reader->bits.base[i])
            return i - from;
    return UINT64_MAX;
}

/* Finds the run of zero events that contains event `i`. Returns the index of its first event if
 * the run is damage: it is long, other events follow it, and zero timestamps contradict the clock
 * before it. Otherwise returns the number of events in the batch. Sets *end to the index of the
 * first event after the run. */
static uint32_t measure_zero_run(const struct ctf_reader *reader, uint32_t first, uint32_t i,
                                 uint32_t *end)
{
    const struct input *in = reader->in;
    uint32_t begin = i;
    uint64_t bytes = 0;
    while (begin > first && begin > reader->clocks.kept && is_zero_event(&in->events[begin - 1]))
        begin--;
    for (*end = i; *end < in->n && is_zero_event(&in->events[*end]); ++*end)
        ;
    /* the header of the event before may have a zero timestamp, too */
    const uint32_t earlier = begin > first ? begin - 1 : begin;
    if (reader->stream->kind->plan.has_time &&
        in->events[begin].ticks == ctf_clock_before_event(reader, first, earlier))
        return in->n;
    for (uint32_t k = begin; k < *end; k++)
        bytes += in->events[k].payload_size;
    uint64_t n = *end - begin;
    if (*end == in->n) {
        const uint64_t more = count_zeros_before_content(reader);
        if (more == UINT64_MAX)
            return in->n;
        n += more / in->events[i].payload_size;
        bytes += more;
    }
    return n >= ZERO_RUN_EVENTS && bytes >= ZERO_RUN_BYTES ? begin : in->n;
}

/* Returns the index of the first event of a run of zero events that is damage; in->n if there is
 * none. `before`: number of events in the batch that were checked before. */
static uint32_t find_zero_run(const struct ctf_reader *reader, uint32_t first, uint32_t before)
{
    const uint32_t n = reader->in->n;
    for (uint32_t i = before | (SAMPLE - 1); before < n; i += SAMPLE) {
        const bool is_last = i >= n - 1;
        uint32_t end = i = is_last ? n - 1 : i;
        if (is_zero_event(&reader->in->events[i])) {
            const uint32_t begin = measure_zero_run(reader, first, i, &end);
            if (begin < n)
                return begin;
            i = end | (SAMPLE - 1);
        }
        if (is_last || end >= n)
            break;
    }
    return n;
}

/* Reports zero events that have no timestamps. They stay in the batch, because nothing proves that
 * they are damage. */
static void report_zero_events(struct ctf_reader *reader, uint32_t i)
{
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, reader->in->events[i].offset, "ctf.zero-events",
        "%s has a run of events of zero bytes between others: bytes may be erased", reader->file);
}

/* Returns the index of the first event, from `first` on, that is later than `limit`; in->n if
 * there is none. */
static uint32_t find_late_event(const struct ctf_reader *reader, uint32_t first, uint64_t limit)
{
    uint32_t i = first;
    while (i < reader->in->n && reader->in->events[i].ticks <= limit)
        i++;
    return i;
}

/* Returns true if reading stopped at an event that cannot be decoded or extends past the
 * content. */
static bool stops_at_bad_event(const struct ctf_reader *reader, enum ctf_stop_reason stop)
{
    if (stop == CTF_STOP_UNKNOWN || stop == CTF_STOP_CLASS || stop == CTF_STOP_BAD)
        return true;
    return stop == CTF_STOP_EDGE && reader->bits.end == reader->content_end &&
           reader->bits.at + 8 < reader->bits.end;
}

ttr_status ctf_skip_damaged_events(struct ctf_reader *reader, uint32_t before,
                                   enum ctf_stop_reason *stop)
{
    const struct input *in = reader->in;
    const uint64_t limit = get_search_limit(reader);
    const uint32_t first = ctf_first_event_of_packet(reader);
    const bool is_late = reader->ticks > limit && limit != UINT64_MAX;
    const bool is_bad = stops_at_bad_event(reader, *stop) && limit != UINT64_MAX;
    const bool has_time = reader->stream->kind->plan.has_time;
    uint32_t zeros = find_zero_run(reader, first, before);
    if (reader->content_end == UINT64_MAX || ctf_ends_with_zeros(&reader->frame) ||
        ctf_reader_is_rfc11(reader) || *stop == CTF_STOP_FAILED || *stop == CTF_STOP_NAMES)
        return TTR_OK;
    if (zeros < in->n && !has_time) {
        report_zero_events(reader, zeros);
        zeros = in->n;
    }
    if (!is_late && !is_bad && zeros == in->n)
        return ctf_undo_false_wrap(reader, before, stop);
    struct salvage salvage = {reader, first, is_late, limit, 0};
    struct chain best = {.n = 0};
    const uint32_t late = is_late ? find_late_event(reader, before, limit) : in->n,
                   bad = late < zeros ? late : zeros;
    find_best_chain(&salvage, bad, &best);
    if (best.n == 0) {
        reader->is_damaged |= is_late;
        return is_late && !is_bad ? correct_time_wrap(&salvage, bad) : TTR_OK;
    }
    const uint64_t begin = get_bad_event_bit(reader, best.kept);
    ctf_restart_reading_at(reader, &(struct ctf_restart){best.kept, best.begin, best.ticks});
    reader->is_damaged = true;
    *stop = CTF_STOP_FULL;
    return report_skipped_bytes(&salvage, begin, best.begin);
}
