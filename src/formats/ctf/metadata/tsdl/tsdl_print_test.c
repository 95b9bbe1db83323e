/* Printer of TSDL: texts in the printer's form are reproduced exactly; types of CTF 2 are replaced
 * by types of TSDL, or rejected. */
#include <stdio.h>

#include "support/ctf2_case.h"
#include "support/describe.h"
#include "support/support.h"

#define CLASS_U8 "integer { size = 8; align = 8; signed = false; }"

/* All constructs in the form of the printer, which must be reproduced exactly. */
static const char everything[] =
    "/* CTF 1.8 */\n"
    "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = "
    "\"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\n\tbyte_order = le;\n"
    "\tpacket.header := struct {\n"
    "\t\tinteger { size = 32; align = 8; signed = false; base = 16; } magic;\n"
    "\t\t" CLASS_U8 " uuid[16];\n"
    "\t\tinteger { size = 32; align = 8; signed = false; } stream_id;\n"
    "\t};\n};\n"
    "\nenv {\n\tdomain = \"a \\\"b\\\" \\\\ \\012\xc3\xa9\";\n\ttracer_major = -2;\n\tint = "
    "9223372036854775807;\n\tlow = -9223372036854775808;\n};\n"
    "\nclock {\n\tname = \"monotonic\";\n\tuuid = "
    "\"d0367630-5511-4855-a390-afe86f9b4545\";\n\tdescription = \"Monotonic Clock\";\n"
    "\tfreq = 1000;\n\tprecision = 3;\n\toffset_s = -17;\n\toffset = 5;\n\tabsolute = TRUE;\n};\n"
    "\nstream {\n\tid = 0;\n"
    "\tpacket.context := struct {\n"
    "\t\tinteger { size = 64; align = 8; signed = false; map = clock.monotonic.value; } "
    "timestamp_begin;\n"
    "\t\tinteger { size = 64; align = 8; signed = false; map = clock.monotonic.value; } "
    "timestamp_end;\n"
    "\t\tinteger { size = 32; align = 8; signed = false; } cpu_id;\n"
    "\t};\n"
    "\tevent.header := struct {\n"
    "\t\tenum : integer { size = 5; align = 1; signed = false; } {\n\t\t\tcompact = 0 ... "
    "30,\n\t\t\textended = 31,\n\t\t} id;\n"
    "\t\tvariant <id> {\n"
    "\t\t\tstruct {\n\t\t\t\tinteger { size = 27; align = 1; signed = false; map = "
    "clock.monotonic.value; } timestamp;\n\t\t\t} compact;\n"
    "\t\t\tstruct {\n\t\t\t\tinteger { size = 32; align = 8; signed = false; } id;\n"
    "\t\t\t\tinteger { size = 64; align = 8; signed = false; map = clock.monotonic.value; } "
    "timestamp;\n\t\t\t} extended;\n"
    "\t\t} v;\n"
    "\t} align(8);\n"
    "\tevent.context := struct {\n\t\t" CLASS_U8 " n;\n\t};\n"
    "};\n"
    "\nevent {\n\tname = \"first one\";\n\tid = 7;\n\tstream_id = 0;\n\tloglevel = "
    "-3;\n\tmodel.emf.uri = \"http://example.org\";\n"
    "\tcontext := struct {\n\t\t" CLASS_U8 " deep[stream.event.context.n][2];\n\t};\n"
    "\tfields := struct {\n"
    "\t\tinteger { size = 12; align = 4; signed = true; byte_order = be; base = 8; } _a;\n"
    "\t\tfloating_point { exp_dig = 11; mant_dig = 53; align = 64; byte_order = be; } d;\n"
    "\t\tstring { encoding = ASCII; } s;\n"
    "\t\tinteger { size = 8; align = 8; signed = false; encoding = UTF8; } text[10];\n"
    "\t\t" CLASS_U8 " n;\n"
    "\t\tstring strings[3][n][2];\n"
    "\t\tstruct {\n"
    "\t\t\t" CLASS_U8 " n;\n"
    "\t\t\t" CLASS_U8 " inner[n];\n"
    "\t\t\t" CLASS_U8 " outer[event.fields.n];\n"
    "\t\t\tstruct {\n\t\t\t} empty;\n"
    "\t\t} list[4];\n"
    "\t\tenum : integer { size = 8; align = 8; signed = true; } {\n\t\t\tA = -128 ... -1,\n\t\t\tA "
    "= 5,\n\t\t\t\"b c\" = 0,\n\t\t\t\"int\" = 1,\n\t\t} e;\n"
    "\t\tvariant <e> {\n\t\t\tstring A;\n\t\t\tstruct {\n\t\t\t\t" CLASS_U8
    " x[n];\n\t\t\t} _int;\n\t\t} v[2];\n"
    "\t} align(128);\n"
    "};\n";

