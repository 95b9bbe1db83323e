// Loads the trace again when it has grown, and keeps what the user sees.
import { state, change, setRange, KIND } from './state.js';
import { arrived, boxes, load } from './wire.js';
import { layOut } from './tracks.js';
import { pane, tellRange } from './pair.js';

/** @typedef {import('./state.js').Track} Track */

/** Tracks by a key that stays the same. The ids of counters do not: they follow those of all slices.
 * @param {Track[]} tracks */
function byKey(tracks) {
  /** @type {Map<string, Track>} */
  const keyed = new Map();
  for (const track of tracks) {
    const { kind, id, pid, label, group, utid } = track;
    if (kind !== KIND.counter) {
      keyed.set(`${kind} ${id} ${pid} ${kind === KIND.async ? label : ''}`, track);
      continue;
    }
    let n = 0;
    while (keyed.has(`${kind} ${label} ${group} ${utid} ${n}`)) n++;
    keyed.set(`${kind} ${label} ${group} ${utid} ${n}`, track);
  }
  return keyed;
}

/** The track that each earlier track has become. @param {Track[]} before */
function matchTracks(before) {
  const tracks = byKey(state.tracks);
  /** @type {Map<Track, Track>} */
  const matched = new Map();
  for (const [key, track] of byKey(before)) {
    const now = tracks.get(key);
    if (now) matched.set(track, now);
  }
  return matched;
}

/** New rows by their old numbers. @param {Map<Track, Track>} tracks */
function mapRows(tracks) {
  /** @type {Map<number, number>} */
  const rows = new Map();
  for (const [track, now] of tracks) {
    for (let i = 0; i < Math.min(track.rows, now.rows); i++) rows.set(track.row + i, now.row + i);
  }
  return rows;
}

/** Moves what is shown to the new rows. @param {Track[]} before @param {number} shift of times in ns */
function keepShown(before, shift) {
  const tracks = matchTracks(before);
  const rows = mapRows(tracks);
  const old = [...boxes];
  boxes.clear();
  for (const [row, made] of old) {
    const now = rows.get(row);
    if (now !== undefined && shift === 0) boxes.set(now, made);
  }
  state.pinned = new Set([...state.pinned].flatMap((i) => tracks.get(before[i])?.index ?? []));
  if (state.selected) {
    const row = rows.get(state.selected.row);
    state.selected = row === undefined ? null : { ...state.selected, row, start: state.selected.start + shift };
  }
  state.arrows = [];
  if (state.area) state.area = { ...state.area, a: state.area.a + shift, z: state.area.z + shift, tracks: state.area.tracks.flatMap((track) => tracks.get(track) ?? []) };
}

/** The range that follows the end of the trace if the user has not moved away from it.
 * @param {number} end before @param {number} shift */
function follow(end, shift) {
  const [a, z] = [state.a, state.z];
  const isAll = a <= state.low && z >= state.high;
  if (!pane) [state.low, state.high] = [0, state.info.end];
  else tellRange();
  if (isAll) setRange(state.low, state.high);
  else if (state.info.live && z >= end) setRange(a + state.info.end - end, z + state.info.end - end);
  else setRange(a + shift, z + shift);
}

let isLoading = false;
let isAgain = false;

export async function reload() {
  isAgain = true;
  if (isLoading) return;
  isLoading = true;
  while (isAgain) {
    isAgain = false;
    const { tracks, info } = state;
    await load();
    const shift = Number(info.start - state.info.start);
    if (info.epoch !== state.info.epoch) {
      boxes.clear();
      state.found = null;
      state.only = -1;
      state.selected = null;
    }
    arrived.n++;
    keepShown(tracks, info.items ? shift : 0);
    layOut();
    follow(info.end, info.items ? shift : 0);
    change();
  }
  isLoading = false;
}
