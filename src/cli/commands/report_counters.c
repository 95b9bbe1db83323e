/* report counters: shows the counters and meters of .NET programs, with a row per set of tags. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/counter_events.h"
#include "cli/commands/reports.h"
#include "cli/ui/messages.h"

/* width in characters of the number columns before the name of a counter */
#define NUMBERS_COLUMNS 56

struct counter {
    ttr_id provider, name, title, unit, tags;
    bool is_rate;
    uint64_t count;
    double sum, least, most, last;
};

struct counters {
    struct counter *row;
    size_t n, room;
    uint32_t *first; /* indexed by name: row found last for the name, plus 1 */
    size_t names_n;
    uint32_t *next; /* indexed by row: another row with the same name, plus 1 */
    uint64_t values;
};

static bool grow_names(struct counters *all, ttr_id name)
{
    if (name < all->names_n)
        return true;
    size_t n = (size_t)name * 2 + 64;
    uint32_t *grown = reallocarray(all->first, n, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + all->names_n, 0, (n - all->names_n) * sizeof *grown);
    all->first = grown;
    all->names_n = n;
    return true;
}

static bool grow_rows(struct counters *all)
{
    if (all->n < all->room)
        return true;
    size_t room = all->room ? all->room * 2 : 64;
    struct counter *rows = reallocarray(all->row, room, sizeof *rows);
    if (rows)
        all->row = rows;
    uint32_t *next = rows ? reallocarray(all->next, room, sizeof *next) : NULL;
    if (next) {
        all->next = next;
        all->room = room;
    }
    return next;
}

/* Returns the row of a counter, added if it is new. Returns NULL if memory runs out. */
static struct counter *find_or_add_row(struct counters *all, ttr_id provider, ttr_id name,
                                       ttr_id tags)
{
    if (!grow_names(all, name))
        return NULL;
    for (uint32_t at = all->first[name]; at; at = all->next[at - 1])
        if (all->row[at - 1].provider == provider && all->row[at - 1].tags == tags)
            return &all->row[at - 1];
    if (!grow_rows(all))
        return NULL;
    all->row[all->n] = (struct counter){.provider = provider, .name = name, .tags = tags};
    all->next[all->n] = all->first[name];
    all->first[name] = (uint32_t)all->n + 1;
    return &all->row[all->n++];
}

static ttr_id find_or_add_text(const struct event_report *event_report, ttr_text text)
{
    return text.n ? ttr_text_add(event_report->inputs.t, text.p, text.n) : 0;
}

static bool add_counter_value(struct event_report *event_report, const struct counter_sample *said,
                              const struct counter_value *value)
{
    struct counters *all = event_report->ctx;
    ttr_id tags = find_or_add_text(event_report, (ttr_text){value->tags, strlen(value->tags)});
    struct counter *row = find_or_add_row(all, find_or_add_text(event_report, said->provider),
                                          find_or_add_text(event_report, said->key), tags);
    if (!row)
        return false;
    row->title = said->title.n ? find_or_add_text(event_report, said->title) : row->name;
    row->unit = find_or_add_text(event_report, said->units);
    row->is_rate = said->is_rate;
    row->least = row->count == 0 || value->number < row->least ? value->number : row->least;
    row->most = row->count == 0 || value->number > row->most ? value->number : row->most;
    row->last = value->number;
    row->sum += value->number;
    row->count++;
    all->values++;
    return true;
}

static bool add_counter_event(struct event_report *event_report, const ttr_event *event)
{
    struct counter_sample said;
    struct counter_value value = {0};
    if (!read_counter_event(event_report->inputs.t, event, &said))
        return true;
    while (read_next_value(&said, &value))
        if (!add_counter_value(event_report, &said, &value))
            return false;
    return true;
}

