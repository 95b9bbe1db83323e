#!/bin/bash
# A trace of "record" and one of LTTng of the same program, merged: marks that the program gives to both in turn are in order, though
# the two have clocks of their own. usage: merge.sh TRACETTA MERGE_APP ("none" if it could not be built).
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
app=$2
if [ "$app" = none ] || ! command -v lttng-sessiond >/dev/null || ! command -v lttng >/dev/null; then
    skip "marks_of_two_tracers_are_in_order" "there is no LTTng with its library lttng-ust"
    exit
fi
app=$(realpath "$app")
cd "$work" || exit 1
export LTTNG_HOME=$work LTTNG_UST_REGISTER_TIMEOUT=5000
# The daemon is not root's, so that the sockets are those of LTTNG_HOME.
start=()
[ "$(id -u)" != 0 ] || start=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 777 "$work"
"${start[@]}" lttng-sessiond --no-kernel >/dev/null 2>&1 &
daemon=$!
strays+=("$daemon")
# as COMMAND...: runs it as the user of the daemon.
as()
{
    "${start[@]}" "$@"
}
answers()
{
    as lttng list >/dev/null 2>&1
}
await answers
as lttng -q create merge --output="$work/ust" >/dev/null 2>&1 &&
    as lttng -q enable-event -u 'lttng_ust_tracef:*' >/dev/null 2>&1 &&
    as lttng -q start >/dev/null 2>&1
XDG_RUNTIME_DIR='' run "${start[@]}" "$tracetta" record -q -o own.fxt -- "$app" 2000
status=$run_status
as lttng -q destroy merge >/dev/null 2>&1
kill "$daemon"
wait "$daemon" 2>/dev/null
run "$tracetta" merge -q -f own.fxt ust -o merged.jsonl
sed -n 's/.*"number":\([0-9]*\).*/\1/p; s/.*mark \([0-9]*\)\..*/\1/p' merged.jsonl >marks
[ $status = 0 ] && [ $run_status = 0 ] && [ "$(wc -l <marks)" = 2000 ] && seq 0 1999 | cmp -s - marks
verdict "marks_of_two_tracers_are_in_order" $? "exit status $status, $run_status, $(wc -l <marks) marks, $(seq 0 1999 | diff - marks | grep -c '^>') out of order"
