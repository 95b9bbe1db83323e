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
