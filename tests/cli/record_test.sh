#!/bin/bash
# Programs with trace points under "record".
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
shop=$(realpath "$2")
loop=$(realpath "$3")
module=$(realpath "$4")
instrumented=$(realpath "$5")
preload=$(realpath "$6")
compat=$(realpath "$7")
provider=$(realpath "$8")
cxx=${9:-} compat_cxx=${10:-}
[ -z "$cxx" ] || { cxx=$(realpath "$cxx"); compat_cxx=$(realpath "$compat_cxx"); }
cd "$work" || exit 1

# events OPTION...: the number of events that the options of cat select.
events()
{
    "$tracetta" cat -q "$@" 2>/dev/null | wc -l
}

# --- Events ---

run "$tracetta" record -o shop.fxt -- "$shop" 1000
sold=$(sed -n '1s/.*served \([0-9]*\) orders.*/\1/p' .out)
killed=$(sed -n '2s/process \([0-9]*\) .*/\1/p' .out)
before=$(sed -n '2s/.*served \([0-9]*\) orders.*/\1/p' .out)
[ $run_status = 0 ] && [ "$sold" = 999 ] && [ -n "$before" ]
verdict "program_runs_under_record" $? "exit status $run_status, $sold, $before"
[ "$(events --name=served --process="$killed" shop.fxt)" -ge "$before" ] && [ "$(events --name=served shop.fxt)" -ge $((sold + before)) ]
verdict "killed_process_loses_no_committed_event" $? "$(events --name=served shop.fxt) of $((sold + before))"
[ "$(events --name=serve --kind=begin --process="$killed" shop.fxt)" -ge 1 ]
verdict "zones_that_were_open_begin_in_the_trace" $? ""
succeeds "archive_is_undamaged" "$tracetta" check shop.fxt
run "$tracetta" cat -n 1 --thread='till 2' --name=served shop.fxt
[ $run_status = 0 ]
verdict "threads_have_their_names" $? ""
run bash -c "'$tracetta' record -q -o - -- '$shop' 90 | '$tracetta' cat --name=served - | wc -l"
[ "$(cat .out)" -ge 90 ]
verdict "archive_is_written_to_a_pipe" $? "$(cat .out) events"
run "$tracetta" record -q --category='disk' -o disk.fxt -- "$shop" 90
[ "$(events --name=write disk.fxt)" -ge 90 ] && [ "$(events --name=served disk.fxt)" = 0 ]
verdict "categories_select_events" $? ""
run "$tracetta" record -q --min=10s -o long.fxt -- "$shop" 90
[ "$(events --name=serve --kind=span long.fxt)" = 0 ] && [ "$(events --name=served long.fxt)" -ge 90 ]
verdict "short_zones_are_left_out" $? ""
run "$tracetta" record -q -o loop.fxt -- "$loop" "$module" 300
[ $run_status = 0 ] && [ "$(events --name=loaded loop.fxt)" = 300 ] && [ "$(events --name=call loop.fxt)" = 300 ]
verdict "library_that_is_loaded_300_times_is_recorded" $? "$(events --name=loaded loop.fxt)"

# --- The index ---

run "$tracetta" record -q --buffer=8MiB -o indexed.fxt -- "$shop" 9000
# Text in the middle is damage for a reader that reads it.
size=$(stat -c %s indexed.fxt)
cp indexed.fxt holed.fxt
printf 'damage!!%.0s' {1..64} | dd of=holed.fxt bs=8 seek=$((size / 16)) conv=notrunc status=none
"$tracetta" cat -q --start=+1ms --end=+9ms indexed.fxt | sort >part.lines
"$tracetta" cat -q indexed.fxt >all.lines
first=$(sort all.lines | grep -m 1 '^\[2' | sed 's/^\[\([^]]*\)\].*/\1/')
"$tracetta" cat -q --start=+1ms --end=+9ms holed.fxt 2>.err | sort >holed.lines
"$tracetta" check -q holed.fxt >/dev/null 2>&1
checked=$?
[ -s part.lines ] && cmp -s part.lines holed.lines && [ ! -s .err ] && [ $checked = 1 ]
verdict "index_leads_to_the_wanted_times" $? "$(wc -l part.lines holed.lines | head -n 2), check $checked, $(diff part.lines holed.lines | head -n 3)"
"$tracetta" cat -q --start="$first" --name=served indexed.fxt | wc -l >counted
grep -c ' served ' all.lines >expected
cmp -s counted expected
verdict "range_of_all_times_has_all_events" $? "$(cat counted), $(cat expected)"

