#!/bin/bash
# Parquet, Arrow and SQLite files as DuckDB, pyarrow and sqlite3 read them: equal rows, and equal sums column by column.
# usage: tables.sh TRACETTA GENERATE_FXT.  TABLES_PYTHON names a Python with the modules duckdb and pyarrow (default: python3).
tracetta=$1
generate=$2
python=${TABLES_PYTHON:-python3}
if ! "$python" -c "import duckdb, pyarrow" 2>/dev/null; then
    echo "1..0 # SKIP no DuckDB and pyarrow: TABLES_PYTHON names a Python with them"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
traces=("$work/t.fxt")
"$generate" --events 100000 --seed 5 --mix bench "$work/t.fxt" || exit 1
corpus=${TTR_CORPUS:-/nowhere}
[ ! -d "$corpus/ctf/tracecompass/many-threads" ] || traces+=("$corpus/ctf/tracecompass/many-threads")
cat >"$work/check.py" <<'PROGRAM'
import glob, os, sqlite3, sys
import duckdb, pyarrow.ipc as ipc, pyarrow.parquet as parquet
folder = sys.argv[1]
db, duck = sqlite3.connect(folder + "/t.sqlite"), duckdb.connect()
for path in sorted(glob.glob(folder + "/parquet/*.parquet")):
    name = os.path.basename(path)[:-8]
    table, arrow = parquet.read_table(path), ipc.open_file(f"{folder}/arrow/{name}.arrow").read_all()
    arrow.validate(full=True)
    rows = db.execute(f'SELECT * FROM "{name}"').fetchall()
    assert rows and table.equals(arrow), name
    assert duck.execute(f"SELECT * FROM '{path}'").fetchall() == rows, name
    for i, column in enumerate(table.column_names):
        values = [row[i] for row in rows if row[i] is not None]
        assert len(values) == len(rows) - table.column(i).null_count, column
        if values and not isinstance(values[0], str):
            found = duck.execute(f"""SELECT sum("{column}")::DOUBLE, min("{column}"), max("{column}") FROM '{path}'""").fetchone()
            assert abs(found[0] - sum(values)) <= 1e-9 * sum(map(abs, values)), column
            assert found[1:] == (min(values), max(values)), column
    print(name, len(rows), file=sys.stderr)
PROGRAM
count=0
for trace in "${traces[@]}"; do
    count=$((count + 1))
    rm -rf "$work/out" && mkdir "$work/out"
    if "$tracetta" convert -q --to=parquet "$trace" -o "$work/out/parquet" && "$tracetta" convert -q --to=arrow "$trace" -o "$work/out/arrow" &&
        "$tracetta" convert -q --to=sqlite "$trace" -o "$work/out/t.sqlite" && "$python" "$work/check.py" "$work/out" 2>"$work/err"; then
        echo "ok $count - tables_of_$(basename "$trace")_are_the_same_in_all_readers"
    else
        echo "not ok $count - tables_of_$(basename "$trace")_are_the_same_in_all_readers"
        sed 's/^/# /' "$work/err"
        failed=1
    fi
done
echo "1..$count"
exit ${failed:-0}
