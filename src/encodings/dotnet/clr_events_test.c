/* Tests of the runtime's event table: every event compiles for both address sizes, and versions are
 * selected as the runtime defines them. */
#include "encodings/dotnet/clr_events.h"

#include "layout/layout.h"
#include "support/support.h"

static ttr_text make_text(const char *p)
{
    return (ttr_text){p, strlen(p)};
}

static void compile_event(ttr *t, struct arena *arena, const struct clr_event *event)
{
    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        const struct clr_type_options making = {.arena = arena, .pointer_bytes = bytes};
        const struct type *type = clr_make_event_type(&making, event);
        ttr_error error = {0};
        assert_non_null(type);
        if (!layout_compile(
                &(struct layout_spec){.t = t, .arena = arena, .root = {[ROOT_PAYLOAD] = type}},
                &error))
            fail_msg("%s: %s", event->name, error.text);
    }
}

static void table_every_event_compiles_and_is_sorted(void **state)
{
    struct arena arena;
    (void)state;
    ttr *t = ttr_new(NULL);
    arena_init(&arena, alloc_default());
    for (size_t i = 0; i < clr_providers_n; i++)
        for (const struct clr_event *event = clr_providers[i].events; event->name; event++) {
            compile_event(t, &arena, event);
            assert_ptr_equal(
                clr_find_event(make_text(clr_providers[i].name), event->id, event->version), event);
        }
    arena_free(&arena);
    ttr_free(t);
}

static void unknown_version_uses_latest_earlier_version(void **state)
{
    ttr_text runtime = make_text("Microsoft-Windows-DotNETRuntime");
    (void)state;
    assert_string_equal(clr_find_event(runtime, 143, 9)->name, "MethodLoadVerbose");
    assert_int_equal(clr_find_event(runtime, 143, 9)->version, 2);
    assert_int_equal(clr_find_event(runtime, 143, 1)->version, 1);
    assert_string_equal(clr_find_event(runtime, 205, 1)->name,
                        /* older than all known versions: only the name applies */
                        "GCGlobalHeapHistory");
    assert_int_equal(clr_find_event(runtime, 205, 1)->version, 2);
    assert_null(clr_find_event(runtime, 9999, 0));
    assert_null(clr_find_event(make_text("Microsoft-Windows"), 143, 0));
}

static void count_and_map_notation_compile_to_array_and_labels(void **state)
{
    static const uint8_t bytes[] = {9, 0, 0, 0, 2, 0, 0, 0, 7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0,
                                    0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0};
    struct arena arena;
    (void)state;
    ttr *t = ttr_new(NULL);
    arena_init(&arena, alloc_default());
    const struct clr_type_options making = {.arena = &arena, .pointer_bytes = 8};
    const struct clr_event *event = clr_find_event(make_text("Microsoft-Windows-DotNETRuntime"), 21,
                                                   0); /* GCBulkSurvivingObjectRanges */
    struct layout_spec spec = {
        .t = t, .arena = &arena, .root = {[ROOT_PAYLOAD] = clr_make_event_type(&making, event)}};
    const struct layout *layout = layout_compile(&spec, NULL);
    struct layout_cursor run = {.bits = bits_init(bytes, 0, 8 * sizeof bytes)};
    assert_non_null(layout);
    assert_int_equal(layout_find_record_end(layout, &run), LAYOUT_OK);
    assert_int_equal(run.bits.at, run.bits.end);
    const struct type *start = clr_make_event_type(
        &making, clr_find_event(make_text("Microsoft-Windows-DotNETRuntime"), 1, 2));
    assert_int_equal(type_find_label(start->members[2].type->labels, 1, 0)->name.n,
                     strlen("Induced"));
    const struct type *load = clr_make_event_type(
        &making, clr_find_event(make_text("Microsoft-Windows-DotNETRuntime"), 143, 2));
    assert_int_equal(load->members[5].type->kind, TYPE_FLAGS);
    const struct type *mono = clr_make_event_type(
        &making, clr_find_event(make_text("Microsoft-DotNETRuntimeMonoProfiler"), 38, 0));
    assert_memory_equal(type_find_label(mono->members[0].type->labels, 5, 0)->name.p, "End", 3);
    assert_null(type_find_label(mono->members[0].type->labels, 3, 0));
    arena_free(&arena);
    ttr_free(t);
}

/* GCLOHCompact is a C structure of the runtime, including the padding that its compiler inserts. */
static void padding_code_present_only_with_8_byte_addresses(void **state)
{
    struct arena arena;
    (void)state;
    arena_init(&arena, alloc_default());
    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        const struct clr_type_options making = {.arena = &arena, .pointer_bytes = bytes};
        const struct type *type = clr_make_event_type(
            &making, clr_find_event(make_text("Microsoft-Windows-DotNETRuntime"), 208, 0));
        assert_int_equal(type->members[2].type->element->members_n, bytes == 8 ? 6 : 5);
    }
    arena_free(&arena);
}

static void transmitted_fields_of_known_event_get_labels(void **state)
{
    static const struct type i32 = {.kind = TYPE_INT, .bits = 32, .align = 3},
                             i64 = {.kind = TYPE_INT, .bits = 64, .align = 3};
    const struct type_member members[] = {{.name = {"TaskID", 6}, .type = &i32},
                                          {.name = {"Relation", 8}, .type = &i32}};
    const struct type_member others[] = {{.name = {"Relation", 8}, .type = &i64}};
    struct type type = {.kind = TYPE_STRUCT, .members = members, .members_n = 2},
                other = {.kind = TYPE_STRUCT, .members = others, .members_n = 1};
    const struct clr_event *event =
        clr_find_event(make_text("System.Threading.Tasks.TplEventSource"), 16, 1);
    struct arena arena;
    (void)state;
    arena_init(&arena, alloc_default());
    assert_true(clr_add_event_labels(&arena, event, &type));
    assert_null(type.members[0].type->labels);
    assert_memory_equal(type_find_label(type.members[1].type->labels, 1, 0)->name.p, "Join", 4);
    /* a field of another size gets no labels */
    assert_true(clr_add_event_labels(&arena, event, &other));
    assert_null(other.members[0].type->labels);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_every_event_compiles_and_is_sorted),
        cmocka_unit_test(unknown_version_uses_latest_earlier_version),
        cmocka_unit_test(padding_code_present_only_with_8_byte_addresses),
        cmocka_unit_test(transmitted_fields_of_known_event_get_labels),
        cmocka_unit_test(count_and_map_notation_compile_to_array_and_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
