#!/bin/bash
# SQL over traces: query.  usage: query_test.sh TRACETTA GENERATE_FXT PYTHON COMPARE_LEAVES
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
generate=$2
python=$3
compare=$4

"$generate" --events 3000 --seed 5 --mix bench "$work/t.fxt" || exit 1
query()
{
    "$tracetta" query -q "$work/t.fxt" "$@"
}

says "tables_are_listed_without_a_statement" "^slice +[0-9]+ " "$tracetta" query "$work/t.fxt"
# The examples in the list have rows: of a trace of spans, and of one of samples.
for trace in "$work/t.fxt" "$corpus/eventheader/made-here/cpuclock-callchain.data"; do
    name=examples_of_$(basename "$trace")_have_rows
    if [ ! -e "$trace" ]; then
        skip "$name" "no recorded traces"
        continue
    fi
    examples=0
    while read -r sql; do
        [ "$("$tracetta" query -q --format=csv "$trace" "$sql" 2>>"$work/.err" | wc -l)" -gt 1 ] && examples=$((examples + 1))
    done < <("$tracetta" query "$trace" 2>"$work/.err" | grep '^  SELECT')
    [ $examples = 3 ]
    verdict "$name" $? "$examples"
done
says "columns_are_explained_with_verbose" "self_dur +integer +duration without" "$tracetta" query -v "$work/t.fxt"

# The rows of the table of events are the events of the trace: an independent engine sums JSON Lines.
"$tracetta" cat -q --format=jsonl "$work/t.fxt" >"$work/t.jsonl"
"$python" - "$work/t.jsonl" >"$work/expected" <<'PROGRAM'
import collections, json, sys
counts = collections.Counter()
for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    counts[event["kind"], event.get("name", "")] += 1
for (kind, name), n in sorted(counts.items()):
    print(f"{kind}\t{name}\t{n}")
PROGRAM
sed -i '1i kind\tname\tn' "$work/expected"
same "events_are_those_of_the_trace" "$work/expected" \
    "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT kind, ifnull(name, '') name, count(*) n FROM event GROUP BY 1, 2 ORDER BY 1, 2"

# Totals and counts of spans are those of stat.
"$tracetta" stat -q --json "$work/t.fxt" >"$work/stat.json"
"$python" - "$work/stat.json" >"$work/expected" <<'PROGRAM'
import collections, json, sys
rows = collections.defaultdict(lambda: [0, 0])
for row in json.load(open(sys.argv[1], encoding="utf-8"))["rows"]:
    if row["kind"] == "span":
        rows[row["name"]][0] += row["count"]
print("name,n")
for name, (count, _) in sorted(rows.items()):
    print(f"{name},{count}")
PROGRAM
"$tracetta" query -q --format=csv "$work/t.fxt" \
    "SELECT s.name, count(*) n FROM slice s JOIN event e ON e.id = s.arg_set_id WHERE e.kind <> 'instant' GROUP BY 1 ORDER BY 1" >"$work/found"
cmp "$work/expected" "$work/found" >"$work/.err" 2>&1
verdict "spans_are_those_of_stat" $? "$(diff "$work/expected" "$work/found" | head -5)"

# Conditions and orders that the scan applies give what SQLite itself gives with them hidden.
for condition in "ts > 1000000" "ts BETWEEN 200000 AND 900000" "dur = 0" "name = 'no such name'" "depth >= 1 AND dur < 5000" \
    "utid = 2" "id < 17" "parent_id = 3" "ts >= 1e3" "name IS NULL"; do
    hidden=$(sed -E 's/\b(ts|dur|name|depth|utid|id|parent_id)\b/+\1/g' <<<"$condition")
    query --format=tsv "SELECT * FROM slice WHERE $condition ORDER BY ts, id" >"$work/scan"
    query --format=tsv "SELECT * FROM slice WHERE $hidden ORDER BY +ts, +id" >"$work/full"
    cmp -s "$work/scan" "$work/full"
    verdict "scan_with_${condition// /_}_is_exact" $? "$(diff "$work/scan" "$work/full" | head -3)"
done

