#!/bin/bash
# CTF written as another version of CTF, or in another byte order: events say what they said, under their own names.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
here=$(cd "$(dirname "$0")" && pwd)
hexa_cat=$(realpath "$2")
export TZ=UTC

# text TRACE: all its events.
text()
{
    "$tracetta" cat --style=babeltrace2 --clock-gmt "$1" 2>/dev/null
}

# converted NAME FROM TO OPTION...: FROM written to TO has the text of FROM, loses nothing and can be read strictly.
converted()
{
    local name=$1 from=$2 to=$3
    shift 3
    run "$tracetta" convert --strict --to=ctf "$@" "$from" -o "$to"
    [ $run_status = 0 ] && ! grep -q 'not held by the target' "$work/.err"
    verdict "${name}_loses_nothing" $? "exit status $run_status"
    text "$from" >"$work/wanted"
    same "${name}_has_the_same_text" "$work/wanted" "$tracetta" cat --strict --style=babeltrace2 --clock-gmt "$to"
}

# holds NAME FILE PATTERN
holds()
{
    tr '\n\t' '  ' <"$2" | grep -Eaq -e "$3"
    verdict "$1" $? "$2 has no $3"
}

cd "$work" || exit 1
/usr/bin/python3 "$here/reencode_make.py" made rich shuffled || exit 1
says "the_trace_made_is_read" '\(\+0\.000000000\) host app:list: \{ cpu_id = 1 \}, \{ vpid = 4711 \}, \{ _data_length = 1, data_padding = \{ \}, data = \[ \[0\] = 4 \], text = "other cpu" \}' \
    "$tracetta" cat --style=babeltrace2 --clock-gmt made

mkfifo made/channel_9
says "a_fifo_beside_stream_files_is_reported_and_not_waited_for" 'channel_9 is a FIFO' "$tracetta" check made
rm made/channel_9
ln -s nonexistent made/channel_9
says "so_is_a_link_that_leads_nowhere" 'channel_9 is a broken link' "$tracetta" check made
rm made/channel_9

converted "the_other_byte_order" made big --option byte-order=be
converted "and_back" big little --option byte-order=le
holds "the_uuid_stays" big/metadata 'uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"'
holds "so_do_the_environment" big/metadata 'answer = 42'
holds "the_clock" big/metadata 'name = "ticks"; +uuid = "11111111-2222-3333-4444-555555555555"; +description = "Made up"; +freq = 1000000000; +precision = 3; +offset = 1600000000000000000'
holds "ids_of_streams" big/metadata 'stream \{ +id = 5;'
holds "ids_names_and_levels_of_events" big/metadata 'name = "app:list"; +id = 7; +stream_id = 5; +loglevel = 6'
holds "and_their_uris" big/metadata 'id = 9; +stream_id = 5; +model.emf.uri = "http://example.org/state"'
holds "labels_of_enumerations" big/metadata 'MANY = 2 \.\.\. 9'
holds "lengths_are_members_of_the_source" big/metadata '__data_length;.*_data\[__data_length\]'
holds "files_are_called_as_they_were" big/channel_1 .
! grep -aq 'tracetta' big/metadata
verdict "and_nothing_speaks_of_the_conventions" $? "it does"
says "missing_events_are_reported_again" '"lost": ?17' "$tracetta" info --json big

# counted NAME OPTION...: convert says as many events as info does, gaps left out, and as many bytes as the files of the output have.
counted()
{
    local events bytes
    events=$("$tracetta" info --json made 2>/dev/null | grep -Eo '"events": ?[0-9]+' | head -n 1 | grep -Eo '[0-9]+$')
    rm -rf counted
    run "$tracetta" convert --to=ctf "${@:2}" made -o counted
    bytes=$(find counted -type f -printf '%s\n' | awk '{n += $1} END {if (n < 1024) print n " B"; else printf "%.1f|%.2f KiB", n / 1024, n / 1024}')
    grep -Eq "counted: $events events, ($bytes)( KiB)? of ctf" "$work/.err"
    verdict "$1" $? "wanted $events events, $bytes"
}
counted "bytes_and_events_of_what_is_encoded_are_counted" --option byte-order=be
counted "also_when_sorted_and_of_version_2" --sort --option version=2
counted "and_of_a_copy"

converted "version_2" made two --option version=2
converted "version_2_and_back" two eight --option version=1.8

# written FROM TO OPTION...: FROM written to TO has the text of the trace made.
written()
{
    run "$tracetta" convert --to=ctf "${@:3}" "$1" -o "$2"
    text made >"$work/wanted"
    same "$2_from_$1_has_the_text_of_the_original" "$work/wanted" "$tracetta" cat --strict --style=babeltrace2 --clock-gmt "$2"
}
written made rfc --option version=1.1
written rfc eight_again --option version=1.8
written rfc two_again --option version=2
written made rfc_first --option version=1.1 --option header=1 --option byte-order=be

# What nothing else is asked for stays as the source has it: type of headers, alignment, byte order, checksums, compression, cypher, kind of metadata.
echo 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f >key
run "$tracetta" convert --to=ctf --option version=1.1 --option header=1 --option alignment=natural --option byte-order=be --option checksum=sha1 \
    --option compression=gzip --option cypher=aes --option ctf.key=key --option text-metadata=yes --option packet-align=1 made -o stored
run "$tracetta" convert --to=ctf --option packet-size=200 --option ctf.key=key stored -o stored_again
holds "headers_stay_as_they_are" stored_again/metadata 'alignment = natural;.*header_type = type1'
for stream in stored_again/channel_*; do
    [ "$(head -c 4 "$stream" | od -An -tx1)" = " c1 fc 1f c1" ] && [ "$(head -c 48 "$stream" | tail -c 3 | od -An -tx1)" = " 02 01 02" ]
    verdict "so_do_byte_order_and_what_is_done_to_contents:${stream#*/}" $? "$(head -c 48 "$stream" | od -An -tx1)"
done
text made >"$work/wanted"
same "and_the_text" "$work/wanted" "$tracetta" cat --strict --style=babeltrace2 --clock-gmt --option ctf.key=key stored_again
run "$tracetta" convert --to=ctf --option cypher=none --option checksum=crc32 --option header=2 --option ctf.key=key stored -o restored
[ "$(head -c 48 restored/channel_0 | tail -c 3 | od -An -tx1)" = " 02 00 03" ]
verdict "but_for_what_is_asked_for" $? "$(head -c 48 restored/channel_0 | od -An -tx1)"
holds "other_headers_too" restored/metadata 'alignment = natural;.*header_type = type2'

