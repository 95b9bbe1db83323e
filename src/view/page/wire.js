// Data from the server, or from the page itself (a report).
import { state, change } from './state.js';

/**
 * @typedef {{ a: number, z: number, u16: Uint16Array, u32: Uint32Array, f32: Float32Array }} Answer
 * @typedef {{ answer: Answer, at: number, n: number }} RowBoxes first box as a 32-bit offset; number
 * @typedef {{ columns: string[], rows: (string | number | null)[][], cut?: boolean, error?: string, offset?: number }} Result
 * @typedef {{ cut: boolean, nodes: [number, number, number, number][] }} Flame
 * @typedef {{ count: number, row?: number, name?: number, start?: number, length?: number, item?: number, names: number[] }} Hits
 */

/** Data of a report; null with a server. @type {any} */
export const report = /** @type {any} */ (globalThis).tracettaReport ?? null;

/** @param {string} path */
async function get(path) {
  const response = await fetch(path);
  if (!response.ok && response.status !== 400) throw new Error(await response.text());
  return response;
}

/** @param {string} path @param {Record<string, string | number>} parameters */
async function getJson(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).map(([key, value]) => [key, String(value)]));
  return (await get(`${path}?${query}`)).json();
}

/** @param {string} text */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

/** Reads the description, tracks and names, which then replace those of the state. */
export async function load() {
  const info = report ? report.info : await getJson('info', {});
  /** @type {import('./state.js').Track[]} */
  const tracks = [];
  do {
    /** @type {number[][]} */
    const list = report ? report.tracks : await getJson('tracks', { from: tracks.length });
    if (list.length === 0) break;
    for (const [kind, label, group, row, rows, items, deeper, id, pid, tid, utid] of list)
      tracks.push({ kind, label, group, row, rows, items, deeper, id, pid, tid, utid, index: tracks.length });
  } while (!report && tracks.length < info.tracks);
  const names = await loadNames(info);
  state.info = { ...info, start: BigInt(info.start), end: Math.max(1, Number(info.end)) };
  state.tracks = tracks;
  state.names = names;
  shown.rows = '';
}

/** Names keep their numbers within an epoch. @param {import('./state.js').Info} info */
async function loadNames(info) {
  if (report) return Object.assign([], report.names);
  const names = info.epoch === state.info.epoch ? state.names : [];
  while (names.length < info.names) {
    const list = await getJson('names', { from: names.length });
    if (list.length === 0) break;
    for (const name of list) names.push(name);
  }
  return names;
}

/** Changes with each answer: what was painted of earlier ones is old. */
export const arrived = { n: 0 };

/** Boxes of rows, each with the window it belongs to. @type {Map<number, RowBoxes>} */
export const boxes = new Map();

/** @param {ArrayBuffer} buffer @param {number} a @param {number} z */
function keepAnswer(buffer, a, z) {
  const u32 = new Uint32Array(buffer);
  const answer = { a, z, u16: new Uint16Array(buffer), u32, f32: new Float32Array(buffer) };
  const n = u32[0];
  let at = 4 + 2 * n;
  if (boxes.size > 4000) boxes.clear();
  arrived.n++;
  for (let i = 0; i < n; i++) {
    const row = u32[4 + i];
    const count = u32[4 + n + i];
    boxes.set(row, { answer, at, n: count });
    at += count * (isCounter.has(row) ? 3 : 2);
  }
}

/** Rows whose boxes have 12 bytes. @type {Set<number>} */
export const isCounter = new Set();

let inFlight = false;
let shown = { a: 0, z: 0, rows: '' };

/** True if the answers of the last request cover what is visible. @param {string} rows */
function isCovered(rows) {
  const length = state.z - state.a;
  const had = shown.z - shown.a;
  return rows === shown.rows && shown.a <= state.a && shown.z >= state.z && Math.abs(had / length / 1.5 - 1) < 0.01;
}

/** Packs row numbers as "0-4,9". @param {number[]} rows */
function packRows(rows) {
  const parts = [];
  for (let i = 0; i < rows.length; ) {
    let k = i;
    while (k + 1 < rows.length && rows[k + 1] === rows[k] + 1) k++;
    parts.push(k > i ? `${rows[i]}-${rows[k]}` : `${rows[i]}`);
    i = k + 1;
  }
  return parts.join(',');
}

/**
 * Requests the window around the visible range. One request is in flight; the next one has the
 * range that is visible when its answer has come.
 * @param {number[]} rows @param {number} width pixels
 */
export async function requestWindow(rows, width) {
  if (report) {
    if (!inFlight) {
      inFlight = true;
      keepAnswer(await unpack(report.window), 0, state.info.end);
      change();
    }
    return;
  }
  const packed = packRows(rows);
  if (inFlight || packed === '' || isCovered(packed)) return;
  inFlight = true;
  const margin = (state.z - state.a) / 4;
  const a = Math.floor(state.a - margin);
  const z = Math.ceil(state.z + margin);
  try {
    const response = await get(`lod?a=${a}&z=${z}&w=${Math.round(width * 1.5)}&r=${packed}`);
    keepAnswer(await response.arrayBuffer(), a, z);
    shown = { a, z, rows: packed };
  } catch (error) {
    lost(error);
  } finally {
    inFlight = false;
    change();
  }
}

let isLost = false;

/** Shows that the server has ended. @param {unknown} error */
function lost(error) {
  isLost = true;
  const text = document.getElementById('status');
  if (text) text.textContent = `no connection to tracetta: ${error instanceof Error ? error.message : error}`;
}

export const connection = { isLost: () => isLost };

/** @param {string} sql @param {number} [limit] @returns {Promise<Result>} */
export async function query(sql, limit = 1000) {
  if (report) return report.results[sql] ?? { columns: [], rows: [], error: 'a report has no database: use "tracetta query"', offset: 0 };
  return getJson('query', { sql, limit });
}

/** Finds the hit after or before an item, or from a time on. @param {string} text @param {number} time
 * @param {Item | null} item @param {string} direction @returns {Promise<Hits>} */
export async function search(text, time, item, direction) {
  if (report) {
    const lower = text.toLowerCase();
    const names = state.names.flatMap((name, i) => (name.toLowerCase().includes(lower) ? [i] : []));
    return { count: names.length, names };
  }
  return getJson('search', { q: text, t: Math.round(time), row: item?.row ?? -1, item: item?.item ?? -1, dir: direction });
}

/** @param {number} row @param {number} time @param {number} near @returns {Promise<Item | null>} */
export async function itemAt(row, time, near) {
  if (report) return null;
  return getJson('at', { row, t: Math.round(time), near: Math.ceil(near) });
}
/** @typedef {import('./state.js').Item} Item */

/** @param {number} a @param {number} z @param {number[]} tracks @returns {Promise<Flame>} */
export async function flameOf(a, z, tracks) {
  if (report) return report.flame;
  return getJson('flame', { a: Math.floor(a), z: Math.ceil(z), tracks: tracks.length ? `,${tracks.join(',')},` : '' });
}