# Leaves give what SQLite alone gives.
"$compare" "$work/t.fxt" 7 500 >"$work/found"
verdict "random_statements_have_equal_results_with_leaves" $? "$(tail -n 5 "$work/found")"
"$compare" "$work/t.fxt" "$(dirname "$0")/query_leaves.sql" >"$work/found"
verdict "tricky_statements_have_equal_results_with_leaves" $? "$(tail -n 5 "$work/found")"
says "explain_shows_leaves" "groups of slice: SELECT name" "$tracetta" query -q --format=tsv "$work/t.fxt" "EXPLAIN QUERY PLAN SELECT name, count(*) FROM slice GROUP BY 1"
refuses "table_with_an_argument_is_refused" 2 "has no arguments" "$tracetta" query -q "$work/t.fxt" "SELECT * FROM slice(5)"

says "stats_count_the_events" "^3000$" "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT value FROM stats WHERE name = 'events'"
# Durations and times are numbers beside columns of integers.
while IFS='|' read -r name condition number; do
    query --format=tsv "SELECT count(*) FROM slice s WHERE $condition" >"$work/found" 2>&1
    query --format=tsv "SELECT count(*) FROM slice s WHERE $number" >"$work/expected" 2>&1
    cmp -s "$work/expected" "$work/found" && [ "$(tail -n 1 "$work/found")" -gt 0 ]
    verdict "$name" $? "$(cat "$work/found" "$work/expected")"
done <<'LITERALS'
duration_is_a_literal|dur >= '5us'|dur >= 5000
time_counts_from_the_start|ts > '+0.1ms'|ts > 100000 + (SELECT start_ts FROM trace_bounds)
duration_can_be_on_the_left|'1ms' > s.dur|dur < 1000000
between_has_two_literals|ts BETWEEN '+0s' AND '+100us'|ts <= 100000 + (SELECT start_ts FROM trace_bounds)
LITERALS
says "texts_stay_texts" "^1	0$" "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT '5ms' = '5ms' a, count(*) b FROM slice WHERE name = '5ms'"
head -c 20000 "$work/t.fxt" >"$work/cut.fxt"
"$tracetta" query -q --format=tsv "$work/cut.fxt" "SELECT code FROM damage WHERE severity = 'damage'" >"$work/found" 2>/dev/null
grep -q '^fxt[.]truncated' "$work/found"
verdict "damage_is_a_table" $? "$(cat "$work/found")"

says "percentile_interpolates" "^25\.5$" "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT percentile(column1, 50) FROM (VALUES (1), (50), (2), (49))"
says "json_is_a_list_of_objects" '"n": 1' "$tracetta" query -q --format=json "$work/t.fxt" "SELECT 1 n"
says "markdown_has_a_rule" '^\| --- \| --- \|$' "$tracetta" query -q --format=markdown "$work/t.fxt" "SELECT 1 a, 'b|c' b"
says "csv_quotes_what_needs_it" '^"a,""b"""' "$tracetta" query -q --format=csv "$work/t.fxt" "SELECT 'a,\"b\"' x"
printf 'SELECT 1 one;\n-- a comment\nSELECT 2 two;\n' >"$work/script.sql"
says "scripts_run_all_statements" "^  2$" "$tracetta" query -q --file="$work/script.sql" "$work/t.fxt"

for comment in "-- a comment" "/* a comment */ ; -- another" "/* without an end"; do
    succeeds "comment_after_the_last_statement_is_fine_${comment// /_}" "$tracetta" query -q "$work/t.fxt" "SELECT 1 one; $comment"
    succeeds "file_has_one_statement_with_${comment// /_}" "$tracetta" query -q -f -o "$work/one.parquet" "$work/t.fxt" "SELECT 1 one; $comment"
done
echo "-- only a comment;" >"$work/comment.sql"
refuses "comment_is_not_a_statement" 2 "there is no statement" "$tracetta" query -q --file="$work/comment.sql" "$work/t.fxt"
says "statement_can_begin_with_a_comment" "^2$" "$tracetta" query -q --format=tsv "$work/t.fxt" "/* one; */ SELECT 1 a; -- two;
SELECT 2 b"

for option in window timeout; do
    refuses "negative_${option}_is_refused" 2 "expected a duration" "$tracetta" query -q --$option=-1s "$work/t.fxt" "SELECT 1 x"
done
# Statements end when the reader of their rows ends.
endless="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
for format in table csv tsv json jsonl markdown; do
    timeout 60 "$tracetta" query -q --format=$format "$work/t.fxt" "$endless" 2>"$work/.err" | head -n 3 >"$work/found"
    [ "${PIPESTATUS[0]}" != 124 ] && [ "$(wc -l <"$work/found")" = 3 ]
    verdict "closed_pipe_ends_a_statement_as_$format" $? "$(cat "$work/.err")"