# The same of a trace of 1.1 that nobody encoded again, with words of 32 bits; and sizes of events are not told twice.
for vector in rfc11-type2-le-natural-32 rfc11-event-size; do
    mkdir $vector
    for file in "$here/../../src/formats/ctf/vectors/$vector"/*.hexa; do "$hexa_cat" "$file" >"$vector/$(basename "$file" .hexa)"; done
done
converted "words_of_32_bits" rfc11-type2-le-natural-32 words --option byte-order=be --option text-metadata=yes
holds "words_of_32_bits_stay" words/metadata 'alignment = natural; +word_size = 32;.*header_type = type2;.*size = 64; signed = false; align = 32;'
run "$tracetta" convert --to=ctf --option byte-order=be --option text-metadata=yes rfc11-event-size -o told
run "$tracetta" convert --to=ctf --option event-size=yes told -o told_again
holds "sizes_of_events_stay_sizes_of_events" told/metadata 'event_size = true; +\}'
"$tracetta" cat --format=jsonl rfc11-event-size >"$work/wanted" 2>/dev/null
for trace in told told_again; do
    "$tracetta" cat --format=jsonl $trace >"$work/found" 2>/dev/null
    [ "$(grep -o '"fields".*' "$work/wanted" | sed 's/,"context".*//')" = "$(grep -o '"fields".*' "$work/found" | sed 's/,"context".*//')" ] &&
        ! grep -q 'payload_size#2' "$work/found"
    verdict "and_are_not_reported_twice:$trace" $? "$(cat "$work/found")"
done

# A size that stands in a larger context is reported once; packets missing after an empty first packet stay missing after one.
mkdir sizes
printf '%s\n' 'trace { major = 1; minor = 1; alignment = packed; }' \
    'section { name = s; event { header_type = type2; context { event_size = true; context_type = { { uint8_t, pid }, { uint16_t, payload_size } }; } } }' \
    'event { name = e; fields = { { uint8_t, a } }; }' >sizes/metadata
cat >sizes.hexa <<'HEXA'
C1 1F FC C1  u32le 0  u32le 48  u32le 48  u32le 0  u32le 3  u64le 1  u64le 1  u32le 0  20 00 00 00
C1 1F FC C1  u32le 0  u32le 58  u32le 58  u32le 0  u32le 6  u64le 1  u64le 1  u32le 0  20 00 00 00
u32le 1  u16le 0  07  u16le 1  05
HEXA
"$hexa_cat" sizes.hexa >sizes/s
run "$tracetta" convert --to=ctf --option event-size=yes sizes -o sizes_again
! grep -q 'not held by the target' "$work/.err" && "$tracetta" check --json sizes_again | grep -q '"lost_packets": 2,'
verdict "packets_missing_after_an_empty_one_stay_missing" $? "exit status $run_status"
says "and_sizes_are_reported_once" '"fields":\{"a":5\},"context":\{"pid":7,"payload_size":1\}' "$tracetta" cat --format=jsonl sizes_again

# It stays the size that events are passed over by, which is that of the new bytes: a length and bits take more room again.
mkdir -p wider
printf '%s\n' 'trace { major = 1; minor = 1; alignment = packed; }' \
    'section { name = s; event { header_type = type2; context { event_size = true; context_type = { { uint3_t, odd }, { uint12_t, payload_size }, { uint8_t, pid } }; } } }' \
    'event { name = e; id = 0; fields = { { uint4_t, a }, { uint4_t, b }, { type { parent = sequence; length_type = uint8_t; elem_type = uint8_t; }, c } }; }' \
    'event { name = f; id = 1; fields = { { uint8_t, d } }; }' >wider/metadata
cat >wider.hexa <<'HEXA'
C1 1F FC C1  u32le 0  u32le 84  u32le 84  u32le 0  u32le 3  u64le 1  u64le 1  u32le 0  20 00 00 00
u32le 1  u16le 0  25 00 07  21 02 08 09
u32le 1  u16le 1  0D 00 06  55
u32le 1  u16le 0  25 00 05  43 02 0A 0B
HEXA
"$hexa_cat" wider.hexa >wider/s
for how in byte-order=be alignment=natural event-size=yes header=1; do
    rm -rf wide_sized wide_again && run "$tracetta" convert --quiet --to=ctf --option $how --option text-metadata=yes wider -o wide_sized
    run "$tracetta" convert --quiet --to=ctf --option byte-order=le --option text-metadata=yes wide_sized -o wide_again
    holds "a_size_in_a_context_stays_there:$how" wide_again/metadata 'event_size = true;.*context_type = .*payload_size'
    size=8
    [ $how = alignment=natural ] && size=12
    "$tracetta" cat --strict --format=jsonl wider | grep -o '"fields".*' | sed "s/\"payload_size\":4/\"payload_size\":$size/" >"$work/wanted"
    "$tracetta" cat --strict --format=jsonl wide_again | grep -o '"fields".*' | diff "$work/wanted" - >"$work/.diff"
    verdict "and_is_that_of_the_new_bytes:$how" $? "$(cat "$work/.diff")"
    sed '/^event/,$d' wide_sized/metadata >wide_sized/some && sed -n '/name = "*f"*;/,$p' wide_sized/metadata | sed "1i event {" >>wide_sized/some && mv wide_sized/some wide_sized/metadata
    salvages "and_what_is_not_known_is_passed_over_by_it:$how" '"fields":\{"d":85\}' "$tracetta" cat --format=jsonl wide_sized
done

# A trace that records no alignment and fits several: a guess is reported, and an option decides.
mkdir guessed
printf '%s\n' 'trace { major = 1; minor = 1; }' 'section { name = s; event { header_type = type2; } }' \
    'event { name = e; fields = { { uint8_t, a }, { uint16_t, b }, { string, t } }; }' >guessed/metadata
cat >guessed.hexa <<'HEXA'
C1 1F FC C1  u32le 0  u32le 60  u32le 60  u32le 0  u32le 3  u64le 1  u64le 1  u32le 0  20 00 00 00
u32le 1  u16le 0  01  02 03 79  78 00
HEXA
"$hexa_cat" guessed.hexa >guessed/s
for how in packed:770:yx natural:30979:x natural-32:30979:x; do
    IFS=: read -r alignment b t <<<"$how"
    says "an_option_reports_where_numbers_begin:$alignment" "\"b\":$b,\"t\":\"$t\"" "$tracetta" cat --format=jsonl --option=ctf.assume-alignment=$alignment guessed
    ! grep -q 'warning' "$work/.err"
    verdict "and_nothing_is_a_guess_then:$alignment" $? "$(cat "$work/.err")"
