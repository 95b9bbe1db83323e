#!/bin/bash
# Commands that tell where time goes: flame and report topn.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
trace=$work/nested.fxt
"$hexa_cat" "$(dirname "$0")/traces/nested_fxt.hexa" >"$trace"

# python NAME EXPRESSION FILE: a Python expression over `it` (its JSON, or text where that is none) holds.
python()
{
    /usr/bin/python3 -c 'import json, sys
text = open(sys.argv[1], "rb").read()
try:
    it = json.loads(text)
except ValueError:
    it = text.decode("utf-8", "replace")
sys.exit(not eval(sys.argv[2]))' "$3" "$2" >"$work/.out" 2>"$work/.err"
    verdict "$1" $? "wanted $2 of: $(head -c 2000 "$3")"
}

printf 'e [2J 500\nmain 7000\nmain;load 4000\n' >"$work/folded"
same "folded_stacks_of_spans_have_their_own_time" "$work/folded" "$tracetta" flame -q --to=folded "$trace" -o -
run "$tracetta" flame -q --threads --to=folded --thread=11 --name=load "$trace" -o -
verdict "threads_are_above_frames_on_request" "$(grep -qx 'Process (10);Thread (11);load 4000' "$work/.out"; echo $?)" "no such line"

succeeds "a_suffix_tells_speedscope" "$tracetta" flame -q "$trace" -o "$work/a.speedscope.json"
python "speedscope_has_a_profile_per_thread" "[p['type'] for p in it['profiles']] == ['evented', 'evented'] and it['profiles'][0]['unit'] == 'nanoseconds'" \
    "$work/a.speedscope.json"
python "speedscope_opens_and_closes_in_order" "[(e['type'], it['shared']['frames'][e['frame']]['name'], e['at']) for e in it['profiles'][1]['events']] == \
[('O', 'Process (10)', 0), ('O', 'Thread (11)', 0), ('O', 'main', 0), ('O', 'load', 1000), ('C', 'load', 2000), ('O', 'load', 3000), \
('C', 'load', 6000), ('C', 'main', 8000), ('C', 'Thread (11)', 8000), ('C', 'Process (10)', 8000)]" "$work/a.speedscope.json"
succeeds "threads_merged_are_sampled" "$tracetta" flame -q --merge "$trace" -o "$work/m.speedscope.json"
python "sampled_weights_sum_up" "it['profiles'][0]['type'] == 'sampled' and sum(it['profiles'][0]['weights']) == it['profiles'][0]['endValue'] == 11500" \
    "$work/m.speedscope.json"
succeeds "firefox_profiles_are_written" "$tracetta" flame -q "$trace" -o "$work/a.json"
python "firefox_tables_have_their_lengths" "all(len(column) == table['length'] for t in it['threads'] for table in \
(t['samples'], t['stackTable'], t['frameTable'], t['funcTable']) for column in table.values() if isinstance(column, list))" "$work/a.json"
python "firefox_samples_weigh_all_time" "[round(sum(w for w, s in zip(t['samples']['weight'], t['samples']['stack']) if s is not None), 6) for t in it['threads']] == [0.0035, 0.008]" "$work/a.json"
succeeds "flame_graphs_are_written" "$tracetta" flame -q "$trace" -o "$work/a.svg"
run /usr/bin/python3 -c 'import sys, xml.dom.minidom
boxes = [g for g in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("g") if g.getAttribute("class") == "f"]
titles = [g.getElementsByTagName("title")[0].firstChild.data for g in boxes]
sys.exit("4.00 us, 34.78 %: load" not in titles or len(boxes) != 4)' "$work/a.svg"
verdict "a_flame_graph_is_well_formed_and_names_its_frames" "$run_status" "see above"
verdict "a_flame_graph_has_a_height_of_its_own" "$(head -n 2 "$work/a.svg" | grep -q ' height="[1-9][0-9]*"'; echo $?)" "the browser shrinks it"
succeeds "pprof_files_are_written" "$tracetta" flame -q "$trace" -o "$work/a.pb.gz"
run bash -c "gzip -dc '$work/a.pb.gz' | grep -aq nanoseconds"
verdict "pprof_files_are_gzip" "$run_status" "not gzip, or without texts"

/usr/bin/python3 "$(dirname "$0")/deep_make.py" "$work/deep.fxt" 1 3000
notes="$("$tracetta" flame --to=folded "$work/deep.fxt" -o "$work/deep.folded" 2>&1)"
grep -q 'warning: stacks are cut to 512 frames: the weight of 2,488 deeper frames' <<<"$notes" &&
    [ "$(awk '{ sum += $2 } END { print sum }' "$work/deep.folded")" = 6000 ] && [ "$(wc -c <"$work/deep.folded")" -lt 1000000 ]
