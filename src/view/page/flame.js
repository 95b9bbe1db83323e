// The flame graph of a range: widths are times, children below their parent.
import { nameOf, duration } from './state.js';
import { flameOf } from './wire.js';
import { colourOf, css } from './colour.js';

const ROW_HEIGHT = 17;

/**
 * @typedef {{ name: string, total: number, count: number, depth: number, parent: number, children: number[], x: number, width: number }} Node
 */

/** @param {import('./wire.js').Flame} flame @returns {Node[]} */
function buildNodes(flame) {
  /** @type {Node[]} */
  const nodes = [{ name: 'all', total: 0, count: 0, depth: 0, parent: -1, children: [], x: 0, width: 1 }];
  for (const [name, parent, total, count] of flame.nodes) {
    nodes[parent].children.push(nodes.length);
    nodes.push({ name: nameOf(name), total: Number(total), count: Number(count), depth: nodes[parent].depth + 1, parent, children: [], x: 0, width: 0 });
  }
  nodes[0].total = nodes[0].children.reduce((sum, i) => sum + nodes[i].total, 0);
  return nodes;
}

/** Gives nodes their place below a root. @param {Node[]} nodes @param {number} root */
function place(nodes, root) {
  for (const node of nodes) node.width = 0;
  Object.assign(nodes[root], { x: 0, width: 1 });
  const stack = [root];
  for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
    const node = nodes[i];
    const sum = Math.max(node.total, node.children.reduce((all, k) => all + nodes[k].total, 0), 1);
    let x = node.x;
    for (const k of node.children.sort((a, b) => nodes[b].total - nodes[a].total)) {
      nodes[k].x = x;
      nodes[k].width = (nodes[k].total / sum) * node.width;
      x += nodes[k].width;
      stack.push(k);
    }
  }
}

/** @param {HTMLCanvasElement} canvas @param {Node[]} nodes @param {number} root */
function paint(canvas, nodes, root) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const depths = Math.max(...nodes.map((node) => (node.width > 0 ? node.depth - nodes[root].depth : 0))) + 1;
  canvas.style.height = `${depths * ROW_HEIGHT}px`;
  canvas.width = width * ratio;
  canvas.height = Math.min(16000, depths * ROW_HEIGHT * ratio);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.scale(ratio, ratio);
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  for (const node of nodes) {
    const pixels = node.width * width;
    if (pixels < 0.5) continue;
    const y = (node.depth - nodes[root].depth) * ROW_HEIGHT;
    context.fillStyle = css(colourOf(node.name));
    context.fillRect(node.x * width, y, Math.max(1, pixels - 1), ROW_HEIGHT - 1);
    if (pixels < 40) continue;
    const text = `${node.name}  ${duration(node.total)}`;
    const room = Math.floor((pixels - 8) / 6);
    context.fillStyle = '#1c2026';
    context.fillText(text.length > room ? text.slice(0, room - 1) + '…' : text, node.x * width + 4, y + ROW_HEIGHT / 2);
  }
}

/** @param {import('./state.js').Area} area @param {HTMLElement} to */
export async function showFlame(area, to) {
  const threads = area.tracks.filter((track) => track.kind === 0).map((track) => track.index);
  const flame = await flameOf(area.a, area.z, threads.length > 400 ? [] : threads);
  const nodes = buildNodes(flame);
  const canvas = document.createElement('canvas');
  const note = document.createElement('div');
  let root = 0;
  note.className = 'note';
  canvas.style.width = '100%';
  to.replaceChildren(note, canvas);
  const title = (/** @type {Node} */ node) => `${node.name}: ${duration(node.total)}, ${node.count.toLocaleString('en')} slices`;
  const show = () => {
    place(nodes, root);
    paint(canvas, nodes, root);
    note.textContent = (flame.cut ? 'cut: too many paths. ' : '') + (nodes.length < 2 ? 'no nested slices here' : `${title(nodes[root])}. Click to enlarge, click the top to go back.`);
  };
  /** @param {MouseEvent} event */
  const find = (event) => {
    const x = event.offsetX / canvas.clientWidth;
    const depth = Math.floor(event.offsetY / ROW_HEIGHT) + nodes[root].depth;
    return nodes.findIndex((node) => node.depth === depth && node.width > 0 && x >= node.x && x < node.x + node.width);
  };
  canvas.addEventListener('click', (event) => {
    const i = find(event);
    if (i >= 0) root = i === root ? Math.max(0, nodes[root].parent) : i;
    show();
  });
  canvas.addEventListener('mousemove', (event) => {
    const i = find(event);
    canvas.title = i >= 0 ? title(nodes[i]) : '';
  });
  show();
}
