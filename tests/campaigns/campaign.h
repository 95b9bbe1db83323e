/* The damage campaigns of a format, which its folder declares in NAME_campaign_test.c.
 *
 * Meson generates the table of all campaigns from formats.list (campaign_table.c.in). damage.c and
 * middle_test.c run it. */
#ifndef TRACETTA_TESTS_CAMPAIGNS_CAMPAIGN_H
#define TRACETTA_TESTS_CAMPAIGNS_CAMPAIGN_H

#include "campaigns/mutate.h"

/* Small traces that are damaged in thousands of ways, and the position of a record's size and magic
 * number. */
struct campaign {
    const char *name, *format;
    struct mutate_format mutate;
    const char *vectors[8]; /* folders or single vectors, below src/formats; NULL at the end */
    const char *traces[4];  /* recorded traces, below TTR_CORPUS */
    /* the reader cannot return raw records: event offsets are used instead */
    bool are_events_records;
    bool is_cut_at_each_byte; /* each small trace is also read when cut at each of its bytes */
};

/* The minimum share of events that must survive a mutation, in percent of those of the intact
 * trace. */
struct campaign_target {
    /* a recorded trace, below TTR_CORPUS, damaged as in the format's first campaign */
    const char *trace;
    enum mutation mutation;
    double percent;
};

/* A recorded trace in which one record is destroyed: all other events must be read unchanged. */
struct campaign_middle {
    const char *path, *format; /* below TTR_CORPUS */
    size_t shift;              /* bytes from the event's offset to where `bytes` are written */
    /* NULL = the event is in a page of a ring buffer, and its size is changed to exceed the page */
    const char *bytes;
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

/* Returns the campaigns of the i-th format that has campaigns, or NULL if there are fewer formats.
 */
const struct format_campaigns *format_campaigns_at(size_t i);

#endif
