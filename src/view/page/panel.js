// The panel below the timeline: a slice, tables of a range, and SQL. Each table is one statement.
import { state, change, onChange, setRange, nameOf, duration, absolute, relative, KIND } from './state.js';
import { query, report } from './wire.js';
import { samplesQuery, showFlame, showSamples } from './flame.js';

const panel = /** @type {HTMLElement} */ (document.getElementById('panel'));
const grip = /** @type {HTMLElement} */ (document.getElementById('grip'));
const tabs = /** @type {HTMLElement} */ (document.getElementById('tabs'));
const body = /** @type {HTMLElement} */ (document.getElementById('body'));

/** @typedef {import('./wire.js').Result} Result */
/** @typedef {import('./state.js').Area} Area */
/** @typedef {import('./state.js').Item} Item */
/** @typedef {import('./state.js').Track} Track */

let turn = 0; /* answers of an earlier turn are ignored */

export function closePanel() {
  panel.hidden = true;
  grip.hidden = true;
  turn++;
  change();
}

function openPanel() {
  panel.hidden = false;
  grip.hidden = false;
  change();
}

/** @param {string} tag @param {string} [text] @param {string} [className] */
export function element(tag, text = '', className = '') {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** @param {string[]} titles @param {number} on @param {(i: number) => void} choose @param {string} note */
function drawTabs(titles, on, choose, note) {
  tabs.replaceChildren(
    ...titles.map((title, i) => {
      const button = element('button', title, i === on ? 'on' : '');
      button.addEventListener('click', () => choose(i));
      return button;
    }),
    element('span', note),
  );
  const close = element('button', '×');
  close.title = 'Close (Esc)';
  close.addEventListener('click', closePanel);
  tabs.append(close);
}

const TIMES = /^(dur|self|self_dur|total|avg|average|p50|p99|min|max|running|waiting|longest)$/;

/** Text of a cell: durations with their unit, times after the start. @param {string} column @param {string | number | null} value */
function cellText(column, value) {
  if (value === null) return '';
  if (column === 'ts' && Number.isFinite(Number(value))) return duration(relative(value), 9);
  if (TIMES.test(column) && Number.isFinite(Number(value))) return duration(Number(value));
  return typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(7))) : String(value);
}

/** @param {Result} result @param {number} column @param {boolean} isDown */
function sortRows(result, column, isDown) {
  const sign = isDown ? -1 : 1;
  result.rows.sort((l, r) => {
    const [a, b] = [l[column], r[column]];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    const [x, y] = [Number(a), Number(b)];
    return sign * (Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b)) : x - y);
  });
}

/** @param {Result} result @param {HTMLElement} to */
function drawTable(result, to) {
  const table = element('table');
  const head = element('tr');
  const [ts, dur] = [result.columns.indexOf('ts'), result.columns.indexOf('dur')];
  let sorted = -1;
  const rows = element('tbody');
  const fill = () =>
    rows.replaceChildren(
      ...result.rows.map((row) => {
        const line = element('tr', '', ts >= 0 ? 'go' : '');
        row.forEach((value, i) => {
          const cell = element('td', cellText(result.columns[i], value), typeof value === 'number' || TIMES.test(result.columns[i]) ? 'n' : '');
          cell.title = String(value ?? '');
          line.append(cell);
        });
        if (ts >= 0) line.addEventListener('click', () => showTime(row[ts], dur >= 0 ? row[dur] : 0));
        return line;
      }),
    );
  result.columns.forEach((name, i) => {
    const cell = element('th', name);
    cell.addEventListener('click', () => {
      sortRows(result, i, sorted !== i);
      sorted = sorted === i ? -1 : i;
      fill();
    });
    head.append(cell);
  });
  fill();
  table.append(element('thead'), rows);
  table.firstChild?.appendChild(head);
  to.append(table);
}

/** @param {string | number | null} ts @param {string | number | null} dur */
function showTime(ts, dur) {
  if (ts === null) return;
  const start = relative(ts);
  const length = Math.max(Number(dur ?? 0), (state.z - state.a) / 50);
  setRange(start - length, start + 2 * length);
}

/** Shows a statement, which can be edited, and its rows. @param {string} sql @param {boolean} isOpen the text is shown at once */
async function showQuery(sql, isOpen) {
  const mine = ++turn;
  const box = element('div', '', 'sql');
  const text = /** @type {HTMLTextAreaElement} */ (document.createElement('textarea'));
  const run = element('button', 'Run');
  const output = element('div');
  text.value = sql;
  text.spellcheck = false;
  text.hidden = run.hidden = !isOpen;
  const toggle = element('button', 'SQL');
  toggle.title = 'Show the statement of this table';
  toggle.addEventListener('click', () => { text.hidden = run.hidden = !text.hidden; });
  box.append(toggle, text, run);
  body.replaceChildren(box, output);
  const go = async () => {
    output.replaceChildren(element('div', 'running…', 'note'));
    const began = performance.now();
    /** @type {Result} */
    let result;
    try {
      result = await query(text.value);
    } catch (error) {
      result = { columns: [], rows: [], error: String(error) };
    }
    if (mine !== turn) return;
    output.replaceChildren();
    if (result.error) output.append(element('div', `${result.error}\n${text.value}\n${' '.repeat(result.offset ?? 0)}^`, 'error'));
    if (result.columns?.length) drawTable(result, output);
    if (result.columns?.length)
      output.append(element('div', `${result.rows.length} rows${result.cut ? ' (there are more)' : ''} in ${Math.round(performance.now() - began)} ms`, 'note'));
  };
  run.addEventListener('click', () => void go());
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void go();
  });
  if (sql) await go();
}

