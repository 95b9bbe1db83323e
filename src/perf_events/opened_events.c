/* Opening of events and rings, see perf_event_open(2). */
#include "perf_events/opened_events.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/status.h"
#include "encodings/perf_data/perf_layout.h"

#define FREQUENCY_DEFAULT 1000u
#define BUFFER_KB_DEFAULT 1024u
#define ALL_THREADS UINT64_MAX

/* Parameters of opening, and the threads to record. */
struct opening {
    struct opened_events *opened_events;
    const ttr_perf_config *wish;
    uint64_t *threads; /* thread ids, or only ALL_THREADS for a system-wide recording */
    size_t threads_n, threads_capacity;
    ttr_error *error;
};

/* --- Attributes --- */

static void set_common_attr(struct opening *opening, struct opened_event *event,
                            const ttr_perf_event *chosen)
{
    const ttr_perf_config *wish = opening->wish;
    struct perf_event_attr *attr = &event->attr;
    *attr = (struct perf_event_attr){
        .type = chosen->type,
        .size = PERF_ATTR_VER7,
        .config = chosen->config,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
        .read_format = PERF_FORMAT_ID | PERF_READ_LOST,
        .disabled = 1,
        .inherit = wish->pid != 0,
        .enable_on_exec = (wish->flags & TTR_PERF_AT_EXEC) != 0,
        .sample_id_all = 1,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(opening->opened_events->rings_bytes / 4),
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

static void set_requested_attr(struct opening *opening, struct opened_event *event,
                               const ttr_perf_event *chosen)
{
    const ttr_perf_config *wish = opening->wish;
    struct perf_event_attr *attr = &event->attr;
    set_common_attr(opening, event, chosen);
    event->system = chosen->system;
    event->name = chosen->name;
    attr->sample_type |= PERF_SAMPLE_PERIOD;
    attr->sample_type |= chosen->type == PERF_TYPE_TRACEPOINT ? (uint64_t)PERF_SAMPLE_RAW : 0;
    attr->sample_type |= wish->flags & TTR_PERF_STACKS ? (uint64_t)PERF_SAMPLE_CALLCHAIN : 0;
    attr->freq = chosen->is_clock;
    attr->sample_period =
        chosen->is_clock ? (wish->frequency ? wish->frequency : FREQUENCY_DEFAULT) : 1;
    attr->write_backward = (wish->flags & TTR_PERF_SNAPSHOT) != 0;
    attr->exclude_kernel = (wish->flags & TTR_PERF_USER_ONLY) != 0;
    attr->exclude_callchain_kernel = attr->exclude_kernel;
}

/* Sets the attributes of the dummy event, which requests the records about processes and
 * mappings. */
static void set_dummy_attr(struct opening *opening, struct opened_event *event)
{
    const ttr_perf_event dummy = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
    set_common_attr(opening, event, &dummy);
    event->system = "";
    event->name = "dummy";
    event->attr.sample_period = 1;
    event->attr.mmap = event->attr.mmap2 = event->attr.build_id = event->attr.comm =
        event->attr.comm_exec = event->attr.task = 1;
}

/* --- Failures --- */

static int read_paranoid_level(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    char text[32] = "";
    if (file) {
        (void)fgets(text, sizeof text, file);
        (void)fclose(file);
    }
    return (int)strtol(text, NULL, 10);
}

static void format_event_name(const struct opened_event *event, char *to, size_t size)
{
    (void)snprintf(to, size, "%s%s%s", event->system, event->system[0] ? ":" : "", event->name);
}

static bool fail_permission(const struct opening *opening, const struct opened_event *event)
{
    char name[160];
    event = event == opening->opened_events->events
                ? event + 1
                /* Event 0 is the dummy: the first event that the user has requested is reported
                 * instead. */
                : event;
    bool is_tracepoint = event->attr.type == PERF_TYPE_TRACEPOINT;
    format_event_name(event, name, sizeof name);
    (void)fail(opening->error, TTR_E_IO, NO_OFFSET,
               "no permission to record %s%s: /proc/sys/kernel/perf_event_paranoid is %d, which "
               "reserves %s for root and CAP_PERFMON; run as root, or as root: sysctl "
               "kernel.perf_event_paranoid=%d",
               name, opening->wish->pid ? "" : " on all processors", read_paranoid_level(),
               is_tracepoint ? "tracepoints" : "this",
               is_tracepoint        ? -1
               : opening->wish->pid ? 1
                                    : 0);
    return false;
}

static bool fail_open(const struct opening *opening, const struct opened_event *event, int reason)
{
    char name[160];
    format_event_name(event, name, sizeof name);
    switch (reason) {
    case EACCES:
    case EPERM:
        return fail_permission(opening, event);
    case ESRCH:
        (void)fail(opening->error, TTR_E_IO, NO_OFFSET, "there is no process %" PRIu64,
                   opening->wish->pid);
        break;
    case EMFILE:
    case ENFILE:
        (void)fail(opening->error, TTR_E_IO, NO_OFFSET,
                   "too many events: each needs one descriptor per thread and processor; select "
                   "fewer, or raise ulimit -n");
        break;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        (void)fail(opening->error, TTR_E_UNSUPPORTED, NO_OFFSET, "this machine has no %s%s", name,
                   event->attr.type == PERF_TYPE_HARDWARE
                       ? " counter; use cpu-clock to sample by time"
                       : "");
        break;
    default:
        (void)fail_sys(opening->error, reason, NO_OFFSET, "the kernel cannot open %s", name);
    }
    return false;
}

/* --- Opening --- */

static int perf_event_open_call(struct perf_event_attr *attr, uint64_t thread, int cpu)
{
    pid_t pid = thread == ALL_THREADS ? -1 : (pid_t)thread;
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens an event. If the kernel does not know or does not permit an attribute, clears it and tries
 * again. Returns a descriptor, or -1 with errno. */
static int open_with_fallbacks(struct opened_events *opened_events, struct opened_event *event,
                               uint64_t thread, int cpu)
{
    struct perf_event_attr *attr = &event->attr;
    int fd = perf_event_open_call(attr, thread, cpu);
    if (fd < 0 && errno == EINVAL && attr->read_format & PERF_READ_LOST) {
        attr->read_format &= ~(uint64_t)PERF_READ_LOST; /* PERF_READ_LOST needs Linux 6.0 */
        opened_events->counts_lost = false;
        fd = perf_event_open_call(attr, thread, cpu);
    }
    if (fd < 0 && errno == EINVAL && attr->build_id) {
        attr->build_id = 0; /* the attribute build_id needs Linux 5.12 */
        fd = perf_event_open_call(attr, thread, cpu);
    }
    if (fd < 0 && (errno == EACCES || errno == EPERM) && attr->type != PERF_TYPE_TRACEPOINT &&
        !attr->exclude_kernel) {
        attr->exclude_kernel = attr->exclude_callchain_kernel = 1;
        opened_events->is_user_only |=
            attr->config != PERF_COUNT_SW_DUMMY || attr->type != PERF_TYPE_SOFTWARE;
        fd = perf_event_open_call(attr, thread, cpu);
    }
    return fd;
}

static bool add_descriptor(struct opened_events *opened_events, struct opened_event *event, int fd)
{
    struct opened_descriptor one = {.fd = fd};
    if (!alloc_reserve(opened_events->alloc, (void **)&event->list, &event->capacity, event->n + 1,
                       sizeof *event->list)) {
        (void)close(fd);
        return false;
    }
    (void)ioctl(fd, PERF_EVENT_IOC_ID, &one.id);
    event->list[event->n++] = one;
    return true;
}

static bool add_ring(const struct opening *opening, int fd, bool is_backward)
{
    struct opened_events *opened_events = opening->opened_events;
    if (!alloc_reserve(opened_events->alloc, (void **)&opened_events->rings,
                       &opened_events->rings_capacity, opened_events->rings_n + 1,
                       sizeof *opened_events->rings)) {
        (void)fail_memory(opening->error);
        return false;
    }
    size_t bytes = opened_events->rings_bytes,
           bytes_min = opening->wish->buffer_kb ? bytes : (size_t)sysconf(_SC_PAGESIZE);
    bool is_open = ring_open(&opened_events->rings[opened_events->rings_n], fd, bytes, is_backward);
    while (!is_open && errno == EPERM &&
           /* the default size may exceed the unprivileged mlock limit; halve it down to one page */
           bytes > bytes_min) {
        bytes /= 2;
        is_open = ring_open(&opened_events->rings[opened_events->rings_n], fd, bytes, is_backward);
    }
    opened_events->rings_n += is_open;
    if (is_open)
        return true;
    (void)fail_sys(
        opening->error, errno, NO_OFFSET, "cannot allocate a buffer of %zu KiB per processor%s",
        opened_events->rings_bytes / 1024,
        errno == EPERM
            ? ": over the limit of /proc/sys/kernel/perf_event_mlock_kb; request a smaller one"
            : "");
    return false;
}

/* Events of one CPU that own its rings, as descriptors. Records of later events are redirected to
 * these rings. */
struct ring_owners {
    int forward, backward; /* -1 without a ring of this kind */
};

static bool open_or_join_ring(const struct opening *opening, const struct opened_event *event,
                              struct ring_owners *ring_owners)
{
    int fd = event->list[event->n - 1].fd,
        *owner = event->attr.write_backward ? &ring_owners->backward : &ring_owners->forward;
    if (*owner < 0) {
        *owner = fd;
        return add_ring(opening, fd, event->attr.write_backward);
    }
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *owner) == 0)
        return true;
    (void)fail_sys(opening->error, errno, NO_OFFSET,
                   "events of one processor cannot share a buffer");
    return false;
}

static bool open_event_on_cpu(const struct opening *opening, struct opened_event *event, int cpu,
                              struct ring_owners *ring_owners)
{
    size_t ended_n = 0;
    for (size_t i = 0; i < opening->threads_n; i++) {
        int fd = open_with_fallbacks(opening->opened_events, event, opening->threads[i], cpu);
        if (fd < 0 && errno == ESRCH && ++ended_n < opening->threads_n)
            continue; /* the thread has ended since it was listed */
        if (fd < 0)
            return fail_open(opening, event, errno);
        if (!add_descriptor(opening->opened_events, event, fd)) {
            (void)fail_memory(opening->error);
            return false;
        }
        if (!open_or_join_ring(opening, event, ring_owners))
            return false;
    }
    return true;
}

/* Returns true if a list such as "0-3,8" contains a CPU. */
static bool cpu_list_contains(const char *list, unsigned cpu)
{
    while (*list) {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return true;
        list = *end == ',' ? end + 1 : "";
    }
    return false;
}

static bool open_events_on_all_cpus(const struct opening *opening)
{
    struct opened_events *opened_events = opening->opened_events;
    struct buffer online;
    buffer_init(&online, opened_events->alloc);
    bool has_list = tracing_files_read_path("/sys/devices/system/cpu/online", &online),
         is_good = true;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus && is_good; cpu++) {
        struct ring_owners ring_owners = {-1, -1};
        if (has_list && !cpu_list_contains((const char *)online.bytes, (unsigned)cpu))
            continue;
        for (size_t i = 0; i < opened_events->events_n && is_good; i++)
            is_good = open_event_on_cpu(opening, &opened_events->events[i], cpu, &ring_owners);
    }
    buffer_free(&online);
    return is_good;
}

