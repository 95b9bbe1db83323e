/* Fills a ttr_error and names statuses. Left out: printing; the caller reports errors. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Removes an incomplete UTF-8 character from the end of a text that vsnprintf has truncated,
 * because it would garble a terminal. */
static void truncate_at_character(char *text, size_t size)
{
    size_t n = strlen(text);
    if (n + 1 < size)
        return;
    while (n > 0 && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
        n--;
    if (n > 0 && (unsigned char)text[n - 1] >= 0xc0)
        n--;
    text[n] = '\0';
}

static void format_error(ttr_error *error, ttr_status status, int sys, uint64_t offset,
                         const char *format, va_list values)
{
    memset(error, 0, sizeof *error);
    error->status = status;
    error->sys = sys;
    error->offset = offset;
    error->record = UINT64_MAX;
    (void)vsnprintf(error->text, sizeof error->text, format, values);
}

ttr_status fail_null(ttr_error *error, const char *function, const char *argument)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "%s: the %s is NULL", function, argument);
}

ttr_status fail(ttr_error *error, ttr_status status, uint64_t offset, const char *format, ...)
{
    if (error) {
        va_list values;
        va_start(values, format);
        format_error(error, status, 0, offset, format, values);
        va_end(values);
        truncate_at_character(error->text, sizeof error->text);
    }
    return status;
}

ttr_status fail_sys(ttr_error *error, int sys, uint64_t offset, const char *format, ...)
{
    if (error) {
        va_list values;
        va_start(values, format);
        format_error(error, TTR_E_IO, sys, offset, format, values);
        va_end(values);
        size_t used = strlen(error->text);
        char reason[128];
        const char *text = strerror_r(sys, reason, sizeof reason);
        (void)snprintf(error->text + used, sizeof error->text - used, ": %s", text);
        truncate_at_character(error->text, sizeof error->text);
    }
    return TTR_E_IO;
}

ttr_status error_set_option(ttr_error *error, ttr_status status, const char *option)
{
    if (error && status != TTR_OK)
        (void)snprintf(error->option, sizeof error->option, "%s", option);
    return status;
}

ttr_status fail_memory(ttr_error *error)
{
    return fail(error, TTR_E_NOMEM, NO_OFFSET, "out of memory");
}

const char *ttr_status_text(ttr_status status)
{
    static const char *const names[] = {"ok",        "end",           "again", "malformed",
                                        "truncated", "unsupported",   "limit", "loss",
                                        "i/o error", "out of memory", "misuse"};
    size_t at = (size_t)status;
    return at < sizeof names / sizeof *names ? names[at] : "unknown status";
}
