#!/bin/bash
# Commands that measure: stat and tree.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
trace=$work/nested.fxt
"$hexa_cat" "$(dirname "$0")/traces/nested_fxt.hexa" >"$trace"

# json NAME EXPRESSION COMMAND...: it exits with 0 and prints JSON of which a Python expression over `it` holds.
json()
{
    local name=$1 expression=$2
    shift 2
    run "$@"
    [ $run_status = 0 ] && /usr/bin/python3 -c 'import json, sys
it = json.load(open(sys.argv[1]))
rows = {row["name"]: row for row in it["rows"]}
sys.exit(not eval(sys.argv[2]))' "$work/.out" "$expression" 2>>"$work/.err"
    verdict "$name" $? "exit status $run_status, wanted $expression from: $*"
}

json "stat_measures_spans" "it['schema'] == 'tracetta.stat/1' and rows['load']['count'] == 2 and rows['load']['total_ns'] == 4000 \
and rows['load']['min_ns'] == 1000 and rows['load']['max_ns'] == 3000 and rows['load']['provider'] == 'demo'" "$tracetta" stat --json "$trace"
json "own_time_is_without_that_of_children" "rows['main']['total_ns'] - rows['main']['self_ns'] == 4000" "$tracetta" stat --json "$trace"
json "a_begin_without_an_end_is_unfinished" "rows['main']['unfinished'] == 1" "$tracetta" stat --json "$trace"
json "stat_takes_filters" "list(rows) == ['load']" "$tracetta" stat --json --name=load "$trace"
json "stat_sorts_by_a_column" "[r['count'] for r in it['rows']] == sorted((r['count'] for r in it['rows']), reverse=True)" \
    "$tracetta" stat --json --sort-by=count "$trace"
json "stat_sorts_by_name" "[r['name'] for r in it['rows']] == sorted(r['name'] for r in it['rows'])" \
    "$tracetta" stat --json --sort-by=name "$trace"
json "stat_prints_as_many_rows_as_asked" "len(it['rows']) == 1" "$tracetta" stat --json --limit=1 "$trace"
says "stat_prints_a_table" "4\.000 us +4\.000 us .* load$" "$tracetta" stat "$trace"
says "escape_sequences_of_names_are_made_harmless" 'e\\x1b\[2J' "$tracetta" stat "$trace"
"$tracetta" stat "$trace" >"$work/table"
[ "$(wc -L <"$work/table")" -le 80 ]
verdict "stat_fits_80_columns" $? "$(cat "$work/table")"
says "stat_shows_the_column_that_orders_rows" "count .* min .*provider name" "$tracetta" stat --sort-by=min "$trace"
says "stat_shows_all_columns_on_a_wide_terminal" "rate/s +bytes .* min +p50 +p90 " env COLUMNS=160 "$tracetta" stat "$trace"
says "stat_shows_all_columns_when_verbose" "rate/s +bytes .* min +p50 +p90 " "$tracetta" stat --verbose "$trace"
refuses "a_column_must_be_one" 2 "total\|self" "$tracetta" stat --sort-by=beauty "$trace"

# Interpretation
says "formats_lists_the_rules" "^ +sched_switch$" "$tracetta" formats --rules
/usr/bin/python3 -c 'import json, subprocess, sys
rows = json.loads(subprocess.check_output([sys.argv[1], "formats", "--rules", "--json"]))["rules"]
sys.exit(not any(row["events"] == "EventCounters" and row["becomes"].startswith("counter") for row in rows))' "$tracetta"
verdict "rules_are_listed_as_json" $? "no rule EventCounters"
refuses "a_pair_has_two_names" 2 "START,END" "$tracetta" stat --pair=one "$trace"
run "$tracetta" stat --pair=no-such-event,other "$trace"
grep -q 'no event is named "no-such-event"' "$work/.err"
verdict "a_pair_without_events_is_reported" $? "$(cat "$work/.err")"
if [ -n "$corpus" ] && [ -d "$corpus/ctf/tracecompass/many-threads" ]; then
    kernel=$corpus/ctf/tracecompass/many-threads
    json "system_calls_are_spans" "rows['open']['count'] == 8192 and rows['open']['total_ns'] == 32127464" "$tracetta" stat --json "$kernel"
    json "both_names_of_an_event_select_it" "list(rows) == ['open']" "$tracetta" stat --json --name='syscall_entry_open' --name='open' "$kernel"
    json "raw_events_have_no_spans" "rows['syscall_entry_open']['kind'] == 'instant'" "$tracetta" stat --raw --json "$kernel"
    "$tracetta" cat --style=babeltrace2 "$kernel" | head -n 1000 | grep -c " syscall_entry_" >"$work/.out" 2>/dev/null
    verdict "lines_of_babeltrace2_are_raw" $? "no syscall_entry_"
else
    skip "system_calls_are_spans" "TTR_CORPUS has no many-threads"
fi

run "$tracetta" tree -q -n 1 "$trace"
[ "$(wc -l <"$work/.out")" = 3 ]
verdict "tree_with_a_limit_prints_no_more_threads" $? "$(cat "$work/.out")"
json "tree_nests_by_time" "it['schema'] == 'tracetta.tree/1' and [(r['name'], r['depth']) for r in it['rows'] if r['tid'] == 11] == \
[('main', 0), ('load', 1), ('load', 1)]" "$tracetta" tree --json "$trace"
json "parents_are_rows" "all(r['parent'] == -1 or it['rows'][r['parent']]['depth'] == r['depth'] - 1 for r in it['rows'])" \
    "$tracetta" tree --json "$trace"
