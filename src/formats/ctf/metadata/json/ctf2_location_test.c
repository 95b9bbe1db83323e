/* Field locations of CTF 2: possible targets and origins, and selection of optionals and options by
 * ranges. */
#include <stdio.h>

#include "support/ctf2_case.h"
#include "support/support.h"

#define U8 "{'type':'fixed-length-unsigned-integer','length':8,'byte-order':'little-endian'}"
#define STRUCT(members) "{'type':'structure','member-classes':[" members "]}"
#define MEMBER(name, class) "{'name':'" name "','field-class':" class "}"
#define HERE(path) "{'path':[" path "]}"
#define FROM(origin, path) "{'origin':'" origin "','path':[" path "]}"
#define TEXT_AT(location) "{'type':'dynamic-length-string','length-field-location':" location "}"
#define SEQUENCE_AT(location, element)                                 \
    "{'type':'dynamic-length-array','length-field-location':" location \
    ",'element-field-class':" element "}"
#define OPTIONAL_AT(location, class) \
    "{'type':'optional','selector-field-location':" location ",'field-class':" class "}"
#define VARIANT_AT(location, options) \
    "{'type':'variant','selector-field-location':" location ",'options':[" options "]}"
#define OPTION(ranges, class) "{'selector-field-ranges':" ranges ",'field-class':" class "}"

static void length_locations_resolve_from_sibling_or_root(void **state)
{
    (void)state;
    ctf2_check_members(CTF2_UINT("n", "8") "," MEMBER("x", TEXT_AT(HERE("'n'"))),
                       "n: u8 le, x: text[payload.n] @8");
    ctf2_check_members(
        CTF2_UINT("n", "8") "," MEMBER("x", TEXT_AT(FROM("event-record-payload", "'n'"))),
        "n: u8 le, x: text[payload.n] @8");
    ctf2_check_members(
        CTF2_UINT("n", "8") "," MEMBER(
            "x", "{'type':'dynamic-length-blob','length-field-location':" HERE("'n'") "}"),
        "n: u8 le, x: blob[payload.n] @8");
    ctf2_check_members(MEMBER("n", "{'type':'variable-length-unsigned-integer'}") "," MEMBER(
                           "x", SEQUENCE_AT(HERE("'n'"), U8)),
                       "n: vu @8, x: sequence[payload.n] u8 le");
}

static void null_step_leads_to_enclosing_structure(void **state)
{
    (void)state;
    ctf2_check_members(
        CTF2_UINT("n", "8") "," MEMBER(
            "s", STRUCT(CTF2_UINT("m", "16") "," MEMBER("x", TEXT_AT(HERE("null,'n'"))) "," MEMBER(
                     "y", TEXT_AT(HERE("'m'"))))),
        "n: u8 le, s: struct(m: u16 le, x: text[payload.n] @8, y: text[payload.s.m] @8) @8");
    ctf2_check_members(
        MEMBER("a", STRUCT(CTF2_UINT("n", "8"))) "," MEMBER(
            "b", STRUCT(MEMBER("c", STRUCT(MEMBER("x", TEXT_AT(HERE("null,null,'a','n'"))))))),
        "a: struct(n: u8 le), b: struct(c: struct(x: text[payload.a.n] @8) @8) @8");
    /* A null after a name removes it. */
    ctf2_check_members(CTF2_UINT("n", "8") "," MEMBER("x", TEXT_AT(HERE("'m',null,'n'"))),
                       "n: u8 le, x: text[payload.n] @8");
}

