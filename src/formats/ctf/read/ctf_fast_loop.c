/* See the header.  All that the loop needs is copied first: what is stored through pointers could
 * be anything. */
#include <stddef.h>
#include <string.h>

#include "formats/ctf/read/ctf_fast_loop.h"

#define PLAIN_BYTES ((uint64_t)1 << 30) /* looked at in one go: fewer than LAYOUT_BYTES_NONE */
#define VISITS_KEPT \
    64u /* of a run, in which its fields may begin to take memory before it is looked for */
#define STRIDE_DECAY 16u
#define LINE 64u
#define SLIM_AHEAD 18u /* views: what they need is asked for */
#define REST_AHEAD 9u
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* What stands before and behind are two tests, each of which is guessed right: compilers make one
 * of them that takes twice the instructions. */
#define APART_FROM_NEXT __asm__ volatile("")

bool ctf_run_can(const struct ctf_plan *plan, const struct ctf_views *views)
{
    return plan->align >= 3 && plan->loads.bits % 8 == 0 &&
           plan->loads.bits <= UINT16_MAX - 8 * CTF_WIDER_MOST && !plan->is_big_endian &&
           views->has_time && views->plain_ticks > 0;
}

/* Ticks below become nanoseconds by adding `shift`. */
static inline uint64_t plain_ticks(uint64_t shift)
{
    return (uint64_t)INT64_MAX - ((int64_t)shift > 0 ? shift : 0);
}

/* Eight bytes of a view: one number of four, then another. */
static inline uint64_t word_of(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return first | (uint64_t)second << 32;
#else
    return second | (uint64_t)first << 32;
#endif
}

