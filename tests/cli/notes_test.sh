#!/bin/bash
# What people read of what is odd or damaged (docs/notes.md): severity, code, count, place and text, and the exit status of check and of commands that read.
# What becomes of the events is told by golden vectors, most of which these are.
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

# told TRACE SEVERITY CODE PLACE PATTERN [OPTION...]: check tells the note ("xCOUNT, first at byte OFFSET" is the place) in a text that has the pattern;
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

lay ctf/vectors/stream-bad-context
told stream-bad-context damage ctf.bad-packet 'x1, first at byte 20' 's: the packet context cannot be read: a length or selector in it cannot be; 22 bytes skipped'
lay ctf/vectors/stream-bad-times
told stream-bad-times odd ctf.begin-after-end 'x1, first at byte 54' 'a packet of s ends before it begins'
lay ctf/vectors/stream-bad-sequence
told stream-bad-sequence odd ctf.packet-order 'x2, first at byte 54' 'packet 5 of s follows packet 5'
lay ctf/vectors/stream-bad-size-unset
told stream-bad-size-unset odd ctf.unset-size 'x1, first at byte 54' 'a packet of s tells the size of its content, but not its own'
lay ctf/vectors/stream-bad-no-size
told stream-bad-no-size odd ctf.no-size 'x1, first at byte 8' 'packets of s follow others that tell no size'
lay ctf/vectors/stream-bad-twin
told stream-bad-twin odd ctf.damaged-twin 'x1 in 1 stream, first at byte 54' 'a packet of s is damaged: it is read from s_2, which has it whole'
lay ctf/vectors/stream-odd-types
told stream-odd-types odd ctf.wrong-map 'x1, .*' "metadata:7: a clock's value is an unsigned number of at most 64 bits"
told stream-odd-types odd ctf.unknown-map 'x1, .*' 'metadata:8: a number is mapped to clock.NAME.value'
told stream-odd-types odd ctf.unknown-float 'x1, .*' 'metadata:9: no floating point format has exp_dig 7 and mant_dig 25'
lay ctf/vectors/stream-odd-extension
told stream-odd-extension remark ctf.undeclared-extension 'x1, .*' 'metadata, byte 384: the preamble does not declare the extension "colour" of "my.ns"'

# Among the files of a trace stands something that is none.
for kind in FIFO socket link; do
    cp -r stream-odd-extension "$kind"
    case $kind in
    FIFO) mkfifo FIFO/pipe ;;
    socket) python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket/pipe")' 2>"$work/.err" || { skip "$kind: ctf.no-file" "no sockets"; continue; } ;;
    link) ln -s nowhere link/pipe ;;
    esac
    told $kind odd ctf.no-file 'x1.*' "pipe is a .*$kind.*: it was passed over"
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
told large damage ctf.too-large 'x1, first at byte 10' 's: an event is larger than a record may be .--max-record. .id 1.; 5000005 bytes' --max-record=65536
"$tracetta" cat --max-record=65536 large >"$work/.out" 2>"$work/.err"
[ "$(grep -o 'x = .*' "$work/.out" | tr -d ' \n')" = 'x=1}x=2}' ]
verdict "large: events before and in the next packet are read" $? "see there"
