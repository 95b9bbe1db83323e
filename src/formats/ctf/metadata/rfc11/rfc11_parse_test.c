/* Parser of RFC v1.1 metadata: the RFC's samples, inheritance, alignment, and tolerated
 * syntax. Descriptions are compared as text: u32@8 is an unsigned integer of 32
 * bits aligned to 8. */
#include <stdio.h>

#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "support/support.h"

struct scene {
    struct ctf_description description;
    ttr_error error;
    ttr_status status;
    char notes[500];
    char text[3000];
    size_t n;
};

static void take_note(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                      const char *text)
{
    struct scene *scene = ctx;
    size_t n = strlen(scene->notes);
    assert_true(strlen(text) > 0);
    (void)snprintf(scene->notes + n, sizeof scene->notes - n, "%d %s %llu\n", (int)severity, code,
                   (unsigned long long)offset);
}

static void parse_more(struct scene *scene, const char *metadata)
{
    struct ctf_text text = {.p = metadata, .n = strlen(metadata), .file = "metadata"};
    scene->status = rfc11_parse(&scene->description, &text, &scene->error);
}

static void parse(struct scene *scene, const char *metadata)
{
    *scene = (struct scene){.n = 0};
    ctf_description_init(&scene->description, alloc_default());
    scene->description.note = take_note;
    scene->description.note_ctx = scene;
    parse_more(scene, metadata);
}

static void parse_well(struct scene *scene, const char *metadata)
{
    parse(scene, metadata);
    if (scene->status != TTR_OK)
        fail_msg("%s", scene->error.text);
}

static void print_format(struct scene *scene, const char *format, ...) TTR_PRINTF(2, 3);
static void print_format(struct scene *scene, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int n = vsnprintf(scene->text + scene->n, sizeof scene->text - scene->n, format, values);
    va_end(values);
    assert_true(n >= 0 && (size_t)n < sizeof scene->text - scene->n);
    scene->n += (size_t)n;
}

static void put_type(struct scene *scene, const struct type *type);

static void put_members(struct scene *scene, const struct type *type)
{
    print_format(scene, "{");
    for (uint32_t i = 0; i < type->members_n; i++) {
        print_format(scene, "%s", i ? ", " : "");
        put_type(scene, type->members[i].type);
        print_format(scene, " %.*s", (int)type->members[i].name.n, type->members[i].name.p);
    }
    print_format(scene, "}");
}

static void put_number(struct scene *scene, const struct type *type)
{
    print_format(scene, "%c%u", type->kind == TYPE_INT ? 's' : 'u', type->bits);
    if (type->unit)
        print_format(scene, "/%u", type->unit);
    if (type->is_big_endian)
        print_format(scene, "be");
    if (type->base)
        print_format(scene, "base%u", type->base);
    for (uint32_t i = 0; type->labels && i < type->labels->n; i++) {
        const struct type_label *label = &type->labels->label[i];
        print_format(scene, "%c%lld=%.*s", i ? ' ' : '(', (long long)label->ranges[0].low,
                     (int)label->name.n, label->name.p);
        assert_true(label->ranges_n == 1 && label->ranges[0].low == label->ranges[0].high);
    }
    print_format(scene, "%s", type->labels && type->labels->n ? ")" : "");
}

static void put_type(struct scene *scene, const struct type *type)
{
    switch (type->kind) {
    case TYPE_UINT:
    case TYPE_INT:
        put_number(scene, type);
        break;
    case TYPE_STRING:
        print_format(scene, type->encoding == ENCODING_ASCII ? "ascii" : "utf8");
        break;
    case TYPE_STRUCT:
        put_members(scene, type);
        break;
    case TYPE_ARRAY:
        print_format(scene, "[%llu ", (unsigned long long)type->count);
        put_type(scene, type->element);
        print_format(scene, "]");
        break;
    case TYPE_SEQUENCE:
        assert_true(type->has_inline_length);
        print_format(scene, "<");
        put_type(scene, type->length_type);
        print_format(scene, " ");
        put_type(scene, type->element);
        print_format(scene, ">");
        break;
    case TYPE_OPTIONAL:
        print_format(scene, "%.*s=%llu? ", (int)type->reference.names[0].n,
                     type->reference.names[0].p, (unsigned long long)type->ranges[0].low);
        put_type(scene, type->element);
        break;
    default:
        fail_msg("kind %u", type->kind);
    }
    print_format(scene, "@%u", 1u << type->align);
}

