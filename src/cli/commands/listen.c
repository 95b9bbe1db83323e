/* listen: receives traces over a network until Ctrl-C, and writes a file per sender or one merged
 * trace. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/formats.h>
#include <tracetta/network.h>

#include "cli/commands/command.h"
#include "cli/commands/convert.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/input/format_query.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define SLICE_MS 100u
#define PATH_LIMIT 4096u

/* The state of one call. */
struct listening {
    struct call *call;
    ttr_receiver *receiver;
    ttr_receiver_options options;
    uint64_t limit_ns, begin_ns;
    bool is_stdout; /* the merged trace is written to standard output */
    /* format that the captured files are converted to at the end; NULL = the files are the output
     */
    const char *format;
    char parts[PATH_LIMIT]; /* folder of the captured files if `format` is set */
};

/* --- Options --- */

/* Parses a duration in seconds, or with a unit, as milliseconds. */
static int read_duration(const struct call *call, const char *option, const char *text,
                         uint64_t *ms)
{
    uint64_t ns;
    if (!text)
        return OUTCOME_FINE;
    if (!dotnet_parse_duration(text, &ns) || ns < 1000000)
        return report_misuse(call->command->name,
                             "--%s cannot be \"%s\": expected a time from 1ms on, such as 30s",
                             option, text);
    *ms = ns / 1000000;
    return OUTCOME_FINE;
}

static int read_options(struct listening *listening)
{
    const struct settings *set = &listening->call->set;
    ttr_receiver_options *options = &listening->options;
    uint64_t limit_ms = 0;
    *options = (ttr_receiver_options){.size = sizeof *options,
                                      .addresses = (const char *const *)listening->call->path,
                                      .addresses_n = listening->call->paths_n,
                                      .output = -1,
                                      .rotate_bytes = set->rotate_size,
                                      .queue_bytes = set->queue_size,
                                      .packet_max = set->max_packet,
                                      .wake_fd = interrupt_get_wake_fd()};
    if (set->when_full && strcmp(set->when_full, "drop") == 0)
        options->policy = TTR_QUEUE_DROP;
    else if (set->when_full && strcmp(set->when_full, "wait") == 0)
        options->policy = TTR_QUEUE_WAIT;
    if (set->max_sources > 65536)
        return report_misuse(listening->call->command->name, "--max-sources is at most 65536");
    options->sources_max = (uint32_t)set->max_sources;
    if (set->max_sessions > 65536)
        return report_misuse(listening->call->command->name, "--max-sessions is at most 65536");
    options->sessions_max = (uint32_t)set->max_sessions;
    options->metadata = set->metadata_file;
    int outcome =
        read_duration(listening->call, "rotate-time", set->rotate_time, &options->rotate_ms);
    if (outcome == OUTCOME_FINE)
        outcome = read_duration(listening->call, "idle", set->idle, &options->idle_ms);
    if (outcome == OUTCOME_FINE)
        outcome = read_duration(listening->call, "duration", set->duration, &limit_ms);
    listening->limit_ns = limit_ms * 1000000;
    return outcome;
}

/* Creates the folder of files that are converted at the end: next to the output, or a temporary
 * one.
 */
static int open_part_folder(struct listening *listening)
{
    const char *path = listening->call->set.output, *temporary = getenv("TMPDIR");
    bool is_stdout = strcmp(path, "-") == 0;
    int n = snprintf(listening->parts, sizeof listening->parts, "%s%s",
                     !is_stdout  ? path
                     : temporary ? temporary
                                 : "/tmp",
                     is_stdout ? "/tracetta-listen-XXXXXX" : ".parts-XXXXXX");
    if (n < 0 || (size_t)n >= sizeof listening->parts)
        return report_misuse(listening->call->command->name, "the path of the output is too long");
    if (!mkdtemp(listening->parts))
        return report_unwritable_output(listening->parts, errno);
    listening->options.folder = listening->parts;
    return OUTCOME_FINE;
}

