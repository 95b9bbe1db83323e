/* Interpretation: what well-known events of a trace mean.
 *
 *     ttr_reader *in = ttr_interpret(ttr_open(t, path, NULL, &error), NULL, &error);
 *
 * Records of the Linux kernel (LTTng, perf, ftrace) and of LTTng-UST become context switches,
 * wake-ups, spans and counters, and their threads get names and processes.  The rules are tables,
 * which ttr_interpret_rule lists.  Conventions as in tracetta.h. */
#ifndef TRACETTA_MEANING_PUBLIC_H
#define TRACETTA_MEANING_PUBLIC_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_interpret_options {
    size_t size;
    /* additional rules "START,END[,FIELD...]", which precede the tables; ends with NULL, may be
     * NULL.  START and END are names or globs of events, and may have one `*` for the same text.
     * The spans nest on their thread, or on their CPU with the field "cpu".  With other fields they
     * are async spans, which the values of the fields identify; also their thread, if "thread" is
     * a field. */
    const char *const *pairs;
} ttr_interpret_options;

/* Returns a reader that interprets the events of `in`, sorted by time; or `in` itself if no rule
 * applies to its traces.  Kind, name, category, thread, track, link, tag and CPU of an event may
 * change; its class, fields and time do not.  An end is added, with TTR_EVENT_PARTIAL, if the trace
 * lost the end of a span, and without it where a system call ends with its thread.  Owns `in`. */
TTR_API ttr_reader *ttr_interpret(ttr_reader *in, const ttr_interpret_options *options,
                                  ttr_error *error);

/* Returns the event as the trace has it, in *original: name, kind and all fields.  Members that the
 * interpretation changed otherwise (thread, CPU) stay as they are.  Returns false if the event was
 * added, or not changed; *original is then a copy of it. */
TTR_API bool ttr_event_original(const ttr *t, const ttr_event *event, ttr_event *original);

/* A rule of the interpretation.  Texts are static. */
typedef struct ttr_interpret_row {
    size_t size;
    const char *world;     /* tracers with events that it applies to */
    const char *events;    /* names or patterns, separated by "|" */
    const char *fields[5]; /* names of the required fields; a name after "?" is optional; NULL = no
                              more */
    const char *becomes;   /* "switch", "begin", "counter", "thread name", ... */
    const char *name;     /* name of the result: a text, "*" = the part of the event's name that `*`
                             matches, "=FIELD" = the value of a field; NULL = the event's name */
    const char *category; /* category of the result; NULL = unchanged */
} ttr_interpret_row;

/* Copies the i-th rule; returns false after the last. */
TTR_API bool ttr_interpret_rule(size_t i, ttr_interpret_row *row);

#ifdef __cplusplus
}
#endif
#endif
