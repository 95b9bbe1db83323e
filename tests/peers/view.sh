#!/bin/bash
# The page of "tracetta view" in Chromium: boxes, tables, keys, security.
# usage: view.sh TRACETTA GENERATE_FXT.  PLAYWRIGHT names the folder of the npm package playwright-core.
playwright=${PLAYWRIGHT:-}
chromium=$(command -v chromium || command -v google-chrome)
for missing in "${playwright:+x}:PLAYWRIGHT names no folder" "$(command -v node):node is not installed" "$chromium:Chromium is not installed"; do
    [ -n "${missing%%:*}" ] || { echo "1..0 # SKIP ${missing#*:}"; exit 0; }
done
work=$(mktemp -d) || exit 1
trap 'kill $servers 2>/dev/null; rm -rf "$work"' EXIT
"$2" --events 60000 --seed 5 --mix bench "$work/t.fxt" || exit 1
# A trace of four spans with names that are markup, control characters, and a megabyte.
/usr/bin/python3 - "$work/hostile.fxt" <<'PROGRAM'
import struct, sys
def word(value):
    return struct.pack("<Q", value)
def inline(text):
    return 0x8000 | len(text), text + b"\0" * (-len(text) % 8)
out = word(0x0016547846040010) + word(0x21 | 1 << 16) + word(1_000_000_000)
out += word(0x33 | 1 << 16) + word(7) + word(8)
for i, text in enumerate([b"<img src=x onerror=alert(1)>", b"<script>alert(1)</script>", "\u202e\u0000\u001b[31mred".encode(), b"y" * 30000]):
    reference, data = inline(text)
    words = 3 + len(data) // 8
    out += word(4 | words << 4 | 4 << 16 | 1 << 24 | reference << 48) + word(1000 + i * 100) + data + word(1090 + i * 100)
open(sys.argv[1], "wb").write(out)
PROGRAM
for name in t hostile; do
    "$1" view -q --no-open "$work/$name.fxt" >"$work/$name.url" 2>"$work/$name.err" &
    servers="$servers $!"
done
"$2" --events 5000 --seed 9 --mix bench "$work/new.fxt" || exit 1
"$1" view -q --no-open --compare "$work/t.fxt" "$work/new.fxt" >"$work/pair.url" 2>"$work/pair.err" &
servers="$servers $!"
"$2" --events 20000 --seed 5 --mix everything "$work/log.fxt" || exit 1
"$1" view -q --no-open "$work/log.fxt" >"$work/log.url" 2>"$work/log.err" &
servers="$servers $!"
for _ in $(seq 300); do [ -s "$work/log.url" ] && [ -s "$work/t.url" ] && [ -s "$work/hostile.url" ] && [ -s "$work/pair.url" ] && break; sleep 0.1; done
node "$(dirname "$0")/view.js" "$playwright" "$chromium" "$(cat "$work/t.url")" "$1" "$work/t.fxt" "$(cat "$work/hostile.url")" \
    "$(cat "$work/pair.url")" "$work/new.fxt" "$(cat "$work/log.url")" "$work/log.fxt"