static void write_counters_json(struct event_report *event_report, const struct counters *all,
                                size_t rows)
{
    struct json *json = &event_report->json;
    json_write_uint(json, "values", all->values);
    json_open(json, "rows", '[');
    for (size_t i = 0; i < rows; i++) {
        const struct counter *row = &all->row[i];
        json_open(json, NULL, '{');
        json_write_text(json, "provider", ttr_text_get(event_report->inputs.t, row->provider));
        json_write_text(json, "name", ttr_text_get(event_report->inputs.t, row->name));
        json_write_text(json, "title", ttr_text_get(event_report->inputs.t, row->title));
        json_write_text(json, "unit", ttr_text_get(event_report->inputs.t, row->unit));
        if (row->tags)
            json_write_text(json, "tags", ttr_text_get(event_report->inputs.t, row->tags));
        json_write_string(json, "type", row->is_rate ? "Rate" : "Metric");
        json_write_uint(json, "count", row->count);
        json_write_float(json, "mean", row->sum / (double)row->count);
        json_write_float(json, "min", row->least);
        json_write_float(json, "max", row->most);
        json_write_float(json, "last", row->last);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Prints provider, title, unit and tags of a counter, shortened together to the width of the
 * terminal. */
static void print_counter(const struct event_report *event_report, const struct counter *row)
{
    const struct terminal *term = &event_report->call->term;
    const ttr *t = event_report->inputs.t;
    const ttr_text provider = ttr_text_get(t, row->provider), title = ttr_text_get(t, row->title),
                   unit = ttr_text_get(t, row->unit), tags = ttr_text_get(t, row->tags);
    const int rate_n = row->is_rate ? 7 : 0, left = term->width - NUMBERS_COLUMNS - rate_n;
    char *text = NULL;
    const int n =
        asprintf(&text, "%.*s %.*s%s%.*s%s%s%.*s%s", (int)provider.n, provider.p, (int)title.n,
                 title.p, unit.n ? " (" : "", (int)unit.n, unit.p, unit.n ? ")" : "",
                 tags.n ? " {" : "", (int)tags.n, tags.p, tags.n ? "}" : "");
    if (n >= 0)
        term_shorten(term, (ttr_text){text, (size_t)n}, (size_t)(left > 12 ? left : 12));
    free(n >= 0 ? text : NULL);
    (void)puts(row->is_rate ? " [rate]" : "");
}

static void print_counters(const struct event_report *event_report, const struct counters *all,
                           size_t rows)
{
    const struct terminal *term = &event_report->call->term;
    (void)printf("%s%6s %11s %11s %11s %11s  provider counter%s\n", term_ink(term, INK_BOLD),
                 "values", "mean", "min", "max", "last", term_ink(term, INK_PLAIN));
    for (size_t i = 0; i < rows; i++) {
        const struct counter *row = &all->row[i];
        (void)printf("%6s %11.6g %11.6g %11.6g %11.6g  ", units_count(row->count).s,
                     row->sum / (double)row->count, row->least, row->most, row->last);
        print_counter(event_report, row);
    }
}

static void show_counters(struct event_report *event_report)
{
    const struct counters *all = event_report->ctx;
    size_t rows = get_report_row_limit(event_report, all->n);
    if (event_report->call->set.json)
        write_counters_json(event_report, all, rows);
    else
        print_counters(event_report, all, rows);
    if (rows < all->n)
        print_note(event_report->call, "%zu more rows", all->n - rows);
    if (all->n == 0)
        print_note(event_report->call,
                   "no counters: they come from providers recorded with EventCounterIntervalSec=1, "
                   "and of meters from System.Diagnostics.Metrics");
}

int report_counters(struct call *call)
{
    struct counters all = {0};
    struct event_report event_report = {.call = call,
                                        .ctx = &all,
                                        .add = add_counter_event,
                                        .show = show_counters,
                                        .schema = "tracetta.counters/1"};
    int outcome = run_event_report(&event_report);
    free(all.row);
    free(all.next);
    free(all.first);
    return outcome;
}
