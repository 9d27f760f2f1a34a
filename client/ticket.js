// Where a code buys a ticket: the browser draws it, has it signed blindly, and keeps it on this device until answers that it
// let in have arrived. What is sent for the signature says nothing of the ticket, so that none leads from answers to a code.

import { blind, finish, fromText, randomBytes, toText } from './blinding.js';
import { withTicket } from './codes.js';
import { way } from './design.js';
import { copy, reader } from './page.js';
import { hex } from './randomize.js';
import { post } from './submit.js';

const DRAWN = 32; // bytes
const MEANT = new TextEncoder().encode('Moneda ticket');
const PATIENCE = 20000; // ms

const { round } = document.querySelector('main').dataset;
const place = `moneda:ticket:${round}`;
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

/** Has a ticket signed for a code. The same is asked again for the same code, so that a lost answer loses nothing. */
way.buy = async (code) => {
  if (!modulus) return { status: 0 }; // not loaded yet
  if (held?.code !== code || held.ticket) held = await draw(code);
  keep();
  const { drawn, blinded, inverse } = held;
  const body = JSON.stringify({ invitation: code, blinded });
  const { status, field, read } = await post(document.getElementById('ticketed').dataset.buy, body, { language: reader(), patience: PATIENCE });
  if (status !== 200) return { status, field };
  try {
    const { signature, among } = await read;
    const signed = await finish(modulus, message(drawn), fromText(signature), fromText(inverse));
    held = { ticket: toText(Uint8Array.from([...fromText(drawn), ...signed])), among: Math.max(0, Math.trunc(among) || 0) };
  } catch {
    return { status: 0 }; // an answer that was cut off, or that somebody else gave
  }
  keep();
  forgetCode();
  return { status };
};

/** What is said of a ticket that is here. */
way.showTicket = () => copy('ticketed', { among: held.among, some: held.among ? 'yes' : 'no' }, 'some');

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

async function draw(code) {
  const drawn = toText(randomBytes(DRAWN));
  const { blinded, inverse } = await blind(modulus, message(drawn));
  return { code, drawn, blinded: toText(blinded), inverse: toText(inverse) };
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
