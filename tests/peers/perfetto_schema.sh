#!/bin/bash
# Decodes what the Perfetto writer writes with protoc and the public schema, and replays it as Perfetto's importer would.
# usage: perfetto_schema.sh TRACETTA GENERATE_FXT SOURCE_ROOT.  TTR_PERFETTO_PROTO names perfetto_trace.proto (of Perfetto, protos/perfetto/trace);
# TTR_CORPUS the folder of real traces.
tracetta=$1 generate=$2 root=$3
proto=${TTR_PERFETTO_PROTO:-}
corpus=${TTR_CORPUS:-nowhere}/fxt
n=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

tell() { # OK TEXT
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

skip() { # TEXT WHY
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

convert() { # FROM
    rm -f "$folder/out"
    "$tracetta" convert "$1" -o "$folder/out" --to perfetto 2>"$folder/said"
    [ -s "$folder/out" ] || sed 's/^/# /' "$folder/said"
}

# Unknown fields are printed as bare numbers.
decodes() { # TEXT
    local text="$1 decodes by the schema, without unknown fields"
    if [ ! -f "$proto" ]; then
        skip "$text" "TTR_PERFETTO_PROTO names no schema"
    elif ! command -v protoc >/dev/null; then
        skip "$text" "no protoc"
    else
        protoc --decode=perfetto.protos.Trace -I "$(dirname "$proto")" "$(basename "$proto")" <"$folder/out" >"$folder/text" &&
            ! grep -E '^ *[0-9]+[: ]' "$folder/text" | sed 's/^/# /' | head -n 3 | grep .
        tell $? "$text"
    fi
}

"$generate" --events 20000 --seed 5 --mix everything "$folder/everything.fxt"
convert "$folder/everything.fxt"
decodes "a generated trace of every kind"
python3 "$root/tests/peers/perfetto_replay.py" "$folder/out" >"$folder/replayed"
grep -q '^slices [1-9]' "$folder/replayed"
tell $? "a generated trace of every kind is replayed"

magic=$corpus/magic-trace-2022.fxt
if [ -f "$magic" ]; then
    convert "$magic"
    decodes "magic-trace-2022"
    python3 "$root/tests/peers/perfetto_replay.py" "$folder/out" >"$folder/replayed"
    # "name",count,sum as an independent reader counted them
    sed -n 's/^"\([^"]*\)",\([0-9]*\),\([0-9]*\)$/\1 \2 \3/p' "${magic%.fxt}.truth.txt" >"$folder/truth"
    ! grep -vxFf "$folder/replayed" "$folder/truth" | sed 's/^/# missing: /' | grep .
    tell $? "magic-trace-2022 has the slices and sums that Perfetto finds in the original, name by name"
    grep -qx 'slices 17296' "$folder/replayed" && grep -qx 'sum_ns 4020886' "$folder/replayed" && grep -qx 'open 0' "$folder/replayed"
    tell $? "magic-trace-2022 has as many slices, as long together, none left open"
else
    skip "magic-trace-2022" "not at $magic"
fi
echo "1..$n"
