#!/bin/bash
# Tables of query with values that other programs computed (out of babeltrace2, perf script and trace-cmd report).
# usage: schema_test.sh TRACETTA
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
: >"$work/.out" >"$work/.err"

# answers NAME TRACE EXPECTED SQL: the rows of the statement are EXPECTED, cells separated by "|", rows by blanks.
answers()
{
    local found
    if [ -z "$corpus" ] || [ ! -e "$corpus/$2" ]; then
        skip "$1" "no recorded traces"
        return
    fi
    found=$("$tracetta" query -q --format=tsv "$corpus/$2" "$4" 2>&1 | tail -n +2 | tr '\t\n' '| ')
    [ "$found" = "$3 " ]
    verdict "$1" $? "$found"
}

running="SELECT sum(dur) FILTER (WHERE tid <> 0), sum(dur) FILTER (WHERE tid = 0), (SELECT count(*) FROM sched) FROM sched JOIN thread USING (utid) WHERE dur >= 0"
same_as_states="SELECT (SELECT sum(dur) FROM thread_state WHERE state = 'Running') - (SELECT sum(dur) FROM sched) AS differ,
    (SELECT count(*) FROM (SELECT ts, lag(ts + dur) OVER (PARTITION BY utid ORDER BY ts) AS before FROM thread_state WHERE dur >= 0) WHERE ts < before)"
while IFS='|' read -r trace expected; do
    answers "running_time_of_${trace##*/}_is_that_of_its_switches" "$trace" "$expected" "$running"
    answers "states_of_${trace##*/}_do_not_overlap" "$trace" "0|0" "$same_as_states"
done <<'TRUTH'
ctf/tracecompass/many-threads|1874180585|1557381200|28325
ctf/tracecompass/perf-taskset2|26949337|35113029|562
eventheader/tracecmd-vm/vm-v7-zstd.dat|132468125|137854235|124
eventheader/tracecmd-vm/vm-v7-date.dat|579835361|207658178|81
TRUTH
answers "longest_runners_are_those_of_the_truth" ctf/tracecompass/many-threads "multithread|128483092|5584 vlc|6903202|28 sudo|4941273|3" \
    "SELECT t.name, sum(dur), count(*) FROM thread_state JOIN thread t USING (utid) WHERE state = 'Running' AND dur >= 0 AND tid <> 0 GROUP BY utid ORDER BY 2 DESC LIMIT 3"
answers "every_waker_ran_when_it_woke" ctf/tracecompass/many-threads "0" \
    "SELECT count(*) FROM thread_state r JOIN thread_state w ON w.id = r.waker_id WHERE w.utid <> r.waker_utid OR w.state <> 'Running' OR r.ts < w.ts OR (w.dur >= 0 AND r.ts > w.ts + w.dur)"

# Counts of classes against the lines of babeltrace2.
if [ -n "$corpus" ] && command -v babeltrace2 >/dev/null; then
    "$tracetta" query -q --format=tsv "$corpus/ctf/tracecompass/many-threads" "SELECT name, events FROM class WHERE events > 0 ORDER BY 1 COLLATE BINARY" | tail -n +2 >"$work/found"
    babeltrace2 "$corpus/ctf/tracecompass/many-threads" 2>/dev/null | sed 's/^\[[^]]*\] ([^)]*) \([^ ]* \)\{0,1\}\([^ :]*\): {.*/\2/' | LC_ALL=C sort | uniq -c |
        awk '{ print $2 "\t" $1 }' >"$work/expected"
    cmp -s "$work/expected" "$work/found"
    verdict "classes_are_the_events_of_babeltrace2" $? "$(diff "$work/expected" "$work/found" | head -5)"
else
    skip "classes_are_the_events_of_babeltrace2" "no recorded traces, or no babeltrace2"
fi
answers "system_calls_have_tables_by_the_name_in_the_trace" ctf/tracecompass/many-threads "8192|8192" \
    "SELECT (SELECT count(*) FROM syscall_entry_open), (SELECT count(*) FROM syscall_exit_open)"

# Frames of stacks against the lines of perf script.
data=$corpus/eventheader/made-here/zstd-sched-callchain.data
if [ -n "$corpus" ] && command -v perf >/dev/null && frames=$(perf script -i "$data" -F ip 2>/dev/null) && [ -n "$frames" ]; then
    answers "stacks_have_the_frames_of_perf_script" eventheader/made-here/zstd-sched-callchain.data "$(grep -c . <<<"$frames")" \
        "SELECT sum(depth + 1) FROM perf_sample JOIN stack_profile_callsite c ON c.id = callsite_id"
else
    skip "stacks_have_the_frames_of_perf_script" "no recorded traces, or no perf"
fi
answers "innermost_functions_have_names" nettrace/only_managed_samples.nettrace.xz "5004 2419" \
    "SELECT count(*) FROM perf_sample s JOIN stack_profile_callsite c ON c.id = callsite_id JOIN stack_profile_frame f ON f.id = frame_id
    WHERE f.name GLOB '*FindByte*' OR f.name GLOB '*InnerLoop*' GROUP BY f.name ORDER BY 1 DESC"
answers "samples_are_those_of_traceevent" nettrace/only_managed_samples.nettrace.xz "$(sed -n 's|^\([0-9]*\) .*/Thread/Sample$|\1|p' "$corpus/nettrace/truth/only_managed_samples.nettrace.counts.txt" 2>/dev/null | head -1)" \
    "SELECT count(*) FROM perf_sample WHERE name = 'ThreadSample'"

# 4,034 messages are received (rclcpp_take); the others reach no callback before the trace ends.
answers "messages_of_ros2_lead_to_later_callbacks" ctf/tracecompass/ros2 "1|0|0" \
    "SELECT count(*) BETWEEN 3900 AND 4034, sum(i.ts < o.ts), sum(i.utid = o.utid) FROM flow JOIN slice o ON o.id = slice_out JOIN slice i ON i.id = slice_in"
