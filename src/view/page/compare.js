// Two traces, one above the other: passes the range between their frames, and shows the differences.

import { duration } from './state.js';

/** @typedef {{ start: bigint, end: number }} Span */
/** @type {Record<string, Span>} */
const ranges = {};
const [upper, lower] = document.getElementsByTagName('iframe');
/** @type {Record<string, HTMLIFrameElement>} */
const frames = { a: upper, b: lower };
const clock = /** @type {HTMLElement} */ (document.getElementById('clock'));
const body = /** @type {HTMLElement} */ (document.getElementById('diff'));

/** Time of trace a minus time of trace b, at the same place of the ruler. */
let shift = 0;

/** @param {string} pane @param {Record<string, unknown>} message */
const send = (pane, message) => frames[pane].contentWindow?.postMessage(message, location.origin);

/** Traces that overlap are on one clock; others begin at the same place. */
function align() {
  const { a, b } = ranges;
  if (!a || !b) return;
  const between = Number(b.start - a.start);
  const isOneClock = between < a.end && -between < b.end;
  shift = isOneClock ? between : 0;
  const low = Math.min(0, shift);
  const high = Math.max(a.end, b.end + shift);
  send('a', { low, high });
  send('b', { low: low - shift, high: high - shift });
  clock.textContent = `old above, new below: ${isOneClock ? 'on one clock' : 'aligned at their starts'}`;
}

addEventListener('message', ({ data, origin, source }) => {
  if (origin !== location.origin || !frames[data.pane] || source !== frames[data.pane].contentWindow) return;
  if (data.start !== undefined) {
    ranges[data.pane] = { start: BigInt(data.start), end: data.end };
    align();
    void showDifferences();
  }
  if (data.a === undefined) return;
  const by = data.pane === 'a' ? -shift : shift;
  send(data.pane === 'a' ? 'b' : 'a', { a: data.a + by, z: data.z + by, dark: data.dark });
  document.documentElement.classList.toggle('dark', data.dark);
});

const SQL = "SELECT ifnull(name, '-') AS key, count(*), total(dur), total(self_dur), percentile(dur, 50), percentile(dur, 99) FROM slice WHERE dur >= 0 GROUP BY 1 ORDER BY 1";

/** @param {string} pane @returns {Promise<Map<string, number[]>>} counts and times by name */
async function ask(pane) {
  const answer = await (await fetch(`${pane}/query?limit=100000&sql=${encodeURIComponent(SQL)}`)).json();
  return new Map((answer.rows ?? []).map((/** @type {(string | number)[]} */ row) => [String(row[0]), row.slice(1).map(Number)]));
}

/** @param {string} tag @param {string} text */
function cell(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

let chosen = '';

/** @param {string} name @param {number[]} old @param {number[]} now */
function line(name, old, now) {
  const row = document.createElement('tr');
  const change = (now[1] - old[1]) / old[1];
  const texts = [name, old[0], now[0], ...[1, 2, 3, 4].flatMap((i) => [duration(old[i]), duration(now[i])]), old[1] ? `${change > 0 ? '+' : ''}${(100 * change).toFixed(1)} %` : 'new'];
  row.append(...texts.map((text) => cell('td', String(text))));
  row.className = 'go';
  row.addEventListener('click', () => {
    chosen = chosen === name ? '' : name;
    for (const pane of ['a', 'b']) send(pane, { name: chosen });
  });
  return row;
}

/** Spans by name, those with the greatest difference of their total time first, as "tracetta diff". */
async function showDifferences() {
  const [old, now] = await Promise.all([ask('a'), ask('b')]);
  const none = [0, 0, 0, 0, 0];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const by = (/** @type {string} */ name) => Math.abs((now.get(name) ?? none)[1] - (old.get(name) ?? none)[1]);
  names.sort((x, y) => by(y) - by(x));
  const head = document.createElement('tr');
  const titles = ['name', 'count old', 'new', 'total old', 'new', 'self old', 'new', 'p50 old', 'new', 'p99 old', 'new', 'total'];
  head.append(...titles.map((title) => cell('th', title)));
  const table = document.createElement('table');
  table.append(head, ...names.slice(0, 300).map((name) => line(name, old.get(name) ?? none, now.get(name) ?? none)));
  body.replaceChildren(table);
}
