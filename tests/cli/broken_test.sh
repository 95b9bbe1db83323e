#!/bin/bash
# Traces of CTF that are broken, or ask for more than there can be: what is read, what is written of them, what is said.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
vectors=$(cd "$(dirname "$0")/../../src/formats/ctf/vectors" && pwd)
cd "$work" || exit 1
export TZ=UTC

# lay VECTOR: the trace as a folder of files.
lay()
{
    local file
    mkdir -p "$1"
    for file in "$vectors/$1"/*.hexa; do "$hexa_cat" "$file" >"$1/$(basename "$file" .hexa)"; done
}

# make TRACE FIELDS BYTES: one packet with an event "a" that is whole, one of class "big" with those fields, then a packet with another whole event.
make()
{
    mkdir -p "$1"
    cat >"$1/metadata" <<METADATA
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
stream { packet.context := struct { u8 packet_size; u8 content_size; }; event.header := struct { u8 id; }; };
event { name = a; id = 0; fields := struct { u8 x; }; };
event { name = big; id = 1; fields := struct { $2 }; };
METADATA
    printf '\xc1\x1f\xfc\xc1\xa0\xa0\x00\x07\x01%b' "$3" >"$1/s"
    printf '\xc1\x1f\xfc\xc1\x40\x40\x00\x08' >>"$1/s"
}

# costs NAME CODE: two events are read, and of the packet with the other what is after it is reported as damage.
costs()
{
    salvages "${1}_costs_no_other_event" 'x = 8' "$tracetta" cat "$1"
    run "$tracetta" check "$1"
    [ $run_status = 1 ] && grep -Eq "damage $2 x1, first at byte 8: s: .* 12 bytes of the packet at byte 0 are skipped" "$work/.out"
    verdict "${1}_is_reported" $? "exit status $run_status"
    run "$tracetta" recover --no-sidecar "$1" -o "$1.good"
    succeeds "${1}_is_recovered" "$tracetta" check --quiet "$1.good"
}

rest='\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
make an_array_of_2_to_the_40_bits 'u8 x[137438953472];' "$rest"
costs an_array_of_2_to_the_40_bits ctf.cut-event
make an_array_of_2_to_the_61_bytes 'u8 x[2305843009213693952];' "$rest"
costs an_array_of_2_to_the_61_bytes ctf.bad-event
make a_sequence_of_4294967295_elements 'u32 n; u8 x[n];' '\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00'
costs a_sequence_of_4294967295_elements ctf.cut-event
make a_sequence_of_2_to_the_64_texts 'u64 n; struct { string s; } x[n];' '\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00'
costs a_sequence_of_2_to_the_64_texts ctf.bad-event
make nothing_2_to_the_64_times 'u64 n; struct { } x[n];' '\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00'
costs nothing_2_to_the_64_times ctf.bad-event

# Metadata that end inside their last declaration, as a tracer leaves them that was stopped: what they declare is read.
make stopped 'u8 x[11];' "$rest"
"$tracetta" convert -q --to=ctf --option=packetized-metadata=yes stopped -o stopped-packets
"$tracetta" convert -q --to=ctf --option=ctf.version=2 stopped -o stopped-2
for trace in stopped-packets stopped-2; do
    truncate -s -10 $trace/metadata
    salvages "${trace}_gives_the_events_that_are_declared" 'x = 8' "$tracetta" cat $trace
    run "$tracetta" check $trace
    [ $run_status = 1 ] && grep -q 'damage ctf.cut-metadata x1, .*; skipped' "$work/.out" && grep -q 'damage ctf.unknown-event x1' "$work/.out"
    verdict "${trace}_is_reported" $? "exit status $run_status"
    refuses "${trace}_is_nothing_for_strict_reading" 1 'ctf.cut' "$tracetta" cat --strict $trace
    run "$tracetta" recover --no-sidecar $trace -o $trace.good
    succeeds "${trace}_is_recovered" "$tracetta" check --quiet --strict $trace.good
done

# Folders of one trace: what the metadata of one lack is reported by longer ones that begin with them, also in copies of each.
mkdir -p grew/a grew/b
sed "s/trace {/& uuid = \"00000000-0000-0000-0000-00000000000a\";/" stopped/metadata >grew/b/metadata
head -c -10 grew/b/metadata >grew/a/metadata
cp stopped/s grew/a
cp stopped/s grew/b
salvages "folders_of_a_trace_are_read_by_the_longest_metadata" "x = 8" "$tracetta" cat grew
run "$tracetta" check grew
[ $run_status = 1 ] && grep -q "damage ctf.cut-metadata x1, .* declaration; the longer metadata of another folder are used" "$work/.out" && ! grep -q "ctf.unknown-event" "$work/.out"
verdict "metadata_that_others_go_on_lose_no_events" $? "exit status $run_status"
mkdir grew/c && cp stopped/s grew/c && head -c "$(grep -b '^stream' grew/b/metadata | cut -d: -f1)" grew/b/metadata | head -c -10 >grew/c/metadata
run "$tracetta" cat grew
[ "$(grep -c 'x = 8' "$work/.out")" = 3 ] && grep -q 'grew/c: warning: 1 damaged place' "$work/.err"
verdict "also_where_they_end_before_a_stream_is_declared" $? "exit status $run_status"
run "$tracetta" recover grew -o grew.good
[ $run_status = 1 ] && grep -q '3 traces, kept 9 events' "$work/.err" && cmp -s grew/a/s grew.good/a/s && cmp -s grew/c/s grew.good/c/s &&
    cmp -s grew.good/c/metadata grew.good/b/metadata && grep -q '"ctf.cut-metadata"' grew.good/c.damage.json
verdict "folders_of_a_trace_are_recovered_by_the_longest_metadata" $? "exit status $run_status"
succeeds "so_that_each_of_them_is_whole" "$tracetta" check --quiet --strict grew.good/a grew.good/b grew.good/c
rm -r grew/c
salvages "other_metadata_can_be_named" 'x = 8' "$tracetta" cat --option=ctf.longer-metadata=grew/b/metadata grew/a
refuses "and_are_not_read_where_they_do_not_begin_with_its_own" 3 'found the end of the text' "$tracetta" cat --option=ctf.longer-metadata=stopped/metadata grew/a
refuses "nor_where_they_are_none" 3 'cannot open nothing' "$tracetta" cat --option=ctf.longer-metadata=nothing grew/a
run "$tracetta" convert -q --to=ctf grew -o grew.copy
cmp -s grew/a/s grew.copy/a/s && cmp -s grew/b/s grew.copy/b/s
verdict "copies_of_folders_keep_their_streams" $?
succeeds "copies_of_folders_have_the_longer_metadata_each" "$tracetta" check --quiet --strict grew.copy/a

# A stream file whose metadata are elsewhere.
mkdir lone && cp stopped/s lone && sed 's/u32 magic; //; s/struct { u32 magic; }/struct { }/' stopped/metadata >no-magic && tail -c +5 stopped/s | head -c 9 >lone/plain
refuses "a_stream_file_alone_is_no_trace" 3 's alone is no ctf trace: .*, or such a file by --option=ctf.metadata=FILE' "$tracetta" cat lone/s
says "but_by_metadata_that_are_named" 'x = 7' "$tracetta" cat --metadata=grew/b/metadata lone/s
succeeds "and_is_recovered_by_them" "$tracetta" recover --quiet --metadata=grew/b/metadata lone/s -o lone.good
cmp -s lone/s lone.good/s
verdict "with_its_name" $?
refuses "a_file_that_does_not_begin_as_streams_do_is_none" 3 'not a trace of a known format' "$tracetta" cat --metadata=no-magic lone/plain
run "$tracetta" cat --from=ctf --metadata=no-magic lone/plain
grep -q 'x = 7' "$work/.out"
verdict "unless_it_is_said_to_be_one" $? "exit status $run_status"

# Text of CTF 1.8 without its first line is not reported as bad RFC v1.1.
mkdir headless && cp stopped/s headless && { grep ^typealias stopped/metadata | sed "1i // types"; grep -v "^typealias\|CTF 1.8" stopped/metadata; } >headless/metadata
refuses "metadata_without_their_first_line_are_reported_so" 3 'headless/metadata does not start with "/\* CTF 1.8 \*/", as metadata of CTF 1.8 must' "$tracetta" cat headless

# One byte is one.
mkdir short && cp stopped/metadata short && head -c 9 stopped/s >short/s
salvages "a_file_that_ends_behind_an_event_gives_that" 'x = 7' "$tracetta" cat short
run "$tracetta" check short
grep -q 's: the file ends inside a packet (id 1); 1 byte of the packet at byte 0 is skipped' "$work/.out"
verdict "byte_after_the_end_is_reported" $? "exit status $run_status"
sed -i 's/packet.context := struct [^}]*};//; s/event.header := struct [^}]*};//; /name = big/d; s/u8 x/u32 x/' short/metadata
printf '\xc1\x1f\xfc\xc1\x07' >short/s
run "$tracetta" check short
grep -q 's: the file ends inside a packet; 1 byte skipped' "$work/.out"
verdict "also_where_there_is_nothing_else" $? "exit status $run_status"
printf '\xc1' >short/s
run "$tracetta" check short
grep -q 's ends inside the header of a packet, with 1 byte of it' "$work/.out"
verdict "and_in_a_header" $? "exit status $run_status"

# What is no file has no place.
mkdir nothing && cp stopped/metadata nothing && mkfifo nothing/stream
run "$tracetta" check nothing
grep -q 'odd ctf.no-file x1: stream is a FIFO' "$work/.out"
verdict "input_other_than_a_file_is_reported_without_offset" $? "exit status $run_status"

deep=$(printf 'struct { %.0s' {1..1000})
make deep "${deep}u8 x;$(printf ' } s;%.0s' {1..1000})" "$rest"
refuses "a_thousand_structures_in_one_another_are_refused_with_the_place" 3 'deep/metadata:8:[0-9]+: more than 64 levels' "$tracetta" cat deep

# Packets with the uuid of another trace are read as CTF 1.8, and so must what is made of them be.
lay stream-bad-uuid
"$tracetta" cat stream-bad-uuid >wanted 2>/dev/null
succeeds "packets_of_another_uuid_become_ctf_2" "$tracetta" convert -q --to=ctf --option=ctf.version=2 stream-bad-uuid -o two
same "with_all_their_events" wanted "$tracetta" cat two
succeeds "that_are_of_one_trace_then" "$tracetta" check --quiet --strict two
succeeds "also_when_some_are_left_out" "$tracetta" convert -q --to=ctf --option=ctf.version=2 --start=8ns stream-bad-uuid -o late
says "of_one_trace_too" 'x = 2' "$tracetta" cat --strict late

# A trace promises that its events are in order; damage does not keep the promise, --sort does.
lay stream-bad-backward
"$tracetta" cat --style=babeltrace2 --clock-gmt --no-delta stream-bad-backward 2>/dev/null | sort >wanted
same "events_that_go_back_in_time_are_sorted" wanted "$tracetta" cat --sort --style=babeltrace2 --clock-gmt --no-delta stream-bad-backward
succeeds "and_written_in_order" "$tracetta" convert -q --sort --to=ctf stream-bad-backward -o sorted
same "to_be_read_so" wanted "$tracetta" cat --style=babeltrace2 --clock-gmt --no-delta sorted

# Streams with numbers: a packet that another file has, after damage, which is seen when the damage is gone.
mkdir twice
sed 's/u32 magic; }/u32 magic; u8 stream_id; u8 stream_instance_id; }/; s/u8 packet_size; u8 content_size;/u64 timestamp_begin; u64 timestamp_end; &/
s/^stream {/stream { id = 0; /; s/id = \([01]\); fields/id = \1; stream_id = 0; fields/' an_array_of_2_to_the_40_bits/metadata >twice/metadata
packet() { printf '\xc1\x1f\xfc\xc1\x00\x07%b\x00\x00\x00\x00\x00\x00\x00%b\x00\x00\x00\x00\x00\x00\x00\xe0\xe0\x00\x08\x00\x09' "$1" "$2"; }
{ packet '\x01' '\x02' && packet '\x03' '\x04'; } >twice/s
{ printf 'no packet is this' && packet '\x03' '\x04'; } >twice/t
run "$tracetta" check twice
grep -q ' 6 events' "$work/.out"
verdict "duplicate_packets_after_damage_are_read_twice" $? "exit status $run_status"
run "$tracetta" recover --no-sidecar twice -o once
[ $run_status = 1 ] && grep -q 'packets stand in it twice (1)' "$work/.err" && grep -q 'verified, clean' "$work/.err"
verdict "recover_leaves_them_out_once_the_damage_is_gone" $? "exit status $run_status"
says "duplicate_packet_is_read_once" ' 4 events' "$tracetta" check once

# Packets without sizes end with their file. One whose events stop where the next begins is taken to end there; in a copy each has a file of its own, also
# where the next one's magic number could be an event.
sizeless()
{
    mkdir "$1"
    cat >"$1/metadata" <<METADATA
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
stream { event.header := struct { u8 id; }; };
event { name = a; id = 0; fields := struct { u8 x; }; };
event { name = b; id = 1; fields := struct { u8 x; }; };
$2
METADATA
}
sizeless follow ''
printf '\xc1\x1f\xfc\xc1\x00\x01\x01\x02\xc1\x1f\xfc\xc1\x00\x03\x00\x04\xc1\x1f\xfc\xc1\x00\x05' >follow/s
printf '\xc1\x1f\xfc\xc1\x00\x06' >follow/s_2
says "packets_without_sizes_are_read_one_after_another" '^follow: whole .* 6 events' "$tracetta" check follow
"$tracetta" cat follow | grep -o 'x = .*' | sort >wanted
run "$tracetta" recover --no-sidecar follow -o follow.good
[ $run_status = 0 ] && grep -q 'verified, clean' "$work/.err" && [ "$(cd follow.good && echo s*)" = 's s_2 s_3 s_4' ]
verdict "recover_gives_each_a_file_that_none_has" $? "exit status $run_status"
same "with_all_events" wanted bash -c '"$1" cat follow.good | grep -o "x = .*" | sort' all "$tracetta"
run "$tracetta" convert --to=ctf --name=a --option=ctf.index=yes follow -o follow.some
[ $run_status = 0 ] && grep -q '\[stream.file\]' "$work/.err"
verdict "files_of_their_own_are_told" $? "exit status $run_status"
grep -v 'x = 2' wanted >some
same "convert_leaves_out_no_more_than_it_was_asked_to" some bash -c '"$1" cat follow.some | grep -o "x = .*" | sort' some "$tracetta"
sizeless apart 'event { name = magic; id = 193; fields := struct { u8 x[3]; }; };'
printf '\xc1\x1f\xfc\xc1\x00\x01\xff\xff\xc1\x1f\xfc\xc1\x00\x02' >apart/s
salvages "damage_keeps_packets_without_sizes_apart" 'x = 2' "$tracetta" cat apart
cp "$work/.out" wanted
run "$tracetta" recover --no-sidecar apart -o apart.good
same "files_keep_them_apart_in_the_copy" wanted "$tracetta" cat apart.good
mkdir pair
cp -r follow apart pair
run "$tracetta" convert --to=ctf pair -o pair.good
says "also_of_two_traces_beside_one_another" ' 8 events, .* 6 files' "$tracetta" check pair.good

# Counters of missing events go on from file to file of a stream, also after packets without sizes.
counted()
{
    mkdir "$1"
    cat >"$1/metadata" <<METADATA
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u8 stream_id; u8 stream_instance_id; }; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 8; align = 8; map = clock.c.value; } := ts;
stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u8 events_discarded; }; event.header := struct { u8 id; ts timestamp; }; };
event { name = a; id = 0; stream_id = 0; };
METADATA
}
counted split
magic='\xc1\x1f\xfc\xc1\x00\x07' # begin, end, events missing so far; an event
printf "$magic\x0a\x0f\x03\x00\x0b$magic\x14\x1d\x04\x00\x15" >split/s_0
printf "$magic\x1e\x2f\x04\x00\x1f$magic\x32\x3f\x06\x00\x33" >split/s_1
printf "$magic\x46\x4f\x07\x00\x47" >split/s_2
run "$tracetta" check --json split
[ "$(grep -cE '"(events": 5|lost": 4|gaps": 4),' "$work/.out")" = 3 ]
verdict "missing_events_are_counted_across_files_of_packets_without_sizes" $? "$(grep -E '"(events|lost|gaps)"' "$work/.out")"

# Checksums of v1.1 that is unknown: a packet made again has that of the first one, or none.
lay rfc11-checksums-le
patch() { printf '%b' "$2" | dd of=rfc11-checksums-le/s bs=1 seek="$1" conv=notrunc 2>"$work/.err"; }
patch 112 '\x80'
patch 124 '\x09'
salvages "a_packet_has_a_checksum_that_nobody_knows_and_an_event_too" 'a = 8' "$tracetta" cat rfc11-checksums-le
run "$tracetta" recover --no-sidecar rfc11-checksums-le -o known
[ $run_status = 1 ] && grep -q '\[packet.checksum\]' "$work/.err" && [ "$(od -An -tx1 -j112 -N1 known/s)" = " 03" ]
verdict "recover_gives_it_that_of_the_first_packet" $? "exit status $run_status"
says "which_fits" 'whole .* 5 events' "$tracetta" check known
patch 47 '\x80'
run "$tracetta" recover --no-sidecar rfc11-checksums-le -o none
[ $run_status = 1 ] && [ "$(od -An -tx1 -j112 -N1 none/s)" = " 00" ]
verdict "or_none_where_that_is_unknown_too" $? "exit status $run_status"

# The last packet is written when all is read: what is lost with it is reported, too.
rm -r rfc11-checksums-le
lay rfc11-checksums-le
patch 177 '\x80'
patch 189 '\x09'
for verb in 'recover --no-sidecar' 'convert --to=ctf'; do
    # shellcheck disable=SC2086 # words of a command
    run "$tracetta" $verb rfc11-checksums-le -o "last_${verb%% *}"
    [ $run_status = 1 ] && [ "$(grep -c '\[packet.checksum\]' "$work/.err")" = 1 ]
    verdict "${verb%% *}_tells_what_is_lost_with_the_last_packet" $? "exit status $run_status"
done

# Files that are no streams stand in nobody's way.
lay stream-packets
"$tracetta" cat stream-packets >wanted 2>/dev/null
mkdir stream-packets/folder
mkfifo stream-packets/fifo
ln -s nowhere stream-packets/dangling
ln -s ../stream-packets stream-packets/loop
: >stream-packets/empty
same "folders_fifos_and_links_to_nowhere_in_a_trace_are_no_streams" wanted "$tracetta" cat stream-packets
moved=$(find stream-packets -maxdepth 1 -type f ! -name metadata ! -name empty | head -n 1)
mv "$moved" outside && ln -s "$PWD/outside" "$moved"
run "$tracetta" check -v stream-packets
grep -q 'is a link to a file outside of the trace.s folder: skipped, unless links are followed' "$work/.out" "$work/.err"
verdict "link_out_of_the_folder_of_a_trace_is_skipped_and_reported" $? "exit status $run_status: $(cat "$work/.out")"
same "follow_links_reads_it" wanted "$tracetta" cat --follow-links stream-packets

# More streams than descriptors.
mkdir many
cp an_array_of_2_to_the_40_bits/metadata many
for i in {1..300}; do printf '\xc1\x1f\xfc\xc1\x40\x40\x00\x08' >"many/s$i"; done
ulimit -n 64
says "more_streams_than_files_may_be_open_are_read" '^many: whole .* 300 events, .* 300 files' "$tracetta" check many
succeeds "and_written" "$tracetta" convert -q --to=ctf --option=ctf.version=2 many -o written
says "as_many" '300 events, .* 300 files' "$tracetta" check written

# Damage of metadata is reported under their own name, and ends strict reading.
lay rfc11-metadata-packets
cp -r rfc11-metadata-packets scratched
printf '\1' | dd of=scratched/metadata bs=1 seek=47 conv=notrunc 2>"$work/.err"
run "$tracetta" check --json scratched
[ $run_status = 1 ] && grep -Eq '"regions":\[\{"path":"[^"]*/metadata","offset":48,"bytes":0,"code":"ctf.checksum"' <(tr -d " \n" <"$work/.out")
verdict "damage_of_metadata_is_reported_under_their_name" $? "exit status $run_status"
"$tracetta" cat --format=jsonl rfc11-metadata-packets >wanted 2>/dev/null
"$tracetta" cat --format=jsonl scratched >found 2>/dev/null
same "events_are_read_all_the_same" wanted cat found
refuses "strict_reading_ends_there" 1 'tracetta: byte 48: scratched/metadata: .*checksum' "$tracetta" cat --strict scratched
says "and_the_copy_is_whole" 'whole' bash -c '"$1" recover -q scratched -o mended; "$1" check mended' recover "$tracetta"
printf '\0\0\0\0' | dd of=scratched/metadata bs=1 seek=8 conv=notrunc 2>"$work/.err"
head -c 48 scratched/metadata >one && mv one scratched/metadata
refuses "metadata_without_a_whole_packet_tell_why" 3 'content_size is less than' "$tracetta" cat scratched

# What is odd of metadata is reported by the first stream, so the text says where.
lay rfc11-packets
sed -i '0,/major/s//colour = 1; &/' rfc11-packets/metadata
says "places_in_metadata_are_no_places_in_streams" 'ctf.unknown-attribute x1: metadata, byte [1-9][0-9]*: the trace has no attribute or block colour' "$tracetta" check rfc11-packets

# What was lost nobody knows since when has no length.
lay stream-lost-no-begin
says "a_gap_without_a_begin_has_no_duration" '"kind":"gap",.*"dur_ns":null' "$tracetta" cat --format=jsonl stream-lost-no-begin

# Counters of a copy tell nothing of what is missing before its first packet.
lay stream-lost
for style in tracetta babeltrace2; do
    run "$tracetta" cat --style=$style -n 3 stream-lost
    [ $run_status = 0 ] && [ "$(wc -l <"$work/.out")" = 3 ]
    verdict "limit_counts_printed_lines_not_gaps:$style" $? "$(wc -l <"$work/.out") lines"
done
refuses "what_is_missing_before_the_first_packet_that_is_kept_is_told_by_its_number" 0 '^ *dropped 4,294,967,290  counts of missing events' \
    "$tracetta" convert --to=ctf --start=45ns stream-lost -o ranged
says "and_the_rest_by_counters" 'that 2 events are missing' "$tracetta" check ranged
refuses "where_no_packet_is_kept_all_is_told" 1 '^ *dropped +5  counts of missing events' "$tracetta" convert --to=ctf --start=30ns --end=34ns stream-lost -o ranged-none
refuses "where_the_first_one_is_all_is_in_counters" 0 '4 events, ' "$tracetta" convert --strict --to=ctf --level=warning stream-lost -o leveled
says "which_tell_it" 'that 4,294,967,297 events are missing, in 3' "$tracetta" check leveled

# Metadata of v1.1 that were cut before their sections: what all files hold is lost, which is not reported as whole.
lay rfc11-bad-no-section
says "a_file_of_no_section_beside_others_is_odd" 'odd ctf.no-section x1' "$tracetta" check rfc11-bad-no-section
echo 'trace { major = 1; minor = 1; alignment = packed; }' >rfc11-bad-no-section/metadata
run "$tracetta" check rfc11-bad-no-section
[ $run_status = 3 ] && grep -q 'damage ctf.no-section x2 in 2 streams' "$work/.out" && grep -q 'bad-no-section/other$' "$work/.out" && grep -q 'bad-no-section/s$' "$work/.out"
verdict "where_no_file_has_a_section_each_is_damage" $? "exit status $run_status"
refuses "which_is_reported_of_no_events" 1 '2 damaged places \(' "$tracetta" cat rfc11-bad-no-section
refuses "and_ends_strict_reading" 1 'no stream file matches a section' "$tracetta" cat --strict rfc11-bad-no-section

# Metadata of another place, where those of the trace tell nothing: all files beside them are still one trace.
make good 'u8 x;' '\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
printf '\xc1\x1f\xfc\xc1\x40\x40\x00\x08' >good/t
mkdir damaged good/index && cp good/[st] damaged
mkdir -p copies
for kind in empty zeros garbage; do
    case $kind in
        empty) : >damaged/metadata ;;
        zeros) head -c 64 /dev/zero >damaged/metadata ;;
        *) echo garbage >damaged/metadata ;;
    esac
    says "metadata_given_where_those_of_the_trace_are_${kind}_are_of_one_trace" '^format +ctf 1.8, 3 packets in 2 streams$' "$tracetta" info --option=ctf.metadata=good/metadata damaged
    says "metadata_option_names_the_trace_files_too" '^format +ctf 1.8, 3 packets in 2 streams$' "$tracetta" info --option=metadata=good/metadata damaged/metadata
    for verb in 'convert --to=ctf' 'recover --no-sidecar'; do
        # shellcheck disable=SC2086 # words of a command
        run "$tracetta" $verb --metadata=good/metadata damaged -o copies/damaged
        cmp -s good/metadata copies/damaged/metadata && cmp -s good/s copies/damaged/s && cmp -s good/t copies/damaged/t
        verdict "${verb%% *}_copies_it" $? "exit status $run_status"
        rm -rf copies/damaged
    done
