/* Implements the fast loop that ctf_fast_loop.h describes. Copies its state to locals first,
 * because the compiler must assume that writing events changes other memory. */
#include <stddef.h>
#include <string.h>

#include "formats/ctf/read/ctf_fast_loop.h"

/* maximum bytes that one call decodes; LAYOUT_BYTE_SHAPE_NONE is larger, so no offset equals it */
#define PLAIN_BYTES ((uint64_t)1 << 30)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
bool ctf_fast_loop_is_possible(const struct ctf_header_plan *plan,
                               const struct ctf_packet_views *views)
{
    return plan->align >= 3 && plan->loads.bits % 8 == 0 &&
           plan->loads.bits <= UINT16_MAX - 8 * CTF_WIDER_MAX && !plan->is_big_endian &&
           views->has_time && views->plain_ticks > 0;
}

/* Returns the limit below which ticks can be increased by `shift` without overflow. */
static inline uint64_t get_max_plain_ticks(uint64_t shift)
{
    return (uint64_t)INT64_MAX - ((int64_t)shift > 0 ? shift : 0);
}

/* Combines two 32-bit members of ttr_event into one 8-byte store. */
static inline uint64_t combine_u32_pair(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return first | (uint64_t)second << 32;
#else
    return second | (uint64_t)first << 32;
#endif
}

