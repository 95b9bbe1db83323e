/* Folders of one trace with growing metadata: all of them are read with the longest. */
#include "formats/ctf/metadata/ctf_metadata_prefix.h"

#include <stdio.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/support.h"

#define FOLDERS_MAX 64u
#define TEXT_MAX 8192u
#define PACKET_BYTES 4096u /* size of metadata packets, as tracers write them */
#define PACKET_HEADER 37u

#define UUID "uuid = \"00000000-0000-0000-0000-00000000000a\"; "
#define OTHER_UUID "uuid = \"00000000-0000-0000-0000-00000000000b\"; "

#define TSDL(uuid)                                                                                 \
    "/* CTF 1.8 */\n"                                                                              \
    "typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 64; align = 8; " \
    "} := u64;\n"                                                                                  \
    "trace { " uuid "major = 1; minor = 8; byte_order = le; };\n"                                  \
    "clock { name = c; freq = 1000000000; };\n"                                                    \
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"                    \
    "stream { id = 0; event.header := struct { u8 id; ts timestamp; }; };\n"
#define TSDL_A "event { name = \"a\"; id = 0; stream_id = 0; fields := struct { u8 x; }; };\n"
#define TSDL_B "event { name = \"b\"; id = 1; stream_id = 0; fields := struct { string y; }; };\n"

#define NUMBER(bits, roles)                                           \
    "{\"type\": \"fixed-length-unsigned-integer\", \"length\": " bits \
    ", \"alignment\": 8, \"byte-order\": \"little-endian\"" roles "}"
#define MEMBER(name, class) "{\"name\": \"" name "\", \"field-class\": " class "}"
#define JSON                                                                                      \
    "\x1e{\"type\": \"preamble\", \"version\": 2, \"uuid\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, " \
    "12, 13, 14, 15, 16]}"                                                                        \
    "\x1e{\"type\": \"trace-class\"}\x1e{\"type\": \"clock-class\", \"id\": \"c\", "              \
    "\"frequency\": 1000000000}"                                                                  \
    "\x1e{\"type\": \"data-stream-class\", \"default-clock-class-id\": \"c\", "                   \
    "\"event-record-header-field-class\": {\"type\": \"structure\", "                             \
    "\"member-classes\": [" MEMBER(                                                               \
        "id",                                                                                     \
        NUMBER("8",                                                                               \
               ", \"roles\": [\"event-record-class-id\"]")) ", " MEMBER("timestamp",              \
                                                                        NUMBER(                   \
                                                                            "64",                 \
                                                                            ", \"roles\": "       \
                                                                            "[\"default-clock-"   \
                                                                            "timestamp\"]")) "]}}"
#define JSON_A                                                                                     \
    "\x1e{\"type\": \"event-record-class\", \"id\": 0, \"name\": \"a\", \"payload-field-class\": " \
    "{\"type\": \"structure\", \"member-classes\": [" MEMBER("x", NUMBER("8", "")) "]}}"
#define JSON_B                                                                                     \
    "\x1e{\"type\": \"event-record-class\", \"id\": 1, \"name\": \"b\", \"payload-field-class\": " \
    "{\"type\": \"structure\", \"member-classes\": [" MEMBER(                                      \
        "y", "{\"type\": \"null-terminated-string\"}") "]}}"

/* An event of each class, at 1 and 3 ns: the first is 10 bytes. */
static const uint8_t stream[] = "\0\1\0\0\0\0\0\0\0\7\1\3\0\0\0\0\0\0\0hey";
#define FIRST_EVENT 10u

/* Contents of the folders under test. */
struct set {
    char text[FOLDERS_MAX][TEXT_MAX];
    size_t text_n[FOLDERS_MAX], stream_n[FOLDERS_MAX], n;
};

static void add(struct set *set, const char *text, size_t text_n, size_t stream_n)
{
    assert_true(text_n <= TEXT_MAX && set->n < FOLDERS_MAX);
    memcpy(set->text[set->n], text, text_n);
    set->text_n[set->n] = text_n;
    set->stream_n[set->n++] = stream_n;
}

/* Adds a folder with metadata in packets of one size, with padding in the last. */
static void add_packets(struct set *set, const char *text, size_t text_n)
{
    static uint8_t file[TEXT_MAX];
    const size_t room = PACKET_BYTES - PACKET_HEADER;
    size_t n = 0;
    memset(file, 0, sizeof file);
    for (size_t at = 0; at < text_n; at += room, n += PACKET_BYTES) {
        const size_t content = text_n - at < room ? text_n - at : room;
        uint8_t *packet = file + n;
        assert_true(n + PACKET_BYTES <= TEXT_MAX);
        store_u32le(packet, 0x75d11d57);
        store_u32le(packet + 24, (uint32_t)(PACKET_HEADER + content) * 8);
        store_u32le(packet + 28, PACKET_BYTES * 8);
        packet[35] = 1;
        packet[36] = 8;
        memcpy(packet + PACKET_HEADER, text + at, content);
    }
    add(set, (const char *)file, n, sizeof stream);
}

