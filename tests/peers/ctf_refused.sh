#!/bin/bash
# Traces that babeltrace2 refuses, gives up, dies of or never ends with: each is read to its end with all its whole events, and what is wrong is
# told with file and byte.  The traces are golden vectors of streams.
# usage: ctf_refused.sh TRACETTA HEXA_CAT SOURCE_ROOT.  TTR_BABELTRACE2 names the peer; without it only tracetta is looked at.
tracetta=$1 hexa_cat=$2 root=$3
peer=${TTR_BABELTRACE2:-babeltrace2}
work=$(mktemp -d) || exit 1
case_count=0 failures=0
trap 'rm -rf "$work"; echo "1..$case_count"; exit $((failures > 0))' EXIT
export TZ=UTC LC_ALL=C
exec </dev/null

# tell TRUTH NAME
tell()
{
    case_count=$((case_count + 1))
    [ "$1" = 0 ] || { failures=$((failures + 1)); printf 'not '; }
    echo "ok $case_count - $2"
}

# lay VECTOR: the trace as files below $work/VECTOR
lay()
{
    local file
    mkdir -p "$work/$1"
    for file in "$root/src/formats/ctf/vectors/$1"/*.hexa; do
        "$hexa_cat" "$file" >"$work/$1/$(basename "$file" .hexa)" || return 1
    done
}

# reads VECTOR EVENTS CODE: CODE is that of the finding, "-" where nothing is wrong.
reads()
{
    local trace="$work/$1" told status
    lay "$1"
    timeout 60 "$tracetta" cat --style=babeltrace2 "$trace" >"$work/lines" 2>"$work/said"
    status=$?
    timeout 60 "$tracetta" check "$trace" >"$work/report" 2>&1
    [ "$(wc -l <"$work/lines")" = "$2" ] && [ $status = "$(grep -Ec -m 1 '^ *damage [a-z]+\.' "$work/report")" ]
    tell $? "$1 is read to its end, $2 events"
    if [ "$3" != - ]; then
        told=$(grep -E -- "(damage|odd) $3 x1, first at byte [0-9]+: .*\bs\b" "$work/report")
        [ -n "$told" ]
        tell $? "what is wrong is told with file and byte: ${told# *}"
    fi
    if ! command -v "$peer" >/dev/null; then
        case_count=$((case_count + 1))
        echo "ok $case_count - $1 and babeltrace2 # SKIP no $peer"
        return
    fi
    (timeout 2 "$peer" --clock-gmt "$trace" 2>/dev/null | head -n 100 >"$work/theirs"; exit "${PIPESTATUS[0]}") 2>/dev/null
    [ $? != 0 ]
    tell $? "$1 is one that babeltrace2 does not read to its end ($(wc -l <"$work/theirs") lines)"
}

reads stream-bad-backward 3 ctf.backward
reads stream-bad-content-large 2 ctf.content-size
reads stream-bad-cut 2 ctf.cut
reads stream-bad-cut-header 2 ctf.cut-header
reads stream-bad-empty-event 0 ctf.empty-event
reads stream-bad-event-cut 2 ctf.cut-event
reads stream-bad-id 2 ctf.unknown-event
reads stream-bad-length 2 ctf.cut-event
reads stream-bad-magic 3 ctf.bad-magic
reads stream-bad-option 2 ctf.bad-event
reads stream-bad-size-small 2 ctf.bad-size
reads stream-bad-stream 1 ctf.unknown-stream
reads stream-bad-tail 2 ctf.bad-magic
reads stream-bad-unfinished 3 ctf.unfinished
reads stream-bad-unfinished-content 2 ctf.unfinished
reads stream-bad-uuid-ctf2 3 ctf.other-trace
reads stream-clock-clamped 3 -
reads stream-interleaved-whole 8 -
