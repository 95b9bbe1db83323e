#!/bin/bash
# Addresses as inputs: events and rates are shown while they arrive.  usage: network_live_test.sh TRACETTA PYTHON HEXA_CAT
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
python=$2 hexa_cat=$(realpath "$3")
here=$(dirname "$0")

# The bar is 200 ms for each event; a busy machine may delay one of them for longer, but not half of them.
for command in cat stat; do
    for transport in udp tcp ctf; do
        read -r median longest < <("$python" "$here/live_latency.py" "$tracetta" $command $transport 20)
        echo "# $command $transport: median $median ms, longest $longest ms"
        verdict "${command}_shows_an_event_of_${transport}_within_200_ms" $((median > 200 || longest > 2000)) "median $median ms, longest $longest ms"
    done
done

# start COMMAND...: starts a command that listens; sets $reader and $port.
start()
{
    : >"$work/live.err"
    "$tracetta" "$@" >"$work/live.out" 2>"$work/live.err" &
    reader=$!
    await grep -q 'listening on' "$work/live.err" || return 1
    port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$work/live.err" | head -n 1)
}

"$hexa_cat" "$here/traces/small_fxt.hexa" >"$work/small.fxt"
"$tracetta" cat --format=jsonl "$work/small.fxt" >"$work/expected"
start cat --format=jsonl tcp::0
"$tracetta" send "$work/small.fxt" "tcp:127.0.0.1:$port" 2>/dev/null
wait $reader
verdict stream_of_another_format_ends_with_its_sender $? "$(cat "$work/live.err")"
cmp -s "$work/expected" "$work/live.out"
verdict stream_of_another_format_is_printed $? "$(cat "$work/live.err")"

start cat --format=jsonl --limit=10 "unix:$work/socket"
"$python" "$here/heph_send.py" unix "$work/socket" 10
wait $reader
verdict limit_ends_a_live_input $? "$(cat "$work/live.err")"
says events_of_a_unix_socket_are_printed '"ready": *9' cat "$work/live.out"

# A CTF folder that is sent while it is printed: the same events as from the folder, but for the name of the source.
"$python" - "$work/one.heph" <<'PROGRAM'
import struct, sys
with open(sys.argv[1], "wb") as to:
    to.write(struct.pack(">IIH5sQ", 0x75D11D4D, 23, 5, b"epoch", 1700000000000000000))
    for counter in range(1000):
        to.write(struct.pack(">IIIIQQQH4s", 0xC1FC1FB7, 46, counter % 4, counter // 4, 0, counter * 1000000, counter * 1000000 + 10, 4, b"work"))
PROGRAM
for version in 1.8 2; do
    "$tracetta" convert -q --to=ctf --option="ctf.version=$version" --option=ctf.packet-size=4000 "$work/one.heph" -o "$work/ctf-$version" 2>/dev/null
    "$tracetta" cat --format=jsonl "$work/ctf-$version" | sed 's/"source":"[^"]*",//' >"$work/expected"
    start cat --format=jsonl tcp::0
    "$tracetta" send "$work/ctf-$version" "tcp:127.0.0.1:$port" 2>/dev/null
    all_arrived()
    {
        [ "$(wc -l <"$work/live.out")" = 1000 ]
    }
    await all_arrived
    kill -TERM $reader
    wait $reader
    sed 's/"source":"[^"]*",//' "$work/live.out" | cmp -s "$work/expected" -
    verdict "ctf_${version}_is_printed_while_it_arrives" $? "$(cat "$work/live.err")"
done

start cat --format=jsonl udp::0
"$python" "$here/heph_send.py" udp "$port" 100 1700000000000000000 10
has_events()
{
    [ "$(grep -c '"span"' "$work/live.out")" = 90 ]
}
await has_events
kill -TERM $reader
wait $reader
says losses_are_reported_at_the_end 'lost: 9 events by their counters; 0 datagrams dropped by the kernel; 0 events by a full queue' cat "$work/live.err"
says losses_are_gaps_of_the_printed_trace '"kind": *"gap"' cat "$work/live.out"
refuses wrong_address_is_reported 2 'expected udp:HOST:PORT' "$tracetta" cat udp:nonsense

start query --every=100ms --format=tsv udp::0 "SELECT count(*) n FROM event WHERE kind = 'span'"
"$python" "$here/heph_send.py" udp "$port" 100 1700000000000000000 10
has_answer()
{
    grep -qx 90 "$work/live.out"
}
await has_answer
kill -TERM $reader
wait $reader
verdict "answers_to_a_query_are_repeated_while_datagrams_arrive" $? "$(cat "$work/live.out" "$work/live.err")"
