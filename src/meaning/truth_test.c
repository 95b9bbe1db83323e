/* Threads, running times, system calls, interrupts and wake-ups of recorded traces, compared with
 * values computed from the text of babeltrace2, perf script and trace-cmd report by a program of
 * their own. The traces are not part of the project (TTR_CORPUS). */
#include <string.h>

#include "support/corpus.h"
#include "support/support.h"

#include "base/pair_map.h"
#include "model/context.h"
#include "model/schedule.h"

#include <tracetta/meaning.h>
#include <tracetta/report.h>

#define CPUS_MAX 8u
#define THREADS_MAX 65536u
#define NAMES_MAX 512u
#define STACKS_MAX 32768u
#define DEPTH_MAX 16u
#define EVENTS_MAX 262144u
#define IS_SWITCH 0x80000000u

struct sum {
    uint64_t n, ns;
};

/* Open spans of a lane. */
struct stack {
    int64_t began[DEPTH_MAX];
    ttr_id name[DEPTH_MAX];
    uint32_t n;
};

struct named_sum {
    const char *name;
    uint64_t n, ns;
};

struct thread_sum {
    uint64_t tid, ns, runs;
};

/* What the other tools record of a trace; a list ends with a NULL name or tid 0. */
struct truth {
    const char *folder, *file;
    /* only events of this provider are read; NULL = all */
    const char *provider;
    uint64_t threads; /* 0 = not compared */
    bool are_named;
    uint64_t switches, discontinued;
    uint64_t states[8];         /* by ttr_thread_state; all 0 = not compared */
    uint64_t running, idle;     /* ns */
    uint64_t idle_of[CPUS_MAX]; /* ns; all 0 = not compared */
    struct sum calls, spans;    /* system calls, other spans */
    uint32_t depth;             /* of other spans */
    uint64_t open, calls_without_begin, calls_of_exit;
    struct sum waking; /* wakes by sched_waking: number that ran afterwards, and time until then */
    uint64_t wakings;
    uint64_t flow_begins, flow_ends;
    struct thread_sum top[10];
    struct named_sum call[10], softirq[6], irq[4];
};

