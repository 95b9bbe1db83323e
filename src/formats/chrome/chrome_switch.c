/* Context switches: each CPU is a thread of the pseudo process "CPUs", and a running thread is a
 * slice on it. A switch ends one slice and starts the next. So the writer needs no state of the
 * previous switch, and invents no times for the first and last one.
 *
 * Switches may come in any order, because viewers sort the lines by time. Only the earliest switch
 * of a CPU ends no slice. If an earlier one arrives, the switch that was the earliest until then
 * ends a slice, too: the writer adds that end. */
#include "formats/chrome/chrome.h"

/* Number of a pseudo CPU, for switch events that contain no CPU. */
#define UNKNOWN_CPU 2147483647u

struct cpu_ids {
    char text[CHROME_IDS_MAX];
    size_t n;
};

static struct chrome_line make_event_line(char phase, int64_t time_ns, const struct cpu_ids *ids)
{
    return (struct chrome_line){.phase = phase,
                                .time_ns = time_ns,
                                .ids = ids->text,
                                .ids_n = ids->n,
                                .category = {"", 0},
                                .name = {"", 0},
                                .extra = ""};
}

static void write_metadata(struct ttr_writer *out, int64_t time_ns, const struct cpu_ids *ids,
                           const char *what)
{
    struct chrome_line line = make_event_line('M', time_ns, ids);
    line.name = (ttr_text){what, strlen(what)};
    chrome_begin_line(out, &line);
}

/* Writes the name of a CPU at its first switch. At the first switch of the trace, also writes the
 * name of the process "CPUs". */
static void write_cpu_name(struct ttr_writer *out, int64_t time_ns, const struct cpu_ids *ids,
                           uint32_t cpu)
{
    struct chrome *ctx = out->ctx;
    char name[NUMBER_MAX + 8];
    if (ctx->cpus_n == 0) {
        write_metadata(out, time_ns, ids, "process_name");
        chrome_add_text(ctx, "name", "CPUs");
        chrome_end_line(out);
    }
    char *end = cpu == UNKNOWN_CPU ? emit_constant(name, "CPU ?")
                                   : emit_u64(emit_constant(name, "CPU "), cpu);
    *end = '\0';
    write_metadata(out, time_ns, ids, "thread_name");
    chrome_add_text(ctx, "name", name);
    chrome_end_line(out);
}

/* Returns the state of a CPU. Adds the CPU and writes its name on first use. Returns NULL if memory
 * runs out. */
static struct chrome_cpu *find_cpu(struct ttr_writer *out, int64_t time_ns,
                                   const struct cpu_ids *ids, uint32_t cpu)
{
    struct chrome *ctx = out->ctx;
    const uint32_t *known = pair_map_get(&ctx->cpu_index, cpu, 0);
    if (known)
        return &ctx->cpus[*known];
    write_cpu_name(out, time_ns, ids, cpu);
    if (!alloc_reserve(&out->t->counted, (void **)&ctx->cpus, &ctx->cpus_capacity, ctx->cpus_n + 1,
                       sizeof *ctx->cpus) ||
        !pair_map_put(&ctx->cpu_index, cpu, 0, (uint32_t)ctx->cpus_n)) {
        out->buffer.failed = true;
        return NULL;
    }
    ctx->cpus[ctx->cpus_n] = (struct chrome_cpu){.rank = {.time_ns = INT64_MIN}};
    return &ctx->cpus[ctx->cpus_n++];
}

static void add_thread_ids(struct ttr_writer *out, uint64_t id, const char *pid_name,
                           const char *tid_name)
{
    struct chrome *ctx = out->ctx;
    ttr_thread thread;
    if (id > UINT32_MAX || !ttr_thread_get(out->t, (ttr_id)id, &thread))
        return;
    if (thread.pid_known)
        chrome_add_number(ctx, pid_name, thread.pid);
    if (thread.tid_known)
        chrome_add_number(ctx, tid_name, thread.tid);
}

