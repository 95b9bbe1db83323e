/* Runs generated statements with and without leaves (tracetta/query.h) and compares all rows:
 *
 *     compare_leaves TRACE SEED STATEMENTS [SHOW]
 *
 * SQLite alone is the reference.  Prints each statement with different results, then the number of
 * statements, of those with leaves, and of differences.  Exits with 1 if there is a difference, or
 * if less than 90 % of the statements have leaves.  With SHOW, prints all statements. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/query.h>

#define TEXT_MAX 8192u
#define COLUMNS_MAX 64u

/* --- Random choices --- */

static uint64_t state;

static uint32_t choose(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static const char *choose_text(const char *const *list, uint32_t n)
{
    return list[choose(n)];
}

#define ONE_OF(...)                                 \
    choose_text((const char *const[]){__VA_ARGS__}, \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* --- The statement --- */

struct columns {
    const char *name[COLUMNS_MAX];
    uint32_t n;
};

static char text[TEXT_MAX];
static size_t text_n;
static const char *table, *alias;
static struct columns of_type[3]; /* by ttr_store_type */
static bool has_order;            /* the table is in order of ts */
static ttr *t;
static const ttr_store *store;
static size_t table_index;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int n = vsnprintf(text + text_n, TEXT_MAX - text_n, format, values);
    va_end(values);
    text_n += n > 0 && (size_t)n < TEXT_MAX - text_n ? (size_t)n : 0;
}

static void add_number(unsigned depth);
static void add_text(unsigned depth);
static void add_condition(unsigned depth);

static void add_column(ttr_store_type type)
{
    const struct columns *list = &of_type[type];
    const char *name = list->name[choose(list->n)];
    if (alias && choose(2))
        add(" %s.%s", alias, name);
    else
        add(" %s", name);
}

/* Writes the value of a cell of the table as a literal. */
static void add_cell(ttr_store_type type)
{
    ttr_store_column column;
    ttr_store_table about;
    int64_t value = TTR_STORE_NULL;
    (void)ttr_store_table_at(store, table_index, &about);
    for (unsigned i = 0; i < 10 && value == TTR_STORE_NULL; i++) {
        const size_t k = choose((uint32_t)about.columns);
        if (ttr_store_column_at(store, table_index, k, &column) && column.type == type)
            ttr_store_values(store, table_index, k, choose((uint32_t)about.rows), 1, &value);
    }
    if (type == TTR_STORE_TEXT) {
        const ttr_text cell = ttr_text_get(t, value == TTR_STORE_NULL ? 0 : (ttr_id)value);
        if (memchr(cell.p, '\'', cell.n) || cell.n > 100)
            add("'x'");
        else
            add("'%s'", cell.p);
    } else if (type == TTR_STORE_INT) {
        add("%" PRId64, value == TTR_STORE_NULL ? 3 : value);
    } else {
        double real = 2.5;
        if (value != TTR_STORE_NULL)
            memcpy(&real, &value, sizeof real);
        add("%.17g", real);
    }
}

static void add_literal(void)
{
    switch (choose(6)) {
    case 0:
        add("%u", choose(20));
        break;
    case 1:
        add("%u.5", choose(100));
        break;
    case 2:
        add("1e%u", choose(9));
        break;
    default:
        add_cell(TTR_STORE_INT);
    }
}

static void add_plain_number(void)
{
    if (of_type[TTR_STORE_REAL].n && choose(2))
        add_column(TTR_STORE_REAL);
    else if (choose(8))
        add_column(TTR_STORE_INT);
    else
        add_literal();
}

static void add_function(unsigned depth)
{
    switch (choose(7)) {
    case 0:
        add("abs(");
        add_number(depth - 1);
        add(")");
        break;
    case 1:
        add("ifnull(");
        add_column(TTR_STORE_INT);
        add(", %u)", choose(3));
        break;
    case 2:
        add("nullif(");
        add_column(TTR_STORE_INT);
        add(", %u)", choose(3));
        break;
    case 3:
        add("%s(", ONE_OF("min", "max"));
        add_column(TTR_STORE_INT);
        add(", %u)", choose(1000));
        break;
    case 4:
        add("length(");
        add_text(depth - 1);
        add(")");
        break;
    case 5:
        add("CAST(");
        add_number(depth - 1);
        add(" AS REAL)");
        break;
    default:
        add("CASE WHEN ");
        add_condition(depth - 1);
        add(" THEN ");
        add_column(TTR_STORE_INT);
        add(" ELSE %s END", ONE_OF("0", "NULL", "-1"));
    }
}

static void add_number(unsigned depth)
{
    const uint32_t kind = depth == 0 ? 0 : choose(6);
    if (kind < 3) {
        add_plain_number();
    } else if (kind == 3) {
        add_function(depth);
    } else if (kind == 4) {
        add("(");
        add_number(depth - 1);
        add(" %s ", ONE_OF("+", "-", "*", "/", "+", "-"));
        add_number(depth - 1);
        add(")");
    } else {
        add_column(TTR_STORE_INT);
        add(" %s %u", ONE_OF("/", "%", "&", "|", "*", "-"), choose(1000));
    }
}

static void add_text(unsigned depth)
{
    switch (depth == 0 ? 0 : choose(7)) {
    case 0:
    case 1:
    case 2:
        add_column(TTR_STORE_TEXT);
        break;
    case 3:
        add("substr(");
        add_column(TTR_STORE_TEXT);
        add(", %u, %u)", choose(4), choose(14));
        break;
    case 4:
        add("%s(", ONE_OF("lower", "upper"));
        add_column(TTR_STORE_TEXT);
        add(")");
        break;
    case 5:
        add("ifnull(");
        add_column(TTR_STORE_TEXT);
        add(", 'none')");
        break;
    default:
        add("(");
        add_column(TTR_STORE_TEXT);
        add(" || 'x')");
    }
}

static void add_text_condition(void)
{
    add_text(1);
    switch (choose(7)) {
    case 0:
        add(" GLOB '%s'", ONE_OF("*a*", "E*", "*1", "[a-m]*", "?*2?"));
        break;
    case 1:
        add(" %sLIKE '%s'", ONE_OF("", "NOT "), ONE_OF("%1%", "example%", "_x%", "%"));
        break;
    case 2:
        add(" %sIN (", ONE_OF("", "NOT "));
        add_cell(TTR_STORE_TEXT);
        add(", 'x', ");
        add_cell(TTR_STORE_TEXT);
        add(")");
        break;
    case 3:
        add(" IS %sNULL", ONE_OF("", "NOT "));
        break;
    case 4:
        add(" = '%s' COLLATE NOCASE", ONE_OF("example::operation_5", "thread_track"));
        break;
    case 5:
        add(" %s ", ONE_OF("=", "<>", "IS"));
        add_column(TTR_STORE_TEXT);
        break;
    default:
        add(" %s ", ONE_OF("=", "<>", "<", ">=", "IS", "IS NOT"));
        add_cell(TTR_STORE_TEXT);
    }
}

static void add_simple_condition(void)
{
    if (of_type[TTR_STORE_TEXT].n && choose(3) == 0) {
        add_text_condition();
        return;
    }
    switch (choose(5)) {
    case 0:
        add_number(1);
        add(" %sBETWEEN ", ONE_OF("", "NOT "));
        add_literal();
        add(" AND ");
        add_literal();
        break;
    case 1:
        add_column(TTR_STORE_INT);
        add(" %sIN (%u, %u, ", ONE_OF("", "NOT "), choose(9), choose(9));
        add_literal();
        add("%s)", ONE_OF("", ", NULL"));
        break;
    case 2:
        add_number(1);
        add(" IS %sNULL", ONE_OF("", "NOT "));
        break;
    default:
        add_number(1);
        add(" %s ", ONE_OF("=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"));
        if (choose(3))
            add_literal();
        else
            add_number(0);
    }
}

static void add_condition(unsigned depth)
{
    const uint32_t kind = depth == 0 ? 0 : choose(7);
    if (kind < 4) {
        add_simple_condition();
    } else if (kind == 4) {
        add("NOT (");
        add_condition(depth - 1);
        add(")");
    } else {
        add("(");
        add_condition(depth - 1);
        add(" %s ", ONE_OF("AND", "OR", "AND"));
        add_condition(depth - 1);
        add(")");
    }
}

static void add_aggregate(void)
{
    const uint32_t kind = choose(9);
    const bool has_text = of_type[TTR_STORE_TEXT].n > 0;
    if (kind == 0) {
        add("count(*)");
    } else if (kind == 1) {
        add("%s(", ONE_OF("min", "max", "count"));
        if (has_text && choose(2))
            add_text(1);
        else
            add_number(1);
        add(")");
    } else if (kind == 2) {
        add("count(DISTINCT ");
        if (has_text && choose(2))
            add_text(1);
        else
            add_number(1);
        add(")");
    } else if (kind == 3) {
        add("percentile(");
        add_number(1);
        add(", %s)", ONE_OF("0", "50", "99", "99.9", "100"));
    } else if (kind == 4) {
        add("median(");
        add_number(1);
        add(")");
    } else {
        add("%s(", ONE_OF("sum", "avg", "total", "min", "max", "sum", "count"));
        add_number(1);
        add(")");
    }
    if (choose(6) == 0) {
        add(" FILTER (WHERE ");
        add_condition(1);
        add(")");
    }
}

static void add_key(void)
{
    if (of_type[TTR_STORE_TEXT].n && choose(2))
        add_text(1);
    else if (choose(3))
        add_column(TTR_STORE_INT);
    else
        add_number(1);
}

static void add_where(unsigned depth)
{
    if (choose(3)) {
        add(" WHERE ");
        add_condition(depth);
        if (choose(3) == 0) {
            add(" AND ");
            add_condition(1);
        }
    }
}

static void add_from(void)
{
    if (alias)
        add(" FROM %s%s %s", ONE_OF("", "main."), table, alias);
    else
        add(" FROM %s", table);
}

/* --- Kinds of statements --- */

static void write_group(bool is_part)
{
    const uint32_t keys = choose(3), aggregates = 1 + choose(3);
    add("SELECT ");
    for (uint32_t i = 0; i < keys; i++) {
        add_key();
        add(" AS k%u, ", i);
    }
    for (uint32_t i = 0; i < aggregates; i++) {
        add(i ? ", " : "");
        add_aggregate();
        if (is_part || choose(3) == 0)
            add(" AS a%u", i);
        else if (choose(4) == 0)
            add(" * 2 + 1");
    }
    add_from();
    add_where(2);
    for (uint32_t i = 0; i < keys; i++) {
        add(i ? ", " : " GROUP BY ");
        if (choose(2))
            add("%u", i + 1);
        else
            add("k%u", i);
    }
    if (keys && choose(4) == 0) {
        add(" HAVING ");
        add_aggregate();
        add(" %s %u", ONE_OF(">", "<", "<>"), choose(50));
    }
    if (is_part || keys == 0 || choose(2))
        return;
    add(" ORDER BY %u %s", 1 + choose(keys + aggregates), ONE_OF("", "DESC", "ASC"));
    if (choose(2))
        add(", %s", ONE_OF("1", "count(*)", "k0 DESC"));
    if (choose(2))
        add(" LIMIT %u%s", choose(20), ONE_OF("", " OFFSET 2"));
}

static void write_distinct(void)
{
    add("SELECT DISTINCT ");
    add_key();
    if (choose(2)) {
        add(", ");
        add_key();
    }
    add_from();
    add_where(1);
    if (choose(3) == 0)
        add(" ORDER BY 1");
}

static void write_rows(void)
{
    const bool is_top = choose(2);
    add("SELECT %s, ", ONE_OF("*", "rowid"));
    add_number(1);
    add_from();
    if (is_top) {
        add_where(2);
        add(" ORDER BY ");
        add_column(choose(2) ? TTR_STORE_TEXT : TTR_STORE_INT);
        add(" %s", ONE_OF("", "DESC", "ASC"));
        if (choose(2)) {
            add(", 0 + ");
            add_number(1);
            add(" %s", ONE_OF("", "DESC"));
        }
        add(" LIMIT %u%s", choose(30), ONE_OF("", " OFFSET 3"));
        return;
    }
    add(" WHERE ");
    add_condition(2);
    if (choose(3) == 0)
        add(" LIMIT %u", choose(30));
}

static void write_lag(void)
{
    const char *key = of_type[TTR_STORE_INT].name[choose(of_type[TTR_STORE_INT].n)];
    const char *outer = alias;
    alias = NULL;
    add("SELECT %s, count(*), sum(g), max(g), min(h), avg(g) FROM (SELECT *, ",
        ONE_OF("max(h)", "count(g)", "percentile(g, 50)"));
    if (choose(2)) {
        add("ts - %s(", ONE_OF("lag", "lead"));
        add_column(TTR_STORE_INT);
    } else {
        add("%s(ts", ONE_OF("lag", "lead"));
    }
    add(") OVER (PARTITION BY %s ORDER BY ts) AS g, ", key);
    add("%s AS h FROM %s", of_type[TTR_STORE_INT].name[choose(of_type[TTR_STORE_INT].n)], table);
    add_where(1);
    add(")");
    if (choose(2))
        add(" WHERE %s", ONE_OF("g > 100", "g IS NOT NULL", "h > 5 AND g < 1000000", "g <> h"));
    if (choose(2))
        add(" GROUP BY %s", ONE_OF("h", "h % 7", "g > 0"));
    alias = outer;
}

static void write_nested(void)
{
    switch (choose(5)) {
    case 0:
        add("SELECT count(*) FROM %s UNION ALL SELECT sum(a0) FROM (", table);
        write_group(true);
        add(") UNION ALL SELECT count(*) FROM event WHERE kind = 'counter'");
        break;
    case 1:
        add("WITH w AS (");
        write_group(true);
        add(") SELECT count(*), sum(a0), max(a0) FROM w");
        break;
    case 2:
        add("SELECT x.a0, count(*) FROM (");
        write_group(true);
        add(") x GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10");
        break;
    case 3:
        add("SELECT (SELECT count(*) FROM %s WHERE ", table);
        alias = NULL;
        add_condition(1);
        add("), count(*) FROM event");
        break;
    default:
        add("SELECT sum(v) FROM (SELECT ");
        alias = NULL;
        add_number(1);
        add(" AS v, ");
        add_column(TTR_STORE_INT);
        add(" AS w FROM %s", table);
        add_where(1);
        add(") WHERE v > %u GROUP BY w %% 5", choose(100));
    }
}

static void choose_table(void)
{
    ttr_store_table about;
    ttr_store_column column;
    size_t n = 0;
    while (ttr_store_table_at(store, n, &about))
        n++;
    do {
        table_index = choose(3) ? 2 : choose((uint32_t)n); /* slice is the most interesting */
        (void)ttr_store_table_at(store, table_index, &about);
    } while (about.rows == 0);
    table = about.name;
    alias = choose(3) == 0 ? "s" : NULL;
    has_order = false;
    memset(of_type, 0, sizeof of_type);
    for (size_t i = 0; ttr_store_column_at(store, table_index, i, &column); i++) {
        struct columns *list = &of_type[column.type];
        if (list->n < COLUMNS_MAX)
            list->name[list->n++] = column.name;
        has_order |= strcmp(column.name, "ts") == 0 && column.is_ordered;
    }
}

static void write_statement(void)
{
    do
        choose_table();
    while (of_type[TTR_STORE_INT].n == 0 || of_type[TTR_STORE_TEXT].n == 0);
    text_n = 0;
    text[0] = '\0';
    switch (choose(8)) {
    case 0:
        write_distinct();
        break;
    case 1:
    case 2:
        write_rows();
        break;
    case 3:
        if (has_order)
            write_lag();
        else
            write_group(false);
        break;
    case 4:
        write_nested();
        break;
    default:
        write_group(false);
    }
}

/* --- Comparison --- */

static bool is_same_cell(ttr_result *a, ttr_result *b, size_t i)
{
    const ttr_type type = ttr_result_type(a, i);
    if (type != ttr_result_type(b, i))
        return false;
    if (type == TTR_TYPE_INT)
        return ttr_result_int(a, i) == ttr_result_int(b, i);
    if (type == TTR_TYPE_FLOAT) {
        const double x = ttr_result_real(a, i), y = ttr_result_real(b, i);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (type == TTR_TYPE_NULL)
        return true;
    const ttr_text x = ttr_result_text(a, i), y = ttr_result_text(b, i);
    return x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

/* Compares two results. Returns what differs, or NULL. */
static const char *compare(ttr_result *a, ttr_result *b)
{
    const size_t columns = ttr_result_columns(a);
    ttr_error error, other;
    if (columns != ttr_result_columns(b))
        return "number of columns";
    for (size_t i = 0; i < columns; i++)
        if (strcmp(ttr_result_name(a, i), ttr_result_name(b, i)) != 0)
            return "names of columns";
    for (;;) {
        const ttr_status status = ttr_result_step(a, &error);
        if (status != ttr_result_step(b, &other))
            return "number of rows";
        if (status != TTR_OK)
            return NULL;
        for (size_t i = 0; i < columns; i++)
            if (!is_same_cell(a, b, i))
                return "a value";
    }
}

struct counts {
    unsigned statements, with_leaves, differences;
};

/* Runs the statement twice and compares the results.  A statement that both refuse is equal. */
static void run_statement(ttr_query *query, struct counts *counts)
{
    ttr_error error = {0}, other = {0};
    ttr_query_set_read_only(query, true);
    ttr_query_enable_column_scans(query, true);
    ttr_result *with = ttr_query_prepare(query, text, NULL, &error);
    ttr_query_enable_column_scans(query, false);
    ttr_result *without = ttr_query_prepare(query, text, NULL, &other);
    const char *difference = NULL;
    if (with && without)
        difference = compare(with, without);
    else if (with || without)
        difference = "acceptance";
    counts->statements++;
    counts->with_leaves += with && ttr_result_leaf(with, 0);
    counts->differences += difference != NULL;
    if (difference)
        printf("differs: %s: %s\n    %s %s\n", difference, text, error.text, other.text);
    ttr_result_free(with);
    ttr_result_free(without);
}

static bool run_file(ttr_query *query, const char *path, struct counts *counts)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fgets(text, sizeof text, file))
        run_statement(query, counts);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    ttr_error error = {0};
    struct counts counts = {0};
    if (argc < 3)
        return 2;
    t = ttr_new(NULL);
    ttr_reader *in = t ? ttr_open(t, argv[1], NULL, &error) : NULL;
    ttr_store *made = in ? ttr_store_new(t, NULL, &error) : NULL;
    if (!made || ttr_store_read(made, in, NULL, NULL, &error) != TTR_OK)
        return 2;
    store = made;
    ttr_query *query = ttr_query_new(t, made, &error);
    const unsigned n = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    state = strtoull(argv[2], NULL, 10);
    if (!query || (n == 0 && !run_file(query, argv[2], &counts)))
        return 2;
    for (unsigned i = 0; i < n; i++) {
        write_statement();
        run_statement(query, &counts);
    }
    printf("%u statements, %u with leaves, %u differences\n", counts.statements, counts.with_leaves,
           counts.differences);
    ttr_query_free(query);
    ttr_store_free(made);
    ttr_close(in);
    ttr_free(t);
    return counts.differences > 0 || (n > 0 && counts.with_leaves * 10 < n * 9);
}
