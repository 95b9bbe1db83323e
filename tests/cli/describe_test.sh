#!/bin/bash
# What traces say of themselves, on the command line: info, warnings that are one a trace, metadata in other languages.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
traces=$(realpath "$(dirname "$0")/traces")
cd "$work" || exit 1

# make FOLDER: a trace of two streams with a clock, an environment, contexts, an enumeration, a variant, and 3 + 4 lost events.
make()
{
    mkdir -p "$1"
    cat >"$1/metadata" <<'TSDL'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 8; align = 8; signed = false; map = clock.beat.value; } := time8;
trace { major = 1; minor = 8; byte_order = le; uuid = "11223344-5566-7788-99aa-bbccddeeff00"; };
env { hostname = "here"; tracer_major = 7; };
clock { name = beat; freq = 1000; offset_s = 1700000000; precision = 9; description = "The beat"; uuid = "00112233-4455-6677-8899-aabbccddeeff"; };
stream {
    packet.context := struct { u8 content_size; u8 packet_size; u8 events_discarded; u8 cpu_id; time8 timestamp_begin; time8 timestamp_end; };
    event.header := struct { u8 id; time8 timestamp; };
    event.context := struct { u8 vpid; };
};
event {
    name = "p:one"; id = 1; loglevel = 4;
    context := struct { u8 nice; };
    fields := struct { enum : u8 { OFF = 0, ON = 1 ... 3 } state; u8 n; u8 data[n]; variant <state> { string OFF; u8 ON; } what; };
};
event { name = "p:two"; id = 2; };
event { name = "p:never"; id = 3; };
TSDL
    # Packets: sizes in bits, lost events, cpu, begin and end; then events, p:one (ON: 9) and p:two.  Each second packet tells of losses.
    printf '\200\200\0\1\12\14''\1\12\5\24\1\0\11''\2\13\5''\110\110\3\1\27\31''\2\30\5' >"$1/a"
    printf '\110\110\0\2\16\20''\2\17\5''\110\110\4\2\36\40''\2\37\5' >"$1/b"
}

# lines NAME COMMAND...: its stdout holds all the lines of stdin in this order, others between them.
lines()
{
    local name=$1
    shift
    cat >"$work/wanted"
    run "$@"
    [ $run_status = 0 ] && /usr/bin/python3 -c 'import sys
found = iter(open(sys.argv[1]).read().splitlines())
for line in open(sys.argv[2]).read().splitlines():
    if line not in found:
        sys.exit("not there, or not in this place: " + line)' "$work/.out" "$work/wanted" 2>>"$work/.err"
    verdict "$name" $? "exit status $run_status from: $*"
}

make truncated
head -c 20 truncated/a >truncated/part
mv truncated/part truncated/a
run "$tracetta" info truncated
grep -q "^damage    1 place, 4 B; a file ends early, so more is missing$" "$work/.out"
verdict "truncated_file_is_never_nearly_complete" $? "stdout has no line about the end of the file"

make session/one
lines "a_trace_of_many_files_is_one_trace" "$tracetta" info session/one <<'TEXT'
format    ctf 1.8, 4 packets in 2 streams
events    5
lost      7 events in 2 places, by the trace's own account
trace     here, uuid 11223344-5566-7788-99aa-bbccddeeff00
clock     beat, 1,000 ticks/s, tick 0 = 2023-11-14T22:13:20.000000000Z, precise to 9 ticks, "The beat", uuid 00112233-4455-6677-8899-aabbccddeeff
env       hostname = "here"
          tracer_major = 7
classes   3, 2 with events (--classes shows their fields)
               4  p:two
               1  p:one
TEXT

[ "$(grep -c 'missing' "$work/.err")" = 1 ] && grep -q 'one: warning: 7 events missing in 2 streams$' "$work/.err"
verdict "missing_events_are_reported_once_per_trace" $? "see stderr"
lines "verbose_lists_streams_and_all_classes" "$tracetta" info -v session/one <<'TEXT'
streams   2
  a, class 0, id 0: 3 events in 2 packets, 2023-11-14T22:13:20.010000000Z to 2023-11-14T22:13:20.024000000Z, 3 lost in 1 place
  b, class 0, id 1: 2 events in 2 packets, 2023-11-14T22:13:20.015000000Z to 2023-11-14T22:13:20.031000000Z, 4 lost in 1 place
classes   3, 2 with events
               4  p:two  id 2, stream class 0
               1  p:one  id 1, stream class 0, log level 4
               0  p:never  id 3, stream class 0
TEXT
lines "classes_are_shown_with_their_fields" "$tracetta" info --classes session/one <<'TEXT'
stream class 0
  packet   content_size: u8
           timestamp_end: u8
  header   id: u8
           timestamp: u8
  common   vpid: u8
p:one  id 1, log level 4, 1 event
  context  nice: u8
  payload  state: u8 enum {OFF = 0, ON = 1..3}
           n: u8
           data: [n] u8
           what: one of these, by state
             OFF (0): string
             ON (1..3): u8
p:two  id 2, 4 events
TEXT
mkdir timeless && printf '/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; signed = false; } := u8; trace { major = 1; minor = 8; byte_order = le; };
stream { event.header := struct { u8 id; }; }; event { name = e; id = 0; fields := struct { u8 _n; u8 _data[_n]; }; };' >timeless/metadata && printf '\0\0\0\0' >timeless/a
run "$tracetta" info timeless
[ $run_status = 0 ] && grep -q '^times     none' "$work/.out" && ! grep -qE '^(begin|threads)|providers' "$work/.out"
verdict "absent_figures_are_not_shown_as_zero" $? "exit status $run_status"
says "lengths_are_named_as_the_fields_are" '^ +data: \[n\] u8$' "$tracetta" info --classes timeless
json "json_has_the_trace_as_a_whole" "len(it['traces']) == 1 and it['traces'][0]['environment'] == {'hostname': 'here', 'tracer_major': 7} \
and [s['lost'] for s in it['traces'][0]['streams']] == [3, 4] and it['traces'][0]['lost'] == 7 and it['traces'][0]['packets'] == 4 \
and it['traces'][0]['end_ns'] == 1700000000031000000 and len(it['clocks']) == 1 and it['clocks'][0]['precision'] == 9 \
and [(c['name'], c['events']) for c in it['traces'][0]['classes']] == [('p:one', 1), ('p:two', 4), ('p:never', 0)] \
and 'fields' not in it['traces'][0]['classes'][0]" "$tracetta" info --json session/one
json "and_the_fields_when_asked" "[f['name'] for f in it['traces'][0]['classes'][0]['fields'] if f['group'] == 'payload'] == ['state', 'n', 'data', '', 'what', 'OFF', 'ON'] \
and it['traces'][0]['classes'][0]['fields'][-7]['labels'] == [{'name': 'OFF', 'low': 0, 'high': 0}, {'name': 'ON', 'low': 1, 'high': 3}] \
and it['traces'][0]['classes'][0]['fields'][-5]['length'] == {'group': 'payload', 'path': ['n']} \
and it['traces'][0]['classes'][0]['fields'][-1]['when'] == [{'low': 1, 'high': 3}]" "$tracetta" info --json --classes session/one

