/* Writes a random but valid FXT file, as a seed for tests of FXT readers and as input of
 * benchmarks.
 *
 *   generate_fxt --events N --seed S [--mix bench|everything] [--big-endian] [--truth FILE] OUT
 *
 * The encoder follows the text of the format and uses nothing of the library except the constants
 * of fxt_format.h, so that a wrong reader and a wrong writer cannot agree. The same seed yields the
 * same bytes. `bench` resembles the trace of a busy system (bench/run has the proportions),
 * `everything` has every kind of record, argument and reference, with extreme values. The truth is
 * a JSON object of counts and sums that a reader must reproduce:
 *
 *   kinds         events by kind, named as by ttr_kind_text; fiber switches are counted separately
 *   definitions   records that are not events (metadata, initialization, strings, threads)
 *   duration_ns   sum over complete events of ns(end) - ns(begin)
 *   arguments     of event records (type 4)
 *   text_hash     of event records: sum of FNV-1a(category) + 3 * FNV-1a(name)
 *   field_hash    of event records: sum over arguments of 5 * FNV-1a(name) + 7 * value, where texts
 *                 and blobs are FNV-1a
 *
 * Sums are modulo 2^64. */
#include "support/generate_fxt.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"

/* --- Event records (type 4) --- */

struct event {
    unsigned kind, thread;
    uint16_t category, name;
    uint64_t last;  /* the last word of the record */
    bool has_scope; /* an instant with the scope word that older writers append */
};

static const uint8_t kind_of[FXT_EVENT_KINDS] = {
    TTR_KIND_INSTANT,    TTR_KIND_COUNTER,     TTR_KIND_BEGIN,      TTR_KIND_END,
    TTR_KIND_SPAN,       TTR_KIND_ASYNC_BEGIN, TTR_KIND_ASYNC_STEP, TTR_KIND_ASYNC_END,
    TTR_KIND_FLOW_BEGIN, TTR_KIND_FLOW_STEP,   TTR_KIND_FLOW_END};

static void write_event(struct generator *g, const struct event *e)
{
    record_begin(g);
    uint8_t thread = thread_ref(g, e->thread);
    uint16_t category = text_ref(g, e->category), name = text_ref(g, e->name);
    record_word(g, g->provider->now);
    record_thread(g, thread, e->thread);
    record_text(g, category, e->category);
    record_text(g, name, e->name);
    bool is_counter = e->kind == FXT_COUNTER;
    unsigned n = arguments_count(g);
    if (is_counter && n == 0)
        n = 1;
    g->truth.field_hash += record_arguments(g, n, is_counter);
    g->truth.arguments += n;
    if (fxt_count_event_last_words(e->kind) || e->has_scope)
        record_word(g, e->last);
    record_end(g, FXT_EVENT | fxt_set_bits(FXT_EVENT_KIND, e->kind) |
                      fxt_set_bits(FXT_EVENT_ARGS, n) | fxt_set_bits(FXT_EVENT_THREAD, thread) |
                      fxt_set_bits(FXT_EVENT_CATEGORY, category) |
                      fxt_set_bits(FXT_EVENT_NAME, name));
    g->truth.kinds[kind_of[e->kind]]++;
    g->truth.text_hash += g->texts[e->category].hash + 3 * g->texts[e->name].hash;
}

/* Returns a thread without an open complete event, so that spans nest. Advances the time until
 * there is one. */
static unsigned free_thread(struct generator *g)
{
    struct provider *p = g->provider;
    for (;;) {
        unsigned thread = below(g, THREADS);
        if (p->threads[thread].busy_until <= p->now)
            return thread;
        p->now++;
    }
}

static struct event any_event(struct generator *g, unsigned kind)
{
    struct event e = {
        .kind = kind, .thread = below(g, THREADS), .category = (uint16_t)below(g, CATEGORIES)};
    e.name = (uint16_t)(FIRST_NAME + below(g, NAMES));
    if (g->is_everything && happens(g, 30))
        e.name = (uint16_t)(FIRST_ODD + below(g, ODD));
    return e;
}

