#!/bin/bash
# Answers of query against those of Perfetto's trace processor to the same statements: slices, threads, scheduling, counters.
# TTR_TRACE_PROCESSOR names trace_processor_shell, or TTR_TRACE_PROCESSOR_WASM a folder (trace_processor_wasm.js).
# usage: query_perfetto.sh TRACETTA GENERATE_FXT
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
generate=$2
processor=${TTR_TRACE_PROCESSOR:-$(command -v trace_processor_shell)}
if [ -z "$processor" ] && [ -n "$TTR_TRACE_PROCESSOR_WASM" ] && command -v node >/dev/null; then
    processor=$(realpath "$(dirname "$0")")/trace_processor_wasm.js
fi
if [ ! -x "$processor" ]; then
    skip "answers_are_those_of_trace_processor" "neither TTR_TRACE_PROCESSOR nor TTR_TRACE_PROCESSOR_WASM names a trace processor"
    exit
fi

# judge NAME TRACE SQL [OURS]: one case; the rows are equal, without their head.  OURS is the statement for query, if it is another one.
judge()
{
    printf '%s\n' "$3" >"$work/statement.sql"
    timeout 120 "$processor" -q "$work/statement.sql" "$2" 2>"$work/.err" | tail -n +2 | tee "$work/.out" | sed 's/"\[NULL\]"//g; s/"//g' >"$work/expected"
    timeout 120 "$tracetta" query -q --format=csv "$2" "${4:-$3}" 2>>"$work/.err" | tail -n +2 >"$work/found"
    [ -s "$work/expected" ] && cmp -s "$work/expected" "$work/found"
    verdict "$1" $? "$(diff "$work/expected" "$work/found" | head -5)"
}

slices="SELECT s.ts - (SELECT min(ts) FROM slice JOIN thread_track x ON x.id = track_id), s.dur, s.depth, s.parent_id IS NULL, s.name, t.tid
    FROM slice s JOIN thread_track k ON k.id = s.track_id JOIN thread t USING (utid) ORDER BY 1, s.depth, s.dur, s.name"
"$generate" --events 20000 --seed 5 --mix bench "$work/t.fxt" || exit 1
judge "slices_of_threads_are_those_of_trace_processor" "$work/t.fxt" "$slices"
judge "counters_are_those_of_trace_processor" "$work/t.fxt" \
    "SELECT t.name, count(*), CAST(min(c.value) AS INT), CAST(max(c.value) AS INT) FROM counter c JOIN counter_track t ON t.id = c.track_id GROUP BY 1 ORDER BY 1" \
    "SELECT t.name || ':' || t.series || ':' || t.counter_id, count(*), CAST(min(c.value) AS INT), CAST(max(c.value) AS INT)
        FROM counter c JOIN counter_track t ON t.id = c.track_id GROUP BY 1 ORDER BY 1"
judge "lag_is_that_of_trace_processor" "$work/t.fxt" "SELECT count(*), sum(ts - before) FROM (SELECT s.ts,
    lag(s.ts) OVER (PARTITION BY s.track_id ORDER BY s.ts) before FROM slice s JOIN thread_track k ON k.id = s.track_id)"
judge "threads_are_those_of_trace_processor" "$work/t.fxt" \
    "SELECT DISTINCT t.tid, p.pid FROM slice s JOIN thread_track k ON k.id = s.track_id JOIN thread t USING (utid) JOIN process p USING (upid) ORDER BY 1, 2"

magic=$corpus/fxt/magic-trace-2022.fxt
if [ -n "$corpus" ] && [ -e "$magic" ]; then
    judge "slices_of_magic_trace_are_those_of_trace_processor" "$magic" "$slices"
    judge "percentiles_of_magic_trace_are_those_of_trace_processor" "$magic" \
        "SELECT name, count(*), sum(dur), CAST(percentile(dur, 99) AS INT) FROM slice GROUP BY 1 ORDER BY 1"
else
    skip "slices_of_magic_trace_are_those_of_trace_processor" "no recorded traces"
fi

# The trace processor ends a time on a processor when its thread is woken meanwhile, so wake-ups are left out.  It keeps rows of the idle
# threads, which it numbers in another way.
kernel=$corpus/ctf/tracecompass/many-threads
if [ -n "$corpus" ] && [ -e "$kernel" ]; then
    run "$tracetta" convert -qf --where "kind <> 'wake'" "$kernel" -o "$work/k.fxt"
    judge "scheduling_of_a_kernel_trace_is_that_of_trace_processor" "$work/k.fxt" \
        "SELECT s.ts - (SELECT min(ts) FROM sched), s.dur, s.cpu, tid FROM sched s JOIN thread USING (utid) WHERE tid <> 0 ORDER BY 1, s.cpu"
    judge "slices_of_a_kernel_trace_are_those_of_trace_processor" "$work/k.fxt" \
        "SELECT s.name, count(*), sum(s.dur), sum(s.dur < 0) FROM slice s GROUP BY 1 ORDER BY 1"
else
    skip "scheduling_of_a_kernel_trace_is_that_of_trace_processor" "no recorded traces"
fi
