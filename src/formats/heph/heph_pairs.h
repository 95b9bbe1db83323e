/* Begins that wait for their ends: spans of a thread by a stack, asynchronous ones by their id. The
 * attributes of a begin are kept as they will be written.  Slots are used again, so nothing is
 * allocated per event once the trace's depth was reached. */
#ifndef TRACETTA_FORMATS_HEPH_PAIRS_H
#define TRACETTA_FORMATS_HEPH_PAIRS_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/pairmap.h"

#define HEPH_NO_BEGIN UINT32_MAX
/* asynchronous begins may never end, so there is a limit to how many wait */
#define HEPH_OPEN_MAX 16384u

struct heph_begin {
    ttr_event event; /* of the begin; its payload is not kept */
    struct buffer attributes;
    uint32_t below; /* the begin under it on the same stack, or the next free slot */
    bool is_open;   /* it still waits */
};

struct heph_pairs {
    const struct alloc *alloc;
    struct heph_begin *begins;
    size_t n, capacity;
    uint32_t unused; /* first free slot */
    /* of a thread (id, 0), or of an asynchronous (id, category + 2^32), the top slot */
    struct pairmap tops;
};

void heph_pairs_init(struct heph_pairs *pairs, const struct alloc *alloc);
void heph_pairs_free(struct heph_pairs *pairs);

/* Whether a begin may wait; one that may not is as good as one that never ends. */
bool heph_pairs_have_room(const struct heph_pairs *pairs, const ttr_event *event);

/* Opens a slot for a begin, to be filled with its attributes; NULL when memory is out. */
struct heph_begin *heph_pairs_open(struct heph_pairs *pairs, const ttr_event *event);

/* Closes the begin that an end belongs to; its content is good until the next open.  NULL when
 * there is none; `is_good` turns false when memory is out. */
struct heph_begin *heph_pairs_close(struct heph_pairs *pairs, const ttr_event *end, bool *is_good);

#endif
