/* The FXT writer, compared with bytes derived from the specification; and its ledger, compared with
 * the actual losses.
 *
 * Expected records are annotated text (tests/README.md) with bit fields by number, so the
 * specification is enough to check them. Copying of raw records is tested with the reader, in
 * tests/matrix. */
#include <stdio.h>

#include "support/support.h"

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "support/hexa.h"
#include "model/context.h"

struct world {
    ttr *t;
    ttr_writer *out;
    ttr_builder *b;
    uint8_t bytes[1 << 20];
    size_t n;
    ttr_loss losses[64];
    size_t losses_n;
};

static int64_t push(void *ctx, const void *bytes, size_t n)
{
    struct world *w = ctx;
    assert_true(n <= sizeof w->bytes - w->n);
    memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
    return (int64_t)n;
}

static void begin_with(struct world *w, const char *option)
{
    const char *const list[] = {option, NULL};
    ttr_write_options options = {.size = sizeof options, .format_options = option ? list : NULL};
    w->n = w->losses_n = 0;
    w->t = ttr_new(NULL);
    w->b = ttr_builder_new(w->t);
    w->out = ttr_create_push(w->t, push, w, "fxt", &options, NULL);
    assert_non_null(w->out);
}

static void begin(struct world *w)
{
    begin_with(w, NULL);
}

/* An event of provider "p", category "c", name "n" on thread 5 of process 4, at 100 ns. */
static ttr_event *event(struct world *w, ttr_kind kind)
{
    ttr_event_begin(w->b, kind, 100, "c", "n");
    ttr_event_set_provider(w->b, "p");
    ttr_event_set_thread(w->b, 4, 5);
    return ttr_event_attributes(w->b);
}

static void put(struct world *w)
{
    assert_int_equal(ttr_event_end(w->b, w->out, NULL), TTR_OK);
}

static void end(struct world *w)
{
    const ttr_loss *losses;
    w->losses_n = ttr_losses(w->out, &losses);
    for (size_t i = 0; i < w->losses_n; i++)
        w->losses[i] = losses[i];
    assert_int_equal(ttr_finish(w->out, NULL), TTR_OK);
    ttr_builder_free(w->b);
    ttr_free(w->t);
}

static uint64_t lost(const struct world *w, const char *code)
{
    for (size_t i = 0; i < w->losses_n; i++)
        if (strcmp(w->losses[i].code, code) == 0)
            return w->losses[i].count;
    return 0;
}

#define MAGIC "word64le [0..3]=0 [4..15]=1 [16..19]=4 [20..23]=0 [24..55]=0x16547846\n"
#define PROVIDER "word64le [0..3]=0 [4..15]=2 [16..19]=1 [20..51]=1 [52..59]=1 str \"p\" pad 8\n"
#define CLOCK "word64le [0..3]=1 [4..15]=2 u64le 1000000000\n"
#define HEAD MAGIC PROVIDER CLOCK
#define THREAD "word64le [0..3]=3 [4..15]=3 [16..23]=1 u64le 4 u64le 5\n"
#define STRING_C "word64le [0..3]=2 [4..15]=2 [16..30]=1 [32..46]=1 str \"c\" pad 8\n"
#define STRING_N "word64le [0..3]=2 [4..15]=2 [16..30]=2 [32..46]=1 str \"n\" pad 8\n"
#define TABLES THREAD STRING_C STRING_N

/* Finishes the trace and asserts that its bytes equal `text`. */
static void expect(struct world *w, const char *text)
{
    struct hexa hexa;
    char message[200];
    end(w);
    if (!hexa_parse(text, strlen(text), &hexa, message, sizeof message))
        fail_msg("%s", message);
    for (size_t i = 0; i < hexa.n && i < w->n; i++)
        if (hexa.bytes[i] != w->bytes[i])
            fail_msg("byte %zu is %02x, not %02x", i, w->bytes[i], hexa.bytes[i]);
    assert_int_equal(w->n, hexa.n);
    hexa_free(&hexa);
}

static void expect_no_loss(struct world *w, const char *text)
{
    expect(w, text);
    if (w->losses_n)
        fail_msg("%s was counted as lost", w->losses[0].code);
}

static struct world world;

static void empty_trace_is_the_magic_record(void **state)
{
    (void)state;
    begin(&world);
    expect_no_loss(&world, MAGIC);
}

