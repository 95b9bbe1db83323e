/* One command and its answer, over a connection of its own, moved on without waiting.
 *
 * Ownership: the call keeps the connection until call_end, unless it is taken with call_take_fd.
 * What is sent and received is bounded: an answer has 65,535 bytes at most. */
#ifndef TRACETTA_DOTNET_CALL_H
#define TRACETTA_DOTNET_CALL_H

#include "dotnet/target.h"

struct call {
    ttr_dotnet *target;
    const char *what; /* "ProcessInfo", for messages */
    struct buffer out, in;
    size_t sent;
    int fd;            /* -1 = not connected yet */
    uint64_t deadline; /* ms */
    bool has_answer;   /* the head is read */
    struct ipc_answer answer;
};

/* Begins a call; the command is appended to call->out. */
void call_begin(struct call *call, ttr_dotnet *target, const char *what);

/* Moves it on: TTR_OK when the answer is complete, a success; TTR_AGAIN; TTR_E_UNSUPPORTED where
 * the runtime does not know the command; or another failure, also when the time is over. */
TTR_MUST ttr_status call_step(struct call *call, ttr_error *error);

/* What the call waits for; fd -1 where there is nothing, and time must pass. */
struct pollfd call_wait(const struct call *call);

/* Steps and waits until it is over; TTR_AGAIN when something woke us. */
TTR_MUST ttr_status call_run(struct call *call, ttr_error *error);

/* Takes n more bytes that follow the answer into call->in, which then holds only them. */
TTR_MUST ttr_status call_run_more(struct call *call, size_t n, ttr_error *error);

/* The payload of the answer. */
struct cursor call_payload(const struct call *call);

/* Hands the connection over. */
int call_take_fd(struct call *call);

void call_end(struct call *call);

#endif
