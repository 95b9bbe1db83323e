/* Reading and writing with options, from memory and through callbacks; the tables of a context.
 *
 * Includes tracetta.h; its conventions on ownership, errors and threads apply. */
#ifndef TRACETTA_ADVANCED_H
#define TRACETTA_ADVANCED_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Context --- */

/* Allocates, resizes and frees memory like realloc: `old` NULL allocates, `new_size` 0 frees.
 * Returns NULL if memory is exhausted. */
typedef void *(*ttr_realloc_fn)(void *user_data, void *old, size_t old_size, size_t new_size);

struct ttr_options {
    size_t size;
    ttr_realloc_fn resize; /* NULL: realloc and free of the C library */
    void *user_data;       /* passed to resize */
    uint64_t max_memory;   /* limit in bytes for strings, tables and sorting together; 0 = 1 GiB */
    /* limit in bytes for each temporary file (TTR_E_LIMIT); 0 = nine tenths of the free space */
    uint64_t max_temporary;
};

/* Sets a callback for long operations inside ttr_read: ttr_sort and ttr_merge read all of their
 * input in the first call.  If it returns false, sorting stops and the events read so far are
 * returned.  NULL removes the callback. */
TTR_API void ttr_progress_set(ttr *t, ttr_progress progress, void *user_data);

/* Returns the id of a string, adding it if it is new.  Returns 0 for the empty string, and if
 * memory is exhausted. */
TTR_API ttr_id ttr_text_add(ttr *t, const void *bytes, size_t n);

/* Returns the id of a string if the context has it, else 0. */
TTR_API ttr_id ttr_text_find(const ttr *t, const void *bytes, size_t n);

/* Returns the number of strings; ids are 0 to count - 1. */
TTR_API uint32_t ttr_text_count(const ttr *t);

/* Returns the number of threads; ids are 1 to count. */
TTR_API uint32_t ttr_thread_count(const ttr *t);

/* Names a thread and its process, for events built by the program.  NULL keeps a name.  Returns
 * false if memory is exhausted. */
TTR_API bool ttr_thread_name(ttr *t, uint64_t pid, uint64_t tid, const char *process_name,
                             const char *thread_name);

/* A track: a stream, section or buffer within which the format keeps events ordered. */
typedef struct ttr_track {
    uint64_t number; /* id of the stream or provider in its format */
    ttr_id name;     /* a string; 0 = none */
    uint16_t source;
} ttr_track;

/* Copies a track; returns false for an unknown id.  Ids are 1 to ttr_track_count. */
TTR_API bool ttr_track_get(const ttr *t, ttr_id id, ttr_track *track);
TTR_API uint32_t ttr_track_count(const ttr *t);

/* An input of the context. */
typedef struct ttr_source {
    ttr_id path;        /* as passed to ttr_open */
    const char *format; /* name of the format, "fxt"; static */
} ttr_source;

/* Copies an input; returns false for an unknown id.  Id 0 is the source of events built by the
 * program. */
TTR_API bool ttr_source_get(const ttr *t, uint16_t id, ttr_source *source);

/* The function at an address. */
typedef struct ttr_symbol {
    ttr_id name;                /* a string; 0 = unknown */
    ttr_id module;              /* a string: the file or library; 0 = unknown */
    uint64_t start, size_bytes; /* address and size of the function; 0 = unknown */
    /* offset of the address in the file of the module, if the module is a mapped file */
    uint64_t offset;
} ttr_symbol;

/* Looks up an address in the process of a thread at a time, in ns.  The most recently loaded
 * function at that address is returned.  Only symbols that the trace contains are found, by readers
 * opened with TTR_READ_SYMBOLS, up to their position; some traces have symbols only at their end.
 * Returns false if nothing is known, always for thread 0. */
TTR_API bool ttr_symbol_get(ttr *t, ttr_id thread, uint64_t address, int64_t time,
                            ttr_symbol *symbol);

/* Copies the symbols of another context, in which the same inputs were read with TTR_READ_SYMBOLS.
 * `to` then knows from the start on what a trace records at its end.  Inputs are matched by path
 * and format, so open those of `to` first.  Fails with TTR_E_NOMEM. */