# --- Clocks ---

# times OPTION...: the first and the last time of the events that the options of cat select, in ns.
times()
{
    "$tracetta" cat -q --sort --format=jsonl "$@" 2>/dev/null | sed -n 's/.*"time_ns":\([0-9]*\).*/\1/p' | sed -n '1p;$p' | tr '\n' ' '
}
before=$(date +%s%N)
run "$tracetta" record -q -o clock.fxt -- "$shop" 90
after=$(date +%s%N)
read -r first last <<<"$(times --name=served clock.fxt)"
[ "${first:-0}" -gt "$before" ] && [ "${last:-0}" -lt "$after" ] && [ "$first" -lt "$last" ]
verdict "archive_has_unix_times" $? "$before < $first < $last < $after"
run "$tracetta" record -q -o both.fxt -- "$tracetta" record perf -q -e cpu-clock -F 1000 -o both.data -- "$shop" 900
if [ $run_status = 0 ] && [ -s both.data ]; then
    read -r first last <<<"$(times --name=served both.fxt)"
    read -r sample end <<<"$(times --kind=sample both.data)"
    [ "${sample:-0}" -lt "${last:-0}" ] && [ "${end:-0}" -gt "${first:-0}" ] && [ $((sample - first)) -gt -1000000000 ] && [ $((end - last)) -lt 1000000000 ]
    verdict "samples_of_perf_are_on_the_same_clock" $? "events $first $last, samples $sample $end"
else
    skip "samples_of_perf_are_on_the_same_clock" "$(head -n 1 .err)"
fi

# --- Other formats ---

run "$tracetta" record -q -o shop.jsonl -- "$shop" 90
[ $run_status = 0 ] && [ "$(grep -c '"served"' shop.jsonl)" -ge 90 ] && [ ! -e shop.jsonl.events.fxt ]
verdict "suffix_of_the_output_selects_its_format" $? "exit status $run_status"
run "$tracetta" record -q --to=ctf --category=orders -o shop.ctf -- sh -c "'$shop' 90; exit 4"
[ $run_status = 4 ] && [ "$(events --name=served shop.ctf)" -ge 90 ]
verdict "to_selects_the_format" $? "exit status $run_status"
run "$tracetta" record -q -o shop.jsonl -- touch ran
[ $run_status = 125 ] && [ ! -e ran ] && [ ! -e shop.jsonl.events.fxt ]
verdict "existing_output_stops_before_the_program_runs" $? "exit status $run_status"
run bash -c "'$tracetta' record -q --to=jsonl -o - -- '$shop' 90 2>/dev/null | grep -c '\"served\"'"
[ "$(cat .out)" -ge 90 ]
verdict "other_format_is_written_to_a_pipe_as_events_come" $? "$(cat .out) events"
run bash -c "'$tracetta' record -q --to=perf -o - -- '$shop' 90 2>/dev/null | '$tracetta' cat -q --name=served - | wc -l"
[ "$(cat .out)" -ge 90 ]
verdict "perf_data_is_written_to_a_pipe" $? "$(cat .out) events"
run "$tracetta" record --to=ctf -o - -- touch ran
[ $run_status != 0 ] && [ ! -e ran ]
verdict "format_of_a_folder_is_not_written_to_a_pipe" $? "exit status $run_status"

# --- Live, rotation, compression ---

