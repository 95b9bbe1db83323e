/* Defensive checks of the program's own invariants, never of input. ALWAYS(x) expects x to be true,
 * NEVER(x) to be false. A violation aborts a debug build; in a release build the caller's error
 * branch runs, which contains the mistake. */
#ifndef TRACETTA_BASE_NEVER_H
#define TRACETTA_BASE_NEVER_H

#include <assert.h>

#ifdef NDEBUG
#define ALWAYS(x) (x)
#define NEVER(x) (x)
#else
/* Statement expressions, so that x is evaluated once and assert prints the caller's line. */
#define ALWAYS(x)                        \
    __extension__({                      \
        _Bool claim_holds = (x);         \
        assert(claim_holds && "ALWAYS"); \
        claim_holds;                     \
    })
#define NEVER(x)                             \
    __extension__({                          \
        _Bool claim_is_broken = (x);         \
        assert(!claim_is_broken && "NEVER"); \
        claim_is_broken;                     \
    })
#endif

#endif