static void open_array_resolves_to_current_element(void **state)
{
    (void)state;
    ctf2_check_members(
        CTF2_UINT("n", "8") "," MEMBER(
            "a", SEQUENCE_AT(HERE("'n'"),
                             STRUCT(CTF2_UINT("m", "8") "," MEMBER("x", TEXT_AT(HERE("'m'")))))),
        "n: u8 le, a: sequence[payload.n] @8 struct(m: u8 le, x: text[payload.a.m] @8) @8");
    ctf2_check_members(
        CTF2_UINT("n", "8") "," MEMBER(
            "a",
            SEQUENCE_AT(HERE("'n'"), STRUCT(CTF2_UINT("m", "8") "," MEMBER(
                                         "x", TEXT_AT(FROM("event-record-payload", "'a','m'")))))),
        "n: u8 le, a: sequence[payload.n] @8 struct(m: u8 le, x: text[payload.a.m] @8) @8");
    /* Arrays are not structures: null inside two of them still means the structure around the
     * innermost one. */
    ctf2_check_members(
        CTF2_UINT("n", "8") "," MEMBER(
            "a",
            SEQUENCE_AT(HERE("'n'"),
                        SEQUENCE_AT(HERE("'n'"), STRUCT(MEMBER("x", TEXT_AT(HERE("null,'n'"))))))),
        "n: u8 le, a: sequence[payload.n] @8 sequence[payload.n] @8 struct(x: text[payload.n] @8) "
        "@8");
}

static void length_in_variant_or_optional_is_accepted(void **state)
{
    (void)state;
    ctf2_check_members(
        CTF2_UINT("s", "8") "," MEMBER(
            "n",
            VARIANT_AT(HERE("'s'"),
                       OPTION("[[0,0]]", U8) "," OPTION(
                           "[[1,9]]",
                           "{'type':'variable-length-unsigned-integer'}"))) "," MEMBER("x",
                                                                                       TEXT_AT(HERE(
                                                                                           "'n'"))),
        "s: u8 le, n: variant[payload.s](\"\" 0..0: u8 le, \"\" 1..9: vu @8), x: text[payload.n] "
        "@8");
    ctf2_check_members(
        CTF2_BOOL("b") "," MEMBER(
            "n", OPTIONAL_AT(HERE("'b'"),
                             STRUCT(CTF2_UINT("m", "8")))) "," MEMBER("x",
                                                                      TEXT_AT(HERE("'n','m'"))),
        "b: bool8 le, n: optional[payload.b] struct(m: u8 le), x: text[payload.n.m] @8");
    /* Inside an option, only that option is searched. */
    ctf2_check_members(
        CTF2_UINT("s", "8") "," MEMBER(
            "v", VARIANT_AT(
                     HERE("'s'"),
                     OPTION("[[0,0]]", "{'type':'null-terminated-string'}") "," OPTION(
                         "[[1,1]]", STRUCT(CTF2_UINT("m", "8") "," MEMBER(
                                        "x", TEXT_AT(FROM("event-record-payload", "'v','m'"))))))),
        "s: u8 le, v: variant[payload.s](\"\" 0..0: string @8, \"\" 1..1: struct(m: u8 le, x: "
        "text[payload.v.m] @8) @8)");
}

static void selectors_are_booleans_or_integers_with_ranges(void **state)
{
    (void)state;
    ctf2_check_members(CTF2_BOOL("b") "," MEMBER("x", OPTIONAL_AT(HERE("'b'"), U8)),
                       "b: bool8 le, x: optional[payload.b] u8 le");
    ctf2_check_members(
        CTF2_UINT("u", "64") "," MEMBER(
            "x", "{'type':'optional','selector-field-location':" HERE(
                     "'u'") ",'selector-field-ranges':[[0,3],"
                            "[18446744073709551615,18446744073709551615]],'field-class':" U8 "}"),
        "u: u64 le, x: optional[payload.u 0..3 18446744073709551615..18446744073709551615] u8 le");
    ctf2_check_members(
        CTF2_INT("i", "64") "," MEMBER("x", "{'type':'optional','selector-field-location':" HERE(
                                                "'i'") ",'selector-field-ranges':[[-3,-1],"
                                                       "[5,5]],'field-class':" U8 "}"),
        "i: i64 le, x: optional[payload.i -3..-1 5..5] u8 le");
    ctf2_check_members(
        CTF2_INT("i", "8") "," MEMBER(
            "x", VARIANT_AT(HERE("'i'"),
                            "{'name':'neg','selector-field-ranges':[[-128,-1]],'field-class':" U8
                            "}," OPTION("[[0,5],[3,9]]", STRUCT("")))),
        "i: i8 le, x: variant[payload.i](neg -128..-1: u8 le, \"\" 0..5 3..9: struct())");
}

