/* Tables of words (roles, log levels, origins), and checks that parser and printer share: for
 * repeated names and overlapping options of variants. */
#include "formats/ctf/metadata/json/ctf2_words.h"

#include <string.h>

#include "base/hash.h"

#define IN(root) (1u << (root))

const char *const ctf2_origins[ROOT_COUNT] = {"packet-header",
                                              "packet-context",
                                              "event-record-header",
                                              "event-record-common-context",
                                              "event-record-specific-context",
                                              "event-record-payload"};

static const struct ctf2_role roles[] = {
    {"packet-magic-number", IN(ROOT_PACKET_HEADER), CTF_ROLE_MAGIC, 0, false, false},
    {"metadata-stream-uuid", IN(ROOT_PACKET_HEADER), CTF_ROLE_UUID, 0, true, false},
    {"data-stream-class-id", IN(ROOT_PACKET_HEADER), CTF_ROLE_STREAM_CLASS_ID, 0, false, false},
    {"data-stream-id", IN(ROOT_PACKET_HEADER), CTF_ROLE_STREAM_ID, 0, false, false},
    {"packet-total-length", IN(ROOT_PACKET_CONTEXT), CTF_ROLE_PACKET_SIZE, 0, false, false},
    {"packet-content-length", IN(ROOT_PACKET_CONTEXT), CTF_ROLE_CONTENT_SIZE, 0, false, false},
    {"default-clock-timestamp", IN(ROOT_PACKET_CONTEXT) | IN(ROOT_EVENT_HEADER), CTF_ROLE_TIME,
     CTF_ROLE_TIME_BEGIN, false, true},
    {"packet-end-default-clock-timestamp", IN(ROOT_PACKET_CONTEXT), CTF_ROLE_TIME_END, 0, false,
     true},
    {"discarded-event-record-counter-snapshot", IN(ROOT_PACKET_CONTEXT), CTF_ROLE_DISCARDED, 0,
     false, false},
    {"packet-sequence-number", IN(ROOT_PACKET_CONTEXT), CTF_ROLE_SEQUENCE, 0, false, false},
    {"event-record-class-id", IN(ROOT_EVENT_HEADER), CTF_ROLE_EVENT_ID, 0, false, false},
};

static const char *const log_levels[] = {
    "emergency",    "alert",      "critical",       "error",         "warning",
    "notice",       "info",       "debug:system",   "debug:program", "debug:process",
    "debug:module", "debug:unit", "debug:function", "debug:line",    "debug"};
#define LOG_LEVELS (sizeof log_levels / sizeof *log_levels)

struct option_range {
    /* ends of the range; if signed, with the sign bit inverted, so that they can be compared as
     * unsigned */
    uint64_t low, high;
    uint32_t option;
};

/* One step of the heap sort of ranges by their lower end. Heap sort allocates nothing and needs
 * O(n log n) steps for every input. */
static void sift_range_down(struct option_range *heap, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        child += child + 1 < n && heap[child].low < heap[child + 1].low;
        if (heap[root].low >= heap[child].low)
            return;
        struct option_range held = heap[root];
        heap[root] = heap[child];
        heap[child] = held;
    }
}

static void sort_ranges(struct option_range *heap, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_range_down(heap, i, n);
    for (size_t left = n; left-- > 1;) {
        struct option_range last = heap[left];
        heap[left] = heap[0];
        heap[0] = last;
        sift_range_down(heap, 0, left);
    }
}

const struct ctf2_role *ctf2_parse_role(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strlen(roles[i].name) == n && memcmp(roles[i].name, name, n) == 0)
            return &roles[i];
    return NULL;
}

const struct ctf2_role *ctf2_find_role(enum ctf_role role, enum type_root root)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        enum ctf_role meant = root == ROOT_PACKET_CONTEXT && roles[i].in_packet_context
                                  ? roles[i].in_packet_context
                                  : roles[i].role;
        if (meant == role && (roles[i].roots & IN(root)))
            return &roles[i];
    }
    return NULL;
}

int ctf2_parse_log_level(const char *name, size_t n)
{
    for (size_t i = 0; i < LOG_LEVELS; i++)
        if (strlen(log_levels[i]) == n && memcmp(log_levels[i], name, n) == 0)
            return (int)i;
    return -1;
}

const char *ctf2_get_log_level_text(int64_t level)
{
    return level >= 0 && level < (int64_t)LOG_LEVELS ? log_levels[level] : NULL;
}

bool ctf2_names_init(struct ctf2_names *names, struct arena *arena, size_t n)
{
    names->slots_n = 4;
    while (names->slots_n < 2 * n)
        names->slots_n *= 2;
    names->slots = arena_alloc(arena, names->slots_n * sizeof *names->slots);
    if (names->slots)
        memset(names->slots, 0, names->slots_n * sizeof *names->slots);
    return names->slots != NULL;
}

bool ctf2_names_add(struct ctf2_names *names, const ttr_text *name)
{
    size_t at = (size_t)hash_bytes(name->p, name->n) & (names->slots_n - 1);
    for (; names->slots[at]; at = (at + 1) & (names->slots_n - 1))
        if (names->slots[at]->n == name->n && memcmp(names->slots[at]->p, name->p, name->n) == 0)
            return false;
    names->slots[at] = name;
    return true;
}

/* Collects the ranges of all options of a variant. Returns NULL if memory runs out. */
static struct option_range *collect_ranges(const struct type *variant, struct arena *arena,
                                           size_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < variant->members_n; i++)
        *n += variant->members[i].ranges_n;
    struct option_range *ranges = arena_alloc(arena, *n * sizeof *ranges), *to = ranges;
    uint64_t turn = variant->is_selector_signed ? UINT64_C(1) << 63 : 0;
    for (uint32_t i = 0; i < variant->members_n && ranges; i++)
        for (uint32_t j = 0; j < variant->members[i].ranges_n; j++) {
            const struct type_range *range = &variant->members[i].ranges[j];
            *to++ = (struct option_range){range->low ^ turn, range->high ^ turn, i};
        }
    return ranges;
}

ttr_status ctf2_find_option_overlap(const struct type *variant, struct arena *arena, bool *overlaps,
                                    uint64_t *value)
{
    size_t n;
    struct option_range *ranges = collect_ranges(variant, arena, &n);
    *overlaps = false;
    if (!ranges)
        return TTR_E_NOMEM;
    sort_ranges(ranges, n);
    /* the range with the greatest upper end so far; only ranges of other options may not overlap
     * it */
    struct option_range reach = {0, 0, 0};
    for (size_t i = 0; i < n && !*overlaps; i++) {
        *overlaps = i > 0 && ranges[i].low <= reach.high && ranges[i].option != reach.option;
        *value = variant->is_selector_signed ? ranges[i].low ^ UINT64_C(1) << 63 : ranges[i].low;
        if (i == 0 || ranges[i].high > reach.high)
            reach = ranges[i];
    }
    return TTR_OK;
}
