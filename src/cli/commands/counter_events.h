/* Decodes .NET events that carry values of counters.
 *
 * EventCounters: an event named "EventCounters" of any provider, with Name, DisplayName,
 * DisplayUnits, and Mean or Increment. Meters: events of System.Diagnostics.Metrics with meterName,
 * instrumentName, unit and tags, and with rate, value, lastValue or quantiles as text. Texts are
 * borrowed from the event. */
#ifndef TRACETTA_CLI_COMMANDS_COUNTER_EVENTS_H
#define TRACETTA_CLI_COMMANDS_COUNTER_EVENTS_H

#include <tracetta/event.h>

#define COUNTER_TAGS_MAX                                                       \
    512u /* size in bytes with the terminating zero; longer tags are truncated \
          * */

struct counter_sample {
    /* texts of the event, borrowed; the provider of a meter is the meter's name */
    ttr_text provider, key, title, units, tags, quantiles;
    double value;
    bool has_value, is_rate; /* is_rate: the value is the increment since the previous one */
    int64_t time;
};

/* A value of a counter. A histogram has a value per quantile. */
struct counter_value {
    size_t at; /* offset in the list of quantiles; 0 for the first value */
    double number;
    char tags[COUNTER_TAGS_MAX]; /* "city=Ulm,Percentile=0.5" */
};

/* Decodes an event. Returns false if it has no counter value. */
bool read_counter_event(const ttr *t, const ttr_event *event, struct counter_sample *said);

/* Moves to the next value. Returns false after the last. */
bool read_next_value(const struct counter_sample *said, struct counter_value *value);

#endif