static void parse(struct ctf_description *description, const char *p, size_t n)
{
    struct ctf_text text = {.p = p, .n = n, .file = "metadata"};
    ttr_error error = {0};
    ctf_description_init(description, alloc_default());
    if (tsdl_parse(description, &text, &error) != TTR_OK)
        fail_msg("%s", error.text);
}

static void print(const struct ctf_description *description, struct buffer *to)
{
    ttr_error error = {0};
    buffer_init(to, alloc_default());
    if (tsdl_print(description, to, &error) != TTR_OK)
        fail_msg("%s", error.text);
    *buffer_room(to, 1) = 0;
}

static void printer_form_is_reproduced_exactly(void **state)
{
    (void)state;
    struct ctf_description description;
    struct buffer printed;
    parse(&description, everything, sizeof everything - 1);
    print(&description, &printed);
    support_assert_text(printed.bytes, printed.n, everything);
    buffer_free(&printed);
    ctf_description_free(&description);
}

static void printed_tsdl_parses_to_equal_description(void **state)
{
    (void)state;
    struct ctf_description first, second;
    struct buffer printed, a, b;
    parse(&first, everything, sizeof everything - 1);
    print(&first, &printed);
    parse(&second, (const char *)printed.bytes, printed.n);
    buffer_init(&a, alloc_default());
    buffer_init(&b, alloc_default());
    describe_ctf(&a, &first);
    describe_ctf(&b, &second);
    buffer_add_byte(&a, 0);
    support_assert_text(b.bytes, b.n, (const char *)a.bytes);
    buffer_free(&a);
    buffer_free(&b);
    buffer_free(&printed);
    ctf_description_free(&second);
    ctf_description_free(&first);
}

/* Babeltrace requires that a stream has no id if its packets contain none. */
static void redundant_ids_are_not_printed(void **state)
{
    (void)state;
    static const char source[] = "trace { major = 1; minor = 8; byte_order = be; }; event { };";
    struct ctf_description description;
    struct buffer printed;
    parse(&description, source, sizeof source - 1);
    print(&description, &printed);
    support_assert_text(printed.bytes, printed.n,
                        "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = "
                        "be;\n};\n\nstream {\n};\n\nevent {\n\tname = \"\";\n\tid = 0;\n};\n");
    buffer_free(&printed);
    ctf_description_free(&description);
}

static void check_clock(const char *offsets, const char *lines)
{
    char source[300], wanted[100];
    struct ctf_description description;
    struct buffer printed;
    (void)snprintf(
        source, sizeof source,
        "trace { major = 1; minor = 8; byte_order = be; }; clock { name = c; freq = 10; %s };",
        offsets);
    (void)snprintf(wanted, sizeof wanted, "\tfreq = 10;\n%s};\n", lines);
    parse(&description, source, strlen(source));
    print(&description, &printed);
    if (!strstr((const char *)printed.bytes, wanted))
        fail_msg("expected %s, got %s", wanted, (const char *)printed.bytes);
    buffer_free(&printed);
    ctf_description_free(&description);
}

/* Section 8: offset_s + offset / freq, both signed; Babeltrace 2.0 rejects negative offsets. */
static void negative_clock_cycles_reduce_seconds(void **state)
{
    (void)state;
    check_clock("offset = -1;", "\toffset_s = -1;\n\toffset = 9;\n");
    check_clock("offset_s = 7; offset = -20;", "\toffset_s = 5;\n");
    check_clock("offset_s = -9223372036854775808; offset = -20;",
                "\toffset_s = -9223372036854775808;\n\toffset = -20;\n");
}