static void write_begin_or_end(struct generator *g)
{
    struct event e = any_event(g, FXT_DURATION_BEGIN);
    e.thread = free_thread(g);
    struct thread *thread = &g->provider->threads[e.thread];
    if (thread->depth == 0 || (thread->depth < DEPTH_MAX && happens(g, 500))) {
        thread->open[thread->depth][0] = e.category;
        thread->open[thread->depth++][1] = e.name;
    } else {
        e.kind = FXT_DURATION_END;
        e.category = thread->open[--thread->depth][0];
        e.name = thread->open[thread->depth][1];
    }
    write_event(g, &e);
}

/* Converts ticks to the common time line: floor((ticks - base) * 10^9 / frequency) after the base.
 */
static uint64_t nanoseconds(const struct provider *p, uint64_t ticks)
{
    return p->base_ns + (uint64_t)((uint128)(ticks - p->base_ticks) * 1000000000u / p->frequency);
}

static void write_complete(struct generator *g)
{
    struct event e = any_event(g, FXT_DURATION_COMPLETE);
    e.thread = free_thread(g);
    struct provider *p = g->provider;
    e.last = p->now + below(g, 5000);
    p->threads[e.thread].busy_until = e.last;
    g->truth.duration_ns += nanoseconds(p, e.last) - nanoseconds(p, p->now);
    write_event(g, &e);
}

static void write_instant(struct generator *g)
{
    struct event e = any_event(g, FXT_INSTANT);
    e.has_scope = g->is_everything && happens(g, 200);
    e.last = below(g, 3);
    write_event(g, &e);
}

static void write_counter(struct generator *g)
{
    struct event e = any_event(g, FXT_COUNTER);
    e.last = g->is_everything ? random_value(g) : below(g, 4);
    write_event(g, &e);
}

static void write_async(struct generator *g)
{
    struct event e = any_event(g, FXT_ASYNC_BEGIN + below(g, 3));
    e.last = below(g, 1000);
    write_event(g, &e);
}

static void write_flow(struct generator *g)
{
    struct event e = any_event(g, FXT_FLOW_BEGIN + below(g, 3));
    e.last = g->is_everything ? random_value(g) : below(g, 1000);
    write_event(g, &e);
}

/* --- Scheduling (type 8) --- */

static void write_legacy_switch(struct generator *g)
{
    unsigned outgoing = below(g, THREADS), incoming = below(g, THREADS);
    record_begin(g);
    uint8_t from = thread_ref(g, outgoing), to = thread_ref(g, incoming);
    record_word(g, g->provider->now);
    record_thread(g, from, outgoing);
    record_thread(g, to, incoming);
    unsigned state = below(g, 5);
    record_end(g,
               FXT_SCHEDULING | fxt_set_bits(FXT_LEGACY_CPU, below(g, g->is_everything ? 256 : 8)) |
                   fxt_set_bits(FXT_LEGACY_STATE, state + (state > 0)) |
                   fxt_set_bits(FXT_LEGACY_OUTGOING, from) | fxt_set_bits(FXT_LEGACY_INCOMING, to) |
                   fxt_set_bits(FXT_LEGACY_OUTGOING_PRIORITY, below(g, 32)) |
                   fxt_set_bits(FXT_LEGACY_INCOMING_PRIORITY, below(g, 32)));
    g->truth.kinds[TTR_KIND_SWITCH]++;
}

/* Writes a record of the newer kinds 1 to 3. An idle CPU is thread 0 of process 0, named by its
 * koid only. */
static void write_scheduling(struct generator *g)
{
    const struct thread *threads = g->provider->threads;
    unsigned kind = FXT_CONTEXT_SWITCH + below(g, 3), n = arguments_count(g), state = below(g, 5);
    record_begin(g);
    record_word(g, g->provider->now);
    record_word(g, threads[below(g, THREADS)].tid);
    if (kind != FXT_THREAD_WAKEUP)
        record_word(g, threads[below(g, THREADS)].tid);
    (void)record_arguments(g, n, false);
    uint64_t header = FXT_SCHEDULING | fxt_set_bits(FXT_SCHEDULING_KIND, kind) |
                      fxt_set_bits(FXT_SCHEDULING_ARGS, n);
    if (kind != FXT_FIBER_SWITCH)
        header |= fxt_set_bits(FXT_SCHEDULING_CPU, below(g, 65536));
    if (kind == FXT_CONTEXT_SWITCH)
        header |= fxt_set_bits(FXT_SCHEDULING_STATE, state + (state > 0));
    record_end(g, header);
    if (kind == FXT_FIBER_SWITCH)
        g->truth.fibers++;
    else
        g->truth.kinds[kind == FXT_CONTEXT_SWITCH ? TTR_KIND_SWITCH : TTR_KIND_WAKE]++;
}

