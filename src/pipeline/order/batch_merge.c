/* Rounds of a merge; see the header.
 *
 * The rank of an event is its time, or that of an event before it in its input where that is later:
 * so ranks never fall within an input, and sorting by rank, then input, then place is what a merge
 * of the inputs does. */
#include "pipeline/order/batch_merge.h"

#include <string.h>

#include "model/input.h"
#include "pipeline/order/radix_sort.h"

#define EACH_WANTED 32u    /* events of an input in a round */
#define WANTED_LEAST 4096u /* events of a round */
#define WANTED_MOST 8192u
#define LANE_PART 4u                 /* of a round: what an input may give at once */
#define EACH_LEAST INPUT_BATCH_LEAST /* room that every input has */
#define PLACE_BITS READER_PLACE_BITS
#define FAR_OFF    \
    (UINT64_MAX >> \
     PLACE_BITS) /* ranks from here on, since the begin of a round, are not told apart in it */
#define SPAN_FIRST 1024u /* ns */
#define SPAN_MOST (FAR_OFF / 4)
#define DIGIT_BITS 11u /* keys are sorted by two digits */
#define DIGITS (2u << DIGIT_BITS)
#define SETTLE_EACH \
    8u /* places that a key may be moved by when both digits are sorted, in the mean */
#define LANES_AHEAD 3u /* whose bytes are asked for */
#define LINES_AHEAD 7u
#define LINE 64u

/* An input: its events not yet given, and what is known of those to come. */
struct rounds_lane {
    uint64_t bound; /* no event to be read has a lower rank */
    uint64_t rank;  /* of the last event given */
    uint64_t last;  /* of the last event read */
    uint32_t at, n; /* events read and not given */
    bool has_ended;
};

static uint32_t wanted_of(size_t n)
{
    if (n >= WANTED_MOST / EACH_WANTED)
        return WANTED_MOST;
    uint32_t wanted = (uint32_t)n * EACH_WANTED;
    return wanted < WANTED_LEAST ? WANTED_LEAST : wanted;
}

static size_t capacity_of(size_t n)
{
    return n * EACH_LEAST + 2 * (size_t)wanted_of(n);
}

bool rounds_can(ttr_reader *const *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!reader_can_read_some(in[i]))
            return false;
    return n >= ROUNDS_LEAST && capacity_of(n) < (size_t)1 << PLACE_BITS;
}

bool rounds_init(struct rounds *rounds, const struct alloc *alloc, ttr_reader *const *in, size_t n,
                 uint32_t room, bool has_slims)
{
    const size_t capacity = capacity_of(n);
    *rounds = (struct rounds){.alloc = alloc,
                              .in = in,
                              .n = n,
                              .capacity = capacity,
                              .room = room,
                              .has_slims = has_slims,
                              .span = SPAN_FIRST,
                              .ending = TTR_END,
                              .reading = n};
    /* With slims only few are views, here and there: large pages would be mostly empty. */
    rounds->events = rounds->has_slims
                         ? alloc_resize(alloc, NULL, 0, capacity, sizeof *rounds->events)
                         : alloc_large(alloc, capacity, sizeof *rounds->events);
    rounds->slims_most =
        has_slims ? capacity + 2 : 1; /* who looks at bytes may look behind the last ones */
    rounds->slim_memory = alloc_resize(alloc, NULL, 0, rounds->slims_most, sizeof *rounds->slim);
    rounds->slim = (struct reader_slim *)(((uintptr_t)rounds->slim_memory + LINE - 1) &
                                          ~(uintptr_t)(LINE - 1));
    rounds->lane = alloc_zero(alloc, n, sizeof *rounds->lane);
    rounds->run_memory = alloc_zero(alloc, n + 1, sizeof *rounds->run);
    rounds->run =
        (union reader_place *)(((uintptr_t)rounds->run_memory + LINE - 1) & ~(uintptr_t)(LINE - 1));
    rounds->placed = alloc_zero(alloc, n, sizeof *rounds->placed);
    rounds->keys = alloc_resize(alloc, NULL, 0, capacity, sizeof *rounds->keys);
    rounds->spare = alloc_resize(alloc, NULL, 0, capacity, sizeof *rounds->spare);
    rounds->wide = alloc_resize(alloc, NULL, 0, capacity, sizeof *rounds->wide);
    rounds->wide_spare = alloc_resize(alloc, NULL, 0, capacity, sizeof *rounds->wide);
    rounds->place = alloc_zero(alloc, DIGITS, sizeof *rounds->place);
    rounds->out = alloc_zero(alloc, room, sizeof *rounds->out);
    rounds->pick = alloc_zero(alloc, room, sizeof *rounds->pick);
    return rounds->events && rounds->slim_memory && rounds->lane && rounds->run_memory &&
           rounds->placed && rounds->keys && rounds->spare && rounds->wide && rounds->wide_spare &&
           rounds->place && rounds->out && rounds->pick;
}

