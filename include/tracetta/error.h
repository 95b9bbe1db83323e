/* Status codes and error reports.
 *
 * A function that can fail returns a ttr_status, or NULL, and fills the caller's ttr_error on
 * failure only.  The error contains no pointers: it can be copied, and it is filled without
 * allocating memory.  `error` may be NULL. */
#ifndef TRACETTA_ERROR_H
#define TRACETTA_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TTR_API __attribute__((visibility("default")))
#define TTR_MUST __attribute__((warn_unused_result))
#define TTR_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define TTR_API
#define TTR_MUST
#define TTR_PRINTF(format_at, first_at)
#endif

/* The result of a call.  The numbers are part of the ABI; later versions only add some. */
typedef enum ttr_status {
    TTR_OK = 0,          /* success */
    TTR_END = 1,         /* no more data; not a failure */
    TTR_AGAIN = 2,       /* no data yet (live input), or stopped early; call again */
    TTR_E_MALFORMED = 3, /* the bytes violate their format */
    TTR_E_TRUNCATED = 4, /* the input ends inside a record */
    /* not a known trace format, or a feature of one that is not implemented */
    TTR_E_UNSUPPORTED = 5,
    TTR_E_LIMIT = 6,  /* a limit was exceeded (record size, nesting, memory) */
    TTR_E_LOSS = 7,   /* strict mode: the target cannot hold all of the source */
    TTR_E_IO = 8,     /* a system call failed; `sys` is its errno */
    TTR_E_NOMEM = 9,  /* memory is exhausted */
    TTR_E_MISUSE = 10 /* the call violates the rules in these headers */
} ttr_status;

/* A failure: its cause, its position, and the remedy.  448 bytes, part of the ABI. */
typedef struct ttr_error {
    ttr_status status;
    int sys; /* errno of the failed system call, or 0 */
    /* byte offset in the (uncompressed) input or output; UINT64_MAX if none applies */
    uint64_t offset;
    uint64_t line;   /* line of text metadata, from 1; 0 = none */
    uint64_t record; /* number of the record, from 0; UINT64_MAX = none */
    /* name of the format, "fxt"; "" = not known yet; "temporary": a temporary file of the library
     * in TMPDIR failed */
    char format[12];
    /* one sentence, zero-terminated: what is wrong, what was expected, what to do */
    char text[380];
    /* the library option named in `text`, so that a caller can substitute its own spelling: "from"
     * or "max_record" of ttr_read_options, a flag, or "FORMAT.key"; "" = none */
    char option[24];
} ttr_error;

/* Returns the name of a status ("malformed"); static, never NULL. */
TTR_API const char *ttr_status_text(ttr_status status);

#define TTR_EDIT_DISTANCE_MAX 95u /* bytes of the longest word that ttr_edit_distance compares */

/* Returns the Levenshtein distance of two words in bytes, for "did you mean" messages; UINT_MAX if
 * one is longer than TTR_EDIT_DISTANCE_MAX. */
TTR_API unsigned ttr_edit_distance(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
