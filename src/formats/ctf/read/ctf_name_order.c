/* Natural order of file names: runs of digits are compared by their numeric value. */
#include "formats/ctf/read/ctf_name_order.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Skips the leading zeros of the number at *name, and returns its number of digits. Sets *after to
 * the first character after the number. */
static size_t skip_name_digits(const char **name, const char **after)
{
    while (**name == '0' && is_digit((*name)[1]))
        ++*name;
    const char *at = *name;
    while (is_digit(*at))
        at++;
    *after = at;
    return (size_t)(at - *name);
}

int ctf_compare_names(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x || *y) {
        const char *x_after = x + 1, *y_after = y + 1;
        int order = (unsigned char)*x - (unsigned char)*y;
        if (is_digit(*x) && is_digit(*y)) {
            const size_t n = skip_name_digits(&x, &x_after), m = skip_name_digits(&y, &y_after);
            order = n != m ? (n < m ? -1 : 1) : memcmp(x, y, n);
        }
        if (order)
            return order;
        x = x_after;
        y = y_after;
    }
    return strcmp(a, b);
}
