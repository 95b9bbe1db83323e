#!/bin/bash
# Live traces: a relay daemon of our own serves a session.  usage: live_test.sh TRACETTA LIVE_SERVE
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
live_serve=$(realpath "$2")
mkfifo "$work/hold"

# serve HOW: begins to serve; $url is the session's, $daemon that of the daemon.
serve()
{
    rm -f "$work/url"
    "$live_serve" "$1" <"$work/hold" >"$work/url" &
    server=$!
    exec 7>"$work/hold"
    await_file "$work/url" $server
    url=$(cat "$work/url")
    daemon=${url%%/host/*}
}

unserve()
{
    exec 7>&-
    wait $server
}

serve end
run "$tracetta" cat "$url"
[ $run_status = 0 ] && [ ! -s "$work/.err" ] && [ "$(grep -c ' ev instant ' "$work/.out")" = 14 ]
verdict "a_session_is_printed_to_its_end" $? "exit status $run_status"
run "$tracetta" cat --limit=3 "$url"
[ $run_status = 0 ] && [ "$(wc -l <"$work/.out")" = 3 ]
verdict "a_limit_ends_the_reading" $? "exit status $run_status"
says "sessions_are_listed_like_events" "$daemon/host/raton/auto object .*timer_us = 1000000" "$tracetta" cat "$daemon"
says "info_of_a_daemon_shows_its_sessions" "^session   $daemon/host/raton/auto \(timer = 1000000, 2 stream\(s\), 0 client\(s\) connected\)$" \
    "$tracetta" info "$daemon"
says "info_of_a_session_shows_it_and_its_events" '^events    14$' "$tracetta" info "$url"
says "and_where_it_is" "^session   $url " "$tracetta" info "$url"
says "json_has_the_sessions" "\"$daemon/host/elsewhere/other \(timer" "$tracetta" info --json "$daemon"
succeeds "a_session_is_recorded_by_converting_it" "$tracetta" convert -q -o "$work/record.jsonl" --to=jsonl "$url"
[ "$(grep -c '"ev"' "$work/record.jsonl")" = 14 ]
verdict "all_of_it" $? "$(wc -l <"$work/record.jsonl") lines"
for version in 1.8 2 1.1; do
    succeeds "also_into_ctf_$version" "$tracetta" convert -q -o "$work/record-$version" --to=ctf --option="ctf.version=$version" "$url"
    says "all_of_it_in_files_that_are_found_as_ctf_$version" '^events    14$' "$tracetta" info "$work/record-$version"
done
refuses "a_session_that_is_not_there_is_reported_with_where_to_look" 3 "has no session \"mine\" of host \"raton\": $daemon lists those it has" "$tracetta" cat "$daemon/host/raton/mine"
refuses "a_url_that_is_none_is_reported_with_the_form" 2 'net://HOST\[:PORT\]/host/HOSTNAME/SESSION' "$tracetta" cat "$daemon/raton/auto"
unserve
refuses "a_daemon_that_is_not_there_is_reported" 3 'is the daemon running' "$tracetta" cat "$url"

serve holed
run "$tracetta" cat --style=babeltrace2 "$url"
[ $run_status = 0 ] && grep -q "discarded 1 packet .* within stream \"$url/.*/ch_0\" (" "$work/.err"
verdict "streams_with_gaps_are_named_by_their_urls" $? "exit status $run_status"
refuses "metadata_cannot_be_replaced" 2 'metadata: those of a live trace' "$tracetta" cat --metadata=none "$url"
unserve

serve cut
run "$tracetta" cat -v "$url"
[ $run_status = 0 ] && [ "$(grep -c ' ev instant ' "$work/.out")" = 14 ]
verdict "a_lost_connection_is_made_again" $? "exit status $run_status"
unserve

# Signals: a background job of a script ignores SIGINT unless job control is on.
set -m
serve stay
: >"$work/.out" # what was printed before is not looked at
"$tracetta" cat "$url" >"$work/.out" 2>"$work/.err" &
command=$!
is_shown()
{
    [ "$(wc -l <"$work/.out")" -ge 13 ] || is_gone $command
}
await is_shown
# The last one waits for what the other stream may still bring.
kill -0 $command && [ "$(wc -l <"$work/.out")" = 13 ]
verdict "events_are_printed_while_the_session_goes_on" $? "$(wc -l <"$work/.out") lines"
kill -INT $command
wait $command
run_status=$?
[ $run_status = 130 ] && [ "$(wc -l <"$work/.out")" = 13 ] && grep -q interrupted "$work/.err"
verdict "ctrl_c_ends_it" $? "exit status $run_status"
says "info_of_a_session_that_goes_on_ends_where_nothing_is_there_yet" '^events    13$' "$tracetta" info "$url"
unserve

serve mute
"$tracetta" cat "$url" >"$work/.out" 2>"$work/.err" &
command=$!
is_waiting()
{
    { compgen -G "/proc/$command/fd/*" | xargs readlink | grep -q socket: && is_asleep $command; } || is_gone $command
}
await is_waiting
kill -INT $command
wait $command
run_status=$?
[ $run_status = 130 ]
verdict "ctrl_c_ends_the_opening_too" $? "exit status $run_status"
unserve
