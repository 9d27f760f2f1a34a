// Invitations: the code comes in the fragment of the link, which browsers never send, or is typed from paper.
// It leaves this device in the body only. The address keeps it, for a page that is loaded again, until that has arrived.

import { codeOf, grouped, normalised, withCode } from './codes.js';
import { deliver } from './delivery.js';
import { way } from './design.js';
import { copy } from './page.js';

let code = null; // in its normal form
let typed = ''; // what stands in the field

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
  const other = normalised(location.hash.slice(1));
  if (other && other !== code) location.reload();
});

/** Tells on the introduction of the code in the link, or asks for one. */
way.admit = (part) => {
  code = normalised(location.hash.slice(1)) ?? code;
  const start = part.querySelector('.primary');
  const asks = !code || typed;
  part.querySelector('.actions').before(copy(asks ? 'invitation' : 'invited', { code: grouped(code) }));
  if (!asks) return;
  const form = part.querySelector('.invitation');
  const read = askIn(form, typed);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    start.click();
  });
  start.addEventListener('click', (event) => {
    code = read();
    typed = grouped(code);
    if (!code) event.stopImmediatePropagation();
  });
};

/** Who came here without the introduction is asked when the server misses the code. */
way.sign = (body) => (code ? withCode(body, code) : body);

/** Takes the code out of the address, now and wherever Back leads. */
way.leave = () => {
  code = null;
  typed = '';
  const forget = () => history.replaceState(history.state, '', way.address);
  forget();
  // The first step of the way; a new link has no state.
  addEventListener('popstate', ({ state }) => state && forget());
};

/** The screen that asks for another code after one was refused; the coins stay as they fell. */
way.readmit = (error, body, asked) => {
  if (error.field !== 'invitation' || error.status === 410) return null;
  const sent = codeOf(body);
  const part = copy('uninvited', { why: sent ? error.status : 'none', status: error.status, field: error.field, message: error.message }, 'why');
  const form = part.querySelector('.invitation');
  const read = askIn(form, grouped(sent ?? normalised(location.hash.slice(1))));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const other = read();
    if (!other) return;
    deliver(document.querySelector('main').dataset, withCode(body, other), { waiting: true, asked });
    document.querySelector('h1').focus();
  });
  return part;
};

/** Puts `text` into the field. Returns what reads it: a code, or null and what is wrong with it is said. */
function askIn(form, text) {
  const input = form.querySelector('input');
  const problem = form.querySelector('[role="alert"]');
  input.value = text;
  input.addEventListener('input', () => problem.replaceChildren());
  return () => {
    const read = normalised(input.value);
    if (!read) {
      problem.textContent = problem.dataset[input.value.trim() ? 'refused' : 'empty'];
      input.focus();
    }
    return read;
  };
}
