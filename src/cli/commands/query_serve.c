/* query --serve: keeps traces in memory and answers statements at a Unix socket.
 *
 * One loop reads the requests of all clients, none of which can make it wait. A complete request
 * runs in a process of its own (fork), with the descriptors that the client sent as its outputs, a
 * limit of time and of memory. So a slow statement, or a client that reads slowly,
 * disturbs no other. Only reading a trace again, for columns that no statement has named before, is
 * done by the server itself. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands/query_socket.h"
#include "cli/commands/query_work.h"
#include "cli/input/file_stamp.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define CLIENTS_MAX 16u
#define BACKLOG 64
#define REQUEST_SECONDS 10
#define STEP_MS 200
#define SECOND ((uint64_t)1000000000)
#define MILLISECOND ((uint64_t)1000000)
#define SQL_MAX ((uint32_t)1 << 20)
#define GRACE (5 * SECOND)           /* after its limit of time, a process is killed */
#define MEMORY_MAX ((rlim_t)4 << 30) /* bytes of address space beyond that of the server */
#define TIMEOUT_DEFAULT (60 * SECOND)

/* A client, which sends a request, or the process that answers it. */
struct client {
    int fd; /* -1 = free */
    struct query_head head;
    size_t head_n, text_n; /* bytes that have come */
    char *text;            /* text of the request: output format and SQL */
    int outputs[2];        /* standard output and error of the client; -1 = not sent yet */
    pid_t process;         /* 0 = the request is not complete */
    uint64_t end_ns;       /* the client is dropped, or the process killed */
};

struct server {
    struct query_work *work;
    struct client clients[CLIENTS_MAX];
    int listener;
    struct stat socket;       /* status of the socket file that this process created */
    struct file_stamp *stamp; /* modification times of the trace files, to notice changes */
    char **paths;
    size_t paths_n;
};

static void drop_client(struct client *client)
{
    if (client->fd >= 0)
        (void)close(client->fd);
    for (size_t i = 0; i < 2; i++)
        if (client->outputs[i] >= 0)
            (void)close(client->outputs[i]);
    free(client->text);
    *client = (struct client){.fd = -1, .outputs = {-1, -1}};
}

/* --- Listening --- */

/* Removes a socket that a server left. Returns false if there is a server, or another file. */
static bool remove_stale_socket(const char *path, const struct sockaddr_un *address)
{
    struct stat about;
    if (lstat(path, &about) != 0)
        return true;
    if (!S_ISSOCK(about.st_mode)) {
        report_failure_text(path, "exists and is not a socket");
        return false;
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_used =
        fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
                    errno != ECONNREFUSED);
    if (fd >= 0)
        (void)close(fd);
    if (is_used)
        report_failure_text(path, "another server answers here");
    return !is_used && unlink(path) == 0;
}

static bool start_listening(struct server *server, const char *path)
{
    struct sockaddr_un address;
    if (!query_socket_address(path, &address) || !remove_stale_socket(path, &address))
        return false;
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t mask = umask(0177); /* readable and writable by the user alone */
    const bool is_bound = server->listener >= 0 &&
                          bind(server->listener, (struct sockaddr *)&address, sizeof address) == 0;
    (void)umask(mask);
    if (is_bound && lstat(path, &server->socket) == 0 && listen(server->listener, BACKLOG) == 0)
        return true;
    report_failure_text(path, "cannot listen: %s", strerror(errno));
    return false;
}

/* Removes the socket file, unless it has been replaced. */
static void stop_listening(const struct server *server, const char *path)
{
    struct stat about;
    if (server->listener < 0)
        return;
    (void)close(server->listener);
    if (server->socket.st_ino && lstat(path, &about) == 0 &&
        about.st_ino == server->socket.st_ino && about.st_dev == server->socket.st_dev)
        (void)unlink(path);
}

static void accept_client(struct server *server)
{
    const int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct client *client = NULL;
    for (size_t i = 0; i < CLIENTS_MAX && !client; i++)
        if (server->clients[i].fd < 0)
            client = &server->clients[i];
    if (fd >= 0 && client && query_socket_is_own_user(fd)) {
        *client = (struct client){
            .fd = fd, .outputs = {-1, -1}, .end_ns = progress_now() + REQUEST_SECONDS * SECOND};
        return;
    }
    if (fd >= 0)
        (void)close(fd);
}

/* --- Requests --- */

