/* Machines, their CPUs and threads.
 *
 * All sources of one trace share a machine, and so do the traces of kernels with the same host name
 * and boot. The threads of a machine are in the tables of the source that was seen first. */
#include <string.h>

#include "meaning/meaning.h"

#include <stdio.h>

static bool find_source_attribute(const ttr *t, uint16_t source, const char *name, ttr_value *value)
{
    ttr_attribute attribute;
    const size_t n = strlen(name);
    for (size_t i = 0; ttr_source_attribute(t, source, i, &attribute); i++)
        if (attribute.name.n == n && memcmp(attribute.name.p, name, n) == 0) {
            *value = attribute.value;
            return true;
        }
    return false;
}

/* Returns the text of the first attribute that the source has of two; "" if it has neither. */
static ttr_text get_attribute_text(const ttr *t, uint16_t source, const char *name,
                                   const char *other)
{
    ttr_value value;
    if ((find_source_attribute(t, source, name, &value) ||
         find_source_attribute(t, source, other, &value)) &&
        value.type == TTR_TYPE_TEXT)
        return value.text;
    return (ttr_text){"", 0};
}

static bool text_equals(ttr_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

static bool text_contains(ttr_text text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++)
        if (memcmp(text.p + i, word, n) == 0)
            return true;
    return false;
}

uint8_t meaning_find_rule_tables(const ttr *t, uint16_t source)
{
    if (source >= t->sources_n)
        return 0;
    const char *format = t->sources[source].format ? t->sources[source].format : "";
    if (strcmp(format, "perf") == 0 || strcmp(format, "trace_dat") == 0 ||
        strcmp(format, "trace_pipe_raw") == 0)
        return RULE_TRACEPOINT;
    if (strcmp(format, "nettrace") == 0)
        return RULE_DOTNET;
    if (strcmp(format, "ctf") != 0)
        return 0;
    const ttr_text domain = get_attribute_text(t, source, "domain", "");
    const ttr_text tracer = get_attribute_text(t, source, "tracer_name", "");
    if (text_equals(tracer, "perf"))
        return RULE_TRACEPOINT;
    if (text_equals(domain, "ust"))
        return RULE_UST;
    return text_equals(domain, "kernel") || domain.n == 0 ? RULE_LTTNG : 0;
}

/* Sets the properties of the machine that the trace records. */
static void describe_machine(const ttr *t, uint16_t source, uint8_t worlds, struct machine *machine)
{
    ttr_text release = get_attribute_text(t, source, "kernel_release", "release");
    if (release.n == 0)
        release = get_attribute_text(t, source, "os_release", "");
    const ttr_text uname = get_attribute_text(t, source, "uname", "");
    for (size_t i = 0, words = 0; release.n == 0 && i < uname.n; i++) {
        words += uname.p[i] == ' ';
        if (words == 2) /* system, host, release, machine */
            release = (ttr_text){uname.p + i, uname.n - i};
    }
    const ttr_text arch = get_attribute_text(t, source, "arch", "machine");
    machine->owner = source;
    machine->release = meaning_parse_release(release);
    machine->is_x86_64 = text_equals(arch, "x86_64") || text_contains(uname, "x86_64");
    machine->has_wake_new = worlds & RULE_TRACEPOINT;
}

static uint16_t get_source_trace(const ttr *t, uint16_t source)
{
    const uint16_t shares = t->sources[source].shares;
    return shares ? shares : source;
}

/* Returns the uuid of a trace's clock, which is the boot id in LTTng; NULL if it has none. */
static const uint8_t *get_boot_id(struct meaning *meaning, uint16_t source)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(meaning->in, i, &report); i++)
        if ((report.source == source || report.trace == source) && report.clocks_n &&
            report.clocks[0].has_uuid)
            return report.clocks[0].uuid;
    return NULL;
}

/* Returns true if two traces are of the same boot of the same host. */
static bool is_same_machine(struct meaning *meaning, uint16_t a, uint16_t b)
{
    const ttr *t = meaning->base.t;
    const ttr_text x = get_attribute_text(t, a, "hostname", ""),
                   y = get_attribute_text(t, b, "hostname", "");
    if (x.n == 0 || x.n != y.n || memcmp(x.p, y.p, x.n) != 0)
        return false;
    const uint8_t *boot = get_boot_id(meaning, a), *other = get_boot_id(meaning, b);
    return boot && other && memcmp(boot, other, 16) == 0;
}

