#!/bin/bash
# What a clumsy user does: outputs onto inputs, closed descriptors, values out of range, limits of the system.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
small=$work/small.heph
"$hexa_cat" "$(dirname "$0")/traces/small_heph.hexa" >"$small"

# keeps NAME FILE COMMAND...: it is refused as a misuse, and the file stays as it is.
keeps()
{
    local name=$1 file=$2
    shift 2
    cp "$file" "$work/kept"
    refuses "$name" 2 "is an input" "$@"
    cmp -s "$file" "$work/kept"
    verdict "${name}_and_it_stays" $? "$file changed"
}

ln "$small" "$work/other-name.heph"
ln -s small.heph "$work/link.heph"
mkdir "$work/folder"
cp "$small" "$work/folder/a.heph"
ln -s folder/a.heph "$work/out.heph"
keeps "cat_never_writes_into_its_input" "$small" "$tracetta" cat -f -o "$work/other-name.heph" "$small"
keeps "convert_knows_its_input_by_any_name" "$small" "$tracetta" convert -f "$small" -o "$work/link.heph"
keeps "a_file_of_a_folder_is_an_input" "$work/folder/a.heph" "$tracetta" merge -f "$work/folder" -o "$work/out.heph"
keeps "what_comes_from_standard_input_is_an_input" "$small" bash -c "'$tracetta' convert -f - --to=heph -o '$small' <'$small'"
{ head -c 69 "$small"; printf 'rubbish that is no packet'; tail -c +70 "$small"; } >"$work/whole.damage.json"
keeps "the_list_of_damage_never_replaces_the_input" "$work/whole.damage.json" \
    "$tracetta" recover -f "$work/whole.damage.json" -o "$work/whole"
cp "$work/whole.damage.json" "$work/broken.heph"
echo precious >"$work/saved.damage.json.new"
run "$tracetta" recover "$work/broken.heph" -o "$work/saved"
[ $run_status = 4 ] && [ "$(cat "$work/saved.damage.json.new")" = precious ] && grep -q 'saved.damage.json.new: exists already: remove it' "$work/.err"
verdict "nor_a_file_of_someone_else" $? "exit status $run_status"

# A head, and then the begin of an object.
printf 'Nettrace\024\0\0\0!FastSerialization.1\005\005\001\004' >"$work/cut.nettrace"
run "$tracetta" check "$work/cut.nettrace"
grep -q 'nettrace.cut' "$work/.out" && ! grep -q recover "$work/.out" "$work/.err"
verdict "recovery_is_not_proposed_where_the_format_cannot_be_written" $? "exit status $run_status"

printf '\27\10\104tracing6\0\0\10\0\20\0\0' >"$work/head.dat"
refuses "what_cannot_be_recovered_is_a_misuse_that_reports_the_way" 2 "cannot be recovered.*tracetta convert" "$tracetta" recover "$work/head.dat" -o "$work/head"
run timeout 10 bash -c "'$tracetta' info - <&-"
[ $run_status = 3 ]
verdict "a_closed_standard_input_is_unreadable" $? "exit status $run_status"
run bash -c "'$tracetta' convert '$small' -o '$work/closed.heph' <&- >&- 2>&-"
[ $run_status = 0 ] && cmp -s "$small" "$work/closed.heph"
verdict "talk_never_ends_up_in_the_output" $? "exit status $run_status"
run bash -c "'$tracetta' formats >&-"
[ $run_status = 4 ]
verdict "a_closed_standard_output_cannot_be_written" $? "exit status $run_status"