/* Takes the descriptors out of a message. Returns false if there are others than two. */
static bool keep_outputs(struct client *client, struct msghdr *message)
{
    int fds[8];
    size_t n = 0;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
            continue;
        const size_t sent = (at->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
        for (size_t i = 0; i < sent && n < sizeof fds / sizeof *fds; i++)
            memcpy(&fds[n++], CMSG_DATA(at) + i * sizeof *fds, sizeof *fds);
    }
    const bool is_fine = n == 0 || (n == 2 && client->outputs[0] < 0);
    for (size_t i = 0; i < n; i++)
        if (is_fine)
            client->outputs[i] = fds[i];
        else
            (void)close(fds[i]);
    return is_fine && !(message->msg_flags & MSG_CTRUNC);
}

static bool is_head_valid(const struct query_head *head)
{
    return memcmp(head->magic, QUERY_MAGIC, sizeof head->magic) == 0 &&
           head->version == QUERY_VERSION && head->format_n < QUERY_FORMAT_MAX && head->sql_n > 0 &&
           head->sql_n <= SQL_MAX;
}

/* Reads what a client has sent. Returns false to drop it; *is_complete if the request is. */
static bool read_request(struct client *client, bool *is_complete)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(8 * sizeof(int))];
    } control;
    const bool has_head = client->head_n == sizeof client->head;
    const size_t text_n = has_head ? (size_t)client->head.format_n + client->head.sql_n : 0;
    struct iovec part = {.iov_base = has_head ? client->text + client->text_n
                                              : (char *)&client->head + client->head_n,
                         .iov_len = has_head ? text_n - client->text_n
                                             : sizeof client->head - client->head_n};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const ssize_t n = recvmsg(client->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (!keep_outputs(client, &message) || n == 0)
        return false;
    if (has_head) {
        client->text_n += (size_t)n;
        *is_complete = client->text_n == text_n;
        return true;
    }
    client->head_n += (size_t)n;
    if (client->head_n < sizeof client->head)
        return true;
    if (!is_head_valid(&client->head) || client->outputs[0] < 0)
        return false;
    client->text = calloc(1, (size_t)client->head.format_n + client->head.sql_n + 2);
    return client->text != NULL;
}

/* --- Answering --- */

/* Limits the memory of this process to that of the server and MEMORY_MAX. */
static void limit_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        (void)fclose(file);
    const rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_MAX;
    const struct rlimit limit = {bytes, bytes};
    if (pages)
        (void)setrlimit(RLIMIT_AS, &limit);
}

/* Closes the connections and outputs of the other clients, which fork has copied. Otherwise a
 * reader of such an output would wait for the end of this process. */
static void close_other_clients(struct server *server, const struct client *kept)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (&server->clients[i] != kept)
            drop_client(&server->clients[i]);
}

/* Answers a request in a process of its own. */
_Noreturn static void answer(struct server *server, const struct client *client, const char *format,
                             const char *sql, uint64_t timeout)
{
    struct query_work *work = server->work;
    struct call *call = work->call;
    (void)dup2(client->outputs[0], STDOUT_FILENO);
    (void)dup2(client->outputs[1], STDERR_FILENO);
    (void)close(server->listener);
    close_other_clients(server, client);
    limit_memory();
    call->set.format = *format ? format : NULL;
    call->set.quiet = client->head.flags & QUERY_IS_QUIET;
    call->set.no_pager = true;
    for (size_t i = 0; i < work->schemas_n; i++)
        work->schemas[i].session.call.set.quiet = call->set.quiet;
    term_init(&call->term, &call->set);
    work->timeout_ns = timeout;
    work->client = client->fd;
    /* The server has failed to read the columns: this reports why. */
    int outcome = work->query ? OUTCOME_FINE : query_work_reopen_if_needed(work, sql);
    if (outcome == OUTCOME_FINE)
        outcome = query_work_answer(work, sql);
    outcome = query_work_warn(work, outcome);
    if (fflush(stdout) != 0)
        outcome = OUTCOME_OUTPUT;
    const unsigned char status = (unsigned char)outcome;
    (void)send(client->fd, &status, 1, MSG_NOSIGNAL);
    _exit(outcome);
}

/* Reads the traces again if they have changed, or if a statement names new columns. Its errors are
 * reported by the process that answers. */
static void prepare_traces(struct server *server, const char *sql)
{
    const int none = open("/dev/null", O_WRONLY | O_CLOEXEC), kept = dup(STDERR_FILENO);
    if (none >= 0)
        (void)dup2(none, STDERR_FILENO);
    if (!server->stamp || !file_stamp_equals(server->stamp, true)) {
        query_work_reset(server->work);
        file_stamp_free(server->stamp);
        server->stamp = file_stamp_record(server->paths, server->paths_n);
    }
    if (query_work_reopen_if_needed(server->work, sql) != OUTCOME_FINE)
        query_work_reset(server->work);
    if (kept >= 0) {
        (void)dup2(kept, STDERR_FILENO);
        (void)close(kept);
    }
    if (none >= 0)
        (void)close(none);
}

