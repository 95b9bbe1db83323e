/* Defensive branches: ALWAYS(x) is a claim that holds, NEVER(x) one that cannot.  In debug builds a broken claim stops the
 * program at once; in release builds the branch is taken, so that the mistake stays contained.  Our own mistakes only,
 * never a statement about input. */
#ifndef TRACETTA_BASE_NEVER_H
#define TRACETTA_BASE_NEVER_H

#include <assert.h>

#ifdef NDEBUG
#define ALWAYS(x) (x)
#define NEVER(x) (x)
#else
#define ALWAYS(x) ((x) ? 1 : (assert(0 && "ALWAYS"), 0))
#define NEVER(x) ((x) ? (assert(0 && "NEVER"), 1) : 0)
#endif

#endif
