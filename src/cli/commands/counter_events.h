/* What an event of .NET says of a counter.
 *
 * EventCounters: event "EventCounters" of any provider, with Name, DisplayName, DisplayUnits, and
 * Mean or Increment.  Meters: events of System.Diagnostics.Metrics, with meterName, instrumentName,
 * unit, tags, and as text rate, value, lastValue, or quantiles. Texts are borrowed from the event.
 */
#ifndef TRACETTA_CLI_COMMANDS_COUNTER_EVENTS_H
#define TRACETTA_CLI_COMMANDS_COUNTER_EVENTS_H

#include <tracetta/tracetta.h>

#define COUNTER_TAGS_MAX 512u /* bytes, with the zero behind them; longer ones are cut */

struct counter_said {
    ttr_text provider, key, title, units, tags, quantiles; /* of a meter the provider is its name */
    double value;
    bool has_value, is_rate; /* is_rate: what came since the value before */
    int64_t time;
};

/* One value: a histogram has one for each of its quantiles. */
struct counter_value {
    size_t at; /* where the next one is looked for; 0 at first */
    double number;
    char tags[COUNTER_TAGS_MAX]; /* "city=Ulm,Percentile=0.5" */
};

/* Reads an event; false where it says nothing of a counter. */
bool counter_read(const ttr *t, const ttr_event *event, struct counter_said *said);

/* Gives the next value; false behind the last. */
bool counter_next(const struct counter_said *said, struct counter_value *value);

#endif
