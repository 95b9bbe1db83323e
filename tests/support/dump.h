/* The canonical dump: everything a reader says, one line an event, the same for every way of
 * reading the same bytes. tests/README.md describes the lines. */
#ifndef TRACETTA_TESTS_SUPPORT_DUMP_H
#define TRACETTA_TESTS_SUPPORT_DUMP_H

#include <tracetta/read.h>

#include "base/buffer.h"

struct dump {
    struct buffer text; /* event lines; threads are numbers until dump_names */
    struct buffer raw;  /* payloads of raw events, one after another */
    uint64_t events;
    size_t events_n;   /* bytes of event lines, before dump_names */
    ttr_status status; /* how reading ended */
    ttr_error error;
};

void dump_init(struct dump *dump);
void dump_free(struct dump *dump);

/* Writes a line for each event of a batch. */
void dump_batch(struct dump *dump, const ttr *t, const ttr_batch *batch);

/* Reads to the end and writes a line for each event. */
void dump_events(struct dump *dump, ttr *t, ttr_reader *reader);

/* Adds the lines about notes, damage and failure. */
void dump_report(struct dump *dump, ttr_reader *reader);

/* Replaces thread numbers by what is known of them now, so that it does not matter when it became
 * known. */
void dump_names(struct dump *dump, const ttr *t);

#endif
