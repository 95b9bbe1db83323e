#!/usr/bin/env python3
"""Compares events that actf printed ("actf -l", local time an hour before UTC) with the same events printed as babeltrace2 prints them.

usage: ctf_actf.py whole|begin ACTF_TEXT BABELTRACE_TEXT

Compared are, event by event, the time of day, the name, and the structures that both show: common and specific context, payload.  What only
the form says does not count: bases, indices of elements, order of labels, words for an optional that is absent, 0 and 1 for booleans, the
digits of floats after the sixth, and the sign of numbers in hexadecimal, which babeltrace2 prints in two's complement.  With "begin" there may
be more events at the end.  Prints those that differ; the last line is the number of lines that do: two for an event that both have, one
for an event that one lacks.
"""
import re
import sys

TIME = re.compile(r"\[(\d+):(\d\d):(\d\d)\.(\d{9})\] ")
DELTA = re.compile(r"\(\+[^)]*\) ")
BLOB = re.compile(r"((?: [0-9a-f]{2})+) }")
MEMBER = re.compile(r' [^=",]* = ')
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
HIDDEN = ("packet-header", "packet-context", "event-header")
HOUR = 3600 * 10**9
DAY = 24 * HOUR


class Masked(int):
    """A number in hexadecimal, of which the sign bit may be one bit of its digits."""

    def __new__(cls, word):
        it = super().__new__(cls, int(word, 16))
        it.size = 1 << 4 * (len(word) - 2)
        return it


def scalar(word):
    """The value of a number, or the word itself."""
    if word in ("true", "false"):
        return int(word == "true")
    if re.fullmatch(r"0x[0-9a-fA-F]+", word):
        return Masked(word)
    if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", word):
        return int(word, 0)
    if re.fullmatch(r"-?\d+\.\d+(e[-+]\d+)?", word):
        return f"{float(word):g}"
    return word


class Digits(str):
    """The bytes of a blob, or an optional number of two digits: both look so."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return str(other) == str(self)

    def __ne__(self, other):
        return str(other) != str(self)


class Line:
    """A printed event, and a place in it."""

    def __init__(self, text):
        self.text, self.at = text, 0
        time = self.match(TIME)
        self.match(DELTA)
        self.time = None
        if time:
            hours, minutes, seconds, nanoseconds = map(int, time.groups())
            self.time = ((hours * 60 + minutes) * 60 + seconds) * 10**9 + nanoseconds

    def sees(self, what):
        return self.text.startswith(what, self.at)

    def takes(self, what):
        if not self.sees(what):
            return False
        self.at += len(what)
        return True

    def needs(self, what):
        if not self.takes(what):
            raise ValueError(f"{what!r} wanted at column {self.at + 1} of: {self.text}")

    def until(self, mark):
        end = self.text.find(mark, self.at)
        if end < 0:
            raise ValueError(f"{mark!r} wanted after column {self.at + 1} of: {self.text}")
        found, self.at = self.text[self.at:end], end + len(mark)
        return found

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def word(self):
        return scalar(self.match(re.compile(r"[^,:\]}\s]*")).group())

    def quoted(self):
        self.needs('"')
        out = []
        while not self.takes('"'):
            if self.at >= len(self.text):
                raise ValueError(f"no closing quote in: {self.text}")
            escaped = self.takes("\\")
            c = self.text[self.at:self.at + 1]
            self.at += 1
            out.append(ESCAPES.get(c, c) if escaped else c)
        return "".join(out)

    def labels(self, between):
        out = [self.quoted()]
        while self.sees(between + '"'):
            self.needs(between)
            out.append(self.quoted())
        return sorted(out)

    def list(self, item, closing):
        out = []
        while not self.takes(closing) and not self.takes(" " + closing):
            if out:
                self.needs(",")
            self.takes(" ")
            out.append(item())
        return out

    def end(self):
        if self.at != len(self.text):
            raise ValueError(f"more than an event after column {self.at + 1} of: {self.text}")


class Actf(Line):
    """name: { event-payload: { a: 1, b: [1, 2], c: "text", d: 0x2: "label","label", e: nil, f: 00ff } }"""

    def member(self):
        return [self.until(": "), self.value()]

    def value(self):
        if self.takes("{"):
            return self.list(self.member, "}")
        if self.takes("["):
            return self.list(self.value, "]")
        if self.sees('"'):
            return self.quoted()
        word = self.word()
        if self.takes(": "):
            return word if self.takes("nil") else [word, self.labels(",")]
        return None if word == "nil" else word

    def event(self):
        name = "" if self.sees("{") else self.until(": ")
        scopes = [value for scope, value in self.value() if scope not in HIDDEN]
        self.end()
        return (self.time - HOUR) % DAY if self.time is not None else None, name, scopes


class Babeltrace(Line):
    """name: { a = 1, b = [ [0] = 1, [1] = 2 ], c = "text", d = ( "label" : container = 0x2 ), e = <none>, f = { 00 ff } }"""

    def member(self):
        return [self.until(" = "), self.value()]

    def element(self):
        self.until("] = ")
        return self.value()

    def braces(self):
        """A structure, the bytes of a blob, or an optional that is there."""
        blob = self.match(BLOB)
        if blob:
            return Digits(blob.group(1).replace(" ", ""))
        if self.takes(" }"):
            return []
        if MEMBER.match(self.text, self.at):
            return self.list(self.member, "}")
        self.needs(" ")
        value = self.value()
        self.needs(" }")
        return value

    def enumeration(self):
        self.needs(" ")
        if self.takes("<unknown>"):
            labels = None
        elif self.takes("{ "):
            labels = self.labels(", ")
            self.needs(" }")
        else:
            labels = self.labels(", ")
        self.needs(" : container = ")
        value = scalar(self.until(" )"))
        return [value, labels] if labels else value

    def value(self):
        if self.takes("{"):
            return self.braces()
        if self.takes("["):
            return self.list(self.element, "]")
        if self.takes("("):
            return self.enumeration()
        if self.sees('"'):
            return self.quoted()
        if self.takes("<none>"):
            return None
        value = self.word()
        if self.takes(" { }"):
            return value
        if self.takes(" { "):
            labels = self.labels(", ")
            self.needs(" }")
            return [value, labels]
        return value

    def event(self):
        name = self.until(": {")
        self.at -= 1
        scopes = [self.value()]
        while self.takes(", "):
            scopes.append(self.value())
        self.end()
        return self.time, "" if name == "<unknown>" else name, scopes


def same(theirs, ours):
    if isinstance(theirs, (list, tuple)) and isinstance(ours, (list, tuple)):
        return len(theirs) == len(ours) and all(map(same, theirs, ours))
    if isinstance(theirs, int) and theirs < 0 and isinstance(ours, Masked):
        return theirs + ours.size == ours
    if theirs == "" and ours == []:
        return True  # a blob without bytes
    return theirs == ours


def events(path, reader):
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        return [reader(line).event() for line in file.read().split("\n") if line]


def main():
    theirs, ours = events(sys.argv[2], Actf), events(sys.argv[3], Babeltrace)
    if sys.argv[1] == "begin":
        ours = ours[:len(theirs)]
    different = abs(len(theirs) - len(ours))
    if different:
        print(f"# {len(theirs)} events wanted, {len(ours)} there")
    for one, other in zip(theirs, ours):
        if not same(one, other):
            different += 2
            print(f"# wanted: {one}\n# there:  {other}")
    print(different)


main()
