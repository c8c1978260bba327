// app: which view is shown, by the part of the address after '#', and the views of resources.
import { h, show } from './dom.js';
import { graph } from './graph.js';
import { GROUPS, drawMatrix, matrixOf } from './matrix.js';
import { SIGN, alike, containerOf, culprits, duration, eventsOf, hiddenOf, isAbout, messageOf, namespacesOf, phaseOf,
         podsOf, resources, sinceOf, spanOf, stateTone, time, toneOf } from './model.js';
import { slicesView } from './slices.js';
import { connect, loadDocument, logOf, now, store } from './store.js';
import { timeline } from './timeline.js';

const MOST_PODS = 3;
const view = { filter: '', group: '', unready: false, resource: '' };

// ---- the address -------------------------------------------------------------------------------

function route() {
  const parts = location.hash.replace(/^#\/?/, '').split('/').map((p) => {
    try {
      return decodeURIComponent(p);
    } catch {
      return p;
    }
  });
  if (parts[0] === 'nodes' || parts[0] === 'slices') return { page: parts[0] };
  return { page: 'resources', resource: parts[0] === 'r' ? parts[1] : undefined, state: parts[2] };
}

const linkTo = (r, state) => `#/r/${encodeURIComponent(r)}${state ? `/${encodeURIComponent(state)}` : ''}`;

// ---- small things ------------------------------------------------------------------------------

function tag(tone, text) {
  return h('span', { class: `tag ${tone}` }, h('span', { 'aria-hidden': 'true' }, SIGN[tone]), ' ', text);
}

function clock(at) {
  return Number.isNaN(time(at)) ? '' : new Date(time(at)).toLocaleTimeString([], { hour12: false });
}

function section(id, title, ...children) {
  return h('section', { 'aria-labelledby': id, 'data-key': id }, h('h2', { id }, title), ...children);
}

// ---- resources ---------------------------------------------------------------------------------

