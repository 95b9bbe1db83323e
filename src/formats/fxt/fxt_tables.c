/* Provider sections: each provider of an FXT trace with its string table, thread table and clock.
 * Follows "Provider info metadata" to "Thread record" of the specification.
 *
 * Purpose: string and thread refs are indices into tables of the current provider. A section record
 * may name any of 2^32 providers, so the state of a provider must be small until it defines
 * something.
 *
 * Order of calls: fxt_provider_select (provider info, section, event) or
 * fxt_provider_select_default (first other record) sets reader->provider. Then the other functions
 * change the current provider.
 *
 * Data structure: a two-level page table, copied on the first write.
 *
 *   by_id: (id, 0) -> index ---> provider
 *       page[0]    ---> empty_first_page (shared): only slot 0, the empty string, is defined
 *       page[1..]  ---> empty_page (shared): nothing is defined
 *       page[k]    ---> after the first definition in it: 256 slots of this provider
 *       threads    ---> empty_page, or 256 slots of this provider
 *   slot = ~id of a string or thread; 0 = not defined
 *
 * Invariants: shared pages are never written. A provider keeps its address, because lazily decoded
 * fields refer to it. A provider that is introduced again keeps its tables, because streaming
 * writers repeat only its name. Cost: a lookup is two loads. A provider without definitions costs
 * its page pointers (1 KiB); each page used costs 1 KiB. After FXT_PROVIDERS_MAX providers, all
 * further ids share the state of the last one. Left out: removing providers, and checking that two
 * providers use different ids. */
#include "formats/fxt/fxt_read.h"

#include <stdio.h>

static const struct alloc *get_reader_alloc(const struct fxt_reader *reader)
{
    return &reader->in->base.t->counted;
}

static uint32_t *get_shared_page(struct fxt_reader *reader, uint32_t i)
{
    return i == 0 ? reader->empty_first_page : reader->empty_page;
}

/* Returns a page that may be written: if it is shared, replaces it by a copy for this provider.
 * Returns NULL if memory runs out. */
static uint32_t *get_writable_page(struct fxt_reader *reader, uint32_t **page,
                                   const uint32_t *shared)
{
    if (*page != shared)
        return *page;
    uint32_t *ctx = alloc_zero(get_reader_alloc(reader), FXT_PAGE_SLOTS, sizeof *ctx);
    if (!ctx)
        return NULL;
    memcpy(ctx, shared, FXT_PAGE_SLOTS * sizeof *ctx);
    *page = ctx;
    return ctx;
}

static void free_own_page(struct fxt_reader *reader, uint32_t *page, const uint32_t *shared)
{
    if (page != shared)
        alloc_free(get_reader_alloc(reader), page, FXT_PAGE_SLOTS, sizeof *page);
}

static bool init_provider(struct fxt_reader *reader, struct fxt_provider *provider, uint32_t id)
{
    ttr *t = reader->in->base.t;
    _Static_assert(FXT_THREADS == FXT_PAGE_SLOTS, "the thread table is a page");
    provider->common = &reader->common;
    provider->id = id;
    for (uint32_t i = 0; i < FXT_PAGES; i++)
        provider->page[i] = get_shared_page(reader, i);
    provider->threads = reader->empty_page;
    clock_math_init(&provider->clock, FXT_DEFAULT_FREQUENCY);
    provider->track = context_add_track(t, &(ttr_track){.number = id, .source = reader->in->id});
    provider->schema = context_add_schema(
        t, &(struct schema){.ops = &fxt_field_ops, .ctx = provider, .format = reader->in->format});
    provider->clock_index = input_add_clock(
        reader->in,
        &(ttr_clock){.name = "ticks", .provider = {"", 0}, .frequency = FXT_DEFAULT_FREQUENCY});
    return provider->track && provider->schema && provider->clock_index != SIZE_MAX;
}

static struct fxt_provider *add_provider(struct fxt_reader *reader, uint32_t id)
{
    const struct alloc *alloc = get_reader_alloc(reader);
    if (!alloc_reserve(alloc, (void **)&reader->providers, &reader->providers_capacity,
                       reader->providers_n + 1, sizeof *reader->providers))
        return NULL;
    struct fxt_provider *provider = alloc_zero(alloc, 1, sizeof *provider);
    if (!provider)
        return NULL;
    reader->providers[reader->providers_n++] = provider;
    return init_provider(reader, provider, id) ? provider : NULL;
}

static bool select_provider(struct fxt_reader *reader, uint32_t id, uint64_t kind, bool *is_new)
{
    const uint32_t *known = pair_map_get(&reader->by_id, id, kind);
    *is_new = !known;
    if (known) {
        reader->provider = reader->providers[*known];
        return true;
    }
    if (reader->providers_n >= FXT_PROVIDERS_MAX) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, reader->at, "fxt.providers",
                             "more than %u providers; the further ones share one state",
                             FXT_PROVIDERS_MAX);
        reader->provider = reader->providers[FXT_PROVIDERS_MAX - 1];
        return true;
    }
    struct fxt_provider *provider = add_provider(reader, id);
    if (!provider || !pair_map_put(&reader->by_id, id, kind, (uint32_t)reader->providers_n - 1))
        return false;
    reader->provider = provider;
    return true;
}

