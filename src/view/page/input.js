// Mouse and keys.
import { state, change, setRange, nameOf, duration, parseTime, KIND } from './state.js';
import { itemAt } from './wire.js';
import { canvas, size, hit, timeAt, xOf, timelineWidth, clampScroll, LEFT, TOP, MINIMAP } from './canvas.js';
import { lines, findLine, layOut, lineOfRow } from './tracks.js';
import { showItem, showArea, closePanel } from './panel.js';

const tip = /** @type {HTMLElement} */ (document.getElementById('tip'));
const SNAP = 4; /* pixels */

/** @typedef {{ kind: 'pan' | 'select' | 'map' | 'ruler', x: number, y: number, a: number, z: number, scroll: number, moved: boolean }} Drag */
/** @type {Drag | null} */
let drag = null;

/** @param {number} factor @param {number} at time that keeps its place */
export function zoom(factor, at) {
  const share = (at - state.a) / (state.z - state.a);
  const length = Math.max(10, (state.z - state.a) * factor);
  setRange(at - share * length, at + (1 - share) * length);
}

/** @param {number} share of the visible range */
export function pan(share) {
  const step = (state.z - state.a) * share;
  setRange(state.a + step, state.z + step);
}

/** The nearest edge of a box within 4 pixels, else the time itself. @param {number} x @param {number} y */
function snap(x, y) {
  const found = hit(x, y) ?? null;
  if (found && found.length > 0)
    for (const edge of [found.start, found.start + found.length]) if (Math.abs(xOf(edge) - x) <= SNAP) return Math.round(edge);
  return timeAt(x);
}

