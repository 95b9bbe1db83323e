/* The damage campaigns of a format, as its folder declares them in NAME_campaign_test.c.
 *
 * Meson makes the list of all from formats.list (campaign_table.c.in); damage.c and middle_test.c
 * run it. */
#ifndef TRACETTA_TESTS_CAMPAIGNS_CAMPAIGN_H
#define TRACETTA_TESTS_CAMPAIGNS_CAMPAIGN_H

#include "campaigns/mutate.h"

/* Small traces that are damaged in thousands of ways, and how records of theirs are found. */
struct campaign {
    const char *name, *format;
    struct mutate_format mutate;
    const char *vectors[8];   /* folders or single vectors, below src/formats; NULL at the end */
    const char *traces[4];    /* recorded traces, below TTR_CORPUS */
    bool are_events_records;  /* the reader has no raw records: events are damaged instead */
    bool is_cut_at_each_byte; /* each small trace is also read when cut at each of its bytes */
};

/* A share of the events of a trace that must survive a mutation. */
struct campaign_target {
    const char *trace; /* a recorded trace, below TTR_CORPUS, damaged as the first campaign's */
    enum mutation mutation;
    double percent;
};

/* A recorded trace one of whose records is destroyed: all other events must be read as before. */
struct campaign_middle {
    const char *path, *format; /* below TTR_CORPUS */
    size_t shift;              /* bytes from the event's offset to where `bytes` are written */
    const char *bytes;         /* NULL: the event is in a page of a ring buffer, and outgrows it */
    size_t n;
};

struct format_campaigns {
    const struct campaign *campaigns;
    size_t campaigns_n;
    const struct campaign_target *targets;
    size_t targets_n;
    const struct campaign_middle *middles;
    size_t middles_n;
};

/* Returns the campaigns of the i-th format that has any, NULL past the last. */
const struct format_campaigns *format_campaigns_at(size_t i);

#endif
