/* Fills in a ttr_error. The functions of libtracetta for this are not part of its public
 * interface. */
#ifndef TRACETTA_SYMBOLS_ERROR_H
#define TRACETTA_SYMBOLS_ERROR_H

#include <stdarg.h>
#include <stdio.h>

#include <tracetta/error.h>

/* Sets status and text of an error; `error` may be NULL. */
TTR_PRINTF(3, 4)
static inline void symbols_fail(ttr_error *error, ttr_status status, const char *format, ...)
{
    va_list values;
    if (!error)
        return;
    *error = (ttr_error){.status = status, .offset = UINT64_MAX, .record = UINT64_MAX};
    va_start(values, format);
    (void)vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
}

#endif
