/* The Unix socket of "query --serve": where it is, and the request that a client sends.
 *
 *     request: "TTRQ" | version | flags | size of format | size of SQL | timeout in ms | format |
 * SQL 4 bytes  4         4       4                4             4 with the first byte: the
 * descriptors of the client's standard output and standard error answer: one byte, the exit status;
 * the rows are written to the descriptors
 *
 * Numbers have the byte order of the machine, since both ends are on it. */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_SOCKET_H
#define TRACETTA_CLI_COMMANDS_QUERY_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#define QUERY_MAGIC "TTRQ"
#define QUERY_VERSION 1u
#define QUERY_FORMAT_MAX 32u
#define QUERY_IS_QUIET 1u /* flags */

struct query_head {
    char magic[4];
    uint32_t version, flags, format_n, sql_n;
    uint32_t
        timeout_ms; /* limit of the statement; 0 = that of the server, which is also the most */
};

/* Fills an address. Returns false after reporting that the path is too long. */
bool query_socket_address(const char *path, struct sockaddr_un *address);

/* Returns true if the other end of a connection is a process of the same user. */
bool query_socket_is_own_user(int fd);

struct call;
struct query_work;

/* Keeps the inputs of a call in memory and answers requests at the socket call->set.serve until a
 * signal. Returns the outcome. */
int run_query_server(struct query_work *work);

/* Sends a statement to the server at call->set.socket_path, which prints its rows. Returns the
 * outcome. */
int run_query_client(const struct call *call, const char *sql);

#endif
