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
 * change, a sorted flag or unknown metadata. All other events go through scan_boundary_event().
 *
 * Cost: one header decode per event, no allocation per event. Traces without sequence points and
 * sorted events are emitted after each NETTRACE_RUNS_MAX runs or NETTRACE_WAITING_BYTES_MAX bytes;
 * events may then be emitted late, which is noted.
 *
 * Left out: decoding of payloads. An event with unknown metadata still joins a run, since its
 * metadata may follow before the event is emitted (NET-META-11). */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

/* bytes of doubtful events in a block; from this number on, damage is searched */
#define DOUBTFUL_MIN 1024u
/* bytes from the current event to the prefetched address; hardware prefetchers stop at page
 * boundaries */
#define AHEAD_BYTES 2048

/* State while one block is scanned. */
struct block_scan {
    struct nettrace_reader *reader;
    const struct nettrace_block *block;
    /* file offset of the block, from which on bytes must be kept: headers in a segment may refer
     * to activity ids anywhere before it */
    uint64_t keep_from;
    struct nettrace_header header; /* decoded header of the current event */
    /* run to which the current event may be added; NULL if there is none */
    struct nettrace_run *run;
    uint64_t last; /* ticks of the event before the current one */
    /* index of the current capture thread; SIZE_MAX before the first event */
    size_t capture;
    uint32_t metadata; /* metadata number that was looked up last */
    uint64_t sorted;   /* ticks of the last event with the sorted flag */
    bool has_sorted, counts;
    /* bytes of events without metadata, and of large events that do not end with their last field:
     * one event with a damaged size may contain others */
    uint64_t doubtful;
    /* type of the last large event that does not end with its last field */
    struct nettrace_type *misfit;
    uint32_t known;      /* number of decoded events, including those without metadata */
    bool caches_headers; /* true if decoded headers are stored for nettrace_order.c */
    uint32_t first_run, last_run, runs_n; /* linked list of the finished runs */
};

static uint64_t compute_file_offset(const struct block_scan *scan, const uint8_t *p)
{
    return scan->block->offset + (uint64_t)(p - scan->block->begin);
}

/* Ends the current run, if there is one; its last event ends at `end`. Runs are added to the queue
 * after the scan, so that those of a damaged block can be dropped. */
static void end_current_run(struct block_scan *scan, const uint8_t *end)
{
    struct nettrace_run *run = scan->run;
    scan->run = NULL;
    if (!run)
        return;
    run->span = nettrace_make_header_range(scan->block->begin, end,
                                           (enum nettrace_codec)scan->block->codec);
    run->last = scan->last;
    run->cached_end = scan->reader->order.cached_n;
    uint32_t index = (uint32_t)(run - scan->reader->order.runs);
    if (scan->runs_n++)
        scan->reader->order.runs[scan->last_run].next = index;
    else
        scan->first_run = index;
    scan->last_run = index;
}

