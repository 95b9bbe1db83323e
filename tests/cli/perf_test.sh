#!/bin/bash
# Events of the kernel: record perf.  usage: perf_test.sh TRACETTA WORKLOAD
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
workload=$work/calls$$ # a name of its own: what is recorded of everything may hold the calls of another run of this test
cp "$2" "$workload" || exit 1
events=syscalls:sys_enter_getpgid
roomy=--buffersize=32 # MB that hold all that is made here: nothing is lost where the recorder waits for a processor

# record OPTIONS...: into $work/out.data.
record()
{
    rm -f "$work/out.data"
    run "$tracetta" record perf -o "$work/out.data" "$@"
}

# interruptible FILE OPTIONS...: begins a recording; $recorder is its process.  It runs once its file has a header, and ends by itself where this
# test is killed.
interruptible()
{
    "$tracetta" record perf --duration=600s -o "$@" &
    recorder=$!
    await_file "$1" $recorder
}

# await_written FILE NAME N: until so many events of a name stand in the file, however busy the machine; who is killed writes no more.
has_written()
{
    # No more than these are looked for: a file of a busy machine may grow as fast as it is read.
    [ "$("$tracetta" cat --format=jsonl --process="$(basename "$workload")" --name="$2" "$1" 2>/dev/null | head -n "$3" | wc -l)" -ge "$3" ]
}
await_written()
{
    await has_written "$@"
}

# ended SIGNAL FILE OPTIONS...: a recording of everything, with 1000 calls in it, that ends by a signal; $status is how.  Job control keeps the shell from
# making what it starts deaf to Ctrl-C.
ended()
{
    set -m
    interruptible "${@:2}" -e $events -a $roomy
    set +m
    "$workload" 1000
    [ "$1" != KILL ] || await_written "$2" sys_enter_getpgid 1000
    kill "-$1" $recorder
    wait $recorder 2>/dev/null
    status=$?
}

# count FILE NAME: how many events of a name the program has.
count()
{
    "$tracetta" cat --format=jsonl --process="$(basename "$workload")" --name="$2" "$1" | wc -l
}

# --- What needs no kernel ---
refuses "one_of_three_says_whom_to_record" 2 "expected one of -a .*, -p PID, or" "$tracetta" record perf
refuses "two_of_three_are_one_too_many" 2 "expected one of -a" "$tracetta" record perf -a -p 1
refuses "an_operand_is_not_a_process" 2 "unexpected \"app\": expected -a" "$tracetta" record perf app
for option in --profile=gc-verbose --no-stacks --buffering-mode=drop --no-resume --clreventlevel=4 --stopping-event-event-name=x --format=nettrace; do
    name=${option%%=*}
    refuses "option_${name#--}_is_no_option_of_perf" 2 "unknown option $name: it is an option of \"tracetta (record dotnet|cat|query)\"" "$tracetta" record perf -a "$option"
done
for value in max-size=0 max-size=-1 max-size= max-size=10XB max-size=99999999999999999999 frequency=0 frequency=-5 frequency=1000001 frequency=fast buffersize=0 \
    buffersize=513 duration=0 duration=-3s duration=5parsecs pid=0 pid=-1 output= event= event=,; do
    refuses "nonsense_is_refused_$value" 2 "${value%%=*}" "$tracetta" record perf -o "$work/no.data" "--$value" -- true
done
refuses "an_empty_command_is_refused" 2 "is empty" "$tracetta" record perf -o "$work/no.data" -- ""
refuses "a_folder_is_no_file" 4 "Is a directory" "$tracetta" record perf -o "$work" -- true
refuses "a_folder_that_is_missing_is_reported" 4 "No such file or directory" "$tracetta" record perf -o "$work/no/such/file" -- true
refuses "options_of_perf_are_no_options_of_dotnet" 2 "unknown option -g: this command has no --stacks" "$tracetta" record dotnet -g 1
run "$tracetta" record perf -o "$work/no.data" -e cpu-clok -a
if grep -q "without tracefs" "$work/.err"; then wanted=3; else wanted=2; fi # what cannot be looked up is no misuse
[ $run_status = $wanted ] && grep -q 'event "cpu-clok".*; similar: cpu-clock' "$work/.err"
verdict "a_counter_with_a_mistake_is_reported_with_the_right_one" $? "exit status $run_status, wanted $wanted"
[ ! -e "$work/no.data" ]
verdict "a_recording_that_never_began_leaves_no_file" $? "there is $work/no.data"

