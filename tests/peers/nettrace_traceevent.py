#!/usr/bin/env python3
"""Compares a nettrace trace as tracetta reads it with what TraceEvent, the runtime's own reader, says of it, event by event.

usage: nettrace_traceevent.py TRACETTA TRACE TRUTH.xz

Time, thread, provider, level, keywords, related activities, and every field that both have.  Truth is lines
"ms P<pid> T<tid> C<cpu> provider/id/version/name op= lvl= kw= len= fields".  Events of one time may stand in another order.
Prints each kind of difference once with its count; exit status 1 when there is one that is not expected.
"""
import collections
import datetime
import json
import lzma
import re
import subprocess
import sys

LEVELS = {None: "0", "fatal": "1", "error": "2", "warning": "3", "info": "4", "debug": "5"}
HEAD = re.compile(r"(\S+) P(\d+) T(-?\d+) C(-?\d+) (.+?)/(\d+)/v(\d+)/(.*?) op=(\d+) lvl=(\d+) kw=([0-9a-f]+) len=(\d+)(.*)", re.DOTALL)
ENDS = (" ", "")
# Where TraceEvent errs or shows a value otherwise: (provider, event, field) with "*" for any, and why.
EXPECTED = [
    ("Demo-Types", "Odd", "le", "metadata that lie: one byte is declared, four are written"),
    ("Demo-Types", "Odd", "p", "metadata that lie: one byte is declared, four are written"),
    ("Demo-Types", "Odd", "col", "metadata that lie: one byte is declared, four are written"),
    ("Demo-Types", "Odd", "t", "dates with more digits"),
    ("*", "MethodDetails", "LoaderModuleID", "0 in TraceEvent, whose template has other fields"),
    ("*", "*", "CommandLine", "paths that were changed in the recorded file"),
    ("*", "*", "ManagedPdbBuildPath", "paths that were changed in the recorded file"),
    ("*", "*", "ModuleILPath", "paths that were changed in the recorded file"),
    ("*", "*", "TypeParameterCount", "null in TraceEvent, whose template has another name"),
    ("*", "*", "TypeParameters", "an array here"),
    ("*", "*", "Type", "names of values"),
    ("*", "*", "Kind", "names of values"),
    ("*", "*", "Reason", "names of values"),
    ("*", "*", "AllocationKind", "names of values"),
    ("*", "*", "MethodFlags", "names of flags"),
    ("*", "*", "ModuleFlags", "names of flags"),
    ("*", "*", "AssemblyFlags", "names of flags"),
    ("*", "*", "AppDomainFlags", "names of flags"),
    ("*", "*", "ExceptionFlags", "names of flags"),
    ("*", "*", "Flags", "names of flags"),
    ("*", "*", "ContentionFlags", "names of values"),
    ("*", "*", "Sku", "names of values"),
    ("*", "*", "StartupFlags", "names of flags"),
    ("*", "*", "StartupMode", "names of values"),
    ("*", "*", "GlobalMechanisms", "names of flags"),
    ("*", "*", "PauseMode", "names of values"),
    ("*", "*", "CompactMechanisms", "names of values"),
    ("*", "*", "ExpandMechanisms", "names of values"),
]


def shown(value):
    """The ways TraceEvent may write a value."""
    if value is True or value is False:
        return [str(value)]
    if value is None:
        return ["null"]
    if isinstance(value, int):
        return [str(value), str(value - (1 << 64)), str(value - (1 << 32)), str(value - (1 << 16)), "%x" % value, str(value & 0xffff)]
    if isinstance(value, float):
        texts = [repr(value), "%g" % value, "%.7g" % value, "%.9g" % value]
        return texts + [text[:-2] for text in texts if text.endswith(".0")] + [text.replace("e+", "E+").replace("e-", "E-") for text in texts]
    if isinstance(value, list):
        return ["[" + ",".join(shown(item)[0] for item in value) + "]"]
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    special = {"inf": ["Infinity"], "-inf": ["-Infinity"], "nan": ["NaN"]}
    return ['"' + text + '"', str(value)] + special.get(value, [])


def ours(tracetta, path, start):
    text = subprocess.run([tracetta, "convert", "-t", "jsonl", "-o", "-", "--quiet", path], check=True, capture_output=True).stdout
    for line in text.decode("utf-8", "replace").splitlines():
        event = json.loads(line)
        if event["kind"] != "gap":
            yield (event["time_ns"] - start, event["tid"] & 0xffffffff, event["provider"], event.get("keyword") or 0), event


def theirs(path):
    with lzma.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
        text = file.read()
    head, _, rest = text.partition("\n")
    date = re.search(r"start=(\S+?)\.(\d{3})", head)
    start = int(datetime.datetime.fromisoformat(date.group(1) + "+00:00").timestamp()) * 10**9 + int(date.group(2)) * 10**6
    rest = rest.rsplit("\n# events=", 1)[0]
    lines = re.split(r"\n(?=-?\d+\.\d{6} P\d+ T)", rest.rstrip("\n"))
    return start, [HEAD.match(line) for line in lines if HEAD.match(line)]


def is_expected(provider, name, field):
    return any(p in ("*", provider) and n in ("*", name) and f in ("*", field) for p, n, f, _ in EXPECTED)


def compare(event, match, differences):
    """Notes what differs between one of our events and one of theirs."""
    provider, name = event["provider"], event["name"]
    if LEVELS.get(event.get("level"), "?") != match.group(10):
        differences[(provider, name, "level")] += 1
    compared = 0
    for field, value in event["fields"].items():
        at = match.group(13).find(" " + field + "=")
        if at < 0 or not field or isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], (dict, list))):
            continue
        rest = match.group(13)[at + len(field) + 2:]
        compared += 1
        if not any(rest == text or rest.startswith(text + " ") for text in shown(value)):
            differences[(provider, name, field)] += 1
            differences.setdefault("sample", {})[(provider, name, field)] = (shown(value)[0], rest[:60])
    return compared


def main(tracetta, trace, truth):
    start, lines = theirs(truth)
    waiting = collections.defaultdict(list)
    for match in lines:
        ns = round(float(match.group(1)) * 10**6)
        waiting[(ns, int(match.group(3)) & 0xffffffff, match.group(5))].append(match)
    differences, missing, events, fields = collections.Counter(), 0, 0, 0
    samples = {}
    for (ns, tid, provider, keyword), event in ours(tracetta, trace, start):
        events += 1
        found = [key for key in ((ns + by, tid, provider) for by in (0, -1, 1)) if waiting.get(key)]
        if not found:
            missing += 1
            samples.setdefault("missing", (ns, tid, provider, event["name"]))
            continue
        match = waiting[found[0]].pop(0)
        if int(match.group(11), 16) != keyword:
            differences[(provider, event["name"], "keyword")] += 1
        own = collections.Counter()
        fields += compare(event, match, own)
        samples.update(own.pop("sample", {}))
        differences.update(own)
    left = sum(len(matches) for matches in waiting.values())
    unexpected = {key: n for key, n in differences.items() if not is_expected(*key)}
    print(f"# {events} events, {fields} fields compared; {missing} only here, {left} only there; "
          f"{sum(differences.values()) - sum(unexpected.values())} fields shown otherwise, as known")
    for key, n in sorted(unexpected.items()):
        print(f"# {n} times {' '.join(key)}: {samples.get(key)}")
    if missing:
        print(f"# first: {samples['missing']}")
    return 1 if unexpected or missing or left else 0


sys.exit(main(*sys.argv[1:4]))