/* Expects this payload of event i in the first section. */
static void assert_payload(struct scene *scene, size_t i, const char *expected)
{
    scene->n = 0;
    put_type(scene, scene->description.streams[0]->events[i]->payload);
    support_assert_text(scene->text, scene->n, expected);
}

static void end(struct scene *scene)
{
    ctf_description_free(&scene->description);
}

#define TRACE "trace { major = 1; minor = 1; alignment = packed; }\n"
#define SECTION "section { name = s; event { header_type = type1; } }\n"
#define BEGIN TRACE SECTION
#define EVENT(fields)                                                                            \
    "event { name = e; id = 0; section = s; fields = type { parent = struct; fields = { " fields \
    " }; }; }\n"

/* --- The RFC's own samples --- */

static void rfc_samples_parse_to_described_types(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(
        &scene,
        "type uint32_t { parent = integer; size = 32; signed = false; align = 32; }\n" /* 4.1.5, its
                                                                                          size
                                                                                          corrected
                                                                                        */
        "type int5_t { parent = integer; size = 5; signed = true; align = 1; }\n"
        "type struct_example {\n" /* 4.1.6 */
        "parent = struct;\n"
        "fields = {\n{\ntype {\nparent = gcc_bitfield;\nunit_size = 16; /* sizeof(short) */\nsize "
        "= 12;\nsigned = true;\n"
        "align = 1;\n},\na,\n},\n{\ntype {\nparent = gcc_bitfield;\nunit_size = 16; /* "
        "sizeof(short) */\nsize = 5;\n"
        "signed = true;\nalign = 1;\n},\nb,\n},\n};\n}\n"
        "type struct_example_2 { parent = struct; fields = { {\n" /* 4.2.1 */
        "type { /* Nameless type */\nparent = integer;\nsize = 16;\nsigned = true;\nalign = "
        "16;\n},\nfirst_field_name,\n},\n"
        "{\nuint64_t, /* Named type declared in the metadata */\nsecond_field_name,\n}\n};\n}\n"
        "type example_array {\nparent = array;\nlength = 10;\nelem_type = uint32_t;\n}\n" /* 4.2.2
                                                                                           */
        "type per_section_event_ctx {\nparent = struct;\nfields = {\n{ uint, pid },\n{ uint16_t, "
        "payload_size },\n};\n};\n" /* 6.2.1 */
        "trace { major = 1; minor = 1; alignment = packed; }\n"
        "section {\nname = irq;\nevent {\n/* Type 1 - Few event IDs; Type 2 - Many event IDs "
        "*/\nheader_type = type1;\n"
        "context {\nevent_size = true; context_type = per_section_event_ctx; \n}\n}\n}\n"
        "event {\nname = irq_entry;\nid = 3;\nsection = irq;\nfields = struct_example;\n}\n"
        "event { name = two; id = 4; section = irq; fields = struct_example_2; }"
        "event { name = three; id = 5; section = irq; fields = { { example_array, x }, { int5_t, y "
        "} }; }");
    assert_payload(&scene, 0, "{s12/16@1 a, s5/16@1 b}@16");
    assert_payload(&scene, 1, "{s16@16 first_field_name, u64@8 second_field_name}@16");
    assert_payload(&scene, 2, "{[10 u32@32]@32 x, s5@1 y}@32");
    const struct ctf_stream_class *stream = scene.description.streams[0];
    support_assert_text(stream->name.p, stream->name.n, "irq");
    assert_int_equal(stream->rfc_header, 1);
    assert_true(stream->rfc_has_event_size);
    scene.n = 0;
    put_type(&scene, stream->event_context);
    support_assert_text(scene.text, scene.n, "{u32@8 pid, u16@8 payload_size}@8");
    const struct ctf_event_class *event = ctf_find_event(stream, 3);
    support_assert_text(event->name.p, event->name.n, "irq_entry");
    assert_string_equal(scene.notes, "");
    assert_int_equal(scene.description.version, CTF_RFC_1_1);
    assert_int_equal(scene.description.minor, 1);
    end(&scene);
}

/* In section 5 of the RFC a comma is missing after two items, and another list starts with [; 6.1
 * has a comment between items. */
