/* Opens our metadata with Babeltrace: it accepts the printed metadata without a message, accepts
 * what our parser accepts, and refuses what our parser refuses. Skipped if babeltrace2 is not
 * installed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/ctf/description/ctf_description.h"
#include "support/support.h"

#define TRACE                                                                                     \
    "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\ntypealias integer { size " \
    "= 8; } := u8;\n"

static char folder[] = "/tmp/tsdl-peer-XXXXXX";

static bool has_babeltrace(void)
{
    if (system("command -v babeltrace2 >/dev/null 2>&1") == 0)
        return true;
    print_message("# SKIP no babeltrace2\n");
    return false;
}

/* Runs Babeltrace on a folder with this metadata and no streams. Returns 0 = opened without a
 * message, 1 = with messages, 2 = refused. */
static int ask_babeltrace(const void *metadata, size_t n)
{
    char path[80], command[200];
    (void)snprintf(path, sizeof path, "%s/metadata", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(metadata, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(command, sizeof command,
                   "timeout 60 babeltrace2 %s >%s/said 2>&1 || exit 2; test ! -s %s/said", folder,
                   folder, folder);
    int status = system(command);
    return status == 0 ? 0 : status == 256 ? 1 : 2;
}

static ttr_status parse(struct ctf_description *description, const char *source)
{
    struct ctf_text text = {.p = source, .n = strlen(source), .file = "metadata"};
    ctf_description_init(description, alloc_default());
    return tsdl_parse(description, &text, NULL);
}

/* Everything that Babeltrace 2.0 reads. It does not accept negative log levels, lengths in event
 * contexts, other sizes of floating point, or labels of options that differ by an underscore. */
static const char *const taken[] = {
    TRACE "event { name = \"\"; };",
    TRACE "stream { }; event { name = a; fields := struct { integer { size = 12; align = 4; signed "
          "= true; byte_order = be; base = 8; } _a;\n"
          "floating_point { exp_dig = 11; mant_dig = 53; align = 64; byte_order = be; } d; string "
          "{ encoding = ASCII; } s; string t;\n"
          "integer { size = 8; encoding = UTF8; } text[10]; u8 n; string strings[3][n][2]; struct "
          "{ u8 n; u8 inner[n]; u8 outer[event.fields.n];\n"
          "struct { } empty; } list[4]; } align(128); };",
    TRACE "clock { name = c; uuid = \"d0367630-5511-4855-a390-afe86f9b4545\"; description = \"a "
          "\\\"b\\\"\"; freq = 1000; precision = 3;\n"
          "offset_s = 17; offset = 5; absolute = true; };\nstream { event.header := struct { enum "
          ": integer { size = 5; } { compact = 0 ... 30,\n"
          "extended = 31 } id; variant <id> { struct { integer { size = 27; map = clock.c.value; } "
          "timestamp; } compact; struct { u8 id;\n"
          "integer { size = 64; } timestamp; } extended; } v; } align(8); };\nevent { name = b; id "
          "= 3; loglevel = 4; model.emf.uri = \"x\";\n"
          "context := struct { u8 n; string s; }; };",
    TRACE "env { int = 9223372036854775807; b = -9223372036854775808; c.d = \"\\x41\\n\"; "
          "};\nevent { name = c; fields := struct {\n"
          "enum : integer { size = 8; signed = true; } { A = -128 ... -1, A = 5, \"b c\" = 0, _int "
          "= 1 } e;\n"
          "variant <e> { string A; struct { u8 x; } _int; } v[2]; }; };",
};

/* Without the deviations that only our parser tolerates. */
static const char *const refused[] = {
    TRACE "event { name = a; fields := struct { integer { align = 8; } f; }; };",
    TRACE "event { name = a; fields := struct { u8 f; u8 f; }; };",
    TRACE "event { name = a; fields := struct { u8 a[b]; }; };",
    TRACE "event { name = a; fields := struct { u8 t; variant <t> { u8 a; } v; }; };",
    TRACE "typealias integer { size = 8; } := u8;",
    TRACE "trace { };",
    TRACE "typedef u8 int;",
    TRACE "struct { u8 trace; };",
    "/* CTF 1.8 */ trace { major = 1; minor = 8; };",
    "/* CTF 1.8 */ trace { major = 0; minor = 1; byte_order = le; };",
};

static void babeltrace_opens_what_is_printed_without_a_word(void **state)
{
    (void)state;
    if (!has_babeltrace())
        return;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        struct ctf_description description;
        struct buffer printed;
        buffer_init(&printed, alloc_default());
        assert_int_equal(parse(&description, taken[i]), TTR_OK);
        assert_int_equal(tsdl_print(&description, &printed, NULL), TTR_OK);
        if (ask_babeltrace(taken[i], strlen(taken[i])) != 0 ||
            ask_babeltrace(printed.bytes, printed.n) != 0)
            fail_msg("text %zu: see %s", i, folder);
        buffer_free(&printed);
        ctf_description_free(&description);
    }
}

static void babeltrace_refuses_what_we_refuse(void **state)
{
    (void)state;
    if (!has_babeltrace())
        return;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ctf_description description;
        if (parse(&description, refused[i]) != TTR_E_MALFORMED)
            fail_msg("text %zu is taken", i);
        if (ask_babeltrace(refused[i], strlen(refused[i])) != 2)
            fail_msg("text %zu: see %s", i, folder);
        ctf_description_free(&description);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(babeltrace_opens_what_is_printed_without_a_word),
        cmocka_unit_test(babeltrace_refuses_what_we_refuse),
    };
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[100];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return failed ? failed : system(command);
}
