/* Findings: counted by code, ranges of damage, and taken over from a reader that goes. */
#include "model/diagnostics.h"

#include "support/support.h"

static void add(struct diagnostics *notes, ttr_severity severity, uint64_t offset, uint64_t bytes,
                const char *code, const char *format, ...) TTR_PRINTF(6, 7);

static void add(struct diagnostics *notes, ttr_severity severity, uint64_t offset, uint64_t bytes,
                const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    diagnostics_add(notes, severity, &(ttr_region){.offset = offset, .bytes = bytes, .code = code},
                    format, values);
    va_end(values);
}

static void findings_are_counted_by_code_with_the_text_of_the_first(void **state)
{
    (void)state;
    struct diagnostics notes;
    diagnostics_init(&notes, alloc_default());
    add(&notes, TTR_SEVERITY_ODD, 7, 0, "x.odd", "the %s one", "first");
    add(&notes, TTR_SEVERITY_ODD, 3, 0, "x.odd", "the %s one", "second");
    add(&notes, TTR_SEVERITY_DAMAGE, 10, 5, "x.bad", "gone");
    add(&notes, TTR_SEVERITY_DAMAGE, 15, 5, "x.bad", "gone");
    add(&notes, TTR_SEVERITY_DAMAGE, 30, 1, "x.bad", "gone");
    assert_int_equal(notes.n, 2);
    assert_string_equal(notes.note[0].text, "the first one");
    assert_int_equal(notes.note[0].count, 2);
    assert_int_equal(notes.note[0].first_offset, 7);
    assert_int_equal(notes.note[1].bytes, 11);
    assert_int_equal(notes.damage_regions, 2); /* what touches is one */
    assert_int_equal(notes.damage_bytes, 11);
    assert_int_equal(notes.regions_n, 2);
    diagnostics_free(&notes);
}

static void damage_without_a_place_is_not_that_of_the_first_byte(void **state)
{
    (void)state;
    struct diagnostics notes;
    diagnostics_init(&notes, alloc_default());
    add(&notes, TTR_SEVERITY_DAMAGE, UINT64_MAX, 0, "x.all", "all of it");
    add(&notes, TTR_SEVERITY_DAMAGE, 0, 5, "x.bad", "gone");
    add(&notes, TTR_SEVERITY_DAMAGE, UINT64_MAX, 0, "x.all", "all of it");
    add(&notes, TTR_SEVERITY_DAMAGE, 5, 5, "x.bad", "gone");
    assert_true(notes.note[0].first_offset == UINT64_MAX);
    assert_int_equal(notes.damage_bytes, 10);
    assert_int_equal(notes.damage_regions, 4);
    assert_int_equal(notes.regions_n, 4);
    assert_string_equal(notes.region[0].code, "x.all");
    assert_true(notes.region[0].offset == UINT64_MAX && notes.region[0].bytes == 0);
    assert_string_equal(notes.region[1].code, "x.bad");
    assert_int_equal(notes.region[1].bytes, 5);
    assert_int_equal(notes.region[3].offset, 5);
    diagnostics_free(&notes);
}

static void the_worst_of_a_code_is_what_it_tells(void **state)
{
    (void)state;
    struct diagnostics to, from;
    diagnostics_init(&to, alloc_default());
    diagnostics_init(&from, alloc_default());
    add(&to, TTR_SEVERITY_ODD, 7, 0, "x.both", "strange");
    add(&to, TTR_SEVERITY_DAMAGE, 10, 5, "x.both", "gone at %d", 10);
    add(&to, TTR_SEVERITY_DAMAGE, 30, 5, "x.both", "gone at %d", 30);
    add(&to, TTR_SEVERITY_REMARK, 50, 0, "x.both", "fine");
    assert_int_equal(to.n, 1);
    assert_int_equal(to.note[0].severity, TTR_SEVERITY_DAMAGE);
    assert_string_equal(to.note[0].text, "gone at 10");
    assert_int_equal(to.note[0].first_offset, 10);
    assert_int_equal(to.note[0].count, 4);
    /* So it is where those of another reader come to it, in either order. */
    add(&from, TTR_SEVERITY_ODD, 3, 0, "x.both", "other");
    add(&from, TTR_SEVERITY_ODD, 4, 0, "x.late", "other");
    add(&to, TTR_SEVERITY_REMARK, 2, 0, "x.late", "mine");
    diagnostics_merge(&to, &from);
    assert_int_equal(to.note[0].severity, TTR_SEVERITY_DAMAGE);
    assert_string_equal(to.note[0].text, "gone at 10");
    assert_int_equal(to.note[0].count, 5);
    assert_int_equal(to.note[1].severity, TTR_SEVERITY_ODD);
    assert_string_equal(to.note[1].text, "other");
    assert_int_equal(to.note[1].first_offset, 4);
    assert_int_equal(to.note[1].count, 2);
    diagnostics_free(&from);
    diagnostics_free(&to);
}

static void findings_of_a_reader_that_goes_join_those_of_another(void **state)
{
    (void)state;
    struct diagnostics to, from;
    diagnostics_init(&to, alloc_default());
    diagnostics_init(&from, alloc_default());
    add(&to, TTR_SEVERITY_ODD, 7, 0, "x.odd", "mine");
    add(&from, TTR_SEVERITY_ODD, 3, 0, "x.odd", "other");
    add(&from, TTR_SEVERITY_ODD, 4, 0, "x.odd", "other");
    add(&from, TTR_SEVERITY_DAMAGE, 10, 5, "x.bad", "gone at %d", 10);
    diagnostics_merge(&to, &from);
    diagnostics_free(&from);
    assert_int_equal(to.n, 2);
    assert_string_equal(to.note[0].text, "mine");
    assert_int_equal(to.note[0].count, 3);
    assert_int_equal(to.note[0].first_offset, 7);
    assert_string_equal(to.note[1].text, "gone at 10");
    assert_int_equal(to.note[1].severity, TTR_SEVERITY_DAMAGE);
    assert_int_equal(to.note[1].first_offset, 10);
    assert_int_equal(to.damage_regions, 1);
    assert_int_equal(to.damage_bytes, 5);
    assert_int_equal(to.region[0].offset, 10);
    /* A range of another reader touches nothing of this one. */
    add(&to, TTR_SEVERITY_DAMAGE, 15, 5, "x.bad", "gone");
    assert_int_equal(to.damage_regions, 2);
    diagnostics_free(&to);
}

static bool join(const struct alloc *alloc)
{
    struct diagnostics to, from;
    diagnostics_init(&to, alloc);
    diagnostics_init(&from, alloc_default());
    add(&from, TTR_SEVERITY_DAMAGE, 10, 5, "x.bad", "gone");
    diagnostics_merge(&to, &from);
    bool is_whole = to.n == 1 && to.regions_n == 1;
    assert_int_equal(to.damage_bytes, 5); /* counts hold without memory */
    diagnostics_free(&from);
    diagnostics_free(&to);
    return is_whole;
}

static void failing_memory_leaves_the_counts(void **state)
{
    (void)state;
    support_fail_each(join);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_are_counted_by_code_with_the_text_of_the_first),
        cmocka_unit_test(damage_without_a_place_is_not_that_of_the_first_byte),
        cmocka_unit_test(the_worst_of_a_code_is_what_it_tells),
        cmocka_unit_test(findings_of_a_reader_that_goes_join_those_of_another),
        cmocka_unit_test(failing_memory_leaves_the_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
