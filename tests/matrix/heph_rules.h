/* Prediction of what the Heph writer stores for an event, by the rules of
 * src/formats/heph/README.md: the spans that must be read back, as lines of text, and the count of
 * each loss. */
#ifndef TRACETTA_TESTS_MATRIX_HEPH_RULES_H
#define TRACETTA_TESTS_MATRIX_HEPH_RULES_H

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"

enum { CODES = 48 };

struct heph_tally {
    const char *code;
    uint64_t count;
};

struct heph_lines {
    struct buffer *line;
    size_t n, capacity;
};

/* A begin that waits for its end. Its slot decides when it is written if no end comes. */
struct heph_open_begin {
    ttr_event event;
    struct buffer attributes;
    uint64_t opened; /* 0 if the slot is free */
};

/* The names that a thread's events contained last. */
struct heph_last_names {
    ttr_id process_name, thread_name;
};

struct heph_matrix {
    ttr *t;
    ttr_writer *out;
    struct buffer bytes;
    struct heph_lines expected, found;
    struct heph_tally tallies[CODES];
    uint64_t *streams; /* streams that have events */
    size_t streams_n, streams_capacity;
    struct heph_open_begin *open;
    size_t open_n, open_capacity, *free_slots, free_n, free_capacity;
    struct heph_last_names *last_names; /* by thread */
    size_t told_n;
    uint64_t opened, epoch, lost, gaps;
    bool has_epoch, is_heph;
};

/* Adds an empty line of text and returns it. */
struct buffer *heph_rules_add_line(struct heph_lines *lines);

/* Append to a line: formatted text; a text as the writer must store it (`m` counts losses, and may
 * be NULL); time and duration of a span; its stream and substream. */
void heph_rules_append(struct buffer *to, const char *format, ...) TTR_PRINTF(2, 3);
void heph_rules_append_text(struct heph_matrix *m, struct buffer *to, ttr_text text);
void heph_rules_append_span(struct buffer *line, int64_t time, uint64_t duration);
void heph_rules_append_place(struct buffer *line, const ttr_thread *thread);

/* Adds the line that is expected for an event to m->expected, and counts its losses. */
void heph_rules_expect_event(struct heph_matrix *m, const ttr_event *event);

/* Adds the lines of all begins that have no end. */
void heph_rules_expect_unfinished(struct heph_matrix *m);

#endif
