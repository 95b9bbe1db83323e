/* Incremental metadata: ends of declarations, and any split results in the same description. */
#include "formats/ctf/live/live_metadata.h"

#include <stdio.h>

#include "support/support.h"

static const char tsdl[] =
    "/* CTF 1.8 */\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; "
    "align = 8; } magic; }; };\n"
    "env { hostname = \"a;b}\\\"\"; /* ; } */ };\n"
    "clock { name = c; freq = 1000; };\n"
    "stream { event.header := struct { integer { size = 32; align = 8; } id; integer { size = 64; "
    "align = 8; map = clock.c.value; } timestamp; }; };\n"
    "event { name = \"one\"; id = 0; fields := struct { integer { size = 8; } v; }; }; // done; "
    "really\n";

/* --- Ends of declarations --- */

/* Returns the end of complete declarations; scans at once and byte by byte, which must agree. */
static size_t whole(enum ctf_version version, const char *text)
{
    struct live_scan once = {.at = 0}, slow = {.at = 0};
    size_t n = strlen(text);
    live_scan_declarations(&once, version, text, n);
    for (size_t i = 1; i <= n; i++)
        live_scan_declarations(&slow, version, text, i);
    assert_int_equal(once.whole, slow.whole);
    return once.whole;
}

static void declaration_ends_at_outermost_semicolon(void **state)
{
    (void)state;
    assert_int_equal(whole(CTF_1_8, "trace { a = 1; "), 0);
    assert_int_equal(whole(CTF_1_8, "trace { a = 1; };"), 17);
    assert_int_equal(whole(CTF_1_8, "trace { a = 1; };\nclock"), 17);
    assert_int_equal(whole(CTF_1_8, "a[3;] b(;) ; c"), 12);
}

static void quoted_semicolons_and_braces_are_ignored(void **state)
{
    (void)state;
    assert_int_equal(whole(CTF_1_8, "/* CTF 1.8; */"), 0);
    assert_int_equal(whole(CTF_1_8, "/*/ ; */ a;"), 11);
    assert_int_equal(whole(CTF_1_8, "// a;\nb;"), 8);
    assert_int_equal(whole(CTF_1_8, "a / b; c"), 6);
    assert_int_equal(whole(CTF_1_8, "\"a;\\\";\" b"), 0);
    assert_int_equal(whole(CTF_1_8, "';' '\\'' '{' ; x"), 14);
    assert_int_equal(whole(CTF_1_8, "/* \" */ a; \" b;"), 10);
}

static void ctf_2_fragment_ends_after_object_and_line(void **state)
{
    (void)state;
    assert_int_equal(whole(CTF_2, "\x1e{\"type\": \"preamble\""), 0);
    assert_int_equal(whole(CTF_2, "\x1e{\"a\": {\"}\": [1]}}"), 18);
    assert_int_equal(whole(CTF_2, "\x1e{}\n\x1e{"), 4);
    assert_int_equal(whole(CTF_2, "\n\x1e{\"it's\": 1}"), 13);
}

/* --- Reading --- */

static size_t put_packet(uint8_t *to, const char *text, size_t n, size_t padding, bool is_big)
{
    size_t content = 37 + n, size = content + padding;
    memset(to, 0, size);
    (is_big ? store_u32be : store_u32le)(to, 0x75d11d57);
    (is_big ? store_u32be : store_u32le)(to + 24, (uint32_t)content * 8);
    (is_big ? store_u32be : store_u32le)(to + 28, (uint32_t)size * 8);
    to[35] = 1;
    to[36] = 8;
    memcpy(to + 37, text, n);
    return size;
}

struct scene {
    ttr *t;
    struct ctf_trace *trace;
    struct live_metadata metadata;
};

static void set(struct scene *scene)
{
    scene->t = ttr_new(NULL);
    scene->trace = ctf_trace_new(scene->t, NULL, NULL);
    assert_non_null(scene->trace);
    live_metadata_init(&scene->metadata, alloc_default());
}

static void clear(struct scene *scene)
{
    live_metadata_free(&scene->metadata);
    ctf_trace_unref(scene->trace);
    ttr_free(scene->t);
}