static void ranges_of_boolean_selector_are_ignored_with_note(void **state)
{
    (void)state;
    ctf2_check_notes(
        CTF2_BEFORE CTF2_BOOL("b") "," MEMBER(
            "x", "{'type':'optional','selector-field-location':" HERE(
                     "'b'") ",'selector-field-ranges':[[0,3]],'field-class':" U8 "}") CTF2_AFTER,
        "ctf.ranges-of-boolean: ranges for a selector that is a boolean mean nothing\n");
}

#define AT(i) "[" #i "].field-class"

static const struct {
    const char *members, *message;
} invalid_targets[] = {
    {MEMBER("x", TEXT_AT("@" HERE("'n'"))),
     AT(0) ".length-field-location: n of the event-record-payload is not there"},
    {MEMBER("x", TEXT_AT("@" HERE("'n'"))) "," CTF2_UINT("n", "8"),
     AT(0) ".length-field-location: n of the event-record-payload is not there"},
    {MEMBER("x", TEXT_AT("@" HERE("'x'"))),
     AT(0) ".length-field-location: x of the event-record-payload is or holds the field that "
           "depends on it"},
    {CTF2_INT("n", "8") "," MEMBER("x", TEXT_AT("@" HERE("'n'"))),
     AT(1) ".length-field-location: a length must be an unsigned integer"},
    {CTF2_BOOL("n") "," MEMBER("x", SEQUENCE_AT("@" HERE("'n'"), U8)),
     AT(1) ".length-field-location: a length must be an unsigned integer"},
    {MEMBER("n", "{'type':'null-terminated-string'}") "," MEMBER("x", TEXT_AT("@" HERE("'n'"))),
     AT(1) ".length-field-location: n of the event-record-payload is neither a number without "
           "fraction nor a boolean"},
    {MEMBER("n", STRUCT("")) "," MEMBER("x", TEXT_AT("@" HERE("'n'"))),
     AT(1) ".length-field-location: n of the event-record-payload is a structure, expected a "
           "number"},
    {CTF2_UINT("n", "8") "," MEMBER("x", TEXT_AT("@" HERE("'n','m'"))),
     AT(1) ".length-field-location: n of the event-record-payload is not a structure and has "
           "no members"},
    {MEMBER("n", STRUCT(CTF2_UINT("m", "8"))) "," MEMBER("x", TEXT_AT("@" HERE("'n','k'"))),
     AT(1) ".length-field-location: n.k of the event-record-payload is not there"},
    {MEMBER("a", "{'type':'static-length-array','length':2,'element-field-class':" STRUCT(
                     CTF2_UINT("m", "8")) "}") "," MEMBER("x", TEXT_AT("@" HERE("'a','m'"))),
     AT(1) ".length-field-location: a of the event-record-payload is an array that is over: it "
           "has no current element"},
    {MEMBER("x", TEXT_AT("@{'path':[]}")),
     AT(0) ".length-field-location: a path must not be empty"},
    {MEMBER("x", TEXT_AT("@{}")),
     AT(0) ".length-field-location: a field location must have the property \"path\""},
    {MEMBER("x", TEXT_AT("{'path':@'n'}")),
     AT(0) ".length-field-location.path: expected an array, found a string"},
    {MEMBER("x", TEXT_AT("{'path':['n',@5]}")),
     AT(0) ".length-field-location.path[1]: expected a name or null, found an integer"},
    {MEMBER("x", TEXT_AT("{'path':['n',@null]}")),
     AT(0) ".length-field-location.path[1]: a path must not end with null"},
    {MEMBER("x", TEXT_AT("{'path':[@null,'n']}")),
     AT(0) ".length-field-location.path[0]: there is no structure around the root"},
    {MEMBER("x", TEXT_AT("{'origin':@'payload','path':['n']}")),
     AT(0) ".length-field-location.origin: expected the name of a root, such as "
           "\"event-record-payload\""},
    {MEMBER("x", TEXT_AT("@" FROM("event-record-header", "'n'"))),
     AT(0) ".length-field-location: there is no event-record-header"},
    {MEMBER("x", TEXT_AT("@5")),
     AT(0) ".length-field-location: expected a field location (an object), found an integer"},
    {CTF2_UINT("n", "8") "," MEMBER("x", "@" OPTIONAL_AT(HERE("'n'"), U8)),
     AT(1) ": a selector that is an integer needs the property \"selector-field-ranges\""},
    {CTF2_BOOL("n") "," MEMBER("x", VARIANT_AT("@" HERE("'n'"), OPTION("[[0,0]]", U8))),
     AT(1) ".selector-field-location: the selector of a variant must be an integer"},
    {CTF2_UINT("s", "8") "," MEMBER(
         "n",
         VARIANT_AT(
             HERE("'s'"),
             OPTION("[[0,0]]", U8) "," OPTION(
                 "[[1,1]]",
                 "{'type':'variable-length-signed-integer'}"))) "," MEMBER("x",
                                                                           VARIANT_AT(
                                                                               "@" HERE("'n'"),
                                                                               OPTION("[[0,0]]",
                                                                                      U8))),
     AT(2) ".selector-field-location: a selector must be of one kind in all options: signed, "
           "unsigned or boolean"},
    {CTF2_UINT("n", "8") "," MEMBER(
         "x", VARIANT_AT(HERE("'n'"), OPTION("[[@-10,9],[20,18446744073709551615]]", U8))),
     AT(1) ".options[0].selector-field-ranges[0][0]: an unsigned number cannot have this "
           "value"},
    {CTF2_INT("n", "8") "," MEMBER(
         "x", VARIANT_AT(HERE("'n'"), OPTION("[[-10,@9223372036854775808]]", U8))),
     AT(1) ".options[0].selector-field-ranges[0][1]: a signed number cannot have this value"},
    {CTF2_UINT("n", "8") "," MEMBER(
         "x", "{'type':'variant','selector-field-location':" HERE("'n'") ",'options':@[]}"),
     AT(1) ".options: a variant must have an option"},
    {CTF2_UINT("n", "8") "," MEMBER("x", VARIANT_AT(HERE("'n'"), "@{'field-class':" U8 "}")),
     AT(1) ".options[0]: an option must have the property \"selector-field-ranges\""},
};