refuses "a_limit_of_nothing_is_a_misuse" 2 "expected a number" "$tracetta" cat --limit=0 "$small"
refuses "what_a_clock_offset_can_be_is_reported" 2 "--clock-offset cannot be .*: expected seconds like" "$tracetta" cat --clock-offset=x "$small"
refuses "a_range_that_ends_before_it_begins_is_a_misuse" 2 "before --start" "$tracetta" cat --start=+2s --end=+1s "$small"
refuses "also_of_dates" 2 "before --start" "$tracetta" stat --start=2026-11-22 --end=2026-11-21 "$small"
refuses "the_reverse_of_everything_is_a_misuse" 2 "--invert needs" "$tracetta" cat --invert "$small"
refuses "an_input_without_a_name_is_reported_so" 3 "a file without a name" "$tracetta" cat ""
echo '{"traceEvents":[{"ph":"X"}]}' >"$work/chrome.json"
# Options of the library are reported as flags; what a file is called stays what it is.
name='a format option ctf.y TTR_WRITE_STRICT ttr_read_options.from = x'
printf 'zz' >"$work/$name"
refuses "names_of_files_are_no_options" 3 "/$name: not a trace of a known format.*; use --from=FORMAT to read it anyway" "$tracetta" cat "$work/$name"
refuses "nor_are_those_that_are_not_there" 3 "cannot open .*/no $name " "$tracetta" cat "$work/no $name"
rm "$work/$name"
# A trace that is a folder comes in an archive, which is not looked into.
head -c 257 /dev/zero | tr '\0' x >"$work/folder.tar"
printf 'ustar  ' >>"$work/folder.tar"
refuses "a_tar_archive_is_to_be_unpacked" 3 'folder.tar: not a trace: this is a tar archive; unpack it, and name the trace that is in it' "$tracetta" cat "$work/folder.tar"
gzip "$work/folder.tar"
refuses "also_a_compressed_one" 3 'folder.tar.gz: not a trace: this is a tar archive; unpack it' "$tracetta" info "$work/folder.tar.gz"
printf 'PK\003\004....' >"$work/folder.zip"
refuses "and_a_zip_archive" 3 'this is a zip archive; unpack it' "$tracetta" cat "$work/folder.zip"
rm "$work"/folder.*
refuses "json_that_is_not_ctf_is_not_taken_for_it" 3 "this is a Chrome JSON trace" "$tracetta" cat "$work/chrome.json"
# file NAME WHAT BYTES: a file of these bytes is called what it looks like.
looks_like()
{
    printf "$3" >"$work/$1"
    refuses "file_that_is_not_a_trace_is_called_${1%.*}" 3 "$1: not a trace.* (this is|it looks like) $2" "$tracetta" info "$work/$1"
}
looks_like text.txt text 'hello world\n'
looks_like json.json JSON '[1, 2, 3]\n'
looks_like elf.bin 'an ELF program' '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\002\0'
looks_like core.dump 'a core dump' '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\004\0'
looks_like pcap.pcap 'a packet capture' '\324\303\262\241\002\0\004\0'
looks_like zip.zip 'a zip archive' 'PK\003\004aaaa'
looks_like png.png 'a PNG image' '\211PNG\r\n\032\n'
looks_like sqlite.db 'an SQLite database' 'SQLite format 3\0'
looks_like script.sh 'a script' '#!/bin/sh\n'
gzip -k "$work/text.txt"
refuses "compressed_file_is_called_what_is_in_it" 3 "text.txt.gz: not a trace.* it looks like text" "$tracetta" info "$work/text.txt.gz"
mkdir -p "$work/stray/inner"
printf 'x' >"$work/stray/inner/text.txt"
refuses "folder_without_a_trace_is_named_itself" 3 "stray" "$tracetta" "$work/stray"
refuses "no_kind_is_a_misuse" 2 "no kind \"\"" "$tracetta" cat --kind= "$small"
refuses "nor_is_an_empty_one_among_others" 2 "no kind \"\"" "$tracetta" cat --kind=span, "$small"
run "$tracetta" cat --json "$small"
! grep -q "did you mean" "$work/.err"
verdict "an_option_of_another_command_is_not_a_typing_error" $? ""
run "$tracetta" cat --start=+9223372036854775807 "$small"
[ $run_status = 1 ] && [ ! -s "$work/.out" ]
verdict "range_after_the_last_time_has_no_events" $? "exit status $run_status"
succeeds "offsets_may_leave_the_range_of_times" "$tracetta" cat --offset="$small=9223372036854775807" --start=+1ms "$small"

