#!/bin/bash
# listen, with senders in another language that write Heph by hand.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
python=$2
send=$(dirname "$0")/heph_send.py

# shellcheck source=tests/cli/network.sh
source "$(dirname "$0")/network.sh"

# has_files FOLDER N BYTES: the folder has N files with BYTES bytes in all.
has_files()
{
    [ "$(find "$1" -type f | wc -l)" = "$2" ] && [ "$(find "$1" -type f -exec cat {} + | wc -c)" = "$3" ]
}

has_bytes()
{
    [ "$(wc -c <"$1")" = "$2" ]
}

# await_events FOLDER N: N events of 46 bytes arrive; epochs may be repeated.
has_events()
{
    [ "$(find "$1" -type f -exec cat {} + | wc -c)" -ge $(($2 * 46)) ]
}
await_events()
{
    await has_events "$@" && [ "$("$tracetta" cat "$1" --format=jsonl | wc -l)" = "$2" ]
}

# holds NAME COMMAND...: a case that passes if the command succeeds.
holds()
{
    local name=$1
    shift
    : >"$work/.out"
    cat "$work/listen.err" >"$work/.err"
    "$@"
    verdict "$name" $? "$* failed"
}

# An event of heph_send.py has 42 + 7 bytes, and 2 + 5 + 1 + 8 of an attribute; an epoch has 23.
for transport in udp tcp; do
    listen "$transport::0" -o "$work/$transport"
    "$python" "$send" $transport "$port" 100
    holds ${transport}_packets_of_a_python_program_are_received await has_files "$work/$transport" 1 $((23 + 100 * 65))
    stop
    verdict ${transport}_receiver_ends_well_at_a_signal $listen_status "exit status $listen_status"
    says ${transport}_receiver_reports_the_sender '100 events' cat "$work/listen.err"
    says ${transport}_file_has_the_attributes 'ready = 99' "$tracetta" cat "$work/$transport"
    says ${transport}_file_is_complete 'whole.*100 events' "$tracetta" check "$work/$transport"
done

# An epoch that arrives after the events holds for all of them.
for transport in udp tcp; do
    listen "$transport::0" -o "$work/late-$transport"
    "$python" "$send" $transport "$port" 100 1700000000000000000 0 60
    await has_files "$work/late-$transport" 1 $((23 + 100 * 65))
    stop
    listen "$transport::0" -o "$work/late-$transport.heph"
    "$python" "$send" $transport "$port" 100 1700000000000000000 0 60
    await has_bytes "$work/late-$transport.heph" $((23 + 100 * 65))
    stop
    for output in "$work/late-$transport" "$work/late-$transport.heph"; do
        says "late_epoch_holds_for_the_first_event_${output#"$work"/late-}" '"time_ns": *1700000000000000000,' "$tracetta" cat --format=jsonl --limit=1 "$output"
        "$tracetta" cat --format=jsonl "$output" >"$work/late.jsonl" 2>&1
        verdict "late_epoch_holds_for_each_event_${output#"$work"/late-}" $(($(grep -c '"time_ns": *170000000000[0-9]*,' "$work/late.jsonl") != 100)) "$(head -n 2 "$work/late.jsonl")"
    done
done

# A merged trace has only times since 1970, also of 130 KB of events before the epoch.
listen tcp::0 -o "$work/later.heph"
"$python" "$send" tcp "$port" 2010 1700000000000000000 0 2000
await has_bytes "$work/later.heph" $((23 + 2010 * 65))
stop
"$tracetta" cat --format=jsonl "$work/later.heph" >"$work/late.jsonl" 2>&1
verdict late_epoch_holds_for_all_events_of_a_merged_trace $(($(grep -c '"time_ns": *170000000[0-9]*,' "$work/late.jsonl") != 2010)) "$(head -n 2 "$work/late.jsonl")"
listen "unix:$work/socket" -o "$work/unix"
"$python" "$send" unix "$work/socket" 10
holds unix_packets_are_received await has_files "$work/unix" 1 $((23 + 10 * 65))
stop

listen udp::0 -o "$work/lossy" --json
"$python" "$send" udp "$port" 100 1700000000000000000 10 # 0, 10, ... 90
holds lossy_packets_are_received await has_files "$work/lossy" 1 $((23 + 90 * 65))
stop
says missing_counters_are_lost '"lost": *9, *"before_first": *1,' grep '"what": *"end"' "$work/listen.out"
says totals_have_three_losses '"lost": *9,.*"kernel_drops": *0, *"dropped_packets": *0' grep '"what": *"total"' "$work/listen.out"
says stored_trace_has_a_gap 'lost' "$tracetta" info "$work/lossy"

listen udp::0 -o "$work/merged.heph"
"$python" "$send" udp "$port" 10 1700000000000000000
"$python" "$send" udp "$port" 10 1700000001000000000
holds merged_packets_are_received await has_files "$work/merged.heph" 1 $((23 + 20 * 65))
stop
says merged_trace_is_on_one_clock '2023-11-14.*22:13:2[01]' "$tracetta" info "$work/merged.heph"

