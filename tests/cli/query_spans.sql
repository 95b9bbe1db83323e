-- Joins of intervals, and the same rows by comparing all pairs: query_test.sh.
CREATE TEMP TABLE a AS WITH RECURSIVE r(i, x) AS (SELECT 0, 7 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < 400) SELECT i AS id, i AS va, (x / 65536) % 4 AS p, (x / 7) % 20 + (i / 4) * 20 AS ts, (x / 1000) % 15 AS len FROM r;
CREATE TEMP TABLE b AS WITH RECURSIVE r(i, x) AS (SELECT 0, 99 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < 400) SELECT i AS id, i AS vb, (x / 65536) % 5 AS p, (x / 7) % 20 + (i / 4) * 20 AS ts, (x / 1000) % 15 AS len FROM r;
CREATE TEMP VIEW na AS SELECT va, p, ts, min(len, ifnull(lead(ts) OVER (PARTITION BY p ORDER BY ts) - ts, len)) AS dur FROM a GROUP BY p, ts;
CREATE TEMP VIEW nb AS SELECT vb, p, ts, min(len, ifnull(lead(ts) OVER (PARTITION BY p ORDER BY ts) - ts, len)) AS dur FROM b GROUP BY p, ts;
CREATE VIRTUAL TABLE temp.inner_join USING SPAN_JOIN(na PARTITIONED p, nb PARTITIONED p);
CREATE VIRTUAL TABLE temp.left_join USING SPAN_LEFT_JOIN(na PARTITIONED p, nb PARTITIONED p);
CREATE VIRTUAL TABLE temp.outer_join USING SPAN_OUTER_JOIN(na PARTITIONED p, nb PARTITIONED p);
SELECT 'inner', ts, dur, p, va, vb FROM inner_join ORDER BY p, ts, va, vb;
SELECT 'brute', max(na.ts, nb.ts) AS t, min(na.ts + na.dur, nb.ts + nb.dur) - max(na.ts, nb.ts) d, p, va, vb FROM na JOIN nb USING (p) WHERE (na.ts < nb.ts + nb.dur AND nb.ts < na.ts + na.dur) OR (na.dur = 0 AND nb.ts <= na.ts AND (na.ts < nb.ts + nb.dur OR na.ts = nb.ts)) OR (nb.dur = 0 AND na.ts <= nb.ts AND (nb.ts < na.ts + na.dur OR na.ts=nb.ts)) ORDER BY p, t, va, vb;
SELECT 'left', sum(dur), count(DISTINCT va), count(vb) FROM left_join; SELECT 'leftx', (SELECT sum(dur) FROM na), (SELECT count(*) FROM na), (SELECT count(*) FROM inner_join);
SELECT 'outer', sum(dur) FILTER (WHERE va IS NOT NULL), sum(dur) FILTER (WHERE vb IS NOT NULL), count(DISTINCT va), count(DISTINCT vb), sum(va IS NOT NULL AND vb IS NOT NULL) FROM outer_join;
SELECT 'outerx', (SELECT sum(dur) FROM na), (SELECT sum(dur) FROM nb), (SELECT count(*) FROM na), (SELECT count(*) FROM nb), (SELECT count(*) FROM inner_join);
SELECT 'intersect', ts, dur, p, id_0, id_1 FROM interval_intersect!(((SELECT id, ts, len AS dur, p FROM a), (SELECT id, ts, len AS dur, p FROM b)), (p)) ORDER BY p, ts, id_0, id_1;
SELECT 'brute2', max(a.ts, b.ts) AS t, min(a.ts + a.len, b.ts + b.len) - max(a.ts, b.ts) d, p, a.id, b.id FROM a JOIN b USING (p) WHERE (a.ts < b.ts + b.len AND b.ts < a.ts + a.len) OR (a.len = 0 AND b.ts <= a.ts AND (a.ts < b.ts + b.len OR a.ts = b.ts)) OR (b.len = 0 AND a.ts <= b.ts AND (b.ts < a.ts + a.len OR a.ts=b.ts)) ORDER BY p, t, a.id, b.id;
