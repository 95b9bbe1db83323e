#!/bin/bash
# --debug-info: functions and lines of a library that was built beside the command, in every output.
# usage: places_test.sh TRACETTA LIBRARY
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
library=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
export TZ=UTC
cd "$work" || exit 1

offset=$(nm "$library" | sed -n 's/^\([0-9a-f]*\) T sample_fill$/\1/p')
short=$(printf '%#x' "0x$offset")
line=$(grep -n '^int sample_fill' "$here/../symbols_sample.c" | cut -d : -f 1)
place="bin = \"$(basename "$library")\\+$short\", func = \"sample_fill\\+0\", src = \"symbols_sample.c:($line|$((line + 1)))\""
/usr/bin/python3 "$here/places_make.py" made "$library" "$offset" || exit 1

says "function_and_line_stand_in_the_context" "app:here .*\\{ vpid = 42, ip = 0x7f00[0-9a-f]*, debug_info = \\{ $place \\} \\} \\{ n = 0 \\}" \
    "$tracetta" cat --debug-info made
says "as_in_the_lines_of_babeltrace2" "app:here: \\{ vpid = 42, ip = 0x7F00[0-9A-F]*, debug_info = \\{ $place \\} \\}, \\{ n = 0 \\}" \
    "$tracetta" cat --style=babeltrace2 --debug-info made
says "a_missing_binary_has_its_name" 'debug_info = \{ bin = "such.so\+0x123", func = "", src = "" \} \} \{ n = 1 \}' "$tracetta" cat --debug-info made
grep -q 'warning: of the binaries in the trace 1 is not here.*the first is /no/such.so' .err
verdict "and_is_told_once" $? "no warning"
says "an_address_of_nothing_has_empty_texts" 'debug_info = \{ bin = "", func = "", src = "" \} \} \{ n = 2 \}' "$tracetta" cat --debug-info made
run "$tracetta" cat --debug-info-dir=no/such/folder made
[ $run_status = 0 ] && grep -q 'no/such/folder: warning: --debug-info-dir names no folder' "$work/.err"
verdict "a_folder_that_is_none_is_told" $? "exit status $run_status"
says "whole_paths" "bin = \"$library\\+$short\", .* src = \"[^\"]*/symbols_sample.c:" "$tracetta" cat --debug-info-full-path made
says "a_prefix_stands_before_the_paths" 'bin = "/else/no/such.so\+0x123"' "$tracetta" cat --debug-info-target-prefix=/else/ --debug-info-full-path made
says "what_was_loaded_before_the_start_is_known" "$place" "$tracetta" cat --debug-info --start=+2us --name='app:*' made
says "json_lines_have_it" "\"ip\":[0-9]*,\"debug_info\":\\{\"bin\":\"[^\"]*\",\"func\":\"sample_fill\\+0\",\"src\":\"symbols_sample.c:" \
    "$tracetta" cat --debug-info --format=jsonl made
says "so_do_sorted_events" "$place" "$tracetta" cat --debug-info --sort made
"$tracetta" cat --style=babeltrace2 --debug-info made >wanted 2>/dev/null
for version in 1.8 2; do
    run "$tracetta" convert --strict --debug-info made -o "made.$version" --to=ctf --option "ctf.version=$version"
    same "and_ctf_$version" wanted "$tracetta" cat --style=babeltrace2 "made.$version"
done
run "$tracetta" merge --debug-info made made.2 -o both.jsonl --to=jsonl
[ "$(grep -c 'sample_fill+0' both.jsonl)" = 2 ]
verdict "what_has_it_already_keeps_it" $? "both.jsonl has it $(grep -c 'sample_fill+0' both.jsonl) times"