# --- Samples ---
record -- true
if [ $run_status != 0 ]; then
    skip "recording" "$(head -n 1 "$work/.err")"
    exit 0
fi
refuses "a_process_that_is_none_is_reported" 3 "there is no process 4194305" "$tracetta" record perf -o "$work/none.data" -p 4194305
refuses "a_command_that_is_none_is_reported" 3 "cannot be run: No such file" "$tracetta" record perf -o "$work/none.data" -- /nowhere/at/all
run "$tracetta" record perf -o "$work/samples.data" -F 1000 -g -- "$workload" 0 400
samples=$("$tracetta" cat --kind=sample "$work/samples.data" | grep -c 'frames = \[')
[ $run_status = 0 ] && ((samples >= 40 && samples <= 1000)) # to begin and to end is work too
verdict "a_program_is_sampled_with_stacks" $? "$samples samples of 400 ms of work"
says "mapped_files_are_listed" "calls$$ object .*object=mapping.*path = \".*/calls$$\"" "$tracetta" cat "$work/samples.data"
id=$(readelf -n "$workload" 2>/dev/null | sed -n 's/.*Build ID: //p')
if [ "$id" ]; then
    says "mapped_files_are_reported_with_their_build_ids" "calls$$ object .*build_id = .*$id" "$tracetta" cat "$work/samples.data"
else
    skip "mapped_files_are_reported_with_their_build_ids" "there is no readelf, or no build id in the program"
fi
says "recording_process_is_shown" "command = \"tracetta record .*calls$$ 0 400\"" "$tracetta" info "$work/samples.data"
says "the_file_is_whole" "whole \(perf," "$tracetta" check "$work/samples.data"
refuses "a_file_is_not_replaced_unasked" 4 "the file exists; --overwrite" "$tracetta" record perf -o "$work/samples.data" -- true
# A program without symbols, which is not there any more: a server has it.
here=$(cd "$(dirname "$0")" && pwd)
if [ "$id" ] && command -v strip >/dev/null && /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null; then
    mkdir -p "$work/served/buildid/$id"
    cp "$workload" "$work/served/buildid/$id/debuginfo"
    strip -o "$work/bare" "$workload"
    cp "$work/bare" "$work/served/buildid/$id/executable"
    "$tracetta" record perf -q -o "$work/bare.data" -F 1000 -- "$work/bare" 0 200
    rm "$work/bare"
    /usr/bin/python3 "$here/debuginfod_serve.py" "$work/served" &
    server=$!
    await_file "$work/served/port" $server
    run "$tracetta" report topn "$work/bare.data"
    ! grep -q "bare!main" "$work/.out"
    verdict "a_program_that_is_gone_has_no_functions" $? "it does"
    says "but_a_server_may_have_them" "bare!main" env DEBUGINFOD_CACHE_PATH="$work/cache" ASAN_OPTIONS=detect_leaks=0 "$tracetta" report topn --debuginfod="http://127.0.0.1:$(cat "$work/served/port")" "$work/bare.data"
    kill $server
    wait $server 2>/dev/null
else
    skip "a_server_has_functions_of_a_program_that_is_gone" "there is no libdebuginfod.so.1, no strip, or no build id"