done
refuses "an_alignment_that_is_none_is_refused" 2 'expected packed, natural or natural-32' "$tracetta" cat --option=ctf.assume-alignment=48 guessed
for how in cat stat 'convert --to=ctf -o decided'; do
    # shellcheck disable=SC2086
    run "$tracetta" $how guessed
    [ $run_status = 0 ] && grep -q 'warning: .*read as packed.*--option=ctf.assume-alignment=' "$work/.err"
    verdict "a_guess_is_reported:${how%% *}" $? "exit status $run_status: $(cat "$work/.err")"
done

# Blocks of metadata are entries of their own in packets; of metadata that are cut, whole entries are read.
run "$tracetta" convert --to=ctf --option version=1.1 --option packet-align=1 made -o entries
[ "$(tail -c +49 entries/metadata | tr "\0" "@" | grep -ac "^@[a-z]")" = "$(tail -c +49 entries/metadata | tr -d "\0" | grep -acE "^(section|type|event|env) ")" ] &&
    [ "$(tail -c 1 entries/metadata | od -An -tx1)" = " 00" ]
verdict "blocks_are_entries" $? "$(tail -c +49 entries/metadata | tr '\0' '@')"
cp -r entries shortened
head -c -20 entries/metadata >shortened/metadata
salvages "whole_entries_of_metadata_that_are_cut_are_read" '"name":"app:(list|state)"' "$tracetta" cat --format=jsonl shortened
refuses "strict_reading_ends_at_the_cut" 1 'metadata: .*the file ends inside it' "$tracetta" cat --strict shortened

# A label of several values is one label in all versions.
mkdir labels && printf '\1\2\3\4\6' >labels/s
cat >labels/metadata <<'TSDL'
/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
event { name = e; fields := struct { enum : integer { size = 8; align = 8; } { A = 1, B = 2, A = 3 ... 4, C = 5 ... 7, D = 2 ... 4 } x; }; };
TSDL
run "$tracetta" convert --to=ctf --option version=1.1 labels -o labels11
run "$tracetta" convert --to=ctf --option version=1.8 labels11 -o labels18
holds "a_label_of_several_values_is_one_again" labels18/metadata 'A = 1, +A = 3 \.\.\. 4, +B = 2, +C = 5 \.\.\. 7, +D = 2 \.\.\. 4'

# In version 1.1 names of files tell sections and processors: two classes of streams are no section, and no section takes what is another's.
mkdir channels && printf '\0\0\1' >channels/channel_0 && printf '\1\1\2' >channels/channel_1 && printf '\0\2\3' >channels/channel_2 &&
    printf '\0\7\4' >channels/channel_2_7
cat >channels/metadata <<'TSDL'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u8 stream_id; }; };
stream { id = 0; packet.context := struct { u8 cpu_id; }; };
stream { id = 1; packet.context := struct { u8 cpu_id; }; };
event { name = e; stream_id = 0; fields := struct { u8 n; }; };
event { name = f; stream_id = 1; fields := struct { u8 n; }; };
TSDL
# who TRACE: names, cpus and numbers of its events.
who()
{
    "$tracetta" cat --strict --format=jsonl "$1" | grep -o '"name":"[^"]*"\|"cpu":[0-9]*\|"n":[0-9]*' | paste - - - | sort
}
run "$tracetta" convert --to=ctf --option version=1.1 channels -o sections
who channels >"$work/wanted"
who sections >"$work/found"
same "files_of_the_rfc_are_of_the_sections_they_are_meant_for" "$work/wanted" cat "$work/found"

# Empty sequences of enumerations are of the same class as others; so are empty ones of structures beside others in an array.
mkdir named && printf '\0\2\0\1\1\0\1\11''\1\1\1\0\1\3' >named/s
cat >named/metadata <<'TSDL'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias enum : u8 { A = 1, B = 2 } := choice;
trace { major = 1; minor = 8; byte_order = le; };
event { name = g; fields := struct { u8 n; choice x[n]; u8 m; struct { u8 k; choice y[k]; } z[m]; struct { u8 k; struct { u8 v; } y[k]; } w[m]; }; };
TSDL
for how in byte-order=be version=1.1; do
    run "$tracetta" convert --to=ctf --option $how named -o named_$how
    [ $run_status = 0 ] && ! grep -q mixed "$work/.err" && [ "$(tr -d '\0\n ' <named_$how/metadata | grep -aoE '"?name"?[:=]"?g"?' | wc -l)" = 1 ]
    verdict "empty_sequences_of_names_make_no_class_of_their_own:$how" $? "exit status $run_status"
    "$tracetta" cat --format=jsonl named | grep -o '"fields.*' >"$work/wanted"
    same "and_come_back:$how" "$work/wanted" bash -c '"$1" cat --strict --format=jsonl "$2" | grep -o "\"fields.*"' cat "$tracetta" named_$how
done

# Contexts of a stream are fields of events where event-size is asked for: the context has the size alone.
run "$tracetta" convert --to=ctf --option version=1.1 --option event-size=yes made -o sized
[ $run_status = 0 ] && grep -q 'context.place' "$work/.err" && "$tracetta" check sized >"$work/.out"
verdict "event_size_without_other_contexts_is_read" $? "$("$tracetta" check sized 2>&1 | tail -n 3)"

# Names in contexts of all events are reported as others are where they cannot stay.
mkdir quoted && printf '\1\2' >quoted/s
printf '\036%s\n' '{"type":"preamble","version":2}' \
    '{"type":"data-stream-class","event-record-common-context-field-class":{"type":"structure","member-classes":[{"name":"a b","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"}}]}}' \
    '{"type":"event-record-class","name":"e","payload-field-class":{"type":"structure","member-classes":[{"name":"c","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"}}]}}' >quoted/metadata
