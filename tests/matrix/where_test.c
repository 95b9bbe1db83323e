/* Conditions on events against SQLite: generated expressions select the same rows of a table in
 * SQLite as events with the same columns and fields. */
#include "support/support.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "expression/expression.h"

#define EVENTS 60u
#define TEXT_SIZE 2000u

/* The rows, as events and in SQLite. */
struct world {
    ttr *t;
    sqlite3 *db;
    uint64_t random;
    ttr_event events[EVENTS];
    uint8_t *payload[EVENTS];
};

/* An expression under construction. */
struct text {
    char s[TEXT_SIZE];
    size_t n;
};

static void append(struct text *text, const char *part)
{
    const size_t n = strlen(part);
    if (text->n + n < TEXT_SIZE) {
        memcpy(text->s + text->n, part, n + 1);
        text->n += n;
    }
}

static const char *pick(struct world *world, const char *const *list, size_t n)
{
    return list[support_random(&world->random) % n];
}
#define PICK(world, list) pick(world, list, sizeof(list) / sizeof *(list))

static const char *const names[] = {
    "sched_switch", "sched_wakeup", "syscall", "Read", "read",      "a%b", "",
    "12",           "1.5",          "12abc",   " 7 ",  "h\303\251", "_"};

/* --- Expressions --- */

static void append_literal(struct world *world, struct text *text)
{
    static const char *const literals[] = {"0",
                                           "1",
                                           "2",
                                           "-1",
                                           "7",
                                           "12",
                                           "100",
                                           "1000000",
                                           "9223372036854775807",
                                           "1.5",
                                           "-2.25",
                                           "1e3",
                                           "0.0",
                                           "0x10",
                                           "NULL",
                                           "TRUE",
                                           "FALSE",
                                           "''",
                                           "'12'",
                                           "'1.5'",
                                           "'12abc'",
                                           "'abc'",
                                           "' 7 '",
                                           "'read'",
                                           "'sched_switch'",
                                           "'1e2'",
                                           "'-3'",
                                           "'h\303\251'",
                                           "2.0",
                                           "3",
                                           "64",
                                           "'0x10'",
                                           "'.5'"};
    append(text, PICK(world, literals));
}

static void append_value(struct world *world, struct text *text, int depth);

static void append_condition(struct world *world, struct text *text, int depth);

static void append_column(struct world *world, struct text *text)
{
    static const char *const columns[] = {"name", "ts", "dur", "category", "cpu",    "level",
                                          "n",    "u",  "x",   "s",        "missing"};
    append(text, PICK(world, columns));
}

static void append_pattern(struct world *world, struct text *text, bool is_glob)
{
    static const char *const globs[] = {"'sched*'", "'*'",       "'*e*d*'",  "'?e?d'",
                                        "'[a-r]*'", "'[^R]ead'", "'[]a]%b'", "'*h'",
                                        "'r[e'",    "'1[0-9]*'", "'h?'",     "'[*'",
                                        "name",     "'[a-]*'",   "'***d'",   "'[^^]*'"};
    static const char *const likes[] = {"'sched%'",
                                        "'%'",
                                        "'r__d'",
                                        "'%E%d'",
                                        "'a\\%b' ESCAPE '\\'",
                                        "'a%b'",
                                        "'\\_' ESCAPE '\\'",
                                        "'1%'",
                                        "s",
                                        "'h_'",
                                        "'%%_' ESCAPE '%'",
                                        "'%abc' ESCAPE 'a'",
                                        "''"};
    append(text, is_glob ? PICK(world, globs) : PICK(world, likes));
}

static void append_binary(struct world *world, struct text *text, const char *sign, int depth)
{
    append_value(world, text, depth - 1);
    append(text, sign);
    append_value(world, text, depth - 1);
}

