"""Sends the files of a CTF trace as frames by hand, from the layout in src/network/file_frame.h alone: frame_send.py tcp|udp PORT FOLDER DROP

Each stream file is cut into packets of the size that the header of RFC v1.1 declares.  Packet DROP of each file is not sent.
"""
import os
import socket
import struct
import sys
import zlib

transport, port, folder, drop = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM)
to.connect(("127.0.0.1", port))
for file, name in enumerate(sorted(os.listdir(folder), key=lambda name: name != "metadata")):
    content = open(os.path.join(folder, name), "rb").read()
    at = number = 0
    while at < len(content):
        size = len(content) if name == "metadata" else struct.unpack_from("<I", content, at + 12)[0]
        parts, events = (1, 0) if name == "metadata" else (0, 10)
        body = struct.pack(">Q8sIIIIQH", 1234, b"ctf", file, number, parts, events, 10 * number, len(name)) + name.encode() + content[at:at + size]
        if parts or number != drop:
            to.sendall(b"\xd7TRF" + struct.pack(">II", 12 + len(body), zlib.crc32(body)) + body)
        at, number = at + size, number + 1