done
if [ -w /dev/full ]; then
    timeout 60 "$tracetta" query -q --format=csv "$work/t.fxt" "$endless" >/dev/full 2>"$work/.err"
    [ $? = 4 ] && grep -q "cannot write" "$work/.err"
    verdict "full_disk_ends_a_statement" $? "$(cat "$work/.err")"
else
    skip "full_disk_ends_a_statement" "needs /dev/full"
fi

# Joins of intervals are those of all pairs that SQLite compares.
query --format=tsv --file="$(dirname "$0")/query_spans.sql" >"$work/spans" 2>"$work/.err"
while read -r name by_pairs; do
    grep "^$name	" "$work/spans" | cut -f 2- >"$work/found"
    grep "^$by_pairs	" "$work/spans" | cut -f 2- >"$work/expected"
    [ -s "$work/expected" ] && cmp -s "$work/expected" "$work/found"
    verdict "joined_intervals_are_those_of_all_pairs_$name" $? "$(diff "$work/expected" "$work/found" | head -3)"
done <<'PAIRS'
inner brute
left leftx
outer outerx
intersect brute2
PAIRS
# stops NAME PATTERN COMMAND...: the command fails while it computes rows, and says PATTERN.
stops()
{
    run "${@:3}"
    [ $run_status = 2 ] && grep -qE "$2" "$work/.err"
    verdict "$1" $? "exit status $run_status"
}
says "macro_sees_common_tables_before_it" "^[1-9]" "$tracetta" query -q --format=tsv "$work/t.fxt" \
    "WITH a AS (SELECT id, ts, dur, utid FROM slice WHERE depth = 0) SELECT count(*) FROM interval_intersect!((a, (SELECT id, ts, dur, utid FROM sched)), (utid)); -- end"
stops "overlapping_rows_are_refused_by_span_join" "overlap at ts [0-9]+" "$tracetta" query "$work/t.fxt" \
    "CREATE TEMP VIEW s AS SELECT ts, dur, utid, name FROM slice; CREATE VIRTUAL TABLE temp.x USING span_join(s PARTITIONED utid, sched PARTITIONED utid); SELECT count(*) FROM x"
refuses "column_of_both_tables_is_refused_by_span_join" 2 "column id is in both" "$tracetta" query "$work/t.fxt" \
    "CREATE VIRTUAL TABLE temp.x USING span_join(slice PARTITIONED utid, sched PARTITIONED utid)"
refuses "join_without_partition_of_that_name_is_refused" 2 "slice has no column nope" "$tracetta" query "$work/t.fxt" \
    "CREATE VIRTUAL TABLE temp.x USING span_join(slice PARTITIONED nope, sched PARTITIONED nope)"
stops "view_cannot_call_itself_by_intervals" "nested too deeply" "$tracetta" query "$work/t.fxt" \
    "CREATE TEMP VIEW v AS SELECT id_0 AS id, ts, dur FROM tracetta_intervals(0, 'SELECT id, ts, dur FROM v', 'SELECT id, ts, dur FROM slice'); SELECT * FROM v"
stops "intervals_come_from_a_select" "intervals come from a SELECT" "$tracetta" query "$work/t.fxt" \
    "CREATE TEMP TABLE x AS SELECT 1 id, 2 ts, 3 dur; SELECT * FROM tracetta_intervals(0, 'DELETE FROM x')"

# Arguments by key are those of table args.
query --format=tsv "SELECT int_value, count(*) FROM args WHERE key = 'key_5' AND int_value IS NOT NULL
    AND rowid IN (SELECT min(rowid) FROM args WHERE key = 'key_5' GROUP BY arg_set_id) GROUP BY 1 ORDER BY 1" | tail -n +2 >"$work/expected"
