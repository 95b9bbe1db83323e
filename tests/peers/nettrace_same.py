#!/usr/bin/env python3
"""Compares two outputs of nettrace_dump.cs, in any order.  usage: nettrace_same.py [--core] ONE OTHER

--core: without the fields as TraceEvent shows them.  Metadata of old runtimes lie of the sizes of booleans and bytes; what tracetta writes of them in V6
does not, so that TraceEvent shows those fields as they were.
"""
import sys


def lines(path, is_core):
    result = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            begin, end = line.find("["), line.rfind(" {")
            behind = line.find("]", begin)
            has_parts = is_core and 0 <= begin < behind <= end
            result.append(line[:behind + 1] + line[end:] if has_parts else line)
    return sorted(result)


def main():
    is_core = sys.argv[1] == "--core"
    one, other = (lines(path, is_core) for path in sys.argv[-2:])
    differences = [pair for pair in zip(one, other) if pair[0] != pair[1]]
    if len(one) != len(other):
        print("# %d lines became %d" % (len(one), len(other)))
    for before, after in differences[:3]:
        print("# %s# became %s" % (before[:300].rstrip() + "\n", after[:300].rstrip()))
    return 1 if differences or len(one) != len(other) or len(one) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
