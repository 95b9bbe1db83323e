"""Sends CTF packets without frames, one per datagram, from the CTF documents alone: ctf_send.py PORT VERSION METADATA PACKETS [DROP [SWAP [LOST [RECEIVER]]]]

VERSION is 1.8 or 2.  METADATA: packets = as metadata packets before the data packets, late = after them, split = in two
packets of which the second one is sent first, FILE = written to this file and not sent.  Packet DROP of stream 1 is not
sent, packets SWAP and SWAP + 3 are sent in the place of each other.  Before each packet the tracer discarded LOST events.  The process RECEIVER is stopped after the first packets, and continued
before the last ones; each packet is then padded to 8 KiB.
"""
import json
import os
import signal
import socket
import struct
import sys
import time
import uuid

port, version, where, packets = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
drop = int(sys.argv[5]) if len(sys.argv) > 5 else None
swap = int(sys.argv[6]) if len(sys.argv) > 6 else None
lost = int(sys.argv[7]) if len(sys.argv) > 7 else 0
receiver = int(sys.argv[8]) if len(sys.argv) > 8 else 0
padding = b"\0" * 8000 if receiver else b""
trace = uuid.UUID("2a6422d0-6cee-11e0-8c08-cb07d7b3a564")
tsdl = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; uuid = "%s"; byte_order = le;
  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint32_t stream_instance_id; }; };
clock { name = c; freq = 1000000000; offset_s = 1700000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := ticks;
stream { id = 0; packet.context := struct { uint64_t packet_size; uint64_t content_size; ticks timestamp_begin; ticks timestamp_end;
  uint64_t events_discarded; uint64_t packet_seq_num; };
  event.header := struct { uint32_t id; ticks timestamp; }; };
event { name = "polling"; id = 0; stream_id = 0; fields := struct { uint32_t ready; }; };
""" % trace


def integer(bits, *roles):
    about = {"type": "fixed-length-unsigned-integer", "length": bits, "byte-order": "little-endian", "alignment": 8}
    return dict(about, roles=list(roles)) if roles else about


def struct_of(*members):
    return {"type": "structure", "member-classes": [{"name": name, "field-class": member} for name, member in members]}


magic = dict(integer(32, "packet-magic-number"))
parts = [
    {"type": "preamble", "version": 2, "uuid": list(trace.bytes)},
    {"type": "trace-class", "packet-header-field-class": struct_of(
        ("magic", magic), ("uuid", {"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}),
        ("stream_id", integer(32, "data-stream-class-id")), ("stream_instance_id", integer(32, "data-stream-id")))},
    {"type": "clock-class", "id": "c", "name": "c", "frequency": 1000000000, "offset-from-origin": {"seconds": 1700000000},
     "origin": "unix-epoch"},
    {"type": "data-stream-class", "default-clock-class-id": "c", "default-clock-class-name": "c",
     "packet-context-field-class": struct_of(
         ("packet_size", integer(64, "packet-total-length")), ("content_size", integer(64, "packet-content-length")),
         ("timestamp_begin", integer(64, "default-clock-timestamp")), ("timestamp_end", integer(64, "packet-end-default-clock-timestamp")),
         ("events_discarded", integer(64, "discarded-event-record-counter-snapshot")),
         ("packet_seq_num", integer(64, "packet-sequence-number"))),
     "event-record-header-field-class": struct_of(("id", integer(32, "event-record-class-id")), ("timestamp", integer(64, "default-clock-timestamp")))},
    {"type": "event-record-class", "name": "polling", "payload-field-class": struct_of(("ready", integer(32)))},
]
texts = [tsdl[:400].encode(), tsdl[400:].encode()] if version == "1.8" else [b"".join(b"\x1e" + json.dumps(part).encode() + b"\n" for part in parts)]
if version == "1.8" and where != "split":
    texts = [b"".join(texts)]


def metadata_packet(text):
    major, minor = (1, 8) if version == "1.8" else (2, 0)
    return struct.pack("<I16sIIIBBBBB", 0x75D11D57, trace.bytes, 0, 8 * (37 + len(text)), 8 * (37 + len(text)), 0, 0, 0, major, minor) + text


def data_packet(stream, number):
    events = b"".join(struct.pack("<IQI", 0, 1000000 * number + 1000 * i + 10, 10 * number + i) for i in range(10))
    size = 28 + 48 + len(events)
    return struct.pack("<I16sIIQQQQQQ", 0xC1FC1FC1, trace.bytes, 0, stream, 8 * (size + len(padding)), 8 * size, 1000000 * number, 1000000 * number + 20000, lost * number, number) + events + padding


def send_metadata():
    for text in reversed(texts):
        to.send(metadata_packet(text))
    if len(texts) > 1:  # the next second
        for text in texts:
            to.send(metadata_packet(text))


to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.connect(("127.0.0.1", port))
if where not in ("packets", "late", "split"):
    open(where, "wb").write(texts[0])
if port == 0:
    sys.exit()
if where in ("packets", "split"):
    send_metadata()
order = list(range(packets))
if swap:
    order[swap], order[swap + 3] = order[swap + 3], order[swap]
for number in order:
    if receiver and number == 10:
        time.sleep(0.5)
        os.kill(receiver, signal.SIGSTOP)
    if receiver and number == packets - 1:
        os.kill(receiver, signal.SIGCONT)
        time.sleep(1)
    for stream in (0, 1):
        if stream != 1 or number != drop:
            to.send(data_packet(stream, number))
if where == "late":
    send_metadata()