json "tree_aggregates_by_path" "[(r['name'], r['count'], r['total_ns'], r['self_ns']) for r in it['rows'] if r['tid'] == 11] == \
[('main', 1, 8000, 4000), ('load', 2, 4000, 4000)]" "$tracetta" tree --json --aggregate "$trace"
json "tree_leaves_out_short_spans" "[r['dur_ns'] for r in it['rows'] if r['name'] == 'load'] == [3000]" "$tracetta" tree --json --min=2us "$trace"
json "tree_stops_at_a_depth" "all(r['depth'] == 0 for r in it['rows'])" "$tracetta" tree --json --depth=1 "$trace"
says "tree_prints_ascii_into_a_pipe" "^ 3\.000 us  3\.000 us  \`- load$" "$tracetta" tree "$trace"
says "tree_names_the_thread" "^10/11$" "$tracetta" tree "$trace"
if command -v script >/dev/null; then
    says "tree_draws_boxes_on_a_terminal" $'\xe2\x94\x94' env LANG=C.UTF-8 TERM=xterm PAGER=cat script -qec "'$tracetta' tree '$trace'" /dev/null
    says "output_on_a_terminal_goes_through_the_pager" "^paged" env TERM=xterm PAGER="sed s/^/paged/" \
        script -qec "'$tracetta' stat '$trace'" /dev/null
    /usr/bin/python3 "$(dirname "$0")/controls_make.py" "$work/controls.fxt"
    echo "SELECT name FROM slice; SELECT key, string_value FROM args" >"$work/texts.sql"
    queries=()
    for format in table csv tsv json markdown; do queries+=("query --file=$work/texts.sql --format=$format"); done
    for words in "${queries[@]}" "cat" "cat --style=babeltrace2" "cat --style=perf" "cat --style=trace-cmd" "cat --style=microsoft" "cat --format=csv" \
        "cat --format=jsonl" "convert --to=csv -o -" "convert --to=chrome -o -" "stat" "tree" "info" "info --classes"; do
        for color in always never; do
            run env LANG=C.UTF-8 TERM=xterm PAGER=cat script -qec "'$tracetta' -q --color=$color $words '$work/controls.fxt'" /dev/null
            # colours, line ends and text may come, and nothing else
            /usr/bin/python3 -c 'import re, sys
text = re.sub(rb"\x1b\[([0-2]|3[0-7])m", b"", sys.stdin.buffer.read()).replace(b"\r\n", b"\n")
names = re.search(rb"\x1b\[(31|5|7)m.{0,3}2J|\x1b\]", text)
sys.exit(bool(names or re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", text.decode("utf-8"))))' <"$work/.out"
            verdict "control_characters_do_not_reach_a_terminal:$words:$color" $? "exit status $run_status: $(cat -v "$work/.out" | head -c 500)"
        done
    done
else
    skip "tree_draws_boxes_on_a_terminal" "script is not installed"
fi

# Reading that ends in an error half-way: what came before is reported all the same.
(cat "$trace"; head -c 4096 /dev/zero | tr "\0" "\245") >"$work/broken.fxt"
run "$tracetta" stat --strict "$work/broken.fxt"
verdict "strict_stat_reports_what_came_before_the_damage" "$(grep -q ' load$' "$work/.out" && [ "$run_status" = 1 ]; echo $?)" \
    "wanted the row of load and status 1, got $run_status"
run "$tracetta" tree --strict "$work/broken.fxt"
verdict "strict_tree_reports_what_came_before_the_damage" "$(grep -q -- '- load$' "$work/.out" && [ "$run_status" = 1 ]; echo $?)" \
    "wanted the spans called load and status 1, got $run_status"

# Activities as events of EventHeader, in perf.data: starts and stops are spans, whose ids nest.
"$hexa_cat" "$(dirname "$0")/../../src/formats/nettrace/vectors/spans.hexa" >"$work/spans.nettrace"
succeeds "activities_become_events_of_eventheader" "$tracetta" convert -q --to=perf -o "$work/spans.data" "$work/spans.nettrace"
json "activities_of_eventheader_are_a_tree" "[(r['name'], r['depth'], r['dur_ns']) for r in it['rows']] == [('Request', 0, 3), ('Request', 1, 1)]" \
    "$tracetta" tree --json "$work/spans.data"
json "activities_of_eventheader_are_measured" "rows['Request']['count'] == 2 and rows['Request']['total_ns'] == 4 and rows['Request']['max_ns'] == 3" \
    "$tracetta" stat --json "$work/spans.data"
run "$tracetta" convert -q --to=chrome -o - "$work/spans.data"
/usr/bin/python3 -c 'import json, sys
it = json.load(open(sys.argv[1]))
spans = [(e["ph"], e["id"]) for e in (it["traceEvents"] if isinstance(it, dict) else it) if e["ph"] in "be"]
begun = [i for ph, i in spans if ph == "b"]
sys.exit(not (len(begun) == 2 and [i for ph, i in spans if ph == "e"] == begun[::-1]))' "$work/.out" 2>>"$work/.err"
verdict "activities_of_eventheader_are_spans_in_chrome_json" $? "wanted two begins and their ends, inside out"
run "$tracetta" convert -q --to=perfetto -o "$work/spans.pftrace" "$work/spans.data"
verdict "activities_of_eventheader_are_written_for_perfetto" "$([ "$run_status" = 0 ] && [ "$(grep -c -a -o Request "$work/spans.pftrace")" -ge 1 ]; echo $?)" \
    "wanted status 0 and the name of the span, got $run_status"
