/* ttr_interpret: a reader that changes events by the rules of their classes.
 *
 * Events are changed in the buffer of the input, and batches are parts of the input's batches. A
 * batch ends before an event that renames a thread, and before one with pending ends, which are a
 * batch of their own. A class of events is looked up by its schema: one load shows whether a rule
 * applies. */
#include <tracetta/event_class.h>
#include <tracetta/meaning.h>

#include <string.h>

#include "base/status.h"
#include "meaning/meaning.h"

#define BATCH 64u /* end events per batch */

/* Values of meaning.rule_of; 0 = not compiled yet. */
#define UNCHANGED 1u   /* no rule applies to the event */
#define THREAD_ONLY 2u /* no rule applies, but the event gets the running thread of its CPU */
#define FIRST_RULE 3u  /* a rule applies: FIRST_RULE plus its index */

static void meaning_close(ttr_reader *base)
{
    struct meaning *meaning = (struct meaning *)base;
    const struct alloc *alloc = &base->t->counted;
    series_schemas_free(meaning);
    ttr_close(meaning->in);
    for (size_t i = 0; i < meaning->machines_n; i++) {
        alloc_free(alloc, meaning->machine[i]->cpu, meaning->machine[i]->cpus_n,
                   sizeof *meaning->machine[i]->cpu);
        alloc_free(alloc, meaning->machine[i], 1, sizeof *meaning->machine[i]);
    }
    alloc_free(alloc, meaning->machine, meaning->machines_capacity, sizeof *meaning->machine);
    alloc_free(alloc, meaning->source, meaning->sources_n, sizeof *meaning->source);
    alloc_free(alloc, meaning->task, meaning->tasks_n, sizeof *meaning->task);
    alloc_free(alloc, meaning->track, meaning->tracks_n, sizeof *meaning->track);
    alloc_free(alloc, meaning->rule, meaning->rules_capacity, sizeof *meaning->rule);
    alloc_free(alloc, meaning->rule_of, meaning->rule_of_n, sizeof *meaning->rule_of);
    alloc_free(alloc, meaning->pending_ends, meaning->pending_ends_capacity,
               sizeof *meaning->pending_ends);
    pair_map_free(&meaning->rule_by_name);
    pair_map_free(&meaning->async);
    pair_map_free(&meaning->flow_of);
    alloc_free(alloc, meaning->flow, meaning->flow ? FLOWS_MAX : 0, sizeof *meaning->flow);
    pair_map_free(&meaning->name_of);
    alloc_free(alloc, meaning->pair, meaning->pairs_capacity, sizeof *meaning->pair);
    arena_free(&meaning->arena);
    spans_free(&meaning->spans);
    stage_notes_free(&meaning->notes);
    alloc_free(alloc, meaning, 1, sizeof *meaning);
}

/* --- Rules of classes --- */

/* Compiles the rule of an event's class. Returns a value of rule_of; 0 if memory runs out. */
static uint32_t add_rule(struct meaning *meaning, unsigned worlds, const ttr_event *event)
{
    ttr *t = meaning->base.t;
    bool is_out_of_memory = false;
    struct compiled_rule compiled;
    if (!rule_compile_pair(t, meaning->pair, meaning->pairs_n, event, &compiled,
                           &is_out_of_memory) &&
        !rule_compile(t, worlds, event, &compiled, &is_out_of_memory))
        return worlds & RULE_KERNEL ? THREAD_ONLY : UNCHANGED;
    if (compiled.rule->action == RULE_COUNTER || compiled.rule->action == RULE_NAMED_COUNTER) {
        compiled.series = series_schema_add(meaning, &compiled, event);
        is_out_of_memory |= !compiled.series;
    }
    if (is_out_of_memory ||
        !alloc_reserve(&t->counted, (void **)&meaning->rule, &meaning->rules_capacity,
                       meaning->rules_n + 1, sizeof *meaning->rule))
        return 0;
    meaning->rule[meaning->rules_n] = compiled;
    return FIRST_RULE + (uint32_t)meaning->rules_n++;
}

/* Returns true if all events of a schema have the same name. */
static bool has_one_class(const ttr *t, const ttr_event *event)
{
    const struct schema *schema = context_schema(t, event->schema);
    return event->schema && (schema->event_class || schema->class_name || schema->has_number ||
                             (schema->ops && schema->ops->locate));
}