/* --- The rest --- */

static void record_random_stream(struct generator *g, size_t n)
{
    size_t from = g->record_n * FXT_WORD_BYTES;
    record_stream(g, NULL, 0);
    memset(g->record + from, 0, (n + 7) / 8 * 8);
    for (size_t i = 0; i < n; i++)
        g->record[from + i] = (uint8_t)random_word(g);
    g->record_n += (n + 7) / 8;
}

static void write_log(struct generator *g)
{
    unsigned thread = below(g, THREADS);
    const struct text *message = &g->texts[any_text(g)];
    record_begin(g);
    uint8_t ref = thread_ref(g, thread);
    record_word(g, g->provider->now);
    record_thread(g, ref, thread);
    record_stream(g, message->bytes, message->n);
    record_end(g, FXT_LOG | fxt_set_bits(FXT_LOG_BYTES, message->n) |
                      fxt_set_bits(FXT_LOG_THREAD, ref));
    g->truth.kinds[TTR_KIND_LOG]++;
}

static void write_blob(struct generator *g)
{
    uint16_t name = any_text(g);
    size_t n = happens(g, 50) ? 31000 + below(g, 700) : below(g, 200);
    record_begin(g);
    uint16_t ref = text_ref(g, name);
    record_text(g, ref, name);
    record_random_stream(g, n);
    record_end(g, FXT_BLOB | fxt_set_bits(FXT_BLOB_NAME, ref) | fxt_set_bits(FXT_BLOB_BYTES, n) |
                      fxt_set_bits(FXT_BLOB_TYPE, 1 + below(g, 2)));
    g->truth.kinds[TTR_KIND_BLOB]++;
}

static void write_large_blob(struct generator *g)
{
    bool is_bare = happens(g, 500);
    uint16_t category = (uint16_t)below(g, CATEGORIES), name = any_text(g);
    unsigned thread = below(g, THREADS), args = is_bare ? 0 : arguments_count(g);
    size_t n = happens(g, 300) ? 33000 + below(g, 60000) : below(g, 300);
    record_begin(g);
    uint16_t category_ref = text_ref(g, category), name_ref = text_ref(g, name);
    uint8_t ref = is_bare ? 0 : thread_ref(g, thread);
    record_word(g, fxt_set_bits(FXT_LARGE_CATEGORY, category_ref) |
                       fxt_set_bits(FXT_LARGE_NAME, name_ref) | fxt_set_bits(FXT_LARGE_ARGS, args) |
                       fxt_set_bits(FXT_LARGE_THREAD, ref));
    record_text(g, category_ref, category);
    record_text(g, name_ref, name);
    if (!is_bare) {
        record_word(g, g->provider->now);
        record_thread(g, ref, thread);
        (void)record_arguments(g, args, false);
    }
    record_word(g, n);
    record_random_stream(g, n);
    record_end(
        g, FXT_LARGE | fxt_set_bits(FXT_LARGE_KIND, FXT_LARGE_BLOB) |
               fxt_set_bits(FXT_LARGE_FORMAT, is_bare ? FXT_LARGE_BARE : FXT_LARGE_WITH_METADATA));
    g->truth.kinds[TTR_KIND_BLOB]++;
}

/* Appends the argument that names the process of a thread object. */
static void record_process_argument(struct generator *g, uint64_t pid)
{
    static const char key[] = "process";
    record_word(g, FXT_ARG_KOID | fxt_set_bits(FXT_ARG_SIZE, 3) |
                       fxt_set_bits(FXT_ARG_NAME, FXT_REF_INLINE | (sizeof key - 1)));
    record_stream(g, key, sizeof key - 1);
    record_word(g, pid);
}

