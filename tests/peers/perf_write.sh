#!/bin/bash
# perf.data written by tracetta, with perf and with perf-decode of Microsoft's LinuxTracepoints: every event is there, with its name, thread, time and fields.
# usage: perf_write.sh TRACETTA GENERATE_FXT SOURCE_ROOT; TTR_PERF_DECODE names perf-decode where it is not in the path.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
generate=$2
perf_decode=${TTR_PERF_DECODE:-$(command -v perf-decode)}

command -v perf >/dev/null || { skip "perf" "there is no perf"; exit 0; }


# compare NAME FILE: it is written in every way, and read by all.
compare()
{
    local name=$1 from=$2 expected how
    # Gaps become LOST, and mappings MMAP2, which perf script does not print.
    expected=$("$tracetta" cat --format=jsonl "$from" 2>/dev/null | grep -vc '"kind":"gap"\|"kind":"object".*"fields":{"start"')
    for how in "byte-order=little" "byte-order=big" "zstd=1"; do
        run "$tracetta" convert -f -q --option="$how" --to=perf "$from" -o "$work/out.data"
        timeout 60 perf script -i "$work/out.data" >"$work/script.txt" 2>"$work/script.err"
        [ "$(wc -l <"$work/script.txt")" = "$expected" ] && ! grep -Eiq 'out of order|error|failed|unknown' "$work/script.err"
        verdict "perf_script_has_every_event_of_${name}_with_$how" $? "$(wc -l <"$work/script.txt") of $expected: $(head -n 2 "$work/script.err")"
        says "perf_report_opens_${name}_with_$how" "% " timeout 60 perf report --stdio -i "$work/out.data"
    done
    "$tracetta" convert -q --to=perf "$from" -o - | timeout 60 perf script -i - >"$work/script.txt" 2>"$work/script.err"
    [ "$(wc -l <"$work/script.txt")" = "$expected" ]
    verdict "perf_script_has_every_event_of_${name}_from_a_pipe" $? "$(wc -l <"$work/script.txt") of $expected: $(head -n 2 "$work/script.err")"
    if [ -x "$perf_decode" ]; then
        run "$tracetta" convert -f -q --to=perf "$from" -o "$work/out.data"
        decoded=$(timeout 60 "$perf_decode" "$work/out.data" 2>/dev/null | grep -c '"n":')
        [ "$decoded" = "$expected" ]
        verdict "perf_decode_has_every_event_of_$name" $? "$decoded of $expected"
    else
        skip "perf_decode_has_every_event_of_$name" "there is no perf-decode"
    fi
}

# perf-decode never comes back from an event whose name has 256 bytes: the mix has none.
"$generate" --events 3000 --seed 1 --mix bench "$work/generated.fxt" >/dev/null
compare "generated_fxt" "$work/generated.fxt"