/* The number that four bytes of a view are. */
static inline uint32_t number_of(const void *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

void ctf_run_init(struct ctf_run *run, const struct ctf_reader *reader,
                  const struct ctf_views *views)
{
    const struct ctf_stream *stream = reader->stream;
    const struct ctf_plan *plan = &stream->kind->plan;
    const uint32_t more = plan->has_wide && stream->has_extended
                              ? plan->wide.bits - plan->loads.bits
                              : 0,
                   wider = more % 8 ? 0 : more / 8;
    const uint64_t behind = (uint64_t)stream->first_most + wider + LAYOUT_BYTES_AHEAD;
    const uint64_t room =
                       plan->loads.room > READER_SLIM_BYTES ? plan->loads.room : READER_SLIM_BYTES,
                   margin = behind > room ? behind : room;
    _Static_assert(offsetof(ttr_event, cpu) == 112 && offsetof(ttr_event, source) == 116 &&
                       offsetof(ttr_event, tag) == 118,
                   "places");
    _Static_assert(offsetof(ttr_event, kind) == 120 && offsetof(ttr_event, flags) == 123 &&
                       offsetof(ttr_event, part) == 124,
                   "places");
    const uint16_t source[2] = {reader->in->id, 0};
    const uint8_t kinds[4] = {0, 0, 0, views->cpu_flag};
    *run = (struct ctf_run){.base.next = views->base + ((reader->bits.at + 7) >> 3),
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
                            .margin = (uint32_t)(margin < UINT32_MAX ? margin : UINT32_MAX),
                            .has_one_class = stream->entered == 1,
                            .wider = wider % CTF_WIDER_MOST,
                            .origin = word_of(views->cpu, number_of(source)),
                            .kind = word_of(number_of(kinds), views->part)};
}

/* An event as it was found. */
struct seen {
    const uint8_t *p;       /* its header */
    const uint8_t *payload; /* the same, or a copy */
    uint64_t bytes;
    int64_t time;
};

/* Fills a view; by whole words, each stored once, and whole vectors (see input_clear_event). */
static inline __attribute__((always_inline)) void fill_view(ttr_event *event,
                                                            const struct ctf_entry *entry,
                                                            const struct ctf_run *run,
                                                            uint32_t body, struct seen seen)
{
    typedef uint64_t lanes __attribute__((vector_size(16), aligned(8), may_alias));
    typedef uint64_t word __attribute__((may_alias));
    lanes *part = (lanes *)event;
    word *to = (word *)event;
    const lanes zero = {0, 0}, ids = *(const lanes *)&entry->schema;
    _Static_assert(offsetof(struct ctf_entry, category) - offsetof(struct ctf_entry, schema) == 12,
                   "ids as in a view");
    _Static_assert(offsetof(ttr_event, category) - offsetof(ttr_event, schema) == 12 &&
                       offsetof(ttr_event, schema) == 48,
                   "places");
    to[0] = (uint64_t)seen.time;
    to[1] = (uint64_t)seen.time - run->plain_shift;
    part[1] = zero;
    event->payload = seen.payload;
    to[5] = word_of((uint32_t)seen.bytes, body);
    part[3] = ids;
    to[8] = word_of(entry->track, 0);
    to[9] = run->before + (uintptr_t)seen.p;
    part[5] = zero;
    part[6] = zero;
    to[14] = run->origin;
    to[15] = run->kind | word_of(number_of(&entry->kind), 0);
}

/* The end of a body with a text that is longer than most; `first` is where that begins. */
static __attribute__((noinline)) uint64_t pass_long_text(const struct layout_bytes *bytes,
                                                         const uint8_t *base, uint64_t first,
                                                         uint64_t end)
{
    const uint8_t *zero = find_zero(base, base + first, base + end);
    return zero ? (uint64_t)(zero - base) + bytes->rest : UINT64_MAX;
}

/* What finding the next event needs, in registers as far as they go. */
struct finder {
    const uint8_t *bytes;
    struct ctf_entry *by_id;
    struct ctf_loads loads, wide;
    uint64_t ids, only_id, mask; /* mask: of the header's alignment */
    uint64_t escape, wider;
    unsigned id_at, id_shift;
    uint64_t end, last_header;
    uint64_t last_body; /* the fixed part of a body may end there */
    uint64_t plain_ticks, plain_shift;
    int64_t until;
};

/* Where the finder is; bytes. */
struct found {
    uint64_t at, ticks;
    int64_t time;
    uint64_t header_at, next, id; /* of the event found */
    uint64_t wider;               /* bytes that its header is longer than others */
};

enum finding { FOUND, FOUND_LATER, FOUND_NONE };

/* How headers are read. */
enum heads {
    HEADS_ANY,
    HEADS_SIMPLE,  /* at any byte, with the id first */
    HEADS_EXTENDED /* some are longer, as the id in all of them tells */
};

/* The end of a body, in bytes from the finder's; behind its end where it is not found so easily. */
static inline uint64_t pass_body(const struct finder *finder, const struct layout_bytes *bytes,
                                 uint64_t header_at)
{
    const uint64_t first = header_at + bytes->first;
    if (UNLIKELY(first > finder->last_body))
        return UINT64_MAX;
    uint64_t next = layout_bytes_pass(bytes, finder->bytes, first);
    return UNLIKELY(next == UINT64_MAX && first < finder->end)
               ? pass_long_text(bytes, finder->bytes, first, finder->end)
               : next;
}

/* Where what is looked at in one go ends. */
static inline uint64_t end_of(const struct ctf_run *run)
{
    const uint64_t at = ctf_run_at(run), whole = run->end;
    return at < whole && whole - at > PLAIN_BYTES ? at + PLAIN_BYTES : whole;
}

/* `there`: bytes that may be looked at, all up to the run's end at least.  False where there is
 * nothing to be found. */
static inline __attribute__((always_inline)) bool finder_init(struct finder *finder,
                                                              const struct ctf_run *run,
                                                              uint64_t there, int64_t until,
                                                              enum heads heads)
{
    const struct ctf_plan *plan = run->plan;
    const bool is_simple = heads == HEADS_SIMPLE;
    const uint64_t ids_most = heads == HEADS_EXTENDED ? UINT64_MAX : plan->escape;
    const uint64_t at = ctf_run_at(run), end = end_of(run);
    const uint64_t head = plan->loads.bits >> 3;
    *finder = (struct finder){.bytes = run->bytes,
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
                              .last_body = there - LAYOUT_BYTES_AHEAD,
                              .plain_ticks = plain_ticks(run->plain_shift),
                              .plain_shift = run->plain_shift,
                              .until = until};
    if (heads == HEADS_EXTENDED) {
        finder->wide = plan->wide;
        finder->escape = plan->escape;
        finder->wider = run->wider;
    }
    return at < end && end >= head && there >= plan->loads.room && there >= LAYOUT_BYTES_AHEAD;
}

/* Finds the next event.  Where one ends is what finding the next waits for, so all that is computed
 * in between counts. */
static inline __attribute__((always_inline)) enum finding find_next(const struct finder *finder,
                                                                    struct found *found,
                                                                    enum heads heads)
{
    const struct ctf_loads *loads = &finder->loads;
    const uint64_t header_at = (found->at + finder->mask) & ~finder->mask;
    const uint8_t *p = finder->bytes + header_at;
    if (header_at > finder->last_header)
        return FOUND_NONE;
    uint64_t id =
        ((load_u64le(p + finder->id_at) >> finder->id_shift) & loads->id_mask) | finder->only_id;
    uint64_t low = (load_u64le(p + loads->time_at) >> loads->time_shift) & loads->time_mask;
    uint64_t mask = loads->time_mask, step = loads->time_step, wider = 0;
    if (heads == HEADS_EXTENDED) { /* both are read and one is taken: which it is comes at random */
        const struct ctf_loads *wide = &finder->wide;
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
    const uint64_t next = UNLIKELY(id >= finder->ids)
                              ? UINT64_MAX
                              : pass_body(finder, &finder->by_id[id].bytes, header_at + wider);
    const int64_t here = (int64_t)(now + finder->plain_shift);
    if (UNLIKELY(next > finder->end || now >= finder->plain_ticks || here < found->time))
        return FOUND_NONE;
    if (UNLIKELY(here >= finder->until)) {
        found->time = here;
        return FOUND_LATER;
    }
    *found = (struct found){.at = next,
                            .ticks = now,
                            .time = here,
                            .header_at = header_at,
                            .next = next,
                            .id = id,
                            .wider = wider};
    return FOUND;
}

static inline enum heads heads_of(const struct ctf_run *run)
{
    const struct ctf_plan *plan = run->plan;
    if (run->wider)
        return HEADS_EXTENDED;
    return plan->align == 3 && !plan->only_id && !plan->loads.id_at && !plan->loads.id_shift
               ? HEADS_SIMPLE
               : HEADS_ANY;
}

static inline __attribute__((always_inline)) void run_plain(struct ctf_run *state, uint64_t there,
                                                            struct reader_some *some,
                                                            enum heads heads)
{
    struct finder finder;
    if (!finder_init(&finder, state, there, some->until, heads))
        return;
    const struct ctf_run run = *state;
    struct found found = {.at = ctf_run_at(&run), .ticks = run.ticks, .time = run.time};
    ttr_event *event = some->events + some->n, *const stop = some->events + some->room;
    int64_t time = run.time;
    enum finding finding = FOUND;
    for (; event < stop && (finding = find_next(&finder, &found, heads)) == FOUND; event++) {
        struct ctf_entry *entry = &finder.by_id[found.id];
        fill_view(event, entry, &run, run.body + 8 * (uint32_t)found.wider,
                  (struct seen){finder.bytes + found.header_at, finder.bytes + found.header_at,
                                found.next - found.header_at, time = found.time});
        entry->given++;
    }
    if (event < stop && finding == FOUND_LATER) {
        some->is_stopped = true;
        some->next = found.time;
    }
    some->n = (uint32_t)(event - some->events);
    state->base.next = run.bytes + found.at;
    state->ticks = found.ticks;
    state->time = time;
}

static __attribute__((noinline)) void run_simple(struct ctf_run *run, uint64_t there,
                                                 struct reader_some *some)
{
    run_plain(run, there, some, HEADS_SIMPLE);
}

static __attribute__((noinline)) void run_extended(struct ctf_run *run, uint64_t there,
                                                   struct reader_some *some)
{
    run_plain(run, there, some, HEADS_EXTENDED);
}

static __attribute__((noinline)) void run_other(struct ctf_run *run, uint64_t there,
                                                struct reader_some *some)
{
    run_plain(run, there, some, HEADS_ANY);
}

void ctf_run_plain(struct ctf_run *run, uint64_t there, struct reader_some *some)
{
    switch (heads_of(run)) {
    case HEADS_SIMPLE:
        run_simple(run, there, some);
        break;
    case HEADS_EXTENDED:
        run_extended(run, there, some);
        break;
    default:
        run_other(run, there, some);
    }
}

/* --- Slims --- */

/* Slims and their keys as they are found. */
struct bag {
    struct reader_slim *slim, *stop;
    uint64_t *key, base; /* base: of keys of ticks */
    uint16_t lane, body; /* body: of headers that are not extended */
};

/* A slim without its bytes. */
static inline __attribute__((always_inline)) struct reader_slim *add_slim(
    struct bag *bag, const uint8_t *p, uint64_t bytes, struct ctf_entry *entry, uint64_t ticks,
    uint64_t wider)
{
    struct reader_slim *slim = bag->slim++;
    slim->payload = p;
    slim->own = entry;
    slim->size = (uint32_t)bytes;
    slim->lane = bag->lane;
    slim->body = (uint16_t)(bag->body + 8 * wider);
    *bag->key++ = (ticks << READER_PLACE_BITS) + bag->base++;
    return slim;
}

/* Classes of events met so far, and how the end of an event of the only one is found. */
enum met { MET_ANY, MET_ONE, MET_ONE_WITH_TEXT, MET_ONE_FIXED };

/* What is looked for, and where: what finding an event needs where nothing is to be looked at but
 * the next header and what may end it. */
struct chase {
    struct ctf_loads loads;
    const uint8_t *bytes;
    struct ctf_entry *by_id;
    uint64_t ids;
    uint64_t least, stop; /* in ticks: from `least` on, before `stop` */
    uint64_t plain_ticks; /* those from here on are not for the run */
    uint64_t shift;       /* from ticks to nanoseconds */
    const uint8_t *last;  /* where headers may begin, at last */
    const uint8_t *end;
};

static inline __attribute__((always_inline)) struct chase chase_of(const struct ctf_run *run,
                                                                   uint64_t end, int64_t since,
                                                                   int64_t until)
{
    const int64_t base = (int64_t)run->plain_shift;
    const uint64_t plain = plain_ticks(run->plain_shift),
                   stop = until > base ? (uint64_t)until - run->plain_shift : 0,
                   ids = run->plan->escape;
    return (struct chase){.loads = run->plan->loads,
                          .bytes = run->bytes,
                          .by_id = run->by_id,
                          .ids = run->ids < ids ? run->ids : ids,
                          .least = since > base ? (uint64_t)since - run->plain_shift : 0,
                          .stop = stop < plain ? stop : plain,
                          .plain_ticks = plain,
                          .shift = run->plain_shift,
                          .last = run->bytes + (end > run->margin ? end - run->margin : 0),
                          .end = run->bytes + end};
}

/* Where an event ends that begins at p; NULL where a text does not end at once.  What is known of
 * the class is known when this is compiled. */
static inline __attribute__((always_inline)) const uint8_t *behind_of(
    const struct layout_bytes *bytes, const uint8_t *p, enum met met)
{
    const uint8_t *const first = p + bytes->first;
    if (met == MET_ONE_FIXED)
        return first + bytes->rest;
    const uint32_t zeros = layout_bytes_zeros(bytes, first);
    if (UNLIKELY(!zeros))
        return NULL;
    return first + (met == MET_ONE_WITH_TEXT ? bytes->rest : layout_bytes_rest(bytes, first)) +
           (uint64_t)__builtin_ctzll(zeros);
}

/* Where headers may begin so that there is a slim for all up to there, no event being smaller than
 * the only class's. */
static inline const uint8_t *last_with_room(const struct chase *chase,
                                            const struct layout_bytes *bytes, const uint8_t *p,
                                            const struct bag *bag)
{
    const uint64_t least = (uint64_t)bytes->first + bytes->rest,
                   room = (uint64_t)(bag->stop - bag->slim) * (least ? least : 1);
    return chase->last > p && room < (uint64_t)(chase->last - p) ? p + room : chase->last;
}

/* Finds what find_next would as long as headers are simple, with bytes enough behind them; true
 * where it came to an event that is later than what is wanted.  What else it stops at find_next is
 * to be asked for.  Where one class was met, what finds ends need not wait for ids. */
static inline __attribute__((always_inline)) bool run_on(const struct chase *chase,
                                                         struct found *found, struct bag *bag,
                                                         uint64_t first_id, bool has_whole_times,
                                                         enum met met)
{
    const struct ctf_loads loads = chase->loads;
    struct ctf_entry *const first_entry = &chase->by_id[first_id];
    const uint8_t *p = chase->bytes + found->at;
    const struct reader_slim *const begin = bag->slim;
    uint64_t ticks = found->ticks, before = ticks, least = chase->least, later = 0;
    struct layout_bytes first_bytes = first_entry->bytes;
    bool is_later = false;
    if (met == MET_ONE_WITH_TEXT)
        first_bytes.no_text = 0;
    const uint8_t *const last =
        met == MET_ANY ? chase->last : last_with_room(chase, &first_bytes, p, bag);
    while (p < last && (met != MET_ANY || bag->slim < bag->stop)) {
        const uint64_t id = load_u64le(p) & loads.id_mask;
        uint64_t now = load_u64le(p + loads.time_at);
        if (!has_whole_times) {
            const uint64_t same =
                (ticks & ~loads.time_mask) | ((now >> loads.time_shift) & loads.time_mask);
            now = same < ticks ? same + loads.time_step : same;
        }
        if (UNLIKELY(met != MET_ANY ? id != first_id : id >= chase->ids))
            break;
        APART_FROM_NEXT;
        if (UNLIKELY(now < least))
            break;
        const struct layout_bytes bytes = met != MET_ANY ? first_bytes : chase->by_id[id].bytes;
        const uint8_t *const next =
            behind_of(&bytes, p, met); /* the last thing known, and the first that is waited for */
        if (UNLIKELY(!next))
            break;
        if (UNLIKELY(now >= chase->stop)) {
            is_later = now < chase->plain_ticks &&
                       next <= chase->end; /* else it may be no event, whose time says nothing of
                                              those to come */
            later = now;
            break;
        }
        struct reader_slim *slim = add_slim(
            bag, p, (uint64_t)(next - p), met != MET_ANY ? first_entry : &chase->by_id[id], now, 0);
        memcpy(slim->bytes, p, sizeof slim->bytes); /* the margin is no smaller */
        if (!has_whole_times)
            before = ticks;
        ticks = least = now;
        p = next;
    }
    if (p > chase->end) { /* the last one goes on behind the end, or is none */
        bag->slim--;
        bag->key--;
        bag->base--;
        p = bag->slim->payload;
        ticks = has_whole_times && bag->slim > begin
                    ? load_u64le(bag->slim[-1].payload + loads.time_at)
                    : before;
    }
    found->at = (uint64_t)(p - chase->bytes);
    found->ticks = ticks;
    if (is_later)
        found->time = (int64_t)(later + chase->shift);
    else if (bag->slim > begin)
        found->time = (int64_t)(ticks + chase->shift);
    return is_later;
}

/* How ends are found of events of the only class. */
static inline enum met met_one(const struct layout_bytes *bytes)
{
    if (bytes->count_mask || bytes->rest == LAYOUT_BYTES_NONE)
        return MET_ONE;
    return bytes->no_text ? MET_ONE_FIXED : MET_ONE_WITH_TEXT;
}

static inline __attribute__((always_inline)) bool run_on_any(const struct ctf_run *run,
                                                             const struct chase *chase,
                                                             struct found *found, struct bag *bag)
{
    const uint8_t *const p = chase->bytes + found->at;
    const uint64_t id = p < chase->last ? load_u64le(p) & chase->loads.id_mask : UINT64_MAX;
    if (id >= chase->ids)
        return false;
    if (chase->loads.time_mask != UINT64_MAX || chase->loads.time_shift)
        return run->has_one_class ? run_on(chase, found, bag, id, false, MET_ONE)
                                  : run_on(chase, found, bag, id, false, MET_ANY);
    if (!run->has_one_class)
        return run_on(chase, found, bag, id, true, MET_ANY);
    switch (met_one(&chase->by_id[id].bytes)) {
    case MET_ONE_FIXED:
        return run_on(chase, found, bag, id, true, MET_ONE_FIXED);
    case MET_ONE_WITH_TEXT:
        return run_on(chase, found, bag, id, true, MET_ONE_WITH_TEXT);
    default:
        return run_on(chase, found, bag, id, true, MET_ONE);
    }
}

/* What find_next found. */
static inline void add_found(struct bag *bag, const struct finder *finder,
                             const struct found *found)
{
    const uint64_t left = finder->end - found->header_at;
    struct reader_slim *slim =
        add_slim(bag, finder->bytes + found->header_at, found->next - found->header_at,
                 &finder->by_id[found->id], found->ticks, found->wider);
    if (left >= sizeof slim->bytes)
        memcpy(slim->bytes, slim->payload, sizeof slim->bytes);
    else
        memcpy(slim->bytes, slim->payload, left);
}

/* The same, and what it says of what comes next: FOUND where find_next is to be asked. */
static inline __attribute__((always_inline)) enum finding chase_on(const struct ctf_run *run,
                                                                   int64_t until,
                                                                   struct found *found,
                                                                   struct bag *bag)
{
    const struct chase chase = chase_of(run, end_of(run), found->time, until);
    return run_on_any(run, &chase, found, bag) ? FOUND_LATER : FOUND;
}

static __attribute__((noinline)) enum finding chase_again(const struct ctf_run *run, int64_t until,
                                                          struct found *found, struct bag *bag)
{
    return chase_on(run, until, found, bag);
}

/* Finds the next event and what follows it, with all that may have to be looked at. */
static inline __attribute__((always_inline)) enum finding hunt_on(const struct ctf_run *run,
                                                                  int64_t until,
                                                                  struct found *found,
                                                                  struct bag *bag, enum heads heads)
{
    struct finder finder;
    enum finding finding = FOUND_NONE;
    if (!finder_init(&finder, run, run->end, until, heads))
        return FOUND_NONE;
    for (bool is_worth_it = heads == HEADS_SIMPLE;
         bag->slim < bag->stop && (finding = find_next(&finder, found, heads)) == FOUND;) {
        add_found(bag, &finder, found);
        const struct reader_slim *const before = bag->slim;
        if (is_worth_it && bag->slim < bag->stop &&
            (finding = chase_again(run, until, found, bag)) == FOUND_LATER)
            break;
        is_worth_it = bag->slim > before; /* long texts come in rows */
    }
    return finding;
}

static __attribute__((noinline)) enum finding hunt_simple_on(const struct ctf_run *run,
                                                             int64_t until, struct found *found,
                                                             struct bag *bag)
{
    return hunt_on(run, until, found, bag, HEADS_SIMPLE);
}

static inline __attribute__((always_inline)) void hunt_plain(struct ctf_run *run,
                                                             struct reader_hunt *hunt,
                                                             enum heads heads)
{
    const int64_t until = hunt->until;
    struct found found = {.at = ctf_run_at(run),
                          .ticks = run->ticks,
                          .time = run->time > hunt->since ? run->time : hunt->since};
    struct bag bag = {.slim = hunt->slim,
                      .stop = hunt->slim + hunt->room,
                      .key = hunt->key,
                      .lane = hunt->lane,
                      .body = run->body,
                      .base = hunt->key_base + (run->plain_shift << READER_PLACE_BITS)};
    enum finding finding = heads == HEADS_SIMPLE ? chase_on(run, until, &found, &bag)
                                                 : hunt_on(run, until, &found, &bag, heads);
    if (heads == HEADS_SIMPLE && finding == FOUND && bag.slim < bag.stop) {
        struct found more =
            found; /* of what is looked at from elsewhere nothing stays in registers */
        struct bag filled = bag;
        finding = hunt_simple_on(run, until, &more, &filled);
        found = more;
        bag = filled;
    }
    if (finding == FOUND_LATER) {
        hunt->is_stopped = true;
        hunt->next = found.time;
    }
    hunt->n = (uint32_t)(bag.slim - hunt->slim);
    run->base.next = run->bytes + found.at;
    run->ticks = found.ticks;
    run->time = hunt->n ? (int64_t)(found.ticks + run->plain_shift) : run->time;
}

static __attribute__((noinline)) void hunt_simple(struct ctf_run *run, struct reader_hunt *hunt)
{
    hunt_plain(run, hunt, HEADS_SIMPLE);
}

static __attribute__((noinline)) void hunt_extended(struct ctf_run *run, struct reader_hunt *hunt)
{
    hunt_plain(run, hunt, HEADS_EXTENDED);
}

static __attribute__((noinline)) void hunt_other(struct ctf_run *run, struct reader_hunt *hunt)
{
    hunt_plain(run, hunt, HEADS_ANY);
}

static inline const struct ctf_run *run_of(const struct reader_slims *slims,
                                           const struct reader_slim *slim)
{
    return (const struct ctf_run *)&slims->runs[slim->lane];
}

/* What views to come are made of lies anywhere and is asked for in two steps: a slim tells where
 * the rest is. Always inlined: gcc 12 takes a call of what only asks for lines as one that does
 * nothing. */
static inline __attribute__((always_inline)) void ask_for(const struct reader_slims *slims,
                                                          const uint64_t *key)
{
    const struct reader_slim *soon = &slims->slim[key[REST_AHEAD] & READER_PLACE];
    __builtin_prefetch(&slims->slim[key[SLIM_AHEAD] & READER_PLACE]);
    __builtin_prefetch((const uint8_t *)run_of(slims, soon) + CTF_LINE);
    __builtin_prefetch(soon->own);
    if (soon->size > READER_SLIM_BYTES)
        __builtin_prefetch(soon->payload);
}

/* Makes the view of a slim, of its own bytes where these are no more than `small`; false where it
 * is none. */
static inline __attribute__((always_inline)) bool view_one(const struct reader_slims *slims,
                                                           uint32_t small, uint64_t key,
                                                           ttr_event *to)
{
    const struct reader_slim *slim = &slims->slim[key & READER_PLACE];
    if (!slim->payload)
        return false;
    fill_view(to, slim->own, run_of(slims, slim), slim->body,
              (struct seen){slim->payload, slim->size <= small ? slim->bytes : slim->payload,
                            slim->size, (int64_t)((key >> READER_PLACE_BITS) + slims->origin)});
    return true;
}

/* Makes views of slims: as long as there are keys to look ahead to, and then the last ones. */
static uint32_t view(const struct reader_slims *all, const uint64_t *key, uint32_t n, ttr_event *to)
{
    const struct reader_slims slims = *all;
    const uint64_t there = (uint64_t)(slims.keys_end - key),
                   ahead = there > SLIM_AHEAD ? there - SLIM_AHEAD : 0;
    const uint32_t small = slims.are_kept ? 0 : READER_SLIM_BYTES;
    uint32_t i = 0;
    for (const uint32_t most = ahead < n ? (uint32_t)ahead : n; i < most; i++) {
        ask_for(&slims, key + i);
        if (!view_one(&slims, small, key[i], &to[i]))
            return i;
    }
    for (; i < n; i++)
        if (!view_one(&slims, small, key[i], &to[i]))
            return i;
    return i;
}

/* --- Runs that go on --- */

/* Whether what is at hand holds, as far as one can tell from the last times, all events up to the
 * next one. */
static bool sees_enough(const struct ctf_run *run)
{
    const uint64_t at = ctf_run_at(run);
    return at < run->end && run->end - at >= run->stride;
}

/* What fields took since the last time.  It stands where nothing else is looked at, and most traces
 * never need it. */
static __attribute__((noinline)) void reset_scratch(struct ctf_run *run)
{
    struct arena *scratch = &run->reader->trace->scratch;
    run->visits = 0;
    run->has_scratch = scratch->current != NULL;
    if (run->has_scratch)
        arena_reset(scratch);
}

/* What is learnt of a visit that began at `from` and found n events. */
static inline void settle_visit(struct ctf_run *run, const uint8_t *from, uint32_t n)
{
    const uint64_t twice = (uint64_t)(run->base.next - from) * 2;
    uint32_t stride = twice > run->stride ? (uint32_t)(twice < UINT32_MAX ? twice : UINT32_MAX)
                                          : run->stride - run->stride / 16;
    run->stride = stride < run->stride_most ? stride : run->stride_most;
    run->given += n;
}

static inline bool begin_visit(struct ctf_run *run)
{
    if (!sees_enough(run))
        return false;
    if (run->has_scratch || ++run->visits == VISITS_KEPT)
        reset_scratch(run);
    return true;
}

static bool go(struct reader_run *base, struct reader_some *some)
{
    struct ctf_run *run = (struct ctf_run *)base;
    const uint8_t *from = base->next;
    const uint32_t before = some->n;
    if (!begin_visit(run))
        return false;
    ctf_run_plain(run, run->end, some);
    settle_visit(run, from, some->n - before);
    return some->is_stopped || some->n == some->room;
}

/* What is at hand was too little. */
static void want_more(struct ctf_run *run)
{
    const uint64_t at = ctf_run_at(run), left = at < run->end ? run->end - at : 0,
                   more = left + left / STRIDE_DECAY * 2 + LINE;
    run->stride = (uint32_t)(more < run->stride_most ? more : run->stride_most);
}

/* Events of each class are counted when they are found: their entries are at hand then, and are not
 * written when views are made. */
static inline void count_slims(const struct ctf_run *run, const struct reader_hunt *hunt)
{
    if (run->has_one_class && hunt->n)
        ((struct ctf_entry *)hunt->slim->own)->given += hunt->n;
    for (uint32_t i = 0; !run->has_one_class && i < hunt->n; i++)
        ((struct ctf_entry *)hunt->slim[i].own)->given++;
}

/* Finds all up to the time asked for, or nothing: what is at hand may end before that, and then the
 * reader gives what is there.  So nobody has to know how many bytes hold it. */
static bool hunt(struct reader_run *base, struct reader_hunt *hunt)
{
    struct ctf_run *run = (struct ctf_run *)base;
    const uint8_t *from = base->next;
    const uint64_t ticks = run->ticks;
    const int64_t time = run->time;
    if (run->has_scratch || ++run->visits == VISITS_KEPT)
        reset_scratch(run);
    switch (heads_of(run)) {
    case HEADS_SIMPLE:
        hunt_simple(run, hunt);
        break;
    case HEADS_EXTENDED:
        hunt_extended(run, hunt);
        break;
    default:
        hunt_other(run, hunt);
    }
    if (hunt->is_stopped || hunt->n == hunt->room) {
        settle_visit(run, from, hunt->n);
        count_slims(run, hunt);
        return true;
    }
    hunt->n = 0;
    base->next = from;
    want_more(run);
    run->ticks = ticks;
    run->time = time;
    return false;
}

/* Slims have bytes of their own, and what is unpacked in memory has no other place than there. */
static bool hunt_none(struct reader_run *base, struct reader_hunt *hunt)
{
    (void)base;
    (void)hunt;
    return false;
}

void ctf_run_begin(struct ctf_run *run, struct ctf_reader *reader, const struct ctf_views *views)
{
    const struct input *in = reader->in;
    const uint64_t most = in->window.n / 4 < in->max_record ? in->window.n / 4 : 0;
    static const struct reader_run_ops usual = {.go = go, .hunt = hunt, .view = view},
                                       of_rfc = {.go = go, .hunt = hunt_none, .view = view};
    ctf_run_init(run, reader, views);
    run->base.ops = reader->trace->class->description.version == CTF_RFC_1_1 ? &of_rfc : &usual;
    run->reader = reader;
    run->has_scratch = reader->trace->scratch.current != NULL;
    run->stride = (uint32_t)(reader->stride < UINT32_MAX ? reader->stride : UINT32_MAX);
    run->stride_most = (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX);
}

void ctf_settle(struct input *in)
{
    struct ctf_reader *reader = in->own;
    struct ctf_run *run = (struct ctf_run *)in->run;
    if (!run || !run->base.ops || run->given == 0)
        return;
    in->events_total += run->given;
    in->last = run->time;
    in->position = ctf_run_offset(run);
    reader->given += run->given;
    run->given = 0;
}

void ctf_run_settle(struct ctf_reader *reader)
{
    struct ctf_run *run = (struct ctf_run *)reader->in->run;
    if (!run || !run->base.ops)
        return;
    ctf_settle(reader->in);
    reader->bits.at = ctf_run_bit(run, reader->bits.at);
    reader->ticks = run->ticks;
    reader->time = run->time;
    reader->stride = run->stride;
    reader->looked_from = ctf_run_offset(run);
    run->base.ops = NULL;
}