static void write_kernel_object(struct generator *g)
{
    const struct thread *thread = &g->provider->threads[below(g, THREADS)];
    uint64_t type = 1 + below(g, 33);
    if (happens(g, 600))
        type = 1 + below(g, 2);
    uint64_t koid = type == FXT_KERNEL_PROCESS  ? thread->pid
                    : type == FXT_KERNEL_THREAD ? thread->tid
                                                : random_value(g);
    uint16_t name = any_text(g);
    unsigned args = below(g, 3);
    record_begin(g);
    uint16_t ref = text_ref(g, name);
    record_word(g, koid);
    record_text(g, ref, name);
    if (type == FXT_KERNEL_THREAD)
        record_process_argument(g, thread->pid);
    (void)record_arguments(g, args, false);
    args += type == FXT_KERNEL_THREAD;
    record_end(g, FXT_KERNEL_OBJECT | fxt_set_bits(FXT_KERNEL_TYPE, type) |
                      fxt_set_bits(FXT_KERNEL_NAME, ref) | fxt_set_bits(FXT_KERNEL_ARGS, args));
    g->truth.kinds[TTR_KIND_OBJECT]++;
}

static void write_userspace_object(struct generator *g)
{
    unsigned thread = below(g, THREADS), args = arguments_count(g);
    uint16_t name = any_text(g);
    record_begin(g);
    uint8_t ref = thread_ref(g, thread);
    uint16_t name_ref = text_ref(g, name);
    record_word(g, random_value(g));
    if (!ref)
        /* one word only, as the specification defines it */
        record_word(g, g->provider->threads[thread].pid);
    record_text(g, name_ref, name);
    (void)record_arguments(g, args, false);
    record_end(g, FXT_USERSPACE_OBJECT | fxt_set_bits(FXT_USERSPACE_THREAD, ref) |
                      fxt_set_bits(FXT_USERSPACE_NAME, name_ref) |
                      fxt_set_bits(FXT_USERSPACE_ARGS, args));
    g->truth.kinds[TTR_KIND_OBJECT]++;
}

static void write_profiler(struct generator *g)
{
    static const char name[] = "libexample.so", build_id[20] = "\x01\x02\x03\xff build id";
    unsigned thread = below(g, THREADS), kind = below(g, 3);
    record_begin(g);
    uint8_t ref = thread_ref(g, thread);
    uint64_t header = FXT_PROFILER | fxt_set_bits(FXT_PROFILER_KIND, kind) |
                      fxt_set_bits(FXT_PROFILER_THREAD, ref);
    record_word(g, g->provider->now);
    record_thread(g, ref, thread);
    if (kind == FXT_MODULE) {
        record_stream(g, name, sizeof name - 1);
        record_stream(g, build_id, sizeof build_id);
        header |= fxt_set_bits(FXT_MODULE_NAME_BYTES, sizeof name - 1) |
                  fxt_set_bits(FXT_MODULE_BUILD_ID_BYTES, sizeof build_id);
    }
    if (kind == FXT_MAPPING)
        header |= fxt_set_bits(FXT_MAPPING_FLAGS, below(g, 8));
    if (kind != FXT_BACKTRACE)
        header |= fxt_set_bits(FXT_MODULE_ID, below(g, 65536));
    unsigned words = kind == FXT_MAPPING     ? 3
                     : kind == FXT_BACKTRACE ? below(g, happens(g, 50) ? 256 : 20)
                                             : 0;
    for (unsigned i = 0; i < words; i++)
        record_word(g, random_value(g));
    if (kind == FXT_BACKTRACE)
        header |= fxt_set_bits(FXT_BACKTRACE_FRAMES, words);
    record_end(g, header);
    g->truth.kinds[kind == FXT_BACKTRACE ? TTR_KIND_SAMPLE : TTR_KIND_OBJECT]++;
}