run "$tracetta" convert --to=ctf --option version=1.8 --option byte-order=be quoted -o unquoted
[ $run_status = 0 ] && grep -Eq 'changed +1 .*\[field.name\]' "$work/.err"
verdict "names_of_contexts_that_change_are_reported" $? "exit status $run_status"
mkdir hollow && printf '\5\6' >hollow/s
cat >hollow/metadata <<'TSDL'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream { event.context := struct { }; };
event { name = e; fields := struct { u8 n; }; };
TSDL
run "$tracetta" convert --to=ctf --option version=1.1 --option event-size=yes hollow -o hollow_sized
[ $run_status = 0 ] && "$tracetta" check hollow_sized >"$work/.out"
verdict "also_where_the_context_is_empty" $? "$("$tracetta" check hollow_sized 2>&1 | tail -n 3)"
holds "the_rfc_keeps_uuid_and_clock" rfc/metadata 'uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";.*clock_name = ticks;.*clock_description = "Made up";.*clock_precision = 3;'
holds "floats_are_numbers_there" rfc/metadata 'size = 64;[^}]*float = true;'
holds "lengths_stay_fields_there" rfc/metadata 'uint32_t, _data_length \}.*length_field = _data_length;'
holds "and_contexts_are_told" rfc/metadata 'context_fields = 1;'
holds "all_come_back" eight_again/metadata 'uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564".*stream \{ +id = 5;.*id = 9; +stream_id = 5; +model.emf.uri = "http://example.org/state"; +context := struct'

run "$tracetta" convert --to=ctf --option version=1.8 rich -o poor
[ $run_status = 0 ] && grep -Eq 'changed +1 .*\[field.name\]' "$work/.err" && grep -Eq 'changed +2 .*\[field.type\]' "$work/.err" &&
    grep -Eq 'dropped +1 .*\[trace.about\]' "$work/.err"
verdict "unsupported_metadata_of_another_language_is_counted" $? "exit status $run_status"
cmp -s rich/stream poor/stream
verdict "though_packets_stay_as_they_are" $? "they changed"

# by_time TRACE: its events in their order in time, without the time between.
by_time()
{
    text "$1" | sed 's/ (+[^)]*)//' | sort
}
run "$tracetta" convert --sort --to=ctf shuffled -o sorted
by_time shuffled >wanted
by_time sorted >got
[ $run_status = 0 ] && [ -s got ] && cmp -s wanted got && ! grep -aq tracetta sorted/metadata
verdict "sorted_events_keep_names_types_and_contexts" $? "$(diff wanted got | head -4)"
holds "and_their_lengths" sorted/metadata '__data_length;.*_data\[__data_length\]'

run "$tracetta" convert --to=ctf --clock-offset=-5s made -o earlier
"$tracetta" cat --style=babeltrace2 --clock-gmt --clock-offset=-5s made >wanted 2>/dev/null
same "times_that_are_moved_stay_moved" wanted "$tracetta" cat --strict --style=babeltrace2 --clock-gmt earlier

# Nothing is written into the folder of an input, by whatever name.
ln -s made same_place
cp -r made before
for out in made/out made/index/deep/out.fxt same_place/out made/../made/out/; do
    refuses "no_output_at_${out//\//_}" 2 "would be inside of the input \"made\".*a place outside" "$tracetta" convert --overwrite --to=ctf made -o $out
done
refuses "nor_beside_metadata_that_are_the_input" 2 'would be inside of the input "made/metadata"' "$tracetta" convert made/metadata -o made/out.fxt
refuses "nor_where_several_are_merged" 2 'inside of the input "made"' "$tracetta" merge --to=ctf before made -o made/out
refuses "nor_where_one_is_recovered" 2 'inside of the input "made"' "$tracetta" recover made -o made/out
refuses "nor_as_text" 2 'inside of the input "\."' bash -c 'cd made && "$1" cat . -o ./text' cat "$tracetta"
succeeds "all_is_as_it_was" diff -r before made
succeeds "beside_it_is_fine" bash -c 'cd made && "$1" convert -q --to=ctf . -o ../made_too' convert "$tracetta"

# moved FORMAT TRACE: written to its own format by any option that moves times, events have the times that cat has by it.
moved()
{
    local by
    for by in --clock-offset=3 --clock-offset-ns=1000 --offset="$2=7us"; do
        "$tracetta" cat "$by" "$2" 2>/dev/null >wanted
        run "$tracetta" convert --overwrite --to="$1" "$by" "$2" -o "moved.$1"
        same "${by%%[=]*}_moves_$1_that_stays_$1" wanted "$tracetta" cat "moved.$1"
    done
}
moved ctf made
for format in fxt heph nettrace; do
    "$hexa_cat" "$(echo "$here"/traces/*_"$format".hexa | sed 's/.* //')" >"own.$format"
    moved $format own.$format
done

run "$tracetta" merge made big -o both.ctf --to=ctf
[ $run_status = 0 ] && [ -f both.ctf/made/metadata ] && [ -f both.ctf/big/channel_1 ] && [ ! -e both.ctf/metadata ]
verdict "several_traces_have_folders_of_their_own" $? "exit status $run_status"
text made >wanted
same "and_each_its_own_text" wanted "$tracetta" cat --style=babeltrace2 --clock-gmt both.ctf/made

# Names of values that nettrace has of events are enumerations in CTF, and in CTF 2 flags too.
"$hexa_cat" "$here/../../src/formats/nettrace/vectors/known.hexa" >"$work/known.nettrace"
fields()
{
    "$tracetta" cat --format=jsonl "$1" | sed 's/.*"fields"://'
}
fields "$work/known.nettrace" >"$work/wanted"
grep -q '"labels":\["CLSCompliant"\]' "$work/wanted"
verdict "nettrace_has_names_of_values" $? "no such name in its fields"
"$tracetta" convert -q --to=ctf --option=version=2 "$work/known.nettrace" -o "$work/known2"
fields "$work/known2" >"$work/found"
same "names_of_values_are_written_as_ctf_2" "$work/wanted" cat "$work/found"
run "$tracetta" convert --to=ctf --option=version=1.8 "$work/known.nettrace" -o "$work/known18"
grep -q 'field.label' "$work/.err"
verdict "only_flags_lose_them_in_ctf_1_8" $? "no word of field.label"
sed 's/{"value":16,"labels":\["CLSCompliant"\]}/16/' "$work/wanted" >"$work/wanted18"
fields "$work/known18" >"$work/found"
same "enumerations_stay_in_ctf_1_8" "$work/wanted18" cat "$work/found"
if command -v babeltrace2 >/dev/null; then
    says "babeltrace2_shows_the_names" 'Reason = \( "Induced" : container = 1 \)' babeltrace2 "$work/known18"
else
    skip "babeltrace2_shows_the_names" "no babeltrace2"
fi