/** @param {PointerEvent | WheelEvent} event */
function pointOf(event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** @param {number} x */
function moveMap(x) {
  const middle = ((x - LEFT) / timelineWidth()) * state.info.end;
  const half = (state.z - state.a) / 2;
  setRange(middle - half, middle + half);
}

/** @param {number} y */
function clickTree(y) {
  const line = lines[findLine(y - TOP + state.scroll)];
  if (!line) return;
  if (!line.track) {
    if (state.closed.has(line.key)) state.closed.delete(line.key);
    else state.closed.add(line.key);
  } else if (state.pinned.has(line.track.index)) state.pinned.delete(line.track.index);
  else state.pinned.add(line.track.index);
  layOut();
  change();
}

/** @param {number} x @param {number} y */
async function clickBox(x, y) {
  const found = hit(x, y);
  if (!found || !found.line.track) return;
  const near = ((state.z - state.a) / timelineWidth()) * 3;
  const item = await itemAt(found.row, found.time, near);
  state.selected = item;
  state.arrows = [];
  if (item) await showItem(item, found.line.track);
  change();
}

/** @param {PointerEvent} event */
function begin(event) {
  const { x, y } = pointOf(event);
  canvas.focus();
  canvas.setPointerCapture(event.pointerId);
  const isPan = event.button === 1 || event.shiftKey;
  const kind = y < MINIMAP ? 'map' : y < TOP ? 'ruler' : isPan ? 'pan' : 'select';
  if (x < LEFT && y >= TOP) {
    clickTree(y);
    return;
  }
  drag = { kind, x, y, a: state.a, z: state.z, scroll: state.scroll, moved: false };
  if (kind === 'map') moveMap(x);
}

/** @param {number} x @param {number} y */
function moveDrag(x, y) {
  if (!drag) return;
  drag.moved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3;
  if (!drag.moved) return;
  const shift = ((x - drag.x) / timelineWidth()) * (drag.z - drag.a);
  if (drag.kind === 'map') moveMap(x);
  else if (drag.kind === 'pan') {
    setRange(drag.a - shift, drag.z - shift);
    state.scroll = drag.scroll - (y - drag.y);
    clampScroll();
  } else selectArea(x, y);
}

/** @param {number} x @param {number} y */
function selectArea(x, y) {
  if (!drag) return;
  const [a, z] = [snap(drag.x, drag.y), snap(x, y)].sort((p, q) => p - q);
  const isAll = drag.kind === 'ruler';
  const top = isAll ? 0 : Math.min(drag.y, y) - TOP + state.scroll;
  const bottom = isAll ? 1e9 : Math.max(drag.y, y) - TOP + state.scroll;
  const tracks = new Set(lines.filter((line) => line.track && line.y < bottom && line.y + line.height > top).map((line) => line.track));
  state.area = { a, z, top, bottom: Math.min(bottom, 1e7), tracks: /** @type {import('./state.js').Track[]} */ ([...tracks]) };
  change();
}

/** @param {PointerEvent} event */
async function finish(event) {
  const { x, y } = pointOf(event);
  const done = drag;
  drag = null;
  if (!done) return;
  if (done.moved && (done.kind === 'select' || done.kind === 'ruler')) {
    if (state.area) await showArea(state.area);
  } else if (!done.moved && done.kind === 'select') await clickBox(x, y);
  else if (!done.moved && done.kind === 'ruler') {
    state.area = null;
    change();
  }
}

/** @param {number} x @param {number} y */
function showTip(x, y) {
  const found = drag ? null : hit(x, y);
  tip.hidden = !found || (found.name < 0 && Number.isNaN(found.high));
  if (!found || tip.hidden) return;
  const isCounter = found.line.track?.kind === KIND.counter;
  const title = document.createElement('b');
  title.textContent = isCounter ? nameOf(found.line.track?.label ?? 0) : nameOf(found.name) || '(no name)';
  const value = found.low === found.high ? `${found.high}` : `${found.low} to ${found.high}`;
  const text = isCounter
    ? value
    : found.folded
      ? `about ${(2 ** found.folded).toLocaleString('en')} slices within ${duration(found.length)}; this is the longest`
      : duration(found.length);
  tip.replaceChildren(title, text);
  tip.style.left = `${Math.min(x + 14, size.width - tip.offsetWidth - 6)}px`;
  tip.style.top = `${Math.min(y + 16, size.height - tip.offsetHeight - 6)}px`;
}

/** @param {WheelEvent} event */
function wheel(event) {
  event.preventDefault();
  const { x, y } = pointOf(event);
  const unit = event.deltaMode === 1 ? 30 : 1;
  if (event.ctrlKey || event.metaKey || y < TOP) zoom(1.0015 ** (event.deltaY * unit), timeAt(Math.max(x, LEFT)));
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan(((event.deltaX || event.deltaY) * unit) / timelineWidth());
  else {
    state.scroll += event.deltaY * unit;
    clampScroll();
    change();
  }
}

/** Shows the selected slice, or the selected range, in full. */
function focusSelection() {
  const item = state.selected;
  if (item) {
    const margin = Math.max(item.length * 0.1, 50);
    setRange(item.start - margin, item.start + item.length + margin);
    showRow(item.row);
  } else if (state.area) setRange(state.area.a, state.area.z);
  else setRange(state.low, state.high);
}

/** Scrolls to a row. @param {number} row */
export function showRow(row) {
  const line = lineOfRow(row);
  if (!line) return;
  const room = size.height - TOP;
  if (line.y < state.scroll || line.y + line.height > state.scroll + room) state.scroll = line.y - room / 3;
  clampScroll();
  change();
}

/** @param {KeyboardEvent} event */
function key(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (/^(INPUT|TEXTAREA)$/.test(target.tagName)) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = state.pointer && state.pointer.x > LEFT ? timeAt(state.pointer.x) : (state.a + state.z) / 2;
  /** @type {Record<string, () => void>} */
  const actions = {
    w: () => zoom(0.75, at), s: () => zoom(1 / 0.75, at), a: () => pan(-0.15), d: () => pan(0.15),
    ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
    ArrowUp: () => { state.scroll -= 60; }, ArrowDown: () => { state.scroll += 60; },
    PageUp: () => { state.scroll -= size.height - TOP; }, PageDown: () => { state.scroll += size.height - TOP; },
    f: focusSelection, '0': () => setRange(state.low, state.high),
    '/': () => document.getElementById('search')?.focus(),
    '.': () => document.getElementById('next')?.click(), ',': () => document.getElementById('previous')?.click(),
    n: () => { state.only = state.only < 0 && state.selected ? state.selected.name : -1; },
    l: () => document.getElementById('log')?.click(),
    '?': () => document.getElementById('help')?.click(),
    Escape: () => { state.area = null; state.selected = null; state.arrows = []; state.found = null; state.only = -1; closePanel(); },
  };
  const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
  clampScroll();
  change();
}

/** Parses "1.5s 2s" and "1.5s + 20ms". @param {string} text */
export function goTo(text) {
  const plus = text.includes('+');
  const [a, z] = text.split(plus ? '+' : /\s+(?=[-\d.])|\s*to\s*|\s*\.\.\s*/).map(parseTime);
  if (Number.isNaN(a)) return false;
  if (z === undefined || Number.isNaN(z)) {
    const half = (state.z - state.a) / 2;
    setRange(a - half, a + half);
  } else if (plus || z > a) setRange(a, plus ? a + z : z);
  else return false;
  return true;
}

export function listen() {
  canvas.addEventListener('pointerdown', begin);
  canvas.addEventListener('pointermove', (event) => {
    state.pointer = pointOf(event);
    moveDrag(state.pointer.x, state.pointer.y);
    showTip(state.pointer.x, state.pointer.y);
  });
  canvas.addEventListener('pointerup', (event) => void finish(event));
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('wheel', wheel, { passive: false });
  canvas.addEventListener('dblclick', focusSelection);
  document.addEventListener('keydown', key);
  addEventListener('resize', change);
}
