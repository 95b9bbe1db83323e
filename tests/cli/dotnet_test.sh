#!/bin/bash
# Live .NET processes: a program that speaks as their runtimes do.  usage: dotnet_test.sh TRACETTA PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
python=$2
here=$(realpath "$(dirname "$0")")
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
cd "$work" || exit 1 # recordings that are given no name have one of the time, here

# serve KEY=VALUE...: begins to serve; $pid is the process, what it is asked is in $TMPDIR/log.
serve()
{
    rm -f "$work/ready" "$TMPDIR/log"
    "$python" "$here/dotnet_serve.py" "$TMPDIR" ready="$work/ready" "$@" 2>"$work/served" &
    pid=$!
    await_file "$work/ready" "$pid"
}

unserve()
{
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    rm -f "$TMPDIR"/dotnet-diagnostic-*
}

# logged NAME PATTERN: the runtime was asked this.
logged()
{
    grep -Eq -e "$2" "$TMPDIR/log" 2>/dev/null
    verdict "$1" $? "wanted /$2/ in: $(cat "$TMPDIR/log" 2>/dev/null)"
}

# ended FILE: it is a complete nettrace file.
ended()
{
    [ "$(head -c 8 "$1")" = Nettrace ] && [ "$(tail -c 2 "$1" | od -An -tx1)" = " 06 01" ]
}

# record KEY... : records the server for half a second into $work/out.nettrace.
record()
{
    rm -f "$work/out.nettrace"
    run "$tracetta" record dotnet -o "$work/out.nettrace" "$@"
}

# --- ps ---
serve
says "a_runtime_is_listed_with_what_it_says_of_itself" "^ *$pid  .* ready  *8\.0\.11 x64 .*/usr/bin/dotnet demo\.dll --name=ü😀" "$tracetta" ps
says "and_found_by_its_number" "8\.0\.11" "$tracetta" ps "$pid"
says "json_has_all_of_it" '"rid": "linux-x64"' "$tracetta" ps --json
says "the_environment_is_the_runtimes" '^  *B=x y$' "$tracetta" ps --environment "$pid"
says "also_in_json" '"B": "x y"' "$tracetta" ps --environment --json "$pid"
says "an_environment_that_was_read_is_a_success" 'ready' "$tracetta" ps --environment "$pid"
refuses "counters_of_no_name_are_refused" 2 '--counters is empty' "$tracetta" counters --counters= "$pid"
echo no socket >"$TMPDIR/file"
refuses "a_file_is_not_a_process_that_is_gone" 3 'it is not a socket' "$tracetta" record dotnet --diagnostic-port="$TMPDIR/file,connect" -o "$work/never.nettrace"
refuses "nor_is_a_name_of_nothing_known_to_be_one" 3 'or the path is wrong' "$tracetta" record dotnet --diagnostic-port="$TMPDIR/nothing,connect" -o "$work/never.nettrace"
refuses "a_process_that_is_no_runtime_is_reported" 3 'no visible diagnostic socket' "$tracetta" ps $$
refuses "a_process_that_is_not_there_is_reported" 3 'no such process' "$tracetta" ps 4194999
run "$tracetta" record dotnet 4194999
[ $run_status = 3 ] && ! grep -q 'recording into' "$work/.err"
verdict "nothing_is_said_to_be_recorded_that_is_not" $? "$(cat "$work/.err")"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
refuses "stale_socket_is_refused" 3 'its process has ended' "$tracetta" record dotnet \
    --diagnostic-port="$(echo "$TMPDIR"/dotnet-diagnostic-"$pid"-*),connect" -o "$work/never.nettrace"
