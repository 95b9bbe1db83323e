"""Sends Heph packets by hand, from the format's document alone: heph_send.py tcp|udp|unix PLACE EVENTS [EPOCH [DROP [LATE]]]

PLACE is a port of the loopback interface or a path.  Every DROP-th event is not sent.  The epoch is
sent before event LATE.
"""
import socket
import struct
import sys

transport, place, events = sys.argv[1], sys.argv[2], int(sys.argv[3])
epoch = int(sys.argv[4]) if len(sys.argv) > 4 else 1700000000000000000
drop = int(sys.argv[5]) if len(sys.argv) > 5 else 0
family = socket.AF_UNIX if transport == "unix" else socket.AF_INET
to = socket.socket(family, socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM)
to.connect(place if transport == "unix" else ("127.0.0.1", int(place)))
late = int(sys.argv[6]) if len(sys.argv) > 6 else 0
for counter in range(events):
    if counter == late:
        to.sendall(struct.pack(">IIH5sQ", 0x75D11D4D, 23, 5, b"epoch", epoch))
    name, key = b"polling", b"ready"
    body = struct.pack(f">IIQQQH{len(name)}sH{len(key)}sBQ", 7, counter, 0, counter * 1000, counter * 1000 + 500,
                       len(name), name, len(key), key, 1, counter)
    if not drop or counter % drop:
        to.sendall(struct.pack(">II", 0xC1FC1FB7, 8 + len(body)) + body)
