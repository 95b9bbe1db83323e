/* Parser of TSDL: texts from the CTF 1.8.3 specification with their descriptions, and the position
 * of errors. */
#include <stdio.h>

#include "formats/ctf/description/ctf_description.h"
#include "support/support.h"

#define TRACE "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n"
#define U8 "typealias integer { size = 8; } := u8;\n"

struct parsed {
    struct ctf_description description;
    ttr_error error;
    ttr_status status;
    unsigned notes_n, remarks_n;
    char note[300]; /* last diagnostic */
};

static void keep_note(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                      const char *text)
{
    struct parsed *parsed = ctx;
    assert_true(severity != TTR_SEVERITY_DAMAGE || strcmp(code, "ctf.duplicate-event") == 0 ||
                strcmp(code, "ctf.cut-metadata") == 0);
    assert_true(strncmp(code, "ctf.", 4) == 0 && offset < UINT64_MAX);
    *(severity >= TTR_SEVERITY_ODD ? &parsed->notes_n : &parsed->remarks_n) += 1;
    (void)snprintf(parsed->note, sizeof parsed->note, "%s", text);
}

/* Parses additional text; parsed->status has the result. */
static void parse_more(struct parsed *parsed, const char *source)
{
    struct ctf_text text = {.p = source, .n = strlen(source), .file = "metadata"};
    parsed->status = tsdl_parse(&parsed->description, &text, &parsed->error);
}

static void parse_any(struct parsed *parsed, const char *source)
{
    *parsed = (struct parsed){0};
    ctf_description_init(&parsed->description, alloc_default());
    parsed->description.note = keep_note;
    parsed->description.note_ctx = parsed;
    parse_more(parsed, source);
}

static void parse(struct parsed *parsed, const char *source)
{
    parse_any(parsed, source);
    if (parsed->status != TTR_OK)
        print_message("# %s\n", parsed->error.text);
    assert_int_equal(parsed->status, TTR_OK);
}

static void done(struct parsed *parsed)
{
    ctf_description_free(&parsed->description);
}

/* Expects an error with a message that contains `message`. */
static void refuse(const char *source, const char *message)
{
    struct parsed parsed;
    parse_any(&parsed, source);
    if (parsed.status != TTR_E_MALFORMED || !strstr(parsed.error.text, message))
        fail_msg("expected \"%s\", got %d: %s", message, (int)parsed.status,
                 parsed.status ? parsed.error.text : "");
    done(&parsed);
}

static ttr_text text_of(const char *p)
{
    return (ttr_text){p, strlen(p)};
}

/* Returns the type at path "a.b.c" in a structure. */
static const struct type *at(const struct type *type, const char *path)
{
    while (*path) {
        size_t n = strcspn(path, ".");
        assert_non_null(type);
        const struct type_member *member = type_find_member(type, (ttr_text){path, n});
        if (!member)
            fail_msg("no member %s", path);
        type = member->type;
        path += path[n] ? n + 1 : n;
    }
    return type;
}

static const struct type *payload(const struct parsed *parsed)
{
    return parsed->description.streams[0]->events[0]->payload;
}

static void assert_reference(const struct type *type, enum type_root root, const char *path)
{
    char found[200] = "";
    for (uint32_t i = 0; i < type->reference.names_n; i++)
        (void)snprintf(found + strlen(found), sizeof found - strlen(found), "%s%.*s", i ? "." : "",
                       (int)type->reference.names[i].n, type->reference.names[i].p);
    assert_string_equal(found, path);
    assert_int_equal(type->reference.root, root);
}

static void integers_have_specified_defaults(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE "event { fields := struct {\n"
                         "integer { size = 32; } a; integer { size = 5; } b; integer { size = 32; "
                         "align = 32; signed = true;"
                         " byte_order = network; base = hexadecimal; } c; integer { size = 12; "
                         "byte_order = native; base = o; } d; }; };");
    const struct type *a = at(payload(&parsed), "a"), *b = at(payload(&parsed), "b"),
                      *c = at(payload(&parsed), "c");
    assert_true(a->kind == TYPE_UINT && a->bits == 32 && a->align == 3 && !a->is_big_endian &&
                a->base == 0);
    assert_true(b->bits == 5 && b->align == 0);
    assert_true(c->kind == TYPE_INT && c->align == 5 && c->is_big_endian && c->base == 16);
    assert_true(at(payload(&parsed), "d")->base == 8);
    assert_int_equal(payload(&parsed)->align, 5);
    done(&parsed);
}

