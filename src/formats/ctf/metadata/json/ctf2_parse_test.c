/* Fragments of CTF 2 metadata: contents, order, aliases, roles, extensions, the release candidate's
 * syntax, incremental parsing, and every error. */
#include <stdio.h>

#include "support/ctf2_case.h"
#include "support/describe.h"
#include "support/support.h"

#define PREAMBLE "^{'type':'preamble','version':2}"
#define UUID "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255]"
#define STRUCT(members) "{'type':'structure','member-classes':[" members "]}"
#define UINT(bits, more) \
    "{'type':'fixed-length-unsigned-integer','length':" bits ",'byte-order':'big-endian'" more "}"
#define MEMBER(name, class) "{'name':'" name "','field-class':" class "}"
#define ROLE(role) ",'roles':['" role "']"

static void fragments_of_all_types_parse(void **state)
{
    (void)state;
    ctf2_check(
        ctf2_everything,
        "version 20 uuid 000102030405060708090a0b0c0d0eff name \"a trace\" ns \"my.ns\" uid \"t1\" "
        "attributes {\"my.ns\":{\"a\":[1,2.50,true]}}\n"
        "packet-header struct(magic: u32 be role 1, uuid: blob[16] @8 role 2, class: u8 be role 3, "
        "stream: u8 be role 4) @8\n"
        "env \"host\" = \"here\"\n"
        "env \"neg\" = -5\n"
        "env \"max\" = 9223372036854775807\n"
        "clock \"c\" name \"mono\" ns \"cn\" uid \"u\" description \"A clock\" 1000 Hz + -3 s 999 "
        "cycles precision 7 "
        "accuracy 18446744073709551615 unix\n"
        "clock \"d\" 1 Hz + 0 s 0 cycles origin-name \"boot\" origin-ns \"on\" origin-uid \"b1\"\n"
        "stream 7 name \"chan\" clock \"c\"\n"
        "  packet-context struct(begin: u64 be role 7 clock \"c\", end: u64 be role 8 clock \"c\", "
        "total: vu @8 role 5, "
        "content: u32 be role 6, lost: u32 be role 9, seq: u32 be role 10, cpu_id: u8 be role 11) "
        "@8\n"
        "  event-header struct(id: u16 be role 12, t: u64 be role 13 clock \"c\")\n"
        "  common-context struct(cpu_id: \"u8\" = u8 be)\n"
        "  event 18446744073709551615 name \"ev\" ns \"en\" uid \"eu\" emf \"http://x\" level 13 "
        "attributes {\"lttng.org,2009\":{\"log-level\":\"debug:line\",\"emf-uri\":\"http://x\"}}\n"
        "    specific-context struct()\n"
        "    payload struct(x: \"u8\" = u8 be)\n"
        "stream 8\n"
        "  event 0\n");
}

static void fragments_without_line_feed_or_first_separator_parse(void **state)
{
    (void)state;
    static const char said[] = "version 20\nstream 0\n";
    ctf2_check("^{'type':'preamble','version':2}^{'type':'data-stream-class'}", said);
    ctf2_check("{'type':'preamble','version':2}^{'type':'data-stream-class'}", said);
    ctf2_check("^^\n^ {\n'type':'preamble','version':2}\r\n\n^\t{'type':'data-stream-class'}\n^\n^",
               said);
}

static void shared_alias_without_roles_keeps_its_name(void **state)
{
    (void)state;
    ctf2_check(
        PREAMBLE "^{'type':'field-class-alias','name':'root','field-class':" STRUCT(MEMBER(
            "x",
            UINT(
                "8",
                ""))) "}"
                      "^{'type':'field-class-alias','name':'other','field-class':'root'}"
                      "^{'type':'field-class-alias','name':'id','field-class':" UINT(
                          "8",
                          ROLE(
                              "event-record-class-id")) "}"
                                                        "^{'type':'field-class-alias','name':'"
                                                        "header','field-class':" STRUCT(MEMBER(
                                                            "id",
                                                            "'id'")) "}"
                                                                     "^{'type':'field-class-alias',"
                                                                     "'name':'context','field-"
                                                                     "class':" STRUCT(MEMBER(
                                                                         "cpu_id",
                                                                         UINT(
                                                                             "8",
                                                                             ""))) "}"
                                                                                   "^{'type':'data-"
                                                                                   "stream-class','"
                                                                                   "event-record-"
                                                                                   "header-field-"
                                                                                   "class':'header'"
                                                                                   ",'packet-"
                                                                                   "context-field-"
                                                                                   "class':'"
                                                                                   "context',"
                                                                                   "'event-record-"
                                                                                   "common-context-"
                                                                                   "field-class':'"
                                                                                   "context'}"
                                                                                   "^{'type':'"
                                                                                   "event-record-"
                                                                                   "class','"
                                                                                   "specific-"
                                                                                   "context-field-"
                                                                                   "class':'root','"
                                                                                   "payload-field-"
                                                                                   "class':'other'"
                                                                                   "}",
        "version 20\nstream 0\n"
        "  packet-context struct(cpu_id: u8 be role 11)\n"
        "  event-header struct(id: u8 be role 12)\n"
        "  common-context struct(cpu_id: u8 be)\n"
        "  event 0\n"
        "    specific-context \"root\" = struct(x: u8 be)\n"
        "    payload \"other\" = struct(x: u8 be)\n");
}