function resourceTable(list, current) {
  return h('div', { class: 'scroll' }, h('table', { class: 'resources' },
    h('thead', null, h('tr', null, ['Resource', 'Status', 'For', 'States', 'Message'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, list.map((r) => {
      const states = r.states ?? [];
      return h('tr', { 'data-key': r.name, class: r.name === current?.name ? 'current' : '' },
        h('th', { scope: 'row' }, h('a', { href: linkTo(r.name), 'aria-current': r.name === current?.name ? 'true' : null }, r.name)),
        h('td', null, tag(toneOf(r), phaseOf(r))),
        h('td', null, duration(now() - sinceOf(r))),
        h('td', null, states.length ? `${states.filter((s) => s.phase === 'Ready').length}/${states.length}` : ''),
        h('td', { class: 'wrap' }, h('div', { class: 'clamp', title: messageOf(r) }, messageOf(r))));
    }))));
}

// One container that is not well, with the end of its log.
function containerElement(pod, c) {
  const { text, hasLog, previous } = containerOf(c);
  const log = hasLog ? logOf(pod.key, c.restartCount ?? 0, c.name, previous, changed) : undefined;
  const lines = (log ?? '').trimEnd().split('\n').slice(-10).join('\n');
  return h('div', { class: 'container' },
    h('p', null, h('strong', null, `${c.init ? 'init container' : 'container'} ${c.name}`), text ? `: ${text}` : ''),
    lines ? h('pre', { tabindex: '0', 'aria-label': `End of the log of ${c.name}` }, lines) : null);
}

// The first of pods with the same trouble, and where the others are.
function podElement([pod, ...others]) {
  const why = pod.unscheduled || pod.message || pod.reason || (pod.containers ? '' : pod.phase);
  return h('div', { class: 'pod', 'data-key': pod.key },
    h('p', null, h('span', { class: 'mono' }, `Pod ${pod.key}`), pod.node ? ` on ${pod.node}` : '', why ? `: ${why}` : ''),
    (pod.containers ?? []).map((c) => containerElement(pod, c)),
    others.length ? h('details', null, h('summary', { class: 'quiet' }, `${others.length} more ${others.length > 1 ? 'pods' : 'pod'} like it`),
      h('ul', null, others.slice(0, 50).map((o) => h('li', null, h('span', { class: 'mono' }, o.key), o.node ? ` on ${o.node}` : '')))) : null);
}

// The objects that are waited for, where the message does not say it all.
function awaitsList(state) {
  const list = (state.awaits ?? []).map((a) => [a.object,
    a.message === state.message ? '' : (a.message ?? '').replace(a.object, '').trim()]);
  if (!list.length || (list.length === 1 && !list[0][1])) return null;
  return h('ul', { class: 'awaits' }, list.map(([object, message]) => h('li', null,
    h('span', { class: 'mono' }, object), message ? ` ${message}` : '')));
}

// What may not be read, in its place.
function notShown(kind, namespaces) {
  const texts = hiddenOf(kind, namespaces);
  return texts.length ? [
    texts.slice(0, MOST_PODS).map((text) => h('p', { class: 'quiet', 'data-hidden': kind }, `Not shown: ${text}`)),
    texts.length > MOST_PODS ? h('p', { class: 'quiet' }, `and in ${texts.length - MOST_PODS} other namespaces`) : null,
  ] : null;
}

function reasons(r, state) {
  const groups = alike(podsOf(r, state));
  return [
    state.message ? h('p', { class: 'message' }, state.message) : null,
    state.hint ? h('p', { class: 'hint' }, h('strong', null, 'Hint: '), state.hint) : null,
    awaitsList(state),
    groups.slice(0, MOST_PODS).map(podElement),
    groups.length > MOST_PODS ? h('p', { class: 'quiet' }, 'and other pods that are not ready') : null,
    notShown('pod', namespacesOf(r, state)),
  ];
}

// The states that stop the walk, or those that it is at.
function culpritStates(r) {
  const list = culprits(r).filter((s) => s.startedAt || stateTone(s) !== 'idle');
  const worst = list.filter((s) => ['bad', 'warn'].includes(stateTone(s)));
  return (worst.length ? worst : list).slice(0, 4);
}

function culpritCards(r, list) {
  if (!list.length)
    return h('article', { class: `card ${toneOf(r)}`, 'data-key': 'culprit' }, h('h3', null, tag(toneOf(r), phaseOf(r))),
      h('p', { class: 'message' }, messageOf(r)));
  return list.map((s) => h('article',
    { class: `card ${stateTone(s)}`, 'data-key': `culprit-${s.name}` },
    h('h3', null, tag(stateTone(s), s.class && s.class !== 'Waiting' ? s.class : s.phase), ' ', h('a', { href: linkTo(r.name, s.name) }, s.name),
      h('span', { class: 'quiet' }, ` for ${duration(spanOf(s)) || '0s'}`)),
    reasons(r, s)));
}

function eventList(events) {
  const hidden = notShown('event');
  if (!events.length) return hidden ?? h('p', { class: 'quiet' }, 'No Events are kept.');
  return h('ol', { class: 'events' }, events.slice(0, 60).map((e, i) => h('li', { class: e.type === 'Warning' ? 'warning' : '', 'data-key': `${e.at} ${i} ${e.reason}` },
    h('time', { datetime: e.at, class: 'mono quiet' }, clock(e.at)), ' ',
    h('span', { class: 'reason' }, e.reason), ' ', h('span', null, e.message),
    e.count > 1 ? h('span', { class: 'quiet' }, ` (${e.count} times)`) : null)));
}

// isShown: why it waits stands above.
function stateDetails(r, state, isShown) {
  const objects = (r.inventory ?? []).filter((i) => i.state === state.name);
  const awaits = new Map((state.awaits ?? []).map((a) => [a.object, a]));
  const facts = [
    ['Phase', tag(stateTone(state), state.phase)],
    ['Needs', (state.needs ?? []).length ? state.needs.map((n, i) => [i ? ', ' : '', h('a', { href: linkTo(r.name, n) }, n)]) : 'nothing'],
    ['Began', clock(state.startedAt) || 'not yet'],
    [state.phase === 'Ready' ? 'Took' : 'Takes', duration(spanOf(state)) || ''],
    ['Gate', state.objects?.total ? `${state.objects.ready} of ${state.objects.total} objects are ready` : 'nothing is waited for'],
    ['Nodes', state.nodes?.total ? `${state.nodes.labelled} of ${state.nodes.total}${(state.nodes.missing ?? []).length ? `, not yet: ${state.nodes.missing.join(', ')}` : ''}` : ''],
  ].filter(([, value]) => value);
  return section('state', `State ${state.name}`,
    h('dl', { class: 'facts' }, facts.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value)))),
    isShown ? null : reasons(r, state),
    h('details', { 'data-key': `objects-${state.name}`, open: objects.length <= 12 }, h('summary', null, objects.length === 1 ? '1 object' : `${objects.length} objects`),
      h('ul', { class: 'objects' }, objects.map((o) => {
        const name = `${o.kind} ${o.namespace ? `${o.namespace}/` : ''}${o.name}`;
        const a = awaits.get(name);
        return h('li', null, h('span', { class: 'mono' }, name), ' ', a ? tag(a.class === 'Failed' ? 'bad' : stateTone(state), a.reason ?? 'awaited') : null);
      }))),
    h('h3', null, 'History'), eventList(eventsOf(r).filter((e) => isAbout(e, state))));
}

