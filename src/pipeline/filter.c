/* Filter: returns each batch of the input with a list of the indices of matching events; events are
 * not copied.
 *
 * Each condition matches a pattern once per string id and caches the result. Definitions always
 * match, also if the filter is inverted. Objects and gaps describe the trace rather than a point in
 * time: they match if only time, thread, process and CPU are filtered. */
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/self_zones.h"
#include "base/status.h"
#include "expression/expression.h"
#include "model/context.h"
#include "model/reader.h"
#include "pipeline/glob.h"
#include "pipeline/stage_notes.h"

enum verdict { UNDECIDED = 0, NO = 1, YES = 2 };

/* A condition on a string: one of several patterns must match. A thread or process may match by its
 * number instead. */
struct condition {
    char **glob; /* the patterns; NULL = no condition */
    uint64_t *number;
    bool *is_number;
    size_t n;
    uint8_t *verdict; /* indexed by string id: cached result of matching */
    size_t verdicts_n;
};

/* A range of CPUs, first to last inclusive. */
struct cpus {
    uint64_t first, last;
};

struct filter {
    ttr_reader base;
    ttr_reader *in;
    struct arena arena; /* memory for copies of the patterns */
    ttr_filter what;    /* the conditions other than lists, from the caller */
    struct condition names, not_names, categories, providers, threads, processes;
    struct expression *where; /* NULL = none */
    uint32_t *match;          /* indices of the events that match all other conditions ... */
    uint8_t *truth;           /* ... and what `where` is for them */
    size_t match_room, truth_room;
    struct cpus *cpus; /* ranges of CPUs; one must contain the event's CPU; NULL = no condition */
    size_t cpus_n;
    bool spares_objects;
    /* events left out because their process, thread or CPU is unknown; offset of the first */
    uint64_t unknown, first_unknown;
    struct stage_notes stage_notes;
    uint32_t *pick;
    size_t pick_room;
    bool is_out_of_memory;
};

void ttr_filter_init(ttr_filter *filter)
{
    *filter = (ttr_filter){.size = sizeof *filter, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
}

static void filter_close(ttr_reader *base)
{
    struct filter *filter = (struct filter *)base;
    const struct alloc *alloc = &base->t->counted;
    struct condition *conditions[] = {&filter->names,     &filter->not_names, &filter->categories,
                                      &filter->providers, &filter->threads,   &filter->processes};
    ttr_close(filter->in);
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++)
        alloc_free(alloc, conditions[i]->verdict, conditions[i]->verdicts_n, 1);
    alloc_free(alloc, filter->pick, filter->pick_room, sizeof *filter->pick);
    alloc_free(alloc, filter->match, filter->match_room, sizeof *filter->match);
    alloc_free(alloc, filter->truth, filter->truth_room, 1);
    expression_free(filter->where);
    arena_free(&filter->arena);
    stage_notes_free(&filter->stage_notes);
    alloc_free(alloc, filter, 1, sizeof *filter);
}

/* Returns the address of the cached match result of a string id. Returns NULL if memory runs
 * out. */
static uint8_t *cached_match_entry(struct filter *filter, struct condition *condition, ttr_id id)
{
    size_t before = condition->verdicts_n;
    if (id < before)
        return &condition->verdict[id];
    if (!alloc_reserve(&filter->base.t->counted, (void **)&condition->verdict,
                       &condition->verdicts_n, (size_t)id + 1, 1)) {
        filter->is_out_of_memory = true;
        return NULL;
    }
    memset(condition->verdict + before, UNDECIDED, condition->verdicts_n - before);
    return &condition->verdict[id];
}

static bool matches_any(const struct condition *condition, ttr_text text)
{
    for (size_t i = 0; i < condition->n; i++)
        if (glob_matches(condition->glob[i], text))
            return true;
    return false;
}

/* Returns true if a pattern matches the complete text or one of its comma-separated parts. */
static bool text_or_part_matches(const struct condition *condition, ttr_text text)
{
    const char *end = text.p + text.n;
    if (matches_any(condition, text))
        return true;
    for (const char *part = text.p; part < end;) {
        const char *comma = memchr(part, ',', (size_t)(end - part));
        const char *stop = comma ? comma : end;
        if (matches_any(condition, (ttr_text){part, (size_t)(stop - part)}))
            return true;
        part = stop + 1;
    }
    return false;
}

static bool string_matches(struct filter *filter, struct condition *condition, ttr_id id)
{
    if (!condition->glob)
        return true;
    uint8_t *verdict = cached_match_entry(filter, condition, id);
    if (!verdict)
        return false;
    if (*verdict == UNDECIDED) {
        ttr_text text = ttr_text_get(filter->base.t, id);
        bool matches = condition == &filter->categories ? text_or_part_matches(condition, text)
                                                        : matches_any(condition, text);
        *verdict = matches ? YES : NO;
    }
    return *verdict == YES;
}

