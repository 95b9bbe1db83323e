/* Call tree while samples are read: stores each thread, each frame, and each frame below a caller
 * once. */
#include "model/context.h"
#include "pipeline/profile/profile.h"
#include "base/protobuf.h"

size_t profile_get_lane(struct ttr_profile *profile, ttr_id thread)
{
    const uint32_t *known = pair_map_get(&profile->lane_of, thread, 0);
    if (known)
        return *known;
    size_t lane = profile->lanes_n;
    if (lane >= PROFILE_NONE ||
        !alloc_reserve(profile->alloc, (void **)&profile->lane, &profile->lane_room, lane + 1,
                       sizeof *profile->lane) ||
        !alloc_reserve(profile->alloc, (void **)&profile->state, &profile->state_room, lane + 1,
                       sizeof *profile->state) ||
        !pair_map_put(&profile->lane_of, thread, 0, (uint32_t)lane))
        return SIZE_MAX;
    profile->lane[lane] = (ttr_profile_thread){
        .thread = thread, .first_root = PROFILE_NONE, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    profile->state[lane] = (struct profile_state){.leaf = PROFILE_NONE};
    buffer_init(&profile->state[lane].line, profile->alloc);
    profile->lanes_n++;
    return lane;
}

uint32_t profile_find_or_add_place(struct ttr_profile *profile, const struct profile_place *place)
{
    bool has_address = place->kind == PLACE_ADDRESS || place->kind == PLACE_MANAGED;
    uint64_t a = has_address ? place->address : place->name, b = place->kind;
    /* The same address means other code in another process, or after modules were loaded or
     * unloaded. */
    if (has_address) {
        const uint64_t process =
            place->thread ? (uint64_t)profile->t->threads[place->thread].process + 1 : 0;
        b = process << 32 | profile->t->symbols.reused;
    }
    const uint32_t *known = pair_map_get(&profile->place_of, a, b);
    if (known)
        return *known;
    if (profile->places_n >= PROFILE_NONE - 1 ||
        !alloc_reserve(profile->alloc, (void **)&profile->place, &profile->place_room,
                       profile->places_n + 1, sizeof *profile->place) ||
        !pair_map_put(&profile->place_of, a, b, (uint32_t)profile->places_n))
        return PROFILE_NONE;
    profile->place[profile->places_n] = *place;
    return (uint32_t)profile->places_n++;
}

uint32_t profile_find_or_add_call(struct ttr_profile *profile, uint32_t parent, uint32_t place,
                                  uint32_t lane)
{
    uint64_t a = (uint64_t)parent << 32 | place;
    uint32_t of = profile->flags & TTR_PROFILE_MERGED ? 0 : lane;
    const uint32_t *known = pair_map_get(&profile->met_of, a, parent == PROFILE_NONE ? of : 0);
    if (known)
        return *known;
    if (profile->met_n >= PROFILE_NONE - 1 ||
        !alloc_reserve(profile->alloc, (void **)&profile->met, &profile->met_room,
                       profile->met_n + 1, sizeof *profile->met) ||
        !pair_map_put(&profile->met_of, a, parent == PROFILE_NONE ? of : 0,
                      (uint32_t)profile->met_n))
        return PROFILE_NONE;
    profile->met[profile->met_n] =
        (struct profile_met){.parent = parent, .place = place, .lane = of};
    return (uint32_t)profile->met_n++;
}

/* --- Timelines --- Each change has the time since the previous one and the number of the node from
 * then on, plus 1, as variable-length numbers. Nodes are numbered as collected; the numbers are
 * translated when the profile is read. */

bool profile_timeline_append(struct ttr_profile *profile, size_t lane, int64_t time, uint32_t met)
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
    uint8_t *end = protobuf_write_varint(protobuf_write_varint(at, since),
                                         met == PROFILE_NONE ? 0 : (uint64_t)met + 1);
    buffer_commit(&state->line, (size_t)(end - at));
    state->line_time = (int64_t)((uint64_t)state->line_time + since);
    state->line_node = met;
    return true;
}

void profile_timeline_begin(struct profile_timeline *line, const struct ttr_profile *profile,
                            size_t lane)
{
    const struct buffer *bytes = &profile->state[lane].line;
    *line = (struct profile_timeline){.profile = profile,
                                      .at = bytes->bytes,
                                      /* an offset from NULL is undefined, even if it is 0 */
                                      .end = bytes->n ? bytes->bytes + bytes->n : bytes->bytes,
                                      .time = profile->lane[lane].first_ns,
                                      .node = PROFILE_NONE};
}

/* Decodes a variable-length number that profile_timeline_append encoded. Needs no check, because
 * the bytes are not input. */
static uint64_t read_next_number(struct profile_timeline *line)
{
    uint64_t x = 0;
    unsigned shift = 0;
    for (; *line->at & 0x80; shift += 7)
        x |= (uint64_t)(*line->at++ & 0x7f) << shift;
    return x | (uint64_t)*line->at++ << shift;
}

bool profile_timeline_next(struct profile_timeline *line)
{
    if (line->at == line->end)
        return false;
    line->time = (int64_t)((uint64_t)line->time + read_next_number(line));
    uint64_t met = read_next_number(line);
    line->node = met ? line->profile->renumber[met - 1] : PROFILE_NONE;
    return true;
}
