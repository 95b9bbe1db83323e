/* Context switches: each CPU is a thread of the pseudo process "CPUs", and a running thread is a
 * slice on it. A switch ends one slice and starts the next. So the writer needs no state of the
 * previous switch, and invents no times for the first and last one. */
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

/* Adds a CPU to the table of CPUs. Returns false if memory runs out. */
static bool add_cpu_name(struct ttr_writer *out, uint32_t cpu)
{
    struct chrome *ctx = out->ctx;
    bool is_fine = alloc_reserve(&out->t->counted, (void **)&ctx->cpu_rank, &ctx->cpus_capacity,
                                 ctx->cpus_n + 1, sizeof *ctx->cpu_rank) &&
                   pair_map_put(&ctx->cpus, cpu, 0, (uint32_t)ctx->cpus_n);
    if (is_fine)
        ctx->cpu_rank[ctx->cpus_n++] = (struct chrome_rank){.time_ns = INT64_MIN};
    out->buffer.failed |= !is_fine;
    return is_fine;
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

void chrome_write_switch(struct ttr_writer *out, const ttr_event *event)
{
    const struct chrome *ctx = out->ctx;
    bool has_cpu = (event->flags & TTR_EVENT_HAS_CPU) && event->cpu < UNKNOWN_CPU;
    uint32_t cpu = has_cpu ? event->cpu : UNKNOWN_CPU;
    struct cpu_ids ids;
    char *at = emit_u64(emit_constant(ids.text, ",\"pid\":"), CHROME_CPU_PID);
    at = emit_u64(emit_constant(at, ",\"tid\":"), cpu);
    ids.n = (size_t)(at - ids.text);
    output_count_loss(out, CHROME_SWITCH, event->offset);
    struct chrome_line line = make_event_line('E', chrome_get_line_time(ctx, event), &ids);
    const uint32_t *known = pair_map_get(&ctx->cpus, cpu, 0);
    if (known) {
        line.rank = chrome_count_line_rank(&ctx->cpu_rank[*known], line.time_ns);
        chrome_begin_line(out, &line);
        chrome_end_line(out);
    } else {
        write_cpu_name(out, line.time_ns, &ids, cpu);
        if (!add_cpu_name(out, cpu))
            return;
        known = pair_map_get(&ctx->cpus, cpu, 0);
    }
    char number[NUMBER_MAX];
    line.phase = 'B';
    line.rank = known ? chrome_count_line_rank(&ctx->cpu_rank[*known], line.time_ns) : 0;
    line.category = chrome_get_json_string(out, event->category, "sched", event->offset);
    line.name = make_slice_name(out, event, number);
    chrome_begin_line(out, &line);
    add_switch_args(out, event);
    chrome_end_line(out);
}
