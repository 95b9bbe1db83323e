#!/bin/bash
# Tables as Parquet, Arrow and SQLite.  usage: tables_test.sh TRACETTA GENERATE_FXT PYTHON ARROW_ROWS
# Other readers of these files are in tests/peers/tables.sh.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
: >"$work/.out" >"$work/.err"
generate=$2
python=$3
arrow_rows=$4
trace=$work/t.fxt
"$generate" --events 3000 --seed 5 --mix bench "$trace" || exit 1

# A database has the rows that a query prints.
"$tracetta" convert -q "$trace" -o "$work/t.sqlite" 2>"$work/.err"
verdict "suffix_of_the_output_selects_sqlite" $? ""
cat >"$work/dump.py" <<'PROGRAM'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = lambda cursor, row: {about[0]: value for about, value in zip(cursor.description, row)}
for row in db.execute("SELECT * FROM " + sys.argv[2]):
    print(json.dumps(row, sort_keys=True))
PROGRAM
for table in slice event thread process counter sched; do
    "$python" "$work/dump.py" "$work/t.sqlite" $table >"$work/found"
    "$tracetta" query -q --format=jsonl "$trace" "SELECT * FROM $table" |
        "$python" -c "import json, sys
for line in sys.stdin: print(json.dumps(json.loads(line), sort_keys=True))" >"$work/expected"
    [ -s "$work/found" ] && cmp -s "$work/expected" "$work/found"
    verdict "table_${table}_of_a_database_has_the_rows_of_query" $? "$(diff "$work/expected" "$work/found" | head -4)"
done

# The Arrow C stream has them too, NULL included.
for sql in "SELECT id, ts, name, parent_id, thread_name FROM slice" "SELECT track_id, value FROM counter" \
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 70000) SELECT n, n / 4.0, CASE WHEN n % 3 THEN 't' || n % 9 END FROM r"; do
    "$arrow_rows" "$trace" "$sql" | sed 's/\bNULL\b//g' >"$work/found"
    "$tracetta" query -q --format=jsonl "$trace" "$sql" | "$python" -c "import json, sys
for line in sys.stdin: print(*('' if v is None else '%.17g' % v if isinstance(v, float) else v for v in json.loads(line).values()), sep='\t')" >"$work/expected"
    [ -s "$work/found" ] && cmp -s "$work/expected" "$work/found"
    verdict "arrow_stream_has_the_rows_of_${sql:0:30}" $? "$(diff "$work/expected" "$work/found" | head -4)"
done
refuses "wrong_statement_has_no_arrow_stream" 1 "no such column" "$arrow_rows" "$trace" "SELECT nme FROM slice"

"$tracetta" convert -q --to=parquet "$trace" -o "$work/tables" && [ -s "$work/tables/slice.parquet" ] && [ ! -e "$work/tables/log.parquet" ]
verdict "parquet_is_a_folder_of_tables_with_rows" $? "$(ls "$work/tables")"
refuses "existing_folder_is_kept" 4 "exists already" "$tracetta" convert -q --to=parquet "$trace" -o "$work/tables"
succeeds "existing_folder_is_replaced_with_overwrite" "$tracetta" convert -q -f --to=parquet "$trace" -o "$work/tables"
"$tracetta" query -q --format=arrow "$trace" "SELECT name, count(*) FROM slice GROUP BY 1" >"$work/r.arrow"
[ "$(head -c 6 "$work/r.arrow")" = ARROW1 ] && [ "$(tail -c 6 "$work/r.arrow")" = ARROW1 ]
verdict "arrow_file_begins_and_ends_with_its_magic_number" $? ""
"$tracetta" query -q -o "$work/r.parquet" "$trace" "SELECT 1 one"
[ "$(head -c 4 "$work/r.parquet")" = PAR1 ] && [ "$(tail -c 4 "$work/r.parquet")" = PAR1 ]
verdict "parquet_file_begins_and_ends_with_its_magic_number" $? ""
[ -z "$(find "$work" -name '*partial*')" ]
verdict "nothing_partial_stays" $? "$(find "$work" -name '*partial*')"
refuses "several_statements_are_refused" 2 "needs one statement" "$tracetta" query -q --format=arrow "$trace" "SELECT 1 a; SELECT 2 b"
refuses "sqlite_needs_a_file" 2 "standard output" "$tracetta" query -q --format=sqlite "$trace" "SELECT 1 a"
refuses "output_of_text_is_refused" 2 "others are printed" "$tracetta" query -q -o "$work/x.csv" "$trace" "SELECT 1 a"
"$tracetta" query -q --format=csv -o - "$trace" "SELECT 1 a" >"$work/.out" 2>"$work/.err"
[ $? = 0 ] && printf "a\n1\n" | cmp -s - <(tr -d "\r" <"$work/.out")
verdict "text_to_standard_output_by_name" $? "$(cat "$work/.err")"
refuses "options_of_traces_are_refused" 2 "dry-run is not for tables" "$tracetta" convert --dry-run --to=parquet "$trace" -o "$work/x"
refuses "missing_folder_is_reported" 4 "No such file" "$tracetta" query -q -o "$work/none/x.parquet" "$trace" "SELECT 1 a"