static void strings_and_threads_are_registered_once(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    put(&world);
    event(&world, TTR_KIND_INSTANT)->time = 101;
    put(&world);
    expect_no_loss(&world, HEAD TABLES "word64le [0..3]=4 [4..15]=2 [16..19]=0 [20..23]=0 "
                                       "[24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n"
                                       "word64le [0..3]=4 [4..15]=2 [16..19]=0 [20..23]=0 "
                                       "[24..31]=1 [32..47]=1 [48..63]=2 u64le 101\n");
}

static void begin_and_end_have_no_last_word(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_BEGIN);
    put(&world);
    event(&world, TTR_KIND_END);
    put(&world);
    expect_no_loss(
        &world, HEAD TABLES
        "word64le [0..3]=4 [4..15]=2 [16..19]=2 [24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n"
        "word64le [0..3]=4 [4..15]=2 [16..19]=3 [24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n");
}

static void span_becomes_complete_event_with_end(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_SPAN)->duration = 23;
    put(&world);
    expect_no_loss(&world, HEAD TABLES "word64le [0..3]=4 [4..15]=3 [16..19]=4 [24..31]=1 "
                                       "[32..47]=1 [48..63]=2 u64le 100 u64le 123\n");
}

static void counters_asyncs_and_flows_end_with_their_id(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {TTR_KIND_COUNTER,   TTR_KIND_ASYNC_BEGIN, TTR_KIND_ASYNC_STEP,
                                    TTR_KIND_ASYNC_END, TTR_KIND_FLOW_BEGIN,  TTR_KIND_FLOW_STEP,
                                    TTR_KIND_FLOW_END};
    begin(&world);
    for (size_t i = 0; i < sizeof kinds; i++) {
        event(&world, kinds[i])->link = UINT64_MAX - i;
        put(&world);
    }
#define KIND(number, id)                            \
    "word64le [0..3]=4 [4..15]=3 [16..19]=" #number \
    " [24..31]=1 [32..47]=1 [48..63]=2 u64le 100 u64le " #id "\n"
    expect_no_loss(&world, HEAD TABLES KIND(1, -1) KIND(5, -2) KIND(6, -3) KIND(7, -4) KIND(8, -5)
                               KIND(9, -6) KIND(10, -7));
}

#define KEY(number, name) \
    "word64le [0..3]=2 [4..15]=2 [16..30]=" #number " [32..46]=1 str \"" name "\" pad 8\n"

static void put_value(struct world *w, const char *name, ttr_value value)
{
    ttr_add_field(w->b, &(ttr_field){.name = {name, strlen(name)}, .value = value});
}

static void every_value_type_has_an_argument_type(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    ttr_add_null(world.b, "a");
    ttr_add_int(world.b, "b", -2);
    ttr_add_uint(world.b, "d", 0xffffffff);
    ttr_add_int(world.b, "e", INT64_MIN);
    ttr_add_uint(world.b, "f", UINT64_MAX);
    ttr_add_float(world.b, "g", -0.0);
    ttr_add_text(world.b, "h", "a text");
    put_value(&world, "i",
              (ttr_value){.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_POINTER, .v.u = 7});
    put_value(&world, "j", (ttr_value){.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_KOID, .v.u = 8});
    ttr_add_bool(world.b, "k", true);
    ttr_add_bytes(world.b, "l", "\0\xff", 2);
    ttr_add_text(world.b, "m", "");
    put(&world);
    expect_no_loss(
        &world,
        HEAD TABLES KEY(3, "a") KEY(4, "b") KEY(5, "d") KEY(6, "e") KEY(7, "f") KEY(8, "g")
            KEY(9, "h") KEY(10, "i") KEY(11, "j") KEY(12, "k") KEY(13, "l") KEY(
                14,
                "m") "word64le [0..3]=4 [4..15]=21 [16..19]=0 [20..23]=12 [24..31]=1 [32..47]=1 "
                     "[48..63]=2 u64le 100\n"
                     "word64le [0..3]=0 [4..15]=1 [16..31]=3\n"
                     "word64le [0..3]=1 [4..15]=1 [16..31]=4 [32..63]=0xfffffffe\n"
                     "word64le [0..3]=2 [4..15]=1 [16..31]=5 [32..63]=0xffffffff\n"
                     "word64le [0..3]=3 [4..15]=2 [16..31]=6 u64le 0x8000000000000000\n"
                     "word64le [0..3]=4 [4..15]=2 [16..31]=7 u64le -1\n"
                     "word64le [0..3]=5 [4..15]=2 [16..31]=8 f64le -0.0\n"
                     "word64le [0..3]=6 [4..15]=2 [16..31]=9 [32..47]=0x8006 str \"a text\" pad 8\n"
                     "word64le [0..3]=7 [4..15]=2 [16..31]=10 u64le 7\n"
                     "word64le [0..3]=8 [4..15]=2 [16..31]=11 u64le 8\n"
                     "word64le [0..3]=9 [4..15]=1 [16..31]=12 [32]=1\n"
                     "word64le [0..3]=10 [4..15]=2 [16..31]=13 [32..63]=2 00 ff pad 8\n"
                     "word64le [0..3]=6 [4..15]=1 [16..31]=14 [32..47]=0\n");
}

