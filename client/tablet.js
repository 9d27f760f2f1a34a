// One tablet, many people: whoever asks hands it over and takes it back, and in between it is a survey page like any other. Each
// person has a page of their own, which is loaded anew for the next: answers, coins, receipts and the way go with it.

import { fillReceipt } from './delivery.js';
import { way } from './design.js';
import { isPageKept } from './offline.js';
import { copy, put, show } from './page.js';
import { hashPin, isRightPin, readPin, waitAfter } from './pin.js';
import { sendWaiting } from './tablet_outbox.js';
import { changeRecord, endRecord, eraseEnded, readRecord } from './tablet_record.js';

const IDLE = 900000; // ms until fewer than a batch are sent, while nobody answers; up to four times as long, by chance
const STUCK = 10000; // ms until the page is loaded without a step back, which may be slow; then the history is one longer
const REASONS = { // by the status and the field of a refusal for good
  '410 survey': 'over', '410 link': 'link', '410 replaced_link': 'link', '409 version': 'changed', '422 invitation': 'codes', '422 ticket': 'codes',
};
const TRYING = { '404 survey': 'gone', '423 survey': 'paused' }; // the same of one that another attempt may mend
const { dataset: page } = document.querySelector('main');
const opening = document.querySelector('.opening p'); // what the page began with
const { keepPage, dropPage } = way;
delete way.dropPage; // the page is everybody's, in each language, and stays
delete way.keepPage;
let survey = null; // a promise of it
let begin = null; // with it
let leaving = ''; // where to
let instead = 0; // of a step back that never comes
let problem = ''; // why nobody can answer now
let idle = 0;

// Back is a step back within a person's own way, and leads nowhere else.
const guard = () => history.pushState({ guard: true }, '');
if (!history.state?.guard) guard();
addEventListener('popstate', () => {
  if (leaving) {
    clearTimeout(instead);
    location.replace(leaving);
  } else {
    guard();
    document.querySelector('main .back')?.click();
  }
});
// What a browser could bring back shows nothing.
addEventListener('pagehide', () => document.querySelector('main').replaceChildren());
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
for (const event of ['online', 'visibilitychange']) addEventListener(event, () => send());
// The clipboard is the next person's, too.
for (const event of ['copy', 'cut']) document.addEventListener(event, (copied) => copied.preventDefault());
document.addEventListener('click', (event) => {
  const { target } = event;
  if (target.closest('.hand-back')) handBack();
  const link = target.closest('a');
  if (link?.closest('.languages')) {
    event.preventDefault();
    loadAnew(link.href);
  } else if (link && !link.matches('.skip')) {
    event.preventDefault(); // a page that it leads to would stay open, or in the history
    link.replaceWith(link.href.includes(link.textContent) ? link.href : `${link.textContent} (${link.href})`);
  }
});

/** Loads this page anew, or in another language, at the same place of the history: its length does not tell who did what. */
function loadAnew(address) {
  leaving = address;
  clear();
  history.back();
  instead = setTimeout(() => location.replace(leaving), STUCK);
}

/** At once: however long the next page takes, or if it never comes, nothing of this person stays in view. */
function clear() {
  document.querySelector('main').replaceChildren(opening);
}

/** In the language of whoever hands it round. */
async function handBack() {
  clear();
  const { home } = await readRecord().catch(() => ({ home: location.search }));
  loadAnew(location.pathname + home);
}

/** What the last of it leaves behind goes, too, where somebody has left meanwhile. */
async function send(options) {
  await sendWaiting(page.responses, showCounts, options);
  if (await eraseEnded()) await dropPage();
}

/** The survey, once it was handed over and somebody pressed Start. */
way.handOver = (loading) => new Promise((resolve, reject) => {
  survey = loading;
  begin = resolve;
  open().catch(reject);
});

async function open() {
  problem = page.refuses || await survey.then(() => '', ({ check }) => check ?? 'unknown');
  let record;
  try {
    record = await readRecord();
  } catch {
    show(copy('tablet-forgetful'));
    return;
  }
  const loaded = performance.getEntriesByType('navigation').at(0)?.type;
  if (record.pin && loaded !== 'navigate' && location.search !== record.home) loadAnew(location.pathname + record.home); // somebody stopped
  else if (record.pin) await showHandOver();
  else await showBeginning(record);
  send({ all: !record.pin });
}

/** Nobody hands it round yet: with a PIN somebody begins. */
async function showBeginning({ waiting }) {
  const part = copy('tablet-beginning', { problem: problem ? 'yes' : 'no' }, 'problem');
  explainProblem(part);
  const form = part.querySelector('form');
  form?.addEventListener('submit', async (event) => {
    event.preventDefault();
    const pin = readTyped(form);
    if (!pin) return;
    form.querySelector('button').setAttribute('aria-disabled', 'true');
    const kept = await hashPin(pin);
    await changeRecord(() => ({ pin: kept, home: location.search }));
    navigator.storage?.persist?.();
    await showDesk();
  });
  if (!waiting.length) part.querySelector('.counts').remove();
  show(part, { focus: false });
  await showCounts();
}

async function showHandOver() {
  const part = copy('tablet-hand-over', { problem: problem ? 'yes' : 'no' }, 'problem');
  explainProblem(part);
  part.querySelector('.start')?.addEventListener('click', async () => {
    clearTimeout(idle);
    begin(await survey);
  });
  part.querySelector('.desk').addEventListener('click', askPin);
  show(part);
  sendOnceIdle();
  await showCounts();
  keepAgain(); // nobody waits for it
}