static void append_function(struct world *world, struct text *text, int depth)
{
    static const char *const functions[] = {"length(", "lower(", "upper(", "typeof("};
    switch (support_random(&world->random) % 6) {
    case 0:
        append(text, "coalesce(");
        append_binary(world, text, ", ", depth);
        break;
    case 1:
        append(text, "nullif(");
        append_binary(world, text, ", ", depth);
        break;
    case 2:
        append(text, "iif(");
        append_condition(world, text, depth - 1);
        append(text, ", ");
        append_binary(world, text, ", ", depth);
        break;
    case 3:
        append(text, "instr(");
        append_binary(world, text, ", ", depth);
        break;
    case 4:
        append(text, "substr(");
        append_binary(world, text, ", ", depth);
        if (support_random(&world->random) & 1) {
            append(text, ", ");
            append_value(world, text, 0);
        }
        break;
    default:
        append(text, PICK(world, functions));
        append_value(world, text, depth - 1);
    }
    append(text, ")");
}

static void append_case(struct world *world, struct text *text, int depth)
{
    append(text, "CASE ");
    if (support_random(&world->random) & 1) {
        append_value(world, text, depth - 1);
        append(text, " WHEN ");
        append_value(world, text, depth - 1);
    } else {
        append(text, "WHEN ");
        append_condition(world, text, depth - 1);
    }
    append(text, " THEN ");
    append_value(world, text, depth - 1);
    if (support_random(&world->random) & 1) {
        append(text, " ELSE ");
        append_value(world, text, depth - 1);
    }
    append(text, " END");
}

static void append_value(struct world *world, struct text *text, int depth)
{
    static const char *const operators[] = {" + ", " - ", " * ",  " / ",  " % ",
                                            " & ", " | ", " << ", " >> ", " || "};
    static const char *const unary[] = {"- ", "+", "~", "NOT "};
    static const char *const types[] = {" AS INTEGER)", " AS REAL)", " AS TEXT)"};
    const uint64_t choice = support_random(&world->random) % (depth > 0 ? 12 : 5);
    if (choice < 3) {
        append_column(world, text);
    } else if (choice < 5) {
        append_literal(world, text);
    } else if (choice == 5) {
        append(text, "(");
        append_condition(world, text, depth - 1);
        append(text, ")");
    } else if (choice == 6) {
        append(text, PICK(world, unary));
        append_value(world, text, depth - 1);
    } else if (choice == 7) {
        append_function(world, text, depth);
    } else if (choice == 8) {
        append_case(world, text, depth);
    } else if (choice == 9) {
        append(text, "CAST(");
        append_value(world, text, depth - 1);
        append(text, PICK(world, types));
    } else {
        append_binary(world, text, PICK(world, operators), depth);
    }
}

static void append_in(struct world *world, struct text *text, int depth)
{
    append_value(world, text, depth - 1);
    append(text, support_random(&world->random) & 1 ? " IN (" : " NOT IN (");
    for (uint64_t n = support_random(&world->random) % 4, i = 0; i < n; i++) {
        append(text, i ? ", " : "");
        append_value(world, text, i & 1 ? 0 : depth - 1);
    }
    append(text, ")");
}

static void append_condition(struct world *world, struct text *text, int depth)
{
    static const char *const compare[] = {" = ",  " == ", " <> ", " != ", " < ",
                                          " <= ", " > ",  " >= ", " IS ", " IS NOT "};
    static const char *const tests[] = {" IS NULL",     " IS NOT NULL", " NOTNULL",
                                        " ISNULL",      " NOT NULL",    " IS TRUE",
                                        " IS NOT TRUE", " IS FALSE",    " IS NOT FALSE"};
    const uint64_t choice = support_random(&world->random) % (depth > 0 ? 12 : 4);
    const bool is_negated = support_random(&world->random) % 4 == 0;
    if (choice < 4) {
        append_binary(world, text, PICK(world, compare), depth);
    } else if (choice < 6) {
        append_condition(world, text, depth - 1);
        append(text, choice == 4 ? " AND " : " OR ");
        append_condition(world, text, depth - 1);
    } else if (choice == 6) {
        append(text, "NOT ");
        append_condition(world, text, depth - 1);
    } else if (choice == 7) {
        append_value(world, text, depth - 1);
        append(text, PICK(world, tests));
    } else if (choice == 8) {
        append_value(world, text, depth - 1);
        append(text, is_negated ? " NOT BETWEEN " : " BETWEEN ");
        append_binary(world, text, " AND ", depth);
    } else if (choice == 9) {
        append_in(world, text, depth);
    } else {
        append_value(world, text, depth - 1);
        append(text, is_negated ? " NOT " : " ");
        append(text, choice == 10 ? "GLOB " : "LIKE ");
        append_pattern(world, text, choice == 10);
    }
}

