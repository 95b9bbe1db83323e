/* Scan of a block of events: each header is checked once, and the block is cut into sorted runs
 * (events with ascending times).
 *
 * Order of calls: nettrace_scan_block() is called once per block, in file order. It queues runs for
 * nettrace_order.c, updates the sequence counters of capture threads (gaps), and defines types from
 * metadata events.
 *
 *   block   | e e e e | e e e | M | e e e e e |
 *   run     '---1---' '--2--'     '----3----'        a new run starts where time goes back,
 *                                                    and after a metadata event (M)
 *
 * Order of events. Events of one capture thread are mostly ascending, events of different threads
 * are not. Two promises of the format limit how long events must wait (NET-ORDER-3, -4): nothing
 * after a sequence point, and nothing after an event with the flag "sorted", is older than it. So
 * nothing is emitted before one of them, or the end, is reached. Then all events up to its ticks
 * are emitted.
 *
 * Fast path: scan_ordinary_events() handles events that extend the current run without a thread
 * change, a sorted flag or unknown metadata. All other events go through process_boundary_event().
 *
 * Cost: one header decode per event, no allocation per event. Traces without sequence points and
 * sorted events are emitted after each NETTRACE_RUNS_MAX runs or NETTRACE_WAITING_BYTES_MAX bytes;
 * events may then be emitted late, which is noted.
 *
 * Left out: decoding of payloads. An event with unknown metadata still joins a run, since its
 * metadata may follow before the event is emitted (NET-META-11). */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

#define AHEAD_BYTES 2048 /* prefetch distance: hardware prefetchers stop at page boundaries */

/* State of the scan of one block. */
struct block_scan {
    struct nettrace_reader *reader;
    const struct nettrace_block *block;
    struct nettrace_header header; /* decoded header of the current event */
    struct nettrace_run *run;      /* run that the current event may extend; NULL if none */
    uint64_t first;                /* ticks of the first event of the run */
    uint64_t last;                 /* ticks of the previous event */
    /* index of the current capture thread; SIZE_MAX before the first event */
    size_t capture;
    uint32_t metadata; /* last metadata number that was looked up */
    uint64_t sorted;   /* ticks of the last event with the sorted flag */
    bool has_sorted, counts;
    uint32_t known;      /* number of events decoded, including those with unknown metadata */
    bool caches_headers; /* decoded headers are cached for nettrace_order.c */
};

static uint64_t file_offset_of(const struct block_scan *scan, const uint8_t *p)
{
    return scan->block->offset + (uint64_t)(p - scan->block->begin);
}

/* Queues the current sorted run for emission, if there is one. `end` is the end of its last event.
 * Returns false if memory is exhausted. */
static bool end_current_run(struct block_scan *scan, const uint8_t *end)
{
    struct nettrace_run *run = scan->run;
    scan->run = NULL;
    if (!run)
        return true;
    run->span = nettrace_header_range_over(scan->block->begin, end,
                                           (enum nettrace_codec)scan->block->codec);
    run->last = scan->last;
    run->cached_end = scan->reader->order.cached_n;
    return nettrace_run_enqueue(scan->reader, run, scan->first);
}

static bool begin_run(struct block_scan *scan)
{
    const struct nettrace_block *block = scan->block;
    if (!end_current_run(scan, scan->header.start))
        return false;
    scan->run = nettrace_run_new(scan->reader, &scan->header);
    if (!scan->run)
        return false;
    scan->run->keep_from = block->offset;
    scan->first = scan->header.ticks;
    return true;
}

static NETTRACE_INLINE void cache_header(struct nettrace_cached_header *cached,
                                         const struct nettrace_header *h)
{
    *cached = (struct nettrace_cached_header){.ticks = h->ticks,
                                              .metadata = h->metadata,
                                              .stack = h->stack,
                                              .payload_size = h->payload_size,
                                              .payload_at = (uint8_t)(h->payload - h->start),
                                              .flags = h->flags};
    if (h->flags & NETTRACE_HAS_ACTIVITY && h->activity)
        cached->activity_at = (uint8_t)(h->activity - h->start);
    if (h->flags & NETTRACE_HAS_RELATED && h->related)
        cached->related_at = (uint8_t)(h->related - h->start);
}

