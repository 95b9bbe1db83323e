/* Begins that wait for their ends: a stack per thread, and one per id for asynchronous spans. The
 * attributes of each begin are kept in encoded form. heph_pairs.c describes the data structure. */
#ifndef TRACETTA_FORMATS_HEPH_PAIRS_H
#define TRACETTA_FORMATS_HEPH_PAIRS_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/pair_map.h"

#define HEPH_NO_BEGIN UINT32_MAX
/* maximum number of slots in use for asynchronous spans; further begins of them are not accepted,
 * because they may never end */
#define HEPH_ASYNC_SLOTS_MAX 16384u

struct heph_begin {
    ttr_event event; /* the begin event, of which the payload pointer is not valid */
    struct buffer attributes;
    /* slot of the next begin in the same stack, or the next unused slot */
    uint32_t below;
    bool is_open; /* true until the end of this begin arrives */
};

struct heph_pairs {
    const struct alloc *alloc;
    struct heph_begin *begins;
    size_t n, capacity;
    uint32_t unused; /* index of the first unused slot */
    /* maps (thread id, 0) or (asynchronous id, category + 2^32) to the slot on top of its stack */
    struct pair_map tops;
};

void heph_pairs_init(struct heph_pairs *pairs, const struct alloc *alloc);
void heph_pairs_free(struct heph_pairs *pairs);

/* Returns true if the begin can be kept until its end arrives. Otherwise the caller must write it
 * as a begin without an end. */
bool heph_can_keep_begin(const struct heph_pairs *pairs, const ttr_event *event);

/* Adds a begin and returns its slot, to which the caller appends attributes. Returns NULL if
 * memory runs out. */
struct heph_begin *heph_pairs_add_begin(struct heph_pairs *pairs, const ttr_event *event);

/* Removes and returns the begin to which an end belongs; NULL if no begin is open. The result
 * is valid until the next call of heph_pairs_add_begin. Sets *is_good to false if memory is
 * out. */
struct heph_begin *heph_pairs_remove_begin(struct heph_pairs *pairs, const ttr_event *end,
                                           bool *is_good);

#endif
