// A link that leads to no survey: what an earlier visit left on this device to be sent by it can be taken away.

import { dropPage, key } from './submit.js';

const link = location.pathname.split('/').slice(0, 3).join('/'); // also of a page below it
const tablet = `${link}/tablet`;
const section = document.getElementById('left');
const status = section.querySelector('[role="status"]');

/** The names of notes that this link's page has left: answers, what a code at the end is made of, a ticket. */
function listNotes() {
  try {
    return Object.entries(localStorage).flatMap(([name, text]) => {
      if (name.startsWith(key('ticket:')) && name.endsWith(`:${link}`)) return [name];
      return leadsHere(text) ? [name, key(name.replace('moneda:', 'completion:'))] : [];
    });
  } catch {
    return []; // nothing can be kept here
  }
}

function leadsHere(text) {
  try {
    return JSON.parse(text).to === `${link}/responses`;
  } catch {
    return false; // not ours
  }
}

/** The record of a tablet that is handed round, if one was kept (tablet_record.js). */
async function listRecords() {
  try {
    return (await indexedDB.databases()).map(({ name }) => name).filter((name) => name === key(tablet));
  } catch {
    return [];
  }
}

section.querySelector('button').addEventListener('click', async () => {
  for (const name of listNotes()) localStorage.removeItem(name);
  for (const name of await listRecords()) indexedDB.deleteDatabase(name);
  for (const scope of [tablet, link]) await dropPage(scope);
  section.replaceChildren(status);
  status.textContent = status.dataset.text;
  status.focus();
});

section.hidden = !listNotes().length && !(await listRecords()).length;
