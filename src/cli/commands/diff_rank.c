/* The rank sum test of Mann and Whitney for the durations of a row.
 *
 * With n and m durations, U = R - n (n + 1) / 2, where R is the sum of the ranks of the n durations
 * among all N = n + m; equal durations share the mean of their ranks. If both sides are of one
 * distribution, U has the mean nm / 2 and the variance
 *
 *     nm / 12 * (N + 1 - sum of (t^3 - t) over groups of t equal durations / (N (N - 1)))
 *
 * and is nearly normal from about eight durations on. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/diff.h"

static int compare_doubles(const void *left, const void *right)
{
    double a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

void diff_test_ranks(struct diff_row *row)
{
    const size_t n = row->samples_n[0], m = row->samples_n[1], all = n + m;
    double sum = 0, ties = 0;
    row->rank = -1;
    if (n < DIFF_SAMPLES_MIN || m < DIFF_SAMPLES_MIN)
        return;
    for (int side = 0; side < 2; side++)
        qsort(row->samples[side], row->samples_n[side], sizeof(double), compare_doubles);
    for (size_t i = 0, k = 0; i < n || k < m;) {
        const double *a = row->samples[0], *b = row->samples[1];
        const double value = k == m || (i < n && a[i] < b[k]) ? a[i] : b[k];
        const size_t first = i + k, before = i;
        while (i < n && a[i] == value)
            i++;
        while (k < m && b[k] == value)
            k++;
        const double equal = (double)(i + k - first);
        sum += (double)(i - before) * ((double)first + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
    }
    const double pairs = (double)n * (double)m, total = (double)all;
    const double distance = sum - (double)n * ((double)n + 1) / 2 - pairs / 2;
    const double variance = pairs / 12 * (total + 1 - ties / (total * (total - 1)));
    row->rank = variance > 0 ? distance * distance / variance : 0;
}

const char *diff_probability(const struct diff_row *row)
{
    /* squares of the quantiles of the normal distribution, two-sided */
    if (row->rank < 0)
        return "";
    return row->rank >= 10.828  ? "<0.001"
           : row->rank >= 6.635 ? "<0.01"
           : row->rank >= 3.841 ? "<0.05"
                                : ">0.05";
}

double diff_percent(const struct diff_row *row, size_t column)
{
    const double before = row->values[0][column], after = row->values[1][column];
    if (before == after)
        return 0;
    return before != 0 ? 100 * (after - before) / (before < 0 ? -before : before) : __builtin_inf();
}
