#!/bin/bash
# Commands that write: convert, merge, recover; what they refuse, and how outputs fail.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
traces=$(dirname "$0")/traces
small=$work/small.heph
broken=$work/broken.heph
"$hexa_cat" "$traces/small_heph.hexa" >"$small"
{ head -c 69 "$small"; printf 'rubbish that is no packet'; tail -c +70 "$small"; } >"$broken"

# can ABILITY FORMAT: whether a format reads or writes.
can()
{
    "$tracetta" formats | grep -E "^$2 " | grep -q "$1"
}

# ends NAME STATUS COMMAND...: it exits with this status.
ends()
{
    local name=$1 status=$2
    shift 2
    run "$@"
    [ $run_status = "$status" ]
    verdict "$name" $? "exit status $run_status, wanted $status from: $*"
}

refuses "convert_wants_an_output" 2 "no output: use -o" "$tracetta" convert "$small"
refuses "convert_wants_a_format_it_can_tell" 2 "does not name a format: use --to=FORMAT" "$tracetta" convert "$small" -o "$work/out.bin"
# Options of formats that have no part in it are a slip, most often: TARGET:OPTION:WARNINGS.
for idle in jsonl:ctf.version=2:1 jsonl:ctf.time=double:1 jsonl:fxt.anchor=yes:1 fxt:fxt.anchor=yes:0 jsonl:heph.epoch=5:0 fxt:heph.layout=auto:0; do
    IFS=: read -r target option wanted <<<"$idle"
    run "$tracetta" convert --dry-run --to="$target" --option="$option" "$small"
    [ $run_status = 0 ] && [ "$(grep -c "warning: --option=$option does nothing here: ${option%%.*} is not" "$work/.err")" = "$wanted" ]
    verdict "an_option_that_does_nothing_is_reported:$idle" $? "exit status $run_status, wanted $wanted warnings"
done
run "$tracetta" cat --style=babeltrace2 --clock-gmt --names=all "$small"
[ $run_status = 0 ] && [ ! -s "$work/.err" ]
verdict "options_that_a_style_represents_are_not_reported" $? "exit status $run_status"
mkdir "$work/no_streams" && printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n' >"$work/no_streams/metadata"
run "$tracetta" convert "$work/no_streams" -o "$work/out.pftrace"
[ $run_status = 1 ] && grep -q "no stream with data, only metadata" "$work/.err"
verdict "convert_of_a_trace_without_streams_warns_and_exits_with_1" $? "exit status $run_status: $(cat "$work/.err")"
ends "the_suffix_names_the_format" 0 "$tracetta" convert "$small" -o "$work/out.jsonl"
[ "$(wc -l <"$work/out.jsonl")" = 3 ]
verdict "convert_writes_all_events" $? "$(wc -l <"$work/out.jsonl") lines"
refuses "an_existing_file_is_not_replaced" 4 "exists already; --overwrite" "$tracetta" convert "$small" -o "$work/out.jsonl"
ends "it_is_when_asked" 0 "$tracetta" convert -f "$small" -o "$work/out.jsonl"
refuses "an_input_is_never_replaced" 2 "is an input" "$tracetta" convert -f --to=jsonl "$small" -o "$small"
says "standard_output_is_a_file_too" '"name":"other"' "$tracetta" convert --to=jsonl "$small" -o -
ends "dev_null_is_written_without_asking" 0 "$tracetta" convert --to=jsonl "$small" -o /dev/null
run "$tracetta" convert -q --to=jsonl "$small" -o "$work/quiet.jsonl"
[ $run_status = 0 ] && [ ! -s "$work/.err" ] && [ ! -s "$work/.out" ]
verdict "quiet_says_nothing" $? "exit status $run_status"
run "$tracetta" convert --dry-run --explain --to=jsonl "$small"
[ $run_status = 0 ] && [ ! -s "$work/.out" ] && grep -q 'dry run' "$work/.err"
verdict "a_dry_run_writes_nothing" $? "exit status $run_status"
refuses "a_directory_is_no_output" 4 "irectory" "$tracetta" convert -f --to=jsonl "$small" -o "$work"
refuses "a_missing_folder_is_no_output" 4 "is there such a folder\\?\\): No such file" "$tracetta" convert --to=jsonl "$small" -o "$work/no/where"
for words in "info --json $small" "cat $small" "check $small" "formats"; do
    ends "${words%% *}_tells_that_stdout_is_full" 4 bash -c "'$tracetta' $words >/dev/full"