void rounds_free(struct rounds *rounds)
{
    const struct alloc *alloc = rounds->alloc;
    alloc_free(alloc, rounds->events, rounds->capacity, sizeof *rounds->events);
    alloc_free(alloc, rounds->slim_memory, rounds->slims_most, sizeof *rounds->slim);
    alloc_free(alloc, rounds->lane, rounds->n, sizeof *rounds->lane);
    alloc_free(alloc, rounds->run_memory, rounds->n + 1, sizeof *rounds->run);
    alloc_free(alloc, rounds->placed, rounds->n, sizeof *rounds->placed);
    alloc_free(alloc, rounds->keys, rounds->capacity, sizeof *rounds->keys);
    alloc_free(alloc, rounds->spare, rounds->capacity, sizeof *rounds->spare);
    alloc_free(alloc, rounds->wide, rounds->capacity, sizeof *rounds->wide);
    alloc_free(alloc, rounds->wide_spare, rounds->capacity, sizeof *rounds->wide);
    alloc_free(alloc, rounds->place, DIGITS, sizeof *rounds->place);
    alloc_free(alloc, rounds->out, rounds->room, sizeof *rounds->out);
    alloc_free(alloc, rounds->pick, rounds->room, sizeof *rounds->pick);
}

/* --- Reading --- */

/* The rank of a lane's next event. */
static uint64_t next_rank(const struct rounds *rounds, const struct rounds_lane *lane)
{
    const uint64_t own = order_time(rounds->events[lane->at].time);
    return own > lane->rank ? own : lane->rank;
}

/* Adds the keys of a lane's events, which are views.  An event before all that its lane said was to
 * come (a gap found in damage is such) is of the round's begin: nothing in a round is before that.
 */
static void add_keys(struct rounds *rounds, struct rounds_lane *lane)
{
    const ttr_event *event = rounds->events + lane->at;
    const uint64_t begin = rounds->begin,
                   far = begin + FAR_OFF < begin ? UINT64_MAX : begin + FAR_OFF;
    const uint32_t n = lane->n, at = lane->at;
    uint64_t *key = rounds->keys + rounds->keys_n, rank = lane->rank > begin ? lane->rank : begin;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t own = order_time(event[i].time);
        rank = own > rank ? own : rank;
        key[i] = ((rank < far ? rank : far) - begin) << PLACE_BITS | (at + i);
    }
    for (uint32_t i = 0; rounds->has_slims && i < n; i++) {
        struct reader_slim *slim = &rounds->slim[at + i];
        slim->payload = NULL;
        slim->own = NULL;
        slim->size = slim->lane = slim->body = 0;
    }
    lane->last = rank;
    rounds->most = rank > rounds->most ? rank : rounds->most;
    rounds->keys_n += n;
}

/* What a lane has beyond the least is not there for others. */
static void charge(struct rounds *rounds, const struct rounds_lane *lane)
{
    rounds->surplus -= lane->n > EACH_LEAST ? lane->n - EACH_LEAST : 0;
}

/* Moves the events that were kept to the front, in the order in which they lie. */
static void gather_kept(struct rounds *rounds)
{
    size_t kept = 0;
    rounds->used = rounds->keys_n = rounds->slims_n = 0;
    rounds->most = 0;
    rounds->surplus = rounds->capacity - rounds->n * EACH_LEAST;
    for (size_t i = 0; i < rounds->placed_n; i++) {
        struct rounds_lane *lane = &rounds->lane[rounds->placed[i]];
        if (lane->n == 0)
            continue;
        memmove(rounds->events + rounds->used, rounds->events + lane->at,
                lane->n * sizeof *rounds->events);
        lane->at = (uint32_t)rounds->used;
        rounds->used += lane->n;
        charge(rounds, lane);
        rounds->placed[kept++] = rounds->placed[i];
        add_keys(rounds, lane);
    }
    rounds->placed_n = kept;
}

