/* Turns counter events into rows, and prints them. */
#include "cli/commands/counter_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/command.h"
#include "cli/commands/counter_events.h"
#include "cli/ui/messages.h"

#define PART 512u

static bool text_equals(ttr_text text, const char *word)
{
    return text.n == strlen(word) && (text.n == 0 || memcmp(text.p, word, text.n) == 0);
}

int counter_table_init(struct counter_table *table, struct call *call, const char *wanted,
                       const char *what, uint64_t seconds)
{
    const struct settings *set = &call->set;
    const char *format = set->counter_format ? set->counter_format : "table";
    *table = (struct counter_table){
        .call = call, .wanted = wanted, .what = what, .to = stdout, .seconds = seconds};
    table->show = strcmp(format, "csv") == 0    ? COUNTER_CSV
                  : strcmp(format, "json") == 0 ? COUNTER_JSON
                                                : COUNTER_TABLE;
    if (set->output && strcmp(set->output, "-") != 0) {
        table->to = fopen(set->output, set->overwrite ? "we" : "wxe");
        table->is_own_file = table->to != NULL;
    }
    if (!table->to) {
        if (errno == EEXIST)
            report_failure_text(set->output, "the file exists; --overwrite replaces it");
        else
            (void)report_unwritable_output(set->output, errno);
        table->to = stdout;
        return OUTCOME_OUTPUT;
    }
    table->is_live = table->show == COUNTER_TABLE && !table->is_own_file && call->term.out_is_tty;
    return OUTCOME_FINE;
}

static void free_row(struct counter_row *row)
{
    free(row->provider);
    free(row->key);
    free(row->label);
    free(row->tags);
}

int counter_table_free(struct counter_table *table)
{
    int outcome = OUTCOME_FINE;
    for (size_t i = 0; i < table->rows_n; i++)
        free_row(&table->rows[i]);
    free(table->rows);
    if (table->is_own_file) {
        int reason = fclose(table->to) != 0 ? errno : 0;
        reason = table->reason ? table->reason : reason;
        if (reason)
            outcome = report_unwritable_output(table->call->set.output, reason);
    }
    *table = (struct counter_table){0};
    return outcome;
}

/* --- Rows --- */

size_t counter_item_length(const char *list)
{
    size_t depth = 0, n = 0;
    for (; list[n] && (depth || list[n] != ','); n++)
        depth = list[n] == '[' ? depth + 1 : list[n] == ']' && depth ? depth - 1 : depth;
    return n;
}

/* Returns true if a key is an item of the list "KEY,KEY" of n bytes. */
static bool list_has_key(const char *keys, size_t n, ttr_text key)
{
    for (size_t at = 0; at < n;) {
        size_t key_n = strcspn(keys + at, ",]");
        if (key_n > 0 && key_n == key.n && memcmp(keys + at, key.p, key_n) == 0)
            return true;
        at += key_n + 1;
    }
    return false;
}

/* Returns true if the list of --counters selects the counter. Its items are "PROVIDER" or
 * "PROVIDER[KEY,KEY]". */
