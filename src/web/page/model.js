// model: what follows from the objects: phases, durations, which state stops the walk and why.
import { store, now } from './store.js';

const RANK = { bad: 0, warn: 1, busy: 2, idle: 3, good: 4 };
export const SIGN = { bad: '✕', warn: '!', busy: '…', idle: '○', good: '✓' };

export const time = (text) => (text ? Date.parse(text) : NaN);

export function duration(ms) {
  if (!(ms >= 0)) return '';
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${String(s % 60).padStart(2, '0')}s`;
  if (s < 86400) return `${Math.floor(s / 3600)}h${String(Math.floor((s % 3600) / 60)).padStart(2, '0')}m`;
  return `${Math.floor(s / 86400)}d${Math.floor((s % 86400) / 3600)}h`;
}

const conditionOf = (r) => (r.conditions ?? []).find(
  (c) => c.status === 'True' && ['Ready', 'Errored', 'Progressing'].includes(c.type));

export function phaseOf(r) {
  return r.deletionTimestamp ? 'Deleting' : conditionOf(r)?.type ?? 'Unknown';
}

export function toneOf(r) {
  const tone = { Ready: 'good', Errored: 'bad', Progressing: 'busy' }[phaseOf(r)] ?? 'idle';
  if (tone !== 'busy') return tone;
  return (r.states ?? []).some((s) => ['bad', 'warn'].includes(stateTone(s))) ? 'warn' : tone;
}

export function messageOf(r) {
  const c = conditionOf(r);
  if (!c) return 'no controller has looked at it yet';
  return c.message ?? '';
}

// When the phase began.
export const sinceOf = (r) => time(conditionOf(r)?.lastTransitionTime ?? r.creationTimestamp);

// Reasons of what is waited for that are more than waiting.
const ILL = /BackOff|^Err|Error|Failed|Denied|Forbidden|Unschedulable|Invalid|NoMatching|Exceeded|OOM/;

export function stateTone(state) {
  if (state.phase === 'Ready') return 'good';
  if (state.class === 'Failed' || state.phase === 'Failed') return 'bad';
  if (state.class === 'Retrying' || state.phase === 'Retrying') return 'warn';
  if (ILL.test(state.reason ?? '') || (state.awaits ?? []).some((a) => ILL.test(a.reason ?? ''))) return 'warn';
  return state.startedAt ? 'busy' : 'idle';
}

// How long it took, or takes by now.
export function spanOf(state) {
  const from = time(state.startedAt);
  const to = state.phase === 'Ready' ? time(state.readyAt) : now();
  return Number.isNaN(from) ? NaN : Math.max(0, to - from);
}

export const resources = () => [...store.resource].map(([key, r]) => ({ ...r, name: key.slice(1) }))
  .sort((a, b) => RANK[toneOf(a)] - RANK[toneOf(b)] || a.name.localeCompare(b.name));

export const eventsOf = (r) => [...store.event.values()].filter((e) => e.of === r.name)
  .sort((a, b) => time(b.at) - time(a.at));

export const isAbout = (event, state) => event.message?.startsWith(`state ${state.name}:`);

// The pods of a state that are not well: those whose owner is in its inventory.
export function podsOf(r, state) {
  const owned = new Set((r.inventory ?? []).filter((i) => i.state === state.name)
    .map((i) => `${i.kind} ${i.namespace ?? ''}/${i.name}`));
  const found = [];
  for (const [key, pod] of store.pod) {
    const ns = key.split('/')[0];
    const of = pod.owner;
    const names = [`Pod ${key}`];
    if (of) names.push(`${of.kind} ${ns}/${of.name}`);
    if (of?.kind === 'ReplicaSet') names.push(`Deployment ${ns}/${of.name.replace(/-[^-]*$/, '')}`);
    if (names.some((n) => owned.has(n))) found.push({ ...pod, key });
  }
  return found.sort((a, b) => a.key.localeCompare(b.key));
}

// Why objects of a kind are not shown to who looks, who may not read them; in those namespaces alone,
// where they are given.
export const hiddenOf = (kind, namespaces) => Object.entries(store.about.hidden?.[kind] ?? {})
  .filter(([ns]) => !namespaces || namespaces.has(ns)).map(([, text]) => text).sort();

// The namespaces in which a state has objects.
export const namespacesOf = (r, state) => new Set((r.inventory ?? [])
  .filter((i) => i.state === state.name && i.namespace).map((i) => i.namespace));

// What a container is at, and whether its log may tell more: of the one that ended before, or of
// the present one.
export function containerOf(c) {
  const state = c.state ?? {};
  const ended = state.terminated ?? c.lastState?.terminated;
  const texts = [state.waiting?.reason, state.waiting?.message];
  if (ended) texts.push(`exit code ${ended.exitCode} (${ended.reason ?? 'Error'})`, ended.message);
  else if (state.running) texts.push('running, not ready');
  if (c.restartCount) texts.push(`${c.restartCount} restarts`);
  return {
    text: texts.filter(Boolean).join('; '),
    hasLog: Boolean(ended || state.running),
    previous: Boolean(!state.terminated && !state.running && c.lastState?.terminated),
  };
}

// Pods of the same trouble, which one of them shows: [[pod, ...]...].
export function alike(pods) {
  const groups = new Map();
  for (const pod of pods) {
    const kind = (c) => [c.name, c.state?.waiting?.reason, (c.state?.terminated ?? c.lastState?.terminated)?.exitCode];
    const id = JSON.stringify([pod.reason, pod.phase, pod.unscheduled, (pod.containers ?? []).map(kind)]);
    if (!groups.has(id)) groups.set(id, []);
    groups.get(id).push(pod);
  }
  return [...groups.values()].sort((a, b) => (b[0].containers?.length ?? 0) - (a[0].containers?.length ?? 0));
}

// The states that the others wait for, the worst first.
export function culprits(r) {
  const states = r.states ?? [];
  const ready = new Set(states.filter((s) => s.phase === 'Ready').map((s) => s.name));
  return states.filter((s) => s.phase !== 'Ready' && (s.needs ?? []).every((n) => ready.has(n)))
    .sort((a, b) => RANK[stateTone(a)] - RANK[stateTone(b)]);
}
