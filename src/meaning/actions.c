/* Actions of rules that begin or end a span, or set a counter. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "meaning/meaning.h"

#define NAMES_MAX 65536u /* maximum number of addresses with names */
#define ASYNC_MAX 65536u /* open async spans; further begins and their ends stay instants */

/* An action in progress. */
struct act {
    struct meaning *meaning;
    struct machine *machine;
    const struct compiled_rule *compiled;
    ttr_event *event;
    struct rule_record *record;
    ttr_id thread, track;   /* thread or track of the lane; the other is 0 */
    struct span_lane *lane; /* NULL if the lane is unknown */
};

/* Appends an uninitialised event to the ends that are returned before the current event. Returns
 * NULL if memory runs out. */
static ttr_event *append_pending_end(struct meaning *meaning)
{
    if (!alloc_reserve(&meaning->base.t->counted, (void **)&meaning->pending_ends,
                       &meaning->pending_ends_capacity, meaning->pending_ends_n + 1,
                       sizeof *meaning->pending_ends))
        return NULL;
    return &meaning->pending_ends[meaning->pending_ends_n++];
}

bool meaning_append_end(struct meaning *meaning, const ttr_event *cause, ttr_id thread,
                        ttr_id track, const struct span *span, bool is_complete)
{
    ttr_event *end = append_pending_end(meaning);
    if (!end)
        return false;
    *end = (ttr_event){.kind = TTR_KIND_END,
                       .time = cause->time,
                       .ticks = cause->ticks,
                       .name = span->name,
                       .category = span->category,
                       .provider = cause->provider,
                       .thread = thread,
                       .track = track ? track : cause->track,
                       .cpu = cause->cpu,
                       .source = cause->source,
                       .offset = cause->offset,
                       .flags = (uint8_t)(TTR_EVENT_ADDED | (cause->flags & TTR_EVENT_HAS_CPU) |
                                          (is_complete ? 0 : TTR_EVENT_PARTIAL))};
    return true;
}

bool meaning_end_innermost_spans(struct meaning *meaning, const ttr_event *cause, ttr_id thread,
                                 ttr_id track, struct span_lane *lane, uint32_t n)
{
    for (; n > 0 && lane->top; n--) {
        const struct span *span = spans_pop(&meaning->spans, lane);
        stage_notes_add(&meaning->notes, TTR_SEVERITY_REMARK, cause->offset, "meaning.lost-end",
                        "a span has no end: the trace lost it");
        if (!meaning_append_end(meaning, cause, thread, track, span, false))
            return false;
    }
    return true;
}

bool meaning_end_lane_spans(struct meaning *meaning, const ttr_event *cause, ttr_id thread,
                            ttr_id track, struct span_lane *lane)
{
    return meaning_end_innermost_spans(meaning, cause, thread, track, lane, UINT32_MAX);
}

/* Returns the lane of the track of an event; NULL if memory runs out. */
static struct span_lane *get_track_lane(struct meaning *meaning, ttr_id track)
{
    const size_t before = meaning->tracks_n;
    if (track < before)
        return &meaning->track[track];
    if (!alloc_reserve(&meaning->base.t->counted, (void **)&meaning->track, &meaning->tracks_n,
                       (size_t)track + 1, sizeof *meaning->track))
        return NULL;
    memset(meaning->track + before, 0, (meaning->tracks_n - before) * sizeof *meaning->track);
    return &meaning->track[track];
}

/* Finds the lane of an event. Returns false if memory runs out. */
static bool find_span_lane(struct act *act)
{
    struct meaning *meaning = act->meaning;
    if (act->compiled->rule->worlds & RULE_USER && !act->thread &&
        act->compiled->rule->lane == RULE_LANE_THREAD) {
        act->track = act->event->track;
        act->lane = get_track_lane(meaning, act->track);
        return act->lane != NULL;
    }
    if (act->compiled->rule->lane == RULE_LANE_THREAD) {
        struct task *task = act->thread ? meaning_get_task(meaning, act->thread) : NULL;
        act->lane = task ? &task->lane : NULL;
        return task || !act->thread;
    }
    struct cpu_state *cpu = meaning_get_cpu(meaning, act->machine, act->event);
    act->thread = 0;
    if (!cpu)
        return true;
    if (!cpu->track) {
        char name[32];
        const int n = snprintf(name, sizeof name, "CPU %u", act->event->cpu);
        const ttr_id text = ttr_text_add(meaning->base.t, name, (size_t)n);
        cpu->track =
            text ? context_add_track(meaning->base.t, &(ttr_track){.number = act->event->cpu,
                                                                   .name = text,
                                                                   .source = act->machine->owner})
                 : 0;
    }
    act->track = cpu->track;
    act->lane = cpu->track ? &cpu->lane : NULL;
    return cpu->track != 0;
}

