#!/bin/bash
# Reads live sessions of LTTng's own relay daemon and compares them with what babeltrace2 reads from the daemon's files afterwards.
# usage: live.sh TRACETTA LIVE_APP ("none" where that could not be built).  All daemons live in namespaces of their own: no other
# session is touched, no port is taken.
tracetta=$(realpath "$1") app=$2
here=$(dirname "$(realpath "$0")")
export TZ=UTC LC_ALL=C

skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}

if [ "$3" != inside ]; then
    [ "$app" = none ] && skip_all "no lttng-ust to build a traced program with"
    for program in lttng lttng-sessiond lttng-relayd babeltrace2 python3 unshare ip; do
        command -v $program >/dev/null || skip_all "no $program"
    done
    unshare -r -m -n true 2>/dev/null || skip_all "no namespaces"
    exec env --default-signal=INT timeout 290 unshare -r -m -n "$0" "$tracetta" "$(realpath "$app")" inside
fi

case_count=0
work=$(mktemp -d) || exit 1
url=net://127.0.0.1/host/$(hostname)

# tell TRUTH NAME: one case; TRUTH is 0 where it holds.
tell()
{
    case_count=$((case_count + 1))
    if [ "$1" = 0 ]; then echo "ok $case_count - $2"; else echo "not ok $case_count - $2"; fi
}

quote()
{
    head -n 6 "$1" | cut -c 1-300 | sed 's/^/#   /'
}

end()
{
    lttng destroy --all >>"$work/lttng.log" 2>&1
    kill $sessiond $relayd
    wait $sessiond $relayd
    rm -rf "$work"
    echo "1..$case_count"
}

answers()
{
    lttng list >/dev/null 2>&1
}

begin()
{
    if ! { mkdir -p /var/run/lttng && mount -t tmpfs none /var/run/lttng && mount -t tmpfs none /dev/shm && ip link set lo up; }; then
        skip_all "no mounts"
    fi
    export LTTNG_HOME=$work/home LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_UST_REGISTER_TIMEOUT=-1
    mkdir "$LTTNG_HOME"
    lttng-relayd --group=root -o "$work/stored" >"$work/relayd.log" 2>&1 &
    relayd=$!
    lttng-sessiond --no-kernel --group=root >"$work/sessiond.log" 2>&1 &
    sessiond=$!
    trap end EXIT
    await answers && return
    tell 1 "the daemons begin"
    quote "$work/sessiond.log"
    exit 1
}

# record NAME OPTIONS...: begins a live session with a channel of these options.
record()
{
    local name=$1
    shift
    {
        lttng create "$name" --live=100000 --set-url=net://127.0.0.1
        lttng enable-channel -u -s "$name" "$@" channel
        lttng enable-event -u -s "$name" -c channel 'lttng_ust_tracef:*'
        lttng start "$name"
    } >>"$work/lttng.log" 2>&1
}

# follow URL: begins to print the session.
follow()
{
    : >"$work/ours" # what was printed before is not looked at
    "$tracetta" cat --style=babeltrace2 "$1" >"$work/ours" 2>"$work/said" &
    follower=$!
}

# by_time FILE: its lines without the time since the one before, and in an order that does not depend on which of two streams was first with events of
# one and the same time: that is nobody's promise while streams come in.
by_time()
{
    sed -E 's/ \(\+[0-9?.]+\)//' "$1" | LC_ALL=C sort
}

# compare NAME TEXT: the session ends; what was printed is what is stored.
compare()
{
    lttng destroy "$1" >>"$work/lttng.log" 2>&1
    wait $follower
    local status=$?
    babeltrace2 "$work"/stored/"$(hostname)"/"$1"-* >"$work/theirs" 2>"$work/warned"
    LC_ALL=C sort -c -s -k1,1 "$work/ours" 2>/dev/null && cmp -s <(by_time "$work/theirs") <(by_time "$work/ours") && [ -s "$work/theirs" ] && [ $status = 0 ]
    local truth=$?
    tell $truth "$2 ($(wc -l <"$work/theirs") events)"
    [ $truth = 0 ] || { echo "# exit status $status, $(wc -l <"$work/ours") events"; quote "$work/said"; diff "$work/theirs" "$work/ours" >"$work/diff"; quote "$work/diff"; }
}

# lost FILE: events lost by its warnings.  The tracer's counter goes back where a packet is finished after the one after it: what babeltrace2 makes of
# that, a number of nearly 2^64, does not count.
lost()
{
    sed -nE 's/^WARNING: Tracer discarded ([0-9]{1,15}) events? .*/\1/p' "$1" | awk '{ n += $1 } END { print n + 0 }'
}

# stored SESSION: events in the daemon's files.
stored()
{
    babeltrace2 "$work"/stored/"$(hostname)"/"$1"-* 2>/dev/null | wc -l
}

