// One body, the same bytes at every attempt, kept on this device until it has arrived. Truths and coins never come here.

/** A refusal in the server's words, or status 0 for no connection; `again` if another attempt may help. */
export class SendError extends Error {
  constructor({ status, field = '', message = '' }) {
    super(message);
    Object.assign(this, { status, field, again: [0, 408, 423, 425, 429].includes(status) || status >= 500 });
  }
}

/** The text that is posted and shown. Numbers take the room of the largest: the length says nothing. */
export function writeBody(id, version, reports, largest) {
  const padded = reports.map((report, byte) => `${report}`.padStart(`${largest[byte]}`.length));
  return `{\n  "id": "${id}",\n  "version": "${version}",\n  "reports": [${padded.join(', ')}]\n}`;
}

/** Posts until it is acknowledged, refused or tried `attempts` times. Times in ms. */
export async function send(url, body, { language, attempts = 6, pause = 500, longest = 8000, patience = 20000, onRetry } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await post(url, body, language, patience);
    if (outcome.status === 200 || outcome.status === 201) return outcome;
    const error = new SendError(outcome);
    if (!error.again || attempt === attempts) throw error;
    onRetry?.(attempt);
    // Math.random knows nothing of the answers.
    const wait = Math.min(longest, pause * 2 ** (attempt - 1)) * (1 + Math.random()) / 2;
    await new Promise((resume) => setTimeout(resume, wait));
  }
}

async function post(url, body, language, patience) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience);
  const headers = { 'content-type': 'application/json', ...(language && { 'accept-language': language }) };
  try {
    const answer = await fetch(url, {
      method: 'POST', body, headers, signal: stop.signal, credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store',
      redirect: 'error', // another page's success would pass for ours
    });
    // A gateway's page says nothing about what is stored; our server speaks JSON.
    if (!answer.headers.get('content-type')?.startsWith('application/json')) return { status: 0 };
    // A success whose body is lost is a success.
    const content = answer.ok ? null : await answer.json().catch(() => null);
    return { ...content?.error, status: answer.status };
  } catch {
    return { status: 0 };
  } finally {
    clearTimeout(timer);
  }
}

const key = (slug) => `moneda:${slug}`;

export function recall(slug) {
  const text = withStorage((storage) => storage.getItem(key(slug)));
  try {
    const { sent, id, reports } = JSON.parse(text);
    if (typeof sent === 'string') return { sent };
    if (typeof id === 'string' && Array.isArray(reports)) return { pending: text };
  } catch {
    // Nothing there, or not ours.
  }
  return {};
}

export const keep = (slug, body) => withStorage((storage) => storage.setItem(key(slug), body));
export const markSent = (slug, version) => keep(slug, JSON.stringify({ sent: version }));
export const erase = (slug) => withStorage((storage) => storage.removeItem(key(slug)));

/** Where storage is forbidden, nothing is remembered, and the survey goes on. */
function withStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
