#!/bin/bash
# Conditions on events: --where.  usage: where_test.sh TRACETTA GENERATE_FXT
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
generate=$2
: >"$work/.out" >"$work/.err"
"$generate" --events 3000 --seed 5 --mix bench "$work/t.fxt" || exit 1

# The events that a condition selects are the rows that SQLite selects from the table of events.
for condition in "name GLOB '*_1*' AND dur > 3us" "kind = 'counter' OR ts % 7 = 0" "cpu = 2" "category LIKE '%3' AND NOT dur < 1000" \
    "name IN ('Example::operation_7', 'Example::operation_9')" "level IS NULL AND offset BETWEEN 10000 AND 20000" \
    "length(name) = 20 AND substr(name, -1) = '1'" "ts / 1000 * 1000 = ts"; do
    "$tracetta" cat -q --raw --format=jsonl --where "$condition" "$work/t.fxt" | wc -l >"$work/expected"
    "$tracetta" query -q --raw --format=tsv "$work/t.fxt" "SELECT count(*) FROM event WHERE ${condition//3us/3000}" | tail -n 1 >"$work/found"
    cmp -s "$work/expected" "$work/found" && [ "$(cat "$work/found")" != 0 ]
    verdict "events_with_${condition// /_}_are_those_of_query" $? "$(paste "$work/expected" "$work/found")"
done

"$tracetta" query -q --raw --format=tsv "$work/t.fxt" "SELECT count(*) FROM (SELECT min(rowid), int_value v FROM args WHERE key = 'key_5' GROUP BY arg_set_id) WHERE v > 3" | tail -n 1 >"$work/found"
"$tracetta" cat -q --raw --format=jsonl --where "key_5 > 3 AND typeof(key_5) = 'integer'" "$work/t.fxt" | wc -l >"$work/expected"
cmp -s "$work/expected" "$work/found"
verdict "events_with_a_field_are_those_of_the_table_of_arguments" $? "$(paste "$work/expected" "$work/found")"

for command in stat tree "flame --of=spans -o $work/f.svg -f" "convert -o $work/c.fxt -f"; do
    # shellcheck disable=SC2086 # words of a command
    succeeds "condition_works_in_${command%% *}" "$tracetta" $command -q --where "dur > 2us AND name LIKE '%7'" "$work/t.fxt"
done
"$tracetta" stat -q --json --where "dur > 2us" "$work/t.fxt" >"$work/.out" 2>"$work/.err"
grep -q '"count"' "$work/.out" && ! grep -Eq '"min_ns": (1?[0-9]{1,3}|2000)[,}]' "$work/.out"
verdict "durations_in_stat_are_those_of_complete_spans" $? ""
"$tracetta" merge -q --where "kind = 'span'" "$work/t.fxt" "$work/t.fxt" -o "$work/m.fxt"
says "condition_works_in_merge" '"spans": [1-9]|"span": [1-9]' "$tracetta" info --json "$work/m.fxt"

refuses "sql_beyond_conditions_names_query" 2 "use SQL, as in \"tracetta query\"" "$tracetta" cat --where "dur > (SELECT 1)" "$work/t.fxt"
refuses "error_has_a_caret" 2 '^         \^$' "$tracetta" cat --where "name = 'a" "$work/t.fxt"
refuses "nothing_that_matches_is_status_1" 1 "no event matches" "$tracetta" cat --where "missing = 1" "$work/t.fxt"
refuses "query_has_where_in_its_statement" 2 "WHERE in the statement" "$tracetta" query --where "1" "$work/t.fxt"

if [ -n "$corpus" ] && [ -d "$corpus/ctf/tracecompass/many-threads" ]; then
    trace=$corpus/ctf/tracecompass/many-threads
    "$tracetta" query -q --raw --format=tsv "$trace" "SELECT count(*) FROM sched_switch WHERE next_prio < 0 AND prev_comm GLOB '[a-g]*'" | tail -n 1 >"$work/expected"
    "$tracetta" cat -q --raw --where "name GLOB 'sched_switch' AND next_prio < 0 AND prev_comm GLOB '[a-g]*'" "$trace" | wc -l >"$work/found"
    cmp -s "$work/expected" "$work/found" && [ "$(cat "$work/found")" != 0 ]
    verdict "fields_of_a_recorded_kernel_trace_are_those_of_its_class_table" $? "$(paste "$work/expected" "$work/found")"
else
    skip "fields_of_a_recorded_kernel_trace_are_those_of_its_class_table" "no recorded traces"
fi
