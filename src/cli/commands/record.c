/* record: runs a program that has trace points (tracetta/trace.h), or attaches to one, and writes
 * its events.
 *
 * The command is the manager of the session: it makes a socket in a folder of its own, names it to
 * the program by the environment, and copies events until the program and all processes that
 * connected have ended.  Its exit status is the program's; 125 if recording failed.
 *
 * It ends earlier at a signal, a stop from outside, --max-size, and a failed or deleted output.
 * After the end of the program it also ends if its own parent ends, because then no terminal may be
 * left from which to stop it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/record.h>

#include "cli/commands/command.h"
#include "cli/commands/convert.h"
#include "cli/commands/record_output.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/dotnet/launch.h"
#include "cli/dotnet/recording.h"
#include "cli/input/output_check.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define SLICE_MS 50u
#define DEFAULT_OUTPUT "trace.fxt"
#define EVENTS_SUFFIX ".events.fxt"
/* time in which processes of --attach are expected to connect; an idle one does not */
#define ATTACH_WAIT_NS UINT64_C(5000000000)
#define FAILED 125 /* exit status if recording failed */
#define SOCKET_VARIABLE "TRACETTA_TRACE_SOCKET"

/* The state of one recording. */
struct work {
    struct call *call;
    struct recording recording; /* the output */
    struct launch launch;
    struct record_rotation rotation;
    struct record_live live;
    ttr_manager *manager;
    ttr_manager_stats stats;
    char variable[160]; /* "NAME=path of the socket" */
    char *categories;   /* the values of --category, joined by commas */
    /* format of the output, if the events are converted at the end; else NULL */
    const char *format;
    /* format of standard output, if the events are converted as they come; else NULL */
    const char *live_format;
    char *events_path; /* FXT file that is converted then */
    bool has_failed;
    bool is_waiting;       /* the program has ended, and processes that it started are recorded */
    uint64_t requested_ns; /* time at which the processes of --attach were asked to connect */
    pid_t parent;          /* process that started this command */
    int forwarded;         /* signal that was sent to the program */
};

/* --- Options --- */

static int check_operands(const struct call *call)
{
    const struct settings *set = &call->set;
    const char *name = call->command->name;
    if (set->trigger && (!set->ring_mode || strcmp(set->ring_mode, "circular") != 0))
        return report_misuse(name, "--trigger needs --mode=circular: otherwise all events are "
                                   "written as they come");
    if (set->attach.n && call->paths_n)
        return report_misuse(name, "--attach records running processes: remove \"%s\"",
                             call->path[0]);
    if (set->attach.n)
        return OUTCOME_FINE;
    if (!set->has_separator || set->before_separator != 0 || call->paths_n == 0)
        return report_misuse(name, "expected \"--\" and the program to run");
    if (!call->path[0][0])
        return report_misuse(name, "the command after \"--\" is empty");
    return OUTCOME_FINE;
}

/* Joins the values of --category. Returns false if memory is exhausted. */
static bool join_categories(struct work *work)
{
    const struct words *words = &work->call->set.categories;
    size_t n = 1;
    for (size_t i = 0; i < words->n; i++)
        n += strlen(words->list[i]) + 1;
    work->categories = calloc(n, 1);
    for (size_t i = 0, at = 0; i < words->n && work->categories; i++)
        at += (size_t)snprintf(work->categories + at, n - at, "%s%s", i ? "," : "", words->list[i]);
    return work->categories != NULL;
}

/* Chooses the format of the output. Events that are converted are first written to a file next to
 * it. Returns the outcome. */
