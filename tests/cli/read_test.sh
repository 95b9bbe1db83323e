#!/bin/bash
# Commands that read and report: info, cat, check; files, pipes, damage, what is no trace.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
traces=$(dirname "$0")/traces
small=$work/small.heph
broken=$work/broken.heph
"$hexa_cat" "$traces/small_heph.hexa" >"$small"
"$hexa_cat" "$traces/small_fxt.hexa" >"$work/small.fxt"
{ head -c 69 "$small"; printf 'rubbish that is no packet'; tail -c +70 "$small"; } >"$broken"
mkfifo "$work/fifo"

says "a_file_alone_means_info" "^format +heph" "$tracetta" "$small"
says "info_counts_events_by_kind" "^  span +3$" "$tracetta" info "$small"
says "info_reports_the_times_of_traces_in_any_order" "^begin  *2023-11-14T22:13:20.000001" "$tracetta" info "$work/small.heph"
says "and_of_ticks" "^duration  *" "$tracetta" info "$work/small.fxt"
json "info_json_has_what_it_promises" "it['schema'] == 'tracetta.info/1' and it['format'] == 'heph' and it['events'] == 3 and it['lost'] == 0 \
and it['damage'] == {'regions': 0, 'bytes': 0} and it['kinds'] == {'span': 3} and it['begin_ns'] == 1700000000000001000 \
and it['end_ns'] == 1700000000000009000 and it['duration_ns'] == 8000 and len(it['clocks']) == 1 and it['notes'] == []" \
    "$tracetta" info --json "$small"
json "info_json_of_several_files_is_a_list" "it['schema'] == 'tracetta.info/1' and [i['events'] for i in it['inputs']] == [3, 3]" \
    "$tracetta" info --json "$small" "$small"
json "options_may_come_before_the_file" "it['events'] == 3" "$tracetta" --json "$small"
says "standard_input_is_a_file_too" "^events +3$" bash -c "'$tracetta' info - <'$small'"
says "a_pipe_will_do" "^events +3$" bash -c "cat '$small' | '$tracetta' info -"
says "a_fifo_will_do" "^events +3$" bash -c "cat '$small' >'$work/fifo' & '$tracetta' info '$work/fifo'"
says "compressed_files_will_do" "^size .*gzip" bash -c "gzip -c '$small' | '$tracetta' info -"
for format in heph fxt; do
    gzip -c "$work/small.$format" | head -c -4 >"$work/cut.$format.gz"
    run "$tracetta" check "$work/cut.$format.gz"
    [ $run_status = 1 ] && grep -q "damage input.compression x1" "$work/.out"
    verdict "a_${format}_trace_in_a_broken_stream_is_damaged" $? "exit status $run_status"
    salvages "the_events_before_the_break_of_a_${format}_stream_count" "span|begin|instant" "$tracetta" cat "$work/cut.$format.gz"
    run "$tracetta" cat --strict "$work/cut.$format.gz"
    [ $run_status = 1 ] && grep -q "gzip data ends too early" "$work/.err"
    verdict "strict_refuses_a_broken_stream_of_$format" $? "exit status $run_status"
done
refuses "standard_input_cannot_be_two_inputs" 2 "one input only" "$tracetta" cat - -

says "cat_prints_a_line_an_event" "inner .*value x" "$tracetta" cat "$small"
says "cat_prints_lines_in_the_style_of_babeltrace2" "^\[22:13:20\.000002000\] \(\+0\.000001000\) inner: \{ id = 7, name = \"value x\" \}$" \
    "$tracetta" cat --style=babeltrace2 --clock-gmt "$small"
says "cat_prints_objects_in_the_style_of_microsoft" "^\{ \"n\": \":inner\", \"id\": 7, \"name\": \"value x\", \"meta\": \{ \"time\": \"2023-11-14T22:13:20\.000002000Z\"" \
    "$tracetta" cat --style=microsoft "$small"
