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