run "$tracetta" record -q --live -o live.fxt -- "$shop" 90
[ $run_status = 0 ] && [ "$(grep -c ' served' .out)" -ge 90 ] && [ "$(events --name=served live.fxt)" -ge 90 ]
verdict "live_events_are_printed_and_recorded" $? "exit status $run_status, $(grep -c ' served' .out) printed"
"$tracetta" listen unix:$work/live.socket -o received --duration=20s -q &
listener=$!
for _ in $(seq 50); do [ -S live.socket ] && break; sleep 0.1; done
run "$tracetta" record -q --live=unix:$work/live.socket -o live2.fxt -- "$shop" 90
sleep 0.5
kill -TERM $listener
wait $listener
[ $run_status = 0 ] && [ "$(events --name=served received)" -ge 90 ]
verdict "live_events_are_sent" $? "exit status $run_status, $(events --name=served received) events: $(cat .err)"
run "$tracetta" record -q --rotate=100KiB:3 -o turn.fxt -- "$shop" 9000
kept=$(ls turn*.fxt | wc -l)
[ $run_status = 0 ] && [ "$kept" = 3 ] && [ ! -e turn.fxt ]
verdict "rotation_keeps_the_last_files" $? "exit status $run_status, $(ls turn*.fxt | tr '\n' ' ')"
bad=0
for file in turn*.fxt; do
    "$tracetta" check -q "$file" >/dev/null 2>&1 && [ "$(stat -c %s "$file")" -le 102400 ] || bad=1
    [ "$(events "$file")" -gt 0 ] || bad=1
done
verdict "each_file_of_a_rotation_reads_alone" $bad ""
run "$tracetta" record -q -o packed.fxt.zst -- "$shop" 900
[ $run_status = 0 ] && [ "$(events --name=served packed.fxt.zst)" -ge 900 ] && [ "$(od -An -tx4 -N4 packed.fxt.zst)" = " fd2fb528" ]
verdict "suffix_zst_compresses_the_archive" $? "exit status $run_status, $(events --name=served packed.fxt.zst)"
run "$tracetta" record --rotate=sometimes -o none4.fxt -- touch ran
[ $run_status = 2 ] && [ ! -e none4.fxt ]
verdict "rotation_without_a_limit_is_refused" $? "exit status $run_status"

# --- Exit statuses and signals ---

for status in 0 1 7 124; do
    run "$tracetta" record -q -f -o none.fxt -- sh -c "exit $status"
    [ $run_status = $status ]
    verdict "exit_status_${status}_is_passed_on" $? "exit status $run_status"
done
run "$tracetta" record -q -f -o none.fxt -- sh -c 'kill -SEGV $$'
[ $run_status = 139 ]
verdict "signal_of_the_program_becomes_128_and_its_number" $? "exit status $run_status"
run "$tracetta" record -o none2.fxt -- ./no-such-program
[ $run_status = 125 ] && grep -q "cannot be run" .err && [ ! -e none2.fxt ]
verdict "program_that_cannot_run_is_a_failure_of_record" $? "exit status $run_status"
run "$tracetta" record -f -o none.fxt -- true
[ $run_status = 0 ] && grep -q "no program connected" .err
verdict "program_without_trace_points_is_reported" $? ""
run "$tracetta" record -f -o none.fxt --category=nothing -- "$shop" 9
[ $run_status = 0 ] && grep -q "no event was recorded: [0-9]* process(es) connected" .err
verdict "recording_without_an_event_is_reported" $? "$(cat .err)"
run "$tracetta" record "$shop" 9
[ $run_status = 2 ] && grep -q 'use "tracetta record -- COMMAND"' .err
verdict "command_without_separator_is_explained" $? "$(cat .err)"
for option in --trigger=slow --live=udp:127.0.0.1:9 --live=nowhere; do
    run "$tracetta" record -o none5.fxt $option -- touch ran5
    [ $run_status = 2 ] && [ ! -e ran5 ] && [ ! -e none5.fxt ]
    verdict "unusable_option_is_refused_before_the_program_runs: $option" $? "exit status $run_status: $(cat .err)"