static const struct truth truths[] = {
    {.folder = "ctf",
     .file = "tracecompass/many-threads",
     .threads = 8584,
     .are_named = true,
     .switches = 28325,
     .states = {[TTR_THREAD_RUNNING] = 13196,
                [TTR_THREAD_DEAD] = 8003,
                [TTR_THREAD_BLOCKED] = 5993,
                [TTR_THREAD_UNINTERRUPTIBLE] = 748,
                [TTR_THREAD_PREEMPTED] = 385},
     .running = 1874180585,
     .idle = 1557381200,
     .idle_of = {203021144, 203523862, 193766370, 178915130, 201562210, 187164971, 201588094,
                 187839419},
     .calls = {70056, 6592312802},
     .open = 26, /* without exit and exit_group */
     .calls_without_begin = 8003 + 27,
     .calls_of_exit = 8003,
     .wakings = 6743,
     .waking = {6742, 17789877},
     .top = {{2673, 128483092, 5584},
             {1382, 6903202, 28},
             {10704, 4941273, 3},
             {4298, 4367088, 84},
             {4042, 3387030, 3},
             {776, 1681846, 14},
             {4297, 1557710, 79},
             {1543, 1253375, 36},
             {1555, 1102945, 11}},
     .call = {{"poll", 130, 2241550480},
              {"futex", 5551, 1346536285},
              {"epoll_wait", 5, 838322900},
              {"select", 29, 814040684},
              {"ppoll", 70, 802962571},
              {"wait4", 4, 406504055},
              {"open", 8192, 32127464},
              {"clone", 8003, 27627543},
              {"ioctl", 609, 23054837}},
     .softirq = {{"RCU", 4096, 11726510},
                 {"TIMER", 1019, 630904},
                 {"SCHED", 778, 1963055},
                 {"BLOCK", 141, 745399},
                 {"NET_RX", 8, 84875}},
     .irq = {{"0000:00:1f.2", 141, 309187}, {"i915", 4, 35409}}},
    {.folder = "ctf",
     .file = "tracecompass/perf-taskset2",
     .threads = 8,
     .switches = 562,
     .states = {[TTR_THREAD_BLOCKED] = 292,
                [TTR_THREAD_PREEMPTED] = 150,
                [TTR_THREAD_RUNNING] = 80,
                [TTR_THREAD_UNINTERRUPTIBLE] = 40},
     .running = 26949337,
     .idle = 35113029,
     .idle_of = {3148432, 0, 0, 31964597},
     .top = {{1834, 12211372, 191}, {1812, 7748401, 83}, {28, 6654330, 198}, {20, 171401, 5}}},
    {.folder = "eventheader",
     .file = "tracecmd-vm/vm-v7-zstd.dat",
     .threads = 8,
     .switches = 124,
     .states = {[TTR_THREAD_RUNNING] = 58,
                [TTR_THREAD_PREEMPTED] = 1,
                [TTR_THREAD_UNINTERRUPTIBLE] = 38,
                [TTR_THREAD_BLOCKED] = 26,
                [TTR_THREAD_DEAD] = 1},
     .running = 132468125,
     .idle = 137854235,
     .idle_of = {129358804, 8495431},
     .calls = {3489, 218245877},
     .open = 2,
     .calls_without_begin = 1,
     .calls_of_exit = 1,
     .wakings = 62,
     .waking = {62, 22757385},
     .top = {{78, 121917984, 38},
             {14, 8694464, 19},
             {77, 1317023, 1},
             {75, 219452, 1},
             {13, 101310, 3}},
     .call = {{"wait4", 1, 138326467},
              {"execve", 2, 43268826},
              {"getdents64", 2, 16136105},
              {"openat", 10, 6862646},
              {"newfstatat", 1140, 5761120},
              {"close", 1141, 1880427},
              {"fcntl", 1132, 1541121},
              {"mmap", 22, 1329121}}},
    {.folder = "eventheader",
     .file = "tracecmd-vm/vm-v7-date.dat",
     .threads = 8,
     .switches = 81,
     .running = 579835361,
     .idle = 207658178,
     .idle_of = {38944279, 168713899},
     .wakings = 41,
     .waking = {41, 26679906},
     .top = {{104, 360620294, 7}, {14, 204379699, 30}, {103, 7701106, 1}}},
    {.folder = "eventheader",
     .file = "eventheader-vm/eh-perf.data",
     .threads = 9,
     .switches = 79,
     .discontinued = 0,
     .running = 337228973,
     .idle = 150142280,
     .idle_of = {50940547, 99201733},
     .top = {{70, 237485165, 14}, {14, 87965698, 19}, {17, 2958720, 1}}},
    {.folder = "eventheader",
     .file = "made-here/tp-syscalls-sched.data",
     .provider = "raw_syscalls",
     .calls = {15205, 334972316},
     .call = {{"getdents64", 1954, 321339359},
              {"newfstatat", 3078, 3916292},
              {"close", 4059, 3412223},
              {"fcntl", 5008, 3068176}}},
    {.folder = "eventheader",
     .file = "made-here/tp-syscalls-sched.data",
     .provider = "syscalls",
     .calls = {15205, 334611587},
     .call = {{"getdents64", 1954, 321300591},
              {"newfstatat", 3078, 3702597},
              {"close", 4059, 3283918},
              {"fcntl", 5008, 3183922},
              {"openat", 1014, 1351334}}},
    {.folder = "eventheader",
     .file = "made-here/tp-syscalls-sched.data",
     .threads = 22,
     .switches = 185,
     .discontinued = 184,
     .wakings = 10,
     .waking = {5, 471787280}},
    {.folder = "eventheader",
     .file = "made-here/zstd-sched-callchain.data",
     .threads = 22,
     .switches = 577,
     .discontinued = 400,
     .running = 7176700,
     .wakings = 99,
     .waking = {95, 45278712},
     .top = {{11641, 2904016, 40}, {11642, 2434539, 79}, {11637, 1171591, 2}}},
    {.folder = "eventheader",
     .file = "made-here/lost-smallbuf.data",
     .threads = 2,
     .calls = {10332, 57560419},
     .call = {{"wait4", 2, 40092250}, {"read", 5099, 9499850}, {"write", 5098, 7571945}}},
    {.folder = "ctf",
     .file = "tracecompass/cyg-profile/glxgears-cyg-profile",
     .threads = 1,
     .spans = {2487, UINT64_C(11190547435)},
     .depth = 5,
     .open = 3,
     .call = {{"0x403760", 616, UINT64_C(10388156649)},
              {"0x40357a", 617, 335735353},
              {"0x4033a7", 617, 322943362},
              {"0x403b14", 1, 68401027}}},
    {.folder = "ctf",
     .file = "tracecompass/ros2",
     .spans = {6065, 525403838},
     .depth = 1,
     .flow_begins = 6153,
     .flow_ends = 3994,
     .call = {{"std::_Bind<void (SourceNode::*(SourceNode*))()>", 2031, 176495414}}},
};

