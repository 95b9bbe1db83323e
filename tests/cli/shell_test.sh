#!/bin/bash
# The shell of query.  usage: shell_test.sh TRACETTA GENERATE_FXT PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
generate=$2
python=$3
export XDG_STATE_HOME=$work/state
"$generate" --events 3000 --seed 5 --mix bench "$work/t.fxt" || exit 1

# shell LINES...: types them.
shell()
{
    printf '%s\n' "$@" | "$tracetta" query -i "$work/t.fxt" >"$work/.out" 2>"$work/.err"
    run_status=$?
}
shell ".mode csv" "SELECT 1 AS a," " '; -- ' AS b /* ; */ --;" ";" "SELECT 2 AS c; SELECT 3 AS d;" "SELECT 4 AS e"
[ "$(tr '\n' ' ' <"$work/.out")" = "a,b 1,; --  c 2 d 3 e 4 " ] && [ $run_status = 0 ]
verdict "statements_of_standard_input_are_answered" $? "$(cat "$work/.err")"
"$tracetta" query -q --format=csv "$work/t.fxt" "SELECT name, count(*) n, max(depth) FROM slice GROUP BY 1 ORDER BY 1" >"$work/expected"
shell ".mode csv" "SELECT ts FROM slice WHERE 0;" "SELECT name, count(*) n, max(depth) FROM slice GROUP BY 1 ORDER BY 1;"
tail -n +2 "$work/.out" | cmp -s - "$work/expected"
verdict "later_statements_get_more_columns" $? "$(cat "$work/.err")"
shell "SELECT nme FROM slice;" "SELECT 5 AS x;"
[ $run_status = 2 ] && grep -q "did you mean name" "$work/.err" && grep -q '^ *\^$' "$work/.err" && grep -q '^5$' "$work/.out"
verdict "errors_have_a_caret_and_the_shell_goes_on" $? "$(cat "$work/.err")"
shell ".tables" ".schema sched" ".help"
grep -q "^thread_state .*states of threads" "$work/.out" && grep -q "^    end_state " "$work/.out" && grep -q "^.timer on|off" "$work/.out" && [ $run_status = 0 ]
verdict "tables_and_columns_are_listed" $? "$(cat "$work/.err")"
class=$("$tracetta" query -q --format=csv "$work/t.fxt" "SELECT replace(name, ':', '_') c FROM event WHERE name GLOB 'Example::*' LIMIT 1" | tail -n 1)
shell ".schema $class"
grep -q "^    utid " "$work/.out"
verdict "fields_of_an_event_are_listed" $? "$class: $(cat "$work/.err")"
shell ".timer on" "SELECT 1 x;"
grep -Eq "^time: [0-9.]+ [mu]?s$" "$work/.err"
verdict "timer_prints_times" $? "$(cat "$work/.err")"
for line in ".nonsense" ".mode x" ".timer x" ".schema no_such_table"; do
    shell "$line" ".quit" "SELECT 1 x;"
    [ $run_status = 2 ] && [ -s "$work/.err" ] && [ ! -s "$work/.out" ]
    verdict "wrong_command_is_an_error_${line// /_}" $? "status $run_status"
done
refuses "statement_in_the_operands_is_refused" 2 "reads statements from standard input" "$tracetta" query -i "$work/t.fxt" "SELECT 1 x"
refuses "missing_trace_is_reported" 3 "cannot open" "$tracetta" query -i "$work/none.fxt" < <(echo "SELECT 1 x;")
shell "$("$python" -c 'print("SELECT 1 x" + " " * (17 << 20))')"
[ $run_status = 2 ] && grep -q "larger than 16 MiB" "$work/.err"
verdict "endless_statement_is_refused" $? "$(cat "$work/.err")"
shell "SELECT 1 AS a; /*" "*/" ".mode csv" "SELECT '" "' AS b, 2; --" "SELECT 3 AS c"
[ $run_status = 0 ] && [ "$(tail -n 2 "$work/.out" | tr '\n' ' ')" = "c 3 " ]
verdict "statement_ends_after_the_comment_of_its_last_line" $? "$(cat "$work/.out" "$work/.err")"
yes a | head -c 1000000 | timeout 60 "$tracetta" query -i "$work/t.fxt" >"$work/.out" 2>"$work/.err"
[ "${PIPESTATUS[2]}" = 2 ]
verdict "statement_of_many_lines_is_read_once" $? "$(head -c 200 "$work/.err")"
yes "SELECT 1;" | timeout 60 "$tracetta" query -i "$work/t.fxt" 2>"$work/.err" | head -n 1 >"$work/.out"
[ "${PIPESTATUS[1]}" != 124 ]
verdict "shell_ends_when_its_output_is_closed" $? "$(cat "$work/.err")"

while read -r words; do
    name=$(sed -E 's/^(not )?ok ([a-z_]*).*/\2/' <<<"$words")
    case $words in
    *"# SKIP"*) skip "$name" "no libedit" ;;
    ok*) verdict "$name" 0 "" ;;
    *) verdict "$name" 1 "$words" ;;
    esac
done < <(timeout 200 "$python" "$(dirname "$0")/shell_drive.py" "$tracetta" "$work/t.fxt" 2>&1)
if [ -e "$XDG_STATE_HOME/tracetta/history" ]; then
    [ "$(stat -c %a "$XDG_STATE_HOME/tracetta" "$XDG_STATE_HOME/tracetta/history" | tr '\n' ' ')" = "700 600 " ] && grep -q "later" "$XDG_STATE_HOME/tracetta/history"
    verdict "history_is_for_the_user_alone" $? "$(ls -la "$XDG_STATE_HOME/tracetta"; cat "$XDG_STATE_HOME/tracetta/history")"
else
    skip "history_is_for_the_user_alone" "no libedit"
fi
