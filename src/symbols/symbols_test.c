/* libtracetta-symbols: functions and lines at addresses of a library that knows them itself,
 * complete, stripped in all ways, and damaged. */
#include "support/support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/debug_info.h>
#include <tracetta/symbols.h>

#include "support/symbols_sample.h"

static char work[] = "/tmp/symbols_test.XXXXXX";
static size_t
    problems[TTR_SYMBOLS_NO_PROGRAM + 1];        /* of the last look-up, by ttr_symbols_problem */
static struct sample_place place[SAMPLE_PLACES]; /* with addresses in the library */
static unsigned char build_id[64];
static size_t build_id_n;

/* Whether a command of the shell ends well. */
static bool runs(const char *command)
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Runs one in the scratch folder. */
static void shell(const char *command)
{
    char line[800];
    (void)snprintf(line, sizeof line, "cd %s && { %s; }", work, command);
    assert_true(runs(line));
}

/* Of the compiler where it is one for another machine: OBJCOPY. */
static bool has_objcopy(void)
{
    char line[100];
    (void)snprintf(line, sizeof line, "cd %s && $OBJCOPY whole.so copied.so 2>/dev/null", work);
    bool has = runs(line);
    if (!has)
        print_message("# SKIP no objcopy that knows files of this machine\n");
    return has;
}

/* A binary in the scratch folder. */
static ttr_binary binary_at(const char *name)
{
    static char path[4][600];
    static unsigned next;
    char *to = path[next++ % 4];
    (void)snprintf(to, sizeof path[0], "%s/%s", work, name);
    return (ttr_binary){.size = sizeof(ttr_binary),
                        .number = next,
                        .path = {to, strlen(to)},
                        .build_id = {"", 0},
                        .debug_link = {"", 0},
                        .is_pic = true};
}

/* Looks one address up with a new symbolizer; returns the texts with "|" between them. */
static const char *ask(const ttr_symbols_options *options, const ttr_binary *binary, unsigned i)
{
    static char text[2000];
    const char *first;
    ttr_symbols_options sized = *options;
    sized.size = sizeof sized;
    ttr_symbols *symbols = ttr_symbols_new(&sized, NULL);
    ttr_location answer = {
        .size = sizeof answer, .binary = {"", 0}, .function = {"", 0}, .source = {"", 0}};
    assert_non_null(symbols);
    ttr_symbols_locate(symbols, binary, (uintptr_t)place[i].address, &answer);
    (void)snprintf(text, sizeof text, "%s|%s|%s", answer.binary.p, answer.function.p,
                   answer.source.p);
    for (unsigned k = 0; k < sizeof problems / sizeof *problems; k++)
        problems[k] = ttr_symbols_problems(symbols, (ttr_symbols_problem)k, &first);
    ttr_symbols_free(symbols);
    return text;
}

static void expect_no_problems(void)
{
    for (unsigned k = 0; k < sizeof problems / sizeof *problems; k++)
        assert_int_equal(problems[k], 0);
}

/* What is to be answered; "" for what is not known. */
static const char *truth(const char *name, const char *function, unsigned i, bool has_line)
{
    static char text[700];
    char line[80] = "";
    if (has_line)
        (void)snprintf(line, sizeof line, "symbols_sample.c:%d", place[i].line);
    (void)snprintf(text, sizeof text, "%s+%#lx|%s|%s", name,
                   (unsigned long)(uintptr_t)place[i].address, function, line);
    return text;
}

/* "in_block+0x1f" is in "in_block". */
static void check(const char *answer, const char *expected)
{
    char plain[2000];
    const char *plus = strrchr(answer, '+'), *bar = plus ? strchr(plus, '|') : NULL;
    bool has_function = bar && strstr(expected, "||") == NULL;
    (void)snprintf(plain, sizeof plain, "%.*s%s",
                   has_function ? (int)(plus - answer) : (int)strlen(answer), answer,
                   has_function ? bar : "");
    assert_string_equal(plain, expected);
}

