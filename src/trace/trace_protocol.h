/* Messages between a recorded process and its manager, over a Unix socket of type SOCK_SEQPACKET.
 *
 *   process                                  manager
 *   TRACE_HELLO pid, name             ->     checks the peer's user and version
 *                                     <-     TRACE_WELCOME rings, chunks, with three descriptors:
 *                                            ring memory (sealed), enable bytes, wake-up eventfd
 *   TRACE_CATEGORY page, index, name  ->     sets the enable byte (one page per module)
 *   TRACE_SYNC                        ->     (all categories were sent)
 *                                     <-     TRACE_SYNC: all enable bytes are set
 *   TRACE_TRIGGER name                ->     may write a snapshot
 *
 *   controller                               manager
 *   TRACE_CONTROL request, index, text ->
 *                                     <-     struct trace_answer
 *
 * The end of the connection, also by the death of either side, ends the session of a process.
 * Messages have one size, answers another; numbers are in the byte order of the machine. */
#ifndef TRACETTA_TRACE_TRACE_PROTOCOL_H
#define TRACETTA_TRACE_TRACE_PROTOCOL_H

#include <stdint.h>

/* Environment variable with the path of the manager's socket. */
#define TRACE_SOCKET_VARIABLE "TRACETTA_TRACE_SOCKET"

#define TRACE_MESSAGE_MAGIC UINT32_C(0x31525454)
#define TRACE_MESSAGE_TEXT 108u
#define TRACE_MODULES_MAX 256u /* pages of enable bytes */
#define TRACE_WELCOME_FDS 3u

/* Attach memory: the memfd by which a manager asks a process to connect (trace_attach.c). */
#define TRACE_ATTACH_NAME "tracetta-attach"
#define TRACE_FLAGS_NAME "tracetta-flags"               /* enable bytes of a session */
#define TRACE_ATTACH_MAGIC UINT64_C(0x3143545441525454) /* "TTRATTC1" */

/* First page of the attach memory. */
struct trace_attach_page {
    uint64_t magic;
    uint32_t version;      /* TRACE_VERSION */
    uint32_t pid;          /* pid of the process in its own pid namespace */
    uint32_t modules;      /* atomic; pages of enable bytes that were ever in use */
    uint32_t is_recorded;  /* atomic; 1 = the process has a session */
    uint32_t is_requested; /* atomic; 1 = `socket` is valid, and the enable bytes are set */
    uint32_t pad;
    char socket[108];  /* socket of the manager that requests a connection */
    char session[108]; /* socket of the manager that records the process */
};

enum trace_message_kind {
    TRACE_HELLO = 1,
    TRACE_WELCOME,
    TRACE_CATEGORY,
    TRACE_SYNC,
    TRACE_TRIGGER,
    TRACE_CONTROL
};

/* Requests of a controller, in `a` of the message.  `b` counts the rows of lists. */
enum trace_request {
    TRACE_REQUEST_INFO = 1,
    TRACE_REQUEST_PROGRAM,  /* the b-th program */
    TRACE_REQUEST_CATEGORY, /* the b-th category of all programs */
    TRACE_REQUEST_FILTER,   /* enables categories by the filter in `text` */
    TRACE_REQUEST_SNAPSHOT,
    TRACE_REQUEST_STOP,
    TRACE_REQUEST_MODE /* b is the mode of the rings */
};

struct trace_message {
    uint32_t magic;
    uint16_t version; /* TRACE_VERSION */
    uint16_t kind;    /* enum trace_message_kind */
    uint32_t a, b;    /* WELCOME: rings, chunks; CATEGORY: page, index */
    uint32_t number;  /* process; CONTROL: number of the request, which its answer repeats */
    char text[TRACE_MESSAGE_TEXT]; /* ends with a NUL, after which all bytes are zero */
};
_Static_assert(sizeof(struct trace_message) == 128, "a message has 128 bytes");

enum trace_answer_status {
    TRACE_ANSWER_DONE,
    TRACE_ANSWER_END,    /* the list has no such row */
    TRACE_ANSWER_DENIED, /* the request came from another user */
    TRACE_ANSWER_FAILED  /* `text` has the reason */
};

#define TRACE_ANSWER_NUMBERS 16u
#define TRACE_ANSWER_TEXT 368u

struct trace_answer {
    uint32_t magic, status; /* enum trace_answer_status */
    uint32_t request;       /* number of the request */
    uint32_t pad;
    uint64_t number[TRACE_ANSWER_NUMBERS];
    char text[TRACE_ANSWER_TEXT];
};
_Static_assert(sizeof(struct trace_answer) == 512, "an answer has 512 bytes");

#endif