/* Stores the name that a record gives an address. The names are as many as the program has. */
static enum action_result store_recorded_name(struct act *act)
{
    uint64_t address;
    ttr_text text;
    ttr *t = act->meaning->base.t;
    if (!rule_read_number(act->record, &act->compiled->field[0], &address) ||
        !rule_read_text(act->record, &act->compiled->field[1], &text) || !text.n ||
        act->meaning->name_of.used >= NAMES_MAX)
        return ACTION_DONE;
    const ttr_id name = ttr_text_add(t, text.p, text.n);
    return name && pair_map_put(&act->meaning->name_of, meaning_get_process(t, act->event), address,
                                name)
               ? ACTION_DONE
               : ACTION_OUT_OF_MEMORY;
}

/* Returns the name of the span of act->event: the event's name field, or the name that is known for
 * a number, `key` if the event has no such field. Returns 0 if memory runs out. */
static ttr_id get_span_name(const struct act *act, uint64_t key)
{
    ttr *t = act->meaning->base.t;
    const struct compiled_rule *compiled = act->compiled;
    char text[32];
    ttr_text name;
    uint64_t number;
    const char *softirq = compiled->rule->name[0] == '#' ? rule_softirq_name(key) : NULL;
    if (softirq)
        return ttr_text_add(t, softirq, strlen(softirq));
    if (rule_read_text(act->record, &compiled->name_field, &name) && name.n)
        return ttr_text_add(t, name.p, name.n);
    if (!rule_read_number(act->record, &compiled->name_field, &number))
        number = key;
    const uint32_t *known =
        pair_map_get(&act->meaning->name_of, meaning_get_process(t, act->event), number);
    if (known)
        return *known;
    const int n = snprintf(text, sizeof text, compiled->rule->name[0] == '#' ? "%llu" : "0x%llx",
                           (unsigned long long)number);
    return ttr_text_add(t, text, (size_t)n);
}

static ttr_id choose_span_name(const struct act *act, uint64_t key)
{
    return act->compiled->name ? act->compiled->name : get_span_name(act, key);
}

/* Makes the event the begin or end of a span. */
static void set_span_event(const struct act *act, uint8_t kind, ttr_id name, ttr_id category)
{
    ttr_event *event = act->event;
    event->kind = kind;
    event->name = name;
    event->category = category ? category : event->category;
    if (act->track) {
        event->track = act->track;
        event->thread = 0;
    }
}

/* Reads a field that identifies a span; a text becomes its hash. */
static bool read_pair_key_part(const struct act *act, const struct rule_field *field,
                               uint64_t *value)
{
    ttr_text text;
    if (rule_read_number(act->record, field, value))
        return true;
    if (!rule_read_text(act->record, field, &text))
        return false;
    *value = hash_bytes(text.p, text.n);
    return true;
}

/* Returns the key of a span: a hash of its fields. A class without the fields has any key. */
static uint64_t read_pair_key(const struct act *act)
{
    uint64_t key = act->compiled->part, value;
    bool is_found = false, has_fields = false;
    for (size_t i = 0; i < RULE_FIELDS_MAX && act->compiled->rule->fields[i]; i++) {
        has_fields = true;
        if (!read_pair_key_part(act, &act->compiled->field[i], &value))
            continue;
        key = key ? hash_pair(key, value) : value;
        is_found = true;
    }
    return has_fields && !is_found ? SPANS_ANY_KEY : key;
}

static enum action_result begin_span(struct act *act)
{
    const struct rule *rule = act->compiled->rule;
    const uint64_t key = read_pair_key(act);
    if (!act->lane)
        return ACTION_DONE;
    const uint32_t lost = rule->lane == RULE_LANE_CPU
                              ? spans_depth_of(&act->meaning->spans, *act->lane, rule->group, key)
                              : 0; /* functions recurse; an interrupt does not interrupt itself */
    struct span span = {.key = key,
                        .name = choose_span_name(act, key),
                        .category = act->compiled->category,
                        .group = rule->group};
    if (!span.name || !meaning_end_innermost_spans(act->meaning, act->event, act->thread,
                                                   act->track, act->lane, lost))
        return ACTION_OUT_OF_MEMORY;
    if (spans_push(&act->meaning->spans, act->lane, &span))
        set_span_event(act, TTR_KIND_BEGIN, span.name, span.category);
    return ACTION_DONE;
}

static enum action_result end_span(struct act *act)
{
    const struct rule *rule = act->compiled->rule;
    if (!act->lane)
        return ACTION_DONE;
    const uint32_t depth =
        spans_depth_of(&act->meaning->spans, *act->lane, rule->group, read_pair_key(act));
    if (depth == 0) {
        stage_notes_add(&act->meaning->notes, TTR_SEVERITY_REMARK, act->event->offset,
                        "meaning.lost-begin",
                        "an end has no begin: it was before the trace, or was lost");
        return ACTION_DONE;
    }
    if (!meaning_end_innermost_spans(act->meaning, act->event, act->thread, act->track, act->lane,
                                     depth - 1))
        return ACTION_OUT_OF_MEMORY;
    const struct span *span = spans_pop(&act->meaning->spans, act->lane);
    set_span_event(act, TTR_KIND_END, span->name, span->category);
    return ACTION_DONE;
}

