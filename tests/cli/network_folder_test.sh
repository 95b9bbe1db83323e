#!/bin/bash
# send and listen with CTF traces.  usage: network_folder_test.sh TRACETTA PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
# shellcheck source=tests/cli/network.sh
source "$(dirname "$0")/network.sh"
python=$2
frame_send=$(dirname "$0")/frame_send.py

"$python" - "$work/one.heph" <<'PROGRAM'
import struct, sys
with open(sys.argv[1], "wb") as to:
    to.write(struct.pack(">IIH5sQ", 0x75D11D4D, 23, 5, b"epoch", 1700000000000000000))
    for counter in range(6000):
        to.write(struct.pack(">IIIIQQQH4s", 0xC1FC1FB7, 46, counter % 4, counter // 4, 0, counter * 1000000, counter * 1000000 + 10, 4, b"work"))
PROGRAM

# make VERSION: converts the trace into packets of 4,000 bytes.
make()
{
    mkdir "$work/$1"
    "$tracetta" convert -q --to=ctf --option="ctf.version=$1" --option=ctf.packet-size=4000 "$work/one.heph" -o "$work/$1/trace"
    "$tracetta" cat --format=jsonl "$work/$1/trace" >"$work/$1.jsonl"
}

for version in 1.8 2 1.1; do
    make $version
    for transport in udp tcp; do
        listen $transport::0 -o "$work/got-$version-$transport" --json
        "$tracetta" send "$work/$version/trace" "$transport:127.0.0.1:$port" 2>"$work/.err"
        verdict "${transport}_sender_of_ctf_${version}_ends_well" $? "$(cat "$work/.err")"
        sleep 0.5
        stop
        same "ctf_${version}_by_${transport}_has_the_same_events" "$work/$version.jsonl" "$tracetta" cat --format=jsonl "$work/got-$version-$transport"
        says "ctf_${version}_by_${transport}_loses_nothing" '"lost": *0,.*"is_complete": *true' grep '"what": *"end"' "$work/listen.out"
    done
done
listen "unix:$work/socket" -o "$work/got-unix"
"$tracetta" send "$work/2/trace" "unix:$work/socket" 2>/dev/null
sleep 0.5
stop
same ctf_by_unix_socket_has_the_same_events "$work/2.jsonl" "$tracetta" cat --format=jsonl "$work/got-unix"

# The metadata are repeated every second: a receiver that starts late reads the rest.
listen udp::0 -o "$work/none"
stop
"$tracetta" send --rate=2k "$work/1.8/trace" "udp:127.0.0.1:$port" 2>/dev/null &
sender=$!
sleep 0.7
listen "udp::$port" -o "$work/late" --json
wait $sender
sleep 0.3
stop
says late_receiver_gets_the_metadata '"before_first": *[1-9].*"is_complete": *true' grep '"what": *"end"' "$work/listen.out"
says trace_of_a_late_receiver_is_readable '^events +[1-9]' "$tracetta" info "$work/late"

# A program in Python, which drops the third packet of each file.
for transport in udp tcp; do
    listen $transport::0 -o "$work/python-$transport" --json
    "$python" "$frame_send" $transport "$port" "$work/1.1/trace" 2
    sleep 0.5
    stop
    says "lost_packet_of_a_python_program_is_counted_by_${transport}" '"lost": *10, *"before_first": *0, *"lost_packets": *1' grep '"what": *"end"' "$work/listen.out"
    "$tracetta" info "$work/python-$transport" >"$work/info" 2>&1
    says "stored_trace_of_${transport}_has_the_gap" '1 packet' cat "$work/info"
done

# A killed receiver leaves complete packets.
listen tcp::0 -o "$work/killed"
"$tracetta" send --rate=5k "$work/1.8/trace" "tcp:127.0.0.1:$port" 2>/dev/null &
sender=$!
sleep 0.6
kill -KILL "$listener"
wait "$listener" 2>/dev/null
kill $sender
wait $sender
says folder_of_a_killed_receiver_is_readable '^events +[1-9]' "$tracetta" info "$work/killed"

"$tracetta" convert -q --to=ctf --option=ctf.packet-size=100000 "$work/one.heph" -o "$work/large"
run "$tracetta" send "$work/large" udp:127.0.0.1:9
grep -q 'exceed 65507 bytes.*use tcp:' "$work/.err"
verdict packet_above_the_limit_of_udp_is_reported $? "$(cat "$work/.err")"
verdict packet_that_is_not_sent_is_no_success $((run_status != 4)) "exit status $run_status"
mkdir "$work/other"
cp "$work/one.heph" "$work/other/a.heph"
refuses folder_of_other_traces_cannot_be_sent 3 'only single files can be sent' "$tracetta" send "$work/other" udp:127.0.0.1:9
refuses empty_folder_cannot_be_sent 3 'no trace' "$tracetta" send "$work/none" udp:127.0.0.1:9
listen tcp::0 -o "$work/file"
"$tracetta" send "$work/1.8/trace/metadata" "tcp:127.0.0.1:$port" 2>/dev/null
await grep -q refused "$work/listen.err"
verdict single_file_of_a_folder_is_refused $? "$(cat "$work/listen.err")"
stop
