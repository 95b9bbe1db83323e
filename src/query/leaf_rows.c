/* Rows that a leaf selects: all rows that fulfil its conditions, or the first N of an order.  A
 * leaf is a part of a statement that the column scan runs instead of SQLite.
 *
 * The first N are kept in a heap; its root is the last of them.  Rows of equal keys are in the
 * order of the table, as in SQLite. */
#include <stdlib.h>
#include <string.h>

#include "query/leaf.h"

/* Compares a row that is kept with the keys and the number of another. */
static int compare_rows(const struct leaf *leaf, const int64_t *a, uint64_t a_row, const int64_t *b,
                        uint64_t b_row)
{
    for (uint32_t i = 0; i < leaf->orders_n; i++) {
        const int order = vector_compare(leaf->program.query->t,
                                         leaf->program.ops[leaf->orders[i].op].type, a[i], b[i]);
        if (order)
            return leaf->orders[i].is_descending ? -order : order;
    }
    return a_row < b_row ? -1 : a_row > b_row;
}

static int compare_kept(const struct leaf *leaf, size_t a, size_t b)
{
    const uint32_t n = leaf->orders_n;
    return compare_rows(leaf, leaf->order_values + a * n, leaf->rows[a], leaf->order_values + b * n,
                        leaf->rows[b]);
}

static void swap_kept(struct leaf *leaf, size_t a, size_t b)
{
    const uint64_t row = leaf->rows[a];
    leaf->rows[a] = leaf->rows[b];
    leaf->rows[b] = row;
    for (uint32_t i = 0; i < leaf->orders_n; i++) {
        int64_t *x = &leaf->order_values[a * leaf->orders_n + i];
        int64_t *y = &leaf->order_values[b * leaf->orders_n + i];
        const int64_t value = *x;
        *x = *y;
        *y = value;
    }
}

static void sift_up(struct leaf *leaf, size_t i)
{
    while (i > 0 && compare_kept(leaf, i, (i - 1) / 2) > 0) {
        swap_kept(leaf, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void sift_down(struct leaf *leaf)
{
    for (size_t i = 0;;) {
        size_t last = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < leaf->rows_n; child++)
            if (compare_kept(leaf, child, last) > 0)
                last = child;
        if (last == i)
            return;
        swap_kept(leaf, i, last);
        i = last;
    }
}

static bool reserve_rows(struct leaf *leaf, size_t n)
{
    if (n <= leaf->rows_capacity)
        return true;
    const size_t capacity = 2 * n;
    if (!query_fits(leaf->program.query, capacity * (1 + leaf->orders_n) * sizeof *leaf->rows))
        return false;
    uint64_t *rows = realloc(leaf->rows, capacity * sizeof *rows);
    if (!rows)
        return false;
    leaf->rows = rows;
    if (leaf->orders_n > 0) {
        int64_t *values = realloc(leaf->order_values, capacity * leaf->orders_n * sizeof *values);
        if (!values)
            return false;
        leaf->order_values = values;
    }
    leaf->rows_capacity = capacity;
    return true;
}

/* Adds a row to the heap of the first N, unless it is after all of them. */
static void offer_row(struct leaf *leaf, const int64_t *keys, uint64_t row)
{
    const uint32_t n = leaf->orders_n;
    if (leaf->rows_n < leaf->limit) {
        leaf->rows[leaf->rows_n] = row;
        memcpy(leaf->order_values + leaf->rows_n * n, keys, n * sizeof *keys);
        sift_up(leaf, leaf->rows_n++);
    } else if (leaf->limit > 0 &&
               compare_rows(leaf, keys, row, leaf->order_values, leaf->rows[0]) < 0) {
        leaf->rows[0] = row;
        memcpy(leaf->order_values, keys, n * sizeof *keys);
        sift_down(leaf);
    }
}

/* Returns the first selected row from k on that can be among the first N.  Most rows cannot by
 * their first key alone, and are skipped without a look at the heap. */
static uint32_t skip_later_rows(const struct leaf *leaf, const int64_t *first_key, uint32_t k,
                                uint32_t n)
{
    if (leaf->rows_n < leaf->limit || leaf->limit == 0 ||
        leaf->program.ops[leaf->orders[0].op].type != TTR_STORE_INT)
        return k;
    const int64_t last = leaf->order_values[0];
    if (leaf->orders[0].is_descending)
        while (k < n && first_key[k] < last)
            k++;
    else
        while (k < n && first_key[k] > last)
            k++;
    return k;
}

static bool add_top(struct leaf *leaf, const struct leaf_block *block)
{
    const int64_t *values[SQL_TERMS_MAX];
    int64_t buffer[VECTOR_ROWS];
    if (!reserve_rows(leaf, leaf->rows_n + block->n < leaf->limit ? leaf->rows_n + block->n
                                                                  : (size_t)leaf->limit + 1))
        return false;
    const int64_t *first_key = leaf_evaluate(leaf, leaf->orders[0].op, block, buffer);
    for (uint32_t i = 1; i < leaf->orders_n; i++)
        values[i] = vector_evaluate(&leaf->program, leaf->orders[i].op);
    for (uint32_t k = 0; (k = skip_later_rows(leaf, first_key, k, block->n)) < block->n; k++) {
        const uint32_t at = block->is_all ? k : block->at[k];
        int64_t keys[SQL_TERMS_MAX];
        keys[0] = first_key[k];
        for (uint32_t i = 1; i < leaf->orders_n; i++)
            keys[i] = values[i][at];
        offer_row(leaf, keys, leaf->program.row + at);
    }
    return true;
}

bool leaf_rows_add(struct leaf *leaf, const struct leaf_block *block)
{
    if (leaf->orders_n > 0)
        return add_top(leaf, block);
    if (!reserve_rows(leaf, leaf->rows_n + block->n))
        return false;
    for (uint32_t k = 0; k < block->n && leaf->rows_n < leaf->limit; k++)
        leaf->rows[leaf->rows_n++] = leaf->program.row + (block->is_all ? k : block->at[k]);
    return true;
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

void leaf_rows_finish(struct leaf *leaf)
{
    if (leaf->orders_n > 0 && leaf->rows_n > 1)
        qsort(leaf->rows, leaf->rows_n, sizeof *leaf->rows, compare_numbers);
    free(leaf->order_values);
    leaf->order_values = NULL;
}