/* Expects these lines for the payload of a CTF 2 event with the members. */
static void check_members(const char *quoted, const char *lines)
{
    struct ctf2_case c;
    struct buffer source, printed, wanted;
    struct ctf_description again;
    buffer_init(&source, alloc_default());
    buffer_add_text(&source, CTF2_BEFORE);
    buffer_add_text(&source, quoted);
    buffer_add_text(&source, CTF2_AFTER);
    buffer_add_byte(&source, 0);
    ctf2_case_parse(&c, alloc_default(), (const char *)source.bytes);
    if (c.status != TTR_OK)
        fail_msg("%s", c.error.text);
    print(&c.description, &printed);
    buffer_init(&wanted, alloc_default());
    buffer_add_text(&wanted, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = "
                             "le;\n};\n\nstream {\n};\n\n"
                             "event {\n\tname = \"\";\n\tid = 0;\n\tfields := struct {\n");
    buffer_add_text(&wanted, lines);
    buffer_add_text(&wanted, "\t};\n};\n");
    buffer_add_byte(&wanted, 0);
    support_assert_text(printed.bytes, printed.n, (const char *)wanted.bytes);
    parse(&again, (const char *)printed.bytes, printed.n);
    ctf_description_free(&again);
    buffer_free(&wanted);
    buffer_free(&printed);
    buffer_free(&source);
    ctf2_case_free(&c);
}

static void refuse_members(const char *quoted, const char *message)
{
    struct ctf2_case c;
    struct buffer source, printed;
    ttr_error error = {0};
    buffer_init(&source, alloc_default());
    buffer_init(&printed, alloc_default());
    buffer_add_text(&source, CTF2_BEFORE);
    buffer_add_text(&source, quoted);
    buffer_add_text(&source, CTF2_AFTER);
    buffer_add_byte(&source, 0);
    ctf2_case_parse(&c, alloc_default(), (const char *)source.bytes);
    if (c.status != TTR_OK)
        fail_msg("%s", c.error.text);
    assert_int_equal(tsdl_print(&c.description, &printed, &error), TTR_E_UNSUPPORTED);
    if (!strstr(error.text, message))
        fail_msg("expected \"%s\", got %s", message, error.text);
    assert_int_equal(printed.n, 0);
    buffer_free(&printed);
    buffer_free(&source);
    ctf2_case_free(&c);
}

#define LE "'byte-order':'little-endian'"
#define U8_LINE(name) "\t\tinteger { size = 8; align = 1; signed = false; } " name ";\n"

static void booleans_flags_bits_and_bytes_are_integers(void **state)
{
    (void)state;
    check_members(CTF2_BOOL("x"), "\t\tinteger { size = 8; align = 1; signed = false; } x;\n");
    check_members("{'name':'x','field-class':{'type':'fixed-length-bit-array','length':5,'byte-"
                  "order':'big-endian'}}",
                  "\t\tinteger { size = 5; align = 1; signed = false; byte_order = be; } x;\n");
    check_members("{'name':'x','field-class':{'type':'fixed-length-bit-map','length':8," LE
                  ",'flags':{'a':[[0,1]]}}}",
                  "\t\tinteger { size = 8; align = 1; signed = false; } x;\n");
    check_members("{'name':'x','field-class':{'type':'static-length-blob','length':3}}",
                  "\t\tinteger { size = 8; align = 8; signed = false; base = 16; } x[3];\n");
    check_members("{'name':'x','field-class':{'type':'static-length-string','length':3}}",
                  "\t\tinteger { size = 8; align = 8; signed = false; encoding = UTF8; } x[3];\n");
}

static void printed_names_are_words_with_equal_shown_name(void **state)
{
    (void)state;
    check_members(CTF2_UINT("int", "8") "," CTF2_UINT("_a", "8") "," CTF2_UINT(
                      "b", "8") "," CTF2_UINT("two words", "8") "," CTF2_UINT("7", "8"),
                  U8_LINE("_int") U8_LINE("__a") U8_LINE("b") U8_LINE("two_words") U8_LINE("_7"));
}

static void names_that_readers_confuse_are_refused(void **state)
{
    (void)state;
    refuse_members(CTF2_UINT("a b", "8") "," CTF2_UINT("a.b", "8"), "field a.b");
    refuse_members(CTF2_UINT("a b", "8") "," CTF2_UINT("a_b", "8"), "field a_b");
    refuse_members(CTF2_UINT("a", "8") "," CTF2_UINT("a", "8"),
                   "CTF 1.8 has no two fields of one struct with names that are equal");
    refuse_members(CTF2_UINT("_int", "8") "," CTF2_UINT("int", "8"),
                   "field int"); /* Babeltrace rejects `_int` after `__int` */
    check_members(CTF2_UINT("int", "8") "," CTF2_UINT("_int", "8"),
                  U8_LINE("_int") U8_LINE("__int"));
    check_members(CTF2_UINT("_a", "8") "," CTF2_UINT("a", "8"), U8_LINE("__a") U8_LINE("a"));
}

