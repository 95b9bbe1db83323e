#!/bin/bash
# Compares the recorded nettrace traces, event by event, with what TraceEvent, the runtime's own reader, said of them when they were recorded
# (TTR_CORPUS/nettrace/truth); nettrace_traceevent.py says what is compared, and which differences are known.
# usage: nettrace_traceevent.sh TRACETTA
tracetta=$1
corpus=${TTR_CORPUS:-nowhere}/nettrace
case_count=0
here=$(dirname "$0")

if [ ! -d "$corpus/truth" ]; then
    echo "ok 1 - nettrace traces are read as TraceEvent reads them # SKIP no $corpus/truth, set TTR_CORPUS"
    echo 1..1
    exit
fi
for truth in "$corpus"/truth/*.events.txt.xz; do
    name=$(basename "$truth" .events.txt.xz)
    trace=$corpus/$name.xz
    [ -e "$trace" ] || trace=$corpus/recorded/$name.xz
    case_count=$((case_count + 1))
    if "$here/nettrace_traceevent.py" "$tracetta" "$trace" "$truth"; then
        echo "ok $case_count - $name is read as TraceEvent reads it"
    else
        echo "not ok $case_count - $name is read as TraceEvent reads it"
    fi
done
echo "1..$case_count"
