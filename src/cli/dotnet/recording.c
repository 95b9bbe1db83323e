/* Writes the stream of a session to a file; recording.h describes it. */
#include "cli/dotnet/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/collect.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/dotnet/launch.h"
#include "cli/ui/progress.h"
#include "cli/ui/messages.h"

#define PIECE (1u << 20) /* bytes read from the session at a time */
/* ms between two checks of time limit, keyboard and program */
#define SLICE_MS 100u
/* ns; a requested stop is abandoned if no data arrive for this time */
#define SILENCE_NS UINT64_C(30000000000)
/* After a write error, data are read for this time (ns), so that the program is not blocked. */
#define FULL_NS UINT64_C(5000000000)
#define TTY_STEP_NS UINT64_C(200000000)
#define JSON_STEP_NS UINT64_C(500000000)

int recording_open(struct recording *recording, const char *path, bool overwrite)
{
    struct stat about;
    bool is_there = strcmp(path, "-") != 0 && stat(path, &about) == 0;
    recording->path = path;
    if (strcmp(path, "-") == 0) {
        if (recording->call->term.out_is_tty)
            return report_misuse(
                recording->call->command->name,
                "standard output is a terminal, and a trace is not text: use -o FILE");
        recording->fd = dup(STDOUT_FILENO);
    } else if (is_there && S_ISREG(about.st_mode) && !overwrite) {
        report_failure_text(path, "the file exists; --overwrite replaces it");
        return OUTCOME_OUTPUT;
    } else {
        recording->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    }
    if (recording->fd < 0)
        return report_unwritable_output(path, errno);
    recording->is_made = !is_there && strcmp(path, "-") != 0;
    recording->is_regular =
        fstat(recording->fd, &about) == 0 && S_ISREG(about.st_mode) && strcmp(path, "-") != 0;
    return OUTCOME_FINE;
}

void recording_discard(struct recording *recording)
{
    if (recording->fd >= 0)
        (void)close(recording->fd);
    recording->fd = -1;
    if (recording->is_made && recording->written == 0)
        (void)unlink(recording->path);
}

/* --- Messages --- */

static const char *get_displayed_path(const struct recording *recording)
{
    return strcmp(recording->path, "-") == 0 ? "standard output" : recording->path;
}

void recording_show_progress(struct recording *recording, uint64_t now)
{
    const struct call *call = recording->call;
    const char *how = call->set.progress ? call->set.progress : "auto";
    bool is_json = strcmp(how, "json") == 0;
    bool is_on = is_json || (strcmp(how, "auto") == 0 && call->term.error_is_tty &&
                             !call->set.quiet && !recording->launch);
    if (!is_on || now < recording->next_ns)
        return;
    recording->next_ns = now + (is_json ? JSON_STEP_NS : TTY_STEP_NS);
    if (!is_json) {
        (void)fprintf(
            stderr, "\r%s  %s  %s\x1b[K", recording->is_stopping ? "stopping" : "recording",
            units_duration(now - recording->begin_ns).s, units_size(recording->written).s);
        recording->is_shown = true;
        return;
    }
    struct json json = {.to = stderr, .is_flat = true};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.progress/1");
    json_write_string(&json, "what", recording->is_stopping ? "stopping" : "recording");
    json_write_uint(&json, "bytes", recording->written);
    json_write_float(&json, "seconds", (double)(now - recording->begin_ns) / 1e9);
    json_close(&json, '}');
}

void recording_clear_progress(struct recording *recording)
{
    if (recording->is_shown)
        (void)fputs("\r\x1b[K", stderr);
    recording->is_shown = false;
}

/* Returns true if the user pressed Enter. Does not read the terminal if it belongs to another
 * process group. */
static bool is_enter_pressed(const struct recording *recording)
{
    struct pollfd keyboard = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[256];
    if (recording->launch || !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
        poll(&keyboard, 1, 0) <= 0)
        return false;
    return read(STDIN_FILENO, line, sizeof line) > 0;
}

/* --- The stream --- */

/* Returns true if the output is a pipe that its reader has closed, as "| head" does. That is not an
 * error. */
static bool is_reader_gone(const struct recording *recording)
{
    struct pollfd pipe = {.fd = recording->fd};
    return !recording->is_regular && poll(&pipe, 1, 0) > 0 && pipe.revents & (POLLERR | POLLHUP);
}

bool recording_is_enough(struct recording *recording, uint64_t now)
{
    recording->is_left |= is_reader_gone(recording);
    recording->is_full |= recording->is_left;
    return recording->is_full || interrupt_was_received() || recording->is_met ||
           (recording->limit_ns && now - recording->begin_ns >= recording->limit_ns) ||
           is_enter_pressed(recording);
}

/* Asks the runtime to end the session. Returns false after reporting an error. */
static bool begin_stop(struct recording *recording, uint64_t now)
{
    ttr_error error;
    recording->is_stopping = true;
    recording->stop_ns = recording->heard_ns = now;
    ttr_dotnet_set_wake_fd(recording->target, -1);
    if (ttr_dotnet_stop(recording->session, &error) == TTR_OK)
        return true;
    report_error(recording->call, recording->what, &error);
    return false;
}