static struct machine *find_machine(struct meaning *meaning, uint16_t source, uint8_t worlds)
{
    ttr *t = meaning->base.t;
    const uint16_t trace = get_source_trace(t, source);
    for (size_t i = 0; i < meaning->machines_n; i++)
        if (meaning->machine[i]->owner == trace ||
            (worlds & RULE_KERNEL && is_same_machine(meaning, meaning->machine[i]->owner, trace)))
            return meaning->machine[i];
    struct machine *machine = alloc_zero(&t->counted, 1, sizeof *machine);
    if (!machine ||
        !alloc_reserve(&t->counted, (void **)&meaning->machine, &meaning->machines_capacity,
                       meaning->machines_n + 1, sizeof *meaning->machine)) {
        alloc_free(&t->counted, machine, 1, sizeof *machine);
        return NULL;
    }
    describe_machine(t, trace, worlds, machine);
    return meaning->machine[meaning->machines_n++] = machine;
}

struct source_state *meaning_get_source(struct meaning *meaning, uint16_t source)
{
    ttr *t = meaning->base.t;
    const size_t before = meaning->sources_n;
    if (source >= before) {
        if (!alloc_reserve(&t->counted, (void **)&meaning->source, &meaning->sources_n,
                           (size_t)source + 1, sizeof *meaning->source))
            return NULL;
        memset(meaning->source + before, 0,
               (meaning->sources_n - before) * sizeof *meaning->source);
    }
    struct source_state *state = &meaning->source[source];
    if (state->is_known)
        return state;
    state->worlds = meaning_find_rule_tables(t, source) | (meaning->pairs_n ? RULE_USER : 0);
    if (state->worlds) {
        state->has_cpu_field = state->worlds & RULE_TRACEPOINT && t->sources[source].format &&
                               strcmp(t->sources[source].format, "ctf") == 0;
        state->machine = find_machine(meaning, source, state->worlds);
        if (!state->machine)
            return NULL;
    }
    state->is_known = true;
    return state;
}

struct cpu_state *meaning_add_cpu(struct meaning *meaning, struct machine *machine,
                                  const ttr_event *event)
{
    const size_t before = machine->cpus_n;
    if (!alloc_reserve(&meaning->base.t->counted, (void **)&machine->cpu, &machine->cpus_n,
                       (size_t)event->cpu + 1, sizeof *machine->cpu))
        return NULL;
    memset(machine->cpu + before, 0, (machine->cpus_n - before) * sizeof *machine->cpu);
    return &machine->cpu[event->cpu];
}

void meaning_set_cpu(struct meaning *meaning, ttr_event *event)
{
    static const ttr_text name = {"perf_cpu", 8};
    const struct schema *schema = context_schema(meaning->base.t, event->schema);
    struct cpu_position *at = &meaning->cpu_position[event->schema % MEANING_CPU_POSITIONS];
    size_t n = 0;
    uint64_t value;
    if (event->flags & TTR_EVENT_HAS_CPU || !schema->ops || !schema->ops->locate)
        return;
    if (at->schema != event->schema) {
        at->schema = event->schema;
        at->is_fixed = schema->ops->locate(schema->ctx, TTR_GROUP_COMMON, name, &at->position) ||
                       schema->ops->locate(schema->ctx, TTR_GROUP_PAYLOAD, name, &at->position);
    }
    const uint8_t *record = at->is_fixed ? schema->ops->record(schema->ctx, event, &n) : NULL;
    if (record && field_position_load(&at->position, record, n, &value) && value <= UINT32_MAX) {
        event->cpu = (uint32_t)value;
        event->flags |= TTR_EVENT_HAS_CPU;
    }
}

struct task *meaning_add_task(struct meaning *meaning, ttr_id thread)
{
    ttr *t = meaning->base.t;
    const size_t before = meaning->tasks_n;
    if (thread >= before) {
        if (!alloc_reserve(&t->counted, (void **)&meaning->task, &meaning->tasks_n,
                           (size_t)thread + 1, sizeof *meaning->task))
            return NULL;
        memset(meaning->task + before, 0, (meaning->tasks_n - before) * sizeof *meaning->task);
    }
    struct task *task = &meaning->task[thread];
    if (!task->is_known && thread < t->threads_n) {
        task->is_known = true;
        task->tid = t->threads[thread].tid;
    }
    return task;
}

/* Returns the idle thread of a CPU, "swapper/3". */
static ttr_id get_idle_thread(struct meaning *meaning, const struct machine *machine,
                              struct cpu_state *cpu, uint32_t number)
{
    ttr *t = meaning->base.t;
    char name[32];
    if (cpu->idle)
        return cpu->idle;
    const int n = snprintf(name, sizeof name, "swapper/%u", number);
    const ttr_id text = ttr_text_add(t, name, (size_t)n);
    cpu->idle = text ? context_add_idle_thread(t, machine->owner) : 0;
    if (cpu->idle) {
        context_name_thread(t, cpu->idle, text);
        struct task *task = meaning_get_task(meaning, cpu->idle);
        if (!task)
            return 0;
        task->rank = NAME_CONTAINER;
    }
    return cpu->idle;
}