static void floats_and_strings_parse(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE
          "typealias floating_point { exp_dig = 8; mant_dig = 24; byte_order = be; align = 32; } "
          ":= float;\n"
          "event { fields := struct { float f; floating_point { exp_dig = 11; mant_dig = 53; } d;\n"
          "string s; string { encoding = ASCII; } t; }; };");
    const struct type *f = at(payload(&parsed), "f"), *d = at(payload(&parsed), "d"),
                      *s = at(payload(&parsed), "s");
    assert_true(f->kind == TYPE_FLOAT && f->bits == 32 && f->align == 5 && f->is_big_endian);
    assert_true(d->kind == TYPE_FLOAT && d->bits == 64 && d->align == 3);
    assert_true(s->kind == TYPE_STRING && s->encoding == ENCODING_UTF8 && s->align == 3 &&
                s->bits == 8);
    assert_int_equal(at(payload(&parsed), "t")->encoding, ENCODING_ASCII);
    done(&parsed);
}

static void type_names_may_have_several_words_and_stars(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE
          "typealias integer { size = 64; } := unsigned long; typealias integer { size = 16; } := "
          "struct page *;\n"
          "typealias integer { size = 7; } := void * *; typealias integer { size = 9; } := int;\n"
          "event { fields := struct { unsigned   long a; struct page *b, *b2; void **c; const int "
          "d; }; };");
    assert_int_equal(at(payload(&parsed), "a")->bits, 64);
    assert_int_equal(at(payload(&parsed), "b")->bits, 16);
    assert_int_equal(at(payload(&parsed), "b2")->bits, 16);
    assert_int_equal(at(payload(&parsed), "c")->bits, 7);
    assert_int_equal(at(payload(&parsed), "d")->bits, 9);
    done(&parsed);
}

/* babeltrace shows them in base 16; the original type keeps its base. */
static void integers_named_as_pointers_are_of_base_16(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE "typealias integer { size = 16; base = 8; } := u16; typealias u16 := void "
                         "*; typealias string := text *;\n"
                         "event { fields := struct { void *a; u16 b; integer { size = 16; base = "
                         "8; } c; text *d; void *e[2]; }; };");
    assert_int_equal(at(payload(&parsed), "a")->base, 16);
    assert_int_equal(at(payload(&parsed), "b")->base, 8);
    assert_int_equal(at(payload(&parsed), "c")->base, 8);
    assert_int_equal(at(payload(&parsed), "d")->kind, TYPE_STRING);
    assert_int_equal(at(payload(&parsed), "e")->element->base, 16);
    done(&parsed);
}

/* 4.1.8 */
static void enumeration_labels_continue_from_previous_value(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t low, high;
    } wanted[] = {{"ZERO", 0, 0},  {"ONE", 1, 1},      {"TWO", 2, 2},
                  {"TEN", 10, 10}, {"ELEVEN", 11, 11}, {"other string", 20, 30},
                  {"yet", 31, 31}};
    struct parsed parsed;
    parse(&parsed, TRACE U8 "event { fields := struct { enum name : u8 { ZERO, ONE, TWO, TEN = 10, "
                            "ELEVEN, \"other string\" = 20 ... 30, yet,"
                            " } e; }; };");
    const struct type_labels *labels = at(payload(&parsed), "e")->labels;
    assert_int_equal(labels->n, 7);
    for (size_t i = 0; i < 7; i++) {
        support_assert_text(labels->label[i].name.p, labels->label[i].name.n, wanted[i].name);
        assert_int_equal(labels->label[i].ranges_n, 1);
        assert_true(labels->label[i].ranges[0].low == wanted[i].low &&
                    labels->label[i].ranges[0].high == wanted[i].high);
    }
    done(&parsed);
}

static void signed_labels_may_be_negative_and_repeated(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE "event { fields := struct { enum : integer { size = 8; signed = true; } { "
                         "A = -128, B, A = 5, C = -2 ... 3 } e; }; };");
    const struct type_labels *labels = at(payload(&parsed), "e")->labels;
    assert_true(labels->is_signed && labels->n == 3);
    assert_int_equal(labels->label[0].ranges_n, 2);
    assert_int_equal(labels->label[0].ranges[0].low, (uint64_t)-128);
    assert_int_equal(labels->label[0].ranges[1].low, 5);
    assert_int_equal(labels->label[1].ranges[0].high, (uint64_t)-127);
    assert_int_equal(labels->label[2].ranges[0].low, (uint64_t)-2);
    done(&parsed);
}