/* Finds the rule for an event with a schema that is seen for the first time, or is shared by
 * classes. */
static uint32_t find_rule(struct meaning *meaning, unsigned worlds, const ttr_event *event)
{
    ttr *t = meaning->base.t;
    const size_t before = meaning->rule_of_n;
    if (!has_one_class(t, event)) {
        const uint32_t *known = pair_map_get(&meaning->rule_by_name, event->schema, event->name);
        if (known)
            return *known;
        const uint32_t found = add_rule(meaning, worlds, event);
        return found && pair_map_put(&meaning->rule_by_name, event->schema, event->name, found)
                   ? found
                   : 0;
    }
    if (event->schema >= before) {
        if (!alloc_reserve(&t->counted, (void **)&meaning->rule_of, &meaning->rule_of_n,
                           (size_t)event->schema + 1, sizeof *meaning->rule_of))
            return 0;
        memset(meaning->rule_of + before, 0,
               (meaning->rule_of_n - before) * sizeof *meaning->rule_of);
    }
    if (!meaning->rule_of[event->schema] && !(event->flags & TTR_EVENT_PARTIAL)) {
        meaning->rule_of[event->schema] = add_rule(meaning, worlds, event);
        if (meaning->rule_of[event->schema] >= FIRST_RULE)
            t->schemas[event->schema].class_name = event->name;
    }
    return event->flags & TTR_EVENT_PARTIAL && !meaning->rule_of[event->schema]
               ? THREAD_ONLY
               : meaning->rule_of[event->schema];
}

static inline uint32_t get_event_rule(struct meaning *meaning, unsigned worlds,
                                      const ttr_event *event)
{
    const uint32_t known = event->schema < meaning->rule_of_n ? meaning->rule_of[event->schema] : 0;
    return known ? known : find_rule(meaning, worlds, event);
}

/* --- Events --- */

/* Replaces the idle thread that all CPUs share by that of the event's CPU. */
static bool set_idle_thread(struct meaning *meaning, struct machine *machine, ttr_event *event)
{
    const struct task *task = meaning_get_task(meaning, event->thread);
    if (!task)
        return false;
    if (task->tid || !meaning->base.t->threads[event->thread].tid_known || !machine->has_switches ||
        !(event->flags & TTR_EVENT_HAS_CPU) || event->cpu > MEANING_CPU_MAX)
        return true;
    event->thread = meaning_find_or_add_thread(
        meaning, machine, 0, meaning_get_cpu(meaning, machine, event), event->cpu);
    return event->thread != 0;
}

/* Sets the thread of an event that has none to the thread that runs on its CPU. */
static inline bool set_running_thread(struct meaning *meaning, struct machine *machine,
                                      ttr_event *event)
{
    if (event->thread)
        return (event->thread < meaning->tasks_n && meaning->task[event->thread].tid) ||
               set_idle_thread(meaning, machine, event);
    if (event->flags & TTR_EVENT_HAS_CPU && event->cpu < machine->cpus_n)
        event->thread = machine->cpu[event->cpu].running;
    return true;
}

/* Applies a rule of mutexes or flows. */
static enum action_result apply_rare_rule(struct meaning *meaning, struct machine *machine,
                                          const struct compiled_rule *compiled, ttr_event *event)
{
    switch (compiled->rule->action) {
    case RULE_FLOW_BEGIN:
        return meaning_begin_flow(meaning, compiled, event);
    case RULE_FLOW_END:
        return meaning_end_flow(meaning, compiled, event);
    case RULE_BEGIN_OF_FLOW:
        return meaning_end_flow_before(meaning, compiled, event)
                   ? meaning_apply_span(meaning, machine, compiled, event)
                   : ACTION_OUT_OF_MEMORY;
    default:
        return meaning_apply_lock(meaning, compiled, event);
    }
}

static inline enum action_result apply_rule(struct meaning *meaning,
                                            const struct source_state *source,
                                            const struct compiled_rule *compiled, ttr_event *event)
{
    const uint8_t action = compiled->rule->action;
    if (action == RULE_CALL_BEGIN)
        return meaning_begin_call(meaning, source->machine, compiled, event);
    if (action == RULE_CALL_END)
        return meaning_end_call(meaning, source->machine, compiled, event);
    if (action > RULE_NAMED_COUNTER)
        return apply_rare_rule(meaning, source->machine, compiled, event);
    return action < RULE_NAME ? meaning_apply_thread_rule(meaning, source->machine, compiled, event)
                              : meaning_apply_span(meaning, source->machine, compiled, event);
}

