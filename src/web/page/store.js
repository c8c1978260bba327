// store: what the server has told. One stream of Server-Sent Events, read by fetch() since the
// token goes in a header; it is opened again when it ends.

const QUIET_MS = 60000; // the server sends something every 20 s
const AGAIN_MS = [500, 1000, 2000, 5000];

const empty = () => ({ resource: new Map(), node: new Map(), event: new Map(), pod: new Map(),
                       accelerator: new Map(), gpu: new Map(), waiting: new Map(), log: new Map() });

export const store = {
  ...empty(),
  about: { trouble: {} },
  link: 'connecting', // live, lost, refused, report
  skew: 0, // of this machine's clock, in ms
  version: 0, // counts the changes of nodes
};

// A report stands still.
export const now = () => store.about.at ?? Date.now() + store.skew;

function put(into, changes) {
  for (const [kind, key, object] of changes) {
    if (kind === 'node') store.version++;
    if (object) into[kind]?.set(key, object);
    else into[kind]?.delete(key);
  }
}

function about(data) {
  store.about = { ...store.about, down: undefined, ...data };
  store.skew = data.now - Date.now();
}

// A whole document, as /api/snapshot has it: of a report.
export function loadDocument(document) {
  store.about = { ...document.about, at: document.about.now };
  store.link = 'report';
  put(store, document.objects);
  for (const [id, text] of Object.entries(document.logs ?? {})) store.log.set(id, text);
}

// One message of the stream. Until everything is there, the old objects are shown.
function receive(message, state) {
  const name = /^event: (.*)$/m.exec(message)?.[1];
  const line = /^data: (.*)$/m.exec(message)?.[1];
  if (!name || !line) return;
  const data = JSON.parse(line);
  if (name === 'reset') {
    state.next = empty();
    about(data);
  } else if (name === 'put') {
    put(state.next ?? store, data);
  } else if (name === 'synced') {
    Object.assign(store, state.next);
    state.next = null;
    store.version++;
    store.link = 'live';
    state.tries = 0;
  } else if (name === 'server') {
    about(data);
  }
}

async function read(token, state, changed) {
  const abort = new AbortController();
  let quiet = setTimeout(() => abort.abort(), QUIET_MS);
  try {
    const answer = await fetch('api/events', {
      headers: { 'Slipway-Token': token || 'none' }, cache: 'no-store', signal: abort.signal });
    if (answer.status === 401 || answer.status === 403) {
      store.link = 'refused';
      return;
    }
    if (!answer.ok) return;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(quiet);
      quiet = setTimeout(() => abort.abort(), QUIET_MS);
      text += value;
      const end = text.lastIndexOf('\n\n');
      if (end < 0) continue;
      for (const message of text.slice(0, end).split('\n\n')) receive(message, state);
      text = text.slice(end + 2);
      changed();
    }
  } finally {
    clearTimeout(quiet);
  }
}

export async function connect(token, changed) {
  const state = { next: null, tries: 0 };
  for (;;) {
    try {
      await read(token, state, changed);
    } catch {
      // the connection has failed, or was too quiet
    }
    if (store.link !== 'refused') store.link = 'lost';
    changed();
    if (store.link === 'refused') return;
    await new Promise((done) => setTimeout(done, AGAIN_MS[Math.min(state.tries++, 3)]));
  }
}

// The end of a container's log: a text once it is there, and undefined until then.
export function logOf(key, pod, container, previous, changed) {
  const id = `${key} ${container} ${previous} ${pod}`;
  if (store.log.has(id)) return store.log.get(id);
  store.log.set(id, undefined);
  if (store.link === 'report') return undefined;
  const [ns, name] = key.split('/');
  const query = new URLSearchParams({ namespace: ns, pod: name, container, previous: previous ? '1' : '0' });
  fetch(`api/log?${query}`, { headers: { 'Slipway-Token': store.token }, cache: 'no-store' })
    .then(async (answer) => {
      store.log.set(id, answer.ok ? await answer.text() : '');
      changed();
    })
    .catch(() => store.log.delete(id));
  return undefined;
}
