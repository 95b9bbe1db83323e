/* A simulated system for the command's connections to .NET runtimes: a script defines what runtimes
 * send, and the clock only advances when the code waits. The linker replaces system calls of
 * library and command by functions here (session_wrapped in tests/meson.build), so that an hour of
 * silence takes no time and every run is reproducible.
 *
 * Any bytes are a valid script. It is a sequence of connections, each made of the words below; an
 * undefined word lets a millisecond pass.
 *
 *   0x00 .. 0x7f   the runtime sends that many bytes, which follow
 *   SAY_*          see the enumeration
 *
 * Thread rule: one at a time. */
#ifndef TRACETTA_TESTS_FUZZ_SESSION_WORLD_H
#define TRACETTA_TESTS_FUZZ_SESSION_WORLD_H

#include "fuzz/fuzz.h"

enum say {
    SAY_CLOSE = 0x80, /* the runtime closes the connection; the next one starts */
    SAY_RESET,        /* as SAY_CLOSE, but unread bytes are lost */
    SAY_SILENCE,      /* the runtime sends no more bytes and keeps the connection open */
    SAY_REFUSED,      /* the connection is refused */
    SAY_BUSY,         /* the connection is refused, but can be tried again */
    SAY_WAIT,         /* u8: that many times 50 ms pass */
    SAY_FINE,         /* u8: a success answer with that session number */
    SAY_ERROR,        /* u8: an error answer with one of several codes */
    SAY_HEAD,         /* u16: the head of an answer of that many bytes */
    SAY_WHO,          /* u8: the advertisement of a runtime with that cookie, on our socket */
    SAY_ZEROS,        /* u8: that many times 16 zero bytes */
    SAY_AGAIN         /* u8: repeats the last 64 bytes that many times */
};

/* Starts a simulation. After `interrupt_ms` the user presses Ctrl-C. A call transfers at most
 * `piece` bytes; 0 = no limit. */
void world_begin(const uint8_t *script, size_t n, uint64_t interrupt_ms, size_t piece);

/* Starts a simulation with a recording: a session starts, the stream arrives in pieces, and a
 * second connection answers the stop command. */
void world_begin_stream(const uint8_t *stream, size_t n, uint64_t interrupt_ms);

/* Ends the simulation. Aborts if a descriptor is open, if memory exceeded the limit for a script of
 * n bytes, or if the code went on long after the last event. */
void world_end(size_t n);

#endif
