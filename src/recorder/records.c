/* Validation of the records that a program wrote. The caller passes a private copy. */
#include "recorder/recorder.h"

/* Returns the words of a record's header, 0 if it cannot be a record of a trace point. */
static size_t record_words(uint64_t header)
{
    const unsigned type = (unsigned)header & 15;
    const bool is_allowed =
        (type >= TRACE_FXT_THREAD && type <= TRACE_FXT_KERNEL_OBJECT) || type == TRACE_FXT_LOG;
    return is_allowed ? header >> 4 & 0xfff : 0;
}

/* A thread record may only name the virtual thread of a ring, within the program's process. */
static bool is_allowed_thread(const uint64_t *record, size_t words, uint64_t pid)
{
    return words == 3 && (record[0] >> 16 & 0xff) == TRACE_VIRTUAL_THREAD && record[1] == pid;
}

/* Returns true if the arguments of an event fill its record exactly, up to what its type needs. */
static bool has_valid_arguments(const uint64_t *record, size_t words)
{
    const unsigned args = record[0] >> 20 & 15, type = record[0] >> 16 & 15;
    const size_t tail = type == 0 || type == 2 || type == 3 ? 0 : 1;
    size_t at = 2;
    for (unsigned i = 0; i < args; i++) {
        const size_t n = at < words ? record[at] >> 4 & 0xfff : 0;
        if (n == 0 || n > words - at)
            return false;
        at += n;
    }
    return at + tail == words;
}

static bool is_valid_event(const uint64_t *record, size_t words)
{
    const unsigned thread = record[0] >> 24 & 0xff, type = record[0] >> 16 & 15;
    const bool has_inline_text = (record[0] >> 32 & 0x8000) || record[0] >> 63;
    return words >= 2 && type <= 10 && (thread == 1 || thread == 2) && !has_inline_text &&
           has_valid_arguments(record, words);
}

static bool is_valid_log(const uint64_t *record, size_t words)
{
    const unsigned thread = record[0] >> 32 & 0xff;
    return words == 2 + ((record[0] >> 16 & 0x7fff) + 7) / 8 && (thread == 1 || thread == 2);
}

static bool is_valid(const uint64_t *record, size_t words, uint64_t pid)
{
    switch ((unsigned)record[0] & 15) {
    case TRACE_FXT_THREAD:
        return is_allowed_thread(record, words, pid);
    case TRACE_FXT_EVENT:
        return is_valid_event(record, words);
    case TRACE_FXT_LOG:
        return is_valid_log(record, words);
    default:
        return words >= 2 || (record[0] & 15) == TRACE_FXT_BLOB;
    }
}

struct records_report records_validate(const uint64_t *words, size_t n_bytes, uint64_t pid)
{
    struct records_report report = {0};
    const size_t n = n_bytes / 8;
    for (size_t at = 0; at < n;) {
        const size_t size = record_words(words[at]);
        if (size == 0 || size > n - at || !is_valid(words + at, size, pid))
            break;
        const unsigned type = (unsigned)words[at] & 15;
        report.events += type != TRACE_FXT_THREAD && type != TRACE_FXT_KERNEL_OBJECT;
        at += size;
        report.valid = at * 8;
    }
    return report;
}

size_t records_validate_strings(const uint64_t *words, size_t n_bytes, uint32_t *next)
{
    const size_t n = n_bytes / 8;
    size_t at = 0;
    while (at < n) {
        const uint64_t header = words[at];
        const size_t size = header >> 4 & 0xfff, length = header >> 32 & 0x7fff;
        if ((header & 15) != TRACE_FXT_STRING || size > n - at || size != 1 + (length + 7) / 8 ||
            (header >> 16 & 0x7fff) != *next || *next >= TRACE_FXT_STRINGS)
            break;
        (*next)++;
        at += size;
    }
    return at * 8;
}
