// Sends what waits on a tablet: several together, in an order that is drawn, so that the server learns no order of people from it.
// The same bytes at every attempt; what has arrived, or is refused for good, goes from the tablet.

import { way } from './design.js';
import { reader } from './page.js';
import { persist, post, withWork } from './posting.js';
import { changeRecord, lockName, readRecord } from './tablet_record.js';

const TOGETHER = 5; // wait until so many are there

const wakes = new EventTarget();
let least = TOGETHER;
let running = false;
let asked = false; // also while it ends: once more

/** Sends as soon as enough are there, or there is a network again; with `all`, also fewer. */
export async function sendWaiting(to, onChange, { all = false } = {}) {
  if (all) least = 1;
  asked = true;
  wakes.dispatchEvent(new Event('wake'));
  if (running) return;
  running = true;
  try {
    while (asked) {
      asked = false;
      await alone(() => sendBatches(to, onChange));
    }
  } finally {
    running = false;
    least = TOGETHER;
  }
}

/** One page at a time; another one that is open sends for both. */
const alone = (task) => (navigator.locks ? navigator.locks.request(lockName, { ifAvailable: true }, (lock) => lock && task()) : task());

async function sendBatches(to, onChange) {
  for (;;) {
    const { waiting } = await readRecord();
    if (waiting.length < least) return;
    await sendBatch(to, onChange);
  }
}

/** All that wait when the first arrives: whoever answers later comes with the next ones. */
async function sendBatch(to, onChange) {
  let batch = null;
  let reached = false;
  for (;;) {
    let body = '';
    const attempt = async () => {
      const { waiting } = await readRecord();
      batch = reached ? waiting.filter((other) => batch.includes(other)) : waiting;
      if (!batch.length) return { over: true };
      body = batch[drawBelow(batch.length)];
      const outcome = await post(to, await sign(body, to), { language: reader() });
      if (outcome.status === 428) way.setClock?.(outcome.date);
      return outcome;
    };
    const { over, refusal } = await persist(attempt, { wakes, onRetry: (_, error) => onChange?.(error) }).catch(readRefusal);
    if (over) return;
    reached = true;
    await changeRecord((record) => settle(record, body, refusal));
    onChange?.();
  }
}

const sign = async (body, to) => (way.work ? withWork(body, await way.work(JSON.parse(body).id, to)) : body);

function readRefusal(error) {
  if (!error.status) throw error;
  return { refusal: `${error.status} ${error.field}`.trim() };
}

function settle({ waiting, sent, refused }, body, refusal) {
  const left = waiting.filter((other) => other !== body);
  if (left.length === waiting.length) return {}; // another page was quicker
  if (!refusal) return { waiting: left, sent: sent + 1 };
  return { waiting: left, refused: { ...refused, [refusal]: (refused[refusal] ?? 0) + 1 } };
}

/** A whole number below n, each as likely as the others. */
function drawBelow(n) {
  const most = 2 ** 32 - (2 ** 32 % n);
  let drawn;
  do [drawn] = crypto.getRandomValues(new Uint32Array(1)); while (drawn >= most);
  return drawn % n;
}