static bool is_counter_selected(const char *list, const struct counter_sample *said)
{
    if (!list)
        return true;
    while (*list) {
        size_t n = counter_item_length(list), name_n = strcspn(list, "[,");
        bool is_this =
            name_n > 0 && name_n == said->provider.n && memcmp(list, said->provider.p, name_n) == 0;
        if (is_this && (name_n == n || list_has_key(list + name_n + 1, n - name_n - 1, said->key)))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

static bool is_row_of_counter(const struct counter_row *row, const struct counter_sample *said,
                              ttr_text tags)
{
    return text_equals(said->provider, row->provider) && text_equals(said->key, row->key) &&
           text_equals(tags, row->tags);
}

static char *copy_text(ttr_text text)
{
    char *copy = malloc(text.n + 1);
    if (copy && text.n)
        memcpy(copy, text.p, text.n);
    if (copy)
        copy[text.n] = '\0';
    return copy;
}

/* Returns a new label of a counter: "CPU Usage (%)", or for a rate "Allocation Rate (B / 1
 * sec)". */
static char *make_counter_label(const struct counter_sample *said, uint64_t seconds)
{
    char label[PART], units[PART / 2] = "";
    ttr_text title = said->title.n ? said->title : said->key;
    if (said->is_rate)
        (void)snprintf(units, sizeof units, "%.*s / %" PRIu64 " sec",
                       said->units.n ? (int)(said->units.n < 100 ? said->units.n : 100) : 5,
                       said->units.n ? said->units.p : "Count", seconds);
    else
        (void)snprintf(units, sizeof units, "%.*s",
                       (int)(said->units.n < 100 ? said->units.n : 100), said->units.p);
    (void)snprintf(label, sizeof label, "%.*s%s%s%s", (int)(title.n < 200 ? title.n : 200), title.p,
                   units[0] ? " (" : "", units, units[0] ? ")" : "");
    return copy_text((ttr_text){label, strlen(label)});
}

/* Returns the row of a counter, added if it is new. Returns NULL if memory runs out. */
static struct counter_row *find_counter_row(struct counter_table *table,
                                            const struct counter_sample *said, ttr_text tags)
{
    for (size_t i = 0; i < table->rows_n; i++)
        if (is_row_of_counter(&table->rows[i], said, tags))
            return &table->rows[i];
    if (table->rows_n == table->rows_capacity) {
        size_t capacity = table->rows_capacity ? 2 * table->rows_capacity : 32;
        struct counter_row *rows = realloc(table->rows, capacity * sizeof *rows);
        if (!rows)
            return NULL;
        table->rows = rows;
        table->rows_capacity = capacity;
    }
    struct counter_row row = {.provider = copy_text(said->provider),
                              .key = copy_text(said->key),
                              .label = make_counter_label(said, table->seconds),
                              .tags = copy_text(tags),
                              .type = said->is_rate ? "Rate" : "Metric"};
    if (!row.provider || !row.key || !row.label || !row.tags) {
        free_row(&row);
        return NULL;
    }
    table->rows[table->rows_n] = row;
    return &table->rows[table->rows_n++];
}

/* --- Showing --- */

/* Formats a time in UTC by a format of strftime. */
static const char *format_utc_time(int64_t time_ns, const char *form, char *text, size_t size)
{
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm parts = {0};
    (void)gmtime_r(&seconds, &parts);
    if (strftime(text, size, form, &parts) == 0)
        text[0] = '\0';
    return text;
}

/* Prints a cell of a CSV file, in quotes if required. */
static void write_csv_cell(FILE *to, const char *text)
{
    if (!strpbrk(text, "\",\n")) {
        (void)fputs(text, to);
        return;
    }
    (void)fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', to);
        (void)fputc(*text, to);
    }
    (void)fputc('"', to);
}

static void write_csv_row(const struct counter_table *table, const struct counter_row *row,
                          int64_t time)
{
    char text[64], name[2 * PART];
    (void)snprintf(name, sizeof name, "%s%s%s%s", row->label, row->tags[0] ? "[" : "", row->tags,
                   row->tags[0] ? "]" : "");
    (void)fprintf(table->to, "%s,", format_utc_time(time, "%m/%d/%Y %H:%M:%S", text, sizeof text));
    write_csv_cell(table->to, row->provider);
    (void)fputc(',', table->to);
    write_csv_cell(table->to, name);
    (void)fprintf(table->to, ",%s,%.15g\n", row->type, row->value);
}

static void write_json_row(struct counter_table *table, const struct counter_row *row, int64_t time)
{
    char text[64];
    struct json *json = &table->json;
    json_open(json, NULL, '{');
    json_write_string(json, "timestamp",
                      format_utc_time(time, "%Y-%m-%d %H:%M:%SZ", text, sizeof text));
    json_write_string(json, "provider", row->provider);
    json_write_string(json, "name", row->label);
    json_write_string(json, "tags", row->tags);
    json_write_string(json, "counterType", row->type);
    json_write_float(json, "value", row->value);
    json_close(json, '}');
}

static void print_counter_line(const struct counter_table *table, const struct counter_row *row)
{
    char name[2 * PART], plain[2 * PART];
    (void)snprintf(name, sizeof name, "%s%s%s%s", row->label, row->tags[0] ? " [" : "", row->tags,
                   row->tags[0] ? "]" : "");
    (void)fprintf(table->to, "    %-58.*s %18.10g\n", 120, term_plain(name, plain, sizeof plain),
                  row->value);
}

static int compare_providers(const void *a, const void *b)
{
    const struct counter_row *x = a, *y = b;
    int order = strcmp(x->provider, y->provider);
    order = order ? order : strcmp(x->label, y->label);
    return order ? order : strcmp(x->tags, y->tags);
}

/* Prints all rows, grouped by provider. A live table first clears the screen. */
static void draw_table(struct counter_table *table)
{
    char text[64], plain[PART];
    const char *provider = "";
    qsort(table->rows, table->rows_n, sizeof *table->rows, compare_providers);
    if (table->is_live)
        (void)fputs("\x1b[H\x1b[J", table->to);
    (void)fprintf(table->to, "%s  %s\n", term_plain(table->what, plain, sizeof plain),
                  format_utc_time(table->shown_at, "%H:%M:%S", text, sizeof text));
    for (size_t i = 0; i < table->rows_n; i++) {
        if (strcmp(provider, table->rows[i].provider) != 0)
            (void)fprintf(table->to, "%s\n",
                          term_plain(table->rows[i].provider, plain, sizeof plain));
        provider = table->rows[i].provider;
        print_counter_line(table, &table->rows[i]);
    }
}

void counter_table_write_head(struct counter_table *table)
{
    char text[64];
    if (table->show == COUNTER_CSV)
        (void)fputs("Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n", table->to);
    if (table->show != COUNTER_JSON)
        return;
    table->json = (struct json){.to = table->to};
    json_open(&table->json, NULL, '{');
    json_write_string(&table->json, "TargetProcess", table->what);
    json_write_string(
        &table->json, "StartTime",
        format_utc_time((int64_t)time(NULL) * 1000000000, "%m/%d/%Y %H:%M:%S", text, sizeof text));
    json_open(&table->json, "Events", '[');
}

void counter_table_flush(struct counter_table *table)
{
    if (!table->is_fresh)
        return;
    table->is_fresh = false;
    if (table->show == COUNTER_TABLE)
        draw_table(table);
    if (fflush(table->to) != 0 && !table->reason)
        table->reason = errno;
}

void counter_table_end(struct counter_table *table)
{
    counter_table_flush(table);
    if (table->show != COUNTER_JSON)
        return;
    json_close(&table->json, ']');
    json_close(&table->json, '}');
}

/* Replaces the value in the row of a counter, which is added if it is new. Formats other than a
 * table print the value at once. */
static void store_counter_value(struct counter_table *table, const struct counter_sample *said,
                                ttr_text tags, double value)
{
    struct counter_row *row = find_counter_row(table, said, tags);
    if (!row)
        return;
    row->value = value;
    table->rows_seen++;
    table->is_fresh = true;
    table->shown_at = said->time;
    if (table->show == COUNTER_CSV)
        write_csv_row(table, row, said->time);
    else if (table->show == COUNTER_JSON)
        write_json_row(table, row, said->time);
}

void counter_table_add(struct counter_table *table, const ttr *t, const ttr_event *event)
{
    struct counter_sample said;
    struct counter_value value = {0};
    if (!read_counter_event(t, event, &said) || !is_counter_selected(table->wanted, &said))
        return;
    while (read_next_value(&said, &value))
        store_counter_value(table, &said, (ttr_text){value.tags, strlen(value.tags)}, value.number);
}