static void repeated_or_misplaced_fragments_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"@", "expected a preamble, found no fragment"},
        {" \n^\n@", "expected a preamble, found no fragment"},
        {"^@{'type':'trace-class'}", "trace-class: expected the preamble first"},
        {PREAMBLE "^@{'type':'preamble','version':2}", "preamble: there is a preamble already"},
        {PREAMBLE "^{'type':'trace-class'}^@{'type':'trace-class'}",
         "trace-class: there is a trace class already"},
        {PREAMBLE "^{'type':'data-stream-class'}^@{'type':'trace-class'}",
         "trace-class: the trace class must come before all data stream classes"},
        {PREAMBLE "^{'type':'clock-class','id':'a','frequency':1}^@{'type':'clock-class','id':'a','"
                  "frequency':2}",
         "clock-class: there is a clock class \"a\" already"},
        {PREAMBLE "^{'type':'data-stream-class','id':3}^@{'type':'data-stream-class','id':3}",
         "data-stream-class: there is a data stream class 3 already"},
        {PREAMBLE "^{'type':'data-stream-class','default-clock-class-id':@'a'}^{'type':'clock-"
                  "class','id':'a','frequency':1}",
         "data-stream-class.default-clock-class-id: no clock class \"a\" is defined before"},
        {PREAMBLE "^@{'type':'event-record-class'}",
         "event-record-class: no data stream class 0 is defined before"},
        {PREAMBLE
         "^{'type':'data-stream-class'}^{'type':'event-record-class','data-stream-class-id':@1}",
         "event-record-class.data-stream-class-id: no data stream class 1 is defined before"},
        {PREAMBLE "^{'type':'field-class-alias','name':'a','field-class':" UINT(
             "8", "") "}"
                      "^{'type':'field-class-alias','name':@'a','field-class':" UINT("8", "") "}",
         "field-class-alias.name: another field class alias has this name"},
        {PREAMBLE "^{'type':'field-class-alias','name':'a','field-class':@'a'}",
         "field-class-alias.field-class: no field class alias \"a\" is defined before"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ctf2_check_error(rows[i].text, TTR_E_MALFORMED, rows[i].message);
}

