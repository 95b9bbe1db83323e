"""make FOLDER PLACE NAME...: makes a trace of CTF 2 with one event, of fields of 8 bits with these names and the values 1, 2, ..., in its payload, its
own context (specific), that of all events (common) or the packet's (packet).
check KEY TOLD NAME...: reads the event as jsonl from standard input; the fields under KEY have these values and names of their own, and TOLD (yes, no)
says whether names are others than those given."""
import json
import os
import sys

PLACES = {"payload": "payload-field-class", "specific": "specific-context-field-class", "common": "event-record-common-context-field-class",
          "packet": "packet-context-field-class"}


def make(folder, place, *names):
    number = {"type": "fixed-length-unsigned-integer", "length": 8, "alignment": 8, "byte-order": "little-endian"}
    fields = {PLACES[place]: {"type": "structure", "member-classes": [{"name": name, "field-class": number} for name in names]}}
    stream = {"type": "data-stream-class"}
    event = {"type": "event-record-class", "name": "e"}
    (stream if place in ("common", "packet") else event).update(fields)
    if place in ("common", "packet"):
        event["payload-field-class"] = {"type": "structure", "member-classes": [{"name": "x", "field-class": number}]}
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/metadata", "w", encoding="utf-8") as file:
        for fragment in ({"type": "preamble", "version": 2}, {"type": "trace-class"}, stream, event):
            file.write("\x1e" + json.dumps(fragment) + "\n")
    with open(folder + "/s", "wb") as file:
        file.write(bytes(range(1, len(names) + 2 if place in ("common", "packet") else len(names) + 1)))


def check(key, told, *names):
    lines = sys.stdin.read().splitlines()
    if len(lines) != 1:
        sys.exit(f"{len(lines)} events")
    fields = dict(json.loads(lines[0], object_pairs_hook=lambda pairs: pairs)).get(key, [])
    found = [name for name, _ in fields]
    if [value for _, value in fields] != list(range(1, len(names) + 1)):
        sys.exit(f"other values: {fields}")
    if len(set(found)) != len(names):
        sys.exit(f"names that stand twice: {found}")
    if (found != list(names)) != (told == "yes"):
        sys.exit(f"{found}, and field.name is told: {told}")


globals()[sys.argv[1]](*sys.argv[2:])
