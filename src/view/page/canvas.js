// One frame: minimap, ruler, tree of tracks, boxes, labels, and what is selected.
import { state, change, nameOf, duration, KIND } from './state.js';
import { arrived, boxes, requestWindow } from './wire.js';
import { ground, css, colourOf } from './colour.js';
import { paintSlices, paintCounter, rangeOf } from './painter.js';
import { pane } from './pair.js';
import { lines, total, findLine, lineOfRow, ROW } from './tracks.js';

export const LEFT = 230;
/** The lower of two traces has no minimap and no ruler. */
export const MINIMAP = pane === 'b' ? 0 : 34;
export const TOP = pane === 'b' ? 0 : MINIMAP + 22;
const LABEL_MIN = 44;
const FONT = '11px system-ui, "DejaVu Sans", sans-serif';

export const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById('view'));
const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
/** @type {ImageData | null} */
let image = null;

export const size = { width: 1, height: 1, ratio: 1 };

/** Width of the timeline in CSS pixels. */
export function timelineWidth() {
  return Math.max(1, size.width - LEFT);
}

/** @param {number} time */
export function xOf(time) {
  return LEFT + ((time - state.a) / (state.z - state.a)) * timelineWidth();
}

/** @param {number} x */
export function timeAt(x) {
  return state.a + ((x - LEFT) / timelineWidth()) * (state.z - state.a);
}

export function clampScroll() {
  state.scroll = Math.max(0, Math.min(state.scroll, total - (size.height - TOP) + 20));
}

/** Lines that are visible, and some around them for the request. */
function visibleLines() {
  const first = findLine(state.scroll);
  let end = first;
  while (end < lines.length && lines[end].y < state.scroll + size.height - TOP) end++;
  return { first, end };
}

/** @param {number} first @param {number} end */
function rowsToAsk(first, end) {
  const rows = [];
  for (let i = Math.max(0, first - 12); i < Math.min(lines.length, end + 12); i++) if (lines[i].row >= 0) rows.push(lines[i].row);
  return [...new Set(rows)].sort((a, b) => a - b);
}

/** What a bitmap was made of. @param {unknown[]} old @param {unknown[]} now */
function isSame(old, now) {
  return old.length === now.length && old.every((value, i) => value === now[i]);
}

/** @type {unknown[]} */
let painted = [];

/** @param {number} first @param {number} end */
function paintRows(first, end) {
  const ratio = size.ratio;
  const width = Math.round(timelineWidth() * ratio);
  const height = Math.max(1, Math.round((size.height - TOP) * ratio));
  if (!image || image.width !== width || image.height !== height) image = context.createImageData(width, height);
  const now = [image, lines, arrived.n, state.a, state.z, state.scroll, state.dark, state.only, state.found, state.names.length];
  if (!isSame(painted, now)) paintBands(image, first, end);
  painted = now;
  context.putImageData(image, Math.round(LEFT * ratio), Math.round(TOP * ratio));
}

/** @param {ImageData} to @param {number} first @param {number} end */
function paintBands(to, first, end) {
  const { width, height } = to;
  const ratio = size.ratio;
  const pixels = new Uint32Array(to.data.buffer);
  const scale = width / (state.z - state.a);
  pixels.fill(ground(state.dark).ground);
  for (let i = first; i < end; i++) {
    const line = lines[i];
    const row = boxes.get(line.row);
    if (!line.track || !row) continue;
    const y = Math.round((line.y - state.scroll) * ratio);
    const from = Math.max(0, y);
    const stop = Math.min(height, Math.round((line.y - state.scroll + line.height - 1) * ratio));
    if (stop <= from) continue;
    if (line.track.kind !== KIND.counter) paintSlices(pixels, width, from, stop - from, row, state.a, scale);
    else if (from === y && stop < height) paintCounter(pixels, width, y, stop - y, row, state.a, scale);
  }
}

/** Widths of texts. @type {Map<string, number>} */
const widths = new Map();

/** Text cut to a width. @param {string} text @param {number} width */
function fit(text, width) {
  let known = widths.get(text);
  if (known === undefined) {
    if (widths.size > 20000) widths.clear();
    known = context.measureText(text).width;
    widths.set(text, known);
  }
  if (known <= width) return text;
  const n = Math.floor((text.length * width) / known) - 1;
  return n < 3 ? '' : text.slice(0, n) + '…';
}