fi
mkfifo "$work/fifo"
cat "$work/fifo" >"$work/fifo.data" &
reader=$!
run "$tracetta" record perf -o "$work/fifo" -F 1000 -- "$workload" 0 200
wait $reader
[ $run_status = 0 ] && [ "$(count "$work/fifo.data" cpu-clock)" -ge 20 ]
verdict "a_fifo_gets_the_form_of_a_pipe" $? "exit status $run_status, $(count "$work/fifo.data" cpu-clock) samples"
refuses "a_device_that_is_full_is_reported" 4 "/dev/full: cannot write: No space left on device" "$tracetta" record perf -o /dev/full -- true
# A file that may not grow any more is like a full disk.  This one has room for more than a buffer holds, however late the recorder comes to it.
(
    ulimit -f 1200
    run "$tracetta" record perf -o "$work/full.data" -F 20000 -g -- "$workload" 0 20000
    [ $run_status = 4 ] && grep -q "cannot write: File too large" "$work/.err"
)
status=$?
"$tracetta" check "$work/full.data" >"$work/.out"
[ $status = 0 ] && [ "$(count "$work/full.data" cpu-clock)" -ge 100 ] && grep -q 'odd perf.killed' "$work/.out" && ! grep -q no-features "$work/.out"
verdict "a_file_that_has_no_room_has_names_and_what_came_before" $? "status $status, $(count "$work/full.data" cpu-clock) samples"
"$tracetta" recover -q "$work/full.data" -o "$work/full-mended.data"
"$tracetta" check --strict "$work/full-mended.data" >"$work/.out"
verdict "recovered_it_is_whole_too" $? "exit status $?"
user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ] && "${user[@]}" test -x "$tracetta"; then
    chmod 755 "$work" && mkdir -m 777 "$work/users"
    for what in "-a" "-p 1"; do
        refuses "refused_user_sees_the_needed_setting_$what" 3 "perf_event_paranoid is [0-9]*, which reserves this for root and CAP_PERFMON.*sysctl kernel.perf_event_paranoid=[01]" \
            "${user[@]}" "$tracetta" record perf -o "$work/users/x.data" $what
    done
else
    skip "who_may_not_is_reported_which_number_would_let_him" "not root, or everybody may"
fi
run "$tracetta" record perf -o "$work/small.data" --max-size=40K -F 20000 -- "$workload" 0 20000
size=$(stat -c %s "$work/small.data")
((size >= 40960 && size < 4000000))
verdict "a_size_ends_the_recording" $? "$size bytes"

# --- Tracepoints ---
record -e $events -- "$workload" 1000
if [ $run_status != 0 ]; then
    skip "tracepoints" "$(head -n 1 "$work/.err")"
    exit 0
fi
[ "$(count "$work/out.data" sys_enter_getpgid)" = 1000 ]
verdict "each_tracepoint_is_there_once" $? "$(count "$work/out.data" sys_enter_getpgid) instead of 1000"
record --zstd $roomy -e $events -- "$workload" 100000
[ "$(count "$work/out.data" sys_enter_getpgid)" = 100000 ] && [ "$(stat -c %s "$work/out.data")" -lt 2000000 ]
verdict "a_compressed_recording_has_the_same_and_is_small" $? "$(stat -c %s "$work/out.data") bytes, $(count "$work/out.data" sys_enter_getpgid) events"
"$tracetta" record perf -o - -e $events -- "$workload" 1000 >"$work/pipe.data"
[ "$(count "$work/pipe.data" sys_enter_getpgid)" = 1000 ]
verdict "a_pipe_gets_them_too" $? "$(count "$work/pipe.data" sys_enter_getpgid) instead of 1000"
"$tracetta" record perf -o - -e $events -a --duration=60s | head -c 16 >"$work/head.data"
[ "${PIPESTATUS[0]}" = 0 ] && [ "$(stat -c %s "$work/head.data")" = 16 ]
verdict "closed_pipe_ends_the_recording" $? "exit status ${PIPESTATUS[0]}"
record -e $events,cpu-clock -- "$workload" 1000 50
[ "$(count "$work/out.data" sys_enter_getpgid)" = 1000 ] && [ "$(count "$work/out.data" cpu-clock)" -ge 1 ]
verdict "tracepoints_and_samples_are_in_one_file" $? "$("$tracetta" info "$work/out.data")"
record -e 'syscalls:sys_enter_getpg*' -- "$workload" 10
[ "$(count "$work/out.data" sys_enter_getpgid)" = 10 ]
verdict "globs_choose_tracepoints" $? "$(count "$work/out.data" sys_enter_getpgid) instead of 10"

# --- How it ends ---
for signal in INT TERM HUP; do
    ended $signal "$work/$signal.data"
    [ $status = 0 ] && [ "$(count "$work/$signal.data" sys_enter_getpgid)" = 1000 ]
    verdict "SIG${signal}_leaves_a_whole_file" $? "exit status $status, $(count "$work/$signal.data" sys_enter_getpgid) instead of 1000"
    succeeds "SIG${signal}_leaves_nothing_to_complain_of" "$tracetta" check --strict -q "$work/$signal.data"
