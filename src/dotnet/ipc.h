/* The Diagnostic IPC protocol as bytes: commands that are sent, and what comes back.
 *
 * All little endian.  A message: [0..13] "DOTNET_IPC_V1" and a zero | [14..15] size of all of it |
 * [16] command set | [17] command | [18..19] zero | payload.  A text is a u32 count of UTF-16 units
 * with the zero at its end, then these; 0 is no text.  An answer has the set 0xFF; its command 0 is
 * a success, 0xFF an error with an HRESULT.  A runtime that comes to a socket of ours first says
 * who it is: [0..7] "ADVR_V1" and a zero | [8..23] cookie | [24..31] pid | [32..33] zero.
 *
 * Ownership: texts that are read go into an arena of the caller's.  Nothing here waits or connects.
 */
#ifndef TRACETTA_DOTNET_IPC_H
#define TRACETTA_DOTNET_IPC_H

#include <tracetta/collect.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"

#define IPC_HEADER 20u
#define IPC_ADVERTISE 34u
#define IPC_SESSION_BYTES 8u
#define IPC_ENVIRONMENT_MAX \
    (64u << 20) /* bytes of an environment that are taken; systems allow a few MiB */

enum ipc_set { IPC_EVENTPIPE = 2, IPC_PROCESS = 4, IPC_SERVER = 0xff };

enum ipc_command {
    IPC_STOP = 1,    /* of IPC_EVENTPIPE */
    IPC_COLLECT = 2, /* and 3 to 7, each with more to ask for */
    IPC_COLLECT_RUNDOWN = 3,
    IPC_COLLECT_STACKS = 4,
    IPC_COLLECT_KEYWORD = 5,
    IPC_COLLECT_FILTER = 6,
    IPC_COLLECT_BLOCK = 7,
    IPC_INFO = 0, /* of IPC_PROCESS */
    IPC_RESUME = 1,
    IPC_ENVIRONMENT = 2,
    IPC_INFO2 = 4,
    IPC_INFO3 = 8
};

#define IPC_BAD_ENCODING UINT32_C(0x80131384)
#define IPC_UNKNOWN_COMMAND UINT32_C(0x80131385)
#define IPC_UNKNOWN_MAGIC UINT32_C(0x80131386)
#define IPC_NOT_SUPPORTED UINT32_C(0x80131515)
#define IPC_FAIL UINT32_C(0x80004005)
#define IPC_INVALID_ARGUMENT UINT32_C(0x80070057)

/* The head of an answer. */
struct ipc_answer {
    uint32_t payload; /* bytes that follow */
    bool is_error;    /* the payload is an HRESULT */
};

/* Who came to a socket of ours. */
struct ipc_advertise {
    uint8_t cookie[16];
    uint64_t pid;
};

/* Appends a message without a payload; ipc_put_stop with a session. */
void ipc_put_plain(struct buffer *to, enum ipc_set set, enum ipc_command command);
void ipc_put_stop(struct buffer *to, uint64_t session);

/* Appends the command that starts a session.  TTR_E_LIMIT where it grows past what the 16 bits of
 * its size can say. */
TTR_MUST ttr_status ipc_put_collect(struct buffer *to, enum ipc_command command,
                                    const ttr_dotnet_wish *wish, ttr_error *error);

/* Reads the head of an answer; false when it is none. */
TTR_MUST bool ipc_read_answer(const uint8_t head[IPC_HEADER], struct ipc_answer *answer);
TTR_MUST bool ipc_read_advertise(const uint8_t bytes[IPC_ADVERTISE],
                                 struct ipc_advertise *advertise);

/* Reads what IPC_INFO, IPC_INFO2 or IPC_INFO3 was answered with. */
TTR_MUST ttr_status ipc_read_info(struct cursor from, enum ipc_command command, struct arena *texts,
                                  ttr_dotnet_info *info, ttr_error *error);

/* Reads an environment: a count, then so many texts.  *list is NULL-terminated. */
TTR_MUST ttr_status ipc_read_environment(struct cursor from, struct arena *texts,
                                         const char ***list, size_t *n, ttr_error *error);

/* What an HRESULT means, in a few words. */
const char *ipc_result_text(uint32_t result);

#endif
