// Start of the page: loads the trace, connects the header, keeps the view in the address.
import { state, change, onChange, setRange, duration, relative } from './state.js';
import { search, query, report, connection } from './wire.js';
import { draw, warmUp, frames, xOf, TOP, canvas } from './canvas.js';
import { layOut, lines, lineOfRow } from './tracks.js';
import { listen, goTo, showRow } from './input.js';
import { reload } from './reload.js';
import { pane, listenPair, tellPair } from './pair.js';
import { listenPanel, showLog, showSql, showReportTables, showArea } from './panel.js';

const searchBox = /** @type {HTMLInputElement} */ (document.getElementById('search'));
const filterBox = /** @type {HTMLInputElement} */ (document.getElementById('filter'));
const rangeBox = /** @type {HTMLInputElement} */ (document.getElementById('range'));
const hits = /** @type {HTMLElement} */ (document.getElementById('hits'));
const banner = /** @type {HTMLElement} */ (document.getElementById('banner'));
const status = /** @type {HTMLElement} */ (document.getElementById('status'));
const keys = /** @type {HTMLDialogElement} */ (document.getElementById('keys'));

const KEYS = [
  ['W S', 'zoom in, out at the pointer; also Ctrl+wheel'], ['A D', 'pan; also Shift+drag, Shift+wheel'],
  ['drag', 'select a range: tables and flame graph'], ['click', 'slice with its arguments; a track name pins it'],
  ['F', 'show the selection, or everything'], ['0', 'show everything'], ['N', 'show only slices with the selected name'],
  ['/ . ,', 'search, next, previous'], ['L', 'messages of the visible range'], ['Esc', 'clear selection and search'], ['?', 'this list'],
];

/** @param {string} direction */
async function find(direction) {
  const text = searchBox.value.trim();
  if (!text) {
    state.found = null;
    hits.textContent = '';
    change();
    return;
  }
  const from = state.selected ? state.selected.start : direction === 'p' ? state.z : state.a;
  const found = await search(text, from, state.selected, direction);
  state.found = new Set(found.names);
  hits.textContent = found.count.toLocaleString('en');
  if (direction && found.row !== undefined && found.start !== undefined && found.length !== undefined) {
    const start = Number(found.start);
    const length = Number(found.length);
    state.selected = { row: found.row, start, length, name: found.name ?? 0, item: found.item ?? 0 };
    const span = Math.max(state.z - state.a, length * 1.2);
    if (start < state.a || start + length > state.z) setRange(start + length / 2 - span / 2, start + length / 2 + span / 2);
    showRow(found.row);
  }
  change();
}

function saveAddress() {
  const parts = [`t=${Math.round(state.a)},${Math.round(state.z)}`];
  if (state.filter) parts.push(`f=${encodeURIComponent(state.filter)}`);
  if (state.dark) parts.push('dark');
  history.replaceState(null, '', `#${parts.join('&')}`);
}

/** Decodes %41; other texts with % are as they are. @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readAddress() {
  for (const part of location.hash.slice(1).split('&')) {
    const [key, value] = part.split('=');
    if (key === 't' && value) {
      const [a, z] = value.split(',').map(Number);
      if (z > a) setRange(a, z);
    }
    if (key === 'f' && value) filterBox.value = state.filter = decode(value);
    if (key === 'dark') state.dark = true;
  }
}

let saveTimer = 0;

function afterFrame() {
  status.textContent = connection.isLost() ? status.textContent : state.info.live ? 'live' : state.info.partial ? 'reading…' : '';
  if (document.activeElement !== rangeBox) rangeBox.value = `${duration(state.a, 7)} + ${duration(state.z - state.a, 5)}`;
  document.documentElement.classList.toggle('dark', state.dark);
  clearTimeout(saveTimer);
  if (pane) tellPair();
  else saveTimer = Number(setTimeout(saveAddress, 300));
}

function listenHeader() {
  let timer = 0;
  searchBox.addEventListener('input', () => {
    clearTimeout(timer);
    timer = Number(setTimeout(() => void find(''), 150));
  });
  searchBox.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') void find(event.shiftKey ? 'p' : 'n');
  });
  document.getElementById('next')?.addEventListener('click', () => void find('n'));
  document.getElementById('previous')?.addEventListener('click', () => void find('p'));
  filterBox.addEventListener('input', () => {
    state.filter = filterBox.value;
    layOut();
    change();
  });
  rangeBox.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && goTo(rangeBox.value)) rangeBox.blur();
  });
  document.getElementById('theme')?.addEventListener('click', () => {
    state.dark = !state.dark;
    change();
  });
  document.getElementById('sql')?.addEventListener('click', () => void (report ? showReportTables() : showSql()));
  document.getElementById('log')?.addEventListener('click', () => void showLog());
  document.getElementById('help')?.addEventListener('click', () => keys.showModal());
  keys.addEventListener('click', () => keys.close());
  keys.replaceChildren(
    ...KEYS.map(([key, text]) => {
      const line = document.createElement('div');
      const cap = document.createElement('kbd');
      cap.textContent = key;
      line.append(cap, ` ${text}`);
      return line;
    }),
  );
}

async function loadLosses() {
  const result = await query('SELECT ts, dur, count, unit FROM loss ORDER BY ts LIMIT 5000', 5000);
  if (result.error || result.rows.length === 0) return;
  if (banner.hidden) banner.addEventListener('click', () => setRange(state.losses[0].ts - 1e6, state.losses[0].ts + state.losses[0].dur + 1e6));
  state.losses = result.rows.map(([ts, dur]) => ({ ts: relative(ts ?? 0), dur: Number(dur ?? 0) }));
  const known = result.rows.reduce((sum, row) => sum + Number(row[2] ?? 0), 0);
  banner.textContent = `⚠ ${result.rows.length} gaps${known ? `, ${known.toLocaleString('en')} lost` : ''}`;
  banner.title = 'Click for the table';
  banner.hidden = false;
  change();
}

async function start() {
  state.dark = matchMedia('(prefers-color-scheme: dark)').matches;
  if (!report) listenEvents();
  await reload();
  setRange(state.low, state.high);
  catchUp();
  if (pane) listenPair();
  else readAddress();
  layOut();
  onChange(draw);
  onChange(afterFrame);
  listen();
  listenHeader();
  listenPanel();
  warmUp();
  if (report) await showReportTables();
  else await loadLosses();
}

let opened = -1;

function catchUp() {
  if (state.info.serial >= 0 && state.info.serial < opened) void reload().then(loadLosses);
}

/** Loads the trace again when it has grown. */
function listenEvents() {
  const events = new EventSource('events');
  events.addEventListener('end', () => events.close());
  /* The rows may have been replaced between their answer and the start of the events. */
  events.addEventListener('message', ({ data }) => {
    opened = Number(data);
    catchUp();
  });
  events.addEventListener('grown', () => {
    void reload().then(loadLosses);
  });
}

/** Middle of the selected slice on the screen. */
function placeOfSelection() {
  const item = state.selected;
  const line = item && lineOfRow(item.row);
  if (!item || !line) return null;
  const box = canvas.getBoundingClientRect();
  return { x: box.left + xOf(item.start + item.length / 2), y: box.top + TOP + line.y + line.height / 2 - state.scroll };
}

/** For tests. */
Object.assign(globalThis, { tracettaPage: { state, frames, setRange, showArea, connection, lines: () => lines, placeOfSelection } });

start().catch((error) => {
  status.textContent = String(error);
});
