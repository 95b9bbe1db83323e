#!/bin/bash
# Opens profiles written by `flame` in speedscope itself, in a browser without a window, and compares what it shows above its chart.
# usage: speedscope.sh TRACETTA.  SPEEDSCOPE names the folder with speedscope's index.html (dist/release of its npm package).
tracetta=$1
corpus=${TTR_CORPUS:-nowhere}/nettrace
case_count=0

skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}

[ -f "$SPEEDSCOPE/index.html" ] || skip_all "no speedscope: SPEEDSCOPE names its folder"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip_all "no chromium"
[ -d "$corpus" ] || skip_all "no $corpus, set TTR_CORPUS"

work=$(mktemp -d) || exit 1
cp -r "$SPEEDSCOPE/." "$work" || exit 1
python3 -u -m http.server --directory "$work" --bind 127.0.0.1 0 >"$work/server.log" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
for ((i = 0; i < 600; i++)); do
    port=$(sed -n 's/^Serving HTTP on .* port \([0-9]*\) .*/\1/p' "$work/server.log")
    [ -n "$port" ] && break
    sleep 0.1
done
[ -n "$port" ] || skip_all "no server"

# shown FILE: the text of the page with that profile.
shown()
{
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --virtual-time-budget=10000 --dump-dom \
        "http://127.0.0.1:$port/index.html#profileURL=http://127.0.0.1:$port/$1" 2>"$work/browser.log" | sed 's/<[^>]*>/ /g'
}

# opens OPTION TRACE: one case; the page names the first profile, and how many there are.
opens()
{
    case_count=$((case_count + 1))
    local name profiles
    "$tracetta" flame -q -f $1 "$corpus/$2" -o "$work/case.speedscope.json"
    read -r profiles name < <(python3 -c 'import json, sys
trace = json.load(open(sys.argv[1])); print(len(trace["profiles"]), trace["profiles"][trace.get("activeProfileIndex", 0)]["name"])' "$work/case.speedscope.json")
    shown case.speedscope.json >"$work/page.txt"
    if [ -n "$name" ] && grep -qF "$name" "$work/page.txt" && { [ "$profiles" = 1 ] || grep -qE "\(1 */ *$profiles\)" "$work/page.txt"; }; then
        echo "ok $case_count - speedscope shows $2 $1"
    else
        echo "not ok $case_count - speedscope shows $2 $1"
        sed 's/^/# /' "$work/page.txt" | head -20
    fi
}

# has_totals NAME PROFILE TRACE OPTION...: one case; the table of functions has the times of the folded stacks, which flame makes with OPTION.
has_totals()
{
    local name=$1 profile=$2 trace=$3
    shift 3
    case_count=$((case_count + 1))
    "$tracetta" flame -qf "$@" --to=folded "$trace" -o "$work/case.folded"
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --virtual-time-budget=10000 --dump-dom \
        "http://127.0.0.1:$port/index.html#view=sandwich&profileURL=http://127.0.0.1:$port/$profile" 2>"$work/browser.log" >"$work/page.html"
    if python3 "$(dirname "$0")/speedscope_totals.py" "$work/page.html" "$work/case.folded" >"$work/totals.txt"; then
        echo "ok $case_count - speedscope shows the totals of $name"
    else
        echo "not ok $case_count - speedscope shows the totals of $name"
        sed 's/^/# /' "$work/totals.txt" | head -20
    fi
}

# Functions of one name differ by their arguments in Chrome traces, so these are left out.
magic=${TTR_CORPUS:-nowhere}/fxt/magic-trace-2022.fxt
"$tracetta" convert -qf --to=chrome "$magic" -o "$work/magic.json"
python3 -c 'import json, sys
trace = json.load(open(sys.argv[1]))
for event in trace["traceEvents"]:
    if event["ph"] in "BE":
        event.pop("args", None)
json.dump(trace, open(sys.argv[1], "w"))' "$work/magic.json"
has_totals "magic-trace as Chrome JSON" magic.json "$magic"
"$tracetta" flame -qf "$magic" -o "$work/magic.speedscope.json"
has_totals "magic-trace" magic.speedscope.json "$magic"
"$tracetta" flame -qf --merge "$corpus/recorded/load100.nettrace.xz" -o "$work/load.speedscope.json"
has_totals "load100" load.speedscope.json "$corpus/recorded/load100.nettrace.xz" --states
opens "" recorded/mix_default.nettrace.xz
opens "" only_managed_samples.nettrace.xz
opens --merge recorded/mix_default.nettrace.xz
printf '{' >"$work/broken.speedscope.json"
case_count=$((case_count + 1))
if shown broken.speedscope.json | grep -qiE 'thread|process'; then
    echo "not ok $case_count - what is no profile is not shown"
else
    echo "ok $case_count - what is no profile is not shown"
fi
echo "1..$case_count"