done
ends "convert_reports_that_the_disk_is_full" 4 "$tracetta" convert --to=jsonl "$small" -o /dev/full
if can reads fxt; then
    "$hexa_cat" "$traces/small_fxt.hexa" >"$work/small.fxt"
    says "fxt_is_known_by_content" "^format +fxt" bash -c "'$tracetta' info - <'$work/small.fxt'"
fi
if can writes fxt; then
    ends "fxt_is_copied" 0 "$tracetta" convert "$work/small.fxt" -o "$work/copy.fxt"
    cmp "$work/small.fxt" "$work/copy.fxt" >/dev/null
    verdict "a_copy_of_fxt_is_the_same_bytes" $? "they differ"
fi
if can writes nettrace; then
    vectors=$(dirname "$0")/../../src/formats/nettrace
    "$hexa_cat" "$vectors/vectors-whole/order.hexa" >"$work/order.nettrace"
    events=$("$tracetta" cat --format=jsonl "$work/order.nettrace" | grep -vc '"kind":"gap"')
    ends "nettrace_is_copied" 0 "$tracetta" convert "$work/order.nettrace" -o "$work/copy.nettrace"
    cmp "$work/order.nettrace" "$work/copy.nettrace" >/dev/null
    verdict "a_copy_of_nettrace_is_the_same_bytes" $? "they differ"
    for version in 4 5 6; do
        ends "nettrace_of_version_$version" 0 "$tracetta" convert -f --option=version=$version "$small" -o "$work/v$version.nettrace"
        says "is_whole_$version" "whole \\(nettrace [46], 3 events" "$tracetta" check "$work/v$version.nettrace"
    done
    ends "nettrace_of_another_version" 0 "$tracetta" convert --option=version=6 "$work/order.nettrace" -o "$work/six.nettrace"
    diff <("$tracetta" cat --format=jsonl --kind=instant "$work/order.nettrace") <("$tracetta" cat --format=jsonl --kind=instant "$work/six.nettrace") >/dev/null
    verdict "says_the_same" $? "the events differ"
    refuses "a_version_that_is_none_is_refused" 2 "expected 4, 5 or 6" "$tracetta" convert -f --option=version=3 "$small" -o "$work/no.nettrace"
    ends "traces_are_merged_as_nettrace" 0 "$tracetta" merge "$small" "$work/order.nettrace" -o "$work/both.nettrace"
    [ "$("$tracetta" cat --format=jsonl "$work/both.nettrace" | grep -vc '"kind":"gap"')" = $((events + 3)) ]
    verdict "a_merge_has_all_events" $? "$events and 3 became $("$tracetta" cat --format=jsonl "$work/both.nettrace" | wc -l)"
    head -c $(($(wc -c <"$work/order.nettrace") - 20)) "$work/order.nettrace" >"$work/cut.nettrace"
    ends "a_trace_that_is_cut_off_is_recovered" 1 "$tracetta" recover "$work/cut.nettrace" -o "$work/good.nettrace"
    ends "and_whole_then" 0 "$tracetta" check "$work/good.nettrace"
    half=$("$tracetta" cat --format=jsonl "$work/order.nettrace" | sed -n 's/.*"time_ns":"*\(-*[0-9]*\).*/\1/p' | sort -n | sed -n $((events / 2))p)
    ends "nettrace_is_cut_by_time" 0 "$tracetta" convert --start="$half" "$work/order.nettrace" -o "$work/late.nettrace"
    diff <("$tracetta" cat --format=jsonl --kind=instant --start="$half" "$work/order.nettrace" | sed 's/"seq":[0-9]*,*//') \
        <("$tracetta" cat --format=jsonl --kind=instant "$work/late.nettrace" | sed 's/"seq":[0-9]*,*//') >/dev/null
    verdict "and_holds_the_later_events_then" $? "the events differ"