/* Stores a thread in the cache. Returns its id; 0 if memory runs out. */
static ttr_id remember_thread(struct meaning *meaning, struct machine *machine, uint64_t tid,
                              ttr_id id)
{
    const size_t slot = tid % MEANING_RECENT;
    id = id && meaning_get_task(meaning, id) ? id : 0;
    machine->recent[slot].tid = tid;
    machine->recent[slot].id = id;
    return id;
}

/* Ends the use of a tid by a thread. */
static void release_thread(struct meaning *meaning, struct machine *machine, ttr_id thread)
{
    const size_t slot = meaning->task[thread].tid % MEANING_RECENT;
    context_release_tid(meaning->base.t, machine->owner, thread);
    if (machine->recent[slot].id == thread)
        machine->recent[slot].id = 0;
}

ttr_id meaning_add_thread(struct meaning *meaning, struct machine *machine, uint64_t pid,
                          uint64_t tid)
{
    const ttr_id known = meaning_find_thread(meaning, machine, tid);
    if (known && meaning->task[known].is_dead)
        release_thread(meaning, machine, known);
    return remember_thread(meaning, machine, tid,
                           context_thread(meaning->base.t, machine->owner, pid, tid));
}

ttr_id meaning_look_up_thread(struct meaning *meaning, struct machine *machine, uint64_t tid,
                              struct cpu_state *cpu, uint32_t number)
{
    if (tid == 0)
        return cpu ? get_idle_thread(meaning, machine, cpu, number) : 0;
    ttr_id id = context_thread_by_tid(meaning->base.t, machine->owner, tid);
    const struct task *task = id ? meaning_get_task(meaning, id) : NULL;
    if (task && task->is_dead) {
        release_thread(meaning, machine, id);
        id = context_thread_by_tid(meaning->base.t, machine->owner, tid);
    }
    return remember_thread(meaning, machine, tid, id);
}

ttr_id meaning_find_thread(struct meaning *meaning, const struct machine *machine, uint64_t tid)
{
    const size_t slot = tid % MEANING_RECENT;
    if (machine->recent[slot].tid == tid && machine->recent[slot].id)
        return machine->recent[slot].id;
    const uint32_t *id =
        pair_map_get(&meaning->base.t->sources[machine->owner].threads_by_tid, tid, 0);
    return id && meaning_get_task(meaning, *id) ? *id : 0;
}

/* Returns true if the name of the thread came from its container before the first event. */
static bool is_named_by_container(const struct meaning *meaning, struct task *task, ttr_id thread)
{
    ttr_thread about;
    if (task->rank == NAME_NONE && ttr_thread_get(meaning->base.t, thread, &about) &&
        about.thread_name)
        task->rank = NAME_CONTAINER;
    return task->rank == NAME_CONTAINER;
}

static bool task_has_name(const struct task *task, ttr_text name)
{
    const size_t n = name.n < COMM_MAX ? name.n : COMM_MAX;
    return memcmp(task->comm, name.p, n) == 0 && (n == COMM_MAX || task->comm[n] == 0);
}

bool meaning_would_rename(struct meaning *meaning, ttr_id thread, ttr_text name, uint8_t rank)
{
    struct task *task = meaning_get_task(meaning, thread);
    return task && name.n && task->rank && task->rank <= rank && !task_has_name(task, name);
}

bool meaning_name_thread(struct meaning *meaning, ttr_id thread, ttr_text name, uint8_t rank)
{
    ttr *t = meaning->base.t;
    struct task *task = meaning_get_task(meaning, thread);
    if (!task)
        return false;
    if (name.n == 0 || task->rank > rank || (task->rank && task_has_name(task, name)) ||
        is_named_by_container(meaning, task, thread)) {
        if (task->rank && task->rank < rank)
            task->rank = rank;
        return true;
    }
    const ttr_id text = ttr_text_add(t, name.p, name.n);
    task->rank = rank;
    memset(task->comm, 0, sizeof task->comm);
    memcpy(task->comm, name.p, name.n < COMM_MAX ? name.n : COMM_MAX);
    context_name_thread(t, thread, text);
    const struct thread *about = &t->threads[thread];
    if (about->pid_known && t->processes[about->process].pid == about->tid)
        context_name_process_of_thread(t, thread, text);
    return text != 0;
}