/* Opens the output: "-" and a file with the suffix of a format are one merged trace, any other path
 * is a folder. */
static int open_output(struct listening *listening)
{
    const struct call *call = listening->call;
    const char *path = call->set.output;
    struct stat about;
    if (!path || !*path)
        return report_misuse(call->command->name,
                             "no output: use -o FOLDER for a file per sender, or -o FILE or -o - "
                             "for one merged trace");
    listening->is_stdout = strcmp(path, "-") == 0;
    const bool is_there = stat(path, &about) == 0;
    const char *format = call->set.to ? call->set.to : guess_output_format(path);
    bool is_folder = !call->set.to && (is_there ? S_ISDIR(about.st_mode) : !format);
    if (is_folder && !listening->is_stdout) {
        listening->options.folder = path;
        return OUTCOME_FINE;
    }
    if (listening->options.rotate_bytes || listening->options.rotate_ms)
        return report_misuse(call->command->name,
                             "--rotate-size and --rotate-time need a folder: use -o FOLDER");
    if (format && !is_folder && !format_query_has(format, TTR_FORMAT_PACKETS)) {
        listening->format = format;
        if (is_there && !call->set.overwrite) {
            report_failure_text(path, "the file exists; --overwrite replaces it");
            return OUTCOME_OUTPUT;
        }
        return open_part_folder(listening);
    }
    if (listening->is_stdout && call->set.json)
        return report_misuse(call->command->name,
                             "--json prints to standard output, which is the trace: use -o FILE");
    if (listening->is_stdout && call->term.out_is_tty)
        return report_misuse(call->command->name,
                             "standard output is a terminal, and a trace is not text: use -o FILE");
    int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (call->set.overwrite ? O_TRUNC : O_EXCL);
    listening->options.output = listening->is_stdout ? dup(STDOUT_FILENO) : open(path, flags, 0666);
    if (listening->options.output >= 0)
        return OUTCOME_FINE;
    if (errno != EEXIST)
        return report_unwritable_output(path, errno);
    report_failure_text(path, "the file exists; --overwrite replaces it");
    return OUTCOME_OUTPUT;
}

/* --- Messages --- */

/* Writes a number of events; null if only packets without such a number arrived. */
static void write_events(struct json *json, uint64_t events, uint64_t uncounted_packets)
{
    if (events == 0 && uncounted_packets)
        json_write_member(json, (ttr_text){"events", 6}, &(ttr_value){.type = TTR_TYPE_NULL});
    else
        json_write_uint(json, "events", events);
}

static void print_source(const char *stage, const ttr_received *received)
{
    struct json json = {.to = stdout, .is_flat = true};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.listen/1");
    json_write_string(&json, "what", stage);
    json_write_string(&json, "peer", received->peer);
    json_write_string(&json, "format", received->format);
    json_write_string(&json, "path", received->path);
    if (received->has_epoch)
        json_write_uint(&json, "epoch_ns", received->epoch_ns);
    json_write_uint(&json, "bytes", received->bytes);
    if (received->is_packets) {
        json_write_uint(&json, "packets", received->packets);
        write_events(&json, received->events, received->uncounted_packets);
        json_write_uint(&json, "lost", received->lost);
        json_write_uint(&json, "before_first", received->before_first);
        json_write_uint(&json, "lost_packets", received->lost_packets);
        json_write_uint(&json, "late", received->late);
        json_write_uint(&json, "duplicates", received->duplicates);
        json_write_uint(&json, "dropped_packets", received->dropped);
        json_write_uint(&json, "dropped_events", received->dropped_events);
        json_write_bool(&json, "is_complete", received->is_complete);
    }
    if (*received->reason)
        json_write_string(&json, "reason", received->reason);
    json_write_uint(&json, "garbage_bytes", received->garbage);
    json_write_uint(&json, "files", received->files);
    json_write_uint(&json, "resumed", received->resumed);
    json_close(&json, '}');
    (void)fflush(stdout);
}

