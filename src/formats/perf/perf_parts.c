/* Locates the variable parts of a sample: counters, callchain, raw data, branches, registers,
 * stack. Their order is that of perf_output_sample in the kernel (PERF-SAMPLE-1). */
#include "formats/perf/perf.h"

static unsigned count_bits(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* Reads `n` items of `bytes` bytes each, and returns their address and number. Sets at->c.failed
 * if the record ends earlier. */
static struct perf_part read_items(struct perf_cursor *at, uint64_t n, unsigned bytes)
{
    if (n > cursor_left(&at->c) / bytes) {
        at->c.failed = true;
        return (struct perf_part){NULL, 0};
    }
    return (struct perf_part){cursor_read_bytes(&at->c, n * bytes), n};
}

/* Reads READ: one counter value, or several values with their count. The returned part starts at
 * the count or at the times. */
static struct perf_part read_counter_values(struct perf_cursor *at, uint64_t format)
{
    const uint8_t *begin = at->c.p;
    unsigned each = 1 + count_bits(format & (PERF_READ_ID | PERF_READ_LOST)),
             times = count_bits(format & (PERF_READ_TIME_ENABLED | PERF_READ_TIME_RUNNING));
    uint64_t n = format & PERF_READ_GROUP ? perf_read_u64(at) : 1;
    (void)cursor_skip(&at->c, 8 * (uint64_t)times);
    struct perf_part values = read_items(at, n, 8 * each);
    return values.p ? (struct perf_part){begin, n} : values;
}

/* Reads registers: u64 abi, then one u64 for each bit of the mask unless abi is 0. */
static struct perf_part read_registers(struct perf_cursor *at, uint64_t mask)
{
    return read_items(at, perf_read_u64(at) ? count_bits(mask) : 0, 8);
}

/* Reads the user stack: u64 n, n bytes, u64 used bytes. */
static struct perf_part read_user_stack(struct perf_cursor *at)
{
    struct perf_part stack = read_items(at, perf_read_u64(at), 1);
    uint64_t used = stack.n ? perf_read_u64(at) : 0;
    stack.n = used < stack.n ? used : stack.n;
    return stack;
}

static struct perf_part read_branches(struct perf_cursor *at, uint64_t branch_type)
{
    uint64_t n = perf_read_u64(at);
    if (branch_type & PERF_BRANCH_HW_INDEX)
        (void)perf_read_u64(at);
    struct perf_part branches = read_items(at, n, 24);
    if (branch_type & PERF_BRANCH_COUNTERS)
        (void)read_items(at, n, 8);
    return branches;
}

static struct perf_part read_counted_items(struct perf_cursor *at, unsigned bytes)
{
    uint64_t n = perf_read_u64(at);
    return read_items(at, n, bytes);
}

void perf_find_sample_parts(const struct perf_kind *kind, const uint8_t *record, uint32_t size,
                            struct perf_parts *parts)
{
    const struct perf_request *request = &kind->request;
    uint64_t has = request->sample_type;
    struct perf_cursor at = {cursor_init(record, size, 0), kind->trace->is_big};
    memset(parts, 0, sizeof *parts);
    (void)cursor_skip(&at.c, kind->parts_at);
    if (has & PERF_SAMPLE_HAS_READ)
        parts->read = read_counter_values(&at, request->read_format);
    if (has & PERF_SAMPLE_HAS_CALLCHAIN)
        parts->chain = read_counted_items(&at, 8);
    if (has & PERF_SAMPLE_HAS_RAW)
        parts->raw = read_items(&at, perf_read_u32(&at), 1);
    if (has & PERF_SAMPLE_HAS_BRANCH_STACK)
        parts->branches = read_branches(&at, request->branch_type);
    if (has & PERF_SAMPLE_HAS_REGS_USER)
        parts->regs_user = read_registers(&at, request->regs_user);
    if (has & PERF_SAMPLE_HAS_STACK_USER)
        parts->stack_user = read_user_stack(&at);
    if (has & (PERF_SAMPLE_HAS_WEIGHT | PERF_SAMPLE_HAS_WEIGHT_STRUCT))
        parts->single[PERF_SINGLE_WEIGHT] = cursor_read_bytes(&at.c, 8);
    if (has & PERF_SAMPLE_HAS_DATA_SRC)
        parts->single[PERF_SINGLE_DATA_SRC] = cursor_read_bytes(&at.c, 8);
    if (has & PERF_SAMPLE_HAS_TRANSACTION)
        parts->single[PERF_SINGLE_TRANSACTION] = cursor_read_bytes(&at.c, 8);
    if (has & PERF_SAMPLE_HAS_REGS_INTR)
        parts->regs_intr = read_registers(&at, request->regs_intr);
    static const uint32_t bits[] = {PERF_SAMPLE_HAS_PHYS_ADDR, PERF_SAMPLE_HAS_CGROUP,
                                    PERF_SAMPLE_HAS_DATA_PAGE, PERF_SAMPLE_HAS_CODE_PAGE};
    for (unsigned i = 0; i < 4; i++)
        if (has & bits[i])
            parts->single[PERF_SINGLE_PHYS_ADDR + i] = cursor_read_bytes(&at.c, 8);
    if (has & PERF_SAMPLE_HAS_AUX)
        parts->aux = read_counted_items(&at, 1);
    parts->is_whole = !at.c.failed && cursor_left(&at.c) < 8 && !(has >> 25);
}