static int set_up(void **state)
{
    char path[600];
    const char *sample = getenv("SYMBOLS_SAMPLE");
    Dl_info info;
    (void)state;
    if (!sample || setenv("OBJCOPY", "objcopy", 0) != 0 || !mkdtemp(work))
        return 1;
    void *library = dlopen(sample, RTLD_NOW);
    int (*fill)(int) = library ? (int (*)(int))(uintptr_t)dlsym(library, "sample_fill") : NULL;
    const struct sample_place *places = library ? dlsym(library, "sample_place") : NULL;
    if (!fill || !places || !dladdr(places, &info))
        return 1;
    (void)fill(3);
    for (unsigned i = 0; i < SAMPLE_PLACES; i++)
        place[i] = (struct sample_place){
            (void *)((uintptr_t)places[i].address - (uintptr_t)info.dli_fbase), places[i].line};
    (void)snprintf(path, sizeof path, "cp %s whole.so", sample);
    shell(path);
    for (unsigned i = 0; i < 20; i++)
        build_id[build_id_n++] = (unsigned char)(0xa0 + i); /* as tests/meson.build says */
    return 0;
}

static int tear_down(void **state)
{
    char line[100];
    (void)state;
    (void)snprintf(line, sizeof line, "rm -rf %s", work);
    return !runs(line);
}

static void functions_and_lines_are_found_in_the_binary_itself(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("whole.so");
    (void)state;
    check(ask(&options, &binary, SAMPLE_PLAIN),
          truth("whole.so", "sample_fill", SAMPLE_PLAIN, true));
    expect_no_problems();
    options.flags = TTR_SYMBOLS_NO_MMAP;
    check(ask(&options, &binary, SAMPLE_PLAIN),
          truth("whole.so", "sample_fill", SAMPLE_PLAIN, true));
}

static void mangled_name_is_demangled_unless_babeltrace2_is_imitated(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("whole.so");
    (void)state;
    const char *answer = ask(&options, &binary, SAMPLE_MANGLED);
    if (strstr(answer, "|_ZN6sample5Class6methodEi+")) {
        print_message("# SKIP built without libiberty\n");
        skip();
    }
    check(answer, truth("whole.so", "sample::Class::method(int)", SAMPLE_MANGLED, true));
    options.flags = TTR_SYMBOLS_LIKE_BABELTRACE2;
    /* babeltrace2's way finds no line for this function in the debug information of clang. */
#ifdef __clang__
    const bool has_line = false;
#else
    const bool has_line = true;
#endif
    check(ask(&options, &binary, SAMPLE_MANGLED),
          truth("whole.so", "sample_method", SAMPLE_MANGLED, has_line));
}

static void inlined_code_has_the_line_of_its_call(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("whole.so");
    (void)state;
    check(ask(&options, &binary, SAMPLE_INLINED),
          truth("whole.so", "in_block", SAMPLE_INLINED, true));
}

static void full_paths_and_prefixes_are_used_if_wanted(void **state)
{
    char start[700];
    const ttr_binary binary = binary_at("whole.so");
    ttr_symbols_options options = {.flags = TTR_SYMBOLS_FULL_PATHS};
    (void)state;
    const char *answer = ask(&options, &binary, SAMPLE_PLAIN);
    (void)snprintf(start, sizeof start, "%s/whole.so+", work);
    assert_memory_equal(answer, start, strlen(start));
    assert_non_null(strstr(answer, "/symbols_sample.c:"));
    ttr_binary elsewhere = binary;
    elsewhere.path = (ttr_text){"/whole.so", 9};
    options = (ttr_symbols_options){.prefix = work};
    check(ask(&options, &elsewhere, SAMPLE_PLAIN),
          truth("whole.so", "sample_fill", SAMPLE_PLAIN, true));
}

static void absolute_address_is_shown_with_an_at_sign(void **state)
{
    ttr_symbols_options options = {0};
    ttr_binary binary = binary_at("no-such-program");
    (void)state;
    binary.is_pic = false;
    place[SAMPLE_PLAIN].address = (void *)((uintptr_t)place[SAMPLE_PLAIN].address + 0x400000);
    assert_non_null(strstr(ask(&options, &binary, SAMPLE_PLAIN), "no-such-program@0x4"));
    place[SAMPLE_PLAIN].address = (void *)((uintptr_t)place[SAMPLE_PLAIN].address - 0x400000);
}