static void integers_keep_their_stored_width(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    put_value(&world, "a", (ttr_value){.type = TTR_TYPE_INT, .bits = 64, .v.s = -2});
    put_value(&world, "b", (ttr_value){.type = TTR_TYPE_UINT, .bits = 64, .v.u = 2});
    put_value(&world, "d", (ttr_value){.type = TTR_TYPE_UINT, .bits = 8, .v.u = 2});
    put(&world);
    expect_no_loss(&world, HEAD TABLES KEY(3, "a") KEY(4, "b")
                               KEY(5, "d") "word64le [0..3]=4 [4..15]=7 [16..19]=0 [20..23]=3 "
                                           "[24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n"
                                           "word64le [0..3]=3 [4..15]=2 [16..31]=3 u64le -2\n"
                                           "word64le [0..3]=4 [4..15]=2 [16..31]=4 u64le 2\n"
                                           "word64le [0..3]=2 [4..15]=1 [16..31]=5 [32..63]=2\n");
}

static ttr_event *switch_event(struct world *w)
{
    ttr_event_begin(w->b, TTR_KIND_SWITCH, 100, "", "");
    ttr_event_set_provider(w->b, "p");
    ttr_event_set_thread(w->b, 6, 7);
    ttr_id outgoing = ttr_event_attributes(w->b)->thread;
    ttr_event_set_thread(w->b, 4, 5);
    ttr_event *e = ttr_event_attributes(w->b);
    e->link = outgoing;
    e->tag = TTR_THREAD_BLOCKED;
    e->cpu = 9;
    e->flags |= TTR_EVENT_HAS_CPU;
    return e;
}

#define SWITCH_THREADS                                                                    \
    "word64le [0..3]=3 [4..15]=3 [16..23]=1 u64le 6 u64le 7 word64le [0..3]=3 [4..15]=3 " \
    "[16..23]=2 u64le 4 u64le 5\n"

static void switch_with_priorities_is_legacy_record(void **state)
{
    (void)state;
    begin(&world);
    switch_event(&world);
    ttr_add_uint(world.b, "outgoing_priority", 24);
    ttr_add_uint(world.b, "incoming_priority", 255);
    put(&world);
    expect_no_loss(&world, HEAD SWITCH_THREADS
                   "word64le [0..3]=8 [4..15]=2 [16..23]=9 [24..27]=3 [28..35]=1 [36..43]=2 "
                   "[44..51]=24 [52..59]=255 [60..63]=0 u64le 100\n");
}

static void switch_with_other_fields_is_modern_record(void **state)
{
    (void)state;
    begin(&world);
    switch_event(&world)->cpu = 65535;
    ttr_add_int(world.b, "w", -1);
    put(&world);
    expect_no_loss(&world,
                   HEAD SWITCH_THREADS KEY(
                       1, "w") "word64le [0..3]=8 [4..15]=5 [16..19]=1 [20..35]=65535 [36..39]=3 "
                               "[60..63]=1 u64le 100 u64le 7 u64le 5\n"
                               "word64le [0..3]=1 [4..15]=1 [16..31]=1 [32..63]=0xffffffff\n");
}