static int choose_output_format(struct work *work)
{
    const struct call *call = work->call;
    const char *output = call->set.output ? call->set.output : DEFAULT_OUTPUT;
    const char *format = call->set.to ? call->set.to : guess_output_format(output);
    if (!format || strcmp(format, "fxt") == 0)
        return OUTCOME_FINE;
    if (call->set.rotate.n)
        return report_misuse(call->command->name, "--rotate needs FXT: convert the files later");
    if (!convert_can_write(format))
        return report_misuse(call->command->name,
                             "%s cannot be written while events come: record FXT, then use "
                             "\"tracetta convert\"",
                             format);
    /* Folders of perf.data are read, and one file is written. */
    if (strcmp(output, "-") == 0 && convert_is_folder(format) && strcmp(format, "perf") != 0)
        return report_misuse(call->command->name,
                             "a %s trace is a folder: use -o FOLDER instead of -o -", format);
    if (strcmp(output, "-") == 0) {
        work->live_format = format;
        return check_output_path(call, output, format);
    }
    if (!call->set.overwrite && access(output, F_OK) == 0) {
        report_failure_text(output, "exists already; --overwrite (-f) replaces it");
        return OUTCOME_OUTPUT;
    }
    const int outcome = check_output_path(call, output, format);
    const size_t n = strlen(output) + sizeof EVENTS_SUFFIX;
    if (outcome != OUTCOME_FINE)
        return outcome;
    work->events_path = malloc(n);
    if (!work->events_path)
        return report_unwritable_output(output, ENOMEM);
    (void)snprintf(work->events_path, n, "%s" EVENTS_SUFFIX, output);
    work->format = format;
    return OUTCOME_FINE;
}

/* Starts a process that converts the events to standard output as they come. */
static int open_converter(struct work *work)
{
    const char *const words[] = {"convert", "-", "--to", work->live_format, "-o", "-", "-q", NULL};
    work->recording.path = "-";
    if (!record_live_start(&work->live, words))
        return report_unwritable_output("-", errno);
    work->recording.fd = dup(work->live.fd);
    return OUTCOME_FINE;
}

/* Starts the process of --live. */
static int open_live(struct work *work)
{
    const char *address = work->call->set.live_output;
    const char *const print[] = {"cat", "-", "--no-pager", NULL}, *const send[] = {"send", "-",
                                                                                   address, NULL};
    if (!address)
        return OUTCOME_FINE;
    if (work->live_format || strcmp(work->recording.path, "-") == 0)
        return report_misuse(work->call->command->name,
                             "--live and an output to \"-\" exclude each other: use -o FILE");
    const int outcome = address[0] ? record_live_check(work->call, address) : OUTCOME_FINE;
    if (outcome != OUTCOME_FINE)
        return outcome;
    if (!record_live_start(&work->live, address[0] ? send : print))
        return report_unwritable_output("--live", errno);
    return OUTCOME_FINE;
}

/* Opens the file that the events are written to. Returns the outcome. */
static int open_output(struct work *work)
{
    const struct settings *set = &work->call->set;
    const char *path = set->output ? set->output : DEFAULT_OUTPUT;
    const int parsed = record_rotation_parse(&work->rotation, work->call, path);
    if (parsed != OUTCOME_FINE)
        return parsed;
    if (work->live_format)
        return open_converter(work);
    const int outcome = recording_open(
        &work->recording, work->events_path ? work->events_path : path, set->overwrite);
    if (outcome == OUTCOME_FINE && work->recording.is_regular &&
        ftruncate(work->recording.fd, 0) != 0)
        return report_unwritable_output(work->recording.path, errno);
    return outcome;
}

/* Converts the recorded events. Keeps their file if that fails. */
static void convert_events(struct work *work)
{
    struct call call = *work->call;
    char *paths[] = {work->events_path, NULL};
    call.set.to = work->format;
    call.set.categories = (struct words){0}; /* the events are filtered already */
    call.set.min_duration = 0;
    call.path = paths;
    call.paths_n = 1;
    if (run_convert(&call) <= OUTCOME_NO) {
        (void)unlink(work->events_path);
        return;
    }
    work->has_failed = true;
    print_note(work->call, "the recorded events are in %s", work->events_path);
}

/* --- The session --- */

/* Returns true with --zstd, or if the output is named like a compressed FXT file. */
static bool is_compressed(const struct work *work)
{
    const char *output = work->call->set.output;
    const size_t n = output ? strlen(output) : 0;
    return !work->format && !work->live_format &&
           (work->call->set.zstd || (n > 4 && strcmp(output + n - 4, ".zst") == 0));
}

/* Returns the name of the output for messages. */
static const char *get_output_name(const struct work *work)
{
    return strcmp(work->recording.path, "-") == 0 ? "standard output" : work->recording.path;
}

