// The flame graph of a range: widths are times, children below their parent.
import { nameOf, duration, absolute } from './state.js';
import { flameOf, query } from './wire.js';
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

/** @param {HTMLCanvasElement} canvas @param {Node[]} nodes @param {number} root @param {(node: Node) => string} title */
function paint(canvas, nodes, root, title) {
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
    const text = title(node);
    const room = Math.floor((pixels - 8) / 6);
    context.fillStyle = '#1c2026';
    context.fillText(text.length > room ? text.slice(0, room - 1) + '…' : text, node.x * width + 4, y + ROW_HEIGHT / 2);
  }
}

/** The statement for call trees of the samples in a range: callsite, parent, function, samples.
 * @param {import('./state.js').Area} area */
export function samplesQuery(area) {
  const inside = `ts >= ${absolute(area.a)} AND ts < ${absolute(area.z)}`;
  return `WITH RECURSIVE up(id, own, n) AS (
  SELECT callsite_id, count(*), count(*) FROM perf_sample WHERE ${inside} AND callsite_id >= 0 GROUP BY 1
  UNION ALL SELECT c.parent_id, 0, n FROM up JOIN stack_profile_callsite c ON c.id = up.id WHERE c.parent_id >= 0)
SELECT c.id, c.parent_id, coalesce(f.name, printf('%s+0x%x', m.name, f.rel_pc), printf('0x%x', f.rel_pc)) AS name, sum(n) AS samples, sum(own) AS self
FROM up JOIN stack_profile_callsite c ON c.id = up.id JOIN stack_profile_frame f ON f.id = c.frame_id LEFT JOIN stack_profile_mapping m ON m.id = f.mapping
GROUP BY c.id ORDER BY c.depth, samples DESC`;
}

/** @param {import('./wire.js').Result} result rows of samplesQuery @returns {Node[]} */
function buildCalls(result) {
  /** @type {Node[]} */
  const nodes = [{ name: 'all', total: 0, count: 0, depth: 0, parent: -1, children: [], x: 0, width: 1 }];
  /** @type {Map<number, number>} */
  const nodeOf = new Map();
  for (const [id, above, name, samples] of result.rows) {
    const parent = above === null ? 0 : nodeOf.get(Number(above));
    if (parent === undefined) continue;
    const same = nodes[parent].children.find((i) => nodes[i].name === name);
    const at = same ?? nodes.length;
    nodeOf.set(Number(id), at);
    if (same === undefined) {
      nodes[parent].children.push(at);
      nodes.push({ name: String(name), total: 0, count: 0, depth: nodes[parent].depth + 1, parent, children: [], x: 0, width: 0 });
    }
    nodes[at].total += Number(samples);
    nodes[at].count += Number(samples);
  }
  nodes[0].total = nodes[0].count = nodes[0].children.reduce((sum, i) => sum + nodes[i].total, 0);
  return nodes;
}

/** Shows the call trees of the samples in a range. @param {import('./state.js').Area} area @param {HTMLElement} to */
export async function showSamples(area, to) {
  const result = await query(samplesQuery(area), 20000);
  if (result.error) to.textContent = result.error;
  else showNodes(buildCalls(result), to, result.cut === true, (node) => `${node.name}: ${node.count.toLocaleString('en')} samples`, 'no samples here');
}

/** @param {import('./state.js').Area} area @param {HTMLElement} to */
export async function showFlame(area, to) {
  const threads = area.tracks.filter((track) => track.kind === 0).map((track) => track.index);
  const flame = await flameOf(area.a, area.z, threads.length > 400 ? [] : threads);
  showNodes(buildNodes(flame), to, flame.cut, (node) => `${node.name}: ${duration(node.total)}, ${node.count.toLocaleString('en')} slices`, 'no nested slices here');
}

/** Draws a tree, which clicks enlarge.
 * @param {Node[]} nodes @param {HTMLElement} to @param {boolean} isCut @param {(node: Node) => string} title @param {string} none text without nodes */
function showNodes(nodes, to, isCut, title, none) {
  const canvas = document.createElement('canvas');
  const note = document.createElement('div');
  let root = 0;
  note.className = 'note';
  canvas.style.width = '100%';
  to.replaceChildren(note, canvas);
  const show = () => {
    place(nodes, root);
    paint(canvas, nodes, root, title);
    note.textContent = (isCut ? 'cut: too many paths. ' : '') + (nodes.length < 2 ? none : `${title(nodes[root])}. Click to enlarge, click the top to go back.`);
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