/* --- Rows --- */

static void bind_text(sqlite3_stmt *insert, int i, const char *text)
{
    if (text)
        (void)sqlite3_bind_text(insert, i, text, -1, SQLITE_STATIC);
}

/* Adds the fields of an event, and binds the columns of its row. */
static void add_fields(struct world *world, sqlite3_stmt *insert, ttr_builder *builder, unsigned i)
{
    static const double reals[] = {0, 1, 1.5, -2.25, 1e20, 0.1, 1000, 7};
    static const int64_t ints[] = {0, 1, -1, 7, 12, 100, INT64_MAX, INT64_MIN, 1000000};
    const uint64_t random = support_random(&world->random);
    const char *s = i % 4 ? PICK(world, names) : NULL;
    if (i % 5) {
        const int64_t n = ints[random % (sizeof ints / sizeof *ints)];
        ttr_add_int(builder, "n", n);
        (void)sqlite3_bind_int64(insert, 7, n);
    }
    ttr_add_uint(builder, "u", random >> 60);
    (void)sqlite3_bind_int64(insert, 8, (int64_t)(random >> 60));
    if (i % 7) {
        const double x = reals[random / 16 % (sizeof reals / sizeof *reals)];
        ttr_add_float(builder, "x", x);
        (void)sqlite3_bind_double(insert, 9, x);
    }
    if (s)
        ttr_add_text(builder, "s", s);
    bind_text(insert, 10, s);
}

/* Builds an event, and inserts a row with the same values. An empty name or category is none. */
static void add_row(struct world *world, sqlite3_stmt *insert, ttr_builder *builder, unsigned i)
{
    ttr_batch batch;
    const char *name = PICK(world, names), *category = i % 3 ? PICK(world, names) : "";
    const uint64_t random = support_random(&world->random);
    (void)sqlite3_reset(insert);
    (void)sqlite3_clear_bindings(insert);
    ttr_event_begin(builder, TTR_KIND_SPAN, 1000 + i, *category ? category : NULL,
                    *name ? name : NULL);
    bind_text(insert, 1, *name ? name : NULL);
    bind_text(insert, 4, *category ? category : NULL);
    ttr_event *event = ttr_event_attributes(builder);
    event->duration = random % 13;
    (void)sqlite3_bind_int64(insert, 2, 1000 + (int64_t)i);
    (void)sqlite3_bind_int64(insert, 3, (int64_t)event->duration);
    if (i & 1) {
        event->cpu = i % 5;
        event->flags |= TTR_EVENT_HAS_CPU;
        (void)sqlite3_bind_int64(insert, 5, event->cpu);
    }
    event->level = (uint8_t)(random / 13 % 3);
    if (event->level)
        (void)sqlite3_bind_int64(insert, 6, event->level);
    add_fields(world, insert, builder, i);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    world->events[i] = *ttr_batch_at(&batch, 0);
    world->payload[i] = malloc(batch.event->payload_size + 1);
    assert_non_null(world->payload[i]);
    memcpy(world->payload[i], batch.event->payload, batch.event->payload_size);
    world->events[i].payload = world->payload[i];
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
}

