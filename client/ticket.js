// A ticket that a code has bought, on this device: whether one is here, and what is said of it (ticket_purchase.js buys it).

import { way } from './design.js';
import { copy } from './page.js';
import { nameTicket } from './submit.js';

const { round } = document.querySelector('main').dataset;
const place = nameTicket(round, location.pathname);

/** The ticket, or what was drawn for one. */
export const purse = { held: recall() };

way.holdsTicket = () => Boolean(purse.held?.ticket);

/** What is said of a ticket that is here, and whether it will be when the page is loaded again. */
way.showTicket = () => {
  const { among, ticket } = purse.held;
  const part = copy('ticketed', { among, some: among ? 'yes' : 'no' }, 'some');
  const keeps = recall()?.ticket === ticket ? 'yes' : 'no';
  part.querySelectorAll(`[data-keeps]:not([data-keeps="${keeps}"])`).forEach((line) => line.remove());
  return part;
};

way.dropTicket = () => {
  purse.held = null;
  try {
    localStorage.removeItem(place);
  } catch {
    // Nothing can be kept here.
  }
};

/** Whether it is there: else it lasts as long as this page. */
export function keep() {
  try {
    const text = JSON.stringify(purse.held);
    localStorage.setItem(place, text);
    return localStorage.getItem(place) === text;
  } catch {
    return false;
  }
}

export function recall() {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}

/** One page of this link at a time buys. */
export const lock = `ticket:${place}`;
