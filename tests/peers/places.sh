#!/bin/bash
# Records programs with LTTng and compares what --debug-info says of their addresses with what babeltrace2 says.
# usage: places.sh TRACETTA.  The daemon lives in namespaces of its own: no other session is touched.  With KEEP=FOLDER what was made is
# left there.
tracetta=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
export TZ=UTC LC_ALL=C

skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}

if [ "$2" != inside ]; then
    for program in lttng lttng-sessiond babeltrace2 gcc objcopy unshare; do
        command -v $program >/dev/null || skip_all "no $program"
    done
    pkg-config --exists lttng-ust || skip_all "no lttng-ust to build a traced program with"
    unshare -r -m -n true 2>/dev/null || skip_all "no namespaces"
    exec timeout 250 unshare -r -m -n "$0" "$tracetta" inside
fi

case_count=0
work=$(mktemp -d) || exit 1

# tell TRUTH NAME: one case; TRUTH is 0 where it holds.
tell()
{
    case_count=$((case_count + 1))
    if [ "$1" = 0 ]; then echo "ok $case_count - $2"; else echo "not ok $case_count - $2"; fi
}

end()
{
    lttng destroy --all >>"$work/lttng.log" 2>&1
    kill $sessiond
    wait $sessiond
    [ -n "$KEEP" ] && rm -rf "$KEEP" && cp -r "$work" "$KEEP"
    rm -rf "$work"
    echo "1..$case_count"
}

begin()
{
    if ! { mkdir -p /var/run/lttng && mount -t tmpfs none /var/run/lttng && mount -t tmpfs none /dev/shm; }; then
        skip_all "no mounts"
    fi
    export LTTNG_HOME=$work/home LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_UST_REGISTER_TIMEOUT=-1
    mkdir "$LTTNG_HOME"
    lttng-sessiond --no-kernel --group=root >"$work/sessiond.log" 2>&1 &
    sessiond=$!
    trap end EXIT
    for ((i = 0; i < 600; i++)); do
        lttng list >/dev/null 2>&1 && return
        sleep 0.1
    done
    tell 1 "the daemon begins"
    exit 1
}

# compile OUTPUT SOURCE OPTIONS...
compile()
{
    local output=$1 source=$2
    shift 2
    gcc -I"$here" "$@" "$here/$source" -o "$output" -llttng-ust -ldl 2>>"$work/cc.log"
}

# record NAME EVENTS COMMAND...: a trace of a program, with these events beside its own.
record()
{
    local name=$1 events=$2
    shift 2
    {
        lttng create "$name" --output="$work/$name"
        lttng enable-channel -u -s "$name" --blocking-timeout=inf channel
        lttng add-context -u -s "$name" -c channel -t vpid -t ip
        lttng enable-event -u -s "$name" -c channel "places*,lttng_ust_statedump:*$events"
        lttng start "$name"
        "$@"
        lttng destroy "$name"
    } >>"$work/lttng.log" 2>&1
}