static void invalid_fragment_fails_with_position(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"^@[]", "fragment: expected an object with the property \"type\""},
        {"^@{'version':2}", "fragment: expected an object with the property \"type\""},
        {"^{'type':@'event-class'}", "fragment.type: no such fragment: \"event-class\""},
        {"^{'type':@5}", "fragment.type: no such fragment: \"\""},
        {"^@{'type':'preamble'}", "preamble: a preamble must have the property \"version\""},
        {"^{'type':'preamble','version':@'2'}",
         "preamble.version: expected an integer, found a string"},
        {"^{'type':'preamble','version':2,'uuid':@'x'}",
         "preamble.uuid: expected a UUID (an array of 16 integers)"},
        {"^{'type':'preamble','version':2,'uuid':@[1,2]}",
         "preamble.uuid: expected a UUID (an array of 16 integers)"},
        {"^{'type':'preamble','version':2,'uuid':[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,@256]}",
         "preamble.uuid[15]: expected an integer from 0 to 255"},
        {PREAMBLE "^{'type':'trace-class','packet-header-field-class':@" UINT("8", "") "}",
         "trace-class.packet-header-field-class: expected a structure class"},
        {PREAMBLE "^{'type':'trace-class','environment':{'a':@1.5}}",
         "trace-class.environment.a: expected a string, found a number with a fraction or an "
         "exponent"},
        {PREAMBLE "^{'type':'trace-class','environment':{'a':1,'b':2,'a':@3}}",
         "trace-class.environment.a: this entry comes twice"},
        {PREAMBLE "^{'type':'trace-class','name':@5}",
         "trace-class.name: expected a string, found an integer"},
        {PREAMBLE "^{'type':'trace-class','attributes':@5}",
         "trace-class.attributes: expected an object, found an integer"},
        {PREAMBLE "^@{'type':'clock-class','id':'a'}",
         "clock-class: a clock class must have the property \"frequency\""},
        {PREAMBLE "^{'type':'clock-class','id':'a','frequency':@0}",
         "clock-class.frequency: expected a frequency of at least 1 Hz"},
        {PREAMBLE "^@{'type':'clock-class','frequency':1}",
         "clock-class: a clock class must have the property \"id\""},
        {PREAMBLE
         "^{'type':'clock-class','id':'a','frequency':5,'offset-from-origin':{'cycles':@5}}",
         "clock-class.offset-from-origin.cycles: expected fewer cycles than a second has"},
        {PREAMBLE "^{'type':'clock-class','id':'a','frequency':5,'origin':@'epoch'}",
         "clock-class.origin: expected \"unix-epoch\" or an object"},
        {PREAMBLE "^{'type':'clock-class','id':'a','frequency':5,'origin':@{'name':'x'}}",
         "clock-class.origin: a clock origin must have the property \"uid\""},
        {PREAMBLE "^{'type':'data-stream-class','id':@-1}",
         "data-stream-class.id: expected an integer from 0 to 18446744073709551615"},
        {PREAMBLE "^{'type':'data-stream-class','packet-context-field-class':@'nothing'}",
         "data-stream-class.packet-context-field-class: no field class alias \"nothing\" is "
         "defined before"},
        {PREAMBLE "^@{'type':'field-class-alias','name':'a'}",
         "field-class-alias: a field class alias must have the property \"field-class\""},
        {PREAMBLE "^{'type':'trace-class'} @{}", "expected nothing after the value, found '{'"},
        {PREAMBLE "^{'type':'trace-class','name':'a\\@x'}",
         "expected one of \" \\ / b f n r t u after a backslash, found 'x'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ctf2_check_error(rows[i].text, TTR_E_MALFORMED, rows[i].message);
    ctf2_check_error(PREAMBLE "^{'type':'trace-class'@", TTR_E_TRUNCATED,
                     "expected ',' or '}', found the end of the text");
}

static void error_shows_file_line_column_and_path(void **state)
{
    (void)state;
    struct ctf2_case c;
    ctf2_case_parse(&c, alloc_default(),
                    PREAMBLE "\n^{\n  'type': 'clock-class',\n  'id': 'a', 'frequency': 0\n}\n");
    assert_int_equal(c.status, TTR_E_MALFORMED);
    assert_string_equal(
        c.error.text,
        "metadata:4:27: clock-class.frequency: expected a frequency of at least 1 Hz\n"
        "    \"id\": \"a\", \"frequency\": 0\n"
        "                            ^");
    assert_int_equal(c.error.line, 4);
    ctf2_case_free(&c);
}

#define IN_HEADER(members)                         \
    "^{'type':'preamble','version':2,'uuid':" UUID \
    "}^{'type':'trace-class','packet-header-field-class':" STRUCT(members) "}"
#define CLOCK "^{'type':'clock-class','id':'c','frequency':1}"
#define BAD_ROLE(role) ",'roles':[@'" role "']"

