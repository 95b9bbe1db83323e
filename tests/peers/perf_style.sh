#!/bin/bash
# `cat --style=perf` of recorded perf.data: the lines that perf script printed when they were recorded, to the byte, but for names of code: perf had the
# running kernel and the binaries to look into.
# `--style=trace-cmd` of recorded trace.dat: the lines of trace-cmd report, to the byte.
# usage: perf_style.sh TRACETTA; TTR_CORPUS names the folder of recorded traces.
tracetta=$1
corpus=${TTR_CORPUS:-nowhere}/eventheader
count=0
if [ ! -d "$corpus" ]; then
    echo "ok 1 - lines are those of perf script # SKIP no $corpus, set TTR_CORPUS"
    echo 1..1
    exit
fi

# Names of functions and files go; addresses of the kernel that perf found names for go, too, and places in files.
plain() {
    sed -E -e 's/^\t *[0-9a-f]+ .*/\tCODE/' -e 's/ +[0-9a-f]+ [^ ]+ \([^ ]+\)$/ CODE/' -e 's/ ip=(0xffffffff[0-9a-f]+|[a-z_][a-z0-9_.]*) / ip=CODE /'
}

for text in "$corpus"/{made-here,eventheader-vm}/*.perfscript.txt.gz; do
    trace=${text%.perfscript.txt.gz}
    count=$((count + 1))
    if cmp -s <("$tracetta" cat --quiet --style=perf "$trace" | plain) <(zcat "$text" | plain); then
        echo "ok $count - $(basename "$trace"): $(zcat "$text" | wc -l) lines are those of perf script"
    else
        echo "not ok $count - $(basename "$trace"): lines are those of perf script"
        diff <("$tracetta" cat --quiet --style=perf "$trace" | plain) <(zcat "$text" | plain) | head -4 | sed 's/^/# /'
    fi
done
for text in "$corpus"/{tracecmd-vm,eventheader-vm,lisa,trappy}/*.report.txt.gz; do
    trace=${text%.report.txt.gz}
    count=$((count + 1))
    if cmp -s <("$tracetta" cat --quiet --style=trace-cmd "$trace") <(zcat "$text"); then
        echo "ok $count - $(basename "$trace"): $(zcat "$text" | wc -l) lines are those of trace-cmd report"
    else
        echo "not ok $count - $(basename "$trace"): lines are those of trace-cmd report"
    fi
done
echo "1..$count"
