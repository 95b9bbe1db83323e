/* Declared fields as a walk gives them: order, depth, groups, what belongs to each; labels and
 * selectors; limits; no class at all. */
#include <tracetta/read.h>

#include <stdio.h>

#include "base/arena.h"
#include "model/type.h"
#include "support/support.h"
#include "support/typetext.h"

struct scene {
    struct support_heap heap;
    struct arena arena;
    ttr_event_class about;
    ttr_field_declarations walk;
};

static void set_up(struct scene *scene, enum type_root root, const char *types)
{
    *scene = (struct scene){.about = {.size = sizeof scene->about}};
    support_heap_init(&scene->heap, 0);
    arena_init(&scene->arena, &scene->heap.alloc);
    scene->about.ctx[root] = type_of_text(&scene->arena, types);
    ttr_field_declarations_begin(&scene->about, &scene->walk);
}

static void tear_down(struct scene *scene)
{
    arena_free(&scene->arena);
    support_heap_check(&scene->heap);
}

/* All fields in one line: "depth name type" and what is special, separated by "; ". */
static void list(struct scene *scene, char *to, size_t size)
{
    static const char *const choices[] = {"", " optional", " variant"};
    ttr_field_declaration it;
    size_t n = 0;
    *to = '\0';
    while (ttr_field_declarations_next(&scene->walk, &it)) {
        n +=
            (size_t)snprintf(to + n, size - n, "%s%u %.*s %s%s", n ? "; " : "", it.depth,
                             (int)it.name.n, it.name.p, ttr_type_text(it.type), choices[it.choice]);
        if (it.bits)
            n += (size_t)snprintf(to + n, size - n, " %u", it.bits);
        if (it.has_count)
            n += (size_t)snprintf(to + n, size - n, " x%u", (unsigned)it.count);
        for (uint32_t i = 0; i < it.reference_n; i++)
            n += (size_t)snprintf(to + n, size - n, "%s%.*s", i ? "." : " by ",
                                  (int)it.reference[i].n, it.reference[i].p);
    }
}

static void fields_come_as_they_are_stored_with_what_is_in_them_behind(void **state)
{
    (void)state;
    struct scene scene;
    char text[1024];
    set_up(&scene, ROOT_PAYLOAD,
           "a:u8 s:{x:i16> y:f32} n:u8 data:[p.n]u16 three:[3]{z:s} t:T4 U:U f:g4 z:t1");
    list(&scene, text, sizeof text);
    assert_string_equal(
        text,
        "0 a uint 8; 0 s struct; 1 x int 16; 1 y float 32; 0 n uint 8; 0 data array by n; 1  uint "
        "16; "
        "0 three array x3; 1  struct; 2 z text 8; 0 t text x4; 0 U uint; 0 f uint 4; 0 z bool 1");
    tear_down(&scene);
}

static void what_may_not_be_there_follows_its_choice(void **state)
{
    (void)state;
    struct scene scene;
    ttr_field_declaration it;
    ttr_label label;
    set_up(&scene, ROOT_PAYLOAD, "n:i8 o:?p.n(1,3..5):u8 v:|p.n(few=0..2:u16,minus=-1:s)");
    assert_true(ttr_field_declarations_next(&scene.walk, &it));
    assert_false(ttr_field_declarations_selector(&scene.walk, &label));
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.choice == TTR_CHOICE_OPTIONAL &&
                it.depth == 0);
    assert_int_equal(it.reference_group, TTR_GROUP_PAYLOAD);
    assert_true(ttr_field_declarations_selector(&scene.walk, &label) && label.low == 1 &&
                label.high == 1);
    assert_true(ttr_field_declarations_selector(&scene.walk, &label) && label.low == 3 &&
                label.high == 5);
    assert_false(ttr_field_declarations_selector(&scene.walk, &label));
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.depth == 1 && it.name.n == 0 &&
                it.type == TTR_TYPE_UINT);
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.choice == TTR_CHOICE_VARIANT &&
                it.type == TTR_TYPE_NULL);
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.depth == 1);
    assert_true(ttr_field_declarations_selector(&scene.walk, &label) && label.low == 0 &&
                label.high == 2);
    support_assert_text(label.name.p, label.name.n, "few");
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.type == TTR_TYPE_TEXT);
    assert_true(ttr_field_declarations_selector(&scene.walk, &label) && label.low == UINT64_MAX &&
                label.high == UINT64_MAX);
    assert_false(ttr_field_declarations_next(&scene.walk, &it));
    assert_false(ttr_field_declarations_next(&scene.walk, &it));
    tear_down(&scene);
}

