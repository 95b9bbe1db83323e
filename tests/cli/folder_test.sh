#!/bin/bash
# Traces that are folders, on the command line: a command that has the little format of the tests too (tests/support/little.h).
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"

# make FOLDER FIRST STEP N: a trace with a.bin at FIRST, FIRST+STEP, ... and b.bin half a step later.
make()
{
    mkdir -p "$1"
    printf 'little trace\n' >"$1/little.txt"
    /usr/bin/python3 -c 'import struct, sys
folder, (first, step, n) = sys.argv[1], map(int, sys.argv[2:])
for name, begin in ("a", first), ("b", first + step // 2):
    with open(f"{folder}/{name}.bin", "wb") as file:
        file.write(b"LITTLE\0\0")
        for i in range(n):
            file.write(struct.pack("<QQQ", begin + i * step, 0, i))' "$@"
}

# ends NAME STATUS COMMAND...: it exits with this status.
ends()
{
    local name=$1 status=$2
    shift 2
    run "$@"
    [ $run_status = "$status" ]
    verdict "$name" $? "exit status $run_status, wanted $status from: $*"
}

cd "$work" || exit 1
make one 0 10 1000
make session/kernel 0 10 100
make session/ust/uid/0/64-bit 3 10 100

says "a_folder_is_an_input" '"events": ?2000' "$tracetta" info --json one
says "so_is_its_main_file" '"events": ?2000' "$tracetta" info --json one/little.txt
says "one_of_its_files_is_read_alone" '"events": ?1000' "$tracetta" info --json one/b.bin
says "a_session_is_all_its_traces" '"events": ?400' "$tracetta" info --json session/
refuses "a_file_of_a_folder_on_a_pipe_is_refused" 3 'alone is no little trace' bash -c "cat one/a.bin | '$tracetta' info -"
refuses "and_from_a_redirected_file" 3 'alone is no little trace' bash -c "'$tracetta' info - <one/a.bin"

# Together they have ten times as many files as may be open.
for i in $(seq -w 160); do
    make "many/$i" "$((10#$i))" 10 3
done
for command in "cat" "stat" "info" "check" "tree" "convert --to=fxt -o -" "convert --sort --to=jsonl -o -"; do
    # shellcheck disable=SC2086 # a command is several words
    run "$tracetta" $command many
    mv "$work/.out" whole
    # shellcheck disable=SC2086
    run bash -c "ulimit -n 32; exec '$tracetta' $command many"
    [ $run_status = 0 ] && [ -s whole ] && cmp whole "$work/.out" && [ "$(grep -c 'cannot be read' "$work/.err")" = 0 ]
    verdict "many_folders_need_few_descriptors_to_${command%% *}" $? "exit status $run_status"
done
mkdir ctf
ends "a_trace_to_copy_is_made" 0 "$tracetta" convert --to=ctf one -o ctf/000
for i in $(seq -w 100); do
    cp -r ctf/000 "ctf/$i"
done

# The path of the folder leaves room for "metadata", but not for names that are much longer.
cp -r ctf/000/a deep
for file in deep/*; do
    [ "$file" = deep/metadata ] || mv "$file" "$file-with-a-name-that-is-longer-than-that-of-metadata"
done
path=$PWD/deep
while [ ${#path} -lt 4060 ]; do path+=/.; done
refuses "streams_whose_paths_are_too_long_are_not_taken_for_none" 3 'File name too long' "$tracetta" check "$path"
ends "from_inside_they_are_read" 0 bash -c "cd deep && exec '$tracetta' check ."
ends "many_folders_are_copied" 0 "$tracetta" convert --to=ctf ctf -o ctf.whole
ends "many_folders_need_few_descriptors_to_be_copied" 0 bash -c "ulimit -n 32; exec '$tracetta' convert --to=ctf ctf -o ctf.copy"
[ "$(find ctf.copy -type f | wc -l)" -gt 200 ] && diff -r ctf.whole ctf.copy >/dev/null
verdict "and_the_copy_is_whole" $? "they differ"
run bash -c "ulimit -n 32; exec '$tracetta' merge --to=fxt many/* -o merged.fxt"
[ $run_status = 0 ] && "$tracetta" info --json merged.fxt | grep -Eq '"events": ?960'
verdict "and_to_be_merged" $? "exit status $run_status"

ends "the_suffix_of_a_folder_names_the_format" 0 "$tracetta" convert one -o copy.little
cmp one/a.bin copy.little/a.bin && cmp one/b.bin copy.little/b.bin && cmp one/little.txt copy.little/little.txt
verdict "a_copy_of_a_folder_is_the_same_bytes" $? "they differ"
ends "also_with_a_slash_at_its_end" 0 "$tracetta" convert one -o slash.little/
[ -f slash.little/little.txt ]
verdict "the_folder_is_made" $? "it is not there"
refuses "an_existing_folder_is_not_replaced" 4 "exists already; --overwrite" "$tracetta" convert one -o copy.little
ends "it_is_when_asked" 0 "$tracetta" convert -f session/kernel -o copy.little
says "with_what_was_asked_for" '"events": ?200' "$tracetta" info --json copy.little
mkdir thesis && echo years >thesis/work
refuses "a_folder_that_is_no_trace_is_never_replaced" 2 'no file "little.txt"' "$tracetta" convert -f --to=little one -o thesis
[ "$(cat thesis/work)" = years ]
verdict "and_stays_as_it_is" $? "it changed"
refuses "a_folder_that_is_read_is_never_replaced" 2 "is an input" "$tracetta" convert -f --to=little one -o one
refuses "nor_one_that_an_input_is_in" 2 "is an input" "$tracetta" convert -f --to=little session/kernel/a.bin -o session/kernel
refuses "nor_one_in_an_input" 2 "is an input" "$tracetta" convert -f --to=little session -o session/kernel
refuses "nor_a_file_in_an_input" 2 "is an input" "$tracetta" convert -f --to=jsonl session -o session/ust/uid/0/64-bit/a.bin
refuses "a_folder_is_no_stream" 2 "folder of files" "$tracetta" convert --to=little one -o -
run "$tracetta" convert --dry-run --to=little one
[ $run_status = 0 ] && grep -q '2,\?000 events.*dry run\|dry run.*2,\?000 events' "$work/.err" && [ "$(find . -newer thesis/work -name '*.bin' | wc -l)" = 0 ]
verdict "a_dry_run_writes_no_folder" $? "exit status $run_status"
ends "folders_are_merged_into_a_folder" 0 "$tracetta" merge session/kernel one/a.bin -o merged.little
says "which_has_all_events" '"events": ?1200' "$tracetta" info --json merged.little
ends "a_part_of_a_folder_is_a_folder" 0 "$tracetta" convert --start=5000ns --end=6000ns one -o part.little
says "with_the_part" '"events": ?200' "$tracetta" info --json part.little
make late/less 1003 10 100
make late/more 1001 10 100
"$tracetta" cat --start=1011 --end=1051 late >wanted
[ "$(wc -l <wanted)" = 16 ]
verdict "a_part_is_of_all_its_traces" $? "$(wc -l <wanted) lines"
same "times_with_a_plus_count_from_the_earliest_of_them" wanted "$tracetta" cat --start=+10ns --end=+50ns late
ends "lines_are_made_of_a_folder" 0 "$tracetta" cat --format=jsonl one -o lines.jsonl
[ "$(wc -l <lines.jsonl)" = 2000 ]
verdict "all_of_it" $? "$(wc -l <lines.jsonl) lines"

# What is not in order is put in order for a format that wants it.
/usr/bin/python3 -c 'import struct
header = struct.pack("<Q", 0x0016547846040010)
def event(time, thread):
    return struct.pack("<QQQQ", 4 | 4 << 4, time, thread, thread)
with open("disorder.fxt", "wb") as file:
    file.write(header + event(500, 1) + event(100, 2) + event(300, 1))'
ends "events_out_of_order_are_sorted_for_a_folder" 0 "$tracetta" convert disorder.fxt -o sorted.little
says "and_all_are_there" '"events": ?3' "$tracetta" info --json sorted.little

# recover: a damaged record among good ones.
cp -r one broken
printf '\377\377\377\377\377\377\377\377' | dd of=broken/b.bin bs=1 seek=$((8 + 24 * 500 + 16)) conv=notrunc status=none
ends "damage_in_a_folder_is_found" 1 "$tracetta" check broken
ends "a_folder_is_recovered" 1 "$tracetta" recover broken -o good.little/
ends "and_is_clean_then" 0 "$tracetta" check good.little
says "with_all_that_was_good" '"events": ?1999' "$tracetta" info --json good.little
grep -q '"code": *"little.bad-value"' good.little.damage.json
verdict "the_list_of_damage_is_beside_it" $? "$(cat good.little.damage.json)"

# Several traces: each to the same place below the output, whatever becomes of the others.
mkdir -p several/below
cp -r one several/one
cp -r broken several/below/broken
/usr/bin/python3 -c 'import struct
header = struct.pack("<Q", 0x0016547846040010)
event = struct.pack("<QQQQ", 4 | 4 << 4, 500, 1, 1)
open("several/below/x.fxt", "wb").write(header + event + b"\xff" * 8 + event)'
"$tracetta" check several | grep -qF '"tracetta recover several -o OUTPUT" keeps the readable part'
verdict "check_reports_what_helps_with_several_traces" $?
ends "several_traces_are_recovered_together" 1 "$tracetta" recover several/ -o saved/
grep -q 'saved/: 3 traces, kept [0-9,]* events; 2 damaged places' "$work/.err" && [ "$(grep -c 'verified, clean' "$work/.err")" = 3 ]
verdict "with_one_sum_of_all" $? "$(cat "$work/.err")"
[ "$(cd saved && find . -type f | sort | tr '\n' ' ')" = "$(cd several && { find . -type f; echo ./below/broken.damage.json; echo ./below/x.fxt.damage.json; } | sort | tr '\n' ' ')" ]
verdict "where_they_were_and_a_list_of_damage_for_each" $? "$(find saved)"
ends "all_of_them_clean" 0 "$tracetta" check saved
refuses "a_folder_that_is_there_stays" 4 'saved: exists already; --overwrite' "$tracetta" recover several -o saved
ends "unless_it_may_be_replaced" 1 "$tracetta" recover -f several -o saved
echo else >file
refuses "a_file_is_no_place_for_traces" 4 'file: not a folder' "$tracetta" recover several -o file
refuses "nor_where_it_may_be_replaced" 4 'file: not a folder' "$tracetta" recover -f several -o file
mkdir empty
ends "an_empty_folder_is_nothing_to_replace" 1 "$tracetta" recover several -o empty//
ends "again_it_is" 1 "$tracetta" recover -f several -o empty//
# A trace that is not replaced would be read in place of the others (it is the folder then), or among them.
cp one/* empty
refuses "what_is_left_of_another_trace_keeps_a_folder" 4 'empty: empty/[^/]* in it is not replaced by any of the traces that go there' "$tracetta" recover -f several -o empty
cp -r saved older && cp -r one older/below/older
refuses "also_below_it" 4 'older: older/below/older/[^/]* in it is not replaced' "$tracetta" recover -f several -o older
[ -d older/below/older ] && cmp saved/below/x.fxt older/below/x.fxt
verdict "nothing_is_done_then" $? "$(find older)"
# Copies are not compressed, so they are not called as if they were, but where another one has that name.
mkdir -p packed/below
gzip -c several/below/x.fxt >packed/below/x.fxt.gz
cp packed/below/x.fxt.gz packed/y.fxt.GZ
cp several/below/x.fxt packed/y.fxt
cp packed/below/x.fxt.gz packed/below.gz # whose bare name is that of a folder
ends "compressed_traces_are_recovered" 1 "$tracetta" recover packed -o unpacked
[ "$(cd unpacked && find . -name '*.fxt*' ! -name '*.json' | sort | tr '\n' ' ')" = "./below/x.fxt ./y.fxt ./y.fxt.GZ " ] && [ -s unpacked/below.gz ]
verdict "copies_lose_the_suffix_of_a_compression" $? "$(find unpacked)"
grep -q 'unpacked/below/x.fxt: not compressed, as packed/below/x.fxt.gz is' "$work/.err" && grep -q 'unpacked/y.fxt.GZ: warning: it is not compressed' "$work/.err"
verdict "loss_is_reported" $? "$(cat "$work/.err")"
refuses "several_traces_are_no_single_output" 2 'they go to a folder, -o FOLDER' "$tracetta" recover several -o -
head -c 8 several/below/x.fxt >several/below/a.fxt
head -c 64 /dev/zero | tr '\0' '\377' >>several/below/a.fxt
ends "one_that_cannot_be_recovered_does_not_end_the_others" 1 "$tracetta" recover several -o partly
[ -f partly/below/x.fxt ] && grep -q 'partly: 3 traces' "$work/.err" && grep -q 'several: 1 of its traces could not be recovered' "$work/.err"
verdict "which_are_there" $? "$(cat "$work/.err")"

# One that nobody can read is no other one that the folder is, and inputs stay whatever links lead to.
mkdir damaged
for trace in a z; do
    "$tracetta" convert -q --to=ctf disorder.fxt -o damaged/$trace
done
rm damaged/z/metadata
ends "one_that_cannot_be_read_counts_as_such" 1 "$tracetta" recover damaged -o repaired
[ "$(find repaired -type f | sort | tr '\n' ' ')" = "$(cd damaged && find a -type f | sort | sed 's,^,repaired/,' | tr '\n' ' ')" ] && grep -q 'damaged: 1 of its traces' "$work/.err"
verdict "and_the_others_are_recovered_once" $? "$(find repaired; cat "$work/.err")"
head -c 300 /dev/zero >damaged/z/metadata
rm -rf damaged/z/index
for file in damaged/z/*; do
    [ "${file##*/}" = metadata ] || printf 'no magic here' >"$file"
