#!/usr/bin/env python3
"""Compares the samples of a perf.data as tracetta gives them with what `perf script` prints of it.

usage: perf_script.py TRACETTA TRACE [TEXT.gz]

Time, name and number of the thread, processor, event, and the stack of each sample must be the same; both are sorted by that, since
perf gives what is at one time in any order.  TEXT is what perf printed before, to the microsecond; without it perf is run.
Exit status: 0 the same, 1 not, 77 perf cannot say.
"""
import collections
import gzip
import json
import re
import subprocess
import sys

LINE = re.compile(r"^\s*(.+?)\s+(-?\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d{6}|\d{9}):\s+(?:(\d+)\s+)?(\S.*?):(?:\s(.*))?$")
EVENT_HEADER = re.compile(r"^user_events:(.+)_L[0-9a-f]+K[0-9a-f]+[A-Za-z0-9]*$")
FRAME = re.compile(r"^\s+([0-9a-f]+) ")


def peer(trace, text):
    """(time, digits of a second, comm, tid, cpu, event, frames) of each sample; frames None where the line tells none."""
    if text:
        lines = gzip.open(text, "rt", errors="replace").read().split("\n")
    else:
        run = subprocess.run(["perf", "script", "--ns", "--no-inline", "-i", trace], capture_output=True, timeout=120)
        lines = run.stdout.decode(errors="replace").split("\n")
        if not run.stdout:
            print("# perf:", run.stderr.decode(errors="replace").strip().split("\n")[0])
            sys.exit(77)
    samples = []
    for line in lines:
        match = LINE.match(line)
        frame = FRAME.match(line)
        if frame and samples and line.startswith("\t"):
            if "(inlined)" not in line:
                samples[-1][-1].append(int(frame.group(1), 16))
        elif match:
            comm, tid, cpu, second, part, _, event, rest = match.groups()
            own = re.match(r"\s*([0-9a-f]{3,16}) \S", rest or "") if ":" not in event or event.startswith(("cycles", "instr", "cpu")) else None
            samples.append([int(second) * 10 ** len(part) + int(part), len(part), comm.strip(), int(tid), int(cpu) if cpu else None, event,
                            [int(own.group(1), 16)] if own else []])
    return samples


def ours(tracetta, trace):
    run = subprocess.run([tracetta, "cat", "--raw", "--format=jsonl", trace], capture_output=True, timeout=120)
    records = {"mmap", "comm", "exit", "fork", "throttle", "unthrottle", "read", "mmap2", "aux", "itrace_start", "switch", "namespaces",
               "ksymbol", "bpf_event", "cgroup", "text_poke", "switch_cpu_wide"}
    samples = []
    for line in run.stdout.decode(errors="replace").split("\n"):
        if not line:
            continue
        event = json.loads(line)
        if event["kind"] in ("object", "gap") or (not event["provider"] and event["kind"] == "instant" and event["name"] in records):
            continue
        if event["kind"] == "switch" and not event["provider"]:
            continue
        samples.append(event)
    return samples


def anchor(trace, tracetta):
    """What must be taken off our times to have the clock's own."""
    report = json.loads(subprocess.run([tracetta, "info", "--json", trace], capture_output=True).stdout)
    clocks = report.get("clocks") or report["traces"][0]["clocks"]
    clock = clocks[0]
    return clock["anchor_ns"] - clock["anchor_ticks"] if clock.get("anchored") else 0


def main():
    tracetta, trace = sys.argv[1], sys.argv[2]
    theirs = peer(trace, sys.argv[3] if len(sys.argv) > 3 else None)
    off = anchor(trace, tracetta)
    digits = theirs[0][1] if theirs else 9
    mine = []
    for event in ours(tracetta, trace):
        time = (event["time_ns"] - off) // 10 ** (9 - digits)
        comm, tid, cpu = event.get("thread"), event["tid"], event["cpu"]
        if event["kind"] in ("switch", "wake"):  # given to the thread that it is about
            comm, tid = None, event.get("from_tid")
            cpu = None if event["kind"] == "wake" else cpu
        name = event["provider"] + ":" + event["name"] if event["provider"] else event["name"]
        mine.append((time, comm, tid, cpu, name, event["fields"].get("frames", []) if event["kind"] == "sample" else [],
                     "user_stack" in event.get("context", {})))  # which perf unwinds
    if len(mine) != len(theirs):
        print(f"# {len(mine)} samples, perf has {len(theirs)}")
        return 1
    mine.sort(key=lambda s: (s[0], s[4], s[5]))
    theirs.sort(key=lambda s: (s[0], s[5], s[6]))
    wrong = collections.Counter()
    for a, b in zip(mine, theirs):
        for what, one, other in (("time", a[0], b[0]), ("name", a[4], b[5]), ("comm", a[1], b[2]), ("tid", a[2], b[3]), ("cpu", a[3], b[4]), ("stack", a[5], b[6])):
            if one is None or (what == "cpu" and other is None) or (what == "stack" and (not other or not one)):
                continue
            if what == "tid" and one >= 2 ** 32 - 1:
                one = -1
            if what == "name" and EVENT_HEADER.match(other):  # named by what is inside, which perf does not decode
                one, other = one.split(":")[0], EVENT_HEADER.match(other).group(1)
            if what == "stack":  # perf prints addresses of programs as those in their files
                one, other = ([x if x >= 2 ** 47 else 0 for x in stack[:127]] for stack in (one, other))  # and no more than these
                other = other[:len(one)] if a[6] else other
            if one != other:
                wrong[what] += 1
                if wrong[what] < 3:
                    print(f"# {what}: {one!r}, perf has {other!r}, at {a[0]}")
    for what, n in wrong.items():
        print(f"# {what}: {n} of {len(mine)} differ")
    return 1 if wrong else 0


sys.exit(main())