static bool add_thread(struct opening *opening, uint64_t thread)
{
    if (!alloc_reserve(opening->opened_events->alloc, (void **)&opening->threads,
                       &opening->threads_capacity, opening->threads_n + 1,
                       sizeof *opening->threads)) {
        (void)fail_memory(opening->error);
        return false;
    }
    opening->threads[opening->threads_n++] = thread;
    return true;
}

static bool list_threads(struct opening *opening)
{
    char path[64];
    uint64_t tid;
    bool is_good = true;
    if (!opening->wish->pid)
        return add_thread(opening, ALL_THREADS);
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/task", opening->wish->pid);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (errno = 0, folder && is_good && (entry = readdir(folder)))
        if (number_parse_u64(entry->d_name, strlen(entry->d_name), &tid))
            is_good = add_thread(opening, tid);
    const int sys = folder && is_good && errno != ENOENT && errno != ESRCH
                        ? errno
                        : 0; /* errno value for the caller; ENOENT and ESRCH mean that the process
                              * has ended */
    if (folder)
        (void)closedir(folder);
    if (sys) {
        (void)fail_sys(opening->error, sys, NO_OFFSET,
                       "cannot list the threads of process %" PRIu64, opening->wish->pid);
        return false;
    }
    if (is_good && opening->threads_n == 0) {
        (void)fail(opening->error, TTR_E_IO, NO_OFFSET, "there is no process %" PRIu64,
                   opening->wish->pid);
        return false;
    }
    return is_good;
}

