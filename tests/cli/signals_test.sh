#!/bin/bash
# Pipes that close and signals that come.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
small=$work/small.heph
"$hexa_cat" "$(dirname "$0")/traces/small_heph.hexa" >"$small"
mkfifo "$work/fifo"

# A file long enough to fill a pipe: the epoch, then one span many times.
{
    head -c 23 "$small"
    tail -c 47 "$small" >"$work/record"
    for ((i = 0; i < 12; i++)); do
        cat "$work/record" "$work/record" >"$work/twice"
        mv "$work/twice" "$work/record"
    done
    cat "$work/record"
} >"$work/long.heph"

run bash -c "'$tracetta' cat '$work/long.heph' | head -n 1; exit \${PIPESTATUS[0]}"
[ $run_status = 0 ] && [ ! -s "$work/.err" ] && [ "$(wc -l <"$work/.out")" = 1 ]
verdict "closed_pipe_is_not_a_failure" $? "exit status $run_status"
run bash -c "'$tracetta' convert -q --to=jsonl -o - '$work/long.heph' | head -n 1; exit \${PIPESTATUS[0]}"
[ $run_status = 0 ] && [ "$(wc -l <"$work/.out")" = 1 ]
verdict "nor_is_one_of_convert" $? "exit status $run_status"

# interrupt SIGNAL FORMAT: converts what comes through the FIFO, gets the signal while it waits for more; $run_status is how it ended.
interrupt()
{
    "$tracetta" convert --to="$2" -f -o "$work/cut.$2" "$work/fifo" >"$work/.out" 2>"$work/.err" &
    local command=$!
    exec 8>"$work/fifo"
    cat "$work/long.heph" >&8
    await is_asleep $command
    kill -s "$1" $command
    wait $command
    run_status=$?
    exec 8>&-
}

# Background jobs of a script ignore SIGINT from the start, unless job control is on.
set -m
interrupt INT jsonl
[ $run_status = 130 ] && grep -q interrupted "$work/.err" && [ -s "$work/cut.jsonl" ]
verdict "ctrl_c_ends_with_130_and_a_file" $? "exit status $run_status"
/usr/bin/python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$work/cut.jsonl"
verdict "the_file_is_whole_as_far_as_it_goes" $? ""
interrupt TERM jsonl
[ $run_status = 143 ]
verdict "sigterm_ends_with_143" $? "exit status $run_status"
if "$tracetta" query "$small" 'SELECT 1' >/dev/null 2>&1; then
    for format in sqlite parquet arrow; do
        interrupt INT $format
        [ $run_status = 130 ] && grep -q 'nothing is written' "$work/.err" && grep -q interrupted "$work/.err" && [ ! -e "$work/cut.$format" ]
        verdict "ctrl_c_ends_with_130_and_without_tables:$format" $? "exit status $run_status: $(cat "$work/.err")"
    done
    # The signals come while the command is stopped, so that it handles both before it can clean up.
    for format in sqlite parquet arrow; do
        "$tracetta" query --format=$format -o "$work/twice.$format" "$small" \
            'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r' 2>"$work/.err" &
        command=$!
        for ((i = 0; i < 100; i++)); do [ -e "$work/twice.$format.partial-$command" ] && break; sleep 0.05; done
        [ -e "$work/twice.$format.partial-$command" ]
        was_there=$?
        kill -STOP $command
        kill -INT $command
        kill -TERM $command
        kill -CONT $command
        wait -f $command # not only until it has stopped
        left=$(cd "$work" && echo twice.$format*)
        [ $was_there = 0 ] && [ "$left" = "twice.$format*" ]
        verdict "second_signal_removes_incomplete_tables:$format" $? "left: $left"
    done
else
    skip "ctrl_c_ends_with_130_and_without_tables" "query is not built"
fi

# --- Outputs that are larger than what was read ---

