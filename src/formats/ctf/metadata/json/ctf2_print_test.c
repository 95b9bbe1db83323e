/* Printer of CTF 2 metadata: its text for known descriptions, equal descriptions after parsing, and
 * what it rejects. */
#include <stdio.h>

#include "support/ctf2_case.h"
#include "support/describe.h"
#include "support/support.h"

static ttr_text text_of(const char *text)
{
    return (ttr_text){text, strlen(text)};
}

static void check_text_again(const char *quoted)
{
    struct ctf2_case c;
    ctf2_case_parse(&c, alloc_default(), quoted);
    if (c.status != TTR_OK)
        fail_msg("%s", c.error.text);
    ctf2_check_again(&c.description);
    ctf2_case_free(&c);
}

#define U8 "{'type':'fixed-length-unsigned-integer','length':8,'byte-order':'little-endian'}"

static void printed_metadata_parse_to_equal_description(void **state)
{
    (void)state;
    check_text_again(ctf2_everything);
    check_text_again("^{'type':'preamble','version':2}^{'type':'data-stream-class'}");
    check_text_again(
        "^{'type':'preamble','version':2}^{'type':'data-stream-class'}"
        "^{'type':'field-class-alias','name':'u8','field-class':" U8 "}"
        "^{'type':'field-class-alias','name':'pair "
        "\\'\\u00e4','field-class':{'type':'structure','minimum-alignment':32,'member-classes':["
        "{'name':'a','field-class':'u8'},{'name':'b','field-class':'u8'}]}}"
        "^{'type':'event-record-class','id':9007199254740993,'payload-field-class':{'type':'"
        "structure','member-classes':["
        "{'name':'n','field-class':'u8'},{'name':'p','field-class':'pair \\'\\u00e4'},"
        "{'name':'bits','field-class':{'type':'fixed-length-bit-array','length':7,'byte-order':'"
        "big-endian','bit-order':'first-to-last'}},"
        "{'name':'map','field-class':{'type':'fixed-length-bit-map','length':9,'byte-order':'"
        "little-endian','flags':{'x':[[0,3],[8,8]]}}},"
        "{'name':'bool','field-class':{'type':'fixed-length-boolean','length':1,'byte-order':'"
        "little-endian','alignment':16}},"
        "{'name':'f','field-class':{'type':'fixed-length-floating-point-number','length':128,'byte-"
        "order':'big-endian'}},"
        "{'name':'vi','field-class':{'type':'variable-length-signed-integer','preferred-display-"
        "base':2,'mappings':"
        "{'':[[-9223372036854775808,-1]],'b':[[0,9223372036854775807]]}}},"
        "{'name':'s','field-class':{'type':'null-terminated-string','encoding':'utf-32be'}},"
        "{'name':'t','field-class':{'type':'dynamic-length-string','length-field-location':{'path':"
        "['n']},'encoding':'utf-16le'}},"
        "{'name':'blob','field-class':{'type':'dynamic-length-blob','length-field-location':{'path'"
        ":['p','a']},'media-type':'x/y'}},"
        "{'name':'arr','field-class':{'type':'static-length-array','length':3,'minimum-alignment':"
        "64,'element-field-class':"
        "{'type':'dynamic-length-array','length-field-location':{'path':['n']},'element-field-"
        "class':'pair \\'\\u00e4'}}},"
        "{'name':'o','field-class':{'type':'optional','selector-field-location':{'path':['bool']},'"
        "field-class':'u8'}},"
        "{'name':'o2','field-class':{'type':'optional','selector-field-location':{'path':['vi']},'"
        "selector-field-ranges':[[-5,5],[7,8]],"
        "'field-class':'u8'}},"
        "{'name':'v','field-class':{'type':'variant','selector-field-location':{'path':['n']},'"
        "options':["
        "{'name':'A','selector-field-ranges':[[0,1],[5,18446744073709551615]],'field-class':'u8'},"
        "{'selector-field-ranges':[[2,4]],'field-class':{'type':'structure'}}]}}]}}");
}

