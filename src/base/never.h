/* Defensive branches: ALWAYS(x) is a claim that holds, NEVER(x) one that cannot.  In debug builds a
 * broken claim stops the program at once; in release builds the branch is taken, so that the
 * mistake stays contained.  Our own mistakes only, never a statement about input. */
#ifndef TRACETTA_BASE_NEVER_H
#define TRACETTA_BASE_NEVER_H

#include <assert.h>

#ifdef NDEBUG
#define ALWAYS(x) (x)
#define NEVER(x) (x)
#else
/* Statement expressions, so that x is taken once and assert names the line of the claim. */
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
