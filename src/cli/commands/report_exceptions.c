/* report exceptions: counts the exceptions of .NET programs by type, with the first message of
 * each. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/reports.h"
#include "cli/ui/messages.h"

struct thrown {
    ttr_id type, message;
    uint64_t count;
    int64_t first_ns, last_ns;
};

struct exceptions {
    struct thrown *row;
    size_t n, room;
    uint32_t *row_of; /* row of each exception type, plus 1; indexed by string id of the type */
    size_t types_n;
    uint64_t count;
};

static struct thrown *find_or_add_row(struct exceptions *all, ttr_id type)
{
    if (type >= all->types_n) {
        size_t n = (size_t)type * 2 + 64;
        uint32_t *grown = reallocarray(all->row_of, n, sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + all->types_n, 0, (n - all->types_n) * sizeof *grown);
        all->row_of = grown;
        all->types_n = n;
    }
    if (all->row_of[type])
        return &all->row[all->row_of[type] - 1];
    if (all->n == all->room) {
        size_t room = all->room ? all->room * 2 : 32;
        struct thrown *grown = reallocarray(all->row, room, sizeof *grown);
        if (!grown)
            return NULL;
        all->row = grown;
        all->room = room;
    }
    all->row[all->n] = (struct thrown){.type = type};
    all->row_of[type] = (uint32_t)all->n + 1;
    return &all->row[all->n++];
}

static bool add_exception(struct event_report *event_report, const ttr_event *event)
{
    struct exceptions *all = event_report->ctx;
    if (!is_event_named(event_report, event, "ExceptionThrown"))
        return true;
    struct thrown *row = find_or_add_row(all, get_event_text(event_report, event, "ExceptionType"));
    if (!row)
        return false;
    if (row->count++ == 0) {
        row->first_ns = event->time;
        row->message = get_event_text(event_report, event, "ExceptionMessage");
    }
    row->last_ns = event->time;
    all->count++;
    return true;
}

static int compare_counts(const void *left, const void *right)
{
    const struct thrown *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

static void write_exceptions_json(struct event_report *event_report, const struct exceptions *all,
                                  size_t rows)
{
    struct json *json = &event_report->json;
    json_write_uint(json, "exceptions", all->count);
    json_open(json, "rows", '[');
    for (size_t i = 0; i < rows; i++) {
        json_open(json, NULL, '{');
        json_write_text(json, "type", ttr_text_get(event_report->inputs.t, all->row[i].type));
        json_write_uint(json, "count", all->row[i].count);
        json_write_time(json, "first_ns", all->row[i].first_ns);
        json_write_time(json, "last_ns", all->row[i].last_ns);
        json_write_text(json, "first_message",
                        ttr_text_get(event_report->inputs.t, all->row[i].message));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void show_exceptions(struct event_report *event_report)
{
    struct exceptions *all = event_report->ctx;
    const struct terminal *term = &event_report->call->term;
    size_t rows = get_report_row_limit(event_report, all->n);
    if (all->n)
        qsort(all->row, all->n, sizeof *all->row, compare_counts);
    if (event_report->call->set.json) {
        write_exceptions_json(event_report, all, rows);
        return;
    }
    (void)printf("%s%10s  %s%s\n", term_ink(term, INK_BOLD), "thrown", "type: message of the first",
                 term_ink(term, INK_PLAIN));
    for (size_t i = 0; i < rows; i++) {
        ttr_text type = ttr_text_get(event_report->inputs.t, all->row[i].type);
        (void)printf("%10s  ", units_count(all->row[i].count).s);
        const ttr_text message = ttr_text_get(event_report->inputs.t, all->row[i].message);
        const size_t room = (size_t)(term->width > 40 ? term->width - 14 : 26);
        const ttr_text shown = type.n ? type : (ttr_text){"(no type)", 9};
        const size_t for_type = term_columns(shown) < room / 2 ? term_columns(shown) : room / 2;
        term_shorten(term, shown, for_type);
        (void)fputs(": ", stdout);
        term_shorten(term, message, room - for_type);
        (void)putchar('\n');
    }
    if (rows < all->n)
        print_note(event_report->call, "%zu more rows", all->n - rows);
    if (all->count == 0)
        print_note(event_report->call,
                   "no exceptions: they are recorded with the keyword Exception (0x8000)");
}

int report_exceptions(struct call *call)
{
    struct exceptions all = {0};
    struct event_report event_report = {.call = call,
                                        .ctx = &all,
                                        .add = add_exception,
                                        .show = show_exceptions,
                                        .schema = "tracetta.exceptions/1"};
    int outcome = run_event_report(&event_report);
    free(all.row);
    free(all.row_of);
    return outcome;
}