static void missing_binary_has_its_name_and_is_counted_once(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("no-such.so");
    ttr_location answer = {.size = sizeof answer};
    (void)state;
    check(ask(&options, &binary, SAMPLE_PLAIN), truth("no-such.so", "", SAMPLE_PLAIN, false));
    assert_int_equal(problems[TTR_SYMBOLS_MISSING], 1);
    ttr_symbols *symbols = ttr_symbols_new(NULL, NULL);
    assert_non_null(symbols);
    for (uint64_t i = 0; i < 10; i++) {
        ttr_binary again = binary;
        again.number = 1 + i % 3; /* as when more becomes known of it */
        ttr_symbols_locate(symbols, &again, i, &answer);
    }
    const char *first;
    assert_int_equal(ttr_symbols_problems(symbols, TTR_SYMBOLS_MISSING, &first), 1);
    assert_string_equal(first, binary.path.p);
    ttr_symbols_free(symbols);
}

static void binary_with_another_build_id_is_not_used(void **state)
{
    ttr_symbols_options options = {0};
    ttr_binary binary = binary_at("whole.so");
    (void)state;
    binary.build_id = (ttr_text){(const char *)build_id, build_id_n};
    check(ask(&options, &binary, SAMPLE_PLAIN),
          truth("whole.so", "sample_fill", SAMPLE_PLAIN, true));
    build_id[3] ^= 1;
    check(ask(&options, &binary, SAMPLE_PLAIN), truth("whole.so", "", SAMPLE_PLAIN, false));
    assert_int_equal(problems[TTR_SYMBOLS_OTHER], 1);
    options.flags = TTR_SYMBOLS_LIKE_BABELTRACE2;
    assert_string_equal(ask(&options, &binary, SAMPLE_PLAIN), "||");
    build_id[3] ^= 1;
}

static void file_that_is_not_a_program_is_counted(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary text = binary_at("text.so"), folder = binary_at("folder.so"),
                     fifo = binary_at("fifo.so"), empty = binary_at("empty.so");
    (void)state;
    shell("echo hello >text.so; mkdir -p folder.so; mkfifo fifo.so; : >empty.so");
    check(ask(&options, &text, SAMPLE_PLAIN), truth("text.so", "", SAMPLE_PLAIN, false));
    assert_int_equal(problems[TTR_SYMBOLS_NO_PROGRAM], 1);
    check(ask(&options, &folder, SAMPLE_PLAIN), truth("folder.so", "", SAMPLE_PLAIN, false));
    check(ask(&options, &fifo, SAMPLE_PLAIN), truth("fifo.so", "", SAMPLE_PLAIN, false));
    check(ask(&options, &empty, SAMPLE_PLAIN), truth("empty.so", "", SAMPLE_PLAIN, false));
}

static void symbols_alone_give_functions(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("symbols.so"), dynamic = binary_at("dynamic.so");
    (void)state;
    if (!has_objcopy())
        return;
    shell("$OBJCOPY --strip-debug whole.so symbols.so && $OBJCOPY --strip-all whole.so dynamic.so");
    check(ask(&options, &binary, SAMPLE_INLINED),
          truth("symbols.so", "in_block", SAMPLE_INLINED, false));
    check(ask(&options, &dynamic, SAMPLE_PLAIN),
          truth("dynamic.so", "sample_fill", SAMPLE_PLAIN, false));
    check(ask(&options, &dynamic, SAMPLE_INLINED),
          truth("dynamic.so", "", SAMPLE_INLINED, false)); /* in a static function */
}

/* The last function of a program is _fini; "info symbol" of gdb finds none after its section. */
static void address_after_all_functions_is_in_none(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("whole.so");
    const struct sample_place before = place[SAMPLE_PLAIN];
    (void)state;
    place[SAMPLE_PLAIN].address = (void *)((uintptr_t)before.address + 0x100000);
    check(ask(&options, &binary, SAMPLE_PLAIN), truth("whole.so", "", SAMPLE_PLAIN, false));
    place[SAMPLE_PLAIN] = before;
}

