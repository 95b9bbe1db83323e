/* Peers of bench_trace that need files of their own.
 *
 * Each file is compiled if its peer was found. start_... returns false on failure, run_... writes
 * `n` events, stop_... ends the threads of the peer. */
#ifndef TRACETTA_BENCH_TRACE_PEER_H
#define TRACETTA_BENCH_TRACE_PEER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a session in this process, with a ring buffer of 64 MiB. */
bool start_perfetto(void);
void run_perfetto_instant(int n);
void run_perfetto_zone(int n);
void run_perfetto_disabled(int n);
void stop_perfetto(void);

/* Writes to /dev/null. */
bool start_nanolog(void);
void run_nanolog_integer(int n);
void run_nanolog_disabled(int n);

#ifdef __cplusplus
}
#endif

#endif
