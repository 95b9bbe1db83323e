/* The string table of the process: names of categories, events and arguments as FXT string records.
 *
 * The table lives as long as the process, so that the words of a trace point, which contain indices
 * of strings, stay valid from one session to the next.  A session begins with a copy of the table
 * in its shared memory.  Strings are appended to both and never change, so that the reader can copy
 * what is new at any time.  Equal texts share one record: a hash table with open addressing finds
 * them.  All memory is static, because a trace point may be used for the first time in a signal
 * handler. */
#include "trace/trace_internal.h"

#define SLOTS 65536u
#define TEXT_MAX 1024u

static uint64_t records[TRACE_STRINGS_SIZE / 8];
static uint32_t used;                       /* words of `records` */
static uint16_t slots[SLOTS];               /* index of a string; 0 = free */
static uint32_t offsets[TRACE_FXT_STRINGS]; /* first words of the records */
static uint32_t count = 1;                  /* strings, the empty one included */

static uint32_t hash_text(const char *text, size_t n)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash;
}

/* Copies words of the table from `first` on to the session's memory. */
static void share_strings_from(uint32_t first)
{
    if (!trace_session.memory)
        return;
    memcpy(trace_session.memory + TRACE_PAGE + first * sizeof *records, records + first,
           (used - first) * sizeof *records);
    __atomic_store_n(&trace_header()->strings_used, used * sizeof *records, __ATOMIC_RELEASE);
}

/* Appends a string record. Returns its index, or -1 if the table or its memory is full. */
static int32_t append_string(const char *text, size_t n)
{
    const uint32_t words = 1 + (uint32_t)(n + 7) / 8, first = used;
    if (count >= TRACE_FXT_STRINGS || words > TRACE_STRINGS_SIZE / 8 - used)
        return -1;
    offsets[count] = first;
    records[first] = TRACE_FXT_STRING | words << 4 | (uint64_t)count << 16 | (uint64_t)n << 32;
    memcpy(records + first + 1, text, n);
    used += words;
    share_strings_from(first);
    return (int32_t)count++;
}

int32_t trace_string_add(const char *text)
{
    const size_t n = text ? strnlen(text, TEXT_MAX) : 0;
    if (n == 0)
        return 0;
    uint32_t slot = hash_text(text, n) % SLOTS;
    for (; slots[slot]; slot = (slot + 1) % SLOTS) {
        const uint64_t *record = records + offsets[slots[slot]];
        if ((record[0] >> 32 & 0x7fff) == n && memcmp(record + 1, text, n) == 0)
            return slots[slot];
    }
    const int32_t index = append_string(text, n);
    if (index > 0)
        slots[slot] = (uint16_t)index;
    return index;
}

void trace_strings_copy_to_session(void)
{
    share_strings_from(0);
}
