/* Priorities of the two threads of a context switch, from the fields that formats have for them:
 *
 *   outgoing_priority, incoming_priority   FXT, legacy records
 *   outgoing_weight, incoming_weight       FXT
 *   prev_prio, next_prio                   Linux: 0 to 99 real time, 100 to 139 nice -20 to 19
 *
 * LTTng stores the kernel's priority minus 100. Its records have the field prev_tid, where those of
 * ftrace and perf have prev_pid. */
#include <string.h>

#include <tracetta/fields.h>

#define LINUX_RT_PRIO_MAX 100 /* MAX_RT_PRIO of Linux */

static bool field_is_named(const ttr_field *field, const char *name)
{
    return field->name.n == strlen(name) && memcmp(field->name.p, name, field->name.n) == 0;
}

/* Returns 1 for a priority of the outgoing thread, 2 for one of the incoming thread, else 0. */
static unsigned get_priority_role(const ttr_field *field)
{
    static const char *const names[][2] = {{"outgoing_priority", "incoming_priority"},
                                           {"outgoing_weight", "incoming_weight"},
                                           {"prev_prio", "next_prio"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned k = 0; k < 2; k++)
            if (field_is_named(field, names[i][k]))
                return k + 1;
    return 0;
}

bool ttr_switch_priorities(const ttr *t, const ttr_event *event, int64_t *outgoing,
                           int64_t *incoming)
{
    ttr_fields fields;
    ttr_field field;
    unsigned found = 0;
    int64_t offset = 0;
    int64_t values[2] = {0, 0};
    ttr_fields_begin(t, event, &fields);
    while (event->kind == TTR_KIND_SWITCH && ttr_fields_next(&fields, &field)) {
        if (field.depth > 0 ||
            (field.value.type != TTR_TYPE_INT && field.value.type != TTR_TYPE_UINT))
            continue;
        if (field_is_named(&field, "prev_tid"))
            offset = LINUX_RT_PRIO_MAX;
        const unsigned role = get_priority_role(&field);
        if (role)
            values[role - 1] = field.value.v.s;
        found |= role;
    }
    *outgoing = found == 3 ? values[0] + offset : 0;
    *incoming = found == 3 ? values[1] + offset : 0;
    return found == 3;
}