# Two descriptions of one event have labels in two places, which say the same.
sed -e '/^@mend/i 80 varint 0 varint 116\nu32le 9 utf16le "Microsoft-Windows-DotNETRuntime" u16le 0 u32le 35 utf16le "GCTriggered" u16le 0 u64le 0 u32le 0 u32le 4\nu32le 0' \
    -e '/^@eend/i C1 varint 9 varint 1 varint 6\nu32le 2 u16le 9' "$here/../../src/formats/nettrace/vectors/known.hexa" >"$work/twice.hexa"
"$hexa_cat" "$work/twice.hexa" >"$work/twice.nettrace"
"$tracetta" convert -q --to=ctf --option=version=1.8 "$work/twice.nettrace" -o "$work/twice"
count=$(tr -d '\0' <"$work/twice/metadata" | grep -a -c 'name = "GCTriggered"')
verdict "labels_that_say_the_same_are_of_one_class" "$((count != 1))" "$count classes"
says "and_each_event_has_its_own" 'Reason = LowMemory' "$tracetta" cat "$work/twice"

# Indexes of copies: true ones stay, stale ones and those of other formats do not.
"$tracetta" convert -q --to=ctf --option=index=yes made -o "$work/indexed"
cp -r "$work/indexed" "$work/stale"
for stale in "printf CTFIDX" "tail -c +2 $work/indexed/index/channel_0.idx" "head -c 88 $work/indexed/index/channel_1.idx"; do
    $stale >"$work/stale/index/channel_0.idx"
    rm -rf "$work/copied"
    "$tracetta" convert -q --to=ctf "$work/stale" -o "$work/copied"
    same "a_stale_index_is_not_copied:${stale%% *}" "$work/indexed/index/channel_0.idx" cat "$work/copied/index/channel_0.idx"
done
sed 's/\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x48/\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x48/' "$work/indexed/index/channel_1.idx" >"$work/stale/index/channel_1.idx"
rm -rf "$work/copied"
"$tracetta" convert -q --to=ctf "$work/stale" -o "$work/copied"
same "a_true_one_is_as_it_was" "$work/stale/index/channel_1.idx" cat "$work/copied/index/channel_1.idx"

# An index that is wrong of some packets in the middle: where reading begins there, these packets are asked themselves.
mkdir "$work/long"
printf '/* CTF 1.8 */\ntypealias integer { size = 32; align = 8; } := u32;\ntypealias integer { size = 32; align = 8; map = clock.c.value; } := time;\ntrace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\nclock { name = c; freq = 1000000000; };\nstream { packet.context := struct { u32 content_size; u32 packet_size; time timestamp_begin; time timestamp_end; }; event.header := struct { time timestamp; }; };\nevent { name = e; };\n' >"$work/long/metadata"
/usr/bin/python3 -c 'import struct, sys
for i in range(100):
    sys.stdout.buffer.write(struct.pack("<7I", 0xC1FC1FC1, 224, 224, 1000 * i + 1, 1000 * i + 900, 1000 * i + 10, 1000 * i + 890))' >"$work/long/s"
"$tracetta" convert -q --to=ctf --option=index=yes "$work/long" -o "$work/lying"
/usr/bin/python3 -c 'import struct, sys
index = bytearray(open(sys.argv[1], "rb").read())
for i in range(70, 90):
    struct.pack_into(">QQ", index, 16 + 72 * i + 24, 70001 + 2 * (i - 70), 70002 + 2 * (i - 70))
open(sys.argv[1], "wb").write(index)' "$work/lying/index/s.idx"
"$tracetta" cat --start=72500 "$work/long" >"$work/wanted"
same "an_index_that_is_wrong_of_where_reading_begins_loses_nothing" "$work/wanted" "$tracetta" cat --start=72500 "$work/lying"
[ "$(wc -l <"$work/wanted")" = 55 ] && "$tracetta" convert -q --start=72500 --to=jsonl "$work/lying" -o - 2>/dev/null | wc -l | grep -qx 55
verdict "nor_in_another_format" $? "$(wc -l <"$work/wanted") lines"

# check holds every entry against its packet and tells of the first wrong one of each index; a copy has a right one, whatever number was wrong.
wrong='odd ctf.bad-index x20, first at byte 1960: index/s.idx, entry at byte 5056: timestamp_end 70002, expected 70900 as the packet at byte 1960 declares; index not used'
says "check_reports_an_index_that_is_wrong_in_its_middle" "$wrong" "$tracetta" check "$work/lying"
cp -r "$work/lying" "$work/both"
cp "$work/both/s" "$work/both/z"
cp "$work/both/index/s.idx" "$work/both/index/z.idx"
says "and_of_each_index" '^    x20, at byte 1960: index/z.idx, entry at byte 5056: timestamp_end 70002, expected 70900' "$tracetta" check "$work/both"
says "also_in_json" '"path": ?"[^"]*/z"' "$tracetta" check -j "$work/both"
for number in 0 1 2 3 4 5 6; do
    rm -rf "$work/copied" "$work/wrong"
    "$tracetta" convert -q --to=ctf --option=index=yes "$work/long" -o "$work/wrong"
    cp "$work/wrong/index/s.idx" "$work/wanted"
    /usr/bin/python3 -c 'import struct, sys
index = bytearray(open(sys.argv[1], "rb").read())
at = 16 + 72 * 50 + 8 * int(sys.argv[2])
struct.pack_into(">Q", index, at, struct.unpack_from(">Q", index, at)[0] + 1)
open(sys.argv[1], "wb").write(index)' "$work/wrong/index/s.idx" $number
    says "every_number_of_an_entry_is_checked:$number" 'odd ctf.bad-index x1, first at byte 1400: index/s.idx, entry at byte 3616: ' "$tracetta" check "$work/wrong"
    "$tracetta" convert -q --to=ctf "$work/wrong" -o "$work/copied"
    same "and_right_in_a_copy:$number" "$work/wanted" cat "$work/copied/index/s.idx"
