/* TSDL of other projects: cases of the ctf-testsuite are accepted or rejected as it states, all
 * other CTF 1.8 metadata are parsed, and printing and parsing again results in equal descriptions.
 * Truncated and damaged texts must not crash. TTR_CORPUS is the folder of recorded traces; without
 * it the tests pass and print a line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/corpus.h"
#include "support/describe.h"
#include "formats/ctf/description/ctf_description.h"
#include "support/support.h"

#define FILES_MAX 400u
#define MUTATIONS 3000u /* default; TTR_MUTATIONS sets another number */

/* Metadata files below a folder. */
static struct {
    char path[FILES_MAX][512];
    size_t n;
} files;

static void add_files(const char *folder)
{
    char path[sizeof files.path[0]];
    struct stat about;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
        const char *name = entry->d_name;
        (void)snprintf(path, sizeof path, "%s/%s", folder, name);
        if (*name == '.' || stat(path, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode))
            add_files(path);
        else if ((strcmp(name, "metadata") == 0 || strstr(name, ".metadata.expect")) &&
                 files.n < FILES_MAX)
            memcpy(files.path[files.n++], path, sizeof path);
    }
    (void)closedir(list);
}

/* Finds the metadata below a folder of the corpus. Returns false if the corpus is missing. */
static bool find_files(const char *folder)
{
    char path[400];
    files.n = 0;
    if (corpus_find("ctf", folder, path, sizeof path))
        add_files(path);
    return files.n > 0;
}

static void read_file(const char *path, struct buffer *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    buffer_init(bytes, alloc_default());
    for (size_t n = 1; n > 0;) {
        uint8_t *at = buffer_room(bytes, 65536);
        assert_non_null(at);
        n = fread(at, 1, 65536, file);
        buffer_commit(bytes, n);
    }
    (void)fclose(file);
}

/* Parses a file if it is CTF 1.8 metadata, else fails. */
static ttr_status parse_bytes(struct ctf_description *description, const uint8_t *bytes, size_t n,
                              ttr_error *error)
{
    bool is_packetised;
    struct ctf_text text = {.file = "metadata"};
    ctf_description_init(description, alloc_default());
    if (ctf_detect_metadata_language(bytes, n, &is_packetised) != CTF_1_8)
        return TTR_E_UNSUPPORTED;
    ttr_status status = ctf_unpack_metadata(description, bytes, n, NULL, &text, error);
    return status == TTR_OK ? tsdl_parse(description, &text, error) : status;
}

static ttr_status parse_file(const char *path, struct ctf_description *description,
                             ttr_error *error)
{
    struct buffer bytes;
    read_file(path, &bytes);
    ttr_status status = parse_bytes(description, bytes.bytes, bytes.n, error);
    buffer_free(&bytes);
    return status;
}

static void describe(struct buffer *to, struct ctf_description *description)
{
    describe_forget_names(description);
    buffer_init(to, alloc_default());
    describe_ctf(to, description);
    buffer_add_byte(to, 0);
}

/* Prints a description, parses the text, and expects an equal description. */
static void check_again(const char *name, struct ctf_description *description)
{
    struct ctf_description again;
    struct buffer printed, a, b;
    ttr_error error = {0};
    buffer_init(&printed, alloc_default());
    if (tsdl_print(description, &printed, &error) != TTR_OK)
        fail_msg("%s is not printed: %s", name, error.text);
    if (parse_bytes(&again, printed.bytes, printed.n, &error) != TTR_OK)
        fail_msg("%s is not read again: %s", name, error.text);
    describe(&a, description);
    describe(&b, &again);
    if (a.n != b.n || memcmp(a.bytes, b.bytes, a.n) != 0)
        fail_msg("%s says something else when printed", name);
    buffer_free(&a);
    buffer_free(&b);
    buffer_free(&printed);
    ctf_description_free(&again);
}

static void valid_suite_cases_are_accepted(void **state)
{
    (void)state;
    if (!find_files("ctf-testsuite/metadata/pass"))
        return;
    for (size_t i = 0; i < files.n; i++) {
        struct ctf_description description;
        ttr_error error = {0};
        if (parse_file(files.path[i], &description, &error) != TTR_OK)
            fail_msg("%s: %s", files.path[i], error.text);
        check_again(files.path[i], &description);
        ctf_description_free(&description);
    }
}

static void invalid_suite_cases_are_refused(void **state)
{
    (void)state;
    if (!find_files("ctf-testsuite/metadata/fail"))
        return;
    for (size_t i = 0; i < files.n; i++) {
        struct ctf_description description;
        ttr_error error = {0};
        ttr_status status = parse_file(files.path[i], &description, &error);
        /* Damage, but not fatal: the stream's events of other ids are readable. */
        if (strstr(files.path[i], "/repeated-event-id-in-same-stream/"))
            assert_int_equal(status, TTR_OK);
        else
            assert_true(status == TTR_E_MALFORMED || status == TTR_E_UNSUPPORTED ||
                        status == TTR_E_TRUNCATED);
        if (status == TTR_E_MALFORMED && (!strstr(error.text, "metadata:") || error.line == 0))
            fail_msg("%s: no place: %s", files.path[i], error.text);
        ctf_description_free(&description);
    }
}

/* In babeltrace/ctf-traces/fail, one trace has only an invalid stream; the others have invalid
 * metadata. */