done
run "$tracetta" check damaged
[ $run_status = 1 ] && grep -q 'directory.bad-main-file x1: damaged/z/metadata is full of zeros' "$work/.out"
verdict "zeros_in_place_of_metadata_are_reported_in_any_folder" $? "exit status $run_status"

# Streams that are compressed in their folder are written plain, under names that say so.
cp -r damaged/a ctf-packed
rm -rf ctf-packed/index
for file in ctf-packed/*; do
    [ "${file##*/}" = metadata ] || gzip "$file"
done
for how in 'recover --no-sidecar' 'convert --to=ctf' 'convert --to=ctf --sort'; do
    rm -rf ctf-bare
    # shellcheck disable=SC2086 # words of their own
    run "$tracetta" $how ctf-packed -o ctf-bare
    [ $run_status = 0 ] && [ -z "$(find ctf-bare -name '*.gz')" ] && [ "$(find ctf-bare -type f ! -path '*/index/*' | wc -l)" = "$(find ctf-packed -type f | wc -l)" ] &&
        "$tracetta" cat ctf-bare | cmp -s - <("$tracetta" cat ctf-packed)
    verdict "streams_lose_the_suffix_of_their_compression:$how" $? "exit status $run_status: $(find ctf-bare)"
done

# Files are written plain, whatever they are called.
run "$tracetta" convert --to=jsonl disorder.fxt -o named.jsonl.gz
[ $run_status = 0 ] && grep -q 'named.jsonl.gz: warning: it is not compressed' "$work/.err"
verdict "compression_suffix_of_output_is_reported" $? "exit status $run_status"
run "$tracetta" convert --to=jsonl disorder.fxt -o named.jsonl
[ $run_status = 0 ] && ! grep -q 'not compressed' "$work/.err"
verdict "other_names_are_not" $? "exit status $run_status"