static void at_least_one_data_stream_class_is_written(void **state)
{
    struct ctf2_case c;
    struct buffer printed;
    (void)state;
    ctf2_case_parse(&c, alloc_default(), "^{'type':'preamble','version':2}");
    buffer_init(&printed, alloc_default());
    assert_int_equal(ctf2_print(&c.description, &printed, &c.error), TTR_OK);
    buffer_add_byte(&printed, 0);
    assert_non_null(strstr((const char *)printed.bytes, "\x1e{\"type\":\"data-stream-class\"}\n"));
    buffer_free(&printed);
    ctf2_case_free(&c);
}

static void small_description_prints_known_text(void **state)
{
    (void)state;
    static const char expected[] =
        "\x1e{\"type\":\"preamble\",\"version\":2,\"uuid\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255]"
        "}\n"
        "\x1e{\"type\":\"trace-class\",\"environment\":{\"host\":\"here\",\"cpus\":-4}}\n"
        "\x1e{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000,\"origin\":\"unix-epoch\","
        "\"offset-from-origin\":{\"seconds\":5,\"cycles\":7}}\n"
        "\x1e{\"type\":\"field-class-alias\",\"name\":\"byte\",\"field-class\":{\"type\":\"fixed-"
        "length-unsigned-integer\",\"length\":8,"
        "\"byte-order\":\"little-endian\"}}\n"
        "\x1e{\"type\":\"data-stream-class\",\"id\":1,\"default-clock-class-id\":\"c\",\"event-"
        "record-header-field-class\":{\"type\":\"structure\","
        "\"member-classes\":[{\"name\":\"id\",\"field-class\":\"byte\"},{\"name\":\"t\",\"field-"
        "class\":{\"type\":\"fixed-length-unsigned-integer\","
        "\"length\":27,\"byte-order\":\"big-endian\",\"alignment\":8,\"roles\":[\"default-clock-"
        "timestamp\"]}}]}}\n"
        "\x1e{\"type\":\"event-record-class\",\"id\":18446744073709551615,\"data-stream-class-id\":"
        "1,\"name\":\"e\",\"payload-field-class\":"
        "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"s\",\"field-class\":{\"type\":"
        "\"dynamic-length-string\",\"length-field-location\":"
        "{\"origin\":\"event-record-header\",\"path\":[\"id\"]}}}]}}\n";
    struct ctf2_case c;
    struct buffer printed;
    ctf2_case_parse(
        &c, alloc_default(),
        "^{'type':'preamble','version':2,'uuid':[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255]}"
        "^{'type':'trace-class','environment':{'host':'here','cpus':-4}}"
        "^{'type':'clock-class','id':'c','frequency':1000,'origin':'unix-epoch','offset-from-"
        "origin':{'seconds':5,'cycles':7}}"
        "^{'type':'field-class-alias','name':'unused','field-class':" U8 "}"
        "^{'type':'field-class-alias','name':'byte','field-class':" U8 "}"
        "^{'type':'data-stream-class','id':1,'default-clock-class-id':'c','event-record-header-"
        "field-class':{'type':'structure',"
        "'member-classes':[{'name':'id','field-class':'byte'},{'name':'t','field-class':{'type':'"
        "fixed-length-unsigned-integer',"
        "'length':27,'byte-order':'big-endian','alignment':8,'roles':['default-clock-timestamp']}}]"
        "}}"
        "^{'type':'event-record-class','id':18446744073709551615,'data-stream-class-id':1,'name':'"
        "e','payload-field-class':"
        "{'type':'structure','member-classes':[{'name':'s','field-class':{'type':'dynamic-length-"
        "string',"
        "'length-field-location':{'origin':'event-record-header','path':['id']}}}]}}");
    assert_int_equal(c.status, TTR_OK);
    buffer_init(&printed, alloc_default());
    assert_int_equal(ctf2_print(&c.description, &printed, NULL), TTR_OK);
    support_assert_text(printed.bytes, printed.n, expected);
    buffer_free(&printed);
    ctf2_case_free(&c);
}

