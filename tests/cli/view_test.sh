#!/bin/bash
# Timelines in the browser: view, and report --html.  usage: view_test.sh TRACETTA GENERATE_FXT PYTHON
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh" "$1"
generate=$2
python=$3

"$generate" --events 20000 --seed 5 --mix bench "$work/t.fxt" || exit 1

refuses "port_must_be_a_number" 2 "port" "$tracetta" view --port=70000 "$work/t.fxt"
refuses "missing_trace_is_an_error" 3 "cannot open" "$tracetta" view "$work/none.fxt"

"$tracetta" view -q --no-open "$work/t.fxt" >"$work/url" 2>"$work/errors" &
server=$!
await_file "$work/url" $server
url=$(cat "$work/url")
[[ $url == http://127.0.0.1:*/?k=* ]]
verdict "address_is_of_the_loopback_interface_with_a_secret" $? "$url"

# A program that shares nothing with the page asks as a browser does.
cat >"$work/ask.py" <<'PROGRAM'
import http.client, json, socket, struct, sys, time, urllib.parse
url, tracetta, trace = sys.argv[1:]
port = urllib.parse.urlsplit(url).port
secret = url.split("k=")[1]
def verdict(name, is_fine, text=""):
    print(("ok - " if is_fine else "not ok - ") + name, "" if is_fine else f"# {text}")
def ask(path, headers={}, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer, answer.read()
first, _ = ask(f"/?k={secret}")
cookie = {"Cookie": first.getheader("Set-Cookie", "").split(";")[0]}
verdict("secret_sets_a_cookie_and_leaves_the_address", first.status == 303 and first.getheader("Location") == "/"
        and "HttpOnly" in first.getheader("Set-Cookie") and "SameSite=Strict" in first.getheader("Set-Cookie"))
page, text = ask("/", cookie)
policy = page.getheader("Content-Security-Policy", "")
verdict("page_has_a_strict_policy", page.status == 200 and "default-src 'none'" in policy and "unsafe" not in policy)
verdict("page_is_not_shared_with_other_origins", page.getheader("Access-Control-Allow-Origin") is None)
for name, headers, method, status in (("no_cookie", {}, "GET", 403), ("foreign_host", {**cookie, "Host": "evil.org"}, "GET", 421),
                                      ("foreign_site", {**cookie, "Sec-Fetch-Site": "cross-site"}, "GET", 403), ("post", cookie, "POST", 405)):
    found = ask("/info", headers, method)[0].status
    verdict(f"request_with_{name}_is_refused", found == status, found)
info = json.loads(ask("/info", cookie)[1])
names = json.loads(ask("/names?from=0", cookie)[1])
tracks = []
while len(tracks) < info["tracks"]:
    tracks += json.loads(ask(f"/tracks?from={len(tracks)}", cookie)[1])
def sql(text):
    return json.loads(ask("/query?limit=100000&sql=" + urllib.parse.quote(text), cookie)[1])["rows"]
slices = sql("SELECT count(*) FROM slice")[0][0] + sql("SELECT count(*) FROM sched JOIN thread USING (utid) WHERE tid <> 0")[0][0] \
    + sql("SELECT count(*) FROM counter")[0][0] \
    + sql("SELECT count(*) FROM thread_state JOIN thread USING (utid) WHERE tid <> 0 AND state <> 'X'")[0][0]
verdict("rows_have_every_slice_and_value", info["items"] == slices, (info["items"], slices))
counters = [known for known in tracks if known[0] == 4]
ids = sql("SELECT count(*) FROM counter_track")[0][0]
verdict("counters_of_many_ids_share_a_row", ids > 1024
        and len(counters) == sql("SELECT count(DISTINCT thread.upid || ' ' || counter_track.name || ' ' || series) FROM counter_track JOIN thread USING (utid)")[0][0]
        and sum(known[5] for known in counters) == sql("SELECT count(*) FROM counter")[0][0], (ids, len(counters)))
# The boxes of a window, with as many pixels as to fold nothing, are the slices of its row.
track, depth = sql("SELECT track_id, depth FROM slice JOIN track ON track.id = track_id WHERE type = 'thread_track' "
                   "GROUP BY 1, 2 ORDER BY count(*) DESC LIMIT 1")[0]
row = next(known[3] for known in tracks if known[0] == 0 and known[7] == track) + depth
rows = sql(f"SELECT ts - {info['start']}, dur, name FROM slice WHERE track_id = {track} AND depth = {depth} ORDER BY ts")
end = rows[9][0]
data = ask(f"/lod?a={rows[0][0]}&z={end}&w=16384&r={row}", cookie)[1]
count, boxes = struct.unpack_from("<II", data)
unit = (end - rows[0][0]) / 65535
wide = [row for row in rows[:9] if row[1] > 2 * (end - rows[0][0]) / 16384 + 1]
shown = [struct.unpack_from("<HHI", data, 24 + 8 * i) for i in range(boxes)]
shown = [(x * unit + rows[0][0], names[name & 0xffffff]) for x, width, name in shown if name >> 24 == 0 and width * unit > 2 * (end - rows[0][0]) / 16384]
verdict("boxes_are_the_slices_of_query", len(wide) > 0 and len(shown) >= len(wide) and all(
    any(abs(x - row[0]) <= unit + 1 and name == (row[2] or "") for x, name in shown) for row in wide), (wide, shown))
# Clients that are slow, huge or wrong do not disturb others.
hostile = [socket.create_connection(("127.0.0.1", port)) for _ in range(10)]
for i, client in enumerate(hostile):
    try:
        client.sendall([b"GET / HT", b"\0" * 40000, b"A" * 20000, b"GET /" + b"x" * 17000 + b" HTTP/1.1\r\n\r\n", b"\r\n\r\n\r\n"][i % 5])
    except OSError:
        pass
verdict("hostile_clients_do_not_disturb_others", ask("/info", cookie)[0].status == 200)
# Sixteen clients at once, every second one hostile: the others get complete answers.
import threading
complete = []
def work(i):
    for k in range(12):
        if i % 2:
            try:
                client = socket.create_connection(("127.0.0.1", port), timeout=5)
                client.sendall([b"GET /lod?a=-9223372036854775808&z=9223372036854775807&w=99999&r=0-4294967295,,-1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                                b"GET /?k=" + b"0" * 32 + b" HTTP/1.1\r\nHost: [::1]\r\n\r\n", b"\r\n" * 5000, b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", bytes(range(256)) * 70,
                                b"GET /events HTTP/1.1\r\nHost: localhost\r\nCookie: tracetta_%d=\r\n\r\n" % port][k % 6])
                if k % 3 == 0:
                    client.recv(100)
                client.close()
            except OSError:
                pass
        else:
            for _ in range(3): # a busy server may close a connection: browsers then ask again
                try:
                    complete.append(ask(f"/lod?a=0&z={info['end']}&w=1900&r=0-59", cookie)[1][16:])
                    break
                except OSError:
                    time.sleep(0.05)
threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
verdict("sixteen_clients_of_which_half_are_hostile", len(complete) == 96 and len(set(complete)) == 1, (len(complete), len(set(complete))))
# Connections that ask for nothing are closed for those that do.
idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
begin = time.monotonic()
status = ask("/info", cookie)[0].status
verdict("idle_connections_do_not_keep_others_out", status == 200 and time.monotonic() - begin < 5, time.monotonic() - begin)
# A statement of one function that nothing can stop.
stuck = http.client.HTTPConnection("127.0.0.1", port)
stuck.request("GET", "/query?sql=" + urllib.parse.quote("SELECT instr(zeroblob(30000000), CAST(zeroblob(15000000) || 1 AS blob))"), headers=cookie)
time.sleep(0.3)
PROGRAM
"$python" "$work/ask.py" "$url" "$tracetta" "$work/t.fxt" >"$work/verdicts" 2>"$work/python"
while read -r line; do
    name=${line#*- }
    [[ $line == ok* ]]
    verdict "${name%% *}" $? "$line"
done <"$work/verdicts"
[ "$(wc -l <"$work/verdicts")" = 13 ]
verdict "all_questions_were_asked" $? "$(tail -3 "$work/python")"

begin=$SECONDS
kill -TERM $server
wait $server
verdict "signal_ends_the_server_in_order" $(($? != 143 || SECONDS - begin > 8)) "$(cat "$work/errors")"

# Traces that grow: a pipe and a file, of which the second half comes later.
cat >"$work/grow.py" <<'PROGRAM'
import http.client, json, struct, subprocess, sys, time, urllib.parse
tracetta, mode, trace, copy = sys.argv[1:]
data = open(trace, "rb").read()
half = 0
while half < len(data) // 2: # records of FXT have their length in words
    half += 8 * max(1, struct.unpack_from("<Q", data, half)[0] >> 4 & 0xfff)
with open(copy, "wb") as file:
    file.write(data[:half])
source = subprocess.PIPE if mode == "pipe" else None
server = subprocess.Popen([tracetta, "view", "-q", "--no-open", "-" if mode == "pipe" else copy], stdin=source, stdout=subprocess.PIPE)
if mode == "pipe":
    server.stdin.write(data[:half])
    server.stdin.flush()
url = server.stdout.readline().decode().strip()
port = urllib.parse.urlsplit(url).port
def ask(path, headers={}):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers=headers)
    return connection.getresponse()
cookie = {"Cookie": ask(url[url.index("/?"):]).getheader("Set-Cookie").split(";")[0]}
events = ask("/events", cookie)
def wait(is_fine):
    for _ in range(100):
        info = json.loads(ask("/info", cookie).read())
        if is_fine(info):
            return info
        time.sleep(0.1)
    return {}
def count():
    return json.loads(ask("/query?sql=SELECT+count(*)+FROM+slice", cookie).read())["rows"][0][0]
first = wait(lambda info: info["items"] > 0 and (mode == "pipe" or not info["partial"]))
slices = count()
if mode == "pipe":
    server.stdin.write(data[half:])
    server.stdin.close()
else:
    open(copy, "ab").write(data[half:])
last = wait(lambda info: not info["partial"] and info["items"] > first["items"])
print("first", first["partial"], first["live"], slices)
print("last", last["partial"], last["live"], count())
line = b"open"
while line and b"grown" not in line:
    line = events.readline()
print("event", b"grown" in line)
server.terminate()
server.wait()
PROGRAM
all=$("$tracetta" query -q --format=csv "$work/t.fxt" "SELECT count(*) FROM slice" | tail -1)
for mode in pipe file; do
    "$python" "$work/grow.py" "$tracetta" $mode "$work/t.fxt" "$work/grow.fxt" >"$work/grown" 2>&1
    live=$([ $mode = pipe ] && echo True || echo False)
    grep -q "^last False False $all$" "$work/grown" && grep -q "^event True" "$work/grown" &&
        [ "$(awk -v live="$live" '$1 == "first" && $2 == live && $3 == live && $4 > 100 && $4 < '"$all"' { print "fine" }' "$work/grown")" = fine ]
    verdict "view_of_a_${mode}_that_grows_shows_all" $? "$(cat "$work/grown")"
done

"$tracetta" report -q --html "$work/t.fxt" -o "$work/report.html"
verdict "report_is_written" $? ""
[ "$(wc -c <"$work/report.html")" -lt 5000000 ]
verdict "report_has_at_most_5_mb" $? ""
"$python" - "$work/many.fxt" <<'PROGRAM'
import struct, sys
def word(value):
    return struct.pack("<Q", value)
out = [word(0x0016547846040010) + word(0x21 | 1 << 16) + word(1_000_000_000)]
for i in range(60000): # each a thread with one span and a name of its own
    name = b"%06d" % i + b"n" * 58
    out.append(word(4 | 13 << 4 | 4 << 16 | (0x8000 | 64) << 48) + word(1000 + i * 10) + word(7) + word(1000 + i) + name + word(1500 + i * 10))
open(sys.argv[1], "wb").write(b"".join(out))
PROGRAM
"$tracetta" report -q --html "$work/many.fxt" -o "$work/many.html"
[ "$(wc -c <"$work/many.html")" -lt 5000000 ] && grep -q "10000 of 60000 tracks, [0-9]* names left out" "$work/many.html"
verdict "report_of_many_tracks_has_at_most_5_mb_and_names_what_is_missing" $? "$(wc -c <"$work/many.html")"
grep -q "tracettaReport" "$work/report.html" && ! grep -qE "^(import|export) |https?://" "$work/report.html"
verdict "report_is_one_file_without_addresses" $? "$(grep -nE "^(import|export) |https?://" "$work/report.html" | cut -c 1-100)"
[ -z "$(grep -hoE "^(export )?(async )?(const|let|function) \w+" "$(dirname "$0")"/../../src/view/page/{[!c]*,ca*,colour}.js | awk '{ print $NF }' | sort | uniq -d)" ]
verdict "modules_have_different_names" $? ""
refuses "report_does_not_replace_a_file" 4 "exists" "$tracetta" report --html "$work/t.fxt" -o "$work/report.html"
refuses "report_needs_an_output" 2 "-o" "$tracetta" report --html "$work/t.fxt"
refuses "full_disk_is_an_error" 4 "" "$tracetta" report --html "$work/t.fxt" -o /dev/full
