// What coins do: the label of a design, and a coin to play with, which goes through the very randomize() of real answers.

import { copy, draw, put } from './page.js';
import { drawCoins, randomize } from './randomize.js';

const FLIP = 700; // milliseconds, as in the style sheet
const TIMES = 10000;
const ACROSS = 20; // dots a line

/** The distinct designs of a survey, each with the numbers of its questions. */
export function groupDesigns(questions) {
  const groups = new Map();
  questions.forEach(({ designs: [design] }, index) => {
    const same = JSON.stringify(design);
    if (!groups.has(same)) groups.set(same, { design, numbers: [] });
    groups.get(same).numbers.push(index + 1);
  });
  return [...groups.values()];
}

/** How many of 100 people arrive as Yes, for both truths. The counts are the definition's own. */
export function oddsLabel({ odds: { people, counts } }, { dots = false } = {}) {
  const [no, yes] = counts.map((row) => row[1]);
  const part = copy('label', { people, no, yes });
  if (dots && people <= 200) {
    const lines = part.querySelectorAll('p');
    [no, yes].forEach((filled, truth) => lines[truth].after(drawDots(people, filled)));
  }
  return part;
}

/** One dot a person, filled for those who arrive as Yes. The sentence says the same. */
function drawDots(people, filled) {
  const svg = draw('svg', { class: 'dots', viewBox: `0 0 ${ACROSS * 10} ${Math.ceil(people / ACROSS) * 10}`, 'aria-hidden': 'true' });
  for (let dot = 0; dot < people; dot += 1) {
    const [cx, cy] = [dot % ACROSS, Math.floor(dot / ACROSS)].map((place) => 10 * place + 5);
    svg.append(draw('circle', { cx, cy, r: 4, class: dot < filled ? 'yes' : 'no' }));
  }
  return svg;
}

/** One flip for a made-up answer, and what would arrive. */
export function tryCoin({ weights }) {
  const part = copy('try');
  const face = part.querySelector('.coin').classList;
  const says = part.querySelector('[role="status"]');
  const names = says.dataset.names.split('|');
  let flips = 0;
  part.querySelectorAll('button').forEach((button, truth) => button.addEventListener('click', () => {
    const [coin] = drawCoins(1);
    // Heads: this coin leaves any answer as it is. Tails: it says the same whatever the answer.
    const stays = weights.every((_, entered) => randomize(entered, coin, weights) === entered);
    const words = { entered: names[truth], arrives: names[randomize(truth, coin, weights)] };
    const mine = (flips += 1);
    says.textContent = '';
    face.remove('heads', 'tails');
    button.getBoundingClientRect(); // lays the page out, so that the same face can be flipped to again
    face.add(stays ? 'heads' : 'tails');
    setTimeout(() => {
      if (mine === flips) says.textContent = put(says.dataset[stays ? 'heads' : 'tails'], words);
    }, matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : FLIP);
  }));
  return part;
}

/** 10,000 flips for a made-up answer, counted beside what the design says. */
export function testCoin({ weights }) {
  const part = copy('test', { times: TIMES });
  const result = part.querySelector('[role="status"]');
  const names = result.dataset.names.split('|');
  part.querySelectorAll('button').forEach((button, truth) => button.addEventListener('click', () => {
    const counts = names.map(() => 0);
    for (const coin of drawCoins(TIMES)) counts[randomize(truth, coin, weights)] += 1;
    result.replaceChildren(copy('test-result', { entered: names[truth] }), ...counts.map((count, report) => {
      const share = weights[truth][report] / 2 ** 32;
      const bar = copy('bar', { name: names[report], count, expected: Math.round(TIMES * share) });
      bar.append(drawBar(count / TIMES, share, report ? 'yes' : 'no'));
      return bar;
    }));
  }));
  return part;
}

/** The bar is what was counted, the line what is expected. */
function drawBar(counted, expected, name) {
  const at = `${100 * expected}%`;
  return draw('svg', { class: 'bar', 'aria-hidden': 'true' },
    draw('rect', { class: name, width: `${100 * counted}%`, height: '100%' }),
    draw('line', { x1: at, x2: at, y2: '100%' }));
}
