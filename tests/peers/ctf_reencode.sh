#!/bin/bash
# Recorded CTF traces written as another version of CTF, or in the other byte order, have the text that babeltrace2 prints of the original,
# and babeltrace2 opens them without a word on stderr:
#   order   in the one byte order and then in the other
#   rfc     CTF 1.8 as RFC v1.1 and that as CTF 1.8 again; what "cat" prints of the trace between is the same
#   two     CTF 1.8 as CTF 2
#   one     CTF 2 as CTF 1.8, where names of fields have words only: all other characters count as one
# usage: ctf_reencode.sh TRACETTA SOURCE_ROOT.  TTR_CORPUS names the folder of recorded traces, TTR_BABELTRACE2 the peer, TTR_BABELTRACE2_CTF2
# one that reads CTF 2 too.  Of traces of CTF 2 that the peer does not read, the text is that of "cat".
# shellcheck source=tests/peers/ctf.sh
source "$(dirname "$0")/ctf.sh" "$1" "$2"
peer=${TTR_BABELTRACE2:-babeltrace2} peer_two=${TTR_BABELTRACE2_CTF2:-}
stand_in='' refused=0 complained=false

is_ctf_2()
{
    LC_ALL=C grep -aq '"type" *: *"preamble"' "$corpus/$1/metadata"
}

# says PEER FOLDER FILE: what it prints of a trace; fails where it gives up.
says()
{
    timeout $patience "$1" --clock-gmt "$2" >"$3" 2>"$work/warned"
}

# complains: it said something besides losses.
complains()
{
    grep -Ev 'Tracer (may have )?discarded' "$work/warned" >"$work/complaint"
}

words_only()
{
    sed -i -E 's/[^A-Za-z0-9_]/_/g' "$1"
}

cat_text()
{
    timeout $patience "$tracetta" cat --style=babeltrace2 --clock-gmt "$1" >"$2" 2>/dev/null
}

# written FROM TO OPTION: fails where tracetta does.  A trace without streams is written with exit status 1.
written()
{
    rm -rf "$2"
    timeout $patience "$tracetta" convert --quiet --to=ctf --option "$3" "$1" -o "$2" >"$work/said" 2>&1
    [ $? -le 1 ] && [ -e "$2" ]
}

# judge WAY TRACE PEER FOLDER TEXT HOW: the trace in FOLDER has the text, by the peer's word, which says nothing else, or did so of the original.
judge()
{
    local lines=0
    says "$3" "$4" "$work/theirs" || lines=all
    if [ $lines = 0 ] && ! $complained && complains; then lines=all; fi
    if [ "$1" = one ]; then words_only "$work/theirs"; fi
    if [ $lines = all ]; then
        quote "$work/warned"
    elif ! cmp -s "$5" "$work/theirs"; then
        diff -a "$5" "$work/theirs" >"$work/difference"
        quote "$work/difference"
        lines=$(grep -ac '^[<>]' "$work/difference")
    fi
    [ "$lines" = 0 ] || echo "# $lines lines differ: $1 $2"
    settle "$lines" "$1 $2" "$2, $6, has the text it had"
}

in_both_orders()
{
    written "$corpus/$1" "$work/big" byte-order=be && written "$work/big" "$work/little" byte-order=le || { quote "$work/said"; rm -rf "$work/little"; }
    judge order "$1" "$2" "$work/little" "$work/text" "in the other byte order and in the one"
}

by_the_rfc()
{
    written "$corpus/$1" "$work/rfc" version=1.1 && written "$work/rfc" "$work/eight" version=1.8 || { quote "$work/said"; rm -rf "$work/eight"; }
    judge rfc "$1" "$peer" "$work/eight" "$work/text" "as RFC v1.1 and as CTF 1.8 again"
    cat_text "$work/rfc" "$work/between"
    cmp -s "$work/between" "$work/theirs"
    settle $? "between $1" "$1, as RFC v1.1, is printed as babeltrace2 prints what it becomes"
}

as_the_other()
{
    local way=$1 version=$2
    written "$corpus/$3" "$work/other" "version=$version" || { quote "$work/said"; rm -rf "$work/other"; }
    judge "$way" "$3" "$4" "$work/other" "$work/text" "as CTF $version"
}

of_ctf_2()
{
    complained=false
    # "cat" shows bit arrays as the numbers that they become, so that less differs from it than from the peer.
    if [ -z "$peer_two" ] || ! says "$peer_two" "$corpus/$1" "$work/text"; then
        cat_text "$corpus/$1" "$work/text"
        stand_in=cat
    fi
    words_only "$work/text"
    as_the_other one 1.8 "$1" "$peer"
    stand_in=''
}

of_ctf_1()
{
    if ! says "$peer" "$corpus/$1" "$work/text"; then
        refused=$((refused + 1))
        return
    fi
    complained=false
    if complains; then complained=true; fi
    in_both_orders "$1" "$peer"
    by_the_rfc "$1"
    if [ -n "$peer_two" ]; then as_the_other two 2 "$1" "$peer_two"; fi
}

if ! command -v "$peer" >/dev/null; then
    skip "traces that were encoded anew have the text they had" "no $peer"
elif [ ! -d "$corpus" ]; then
    skip "traces that were encoded anew have the text they had" "no traces at $corpus"
else
    [ -n "$peer_two" ] || skip "CTF 1.8 as CTF 2 has the text it had" "TTR_BABELTRACE2_CTF2 names no babeltrace2 that reads CTF 2"
    for trace in $(traces_under .); do
        case $trace in */fail/* | *_nok | *-corrupted) continue ;; esac
        if is_ctf_2 "$trace"; then of_ctf_2 "$trace"; else of_ctf_1 "$trace"; fi
    done
    echo "# not compared: $refused traces of CTF 1.8 that $("$peer" --version | head -n 1) does not read"
fi