/* 4.2.2: in the example, the typedef keeps the tag of the outer structure. */
static void variant_tag_resolves_at_declaration(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed,
          TRACE U8 "typealias integer { size = 8; } := int;\nevent { fields := struct {\n"
                   "  enum : integer { size = 2; } { a, b, c, d } x;\n"
                   "  typedef variant <x> { u8 a; integer { size = 64; } b; integer { size = 16; } "
                   "c; } example_variant;\n"
                   "  struct { enum : int { x, y, z } x; example_variant v; } a[10];\n}; };");
    const struct type *array = at(payload(&parsed), "a");
    assert_true(array->kind == TYPE_ARRAY && array->count == 10);
    const struct type *v = at(array->element, "v");
    assert_reference(v, ROOT_PAYLOAD, "x");
    assert_int_equal(v->kind, TYPE_VARIANT);
    assert_int_equal(v->members_n, 3);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(v->members[i].ranges_n, 1);
        assert_true(v->members[i].ranges[0].low == i && v->members[i].ranges[0].high == i);
    }
    done(&parsed);
}

/* 4.2.4 */
static void lengths_resolve_by_relative_and_absolute_paths(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE U8 "struct inner { u8 n; u8 data[n]; };\n"
                            "stream { id = 1; event.header := struct { u8 seq_len; }; "
                            "packet.context := struct { struct { u8 k; } deep; }; };\n"
                            "event { stream_id = 1; fields := struct { u8 "
                            "a[stream.event.header.seq_len]; u8 b[stream.packet.context.deep.k];\n"
                            "  struct inner i; struct inner j; struct { u8 m; } s; u8 c[s.m][2]; "
                            "u8 d[event.fields.i.n]; }; };");
    assert_reference(at(payload(&parsed), "a"), ROOT_EVENT_HEADER, "seq_len");
    assert_reference(at(payload(&parsed), "b"), ROOT_PACKET_CONTEXT, "deep.k");
    assert_reference(at(payload(&parsed), "i.data"), ROOT_PAYLOAD, "i.n");
    assert_reference(at(payload(&parsed), "j.data"), ROOT_PAYLOAD, "j.n");
    assert_reference(at(payload(&parsed), "c"), ROOT_PAYLOAD, "s.m");
    assert_reference(at(payload(&parsed), "d"), ROOT_PAYLOAD, "i.n");
    const struct type *c = at(payload(&parsed), "c");
    assert_true(c->kind == TYPE_SEQUENCE && c->element->kind == TYPE_ARRAY &&
                c->element->count == 2);
    done(&parsed);
}

static void character_arrays_are_text(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE U8 "typealias integer { size = 8; encoding = UTF8; } := char;\n"
                            "event { fields := struct { char a[16]; u8 n; char b[n]; char c[2][3]; "
                            "integer { size = 8; align = 16; encoding = "
                            "UTF8; } d[4]; }; };");
    const struct type *a = at(payload(&parsed), "a"), *b = at(payload(&parsed), "b"),
                      *c = at(payload(&parsed), "c");
    assert_true(a->kind == TYPE_TEXT && a->count == 16 && a->align == 3);
    assert_int_equal(b->kind, TYPE_TEXT);
    assert_reference(b, ROOT_PAYLOAD, "n");
    assert_true(c->kind == TYPE_ARRAY && c->count == 2 && c->element->kind == TYPE_TEXT &&
                c->element->count == 3);
    assert_int_equal(at(payload(&parsed), "d")->kind, TYPE_ARRAY);
    done(&parsed);
}