static void wake_becomes_thread_wakeup(void **state)
{
    (void)state;
    begin(&world);
    ttr_event *e = switch_event(&world);
    e->kind = TTR_KIND_WAKE;
    e->link = 0;
    put(&world);
    expect_no_loss(&world, HEAD THREAD
                   "word64le [0..3]=8 [4..15]=3 [20..35]=9 [60..63]=2 u64le 100 u64le 5\n");
}

static ttr_event *nameless(struct world *w, ttr_kind kind)
{
    ttr_event *e = event(w, kind);
    e->name = e->category = 0;
    return e;
}

static void log_becomes_log_record(void **state)
{
    (void)state;
    begin(&world);
    nameless(&world, TTR_KIND_LOG);
    ttr_add_text(world.b, "message", "it is nine");
    put(&world);
    expect_no_loss(
        &world, HEAD THREAD
        "word64le [0..3]=9 [4..15]=4 [16..30]=10 [32..39]=1 u64le 100 str \"it is nine\" pad 8\n");
}

static void blob_without_time_becomes_blob_record(void **state)
{
    (void)state;
    begin(&world);
    ttr_event *e = event(&world, TTR_KIND_BLOB);
    e->category = e->thread = 0;
    e->flags |= TTR_EVENT_NO_TIME;
    e->tag = 2;
    ttr_add_bytes(world.b, "data", "\1\2\3", 3);
    put(&world);
    expect_no_loss(
        &world,
        HEAD KEY(
            1,
            "n") "word64le [0..3]=5 [4..15]=2 [16..31]=1 [32..46]=3 [48..55]=2 01 02 03 pad 8\n");
}

static void oversized_blob_becomes_bare_large_record(void **state)
{
    (void)state;
    static const uint8_t zeros[32800];
    begin(&world);
    ttr_event *e = event(&world, TTR_KIND_BLOB);
    e->thread = 0;
    e->flags |= TTR_EVENT_NO_TIME;
    ttr_add_bytes(world.b, "data", zeros, sizeof zeros);
    put(&world);
    expect_no_loss(&world,
                   HEAD KEY(1, "n")
                       KEY(2, "c") "word64le [0..3]=15 [4..35]=4103 [36..39]=0 [40..43]=1 "
                                   "word64le [0..15]=2 [16..31]=1 u64le 32800 zeros 32800\n");
}

static void blob_with_time_becomes_large_record_with_metadata(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_BLOB);
    ttr_add_bytes(world.b, "data", "\1", 1);
    ttr_add_bool(world.b, "f", true);
    put(&world);
    expect_no_loss(&world,
                   HEAD KEY(1, "n") KEY(2, "f") THREAD KEY(
                       3, "c") "word64le [0..3]=15 [4..35]=6 [36..39]=0 [40..43]=0 word64le "
                               "[0..15]=3 [16..31]=1 [32..35]=1 [36..43]=1 u64le 100\n"
                               "word64le [0..3]=9 [4..15]=1 [16..31]=2 [32]=1 u64le 1 01 pad 8\n");
}

static void objects_without_time_become_object_records(void **state)
{
    (void)state;
    begin(&world);
    ttr_event *e = event(&world, TTR_KIND_OBJECT);
    e->category = 0;
    e->flags |= TTR_EVENT_NO_TIME;
    e->tag = TTR_OBJECT_THREAD;
    e->link = 5;
    put(&world);
    e = event(&world, TTR_KIND_OBJECT);
    e->category = e->thread = 0;
    e->flags |= TTR_EVENT_NO_TIME;
    e->link = 77;
    ttr_add_uint(world.b, "type", 17);
    ttr_add_bool(world.b, "x", false);
    put(&world);
    e = event(&world, TTR_KIND_OBJECT);
    e->category = 0;
    e->flags |= TTR_EVENT_NO_TIME;
    e->tag = TTR_OBJECT_POINTER;
    e->link = 0xdead;
    put(&world);
    expect_no_loss(
        &world,
        HEAD KEY(
            1,
            "n") "word64le [0..3]=7 [4..15]=5 [16..23]=2 [24..39]=1 [40..43]=1 u64le 5\n"
                 "word64le [0..3]=8 [4..15]=3 [16..31]=0x8007 str \"process\" pad 8 u64le 4\n" KEY(
                     2, "x") "word64le [0..3]=7 [4..15]=3 [16..23]=17 [24..39]=1 [40..43]=1 u64le "
                             "77 word64le [0..3]=9 [4..15]=1 [16..31]=2\n" THREAD
                             "word64le [0..3]=6 [4..15]=2 [16..23]=1 [24..39]=1 u64le 0xdead\n");
}