static void rfc_samples_with_slips_are_accepted(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, BEGIN EVENT("{ uint64_t, timestamp_begin }\n{ uint64_t, timestamp_end }\n[ "
                                   "uint32_t, events_discarded },\n"
                                   "{ uint16_t, id }, /* 65535 is reserved */\n"));
    assert_payload(
        &scene, 0,
        "{u64@8 timestamp_begin, u64@8 timestamp_end, u32@8 events_discarded, u16@8 id}@8");
    end(&scene);
    parse_well(&scene, BEGIN "type e { .parent = enum; .size = 8; .map = { { 1, one }, { 2, \"two "
                             "and more\" }, }; }" EVENT("{ e, x }"));
    assert_payload(&scene, 0, "{u8(1=one 2=two and more)@8 x}@8");
    end(&scene);
}

/* --- Fixed types --- */

static void packet_headers_are_described(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, TRACE);
    put_type(&scene, scene.description.packet_header);
    support_assert_text(scene.text, scene.n,
                        "{u32@8 magic, u32@8 session_id, u32@8 content_size, u32@8 packet_size, "
                        "u32@8 checksum, u32@8 section_packet_count, "
                        "u64@8 timestamp_begin, u64@8 timestamp_end, u32@8 events_discarded, u8@8 "
                        "section_packet_count_bits, "
                        "u8@8 compression_scheme, u8@8 encryption_scheme, u8@8 checksum_scheme}@8");
    static const uint8_t roles[] = {CTF_ROLE_MAGIC,
                                    0,
                                    CTF_ROLE_CONTENT_SIZE,
                                    CTF_ROLE_PACKET_SIZE,
                                    0,
                                    CTF_ROLE_SEQUENCE,
                                    CTF_ROLE_TIME_BEGIN,
                                    CTF_ROLE_TIME_END,
                                    CTF_ROLE_DISCARDED,
                                    0,
                                    0,
                                    0,
                                    0};
    for (uint32_t i = 0; i < sizeof roles; i++)
        assert_int_equal(scene.description.packet_header->members[i].type->role, roles[i]);
    end(&scene);
}

static void event_headers_are_described_in_every_alignment(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        [CTF_ALIGN_PACKED] =
            {"{u5@1 id, u27@1 timestamp, id=31? {u32@8 id, u64@8 timestamp, {}@8 end}@8@1 "
             "extended}@8",
             "{u32@8 timestamp, u16@8 id, id=65535? {u64@8 timestamp, u32@8 id}@8@1 extended}@8"},
        [CTF_ALIGN_NATURAL_64] =
            {"{u5@1 id, u27@1 timestamp, id=31? {u32@8 id, u64@8 timestamp, {}@64 end}@8@1 "
             "extended}@32",
             "{u32@8 timestamp, u16@8 id, id=65535? {u64@8 timestamp, u32@8 id}@64@1 extended}@32"},
        [CTF_ALIGN_NATURAL_32] =
            {"{u5@1 id, u27@1 timestamp, id=31? {u32@8 id, u64@8 timestamp, {}@32 end}@8@1 "
             "extended}@32",
             "{u32@8 timestamp, u16@8 id, id=65535? {u64@8 timestamp, u32@8 id}@32@1 extended}@32"},
    };
    struct scene scene;
    parse_well(&scene, TRACE "section { name = a; event { header_type = type1; } } section { name "
                             "= b; event { header_type = type2; } }");
    for (int i = CTF_ALIGN_PACKED; i <= CTF_ALIGN_NATURAL_32; i++)
        for (int k = 0; k < 2; k++) {
            rfc11_set_alignment(&scene.description, (enum ctf_alignment)i);
            scene.n = 0;
            put_type(&scene, scene.description.streams[k]->event_header);
            support_assert_text(scene.text, scene.n, expected[i][k]);
        }
    const struct type *header = scene.description.streams[1]->event_header;
    assert_int_equal(header->members[0].type->role, CTF_ROLE_TIME);
    assert_int_equal(header->members[1].type->role, CTF_ROLE_EVENT_ID);
    assert_ptr_equal(header->members[0].type->clock, scene.description.streams[1]->clock);
    assert_int_equal(header->members[2].type->element->members[0].type->role, CTF_ROLE_TIME);
    end(&scene);
}