static void write_gap(struct generator *g)
{
    emit_definition(g,
                    FXT_METADATA | fxt_set_bits(FXT_METADATA_KIND, FXT_PROVIDER_EVENT) |
                        fxt_set_bits(FXT_METADATA_PROVIDER, g->provider->id),
                    NULL, 0);
    g->truth.definitions--;
    g->truth.kinds[TTR_KIND_GAP]++;
}

/* --- Providers and the mix --- */

static void write_initialization(struct generator *g)
{
    const struct provider *p = g->provider;
    uint8_t words[24];
    store(g, words, p->frequency);
    store(g, words + 8, p->base_ticks);
    store(g, words + 16, p->base_ns);
    emit_definition(g, FXT_INITIALIZATION, words, p->is_anchored ? 24 : 8);
}

static void write_section(struct generator *g)
{
    emit_definition(g,
                    FXT_METADATA | fxt_set_bits(FXT_METADATA_KIND, FXT_PROVIDER_SECTION) |
                        fxt_set_bits(FXT_METADATA_PROVIDER, g->provider->id),
                    NULL, 0);
}

static void start_provider(struct generator *g, size_t i)
{
    static const uint64_t frequencies[PROVIDERS_MAX] = {1000000000, 24000000, 2994000000, 1000,
                                                        1000000000};
    struct provider *p = g->provider = &g->providers[i];
    p->id = (uint32_t)(i == 3 ? UINT32_MAX : i + 1);
    p->frequency = frequencies[i];
    p->is_anchored = i % 2 == 1;
    p->base_ticks = p->is_anchored ? 1000 : 0;
    p->base_ns = p->is_anchored ? UINT64_C(1700000000000000000) : 0;
    p->now = 1000000;
    (void)snprintf(p->name, sizeof p->name, i ? "provider %zu" : "generator", i);
    for (unsigned t = 0; t < THREADS; t++) {
        p->threads[t].pid = 1000 * (i + 1) + t % PROCESSES;
        p->threads[t].tid = 100000 * (i + 1) + t;
        if (i == 2 && t % 2)
            p->threads[t].tid |= UINT64_C(1) << 63; /* marks an artificial koid */
    }
    size_t n = strlen(p->name);
    emit_definition(g,
                    FXT_METADATA | fxt_set_bits(FXT_METADATA_KIND, FXT_PROVIDER_INFO) |
                        fxt_set_bits(FXT_METADATA_PROVIDER, p->id) |
                        fxt_set_bits(FXT_METADATA_NAME_BYTES, n),
                    p->name, n);
    write_initialization(g);
}

/* Assigns another text to a slot. If that text had a slot, the two are swapped, so that every slot
 * keeps a distinct text. */
static void redefine_text(struct generator *g)
{
    struct provider *p = g->provider;
    uint16_t slot = (uint16_t)(1 + below(g, p->slots_used)), text = (uint16_t)below(g, TEXTS);
    uint16_t old_slot = p->text_slot[text], old_text = p->slot_text[slot];
    if (g->texts[text].n == 0)
        return;
    register_text(g, text, slot);
    if (old_slot && old_slot != slot)
        register_text(g, old_text, old_slot);
}

static void redefine_thread(struct generator *g)
{
    struct provider *p = g->provider;
    uint8_t slot = (uint8_t)(1 + below(g, p->threads_used)), old_thread = p->slot_thread[slot];
    unsigned thread = below(g, THREADS);
    uint8_t old_slot = p->thread_slot[thread];
    register_thread(g, thread, slot);
    if (old_slot && old_slot != slot)
        register_thread(g, old_thread, old_slot);
}

/* Changes the state between records of `everything`: selects another provider, or redefines a table
 * entry. */
static void change_something(struct generator *g)
{
    if (happens(g, 5)) {
        g->provider = &g->providers[below(g, (uint32_t)g->providers_n)];
        write_section(g);
    }
    struct provider *p = g->provider;
    if (happens(g, 10) && p->slots_used)
        redefine_text(g);
    if (happens(g, 10) && p->threads_used)
        redefine_thread(g);
}

