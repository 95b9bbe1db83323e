#!/bin/bash
# The options of listen and send, limits, a torn packet and a full disk.  usage: network_options_test.sh TRACETTA PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
# shellcheck source=tests/cli/network.sh
source "$(dirname "$0")/network.sh"
python=$2
send=$(dirname "$0")/heph_send.py

# 1,000 events of 46 bytes, one per ms.
"$python" - "$work/second.heph" <<'PROGRAM'
import struct, sys
with open(sys.argv[1], "wb") as to:
    to.write(struct.pack(">IIH5sQ", 0x75D11D4D, 23, 5, b"epoch", 1700000000000000000))
    for counter in range(1000):
        to.write(struct.pack(">IIIIQQQH4s", 0xC1FC1FB7, 46, 1, counter, 0, counter * 1000000, counter * 1000000 + 10, 4, b"work"))
PROGRAM

# has_bytes N FOLDER: the folder has files with at least N bytes.
has_bytes()
{
    [ "$(find "$2" -type f -exec cat {} + | wc -c)" -ge "$1" ]
}

# takes_ms COMMAND...: sets $ms to the time that a command takes.
takes_ms()
{
    local begin
    begin=$(date +%s%N)
    "$@" 2>/dev/null
    ms=$((($(date +%s%N) - begin) / 1000000))
}

listen udp::0 -o "$work/realtime"
takes_ms "$tracetta" send --realtime "$work/second.heph" "udp:127.0.0.1:$port"
verdict realtime_takes_the_time_of_the_trace $((ms < 950)) "$ms ms"
takes_ms "$tracetta" send --rate=2k "$work/second.heph" "udp:127.0.0.1:$port"
verdict rate_is_not_exceeded $((ms < 450)) "$ms ms"
takes_ms "$tracetta" send "$work/second.heph" "udp:127.0.0.1:$port"
verdict without_either_a_trace_is_sent_at_once $((ms > 900)) "$ms ms"
stop

"$python" - <<'PROGRAM' >"$work/sizes" &
import socket
at = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
at.bind(("127.0.0.1", 0))
at.settimeout(60)
print(at.getsockname()[1], flush=True)
sizes = [len(at.recv(65536)) for i in range(100)]
print("largest", max(sizes), flush=True)
PROGRAM
sizes=$!
await test -s "$work/sizes"
"$tracetta" send --rate=10k --datagram-size=100 "$work/second.heph" "udp:127.0.0.1:$(cat "$work/sizes")" 2>/dev/null
wait $sizes
says datagrams_have_the_given_size 'largest 92' cat "$work/sizes"

listen tcp::0 -o "$work/packets" --max-packet=60 --json
"$python" "$send" tcp "$port" 10 # packets of 65 bytes
stop
says packet_above_the_limit_is_garbage '"events": *0,.*"garbage_bytes": *650' grep '"what": *"total"' "$work/listen.out"

listen udp::0 -o "$work/sources" --max-sources=2 --json
for epoch in 1 2 3; do
    "$python" "$send" udp "$port" 10 $epoch
done
await has_bytes $((2 * (23 + 10 * 65))) "$work/sources"
stop
says sender_above_the_limit_is_refused '"sources": *2,.*"refused": *[1-9]' grep '"what": *"total"' "$work/listen.out"

listen tcp::0 -o "$work/idle" --idle=200ms --json
"$python" - "$port" <<'PROGRAM'
import socket, sys
to = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
to.settimeout(60)
sys.exit(to.recv(1) != b"")
PROGRAM
verdict silent_sender_is_cut_off $? "$(cat "$work/listen.err")"
stop
says silent_sender_is_counted '"cut_off": *1' grep '"what": *"total"' "$work/listen.out"

mkfifo "$work/pipe"
sleep 1000 <"$work/pipe" &
sleeper=$!
: >"$work/listen.err"
"$tracetta" listen tcp::0 -o - --when-full=drop --queue-size=10000 >"$work/pipe" 2>"$work/listen.err" &
listener=$!
await grep -q 'listening on' "$work/listen.err"
port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$work/listen.err")
for _ in 1 2 3 4 5 6; do
    "$tracetta" send "$work/second.heph" "tcp:127.0.0.1:$port" 2>/dev/null
