// One body, the same bytes at every attempt, kept on this device until it has arrived. Truths and coins never come here.

const LONGEST_ASKED = 3600000; // ms that a server may ask to wait

/** A refusal in the server's words, or status 0 for no connection; `again` if another attempt may help. */
export class SendError extends Error {
  constructor({ status, field = '', message = '' }) {
    super(message);
    // Our bodies are whole, short and JSON: 400, 411 and 413 tell of what happened to one on its way. 428: with other work.
    Object.assign(this, { status, field, again: [0, 400, 408, 411, 413, 423, 425, 428, 429].includes(status) || status >= 500 });
  }
}

/** The text that is posted and shown. Numbers take the room of the largest: the length says nothing. */
export function writeBody(id, version, reports, largest) {
  const padded = reports.map((report, byte) => `${report}`.padStart(`${largest[byte]}`.length));
  return `{\n  "id": "${id}",\n  "version": "${version}",\n  "reports": [${padded.join(', ')}]\n}`;
}

/** The body with the work that the server asks for. */
export const withWork = (body, work) => body.replace(/\n}$/, `,\n  "work": "${work}"\n}`);

/** The body without the code of an invitation, where none is taken any more. */
export const withoutCode = (body) => body.replace(/,\n {2}"invitation": "[^"]*"\n}$/, '\n}');

/** Attempts until one is acknowledged, refused or `over` (no longer ours). A `wake` ends a pause (ms), but none that the server asked for. */
export async function persist(attempt, { wakes = new EventTarget(), pause = 500, longest = 60000, onRetry } = {}) {
  let woken = false; // while an attempt was under way
  wakes.addEventListener('wake', () => { woken = true; });
  for (let tries = 1; ; tries += 1) {
    woken = false;
    const outcome = await attempt();
    if (outcome.over || outcome.status === 200 || outcome.status === 201) return outcome;
    const error = new SendError(outcome);
    if (!error.again) throw error;
    const { after = 0 } = outcome;
    onRetry?.(tries, error, after);
    // Math.random knows nothing of the answers.
    const wait = after + Math.min(longest, pause * 2 ** (tries - 1)) * (1 + Math.random()) / 2;
    if (after || !woken) await rest(wait, performance.now() + after, wakes);
  }
}

function rest(wait, earliest, wakes) {
  return new Promise((resume) => {
    const stop = new AbortController();
    const end = () => {
      clearTimeout(timer);
      stop.abort();
      resume();
    };
    const timer = setTimeout(end, wait);
    wakes.addEventListener('wake', () => performance.now() >= earliest && end(), { signal: stop.signal });
  });
}

/** One attempt: our server's status or 0, its words where it refused, how long it wants to be left alone. */
export async function post(url, body, { language, patience = 20000, signal } = {}) {
  const stop = new AbortController();
  const give = () => stop.abort();
  const timer = setTimeout(give, patience);
  signal?.addEventListener('abort', give);
  const headers = { 'content-type': 'application/json', ...(language && { 'accept-language': language }) };
  try {
    const answer = await fetch(url, {
      method: 'POST', body, headers, signal: stop.signal, credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store',
      redirect: 'error', // another page's success would pass for ours
    });
    const after = readRetryAfter(answer.headers);
    const date = Date.parse(answer.headers.get('date'));
    // A gateway's page says nothing about what is stored; our server speaks JSON.
    if (!answer.headers.get('content-type')?.startsWith('application/json')) return { status: 0, after };
    // Left unread, it holds the connection. A success whose body is lost is one.
    const read = answer.json().catch(() => null);
    return { ...(!answer.ok && (await read)?.error), status: answer.status, after, date, read };
  } catch {
    return { status: 0 };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', give);
  }
}

/** Seconds, or a time by the server's own clock. */
function readRetryAfter(headers) {
  const said = headers.get('retry-after') ?? '';
  const until = /GMT$/.test(said) && Date.parse(said) - (Date.parse(headers.get('date')) || Date.now());
  return Math.min(Math.max((/^\d+$/.test(said) ? 1000 * said : until) || 0, 0), LONGEST_ASKED);
}

const key = (slug) => `moneda:${slug}`;

/** Runs a task while no other page of this survey does; without locks, or if one is held too long (a sleeping page), all the same. */
export async function alone(slug, task, patience = 25000) {
  let begun = false;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience);
  const run = () => {
    begun = true;
    clearTimeout(timer);
    return task();
  };
  try {
    return await navigator.locks.request(key(slug), { signal: stop.signal }, run);
  } catch (error) {
    if (begun) throw error;
    return run();
  }
}

/** What is kept of a survey: that it was sent, what waits and where to, or what a review has shown. */
export function recall({ family, round }) {
  if (round in rounds(family)) return { sent: true };
  try {
    const { shown, pending, to } = read(round);
    const { id, reports } = JSON.parse(shown ?? pending);
    if (typeof id === 'string' && Array.isArray(reports)) return shown ? { shown, id } : { pending, to, id };
  } catch {
    // Nothing there, or not ours.
  }
  return {};
}

/** What each round of a family that was answered here has spent. */
const rounds = (family) => ({ ...read(family)?.sent });

/** What other rounds that were answered here spend, in billionths of a nat; what waits counts. */
export function spentBefore({ family, round }) {
  const spent = {};
  for (const [name, text] of Object.entries(withStorage((storage) => ({ ...storage })) ?? {})) {
    const { of, spends } = parse(text) ?? {};
    if (of === family) spent[name] = Number(spends);
  }
  for (const [other, spends] of Object.entries(rounds(family))) spent[key(other)] = spends;
  delete spent[key(round)];
  return Object.values(spent).filter(Number.isSafeInteger).reduce((sum, one) => sum + one, 0);
}

const read = (name) => parse(withStorage((storage) => storage.getItem(key(name))));

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const remove = (name) => withStorage((storage) => storage.removeItem(key(name)));

/** Whether it is kept. */
const write = (name, note) => withStorage((storage) => {
  const text = JSON.stringify(note);
  storage.setItem(key(name), text);
  return storage.getItem(key(name)) === text;
}) ?? false;

/** What waits goes where it was first sent: it may have arrived there. */
export const keep = ({ family, round, spends }, pending, to) => write(round, { pending, to, of: family, spends });
export const markShown = ({ round }, shown) => write(round, { shown });
export const drop = ({ round }) => remove(round);

/** Only a note of the family is left: which round was answered, and what it has spent. Where the survey forgets, nothing is. */
export function markSent(page) {
  const { family, round, spends } = page;
  if ('forgets' in page || write(family, { sent: { ...rounds(family), [round]: Number(spends) } })) drop(page);
}

export function erase(page) {
  drop(page);
  remove(page.family);
}

/** Where storage is forbidden, nothing is remembered, and the survey goes on. */
function withStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
