/* Fields at a fixed place of every record, for stages that read a few numbers of each event without
 * an iteration (field_ops.locate and field_ops.record). */
#include "layout/layout.h"
#include "layout/layout_program.h"

/* Returns the member of a root that is displayed with a name, or NULL. */
static const struct type_member *find_displayed_member(const struct type *root, ttr_text name)
{
    for (uint32_t i = 0; root && root->kind == TYPE_STRUCT && i < root->members_n; i++) {
        const struct type_member *member = &root->members[i];
        const ttr_text shown = member->shown.p ? member->shown : member->name;
        if (shown.n == name.n && memcmp(shown.p, name.p, name.n) == 0)
            return member;
    }
    return NULL;
}

/* Sets size and type. Returns false if the type is neither an integer of whole bytes nor a text of
 * fixed size. */
static bool describe_position(const struct type *type, struct field_position *position)
{
    if (type->kind == TYPE_TEXT && type->count && type->count <= UINT16_MAX &&
        !type->reference.names_n && !type->has_inline_length && type->encoding <= ENCODING_NONE) {
        *position = (struct field_position){.bytes = (uint32_t)type->count, .is_text = true};
        return true;
    }
    if ((type->kind != TYPE_UINT && type->kind != TYPE_INT && type->kind != TYPE_BITS) ||
        type->unit || type->is_reversed ||
        (type->bits != 8 && type->bits != 16 && type->bits != 32 && type->bits != 64))
        return false;
    *position = (struct field_position){.bytes = type->bits / 8,
                                        .is_signed = type->kind == TYPE_INT,
                                        .is_big_endian = type->is_big_endian};
    return true;
}

bool layout_find_position(const void *ctx, ttr_group group, ttr_text name,
                          struct field_position *position)
{
    static const uint8_t roots[] = {[TTR_GROUP_PAYLOAD] = ROOT_PAYLOAD,
                                    [TTR_GROUP_CONTEXT] = ROOT_SPECIFIC_CONTEXT,
                                    [TTR_GROUP_COMMON] = ROOT_COMMON_CONTEXT};
    const struct layout_schema *schema = ctx;
    struct layout_member_position found;
    if (group > TTR_GROUP_COMMON || !schema->layout || !layout_is_byte_aligned(schema->layout))
        return false;
    const enum type_root root = (enum type_root)roots[group];
    const struct type_member *member = find_displayed_member(schema->layout->root[root], name);
    if (!member || member->type->role ||
        !layout_locate_member(schema->layout, root, member->name, &found) || (found.bit & 7) ||
        found.bit / 8 > UINT32_MAX || !describe_position(found.type, position))
        return false;
    position->offset = (uint32_t)(found.bit / 8);
    return true;
}

const uint8_t *layout_record_bytes(const void *ctx, const ttr_event *event, size_t *n)
{
    const struct layout_schema *schema = ctx;
    if (schema->is_in_payload) {
        const uint32_t bit = event->body & schema->body_mask;
        *n = event->payload_size > bit / 8 ? event->payload_size - bit / 8 : 0;
        return (bit & 7) == 0 ? event->payload + bit / 8 : NULL;
    }
    if (!schema->place)
        return NULL;
    struct layout_cursor run = {.value = 0};
    schema->place(schema, event, &run);
    if (run.bits.failed || (run.bits.at & 7) || run.bits.at > run.bits.end)
        return NULL;
    *n = (size_t)((run.bits.end - run.bits.at) / 8);
    return run.bits.base + run.bits.at / 8;
}
