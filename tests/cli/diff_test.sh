#!/bin/bash
# Comparing traces and checking assertions: diff, assert.  usage: diff_test.sh TRACETTA GENERATE_FXT PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
: >"$work/.out" >"$work/.err"
generate=$2
python=$3
old=$work/old.fxt
new=$work/new.fxt
"$generate" --events 20000 --seed 5 --mix bench "$old" && "$generate" --events 30000 --seed 6 --mix bench "$new" || exit 1

# An independent engine computes every figure from the single spans; U of the rank test by its definition.
for side in old new; do
    "$tracetta" query -q --format=jsonl "$work/$side.fxt" "SELECT name, dur, self_dur FROM slice WHERE dur >= 0" >"$work/$side.jsonl"
done
"$tracetta" diff -q --format=json "$old" "$new" >"$work/diff.json"
cat >"$work/check.py" <<'PROGRAM'
import collections, json, statistics, sys
def read(path):
    spans = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        spans[row["name"]].append((row["dur"], row["self_dur"]))
    return spans
def quantile(values, p):
    at = p * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])
def figures(spans):
    if not spans:
        return {}
    durations = sorted(dur for dur, _ in spans)
    return {"count": len(spans), "total_ns": sum(durations), "self_ns": sum(own for _, own in spans),
            "p50_ns": int(quantile(durations, .5) + .5), "p99_ns": int(quantile(durations, .99) + .5)}
def probability(a, b):
    n, m = len(a), len(b)
    if n < 8 or m < 8:
        return None
    u = sum((x > y) + (x == y) / 2 for x in a for y in b)
    ties = sum(t ** 3 - t for t in collections.Counter(a + b).values())
    deviation = (n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))) ** .5
    p = 2 * (1 - statistics.NormalDist().cdf(abs(u - n * m / 2) / deviation)) if deviation else 1
    return "<0.001" if p < .001 else "<0.01" if p < .01 else "<0.05" if p < .05 else ">0.05"
sides = [read(path) for path in sys.argv[2:4]]
rows = json.load(open(sys.argv[1], encoding="utf-8"))["spans"]
wrong = [name for name in set(sides[0]) | set(sides[1]) if not any((row["name"]) == (name or "-") for row in rows)]
seen = collections.Counter()
for row in rows:
    name = row["name"] if row["name"] in sides[0] or row["name"] in sides[1] else None
    expected = [figures(side.get(name)) for side in sides]
    p = probability(*([dur for dur, _ in side.get(name, [])] for side in sides))
    seen[p] += 1
    if row["before"] != expected[0] or row["after"] != expected[1] or row.get("p") != p:
        wrong.append((row, expected, p))
print(*wrong[:3], sep="\n")
print(seen)
sys.exit(bool(wrong) or len(seen) < 2)
PROGRAM
run "$python" "$work/check.py" "$work/diff.json" "$work/old.jsonl" "$work/new.jsonl"
verdict "figures_and_rank_test_are_those_of_another_engine" $run_status "exit status $run_status"

says "table_names_columns" "^count +after +change +total" "$tracetta" diff -q "$old" "$new"
says "markdown_has_a_rule" '^\| ---: \|' "$tracetta" diff -q --format=markdown "$old" "$new"
says "same_trace_is_within_any_threshold" "^spans$" "$tracetta" diff -q --threshold=0 "$old" "$old"
run "$tracetta" diff -q --threshold=10% "$old" "$new"
[ $run_status = 1 ]
verdict "differences_beyond_the_threshold_are_status_1" $? "exit status $run_status"
says "key_is_an_expression" '"name": "category[0-9]"' "$tracetta" diff -q --format=json --key="category" "$old" "$new"
run "$tracetta" diff -q --format=json --key="dur % 12" --threshold=0 "$old" "$old"
[ $run_status = 0 ] && "$python" -c '
import collections, json, sys
rows = json.load(sys.stdin)["spans"]
keys = collections.Counter(row["name"] for row in rows)
sys.exit(max(keys.values()) > 1 or len(keys) < 12 or any(not row["before"] or not row["after"] for row in rows))' <"$work/.out"
verdict "numeric_keys_are_joined_once" $? "exit status $run_status"
# Three values of 1e308, of which the sum is infinite (FXT: counter events with a double).
"$python" -c "
import struct, sys
name, text = struct.pack('<Q', ord('v')), struct.pack('<Q', ord('c'))
event = lambda ts: struct.pack('<QQQQ', 4 | 10 << 4 | 1 << 16 | 1 << 20 | 0x8001 << 32 | 0x8001 << 48, ts, 1, 2) + text + text + \
    struct.pack('<Q', 5 | 3 << 4 | 0x8001 << 16) + name + struct.pack('<dQ', 1e308, 1)