make session/two/deep
sed -i 's/11223344-5566/21223344-5566/' session/two/deep/metadata # else it were a part of the same trace
lines "several_traces_get_a_section_each" "$tracetta" info session <<TEXT
format    ctf 1.8, 2 traces, 8 packets in 4 streams
events    10
session/one
  events    5
  begin     2023-11-14T22:13:20.010000000Z
  end       2023-11-14T22:13:20.031000000Z
  lost      7 events in 2 places, by the trace's own account
  classes   3, 2 with events (--classes shows their fields)
session/two/deep
  events    5
TEXT
json "and_an_object_each" "[t['events'] for t in it['traces']] == [5, 5] and it['events'] == 10" "$tracetta" info --json session
json "metadata_in_another_language_is_for_programs" "it['type'] == 'preamble' and it['version'] == 2" \
    bash -c "'$tracetta' info --metadata=ctf2 session/one | head -n 1 | tr -d '\036'"
mkdir wide
{ sed '/^event {/,$d' session/one/metadata; for ((i = 0; i < 300; i++)); do
    echo "event { name = \"a_name_that_takes_some_room_$i\"; id = $i; fields := struct { u8 first; u8 second; }; };"; done; } |
    sed 's/u8 id; time8/integer { size = 16; } id; time8/' >wide/metadata
if [ -w /dev/full ]; then
    refuses "why_metadata_was_not_written_is_reported_once" 4 "^tracetta: standard output: cannot write \\(free some space or write elsewhere\\): No space left on device$" \
        bash -c "'$tracetta' info --metadata=ctf2 wide >/dev/full"
    [ "$(wc -l <.err)" = 1 ]
    verdict "and_in_one_line" $? "$(cat .err)"
fi
run bash -c "'$tracetta' info --metadata=ctf2 wide | head -n 1; exit \${PIPESTATUS[0]}"
[ $run_status = 0 ] && [ ! -s .err ]
verdict "metadata_output_closed_early_is_not_a_failure" $? "exit status $run_status"
refuses "metadata_is_of_one_trace" 2 "for one trace: \"session\" holds 2" "$tracetta" info --metadata=ctf2 session
refuses "and_alone" 2 "leave out --json" "$tracetta" info --json --metadata=ctf2 session/one
"$tracetta" convert -q --to=ctf --option=version=1.1 session/one -o old
run "$tracetta" info --metadata=ctf2 old
[ $run_status = 0 ] && grep -q 'for people' "$work/.err" && grep -q '"data_length".*"length-field-location":{"path":\["data_length"\]}' "$work/.out"
verdict "metadata_of_version_1_1_are_shown_in_ctf_2_with_a_word_on_it" $? "exit status $run_status"
mkdir shown && cp "$work/.out" shown/metadata
says "which_readers_of_ctf_2_understand" '^p:one +id 1, log level 4, 0 events' "$tracetta" info --classes shown
refuses "a_language_that_cannot_say_it_is_reported" 3 "session/one: RFC v1.1 has no" "$tracetta" info --metadata=ctf1.1 session/one

# Lines: the folder of a trace stands for its files, and only where there are several.
run "$tracetta" cat session/one
[ $run_status = 0 ] && ! grep -q 'source=' "$work/.out" && grep -q ' gap .* dur=0.013000000 lost=3$' "$work/.out"
verdict "lines_of_one_trace_do_not_say_where_they_are_from" $? "exit status $run_status"
says "those_of_several_name_the_folder" ' p:two .* source=session/two/deep( |$)' "$tracetta" cat session
says "also_for_programs" '"source":"session/one",' "$tracetta" cat --format=jsonl session
says "gaps_have_a_duration_and_a_count" '"kind":"gap",.*"dur_ns":16000000,"id":4,' "$tracetta" cat --format=jsonl session

# At one time the trace with the lower uuid comes first, wherever it lies.
sed -i 's/uuid = "21/uuid = "01/' session/two/deep/metadata
run "$tracetta" cat --limit=1 session
[ $run_status = 0 ] && grep -q 'source=session/two/deep' "$work/.out"
verdict "traces_of_one_time_are_in_the_order_of_their_uuids" $? "exit status $run_status"
run "$tracetta" cat --style=babeltrace2 --fields=trace --limit=1 --clock-gmt session
[ $run_status = 0 ] && grep -Fq 'here/two/deepp:one: ' "$work/.out"
verdict "their_names_are_those_of_host_and_folder_in_the_style_of_babeltrace2" $? "exit status $run_status"

sed -i 's/name = "p:one"/name = "q:one"/' session/two/deep/metadata
run bash -c "'$tracetta' cat --style=babeltrace2 session/one session/two/deep >forth; '$tracetta' cat --style=babeltrace2 session/two/deep session/one >back; cmp forth back"
grep -m1 -q q:one back && [ $run_status = 0 ]
verdict "in_whatever_order_they_are_named" $? "exit status $run_status"
sed -i 's/name = "q:one"/name = "p:one"/' session/two/deep/metadata