static void invalid_location_targets_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid_targets / sizeof *invalid_targets; i++)
        ctf2_check_members_error(invalid_targets[i].members, TTR_E_MALFORMED,
                                 invalid_targets[i].message);
}

static void repeated_member_name_is_noted_and_resolves_to_first(void **state)
{
    (void)state;
    static const char text[] =
        CTF2_UINT("n", "8") "," CTF2_INT("n", "8") "," MEMBER("t", TEXT_AT(HERE("'n'"))) "," MEMBER(
            "v", VARIANT_AT(HERE("'n'"),
                            "{'name':'a','selector-field-ranges':[[0,0]],'field-class':" U8 "},"
                            "{'name':'a','selector-field-ranges':[[1,1]],'field-class':" U8 "}"));
    char whole[2048];
    ctf2_check_members(text, "n: u8 le, n: i8 le, t: text[payload.n] @8, v: variant[payload.n](a "
                             "0..0: u8 le, a 1..1: u8 le)");
    (void)snprintf(whole, sizeof whole, "%s%s%s", CTF2_BEFORE, text, CTF2_AFTER);
    ctf2_check_notes(whole, "ctf.same-name: two members of a structure have one name\n"
                            "ctf.same-name: two options of a variant have one name\n");
}

static void long_path_in_error_keeps_its_end(void **state)
{
    (void)state;
    ctf2_check_error(CTF2_BEFORE MEMBER("a", STRUCT(MEMBER("x", TEXT_AT("@" HERE("null,'a'")))))
                         CTF2_AFTER,
                     TTR_E_MALFORMED,
                     "event-record-class...member-classes[0].field-class.member-classes[0].field-"
                     "class.length-field-location: "
                     "a of the event-record-payload is or holds the field that depends on it");
}

