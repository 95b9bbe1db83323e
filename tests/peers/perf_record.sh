#!/bin/bash
# Recordings of the kernel by record perf: perf opens them, and what they hold is what perf records of the same run.
# usage: perf_record.sh TRACETTA WORKLOAD
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
workload=$2
events=syscalls:sys_enter_getpgid,sched:sched_process_exec,sched:sched_process_exit
name=$(basename "$workload" | cut -c1-15)
export HOME=$work # of which perf would take the cache of programs, and fail where another one changes it
roomy=--buffersize=32 # MB that hold all that is made here: nothing is lost where the recorder waits for a processor

command -v perf >/dev/null || { skip "perf" "there is no perf"; exit 0; }
perf record -q -o "$work/try.data" -e $events -- true 2>"$work/.err" || { skip "perf" "perf may not record: $(head -n 1 "$work/.err")"; exit 0; }

# lines FILE: events of the workload, sorted, as perf prints them.
lines()
{
    perf script -F comm,event,trace -i "$1" 2>/dev/null | grep -E "^ *$name " | sed 's/^ *//; s/  */ /g' | sort
}

# Both at once, of one run.
run perf record -q -m 32M -o "$work/perf.data" -a -e $events -- "$tracetta" record perf $roomy -o "$work/ours.data" -e $events -- "$workload" 20000
lines "$work/perf.data" >"$work/perf.txt"
lines "$work/ours.data" >"$work/ours.txt"
[ $run_status = 0 ] && [ "$(wc -l <"$work/perf.txt")" -ge 20001 ] && cmp -s "$work/perf.txt" "$work/ours.txt"
verdict "one_run_gives_the_same_events_as_perf_records" $? "perf $(wc -l <"$work/perf.txt"), ours $(wc -l <"$work/ours.txt") lines: $(diff "$work/perf.txt" "$work/ours.txt" | head -n 5)"

for how in "" --zstd; do
    run "$tracetta" record perf -o "$work/file$how.data" $how $roomy -g -e $events,cpu-clock -F 1000 -- "$workload" 20000 200
    says "perf_script_opens_a_file$how" "sys_enter_getpgid" perf script -i "$work/file$how.data"
    lines "$work/file$how.data" >"$work/lines.txt"
    [ "$(grep -c sys_enter_getpgid "$work/lines.txt")" = 20000 ]
    verdict "perf_script_finds_every_event_of_a_file$how" $? "$(grep -c sys_enter_getpgid "$work/lines.txt") of 20000"
    says "perf_report_names_functions_of_a_file$how" "^ .*% .*$name.*main" perf report --stdio --no-children -g none -i "$work/file$how.data"
    run perf script -i "$work/file$how.data"
    [ "$(grep -c . "$work/.err")" = 0 ]
    verdict "perf_has_nothing_to_complain_of_a_file$how" $? "it does"
done

# Files that were mapped, before and after the recording began, are known by their build ids, also where others lie in their places later.
cp "$workload" "$work/moved"
"$tracetta" record perf -g -o "$work/ids.data" -- "$work/moved" 10 200
wanted=$(readelf -n "$work/moved" | sed -n 's/.*Build ID: //p')
says "perf_lists_build_ids" "^$wanted $work/moved" perf buildid-list -i "$work/ids.data"
says "perf_report_names_functions_of_the_file_with_that_id" "^ .*% .*moved .*main" perf report --stdio --no-children -g none -i "$work/ids.data"
cp /bin/true "$work/other" && mv "$work/other" "$work/moved"
run perf report --stdio --no-children -g none -i "$work/ids.data"
! grep -q "main" "$work/.out"
verdict "perf_report_does_not_take_another_file_for_it" $? "it does"

# A recorder that is killed, with and without what recover makes of its file.
# It is killed when perf finds all that it should: that is at a mark, each second, where there is something new.
has_calls()
{
    [ "$(lines "$1" | grep -c sys_enter_getpgid)" = 20000 ]
}
for how in "" --zstd; do
    "$tracetta" record perf -o "$work/killed$how.data" $how $roomy -e $events -a --duration=600s &
    recorder=$!
    await_file "$work/killed$how.data" $recorder
    "$workload" 20000
    await has_calls "$work/killed$how.data"
    kill -KILL $recorder
    wait $recorder 2>/dev/null
    "$tracetta" recover -q "$work/killed$how.data" -o "$work/mended$how.data"
    for file in killed mended; do
        lines "$work/$file$how.data" >"$work/lines.txt"
        [ "$(grep -c sys_enter_getpgid "$work/lines.txt")" = 20000 ]
        verdict "perf_reads_what_a_killed_recorder_left_${file}$how" $? "$(grep -c sys_enter_getpgid "$work/lines.txt") of 20000"
    done
done
"$tracetta" record perf $roomy -o - -e $events -- "$workload" 20000 >"$work/pipe.data"
[ "$(perf script -i - <"$work/pipe.data" 2>/dev/null | grep -c sys_enter_getpgid)" = 20000 ]
verdict "perf_reads_a_pipe" $? "$(perf script -i - <"$work/pipe.data" 2>&1 | grep -c sys_enter_getpgid) of 20000"
