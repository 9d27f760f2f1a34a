// Where a code buys a ticket: the browser draws it, has it signed blindly, and keeps it on this device until answers that it
// let in have arrived. What is sent for the signature says nothing of the ticket, so that none leads from answers to a code.

import { blind, finish, fromText, randomBytes, toText } from './blinding.js';
import { withTicket } from './codes.js';
import { way } from './design.js';
import { copy, reader } from './page.js';
import { hex } from './randomize.js';
import { alone, post } from './submit.js';

const DRAWN = 32; // bytes
const MEANT = new TextEncoder().encode('Moneda ticket');
const PATIENCE = 20000; // ms

const { round } = document.querySelector('main').dataset;
const place = `moneda:ticket:${round}:${location.pathname}`; // each link has a key of its own
const forgetCode = way.leave;
let modulus = null;
let held = recall();

/** The key of this link, which the survey's own hash must name: nobody has one of their own. */
way.takeKey = async (text, named = []) => {
  const key = fromText(text ?? '');
  const print = hex(new Uint8Array(await crypto.subtle.digest('SHA-256', key)));
  if (named.includes(print)) modulus = key;
  return Boolean(modulus);
};

way.holdsTicket = () => Boolean(held?.ticket);

/** Has a ticket signed for a code, unless one is here that was not `refused`; by one page of this link at a time. */
way.buy = (code, refused) => alone(`ticket:${place}`, () => buy(code, refused));

/** The same is asked again for the same code, whatever was typed in between, so that a lost answer loses nothing. */
async function buy(code, refused) {
  if (!modulus) return { status: 0 }; // not loaded yet
  held = recall() ?? held; // another page may have been quicker
  if (way.holdsTicket() && held.ticket !== refused) return { status: 200 };
  const draws = held?.draws ?? {};
  const draw = draws[code] ?? await drawTicket().catch(() => null);
  if (!draw) return { status: 0 }; // a key of no use
  held = { draws: { ...draws, [code]: draw } };
  keep();
  const body = JSON.stringify({ invitation: code, blinded: draw.blinded });
  const { status, field, read } = await post(document.getElementById('ticketed').dataset.buy, body, { language: reader(), patience: PATIENCE });
  if (status !== 200) {
    if (field === 'invitation') giveUp(code); // it buys none, now or later
    return { status, field };
  }
  try {
    const { signature, among } = await read;
    const signed = await finish(modulus, message(draw.drawn), fromText(signature), fromText(draw.inverse));
    held = { ticket: toText(Uint8Array.from([...fromText(draw.drawn), ...signed])), among: Math.max(0, Math.trunc(among) || 0) };
  } catch {
    return { status: 0 }; // an answer that was cut off, or that somebody else gave
  }
  keep();
  forgetCode();
  return { status };
}

function giveUp(code) {
  const { [code]: _, ...draws } = held.draws;
  held = { draws };
  if (Object.keys(draws).length) keep();
  else way.dropTicket();
}

/** What is said of a ticket that is here, and whether it will be when the page is loaded again. */
way.showTicket = () => {
  const part = copy('ticketed', { among: held.among, some: held.among ? 'yes' : 'no' }, 'some');
  const keeps = recall()?.ticket === held.ticket ? 'yes' : 'no';
  part.querySelectorAll(`[data-keeps]:not([data-keeps="${keeps}"])`).forEach((line) => line.remove());
  return part;
};

way.sign = (body) => (way.holdsTicket() ? withTicket(body, held.ticket) : body);

way.leave = () => {
  way.dropTicket();
  forgetCode();
};

way.dropTicket = () => {
  held = null;
  try {
    localStorage.removeItem(place);
  } catch {
    // Nothing can be kept here.
  }
};

async function drawTicket() {
  const drawn = toText(randomBytes(DRAWN));
  const { blinded, inverse } = await blind(modulus, message(drawn));
  return { drawn, blinded: toText(blinded), inverse: toText(inverse) };
}

const message = (drawn) => Uint8Array.from([...fromText(drawn), ...MEANT]);

function keep() {
  try {
    localStorage.setItem(place, JSON.stringify(held));
  } catch {
    // It lasts as long as this page.
  }
}

function recall() {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}
