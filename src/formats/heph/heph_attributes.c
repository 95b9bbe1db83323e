/* Search for nested arrays (heph_attributes.h has the problem): depth-first backtracking that tries
 * flat arrays before nested ones, so it finds the solution with the least nesting. The number of
 * examined values is limited, because a malicious packet could make it exponential. */
#include "formats/heph/heph_attributes.h"

static bool consume_nesting_budget(struct heph_nesting *nesting)
{
    if (nesting->work == 0)
        return false;
    nesting->work--;
    return true;
}

/* Skips an array with `levels` levels of nesting, of which the type byte is already read. `levels`
 * is at most HEPH_LEVELS_MAX, so recursion is limited. */
static bool skip_nested_array(struct cursor *c, uint8_t type, unsigned levels,
                              struct heph_nesting *nesting)
{
    if (!consume_nesting_budget(nesting))
        return false;
    if (levels == 1)
        return heph_skip_value(c, type);
    uint32_t n = cursor_u16be(c);
    bool is_at_end = !c->failed;
    for (uint32_t i = 0; i < n && is_at_end; i++)
        is_at_end = skip_nested_array(c, type, levels - 1, nesting);
    return is_at_end;
}

static bool is_array_type(uint8_t type)
{
    return type > HEPH_TYPE_ARRAY && type <= (HEPH_TYPE_ARRAY | HEPH_TYPE_TEXT);
}

/* Tries all nestings of the arrays, from array number `array` on, until the attributes fill the
 * packet exactly. Recursion is at most HEPH_NESTING_MAX levels deep. */
static bool find_nesting_from(struct cursor c, unsigned array, struct heph_nesting *nesting)
{
    while (cursor_left(&c) && consume_nesting_budget(nesting)) {
        (void)cursor_skip(&c, cursor_u16be(&c));
        uint8_t type = cursor_u8(&c);
        if (!is_array_type(type) || array >= HEPH_NESTING_MAX) {
            if (!heph_skip_value(&c, type))
                return false;
            continue;
        }
        uint64_t before = nesting->levels & ((UINT64_C(1) << (2 * array)) - 1);
        for (unsigned levels = 1; levels <= HEPH_LEVELS_MAX; levels++) {
            struct cursor rest = c;
            nesting->levels = before | (uint64_t)(levels - 1) << (2 * array);
            if (skip_nested_array(&rest, type, levels, nesting) &&
                find_nesting_from(rest, array + 1, nesting))
                return true;
        }
        return false;
    }
    return cursor_left(&c) == 0 && !c.failed;
}

bool heph_find_array_nesting(struct cursor c, struct heph_nesting *nesting)
{
    *nesting = (struct heph_nesting){.work = 64 + 4 * (uint64_t)cursor_left(&c)};
    return find_nesting_from(c, 0, nesting);
}