static void modules_mappings_and_samples_become_profiler_records(void **state)
{
    (void)state;
    begin(&world);
    ttr_event *e = event(&world, TTR_KIND_OBJECT);
    e->category = 0;
    e->tag = TTR_OBJECT_MODULE;
    e->link = 300;
    ttr_add_bytes(world.b, "build_id", "\xab\xcd", 2);
    put(&world);
    e = nameless(&world, TTR_KIND_OBJECT);
    e->tag = TTR_OBJECT_MAPPING;
    e->link = 300;
    ttr_add_uint(world.b, "start", 0x1000);
    ttr_add_uint(world.b, "size", 0x200);
    ttr_add_uint(world.b, "address_in_module", 0x10);
    ttr_add_uint(world.b, "flags", 5);
    put(&world);
    nameless(&world, TTR_KIND_SAMPLE);
    put_value(&world, "frames", (ttr_value){.type = TTR_TYPE_ARRAY, .count = 2});
    for (uint64_t pc = 1; pc <= 2; pc++)
        ttr_add_field(world.b,
                      &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = pc}});
    put(&world);
    expect_no_loss(&world,
                   HEAD THREAD "word64le [0..3]=10 [4..15]=4 [16..19]=0 [20..27]=1 [28..43]=300 "
                               "[44..51]=1 [52..59]=2 u64le 100 str \"n\" pad 8 ab cd pad 8\n"
                               "word64le [0..3]=10 [4..15]=5 [16..19]=1 [20..27]=1 [28..43]=300 "
                               "[44..46]=5 u64le 100 u64le 0x1000 u64le 0x200 u64le 0x10\n"
                               "word64le [0..3]=10 [4..15]=4 [16..19]=2 [20..27]=1 [28..35]=2 "
                               "u64le 100 u64le 1 u64le 2\n");
}

static void gap_becomes_provider_event_without_count(void **state)
{
    (void)state;
    begin(&world);
    ttr_event *e = nameless(&world, TTR_KIND_GAP);
    e->thread = 0;
    e->link = 12;
    e->flags |= TTR_EVENT_NO_TIME;
    put(&world);
    expect(&world, HEAD "word64le [0..3]=0 [4..15]=1 [16..19]=3 [20..51]=1 [52..55]=0\n");
    assert_int_equal(world.losses_n, 1);
    assert_int_equal(lost(&world, "gap.count"), 1);
}

static void names_precede_first_event_of_thread(void **state)
{
    (void)state;
    begin(&world);
    assert_true(ttr_thread_name(world.t, 4, 5, "app", "main"));
    event(&world, TTR_KIND_INSTANT);
    put(&world);
    expect_no_loss(
        &world, HEAD
        "word64le [0..3]=2 [4..15]=2 [16..30]=1 [32..46]=3 str \"app\" pad 8\n"
        "word64le [0..3]=7 [4..15]=2 [16..23]=1 [24..39]=1 [40..43]=0 u64le 4\n"
        "word64le [0..3]=2 [4..15]=2 [16..30]=2 [32..46]=4 str \"main\" pad 8\n"
        "word64le [0..3]=7 [4..15]=5 [16..23]=2 [24..39]=2 [40..43]=1 u64le 5\n"
        "word64le [0..3]=8 [4..15]=3 [16..31]=0x8007 str \"process\" pad 8 u64le 4\n" THREAD KEY(
            3, "c")
            KEY(4, "n") "word64le [0..3]=4 [4..15]=2 [24..31]=1 [32..47]=3 [48..63]=4 u64le 100\n");
}

static void name_of_thread_without_id_is_counted_as_lost(void **state)
{
    (void)state;
    begin(&world);
    ttr_id id = context_process_thread(world.t, 0, 4);
    context_name_thread(world.t, id, ttr_text_add(world.t, "main", 4));
    for (int i = 0; i < 2; i++) {
        event(&world, TTR_KIND_INSTANT)->thread = id;
        put(&world);
    }
    end(&world);
    assert_int_equal(lost(&world, "thread.name"), 1);
}

