/* libtracetta: reads, writes, converts, merges, filters, analyses and repairs traces.  This header
 * includes all others, but symbols.h, which is of a library of its own. */
#ifndef TRACETTA_TRACETTA_H
#define TRACETTA_TRACETTA_H

#include "error.h"
#include "event.h"
#include "read.h"
#include "write.h"
#include "analyse.h"
#include "collect.h"
#include "provider.h"
#include "tracepoints.h"
#include "profile.h"
#include "recover.h"

#define TTR_VERSION "0.1.0"

#endif
