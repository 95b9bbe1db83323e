#!/bin/bash
# What writing CTF promises: options do what they say or are refused, indexes are right, times stay, and what is lost is reported.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
vectors=$(cd "$(dirname "$0")/../../src/formats/ctf/vectors" && pwd)
traces=$(cd "$(dirname "$0")/traces" && pwd)
cd "$work" || exit 1
export TZ=UTC

# lay VECTOR: the trace as a folder of files.
lay()
{
    local file
    mkdir -p "$1"
    for file in "$vectors/$1"/*.hexa; do "$hexa_cat" "$file" >"$1/$(basename "$file" .hexa)"; done
}

# trace NAME: metadata of the standard input after what all of them have, and bytes of a stream.
trace()
{
    mkdir -p "$1"
    {
        printf '/* CTF 1.8 */\n'
        for size in 8 16 32 64; do printf 'typealias integer { size = %d; align = 8; } := u%d;\n' $size $size; done
        cat
    } >"$1/metadata"
    printf '%b' "$2" >"$1/s"
}

# loses NAME CODE COUNT OPTION...: convert counts it, and --strict refuses.
loses()
{
    local name=$1 code=$2 count=$3
    shift 3
    rm -rf lossy
    run "$tracetta" convert --to=ctf "$@" -o lossy
    [ $run_status = 0 ] && grep -Eq "(changed|dropped) +$count  .*\[$code\]" "$work/.err"
    verdict "${name}_is_counted" $? "exit status $run_status"
    rm -rf strict
    refuses "${name}_is_refused_by_strict" 1 'leave --strict out' "$tracetta" convert --strict --to=ctf "$@" -o strict
}

lay stream-packets
lay rfc11-packets
lay rfc11-sequences

# --- Options ---
for option in header=1 alignment=natural checksum=crc32 compression=gzip packet-align=1 event-size=yes text-metadata=yes; do
    for version in '' --option=version=1.8 --option=version=2; do
        refuses "${option%=*}_is_of_version_1.1${version##*=}" 2 "option ${option%=*} of ctf is of version 1.1 only.*try version=1.1" \
            "$tracetta" convert --to=ctf $version --option="$option" stream-packets -o none
    done
done
head -c 32 /dev/zero >key
refuses "nothing_is_left_plain_that_was_to_be_enciphered" 2 'option cypher of ctf is of version 1.1 only, and 1.8 is' \
    "$tracetta" convert --to=ctf --option=cypher=aes --option=ctf.key=key stream-packets -o none
"$hexa_cat" "$traces/small_heph.hexa" >small.heph
refuses "so_are_options_where_the_source_is_no_ctf" 2 'option checksum of ctf is of version 1.1 only' "$tracetta" convert --to=ctf --option=checksum=md5 small.heph -o none
[ ! -e none ]
verdict "and_nothing_is_written" $? "there is a folder"
succeeds "version_1.1_has_them" "$tracetta" convert -q --to=ctf --option=version=1.1 --option=checksum=crc32 stream-packets -o summed
succeeds "also_where_the_source_is_of_it" "$tracetta" convert -q --to=ctf --option=checksum=md5 rfc11-packets -o summed.again
refuses "of_two_traces_both_must_be_of_it" 2 'option checksum of ctf is of version 1.1 only, and 1.8 is' \
    "$tracetta" merge --to=ctf --option=checksum=crc32 rfc11-packets stream-packets -o none
refuses "version_1.1_has_no_index" 2 'option index=yes of ctf: version 1.1, which is to be written, has no index' \
    "$tracetta" convert --to=ctf --option=index=yes rfc11-packets -o none
refuses "also_where_it_is_asked_for" 2 'has no index' "$tracetta" convert --to=ctf --option=version=1.1 --option=index=yes stream-packets -o none
succeeds "no_index_is_what_it_has" "$tracetta" convert -q --to=ctf --option=index=no rfc11-packets -o unindexed
refuses "its_metadata_are_in_packets_or_text" 2 'packetized-metadata of ctf is of versions 1.8 and 2 only' \
    "$tracetta" convert --to=ctf --option=packetized-metadata=no rfc11-packets -o none