static void late_name_is_written_at_the_end(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    put(&world);
    assert_true(ttr_thread_name(world.t, 4, 5, "n", NULL));
    expect_no_loss(&world, HEAD TABLES
                   "word64le [0..3]=4 [4..15]=2 [24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n"
                   "word64le [0..3]=7 [4..15]=2 [16..23]=1 [24..39]=2 [40..43]=0 u64le 4\n");
}

static void late_name_precedes_next_event_of_thread(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    put(&world);
    assert_true(ttr_thread_name(world.t, 4, 5, "n", NULL));
    event(&world, TTR_KIND_INSTANT);
    put(&world);
    expect_no_loss(&world, HEAD TABLES
                   "word64le [0..3]=4 [4..15]=2 [24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n"
                   "word64le [0..3]=7 [4..15]=2 [16..23]=1 [24..39]=2 [40..43]=0 u64le 4\n"
                   "word64le [0..3]=4 [4..15]=2 [24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n");
}

static void each_provider_has_separate_tables(void **state)
{
    (void)state;
    begin(&world);
    for (unsigned i = 0; i < 3; i++) {
        event(&world, TTR_KIND_INSTANT);
        ttr_event_set_provider(world.b, i == 1 ? "q" : "p");
        put(&world);
    }
#define INSTANT "word64le [0..3]=4 [4..15]=2 [24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n"
    expect_no_loss(
        &world, HEAD TABLES INSTANT
        "word64le [0..3]=0 [4..15]=2 [16..19]=1 [20..51]=2 [52..59]=1 str \"q\" pad 8\n" CLOCK
            TABLES INSTANT "word64le [0..3]=0 [4..15]=1 [16..19]=2 [20..51]=1\n" INSTANT);
}

static void anchored_clock_writes_its_base(void **state)
{
    (void)state;
    begin_with(&world, "anchor=yes");
    event(&world, TTR_KIND_INSTANT);
    put(&world);
    expect_no_loss(
        &world, MAGIC PROVIDER
        "word64le [0..3]=1 [4..15]=4 u64le 1000000000 u64le 100 u64le 100\n" TABLES INSTANT);
}

static void sixteenth_field_is_counted_as_lost(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    for (unsigned i = 0; i < 17; i++)
        ttr_add_null(world.b, "");
    put(&world);
    expect(&world, HEAD TABLES "word64le [0..3]=4 [4..15]=17 [20..23]=15 [24..31]=1 [32..47]=1 "
                               "[48..63]=2 u64le 100 repeat 15 { word64le [4..15]=1 }\n");
    assert_int_equal(world.losses_n, 1);
    assert_int_equal(lost(&world, "field.count"), 2);
}

static void arrays_and_structs_become_dotted_names(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    put_value(&world, "a", (ttr_value){.type = TTR_TYPE_ARRAY, .count = 2});
    ttr_add_field(world.b, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_NULL}});
    ttr_add_field(world.b,
                  &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 1}});
    ttr_add_field(world.b,
                  &(ttr_field){.name = {"b", 1}, .depth = 2, .value = {.type = TTR_TYPE_NULL}});
    ttr_add_null(world.b, "n");
    put(&world);
    expect(&world, HEAD TABLES
           "word64le [0..3]=4 [4..15]=7 [20..23]=3 [24..31]=1 [32..47]=1 [48..63]=2 u64le 100\n"
           "word64le [4..15]=2 [16..31]=0x8003 str \"a.0\" pad 8 word64le [4..15]=2 "
           "[16..31]=0x8005 str \"a.1.b\" pad 8 word64le [4..15]=1 [16..31]=2\n");
    assert_int_equal(world.losses_n, 1);
    assert_int_equal(lost(&world, "field.nested"), 1);
}

static void value_labels_and_context_fields_are_counted_as_lost(void **state)
{
    (void)state;
    begin(&world);
    event(&world, TTR_KIND_INSTANT);
    put_value(&world, "n",
              (ttr_value){.type = TTR_TYPE_UINT,
                          .hint = TTR_DISPLAY_ENUM,
                          .count = 1,
                          .text = {"A", 1},
                          .bits = 32,
                          .v.u = 7});
    put_value(&world, "n",
              (ttr_value){.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_FLAGS, .bits = 32, .v.u = 7});
    ttr_add_field(world.b, &(ttr_field){.name = {"n", 1},
                                        .group = TTR_GROUP_COMMON,
                                        .value = {.type = TTR_TYPE_NULL}});
    put(&world);
    end(&world);
    assert_int_equal(world.losses_n, 2);
    assert_int_equal(lost(&world, "field.label"), 1);
    assert_int_equal(lost(&world, "field.context"), 1);
}

