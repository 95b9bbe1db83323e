#!/bin/bash
# Saved tables of large traces: query, diff, assert.  usage: cache_test.sh TRACETTA GENERATE_FXT PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
generate=$2
python=$3
: >"$work/.out"
folder=$XDG_CACHE_HOME/tracetta
sql="SELECT name, count(*), sum(dur) FROM slice GROUP BY 1 ORDER BY 1"

"$generate" --events 640000 --seed 5 --mix bench "$work/t.fxt" || exit 1
"$generate" --events 640000 --seed 6 --mix bench "$work/u.fxt" || exit 1
"$generate" --events 2000 --seed 6 --mix bench "$work/small.fxt" || exit 1
# Damage in the middle: a record that is longer than the file.
"$python" - "$work/t.fxt" "$work/damaged.fxt" <<'PROGRAM'
import sys
bytes_ = bytearray(open(sys.argv[1], "rb").read())
bytes_[9_000_000:9_000_400] = b"\xff" * 400
open(sys.argv[2], "wb").write(bytes_)
PROGRAM
sleep 3 # files that have just changed are not cached

query()
{
    "$tracetta" query --format=tsv -v "$work/t.fxt" "$@" 2>"$work/.err"
}
saved()
{
    ls "$folder"/*.store 2>/dev/null | head -n 1
}
is_warm()
{
    grep -q "saved before" "$work/.err"
}

"$tracetta" query -q --format=tsv --no-cache "$work/t.fxt" "$sql" >"$work/expected"
[ ! -e "$folder" ]
verdict "no_cache_saves_nothing" $? "$(ls -la "$folder" 2>&1)"
"$tracetta" query -q "$work/small.fxt" "$sql" >/dev/null
[ ! -e "$folder" ]
verdict "small_traces_are_not_saved" $? "$(ls -la "$folder" 2>&1)"
query "$sql" >"$work/found"
cmp -s "$work/expected" "$work/found" && ! is_warm && [ "$(stat -c %a "$folder" "$(saved)" | tr '\n' ' ')" = "700 600 " ]
verdict "store_is_saved_for_the_user_alone" $? "$(ls -la "$folder" 2>&1)"
query "$sql" >"$work/found"
cmp -s "$work/expected" "$work/found" && is_warm
verdict "second_question_reads_the_saved_store" $? "$(cat "$work/.err")"
query --no-cache "$sql" >/dev/null
! is_warm
verdict "no_cache_reads_the_trace" $? "$(cat "$work/.err")"
query --name='*' "$sql" >/dev/null
! is_warm
verdict "other_options_read_the_trace" $? "$(cat "$work/.err")"
rm -r "$folder"
query "$sql" >/dev/null

# A question that needs more columns reads the trace, and the store then has those of both.
query "SELECT thread_name, max(depth) FROM slice GROUP BY 1" >"$work/more"
! is_warm
verdict "question_with_more_columns_reads_the_trace" $? "$(cat "$work/.err")"
for statement in "$sql" "SELECT thread_name, max(depth) FROM slice GROUP BY 1" "SELECT count(*) AS no_such_event FROM slice"; do
    "$tracetta" query -q --format=tsv --no-cache "$work/t.fxt" "$statement" >"$work/wanted"
    query "$statement" >"$work/found"
    cmp -s "$work/wanted" "$work/found" && is_warm
    verdict "store_answers_both_questions_${#statement}" $? "$(cat "$work/.err")"
done
query "SELECT nme FROM slice" >/dev/null
is_warm && grep -q "did you mean name" "$work/.err"
verdict "errors_of_a_warm_statement_are_the_same" $? "$(cat "$work/.err")"

# What lies in the place of the file is never trusted.
file=$(saved)
cp "$file" "$work/good.store"
size=$(stat -c %s "$file")
for damage in "truncate -s $((size / 2))" "truncate -s 0" "truncate -s +1" "truncate -s 40"; do
    $damage "$file"
    query "$sql" >"$work/found"
    cmp -s "$work/expected" "$work/found" && ! is_warm && query "$sql" >"$work/found" && is_warm
    verdict "store_after_${damage// /_}_is_rebuilt" $? "$(cat "$work/.err")"
done
"$python" - "$file" <<'PROGRAM'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(70000)
    byte = file.read(1)
    file.seek(70000)
    file.write(bytes([byte[0] ^ 4]))
PROGRAM
query "$sql" >"$work/found"
cmp -s "$work/expected" "$work/found" && ! is_warm
verdict "store_with_a_flipped_bit_is_rebuilt" $? "$(cat "$work/.err")"
for place in "mkfifo" "ln -s $work/good.store" "mkdir"; do
    rm "$file"
    $place "$file"
    query "$sql" >"$work/found"
    cmp -s "$work/expected" "$work/found" && ! is_warm
    verdict "${place%% *}_in_place_of_the_store_is_not_read" $? "$(ls -la "$folder")"
    rm -rf "$file"
    cp "$work/good.store" "$file"
    chmod 600 "$file"
done
chmod 644 "$file"
query "$sql" >"$work/found"
cmp -s "$work/expected" "$work/found" && ! is_warm
verdict "store_that_others_can_read_is_not_used" $? "$(ls -la "$folder")"
if [ "$(id -u)" = 0 ]; then
    chown 12345 "$(saved)"
    query "$sql" >"$work/found"
    cmp -s "$work/expected" "$work/found" && ! is_warm
    verdict "store_of_another_user_is_not_used" $? "$(ls -la "$folder")"
else
    skip "store_of_another_user_is_not_used" "needs root"
fi
rm -r "$folder"
mkdir -m 755 "$folder"
query "$sql" >"$work/found"
cmp -s "$work/expected" "$work/found" && [ -z "$(ls "$folder")" ] && grep -q "does not belong to the user alone" "$work/.err"
verdict "folder_that_others_can_read_is_not_used" $? "$(ls -la "$folder"; cat "$work/.err")"
rm -r "$folder"

# Several processes at once.
for i in 1 2 3; do
    "$tracetta" query -q --format=tsv "$work/t.fxt" "$sql" >"$work/found$i" &
done
wait
cmp -s "$work/expected" "$work/found1" && cmp -s "$work/expected" "$work/found2" && cmp -s "$work/expected" "$work/found3" && [ "$(ls "$folder" | wc -l)" = 1 ]
verdict "processes_at_once_leave_one_store" $? "$(ls -la "$folder")"

# Changed traces, damaged traces.
touch "$work/t.fxt"
query "$sql" >"$work/found"
cmp -s "$work/expected" "$work/found" && ! is_warm
verdict "changed_trace_is_read_again" $? "$(cat "$work/.err")"
for i in 1 2; do
    "$tracetta" query --format=tsv "$work/damaged.fxt" "$sql" >"$work/damaged$i" 2>"$work/warning$i"
    echo "exit $?" >>"$work/warning$i"
done
cmp -s "$work/damaged1" "$work/damaged2" && cmp -s "$work/warning1" "$work/warning2" && grep -q "damaged place" "$work/warning1" && grep -q "exit 1" "$work/warning1"
verdict "damage_is_reported_again" $? "$(cat "$work"/warning?)"
"$tracetta" query -v "$work/damaged.fxt" "$sql" 2>"$work/.err" >/dev/null
is_warm
verdict "damaged_trace_is_saved" $? "$(cat "$work/.err")"
rm -r "$folder"
"$tracetta" query -q - "$sql" <"$work/u.fxt" >/dev/null
"$tracetta" query -q <(cat "$work/u.fxt") "$sql" >/dev/null
[ ! -e "$folder" ]
verdict "pipes_are_not_saved" $? "$(ls -la "$folder" 2>&1)"

# The folder has a size.
for trace in u damaged; do
    "$tracetta" query -q "$work/$trace.fxt" "$sql" >/dev/null
done
[ "$(ls "$folder" | wc -l)" = 2 ] && bytes=$(stat -c %s "$folder"/* | sort -n | tail -n 1)
oldest=$(ls -t "$folder" | tail -n 1)
TRACETTA_CACHE_SIZE=$((bytes * 2 + 100)) "$tracetta" query -q "$work/damaged.fxt" "SELECT count(*), max(ts) FROM slice" >/dev/null
[ "$(ls "$folder" | wc -l)" = 1 ] && [ ! -e "$folder/$oldest" ]
verdict "oldest_stores_are_deleted" $? "$(ls -la "$folder")"
TRACETTA_CACHE_SIZE=0 "$tracetta" query -v "$work/damaged.fxt" "$sql" 2>"$work/.err" >/dev/null
! is_warm
verdict "cache_can_be_switched_off" $? "$(cat "$work/.err")"

# diff and assert ask the same way.
for i in 1 2; do
    "$tracetta" diff -v "$work/u.fxt" "$work/damaged.fxt" >"$work/diff$i" 2>"$work/.err"
done
cmp -s "$work/diff1" "$work/diff2" && [ -s "$work/diff1" ] && is_warm
verdict "diff_is_warm_the_second_time" $? "$(cat "$work/.err")"
for i in 1 2; do
    run "$tracetta" assert -v "$work/u.fxt" "SELECT name FROM slice WHERE dur < -1"
done
[ $run_status = 0 ] && is_warm
verdict "assert_is_warm_the_second_time" $? "$(cat "$work/.err")"

# Tables beyond --memory are in a temporary file.
peak_kib()
{
    "$python" -c 'import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "wb"), check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
sql="SELECT name, count(*), sum(dur), sum(self_dur), max(thread_name), max(parent_id), sum(arg_set_id) FROM slice GROUP BY 1 ORDER BY 1"
all=$(peak_kib "$work/wanted" "$tracetta" query -q --no-cache "$work/u.fxt" "$sql")
limited=$(peak_kib "$work/found" "$tracetta" query -q --no-cache --memory=4MiB "$work/u.fxt" "$sql")
cmp -s "$work/wanted" "$work/found" && [ -s "$work/found" ]
verdict "tables_in_a_temporary_file_are_the_same" $? "$(diff "$work/wanted" "$work/found" | head -3)"
[ "$limited" -lt $((all - 2500)) ]
verdict "memory_is_limited" $? "$limited KiB instead of $all"
sql="SELECT a.kind, a.name, sum(a.ts), count(*) FROM event a GROUP BY 1, 2 ORDER BY 1, 2"
"$tracetta" query -q --no-cache "$work/u.fxt" "$sql" >"$work/wanted"
"$tracetta" query -q --no-cache --memory=1 "$work/u.fxt" "$sql" >"$work/found"
cmp -s "$work/wanted" "$work/found" && [ -s "$work/found" ]
verdict "events_in_a_temporary_file_are_the_same" $? "$(diff "$work/wanted" "$work/found" | head -3)"
rm -rf "$folder"
"$tracetta" query -q --memory=1 "$work/u.fxt" "$sql" >"$work/found"
"$tracetta" query -v --memory=1 "$work/u.fxt" "$sql" >"$work/found2" 2>"$work/.err"
cmp -s "$work/wanted" "$work/found" && cmp -s "$work/wanted" "$work/found2" && is_warm
verdict "tables_of_a_temporary_file_are_saved" $? "$(cat "$work/.err")"
(
    ulimit -f 1000
    "$tracetta" query -q --no-cache --memory=1 "$work/u.fxt" "SELECT sum(self_dur) FROM slice" >"$work/.out" 2>"$work/.err"
)
[ $? = 4 ] && grep -q "temporary file of the tables cannot grow past .*TMPDIR" "$work/.err"
verdict "full_disk_is_an_error" $? "$(cat "$work/.err")"
refuses "temporary_folder_that_is_missing_is_an_error" 4 "cannot create a temporary file in $work/none" \
    env TMPDIR="$work/none" "$tracetta" query -q --no-cache --memory=1 "$work/u.fxt" "SELECT sum(self_dur) FROM slice"

# A view of a trace that was shown before shows the saved rows, and loads the saved tables for SQL.
cat >"$work/view.py" <<'PROGRAM'
import glob, hashlib, http.cookiejar, json, os, signal, subprocess, sys, time, urllib.parse, urllib.request
sql = "SELECT name, count(*), sum(dur) FROM slice GROUP BY 1 ORDER BY 1"
viewer = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
address = viewer.stdout.readline().strip()
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
opener.open(address).read()
def ask(path):
    return opener.open(address.split("/?")[0] + path).read()
end = time.monotonic() + 60
while True:
    info = json.loads(ask("/info"))
    if not info.get("partial") or time.monotonic() > end:
        break
    time.sleep(0.05)
store = os.environ["XDG_CACHE_HOME"] + "/tracetta/*.store"
while not glob.glob(store) and time.monotonic() < end:
    time.sleep(0.05)
digest = hashlib.sha256()
for path in "/names", "/tracks", "/search?q=a&t=0&dir=n", f"/flame?a=0&z={info['end']}":
    digest.update(ask(path))
for i in range(200):
    window = ask(f"/lod?a={info['end'] // 200 * i}&z={info['end'] // 200 * i + (1000 << i % 20)}&w={300 + i}&r=0-200")
    digest.update(window[:8] + window[12:]) # without the time that it took
inode = os.stat(glob.glob(store)[0]).st_ino
while "error" in (result := json.loads(ask("/query?sql=" + urllib.parse.quote(sql)))) and time.monotonic() < end:
    print("tables are read again", file=sys.stderr)
    time.sleep(0.1)
while "again" in os.environ and os.stat(glob.glob(store)[0]).st_ino == inode and time.monotonic() < end:
    time.sleep(0.05) # until the store is saved again
viewer.send_signal(signal.SIGTERM)
viewer.wait()
print({key: info[key] for key in ("start", "end", "names", "tracks", "rows", "items", "overview")}, digest.hexdigest(), result)
PROGRAM
view()
{
    "$python" "$work/view.py" "$tracetta" view --no-open "$work/damaged.fxt" >"$work/view$1" 2>"$work/warning$1"
    ls "$folder" 2>/dev/null | wc -l >"$work/stores$1"
}
rm -rf "$folder"
view 1
view 2
cmp -s "$work/view1" "$work/view2" && [ -s "$work/view1" ] && grep -q 1 "$work/stores1" && grep -q 1 "$work/stores2"
verdict "saved_view_answers_as_the_first_one" $? "$(cat "$work"/view?; cat "$work"/warning?)"
grep "damaged place" "$work/warning1" >"$work/found" && grep "damaged place" "$work/warning2" | cmp -s - "$work/found"
verdict "view_reports_damage_again" $? "$(cat "$work"/warning?)"
# The rows of a saved view follow its tables.  Damage is noticed when they are used.
flip()
{
    "$python" - "$(saved)" "$1" <<'PROGRAM'
import sys
with open(sys.argv[1], "r+b") as file:
    bytes_ = bytearray(file.read())
    rows = bytes_.rfind(b"view.offsets") # in the directory, which follows the rows
    at = rows * 19 // 20 if sys.argv[2] == "rows" else rows // 4
    file.seek(at)
    file.write(bytes(255 - byte for byte in bytes_[at:at + 64]))
PROGRAM
}
flip rows
view 3
cmp -s "$work/view1" "$work/view3" && ! grep -q again "$work/warning3"
verdict "damaged_rows_of_a_view_are_made_again" $? "$(cat "$work/view3" "$work/warning3")"
flip tables
again=1 view 4
cmp -s "$work/view1" "$work/view4" && grep -q again "$work/warning4"
verdict "damaged_tables_of_a_view_are_read_again" $? "$(cat "$work/view4" "$work/warning4")"
view 5
cmp -s "$work/view1" "$work/view5" && ! grep -q again "$work/warning5"
verdict "view_with_damaged_tables_is_saved_again" $? "$(cat "$work/view5" "$work/warning5")"

