/* Opening LTTng's index files while memory runs out: the validity of the index then remains
 * unknown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/ctf/packet/ctf_index.h"
#include "support/support.h"

static char place[] = "/tmp/ctf_index_test.XXXXXX";

static const char *in_place(const char *name)
{
    static char path[64];
    (void)snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static void write_index(const char *magic)
{
    uint8_t bytes[CTF_INDEX_HEADER + CTF_INDEX_ENTRY_1] = {0};
    char hex[64];
    (void)snprintf(hex, sizeof hex, "%s 00000001 00000001 00000048", magic);
    assert_int_equal(support_hex(bytes, sizeof bytes, hex), CTF_INDEX_HEADER);
    FILE *file = fopen(in_place("index/s.idx"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    assert_int_equal(fclose(file), 0);
}

/* Opens the index while the n-th allocation fails. Returns whether the index is valid. */
static bool open_with(size_t n, bool *is_odd, bool *is_through)
{
    struct support_heap heap;
    struct ctf_index index;
    bool is_good = false;
    *is_odd = false;
    support_heap_init(&heap, n);
    struct ctf_trace trace = {.folder = folder_open(&heap.alloc, NULL, place, 1, false, NULL)};
    if (trace.folder)
        is_good = ctf_index_open(&index, &trace, "s", is_odd);
    if (is_good)
        ctf_index_close(&index);
    folder_close(trace.folder);
    *is_through = heap.requests < n;
    support_heap_check(&heap);
    return is_good;
}

static void index_without_memory_is_not_odd(void **state)
{
    (void)state;
    bool is_odd, is_through = false, is_good = false;
    write_index("C1F1DCC1");
    for (size_t n = 1; !is_through; n++) {
        is_good = open_with(n, &is_odd, &is_through);
        assert_false(is_odd);
    }
    assert_true(is_good);
}

static void file_of_other_form_is_odd(void **state)
{
    (void)state;
    bool is_odd, is_through;
    write_index("C1F1DCC2");
    assert_false(open_with(SIZE_MAX, &is_odd, &is_through));
    assert_true(is_odd);
}

static int make_place(void **state)
{
    (void)state;
    return mkdtemp(place) ? mkdir(in_place("index"), 0700) : -1;
}

static int drop_place(void **state)
{
    (void)state;
    (void)remove(in_place("index/s.idx"));
    (void)remove(in_place("index"));
    return rmdir(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_without_memory_is_not_odd),
        cmocka_unit_test(file_of_other_form_is_odd),
    };
    return cmocka_run_group_tests(tests, make_place, drop_place);
}
