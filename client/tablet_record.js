// The one record that a tablet keeps of a survey: the PIN's hash, how many answered and arrived, and what waits. It is read, changed
// and written whole, by one page at a time, and written before anybody is told that it is.

import { createKey, fitSize, openSlots, sealSlots } from './slots.js';
import { key } from './submit.js';

const STORE = 'tablet';
const name = key(location.pathname);
export const lockName = `${name}:sending`;
const NOTHING = { pin: null, wrong: 0, until: 0, home: '', people: 0, sent: 0, refused: {} };

/** To be read only if it is there: whoever looks leaves nothing. */
function openDatabase(mode) {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(name, 1);
    asked.onupgradeneeded = () => (mode === 'readonly' ? asked.transaction.abort() : asked.result.createObjectStore(STORE));
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => (mode === 'readonly' && asked.error.name === 'AbortError' ? resolve(null) : reject(asked.error));
  });
}

async function use(mode, task) {
  const database = await openDatabase(mode);
  if (!database) return undefined;
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode, { durability: 'strict' });
      const asked = task(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = () => reject(transaction.error ?? new Error('aborted'));
    });
  } finally {
    database.close();
  }
}

const alone = (task) => (navigator.locks ? navigator.locks.request(name, task) : task());

async function read() {
  const stored = await use('readonly', (store) => store.get(STORE));
  if (stored) return { ...stored, waiting: await openSlots(stored.key, stored.slots, stored.size) };
  return { ...NOTHING, size: 0, key: await createKey(), waiting: [] };
}

/** All of it; `waiting` are the bodies that are to be sent, in no order. */
export const readRecord = () => alone(read);

/** Writes what `change` makes of the record. A key whose last body has gone is never used again. */
export const changeRecord = (change) => alone(async () => {
  const former = await read();
  const { waiting, ...record } = { ...former, ...change(former) };
  if (former.waiting.length && !waiting.length) record.key = await createKey();
  record.size = Math.max(record.size, fitSize(Math.max(1, ...waiting.map((body) => new TextEncoder().encode(body).length))));
  record.slots = await sealSlots(record.key, waiting, record.size);
  await use('readwrite', (store) => store.put(record, STORE));
  return { ...record, waiting };
});

/** Ends it: the PIN and what was counted go; what waits stays until it has arrived, and else nothing. */
export async function endRecord() {
  const { waiting } = await changeRecord(({ home }) => ({ ...NOTHING, home }));
  await eraseEnded();
  return waiting.length;
}

/** Whether nobody hands it round any more, nothing waits and no refusal is unread: then nothing is kept from now on. */
export const eraseEnded = () => alone(async () => {
  const { pin, size, waiting, refused } = await read();
  if (pin || !size || waiting.length || Object.keys(refused).length) return false;
  await erase();
  return true;
});

const erase = () => new Promise((resolve, reject) => {
  const asked = indexedDB.deleteDatabase(name);
  asked.onsuccess = () => resolve();
  asked.onerror = () => reject(asked.error);
});
