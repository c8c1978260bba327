// matrix: nodes and states as a table of which only the rows in sight exist.
import { h } from './dom.js';
import { store } from './store.js';

const LINE = 28;
const PREFIX = 'specialresource.openshift.io/state-';
export const GROUPS = { '': 'nothing', pool: 'pool', kernelVersion: 'kernel', osImage: 'operating system' };

// What is shown of which nodes: {columns, rows: [{group, n, ready} | {name, node}], n, nReady}.
export function matrixOf(resource, { filter, group, unready }) {
  const columns = (resource.states ?? []).map((s) => ({
    name: s.name, label: (s.label ?? '').slice(PREFIX.length), missing: new Set(s.nodes?.missing ?? []),
    nodes: s.nodes ?? {},
    open: (s.nodes?.labelled ?? 0) < (s.nodes?.total ?? 0) }));
  const upgrade = new Map((resource.upgrade?.nodes ?? []).map((n) => [n.name, n]));
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map();
  let n = 0;
  let nShown = 0;
  for (const [key, node] of store.node) {
    const name = key.slice(1);
    n++;
    const text = `${name} ${node.pool ?? ''} ${node.kernelVersion ?? ''} ${node.osImage ?? ''}`.toLowerCase();
    if (!words.every((w) => text.includes(w))) continue;
    const concerns = columns.some((c) => node.states[c.label] || c.missing.has(name));
    const lacks = columns.some((c) => c.open && node.states[c.label] !== 'Ready');
    const isDone = !(concerns && lacks) && !node.down && !upgrade.has(name);
    if (unready && isDone) continue;
    const of = group ? node[group] ?? 'unknown' : '';
    if (!groups.has(of)) groups.set(of, []);
    groups.get(of).push({ name, node, isDone, step: upgrade.get(name) });
    nShown++;
  }
  const rows = [];
  for (const of of [...groups.keys()].sort()) {
    const members = groups.get(of).sort((a, b) => (a.name < b.name ? -1 : 1));
    if (group) rows.push({ group: of, n: members.length, ready: members.filter((m) => m.isDone).length });
    for (const m of members) rows.push(m);
  }
  return { columns, rows, n, nShown };
}

function cell(column, row) {
  const value = row.node.states[column.label];
  if (value === 'Ready') return ['good', '✓', 'ready'];
  if (value) return ['warn', '!', value];
  if (column.missing.has(row.name)) return ['busy', '…', 'not yet'];
  return ['idle', '·', 'no label'];
}

function rowElement(matrix, i) {
  const row = matrix.rows[i];
  if (row.group !== undefined)
    return h('div', { role: 'row', class: 'group', 'aria-rowindex': i + 2 },
      h('span', { role: 'rowheader' }, row.group), h('span', { role: 'cell', class: 'quiet' }, `${row.ready} of ${row.n} done`));
  const flags = [row.node.down ? 'not ready' : '', row.node.cordoned ? 'cordoned' : '',
                 row.step ? `${row.step.step ?? 'upgrade'}` : ''].filter(Boolean).join(', ');
  const el = h('div', { role: 'row', class: 'node', 'aria-rowindex': i + 2 },
    h('span', { role: 'rowheader', class: 'mono', title: `${row.name}\n${row.node.kernelVersion ?? ''}\n${row.node.osImage ?? ''}` }, row.name),
    matrix.columns.map((c) => {
      const [tone, sign, text] = cell(c, row);
      return h('span', { role: 'cell', class: `cell ${tone}`, 'aria-label': `${c.name}: ${text}`, title: `${c.name}: ${text}` }, sign);
    }),
    h('span', { role: 'cell', class: 'flags', title: row.step?.message },
      flags ? h('strong', null, `${flags}  `) : null, [row.node.pool, row.node.kernelVersion].filter(Boolean).join(' · ')));
  return el;
}

// Bring the table at `el` up to date: a heading, and the rows that are in sight.
export function drawMatrix(el, matrix) {
  let body = el.querySelector('.rows');
  const columns = `minmax(11rem, 22rem) repeat(${matrix.columns.length}, 2rem) minmax(8rem, 1fr)`;
  if (!body) {
    el.append(h('div', { class: 'matrix-head', role: 'row', 'aria-rowindex': 1 }), h('div', { class: 'rows', role: 'rowgroup' }));
    body = el.lastChild;
    let asked = false;
    el.addEventListener('scroll', () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        drawRows(el, el.matrix);
      });
    }, { passive: true });
  }
  const head = el.firstChild;
  head.replaceChildren(h('span', { role: 'columnheader' }, `${matrix.nShown} of ${matrix.n} nodes`),
    ...matrix.columns.map((c) => h('span', { role: 'columnheader', class: 'state', title: `${c.name}: ${c.nodes.labelled ?? 0} of ${c.nodes.total ?? 0} nodes` },
      h('span', null, c.name))),
    h('span', { role: 'columnheader' }, ''));
  head.style.gridTemplateColumns = columns;
  el.setAttribute('aria-rowcount', matrix.rows.length + 1);
  el.matrix = matrix;
  el.columns = columns;
  body.style.height = `${matrix.rows.length * LINE}px`;
  el.drawn = null;
  drawRows(el, matrix);
}

function drawRows(el, matrix) {
  const body = el.querySelector('.rows');
  const first = Math.max(0, Math.floor((el.scrollTop - body.offsetTop) / LINE) - 8);
  const last = Math.min(matrix.rows.length, first + Math.ceil(el.clientHeight / LINE) + 20);
  if (el.drawn === `${first} ${last}`) return;
  el.drawn = `${first} ${last}`;
  const rows = [];
  for (let i = first; i < last; i++) {
    const row = rowElement(matrix, i);
    row.style.transform = `translateY(${i * LINE}px)`;
    row.style.gridTemplateColumns = el.columns;
    rows.push(row);
  }
  body.replaceChildren(...rows);
}