/* Says from when to when the round is; all is over where nothing is to come.  A round cannot go on
 * behind what may come from a lane that is not read, having events still to give. */
static void begin_round(struct rounds *rounds)
{
    uint64_t begin = UINT64_MAX, most = UINT64_MAX;
    bool is_over = true;
    for (size_t i = 0; i < rounds->n; i++) {
        const struct rounds_lane *lane = &rounds->lane[i];
        const uint64_t first = lane->n ? next_rank(rounds, lane) : lane->bound;
        if (lane->has_ended && lane->n == 0)
            continue;
        is_over = false;
        begin = first < begin ? first : begin;
        if (!lane->has_ended && lane->n)
            most = lane->bound < most ? lane->bound : most;
    }
    rounds->is_over = is_over;
    rounds->begin = begin;
    rounds->until = begin > UINT64_MAX - rounds->span ? UINT64_MAX : begin + rounds->span;
    rounds->is_cut = most < rounds->until;
    if (rounds->is_cut)
        rounds->until = most > begin ? most : begin + 1; /* what is at the begin is given */
    rounds->is_shortened = false;
    rounds->reading = rounds->given = 0;
    gather_kept(rounds);
}

/* How many events a lane may give at once: one in a burst does not take the room of all others,
 * which then could not get to its time. */
static uint32_t room_of(const struct rounds *rounds)
{
    const uint32_t most = wanted_of(rounds->n) / LANE_PART;
    return (uint32_t)(EACH_LEAST + (rounds->surplus < most ? rounds->surplus : most));
}

/* What is behind a lane that may have more before the end of the round is not given in it: others
 * need not be read beyond. */
static void set_bound(struct rounds *rounds, struct rounds_lane *lane, bool is_stopped,
                      int64_t time)
{
    const uint64_t next = order_time(time);
    lane->bound = is_stopped && next > lane->last ? next : lane->last;
    if (is_stopped || lane->has_ended || lane->bound < rounds->begin ||
        lane->bound >= rounds->until - 1)
        return;
    rounds->until = lane->bound + 1;
    rounds->is_shortened = true;
}

/* Lets a lane's run go on; false where the reader is to be asked. */
static inline bool hunt(struct rounds *rounds, size_t i)
{
    struct rounds_lane *lane = &rounds->lane[i];
    struct reader_run *run = &rounds->run[i].run;
    const uint64_t since = lane->rank > rounds->begin ? lane->rank : rounds->begin;
    uint64_t *key = rounds->keys + rounds->keys_n;
    struct reader_hunt hunt = {.since = (int64_t)order_time((int64_t)since),
                               .until = (int64_t)order_time((int64_t)rounds->until),
                               .slim = rounds->slim + rounds->used,
                               .key = key,
                               .key_base = (order_time(0) - rounds->begin) * (1u << PLACE_BITS) +
                                           rounds->used,
                               .room = room_of(rounds),
                               .lane = (uint16_t)i};
    if (!run->ops->hunt(run, &hunt))
        return false;
    lane->at = (uint32_t)rounds->used;
    lane->n = hunt.n;
    rounds->used += hunt.n;
    rounds->slims_n += hunt.n;
    rounds->keys_n += hunt.n;
    charge(rounds, lane);
    if (hunt.n) {
        lane->last = (key[hunt.n - 1] >> PLACE_BITS) + rounds->begin;
        rounds->most = lane->last > rounds->most ? lane->last : rounds->most;
        rounds->placed[rounds->placed_n++] = (uint32_t)i;
    }
    set_bound(rounds, lane, hunt.is_stopped, hunt.next);
    return true;
}