static void misplaced_roles_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {IN_HEADER(MEMBER("a", UINT("32", BAD_ROLE("packet-total-length")))),
         "[0].field-class.roles[0]: this role has no place here"},
        {IN_HEADER(MEMBER("a", UINT("8", "")) "," MEMBER(
             "m", UINT("32", BAD_ROLE("packet-magic-number")))),
         "[1].field-class.roles[0]: the magic number must be the first member of the packet "
         "header"},
        {IN_HEADER(MEMBER("m", UINT("64", BAD_ROLE("packet-magic-number")))),
         "[0].field-class.roles[0]: a magic number must be a fixed-length integer of 32 bits"},
        {IN_HEADER(MEMBER("m", "{'type':'variable-length-unsigned-integer'" BAD_ROLE(
                                   "packet-magic-number") "}")),
         "[0].field-class.roles[0]: a magic number must be a fixed-length integer of 32 bits"},
        {IN_HEADER(MEMBER("u", UINT("32", BAD_ROLE("metadata-stream-uuid")))),
         "[0].field-class.roles[0]: this role is for blobs"},
        {IN_HEADER(MEMBER(
             "u", "{'type':'static-length-blob','length':15" BAD_ROLE("metadata-stream-uuid") "}")),
         "[0].field-class.roles[0]: a blob with this role must have a length of 16"},
        {IN_HEADER(MEMBER(
             "u", "{'type':'static-length-blob','length':16" BAD_ROLE("data-stream-id") "}")),
         "[0].field-class.roles[0]: this role is for unsigned integers"},
        {IN_HEADER(MEMBER("u", UINT("8", ",'roles':[@5]"))),
         "[0].field-class.roles[0]: expected a string, found an integer"},
        {IN_HEADER(MEMBER("u", UINT("8", ",'roles':@'data-stream-id'"))),
         "[0].field-class.roles: expected an array, found a string"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char message[256];
        (void)snprintf(message, sizeof message,
                       "trace-class.packet-header-field-class.member-classes%s", rows[i].message);
        ctf2_check_error(rows[i].text, TTR_E_MALFORMED, message);
    }
    ctf2_check_error(PREAMBLE "^{'type':'trace-class','packet-header-field-class':" STRUCT(
                         MEMBER("u", "{'type':'static-length-blob','length':16" BAD_ROLE(
                                         "metadata-stream-uuid") "}")) "}",
                     TTR_E_MALFORMED,
                     "trace-class.packet-header-field-class.member-classes[0].field-class.roles[0]:"
                     " this role needs a UUID in the preamble");
    ctf2_check_error(
        PREAMBLE "^{'type':'data-stream-class','event-record-header-field-class':" STRUCT(
            MEMBER("t", UINT("32", BAD_ROLE("default-clock-timestamp")))) "}",
        TTR_E_MALFORMED,
        "data-stream-class.event-record-header-field-class.member-classes[0].field-class.roles[0]: "
        "this role needs a default clock of the data stream class");
    ctf2_check_error(PREAMBLE CLOCK
                     "^{'type':'data-stream-class','default-clock-class-id':'c'}^{'type':'event-"
                     "record-class','payload-field-class':" STRUCT(
                         MEMBER("t", UINT("32", BAD_ROLE("default-clock-timestamp")))) "}",
                     TTR_E_MALFORMED,
                     "event-record-class.payload-field-class.member-classes[0].field-class.roles[0]"
                     ": this role has no place here");
}

static void nested_and_repeated_roles_are_accepted(void **state)
{
    (void)state;
    ctf2_check(PREAMBLE "^{'type':'data-stream-class','event-record-header-field-class':" STRUCT(
                   MEMBER("id", UINT("8", ROLE("event-record-class-id"))) "," MEMBER(
                       "v", "{'type':'variant','selector-field-location':{'path':['id']},'options':"
                            "[{'selector-field-ranges':[[255,255]],"
                            "'field-class':" STRUCT(MEMBER(
                                "id", UINT("32", ROLE("event-record-class-id")))) "}]}")) "}",
               "version 20\nstream 0\n  event-header struct(id: u8 be role 12, "
               "v: variant[event-header.id](\"\" 255..255: struct(id: u32 be role 12)))\n");
}

static void two_sizes_in_one_field_are_the_total_length_and_other_second_roles_are_remarked_on(
    void **state)
{
    (void)state;
    ctf2_check(
        PREAMBLE "^{'type':'data-stream-class','packet-context-field-class':" STRUCT(MEMBER(
            "n", UINT("32", ",'roles':['packet-content-length','packet-total-length']"))) "}",
        "version 20\nstream 0\n  packet-context struct(n: u32 be role 5)\n");
    ctf2_check_notes(
        PREAMBLE "^{'type':'data-stream-class','packet-context-field-class':" STRUCT(MEMBER(
            "n",
            UINT("32",
                 ",'roles':['packet-sequence-number','packet-total-length','brand-new']"))) "}",
        "ctf.two-roles: a field has more than one role: \"packet-total-length\" is not used\n"
        "ctf.unknown-role: the role \"brand-new\" is not known\n");
}

static void shortened_float_constants_are_noted(void **state)
{
    (void)state;
    ctf2_check_notes(
        PREAMBLE "^{'type':'data-stream-class','packet-context-field-class':" STRUCT(MEMBER(
            "f", "{'type':'fixed-length-floating-point-number','length':64,'byte-order':'little-"
                 "endian'}") "," MEMBER("g", "{'type':'fixed-length-floating-point-number','length'"
                                             ":128,'byte-order':'little-endian'}")) "}",
        "ctf.wide-float: floating point numbers of 128 bits are given as the nearest ones of 64\n");
}