/* Writes all bytes. Returns 0 or an errno. */
static int write_bytes(struct recording *recording, const uint8_t *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t wrote = write(recording->fd, bytes + at, n - at);
        struct pollfd wait = {.fd = recording->fd, .events = POLLOUT};
        if (wrote < 0 && errno == EAGAIN)
            (void)poll(&wait, 1, (int)SLICE_MS);
        else if (wrote < 0 && errno != EINTR)
            return errno;
        if (wrote <= 0)
            continue;
        at += (size_t)wrote;
        recording->written += (uint64_t)wrote;
    }
    return 0;
}

bool recording_write_bytes(struct recording *recording, const void *bytes, size_t n)
{
    int failed = write_bytes(recording, bytes, n);
    if (failed && failed != EPIPE) {
        recording_clear_progress(recording);
        report_failure_text(get_displayed_path(recording), "cannot write: %s; the recording stops",
                            strerror(failed));
    }
    recording->is_full = failed != 0;
    recording->is_left = failed == EPIPE;
    return failed == 0;
}

static void keep_in_memory(struct recording *recording, const uint8_t *bytes, size_t n)
{
    ttr_dotnet_report report = {.size = sizeof report};
    if (recording->is_full || !recording_write_bytes(recording, bytes, n))
        return;
    ttr_dotnet_session_report(recording->session, &report);
    recording->whole = report.complete_bytes;
    recording->closing_n = report.closing_n;
    memcpy(recording->closing, report.closing, sizeof report.closing);
}

/* Returns true if a requested stop takes too long: no data arrive, or the output has failed. */
static bool is_stop_overdue(const struct recording *recording, uint64_t now)
{
    return recording->is_stopping && (now - recording->heard_ns > SILENCE_NS ||
                                      (recording->is_full && now - recording->stop_ns > FULL_NS));
}

/* Reads the next bytes and writes them to the file. Returns TTR_OK with *got bytes, TTR_AGAIN, or
 * TTR_END, also if the stream was cut off (reported at the end). Any other status is an error that
 * was reported. */
static ttr_status read_session_chunk(struct recording *recording, void *to, size_t n, size_t *got)
{
    ttr_error error;
    uint64_t now = progress_now();
    *got = 0;
    if (recording_is_enough(recording, now) && !recording->is_stopping &&
        !begin_stop(recording, now))
        return TTR_E_IO;
    recording->is_given_up = is_stop_overdue(recording, now);
    if (recording->is_given_up)
        return TTR_END;
    recording_show_progress(recording, now);
    if (recording->launch)
        (void)launch_has_ended(recording->launch);
    ttr_status status = ttr_dotnet_read(recording->session, to, n, SLICE_MS, got, &error);
    if (status == TTR_OK) {
        recording->heard_ns = now;
        keep_in_memory(recording, to, *got);
    } else if (status != TTR_AGAIN && status != TTR_END) {
        recording_clear_progress(recording);
        report_error(recording->call, recording->what, &error);
    }
    return status;
}

/* Copies the stream to the file until it ends. Returns the outcome. */
static int copy_session_bytes(struct recording *recording, uint8_t *piece)
{
    ttr_status status;
    size_t got;
    do
        status = read_session_chunk(recording, piece, PIECE, &got);
    while (status == TTR_OK || status == TTR_AGAIN);
    return status == TTR_END ? OUTCOME_FINE : OUTCOME_INPUT;
}

/* Implements ttr_pull: reads from the session and also writes the bytes to the file. */
static int64_t pull_and_store(void *ctx, void *to, size_t n)
{
    size_t got;
    ttr_status status;
    do
        status = read_session_chunk(ctx, to, n, &got);
    while (status == TTR_AGAIN);
    return status == TTR_OK ? (int64_t)got : 0;
}

/* Decodes the stream while recording, to find the event that ends it. If decoding fails, recording
 * continues without this check. */
static void watch_for_stop_event(struct recording *recording)
{
    static const char *const at_once[] = {"nettrace.order=block", NULL};
    const ttr_read_options options = {
        .size = sizeof options, .from = "nettrace", .format_options = at_once};
    ttr_error error = {.text = "no memory"};
    ttr *t = ttr_new(NULL);
    ttr_reader *reader =
        t ? ttr_open_pull(t, pull_and_store, recording, recording->what, &options, &error) : NULL;
    ttr_batch batch;
    ttr_status status = reader ? TTR_OK : TTR_E_IO;
    while (reader && ((status = ttr_read(reader, &batch, &error)) == TTR_OK || status == TTR_AGAIN))
        for (uint32_t i = 0; status == TTR_OK && i < batch.n; i++)
            recording->is_met = recording->is_met || stop_condition_is_met(&recording->stopping, t,
                                                                           ttr_batch_at(&batch, i));
    if (status != TTR_END)
        print_note(recording->call,
                   "the event that would end the recording can no longer be seen: %s", error.text);
    ttr_close(reader);
    ttr_free(t);
}

