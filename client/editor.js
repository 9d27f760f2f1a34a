// The editor works without this module: every button sends the form. Here the same form is sent in the
// background, also a moment after the last keystroke, and the page that comes back is put in place.

import { dragIn } from './arranging.js';
import { readPage } from './fetched_page.js';
import { morph } from './morph.js';
import { previewIn } from './preview_frame.js';

const REST = 1000; // milliseconds without a keystroke until it is saved
const SLIDER_REST = 150;
const RETRY = 5000;
// What may wait to be done twice; anything else that is pressed again while it waits, is meant once.
const REPEATED = /^(keep|renew|undo|redo|up|down|move|selected_up|selected_down|add_option)\b/;
const OWN = ['base', 'current', 'added', 'kept', 'list', 'selected', 'together']; // fields that are no part of the draft

const main = document.querySelector('main');
const form = document.getElementById('editor');
const status = document.getElementById('status');
const preview = previewIn(document.getElementById('phone'));
let timer;
let queue = Promise.resolve(); // one exchange after the other: each names the draft that the one before made
const waiting = new Set(); // what they will do
let known = 'overtaken' in form.dataset ? '' : draft(form); // what the server has
let leaving = false;

form.addEventListener('input', ({ target }) => later(target.type === 'range' ? SLIDER_REST : REST));
form.addEventListener('change', ({ target }) => {
  if (target.dataset.renews) send(target.dataset.renews);
  else if (isChanged()) send('keep');
});
form.addEventListener('paste', pasteAnswers);
form.addEventListener('focusin', ({ target }) => follow(target.closest('.entry')));
form.addEventListener('toggle', ({ target }) => target.open && follow(target.closest('.entry')), true);
dragIn(form.querySelector('.entries-edited'), (from, to) => send(`move-${from}-${to}`));
form.addEventListener('submit', submit);
form.addEventListener('click', (event) => {
  // The second click of two may find another question's button, as the first moved it there.
  const button = event.target.closest('button');
  if (event.detail > 1 && button && !REPEATED.test(button.value)) event.preventDefault();
});
document.addEventListener('keydown', shortcut);
document.addEventListener('click', followLink);
addEventListener('beforeunload', (event) => {
  if (!leaving && isChanged()) event.preventDefault();
});
follow(form.querySelector('.entry[open]'));
preview.show(form.elements.base.value);

function draft(of) {
  return JSON.stringify([...new FormData(of)].filter(([name]) => !OWN.includes(name)));
}

function isChanged() {
  return draft(form) !== known;
}

function later(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(() => isChanged() && send('keep'), milliseconds);
}

function submit(event) {
  if (leaving) return;
  event.preventDefault();
  const button = event.submitter;
  if (button.getAttribute('aria-disabled') === 'true') return;
  if (button.value === 'save' || button.value === 'mine') leave(() => form.requestSubmit(button));
  else send(button.value);
}

/** Several lines pasted into an answer are several answers: empty ones below it take them, then new ones. */
function pasteAnswers(event) {
  const { target } = event;
  const list = target.closest('.options ol');
  const [first, ...others] = event.clipboardData.getData('text/plain').split(/[\r\n]+/).map((line) => line.trim()).filter(Boolean);
  if (!list || !others.length) return;
  event.preventDefault();
  target.setRangeText(first, target.selectionStart, target.selectionEnd, 'end');
  const fields = [...list.querySelectorAll('input')];
  for (const field of fields.slice(fields.indexOf(target) + 1).filter(({ value }) => !value)) field.value = others.shift() ?? '';
  for (const [place, line] of others.entries()) {
    const added = document.createElement('input');
    added.type = 'hidden';
    added.name = target.name.replace(/\d+\]\.text$/, `${fields.length + place}].text`);
    added.value = line;
    list.append(added);
  }
  send('keep');
}

function follow(entry) {
  if (entry) preview.follow(entry.dataset.entry);
}

/** A link is followed once everything is kept; one to a field here folds out what the field is in. */
function followLink(event) {
  const link = event.target.closest('a[href]');
  if (link?.getAttribute('href').startsWith('#')) {
    const field = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    for (let fold = field?.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    (field?.querySelector(':scope > summary') ?? field)?.focus();
  }
  const elsewhere = link && new URL(link.href).pathname !== location.pathname;
  if (!elsewhere || event.ctrlKey || event.metaKey || event.shiftKey || !isChanged()) return;
  event.preventDefault();
  send('keep');
  leave(() => { if (isChanged()) leaving = false; location.href = link.href; });
}

function leave(go) {
  clearTimeout(timer);
  // Not within the event that asks for it: a form that is being sent cannot be sent again.
  queue = queue.then(() => setTimeout(() => {
    leaving = true;
    go();
  }));
}

function shortcut(event) {
  const { target, key } = event;
  const entry = target.closest?.('.entry-row')?.querySelector('.entry');
  if (event.altKey && (key === 'ArrowUp' || key === 'ArrowDown') && entry) {
    event.preventDefault();
    send(`${key === 'ArrowUp' ? 'up' : 'down'}-${entry.dataset.place}`);
  } else if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'z' && !writing(target)) {
    event.preventDefault();
    send(event.shiftKey ? 'redo' : 'undo');
  } else if (key === 'Enter' && target.id === 'together') {
    event.preventDefault();
    send('selected_strength');
  }
}

/** Whether an element has an undo of its own. */
function writing(element) {
  return element.matches?.('textarea, input:not([type="checkbox"], [type="radio"], [type="range"])');
}

