// Every text is in the page's own templates, in the reader's language; scripts hold none.

import { answersOf, kinds } from './design.js';

const ACROSS = 20; // dots a line
const main = document.querySelector('main');
const figures = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 4 });

/** A copy of a template. {name} becomes values[name]; data-one, data-many="name" choose by number; data-key, with a `key`, by its value. */
export function copy(template, values = {}, key) {
  const part = document.getElementById(template).content.cloneNode(true);
  for (const element of part.querySelectorAll('[data-one], [data-many]')) {
    const { one, many } = element.dataset;
    if ((values[one ?? many] === 1) !== Boolean(one)) element.remove();
  }
  for (const other of part.querySelectorAll(`[data-${key}]:not([data-${key}~="${values[key]}"])`)) other.remove();
  const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = put(texts.currentNode.data, values);
  return part;
}

/** Replaces {name} in one pass: what is put in is not read again. */
export function put(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return typeof value === 'number' ? figures.format(value) : value ?? whole;
  });
}

/** Replace the screen. The heading takes the focus, so that it is read aloud. */
export function show(part, { header = true, focus = true } = {}) {
  document.querySelector('body > header').hidden = !header;
  main.replaceChildren(part);
  scrollTo(0, 0);
  const heading = main.querySelector('h1');
  heading.tabIndex = -1;
  // Framed by the editor, it must not take the focus from it.
  if (focus && (window === parent || document.hasFocus())) heading.focus({ preventScroll: true });
  main.querySelector('.reload')?.addEventListener('click', () => location.reload());
}

/** The researcher's own words, in their own language: plain text, unless markdown.js is here. */
export const own = { lang: '', write: (element, text) => quote(element, text) };
export const quote = (element, textContent) => Object.assign(element, { textContent, lang: own.lang, dir: 'auto' });

export const textOf = (question, answer) => optionOf(question, answer)?.text ?? document.getElementById('names').dataset[answer || 'none'];
const optionOf = ({ options }, answer) => options?.find(({ name }) => name === answer);

/** A radio button or checkbox for an answer. */
export function addOption(form, type, question, value, checked) {
  const part = copy('option');
  const input = Object.assign(part.querySelector('input'), { type, name: 'answer', value, checked });
  const words = part.querySelector('span');
  words.textContent = textOf(question, value);
  if (optionOf(question, value)) quote(words, words.textContent);
  form.querySelector('fieldset').append(part);
  return input;
}

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
export const textsOf = (question) => answersOf(question).map((answer) => textOf(question, answer));

/** The distinct labels, each with its first question and the numbers of all. */
export function groupLabels(questions) {
  const groups = new Map();
  questions.forEach((question, index) => {
    const same = JSON.stringify([labelOf(question).textContent, question.designs]);
    if (!groups.has(same)) groups.set(same, { question, numbers: [] });
    groups.get(same).numbers.push(index + 1);
  });
  return [...groups.values()];
}

/** How many of 100 people arrive as Yes, for both truths: the definition's own counts. */
export function labelYesNo({ designs: [{ odds: { people, counts } }] }, { dots, template = 'label' } = {}) {
  if (counts.length > 2) throw new Error('this label is for two');
  const [no, yes] = counts.map((row) => row[1]);
  const part = copy(template, { people, no, yes });
  if (dots && people <= 200) {
    const lines = part.querySelectorAll('p');
    [no, yes].forEach((filled, truth) => lines[truth].after(drawDots(people, filled)));
  }
  return part;
}

/** One dot a person, filled for those who arrive as Yes. */
function drawDots(people, filled) {
  const svg = draw('svg', { class: 'dots', viewBox: `0 0 ${ACROSS * 10} ${Math.ceil(people / ACROSS) * 10}`, 'aria-hidden': 'true' });
  for (let dot = 0; dot < people; dot += 1) {
    const [cx, cy] = [dot % ACROSS, Math.floor(dot / ACROSS)].map((place) => 10 * place + 5);
    svg.append(draw('circle', { cx, cy, r: 4, class: dot < filled ? 'yes' : 'no' }));
  }
  return svg;
}

Object.assign(kinds.yes_no, { label: labelYesNo, codes: (question) => [{ names: textsOf(question) }] });
