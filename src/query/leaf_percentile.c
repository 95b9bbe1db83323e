/* Percentiles in a leaf, a part of a statement that the column scan runs instead of SQLite.  All
 * values are kept, sorted by group with a counting sort, and selected with the
 * algorithm of Floyd and Rivest (1975), which compares little more than n values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "query/leaf.h"

#define PAGE 4096u
#define LARGE_PAGE ((size_t)2 << 20)

#define SAMPLE_MIN 600 /* values from which on a sample narrows the range */

/* Returns room for n items, in huge pages if it is large: the faults of 4 KiB pages would cost more
 * than writing the values. */
static void *allocate_items(size_t n, size_t size)
{
    char *block = malloc(n * size);
    /* cppcheck-suppress uninitdata */
    const uintptr_t begin = ((uintptr_t)block + PAGE - 1) / PAGE * PAGE;
    const uintptr_t end = ((uintptr_t)block + n * size) / PAGE * PAGE;
    if (block && n * size >= LARGE_PAGE)
        (void)madvise(block + (begin - (uintptr_t)block), end - begin, MADV_HUGEPAGE);
    return block;
}

/* Makes room for the values of all rows that are scanned; unused pages cost no memory. */
static bool reserve_values(const struct leaf *leaf, struct leaf_values *values)
{
    const uint64_t rows = leaf->to > leaf->from ? leaf->to - leaf->from : 0;
    const size_t n = (size_t)rows + (size_t)2 * VECTOR_ROWS; /* blocks are scanned completely */
    if (!values->value)
        values->value = allocate_items(n, sizeof *values->value);
    if (!values->group && leaf->keys_n > 0)
        values->group = allocate_items(n, sizeof *values->group);
    return values->value && (values->group || leaf->keys_n == 0);
}

/* Converts a value to an integer with the same order, and back. */
static int64_t order_real(int64_t bits)
{
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

bool leaf_values_add(struct leaf *leaf, struct leaf_values *values, const uint32_t *groups,
                     const struct leaf_block *block)
{
    const bool is_real = leaf->program.ops[values->op].type == TTR_STORE_REAL;
    struct leaf_block kept;
    uint32_t kept_groups[VECTOR_ROWS];
    int64_t buffer[VECTOR_ROWS];
    if (values->filter != SQL_NONE) {
        leaf_filter(leaf, values->filter, block, groups, &kept, kept_groups);
        block = &kept;
        groups = kept_groups;
    }
    const int64_t *from = leaf_evaluate(leaf, values->op, block, buffer);
    if (!query_fits(leaf->program.query,
                    2 * (values->n + block->n) * (sizeof *values->value + sizeof *values->group)) ||
        !reserve_values(leaf, values))
        return false;
    size_t n = values->n;
    for (uint32_t k = 0; k < block->n; k++) {
        values->value[n] = is_real ? order_real(from[k]) : from[k];
        if (leaf->keys_n)
            values->group[n] = groups[k];
        n += from[k] != TTR_STORE_NULL;
    }
    values->n = n;
    return true;
}

/* Sorts the values by group. */
bool leaf_values_finish(struct leaf *leaf, struct leaf_values *values)
{
    const size_t groups = leaf->groups_n;
    values->start = calloc(groups + 2, sizeof *values->start);
    if (!values->start)
        return false;
    if (!leaf->keys_n) {
        values->start[1] = values->n;
        return true;
    }
    int64_t *sorted = allocate_items(values->n + 1, sizeof *sorted);
    if (!sorted)
        return false;
    /* start[g + 2] counts group g; then start[g + 1] is where its next value is written. */
    for (size_t i = 0; i < values->n; i++)
        if (values->group[i] + 2 < groups + 2)
            values->start[values->group[i] + 2]++;
    for (size_t g = 2; g < groups + 2; g++)
        values->start[g] += values->start[g - 1];
    for (size_t i = 0; i < values->n; i++)
        sorted[values->start[values->group[i] + 1]++] = values->value[i];
    free(values->value);
    free(values->group);
    values->value = sorted;
    values->group = NULL;
    return true;
}

static void swap(int64_t *a, int64_t *b)
{
    const int64_t value = *a;
    *a = *b;
    *b = value;
}

/* Partitions [left, right] so that the value at k is at its place. */
static void select_value(int64_t *list, ptrdiff_t left, ptrdiff_t right, ptrdiff_t k)
{
    while (right > left) {
        if (right - left > SAMPLE_MIN) {
            const double n = (double)(right - left + 1), i = (double)(k - left + 1), z = log(n);
            const double s = 0.5 * exp(2 * z / 3);
            const double deviation = 0.5 * sqrt(z * s * (n - s) / n) * (i < n / 2 ? -1 : 1);
            const ptrdiff_t low = (ptrdiff_t)((double)k - i * s / n + deviation);
            const ptrdiff_t high = (ptrdiff_t)((double)k + (n - i) * s / n + deviation);
            select_value(list, low > left ? low : left, high < right ? high : right, k);
        }
        const int64_t pivot = list[k];
        ptrdiff_t i = left, j = right;
        swap(&list[left], &list[k]);
        const bool is_swapped = list[right] > pivot;
        if (is_swapped)
            swap(&list[right], &list[left]);
        while (i < j) {
            swap(&list[i++], &list[j--]);
            while (list[i] < pivot)
                i++;
            while (list[j] > pivot)
                j--;
        }
        if (list[left] == pivot)
            swap(&list[left], &list[j]);
        else
            swap(&list[++j], &list[right]);
        if (j <= k)
            left = j + 1;
        if (k <= j)
            right = j - 1;
    }
}

static double real_value(const struct leaf *leaf, const struct leaf_values *values, int64_t value)
{
    return leaf->program.ops[values->op].type == TTR_STORE_REAL
               ? vector_bits_to_real(order_real(value))
               : (double)value;
}

int64_t leaf_percentile(struct leaf *leaf, const struct leaf_aggregate *aggregate, size_t group)
{
    struct leaf_values *values = &leaf->values[aggregate->values];
    const size_t start = values->start[group];
    const size_t n = values->start[group + 1] - start;
    if (n == 0)
        return TTR_STORE_NULL;
    int64_t *list = values->value + start;
    /* As query_functions.c: interpolates between neighbours. */
    const double at = aggregate->percent / 100 * (double)(n - 1);
    const size_t low = (size_t)at;
    const double part = at - (double)low;
    const bool is_after = values->selected >= start && values->selected <= start + low;
    select_value(list, is_after ? (ptrdiff_t)(values->selected - start) : 0, (ptrdiff_t)n - 1,
                 (ptrdiff_t)low);
    values->selected = start + low;
    int64_t next = list[low];
    if (low + 1 < n) {
        next = list[low + 1];
        for (size_t i = low + 2; i < n; i++)
            next = list[i] < next ? list[i] : next;
    }
    const double a = real_value(leaf, values, list[low]), b = real_value(leaf, values, next);
    const int64_t bits = vector_real_to_bits(a + part * (b - a));
    leaf->program.is_inexact |= bits == TTR_STORE_NULL;
    return bits;
}