static void native_byte_order_follows_packets(void **state)
{
    (void)state;
    struct scene scene = {.n = 0};
    ctf_description_init(&scene.description, alloc_default());
    scene.description.is_big_endian = true;
    parse_more(&scene,
               BEGIN EVENT("{ uint8_t, a }, { type { parent = uint16_t; byte_order = le; }, b },"
                           "{ type { parent = uint16_t; byte_order = network; }, c }, { type { "
                           "parent = uint16_t; byte_order = native; }, d }"));
    assert_int_equal(scene.status, TTR_OK);
    assert_payload(&scene, 0, "{u8be@8 a, u16@8 b, u16be@8 c, u16be@8 d}@8");
    scene.n = 0;
    put_type(&scene, scene.description.streams[0]->event_header);
    assert_non_null(strstr(scene.text, "{u5be@1 id, u27be@1 timestamp"));
    end(&scene);
    parse_well(&scene,
               BEGIN EVENT("{ type { parent = uint16_t; byte_order = be; }, a }, { uint16_t, b }"));
    assert_payload(&scene, 0, "{u16be@8 a, u16@8 b}@8");
    end(&scene);
}

/* --- Types --- */

static void child_attributes_override_parent(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene,
               BEGIN "abstract_type be_int { parent = integer; byte_order = be; signed = true; }\n"
                     "abstract_type be_int16 { size = 16; parent = be_int; }\n"
                     "type port { parent = be_int16; signed = false; base = 10; }\n"
                     "type wide_port { parent = port; size = 32; align = 4; }\n"
                     "type color { parent = enum; size = 8; map = { { 0, red }, { 1, green } }; }\n"
                     "type color16 { parent = color; size = 16; }\n"
                     "type pair { parent = struct; fields = { { port, a }, { port, b } }; }\n"
                     "type four { parent = array; length = 4; elem_type = uint8_t; }\n"
                     "type five { parent = four; length = 5; }\n"
                     "type aligned_pair { parent = pair; align = 64; }\n"
                     "type text { parent = string; encoding = ASCII; }\n" EVENT(
                         "{ port, a }, { wide_port, b }, { color16, c }, { aligned_pair, d }, { "
                         "five, e }, { text, f }, { string, g }"));
    assert_payload(&scene, 0,
                   "{u16bebase10@8 a, u32bebase10@4 b, u16(0=red 1=green)@8 c, {u16bebase10@8 a, "
                   "u16bebase10@8 b}@64 d, "
                   "[5 u8@8]@8 e, ascii@8 f, utf8@8 g}@64");
    end(&scene);
}

static void integers_of_every_width_are_built_in(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, "trace { major = 1; minor = 1; alignment = natural; }" SECTION EVENT(
                           "{ uint1_t, a }, { int63_t, b }, { uint8_t, c }, { int16_t, d }, { "
                           "uint24_t, e }, { uint, f }, { int64_t, g }"));
    assert_payload(&scene, 0,
                   "{u1@1 a, s63@1 b, u8@8 c, s16@16 d, u24@8 e, u32@32 f, s64@64 g}@64");
    assert_int_equal(scene.description.alignment, CTF_ALIGN_NATURAL_64);
    end(&scene);
    parse(&scene, BEGIN EVENT("{ uint65_t, a }"));
    assert_int_equal(scene.status, TTR_E_MALFORMED);
    end(&scene);
}

