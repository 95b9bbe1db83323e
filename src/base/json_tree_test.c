/* Tests of the JSON tree: order, keys, parents, limits, duplicate keys, and the path of a value. */
#include "base/json_tree.h"

#include <stdio.h>

#include "base/buffer.h"
#include "support/support.h"

static const struct json_limits roomy = {.depth = 64, .memory = 1 << 20};

static const struct json_value *read_tree(struct arena *arena, const char *text)
{
    struct json_tree tree;
    ttr_error error;
    if (json_tree_read(&tree, arena, cursor_init(text, strlen(text), 0), &roomy, &error) != TTR_OK)
        fail_msg("%s: %s", text, error.text);
    return tree.root;
}

static void members_are_found_by_key(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    const struct json_value *root =
        read_tree(&arena, "{\"a\": 1, \"b\": [true, \"x\", {}], \"a\": 2, \"\": null}");
    assert_int_equal(root->count, 4);
    assert_int_equal(json_find_member(root, "a")->token.size, 1);
    assert_int_equal(json_find_member(root, "a")->key_offset, 1);
    assert_int_equal(json_find_member(root, "a")->token.offset, 6);
    const struct json_value *list = json_find_member(root, "b");
    assert_int_equal(list->count, 3);
    assert_int_equal(list->token.kind, JSON_ARRAY);
    assert_int_equal(list->token.offset, 14);
    assert_int_equal(list->token.end, 29);
    assert_int_equal(list->first->token.kind, JSON_TRUE);
    assert_true(json_text_equals(list->first->next, "x"));
    assert_false(json_text_equals(list->first->next, "xy"));
    assert_false(json_text_equals(list->first, "true"));
    assert_ptr_equal(list->last->parent, list);
    assert_null(list->last->next);
    assert_int_equal(json_find_member(root, "")->token.kind, JSON_NULL);
    assert_null(json_find_member(root, "c"));
    assert_null(json_find_member(list, "a"));
    arena_free(&arena);
}

static void scalar_text_is_a_tree(void **state)
{
    (void)state;
    struct arena arena;
    char path[16];
    arena_init(&arena, alloc_default());
    const struct json_value *root = read_tree(&arena, " 18446744073709551615 ");
    assert_true(root->token.size == UINT64_MAX);
    assert_null(root->parent);
    assert_int_equal(json_path(root, path, sizeof path), 0);
    assert_string_equal(path, "");
    arena_free(&arena);
}

static void duplicate_key_is_found(void **state)
{
    (void)state;
    struct arena arena;
    struct buffer text;
    const struct json_value *second;
    arena_init(&arena, alloc_default());
    buffer_init(&text, alloc_default());
    assert_int_equal(json_find_duplicate(read_tree(&arena, "{\"a\":1,\"b\":2,\"b\":3,\"a\":4}"),
                                         &arena, &second),
                     TTR_OK);
    assert_int_equal(second->token.size, 3);
    assert_int_equal(
        json_find_duplicate(read_tree(&arena, "{\"a\":1,\"b\":{\"a\":2}}"), &arena, &second),
        TTR_OK);
    assert_null(second);
    assert_int_equal(json_find_duplicate(read_tree(&arena, "[1,1]"), &arena, &second), TTR_OK);
    assert_null(second);
    /* An object of more members than are compared in pairs uses the hash table. */
    buffer_add_text(&text, "{");
    for (int i = 0; i < 1000; i++) {
        char member[32];
        (void)snprintf(member, sizeof member, "\"key %d\":%d,", i, i);
        buffer_add_text(&text, member);
    }
    size_t n = text.n;
    buffer_add(&text, "\"last\":1}", 10);
    assert_int_equal(json_find_duplicate(read_tree(&arena, (char *)text.bytes), &arena, &second),
                     TTR_OK);
    assert_null(second);
    text.n = n;
    buffer_add(&text, "\"key 500\":7}", 13);
    assert_int_equal(json_find_duplicate(read_tree(&arena, (char *)text.bytes), &arena, &second),
                     TTR_OK);
    assert_int_equal(second->token.size, 7);
    buffer_free(&text);
    arena_free(&arena);
}