/* What is measured of a trace. */
struct measured {
    const struct truth *truth;
    ttr *t;
    struct schedule schedule;
    struct pair_map tids;     /* of the threads of events */
    struct pair_map stack_of; /* (lane, category) to index in `stack` */
    struct stack *stack;
    uint32_t stacks_n, depth;
    uint64_t open;    /* begins without an end, but for calls that exit */
    struct sum spans; /* all that are no system calls */
    uint64_t switches, states[8], running, idle, idle_of[CPUS_MAX], wakings;
    uint64_t calls_without_begin, calls_of_exit, flow_begins, flow_ends;
    struct sum calls, waking;
    struct sum *thread; /* by ttr_id: runs */
    int64_t *woken;     /* by ttr_id: time of the first wake since the last run; 0 = none */
    struct named_sum names[NAMES_MAX];
    size_t names_n;
};

static bool is_text(const ttr *t, ttr_id id, const char *text)
{
    return strcmp(ttr_text_get(t, id).p, text) == 0;
}

static void add_tid(struct measured *m, ttr_id thread)
{
    ttr_thread about;
    if (!ttr_thread_get(m->t, thread, &about) || !about.tid_known || !about.tid)
        return;
    if (m->truth->are_named && !about.thread_name)
        fail_msg("thread %llu has no name", (unsigned long long)about.tid);
    assert_true(pair_map_put(&m->tids, about.tid, 0, 1));
}

static void add_runs(struct measured *m, const ttr_event *event)
{
    assert_true(schedule_apply(&m->schedule, 0, event));
    for (size_t i = 0; i < m->schedule.changes_n; i++) {
        const struct schedule_change *change = &m->schedule.change[i];
        ttr_thread about;
        assert_true(ttr_thread_get(m->t, change->thread, &about));
        if (change->state == SCHEDULE_RUNNING && m->woken[change->thread]) {
            m->waking.n++;
            m->waking.ns += (uint64_t)(event->time - m->woken[change->thread]);
            m->woken[change->thread] = 0;
        }
        if (!change->has_run)
            continue;
        m->thread[change->thread].n++;
        m->thread[change->thread].ns += change->ran_ns;
        *(about.tid ? &m->running : &m->idle) += change->ran_ns;
        if (!about.tid && event->cpu < CPUS_MAX)
            m->idle_of[event->cpu] += change->ran_ns;
    }
}

static void add_named(struct measured *m, ttr_id name, uint64_t ns)
{
    const char *text = ttr_text_get(m->t, name).p;
    size_t i = 0;
    while (i < m->names_n && strcmp(m->names[i].name, text) != 0)
        i++;
    if (i == m->names_n) {
        assert_true(m->names_n < NAMES_MAX);
        m->names[m->names_n++] = (struct named_sum){.name = text};
    }
    m->names[i].n++;
    m->names[i].ns += ns;
}

/* Returns the stack of begins of a lane and a category. */
static struct stack *stack_of(struct measured *m, const ttr_event *event)
{
    const uint64_t lane = event->thread ? event->thread : UINT64_C(1) << 32 | event->track;
    const uint32_t *known = pair_map_get(&m->stack_of, lane, event->category);
    if (known)
        return &m->stack[*known];
    assert_true(m->stacks_n < STACKS_MAX);
    assert_true(pair_map_put(&m->stack_of, lane, event->category, m->stacks_n));
    return &m->stack[m->stacks_n++];
}