mkdir led
cp -r several/below led/in
mkdir out
ln -s ../led/in/broken ../led/in/x.fxt out
find led -type f -exec cksum {} + >sums
refuses "links_in_the_output_do_not_lead_to_inputs" 3 'out/broken" is an input' "$tracetta" recover -f led/in -o out
find led -type f -exec cksum {} + | cmp -s sums -
verdict "which_stay_as_they_are" $?

# Signals: a pipe that stays open keeps the command waiting.  SIGBUS ends it at once, as a second Ctrl-C does.
mkfifo fifo
/usr/bin/python3 -c 'with open("disorder.fxt", "rb") as file:
    bytes = file.read()
with open("long.fxt", "wb") as file: # more than opening looks at
    file.write(bytes + 20000 * bytes[8:])'
set -m

is_underway()
{
    [ -n "$(find . -name ".$1.*")" ] || is_gone "$2"
}

# signalled SIGNAL OUTPUT: converts what comes through the pipe until the signal comes; a folder is under way then.
signalled()
{
    "$tracetta" convert --to=little -o "$2" fifo >"$work/.out" 2>"$work/.err" &
    local command=$!
    exec 8>fifo
    cat long.fxt >&8
    await is_underway "$2" $command
    underway=$(find . -name ".$2.*" -type d | wc -l)
    await is_asleep $command # it wants more than there is
    kill -s "$1" $command
    wait $command
    run_status=$?
    exec 8>&-
}

