#!/usr/bin/env python3
"""Compares a trace.dat with what trace-cmd reported of it, event by event: thread, CPU, time to the microsecond, name.

usage: trace_dat.py TRACETTA TRACE REPORT.gz

Events of one microsecond may stand in any order: trace-cmd gives those of equal times by CPU, but prints no more digits.
Names: trace-cmd knows EventHeader's events by their tracepoint only; those are compared by provider.
"""
import gzip
import json
import re
import subprocess
import sys

LINE = re.compile(r"^\s*(.+)-(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{6}):\s+([^:]+):")
HEADER = re.compile(r"^(.*)_L[0-9a-f]+K[0-9a-f]+(?:[A-Z][0-9a-z]*)*$")


HEADER_PROVIDERS = set()


def reported(path):
    with gzip.open(path, "rt", errors="surrogateescape") as lines:
        for line in lines:
            match = LINE.match(line)
            if match:
                comm, pid, cpu, seconds, micros, name = match.groups()
                header = HEADER.match(name)
                if header:
                    HEADER_PROVIDERS.add(header.group(1))
                thread = 0 if name in ("sched_wakeup", "sched_wakeup_new") else int(pid)
                yield int(seconds) * 1000000 + int(micros), int(cpu), thread, header.group(1) if header else name


def read(tracetta, path):
    got = subprocess.run([tracetta, "cat", "--raw", "--format=jsonl", path], stdout=subprocess.PIPE, check=True).stdout
    for line in got.decode("utf-8").splitlines():
        event = json.loads(line)
        if event["kind"] == "gap":
            continue
        micros = (event["time_ns"] + 500) // 1000
        name = event["provider"] if event["provider"] in HEADER_PROVIDERS else event["name"]
        thread, cpu = event["tid"], event["cpu"]
        if event["kind"] == "switch":
            thread = event["fields"]["prev_pid"]
        if name in ("sched_wakeup", "sched_wakeup_new"):
            thread = 0
        if event["kind"] == "wake":
            thread, cpu = 0, event.get("tag", 0)  # the woken thread and its CPU are the event's own
        yield (micros, cpu, thread, name), event["kind"]


def main():
    tracetta, trace, report = sys.argv[1:]
    expected = list(reported(report))
    got = list(read(tracetta, trace))
    wrong = 0
    if len(expected) != len(got):
        print(f"# {len(got)} events, trace-cmd reports {len(expected)}")
        wrong += 1
    for want, (have, kind) in zip(sorted(expected), sorted(got)):
        if want != have:
            wrong += 1
            if wrong < 6:
                print(f"# expected {want}, got {have} ({kind})")
    sys.exit(1 if wrong else 0)


main()