fi
if can writes perf; then
    ends "any_trace_becomes_perf_data" 0 "$tracetta" convert "$small" -o "$work/small.data"
    ends "perf_data_that_is_whole_is_recovered" 0 "$tracetta" recover "$work/small.data" -o "$work/good.data"
    cmp "$work/small.data" "$work/good.data" >/dev/null
    verdict "perf_data_that_is_whole_stays_the_same_bytes" $? "they differ"
fi
if can writes heph; then
    ends "heph_is_copied" 0 "$tracetta" convert "$small" -o "$work/copy.heph"
    cmp "$small" "$work/copy.heph" >/dev/null
    verdict "a_copy_of_heph_is_the_same_bytes" $? "they differ"

    cp "$broken" "$work/before"
    ends "recover_ends_with_1_after_a_repair" 1 "$tracetta" recover "$broken" -o "$work/good.heph"
    cmp "$small" "$work/good.heph" >/dev/null
    verdict "recover_keeps_every_good_record" $? "the recovered file is another"
    cmp "$broken" "$work/before" >/dev/null
    verdict "recover_leaves_its_input_alone" $? "the input changed"
    grep -q '"offset": 69' "$work/good.heph.damage.json"
    verdict "recover_lists_what_it_skipped" $? "no such list"
    refuses "recover_does_not_replace_files" 4 "exists already" "$tracetta" recover "$broken" -o "$work/good.heph"
    refuses "recover_never_writes_into_its_input" 2 "is an input" "$tracetta" recover -f "$broken" -o "$broken"
    ends "recover_of_a_whole_file_ends_with_0" 0 "$tracetta" recover "$work/good.heph" -o "$work/again.heph"
    cmp "$work/good.heph" "$work/again.heph" >/dev/null
    verdict "recover_twice_is_recover_once" $? "they differ"
    [ ! -e "$work/again.heph.damage.json" ]
    verdict "there_is_no_list_where_nothing_was_skipped" $? "there is one"
    refuses "recover_of_no_trace_is_an_input_failure" 3 "not a trace" "$tracetta" recover "$0" -o "$work/none"
    ends "recover_into_a_full_disk_fails" 4 "$tracetta" recover "$broken" -o /dev/full

    run "$tracetta" merge "$small" "$small" -o "$work/both.heph"
    [ $run_status = 0 ] && [ "$(grep -c '^    anchor' "$work/.err")" = 2 ]
    verdict "merge_explains_how_it_placed_inputs" $? "exit status $run_status"
    says "merge_takes_the_format_of_the_first" "^events +6$" "$tracetta" info "$work/both.heph"
    run "$tracetta" merge --offset="$small=-1s" "$small" -o "$work/moved.jsonl"
    grep -q '"time_ns":1699999999000001000,' "$work/moved.jsonl"
    verdict "merge_moves_an_input" $? "exit status $run_status"
    head -c 23 "$small" >"$work/eventless.heph" # its epoch alone
    run "$tracetta" merge --align=begin --to=jsonl "$work/eventless.heph" "$small" -o "$work/aligned.jsonl"
    grep -q '"time_ns":1700000000000001000,' "$work/aligned.jsonl"
    verdict "begins_are_put_where_the_first_input_with_events_has_its_own" $? "exit status $run_status"
    refuses "an_offset_must_name_an_input" 2 "not an input" "$tracetta" merge --offset=x=1s "$small" -o "$work/x.heph"