#define AT_N "{'path':['n']}"

static void optional_prints_as_variant(void **state)
{
    (void)state;
    check_members(
        CTF2_BOOL(
            "n") ",{'name':'x','field-class':{'type':'optional','selector-field-location':" AT_N
                 ",'field-class':"
                 "{'type':'null-terminated-string'}}}",
        "\t\tenum : integer { size = 8; align = 1; signed = false; } {\n\t\t\tpresent = 1 ... "
        "255,\n\t\t\tabsent = 0,\n\t\t} n;\n"
        "\t\tvariant <n> {\n\t\t\tstruct { } absent;\n\t\t\tstring present;\n\t\t} x;\n");
    check_members(
        CTF2_INT(
            "n",
            "8") ",{'name':'x','field-class':{'type':'optional','selector-field-location':" AT_N
                 ",'selector-field-ranges':"
                 "[[5,127],[-3,-1]],'field-class':{'type':'null-terminated-string'}}}",
        "\t\tenum : integer { size = 8; align = 1; signed = true; } {\n\t\t\tpresent = 5 ... "
        "127,\n\t\t\tpresent = -3 ... -1,\n"
        "\t\t\tabsent = -128 ... -4,\n\t\t\tabsent = 0 ... 4,\n\t\t} n;\n"
        "\t\tvariant <n> {\n\t\t\tstruct { } absent;\n\t\t\tstring present;\n\t\t} x;\n");
}

#define OPTION(name, range)                              \
    "{'name':'" name "','selector-field-ranges':[" range \
    "],'field-class':{'type':'null-terminated-string'}}"
#define VARIANT(options)                                                          \
    "{'name':'x','field-class':{'type':'variant','selector-field-location':" AT_N \
    ",'options':[" options "]}}"

static void unlabelled_selector_prints_as_enumeration(void **state)
{
    (void)state;
    check_members(
        CTF2_UINT("n", "8") "," VARIANT(OPTION("a", "[0,1],[7,7]") "," OPTION("int", "[3,3]")),
        "\t\tenum : integer { size = 8; align = 1; signed = false; } {\n\t\t\ta = 0 ... "
        "1,\n\t\t\ta = 7,\n\t\t\t_int = 3,\n\t\t} n;\n"
        "\t\tvariant <n> {\n\t\t\tstring a;\n\t\t\tstring _int;\n\t\t} x;\n");
    check_members("{'name':'n','field-class':{'type':'fixed-length-unsigned-integer','length':8," LE
                  ",'mappings':{'int':[[3,3]],'b c':[[1,1]]}}}," VARIANT(OPTION("int", "[3,3]")),
                  "\t\tenum : integer { size = 8; align = 1; signed = false; } {\n\t\t\t_int = "
                  "3,\n\t\t\t\"b c\" = 1,\n\t\t} n;\n"
                  "\t\tvariant <n> {\n\t\t\tstring _int;\n\t\t} x;\n");
    /* As in LTTng's contexts of applications: labels are kept, and options are named like them. */
    check_members(
        "{'name':'n','field-class':{'type':'fixed-length-unsigned-integer','length':8," LE
        ",'mappings':{'_none':[[0,0]],'_int':[[1,1]],'b':[[2,2]]}}}," VARIANT(
            OPTION("none", "[0,0]") "," OPTION("int", "[1,1]") "," OPTION("b", "[2,2]")),
        "\t\tenum : integer { size = 8; align = 1; signed = false; } {\n\t\t\t_none = "
        "0,\n\t\t\t_int = 1,\n\t\t\tb = 2,\n\t\t} n;\n"
        "\t\tvariant <n> {\n\t\t\tstring _none;\n\t\t\tstring _int;\n\t\t\tstring b;\n\t\t} x;\n");
    refuse_members(
        "{'name':'n','field-class':{'type':'fixed-length-unsigned-integer','length':8," LE
        ",'mappings':{'a':[[0,0]]}}}," VARIANT(OPTION("a", "[1,1]")),
        "selection by other values than the labels of the selector have, in stream 0, event 0 (), "
        "field x");
    refuse_members(CTF2_UINT("n", "8") "," VARIANT(
                       OPTION("a", "[1,1]")) ",{'name':'y','field-class':{'type':'variant',"
                                             "'selector-field-location':" AT_N
                                             ",'options':[" OPTION("b", "[1,1]") "]}}",
                   "two ways of selecting");
    refuse_members(
        CTF2_UINT("n", "8") "," VARIANT(OPTION("a b", "[0,1]") "," OPTION("a_b", "[3,3]")),
        "field x.a_b");
}

