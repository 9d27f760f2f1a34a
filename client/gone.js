// A link that leads to no survey: what an earlier visit left on this device to be sent by it can be taken away.

import { dropPage, key, nameClaim, nameTicket } from './submit.js';

const link = location.pathname.split('/').slice(0, 3).join('/'); // also of a page below it
const tablet = `${link}/tablet`;
const section = document.getElementById('left');
const button = section.querySelector('button');
const status = section.querySelector('[role="status"]');

/** The names of notes that this link's page has left: answers, what a code at the end is made of, a ticket. */
function listNotes() {
  try {
    return Object.entries(localStorage).flatMap(([name, text]) => {
      if (name === nameTicket(name.split(':')[2], link)) return [name];
      return leadsHere(text) ? [name, key(nameClaim({ round: name.replace(key(''), '') }))] : [];
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

/** Whether there is a record of a tablet that is handed round (tablet_record.js); whoever looks leaves nothing. */
const isRecorded = () => settle(() => indexedDB.open(key(tablet)), (asked) => asked.transaction.abort());

/** Ends with it, also where another page has the record open, once that lets it go. */
const dropRecord = () => settle(() => indexedDB.deleteDatabase(key(tablet)));

/** Whether what was asked for came about. */
const settle = (ask, create) => new Promise((resolve) => {
  const asked = ask();
  asked.onupgradeneeded = () => create(asked);
  asked.onsuccess = () => {
    asked.result?.close();
    resolve(true);
  };
  asked.onerror = () => resolve(false);
}).catch(() => false); // nothing can be kept here

const isAnythingLeft = async () => listNotes().length > 0 || await isRecorded();

button.addEventListener('click', async () => {
  for (const name of listNotes()) localStorage.removeItem(name);
  await dropRecord();
  for (const scope of [tablet, link]) await dropPage(scope);
  const left = await isAnythingLeft();
  if (!left) section.replaceChildren(status);
  status.textContent = status.dataset[left ? 'remains' : 'gone'];
  status.focus();
});

section.hidden = !await isAnythingLeft();