/* --- Async spans and counters --- */

static enum action_result convert_to_async_event(struct act *act)
{
    struct meaning *meaning = act->meaning;
    const struct rule *rule = act->compiled->rule;
    const bool is_begin = rule->action == RULE_ASYNC_BEGIN;
    uint64_t link = read_pair_key(act);
    if (rule->lane == RULE_LANE_KEYED)
        link = hash_pair(link, act->thread);
    else if (rule->lane == RULE_LANE_PROCESS)
        link = hash_pair(link, meaning_get_process(meaning->base.t, act->event));
    const uint32_t *open = pair_map_get(&meaning->async, rule->group, link);
    if (is_begin == (open != NULL) || (is_begin && meaning->async.used >= ASYNC_MAX))
        return ACTION_DONE;
    /* name of the begin, which the end repeats */
    const ttr_id name = open ? *open : choose_span_name(act, link);
    if (!name || (is_begin && !pair_map_put(&meaning->async, rule->group, link, name)))
        return ACTION_OUT_OF_MEMORY;
    if (!is_begin)
        (void)pair_map_remove(&meaning->async, rule->group, link);
    act->event->link = link;
    set_span_event(act, is_begin ? TTR_KIND_ASYNC_BEGIN : TTR_KIND_ASYNC_END, name,
                   act->compiled->category);
    return ACTION_DONE;
}

static enum action_result convert_to_counter(struct act *act)
{
    uint64_t link = 0;
    (void)rule_read_number(act->record, &act->compiled->field[1], &link);
    act->event->schema = act->compiled->series;
    act->event->link = link;
    set_span_event(act, TTR_KIND_COUNTER, act->compiled->name, act->compiled->category);
    return ACTION_DONE;
}

/* Finds a field at any depth by alternative names. Returns false if the event has none of them. */
static bool find_event_field(const struct act *act, const char *names, ttr_field *field)
{
    ttr_fields fields;
    ttr_fields_begin(act->meaning->base.t, act->event, &fields);
    while (ttr_fields_next(&fields, field))
        if (series_is_named(names, field->name))
            return true;
    return false;
}

/* Counters of one name differ by their tags. */
static enum action_result convert_to_named_counter(struct act *act)
{
    ttr_field name, value, tags;
    const struct rule *rule = act->compiled->rule;
    if (!find_event_field(act, rule->fields[0], &name) || name.value.type != TTR_TYPE_TEXT ||
        !name.value.text.n || !find_event_field(act, rule->fields[1], &value))
        return ACTION_DONE;
    const ttr_id text = ttr_text_add(act->meaning->base.t, name.value.text.p, name.value.text.n);
    if (!text)
        return ACTION_OUT_OF_MEMORY;
    const bool has_tags = rule->fields[2] && find_event_field(act, rule->fields[2] + 1, &tags) &&
                          tags.value.type == TTR_TYPE_TEXT && tags.value.text.n;
    act->event->link = has_tags ? hash_bytes(tags.value.text.p, tags.value.text.n) : 0;
    act->event->schema = act->compiled->series;
    set_span_event(act, TTR_KIND_COUNTER, text, 0);
    return ACTION_DONE;
}

enum action_result meaning_apply_span(struct meaning *meaning, struct machine *machine,
                                      const struct compiled_rule *compiled, ttr_event *event)
{
    static enum action_result (*const actions[])(struct act * act) = {
        [RULE_NAME] = store_recorded_name,
        [RULE_BEGIN] = begin_span,
        [RULE_END] = end_span,
        [RULE_ASYNC_BEGIN] = convert_to_async_event,
        [RULE_ASYNC_END] = convert_to_async_event,
        [RULE_COUNTER] = convert_to_counter,
        [RULE_NAMED_COUNTER] = convert_to_named_counter,
        [RULE_BEGIN_OF_FLOW] = begin_span,
    };
    struct rule_record record = {.t = meaning->base.t, .event = event};
    struct act act = {.meaning = meaning,
                      .machine = machine,
                      .compiled = compiled,
                      .event = event,
                      .record = &record,
                      .thread = event->thread};
    const uint8_t action = compiled->rule->action;
    const bool has_lane =
        action == RULE_BEGIN || action == RULE_END || action == RULE_BEGIN_OF_FLOW;
    if (has_lane && !find_span_lane(&act))
        return ACTION_OUT_OF_MEMORY;
    return actions[action](&act);
}
