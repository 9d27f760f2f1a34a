// Where a code buys a ticket: the browser draws it, has it signed blindly, and keeps it on this device until answers that it
// let in have arrived. What is sent for the signature says nothing of the ticket, so that none leads from answers to a code.

import { blind, finish, fromText, isNamed, isSigned, randomBytes, toText } from './blinding.js';
import { way } from './design.js';
import { copy, reader } from './page.js';
import { alone, post, withTicket } from './posting.js';
import { keep, lock, purse, recall } from './ticket.js';

const DRAWN = 32; // bytes
const MEANT = new TextEncoder().encode('Moneda ticket');
const PATIENCE = 20000; // ms

const forgetCode = way.leave;
let modulus = null; // the key of this link
let trusted = null; // the ticket that it signed, as far as this visit has looked

/** The key that the survey's own hash gives this link, of a ticket that is here, too: nobody has one of their own. */
way.takeKey = async (text, named) => {
  const key = fromText(text ?? '');
  if (await isNamed(key, location.pathname, named) && (!way.holdsTicket() || await trust(purse.held.ticket, key))) modulus = key;
  else document.getElementById('refusal')?.content.querySelector('.lead').append(copy('other-key'));
  return Boolean(modulus);
};

async function trust(ticket, key) {
  const bytes = fromText(ticket);
  const good = await isSigned(key, message(bytes.slice(0, DRAWN)), bytes.slice(DRAWN));
  if (good) trusted = ticket;
  return good;
}

/** Has a ticket signed for a code, unless one is here that was not `refused`; by one page of this link at a time. */
way.buy = (code, refused) => alone(lock, () => buy(code, refused));

/** The same is asked again for the same code, whatever was typed in between, so that a lost answer loses nothing. */
async function buy(code, refused) {
  if (!modulus) return { status: 0 }; // not loaded yet
  const found = recall(); // another page may have been quicker
  if (found?.ticket && found.ticket !== refused && !await trust(found.ticket, modulus)) return { status: 0 }; // of another key
  purse.held = found ?? purse.held;
  if (way.holdsTicket() && purse.held.ticket !== refused) return { status: 200 };
  const draws = purse.held?.draws ?? {};
  const draw = draws[code] ?? await drawTicket().catch(() => null);
  if (!draw) return { status: 0 }; // a key of no use
  purse.held = { draws: { ...draws, [code]: draw } };
  const kept = keep();
  const body = JSON.stringify({ invitation: code, blinded: draw.blinded });
  const { status, field, read } = await post(document.getElementById('ticketed').dataset.buy, body, { language: reader(), patience: PATIENCE });
  const isErased = () => !purse.held || (kept && !recall()); // declined meanwhile, or erased by another page: nothing is put back
  if (status !== 200) {
    if (field === 'invitation' && !isErased()) giveUp(code); // it buys none, now or later
    return { status, field };
  }
  let bought = null;
  try {
    const { signature, among } = await read;
    const drawn = fromText(draw.drawn);
    const signed = await finish(modulus, message(drawn), fromText(signature), fromText(draw.inverse));
    bought = { ticket: toText(Uint8Array.from([...drawn, ...signed])), among: Math.max(0, Math.trunc(among) || 0) };
  } catch {
    return { status: 0 }; // an answer that was cut off, or that somebody else gave
  }
  if (isErased()) return { status: 0 };
  purse.held = bought;
  trusted = bought.ticket;
  keep();
  forgetCode();
  return { status };
}

function giveUp(code) {
  const { [code]: _, ...draws } = purse.held.draws;
  purse.held = { draws };
  if (Object.keys(draws).length) keep();
  else way.dropTicket();
}

/** A body of an earlier visit has its ticket, which was looked at then, by the version that the body names. */
way.sign = (body) => (way.holdsTicket() && purse.held.ticket === trusted ? withTicket(body, trusted) : body);

way.leave = () => {
  way.dropTicket();
  forgetCode();
};

async function drawTicket() {
  const drawn = randomBytes(DRAWN);
  const { blinded, inverse } = await blind(modulus, message(drawn));
  return { drawn: toText(drawn), blinded: toText(blinded), inverse: toText(inverse) };
}

const message = (drawn) => Uint8Array.from([...drawn, ...MEANT]);
