"""Measures how soon events are shown: live_latency.py TRACETTA cat|stat udp|tcp EVENTS

Sends an event every 50 ms and prints the median and the longest time until the command has printed it, in ms.
"""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

tracetta, command, transport, events = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
arguments = ["cat", "--format=jsonl"] if command == "cat" else ["stat", "--live", "--json"]
child = subprocess.Popen([tracetta, *arguments, transport + "::0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
line = child.stderr.readline()
port = int(line.rsplit(":", 1)[1])
seen = {}


def read():
    for text in child.stdout:
        line = json.loads(text)
        if command == "cat":
            seen[len(seen)] = time.monotonic()
        else:
            for n in range(line["events"]):
                seen.setdefault(n, time.monotonic())


thread = threading.Thread(target=read)
thread.start()
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM)
to.connect(("127.0.0.1", port))
to.sendall(struct.pack(">IIH5sQ", 0x75D11D4D, 23, 5, b"epoch", 1700000000000000000))
sent = {}
for n in range(events):
    body = struct.pack(">IIQQQH4sH1sBQ", 7, n, 0, n * 1000, n * 1000 + 500, 4, b"work", 1, b"n", 1, n)
    sent[n] = time.monotonic()
    to.sendall(struct.pack(">II", 0xC1FC1FB7, 8 + len(body)) + body)
    time.sleep(0.05)
deadline = time.monotonic() + 60
while len(seen) < events and time.monotonic() < deadline:
    time.sleep(0.05)
child.send_signal(signal.SIGINT)
thread.join()
child.wait()
delays = sorted(1000 * (seen[n] - sent[n]) for n in sent)
print(round(delays[len(delays) // 2]), round(delays[-1]))
