/* send: sends a trace over a network, at once or at its own pace. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/network.h>

#include "cli/commands/command.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define PIECE ((size_t)256 * 1024) /* bytes read at a time */

static bool should_continue(void *user_data)
{
    (void)user_data;
    return !interrupt_was_received();
}

/* Reads the next piece, and sends what is waiting while a pipe has none. Returns the number of
 * bytes, 0 at the end, -1 with errno or after a failed flush. */
static ssize_t read_file_piece(int fd, void *to, ttr_sender *sender, ttr_error *error)
{
    struct pollfd wait[] = {{.fd = fd, .events = POLLIN},
                            {.fd = interrupt_get_wake_fd(), .events = POLLIN}};
    if (poll(wait, 1, 0) == 0) {
        if (ttr_sender_flush(sender, error) != TTR_OK)
            return -1;
        (void)poll(wait, 2, -1);
    }
    if (interrupt_was_received())
        return 0;
    ssize_t n;
    do
        n = read(fd, to, PIECE);
    while (n < 0 && errno == EINTR && !interrupt_was_received());
    return n;
}

static void report_sent_bytes(const struct call *call, const ttr_sent *sent, uint64_t begin_ns)
{
    print_note(call, "%s: sent %s, %s in %s", call->path[1], units_events(sent->events).s,
               units_size(sent->bytes).s, units_duration(progress_now() - begin_ns).s);
    if (sent->oversized && strncmp(call->path[1], "udp:", 4) == 0)
        print_note(call, "%" PRIu64 " packets exceed 65507 bytes, the limit of UDP: use tcp:",
                   sent->oversized);
    else if (sent->oversized)
        print_note(call, "%" PRIu64 " packets exceed 16 MiB and were not sent", sent->oversized);
    if (sent->skipped)
        print_note(call, "%" PRIu64 " bytes are not packets and were not sent", sent->skipped);
    if (sent->refused)
        print_note(call, "%" PRIu64 " datagrams met no receiver", sent->refused);
    if (sent->reconnections)
        print_note(call, "connected again %" PRIu64 " times", sent->reconnections);
}

/* Ends the sender and prints the summary or the error. `status` is the result so far. */
static int finish(struct call *call, ttr_sender *sender, ttr_status status, ttr_error *failure,
                  uint64_t begin_ns)
{
    ttr_error error = *failure;
    ttr_sent sent = {.size = sizeof sent};
    ttr_status closed =
        ttr_sender_close(sender, status == TTR_OK, &sent, status == TTR_OK ? &error : NULL);
    status = status == TTR_OK ? closed : status;
    if (status == TTR_AGAIN || status == TTR_OK) {
        report_sent_bytes(call, &sent, begin_ns);
        return sent.oversized ? OUTCOME_OUTPUT : OUTCOME_FINE;
    }
    report_error(call, error.status == TTR_E_IO ? call->path[1] : call->path[0], &error);
    return error.status == TTR_E_UNSUPPORTED || error.status == TTR_E_MALFORMED ? OUTCOME_INPUT
                                                                                : OUTCOME_OUTPUT;
}

/* Sends the bytes of a file. */
static int send_file(struct call *call, int fd, ttr_sender *sender)
{
    const uint64_t begin_ns = progress_now();
    uint8_t *piece = malloc(PIECE);
    ttr_error error = {0};
    ssize_t n = 0;
    ttr_status status = piece ? TTR_OK : TTR_E_NOMEM;
    while (status == TTR_OK && (n = read_file_piece(fd, piece, sender, &error)) > 0)
        status = ttr_sender_write(sender, piece, (size_t)n, &error);
    int reason = errno;
    free(piece);
    if (n < 0 && error.status == TTR_OK) {
        (void)ttr_sender_close(sender, false, NULL, NULL);
        report_failure_text(call->path[0], "cannot be read: %s", strerror(reason));
        return OUTCOME_INPUT;
    }
    return finish(call, sender, n < 0 ? error.status : status, &error, begin_ns);
}

static int send_folder(struct call *call, ttr_sender *sender)
{
    const uint64_t begin_ns = progress_now();
    ttr_error error = {0};
    ttr_status status = ttr_sender_send_folder(sender, call->path[0], &error);
    return finish(call, sender, status, &error, begin_ns);
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

int run_send(struct call *call)
{
    const struct settings *set = &call->set;
    ttr_error error = {0};
    const ttr_sender_options options = {.size = sizeof options,
                                        .address = call->path[1],
                                        .datagram_bytes = (uint32_t)set->datagram_size,
                                        .events_per_second = set->rate,
                                        .is_realtime = set->realtime,
                                        .goes_on = should_continue};
    if (set->rate && set->realtime)
        return report_misuse(call->command->name, "--rate and --realtime exclude each other");
    if (set->datagram_size > 65507)
        return report_misuse(call->command->name, "--datagram-size is at most 65507");
    ttr_sender *sender = ttr_sender_open(&options, &error);
    if (!sender && error.status == TTR_E_MISUSE)
        return report_misuse(call->command->name, "%s", error.text);
    if (!sender) {
        report_error(call, call->path[1], &error);
        return OUTCOME_OUTPUT;
    }
    if (is_folder(call->path[0]))
        return send_folder(call, sender);
    bool is_stdin = strcmp(call->path[0], "-") == 0;
    int fd = is_stdin ? dup(STDIN_FILENO) : open(call->path[0], O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        report_failure_text(call->path[0], "cannot be opened: %s", strerror(errno));
        (void)ttr_sender_close(sender, false, NULL, NULL);
        return OUTCOME_INPUT;
    }
    int outcome = send_file(call, fd, sender);
    (void)close(fd);
    return outcome;
}