# Streams are active from 10 to 25 ms and from 14 to 32 ms.
run "$tracetta" cat --option=text.time=ns --stream-intersection --kind=instant session/one
[ $run_status = 0 ] && [ "$(grep -o '^[^]]*' "$work/.out" | tr -d '\n')" = '[1700000000015000000[1700000000024000000' ]
verdict "only_the_time_in_which_all_streams_are_active" $? "exit status $run_status"
says "clock_offsets_move_it_too" '"time_ns":1700000001015000000,' "$tracetta" cat --format=jsonl --stream-intersection --clock-offset=1 session/one
says "statistics_can_be_of_that_time" '^ *2 .*p:two|p:two .* 2( |$)' "$tracetta" stat --stream-intersection session/one
run "$tracetta" recover --option=stream-intersection=yes session/one -o between
[ $run_status = 0 ] && grep -q 'kept 2 events; 0 damaged' "$work/.err" && grep -q 'between: verified, clean' "$work/.err"
verdict "recover_keeps_that_time_and_its_copy_is_clean" $? "exit status $run_status, $(cat "$work/.err")"
cp -r session/one apart && printf '\110\110\0\2\140\142''\2\141\5' >apart/b
cp -r session/one late && sed -i 's/tracer_major = 7;/tracer_name = "lttng-ust"; tracer_major = 2; tracer_minor = 10;/' late/metadata
printf '\200\200\0\1\12\14''\1\12\5\24\1\0\11''\2\13\5''\110\110\3\1\27\27''\2\30\5' >late/a # the last event is later than its packet
run "$tracetta" cat --option=text.time=ns --stream-intersection --kind=instant late
[ $run_status = 0 ] && [ "$(grep -o '^[^]]*' "$work/.out" | tr -d '\n')" = '[1700000000015000000[1700000000024000000' ]
verdict "a_stream_whose_packets_are_known_to_end_too_early_ends_with_its_last_event" $? "exit status $run_status"
printf '\110\110\0\1\26\0''\2\30\5' >late/a # a crash left the packet's end at 0
sed -i 's/tracer_minor = 10;/tracer_minor = 13;/' late/metadata
run "$tracetta" cat --option=text.time=ns --stream-intersection --kind=instant late
[ $run_status = 0 ] && [ "$(grep -o '^[^]]*' "$work/.out" | tr -d '\n')" = '[1700000000024000000' ]
verdict "so_does_one_whose_last_packet_a_crash_left_open" $? "exit status $run_status: $(cut -c 1-60 "$work/.out")"
refuses "streams_that_never_meet_have_no_such_time" 3 "apart: all 2 streams are never active at the same time" "$tracetta" cat --stream-intersection apart
mkdir lonely && cp session/one/metadata lonely
refuses "nor_has_a_trace_without_streams" 3 "lonely: cannot intersect streams" "$tracetta" cat --stream-intersection lonely
run "$tracetta" convert --quiet session/one -o other.fxt && run "$tracetta" cat --stream-intersection other.fxt
[ $run_status = 0 ] && [ -s "$work/.out" ] && grep -q 'other.fxt: warning: --stream-intersection is for ctf' "$work/.err"
verdict "traces_of_other_formats_are_read_whole_with_a_warning" $? "exit status $run_status"
refuses "nor_a_live_one" 2 "not known before its end" "$tracetta" cat --stream-intersection net://127.0.0.1:1/host/here/session
cp session/one/a lonely && run "$tracetta" cat --stream-intersection lonely
[ $run_status = 0 ] && [ "$(grep -c instant "$work/.out")" = 3 ]
verdict "all_of_a_single_stream_is_in_it" $? "exit status $run_status"

# The style of babeltrace2: what is missing on stderr, nothing else of it there.
cat >"$work/told" <<TEXT
WARNING: Tracer discarded 3 events between [22:13:20.012000000] and [22:13:20.025000000] in trace "here" (UUID: 11223344-5566-7788-99aa-bbccddeeff00) within stream "$PWD/session/one/a" (stream class ID: 0, stream ID: 0).
WARNING: Tracer discarded 4 events between [22:13:20.016000000] and [22:13:20.032000000] in trace "here" (UUID: 11223344-5566-7788-99aa-bbccddeeff00) within stream "$PWD/session/one/b" (stream class ID: 0, stream ID: 1).
TEXT
run "$tracetta" cat --style=babeltrace2 --clock-gmt session/./two/../one/
[ $run_status = 0 ] && [ "$(wc -l <"$work/.out")" = 5 ] && cmp "$work/told" "$work/.err"
verdict "missing_events_are_reported_as_babeltrace2_does" $? "exit status $run_status"

# Where one packet tells both, missing events come before missing packets, as there.
mkdir both
{
    printf '/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; } := u8;\nclock { name = c; };\n'
    printf 'typealias integer { size = 8; align = 8; map = clock.c.value; } := time;\ntrace { major = 1; minor = 8; byte_order = le; };\n'
    printf 'stream { packet.context := struct { time timestamp_begin; time timestamp_end; u8 content_size; u8 packet_size; u8 packet_seq_num; u8 events_discarded; };\n'
    printf 'event.header := struct { time timestamp; }; };\nevent { name = e; };\n'
} >both/metadata
printf '\1\5\70\70\0\0\3''\12\14\70\70\3\4\13' >both/s
run "$tracetta" cat --style=babeltrace2 --clock-gmt both
[ $run_status = 0 ] && [ "$(grep -o 'discarded [0-9]* [a-z]*' "$work/.err" | tr '\n' ,)" = 'discarded 4 events,discarded 2 packets,' ]
verdict "missing_events_are_reported_before_missing_packets_of_the_same_place" $? "exit status $run_status"

run bash -c "'$tracetta' cat --style=babeltrace2 --names=arg session/one >short; '$tracetta' cat --style=babeltrace2 --names=payload --clock-force-correlate session/one >long; cmp short long"
[ $run_status = 0 ] && [ "$(wc -l <long)" = 5 ]
verdict "words_and_options_that_mean_nothing_new_are_taken" $? "exit status $run_status"

mkdir later && cp session/one/[ab] later && "$tracetta" info --metadata=ctf2 session/one >later/metadata 2>/dev/null
sed -i 's/"type": *"trace-class"/&, "name": "given", "uid": "that one"/' later/metadata
run "$tracetta" cat --style=babeltrace2 later
[ $run_status = 0 ] && [ "$(grep -c ' in trace "here" (UID: that one) within ' "$work/.err")" = 2 ]
verdict "of_ctf_2_by_the_uid_of_its_trace_and_the_name_of_its_host" $? "exit status $run_status"

says "info_reports_it_with_the_uuid" '^trace     given, uuid 11223344-5566-7788-99aa-bbccddeeff00, uid that one$' "$tracetta" info later
json "so_does_its_json" "it['traces'][0]['uid'] == 'that one' and it['traces'][0]['uuid'][:8] == '11223344'" "$tracetta" info --json later

mkdir halved # a text of two and a half characters
{
    printf '\036{"type":"preamble","version":2}\n\036{"type":"data-stream-class"}\n\036{"type":"event-record-class","name":"e","payload-field-class":'
    printf '{"type":"structure","member-classes":[{"name":"n","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"big-endian"}},'
    printf '{"name":"t","field-class":{"type":"dynamic-length-string","encoding":"utf-16le","length-field-location":{"path":["n"]}}}]}}\n'
} >halved/metadata
printf '\4a\0b\0\5c\0d\0e' >halved/s
says "texts_that_end_inside_a_character_are_reported_where_their_event_begins" 'odd ctf.odd-length x1, first at byte 5: a text of wide characters in an event of s ends inside one' "$tracetta" check halved