/** Condition for the tracks of a range. @param {Area} area */
function trackCondition(area) {
  const all = state.tracks.filter((track) => track.kind === KIND.thread || track.kind === KIND.async).length;
  const threads = area.tracks.filter((track) => track.kind === KIND.thread);
  if (threads.length === 0 || threads.length >= all || threads.length > 400) return '';
  if (threads.some((track) => !track.utid)) return ` AND track_id IN (${threads.map((track) => track.id).join(', ')})`;
  return ` AND track_id IN (SELECT id FROM track WHERE type = 'thread_track' AND utid IN (${threads.map((track) => track.utid).join(', ')}))`;
}

/** @param {number} a @param {number} z */
function logQuery(a, z) {
  return `SELECT ts, level, thread.name AS thread, message\nFROM log LEFT JOIN thread USING (utid) WHERE ts >= ${absolute(a)} AND ts < ${absolute(z)} ORDER BY ts LIMIT 1000`;
}

/** Tables of a range. @param {Area} area @returns {[string, string][]} titles and statements */
function areaTables(area) {
  const [a, z] = [absolute(area.a), absolute(area.z)];
  const inside = `ts < ${z} AND ts + max(dur, 0) >= ${a}`;
  const cut = `min(ts + max(dur, 0), ${z}) - max(ts, ${a})`;
  return [
    ['Slices', `SELECT name, count(*) AS count, sum(${cut}) AS total, sum(self_dur) AS self, avg(dur) AS average, percentile(dur, 99) AS p99\nFROM slice WHERE ${inside}${trackCondition(area)}\nGROUP BY name ORDER BY total DESC LIMIT 500`],
    ['Flame', ''],
    ['Samples', samplesQuery(area)],
    ['Scheduling', `SELECT thread.name AS thread, tid, count(*) AS count, sum(${cut}) AS running, max(dur) AS longest\nFROM sched JOIN thread USING (utid) WHERE ${inside} AND tid <> 0\nGROUP BY utid ORDER BY running DESC LIMIT 500`],
    ['States', `SELECT thread.name AS thread, tid, state, count(*) AS count, sum(${cut}) AS total, max(dur) AS longest\nFROM thread_state JOIN thread USING (utid) WHERE ${inside} AND tid <> 0\nGROUP BY utid, state ORDER BY total DESC LIMIT 500`],
    ['Counters', `SELECT counter_track.name AS name, count(*) AS count, min(value) AS lowest, avg(value) AS mean, max(value) AS highest\nFROM counter JOIN counter_track ON counter_track.id = counter.track_id WHERE ts >= ${a} AND ts < ${z}\nGROUP BY track_id ORDER BY 1 LIMIT 500`],
    ['Log', logQuery(area.a, area.z)],
  ];
}

/** @param {Area} area @param {number} [on] */
export async function showArea(area, on = 0) {
  openPanel();
  const tables = areaTables(area);
  drawTabs(tables.map(([title]) => title), on, (i) => void showArea(area, i), `${duration(area.z - area.a)} selected`);
  if (tables[on][0] === 'Flame') {
    turn++;
    await showFlame(area, body);
  } else if (tables[on][0] === 'Samples') {
    turn++;
    await showSamples(area, body);
  } else await showQuery(tables[on][1], false);
}

let logTurn = 0;
let logRange = '';
let logTimer = 0;

/** Shows the messages of the visible range, and follows it. */
export async function showLog() {
  openPanel();
  drawTabs(['Log'], 0, () => {}, 'messages of the visible range');
  logRange = `${state.a} ${state.z}`;
  const shown = showQuery(logQuery(state.a, state.z), false);
  logTurn = turn;
  await shown;
}

function followLog() {
  if (logTurn !== turn || panel.hidden || logRange === `${state.a} ${state.z}`) return;
  clearTimeout(logTimer);
  logTimer = Number(setTimeout(() => { if (logTurn === turn) void showLog(); }, 200));
}

/** @param {HTMLElement} list @param {string} key @param {string} value */
function addFact(list, key, value) {
  list.append(element('dt', key), element('dd', value));
}

/** Id of a track that several counters share. */
const SHARED = 0xffffffff;

