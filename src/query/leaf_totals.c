/* Counts, sums, minima and maxima of integers in a leaf, a part of a statement that the column scan
 * runs instead of SQLite.  Aggregates of the same values share them.
 *
 * avg() and total() add doubles, in the order of the rows.  While all sums are integers below 2^53,
 * doubles represent them exactly and the sum of integers is equal to the last bit; only then are
 * sums checked for overflow, and doubles added on their own. */
#include <stdlib.h>
#include <string.h>

#include "query/leaf.h"

#define NONE TTR_STORE_NULL
#define EXACT_MAX (UINT64_C(1) << 53) /* doubles represent all integers up to this one */

bool leaf_totals_reserve(struct leaf_totals *totals, size_t old, size_t n)
{
    struct leaf_total *total = realloc(totals->total, n * sizeof *total);
    totals->total = total ? total : totals->total;
    int64_t *nulls = realloc(totals->nulls, n * sizeof *nulls);
    totals->nulls = nulls ? nulls : totals->nulls;
    double *real = totals->has_real ? realloc(totals->real, n * sizeof *real) : NULL;
    totals->real = real ? real : totals->real;
    if (!total || !nulls || (totals->has_real && !real))
        return false;
    for (size_t i = old; i < n; i++) {
        total[i] = (struct leaf_total){.minimum = INT64_MAX, .maximum = INT64_MIN};
        nulls[i] = 0;
        if (real)
            real[i] = 0;
    }
    return true;
}

void leaf_totals_free(struct leaf_totals *totals)
{
    free(totals->total);
    free(totals->nulls);
    free(totals->real);
}

/* Returns a number that is at least the absolute value of each value, and at most twice the largest
 * of them.  x ^ x >> 63 is x, or -x - 1 if x is negative. */
static uint64_t find_magnitude(const int64_t *value, uint32_t n)
{
    int64_t bits = 0;
    for (uint32_t k = 0; k < n; k++)
        bits |= value[k] ^ value[k] >> 63;
    if (bits != INT64_MAX)
        return (uint64_t)bits + 1;
    /* There may be NULLs. */
    bits = 0;
    for (uint32_t k = 0; k < n; k++)
        bits |= value[k] == NONE ? 0 : value[k] ^ value[k] >> 63;
    return (uint64_t)bits + 1;
}

/* Returns true if all sums stay below EXACT_MAX when n values are added. The bound of the sums
 * grows with each block; when it is too large, it becomes the largest sum. */
static bool stays_exact(struct leaf_totals *totals, size_t groups_n, const int64_t *value,
                        uint32_t n)
{
    const uint64_t magnitude = find_magnitude(value, n);
    if (magnitude > EXACT_MAX / VECTOR_ROWS)
        return false;
    if (totals->sum_max + n * magnitude > EXACT_MAX) {
        totals->sum_max = 0;
        for (size_t g = 0; g < groups_n; g++) {
            const int64_t sum = totals->total[g].sum;
            const uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
            totals->sum_max = size > totals->sum_max ? size : totals->sum_max;
        }
    }
    totals->sum_max += n * magnitude;
    return totals->sum_max <= EXACT_MAX;
}

static void add_checked(struct leaf *leaf, struct leaf_totals *totals, const int64_t *value,
                        uint32_t n, const uint32_t *groups)
{
    bool is_overflow = false;
    for (uint32_t k = 0; totals->has_sum && k < n; k++) {
        int64_t *sum = &totals->total[groups[k]].sum;
        is_overflow |= __builtin_add_overflow(*sum, value[k] == NONE ? 0 : value[k], sum);
    }
    for (uint32_t k = 0; totals->has_real && k < n; k++)
        totals->real[groups[k]] += value[k] == NONE ? 0 : (double)value[k];
    leaf->program.is_inexact |= is_overflow;
}

/* Adds values to the totals of their groups, or of the only one.  Inlined for each combination of
 * the constants, so that the loop has only what is needed. */
static inline __attribute__((always_inline)) void add_values(const struct leaf_totals *totals,
                                                             const int64_t *value, uint32_t n,
                                                             const uint32_t *groups, bool has_sum,
                                                             bool has_extremes)
{
    struct leaf_total only = totals->total[0];
    for (uint32_t k = 0; k < n; k++) {
        struct leaf_total *total = groups ? &totals->total[groups[k]] : &only;
        const int64_t x = value[k];
        if (x == NONE) {
            totals->nulls[groups ? groups[k] : 0]++;
            continue;
        }
        total->count++;
        if (has_sum)
            total->sum += x;
        if (has_extremes && x < total->minimum)
            total->minimum = x;
        if (has_extremes && x > total->maximum)
            total->maximum = x;
    }
    if (!groups)
        totals->total[0] = only;
}

static void count_rows(const struct leaf_totals *totals, uint32_t n, const uint32_t *groups)
{
    if (!groups)
        totals->total[0].count += n;
    for (uint32_t k = 0; groups && k < n; k++)
        totals->total[groups[k]].count++;
}