static void declared_extensions_are_refused(void **state)
{
    (void)state;
    ctf2_check_error(
        "^{'type':'preamble','version':2,'extensions':{'my.ns':{},'you':{'zip':@true}}}",
        TTR_E_UNSUPPORTED,
        "preamble.extensions.you.zip: the trace needs the extension \"zip\" of \"you\", which is "
        "not supported");
    ctf2_check_error("^{'type':'preamble','version':2,'extensions':@[]}", TTR_E_MALFORMED,
                     "preamble.extensions: expected an object, found an array");
    ctf2_check("^{'type':'preamble','version':2,'extensions':{'my.ns':{}}}^{'type':'trace-class','"
               "extensions':{'a':{'b':1}}}",
               "version 20\n");
    ctf2_check_error("^{'type':'preamble','version':@3}", TTR_E_UNSUPPORTED,
                     "preamble.version: version 3 of CTF is not supported, expected 2");
}

static void wide_environment_numbers_become_text(void **state)
{
    (void)state;
    static const char text[] =
        PREAMBLE "^{'type':'trace-class','environment':{'a':9223372036854775808,'b':-"
                 "9223372036854775808,'c':-18446744073709551616000}}";
    ctf2_check(text,
               "version 20\nenv \"a\" = \"9223372036854775808\"\nenv \"b\" = -9223372036854775808\n"
               "env \"c\" = \"-18446744073709551616000\"\n");
    ctf2_check_notes(text, "ctf.wide-environment: an entry of the environment is a number of more "
                           "than 63 bits: kept as text\n"
                           "ctf.wide-environment: an entry of the environment is a number of more "
                           "than 63 bits: kept as text\n");
}

static void unknown_properties_and_lax_json_are_noted(void **state)
{
    (void)state;
    ctf2_check_notes(
        "^{'type':'preamble','version':2,'colour':'red'}^{'type':'trace-class','length':5,'"
        "environment':{'a':1,},}"
        "^{'type':'data-stream-class','name':'\xff'}",
        "ctf.unknown-property: the property \"colour\" of a preamble means nothing\n"
        "ctf.comma: a comma before a closing bracket, which JSON does not allow\n"
        "ctf.unknown-property: the property \"length\" of a trace class means nothing\n"
        "ctf.utf8: text is not valid UTF-8: invalid bytes are replaced with U+FFFD\n");
    ctf2_check_notes(PREAMBLE "^{'type':'data-stream-class'}^{'type':'event-record-class','"
                              "attributes':{'lttng.org,2009':{'log-level':'odd'}}}",
                     "ctf.unknown-log-level: the log level \"odd\" is not known\n");
}

static void repeated_event_id_keeps_first_and_reports_damage(void **state)
{
    (void)state;
    static const char text[] =
        PREAMBLE "^{'type':'data-stream-class'}^{'type':'event-record-class','name':'one'}^{'type':"
                 "'event-record-class','id':0,'name':'two'}";
    ctf2_check_notes(text, "ctf.duplicate-event: a second event record class 0 in data stream "
                           "class 0, \"two\": what has this id is read as the first, "
                           "\"one\"\n");
}

static void release_candidate_syntax_parses_with_notes(void **state)
{
    (void)state;
    static const char text[] = PREAMBLE
        "^{'type':'trace-class','uuid':" UUID "}"
        "^{'type':'clock-class','name':'monotonic','frequency':1000000000,'uuid'"
        ":" UUID ",'offset-from-origin':{'seconds':5}}"
        "^{'type':'data-stream-class','default-clock-class-name':'monotonic','"
        "user-attributes':{'a':{}},'event-record-header-field-class':" STRUCT(MEMBER(
            "id",
            "{'type':'fixed-length-unsigned-enumeration','length':5,"
            "'byte-order':'big-endian','mappings':{'x':[[0,30]]"
            "}" ROLE(
                "event-record-class-id") "}") "," MEMBER("v",
                                                         "{'type':'variant','selector-field-"
                                                         "location':['event-record-"
                                                         "header','id'],'options':[{'selector-"
                                                         "field-ranges':[[0,30]],"
                                                         "'field-class':" STRUCT(
                                                             "") "}]}") "," MEMBER("s",
                                                                                   "{'type':'"
                                                                                   "dynamic-length-"
                                                                                   "string','"
                                                                                   "length-field-"
                                                                                   "location':['id'"
                                                                                   "]}")) "}";
    ctf2_check(text, "version 20 uuid 000102030405060708090a0b0c0d0eff\n"
                     "clock \"monotonic\" name \"monotonic\" 1000000000 Hz + 5 s 0 cycles uuid "
                     "000102030405060708090a0b0c0d0eff unix\n"
                     "stream 0 clock \"monotonic\" attributes {\"a\":{}}\n"
                     "  event-header struct(id: u5 be role 12 {\"x\" 0..30}, v: "
                     "variant[event-header.id](\"\" 0..30: struct()), "
                     "s: text[event-header.id] @8) @8\n");
    struct ctf2_case c;
    ctf2_case_parse(&c, alloc_default(), text);
    assert_true(c.description.is_rc7);
    size_t remarks = 0;
    for (const char *p = (const char *)c.notes.bytes; (p = strstr(p, "ctf.rc7: ")); p++)
        remarks++;
    assert_int_equal(remarks, 7);
    ctf2_case_free(&c);
}

