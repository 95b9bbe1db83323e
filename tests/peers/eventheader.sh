#!/bin/bash
# Compares events of EventHeader, from every container they were recorded in, with what Microsoft's perf-decode printed of them:
#   eventheader.sh TRACETTA
# The recorded files are in $TTR_CORPUS/eventheader; without them this skips.  Every object is compared to the byte, in the order of time where
# that program does not sort.  Left out are its faults (docs/user/known-differences.md): text that is no UTF-8, names that
# stand twice in one object, which are numbered here, and threads that have no number any more.
tracetta=$1
corpus=${TTR_CORPUS:-nowhere}/eventheader
if [ ! -d "$corpus" ]; then
    echo "1..0 # SKIP no recorded traces in TTR_CORPUS"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0 failed=0

verdict() { # NAME STATUS
    count=$((count + 1))
    [ "$2" = 0 ] || failed=1
    echo "$([ "$2" = 0 ] || echo "not ")ok $count - $1"
}

# The objects of perf-decode's output, one a line, sorted, with what it spells wrongly spelled right.
wanted() { # FILE
    LC_ALL=C sed -e '1s/^\xef\xbb\xbf//' -e 's/^ *//' -e 's/\r$//' -e 's/,$//' -e 's/ *\]$//' "$1" | grep -a '^{ *"n"' |
        LC_ALL=C sed -e 's/"FFFEFDFC":\( *\)"[^"]*"/"FFFEFDFC":\1"\xef\xbf\xbd"/' -e 's/"0x7fffffff":\( *\)"[^"]*"/"0x7fffffff":\1"\xef\xbf\xbd"/' \
            -e 's/\("five":.*\)"five":/\1"five#2":/' -e 's/, *"pid": *4294967295, *"tid": *4294967295//' | LC_ALL=C sort
}

# Compares what is read of a trace with what was printed of it; needs so many events.
compare() { # NAME TRACE EXPECTED EVENTS [OPTION...]
    local name=$1 trace=$corpus/$2 expected=$corpus/$3 events=$4
    shift 4
    if ! "$tracetta" check "$trace" >/dev/null 2>"$work/check" && grep -q 'not a trace of a known format' "$work/check"; then
        count=$((count + 1))
        echo "ok $count - $name # SKIP no reader"
        return
    fi
    "$tracetta" cat --style=microsoft "$@" "$trace" 2>"$work/errors" | LC_ALL=C sort >"$work/is"
    wanted "$expected" >"$work/wanted"
    cmp -s "$work/wanted" "$work/is" && [ "$(wc -l <"$work/is")" = "$events" ]
    local status=$?
    [ "$status" = 0 ] || diff "$work/wanted" "$work/is" | head -n 6 | cut -c1-300 | sed 's/^/# /'
    verdict "$name" "$status"
}

# The fields alone: containers that have other threads and times than the one that perf-decode read.
fields() { # FILE
    LC_ALL=C sed -e 's/"meta": {.*//' -e '/"n": "TestProvider\|"n": "Long_Provider/!d' "$1" | LC_ALL=C sort
}

compare_fields() { # NAME TRACE [OPTION...]
    local name=$1 trace=$corpus/$2
    shift 2
    if ! "$tracetta" check "$trace" >/dev/null 2>"$work/check" && grep -q 'not a trace of a known format' "$work/check"; then
        count=$((count + 1))
        echo "ok $count - $name # SKIP no reader"
        return
    fi
    "$tracetta" cat --style=microsoft "$@" "$trace" 2>"$work/errors" >"$work/lines"
    fields "$work/lines" >"$work/is"
    wanted "$corpus/linuxtracepoints/EventHeaderInterceptorLE64.dat.linux.json" >"$work/lines"
    fields "$work/lines" >"$work/wanted"
    # Addresses differ between runs of the program.
    sed -i 's/"pSamplePtr": "[^"]*"/"pSamplePtr": "0x0"/' "$work/is" "$work/wanted"
    cmp -s "$work/wanted" "$work/is" && [ "$(wc -l <"$work/is")" = 374 ]
    local status=$?
    [ "$status" = 0 ] || diff "$work/wanted" "$work/is" | head -n 6 | cut -c1-300 | sed 's/^/# /'
    verdict "$name" "$status"
}

compare "the file of a test program" linuxtracepoints/EventHeaderInterceptorLE64.dat \
    linuxtracepoints/EventHeaderInterceptorLE64.dat.linux.json 374
compare "perf record, with events of the kernel" linuxtracepoints/perf.data linuxtracepoints/perf.data.linux.json 539 \
    --option=microsoft.blanks=no --option=microsoft.tags=no
compare "perf record in a machine of one's own" eventheader-vm/eh-perf.data eventheader-vm/eh-perf.data.perfdecode.json 454
compare "perf-collect" eventheader-vm/eh-perfcollect.data eventheader-vm/eh-perfcollect.data.perfdecode.json 374
compare_fields "the program of all types by perf record" eventheader-vm/eh-perf.data
compare_fields "the program of all types by perf-collect" eventheader-vm/eh-perfcollect.data
compare_fields "the program of all types by trace-cmd" eventheader-vm/eh-tracecmd.dat
compare_fields "the program of all types by trace_pipe_raw" eventheader-vm/eh-trace_pipe_raw-cpu1.bin \
    --option=trace_pipe_raw.formats="$corpus/eventheader-vm/eh-perf.data"
echo "1..$count"
exit "$failed"