static const struct share {
    uint16_t of_thousand;
    void (*write)(struct generator *g);
} bench[] = {{450, write_begin_or_end}, {150, write_complete}, {80, write_instant},
             {100, write_counter},      {80, write_async},     {30, write_flow},
             {110, write_legacy_switch}},
  everything[] = {{250, write_begin_or_end},
                  {100, write_complete},
                  {100, write_instant},
                  {100, write_counter},
                  {80, write_async},
                  {60, write_flow},
                  {60, write_legacy_switch},
                  {60, write_scheduling},
                  {50, write_log},
                  {20, write_blob},
                  {4, write_large_blob},
                  {40, write_kernel_object},
                  {36, write_userspace_object},
                  {35, write_profiler},
                  {5, write_gap}};

static void write_events(struct generator *g, uint64_t n)
{
    const struct share *share = g->is_everything ? everything : bench;
    void (*of[1000])(struct generator *);
    for (unsigned i = 0, left = 0; i < 1000; i++, left--) {
        if (left == 0)
            left = share++->of_thousand;
        of[i] = share[-1].write;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (g->is_everything)
            change_something(g);
        g->provider->now += below(g, 100);
        of[below(g, 1000)](g);
    }
}

/* --- The program --- */

static bool write_truth(const struct generator *g, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "{\"bytes\": %llu, \"kinds\": {", (unsigned long long)g->bytes);
    for (unsigned i = 1; i < TTR_KIND_DEFINITION; i++)
        fprintf(file, "\"%s\": %llu, ", ttr_kind_text(i), (unsigned long long)g->truth.kinds[i]);
    fprintf(file, "\"fiber\": %llu}, ", (unsigned long long)g->truth.fibers);
    fprintf(file,
            "\"definitions\": %llu, \"duration_ns\": %llu, \"arguments\": %llu, \"text_hash\": "
            "%llu, \"field_hash\": %llu}\n",
            (unsigned long long)g->truth.definitions, (unsigned long long)g->truth.duration_ns,
            (unsigned long long)g->truth.arguments, (unsigned long long)g->truth.text_hash,
            (unsigned long long)g->truth.field_hash);
    return fclose(file) == 0;
}

static bool generate(struct generator *g, uint64_t events, const char *path)
{
    g->out = fopen(path, "wb");
    g->output = malloc(OUTPUT_SIZE);
    g->providers_n = g->is_everything ? PROVIDERS_MAX : 1;
    g->providers = calloc(PROVIDERS_MAX, sizeof *g->providers);
    if (!g->out || !g->output || !g->providers || !make_texts(g))
        return false;
    uint8_t magic[8];
    store(g, magic, FXT_MAGIC);
    emit(g, magic, sizeof magic);
    g->truth.definitions++;
    for (size_t i = g->providers_n; i-- > 0;)
        start_provider(g, i);
    write_events(g, events);
    write_out(g);
    return fclose(g->out) == 0 && !g->failed;
}

static int usage(void)
{
    fputs("usage: generate_fxt --events N --seed S [--mix bench|everything] [--big-endian] "
          "[--truth FILE] OUT\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"events", 1, NULL, 'n'}, {"seed", 1, NULL, 's'},
                                            {"mix", 1, NULL, 'm'},    {"big-endian", 0, NULL, 'b'},
                                            {"truth", 1, NULL, 't'},  {NULL, 0, NULL, 0}};
    struct generator *g = calloc(1, sizeof *g);
    uint64_t events = 1000;
    const char *truth = NULL;
    if (!g)
        return 1;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'n')
            events = strtoull(optarg, NULL, 10);
        else if (option == 's')
            g->random = strtoull(optarg, NULL, 10);
        else if (option == 'm')
            g->is_everything = strcmp(optarg, "everything") == 0;
        else if (option == 'b')
            g->is_big = true;
        else if (option == 't')
            truth = optarg;
        else
            return usage();
    }
    if (optind + 1 != argc)
        return usage();
    if (!generate(g, events, argv[optind]) || (truth && !write_truth(g, truth))) {
        fprintf(stderr, "generate_fxt: %s: %s\n", argv[optind], strerror(errno));
        return 1;
    }
    for (unsigned i = 0; i < TEXTS; i++)
        free(g->texts[i].bytes);
    free(g->providers);
    free(g->output);
    free(g);
    return 0;
}