static void fields_of_headers_have_roles_and_clocks(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed,
          "/* CTF 1.8 */ " U8
          "typealias integer { size = 32; } := u32; typealias integer { size = 64; } := u64;\n"
          "trace { major = 1; minor = 8; byte_order = be; uuid = "
          "\"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\n"
          "  packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 "
          "stream_instance_id; }; };\n"
          "clock { name = cycles; freq = 1000; offset_s = -3; offset = 7; };\n"
          "stream { packet.context := struct { u64 timestamp_begin; u64 timestamp_end; u64 "
          "content_size; u64 packet_size;\n"
          "    u64 packet_seq_num; u64 events_discarded; u32 cpu_id; u8 mine; };\n"
          "  event.header := struct { enum : integer { size = 5; } { compact = 0 ... 30, extended "
          "= 31 } id;\n"
          "    variant <id> { struct { integer { size = 27; map = clock.cycles.value; } timestamp; "
          "} compact;\n"
          "      struct { u32 id; u64 timestamp; } extended; } v; } align(8); };\nevent { id = 5; "
          "};");
    const struct ctf_description *d = &parsed.description;
    const struct ctf_stream_class *stream = d->streams[0];
    static const struct {
        const char *path;
        enum ctf_role role;
    } header[] = {{"magic", CTF_ROLE_MAGIC},
                  {"uuid", CTF_ROLE_UUID},
                  {"stream_id", CTF_ROLE_STREAM_CLASS_ID},
                  {"stream_instance_id", CTF_ROLE_STREAM_ID}},
      context[] = {{"timestamp_begin", CTF_ROLE_TIME_BEGIN},
                   {"timestamp_end", CTF_ROLE_TIME_END},
                   {"content_size", CTF_ROLE_CONTENT_SIZE},
                   {"packet_size", CTF_ROLE_PACKET_SIZE},
                   {"packet_seq_num", CTF_ROLE_SEQUENCE},
                   {"events_discarded", CTF_ROLE_DISCARDED},
                   {"cpu_id", CTF_ROLE_CPU},
                   {"mine", CTF_ROLE_NONE}},
      event[] = {{"id", CTF_ROLE_EVENT_ID},
                 {"v.compact.timestamp", CTF_ROLE_TIME},
                 {"v.extended.id", CTF_ROLE_EVENT_ID},
                 {"v.extended.timestamp", CTF_ROLE_TIME}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(at(d->packet_header, header[i].path)->role, header[i].role);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(at(stream->packet_context, context[i].path)->role, context[i].role);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(at(stream->event_header, event[i].path)->role, event[i].role);
    assert_ptr_equal(at(stream->event_header, "v.extended.timestamp")->clock, d->clocks[0]);
    assert_ptr_equal(at(stream->packet_context, "timestamp_end")->clock, d->clocks[0]);
    assert_ptr_equal(stream->clock, d->clocks[0]);
    assert_true(d->clocks[0]->offset_s == -3 && d->clocks[0]->offset_cycles == 7 &&
                d->clocks[0]->frequency == 1000);
    assert_true(d->is_big_endian && d->has_uuid && d->uuid[0] == 0x2a && d->uuid[15] == 0x64);
    done(&parsed);
}

#define CLOCK                                                                                     \
    "clock { name = c; description = \"d\"; freq = 10; precision = 3; offset_s = 1; offset = 2; " \
    "absolute = true; };\n"

/* babeltrace2 2.0 repeats the clock before each stream. */
static void repeated_clock_block_is_accepted(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed,
          "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size "
          "= 8; } stream_id; }; };" CLOCK "stream { id = 0; event.header := struct { integer { "
          "size = 8; map = clock.c.value; } a; }; };\n" CLOCK
          "stream { id = 1; event.header := struct { integer { size = 8; } timestamp; }; };\n");
    assert_int_equal(parsed.description.clocks_n, 1);
    assert_ptr_equal(parsed.description.streams[0]->clock, parsed.description.clocks[0]);
    assert_ptr_equal(parsed.description.streams[1]->clock, parsed.description.clocks[0]);
    assert_int_equal(parsed.notes_n + parsed.remarks_n, 0);
    done(&parsed);
    refuse(TRACE CLOCK "clock { name = c; description = \"d\"; freq = 10; precision = 3; offset_s "
                       "= 1; offset = 3; absolute = true; };",
           "a second clock 'c', which is not as the first");
    refuse(TRACE CLOCK "clock { name = c; };", "a second clock 'c', which is not as the first");
}

static void timestamps_without_clock_block_are_nanoseconds(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE
          "stream { event.header := struct { integer { size = 64; } timestamp; }; };\nevent { };");
    assert_int_equal(parsed.description.clocks_n, 1);
    assert_int_equal(parsed.description.clocks[0]->frequency, 1000000000);
    assert_false(parsed.description.clocks[0]->is_unix);
    assert_ptr_equal(parsed.description.streams[0]->clock, parsed.description.clocks[0]);
    done(&parsed);
}

static void shown_names_drop_one_underscore_unless_clashing(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE U8
          "event { fields := struct { u8 _a; u8 __b; u8 c; u8 _c; u8 __c; u8 _; u8 d; }; };");
    static const char *const shown[] = {"a", "_b", "c", "_c", "__c", "", "d"};
    for (uint32_t i = 0; i < 7; i++)
        support_assert_text(payload(&parsed)->members[i].shown.p,
                            payload(&parsed)->members[i].shown.n, shown[i]);
    done(&parsed);
}

static void options_match_labels_despite_leading_underscore(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed,
          TRACE U8 "event { fields := struct { enum : u8 { a, _b, c, __d, e, _e } tag;\n"
                   "variant <tag> { u8 _a; u8 b; u8 c; u8 __d; u8 e; u8 _e; u8 never; } v; }; };");
    const struct type *v = at(payload(&parsed), "v");
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal(v->members[i].ranges_n, 1);
        assert_int_equal(v->members[i].ranges[0].low, i);
    }
    assert_int_equal(v->members[6].ranges_n, 0);
    done(&parsed);
}