static bool number_matches(const struct condition *condition, uint64_t number)
{
    for (size_t i = 0; i < condition->n; i++)
        if (condition->is_number[i] && condition->number[i] == number)
            return true;
    return false;
}

/* Returns true if the number or the current name of a thread or process matches. Names are not
 * cached per thread, because they change: a process has its parent's name until exec. */
static bool thread_matches(struct filter *filter, struct condition *condition, ttr_id id)
{
    ttr_thread thread;
    if (!condition->glob)
        return true;
    if (!ttr_thread_get(filter->base.t, id, &thread))
        return false;
    bool by_process = condition == &filter->processes;
    bool has_number = by_process ? thread.pid_known : thread.tid_known;
    ttr_id name = by_process ? thread.process_name : thread.thread_name;
    return (has_number && number_matches(condition, by_process ? thread.pid : thread.tid)) ||
           (name && string_matches(filter, condition, name));
}

static bool cpu_matches(const struct filter *filter, const ttr_event *event)
{
    if (!filter->cpus)
        return true;
    for (size_t i = 0; event->flags & TTR_EVENT_HAS_CPU && i < filter->cpus_n; i++)
        if (filter->cpus[i].first <= event->cpu && event->cpu <= filter->cpus[i].last)
            return true;
    return false;
}

static bool has_number_pattern(const struct condition *condition)
{
    for (size_t i = 0; i < condition->n; i++)
        if (condition->is_number[i])
            return true;
    return false;
}

/* Counts an event that is left out only because its process, thread or CPU is unknown. */
static void count_unknown(struct filter *filter, const ttr_event *event)
{
    ttr_thread thread = {.pid_known = false};
    bool has_thread = ttr_thread_get(filter->base.t, event->thread, &thread);
    bool is_process_unknown =
        filter->processes.glob &&
        (!has_thread || (!thread.pid_known && has_number_pattern(&filter->processes)));
    bool is_thread_unknown =
        filter->threads.glob &&
        (!has_thread || (!thread.tid_known && has_number_pattern(&filter->threads)));
    bool is_cpu_unknown = filter->cpus && !(event->flags & TTR_EVENT_HAS_CPU);
    if (!is_process_unknown && !is_thread_unknown && !is_cpu_unknown)
        return;
    if (filter->unknown++ == 0)
        filter->first_unknown = event->offset;
}

static bool origin_matches(struct filter *filter, const ttr_event *event)
{
    if (cpu_matches(filter, event) && thread_matches(filter, &filter->threads, event->thread) &&
        thread_matches(filter, &filter->processes, event->thread))
        return true;
    if (!filter->what.invert)
        count_unknown(filter, event);
    return false;
}

/* Returns true if the name of an event matches, or the name that it has in the trace, if a stage
 * has interpreted it. */
static bool name_matches(struct filter *filter, struct condition *condition, const ttr_event *event)
{
    const ttr_id original = context_schema(filter->base.t, event->schema)->class_name;
    return string_matches(filter, condition, event->name) ||
           (original && original != event->name && string_matches(filter, condition, original));
}

static bool event_matches(struct filter *filter, const ttr_event *event)
{
    const ttr_filter *what = &filter->what;
    if (what->kinds && (event->kind >= TTR_KIND_COUNT || !(what->kinds >> event->kind & 1)))
        return false;
    if (event->level && event->level < what->min_level)
        return false;
    return event_is_in_range(event, what->from_ns, what->to_ns) &&
           name_matches(filter, &filter->names, event) &&
           (!filter->not_names.glob || !name_matches(filter, &filter->not_names, event)) &&
           string_matches(filter, &filter->categories, event->category) &&
           string_matches(filter, &filter->providers, event->provider) &&
           origin_matches(filter, event);
}

static bool always_passes(const struct filter *filter, const ttr_event *event)
{
    return event->kind == TTR_KIND_DEFINITION ||
           (filter->spares_objects &&
            (event->kind == TTR_KIND_OBJECT || event->kind == TTR_KIND_GAP));
}

/* Copies the indices of the events that pass all conditions but `where` to filter->pick. Returns
 * their number. */
static uint32_t pick_without_where(struct filter *filter, const ttr_batch *all)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        const uint32_t at = all->pick ? all->pick[i] : i;
        const ttr_event *event = &all->event[at];
        filter->pick[n] = at;
        n += always_passes(filter, event) || event_matches(filter, event) != filter->what.invert;
    }
    return n;
}

