/* Whose uuid a written trace has.
 *
 * Folders of one uuid are read as one trace, in which a packet that was there before is left out
 * (ctf_stream_set.h).  Traces that were opened together are that already.  Of those that were
 * opened one by one, as by "merge a a", each is to be read whole again, so where both may have
 * packets of one time the later one gets another uuid; chunks of a session follow each other and
 * keep theirs. Left out: live sessions and traces that speak the dialect of this project: these are
 * made anew, uuid and all. */
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_reader.h"
#include "formats/ctf/write/ctf_write.h"

/* Whether some of both may be of one time. */
static bool meets(const struct ctf_claim *claim, const struct ctf_trace *trace)
{
    return claim->lacks_times || trace->lacks_times ||
           (claim->begin <= trace->end && trace->begin <= claim->end);
}

static struct ctf_claim *find_claim(struct ctf_writer *w, const struct ctf_trace *trace,
                                    uint32_t *rank)
{
    *rank = 0;
    for (size_t i = 0; i < w->claims_n; i++) {
        struct ctf_claim *claim = &w->claims[i];
        if (memcmp(claim->uuid, trace->class->description.uuid, sizeof claim->uuid) != 0)
            continue;
        if (claim->group == trace->group)
            return claim;
        if (meets(claim, trace) && claim->rank >= *rank)
            *rank = claim->rank + 1;
    }
    return NULL;
}

static struct ctf_claim *add_claim(struct ttr_writer *out, const struct ctf_trace *trace,
                                   uint32_t rank)
{
    struct ctf_writer *w = out->own;
    if (!alloc_reserve(&out->t->counted, (void **)&w->claims, &w->claims_capacity, w->claims_n + 1,
                       sizeof *w->claims))
        return NULL;
    struct ctf_claim *claim = &w->claims[w->claims_n++];
    *claim = (struct ctf_claim){.group = trace->group,
                                .rank = rank,
                                .lacks_times = trace->lacks_times,
                                .begin = trace->begin,
                                .end = trace->end};
    memcpy(claim->uuid, trace->class->description.uuid, sizeof claim->uuid);
    return claim;
}

/* Version 8 and variant of RFC 9562: made by rules of our own. */
void ctf_change_uuid(uint8_t uuid[16], uint32_t rank)
{
    uint64_t a = hash_pair(hash_bytes(uuid, 16), rank), b = hash_pair(a, rank);
    for (unsigned i = 0; i < 8; i++) {
        uuid[i] = (uint8_t)(a >> i * 8);
        uuid[8 + i] = (uint8_t)(b >> i * 8);
    }
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

ttr_status ctf_claim_uuid(struct ttr_writer *out, const struct ctf_trace *trace, uint8_t uuid[16],
                          ttr_error *error)
{
    uint32_t rank;
    memcpy(uuid, trace->class->description.uuid, 16);
    if (!trace->class->description.has_uuid)
        return TTR_OK;
    struct ctf_claim *claim = find_claim(out->own, trace, &rank);
    if (!claim) {
        claim = add_claim(out, trace, rank);
        if (!claim)
            return fail_memory(error);
        if (rank)
            output_lost(out, CTF_LOST_UUID, 0);
    }
    claim->begin = trace->begin < claim->begin ? trace->begin : claim->begin;
    claim->end = trace->end > claim->end ? trace->end : claim->end;
    if (claim->rank)
        ctf_change_uuid(uuid, claim->rank);
    return TTR_OK;
}