static void long_texts_are_cut_at_character_and_counted(void **state)
{
    (void)state;
    static char text[33001];
    memset(text, 'x', 33000);
    memcpy(text + 31999, "\xc3\xa4", 2);
    begin(&world);
    ttr_event *e = event(&world, TTR_KIND_INSTANT);
    e->category = e->name = ttr_text_add(world.t, text, 33000);
    put(&world);
    event(&world, TTR_KIND_INSTANT);
    ttr_add_text(world.b, "n", text);
    ttr_add_null(world.b, "n");
    ttr_add_text(world.b, "n", text);
    put(&world);
    end(&world);
    assert_int_equal(lost(&world, "text.length"), 4);
    assert_int_equal(lost(&world, "field.room"), 0);
}

static void attributes_without_position_are_counted_as_lost(void **state)
{
    (void)state;
    static const uint8_t activity[16] = {1};
    begin(&world);
    ttr_event *e = event(&world, TTR_KIND_INSTANT);
    e->time = -1;
    e->level = TTR_LEVEL_INFO;
    e->opcode = 1;
    e->sequence = 1;
    e->keyword = 1;
    e->activity = activity;
    e->flags |= TTR_EVENT_HAS_CPU;
    put(&world);
    e = event(&world, TTR_KIND_SPAN);
    e->thread = 0;
    e->time = INT64_MAX;
    e->duration = 1;
    put(&world);
    e = event(&world, TTR_KIND_WAKE);
    put(&world);
    event(&world, TTR_KIND_LOG);
    ttr_add_text(world.b, "message", "");
    ttr_add_bool(world.b, "more", true);
    put(&world);
    end(&world);
    static const char *const once[] = {
        "time.negative",     "attribute.level",    "attribute.opcode", "attribute.sequence",
        "attribute.keyword", "attribute.activity", "attribute.cpu",    "span.end",
        "thread.none",       "switch.cpu",         "field.place"};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (lost(&world, once[i]) != 1)
            fail_msg("%s: %u times", once[i], (unsigned)lost(&world, once[i]));
    assert_int_equal(lost(&world, "name.place"), 2);
    assert_int_equal(lost(&world, "category.place"), 2);
    assert_int_equal(world.losses_n, sizeof once / sizeof *once + 2);
}

static void full_thread_table_uses_inline_threads(void **state)
{
    (void)state;
    begin(&world);
    for (uint64_t i = 0; i < 256; i++) {
        event(&world, TTR_KIND_INSTANT);
        ttr_event_set_thread(world.b, 4, i);
        put(&world);
    }
    end(&world);
    /* 56 bytes for the head, 32 for two strings, then thread and event for 255 threads, and one
     * event with an inline thread. */
    assert_int_equal(world.losses_n, 0);
    assert_int_equal(world.n, 8 + 16 + 16 + 32 + 255 * (24 + 16) + 32);
}

static void full_table_is_cleared_after_many_inline_refs(void **state)
{
    (void)state;
    begin(&world);
    for (uint64_t i = 0; i < 3000; i++) {
        event(&world, TTR_KIND_INSTANT);
        ttr_event_set_thread(world.b, 4, i);
        put(&world);
    }
    end(&world);
    /* 255 threads with a record each, then 1024 inline, and so on: 2 * 255 + 2 * 1024 = 2558, then
     * 255 again, then 187 inline. */
    assert_int_equal(world.n, 8 + 16 + 16 + 32 + 3 * 255 * (24 + 16) + (2 * 1024 + 187) * 32);
}

static void tables_of_many_providers_use_little_memory(void **state)
{
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = 8u << 20};
    world.n = 0;
    world.t = ttr_new(&options);
    world.b = ttr_builder_new(world.t);
    world.out = ttr_create_push(world.t, push, &world, "fxt", NULL, NULL);
    assert_non_null(world.out);
    for (uint32_t i = 0; i < 2000; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "provider %u", i);
        event(&world, TTR_KIND_INSTANT);
        ttr_event_set_provider(world.b, name);
        put(&world);
    }
    end(&world);
    /* The magic number; then for each provider its info, clock, thread, two strings and an event.
     */
    assert_int_equal(world.n, 8 + 2000 * (24 + 16 + 24 + 2 * 16 + 16));
}

