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

static void loads_are_found_as_in_a_plain_list(void **state)
{
    enum { PLACES = 40, SIZE = 16 };
    bool is_there[PLACES] = {false};
    uint64_t size[PLACES] = {0}, seed = 5;
    struct loads loads;
    const ttr_binary binary = named("/a");
    (void)state;
    assert_true(loads_init(&loads, alloc_default()));
    for (unsigned round = 0; round < 4000; round++) {
        uint64_t i = support_random(&seed) % PLACES;
        const struct load_place place = {.trace = 1, .pid = 2, .base = i * SIZE};
        if (support_random(&seed) % 3) {
            uint64_t wanted =
                1 + support_random(&seed) % (3 * SIZE); /* may overlap the module above */
            assert_true(loads_add(&loads, &place, wanted, &binary));
            size[i] = is_there[i] ? size[i] : wanted;
            is_there[i] = true;
        } else {
            loads_remove(&loads, &place);
            is_there[i] = false;
        }
        uint64_t address = support_random(&seed) % (PLACES * SIZE);
        const struct load *found =
            loads_find(&loads, &(struct load_place){.trace = 1, .pid = 2, .base = address});
        const uint64_t none = UINT64_MAX;
        uint64_t truth = none;
        for (uint64_t k = 0; k < PLACES; k++)
            truth = is_there[k] && k * SIZE <= address && address - k * SIZE < size[k] ? k * SIZE
                                                                                       : truth;
        assert_int_equal(found ? found->base : none, truth);
    }
    loads_free(&loads);
}

static void a_process_has_so_many_loads_at_most(void **state)
{
    struct loads loads;
    const ttr_binary binary = named("/a");
    (void)state;
    assert_true(loads_init(&loads, alloc_default()));
    for (uint64_t i = 0; i < LOADS_MAX + 10; i++)
        assert_true(loads_add(&loads, &(struct load_place){.base = i * 16}, 16, &binary));
    assert_non_null(loads_find(&loads, &(struct load_place){.base = 16 * LOADS_MAX - 1}));
    assert_null(loads_find(&loads, &(struct load_place){.base = 16 * LOADS_MAX}));
    loads_begin(&loads, &(struct load_place){.base = 0});
    assert_null(loads_find(&loads, &(struct load_place){.base = 5}));
    loads_free(&loads);
}

static void sizes_beyond_all_addresses_are_cut(void **state)
{
    struct loads loads;
    const ttr_binary binary = named("/a");
    (void)state;
    assert_true(loads_init(&loads, alloc_default()));
    assert_true(loads_add(&loads, &(struct load_place){.base = 0x1000}, UINT64_MAX, &binary));
    assert_non_null(loads_find(&loads, &(struct load_place){.base = UINT64_MAX - 1}));
    assert_null(loads_find(&loads, &(struct load_place){.base = 0xfff}));
    loads_free(&loads);
}

static void a_binary_has_one_number_however_often_it_is_told(void **state)
{
    struct loads loads;
    const struct load_place one = {.pid = 1, .base = 0x1000}, two = {.pid = 2, .base = 0x2000};
    const ttr_binary binary = named("/a"), other = named("/b");
    (void)state;
    assert_true(loads_init(&loads, alloc_default()));
    assert_true(loads_add(&loads, &one, 16, &binary));
    assert_true(loads_add(&loads, &two, 16, &binary));
    assert_int_equal(loads_find(&loads, &one)->binary, loads_find(&loads, &two)->binary);
    ttr_binary more = {.build_id = {"\1\0\2", 3}};
    assert_true(loads_tell(&loads, &one, &more));
    assert_int_not_equal(loads_find(&loads, &one)->binary, loads_find(&loads, &two)->binary);
    const ttr_binary *known = loads_binary(&loads, loads_find(&loads, &one)->binary);
    assert_string_equal(known->path.p, "/a");
    assert_int_equal(known->build_id.n, 3);
    assert_memory_equal(known->build_id.p, "\1\0\2", 3);
    assert_true(loads_add(&loads, &one, 16, &other));
    assert_string_equal(loads_binary(&loads, loads_find(&loads, &one)->binary)->path.p, "/b");
    assert_int_equal(loads_binary(&loads, loads_find(&loads, &one)->binary)->build_id.n, 0);
    loads_free(&loads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_found_as_in_a_plain_list),
        cmocka_unit_test(a_process_has_so_many_loads_at_most),
        cmocka_unit_test(sizes_beyond_all_addresses_are_cut),
        cmocka_unit_test(a_binary_has_one_number_however_often_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
