#!/bin/bash
# Compares each trace.dat of the corpus, event by event, with trace-cmd's own report of it (TTR_CORPUS/eventheader/*/*.dat.report.txt.gz).
# usage: trace_dat.sh TRACETTA
tracetta=$1
corpus=${TTR_CORPUS:-nowhere}/eventheader
case_count=0
here=$(dirname "$0")

if [ ! -d "$corpus" ]; then
    echo "ok 1 - traces of trace-cmd are read as it reports them # SKIP no $corpus, set TTR_CORPUS"
    echo 1..1
    exit
fi
for report in "$corpus"/*/*.dat.report.txt.gz; do
    trace=${report%.report.txt.gz}
    case_count=$((case_count + 1))
    if "$here/trace_dat.py" "$tracetta" "$trace" "$report"; then
        echo "ok $case_count - $(basename "$trace") is read as trace-cmd reports it"
    else
        echo "not ok $case_count - $(basename "$trace") is read as trace-cmd reports it"
    fi
done
echo "1..$case_count"
