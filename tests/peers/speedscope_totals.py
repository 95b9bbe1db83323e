#!/usr/bin/env python3
"""Compares the table of functions that speedscope shows (view "sandwich") with the folded stacks of the same trace.

usage: speedscope_totals.py PAGE FOLDED
PAGE is the page as HTML, FOLDED the output of flame --to=folded with weights in ns. The total time of a function counts each
stack once, however often the function is in it, so the numbers depend on the depth and on the end of each span.
"""

import html
import re
import sys
from collections import Counter

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
TIME = r"([\d.]+)(ns|µs|ms|s) \((?:<?[\d.]+|NaN)%\) "


def read_folded(path):
    total, own = Counter(), Counter()
    for line in open(path, encoding="utf-8"):
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        own[frames[-1]] += int(weight)
        for name in set(frames):
            total[name] += int(weight)
    return total, own


def main(page, folded):
    total, own = read_folded(folded)
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", open(page, encoding="utf-8").read())))
    text = text.split("Symbol Name ", 1)[-1]
    rows = list(re.finditer(TIME + TIME, text))
    wrong = 0
    for i, row in enumerate(rows):
        shown = text[row.end() : rows[i + 1].start() if i + 1 < len(rows) else len(text)].strip()
        name = shown.split(' {"')[0]
        if name not in total:
            if i + 1 < len(rows):  # the last row is followed by the rest of the page
                print(f"no stack has {shown}")
                wrong += 1
            continue
        for number, unit, wanted in ((row[1], row[2], total[name]), (row[3], row[4], own[name])):
            # the writer orders events of one time by digits below the nanosecond, hence more than half a digit
            if abs(float(number) * UNITS[unit] - wanted) > 0.02 * UNITS[unit]:
                print(f"{name}: {number}{unit}, folded: {wanted} ns")
                wrong += 1
    print(f"{len(rows)} functions compared")
    return wrong > 0 or len(rows) < 10


sys.exit(main(*sys.argv[1:]))
