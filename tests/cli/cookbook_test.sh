#!/bin/bash
# The questions of docs/user/questions.md: each statement runs on recorded traces of its kind and returns rows.
# usage: cookbook_test.sh TRACETTA GENERATE_FXT SOURCE_ROOT
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
: >"$work/.out" >"$work/.err"
generate=$2
page=$3/docs/user/questions.md
"$generate" --events 20000 --seed 5 --mix bench "$work/programs.fxt" || exit 1
declare -A traces=([Kernel]=$corpus/ctf/tracecompass/many-threads [.NET]=$corpus/nettrace/recorded/load100.nettrace.xz
    [Programs]=$work/programs.fxt [EventHeader]=$corpus/eventheader/eventheader-vm/eh-perf.data)

# All questions of a section are one script, so that the trace is read once; each prints a line with its number before its rows.
for section in Kernel .NET Programs EventHeader; do
    trace=${traces[$section]}
    sed -n "/^## $section\$/,/^## /s/^|\([^|]*\)|\`\(SELECT.*\|WITH.*\)\`|\$/\1\t\2/p" "$page" >"$work/questions"
    [ "$(wc -l <"$work/questions")" = 10 ]
    verdict "section_${section}_has_ten_questions" $? "$(wc -l <"$work/questions")"
    if [ ! -e "$trace" ]; then
        skip "questions_of_${section}_are_answered" "no recorded traces"
        continue
    fi
    number=0
    : >"$work/script.sql"
    while IFS=$'\t' read -r _ sql; do
        number=$((number + 1))
        printf "SELECT 'question %d' AS marker;\n%s;\n" "$number" "$sql" >>"$work/script.sql"
    done <"$work/questions"
    timeout 250 "$tracetta" query -q --format=jsonl --file="$work/script.sql" "$trace" >"$work/answers" 2>"$work/.err"
    number=0
    while IFS=$'\t' read -r question _; do
        number=$((number + 1))
        rows=$(sed -n "/\"question $number\"/,/\"question $((number + 1))\"/p" "$work/answers" | grep -cv '"question ')
        [ "$rows" -gt 0 ]
        verdict "${section}_$(tr -cs '[:alnum:]\n' _ <<<"$question")_is_answered" $? "$rows rows"
    done <"$work/questions"
done