TTR_API TTR_MUST ttr_status ttr_copy_symbols(ttr *to, const ttr *from, ttr_error *error);

/* Returns a reader of the same events with their call stacks as fields, for writers of formats with
 * TTR_FORMAT_STACK_FIELDS.  Events with a stack get the arrays callstack_kernel and callstack_user
 * of addresses, innermost first, after their other fields.  Object events precede them with the
 * modules, mappings and functions of the addresses that the context knows (TTR_READ_SYMBOLS,
 * ttr_copy_symbols, ttr_set_symbolizer).  Owns `in` from the call on; NULL returns NULL and keeps
 * `error`.  Fails with TTR_E_NOMEM. */
TTR_API ttr_reader *ttr_stack_fields(ttr_reader *in, ttr_error *error);

/* --- Reading --- */

/* Bits of ttr_read_options.flags.  STRICT: the first damage is an error.  NO_MMAP: do not map
 * files, for files that may be truncated while they are read.  DEFINITIONS: also return
 * TTR_KIND_DEFINITION events, so that a writer of the same format can copy every byte; ignored with
 * a time_offset.  UNORDERED: do not trust the order that the trace declares, which damage may have
 * broken; ttr_sort then sorts all events.  SYMBOLS: also collect the trace's symbols, for
 * ttr_symbol_get.  SEALED: with DEFINITIONS, also return encrypted parts without a key, so that
 * they can be copied.  FOLLOW_LINKS: also read files that symbolic links in the folder of a trace
 * name outside of it. */
#define TTR_READ_STRICT 1u
#define TTR_READ_NO_MMAP 2u
#define TTR_READ_DEFINITIONS 4u
#define TTR_READ_UNORDERED 8u
#define TTR_READ_SYMBOLS 16u
#define TTR_READ_ENCRYPTED 32u
#define TTR_READ_FOLLOW_LINKS 64u

struct ttr_read_options {
    size_t size;
    const char *from; /* name of the format; NULL: detected by content */
    uint32_t flags;   /* TTR_READ_*; unknown bits are TTR_E_MISUSE */
    uint64_t
        /* bytes; larger FXT records, Heph packets and CTF events are skipped as damage; values
         * below 64 KiB mean 64 KiB; 0 = the limit of the format */
        max_record;
    int64_t
        time_offset; /* ns added to all times; times out of range are clamped (TTR_EVENT_CLAMPED) */
    const char *const
        /* "key=value", or "FORMAT.key=value", which other formats ignore; ends with NULL;
         * ttr_format_option lists the keys */
        *format_options;
    /* name of a format: TTR_READ_DEFINITIONS applies only to traces of it; NULL: to all */
    const char *copied_to;
    uint32_t
        /* number of readers that read this trace at the same time (ttr_writer_parallel): they share
         * the memory for buffers of one; 0 = 1 */
        readers;
    /* ttr_open_pull only: waits up to `ms` for `pull` to return without waiting; returns false if
     * it still would wait.  The format is then detected from the bytes so far, and perf.data
     * returns the events of a complete round without waiting for the next round.  NULL: never */
    bool (*can_pull)(void *user_data, unsigned ms);
};

/* Opens a trace in memory, borrowed until ttr_close.  `name` is used in place of a path. */
TTR_API ttr_reader *ttr_open_memory(ttr *t, const void *bytes, size_t n, const char *name,
                                    const ttr_read_options *options, ttr_error *error);

/* A file in memory.  Its name may contain slashes ("index/a.idx"). */
typedef struct ttr_file {
    const char *name;
    const void *bytes;
    size_t n;
} ttr_file;

/* Opens a trace of several files in memory.  The bytes are borrowed until ttr_close; the array is
 * copied.  `name` is used in place of the folder's path.  The file that identifies the format must
 * be among them (CTF: "metadata"). */
TTR_API ttr_reader *ttr_open_files(ttr *t, const char *name, const ttr_file *files, size_t n,
                                   const ttr_read_options *options, ttr_error *error);

