/* Helpers of writer tests: output as one text, sinks that fail at a byte, and events with every
 * feature. */
#ifndef TRACETTA_TESTS_SUPPORT_WRITING_H
#define TRACETTA_TESTS_SUPPORT_WRITING_H

#include <tracetta/build.h>
#include <tracetta/tracetta.h>

/* A context, a builder and a writer of a format that writes to memory. */
struct writing {
    ttr *t;
    ttr_builder *builder;
    ttr_writer *writer;
    char *text; /* the output so far, zero-terminated */
    size_t n, capacity;
    size_t room;       /* the push fails with ENOSPC after that many bytes */
    ttr_status status; /* status of the first call that failed */
    ttr_error error;
};

/* Makes a writer. `options` are "key=value" strings ending with NULL, or NULL. Fails the test if
 * the writer cannot be made. */
void writing_open(struct writing *w, const char *format, uint32_t flags,
                  const char *const *options);

/* Starts an event on thread 7/9 of provider "prov", category "cat". */
void writing_begin(struct writing *w, ttr_kind kind, int64_t time, const char *name);

/* Ends the event and writes it. */
void writing_end(struct writing *w);

/* Writes an event without fields. */
void writing_event(struct writing *w, ttr_kind kind, int64_t time, const char *name);

/* Writes one event of every kind with fields of every type, names, and strings that must be
 * escaped. */
void writing_everything(struct writing *w);

/* Writes n events of random kinds, attributes and fields, with any bytes in strings. Returns how
 * many of them are gaps. */
unsigned writing_random(struct writing *w, uint64_t seed, unsigned n);

/* A ttr_push that appends to the struct buffer `ctx`. */
int64_t writing_to_buffer(void *ctx, const void *bytes, size_t n);

/* Returns the count of a loss by its code; 0 = none. */
uint64_t writing_lost(struct writing *w, const char *code);

/* Finishes the writer and keeps the text; writing_close frees everything. */
void writing_finish(struct writing *w);
void writing_close(struct writing *w);

/* Fails the test unless the finished text is equal; closes. */
void writing_expect(struct writing *w, const char *text);

/* Writes everything with each allocation failing once, and with the sink full at every byte. Each
 * failure must be reported with its status, and nothing may leak. */
void writing_fails_cleanly(const char *format);

#endif