/* Copies the indices of the events that pass to filter->pick: `where` is evaluated for those that
 * match all other conditions. Sets *n to their number. */
static ttr_status pick_with_where(struct filter *filter, const ttr_batch *all, uint32_t *n,
                                  ttr_error *error)
{
    uint32_t matches = 0, next = 0;
    if (!alloc_reserve(&filter->base.t->counted, (void **)&filter->match, &filter->match_room,
                       all->n, sizeof *filter->match) ||
        !alloc_reserve(&filter->base.t->counted, (void **)&filter->truth, &filter->truth_room,
                       all->n, 1))
        return fail_memory(error);
    for (uint32_t i = 0; i < all->n; i++) {
        const uint32_t at = all->pick ? all->pick[i] : i;
        filter->match[matches] = at;
        matches +=
            !always_passes(filter, &all->event[at]) && event_matches(filter, &all->event[at]);
    }
    const ttr_status status =
        expression_select(filter->where, all->event, filter->match, matches, filter->truth, error);
    for (uint32_t i = 0; status == TTR_OK && i < all->n; i++) {
        const uint32_t at = all->pick ? all->pick[i] : i;
        bool is_match = next < matches && filter->match[next] == at;
        if (is_match)
            is_match = filter->truth[next++] == TRUTH_TRUE;
        filter->pick[*n] = at;
        *n += always_passes(filter, &all->event[at]) || is_match != filter->what.invert;
    }
    return status;
}

static ttr_status filter_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    SELF_ZONE(order, "filter batch");
    struct filter *filter = (struct filter *)base;
    ttr_batch all;
    uint32_t n = 0;
    while (n == 0) {
        ttr_status status = ttr_read(filter->in, &all, error);
        if (status != TTR_OK)
            return status;
        if (!alloc_reserve(&base->t->counted, (void **)&filter->pick, &filter->pick_room, all.n,
                           sizeof *filter->pick))
            return fail_memory(error);
        if (!filter->where)
            n = pick_without_where(filter, &all);
        else if ((status = pick_with_where(filter, &all, &n, error)) != TTR_OK)
            return status;
        if (filter->is_out_of_memory)
            return fail_memory(error);
    }
    *batch = (ttr_batch){.event = all.event, .pick = n == all.n ? all.pick : filter->pick, .n = n};
    return TTR_OK;
}

static bool filter_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct filter *filter = (struct filter *)base;
    struct diagnostics *notes = &filter->stage_notes.notes;
    if (!ttr_reader_report(filter->in, index, report))
        return false;
    if (index > 0 || !filter->unknown)
        return true;
    if (notes->n == 0)
        stage_notes_add(&filter->stage_notes, TTR_SEVERITY_ODD, filter->first_unknown,
                        "filter.unknown",
                        "an event without the process, thread or CPU that the filter asks for");
    if (notes->n > 0)
        notes->note[0].count = filter->unknown;
    stage_notes_report(&filter->stage_notes, report);
    return true;
}

static void filter_assign_ranks(ttr_reader *base, uint32_t *next)
{
    reader_assign_ranks(((struct filter *)base)->in, next);
}

static struct input *filter_get_input(ttr_reader *base, size_t index)
{
    return reader_get_input(((struct filter *)base)->in, index);
}

static void filter_set_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    reader_set_range(((struct filter *)base)->in, from_ns, to_ns);
}

static void filter_set_batch_size(ttr_reader *base, uint32_t batch)
{
    reader_set_batch_size(((struct filter *)base)->in, batch);
}

/* Implements reader_ops.allow_stream_order. Returns false if names are filtered: the name of a
 * thread at a given time is only known when events are read in time order. */
static bool filter_allow_stream_order(ttr_reader *base)
{
    struct filter *filter = (struct filter *)base;
    return !filter->threads.glob && !filter->processes.glob &&
           !(filter->where && expression_uses_threads(filter->where)) &&
           reader_allow_stream_order(filter->in);
}

static uint32_t filter_get_kinds(ttr_reader *base)
{
    return reader_get_kinds(((struct filter *)base)->in);
}

static struct diagnostics *filter_get_diagnostics(ttr_reader *base)
{
    return reader_get_diagnostics(((struct filter *)base)->in);
}

/* Copies a list of patterns; patterns that are numbers ("17", "0x1f") are also stored as
 * numbers. */
