/* FXT records that the writer of a trace adds to those of the trace points: head, names, losses.
 * All strings are inline, because the string table belongs to the recorded process.  Functions
 * return the number of words written. */
#ifndef TRACETTA_TRACE_TRACE_FXT_H
#define TRACETTA_TRACE_TRACE_FXT_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_FXT_NAME_MAX 63u       /* bytes of a name; longer ones are cut */
#define TRACE_FXT_PROVIDER_WORDS 32u /* maximum of each of the records below */

/* The index of an archive (src/recorder/archive_index.c, src/formats/fxt/fxt_index.c): name of its
 * blobs, and hash of the words of its entries. */
#define TRACE_INDEX_NAME_BYTES 14u
#define TRACE_INDEX_NAME_START UINT64_C(0x6174746563617274) /* "tracetta" */
#define TRACE_INDEX_ENTRIES UINT64_C(0x00007865646e692e)    /* ".index" */
#define TRACE_INDEX_LOCATOR UINT64_C(0x000065726568772e)    /* ".where" */
#define TRACE_INDEX_HEAD_WORDS 3u
#define TRACE_INDEX_LOCATOR_WORDS (TRACE_INDEX_HEAD_WORDS + 3u)
#define TRACE_INDEX_HAS_DEFINITIONS 1u /* flag: strings, providers, names */
#define TRACE_INDEX_HASH_START UINT64_C(14695981039346656037)
#define TRACE_INDEX_HASH_FACTOR UINT64_C(1099511628211)

/* A clock, as an initialization record has it: frequency, a reading, and the Unix time of it. */
struct trace_fxt_clock {
    uint64_t ticks_per_second, ticks;
    int64_t unix_ns;
};

/* A provider: its information, the start of its section, its clock, the name of the process.
 * `frequency_word` is set to the word with the frequency.  The initialization record has the two
 * words with the Unix time that magic-trace introduced. */
size_t trace_fxt_append_provider(uint64_t *p, uint32_t provider, const char *name, uint64_t pid,
                                 const struct trace_fxt_clock *clock, size_t *frequency_word);

/* Start of a section of a provider: one word. */
size_t trace_fxt_append_section(uint64_t *p, uint32_t provider);

/* Name of a thread. */
size_t trace_fxt_append_thread_name(uint64_t *p, uint64_t pid, uint64_t tid, const char *name);

/* Lost events: an instant event of thread 1 with their number and times, and a provider event. */
size_t trace_fxt_append_losses(uint64_t *p, uint32_t provider, uint64_t count, uint64_t first,
                               uint64_t last);

#endif