/* Reads up to n bytes into `to`, and may block.  Returns the number of bytes, 0 at the end, or -1
 * with errno set (0 means EIO).  Compressed streams call it from a thread of the reader, one call
 * at a time; ttr_close waits for a running call. */
typedef int64_t (*ttr_pull)(void *user_data, void *to, size_t n);

/* Opens a trace that is read through a callback.  `name` is used in place of a path. */
TTR_API ttr_reader *ttr_open_pull(ttr *t, ttr_pull pull, void *user_data, const char *name,
                                  const ttr_read_options *options, ttr_error *error);

/* Allows the reader to return events of different streams in any order, for callers that only count
 * or check.  A trace of several streams is then read stream by stream, without the cost of merging.
 * Call it before the first ttr_read.  Returns false, and changes nothing, if the format cannot do
 * this. */
TTR_API bool ttr_reader_allow_stream_order(ttr_reader *reader);

/* Returns the kinds of events that the reader may return, as bits 1 << TTR_KIND_...; all bits if
 * unknown.  If none of them is in the ordered_kinds of a format (formats.h), writing that format
 * needs no ttr_sort. */
TTR_API uint32_t ttr_reader_kinds(ttr_reader *reader);

/* --- Writing --- */

struct ttr_write_options {
    size_t size;
    uint32_t flags; /* TTR_WRITE_*; unknown bits are TTR_E_MISUSE */
    /* "key=value", or "FORMAT.key=value", which other formats ignore; ends with NULL */
    const char *const *format_options;
};

/* Writes up to n bytes.  Returns the number written (> 0), or -1 with errno set. */
typedef int64_t (*ttr_push)(void *user_data, const void *bytes, size_t n);

/* Creates a writer that passes its output to a callback.  TTR_E_MISUSE if the format writes
 * folders. */
TTR_API ttr_writer *ttr_create_push(ttr *t, ttr_push push, void *user_data, const char *format,
                                    const ttr_write_options *options, ttr_error *error);

/* Declares that all events of `in`, from which nothing has been read, will be written to this
 * writer only.  If the target keeps streams apart (CTF packets copied from a reader with
 * TTR_READ_DEFINITIONS), `in` then reads stream by stream, without the cost of merging.  Returns
 * false, and changes nothing, if that is not possible. */
TTR_API bool ttr_writer_allow_stream_order(ttr_writer *writer, ttr_reader *in);

/* Formats the output with `threads` additional threads: text, jsonl and babeltrace2.  Each thread
 * reads the complete trace itself: `open` is called on it with a context of that thread, and
 * returns a reader opened with the same options (ttr_read_options.readers counts all of them), or
 * NULL.  The library closes it.
 *
 * The caller must pass the same batches as such a reader returns, from the first on; if a batch
 * differs, the calling thread formats the rest alone.  The output is the same as without threads,
 * but may be written some batches later, at the latest by ttr_flush or ttr_finish. All threads call
 * ttr_options.resize.  Returns false, and changes nothing, if the format cannot do this. */
TTR_API bool ttr_writer_parallel(ttr_writer *writer, unsigned threads,
                                 ttr_reader *(*open)(void *user_data, ttr *t), void *user_data);

/* Passes all buffered output to the operating system, for live output. */
TTR_API TTR_MUST ttr_status ttr_flush(ttr_writer *writer, ttr_error *error);

/* Completes the output and renames it to its final path, but keeps the writer.  Only then are
 * ttr_losses, ttr_writer_bytes and ttr_writer_events complete, since some formats write packets and
 * descriptions at the end.  Later writes are TTR_E_MISUSE.  ttr_finish or ttr_writer_abort must
 * follow, even after a failure.  Repeats an earlier error. */
TTR_API TTR_MUST ttr_status ttr_writer_end(ttr_writer *writer, ttr_error *error);

/* Returns the path of the temporary file or folder until the output ends, for signal handlers that
 * delete it; NULL if there is none. */
TTR_API const char *ttr_writer_temporary_path(const ttr_writer *writer);

/* Return the bytes and events written so far; gaps are not counted as events. */
TTR_API uint64_t ttr_writer_bytes(const ttr_writer *writer);
TTR_API uint64_t ttr_writer_events(const ttr_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