# Every recorded trace of the formats that are made again: a line for each event, whatever stacks are between them.
if [ -n "$corpus" ]; then
    for kind in fxt heph ctf nettrace; do
        traces=0
        different=()
        while read -r trace; do
            [ "${trace##*/}" != metadata ] || trace=$(dirname "$trace")
            rm -f "$work/out.data"
            "$tracetta" convert -q --raw --to=perf "$trace" -o "$work/out.data" 2>/dev/null
            [ -s "$work/out.data" ] || continue # what cannot be read
            expected=$("$tracetta" cat --raw --sort --format=jsonl "$trace" 2>/dev/null | grep -vc '"kind":"gap"\|"kind":"object".*"fields":{"start"')
            found=$(timeout 60 perf script -i "$work/out.data" 2>/dev/null | grep -c 'eventheader_flags=')
            traces=$((traces + 1))
            [ "$found" = "$expected" ] || different+=("$(basename "$trace") $found of $expected")
        done < <(find "$corpus/$kind" -size -6M \( -name '*.fxt' -o -name '*.trace' -o -name '*.nettrace' -o -name '*.nettrace.xz' -o -name '*.netperf.xz' -o -name metadata \) | LC_ALL=C sort)
        [ $traces -ge 1 ] && [ ${#different[@]} = 0 ]
        verdict "perf_script_has_every_event_of_all_recorded_traces_of_$kind" $? "$traces traces; not: ${different[*]}"
    done
else
    skip "perf_script_has_every_event_of_all_recorded_traces" "there are no recorded traces"
fi

# Each value as perf-decode prints it.
cat >"$work/values.py" <<'PYTHON'
import json, sys
SPELLED = {"NaN": ("nan", "-nan"), "Infinity": ("inf",), "-Infinity": ("-inf",)} # numbers that JSON has none for
ours, theirs = {}, {}
for line in open(sys.argv[1]):
    event = json.loads(line)
    ours.setdefault(event["name"], []).append(event)
text = open(sys.argv[2], encoding="utf-8-sig").read()
for event in next(iter(json.loads(text).values())):
    theirs.setdefault(event["n"].split(":", 1)[1], []).append(event)
bad = 0
for name, events in ours.items():
    others = theirs.get(name, [])
    if len(others) != len(events):
        bad += 1
        print(name, len(events), len(others))
        continue
    for a, b in zip(events, others):
        for key, value in a["fields"].items():
            if "#" in key or key + "#2" in a["fields"]: # two of one name
                continue
            if b.get(key) in SPELLED.get(value if isinstance(value, str) else "", ()):
                continue
            if isinstance(value, (int, str)) and not isinstance(value, bool) and b.get(key) != value and not str(b.get(key)).startswith("0x"):
                bad += 1
                print(name, key, value, b.get(key))
        if b["meta"].get("tid", b["meta"].get("pid")) != a["tid"] & 0xffffffff: # which is told as a loss
            bad += 1
            print(name, "tid", a["tid"], b["meta"])
print(sum(len(e) for e in ours.values()), "events,", bad, "differences")
sys.exit(bad > 0)
PYTHON
if [ -x "$perf_decode" ] && [ -n "$corpus" ]; then
    for trace in "$corpus"/heph/*.trace; do
        [ -e "$trace" ] || continue
        "$tracetta" cat --format=jsonl --sort "$trace" >"$work/ours.jsonl" 2>/dev/null || continue
        run "$tracetta" convert -f -q --to=perf "$trace" -o "$work/out.data"
        timeout 60 "$perf_decode" "$work/out.data" >"$work/theirs.json" 2>/dev/null
        run python3 "$work/values.py" "$work/ours.jsonl" "$work/theirs.json"
        verdict "perf_decode_prints_the_values_of_$(basename "$trace")" $run_status "they differ"
    done
else
    skip "perf_decode_prints_the_values_of_recorded_traces" "there is no perf-decode, or there are no recorded traces"
fi

# Copies of recorded files: byte by byte, and parts that perf opens.
[ -n "$corpus" ] || { skip "copies_of_recorded_files" "there are no recorded traces"; exit 0; }
same=0
different=()
while read -r file; do
    head -c 8 "$file" | grep -qaE 'PERFILE2|2ELIFREP' || continue
    "$tracetta" convert -f -q --to=perf "$file" -o "$work/copy.data" >/dev/null 2>&1
    if cmp -s "$file" "$work/copy.data"; then
        same=$((same + 1))
    else
        different+=("$(basename "$file")")
    fi
done < <(find "$corpus/eventheader" -type f -size -40M | LC_ALL=C sort)
# Compressed ones come unpacked.
unexpected=$(printf '%s\n' "${different[@]}" | grep -vE 'zstd|compressed' | tr '\n' ' ')
[ $same -ge 40 ] && [ -z "$unexpected" ]
verdict "recorded_files_are_copied_byte_by_byte" $? "$same are the same; not: $unexpected"
file=$corpus/eventheader/made-here/zstd-sched-callchain.data
if [ -e "$file" ]; then
    run "$tracetta" convert -f -q --to=perf "$file" -o "$work/copy.data"
    timeout 60 perf script -i "$file" >"$work/packed.txt" 2>/dev/null
    same "perf_reads_an_unpacked_copy_as_it_reads_the_original" "$work/packed.txt" timeout 60 perf script -i "$work/copy.data"
else
    skip "perf_reads_an_unpacked_copy_as_it_reads_the_original" "there is no such recorded file"
fi
