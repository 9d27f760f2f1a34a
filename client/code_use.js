// What becomes of the code of an invitation: looked at before the questions, sent with the answers, asked for again where it was
// refused, and gone from the address once they have arrived.

import { codeOf, groupCode, readCode, withCode } from './codes.js';
import { way } from './design.js';
import { askIn, held, letsNobodyIn } from './invitation.js';
import { copy } from './page.js';
import { post } from './posting.js';

const PATIENCE = 5000; // ms for a look at the code; then the questions begin without it

way.lookAt = (asked) => {
  const { dataset } = document.getElementById('code-use');
  const options = { language: document.documentElement.lang, patience: PATIENCE };
  return post(dataset.look, JSON.stringify({ invitation: asked }), options);
};

/** What was answered by another link may have no code yet; who has none is asked when the server misses it. */
way.sign = (body) => {
  const own = held.code ?? held.linked;
  return own && !codeOf(body) ? withCode(body, own) : body;
};

/** Takes the code out of the address, now and wherever Back leads. */
way.leave = () => {
  Object.assign(held, { linked: null, code: null, typed: '', admitted: null });
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
  const { complain, read } = askIn(form, groupCode(sent ?? readCode(location.hash.slice(1))));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const other = read();
    if (!other) return;
    let now = false;
    if (way.buy) {
      const { ticket } = JSON.parse(body);
      const { status, field } = await way.buy(other, ticket);
      now = letsNobodyIn(status, field); // none is sold any more: the answers are refused for the same reason, which is said then
      if (!way.holdsTicket() && !now) {
        const why = field === 'invitation' ? (status === 409 ? 'used' : 'unknown') : field === 'key' ? 'keyless' : 'unbought';
        complain(why);
        return;
      }
    }
    way.deliver(document.querySelector('main').dataset, way.buy ? way.sign(body) : withCode(body, other), { waiting: true, now, asked });
    document.querySelector('h1').focus();
  });
  return part;
};