/* Truncates a file of an interrupted stream after its last complete block and writes the end
 * marker. Returns the number of bytes removed. */
static uint64_t close_cut_file(struct recording *recording)
{
    if (!recording->is_regular || recording->whole == 0)
        return 0;
    uint64_t left_out = recording->written - recording->whole;
    if (ftruncate(recording->fd, (off_t)recording->whole) != 0 ||
        lseek(recording->fd, (off_t)recording->whole, SEEK_SET) < 0)
        return 0;
    (void)write_bytes(recording, recording->closing, recording->closing_n);
    return left_out;
}

/* Reports that, and why, the stream ended without an end marker. */
static int report_cut_file(struct recording *recording)
{
    char how[80];
    bool has_nothing = recording->whole == 0;
    uint64_t left_out = close_cut_file(recording);
    const char *kept = has_nothing             ? "nothing of it can be read"
                       : recording->is_regular ? "what came before is in"
                                               : "the trace is cut in";
    if (recording->launch && launch_has_ended(recording->launch))
        report_failure_text(recording->what, "%s before the trace was complete; %s %s",
                            launch_format_status(recording->launch, how, sizeof how), kept,
                            get_displayed_path(recording));
    else if (recording->is_given_up)
        report_failure_text(recording->what,
                            "the runtime does not answer the request to stop; %s %s", kept,
                            get_displayed_path(recording));
    else
        report_failure_text(
            recording->what,
            "was killed, or its runtime closed the trace before it was complete; %s %s", kept,
            get_displayed_path(recording));
    if (left_out)
        print_note(recording->call,
                   "the last %" PRIu64
                   " bytes were part of a block that never came whole, and are left out",
                   left_out);
    print_note(recording->call, "methods that only the rundown at the end names are missing");
    return OUTCOME_NO;
}

static int finish_file(struct recording *recording, int outcome)
{
    ttr_dotnet_report report = {.size = sizeof report};
    ttr_dotnet_session_report(recording->session, &report);
    if (recording->is_full) {
        (void)close_cut_file(recording);
        outcome = recording->is_left ? OUTCOME_FINE : OUTCOME_OUTPUT;
    } else if (outcome == OUTCOME_FINE && !report.has_end) {
        outcome = report_cut_file(recording);
    }
    if (close(recording->fd) != 0 && outcome == OUTCOME_FINE)
        outcome = report_unwritable_output(get_displayed_path(recording), errno);
    recording->fd = -1;
    return outcome;
}

/* Reads the file to its end. Returns false if it cannot be read, or if the user stops that. */
static bool count_events(const struct recording *recording, ttr_report *report)
{
    const ttr_read_options options = {.size = sizeof options, .from = "nettrace"};
    ttr *t = recording->is_regular ? ttr_new(NULL) : NULL;
    ttr_reader *reader = t ? ttr_open(t, recording->path, &options, NULL) : NULL;
    ttr_batch batch;
    ttr_status status = reader ? TTR_OK : TTR_E_IO;
    while (status == TTR_OK && !interrupt_was_received())
        status = ttr_read(reader, &batch, NULL);
    bool is_counted = status == TTR_END && ttr_reader_report(reader, 0, report);
    ttr_close(reader);
    if (t)
        ttr_free(t);
    return is_counted;
}

/* Reports duration, bytes, events and losses. Without a terminal only losses, because a file with
 * losses may mislead. */
static void report_recording_end(const struct recording *recording, uint64_t took)
{
    ttr_report report = {.size = sizeof report};
    char events[60] = "";
    bool is_told = recording->call->term.error_is_tty || recording->call->set.verbose;
    bool is_counted = count_events(recording, &report);
    if (is_counted)
        (void)snprintf(events, sizeof events, "%s, ", units_events(report.events).s);
    if (is_told)
        print_note(recording->call, "recorded %s: %s%s in %s", units_duration(took).s, events,
                   units_size(recording->written).s, get_displayed_path(recording));
    if (is_counted && report.lost)
        print_note(recording->call,
                   "warning: %s lost, of %s: use a larger --buffersize or fewer providers",
                   units_events(report.lost).s, units_events(report.lost + report.events).s);
}

int recording_run(struct recording *recording)
{
    uint8_t *piece = malloc(PIECE);
    if (!piece) {
        report_failure_text(recording->what, "no memory");
        return OUTCOME_OUTPUT;
    }
    recording->begin_ns = progress_now();
    if (recording->is_regular && ftruncate(recording->fd, 0) != 0)
        print_note(recording->call, "%s cannot be emptied: %s", recording->path, strerror(errno));
    if (stop_condition_is_set(&recording->stopping))
        watch_for_stop_event(recording);
    int outcome = copy_session_bytes(recording, piece);
    uint64_t took = progress_now() - recording->begin_ns;
    recording_clear_progress(recording);
    outcome = finish_file(recording, outcome);
    free(piece);
    report_recording_end(recording, took);
    return outcome;
}
