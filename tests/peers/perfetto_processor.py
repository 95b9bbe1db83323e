#!/usr/bin/env python3
"""Compares what Perfetto's trace processor finds in a converted trace with what stat and tree print of the original.

usage: perfetto_processor.py TRACETTA PROCESSOR TRACE CONVERTED
PROCESSOR is trace_processor_shell, or a minimal shell with the queries as arguments and "|" between columns.
"""

import csv
import json
import subprocess
import sys
import tempfile
from collections import Counter

QUERIES = {
    "errors": "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
    "slices": "select coalesce(name, ''), count(*), sum(case when dur > 0 then dur else 0 end),"
    " sum(dur < 0) from slice group by 1",
    "depth": "select coalesce(max(depth) + 1, 0) from slice",
    "sched": "select count(*) from sched",
    "twice": "select count(*) from (select utid, ts, dur, lead(ts) over (partition by utid order by ts) as next"
    " from sched where utid in (select utid from thread where tid != 0)) where dur > 0 and ts + dur > next",
    "crossed": "select count(*) from slice child join slice parent on child.parent_id = parent.id"
    " where parent.dur >= 0 and child.ts + max(child.dur, 0) > parent.ts + parent.dur",
    "unnamed": "select count(*) from stack_profile_frame where coalesce(name, '') = ''",
    "pathless": "select count(*) from stack_profile_mapping where coalesce(name, '') = ''",
    "samples": "select count(*) from stack_sample",
}
SLICE_KINDS = ("span", "instant", "log", "blob", "async_step", "gap")


def run_queries(processor, path):
    texts = list(QUERIES.values())
    if "minimal" in processor:
        out = subprocess.run([processor, path, *texts], capture_output=True, text=True, check=True).stdout
        tables = [part.splitlines()[1:] for part in out.split("\n# ")] if out else []
        rows = [[line.split("|") for line in lines if line] for lines in tables]
        rows[0] = [row for row in rows[0] if row != [""]]
    else:
        rows = []
        for text in texts:
            with tempfile.NamedTemporaryFile("w", suffix=".sql") as query:
                query.write(text + ";\n")
                query.flush()
                out = subprocess.run([processor, "-q", query.name, path], capture_output=True, text=True, check=True).stdout
            rows.append(list(csv.reader(out.splitlines()))[1:])
    return dict(zip(QUERIES, rows))


def read_json(command):
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def main(tracetta, processor, trace, converted):
    found = run_queries(processor, converted)
    stat = read_json([tracetta, "stat", "-j", trace])
    count, total, opened, kinds = Counter(), Counter(), Counter(), Counter()
    for row in stat["rows"]:
        kinds[row["kind"]] += row["count"]
        if row["kind"] in SLICE_KINDS:
            count[row["name"]] += row["count"]
        if row["kind"] == "span":
            total[row["name"]] += row["total_ns"]
            opened[row["name"]] += row["unfinished"]
    wrong = [f"error {row}" for row in found["errors"]]
    for name in ("crossed", "twice", "unnamed", "pathless"):
        if found[name] != [["0"]]:
            wrong.append(f"{name}: {found[name]}")
    for name, n, time, open_n in found["slices"]:
        if name in total and (int(n), int(time), int(open_n)) != (count[name], total[name], opened[name]):
            wrong.append(f"{name}: {n} slices, {time} ns, {open_n} open; stat: {count[name]}, {total[name]}, {opened[name]}")
    missing = set(total) - {row[0] for row in found["slices"]}
    wrong += [f"no slice is named {name}" for name in sorted(missing)]
    is_perfetto = converted.endswith(".pftrace")
    if is_perfetto and int(found["sched"][0][0]) != kinds["switch"]:
        wrong.append(f"{found['sched'][0][0]} sched slices, {kinds['switch']} switches")
    if is_perfetto and int(found["samples"][0][0]) < kinds["sample"]:
        wrong.append(f"{found['samples'][0][0]} stack samples, {kinds['sample']} samples")
    depth = "other"  # async spans have tracks of their own, where they do not nest in those of threads
    if not read_json([tracetta, "stat", "-j", "--kind=async", trace])["rows"]:
        depth = max((row["depth"] + 1 for row in read_json([tracetta, "tree", "-j", trace])["rows"]), default=0)
    if depth != "other" and int(found["depth"][0][0]) < depth:
        wrong.append(f"depth {found['depth'][0][0]}, tree: {depth}")
    print(f"{converted}: {sum(count.values())} events, {len(total)} names of spans, depth {found['depth'][0][0]} ({depth}), "
          f"{found['sched'][0][0]} sched slices, {found['samples'][0][0]} samples")
    for line in wrong[:20]:
        print(f"  {line}")
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