# A trace merged with itself: both are there again, the second one under another uuid; parts that follow each other stay one trace.
for how in --option=ctf.version=1.8 --option=ctf.version=2 --option=ctf.byte-order=be; do
    rm -rf twice && run "$tracetta" merge --to=ctf "$how" session/one session/one -o twice
    [ $run_status = 0 ] && grep -q 'changed  *1  UUIDs of traces .*trace.uuid' "$work/.err" && [ "$("$tracetta" check twice | grep -c 'whole .*10 events')" = 1 ] &&
        [ "$("$tracetta" info twice | grep -o '^ *trace .*uuid [0-9a-f-]*' | sort -u | wc -l)" = 2 ]
    verdict "a_trace_merged_with_itself_is_read_twice:$how" $? "exit status $run_status"
done

# The same of traces that have no uuid, of which each is given one.
rm -rf nameless && cp -r session/one nameless && sed -i 's/ uuid = "[^"]*";//' nameless/metadata
for how in --option=ctf.version=1.8 --option=ctf.version=2 --option=ctf.version=1.1; do
    rm -rf twice && run "$tracetta" merge --to=ctf "$how" nameless nameless nameless -o twice
    [ $run_status = 0 ] && [ "$("$tracetta" cat twice 2>/dev/null | wc -l)" = "$((3 * $("$tracetta" cat nameless 2>/dev/null | wc -l)))" ] &&
        [ "$("$tracetta" info twice | grep -o '^ *trace .*uuid [0-9a-f-]*' | sort -u | wc -l)" = 3 ]
    verdict "traces_without_a_uuid_get_one_each:$how" $? "exit status $run_status: $("$tracetta" info twice | grep -o '^ *trace .*uuid [0-9a-f-]*')"
done

# Events that begin inside a byte, in the byte order of CTF 2's numbers, and the others taken out.
number() { printf '{"name":"%s","field-class":{"type":"fixed-length-unsigned-integer","length":%s,"byte-order":"big-endian"%s}}' "$@"; }
mkdir halfway && {
    printf '\036{"type":"preamble","version":2}\n\036{"type":"data-stream-class","packet-context-field-class":{"type":"structure","member-classes":[%s,%s]},' \
        "$(number t 32 ',"roles":["packet-total-length"]')" "$(number c 32 ',"roles":["packet-content-length"]')"
    printf '"event-record-header-field-class":{"type":"structure","member-classes":[%s]}}\n' "$(number i 5 ',"roles":["event-record-class-id"]')"
    for id in 0 1; do
        printf '\036{"type":"event-record-class","id":%s,"name":"n%s","payload-field-class":{"type":"structure","member-classes":[%s]}}\n' $id $id "$(number x 6 '')"
    done
} >halfway/metadata
printf '\0\0\0\160''\0\0\0\154\0\41\10\1\204\100' >halfway/s
run "$tracetta" convert --quiet --to=ctf --name=n1 halfway -o whole && run "$tracetta" cat --format=jsonl whole
[ $run_status = 0 ] && [ "$(grep -o '"x":[0-9]*' "$work/.out" | tr '\n' ' ')" = '"x":2 "x":4 ' ]
verdict "events_inside_bytes_are_kept_in_their_own_byte_order" $? "exit status $run_status"

# Names of more values than version 1.1 can list.
sed 's/"length":6,/&"mappings":{"few":[[2,2]],"all":[[0,18446744073709551615]]},/' halfway/metadata >halfway/many && mv halfway/many halfway/metadata
run "$tracetta" convert --to=ctf --option=ctf.version=1.1 halfway -o listed
[ $run_status = 0 ] && grep -q 'dropped  *4 .*field.label' "$work/.err" && [ "$("$tracetta" cat --format=jsonl listed | grep -o '"x":[0-9]*' | tr '\n' ' ')" = '"x":1 "x":2 "x":3 "x":4 ' ]
verdict "names_of_too_many_values_are_left_out_of_version_1.1" $? "exit status $run_status"

# As many names as the source itself lists are no fewer there; two classes that have them all have them once.
mkdir names && printf '\0\376\377\0\0''\1\157\21\1\0' >names/s && {
    printf '/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; } := u8;\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { event.header := struct { u8 id; }; };\n'
    printf 'enum names : integer { size = 32; align = 8; } { '
    seq 0 69999 | sed 's/.*/L&,/' | tr '\n' ' '
    printf '};\nevent { name = one; id = 0; fields := struct { enum names x; }; };\nevent { name = two; id = 1; fields := struct { enum names x; }; };\n'
} >names/metadata
for how in ctf.byte-order=be ctf.version=2 ctf.version=1.1; do
    rm -rf listed again && run "$tracetta" convert --to=ctf "--option=$how" names -o listed && run "$tracetta" convert --to=ctf --option=ctf.byte-order=be listed -o again
    seen=$(for each in listed again; do "$tracetta" cat --style=babeltrace2 $each | grep -o '"L[0-9]*"'; tr ',' '\n' <$each/metadata | grep -a -c L69998; done)
    [ $run_status = 0 ] && [ "$(echo $seen)" = '"L65534" "L69999" 1 "L65534" "L69999" 1' ]
    verdict "many_names_stay_and_are_said_once:$how" $? "exit status $run_status: $(tr ',' '\n' <listed/metadata | grep -a -c L69998) times"
done

# Threads that get other names, in a recording without times: each event has the name of then, however packets are cut.
{
    printf '%s\n' 'str "PERFILE2" u64le 16' 'u32le 64 u16le 0 u16le 80' \
        'u32le 1 u32le 64 u64le 0 u64le 1000 u64le 3 u64le 0 u64le 0x100000 u32le 0 u32le 0 u64le 0' 'u64le 7'
    for name in one- two- one- last; do
        printf 'u32le 3 u16le 0 u16le 24 u32le 10 u32le 10 str "%s" u32le 0\n' $name
        printf 'u32le 9 u16le 1 u16le 24 u64le 0x%s u32le 10 u32le 10\n' 1000 2000 3000
    done
} >called.hexa
"$hexa_cat" called.hexa >called.data
"$tracetta" cat --format=jsonl called.data | grep -o '"thread":"[a-z]*-*"' >called.then
[ "$(uniq -c called.then | tr -s ' \n' ' ')" = ' 4 "thread":"one-" 4 "thread":"two-" 4 "thread":"one-" 4 "thread":"last" ' ]
verdict "a_recording_reports_the_names_of_then" $? "$(uniq -c called.then)"
for how in '' '--option=ctf.packet-size=300' '--option=ctf.version=2' '--option=ctf.version=1.1'; do
    # shellcheck disable=SC2086
    rm -rf called && run "$tracetta" convert --quiet --to=ctf $how called.data -o called
    "$tracetta" cat --format=jsonl called | grep -o '"thread":"[a-z]*-*"' >called.now
    cmp -s called.then called.now
    verdict "so_does_its_ctf:$how" $? "$(uniq -c called.now)"