static ttr_status read_up_to(struct scene *scene, const void *bytes, size_t n, ttr_error *error)
{
    return live_metadata_read(&scene->metadata, scene->trace, bytes, n, "metadata", error);
}

static void assert_whole(const struct scene *scene)
{
    const struct ctf_description *description = &scene->trace->class->description;
    assert_int_equal(description->streams_n, 1);
    assert_int_equal(description->streams[0]->events_n, 1);
    assert_int_equal(description->clocks_n, 1);
    assert_int_equal(description->clocks[0]->frequency, 1000);
    support_assert_text(ctf_find_environment(description, "hostname")->text.p,
                        ctf_find_environment(description, "hostname")->text.n, "a;b}\"");
}

static void text_in_two_parts_equals_complete_text(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof tsdl; cut++) {
        struct scene scene;
        ttr_error error = {0};
        set(&scene);
        assert_int_equal(read_up_to(&scene, tsdl, cut, &error), TTR_OK);
        assert_int_equal(read_up_to(&scene, tsdl, sizeof tsdl - 1, &error), TTR_OK);
        assert_whole(&scene);
        clear(&scene);
    }
}

static void packets_cut_anywhere_yield_complete_text(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    char text[sizeof tsdl];
    for (size_t cut = 1; cut < sizeof tsdl - 1; cut += 3) {
        struct scene scene;
        ttr_error error = {0};
        memcpy(text, tsdl, sizeof text);
        *strstr(text, "le;") = cut & 1 ? 'b' : 'l';
        size_t n = put_packet(bytes, text, cut, 11, cut & 1);
        n += put_packet(bytes + n, text + cut, sizeof text - 1 - cut, 0, cut & 1);
        set(&scene);
        for (size_t shown = 0; shown < n; shown += 53)
            assert_int_equal(read_up_to(&scene, bytes, shown, &error), TTR_OK);
        assert_int_equal(read_up_to(&scene, bytes, n, &error), TTR_OK);
        assert_true(scene.metadata.is_packetised);
        assert_whole(&scene);
        clear(&scene);
    }
}

static void later_events_extend_metadata(void **state)
{
    (void)state;
    struct scene scene;
    ttr_error error = {0};
    char text[4096];
    set(&scene);
    assert_int_equal(read_up_to(&scene, tsdl, sizeof tsdl - 1, &error), TTR_OK);
    int n =
        snprintf(text, sizeof text,
                 "%sevent { name = \"two\"; id = 7; fields := struct { string s; }; };\n", tsdl);
    assert_int_equal(read_up_to(&scene, text, (size_t)n, &error), TTR_OK);
    assert_non_null(ctf_find_event(scene.trace->class->description.streams[0], 7));
    clear(&scene);
}

static void invalid_metadata_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    ttr_error error = {0};
    set(&scene);
    assert_int_equal(
        read_up_to(&scene, "this is nothing that anybody could read as CTF", 46, &error),
        TTR_E_UNSUPPORTED);
    clear(&scene);
    set(&scene);
    assert_int_equal(
        read_up_to(&scene, "/* CTF 1.8 */ trace { oops; oops }; more of it", 46, &error),
        TTR_E_MALFORMED);
    assert_non_null(strstr(error.text, "metadata"));
    clear(&scene);
}

static void impossible_packet_size_is_reported(void **state)
{
    (void)state;
    uint8_t bytes[200];
    struct scene scene;
    ttr_error error = {0};
    size_t n = put_packet(bytes, tsdl, 100, 0, false);
    store_u32le(bytes + 28, 16);
    set(&scene);
    assert_int_equal(read_up_to(&scene, bytes, n, &error), TTR_E_MALFORMED);
    clear(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declaration_ends_at_outermost_semicolon),
        cmocka_unit_test(quoted_semicolons_and_braces_are_ignored),
        cmocka_unit_test(ctf_2_fragment_ends_after_object_and_line),
        cmocka_unit_test(text_in_two_parts_equals_complete_text),
        cmocka_unit_test(packets_cut_anywhere_yield_complete_text),
        cmocka_unit_test(later_events_extend_metadata),
        cmocka_unit_test(invalid_metadata_is_refused),
        cmocka_unit_test(impossible_packet_size_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