static int open_manager(struct work *work)
{
    const struct settings *set = &work->call->set;
    ttr_error error;
    if (!join_categories(work))
        return OUTCOME_OUTPUT;
    const ttr_manager_options options = {.size = sizeof options,
                                         .fd = work->recording.fd,
                                         .mode = record_parse_mode(set->ring_mode),
                                         .buffer_bytes = set->ring_size,
                                         .categories = work->categories,
                                         .zone_min_ns = (uint64_t)set->min_duration,
                                         .is_compressed = is_compressed(work),
                                         .live_fd = work->live_format ? 0 : work->live.fd,
                                         .rotate_bytes = work->rotation.bytes,
                                         .rotate_ms = work->rotation.ms,
                                         .next_output = record_rotation_next,
                                         .user_data = &work->rotation,
                                         .max_bytes = set->max_size,
                                         .output_name = set->output ? set->output : DEFAULT_OUTPUT};
    work->manager = ttr_manager_open(&options, &error);
    if (work->manager) {
        (void)snprintf(work->variable, sizeof work->variable, SOCKET_VARIABLE "=%s",
                       ttr_manager_socket(work->manager));
        return OUTCOME_FINE;
    }
    if (error.status == TTR_E_MISUSE)
        return report_misuse(work->call->command->name, "%s", error.text);
    report_error(work->call, get_output_name(work), &error);
    return OUTCOME_OUTPUT;
}

static int start_program(struct work *work)
{
    (void)unsetenv(SOCKET_VARIABLE); /* set if this command itself runs in a recording */
    if (launch_start(&work->launch, work->call->path, work->call->paths_n, work->variable,
                     strcmp(work->recording.path, "-") == 0 ||
                         (work->call->set.live_output && !work->call->set.live_output[0])))
        return OUTCOME_FINE;
    report_failure_text(work->call->path[0], "cannot be run: %s", strerror(errno));
    return OUTCOME_INPUT;
}

/* Asks the processes of --attach to connect. Returns the outcome. */
static int attach_processes(struct work *work)
{
    const struct words *words = &work->call->set.attach;
    for (size_t i = 0; i < words->n; i++) {
        ttr_error error;
        char *end;
        const uint64_t pid = strtoull(words->list[i], &end, 10);
        if (pid == 0 || *end)
            return report_misuse(work->call->command->name,
                                 "--attach cannot be \"%s\": expected the number of a process",
                                 words->list[i]);
        if (ttr_manager_attach(work->manager, pid, &error) != TTR_OK) {
            report_error(work->call, "--attach", &error);
            return OUTCOME_INPUT;
        }
    }
    return OUTCOME_FINE;
}

/* Returns true if the recording of running processes ends: by a signal, a request, or because all
 * of them have ended. */
static bool has_attached_ended(const struct work *work)
{
    const struct words *words = &work->call->set.attach;
    bool is_alive = false;
    for (size_t i = 0; i < words->n; i++)
        is_alive |= kill((pid_t)strtoll(words->list[i], NULL, 10), 0) == 0 || errno != ESRCH;
    return !is_alive || work->forwarded || !work->manager;
}

/* Passes a signal on to the program, once.  A terminal has sent Ctrl-C to it already. */
static void forward_signal(struct work *work)
{
    const int signal_number = interrupt_was_received();
    if (!signal_number || work->forwarded)
        return;
    work->forwarded = signal_number;
    if (!work->launch.pid)
        return;
    if (launch_has_ended(&work->launch))
        return;
    if (signal_number != SIGINT || !work->call->term.error_is_tty)
        (void)kill(work->launch.pid, signal_number);
}

/* Writes a snapshot if SIGUSR2 or a trigger of a program asks for it. */
static ttr_status write_snapshots(struct work *work, ttr_error *error)
{
    char trigger[108];
    const char *name = work->call->set.trigger;
    const bool is_dump = interrupt_dump_was_received();
    const bool is_triggered =
        ttr_manager_triggered(work->manager, trigger) && (!name || strcmp(name, trigger) == 0);
    if (!is_triggered && !is_dump)
        return TTR_OK;
    return ttr_manager_snapshot(work->manager, error);
}

