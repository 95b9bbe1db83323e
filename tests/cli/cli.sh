# Helpers of the command line tests, sourced by *_test.sh: "source cli.sh COMMAND".  Each call below is one TAP case.
# $tracetta is the command under test, $work a scratch folder that is removed at the end, $corpus the recorded traces or "".
# shellcheck shell=bash

# What whoever started us ignores (nohup: SIGHUP, the background of a script: SIGINT), all that is started here would ignore: we begin again without.
ignored=$(sed -n 's/^SigIgn:[[:space:]]*/0x/p' /proc/$$/status)
if ((ignored & 0x4003)) && [ -z "${TTR_BEGUN_ANEW:-}" ] && env --default-signal=HUP true 2>/dev/null; then # HUP, INT, TERM
    mapfile -d '' -t words </proc/$$/cmdline
    TTR_BEGUN_ANEW=1 exec env --default-signal=HUP,INT,TERM "${words[@]}"
fi
tracetta=$(realpath "$1")
work=$(mktemp -d) || exit 1
export XDG_CACHE_HOME=$work/.cache
corpus=${TTR_CORPUS:-}
[ -d "$corpus" ] || corpus=
case_count=0
case_failures=0
# Processes, or groups of them as -PID, that are killed at the end.
strays=()
trap '[ ${#strays[@]} = 0 ] || kill -KILL -- "${strays[@]}" 2>/dev/null; rm -rf "$work"; echo "1..$case_count"; exit $((case_failures > 0))' EXIT
exec </dev/null

# verdict NAME TRUTH WHY: prints one case; TRUTH is 0 where it holds.
verdict()
{
    case_count=$((case_count + 1))
    if [ "$2" = 0 ]; then
        echo "ok $case_count - $1"
    else
        case_failures=$((case_failures + 1))
        echo "not ok $case_count - $1"
        printf '# %s\n' "$3"
        sed 's/^/# stdout: /' "$work/.out" | head -n 20
        sed 's/^/# stderr: /' "$work/.err" | head -n 20
    fi
}

# run COMMAND...: keeps its output in $work/.out and $work/.err, its exit status in $run_status.
run()
{
    timeout 120 "$@" >"$work/.out" 2>"$work/.err"
    run_status=$?
}

# await COMMAND...: until it holds; fails where it does not within two minutes, which even a busy machine does not need.
await()
{
    local end=$((SECONDS + 120))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# is_gone PID: a process of ours has ended.
is_gone()
{
    ! kill -0 "$1" 2>/dev/null
}

# is_asleep PID: it waits for something, or has ended.
is_asleep()
{
    is_gone "$1" || [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c 1)" = S ]
}

has_file_or_is_gone()
{
    [ -s "$1" ] || is_gone "$2"
}

# await_file PATH PID: until there is something in it, or the process that was to write it has ended.
await_file()
{
    await has_file_or_is_gone "$1" "$2"
}

# succeeds NAME COMMAND...: it exits with 0 and says nothing on stderr.
succeeds()
{
    local name=$1
    shift
    run "$@"
    [ $run_status = 0 ] && [ ! -s "$work/.err" ]
    verdict "$name" $? "exit status $run_status of: $*"
}

# says NAME PATTERN COMMAND...: it exits with 0 and a line of its stdout matches the extended regular expression.
says()
{
    local name=$1 pattern=$2
    shift 2
    run "$@"
    [ $run_status = 0 ] && grep -Eq -e "$pattern" "$work/.out"
    verdict "$name" $? "exit status $run_status, wanted /$pattern/ from: $*"
}

# salvages NAME PATTERN COMMAND...: the same of a damaged trace: its stdout is good, it warns in one line and exits with 1.
salvages()
{
    local name=$1 pattern=$2
    shift 2
    run "$@"
    [ $run_status = 1 ] && grep -Eq -e "$pattern" "$work/.out" && [ "$(grep -c 'warning: .*damaged place' "$work/.err")" = 1 ]
    verdict "$name" $? "exit status $run_status, wanted 1 and /$pattern/ from: $*"
}

# refuses NAME STATUS PATTERN COMMAND...: it exits with STATUS, says PATTERN on stderr, and nothing on stdout.
refuses()
{
    local name=$1 status=$2 pattern=$3
    shift 3
    run "$@"
    [ $run_status = "$status" ] && grep -Eq -e "$pattern" "$work/.err" && [ ! -s "$work/.out" ]
    verdict "$name" $? "exit status $run_status, wanted $status and /$pattern/ from: $*"
}

# same NAME EXPECTED_FILE COMMAND...: it exits with 0 and its stdout is exactly the file, which holds something.
same()
{
    local name=$1 expected=$2
    shift 2
    run "$@"
    [ $run_status = 0 ] && [ -s "$expected" ] && cmp -s "$expected" "$work/.out"
    verdict "$name" $? "exit status $run_status, stdout differs from $expected, or both are empty: $*"
}

# skip NAME REASON
skip()
{
    case_count=$((case_count + 1))
    echo "ok $case_count - $1 # SKIP $2"
}

# json NAME EXPRESSION COMMAND...: it exits with 0 and prints JSON of which a Python expression over `it` holds.
json()
{
    local name=$1 expression=$2
    shift 2
    run "$@"
    [ $run_status = 0 ] && /usr/bin/python3 -c 'import json, sys
it = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$work/.out" "$expression" 2>>"$work/.err"
    verdict "$name" $? "exit status $run_status, wanted $expression from: $*"
}
