/* One command and its answer, on a separate connection, as a state machine that never blocks. The
 * runtime closes a connection after one command, so each call connects again.
 *
 * Ownership: call_free closes the connection, unless call_take_fd has moved it to the caller.
 * Memory: the answer of a call is at most 65,535 bytes; only call_receive_extra receives more. */
#ifndef TRACETTA_DOTNET_CALL_H
#define TRACETTA_DOTNET_CALL_H

#include "dotnet/target.h"

struct call {
    ttr_dotnet *target;
    const char *what; /* name of the command for error texts, such as "ProcessInfo" */
    struct buffer out, in;
    size_t sent;
    int fd;            /* connection, -1 until it is open */
    uint64_t deadline; /* time limit of the complete answer, in ms of socket_now_ms() */
    bool has_answer;   /* the header of the answer was parsed into `answer` */
    struct ipc_answer answer;
};

/* Initializes a call and starts its time limit. The caller then appends one command to
 * call->out. */
void call_init(struct call *call, ttr_dotnet *target, const char *what);

/* Connects, sends and receives as far as possible without blocking. Returns TTR_OK after a complete
 * success answer, TTR_AGAIN if data is missing, TTR_E_UNSUPPORTED if the runtime does not know the
 * command, and another error if the runtime refused it or the time limit has passed. */
TTR_MUST ttr_status call_continue(struct call *call, ttr_error *error);

/* Returns the descriptor and events to poll for. The descriptor is -1 without a connection;
 * the caller then polls with a timeout. */
struct pollfd call_fill_poll_entry(const struct call *call);

/* Calls call_continue and polls until the call is complete or fails. Returns TTR_AGAIN if the wake
 * descriptor of the target became readable. */
TTR_MUST ttr_status call_run_blocking(struct call *call, ttr_error *error);

/* Receives n bytes after the answer, outside of the size that the answer declares;
 * ProcessEnvironment sends such bytes. They replace the contents of call->in. */
TTR_MUST ttr_status call_receive_extra(struct call *call, size_t n, ttr_error *error);

/* Returns the bytes after the header of the answer. They are valid until call_receive_extra or
 * call_free.
 */
struct cursor call_payload(const struct call *call);

/* Moves the connection to the caller, which must close it. Used for EventPipe, which sends its
 * stream on the connection of the command that started the session. */
int call_take_fd(struct call *call);

void call_free(struct call *call);

#endif
