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
# Random rows of one type per column, with NULLs, extremes, long and empty texts: read back as sqlite3 computes them.
cat >"$work/rows.py" <<'PROGRAM'
import random, sqlite3, subprocess, sys
import duckdb, pyarrow.ipc as ipc, pyarrow.parquet as parquet
tracetta, trace, folder = sys.argv[1:]
random.seed(7)
db, duck = sqlite3.connect(":memory:"), duckdb.connect()

def literal(kind):
    if random.random() < 0.15:
        return "NULL"
    if kind == "integer":
        return str(random.choice([0, 1, -1, 2**63 - 1, -(2**63) + 1, random.randrange(-1000, 1000), random.getrandbits(62)]))
    if kind == "real":
        return repr(random.choice([0.5, -1.25, 1e300, 1e-300, random.random(), random.uniform(-1e6, 1e6)]))
    text = random.choice(["", "a", "é", "x" * random.randrange(300), "it''s", chr(random.randrange(0x20, 0xd7ff)).replace("'", "")])
    return f"'{text}'" if kind == "text" else "x'" + bytes(random.getrandbits(8) for _ in range(random.randrange(20))).hex() + "'"

for number in range(40):
    kinds = [random.choice(["integer", "real", "text", "bytes"]) for _ in range(random.randrange(1, 7))]
    rows = ", ".join("(" + ", ".join(map(literal, kinds)) + ")" for _ in range(random.choice([1, 2, 50, 3000 // len(kinds)])))
    sql = f"SELECT * FROM (VALUES {rows})"
    open(folder + "/random.sql", "w", encoding="utf-8").write(sql)
    for name in "parquet", "arrow":
        subprocess.run([tracetta, "query", "-q", "-f", "-o", f"{folder}/random.{name}", f"--file={folder}/random.sql", trace], check=True)
    expected = db.execute(sql).fetchall()
    table = parquet.read_table(folder + "/random.parquet")
    arrow = ipc.open_file(folder + "/random.arrow").read_all()
    arrow.validate(full=True)
    found = list(zip(*[column.to_pylist() for column in table.columns]))
    assert found == expected, (number, kinds)
    assert list(zip(*[column.to_pylist() for column in arrow.columns])) == expected, (number, kinds)
    assert duck.execute(f"SELECT * FROM '{folder}/random.parquet'").fetchall() == expected, (number, kinds)
PROGRAM
count=$((count + 1))
"$python" "$work/rows.py" "$tracetta" "$work/t.fxt" "$work" 2>"$work/err"
status=$?
[ $status = 0 ] || { sed 's/^/# /' "$work/err"; printf 'not '; failed=1; }
echo "ok $count - random_rows_are_the_same_in_all_readers"
echo "1..$count"
exit ${failed:-0}