static inline enum action_result interpret_event(struct meaning *meaning,
                                                 const struct source_state *source,
                                                 ttr_event *event)
{
    if (event->kind != TTR_KIND_INSTANT)
        return event->kind != TTR_KIND_GAP || meaning_apply_gap(meaning, source->machine, event)
                   ? ACTION_DONE
                   : ACTION_OUT_OF_MEMORY;
    if (source->has_cpu_field)
        meaning_set_cpu(meaning, event);
    if (source->worlds & RULE_KERNEL && !set_running_thread(meaning, source->machine, event))
        return ACTION_OUT_OF_MEMORY;
    const uint32_t rule = get_event_rule(meaning, source->worlds, event);
    if (rule >= FIRST_RULE)
        return apply_rule(meaning, source, &meaning->rule[rule - FIRST_RULE], event);
    return rule ? ACTION_DONE : ACTION_OUT_OF_MEMORY;
}

static inline const struct source_state *get_event_source(struct meaning *meaning,
                                                          const ttr_event *event)
{
    return event->source < meaning->sources_n && meaning->source[event->source].is_known
               ? &meaning->source[event->source]
               : meaning_get_source(meaning, event->source);
}

/* Returns an event of the input's batch. The buffer belongs to a reader of this library, which
 * lets stages change events until the next read (reader.h). */
static inline ttr_event *get_writable_event(const ttr_batch *batch, uint32_t i)
{
    return (ttr_event *)(uintptr_t)ttr_batch_at(batch, i);
}

/* Returns the index of the first event of the input's batch from `at` on that may change. */
static uint32_t skip_unchanged(const struct meaning *meaning, uint32_t at)
{
    const ttr_batch batch = meaning->batch;
    const uint32_t *rule_of = meaning->rule_of;
    const size_t rule_of_n = meaning->rule_of_n;
    for (; at < batch.n; at++) {
        const ttr_event *event = ttr_batch_at(&batch, at);
        if (event->kind != TTR_KIND_INSTANT || event->schema >= rule_of_n ||
            rule_of[event->schema] != UNCHANGED)
            break;
    }
    return at;
}

/* Interprets events of the input's batch up to its end, to an event with pending ends, or to one
 * that must start a new batch. Returns false if memory runs out. */
static bool interpret_batch(struct meaning *meaning)
{
    const ttr_batch batch = meaning->batch;
    const struct source_state *source = NULL;
    uint32_t last = UINT32_MAX; /* source of the event before */
    for (; !meaning->pending_ends_n; meaning->at++) {
        if (!source || !(source->worlds & RULE_KERNEL))
            meaning->at = skip_unchanged(meaning, meaning->at);
        if (meaning->at == batch.n)
            break;
        ttr_event *event = get_writable_event(&batch, meaning->at);
        if (event->source != last) {
            source = get_event_source(meaning, event);
            last = event->source;
        }
        if (!source)
            return false;
        if (!source->worlds)
            continue;
        const enum action_result result = interpret_event(meaning, source, event);
        if (result != ACTION_DONE)
            return result == ACTION_CUT;
    }
    return true;
}

/* Returns the events of the input's batch from `first` up to an index, which are at least one. */
static ttr_batch cut_events(struct meaning *meaning, uint32_t end)
{
    const ttr_batch *all = &meaning->batch;
    const uint32_t first = meaning->first;
    meaning->first = end;
    return (ttr_batch){.event = all->pick ? all->event : all->event + first,
                       .pick = all->pick ? all->pick + first : NULL,
                       .n = end - first};
}

/* Returns the next pending ends, at most BATCH of them. */
static ttr_batch return_pending_ends(struct meaning *meaning)
{
    const size_t left = meaning->pending_ends_n - meaning->pending_ends_at;
    const ttr_batch batch = {.event = meaning->pending_ends + meaning->pending_ends_at,
                             .n = left < BATCH ? (uint32_t)left : BATCH};
    meaning->pending_ends_at += batch.n;
    if (meaning->pending_ends_at == meaning->pending_ends_n)
        meaning->pending_ends_at = meaning->pending_ends_n = 0;
    return batch;
}

