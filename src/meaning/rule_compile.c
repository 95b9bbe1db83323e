/* Matches classes of events with rules, and resolves the fields. */
#include "meaning/rule_compile.h"

#include <string.h>

#include "base/hash.h"
#include "pipeline/glob.h"

static const char *const softirq_names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                            "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

/* Copies the next of the words separated by `|`. Returns false after the last. */
static bool read_next_word(const char **list, char word[RULE_NAME_MAX])
{
    const size_t n = *list ? (size_t)(strchrnul(*list, '|') - *list) : 0;
    if (n == 0 || n >= RULE_NAME_MAX)
        return false;
    memcpy(word, *list, n);
    word[n] = 0;
    *list += n;
    *list += **list == '|';
    return true;
}

/* Finds the text that the `*` of a pattern matches; the pattern matches the complete text. Returns
 * "" if the pattern has other special characters, and the text if it has none. */
static ttr_text get_part_before_star(const char *pattern, ttr_text text)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return text;
    const size_t before = (size_t)(star - pattern), after = strlen(star + 1);
    if (strpbrk(pattern, "[?\\") || strchr(star + 1, '*') || before + after > text.n)
        return (ttr_text){"", 0};
    return (ttr_text){text.p + before, text.n - before - after};
}

/* Returns false if a pattern begins with a letter that differs from the first one of the text: most
 * rules are for other events. */
static bool may_match(const char *pattern, ttr_text text)
{
    const char first = pattern[0];
    const bool is_letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    return !is_letter || (text.n > 0 && text.p[0] == first);
}

static bool list_matches(const char *list, ttr_text text, ttr_text *part)
{
    char word[RULE_NAME_MAX];
    while (read_next_word(&list, word))
        if (may_match(word, text) && glob_matches(word, text)) {
            *part = get_part_before_star(word, text);
            return true;
        }
    return false;
}

/* Name of an event without the system before its last colon. */
struct split_name {
    ttr_text system, name;
};

static struct split_name split_name(ttr_text system, ttr_text name)
{
    struct split_name split = {.name = name, .system = system};
    for (size_t i = split.name.n; i > 0; i--)
        if (split.name.p[i - 1] == ':') {
            split.system = (ttr_text){split.name.p, i - 1};
            split.name = (ttr_text){split.name.p + i, split.name.n - i};
            break;
        }
    return split;
}

enum wanted { WANTS_NUMBER, WANTS_TEXT, WANTS_ANY };

/* Returns true if an event has a top-level payload field of the wanted type. */
static bool event_has_field(const ttr *t, const ttr_event *event, const char *name,
                            enum wanted wanted)
{
    ttr_fields fields;
    ttr_field field;
    const size_t n = strlen(name);
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.depth || field.group != TTR_GROUP_PAYLOAD || field.name.n != n ||
            memcmp(field.name.p, name, n) != 0)
            continue;
        const uint8_t type = field.value.type;
        return (wanted != WANTS_NUMBER && type == TTR_TYPE_TEXT) ||
               (wanted != WANTS_TEXT &&
                (type == TTR_TYPE_UINT || type == TTR_TYPE_INT || type == TTR_TYPE_BOOL));
    }
    return false;
}

/* Returns the type that a rule needs of a field. */
static enum wanted get_wanted_type(const struct rule *rule, const char *name)
{
    if (rule->worlds & RULE_USER)
        return WANTS_ANY;
    return strstr(name, "comm") != NULL || strcmp(name, "name") == 0 ||
                   strcmp(name, "filename") == 0 || strcmp(name, "symbol") == 0
               ? WANTS_TEXT
               : WANTS_NUMBER;
}

/* Finds a field at a fixed position. Returns false if it has none, or another type. */
static bool locate_field(const struct schema *schema, ttr_text name, enum wanted wanted,
                         struct field_position *position)
{
    return schema->ops && schema->ops->locate && schema->ops->record &&
           schema->ops->locate(schema->ctx, TTR_GROUP_PAYLOAD, name, position) &&
           (wanted == WANTS_ANY || position->is_text == (wanted == WANTS_TEXT));
}

/* Resolves a field by its alternative names. Returns false if the event has none of them. */
static bool resolve_field(const ttr *t, const ttr_event *event, const struct rule *rule,
                          const char *names, struct rule_field *field)
{
    const struct schema *schema = context_schema(t, event->schema);
    const bool is_optional = *names == '?';
    const char *rest = names + is_optional;
    char word[RULE_NAME_MAX];
    for (const char *at = rest; read_next_word(&rest, word); at = rest) {
        const ttr_text name = {at, strlen(word)};
        const enum wanted wanted = get_wanted_type(rule, word);
        field->is_fixed = locate_field(schema, name, wanted, &field->position);
        if (field->is_fixed || event_has_field(t, event, word, wanted)) {
            field->name = name;
            field->is_second = at != names + is_optional;
            return true;
        }
    }
    *field = (struct rule_field){.name = {"", 0}};
    return is_optional;
}

static bool resolve_fields(const ttr *t, const ttr_event *event, struct compiled_rule *compiled)
{
    const struct rule *rule = compiled->rule;
    for (size_t i = 0; i < RULE_FIELDS_MAX; i++)
        if (rule->fields[i] && !resolve_field(t, event, rule, rule->fields[i], &compiled->field[i]))
            return false;
    return true;
}

