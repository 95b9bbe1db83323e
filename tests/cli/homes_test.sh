#!/bin/bash
# Folders of CTF that commands write: where several traces of one output live, and what may be replaced.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
traces=$(cd "$(dirname "$0")" && pwd)/traces
cd "$work" || exit 1
"$hexa_cat" "$traces/small_fxt.hexa" >small.fxt

# make FOLDER OPTION...: a trace of CTF in it.
make()
{
    local folder=$1
    shift
    mkdir -p "$(dirname "$folder")"
    "$tracetta" convert -q --to=ctf "$@" small.fxt -o "$folder" 2>/dev/null || exit 1
}

# merged NAME OUTPUT INPUT...: all events are found again, with nothing to remark on; homes are reported by $homes.
merged()
{
    local name=$1 output=$2 wanted
    shift 2
    wanted=$(for trace in "$@"; do "$tracetta" cat -q "$trace" 2>/dev/null; done | wc -l)
    run "$tracetta" merge --to=ctf "$@" -o "$output"
    [ $run_status = 0 ] && [ "$("$tracetta" cat -q "$output" 2>/dev/null | wc -l)" = "$wanted" ]
    verdict "${name}_are_all_read_again" $? "exit status $run_status; wanted $wanted events"
    homes=$(cd "$output" && find . -name metadata | LC_ALL=C sort | tr '\n' ' ')
}

# homed NAME WANTED: where the traces of the last merge are.
homed()
{
    [ "$homes" = "$2" ]
    verdict "$1" $? "they are $homes, not $2"
}

make pp/index/a
make pp/other/b --name=load
merged traces_in_folders_called_index mo1 pp/index/a pp/other/b
homed "whose_homes_are_called_otherwise" './_index/a/metadata ./other/b/metadata '
run "$tracetta" cat -q pp
[ $run_status = 0 ] && [ "$(wc -l <"$work/.out")" = 4 ]
verdict "a_folder_called_index_that_has_traces_is_looked_into" $? "exit status $run_status; wanted 4 events"
make 1/2/3/4/5/6/7/8/9/10/ust/64-bit
make 1/2/3/4/5/6/7/8/9/10/kernel
make else/kernel
merged traces_of_deep_folders mo2 "$work/1/2/3/4/5/6/7/8/9/10/ust/64-bit" small.fxt
homed "whose_homes_are_their_last_folders" './64-bit/metadata ./small/metadata '
merged deep_folders_of_one_name mo3 1/2/3/4/5/6/7/8/9/10/kernel else/kernel 1/2/3/4/5/6/7/8/9/10/ust/64-bit
homed "whose_homes_have_as_many_folders_as_tell_them_apart" './10/kernel/metadata ./else/kernel/metadata ./ust/64-bit/metadata '
merged folders_in_each_other mo4 1/2/3/4/5/6/7/8/9/10/kernel 1/2/3/4/5/6/7/8/9/10/ust/64-bit
homed "whose_homes_are_called_behind_what_is_common" './kernel/metadata ./ust/64-bit/metadata '
make in/x
make in/y
mkdir in/x/deep
cp -r in/y in/x/deep/z
merged traces_inside_of_others mo5 in/x in/x/deep/z in/y
homed "whose_homes_are_beside_them" './x-2/deep/z/metadata ./x/metadata ./y/metadata '

mkdir -p far/1/2/3/4/5/6/7/8
make far/1/2/3/4/5/6/7/8/9
make far/near
run "$tracetta" stat far
[ $run_status = 0 ] && grep -q 'warning: far/1/2/3/4/5/6/7/8/9 is deeper than 8 levels and was not looked into' "$work/.err"
verdict "folders_too_deep_to_be_looked_into_are_reported_by_all_commands" $? "exit status $run_status"
says "and_by_check" 'odd directory.too-deep x1: ' "$tracetta" check far
rm -r far/near
refuses "also_where_nothing_else_is_there" 3 'too deep to be looked into' "$tracetta" cat far

