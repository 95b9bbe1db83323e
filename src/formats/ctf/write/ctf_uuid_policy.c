/* UUIDs of written traces: keeps the source's UUID, or derives another one if traces overlap in
 * time.
 *
 * Readers merge folders with the same UUID into one trace and drop duplicate packets
 * (ctf_stream_set.h). That is right for folders that were opened together, and for chunks of a
 * session, which follow each other in time. Traces that were opened separately and overlap, as in
 * "merge a a", must both be read back completely, so the later one gets another UUID.
 *
 * Left out: live sessions and traces that follow the CTF conventions; their UUIDs are always new.
 */
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_reader.h"
#include "formats/ctf/write/ctf_write.h"

/* Returns true if the trace may have packets in the time range of another trace with the same
 * UUID. */
static bool overlaps_other_trace_in_time(const struct ctf_uuid_claim *claim,
                                         const struct ctf_trace *trace)
{
    return claim->lacks_times || trace->lacks_times ||
           (claim->begin <= trace->end && trace->begin <= claim->end);
}

static struct ctf_uuid_claim *find_written_uuid(struct ctf_writer *w, const struct ctf_trace *trace,
                                                uint32_t *rank)
{
    *rank = 0;
    for (size_t i = 0; i < w->claims_n; i++) {
        struct ctf_uuid_claim *claim = &w->claims[i];
        if (memcmp(claim->uuid, trace->class->description.uuid, sizeof claim->uuid) != 0)
            continue;
        if (claim->group == trace->group)
            return claim;
        if (overlaps_other_trace_in_time(claim, trace) && claim->rank >= *rank)
            *rank = claim->rank + 1;
    }
    return NULL;
}

static struct ctf_uuid_claim *add_written_uuid(struct ttr_writer *out,
                                               const struct ctf_trace *trace, uint32_t rank)
{
    struct ctf_writer *w = out->ctx;
    if (!alloc_reserve(&out->t->counted, (void **)&w->claims, &w->claims_capacity, w->claims_n + 1,
                       sizeof *w->claims))
        return NULL;
    struct ctf_uuid_claim *claim = &w->claims[w->claims_n++];
    *claim = (struct ctf_uuid_claim){.group = trace->group,
                                     .rank = rank,
                                     .lacks_times = trace->lacks_times,
                                     .begin = trace->begin,
                                     .end = trace->end};
    memcpy(claim->uuid, trace->class->description.uuid, sizeof claim->uuid);
    return claim;
}

/* sets the bits of version 8 (custom) and variant 10 of RFC 9562, section 5.8 */
void ctf_derive_uuid(uint8_t uuid[16], uint32_t rank)
{
    uint64_t a = hash_pair(hash_bytes(uuid, 16), rank), b = hash_pair(a, rank);
    for (unsigned i = 0; i < 8; i++) {
        uuid[i] = (uint8_t)(a >> i * 8);
        uuid[8 + i] = (uint8_t)(b >> i * 8);
    }
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

ttr_status ctf_choose_written_uuid(struct ttr_writer *out, const struct ctf_trace *trace,
                                   uint8_t uuid[16], ttr_error *error)
{
    uint32_t rank;
    memcpy(uuid, trace->class->description.uuid, 16);
    if (!trace->class->description.has_uuid)
        return TTR_OK;
    struct ctf_uuid_claim *claim = find_written_uuid(out->ctx, trace, &rank);
    if (!claim) {
        claim = add_written_uuid(out, trace, rank);
        if (!claim)
            return fail_memory(error);
        if (rank)
            output_count_loss(out, CTF_LOST_UUID, 0);
    }
    claim->begin = trace->begin < claim->begin ? trace->begin : claim->begin;
    claim->end = trace->end > claim->end ? trace->end : claim->end;
    if (claim->rank)
        ctf_derive_uuid(uuid, claim->rank);
    return TTR_OK;
}
