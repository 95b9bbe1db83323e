/* Symbols and folders of perf.data: vectors read with TTR_READ_SYMBOLS, and split into several
 * files. */
#include "support/support.h"
#include "support/vectors.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/debug_info.h>
#include <tracetta/profile.h>
#include <tracetta/tracetta.h>

#include "support/hexa.h"
#include "model/context.h"
#include "support/vectors_files.h"

#define FOLDER "src/formats/perf/vectors-folder"

struct asked {
    char path[64];
    size_t build_id_n;
    uint64_t address;
};

static void store_lookup(void *ctx, const ttr_binary *binary, uint64_t address, ttr_location *place)
{
    struct asked *asked = ctx;
    (void)snprintf(asked->path, sizeof asked->path, "%s", binary->path.p);
    asked->build_id_n = binary->build_id.n;
    asked->address = address;
    place->function = (ttr_text){"f+0x10", 6};
}

static ttr_reader *open_vector(ttr *t, struct hexa *hexa)
{
    vectors_load(hexa, "src/formats/perf/vectors-whole/symbols.hexa");
    const ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_SYMBOLS};
    ttr_reader *reader = ttr_open_memory(t, hexa->bytes, hexa->n, "symbols", &options, NULL);
    assert_non_null(reader);
    return reader;
}

static ttr_id thread_of(const ttr *t, uint64_t tid)
{
    ttr_thread thread;
    for (ttr_id id = 1; id <= ttr_thread_count(t); id++)
        if (ttr_thread_get(t, id, &thread) && thread.tid == tid)
            return id;
    fail_msg("there is no thread %llu", (unsigned long long)tid);
    return 0;
}

static void check_symbol(ttr *t, uint64_t tid, uint64_t address, const char *module,
                         const char *name)
{
    ttr_symbol symbol;
    bool is_known = ttr_symbol_get(t, thread_of(t, tid), address, 200, &symbol);
    assert_int_equal(is_known, *module || *name);
    assert_string_equal(ttr_text_get(t, symbol.module).p, module);
    assert_string_equal(ttr_text_get(t, symbol.name).p, name);
}

static void address_resolves_to_file_kernel_or_runtime_in_children_too(void **state)
{
    (void)state;
    struct hexa hexa;
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_vector(t, &hexa);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        ;
    check_symbol(t, 20, 0x500010, "b", "");
    check_symbol(t, 30, 0x500010, "b", "");
    check_symbol(t, 30, 0xffffffff81000010, "[kernel.kallsyms]", "");
    check_symbol(t, 20, 0xffffffffc0000010, "", "bpf_prog");
    check_symbol(t, 20, 0x7f0000000010, "perf-20.map", "");
    check_symbol(t, 20, 0x600010, "", "");
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
}

static void profile_looks_up_functions_by_file_build_id_and_offset(void **state)
{
    (void)state;
    struct hexa hexa;
    struct asked asked = {.address = 0};
    const ttr_profile_frame *frame;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_vector(t, &hexa);
    const ttr_profile_options options = {.size = sizeof options,
                                         .flags = TTR_PROFILE_MERGED,
                                         .locate = store_lookup,
                                         .locate_user_data = &asked};
    ttr_profile *profile = ttr_profile_new(t, reader, &options, NULL);
    assert_non_null(profile);
    assert_int_equal(ttr_profile_frames(profile, &frame), 1);
    assert_string_equal(ttr_text_get(t, frame[0].name).p, "b!f");
    assert_string_equal(asked.path, "/bin/b");
    assert_int_equal(asked.build_id_n, 4);
    assert_int_equal(asked.address, 0x1010);
    ttr_profile_free(profile);
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
}

static void folder_reads_as_one_trace_by_time(void **state)
{
    (void)state;
    vectors_files_read_as_written(FOLDER, "", "perf", "data");
    vectors_files_read_without_memory(FOLDER, "", "perf", "data");
    vectors_files_read_when_changed(FOLDER, "", "perf", "data", 200);
    vectors_files_refused_when_strict(FOLDER, "", "perf", "data");
}

