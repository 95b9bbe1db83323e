#!/bin/bash
# JSON Lines, CSV and Chrome JSON of one trace, read by parsers that are not ours, must say the same.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
generate_fxt=$(realpath "$2")
check=$(dirname "$0")/outputs_check.py

# agree NAME TRACE: converts the trace three times and compares what other parsers make of it.
agree()
{
    local name=$1 trace=$2 format
    for format in jsonl csv chrome; do
        run "$tracetta" convert --raw --sort -f --to=$format -o "$work/out.$format" "$trace"
        case $run_status in
        0 | 4) ;;
        *) verdict "$name" 1 "exit status $run_status converting to $format"; return ;;
        esac
    done
    run python3 "$check" "$work/out.jsonl" "$work/out.csv" "$work/out.chrome"
    verdict "$name" "$run_status" "the outputs of $trace differ"
}

# Random fields make more classes than CTF gets: beyond 10,000 names stand in the events, and nothing else is different.
by_line()
{
    "$tracetta" cat "$1" | sed 's/ (+[0-9.]*)//' | LC_ALL=C sort
}
"$generate_fxt" --events 40000 --seed 3 "$work/classes.fxt"
run "$tracetta" convert --to=ctf "$work/classes.fxt" -o "$work/classes"
by_line "$work/classes.fxt" >"$work/wanted"
by_line "$work/classes" >"$work/got"
[ $run_status = 0 ] && [ -s "$work/got" ] && cmp -s "$work/wanted" "$work/got" && grep -aq 'name = "tracetta:event"' "$work/classes/metadata"
verdict "names_beyond_ten_thousand_classes_of_ctf_are_kept" $? "$(diff "$work/wanted" "$work/got" | head -4)"

# Sorting what cannot be read twice needs room on disk: where there is none, it is not the input that cannot be read.
refuses "no_folder_for_sorting_is_a_failed_output" 4 "cannot create a temporary file in /no/such; set TMPDIR" \
    env TMPDIR=/no/such bash -c '"$0" cat --sort - <"$1"' "$tracetta" "$work/classes.fxt"
refuses "no_room_for_sorting_is_a_failed_output" 4 "cannot grow past .*; set TMPDIR" \
    env TMPDIR="$work" bash -c 'trap "" XFSZ; ulimit -f 500; "$0" cat --sort - <"$1"' "$tracetta" "$work/classes.fxt"
run env TMPDIR=/no/such bash -c '"$0" convert --sort --to=jsonl - -o "$2" <"$1"' "$tracetta" "$work/classes.fxt" "$work/sorted.jsonl"
[ $run_status = 4 ] && [ ! -e "$work/sorted.jsonl" ]
verdict "converting_that_finds_no_room_leaves_no_file" $? "exit status $run_status"

# What can is read once to find out where it is out of order, and passes through memory then.
"$generate_fxt" --events 1000 --seed 4 "$work/few.fxt"
cat "$work/few.fxt" "$work/classes.fxt" >"$work/back.fxt"
"$tracetta" cat --format=jsonl "$work/back.fxt" 2>"$work/.warned" | sed 's/^{"time_ns":\([0-9]*\).*/\1/' | LC_ALL=C sort -nc 2>"$work/.warned"
[ $? = 1 ]
verdict "events_are_out_of_order" $?
"$tracetta" cat --sort --format=jsonl - <"$work/back.fxt" >"$work/wanted" 2>"$work/.warned"
same "what_is_nearly_in_order_is_sorted_without_a_file" "$work/wanted" env TMPDIR=/no/such "$tracetta" cat --sort --format=jsonl "$work/back.fxt"

# Complete spans may be in any order in Chrome JSON; no file is needed to sort them.
"$tracetta" convert -q --to=heph "$work/classes.fxt" -o "$work/classes.heph" 2>"$work/.warned"
run env TMPDIR=/no/such "$tracetta" convert -q --to=chrome "$work/classes.heph" -o "$work/unsorted.json"
spans=$(grep -c '"ph":"X"' "$work/unsorted.json")
"$tracetta" convert -q --sort --to=chrome "$work/classes.heph" -o "$work/sorted.json" 2>"$work/.warned"
[ "$run_status" = 0 ] && [ "$spans" -gt 0 ] && [ "$spans" = "$(grep -c '"ph":"X"' "$work/sorted.json")" ]
verdict "complete_spans_are_written_as_chrome_json_without_sorting" $? "exit status $run_status, $spans spans"

# Nor is all of a trace sorted to find its begin: a range of it fits in memory.
says "begin_of_sorted_trace_is_found_without_sorting" '\{' env TMPDIR=/no/such "$tracetta" cat --sort --start=+0s --end=+1ms "$work/classes"

if ! command -v python3 >/dev/null; then
    skip outputs_agree "no python3"
    exit
fi
for seed in 1 2 3; do
    "$generate_fxt" --events 3000 --seed $seed --mix everything "$work/random.fxt"
    agree "outputs_of_a_random_trace_agree_$seed" "$work/random.fxt"
done
if [ -z "$corpus" ]; then
    skip outputs_of_recorded_traces_agree "no corpus: set TTR_CORPUS"
    exit
fi
for trace in "$corpus"/fxt/magic*.fxt "$corpus"/heph/*.trace; do
    agree "outputs_of_${trace##*/}_agree" "$trace"
done
