// One body, the same bytes at every attempt, kept on this device until it has arrived. Truths and coins never come here.

/** The text that is posted and shown. Numbers take the room of the largest: the length says nothing. */
export function writeBody(id, version, reports, largest) {
  const padded = reports.map((report, byte) => `${report}`.padStart(`${largest[byte]}`.length));
  return `{\n  "id": "${id}",\n  "version": "${version}",\n  "reports": [${padded.join(', ')}]\n}`;
}

export const key = (slug) => `moneda:${slug}`;
export const nameTicket = (round, link) => key(`ticket:${round}:${link}`); // each link has a key of its own

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
export const markShown = ({ round, responses }, shown) => write(round, { shown, to: responses });
export const drop = ({ round }) => remove(round);

/** Where a code at the end is kept, and what it is made of (completion.js). */
export const nameClaim = ({ round }) => `completion:${round}`;
export const dropClaim = (page) => remove(nameClaim(page));

/** The page that is kept to go on without a network (offline.js). */
export async function dropPage(scope = location.pathname) {
  try {
    await caches.delete(key(scope));
    await (await navigator.serviceWorker.getRegistration(scope))?.unregister();
  } catch {
    // Nothing can be kept here.
  }
}

/** Only a note of the family is left: which round was answered, and what it has spent. Where the survey forgets, nothing is. */
export function markSent(page) {
  const { family, round, spends } = page;
  const note = () => 'forgets' in page || write(family, { sent: { ...rounds(family), [round]: Number(spends) } });
  const done = note();
  drop(page);
  if (!done) note(); // in the room that this has left
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