/* A description as from TSDL, with one event with the given payload members. */
struct made {
    struct ctf_description description;
    struct type payload;
};

static void make(struct made *made, const struct type_member *members, uint32_t n)
{
    ctf_description_init(&made->description, alloc_default());
    made->description.version = CTF_1_8;
    struct ctf_stream_class *stream = ctf_add_stream(&made->description);
    assert_non_null(stream);
    struct ctf_event_class *event = ctf_add_event(&made->description, stream, 0);
    assert_non_null(event);
    made->payload = (struct type){.kind = TYPE_STRUCT, .members = members, .members_n = n};
    event->payload = &made->payload;
}

/* Expects this payload in the last fragment; for RFC v1.1 as printed for display. */
static void check_shown(enum ctf_version version, const struct type_member *members, uint32_t n,
                        const char *expected)
{
    struct made made;
    struct ctf_description again;
    struct buffer printed, said;
    ttr_error error;
    make(&made, members, n);
    made.description.version = version;
    buffer_init(&printed, alloc_default());
    buffer_init(&said, alloc_default());
    if ((version == CTF_RFC_1_1 ? ctf2_print_indented : ctf2_print)(&made.description, &printed,
                                                                    &error) != TTR_OK)
        fail_msg("%s", error.text);
    ctf2_check_lines(&printed);
    ctf2_parse_printed(&again, &printed);
    describe_type(&said, again.streams[0]->events[0]->payload);
    support_assert_text(said.bytes, said.n, expected);
    ctf_description_free(&again);
    buffer_free(&said);
    buffer_free(&printed);
    ctf_description_free(&made.description);
}

static void check_payload(const struct type_member *members, uint32_t n, const char *expected)
{
    check_shown(CTF_1_8, members, n, expected);
}

static const struct type plain_u8 = {.kind = TYPE_UINT, .bits = 8},
                         plain_i8 = {.kind = TYPE_INT, .bits = 8};

static void printed_names_are_shown_names_also_in_locations(void **state)
{
    (void)state;
    ttr_text path[] = {{"_s", 2}, {"__n", 3}};
    struct type text = {.kind = TYPE_TEXT,
                        .align = 3,
                        .reference = {.names = path, .names_n = 2, .root = ROOT_PAYLOAD}};
    struct type_member inner[] = {
        {.name = text_of("__n"), .shown = text_of("_n"), .type = &plain_u8}};
    struct type inside = {.kind = TYPE_STRUCT, .members = inner, .members_n = 1};
    struct type_member members[] = {{.name = text_of("_s"), .shown = text_of("s"), .type = &inside},
                                    {.name = text_of("_t"), .shown = text_of("t"), .type = &text}};
    check_payload(members, 2, "struct(s: struct(_n: u8 le), t: text[payload.s._n] @8) @8");
}

static void clashing_shown_names_print_stored_names(void **state)
{
    (void)state;
    ttr_text path[] = {{"_a", 2}};
    struct type text = {.kind = TYPE_TEXT,
                        .align = 3,
                        .reference = {.names = path, .names_n = 1, .root = ROOT_PAYLOAD}};
    struct type_member members[] = {
        {.name = text_of("_a"), .shown = text_of("a"), .type = &plain_u8},
        {.name = text_of("a"), .shown = text_of("a"), .type = &plain_i8},
        {.name = text_of("__a"), .shown = text_of("_a"), .type = &plain_u8},
        {.name = text_of("t"), .shown = text_of("t"), .type = &text}};
    check_payload(members, 4, "struct(_a: u8 le, a: i8 le, __a: u8 le, t: text[payload._a] @8) @8");
}

