/* For tests of writers: what a writer puts out as one text, sinks that fail at a byte, and events
 * with everything in them. */
#ifndef TRACETTA_TESTS_SUPPORT_WRITING_H
#define TRACETTA_TESTS_SUPPORT_WRITING_H

#include <tracetta/write.h>

/* A context, a builder and a writer of a format into memory. */
struct writing {
    ttr *t;
    ttr_builder *builder;
    ttr_writer *writer;
    char *text; /* what came out so far, zero-terminated */
    size_t n, capacity;
    size_t room;       /* the push fails with ENOSPC beyond that many bytes */
    ttr_status status; /* of the first call that failed */
    ttr_error error;
};

/* Opens; `options` are "key=value" strings ending with NULL, or NULL.  The test fails when the
 * writer cannot be made. */
void writing_open(struct writing *w, const char *format, uint32_t flags,
                  const char *const *options);

/* Begins an event on thread 7/9 of provider "prov", category "cat". */
void writing_begin(struct writing *w, ttr_kind kind, int64_t time, const char *name);

/* Ends the event and writes it. */
void writing_end(struct writing *w);

/* Begins and ends an event without fields. */
void writing_event(struct writing *w, ttr_kind kind, int64_t time, const char *name);

/* Writes one event of every kind with fields of every type, names, and strings that are hard to
 * quote. */
void writing_everything(struct writing *w);

/* Writes n events of random kinds, attributes and fields, any bytes in all strings; how many of
 * them are gaps. */
unsigned writing_random(struct writing *w, uint64_t seed, unsigned n);

/* A ttr_push whose `ctx` is a struct buffer: appends to it. */
int64_t writing_to_buffer(void *ctx, const void *bytes, size_t n);

/* Count of a loss by its code, 0 where it did not happen. */
uint64_t writing_lost(struct writing *w, const char *code);

/* Finishes and keeps the text; writing_close frees everything. */
void writing_finish(struct writing *w);
void writing_close(struct writing *w);

/* Fails the test unless the finished text is this; closes. */
void writing_expect(struct writing *w, const char *text);

/* Writes everything with each request for memory failing once, and with the sink full at every
 * byte: each failure must be told with its status, and nothing may leak. */
void writing_fails_cleanly(const char *format);

#endif