/* groups: NULL = all rows are in one group.  Bits of the case: several groups, sums, extremes. */
static void add_integers(const struct leaf_totals *totals, const int64_t *value, uint32_t n,
                         const uint32_t *groups, bool is_summed)
{
    switch ((groups != NULL) << 2 | is_summed << 1 | totals->has_extremes) {
    case 0:
        add_values(totals, value, n, NULL, false, false);
        break;
    case 1:
        add_values(totals, value, n, NULL, false, true);
        break;
    case 2:
        add_values(totals, value, n, NULL, true, false);
        break;
    case 3:
        add_values(totals, value, n, NULL, true, true);
        break;
    case 4:
        add_values(totals, value, n, groups, false, false);
        break;
    case 5:
        add_values(totals, value, n, groups, false, true);
        break;
    case 6:
        add_values(totals, value, n, groups, true, false);
        break;
    default:
        add_values(totals, value, n, groups, true, true);
    }
}

void leaf_totals_add(struct leaf *leaf, struct leaf_totals *totals, const uint32_t *groups,
                     const struct leaf_block *block)
{
    struct leaf_block kept;
    uint32_t kept_groups[VECTOR_ROWS];
    int64_t buffer[VECTOR_ROWS];
    if (totals->filter != SQL_NONE) {
        leaf_filter(leaf, totals->filter, block, groups, &kept, kept_groups);
        block = &kept;
        groups = kept_groups;
    }
    const uint32_t *const used_groups = leaf->keys_n > 0 ? groups : NULL;
    if (totals->op == SQL_NONE) {
        count_rows(totals, block->n, used_groups);
        return;
    }
    const int64_t *value = leaf_evaluate(leaf, totals->op, block, buffer);
    const bool is_summed = totals->has_sum || totals->has_real;
    if (is_summed && !totals->is_checked && !stays_exact(totals, leaf->groups_n, value, block->n)) {
        totals->is_checked = true;
        for (size_t g = 0; totals->has_real && g < leaf->groups_n; g++)
            totals->real[g] = (double)totals->total[g].sum;
    }
    add_integers(totals, value, block->n, used_groups, is_summed && !totals->is_checked);
    if (totals->is_checked)
        add_checked(leaf, totals, value, block->n, groups);
}

int64_t leaf_total_value(const struct leaf_aggregate *aggregate, size_t group)
{
    const struct leaf_totals *totals = aggregate->totals;
    const struct leaf_total *total = &totals->total[group];
    const double sum =
        totals->is_checked && totals->has_real ? totals->real[group] : (double)total->sum;
    if (aggregate->function == LEAF_COUNT)
        return total->count + (aggregate->op == SQL_NONE ? totals->nulls[group] : 0);
    if (aggregate->function == LEAF_TOTAL)
        return vector_real_to_bits(sum);
    if (total->count == 0)
        return NONE;
    switch (aggregate->function) {
    case LEAF_AVG:
        return vector_real_to_bits(sum / (double)total->count);
    case LEAF_SUM:
        return total->sum;
    case LEAF_MIN:
        return total->minimum;
    default:
        return total->maximum;
    }
}

/* Returns true if an aggregate is one of rows or integers. */
static bool is_total(const struct leaf *leaf, const struct leaf_aggregate *aggregate)
{
    return aggregate->function == LEAF_COUNT ||
           (aggregate->function != LEAF_COUNT_DISTINCT && aggregate->function != LEAF_PERCENTILE &&
            leaf->program.ops[aggregate->op].type == TTR_STORE_INT);
}

/* Finds the totals of the values of an aggregate; those of any values count rows. */
static struct leaf_totals *find_totals(struct leaf *leaf, const struct leaf_aggregate *aggregate)
{
    size_t i = 0;
    while (i < leaf->totals_n &&
           (leaf->totals[i].filter != aggregate->filter ||
            (leaf->totals[i].op != aggregate->op && aggregate->op != SQL_NONE)))
        i++;
    if (i == leaf->totals_n)
        leaf->totals[leaf->totals_n++] =
            (struct leaf_totals){.op = aggregate->op, .filter = aggregate->filter};
    return &leaf->totals[i];
}

void leaf_totals_start(struct leaf *leaf)
{
    /* Values first, since these also count rows. */
    for (int counts_rows = 0; counts_rows < 2; counts_rows++)
        for (uint32_t i = 0; i < leaf->aggregates_n; i++) {
            struct leaf_aggregate *aggregate = &leaf->aggregates[i];
            if (!is_total(leaf, aggregate) || (aggregate->op == SQL_NONE) != counts_rows)
                continue;
            const uint8_t function = aggregate->function;
            const bool is_summed =
                function == LEAF_SUM || function == LEAF_TOTAL || function == LEAF_AVG;
            struct leaf_totals *totals = find_totals(leaf, aggregate);
            aggregate->totals = totals;
            totals->has_extremes |= function == LEAF_MIN || function == LEAF_MAX;
            totals->has_sum |= is_summed && aggregate->is_whole;
            totals->has_real |= is_summed && !aggregate->is_whole;
        }
}
