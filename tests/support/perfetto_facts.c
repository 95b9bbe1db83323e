#include "support/perfetto_facts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/protobuf_dump.h"
#include "support/support.h"

/* Field numbers of the public schema. */
enum {
    PACKET_TIME = 8,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    PACKET_TASK_STATE = 117,
    PACKET_SAMPLE = 135
};
enum {
    IN_FUNCTIONS = 5,
    IN_FRAMES = 6,
    IN_STACKS = 7,
    IN_PATHS = 17,
    IN_MAPPINGS = 19,
    IN_MAX = 32
};
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_STACK = 56, SAMPLE_STACK = 6, STATE_RUNNING = 3 };
enum { TYPE_BEGIN = 1, TYPE_END = 2 };

/* Growing list of numbers. */
struct numbers {
    uint64_t *list;
    size_t n, room;
};

/* A begin, an end, or a state of a thread. */
struct step {
    uint64_t time, key; /* key: track or tid */
    size_t order;
    unsigned type, cpu, state;
    bool is_state;
};

struct reading {
    struct perfetto_facts *facts;
    struct numbers known[IN_MAX]; /* known[f].list[iid] != 0: the entry is interned */
    struct numbers tracks;
    struct step *step;
    size_t steps_n, steps_room;
};

static void set_number(struct numbers *numbers, uint64_t at, uint64_t value)
{
    assert_true(at < 50000000);
    if (at >= numbers->room) {
        size_t room = (size_t)at * 2 + 64;
        numbers->list = realloc(numbers->list, room * sizeof *numbers->list);
        assert_non_null(numbers->list);
        memset(numbers->list + numbers->room, 0, (room - numbers->room) * sizeof *numbers->list);
        numbers->room = room;
    }
    numbers->list[at] = value;
}

static uint64_t get_number(const struct numbers *numbers, uint64_t at)
{
    return at < numbers->room ? numbers->list[at] : 0;
}

static uint64_t value_of(const struct protobuf_item *message, uint32_t field)
{
    struct protobuf_item item;
    return protobuf_find(message->bytes, message->n, (const uint32_t[]){field, 0}, &item)
               ? item.value
               : 0;
}

static void use_id(struct reading *reading, unsigned dictionary, uint64_t iid)
{
    reading->facts->unknown_ids += iid && !get_number(&reading->known[dictionary], iid);
}

/* --- Interned data --- */

static void read_entry(struct reading *reading, const struct protobuf_item *entry)
{
    struct protobuf_item item;
    const uint8_t *at = entry->bytes, *end = at + entry->n;
    if (entry->field < IN_MAX)
        set_number(&reading->known[entry->field], value_of(entry, 1), 1);
    if (entry->field == IN_FRAMES) {
        reading->facts->nameless_frames += value_of(entry, 2) == 0;
        use_id(reading, IN_FUNCTIONS, value_of(entry, 2));
        use_id(reading, IN_MAPPINGS, value_of(entry, 3));
    }
    if (entry->field == IN_MAPPINGS) {
        reading->facts->pathless_mappings += value_of(entry, 7) == 0;
        use_id(reading, IN_PATHS, value_of(entry, 7));
    }
    while (entry->field == IN_STACKS && protobuf_next(&at, end, &item))
        if (item.field == 2)
            use_id(reading, IN_FRAMES, item.value);
}

/* The entries of a packet may refer to each other in any order, so all are registered first. */
static void read_interned(struct reading *reading, const struct protobuf_item *interned)
{
    struct protobuf_item entry;
    for (unsigned pass = 0; pass < 2; pass++) {
        const uint8_t *at = interned->bytes, *end = at + interned->n;
        while (protobuf_next(&at, end, &entry))
            if (pass == 1)
                read_entry(reading, &entry);
            else if (entry.field < IN_MAX && entry.wire == 2)
                set_number(&reading->known[entry.field], value_of(&entry, 1), 1);
    }
}

static void clear_interned(struct reading *reading)
{
    for (unsigned i = 0; i < IN_MAX; i++)
        if (reading->known[i].list)
            memset(reading->known[i].list, 0, reading->known[i].room * sizeof(uint64_t));
}

/* --- Packets --- */

static void add_step(struct reading *reading, struct step step)
{
    if (reading->steps_n == reading->steps_room) {
        reading->steps_room = reading->steps_room * 2 + 256;
        reading->step = realloc(reading->step, reading->steps_room * sizeof *reading->step);
        assert_non_null(reading->step);
    }
    step.order = reading->steps_n;
    reading->step[reading->steps_n++] = step;
}