/** @param {import('./tracks.js').Line} line @param {number} y */
function drawLabels(line, y) {
  const row = boxes.get(line.row);
  if (!row || !line.track) return;
  if (line.track.kind === KIND.counter) {
    const { high } = rangeOf(row, state.a, state.z);
    const text = String(Number(high.toPrecision(5)));
    context.fillStyle = ground(state.dark).bar;
    context.fillRect(LEFT + 2, y + 2, context.measureText(text).width + 6, 13);
    context.fillStyle = ground(state.dark).faint;
    context.fillText(text, LEFT + 5, y + 9);
    return;
  }
  const { answer, at, n } = row;
  const step = (answer.z - answer.a) / 65535;
  context.fillStyle = ground(state.dark).ink;
  for (let i = 0; i < n; i++) {
    const box = at + 2 * i;
    const word = answer.u32[box + 1];
    if (word >>> 24) continue;
    const start = answer.a + answer.u16[2 * box] * step;
    const x = Math.max(LEFT, xOf(start));
    const end = Math.min(size.width, xOf(start + answer.u16[2 * box + 1] * step));
    if (end - x < LABEL_MIN) continue;
    const text = fit(nameOf(word & 0xffffff), end - x - 8);
    if (text) context.fillText(text, x + 4, y + line.height / 2);
  }
}

/** @param {number} first @param {number} end */
function drawTree(first, end) {
  const colours = ground(state.dark);
  for (let i = first; i < end; i++) {
    const line = lines[i];
    const y = TOP + line.y - state.scroll;
    if (!line.track) {
      context.fillStyle = colours.bar;
      context.fillRect(0, y, size.width, line.height - 2);
      context.fillStyle = colours.text;
      context.font = 'bold ' + FONT;
      context.fillText((state.closed.has(line.key) ? '▸ ' : '▾ ') + line.heading, 8, y + line.height / 2 - 1);
      context.font = FONT;
      continue;
    }
    drawLabels(line, y);
  }
  context.fillStyle = css(colours.ground);
  context.fillRect(0, TOP, LEFT, size.height - TOP);
  for (let i = first; i < end; i++) drawTreeLine(i, first);
}

/** @param {number} i @param {number} first */
function drawTreeLine(i, first) {
  const colours = ground(state.dark);
  const line = lines[i];
  const y = TOP + line.y - state.scroll;
  if (!line.track) {
    context.fillStyle = colours.bar;
    context.fillRect(0, y, LEFT, line.height - 2);
    context.fillStyle = colours.text;
    context.font = 'bold ' + FONT;
    context.fillText(fit((state.closed.has(line.key) ? '▸ ' : '▾ ') + line.heading, LEFT - 14), 8, y + line.height / 2 - 1);
    context.font = FONT;
  } else if (line.first || i === first) {
    const pin = state.pinned.has(line.track.index) ? '★ ' : '';
    const what = line.track.kind === KIND.state ? ' (state)' : '';
    context.fillStyle = line.first ? colours.text : colours.faint;
    context.fillText(fit(pin + (nameOf(line.track.label) || 'track') + what, LEFT - 32), 22, Math.max(TOP + 9, y + Math.min(line.height, ROW) / 2));
    if (line.track.deeper && line.first) {
      context.fillStyle = colours.faint;
      context.fillText(`+${line.track.deeper} deeper`, LEFT - 76, y + 9);
    }
  }
}

