/* What is known of a stream file before its first event is read.  Plain data; thread rule: that of the reader. */
#ifndef TRACETTA_FORMATS_CTF_SCAN_H
#define TRACETTA_FORMATS_CTF_SCAN_H

#include "formats/ctf/ctf_reader.h"

struct ctf_summary {
    uint64_t packets;            /* up to the first that cannot be taken apart */
    const struct ctf_kind *kind; /* of the first; NULL = none could be */
    uint64_t number;             /* of its data stream */
    bool has_number, has_begin;
    int64_t begin;               /* of the first packet with a time */
    bool is_mixed;               /* packets of several streams */
    bool is_in_order;            /* no packet begins before the one before it ends */
};

/* Looks at the headers of all packets; a file that cannot be looked at ahead (compressed) is taken as out of order. */
TTR_MUST ttr_status ctf_scan(struct ctf_reader *reader, struct ctf_summary *summary, ttr_error *error);

#endif
