/* Begins that wait for their ends: a stack per thread, and one per id for asynchronous spans.  Each
 * keeps its attributes in encoded form. heph_pairs.c describes the data structure. */
#ifndef TRACETTA_FORMATS_HEPH_PAIRS_H
#define TRACETTA_FORMATS_HEPH_PAIRS_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/pair_map.h"

#define HEPH_NO_BEGIN UINT32_MAX
/* maximum of slots at which an asynchronous begin is accepted, because it may never end */
#define HEPH_ASYNC_SLOTS_MAX 16384u

struct heph_begin {
    ttr_event event; /* the begin event; its payload is invalid */
    struct buffer attributes;
    uint32_t below; /* next begin of the same stack, or next free slot */
    bool is_open;   /* its end has not arrived */
};

struct heph_pairs {
    const struct alloc *alloc;
    struct heph_begin *begins;
    size_t n, capacity;
    uint32_t unused; /* first free slot */
    /* maps (thread id, 0) or (asynchronous id, category + 2^32) to the slot on top of its stack */
    struct pair_map tops;
};

void heph_pairs_init(struct heph_pairs *pairs, const struct alloc *alloc);
void heph_pairs_free(struct heph_pairs *pairs);

/* Returns whether a begin can be kept.  The caller must treat any other begin as one without an
 * end. */
bool heph_pairs_accepts(const struct heph_pairs *pairs, const ttr_event *event);

/* Returns a slot for a begin, whose attributes the caller appends; NULL if out of memory. */
struct heph_begin *heph_pairs_add_begin(struct heph_pairs *pairs, const ttr_event *event);

/* Returns the begin that an end belongs to, NULL if there is none. It is valid until the next
 * heph_pairs_add_begin. Sets *is_good to false if out of memory. */
struct heph_begin *heph_pairs_remove_begin(struct heph_pairs *pairs, const ttr_event *end,
                                           bool *is_good);

#endif
