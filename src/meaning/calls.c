/* System calls: spans of the running thread, from the entry of the call to its exit.
 *
 * Two families of tracepoints record each call: one names it, the other has its number. A trace
 * may have both; the first record of an entry opens the span, and only its family closes it. */
#include <stdio.h>
#include <string.h>

#include "meaning/meaning.h"

enum family { FAMILY_NAMED, FAMILY_NUMBER };

static inline enum family get_call_family(const struct compiled_rule *compiled)
{
    return compiled->field[0].name.n && !compiled->rule->name ? FAMILY_NUMBER : FAMILY_NAMED;
}

bool meaning_add_call_names(struct meaning *meaning)
{
    static const char *const names[] = {[CALL_EXIT] = "exit",
                                        [CALL_EXIT_GROUP] = "exit_group",
                                        [CALL_EXECVE] = "execve",
                                        [CALL_EXECVEAT] = "execveat",
                                        [CALL_RT_SIGRETURN] = "rt_sigreturn",
                                        [CALL_SKIPPED] = "syscall -1"};
    for (size_t i = 0; i < CALL_NAMES_N; i++) {
        meaning->known_call[i] = ttr_text_add(meaning->base.t, names[i], strlen(names[i]));
        if (!meaning->known_call[i])
            return false;
    }
    return true;
}

/* Returns the name of a call that is recorded by its number; 0 if memory runs out. */
static ttr_id name_of_number(struct meaning *meaning, const struct machine *machine,
                             const struct compiled_rule *compiled, const ttr_event *event)
{
    uint64_t number;
    char text[32];
    ttr *t = meaning->base.t;
    struct rule_record record = {.t = t, .event = event};
    if (!rule_read_number(&record, &compiled->field[0], &number))
        return compiled->name;
    const char *name = machine->is_x86_64 ? meaning_syscall_name(number) : NULL;
    if (name)
        return ttr_text_add(t, name, strlen(name));
    const int n = snprintf(text, sizeof text, "syscall %lld", (long long)number);
    return ttr_text_add(t, text, (size_t)n);
}

/* Returns the name of a call; 0 if memory runs out. */
static inline ttr_id get_call_name(struct meaning *meaning, const struct machine *machine,
                                   const struct compiled_rule *compiled, const ttr_event *event)
{
    return get_call_family(compiled) == FAMILY_NAMED
               ? compiled->name
               : name_of_number(meaning, machine, compiled, event);
}

/* Makes the event the begin or end of a call. */
static inline void mark_call(ttr_event *event, uint8_t kind, ttr_id name, ttr_id category)
{
    event->kind = kind;
    event->name = name;
    event->category = category ? category : event->category;
}

enum action_result meaning_begin_call(struct meaning *meaning, const struct machine *machine,
                                      const struct compiled_rule *compiled, ttr_event *event)
{
    struct task *task = event->thread ? meaning_get_task(meaning, event->thread) : NULL;
    if (!task)
        return event->thread ? ACTION_OUT_OF_MEMORY : ACTION_DONE;
    const struct span *top = spans_top(&meaning->spans, task->lane);
    const enum family family = get_call_family(compiled);
    const uint16_t group = compiled->rule->group;
    if (top && top->group == group && top->family != family)
        return ACTION_DONE; /* the second record of the same call */
    const struct span span = {.name = get_call_name(meaning, machine, compiled, event),
                              .category = compiled->category,
                              .group = group,
                              .family = (uint8_t)family};
    if (!span.name)
        return ACTION_OUT_OF_MEMORY;
    if (span.name == meaning->known_call[CALL_RT_SIGRETURN]) /* this call does not return */
        return ACTION_DONE;
    const uint32_t lost = spans_depth_of(&meaning->spans, task->lane, group, SPANS_ANY_KEY);
    if (lost && !meaning_end_innermost_spans(meaning, event, event->thread, 0, &task->lane, lost))
        return ACTION_OUT_OF_MEMORY;
    if (spans_push(&meaning->spans, &task->lane, &span))
        mark_call(event, TTR_KIND_BEGIN, span.name, span.category);
    return ACTION_DONE;
}

/* Returns true if a record ends a call of another name: the end of the open one was lost. A program
 * that is replaced may return under another name, and the kernel records number -1 for a call that
 * was skipped. */
static bool is_end_of_other_call(const struct meaning *meaning, const ttr_event *event,
                                 const struct span *open, ttr_id name)
{
    const ttr_id *known = meaning->known_call;
    return name != open->name && name != event->name && open->name != known[CALL_EXECVE] &&
           open->name != known[CALL_EXECVEAT] && name != known[CALL_SKIPPED];
}

/* Ends the span of a system call at its exit. An exit without an open span stays an instant: the
 * exit of `clone` in the child, a second record of the same exit, and the exit of a call that was
 * entered before the trace began. */
enum action_result meaning_end_call(struct meaning *meaning, const struct machine *machine,
                                    const struct compiled_rule *compiled, ttr_event *event)
{
    struct task *task = event->thread ? meaning_get_task(meaning, event->thread) : NULL;
    if (!task)
        return event->thread ? ACTION_OUT_OF_MEMORY : ACTION_DONE;
    const uint32_t depth =
        spans_depth_of(&meaning->spans, task->lane, compiled->rule->group, SPANS_ANY_KEY);
    if (depth == 0)
        return ACTION_DONE;
    const ttr_id name = get_call_name(meaning, machine, compiled, event);
    if (!name || (depth > 1 && !meaning_end_innermost_spans(meaning, event, event->thread, 0,
                                                            &task->lane, depth - 1)))
        return ACTION_OUT_OF_MEMORY;
    const struct span *open = spans_top(&meaning->spans, task->lane);
    if (open->family != get_call_family(compiled))
        return ACTION_DONE;
    if (is_end_of_other_call(meaning, event, open, name))
        return meaning_end_innermost_spans(meaning, event, event->thread, 0, &task->lane, 1)
                   ? ACTION_DONE
                   : ACTION_OUT_OF_MEMORY;
    open = spans_pop(&meaning->spans, &task->lane);
    mark_call(event, TTR_KIND_END, open->name, open->category);
    return ACTION_DONE;
}

bool meaning_end_exit_call(struct meaning *meaning, const ttr_event *cause, ttr_id thread)
{
    struct task *task = meaning_get_task(meaning, thread);
    if (!task)
        return false;
    const struct span *top = spans_top(&meaning->spans, task->lane);
    if (!top || (top->name != meaning->known_call[CALL_EXIT] &&
                 top->name != meaning->known_call[CALL_EXIT_GROUP]))
        return true;
    return meaning_append_end(meaning, cause, thread, 0, spans_pop(&meaning->spans, &task->lane),
                              true);
}