/* Stores sequence number and ticks of the previous event in its capture thread, before the scan
 * changes to another thread. */
static void end_capture_thread(struct block_scan *scan, uint32_t sequence)
{
    if (scan->capture == SIZE_MAX)
        return;
    struct nettrace_capture_thread *capture = &scan->reader->threads.capture[scan->capture];
    capture->sequence = sequence;
    capture->ticks = scan->last;
}

static bool begin_capture_thread(struct block_scan *scan, uint32_t before)
{
    end_capture_thread(scan, before);
    scan->capture = nettrace_capture_index(scan->reader, scan->header.capture);
    return scan->capture != SIZE_MAX &&
           nettrace_update_sequence(scan->reader, scan->capture, &scan->header, false);
}

/* Records the metadata number of the current event if it is not defined yet. A definition that
 * arrives before the event is emitted is accepted, with a note. */
static void check_metadata_number(struct block_scan *scan)
{
    struct nettrace_reader *reader = scan->reader;
    scan->metadata = scan->header.metadata;
    if (!nettrace_find_type(&reader->types, scan->metadata))
        reader->types.awaited = scan->metadata;
}

/* Processes an event that scan_ordinary_events() cannot: the first of a block, a thread change, a
 * sorted event, or an event with an earlier time. Returns false if memory is exhausted. */
static bool process_boundary_event(struct block_scan *scan, uint32_t before)
{
    const struct nettrace_header *h = &scan->header;
    bool is_first = scan->capture == SIZE_MAX;
    if (scan->counts && (h->flags & NETTRACE_HAS_CAPTURE || is_first) &&
        !begin_capture_thread(scan, before))
        return false;
    if (h->metadata != scan->metadata)
        check_metadata_number(scan);
    if (h->flags & NETTRACE_IS_SORTED) {
        scan->sorted = h->ticks;
        scan->has_sorted = true;
    }
    scan->known++;
    struct nettrace_order *order = &scan->reader->order;
    bool goes_back = h->ticks < scan->last && order->runs_used < NETTRACE_RUNS_MAX;
    bool is_begin = !scan->run || goes_back;
    if (is_begin && !begin_run(scan))
        return false;
    if (!is_begin && scan->caches_headers &&
        order->cached_n - order->cached_first_needed < NETTRACE_CACHED_MAX)
        cache_header(&order->cached[order->cached_n++ % NETTRACE_CACHED_MAX], h);
    scan->last = h->ticks;
    return true;
}

static ttr_status process_metadata(struct block_scan *scan)
{
    struct nettrace_header *h = &scan->header;
    struct cursor c = cursor_init(h->payload, h->payload_size, file_offset_of(scan, h->payload));
    if (!end_current_run(scan, h->start))
        return fail_memory(scan->reader->error);
    return nettrace_parse_metadata(scan->reader, &c, file_offset_of(scan, h->start));
}

static ttr_status report_bad_header(struct block_scan *scan)
{
    const struct nettrace_block *block = scan->block;
    const uint8_t *at = scan->header.start;
    if (block->is_cut)
        return TTR_OK;
    return input_add_damage(
        scan->reader->in, file_offset_of(scan, at), (uint64_t)(block->end - at),
        "nettrace.bad-event", scan->reader->error,
        "an event header that does not fit its block; the last %llu bytes of the "
        "block are not decoded",
        (unsigned long long)(block->end - at));
}

/* Scans events that only extend the current run. Returns true at the first other event, which is
 * then in scan->header. Local copies keep the changing members in registers. */
