"""Measures how soon events are shown: live_latency.py TRACETTA cat|stat udp|tcp|ctf EVENTS

Sends an event every 50 ms, as Heph, or as CTF packets of two streams by UDP, and prints the median and the longest time until the command has printed it, in ms.
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
child = subprocess.Popen([tracetta, *arguments, transport.replace("ctf", "udp") + "::0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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
to = socket.socket(socket.AF_INET, socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM)
to.connect(("127.0.0.1", port))
metadata = b"""/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = be; packet.header := struct { u32 magic; u32 stream_id; u32 stream_instance_id; }; };
clock { name = c; freq = 1000000000; offset_s = 1700000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := ticks;
stream { id = 0; packet.context := struct { u64 packet_size; u64 content_size; ticks timestamp_begin; ticks timestamp_end; };
  event.header := struct { u32 id; ticks timestamp; }; };
event { name = "work"; id = 0; stream_id = 0; fields := struct { u32 n; }; };
"""
to.sendall(metadata if transport == "ctf" else struct.pack(">IIH5sQ", 0x75D11D4D, 23, 5, b"epoch", 1700000000000000000))
sent = {}
for n in range(events):
    body = struct.pack(">IIQQQH4sH1sBQ", 7, n, 0, n * 1000, n * 1000 + 500, 4, b"work", 1, b"n", 1, n)
    packet = struct.pack(">II", 0xC1FC1FB7, 8 + len(body)) + body
    if transport == "ctf":
        packet = struct.pack(">IIIQQQQIQI", 0xC1FC1FC1, 0, n % 2, 8 * 60, 8 * 60, n * 1000, n * 1000, 0, n * 1000, n)
    sent[n] = time.monotonic()
    to.sendall(packet)
    time.sleep(0.05)
deadline = time.monotonic() + 60
while len(seen) < events and time.monotonic() < deadline:
    time.sleep(0.05)
child.send_signal(signal.SIGINT)
thread.join()
child.wait()
delays = sorted(1000 * (seen[n] - sent[n]) for n in sent)
print(round(delays[len(delays) // 2]), round(delays[-1]))