static bool copy_condition(struct filter *filter, struct condition *condition,
                           const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    if (n == 0)
        return true;
    condition->glob = arena_alloc(&filter->arena, n * sizeof *condition->glob);
    condition->number = arena_alloc(&filter->arena, n * sizeof *condition->number);
    condition->is_number = arena_alloc(&filter->arena, n * sizeof *condition->is_number);
    if (!condition->glob || !condition->number || !condition->is_number)
        return false;
    for (; condition->n < n; condition->n++) {
        const char *pattern = list[condition->n];
        condition->is_number[condition->n] =
            number_parse_u64(pattern, strlen(pattern), &condition->number[condition->n]);
        condition->glob[condition->n] = arena_copy(&filter->arena, pattern, strlen(pattern));
        if (!condition->glob[condition->n])
            return false;
    }
    return true;
}

static bool copy_conditions(struct filter *filter, const ttr_filter *what)
{
    return copy_condition(filter, &filter->names, what->names) &&
           copy_condition(filter, &filter->not_names, what->not_names) &&
           copy_condition(filter, &filter->categories, what->categories) &&
           copy_condition(filter, &filter->providers, what->providers) &&
           copy_condition(filter, &filter->threads, what->threads) &&
           copy_condition(filter, &filter->processes, what->processes);
}

/* Parses a CPU number or range, such as "3" or "4-7". */
static bool parse_cpu_range(const char *text, size_t n, struct cpus *cpus)
{
    const char *dash = memchr(text, '-', n);
    const size_t first_n = dash ? (size_t)(dash - text) : n;
    if (!number_parse_u64(text, first_n, &cpus->first))
        return false;
    cpus->last = cpus->first;
    return !dash ||
           (number_parse_u64(dash + 1, n - first_n - 1, &cpus->last) && cpus->first <= cpus->last);
}

static ttr_status copy_cpus(struct filter *filter, const char *const *list, ttr_error *error)
{
    size_t most = 0;
    for (size_t i = 0; list && list[i]; i++)
        most += strlen(list[i]) + 1; /* no text yields more ranges than it has bytes */
    if (most == 0)
        return TTR_OK;
    filter->cpus = arena_alloc(&filter->arena, most * sizeof *filter->cpus);
    if (!filter->cpus)
        return fail_memory(error);
    for (; *list; list++) {
        const char *part = *list;
        for (size_t n;; part += n + 1) {
            n = strcspn(part, ",");
            if (!parse_cpu_range(part, n, &filter->cpus[filter->cpus_n++]))
                return fail(error, TTR_E_MISUSE, NO_OFFSET,
                            "\"%s\" are no CPUs: numbers and ranges are wanted, like \"0,4-7\"",
                            *list);
            if (!part[n])
                break;
        }
    }
    return TTR_OK;
}

ttr_reader *ttr_filter_new(ttr_reader *in, const ttr_filter *what, ttr_error *error)
{
    static const struct reader_ops ops = {.next = filter_read_batch,
                                          .close = filter_close,
                                          .range = filter_set_range,
                                          .set_batch_size = filter_set_batch_size,
                                          .allow_stream_order = filter_allow_stream_order,
                                          .kinds = filter_get_kinds,
                                          .report = filter_get_report,
                                          .rank = filter_assign_ranks,
                                          .input = filter_get_input,
                                          .notes = filter_get_diagnostics};
    if (!in)
        return NULL;
    ttr *t = in->t;
    struct filter *filter =
        what->size == sizeof *what ? alloc_zero(&t->counted, 1, sizeof *filter) : NULL;
    if (!filter) {
        ttr_close(in);
        (void)(what->size == sizeof *what ? fail_memory(error)
                                          : fail(error, TTR_E_MISUSE, NO_OFFSET,
                                                 "a ttr_filter must be made by ttr_filter_init"));
        return NULL;
    }
    filter->base = (ttr_reader){.t = t,
                                .ops = &ops,
                                .order = in->order,
                                .per_source_format = in->per_source_format,
                                .reports = in->reports};
    filter->in = in;
    filter->what = *what;
    arena_init(&filter->arena, &t->counted);
    stage_notes_init(&filter->stage_notes, &t->counted);
    ttr_status status =
        copy_conditions(filter, what) ? copy_cpus(filter, what->cpus, error) : fail_memory(error);
    if (status == TTR_OK && what->where) {
        filter->where = expression_new(t, what->where, error);
        status = filter->where ? TTR_OK : TTR_E_MISUSE;
    }
    if (status != TTR_OK) {
        filter_close(&filter->base);
        return NULL;
    }
    filter->spares_objects = !what->where && !filter->names.glob && !filter->not_names.glob &&
                             !filter->categories.glob && !filter->providers.glob && !what->kinds &&
                             !what->min_level;
    if (!what->invert && (what->from_ns != INT64_MIN || what->to_ns != INT64_MAX))
        reader_set_range(in, what->from_ns, what->to_ns);
    return &filter->base;
}