/* Reads a lane up to the end of the round. */
static __attribute__((noinline)) ttr_status read_lane(struct rounds *rounds, size_t i)
{
    struct rounds_lane *lane = &rounds->lane[i];
    struct reader_run *run = &rounds->run[i].run;
    struct reader_some some = {.until = (int64_t)order_time((int64_t)rounds->until),
                               .events = rounds->events + rounds->used,
                               .room = room_of(rounds),
                               .run = run};
    ttr_error own;
    ttr_status status = TTR_OK;
    if (rounds->has_slims || !run->ops || !run->ops->go(run, &some))
        status = reader_read_some(rounds->in[i], &some, &own);
    if (status == TTR_AGAIN)
        return TTR_AGAIN;
    lane->has_ended = status != TTR_OK;
    if (lane->has_ended && status != TTR_END && rounds->ending == TTR_END) {
        rounds->ending = status;
        rounds->ending_error = own;
    }
    lane->at = (uint32_t)rounds->used;
    lane->n = some.n;
    rounds->used += some.n;
    charge(rounds, lane);
    if (some.n) {
        rounds->placed[rounds->placed_n++] = (uint32_t)i;
        add_keys(rounds, lane);
    }
    set_bound(rounds, lane, some.is_stopped, some.next);
    return TTR_OK;
}

/* What a lane is going to look at: it lies where no other has been for a round. */
static inline void ask_for_bytes(const struct rounds *rounds, size_t i)
{
    const uint8_t *next = i < rounds->n ? rounds->run[i].run.next : NULL;
    for (size_t k = 0; next && k < LINES_AHEAD; k++)
        __builtin_prefetch(next + k * LINE);
}

