#!/bin/bash
# Helpers of the tests of listen and send; source it after cli.sh.
# shellcheck disable=SC2154 # work and tracetta are those of cli.sh

# listen OPTION...: starts a receiver; sets $listener and $port once it listens.
listen()
{
    : >"$work/listen.err" # of the last receiver
    "$tracetta" listen "$@" >"$work/listen.out" 2>"$work/listen.err" &
    listener=$!
    await grep -q 'listening on' "$work/listen.err" || return 1
    port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$work/listen.err" | head -n 1)
}

# stop: ends the receiver by a signal; its exit status is in $listen_status.
stop()
{
    kill -TERM "$listener"
    wait "$listener"
    listen_status=$?
}
