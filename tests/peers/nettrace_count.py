#!/usr/bin/env python3
"""Counts the events of a nettrace 4 file from its specification, sharing nothing with the library.

usage: nettrace_count.py FILE

Prints "PROVIDER ID COUNT" for each kind of event, "lost N" by the sequence numbers of the threads, and "whole" where the file ends as it should.
"""
import collections
import struct
import sys


class Bytes:
    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def take(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        end = self.at
        while self.data[end] or self.data[end + 1]:
            end += 2
        value = bytes(self.data[self.at:end]).decode("utf-16-le", "replace")
        self.at = end + 2
        return value


class Trace:
    def __init__(self):
        self.events, self.names, self.sequence, self.lost = collections.Counter(), {}, {}, 0

    def see_sequence(self, thread, number):
        before = self.sequence.get(thread)
        self.sequence[thread] = number
        if before is not None and number > before:
            self.lost += number - before - 1

    def define(self, payload):
        key, provider, number = payload.take("i"), payload.text(), payload.take("i")
        self.names[key] = (provider, number)

    def blobs(self, block, is_metadata):
        head = struct.unpack_from("<HH", block.data, block.at)
        block.at += head[0]
        assert head[1] & 1, "blobs of .NET are compressed"
        meta = sequence = thread = size = 0
        while block.at < block.end:
            flags = block.take("B")
            if flags & 1:
                meta = block.varint()
            if flags & 2:
                sequence = (sequence + block.varint() + 1) & 0xFFFFFFFF
                thread = block.varint()
                block.varint()
            elif meta:
                sequence = (sequence + 1) & 0xFFFFFFFF
            for bit in (4, 8, 16):
                if bit != 16 and flags & bit:
                    block.varint()
                if bit == 16:
                    block.varint()
            block.at += 16 * bool(flags & 16) + 16 * bool(flags & 32)
            if flags & 128:
                size = block.varint()
            if is_metadata:
                self.define(Bytes(block.data, block.at, block.at + size))
            else:
                self.see_sequence(thread, sequence)
                self.events[meta] += 1
            block.at += size

    def sequence_point(self, block):
        block.take("q")
        for _ in range(block.take("i")):
            thread, number = block.take("Q"), block.take("I")
            if number > self.sequence.get(thread, number):
                self.lost += number - self.sequence[thread]

    def read(self, data):
        """True where the file says that it ends."""
        stream = Bytes(data)
        assert bytes(data[:8]) == b"Nettrace"
        stream.at = 32
        while stream.take("B") != 1:
            stream.at += 10
            name_n = stream.take("i")
            name = bytes(data[stream.at:stream.at + name_n]).decode()
            stream.at += name_n + 1
            if name == "Trace":
                stream.at += 49
                continue
            size = stream.take("i")
            stream.at += -stream.at % 4
            block = Bytes(data, stream.at, stream.at + size)
            if name in ("EventBlock", "MetadataBlock"):
                self.blobs(block, name == "MetadataBlock")
            elif name == "SPBlock":
                self.sequence_point(block)
            stream.at += size + 1
        return stream.at == len(data)


def main():
    trace = Trace()
    with open(sys.argv[1], "rb") as file:
        is_whole = trace.read(file.read())
    for meta, count in sorted(trace.events.items()):
        print(*trace.names[meta], count)
    print("lost", trace.lost)
    if is_whole:
        print("whole")


if __name__ == "__main__":
    main()
