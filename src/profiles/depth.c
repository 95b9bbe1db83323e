/* Limits the depth of stacks. Formats that repeat all frames of a stack grow with the square of the
 * depth: a chain of n nested spans has n stacks with n / 2 frames on average.
 *
 * A node at or below the limit becomes its ancestor at the last allowed depth, which gets its
 * weight and count. Parents precede their children, so one pass from the first node to the last
 * suffices. Cost: one copy of the nodes, made only if a stack is too deep. */
#include "base/saturate.h"
#include "profiles/profiles.h"

/* Copies the nodes that are not too deep, and assigns a copy to each node. */
static void copy_shallow_nodes(struct profile_out *out, ttr_profile_node *copy)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->nodes_n; i++) {
        const ttr_profile_node *node = &out->node[i];
        const uint32_t parent =
            node->parent == TTR_PROFILE_NONE ? TTR_PROFILE_NONE : out->shallow[node->parent];
        if (node->depth < out->depth_max) {
            copy[n] = *node;
            copy[n].parent = parent;
            out->shallow[i] = n++;
            continue;
        }
        out->shallow[i] = parent;
        copy[parent].self = saturate_add_u64(copy[parent].self, node->self);
        copy[parent].count = saturate_add_u64(copy[parent].count, node->count);
    }
    out->node = copy;
    out->nodes_n = n;
}

bool profile_limit_depth(struct profile_out *out, uint32_t depth_max)
{
    out->depth_max = 0;
    for (uint32_t i = 0; i < out->nodes_n; i++)
        if (out->node[i].depth >= out->depth_max)
            out->depth_max = out->node[i].depth + 1;
    if (depth_max == 0 || out->depth_max <= depth_max)
        return true;
    out->depth_max = depth_max;
    out->all_nodes_n = out->nodes_n;
    out->shallow = alloc_zero(out->alloc, out->all_nodes_n, sizeof *out->shallow);
    out->copied_nodes = alloc_zero(out->alloc, out->all_nodes_n, sizeof *out->copied_nodes);
    if (!out->shallow || !out->copied_nodes)
        return false;
    copy_shallow_nodes(out, out->copied_nodes);
    return true;
}

void profile_free_depth(struct profile_out *out)
{
    alloc_free(out->alloc, out->shallow, out->all_nodes_n, sizeof *out->shallow);
    alloc_free(out->alloc, out->copied_nodes, out->all_nodes_n, sizeof *out->copied_nodes);
}
