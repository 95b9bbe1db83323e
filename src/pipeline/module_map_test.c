/* The modules of a process, compared with a plain list. */
#include "support/support.h"

#include "pipeline/module_map.h"

static ttr_binary named(const char *path)
{
    return (ttr_binary){.size = sizeof(ttr_binary),
                        .path = {path, strlen(path)},
                        .build_id = {"", 0},
                        .debug_link = {"", 0}};
}

static void modules_found_equal_plain_list(void **state)
{
    enum { PLACES = 40, SIZE = 16 };
    bool is_there[PLACES] = {false};
    uint64_t size[PLACES] = {0}, seed = 5;
    struct module_map module_map;
    const ttr_binary binary = named("/a");
    (void)state;
    assert_true(module_map_init(&module_map, alloc_default()));
    for (unsigned round = 0; round < 4000; round++) {
        uint64_t i = support_random(&seed) % PLACES;
        const struct module_place place = {.trace = 1, .pid = 2, .base = i * SIZE};
        if (support_random(&seed) % 3) {
            uint64_t wanted =
                1 + support_random(&seed) % (3 * SIZE); /* may overlap the module above */
            assert_true(module_map_add(&module_map, &place, wanted, &binary));
            size[i] = is_there[i] ? size[i] : wanted;
            is_there[i] = true;
        } else {
            module_map_remove(&module_map, &place);
            is_there[i] = false;
        }
        uint64_t address = support_random(&seed) % (PLACES * SIZE);
        const struct load *found = module_map_find(
            &module_map, &(struct module_place){.trace = 1, .pid = 2, .base = address});
        const uint64_t none = UINT64_MAX;
        uint64_t truth = none;
        for (uint64_t k = 0; k < PLACES; k++)
            truth = is_there[k] && k * SIZE <= address && address - k * SIZE < size[k] ? k * SIZE
                                                                                       : truth;
        assert_int_equal(found ? found->base : none, truth);
    }
    module_map_free(&module_map);
}

static void process_modules_are_limited(void **state)
{
    struct module_map module_map;
    const ttr_binary binary = named("/a");
    (void)state;
    assert_true(module_map_init(&module_map, alloc_default()));
    for (uint64_t i = 0; i < MODULES_MAX + 10; i++)
        assert_true(
            module_map_add(&module_map, &(struct module_place){.base = i * 16}, 16, &binary));
    assert_non_null(
        module_map_find(&module_map, &(struct module_place){.base = 16 * MODULES_MAX - 1}));
    assert_null(module_map_find(&module_map, &(struct module_place){.base = 16 * MODULES_MAX}));
    module_map_clear(&module_map, &(struct module_place){.base = 0});
    assert_null(module_map_find(&module_map, &(struct module_place){.base = 5}));
    module_map_free(&module_map);
}

static void module_size_beyond_address_space_is_clamped(void **state)
{
    struct module_map module_map;
    const ttr_binary binary = named("/a");
    (void)state;
    assert_true(module_map_init(&module_map, alloc_default()));
    assert_true(
        module_map_add(&module_map, &(struct module_place){.base = 0x1000}, UINT64_MAX, &binary));
    assert_non_null(module_map_find(&module_map, &(struct module_place){.base = UINT64_MAX - 1}));
    assert_null(module_map_find(&module_map, &(struct module_place){.base = 0xfff}));
    module_map_free(&module_map);
}

static void binary_described_twice_has_one_number(void **state)
{
    struct module_map module_map;
    const struct module_place one = {.pid = 1, .base = 0x1000}, two = {.pid = 2, .base = 0x2000};
    const ttr_binary binary = named("/a"), other = named("/b");
    (void)state;
    assert_true(module_map_init(&module_map, alloc_default()));
    assert_true(module_map_add(&module_map, &one, 16, &binary));
    assert_true(module_map_add(&module_map, &two, 16, &binary));
    assert_int_equal(module_map_find(&module_map, &one)->binary,
                     module_map_find(&module_map, &two)->binary);
    ttr_binary more = {.build_id = {"\1\0\2", 3}};
    assert_true(module_map_describe(&module_map, &one, &more));
    assert_int_not_equal(module_map_find(&module_map, &one)->binary,
                         module_map_find(&module_map, &two)->binary);
    const ttr_binary *known =
        module_map_binary(&module_map, module_map_find(&module_map, &one)->binary);
    assert_string_equal(known->path.p, "/a");
    assert_int_equal(known->build_id.n, 3);
    assert_memory_equal(known->build_id.p, "\1\0\2", 3);
    assert_true(module_map_add(&module_map, &one, 16, &other));
    assert_string_equal(
        module_map_binary(&module_map, module_map_find(&module_map, &one)->binary)->path.p, "/b");
    assert_int_equal(
        module_map_binary(&module_map, module_map_find(&module_map, &one)->binary)->build_id.n, 0);
    module_map_free(&module_map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_found_equal_plain_list),
        cmocka_unit_test(process_modules_are_limited),
        cmocka_unit_test(module_size_beyond_address_space_is_clamped),
        cmocka_unit_test(binary_described_twice_has_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