struct given {
    size_t events;
    uint64_t damage, cut, longer;
};

static ttr_reader *open_set(ttr *t, const struct set *set, uint32_t flags)
{
    struct found_folder found[FOLDERS_MAX];
    char name[FOLDERS_MAX][16];
    const ttr_read_options options = {.size = sizeof options, .flags = flags};
    for (size_t i = 0; i < set->n; i++) {
        const ttr_file files[] = {{"metadata", set->text[i], set->text_n[i]},
                                  {"s", stream, set->stream_n[i]}};
        (void)snprintf(name[i], sizeof name[i], "chunk%zu", i);
        struct folder *folder = folder_open_memory(&t->counted, name[i], files, 2, NULL);
        if (!folder) {
            while (i > 0)
                folder_close(found[--i].folder);
            return NULL;
        }
        found[i] = (struct found_folder){folder, NULL};
    }
    return ctf_open_folders(t, &(struct found_folders){found, set->n, false}, &options, NULL);
}

static struct given read_set(const struct set *set)
{
    struct given given = {.events = 0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_set(t, set, 0);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            given.events += ttr_batch_at(&batch, i)->kind != TTR_KIND_GAP;
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        given.damage += report.damage_regions;
        for (size_t k = 0; k < report.notes_n; k++) {
            given.cut += strcmp(report.notes[k].code, "ctf.cut-metadata") == 0;
            given.longer += strcmp(report.notes[k].code, "ctf.longer-metadata") == 0;
        }
    }
    ttr_close(reader);
    ttr_free(t);
    return given;
}

/* Opens two folders in both orders; the metadata of the first is a prefix of the second's. */
static void expect(const char *text, size_t first, size_t second, const struct given *expected)
{
    static struct set set;
    for (unsigned turn = 0; turn < 2; turn++) {
        set.n = 0;
        add(&set, text, turn ? second : first, sizeof stream);
        add(&set, text, turn ? first : second, sizeof stream);
        const struct given given = read_set(&set);
        if (memcmp(&given, expected, sizeof given) != 0)
            fail_msg("%zu bytes of %zu, turn %u: %zu events, %llu damaged, %llu cut, %llu told",
                     first, second, turn, given.events, (unsigned long long)given.damage,
                     (unsigned long long)given.cut, (unsigned long long)given.longer);
    }
}

static void folders_use_longest_metadata_with_their_prefix(void **state)
{
    (void)state;
    static const char tsdl[] = TSDL(UUID) TSDL_A TSDL_B, json[] = JSON JSON_A JSON_B;
    static const struct given all = {.events = 4};
    expect(tsdl, sizeof TSDL(UUID) TSDL_A - 1, sizeof tsdl - 1, &all);
    expect(tsdl, sizeof TSDL(UUID) - 1, sizeof tsdl - 1, &all);
    expect(json, sizeof JSON JSON_A - 1, sizeof json - 1, &all);
    expect(json, sizeof JSON - 1, sizeof json - 1, &all);
}

/* The short metadata declares too little to read events, but names the trace. Its end between two
 * declarations cannot be detected. */
static void metadata_cut_before_stream_are_completed_by_longer_ones(void **state)
{
    (void)state;
    static const char tsdl[] = TSDL(UUID) TSDL_A TSDL_B, json[] = JSON JSON_A JSON_B;
    static const struct given all = {.events = 4, .damage = 1, .cut = 1, .longer = 1};
    const size_t trace = (size_t)(strstr(tsdl, "trace {") - tsdl),
                 stream_block = (size_t)(strstr(tsdl, "stream {") - tsdl);
    for (size_t n = (size_t)(strstr(tsdl, "uuid") - tsdl) + 64; n < sizeof TSDL(UUID) - 3; n++)
        if ((n > trace && tsdl[n - 1] != ';' && tsdl[n - 1] != '\n' && tsdl[n - 1] != ' ') ||
            n > stream_block)
            expect(tsdl, n, sizeof tsdl - 1, &all);
    for (size_t n = (size_t)(strstr(json, "\x1e{\"type\": \"data-stream") - json) + 2;
         n < sizeof JSON - 1; n++)
        expect(json, n, sizeof json - 1, &all);
}

