// The state of the page. Times are nanoseconds after the start of the trace.

export const KIND = { thread: 0, async: 1, cpu: 2, state: 3, counter: 4 };

/**
 * @typedef {{ kind: number, label: number, group: number, row: number, rows: number, items: number,
 *   deeper: number, id: number, pid: number, tid: number, utid: number, index: number }} Track
 * @typedef {{ start: bigint, end: number, names: number, tracks: number, rows: number, items: number,
 *   serial: number, epoch: number, partial: boolean, live: boolean, overview: number[] }} Info
 * @typedef {{ row: number, start: number, length: number, name: number, item?: number }} Item
 * @typedef {{ a: number, z: number, top: number, bottom: number, tracks: Track[] }} Area
 */

export const state = {
  /** @type {Info} */
  info: { start: 0n, end: 1, names: 0, tracks: 0, rows: 0, items: 0, serial: -1, epoch: 0, partial: false, live: false, overview: [] },
  /** @type {Track[]} */
  tracks: [],
  /** @type {string[]} */
  names: [],
  a: 0,
  z: 1,
  /** Times between which the range moves: the trace, or two traces. */
  low: 0,
  high: 1,
  scroll: 0,
  /** Filter of tracks. */
  filter: '',
  /** @type {Set<number>} tracks that are shown first */
  pinned: new Set(),
  /** @type {Set<string>} closed groups */
  closed: new Set(),
  /** @type {Item | null} */
  selected: null,
  /** @type {Area | null} selected range */
  area: null,
  /** @type {Set<number> | null} names that search found; others are grey */
  found: null,
  /** Name shown alone; -1 = all. */
  only: -1,
  /** @type {{ x: number, y: number } | null} */
  pointer: null,
  /** @type {{ ts: number, dur: number }[]} gaps with lost events */
  losses: [],
  /** @type {{ from: [number, number], to: [number, number] }[]} arrows, as (time, row) */
  arrows: [],
  dark: false,
};

/** @type {(() => void)[]} */
const listeners = [];

/** Calls a function before the next frame after each change. @param {() => void} listener */
export function onChange(listener) {
  listeners.push(listener);
}

let isQueued = false;

/** Schedules one frame. */
export function change() {
  if (isQueued) return;
  isQueued = true;
  requestAnimationFrame(() => {
    isQueued = false;
    for (const listener of listeners) listener();
  });
}

/** Sets the visible range, within the trace and at least 10 ns long. @param {number} a @param {number} z */
export function setRange(a, z) {
  const all = state.high - state.low;
  const length = Math.min(Math.max(z - a, 10), all * 1.1 + 10);
  const middle = (a + z) / 2;
  const low = state.low - all * 0.05 - 5;
  const high = state.high + all * 0.05 + 5;
  state.a = Math.min(Math.max(middle - length / 2, low), Math.max(high - length, low));
  state.z = state.a + length;
  change();
}

/** @param {number} id */
export function nameOf(id) {
  return state.names[id] ?? '';
}

/** Absolute time as SQL text. @param {number} time */
export function absolute(time) {
  return String(state.info.start + BigInt(Math.round(time)));
}

/** A cell of SQL as a time of the page. @param {number | string} value */
export function relative(value) {
  return Number(BigInt(value) - state.info.start);
}

const UNITS = /** @type {[number, string][]} */ ([[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]);

/** Duration as text. @param {number} ns @param {number} [digits] */
export function duration(ns, digits = 4) {
  const size = Math.abs(ns);
  const [unit, text] = UNITS.find(([limit]) => size >= limit) ?? UNITS[3];
  const value = ns / unit;
  return (unit === 1 ? String(Math.round(value)) : String(Number(value.toPrecision(digits)))) + ' ' + text;
}

/** Parses "1.5s", "20 ms", "300". Returns NaN if it is not a time. @param {string} text */
export function parseTime(text) {
  const match = /^\s*(-?[\d.]+)\s*(ns|us|µs|ms|s|m|h)?\s*$/.exec(text);
  if (!match) return NaN;
  const units = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
  return Number(match[1]) * units[/** @type {keyof typeof units} */ (match[2] ?? 'ns')];
}