/* Counts a begin or an end: each end belongs to the begin before it that is open. */
static void add_span(struct measured *m, const ttr_event *event)
{
    const bool is_call = is_text(m->t, event->category, "syscall");
    const bool is_exit =
        is_text(m->t, event->name, "exit") || is_text(m->t, event->name, "exit_group");
    struct stack *stack = stack_of(m, event);
    if (event->kind == TTR_KIND_BEGIN) {
        assert_true(stack->n < DEPTH_MAX && (!is_call || stack->n == 0));
        stack->name[stack->n] = event->name;
        stack->began[stack->n++] = event->time;
        m->depth = stack->n > m->depth ? stack->n : m->depth;
        m->open += !is_exit;
        return;
    }
    assert_true(stack->n > 0);
    const uint64_t ns = (uint64_t)(event->time - stack->began[--stack->n]);
    assert_int_equal(stack->name[stack->n], event->name);
    m->open -= !is_exit && !(event->flags & TTR_EVENT_PARTIAL);
    if (event->flags & TTR_EVENT_PARTIAL)
        return;
    if (is_call && is_exit) {
        m->calls_of_exit++;
        return;
    }
    struct sum *sum = is_call ? &m->calls : &m->spans;
    sum->n++;
    sum->ns += ns;
    add_named(m, event->name, ns);
}

static void measure_event(struct measured *m, const ttr_event *event)
{
    ttr_event original;
    const ttr_text before = ttr_event_original(m->t, event, &original)
                                ? ttr_text_get(m->t, original.name)
                                : ttr_text_get(m->t, event->name);
    if (event->provider || m->truth->are_named) /* perf: not its own records of tasks */
        add_tid(m, event->thread);
    switch (event->kind) {
    case TTR_KIND_SWITCH:
        add_tid(m, (ttr_id)event->link);
        m->switches++;
        m->states[event->tag]++;
        add_runs(m, event);
        return;
    case TTR_KIND_WAKE:
        add_tid(m, (ttr_id)event->link);
        if (strstr(before.p, "sched_waking")) {
            m->wakings++;
            if (!m->woken[event->thread])
                m->woken[event->thread] = event->time;
        }
        return;
    case TTR_KIND_FLOW_BEGIN:
        m->flow_begins++;
        return;
    case TTR_KIND_FLOW_END:
        m->flow_ends++;
        return;
    case TTR_KIND_BEGIN:
    case TTR_KIND_END:
        add_span(m, event);
        return;
    default:
        m->calls_without_begin +=
            strncmp(before.p, "syscall_exit_", 13) == 0 || strncmp(before.p, "sys_exit", 8) == 0;
    }
}

static void check_names(const struct measured *m, const struct named_sum *wanted, size_t n)
{
    for (size_t i = 0; i < n && wanted[i].name; i++) {
        size_t k = 0;
        while (k < m->names_n && strcmp(m->names[k].name, wanted[i].name) != 0)
            k++;
        if (k == m->names_n)
            fail_msg("%s: no span %s", m->truth->file, wanted[i].name);
        if (m->names[k].n != wanted[i].n || m->names[k].ns != wanted[i].ns)
            fail_msg("%s: %s: %llu, %llu ns, expected %llu, %llu", m->truth->file, wanted[i].name,
                     (unsigned long long)m->names[k].n, (unsigned long long)m->names[k].ns,
                     (unsigned long long)wanted[i].n, (unsigned long long)wanted[i].ns);
    }
}

static void check_top_threads(const struct measured *m)
{
    for (size_t i = 0; i < 10 && m->truth->top[i].tid; i++) {
        const struct thread_sum *wanted = &m->truth->top[i];
        struct sum sum = {0};
        ttr_thread about;
        for (ttr_id id = 1; id <= ttr_thread_count(m->t); id++)
            if (ttr_thread_get(m->t, id, &about) && about.tid_known && about.tid == wanted->tid) {
                sum.n += m->thread[id].n;
                sum.ns += m->thread[id].ns;
            }
        assert_int_equal(sum.ns, wanted->ns);
        assert_int_equal(sum.n, wanted->runs);
    }
}

static void check_scheduling(struct measured *m)
{
    const struct truth *truth = m->truth;
    uint64_t states = 0, idle = 0;
    /* only perf has records of threads that no event is about */
    for (ttr_id id = 1; truth->are_named && id <= ttr_thread_count(m->t); id++)
        add_tid(m, id);
    if (truth->threads)
        assert_int_equal(m->tids.used, truth->threads);
    assert_int_equal(m->switches, truth->switches);
    assert_int_equal(m->schedule.discontinued, truth->discontinued);
    for (size_t i = 0; i < 8; i++)
        states += truth->states[i];
    for (size_t i = 0; i < 8 && states; i++)
        assert_int_equal(m->states[i], truth->states[i]);
    assert_int_equal(m->running, truth->running);
    assert_int_equal(m->idle, truth->idle);
    for (size_t i = 0; i < CPUS_MAX; i++)
        idle += truth->idle_of[i];
    for (size_t i = 0; i < CPUS_MAX && idle; i++)
        assert_int_equal(m->idle_of[i], truth->idle_of[i]);
    assert_int_equal(m->wakings, truth->wakings);
    assert_int_equal(m->waking.n, truth->waking.n);
    assert_int_equal(m->waking.ns, truth->waking.ns);
    check_top_threads(m);
}