query --format=tsv "SELECT arg('key_5') AS v, count(*) FROM event WHERE typeof(v) = 'integer' GROUP BY 1 ORDER BY 1" | tail -n +2 >"$work/found"
[ -s "$work/expected" ] && cmp -s "$work/expected" "$work/found"
verdict "arguments_of_a_key_are_those_of_args" $? "$(diff "$work/expected" "$work/found" | head -3)"
says "prefix_of_a_key_may_be_that_of_perfetto" "^[1-9]" "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT count(extract_arg(arg_set_id, 'args.key_5')) n FROM slice"
says "unknown_argument_is_null" "^0$" "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT count(arg('no such key')) n FROM slice"
says "histogram_counts_between_powers_of_two" '^\[\[null,0,1\],\[0,1,2\],\[1,2,1\],\[2,4,2\],\[4,8,0\],\[8,16,1\]\]$' \
    "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT histogram(column1) h FROM (VALUES (0), (0.5), (1), (2), (3), (8), (-1), (NULL))"

# An event that has a field twice is one event of the field; table args has both.
says "events_of_a_field_are_counted_once" "^[1-9][0-9]*	0$" "$tracetta" query -q --format=tsv "$work/t.fxt" "SELECT (SELECT count(*) FROM (SELECT 1 FROM args GROUP BY arg_set_id, key HAVING count(*) > 1)),
    (SELECT sum(f.events) FROM field f) - (SELECT count(*) FROM (SELECT DISTINCT arg_set_id, key FROM args))"

# One limit of memory is for tables and statements.
numbers="WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 200000)"
refuses "statement_beyond_the_limit_of_memory_is_refused" 4 "more memory than --memory leaves" "$tracetta" query -q --memory=4MiB "$work/t.fxt" "$numbers SELECT percentile(n, 50) p FROM r"
says "percentile_has_memory_without_a_limit" '^100000\.5$' "$tracetta" query -q --format=tsv "$work/t.fxt" "$numbers SELECT percentile(n, 50) p FROM r"
says "sorting_uses_files_beyond_the_limit" '^99999-------------------------$' "$tracetta" query -q --format=tsv --memory=4MiB "$work/t.fxt" \
    "$numbers SELECT max(x) m FROM (SELECT n || '-------------------------' x FROM r ORDER BY x LIMIT -1 OFFSET 1)"
for statement in "SELECT * FROM slice WHERE dur > 0" "SELECT name, depth, count(*), percentile(dur, 99) FROM slice GROUP BY 1, 2 ORDER BY 1, 2"; do
    query --format=csv "$statement" >"$work/expected"
    same "answers_are_equal_with_little_memory_${#statement}" "$work/expected" "$tracetta" query -q --format=csv --memory=4MiB "$work/t.fxt" "$statement"
done
refuses "column_that_an_intersection_lacks_has_a_caret" 2 '^ {46}\^$' "$tracetta" query "$work/t.fxt" "SELECT * FROM interval_intersect!((slice), (nope))"

# Declared classes are found by name: the time of the question stays near that of reading the metadata.
mkdir "$work/classes" && awk 'BEGIN {
    print "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { event.header := struct { integer { size = 32; align = 8; } id; }; };"
    for (i = 0; i < 80000; i++) print "event { id = " i "; name = \"e" i "\"; };" }' >"$work/classes/metadata"
: >"$work/classes/stream"
TIMEFORMAT=%U
reading=$( { time "$tracetta" query -q --no-cache "$work/classes" "SELECT 1 x" >"$work/.out"; } 2>&1)
asking=$( { time "$tracetta" query -q --no-cache --format=tsv "$work/classes" "SELECT count(*) n FROM class" >"$work/.out"; } 2>&1)
[ "$(tail -n 1 "$work/.out")" = 80000 ] && awk -v a="$asking" -v b="$reading" 'BEGIN { exit !(a < 3 * b + 0.2) }'
verdict "classes_are_found_in_linear_time" $? "$asking s, $reading s for the metadata alone"

# Inputs with names are schemas.
"$generate" --events 2000 --seed 6 --mix bench "$work/u.fxt" || exit 1
query --format=tsv "SELECT name, count(*), sum(dur) FROM slice GROUP BY 1 ORDER BY 1" | tail -n +2 | sed 's/^/a\t/' >"$work/expected"
"$tracetta" query -q --format=tsv "$work/u.fxt" "SELECT name, count(*), sum(dur) FROM slice GROUP BY 1 ORDER BY 1" | tail -n +2 | sed 's/^/b\t/' >>"$work/expected"
"$tracetta" query -q --format=tsv a="$work/t.fxt" b="$work/u.fxt" \
    "SELECT 'a', name, count(*), sum(dur) FROM a.slice GROUP BY 2 UNION ALL SELECT 'b', name, count(*), sum(dur) FROM b.slice GROUP BY 2 ORDER BY 1, 2" |
    tail -n +2 >"$work/found"