# packets TRACE: how many there are.
packets()
{
    "$tracetta" info --json "$1" | grep -Eo '"packets": ?[0-9]+' | head -n 1 | grep -Eo '[0-9]+$'
}
for version in 1.8 2 1.1; do
    run "$tracetta" convert -q --to=ctf --option=version=$version stream-packets -o "whole.$version"
    run "$tracetta" convert -q --to=ctf --option=packet-size=1 "whole.$version" -o "split.$version"
    [ "$(packets "whole.$version")" = 2 ] && [ "$(packets "split.$version")" = 3 ]
    verdict "packets_end_where_they_are_asked_to:$version" $? "$(packets "whole.$version") and $(packets "split.$version") packets"
done
succeeds "metadata_are_put_in_packets" "$tracetta" convert -q --to=ctf --option=packetized-metadata=yes stream-packets -o packed
succeeds "and_taken_out" "$tracetta" convert -q --to=ctf --option=packetized-metadata=no packed -o unpacked
[ "$(head -c 4 packed/metadata | od -An -tx1)" = " 57 1d d1 75" ] && [ "$(head -c 10 unpacked/metadata)" = '/* CTF 1.8' ]
verdict "as_asked_for" $? "$(head -c 10 unpacked/metadata)"

# --- Indexes ---
lay stream-bad-unfinished
run "$tracetta" convert -q --to=ctf --option=index=yes stream-bad-unfinished -o closed
says "an_index_has_the_end_that_a_packet_was_given_when_it_was_closed" ': whole ' "$tracetta" check closed
! grep -q 'ctf.bad-index' "$work/.out"
verdict "and_nothing_is_wrong_with_it" $? "it is"

# --- Times ---
# moved NAME TRACE OPTION...: times are those that the trace moved has.
moved()
{
    local name=$1 from=$2 move=$3
    shift 3
    rm -rf moved
    run "$tracetta" convert -q --to=ctf "$move" "$@" "$from" -o moved
    "$tracetta" cat --style=babeltrace2 --clock-gmt "$move" "$from" >wanted
    same "$name" wanted "$tracetta" cat --style=babeltrace2 --clock-gmt moved
}
lay stream-clock
lay rfc11-clock
for version in 1.8 2 1.1; do
    for move in --clock-offset-ns=1 --clock-offset=0.3 --clock-offset=-0.7 --clock-offset=0.25; do
        moved "times_are_kept_that_lie_between_ticks:$version:${move#*=}" stream-clock $move --option=version=$version
    done
done
moved "also_from_version_1.1" rfc11-clock --clock-offset-ns=1
loses "that_clocks_count_nanoseconds_then" clock.ticks 3 --clock-offset-ns=1 stream-clock
succeeds "whole_ticks_lose_nothing" "$tracetta" convert --strict -q --to=ctf --clock-offset=0.25 stream-clock -o whole_ticks
run "$tracetta" merge -q --to=ctf --offset stream-clock=0.1s stream-clock stream-packets -o merged
says "offsets_of_merged_traces_are_kept_too" '100\.600000000' "$tracetta" cat merged
moved "also_before_the_zero_of_their_clock" stream-clock --clock-offset=-1000.3 --option=version=1.1
lay stream-lost
lay rfc11-discarded
lay rfc11-discarded-end
# gaps_of TRACE: when they begin, how long they are and how much is missing.
gaps_of()
{
    "$tracetta" cat --format=jsonl "$1" 2>"$work/.warned" | grep '"kind":"gap"' | grep -oE '"(time_ns|dur_ns|id)":[-0-9]+' 
}
gaps_of rfc11-discarded-end >gaps
says "events_may_be_lost_up_to_the_ends_of_packets" '"dur_ns":10 "id":4294967290' tr '\n' ' ' <gaps
for from in stream-lost rfc11-discarded rfc11-discarded-end; do
    gaps_of $from >gaps
    [ "$(grep -c '"id"' gaps)" = 3 ]
    verdict "events_are_lost_in:$from" $?
    for version in 1.8 2 1.1; do
        rm -rf gaps$version back
        succeeds "lost_events_stay_in_time:$from:$version" "$tracetta" convert -q --strict --to=ctf --option=byte-order=be --option=version=$version $from -o gaps$version
        gaps_of gaps$version | cmp -s gaps -
        verdict "in_their_place:$from:$version" $? "$(gaps_of gaps$version)"
        run "$tracetta" convert -q --strict --to=ctf --option=version=1.8 gaps$version -o back
        gaps_of back | cmp -s gaps -
        verdict "and_back:$from:$version" $? "$(gaps_of back)"
    done