done
refuses "trace_without_metadata_is_refused" 3 'damaged/metadata is none of any known kind' "$tracetta" info damaged
mkdir mixed && cp damaged/metadata mixed && "$tracetta" convert -q good -o mixed/a.fxt
says "metadata_file_next_to_other_formats_is_not_a_trace" '^format +fxt' "$tracetta" info --option=ctf.metadata=good/metadata mixed

# What recover wrote is read again by its own metadata, not by those that were given for the input.
"$tracetta" cat good | grep -o '[ax] = .*\|magic.*' | sort >wanted
run "$tracetta" recover --no-sidecar --metadata=good/metadata --option=byte-order=be damaged -o turned
[ $run_status = 0 ] && grep -q 'verified, clean' "$work/.err" && ! grep -q 'once more' "$work/.err"
verdict "recover_reads_its_output_by_its_own_metadata" $? "exit status $run_status"
same "in_which_all_events_are" wanted bash -c '"$1" cat turned | grep -o "[ax] = .*" | sort' turned "$tracetta"

# Metadata in packets of the other byte order than the trace, or than each other: odd, and no more.
lay stream-metadata-packets-be
lay stream-metadata-packets
says "metadata_packets_of_another_byte_order_than_the_trace_are_odd" 'odd ctf.metadata-byte-order x1.*:4: the trace is little-endian, the packets of its metadata are not' \
    "$tracetta" check stream-metadata-packets-be