static void labels_of_equal_name_print_as_one(void **state)
{
    (void)state;
    static const struct type_range ranges[] = {{0, 0}, {1, 2}, {7, 7}, {9, 9}};
    const struct type_label label[] = {{text_of("A"), &ranges[0], 1},
                                       {text_of("B"), &ranges[1], 1},
                                       {text_of("A"), &ranges[2], 2},
                                       {text_of("none"), NULL, 0}};
    struct type_labels labels = {.label = label, .n = 4};
    struct type color = {.kind = TYPE_UINT, .bits = 8, .labels = &labels};
    struct type_member members[] = {{.name = text_of("c"), .shown = text_of("c"), .type = &color}};
    check_payload(members, 1, "struct(c: u8 le {\"A\" 0..0 7..7 9..9, \"B\" 1..2})");
}

static void unselectable_options_are_omitted(void **state)
{
    (void)state;
    static const struct type_range one = {1, 1};
    ttr_text path[] = {{"tag", 3}};
    struct type_member options[] = {
        {.name = text_of("x"), .shown = text_of("x"), .type = &plain_u8},
        {.name = text_of("y"),
         .shown = text_of("y"),
         .type = &plain_i8,
         .ranges = &one,
         .ranges_n = 1}};
    struct type variant = {.kind = TYPE_VARIANT,
                           .members = options,
                           .members_n = 2,
                           .reference = {.names = path, .names_n = 1, .root = ROOT_PAYLOAD}};
    struct type_member members[] = {
        {.name = text_of("tag"), .shown = text_of("tag"), .type = &plain_u8},
        {.name = text_of("v"), .shown = text_of("v"), .type = &variant}};
    check_payload(members, 2, "struct(tag: u8 le, v: variant[payload.tag](y 1..1: i8 le))");
}

static void types_of_equal_name_print_one_alias(void **state)
{
    (void)state;
    static const struct type one = {.kind = TYPE_UINT, .bits = 8, .name = {"int", 3}},
                             two = {.kind = TYPE_UINT, .bits = 9, .name = {"int", 3}};
    struct type_member members[] = {{.name = text_of("a"), .shown = text_of("a"), .type = &one},
                                    {.name = text_of("b"), .shown = text_of("b"), .type = &two},
                                    {.name = text_of("c"), .shown = text_of("c"), .type = &one}};
    check_payload(members, 3, "struct(a: \"int\" = u8 le, b: u9 le, c: \"int\" = u8 le)");
}

static void rfc11_lengths_and_bitfields_print_as_members_without_unit(void **state)
{
    (void)state;
    struct type bitfield = {.kind = TYPE_UINT, .bits = 3, .unit = 16, .name = {"bf", 2}};
    struct type row = {.kind = TYPE_SEQUENCE,
                       .has_inline_length = true,
                       .length_type = &plain_u8,
                       .element = &bitfield,
                       .name = {"row", 3}};
    struct type rows = {.kind = TYPE_SEQUENCE,
                        .has_inline_length = true,
                        .length_type = &plain_u8,
                        .element = &row,
                        .minimum_align = 5,
                        .align = 5};
    struct type named = row;
    named.length_member = text_of("own");
    struct type_member members[] = {
        {.name = text_of("a"), .shown = text_of("a"), .type = &row},
        {.name = text_of("b_length"), .shown = text_of("b_length"), .type = &plain_u8},
        {.name = text_of("b"), .shown = text_of("b"), .type = &rows},
        {.name = text_of("c"), .shown = text_of("c"), .type = &named},
        {.name = text_of("d"), .shown = text_of("d"), .type = &named}};
    check_shown(CTF_RFC_1_1, members, 5,
                "struct(a_length: u8 le, a: sequence[payload.a_length] \"bf\" = u3 le, b_length: "
                "u8 le, b_length_2: u8 le @32, "
                "b: sequence[payload.b_length_2] struct(elements_length: u8 le, elements: "
                "sequence[payload.b.elements_length] \"bf\" = u3 le), "
                "own: u8 le, c: sequence[payload.own] \"bf\" = u3 le, d_length: u8 le, d: "
                "sequence[payload.d_length] \"bf\" = u3 le) @32");
}