done
"$tracetta" record -q -f -o term.fxt -- sh -c 'trap "exit 5" TERM; echo ready >ready; while :; do sleep 0.05; done' >.out 2>.err &
await_file ready $!
kill -TERM $!
wait $!
[ $? = 5 ]
verdict "sigterm_is_passed_on" $? ""

# --- Control from outside ---

export XDG_RUNTIME_DIR=$work/runtime
mkdir -m 700 runtime
run "$tracetta" session list
[ $run_status = 1 ] && grep -q "no \"tracetta record\"" .err
verdict "list_without_sessions_exits_with_1" $? "exit status $run_status"
"$tracetta" record -q -o controlled.fxt -- sh -c "'$shop' 90; echo ready >ready2; while [ ! -e leave ]; do sleep 0.05; done; exit 6" >.out 2>.err &
recorder=$!
await_file ready2 $recorder
run "$tracetta" session list
[ $run_status = 0 ] && grep -q "^ *$recorder  streaming .*controlled.fxt" .out
verdict "session_is_listed_with_its_process_and_output" $? "$(cat .out)"
run "$tracetta" session stats --json
[ $run_status = 0 ] && grep -q "\"output\": *\"controlled.fxt\"" .out
verdict "stats_are_printed_as_json" $? "$(cat .out)"
run "$tracetta" session mode
[ $run_status = 0 ] && [ "$(cat .out)" = streaming ]
verdict "mode_of_a_session_is_printed" $? "$(cat .out)"
run "$tracetta" session mode --mode=circular $recorder --json
[ $run_status = 0 ] && grep -q '"mode": *"circular"' .out && "$tracetta" session list | grep -q "^ *$recorder  circular "
verdict "mode_of_a_session_is_changed" $? "$(cat .out)"
run "$tracetta" session stats --mode=circular
[ $run_status = 2 ] && grep -q 'an option of "session mode"' .err
verdict "option_of_another_action_is_refused" $? "exit status $run_status"
run "$tracetta" session stop $recorder
sleep 0.3
[ $run_status = 0 ] && kill -0 $recorder && [ "$(events --name=served controlled.fxt)" -ge 90 ]
verdict "stopped_session_leaves_the_program_running" $? "exit status $run_status"
run "$tracetta" session list
[ $run_status = 1 ]
verdict "stopped_session_is_not_listed" $? ""
touch leave
wait $recorder
[ $? = 6 ] && [ -z "$(ls runtime)" ]
verdict "exit_status_is_passed_on_after_a_stop" $? "$(ls runtime)"
run "$tracetta" session categories x
[ $run_status = 2 ] && grep -q "is not the number" .err
verdict "session_that_is_no_number_is_refused" $? ""

# --- Running programs ---

# Two processes, in a group of their own. If this script is killed, they end in a minute.
setsid "$shop" 2000000 >/dev/null 2>&1 &
running=$!
strays+=(-$running)
sleep 0.2
run "$tracetta" ps $running
[ $run_status = 0 ] && grep -q "^ *$running  ready " .out
verdict "ps_lists_a_program_with_trace_points" $? "$(cat .out .err)"
run "$tracetta" record -q --attach=$running --duration=1s --buffer=8MiB -o attached.fxt
[ $run_status = 0 ] && [ "$(events --name=served attached.fxt)" -ge 100 ] && kill -0 $running
verdict "attached_program_is_recorded_and_goes_on" $? "exit status $run_status, $(events --name=served attached.fxt) events"
succeeds "archive_of_an_attached_program_is_undamaged" "$tracetta" check attached.fxt
# A process that can connect only after twice that time: the duration starts when it has.
kill -STOP -- -$running
"$tracetta" record -q -f --attach=$running --duration=500ms --buffer=8MiB -o late.fxt >.out 2>.err &
recorder=$!
sleep 1
kill -CONT -- -$running
wait $recorder
[ $? = 0 ] && [ "$(events --name=served late.fxt)" -ge 10 ]
verdict "duration_starts_when_the_process_has_connected" $? "$(events --name=served late.fxt) events: $(cat .err)"
kill -KILL -- -$running
wait $running
run "$tracetta" record --attach=$running -o none3.fxt
[ $run_status = 125 ] && grep -q "does not exist" .err && [ ! -e none3.fxt ]
verdict "process_that_ended_cannot_be_attached" $? "exit status $run_status"
run "$tracetta" record --attach=1 -o none3.fxt -- true
[ $run_status = 2 ]
verdict "attach_and_a_command_exclude_each_other" $? "exit status $run_status"

