#!/bin/bash
# Call stacks and symbols survive conversion to formats that store only fields.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
hexa_cat=$(realpath "$2")
formats=$(dirname "$0")/../../src/formats

samples="SELECT count(*), sum(depth + 1) FROM perf_sample JOIN stack_profile_callsite c ON c.id = callsite_id"
# keeps_stacks NAME FILE [OPTION...]: the folded stacks of FILE are those of its conversions.
keeps_stacks()
{
    local name=$1 file=$2 format
    shift 2
    "$tracetta" flame -q --to=folded "$@" "$file" -o - 2>"$work/.err" | LC_ALL=C sort >"$work/folded"
    for format in ctf fxt heph; do
        rm -rf "$work/copy"
        "$tracetta" convert -q --to=$format "$file" -o "$work/copy" 2>"$work/.err" &&
            "$tracetta" flame -q --to=folded "$@" "$work/copy" -o - 2>>"$work/.err" | LC_ALL=C sort >"$work/.out"
        [ -s "$work/folded" ] && cmp -s "$work/folded" "$work/.out"
        verdict "$format has the stacks of $name" $? "wanted $(head -n 5 "$work/folded")"
        "$tracetta" query -q --format=csv "$file" "$samples" >"$work/wanted" 2>>"$work/.err"
        "$tracetta" query -q --format=csv "$work/copy" "SELECT DISTINCT kind FROM event" >"$work/kinds" 2>>"$work/.err"
        "$tracetta" query -q --format=csv "$work/copy" "$samples" >"$work/.out" 2>>"$work/.err"
        # A span of Heph has the stack of its begin.
        [ $format = heph ] && grep -q span "$work/kinds" && continue
        cmp -s "$work/wanted" "$work/.out" && ! grep -q ",$" "$work/.out"
        verdict "$format has the table of stacks of $name" $? "wanted $(tail -n 1 "$work/wanted") found $(tail -n 1 "$work/.out")"
    done
}

for vector in perf/vectors-whole/code perf/vectors/pipe nettrace/vectors/stacks nettrace/vectors/v6-universal; do
    "$hexa_cat" "$formats/$vector.hexa" >"$work/${vector##*/}"
    keeps_stacks "$vector" "$work/${vector##*/}"
done

rm -rf "$work/copy"
"$tracetta" convert -q --to=fxt "$work/v6-universal" -o "$work/copy" -f
says "functions_are_objects" 'function object .*\{ function = "main", function_size = 256, module = ' "$tracetta" cat "$work/copy" --kind=object
says "samples_keep_name_and_fields_in_fxt" 'cpu sample .*Value = 1' "$tracetta" cat "$work/copy" --kind=sample
rm -rf "$work/copy"
"$tracetta" convert -q --to=ctf "$work/code" -o "$work/copy"
says "stacks_are_named_as_in_lttng" 'callstack_kernel = \[0xf.*callstack_user = \[0x' "$tracetta" cat "$work/copy" --kind=sample
if command -v babeltrace2 >"$work/.out" 2>&1; then
    run babeltrace2 "$work/copy"
    verdict "babeltrace2_opens_them" "$([ "$run_status" = 0 ] && grep -q 'callstack_user = \[ \[0\] = 0x' "$work/.out"; echo $?)" "status $run_status"
fi

if [ -n "$corpus" ]; then
    keeps_stacks "cpuclock-callchain" "$corpus/eventheader/made-here/cpuclock-callchain.data"
    waits=$corpus/eventheader/made-here/zstd-sched-callchain.data
    "$tracetta" convert -q --to=fxt "$waits" -o "$work/waits.fxt" 2>"$work/.err"
    "$tracetta" flame -q --to=folded --of=sched_switch "$waits" -o - 2>>"$work/.err" | LC_ALL=C sort >"$work/folded"
    "$tracetta" flame -q --to=folded --of=switch "$work/waits.fxt" -o - 2>>"$work/.err" | LC_ALL=C sort >"$work/.out"
    verdict "off_cpu_time_is_kept_in_fxt" "$([ -s "$work/folded" ] && cmp -s "$work/folded" "$work/.out"; echo $?)" "they differ"
    keeps_stacks "mix_default" "$corpus/nettrace/recorded/mix_default.nettrace.xz"
fi