done
for how in "" --zstd; do
    ended KILL "$work/killed$how.data" $how
    [ $status = 137 ] && [ "$(count "$work/killed$how.data" sys_enter_getpgid)" = 1000 ]
    verdict "who_is_killed_leaves_a_file_with_names_and_events$how" $? "exit status $status, $(count "$work/killed$how.data" sys_enter_getpgid) instead of 1000"
    says "and_it_reports_it$how" "odd perf.killed x1" "$tracetta" check "$work/killed$how.data"
    run "$tracetta" recover -q "$work/killed$how.data" -o "$work/mended$how.data"
    [ "$(count "$work/mended$how.data" sys_enter_getpgid)" = 1000 ] && ! "$tracetta" check "$work/mended$how.data" | grep -q odd
    verdict "recovered_it_is_whole$how" $? "$(count "$work/mended$how.data" sys_enter_getpgid) instead of 1000, $("$tracetta" check "$work/mended$how.data")"
done
"$workload" 0 60000 &
pid=$!
interruptible "$work/target.data" -p $pid
await_written "$work/target.data" cpu-clock 1
kill -KILL $pid
wait $recorder
status=$?
wait $pid 2>/dev/null
[ $status = 0 ] && [ "$(count "$work/target.data" cpu-clock)" -ge 1 ] && "$tracetta" check --strict "$work/target.data" >"$work/.out"
verdict "a_process_that_is_killed_leaves_a_whole_file" $? "$("$tracetta" check "$work/target.data")"

# --- A process that is there, everything, and snapshots ---
"$workload" 0 60000 &
pid=$!
interruptible "$work/process.data" -F 1000 -p $pid
await_written "$work/process.data" cpu-clock 20
kill -TERM $recorder
wait $recorder
status=$?
[ $status = 0 ] && [ "$(count "$work/process.data" cpu-clock)" -ge 20 ]
verdict "a_process_that_runs_is_recorded" $? "exit status $status, $(count "$work/process.data" cpu-clock) samples"
succeeds "a_duration_ends_a_recording" "$tracetta" record perf -o "$work/brief.data" -p $pid --duration=0.3s
succeeds "with_a_whole_file" "$tracetta" check --strict -q "$work/brief.data"
kill $pid
wait $pid 2>/dev/null
mkfifo "$work/held"
cat "$work/held" &
pid=$!
exec 9>"$work/held"
interruptible "$work/ends.data" -p $pid 9>&-
exec 9>&-
wait $recorder
verdict "the_end_of_the_process_ends_the_recording" $? "exit status $?"
interruptible "$work/all.data" -e $events -a $roomy
"$workload" 1000
kill -TERM $recorder
wait $recorder
[ "$(count "$work/all.data" sys_enter_getpgid)" = 1000 ]
verdict "everything_is_recorded_until_a_signal" $? "$(count "$work/all.data" sys_enter_getpgid) instead of 1000"
interruptible "$work/snapshot.data" --snapshot -e $events -a $roomy
"$workload" 100
kill -USR2 $recorder
await_written "$work/snapshot.data" sys_enter_getpgid 100
"$workload" 50
kill -TERM $recorder
wait $recorder
status=$?
[ $status = 0 ] && [ "$(count "$work/snapshot.data" sys_enter_getpgid)" = 150 ]
verdict "a_snapshot_has_each_event_once_however_often_it_is_dumped" $? "exit status $status, $(count "$work/snapshot.data" sys_enter_getpgid) instead of 150"
run "$tracetta" record perf -o "$work/last.data" --snapshot -e $events -- "$workload" 1000000
kept=$(count "$work/last.data" sys_enter_getpgid)
((kept > 1000 && kept < 1000000))
verdict "a_snapshot_keeps_what_came_last" $? "$kept of 1000000"
says "a_snapshot_is_whole_and_in_order" "^.*: whole \(perf, [0-9,]* events, [^)]*\)$" "$tracetta" check "$work/snapshot.data"
run grep -c odd "$work/.out"
[ "$(cat "$work/.out")" = 0 ]
verdict "rounds_of_a_snapshot_keep_their_promise" $? "it is odd"