static void start_answer(struct server *server, struct client *client)
{
    const uint64_t limit = server->work->call->set.timeout
                               ? (uint64_t)server->work->call->set.timeout
                               : TIMEOUT_DEFAULT;
    const uint64_t wish = (uint64_t)client->head.timeout_ms * MILLISECOND;
    const uint64_t timeout = wish && wish < limit ? wish : limit;
    const char *sql = client->text + client->head.format_n;
    char format[QUERY_FORMAT_MAX] = "";
    memcpy(format, client->text, client->head.format_n);
    prepare_traces(server, sql);
    (void)fflush(NULL);
    client->process = fork();
    if (client->process == 0)
        answer(server, client, format, sql, timeout);
    client->end_ns = progress_now() + timeout + GRACE;
    if (client->process < 0)
        drop_client(client);
}

/* --- The loop --- */

/* Drops clients that are late, and those with a process that has ended. */
static void look_after_clients(struct server *server)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &server->clients[i];
        if (client->fd < 0)
            continue;
        if (client->process > 0 && waitpid(client->process, NULL, WNOHANG) == client->process)
            drop_client(client);
        else if (progress_now() < client->end_ns)
            continue;
        else if (client->process > 0)
            (void)kill(client->process, SIGKILL);
        else
            drop_client(client);
    }
}

static void handle_client(struct server *server, struct client *client)
{
    bool is_complete = false;
    if (!read_request(client, &is_complete))
        drop_client(client);
    else if (is_complete)
        start_answer(server, client);
}

static void serve(struct server *server)
{
    while (!interrupt_was_received()) {
        struct pollfd ready[CLIENTS_MAX + 1];
        struct client *of[CLIENTS_MAX + 1];
        nfds_t n = 1;
        ready[0] = (struct pollfd){.fd = server->listener, .events = POLLIN};
        for (size_t i = 0; i < CLIENTS_MAX; i++)
            if (server->clients[i].fd >= 0 && server->clients[i].process == 0) {
                ready[n] = (struct pollfd){.fd = server->clients[i].fd, .events = POLLIN};
                of[n++] = &server->clients[i];
            }
        if (poll(ready, n, STEP_MS) < 0 && errno != EINTR)
            break;
        if (interrupt_was_received())
            break;
        for (nfds_t i = 1; i < n; i++)
            if (ready[i].revents)
                handle_client(server, of[i]);
        if (ready[0].revents)
            accept_client(server);
        look_after_clients(server);
    }
}

static void stop_processes(struct server *server)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &server->clients[i];
        if (client->fd >= 0 && client->process > 0) {
            (void)kill(client->process, SIGKILL);
            (void)waitpid(client->process, NULL, 0);
        }
        drop_client(client);
    }
}

/* Lists the paths of all schemas. Returns false if memory is exhausted. */
static bool list_paths(struct server *server)
{
    const struct query_work *work = server->work;
    server->paths = calloc(work->call->paths_n + 1, sizeof *server->paths);
    for (size_t i = 0; server->paths && i < work->call->paths_n; i++)
        server->paths[i] = work->schemas[0].name ? work->schemas[i].path : work->call->path[i];
    server->paths_n = work->call->paths_n;
    return server->paths != NULL;
}

int run_query_server(struct query_work *work)
{
    const char *path = work->call->set.serve;
    struct server server = {.work = work, .listener = -1};
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        server.clients[i] = (struct client){.fd = -1, .outputs = {-1, -1}};
    if (!list_paths(&server))
        return OUTCOME_INPUT;
    server.stamp = file_stamp_record(server.paths, server.paths_n);
    query_work_want(work, QUERY_USUAL_COLUMNS);
    int outcome = query_work_open(work);
    if (outcome == OUTCOME_FINE && !interrupt_was_received()) {
        (void)query_work_warn(work, OUTCOME_FINE);
        outcome = start_listening(&server, path) ? OUTCOME_FINE : OUTCOME_OUTPUT;
    }
    if (outcome == OUTCOME_FINE && !interrupt_was_received()) {
        print_note(work->call, "%s: ask with \"tracetta query --socket=%s SQL\"; Ctrl-C ends", path,
                   path);
        serve(&server);
        interrupt_clear(); /* SIGINT is the usual way to end */
    }
    stop_processes(&server);
    stop_listening(&server, path);
    file_stamp_free(server.stamp);
    free(server.paths);
    return outcome;
}