fi
if can writes heph && can reads fxt; then
    refuses "strict_refuses_losses" 1 "." "$tracetta" convert --strict -q "$work/small.fxt" -o "$work/lossy.heph"
    [ ! -e "$work/lossy.heph" ]
    verdict "and_leaves_no_output" $? "lossy.heph is there"
    run "$tracetta" convert "$work/small.fxt" -o "$work/lossy.heph"
    [ $run_status = 0 ] && grep -q '\[kind.counter\]$' "$work/.err"
    verdict "losses_are_reported_after_converting" $? "exit status $run_status"
    run "$tracetta" convert --explain --dry-run --to=heph "$work/small.fxt"
    [ $run_status = 0 ] && grep -q 'cannot hold everything' "$work/.err"
    verdict "losses_are_reported_before_converting_when_asked" $? "exit status $run_status"
    ends "a_part_of_fxt_is_cut_out" 0 "$tracetta" convert --start=1500 --end=+1h "$work/small.fxt" -o "$work/part.fxt"
    says "the_part_holds_what_is_in_it" "^events +2$" "$tracetta" info "$work/part.fxt"
fi
left=$(find "$work" -name '*.tmp*' -o -name '.*.heph*' -o -name '.*.jsonl*')
[ -z "$left" ]
verdict "no_temporary_file_is_left" $? "$left"

# --- Reports of --json ---

# reports NAME EXPRESSION COMMAND...: its stdout is JSON of which a Python expression over `it` holds.
reports()
{
    local name=$1 expression=$2
    shift 2
    run "$@"
    /usr/bin/python3 -c 'import json, sys
it = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$work/.out" "$expression" 2>>"$work/.err"
    verdict "$name" $? "exit status $run_status, wanted $expression from: $*"
}

reports "convert_reports_as_json" "it['schema'] == 'tracetta.convert/1' and it['events'] == 3 and it['status'] == 0 and it['format'] == 'fxt' \
and it['bytes'] > 0 and it['losses'][0]['code'] and it['inputs'][0]['format'] == 'heph'" "$tracetta" convert --json "$small" -o "$work/json.fxt"
reports "convert_without_a_match_reports_status_1" "it['events'] == 0 and it['status'] == 1" "$tracetta" convert --json --name=nothing "$small" -o "$work/none.fxt"
reports "dry_run_reports_as_json" "it['dry_run'] and it['events'] == 3" "$tracetta" convert --json --dry-run --to=fxt "$small"
reports "merge_reports_where_inputs_are" "it['schema'] == 'tracetta.merge/1' and len(it['inputs']) == 2 and it['inputs'][0]['written'] == 3 \
and it['inputs'][0]['begin_time'].startswith('2023-11-14T') and it['events'] == 6" "$tracetta" merge --json "$small" "$small" -o "$work/json.heph"
reports "recover_reports_as_json" "it['schema'] == 'tracetta.recover/1' and it['status'] == 1 and it['traces'] == 1 and it['failed'] == 0 \
and it['events'] == 3 and it['damage']['regions'] == 1" "$tracetta" recover --json "$broken" -o "$work/json.good"
for command in "convert --to=fxt" "merge --to=fxt" recover; do
    # shellcheck disable=SC2086
    refuses "json_and_a_trace_cannot_share_stdout:${command%% *}" 2 "standard output is the trace" "$tracetta" $command --json "$small" -o -
done

# --- Truncated inputs ---
head -c 150 "$small" >"$work/cut.heph"
run "$tracetta" check "$work/cut.heph"
grep -q 'damage reaches the end of a file, so more may be missing' "$work/.out" && ! grep -q '%' "$work/.out"
verdict "check_of_a_truncated_trace_has_no_percentage" $? "$(cat "$work/.out")"
reports "check_of_a_truncated_trace_says_so_in_json" "it['ends_early']" "$tracetta" check --json "$work/cut.heph"