# await COMMAND...: waits until it holds; fails where it does not within a minute, which even a busy machine does not need.
await()
{
    local end=$((SECONDS + 60))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# shows N: that many events are printed.
shows()
{
    [ "$(wc -l <"$work/ours")" -ge "$1" ]
}

# has_begun SESSION: something of it is stored.
has_begun()
{
    [ "$(stored "$1")" -gt 0 ]
}

# has_kept N: a conversion tells that it has written so many events, or it has ended.
has_kept()
{
    local written
    written=$(sed -n 's/.*"written": *\([0-9]*\).*/\1/p' "$work/said" | tail -n 1)
    [ "${written:-0}" -ge "$1" ] || ! kill -0 $follower 2>/dev/null
}

# caught_up SESSION: stops it, so that all its events are stored, and waits until they are printed: a session that ends while no viewer is
# there is gone for those that come back.
caught_up()
{
    lttng stop "$1" >>"$work/lttng.log" 2>&1
    await shows "$(stored "$1")"
}

begin

record listed
"$tracetta" info net://127.0.0.1 | sed -n 's/^session   //p' >"$work/ours"
babeltrace2 -i lttng-live net://127.0.0.1 >"$work/theirs" 2>/dev/null
[ -s "$work/theirs" ] && cmp -s "$work/theirs" "$work/ours"
tell $? "sessions are listed as babeltrace2 lists them"
lttng destroy listed >>"$work/lttng.log" 2>&1

record followed --subbuf-size=16k --num-subbuf=8 --blocking-timeout=inf
follow "$url/followed"
for ((i = 0; i < 3; i++)); do
    "$app" 3000 2
    sleep 0.2
done
caught_up followed
compare followed "a session is read while it is recorded"

record stopped --subbuf-size=64k --num-subbuf=8 --blocking-timeout=inf
follow "$url/stopped"
"$app" 2000 2
lttng stop stopped >>"$work/lttng.log" 2>&1
events=$(stored stopped)
[ "$events" -gt 0 ] && await shows "$events" && [ "$(wc -l <"$work/ours")" = "$events" ]
tell $? "a session that is stopped shows all it has"
lttng start stopped >>"$work/lttng.log" 2>&1
"$app" 2000 2
compare stopped "and goes on when it is started again"

record late --subbuf-size=16k --num-subbuf=8 --blocking-timeout=inf
"$app" 5000 2
await has_begun late
follow "$url/late"
"$app" 5000 2
caught_up late
compare late "a viewer that comes late reads from the begin"

record cut --subbuf-size=16k --num-subbuf=8 --blocking-timeout=inf
"$app" 10000 2
"$here/live_proxy.py" 5344 30000 200000 700000 >"$work/port" &
proxy=$!
await test -s "$work/port"
follow "net://127.0.0.1:$(cat "$work/port")/host/$(hostname)/cut"
"$app" 10000 2
caught_up cut
compare cut "a connection that is cut three times costs nothing"
kill $proxy

record lossy --subbuf-size=4k --num-subbuf=2
follow "$url/lossy"
"$app" 20000 2
caught_up lossy
compare lossy "a session that lost events is read to its end"
[ "$(lost "$work/said")" -gt 0 ] && [ "$(lost "$work/said")" = "$(lost "$work/warned")" ]
tell $? "events that the tracer lost are counted as babeltrace2 counts them ($(lost "$work/said"))"

record kept --subbuf-size=16k --num-subbuf=8 --blocking-timeout=inf
set -m
: >"$work/said"
"$tracetta" convert -q --progress=json "$url/kept" --to=ctf -o "$work/kept" 2>"$work/said" &
follower=$!
"$app" 3000 2
lttng stop kept >>"$work/lttng.log" 2>&1
events=$(stored kept)
await has_kept "$events"
kill -INT $follower
wait $follower
status=$?
[ $status = 130 ] && [ "$events" -gt 0 ] && [ "$(babeltrace2 "$work/kept" 2>"$work/warned" | wc -l)" = "$events" ]
truth=$?
tell $truth "a session is recorded as CTF that babeltrace2 reads, until Ctrl-C"
[ $truth = 0 ] || { echo "# exit status $status, $events events are stored, $(babeltrace2 "$work/kept" 2>/dev/null | wc -l) were kept"; quote "$work/said"; }
lttng destroy kept >>"$work/lttng.log" 2>&1

record gone --subbuf-size=16k --num-subbuf=8 --blocking-timeout=inf
"$app" 2000 2
await has_begun gone
: >"$work/ours"
"$tracetta" cat --style=babeltrace2 --option=live-reconnect=60 "$url/gone" >"$work/ours" 2>"$work/said" &
follower=$!
caught_up gone
events=$(wc -l <"$work/ours")
kill -9 $relayd
wait $relayd 2>/dev/null
lttng-relayd --group=root -o "$work/stored-anew" >>"$work/relayd.log" 2>&1 &
relayd=$!
wait $follower
status=$?
[ $status = 0 ] && [ "$events" -gt 0 ] && [ "$(wc -l <"$work/ours")" = "$events" ] && grep -q 'may have discarded packets' "$work/said"
tell $? "of a session whose daemon dies and begins anew all that came is shown, and that there is no more is told"
[ $status = 0 ] || quote "$work/said"
