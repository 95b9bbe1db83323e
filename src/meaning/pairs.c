/* Rules of the caller: "START,END[,FIELD...]" makes spans of the events with these names.
 *
 * Without a field, spans nest on their thread; with `cpu`, on their CPU. With other fields they are
 * async spans, which the values of the fields identify, together with the thread if `thread` is
 * among them. */
#include <string.h>

#include "base/status.h"
#include "meaning/meaning.h"

#define FIRST_GROUP 1024u /* groups of the tables are below */

/* Copies the text up to the next comma, and moves after it. Returns NULL if memory runs out. */
static const char *read_next_part(struct meaning *meaning, const char **at)
{
    const size_t n = strcspn(*at, ",");
    const char *part = arena_copy(&meaning->arena, *at, n);
    *at += n;
    *at += **at == ',';
    return part;
}

static ttr_status report_pair_error(ttr_error *error, const char *text, const char *why)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET,
                "\"%s\" is not a pair: %s; expected START,END or START,END,FIELD", text, why);
}

/* Reads the fields. Returns their number, or SIZE_MAX if there are too many or memory runs out. */
static size_t parse_key_fields(struct meaning *meaning, const char *at, struct rule *rule)
{
    size_t n = 0;
    bool is_per_thread = false;
    while (*at) {
        const char *field = read_next_part(meaning, &at);
        if (!field || n == RULE_FIELDS_MAX)
            return SIZE_MAX;
        if (strcmp(field, "cpu") == 0)
            rule->lane = RULE_LANE_CPU;
        else if (strcmp(field, "thread") == 0)
            is_per_thread = true;
        else
            rule->fields[n++] = field;
    }
    if (n && is_per_thread)
        rule->lane = RULE_LANE_KEYED;
    return n;
}

/* Adds the two rules of one pair. */
static ttr_status add_pair_rules(struct meaning *meaning, const char *text, ttr_error *error)
{
    const char *at = text;
    struct rule begin = {.worlds = RULE_USER, .group = (uint16_t)(FIRST_GROUP + meaning->pairs_n)};
    begin.events = read_next_part(meaning, &at);
    struct rule end = begin;
    end.events = read_next_part(meaning, &at);
    if (!begin.events || !end.events)
        return fail_memory(error);
    if (!*begin.events || !*end.events)
        return report_pair_error(error, text, "a name is missing");
    if (strlen(begin.events) >= RULE_NAME_MAX || strlen(end.events) >= RULE_NAME_MAX)
        return report_pair_error(error, text, "a name is longer than 127 bytes");
    const size_t fields = parse_key_fields(meaning, at, &begin);
    if (fields == SIZE_MAX)
        return report_pair_error(error, text, "it has more than 5 fields");
    begin.action = fields ? RULE_ASYNC_BEGIN : RULE_BEGIN;
    begin.name = strchr(begin.events, '*') ? "*" : NULL;
    end = (struct rule){.events = end.events,
                        .worlds = RULE_USER,
                        .action = fields ? RULE_ASYNC_END : RULE_END,
                        .lane = begin.lane,
                        .group = begin.group,
                        .name = begin.name};
    memcpy(end.fields, begin.fields, sizeof end.fields);
    if (!alloc_reserve(&meaning->base.t->counted, (void **)&meaning->pair, &meaning->pairs_capacity,
                       meaning->pairs_n + 2, sizeof *meaning->pair))
        return fail_memory(error);
    meaning->pair[meaning->pairs_n++] = (struct user_rule){.rule = begin};
    meaning->pair[meaning->pairs_n++] = (struct user_rule){.rule = end};
    return TTR_OK;
}

ttr_status meaning_add_pairs(struct meaning *meaning, const char *const *pairs, ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (; pairs && *pairs && status == TTR_OK; pairs++)
        status = add_pair_rules(meaning, *pairs, error);
    return status;
}

void meaning_report_unused_pairs(struct meaning *meaning)
{
    for (size_t i = 0; i < meaning->pairs_n; i++)
        if (!meaning->pair[i].is_used)
            stage_notes_add(&meaning->notes, TTR_SEVERITY_ODD, 0, "meaning.no-event",
                            "no event is named \"%.80s\" and has the fields of the pair",
                            meaning->pair[i].rule.events);
    meaning->pairs_n = 0;
}
