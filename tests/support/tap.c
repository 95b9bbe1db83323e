/* See tap.h. Each line is flushed, so that a crash is reported after the cases that passed. */
#include "support/tap.h"

#include <stdarg.h>
#include <stdio.h>

static unsigned cases, failures;

bool tap_case(bool ok, const char *format, ...)
{
    va_list values;
    failures += !ok;
    (void)printf("%sok %u - ", ok ? "" : "not ", ++cases);
    va_start(values, format);
    (void)vprintf(format, values);
    va_end(values);
    (void)printf("\n");
    (void)fflush(stdout);
    return ok;
}

void tap_skip(const char *what, const char *why, ...)
{
    va_list values;
    (void)printf("ok %u - %s # SKIP ", ++cases, what);
    va_start(values, why);
    (void)vprintf(why, values);
    va_end(values);
    (void)printf("\n");
    (void)fflush(stdout);
}

int tap_end(void)
{
    (void)printf("1..%u\n", cases);
    return failures > 0 || cases == 0;
}
