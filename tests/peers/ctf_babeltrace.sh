#!/bin/bash
# Compares "cat --style=babeltrace2" with babeltrace2, byte for byte, over the recorded CTF traces.  Of a trace that babeltrace2 gives up, all
# that it had printed by then must be there.  What the trace says it lost must be told in the same words, and counted alike.
# usage: ctf_babeltrace.sh TRACETTA SOURCE_ROOT.  TTR_CORPUS names the folder of recorded traces, TTR_BABELTRACE2 the peer.  TTR_CAT is a
# command to judge in place of TRACETTA's: this script must be content with the peer's own.
# shellcheck source=tests/peers/ctf.sh
source "$(dirname "$0")/ctf.sh" "$1" "$2"
peer=${TTR_BABELTRACE2:-babeltrace2}
stand_in=${TTR_CAT:-}
read -ra cat_command <<<"${stand_in:-$tracetta cat --style=babeltrace2 --clock-gmt}"
refused=0 wrong=0

# Several traces under one folder: sessions of several processes or domains, rotations.
sessions='babeltrace/ctf-traces/packet-seq-num babeltrace/ctf-traces/succeed/multi-domains lttng-2.13.9/small lttng-2.15.1/ctx
    lttng-2.15.1/discard lttng-2.15.1/discard18 lttng-2.15.1/tfsize tracecompass/context-switches tracecompass/cyg-profile tracecompass/exp'

# without_delta FILE: its lines sorted, without the time since the line before.
without_delta()
{
    sed -E 's/^(\[[^]]*\]) \(\+[^)]*\)/\1/' "$1" | sort
}

# whole TRACE: the peer read it to the end.
whole()
{
    local lines=0
    if ! cmp -s "$work/theirs" "$work/ours"; then
        diff -a "$work/theirs" "$work/ours" >"$work/difference"
        quote "$work/difference"
        lines=$(grep -ac '^[<>]' "$work/difference")
    fi
    [ $status = 0 ] || { echo "# exit status $status"; quote "$work/said"; lines=all; }
    settle "$lines" "$1" "$1 is printed as babeltrace2 prints it"
}

# begun TRACE: the peer printed some of it and then gave up.
begun()
{
    comm -23 <(without_delta "$work/theirs") <(without_delta "$work/ours") >"$work/missing"
    quote "$work/missing"
    [ $status -lt 4 ] && [ ! -s "$work/missing" ]
    tell $? "$1, which babeltrace2 gives up, has all the events that it printed before"
}

# losses TRACE FOLDER
losses()
{
    local lost told
    grep -a '^WARNING: Tracer' "$work/warned" >"$work/theirs-lost"
    grep -a '^WARNING: Tracer' "$work/said" >"$work/ours-lost"
    if [ -s "$work/theirs-lost" ] && [ -z "$stand_in" ]; then
        cmp -s "$work/theirs-lost" "$work/ours-lost"
        tell $? "$1 tells of its losses as babeltrace2 does"
    fi
    lost=$(sed -nE 's/^WARNING: Tracer discarded ([0-9]+) events? .*/\1/p' "$work/warned" | awk '{ n += $1 } END { print n + 0 }')
    if [ "$lost" = 0 ] || [ -n "$stand_in" ]; then return; fi
    told=$(timeout $patience "$tracetta" info --json "$2" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["lost"])' 2>/dev/null)
    [ "$told" = "$lost" ]
    tell $? "$1 has lost $lost events, as babeltrace2 counts them (${told:-no answer})"
}

# name_all TRACE: with every name and every part before the name.
name_all()
{
    [ -n "$stand_in" ] && return
    timeout $patience "$peer" --clock-gmt --fields=all --names=all "$corpus/$1" >"$work/theirs" 2>/dev/null
    [ -s "$work/theirs" ] || return
    timeout $patience "${cat_command[@]}" --fields=all --names=all "$corpus/$1" >"$work/ours" 2>/dev/null
    cmp -s "$work/theirs" "$work/ours"
    tell $? "$1 is printed with all names and fields as babeltrace2 prints it"
}

