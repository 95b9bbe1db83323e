/* Begins that wait for their ends: a stack per thread, and one per id for asynchronous spans. The
 * attributes of each begin are kept in encoded form. heph_pairs.c describes the data structure. */
#ifndef TRACETTA_FORMATS_HEPH_PAIRS_H
#define TRACETTA_FORMATS_HEPH_PAIRS_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/pair_map.h"

#define HEPH_NO_BEGIN UINT32_MAX
/* maximum number of slots; if more are in use, begins of asynchronous spans are not accepted,
 * because they may never end */
#define HEPH_ASYNC_SLOTS_MAX 16384u

struct heph_begin {
    ttr_event event; /* the begin event; its payload pointer is not valid */
    struct buffer attributes;
    uint32_t below; /* slot of the next begin of the same stack, or the next unused slot */
    bool is_open;   /* true until the end of this begin arrives */
};

struct heph_pairs {
    const struct alloc *alloc;
    struct heph_begin *begins;
    size_t n, capacity;
    uint32_t unused; /* first slot in the list of unused slots */
    /* maps (thread id, 0) or (asynchronous id, category + 2^32) to the slot on top of its stack */
    struct pair_map tops;
};

void heph_pairs_init(struct heph_pairs *pairs, const struct alloc *alloc);
void heph_pairs_free(struct heph_pairs *pairs);

/* Returns true if the begin can be kept until its end arrives. If not, the caller must write it as
 * a begin without an end. */
bool heph_pairs_accepts(const struct heph_pairs *pairs, const ttr_event *event);

/* Adds a begin and returns its slot; the caller appends its attributes. Returns NULL if out of
 * memory. */
struct heph_begin *heph_pairs_add_begin(struct heph_pairs *pairs, const ttr_event *event);

/* Removes and returns the begin that an end belongs to; NULL if none is open. The result is valid
 * until the next heph_pairs_add_begin. Sets *is_good to false if out of memory. */
struct heph_begin *heph_pairs_remove_begin(struct heph_pairs *pairs, const ttr_event *end,
                                           bool *is_good);

#endif