static void equal_clock_declared_twice_is_used_once_with_remark(void **state)
{
    struct ctf2_case c;
    (void)state;
    ctf2_case_parse(&c, alloc_default(),
                    PREAMBLE "^{'type':'clock-class','id':'a','frequency':7}"
                             "^{'type':'clock-class','id':'a','frequency':7}");
    assert_int_equal(c.description.clocks_n, 1);
    assert_non_null(strstr((const char *)c.notes.bytes, "ctf.same-clock: "));
    ctf2_case_free(&c);
}

/* Parses additional text into a description. */
static ttr_status add_text(struct ctf_description *description, const char *quoted,
                           ttr_error *error)
{
    struct buffer bytes;
    buffer_init(&bytes, alloc_default());
    for (const char *p = quoted; *p; p++)
        buffer_add_byte(&bytes, *p == '\'' ? '"' : *p == '^' ? 0x1e : (uint8_t)*p);
    buffer_add_byte(&bytes, 0);
    struct ctf_text text = {.p = (const char *)bytes.bytes, .n = bytes.n - 1, .file = "metadata"};
    ttr_status status = ctf2_parse(description, &text, error);
    buffer_free(&bytes);
    return status;
}

static void later_fragments_extend_description(void **state)
{
    (void)state;
    struct ctf_description description;
    struct buffer got;
    ttr_error error;
    ctf_description_init(&description, alloc_default());
    assert_int_equal(
        add_text(&description,
                 PREAMBLE "^{'type':'field-class-alias','name':'n','field-class':" UINT(
                     "8", "") "}"
                              "^{'type':'field-class-alias','name':'s','field-class':{'type':'"
                              "dynamic-length-string','length-field-location':{'path':['n']}}}"
                              "^{'type':'data-stream-class'}^{'type':'event-record-class'}",
                 &error),
        TTR_OK);
    const struct ctf_event_class *first = description.streams[0]->events[0];
    assert_int_equal(add_text(&description, "", &error), TTR_OK);
    assert_int_equal(
        add_text(&description,
                 "^{'type':'event-record-class','id':1,'payload-field-class':" STRUCT(MEMBER(
                     "n", "'n'") "," MEMBER("s", "'s'")) "}^{'type':'data-stream-class','id':1}",
                 &error),
        TTR_OK);
    assert_ptr_equal(description.streams[0]->events[0], first);
    /* After a failure the description has exactly the fragments before it. */
    assert_int_equal(add_text(&description,
                              "^{'type':'event-record-class','id':2}^{'type':'event-record-class','"
                              "id':3,'payload-field-class':" STRUCT(MEMBER("n", "'n'") "," MEMBER(
                                  "s", "'t'")) "}^{'type':'event-record-class','id':4}",
                              &error),
                     TTR_E_MALFORMED);
    assert_int_equal(add_text(&description, PREAMBLE, &error), TTR_E_MALFORMED);
    assert_int_equal(add_text(&description, "^{'type':'trace-class'}", &error), TTR_E_MALFORMED);
    assert_int_equal(add_text(&description, "^{'type':'event-record-class','id':5}", NULL), TTR_OK);
    assert_int_equal(add_text(&description, "^{'type':'data-stream-class','id':1}", NULL),
                     TTR_E_MALFORMED);
    buffer_init(&got, alloc_default());
    describe_ctf(&got, &description);
    support_assert_text(got.bytes, got.n,
                        "version 20\nstream 0\n  event 0\n  event 1\n"
                        "    payload struct(n: \"n\" = u8 be, s: text[payload.n] @8) @8\n  event "
                        "2\n  event 5\nstream 1\n");
    buffer_free(&got);
    ctf_description_free(&description);
}

