#!/bin/bash
# Recorded perf.data: as many samples as perf.tsv says (counted by perf, or by the golden texts of the corpora), and sample by sample what
# `perf script` says of them: what it printed when they were recorded, or prints now where perf is installed (perf_script.py).
# usage: perf.sh TRACETTA
tracetta=$1
corpus=${TTR_CORPUS:-nowhere}/eventheader
case_count=0
here=$(dirname "$0")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

report() { # VERDICT TEXT
    case_count=$((case_count + 1))
    echo "$1 $case_count - $2"
}

if [ ! -d "$corpus" ]; then
    echo "ok 1 - perf.data is read as perf reads it # SKIP no $corpus, set TTR_CORPUS"
    echo 1..1
    exit
fi
while IFS=$'\t' read -r name samples damage; do
    [[ $name = \#* ]] && continue
    trace=$corpus/$name
    if [ ! -e "$trace" ]; then
        report ok "$name # SKIP it is not there"
        continue
    fi
    if [[ $name = *.zlib ]]; then # u32 bytes, then a stream of zlib
        trace=$work/$(basename "$name" .zlib)
        python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()[4:]))' <"$corpus/$name" >"$trace"
    fi
    said=$("$tracetta" info --json "$trace" 2>/dev/null |
        python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["traces"][0]["environment"]["samples"], d["damage"]["regions"])')
    if [ "$said" = "$samples $damage" ]; then
        report ok "$name has $samples samples and $damage damaged places"
    else
        report "not ok" "$name has $samples samples and $damage damaged places: $said"
    fi
    text=$corpus/$name.perfscript.txt.gz
    [ -e "$text" ] || text=
    if [ -z "$text" ] && ! command -v perf >/dev/null; then
        report ok "$name is read as perf reads it # SKIP there is no perf"
        continue
    fi
    [[ $name = *intel_pt* ]] && continue # perf makes samples of the processor's trace, too
    said=$("$here/perf_script.py" "$tracetta" "$trace" $text 2>&1)
    case $? in
    0) report ok "$name is read as perf reads it" ;;
    77) report ok "$name is read as perf reads it # SKIP ${said#\# }" ;;
    *)
        echo "$said"
        report "not ok" "$name is read as perf reads it"
        ;;
    esac
done <"$here/perf.tsv"
echo "1..$case_count"