function resourcesView(at) {
  const list = resources();
  const r = list.find((one) => one.name === at.resource) ?? (at.resource ? undefined : list[0]);
  const parts = [list.length ? section('resources', 'Resources', resourceTable(list, r))
    : hiddenOf('resource').length ? null : h('p', { class: 'quiet' }, 'There is no SpecialResource on this cluster. ',
      h('span', { class: 'mono' }, 'slipway run RECIPE'), ' makes one.')];
  if (at.resource && !r) parts.push(h('p', { class: 'quiet' }, `There is no SpecialResource ${at.resource}.`));
  if (!r) return parts;
  const states = r.states ?? [];
  const chosen = states.find((s) => s.name === at.state);
  const width = document.getElementById('main').clientWidth - (innerWidth > 640 ? 82 : 58); // less margins
  const stopping = culpritStates(r);
  const bars = timeline(r, Math.max(320, width));
  const title = `${r.name}${r.chart ? ` · ${r.chart} ${r.version ?? ''}` : ''}`;
  parts.push(section('why', phaseOf(r) === 'Ready' ? 'Everything is ready' : 'What it waits for',
    phaseOf(r) === 'Ready' ? h('p', { class: 'quiet' }, `${title}: ${states.length} states, since ${duration(now() - sinceOf(r))}.`) : culpritCards(r, stopping)));
  if (states.length)
    parts.push(section('graph', 'States', h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Graph of states' },
      graph(r.name, states, chosen?.name, width < 600, width))));
  if (chosen) parts.push(stateDetails(r, chosen, chosen.phase === 'Ready' || stopping.includes(chosen)));
  if (bars) parts.push(section('timeline', 'Timeline', h('div', { class: 'scroll' }, bars)));
  parts.push(section('history', 'History', eventList(eventsOf(r))));
  return parts;
}

// ---- nodes -------------------------------------------------------------------------------------

function nodesView() {
  const list = resources();
  const r = list.find((one) => one.name === view.resource) ?? list[0];
  const upgrade = r?.upgrade;
  const choice = (name, label, options, value) => h('label', null, label, ' ', h('select', { name, 'data-input': name },
    options.map(([key, text]) => h('option', { value: key, selected: key === value }, text))));
  return [h('section', { 'aria-labelledby': 'nodes', class: 'nodes', 'data-key': 'nodes' }, h('h2', { id: 'nodes' }, 'Nodes'),
    h('form', { class: 'bar', role: 'search' },
      choice('resource', 'States of', list.map((one) => [one.name, one.name]), r?.name),
      h('label', null, 'Filter ', h('input', { type: 'search', name: 'filter', 'data-input': 'filter', placeholder: 'name, pool, kernel …', autocomplete: 'off' })),
      choice('group', 'Group by', Object.entries(GROUPS), view.group),
      h('label', null, h('input', { type: 'checkbox', name: 'unready', 'data-input': 'unready' }), ' only what is not done')),
    upgrade?.total ? h('p', null, h('strong', null, 'Upgrade of drivers: '),
      `${upgrade.upToDate ?? 0} of ${upgrade.total} nodes are up to date, ${upgrade.inProgress ?? 0} under way, ${upgrade.waiting ?? 0} wait, ${upgrade.failed ?? 0} failed`) : null,
    h('div', { class: 'matrix', 'data-keep': true, tabindex: '0', role: 'table', 'aria-label': 'Nodes and states' }),
    h('p', { class: 'quiet legend' }, '✓ ready on the node   … not yet   · no label: the state does not concern the node, or has not come to it'))];
}

let drawn = '';

function drawNodes() {
  const el = document.querySelector('.matrix');
  if (!el) return;
  const list = resources();
  const r = list.find((one) => one.name === view.resource) ?? list[0];
  const stamp = JSON.stringify([store.version, view, r?.name, r?.states?.map((s) => [s.name, s.nodes]), r?.upgrade]);
  if (stamp === drawn && el.matrix) return;
  drawn = stamp;
  drawMatrix(el, matrixOf(r ?? {}, view));
}

// ---- the page ----------------------------------------------------------------------------------

