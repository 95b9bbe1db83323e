#!/bin/bash
# Compares --debug-info with babeltrace2's on recorded traces: what is said of binaries that are not here, and of none.
# usage: places_corpus.sh TRACETTA SOURCE_ROOT; TTR_CORPUS names the folder of recorded traces.
tracetta=$(realpath "$1")
# shellcheck source=tests/peers/ctf.sh
source "$(dirname "$0")/ctf.sh" "$tracetta" "$2"
command -v babeltrace2 >/dev/null || { skip "recorded traces" "no babeltrace2"; exit; }
[ -d "$corpus" ] || { skip "recorded traces" "no recorded traces: TTR_CORPUS names their folder"; exit; }

for trace in $(traces_under . | grep -E 'debug-?info') lttng-2.13.9/small babeltrace/ctf-traces/succeed/2packets; do
    [ -d "$corpus/$trace" ] || continue
    for option in --debug-info --debug-info-full-path --debug-info-target-prefix=/no/such; do
        timeout $patience babeltrace2 $option "$corpus/$trace" >"$work/theirs" 2>/dev/null
        timeout $patience "$tracetta" cat --style=babeltrace2 $option "$corpus/$trace" >"$work/ours" 2>/dev/null
        cmp -s "$work/theirs" "$work/ours"
        truth=$?
        tell $truth "$trace with $option ($(grep -c 'bin = "[^"]' "$work/theirs") of $(wc -l <"$work/theirs") events have a binary)"
        [ $truth = 0 ] || { diff "$work/theirs" "$work/ours" >"$work/diff"; quote "$work/diff"; }
    done
done