/* The same beginning is not enough: only a UUID identifies a trace. */
static void metadata_cut_before_uuid_are_refused(void **state)
{
    (void)state;
    static const char text[] = TSDL(UUID) TSDL_A TSDL_B;
    static const struct given other = {.events = 2, .damage = 1};
    const size_t uuid = (size_t)(strstr(text, "uuid") - text);
    for (size_t n = uuid - 30; n < uuid + 60; n += 10)
        expect(text, n, sizeof text - 1, &other);
}

/* The damage is reported for the short file, and no event is lost. */
static void metadata_cut_in_declaration_are_completed_by_longer_ones(void **state)
{
    (void)state;
    static const char tsdl[] = TSDL(UUID) TSDL_A TSDL_B, json[] = JSON JSON_A JSON_B;
    static const struct given all = {.events = 4, .damage = 1, .cut = 1, .longer = 1};
    for (size_t n = sizeof TSDL(UUID) TSDL_A; n < sizeof tsdl - 3; n++)
        expect(tsdl, n, sizeof tsdl - 1, &all);
    for (size_t n = sizeof JSON JSON_A + 1; n < sizeof json - 1; n++)
        expect(json, n, sizeof json - 1, &all);
}

static void metadata_in_packets_grow_in_files_of_one_size(void **state)
{
    (void)state;
    static const char text[] = TSDL(UUID) TSDL_A TSDL_B;
    static struct set set;
    for (unsigned turn = 0; turn < 2; turn++) {
        set.n = 0;
        for (size_t i = 0; i < 2; i++)
            add_packets(&set, text, i == turn ? sizeof text - 1 : sizeof TSDL(UUID) TSDL_A - 1);
        assert_int_equal(set.text_n[0], set.text_n[1]);
        const struct given given = read_set(&set);
        assert_int_equal(given.events, 4);
        assert_int_equal(given.damage, 0);
    }
}

/* Expects both events of the second folder, and of the first those that its own metadata describes.
 */
static void expect_own(const char *first, size_t events)
{
    static const char whole[] = TSDL(UUID) TSDL_A TSDL_B;
    static struct set set;
    set.n = 0;
    add(&set, first, strlen(first), sizeof stream);
    add(&set, whole, sizeof whole - 1, sizeof stream);
    const struct given given = read_set(&set);
    assert_int_equal(given.events, 2 + events);
    assert_int_equal(given.damage, events == 2 ? 0 : 1);
    assert_int_equal(given.longer, 0);
}

static void differing_metadata_stay_with_their_folders(void **state)
{
    (void)state;
    expect_own(
        TSDL(UUID) "event { name = \"c\"; id = 0; stream_id = 0; fields := struct { u8 x; }; };\n",
        1);
    expect_own(TSDL(OTHER_UUID) TSDL_A, 1);
    expect_own(TSDL(UUID) TSDL_A " " TSDL_B, 2);
}

static void traces_without_uuid_are_unrelated(void **state)
{
    (void)state;
    static const char
        text[] = TSDL("") TSDL_A TSDL_B,
        named[] =
            TSDL("/* no uuid, though it is named here, and nothing of the kind following it */")
                TSDL_A TSDL_B;
    static const struct given ctx = {.events = 3, .damage = 1};
    expect(text, sizeof TSDL("") TSDL_A - 1, sizeof text - 1, &ctx);
    expect(named, (size_t)(strstr(named, TSDL_B) - named), sizeof named - 1, &ctx);
}

static void invalid_longer_metadata_do_not_affect_others(void **state)
{
    (void)state;
    static const char text[] = TSDL(UUID) TSDL_A "event { name = ; };\n";
    static struct set set;
    for (unsigned turn = 0; turn < 2; turn++) {
        set.n = 0;
        for (unsigned i = 0; i < 3; i++) /* one of them is invalid */
            add(&set, text, i == 2 * turn ? sizeof text - 1 : sizeof TSDL(UUID) TSDL_A - 1,
                FIRST_EVENT);
        const struct given given = read_set(&set);
        assert_int_equal(given.events, 2);
    }
}

static void folders_without_events_keep_the_names_of_their_metadata(void **state)
{
    (void)state;
    static const char text[] = TSDL(UUID) TSDL_A TSDL_B;
    static struct set set;
    ttr *t = ttr_new(NULL);
    set.n = 0;
    for (unsigned i = 0; i < 4; i++)
        add(&set, text, i % 2 ? sizeof text - 1 : sizeof TSDL(UUID) TSDL_A - 1, 0);
    ttr_reader *reader = open_set(t, &set, 0);
    assert_non_null(reader);
    for (size_t i = 0; i < set.n; i++) {
        char path[48];
        ttr_report report = {.size = sizeof report};
        (void)snprintf(path, sizeof path, "chunk%zu/metadata", i);
        assert_true(ttr_reader_report(reader, i, &report));
        assert_string_equal(report.path.p, path);
    }
    ttr_close(reader);
    ttr_free(t);
}