static void debug_information_is_found_by_build_id(void **state)
{
    char folder[100];
    ttr_symbols_options options = {.debug_folder = folder};
    ttr_binary binary = binary_at("byid.so"), gone = binary_at("gone.so");
    (void)state;
    if (!has_objcopy())
        return;
    (void)snprintf(folder, sizeof folder, "%s/debug", work);
    shell("mkdir -p debug/.build-id/a0 && $OBJCOPY --only-keep-debug whole.so "
          "debug/.build-id/a0/a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3.debug && "
          "$OBJCOPY --strip-all whole.so byid.so");
    check(ask(&options, &binary, SAMPLE_INLINED),
          truth("byid.so", "in_block", SAMPLE_INLINED, true)); /* by its own */
    binary.build_id = gone.build_id = (ttr_text){(const char *)build_id, build_id_n};
    check(ask(&options, &binary, SAMPLE_INLINED),
          truth("byid.so", "in_block", SAMPLE_INLINED, true));
    check(ask(&options, &gone, SAMPLE_INLINED), truth("gone.so", "in_block", SAMPLE_INLINED, true));
    expect_no_problems();
    options.debug_folder = NULL;
    check(ask(&options, &gone, SAMPLE_INLINED), truth("gone.so", "", SAMPLE_INLINED, false));
}

static void debug_information_is_found_by_its_link_and_checksum(void **state)
{
    char folder[100], far[200];
    ttr_symbols_options options = {.debug_folder = folder};
    const ttr_binary binary = binary_at("linked.so");
    (void)state;
    if (!has_objcopy())
        return;
    (void)snprintf(folder, sizeof folder, "%s/far", work);
    (void)snprintf(far, sizeof far, "mkdir -p far%s && mv .debug/linked.debug far%s/", work, work);
    shell("$OBJCOPY --remove-section=.note.gnu.build-id whole.so bare.so && $OBJCOPY "
          "--only-keep-debug bare.so linked.debug && "
          "$OBJCOPY --strip-all --add-gnu-debuglink=linked.debug bare.so linked.so");
    check(ask(&options, &binary, SAMPLE_INLINED),
          truth("linked.so", "in_block", SAMPLE_INLINED, true));
    shell("mkdir -p .debug && mv linked.debug .debug/");
    check(ask(&options, &binary, SAMPLE_INLINED),
          truth("linked.so", "in_block", SAMPLE_INLINED, true));
    shell(far);
    check(ask(&options, &binary, SAMPLE_INLINED),
          truth("linked.so", "in_block", SAMPLE_INLINED, true));
    ttr_binary linked = binary; /* the trace records another file */
    linked.debug_link = (ttr_text){"linked.debug", 12};
    linked.debug_link_crc = 1;
    assert_null(strstr(ask(&options, &linked, SAMPLE_INLINED), "symbols_sample.c"));
    linked.debug_link =
        (ttr_text){"../../../../../../../../../../../dev/zero",
                   sizeof "../../../../../../../../../../../dev/zero" - 1}; /* which never ends */
    assert_null(strstr(ask(&options, &linked, SAMPLE_INLINED), "symbols_sample.c"));
    shell("mkfifo linked.fifo");
    linked.debug_link = (ttr_text){"linked.fifo", 11};
    assert_null(strstr(ask(&options, &linked, SAMPLE_INLINED), "symbols_sample.c"));
}

static void damaged_files_give_what_they_can(void **state)
{
    static unsigned char whole[1 << 20], bytes[1 << 20];
    char path[100];
    uint64_t seed = 3;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/whole.so", work);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(whole, 1, sizeof whole, file);
    (void)fclose(file);
    for (unsigned round = 0; round < 400; round++) {
        const ttr_binary binary = binary_at("damaged.so");
        ttr_symbols_options options = {.flags = round % 2 ? TTR_SYMBOLS_LIKE_BABELTRACE2 : 0};
        memcpy(bytes, whole, n);
        for (uint64_t i = support_random(&seed) % 30; i > 0; i--)
            bytes[support_random(&seed) % n] = (unsigned char)support_random_word(&seed);
        size_t left = round % 10 == 0 ? support_random(&seed) % n : n;
        (void)snprintf(path, sizeof path, "%s/damaged.so", work);
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, left, file), left);
        (void)fclose(file);
        for (unsigned i = 0; i < SAMPLE_PLACES; i++)
            assert_non_null(strstr(ask(&options, &binary, i), "damaged.so+"));
    }
}

