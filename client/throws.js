// The reader's own coins, dice or disc. The page says what to throw, and is told the record alone: no answer, no throw.

import { askOne, listAnswers } from './choices.js';
import { answersOf, way } from './design.js';
import { write } from './digits.js';
import { copy, draw, make, put, quote, reader, textOf } from './page.js';

const FACES = { coin: 2, die: 6, disc: 10 };
const WHOLE = 2 ** 32;
const words = () => document.getElementById('record').dataset;
const given = JSON.parse(document.getElementById('throws').dataset.plans);
const plans = new Map(); // by name, of those that do what the published design does
const thrown = new Set(); // names; nobody is asked to throw for them again

/** Offers it if every throw that the server planned does what the definition says. */
way.offerThrows = (place, asked) => {
  asked.forEach((question, index) => fits(given[index], question.designs[0]) && plans.set(question.name, given[index]));
  if (plans.size === asked.length) offer(place);
};

function offer(place) {
  place?.replaceChildren(copy('by-hand-offered'));
  const fields = Array.from({ length: FACES.disc }, (_, field) => draw('g', { transform: `rotate(${36 * field} 50 50)` },
    draw('path', { d: 'M50 50V2' }),
    draw('text', { x: 50, y: 20, transform: 'rotate(18 50 50)' }, write(field, reader()))));
  place?.querySelector('.disc-here')?.append(draw('svg', { viewBox: '0 0 100 100', 'aria-hidden': 'true' },
    draw('circle', { cx: 50, cy: 50, r: 48 }), ...fields));
}

/** Two screens of a question: the throw, then the record, which is all that is asked for from then on. */
way.askByHand = ({ name }) => (thrown.has(name) ? { screen: 'record', ask: askRecord } : { screen: 'throw', ask: askThrow });

/** Whether the shares that are thrown are those of the weights, which are rounded to whole ones. */
function fits({ own, chance }, { weights }) {
  const outcomes = own + chance.reduce((sum, count) => sum + count, 0);
  return weights.every((row, truth) => row.every((weight, report) => (
    Math.abs((chance[report] + own * (truth === report)) * (WHOLE / outcomes) - weight) < row.length)));
}

function askThrow(form, { name }) {
  const { device, times } = plans.get(name);
  form.querySelector('.actions').before(copy('device', { device, times }, 'device'));
  if (device === 'coin') form.querySelector('.steps').after(make('p', { class: 'pictured' }, drawCoin('heads'), drawCoin('tails')));
  return () => ({ again: thrown.add(name) });
}

function askRecord(form, question, chosen) {
  const { device, times, own, chance } = plans.get(question.name);
  const order = listAnswers(question);
  const counts = order.map((name) => chance[answersOf(question).indexOf(name)]);
  let start = 0;
  form.querySelector('tbody').append(...[own, ...counts].map((count, row) => {
    const seen = describe(device, times, start, start += count);
    const record = row ? quote(make('td', {}), textOf(question, order[row - 1])) : make('td', {}, words().own);
    return make('tr', {}, make('td', {}, ...seen), record);
  }));
  return askOne(form, question, chosen);
}

/** The outcomes from `start` on and before `end`: of coins face by face, of others as numbers set side by side. */
function describe(device, times, start, end) {
  const faces = FACES[device];
  const facesOf = (outcome) => Array.from({ length: times }, (_, place) => Math.floor(outcome / faces ** (times - 1 - place)) % faces);
  const number = (outcome) => facesOf(outcome).map((face) => write(face + Number(device === 'die'), reader())).join('');
  if (device !== 'coin') return [end - start > 1 ? put(words().span, { low: number(start), high: number(end - 1) }) : number(start)];
  const lines = [];
  for (let size; start < end; start += size) {
    size = faces ** times;
    let free = times; // so many of the last coins may lie as they like
    for (; start % size || start + size > end; free -= 1) size /= faces;
    const coins = facesOf(start).map((face, place) => drawCoin(place < times - free ? ['heads', 'tails'][face] : 'any'));
    lines.push(make('p', {}, ...coins.flatMap((coin) => [coin, ' '])));
  }
  return lines;
}

function drawCoin(face) {
  const pictured = face === 'any' ? [] : [draw('svg', { 'aria-hidden': 'true' }, draw('use', { href: `#${face}` }))];
  return make('span', { class: 'face' }, ...pictured, words()[face]);
}