refuses "which_is_no_style_of_csv" 2 "is for text" "$tracetta" cat --style=microsoft --format=csv "$small"
says "the_style_takes_the_options_of_that_program" "^\[2023-11-14 22:13:23\.000002000\] inner: \{ 7, \"value x\" \}$" \
    "$tracetta" cat --style=babeltrace2 --clock-gmt --clock-date --no-delta --names=none --clock-offset=3 "$small"
says "ranges_of_time_are_read_as_there_and_both_ends_are_in_them" "^1$" bash -c "'$tracetta' cat --style=babeltrace2 --clock-gmt \
    --begin=22:13:20.000002 --end='2023-11-14 22:13:20.000002000' '$small' | grep -c inner"
says "hours_before_1970_are_of_the_day_that_had_begun" "^1$" bash -c "'$tracetta' cat --style=babeltrace2 --clock-gmt --offset='$small=-1700000000.5' \
    --begin=23:59:59.4 --end=23:59:59.500003 '$small' | grep -c inner"
says "also_both_in_one" "^1$" bash -c "'$tracetta' cat --style=babeltrace2 --timerange=[1700000000.000002,1700000000.000002] '$small' | grep -c inner"
says "and_times_of_this_program_mean_what_they_always_do" "^1$" bash -c "'$tracetta' cat --style=babeltrace2 --start=+1us --end=+2us '$small' | grep -c inner"
refuses "invalid_time_is_refused" 2 "begin cannot be \"8:15\": expected a time like" "$tracetta" cat --style=babeltrace2 --begin=8:15 "$small"
refuses "hours_are_those_of_a_day" 2 "end cannot be \"24:15\"" "$tracetta" cat --style=babeltrace2 --end=24:15 "$small"
refuses "a_range_has_two_ends" 2 "expected BEGIN,END" "$tracetta" cat --style=babeltrace2 --timerange=08:15 "$small"
refuses "and_ends_after_its_begin" 2 "ends before it begins" "$tracetta" cat --style=babeltrace2 --timerange=12,11 "$small"
refuses "end_that_is_not_a_time_is_refused" 2 "--end cannot be \"inf\"" "$tracetta" cat --end=inf "$small"
refuses "end_that_is_not_a_time_is_refused_in_other_styles" 2 "--end cannot be \"inf\"" "$tracetta" cat --style=babeltrace2 --end=inf "$small"
refuses "end_before_start_is_refused" 2 '--end is before --start: ' "$tracetta" cat --start=5 --end=4 "$small"
refuses "and_is_given_once" 2 "leave these out" "$tracetta" cat --style=babeltrace2 --timerange=11,12 --begin=11 "$small"
refuses "begin_is_start" 2 "are the same" "$tracetta" cat --style=babeltrace2 --start=11 --begin=11 "$small"
refuses "a_retry_is_a_number" 2 "retry-duration cannot be" "$tracetta" cat --style=babeltrace2 --retry-duration=soon "$small"
refuses "a_date_is_not_guessed_of_what_is_read_once" 2 "use a time with a date" bash -c "cat '$small' | '$tracetta' cat --style=babeltrace2 --begin=08:15 -"
"$tracetta" cat --style=babeltrace2 --clock-gmt --names=payload,scope "$small" >"$work/wanted"
same "lists_of_names_add_up" "$work/wanted" "$tracetta" cat --style=babeltrace2 --clock-gmt --names=payload --names=scope "$small"
"$tracetta" cat --style=babeltrace2 --clock-gmt --fields=trace:hostname,trace:domain "$small" >"$work/wanted"
same "lists_of_fields_too" "$work/wanted" "$tracetta" cat --style=babeltrace2 --clock-gmt --fields=trace:hostname --fields=trace:domain "$small"
refuses "names_are_of_the_list" 2 "names=payloads of babeltrace2: expected some of payload, context, .*, not \"payloads\"" "$tracetta" cat --style=babeltrace2 --names=payloads "$small"
refuses "fields_too" 2 "fields=trace,host of babeltrace2: expected some of trace, trace:hostname, .*, not \"host\"" "$tracetta" cat --style=babeltrace2 --fields=trace,host "$small"
refuses "end_is_a_time_of_day_only_until_midnight" 2 "end cannot be \"24:15\"" "$tracetta" cat --end=24:15 "$small"
refuses "the_options_of_a_style_want_the_style" 2 "^tracetta: --clock-seconds needs --style=babeltrace2" "$tracetta" cat --clock-seconds "$small"
refuses "the_one_that_was_given_is_reported" 2 "^tracetta: --retry-duration needs --style=babeltrace2" "$tracetta" cat --retry-duration=5 "$small"
refuses "a_style_is_for_text" 2 "leave out --format=csv" "$tracetta" cat --style=babeltrace2 --format=csv "$small"
run "$tracetta" cat --limit=2 "$small"
[ "$(wc -l <"$work/.out")" = 2 ]
verdict "cat_stops_at_its_limit" $? "$(wc -l <"$work/.out") lines"
says "a_filter_by_name_takes_globs" "^\{.*\"other\"" "$tracetta" cat --format=jsonl --name='oth*' "$small"
refuses "filter_without_a_match_exits_with_1" 1 "small.heph: no event matches the filter" "$tracetta" cat --name=nothing "$small"
for command in stat tree; do
    run "$tracetta" $command --name=nothing "$small"
    [ $run_status = 1 ] && grep -q "no event matches the filter" "$work/.err"
    verdict "filter_without_a_match_exits_with_1:$command" $? "exit status $run_status"
