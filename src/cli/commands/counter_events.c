/* Decodes the events of EventCounters and meters. */
#include "cli/commands/counter_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/meaning.h>
#include <tracetta/tracetta.h>

#define METERS "System.Diagnostics.Metrics"

static bool text_equals(ttr_text text, const char *word)
{
    return text.n == strlen(word) && (text.n == 0 || memcmp(text.p, word, text.n) == 0);
}

/* Parses a number that a meter wrote as text, with a decimal point or, depending on its culture, a
 * comma. */
static bool convert_to_double(const ttr_value *value, double *number)
{
    char text[64], *end;
    switch (value->type) {
    case TTR_TYPE_FLOAT:
        *number = value->v.f;
        return true;
    case TTR_TYPE_INT:
        *number = (double)value->v.s;
        return true;
    case TTR_TYPE_UINT:
        *number = (double)value->v.u;
        return true;
    case TTR_TYPE_TEXT:
        (void)snprintf(text, sizeof text, "%.*s", (int)(value->text.n < 60 ? value->text.n : 60),
                       value->text.p);
        for (char *at = text; *at; at++)
            *at = *at == ',' ? '.' : *at;
        *number = strtod(text, &end);
        return end != text && !*end;
    default:
        return false;
    }
}

/* Stores one payload field of an "EventCounters" event in the sample. */
static void read_counter_field(struct counter_sample *said, const ttr_field *field)
{
    double number;
    if (text_equals(field->name, "Name"))
        said->key = field->value.text;
    else if (text_equals(field->name, "DisplayName"))
        said->title = field->value.text;
    else if (text_equals(field->name, "DisplayUnits"))
        said->units = field->value.text;
    else if (text_equals(field->name, "Metadata"))
        said->tags = field->value.text;
    else if (text_equals(field->name, "CounterType"))
        said->is_rate = text_equals(field->value.text, "Sum");
    else if ((text_equals(field->name, "Mean") || text_equals(field->name, "Increment")) &&
             convert_to_double(&field->value, &number)) {
        said->value = number;
        said->has_value = true;
        said->is_rate = text_equals(field->name, "Increment");
    }
}

/* Stores one payload field of a meter's event in the sample. */
static void read_meter_field(struct counter_sample *said, const ttr_field *field)
{
    double number;
    if (text_equals(field->name, "meterName"))
        said->provider = field->value.text;
    else if (text_equals(field->name, "instrumentName"))
        said->key = said->title = field->value.text;
    else if (text_equals(field->name, "unit"))
        said->units = field->value.text;
    else if (text_equals(field->name, "tags"))
        said->tags = field->value.text;
    else if (text_equals(field->name, "quantiles"))
        said->quantiles = field->value.text;
    else if ((text_equals(field->name, "rate") || text_equals(field->name, "lastValue") ||
              text_equals(field->name, "value")) &&
             convert_to_double(&field->value, &number)) {
        /* An event with both has the value of an up-down counter; a counter has only a rate. */
        said->has_value = true;
        said->value = number;
    }
}

bool read_counter_event(const ttr *t, const ttr_event *event, struct counter_sample *said)
{
    ttr_event original; /* the event may have been interpreted as a counter */
    (void)ttr_event_original(t, event, &original);
    event = &original;
    ttr_text name = ttr_text_get(t, event->name);
    *said =
        (struct counter_sample){.provider = ttr_text_get(t, event->provider), .time = event->time};
    bool is_meter = text_equals(said->provider, METERS),
         is_counter = text_equals(name, "CounterRateValuePublished");
    ttr_fields fields;
    ttr_field field;
    if (!is_meter && !text_equals(name, "EventCounters"))
        return false;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (!is_meter)
            read_counter_field(said, &field);
        else if (!is_counter || !text_equals(field.name, "value"))
            read_meter_field(said, &field);
        said->is_rate |= is_counter;
    }
    return said->key.n && (said->quantiles.n || said->has_value);
}

/* Parses the next quantile, at offset value->at, of a list such as "0.5=2;0.95=3.5". Returns false
 * at its end. */
static bool read_next_quantile(const struct counter_sample *said, struct counter_value *value)
{
    while (value->at < said->quantiles.n) {
        const char *part = said->quantiles.p + value->at;
        size_t n = 0, name_n;
        while (value->at + n < said->quantiles.n && part[n] != ';')
            n++;
        for (name_n = 0; name_n < n && part[name_n] != '='; name_n++)
            continue;
        value->at += n + 1;
        const ttr_value text = {.type = TTR_TYPE_TEXT,
                                .text = {part + name_n + 1, n - name_n - (name_n < n)}};
        (void)snprintf(value->tags, sizeof value->tags, "%.*s%sPercentile=%.*s",
                       (int)(said->tags.n < 300 ? said->tags.n : 300), said->tags.p,
                       said->tags.n ? "," : "", (int)(name_n < 32 ? name_n : 32), part);
        if (name_n < n && convert_to_double(&text, &value->number))
            return true;
    }
    return false;
}

bool read_next_value(const struct counter_sample *said, struct counter_value *value)
{
    if (said->quantiles.n)
        return read_next_quantile(said, value);
    if (value->at > 0)
        return false;
    value->at = 1;
    value->number = said->value;
    (void)snprintf(value->tags, sizeof value->tags, "%.*s",
                   (int)(said->tags.n < COUNTER_TAGS_MAX ? said->tags.n : COUNTER_TAGS_MAX - 1),
                   said->tags.n ? said->tags.p : "");
    return true;
}
