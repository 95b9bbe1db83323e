/* Fuzzes the validation of what a recorded program writes: records, string records and filters. The
 * first byte selects. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "recorder/recorder.h"
#include "trace/trace_filter.h"

#define PID 7u

/* Counts the words of the valid prefix again, by the sizes of records alone. */
static void check_prefix(const uint64_t *words, struct records_report report)
{
    size_t at = 0;
    uint64_t records = 0;
    while (at * 8 < report.valid) {
        const size_t n = words[at] >> 4 & 0xfff;
        if (n == 0)
            fuzz_stop("an accepted record has no size");
        at += n;
        records++;
    }
    if (at * 8 != report.valid)
        fuzz_stop("the valid prefix ends inside a record");
    if (report.events > records)
        fuzz_stop("more events than records");
}

static void check_records(const uint64_t *words, size_t n)
{
    const struct records_report report = records_validate(words, n, PID);
    if (report.valid > n)
        fuzz_stop("the valid prefix is longer than the input");
    check_prefix(words, report);
}

static void check_strings(const uint64_t *words, size_t n)
{
    uint32_t next = 1;
    const size_t valid = records_validate_strings(words, n, &next);
    if (valid > n || valid % 8 != 0 || next > TRACE_FXT_STRINGS)
        fuzz_stop("the valid strings are longer than the input");
    if (next - 1 > valid / 8)
        fuzz_stop("more strings than words");
}

static void check_filter(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);
    if (!text)
        return;
    memcpy(text, bytes, n);
    text[n] = '\0';
    if (trace_filter_is_valid(text) && trace_filter_level(text, "net.debug") > 5)
        fuzz_stop("a level is above 5");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return 0;
    /* Memory of exactly the size, so that a sanitizer detects reads past its end. */
    const size_t size = (n - 1) / 8 * 8;
    uint64_t *words = malloc(size ? size : 1);
    if (!words)
        return 0;
    memcpy(words, bytes + 1, size);
    if (bytes[0] % 3 == 0)
        check_records(words, size);
    else if (bytes[0] % 3 == 1)
        check_strings(words, size);
    else
        check_filter(bytes + 1, n - 1);
    free(words);
    return 0;
}