static void rfc11_bitfield_units_align_structures(void **state)
{
    (void)state;
    struct type bitfield = {.kind = TYPE_UINT, .bits = 3, .unit = 16, .name = {"bf", 2}};
    struct type_member inner[] = {{.name = text_of("x"), .shown = text_of("x"), .type = &bitfield}};
    struct type inside = {.kind = TYPE_STRUCT, .members = inner, .members_n = 1, .align = 4};
    struct type_member members[] = {{.name = text_of("s"), .shown = text_of("s"), .type = &inside}};
    check_shown(CTF_RFC_1_1, members, 1, "struct(s: struct(x: \"bf\" = u3 le) @16 min 16) @16");
}

static void check_refused(const struct type *type, const char *message)
{
    struct type_member member = {.name = text_of("m"), .shown = text_of("m"), .type = type};
    struct made made;
    struct buffer printed;
    ttr_error error;
    make(&made, &member, 1);
    buffer_init(&printed, alloc_default());
    assert_int_equal(ctf2_print(&made.description, &printed, &error), TTR_E_UNSUPPORTED);
    assert_string_equal(error.text, message);
    buffer_free(&printed);
    ctf_description_free(&made.description);
}

static void inexpressible_in_ctf_2_is_refused(void **state)
{
    (void)state;
    static const struct type_range low = {0, 5}, high = {5, 9};
    ttr_text path[] = {{"nowhere", 7}};
    struct type bitfield = {.kind = TYPE_UINT, .bits = 3, .unit = 16, .name = {"bf", 2}};
    struct type inline_length = {.kind = TYPE_SEQUENCE,
                                 .has_inline_length = true,
                                 .length_type = &plain_u8,
                                 .element = &plain_u8};
    struct type text = {.kind = TYPE_STRING, .align = 0};
    struct type lost = {.kind = TYPE_BLOB,
                        .align = 3,
                        .reference = {.names = path, .names_n = 1, .root = ROOT_PAYLOAD}};
    struct type none = {.kind = TYPE_NONE};
    struct type_member options[] = {{.type = &plain_u8, .ranges = &low, .ranges_n = 1},
                                    {.type = &plain_i8, .ranges = &high, .ranges_n = 1}};
    struct type variant = {.kind = TYPE_VARIANT,
                           .members = options,
                           .members_n = 2,
                           .reference = {.names = path, .names_n = 0, .root = ROOT_PAYLOAD}};
    struct type empty = {.kind = TYPE_VARIANT,
                         .reference = {.names = path, .names_n = 0, .root = ROOT_PAYLOAD}};
    check_refused(&bitfield,
                  "CTF 2 cannot express this: \"bf\" is a bitfield that keeps to a unit");
    check_refused(&inline_length,
                  "CTF 2 cannot express this: \"\" has its length right before its elements");
    check_refused(&text, "CTF 2 cannot express this: \"\" is text that is not aligned to bytes");
    check_refused(&lost, "CTF 2 cannot express this: \"nowhere\" is referred to and is not there");
    check_refused(&none, "CTF 2 cannot express this: \"\" has no class");
    check_refused(
        &variant,
        "CTF 2 cannot express this: \"\" is a variant with a value that selects two options");
    check_refused(&empty, "CTF 2 cannot express this: \"\" is a variant that nothing selects");
    struct ctf_description rfc = {.version = CTF_RFC_1_1};
    struct buffer printed;
    ttr_error error;
    buffer_init(&printed, alloc_default());
    assert_int_equal(ctf2_print(&rfc, &printed, &error), TTR_E_UNSUPPORTED);
    assert_string_equal(error.text,
                        "packets of CTF v1.1 are no packets of CTF 2: their headers are fixed");
    buffer_free(&printed);
}