static void declarations_in_several_texts_parse(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE U8
          "stream { event.header := struct { u8 id; }; }; event { id = 1; name = \"one\"; };");
    parse_more(&parsed, "event { id = 2; name = two; fields := struct { u8 x; }; };");
    assert_int_equal(parsed.status, TTR_OK);
    assert_int_equal(parsed.description.streams[0]->events_n, 2);
    const struct ctf_event_class *two = ctf_find_event(parsed.description.streams[0], 2);
    support_assert_text(two->name.p, two->name.n, "two");
    parse_more(&parsed, "event { id = 2; };");
    assert_int_equal(parsed.status, TTR_OK);
    assert_int_equal(parsed.description.streams[0]->events_n, 2);
    done(&parsed);
}

static void unknown_attributes_are_noted_with_their_line(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE "stream {\n  zz = 1;\n};\nevent { name = \"x\"; fields = struct { integer "
                         "{ size = 8; aa = bb; } f; }; };");
    assert_int_equal(parsed.notes_n, 2);
    assert_string_equal(parsed.note, "metadata:5: the attribute 'aa' is not known and passed over");
    done(&parsed);
}

static void repeated_event_id_keeps_first_and_reports_damage(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE "event { name = \"one\"; id = 0; fields := struct { integer { size = 8; } "
                         "f; }; };\nevent { name = \"two\"; id = 0; };");
    assert_int_equal(parsed.notes_n, 1);
    assert_string_equal(parsed.note, "metadata:3: a second event with id 0 in stream 0, 'two': "
                                     "what has this id is read as the first, 'one'");
    assert_int_equal(parsed.description.streams[0]->events_n, 1);
    assert_int_equal(ctf_find_event(parsed.description.streams[0], 0)->payload->members_n, 1);
    done(&parsed);
}

/* LTTng does not escape these characters. */
static void unescaped_lttng_quotes_and_backslashes_stay_in_value(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE
          "env {\n\thostname = \"h\\\";\n\tprocname = \"a\"p\\p \";\n\tother = \"a\\\"b\";\n};\n"
          "stream { };\nevent {\n\tname = \"e\";\n\tmodel.emf.uri = \"x\"y\\z\";\n};");
    const struct ctf_description *d = &parsed.description;
    support_assert_text(ctf_find_environment(d, "hostname")->text.p,
                        ctf_find_environment(d, "hostname")->text.n, "h\\");
    support_assert_text(ctf_find_environment(d, "procname")->text.p,
                        ctf_find_environment(d, "procname")->text.n, "a\"p\\p ");
    support_assert_text(ctf_find_environment(d, "other")->text.p,
                        ctf_find_environment(d, "other")->text.n, "a\"b");
    assert_int_equal(parsed.notes_n, 3);
    assert_true(d->has_unescaped);
    done(&parsed);
    parse(&parsed,
          TRACE "env {\n\tprocname = \"a\\\"b\"; other = \"\";\n\thostname = \"c\" ;\n};\n");
    assert_int_equal(parsed.notes_n, 0); /* valid without the LTTng exception */
    done(&parsed);
    parse_any(&parsed, TRACE "env {\n\tdomain = \"a\"b\";\n};\n");
    assert_int_equal(parsed.status, TTR_E_MALFORMED); /* LTTng escapes this value */
    done(&parsed);
}

/* 7.3.1 */
static void inner_scope_hides_outer_type(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE U8 "event { typealias integer { size = 16; } := u8; fields := struct { u8 "
                            "a; struct { typedef integer { size = 3; } u8;"
                            " u8 b; } s; u8 c; }; };");
    assert_int_equal(at(payload(&parsed), "a")->bits, 16);
    assert_int_equal(at(payload(&parsed), "s.b")->bits, 3);
    assert_int_equal(at(payload(&parsed), "c")->bits, 16);
    done(&parsed);
    refuse(TRACE U8 "typedef integer { size = 3; } u8;",
           "metadata:3:1: the type 'u8' is declared twice in one scope");
}

static void errors_show_position_with_caret(void **state)
{
    (void)state;
    struct parsed parsed;
    parse_any(&parsed, TRACE "typealias integer { size = 8; ] := u8;\n");
    assert_int_equal(parsed.status, TTR_E_MALFORMED);
    assert_string_equal(parsed.error.text, "metadata:2:31: expected a name or '}', found ']'\n"
                                           "  typealias integer { size = 8; ] := u8;\n"
                                           "                                ^");
    assert_int_equal(parsed.error.line, 2);
    assert_int_equal(parsed.error.offset, strlen(TRACE) + 30);
    done(&parsed);
}