# compare NAME TEXT OPTIONS...: both say the same of a trace.
compare()
{
    local name=$1 text=$2 truth
    shift 2
    babeltrace2 --debug-info "$@" "$work/$name" >"$work/theirs" 2>/dev/null
    "$tracetta" cat --style=babeltrace2 --debug-info "$@" "$work/$name" >"$work/ours" 2>"$work/said"
    cmp -s "$work/theirs" "$work/ours" && [ -s "$work/theirs" ]
    truth=$?
    tell $truth "$text ($(grep -c 'func = "[^"]' "$work/theirs") functions and $(grep -c 'src = "[^"]' "$work/theirs") lines in $(wc -l <"$work/theirs") events)"
    [ $truth = 0 ] || diff "$work/theirs" "$work/ours" | head -n 6 | cut -c 1-300 | sed 's/^/#   /'
}

# covers NAME TEXT: what babeltrace2 says of places is said in the usual style too, which may say more.
covers()
{
    babeltrace2 --debug-info "$work/$1" 2>/dev/null | grep -o 'func = "[^"]*", src = "[^"]*"' >"$work/theirs"
    "$tracetta" cat --debug-info "$work/$1" 2>"$work/said" | grep -o 'func = "[^"]*", src = "[^"]*"' >"$work/ours"
    paste -d '|' "$work/theirs" "$work/ours" | awk -F '|' '
        { split($1, theirs, "\""); split($2, ours, "\"") }
        (theirs[2] != "" && theirs[2] != ours[2]) || (theirs[4] != "" && theirs[4] != ours[4]) { print "#   " $0; wrong = 1 }
        { lines += ours[4] != "" }
        END { print "#   lines: " lines; exit wrong || NR == 0 }' >"$work/diff"
    local truth=$?
    tell $truth "$2"
    [ $truth = 0 ] || head -n 6 "$work/diff"
}

begin
cd "$work" || exit 1

compile plain places_app.c -g -O0 && record traced_plain "" ./plain 3
compare traced_plain "a program with a place of its own (PIE), without optimization"
compare traced_plain "the same with whole paths" --debug-info-full-path
covers traced_plain "the same in the usual style"

compile fixed places_app.c -g -O2 -no-pie -fno-pie && record traced_fixed "" ./fixed 3
compare traced_fixed "a program with a fixed place, optimized"
covers traced_fixed "the same in the usual style"

compile fourth places_app.c -gdwarf-4 -O2 && record traced_fourth "" ./fourth 3
compare traced_fourth "DWARF 4"

compile stripped places_app.c -g -O1 && objcopy --strip-debug stripped && record traced_stripped "" ./stripped 3
compare traced_stripped "symbols alone"

compile parted places_app.c -g -O1 -Wl,--build-id=sha1
id=$(readelf -n parted | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug parted "debug/.build-id/${id:0:2}/${id:2}.debug"
objcopy --strip-all parted
record traced_parted "" ./parted 3
compare traced_parted "debug information by build id" --debug-info-dir="$work/debug"
compare traced_parted "the same where it is not"

compile linked places_app.c -g -O1 -Wl,--build-id=none
objcopy --only-keep-debug linked linked.debug
objcopy --strip-all --add-gnu-debuglink=linked.debug linked
record traced_linked "" ./linked 3
compare traced_linked "debug information by debug link, beside the program"
mkdir .debug && mv linked.debug .debug/
compare traced_linked "the same in .debug"
mkdir -p "far$work" && mv .debug/linked.debug "far$work/"
compare traced_linked "the same in a folder of debug information" --debug-info-dir="$work/far"
echo >>"far$work/linked.debug"
compare traced_linked "the same with another checksum" --debug-info-dir="$work/far"

compile liba.so places_library.c -g -O1 -shared -fPIC -DPLACES_PROVIDER=places_a -DSHIFT=0
compile libb.so places_library.c -g -O1 -shared -fPIC -DPLACES_PROVIDER=places_b -DSHIFT=1
record traced_lib ',lttng_ust_lib:*' env LD_PRELOAD=liblttng-ust-dl.so ./plain 1 "$work/liba.so" "$work/libb.so"
"$tracetta" cat --debug-info traced_lib 2>/dev/null | sed -n 's/.*places_\([ab]\):here.*bin = "\(lib[ab]\).*func = "\([a-z_]*\)+.*src = "\([a-z_.]*\):.*/\1 \2 \3 \4/p' >ours
printf '%s\n' 'a liba library_call places_library.c' 'a liba inner places_library.c' 'b libb library_call places_library.c' 'b libb inner places_library.c' >truth
cat truth truth | cmp -s - ours
tell $? "libraries that come and go are told apart"

record traced_dl ',lttng_ust_dl:*' env LD_PRELOAD=liblttng-ust-dl.so ./plain 1 "$work/liba.so" "$work/libb.so"
"$tracetta" cat --debug-info traced_dl 2>/dev/null | sed -n 's/.*places_\([ab]\):here.*bin = "\(lib[ab]\).*func = "\([a-z_]*\)+.*src = "\([a-z_.]*\):.*/\1 \2 \3 \4/p' >ours
cat truth truth | cmp -s - ours
tell $? "the same by lttng_ust_dl"

mkdir -p "target$work" && mv plain "target$work/"
compare traced_plain "a program below a prefix" --debug-info-target-prefix="$work/target"
"$tracetta" cat --debug-info traced_plain 2>said | grep -q 'places:here.*bin = "plain+0x[0-9a-f]*", func = "", src = ""' && grep -q '1 is not here' said
tell $? "a program that is missing has its name told, and is counted once"