# What exists is replaced only if nothing else is lost.
for format in parquet arrow; do
    mkdir "$work/keep_$format"
    echo precious >"$work/keep_$format/slice.$format"
    echo mine >"$work/keep_$format/mine.txt"
    refuses "folder_with_other_files_is_refused_as_$format" 4 '"mine.txt" in it is not' "$tracetta" convert -q -f --to=$format "$trace" -o "$work/keep_$format"
    [ "$(cat "$work/keep_$format/slice.$format" "$work/keep_$format/mine.txt" | tr '\n' ' ')" = "precious mine " ] && [ "$(ls "$work/keep_$format" | wc -l)" = 2 ]
    verdict "refused_folder_is_untouched_as_$format" $? "$(ls "$work/keep_$format")"
done
mkdir -p "$work/nested/x.parquet"
refuses "folder_with_folders_is_refused" 4 '"x.parquet" in it is not' "$tracetta" convert -q -f --to=parquet "$trace" -o "$work/nested"
mkfifo "$work/fifo"
ln -s "$work/target" "$work/link"
echo target >"$work/target"
ln -s "$work/tables" "$work/folder_link"
for format in parquet arrow sqlite; do
    refuses "fifo_is_not_replaced_by_$format" 4 "not a regular file" "$tracetta" query -q -f --format=$format -o "$work/fifo" "$trace" "SELECT 1 a"
    refuses "converted_${format}_does_not_replace_a_fifo" 4 "not a regular file" "$tracetta" convert -q -f --to=$format "$trace" -o "$work/fifo"
    refuses "link_is_not_replaced_by_$format" 4 "symbolic link" "$tracetta" query -q -f --format=$format -o "$work/link" "$trace" "SELECT 1 a"
    refuses "device_is_not_replaced_by_$format" 4 "not a regular file" "$tracetta" query -q --format=$format -o /dev/null "$trace" "SELECT 1 a"
done
succeeds "new_folder_can_end_with_a_slash" "$tracetta" convert -q --to=parquet "$trace" -o "$work/slash/"
succeeds "replaced_folder_can_end_with_a_slash" "$tracetta" convert -q -f --to=parquet "$trace" -o "$work/slash//"
[ -s "$work/slash/slice.parquet" ]
verdict "folder_with_a_slash_has_tables" $? "$(ls -A "$work/slash")"
refuses "link_with_a_slash_is_not_replaced" 4 "symbolic link" "$tracetta" convert -q -f --to=parquet "$trace" -o "$work/folder_link/"
refuses "link_to_a_folder_is_not_replaced" 4 "symbolic link" "$tracetta" convert -q -f --to=parquet "$trace" -o "$work/folder_link"
refuses "file_is_not_replaced_by_a_folder" 4 "need a folder" "$tracetta" convert -q -f --to=parquet "$trace" -o "$work/target"
[ -p "$work/fifo" ] && [ -L "$work/link" ] && [ -L "$work/folder_link" ] && [ "$(cat "$work/target")" = target ] && [ -c /dev/null ]
verdict "refused_outputs_are_untouched" $? "$(ls -l "$work")"
echo old >"$work/tables/gone.parquet"
succeeds "folder_of_tables_is_replaced_completely" "$tracetta" convert -q -f --to=parquet "$trace" -o "$work/tables"
[ -s "$work/tables/slice.parquet" ] && [ ! -e "$work/tables/gone.parquet" ] && [ -z "$(find "$work" -name '*partial*' -o -name '*.old-*')" ]
verdict "no_old_table_stays" $? "$(ls "$work" "$work/tables")"