static void strict_reading_fails_on_cut_metadata(void **state)
{
    (void)state;
    static const char text[] = TSDL(UUID) TSDL_A TSDL_B;
    static struct set set;
    for (size_t cut = 0; cut < 40; cut += 20) {
        set.n = 0;
        add(&set, text, sizeof TSDL(UUID) TSDL_A - 1 + cut, sizeof stream);
        add(&set, text, sizeof text - 1, sizeof stream);
        ttr *t = ttr_new(NULL);
        ttr_reader *reader = open_set(t, &set, TTR_READ_STRICT);
        assert_int_equal(reader != NULL, cut == 0);
        ttr_close(reader);
        ttr_free(t);
    }
}

/* Snapshots of a growing trace: all folders share one parsed class. */
static void metadata_that_grow_from_folder_to_folder_are_kept_once(void **state)
{
    (void)state;
    static char text[TEXT_MAX];
    static struct set set;
    struct support_heap heap;
    size_t n = sizeof TSDL(UUID) TSDL_A TSDL_B - 1, bytes[2];
    memcpy(text, TSDL(UUID) TSDL_A TSDL_B, n);
    set.n = 0;
    for (unsigned i = 0; i < 50; i++) {
        add(&set, text, n, sizeof stream);
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "event { name = \"e%u\"; id = %u; stream_id = 0; fields := struct { u8 x; }; };\n", i,
            i + 2);
    }
    support_heap_init(&heap, 0);
    const ttr_options options = {
        .size = sizeof options, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
    ttr *t = ttr_new(&options);
    for (unsigned turn = 0; turn < 2; turn++) {
        ttr_reader *reader = open_set(t, &set, 0);
        assert_non_null(reader);
        bytes[turn] = heap.bytes;
        ttr_close(reader);
        for (size_t i = 0; i < set.n; i++) { /* now with identical metadata */
            memcpy(set.text[i], set.text[set.n - 1], set.text_n[set.n - 1]);
            set.text_n[i] = set.text_n[set.n - 1];
        }
    }
    if (bytes[0] > bytes[1] + 2000 * set.n)
        fail_msg("%zu bytes, not %zu", bytes[0], bytes[1]);
    ttr_free(t);
    support_heap_check(&heap);
}

static bool open_some(const struct alloc *alloc)
{
    static const char text[] = TSDL(UUID) TSDL_A TSDL_B;
    static struct set set;
    const ttr_options options = {
        .size = sizeof options, .resize = alloc->resize, .user_data = alloc->ctx};
    set.n = 0;
    add_packets(&set, text, sizeof TSDL(UUID) TSDL_A - 1);
    add(&set, text, sizeof TSDL(UUID) TSDL_A + 20, sizeof stream);
    add(&set, text, sizeof TSDL(UUID) - 20, sizeof stream);
    add(&set, text, sizeof text - 1, sizeof stream);
    add(&set, text, sizeof TSDL(UUID) TSDL_A - 1, sizeof stream);
    ttr *t = ttr_new(&options);
    ttr_reader *reader = t ? open_set(t, &set, 0) : NULL;
    ttr_close(reader);
    ttr_free(t);
    return reader != NULL;
}

static void each_allocation_failure_with_growing_metadata_is_reported(void **state)
{
    (void)state;
    support_fail_each(open_some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_cut_before_stream_are_completed_by_longer_ones),
        cmocka_unit_test(metadata_cut_before_uuid_are_refused),
        cmocka_unit_test(folders_use_longest_metadata_with_their_prefix),
        cmocka_unit_test(metadata_cut_in_declaration_are_completed_by_longer_ones),
        cmocka_unit_test(metadata_in_packets_grow_in_files_of_one_size),
        cmocka_unit_test(differing_metadata_stay_with_their_folders),
        cmocka_unit_test(traces_without_uuid_are_unrelated),
        cmocka_unit_test(invalid_longer_metadata_do_not_affect_others),
        cmocka_unit_test(folders_without_events_keep_the_names_of_their_metadata),
        cmocka_unit_test(strict_reading_fails_on_cut_metadata),
        cmocka_unit_test(metadata_that_grow_from_folder_to_folder_are_kept_once),
        cmocka_unit_test(each_allocation_failure_with_growing_metadata_is_reported)};
    return cmocka_run_group_tests_name("ctf_grown", tests, NULL, NULL);
}