static void options_with_common_value_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *c, *message;
    } rows[] = {
        {"[[0,5]]", "[[5,9]]", "[[20,30]]", "5"},
        {"[[20,30]]", "[[0,9]]", "[[25,25]]", "25"},
        {"[[0,100]]", "[[200,300]]", "[[99,99]]", "99"},
        {"[[0,1],[10,100]]", "[[2,3]]", "[[4,5],[50,60]]", "50"},
        {"[[0,18446744073709551615]]", "[[0,0]]", "[[1,1]]", "0"},
        {"[[0,0]]", "[[18446744073709551615,18446744073709551615]]",
         "[[9223372036854775808,18446744073709551615]]", "18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char members[1024], message[128];
        (void)snprintf(
            members, sizeof members,
            CTF2_UINT("n", "64") "," MEMBER(
                "x",
                "{'type':'variant','selector-field-location':" HERE("'n'") ",'options':@[" OPTION(
                    "%s", U8) "," OPTION("%s", U8) "," OPTION("%s", U8) "]}"),
            rows[i].a, rows[i].b, rows[i].c);
        (void)snprintf(message, sizeof message, AT(1) ".options: two options are selected by %s",
                       rows[i].message);
        ctf2_check_members_error(members, TTR_E_MALFORMED, message);
    }
    ctf2_check_members_error(
        CTF2_INT("n", "64") "," MEMBER(
            "x", "{'type':'variant','selector-field-location':" HERE("'n'") ",'options':@[" OPTION(
                     "[[-9,-3]]", U8) "," OPTION("[[-3,5]]", U8) "]}"),
        TTR_E_MALFORMED, AT(1) ".options: two options are selected by -3");
    /* Ranges of one option may overlap. */
    ctf2_check_members(
        CTF2_INT("n", "8") "," MEMBER(
            "x", VARIANT_AT(HERE("'n'"), OPTION("[[-3,3],[-1,9],[2,2]]",
                                                U8) "," OPTION("[[10,10],[-4,-4]]", U8))),
        "n: i8 le, x: variant[payload.n](\"\" -3..3 -1..9 2..2: u8 le, \"\" 10..10 -4..-4: u8 le)");
}

#define STREAM_WITH(extra) "^{'type':'preamble','version':2}^{'type':'data-stream-class'," extra "}"