done

# Elements that are not there, whose number is reported by another field.
number() { printf '{"name":"%s","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"big-endian","alignment":8}}' "$@"; }
mkdir gone && printf '\0\2\11''\1\2\5\6\7' >gone/s && {
    printf '\036{"type":"preamble","version":2}\n\036{"type":"data-stream-class"}\n\036{"type":"event-record-class","name":"e","payload-field-class":{"type":"structure","member-classes":['
    printf '%s,%s,{"name":"a","field-class":{"type":"dynamic-length-array","length-field-location":{"path":["n"]},"element-field-class":{"type":"optional",' "$(number s)" "$(number n)"
    printf '"selector-field-location":{"path":["s"]},"selector-field-ranges":[[1,1]],"field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"big-endian"}}}},%s]}}\n' "$(number z)"
} >gone/metadata
for how in ctf.byte-order=be ctf.version=1.1; do
    rm -rf left && run "$tracetta" convert --quiet --to=ctf --option=$how gone -o left && run "$tracetta" cat --format=jsonl left
    [ $run_status = 0 ] && [ "$(grep -o '"a":.*"z":[0-9]*' "$work/.out" | tr '\n' ' ')" = '"a":[],"z":9 "a":[5,6],"z":7 ' ]
    verdict "elements_that_are_not_there_are_not_counted:$how" $? "exit status $run_status"
done

# Elements that take no room, in the context of all events and after a number that ends inside a byte.
mkdir hollow && printf '\2\5\7\0\3\6' >hollow/s
cat >hollow/metadata <<'TSDL'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream { event.context := struct { struct { } a[2]; u8 k; struct { } b[k]; }; };
event { name = e; fields := struct { integer { size = 3; align = 1; } n; u8 x[0]; u8 y; }; };
TSDL
for how in ctf.byte-order=be ctf.version=2 ctf.version=1.1; do
    rm -rf there && run "$tracetta" convert --quiet --to=ctf --option=$how hollow -o there
    [ $run_status = 0 ] && [ "$("$tracetta" cat --format=jsonl there | grep -o '"n":.*' | tr '\n' ' ')" = '"n":5,"x":[],"y":7},"context":{"a":[{},{}],"k":2,"b":[{},{}]}} "n":3,"x":[],"y":6},"context":{"a":[{},{}],"k":0,"b":[]}} ' ]
    verdict "elements_that_take_no_room_are_reencoded:$how" $? "exit status $run_status: $("$tracetta" cat --format=jsonl there 2>&1 | tail -n 2)"
done

# A file of a trace that cannot be read.  Root can read all, so somebody else looks.
cp -r session/one barred && chmod 0 barred/a && chmod a+rx "$work" && chmod -R a+rX session
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
[ "$(id -u)" = 0 ] || nobody=()
if "${nobody[@]}" "$tracetta" info session/one >/dev/null 2>&1 && ! "${nobody[@]}" cat barred/a >/dev/null 2>&1; then
    run "${nobody[@]}" "$tracetta" cat barred
    [ $run_status = 1 ] && [ "$(grep -c instant "$work/.out")" = 2 ] && grep -q 'barred: warning: cannot open .*barred/a .*: Permission denied' "$work/.err"
    verdict "a_file_that_cannot_be_read_does_not_keep_others_of_its_trace_from_being" $? "exit status $run_status"
    run "${nobody[@]}" "$tracetta" check barred
    [ $run_status = 1 ] && grep -q 'damage ctf.unreadable x1 in 1 stream: .*cannot open .*barred/a ' "$work/.out"
    verdict "check_reports_it_too" $? "exit status $run_status"
    refuses "with_strict_that_ends_the_command" 3 "cannot open .*barred/a .*Permission denied" "${nobody[@]}" "$tracetta" cat --strict barred
    chmod 0 barred/b
    mkdir among && cp -r session/one among/a && cp -r session/one among/b && chmod 0 among/b/metadata
    run "${nobody[@]}" "$tracetta" cat among
    [ $run_status = 1 ] && [ "$(grep -c instant "$work/.out")" = "$("$tracetta" cat session/one | grep -c instant)" ] &&
        grep -q 'among/b/metadata is not to be read (permission denied)' "$work/.err"
    verdict "metadata_that_cannot_be_read_do_not_keep_other_traces_from_being" $? "exit status $run_status"
    refuses "with_strict_they_end_the_command" 3 "cannot open .*among/b/metadata .*Permission denied" "${nobody[@]}" "$tracetta" cat --strict among
    chmod 0 among/a/metadata
    refuses "only_unreadable_traces_are_reported" 3 "among/a/metadata is not to be read" "${nobody[@]}" "$tracetta" cat among
    chmod -R u+rw among && chmod 644 among/b
    refuses "folder_with_inaccessible_files_is_not_treated_as_empty" 3 "cannot look at .*among/b/.*Permission denied" "${nobody[@]}" "$tracetta" cat among/b
    chmod 755 among/b
    refuses "where_no_file_can_be_read_that_is_an_error" 3 "cannot open .*barred/a .*Permission denied" "${nobody[@]}" "$tracetta" cat barred
fi