says "and_those_of_another_than_the_first" 'odd ctf.metadata-byte-order x1.*the metadata packet at byte 336 has another byte order than the first' \
    "$tracetta" check stream-metadata-packets

# A rotated session: streams go on from folder to folder, whose losses are reported once.
mkdir -p rotated/one rotated/two
sed 's/byte_order = le;/& uuid = "00112233-4455-6677-8899-aabbccddeeff";/' split/metadata | tee rotated/one/metadata >rotated/two/metadata
part() { printf "\\xc1\\x1f\\xfc\\xc1\\x00\\x$1\\x$2\\x${2}\\x$3\\x00\\x$2"; } # stream, time, missing so far
for stream in 1 2; do
    { part 0$stream 1$stream 00 && part 0$stream 2$stream 03; } >"rotated/one/s_$stream"
    { part 0$stream 3$stream 04 && part 0$stream 4$stream 06; } >"rotated/two/s_$stream"
done
for sorted in '' --sort; do
    # shellcheck disable=SC2086 # no word where it is empty
    run "$tracetta" cat $sorted rotated
    [ "$(sort "$work/.err")" = 'tracetta: rotated/one: warning: 6 events missing in 2 streams
tracetta: rotated/two: warning: 6 events missing in 2 streams' ]
    verdict "losses_of_a_rotated_session_are_reported_once_for_each_folder$sorted" $? "exit status $run_status"
done
says "which_is_a_trace_of_its_streams" '^format +ctf 1.8, 2 traces, 8 packets in 4 streams$' "$tracetta" info rotated
says "with_all_events_of_a_class" '^ +4  a$' "$tracetta" info rotated