static ttr_status read_lanes(struct rounds *rounds)
{
    for (; rounds->reading < rounds->n; rounds->reading++) {
        const struct rounds_lane *lane = &rounds->lane[rounds->reading];
        if (lane->n || lane->has_ended ||
            (lane->bound >= rounds->until && rounds->until < UINT64_MAX))
            continue;
        ask_for_bytes(rounds, rounds->reading + LANES_AHEAD);
        if (rounds->has_slims && rounds->run[rounds->reading].run.ops &&
            hunt(rounds, rounds->reading))
            continue;
        ttr_status status = read_lane(rounds, rounds->reading);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

/* --- The end of a round --- */

/* Where a round ends: with the events of this rank of this lane. */
struct round_end {
    uint64_t rank;
    size_t lane;
};

/* Before the first event that may be still to come. */
static struct round_end end_of_round(const struct rounds *rounds)
{
    const uint64_t far = rounds->begin + FAR_OFF;
    struct round_end end = {.rank = far < rounds->begin ? UINT64_MAX : far - 1, .lane = SIZE_MAX};
    for (size_t i = 0; i < rounds->n; i++) {
        const struct rounds_lane *lane = &rounds->lane[i];
        if (!lane->has_ended && lane->bound < end.rank)
            end = (struct round_end){.rank = lane->bound, .lane = i};
    }
    return end;
}

/* Lanes give all they have. */
static void give_all(struct rounds *rounds)
{
    for (size_t i = 0; i < rounds->placed_n; i++) {
        struct rounds_lane *lane = &rounds->lane[rounds->placed[i]];
        lane->rank = lane->last;
        lane->at += lane->n;
        lane->n = 0;
    }
}

/* Makes views of a lane's slims that are kept: the run goes on before they are given. */
static void keep_views(struct rounds *rounds, const uint64_t *key, size_t n)
{
    const uint32_t at = n ? (uint32_t)(*key & READER_PLACE) : 0;
    const struct reader_slims slims = {.runs = rounds->run,
                                       .slim = rounds->slim,
                                       .origin = rounds->begin - order_time(0),
                                       .keys_end = key + n,
                                       .are_kept = true};
    if (n == 0 || !rounds->has_slims || !rounds->slim[at].payload)
        return;
    const struct reader_run *run = &rounds->run[rounds->slim[at].lane].run;
    (void)run->ops->view(&slims, key, (uint32_t)n, rounds->events + at);
    rounds->slims_n -= n;
}

/* Lanes give what comes up to the end of the round, and keep the rest. */
static void give_some(struct rounds *rounds, const struct round_end *end)
{
    const uint64_t rank = end->rank - rounds->begin, begin = rounds->begin;
    const uint64_t *key = rounds->keys;
    uint64_t *to = rounds->keys;
    for (size_t i = 0; i < rounds->placed_n; i++) {
        struct rounds_lane *lane = &rounds->lane[rounds->placed[i]];
        const uint64_t *const behind = key + lane->n,
                              limit = rank + (rounds->placed[i] <= end->lane);
        uint32_t n = 0;
        for (; key < behind && *key >> PLACE_BITS < limit; n++)
            *to++ = *key++;
        if (n)
            lane->rank = (to[-1] >> PLACE_BITS) + begin;
        keep_views(rounds, key, (size_t)(behind - key));
        key = behind;
        lane->at += n;
        lane->n -= n;
    }
    rounds->keys_n = (size_t)(to - rounds->keys);
    rounds->most = end->rank < rounds->most ? end->rank : rounds->most;
}

/* Longer rounds where few events came, shorter ones where many did. */
static void adapt(struct rounds *rounds)
{
    const uint64_t wanted = wanted_of(rounds->n), n = rounds->keys_n;
    const uint64_t took = rounds->until - rounds->begin;
    if (rounds->is_shortened && (n < wanted / LANE_PART || took >= rounds->span / LANE_PART))
        return;
    if (rounds->is_shortened)
        rounds->span = took;
    else if (2 * n < wanted)
        rounds->span = rounds->span < SPAN_MOST / 2 ? rounds->span * 2 : SPAN_MOST;
    else if (n > wanted + wanted / 4)
        rounds->span = rounds->span > 3 ? rounds->span - rounds->span / 4 : 1;
    else if (n < wanted - wanted / 4)
        rounds->span += rounds->span / 8;
}

/* --- Order --- */

/* Lets keys that are near their places go there; false where that would take long. */
static bool settle_keys(uint64_t *keys, size_t n)
{
    size_t moves = SETTLE_EACH * n;
    for (size_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        size_t at = i;
        if (key >= keys[i - 1])
            continue;
        for (; at > 0 && key < keys[at - 1]; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
        if (i - at > moves)
            return false;
        moves -= i - at;
    }
    return true;
}

/* Sorts keys of any kind: by rank, then as they stand, or by lane where they stand as their events
 * lie. */
static void sort_any(struct rounds *rounds, bool needs_lanes)
{
    struct order_key *wide = rounds->wide;
    for (size_t i = 0; i < rounds->keys_n; i++)
        wide[i] =
            (struct order_key){.rank = rounds->keys[i] >> PLACE_BITS,
                               .index = (uint32_t)(rounds->keys[i] & ((1u << PLACE_BITS) - 1))};
    for (size_t i = 0, k = 0; needs_lanes && i < rounds->placed_n;
         i++) /* a lane's given events lie before those that it keeps */
        for (const uint32_t number = rounds->placed[i], behind = rounds->lane[number].at;
             k < rounds->keys_n && wide[k].index < behind; k++)
            wide[k].minor = number;
    order_keys(wide, rounds->wide_spare, rounds->keys_n);
    for (size_t i = 0; i < rounds->keys_n; i++)
        rounds->keys[i] = wide[i].rank << PLACE_BITS | wide[i].index;
}

/* Two digits of keys: what is above `low_shift`, `bits` of it, and what is above those. */
struct digits {
    unsigned bits, low_shift, high_shift;
};

/* Those in which keys of ranks up to `last` differ: all bits of these, or the upper ones. */
static struct digits digits_of(uint64_t last)
{
    const unsigned used = last ? 64 - (unsigned)__builtin_clzll(last) : 1,
                   taken = used < 2 * DIGIT_BITS ? used : 2 * DIGIT_BITS, bits = (taken + 1) / 2;
    const unsigned shift = PLACE_BITS + used - taken;
    return (struct digits){.bits = bits, .low_shift = shift, .high_shift = shift + bits};
}

/* Where keys of each digit go. */
static void place_digits(struct rounds *rounds, const struct digits *digits)
{
    const uint64_t *const keys = rounds->keys, mask = ((uint64_t)1 << digits->bits) - 1;
    uint32_t *const low = rounds->place, *const high = low + DIGITS / 2, low_at = 0, high_at = 0;
    const unsigned low_shift = digits->low_shift, high_shift = digits->high_shift;
    const size_t n = rounds->keys_n;
    memset(low, 0, DIGITS * sizeof *low);
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = keys[i];
        low[key >> low_shift & mask]++;
        high[key >> high_shift]++;
    }
    for (size_t i = 0; i <= mask; i++) {
        const uint32_t lows = low[i], highs = high[i];
        low[i] = low_at;
        high[i] = high_at;
        low_at += lows;
        high_at += highs;
    }
}

/* Sorts keys by both digits, the lower one first; then what these do not tell apart. */
static bool sort_spread(struct rounds *rounds)
{
    const struct digits digits = digits_of(rounds->most - rounds->begin);
    uint64_t *const keys = rounds->keys, *const to = rounds->spare;
    uint32_t *const low = rounds->place, *const high = low + DIGITS / 2;
    const size_t n = rounds->keys_n;
    const unsigned low_shift = digits.low_shift, high_shift = digits.high_shift;
    const uint64_t mask = ((uint64_t)1 << digits.bits) - 1;
    place_digits(rounds, &digits);
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = keys[i];
        to[low[key >> low_shift & mask]++] = key;
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = to[i];
        keys[high[key >> high_shift]++] = key;
    }
    return low_shift == PLACE_BITS || settle_keys(keys, n);
}

/* Whether places of events rise with their lanes. */
static bool is_by_lane(const struct rounds *rounds)
{
    for (size_t i = 1; i < rounds->placed_n; i++)
        if (rounds->placed[i - 1] > rounds->placed[i])
            return false;
    return true;
}

static ttr_status next_round(struct rounds *rounds)
{
    if (rounds->reading == rounds->n)
        begin_round(rounds);
    ttr_status status = read_lanes(rounds);
    if (status != TTR_OK)
        return status;
    const struct round_end end = end_of_round(rounds);
    if (rounds->most < end.rank)
        give_all(rounds);
    else
        give_some(rounds, &end);
    if (!rounds->is_cut)
        adapt(rounds);
    const bool needs_lanes = !is_by_lane(rounds);
    if (needs_lanes || !sort_spread(rounds))
        sort_any(rounds, needs_lanes);
    return TTR_OK;
}

/* All events are views already. */
static void pick_events(struct rounds *rounds, ttr_batch *batch)
{
    const uint64_t *key = rounds->keys + rounds->given;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event =
            &rounds->events[rounds->pick[i] = (uint32_t)(key[i] & READER_PLACE)];
        __builtin_prefetch(event);
        __builtin_prefetch((const char *)event + LINE);
    }
    for (uint32_t i = 0; i < batch->n; i++)
        __builtin_prefetch(rounds->events[rounds->pick[i]].payload);
    batch->event = rounds->events;
    batch->pick = rounds->pick;
}