done
"$tracetta" convert -q --to=ctf --option=index=yes "$work/long" -o "$work/short"
truncate -s -72 "$work/short/index/s.idx"
says "an_index_that_lacks_packets_is_reported" 'index/s.idx has 99 entries, expected 100, one per packet; index not used' "$tracetta" check "$work/short"
cp "$work/wanted" "$work/short/index/s.idx"
tail -c 72 "$work/wanted" >>"$work/short/index/s.idx"
says "and_one_that_has_more" 'index/s.idx has 101 entries, expected 100, one per packet; index not used' "$tracetta" check "$work/short"
cp -r "$work/wrong" "$work/holed"
/usr/bin/python3 -c 'import sys
stream = bytearray(open(sys.argv[1], "rb").read())
stream[28 * 20:28 * 20 + 4] = b"gone"
open(sys.argv[1], "wb").write(stream)' "$work/holed/s"
run "$tracetta" check "$work/holed"
grep -q 'ctf.bad-magic x1, first at byte 560' "$work/.out" && grep -q 'odd ctf.bad-index x1, first at byte 1400: index/s.idx, entry at byte 3616: ' "$work/.out"
verdict "entries_after_damage_are_checked_too" $? "$(cat "$work/.out")"

# Numbers of packets that wrap do so in the index of a copy, too.
mkdir "$work/round"
printf '\x30\x30\x00\x00\xff\x01\x30\x30\x05\x05\x00\x05' >"$work/round/s"
printf '/* CTF 1.8 */\ntypealias integer { size = 8; } := u8;\ntypealias integer { size = 8; map = clock.c.value; } := time;\ntrace { major = 1; minor = 8; byte_order = le; };\nclock { name = c; };\nstream { packet.context := struct { u8 content_size; u8 packet_size; time timestamp_begin; time timestamp_end; u8 packet_seq_num; }; event.header := struct { time timestamp; }; };\nevent { name = a; };\n' >"$work/round/metadata"
"$tracetta" convert -q --to=ctf --option=index=yes --start=3 "$work/round" -o "$work/rounded"
run "$tracetta" check -v "$work/rounded"
[ -f "$work/rounded/index/s.idx" ] && ! grep -q 'bad-index' "$work/.out"
verdict "an_index_has_numbers_of_packets_as_wide_as_they_are" $? "$(cat "$work/.out")"

# A packet whose own times are damaged, which an index that fits all others does not show: a range that it seems to be after does not end there.
"$tracetta" convert -q --to=ctf --option=index=yes "$work/long" -o "$work/struck"
/usr/bin/python3 -c 'import struct, sys
stream = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<2I", stream, 28 * 40 + 12, 3000001, 3000900)
open(sys.argv[1], "wb").write(stream)' "$work/struck/s"
cp -r "$work/struck" "$work/bare"
rm -r "$work/bare/index"
"$tracetta" cat --end=50000 "$work/bare" >"$work/wanted" 2>/dev/null
run "$tracetta" cat --end=50000 "$work/struck"
cmp -s "$work/wanted" "$work/.out"
verdict "one_packet_of_a_time_after_a_range_does_not_end_it" $? "$(diff "$work/wanted" "$work/.out" | head -3)"
[ "$(wc -l <"$work/wanted")" = 100 ]
verdict "all_events_are_there" $? "$(wc -l <"$work/wanted") lines"

# Fields of events that are mapped to a clock move it, which CTF 1.8 alone can say; they are fields all the same.
mkdir "$work/moving"
printf '\1\2\3\4\5\6' >"$work/moving/s"
printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nclock { name = c; freq = 1000000000; };\nevent { name = "a"; fields := struct { integer { size = 8; } x; integer { size = 8; map = clock.c.value; } when; integer { size = 8; } y; }; };\n' >"$work/moving/metadata"
says "a_field_that_is_mapped_to_a_clock_is_shown" '"time_ns":2,.*"fields":\{"x":4,"when":5,"y":6\}' "$tracetta" cat --format=jsonl "$work/moving"
says "babeltrace2_leaves_it_out" '^\[00:00:00.000000002\] \(\+0.000000002\) a: \{ x = 4, y = 6 \}$' "$tracetta" cat --style=babeltrace2 --clock-gmt "$work/moving"
says "but_where_it_is_asked_for" 'a: \{ x = 4, when = 5, y = 6 \}$' "$tracetta" cat --style=babeltrace2 --option=mapped=shown "$work/moving"
refuses "other_words_are_no_answer" 2 'mapped=no of ctf: expected shown or hidden' "$tracetta" cat --option=mapped=no "$work/moving"
"$tracetta" cat --format=jsonl "$work/moving" >"$work/wanted"
for how in version=2 version=1.1 byte-order=be; do
    rm -rf "$work/copied"
    "$tracetta" convert -q --to=ctf --option=$how "$work/moving" -o "$work/copied"
    same "and_times_and_fields_stay:$how" "$work/wanted" "$tracetta" cat --format=jsonl "$work/copied"
done

# A copy without some events, of packets that tell their content only, which then ends inside a byte.
mkdir "$work/odd"
printf '\x2c\x20\x11\x34\x60\x05' >"$work/odd/s"
printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { packet.context := struct { integer { size = 8; } content_size; }; event.header := struct { integer { size = 4; } id; }; };\nevent { name = a; id = 0; fields := struct { integer { size = 8; align = 1; } x; }; };\nevent { name = b; id = 1; fields := struct { integer { size = 8; align = 1; } x; }; };\n' >"$work/odd/metadata"
"$tracetta" cat --name=b "$work/odd" >"$work/wanted"
"$tracetta" convert -q --to=ctf --name=b "$work/odd" -o "$work/copied" --overwrite
same "the_copy_has_the_event_and_no_other" "$work/wanted" "$tracetta" cat "$work/copied"
says "and_is_whole" ': whole \(ctf 1.8, 1 event,' "$tracetta" check "$work/copied"
printf '\x18\x41\x03' >"$work/wanted"
same "with_a_content_of_whole_bytes" "$work/wanted" cat "$work/copied/s"
"$tracetta" convert -q --to=ctf --option=byte-order=be "$work/odd" -o "$work/timeless"
run "$tracetta" check -v "$work/timeless"
[ -f "$work/timeless/index/s.idx" ] && ! grep -q 'bad-index' "$work/.out"
verdict "an_index_of_packets_without_times_fits_them" $? "$(cat "$work/.out")"

# The same of a copy without some events, which have times.
mkdir "$work/ticking"
printf '\x30\x30\x00\x05\x01\x07' >"$work/ticking/s"
printf '/* CTF 1.8 */\ntypealias integer { size = 8; } := u8;\ntrace { major = 1; minor = 8; byte_order = le; };\nclock { name = c; };\nstream { packet.context := struct { u8 content_size; u8 packet_size; }; event.header := struct { u8 id; integer { size = 8; map = clock.c.value; } timestamp; }; };\nevent { name = a; id = 0; fields := struct { }; };\nevent { name = b; id = 1; fields := struct { }; };\n' >"$work/ticking/metadata"
"$tracetta" convert -q --to=ctf --option=index=yes --name=b "$work/ticking" -o "$work/ticked"
run "$tracetta" check -v "$work/ticked"
[ -f "$work/ticked/index/s.idx" ] && ! grep -q 'bad-index' "$work/.out"
verdict "also_where_events_of_them_are_left_out" $? "$(cat "$work/.out")"