done
run "$tracetta" stat --json --name=nothing "$small"
[ $run_status = 1 ] && /usr/bin/python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["rows"] != [])' "$work/.out"
verdict "filter_without_a_match_prints_a_valid_document" $? "exit status $run_status"
run "$tracetta" convert --name=nothing "$small" -o "$work/nothing.fxt"
[ $run_status = 1 ] && grep -q "no event matches the filter" "$work/.err" && "$tracetta" check --quiet "$work/nothing.fxt" >/dev/null
verdict "filter_without_a_match_writes_a_valid_output" $? "exit status $run_status"
if command -v script >/dev/null; then
    says "progress_is_shown_on_a_terminal" "small.heph: no event matches the filter" script -qec "'$tracetta' cat --name=nothing '$small'; true" /dev/null
    run script -qec "'$tracetta' cat --quiet --name=nothing '$small'; '$tracetta' cat --name='oth*' '$small'" /dev/null
    [ $run_status = 0 ] && ! grep -q "no event" "$work/.out"
    verdict "hint_is_omitted_if_events_pass_or_quiet_is_given" $? "it was told"
else
    skip "progress_is_shown_on_a_terminal" "script is not installed"
fi
refuses "a_limit_of_records_is_not_below_usual_ones" 2 "max-record cannot be less than 64KiB" "$tracetta" cat --max-record=1 "$small"
succeeds "a_limit_of_records_that_none_reaches_changes_nothing" "$tracetta" cat --max-record=64KiB "$small"
run "$tracetta" cat --name='oth*' --invert "$small"
[ "$(wc -l <"$work/.out")" = 2 ] && ! grep -q other "$work/.out"
verdict "a_filter_can_be_turned_round" $? "$(wc -l <"$work/.out") lines"
run "$tracetta" cat --start=+2500ns --end=+1h "$small"
[ "$(wc -l <"$work/.out")" = 2 ] && ! grep -q inner "$work/.out"
verdict "times_may_be_relative_to_the_begin" $? "$(wc -l <"$work/.out") lines"
run "$tracetta" cat --start=2023-11-14T22:13:20.000004Z "$small"
[ "$(wc -l <"$work/.out")" = 2 ]
verdict "times_may_be_of_the_calendar" $? "$(wc -l <"$work/.out") lines"
run "$tracetta" cat --start=2023-11-15T00:13:20.000004+02:00 --end="2023-11-14 23:00" "$small"
[ "$(wc -l <"$work/.out")" = 2 ]
verdict "times_may_have_a_zone" $? "$(wc -l <"$work/.out") lines"
for time in 2023-13-14 2023-02-29 2023-11-31 2023-11-14T25 2023-11-14T22:13:20+99:00 2023-11-14T22:13:20X; do
    refuses "$time is no time" 2 "expected a time" "$tracetta" cat --start="$time" "$small"