static void begin_world(struct world *world)
{
    sqlite3_stmt *insert;
    *world = (struct world){.t = ttr_new(NULL), .random = 26};
    ttr_builder *builder = ttr_builder_new(world->t);
    assert_non_null(builder);
    assert_int_equal(sqlite3_open(":memory:", &world->db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(
            world->db,
            "CREATE TABLE e(name TEXT, ts INTEGER, dur INTEGER, category TEXT, cpu INTEGER, "
            "level INTEGER, n INTEGER, u INTEGER, x REAL, s TEXT, missing)",
            NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(world->db,
                                        "INSERT INTO e VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                                        -1, &insert, NULL),
                     SQLITE_OK);
    for (unsigned i = 0; i < EVENTS; i++)
        add_row(world, insert, builder, i);
    (void)sqlite3_finalize(insert);
    ttr_builder_free(builder);
}

static void end_world(struct world *world)
{
    for (unsigned i = 0; i < EVENTS; i++)
        free(world->payload[i]);
    (void)sqlite3_close(world->db);
    ttr_free(world->t);
}

/* --- Comparison --- */

/* Evaluates an expression by SQLite. Returns false if it fails there. */
static bool evaluate_by_sqlite(struct world *world, const char *expression, uint8_t *truth)
{
    char sql[TEXT_SIZE + 100];
    sqlite3_stmt *select;
    unsigned n = 0;
    (void)snprintf(sql, sizeof sql,
                   "SELECT CASE WHEN v IS NULL THEN 2 WHEN v THEN 1 ELSE 0 END FROM "
                   "(SELECT (%s\n) AS v, ts FROM e) ORDER BY ts",
                   expression);
    if (sqlite3_prepare_v2(world->db, sql, -1, &select, NULL) != SQLITE_OK)
        return false;
    while (sqlite3_step(select) == SQLITE_ROW)
        truth[n++] = (uint8_t)sqlite3_column_int(select, 0);
    (void)sqlite3_finalize(select);
    return n == EVENTS;
}

/* Compares the truth of an expression for all events. Returns false if SQLite refuses it. */
static bool compare(struct world *world, const char *text)
{
    uint8_t expected[EVENTS], found[EVENTS];
    uint32_t rows[EVENTS];
    ttr_error error = {0};
    if (!evaluate_by_sqlite(world, text, expected))
        return false;
    struct expression *expression = expression_new(world->t, text, &error);
    if (!expression)
        fail_msg("%s: %s at byte %" PRIu64, text, error.text, error.offset);
    for (uint32_t i = 0; i < EVENTS; i++)
        rows[i] = i;
    assert_int_equal(expression_select(expression, world->events, rows, EVENTS, found, &error),
                     TTR_OK);
    for (unsigned i = 0; i < EVENTS; i++)
        if (found[i] != expected[i])
            fail_msg("%s: event %u: %u, but %u by SQLite", text, i, found[i], expected[i]);
    expression_free(expression);
    return true;
}

static void generated_expressions_select_the_rows_of_sqlite(void **state)
{
    (void)state;
    struct world world;
    unsigned refused = 0;
    const unsigned rounds = support_rounds(3000, 100000);
    begin_world(&world);
    for (unsigned i = 0; i < rounds; i++) {
        struct text text = {.n = 0};
        append_condition(&world, &text, 1 + (int)(i % 4));
        if (text.n < TEXT_SIZE - 1)
            refused += !compare(&world, text.s);
    }
    print_message("%u of %u refused by SQLite\n", refused, rounds);
    assert_true(refused < rounds / 20);
    end_world(&world);
}

static void written_expressions_select_the_rows_of_sqlite(void **state)
{
    (void)state;
    static const char *const list[] = {
        "name GLOB 'sched*' AND n > 20",
        "1 = NOT 0 = 1",
        "u BETWEEN 1 AND 5 = 1",
        "NOT u BETWEEN 1 = 1 AND 5",
        "- u || 'a' = '-5a'",
        "u = 5 = 1 IS NOT 0",
        "n % 0 IS NULL",
        "9223372036854775807 + 1 > 1e18",
        "n / -1 > 0",
        "'12abc' + 1 = 13",
        "x = '1.5' OR s = 12",
        "s < 5",
        "s IN (12, 1.5)",
        "n IN ('12', '7')",
        "name LIKE 'SCHED%' /* case */ -- and a comment",
        "\"name\" = 'read' OR [u] = 3 OR `x` > 1",
        "u IS TRUE + 1",
        "typeof(n / 2.0) = 'real'",
        "u << -1 = 3 OR -1 >> 70 = -1",
        "x || '' = '1.0e+20'",
        "substr('abcdef', -3, 2) = 'de' AND substr('abc', 0, 2) = 'a'",
        "name NOT LIKE '%e%' ESCAPE '!' AND category NOTNULL",
        "1e400 > 1 OR -1e400 < 0",
    };
    struct world world;
    begin_world(&world);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!compare(&world, list[i]))
            fail_msg("%s: refused by SQLite", list[i]);
    end_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_expressions_select_the_rows_of_sqlite),
        cmocka_unit_test(generated_expressions_select_the_rows_of_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