static void labels_are_given_range_by_range(void **state)
{
    (void)state;
    struct scene scene;
    ttr_field_declaration it;
    ttr_label label;
    set_up(&scene, ROOT_PAYLOAD, "plain:u8 e:u8=A=1,B=2..5; f:g8=low=0;");
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.hint == TTR_DISPLAY_NONE);
    assert_false(ttr_field_declarations_label(&scene.walk, &label));
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.hint == TTR_DISPLAY_ENUM);
    assert_true(ttr_field_declarations_label(&scene.walk, &label) && label.low == 1 &&
                label.high == 1);
    support_assert_text(label.name.p, label.name.n, "A");
    assert_true(ttr_field_declarations_label(&scene.walk, &label) && label.low == 2 &&
                label.high == 5);
    support_assert_text(label.name.p, label.name.n, "B");
    assert_false(ttr_field_declarations_label(&scene.walk, &label));
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.hint == TTR_DISPLAY_FLAGS);
    assert_true(ttr_field_declarations_label(&scene.walk, &label) && label.high == 0);
    tear_down(&scene);
}

static void groups_stand_in_the_order_of_an_event_and_technical_fields_say_so(void **state)
{
    (void)state;
    struct scene scene;
    ttr_field_declaration it;
    set_up(&scene, ROOT_SPECIFIC_CONTEXT, "s:u8");
    scene.about.ctx[ROOT_PACKET_HEADER] = type_of_text(&scene.arena, "never:u8");
    scene.about.ctx[ROOT_PACKET_CONTEXT] = type_of_text(&scene.arena, "size:u32^5 cpu:u32");
    scene.about.ctx[ROOT_EVENT_HEADER] = type_of_text(&scene.arena, "id:u8>");
    scene.about.ctx[ROOT_COMMON_CONTEXT] = type_of_text(&scene.arena, "vpid:i32");
    ttr_field_declarations_begin(&scene.about, &scene.walk);
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.group == TTR_GROUP_PACKET &&
                it.is_technical);
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.group == TTR_GROUP_PACKET &&
                !it.is_technical && !it.is_big_endian);
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.group == TTR_GROUP_HEADER &&
                it.is_big_endian && it.align == 8);
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.group == TTR_GROUP_COMMON);
    assert_true(ttr_field_declarations_next(&scene.walk, &it) && it.group == TTR_GROUP_CONTEXT);
    assert_false(ttr_field_declarations_next(&scene.walk, &it));
    tear_down(&scene);
}

/* A struct of two members of one type, of two members of one type, ...: twice as many fields with
 * each level. */
static void descriptions_that_grow_without_end_are_cut(void **state)
{
    (void)state;
    struct type level[30] = {{.kind = TYPE_UINT, .bits = 8}};
    struct type_member members[30][2];
    ttr_event_class about = {.size = sizeof about};
    ttr_field_declarations walk;
    ttr_field_declaration it;
    uint32_t n = 0;
    for (size_t i = 1; i < 30; i++) {
        members[i][0] = members[i][1] =
            (struct type_member){.name = {"x", 1}, .type = &level[i - 1]};
        level[i] = (struct type){.kind = TYPE_STRUCT, .members = members[i], .members_n = 2};
    }
    about.ctx[ROOT_PAYLOAD] = &level[29];
    ttr_field_declarations_begin(&about, &walk);
    while (ttr_field_declarations_next(&walk, &it))
        n++;
    assert_int_equal(n, TTR_FIELD_DECLARATIONS_MAX);
}

static void formats_that_describe_nothing_have_no_classes(void **state)
{
    (void)state;
    static const uint8_t fxt[8] = {0x10, 0, 0x04, 0x46, 0x78, 0x54, 0x16, 0};
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_event_class about = {.size = sizeof about};
    ttr_text text;
    ttr_reader *reader = ttr_open_memory(t, fxt, sizeof fxt, "x", NULL, &error);
    assert_non_null(reader);
    assert_false(ttr_reader_class(reader, 0, 0, &about));
    assert_int_equal(ttr_reader_metadata(reader, 0, "ctf2", &text, &error), TTR_E_UNSUPPORTED);
    assert_int_equal(ttr_reader_metadata(reader, 1, "ctf2", &text, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "no report 1"));
    ttr_close(reader);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_as_they_are_stored_with_what_is_in_them_behind),
        cmocka_unit_test(what_may_not_be_there_follows_its_choice),
        cmocka_unit_test(labels_are_given_range_by_range),
        cmocka_unit_test(groups_stand_in_the_order_of_an_event_and_technical_fields_say_so),
        cmocka_unit_test(descriptions_that_grow_without_end_are_cut),
        cmocka_unit_test(formats_that_describe_nothing_have_no_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