verdict "deep_stacks_are_cut_and_reported" $? "$notes, $(wc -c <"$work/deep.folded") bytes"

refuses "an_existing_file_is_not_replaced" 4 "exists already" "$tracetta" flame "$trace" -o "$work/a.svg"
succeeds "overwrite_replaces_it" "$tracetta" flame -q -f "$trace" -o "$work/a.svg"
refuses "a_name_must_tell_the_format" 2 "does not name a profile format: use --to=FORMAT" "$tracetta" flame "$trace" -o "$work/a.xyz"
refuses "an_output_must_be_named" 2 "no output: use -o" "$tracetta" flame "$trace"
refuses "an_input_is_never_the_output" 2 "is an input" "$tracetta" flame -f --to=svg "$trace" -o "$trace"
refuses "threads_cannot_be_apart_and_together" 2 "exclude each other" "$tracetta" flame --threads --merge "$trace" -o "$work/x.svg"
refuses "a_trace_without_samples_says_so" 1 "no samples" "$tracetta" flame --of=samples "$trace" -o "$work/x.svg"
verdict "and_leaves_no_file" "$([ ! -e "$work/x.svg" ]; echo $?)" "x.svg is there"

says "topn_prints_a_table" "^2\. load +34\.78% +34\.78%$" "$tracetta" report topn "$trace"
run "$tracetta" report topn --json --inclusive -n 1 "$trace"
cp "$work/.out" "$work/topn.json"
python "topn_orders_by_inclusive_time" "it['schema'] == 'tracetta.topn/1' and [(r['name'], r['inclusive'], r['exclusive']) for r in it['rows']] == \
[('main', 11000, 7000)]" "$work/topn.json"
refuses "a_report_must_be_one" 2 "expected topn, gc" "$tracetta" report beauty "$trace"
refuses "a_report_needs_a_file" 2 "report topn expects a file" "$tracetta" report topn
refuses "file_without_a_report_names_the_report_to_use" 2 'name of a report is missing.*use "tracetta report topn' "$tracetta" report "$trace"
for format in speedscope folded pprof firefox svg; do
    "$tracetta" flame -q --to=$format "$trace" -o "$work/of.flame" -f
    "$tracetta" convert -q --to=$format "$trace" -o "$work/of.convert" -f
    cmp -s "$work/of.flame" "$work/of.convert" && [ -s "$work/of.convert" ]
    verdict "convert_writes_${format}_as_flame_does" $? "they differ, or are empty"
done
for suffix in speedscope.json folded svg pb.gz; do
    succeeds "convert_finds_the_profile_by_its_suffix:$suffix" "$tracetta" convert -q "$trace" -o "$work/guessed.$suffix"
done
"$tracetta" convert -q "$trace" -o "$work/chrome.json"
says "json_alone_is_still_chrome" traceEvents cat "$work/chrome.json"
refuses "dry_run_is_not_for_profiles" 2 "--dry-run is not for profiles" "$tracetta" convert --dry-run --to=svg "$trace"
refuses "merge_to_a_profile_names_flame" 2 'use "tracetta flame --to=svg"' "$tracetta" merge --to=svg "$trace" "$trace" -o "$work/no.svg"
"$tracetta" report topn "$trace" >"$work/topn.txt"
[ "$(wc -L <"$work/topn.txt")" -le 80 ]
verdict "topn_fits_80_columns" $? "$(cat "$work/topn.txt")"

