// slices: each GPU's memory slices as they lie, who holds them, and who waits.
import { h, svg } from './dom.js';
import { duration, time } from './model.js';
import { now, store } from './store.js';

const UNIT = 64;
const HEIGHT = 40;
const TONES = { inUse: 'good', created: 'busy', processing: 'busy', staged: 'idle', orphaned: 'warn' };

// How many memory slices the placements of the profiles span.
function sizeOf(profiles) {
  let most = 0;
  for (const p of Object.values(profiles ?? {}))
    for (const place of p.placements ?? []) most = Math.max(most, place.start + place.size);
  return most || 8;
}

function claimBox(key, claim) {
  const { start = 0, size = 1 } = claim.migPlacement ?? {};
  const pod = `${claim.podRef?.namespace ?? ''}/${claim.podRef?.name ?? ''}`;
  const text = `${claim.profile} of ${pod}, ${claim.state}, memory slices ${start} to ${start + size - 1}`;
  const most = Math.floor((size * UNIT - 10) / 7.4);
  const cut = (s) => (s.length > most ? `${s.slice(0, Math.max(1, most - 1))}…` : s);
  return svg('g', { class: `slice ${TONES[claim.state] ?? 'idle'}`, 'data-key': key, role: 'listitem', 'aria-label': text },
    svg('title', null, text),
    svg('rect', { x: start * UNIT + 2, y: 2, width: size * UNIT - 4, height: HEIGHT - 4, rx: 4 }),
    svg('text', { class: 'name', x: start * UNIT + 8, y: 17 }, cut(claim.profile ?? '')),
    svg('text', { class: 'what', x: start * UNIT + 8, y: 32 }, cut(claim.podRef?.name ?? '')));
}

function gpuElement(gpu, profiles, claims) {
  const size = sizeOf(gpu.migPlacement ?? profiles);
  const free = [];
  for (let i = 0; i < size; i++)
    free.push(svg('rect', { class: 'free', x: i * UNIT + 2, y: 2, width: UNIT - 4, height: HEIGHT - 4, rx: 4 }));
  const used = claims.reduce((n, [, c]) => n + (c.migPlacement?.size ?? 0), 0);
  return h('div', { class: 'gpu', 'data-key': gpu.gpuUuid },
    h('p', null, h('strong', null, gpu.gpuName ?? 'GPU'), ' ', h('span', { class: 'quiet mono' }, gpu.gpuUuid), ' ',
      gpu.healthy === false ? h('span', { class: 'tag bad' }, 'unhealthy') : null,
      h('span', { class: 'quiet' }, ` ${used} of ${size} memory slices taken`)),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Slices of ${gpu.gpuUuid}` },
      svg('svg', { class: 'slices', width: size * UNIT, height: HEIGHT, viewBox: `0 0 ${size * UNIT} ${HEIGHT}`, role: 'list',
                   'aria-label': `Memory slices of ${gpu.gpuUuid}` },
        svg('g', { 'aria-hidden': 'true' }, free), claims.map(([key, c]) => claimBox(key, c)))));
}

// ---- what a move would free --------------------------------------------------------------------

// "mig.das.com/3g.20gb", "nvidia.com/mig-1g.5gb.me": the name of the profile as the GPUs have it.
function profileOf(resource, profiles) {
  const name = resource.replace(/^(mig\.das\.com\/|nvidia\.com\/mig-)/, '');
  return Object.keys(profiles ?? {}).find((p) => p === name || p.replaceAll('+', '.') === name);
}

// Where a slice fits beside claims; undefined: nowhere.
function placeFor(gpu, profile, claims) {
  return (gpu.profiles[profile]?.placements ?? []).find((place) => claims.every(({ migPlacement: m }) =>
    !m || m.start >= place.start + place.size || place.start >= m.start + m.size));
}

// [{node, id, profiles, claims}...] of the GPUs that are well.
function gpus() {
  return [...store.accelerator].flatMap(([key, a]) => (a.unready ? [] : a.nodeResources?.nodeGpus ?? [])
    .filter((g) => g.healthy !== false)
    .map((g) => ({ node: key.split('/')[1], id: g.gpuUuid, profiles: g.migPlacement ?? a.nodeResources.migPlacement ?? {},
                   claims: [...store.claim.values()].filter((c) => c.gpuUUID === g.gpuUuid) })));
}

// The one slice whose move to another place makes room for one that waits: a sentence, or ''.
export function moveFor(resource, all) {
  const fits = (g) => placeFor(g, profileOf(resource, g.profiles), g.claims);
  if (!all.length || all.some(fits)) return '';
  for (const g of all)
    for (const claim of g.claims) {
      const rest = g.claims.filter((c) => c !== claim);
      const room = placeFor(g, profileOf(resource, g.profiles), rest);
      if (!room) continue;
      const taken = [...rest, { migPlacement: room }];
      const to = all.find((o) => placeFor(o, claim.profile, o === g ? taken : o.claims));
      if (to) {
        const pod = `${claim.podRef?.namespace ?? ''}/${claim.podRef?.name ?? ''}`;
        const where = to === g ? `to another place on ${g.id}` : `from ${g.id} to ${to.id}${to.node === g.node ? '' : ` on ${to.node}`}`;
        return `If the slice ${claim.profile} of ${pod} moved ${where}, there would be room.`;
      }
    }
  return '';
}

function waitingTable() {
  const all = store.waiting.size ? gpus() : [];
  const rows = [...store.waiting].sort((a, b) => time(a[1].creationTimestamp) - time(b[1].creationTimestamp));
  if (!rows.length) return h('p', { class: 'quiet' }, 'No pod waits for a slice.');
  return h('div', { class: 'scroll' }, h('table', null,
    h('thead', null, h('tr', null, ['Pod', 'Asks for', 'Waits', 'Why'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, rows.map(([key, pod]) => h('tr', { 'data-key': key },
      h('th', { scope: 'row', class: 'mono' }, key),
      h('td', null, Object.entries(pod.slices).map(([name, n]) => `${n} × ${name}`).join(', ')),
      h('td', null, duration(now() - time(pod.creationTimestamp))),
      h('td', { class: 'wrap' }, pod.message || 'no scheduler has answered yet',
        Object.keys(pod.slices).map((name) => h('div', { class: 'quiet' }, moveFor(name, all)))))))));
}

export function slicesView() {
  const nodes = [...store.accelerator].sort();
  const byGpu = new Map();
  for (const entry of store.claim) {
    const id = entry[1].gpuUUID;
    if (!byGpu.has(id)) byGpu.set(id, []);
    byGpu.get(id).push(entry);
  }
  return [
    h('section', { 'aria-labelledby': 'waiting' }, h('h2', { id: 'waiting' }, 'Waiting for a slice'), waitingTable()),
    h('section', { 'aria-labelledby': 'gpus' }, h('h2', { id: 'gpus' }, 'GPUs'),
      nodes.length ? null : h('p', { class: 'quiet' },
        'No node reports GPUs that can be sliced. slipway-device-plugin writes them as NodeAccelerators.'),
      nodes.map(([key, a]) => h('article', { class: 'card', 'data-key': key },
        h('h3', null, key.split('/')[1], ' ', a.unready ? h('span', { class: 'tag bad' }, a.unready) : null),
        (a.nodeResources?.nodeGpus ?? []).map((g) => gpuElement(g, a.nodeResources.migPlacement, byGpu.get(g.gpuUuid) ?? []))))),
  ];
}