done

# The first packet counts what is missing up to its end and has no events, so that none tells of it.
trace early '\xc1\x1f\xfc\xc1\x0a\x14\x50\x50\x07\x00\xc1\x1f\xfc\xc1\x1e\x28\x60\x60\x07\x01\x00\x23' <<'METADATA'
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
clock { name = c; };
typealias integer { size = 8; align = 8; map = clock.c.value; } := time;
stream {
    packet.context := struct { time timestamp_begin; time timestamp_end; u8 content_size; u8 packet_size; u8 events_discarded; u8 packet_seq_num; };
    event.header := struct { u8 id; time timestamp; };
};
event { name = e; id = 0; };
METADATA
gaps_of early >gaps
says "events_are_lost_before_the_first" '"time_ns":10 "dur_ns":10 "id":7' tr '\n' ' ' <gaps
for version in 1.1 1.8 2; do
    rm -rf gaps$version
    succeeds "events_lost_before_the_first_are_told:$version" "$tracetta" convert -q --strict --to=ctf --option=byte-order=be --option=version=$version early -o gaps$version
    gaps_of gaps$version | cmp -s gaps -
    verdict "up_to_where_they_were:$version" $? "$(gaps_of gaps$version)"
done

# --- Values ---
trace nul '\x04a\x00bcd\x00ef' <<'METADATA'
trace { major = 1; minor = 8; byte_order = le; };
stream { };
event { name = e; fields := struct { u8 n; integer { size = 8; encoding = UTF8; } t[n]; integer { size = 8; encoding = UTF8; } u[4]; }; };
METADATA
trace turned '\5\0\0\0\0\0\0\0\x04a\x00bcd\x00ef\3\0\0\0\0\0\0\0\x04a\x00bcd\x00ef' <<'METADATA'
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; };
stream { event.header := struct { integer { size = 64; align = 8; map = clock.c.value; } timestamp; }; };
event { name = e; fields := struct { u8 n; integer { size = 8; encoding = UTF8; } t[n]; integer { size = 8; encoding = UTF8; } u[4]; }; };
METADATA
# Where one input is not in order, packets of none are those of the source any more.
lay stream-lost-packets
lay rfc11-lost-packets
for from in stream-lost stream-lost-packets rfc11-discarded rfc11-discarded-end rfc11-lost-packets; do
    gaps_of $from >gaps
    [ -s gaps ]
    verdict "something_is_missing_in:$from" $?
    for version in 1.8 2 1.1; do
        rm -rf sorted
        run "$tracetta" convert --sort --to=ctf --option=version=$version $from turned -o sorted
        gaps_of sorted/$from | cmp -s gaps - && [ -d sorted/turned ]
        verdict "what_is_missing_stays_in_its_place_where_events_are_sorted:$from:$version" $? "$(gaps_of sorted/$from)"
        [ "${from#rfc11}" = $from ] || ! grep -q 'context.packet' "$work/.err"
        verdict "packets_of_version_1.1_say_nothing_that_sorted_events_lose:$from:$version" $? "$(cat "$work/.err")"
    done