/* Prints the counts of a sender that are not 0. */
static void print_peer_losses(const struct call *call, const char *peer,
                              const ttr_received *received)
{
    if (received->lost)
        print_note(call, "%s: %" PRIu64 " events are missing by their counters", peer,
                   received->lost);
    if (received->before_first)
        print_note(call, "%s: %" PRIu64 " events precede the first: lost, or sent before listening",
                   peer, received->before_first);
    if (received->lost_packets && !received->lost)
        print_note(call, "%s: %" PRIu64 " packets are missing by their numbers", peer,
                   received->lost_packets);
    if (received->late || received->duplicates)
        print_note(call, "%s: %" PRIu64 " packets came late, %" PRIu64 " came twice", peer,
                   received->late, received->duplicates);
    if (received->dropped)
        print_note(call,
                   "%s: %" PRIu64 " packets were dropped because the queue was full; a larger "
                   "--queue-size helps",
                   peer, received->dropped);
    if (!received->is_complete)
        print_note(call, "%s: a stream restarted or was not counted, or metadata are missing",
                   peer);
    if (received->garbage)
        print_note(call, "%s: %" PRIu64 " bytes are not packets", peer, received->garbage);
}

static void report_source(void *user_data, ttr_source_stage stage, const ttr_received *received)
{
    static const char *const stages[] = {"begin", "end", "refused"};
    const struct listening *listening = user_data;
    const struct call *call = listening->call;
    if (call->set.json) {
        print_source(stages[stage], received);
        return;
    }
    if (stage == TTR_SOURCE_REFUSED)
        print_note(call, "%s: refused: %s", received->peer, received->reason);
    else if (stage == TTR_SOURCE_BEGUN)
        print_note(call, "%s: receiving %s%s%s", received->peer, received->format,
                   *received->path ? " into " : "", received->path);
    else if (received->packets && !received->events)
        print_note(call, "%s: %s packets, %s", received->peer, units_count(received->packets).s,
                   units_size(received->bytes).s);
    else
        print_note(call, "%s: %s, %s", received->peer,
                   received->is_packets ? units_events(received->events).s : "ended",
                   units_size(received->bytes).s);
    if (stage == TTR_SOURCE_ENDED)
        print_peer_losses(call, received->peer, received);
}

static void print_totals(const ttr_receiver_totals *totals)
{
    struct json json = {.to = stdout, .is_flat = true};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.listen/1");
    json_write_string(&json, "what", "total");
    json_write_uint(&json, "sources", totals->sources);
    json_write_uint(&json, "bytes", totals->bytes);
    json_write_uint(&json, "packets", totals->packets);
    write_events(&json, totals->events, totals->uncounted_packets);
    json_write_uint(&json, "uncounted_packets", totals->uncounted_packets);
    json_write_uint(&json, "lost", totals->lost);
    json_write_uint(&json, "before_first", totals->before_first);
    json_write_uint(&json, "lost_packets", totals->lost_packets);
    json_write_uint(&json, "late", totals->late);
    json_write_uint(&json, "duplicates", totals->duplicates);
    json_write_uint(&json, "kernel_drops", totals->kernel_drops);
    json_write_uint(&json, "dropped_packets", totals->dropped);
    json_write_uint(&json, "dropped_events", totals->dropped_events);
    json_write_uint(&json, "garbage_bytes", totals->garbage);
    json_write_uint(&json, "garbage_datagrams", totals->garbage_datagrams);
    json_write_uint(&json, "refused", totals->refused);
    json_write_uint(&json, "refused_packets", totals->refused_packets);
    json_write_uint(&json, "cut_off", totals->cut_off);
    json_close(&json, '}');
}

