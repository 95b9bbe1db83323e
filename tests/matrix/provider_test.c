/* The 374 events that the test program of another library for EventHeader wrote
 * (corpus/eventheader/linuxtracepoints), said with TTR_WRITE in C and in C++ and with a composer,
 * in the same order, and compared byte for byte. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "support/corpus.h"
#include "support/said_both.h"
#include "support/support.h"

#define X10 "XXXXXXXXXX"
#define X50 X10 X10 X10 X10 X10
#define LONG_NAME "Long_Provider_Name_" X50 X50 X50 X50 "0123456789"

TTR_PROVIDER_DEFINE_GROUP(long_provider, LONG_NAME, "asdf");

/* A backend that keeps events as that program does: [u32 size of all][name, zero][event]. */
struct kept {
    struct buffer bytes;
    char names[16][256];
    uint32_t n;
};

static int keep_add(void *ctx, const ttr_tracepoint_request *wish, uint32_t *index)
{
    struct kept *kept = ctx;
    for (*index = 0; *index < kept->n && strcmp(kept->names[*index], wish->name) != 0;)
        ++*index;
    assert_in_range(*index, 0, 15);
    if (*index == kept->n)
        memcpy(kept->names[kept->n++], wish->name, strlen(wish->name) + 1);
    (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELAXED);
    return 0;
}

static int keep_write(void *ctx, uint32_t index, uint8_t *event, size_t n)
{
    struct kept *kept = ctx;
    size_t name_n = strlen(kept->names[index]) + 1;
    uint8_t size[4];
    store_u32le(size, (uint32_t)(4 + name_n + n));
    buffer_add(&kept->bytes, size, 4);
    buffer_add(&kept->bytes, kept->names[index], name_n);
    buffer_add(&kept->bytes, event, n);
    return 0;
}

static uint8_t *read_truth(size_t *n)
{
    char path[4096];
    FILE *file = corpus_find("eventheader", "linuxtracepoints/EventHeaderInterceptorLE64.dat", path,
                             sizeof path)
                     ? fopen(path, "rb")
                     : NULL;
    if (!file)
        return NULL;
    uint8_t *bytes = test_malloc(1u << 20);
    *n = fread(bytes, 1, 1u << 20, file);
    (void)fclose(file);
    return bytes;
}

/* Events of both groups, and again in vain after they were closed. */
static void say_groups(ttr_backend *backend)
{
    assert_int_equal(ttr_provider_open(&said_c_group, backend, NULL), TTR_OK);
    assert_int_equal(ttr_provider_open(&said_cxx_group, backend, NULL), TTR_OK);
    for (int i = 0; i < 2; i++) {
        bool enabled = true;
        TTR_WRITE(said_c_group, "EventCG", TTR_BOOL("enabled", enabled));
        TTR_WRITE(said_cxx_group, "EventCppG", TTR_BOOL("enabled", enabled));
        ttr_provider_close(&said_c_group);
        ttr_provider_close(&said_cxx_group);
    }
}

static void compose_field(ttr_composer *composer, const char *kind, const char *suffix,
                          uint8_t format, const void *bytes, size_t n)
{
    char name[16];
    (void)snprintf(name, sizeof name, "%s%zu%s", kind, n, suffix);
    ttr_field_shape shape = {name, kind[0] == 'b' ? TTR_EH_BINARY : TTR_EH_STRING8, format, 0};
    ttr_compose_value(composer, &shape, bytes, n);
}

