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
line=$(grep -n '^int sample_fill' "$here/../support/symbols_sample.c" | cut -d : -f 1)
place="bin = \"$(basename "$library")\\+$short\", func = \"sample_fill\\+0\", src = \"symbols_sample.c:($line|$((line + 1)))\""
/usr/bin/python3 "$here/places_make.py" made "$library" "$offset" || exit 1

says "function_and_line_are_in_the_context" "app:here .*\\{ vpid = 42, ip = 0x7f00[0-9a-f]*, debug_info = \\{ $place \\} \\} \\{ n = 0 \\}" \
    "$tracetta" cat --debug-info made
says "as_in_the_lines_of_babeltrace2" "app:here: \\{ vpid = 42, ip = 0x7F00[0-9A-F]*, debug_info = \\{ $place \\} \\}, \\{ n = 0 \\}" \
    "$tracetta" cat --style=babeltrace2 --debug-info made
says "a_missing_binary_has_its_name" 'debug_info = \{ bin = "such.so\+0x123", func = "", src = "" \} \} \{ n = 1 \}' "$tracetta" cat --debug-info made
grep -q 'warning: of the binaries in the trace 1 is not here.*the first is /no/such.so' .err
verdict "loss_is_reported_once" $? "no warning"
says "an_address_of_nothing_has_empty_texts" 'debug_info = \{ bin = "", func = "", src = "" \} \} \{ n = 2 \}' "$tracetta" cat --debug-info made
run "$tracetta" cat --debug-info-dir=no/such/folder made
[ $run_status = 0 ] && grep -q 'no/such/folder: warning: --debug-info-dir names no folder' "$work/.err"
verdict "a_folder_that_is_none_is_reported" $? "exit status $run_status"
says "whole_paths" "bin = \"$library\\+$short\", .* src = \"[^\"]*/symbols_sample.c:" "$tracetta" cat --debug-info-full-path made
says "a_prefix_is_before_the_paths" 'bin = "/else/no/such.so\+0x123"' "$tracetta" cat --debug-info-target-prefix=/else/ --debug-info-full-path made
says "modules_loaded_before_the_start_are_known" "$place" "$tracetta" cat --debug-info --start=+2us --name='app:*' made
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
verdict "existing_debug_info_is_kept" $? "both.jsonl has it $(grep -c 'sample_fill+0' both.jsonl) times"

# --- Functions of the samples of perf.data, in SQL ---
/usr/bin/python3 - "$library" "$offset" >samples.data <<'PROGRAM' || exit 1
import struct, sys
path, offset, base = sys.argv[1].encode() + b"\0", int(sys.argv[2], 16), 0x7f0000000000
path += bytes(-len(path) % 8)
def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
def ids(time):
    return struct.pack("<IIQ", 20, 20, time)
out = b"PERFILE2" + struct.pack("<Q", 16)  # in the form of a pipe: IP, TID and TIME of each sample
out += record(64, 0, struct.pack("<IIQQQQQIIQQ", 1, 64, 0, 1000, 7, 0, 0x40000, 0, 0, 0, 7))
out += record(1, 2, struct.pack("<IIQQQ", 20, 20, base, 1 << 20, 0) + path + ids(100))
for i, address in enumerate((base + offset, base + offset + 1, 5)):
    out += record(9, 2, struct.pack("<Q", address) + ids(1000 + i))
sys.stdout.buffer.write(out)
PROGRAM
"$tracetta" query -q --format=csv samples.data "SELECT f.name, s.name, s.source_file, s.line_number, count(*) FROM perf_sample p
    JOIN stack_profile_callsite c ON c.id = p.callsite_id JOIN stack_profile_frame f ON f.id = c.frame_id
    LEFT JOIN stack_profile_symbol s USING (symbol_set_id) GROUP BY 1, 2, 3 ORDER BY 1" >.out 2>.err
sed -n 2p .out | grep -q '^,,,,1$' && sed -n 3p .out | grep -Eq "^sample_fill,sample_fill,[^,]*/symbols_sample.c,($line|$((line + 1))),2\$"
verdict "symbols_are_a_table_and_names_of_frames" $? "$(cat .out)"
LD_DEBUG=files "$tracetta" query -q samples.data "SELECT count(*) FROM perf_sample" >.out 2>.err
! grep -q libtracetta-symbols .err
verdict "symbols_are_not_loaded_for_other_questions" $? "libtracetta-symbols was loaded"