static void only_earlier_roots_can_be_referenced(void **state)
{
    (void)state;
    ctf2_check(
        "^{'type':'preamble','version':2}^{'type':'trace-class','packet-header-field-class'"
        ":" STRUCT(CTF2_UINT(
            "a",
            "8")) "}"
                  "^{'type':'data-stream-class','packet-context-field-class':" STRUCT(CTF2_UINT("b", "8")) ",'event-record-header-field-class':" STRUCT(
                      MEMBER("s", TEXT_AT(FROM("packet-context", "'b'"))) "," CTF2_UINT(
                          "c",
                          "8")) ",'event-record-common-context-field-class'"
                                ":" STRUCT(MEMBER("s", TEXT_AT(FROM("event-record-header", "'c'"))) "," CTF2_UINT(
                                    "d",
                                    "8")) "}^{'type':'event-record-class','specific-context-field-"
                                          "class'"
                                          ":" STRUCT(MEMBER(
                                              "s",
                                              TEXT_AT(FROM(
                                                  "event-record-common-context",
                                                  "'d'"))) "," CTF2_UINT("e",
                                                                         "8")) ",'payload-"
                                                                               "field-class'"
                                                                               ":" STRUCT(MEMBER(
                                                                                   "s",
                                                                                   TEXT_AT(FROM(
                                                                                       "event-"
                                                                                       "record-"
                                                                                       "specific-"
                                                                                       "context",
                                                                                       "'e'"))) "," MEMBER("t",
                                                                                                           TEXT_AT(FROM(
                                                                                                               "packet-header",
                                                                                                               "'a'")))) "}",
        "version 20\n"
        "packet-header struct(a: u8 le)\n"
        "stream 0\n"
        "  packet-context struct(b: u8 le)\n"
        "  event-header struct(s: text[packet-context.b] @8, c: u8 le) @8\n"
        "  common-context struct(s: text[event-header.c] @8, d: u8 le) @8\n"
        "  event 0\n"
        "    specific-context struct(s: text[common-context.d] @8, e: u8 le) @8\n"
        "    payload struct(s: text[specific-context.e] @8, t: text[packet-header.a] @8) "
        "@8\n");
    ctf2_check_error(STREAM_WITH("'packet-context-field-class':" STRUCT(
                         MEMBER("s", TEXT_AT("@" FROM("event-record-header", "'c'"))))),
                     TTR_E_MALFORMED,
                     "data-stream-class.packet-context-field-class.member-classes[0].field-class."
                     "length-field-location: "
                     "the event-record-header is decoded later than the packet-context");
    ctf2_check_error(STREAM_WITH("'packet-context-field-class':" STRUCT(
                         MEMBER("s", TEXT_AT("@" FROM("packet-header", "'c'"))))),
                     TTR_E_MALFORMED,
                     "data-stream-class.packet-context-field-class.member-classes[0].field-class."
                     "length-field-location: "
                     "there is no packet-header");
}

static void relative_locations_in_alias_resolve_from_its_use(void **state)
{
    (void)state;
    ctf2_check(
        "^{'type':'preamble','version':2}^{'type':'data-stream-class'}"
        "^{'type':'field-class-alias','name':'tail','field-class':" TEXT_AT(
            HERE("'n'")) "}"
                         "^{'type':'field-class-alias','name':'again','field-class':'tail'}"
                         "^{'type':'event-record-class','payload-field-class':" STRUCT(
                             CTF2_UINT("n", "8") "," MEMBER("x", "'tail'") "," MEMBER(
                                 "s", STRUCT(CTF2_UINT("n", "16") "," MEMBER("y", "'again'")))) "}",
        "version 20\nstream 0\n  event 0\n    payload struct(n: u8 le, x: text[payload.n] @8, "
        "s: struct(n: u16 le, y: text[payload.s.n] @8) @8) @8\n");
    ctf2_check_error(
        "^{'type':'preamble','version':2}^{'type':'data-stream-class'}"
        "^{'type':'field-class-alias','name':'tail','field-class':" STRUCT(MEMBER(
            "t", TEXT_AT(HERE(
                     "null,'n'")))) "}"
                                    "^{'type':'event-record-class','payload-field-class':" STRUCT(
                                        MEMBER("x", "@'tail'")) "}",
        TTR_E_MALFORMED,
        "event-record-class.payload-field-class.member-classes[0].field-class: "
        "n of the event-record-payload is not there (in the alias)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_locations_resolve_from_sibling_or_root),
        cmocka_unit_test(null_step_leads_to_enclosing_structure),
        cmocka_unit_test(open_array_resolves_to_current_element),
        cmocka_unit_test(length_in_variant_or_optional_is_accepted),
        cmocka_unit_test(selectors_are_booleans_or_integers_with_ranges),
        cmocka_unit_test(ranges_of_boolean_selector_are_ignored_with_note),
        cmocka_unit_test(invalid_location_targets_fail),
        cmocka_unit_test(repeated_member_name_is_noted_and_resolves_to_first),
        cmocka_unit_test(long_path_in_error_keeps_its_end),
        cmocka_unit_test(options_with_common_value_are_refused),
        cmocka_unit_test(only_earlier_roots_can_be_referenced),
        cmocka_unit_test(relative_locations_in_alias_resolve_from_its_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
