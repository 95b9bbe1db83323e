/* record perf: writes events of the kernel to a perf.data file.
 *
 * The header of a regular file is rewritten whenever more data is complete, and at the end, so that
 * the file can be read at any time. A pipe gets the form of perf.data that needs no header. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tracetta/collect.h>

#include "cli/commands/command.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/ui/interrupt.h"
#include "cli/dotnet/launch.h"
#include "cli/ui/progress.h"
#include "cli/dotnet/recording.h"
#include "cli/ui/messages.h"

#define SLICE_MS 100u
#define LEVEL 1 /* zstd compression level: fast enough for a busy machine */

/* The state of one recording. */
struct work {
    struct call *call;
    struct recording recording;
    struct launch launch;
    ttr_perf_events *events;
    ttr_perf *perf;
    ttr_perf_config wish;
    uint8_t header[TTR_PERF_HEADER]; /* header that was written last */
    /* command line that the file records: the program's name, then its operands */
    const char *command[66];
    char what[128];
};

/* --- Options --- */

static int check_operands(const struct call *call)
{
    const struct settings *set = &call->set;
    const char *name = call->command->name;
    bool launches = set->has_separator && set->before_separator == 0 && call->paths_n > 0;
    if (launches && !call->path[0][0])
        return report_misuse(name, "the command after \"--\" is empty");
    if (call->paths_n && !launches)
        return report_misuse(
            name, "unexpected \"%s\": expected -a (all), -p PID, or \"--\" and a command",
            call->path[0]);
    if (launches + set->system_wide + (set->pid != 0) != 1)
        return report_misuse(
            name, "expected one of -a (all processors), -p PID, or \"--\" and a command");
    if (set->buffer_mb > 512)
        return report_misuse(name, "--buffersize is in MB per processor: at most 512");
    if (set->frequency > 1000000)
        return report_misuse(name, "--frequency is samples per second: at most 1000000");
    return OUTCOME_FINE;
}

static int choose_events(struct work *work)
{
    const struct settings *set = &work->call->set;
    ttr_error error = {.text = "out of memory"};
    ttr_perf_event event;
    work->events = ttr_perf_events_new(NULL);
    ttr_status status = work->events ? TTR_OK : TTR_E_NOMEM;
    for (size_t i = 0; i < set->events.n && status == TTR_OK; i++)
        status = ttr_perf_events_add(work->events, set->events.list[i], &error);
    if (set->events.n == 0 && status == TTR_OK)
        status = ttr_perf_events_add(work->events, "cpu-clock", &error);
    if (status == TTR_OK && !ttr_perf_events_at(work->events, 0, &event))
        return report_misuse(
            work->call->command->name,
            "--event cannot be \"%s\": expected names like cpu-clock or \"sched:*\"",
            set->events.list[0]);
    if (status == TTR_E_MISUSE)
        return report_misuse(work->call->command->name, "%s", error.text);
    if (status == TTR_OK)
        return OUTCOME_FINE;
    report_failure_text(work->call->command->name, "%s", error.text);
    return status == TTR_E_NOMEM ? OUTCOME_OUTPUT : OUTCOME_INPUT;
}

static int read_options(struct work *work)
{
    const struct settings *set = &work->call->set;
    int outcome = choose_events(work);
    if (outcome != OUTCOME_FINE)
        return outcome;
    if (set->duration && !dotnet_parse_duration(set->duration, &work->recording.limit_ns))
        return report_misuse(
            work->call->command->name,
            "--duration cannot be \"%s\": expected 30s, 5min, or dd:hh:mm:ss, up to 292 years",
            set->duration);
    work->command[0] = "tracetta record perf";
    for (size_t i = 0;
         i < work->call->paths_n && i + 2 < sizeof work->command / sizeof *work->command; i++)
        work->command[i + 1] = work->call->path[i];
    work->wish = (ttr_perf_config){
        .size = sizeof work->wish,
        .events = work->events,
        .pid = set->pid,
        .flags = (set->call_stacks ? TTR_PERF_STACKS : 0) |
                 (set->snapshot ? TTR_PERF_SNAPSHOT : 0) |
                 (set->user_only ? TTR_PERF_USER_ONLY : 0),
        .frequency = (uint32_t)set->frequency,
        .buffer_kb = (uint32_t)set->buffer_mb * 1024,
        .zstd_level = set->zstd ? LEVEL : 0,
        .command = work->command,
    };
    return OUTCOME_FINE;
}