cmp -s "$work/expected" "$work/found"
verdict "named_inputs_are_schemas" $? "$(diff "$work/expected" "$work/found" | head -3)"
says "tables_of_named_inputs_are_listed" "^schema b: " "$tracetta" query a="$work/t.fxt" b="$work/u.fxt"
refuses "inputs_with_and_without_names_are_refused" 2 "all 2 need one" "$tracetta" query a="$work/t.fxt" "$work/u.fxt" "SELECT 1 x"
refuses "reserved_schema_is_refused" 3 "a schema has a name" "$tracetta" query main="$work/t.fxt" "SELECT 1 x"
"$tracetta" query -q --format=tsv - "SELECT count(*) FROM event" <"$work/t.fxt" >"$work/found" 2>"$work/.err"
[ "$(tail -n 1 "$work/found")" = 3000 ]
verdict "standard_input_is_read" $? "$(cat "$work/found")"

refuses "wrong_column_names_the_nearest" 2 "no such column: nme \(did you mean name" "$tracetta" query "$work/t.fxt" "SELECT nme FROM slice"
refuses "argument_without_quotes_is_explained" 2 "use arg\('key_5'\)" "$tracetta" query "$work/t.fxt" "SELECT arg(key_5) FROM slice"
# 64 tokens, for which there is exactly room: nothing after the last one is read.
refuses "argument_without_end_is_explained" 2 "use arg\('key'\)" "$tracetta" query "$work/t.fxt" "SELECT $(printf '1 + %.0s' {1..30})arg("
refuses "intersection_of_six_tables_is_explained" 2 "a list of one to 5 tables" "$tracetta" query "$work/t.fxt" \
    "SELECT count(*) FROM interval_intersect!((slice, slice, slice, slice, slice, slice), (utid))"
refuses "caret_after_a_macro_is_below_the_column" 2 '^ {26}\^$' "$tracetta" query "$work/t.fxt" "SELECT arg('key_5'), 1, nope FROM slice"
for format in table csv tsv json markdown; do
    refuses "statement_that_fails_at_once_prints_no_head_as_$format" 2 "integer overflow" \
        "$tracetta" query --format=$format "$work/t.fxt" "SELECT abs(-9223372036854775807 - 1) n"
done
# Names of columns are the text of the statement, although durations and arguments are replaced in it.
echo "arg('key_5'),dur > '5us',max(dur > '1us'),ms,x" >"$work/expected"
same "columns_have_the_text_of_the_statement_as_names" "$work/expected" \
    "$tracetta" query -q --format=csv "$work/t.fxt" "SELECT arg('key_5'), dur > '5us', max(dur > '1us')  , max(arg('key_5')) ms, '1s' < dur AS x FROM slice WHERE 0 GROUP BY 1"
printf '%s\n' "arg('a'),(SELECT arg('b') FROM slice)" , >"$work/expected"
same "columns_of_each_part_keep_their_order" "$work/expected" \
    "$tracetta" query -q --format=csv "$work/t.fxt" "SELECT DISTINCT arg('a'), (SELECT arg('b') FROM slice) FROM slice UNION SELECT NULL, arg('c') FROM slice ORDER BY arg('a')"