static ttr_status meaning_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    struct meaning *meaning = (struct meaning *)base;
    if (meaning->pending_ends_n) {
        *batch = return_pending_ends(meaning);
        return TTR_OK;
    }
    if (meaning->first == meaning->batch.n) {
        meaning->first = meaning->at = meaning->batch.n = 0;
        const ttr_status status = ttr_read(meaning->in, &meaning->batch, error);
        if (status != TTR_OK) {
            meaning->batch.n = 0;
            if (status == TTR_END)
                meaning_report_unused_pairs(meaning);
            return status;
        }
    }
    if (!interpret_batch(meaning))
        return fail_memory(error);
    /* the event that owes ends is the last one before `at`, and comes after them */
    const uint32_t end = meaning->at - (meaning->pending_ends_n > 0);
    *batch = end == meaning->first && meaning->pending_ends_n ? return_pending_ends(meaning)
                                                              : cut_events(meaning, end);
    return TTR_OK;
}

/* --- Reader --- */

static bool meaning_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct meaning *meaning = (struct meaning *)base;
    if (!ttr_reader_report(meaning->in, index, report))
        return false;
    if (index == 0)
        stage_notes_report(&meaning->notes, report);
    return true;
}

static void meaning_assign_ranks(ttr_reader *base, uint32_t *next)
{
    reader_assign_ranks(((struct meaning *)base)->in, next);
}

static struct input *meaning_get_input(ttr_reader *base, size_t index)
{
    return reader_get_input(((struct meaning *)base)->in, index);
}

static void meaning_set_range(ttr_reader *base, int64_t from_ns, int64_t to_ns)
{
    reader_set_range(((struct meaning *)base)->in, from_ns, to_ns);
}

static void meaning_set_batch_size(ttr_reader *base, uint32_t batch)
{
    reader_set_batch_size(((struct meaning *)base)->in, batch);
}

static struct diagnostics *meaning_get_diagnostics(ttr_reader *base)
{
    return reader_get_diagnostics(((struct meaning *)base)->in);
}

/* Returns true if a rule may apply to events of an input. Formats that declare their classes are
 * asked for the names; a live trace may declare more of them later. */
static bool rule_may_match_class(ttr_reader *in, size_t index, const ttr_report *report)
{
    ttr_event_class class = {.size = sizeof class};
    const unsigned worlds = meaning_find_rule_tables(in->t, report->source);
    if (report->source == 0) /* events of the program, which may be of any source */
        return true;
    const ttr_text path = report->path;
    bool is_live = false;
    for (size_t i = 0; i + 2 < path.n; i++)
        is_live |= memcmp(path.p + i, "://", 3) == 0;
    if (!worlds || is_live || strcmp(report->format, "ctf") != 0)
        return worlds != 0;
    for (size_t i = 0; ttr_reader_class(in, index, i, &class); i++)
        if (rule_may_match(worlds, class.name))
            return true;
    return false;
}

static bool may_match_any_class(ttr_reader *in)
{
    ttr_report report = {.size = sizeof report};
    size_t i = 0;
    uint32_t trace = UINT32_MAX; /* the inputs of a trace have the same classes */
    for (; ttr_reader_report(in, i, &report); i++) {
        if (report.trace != trace && rule_may_match_class(in, i, &report))
            return true;
        trace = report.trace;
    }
    return i == 0; /* no report yet: the inputs are unknown */
}

/* Returns true if the rules of a trace depend on earlier events of other streams. */
static bool rule_needs_order(ttr_reader *in)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(in, i, &report); i++)
        if (meaning_find_rule_tables(in->t, report.source) & (RULE_KERNEL | RULE_UST))
            return true;
    return false;
}

