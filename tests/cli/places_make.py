#!/usr/bin/env python3
"""Makes a CTF trace as LTTng-UST records it with the contexts vpid and ip: usage: places_make.py FOLDER LIBRARY OFFSET

One process has LIBRARY at 0x7f0000000000 and /no/such.so behind it, and three events: at OFFSET in the library, in the missing one, and nowhere.
"""
import os
import struct
import sys

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := address;
trace { major = 1; minor = 8; byte_order = le; };
env { hostname = "here"; domain = "ust"; tracer_name = "lttng-ust"; };
clock { name = monotonic; freq = 1000000000; offset = 1600000000000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time;
stream {
    event.header := struct { uint8_t id; time timestamp; };
    event.context := struct { int32_t vpid; address ip; };
};
event { name = "lttng_ust_statedump:start"; id = 0; fields := struct { }; };
event {
    name = "lttng_ust_statedump:bin_info"; id = 1;
    fields := struct { address baddr; uint64_t memsz; string path; uint8_t is_pic; uint8_t has_build_id; uint8_t has_debug_link; };
};
event { name = "app:here"; id = 2; fields := struct { uint32_t n; }; };
"""

PID = 42
BASE = 0x7f0000000000


def main():
    folder, library, offset = sys.argv[1], sys.argv[2], int(sys.argv[3], 16)
    events = []

    def add(number, address, payload=b""):
        events.append(struct.pack("<BQiQ", number, 1000 * len(events), PID, address) + payload)

    add(0, 1)
    for i, path in enumerate((library, "/no/such.so")):
        add(1, 1, struct.pack("<QQ", BASE + i * 0x1000000, 0x1000000) + path.encode() + b"\0" + bytes((1, 0, 0)))
    for i, address in enumerate((BASE + offset, BASE + 0x1000123, 5)):
        add(2, address, struct.pack("<I", i))
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "w", encoding="ascii") as file:
        file.write(METADATA)
    with open(os.path.join(folder, "stream"), "wb") as file:
        file.write(b"".join(events))


main()