/* Returns the size of a ring's data in bytes: the smallest power of two that is at least a page and
 * `kb` KiB, at most 1 GiB. */
static size_t ring_size_from_kb(uint32_t kb)
{
    size_t n = (size_t)sysconf(_SC_PAGESIZE);
    while (n < (size_t)kb * 1024 && n < (size_t)1 << 30)
        n *= 2;
    return n;
}

bool opened_events_open(struct opened_events *opened_events, const ttr_perf_config *wish,
                        ttr_error *error)
{
    struct opening opening = {.opened_events = opened_events, .wish = wish, .error = error};
    ttr_perf_event chosen;
    *opened_events = (struct opened_events){.alloc = alloc_default(), .counts_lost = true};
    opened_events->rings_bytes =
        ring_size_from_kb(wish->buffer_kb ? wish->buffer_kb : BUFFER_KB_DEFAULT);
    opened_events->events =
        alloc_zero(opened_events->alloc, wish->events->n + 1, sizeof *opened_events->events);
    if (!opened_events->events) {
        (void)fail_memory(error);
        return false;
    }
    opened_events->events_n = wish->events->n + 1;
    set_dummy_attr(&opening, &opened_events->events[0]);
    for (size_t i = 0; ttr_perf_events_at(wish->events, i, &chosen); i++)
        set_requested_attr(&opening, &opened_events->events[i + 1], &chosen);
    bool is_good = list_threads(&opening) && open_events_on_all_cpus(&opening);
    alloc_free(opened_events->alloc, opening.threads, opening.threads_capacity,
               sizeof *opening.threads);
    return is_good;
}