static void forbidden_types_are_refused(void **state)
{
    (void)state;
    refuse("typealias integer { size = 8; } := u8;", "no trace block");
    refuse("/* CTF 1.9 */ trace { major = 1; minor = 8; byte_order = le; };",
           "not metadata of CTF 1.8");
    refuse("trace { major = 1; minor = 8; };", "byte_order = le");
    refuse("trace { major = 1; minor = 8; byte_order = le; uuid = "
           "\"2a6422d0-6cee-11e0-8c08-cb07d7b3a56x\"; };",
           "'uuid' requires a UUID");
    refuse("trace { major = 2; minor = 8; byte_order = le; };",
           "declares major = 2, but only CTF 1.8");
    refuse(TRACE "event { fields := struct { integer { align = 8; } f; }; };",
           "an integer needs a size");
    refuse(TRACE "event { fields := struct { integer { size = 0; } f; }; };",
           "an integer has 1 to");
    refuse(TRACE "event { fields := struct { integer { size = 8; size = 8; } f; }; };",
           "'size' is given twice");
    refuse(TRACE "event { fields := struct { integer { size = 8; align = 17; } f; }; };",
           "a power of two");
    refuse(TRACE "event { fields := struct { integer { size = 8; map = clock.c.value; } f; }; };",
           "no clock called 'c'");
    refuse(TRACE U8 "event { fields := struct { u8 f; u8 f; }; };", "a second field called 'f'");
    refuse(TRACE U8 "event { fields := struct { u8 trace; }; };", "found the keyword 'trace'");
    refuse(TRACE U8 "event { fields := struct { u8 a[b]; }; };",
           "the length 'b' is not an earlier field");
    refuse(TRACE U8 "event { fields := struct { u8 a[b]; u8 b; }; };",
           "the length 'b' is not an earlier field");
    refuse(TRACE U8 "event { fields := struct { u8 a[event.fields.b]; u8 b; }; };",
           "is not an earlier field");
    refuse(TRACE U8 "event { fields := struct { enum : u8 { a } t; variant <t> { struct { u8 n; } "
                    "a; } v; u8 s[v.a.n]; }; };",
           "the length 'v.a.n' is not an earlier field");
    refuse(TRACE U8 "event { fields := struct { struct { u8 n; } a[2]; u8 s[a.n]; }; };",
           "is not an earlier field");
    refuse(TRACE U8 "typedef u8 t[x];", "no field 'x' here");
    refuse(TRACE U8 "event { fields := struct { u8 tag; variant <tag> { u8 a; } v; }; };",
           "the tag of a variant is an enumeration");
    refuse(TRACE U8 "event { fields := struct { enum : u8 { a } tag; variant { u8 a; } v; }; };",
           "needs a tag");
    refuse(TRACE U8 "struct s { struct { u8 a; } *x; };", "a pointer is to a type with a name");
    refuse(TRACE U8 "enum e : u8 { a = -1 };", "never negative");
    refuse(TRACE U8 "enum e : u8 { a = 256 };", "8 bits cannot hold");
    refuse(TRACE U8 "enum e : u8 { a = 255, b };", "8 bits cannot hold");
    refuse(TRACE U8 "enum e : u8 { a = 3 ... 2 };", "ends before it begins");
}

static void forbidden_blocks_are_refused(void **state)
{
    (void)state;
    refuse(TRACE "event { id = 0; }; event { };", "this event needs an id");
    refuse(TRACE "event { id = 0; };\nevent { id = 1; };",
           "metadata:3:1: a second event in stream 0, but no id in the event header");
    refuse(TRACE "stream { id = 0; };\nstream { id = 1; };",
           "metadata:3:1: a second stream, but no stream_id in the packet header");
    refuse(TRACE "stream { id = 1; };\nevent { stream_id = 2; };",
           "metadata:3:1: no stream has the id 2");
    refuse(TRACE "stream { id = 3; }; stream { id = 3; };", "a second stream with id 3");
    refuse(TRACE "clock { name = a; }; clock { name = b; }; stream { event.header := struct { "
                 "integer { size = 8; } timestamp; }; };",
           "names no clock, and there are 2");
    refuse(TRACE "clock { name = a; freq = 0; };", "a frequency above 0");
    refuse(TRACE "trace { };", "a second trace block");
    refuse(TRACE "/* no end", "this comment does not end");
    refuse(TRACE "env { a = \"x", "this string does not end");
    refuse(TRACE "env { a = \"\\q\"; };", "not an escape sequence");
    refuse(TRACE "env { a = 1x; };", "does not belong into this number");
    refuse(TRACE "env { a = 18446744073709551616; };", "does not fit into 64 bits");
}

