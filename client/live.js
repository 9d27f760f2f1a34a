// Puts the newest results in place while somebody looks at them. Without this module the page shows what was
// found when it was loaded. It computes nothing: every number comes from the server, which has the only formula.

import { morph } from './morph.js';

const LATE = 1000; // milliseconds until a refresh that is still on its way is spoken of

const live = document.querySelector('[data-refresh]');
const status = document.getElementById('refreshing');
const chosen = new WeakSet(); // fields that the reader changed: a refresh leaves them alone

live.addEventListener('input', ({ target }) => chosen.add(target));
next();

function next() {
  setTimeout(refresh, 1000 * Number(live.dataset.refresh));
}

async function refresh() {
  if (!document.hidden) {
    const late = setTimeout(() => say(status.dataset.late), LATE);
    const fresh = await newest().catch(() => null);
    clearTimeout(late);
    if (fresh) morph(live, fresh, (field) => chosen.has(field));
    say(fresh ? '' : status.dataset.failed);
  }
  next();
}

/** The part of the page that changes, as it is now; null when the server gives no such page. */
async function newest() {
  const response = await fetch(location.href);
  if (!response.ok) return null;
  return new DOMParser().parseFromString(await response.text(), 'text/html').getElementById(live.id);
}

function say(text) {
  if (status.textContent !== text) status.textContent = text;
}