/** Distance between marks: 1, 2 or 5 times a power of ten. @param {number} pixels */
function markStep(pixels) {
  const least = ((state.z - state.a) / timelineWidth()) * pixels;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

function drawRuler() {
  const colours = ground(state.dark);
  const step = markStep(110);
  context.fillStyle = colours.bar;
  context.fillRect(0, MINIMAP, size.width, TOP - MINIMAP);
  for (let time = Math.ceil(state.a / step) * step; time < state.z; time += step) {
    const x = Math.round(xOf(time)) + 0.5;
    context.strokeStyle = colours.line;
    context.beginPath();
    context.moveTo(x, MINIMAP + 12);
    context.lineTo(x, size.height);
    context.globalAlpha = 0.6;
    context.stroke();
    context.globalAlpha = 1;
    context.fillStyle = colours.faint;
    if (TOP) context.fillText(duration(time, 9), x + 3, MINIMAP + 10);
  }
  context.fillStyle = colours.text;
  if (TOP) context.fillText(`${duration(state.z - state.a)} visible`, 8, MINIMAP + 10);
}

const minimap = document.createElement('canvas');
/** @type {unknown[]} */
let minimapOf = [];

/** The bitmap of the minimap, painted again when the trace or the size has changed. */
function minimapBitmap() {
  const overview = state.info.overview;
  const now = [overview, size.width, size.ratio, state.dark];
  if (isSame(minimapOf, now)) return minimap;
  minimapOf = now;
  minimap.width = Math.round(timelineWidth() * size.ratio);
  minimap.height = Math.round(MINIMAP * size.ratio);
  const to = /** @type {CanvasRenderingContext2D} */ (minimap.getContext('2d'));
  const highest = overview.reduce((most, n) => Math.max(most, n), 1);
  to.fillStyle = css(ground(state.dark).area);
  overview.forEach((n, i) => {
    const height = n && Math.max(1, Math.sqrt(n / highest) * (minimap.height - 4));
    to.fillRect((i / overview.length) * minimap.width, minimap.height - height, Math.max(1, minimap.width / overview.length), height);
  });
  return minimap;
}

function drawMinimap() {
  const colours = ground(state.dark);
  const width = timelineWidth();
  context.fillStyle = css(colours.ground);
  context.fillRect(0, 0, size.width, MINIMAP);
  context.drawImage(minimapBitmap(), LEFT, 0, width, MINIMAP);
  const end = state.info.end;
  const x = LEFT + (Math.max(0, state.a) / end) * width;
  const z = LEFT + (Math.min(end, state.z) / end) * width;
  context.strokeStyle = colours.accent;
  context.strokeRect(Math.round(x) + 0.5, 1.5, Math.max(2, z - x - 1), MINIMAP - 3);
  for (const loss of state.losses) hatch(LEFT + (loss.ts / end) * width, 0, Math.max(2, (loss.dur / end) * width), MINIMAP);
  context.fillStyle = colours.faint;
  context.fillText(`${duration(end)}, ${state.info.items.toLocaleString('en')} items`, 8, MINIMAP / 2);
}

/** Hatches a gap with lost events. @param {number} x @param {number} y @param {number} width @param {number} height */
function hatch(x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = '#c2410c';
  context.globalAlpha = 0.55;
  context.beginPath();
  for (let k = -height; k < width; k += 6) {
    context.moveTo(x + k, y + height);
    context.lineTo(x + k + height, y);
  }
  context.stroke();
  context.restore();
}

/** @param {number} a @param {number} z @param {number} top @param {number} bottom */
function drawArea(a, z, top, bottom) {
  const colours = ground(state.dark);
  const x = Math.max(LEFT, xOf(a));
  const end = Math.min(size.width, xOf(z));
  context.globalAlpha = 0.14;
  context.fillStyle = colours.accent;
  context.fillRect(x, top, Math.max(1, end - x), bottom - top);
  context.globalAlpha = 1;
  context.fillStyle = colours.accent;
  context.fillRect(x, MINIMAP + 12, 1, size.height);
  context.fillRect(end, MINIMAP + 12, 1, size.height);
  context.fillText(duration(z - a), (x + end) / 2 - 16, MINIMAP + 18);
}

function drawSelection() {
  const colours = ground(state.dark);
  for (const loss of state.losses) {
    const x = xOf(loss.ts);
    const end = xOf(loss.ts + loss.dur);
    if (end >= LEFT && x <= size.width) hatch(Math.max(LEFT, x), MINIMAP, Math.max(2, Math.min(size.width, end) - Math.max(LEFT, x)), size.height - MINIMAP);
  }
  if (state.area) drawArea(state.area.a, state.area.z, Math.max(TOP, TOP + state.area.top - state.scroll), TOP + state.area.bottom - state.scroll);
  const item = state.selected;
  const line = item && lineOfRow(item.row);
  if (item && line) {
    const y = TOP + line.y - state.scroll;
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    context.strokeRect(Math.max(LEFT, xOf(item.start)), y, Math.max(2, Math.min(size.width, xOf(item.start + item.length)) - Math.max(LEFT, xOf(item.start))), line.height - 1);
    context.lineWidth = 1;
  }
  for (const arrow of state.arrows) drawArrow(arrow.from, arrow.to);
}

/** @param {[number, number]} from @param {[number, number]} to times and rows */
function drawArrow(from, to) {
  const [a, z] = [lineOfRow(from[1]), lineOfRow(to[1])];
  if (!a || !z) return;
  const [x, y] = [xOf(from[0]), TOP + a.y + a.height / 2 - state.scroll];
  const [end, stop] = [xOf(to[0]), TOP + z.y + z.height / 2 - state.scroll];
  context.strokeStyle = '#dc2626';
  context.beginPath();
  context.moveTo(x, y);
  context.bezierCurveTo(x + 24, y, end - 24, stop, end, stop);
  context.lineTo(end - 6, stop - 4);
  context.moveTo(end, stop);
  context.lineTo(end - 6, stop + 4);
  context.stroke();
}

/** Fits the canvas to its element and the density of the screen. */
function fitCanvas() {
  const box = canvas.getBoundingClientRect();
  const ratio = globalThis.devicePixelRatio || 1;
  if (box.width === size.width && box.height === size.height && ratio === size.ratio) return;
  Object.assign(size, { width: Math.max(LEFT + 50, box.width), height: Math.max(TOP + 20, box.height), ratio });
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
}

/** Times of frames, for tests: the last 1,000 in ms. @type {number[]} */
export const frames = [];

export function draw() {
  const begin = performance.now();
  fitCanvas();
  clampScroll();
  const { first, end } = visibleLines();
  context.setTransform(1, 0, 0, 1, 0, 0);
  paintRows(first, end);
  context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  context.font = FONT;
  context.textBaseline = 'middle';
  drawTree(first, end);
  drawRuler();
  if (TOP) drawMinimap();
  context.save();
  context.beginPath();
  context.rect(LEFT, MINIMAP, size.width - LEFT, size.height);
  context.clip();
  drawSelection();
  context.restore();
  const waiting = requestWindow(rowsToAsk(first, end), timelineWidth() * size.ratio);
  void waiting;
  frames.push(performance.now() - begin);
  if (frames.length > 1000) frames.shift();
}

/** Paints often into a small image at the start, so that the code is compiled before it is needed. */
export function warmUp() {
  const pixels = new Uint32Array(400 * 20);
  const u32 = new Uint32Array(400);
  const answer = { a: 0, z: 1000, u16: new Uint16Array(u32.buffer), u32, f32: new Float32Array(u32.buffer) };
  for (let i = 0; i < 200; i++) {
    answer.u16[4 * i] = i * 300;
    answer.u16[4 * i + 1] = 200;
  }
  for (let i = 0; i < 200; i++) paintSlices(pixels, 400, 0, 18, { answer, at: 0, n: 200 }, 0, 0.4);
  void colourOf('');
  change();
}

/** The row and box below a point. @param {number} x @param {number} y */
export function hit(x, y) {
  if (x < LEFT || y < TOP) return null;
  const line = lines[findLine(y - TOP + state.scroll)];
  const row = line && line.track && line.y <= y - TOP + state.scroll ? boxes.get(line.row) : undefined;
  if (!line || !line.track || !row) return null;
  const time = timeAt(x);
  const { answer, at, n } = row;
  const step = (answer.z - answer.a) / 65535;
  const wide = line.track.kind === KIND.counter ? 3 : 2;
  const near = ((state.z - state.a) / timelineWidth()) * 2;
  for (let i = 0; i < n; i++) {
    const box = at + wide * i;
    const start = answer.a + answer.u16[2 * box] * step;
    const length = answer.u16[2 * box + 1] * step;
    if (time < start - near / 2 || time > start + length + near / 2) continue;
    const word = answer.u32[box + 1];
    return wide === 3
      ? { line, row: line.row, time, start, length, name: -1, folded: 0, low: answer.f32[box + 1], high: answer.f32[box + 2] }
      : { line, row: line.row, time, start, length, name: word & 0xffffff, folded: word >>> 24, low: 0, high: 0 };
  }
  return { line, row: line.row, time, start: time, length: 0, name: -1, folded: 0, low: NaN, high: NaN };
}