#define HEAD HEAD_OF("40", "[24]=1")
#define HEAD_OF(data, features)                                                                    \
    "str \"PERFILE2\" u64le 104 u64le 80  u64le 104 u64le 80  u64le 184 u64le " data               \
    "  u64le 0 u64le 0  word64le " features " zeros 24\n"                                          \
    "u32le 1 u32le 64 u64le 0 u64le 1000 u64le 0x06 u64le 0 u64le 0x140000 u32le 0 u32le 0 u64le " \
    "0  u64le 0 u64le 0\n"

/* Each thread of the recorder writes its own file, so a COMM and the samples of the named thread
 * may be in different files. */
static void name_in_one_file_applies_to_all_from_its_time(void **state)
{
    static const char *const names[] = {"data", "data.0", "data.1"};
    static const char *const texts[] = {
        HEAD "u32le 3 u16le 0 u16le 40 u32le 5 u32le 5 str \"old\" zeros 5 u32le 5 u32le 5 u64le "
             "90\n u64le 240 u64le 8 u64le 1",
        "repeat 2 { u32le 9 u16le 2 u16le 24  u32le 5 u32le 5 u64le 150 } repeat 2 { u32le 9 u16le "
        "2 u16le 24  u32le 5 u32le 5 u64le 250 }",
        "u32le 3 u16le 0x2000 u16le 40 u32le 5 u32le 5 str \"new\" zeros 5 u32le 5 u32le 5 u64le "
        "200  u32le 9 u16le 2 u16le 24 u32le 5 u32le 5 u64le 300"};
    struct hexa hexa[3];
    ttr_file files[3];
    char message[200], seen[100] = "";
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(hexa_parse(texts[i], strlen(texts[i]), &hexa[i], message, sizeof message));
        files[i] = (ttr_file){names[i], hexa[i].bytes, hexa[i].n};
    }
    ttr_reader *reader = ttr_open_files(t, "folder", files, 3, NULL, NULL);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, NULL) == TTR_OK) {
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_thread thread;
            if (event->kind == TTR_KIND_SAMPLE && ttr_thread_get(t, event->thread, &thread))
                (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%d %s, ",
                               (int)event->time, ttr_text_get(t, thread.thread_name).p);
        }
    }
    assert_string_equal(seen, "150 old, 150 old, 250 new, 250 new, 300 new, ");
    ttr_close(reader);
    ttr_free(t);
    for (size_t i = 0; i < 3; i++)
        hexa_free(&hexa[i]);
}

/* Kernels set PERF_MISC_MMAP_BUILD_ID also if only another session asked for build ids. Input: one
 * mapping with a build id, and one with device and inode despite the bit. */
#define WITH_DEVICE(major)                                                                     \
    HEAD_OF("192", "[24]=0")                                                                   \
    "u32le 10 u16le 0x4002 u16le 96 u32le 5 u32le 5 u64le 0x1000 u64le 0x1000 u64le 0  u8 20 " \
    "zeros 3 repeat 20 { u8 7 }\n"                                                             \
    "u32le 5 u32le 2 str \"/bin/a\" zeros 2 u32le 5 u32le 5 u64le 90\n"                        \
    "u32le 10 u16le 0x4002 u16le 96 u32le 5 u32le 5 u64le 0x3000 u64le 0x1000 u64le 0  "       \
    "u32le " major " u32le 1 u64le 137 u64le 0\n"                                              \
    "u32le 5 u32le 2 str \"/bin/b\" zeros 2 u32le 5 u32le 5 u64le 91"

