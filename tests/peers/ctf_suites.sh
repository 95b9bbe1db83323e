#!/bin/bash
# The recorded suites of traces with a known verdict: ctf-testsuite, babeltrace's broken traces, actf's traces of CTF 2 with their prints,
# traces of CTF 2 with twins in CTF 1.8.
# Each has as many events as ctf_counts.tsv says.
# A valid trace is clean for "check"; an invalid one is damaged (1) or unreadable (3), and the report names the file and the place in it.
# usage: ctf_suites.sh TRACETTA SOURCE_ROOT.  TTR_CORPUS names the folder of recorded traces.  TTR_CHECK and TTR_CAT are commands to judge in
# place of "TRACETTA check" and "TRACETTA cat --style=babeltrace2 --clock-gmt", such as a peer's, to see how that one does.
# shellcheck source=tests/peers/ctf.sh
source "$(dirname "$0")/ctf.sh" "$1" "$2"
stand_in=${TTR_CHECK:-}
read -ra check_command <<<"${stand_in:-$tracetta check}"
read -ra cat_command <<<"${TTR_CAT:-$tracetta cat --style=babeltrace2 --clock-gmt}"

# A place in a file: line and column, or an offset in bytes.
place=':[0-9]+:[0-9]+|line [0-9]+|(offset|byte|bytes|at)[ =:](0x)?[0-9]+'

check()
{
    timeout $patience "${check_command[@]}" "$1" >"$work/report" 2>&1
    status=$?
}

# accepts TRACE
accepts()
{
    check "$corpus/$1"
    [ $status = 0 ] || { echo "# exit status $status"; quote "$work/report"; }
    [ $status = 0 ]
    settle $? "check $1" "$1 is valid"
}

# names_a_place FOLDER: the report has the name of a file of this trace, and a place.  That the folder has such a name does not count.
names_a_place()
{
    local report
    report=$(tr '\0' ' ' <"$work/report")
    find "$1" -type f -printf '%P\n' >"$work/files"
    grep -qFf "$work/files" <<<"${report//$1/}" && grep -Eq -e "$place" <<<"$report"
}

# refuses TRACE
refuses()
{
    check "$corpus/$1"
    { [ $status = 1 ] || [ $status = 3 ]; } && names_a_place "$corpus/$1"
    local truth=$?
    [ $truth = 0 ] || { echo "# exit status $status"; quote "$work/report"; }
    settle $truth "check $1" "$1 is refused, or its damage is told, with file and place"
}

# gives TRACE whole|begin: prints the events that actf printed, and with "whole" no others.
gives()
{
    timeout $patience "${cat_command[@]}" "$corpus/$1" >"$work/ours" 2>"$work/said"
    local lines
    lines=$(python3 "$root/tests/peers/ctf_actf.py" "$2" "$corpus/$1/refs/out.ref" "$work/ours" 2>&1)
    sed '$d' <<<"$lines" >"$work/difference"
    quote "$work/difference"
    [ -s "$work/said" ] && [ "${lines##*$'\n'}" != 0 ] && quote "$work/said"
    settle "${lines##*$'\n'}" "$1" "$1 has the events that actf prints"
}

# like_twin NAME: a trace in the syntax of CTF 2 before its release has the very streams of one of CTF 1.8, and so the same events.
like_twin()
{
    local old="tracecompass/CTF2-7.0-$1" twin="babeltrace/ctf-traces/succeed/$1"
    timeout $patience "${cat_command[@]}" "$corpus/$old" >"$work/ours" 2>"$work/said"
    timeout $patience "${cat_command[@]}" "$corpus/$twin" >"$work/theirs" 2>/dev/null
    diff -a "$work/theirs" "$work/ours" >"$work/difference"
    quote "$work/difference"
    [ -s "$work/theirs" ] || echo "(nothing)" >>"$work/difference"
    settle "$(grep -ac '^[<>(]' "$work/difference")" "$old" "$old has the events of its twin in CTF 1.8"
}

# reads_on TRACE EVENTS: babeltrace2 refuses it or gives up.
reads_on()
{
    timeout $patience "${cat_command[@]}" "$corpus/$1" >"$work/ours" 2>"$work/said"
    status=$?
    local printed
    printed=$(wc -l <"$work/ours")
    [ $status = 0 ] && [ "$printed" = "$2" ]
    tell $? "$1 is read to its end, $2 events ($printed printed, exit status $status)"
}

# counts TRACE EVENTS LOST
counts()
{
    local told
    told=$(timeout $patience "$tracetta" info --json "$corpus/$1" 2>/dev/null |
        python3 -c 'import json, sys; report = json.load(sys.stdin); print(report["events"], report["lost"])' 2>/dev/null)
    [ "$told" = "$2 $3" ]
    tell $? "$1 has $2 events and has lost $3 (${told:-no answer})"
}

if [ ! -d "$corpus" ]; then
    skip "valid traces are accepted, invalid ones refused with a place" "no traces at $corpus"
    exit
fi
for trace in $(traces_under ctf-testsuite); do
    case $trace in
        */pass/*) accepts "$trace" ;;
        *) refuses "$trace" ;;
    esac
done
for trace in $(traces_under babeltrace/ctf-traces); do
    case $trace in
        */fail/* | */[ac]-corrupted) refuses "$trace" ;;
        *) accepts "$trace" ;;
    esac
done
for trace in $(traces_under actf); do
    case $trace in
        *_nok) refuses "$trace"; gives "$trace" begin ;;
        *) accepts "$trace"; gives "$trace" whole ;;
    esac
done

for name in ev-disc-no-ts-begin-end lttng-event-after-packet smalltrace succeed1 trace-with-index; do like_twin "$name"; done

# As many as babeltrace 1.5 prints.
reads_on ctf-testsuite/stream/pass/lttng-modules-2.0-pre5 39537
reads_on tracecompass/ctfwriter_JF8nq3 100003

[ -n "$stand_in" ] || while IFS=$'\t' read -r trace events lost _; do
    [[ $trace == '#'* ]] || counts "$trace" "$events" "$lost"
done <"$root/tests/peers/ctf_counts.tsv"
