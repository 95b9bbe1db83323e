#!/usr/bin/python3
"""Replays a Perfetto trace the way Perfetto's importer does, from the bytes alone, and says what came out.

usage: perfetto_replay.py FILE

Packets are sorted by time (those of one time stay in order), a begin opens a slice on its track, an end closes the innermost one, an instant is a
slice without length.  Prints "slices N", "sum_ns N", "open N" and "unmatched N" (slices never ended, ends without a slice), then "name N SUM" for
each name, most frequent first.
"""
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            sys.exit(f"wire type {tag & 7}")
        yield tag >> 3, value


def events_of(data):
    names = {}
    for _, packet in fields(data):
        parts = dict(fields(packet))
        if parts.get(13, 0) & 1:
            names = {}
        for field, entry in fields(parts.get(12, b"")):
            if field == 2:
                entry = dict(fields(entry))
                names[entry[1]] = entry[2].decode()
        if 11 in parts:
            event = dict(fields(parts[11]))
            name = names[event[10]] if 10 in event else event.get(23, b"").decode()
            yield parts[8], event.get(9, 0), event[11], name


def replay(data):
    stacks, done, unmatched = {}, [], 0
    for time, kind, track, name in sorted(events_of(data), key=lambda event: event[0]):
        stack = stacks.setdefault(track, [])
        if kind == 1:
            stack.append((time, name))
        elif kind == 2 and stack:
            begin, name = stack.pop()
            done.append((name, time - begin))
        elif kind == 2:
            unmatched += 1
        elif kind == 3:
            done.append((name, 0))
    return done, sum(map(len, stacks.values())), unmatched


def main(path):
    with open(path, "rb") as file:
        done, left_open, unmatched = replay(file.read())
    print("slices", len(done))
    print("sum_ns", sum(duration for _, duration in done))
    print("open", left_open)
    print("unmatched", unmatched)
    totals = {}
    for name, duration in done:
        count, total = totals.get(name, (0, 0))
        totals[name] = (count + 1, total + duration)
    for name, (count, total) in sorted(totals.items(), key=lambda item: (-item[1][0], item[0])):
        print(name, count, total)


main(sys.argv[1])
