/* Status and error: what to do next, and why and where it went wrong.
 *
 * Every fallible function returns a ttr_status (or NULL) and fills a caller-owned ttr_error on
 * failure only.  The error holds no pointers, so it can be copied, kept, and told even when memory
 * has run out.  Passing NULL for it is fine. Thread rule: plain data; whoever holds the struct may
 * use it. */
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

/* Says what the caller does next.  Values only grow; numbers are part of the ABI. */
typedef enum ttr_status {
    TTR_OK = 0,            /* done */
    TTR_END = 1,           /* nothing more to come; not a failure */
    TTR_AGAIN = 2,         /* live input has nothing yet; call again */
    TTR_E_MALFORMED = 3,   /* the bytes break the rules of their format */
    TTR_E_TRUNCATED = 4,   /* the input ends inside a record */
    TTR_E_UNSUPPORTED = 5, /* not a trace we know, or a part of one that nobody reads yet */
    TTR_E_LIMIT = 6,       /* a limit of the context was reached (record size, depth, memory) */
    TTR_E_LOSS = 7,        /* strict mode: the target cannot hold what the source says */
    TTR_E_IO = 8,          /* the operating system said no; `sys` is its errno */
    TTR_E_NOMEM = 9,       /* the allocator said no */
    TTR_E_MISUSE = 10      /* the call breaks the rules of this header */
} ttr_status;

/* What failed, where, and what to try.  Plain and frozen: 448 bytes. */
typedef struct ttr_error {
    ttr_status status;
    int sys;         /* errno of the failing system call, or 0 */
    uint64_t offset; /* byte offset in the (uncompressed) input or output, UINT64_MAX where none
                        applies */
    uint64_t line;   /* line of text metadata, counted from 1, or 0 */
    uint64_t record; /* ordinal of the record, counted from 0, or UINT64_MAX */
    char format[12]; /* "fxt"; "" while it is unknown; "temporary": not the trace, a file of ours in
                        TMPDIR */
    char text[380];  /* one sentence: what was found, what was expected, what to try; always
                        terminated */
    char option[24]; /* what the text names last of ours, for who calls it otherwise: "from" and
                      * "max_record" of ttr_read_options, a flag, or the "FORMAT.key" of a format
                      * option; "" = nothing */
} ttr_error;

/* Gives the constant English name of a status ("malformed"); never NULL. */
TTR_API const char *ttr_status_text(ttr_status status);

#define TTR_EDIT_DISTANCE_MAX 95u /* bytes of the longest word that ttr_edit_distance compares */

/* How many bytes must be inserted, deleted or replaced to make one word of the other, for messages
 * that ask "did you mean"; UINT_MAX where one is too long. */
TTR_API unsigned ttr_edit_distance(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