succeeds "many_inputs_need_no_higher_limit" bash -c "ulimit -S -n 16; exec '$tracetta' cat $(yes "'$small'" | head -n 40 | tr '\n' ' ')"

# A name that clears the screen, of a file and of a trace in a folder.
bell=$work/bell$(printf '\033[2J\a')
head -c -1 "$small" >"$bell.heph"
for command in info check cat stat; do
    run "$tracetta" "$command" "$bell.heph"
    [ $run_status = 1 ] && grep -Fqh '\x1b[2J\x07' "$work/.out" "$work/.err" && ! grep -q "$(printf '[\033\a]')" "$work/.out" "$work/.err"
    verdict "names_of_files_do_not_steer_the_terminal_in_$command" $? "exit status $run_status"
done
run "$tracetta" cat "$bell" --level="$bell"
grep -Fq '\x1b[2J\x07' "$work/.err"
verdict "nor_do_they_in_what_is_refused" $? ""

# A limit of size counts in KiB: the output is longer.
for ((i = 0; i < 9; i++)); do cat "$small" "$small" >"$work/twice"; cp "$work/twice" "$small"; done
run bash -c "ulimit -f 1; '$tracetta' convert --to=jsonl '$small' -o '$work/long.jsonl'"
[ $run_status = 4 ] && grep -q "too large" "$work/.err" && [ -z "$(find "$work" -name '.long*')" ]
verdict "a_limit_of_size_is_a_failed_output" $? "exit status $run_status"
name=$(printf 'x%.0s' {1..300})
refuses "a_name_too_long_is_refused_before_the_work" 4 "cannot create .*too long" "$tracetta" convert --to=jsonl "$small" -o "$work/$name"
run bash -c "ulimit -n 4; exec '$tracetta' convert --to=jsonl '$small' -o '$work/long.jsonl'"
! grep -q "folder is not" "$work/.err"
verdict "too_many_open_files_are_not_blamed_on_the_folder" $? "exit status $run_status"

# Cut while the pipe is full: what is mapped is gone.
for ((i = 0; i < 5; i++)); do cat "$small" "$small" >"$work/twice"; cp "$work/twice" "$small"; done
"$tracetta" convert -q --to=ctf "$small" -o "$work/streams" 2>"$work/.err"
# What was in order when it was looked at is read as without --sort.
"$tracetta" convert -q --sort --to=ctf "$small" -o "$work/ordered" 2>"$work/.err"
run "$tracetta" cat --sort "$work/ordered"
[ $run_status = 0 ] && ! grep -q "written to" "$work/.err"
verdict "a_sorted_input_that_stays_is_not_said_to_change" $? "exit status $run_status"
run bash -c "'$tracetta' cat --sort '$work/ordered' | { read -r line; for file in '$work'/ordered/[!mi]*; do printf x >>\"\$file\"; done; cat >/dev/null; }; exit \${PIPESTATUS[0]}"
[ $run_status = 1 ] && grep -q "warning: written to while it was read: events that came may be out of order" "$work/.err"
verdict "a_sorted_input_that_grows_is_reported" $? "exit status $run_status"
run bash -c "'$tracetta' cat --jobs=2 '$work/streams' | { read -r line; truncate -s 12288 '$work'/streams/[!mi]*; cat >/dev/null; }; exit \${PIPESTATUS[0]}"
[ $run_status = 3 ] && grep -q "was cut while it was read" "$work/.err"
verdict "a_stream_that_is_cut_while_two_threads_read_it_is_reported" $? "exit status $run_status"
run bash -c "'$tracetta' cat '$small' | { read -r line; truncate -s 100 '$small'; cat >/dev/null; }; exit \${PIPESTATUS[0]}"
[ $run_status = 3 ] && grep -q "was cut while it was read" "$work/.err"
verdict "an_input_that_is_cut_while_it_is_read_is_reported" $? "exit status $run_status"