# compare TRACE FOLDER.  Of invalid traces the peer also prints events made of the next packet's
# header: those are matters of ctf_suites.sh.
compare()
{
    timeout $patience "$peer" --clock-gmt "$2" >"$work/theirs" 2>"$work/warned"
    local peer_status=$?
    if [ $peer_status != 0 ] && [ ! -s "$work/theirs" ]; then
        refused=$((refused + 1))
        return
    elif [[ $1 == ctf-testsuite/*/fail/* ]]; then
        wrong=$((wrong + 1))
        return
    fi
    timeout $patience "${cat_command[@]}" "$2" >"$work/ours" 2>"$work/said"
    status=$?
    if [ $peer_status = 0 ]; then whole "$1"; else begun "$1"; fi
    losses "$1" "$2"
}

# intersect TRACE: the time in which all its streams are active.
intersect()
{
    [ -n "$stand_in" ] && return
    timeout $patience "$peer" --clock-gmt --stream-intersection "$corpus/$1" >"$work/theirs" 2>"$work/warned" || return
    timeout $patience "${cat_command[@]}" --stream-intersection "$corpus/$1" >"$work/ours" 2>"$work/said"
    settle "$(diff -a "$work/theirs" "$work/ours" | grep -ac '^[<>]')" "$1" "$1 is printed as far as all its streams are active"
    cmp -s <(grep -a ^WARNING "$work/warned") <(grep -a ^WARNING "$work/said") || tell 1 "$1 tells of losses as far as that"
}

# combine OPTIONS: lines and losses with options, of a trace whose two streams lost events.  What that program ends with, a reset of colours, is
# left out.
combine()
{
    local trace=$corpus/lttng-2.15.1/discard18
    local when=NEVER
    [ "$1" = --color=always ] && when=ALWAYS
    BABELTRACE_TERM_COLOR=$when TZ=America/Toronto timeout $patience "$peer" "$@" "$trace" 2>"$work/warned" | sed '$s/^\x1b\[0m$//' >"$work/theirs"
    TZ=America/Toronto timeout $patience "$tracetta" cat --style=babeltrace2 "$@" "$trace" >"$work/ours" 2>"$work/said"
    cmp -s "$work/theirs" "$work/ours" && cmp -s <(grep -a WARNING "$work/warned") <(grep -a WARNING "$work/said")
    tell $? "lines and losses are the same with $*"
}

combine_all()
{
    [ -n "$stand_in" ] || [ ! -d "$corpus/lttng-2.15.1/discard18" ] && return
    combine --names=none --fields=all
    combine --names=payload,scope --fields=trace,loglevel,emf --clock-date
    combine --names=ctx,header --fields=trace:hostname,trace:domain,trace:procname,trace:vpid --clock-seconds --no-delta
    combine --names=all --clock-cycles --clock-date --clock-gmt
    combine --color=always
    combine --color=always --names=all --fields=all --clock-cycles
    combine --color=always --names=none --no-delta --clock-seconds
    combine --clock-offset=10 --clock-offset-ns=-9999999999
    combine --stream-intersection --clock-offset=-3
    combine --begin=08:09:35.8683
    combine --clock-gmt --begin="2026-11-20 13:09:35.8683" --end=13:09:35.868345860
    combine --end=1795180175.870 --clock-cycles
    combine --end=08:09:35.868200
    combine --timerange=08:09:35.868345860,08:09:35.868345860
    combine "--timerange=[08:09:35.87,08:09:35.88]"
    combine --begin=08:09:36
    combine --begin=2026-11-20 --end="2026-11-20 08:10"
}

if ! command -v "$peer" >/dev/null; then
    skip "traces are printed as babeltrace2 prints them" "no $peer"
elif [ ! -d "$corpus" ]; then
    skip "traces are printed as babeltrace2 prints them" "no traces at $corpus"
else
    for trace in $(traces_under .) $sessions; do compare "$trace" "$corpus/$trace"; done
    for trace in $sessions; do name_all "$trace"; done
    for trace in $(traces_under .) $sessions; do intersect "$trace"; done
    combine_all
    assemble_barectf
    for trace in $(cd "$work" && find barectf -name metadata -printf '%h\n' | sort); do compare "$trace" "$work/$trace"; done
    echo "# not compared: $refused traces that $("$peer" --version | head -n 1) does not read at all, $wrong that it should not read"
fi