static void report_failure(struct work *work, const ttr_error *error)
{
    work->has_failed = true;
    report_error(work->call, get_output_name(work), error);
}

/* Completes the archive. The programs go on without it. */
static void close_manager(struct work *work)
{
    ttr_error error;
    if (!work->manager)
        return;
    if (ttr_manager_snapshot(work->manager, &error) != TTR_OK)
        report_failure(work, &error);
    ttr_manager_get_stats(work->manager, &work->stats);
    if (ttr_manager_close(work->manager, &error) != TTR_OK && !work->has_failed)
        report_failure(work, &error);
    work->recording.written = work->stats.bytes;
    work->manager = NULL;
}

/* Serves programs for a while. Ends the recording if a controller asked for that. */
static void serve_manager(struct work *work, unsigned limit_ms, int wake_fd)
{
    ttr_error error;
    ttr_status status = ttr_manager_run(work->manager, limit_ms, wake_fd, &error);
    if (status == TTR_OK)
        status = write_snapshots(work, &error);
    if (status != TTR_OK)
        report_failure(work, &error);
    if (status != TTR_OK || ttr_manager_stop_requested(work->manager))
        close_manager(work);
}

/* Waits while no manager is open. */
static void wait_for_program(unsigned limit_ms, int wake_fd)
{
    struct pollfd wait = {.fd = wake_fd, .events = POLLIN};
    (void)poll(&wait, 1, (int)limit_ms);
}

/* Returns true if the recording of a command ends: the command has ended, and no process that it
 * started is connected any more, or the user or the end of the parent ends the wait for those. */
static bool has_command_ended(struct work *work)
{
    ttr_manager_stats stats;
    if (!launch_has_ended(&work->launch))
        return false;
    if (!work->manager || work->forwarded || getppid() != work->parent)
        return true;
    if (!work->is_waiting) /* events and ends of connections that are not handled yet */
        serve_manager(work, 0, -1);
    if (!work->manager)
        return true;
    ttr_manager_get_stats(work->manager, &stats);
    if (stats.connected > 0 && !work->is_waiting)
        print_note(work->call,
                   "%s has ended; %" PRIu32 " process(es) that it started are still recorded: "
                   "Ctrl-C ends that",
                   work->call->path[0], stats.connected);
    work->is_waiting = stats.connected > 0;
    return !work->is_waiting;
}

/* Returns true if the time of --duration is over. For running processes it starts when all of them
 * have connected: each does so at its next event. */
static bool is_time_over(struct work *work)
{
    const uint64_t now = progress_now();
    ttr_manager_stats stats = {.programs = 0};
    if (!work->recording.limit_ns || work->forwarded)
        return false;
    if (work->manager)
        ttr_manager_get_stats(work->manager, &stats);
    if (stats.programs < work->call->set.attach.n && now - work->requested_ns < ATTACH_WAIT_NS)
        work->recording.begin_ns = now;
    return now - work->recording.begin_ns >= work->recording.limit_ns;
}

static void run_manager(struct work *work)
{
    bool has_ended;
    work->requested_ns = work->recording.begin_ns = progress_now();
    interrupt_enable_dumps();
    do {
        has_ended = work->launch.pid ? has_command_ended(work) : has_attached_ended(work);
        const int wake_fd = work->forwarded ? -1 : interrupt_get_wake_fd();
        const unsigned limit_ms = has_ended ? 0 : SLICE_MS;
        if (work->manager)
            serve_manager(work, limit_ms, wake_fd);
        else
            wait_for_program(limit_ms, wake_fd);
        forward_signal(work);
        if (is_time_over(work)) {
            work->forwarded = SIGTERM;
            if (work->launch.pid && !launch_has_ended(&work->launch))
                (void)kill(work->launch.pid, SIGTERM);
        }
    } while (!has_ended);
}

/* --- The end --- */

/* Waits until the second process has read all events. */
static void end_live(struct work *work)
{
    if (work->live_format && work->recording.fd >= 0) {
        (void)close(work->recording.fd);
        work->recording.fd = -1;
    }
    record_rotation_end(&work->rotation);
    const int status = record_live_end(&work->live);
    if (status <= OUTCOME_NO)
        return;
    work->has_failed = true;
    print_note(work->call, "the live output failed");
}