# A recorder that is killed: its program goes on, and another recorder can attach to it.
# has_events FILE: the file has a piece of an archive.
has_events()
{
    [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt 10000 ]
}
setsid "$tracetta" record -q -f -o killed.fxt -- "$shop" 2000000 >/dev/null 2>&1 &
recorder=$!
strays+=(-$recorder)
await has_events killed.fxt
program=$(cat /proc/$recorder/task/$recorder/children)
program=${program%% *}
run "$tracetta" ps "$program"
grep -q "^ *$program  recorded " .out
verdict "ps_shows_that_a_program_is_recorded" $? "$(cat .out .err)"
run "$tracetta" record -q --attach="$program" -o none6.fxt
[ $run_status = 125 ] && grep -q "recorded already" .err && [ ! -e none6.fxt ]
verdict "recorded_program_cannot_be_attached" $? "exit status $run_status: $(cat .err)"
kill -KILL $recorder
wait $recorder 2>/dev/null
"$tracetta" check -q killed.fxt >/dev/null 2>&1 && [ "$(events --name=served killed.fxt)" -ge 10 ] && kill -0 "$program"
verdict "killed_recorder_leaves_a_valid_archive_and_the_program" $? "$(events --name=served killed.fxt) events, process $program"
run "$tracetta" record -q -f --attach="$program" --duration=2s --buffer=8MiB -o again.fxt
[ $run_status = 0 ] && [ "$(events --name=served again.fxt)" -ge 100 ] && kill -0 "$program"
verdict "program_of_a_killed_recorder_is_attached_again" $? "exit status $run_status, $(events --name=served again.fxt) events"
kill -KILL -- -$recorder

# --- Programs with a provider of tracetta/provider.h ---

# The same program writes a perf.data file of its own: both traces have the same events.
run "$tracetta" record -q -o provider.fxt -- "$provider" provider.data
[ $run_status = 0 ] && [ "$(events --kind=instant,async_begin,async_end provider.fxt)" = 26 ]
verdict "events_of_a_provider_are_recorded" $? "exit status $run_status, $(events provider.fxt) events"
for file in provider.fxt provider.data; do
    "$tracetta" cat -q --kind=instant,async_begin,async_end --format=jsonl $file | sed -E 's/.*"kind":"([a-z_]*)".*"(provider|category)":"(Example_Shop)".*"name":"([A-Za-z]*)".*("level":"[a-z]*").*("keyword":[0-9]*)/\1 \4 \5 \6/
        s/"activity":"([0-9a-f]*)"(,|)//; s/"weights":.*//; s/,?"fields":/ /; s/"track":[0-9]*,//' >$file.lines
done
cmp -s provider.fxt.lines provider.data.lines && grep -q 'level":"debug" "keyword":3.*"weight":10' provider.fxt.lines
verdict "events_of_a_provider_have_names_levels_keywords_and_fields" $? "$(diff provider.fxt.lines provider.data.lines | head -n 6)"
run "$tracetta" record -q --category='Example_*:4' -o level.fxt -- "$provider" provider2.data
[ "$(events --name=Sold level.fxt)" = 0 ] && [ "$(events --name=Customer level.fxt)" = 10 ]
verdict "category_of_a_provider_is_its_name" $? "$(events --name=Customer level.fxt)"

# --- Programs without trace points ---

