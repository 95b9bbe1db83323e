#!/usr/bin/env python3
"""A .NET runtime as seen from outside: speaks Diagnostic IPC by its documentation, or badly, on purpose.

usage: dotnet_serve.py FOLDER [KEY=VALUE...]

Serves FOLDER/dotnet-diagnostic-PID-START-socket (its own pid and start) until it is killed, and appends what it is asked to FOLDER/log, one
line a command, in words.  Keys:
  collect=2..7      the newest command that starts a session (default 7)
  info=0..3         the newest ProcessInfo, 0 = none (default 3)
  events=N          blocks of 1000 bytes that a session gives at once (default 5)
  rundown=BYTES     what it writes between a request to stop and its answer (default 3000000: more than a socket holds)
  ends=yes          the program ends as soon as the blocks are written: the stream is complete, the connection closes
  dies=N            the stream is cut after N bytes, and the process ends
  fault=KIND        every answer is: silent, garbage, close, half (of the header), drip (byte by byte), huge (announces more than comes);
                    stop-silent: only the request to stop is; foreign: the stream is none of .NET, and does not end
  error=HEX         collecting is refused with this HRESULT
  environment=TEXT  the variables, separated by ","
  port=PATH         does not serve: connects to PATH, says who it is, and connects again after each command
  cookie=BYTE       of which its cookie is made (default 7)
  suspended=yes     with port: begins its stream only after the command to resume, and waits for it at most a minute
  counters=yes      sessions give counters twice a second instead of blocks
  skips=N           with counters: N events are missing before each block but the first
  ready=FILE        makes this file when it is there
"""
import os
import signal
import socket
import struct
import sys
import threading
import time

MAGIC = b"DOTNET_IPC_V1\0"
UNKNOWN = 0x80131385