void opened_events_free(struct opened_events *opened_events)
{
    for (size_t i = 0; i < opened_events->rings_n; i++)
        ring_close(&opened_events->rings[i]);
    for (size_t i = 0; i < opened_events->events_n; i++) {
        struct opened_event *event = &opened_events->events[i];
        for (size_t k = 0; k < event->n; k++)
            (void)close(event->list[k].fd);
        alloc_free(opened_events->alloc, event->list, event->capacity, sizeof *event->list);
    }
    if (opened_events->alloc) {
        alloc_free(opened_events->alloc, opened_events->rings, opened_events->rings_capacity,
                   sizeof *opened_events->rings);
        alloc_free(opened_events->alloc, opened_events->events, opened_events->events_n,
                   sizeof *opened_events->events);
    }
}

void opened_events_enable(const struct opened_events *opened_events, bool is_on)
{
    for (size_t i = 0; i < opened_events->events_n; i++)
        for (size_t k = 0; k < opened_events->events[i].n; k++)
            (void)ioctl(opened_events->events[i].list[k].fd,
                        is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t opened_events_lost_count(const struct opened_events *opened_events)
{
    uint64_t lost = 0, values[3]; /* values: as read() returns them: value, id, lost */
    for (size_t i = 0; i < opened_events->events_n && opened_events->counts_lost; i++)
        for (size_t k = 0; k < opened_events->events[i].n; k++)
            if (!opened_events->events[i].attr.write_backward &&
                read(opened_events->events[i].list[k].fd, values, sizeof values) ==
                    (ssize_t)sizeof values)
                lost += values[2];
    return lost;
}