/* Makes views of slims, and copies those that are there. */
static void view_events(struct rounds *rounds, ttr_batch *batch)
{
    const uint64_t *key = rounds->keys + rounds->given;
    const struct reader_slims slims = {.runs = rounds->run,
                                       .slim = rounds->slim,
                                       .origin = rounds->begin - order_time(0),
                                       .keys_end = rounds->keys + rounds->keys_n};
    for (uint32_t i = 0; i < batch->n; i++) {
        const struct reader_slim *slim = &rounds->slim[key[i] & READER_PLACE];
        if (slim->payload)
            i += rounds->run[slim->lane].run.ops->view(&slims, key + i, batch->n - i,
                                                       rounds->out + i);
        if (i < batch->n)
            rounds->out[i] = rounds->events[key[i] & READER_PLACE];
    }
    batch->event = rounds->out;
}

ttr_status rounds_next(struct rounds *rounds, ttr_batch *batch)
{
    *batch = (ttr_batch){.n = 0};
    while (!rounds->is_over && (rounds->reading < rounds->n || rounds->given == rounds->keys_n)) {
        ttr_status status = next_round(rounds);
        if (status != TTR_OK)
            return status;
    }
    const size_t left = rounds->is_over ? 0 : rounds->keys_n - rounds->given;
    batch->n = left < rounds->room ? (uint32_t)left : rounds->room;
    if (rounds->slims_n)
        view_events(rounds, batch);
    else
        pick_events(rounds, batch);
    rounds->given += batch->n;
    return TTR_OK;
}
