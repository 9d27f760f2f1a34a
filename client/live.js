// Puts the newest results in place while somebody looks at them, and marks what says something else than before.
// Without this module the page shows what was found when it was loaded. It computes nothing: every number comes from
// the server, which has the only formula. What is folded comes with the page once somebody opens it.

import { readPage } from './fetched_page.js';
import { morph } from './morph.js';

const LATE = 1000; // milliseconds until a refresh that is still on its way is spoken of
const NOT_HERE = '[data-part]:has(> .not-here)'; // what was folded when the page was made

const live = document.querySelector('[data-refresh]');
const status = document.getElementById('refreshing'); // reads out what changes in it, and nothing else
const [waiting, updated] = status.children;
const chosen = new WeakSet(); // fields that the reader changed: a refresh leaves them alone
let shown = read(live); // what each thing that can be marked says
let marked = new Set(); // which of them changed at the last change; they stay marked until the next
let looking = Promise.resolve(); // one look at the server after the other: the last that was asked for is shown

live.addEventListener('input', ({ target }) => chosen.add(target));
live.addEventListener('toggle', ({ target }) => target.open && target.matches(NOT_HERE) && refreshInTurn(), true);
next();

function next() {
  setTimeout(() => refreshInTurn().then(next), 1000 * Number(live.dataset.refresh));
}

function refreshInTurn() {
  looking = looking.then(refresh);
  return looking;
}

async function refresh() {
  if (!document.hidden) {
    const late = setTimeout(() => say(waiting, status.dataset.late), LATE);
    const fresh = await newest().catch(() => null);
    clearTimeout(late);
    if (fresh) {
      mark(fresh);
      keepPlace(() => morph(live, fresh, (field) => chosen.has(field)));
    }
    say(waiting, fresh ? '' : status.dataset.failed);
  }
}

/** The part of the page that changes, as it is now, with what is folded out; null when the server gives no such page. */
async function newest() {
  const address = new URL(location.href);
  const open = [...live.querySelectorAll('[data-part][open]')].map(({ dataset }) => dataset.part);
  address.searchParams.delete('open');
  if (open.length) address.searchParams.set('open', open.join(','));
  const response = await fetch(address);
  if (!response.ok) return null;
  return (await readPage(response)).getElementById(live.id);
}

/** Changes the page around what somebody is at, or reads: that stays where it is on the screen. */
function keepPlace(change) {
  const used = live.contains(document.activeElement) ? document.activeElement : null;
  const read = used ?? document.elementFromPoint(innerWidth / 2, innerHeight / 3);
  const before = read?.getBoundingClientRect().top;
  change();
  if (read?.isConnected) scrollBy({ top: read.getBoundingClientRect().top - before, behavior: 'instant' });
}

/** The texts of what can be marked, by its name. */
function read(part) {
  const named = [...part.querySelectorAll('[data-mark]')];
  return new Map(named.map(({ dataset, textContent }) => [dataset.mark, textContent.replace(/\s+/g, ' ').trim()]));
}

/** Marks what says something else than what is shown, before it takes its place. Of the first results, nothing. */
function mark(fresh) {
  const found = read(fresh);
  for (const part of live.querySelectorAll(NOT_HERE)) {
    for (const [name, text] of read(fresh.querySelector(`#${part.id}`) ?? part)) shown.set(name, text);
  }
  const changed = [...found.keys()].filter((name) => found.get(name) !== shown.get(name));
  if (changed.length) {
    marked = new Set(shown.size ? changed : []);
    const time = new Date().toLocaleTimeString(document.documentElement.lang, { hour: '2-digit', minute: '2-digit' });
    say(updated, [`${time} ·`, fresh.dataset.says, ...(marked.size ? [status.dataset.marked] : [])].join(' '));
  }
  shown = found;
  for (const each of fresh.querySelectorAll('[data-mark]')) {
    if (marked.has(each.dataset.mark)) each.dataset.changed = status.dataset.word;
  }
}

function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