refuses "two_operands_of_sql_are_refused" 2 "separate several statements" "$tracetta" query "$work/t.fxt" "SELECT 1 x" "SELECT 2 y"
refuses "output_needs_a_statement" 2 "output needs a statement" "$tracetta" query "$work/t.fxt" -o "$work/none.parquet"
refuses "format_needs_a_statement" 2 "format needs a statement" "$tracetta" query "$work/t.fxt" --format=csv
refuses "window_of_no_time_is_refused" 2 "a duration above 0" "$tracetta" query --window=0s "$work/t.fxt" "SELECT 1 x"
refuses "caret_is_below_the_missing_table" 2 '^                +\^$' "$tracetta" query "$work/t.fxt" "SELECT 1 FROM slic"
refuses "wrong_statement_has_a_caret" 2 '\^' "$tracetta" query "$work/t.fxt" "SELEC 1 x"
refuses "control_characters_of_a_statement_are_escaped" 2 "^  SELECT nope, '.x1b\[31m'\$" "$tracetta" query "$work/t.fxt" $'SELECT nope, \'\x1b[31m\''
refuses "control_characters_of_a_condition_are_escaped" 2 '^  name=.x1b\[31m$' "$tracetta" cat "$work/t.fxt" --where=$'name=\x1b[31m'
refuses "caret_is_below_the_character" 2 '^         \^$' "$tracetta" query "$work/t.fxt" $'SELECT nope, \'\x1b\''
refuses "caret_counts_escaped_characters" 2 '^ {16}\^$' "$tracetta" query "$work/t.fxt" $'SELECT \'\x1b\',nope'
if script -qec true /dev/null >/dev/null 2>&1; then
    names=$(printf "'%090d', " 1 2)
    for statement in "SELECT $names nope" "SELECT nope, $names 1" "SELECT $names nope, $names 1"; do
        run env COLUMNS=50 TERM=xterm PAGER=cat script -qec "'$tracetta' query -q '$work/t.fxt' \"$statement\"" /dev/null
        tr -d '\r' <"$work/.out" | grep -A 1 '^  .*nope' >"$work/found"
        [ "$(wc -l <"$work/found")" = 2 ] && [ "$(wc -L <"$work/found")" -lt 50 ] && grep -q '[.][.][.]' "$work/found" &&
            awk 'NR == 1 { at = index($0, "nope") } NR == 2 { exit index($0, "^") != at }' "$work/found"
        verdict "long_statement_is_cut_around_the_caret_to_the_width_${#statement}" $? "$(cat "$work/found")"
    done
else
    skip "long_statement_is_cut_around_the_caret_to_the_width" "no script(1)"
fi
refuses "files_cannot_be_attached" 2 "not authorized" "$tracetta" query "$work/t.fxt" "ATTACH '$work/x.db' AS x"
refuses "tables_cannot_be_written" 2 "not authorized|may not be modified" "$tracetta" query "$work/t.fxt" "DELETE FROM slice WHERE 1"
refuses "pragmas_are_refused" 2 "not authorized" "$tracetta" query "$work/t.fxt" "PRAGMA database_list ;"
refuses "statement_without_a_trace_is_refused" 2 "expected a trace" "$tracetta" query "SELECT 1 x"
refuses "unknown_format_is_refused" 2 "table\|csv" "$tracetta" query --format=xml "$work/t.fxt" "SELECT 1 x"
run timeout -s INT -k 20 2 "$tracetta" query -q "$work/t.fxt" "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
[ $run_status != 137 ] # killed
verdict "endless_statement_ends_by_a_signal" $? "exit status $run_status"

if [ -n "$corpus" ] && [ -d "$corpus/ctf/tracecompass/many-threads" ]; then
    "$tracetta" query -q --format=tsv "$corpus/ctf/tracecompass/many-threads" \
        "SELECT next_comm, count(*) n FROM sched_switch GROUP BY 1 ORDER BY 2 DESC, 1" >"$work/found"
    "$tracetta" cat -q --raw --style=babeltrace2 --name=sched_switch "$corpus/ctf/tracecompass/many-threads" |
        grep -o 'next_comm = "[^"]*"' | sed 's/next_comm = "//; s/"$//' | LC_ALL=C sort | uniq -c |
        awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }' | LC_ALL=C sort -t "$(printf '\t')" -k2,2nr -k1,1 | sed '1i next_comm\tn' >"$work/expected"
    cmp -s "$work/expected" "$work/found"
    verdict "class_table_of_a_recorded_kernel_trace_counts_its_events" $? "$(diff "$work/expected" "$work/found" | head -3)"
else
    skip "class_table_of_a_recorded_kernel_trace_counts_its_events" "no recorded traces"
fi

# stat --histogram counts what SQL counts.
"$tracetta" query -q --format=csv "$work/t.fxt" "SELECT count(*), total(CASE WHEN dur > 0 THEN dur END) FROM slice WHERE name GLOB '*_1*'" | tail -n 1 >"$work/expected"
"$tracetta" stat -q --histogram='*_1*' --limit=7 --json "$work/t.fxt" >"$work/histogram.json"
"$python" - "$work/histogram.json" "$work/expected" >"$work/.out" 2>&1 <<'PROGRAM'
import json, sys
it, (count, total) = json.load(open(sys.argv[1])), open(sys.argv[2]).read().split(",")
assert len(it["parts"]) == 7 and sum(part["count"] for part in it["parts"]) == int(count) > 0, (it, count)
assert abs(sum(part["total"] for part in it["parts"]) - float(total)) < 10
assert [part["from"] for part in it["parts"]] == [i * it["width"] for i in range(7)]
PROGRAM
verdict "histogram_counts_what_sql_counts" $? ""
says "histogram_has_bars" "^ +0 ns +[0-9,]+ .* #+$" "$tracetta" stat -q --histogram='*_1*' "$work/t.fxt"
refuses "histogram_of_no_event_is_empty" 1 "no span or instant has a name like .none." "$tracetta" stat --histogram="none'" "$work/t.fxt"

