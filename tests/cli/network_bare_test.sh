#!/bin/bash
# listen with CTF packets of other senders, without frames.  usage: network_bare_test.sh TRACETTA PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
# shellcheck source=tests/cli/network.sh
source "$(dirname "$0")/network.sh"
python=$2
send=$(dirname "$0")/ctf_send.py

# has_bytes FOLDER N: the stream files below the folder have N bytes; a packet has 236.
has_bytes()
{
    [ "$(find "$1" -name 'stream_*' -exec cat {} + | wc -c)" = "$2" ]
}

# babeltrace NAME FOLDER EVENTS: babeltrace2 reads as many events from a folder and complains of nothing but a lost packet.
babeltrace()
{
    if ! command -v babeltrace2 >/dev/null; then
        skip "$1" "babeltrace2 is not installed"
        return
    fi
    babeltrace2 "$2" >"$work/bt.out" 2>"$work/bt.err"
    verdict "$1" $(($? != 0 || $(wc -l <"$work/bt.out") != $3)) "$(tail -n 3 "$work/bt.err")"
}

for version in 1.8 2; do
    for where in packets late split file; do
        name=${version}_$where options=()
        if [ $where = file ]; then
            "$python" "$send" 0 $version "$work/metadata" 0
            where=$work/metadata
            options=("--metadata=$where")
        fi
        listen udp::0 -o "$work/$name" --json "${options[@]}"
        "$python" "$send" "$port" $version "$where" 20 7 10
        await has_bytes "$work/$name" $((39 * 236))
        stop
        says "lost_packet_of_bare_ctf_${name}_is_counted" '"lost_packets": *1, *"late": *6,.*"is_complete": *true' grep '"what": *"end"' "$work/listen.out"
        says "events_of_bare_ctf_${name}_are_unknown" '"packets": *[0-9]+, *"events": *null, *"uncounted_packets": *39,' grep '"what": *"total"' "$work/listen.out"
        "$tracetta" info "$work/$name" >"$work/info" 2>&1
        says "bare_ctf_${name}_has_all_events" '^events +390' cat "$work/info"
        says "bare_ctf_${name}_has_one_gap" '^lost +1 packet in 1 place' cat "$work/info"
        [ $version = 2 ] || babeltrace "babeltrace2_opens_bare_ctf_$name" "$work/$name"/0* 390
    done
done

# Rotated folders are complete, and a packet that is lost between two of them counts once.
for drop in 4 5 6 7; do
    listen udp::0 -o "$work/rotated-$drop" --rotate-size=3000 --json
    "$python" "$send" "$port" 1.8 packets 20 $drop
    await has_bytes "$work/rotated-$drop" $((39 * 236))
    stop
    "$tracetta" info "$work/rotated-$drop" >"$work/info" 2>&1
    says "rotated_folders_have_all_events_$drop" '^events +390' cat "$work/info"
    says "rotated_folders_have_the_gap_once_$drop" '^lost +1 packet in 1 place' cat "$work/info"
    bad=0 n=0
    for folder in "$work/rotated-$drop"/*; do
        n=$((n + 1))
        "$tracetta" check "$folder" >"$work/check" 2>&1 || bad=$folder
    done
    [ "$bad" = 0 ] && [ $n -ge 3 ]
    verdict "each_of_the_rotated_folders_is_complete_$drop" $? "$bad of $n folders: $(cat "$work/check")"
    babeltrace "babeltrace2_opens_a_rotated_folder_$drop" "$(find "$work/rotated-$drop" -mindepth 1 -maxdepth 1 | sort | head -n 1)" "$(("$("$tracetta" cat --format=jsonl "$(find "$work/rotated-$drop" -mindepth 1 -maxdepth 1 | sort | head -n 1)" | grep -c polling)"))"
done

# Events that the tracer discarded: 3 before each packet but the first, also before the first packet of a rotated folder.
listen udp::0 -o "$work/discarded" --rotate-size=3000
"$python" "$send" "$port" 1.8 packets 20 -1 0 3
await has_bytes "$work/discarded" $((40 * 236))
stop
says discarded_events_count_once_across_rotated_folders '^lost +114 events in 38 places' "$tracetta" info "$work/discarded"

# loses VERSION NAME: the folder has a gap for drops of the receiver, and other readers ignore the file of them.
loses()
{
    "$tracetta" info "$work/$2" >"$work/info" 2>&1
    says "dropped_packets_of_ctf_$2_are_a_gap" '"kind": *"gap",.*"name": *"[0-9]* (packets were dropped by a full queue|datagrams were dropped by the kernel)"' "$tracetta" cat --format=jsonl "$work/$2"
    [ "$1" = 2 ] || babeltrace "babeltrace2_opens_ctf_$2" "$work/$2"/0* "$(sed -n 's/^events *\([0-9,]*\)$/\1/p' "$work/info" | tr -d ,)"
}

# Packets that a full queue drops: four of 40 fit until the metadata arrive.
for version in 1.8 2; do
    listen udp::0 -o "$work/full-$version" --queue-size=1000 --json
    "$python" "$send" "$port" $version late 20
    await grep -qr . "$work/full-$version" --include=.losses
    kill -KILL "$listener" && wait "$listener" 2>/dev/null
    loses $version full-$version
    says "dropped_packets_of_ctf_${version}_survive_a_kill" '^env +network.dropped_packets = 3[67]$' cat "$work/info"
    "$tracetta" convert "$work/full-$version" --to=ctf -o "$work/copy-$version" 2>"$work/convert.err"
    says "copy_of_ctf_${version}_declares_the_drops_it_leaves_out" 'event.gap' cat "$work/convert.err"
done

# Datagrams that the kernel drops while the receiver is stopped.
listen udp::0 -o "$work/kernel" --queue-size=256M --json
"$python" "$send" "$port" 1.8 packets 3000 -1 0 0 "$listener"
await grep -qr . "$work/kernel" --include=.losses
stop
drops=$(sed -n 's/.*"kernel_drops": *\([0-9]*\).*/\1/p' "$work/listen.out")
if [ "$drops" = 0 ]; then
    skip dropped_datagrams_are_lost_packets 'the buffer of the kernel has room for all'
else
    loses 1.8 kernel
    says dropped_datagrams_of_ctf_are_in_the_folder "^env +network.kernel_drops = $drops\$" cat "$work/info"
    says dropped_datagrams_are_lost_packets "^lost +$(echo "$drops" | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') packets in 3 places" cat "$work/info"
fi

listen udp::0 -o "$work/none"
"$python" "$send" "$port" 1.8 "$work/unsent" 3
sleep 0.3
stop
says packets_without_metadata_are_refused 'refused: no metadata of its packets arrived' cat "$work/listen.err"
listen udp::0 -o "$work/merged.heph"
"$python" "$send" "$port" 1.8 packets 3
await grep -q 'refused: .*it needs a folder' "$work/listen.err"
verdict bare_ctf_needs_a_folder $? "$(cat "$work/listen.err")"
stop
echo nonsense >"$work/nonsense"
refuses wrong_metadata_are_reported 3 'not metadata of packets' "$tracetta" listen udp::0 -o "$work/x" --metadata="$work/nonsense"
refuses missing_metadata_are_reported 3 'cannot read the metadata' "$tracetta" listen udp::0 -o "$work/x" --metadata="$work/absent"