done

# times_with OPTION... TRACE: of all its events, as they come.
times_with()
{
    "$tracetta" cat --format=jsonl "$@" 2>"$work/.warned" | sed -nE 's/^\{"time_ns":([0-9]+).*/\1/p' | tr '\n' ' '
}
# begins NAME TIMES OPTION...: with these options the trace that goes back in time gives events of these times.
begins()
{
    local name=$1 times=$2
    shift 2
    [ "$(times_with "$@" turned)" = "$times" ]
    verdict "$name" $? "$(times_with "$@" turned)"
}
begins "the_begin_leaves_out_nothing_where_time_goes_back" '5 3 ' --start=+0
begins "start_at_plus_zero_with_an_end_is_the_whole_trace" '5 3 ' --start=+0s --end=+1h
begins "times_count_from_the_event_that_comes_first" '' --start=+1ns
begins "or_end_so_long_behind_it" '5 3 ' --start=+0 --end=+1ns
begins "where_events_are_sorted_from_the_earliest" '5 ' --sort --start=+1ns
begins "and_end_so" '3 ' --sort --start=+0 --end=+1ns
[ "$("$tracetta" cat --start=+0 - <small.heph 2>"$work/.warned" | wc -l)" = "$("$tracetta" cat small.heph | wc -l)" ]
verdict "the_begin_of_a_pipe_needs_not_be_looked_for" $?
for version in 1.8 2 1.1; do
    loses "what_is_after_a_zero_in_a_text:$version" text.after-end 2 --option=byte-order=be --option=version=$version nul
    loses "also_where_events_are_sorted:$version" text.after-end 4 --sort --option=version=$version turned
done
succeeds "what_is_in_order_is_copied_though_it_is_to_be_sorted" "$tracetta" convert --strict -q --sort --to=ctf nul -o copied
[ -s nul/s ] && cmp nul/s copied/s && cmp nul/metadata copied/metadata
verdict "byte_by_byte" $?
trace placed '\x2a\0\0\0\x00\x70\0\0\0\0\0\0a\0bc' <<'METADATA'
trace { major = 1; minor = 8; byte_order = le; };
env { domain = "ust"; tracer_name = "lttng-ust"; tracer_major = 2; tracer_minor = 13; };
stream { event.context := struct { integer { size = 32; align = 8; signed = true; } _vpid; u64 _ip; }; };
event { name = e; fields := struct { integer { size = 8; encoding = UTF8; } t[4]; }; };
METADATA
loses "also_where_places_in_code_are_added" text.after-end 1 --debug-info placed
says "which_they_were" debug_info "$tracetta" cat lossy
cp -r nul zeros && printf '\x04a\x00\x00\x00d\x00\x00\x00' >zeros/s
succeeds "zeros_there_are_no_loss" "$tracetta" convert --strict -q --to=ctf --option=byte-order=be zeros -o zeros.be
succeeds "nor_are_they_where_events_are_sorted" "$tracetta" convert --strict -q --sort --to=ctf zeros -o zeros.sorted
succeeds "nor_is_anything_of_a_copy" "$tracetta" convert --strict -q --to=ctf --option=version=2 nul -o nul.2