static void string_escapes_follow_c(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, TRACE "env { a = \"\\nabc \\\" \\x41\\x023, \\x0231,\\101\\43\\0431 "
                         "\\u00e9\\U0001F600\"; b = \"x\\0NOT SEEN\"; c = word; d = -0x1F; "
                         "e = 0777uLL; f = 0xFFFFFFFFFFFFFFFF; g = -9223372036854775809; };");
    const struct ctf_description *d = &parsed.description;
    support_assert_text(ctf_find_environment(d, "a")->text.p, ctf_find_environment(d, "a")->text.n,
                        "\nabc \" A#, #1,A##1 \xc3\xa9\xf0\x9f\x98\x80");
    support_assert_text(ctf_find_environment(d, "b")->text.p, ctf_find_environment(d, "b")->text.n,
                        "x");
    support_assert_text(ctf_find_environment(d, "c")->text.p, ctf_find_environment(d, "c")->text.n,
                        "word");
    assert_int_equal(ctf_find_environment(d, "d")->number, -31);
    assert_int_equal(ctf_find_environment(d, "e")->number, 0777);
    assert_false(ctf_find_environment(d, "f")->is_number);
    support_assert_text(ctf_find_environment(d, "f")->text.p, ctf_find_environment(d, "f")->text.n,
                        "18446744073709551615");
    support_assert_text(ctf_find_environment(d, "g")->text.p, ctf_find_environment(d, "g")->text.n,
                        "-9223372036854775809");
    /* No specification forbids such numbers: a remark, as in CTF 2. */
    assert_int_equal(parsed.notes_n, 0);
    assert_int_equal(parsed.remarks_n, 2);
    done(&parsed);
}