/* Sets the name and the category of the spans. Returns false if memory runs out. */
static bool store_span_names(ttr *t, const ttr_event *event, ttr_text part,
                             struct compiled_rule *compiled)
{
    const struct rule *rule = compiled->rule;
    if (rule->category)
        compiled->category = ttr_text_add(t, rule->category, strlen(rule->category));
    if (!rule->name) {
        compiled->name = event->name;
    } else if (rule->name[0] == '*') {
        compiled->name = part.n ? ttr_text_add(t, part.p, part.n) : event->name;
    } else if (rule->name[0] == '=') {
        if (!resolve_field(t, event, rule, rule->name + 1, &compiled->name_field))
            compiled->name = event->name;
        return !rule->category || compiled->category;
    } else if (rule->name[0] != '#') {
        compiled->name = ttr_text_add(t, rule->name, strlen(rule->name));
    } else {
        return !rule->category || compiled->category;
    }
    return compiled->name && (!rule->category || compiled->category);
}

/* LTTng gives its events no system: a rule of LTTng alone does not match an event of a system,
 * which another tracer made before the trace was converted to CTF. */
static bool rule_matches(const struct rule *rule, unsigned worlds, const struct split_name *split,
                         ttr_text *part)
{
    ttr_text system;
    return rule->worlds & worlds && (rule->worlds != RULE_LTTNG || !split->system.n) &&
           list_matches(rule->events, split->name, part) &&
           (!rule->system || !split->system.n ||
            list_matches(rule->system, split->system, &system));
}

bool rule_may_match(unsigned worlds, ttr_text name)
{
    const struct split_name split = split_name((ttr_text){"", 0}, name);
    const struct rule_table *table;
    ttr_text part;
    for (size_t i = 0; (table = rule_get_table(i)) != NULL; i++)
        for (size_t k = 0; k < table->n; k++)
            if (rule_matches(&table->rule[k], worlds, &split, &part))
                return true;
    return false;
}

/* Compiles a rule for the class of an event. Returns false if it does not apply. */
static bool compile_rule_part(ttr *t, const ttr_event *event, const struct rule *rule,
                              ttr_text part, struct compiled_rule *compiled, bool *is_out_of_memory)
{
    *compiled = (struct compiled_rule){.rule = rule};
    if (rule->action == RULE_NAMED_COUNTER) /* finds its fields in each event */
        return true;
    if (!resolve_fields(t, event, compiled))
        return false;
    if (rule->worlds & RULE_USER && rule->name) /* the pattern has a `*` */
        compiled->part = hash_bytes(part.p, part.n);
    *is_out_of_memory |= !store_span_names(t, event, part, compiled);
    return true;
}

bool rule_compile_pair(ttr *t, struct user_rule *rules, size_t n, const ttr_event *event,
                       struct compiled_rule *compiled, bool *is_out_of_memory)
{
    const ttr_text name = ttr_text_get(t, event->name);
    for (size_t i = 0; i < n; i++) {
        ttr_text part;
        if (!list_matches(rules[i].rule.events, name, &part) ||
            !compile_rule_part(t, event, &rules[i].rule, part, compiled, is_out_of_memory))
            continue;
        rules[i].is_used = true;
        return true;
    }
    return false;
}

bool rule_compile(ttr *t, unsigned worlds, const ttr_event *event, struct compiled_rule *compiled,
                  bool *is_out_of_memory)
{
    const struct split_name split =
        split_name(ttr_text_get(t, event->provider), ttr_text_get(t, event->name));
    const struct rule_table *table;
    for (size_t i = 0; (table = rule_get_table(i)) != NULL; i++)
        for (size_t k = 0; k < table->n; k++) {
            const struct rule *rule = &table->rule[k];
            ttr_text part;
            if (!rule_matches(rule, worlds, &split, &part))
                continue;
            if (compile_rule_part(t, event, rule, part, compiled, is_out_of_memory))
                return true;
        }
    return false;
}

bool rule_locate_record(struct rule_record *record)
{
    const struct schema *schema = context_schema(record->t, record->event->schema);
    record->bytes = schema->ops && schema->ops->record
                        ? schema->ops->record(schema->ctx, record->event, &record->n)
                        : NULL;
    return record->bytes != NULL;
}

/* Finds a top-level payload field by name. */
static bool find_payload_field(const struct rule_record *record, ttr_text name, ttr_field *field)
{
    ttr_fields fields;
    ttr_fields_begin(record->t, record->event, &fields);
    while (ttr_fields_next(&fields, field))
        if (!field->depth && field->group == TTR_GROUP_PAYLOAD && field->name.n == name.n &&
            memcmp(field->name.p, name.p, name.n) == 0)
            return true;
    return false;
}

bool rule_find_number(struct rule_record *record, const struct rule_field *field, uint64_t *value)
{
    ttr_field found;
    if (!field->name.n)
        return false;
    if (!find_payload_field(record, field->name, &found) ||
        (found.value.type != TTR_TYPE_UINT && found.value.type != TTR_TYPE_INT &&
         found.value.type != TTR_TYPE_BOOL))
        return false;
    *value = found.value.v.u;
    return true;
}

bool rule_read_text(struct rule_record *record, const struct rule_field *field, ttr_text *text)
{
    ttr_field found;
    if (!field->name.n)
        return false;
    if (field->is_fixed && (record->bytes || rule_locate_record(record))) {
        if (!field->position.is_text || field->position.bytes > record->n ||
            field->position.offset > record->n - field->position.bytes)
            return false;
        *text =
            (ttr_text){(const char *)record->bytes + field->position.offset, field->position.bytes};
    } else if (find_payload_field(record, field->name, &found) &&
               found.value.type == TTR_TYPE_TEXT) {
        *text = found.value.text;
    } else {
        return false;
    }
    const char *zero = text->n ? memchr(text->p, 0, text->n) : NULL;
    text->n = zero ? (size_t)(zero - text->p) : text->n;
    return true;
}

const char *rule_softirq_name(uint64_t vector)
{
    return vector < sizeof softirq_names / sizeof *softirq_names ? softirq_names[vector] : NULL;
}