done
refuses "from_is_a_format_only" 2 '--from cannot be "\+2500ns": it expects a format; use --start=\+2500ns' "$tracetta" cat --from=+2500ns "$small"
refuses "to_is_a_format_only" 2 '--to cannot be "\+1h": it expects a format; use --end=\+1h' "$tracetta" convert --to=+1h "$small" -o "$work/no.fxt"
refuses "cat_without_to_names_the_options_to_use" 2 'unknown option --to: use --end=TIME, --format=FORMAT' "$tracetta" cat --to=+1h "$small"
refuses "unknown_format_to_read_is_refused" 2 'no format "noon"' "$tracetta" cat --from=noon "$small"
refuses "unknown_format_to_write_is_refused" 2 'no format "noon" can be written' "$tracetta" convert --to=noon "$small"
"$tracetta" cat --name=work "$small" >"$work/wanted"
same "negative_start_with_a_unit_counts_from_the_end" "$work/wanted" "$tracetta" cat --start=-1us "$small"
same "negative_end_with_a_unit_counts_from_the_end" "$work/wanted" "$tracetta" cat --end=-7500ns "$small"
refuses "negative_start_on_a_pipe_is_refused" 2 "a pipe has no known end: use a file" bash -c "cat '$small' | '$tracetta' cat --start=-1s -"
succeeds "negative_start_without_a_unit_is_absolute" "$tracetta" cat --start=-1 "$small"
"$tracetta" cat "$small" >"$work/wanted"
same "start_is_a_time_of_day_in_utc" "$work/wanted" "$tracetta" cat --start=22:13 "$small"
same "end_before_the_first_time_of_day_is_on_the_next_day" "$work/wanted" "$tracetta" cat --end=08:15 "$small"
refuses "start_after_the_last_time_of_day_matches_nothing" 1 "no event matches" "$tracetta" cat --start=22:13:21 "$small"
refuses "time_of_day_needs_a_clock_with_a_date" 2 "the clock of the trace has no date" "$tracetta" cat --start=12:30 "$work/small.fxt"
refuses "time_of_day_on_a_pipe_is_refused" 2 "date of the first event" bash -c "cat '$small' | '$tracetta' cat --start=12:30 -"
json "limit_accepts_k_and_M" "it['rows'] == it['rows'] and len(it['rows']) == 3" "$tracetta" stat --json -n 1.5k "$small"
refuses "limit_that_is_too_large_is_called_so" 2 "--limit=99999999999999999999 is too large: at most 18446744073709551615" "$tracetta" cat --limit=99999999999999999999 "$small"
refuses "time_that_is_too_large_is_called_so" 2 "is too large: at most 9223372036854775807 ns" "$tracetta" cat --start=99999999999999999999s "$small"
json "times_in_json_have_iso_8601_beside_them" "it['begin_ns'] == 1700000000000001000 and it['begin_time'] == '2023-11-14T22:13:20.000001000Z'" "$tracetta" info --json "$small"
json "times_in_json_are_strings_on_request" "it['begin_ns'] == '1700000000000001000'" "$tracetta" info --json --json-times=string "$small"
json "times_without_an_epoch_have_no_iso_8601" "'begin_time' not in it" "$tracetta" info --json "$work/small.fxt"
says "times_in_json_lines_are_strings_on_request" '^\{"time_ns":"1700000000000001000","time":"2023-11-14T22:13:20.000001000Z","kind":"span"' "$tracetta" cat --format=jsonl --json-times=string -n 1 "$small"
refuses "json_times_need_json" 2 "needs --format=jsonl" "$tracetta" cat --json-times=string "$small"
"$tracetta" cat --thread=5 --process=1 "$small" >"$work/wanted"
same "pid_and_tid_are_process_and_thread" "$work/wanted" "$tracetta" cat --tid=5 --pid=1 "$small"
refuses "cpus_are_numbers" 2 '--cpu: "one" are no CPUs' "$tracetta" cat --cpu=one "$small"
refuses "a_relative_time_needs_a_file" 2 "use a file instead of" bash -c "cat '$small' | '$tracetta' cat --start=+1s -"
refuses "an_unknown_kind_is_a_misuse" 2 "no kind \"spam\"" "$tracetta" cat --kind=spam "$small"
refuses "an_unknown_format_option_is_a_misuse" 2 "no format has an option" "$tracetta" cat --option colour=red "$small"
run "$tracetta" cat "$small" "$small"
[ $run_status = 0 ] && [ "$(wc -l <"$work/.out")" = 6 ] && [ "$(sed -n '1,2s/.* work .*/same/p' "$work/.out" | wc -l)" = 2 ]
verdict "several_files_are_merged_by_time" $? "exit status $run_status"
says "an_offset_moves_one_input" "^\[2023-11-14 22:13:21" "$tracetta" cat --offset="$small=1s" "$small"
run "$tracetta" cat --format=jsonl "$small"
/usr/bin/python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$work/.out"
verdict "json_lines_are_json" $? ""
says "colours_come_when_forced" $'\e\\[' env CLICOLOR_FORCE=1 "$tracetta" info "$small"
run env CLICOLOR_FORCE=1 NO_COLOR=1 "$tracetta" info "$small"
! grep -q $'\e' "$work/.out"
verdict "no_color_wins_over_forced_colours" $? "colours seen"