/* Adds all properties of trace class, event and clock that TSDL has besides types. */
static void add_details(struct ctf_description *d)
{
    struct ctf_event_class *event = d->streams[0]->events[0];
    event->has_log_level = true;
    event->log_level = 4;
    event->emf_uri = text_of("http://x");
    struct ctf_clock *clock = ctf_add_clock(d);
    assert_non_null(clock);
    clock->id = text_of("c");
    clock->frequency = 10;
    clock->offset_s = 3;
    clock->offset_cycles = -25;
    clock->has_uuid = true;
    clock->uuid[15] = 0xab;
    d->streams[0]->clock = clock;
    for (int i = 0; i < 2; i++) {
        struct ctf_environment *entry = ctf_add_environment(d);
        assert_non_null(entry);
        *entry = (struct ctf_environment){.name = text_of("twice"), .is_number = true, .number = i};
    }
}

static void tsdl_properties_are_printed(void **state)
{
    (void)state;
    static const struct type magic = {.kind = TYPE_UINT, .bits = 32, .role = CTF_ROLE_MAGIC},
                             byte = {.kind = TYPE_UINT, .bits = 8, .align = 3},
                             uuid = {.kind = TYPE_ARRAY,
                                     .count = 16,
                                     .align = 3,
                                     .element = &byte,
                                     .role = CTF_ROLE_UUID},
                             cpu = {.kind = TYPE_UINT, .bits = 32, .role = CTF_ROLE_CPU},
                             size = {.kind = TYPE_UINT, .bits = 32, .role = CTF_ROLE_PACKET_SIZE},
                             time = {.kind = TYPE_UINT, .bits = 64, .role = CTF_ROLE_TIME},
                             begin = {.kind = TYPE_UINT, .bits = 64, .role = CTF_ROLE_TIME_BEGIN};
    const struct type_member header[] = {
        {.name = text_of("magic"), .shown = text_of("magic"), .type = &magic},
        {.name = text_of("uuid"), .shown = text_of("uuid"), .type = &uuid}};
    const struct type_member context[] = {
        {.name = text_of("begin"), .shown = text_of("begin"), .type = &begin},
        {.name = text_of("size"), .shown = text_of("size"), .type = &size},
        {.name = text_of("cpu_id"), .shown = text_of("cpu_id"), .type = &cpu}};
    const struct type_member payload[] = {
        {.name = text_of("time"), .shown = text_of("time"), .type = &time}};
    const struct type packet_header = {.kind = TYPE_STRUCT, .members = header, .members_n = 2},
                      packet_context = {.kind = TYPE_STRUCT, .members = context, .members_n = 3};
    struct made made;
    make(&made, payload, 1);
    struct ctf_description *d = &made.description;
    d->packet_header = &packet_header;
    d->has_uuid = true;
    d->streams[0]->packet_context = &packet_context;
    add_details(d);
    struct ctf_description again;
    struct buffer printed, said;
    buffer_init(&printed, alloc_default());
    buffer_init(&said, alloc_default());
    assert_int_equal(ctf2_print(d, &printed, NULL), TTR_OK);
    ctf2_check_lines(&printed);
    ctf2_parse_printed(&again, &printed);
    describe_ctf(&said, &again);
    support_assert_text(
        said.bytes, said.n,
        "version 20 uuid 00000000000000000000000000000000\n"
        "packet-header struct(magic: u32 le role 1, uuid: blob[16] @8 role 2) @8\n"
        "env \"twice\" = 0\n"
        "clock \"c\" uid \"00000000-0000-0000-0000-0000000000ab\" 10 Hz + 0 s 5 cycles\n"
        "stream 0 clock \"c\"\n"
        "  packet-context struct(begin: u64 le role 7 clock \"c\", size: u32 le role 5, cpu_id: "
        "u32 le role 11)\n"
        "  event 0 emf \"http://x\" level 4 attributes "
        "{\"lttng.org,2009\":{\"log-level\":\"warning\",\"emf-uri\":\"http://x\"}}\n"
        "    payload struct(time: u64 le)\n");
    ctf_description_free(&again);
    buffer_free(&printed);
    buffer_free(&said);
    ctf_description_free(d);
}