done
sleep 0.5
kill $sleeper
stop
says full_queue_drops_and_reports 'packets were dropped because the queue was full' cat "$work/listen.err"

listen udp::0 -o "$work/rotated" --rotate-size=10000
"$tracetta" send --rate=20k "$work/second.heph" "udp:127.0.0.1:$port" 2>/dev/null
await has_bytes 46000 "$work/rotated"
stop
[ "$(find "$work/rotated" -type f | wc -l)" = 5 ] && [ -z "$(find "$work/rotated" -type f -size +10000c)" ]
verdict files_are_rotated_by_size $? "$(ls -l "$work/rotated")"
says rotated_files_have_all_events '^events +1,000' "$tracetta" info "$work/rotated"
listen udp::0 -o "$work/timed" --rotate-time=200ms
"$tracetta" send --realtime "$work/second.heph" "udp:127.0.0.1:$port" 2>/dev/null
await has_bytes 46000 "$work/timed"
stop
n=$(find "$work/timed" -type f | wc -l)
verdict files_are_rotated_by_time $((n < 3 || n > 7)) "$n files"
says files_rotated_by_time_have_all_events '^events +1,000' "$tracetta" info "$work/timed"

# What SIGKILL during a write leaves: the last packet is torn.
head -c $((23 + 500 * 46 + 20)) "$work/second.heph" >"$work/torn.heph"
run "$tracetta" recover "$work/torn.heph" -o "$work/mended.heph"
says torn_packet_is_removed_by_recover 'whole.*500 events' "$tracetta" check "$work/mended.heph"

# A disk of 64 KiB.
mkdir "$work/disk"
if mount -t tmpfs -o size=64k none "$work/disk" 2>/dev/null; then
    "$tracetta" convert -q --to=ctf --option=ctf.packet-size=4000 "$work/second.heph" -o "$work/ctf" 2>/dev/null
    for trace in second.heph ctf; do
        head -c 40000 /dev/zero >"$work/disk/filler"
        listen tcp::0 -o "$work/disk/got"
        "$tracetta" send "$work/$trace" "tcp:127.0.0.1:$port" 2>/dev/null &
        sender=$!
        wait "$listener"
        verdict "full_disk_ends_the_receiver_of_$trace" $(($? == 0)) "$(cat "$work/listen.err")"
        says "full_disk_is_reported_for_$trace" 'No space left' cat "$work/listen.err"
        kill $sender 2>/dev/null
        wait $sender
        run "$tracetta" check "$work/disk/got"
        grep -Eq '[1-9][0-9]* events' "$work/.out"
        verdict "full_disk_keeps_complete_packets_of_$trace" $? "exit status $run_status"
        [ "$run_status" = 0 ]
        verdict "files_of_a_full_disk_are_not_damaged_for_$trace" $? "exit status $run_status"
        rm -rf "$work/disk/got" "$work/disk/filler"
    done
    umount "$work/disk"
else
    skip full_disk "no rights to mount a small disk"
fi

# A network that loses, repeats and reorders, by the kernel.
name=tracetta-$$
if ip netns add $name 2>/dev/null && ip netns exec $name ip link set lo up &&
    ip netns exec $name tc qdisc add dev lo root netem loss 5% duplicate 3% delay 2ms 1ms 2>/dev/null; then
    : >"$work/listen.err"
    ip netns exec $name "$tracetta" listen udp:127.0.0.1:0 -o "$work/netem" --json >"$work/listen.out" 2>"$work/listen.err" &
    listener=$!
    await grep -q 'listening on' "$work/listen.err"
    port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$work/listen.err")
    ip netns exec $name "$tracetta" send --rate=2k --datagram-size=100 "$work/second.heph" "udp:127.0.0.1:$port" 2>/dev/null
    sleep 0.5
    stop
    "$python" - "$work/listen.out" <<'PROGRAM'
import json, sys
total = [json.loads(line) for line in open(sys.argv[1])][-1]
# what is lost after the last event that arrived is unknown: at most a few datagrams of two events
sys.exit(not 980 <= total["events"] - total["duplicates"] + total["lost"] + total["before_first"] <= 1000)
PROGRAM
    verdict losses_of_netem_are_counted $? "$(cat "$work/listen.out")"
else
    skip losses_of_netem_are_counted "no network namespaces, or a kernel without netem"
fi
ip netns del $name 2>/dev/null
