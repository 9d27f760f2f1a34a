// A code at the end: drawn here, and signed blindly once the answers have arrived. The receipt is the hash of what is sent to be
// signed, so that each response is good for one code; nothing in the code leads to the receipt, nor to the answers.

import { blind, finish, fromText, randomBytes, toText } from './blinding.js';
import { way } from './design.js';
import { copy, reader } from './page.js';
import { persist, post } from './posting.js';
import { hex } from './randomize.js';
import { dropClaim, key, nameClaim, recall } from './submit.js';

const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const DRAWN = 12; // letters, of 5 bits each
const TAG = 5; // bytes of a hash of the signature: 8 letters
const RECEIPT = 16; // bytes
const MEANT = 'Moneda completion';

const { dataset: page } = document.querySelector('main');
const place = key(nameClaim(page));
const erased = new AbortController(); // nothing is asked for, nor put back, from then on
let claim = null; // what this visit's code is made of

/** The key of this survey, which its own hash must name: nobody has one of their own. */
way.takeCompletionKey = async (text, named) => {
  // Of a visit that was cut off between arrival and code, a page that leaves no note leaves this neither.
  if ('forgets' in page && readNote()?.receipt !== recall(page).id) remove();
  const key = fromText(text ?? '');
  if (await sha256(key).then(hex) !== named) return false;
  claim = await draw(key).catch(() => null);
  return Boolean(claim);
};

way.drawReceipt = () => claim.receipt;

/** Kept beside the answers that wait: loaded again, the page makes the same code. */
way.keepClaim = (receipt) => claim?.receipt === receipt && write(claim);

way.dropClaim = () => {
  erased.abort();
  claim = null;
  remove();
};

/** Puts the code of a response that has arrived where a screen has room for it: the one of `receipt`, or that of an earlier visit. */
way.showCode = (part, receipt) => {
  const note = readNote();
  const held = receipt ? [claim, note].find((one) => one?.receipt === receipt) : note;
  if ('forgets' in page) remove(); // it lasts as long as this page, whether a code comes of it or not
  const room = part.querySelector('.completion');
  if (!room || (!held && !receipt)) return;
  const card = copy('completion', { made: held ? 'yes' : 'no' }, 'made');
  const section = card.querySelector('section');
  room.replaceChildren(card);
  if (held) fill(section, held);
};

async function fill(section, held) {
  const [shown, status, button] = ['code', '[role="status"]', 'button'].map((selector) => section.querySelector(selector));
  status.textContent = status.dataset.making;
  try {
    const code = held.code ?? await make(held, section.dataset.claim);
    if (erased.signal.aborted) return;
    shown.textContent = code.match(/.{4}/g).join('-');
    status.textContent = '';
    button.hidden = false;
  } catch ({ status: refused, field }) {
    const keyless = field === 'key'; // it may be found again: loaded again, the page asks once more
    if ([404, 410].includes(refused) && !keyless) remove(); // for good; what is kept would still tell the receipt
    status.textContent = status.dataset[keyless ? 'keyless' : 'late'];
    return;
  }
  button.addEventListener('click', async () => {
    const done = await navigator.clipboard?.writeText(shown.textContent).then(() => true, () => false);
    if (!done) getSelection().selectAllChildren(shown);
    status.textContent = status.dataset[done ? 'done' : 'selected'];
  });
}

/** The code, as often as it is asked for the same; then nothing of what it was made of is left. */
async function make({ receipt, drawn, blinded, inverse, modulus }, address) {
  const body = JSON.stringify({ blinded });
  let signature = null;
  const { over } = await persist(async () => {
    if (erased.signal.aborted) return { over: true };
    const outcome = await post(address, body, { language: reader(), signal: erased.signal });
    if (outcome.status !== 200) return outcome;
    try {
      signature = await finish(fromText(modulus), message(drawn), fromText((await outcome.read).signature), fromText(inverse), 0);
    } catch {
      return { status: 0 }; // an answer that was cut off, or that somebody else gave
    }
    return outcome;
  });
  if (over) return null;
  const code = drawn + spell((await sha256(signature)).slice(0, TAG));
  claim = { code };
  if (readNote()?.receipt === receipt) write(claim); // not what another page has erased, nor what a page that forgets has removed
  return code;
}

async function draw(modulus) {
  const drawn = Array.from(randomBytes(DRAWN), (byte) => LETTERS[byte % LETTERS.length]).join('');
  const { blinded, inverse } = await blind(modulus, message(drawn), { salt: new Uint8Array(0) });
  const receipt = hex((await sha256(blinded)).slice(0, RECEIPT));
  return { receipt, drawn, blinded: toText(blinded), inverse: toText(inverse), modulus: toText(modulus) };
}

const message = (drawn) => new TextEncoder().encode(drawn + MEANT);
const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

/** Bytes as letters, five bits each. */
function spell(bytes) {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.match(/.{5}/g).map((five) => LETTERS[parseInt(five, 2)]).join('');
}

const write = (note) => withStorage((storage) => storage.setItem(place, JSON.stringify(note)));
const readNote = () => withStorage((storage) => JSON.parse(storage.getItem(place)));
const remove = () => dropClaim(page);

/** Where nothing can be kept, the code lasts as long as this page. */
function withStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