listen udp::0 -o "$work/converted.fxt"
"$python" "$send" udp "$port" 10 1700000000000000000
"$python" "$send" udp "$port" 10 1700000001000000000
await grep -q '0002-udp' "$work/listen.err"
sleep 0.2
stop
verdict captured_files_are_converted_at_the_end $listen_status "exit status $listen_status: $(cat "$work/listen.err")"
says converted_trace_has_the_events_of_both '"events": 20' "$tracetta" info --json "$work/converted.fxt"
holds no_captured_files_remain test -z "$(find "$work" -name 'converted.fxt.*')"
listen tcp::0 -o "$work/empty.fxt"
stop
verdict no_sender_is_no_output $((listen_status != 1)) "exit status $listen_status"

mkfifo "$work/pipe"
: >"$work/listen.err"
"$tracetta" cat - --format=jsonl <"$work/pipe" >"$work/live.out" 2>/dev/null &
"$tracetta" listen udp::0 -o - >"$work/pipe" 2>"$work/listen.err" &
listener=$!
await grep -q 'listening on' "$work/listen.err"
port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$work/listen.err")
"$python" "$send" udp "$port" 10
await grep -q 'receiving' "$work/listen.err"
kill -TERM "$listener"
wait
says events_are_piped_to_another_command '"ready": *9' cat "$work/live.out"

listen tcp::0 -o "$work/killed"
"$python" "$send" tcp "$port" 50
await has_files "$work/killed" 1 $((23 + 50 * 65))
kill -KILL "$listener"
wait "$listener" 2>/dev/null
says file_of_a_killed_receiver_is_complete 'whole.*50 events' "$tracetta" check "$work/killed"

"$python" - "$work/many.heph" <<'END'
import struct, sys
with open(sys.argv[1], "wb") as to:
    to.write(struct.pack(">IIH5sQ", 0x75D11D4D, 23, 5, b"epoch", 1700000000000000000))
    for counter in range(200000):
        to.write(struct.pack(">IIIIQQQH4s", 0xC1FC1FB7, 46, counter % 4, counter // 4, 0, counter * 10000, counter * 10000 + 10, 4, b"work"))
END
for transport in udp tcp; do
    listen "$transport::0" -o "$work/rate-$transport" --json
    run "$tracetta" send --rate=100k "$work/many.heph" "$transport:127.0.0.1:$port"
    verdict "${transport}_sender_ends_well" "$run_status" "exit status $run_status"
    holds "${transport}_sender_of_100000_events_per_second_loses_nothing" await_events "$work/rate-$transport" 200000
    stop
    says "${transport}_receiver_drops_nothing" '"lost": *0,.*"kernel_drops": *0, *"dropped_packets": *0' grep '"what": *"total"' "$work/listen.out"
done
head -c $((23 + 20000 * 46)) "$work/many.heph" >"$work/some.heph"
# Two hosts: this one with a network interface whose other end is in another namespace. The cable is cut and joined again.
if ip netns add "tracetta-$$" 2>/dev/null && ip link add "tr$$" type veth peer name "tp$$" netns "tracetta-$$" 2>/dev/null; then
    ip addr add 10.213.77.1/24 dev "tr$$" && ip link set "tr$$" up
    ip netns exec "tracetta-$$" sh -c "ip addr add 10.213.77.2/24 dev tp$$ && ip link set tp$$ up && ip link set lo up"
    for transport in udp tcp; do
        listen "$transport:10.213.77.1:0" -o "$work/hosts-$transport" --json
        ip netns exec "tracetta-$$" "$tracetta" send --rate=10k "$work/some.heph" "$transport:10.213.77.1:$port" 2>"$work/send.err" &
        sender=$!
        await has_events "$work/hosts-$transport" 2000
        ip link set "tr$$" down
        sleep 0.5
        ip link set "tr$$" up
        wait $sender
        verdict "${transport}_sender_survives_a_cut_cable" $? "$(cat "$work/send.err")"
        sleep 0.5
        stop
        lost=$(sed -n 's/.*"what": *"total".*"lost": *\([0-9]*\),.*/\1/p' "$work/listen.out")
        events=$(sed -n 's/.*"what": *"total".*"events": *\([0-9]*\),.*/\1/p' "$work/listen.out")
        echo "# $transport: $events received, $lost lost"
        verdict "${transport}_events_received_and_lost_are_those_sent" $((events + lost != 20000)) "$events + $lost"
        [ $transport = udp ] || verdict tcp_loses_nothing "$lost" "$lost"
    done
    ip netns del "tracetta-$$"
else
    skip hosts_in_namespaces "no rights to make network namespaces"
fi

{ printf '\x10\x00\x04\x46\x78\x54\x16\x00' && head -c 120 /dev/zero; } >"$work/some.fxt"
refuses other_format_cannot_be_sent_by_udp 3 'use tcp:' "$tracetta" send "$work/some.fxt" udp::9
refuses rate_excludes_realtime 2 'exclude each other' "$tracetta" send --rate=1 --realtime "$work/many.heph" udp::9
refuses sender_needs_an_address 2 'expects' "$tracetta" send "$work/many.heph"
refuses address_is_needed 2 'expects an address' "$tracetta" listen
refuses address_must_be_one 2 'expected udp:HOST:PORT' "$tracetta" listen nonsense -o "$work/x"
refuses output_is_needed 2 'no output' "$tracetta" listen udp::0
refuses rotation_needs_a_folder 2 'need a folder' "$tracetta" listen udp::0 -o "$work/x.heph" --rotate-size=1MiB
refuses times_are_checked 2 'rotate-time cannot be' "$tracetta" listen udp::0 -o "$work/x" --rotate-time=soon