trace wide '\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00' <<'METADATA'
trace { major = 1; minor = 8; byte_order = le; };
stream { };
event { name = e; fields := struct { integer { size = 128; align = 8; } i; }; };
METADATA
loses "an_integer_of_128_bits" field.wide 1 --option=byte-order=be wide
says "which_becomes_a_string" '"i":"18446744073709551617"' "$tracetta" cat --format=jsonl lossy
sed 's/integer { size = 128; align = 8; }/floating_point { exp_dig = 15; mant_dig = 113; align = 8; }/' wide/metadata >metadata
mkdir quad && mv metadata quad/metadata && printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\xff\x3f' >quad/s
loses "a_float_of_128_bits" field.float 1 --option=byte-order=be quad
trace length '\x02\x07\x08' <<'METADATA'
trace { major = 1; minor = 8; byte_order = le; };
stream { event.context := struct { u8 n; }; };
event { name = e; fields := struct { u8 a[stream.event.context.n]; }; };
METADATA
trace counted '\x02\x07\x08' <<'METADATA'
trace { major = 1; minor = 8; byte_order = le; };
stream { };
event { name = e; fields := struct { u8 n; u8 a[n]; }; };
METADATA
loses "a_length_that_is_elsewhere" field.length 1 --option=byte-order=be length
says "which_becomes_a_field" '"a_length":2,"a":\[7,8\]' "$tracetta" cat --format=jsonl lossy
for version in 1.8 2; do
    loses "one_in_front_of_what_it_counts_that_is_no_field:$version" field.length '[1-9]' --option=version=$version rfc11-sequences
done
succeeds "which_it_stays_in_its_own_version" "$tracetta" convert --strict -q --to=ctf --option=byte-order=be rfc11-sequences -o sequences
succeeds "and_a_field_that_has_it_in_1.1_is_none" "$tracetta" convert --strict -q --to=ctf --option=version=1.1 counted -o length.1

# --- Folders of one trace ---
# Readers go by the metadata of one folder for all of them, and count packets from one to the next.
for part in one two; do
    mkdir -p rotated/$part
    {
        printf '/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; } := u8;\nclock { name = c; };\n'
        printf 'typealias integer { size = 8; align = 8; map = clock.c.value; } := time;\n'
        printf 'trace { major = 1; minor = 8; byte_order = le; uuid = "00112233-4455-6677-8899-aabbccddeeff"; packet.header := struct { u8 stream_id; u8 stream_instance_id; }; };\n'
        for class in 0 1; do
            printf 'stream { id = %d; packet.context := struct { time timestamp_begin; time timestamp_end; u8 content_size; u8 packet_size; u8 packet_seq_num; };\n' $class
            printf 'event.header := struct { u8 id; time timestamp; }; };\nevent { stream_id = %d; id = 2; name = only_%s; fields := struct { u8 x; }; };\n' $class $part
            printf 'event { stream_id = %d; id = 1; name = both; };\n' $class
        done
    } >rotated/$part/metadata
done
sed -i 's/id = 2; name = only_two/id = 3; name = only_two/' rotated/two/metadata
printf '\0\7\1\5\120\120\0\2\3\11' >rotated/one/s
printf '\0\7\12\14\110\110\1\1\13''\0\7\15\16\120\120\2\3\15\10' >rotated/two/s
printf '\1\7\12\14\110\110\0\1\13' >rotated/two/t
# classes FOLDER: classes by their names, streams and numbers.
classes()
{
    tr -d '\n' <"$1" | grep -o 'event {[^}]*' | sed -E 's/.*name = "?([a-z_]*).*/& \1/; s/.*[^_]id = ([0-9]*).*stream_id = ([0-9]*).* ([a-z_]*)$/\2 \1 \3/' | sort | tr '\n' ,
}
for how in '--sort turned' --option=byte-order=be; do # with a trace that is not in order
    rm -rf united
    # shellcheck disable=SC2086
    run "$tracetta" convert -q --to=ctf $how rotated -o united
    rm -rf united/turned
    [ $run_status = 0 ] && [ "$(classes united/one/metadata)" = '0 1 both,0 2 only_one,0 3 only_two,1 1 both,' ] && [ "$(classes united/two/metadata)" = "$(classes united/one/metadata)" ]
    verdict "each_folder_of_a_trace_declares_what_all_of_them_hold${how##*=}" $? "exit status $run_status: $(classes united/one/metadata)"
    run "$tracetta" check -v united
    [ $run_status = 0 ] && grep -q 'united: whole (ctf 1.8, 4 events' "$work/.out" && ! grep -q 'ctf.packet' "$work/.out"
    verdict "and_counts_packets_from_one_to_the_next" $? "exit status $run_status"