# Of recorded traces; how many there are of each was counted by the runtime's own reader.
mix=$corpus/nettrace/recorded/mix_default.nettrace.xz
if [ -n "$corpus" ] && [ -e "$mix" ]; then
    run "$tracetta" report gc --json "$mix"
    cp "$work/.out" "$work/gc.json"
    python "gc_finds_every_collection" "it['collections'] == 22 == len(it['rows']) and [r['number'] for r in it['rows']] == list(range(1, 23))" "$work/gc.json"
    python "pauses_hold_their_collections" "it['pauses'] == 22 and all(r['dur_ns'] < r['pause_ns'] for r in it['rows'])" "$work/gc.json"
    says "gc_prints_a_table" "^ +1 +0 .* NonConcurrentGC AllocSmall$" "$tracetta" report gc -n 1 -q "$mix"
    says "exceptions_are_counted_by_type" "^ +89 +System.InvalidOperationException: boom" "$tracetta" report exceptions "$mix"
    run "$tracetta" report threads --json "$mix"
    cp "$work/.out" "$work/threads.json"
    python "threads_are_managed_or_elsewhere" "sum(r['samples'] for r in it['rows']) == 1925 + 20149 and \
all(r['managed_ns'] + r['other_ns'] == r['total_ns'] for r in it['rows'])" "$work/threads.json"
    run "$tracetta" report counters --json "$corpus/nettrace/recorded/counters.nettrace.xz"
    cp "$work/.out" "$work/counters.json"
    python "counters_have_their_values" "{r['name']: (r['count'], r['last'], r['type']) for r in it['rows']}['gen-0-gc-count'] == (4, 13, 'Rate')" \
        "$work/counters.json"
else
    skip "gc_finds_every_collection" "no recorded traces, set TTR_CORPUS"
fi
"$hexa_cat" "$(dirname "$0")/traces/meters_nettrace.hexa" >"$work/meters.nettrace"
run "$tracetta" report counters --json "$work/meters.nettrace"
cp "$work/.out" "$work/meters.json"
python "meters_are_counters_by_their_tags" "[(r['provider'], r['name'], r['unit'], r.get('tags'), r['type'], r['count'], r['mean'], r['last']) for r in it['rows']] == \
[('Shop', 'sales', 'items', 'city=Ulm', 'Rate', 2, 3.75, 4.5), ('Shop', 'sales', 'items', 'city=Bonn', 'Rate', 1, 5, 5), ('Shop', 'queue', '', None, 'Metric', 1, 17, 17), \
('Shop', 'delay', 'ms', 'host=a,Percentile=0.5', 'Metric', 1, 2, 2), ('Shop', 'delay', 'ms', 'host=a,Percentile=0.95', 'Metric', 1, 7.5, 7.5), \
('Shop', 'open', '', None, 'Metric', 1, 40, 40)]" "$work/meters.json"
says "meters_show_their_tags" "Shop sales \(items\) \{city=Bonn\} \[rate\]$" "$tracetta" report counters -q "$work/meters.nettrace"
says "a_trace_without_a_garbage_collector_has_no_rows" "^0 collections" "$tracetta" report gc -q "$trace"
says "a_trace_without_exceptions_has_no_rows" "thrown" "$tracetta" report exceptions -q "$trace"
says "a_trace_without_counters_has_no_rows" "values" "$tracetta" report counters -q "$trace"
refuses "a_trace_without_samples_has_no_threads_to_report" 1 "no samples" "$tracetta" report threads "$trace"
for report in threads topn; do
    run "$tracetta" report "$report" --json "$work/meters.nettrace"
    cp "$work/.out" "$work/none.json"
    verdict "${report}_of_nothing_ends_with_1" "$([ "$run_status" = 1 ]; echo $?)" "exit status $run_status"
    python "${report}_of_nothing_is_a_document_all_the_same" "it['schema'] == 'tracetta.$report/1' and it['rows'] == []" "$work/none.json"
done
"$hexa_cat" "$(dirname "$0")/../../src/formats/nettrace/vectors/runtime-spans.hexa" >"$work/gc.nettrace"
says "one_collection_is_one" "^1 collection; 0 pauses " "$tracetta" report gc -q "$work/gc.nettrace"

"$hexa_cat" "$(dirname "$0")/../../src/formats/perf/vectors-whole/code.hexa" >"$work/code.data"
"$tracetta" flame -q --of=samples --to=folded "$work/code.data" -o "$work/code.folded"
"$tracetta" convert -q --to=nettrace "$work/code.data" -o "$work/code.nettrace"
same "samples_in_nettrace_keep_stacks_modules_and_weights" "$work/code.folded" \
    "$tracetta" flame -q --of=samples --to=folded "$work/code.nettrace" -o -
"$hexa_cat" "$(dirname "$0")/../../src/formats/perf/vectors-whole/symbols.hexa" >"$work/symbols.data"
"$tracetta" flame -q --of=samples --to=folded "$work/symbols.data" -o "$work/symbols.folded"
"$tracetta" convert -q --to=nettrace "$work/symbols.data" -o "$work/symbols.nettrace"
same "samples_in_nettrace_keep_names_of_functions" "$work/symbols.folded" \
    "$tracetta" flame -q --of=samples --to=folded "$work/symbols.nettrace" -o -
