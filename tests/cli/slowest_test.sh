#!/bin/bash
# The longest spans and the last events: tree --slowest, cat --tail.  usage: slowest_test.sh TRACETTA GENERATE_FXT PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
: >"$work/.out" >"$work/.err"
generate=$2
python=$3
trace=$work/t.fxt
"$generate" --events 3000 --seed 5 --mix bench "$trace" || exit 1

# An independent engine sorts the rows of the whole tree, and follows their parents.
"$tracetta" tree -q --json "$trace" >"$work/tree.json"
"$tracetta" tree -q --json --slowest 25 "$trace" >"$work/slowest.json"
cat >"$work/check.py" <<'PROGRAM'
import json, sys
rows = json.load(open(sys.argv[1], encoding="utf-8"))["rows"]
found = json.load(open(sys.argv[2], encoding="utf-8"))["rows"]
def path(row):
    return (path(rows[row["parent"]]) if row["parent"] >= 0 else []) + [row["name"]]
expected = sorted(rows, key=lambda row: -row["dur_ns"])[:25]
assert len(found) == 25 and [row["dur_ns"] for row in found] == [row["dur_ns"] for row in expected]
known = {(row["begin_ns"], row["dur_ns"], row["self_ns"], row["tid"], *path(row)) for row in rows}
assert all((row["begin_ns"], row["dur_ns"], row["self_ns"], row["tid"], *row["path"]) in known for row in found)
PROGRAM
run "$python" "$work/check.py" "$work/tree.json" "$work/slowest.json"
verdict "slowest_spans_are_the_longest_of_the_tree" $run_status ""
says "slowest_spans_are_printed_with_their_path" " > Example::" "$tracetta" tree -q --slowest 25 "$trace"

"$tracetta" cat -q "$trace" >"$work/all"
for n in 1 7 2999 3000 5000; do
    tail -n $n "$work/all" | sed 's/(+[0-9.]*)//' >"$work/expected"
    "$tracetta" cat -q --tail $n "$trace" | sed 's/(+[0-9.]*)//' >"$work/found"
    cmp -s "$work/expected" "$work/found"
    verdict "last_${n}_events_are_those_of_cat" $? "$(diff "$work/expected" "$work/found" | head -3)"
done
"$tracetta" cat -q --format=jsonl --where "kind = 'span'" "$trace" | tail -n 3 >"$work/expected"
same "last_events_of_a_filter_are_those_of_cat" "$work/expected" "$tracetta" cat -q --format=jsonl --tail 3 --where "kind = 'span'" "$trace"
refuses "tail_of_a_pipe_is_refused" 2 "reads files twice" "$tracetta" cat --tail 3 -
refuses "tail_and_limit_are_refused" 2 "exclude each other" "$tracetta" cat --tail 3 -n 3 "$trace"