static void read_event(struct reading *reading, const struct protobuf_item *event, uint64_t time)
{
    const uint64_t track = value_of(event, EVENT_TRACK), stack = value_of(event, EVENT_STACK);
    const unsigned type = (unsigned)value_of(event, EVENT_TYPE);
    reading->facts->unknown_tracks += !get_number(&reading->tracks, track);
    reading->facts->stacks += stack != 0;
    use_id(reading, IN_STACKS, stack);
    if (type == TYPE_BEGIN || type == TYPE_END)
        add_step(reading, (struct step){.time = time, .key = track, .type = type});
}

static void read_packet(struct reading *reading, const struct protobuf_item *packet)
{
    struct protobuf_item item;
    const uint64_t time = value_of(packet, PACKET_TIME);
    if (value_of(packet, PACKET_FLAGS) & 1)
        clear_interned(reading);
    if (protobuf_find(packet->bytes, packet->n, (const uint32_t[]){PACKET_INTERNED, 0}, &item))
        read_interned(reading, &item);
    const uint8_t *at = packet->bytes, *end = at + packet->n;
    while (protobuf_next(&at, end, &item)) {
        if (item.field == PACKET_TRACK)
            set_number(&reading->tracks, value_of(&item, 1), 1);
        else if (item.field == PACKET_EVENT)
            read_event(reading, &item, time);
        else if (item.field == PACKET_TASK_STATE)
            add_step(reading, (struct step){.time = time,
                                            .key = value_of(&item, 3),
                                            .cpu = (unsigned)value_of(&item, 1),
                                            .state = (unsigned)value_of(&item, 4),
                                            .is_state = true});
        if (item.field == PACKET_SAMPLE) {
            reading->facts->samples++;
            use_id(reading, IN_STACKS, value_of(&item, SAMPLE_STACK));
        }
    }
}

/* --- Replay --- */

static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* A CPU and the thread that runs on it. */
struct cpu_run {
    unsigned cpu;
    uint64_t tid;
    bool is_used;
};

enum { CPUS_MAX = 512 };

static void replay_state(struct perfetto_facts *facts, struct cpu_run *cpu, const struct step *step)
{
    struct cpu_run *here = NULL;
    for (unsigned i = 0; i < CPUS_MAX; i++) {
        const bool is_running = cpu[i].is_used && cpu[i].tid == step->key;
        if (is_running && step->state == STATE_RUNNING)
            facts->repeated_runs++;
        if (is_running)
            cpu[i].is_used = false;
        if (cpu[i].is_used && cpu[i].cpu == step->cpu && step->state == STATE_RUNNING)
            facts->occupied_cpus++;
        here = !here && !cpu[i].is_used ? &cpu[i] : here;
    }
    if (step->state != STATE_RUNNING)
        return;
    assert_non_null(here);
    facts->runs++;
    *here = (struct cpu_run){.cpu = step->cpu, .tid = step->key, .is_used = true};
}

static void replay(struct reading *reading)
{
    struct perfetto_facts *facts = reading->facts;
    struct cpu_run *cpu = calloc(CPUS_MAX, sizeof *cpu);
    struct numbers open = {0};
    assert_non_null(cpu);
    if (reading->steps_n)
        qsort(reading->step, reading->steps_n, sizeof *reading->step, compare_steps);
    for (size_t i = 0; i < reading->steps_n; i++) {
        const struct step *step = &reading->step[i];
        const uint64_t depth = step->is_state ? 0 : get_number(&open, step->key);
        if (step->is_state) {
            replay_state(facts, cpu, step);
        } else if (step->type == TYPE_BEGIN) {
            facts->begins++;
            set_number(&open, step->key, depth + 1);
        } else {
            facts->ends++;
            facts->unmatched_ends += depth == 0;
            set_number(&open, step->key, depth - (depth > 0));
        }
    }
    for (size_t i = 0; i < open.room; i++)
        facts->open += open.list[i];
    free(open.list);
    free(cpu);
}

void perfetto_facts_read(const void *bytes, size_t n, struct perfetto_facts *facts)
{
    struct reading reading = {.facts = facts};
    struct protobuf_item packet;
    const uint8_t *at = bytes, *end = at + n;
    *facts = (struct perfetto_facts){0};
    for (; protobuf_next(&at, end, &packet); facts->packets++)
        read_packet(&reading, &packet);
    replay(&reading);
    for (unsigned i = 0; i < IN_MAX; i++)
        free(reading.known[i].list);
    free(reading.tracks.list);
    free(reading.step);
}