/* Range of ticks that can only be Unix time in ns. Writers without an anchor in their
 * initialization record use ticks of 1 ns since 1970; a clock that starts at boot would reach this
 * range after 36 years. The range decides only whether the clock is declared as Unix time. It does
 * not change the times of events. */
#define UNIX_TICKS_MIN ((uint64_t)1 << 60) /* ticks, in July 2006 */
#define UNIX_TICKS_END ((uint64_t)1 << 61) /* ticks, in January 2043 */

void fxt_provider_detect_unix_time(struct fxt_reader *reader)
{
    struct fxt_provider *provider = reader->provider;
    struct input *in = reader->in;
    for (uint32_t i = 0; i < in->n && !provider->is_unix_time_checked; i++) {
        const ttr_event *event = &in->events[i];
        if (event->track != provider->track || event->flags & TTR_EVENT_NO_TIME ||
            event->kind == TTR_KIND_DEFINITION)
            continue;
        provider->is_unix_time_checked = true;
        if (provider->is_anchored || provider->clock.frequency != FXT_DEFAULT_FREQUENCY ||
            event->ticks < UNIX_TICKS_MIN || event->ticks >= UNIX_TICKS_END)
            continue;
        input_set_clock_reference(in, provider->clock_index);
        input_add_diagnostic(
            in, TTR_SEVERITY_REMARK, event->offset, "fxt.unix-ticks",
            "no record contains the start of the clock, but its ticks are ns since 1970; "
            "taken for Unix times");
    }
}

bool fxt_provider_select(struct fxt_reader *reader, uint32_t id, bool *is_new)
{
    if (reader->provider)
        fxt_provider_detect_unix_time(reader);
    return select_provider(reader, id, 0, is_new);
}

bool fxt_provider_select_default(struct fxt_reader *reader)
{
    bool is_new;
    return select_provider(reader, 0, 1, &is_new);
}

void fxt_provider_set_name(struct fxt_reader *reader, ttr_id name)
{
    ttr *t = reader->in->base.t;
    struct fxt_provider *provider = reader->provider;
    provider->name = name;
    t->tracks[provider->track].name = name;
    reader->in->clocks[provider->clock_index].provider = ttr_text_get(t, name);
}

bool fxt_provider_set_string(struct fxt_reader *reader, uint32_t index, ttr_id text)
{
    uint32_t page = index / FXT_PAGE_SLOTS;
    uint32_t *slots =
        get_writable_page(reader, &reader->provider->page[page], get_shared_page(reader, page));
    if (!slots)
        return false;
    slots[index % FXT_PAGE_SLOTS] = ~text;
    return true;
}

bool fxt_provider_set_thread(struct fxt_reader *reader, uint32_t index, ttr_id thread)
{
    uint32_t *slots = get_writable_page(reader, &reader->provider->threads, reader->empty_page);
    if (!slots)
        return false;
    slots[index] = ~thread;
    return true;
}

void fxt_provider_set_clock(struct fxt_reader *reader, uint64_t frequency)
{
    struct fxt_provider *provider = reader->provider;
    provider->is_unix_time_checked = false;
    clock_math_init(&provider->clock, frequency);
    reader->in->clocks[provider->clock_index].frequency = frequency;
}

void fxt_provider_set_clock_reference(struct fxt_reader *reader, uint64_t base_ticks,
                                      int64_t anchor_ns)
{
    struct fxt_provider *provider = reader->provider;
    ttr_clock *clock = &reader->in->clocks[provider->clock_index];
    provider->base_ticks = clock->anchor_ticks = base_ticks;
    provider->anchor_ns = clock->anchor_ns = anchor_ns;
    provider->is_anchored = true;
    input_set_clock_reference(reader->in, provider->clock_index);
}

void fxt_free_providers(struct fxt_reader *reader)
{
    const struct alloc *alloc = get_reader_alloc(reader);
    for (size_t i = 0; i < reader->providers_n; i++) {
        struct fxt_provider *provider = reader->providers[i];
        for (uint32_t page = 0; page < FXT_PAGES; page++)
            free_own_page(reader, provider->page[page], get_shared_page(reader, page));
        free_own_page(reader, provider->threads, reader->empty_page);
        context_drop_schema(reader->in->base.t, provider->schema);
        alloc_free(alloc, provider, 1, sizeof *provider);
    }
    alloc_free(alloc, reader->providers, reader->providers_capacity, sizeof *reader->providers);
    pair_map_free(&reader->by_id);
}

ttr_id fxt_add_placeholder_string(const struct fxt_common *common, uint32_t index)
{
    char text[24];
    int n = snprintf(text, sizeof text, "<string %u>", index);
    return ttr_text_add(common->t, text, (size_t)n);
}

int64_t fxt_ticks_to_unix_ns(const struct fxt_provider *provider, uint64_t ticks, bool *clamped)
{
    int64_t ns =
        signed_ticks_to_ns(&provider->clock, (int64_t)(ticks - provider->base_ticks), clamped);
    return add_saturated(provider->anchor_ns, ns, clamped);
}
