// timeline: when each state was waited for, worked on, and finished.
import { svg } from './dom.js';
import { duration, eventsOf, isAbout, stateTone, time } from './model.js';
import { now } from './store.js';

const ROW = 24;
const TOP = 26;

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];

function ticksOf(spanMs, most) {
  const step = (STEPS.find((s) => spanMs / 1000 / s <= most) ?? 86400 * Math.ceil(spanMs / 86400000 / most)) * 1000;
  const ticks = [];
  for (let t = 0; t <= spanMs; t += step) ticks.push(t);
  return ticks;
}

// When the last of what it needs was ready; NaN: not yet.
function awaitedUntil(state, byName) {
  const times = (state.needs ?? []).map((n) => byName.get(n)).map((s) => (s?.phase === 'Ready' ? time(s.readyAt) : NaN));
  return times.length ? Math.max(...times) : NaN;
}

export function timeline(resource, width) {
  const states = (resource.states ?? []).filter((s) => !Number.isNaN(time(s.startedAt)));
  if (!states.length) return null;
  const byName = new Map((resource.states ?? []).map((s) => [s.name, s]));
  const endOf = (s) => (s.phase === 'Ready' ? Math.max(time(s.readyAt), time(s.startedAt)) : now());
  const from = Math.min(...states.map((s) => time(s.startedAt)));
  const span = Math.max(1000, Math.max(...states.map(endOf)) - from);
  const left = width < 620 ? 110 : 210;
  const room = width - left - 64;
  const x = (t) => left + ((t - from) / span) * room;
  const events = eventsOf(resource);
  const height = TOP + states.length * ROW + 4;
  const rows = states.map((s, i) => {
    const y = TOP + i * ROW;
    const begin = time(s.startedAt);
    const end = endOf(s);
    const free = awaitedUntil(s, byName);
    const warnings = events.filter((e) => e.type === 'Warning' && isAbout(e, s));
    const failures = s.failures?.count ?? 0;
    const again = failures === 0 ? '' : failures === 1 ? 'tried again once' : `tried again ${failures} times`;
    const text = `${s.name}: ${s.phase}, began after ${duration(begin - from)}, took ${duration(end - begin)}${again && `, ${again}`}`;
    const most = Math.floor(left / 7.2);
    return svg('g', { 'data-key': s.name, role: 'listitem', 'aria-label': text },
      svg('title', null, text),
      svg('text', { class: 'name', x: left - 10, y: y + 15, 'text-anchor': 'end' },
        s.name.length > most ? `…${s.name.slice(1 - most)}` : s.name),
      free < begin ? svg('rect', { class: 'wait', x: x(free), y: y + 9, width: Math.max(0, x(begin) - x(free)), height: 4 }) : null,
      svg('rect', { class: `bar ${stateTone(s)}`, x: x(begin), y: y + 4, rx: 2, width: Math.max(3, x(end) - x(begin)), height: 14 }),
      again ? svg('rect', { class: 'again', x: x(Math.max(time(s.failures.first), from)) - 1, y: y + 19, height: 3,
        width: 3 + Math.max(0, x(Math.min(time(s.failures.last), from + span)) - x(Math.max(time(s.failures.first), from))) },
        svg('title', null, again)) : null,
      warnings.map((e) => svg('path', { class: 'warning', d: `M${x(Math.min(Math.max(time(e.at), from), from + span))} ${y + 2}v18` },
        svg('title', null, e.message))),
      svg('text', { class: 'what', x: Math.max(x(begin) + 3, x(end)) + 6, y: y + 15 },
        again ? `${duration(end - begin)}, ${failures}×` : duration(end - begin)));
  });
  const axis = ticksOf(span, Math.max(2, Math.floor(room / 90))).map((t) => svg('g', { class: 'tick' },
    svg('path', { d: `M${x(from + t)} ${TOP - 6}V${height}` }),
    svg('text', { x: x(from + t), y: 12, 'text-anchor': 'middle' }, duration(t))));
  return svg('svg', { class: 'timeline', width, height, viewBox: `0 0 ${width} ${height}`, role: 'list',
                      'aria-label': `When the states of ${resource.name} ran` },
    svg('g', { 'aria-hidden': 'true' }, axis), rows);
}
