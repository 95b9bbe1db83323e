/* Flows: arrows from an event that causes work to the work, which may be on another thread or in
 * another process.
 *
 * Both ends carry the same number. The begins of the last FLOWS_MAX flows are known; an end of an
 * older one stays an instant. A flow may have several ends: each subscriber receives a message. */
#include <string.h>

#include "base/hash.h"
#include "meaning/meaning.h"

/* Fields of RULE_FLOW_BEGIN, RULE_FLOW_END */
enum { FLOW_NUMBER, FLOW_IS_DONE };

/* Returns the link of a flow: its number, which may be unique only within a process. */
static uint64_t get_flow_link(const struct meaning *meaning, const struct rule *rule,
                              const ttr_event *event, uint64_t number)
{
    /* work is a span of a thread, so its flow is one of the process */
    return rule->lane == RULE_LANE_PROCESS || rule->action == RULE_BEGIN_OF_FLOW
               ? hash_pair(number, meaning_get_process(meaning->base.t, event))
               : number;
}

/* Remembers the begin of a flow, and forgets the oldest one if there are too many. Returns false if
 * memory runs out. */
static bool remember_flow(struct meaning *meaning, uint16_t group, uint64_t link)
{
    if (!meaning->flow) {
        meaning->flow = alloc_zero(&meaning->base.t->counted, FLOWS_MAX, sizeof *meaning->flow);
        if (!meaning->flow)
            return false;
    }
    struct flow *oldest = &meaning->flow[meaning->flows_n++ % FLOWS_MAX];
    if (oldest->group)
        (void)pair_map_remove(&meaning->flow_of, oldest->group, oldest->link);
    *oldest = (struct flow){.group = group, .link = link};
    return pair_map_put(&meaning->flow_of, group, link, 1);
}

static void set_flow_event(const struct compiled_rule *compiled, ttr_event *event, uint8_t kind,
                           uint64_t link)
{
    event->kind = kind;
    event->link = link;
    event->name = compiled->name;
    event->category = compiled->category ? compiled->category : event->category;
}

enum action_result meaning_begin_flow(struct meaning *meaning, const struct compiled_rule *compiled,
                                      ttr_event *event)
{
    uint64_t number;
    struct rule_record record = {.t = meaning->base.t, .event = event};
    const uint16_t group = compiled->rule->group;
    if (!rule_read_number(&record, &compiled->field[FLOW_NUMBER], &number) || !number)
        return ACTION_DONE;
    const uint64_t link = get_flow_link(meaning, compiled->rule, event, number);
    if (pair_map_get(&meaning->flow_of, group, link))
        return ACTION_DONE; /* another record of the same cause */
    if (!remember_flow(meaning, group, link))
        return ACTION_OUT_OF_MEMORY;
    set_flow_event(compiled, event, TTR_KIND_FLOW_BEGIN, link);
    return ACTION_DONE;
}

enum action_result meaning_end_flow(struct meaning *meaning, const struct compiled_rule *compiled,
                                    ttr_event *event)
{
    uint64_t number, is_done = 1;
    struct rule_record record = {.t = meaning->base.t, .event = event};
    if (!rule_read_number(&record, &compiled->field[FLOW_NUMBER], &number))
        return ACTION_DONE;
    (void)rule_read_number(&record, &compiled->field[FLOW_IS_DONE], &is_done);
    const uint64_t link = get_flow_link(meaning, compiled->rule, event, number);
    if (is_done && pair_map_get(&meaning->flow_of, compiled->rule->group, link))
        set_flow_event(compiled, event, TTR_KIND_FLOW_END, link);
    return ACTION_DONE;
}

bool meaning_end_flow_before(struct meaning *meaning, const struct compiled_rule *compiled,
                             const ttr_event *cause)
{
    uint64_t number;
    struct rule_record record = {.t = meaning->base.t, .event = cause};
    const uint16_t group = compiled->rule->group;
    if (!rule_read_number(&record, &compiled->field[FLOW_NUMBER], &number))
        return true;
    const uint64_t link = get_flow_link(meaning, compiled->rule, cause, number);
    if (!pair_map_remove(&meaning->flow_of, group, link))
        return true;
    const struct span flow = {.name = compiled->name, .category = compiled->category};
    if (!meaning_append_end(meaning, cause, cause->thread, 0, &flow, true))
        return false;
    meaning->pending_ends[meaning->pending_ends_n - 1].kind = TTR_KIND_FLOW_END;
    meaning->pending_ends[meaning->pending_ends_n - 1].link = link;
    return true;
}