static void unknown_option_is_refused(void **state)
{
    (void)state;
    const char *const list[] = {"anchor=maybe", NULL};
    ttr_write_options options = {.size = sizeof options, .format_options = list};
    ttr *t = ttr_new(NULL);
    ttr_error error;
    assert_null(ttr_create_push(t, push, &world, "fxt", &options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_free(t);
}

static void *heap_resize(void *ctx, void *old, size_t old_size, size_t new_size)
{
    const struct alloc *alloc = ctx;
    return alloc->resize(alloc->ctx, old, old_size, new_size);
}

static bool write_some(const struct alloc *alloc)
{
    struct alloc copy = *alloc;
    ttr_options options = {.size = sizeof options, .resize = heap_resize, .user_data = &copy};
    bool ok = false;
    world.n = 0;
    world.t = ttr_new(&options);
    world.b = world.t ? ttr_builder_new(world.t) : NULL;
    world.out = world.b ? ttr_create_push(world.t, push, &world, "fxt", NULL, NULL) : NULL;
    if (world.out) {
        ttr_status status = TTR_OK;
        for (unsigned i = 0; i < 40 && status == TTR_OK; i++) {
            event(&world, i % 2 ? TTR_KIND_INSTANT : TTR_KIND_COUNTER);
            ttr_event_set_thread(world.b, i, i);
            ttr_add_uint(world.b, i % 3 ? "x" : "y", i);
            status = ttr_event_end(world.b, world.out, NULL);
        }
        ok = ttr_finish(world.out, NULL) == TTR_OK && status == TTR_OK;
    }
    ttr_builder_free(world.b);
    ttr_free(world.t);
    return ok;
}

static void every_failed_allocation_is_reported_without_leaks(void **state)
{
    (void)state;
    support_fail_each(write_some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_trace_is_the_magic_record),
        cmocka_unit_test(strings_and_threads_are_registered_once),
        cmocka_unit_test(begin_and_end_have_no_last_word),
        cmocka_unit_test(span_becomes_complete_event_with_end),
        cmocka_unit_test(counters_asyncs_and_flows_end_with_their_id),
        cmocka_unit_test(every_value_type_has_an_argument_type),
        cmocka_unit_test(integers_keep_their_stored_width),
        cmocka_unit_test(switch_with_priorities_is_legacy_record),
        cmocka_unit_test(switch_with_other_fields_is_modern_record),
        cmocka_unit_test(wake_becomes_thread_wakeup),
        cmocka_unit_test(log_becomes_log_record),
        cmocka_unit_test(blob_without_time_becomes_blob_record),
        cmocka_unit_test(oversized_blob_becomes_bare_large_record),
        cmocka_unit_test(blob_with_time_becomes_large_record_with_metadata),
        cmocka_unit_test(objects_without_time_become_object_records),
        cmocka_unit_test(modules_mappings_and_samples_become_profiler_records),
        cmocka_unit_test(gap_becomes_provider_event_without_count),
        cmocka_unit_test(names_precede_first_event_of_thread),
        cmocka_unit_test(name_of_thread_without_id_is_counted_as_lost),
        cmocka_unit_test(late_name_is_written_at_the_end),
        cmocka_unit_test(late_name_precedes_next_event_of_thread),
        cmocka_unit_test(each_provider_has_separate_tables),
        cmocka_unit_test(anchored_clock_writes_its_base),
        cmocka_unit_test(sixteenth_field_is_counted_as_lost),
        cmocka_unit_test(arrays_and_structs_become_dotted_names),
        cmocka_unit_test(value_labels_and_context_fields_are_counted_as_lost),
        cmocka_unit_test(long_texts_are_cut_at_character_and_counted),
        cmocka_unit_test(attributes_without_position_are_counted_as_lost),
        cmocka_unit_test(full_thread_table_uses_inline_threads),
        cmocka_unit_test(full_table_is_cleared_after_many_inline_refs),
        cmocka_unit_test(tables_of_many_providers_use_little_memory),
        cmocka_unit_test(unknown_option_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported_without_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