static void check_measured(struct measured *m)
{
    const struct truth *truth = m->truth;
    if (!truth->provider)
        check_scheduling(m);
    if (truth->calls.n) {
        assert_int_equal(m->calls.n, truth->calls.n);
        assert_int_equal(m->calls.ns, truth->calls.ns);
    }
    if (truth->spans.n) {
        assert_int_equal(m->spans.n, truth->spans.n);
        assert_int_equal(m->spans.ns, truth->spans.ns);
        assert_int_equal(m->depth, truth->depth);
    }
    assert_int_equal(m->flow_begins, truth->flow_begins);
    assert_int_equal(m->flow_ends, truth->flow_ends);
    if (truth->open)
        assert_int_equal(m->open, truth->open);
    if (truth->calls_without_begin)
        assert_int_equal(m->calls_without_begin, truth->calls_without_begin);
    if (truth->calls_of_exit)
        assert_int_equal(m->calls_of_exit, truth->calls_of_exit);
    check_names(m, truth->call, sizeof truth->call / sizeof *truth->call);
    check_names(m, truth->softirq, sizeof truth->softirq / sizeof *truth->softirq);
    check_names(m, truth->irq, sizeof truth->irq / sizeof *truth->irq);
}

static void measure(struct measured *m, ttr_reader *in)
{
    ttr_batch batch;
    ttr_status status;
    pair_map_init(&m->tids, alloc_default());
    pair_map_init(&m->stack_of, alloc_default());
    schedule_init(&m->schedule, alloc_default());
    m->thread = calloc(THREADS_MAX, sizeof *m->thread);
    m->woken = calloc(THREADS_MAX, sizeof *m->woken);
    m->stack = calloc(STACKS_MAX, sizeof *m->stack);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK) {
        assert_in_range(batch.n, 1, 256);
        for (uint32_t i = 0; i < batch.n; i++)
            measure_event(m, ttr_batch_at(&batch, i));
    }
    assert_int_equal(status, TTR_END);
}

static void measured_free(struct measured *m)
{
    pair_map_free(&m->tids);
    pair_map_free(&m->stack_of);
    schedule_free(&m->schedule);
    free(m->thread);
    free(m->woken);
    free(m->stack);
}

static void recorded_traces_equal_other_tools(void **state)
{
    char path[512];
    (void)state;
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const struct truth *truth = &truths[i];
        struct measured m = {.truth = truth};
        ttr_error error = {0};
        if (!corpus_find(truth->folder, truth->file, path, sizeof path))
            continue;
        m.t = ttr_new(NULL);
        ttr_reader *in = ttr_open(m.t, path, NULL, &error);
        ttr_filter filter;
        ttr_filter_init(&filter);
        const char *providers[] = {truth->provider, NULL};
        filter.providers = providers;
        if (truth->provider)
            in = ttr_filter_new(in, &filter, &error);
        in = ttr_interpret(in, NULL, &error);
        if (!in)
            fail_msg("%s", error.text);
        measure(&m, in);
        check_measured(&m);
        ttr_close(in);
        measured_free(&m);
        ttr_free(m.t);
    }
}

/* Allocations of LTTng-UST as async spans from malloc to free, with the counts that babeltrace2's
 * text has: begins of addresses that were not live, and frees of addresses that were. */
