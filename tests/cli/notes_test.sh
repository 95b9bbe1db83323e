#!/bin/bash
# What people read of what is odd or damaged (docs/user/notes.md): severity, code, count, place and text, and the exit status of check and of commands that read.
# What becomes of the events is reported by golden vectors, most of which these are.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
formats=$(cd "$(dirname "$0")/../../src/formats" && pwd)
cd "$work" || exit 1
export TZ=UTC

# lay VECTOR: the bytes of a vector, or its folder of files, under its last name.
lay()
{
    local file name=${1##*/}
    if [ ! -d "$formats/$1" ]; then
        "$hexa_cat" "$formats/$1.hexa" >"$name"
        return
    fi
    mkdir -p "$name"
    for file in "$formats/$1"/*.hexa; do "$hexa_cat" "$file" >"$name/$(basename "$file" .hexa)"; done
}

# told TRACE SEVERITY CODE PLACE PATTERN [OPTION...]: check tells the note ("xCOUNT, first at byte OFFSET" is the place, or "xCOUNT" where it is about the whole input or metadata) in a text that has the pattern;
# it exits as the severity says, and with --strict as it says then; reading warns of damage alone.
told()
{
    local trace=$1 severity=$2 code=$3 place=$4 pattern=$5 status=0 strict=0
    shift 5
    case $severity in
    damage) status=1 strict=1 ;;
    odd) strict=1 ;;
    esac
    run "$tracetta" check --verbose "$@" "$trace"
    [ "$run_status" = $status ] && grep -Eq -e "^ *$severity $code $place: .*$pattern" "$work/.out"
    verdict "$trace: $code is told" $? "exit status $run_status, wanted $status and /$severity $code $place: .*$pattern/"
    run "$tracetta" check --quiet --strict "$@" "$trace"
    local strict_status=$run_status
    run "$tracetta" cat "$@" "$trace"
    [ "$strict_status" = $strict ] && [ "$run_status" = $status ] && [ "$(grep -c 'damaged place' "$work/.err")" = $status ]
    verdict "$trace: the exit status says so" $? "exit status $run_status, wanted $status; of check --strict $strict_status, wanted $strict"
}

lay ctf/vectors/stream-thread-variable
run "$tracetta" cat --pid=77 stream-thread-variable
[ "$(wc -l <"$work/.out")" = 1 ] && [ ! -s "$work/.err" ]
verdict "--pid selects by a pid after a string" $? "$(cat "$work/.out" "$work/.err")"
lay ctf/vectors/stream-bad-times
run "$tracetta" cat --pid=77 stream-bad-times
grep -q 'without the process, thread or CPU that a filter asks for: left out' "$work/.err"
verdict "--pid does not leave out events of unknown processes silently" $? "$(cat "$work/.err")"
lay perf/vectors-whole/symbols
cp symbols other
run "$tracetta" merge symbols other -o merged.fxt
[ "$(grep -c 'have no date and no common origin' "$work/.err")" = 1 ]
verdict "merge warns once if clocks cannot be correlated" $? "$(cat "$work/.err")"
run "$tracetta" merge --align=begin symbols other -f -o merged.fxt
! grep -q 'no common origin' "$work/.err"
verdict "merge with --align=begin does not warn" $? "$(cat "$work/.err")"
lay ctf/vectors/stream-bad-context
told stream-bad-context damage ctf.bad-packet 'x1, first at byte 20' 's: the packet context cannot be read: a length or selector in it cannot be; 22 bytes skipped'
lay ctf/vectors/stream-bad-times
told stream-bad-times odd ctf.begin-after-end 'x1, first at byte 54' 'a packet of s ends before it begins'
lay ctf/vectors/stream-bad-packet-time
told stream-bad-packet-time odd ctf.packet-time 'x1 in 1 stream, first at byte 108' 'a packet of s begins before an earlier packet of its stream in the file'
lay ctf/vectors/stream-bad-sequence
told stream-bad-sequence odd ctf.packet-order 'x2, first at byte 54' 'packet 5 of s follows packet 5'
lay ctf/vectors/stream-bad-size-unset
told stream-bad-size-unset odd ctf.unset-size 'x1, first at byte 54' 'a packet of s declares a content size but no packet size'
lay ctf/vectors/stream-bad-no-size
told stream-bad-no-size odd ctf.no-size 'x1, first at byte 8' 'packets of s follow packets without a size'
lay ctf/vectors/stream-bad-twin
told stream-bad-twin odd ctf.damaged-twin 'x1 in 1 stream, first at byte 54' 'a packet of s is damaged: read from s_2 instead, which has a valid copy'
lay ctf/vectors/stream-odd-types
told stream-odd-types odd ctf.wrong-map 'x1' "metadata:7: a clock's value is an unsigned number of at most 64 bits"
told stream-odd-types odd ctf.unknown-map 'x1' 'metadata:8: a number is mapped to clock.NAME.value'
told stream-odd-types odd ctf.unknown-float 'x1' 'metadata:9: no floating point format has exp_dig 7 and mant_dig 25'
lay ctf/vectors/stream-odd-extension
told stream-odd-extension remark ctf.undeclared-extension 'x1' 'metadata, byte 384: the preamble does not declare the extension "colour" of "my.ns"'

# Two events have one id: the others are read, and those with it as the first.
mkdir twins && printf 'a' >twins/s
printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { event.header := struct { integer { size = 8; align = 8; } id; }; };\nevent { name = "one"; id = 97; };\nevent { name = "two"; id = 97; };\n' >twins/metadata
told twins damage ctf.duplicate-event 'x1, first at byte [0-9]*' "twins/metadata:5: a second event with id 97 in stream 0, 'two': what has this id is read as the first, 'one'"
says "reading_reports_where" '^tracetta: warning: twins/metadata:5: a second event' bash -c "'$tracetta' cat twins 2>&1; true"
refuses "and_strict_reading_ends_there" 1 "^tracetta: byte [0-9]*: twins/metadata:5: a second event" "$tracetta" cat --strict twins
mkdir twins2 && cp twins/s twins2
printf '\036{"type":"preamble","version":2}\036{"type":"data-stream-class","event-record-header-field-class":{"type":"structure","member-classes":[{"name":"id","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian","roles":["event-record-class-id"]}}]}}\036{"type":"event-record-class","id":97,"name":"one"}\036{"type":"event-record-class","id":97,"name":"two"}' >twins2/metadata
told twins2 damage ctf.duplicate-event 'x1, first at byte [0-9]*' 'a second event record class 97 in data stream class 0, "two": what has this id is read as the first, "one"'

# The metadata are no stream, and what takes no bytes is at one, or nowhere.
says "the_metadata_are_no_stream" '^format    ctf 1.8, 1 packet in 1 stream$' bash -c "'$tracetta' info twins 2>&1; true"
run "$tracetta" info --json twins
[ "$(/usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)["traces"][0]["streams"]))' <"$work/.out")" = 1 ]
verdict "nor_are_they_in_json" $? "exit status $run_status"
says "damage_of_no_bytes_is_at_one" '^  at byte [0-9]*: ctf.duplicate-event$' bash -c "'$tracetta' check twins 2>&1; true"
mkdir -p several/one several/two && cp twins2/s several/one && sed 's/\x1e[^\x1e]*"two"}//' twins2/metadata >several/one/metadata
printf 'a' >several/two/s && printf '/* CTF 1.8 */\ntrace {' >several/two/metadata
says "or_nowhere" '^  without an offset: trace.unreadable$' bash -c "'$tracetta' check several 2>&1; true"
run "$tracetta" check --json several
[ "$(/usr/bin/python3 -c 'import json, sys; print(["offset" in r for r in json.load(sys.stdin)["regions"]])' <"$work/.out")" = '[False]' ]
verdict "so_it_is_in_json" $? "exit status $run_status"

# All that CTF 2 says of a clock.
mkdir told2 && cp twins/s told2
printf '\036{"type":"preamble","version":2}\036{"type":"trace-class","namespace":"t.ns","uid":"t1"}\036{"type":"clock-class","id":"c","namespace":"c.ns","name":"beat","uid":"c1","frequency":1000,"precision":3,"accuracy":7,"origin":{"namespace":"o.ns","name":"boot","uid":"o1"}}\036{"type":"data-stream-class","default-clock-class-id":"c","event-record-header-field-class":{"type":"structure","member-classes":[{"name":"t","field-class":{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian","roles":["default-clock-timestamp"]}}]}}\036{"type":"event-record-class","id":0,"name":"one"}' >told2/metadata
says "clocks_have_accuracy_origin_and_namespace" '^clock     beat, 1,000 ticks/s, .*, precise to 3 ticks, accurate to 7 ticks, origin "boot" in "o.ns" uid "o1", namespace "c.ns", uid "c1"$' "$tracetta" info told2
says "traces_have_a_namespace" '^trace     namespace t.ns, uid t1$' "$tracetta" info told2
run "$tracetta" info --json told2
[ "$(/usr/bin/python3 -c 'import json, sys
it = json.load(sys.stdin)
c = it["traces"][0]["clocks"][0]
print(c["accuracy"], c["namespace"], c["uid"], c["origin"], c["origin_namespace"], c["origin_uid"], it["traces"][0]["namespace"])' <"$work/.out")" = '7 c.ns c1 boot o.ns o1 t.ns' ]
verdict "in_json_too" $? "exit status $run_status"

# What asks for an option names it as the command takes it: in notes, in warnings, and in failures.
advice='specify its key with --option=key=FILE or --option=key-env=NAME'
lay ctf/vectors/rfc11-aes
lay ctf/vectors/rfc11-gzip
lay ctf/vectors/rfc11-metadata-enciphered
says "a_note_names_the_option_of_a_key" "ctf.no-key x2, .* $advice" bash -c "'$tracetta' check rfc11-aes; true"
refuses "so_does_strict_reading" 1 "$advice \(ctf.no-key\)" "$tracetta" cat --strict rfc11-aes
says "and_what_allows_more_bytes_is_named_so" 'ctf.unpacked-max x2, .* limit of --option=unpacked-max' bash -c "'$tracetta' check --option=unpacked-max=49 rfc11-gzip; true"
refuses "metadata_without_their_key_say_so" 3 "$advice" "$tracetta" cat rfc11-metadata-enciphered
refuses "writing_says_so" 2 'needs a key: add --option=key=FILE or --option=key-env=NAME' "$tracetta" convert --to=ctf --option=cypher=aes --option=version=1.1 rfc11-gzip -o enciphered
mkdir beside && cp -r rfc11-gzip rfc11-metadata-enciphered beside
says "a_trace_among_others_says_so_in_a_warning" "warning: this trace cannot be read: .*$advice" bash -c "'$tracetta' stat beside 2>&1; true"
# Its place in another file is none of the input's.
says "and_in_a_note_that_has_no_place" "trace.unreadable x1: beside/rfc11-metadata-enciphered/metadata: .*$advice" bash -c "'$tracetta' check beside; true"

# Among the files of a trace stands something that is none.
for kind in FIFO socket link; do
    cp -r stream-odd-extension "$kind"
    case $kind in
    FIFO) mkfifo FIFO/pipe ;;
    socket) python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket/pipe")' 2>"$work/.err" || { skip "$kind: ctf.no-file" "no sockets"; continue; } ;;
    link) ln -s nowhere link/pipe ;;
    esac
    told $kind odd ctf.no-file 'x1.*' "pipe is a .*$kind.*: skipped"
done

# An event that is larger than what may be held, between others.
mkdir large
cat >large/metadata <<'METADATA'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
stream { packet.context := struct { u32 packet_size; }; event.header := struct { u8 id; }; };
event { name = a; id = 0; fields := struct { u8 x; }; };
event { name = big; id = 1; fields := struct { u32 n; u8 x[n]; }; };
METADATA
{
    printf '\xc1\x1f\xfc\xc1\x78\x5a\x62\x02\x00\x01\x01\x40\x4b\x4c\x00' # events of 2 bytes and of 5 + 5,000,000
    head -c 5000000 /dev/zero
    printf '\xc1\x1f\xfc\xc1\x50\x00\x00\x00\x00\x02'
} >large/s
told large damage ctf.too-large 'x1, first at byte 10' 's: an event is larger than --max-record .id 1.; 5000005 bytes' --max-record=65536
"$tracetta" cat --max-record=65536 large >"$work/.out" 2>"$work/.err"
[ "$(grep -o 'x = .*' "$work/.out" | tr -d ' \n')" = 'x=1}x=2}' ]
verdict "large: events before and in the next packet are read" $? "see there"

# The same of other formats: one line for each, with the vector, what is reported of it and where.
while IFS='|' read -r vector severity code place pattern; do
    lay "$vector"
    told "${vector##*/}" "$severity" "$code" "$place" "$pattern"
done <<'NOTES'
nettrace/vectors/odd-trace|odd|nettrace.bad-date|x1, first at byte 53|the date of the trace is invalid
nettrace/vectors/odd-trace|odd|nettrace.bad-frequency|x1, first at byte 53|a clock of 0 ticks per second
nettrace/vectors/odd-trace|odd|nettrace.bad-pointer-size|x1, first at byte 85|pointers of 5 bytes: expected 4 or 8; read as 8
nettrace/vectors-bad/v6-bad-kind|damage|nettrace.bad-kind|x1, first at byte 168|a block of unknown kind 9 that holds events
perf/vectors-whole/odd-head|odd|perf.bad-head|x1, first at byte 8|a header of 112 bytes; the 104 known ones are read
trace_dat/vectors-bad/cut-strings|damage|trace_dat.cut|x1, first at byte 1259|the file ends before the end of its last section
perf/vectors-bad/bad-attrs|damage|perf.bad-attrs|x1, first at byte 16|176 bytes of attributes of 8 bytes each are impossible
perf/vectors-bad/bad-place|damage|perf.bad-place|x1, first at byte 40|records that start inside the header, at byte 16, are impossible
perf/vectors-bad/bad-data-size|damage|perf.bad-size|x1, first at byte 40|records that end at byte .* are impossible
perf/vectors-bad/moved|damage|perf.moved|x1, first at byte 208|the table of features is here, not at its declared offset 211: bytes of the file are missing
perf/vectors-packed/bad-record|damage|perf.bad-packed|x1, first at byte 96|16 bytes in compressed data are not records
perf/vectors-bad/tracepoints|odd|perf.bad-tracepoint|x1, first at byte 769|tracepoint demo:tock: line 9 of its format
perf/vectors-bad/tracepoints|odd|perf.bad-tracepoint-event|x1, first at byte 1216|an event of a tracepoint
trace_dat/vectors-bad/backward|odd|trace_dat.backward|x1, first at byte .*|the time of an event of CPU 0 is before that of the one before it
trace_dat/vectors-bad/options|odd|trace_dat.bad-option|x1, first at byte .*|the .* is not a number
trace_dat/vectors-bad/option-behind|damage|trace_dat.bad-option|x1, first at byte 1230|option 1 ends after its section
trace_dat/vectors-bad/overlap|damage|trace_dat.overlap|x1, first at byte 0|with the events of CPU 1 here, all have more bytes than the file
trace_dat/vectors-bad/no-end|damage|trace_dat.no-end|x1, first at byte 1238|options without end
trace_dat/vectors-bad/short-section|odd|trace_dat.short-section|x1, first at byte .*|section 21 ends before the content that it declares
trace_dat/vectors-bad/bad-section-data|damage|trace_dat.bad-compression|x1, first at byte 698|section 21 is damaged: zlib decompresses
trace_dat/vectors-bad/cut-table|damage|trace_dat.no-table|x1, first at byte 1110|the table of a buffer ends after 2 of 3 CPUs
trace_dat/vectors-bad/chunks|damage|trace_dat.bad-chunk|x1, first at byte 995|CPU 4 ends inside a chunk that zlib compressed: 64 of its 64 bytes are decompressed
trace_dat/vectors-bad/chunks|damage|trace_dat.bad-compression|x1, first at byte 1082|a chunk of CPU 0 is damaged: zlib decompresses 0 of its 64 bytes
trace_dat/vectors-bad/moved|damage|trace_dat.moved|x2, first at byte 704|events of CPU 0 are 3 bytes before their declared offset; bytes of the file are missing
trace_dat/vectors/guest|remark|trace_dat.guest|x1, first at byte 0|guest
heph/vectors-whole/stray|odd|heph.stray-counter|x1|1 event counters are far from all others of their stream
NOTES

# Without any event the verdict is 3.
for trace in no-table page-size; do
    lay trace_dat/vectors-bad/$trace
    run "$tracetta" check $trace
    [ "$run_status" = 3 ] && grep -q "damage trace_dat.$([ $trace = no-table ] && echo 'no-table x1, first at byte 646' || echo 'bad-page-size x2, first at byte 704')" "$work/.out"
    verdict "$trace: what costs all events is told" $? "exit status $run_status, wanted 3"
done
lay trace_dat/vectors-bad/latency
run "$tracetta" check --verbose latency
grep -q 'remark trace_dat.latency x1, first at byte 656: the trace of a latency tracer' "$work/.out"
verdict "the trace of a latency tracer is told" $? "exit status $run_status"

# More providers than have tables of their own.
{
    echo '10 00 04 46 78 54 16 00'
    for ((id = 1; id <= 4098; id++)); do echo "word64le [0..3]=0 [4..15]=2 [16..19]=1 [20..51]=$id [52..59]=1 str \"p\" pad 8"; done
    echo 'word64le [0..3]=2 [4..15]=2 [16..30]=1 [32..46]=1 str "n" pad 8'
    echo 'word64le [0..3]=3 [4..15]=3 [16..23]=1 u64le 7 u64le 8'
    echo 'word64le [0..3]=4 [4..15]=2 [24..31]=1 [48..63]=1 u64le 6'
} >providers.hexa
"$hexa_cat" providers.hexa >providers
told providers odd fxt.providers 'x2, first at byte 65544' 'more than 4096 providers'

# A tracepoint without a format, told beside pages that have no formats.
lay trace_pipe_raw/vectors/pages
mkdir -p formats/demo/tick
printf 'name: tick\nID: 7\nformat:\n\tfield:no such thing\toffset:8;\nprint fmt: "v=%%u", REC->v\n' >formats/demo/tick/format
told pages odd trace_pipe_raw.format 'x1, first at byte 0' 'tracepoint demo:tick: line 4 of its format' --from=trace_pipe_raw --option=formats=formats

# What cannot be told of a pipe until it is too late.
/usr/bin/python3 -c 'import struct
def event(n):
    return struct.pack(">IIIIQQQH", 0xc1fc1fb7, 42, 1, n, 1, n, n + 1, 0)
epoch = struct.pack(">IIH5sQ", 0x75d11d4d, 23, 5, b"epoch", 10**18)
with open("epoch", "wb") as file:
    file.write(b"".join(event(n) for n in range(100000)) + epoch + event(100000))
with open("features", "wb") as file: # pages without records, and what the file says of them behind 257 MiB
    file.write(b"PERFILE2" + struct.pack("<QQQQQQQ", 104, 0, 104, 0, 104, 257 << 20, 0) + 8 * b"\0" + struct.pack("<QQQQ", 8, 0, 0, 0))
'
for trace in epoch features; do
    code=heph.late-epoch text='an epoch follows events that were read without it'
    [ $trace = features ] && code=perf.far-features text='the names of events follow their records, too far to be kept in memory'
    run bash -c "{ cat $trace; [ $trace = epoch ] || head -c $((257 << 20)) /dev/zero; } | '$tracetta' check --verbose -"
    grep -q "odd $code x1.*$text" "$work/.out"
    verdict "$trace: $code is told of a pipe" $? "exit status $run_status"
done
run "$tracetta" check --verbose epoch
! grep -q heph.late-epoch "$work/.out"
verdict "epoch: of a file it is found beforehand" $? "exit status $run_status"
