/* Resolves addresses to names after the complete trace was read, since traces record names at their
 * end.
 *
 * Several addresses belong to one function, so nodes become equal and are joined.  One pass from
 * parents to children does that, since parents precede their children. */
#include <string.h>

#include "base/number.h"
#include "base/saturate.h"
#include "model/context.h"
#include "pipeline/profile/profile.h"

/* Returns the text "module!function" of an address, or the known part of it, as a string id. */
static ttr_id resolve_address_name(struct ttr_profile *profile, const struct profile_place *place,
                                   ttr_id *module)
{
    struct buffer text;
    ttr_symbol symbol;
    char number[NUMBER_MAX];
    bool is_managed = place->kind == PLACE_MANAGED;
    buffer_init(&text, profile->alloc);
    (void)ttr_symbol_get(profile->t, place->thread, place->address, place->first_ns, &symbol);
    *module = symbol.module;
    if (!symbol.name)
        symbol.name = symbols_locate(profile->t, profile->locate, profile->locate_own,
                                     place->thread, place->address, place->first_ns);
    if (symbol.module || is_managed) {
        ttr_text name = symbol.module
                            ? ttr_text_get(profile->t, symbol.module)
                            : (ttr_text){symbol.name ? "ManagedModule" : "?", symbol.name ? 13 : 1};
        buffer_add(&text, name.p, name.n);
        buffer_add_byte(&text, '!');
    }
    if (symbol.name) {
        ttr_text name = ttr_text_get(profile->t, symbol.name);
        buffer_add(&text, name.p, name.n);
    } else if (is_managed) {
        buffer_add_byte(&text, '?');
    } else {
        buffer_add(&text, number,
                   number_format_hex(number, symbol.module ? symbol.offset : place->address));
    }
    ttr_id id = text.failed ? 0 : ttr_text_add(profile->t, text.bytes, text.n);
    buffer_free(&text);
    return id;
}

/* Returns the index of the public frame with a name, added if it is new. Returns PROFILE_NONE if
 * memory is exhausted. */
static uint32_t find_or_add_frame(struct ttr_profile *profile, struct pair_map *known,
                                  const ttr_profile_frame *frame)
{
    const uint32_t *there = pair_map_get(known, frame->name, frame->is_state);
    if (there)
        return *there;
    if (!alloc_reserve(profile->alloc, (void **)&profile->frame, &profile->frame_room,
                       profile->frames_n + 1, sizeof *profile->frame) ||
        !pair_map_put(known, frame->name, frame->is_state, (uint32_t)profile->frames_n))
        return PROFILE_NONE;
    profile->frame[profile->frames_n] = *frame;
    return (uint32_t)profile->frames_n++;
}

/* Resolves the names of all collected frames. Replaces the address of each by the index of its
 * public frame. */
static bool resolve_place_names(struct ttr_profile *profile)
{
    struct pair_map known;
    bool is_fine = true;
    pair_map_init(&known, profile->alloc);
    for (size_t i = 0; i < profile->places_n && is_fine; i++) {
        struct profile_place *place = &profile->place[i];
        /* after a stop, names that are not in the trace are not searched for */
        if (profile->progress && !profile->progress(profile->progress_ctx))
            profile->locate = NULL;
        bool has_address = place->kind == PLACE_ADDRESS || place->kind == PLACE_MANAGED;
        ttr_profile_frame frame = {.is_state = place->kind == PLACE_STATE};
        frame.name =
            has_address ? resolve_address_name(profile, place, &frame.module) : place->name;
        if (!frame.name && !has_address)
            frame.name = ttr_text_add(profile->t, "(no name)", 9);
        uint32_t at = frame.name ? find_or_add_frame(profile, &known, &frame) : PROFILE_NONE;
        place->address = at;
        is_fine = at != PROFILE_NONE;
    }
    pair_map_free(&known);
    return is_fine;
}

/* Returns the number of the public node of a profile_met, added if it is new. Returns PROFILE_NONE
 * if memory is exhausted. */
static uint32_t find_or_add_node(struct ttr_profile *profile, const struct profile_met *met)
{
    uint32_t parent = met->parent == PROFILE_NONE ? PROFILE_NONE : profile->renumber[met->parent];
    uint32_t frame = (uint32_t)profile->place[met->place].address;
    uint64_t a = (uint64_t)parent << 32 | frame, b = parent == PROFILE_NONE ? met->lane : 0;
    const uint32_t *known = pair_map_get(&profile->met_of, a, b);
    if (known)
        return *known;
    if (!alloc_reserve(profile->alloc, (void **)&profile->node, &profile->node_room,
                       profile->nodes_n + 1, sizeof *profile->node) ||
        !pair_map_put(&profile->met_of, a, b, (uint32_t)profile->nodes_n))
        return PROFILE_NONE;
    uint32_t depth = parent == PROFILE_NONE ? 0 : profile->node[parent].depth + 1;
    profile->node[profile->nodes_n] = (ttr_profile_node){.parent = parent,
                                                         .first_child = PROFILE_NONE,
                                                         .next = PROFILE_NONE,
                                                         .frame = frame,
                                                         .lane = met->lane,
                                                         .depth = depth};
    return (uint32_t)profile->nodes_n++;
}