run "$tracetta" info "$broken"
[ $run_status = 1 ] && grep -q '^events  *3$' "$work/.out" && [ "$(wc -l <"$work/.err")" = 1 ] && grep -q 'warning: 1 damaged place' "$work/.err"
verdict "damage_is_read_around_and_told_in_one_line" $? "exit status $run_status"
"$hexa_cat" "$traces/../../../src/formats/fxt/vectors-bad/size-small.hexa" >"$work/resized.fxt"
run "$tracetta" stat "$work/resized.fxt"
[ $run_status = 1 ] && grep -q 'warning: 1 damaged place (' "$work/.err" && ! grep -q 'skipped' "$work/.err"
verdict "damage_whose_records_are_read_is_not_called_skipped" $? "exit status $run_status"
refuses "quiet_says_nothing_of_damage_but_strict_fails" 1 "heph\.|damage|malformed" "$tracetta" convert --strict --quiet --to=jsonl -o "$work/strict.jsonl" "$broken"
[ ! -e "$work/strict.jsonl" ]
verdict "strict_leaves_no_files" $? "strict.jsonl is there"
cp "$small" "$work/zeros.heph"
truncate -s +40M "$work/zeros.heph"
says "room_not_written_is_not_damage_however_much" 'whole \(heph' "$tracetta" check "$work/zeros.heph"
cat "$small" >>"$work/zeros.heph"
run "$tracetta" check "$work/zeros.heph"
[ $run_status = 1 ] && grep -q '1 damaged place: 41,943,040 of 41,943,424 bytes cannot be read$' "$work/.out" && ! grep -q 'heph.zeros' "$work/.out"
verdict "zeros_before_more_packets_are_damage_however_many" $? "exit status $run_status"
# FXT has no end mark. The first 64 bytes end after a begin.
"$hexa_cat" "$traces/spans_fxt.hexa" >"$work/spans.fxt"
head -c 64 "$work/spans.fxt" >"$work/cut_between.fxt"
says "check_hints_at_a_cut_between_records" 'may be cut at its end: 1 span is incomplete' "$tracetta" check "$work/cut_between.fxt"
run "$tracetta" check "$work/spans.fxt"
[ $run_status = 0 ] && ! grep -q "may be cut" "$work/.out"
verdict "check_of_a_complete_trace_has_no_hint" $? "exit status $run_status"
succeeds "check_finds_a_whole_file_whole" "$tracetta" check "$small"
run "$tracetta" check "$broken"
[ $run_status = 1 ] && grep -q 'damaged' "$work/.out" && grep -q 'bytes 69 to 94' "$work/.out"
verdict "check_lists_damage_by_byte_ranges" $? "exit status $run_status"
run "$tracetta" check --json "$broken"
[ $run_status = 1 ] && /usr/bin/python3 -c 'import json, sys
it = json.load(open(sys.argv[1]))
sys.exit(not (it["schema"] == "tracetta.check/1" and it["damage"] == {"regions": 1, "bytes": 25} and it["regions"][0]["offset"] == 69))' "$work/.out"
verdict "check_json_lists_damage" $? "exit status $run_status"
run "$tracetta" check "$small" "$broken" "$work/missing"
[ $run_status = 3 ]
verdict "check_of_several_ends_with_the_worst" $? "exit status $run_status"