function send(action) {
  clearTimeout(timer);
  if (waiting.has(action) && !REPEATED.test(action)) return;
  waiting.add(action);
  const find = subject(action);
  queue = queue.then(async () => {
    const found = find();
    if (found) await exchange(found);
    waiting.delete(action);
  });
}

/** An action about a question, with the place that it has by its turn: what goes before may move it, or delete it. */
function subject(action) {
  const [, name, place, rest] = /^(\w+)-(\d+)(.*)$/.exec(action) ?? [];
  const entries = () => [...form.querySelectorAll('.entry')].map((entry) => entry.dataset.entry);
  const before = entries();
  return () => {
    const now = entries();
    if (!name || now.length === before.length && (now[place] === before[place] || !now.includes(before[place]))) return action;
    const found = now.indexOf(before[place]);
    return found < 0 ? null : `${name}-${found}${rest}`;
  };
}

async function exchange(action) {
  if ('overtaken' in form.dataset) return; // the reader decides first
  const body = new URLSearchParams([['action', action], ...new FormData(form)]); // the form's last field stays last
  const values = new Map([...form.elements].map((field) => [field, state(field)]));
  say('saving');
  const answer = await post(body);
  if (!answer) {
    say('failed', status.dataset.unreachable);
    return later(RETRY);
  }
  const { page, at, code } = answer;
  const fresh = page.getElementById('editor');
  if (!fresh) return say('failed', page.querySelector('main .lead')?.textContent ?? String(code));
  const server = draft(fresh);
  put(page, action, at, (field) => values.has(field) && values.get(field) !== state(field));
  if ('overtaken' in form.dataset) return main.querySelector('[role="alert"]').focus();
  known = server;
  history.replaceState(null, '', address());
  say('saved');
  preview.show(form.elements.base.value);
  if (isChanged()) later(REST);
}

/** The page that came back, and what its address says of where to go on; null if nothing came back. */
async function post(body) {
  try {
    const response = await fetch(address(), { method: 'POST', body });
    const page = await readPage(response);
    return { page, at: new URL(response.url).searchParams, code: response.status };
  } catch {
    return null;
  }
}

/** Not `form.action`: buttons have that name. */
function address() {
  return form.getAttribute('action');
}

function state(field) {
  return field.type === 'checkbox' || field.type === 'radio' ? field.checked : field.value;
}

/** Put the page that came back in place. A save leaves the reader where they are; a button may lead on. */
function put(page, action, place, typed) {
  // A new card folds the others in, so that a long survey stays short.
  const taken = action === 'take_list' && place.get('said') === 'listed';
  const alone = taken || /^(add|insert_question)$|^duplicate/.test(action);
  const opened = new Set([...form.querySelectorAll(alone ? 'none' : 'details[open]')].map(handle));
  const lead = page.querySelector('#editor [autofocus]')?.id;
  const at = page.querySelector(`.entry[data-place="${Number(place.get('at') ?? -1)}"]`)?.dataset.entry;
  const before = document.activeElement;
  const inside = form.contains(before);
  const shifted = findMoved(before, action, place);
  morph(main, document.importNode(page.querySelector('main'), true), typed);
  document.title = page.title;
  if (taken) form.elements.list.value = '';
  // What a button did is said until the next one, also if a save comes between.
  if (action !== 'keep') document.getElementById('said').textContent = page.getElementById('said').textContent;
  if (action !== 'keep') for (const details of form.querySelectorAll('details')) details.open = opened.has(handle(details));
  const card = at && form.querySelector(`.entry[data-entry="${CSS.escape(at)}"]`);
  if (card && !/^(keep|move)/.test(action) && !shifted) card.open = true;
  const target = shifted ? form.querySelector(shifted) : leads(action) && lead && document.getElementById(lead);
  if (target) target.focus();
  else if (inside && !before.getClientRects().length) form.querySelector('.spent [value="undo"]').focus();
}

/** Buttons after which one goes on writing somewhere else. */
function leads(action) {
  return /^(add|duplicate|delete|selected_strength|insert_question|read_list|take_list)/.test(action);
}

/** What was in hand before a move is in hand after it: a selector of the same field or button in its new place. */
function findMoved(element, action, place) {
  const [, name, from] = /^(up|down|option_up|option_down)-([\d-]+)$/.exec(action) ?? [];
  const to = [place.get('at'), place.get('option')].filter((part) => part !== null).join('-');
  if (!name || !to) return null;
  if (element.value?.endsWith?.(`-${from}`) && element.localName === 'button') {
    return `button[value="${element.value.slice(0, -from.length)}${to}"]`;
  }
  const card = `[data-place="${place.get('at')}"]`;
  if (element.localName === 'summary') return `${card} > summary`;
  if (element.name === 'selected') return `[name="selected"][value="${place.get('at')}"]`;
  const id = element.id?.replace(/questions\[\d+\]/, `questions[${place.get('at')}]`);
  return id ? `#${CSS.escape(id)}` : null;
}

/** What is the same fold before and after: the entry's name and the part of it. */
function handle(details) {
  const entry = details.closest('.entry')?.dataset.entry ?? '';
  return `${entry} ${details.id.replace(/questions\[\d+\]/, '')}`;
}

function say(what, reason = '') {
  const text = status.dataset[what].replace('{reason}', reason);
  if (status.textContent !== text) status.textContent = text;
  status.classList.toggle('error', what === 'failed');
  status.classList.toggle('kept', what === 'saved');
}