run "$tracetta" record -q -o functions.fxt -- "$instrumented"
[ $run_status = 0 ] && [ "$(events --name=outer_step --kind=begin functions.fxt)" = 1000 ] && [ "$(events --name=inner_step --kind=end functions.fxt)" = 1000 ]
verdict "functions_are_recorded_with_their_names" $? "exit status $run_status, $(events --name=outer_step functions.fxt), $(events --name=inner_step functions.fxt)"
succeeds "calls_of_functions_nest" "$tracetta" check functions.fxt
run "$tracetta" record -q --fail-on-loss --buffer=4MiB --category=heap,locks,io -o preload.fxt -- env LD_PRELOAD="$preload" "$instrumented"
if grep -q __asan_init "$instrumented"; then
    skip "allocations_are_recorded_by_preload" "AddressSanitizer has a malloc of its own"
else
    [ $run_status = 0 ] && [ "$(events --name=malloc preload.fxt)" -ge 100 ] && [ "$(events --name=free preload.fxt)" -ge 100 ]
    verdict "allocations_are_recorded_by_preload" $? "exit status $run_status, $(events --name=malloc preload.fxt)"
fi
[ "$(events --name='mutex wait' preload.fxt)" = 1 ] && [ "$(events --name=write preload.fxt)" -ge 1 ]
verdict "waits_and_writes_are_recorded_by_preload" $? "$(events --name='mutex wait' preload.fxt), $(events --name=write preload.fxt)"
run "$tracetta" record -q -o compat.fxt -- "$compat"
[ $run_status = 0 ] && [ "$(events --name='load level' --kind=span compat.fxt)" = 10 ] && [ "$(events --name=decode compat.fxt)" = 10 ]
verdict "macros_of_tracy_record_zones" $? "exit status $run_status"
"$tracetta" cat --name='load level' compat.fxt | grep -q 'text = "castle", value = 9'
verdict "values_and_texts_of_tracy_are_arguments" $? "$("$tracetta" cat --name='load level' compat.fxt | tail -1)"
"$tracetta" cat --name=decode compat.fxt | grep -q 'text = "first\\nsecond", value = 7' && [ "$(events --name=load --kind=async_begin compat.fxt)" = 1 ]
verdict "zones_of_c_have_texts_and_frames_may_overlap" $? "$("$tracetta" cat --name=decode compat.fxt | tail -1)"
[ "$(events --name=physics --kind=begin compat.fxt)" = 5 ] && [ "$(events --name=monsters --kind=counter compat.fxt)" = 10 ] && [ ! -e spall.fxt ] &&
    [ "$(events --name=old --kind=begin compat.fxt)" = 1 ] && "$tracetta" cat --name=step compat.fxt | grep -q 'args = "n=1"'
verdict "functions_of_spall_record_zones" $? "$("$tracetta" cat compat.fxt | tail -n 12)"
succeeds "trace_of_other_macros_is_undamaged" "$tracetta" check compat.fxt

# --- Losses and full disks ---

run "$tracetta" record -f --mode=oneshot --buffer=128KiB --fail-on-loss -o lost.fxt -- "$shop" 9000
[ $run_status = 1 ] && grep -q "dropped" .err && [ "$(events --name='events lost' lost.fxt)" -ge 1 ]
verdict "fail_on_loss_exits_with_1" $? "exit status $run_status"
lost=$("$tracetta" cat --name='events lost' lost.fxt 2>/dev/null | sed 's/.*count = \([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n }')
"$tracetta" info --json lost.fxt | tr -d ' ' | grep -q "\"lost\":$lost,"
verdict "archive_declares_the_number_of_lost_events" $? "$lost, $("$tracetta" info lost.fxt | grep lost)"
run bash -c "'$tracetta' record -q -o - -- '$shop' 900 >/dev/full"
[ $run_status = 125 ] && grep -q "standard output: cannot write" .err
verdict "full_standard_output_is_named" $? "exit status $run_status: $(cat .err)"
mkdir small
run unshare -rm bash -c "mount -t tmpfs -o size=300k none small && '$tracetta' record -f -o small/full.fxt -- '$shop' 3000; echo \$? >status
    '$tracetta' check small/full.fxt; echo \$? >checked; stat -c %s small/full.fxt >size"