static void functions_of_a_runtime_are_found_in_its_list(void **state)
{
    char path[64];
    ttr_symbols_options options = {.size = sizeof options};
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid() + (1L << 30));
    FILE *list = fopen(path, "w");
    assert_non_null(list);
    (void)fputs("1000 20 first\n1020 10 second(int, int)\n", list);
    (void)fclose(list);
    const ttr_binary binary = {.size = sizeof binary,
                               .number = 1,
                               .path = {path, strlen(path)},
                               .build_id = {"", 0},
                               .debug_link = {"", 0}};
    for (unsigned flags = 0; flags <= TTR_SYMBOLS_LISTS; flags += TTR_SYMBOLS_LISTS) {
        ttr_location answer = {.size = sizeof answer, .function = {"", 0}};
        options.flags = flags;
        ttr_symbols *symbols = ttr_symbols_new(&options, NULL);
        assert_non_null(symbols);
        ttr_symbols_locate(symbols, &binary, 0x1024, &answer);
        assert_string_equal(answer.function.p, flags ? "second(int, int)+0x4" : "");
        answer.function = (ttr_text){"", 0};
        ttr_symbols_locate(symbols, &binary, 0x1030, &answer);
        assert_string_equal(answer.function.p, "");
        ttr_symbols_free(symbols);
    }
    assert_int_equal(remove(path), 0);
}

/* Returns the path of a map that no process has, and the binary that names it. */
static ttr_binary map_binary(char path[64])
{
    (void)snprintf(path, 64, "/tmp/perf-%ld.map", (long)getpid() + (1L << 30));
    return (ttr_binary){.size = sizeof(ttr_binary),
                        .number = 1,
                        .path = {path, strlen(path)},
                        .build_id = {"", 0},
                        .debug_link = {"", 0}};
}

/* Looks address 0x1024 up in the lists. Fails the test program if that takes 20 seconds. */
static void expect_listed_function(const ttr_binary *binary, const char *expected)
{
    const ttr_symbols_options options = {.size = sizeof options, .flags = TTR_SYMBOLS_LISTS};
    ttr_symbols *symbols = ttr_symbols_new(&options, NULL);
    ttr_location answer = {.size = sizeof answer, .function = {"", 0}};
    assert_non_null(symbols);
    (void)alarm(20);
    ttr_symbols_locate(symbols, binary, 0x1024, &answer);
    (void)alarm(0);
    assert_string_equal(answer.function.p, expected);
    ttr_symbols_free(symbols);
}