static void missing_alignment_follows_architecture(void **state)
{
    (void)state;
    static const char *const expected[] = {
        [CTF_ALIGN_UNKNOWN] = "{u8@8 a, u64@8 b, u64@64 c, <u8@8 u32@8>@8 d, {u3/32@1 x, u5@1 "
                              "y}@32 e, utf8@8 f, [0 u16@8]@8 g}@64",
        [CTF_ALIGN_PACKED] = "{u8@8 a, u64@8 b, u64@64 c, <u8@8 u32@8>@8 d, {u3/32@1 x, u5@1 y}@32 "
                             "e, utf8@8 f, [0 u16@8]@8 g}@64",
        [CTF_ALIGN_NATURAL_64] = "{u8@8 a, u64@64 b, u64@64 c, <u8@8 u32@32>@32 d, {u3/32@1 x, "
                                 "u5@1 y}@32 e, utf8@8 f, [0 u16@16]@16 g}@64",
        [CTF_ALIGN_NATURAL_32] = "{u8@8 a, u64@32 b, u64@64 c, <u8@8 u32@32>@32 d, {u3/32@1 x, "
                                 "u5@1 y}@32 e, utf8@8 f, [0 u16@16]@16 g}@64",
    };
    struct scene scene;
    parse_well(
        &scene,
        "trace { major = 1; minor = 1; }" SECTION EVENT(
            "{ uint8_t, a }, { uint64_t, b }, { type { parent = uint64_t; align = 64; }, c },"
            "{ type { parent = sequence; length_type = uint8_t; elem_type = uint32_t; }, d },"
            "{ type { parent = struct; fields = { { type { parent = gcc_bitfield; unit_size = 32; "
            "size = 3; }, x }, { uint5_t, y } }; }, e },"
            "{ string, f }, { type { parent = array; length = 0; elem_type = uint16_t; }, g }"));
    assert_int_equal(scene.description.alignment, CTF_ALIGN_UNKNOWN);
    assert_payload(&scene, 0, expected[CTF_ALIGN_UNKNOWN]);
    for (int i = CTF_ALIGN_NATURAL_32; i >= CTF_ALIGN_PACKED; i--) {
        rfc11_set_alignment(&scene.description, (enum ctf_alignment)i);
        assert_payload(&scene, 0, expected[i]);
    }
    end(&scene);
}

static void enumeration_labels_have_their_values(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(
        &scene,
        BEGIN EVENT(
            "{ type { parent = enum; size = 8; signed = true; map = { { -128, low }, { 0x7f, high "
            "}, { 017, octal }, { -1, \"-\\x31\" } }; }, a },"
            "{ type { parent = enum; size = 64; map = { { 18446744073709551615, all } }; }, b },"
            "{ type { parent = uint3_t; map = { { 7, seven }, { 7, again } }; }, c },"
            "{ type { parent = enum; size = 1; map = { }; }, d }"));
    assert_payload(&scene, 0,
                   "{s8(-128=low 127=high 15=octal -1=-1)@8 a, u64(-1=all)@8 b, u3(7=seven "
                   "7=again)@1 c, u1@1 d}@8");
    const struct type *a = scene.description.streams[0]->events[0]->payload->members[0].type;
    assert_true(a->labels->is_signed);
    assert_int_equal(a->hint, TTR_DISPLAY_ENUM);
    end(&scene);
}

static void repeated_label_has_several_values(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene,
               BEGIN EVENT("{ type { parent = enum; size = 8; signed = true; map = { { -1, a }, { "
                           "0, b }, { 0, a }, { 1, a }, { 1, a }, { 3, a }, { 5, a }, { 7, a }, "
                           "{ 4, a } }; }, a }"));
    const struct type_labels *labels =
        scene.description.streams[0]->events[0]->payload->members[0].type->labels;
    assert_int_equal(labels->n, 2);
    support_assert_text(labels->label[0].name.p, labels->label[0].name.n, "a");
    static const int64_t ranges[][2] = {{-1, -1}, {0, 1}, {3, 3}, {5, 5}, {7, 7}, {4, 4}};
    assert_int_equal(labels->label[0].ranges_n, sizeof ranges / sizeof *ranges);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        assert_true((int64_t)labels->label[0].ranges[i].low == ranges[i][0] &&
                    (int64_t)labels->label[0].ranges[i].high == ranges[i][1]);
    assert_null(type_find_label(labels, 1, 1));
    end(&scene);
}

/* The trace block's alignment also applies to types before it. */
static void trace_block_aligns_earlier_types(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(
        &scene,
        "type word { parent = integer; size = 32; }" SECTION EVENT(
            "{ uint8_t, a }, { word, b }") "trace { major = 1; minor = 1; alignment = natural; }"
                                           "event { name = f; id = 1; fields = { { uint8_t, a }, { "
                                           "uint64_t, b } }; }");
    assert_payload(&scene, 0, "{u8@8 a, u32@32 b}@32");
    assert_payload(&scene, 1, "{u8@8 a, u64@64 b}@64");
    assert_int_equal(scene.description.streams[0]->event_header->align, 5);
    end(&scene);
}

static void metadata_without_trace_block_parse_with_note(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, SECTION "env { a = 1; a = 2; } what { a = 1; a = 1; }");
    assert_non_null(strstr(scene.notes, " ctf.version 0\n"));
    end(&scene);
}