static bool make_tree_nodes(struct ttr_profile *profile)
{
    profile->renumber_n = profile->met_n;
    profile->renumber = alloc_zero(profile->alloc, profile->met_n, sizeof *profile->renumber);
    pair_map_free(&profile->met_of); /* The map now gets the keys of public nodes. */
    for (size_t i = 0; i < profile->met_n && profile->renumber; i++) {
        uint32_t at = find_or_add_node(profile, &profile->met[i]);
        if (at == PROFILE_NONE)
            return false;
        profile->renumber[i] = at;
        profile->node[at].self = saturate_add_u64(profile->node[at].self, profile->met[i].self);
        profile->node[at].count += profile->met[i].count;
    }
    return profile->renumber;
}

/* Sums the total weights of nodes and links siblings. The loop goes from children to parents. */
static void link_nodes(struct ttr_profile *profile)
{
    for (size_t i = profile->nodes_n; i-- > 0;) {
        ttr_profile_node *node = &profile->node[i];
        uint32_t *first = node->parent == PROFILE_NONE ? &profile->lane[node->lane].first_root
                                                       : &profile->node[node->parent].first_child;
        node->total = saturate_add_u64(node->total, node->self);
        if (node->parent != PROFILE_NONE) {
            uint64_t *parent_total = &profile->node[node->parent].total;
            *parent_total = saturate_add_u64(*parent_total, node->total);
        }
        node->next = *first;
        *first = (uint32_t)i;
    }
}

/* Adds a list of siblings and their descendants to the totals of their frames. In a recursion only
 * the outermost node of a frame counts. */
static void sum_sibling_totals(struct ttr_profile *profile, uint32_t *running, uint32_t root)
{
    uint32_t at = root;
    while (at != PROFILE_NONE) {
        const ttr_profile_node *node = &profile->node[at];
        ttr_profile_frame *frame = &profile->frame[node->frame];
        frame->self = saturate_add_u64(frame->self, node->self);
        frame->total = saturate_add_u64(frame->total, running[node->frame]++ ? 0 : node->total);
        if (node->first_child != PROFILE_NONE) {
            at = node->first_child;
            continue;
        }
        running[profile->node[at].frame]--;
        while (profile->node[at].next == PROFILE_NONE && profile->node[at].parent != PROFILE_NONE) {
            at = profile->node[at].parent;
            running[profile->node[at].frame]--;
        }
        at = profile->node[at].next;
    }
}

static bool sum_frames(struct ttr_profile *profile)
{
    uint32_t *running = alloc_zero(profile->alloc, profile->frames_n, sizeof *running);
    for (size_t i = 0; i < profile->lanes_n && running; i++)
        sum_sibling_totals(profile, running, profile->lane[i].first_root);
    alloc_free(profile->alloc, running, profile->frames_n, sizeof *running);
    return running;
}

/* Merges the trees of all threads into that of the first. */
static void merge_lanes(struct ttr_profile *profile)
{
    for (size_t i = 1; i < profile->lanes_n; i++) {
        ttr_profile_thread *all = &profile->lane[0];
        const ttr_profile_thread *lane = &profile->lane[i];
        all->count += lane->count;
        all->weight = saturate_add_u64(all->weight, lane->weight);
        all->first_ns = lane->first_ns < all->first_ns ? lane->first_ns : all->first_ns;
        all->last_ns = lane->last_ns > all->last_ns ? lane->last_ns : all->last_ns;
        buffer_free(&profile->state[i].line);
    }
    if (profile->lanes_n) {
        profile->lanes_n = 1;
        profile->lane[0].thread = 0;
    }
}

bool profile_finish(struct ttr_profile *profile)
{
    key_map_free(&profile->stack_of);
    pair_map_free(&profile->place_of);
    if (profile->flags & TTR_PROFILE_MERGED)
        merge_lanes(profile);
    for (size_t i = 0; i < profile->lanes_n; i++) {
        profile->weight = saturate_add_u64(profile->weight, profile->lane[i].weight);
        profile->count += profile->lane[i].count;
    }
    if (!resolve_place_names(profile) || !make_tree_nodes(profile))
        return false;
    link_nodes(profile);
    pair_map_free(&profile->met_of);
    alloc_free(profile->alloc, profile->met, profile->met_room, sizeof *profile->met);
    alloc_free(profile->alloc, profile->place, profile->place_room, sizeof *profile->place);
    profile->met = NULL, profile->met_room = 0;
    profile->place = NULL, profile->place_room = 0;
    return sum_frames(profile);
}