# A trace among others that cannot be read.
make session/bad && sed -i 's/major = 1/major = 2/' session/bad/metadata
run "$tracetta" cat session
[ $run_status = 1 ] && [ "$(grep -c instant "$work/.out")" = 10 ] && grep -q 'warning: this trace cannot be read: session/bad/metadata:4:.*declares major = 2' "$work/.err"
verdict "a_trace_that_cannot_be_read_does_not_keep_others_from_being" $? "exit status $run_status"
run "$tracetta" check session
[ $run_status = 1 ] && grep -q '^  session/bad$' "$work/.out" && grep -q '^  damage trace.unreadable x1: session/bad/metadata:4:' "$work/.out"
verdict "check_finds_it_damaged" $? "exit status $run_status"
"$tracetta" convert --quiet --to=ctf session -o there --overwrite >/dev/null 2>&1
[ "$(find there -name metadata | wc -l)" = "$(($(find session -name metadata | wc -l) - 1))" ] && [ -z "$(find there -name metadata -empty)" ]
verdict "nothing_is_written_in_the_place_of_a_trace_that_cannot_be_read" $? "$(find there)"
rm -rf there
refuses "with_strict_it_ends_the_command" 1 "session/bad/metadata:4:[0-9]*: the trace declares major = 2" "$tracetta" cat --strict session
mkdir bad && cp -r session/bad bad/a && cp -r session/bad bad/b
refuses "where_all_are_such_that_is_an_error" 3 "bad/a/metadata:4:[0-9]*: the trace declares major = 2" "$tracetta" cat bad
run "$tracetta" info session/bad
[ $run_status = 3 ] && tail -n 2 "$work/.err" | tr '\n' '|' | grep -qE '^  .*major = 2.*\| +\^\|$' && ! grep -q '\\x0a' "$work/.err"
verdict "the_line_of_metadata_and_a_caret_are_below_the_reason" $? "$(cat "$work/.err")"
name=$'a\n  steered\n^'
mkdir "$name" && echo nothing >"$name/metadata"
refuses "no_other_line_break_is_one" 3 'a\\x0a  steered\\x0a' "$tracetta" info "$name"
rm -r session/bad "$name"
# The same where it is the only one of its format, or where nobody may look, and with a link or a FIFO in the place of its metadata.
mkdir motley && make motley/bad && sed -i 's/major = 1/major = /' motley/bad/metadata && cp other.fxt motley
run "$tracetta" check motley
[ $run_status = 1 ] && grep -q '^  motley/bad$' "$work/.out" && grep -q 'trace.unreadable x1.*motley/bad/metadata:4:' "$work/.out"
verdict "the_only_trace_of_a_format_does_not_keep_others_from_being_read" $? "exit status $run_status"
run "$tracetta" recover motley -o found.motley
[ $run_status = 1 ] && [ "$(ls found.motley)" = other.fxt ] && grep -q 'motley: 1 of its traces could not be recovered' "$work/.err"
verdict "the_others_are_recovered" $? "exit status $run_status"
for change in 'ln -s nowhere' 'ln -s metadata' mkfifo; do
    rm motley/bad/metadata && $change motley/bad/metadata
    run timeout 20 "$tracetta" check motley
    [ $run_status = 1 ] && grep -qE 'directory.bad-main-file x1.*motley/bad/metadata is a (link that leads nowhere|FIFO)' "$work/.out"
    verdict "metadata_that_are_no_file_are_reported_after_${change// /_}" $? "exit status $run_status"
done
rm -r motley found.motley
if "${nobody[@]}" "$tracetta" info session/one >/dev/null 2>&1; then
    for mode in 0 644; do
        cp -r session/one session/shut && chmod $mode session/shut
        run "${nobody[@]}" "$tracetta" cat session
        chmod 755 session/shut
        [ $run_status = 1 ] && [ "$(grep -c instant "$work/.out")" = 10 ] && grep -q 'warning: this trace cannot be read: cannot look .*session/shut' "$work/.err"
        verdict "unreadable_folder_does_not_keep_others_from_being_read:$mode" $? "exit status $run_status"
        rm -r session/shut
    done
fi

# A trace among others whose tracer was killed before it wrote metadata.
make session/killed && : >session/killed/metadata
run "$tracetta" cat session
[ $run_status = 1 ] && [ "$(grep -c instant "$work/.out")" = 10 ] && ! grep -q 'damaged place' "$work/.err" &&
    grep -q 'warning: session/killed/metadata is empty (a tracer that still records may not have written it yet), so that the files beside it cannot be read: put a whole copy of it there' "$work/.err"
verdict "an_empty_metadata_file_is_reported" $? "exit status $run_status"
run "$tracetta" check session
[ $run_status = 1 ] && grep -q '^  damage directory.bad-main-file x1.*session/killed' "$work/.out"
verdict "check_finds_that_too" $? "exit status $run_status"
cp -r session/killed session/slain
run "$tracetta" check session
[ $run_status = 1 ] && [ "$(grep -A 2 '^  session/killed$' "$work/.out" | grep -c 'directory.bad-main-file x1.*session/killed/')" = 1 ] &&
    [ "$(grep -A 2 '^  session/slain$' "$work/.out" | grep -c 'directory.bad-main-file x1.*session/slain/')" = 1 ] && [ "$(grep -c 'damage directory.bad-main-file' "$work/.out")" = 2 ]
verdict "each_such_folder_is_reported_in_its_own_place" $? "exit status $run_status"
"$tracetta" convert --quiet --to=ctf session -o there --overwrite >/dev/null 2>&1
[ -n "$(ls there)" ] && [ ! -e there/killed ] && [ ! -e there/slain ]
verdict "and_nothing_is_written_for_it" $? "$(find there)"
rm -rf there session/slain
refuses "alone_it_is_an_error" 3 'session/killed/metadata is empty' "$tracetta" info session/killed
refuses "with_strict_that_damage_ends_the_command" 1 'session/killed/metadata is empty' "$tracetta" cat --strict session
# So is one that is lost, or that a dying machine left as zeros, where the files beside it say what they are.
make session/killed
for file in session/killed/[ab]; do printf '\301\037\374\301' | cat - "$file" >"$work/magic" && cp "$work/magic" "$file"; done
for change in 'rm session/killed/metadata' 'head -c 512 /dev/zero >session/killed/metadata'; do
    eval "$change"
    run "$tracetta" check session
    [ $run_status = 1 ] && grep -q '^  damage directory.bad-main-file x1.*session/killed/metadata is' "$work/.out"
    verdict "metadata_that_tell_nothing_are_damage_after_$change" $? "exit status $run_status"
done
refuses "alone_that_is_an_error_too" 3 'session/killed/metadata is full of zeros' "$tracetta" info session/killed
rm session/killed/metadata
refuses "and_so_are_files_without_any" 3 'session/killed/metadata is missing, so that the files beside it cannot be read: .*--option=ctf.metadata=FILE' "$tracetta" info session/killed
rm -r session/killed

# Metadata of another place: where those of the trace are lost, or are none.
make lost && cp lost/metadata whole.metadata
for change in 'rm lost/metadata' ': >lost/metadata' 'echo none >lost/metadata'; do
    eval "$change"
    run "$tracetta" cat --metadata=whole.metadata lost
    [ $run_status = 0 ] && [ "$(grep -c instant "$work/.out")" = 5 ] && ! grep -q damaged "$work/.err"
    verdict "metadata_of_another_place_are_read_after_$change" $? "exit status $run_status"
