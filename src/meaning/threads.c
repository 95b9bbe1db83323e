/* Actions of scheduling events and of events that name threads. */
#include <string.h>

#include "meaning/meaning.h"

/* Number of the fields of each action, in rule.fields. */
enum { SWITCH_OUT, SWITCH_IN, SWITCH_STATE, SWITCH_IN_NAME, SWITCH_OUT_NAME };
enum { WAKE_TID, WAKE_CPU, WAKE_NAME };
enum { FORK_CHILD, FORK_NAME, FORK_PARENT, FORK_PROCESS };
enum { EXEC_TID, EXEC_OLD_TID, EXEC_FILE };
enum { SNAPSHOT_TID, SNAPSHOT_PID, SNAPSHOT_NAME, SNAPSHOT_LEVEL, SNAPSHOT_PARENT };

/* An action in progress. */
struct act {
    struct meaning *meaning;
    struct machine *machine;
    const struct compiled_rule *compiled;
    ttr_event *event;
    struct rule_record *record;
};

static bool read_number(const struct act *act, unsigned field, uint64_t *value)
{
    return rule_read_number(act->record, &act->compiled->field[field], value);
}

/* Returns the text of a field; "" if the event lacks it. */
static ttr_text read_text(const struct act *act, unsigned field)
{
    ttr_text text;
    return rule_read_text(act->record, &act->compiled->field[field], &text) ? text
                                                                            : (ttr_text){"", 0};
}

/* Returns true if the record must start a new batch, since it renames a thread. */
static bool must_end_batch(const struct act *act, ttr_id thread, ttr_text name, uint8_t rank)
{
    return act->meaning->at > act->meaning->first &&
           meaning_would_rename(act->meaning, thread, name, rank);
}

static ttr_id get_known_thread(const struct act *act, uint64_t tid)
{
    return meaning_find_thread(act->meaning, act->machine, tid & UINT32_MAX);
}

static ttr_id get_thread_of_tid(const struct act *act, uint64_t tid)
{
    struct cpu_state *cpu = meaning_get_cpu(act->meaning, act->machine, act->event);
    return meaning_find_or_add_thread(act->meaning, act->machine, tid & UINT32_MAX, cpu,
                                      act->event->cpu);
}

/* Ends the spans of a thread that leaves its CPU for ever. */
static bool end_thread(const struct act *act, ttr_id thread)
{
    if (!meaning_end_exit_call(act->meaning, act->event, thread))
        return false;
    struct task *task = meaning_get_task(act->meaning, thread);
    task->is_dead = true;
    return meaning_end_lane_spans(act->meaning, act->event, thread, 0, &task->lane);
}

static enum action_result convert_switch(const struct act *act)
{
    uint64_t out_tid, in_tid, state;
    ttr_event *event = act->event;
    struct cpu_state *cpu = meaning_get_cpu(act->meaning, act->machine, event);
    if (!cpu || !read_number(act, SWITCH_OUT, &out_tid) || !read_number(act, SWITCH_IN, &in_tid) ||
        !read_number(act, SWITCH_STATE, &state))
        return ACTION_DONE;
    struct meaning *meaning = act->meaning;
    const ttr_id in =
        meaning_find_or_add_thread(meaning, act->machine, in_tid & UINT32_MAX, cpu, event->cpu);
    const ttr_text in_name = in_tid ? read_text(act, SWITCH_IN_NAME) : (ttr_text){"", 0};
    const bool is_named = in && meaning_is_named(&meaning->task[in], in_name, NAME_EVENT);
    if (in && !is_named && must_end_batch(act, in, in_name, NAME_EVENT))
        return ACTION_CUT;
    const bool continues = cpu->running && meaning->task[cpu->running].tid == out_tid;
    const ttr_id out = continues
                           ? cpu->running
                           : meaning_find_or_add_thread(meaning, act->machine, out_tid & UINT32_MAX,
                                                        cpu, event->cpu);
    if (!in || !out || (!is_named && !meaning_name_thread(act->meaning, in, in_name, NAME_EVENT)) ||
        (!continues && out_tid && act->meaning->task[out].rank == NAME_NONE &&
         !meaning_name_thread(act->meaning, out, read_text(act, SWITCH_OUT_NAME), NAME_EVENT)))
        return ACTION_OUT_OF_MEMORY;
    cpu->running = in;
    act->machine->has_switches = true;
    event->kind = TTR_KIND_SWITCH;
    event->link = out;
    event->thread = in;
    event->tag = meaning_task_state(act->machine->release, state);
    if (event->tag == TTR_THREAD_DEAD && !end_thread(act, out))
        return ACTION_OUT_OF_MEMORY;
    return ACTION_DONE;
}

