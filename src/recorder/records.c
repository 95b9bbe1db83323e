/* Validation of the records that a program wrote. The caller passes a private copy. */
#include "recorder/recorder.h"

/* Returns the words of a record's header, 0 if it cannot be a record of a trace point. */
static size_t get_record_words(uint64_t header)
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

/* Returns the words of a text, which is inline or, without that flag, in the string table. */
static size_t get_text_words(uint64_t ref)
{
    return ref & 0x8000 ? ((ref & 0x7fff) + 7) / 8 : 0;
}

/* Returns the words that an argument must have. Its name must be in the string table. Returns 0 if
 * it is invalid. */
static size_t get_argument_words(uint64_t header)
{
    static const uint8_t words[] = {
        1, 1, 1, 2, 2, 2, 0, 2, 2, 1}; /* number of words of an argument by its type; 0 = text */
    const unsigned type = header & 15;
    if (type >= sizeof words || header >> 16 & 0x8000)
        return 0;
    return words[type] ? words[type] : 1 + get_text_words(header >> 32 & 0xffff);
}

/* Returns true if the arguments of an event fill its record exactly, up to what its type needs. */
static bool has_valid_arguments(const uint64_t *record, size_t words)
{
    const unsigned args = record[0] >> 20 & 15, type = record[0] >> 16 & 15;
    const size_t tail = type == 0 || type == 2 || type == 3 ? 0 : 1;
    size_t at = 2;
    for (unsigned i = 0; i < args; i++) {
        const size_t n = at < words ? record[at] >> 4 & 0xfff : 0;
        if (n == 0 || n > words - at || n != get_argument_words(record[at]))
            return false;
        at += n;
    }
    return at + tail == words;
}

static bool is_own_thread(unsigned thread)
{
    return thread == TRACE_REAL_THREAD || thread == TRACE_VIRTUAL_THREAD;
}

static bool is_valid_event(const uint64_t *record, size_t words)
{
    const bool has_inline_text = (record[0] >> 32 & 0x8000) || record[0] >> 63;
    return words >= 2 && (record[0] >> 16 & 15) <= 10 && is_own_thread(record[0] >> 24 & 0xff) &&
           !has_inline_text && has_valid_arguments(record, words);
}

static bool is_valid_log(const uint64_t *record, size_t words)
{
    return words == 2 + ((record[0] >> 16 & 0x7fff) + 7) / 8 &&
           is_own_thread(record[0] >> 32 & 0xff);
}

static bool is_valid_blob(const uint64_t *record, size_t words)
{
    return words == 1 + ((record[0] >> 32 & 0x7fff) + 7) / 8 && !(record[0] >> 16 & 0x8000);
}

/* Returns true if a userspace object record is of the program and has no arguments. */
static bool is_valid_object(const uint64_t *record, size_t words)
{
    return words == 2 + get_text_words(record[0] >> 24 & 0xffff) &&
           is_own_thread(record[0] >> 16 & 0xff) && (record[0] >> 40 & 15) == 0;
}

/* Returns true if a kernel object record names a virtual thread of the program itself. */
static bool is_valid_kernel_object(const uint64_t *record, size_t words, uint64_t pid)
{
    const size_t name = get_text_words(record[0] >> 24 & 0xffff);
    return words == 4 + name && (record[0] >> 16 & 0xff) == 2 && (record[0] >> 40 & 15) == 1 &&
           record[1] >> 63 && (record[2 + name] & 0x8000ffff) == (8 | 2 << 4) &&
           record[3 + name] == pid;
}

static bool is_valid_record(const uint64_t *record, size_t words, uint64_t pid)
{
    switch ((unsigned)record[0] & 15) {
    case TRACE_FXT_THREAD:
        return is_allowed_thread(record, words, pid);
    case TRACE_FXT_EVENT:
        return is_valid_event(record, words);
    case TRACE_FXT_BLOB:
        return is_valid_blob(record, words);
    case TRACE_FXT_OBJECT:
        return is_valid_object(record, words);
    case TRACE_FXT_KERNEL_OBJECT:
        return is_valid_kernel_object(record, words, pid);
    default:
        return is_valid_log(record, words);
    }
}

/* Adds the time, thread and names of a record to the report. */
static inline void report_record(struct records_report *report, const uint64_t *record,
                                 size_t words)
{
    const unsigned type = (unsigned)record[0] & 15;
    report->events += type != TRACE_FXT_THREAD && type != TRACE_FXT_KERNEL_OBJECT;
    if (type == TRACE_FXT_EVENT || type == TRACE_FXT_LOG) {
        const bool is_zone = type == TRACE_FXT_EVENT && (record[0] >> 16 & 15) == 4;
        const uint64_t end = is_zone ? record[words - 1] : record[1];
        report->first = record[1] < report->first ? record[1] : report->first;
        report->last = end > report->last ? end : report->last;
    } else if (type == TRACE_FXT_THREAD) {
        report->virtual_koid = record[2];
    } else {
        report->has_names |= type != TRACE_FXT_BLOB;
    }
}

struct records_report records_validate(const uint64_t *words, size_t n_bytes, uint64_t pid)
{
    struct records_report report = {.first = UINT64_MAX};
    const size_t n = n_bytes / 8;
    for (size_t at = 0; at < n;) {
        const size_t size = get_record_words(words[at]);
        if (size == 0 || size > n - at || !is_valid_record(words + at, size, pid))
            break;
        report_record(&report, words + at, size);
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