: >"$work/empty"
refuses "an_empty_file_is_no_trace" 3 "empty" "$tracetta" info "$work/empty"
refuses "a_missing_file_is_unreadable" 3 "No such file" "$tracetta" info "$work/missing.fxt"
refuses "text_is_no_trace" 3 "not a trace" "$tracetta" info "$0"
run "$tracetta" info -v "$0"
grep -q 'status unsupported' "$work/.err"
verdict "verbose_says_more_of_an_error" $? ""
if [ "$(id -u)" != 0 ]; then
    cp "$small" "$work/locked" && chmod 000 "$work/locked"
    refuses "a_locked_file_is_unreadable" 3 "Permission denied" "$tracetta" info "$work/locked"
else
    skip "a_locked_file_is_unreadable" "root may read everything"
fi
if [ -n "$corpus" ]; then
    refuses "a_trace_of_eztrace_is_not_ours" 3 "." "$tracetta" info "$corpus/fxt/eztrace-not-fuchsia.fxt"
else
    skip "a_trace_of_eztrace_is_not_ours" "no recorded traces"
fi
run "$tracetta" info "$small" "$work/missing"
[ $run_status = 3 ] && grep -q '^events  *3$' "$work/.out"
verdict "one_bad_input_does_not_hide_the_good_one" $? "exit status $run_status"

# shows_at_once NAME VECTOR LINES [BYTES]: so many lines are printed while the pipe is still open, of
# the first BYTES if given.
has_lines()
{
    [ "$(wc -l <"$work/early")" -ge "$1" ]
}
shows_at_once()
{
    local vectors=$traces/../../../src/formats
    "$hexa_cat" "$vectors/$2.hexa" >"$work/part"
    rm -f "$work/slow"
    mkfifo "$work/slow"
    "$tracetta" cat "$work/slow" >"$work/early" 2>/dev/null &
    local reader=$!
    exec 7>"$work/slow"
    head -c "${4:-1000000}" "$work/part" >&7
    await has_lines "$3"
    verdict "a_paused_pipe_shows_its_events: $1" $? "$(cat "$work/early")"
    exec 7>&-
    wait $reader
}
shows_at_once fxt fxt/vectors/counter-exact 1
shows_at_once heph heph/vectors/no-epoch 1
shows_at_once perf_at_the_end_of_a_round perf/vectors/pipe 3 288
shows_at_once trace_pipe_raw trace_pipe_raw/vectors/pages 3
shows_at_once nettrace nettrace/vectors-whole/sorted 3
shows_at_once netperf nettrace/vectors/v3 2
shows_at_once interceptor interceptor/vectors/zstring8-le 3

