// One of two traces, shown in a frame of compare.html: both frames show the same range.
import { state, change, setRange } from './state.js';

/** 'a' = the upper trace, 'b' = the lower, '' = alone. */
export const pane = /^\/([ab])\//.exec(location.pathname)?.[1] ?? '';

let sent = '';

/** @param {Record<string, unknown>} message */
const send = (message) => parent.postMessage({ pane, ...message }, location.origin);

/** Sends the visible range after each frame that changed it. */
export function tellPair() {
  const range = `${state.a} ${state.z} ${state.dark}`;
  if (range === sent) return;
  sent = range;
  send({ a: state.a, z: state.z, dark: state.dark });
}

/** Sends the range of the trace. */
export function tellRange() {
  send({ start: String(state.info.start), end: state.info.end });
}

export function listenPair() {
  document.documentElement.classList.add(`pane-${pane}`);
  addEventListener('message', ({ data, origin }) => {
    if (origin !== location.origin) return;
    const isAll = state.a <= state.low && state.z >= state.high;
    if (data.low !== undefined) {
      [state.low, state.high] = [data.low, data.high];
      if (isAll) setRange(state.low, state.high);
    }
    if (data.a !== undefined) {
      setRange(data.a, data.z);
      state.dark = data.dark;
      sent = `${state.a} ${state.z} ${state.dark}`;
    }
    if (data.name !== undefined) {
      const names = state.names.flatMap((name, i) => (name === data.name ? [i] : []));
      state.found = data.name === '' ? null : new Set(names);
    }
    change();
  });
  tellRange();
}