# A number of the packet's context that is mapped to the clock, but is not the packet's begin.
mkdir "$work/elsewhere"
printf '\5\1' >"$work/elsewhere/s"
printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nclock { name = c; freq = 1000000000; };\nstream { packet.context := struct { integer { size = 8; map = clock.c.value; } since; }; };\nevent { name = "a"; fields := struct { integer { size = 8; } x; }; };\n' >"$work/elsewhere/metadata"
says "it_is_the_time_of_events_there" '"time_ns":5,' "$tracetta" cat --format=jsonl "$work/elsewhere"
"$tracetta" convert -q --to=ctf --option=version=2 "$work/elsewhere" -o "$work/copied" --overwrite
says "and_in_ctf_2" '"time_ns":5,' "$tracetta" cat --format=jsonl "$work/copied"

# Times before zero, of clocks that do not count from 1970: one, several, and in other formats.
mkdir "$work/early"
number='{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"'
{
    printf '\x1e{"type":"preamble","version":2}\n\x1e{"type":"trace-class","packet-header-field-class":{"type":"structure","member-classes":[{"name":"id","field-class":%s,"roles":["data-stream-class-id"]}}]}}\n' "$number"
    for clock in 0:-5 1:3; do
        printf '\x1e{"type":"clock-class","id":"%s","frequency":1000,"offset-from-origin":{"seconds":%s,"cycles":0}}\n' "${clock%:*}" "${clock#*:}"
        printf '\x1e{"type":"data-stream-class","id":%s,"default-clock-class-id":"%s","event-record-header-field-class":{"type":"structure","member-classes":[{"name":"t","field-class":%s,"roles":["default-clock-timestamp"]}}]}}\n' "${clock%:*}" "${clock%:*}" "$number"
        printf '\x1e{"type":"event-record-class","data-stream-class-id":%s,"name":"e%s"}\n' "${clock%:*}" "${clock%:*}"
    done
} >"$work/early/metadata"
printf '\x00\x07\x09' >"$work/early/s0"
cp -r "$work/early" "$work/earlier_alone"
sed -i '/"id":"1"/d; /-id":"1"/d; /-id":1/d' "$work/earlier_alone/metadata"
printf '\x01\x07\x0a' >"$work/early/s1"
"$hexa_cat" "$here/traces/small_fxt.hexa" >"$work/early.fxt"
says "events_have_times_before_zero" '"time_ns":-4993000000,' "$tracetta" cat --format=jsonl "$work/early"
for input in "early" "early --clock-offset=-100" "early --clock-offset=100" "earlier_alone" "earlier_alone --clock-offset=-2" "early.fxt --clock-offset=-1000" "early.fxt --clock-offset=1000"; do
    # shellcheck disable=SC2086
    "$tracetta" cat --format=jsonl $input 2>/dev/null | grep -Eo '"time_ns":[-0-9]+' | sort >wanted
    for version in 1.1 1.8 2; do
        # shellcheck disable=SC2086
        "$tracetta" convert --overwrite -q --to=ctf --option=ctf.version=$version $input -o "$work/written"
        "$tracetta" cat --format=jsonl "$work/written" | grep -Eo '"time_ns":[-0-9]+' | sort >found
        same "times_before_zero_stay:$input:$version" wanted cat found
    done
done
says "and_are_no_unix_times" 'no anchor: times count from its own zero' "$tracetta" info earlier_alone
"$tracetta" convert --overwrite -q --to=ctf --option=ctf.version=1.1 earlier_alone -o "$work/written"
says "in_version_1_1_either" 'no anchor: times count from its own zero' "$tracetta" info "$work/written"
# ids TRACE: numbers and versions that providers have for their events.
ids()
{
    "$tracetta" cat --format=jsonl "$1" 2>/dev/null | grep -o '"event_id":[0-9]*,"event_version":[0-9]*'
}
"$hexa_cat" "$here/traces/meters_nettrace.hexa" >meters.nettrace
ids meters.nettrace >wanted
[ -s wanted ]
verdict "events_of_net_have_numbers" $? "none"
for version in 1.1 1.8 2; do
    run "$tracetta" convert --to=ctf --option=version=$version meters.nettrace -o "numbered$version"
    ids "numbered$version" | cmp -s wanted -
    verdict "numbers_of_events_stay_in_version_$version" $? "they differ"
done
run "$tracetta" convert --to=ctf --option=version=2 numbered1.8 -o numbered_copy
ids numbered_copy | cmp -s wanted -
verdict "and_in_another_version" $? "they differ"
run "$tracetta" convert --to=ctf --sort numbered1.8 -o numbered_anew
ids numbered_anew | cmp -s wanted -
verdict "and_where_they_are_reencoded" $? "they differ"
run "$tracetta" convert --to=fxt meters.nettrace -o numbered.fxt
grep -q 'attribute.number' "$work/.err"
verdict "fxt_reports_their_loss" $? "it does not"
run "$tracetta" convert --to=perf meters.nettrace -o numbered.data
grep -q 'event.number' "$work/.err"
verdict "perf_too" $? "it does not"

# Names of threads stand in events of the CTF conventions that are none.
"$hexa_cat" "$here/traces/small_fxt.hexa" >small.fxt
{ head -c 8 small.fxt; printf '\x37\0\1\4\x80\0\0\0\12\0\0\0\0\0\0\0shop\0\0\0\0'; tail -c +9 small.fxt; } >named.fxt # process 10 is a shop
"$tracetta" convert -q --to=ctf --option=version=2 named.fxt -o spoken 2>/dev/null
grep -q 'tracetta:names' spoken/metadata
verdict "the_trace_names_threads" $? "it does not"
run "$tracetta" convert --to=ctf spoken -o spoken_copy
grep -q 'spoken_copy: 4 events' "$work/.err"
verdict "names_of_threads_are_no_events_of_a_copy" $? "exit status $run_status"
run "$tracetta" convert --to=ctf --name=load spoken -o spoken_part
grep -q 'spoken_part: 1 event,' "$work/.err"
verdict "nor_of_a_copy_without_some" $? "exit status $run_status"
run "$tracetta" convert --to=ctf --sort spoken -o spoken_sorted
head -c 300 spoken_sorted/metadata | grep -q '"version": *2'
verdict "the_version_of_a_trace_of_the_conventions_stays_when_it_is_sorted" $? "$(head -c 100 spoken_sorted/metadata)"

