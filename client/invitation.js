// Invitations: the code comes in the fragment of the link, which browsers never send, or is typed from paper.
// It leaves this device in the body only. The address keeps it, for a page that is loaded again, until that has arrived.

import { codeOf, grouped, normalised, withCode } from './codes.js';
import { way } from './design.js';
import { copy } from './page.js';
import { post } from './submit.js';

const PATIENCE = 5000; // ms for a look at the code; then the questions begin without it

let linked = normalised(location.hash.slice(1)); // as it came, in its normal form
let code = null; // that is used
let typed = ''; // what stands in the field
let admitted = null; // a code that is not known to be of no use

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
  if (other && other !== linked) location.reload();
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
  if (!typed) code = normalised(location.hash.slice(1)) ?? code;
  card.append(copy(!code || typed ? 'invitation' : 'invited', { code: grouped(code) }));
  let ask = card.querySelector('form') && watch();
  start.addEventListener('click', (event) => {
    if (way.holdsTicket?.()) return;
    const looking = start.getAttribute('aria-disabled') === 'true';
    if (ask && !looking) {
      code = ask.read();
      typed = grouped(code);
    }
    if (code && code === admitted && !looking) return; // on to the questions
    event.stopImmediatePropagation();
    if (code && !looking) look(code);
  });

  /** Whoever presses Enter in the field starts. */
  function watch() {
    const form = card.querySelector('form');
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      start.click();
    });
    return askIn(form, typed || grouped(code));
  }

  async function look(asked) {
    const { dataset } = document.getElementById('invitation');
    const said = card.querySelector('[role="status"]');
    start.setAttribute('aria-disabled', 'true');
    said.textContent = dataset.looking;
    const { status, field } = await (way.buy ?? lookAt)(asked);
    start.removeAttribute('aria-disabled');
    said.textContent = '';
    if (!start.isConnected) return;
    // Whatever else is said, or nothing: the response is what decides.
    if (field === 'invitation' && [409, 422].includes(status)) refuse(status);
    else if (way.holdsTicket?.()) {
      card.replaceChildren(way.showTicket());
      card.querySelector('h2').focus();
    } else if (way.buy) said.textContent = dataset[field === 'key' ? 'keyless' : 'unbought'];
    else {
      admitted = asked;
      start.click();
    }
  }

  function lookAt(asked) {
    const { dataset } = document.getElementById('invitation');
    const options = { language: document.documentElement.lang, patience: PATIENCE };
    return post(dataset.look, JSON.stringify({ invitation: asked }), options);
  }

  function refuse(status) {
    if (!ask) {
      card.replaceChildren(copy('invitation'));
      ask = watch();
    }
    ask.complain(status === 409 ? 'used' : 'unknown');
  }
};

/** What was answered by another link may have no code yet; who has none is asked when the server misses it. */
way.sign = (body) => {
  const own = code ?? linked;
  return own && !codeOf(body) ? withCode(body, own) : body;
};

/** Takes the code out of the address, now and wherever Back leads. */
way.leave = () => {
  code = null;
  typed = '';
  admitted = null;
  linked = null;
  const forget = () => history.replaceState(history.state, '', way.address);
  forget();
  // The first step of the way; a new link has no state.
  addEventListener('popstate', ({ state }) => state && forget());
};

/** The screen that asks for another code after one was refused; the coins stay as they fell. */
way.readmit = (error, body, asked) => {
  if (!['invitation', 'ticket'].includes(error.field) || error.status === 410) return null;
  const sent = codeOf(body);
  const refused = way.holdsTicket?.() && error.field === 'ticket' ? 'ticket' : 'none';
  const part = copy('uninvited', { why: sent ? error.status : refused, status: error.status, field: error.field, message: error.message }, 'why');
  const form = part.querySelector('.invitation');
  const { complain, read } = askIn(form, grouped(sent ?? normalised(location.hash.slice(1))));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const other = read();
    if (!other) return;
    if (way.buy) {
      const { ticket } = JSON.parse(body);
      const { status, field } = await way.buy(other, ticket);
      if (!way.holdsTicket()) {
        const why = field === 'invitation' ? (status === 409 ? 'used' : 'unknown') : field === 'key' ? 'keyless' : 'unbought';
        complain(why);
        return;
      }
    }
    way.deliver(document.querySelector('main').dataset, way.buy ? way.sign(body) : withCode(body, other), { waiting: true, asked });
    document.querySelector('h1').focus();
  });
  return part;
};

/** Puts `text` into the field. What reads it (a code, or null and what is wrong with it is said), and what complains of it. */
function askIn(form, text) {
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
      const read = normalised(input.value);
      if (!read) complain(input.value.trim() ? 'refused' : 'empty');
      return read;
    },
  };
}