static void expect_device(const char *text)
{
    struct hexa hexa;
    char message[200] = "";
    ttr_batch batch;
    ttr_field field;
    unsigned seen = 0;
    ttr *t = ttr_new(NULL);
    if (!hexa_parse(text, strlen(text), &hexa, message, sizeof message))
        fail_msg("%s", message);
    const ttr_file file = {"data", hexa.bytes, hexa.n};
    ttr_reader *reader = ttr_open_memory(t, file.bytes, file.n, file.name, NULL, NULL);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, NULL) == TTR_OK) {
        for (uint32_t i = 0; i < batch.n; i++, seen++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            const bool has_id = event->time == 90;
            assert_int_equal(ttr_field_find(t, event, "build_id", &field), has_id);
            assert_int_equal(has_id ? field.value.text.n : 20, 20);
            assert_int_equal(ttr_field_find(t, event, "inode", &field), !has_id);
            assert_int_equal(has_id ? 137 : field.value.v.u, 137);
            assert_true(ttr_field_find(t, event, "flags", &field));
            assert_int_equal(field.value.v.u, 2);
        }
    }
    assert_int_equal(seen, 2);
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
}

/* Major numbers may be as small as the length of a build id, and so may file numbers. */
static void device_despite_build_id_bit_is_not_build_id(void **state)
{
    (void)state;
    expect_device(WITH_DEVICE("254"));
    expect_device(WITH_DEVICE("8"));
    expect_device(WITH_DEVICE("7"));
}

/* MMAP2 of a file at 0x1000: by process `pid` at `time`. */
#define MAP(pid, path, time)                                                                   \
    "u32le 10 u16le 2 u16le 96 u32le " pid " u32le " pid " u64le 0x1000 u64le 0x1000 u64le 0 " \
    "u32le 8 u32le 1 u64le 1 u64le 0 u32le 5 u32le 2 str \"" path "\" zeros 2 u32le " pid      \
    " u32le " pid " u64le " time "\n"

static void check_module_at(ttr *t, uint64_t tid, int64_t time, const char *module)
{
    ttr_symbol symbol;
    assert_int_equal(ttr_symbol_get(t, thread_of(t, tid), 0x1010, time, &symbol), *module != 0);
    assert_string_equal(ttr_text_get(t, symbol.module).p, module);
}

static void child_has_mappings_made_before_its_fork(void **state)
{
    static const char text[] = HEAD_OF("424", "[24]=0") MAP("5", "/bin/a", "100")
        /* FORK of 6 by 5 */
        "u32le 7 u16le 0 u16le 48 u32le 6 u32le 5 u32le 6 u32le 5 u64le 120\n"
        "u32le 5 u32le 5 u64le 120\n" MAP("5", "/bin/b", "140") MAP("6", "/bin/c", "200")
        /* FORK of 7 by 6 */
        "u32le 7 u16le 0 u16le 48 u32le 7 u32le 6 u32le 7 u32le 6 u64le 210\n"
        "u32le 6 u32le 6 u64le 210\n"
        /* COMM of 8, which has no parent in the trace */
        "u32le 3 u16le 0 u16le 40 u32le 8 u32le 8 str \"new\" zeros 5 u32le 8 u32le 8 u64le 220\n";
    struct hexa hexa;
    char message[200] = "";
    ttr_batch batch;
    (void)state;
    ttr *t = ttr_new(NULL);
    if (!hexa_parse(text, strlen(text), &hexa, message, sizeof message))
        fail_msg("%s", message);
    const ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_SYMBOLS};
    ttr_reader *reader = ttr_open_memory(t, hexa.bytes, hexa.n, "data", &options, NULL);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        continue;
    check_module_at(t, 5, 130, "a");
    check_module_at(t, 5, 150, "b");
    check_module_at(t, 6, 150, "a");
    check_module_at(t, 6, 205, "c");
    check_module_at(t, 7, 220, "c");
    check_module_at(t, 8, 230, "");
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_resolves_to_file_kernel_or_runtime_in_children_too),
        cmocka_unit_test(profile_looks_up_functions_by_file_build_id_and_offset),
        cmocka_unit_test(folder_reads_as_one_trace_by_time),
        cmocka_unit_test(device_despite_build_id_bit_is_not_build_id),
        cmocka_unit_test(child_has_mappings_made_before_its_fork),
        cmocka_unit_test(name_in_one_file_applies_to_all_from_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