# interrupt_slowly COMMAND...: reads little of what it prints, interrupts it, and reads the rest slowly; $printed bytes.
interrupt_slowly()
{
    printed=$(/usr/bin/python3 -c 'import signal, subprocess, sys, time
command = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
n = len(command.stdout.read1(4096))
command.send_signal(signal.SIGINT)
while part := command.stdout.read1(8192):
    n += len(part)
    time.sleep(0.04)
print(n, command.wait())' "$@")
    run_status=${printed#* }
    printed=${printed% *}
}
/usr/bin/python3 "$(dirname "$0")/deep_make.py" "$work/deep.fxt" 60 500
for words in "tree deep.fxt" "tree --json deep.fxt" "flame --to=folded -o - deep.fxt"; do
    # shellcheck disable=SC2086 # several words
    all=$(cd "$work" && "$tracetta" -q $words | wc -c)
    cd "$work" || exit 1
    # shellcheck disable=SC2086 # several words
    interrupt_slowly "$tracetta" -q $words
    cd - >/dev/null || exit 1
    [ "$run_status" = 130 ] && [ "$printed" -gt 0 ] && [ "$printed" -lt $((all * 2 / 3)) ]
    verdict "ctrl_c_ends_output_soon:$words" $? "exit status $run_status, $printed of $all bytes"
done

# --- With jobs, whose threads read the trace once more each ---

"$tracetta" convert -q --to=ctf -o "$work/long" "$work/long.heph"
for words in --style=babeltrace2 --format=jsonl --format=text "--format=text --limit=2500"; do
    # shellcheck disable=SC2086 # several words
    for jobs in 1 2 3; do "$tracetta" cat $words --jobs=$jobs "$work/long" >"$work/jobs.$jobs" 2>&1; done
    cmp "$work/jobs.1" "$work/jobs.2" && cmp "$work/jobs.1" "$work/jobs.3" && [ "$(wc -l <"$work/jobs.1")" -ge 2500 ]
    verdict "jobs_change_nothing_of_${words//[^a-z0-9]/_}" $? "$(wc -l "$work"/jobs.*)"
done
run bash -c "'$tracetta' cat --jobs=2 '$work/long' | head -n 1; exit \${PIPESTATUS[0]}"
[ $run_status = 0 ] && [ ! -s "$work/.err" ] && [ "$(wc -l <"$work/.out")" = 1 ]
verdict "closed_pipe_with_jobs_is_not_a_failure" $? "exit status $run_status"
if [ -w /dev/full ]; then
    refuses "with_jobs_too_a_full_disk_is_reported" 4 "cannot write standard output .*No space left" bash -c "'$tracetta' cat --jobs=2 '$work/long' >/dev/full"
else
    skip "with_jobs_too_a_full_disk_is_reported" "there is no /dev/full"
fi
"$tracetta" cat --jobs=2 "$work/long" >"$work/fifo" 2>"$work/.err" &
command=$!
{ head -n 3; sleep 0.3; kill -INT $command; cat; } <"$work/fifo" >"$work/part"
wait $command
run_status=$?
[ $run_status = 130 ] && grep -q interrupted "$work/.err" && [ -z "$(tail -c 1 "$work/part")" ]
verdict "with_jobs_too_ctrl_c_ends_with_130_and_whole_lines" $? "exit status $run_status"

# look WORD...: runs the command on what comes through the FIFO, and files after it, and interrupts it while it waits for more.
look()
{
    "$tracetta" "$@" >"$work/.out" 2>"$work/.err" &
    local command=$!
    exec 8>"$work/fifo"
    head -c 100 "$small" >&8
    await is_asleep $command # it waits for more
    kill -INT $command
    wait $command
    run_status=$?
    exec 8>&-
}
# Streams of a trace without spans are read one after another: the first is whole, the one at hand so long that a signal comes while it is read.
mkdir "$work/streams"
cat >"$work/streams/metadata" <<METADATA
/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream { event.header := struct { u8 id; }; };
event { name = a; id = 0; };
METADATA
printf '\0\0\0' | tee "$work/streams/a" >"$work/streams/c"
truncate -s 2G "$work/streams/b"
# stop WORD...: runs the command, interrupts it when it has read for a moment.
stop()
{
    "$tracetta" "$@" >"$work/.out" 2>"$work/.err" &
    local command=$!
    sleep 1
    kill -INT $command
    wait $command
    run_status=$?
}
stop stat "$work/streams"
[ $run_status = 130 ] && grep -Eq 'warning: this is not of all: 1 stream was read whole, 1 in part \(.*streams/b, [0-9]+ % of it\), 1 not at all' "$work/.err"
verdict "interrupted_stat_reports_which_streams_it_has" $? "exit status $run_status"
stop stat --json "$work/streams"
[ $run_status = 130 ] && grep -q '"interrupted": true' "$work/.out" && tr -d ' \n' <"$work/.out" | grep -q '"streams_read":{"whole":1,"part":1,"none":1}'
verdict "also_in_json" $? "exit status $run_status"
for command in info check; do
    stop $command "$work/streams"
    [ $run_status = 130 ] && grep -Eq 'warning: this is not of all: 1 stream was read whole, 1 in part \(.*streams/b, [0-9]+ % of it\), 1 not at all' "$work/.err"
    verdict "interrupted_${command}_reports_it_too" $? "exit status $run_status, $(cat "$work/.err")"
    stop $command --json "$work/streams"
    [ $run_status = 130 ] && tr -d ' \n' <"$work/.out" | grep -q '"interrupted":true,"streams_read":{"whole":1,"part":1,"none":1}'
    verdict "also_${command}_in_json" $? "exit status $run_status"
done
rm -r "$work/streams"

look convert --sort --to=heph "$work/fifo" -o "$work/sorted.heph"
[ $run_status = 130 ] && grep -Eq 'warning: sorting had not ended when it was interrupted: only the first [0-9]+ events? were written' "$work/.err" && ! grep -q 'not of all' "$work/.err"
verdict "interrupted_sorting_reports_how_much_it_wrote" $? "exit status $run_status, $(cat "$work/.err")"
rm -f "$work/sorted.heph"

# As many events as a pipe has no room for, but the output's buffer: all were given when it is written.
head -c $((23 + 47 * 700)) "$work/long.heph" >"$work/some.heph"
"$tracetta" convert --sort --to=jsonl "$work/some.heph" -o - >"$work/fifo" 2>"$work/.err" &
command=$!
{ sleep 0.5; kill -INT $command; cat; } <"$work/fifo" >"$work/part"
wait $command
run_status=$?
[ $run_status = 130 ] && [ "$(wc -l <"$work/part")" = 700 ] && ! grep -q 'sorting had not ended\|not of all' "$work/.err"
verdict "interrupt_after_the_last_event_reports_nothing" $? "exit status $run_status, $(wc "$work/part"), $(cat "$work/.err")"

look info "$work/fifo"
[ $run_status = 130 ] && grep -q '^events' "$work/.out"
verdict "interrupted_info_shows_what_it_has" $? "exit status $run_status"

look check "$work/fifo" "$work/long.heph"
[ $run_status = 130 ] && grep -q 'fifo: incomplete' "$work/.out" && grep -q 'reading ended early: interrupted' "$work/.out" && ! grep -q 'whole\|long' "$work/.out"
verdict "input_not_read_to_its_end_is_not_called_complete" $? "exit status $run_status, $(cat "$work/.out")"
look check --json "$work/fifo" "$work/long.heph"
[ $run_status = 130 ] && grep -q '"clean": false' "$work/.out" && grep -q '"text": "interrupted"' "$work/.out" && ! grep -q '"clean": true' "$work/.out"
verdict "nor_is_it_clean_in_json" $? "exit status $run_status, $(cat "$work/.out")"

run "$tracetta" info --progress=json "$work/long.heph"
[ $run_status = 0 ]
verdict "progress_can_be_for_programs" $? "exit status $run_status"