ttr_reader *ttr_interpret(ttr_reader *in, const ttr_interpret_options *options, ttr_error *error)
{
    static const struct reader_ops ops = {.next = meaning_read_batch,
                                          .close = meaning_close,
                                          .range = meaning_set_range,
                                          .set_batch_size = meaning_set_batch_size,
                                          .report = meaning_get_report,
                                          .rank = meaning_assign_ranks,
                                          .input = meaning_get_input,
                                          .notes = meaning_get_diagnostics};
    if (!in)
        return NULL;
    const bool is_misuse = options && options->size != sizeof *options;
    const bool has_pairs = !is_misuse && options && options->pairs && options->pairs[0];
    if (!is_misuse && !has_pairs && !may_match_any_class(in))
        return in;
    in = is_misuse || in->order == TTR_ORDER_TIME || (!has_pairs && !rule_needs_order(in))
             ? in
             : ttr_sort(in, error);
    if (!in)
        return NULL;
    struct meaning *meaning = is_misuse ? NULL : alloc_zero(&in->t->counted, 1, sizeof *meaning);
    if (!meaning) {
        ttr_close(in);
        (void)(is_misuse ? fail(error, TTR_E_MISUSE, NO_OFFSET,
                                "ttr_interpret: options.size must be sizeof the struct")
                         : fail_memory(error));
        return NULL;
    }
    meaning->base = (ttr_reader){.t = in->t,
                                 .ops = &ops,
                                 .order = in->order,
                                 .per_source_format = in->per_source_format,
                                 .reports = in->reports};
    meaning->in = in;
    const struct alloc *alloc = &in->t->counted;
    pair_map_init(&meaning->rule_by_name, alloc);
    pair_map_init(&meaning->async, alloc);
    pair_map_init(&meaning->flow_of, alloc);
    pair_map_init(&meaning->name_of, alloc);
    arena_init(&meaning->arena, alloc);
    spans_init(&meaning->spans, alloc);
    stage_notes_init(&meaning->notes, alloc);
    if (!meaning_add_call_names(meaning)) {
        meaning_close(&meaning->base);
        (void)fail_memory(error);
        return NULL;
    }
    if (options && meaning_add_pairs(meaning, options->pairs, error) != TTR_OK) {
        meaning_close(&meaning->base);
        return NULL;
    }
    return &meaning->base;
}

/* --- Originals and rules --- */

bool ttr_event_original(const ttr *t, const ttr_event *event, ttr_event *original)
{
    const struct schema *schema = context_schema(t, event->schema);
    *original = *event;
    if (!event->schema || !schema->class_name ||
        (event->kind == TTR_KIND_INSTANT && event->name == schema->class_name))
        return false;
    original->name = schema->class_name;
    original->kind = TTR_KIND_INSTANT;
    if (event->kind == TTR_KIND_COUNTER && schema->base_schema && schema->ops &&
        schema->ops != context_schema(t, schema->base_schema)->ops)
        original->schema = schema->base_schema;
    return true;
}

bool ttr_interpret_rule(size_t i, ttr_interpret_row *row)
{
    static const char *const results[] = {
        [RULE_SWITCH] = "switch",
        [RULE_WAKE] = "wake",
        [RULE_WAKE_LATE] = "wake, unless sched_waking is recorded",
        [RULE_WAKE_NEW] = "wake",
        [RULE_FORK] = "thread, process, parent",
        [RULE_EXEC] = "name of thread and process",
        [RULE_RENAME] = "name of thread",
        [RULE_EXIT] = "end of the open exit call",
        [RULE_FREE] = "end of thread",
        [RULE_SNAPSHOT] = "thread, process, parent",
        [RULE_NAME] = "name of an address",
        [RULE_CALL_BEGIN] = "begin",
        [RULE_CALL_END] = "end",
        [RULE_BEGIN] = "begin",
        [RULE_END] = "end",
        [RULE_ASYNC_BEGIN] = "async_begin",
        [RULE_ASYNC_END] = "async_end",
        [RULE_COUNTER] = "counter",
        [RULE_NAMED_COUNTER] = "counter with the name in the first field",
        [RULE_LOCK] = "end of the wait, async_begin of the hold",
        [RULE_UNLOCK] = "async_end of the hold",
        [RULE_FLOW_BEGIN] = "flow_begin",
        [RULE_FLOW_END] = "flow_end",
        [RULE_BEGIN_OF_FLOW] = "flow_end, begin",
    };
    const struct rule_table *table;
    const size_t size = row->size;
    for (size_t k = 0; size == sizeof *row && (table = rule_get_table(k)) != NULL;
         i -= table->n, k++) {
        if (i >= table->n)
            continue;
        const struct rule *rule = &table->rule[i];
        *row = (ttr_interpret_row){.size = size,
                                   .world = table->title,
                                   .events = rule->events,
                                   .becomes = results[rule->action],
                                   .name = rule->name,
                                   .category = rule->category};
        for (size_t f = 0; f < RULE_FIELDS_MAX; f++)
            row->fields[f] = rule->fields[f];
        return true;
    }
    return false;
}