static bool begin_run(struct block_scan *scan)
{
    end_current_run(scan, scan->header.start);
    scan->run = nettrace_run_new(scan->reader, &scan->header);
    if (!scan->run)
        return false;
    scan->run->keep_from = scan->keep_from;
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

/* Before the scan changes to another capture thread: stores sequence number and ticks of the
 * previous event in its thread. */
static void store_capture_thread_state(struct block_scan *scan, uint32_t sequence)
{
    if (scan->capture == SIZE_MAX)
        return;
    struct nettrace_capture_thread *capture = &scan->reader->threads.capture[scan->capture];
    capture->sequence = sequence;
    capture->ticks = scan->last;
}

static bool enter_capture_thread(struct block_scan *scan, uint32_t before)
{
    store_capture_thread_state(scan, before);
    scan->capture = nettrace_get_capture_thread_index(scan->reader, scan->header.capture);
    return scan->capture != SIZE_MAX &&
           nettrace_update_sequence(scan->reader, scan->capture, &scan->header, false);
}

/* Records the metadata number of the current event if it is not defined. If the definition arrives
 * before the event is returned, it is accepted, and a diagnostic is reported. */
static void check_metadata_number(struct block_scan *scan)
{
    struct nettrace_reader *reader = scan->reader;
    scan->metadata = scan->header.metadata;
    if (!nettrace_find_type(&reader->types, scan->metadata)) {
        reader->types.awaited = scan->metadata;
        scan->doubtful += scan->metadata == 0 && !scan->block->is_metadata
                              ? (uint64_t)(scan->block->end - scan->header.start)
                              : scan->header.payload_size;
    }
}

/* Counts the bytes of a large event as doubtful if its payload does not end with its last field. */
static void check_large_event(struct block_scan *scan)
{
    const struct nettrace_header *h = &scan->header;
    struct nettrace_type *type = nettrace_find_type(&scan->reader->types, h->metadata);
    if (!type || type->has_misfits ||
        nettrace_fields_end_with_payload(type, h->payload, h->payload_size))
        return;
    scan->doubtful += h->payload_size;
    scan->misfit = type;
}

/* Processes an event that scan_ordinary_events() cannot process: the first of a block, one of
 * another thread, a sorted or large event, or one with an earlier time. Returns false if memory is
 * out. */
static bool scan_boundary_event(struct block_scan *scan, uint32_t before)
{
    const struct nettrace_header *h = &scan->header;
    bool is_first = scan->capture == SIZE_MAX;
    if (scan->counts && (h->flags & NETTRACE_HAS_CAPTURE || is_first) &&
        !enter_capture_thread(scan, before))
        return false;
    if (h->metadata != scan->metadata)
        check_metadata_number(scan);
    if (h->flags & NETTRACE_IS_SORTED) {
        scan->sorted = h->ticks;
        scan->has_sorted = true;
    }
    if (h->payload_size >= NETTRACE_LARGE_PAYLOAD)
        check_large_event(scan);
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

static ttr_status parse_metadata_of_event(struct block_scan *scan)
{
    struct nettrace_header *h = &scan->header;
    struct cursor c =
        cursor_init(h->payload, h->payload_size, compute_file_offset(scan, h->payload));
    end_current_run(scan, h->start);
    return nettrace_parse_metadata(scan->reader, &c, compute_file_offset(scan, h->start));
}

/* Scans events that only extend the current run. Returns true at the first other event, which is
 * in scan->header. Changing members are copied to locals, so that they stay in registers. */
static NETTRACE_INLINE bool scan_ordinary_events(struct block_scan *scan, uint32_t *before,
                                                 bool is_v6)
{
    const struct nettrace_block *block = scan->block;
    const struct nettrace_types *types = &scan->reader->types;
    const struct nettrace_header_range span =
        nettrace_make_header_range(block->begin, block->end, (enum nettrace_codec)block->codec);
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
        has_event = h.next < span.end && nettrace_decode_header(&h, &span, is_v6);
        is_ordinary = has_event && is_usual && scan->run &&
                      !(h.flags & (NETTRACE_HAS_CAPTURE | NETTRACE_IS_SORTED)) && h.ticks >= last &&
                      h.payload_size < NETTRACE_LARGE_PAYLOAD &&
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
            status = parse_metadata_of_event(scan);
        else if (NETTRACE_UNLIKELY(!scan_boundary_event(scan, before)))
            status = fail_memory(scan->reader->error);
    }
    bool is_bad = status == TTR_OK && h->next < block->end;
    end_current_run(scan, is_bad ? h->start : h->next);
    if (is_bad) {
        h->sequence = before;
        h->next = h->start;
    }
    return status;
}

/* Returns true if decoded headers can be stored, and allocates memory for them. Otherwise, headers
 * are decoded again when events are returned. */
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

/* --- Blocks with damage --- */

/* Members of the reader that a scan changes; they are restored before the scan is repeated. */
struct scan_mark {
    size_t gaps_n;
    uint32_t cached_n;
};

static bool enqueue_runs(struct block_scan *scan)
{
    struct nettrace_order *order = &scan->reader->order;
    for (uint32_t index = scan->first_run; scan->runs_n > 0; scan->runs_n--) {
        struct nettrace_run *run = &order->runs[index];
        index = run->next;
        run->next = NETTRACE_NONE;
        if (!nettrace_run_enqueue(scan->reader, run, run->at.ticks))
            return false;
    }
    return true;
}

/* Drops the runs and gaps of a scan. Forgets the sequence numbers of all capture threads, so that
 * events destroyed by damage do not count as lost by the recorder. */
static void discard_scanned_runs(struct block_scan *scan, const struct scan_mark *mark)
{
    struct nettrace_reader *reader = scan->reader;
    struct nettrace_order *order = &reader->order;
    for (uint32_t index = scan->first_run; scan->runs_n > 0; scan->runs_n--) {
        struct nettrace_run *run = &order->runs[index];
        index = run->next;
        nettrace_run_discard(order, run);
    }
    order->gaps_n = mark->gaps_n;
    order->cached_n = mark->cached_n;
    for (size_t i = 0; i < reader->threads.capture_n; i++)
        reader->threads.capture[i].is_known = false;
}

static ttr_status scan_block_once(struct block_scan *scan)
{
    ttr_status status =
        scan->reader->version >= NETTRACE_V6 ? scan_events(scan, true) : scan_events(scan, false);
    if (status == TTR_OK)
        store_capture_thread_state(scan, scan->header.sequence);
    return status;
}

/* Scans the segments of a damaged block instead of the block. */
static ttr_status scan_segments(struct block_scan *scan, struct nettrace_block *block)
{
    struct nettrace_reader *reader = scan->reader;
    ttr_status status = TTR_OK;
    scan->known = 0;
    scan->counts = false;
    scan->capture = SIZE_MAX;
    for (uint32_t i = 0; i < reader->segments.n && status == TTR_OK; i++) {
        const struct nettrace_segment *segment = &reader->segments.all[i];
        struct nettrace_block part = *block;
        part.begin = block->begin + segment->begin;
        part.end = block->begin + segment->end;
        part.offset = block->offset + segment->begin;
        scan->block = &part;
        scan->header = segment->before;
        scan->header.next = part.begin;
        scan->last = segment->before.ticks;
        scan->metadata = 0;
        status = scan_block_once(scan);
    }
    scan->block = block;
    block->stop = block->begin + reader->segments.all[reader->segments.n - 1].end;
    return status;
}

/* Reports the bytes between the segments of a damaged block and after the last one. */
static ttr_status report_segments(struct nettrace_reader *reader,
                                  const struct nettrace_block *block)
{
    const struct nettrace_segments *segments = &reader->segments;
    uint64_t size = (uint64_t)(block->end - block->begin);
    ttr_status status = TTR_OK;
    for (uint32_t i = 0; i <= segments->n && status == TTR_OK; i++) {
        uint64_t from = i > 0 ? segments->all[i - 1].end : 0;
        bool is_rest = i == segments->n;
        uint64_t to = is_rest ? size : segments->all[i].begin;
        if (from < to && (!is_rest || !block->is_cut))
            status = input_add_damage(
                reader->in, block->offset + from, to - from, "nettrace.bad-event", reader->error,
                is_rest
                    ? "event headers that do not fit their block; the rest of the block is not "
                      "decoded"
                    : "event headers that do not fit their block; reading continues at the next "
                      "event from which plausible events follow");
    }
    return status;
}

/* Called if the events of a block do not end at its end. Splits the block into segments of
 * plausible events, and scans these. */
static ttr_status salvage_events(struct block_scan *scan, struct nettrace_block *block,
                                 const struct scan_mark *mark)
{
    struct nettrace_reader *reader = scan->reader;
    if (block->has_end && nettrace_salvage_block(reader, block, false, &reader->segments)) {
        discard_scanned_runs(scan, mark);
        ttr_status status = scan_segments(scan, block);
        return status == TTR_OK ? report_segments(reader, block) : status;
    }
    if (block->is_cut)
        return TTR_OK;
    const uint8_t *at = scan->header.start;
    return input_add_damage(
        reader->in, compute_file_offset(scan, at), (uint64_t)(block->end - at),
        "nettrace.bad-event", reader->error,
        "an event header that does not fit its block; the last %llu bytes of the "
        "block are not decoded",
        (unsigned long long)(block->end - at));
}

/* Called if the events of a block end at its end, but it has large events, or events without
 * metadata. If one of them contains many others, its size is damaged. */
static ttr_status split_doubtful_events(struct block_scan *scan, struct nettrace_block *block,
                                        const struct scan_mark *mark)
{
    enum { TRIALS_MAX = 16 };
    struct nettrace_reader *reader = scan->reader;
    uint64_t size = (uint64_t)(block->end - block->begin), kept = 0;
    if (!scan->misfit && reader->fruitless_salvages >= TRIALS_MAX)
        return TTR_OK;
    bool has_segments = nettrace_salvage_block(reader, block, false, &reader->segments);
    for (uint32_t i = 0; i < reader->segments.n; i++)
        kept += reader->segments.all[i].end - reader->segments.all[i].begin;
    bool is_better = has_segments && kept < size && kept > size - scan->doubtful;
    if (!is_better) {
        if (scan->misfit)
            scan->misfit->has_misfits = true;
        else
            reader->fruitless_salvages++;
        reader->segments.n = 0;
        return TTR_OK;
    }
    discard_scanned_runs(scan, mark);
    ttr_status status = scan_segments(scan, block);
    return status == TTR_OK ? report_segments(reader, block) : status;
}

/* Splits a block that is damaged, although its events end at its end, before the first payload
 * that does not match its type. Returns false, and changes nothing, if all events up to the end of
 * the block would be lost. */
static bool split_at_damage(struct block_scan *scan, const struct nettrace_block *block)
{
    struct nettrace_segments *segments = &scan->reader->segments;
    uint64_t size = (uint64_t)(block->end - block->begin);
    bool is_split = nettrace_salvage_block(scan->reader, block, true, segments) &&
                    (segments->n > 1 || segments->all[0].begin > 0) &&
                    segments->all[segments->n - 1].end == size;
    if (!is_split)
        segments->n = 0;
    return is_split;
}

static void get_run_times(const struct block_scan *scan, uint64_t *least, uint64_t *most)
{
    const struct nettrace_order *order = &scan->reader->order;
    uint32_t index = scan->first_run;
    *least = UINT64_MAX;
    *most = 0;
    for (uint32_t i = 0; i < scan->runs_n; i++) {
        const struct nettrace_run *run = &order->runs[index];
        *least = run->at.ticks < *least ? run->at.ticks : *least;
        *most = run->last > *most ? run->last : *most;
        index = run->next;
    }
}

/* Corrects the times after a damaged time delta. */
static ttr_status correct_times_after_damage(struct block_scan *scan, struct nettrace_block *block,
                                             const struct scan_mark *mark)
{
    struct nettrace_reader *reader = scan->reader;
    const struct nettrace_segment *moved = &reader->segments.all[reader->segments.n - 1];
    discard_scanned_runs(scan, mark);
    ttr_status status = scan_segments(scan, block);
    if (status != TTR_OK)
        return status;
    return input_add_damage(
        reader->in, block->offset + moved->begin, 1, "nettrace.bad-times", reader->error,
        "an event with a damaged time: it contradicts the times in the header of its block; the "
        "times of this and the following events are corrected");
}

/* Compares the times of the events with those in the header of the block. If they were equal in
 * all earlier blocks and differ here, the block is damaged. */
static ttr_status compare_times_with_block_header(struct block_scan *scan,
                                                  struct nettrace_block *block,
                                                  const struct scan_mark *mark)
{
    struct nettrace_reader *reader = scan->reader;
    uint64_t least, most;
    bool is_resized = block->is_cut;
    get_run_times(scan, &least, &most);
    bool are_equal = block->has_times && least == block->least && most == block->most;
    bool can_judge = is_resized || (reader->blocks_exact > 0 && reader->blocks_inexact == 0);
    reader->blocks_exact += are_equal && !is_resized;
    reader->blocks_inexact += !are_equal && !can_judge && block->has_times;
    if (are_equal || !can_judge)
        return TTR_OK;
    if (!is_resized && nettrace_correct_damaged_time(reader, block, least, most, &reader->segments))
        return correct_times_after_damage(scan, block, mark);
    if (split_at_damage(scan, block)) {
        discard_scanned_runs(scan, mark);
        ttr_status status = scan_segments(scan, block);
        return status == TTR_OK ? report_segments(reader, block) : status;
    }
    if (!is_resized)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, block->offset, "nettrace.bad-times",
                             "a block with other times in its header than its events have");
    return TTR_OK;
}

