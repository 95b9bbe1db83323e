#!/usr/bin/env python3
"""Makes an FXT trace of nested spans: usage: deep_make.py FILE CHAINS DEPTH

Each of CHAINS root spans has DEPTH - 1 spans nested below it. Each span has a name of its own, as far as FXT has indices.
"""
import struct
import sys


def word(*fields):
    return struct.pack("<Q", sum(value << shift for value, shift in fields))


def main():
    file, chains, depth = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    out = [struct.pack("<Q", 0x0016547846040010), word((1, 0), (2, 4)) + struct.pack("<Q", 1000000000),
           word((3, 0), (3, 4), (1, 16)) + struct.pack("<QQ", 7, 8)]
    names = min(chains * depth, 30000)
    for i in range(names):
        text = b"f%d" % i
        out.append(word((2, 0), (2, 4), (i + 1, 16), (len(text), 32)) + text.ljust(8, b"\0"))
    time = 0
    for chain in range(chains):
        begin = time
        for level in range(depth):
            name = (chain * depth + level) % names + 1
            out.append(word((4, 0), (3, 4), (4, 16), (1, 24), (1, 32), (name, 48))
                       + struct.pack("<QQ", begin + level, begin + 2 * depth - level))
        time += 2 * depth
    with open(file, "wb") as to:
        to.write(b"".join(out))


main()
