"""Checks that one trace says the same as JSON Lines, CSV and Chrome JSON, read by parsers that are not ours.

usage: outputs_check.py FILE.jsonl FILE.csv FILE.json   (exit status 1 and a sentence when something differs)
"""
import csv
import json
import sys
from decimal import Decimal


def unique(pairs):
    members = dict(pairs)
    assert len(members) == len(pairs), f"a name twice in one object: {[name for name, _ in pairs]}"
    return members


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def load(text):
    return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant, parse_float=Decimal)


def check_csv(lines, rows):
    assert len(rows) == len(lines) + 1, f"{len(rows)} rows of CSV for {len(lines)} lines of JSON"
    for line, row in zip(lines, rows[1:]):
        cells = dict(zip(rows[0], row, strict=True))
        assert load(cells["fields"]) == line["fields"], f"fields differ: {row}"
        for key in ("time_ns", "kind", "pid", "tid", "cpu", "dur_ns", "id", "level", "track"):
            assert cells[key] == str("" if line.get(key) is None else line[key]), f"{key} differs: {row}"


def check_chrome(lines, document):
    """What keeps its shape must be there with exact times, in the same order; digits below the nanosecond order equal times."""
    phases = {"begin": "B", "end": "E", "span": "X", "counter": "C", "async_begin": "b", "async_step": "n",
              "async_end": "e", "flow_begin": "s", "flow_step": "t", "flow_end": "f"}
    wanted = [line for line in lines if line["kind"] in phases]
    found = [event for event in document["traceEvents"]
             if event["ph"] in phases.values() and event.get("pid") != 2147483647]  # the processors
    base = int(document["otherData"]["tracetta.base_ns"])
    assert len(found) == len(wanted), f"{len(found)} Chrome events for {len(wanted)}"
    for line, event in zip(wanted, found):
        assert event["ph"] == phases[line["kind"]] and event["name"] == line["name"], f"{event} for {line}"
        if "no_time" not in line.get("flags", ()):
            assert base + int(Decimal(event["ts"]) * 1000) == line["time_ns"], f"{event} for {line}"
        if line["dur_ns"] is not None:
            assert Decimal(event["dur"]) * 1000 == line["dur_ns"], f"{event} for {line}"


def main():
    csv.field_size_limit(1 << 30)
    with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
        lines = [load(line) for line in file]
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        check_csv(lines, list(csv.reader(file)))
    with open(sys.argv[3], encoding="utf-8") as file:
        check_chrome(lines, load(file.read()))


if __name__ == "__main__":
    main()
