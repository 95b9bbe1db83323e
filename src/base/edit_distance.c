/* The Levenshtein distance of two words, by dynamic programming with one row of the table. The
 * command uses it to suggest the nearest option or command name. */
#include <limits.h>
#include <string.h>

#include <tracetta/error.h>

static unsigned minimum(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned ttr_edit_distance(const char *a, const char *b)
{
    size_t a_n = strlen(a), b_n = strlen(b);
    unsigned row[TTR_EDIT_DISTANCE_MAX + 1];
    if (a_n > TTR_EDIT_DISTANCE_MAX || b_n > TTR_EDIT_DISTANCE_MAX)
        return UINT_MAX;
    for (unsigned j = 0; j <= b_n; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_n; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_n; j++) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = minimum(replaced, minimum(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_n];
}
