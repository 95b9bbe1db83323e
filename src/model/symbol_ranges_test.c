/* Symbols: the range that wins by time and process, and searches with many overlapping ranges. */
#include "support/support.h"

#include "model/context.h"

/* A context with thread `one` of process 1 and `two` of process 2. */
struct world {
    ttr *t;
    ttr_id one, two;
};

static struct world begin(void)
{
    struct world world = {.t = ttr_new(NULL)};
    uint16_t source = context_add_source(world.t, "x", "y");
    world.one = context_thread(world.t, source, 1, 1);
    world.two = context_thread(world.t, source, 2, 2);
    assert_true(world.one && world.two);
    return world;
}

static void add(struct world *world, ttr_id thread, uint64_t start, uint64_t size, int64_t from,
                const char *name)
{
    struct symbol_range range = {.start = start,
                                 .size = size,
                                 .from = from,
                                 .process = world->t->threads[thread].process,
                                 .name = ttr_text_add(world->t, name, strlen(name))};
    assert_true(symbols_add(&world->t->symbols, SYMBOL_FUNCTION, &range));
}

static const char *name_at(struct world *world, ttr_id thread, uint64_t address, int64_t time)
{
    ttr_symbol symbol;
    return ttr_symbol_get(world->t, thread, address, time, &symbol)
               ? ttr_text_get(world->t, symbol.name).p
               : "";
}

static void function_contains_addresses_of_its_range(void **state)
{
    (void)state;
    struct world world = begin();
    add(&world, world.one, 0x1000, 0x10, 5, "f");
    add(&world, world.one, 0x1010, 0x10, 5, "g");
    assert_string_equal(name_at(&world, world.one, 0xfff, 9), "");
    assert_string_equal(name_at(&world, world.one, 0x1000, 9), "f");
    assert_string_equal(name_at(&world, world.one, 0x100f, 9), "f");
    assert_string_equal(name_at(&world, world.one, 0x1010, 9), "g");
    assert_string_equal(name_at(&world, world.one, 0x1020, 9), "");
    assert_string_equal(name_at(&world, world.two, 0x1000, 9), "");
    ttr_free(world.t);
}

static void overlapping_ranges_resolve_by_load_time(void **state)
{
    (void)state;
    struct world world = begin();
    add(&world, world.one, 0x1000, 0x100, 10, "old");
    add(&world, world.one, 0x1040, 0x20, 20, "new");
    assert_string_equal(name_at(&world, world.one, 0x1050, 15), "old");
    assert_string_equal(name_at(&world, world.one, 0x1050, 20), "new");
    assert_string_equal(name_at(&world, world.one, 0x1090, 30), "old");
    add(&world, world.one, 0x1000, 0x100, 40, "newest");
    assert_string_equal(name_at(&world, world.one, 0x1050, 39), "new");
    assert_string_equal(name_at(&world, world.one, 0x1050, 41), "newest");
    assert_int_equal(world.t->symbols.reused, 1);
    assert_true(symbols_change_with_time(world.t, world.one, 0x1050));
    add(&world, world.one, 0x3000, 0x100, 10, "other");
    assert_false(symbols_change_with_time(world.t, world.one, 0x3000));
    assert_false(symbols_change_with_time(world.t, world.one, 0x9000));
    ttr_free(world.t);
}

static void range_loaded_later_is_found(void **state)
{
    (void)state;
    struct world world = begin();
    add(&world, world.one, 0x1000, 0x100, 10, "first");
    add(&world, world.one, 0x1000, 0x100, 20, "second");
    assert_string_equal(name_at(&world, world.one, 0x1000, 5), "first");
    add(&world, world.one, 0x2000, 0x100, SYMBOLS_TIME_UNKNOWN, "rundown");
    assert_string_equal(name_at(&world, world.one, 0x2000, -5), "rundown");
    ttr_free(world.t);
}

static void repeated_range_is_stored_once(void **state)
{
    (void)state;
    struct world world = begin();
    for (int64_t i = 0; i < 1000; i++) {
        add(&world, world.one, 0x1000, 0x100, i, "same");
        assert_string_equal(name_at(&world, world.one, 0x1000, i), "same");
    }
    assert_int_equal(world.t->symbols.table[SYMBOL_FUNCTION].n, 1);
    add(&world, world.one, 0x3000, 0, 0, "empty");
    assert_string_equal(name_at(&world, world.one, 0x3000, 0), "");
    ttr_free(world.t);
}

static void range_up_to_last_address_does_not_wrap(void **state)
{
    (void)state;
    struct world world = begin();
    add(&world, world.one, UINT64_MAX - 15, UINT64_MAX, 0, "top");
    assert_string_equal(name_at(&world, world.one, UINT64_MAX - 1, 0), "top");
    assert_string_equal(name_at(&world, world.one, 3, 0), "");
    ttr_free(world.t);
}