static void print_summary(const struct work *work)
{
    const struct call *call = work->call;
    const ttr_manager_stats *stats = &work->stats;
    if (stats->programs == 0 && call->set.attach.n)
        print_note(call, "nothing was recorded: the process had no event of its categories");
    else if (stats->programs == 0)
        print_note(call,
                   "%s recorded nothing: no program connected; is it linked with "
                   "libtracetta-trace, and does it define categories?",
                   call->path[0]);
    else if (stats->events + stats->dropped + stats->unwritten == 0 && !stats->is_limited)
        print_note(call,
                   "no event was recorded: %" PRIu32
                   " process(es) connected, but wrote none of the "
                   "chosen categories",
                   stats->programs);
    if (stats->dropped)
        print_note(call, "%s event(s) were dropped: a ring was full; use a larger --buffer",
                   units_count(stats->dropped).s);
    if (stats->is_limited)
        print_note(call, "the recording ended at --max-size=%s", units_size(call->set.max_size).s);
    else if (stats->unwritten)
        print_note(call, "%s of events could not be written", units_size(stats->unwritten).s);
    if (stats->invalid || stats->expelled)
        print_note(call,
                   "%s of invalid records were left out, %" PRIu32 " program(s) were disconnected",
                   units_size(stats->invalid).s, stats->expelled);
    if (stats->refused)
        print_note(call,
                   "%" PRIu32 " connection(s) were refused: too many programs, no memory for "
                   "their rings, or another version of libtracetta-trace",
                   stats->refused);
    if (call->term.error_is_tty || call->set.verbose)
        print_note(call, "recorded %s event(s) of %" PRIu32 " process(es), %s in %s",
                   units_count(stats->events).s, stats->programs, units_size(stats->bytes).s,
                   get_output_name(work));
}

/* Returns the exit status of the command after the program has ended. */
static int choose_exit_status(const struct work *work)
{
    const int status = work->launch.status;
    if (work->has_failed)
        return FAILED;
    if (WIFSIGNALED(status))
        return 128 + WTERMSIG(status);
    if (WEXITSTATUS(status) == 0 && work->call->set.fail_on_loss &&
        (work->stats.dropped || work->stats.unwritten || work->stats.invalid))
        return OUTCOME_NO;
    return WEXITSTATUS(status);
}

/* Empties the output of a recording that did not start, so that recording_discard removes it. */
static void remove_output(struct work *work)
{
    if (work->recording.is_regular && ftruncate(work->recording.fd, 0) == 0)
        work->recording.written = 0;
}

int run_record(struct call *call)
{
    struct work work = {.call = call, .parent = getppid(), .recording = {.call = call, .fd = -1}};
    int outcome = check_operands(call);
    if (outcome == OUTCOME_FINE && call->set.duration &&
        !dotnet_parse_duration(call->set.duration, &work.recording.limit_ns))
        outcome = report_misuse(call->command->name,
                                "--duration cannot be \"%s\": expected 30s, 5min, or dd:hh:mm:ss",
                                call->set.duration);
    if (outcome != OUTCOME_FINE)
        return outcome;
    outcome = choose_output_format(&work);
    if (outcome == OUTCOME_FINE)
        outcome = open_output(&work);
    if (outcome == OUTCOME_FINE)
        outcome = open_live(&work);
    if (outcome == OUTCOME_FINE)
        outcome = open_manager(&work);
    if (outcome == OUTCOME_FINE)
        outcome = call->set.attach.n ? attach_processes(&work) : start_program(&work);
    const bool is_started = outcome == OUTCOME_FINE;
    if (is_started)
        run_manager(&work);
    close_manager(&work);
    end_live(&work);
    free(work.categories);
    if (is_started) {
        print_summary(&work);
        if (work.format)
            convert_events(&work);
        outcome = choose_exit_status(&work);
    } else {
        remove_output(&work);
        outcome = outcome == OUTCOME_MISUSE ? outcome : FAILED;
    }
    recording_discard(&work.recording);
    launch_end(&work.launch);
    free(work.events_path);
    return outcome;
}