/* seconds, cycles at 10 Hz, and the printed offset */
static void offsets_are_less_than_a_second_of_cycles(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds, cycles;
        const char *written;
    } rows[] = {
        {0, 0, NULL},
        {0, 9, "{\"seconds\":0,\"cycles\":9}"},
        {-1, 10, NULL},
        {5, 123, "{\"seconds\":17,\"cycles\":3}"},
        {0, -1, "{\"seconds\":-1,\"cycles\":9}"},
        {0, -10, "{\"seconds\":-1,\"cycles\":0}"},
        {0, INT64_MIN, "{\"seconds\":-922337203685477581,\"cycles\":2}"},
        {INT64_MIN, 9, "{\"seconds\":-9223372036854775808,\"cycles\":9}"},
        {INT64_MIN, -1, "refused"},
        {INT64_MAX, 10, "refused"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ctf_description d;
        struct buffer printed;
        ttr_error error;
        ctf_description_init(&d, alloc_default());
        d.version = CTF_1_8;
        struct ctf_clock *clock = ctf_add_clock(&d);
        assert_non_null(clock);
        *clock = (struct ctf_clock){.id = text_of("c"),
                                    .frequency = 10,
                                    .offset_s = rows[i].seconds,
                                    .offset_cycles = rows[i].cycles};
        buffer_init(&printed, alloc_default());
        ttr_status status = ctf2_print(&d, &printed, &error);
        buffer_add_byte(&printed, 0);
        const char *offset = strstr((char *)printed.bytes, "offset-from-origin\":");
        if (rows[i].written && strcmp(rows[i].written, "refused") == 0) {
            assert_int_equal(status, TTR_E_UNSUPPORTED);
        } else {
            assert_int_equal(status, TTR_OK);
            assert_int_equal(!!offset, !!rows[i].written);
            assert_true(!offset ||
                        strncmp(offset + 20, rows[i].written, strlen(rows[i].written)) == 0);
        }
        buffer_free(&printed);
        ctf_description_free(&d);
    }
}

static bool print_with(const struct alloc *alloc)
{
    struct ctf2_case c;
    struct buffer printed;
    ttr_error error;
    ctf2_case_parse(&c, alloc_default(), ctf2_everything);
    buffer_init(&printed, alloc);
    c.description.alloc = alloc;
    ttr_status status = ctf2_print(&c.description, &printed, &error);
    c.description.alloc = alloc_default();
    buffer_free(&printed);
    ctf2_case_free(&c);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    return status == TTR_OK;
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(print_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_metadata_parse_to_equal_description),
        cmocka_unit_test(at_least_one_data_stream_class_is_written),
        cmocka_unit_test(small_description_prints_known_text),
        cmocka_unit_test(printed_names_are_shown_names_also_in_locations),
        cmocka_unit_test(clashing_shown_names_print_stored_names),
        cmocka_unit_test(labels_of_equal_name_print_as_one),
        cmocka_unit_test(unselectable_options_are_omitted),
        cmocka_unit_test(types_of_equal_name_print_one_alias),
        cmocka_unit_test(rfc11_lengths_and_bitfields_print_as_members_without_unit),
        cmocka_unit_test(rfc11_bitfield_units_align_structures),
        cmocka_unit_test(inexpressible_in_ctf_2_is_refused),
        cmocka_unit_test(tsdl_properties_are_printed),
        cmocka_unit_test(offsets_are_less_than_a_second_of_cycles),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
