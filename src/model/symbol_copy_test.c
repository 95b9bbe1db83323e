/* Copying the symbols of one context to another, and modules that a trace records as events. */
#include <tracetta/build.h>

#include "support/support.h"

#include "model/context.h"

static uint32_t process_of(ttr *t, ttr_id thread)
{
    assert_int_not_equal(thread, 0);
    return t->threads[thread].process;
}

static ttr_id add_text(ttr *t, const char *text)
{
    ttr_id id = ttr_text_add(t, text, strlen(text));
    assert_int_not_equal(id, 0);
    return id;
}

/* A context with a function, a mapping with build id, and a kernel. */
static ttr *make_full(void)
{
    ttr *t = ttr_new(NULL);
    uint16_t source = context_add_source(t, "x", "y");
    uint32_t process = process_of(t, context_thread(t, source, 7, 7));
    uint32_t kernel = process_of(t, context_thread(t, source, 0, 0));
    uint32_t module = symbols_add_module(&t->symbols, process, 1);
    t->symbols.module[module - 1].name = add_text(t, "lib.so");
    t->symbols.module[module - 1].path = add_text(t, "/lib/lib.so");
    t->symbols.module[module - 1].source = source;
    assert_true(
        symbols_set_build_id(&t->symbols, source, add_text(t, "/lib/lib.so"), add_text(t, "id")));
    t->sources[source].kernel = kernel + 1;
    const struct symbol_range mapping = {.start = 0x1000,
                                         .size = 0x1000,
                                         .offset = 0x200,
                                         .from = 5,
                                         .process = process,
                                         .module = module},
                              function = {.start = 0x1010,
                                          .size = 0x10,
                                          .process = process,
                                          .name = add_text(t, "f"),
                                          .module = module},
                              in_kernel = {.start = 0xffff0000,
                                           .size = 0x10,
                                           .process = kernel,
                                           .name = add_text(t, "do_it")};
    assert_true(symbols_add(&t->symbols, SYMBOL_MAPPING, &mapping) &&
                symbols_add(&t->symbols, SYMBOL_FUNCTION, &function) &&
                symbols_add(&t->symbols, SYMBOL_FUNCTION, &in_kernel));
    return t;
}

static void symbols_are_found_by_pid_in_the_other_context(void **state)
{
    (void)state;
    ttr *from = make_full(), *to = ttr_new(NULL);
    ttr_symbol symbol;
    (void)add_text(to, "ids differ");
    assert_int_equal(context_add_source(to, "another", "y"), 1);
    uint16_t source = context_add_source(to, "x", "y");
    ttr_id other = context_thread(to, source, 8, 8), thread = context_thread(to, source, 7, 9);
    assert_int_equal(ttr_copy_symbols(to, from, NULL), TTR_OK);
    assert_true(ttr_symbol_get(to, thread, 0x1018, 9, &symbol));
    assert_string_equal(ttr_text_get(to, symbol.name).p, "f");
    assert_string_equal(ttr_text_get(to, symbol.module).p, "lib.so");
    assert_int_equal(symbol.offset, 0x218);
    assert_true(ttr_symbol_get(to, other, 0xffff0001, 9, &symbol));
    assert_string_equal(ttr_text_get(to, symbol.name).p, "do_it");
    assert_false(ttr_symbol_get(to, other, 0x1018, 9, &symbol));
    const struct symbol_range *range = symbols_find_mapping(to, thread, 0x1018, 9);
    assert_non_null(range);
    ttr_id build_id =
        symbols_get_module_build_id(&to->symbols, &to->symbols.module[range->module - 1]);
    assert_string_equal(ttr_text_get(to, build_id).p, "id");
    ttr_free(from);
    ttr_free(to);
}

static void inputs_that_the_target_lacks_are_skipped(void **state)
{
    (void)state;
    ttr *from = make_full(), *to = ttr_new(NULL);
    assert_int_equal(context_add_source(to, "x", "another format"), 1);
    assert_int_equal(ttr_copy_symbols(to, from, NULL), TTR_OK);
    assert_int_equal(to->symbols.table[SYMBOL_FUNCTION].n, 0);
    assert_int_equal(to->symbols.table[SYMBOL_MAPPING].n, 0);
    ttr_free(from);
    ttr_free(to);
}

static void find_nothing(void *user_data, const ttr_binary *binary, uint64_t address,
                         ttr_location *place)
{
    (void)place;
    ++*(unsigned *)user_data;
    assert_string_equal(binary->path.p, "/lib/lib.so");
    assert_int_equal(binary->build_id.n, 2);
    assert_int_equal(address, 0x228);
}

static void find_main(void *user_data, const ttr_binary *binary, uint64_t address,
                      ttr_location *place)
{
    (void)user_data;
    (void)binary;
    (void)address;
    place->function = (ttr_text){"main+0x14", 9};
}

static void symbolizer_gets_path_build_id_and_file_offset(void **state)
{
    (void)state;
    ttr *t = make_full();
    unsigned calls = 0;
    ttr_id thread = context_thread(t, 1, 7, 7);
    ttr_set_symbolizer(t, find_nothing, &calls);
    assert_int_equal(symbols_locate(t, t->locate, t->locate_ctx, thread, 0x1028, 9), 0);
    assert_int_equal(calls, 1);
    ttr_id name = symbols_locate(t, find_main, NULL, thread, 0x1028, 9);
    assert_string_equal(ttr_text_get(t, name).p, "main");
    assert_int_equal(symbols_locate(t, find_main, NULL, thread, 0x9000, 9), 0);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_are_found_by_pid_in_the_other_context),
        cmocka_unit_test(inputs_that_the_target_lacks_are_skipped),
        cmocka_unit_test(symbolizer_gets_path_build_id_and_file_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