ttr_status nettrace_scan_block(struct nettrace_reader *reader, struct nettrace_block *block)
{
    struct block_scan scan = {.reader = reader,
                              .block = block,
                              .keep_from = block->offset,
                              .header = {.next = block->begin},
                              .capture = SIZE_MAX,
                              .counts = block->codec < CODEC_OLD,
                              .caches_headers = can_cache_headers(reader, block)};
    const struct scan_mark mark = {reader->order.gaps_n, reader->order.cached_n};
    reader->segments.n = 0;
    ttr_status status = scan_block_once(&scan);
    block->stop = scan.header.next;
    if (status == TTR_OK && block->stop < block->end)
        status = salvage_events(&scan, block, &mark);
    else if (status == TTR_OK && block->has_end && scan.doubtful >= DOUBTFUL_MIN)
        status = split_doubtful_events(&scan, block, &mark);
    bool has_all_events = status == TTR_OK && reader->segments.n == 0 && block->stop == block->end;
    bool is_resized = block->is_cut && block->has_end;
    if (has_all_events && scan.runs_n > 0 && !block->is_metadata &&
        (is_resized || (block->has_times && !block->is_cut)))
        status = compare_times_with_block_header(&scan, block, &mark);
    if (status != TTR_OK)
        return status;
    if (!enqueue_runs(&scan))
        return fail_memory(reader->error);
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

bool nettrace_parse_block_header(struct cursor *c, bool is_v6, struct nettrace_block *block,
                                 uint16_t *size)
{
    struct cursor head = *c;
    *size = cursor_u16le(&head);
    uint16_t flags = cursor_u16le(&head);
    if (head.failed || *size < 4 || !cursor_skip(c, *size))
        return false;
    block->least = cursor_u64le(&head);
    block->most = cursor_u64le(&head);
    block->has_times = *size >= NETTRACE_BLOCK_HEADER && !head.failed &&
                       block->least <= block->most && block->most > 0;
    block->codec = flags & NETTRACE_BLOCK_COMPRESSED ? CODEC_COMPRESSED
                   : is_v6                           ? CODEC_PLAIN_V6
                                                     : CODEC_PLAIN;
    block->begin = c->p;
    block->end = c->end;
    block->offset = c->offset;
    return true;
}