static void list_that_is_no_regular_file_is_not_read(void **state)
{
    char path[64];
    const ttr_binary binary = map_binary(path);
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_listed_function(&binary, "");
    assert_int_equal(remove(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    expect_listed_function(&binary, "");
    assert_int_equal(remove(path), 0);
}

static void list_of_another_user_is_not_read(void **state)
{
    char path[64];
    const ttr_binary binary = map_binary(path);
    (void)state;
    FILE *list = fopen(path, "w");
    assert_non_null(list);
    (void)fputs("1020 10 stranger\n", list);
    (void)fclose(list);
    if (chown(path, 12345, (gid_t)-1) == 0)
        expect_listed_function(&binary, "");
    else
        print_message("# SKIP only root can give a file away\n");
    assert_int_equal(remove(path), 0);
}

static void name_in_a_list_is_cut_to_its_limit(void **state)
{
    char path[64], expected[5000] = "";
    const ttr_binary binary = map_binary(path);
    (void)state;
    FILE *list = fopen(path, "w");
    assert_non_null(list);
    (void)fputs("1020 10 ", list);
    for (unsigned i = 0; i < 1u << 20; i++)
        (void)fputc('x', list);
    (void)fputs("\n1000 10 next\n", list);
    (void)fclose(list);
    const size_t name_n = 4095 - strlen("1020 10 ");
    memset(expected, 'x', name_n);
    memcpy(expected + name_n, "+0x4", 5);
    expect_listed_function(&binary, expected);
    assert_int_equal(remove(path), 0);
}

static void trace_names_no_other_file_as_list(void **state)
{
    char path[128];
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/perf-/../../%s/list.map", work);
    shell("echo '1020 10 other' >list.map");
    const ttr_binary binary = {.size = sizeof binary,
                               .number = 1,
                               .path = {path, strlen(path)},
                               .build_id = {"", 0},
                               .debug_link = {"", 0}};
    shell("mkdir -p /tmp/perf-");
    expect_listed_function(&binary, "");
    shell("rmdir /tmp/perf-");
}

static void separate_unit_that_is_a_fifo_is_not_opened(void **state)
{
    char line[200];
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("split.so");
    (void)state;
    (void)snprintf(line, sizeof line,
                   "cd %s && echo 'int f(int x) { return x * 3; }' >f.c && "
                   "cc -g -gsplit-dwarf -fPIC -c f.c -o f.o && cc -shared -o split.so f.o",
                   work);
    if (!runs(line)) {
        print_message("# SKIP no compiler for this machine\n");
        return;
    }
    shell("rm f.dwo && mkfifo f.dwo");
    (void)alarm(20);
    assert_non_null(strstr(ask(&options, &binary, SAMPLE_PLAIN), "split.so+"));
    (void)alarm(0);
}

static void shared_debug_file_that_is_a_fifo_is_not_opened(void **state)
{
    ttr_symbols_options options = {0};
    const ttr_binary binary = binary_at("shared.so");
    (void)state;
    if (!has_objcopy())
        return;
    shell("mkfifo shared.fifo && printf 'shared.fifo\\0abcdefghijklmnopqrst' >link && $OBJCOPY "
          "--add-section=.gnu_debugaltlink=link whole.so shared.so");
    (void)alarm(20);
    check(ask(&options, &binary, SAMPLE_PLAIN), /* by its symbols */
          truth("shared.so", "sample_fill", SAMPLE_PLAIN, false));
    (void)alarm(0);
}

static bool count_down(void *user_data)
{
    int *left = user_data;
    return (*left)-- > 0;
}

static void cancelled_look_up_ends_without_result(void **state)
{
    int left = 0;
    ttr_symbols_options options = {.progress = count_down, .user_data = &left};
    const ttr_binary binary = binary_at("whole.so");
    (void)state;
    assert_string_equal(ask(&options, &binary, SAMPLE_PLAIN), "||");
    for (int allowed = 1; allowed < 100; allowed++) { /* wherever it is cancelled, it ends */
        left = allowed;
        (void)ask(&options, &binary, SAMPLE_PLAIN);
    }
    left = 1000000;
    check(ask(&options, &binary, SAMPLE_PLAIN),
          truth("whole.so", "sample_fill", SAMPLE_PLAIN, true));
}

static void wrong_options_are_refused(void **state)
{
    ttr_error error = {0};
    ttr_symbols_options options = {.flags = 0};
    (void)state;
    assert_null(ttr_symbols_new(&options, &error)); /* without its size */
    assert_int_equal(error.status, TTR_E_MISUSE);
    options = (ttr_symbols_options){.size = sizeof options, .flags = 1u << 20};
    assert_null(ttr_symbols_new(&options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_int_equal(unsetenv("DEBUGINFOD_URLS"), 0);
    options = (ttr_symbols_options){.size = sizeof options, .servers = ""};
    assert_null(ttr_symbols_new(&options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "DEBUGINFOD_URLS"));
    assert_null(ttr_symbols_new(&options, NULL));
    ttr_symbols_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_lines_are_found_in_the_binary_itself),
        cmocka_unit_test(mangled_name_is_demangled_unless_babeltrace2_is_imitated),
        cmocka_unit_test(inlined_code_has_the_line_of_its_call),
        cmocka_unit_test(full_paths_and_prefixes_are_used_if_wanted),
        cmocka_unit_test(absolute_address_is_shown_with_an_at_sign),
        cmocka_unit_test(missing_binary_has_its_name_and_is_counted_once),
        cmocka_unit_test(binary_with_another_build_id_is_not_used),
        cmocka_unit_test(file_that_is_not_a_program_is_counted),
        cmocka_unit_test(symbols_alone_give_functions),
        cmocka_unit_test(address_after_all_functions_is_in_none),
        cmocka_unit_test(debug_information_is_found_by_build_id),
        cmocka_unit_test(debug_information_is_found_by_its_link_and_checksum),
        cmocka_unit_test(damaged_files_give_what_they_can),
        cmocka_unit_test(functions_of_a_runtime_are_found_in_its_list),
        cmocka_unit_test(list_that_is_no_regular_file_is_not_read),
        cmocka_unit_test(list_of_another_user_is_not_read),
        cmocka_unit_test(name_in_a_list_is_cut_to_its_limit),
        cmocka_unit_test(trace_names_no_other_file_as_list),
        cmocka_unit_test(separate_unit_that_is_a_fifo_is_not_opened),
        cmocka_unit_test(shared_debug_file_that_is_a_fifo_is_not_opened),
        cmocka_unit_test(cancelled_look_up_ends_without_result),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