if [ -s size ]; then
    [ "$(cat status)" = 125 ] && grep -q "served 3000 orders" .out && grep -q "could not be written" .err
    verdict "full_disk_does_not_stop_the_program" $? "exit status $(cat status)"
    [ "$(cat checked)" = 0 ] && [ "$(cat size)" -gt 60000 ]
    verdict "archive_on_a_full_disk_is_valid_up_to_there" $? "exit status $(cat checked), $(cat size) bytes"
fi

run "$tracetta" record -f --max-size=100KiB -o limited.fxt -- "$shop" 9000
[ $run_status = 0 ] && grep -q "ended at --max-size=100" .err && grep -q "^process.* served 9000" .out
verdict "size_limit_ends_the_recording_and_not_the_program" $? "exit status $run_status"
"$tracetta" check -q limited.fxt >/dev/null 2>&1 && [ "$(stat -c %s limited.fxt)" -le 102400 ]
verdict "archive_below_the_size_limit_is_valid" $? "$(stat -c %s limited.fxt) bytes"
run "$tracetta" record -f -o gone.fxt -- sh -c "'$shop' 90; rm gone.fxt; sleep 1; '$shop' 90"
[ $run_status = 125 ] && grep -q "was deleted" .err && [ ! -e gone.fxt ]
verdict "deleted_output_ends_the_recording" $? "exit status $run_status"
: >turned-2.fxt
run "$tracetta" record --rotate=100KiB -o turned.fxt -- "$shop" 9000
[ $run_status = 0 ] && [ "$(grep -c 'turned-2.fxt.*cannot be created' .err)" = 1 ] && [ "$(events --name=served turned.fxt)" -ge 9000 ]
verdict "file_of_a_rotation_that_exists_is_reported_and_loses_nothing" $? "exit status $run_status"

# --- The end ---

run "$tracetta" record -f --buffer=4MiB -o child.fxt -- sh -c "'$shop' 60000 & sleep 0.3; exit 4"
[ $run_status = 4 ] && grep -q "still recorded" .err && [ "$(events --name=served child.fxt)" -ge 60000 ]
verdict "processes_that_outlive_the_program_are_recorded" $? "exit status $run_status, $(events --name=served child.fxt)"
setsid sh -c "'$tracetta' record -q -f -o orphan.fxt -- sh -c \"'$shop' 2000000 & sleep 0.3; exit 4\" & echo \$! >recorder; wait" >/dev/null 2>&1 &
parent=$!
strays+=(-$parent)
await [ -s orphan.fxt ]
sleep 0.3
kill -KILL $parent
await is_gone "$(cat recorder)"
verdict "recording_without_program_and_parent_ends" $? "process $(cat recorder)"
kill -KILL -- -$parent 2>/dev/null

# --- C++ ---

if [ -n "$cxx" ]; then
    succeeds "program_in_cpp_records_itself" "$cxx" cxx.fxt
    run "$tracetta" cat --name=all cxx.fxt
    [ $run_status = 0 ] && grep -q 'of a std::string' .out && grep -q 'int.*-3' .out && grep -q 'double.*1.5' .out
    verdict "values_of_cpp_have_their_types" $? ""
    [ "$(events --kind=span cxx.fxt)" = 3 ]
    verdict "zones_of_cpp_end_with_their_block" $? ""
    succeeds "trace_of_cpp_is_undamaged" "$tracetta" check cxx.fxt
    run "$tracetta" record -q -o compat2.fxt -- "$compat_cxx"
    [ $run_status = 0 ] && [ "$(events --name=turn --kind=span compat2.fxt)" = 3 ] &&
        "$tracetta" cat --name=parse compat2.fxt | grep -q 'name = "parse 2", text = "line 2\\nand 2", value = 2'
    verdict "macros_of_tracy_record_zones_in_cpp" $? "exit status $run_status: $("$tracetta" cat compat2.fxt | tail -n 5)"
fi