/* --- The target --- */

static int report_perf_error(const struct work *work, const char *what, const ttr_error *error)
{
    report_error(work->call, what, error);
    return OUTCOME_INPUT;
}

static int start_stopped_program(struct work *work)
{
    const struct call *call = work->call;
    if (!launch_start_paused(&work->launch, call->path, call->paths_n, NULL,
                             strcmp(work->recording.path, "-") == 0)) {
        report_failure_text(call->path[0], "cannot be run: %s", strerror(errno));
        return OUTCOME_INPUT;
    }
    work->wish.pid = (uint64_t)work->launch.pid;
    work->wish.flags |= TTR_PERF_AT_EXEC;
    return OUTCOME_FINE;
}

static int start_program(struct work *work)
{
    if (launch_resume(&work->launch))
        return OUTCOME_FINE;
    report_failure_text(work->call->path[0], "cannot be run: %s", strerror(errno));
    return OUTCOME_INPUT;
}

/* Raises the limit of open files: each event needs a descriptor per processor and thread. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_recording(struct work *work)
{
    ttr_error error;
    bool launches = work->call->paths_n > 0;
    int outcome = launches ? start_stopped_program(work) : OUTCOME_FINE;
    if (outcome != OUTCOME_FINE)
        return outcome;
    if (launches)
        (void)snprintf(work->what, sizeof work->what, "%.100s", work->call->path[0]);
    else if (work->wish.pid)
        (void)snprintf(work->what, sizeof work->what, "process %" PRIu64, work->wish.pid);
    else
        (void)snprintf(work->what, sizeof work->what, "all processors");
    if (!work->recording.is_regular)
        work->wish.flags |= TTR_PERF_PIPE;
    raise_descriptors();
    work->perf = ttr_perf_open(&work->wish, &error);
    if (!work->perf)
        return report_perf_error(work, work->what, &error);
    ttr_perf_set_wake_fd(work->perf, interrupt_get_wake_fd());
    if (ttr_perf_start(work->perf, &error) != TTR_OK)
        return report_perf_error(work, work->what, &error);
    return launches ? start_program(work) : OUTCOME_FINE;
}

/* --- The recording --- */

/* Rewrites the header at the start of the file if it changed.  Returns false after reporting an
 * error. */
static bool rewrite_header(struct work *work)
{
    uint8_t header[TTR_PERF_HEADER];
    const struct recording *recording = &work->recording;
    if (!recording->is_regular || !ttr_perf_header(work->perf, header) ||
        memcmp(header, work->header, sizeof header) == 0)
        return true;
    memcpy(work->header, header, sizeof header);
    ssize_t put = pwrite(recording->fd, header, sizeof header, 0);
    if (put == (ssize_t)sizeof header)
        return true;
    (void)report_unwritable_output(recording->path, put < 0 ? errno : ENOSPC);
    return false;
}

static bool has_reached_limit(struct work *work, uint64_t now)
{
    ttr_perf_report report = {.size = sizeof report};
    ttr_perf_stats(work->perf, &report);
    return recording_is_enough(&work->recording, now) || report.is_over ||
           (work->launch.pid && launch_has_ended(&work->launch)) ||
           (work->call->set.max_size && work->recording.written >= work->call->set.max_size);
}

/* Reads a chunk of events and writes it. Returns TTR_OK or TTR_AGAIN to continue, TTR_END at the
 * end, or an error that was reported. */