static void add_switch_args(struct ttr_writer *out, const ttr_event *event)
{
    static const char *const states[] = {"new",   "running", "suspended",       "blocked",
                                         "dying", "dead",    "uninterruptible", "preempted"};
    struct chrome *ctx = out->ctx;
    add_thread_ids(out, event->thread, "pid", "tid");
    add_thread_ids(out, event->link, "from_pid", "from_tid");
    if (event->tag < sizeof states / sizeof *states)
        chrome_add_text(ctx, "from_state", states[event->tag]);
    else
        chrome_add_number(ctx, "from_state", event->tag);
    if (event->name)
        chrome_add_string(ctx, "event", out->t, event->name);
    field_json_append_fields(&ctx->fields, event);
    /* Omit the CPU from the attributes, since it is the thread of the slice. */
    if (!event->level && !(event->flags & ~(TTR_EVENT_RAW | TTR_EVENT_HAS_CPU)))
        return;
    ttr_event rest = *event;
    rest.flags &= (uint8_t)~TTR_EVENT_HAS_CPU;
    chrome_add_attributes(ctx, &rest);
}

/* Returns the name of a slice: the name of the running thread, or its tid if it has no name. */
static ttr_text make_slice_name(struct ttr_writer *out, const ttr_event *event,
                                char number[NUMBER_MAX])
{
    ttr_thread thread;
    if (!ttr_thread_get(out->t, event->thread, &thread))
        return (ttr_text){"idle", 4};
    if (thread.thread_name)
        return chrome_get_json_string(out, thread.thread_name, "", event->offset);
    return (ttr_text){number, number_format_u64(number, thread.tid)};
}

/* Writes the end of a slice, unless the switch is the first one of its CPU. */
static void write_slice_end(struct ttr_writer *out, struct chrome_cpu *cpu, int64_t time_ns,
                            const struct cpu_ids *ids)
{
    const bool is_earliest = !cpu->has_switch || time_ns < cpu->first_ns;
    if (cpu->has_switch) {
        struct chrome_line line = make_event_line('E', is_earliest ? cpu->first_ns : time_ns, ids);
        /* the earliest switch until now has left rank 0 unused */
        line.rank = is_earliest ? 0 : chrome_count_line_rank(&cpu->rank, time_ns);
        chrome_begin_line(out, &line);
        chrome_end_line(out);
    }
    if (is_earliest)
        cpu->first_ns = time_ns;
    cpu->has_switch = true;
}

void chrome_write_switch(struct ttr_writer *out, const ttr_event *event)
{
    const struct chrome *ctx = out->ctx;
    bool has_cpu = (event->flags & TTR_EVENT_HAS_CPU) && event->cpu < UNKNOWN_CPU;
    uint32_t number = has_cpu ? event->cpu : UNKNOWN_CPU;
    const int64_t time_ns = chrome_get_line_time(ctx, event);
    struct cpu_ids ids;
    char *at = emit_u64(emit_constant(ids.text, ",\"pid\":"), CHROME_CPU_PID);
    at = emit_u64(emit_constant(at, ",\"tid\":"), number);
    ids.n = (size_t)(at - ids.text);
    output_count_loss(out, CHROME_SWITCH, event->offset);
    struct chrome_cpu *cpu = find_cpu(out, time_ns, &ids, number);
    if (!cpu)
        return;
    write_slice_end(out, cpu, time_ns, &ids);
    if (cpu->rank.time_ns != time_ns) /* rank 0 is for the end of the slice before */
        cpu->rank = (struct chrome_rank){.time_ns = time_ns, .next = 1};
    char digits[NUMBER_MAX];
    struct chrome_line line = make_event_line('B', time_ns, &ids);
    line.rank = chrome_count_line_rank(&cpu->rank, time_ns);
    line.category = chrome_get_json_string(out, event->category, "sched", event->offset);
    line.name = make_slice_name(out, event, digits);
    chrome_begin_line(out, &line);
    add_switch_args(out, event);
    chrome_end_line(out);
}
