#!/usr/bin/env python3
"""Makes an FXT trace whose names and texts contain control characters: usage: controls_make.py FILE"""
import struct
import sys


def word(*fields):
    return struct.pack("<Q", sum(value << shift for value, shift in fields))


def string(index, text):
    padded = text + b"\0" * (-len(text) % 8)
    return word((2, 0), (1 + len(padded) // 8, 4), (index, 16), (len(text), 32)) + padded


def main():
    out = [struct.pack("<Q", 0x0016547846040010), word((1, 0), (2, 4)) + struct.pack("<Q", 1000000000),
           word((3, 0), (3, 4), (1, 16)) + struct.pack("<QQ", 7, 8),
           string(1, b"ev\x1b[31m\x9b2Jx\r\x07\xc2\x9b"), string(2, b"arg\x1b]0;t\x07"), string(3, b"val\x1b[5m\x9b"), string(4, b"cat\x1b[7m")]
    out.append(word((4, 0), (3, 4), (0, 16), (1, 20), (1, 24), (4, 32), (1, 48)) + struct.pack("<Q", 1000000)
               + word((6, 0), (1, 4), (2, 16), (3, 32)))
    with open(sys.argv[1], "wb") as to:
        to.write(b"".join(out))


main()