signalled INT cut.little
[ $run_status = 130 ] && [ -f cut.little/little.txt ] && [ "$underway" = 1 ]
verdict "ctrl_c_ends_with_130_and_a_whole_folder" $? "exit status $run_status"
signalled BUS gone.little
[ $run_status = 3 ] && [ ! -e gone.little ] && [ "$underway" = 1 ]
verdict "an_end_at_once_leaves_no_folder" $? "exit status $run_status"

# A folder that cannot be listed to its end may hold more than what was seen.
mkdir -p into && cp several/below/x.fxt into/x.fxt && : >out.json
mkdir from && cp several/below/x.fxt from/x.fxt
refuses "an_output_that_may_be_in_the_input_is_refused" 3 'from: cannot be listed, so the output "out.json" may be in it: Input/output error' \
    env UNLISTED_FOLDER="$PWD/from" "$tracetta" convert -f --to=jsonl from -o out.json
refuses "what_may_not_be_replaced_is_reported" 4 'into: cannot be listed, so it is unknown whether the copies replace all files in it: Input/output error' \
    env UNLISTED_FOLDER="$PWD/into" "$tracetta" recover -f from -o into
run "$tracetta" recover -f from -o into
[ $run_status = 1 ] && grep -q 'into: 1 trace, kept 2 events' "$work/.err"
verdict "and_replaced_where_it_can_be_seen" $? "exit status $run_status"

# After an interruption, the traces after the current one are not started, which is reported.
mkdir three
for trace in a c; do
    cp several/below/x.fxt three/$trace.fxt
done
/usr/bin/python3 -c 'import struct
with open("three/b.fxt", "wb") as file:
    file.write(struct.pack("<Q", 0x0016547846040010) + struct.pack("<QQQQ", 4 | 4 << 4, 500, 1, 1) * 6000000)'
mkfifo said
"$tracetta" recover three -o cut 2>said &
command=$!
while read -r line; do
    echo "$line"
    [[ $line = *cut/a.fxt:*verified* ]] && kill -s INT $command
done <said >"$work/.err"
wait $command
run_status=$?
[ $run_status = 130 ] && [ -f cut/a.fxt ] && [ ! -e cut/c.fxt ] && grep -q 'not of all: [12] of the traces of three w.* not begun' "$work/.err"
verdict "unstarted_traces_are_reported" $? "exit status $run_status: $(cat "$work/.err")"
[ -z "$(find . -name '.*.little.*')" ]
verdict "no_command_left_a_temporary_folder" $? "$(find . -name '.*')"