static void mapped_address_has_module_and_offset(void **state)
{
    (void)state;
    struct world world = begin();
    struct symbol_range range = {
        .start = 0x7000,
        .size = 0x1000,
        .offset = 0x200,
        .from = 3,
        .process = world.t->threads[world.one].process,
        .module = symbols_add_module(&world.t->symbols, world.t->threads[world.one].process, 99)};
    ttr_symbol symbol;
    assert_true(symbols_add(&world.t->symbols, SYMBOL_MAPPING, &range));
    assert_true(ttr_symbol_get(world.t, world.one, 0x7010, 9, &symbol));
    assert_int_equal(symbol.module, 0);
    symbols_set_module_name(&world.t->symbols, range.module,
                            /* named after its ranges were added */
                            ttr_text_add(world.t, "libc.so", 7));
    assert_true(ttr_symbol_get(world.t, world.one, 0x7010, 9, &symbol));
    assert_string_equal(ttr_text_get(world.t, symbol.module).p, "libc.so");
    assert_int_equal(symbol.offset, 0x210);
    assert_int_equal(symbol.name, 0);
    add(&world, world.one, 0x7000, 0x20, 3, "memcpy");
    assert_true(ttr_symbol_get(world.t, world.one, 0x7010, 9, &symbol));
    assert_string_equal(ttr_text_get(world.t, symbol.name).p, "memcpy");
    assert_string_equal(ttr_text_get(world.t, symbol.module).p, "libc.so");
    ttr_free(world.t);
}

static void random_ranges_match_linear_search(void **state)
{
    (void)state;
    struct world world = begin();
    struct symbol_range all[200];
    uint64_t seed = 7;
    for (size_t i = 0; i < 200; i++) {
        all[i] = (struct symbol_range){.start = support_random(&seed) % 1000,
                                       .size = 1 + support_random(&seed) % 60,
                                       .from = (int64_t)i,
                                       .process = world.t->threads[world.one].process,
                                       .name = (ttr_id)i + 1};
        assert_true(symbols_add(&world.t->symbols, SYMBOL_FUNCTION, &all[i]));
    }
    for (int64_t time = 0; time < 250; time += 7)
        for (uint64_t address = 0; address < 1100; address++) {
            const struct symbol_range *best = NULL;
            for (size_t i = 0; i < 200; i++) {
                bool holds = address - all[i].start < all[i].size;
                if (holds && (all[i].from <= time ? !best || best->from < all[i].from : !best))
                    best = &all[i];
            }
            const struct symbol_range *found =
                symbols_find(&world.t->symbols, SYMBOL_FUNCTION, all[0].process, address, time);
            assert_int_equal(found ? found->name : 0, best ? best->name : 0);
        }
    ttr_free(world.t);
}

static void symbol_of_unknown_thread_is_not_found(void **state)
{
    (void)state;
    ttr_symbol symbol;
    ttr *t = ttr_new(NULL); /* has no process */
    assert_false(ttr_symbol_get(t, 0, 0x1000, 9, &symbol));
    ttr_free(t);
    struct world world = begin(); /* process 0 is a real one */
    add(&world, world.one, 0x1000, 0x10, 5, "f");
    assert_false(ttr_symbol_get(world.t, 0, 0x1000, 9, &symbol));
    ttr_free(world.t);
}

static bool add_many(const struct alloc *alloc)
{
    struct symbols symbols;
    bool is_fine = true;
    symbols_init(&symbols, alloc);
    for (uint64_t i = 0; i < 100 && is_fine; i++)
        is_fine =
            symbols_add(&symbols, SYMBOL_FUNCTION,
                        &(struct symbol_range){.start = i * 7919 % 1000, .size = 3, .name = 1});
    const struct symbol_range *found =
        is_fine ? symbols_find(&symbols, SYMBOL_FUNCTION, 0, 7919 % 1000, 0) : NULL;
    is_fine = is_fine && found;
    symbols_free(&symbols);
    return is_fine;
}

static void symbols_report_failed_allocation(void **state)
{
    (void)state;
    support_fail_each(add_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(function_contains_addresses_of_its_range),
        cmocka_unit_test(overlapping_ranges_resolve_by_load_time),
        cmocka_unit_test(range_loaded_later_is_found),
        cmocka_unit_test(repeated_range_is_stored_once),
        cmocka_unit_test(range_up_to_last_address_does_not_wrap),
        cmocka_unit_test(mapped_address_has_module_and_offset),
        cmocka_unit_test(random_ranges_match_linear_search),
        cmocka_unit_test(symbol_of_unknown_thread_is_not_found),
        cmocka_unit_test(symbols_report_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