static void inexpressible_in_tsdl_is_refused_with_position(void **state)
{
    (void)state;
    refuse_members("{'name':'o','field-class':{'type':'structure','member-classes':[" CTF2_UINT(
                       "n", "8") "]}},"
                                 "{'name':'y','field-class':{'type':'variant','selector-field-"
                                 "location':{'origin':'event-record-payload','path':['o','n']},"
                                 "'options':[" OPTION("a", "[1,1]") "]}}",
                   "elsewhere than in the structures around");
    refuse_members("{'name':'x','field-class':{'type':'variable-length-unsigned-integer'}}",
                   "CTF 1.8 has no numbers of variable size, in stream 0, event 0 (), field x");
    refuse_members(
        "{'name':'x','field-class':{'type':'fixed-length-unsigned-integer','length':8," LE
        ",'bit-order':'last-to-first'}}",
        "with reversed bits");
    refuse_members(
        "{'name':'x','field-class':{'type':'null-terminated-string','encoding':'utf-16le'}}",
        "UTF-16");
    refuse_members("{'name':'x','field-class':{'type':'static-length-array','length':2,'minimum-"
                   "alignment':32,'element-field-class':"
                   "{'type':'fixed-length-unsigned-integer','length':8," LE "}}}",
                   "arrays aligned beyond their elements");
    refuse_members(
        "{'name':'x','field-class':{'type':'fixed-length-floating-point-number','length':160," LE
        "}}",
        "more than 128 bits");
}

/* Babeltrace requires that all clocks of a trace are absolute, or none. A uid may be a UUID of
 * TSDL. */
static void absolute_clocks_print_for_all_or_none(void **state)
{
    (void)state;
    struct ctf2_case c;
    struct buffer printed;
    ctf2_case_parse(
        &c, alloc_default(),
        "^{'type':'preamble','version':2}\n^{'type':'clock-class','id':'a','name':'a','frequency':"
        "10,'origin':'unix-epoch',"
        "'offset-from-origin':{'seconds':3},'uid':'d0367630-5511-4855-A390-afe86f9b4545'}\n"
        "^{'type':'clock-class','id':'b','name':'b','frequency':10,'origin':'unix-epoch','uid':'"
        "d0367630-5511-4855-a390-afe86f9b454'}\n"
        "^{'type':'clock-class','id':'c','name':'c','frequency':10,'offset-from-origin':{'seconds':"
        "3}}\n"
        "^{'type':'data-stream-class','default-clock-class-id':'a'}\n");
    assert_int_equal(c.status, TTR_OK);
    print(&c.description, &printed);
    support_assert_text(
        printed.bytes, printed.n,
        "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n};\n"
        "\nclock {\n\tname = \"a\";\n\tuuid = \"d0367630-5511-4855-a390-afe86f9b4545\";\n\tfreq = "
        "10;\n\toffset_s = 3;\n\tabsolute = TRUE;\n};\n"
        "\nclock {\n\tname = \"b\";\n\tfreq = 10;\n\tabsolute = TRUE;\n};\n"
        "\nclock {\n\tname = \"c\";\n\tfreq = 10;\n\toffset_s = 3;\n};\n"
        "\nstream {\n};\n");
    buffer_free(&printed);
    ctf2_case_free(&c);
}