/** Until somebody presses Start. */
function sendOnceIdle() {
  clearTimeout(idle);
  idle = setTimeout(() => send({ all: true }), IDLE * (1 + 3 * Math.random()));
}

function explainProblem(part) {
  part.querySelector('.problem')?.append(copy('tablet-problem', { check: problem }, 'check'));
}

function readTyped(form) {
  const field = form.querySelector('input');
  const said = form.querySelector('[role="alert"]');
  const pin = readPin(field.value);
  if (!pin) {
    said.textContent = said.dataset.refused;
    field.focus();
  }
  return pin;
}

function askPin() {
  const part = copy('tablet-pin');
  const form = part.querySelector('form');
  const field = form.querySelector('input');
  const said = form.querySelector('[role="alert"]');
  let looking = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const pin = looking ? null : readTyped(form);
    if (!pin) return;
    field.value = '';
    looking = true; // each is counted before the next
    await tryPin(pin);
    looking = false;
  });

  async function tryPin(pin) {
    const { pin: kept, wrong, until } = await readRecord();
    const [pause, most] = [until - Date.now(), waitAfter(wrong)];
    if (pause > most) await changeRecord(() => ({ until: Date.now() + most })); // the clock was put back
    if (pause > 0) {
      said.textContent = put(said.dataset.wait, { seconds: Math.ceil(Math.min(pause, most) / 1000) });
    } else if (await isRightPin(pin, kept)) {
      await changeRecord(() => ({ wrong: 0, until: 0 }));
      await showDesk();
    } else {
      await changeRecord(({ wrong }) => ({ wrong: wrong + 1, until: Date.now() + waitAfter(wrong + 1) }));
      said.textContent = said.dataset.wrong;
      field.focus();
    }
  }

  form.addEventListener('input', () => said.replaceChildren());
  form.querySelector('.back').addEventListener('click', showHandOver);
  show(part);
  field.focus();
}

/** For whoever hands it round: what is kept, waits, has arrived or was refused; never an answer. */
async function showDesk() {
  const { home } = await changeRecord(() => ({ home: location.search }));
  const part = copy('tablet-desk');
  const find = (selector) => part.querySelector(selector);
  const ready = find('.ready');
  const leave = find('.leave');
  find('.hand-over').addEventListener('click', () => loadAnew(location.pathname + home));
  find('.send').addEventListener('click', () => send({ all: true }));
  leave.addEventListener('click', async () => {
    const { waiting } = await readRecord();
    if (waiting.length && !leave.dataset.asked) {
      leave.dataset.asked = 'yes';
      const place = document.querySelector('.leaving');
      place.replaceChildren(copy('tablet-leaving', { waiting: waiting.length }));
      place.scrollIntoView({ block: 'center' });
    } else await end();
  });
  show(part);
  await showCounts();
  ready.textContent = ready.dataset[await keepAgain() ? 'yes' : 'no'];
}

/** Whether the page is kept from now on: it may have changed on the site, and what was kept of it gone. */
async function keepAgain() {
  if (page.offline && !await isPageKept()) await keepPage();
  return isPageKept();
}

async function end() {
  const waiting = await endRecord();
  if (!waiting) await dropPage();
  show(copy('tablet-ended', { left: waiting ? 'some' : 'none' }, 'left'));
  if (!waiting) return;
  await showCounts();
  send({ all: true });
}

/** Where a screen has a place for it. An error is one that another attempt may mend. */
async function showCounts(error) {
  const place = document.querySelector('.counts');
  if (!place) return;
  const { people, waiting, sent, refused } = await readRecord();
  place.replaceChildren(copy(`tablet-${place.dataset.counts}`, { people, waiting: waiting.length, sent }));
  for (const [refusal, n] of Object.entries(refused)) place.append(copy('tablet-refusal', { n, refusal, why: REASONS[refusal] ?? 'other' }, 'why'));
  if (error) place.append(copy('tablet-trying', { trying: TRYING[`${error.status} ${error.field}`] ?? 'unreached' }, 'trying'));
}

/** Once Send is pressed: into the slots, and nowhere else. */
way.keepBody = async (body) => {
  try {
    await changeRecord(({ waiting, people }) => ({ waiting: [...waiting, body], people: people + 1 }));
  } catch {
    await new Promise((resolve) => {
      const part = copy('tablet-full');
      part.querySelector('.primary').addEventListener('click', resolve, { once: true });
      show(part);
    });
    await way.keepBody(body);
  }
};

/** The last screen of a person; the receipt is shown if they ask for it, and goes with the page. */
way.thank = (id) => {
  const part = copy('tablet-kept');
  const ask = part.querySelector('.ask-receipt');
  ask.addEventListener('click', () => {
    const card = copy('tablet-receipt');
    fillReceipt(card, id);
    for (const link of card.querySelectorAll('a')) {
      const { href } = new URL(link.getAttribute('href'), location);
      Object.assign(link, { textContent: href, translate: false, dir: 'ltr' });
    }
    const heading = card.querySelector('h2');
    heading.tabIndex = -1;
    ask.replaceWith(card);
    heading.focus(); // which the button had
  });
  show(part, { header: false });
  send();
  sendOnceIdle(); // the screen may stay
};