done
rm lost/metadata
succeeds "check_reads_them_too" "$tracetta" check --metadata whole.metadata lost
run "$tracetta" recover --quiet --metadata=whole.metadata lost -o found
[ $run_status = 0 ] && cmp lost/a found/a && cmp whole.metadata found/metadata
verdict "and_recover_puts_them_there" $? "exit status $run_status"
refuses "metadata_that_are_not_there_are_reported" 3 "cannot open nowhere" "$tracetta" cat --metadata=nowhere lost
mkdir above && cp -r lost above/lost && : >above/lost/metadata
refuses "a_folder_of_folders_is_no_trace_because_of_them" 3 "above has no trace" bash -c "rm above/lost/metadata above/lost/[ab]; '$tracetta' cat --metadata=whole.metadata above"
run "$tracetta" cat --metadata=whole.metadata other.fxt
[ $run_status = 0 ] && [ -s "$work/.out" ] && grep -q 'other.fxt: warning: --metadata is for ctf: this trace is read as it is' "$work/.err"
verdict "metadata_mean_nothing_to_other_formats" $? "exit status $run_status"
for words in 'cat --metadata=session/one/metadata session' 'stat --metadata=session/one/metadata session/one session/two' 'cat --option=ctf.metadata=session/one/metadata session'; do
    # shellcheck disable=SC2086 # words of a command
    run "$tracetta" $words
    grep -q 'warning: these metadata are read in place of those of each of several traces: name one trace' "$work/.err"
    verdict "metadata_that_represent_several_traces_are_reported_after_${words%% *}" $? "exit status $run_status, $words"
done
run "$tracetta" cat --metadata=session/one/metadata session/one
[ $run_status = 0 ] && ! grep -q 'these metadata' "$work/.err"
verdict "for_one_trace_there_is_nothing_to_tell" $? "exit status $run_status"

# The name of a trace of CTF 2 is its own; babeltrace2 calls it as traces of CTF 1.8.
mkdir named && printf 'x' >named/s
printf '\036{"type":"preamble","version":2}\036{"type":"trace-class","name":"own","environment":{"hostname":"box"}}\036{"type":"data-stream-class"}\036{"type":"event-record-class","name":"e","payload-field-class":{"type":"structure","member-classes":[{"name":"x","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"}}]}}' >named/metadata
says "a_trace_of_ctf_2_has_its_own_name" '^trace +own$' "$tracetta" info named
says "babeltrace2_names_it_by_its_host" '^box e: \{ x = 120 \}$|^boxe: \{ x = 120 \}$' "$tracetta" cat --style=babeltrace2 --fields=trace named

# Metadata without any stream, as CTF 2.
mkdir bare && printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n' >bare/metadata
says "ctf_2_has_a_data_stream_class_at_least" '^.{"type":"data-stream-class"}$' "$tracetta" info --metadata=ctf2 bare

# Damage: in one stream of one trace.
printf '\377\377' | dd of=session/one/b bs=1 seek=6 conv=notrunc status=none
run "$tracetta" check session/one
[ $run_status = 1 ] && grep -q '2 files' "$work/.out" && grep -qE '^  damage ctf\.[a-z-]+ x1 in 1 stream, first at byte' "$work/.out" && grep -q 'session/one/b$' "$work/.out"
verdict "check_puts_the_streams_of_a_trace_together" $? "exit status $run_status"

# Several traces: in the order of their paths, not of their uuids, and what is noted of one says of which.
for i in 1 2 3; do
    mkdir -p "several/$i" && printf 'x' >"several/$i/s"
    printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; uuid = "%d0000000-0000-0000-0000-000000000000"; };\nevent { name = "e"; fields := struct { integer { size = 8; align = 8; } x; }; %s };\n' \
        $((4 - i)) "$([ $i != 2 ] || echo 'colour = 1;')" >"several/$i/metadata"
done
"$tracetta" info several >several.out
[ "$(grep -x 'several/[123]' several.out | tr '\n' ' ')" = 'several/1 several/2 several/3 ' ]
verdict "info_lists_traces_in_the_order_of_their_paths" $? "$(cat several.out)"
"$tracetta" info --json several >several.out
[ "$(grep -o '"path": "several/[123]",' several.out | tr -dc 123)" = 123 ]
verdict "in_json_too" $? "$(cat several.out)"
"$tracetta" info several >several.out
[ "$(grep -A2 '^notes$' several.out | sed -n 2p)" = '  several/2' ] && grep -A2 '^notes$' several.out | grep -q '^  odd ctf.unknown-attribute x1'
verdict "notes_are_below_the_path_of_their_trace" $? "$(cat several.out)"

# An empty packet context is a part of events as other empty parts are; one of nothing but sizes is none (as babeltrace2 has it).
for context in '' 'integer { size = 8; align = 8; } content_size; integer { size = 8; align = 8; } packet_size;'; do
    rm -rf parts && mkdir parts
    printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { packet.context := struct { %s }; event.context := struct {}; };
event { name = "a"; fields := struct { integer { size = 8; align = 8; } x; }; };\n' "$context" >parts/metadata
    if [ -n "$context" ]; then printf '\30\30\1' >parts/s; else printf '\1' >parts/s; fi
    "$tracetta" cat --style=babeltrace2 parts
done >lines
printf 'a: { }, { }, { x = 1 }\na: { }, { x = 1 }\n' | cmp -s - lines
verdict "an_empty_packet_context_is_a_part_of_events" $? "$(cat lines)"

# rfc FOLDER: two packets of RFC v1.1, little-endian with session_id 7; the second is big-endian in one folder and has session_id 8 in the other.
rfc()
{
    mkdir "$1"
    /usr/bin/python3 - "$1" <<'PACKETS'
import struct, sys
def packet(order, session, content):
    return struct.pack(order + "IIIIIIQQIBBBB", 0xC1FC1FC1, session, 48 + len(content), 48 + len(content), 0, 0, 0, 9, 0, 32, 0, 0, 0) + content
text = b"""trace { major = 1; minor = 1; alignment = packed; }
section { name = s; event { header_type = type2; } }
event { name = e; fields = { { uint8_t, a } }; }
"""
folder = sys.argv[1]
order, session = {"order": (">", 7), "session_id": ("<", 8)}.get(folder, ("<", 7))
open(folder + "/metadata", "wb").write(packet("<", 7, text))
open(folder + "/s", "wb").write(packet("<", 7, struct.pack("<IHB", 1, 0, 5)) + packet(order, session, struct.pack(order + "IHB", 2, 0, 6)))
PACKETS
}
rfc order && rfc session_id
run "$tracetta" check order
[ $run_status = 1 ] && grep -q 'at byte 55: s: the packet at byte 55 is big-endian, expected little-endian as the metadata; read as declared' "$work/.out"
verdict "a_packet_of_the_other_byte_order_is_reported_with_both" $? "exit status $run_status"
run "$tracetta" check session_id
[ $run_status = 1 ] && grep -q 'at byte 59: s: the packet at byte 55 has session_id 8, expected 7 as the metadata; read with this' "$work/.out"
verdict "a_packet_of_another_session_is_reported_with_both" $? "exit status $run_status"
for folder in order session_id; do
    run "$tracetta" cat --format=jsonl $folder
    [ $run_status = 1 ] && [ "$(grep -o '"a":[0-9]*' "$work/.out" | tr '\n' ' ')" = '"a":5 "a":6 ' ]
    verdict "and_is_read_all_the_same:$folder" $? "exit status $run_status"
    run "$tracetta" cat --strict --format=jsonl $folder
    [ $run_status != 0 ] && [ "$(grep -c '"a":' "$work/.out")" = 1 ] && grep -q 'expected .* as the metadata' "$work/.err"
    verdict "but_not_strictly:$folder" $? "exit status $run_status"
    "$tracetta" recover --quiet $folder -o mended_$folder
    run "$tracetta" cat --strict --format=jsonl mended_$folder
    [ $run_status = 0 ] && [ "$(grep -o '"a":[0-9]*' "$work/.out" | tr '\n' ' ')" = '"a":5 "a":6 ' ]
    verdict "and_recovered_to_one_order_and_session:$folder" $? "exit status $run_status"
