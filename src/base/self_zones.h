/* Zones of the library itself, for its developers: "tracetta record -- tracetta convert ..." shows
 * where the time goes. Compiled in with the build option `self_zones`, which is off in what ships;
 * without it a zone is nothing. */
#ifndef TRACETTA_BASE_SELF_ZONES_H
#define TRACETTA_BASE_SELF_ZONES_H

#ifdef TTR_SELF_ZONES

#include <tracetta/trace.h>

#define SELF_CATEGORIES(X)                          \
    X(read, "tracetta.read", "inputs and readers")  \
    X(order, "tracetta.order", "stages of readers") \
    X(write, "tracetta.write", "writers and outputs")
TTR_CATEGORIES_DECLARE(SELF_CATEGORIES);

/* A zone from this line to the end of the enclosing block. */
#define SELF_ZONE(category, name) TTR_ZONE(category, name)

#else

#define SELF_ZONE(category, name) ((void)0)

#endif

#endif