static void failing_trace_class_adds_nothing(void **state)
{
    (void)state;
    struct ctf_description description;
    ttr_error error;
    ctf_description_init(&description, alloc_default());
    assert_int_equal(add_text(&description, PREAMBLE, &error), TTR_OK);
    assert_int_equal(add_text(&description,
                              "^{'type':'trace-class','name':'x','uuid':" UUID
                              ",'environment':{'a':1,'b':[]}}",
                              &error),
                     TTR_E_MALFORMED);
    assert_int_equal(description.environment_n, 0);
    assert_int_equal(description.name.n, 0);
    assert_false(description.has_uuid);
    assert_int_equal(add_text(&description, "^{'type':'trace-class','name':'y'}", &error), TTR_OK);
    support_assert_text(description.name.p, description.name.n, "y");
    ctf_description_free(&description);
}

/* Builds aliases of structures of aliases: each level has ten times as many fields as the one
 * inside. */
static void build_bomb(struct buffer *text, const char *core, unsigned levels)
{
    char fragment[1024];
    buffer_add_text(text, PREAMBLE "^{'type':'data-stream-class'}");
    (void)snprintf(fragment, sizeof fragment,
                   "^{'type':'field-class-alias','name':'a0','field-class':%s}", core);
    buffer_add_text(text, fragment);
    for (unsigned i = 1; i <= levels; i++) {
        (void)snprintf(fragment, sizeof fragment,
                       "^{'type':'field-class-alias','name':'a%u','field-class':{'type':'structure'"
                       ",'member-classes':[",
                       i);
        buffer_add_text(text, fragment);
        for (unsigned j = 0; j < 10; j++) {
            (void)snprintf(fragment, sizeof fragment, "%s{'name':'m%u','field-class':'a%u'}",
                           j ? "," : "", j, i - 1);
            buffer_add_text(text, fragment);
        }
        buffer_add_text(text, "]}}");
    }
    buffer_add_byte(text, 0);
}

static void exponential_aliases_end_at_limit(void **state)
{
    (void)state;
    static const char *const cores[] = {
        UINT("8", ""), "{'type':'dynamic-length-string','length-field-location':{'path':['n']}}"};
    for (size_t i = 0; i < 2; i++) {
        struct ctf2_case c;
        struct buffer text;
        struct support_heap heap;
        support_heap_init(&heap, 0);
        buffer_init(&text, alloc_default());
        build_bomb(&text, cores[i], 9);
        ctf2_case_parse(&c, &heap.alloc, (const char *)text.bytes);
        assert_int_equal(c.status, TTR_E_LIMIT);
        assert_true(heap.peak < (size_t)64 << 20);
        ctf2_case_free(&c);
        buffer_free(&text);
        support_heap_check(&heap);
    }
}

static void repeated_use_of_large_alias_ends_at_limit(void **state)
{
    (void)state;
    struct ctf2_case c;
    struct buffer text;
    buffer_init(&text, alloc_default());
    buffer_add_text(
        &text, PREAMBLE
        "^{'type':'data-stream-class'}^{'type':'field-class-alias','name':'big','field-class':{'"
        "type':'structure','member-classes':[" MEMBER("n", UINT("8", "")) "," MEMBER(
            "x", "{'type':'dynamic-length-string','length-field-location':{'path':['n']}}"));
    for (int i = 0; i < 2000; i++) {
        char member[128];
        (void)snprintf(member, sizeof member,
                       ",{'name':'m%d','field-class':{'type':'null-terminated-string'}}", i);
        buffer_add_text(&text, member);
    }
    buffer_add_text(&text, "]}}");
    for (int i = 0; i < 3000; i++) {
        char event[128];
        (void)snprintf(event, sizeof event,
                       "^{'type':'event-record-class','id':%d,'payload-field-class':'big'}", i);
        buffer_add_text(&text, event);
    }
    buffer_add_byte(&text, 0);
    ctf2_case_parse(&c, alloc_default(), (const char *)text.bytes);
    assert_int_equal(c.status, TTR_E_LIMIT);
    assert_non_null(strstr(c.error.text, "uses aliases and locations too often"));
    ctf2_case_free(&c);
    buffer_free(&text);
}

