/* query --socket: a statement for a server of "query --serve". */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/commands/query_socket.h"
#include "cli/commands/query_work.h"
#include "cli/ui/messages.h"

bool query_socket_address(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        report_failure_text(path, "is too long for a socket: at most %zu bytes",
                            sizeof address->sun_path - 1);
        return false;
    }
    memcpy(address->sun_path, path, strlen(path));
    return true;
}

bool query_socket_is_own_user(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

/* Sends the head with the two descriptors. */
static bool send_head(int fd, struct query_head *head)
{
    const int outputs[2] = {STDOUT_FILENO, STDERR_FILENO};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof outputs)];
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = head, .iov_len = sizeof *head};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof outputs);
    memcpy(CMSG_DATA(rights), outputs, sizeof outputs);
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *head;
}

static bool send_text(int fd, const char *text, size_t n)
{
    while (n > 0) {
        const ssize_t done = send(fd, text, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            return false;
        if (done <= 0)
            return false;
        text += done;
        n -= (size_t)done;
    }
    return true;
}

#define MILLISECOND ((uint64_t)1000000)

/* Sends the request and waits for the status. Returns false if the server ended before. */
static bool ask(int fd, const struct call *call, const char *sql, unsigned char *status)
{
    const char *format = call->set.format ? call->set.format : "";
    const uint64_t timeout = ((uint64_t)call->set.timeout + MILLISECOND - 1) / MILLISECOND;
    struct query_head head = {.magic = QUERY_MAGIC,
                              .version = QUERY_VERSION,
                              .flags = call->set.quiet ? QUERY_IS_QUIET : 0,
                              .format_n = (uint32_t)strlen(format),
                              .sql_n = (uint32_t)strlen(sql),
                              .timeout_ms = timeout > UINT32_MAX ? 0 : (uint32_t)timeout};
    (void)fflush(stdout);
    return send_head(fd, &head) && send_text(fd, format, head.format_n) &&
           send_text(fd, sql, head.sql_n) && recv(fd, status, 1, 0) == 1;
}

int run_query_client(const struct call *call, const char *sql)
{
    const char *path = call->set.socket_path;
    struct sockaddr_un address;
    unsigned char status = OUTCOME_INPUT;
    if (call->paths_n)
        return report_misuse("query", "--socket asks a server, which has its traces already");
    if (!sql || call->set.output)
        return report_misuse("query", sql ? "--socket prints; redirect its output instead of -o"
                                          : "--socket needs a statement");
    if (!query_socket_address(path, &address))
        return OUTCOME_INPUT;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        report_failure_text(path,
                            "no server answers here: %s; start one with \"tracetta query "
                            "--serve=SOCKET FILE\"",
                            strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return OUTCOME_INPUT;
    }
    if (!query_socket_is_own_user(fd)) {
        report_failure_text(path, "belongs to another user: nothing is sent to it");
        (void)close(fd);
        return OUTCOME_INPUT;
    }
    if (!ask(fd, call, sql, &status)) {
        status = OUTCOME_INPUT;
        report_failure_text(path, "the server ended without an answer");
    }
    (void)close(fd);
    return status;
}