# kept NAME PATH: a trace with this in it is not replaced, and it stays.
kept()
{
    refuses "$1_keeps_a_folder" 2 "will not replace the folder old: old/$2 in it is not part of a trace" "$tracetta" convert -f --to=ctf small.fxt -o old
    [ -e "old/$2" ] && [ -f old/metadata ]
    verdict "$1_stays" $? "it is gone"
    rm -r "old/${2%%/*}"
}
make old
echo "what I found" >old/notes.txt
kept a_text notes.txt
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR' >old/picture.png
kept a_file_without_packets picture.png
mkdir old/sub
: >old/sub/empty
kept a_folder sub
: >old/.hidden
kept a_hidden_file .hidden
mkdir -p old/index
cp small.fxt old/index/
kept a_file_in_the_index index/small.fxt
: >old/empty && head -c 9000 /dev/zero >old/zeros && { head -c 8192 /dev/urandom && cat old/[ce]*; } >old/damaged
run "$tracetta" convert -f --to=ctf --option=index=yes small.fxt -o old
[ $run_status = 0 ]
verdict "a_trace_alone_is_replaced" $? "exit status $run_status"
run "$tracetta" convert -f --to=ctf small.fxt -o old
[ $run_status = 0 ]
verdict "also_one_with_an_index" $? "exit status $run_status"
for file in old/*; do
    [ "$file" = old/metadata ] || [ -d "$file" ] || { gzip "$file" && mv "$file.gz" "$file"; }
done
run "$tracetta" convert -f --to=ctf small.fxt -o old
[ $run_status = 0 ]
verdict "also_one_whose_streams_were_compressed" $? "exit status $run_status"
# Copies whose packets have no magic number, though an event has a field of that name; whose bits are in the other order; whose stream is text.
# ctf2 FOLDER MORE-OF-THE-TRACE-CLASS FIELD BYTES: a trace of CTF 2 with one class of events.
ctf2()
{
    mkdir "$1"
    printf '\036{"type": "preamble", "version": 2}\n\036{"type": "trace-class"%s}\n\036{"type": "data-stream-class", "id": 0}\n' "$2" >"$1/metadata"
    printf '\036{"type": "event-record-class", "id": 0, "name": "e", "payload-field-class": {"type": "structure", "member-classes": [{"name": "%s", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}}]}}\n' "$3" >>"$1/metadata"
    printf '%b' "$4" >"$1/stream_0"
}
ctf2 named '' magic '\1\2\3'
ctf2 turned ', "packet-header-field-class": {"type": "structure", "member-classes": [{"name": "m", "field-class": {"type": "fixed-length-unsigned-integer", "length": 32, "byte-order": "little-endian", "bit-order": "last-to-first", "roles": ["packet-magic-number"]}}]}' x '\0203\077\0370\0203\1'
ctf2 said '' x 'hello world\n'
mkdir stated && printf '\1\2' >stated/stream_0
cat >stated/metadata <<'TSDL'
/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 8; align = 8; } stream_id; }; };
stream { id = 1; };
event { name = e; stream_id = 1; fields := struct { integer { size = 8; align = 8; } magic; }; };
TSDL
for trace in named turned said stated; do
    "$tracetta" convert -q --to=ctf $trace -o own
    run "$tracetta" convert -f --to=ctf $trace -o own
    [ $run_status = 0 ] && cmp $trace/stream_0 own/stream_0
    verdict "a_copy_of_ones_own_is_replaced:$trace" $? "exit status $run_status"
    rm -rf own
done
cp small.fxt mo1/
refuses "a_file_beside_traces_keeps_their_folder" 2 'mo1/small.fxt in it is not part of a trace' "$tracetta" convert -f --to=ctf small.fxt -o mo1
rm mo1/small.fxt
run "$tracetta" convert -f --to=ctf small.fxt -o mo1
[ $run_status = 0 ] && [ -f mo1/metadata ] && [ ! -e mo1/other ]
verdict "a_folder_of_traces_alone_is_replaced" $? "exit status $run_status"

# Bytes of a stream may happen to be characters.
mkdir letters
printf '/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; } := u8;\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { };\nevent { name = e; fields := struct { u8 x; }; };\n' >letters/metadata
printf 'ABCD\xe2\x80' >letters/s
"$tracetta" convert -q --to=ctf letters -o letters_copy
succeeds "a_stream_like_text_is_replaced_with_its_trace" "$tracetta" convert -q -f --to=ctf letters -o letters_copy