open(sys.argv[1], 'wb').write(bytes.fromhex('1000044678541600') + struct.pack('<QQ', 0x21, 10**9) + b''.join(map(event, range(1, 4))))" "$work/large.fxt"
json "infinite_mean_is_null_in_json" 'it["counters"][0]["before"]["mean"] is None and it["counters"][0]["before"]["max"] == 1e308' "$tracetta" diff -q --format=json "$work/large.fxt" "$work/large.fxt"
refuses "wrong_key_has_a_caret" 2 '\^' "$tracetta" diff --key="nme" "$old" "$new"
refuses "threshold_is_a_percentage" 2 "percentage" "$tracetta" diff --threshold=much "$old" "$new"
"$tracetta" diff --explain "$old" "$new" >"$work/explained.sql"
succeeds "explained_statements_run_in_query" "$tracetta" query -q --format=tsv --file="$work/explained.sql" "$old"

p99=$("$tracetta" query -q --format=tsv "$old" "SELECT cast(percentile(dur, 99) AS INTEGER) FROM slice WHERE name GLOB '*_1*' AND dur >= 0" | tail -n 1)
says "assertion_that_holds_is_status_0" "^ok " "$tracetta" assert -q "$old" "p99('*_1*') <= $((p99 + 1))ns" "count('*_1*') > 10"
run "$tracetta" assert -q "$old" "p99('*_1*') < ${p99}ns"
[ $run_status = 1 ] && grep -q "^violated" "$work/.out"
verdict "assertion_that_does_not_hold_is_status_1" $? "exit status $run_status"
run "$tracetta" assert -q "$old" "total(nothing) < 1h"
[ $run_status = 1 ]
verdict "total_of_spans_that_do_not_exist_does_not_hold" $? "exit status $run_status"
run "$tracetta" assert -q "$old" "max(nothing) < 1h"
[ $run_status = 1 ] && grep -q "no complete span has" "$work/.out"
verdict "duration_of_a_missing_name_is_a_violation" $? "exit status $run_status"
run "$tracetta" assert -q "$old" "SELECT name, dur FROM slice ORDER BY dur DESC LIMIT 12"
[ $run_status = 1 ] && [ "$(grep -c 'name=Example' "$work/.out")" = 10 ] && grep -q "12 rows" "$work/.out" && grep -q "2 more" "$work/.out"
verdict "rows_of_a_statement_are_violations" $? "exit status $run_status"
says "statement_without_rows_holds" "^ok .*: 0 rows" "$tracetta" assert -q "$old" "SELECT * FROM slice WHERE dur < -1"
"$tracetta" assert -q --format=junit "$old" "count('a<b') = 0" "count('*') = 0" >"$work/junit.xml"
run "$python" -c "
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()
cases = suite.findall('testcase')
print(suite.attrib, [case.attrib for case in cases])
sys.exit(not (suite.get('tests') == '2' and suite.get('failures') == '1' and cases[0].get('name') == \"count('a<b') = 0\" and cases[1].find('failure') is not None))" "$work/junit.xml"
verdict "junit_is_xml_with_a_case_per_assertion" $run_status ""
strange=$'a\xff\xed\xa0\x80b\xef\xbf\xbe\xef\xbf\xbf\x01\x1b\xc3\xa9\xf0\x9f\x98\x80<&>'
"$tracetta" assert -q --format=junit "$old" "max('$strange') < 1ms" >"$work/junit.xml"
run "$python" -c "
import sys, xml.etree.ElementTree as tree
name = tree.parse(sys.argv[1]).getroot().find('testcase').get('name')
print(ascii(name))
sys.exit(name != 'max(\'a' + '\ufffd' * 4 + 'b' + '\ufffd' * 4 + '\u00e9\U0001f600<&>\') < 1ms')" "$work/junit.xml"
verdict "junit_replaces_what_xml_does_not_have" $run_status ""
refuses "second_statement_of_an_assertion_is_refused" 2 "one statement" "$tracetta" assert "$old" "SELECT 1 WHERE 0; SELECT * FROM slice"
says "statement_with_a_comment_at_its_end_holds" "^ok " "$tracetta" assert -q "$old" "SELECT 1 WHERE 0; -- never"
refuses "control_characters_of_an_assertion_are_escaped" 2 '^  max\(.x1b\[31mred\) < 1ns$' "$tracetta" assert "$old" $'max(\x1b[31mred) < 1ns'
refuses "control_characters_of_a_key_are_escaped" 2 '^  SELECT .*.x1b\[31mred.* AS key' "$tracetta" diff --key=$'\x1b[31mred' "$old" "$new"
if script -qec true /dev/null >/dev/null 2>&1; then
    says "explained_statement_is_escaped_on_a_terminal" '^SELECT .*.x1b\[31mred.* AS key' env SHELL=/bin/bash TERM=xterm PAGER=cat script -qec "'$tracetta' diff --explain --key=$'\x1b[31mred' '$old' '$new'" /dev/null
    says "explained_assertion_is_escaped_on_a_terminal" "GLOB '.x1b\[31mred'" env SHELL=/bin/bash TERM=xterm PAGER=cat script -qec "'$tracetta' assert --explain '$old' $'max(\"\x1b[31mred\") < 1ns'" /dev/null
else
    skip "explained_statement_is_escaped_on_a_terminal" "no script(1)"
    skip "explained_assertion_is_escaped_on_a_terminal" "no script(1)"
fi
says "json_has_each_assertion" '"holds": true' "$tracetta" assert -q --format=json "$old" "count('*') > 0"
says "assertion_is_explained_as_sql" "percentile\(dur, 99\)" "$tracetta" assert --explain "$old" "p99(frame) < 16ms"
for wrong in "p101(a) < 1ms" "p99(a < 1ms" "p99(a) 1ms" "p99(a) < fast" "p99() < 1ms" "p99('a) < 1ms" "speed(a) < 1" "count(a) < 1ms"; do
    refuses "wrong_assertion_${wrong// /_}_has_a_caret" 2 '\^$' "$tracetta" assert "$old" "$wrong"
done
refuses "assertion_without_a_trace_is_refused" 2 "no such file" "$tracetta" assert "count(a) > 1"
refuses "trace_without_assertions_is_refused" 2 "expected an assertion" "$tracetta" assert "$old"

# The difference flame graph: boxes are inside of their parents, totals are those of SQL, and colours follow the change.
"$generate" --events 4000 --seed 11 --mix bench "$work/fa.fxt" && "$generate" --events 6000 --seed 12 --mix bench "$work/fb.fxt" || exit 1
run "$tracetta" diff --format=svg -o "$work/d.svg" "$work/fa.fxt" "$work/fb.fxt"
[ $run_status = 0 ] && [ ! -s "$work/.out" ] && [ "$(ls "$work"/d.svg*)" = "$work/d.svg" ]
verdict "flame_graph_is_written" $? "status $run_status"
for side in a b; do
    "$tracetta" query -q --format=csv "$work/f$side.fxt" "SELECT total(self_dur) FROM slice" | tail -n 1
done >"$work/totals"
"$python" - "$work/d.svg" "$work/totals" >"$work/.out" 2>&1 <<'PROGRAM'
import re, sys, xml.dom.minidom
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
boxes = []
for group in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("g"):
    title = group.getElementsByTagName("title")[0].firstChild.data
    rect = group.getElementsByTagName("rect")[0]
    times = re.search(r": ([0-9.]+) (\w+) before, ([0-9.]+) (\w+) after", title).groups()
    before, after = float(times[0]) * units[times[1]], float(times[2]) * units[times[3]]
    x, y, width = (float(rect.getAttribute(name)) for name in ("x", "y", "width"))
    red, _, blue = map(int, re.findall(r"\d+", rect.getAttribute("fill")))
    boxes.append((y, x, width))
    assert after <= before * 1.002 or red == 245, title
    assert before <= after * 1.002 or blue == 245, title
    if title.startswith("all: "):
        totals = [float(line) for line in open(sys.argv[2])]
        assert abs(before - totals[0]) < totals[0] * 1e-3 and abs(after - totals[1]) < totals[1] * 1e-3, (title, totals)
assert len(boxes) > 100, len(boxes)
rows = sorted({box[0] for box in boxes}, reverse=True)
for y, x, width in boxes:
    if y != rows[0]:
        assert any(py == y + 17 and px - 0.02 <= x and x + width <= px + pwidth + 0.02 for py, px, pwidth in boxes), (y, x, width)
PROGRAM
verdict "flame_graph_has_the_times_of_both_traces" $? ""
refuses "existing_flame_graph_is_kept" 4 "exists already" "$tracetta" diff --format=svg -o "$work/d.svg" "$work/fa.fxt" "$work/fb.fxt"
refuses "table_has_no_output_file" 2 "is for --format=svg" "$tracetta" diff -o "$work/e.svg" "$work/fa.fxt" "$work/fb.fxt"
"$tracetta" diff --format=svg "$work/fa.fxt" "$work/fb.fxt" | cmp -s - "$work/d.svg"
verdict "flame_graph_is_printed_without_output" $? ""
refuses "unwritable_flame_graph_is_an_error" 4 "cannot write" "$tracetta" diff --format=svg -o "$work/none/d.svg" "$work/fa.fxt" "$work/fb.fxt"