/* Loads a 32-bit member of ttr_event from its address. */
static inline uint32_t load_event_u32(const void *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

void ctf_fast_loop_init(struct ctf_fast_loop *run, const struct ctf_reader *reader,
                        const struct ctf_packet_views *views)
{
    const struct ctf_stream *stream = reader->stream;
    const struct ctf_header_plan *plan = &stream->kind->plan;
    const uint32_t more = plan->has_wide && stream->has_extended
                              ? plan->wide.bits - plan->loads.bits
                              : 0,
                   wider = more % 8 ? 0 : more / 8;
    _Static_assert(offsetof(ttr_event, cpu) == 112 && offsetof(ttr_event, source) == 116 &&
                       offsetof(ttr_event, tag) == 118,
                   "places");
    _Static_assert(offsetof(ttr_event, kind) == 120 && offsetof(ttr_event, flags) == 123 &&
                       offsetof(ttr_event, part) == 124,
                   "places");
    const uint16_t source[2] = {reader->in->id, 0};
    const uint8_t kinds[4] = {0, 0, 0, views->cpu_flag};
    *run = (struct ctf_fast_loop){.next = views->base + ((reader->bits.at + 7) >> 3),
                                  .bytes = views->base,
                                  .end = reader->bits.end >> 3,
                                  .ticks = reader->ticks,
                                  .time = reader->time,
                                  .before = views->offset - (uintptr_t)views->base,
                                  .plan = plan,
                                  .body = (uint16_t)plan->loads.bits,
                                  .by_id = stream->by_id,
                                  .ids = (uint32_t)stream->by_id_n,
                                  .plain_shift = views->plain_shift,
                                  .wider = wider % CTF_WIDER_MAX,
                                  .origin = combine_u32_pair(views->cpu, load_event_u32(source)),
                                  .kind = combine_u32_pair(load_event_u32(kinds), views->part)};
}

/* Position, size and time of a decoded event. */
struct plain_event {
    const uint8_t *p; /* start of the event header */
    uint64_t bytes;
    int64_t time;
};

/* Fills an event by stores of 8 and 16 bytes, each address once (see input_clear_event). */
static inline __attribute__((always_inline)) void fill_plain_event(
    ttr_event *event, const struct ctf_class_entry *entry, const struct ctf_fast_loop *run,
    uint32_t body, struct plain_event seen)
{
    typedef uint64_t vec16 __attribute__((vector_size(16), aligned(8), may_alias));
    typedef uint64_t word __attribute__((may_alias));
    vec16 *part = (vec16 *)event;
    word *to = (word *)event;
    const vec16 zero = {0, 0}, ids = *(const vec16 *)&entry->schema;
    _Static_assert(
        offsetof(struct ctf_class_entry, category) - offsetof(struct ctf_class_entry, schema) == 12,
        "ids as in a view");
    _Static_assert(offsetof(ttr_event, category) - offsetof(ttr_event, schema) == 12 &&
                       offsetof(ttr_event, schema) == 48,
                   "places");
    to[0] = (uint64_t)seen.time;
    to[1] = (uint64_t)seen.time - run->plain_shift;
    part[1] = zero;
    event->payload = seen.p;
    to[5] = combine_u32_pair((uint32_t)seen.bytes, body);
    part[3] = ids;
    to[8] = combine_u32_pair(entry->track, 0);
    to[9] = run->before + (uintptr_t)seen.p;
    part[5] = zero;
    part[6] = zero;
    to[14] = run->origin;
    to[15] = run->kind | combine_u32_pair(load_event_u32(&entry->kind), 0);
}

/* Returns the end of a body with a text that is longer than the vector search covers. `first`:
 * offset of the text. */
static __attribute__((noinline)) uint64_t find_long_text_end(const struct layout_byte_shape *bytes,
                                                             const uint8_t *base, uint64_t first,
                                                             uint64_t end)
{
    const uint8_t *zero = find_zero(base, base + first, base + end);
    return zero ? (uint64_t)(zero - base) + bytes->rest : UINT64_MAX;
}

/* Values that find_plain_event needs and that do not change during one call. A local copy, so that
 * the compiler can keep them in registers. */
struct plain_finder {
    const uint8_t *bytes;
    struct ctf_class_entry *by_id;
    struct ctf_header_loads loads, wide;
    uint64_t ids, only_id, mask; /* mask: alignment of event headers in bytes, minus 1 */
    uint64_t escape, wider;
    unsigned id_at, id_shift;
    uint64_t end, last_header;
    /* body offset up to which the text search may load bytes without exceeding the readable memory
     */
    uint64_t last_body;
    uint64_t plain_ticks, plain_shift;
    int64_t until;
};

/* Position of the loop, and the last event found. Offsets are in bytes from finder->bytes. */
struct plain_found {
    uint64_t at, ticks;
    int64_t time;
    /* last event: offset of its header, offset of its end, event id */
    uint64_t header_at, next, id;
    /* bytes by which the last event's header is longer than the short form */
    uint64_t wider;
};

enum finding { FOUND, FOUND_LATER, FOUND_NONE };

/* Forms of event headers; the loop is compiled once for each form. */
enum header_kind {
    HEADER_ANY,
    HEADER_SIMPLE,  /* headers start at bytes, and the id is in the lowest bits */
    HEADER_EXTENDED /* short and extended headers are mixed; the id distinguishes them */
};

/* Returns the byte offset of the end of a body; UINT64_MAX if the size rule does not apply to
 * it. */
static inline uint64_t find_plain_body_end(const struct plain_finder *finder,
                                           const struct layout_byte_shape *bytes,
                                           uint64_t header_at)
{
    const uint64_t first = header_at + bytes->first;
    if (UNLIKELY(first > finder->last_body))
        return UINT64_MAX;
    uint64_t next = layout_byte_shape_find_end(bytes, finder->bytes, first);
    return UNLIKELY(next == UINT64_MAX && first < finder->end)
               ? find_long_text_end(bytes, finder->bytes, first, finder->end)
               : next;
}

/* Returns the offset up to which one call decodes events. */
static inline uint64_t find_batch_end(const struct ctf_fast_loop *run)
{
    const uint64_t at = ctf_fast_loop_get_offset(run), whole = run->end;
    return at < whole && whole - at > PLAIN_BYTES ? at + PLAIN_BYTES : whole;
}

/* Initializes the finder. `there`: number of loadable bytes, at least run->end. Returns false if
 * no event fits. */
static inline __attribute__((always_inline)) bool init_plain_finder(struct plain_finder *finder,
                                                                    const struct ctf_fast_loop *run,
                                                                    uint64_t there, int64_t until,
                                                                    enum header_kind header_kind)
{
    const struct ctf_header_plan *plan = run->plan;
    const bool is_simple = header_kind == HEADER_SIMPLE;
    const uint64_t ids_most = header_kind == HEADER_EXTENDED ? UINT64_MAX : plan->escape;
    const uint64_t at = ctf_fast_loop_get_offset(run), end = find_batch_end(run);
    const uint64_t head = plan->loads.bits >> 3;
    *finder = (struct plain_finder){.bytes = run->bytes,
                                    .by_id = run->by_id,
                                    .loads = plan->loads,
                                    .ids = run->ids < ids_most ? run->ids : ids_most,
                                    .only_id = is_simple ? 0 : plan->only_id,
                                    .mask = is_simple ? 0 : ((UINT64_C(1) << plan->align) - 1) >> 3,
                                    .id_at = is_simple ? 0 : plan->loads.id_at,
                                    .id_shift = is_simple ? 0 : plan->loads.id_shift,
                                    .end = end,
                                    .last_header = there - plan->loads.room < end - head
                                                       ? there - plan->loads.room
                                                       : end - head,
                                    .last_body = there - LAYOUT_BYTE_SHAPE_LOOKAHEAD,
                                    .plain_ticks = get_max_plain_ticks(run->plain_shift),
                                    .plain_shift = run->plain_shift,
                                    .until = until};
    if (header_kind == HEADER_EXTENDED) {
        finder->wide = plan->wide;
        finder->escape = plan->escape;
        finder->wider = run->wider;
    }
    return at < end && end >= head && there >= plan->loads.room &&
           there >= LAYOUT_BYTE_SHAPE_LOOKAHEAD;
}

/* Decodes header and size of the event at found->at. FOUND_LATER: the event is after the time
 * limit; FOUND_NONE: it is not plain. Each event starts at the end of the previous one, so the
 * latency of this function limits the speed of the loop. */
static inline __attribute__((always_inline)) enum finding find_plain_event(
    const struct plain_finder *finder, struct plain_found *found, enum header_kind header_kind)
{
    const struct ctf_header_loads *loads = &finder->loads;
    const uint64_t header_at = (found->at + finder->mask) & ~finder->mask;
    const uint8_t *p = finder->bytes + header_at;
    if (header_at > finder->last_header)
        return FOUND_NONE;
    uint64_t id =
        ((load_u64le(p + finder->id_at) >> finder->id_shift) & loads->id_mask) | finder->only_id;
    uint64_t low = (load_u64le(p + loads->time_at) >> loads->time_shift) & loads->time_mask;
    uint64_t mask = loads->time_mask, step = loads->time_step, wider = 0;
    /* load both forms of the header and select one, because a branch would be mispredicted */
    if (header_kind == HEADER_EXTENDED) {
        const struct ctf_header_loads *wide = &finder->wide;
        const uint64_t wide_id = (load_u64le(p + wide->id_at) >> wide->id_shift) & wide->id_mask;
        const uint64_t wide_low =
            (load_u64le(p + wide->time_at) >> wide->time_shift) & wide->time_mask;
        const bool is_wide = id >= finder->escape;
        id = is_wide ? wide_id : id;
        low = is_wide ? wide_low : low;
        mask = is_wide ? wide->time_mask : mask;
        step = is_wide ? wide->time_step : step;
        wider = is_wide ? finder->wider : 0;
    }
    const uint64_t same = (found->ticks & ~mask) | low,
                   now = same < found->ticks ? same + step : same;
    const uint64_t next =
        UNLIKELY(id >= finder->ids)
            ? UINT64_MAX
            : find_plain_body_end(finder, &finder->by_id[id].bytes, header_at + wider);
    const int64_t here = (int64_t)(now + finder->plain_shift);
    if (UNLIKELY(next > finder->end || now >= finder->plain_ticks || here < found->time))
        return FOUND_NONE;
    if (UNLIKELY(here >= finder->until)) {
        found->time = here;
        return FOUND_LATER;
    }
    *found = (struct plain_found){.at = next,
                                  .ticks = now,
                                  .time = here,
                                  .header_at = header_at,
                                  .next = next,
                                  .id = id,
                                  .wider = wider};
    return FOUND;
}

static inline enum header_kind choose_header_kind(const struct ctf_fast_loop *run)
{
    const struct ctf_header_plan *plan = run->plan;
    if (run->wider)
        return HEADER_EXTENDED;
    return plan->align == 3 && !plan->only_id && !plan->loads.id_at && !plan->loads.id_shift
               ? HEADER_SIMPLE
               : HEADER_ANY;
}

static inline __attribute__((always_inline)) void read_plain_events(
    struct ctf_fast_loop *state, uint64_t there, struct reader_partial_read *some,
    enum header_kind header_kind)
{
    struct plain_finder finder;
    if (!init_plain_finder(&finder, state, there, some->until, header_kind))
        return;
    const struct ctf_fast_loop run = *state;
    struct plain_found found = {
        .at = ctf_fast_loop_get_offset(&run), .ticks = run.ticks, .time = run.time};
    ttr_event *event = some->events + some->n, *const stop = some->events + some->room;
    int64_t time = run.time;
    enum finding finding = FOUND;
    for (; event < stop && (finding = find_plain_event(&finder, &found, header_kind)) == FOUND;
         event++) {
        struct ctf_class_entry *entry = &finder.by_id[found.id];
        fill_plain_event(event, entry, &run, run.body + 8 * (uint32_t)found.wider,
                         (struct plain_event){finder.bytes + found.header_at,
                                              found.next - found.header_at, time = found.time});
        entry->events_read++;
    }
    if (event < stop && finding == FOUND_LATER) {
        some->is_stopped = true;
        some->next = found.time;
    }
    some->n = (uint32_t)(event - some->events);
    state->next = run.bytes + found.at;
    state->ticks = found.ticks;
    state->time = time;
}

static __attribute__((noinline)) void read_plain_simple(struct ctf_fast_loop *run, uint64_t there,
                                                        struct reader_partial_read *some)
{
    read_plain_events(run, there, some, HEADER_SIMPLE);
}

static __attribute__((noinline)) void read_plain_extended(struct ctf_fast_loop *run, uint64_t there,
                                                          struct reader_partial_read *some)
{
    read_plain_events(run, there, some, HEADER_EXTENDED);
}

static __attribute__((noinline)) void read_plain_any_header(struct ctf_fast_loop *run,
                                                            uint64_t there,
                                                            struct reader_partial_read *some)
{
    read_plain_events(run, there, some, HEADER_ANY);
}

void ctf_fast_loop_read(struct ctf_fast_loop *run, uint64_t there, struct reader_partial_read *some)
{
    switch (choose_header_kind(run)) {
    case HEADER_SIMPLE:
        read_plain_simple(run, there, some);
        break;
    case HEADER_EXTENDED:
        read_plain_extended(run, there, some);
        break;
    default:
        read_plain_any_header(run, there, some);
    }
}
