/* Rules for .NET: EventCounters of any event source, and the instruments of
 * System.Diagnostics.Metrics.
 *
 * EventCounters have their values in a struct, and meters write them as texts. Spans of the runtime
 * and activities are recognized by the reader of nettrace. Left out: quantiles of histograms. */
#include "meaning/rules.h"

#define METERS "System.Diagnostics.Metrics"

static const struct rule rules[] = {
    {"EventCounters",
     NULL,
     RULE_DOTNET,
     RULE_NAMED_COUNTER,
     0,
     0,
     {"Name", "Mean|Increment", "?Metadata"},
     NULL,
     NULL},
    {"CounterRateValuePublished",
     METERS,
     RULE_DOTNET,
     RULE_NAMED_COUNTER,
     0,
     0,
     {"instrumentName", "rate", "?tags"},
     NULL,
     NULL},
    {"GaugeValuePublished",
     METERS,
     RULE_DOTNET,
     RULE_NAMED_COUNTER,
     0,
     0,
     {"instrumentName", "lastValue", "?tags"},
     NULL,
     NULL},
    {"UpDownCounterRateValuePublished",
     METERS,
     RULE_DOTNET,
     RULE_NAMED_COUNTER,
     0,
     0,
     {"instrumentName", "value", "?tags"},
     NULL,
     NULL},
};

const struct rule_table dotnet_rules = {".NET", rules, sizeof rules / sizeof *rules};
