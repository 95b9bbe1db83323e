/* Encoding and decoding of .NET Diagnostic IPC messages. No I/O happens here.
 *
 * All integers are little endian.
 *
 * |  message:    [0..13] "DOTNET_IPC_V1\0" | [14..15] size of the message | [16] command set |
 * |              [17] command | [18..19] 0 | [20..] payload
 * |  answer:     the same with set 0xFF; command 0 = success, 0xFF = error with a u32 HRESULT
 * |  string:     [0..3] UTF-16 units with the final zero, 0 for a null string | units
 * |  advertise:  [0..7] "ADVR_V1\0" | [8..23] cookie | [24..31] pid | [32..33] 0
 *
 * Two roles. Usually the runtime listens and a tool connects, once per command. If
 * DOTNET_DiagnosticPorts names a socket of ours, the runtime connects and sends "advertise"; it
 * then accepts one command on that connection and connects again (see target.h).
 *
 * A session: CollectTracing n has the providers and options. Each version adds a field (see
 * ipc_write_collect); an old runtime answers UNKNOWN_COMMAND, and session.c retries with the
 * version before. The answer has a u64 session id; after it the same connection carries the event
 * stream (framing.h). StopTracing with the id goes over a second connection. The runtime answers it
 * only after the stream has been read to its end, so both connections must be polled together
 * (session.c).
 *
 * Invariants: a message is at most 65,535 bytes; only the environment is sent outside of the
 * declared size, after the answer. Ownership: decoded strings are allocated in the caller's arena.
 * Left out: dumps, profilers, startup hooks and perf maps. Source:
 * documentation/design-docs/ipc-protocol.md of dotnet/diagnostics. */
#ifndef TRACETTA_DOTNET_IPC_H
#define TRACETTA_DOTNET_IPC_H

#include <tracetta/collect.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"

#define IPC_HEADER_SIZE 20u
#define IPC_ADVERTISE_SIZE 34u
#define IPC_SESSION_BYTES 8u
/* largest accepted environment in bytes; systems allow a few MiB */
#define IPC_ENVIRONMENT_MAX (64u << 20)

enum ipc_set { IPC_EVENTPIPE = 2, IPC_PROCESS = 4, IPC_SERVER = 0xff };

enum ipc_command {
    IPC_STOP = 1,    /* commands of IPC_EVENTPIPE */
    IPC_COLLECT = 2, /* CollectTracing; versions 2 to 6 follow, each with one more field */
    IPC_COLLECT_RUNDOWN = 3,
    IPC_COLLECT_STACKS = 4,
    IPC_COLLECT_KEYWORD = 5,
    IPC_COLLECT_FILTER = 6,
    IPC_COLLECT_BLOCK = 7,
    IPC_INFO = 0, /* commands of IPC_PROCESS */
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

/* Header of an answer. */
struct ipc_answer {
    uint32_t payload; /* bytes that follow the header */
    bool is_error;    /* the payload starts with an HRESULT */
};

/* Identity of a runtime that has connected to the tool's socket. */
struct ipc_advertise {
    uint8_t cookie[16];
    uint64_t pid;
};

/* ipc_write_plain appends a message without payload; ipc_write_stop appends StopTracing for a
 * session. */
void ipc_write_plain(struct buffer *to, enum ipc_set set, enum ipc_command command);
void ipc_write_stop(struct buffer *to, uint64_t session);

/* Appends the CollectTracing version that `command` selects. Fails with TTR_E_LIMIT if the message
 * exceeds its 16-bit size field. */
TTR_MUST ttr_status ipc_write_collect(struct buffer *to, enum ipc_command command,
                                      const ttr_dotnet_config *wish, ttr_error *error);

/* ipc_parse_answer parses the header of an answer, ipc_parse_advertise an advertise message. Both
 * return false if the magic or the command set is wrong. */
TTR_MUST bool ipc_parse_answer(const uint8_t head[IPC_HEADER_SIZE], struct ipc_answer *answer);
TTR_MUST bool ipc_parse_advertise(const uint8_t bytes[IPC_ADVERTISE_SIZE],
                                  struct ipc_advertise *advertise);

/* Parses the answer to IPC_INFO, IPC_INFO2 or IPC_INFO3. Members of `info` that the command does
 * not have become "". */
TTR_MUST ttr_status ipc_parse_info(struct cursor from, enum ipc_command command,
                                   struct arena *texts, ttr_dotnet_info *info, ttr_error *error);

/* Parses an environment: a u32 number of strings, then the strings. Sets *list to *n strings,
 * followed by NULL. */
TTR_MUST ttr_status ipc_parse_environment(struct cursor from, struct arena *texts,
                                          const char ***list, size_t *n, ttr_error *error);

/* Returns a short explanation of an HRESULT. Never NULL. */
const char *ipc_result_text(uint32_t result);

#endif