serve fault=silent
run "$tracetta" ps --environment "$pid"
[ $run_status = 3 ] && grep -q 'environment cannot be read: no answer' "$work/.err" && grep -q 'no answer' "$work/.out"
verdict "an_environment_that_cannot_be_read_is_not_a_success" $? "exit status $run_status"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
run "$tracetta" ps
[ $run_status = 0 ] && grep -Eq '[0-9]+ socket\(s\) of processes that are gone' "$work/.err" && ! grep -q " $pid " "$work/.out"
verdict "stale_socket_is_not_listed" $? "exit status $run_status"
says "verbose_lists_it" "^ *$pid  .*gone .*dotnet-diagnostic-$pid-" "$tracetta" ps -v
"$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1] + "/dotnet-diagnostic-1-\33[31m-socket")' "$TMPDIR"
says "a_name_somebody_chose_cannot_command_the_terminal" 'dotnet-diagnostic-1-\\x1b\[31m-socket' "$tracetta" ps -v
rm -f "$TMPDIR"/dotnet-diagnostic-*
for info in 1 2; do
    serve info=$info
    says "a_runtime_that_knows_only_process_info_${info}_is_listed" "^ *$pid .* ready .*demo\.dll" "$tracetta" ps
    unserve
done
serve info=0 collect=2
says "a_runtime_that_knows_none_is_listed_all_the_same" "^ *$pid  .* ready " "$tracetta" ps
unserve
for fault in silent garbage close half huge; do
    serve fault=$fault
    says "a_runtime_that_answers_with_${fault}_does_not_block" "^ *$pid  .* no answer " "$tracetta" ps
    [ $fault = silent ] || refuses "recording_a_runtime_that_answers_with_${fault}_fails" 3 "process $pid" \
        "$tracetta" record dotnet -o "$work/fault.nettrace" "$pid"
    unserve
done
[ ! -e "$work/fault.nettrace" ]
verdict "empty_file_is_removed" $? "there is one"
serve fault=drip
says "an_answer_may_come_byte_by_byte" "8\.0\.11" "$tracetta" ps
unserve

# --- record ---
serve counters=yes skips=10
record --duration=1.2s --verbose "$pid"
grep -Eq 'recorded .*: ([0-9]+) events, .* in ' "$work/.err" && grep -Eq 'warning: [1-9]0 events lost, of [0-9]+ events' "$work/.err"
verdict "record_reports_events_and_losses" $? "$(cat "$work/.err")"
unserve
serve counters=yes
record --duration=1.2s "$pid"
[ ! -s "$work/.err" ]
verdict "record_without_losses_is_silent" $? "$(cat "$work/.err")"
unserve
for collect in 2 3 4 5 6 7; do
    serve collect=$collect rundown=100
    record --duration=0.3s "$pid"
    [ $run_status = 0 ] && ended "$work/out.nettrace"
    verdict "a_runtime_whose_newest_command_is_collect_${collect}_is_recorded" $? "exit status $run_status"
    logged "by_the_newest_of_our_commands_it_knows_$collect" "^collect$((collect > 6 ? 6 : collect)) .*mb=256 format=1 .*Microsoft-Windows-DotNETRuntime:0x100003801d:4: Microsoft-DotNETCore-SampleProfiler:0x0:4:"
    unserve
done
serve
record --duration=0.3s "$pid"
[ $run_status = 0 ] && ended "$work/out.nettrace" && [ "$(stat -c %s "$work/out.nettrace")" -gt 3000000 ]
verdict "a_rundown_larger_than_the_socket_holds_is_taken_while_the_answer_is_waited_for" $? "exit status $run_status"
logged "the_session_is_stopped_by_its_number" '^stop 0x1234$'
record --duration=0.2s --no-stacks --rundown=false --buffersize=16 --format=netperf --providers='A:1f:5:Key="a,b";C=2,B::warning' --providers=a:100 "$pid"
logged "options_become_the_command" '^collect6 type=0 mb=16 format=0 rundown=0x0 stacks=0 A:0x11f:5:Key="a,b";C=2 B:0xffffffffffffffff:3:$'
record --duration=0.2s --clrevents=gc+jit --clreventlevel=verbose --profile=gc-collect --rundown=40 "$pid"
logged "what_is_asked_for_by_keyword_counts_more_than_a_profile" '^collect6 .* rundown=0x40 .* Microsoft-Windows-DotNETRuntime:0x11:5: Microsoft-Windows-DotNETRuntimePrivate:0x1:4:$'
record --duration=0.2s --profile=gc-collect "$pid"
logged "a_profile_of_little_cost_has_little_rundown" '^collect6 .* rundown=0x1 .*Runtime:0x1:4: '
record --duration=0.2s --buffering-mode=block "$pid"
logged "waiting_instead_of_losing_is_asked_for" '^collect7 .* mode=1$'
record --duration=0.2s "$pid"
run "$tracetta" record dotnet --duration=0.2 -o "$work/out.nettrace" "$pid"
[ $run_status = 4 ] && grep -q 'exists' "$work/.err"
verdict "an_existing_file_is_not_replaced" $? "exit status $run_status"
"$tracetta" record dotnet --duration=0.2 -o - "$pid" 2>"$work/.err" >"$work/piped"
ended "$work/piped"
verdict "a_recording_goes_to_standard_output" $? "$(head -c 8 "$work/piped")"
"$tracetta" record dotnet -o - "$pid" 2>"$work/.err" | head -c 100 >"$work/piped"
[ "${PIPESTATUS[0]}" = 0 ] && [ ! -s "$work/.err" ]
verdict "a_reader_that_leaves_ends_the_recording" $? "$(cat "$work/.err")"
if [ -w /dev/full ]; then
    run "$tracetta" record dotnet -o /dev/full "$pid"
    [ $run_status = 4 ] && grep -q 'No space left on device; the recording stops' "$work/.err"
    verdict "a_full_disk_ends_the_recording" $? "exit status $run_status"
    logged "and_the_session" '^stop 0x1234$'
fi
small=$work/small
mkdir "$small"
if mount -t tmpfs -o size=64k tmpfs "$small" 2>/dev/null; then
    run "$tracetta" record dotnet --duration=0.2s -o "$small/out.nettrace" "$pid"
    [ $run_status = 4 ] && ended "$small/out.nettrace" && grep -q 'No space left on device; the recording stops' "$work/.err"
    verdict "a_disk_that_fills_leaves_a_file_that_is_complete_up_to_its_last_block" $? "exit status $run_status: $(cat "$work/.err")"
    "$tracetta" check "$small/out.nettrace" >"$work/checked"
    verdict "and_reads_as_whole" $? "$(cat "$work/checked")"
    umount "$small"
else
    skip "a_disk_that_fills_leaves_a_file_that_is_complete_up_to_its_last_block" "no file system of a given size can be mounted"
fi
refuses "a_profile_that_is_none_is_reported" 2 'expected dotnet-common, ' "$tracetta" record dotnet --profile=nothing "$pid"
refuses "a_level_that_is_none_is_reported" 2 'is unknown: expected 0 to 5' "$tracetta" record dotnet --providers=A:1:loud "$pid"
refuses "a_level_of_nothing_is_refused" 2 'level of --clrevents, which is not given' "$tracetta" record dotnet --clreventlevel=4 "$pid"
for option in profile diagnostic-port output providers clrevents duration; do
    refuses "an_empty_${option}_is_refused" 2 "$option|no name|keyword \"\"" "$tracetta" record dotnet "--$option=" $([ $option = diagnostic-port ] || echo "$pid")
done
refuses "record_without_a_kind_names_both" 2 '"tracetta record dotnet PID" or "tracetta record perf' "$tracetta" record "$pid"
refuses "a_process_must_be_named" 2 'expects a process' "$tracetta" record dotnet
unserve
serve ends=yes
record "$pid"
[ $run_status = 0 ] && ended "$work/out.nettrace" && [ ! -s "$work/.err" ]
verdict "a_program_that_ends_ends_the_recording" $? "exit status $run_status"
unserve
serve dies=3500
record "$pid"
[ $run_status = 1 ] && ended "$work/out.nettrace" && grep -q 'was killed' "$work/.err" && [ "$(stat -c %s "$work/out.nettrace")" = 3198 ]
verdict "a_program_that_is_killed_leaves_a_file_that_is_complete_up_to_its_last_block" $? "exit status $run_status, $(stat -c %s "$work/out.nettrace") bytes"
unserve
serve dies=0
record "$pid"
[ $run_status = 1 ] && grep -q 'nothing of it' "$work/.err"
verdict "a_program_that_is_killed_at_once_leaves_nothing" $? "exit status $run_status"
unserve
serve error=80004005
refuses "a_refusal_is_reported_with_its_reason" 3 '64 sessions can run at once.*0x80004005' "$tracetta" record dotnet -o "$work/refused.nettrace" "$pid"
unserve
serve collect=2
record --duration=0.2s --rundown=false --no-stacks "$pid"
grep -q 'cannot leave stacks out' "$work/.err" && grep -q 'cannot choose the rundown' "$work/.err"
verdict "unsupported_request_to_old_runtime_is_reported" $? "$(cat "$work/.err")"
unserve

# Signals: a background job of a script ignores SIGINT unless job control is on.
set -m
for signal in INT TERM; do
    serve
    rm -f "$work/out.nettrace"
    "$tracetta" record dotnet -o "$work/out.nettrace" "$pid" 2>"$work/.err" &
    command=$!
    await test -s "$work/out.nettrace"
    kill -$signal $command
    wait $command
    run_status=$?
    [ $run_status = 0 ] && ended "$work/out.nettrace" && [ ! -s "$work/.err" ]
    verdict "sig${signal,,}_ends_a_recording_with_all_of_its_rundown" $? "exit status $run_status"
    unserve
done
serve fault=foreign
rm -f "$work/out.nettrace"
begin=$SECONDS
run "$tracetta" record dotnet -o "$work/out.nettrace" "$pid"
[ $run_status = 3 ] && grep -q 'sends no nettrace: expected a stream that begins with "Nettrace"' "$work/.err" && [ $((SECONDS - begin)) -lt 30 ]
verdict "stream_of_another_kind_ends_the_recording" $? "exit status $run_status after $((SECONDS - begin)) s"
unserve
serve fault=stop-silent
rm -f "$work/out.nettrace"
"$tracetta" record dotnet -o "$work/out.nettrace" "$pid" 2>"$work/.err" &
command=$!
await test -s "$work/out.nettrace"
kill -INT $command
await grep -q '^stop' "$TMPDIR/log"
kill -INT $command
wait $command
run_status=$?
[ $run_status = 130 ] && [ -s "$work/out.nettrace" ]
verdict "a_second_ctrl_c_ends_at_once_and_keeps_what_came" $? "exit status $run_status"
unserve

# --- counters ---

# watch PATTERN OPTIONS...: watches counters until a line of the output matches the extended regular expression, and ends that by Ctrl-C.
is_shown()
{
    grep -Eq -e "$1" "$work/.out" || is_gone $command
}
watch()
{
    local pattern=$1
    shift
    : >"$work/.out" # what was printed before is not looked at
    "$tracetta" counters "$@" >"$work/.out" 2>"$work/.err" &
    command=$!
    await is_shown "$pattern"
    kill -INT $command 2>/dev/null
    wait $command
    run_status=$?
}
serve counters=yes
watch 'Demo,"Load, now .*,2\.5$' --format=csv --counters='Demo,Shop' "$pid"
cat >"$work/expected" <<'END'
Timestamp,Provider,Counter Name,Counter Type,Mean/Increment
Demo,"Load, now (%)",Metric,1.5
Demo,Hits (Count / 1 sec),Rate,10
Shop,sales (items / 1 sec)[city=Ulm],Rate,0
Shop,delay (ms)[Percentile=0.5],Metric,2
Shop,delay (ms)[Percentile=0.95],Metric,7.5
Demo,"Load, now (%)",Metric,2.5
END
[ $run_status = 0 ] && sed 's|^[0-9/]* [0-9:]*,||' "$work/.out" | head -n 7 | cmp -s - "$work/expected"
verdict "counters_and_meters_become_lines_of_csv" $? "exit status $run_status"
logged "both_are_asked_for" '^collect6 .* mb=10 .* rundown=0x0 .* Demo:0x0:4:EventCounterIntervalSec=1 Shop:.* System.Diagnostics.Metrics:0x2:4:SessionId=SHARED;Metrics=Demo,Shop;RefreshInterval=1;'
watch 'city=Ulm' --format=json --counters='Shop[sales],Demo[hits,none]' "$pid"
[ $run_status = 0 ] && grep -q '"name": "Hits (Count / 1 sec)"' "$work/.out" && grep -q '"tags": "city=Ulm"' "$work/.out" && ! grep -Eq 'Load|delay' "$work/.out" &&
    "$python" -m json.tool "$work/.out" >/dev/null
verdict "some_of_them_become_json" $? "exit status $run_status"
watch '^    Load, now \(%\)  *1\.5$' --counters=Demo "$pid"
[ $run_status = 0 ] && grep -Eq '^    Load, now \(%\)  *1\.5$' "$work/.out"
verdict "a_table_is_printed_each_time" $? "exit status $run_status"
run "$tracetta" counters --counters=Nothing --duration=0.3s "$pid"
[ $run_status = 0 ] && grep -q 'no counter of this name' "$work/.err"
verdict "counters_that_say_nothing_are_reported" $? "exit status $run_status"
"$tracetta" counters --format=csv --counters=Demo "$pid" >"$work/live" 2>"$work/.err" &
command=$!
await grep -q 'Load, now (%)",Metric,1.5' "$work/live"
verdict "a_value_is_shown_when_it_is_there_and_not_with_the_next" $? "$(cat "$work/live")"
kill -INT $command
wait $command
run_status=$?
[ $run_status = 0 ]
verdict "ctrl_c_ends_the_watching" $? "exit status $run_status"
rm -f "$TMPDIR/log"
record --stopping-event-provider-name=Demo --stopping-event-event-name=EventCounters --stopping-event-payload-filter=Name:load,Mean:3.5 --duration=100s "$pid"
[ $run_status = 0 ] && [ "$(tail -c 1 "$work/out.nettrace" | od -An -tx1)" = " 01" ]
verdict "an_event_ends_a_recording" $? "exit status $run_status"
run "$tracetta" cat --raw --format=csv --name=EventCounters "$work/out.nettrace"
[ "$(grep -c '""load""' "$work/.out")" = 3 ]
verdict "as_soon_as_it_comes" $? "$(grep -c load "$work/.out") of them"
refuses "a_stopping_event_wants_its_provider" 2 'expects its provider' "$tracetta" record dotnet --stopping-event-event-name=GCStart "$pid"
refuses "counters_that_cannot_be_written_are_no_success" 4 'cannot write .free some space or write elsewhere.: No space left' "$tracetta" counters --counters=Demo --format=csv --overwrite -o /dev/full --duration=0.3s "$pid"
refuses "a_duration_longer_than_any_clock_is_refused" 2 'up to 292 years' "$tracetta" counters --duration=999999:00:00:00 "$pid"
refuses "counters_want_a_process" 2 'expects a process' "$tracetta" counters
unserve

# --- Sockets of ours, which runtimes connect to ---
record --duration=0.5s -- "$python" "$here/dotnet_serve.py" "$TMPDIR" port="$TMPDIR/none"
[ $run_status = 3 ] && grep -q 'before a .NET runtime started in it' "$work/.err"
verdict "a_program_that_is_none_of_net_is_reported" $? "exit status $run_status"
record -- "$work/no-such-program"
[ $run_status = 3 ] && grep -q 'cannot be run: No such file' "$work/.err" && [ ! -e "$work/out.nettrace" ]
verdict "a_program_that_is_not_there_is_reported" $? "exit status $run_status"
rm -f "$TMPDIR/log"
# shellcheck disable=SC2016  # the started shell expands it
record -- bash -c 'exec "$0" "$1" "$2" port="${DOTNET_DiagnosticPorts%,suspend}" suspended=yes ends=yes' "$python" "$here/dotnet_serve.py" "$TMPDIR"
[ $run_status = 0 ] && ended "$work/out.nettrace"
verdict "a_program_is_started_and_recorded_from_its_begin_to_its_end" $? "exit status $run_status"
[ "$(head -n 2 "$TMPDIR/log" | cut -d' ' -f1 | tr '\n' ' ')" = "collect6 resume " ]
verdict "the_runtime_goes_on_only_after_the_session_has_begun" $? "$(cat "$TMPDIR/log")"
rm -f "$work/ready" "$TMPDIR/log" "$work/out.nettrace"
"$tracetta" record dotnet --diagnostic-port="$TMPDIR/port" -o "$work/out.nettrace" 2>"$work/.err" &
command=$!
await test -S "$TMPDIR/port"
"$python" "$here/dotnet_serve.py" "$TMPDIR" port="$TMPDIR/port" suspended=yes &
first=$!
await test -s "$work/out.nettrace"
"$python" "$here/dotnet_serve.py" "$TMPDIR" port="$TMPDIR/port" cookie=9 suspended=yes &
second=$!
await eval '[ "$(grep -c resume "$TMPDIR/log")" = 2 ]'
verdict "another_runtime_at_the_same_socket_is_resumed" $? "$(cat "$TMPDIR/log")"
kill -INT $command
wait $command
run_status=$?
[ $run_status = 0 ] && ended "$work/out.nettrace" && grep -q '1 more runtime' "$work/.err" && [ "$(grep -c collect "$TMPDIR/log")" = 1 ]
verdict "and_the_first_is_the_one_that_is_recorded_and_stopped" $? "exit status $run_status"
[ ! -e "$TMPDIR/port" ]
verdict "our_socket_is_removed" $? "it is there"
kill -KILL $first $second 2>/dev/null
serve
socket=$(echo "$TMPDIR"/dotnet-diagnostic-*)
record --duration=0.2s --diagnostic-port="$socket,connect"
[ $run_status = 0 ] && ended "$work/out.nettrace"
verdict "a_socket_of_the_runtime_can_be_named" $? "exit status $run_status"
deep=$TMPDIR/$(printf 'a%.0s' {1..100})
mkdir "$deep"
ln -s "$socket" "$deep/socket"
record --duration=0.2s --diagnostic-port="$deep/socket,connect"
[ $run_status = 0 ]
verdict "a_path_may_be_longer_than_an_address" $? "exit status $run_status"
unserve

# --- counters of what is started, dump ---
rm -f "$TMPDIR/log"
# shellcheck disable=SC2016  # the started shell expands it
watch 'Metric,1\.5$' --format=csv --counters=Demo -- bash -c 'exec "$0" "$1" "$2" port="${DOTNET_DiagnosticPorts%,suspend}" suspended=yes counters=yes' "$python" "$here/dotnet_serve.py" "$TMPDIR"
[ $run_status = 0 ] && grep -q '^.*,Demo,"Load, now (%)",Metric,1.5$' "$work/.out"
verdict "a_program_is_started_and_its_counters_are_watched" $? "exit status $run_status: $(head -c 500 "$work/.out")"
[ "$(head -n 2 "$TMPDIR/log" | cut -d' ' -f1 | tr '\n' ' ')" = "collect6 resume " ]
verdict "it_goes_on_once_the_watching_has_begun" $? "$(cat "$TMPDIR/log")"
run "$tracetta" counters --duration=1s -- false
[ $run_status = 3 ] && grep -q 'before a .NET runtime started in it' "$work/.err"
verdict "a_program_without_a_runtime_has_no_counters" $? "exit status $run_status"
serve counters=yes environment=HOME=/h,GREETING=a=b
socket=$(echo "$TMPDIR"/dotnet-diagnostic-*)
watch 'Metric,1\.5$' --format=csv --counters=Demo --diagnostic-port="$socket,connect"
[ $run_status = 0 ] && grep -q '"Load, now (%)",Metric,1.5$' "$work/.out"
verdict "counters_are_watched_at_a_socket" $? "exit status $run_status"
refuses "a_socket_and_a_process_are_one_too_many" 2 'selects the process: leave out' "$tracetta" counters --diagnostic-port="$socket,connect" "$pid"
run "$tracetta" dump "$pid"
[ $run_status = 0 ] && grep -qx "pid       $pid" "$work/.out" && grep -qx 'runtime   8\.0\.11' "$work/.out" && grep -qx 'env       HOME=/h' "$work/.out" &&
    grep -qx '          GREETING=a=b' "$work/.out"
verdict "dump_shows_what_a_process_says_of_itself_and_its_environment" $? "exit status $run_status"
run "$tracetta" dump --json "$pid"
[ $run_status = 0 ] && "$python" -c 'import json, sys; it = json.load(open(sys.argv[1])); sys.exit(it["processes"][0]["environment"]["GREETING"] != "a=b")' "$work/.out"
verdict "and_as_json" $? "exit status $run_status"
refuses "dump_wants_a_process" 2 'expects a process' "$tracetta" dump
unserve
serve fault=silent
run "$tracetta" dump "$pid"
[ $run_status = 3 ] && grep -q 'environment cannot be read: no answer' "$work/.err"
verdict "a_silent_process_is_not_a_success" $? "exit status $run_status"
unserve
