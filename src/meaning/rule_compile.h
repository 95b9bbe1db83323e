/* Compiled rules: a rule applied to one class of events.
 *
 * Compilation finds the first rule that matches the class, and the position of each field. A field
 * that is at the same place in all events is then one load; others are found by name. */
#ifndef TRACETTA_MEANING_RULE_COMPILE_H
#define TRACETTA_MEANING_RULE_COMPILE_H

#include "meaning/rules.h"
#include "model/context.h"

struct rule_field {
    ttr_text name;  /* n is 0 if an optional field is absent */
    bool is_fixed;  /* `position` is valid */
    bool is_second; /* the second of two alternative names was found */
    struct field_position position;
};

struct compiled_rule {
    const struct rule *rule;
    ttr_id name;     /* name of the span or counter; 0 = by event, see name_field */
    ttr_id category; /* 0 = unchanged */
    ttr_id series; /* COUNTER rules: schema that hides the fields that are not series (series.c) */
    struct rule_field field[RULE_FIELDS_MAX];
    uint64_t part; /* user rules: hash of the text that `*` matches; equal for begin and end */
    struct rule_field name_field; /* rule.name "=FIELD" */
};

/* The record of an event, for reading several of its fields. It is located at the first read. */
struct rule_record {
    const ttr *t;
    const ttr_event *event;
    const uint8_t *bytes; /* NULL = not located yet, or the schema has no fixed positions */
    size_t n;
};

/* Finds the rule for the class of an event in these worlds and compiles it. Returns false if no
 * rule applies. `is_out_of_memory` is set if a name could not be interned. */
bool rule_compile(ttr *t, unsigned worlds, const ttr_event *event, struct compiled_rule *compiled,
                  bool *is_out_of_memory);

/* Finds the rule of the user for the class of an event, and compiles it. Returns false if none of
 * them applies. */
bool rule_compile_pair(ttr *t, struct user_rule *rules, size_t n, const ttr_event *event,
                       struct compiled_rule *compiled, bool *is_out_of_memory);

/* Returns true if a rule may apply to events of these worlds with a name. */
bool rule_may_match(unsigned worlds, ttr_text name);

/* Locates the record of the event. Returns false if it has no fixed positions. */
bool rule_locate_record(struct rule_record *record);

/* Finds a number by the name of its field. Returns false if the event lacks it. */
bool rule_find_number(struct rule_record *record, const struct rule_field *field, uint64_t *value);

/* Reads a number. Returns false if the event lacks the field. */
static inline bool rule_read_number(struct rule_record *record, const struct rule_field *field,
                                    uint64_t *value)
{
    return field->is_fixed && !field->position.is_text &&
                   (record->bytes || rule_locate_record(record))
               ? field_position_load(&field->position, record->bytes, record->n, value)
               : rule_find_number(record, field, value);
}

/* Reads a text up to its first zero. Returns false if the event lacks the field. */
bool rule_read_text(struct rule_record *record, const struct rule_field *field, ttr_text *text);

/* Returns the kernel's name of a softirq, "NET_RX"; NULL for unknown numbers. */
const char *rule_softirq_name(uint64_t vector);

#endif
