/* The time line of a lane: for each change the time since the one before and the node from then on,
 * plus 1, as variable-length numbers.  Nodes are those met; the numbers of the finished tree come
 * out. */
#include "base/protobuf.h"
#include "pipeline/profile/profile.h"

bool profile_line_put(struct ttr_profile *profile, size_t lane, int64_t time, uint32_t met)
{
    struct profile_state *state = &profile->state[lane];
    if (!(profile->flags & TTR_PROFILE_TIMELINE) ||
        (state->line.n ? met == state->line_node : met == PROFILE_NONE))
        return true;
    if (state->line.n == 0)
        state->line_time = profile->lane[lane].first_ns;
    uint64_t since = time > state->line_time ? (uint64_t)time - (uint64_t)state->line_time : 0;
    uint8_t *at = buffer_room(&state->line, (size_t)2 * PROTOBUF_VARINT_MAX);
    if (!at)
        return false;
    uint8_t *end =
        protobuf_varint(protobuf_varint(at, since), met == PROFILE_NONE ? 0 : (uint64_t)met + 1);
    buffer_filled(&state->line, (size_t)(end - at));
    state->line_time = (int64_t)((uint64_t)state->line_time + since);
    state->line_node = met;
    return true;
}

void profile_line_begin(struct profile_line *line, const struct ttr_profile *profile, size_t lane)
{
    const struct buffer *bytes = &profile->state[lane].line;
    *line = (struct profile_line){.profile = profile,
                                  .at = bytes->bytes,
                                  .end = bytes->bytes + bytes->n,
                                  .time = profile->lane[lane].first_ns,
                                  .node = PROFILE_NONE};
    if (bytes->n == 0)
        line->end = line->at = NULL;
}

/* These bytes are our own and whole. */
static uint64_t next_number(struct profile_line *line)
{
    uint64_t x = 0;
    unsigned shift = 0;
    for (; *line->at & 0x80; shift += 7)
        x |= (uint64_t)(*line->at++ & 0x7f) << shift;
    return x | (uint64_t)*line->at++ << shift;
}

bool profile_line_next(struct profile_line *line)
{
    if (line->at == line->end)
        return false;
    line->time = (int64_t)((uint64_t)line->time + next_number(line));
    uint64_t met = next_number(line);
    line->node = met ? line->profile->renumber[met - 1] : PROFILE_NONE;
    return true;
}
