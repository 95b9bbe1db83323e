/* TSDL with very many event classes, as random events of the encoder produce: limits of memory, and
 * results equal to those of short texts. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/ctf/description/ctf_description.h"
#include "model/context.h"
#include "support/support.h"

#define HEAD                                                                                     \
    "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\nstream { event.header := " \
    "struct { integer { size = 32; } id; }; };\n"
#define EVENTS 20000u
#define ROOM (EVENTS * 200u)
#define MEMORY ((uint64_t)64 << 20) /* less than the trees of all events together */

/* Returns a text of events 0 to EVENTS - 1, then `last`; the caller frees it. */
static char *make_text(const char *last, size_t *n)
{
    char *text = malloc(ROOM);
    assert_non_null(text);
    *n = (size_t)snprintf(text, ROOM, "%s", HEAD);
    for (unsigned i = 0; i < EVENTS; i++)
        *n += (size_t)snprintf(text + *n, ROOM - *n,
                               "event { id = %u; name = \"e\\x41%u\"; fields := struct { integer { "
                               "size = 64; } n; string s; integer { size = 8; } b[n]; }; };\n",
                               i, i);
    *n += (size_t)snprintf(text + *n, ROOM - *n, "%s", last);
    assert_true(*n < ROOM - 1);
    return text;
}

static ttr_status parse(ttr *t, const char *last, struct ctf_description *description,
                        ttr_error *error)
{
    size_t n;
    char *source = make_text(last, &n);
    ctf_description_init(description, &t->counted);
    struct ctf_text text = {.p = source, .n = n, .file = "metadata"};
    ttr_status status = tsdl_parse(description, &text, error);
    free(source);
    return status;
}

static void syntax_trees_are_freed_while_parsing(void **state)
{
    (void)state;
    struct ctf_description description;
    ttr_error error = {0};
    ttr *t = ttr_new(&(ttr_options){.size = sizeof(ttr_options), .max_memory = MEMORY});
    ttr_status status = parse(t,
                              "typealias integer { size = 16; } := late; event { id = 99999; "
                              "fields := struct { late n; }; };",
                              &description, &error);
    if (status != TTR_OK)
        fail_msg("%d: %s", (int)status, error.text);
    const struct ctf_stream_class *stream = description.streams[0];
    assert_int_equal(stream->events_n, EVENTS + 1);
    const struct ctf_event_class *event = ctf_find_event(stream, EVENTS - 1);
    assert_true(event->name.n == 7 && memcmp(event->name.p, "eA19999", 7) == 0);
    assert_int_equal(event->payload->members_n, 3);
    assert_int_equal(event->payload->members[2].type->kind, TYPE_SEQUENCE);
    assert_int_equal(ctf_find_event(stream, 99999)->payload->members[0].type->bits, 16);
    ctf_description_free(&description);
    ttr_free(t);
}

/* Expects the same error as in a short text. */
static void refuse(const char *last, const char *message)
{
    struct ctf_description description;
    char line[40];
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    assert_int_equal(parse(t, last, &description, &error), TTR_E_MALFORMED);
    (void)snprintf(line, sizeof line, "metadata:%u:", EVENTS + 3);
    if (!strstr(error.text, message) || !strstr(error.text, line))
        fail_msg("expected \"%s\" in line %s got: %s", message, line, error.text);
    ctf_description_free(&description);
    ttr_free(t);
}

static void fault_in_late_event_has_its_position(void **state)
{
    (void)state;
    refuse("event { id = ; };", "expected a number, a string or a name");
    refuse("event { id = 99999; fields := struct { unheard n; }; };",
           "no type is called 'unheard' here");
}

static void equal_types_are_shared_with_separate_names(void **state)
{
    (void)state;
    static const char source[] =
        HEAD "typealias integer { size = 24; } := one; typealias integer { size = 24; } := two;\n"
             "event { fields := struct { one a; two b; integer { size = 24; } c; integer { size = "
             "24; } d; integer { size = 24; signed = 1; } e;"
             " enum : integer { size = 24; } { x } f; }; };";
    struct ctf_description description;
    struct ctf_text text = {.p = source, .n = sizeof source - 1, .file = "metadata"};
    ttr_error error;
    ctf_description_init(&description, alloc_default());
    assert_int_equal(tsdl_parse(&description, &text, &error), TTR_OK);
    const struct type_member *members = description.streams[0]->events[0]->payload->members;
    assert_true(members[0].type->name.n == 3 && memcmp(members[0].type->name.p, "one", 3) == 0);
    assert_true(members[1].type->name.n == 3 && memcmp(members[1].type->name.p, "two", 3) == 0);
    assert_int_equal(members[2].type->name.n, 0);
    assert_ptr_equal(members[2].type, members[3].type);
    assert_true(members[4].type != members[3].type && members[4].type->kind == TYPE_INT);
    assert_true(!members[3].type->labels && members[5].type->labels->n == 1);
    ctf_description_free(&description);
}

static const struct type *payload_of(const struct ctf_description *description, uint64_t id)
{
    return ctf_find_event(description->streams[0], id)->payload;
}

static void events_of_equal_text_share_types(void **state)
{
    (void)state;
    static const char source[] =
        HEAD "typealias integer { size = 24; } := t;\n"
             "event { id = 0; fields := struct { t a; struct { t b; } c; }; };\n"
             "event { id = 1; fields := struct { t a; struct { t b; } c; }; };\n"
             "event { id = 2; fields := struct { t a; struct { t c; } c; }; };\n"
             /* a type of the event */
             "event { id = 3; typealias integer { size = 8; } := t;"
             " fields := struct { t a; struct { t b; } c; }; };\n"
             /* a tag of the event, which the second structure refers to */
             "event { id = 4; context := struct s { t a; }; fields := struct { struct s x; }; };\n"
             "event { id = 5; context := struct s { t b; }; fields := struct { struct s x; }; };\n"
             "event { id = 6; context := struct s { t a; }; fields := struct { struct s x; }; };\n"
             /* references */
             "event { id = 7; fields := struct { t n; t a[n]; }; };\n"
             "event { id = 8; fields := struct { t n; t a[n]; }; };\n";
    struct ctf_description description;
    struct ctf_text text = {.p = source, .n = sizeof source - 1, .file = "metadata"};
    ttr_error error = {0};
    ctf_description_init(&description, alloc_default());
    if (tsdl_parse(&description, &text, &error) != TTR_OK)
        fail_msg("%s", error.text);
    const struct type *first = payload_of(&description, 0);
    assert_ptr_equal(first, payload_of(&description, 1));
    assert_ptr_not_equal(first, payload_of(&description, 2));
    assert_int_equal(payload_of(&description, 3)->members[0].type->bits, 8);
    assert_int_equal(payload_of(&description, 1)->members[0].type->bits, 24);
    for (uint64_t id = 4; id <= 6; id++) {
        const struct type *inner = payload_of(&description, id)->members[0].type;
        assert_int_equal(inner->members_n, 1);
        assert_int_equal(inner->members[0].name.p[0], id == 5 ? 'b' : 'a');
    }
    for (uint64_t id = 7; id <= 8; id++)
        assert_int_equal(payload_of(&description, id)->members[1].type->kind, TYPE_SEQUENCE);
    ctf_description_free(&description);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_trees_are_freed_while_parsing),
        cmocka_unit_test(fault_in_late_event_has_its_position),
        cmocka_unit_test(equal_types_are_shared_with_separate_names),
        cmocka_unit_test(events_of_equal_text_share_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