function header(at) {
  const link = { live: ['good', 'live'], connecting: ['idle', 'connecting'], lost: ['warn', 'no connection, trying again'],
                 refused: ['bad', 'not let in'], report: ['idle', `report of ${new Date(now()).toLocaleString([], { hour12: false })}`] }[store.link];
  const down = store.link === 'live' && store.about.down;
  const tabs = [['resources', '#/', 'Resources'], ['nodes', '#/nodes', 'Nodes'], ['slices', '#/slices', 'Slices']];
  return [
    h('span', { class: 'mark' }, 'slipway'),
    h('nav', { 'aria-label': 'Views' }, tabs.map(([page, href, text]) => h('a', { href, 'aria-current': at.page === page ? 'page' : null }, text))),
    h('span', { class: 'server', title: store.about.server }, h('span', { class: 'mono quiet' }, store.about.server ?? ''),
      down ? tag('warn', 'the API server does not answer') : tag(...link)),
  ];
}

// kinds: of objects that the view is about
function troubles(...kinds) {
  const list = Object.entries(store.about.trouble ?? {});
  const hidden = kinds.map((kind) => notShown(kind)).filter(Boolean);
  if (store.about.down) list.unshift(['server', store.about.down]);
  if (!list.length && !hidden.length) return null;
  return h('aside', { class: 'card warn', 'data-key': 'trouble', 'aria-label': 'What cannot be read' },
    list.map(([kind, text]) => h('p', null, kind === 'server' ? text : `Not shown: ${kind}${kind.endsWith('s') ? 'es' : 's'}: ${text}`)), hidden);
}

const REFUSED = 'The token of this page is not known. Open the address that slipway dashboard has printed; where the ' +
  'page is served in the cluster, enter a token of an account that may see it.';

function refusedView() {
  return [h('p', { class: 'message' }, REFUSED), h('form', { class: 'bar', 'data-login': true },
    h('label', null, 'Token ', h('input', { type: 'password', name: 'token', autocomplete: 'off', required: true })),
    h('button', null, 'Open'))];
}

let announced = new Map();

// Say the phases that have changed to who does not see them.
function announce() {
  const news = [];
  const phases = new Map(resources().map((r) => [r.name, phaseOf(r)]));
  for (const [name, phase] of phases)
    if (announced.has(name) && announced.get(name) !== phase) news.push(`${name} is ${phase}`);
  announced = phases;
  if (news.length) document.getElementById('news').textContent = news.join(', ');
}

function draw() {
  const at = route();
  const first = resources()[0];
  document.title = first ? `${SIGN[toneOf(first)]} ${first.name} · slipway` : 'slipway';
  show(document.getElementById('head'), header(at));
  const main = document.getElementById('main');
  if (store.link === 'refused') show(main, refusedView());
  else if (store.link === 'connecting') return;
  else if (at.page === 'nodes') show(main, troubles('node'), nodesView());
  else if (at.page === 'slices') show(main, troubles('accelerator', 'gpu', 'pod'), slicesView());
  else show(main, troubles('resource'), resourcesView(at));
  drawNodes();
  announce();
}

let asked = false;

function changed() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    draw();
  });
}

function onInput(event) {
  const name = event.target.dataset?.input;
  if (!name) return;
  view[name] = event.target.type === 'checkbox' ? event.target.checked : event.target.value;
  changed();
}

function onSubmit(event) {
  event.preventDefault();
  if (!('login' in event.target.dataset)) return;
  sessionStorage.setItem('token', event.target.elements.token.value.trim());
  store.token = takeToken();
  store.link = 'connecting';
  connect(store.token, changed);
}

// The token comes in the address, which is not shown on, and stays in this tab.
function takeToken() {
  const match = /^#token=([0-9A-Za-z._~-]+)$/.exec(location.hash);
  if (match) {
    sessionStorage.setItem('token', match[1]);
    history.replaceState(null, '', `${location.pathname}#/`);
  }
  return sessionStorage.getItem('token') ?? '';
}

function start() {
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#token=')) location.reload();
    draw();
    document.getElementById('state')?.scrollIntoView({ block: 'nearest' });
  });
  addEventListener('resize', changed);
  document.addEventListener('input', onInput);
  document.addEventListener('submit', onSubmit);
  document.querySelector('[data-skip]')?.addEventListener('click', (event) => {
    event.preventDefault();
    document.getElementById('main').focus();
  });
  const report = document.getElementById('report');
  if (report) {
    loadDocument(JSON.parse(report.textContent));
    draw();
    return;
  }
  store.token = takeToken();
  setInterval(() => { // durations
    if (!document.hidden && store.link !== 'connecting') changed();
  }, 1000);
  connect(store.token, changed);
}

start();