static void allocations_are_paired_by_address_and_thread(void **state)
{
    static const struct {
        const char *file, *pair;
        uint64_t begins, ends;
    } traces[] = {
        {"tracecompass/memory", "lttng_ust_libc:malloc,lttng_ust_libc:free,ptr,thread", 164015,
         164008},
        {"tracecompass/exp", "ust_libc:malloc|ust_libc:calloc,ust_libc:free,ptr,thread", 24027,
         24000},
    };
    char path[512];
    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        if (!corpus_find("ctf", traces[i].file, path, sizeof path))
            continue;
        const char *const pairs[] = {traces[i].pair, NULL};
        ttr *t = ttr_new(NULL);
        ttr_reader *in = ttr_interpret(
            ttr_open(t, path, NULL, NULL),
            &(ttr_interpret_options){.size = sizeof(ttr_interpret_options), .pairs = pairs}, NULL);
        uint64_t begins = 0, ends = 0;
        ttr_batch batch;
        assert_non_null(in);
        while (ttr_read(in, &batch, NULL) == TTR_OK)
            for (uint32_t k = 0; k < batch.n; k++) {
                begins += ttr_batch_at(&batch, k)->kind == TTR_KIND_ASYNC_BEGIN;
                ends += ttr_batch_at(&batch, k)->kind == TTR_KIND_ASYNC_END;
            }
        assert_int_equal(begins, traces[i].begins);
        assert_int_equal(ends, traces[i].ends);
        ttr_close(in);
        ttr_free(t);
    }
}

/* What an event showed when the complete trace was read. */
struct seen_event {
    int64_t time;
    uint64_t tid;
    bool has_thread;
};

/* Reads the events of a trace from a time on into `seen`, without added ones. Returns their number.
 */
static size_t read_events_from(ttr *t, const char *path, int64_t from, struct seen_event *seen,
                               uint32_t *cpu_of)
{
    size_t n = 0;
    ttr_batch batch;
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.from_ns = from;
    /* the filter drops the events that the reader returns from before the range */
    ttr_reader *in = ttr_filter_new(ttr_sort(ttr_open(t, path, NULL, NULL), NULL), &filter, NULL);
    assert_non_null(in);
    in = ttr_interpret(in, NULL, NULL);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_thread thread;
            if (event->flags & TTR_EVENT_ADDED || event->time < from)
                continue;
            assert_true(n < EVENTS_MAX);
            const bool has_thread = ttr_thread_get(t, event->thread, &thread);
            seen[n] = (struct seen_event){event->time, has_thread ? thread.tid : 0, has_thread};
            /* a wake-up has the CPU of the woken thread */
            const uint32_t cpu = event->kind == TTR_KIND_WAKE ? event->tag : event->cpu;
            cpu_of[n++] = event->kind == TTR_KIND_SWITCH ? cpu | IS_SWITCH : cpu;
        }
    ttr_close(in);
    return n;
}

/* Reading from the middle: the thread of a CPU is unknown up to its first switch, and from there on
 * as in the complete trace. */
static void late_start_knows_threads_from_the_first_switch_on(void **state)
{
    static struct seen_event whole[EVENTS_MAX], late[EVENTS_MAX];
    static uint32_t cpu_of[EVENTS_MAX];
    char path[512];
    (void)state;
    if (!corpus_find("ctf", "tracecompass/many-threads", path, sizeof path))
        return;
    ttr *t = ttr_new(NULL);
    const size_t n = read_events_from(t, path, INT64_MIN, whole, cpu_of);
    ttr_free(t);
    for (size_t cut = n / 5; cut < n; cut += n / 5) {
        size_t first = cut, unknown = 0;
        bool is_known[CPUS_MAX] = {false};
        while (first > 0 && whole[first - 1].time == whole[cut].time)
            first--;
        t = ttr_new(NULL);
        const size_t late_n = read_events_from(t, path, whole[cut].time, late, cpu_of);
        assert_int_equal(late_n, n - first);
        for (size_t i = 0; i < late_n; i++) {
            const uint32_t cpu = cpu_of[i] & ~IS_SWITCH;
            assert_in_range(cpu, 0, CPUS_MAX - 1);
            is_known[cpu] |= (cpu_of[i] & IS_SWITCH) != 0;
            assert_int_equal(late[i].time, whole[first + i].time);
            unknown += !is_known[cpu] && !late[i].has_thread;
            if (is_known[cpu] || late[i].has_thread) {
                assert_int_equal(late[i].has_thread, whole[first + i].has_thread);
                assert_int_equal(late[i].tid, whole[first + i].tid);
            }
        }
        assert_in_range(unknown, 1, late_n);
        ttr_free(t);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_start_knows_threads_from_the_first_switch_on),
        cmocka_unit_test(allocations_are_paired_by_address_and_thread),
        cmocka_unit_test(recorded_traces_equal_other_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