static void every_shorter_text_is_read_up_to_its_last_whole_fragment_once_a_stream_is_known(
    void **state)
{
    (void)state;
    char cut[4096];
    for (size_t n = 0; n < strlen(ctf2_everything); n++) {
        struct ctf2_case c;
        memcpy(cut, ctf2_everything, n);
        cut[n] = '\0';
        ctf2_case_parse(&c, alloc_default(), cut);
        bool is_between = n > 0 && (ctf2_everything[n - 1] == '\n' || ctf2_everything[n] == '\n' ||
                                    ctf2_everything[n - 1] == '^');
        bool is_readable = is_between ? n > 60 : c.description.streams_n > 0;
        if ((c.status == TTR_OK) != is_readable)
            fail_msg("%zu: %s", n, c.error.text);
        assert_true(c.status == TTR_OK || c.error.offset <= n);
        assert_int_equal(strstr((const char *)c.notes.bytes,
                                "ctf.cut-metadata: the metadata end inside this fragment") != NULL,
                         is_readable && !is_between);
        ctf2_case_free(&c);
    }
}

/* Only the last fragment may be incomplete; any other incomplete fragment is a mistake. */
static void truncated_inner_fragment_is_refused(void **state)
{
    (void)state;
    ctf2_check_error("^{'type':'preamble','version':2}\n^{'type':'data-stream-class'}\n^{'type':'"
                     "event-record-class'\n@^{'type':'event-record-class','id':1}\n",
                     TTR_E_TRUNCATED, "expected ',' or '}', found the end of the text");
}

static bool parse_with(const struct alloc *alloc)
{
    struct ctf2_case c;
    ctf2_case_parse(&c, alloc, ctf2_everything);
    ttr_status status = c.status;
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    ctf2_case_free(&c);
    return status == TTR_OK;
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(parse_with);
}

/* Changes bytes and moves runs of bytes: the parser must not crash, and error offsets must be
 * inside the text. */
static void damaged_metadata_does_not_crash(void **state)
{
    (void)state;
    uint64_t seed = 11;
    unsigned rounds = support_rounds(2500, 10000);
    for (unsigned round = 0; round < rounds; round++) {
        char text[4096];
        struct ctf2_case c;
        size_t n = strlen(ctf2_everything);
        memcpy(text, ctf2_everything, n + 1);
        for (uint64_t changes = support_random(&seed) % 4 + 1; changes > 0; changes--) {
            size_t at = support_random(&seed) % n, from = support_random(&seed) % n,
                   run = support_random(&seed) % 40;
            if (at + run < n && from + run < n && (support_random(&seed) & 1))
                memmove(text + at, text + from, run);
            else
                text[at] = (char)(support_random(&seed) % 255 + 1);
        }
        ctf2_case_parse(&c, alloc_default(), text);
        assert_true(c.status == TTR_OK || c.error.offset <= c.text.n);
        assert_true(c.status == TTR_OK || c.error.line > 0);
        ctf2_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_of_all_types_parse),
        cmocka_unit_test(fragments_without_line_feed_or_first_separator_parse),
        cmocka_unit_test(shared_alias_without_roles_keeps_its_name),
        cmocka_unit_test(repeated_or_misplaced_fragments_are_refused),
        cmocka_unit_test(invalid_fragment_fails_with_position),
        cmocka_unit_test(error_shows_file_line_column_and_path),
        cmocka_unit_test(misplaced_roles_are_refused),
        cmocka_unit_test(nested_and_repeated_roles_are_accepted),
        cmocka_unit_test(
            two_sizes_in_one_field_are_the_total_length_and_other_second_roles_are_remarked_on),
        cmocka_unit_test(shortened_float_constants_are_noted),
        cmocka_unit_test(declared_extensions_are_refused),
        cmocka_unit_test(repeated_event_id_keeps_first_and_reports_damage),
        cmocka_unit_test(wide_environment_numbers_become_text),
        cmocka_unit_test(unknown_properties_and_lax_json_are_noted),
        cmocka_unit_test(release_candidate_syntax_parses_with_notes),
        cmocka_unit_test(equal_clock_declared_twice_is_used_once_with_remark),
        cmocka_unit_test(later_fragments_extend_description),
        cmocka_unit_test(failing_trace_class_adds_nothing),
        cmocka_unit_test(exponential_aliases_end_at_limit),
        cmocka_unit_test(repeated_use_of_large_alias_ends_at_limit),
        cmocka_unit_test(
            every_shorter_text_is_read_up_to_its_last_whole_fragment_once_a_stream_is_known),
        cmocka_unit_test(truncated_inner_fragment_is_refused),
        cmocka_unit_test(failing_allocation_is_reported),
        cmocka_unit_test(damaged_metadata_does_not_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