/** The statement for one item. @param {Item} item @param {Track} track */
function itemQuery(item, track) {
  const ts = absolute(item.start);
  if (track.kind === KIND.cpu) return `SELECT * FROM sched WHERE ts = ${ts} AND cpu = ${track.id}`;
  if (track.kind === KIND.state) return `SELECT * FROM thread_state WHERE ts = ${ts} AND utid = ${track.id}`;
  if (track.kind === KIND.counter && track.id !== SHARED) return `SELECT * FROM counter WHERE ts = ${ts} AND track_id = ${track.id}`;
  if (track.kind === KIND.counter) return `SELECT counter.*, counter_track.* FROM counter JOIN counter_track ON counter_track.id = track_id WHERE ts = ${ts}`;
  const name = nameOf(item.name);
  const where = name.length < 200 ? ` AND ${name === '' ? 'name IS NULL' : `name = '${name.replaceAll("'", "''")}'`}` : '';
  return `SELECT * FROM slice WHERE ts = ${ts}${where}`;
}

/** Shows a slice with its arguments. @param {Item} item @param {Track} track */
export async function showItem(item, track) {
  const mine = ++turn;
  openPanel();
  const name = nameOf(item.name) || '(no name)';
  drawTabs([track.kind === KIND.counter ? nameOf(track.label) : name], 0, () => {}, report ? '' : itemQuery(item, track));
  const facts = element('dl', '', 'facts');
  addFact(facts, 'start', `${duration(item.start, 12)} (${absolute(item.start)} ns)`);
  if (track.kind !== KIND.counter) addFact(facts, 'duration', `${duration(item.length)} (${item.length} ns)`);
  addFact(facts, 'track', nameOf(track.label));
  body.replaceChildren(facts);
  const result = await query(itemQuery(item, track), 1);
  if (mine !== turn || result.error || result.rows.length === 0) return;
  const skipped = new Set(['id', 'ts', 'dur', 'track_id', 'name', 'arg_set_id', 'utid']);
  result.columns.forEach((column, i) => {
    if (!skipped.has(column) && result.rows[0][i] !== null) addFact(facts, column.replace('_', ' '), cellText(column, result.rows[0][i]));
  });
  if (track.kind === KIND.state) showWaker(item, result);
  const set = result.columns.indexOf('arg_set_id');
  if (set >= 0 && result.rows[0][set] !== null) {
    const args = await query(`SELECT key, coalesce(string_value, int_value, real_value) FROM args WHERE arg_set_id = ${result.rows[0][set]}`, 200);
    if (mine === turn && !args.error) for (const [key, value] of args.rows) addFact(facts, `· ${key}`, String(value ?? ''));
  }
  await showFlows(item, result, mine);
}

/** Shows an arrow from the thread that woke this one. @param {Item} item @param {Result} row */
function showWaker(item, row) {
  const waker = row.rows[0][row.columns.indexOf('waker_utid')];
  const on = waker && state.tracks.find((known) => known.kind === KIND.state && known.id === Number(waker));
  if (!on) return;
  state.arrows.push({ from: [item.start, on.row], to: [item.start, item.row] });
  change();
}

/** Shows arrows of the flows that begin or end at a slice. @param {Item} item @param {Result} slice @param {number} mine */
async function showFlows(item, slice, mine) {
  const id = slice.rows[0][slice.columns.indexOf('id')];
  const sql = `SELECT o.ts, o.track_id, o.depth, f.slice_out = ${id} FROM flow f JOIN slice o ON o.id = iif(f.slice_out = ${id}, f.slice_in, f.slice_out) WHERE f.slice_out = ${id} OR f.slice_in = ${id}`;
  const flows = slice.columns.includes('parent_id') ? await query(sql, 100) : null;
  if (mine !== turn || !flows || flows.error) return;
  for (const [ts, track, depth, isOut] of flows.rows) {
    const on = state.tracks.find((known) => known.kind === KIND.thread && known.id === Number(track));
    if (!on || ts === null) continue;
    /** @type {[number, number]} */
    const other = [relative(ts), on.row + Number(depth)];
    /** @type {[number, number]} */
    const here = [item.start, item.row];
    state.arrows.push(isOut ? { from: here, to: other } : { from: other, to: here });
  }
  change();
}

export async function showSql() {
  openPanel();
  drawTabs(['SQL'], 0, () => {}, 'Ctrl+Enter runs the statement; tables: "tracetta query -v FILE"');
  await showQuery('SELECT name, count(*) AS count, sum(dur) AS total\nFROM slice GROUP BY name ORDER BY total DESC LIMIT 100', true);
}

/** Titles and results of the tables in a report. */
export async function showReportTables(on = 0) {
  openPanel();
  /** @type {[string, string][]} */
  const tables = report.tables;
  drawTabs(tables.map(([title]) => title), on, (i) => void showReportTables(i), report.note);
  await showQuery(tables[on][1], false);
}

export function listenPanel() {
  onChange(followLog);
  grip.addEventListener('pointerdown', (event) => {
    const [y, height] = [event.clientY, panel.offsetHeight];
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (move) => {
      panel.style.height = `${Math.max(60, Math.min(innerHeight - 200, height + y - move.clientY))}px`;
      change();
    };
    grip.onpointerup = () => { grip.onpointermove = null; };
  });
}