/* Deep nesting and exponential types end in an error, not in an overflow. */
static void hostile_nesting_is_refused(void **state)
{
    (void)state;
    static char text[20000];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", TRACE "event { fields := ");
    for (int i = 0; i < 500; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "struct { ");
    refuse(text, "levels of nesting");
    n = (size_t)snprintf(text, sizeof text, "%s", TRACE U8 "struct s0 { u8 n; u8 a[n]; };\n");
    for (int i = 1; i < 30; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "struct s%d { struct s%d a; struct s%d b; };\n", i, i - 1, i - 1);
    (void)snprintf(text + n, sizeof text - n, "event { fields := struct s29; };");
    struct parsed parsed;
    parse_any(&parsed, text);
    assert_int_equal(parsed.status, TTR_E_LIMIT);
    done(&parsed);
    n = (size_t)snprintf(text, sizeof text, "%s", TRACE U8 "typedef u8 t0[1];\n");
    for (int i = 1; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "typedef t%d t%d[1];\n", i - 1, i);
    refuse(text, "levels of types");
}

static void member_lookup_among_many_succeeds(void **state)
{
    (void)state;
    static char text[60000];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", TRACE U8 "event { fields := struct { ");
    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "u8 f%d; u8 s%d[f%d]; ", i, i, i / 2);
    (void)snprintf(text + n, sizeof text - n, "}; };");
    struct parsed parsed;
    parse(&parsed, text);
    assert_reference(at(payload(&parsed), "s999"), ROOT_PAYLOAD, "f499");
    assert_null(type_find_member(payload(&parsed), text_of("f1000")));
    done(&parsed);
}

static bool parse_with(const struct alloc *alloc)
{
    static const char source[] = TRACE U8
        "clock { name = c; }; env { a = \"b\"; };\n"
        "stream { event.header := struct { u8 id; integer { size = 64; } timestamp; }; };\n"
        "event { id = 1; name = e; fields := struct { enum : u8 { a, b } t; variant <t> { u8 a; "
        "string b; } v;\n"
        "u8 n; u8 s[n]; }; };";
    struct ctf_description description;
    struct ctf_text text = {.p = source, .n = sizeof source - 1, .file = "metadata"};
    ttr_error error;
    ctf_description_init(&description, alloc);
    ttr_status status = tsdl_parse(&description, &text, &error);
    ctf_description_free(&description);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    return status == TTR_OK;
}

static void failing_allocation_is_reported_without_leak(void **state)
{
    (void)state;
    support_fail_each(parse_with);
}

/* Parses the first n bytes; `is_packetised`: as a text with pieces. */
static void parse_cut(struct parsed *parsed, const char *source, size_t n, bool is_packetised)
{
    static const struct ctf_piece piece = {.at = 0, .offset = 37};
    struct ctf_text text = {.n = n, .file = "metadata", .piece = &piece, .pieces_n = is_packetised};
    *parsed = (struct parsed){0};
    ctf_description_init(&parsed->description, alloc_default());
    parsed->description.note = keep_note;
    parsed->description.note_ctx = parsed;
    char *copy = arena_alloc(&parsed->description.arena, n + 1);
    assert_non_null(copy);
    memcpy(copy, source, n);
    copy[n] = '\0';
    text.p = copy;
    parsed->status = tsdl_parse(&parsed->description, &text, &parsed->error);
}

static size_t count_before(const char *text, size_t n, char what)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += text[i] == what;
    return count;
}

/* A tracer that was stopped leaves an incomplete declaration, because it writes packets as they
 * fill. Each line of the source is a declaration. */
static void metadata_in_packets_are_read_up_to_their_last_whole_declaration_once_a_stream_is_known(
    void **state)
{
    (void)state;
    static const char source[] = TRACE U8
        "env { a = \"x { y\"; };\nstream { id = 0; event.header := struct { u8 id; }; };\n"
        "event { id = 0; name = \"one\"; stream_id = 0; fields := struct { u8 x; u8 y[x]; }; };\n"
        "event { id = 1; name = \"two; \"; stream_id = 0; fields := struct { enum : u8 { A, B } e; "
        "}; };\n"
        "typedef struct { u8 x; } more;\nevent { id = 2; name = \"three\"; stream_id = 0; };\n";
    const size_t stream = (size_t)(strstr(source, "event { id = 0") - source) - 1;
    for (size_t n = 1; n < sizeof source; n++) {
        struct parsed parsed;
        bool is_between = n > 12 && (source[n - 1] == '\n' || source[n] == '\n');
        parse_cut(&parsed, source, n, true);
        if ((parsed.status == TTR_OK) != (n >= stream || (is_between && n > 30)))
            fail_msg("%zu: %s", n, parsed.error.text);
        if (n >= stream) {
            size_t lines = count_before(source, n + 1, '\n');
            assert_int_equal(parsed.description.streams[0]->events_n, lines - 4 - (lines >= 7));
            assert_int_equal(parsed.notes_n, !is_between);
            assert_int_equal(strstr(parsed.note, ": the metadata end inside this declaration") !=
                                 NULL,
                             !is_between);
        }
        done(&parsed);
        parse_cut(&parsed, source, n, false);
        assert_int_equal(parsed.status == TTR_OK, is_between && n > 30);
        done(&parsed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_have_specified_defaults),
        cmocka_unit_test(floats_and_strings_parse),
        cmocka_unit_test(type_names_may_have_several_words_and_stars),
        cmocka_unit_test(integers_named_as_pointers_are_of_base_16),
        cmocka_unit_test(enumeration_labels_continue_from_previous_value),
        cmocka_unit_test(signed_labels_may_be_negative_and_repeated),
        cmocka_unit_test(variant_tag_resolves_at_declaration),
        cmocka_unit_test(lengths_resolve_by_relative_and_absolute_paths),
        cmocka_unit_test(character_arrays_are_text),
        cmocka_unit_test(fields_of_headers_have_roles_and_clocks),
        cmocka_unit_test(repeated_clock_block_is_accepted),
        cmocka_unit_test(timestamps_without_clock_block_are_nanoseconds),
        cmocka_unit_test(shown_names_drop_one_underscore_unless_clashing),
        cmocka_unit_test(options_match_labels_despite_leading_underscore),
        cmocka_unit_test(declarations_in_several_texts_parse),
        cmocka_unit_test(unknown_attributes_are_noted_with_their_line),
        cmocka_unit_test(repeated_event_id_keeps_first_and_reports_damage),
        cmocka_unit_test(unescaped_lttng_quotes_and_backslashes_stay_in_value),
        cmocka_unit_test(inner_scope_hides_outer_type),
        cmocka_unit_test(errors_show_position_with_caret),
        cmocka_unit_test(forbidden_types_are_refused),
        cmocka_unit_test(forbidden_blocks_are_refused),
        cmocka_unit_test(string_escapes_follow_c),
        cmocka_unit_test(
            metadata_in_packets_are_read_up_to_their_last_whole_declaration_once_a_stream_is_known),
        cmocka_unit_test(hostile_nesting_is_refused),
        cmocka_unit_test(member_lookup_among_many_succeeds),
        cmocka_unit_test(failing_allocation_is_reported_without_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
