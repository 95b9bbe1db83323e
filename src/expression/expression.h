/* Conditions on events: "name GLOB 'sched*' AND next_prio > 20".
 *
 * An expression is compiled once and then selects events of batches.  Language and meaning are
 * those of a WHERE clause of SQLite over the columns of an event; any other name is a field of the
 * event, NULL if the event has none of that name.
 *
 * Threads: one at a time. */
#ifndef TRACETTA_EXPRESSION_EXPRESSION_H
#define TRACETTA_EXPRESSION_EXPRESSION_H

#include "expression/value.h"

struct expression;

/* Compiles a text for the events of a context.  Returns NULL with TTR_E_MISUSE and the byte of the
 * text in error->offset. */
struct expression *expression_new(ttr *t, const char *text, ttr_error *error);
void expression_free(struct expression *expression);

/* Evaluates the expression for the events at the indices rows[0 .. n): truth[i] becomes an enum
 * truth.  Fails if memory is exhausted, or if a text grows beyond VALUE_TEXT_MAX. */
TTR_MUST ttr_status expression_select(struct expression *expression, const ttr_event *events,
                                      const uint32_t *rows, uint32_t n, uint8_t *truth,
                                      ttr_error *error);

/* Returns true if the result depends on names or numbers of threads, which are complete only if the
 * events come in order of time. */
bool expression_uses_threads(const struct expression *expression);

#endif
