#!/bin/bash
# Checks the model of the ring (ring.pml) by spin: two modes are correct, and injected faults are found.
# usage: ring.sh CC
set -u
model=$(realpath "$(dirname "$0")/ring.pml")
if ! command -v spin >/dev/null; then
    echo "1..0 # SKIP spin is not installed"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
count=0
failures=0

# verify NAME EXPECTED OPTION...: EXPECTED is the truth of "errors: 0".
verify()
{
    local name=$1 expected=$2 correct=no
    shift 2
    count=$((count + 1))
    if spin "$@" -a "$model" >log 2>&1 && "$cc" -O1 -w -DSAFETY -o pan pan.c >>log 2>&1 && ./pan -m100000 >>log 2>&1; then
        grep -q 'errors: 0' log && correct=yes
        grep -q 'errors: [1-9]' log && correct=error
    fi
    if [ "$correct" = "$expected" ] && ! grep -q 'search too deep' log; then
        echo "ok $count - $name # $(sed -n 's/^ *\([0-9]*\) states, stored.*/\1 states/p' log)"
    else
        failures=$((failures + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' log
    fi
}

cc=$1
verify streaming_ring_is_correct yes
verify circular_ring_is_correct yes -DCIRCULAR
verify commit_before_the_record_is_found error -DFAULT_COMMIT_FIRST
verify writer_that_does_not_wait_is_found error -DFAULT_NO_TAIL
verify late_announcement_is_found error -DCIRCULAR -DFAULT_LATE
verify missing_reload_is_found error -DCIRCULAR -DFAULT_NO_RELOAD
verify commit_before_the_record_is_found_in_circular_mode error -DCIRCULAR -DFAULT_COMMIT_FIRST
echo "1..$count"
exit $((failures > 0))
