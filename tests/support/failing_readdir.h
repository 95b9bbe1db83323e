/* A readdir() that replaces that of the C library and fails on request. */
#ifndef TRACETTA_TESTS_FAILING_READDIR_H
#define TRACETTA_TESTS_FAILING_READDIR_H

/* Number of the call, from 1, from which on readdir() fails with EIO; 0 = no failure. */
extern unsigned readdir_fails_at;
/* Calls counted while readdir_fails_at is not 0; a test resets it. */
extern unsigned readdir_calls;

#endif