# --- From a server, by build id, where that is asked for ---
/usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null
has_library=$?
refuses "debuginfod_without_servers_is_refused" 2 "--debuginfod needs a server" env -u DEBUGINFOD_URLS "$tracetta" cat --debuginfod made
mkdir broken && echo "no library" >broken/libdebuginfod.so.1
refuses "a_library_that_is_missing_is_reported" 2 "needs libdebuginfod.so.1 of elfutils \\(package libdebuginfod1" \
    env LD_LIBRARY_PATH="$PWD/broken" "$tracetta" cat --debuginfod=http://127.0.0.1:1 made
if [ $has_library != 0 ] || ! command -v objcopy >/dev/null; then
    skip "debug_information_from_a_server" "there is no libdebuginfod.so.1, or no objcopy"
    exit 0
fi
cp "$library" bare.so && strip --strip-all bare.so
/usr/bin/python3 "$here/places_make.py" bare "$PWD/bare.so" "$offset" || exit 1
id=$(readelf -n "$library" | sed -n 's/.*Build ID: //p')
mkdir -p served/buildid/"$id" deaf silent # its functions are known also when bare, by their dynamic symbols, its lines are not
objcopy --only-keep-debug "$library" "served/buildid/$id/debuginfo"

# serve FOLDER WORD: $port, $server
serve()
{
    /usr/bin/python3 "$here/debuginfod_serve.py" "$@" &
    server=$!
    await_file "$1/port" $server
    port=$(cat "$1/port")
}
serve served
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # what the library's own libraries leave at their end is theirs
export DEBUGINFOD_CACHE_PATH=$work/cache
bare='debug_info = \{ bin = "bare.so\+'$short'"'
says "servers_are_not_used_without_the_option" "$bare, func = \"sample_fill\\+0\", src = \"\"" env DEBUGINFOD_URLS="http://127.0.0.1:$port" "$tracetta" cat --debug-info bare
[ ! -e served/log ]
verdict "and_no_server_hears_of_it" $? "$(cat served/log 2>/dev/null)"
says "a_server_has_functions_and_lines" "$bare, func = \"sample_fill\\+0\", src = \"symbols_sample.c:($line|$((line + 1)))\"" \
    "$tracetta" cat --debuginfod="http://127.0.0.1:$port" bare
requests=$(grep -c debuginfo served/log)
says "servers_from_the_environment_are_used" "func = \"sample_fill\\+0\"" env DEBUGINFOD_URLS="http://127.0.0.1:$port" "$tracetta" cat --debuginfod bare
[ "$requests" = 1 ] && [ "$(grep -c debuginfo served/log)" = 1 ]
verdict "fetched_files_are_cached" $? "$requests requests, then $(grep -c debuginfo served/log)"
run env DEBUGINFOD_MAXSIZE=1000 DEBUGINFOD_CACHE_PATH="$work/cache3" "$tracetta" cat --debuginfod="http://127.0.0.1:$port" bare
[ $run_status = 0 ] && grep -q 'exceeds 1000 bytes and is not used' .err && grep -q 'src = ""' .out
verdict "file_of_a_server_above_its_limit_is_not_used" $? "exit status $run_status"
kill $server
wait $server 2>/dev/null
serve deaf deaf # the port of a server that has ended may be another's by now
export DEBUGINFOD_CACHE_PATH=$work/cache2
run "$tracetta" cat --debuginfod="http://127.0.0.1:$port" bare
[ $run_status = 0 ] && grep -q "debug information cannot be fetched from http://127.0.0.1:$port: " .err && grep -q 'src = ""' .out
verdict "a_server_that_is_not_there_is_reported_and_nothing_else_is_lost" $? "exit status $run_status"
kill $server
wait $server 2>/dev/null
serve silent silent # for as long as it lives: whoever waits longer than he should is ended by the helper
run env DEBUGINFOD_TIMEOUT=1 "$tracetta" cat --debuginfod="http://127.0.0.1:$port" bare
[ $run_status = 0 ] && grep -q "debug information cannot be fetched from" .err
verdict "a_server_that_does_not_answer_is_given_up" $? "exit status $run_status"
rm -f silent/log
set -m # else what is started would be deaf to Ctrl-C
DEBUGINFOD_TIMEOUT=1000 timeout --foreground 120 "$tracetta" cat --debuginfod="http://127.0.0.1:$port" bare >.out 2>.err &
command=$!
await test -s silent/log
kill -INT $command
wait $command
run_status=$?
set +m
[ $run_status = 130 ]
verdict "ctrl_c_ends_waiting_for_a_server" $? "exit status $run_status"
kill $server
wait $server 2>/dev/null