# A live input is read for a window of time.
(cat "$work/t.fxt" && exec sleep 10) 2>/dev/null | "$tracetta" query -q --format=csv --window=1s - "SELECT count(*) FROM event" >"$work/.out" 2>"$work/.err" &
reader=$!
await is_gone $reader
[ "$(tail -n 1 "$work/.out")" = 3000 ]
verdict "window_ends_a_live_input" $? "$(cat "$work/.err")"

# Repeated answers are over all events so far, or over those of the window.
rows()
{
    [ "$(wc -l <"$work/.out")" -ge "$1" ]
}
for window in "" --window=200ms; do
    mkfifo "$work/live$window"
    "$tracetta" query -q --format=csv --every=200ms $window "$work/live$window" "SELECT count(*) n FROM event" >"$work/.out" 2>"$work/.err" &
    reader=$!
    exec 7>"$work/live$window"
    cat "$work/t.fxt" >&7
    grows()
    {
        grep -qx 3000 "$work/.out"
    }
    await grows
    before=$(wc -l <"$work/.out")
    await rows $((before + 2))
    cat "$work/t.fxt" >&7
    exec 7>&-
    wait $reader
    status=$?
    last=$([ -n "$window" ] && echo 3000 || echo 6000) quiet=$([ -n "$window" ] && echo 0 || echo 3000)
    [ $status = 0 ] && [ "$(grep -c n "$work/.out")" = 1 ] && [ "$(tail -n 1 "$work/.out")" = "$last" ] &&
        [ "$(sed -n "$((before + 2))p" "$work/.out")" = "$quiet" ]
    verdict "answers_are_repeated${window:+_over_a_window}" $? "exit status $status"
done
mkfifo "$work/idle"
"$tracetta" query -q --every=100ms "$work/idle" "SELECT count(*) n FROM event" >"$work/.out" 2>"$work/.err" &
reader=$!
strays+=("$reader")
exec 7>"$work/idle"
cat "$work/t.fxt" >&7
await rows 3
kill -TERM $reader
wait $reader
status=$?
exec 7>&-
verdict "repeated_answers_end_by_a_signal" $status "$(cat "$work/.err")"
says "file_that_ends_has_one_answer" '^3000$' "$tracetta" query -q --every=10s --format=tsv "$work/t.fxt" "SELECT count(*) n FROM event"
says "period_shorter_than_an_answer_ends" '^3000$' timeout -k 1 20 "$tracetta" query -q --every=1ns --format=tsv "$work/t.fxt" "SELECT count(*) n FROM event"
mkfifo "$work/open"
exec 7<>"$work/open"
head -c 30000 "$work/t.fxt" >&7
refuses "unknown_function_is_reported_before_the_input_ends" 2 "no such function: nope" timeout 20 "$tracetta" query -q --every=100ms "$work/open" "SELECT nope(1) FROM event"
exec 7>&-
refuses "repeated_statement_with_an_error_is_refused" 2 "no such column: nope" "$tracetta" query -q --every=10s "$work/t.fxt" "SELECT nope FROM event"
says "column_of_a_later_event_is_waited_for" '^1$' "$tracetta" query -q --every=10ms --format=tsv - "SELECT count(key_5) n FROM Example__operation_134" < <(sleep 0.3 && cat "$work/t.fxt")
while read -r name options; do
    # shellcheck disable=SC2086 # options are words
    refuses "$name" 2 "every|above 0" "$tracetta" query --every=1s $options "$work/t.fxt" "SELECT 1 x"
done <<'EXCLUDED'
window_below_the_period_is_refused --window=100ms
window_of_many_periods_is_refused --window=100s
shell_has_no_repeated_answers -i
file_has_no_repeated_answers --format=parquet
no_period_is_refused --every=0s
EXCLUDED
