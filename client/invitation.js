// Invitations: the code comes in the fragment of the link, which browsers never send, or is typed from paper.
// It leaves this device in the body only (code_use.js). The address keeps it, for a page that is loaded again, until that has arrived.

import { groupCode, readCode } from './codes.js';
import { way } from './design.js';
import { copy } from './page.js';

/** The code: as the link brought it, in its normal form; that is used; what stands in the field; not known to be of no use. */
export const held = { linked: readCode(location.hash.slice(1)), code: null, typed: '', admitted: null };

/** Every step of the history but the first is without the code. */
way.address = location.pathname + location.search;

for (const link of document.querySelectorAll('.languages a')) {
  link.addEventListener('click', (event) => {
    event.preventDefault();
    location.replace(link.href + location.hash);
  });
}
// Going there by a fragment would leave the code behind in the history.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.querySelector('h1')?.focus();
});
// Another link in the same window.
addEventListener('hashchange', () => {
  const other = readCode(location.hash.slice(1));
  if (other && other !== held.linked) location.reload();
});

/** Tells on the introduction of the code in the link, or asks for one; and before the questions, whether it was used. */
way.admit = (part) => {
  const card = document.createElement('div');
  part.querySelector('.actions').before(card);
  const start = part.querySelector('.primary');
  if (way.holdsTicket?.()) {
    card.append(way.showTicket());
    return;
  }
  // The first step of the history keeps that of the link, also after another was typed.
  if (!held.typed) held.code = readCode(location.hash.slice(1)) ?? held.code;
  card.append(copy(!held.code || held.typed ? 'invitation' : 'invited', { code: groupCode(held.code) }));
  let ask = card.querySelector('form') && watch();
  start.addEventListener('click', (event) => {
    if (way.holdsTicket?.()) return;
    const looking = start.getAttribute('aria-disabled') === 'true';
    if (ask && !looking) {
      held.code = ask.read();
      held.typed = groupCode(held.code);
    }
    if (held.code && held.code === held.admitted && !looking) return; // on to the questions
    event.stopImmediatePropagation();
    if (held.code && !looking) askForCode(held.code);
  });

  /** Whoever presses Enter in the field starts. */
  function watch() {
    const form = card.querySelector('form');
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      start.click();
    });
    return askIn(form, held.typed || groupCode(held.code));
  }

  async function askForCode(asked) {
    const { dataset } = document.getElementById('code-use');
    const said = card.querySelector('[role="status"]');
    start.setAttribute('aria-disabled', 'true');
    said.textContent = dataset.looking;
    const { status, field } = await (way.buy ?? way.lookAt)(asked);
    start.removeAttribute('aria-disabled');
    said.textContent = '';
    if (!start.isConnected) return;
    // Whatever else is said, or nothing: the response is what decides.
    if (field === 'invitation' && [409, 422].includes(status)) refuse(status);
    else if (way.holdsTicket?.()) {
      card.replaceChildren(way.showTicket());
      card.querySelector('h2').focus();
    } else if (letsNobodyIn(status, field)) location.reload(); // it says why
    else if (way.buy) said.textContent = dataset[field === 'key' ? 'keyless' : 'unbought'];
    else {
      held.admitted = asked;
      start.click();
    }
  }

  function refuse(status) {
    if (!ask) {
      card.replaceChildren(copy('invitation'));
      ask = watch();
    }
    ask.complain(status === 409 ? 'used' : 'unknown');
  }
};

/** Whether this is refused to everybody, with whatever code, and without one. */
export const letsNobodyIn = (status, field) => status === 410 && field && !['key', 'invitation'].includes(field);

/** Puts `text` into the field. What reads it (a code, or null and what is wrong with it is said), and what complains of it. */
export function askIn(form, text) {
  const input = form.querySelector('input');
  const problem = form.querySelector('[role="alert"]');
  const complain = (why) => {
    problem.textContent = problem.dataset[why];
    input.focus();
  };
  input.value = text;
  input.addEventListener('input', () => problem.replaceChildren());
  return {
    complain,
    read() {
      const read = readCode(input.value);
      if (!read) complain(input.value.trim() ? 'refused' : 'empty');
      return read;
    },
  };
}