static void path_names_keys_and_indexes(void **state)
{
    (void)state;
    struct arena arena;
    char path[64];
    arena_init(&arena, alloc_default());
    const struct json_value *root =
        read_tree(&arena, "{\"options\":[1,2,{\"field-class\":{\"length\":[[5]]}}],\"k\\ny\":1}");
    const struct json_value *class =
        json_find_member(json_find_member(root, "options")->last, "field-class");
    size_t n = json_path(class, path, sizeof path);
    support_assert_text(path, n, "options[2].field-class");
    n = json_path(json_find_member(class, "length")->first->first, path, sizeof path);
    support_assert_text(path, n, "options[2].field-class.length[0][0]");
    n = json_path(json_find_member(class, "length"), path, 16);
    assert_int_equal(n, strlen(path));
    assert_string_equal(path, "...length");
    n = json_path(root->last, path, sizeof path);
    support_assert_text(path, n, "k?y");
    n = json_path(class, path, 4);
    support_assert_text(path, n, "...");
    arena_free(&arena);
}

static void memory_and_depth_limits_are_enforced(void **state)
{
    (void)state;
    static const char text[] = "[[1],[2],\"0123456789\"]";
    struct cursor all = cursor_init(text, sizeof text - 1, 0);
    struct arena arena;
    struct json_tree tree;
    ttr_error error;
    size_t enough = 6 * sizeof(struct json_value) + 10;
    arena_init(&arena, alloc_default());
    struct json_limits limits = {.depth = 2, .memory = enough};
    assert_int_equal(json_tree_read(&tree, &arena, all, &limits, &error), TTR_OK);
    limits.memory = enough - 1;
    assert_int_equal(json_tree_read(&tree, &arena, all, &limits, &error), TTR_E_LIMIT);
    assert_int_equal(error.offset, 9);
    limits = (struct json_limits){.depth = 1, .memory = enough};
    assert_int_equal(json_tree_read(&tree, &arena, all, &limits, &error), TTR_E_LIMIT);
    assert_int_equal(error.offset, 1);
    limits = (struct json_limits){.depth = 1, .memory = 0};
    assert_int_equal(json_tree_read(&tree, &arena, all, &limits, &error), TTR_E_LIMIT);
    assert_int_equal(error.offset, 0);
    arena_free(&arena);
}

static void replaced_characters_are_counted(void **state)
{
    (void)state;
    struct arena arena;
    struct json_tree tree;
    arena_init(&arena, alloc_default());
    assert_int_equal(
        json_tree_read(&tree, &arena, cursor_init("[\"a\xff\xfe\"]", 7, 50), &roomy, NULL), TTR_OK);
    assert_int_equal(tree.replaced, 2);
    assert_int_equal(tree.replaced_offset, 53);
    arena_free(&arena);
}

static void trailing_commas_are_counted(void **state)
{
    (void)state;
    struct json_limits limits = {.depth = 4, .allows_trailing_commas = true, .memory = 1 << 16};
    struct arena arena;
    struct json_tree tree;
    arena_init(&arena, alloc_default());
    assert_int_equal(json_tree_read(&tree, &arena, cursor_init("[1,[2,],]", 9, 50), &limits, NULL),
                     TTR_OK);
    assert_int_equal(tree.commas, 2);
    assert_int_equal(tree.commas_offset, 55);
    assert_int_equal(tree.root->count, 2);
    assert_int_equal(json_tree_read(&tree, &arena, cursor_init("[1,]", 4, 0), &roomy, NULL),
                     TTR_E_MALFORMED);
    arena_free(&arena);
}

static bool build_with(const struct alloc *alloc)
{
    static const char text[] = "{\"a\":[1,2,3],\"b\":\"x\",\"c0\":0,\"c1\":0,\"c2\":0,\"c3\":0,"
                               "\"c4\":0,\"c5\":0,\"c6\":0,\"c7\":0,\"c8\":0,"
                               "\"c9\":0,\"d0\":0,\"d1\":0,\"d2\":0,\"d3\":0,\"d4\":0,\"d5\":0,"
                               "\"d6\":0,\"d7\":0,\"d8\":0,\"d9\":0}";
    struct arena arena;
    struct json_tree tree;
    const struct json_value *second = NULL;
    arena_init(&arena, alloc);
    ttr_status status = TTR_OK;
    for (int i = 0; i < 3 && status == TTR_OK; i++)
        status = json_tree_read(&tree, &arena, cursor_init(text, sizeof text - 1, 0), &roomy, NULL);
    if (status == TTR_OK)
        status = json_find_duplicate(tree.root, &arena, &second);
    assert_null(second);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    arena_free(&arena);
    return status == TTR_OK;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(build_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_by_key),
        cmocka_unit_test(scalar_text_is_a_tree),
        cmocka_unit_test(duplicate_key_is_found),
        cmocka_unit_test(path_names_keys_and_indexes),
        cmocka_unit_test(memory_and_depth_limits_are_enforced),
        cmocka_unit_test(replaced_characters_are_counted),
        cmocka_unit_test(trailing_commas_are_counted),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
