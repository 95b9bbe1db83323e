// The list of what is visible: headings of groups and rows, from top to bottom.
import { state, nameOf, KIND } from './state.js';
import { isCounter } from './wire.js';

export const ROW = 18;
export const COUNTER = 34;
export const HEADING = 22;

/**
 * @typedef {import('./state.js').Track} Track
 * @typedef {{ y: number, height: number, track: Track | null, row: number, heading: string, first: boolean, key: string }} Line
 *   a heading (track is null) or a row; `first`: first row of its track; `key`: of the group
 */

/** @type {Line[]} */
export let lines = [];
export let total = 0;

/** @param {Track} track */
export function groupOf(track) {
  return track.kind === KIND.cpu ? 'CPUs' : nameOf(track.group) || 'Threads';
}

/** @param {Track} track @param {string} filter */
function isShown(track, filter) {
  return filter === '' || nameOf(track.label).toLowerCase().includes(filter) || groupOf(track).toLowerCase().includes(filter);
}

/** @param {Track} track @param {string} key */
function addTrack(track, key) {
  for (let i = 0; i < track.rows; i++) {
    const height = track.kind === KIND.counter ? COUNTER : ROW;
    lines.push({ y: total, height, track, row: track.row + i, heading: '', first: i === 0, key });
    total += height;
  }
  total += 3;
}

/** @param {string} heading @param {string} key */
function addHeading(heading, key) {
  lines.push({ y: total, height: HEADING, track: null, row: -1, heading, first: true, key });
  total += HEADING;
}

/** Lays all tracks out again: after loading, filtering, pinning or closing. */
export function layOut() {
  const filter = state.filter.trim().toLowerCase();
  lines = [];
  total = 4;
  isCounter.clear();
  for (const track of state.tracks) if (track.kind === KIND.counter) for (let i = 0; i < track.rows; i++) isCounter.add(track.row + i);
  if (state.pinned.size > 0) {
    addHeading('Pinned', '*');
    for (const track of state.tracks) if (state.pinned.has(track.index)) addTrack(track, '*');
  }
  let last = '';
  for (const track of state.tracks) {
    if (state.pinned.has(track.index) || !isShown(track, filter)) continue;
    const key = `${groupOf(track)}`;
    if (key !== last) addHeading(groupOf(track), key);
    last = key;
    if (!state.closed.has(key)) addTrack(track, key);
  }
}

/** First line that ends below a height. @param {number} y */
export function findLine(y) {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].y + lines[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {number} row */
export function lineOfRow(row) {
  return lines.find((line) => line.row === row) ?? null;
}