/* Changes an event to the wake-up of a thread. */
static void make_wake_event(ttr_event *event, ttr_id thread, uint32_t target)
{
    if (event->cpu > UINT16_MAX)
        return;
    event->kind = TTR_KIND_WAKE;
    event->link = event->thread;
    event->thread = thread;
    event->tag = (uint16_t)event->cpu;
    event->cpu = target;
}

static enum action_result convert_wake(const struct act *act)
{
    uint64_t tid, target;
    const uint8_t action = act->compiled->rule->action;
    if (action == RULE_WAKE)
        act->machine->has_waking = true;
    if ((action == RULE_WAKE_LATE && act->machine->has_waking) ||
        !(act->event->flags & TTR_EVENT_HAS_CPU) || !read_number(act, WAKE_TID, &tid) ||
        !read_number(act, WAKE_CPU, &target) || tid == 0)
        return ACTION_DONE;
    const ttr_id thread = get_thread_of_tid(act, tid);
    if (!thread)
        return ACTION_OUT_OF_MEMORY;
    const ttr_text name = read_text(act, WAKE_NAME);
    if (must_end_batch(act, thread, name, NAME_EVENT))
        return ACTION_CUT;
    if (!meaning_name_thread(act->meaning, thread, name, NAME_EVENT))
        return ACTION_OUT_OF_MEMORY;
    make_wake_event(act->event, thread, (uint32_t)target);
    return ACTION_DONE;
}

/* Returns the new thread of a fork. LTTng records its process, ftrace and perf do not. */
static ttr_id add_child_thread(const struct act *act, uint64_t tid)
{
    uint64_t pid;
    const bool has_process =
        !act->compiled->field[FORK_CHILD].is_second && read_number(act, FORK_PROCESS, &pid);
    return has_process
               ? meaning_add_thread(act->meaning, act->machine, pid & UINT32_MAX, tid & UINT32_MAX)
               : get_thread_of_tid(act, tid); /* a dead one is replaced */
}

static enum action_result convert_fork(const struct act *act)
{
    uint64_t tid, parent_tid = 0;
    if (!read_number(act, FORK_CHILD, &tid) || tid == 0)
        return ACTION_DONE;
    const ttr_id child = add_child_thread(act, tid);
    const ttr_text name = read_text(act, FORK_NAME);
    if (child && must_end_batch(act, child, name, NAME_EVENT))
        return ACTION_CUT;
    if (!child || !meaning_name_thread(act->meaning, child, name, NAME_EVENT))
        return ACTION_OUT_OF_MEMORY;
    if (read_number(act, FORK_PARENT, &parent_tid))
        context_set_parent(act->meaning->base.t, child, get_known_thread(act, parent_tid));
    /* without a record of its wake-up, the child is runnable from the fork on */
    if (!act->machine->has_wake_new && act->event->flags & TTR_EVENT_HAS_CPU)
        make_wake_event(act->event, child, act->event->cpu);
    return ACTION_DONE;
}

/* The new program takes over the tid of its process; the name is that of the file. */
static enum action_result convert_exec(const struct act *act)
{
    uint64_t tid, old_tid;
    struct meaning *meaning = act->meaning;
    if (!read_number(act, EXEC_TID, &tid) || tid == 0)
        return ACTION_DONE;
    const ttr_id thread = get_thread_of_tid(act, tid);
    ttr_text path = read_text(act, EXEC_FILE);
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/') {
            path = (ttr_text){path.p + i, path.n - i};
            break;
        }
    path.n = path.n < COMM_MAX ? path.n : COMM_MAX - 1;
    if (thread && must_end_batch(act, thread, path, NAME_EVENT))
        return ACTION_CUT;
    if (!thread || !meaning_name_thread(meaning, thread, path, NAME_EVENT))
        return ACTION_OUT_OF_MEMORY;
    if (!read_number(act, EXEC_OLD_TID, &old_tid) || old_tid == tid || old_tid == 0)
        return ACTION_DONE;
    const ttr_id old = get_known_thread(act, old_tid);
    if (!old)
        return ACTION_DONE;
    meaning->task[thread].lane = meaning->task[old].lane;
    meaning->task[old].lane.top = 0;
    meaning->task[old].is_dead = true;
    struct cpu_state *cpu = meaning_get_cpu(meaning, act->machine, act->event);
    if (cpu && cpu->running == old)
        cpu->running = thread;
    return ACTION_DONE;
}