static void clock_and_environment_extensions_parse(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, "trace { major = 1; minor = 1; }" SECTION);
    const struct ctf_clock *clock = scene.description.streams[0]->clock;
    assert_true(clock->frequency == 1000000000 && clock->offset_s == 0 && !clock->is_unix);
    end(&scene);
    parse_well(&scene, "trace { major = 1; minor = 1; alignment = natural; word_size = 32; "
                       "clock_freq = 24000000; clock_offset_s = 1700000000; "
                       "clock_offset = -5; }" SECTION);
    clock = scene.description.streams[0]->clock;
    assert_true(clock->frequency == 24000000 && clock->offset_s == 1700000000 &&
                clock->offset_cycles == -5 && clock->is_unix);
    assert_int_equal(scene.description.alignment, CTF_ALIGN_NATURAL_32);
    end(&scene);
    parse_well(
        &scene,
        "trace { major = 1; minor = 1; clock_absolute = false; clock_offset_s = -5; }" SECTION);
    clock = scene.description.streams[0]->clock;
    assert_true(clock->offset_s == -5 && !clock->is_unix);
    end(&scene);
    parse_well(
        &scene,
        "trace { major = 1; minor = 1; clock_offset_s = 5; clock_absolute = true; }" SECTION);
    assert_true(scene.description.streams[0]->clock->is_unix);
    end(&scene);
}

static void version_1_0_parses_with_note(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, "trace { major = 1; minor = 0; }");
    assert_string_equal(scene.notes, "1 ctf.version 27\n");
    end(&scene);
    parse(&scene, "trace { major = 1; minor = 8; }");
    assert_int_equal(scene.status, TTR_E_UNSUPPORTED);
    end(&scene);
}

static void event_context_accepts_size_or_structure(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(
        &scene,
        TRACE "section { name = a; event { header_type = type2; context { event_size = true; } } };"
              "section { name = b; event { header_type = type1; context { event_size = false; "
              "context_type = { { uint8_t, x } }; } } };"
              "section { name = c; event { header_type = type1; context { } } }");
    put_type(&scene, scene.description.streams[0]->event_context);
    put_type(&scene, scene.description.streams[1]->event_context);
    support_assert_text(scene.text, scene.n, "{u16@8 payload_size}@8{u8@8 x}@8");
    assert_true(scene.description.streams[0]->rfc_has_event_size);
    assert_false(scene.description.streams[1]->rfc_has_event_size);
    assert_null(scene.description.streams[2]->event_context);
    rfc11_set_alignment(&scene.description, CTF_ALIGN_NATURAL_64);
    scene.n = 0;
    put_type(&scene, scene.description.streams[0]->event_context);
    support_assert_text(scene.text, scene.n, "{u16@16 payload_size}@16");
    end(&scene);
}

static void single_section_and_event_need_no_name(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, BEGIN "event { name = \"a b\"; }");
    const struct ctf_event_class *event = ctf_find_event(scene.description.streams[0], 0);
    support_assert_text(event->name.p, event->name.n, "a b");
    assert_null(event->payload);
    end(&scene);
    parse_well(&scene, BEGIN "event { fields = { }; }");
    assert_string_equal(scene.notes, "1 ctf.unnamed-event 111\n");
    assert_payload(&scene, 0, "{}@1");
    end(&scene);
}

static void unknown_attributes_are_skipped_with_note(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(
        &scene,
        "trace { major = 1; minor = 1; uuid = \"x\"; } clock { name = c; map { a = { 1; } } }\n"
        "section { name = s; stream = 3; event { header_type = type1; color = type { size = 3; }; "
        "context { x = 1; } } }\n"
        "event { name = e; level { } fields = type { parent = struct; fields = { { type { size = "
        "8; parent = integer; "
        "colour = [ { 1, 2 } ]; .note = { a }; }, x } }; } };");
    assert_payload(&scene, 0, "{u8@8 x}@8");
    const char *at = scene.notes;
    unsigned n = 0;
    for (; (at = strstr(at, "1 ctf.unknown-attribute")) != NULL; at++)
        n++;
    assert_int_equal(n, 8);
    end(&scene);
}

