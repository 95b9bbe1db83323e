"""Makes a small CTF 1.8 trace in the folder named, with the shapes that tracers write and that re-encoding must carry over; a smaller one of
CTF 2 in the folder named second, with what CTF 1.8 cannot say; and one in the third whose events are not in order."""
import json
import os
import struct
import sys

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
    major = 1; minor = 8; uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"; byte_order = le;
    packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; };
};
env { hostname = "host"; tracer_name = "maker"; answer = 42; };
clock { name = ticks; uuid = "11111111-2222-3333-4444-555555555555"; description = "Made up"; freq = 1000000000; precision = 3; offset = 1600000000000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.ticks.value; } := ticks_t;
stream {
    id = 5;
    packet.context := struct { ticks_t timestamp_begin; ticks_t timestamp_end; uint64_t content_size; uint64_t packet_size;
        uint64_t events_discarded; uint64_t packet_seq_num; uint32_t cpu_id; };
    event.header := struct { uint32_t id; ticks_t timestamp; };
    event.context := struct { uint32_t _vpid; };
};
event { name = "app:list"; id = 7; stream_id = 5; loglevel = 6;
    fields := struct { uint32_t __data_length; struct { } align(8) _data_padding; uint8_t _data[ __data_length ]; string _text; };
};
event { name = "app:state"; id = 9; stream_id = 5; model.emf.uri = "http://example.org/state";
    context := struct { integer { size = 16; align = 8; signed = true; } _weight; };
    fields := struct { enum : uint8_t { "OFF" = 0, "ON" = 1, "MANY" = 2 ... 9 } _state; floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _ratio;
        integer { size = 32; align = 8; signed = false; base = 16; } _address; struct { uint8_t _a; uint8_t _b; } _pair;
        integer { size = 8; align = 8; signed = false; encoding = UTF8; } _tag[8]; uint8_t _none[0]; uint8_t _three[3]; };
};
"""

UUID = bytes.fromhex("2a6422d06cee11e08c08cb07d7b3a564")


def header(number, time):
    return struct.pack("<IQI", number, time, 4711)


def data(items, text):
    return struct.pack("<I", len(items)) + bytes(items) + text.encode() + b"\0"


def state(weight, value, ratio, address, tag):
    return struct.pack("<hBdI", weight, value, ratio, address) + bytes([1, 2]) + tag.encode().ljust(8, b"\0") + bytes([7, 8, 9])


def packet(cpu, sequence, discarded, events):
    begin, end = events[0][0], events[-1][0]
    body = b"".join(header(number, time) + payload for time, number, payload in events)
    size = (32 + 52 + len(body)) * 8
    context = struct.pack("<QQQQQQI", begin, end + 1, size, size, discarded, sequence, cpu)
    return struct.pack("<I", 0xC1FC1FC1) + UUID + struct.pack("<IQ", 5, cpu) + context + body


def main(folder):
    os.makedirs(folder)
    with open(folder + "/metadata", "w", encoding="utf-8") as file:
        file.write(METADATA)
    with open(folder + "/channel_0", "wb") as file:
        file.write(packet(0, 0, 0, [(10, 7, data([], "empty")), (11, 7, data([1, 2, 3], "three")), (12, 9, state(-4, 1, 0.25, 0xBEEF, "tag"))]))
        file.write(packet(0, 1, 17, [(1 << 40, 9, state(5, 4, -1e300, 16, "")), ((1 << 40) + 2, 7, data([255], "x"))]))
        file.write(packet(0, 4, 17, [((1 << 40) + 5, 7, data([9, 9], "behind a hole"))]))
    with open(folder + "/channel_1", "wb") as file:
        file.write(packet(1, 0, 0, [(11, 7, data([4], "other cpu")), (20, 9, state(0, 77, 1.5, 0, "eight by"))]))


def shuffled(folder):
    os.makedirs(folder)
    with open(folder + "/metadata", "w", encoding="utf-8") as file:
        file.write(METADATA)
    with open(folder + "/channel_1", "wb") as file:
        file.write(packet(1, 0, 0, [(30, 7, data([1, 2], "later")), (20, 9, state(7, 3, 0.5, 255, "t")), (25, 7, data([], "none")), (40, 7, data([3], "end"))]))


def uint(bits):
    return {"type": "fixed-length-unsigned-integer", "length": bits, "byte-order": "little-endian", "alignment": 8}


def rich(folder):
    fields = [{"name": "a b", "field-class": uint(8)},
              {"name": "yes", "field-class": dict(uint(8), type="fixed-length-boolean")},
              {"name": "bytes", "field-class": {"type": "static-length-blob", "length": 2}}]
    fragments = [{"type": "preamble", "version": 2},
                 {"type": "data-stream-class", "namespace": "somewhere"},
                 {"type": "event-record-class", "name": "e",
                  "payload-field-class": {"type": "structure", "member-classes": fields}}]
    os.makedirs(folder)
    with open(folder + "/metadata", "w", encoding="utf-8") as file:
        for fragment in fragments:
            file.write("\x1e" + json.dumps(fragment) + "\n")
    with open(folder + "/stream", "wb") as file:
        file.write(bytes([7, 1, 0xCA, 0xFE]))


main(sys.argv[1])
rich(sys.argv[2])
shuffled(sys.argv[3])