static enum action_result convert_rename(const struct act *act)
{
    uint64_t tid;
    if (!read_number(act, 0, &tid) || tid == 0)
        return ACTION_DONE;
    const ttr_id thread = get_thread_of_tid(act, tid);
    const ttr_text name = read_text(act, 1);
    if (thread && must_end_batch(act, thread, name, NAME_EVENT))
        return ACTION_CUT;
    return thread && meaning_name_thread(act->meaning, thread, name, NAME_EVENT)
               ? ACTION_DONE
               : ACTION_OUT_OF_MEMORY;
}

/* The thread still runs until its last switch, but its call does not return. */
static enum action_result convert_exit(const struct act *act)
{
    uint64_t tid;
    if (!read_number(act, 0, &tid) || tid == 0)
        return ACTION_DONE;
    const ttr_id thread = get_thread_of_tid(act, tid);
    return thread && meaning_end_exit_call(act->meaning, act->event, thread) ? ACTION_DONE
                                                                             : ACTION_OUT_OF_MEMORY;
}

/* The tid may be reused from now on. */
static enum action_result convert_process_free(const struct act *act)
{
    uint64_t tid;
    if (!read_number(act, 0, &tid) || tid == 0)
        return ACTION_DONE;
    const ttr_id thread = get_known_thread(act, tid);
    if (thread)
        act->meaning->task[thread].is_dead = true;
    return ACTION_DONE;
}

/* A thread that existed when tracing started. Threads in namespaces have several records: the one
 * of the lowest level has the numbers of the host. */
static enum action_result convert_snapshot(const struct act *act)
{
    uint64_t tid, pid, level = 0, parent;
    ttr *t = act->meaning->base.t;
    if (!read_number(act, SNAPSHOT_TID, &tid) || !read_number(act, SNAPSHOT_PID, &pid) || tid == 0)
        return ACTION_DONE;
    (void)read_number(act, SNAPSHOT_LEVEL, &level);
    if (level != 0)
        return ACTION_DONE;
    const ttr_id thread =
        context_thread(t, act->machine->owner, pid & UINT32_MAX, tid & UINT32_MAX);
    if (!thread ||
        !meaning_name_thread(act->meaning, thread, read_text(act, SNAPSHOT_NAME), NAME_SNAPSHOT))
        return ACTION_OUT_OF_MEMORY;
    if (read_number(act, SNAPSHOT_PARENT, &parent))
        context_set_parent(t, thread, get_known_thread(act, parent));
    return ACTION_DONE;
}

enum action_result meaning_apply_thread_rule(struct meaning *meaning, struct machine *machine,
                                             const struct compiled_rule *compiled, ttr_event *event)
{
    static enum action_result (*const actions[])(const struct act *act) = {
        [RULE_SWITCH] = convert_switch,     [RULE_WAKE] = convert_wake,
        [RULE_WAKE_LATE] = convert_wake,    [RULE_WAKE_NEW] = convert_wake,
        [RULE_FORK] = convert_fork,         [RULE_EXEC] = convert_exec,
        [RULE_RENAME] = convert_rename,     [RULE_EXIT] = convert_exit,
        [RULE_FREE] = convert_process_free, [RULE_SNAPSHOT] = convert_snapshot,
    };
    struct rule_record record = {.t = meaning->base.t, .event = event};
    const struct act act = {meaning, machine, compiled, event, &record};
    return actions[compiled->rule->action](&act);
}

bool meaning_apply_gap(struct meaning *meaning, struct machine *machine, const ttr_event *event)
{
    for (size_t i = 0; i < machine->cpus_n; i++) {
        struct cpu_state *cpu = &machine->cpu[i];
        if (event->flags & TTR_EVENT_HAS_CPU && event->cpu != i)
            continue;
        cpu->running = 0;
        if (!meaning_end_lane_spans(meaning, event, 0, cpu->track, &cpu->lane))
            return false;
    }
    return true;
}