static void report_totals(const struct call *call, const ttr_receiver_totals *totals)
{
    if (call->set.json) {
        print_totals(totals);
        return;
    }
    print_note(call, "%" PRIu64 " source%s, %s, %s", totals->sources,
               totals->sources == 1 ? "" : "s", units_events(totals->events).s,
               units_size(totals->bytes).s);
    if (totals->uncounted_packets)
        print_note(call, "%" PRIu64 " packets have no number of events: these are not counted",
                   totals->uncounted_packets);
    if (totals->kernel_drops)
        print_note(call,
                   "the kernel dropped %" PRIu64 " datagrams: this machine was too busy, or "
                   "net.core.rmem_max is too small",
                   totals->kernel_drops);
    if (totals->garbage_datagrams)
        print_note(call, "%" PRIu64 " datagrams do not start with a packet",
                   totals->garbage_datagrams);
    if (totals->refused_packets)
        print_note(call,
                   "%" PRIu64 " packets of senders that began or restarted too often "
                   "(--max-sessions) were dropped",
                   totals->refused_packets);
    if (totals->cut_off)
        print_note(call, "%" PRIu64 " connections were closed: silent, or without packets",
                   totals->cut_off);
}

/* --- The loop --- */

static bool has_reached_limit(const struct listening *listening)
{
    return interrupt_was_received() ||
           (listening->limit_ns && progress_now() - listening->begin_ns >= listening->limit_ns);
}

static int receive_until_end(struct listening *listening)
{
    const struct call *call = listening->call;
    const char *address;
    ttr_error error = {0};
    ttr_receiver_totals totals = {.size = sizeof totals};
    ttr_status status = TTR_OK;
    for (size_t i = 0; (address = ttr_receiver_address(listening->receiver, i)) != NULL; i++)
        print_note(call, "listening on %s", address);
    listening->begin_ns = progress_now();
    while (status == TTR_OK && !has_reached_limit(listening))
        status = ttr_receiver_step(listening->receiver, SLICE_MS, &error);
    ttr_status closed =
        ttr_receiver_close(listening->receiver, &totals, status == TTR_OK ? &error : NULL);
    status = status == TTR_OK ? closed : status;
    report_totals(call, &totals);
    if (status == TTR_OK)
        return OUTCOME_FINE;
    if (listening->is_stdout && error.sys == EPIPE)
        return OUTCOME_FINE; /* the reader of the pipe has ended, as by "| head" */
    report_error(call, call->set.output, &error);
    return OUTCOME_OUTPUT;
}

/* Removes the captured files and their folder. */
static void remove_parts(const struct listening *listening)
{
    DIR *folder = opendir(listening->parts);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    (void)rmdir(listening->parts);
}

/* Merges the captured files into the output, as "convert" does. Keeps them if that fails. */
static int convert_parts(struct listening *listening, int outcome)
{
    struct call *call = listening->call;
    char *path[] = {listening->parts, NULL};
    if (rmdir(listening->parts) == 0) {
        print_note(call, "nothing was received: no output is written");
        return outcome == OUTCOME_FINE ? OUTCOME_NO : outcome;
    }
    if (outcome == OUTCOME_FINE) {
        interrupt_clear();
        call->path = path;
        call->paths_n = 1;
        call->set.to = listening->format;
        outcome = run_convert(call);
    }
    if (outcome == OUTCOME_FINE)
        remove_parts(listening);
    else
        print_note(call, "the received traces are in %s", listening->parts);
    return outcome;
}

int run_listen(struct call *call)
{
    struct listening listening = {.call = call};
    ttr_error error = {0};
    int outcome = read_options(&listening);
    if (outcome == OUTCOME_FINE)
        outcome = open_output(&listening);
    if (outcome != OUTCOME_FINE)
        return outcome;
    listening.options.source = report_source;
    listening.options.user_data = &listening;
    listening.receiver = ttr_receiver_open(&listening.options, &error);
    if (listening.receiver) {
        outcome = receive_until_end(&listening);
    } else if (error.status == TTR_E_MISUSE) {
        outcome = report_misuse(call->command->name, "%s", error.text);
    } else {
        report_error(call, call->command->name, &error);
        outcome = OUTCOME_INPUT;
    }
    if (listening.options.output >= 0)
        (void)close(listening.options.output);
    return listening.format ? convert_parts(&listening, outcome) : outcome;
}
