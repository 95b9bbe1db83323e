/* FXT records of the writer of a trace; see the header. */
#include "trace/trace_fxt.h"

#include <string.h>

#include "trace/trace_shared.h"

#define KOID 8u /* type of an argument */
#define U64 4u

/* Writes the stream of an inline string. Returns its words. */
static size_t append_text_words(uint64_t *p, const char *text, size_t n)
{
    const size_t words = (n + 7) / 8;
    if (words)
        p[words - 1] = 0;
    memcpy(p, text, n);
    return words;
}

static uint64_t make_inline_reference(size_t n)
{
    return n ? 0x8000u | n : 0;
}

/* Writes an argument of two words and its name. */
static size_t append_number_argument(uint64_t *p, unsigned type, const char *name, uint64_t value)
{
    const size_t n = strlen(name), words = append_text_words(p + 1, name, n);
    p[0] = type | (uint64_t)(2 + words) << 4 | make_inline_reference(n) << 16;
    p[1 + words] = value;
    return 2 + words;
}

/* Writes a kernel object record with the name of a process (type 1) or thread (2) and `args`
 * arguments of `args_words` words, which the caller appends. */
static size_t append_object_record(uint64_t *p, uint64_t type, uint64_t koid, const char *name,
                                   uint64_t args, size_t args_words)
{
    const size_t n = strnlen(name, TRACE_FXT_NAME_MAX), words = append_text_words(p + 2, name, n);
    p[0] = TRACE_FXT_KERNEL_OBJECT | (uint64_t)(2 + words + args_words) << 4 | type << 16 |
           make_inline_reference(n) << 24 | args << 40;
    p[1] = koid;
    return 2 + words;
}

size_t trace_fxt_append_section(uint64_t *p, uint32_t provider)
{
    p[0] = UINT64_C(1) << 4 | UINT64_C(2) << 16 | (uint64_t)provider << 20;
    return 1;
}

size_t trace_fxt_append_provider(uint64_t *p, uint32_t provider, const char *name, uint64_t pid,
                                 const struct trace_fxt_clock *clock, size_t *frequency_word)
{
    const size_t n = strnlen(name, TRACE_FXT_NAME_MAX);
    size_t words = 1 + append_text_words(p + 1, name, n);
    p[0] = (uint64_t)words << 4 | UINT64_C(1) << 16 | (uint64_t)provider << 20 | (uint64_t)n << 52;
    words += trace_fxt_append_section(p + words, provider);
    p[words++] = 1 | UINT64_C(4) << 4;
    *frequency_word = words;
    p[words++] = clock->ticks_per_second;
    p[words++] = clock->ticks;
    p[words++] = (uint64_t)clock->unix_ns;
    return words + append_object_record(p + words, 1, pid, name, 0, 0);
}

size_t trace_fxt_append_thread_name(uint64_t *p, uint64_t pid, uint64_t tid, const char *name)
{
    uint64_t process[4];
    const size_t args_words = append_number_argument(process, KOID, "process", pid);
    const size_t words = append_object_record(p, 2, tid, name, 1, args_words);
    memcpy(p + words, process, args_words * sizeof *process);
    return words + args_words;
}

size_t trace_fxt_append_losses(uint64_t *p, uint32_t provider, uint64_t count, uint64_t first,
                               uint64_t last)
{
    static const char category[] = "tracetta.trace", name[] = "events lost";
    size_t words = 2;
    words += append_text_words(p + words, category, sizeof category - 1);
    words += append_text_words(p + words, name, sizeof name - 1);
    words += append_number_argument(p + words, U64, "count", count);
    words += append_number_argument(p + words, U64, "first_ticks", first);
    words += append_number_argument(p + words, U64, "last_ticks", last);
    p[0] = TRACE_FXT_EVENT | (uint64_t)words << 4 | UINT64_C(3) << 20 | TRACE_REAL_THREAD << 24 |
           make_inline_reference(sizeof category - 1) << 32 |
           make_inline_reference(sizeof name - 1) << 48;
    p[1] = first ? first : last;
    p[words++] = UINT64_C(1) << 4 | UINT64_C(3) << 16 | (uint64_t)provider << 20;
    return words;
}
