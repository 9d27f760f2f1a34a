// Sending what submit.js writes: attempts until one has arrived, by one page of a survey at a time.

const LONGEST_ASKED = 3600000; // ms that a server may ask to wait

/** The body with the work that the server asks for. */
export const withWork = (body, work) => body.replace(/\n}$/, `,\n  "work": "${work}"\n}`);

/** The body with a ticket, in place of a code or of another ticket. */
export function withTicket(body, ticket) {
  const entry = `,\n  "ticket": "${ticket}"\n}`;
  return body.replace(/(,\n {2}"(invitation|ticket)": "[^"]*")?\n}$/, entry);
}

/** The body without the code of an invitation, where none is taken any more. */
export const withoutCode = (body) => body.replace(/,\n {2}"invitation": "[^"]*"\n}$/, '\n}');

/** A refusal in the server's words, or status 0 for no connection; `again` if another attempt may help. */
class SendError extends Error {
  constructor({ status, field = '', message = '' }) {
    super(message);
    // Our server names what it refuses: a gateway that speaks JSON does not. Our bodies are whole, short and JSON: 400, 411 and 413 tell of
    // what happened to one on its way. 404: an address may lead astray for a while. 428: with other work.
    Object.assign(this, { status, field, again: !field || (status === 404 && field === 'survey') || [400, 408, 411, 413, 423, 425, 428, 429].includes(status) || status >= 500 });
  }
}

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
    return await navigator.locks.request(`moneda:${slug}`, { signal: stop.signal }, run);
  } catch (error) {
    if (begun) throw error;
    return run();
  }
}