/* CTF 2 declares roles for any name; TSDL implies them by the name. */
static void fields_with_role_print_reserved_name(void **state)
{
    (void)state;
    struct ctf2_case c;
    struct buffer printed;
    ctf2_case_parse(
        &c, alloc_default(),
        "^{'type':'preamble','version':2}\n^{'type':'clock-class','id':'a "
        "b','name':'','frequency':10,'uid':'u'}\n"
        "^{'type':'data-stream-class','default-clock-class-id':'a "
        "b','event-record-header-field-class':{'type':'structure',"
        "'member-classes':[{'name':'which','field-class':{'type':'fixed-length-unsigned-integer','"
        "length':8," LE ",'roles':['event-record-class-id']}},{'name':'when','field-class':{'type':"
        "'fixed-length-unsigned-integer','length':8," LE
        ",'roles':['default-clock-timestamp']}}]}}\n^{'type':'event-record-class','name':'e'}\n");
    assert_int_equal(c.status, TTR_OK);
    print(&c.description, &printed);
    support_assert_text(
        printed.bytes, printed.n,
        "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n};\n"
        "\nclock {\n\tname = \"clock_0\";\n\tfreq = 10;\n};\n"
        "\nstream {\n\tevent.header := struct {\n"
        "\t\tinteger { size = 8; align = 1; signed = false; } id;\n"
        "\t\tinteger { size = 8; align = 1; signed = false; map = clock.clock_0.value; } "
        "when;\n\t};\n};\n"
        "\nevent {\n\tname = \"e\";\n\tid = 0;\n};\n");
    buffer_free(&printed);
    ctf2_case_free(&c);
}

static void environment_entries_print_word_names(void **state)
{
    (void)state;
    struct ctf2_case c;
    struct buffer printed;
    ctf2_case_parse(&c, alloc_default(),
                    "^{'type':'preamble','version':2}\n^{'type':'trace-class','environment':{'a "
                    "b':1,'c.d':'x','7.8':2,'.':3,'':4}}\n");
    assert_int_equal(c.status, TTR_OK);
    print(&c.description, &printed);
    if (!strstr((const char *)printed.bytes,
                "\nenv {\n\ta_b = 1;\n\tc.d = \"x\";\n\t_7._8 = 2;\n\t_ = 3;\n\t_ = 4;\n};\n"))
        fail_msg("%s", (const char *)printed.bytes);
    buffer_free(&printed);
    ctf2_case_free(&c);
}

static void rfc11_descriptions_are_refused(void **state)
{
    (void)state;
    struct ctf_description description;
    struct buffer printed;
    ctf_description_init(&description, alloc_default());
    buffer_init(&printed, alloc_default());
    description.version = CTF_RFC_1_1;
    assert_int_equal(tsdl_print(&description, &printed, NULL), TTR_E_UNSUPPORTED);
    buffer_free(&printed);
    ctf_description_free(&description);
}

static bool print_with(const struct alloc *alloc)
{
    struct ctf2_case c;
    struct buffer printed;
    ctf2_case_parse(
        &c, alloc,
        CTF2_BEFORE CTF2_BOOL(
            "n") ",{'name':'x','field-class':{'type':'optional','selector-field-location':" AT_N
                 ",'field-class':{'type':'null-terminated-string'}}}" CTF2_AFTER);
    buffer_init(&printed, alloc);
    ttr_status status = c.status == TTR_OK ? tsdl_print(&c.description, &printed, NULL) : c.status;
    assert_true(status == TTR_OK || (status == TTR_E_NOMEM && printed.n == 0));
    buffer_free(&printed);
    ctf2_case_free(&c);
    return status == TTR_OK;
}

static void failing_allocation_prints_nothing(void **state)
{
    (void)state;
    support_fail_each(print_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printer_form_is_reproduced_exactly),
        cmocka_unit_test(printed_tsdl_parses_to_equal_description),
        cmocka_unit_test(redundant_ids_are_not_printed),
        cmocka_unit_test(negative_clock_cycles_reduce_seconds),
        cmocka_unit_test(absolute_clocks_print_for_all_or_none),
        cmocka_unit_test(booleans_flags_bits_and_bytes_are_integers),
        cmocka_unit_test(printed_names_are_words_with_equal_shown_name),
        cmocka_unit_test(names_that_readers_confuse_are_refused),
        cmocka_unit_test(optional_prints_as_variant),
        cmocka_unit_test(unlabelled_selector_prints_as_enumeration),
        cmocka_unit_test(inexpressible_in_tsdl_is_refused_with_position),
        cmocka_unit_test(fields_with_role_print_reserved_name),
        cmocka_unit_test(environment_entries_print_word_names),
        cmocka_unit_test(rfc11_descriptions_are_refused),
        cmocka_unit_test(failing_allocation_prints_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