# Gaps are events of the CTF conventions, with all that is known of them.
{ cat small.fxt; printf '\x10\0\3\0\0\0\0\0'; } >gap.fxt # a buffer that was full
"$tracetta" convert -q --to=ctf gap.fxt -o gap 2>/dev/null
"$tracetta" cat --kind=gap gap >wanted 2>/dev/null
[ -s wanted ]
verdict "a_gap_is_an_event_of_the_conventions" $? "there is none"
run "$tracetta" convert -q --to=ctf gap -o gap_copy
"$tracetta" cat --kind=gap gap_copy 2>/dev/null | cmp -s wanted -
verdict "and_stays_in_copies" $? "it is gone"

# The last event of a packet may end inside a byte: the content ends there, or readers take what is left for an event.
mkdir narrow untimed
cat >narrow/metadata <<'END'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; byte_order = be; } := u16;
trace { major = 1; minor = 8; byte_order = be; };
stream {
    packet.context := struct { u16 packet_size; u16 content_size; };
    event.header := struct { u8 id; };
};
event { name = whole; id = 1; fields := struct { u8 x; }; };
event { name = bits; id = 2; fields := struct { integer { size = 3; align = 1; } x; }; };
END
printf '\0\100\0\100\2\240\1\7' >narrow/s # 64 bits, of which all are content: bits { x = 5 }, whole { x = 7 }
run "$tracetta" convert --to=ctf --name=bits narrow -o narrow_part
[ "$(od -An -tu1 narrow_part/s | tr -s ' ')" = ' 0 48 0 43 2 160' ]
verdict "content_of_packets_rewritten_ends_where_their_last_event_does" $? "$(od -An -tu1 narrow_part/s)"

# Events that do not say when they were have the time of their packet, which sorted ones are not in any more.
cat >untimed/metadata <<'END'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
clock { name = c; freq = 1000000000; };
typealias integer { size = 8; align = 8; map = clock.c.value; } := when;
trace { major = 1; minor = 8; byte_order = be; };
stream { packet.context := struct { u8 packet_size; u8 content_size; when timestamp_begin; when timestamp_end; }; };
event {
    name = e;
    fields := struct {
        enum : u8 { first, second } _tag;
        variant <_tag> { enum : u8 { A, B } first; enum : u8 { C, D } second; } _v;
    };
};
END
printf '\100\100\005\006\0\1\1\1' >untimed/s # two events in each of two packets
printf '\100\100\011\012\1\0\1\1' >>untimed/s
"$tracetta" cat --format=jsonl untimed | grep -Eo '"time_ns":[0-9]+|"v":\{[^}]*' >wanted
[ "$(tr -d '\n' <wanted)" = '"time_ns":5"v":{"value":1,"label":"B""time_ns":5"v":{"value":1,"label":"D""time_ns":9"v":{"value":0,"label":"C""time_ns":9"v":{"value":1,"label":"D"' ]
verdict "events_have_the_time_of_their_packet" $? "$(cat wanted)"
for version in 1.1 1.8 2; do
    run "$tracetta" convert --to=ctf --sort --option=version=$version untimed -o "untimed$version"
    "$tracetta" cat --format=jsonl "untimed$version" 2>/dev/null | grep -Eo '"time_ns":[0-9]+|"v":\{[^}]*' | cmp -s wanted -
    verdict "which_stays_when_they_are_sorted_as_do_labels_of_options:$version" $? "$("$tracetta" cat "untimed$version")"
    marks=4
    [ $version = 1.1 ] && marks=0 # which has no such events, and that is reported
    [ "$("$tracetta" cat --format=jsonl "untimed$version" | grep -c '"flags":\["no_time"\]')" = $marks ] && { [ $marks = 4 ] || grep -q '  4  .*\[time\.mark\]' "$work/.err"; }
    verdict "and_that_it_is_not_their_own:$version" $? "$(cat "$work/.err")"
done

# So have events of packets that only tell their end that of the packet before, also where that is written to another file.
mkdir ended
cat >ended/metadata <<'END'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
clock { name = c; freq = 1000000000; };
typealias integer { size = 8; align = 8; map = clock.c.value; } := when;
trace { major = 1; minor = 8; byte_order = le; };
stream {
    packet.context := struct { u8 packet_size; u8 content_size; when timestamp_end; };
    event.context := struct { enum : u8 { number, text } _tag; variant <_tag> { u8 number; string text; } _v; };
};
event { name = e; };
END
printf '\050\050\006\0\11\050\050\011\1\0\050\050\012\0\11' >ended/s
"$tracetta" cat --format=jsonl ended | grep -Eo '"time_ns":[0-9]+|"v":.*' >wanted
[ "$(tr -d '\n' <wanted)" = '"time_ns":0"v":9}}"time_ns":6"v":""}}"time_ns":9"v":9}}' ]
verdict "events_have_the_time_at_which_the_packet_before_ended" $? "$(cat wanted)"
for version in 1.1 1.8 2; do
    run "$tracetta" convert --to=ctf --option=version=$version --option=byte-order=be ended -o "ended$version"
    "$tracetta" cat --format=jsonl "ended$version" 2>/dev/null | grep -Eo '"time_ns":[0-9]+|"v":.*' | cmp -s wanted -
    verdict "and_keep_it:$version" $? "$("$tracetta" cat "ended$version")"
done

# A packet without events begins where the one before ended, not at its last event.
mkdir hollow
sed 's/^    event.context.*/    event.header := struct { when timestamp; };/' ended/metadata >hollow/metadata
printf '\040\040\010\005\030\030\011' >hollow/s # an event at 5, the end at 8; nothing up to 9
run "$tracetta" convert --to=ctf --option=byte-order=be --option=index=yes hollow -o hollow_anew
[ "$(od -An -tu1 -j112 -N8 hollow_anew/index/s.idx | tr -s ' ')" = ' 0 0 0 0 0 0 0 8' ]
verdict "a_packet_without_events_begins_where_the_one_before_ended" $? "$(od -An -tu1 -j16 -v hollow_anew/index/s.idx)"