done

# Metadata of v1.1 whose content does not have its checksum: what was read of it is re-encoded.
rfc sums && /usr/bin/python3 -c 'import sys
b = bytearray(open("sums/metadata", "rb").read())
b[47] = 3
open("sums/metadata", "wb").write(b)' && "$tracetta" recover --quiet sums -o mended_sums
run "$tracetta" check mended_sums
[ $run_status = 0 ] && [ "$("$tracetta" cat --format=jsonl mended_sums | grep -o '"a":[0-9]*' | tr '\n' ' ')" = '"a":5 "a":6 ' ]
verdict "metadata_with_another_checksum_is_recovered" $? "exit status $run_status"

# What is missing, in packets of v1.1 and of 1.8: three events before the second packet, two packets before the third, one more event before the last.
mkdir missing && /usr/bin/python3 - missing <<'PACKETS'
import struct, sys
def packet(number, discarded, time):
    events = struct.pack("<IHBIHB", time, 0, 5, time + 1, 0, 6)
    return struct.pack("<IIIIIIQQIBBBB", 0xC1FC1FC1, 7, 48 + len(events), 48 + len(events), 0, number, time, time + 1, discarded, 32, 0, 0, 0) + events
open(sys.argv[1] + "/metadata", "w").write("""trace { major = 1; minor = 1; alignment = packed; }
section { name = s; event { header_type = type2; } }
event { name = e; fields = { { uint8_t, a } }; }
""")
open(sys.argv[1] + "/s", "wb").write(packet(0, 0, 10) + packet(1, 3, 20) + packet(4, 3, 30) + packet(5, 4, 40))
PACKETS
"$tracetta" convert --quiet --to=ctf --option=ctf.version=1.8 missing -o missing18
for from in missing missing18; do
    says "events_and_packets_are_reported_to_be_missing:$from" '4 events and 2 packets are missing, in 3 places' "$tracetta" check $from
    says "also_in_info:$from" '^lost +4 events and 2 packets in 3 places' "$tracetta" info $from
    json "and_its_json:$from" "(it['lost'], it['lost_packets'], it['gaps']) == (4, 2, 3)" "$tracetta" info --json $from
    json "and_in_stat:$from" "(it['lost'], it['lost_packets'], it['gaps']) == (4, 2, 3)" "$tracetta" stat --json $from
    says "and_are_gaps_among_the_events:$from" '"kind":"gap".*"id":0,"packets":2' "$tracetta" cat --format=jsonl $from
done

# What nettrace says of its events.
"$hexa_cat" "$traces/meters_nettrace.hexa" >meters.nettrace
json "types_of_nettrace_are_classes" "[(c['name'], c['id'], c['version'], c['events'], c['fields'][0]['name'], c['fields'][-1]['name'], c['fields'][-1].get('bits')) \
for c in it['traces'][0]['classes']][:2] == [('CounterRateValuePublished', 4, 1, 3, 'sessionId', 'instrumentId', 32), ('GaugeValuePublished', 5, 1, 1, 'sessionId', 'instrumentId', 32)]" \
    "$tracetta" info --json --classes meters.nettrace
says "they_are_under_their_provider" '^stream class 0 System.Diagnostics.Metrics$' "$tracetta" info --classes meters.nettrace
says "and_tell_their_version" '^HistogramValuePublished  id 6, version 1, 1 event' "$tracetta" info --classes meters.nettrace

# Tracepoints, and events of EventHeader, which declare their fields each by itself.
vectors=$(realpath "$(dirname "$0")/../../src/formats" 2>/dev/null || realpath "$traces/../../../src/formats")
# Data after a record, of which the end is missing: such a record is of no use.
"$hexa_cat" "$vectors/perf/vectors-bad/cut-data.hexa" >cut.data
for from in cut.data -; do
    run bash -c "cat cut.data | '$tracetta' recover -f --no-sidecar $from -o kept.data"
    [ $run_status = 1 ] && grep -q 'kept 1 event; 1 damaged place (4 B)' "$work/.err" && grep -q 'kept.data: verified, clean' "$work/.err"
    verdict "records_whose_data_are_cut_are_not_kept:$from" $? "exit status $run_status"
done
"$hexa_cat" "$vectors/trace_dat/vectors/version-6.hexa" >six.dat
shapes="[(c['name'], c['stream_name'] if 'stream_name' in c else '', c['events'], [(f['name'], f['depth'], f['type']) for f in c['fields']]) for c in it['traces'][0]['classes']]"
json "tracepoints_declare_their_fields" "[(s[0], s[2], s[3]) for s in $shapes] == [('tick', 4, [('v', 0, 'uint')])]" "$tracetta" info --json --classes six.dat
says "and_the_table_shows_them" '^  payload  v: u32$' "$tracetta" info --classes six.dat
run "$tracetta" convert -q --to=perf -o six.data six.dat
json "so_do_those_in_perf_data" "any(s[0] == 'tick' and s[2] == 4 and 'v' in [f[0] for f in s[3]] for s in $shapes)" "$tracetta" info --json --classes six.data
"$hexa_cat" "$traces/../../../src/formats/nettrace/vectors/v6.hexa" >texts.nettrace
says "and_messages_and_descriptions" '^  message: msg$' "$tracetta" info --classes texts.nettrace
json "messages_are_in_json" "[(c['message'], c['description']) for c in it['traces'][0]['classes']] == [('msg', 'text')]" \
    "$tracetta" info --json --classes texts.nettrace
"$tracetta" convert -v --option=version=5 texts.nettrace -o texts5.nettrace 2>told

says "reencoding_reports_lost_texts" 'class.texts' cat told