def text(value):
    units = value.encode("utf-16-le") + b"\0\0"
    return struct.pack("<I", len(units) // 2) + units


class Reader:
    """Bytes of a command, taken from the front; running out is an error, and so are bytes that are left."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0]

    def text(self):
        n = self.take("I")
        piece = self.data[self.at:self.at + 2 * n].decode("utf-16-le")
        self.at += 2 * n
        assert n == 0 or piece.endswith("\0")
        return piece[:-1]

    def end(self):
        assert self.at == len(self.data), f"{len(self.data) - self.at} bytes are left"


class Runtime:
    def __init__(self, folder, keys):
        self.folder, self.keys = folder, keys
        self.lock = threading.Lock()
        self.resumed = threading.Event()
        self.sessions = {}
        self.served = []
        if keys.get("suspended") != "yes":
            self.resumed.set()

    def number(self, key, default):
        return int(self.keys.get(key, default))

    def log(self, line):
        with self.lock, open(os.path.join(self.folder, "log"), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    # --- What is said ---

    @staticmethod
    def head(size, command):
        return MAGIC + struct.pack("<HBBH", 20 + size, 0xFF, command, 0)

    def send(self, link, payload, command=0):
        message = self.head(len(payload), command) + payload
        if self.keys.get("fault") == "drip":
            for i in range(len(message)):
                link.sendall(message[i:i + 1])
                time.sleep(0.001 if i < 40 else 0)  # a busy machine sleeps longer than it is told
        else:
            link.sendall(message)

    def refuse(self, link, result):
        self.send(link, struct.pack("<I", result), 0xFF)

    def misbehave(self, link):
        """True when the fault is the whole answer."""
        fault = self.keys.get("fault")
        if fault == "silent":
            time.sleep(60)
        elif fault == "garbage":
            link.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(range(256)))
        elif fault == "half":
            link.sendall(self.head(8, 0)[:11])
        elif fault == "huge":
            link.sendall(self.head(40000, 0) + b"x" * 100)
        return fault in ("silent", "garbage", "close", "half", "huge")

    # --- Questions ---

    def info(self, link, version):
        if version > self.number("info", 3):
            return self.refuse(link, UNKNOWN)
        payload = struct.pack("<Q", os.getpid()) + bytes([self.number("cookie", 7)] * 16)
        payload += text("/usr/bin/dotnet demo.dll --name=\u00fc\U0001f600") + text("Linux") + text("x64")
        if version >= 2:
            payload += text("demo") + text("8.0.11")
        if version >= 3:
            payload = struct.pack("<I", 1) + payload + text("linux-x64")
        return self.send(link, payload)

    def environment(self, link):
        variables = [name for name in self.keys.get("environment", "A=1,B=x y").split(",") if name]
        block = struct.pack("<I", len(variables)) + b"".join(map(text, variables))
        self.send(link, struct.pack("<IH", len(block), 0))
        link.sendall(block[:5])
        time.sleep(0.05)
        link.sendall(block[5:])

    # --- Sessions ---

    def read_collect(self, command, reader):
        """The command in words."""
        words = [f"collect{command}"]
        if command >= 6:
            words.append(f"type={reader.take('I')}")
        words.append(f"mb={reader.take('I')} format={reader.take('I')}")
        if command >= 5:
            words.append(f"rundown={reader.take('Q'):#x}")
        elif command >= 3:
            words.append(f"rundown={reader.take('B')}")
        if command >= 4:
            words.append(f"stacks={reader.take('B')}")
        for _ in range(reader.take("I")):
            keywords, level = reader.take("Q"), reader.take("I")
            words.append(f"{reader.text()}:{keywords:#x}:{level}:{reader.text()}")
            if command >= 6:
                assert reader.take("B") == 0 and reader.take("I") == 0
        if command >= 7:
            words.append(f"mode={reader.take('I')}")
        reader.end()
        return " ".join(words)

    @staticmethod
    def tagged(name, version, payload, at):
        """An object of nettrace 4; payload None is the trace itself, which has no size."""
        head = b"\5\5\1" + struct.pack("<iii", version, version, len(name)) + name.encode() + b"\6"
        if payload is None:
            return head + struct.pack("<8Hqqiiii", 2026, 1, 4, 1, 0, 0, 0, 0, 1, 10 ** 9, 8, os.getpid(), 2, 10 ** 6) + b"\6"
        pad = -(at + len(head) + 4) % 4
        return head + struct.pack("<i", len(payload)) + b"\0" * pad + payload + b"\6"

    def stream(self, blocks):
        data = b"Nettrace" + struct.pack("<i", 20) + b"!FastSerialization.1"
        data += self.tagged("Trace", 4, None, 0)
        for _ in range(blocks):
            data += self.block(len(data), 1000)
        return data

    def block(self, at, size):
        """A block without events: all of it is its head, which may be longer than is known."""
        return self.tagged("EventBlock", 2, struct.pack("<HHqq", size, 1, 0, 0) + b"\0" * (size - 20), at)

    # --- Counters ---

    @staticmethod
    def row(number, meta, payload):
        """A compressed event: metadata, sequence, capture thread and processor, thread, time, size of the payload."""
        size, tail = len(payload), b""
        while size > 127:
            tail, size = tail + bytes([size & 127 | 128]), size >> 7
        tail += bytes([size])
        return bytes([0x87, meta, number, 1, 0, 1, 0]) + tail + payload

    @staticmethod
    def utf16(value):
        return value.encode("utf-16-le") + b"\0\0"

    def field(self, name, code, nested=None):
        inner = b"" if nested is None else struct.pack("<i", len(nested)) + b"".join(nested)
        return struct.pack("<i", code) + inner + self.utf16(name)

    def definition(self, key, provider, name, fields):
        return (struct.pack("<i", key) + self.utf16(provider) + struct.pack("<i", 1) + self.utf16(name) +
                struct.pack("<qiii", 0, 0, 4, len(fields)) + b"".join(fields))

    def counter_metadata(self):
        text, number = 18, 14
        mean = [self.field("Name", text), self.field("DisplayName", text), self.field("Mean", number), self.field("DisplayUnits", text)]
        rate = [self.field("Name", text), self.field("DisplayName", text), self.field("Increment", number), self.field("DisplayUnits", text)]
        meter = [self.field(name, text) for name in ("sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags", "rate")]
        histogram = [self.field(name, text) for name in ("sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags", "quantiles")]
        nest = lambda fields: [self.field("", 1, [self.field("Payload", 1, fields)])]
        rows = [self.definition(1, "Demo", "EventCounters", nest(mean)), self.definition(2, "Demo", "EventCounters", nest(rate)),
                self.definition(3, "System.Diagnostics.Metrics", "CounterRateValuePublished", meter),
                self.definition(4, "System.Diagnostics.Metrics", "HistogramValuePublished", histogram)]
        return b"".join(self.row(0, 0, row) for row in rows)

    def counter_events(self, i):
        texts = lambda *values: b"".join(map(self.utf16, values))
        return b"".join([
            self.row((4 + self.number("skips", 0)) * i if "skips" in self.keys else 0, 1,
                     texts("load", "Load, now") + struct.pack("<d", 1.5 + i) + texts("%")),
            self.row(0, 2, texts("hits", "Hits") + struct.pack("<d", 10.0) + texts("")),
            self.row(0, 3, texts("SHARED", "Shop", "", "sales", "items", "city=Ulm", str(i))),
            self.row(0, 4, texts("SHARED", "Shop", "", "delay", "ms", "", "0.5=2;0.95=7.5")),
        ])

    def count(self, link, stopped):
        block = lambda name, rows, at: self.tagged(name, 2, struct.pack("<HHqq", 20, 1, 0, 0) + rows, at)
        data = self.stream(0)
        data += block("MetadataBlock", self.counter_metadata(), len(data))
        link.sendall(data)
        at = len(data)
        for i in range(1000):
            piece = block("EventBlock", self.counter_events(i), at)
            link.sendall(piece)
            at += len(piece)
            if stopped.wait(0.5):
                break
        link.sendall(b"\1")

    def collect(self, link, command, reader):
        if command > self.number("collect", 7):
            return self.refuse(link, UNKNOWN)
        self.log(self.read_collect(command, reader))
        if "error" in self.keys:
            return self.refuse(link, int(self.keys["error"], 16))
        stopped, answered = threading.Event(), threading.Event()
        self.sessions[0x1234] = (stopped, answered)
        self.send(link, struct.pack("<Q", 0x1234))
        self.resumed.wait(60)
        if self.keys.get("counters") == "yes":
            self.count(link, stopped)
            answered.set()
            return None
        if self.keys.get("fault") == "foreign":
            link.sendall(b"HTTP/1.1 400 Bad Request\r\n")
            stopped.wait(100)
            return None
        data = self.stream(self.number("events", 5))
        if "dies" in self.keys:
            link.sendall(data[:self.number("dies", 0)])
            time.sleep(0.2)
            os._exit(9)
        link.sendall(data)
        if self.keys.get("ends") != "yes":
            stopped.wait(300)
            left, at = self.number("rundown", 3000000), len(data)
            while left > 0:
                block = self.block(at, 60000)
                link.sendall(block)
                at, left = at + len(block), left - len(block)
        link.sendall(b"\1")
        answered.set()
        return None

    def stop(self, link, reader):
        session = reader.take("Q")
        reader.end()
        self.log(f"stop {session:#x}")
        if self.keys.get("fault") == "stop-silent":
            time.sleep(60)
        stopped, answered = self.sessions[session]
        stopped.set()
        answered.wait(120)
        self.send(link, struct.pack("<Q", session))

    # --- Connections ---

    def serve(self, link):
        """One command; the connection is closed behind it."""
        with link:
            head = link.recv(20, socket.MSG_WAITALL)
            if len(head) < 20:
                return
            size, group, command, _ = struct.unpack("<HBBH", head[14:])
            assert head[:14] == MAGIC
            reader = Reader(link.recv(size - 20, socket.MSG_WAITALL) if size > 20 else b"")
            if self.misbehave(link):
                return
            if group == 2 and command == 1:
                self.stop(link, reader)
            elif group == 2:
                self.collect(link, command, reader)
            elif (group, command) in ((4, 0), (4, 4), (4, 8)):
                self.info(link, 1 + command // 4)
            elif (group, command) == (4, 1) and self.number("info", 3):
                self.log("resume")
                self.resumed.set()
                self.send(link, b"")
            elif (group, command) == (4, 2) and self.number("info", 3):
                self.environment(link)
            else:
                self.refuse(link, UNKNOWN)

    def ready(self):
        if "ready" in self.keys:
            with open(self.keys["ready"], "w", encoding="utf-8") as file:
                file.write(str(os.getpid()))

    def listen(self):
        with open("/proc/self/stat", encoding="utf-8") as file:
            start = file.read().rpartition(")")[2].split()[19]
        server = socket.socket(socket.AF_UNIX)
        os.chdir(self.folder)  # addresses are short
        server.bind(f"dotnet-diagnostic-{os.getpid()}-{start}-socket")
        server.listen(16)
        self.ready()
        while True:
            link, _ = server.accept()
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def call(self):
        """One connection to the other side's socket; True when a command came over it."""
        link = socket.socket(socket.AF_UNIX)
        link.connect(self.keys["port"])
        link.sendall(b"ADVR_V1\0" + bytes([self.number("cookie", 7)] * 16) + struct.pack("<QH", os.getpid(), 0))
        if not link.recv(1, socket.MSG_PEEK):
            return False
        thread = threading.Thread(target=self.serve, args=(link,), daemon=True)
        thread.start()
        self.served.append(thread)
        return True

    def call_again(self):
        self.ready()
        try:
            while self.call():
                pass
        except OSError:
            pass
        self.resumed.wait(60)
        for thread in self.served:  # a session goes on when nobody listens any more
            thread.join()


def main():
    signal.alarm(1000)  # nobody needs it for so long
    runtime = Runtime(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:]))
    if "port" in runtime.keys:
        runtime.call_again()
    else:
        runtime.listen()


if __name__ == "__main__":
    main()