static NETTRACE_INLINE bool scan_ordinary_events(struct block_scan *scan, uint32_t *before,
                                                 bool is_v6)
{
    const struct nettrace_block *block = scan->block;
    const struct nettrace_types *types = &scan->reader->types;
    const struct nettrace_header_range span =
        nettrace_header_range_over(block->begin, block->end, (enum nettrace_codec)block->codec);
    const bool is_usual = block->codec == CODEC_COMPRESSED && !block->is_metadata;
    struct nettrace_order *order = &scan->reader->order;
    uint32_t cached = order->cached_n,
             cached_stop =
                 scan->caches_headers ? order->cached_first_needed + NETTRACE_CACHED_MAX : cached;
    struct nettrace_header h = scan->header;
    uint64_t last = scan->last;
    uint32_t known = 0;
    bool has_event, is_ordinary;
    do {
        *before = h.sequence;
        __builtin_prefetch(h.next + AHEAD_BYTES);
        has_event = h.next < span.end && nettrace_header_next(&h, &span, is_v6);
        is_ordinary = has_event && is_usual && scan->run &&
                      !(h.flags & (NETTRACE_HAS_CAPTURE | NETTRACE_IS_SORTED)) && h.ticks >= last &&
                      nettrace_find_type(types, h.metadata);
        last = is_ordinary ? h.ticks : last;
        known += is_ordinary;
        if (NETTRACE_LIKELY(is_ordinary && cached != cached_stop))
            cache_header(&order->cached[cached++ % NETTRACE_CACHED_MAX], &h);
    } while (NETTRACE_LIKELY(is_ordinary));
    order->cached_n = cached;
    scan->header = h;
    scan->last = last;
    scan->known += known;
    return has_event;
}

static NETTRACE_INLINE ttr_status scan_events(struct block_scan *scan, bool is_v6)
{
    const struct nettrace_block *block = scan->block;
    struct nettrace_header *h = &scan->header;
    bool is_old = block->codec >= CODEC_OLD;
    ttr_status status = TTR_OK;
    uint32_t before;
    while (status == TTR_OK && scan_ordinary_events(scan, &before, is_v6)) {
        if (NETTRACE_UNLIKELY(block->is_metadata || (is_old && h->metadata == 0)))
            status = process_metadata(scan);
        else if (NETTRACE_UNLIKELY(!process_boundary_event(scan, before)))
            status = fail_memory(scan->reader->error);
    }
    bool is_bad = status == TTR_OK && h->next < block->end;
    if (!end_current_run(scan, is_bad ? h->start : h->next))
        return fail_memory(scan->reader->error);
    if (!is_bad)
        return status;
    h->sequence = before;
    h->next = h->start;
    return report_bad_header(scan);
}

/* Returns whether decoded headers can be cached, and allocates the cache. Without a cache, headers
 * are decoded a second time when events are emitted. */
static bool can_cache_headers(struct nettrace_reader *reader, const struct nettrace_block *block)
{
    struct nettrace_order *order = &reader->order;
    if (block->codec != CODEC_COMPRESSED || block->is_metadata || reader->version >= NETTRACE_V6)
        return false;
    if (!order->cached)
        order->cached =
            alloc_resize(&reader->t->counted, NULL, 0, NETTRACE_CACHED_MAX, sizeof *order->cached);
    return order->cached;
}

ttr_status nettrace_scan_block(struct nettrace_reader *reader, struct nettrace_block *block)
{
    struct block_scan scan = {.reader = reader,
                              .block = block,
                              .header = {.next = block->begin},
                              .capture = SIZE_MAX,
                              .counts = block->codec < CODEC_OLD,
                              .caches_headers = can_cache_headers(reader, block)};
    ttr_status status =
        reader->version >= NETTRACE_V6 ? scan_events(&scan, true) : scan_events(&scan, false);
    if (status != TTR_OK)
        return status;
    end_capture_thread(&scan, scan.header.sequence);
    block->stop = scan.header.next;
    reader->known_events = scan.known;
    struct nettrace_order *order = &reader->order;
    bool is_crowded = order->runs_used >= NETTRACE_RUNS_MAX ||
                      (order->keep_from < block->offset &&
                       block->offset - order->keep_from > NETTRACE_WAITING_BYTES_MAX);
    if (is_crowded)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, block->offset, "nettrace.long-region",
            "more events without a sequence point than can be sorted at once; some may be "
            "out of order");
    if (is_crowded || scan.has_sorted)
        nettrace_order_flush_until(reader, is_crowded ? UINT64_MAX : scan.sorted);
    return TTR_OK;
}