static void later_metadata_extends_description(void **state)
{
    (void)state;
    struct scene scene;
    parse_well(&scene, BEGIN "type t { parent = uint8_t; }" EVENT("{ t, a }"));
    const struct ctf_event_class *first = scene.description.streams[0]->events[0];
    parse_more(&scene,
               "event { name = f; id = 1; section = s; fields = { { t, b }, { uint32_t, c } }; }");
    assert_int_equal(scene.status, TTR_OK);
    assert_ptr_equal(scene.description.streams[0]->events[0], first);
    assert_payload(&scene, 1, "{u8@8 b, u32@8 c}@8");
    parse_more(&scene, "type t { parent = uint16_t; }");
    assert_int_equal(scene.status, TTR_E_MALFORMED);
    end(&scene);
}

static void file_matches_section_with_longest_name(void **state)
{
    (void)state;
    static const struct {
        const char *file, *section;
        int cpu;
    } cases[] = {
        {"net", "net", -1},           {"net_0", "net", 0},       {"net-12", "net", 12},
        {"net_rx", "net_rx", -1},     {"net_rx_3", "net_rx", 3}, {"net_3", "net_3", -1},
        {"net_3_1", "net_3", 1},      {"network", NULL, -1},     {"net_", NULL, -1},
        {"net_x", NULL, -1},          {"ne", NULL, -1},          {"net_4294967295", "net", -1},
        {"net_4294967296", NULL, -1}, {"net_0x1", NULL, -1},     {"", NULL, -1},
    };
    struct scene scene;
    parse_well(&scene, TRACE "section { name = net; event { header_type = type1; } } section { "
                             "name = net_rx; event { header_type = type1; } }"
                             "section { name = net_3; event { header_type = type1; } }");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool has_cpu;
        uint32_t cpu;
        const struct ctf_stream_class *section =
            rfc11_find_section_of_file(&scene.description, cases[i].file, &has_cpu, &cpu);
        if (!cases[i].section) {
            assert_null(section);
            continue;
        }
        support_assert_text(section->name.p, section->name.n, cases[i].section);
        assert_int_equal(has_cpu, cases[i].cpu >= 0 || cpu == UINT32_MAX);
        if (cases[i].cpu >= 0)
            assert_int_equal(cpu, cases[i].cpu);
    }
    end(&scene);
}

static void plain_text_is_detected(void **state)
{
    (void)state;
    static const char *const yes[] = {"trace { major", " \n/* x */ // y\n trace{",
                                      "section {",     "type x {",
                                      "event/**/{",    "/* */abstract_type x"};
    static const char *const no[] = {"/* CTF 1.8 */ trace {",
                                     "trac",
                                     "trace",
                                     "typealias integer",
                                     "tracer {",
                                     "{",
                                     "",
                                     "/* trace {",
                                     "/trace {",
                                     "// trace {",
                                     "\x1e{"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!rfc11_is_text((const uint8_t *)yes[i], strlen(yes[i])))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (rfc11_is_text((const uint8_t *)no[i], strlen(no[i])))
            fail_msg("%s", no[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfc_samples_parse_to_described_types),
        cmocka_unit_test(rfc_samples_with_slips_are_accepted),
        cmocka_unit_test(packet_headers_are_described),
        cmocka_unit_test(event_headers_are_described_in_every_alignment),
        cmocka_unit_test(native_byte_order_follows_packets),
        cmocka_unit_test(child_attributes_override_parent),
        cmocka_unit_test(integers_of_every_width_are_built_in),
        cmocka_unit_test(missing_alignment_follows_architecture),
        cmocka_unit_test(enumeration_labels_have_their_values),
        cmocka_unit_test(repeated_label_has_several_values),
        cmocka_unit_test(trace_block_aligns_earlier_types),
        cmocka_unit_test(metadata_without_trace_block_parse_with_note),
        cmocka_unit_test(clock_and_environment_extensions_parse),
        cmocka_unit_test(version_1_0_parses_with_note),
        cmocka_unit_test(event_context_accepts_size_or_structure),
        cmocka_unit_test(single_section_and_event_need_no_name),
        cmocka_unit_test(unknown_attributes_are_skipped_with_note),
        cmocka_unit_test(later_metadata_extends_description),
        cmocka_unit_test(file_matches_section_with_longest_name),
        cmocka_unit_test(plain_text_is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
