// Every text is in the page's own templates, in the reader's language; scripts hold none.

import { answersOf, kinds } from './design.js';
import { write } from './digits.js';

const MOST_DOTS = 1000;
const main = document.querySelector('main');

/** The reader's language, which may be changed in place. */
export const reader = () => document.documentElement.lang;

/** Answers that we word, in a language of the survey; sentences call them {Yes}, {No} and {Same}. */
export const says = () => document.getElementById('names')?.dataset ?? {};
const words = () => ({ Yes: says().yes, No: says().no, Same: says().same });

/** A copy of a template. {name} becomes values[name]; data-one, data-many="name" choose by number, data-key by the value of `key`. */
export function copy(template, values = {}, key) {
  const part = document.getElementById(template).content.cloneNode(true);
  for (const element of part.querySelectorAll('[data-one], [data-many]')) {
    const { one, many } = element.dataset;
    if ((values[one ?? many] === 1) !== Boolean(one)) element.remove();
  }
  for (const other of part.querySelectorAll(`[data-${key}]:not([data-${key}~="${values[key]}"])`)) other.remove();
  const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = put(texts.currentNode.data, { ...words(), ...values });
  return part;
}

/** Replaces {name} in one pass: what is put in is not read again. */
export function put(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return typeof value === 'number' ? write(value, reader(), { maximumFractionDigits: 4 }) : value ?? whole;
  });
}

/** A page of this site as a document in which no script runs; null where it did not come. Trusted Types leave this way open. */
export function fetchPage(address, patience = 0) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', address);
    request.responseType = 'document';
    request.timeout = patience; // ms
    request.addEventListener('loadend', () => resolve(request.status === 200 ? request.responseXML : null));
    request.send();
  });
}

/** The texts of screens after the first, from their own page: all of them, or null. */
export async function fetchScreens(address, patience) {
  const screens = await fetchPage(address, patience);
  return screens?.getElementById('whole') ? screens : null;
}

/** Replace the screen. The heading takes the focus, so that it is read aloud. */
export function show(part, { header = true, focus = true } = {}) {
  const head = document.querySelector('body > header');
  head.hidden = !header;
  const languages = document.querySelector('.languages');
  main.replaceChildren(part);
  (main.querySelector('.top') ?? head).append(languages);
  scrollTo(0, 0);
  const heading = main.querySelector('h1');
  heading.tabIndex = -1;
  // Framed by the editor, it must not take the focus from it.
  if (focus && (window === parent || document.hasFocus())) heading.focus({ preventScroll: true });
  main.querySelector('.reload')?.addEventListener('click', () => location.reload());
}

/** The researcher's own words, in the reader's language where they are translated, else in their own: plain text, unless markdown.js is here. */
export const own = { lang: '', translations: {}, write: (element, text, lang) => quote(element, text, lang) };
export const translate = (text) => (reader() === own.lang ? text : own.translations[reader()]?.[text] ?? text);
export const quote = (element, text, lang = languageOf(text)) => Object.assign(element, { textContent: translate(text), lang, dir: 'auto' });

/** The language that a survey speaks to the reader: of answers that we word. */
const spoken = () => (own.translations[reader()] ? reader() : own.lang);
export const languageOf = (text) => (translate(text) !== text || Object.values(says()).includes(text) ? spoken() : own.lang);

export const textOf = (question, answer) => optionOf(question, answer)?.text ?? says()[answer || 'none'];
const optionOf = ({ options }, answer) => options?.find(({ name }) => name === answer);

export const make = (name, ...rest) => dress(document.createElement(name), ...rest);
export const draw = (name, ...rest) => dress(document.createElementNS('http://www.w3.org/2000/svg', name), ...rest);

function dress(element, attributes, ...children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** What coin.js plays with, and how, once it is here. */
export const toys = { groups: [], fill: null };

export const labelOf = (question, options) => kinds[question.kind].label(question, options);
export const textsOf = (question) => answersOf(question).map((answer) => translate(textOf(question, answer)));

/** The distinct labels, each with its first question and the numbers of all. */
export function groupLabels(questions) {
  const groups = new Map();
  questions.forEach((question, index) => {
    const same = JSON.stringify([labelOf(question).textContent, question.designs]);
    if (!groups.has(same)) groups.set(same, { question, numbers: [] });
    groups.get(same).numbers.push(index + 1);
  });
  const several = groups.size > 1;
  return Array.from(groups.values(), ({ question, numbers }) => ({
    question, heading: () => (several ? copy('group', { n: numbers.length, list: new Intl.ListFormat(reader()).format(numbers.map((number) => write(number, reader()))) }) : ''),
  }));
}

/** Each label once, under the numbers of its questions. */
export const labelGroups = () => toys.groups.flatMap(({ question, heading }, _, { length }) => (
  [heading(), labelOf(question, { across: length > 1 ? 50 : 20 })]));

/** How many of 100 people arrive as Yes, for both truths: the definition's own counts. */
export function labelYesNo({ designs: [{ odds: { people, counts } }] }, { across, template = 'label' } = {}) {
  if (counts.length > 2) throw new Error('this label is for two');
  const [no, yes] = counts.map((row) => row[1]);
  return picture(copy(template, { people, no, yes }), people, [no, yes], across);
}

/** Under each sentence that counts people a dot for each, filled for an amount, or from its least to its most. */
export function picture(part, people, amounts, across) {
  if (across && people <= MOST_DOTS) {
    part.querySelectorAll('p:has(strong)').forEach((line, place) => line.after(drawDots(people, [amounts[place]].flat(), across)));
  }
  return part;
}

function drawDots(people, [least, most = least], across) {
  const svg = draw('svg', { class: 'dots', viewBox: `0 0 ${across * 10} ${Math.ceil(people / across) * 10}`, 'aria-hidden': 'true' });
  for (let dot = 0; dot < people; dot += 1) {
    const [cx, cy] = [dot % across, Math.floor(dot / across)].map((place) => 10 * place + 5);
    svg.append(draw('circle', { cx, cy, r: 4, class: dot < least ? 'yes' : dot < most ? 'maybe' : 'no' }));
  }
  return svg;
}

Object.assign(kinds.yes_no, { label: labelYesNo, codes: (question) => [{ names: textsOf(question) }] });
