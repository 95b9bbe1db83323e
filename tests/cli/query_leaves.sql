SELECT name, count(*), sum(dur), avg(dur), max(dur) FROM slice GROUP BY name ORDER BY 2 DESC, 1
SELECT name, dur FROM slice ORDER BY dur DESC LIMIT 10
SELECT sum(gap), max(gap) FROM (SELECT ts - lag(ts + dur) OVER (PARTITION BY track_id ORDER BY ts) AS gap FROM slice)
SELECT sum(gap) FROM (SELECT ts - lag(ts) OVER (PARTITION BY utid ORDER BY ts) gap FROM slice WHERE depth > 0) WHERE gap > 10
SELECT max(gap) FROM (SELECT *, lead(ts) OVER (ORDER BY ts) - ts AS gap FROM event) GROUP BY kind
SELECT percentile(dur, 99) FROM slice
SELECT name, percentile(dur, 50) p50, percentile(dur, 99) AS "p 99", median(dur) FROM slice GROUP BY 1 HAVING count(*) > 3 ORDER BY 3 DESC
SELECT count(*) FROM slice WHERE name GLOB '*_1*'
SELECT thread_name, process_name, sum(dur) FROM slice GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 10
SELECT count(*) FROM slice WHERE ts BETWEEN 1000 AND 900000
WITH slice AS (SELECT 7 AS dur) SELECT sum(dur) FROM slice
WITH x(dur) AS (SELECT 7), slice(dur) AS (SELECT 8) SELECT sum(dur) FROM slice
WITH s AS (SELECT name, sum(dur) d FROM slice GROUP BY name) SELECT count(*), sum(d) FROM s
SELECT sum(dur) /* c */ FROM slice -- ORDER BY 1
SELECT /* a */ name /* FROM thread */, count(*) FROM slice /* b */ GROUP BY /* c */ name
SELECT sum(s.dur) FROM slice AS s WHERE s.name <> 'x'
SELECT sum(slice.dur) FROM main.slice
SELECT "name", [depth], count(*) FROM `slice` GROUP BY "name", [depth]
SELECT name AS dur, max(dur) FROM slice GROUP BY dur
SELECT dur AS name, count(*) FROM slice GROUP BY name
SELECT count(*), count(parent_id), count(DISTINCT parent_id), min(parent_id), total(parent_id) FROM slice
SELECT min(parent_id), max(parent_id), sum(parent_id), avg(parent_id), total(parent_id) FROM slice WHERE parent_id IS NULL
SELECT count(*), sum(dur) FROM slice WHERE name = 'there is no such name'
SELECT name, count(*) FROM slice WHERE 0 GROUP BY name
SELECT count(*) FROM slice WHERE parent_id <= 100
SELECT count(*) FROM slice WHERE name = 5 OR name > 5
SELECT count(*) FROM slice WHERE dur = '5' OR dur > 'x'
SELECT dur, count(*) FROM slice GROUP BY dur HAVING dur > '5' ORDER BY 2 DESC, 1 LIMIT 5
SELECT count(*) FROM slice WHERE dur > 9223372036854775807.0 OR dur < -9.3e18 OR dur > 1e3
SELECT sum(dur * 100000), avg(dur * 100000) FROM slice
SELECT avg(dur * 10000000000), max(dur * 100000000000) FROM slice
SELECT value * -1, count(*) FROM counter GROUP BY 1
SELECT sum(value), avg(value), total(value), min(value), max(value), percentile(value, 90) FROM counter GROUP BY track_id
SELECT count(*) FILTER (WHERE dur > 1000), sum(dur) FILTER (WHERE name LIKE '%2') FROM slice
SELECT name COLLATE NOCASE, count(*) FROM slice GROUP BY 1
SELECT count(*) FROM slice GROUP BY name COLLATE NOCASE
SELECT min(lower(name)), max(upper(name) || 'x') FROM slice
SELECT CASE WHEN dur > 1000 THEN 'long' WHEN dur > 10 THEN 'short' END AS c, count(*) FROM slice GROUP BY c
SELECT CASE depth WHEN 0 THEN 1 WHEN 1 THEN 2 ELSE 3 END, count(*) FROM slice GROUP BY 1
SELECT depth, count(*) * 100.0 / (SELECT count(*) FROM slice) AS share FROM slice GROUP BY depth
SELECT a.name, a.n, b.n FROM (SELECT name, count(*) n FROM slice GROUP BY name) a JOIN (SELECT name, count(*) n FROM event GROUP BY name) b USING (name) ORDER BY 2, 1
SELECT count(*) FROM slice UNION ALL SELECT count(*) FROM event UNION SELECT sum(id) FROM event ORDER BY 1
SELECT name FROM slice WHERE dur = (SELECT max(dur) FROM slice)
SELECT count(*) FROM slice s WHERE EXISTS (SELECT 1 FROM slice c WHERE c.parent_id = s.id AND c.dur > 100)
SELECT name, (SELECT count(*) FROM slice c WHERE c.name = s.name) FROM (SELECT DISTINCT name FROM slice) s
SELECT DISTINCT utid, depth FROM slice ORDER BY 2 DESC
SELECT DISTINCT utid FROM slice LIMIT 3
SELECT count(*), random() < 0 AND 0 FROM slice
SELECT random() * 0 FROM slice LIMIT 7
SELECT name, dur, row_number() OVER (ORDER BY dur DESC, id) FROM slice WHERE dur > 5000 ORDER BY 3
SELECT name, sum(dur), rank() OVER (ORDER BY sum(dur) DESC) FROM slice GROUP BY name ORDER BY 3, 1
SELECT id, name FROM slice WHERE id IN (5, 3, 9) OR utid = 2 AND dur > 100
SELECT rowid, ts FROM event WHERE kind IN ('counter', 'log') LIMIT 5 OFFSET 2
SELECT * FROM slice WHERE dur > 100 ORDER BY name DESC, dur LIMIT 4
SELECT e.name, count(*) FROM event e WHERE e.name IS NOT NULL AND NOT e.name LIKE '%1%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5
SELECT ts / 1000000, count(*) FROM slice GROUP BY 1
SELECT utid % 3 = 1 AS odd, count(*) FROM slice GROUP BY odd
SELECT key, value_type, count(*), sum(int_value), avg(real_value), min(string_value) FROM args GROUP BY 1, 2
SELECT s.name, t.tid, count(*) FROM slice s JOIN thread t USING (utid) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 5
INSERT INTO temp.nothing SELECT 1
SELECT sum(v) FROM (SELECT dur + 1 AS v, name AS n FROM slice WHERE depth = 0) WHERE n GLOB '*1*'
SELECT g, count(*) FROM (SELECT *, depth AS g FROM (SELECT * FROM slice WHERE dur > 10)) GROUP BY g
SELECT count(*) FROM slice WHERE lag(ts) OVER (ORDER BY ts) > 5
SELECT max(dur, 5) FROM slice LIMIT 3
SELECT name, max(dur), ts FROM slice GROUP BY name ORDER BY 2 DESC, 1 LIMIT 3
SELECT group_concat(name) FROM slice WHERE dur > 100000
SELECT count(), name FROM slice GROUP BY 2
SELECT count(*), json_group_array(1) FROM slice WHERE dur > 5000
SELECT count(*), group_concat('x') FROM slice WHERE dur > 5000
SELECT name, histogram(1), count(*) FROM slice GROUP BY 1
SELECT name, total(1), max(3), count(*) FROM slice GROUP BY 1
SELECT median(5), percentile(2, 3) FROM slice
SELECT name, histogram(dur) FROM slice GROUP BY 1
SELECT count() FILTER (WHERE dur > 10) FROM slice
SELECT count() + 1, count( ) FROM slice HAVING count() > 3
SELECT arg_set_id, count() OVER () FROM slice LIMIT 3
SELECT sum(1), avg(2), min(1), max(2), count(1), json_group_object('a', 1) FROM sched
SELECT name, json_group_array(name), max(name, 'x') FROM slice GROUP BY name
SELECT name, group_concat(DISTINCT name) FROM slice GROUP BY 1 ORDER BY 1 LIMIT 4
SELECT avg(ts * 7000001), total(ts * 7000001), sum(ts * 7000001), count(*) FROM slice
SELECT depth, avg(ts * 7000001), sum(ts * 7000001), min(-ts), count(parent_id), count(*) FROM slice GROUP BY 1
SELECT depth, avg(ts * 6000000001), total(-ts * 6000000001), sum(ts * 6000000001) FROM slice GROUP BY 1
SELECT name, avg(parent_id) FILTER (WHERE dur > 9), count(*) FILTER (WHERE dur > 9), max(dur), count(*) FROM slice GROUP BY 1
SELECT category, name, count(*), sum(dur) FROM slice GROUP BY 1, 2
SELECT thread_name, process_name, tid, sum(dur) FROM slice GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 10
SELECT DISTINCT depth, parent_id / 100, utid FROM slice
SELECT DISTINCT id / 1100, id / 1300, depth FROM slice WHERE id > 5
SELECT id / 1100, id > 1050, id > 1060 AND name < 'f', count(*), min(ts) FROM slice GROUP BY 1, 2, 3
SELECT id, name, depth, count(*) FROM slice GROUP BY 3, 2, 1
SELECT name, percentile(dur, 50), percentile(dur, 99), percentile(dur, 1), percentile(dur, 0), percentile(dur, 100), median(dur), percentile(ts, 50) FROM slice GROUP BY 1
SELECT percentile(dur, 99), percentile(dur, 10), percentile(dur, 95), percentile(dur, 95) FROM slice
-- Rows of a condition with OR are in the order of the table, not of the terms.
SELECT id, dur FROM slice WHERE id IN (900, 3, 40) OR id < 10 LIMIT 5;
SELECT id, dur FROM slice WHERE id = 900 OR id = 3 LIMIT 5;
SELECT id, dur FROM slice WHERE id IN (900, 3, 40) OR id IN (7, 1);
SELECT id, ts FROM slice WHERE id IN (900, 3, 40) OR ts < 2000 LIMIT 5;
SELECT id FROM slice WHERE id IN (900, 3, 40) OR dur = 0 LIMIT 5;
SELECT id, ts FROM slice WHERE id > 1500 OR id BETWEEN 3 AND 9 LIMIT 5;
SELECT id, ts FROM event WHERE (id > 1500 AND name GLOB '*1*') OR id BETWEEN 3 AND 9 LIMIT 5;
SELECT name, count(*) FROM (SELECT * FROM event WHERE id > 1500 OR id BETWEEN 3 AND 9 LIMIT 5) GROUP BY 1;
SELECT id FROM slice WHERE id IN (900, 3, 40) OR id < 2 * 5 LIMIT 5;
SELECT id FROM slice WHERE id > 1000 + 500 OR id = 2 * 5;
