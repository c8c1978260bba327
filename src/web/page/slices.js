// slices: each GPU's memory slices as they lie, who holds them, and who waits. What would make room comes
// from the server, which asks as `slipway slices` does.
import { h, svg } from './dom.js';
import { duration, time } from './model.js';
import { now, store } from './store.js';

const UNIT = 64;
const HEIGHT = 40;
const TONES = { inUse: 'good', created: 'busy', processing: 'busy', allocated: 'busy', staged: 'idle', kept: 'idle', orphaned: 'warn' };

const times = (text) => text.replace(/^(\d+) x /, '$1 × ');

function holder(slice) {
  return slice.keptFor ? `kept for ${slice.keptFor}` : slice.pods.join(', ') || slice.claim;
}

function sliceBox(slice) {
  const { start, size, profile } = slice;
  const where = size > 1 ? `memory slices ${start} to ${start + size - 1}` : `memory slice ${start}`;
  const text = `${profile} of ${holder(slice)}, ${slice.state}, ${where}`;
  const names = slice.pods.map((p) => p.split('/')[1]).join(', ') || holder(slice);
  const most = Math.floor((size * UNIT - 10) / 7.4);
  const cut = (s) => (s.length > most ? `${s.slice(0, Math.max(1, most - 1))}…` : s);
  return svg('g', { class: `slice ${TONES[slice.state] ?? 'idle'}`, 'data-key': `${slice.claim} ${start}`, role: 'listitem', 'aria-label': text },
    svg('title', null, text, slice.claim ? ` (${slice.claim})` : ''),
    svg('rect', { x: start * UNIT + 2, y: 2, width: size * UNIT - 4, height: HEIGHT - 4, rx: 4 }),
    svg('text', { class: 'name', x: start * UNIT + 8, y: 17 }, cut(profile)),
    svg('text', { class: 'what', x: start * UNIT + 8, y: 32 }, cut(names)));
}

function gpuElement(key, gpu) {
  const size = gpu.memorySlices;
  const free = [];
  for (let i = 0; i < size; i++)
    free.push(svg('rect', { class: 'free', x: i * UNIT + 2, y: 2, width: UNIT - 4, height: HEIGHT - 4, rx: 4 }));
  const used = gpu.slices.reduce((n, s) => n + s.size, 0);
  const name = gpu.uuid || `GPU ${gpu.gpu}`;
  return h('div', { class: 'gpu', 'data-key': key },
    h('p', null, h('strong', null, gpu.product || 'GPU'), ' ', h('span', { class: 'quiet mono' }, name), ' ',
      gpu.healthy ? null : h('span', { class: 'tag bad' }, 'unhealthy'),
      h('span', { class: 'quiet' }, ` ${used} of ${size} memory slices taken, by ${gpu.by}`)),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Slices of ${name}` },
      svg('svg', { class: 'slices', width: size * UNIT, height: HEIGHT, viewBox: `0 0 ${size * UNIT} ${HEIGHT}`, role: 'list',
                   'aria-label': `Memory slices of ${name}` },
        svg('g', { 'aria-hidden': 'true' }, free), gpu.slices.map(sliceBox))));
}

// ---- who waits ---------------------------------------------------------------------------------

// What would make room, a line for each.
function whyLines(pod) {
  const moves = (pod.move ?? []).map((m) => `would have to move: ${m.pod} to ${m.to}${m.mayMove ? '' : ' (it has no slipway.dev/may-move)'}`);
  return [
    pod.why ? `${pod.node ? `node ${pod.node}: ` : ''}${pod.why}` : '',
    ...moves,
    pod.evict?.length ? `would be evicted: ${pod.evict.join(', ')}` : '',
  ].filter(Boolean);
}

function waitingTable() {
  const rows = [...store.waiting].sort((a, b) => time(a[1].since) - time(b[1].since));
  if (!rows.length) return h('p', { class: 'quiet' }, 'No pod waits for a slice.');
  return h('div', { class: 'scroll' }, h('table', null,
    h('thead', null, h('tr', null, ['Pod', 'Asks for', 'Waits', 'Why'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, rows.map(([key, pod]) => h('tr', { 'data-key': key },
      h('th', { scope: 'row', class: 'mono' }, key),
      h('td', null, pod.asksFor.map(times).join(', ')),
      h('td', null, duration(now() - time(pod.since))),
      h('td', { class: 'wrap' }, pod.message, whyLines(pod).map((line) => h('div', { class: 'quiet' }, line))))))));
}

export function slicesView() {
  const nodes = new Map();
  const at = (name) => nodes.get(name) ?? nodes.set(name, { gpus: [] }).get(name);
  for (const [key, a] of store.accelerator) at(key.split('/')[1]).unready = a.unready;
  for (const [key, gpu] of store.gpu) at(gpu.node).gpus.push([key, gpu]);
  const order = ([, a], [, b]) => a.gpu - b.gpu;
  return [
    h('section', { 'aria-labelledby': 'waiting' }, h('h2', { id: 'waiting' }, 'Waiting for a slice'), waitingTable()),
    h('section', { 'aria-labelledby': 'gpus' }, h('h2', { id: 'gpus' }, 'GPUs'),
      nodes.size ? null : h('p', { class: 'quiet' },
        'No node reports GPUs that can be sliced. slipway-device-plugin publishes them as ResourceSlices or NodeAccelerators.'),
      [...nodes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, node]) => h('article', { class: 'card', 'data-key': name },
        h('h3', null, name, ' ', node.unready ? h('span', { class: 'tag bad' }, node.unready) : null),
        node.gpus.sort(order).map(([key, gpu]) => gpuElement(key, gpu))))),
  ];
}
