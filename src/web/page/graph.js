// graph: the states of a resource as a drawing, layer after layer.
import { svg } from './dom.js';
import { SIGN, duration, spanOf, stateTone } from './model.js';

const BOX = { width: 176, height: 50, across: 36, along: 16, down: 34 };

// What each state needs, without what its other needs need in turn.
function edgesOf(states) {
  const needs = new Map(states.map((s) => [s.name, s.needs ?? []]));
  const before = new Map();
  const allBefore = (name) => {
    if (before.has(name)) return before.get(name);
    const all = new Set();
    before.set(name, all); // a circle ends here
    for (const n of needs.get(name) ?? []) {
      all.add(n);
      for (const b of allBefore(n)) all.add(b);
    }
    return all;
  };
  return new Map(states.map((s) => {
    const own = s.needs?.filter((n) => needs.has(n)) ?? [];
    return [s.name, own.filter((n) => !own.some((o) => o !== n && allBefore(o).has(n)))];
  }));
}

// Layers by the longest way from the beginning. An edge over several of them has a place of its own
// in each between: {name, needs} without a state.
export function layersOf(states) {
  const edges = edgesOf(states);
  const depth = new Map();
  const depthOf = (name, path) => {
    if (depth.has(name)) return depth.get(name);
    if (path.has(name)) return 0;
    path.add(name);
    const d = Math.max(-1, ...edges.get(name).map((n) => depthOf(n, path))) + 1;
    path.delete(name);
    depth.set(name, d);
    return d;
  };
  const layers = [];
  for (const s of states) (layers[depthOf(s.name, new Set())] ??= []).push({ name: s.name, needs: [...edges.get(s.name)], state: s });
  for (let i = layers.length - 1; i > 1; i--)
    for (const item of layers[i])
      item.needs = item.needs.map((need) => {
        if (depth.get(need.split('\n')[0]) >= i - 1) return need;
        const name = `${need}\n${item.name}`;
        layers[i - 1].push({ name, needs: [need] });
        return name;
      });
  const at = new Map();
  for (const layer of layers) {
    const weight = (item, i) => {
      const places = item.needs.filter((n) => at.has(n)).map((n) => at.get(n));
      return places.length ? places.reduce((a, b) => a + b) / places.length : i - (layer.length - 1) / 2;
    };
    const sorted = layer.map((item, i) => [weight(item, i), i, item]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    sorted.forEach(([, , item], i) => {
      layer[i] = item;
      at.set(item.name, i - (layer.length - 1) / 2);
    });
  }
  return layers;
}

function shortened(name, most) {
  return name.length <= most ? name : `${name.slice(0, Math.ceil(most / 2) - 1)}…${name.slice(-Math.floor(most / 2))}`;
}

function secondLine(state) {
  const parts = [state.phase];
  if (state.objects?.total && state.phase !== 'Ready') parts.push(`${state.objects.ready}/${state.objects.total}`);
  const took = duration(spanOf(state));
  if (took) parts.push(took);
  return parts.join(' · ');
}

// A box, which leads to the state's details.
function box(resource, state, x, y, selected) {
  const tone = stateTone(state);
  const label = `${state.name}: ${state.phase}${state.message ? `, ${state.message}` : ''}`;
  return svg('a', { class: `box ${tone}${selected ? ' selected' : ''}`, 'data-key': state.name,
                    href: `#/r/${encodeURIComponent(resource)}/${encodeURIComponent(state.name)}`,
                    'aria-label': label, 'aria-current': selected ? 'true' : null,
                    transform: `translate(${x} ${y})` },
    svg('title', null, label),
    svg('rect', { class: 'body', width: BOX.width, height: BOX.height, rx: 6 }),
    svg('circle', { class: 'dot', cx: 20, cy: BOX.height / 2, r: 9 }),
    svg('text', { class: 'sign', x: 20, y: BOX.height / 2 + 4 }, SIGN[tone]),
    svg('text', { class: 'name', x: 38, y: 21 }, shortened(state.name, 15)),
    svg('text', { class: 'what', x: 38, y: 38 }, secondLine(state)));
}

// Across the page, or, where it is narrow, down it.
// What is a little too wide for `room` is drawn smaller.
export function graph(resource, states, selected, narrow, room) {
  const layers = layersOf(states);
  const most = Math.max(...layers.map((l) => l.length));
  const step = narrow ? [BOX.width + BOX.along, BOX.height + BOX.down] : [BOX.width + BOX.across, BOX.height + BOX.along];
  const place = new Map();
  layers.forEach((layer, i) => layer.forEach((item, j) => {
    const [a, b] = narrow ? [j + (most - layer.length) / 2, i] : [i, j + (most - layer.length) / 2];
    place.set(item.name, [a * step[0] + 1, b * step[1] + 1, item]);
  }));
  const width = (narrow ? most : layers.length) * step[0] - (narrow ? BOX.along : BOX.across) + 2;
  const height = (narrow ? layers.length : most) * step[1] - (narrow ? BOX.down : BOX.along) + 2;
  const scale = width > room && room / width > 0.78 ? room / width : 1;
  const isDone = (name) => states.find((s) => s.name === name.split('\n')[0])?.phase === 'Ready';
  const edges = [];
  for (const { name, needs, state } of layers.flat()) {
    const [x1, y1] = place.get(name);
    for (const need of needs) {
      if (!place.has(need)) continue;
      const [x0, y0] = place.get(need);
      const from = narrow ? [x0 + BOX.width / 2, y0 + BOX.height] : [x0 + BOX.width, y0 + BOX.height / 2];
      const to = narrow ? [x1 + BOX.width / 2, y1] : [x1, y1 + BOX.height / 2];
      const bend = narrow ? [from[0], (from[1] + to[1]) / 2, to[0], (from[1] + to[1]) / 2]
                          : [(from[0] + to[0]) / 2, from[1], (from[0] + to[0]) / 2, to[1]];
      const on = state ? '' : narrow ? `v${BOX.height}` : `h${BOX.width}`; // through its place
      edges.push(svg('path', { class: isDone(need) ? 'edge done' : 'edge', 'data-key': `${need}\n${name}`,
                               d: `M${from}C${bend} ${to}${on}` }));
    }
  }
  return svg('svg', { class: 'graph', width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}`, role: 'group',
                      'aria-label': `States of ${resource}, in the order in which they run` },
    svg('g', { 'aria-hidden': 'true' }, edges),
    svg('g', null, layers.flat().filter((item) => item.state)
      .map(({ state }) => box(resource, state, ...place.get(state.name).slice(0, 2), state.name === selected))));
}