static void other_ctf_1_8_texts_survive_round_trip(void **state)
{
    (void)state;
    static const char *const folders[] = {"babeltrace/ctf-traces/succeed",
                                          "babeltrace/ctf-traces/intersection",
                                          "babeltrace/ctf-traces/live",
                                          "babeltrace/ctf-traces/packet-seq-num",
                                          "babeltrace/ctf-traces/deterministic-ordering",
                                          "barectf",
                                          "lttng-2.13.9",
                                          "lttng-2.15.1/discard18",
                                          "tracecompass"};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        if (!find_files(folders[f]))
            return;
        for (size_t i = 0; i < files.n; i++) {
            struct ctf_description description;
            ttr_error error = {0};
            ttr_status status = parse_file(files.path[i], &description, &error);
            if (status != TTR_OK && status != TTR_E_UNSUPPORTED)
                fail_msg("%s: %s", files.path[i], error.text);
            if (status == TTR_OK)
                check_again(files.path[i], &description);
            ctf_description_free(&description);
        }
    }
}

/* The largest file declares 1,181 kernel events; its description needs a few times the size of its
 * text. */
static void kernel_metadata_needs_little_memory(void **state)
{
    (void)state;
    struct ctf_description description;
    ttr_error error;
    if (!find_files("tracecompass/many-threads"))
        return;
    assert_int_equal(parse_file(files.path[0], &description, &error), TTR_OK);
    assert_int_equal(description.streams[0]->events_n, 1181);
    assert_true(description.arena.total < (size_t)3 << 20);
    ctf_description_free(&description);
}

/* Truncated at each byte, the text is rejected or describes less. */
static void metadata_cut_anywhere_does_not_crash(void **state)
{
    (void)state;
    struct buffer bytes;
    size_t fine = 0;
    if (!find_files("lttng-2.15.1/discard18"))
        return;
    read_file(files.path[0], &bytes);
    for (size_t n = 0; n <= bytes.n; n++) {
        struct ctf_description description;
        ttr_error error = {.offset = UINT64_MAX};
        ttr_status status = parse_bytes(&description, bytes.bytes, n, &error);
        if (status != TTR_OK && status != TTR_E_UNSUPPORTED)
            assert_true(status == TTR_E_MALFORMED && error.offset <= n);
        fine += status == TTR_OK;
        ctf_description_free(&description);
    }
    assert_true(fine >= 7); /* after the trace, and after each of six events */
    buffer_free(&bytes);
}

/* Damages a text: changes bytes, inserts keywords, and repeats, removes or moves parts. */
static size_t damage(const struct buffer *from, uint64_t *seed, char *to, size_t room)
{
    static const char *const words[] = {
        "{",        "}",  ";",   "<",       ">",          "[",
        "]",        ":=", "=",   "struct ", "variant ",   "enum ",
        "integer ", "-",  "\"",  "/*",      "0x",         "18446744073709551615",
        "stream",   ".",  "...", "align(",  "typealias ", "event.fields.",
        "_"};
    size_t n = from->n < room - 64 ? from->n : room - 64;
    memcpy(to, from->bytes, n);
    for (uint64_t times = 1 + support_random(seed) % 4; times > 0 && n > 0; times--) {
        size_t at = support_random(seed) % n, length = 1 + support_random(seed) % 32, left = n - at;
        const char *word = words[support_random(seed) % (sizeof words / sizeof *words)];
        length = length < left ? length : left;
        switch (support_random(seed) % 5) {
        case 0:
            to[at] = (char)support_random(seed);
            break;
        case 1:
            memmove(to + at, to + at + length, left - length);
            n -= length;
            break;
        case 2:
            if (n + length < room) {
                memmove(to + at + length, to + at, left);
                n += length;
            }
            break;
        case 3:
            if (n + strlen(word) < room) {
                memmove(to + at + strlen(word), to + at, left);
                memcpy(to + at, word, strlen(word));
                n += strlen(word);
            }
            break;
        default:
            to[at] ^= (char)(1u << support_random(seed) % 7);
        }
    }
    to[n] = 0;
    return n;
}

/* Each description that was parsed is printed or rejected with a reason, and the printed text
 * parses. */
static void parse_damaged(const char *p, size_t n)
{
    struct ctf_description description;
    struct ctf_text text = {.p = p, .n = n, .file = "metadata"};
    struct buffer printed;
    ttr_error error = {0};
    ctf_description_init(&description, alloc_default());
    buffer_init(&printed, alloc_default());
    ttr_status status = tsdl_parse(&description, &text, &error);
    assert_true(status == TTR_OK || status == TTR_E_MALFORMED || status == TTR_E_LIMIT);
    if (status == TTR_OK && tsdl_print(&description, &printed, &error) == TTR_OK) {
        struct ctf_description again;
        if (parse_bytes(&again, printed.bytes, printed.n, &error) != TTR_OK)
            fail_msg("not read again: %s", error.text);
        ctf_description_free(&again);
    }
    buffer_free(&printed);
    ctf_description_free(&description);
}

static void damaged_metadata_does_not_crash(void **state)
{
    (void)state;
    static char damaged[16384];
    const char *wanted = getenv("TTR_MUTATIONS");
    unsigned long mutations = wanted ? strtoul(wanted, NULL, 10) : MUTATIONS;
    uint64_t seed = 7;
    struct buffer bytes;
    if (!find_files("ctf-testsuite/metadata"))
        return;
    for (unsigned long i = 0; i < mutations; i++) {
        read_file(files.path[i % files.n], &bytes);
        parse_damaged(damaged, damage(&bytes, &seed, damaged, sizeof damaged));
        buffer_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_suite_cases_are_accepted),
        cmocka_unit_test(invalid_suite_cases_are_refused),
        cmocka_unit_test(other_ctf_1_8_texts_survive_round_trip),
        cmocka_unit_test(kernel_metadata_needs_little_memory),
        cmocka_unit_test(metadata_cut_anywhere_does_not_crash),
        cmocka_unit_test(damaged_metadata_does_not_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