# Text of trace-cmd report 3.1.6.
"$hexa_cat" "$traces/../../../src/formats/trace_dat/vectors/instance-4096.hexa" >"$work/instances.dat"
cat >"$work/instances.txt" <<'END'
cpus=1
mine:           worker-77    [000]     0.000000: tick:                 v=2
                worker-77    [000]     0.000000: tick:                 v=1
END
same "lines_of_trace_cmd_have_cpus_and_instances" "$work/instances.txt" "$tracetta" cat --style=trace-cmd "$work/instances.dat"

"$hexa_cat" "$traces/../../../src/formats/perf/vectors-bad/bad-data-size.hexa" >"$work/cut.data"
run "$tracetta" check "$work/cut.data"
[ $run_status = 1 ] && grep -q 'odd perf.lost-features x1: .* names of events .*, date of the clock' "$work/.out"
verdict "perf_data_cut_at_its_end_names_what_is_lost" $? "exit status $run_status"
"$hexa_cat" "$traces/payload_perf.hexa" >"$work/payload.data"
"$tracetta" cat "$work/payload.data" >"$work/payload.txt" 2>"$work/payload.err"
file_status=$?
"$tracetta" cat - < <(cat "$work/payload.data") >"$work/.out" 2>"$work/.err"
[ $? = 1 ] && [ $file_status = 1 ] && [ "$(grep -c . "$work/payload.txt")" = 3 ] && cmp -s "$work/payload.txt" "$work/.out" &&
    [ "$(sed 's/.*warning/warning/' "$work/.err")" = "$(sed 's/.*warning/warning/' "$work/payload.err")" ]
verdict "a_payload_of_impossible_size_is_damage_in_a_pipe_as_in_a_file" $? "status $file_status"

mkdir "$work/folder" "$work/folder/inside" "$work/bare"
cp "$small" "$work/folder/b.heph"
cp "$work/small.fxt" "$work/folder/a.fxt"
cp "$small" "$work/folder/.hidden"
cp "$0" "$work/folder/notes.txt"
cp "$0" "$work/bare/notes.txt"
json "a_directory_is_all_traces_in_it" "it['events'] == 6" "$tracetta" info --json "$work/folder"
run "$tracetta" cat --format=jsonl "$work/folder"
[ "$(wc -l <"$work/.out")" = 6 ] && head -n 1 "$work/.out" | grep -q start
verdict "traces_of_a_directory_are_merged_by_time" $? ""
# Links within a searched folder are followed, links out of it only if that is wanted.
mkdir -p "$work/searched/sub" "$work/linked" "$work/other/trace" "$work/streams"
cp "$work/small.fxt" "$work/searched/one.fxt"
ln -s ../one.fxt "$work/searched/sub/inner.fxt"
ln -s ../small.heph "$work/searched/file.heph"
ln -s ../folder "$work/searched/folder"
says "links_out_of_a_searched_folder_are_reported" 'odd directory.link x2: .*is a link out of the directory and was skipped' "$tracetta" check "$work/searched"
json "and_skipped" "it['events'] == 6" "$tracetta" info --json "$work/searched"
json "follow_links_reads_them" "it['events'] == 15" "$tracetta" info --json --follow-links "$work/searched"
ln -s ../small.heph "$work/linked/file.heph"
refuses "a_folder_of_links_names_the_option" 3 'links out of it are skipped: --follow-links reads them' "$tracetta" info "$work/linked"
printf '/* CTF 1.8 */' >"$work/other/metadata"
ln -s ../other/metadata "$work/streams/metadata"
cp "$small" "$work/streams/stream"
refuses "a_link_to_metadata_names_the_option" 3 'file "metadata" is a link out of the folder; use --follow-links to read it' "$tracetta" info "$work/streams"

refuses "a_directory_without_traces_is_none" 3 "has no trace" "$tracetta" info "$work/bare"
