#!/bin/bash
# Traces that a server keeps in memory: query --serve, query --socket.  usage: serve_test.sh TRACETTA GENERATE_FXT PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
generate=$2
python=$3
attack=$(dirname "$0")/serve_attack.py
socket=$work/s
sql="SELECT name, count(*) n, sum(dur) FROM slice GROUP BY 1 ORDER BY 1"
"$generate" --events 3000 --seed 5 --mix bench "$work/t.fxt" || exit 1
"$generate" --events 2000 --seed 6 --mix bench "$work/u.fxt" || exit 1

"$tracetta" query --serve="$socket" --timeout=20s "$work/t.fxt" >"$work/server.out" 2>"$work/server.err" &
server=$!
await test -S "$socket" -o ! -d /proc/$server
[ "$(stat -c %a "$socket")" = 600 ]
verdict "socket_is_for_the_user_alone" $? "$(ls -la "$socket"; cat "$work/server.err")"
ask=("$tracetta" query --socket="$socket")
for format in csv json table; do
    "$tracetta" query --format=$format "$work/t.fxt" "$sql" >"$work/expected"
    same "answer_is_that_of_query_as_$format" "$work/expected" "${ask[@]}" --format=$format "$sql"
done
more="SELECT thread_name, max(self_dur), min(category) FROM slice GROUP BY 1 ORDER BY 1"
"$tracetta" query --format=csv "$work/t.fxt" "$more" >"$work/expected"
same "new_columns_are_read" "$work/expected" "${ask[@]}" --format=csv "$more"
printf PAR1 >"$work/magic"
same "parquet_is_written_to_standard_output" "$work/magic" bash -c "'$tracetta' query --socket='$socket' --format=parquet '$sql' | head -c 4"
refuses "error_has_a_caret" 2 "did you mean name" "${ask[@]}" "SELECT nme FROM slice"
refuses "statement_is_needed" 2 "needs a statement" "${ask[@]}"
refuses "trace_and_socket_are_refused" 2 "has its traces already" "${ask[@]}" "$work/t.fxt" "$sql"
run "${ask[@]}" --timeout=100ms "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
[ $run_status = 4 ] && grep -q 'stopped after 100.0 ms' "$work/.err"
verdict "client_has_a_timeout_of_its_own" $? "exit status $run_status: $(cat "$work/.err")"
refuses "missing_server_is_reported" 3 "no server answers here" "$tracetta" query --socket="$work/none" "$sql"
refuses "long_path_is_refused" 3 "too long for a socket" "$tracetta" query --socket="$work/$(printf '%0120d' 1)" "$sql"
refuses "second_server_is_refused" 4 "another server answers here" "$tracetta" query --serve="$socket" "$work/u.fxt"
touch "$work/file"
refuses "file_in_place_of_the_socket_is_kept" 4 "is not a socket" "$tracetta" query --serve="$work/file" "$work/u.fxt"

for kind in magic version large empty format no_descriptors many_descriptors too_many_descriptors second_descriptors many; do
    run "$python" "$attack" "$socket" $kind
    verdict "server_drops_a_request_with_${kind}" $run_status ""
done
same "server_lives_after_attacks" "$work/expected" "${ask[@]}" --format=csv "$more"

# Clients that are slow do not hold up others.
mkfifo "$work/hold"
"$python" "$attack" "$socket" silent <"$work/hold" >"$work/silent" &
"$python" "$attack" "$socket" stuck <"$work/hold" >"$work/stuck" &
exec 7>"$work/hold"
await grep -q waiting "$work/silent" && await grep -q waiting "$work/stuck"
same "slow_clients_hold_up_nobody" "$work/expected" "${ask[@]}" --format=csv "$more"
exec 7>&-
endless="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
"$tracetta" query --socket="$socket" "$endless" >/dev/null 2>&1 &
client=$!
has_child()
{
    [ -n "$(cat /proc/$server/task/$server/children)" ]
}
has_no_child()
{
    ! has_child
}
await has_child
kill -9 $client
await has_no_child
verdict "statement_ends_with_its_client" $? "$(ps --ppid $server)"

# An output ends with its statement, although a later statement still runs.
numbers="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000000) SELECT count(*) FROM n"
"$tracetta" query --socket="$socket" --format=csv "$numbers" 2>"$work/.err" | cat >"$work/first" &
first=$!
await has_child
"$tracetta" query --socket="$socket" "$endless" >/dev/null 2>&1 &
client=$!
has_two_children_or_is_answered()
{
    [ "$(wc -w <"/proc/$server/task/$server/children")" = 2 ] || [ -s "$work/first" ]
}
await has_two_children_or_is_answered
wait $first
[ "$(cat "$work/first")" = $'count(*)\n2000000' ] && kill -0 $client
verdict "output_ends_while_a_later_statement_runs" $? "$(cat "$work/first" "$work/.err")"
kill -9 $client
await has_no_child

# A trace that changes is read again.
cp "$work/u.fxt" "$work/t.fxt"
"$tracetta" query --format=csv "$work/u.fxt" "$sql" >"$work/expected"
same "changed_trace_is_read_again" "$work/expected" "${ask[@]}" --format=csv "$sql"
rm "$work/t.fxt"
refuses "trace_that_is_gone_is_an_error" 3 "cannot open" "${ask[@]}" "$sql"

kill -TERM $server
wait $server
[ $? = 0 ] && [ ! -e "$socket" ]
verdict "signal_ends_the_server_and_removes_the_socket" $? "$(ls -la "$work"; cat "$work/server.err")"
"$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$socket"
"$tracetta" query --serve="$socket" --timeout=1s a="$work/u.fxt" b="$work/u.fxt" 2>"$work/server.err" &
server=$!
await "$tracetta" query --socket="$socket" "SELECT 1 x" 2>"$work/.err" >/dev/null
verdict "socket_that_a_server_left_is_replaced" $? "$(cat "$work/server.err")"
says "named_inputs_are_served" "^2000,2000$" "${ask[@]}" --format=csv "SELECT (SELECT count(*) FROM a.event), (SELECT count(*) FROM b.event)"
run "${ask[@]}" "$endless"
[ $run_status = 4 ] && grep -q "stopped after 1.000 s" "$work/.err"
verdict "statement_has_a_limit_of_time" $? "status $run_status"
kill -INT $server 2>/dev/null
kill -TERM $server
wait $server