done
united_uuids=$(grep -ho 'uuid = .*' united/*/metadata | sort -u | wc -l)
[ "$united_uuids" = 1 ]
verdict "which_are_one_trace" $? "$united_uuids uuids"
sed -i 's/u8 x;/u8 y;/; s/id = 3; name = only_two/id = 2; name = only_one/' rotated/two/metadata
printf '\0\7\12\14\110\110\1\1\13''\0\7\15\16\120\120\2\2\15\10' >rotated/two/s
rm -rf united
run "$tracetta" convert -q --to=ctf --option=byte-order=be rotated -o united
[ $run_status = 0 ] && grep -q 'u\?int.*x;\|} _\?x;' united/two/metadata && [ "$(grep -c 'name = "\?only_one' united/two/metadata)" = 2 ]
verdict "classes_that_differ_get_numbers_of_their_own" $? "exit status $run_status: $(classes united/two/metadata)"
sed -i 's/name = c;/name = k;/; s/clock\.c\./clock.k./' rotated/two/metadata
for version in 1.8 2; do
    rm -rf united
    run "$tracetta" convert -q --to=ctf --option=byte-order=be --option=version=$version rotated -o united
    run "$tracetta" check united
    [ $run_status = 0 ] && grep -q "united: whole (ctf $version, 4 events" "$work/.out"
    verdict "each_folder_declares_the_clocks_of_all_in_$version" $? "exit status $run_status"
done
"$tracetta" cat --style=babeltrace2 rotated >wanted
same "so_that_all_is_read_again" wanted "$tracetta" cat --style=babeltrace2 united

# --- Copies ---
mkdir unescaped && printf '\1\2' >unescaped/s
cat >unescaped/metadata <<'METADATA'
/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
env {
	procname = "a"p\p";
};
stream { };
event { name = e; fields := struct { integer { size = 8; } x; }; };
METADATA
run "$tracetta" convert -q --to=ctf unescaped -o escaped
[ $run_status = 0 ] && cmp -s unescaped/s escaped/s && grep -Fq 'procname = "a\"p\\p";' escaped/metadata
verdict "copies_escape_what_was_not" $? "exit status $run_status"
lay rfc11-aes-without-key
lay rfc11-gzip
# copied NAME FROM OPTION...: convert tells damage, and copies every byte all the same.
copied()
{
    rm -rf copy
    run "$tracetta" convert -q --to=ctf "${@:3}" "$2" -o copy
    [ $run_status = 1 ] && diff -r "$2" copy >/dev/null
    verdict "$1" $? "exit status $run_status, or files differ"
}
copied "what_is_enciphered_is_copied_without_the_key" rfc11-aes-without-key
copied "so_is_what_unpacks_to_too_much" rfc11-gzip --option=ctf.unpacked-max=49
run "$tracetta" convert -q --to=ctf --name=none rfc11-aes-without-key -o filtered
[ $run_status = 1 ] && [ ! -s filtered/s ]
verdict "where_something_is_left_out_it_is_too" $? "exit status $run_status"
run "$tracetta" recover --no-sidecar rfc11-aes-without-key -o opened
[ $run_status = 1 ] && grep -q 'verified, clean' "$work/.err"
verdict "recover_keeps_what_can_be_read" $? "exit status $run_status"

# Sorted events are out of their packets, and have what these say all the same: beside sizes, times and counters.
mkdir -p behind && cat >behind/metadata <<'TEXT'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream {
    packet.context := struct { u8 packet_size; integer { size = 8; align = 8; base = 16; } cpu_id; u8 colour; };
    event.header := struct { integer { size = 8; align = 8; } timestamp; };
};
event { name = "e"; fields := struct { u8 x; }; };
TEXT
printf '\050\013\005\003\077\050\014\006\002\076' >behind/s
run "$tracetta" cat --style=babeltrace2 --clock-cycles --no-delta behind --sort
[ "$(cut -d' ' -f2- "$work/.out" | tr '\n' '|')" = 'e: { cpu_id = 0xC, colour = 6 }, { x = 62 }|e: { cpu_id = 0xB, colour = 5 }, { x = 63 }|' ]
verdict "sorted_lines_of_babeltrace2_have_what_their_packets_say" $? "exit status $run_status"
mv "$work/.out" sorted-lines
run "$tracetta" convert --strict --to=ctf --sort behind -o ordered
[ $run_status = 0 ] && "$tracetta" cat --style=babeltrace2 --clock-cycles --no-delta ordered | cmp -s - sorted-lines
verdict "so_have_sorted_copies" $? "exit status $run_status"
run "$tracetta" convert --to=ctf --option=version=1.1 --sort behind -o ordered11
[ $run_status = 0 ] && grep -q 'dropped  *2 .*context.packet' "$work/.err"
verdict "what_version_1.1_has_no_packets_for_is_told_as_lost" $? "exit status $run_status"
mkdir -p deep && sed -e 's/u8 colour;/string who; struct { u8 n; enum : u8 { low = 0 ... 3, high = 4 ... 255 } level; u8 a[n]; } more;/' -e 's/u8 packet_size; integer/u8 packet_size; u8 packet_seq_num; integer/' behind/metadata >deep/metadata
printf '\160\000\013ab\000\002\004\007\010\003\077\005\076\160\001\014c\000\003\001\001\002\003\004\075\002\074' >deep/s
run "$tracetta" cat --style=babeltrace2 --clock-cycles --no-delta deep
sort "$work/.out" >wanted-lines
run "$tracetta" cat --sort --style=babeltrace2 --clock-cycles --no-delta deep
[ $run_status = 0 ] && [ "$(grep -c 'who = "' wanted-lines)" = 4 ] && cmp -s "$work/.out" wanted-lines
verdict "of_whatever_shape_they_say_it" $? "exit status $run_status"
run "$tracetta" convert --to=ctf --option=version=2 --sort deep -o deep-ordered
"$tracetta" cat --style=babeltrace2 --clock-cycles --no-delta deep-ordered | cmp -s - wanted-lines
verdict "so_do_sorted_copies_of_it" $? "exit status $run_status"
sed -i 's/u8 colour;/u8 content_size;/' behind/metadata
printf '\050\013\050\003\077\050\014\050\002\076' >behind/s
run "$tracetta" convert --to=ctf --sort behind -o ordered2
[ $run_status = 0 ] && ! grep -q 'context.packet' "$work/.err"
verdict "options_without_effect_on_the_result_are_not_reported" $? "exit status $run_status"

# What streams have at one time comes in one order, whether they are sorted while they are read or were before.
mkdir ties
cat >ties/metadata <<'METADATA'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u8 stream_id; }; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { ts timestamp; }; };
stream { id = 1; event.header := struct { ts timestamp; }; };
event { name = zero; stream_id = 0; fields := struct { u8 x; }; };
event { name = one; stream_id = 1; fields := struct { u8 x; }; };
METADATA
printf '\1\7\0\0\0\0\0\0\0\1\5\0\0\0\0\0\0\0\2\7\0\0\0\0\0\0\0\3' >ties/a
printf '\0\5\0\0\0\0\0\0\0\4\7\0\0\0\0\0\0\0\5' >ties/b
"$tracetta" cat --sort ties >ties.sorted
[ "$(sed 's/.*x = \(.\).*/\1/' ties.sorted | tr -d '\n')" = 42513 ]
verdict "streams_are_sorted_as_they_are_merged" $? "$(cat ties.sorted)"
"$tracetta" convert -q --sort --to=ctf ties -o ties.copy
same "and_so_is_their_sorted_copy" ties.sorted "$tracetta" cat ties.copy
