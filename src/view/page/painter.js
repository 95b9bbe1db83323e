// Boxes into pixels. Canvas rectangles cost ten times more than filling an array of pixels.
import { state } from './state.js';
import { colourOf, ground, mix } from './colour.js';

/** @typedef {import('./wire.js').RowBoxes} RowBoxes */

/** Colours by name, plain and folded; made when first used. */
let plain = new Uint32Array(1024);
let folded = new Uint32Array(1024);
let coloursDark = false;

/** @param {number} name */
function prepareName(name) {
  if (coloursDark !== state.dark) {
    plain.fill(0);
    folded.fill(0);
    coloursDark = state.dark;
  }
  if (name >= plain.length) {
    const size = Math.max(name + 1, plain.length * 2);
    const more = new Uint32Array(size);
    const moreFolded = new Uint32Array(size);
    more.set(plain);
    moreFolded.set(folded);
    plain = more;
    folded = moreFolded;
  }
  const colour = colourOf(state.names[name] ?? '');
  plain[name] = colour;
  folded[name] = mix(colour, ground(state.dark).fold, 0.68);
}

/** @param {number} name @param {number} n logarithm of the slices in the box */
function pick(name, n) {
  if (coloursDark !== state.dark || !plain[name]) prepareName(name);
  if ((state.only >= 0 && state.only !== name) || (state.found && !state.found.has(name))) return ground(state.dark).dim;
  return n ? folded[name] : plain[name];
}

/**
 * Paints slices into a band of an image.
 * @param {Uint32Array} pixels @param {number} width @param {number} y @param {number} height
 * @param {RowBoxes} row @param {number} a start of the image in ns @param {number} scale pixels per ns
 */
export function paintSlices(pixels, width, y, height, row, a, scale) {
  const { answer, at, n } = row;
  const { u16, u32 } = answer;
  const step = ((answer.z - answer.a) / 65535) * scale;
  const begin = (answer.a - a) * scale;
  const line = y * width;
  for (let i = 0; i < n; i++) {
    const box = at + 2 * i;
    let x = begin + u16[2 * box] * step;
    let end = x + u16[2 * box + 1] * step;
    if (end < 0 || x > width) continue;
    x = x < 0 ? 0 : Math.round(x);
    end = end > width ? width : Math.round(end);
    if (end <= x) end = x + 1;
    const word = u32[box + 1];
    const colour = pick(word & 0xffffff, word >>> 24);
    const stop = end - x > 3 && end < width ? end - 1 : end; /* a gap between boxes */
    pixels.fill(colour, line + x, line + Math.min(stop, width));
  }
  for (let k = 1; k < height; k++) pixels.copyWithin(line + k * width, line, line + width);
}

/** Lowest and highest value of a counter that is visible. @param {RowBoxes} row @param {number} a @param {number} z */
export function rangeOf(row, a, z) {
  const { answer, at, n } = row;
  const step = (answer.z - answer.a) / 65535;
  let low = 0;
  let high = 0;
  for (let i = 0; i < n; i++) {
    const box = at + 3 * i;
    const x = answer.a + answer.u16[2 * box] * step;
    if (x > z || x + answer.u16[2 * box + 1] * step < a) continue;
    low = Math.min(low, answer.f32[box + 1]);
    high = Math.max(high, answer.f32[box + 2]);
  }
  return { low, high: high > low ? high : low + 1 };
}

/**
 * Paints the values of a counter as an area.
 * @param {Uint32Array} pixels @param {number} width @param {number} y @param {number} height
 * @param {RowBoxes} row @param {number} a @param {number} scale
 */
export function paintCounter(pixels, width, y, height, row, a, scale) {
  const { answer, at, n } = row;
  const { area, curve } = ground(state.dark);
  const { low, high } = rangeOf(row, a, a + width / scale);
  const step = ((answer.z - answer.a) / 65535) * scale;
  const begin = (answer.a - a) * scale;
  /** @param {number} value */
  const lineOf = (value) => y + Math.round(((high - value) / (high - low)) * (height - 2));
  for (let i = 0; i < n; i++) {
    const box = at + 3 * i;
    const x = Math.max(0, Math.round(begin + answer.u16[2 * box] * step));
    const end = Math.min(width, Math.max(x + 1, Math.round(begin + (answer.u16[2 * box] + answer.u16[2 * box + 1]) * step)));
    if (end <= 0 || x >= width) continue;
    const top = lineOf(answer.f32[box + 2]);
    const middle = lineOf(answer.f32[box + 1]);
    for (let k = top; k < y + height - 1; k++) pixels.fill(k <= middle ? curve : area, k * width + x, k * width + end);
  }
}
