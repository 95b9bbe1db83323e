/* Compares events with the condition that ends a recording: provider, name and fields, as "tracetta
 * cat" prints them. */
#include "cli/dotnet/stop_condition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tracetta/tracetta.h>

#include "cli/ui/options.h"

bool stop_condition_parse(struct stopping *stopping, const struct settings *settings)
{
    *stopping =
        (struct stopping){settings->stop_provider, settings->stop_event, settings->stop_payload};
    bool has_pairs = !stopping->payload || strchr(stopping->payload, ':');
    return has_pairs && (!stopping->event || stopping->provider) &&
           (!stopping->payload || stopping->event);
}

bool stop_condition_is_set(const struct stopping *stopping)
{
    return stopping->provider != NULL;
}

static bool text_equals(ttr_text text, const char *word, size_t n)
{
    return text.n == n && (n == 0 || memcmp(text.p, word, n) == 0);
}

/* Returns true if a value has this text. */
static bool value_equals_text(const ttr_value *value, const char *text, size_t n)
{
    char number[64];
    switch (value->type) {
    case TTR_TYPE_TEXT:
        return text_equals(value->text, text, n);
    case TTR_TYPE_BOOL:
        (void)snprintf(number, sizeof number, "%s", value->v.u ? "true" : "false");
        break;
    case TTR_TYPE_UINT:
        (void)snprintf(number, sizeof number, "%" PRIu64, value->v.u);
        break;
    case TTR_TYPE_INT:
        (void)snprintf(number, sizeof number, "%" PRId64, value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        (void)snprintf(number, sizeof number, "%.15g", value->v.f);
        break;
    default:
        return false;
    }
    return text_equals((ttr_text){number, strlen(number)}, text, n);
}

/* Returns true if an event has the field and value of "FIELD:VALUE". */
static bool event_has_field_value(const ttr *t, const ttr_event *event, const char *pair, size_t n)
{
    ttr_fields fields;
    ttr_field field;
    size_t name_n = strcspn(pair, ":");
    if (name_n >= n)
        return false;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        if (text_equals(field.name, pair, name_n))
            return value_equals_text(&field.value, pair + name_n + 1, n - name_n - 1);
    return false;
}

bool stop_condition_is_met(const struct stopping *stopping, const ttr *t, const ttr_event *event)
{
    if (!text_equals(ttr_text_get(t, event->provider), stopping->provider,
                     strlen(stopping->provider)))
        return false;
    if (stopping->event &&
        !text_equals(ttr_text_get(t, event->name), stopping->event, strlen(stopping->event)))
        return false;
    for (const char *at = stopping->payload; at && *at;) {
        size_t n = strcspn(at, ",");
        if (!event_has_field_value(t, event, at, n))
            return false;
        at += n + (at[n] == ',');
    }
    return true;
}
