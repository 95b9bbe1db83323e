/* A world of its own for the command's way to .NET runtimes: connections that say what a script
 * says, and a clock that only goes on when somebody waits.  What the library and the command ask
 * the system is answered here, by functions that the linker puts in the place of others
 * (session_wrapped in tests/meson.build), so that an hour of silence takes no time, and everything
 * happens again the same way.
 *
 * A script is any bytes.  It is read as connections, one behind another, made of what stands below;
 * what means nothing passes a millisecond.
 *
 *   0x00 .. 0x7f   so many bytes follow, which the runtime says
 *   SAY_*          see there
 *
 * Thread rule: one at a time. */
#ifndef TRACETTA_TESTS_FUZZ_SESSION_WORLD_H
#define TRACETTA_TESTS_FUZZ_SESSION_WORLD_H

#include "fuzz/fuzz.h"

enum say {
    SAY_CLOSE = 0x80, /* it closes the connection; the next one begins */
    SAY_RESET,        /* the same, with what was not read lost */
    SAY_SILENCE,      /* it says no more, and keeps the connection */
    SAY_REFUSED,      /* there is no connection */
    SAY_BUSY,         /* the same, for now */
    SAY_WAIT,         /* u8: so many times 50 ms pass */
    SAY_FINE,         /* u8: an answer, the session of that number */
    SAY_ERROR,        /* u8: an answer that refuses, for one of several reasons */
    SAY_HEAD,         /* u16: the head of an answer of so many bytes */
    SAY_WHO,          /* u8: who came to a socket of ours, by that cookie */
    SAY_ZEROS,        /* u8: so many times 16 zeros */
    SAY_AGAIN         /* u8: the last 64 bytes so often again */
};

/* Begins a world.  At `interrupt_ms` the user wants the end; a call takes and gives at most `piece`
 * bytes, 0 = all. */
void world_begin(const uint8_t *script, size_t n, uint64_t interrupt_ms, size_t piece);

/* Says what a connection must find that takes a stream: a session begins, the bytes come in pieces,
 * and a second connection answers a stop. */
void world_begin_stream(const uint8_t *stream, size_t n, uint64_t interrupt_ms);

/* Ends it, and stops where something was left open, held too much for a script of n bytes, or went
 * on for long after nothing could come any more. */
void world_end(size_t n);

#endif