/* Numbers of 0 to 16 bytes as binary and as string in every format. */
static void compose_all(ttr_backend *backend)
{
    static const char *const names[] = {"default",
                                        "unsigned_int",
                                        "signed_int",
                                        "hex_int",
                                        "errno",
                                        "pid",
                                        "time",
                                        "boolean",
                                        "float",
                                        "hex_bytes",
                                        "string8",
                                        "string_utf",
                                        "string_utf_bom",
                                        "string_xml",
                                        "string_json",
                                        "uuid",
                                        "port",
                                        "ip_address",
                                        "ip_address_obsolete"};
    static const uint8_t sizes[] = {0, 1, 2, 4, 8, 16};
    static const uint8_t last[16] = {0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7,
                                     0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF};
    ttr_provider *provider = ttr_provider_new("TestProviderDyn", NULL, NULL);
    ttr_composer *composer = ttr_composer_new();
    assert_int_equal(ttr_provider_open(provider, backend, NULL), TTR_OK);
    ttr_tracepoint *point = ttr_provider_point(provider, 5, 1, NULL);
    assert_ptr_equal(ttr_provider_point(provider, 5, 1, NULL), point);
    for (uint8_t format = 0; format < 19; format++)
        for (size_t i = 0; i < 6; i++) {
            size_t n = sizes[i];
            uint8_t one[16] = {0}, big[16];
            one[n == 16 ? 15 : 0] = 1;
            for (size_t at = 0; at < 16; at++) /* the number 0xF0F1... in our order, or its bytes */
                big[at] = n == 16 ? last[at] : at < n ? last[n - 1 - at] : 0;
            ttr_compose_begin(composer, names[format]);
            compose_field(composer, "b", "one", format, one, n);
            compose_field(composer, "s", "one", format, one, n);
            compose_field(composer, "b", "big", format, big, n);
            compose_field(composer, "s", "big", format, big, n);
            assert_int_equal(ttr_compose_write(composer, point), TTR_OK);
        }
    ttr_composer_free(composer);
    ttr_provider_free(provider);
}

static size_t count_records(const uint8_t *bytes, size_t n, size_t up_to)
{
    size_t count = 0;
    for (size_t at = 0; at + 4 <= n && at + load_u32le(bytes + at) <= up_to;
         at += load_u32le(bytes + at))
        count++;
    return count;
}

static void every_event_of_another_library_comes_out_byte_for_byte(void **state)
{
    (void)state;
    static const ttr_backend_functions functions = {sizeof functions, keep_add, NULL, keep_write};
    struct kept kept = {.n = 0};
    size_t truth_n, same = 0;
    uint8_t *truth = read_truth(&truth_n);
    if (!truth)
        return;
    buffer_init(&kept.bytes, alloc_default());
    ttr_backend *backend = ttr_backend_new(&functions, &kept, NULL);
    assert_int_equal(ttr_provider_open(&long_provider, backend, NULL), TTR_OK);
    TTR_WRITE(long_provider, "LongProviderEvent");
    ttr_provider_close(&long_provider);
    assert_int_equal(ttr_provider_open(&said_c, backend, NULL), TTR_OK);
    say_groups(backend);
    say_c();
    ttr_provider_close(&said_c);
    assert_int_equal(ttr_provider_open(&said_cxx, backend, NULL), TTR_OK);
    say_groups(backend);
    say_cxx();
    ttr_provider_close(&said_cxx);
    compose_all(backend);
    while (same < truth_n && same < kept.bytes.n && kept.bytes.bytes[same] == truth[same])
        same++;
    if (same < truth_n)
        print_message("first difference at byte %zu of the file, in event %zu\n", same,
                      count_records(truth, truth_n, same));
    assert_int_equal(kept.bytes.n, truth_n);
    assert_memory_equal(kept.bytes.bytes, truth, truth_n);
    assert_int_equal(count_records(truth, truth_n, truth_n), 374);
    ttr_backend_free(backend);
    buffer_free(&kept.bytes);
    test_free(truth);
}

static void cxx_writes_from_templates_and_temporaries(void **state)
{
    (void)state;
    static const ttr_backend_functions functions = {sizeof functions, keep_add, NULL, keep_write};
    struct kept kept = {.n = 0};
    buffer_init(&kept.bytes, alloc_default());
    ttr_backend *backend = ttr_backend_new(&functions, &kept, NULL);
    assert_int_equal(ttr_provider_open(&said_cxx_late, backend, NULL), TTR_OK);
    assert_int_equal(kept.n, 1);
    assert_true(say_cxx_late());
    assert_int_equal(kept.n, 3);
    assert_int_equal(count_records(kept.bytes.bytes, kept.bytes.n, kept.bytes.n), 5);
    assert_non_null(memmem(kept.bytes.bytes, kept.bytes.n, "text\0\7temp", 11));
    ttr_provider_close(&said_cxx_late);
    ttr_backend_free(backend);
    buffer_free(&kept.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cxx_writes_from_templates_and_temporaries),
        cmocka_unit_test(every_event_of_another_library_comes_out_byte_for_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
