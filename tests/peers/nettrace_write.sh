#!/bin/bash
# What is written as nettrace, read by TraceEvent, the reader of PerfView and dotnet-trace: of recorded traces it must find the same in V5 and V6 as in
# the original, event by event: times, threads, names, payloads, fields, stacks, losses; of traces of other formats every event.
# TTR_DOTNET names the folder of a .NET Core 3.1 SDK (dotnet.sh), TTR_TRACEEVENT that of nettrace_dump.dll, compiled of nettrace_dump.cs with
# TraceEvent's sources (all but those of ETW, Etlx and symbols do) and with its runtimeconfig.json.
# usage: nettrace_write.sh TRACETTA GENERATE_FXT PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
generate=$(realpath "$2") python=$3
here=$(realpath "$(dirname "$0")")
corpus=${TTR_CORPUS:-nowhere}/nettrace
reader=${TTR_TRACEEVENT:-}/nettrace_dump.dll
if [ ! -e "${TTR_DOTNET:-}/dotnet" ] || [ ! -e "$reader" ]; then
    skip "traceevent_reads_what_is_written" "TTR_DOTNET names no .NET SDK, or TTR_TRACEEVENT no folder of nettrace_dump.dll"
    exit
fi
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 HOME=$work

dump()
{
    "$TTR_DOTNET/dotnet" "$reader" "$1" "$2" 2>&1 | head -n 5
}

for name in recorded/emit recorded/counters recorded/csc_default eventpipe-dotnetcore5.0-win-x64-arraytypes eventpipe-dotnetcore3.0-win-x64-objver4; do
    if [ ! -e "$corpus/$name.nettrace.xz" ]; then
        skip "$name" "no $corpus/$name.nettrace.xz, set TTR_CORPUS"
        continue
    fi
    xz -dc "$corpus/$name.nettrace.xz" >"$work/original.nettrace"
    dump "$work/original.nettrace" "$work/original"
    "$tracetta" convert -qf --option=nettrace.version=6 "$work/original.nettrace" -o "$work/six.nettrace"
    dump "$work/six.nettrace" "$work/six"
    core=()
    [ "$name" = recorded/emit ] && core=(--core)
    "$python" "$here/nettrace_same.py" "${core[@]}" "$work/original" "$work/six"
    verdict "$(basename "$name")_in_v6_is_the_same_to_traceevent" $? "see above"
    [ "$name" = recorded/emit ] && continue
    "$tracetta" convert -qf --option=nettrace.version=5 "$work/six.nettrace" -o "$work/five.nettrace"
    dump "$work/five.nettrace" "$work/five"
    "$python" "$here/nettrace_same.py" "$work/original" "$work/five"
    verdict "$(basename "$name")_in_v5_is_the_same_to_traceevent" $? "see above"
done

"$generate" --events 5000 --seed 1 "$work/made.fxt"
for version in 4 5 6; do
    "$tracetta" convert -qf --option=nettrace.version=$version "$work/made.fxt" -o "$work/made.nettrace"
    events=$("$tracetta" cat --format=jsonl "$work/made.nettrace" | grep -vc '"kind":"gap"')
    dump "$work/made.nettrace" "$work/made"
    [ "$(grep -c ' \[[0-9a-f]*\]' "$work/made")" = "$events" ] && grep -qx 'lost 0' "$work/made"
    verdict "every_event_of_another_format_is_there_in_v$version" $? "$events events, $(wc -l <"$work/made") lines"
done