static ttr_status copy_chunk(struct work *work)
{
    struct recording *recording = &work->recording;
    const void *bytes;
    size_t n;
    ttr_error error;
    uint64_t now = progress_now();
    if (!recording->is_stopping && has_reached_limit(work, now)) {
        recording->is_stopping = true;
        ttr_perf_set_wake_fd(work->perf, -1);
        ttr_perf_stop(work->perf);
    }
    if (interrupt_dump_was_received())
        ttr_perf_snapshot(work->perf);
    recording_show_progress(recording, now);
    ttr_status status = ttr_perf_read(work->perf, &bytes, &n, SLICE_MS, &error);
    if (status == TTR_OK && !recording->is_full)
        recording->is_full = !recording_write_bytes(recording, bytes, n) || !rewrite_header(work);
    else if (status != TTR_OK && status != TTR_AGAIN && status != TTR_END)
        report_error(work->call, work->what, &error);
    return status;
}

static int close_output(struct work *work, int outcome)
{
    struct recording *recording = &work->recording;
    /* If the disk is full, the previous header is kept: it covers all records before the
     * failure. */
    bool is_good = recording->is_left || (!recording->is_full && rewrite_header(work));
    if (close(recording->fd) != 0) {
        (void)report_unwritable_output(recording->path, errno);
        is_good = false;
    }
    recording->fd = -1;
    return is_good ? outcome : OUTCOME_OUTPUT;
}

static void print_summary(struct work *work, uint64_t took)
{
    const struct call *call = work->call;
    ttr_perf_report report = {.size = sizeof report};
    ttr_perf_stats(work->perf, &report);
    if (report.limited & TTR_PERF_USER_ONLY)
        print_note(call, "events inside the kernel are left out: "
                         "/proc/sys/kernel/perf_event_paranoid does not allow them");
    if (report.broken)
        print_note(call,
                   "a buffer could not be decoded %" PRIu64 " time(s): its events are missing",
                   report.broken);
    if (report.lost)
        print_note(call, "%s event(s) were lost: a buffer was full; use a larger --buffersize",
                   units_count(report.lost).s);
    if (call->term.error_is_tty || call->set.verbose)
        print_note(call, "recorded %s: %s event(s), %s in %s", units_duration(took).s,
                   units_count(report.samples).s, units_size(work->recording.written).s,
                   strcmp(work->recording.path, "-") == 0 ? "standard output"
                                                          : work->recording.path);
}

static int record_events(struct work *work)
{
    struct recording *recording = &work->recording;
    recording->begin_ns = progress_now();
    if (work->call->set.snapshot)
        interrupt_enable_dumps();
    if (recording->is_regular && ftruncate(recording->fd, 0) != 0)
        print_note(work->call, "%s cannot be emptied: %s", recording->path, strerror(errno));
    if (work->call->term.error_is_tty)
        print_note(work->call, "recording %s; Ctrl-C%s stops", work->what,
                   work->launch.pid ? "" : " or Enter");
    ttr_status status;
    do
        status = copy_chunk(work);
    while (status == TTR_OK || status == TTR_AGAIN);
    recording_clear_progress(recording);
    int outcome = close_output(work, status == TTR_END ? OUTCOME_FINE : OUTCOME_INPUT);
    print_summary(work, progress_now() - recording->begin_ns);
    return outcome;
}

static void end_program(struct work *work)
{
    char how[80];
    bool was_running = work->launch.pid && !launch_has_ended(&work->launch);
    launch_end(&work->launch);
    if (work->launch.pid && !was_running && work->launch.status != 0)
        print_note(work->call, "%s %s", work->call->path[0],
                   launch_format_status(&work->launch, how, sizeof how));
}

int run_record_perf(struct call *call)
{
    struct work work = {.call = call, .recording = {.call = call, .fd = -1}};
    int outcome = check_operands(call);
    if (outcome == OUTCOME_FINE)
        outcome = read_options(&work);
    if (outcome == OUTCOME_FINE)
        outcome = recording_open(&work.recording, call->set.output ? call->set.output : "perf.data",
                                 call->set.overwrite);
    if (outcome == OUTCOME_FINE)
        outcome = open_recording(&work);
    if (outcome == OUTCOME_FINE && call->paths_n)
        work.recording.launch = &work.launch;
    if (outcome == OUTCOME_FINE)
        outcome = record_events(&work);
    recording_discard(&work.recording);
    end_program(&work);
    ttr_perf_close(work.perf);
    ttr_perf_events_free(work.events);
    return outcome;
}
