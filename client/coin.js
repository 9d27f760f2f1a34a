// A coin to play with, on made-up answers: it goes through the very randomize() of real ones. Loaded when it is asked for.

import { kinds } from './design.js';
import { copy, draw, languageOf, make, put, says, textsOf, toys, translate } from './page.js';
import { drawCoins, randomize } from './randomize.js';

const FLIP = 700; // milliseconds, as in the style sheet
const TIMES = 10000;

toys.fill = () => {
  fill('try-here', toys.groups.filter(hasTwoFaces), (question) => tryCoin(trialOf(question), question.designs[0]));
  fill('test-here', toys.groups, (question) => testCoin(kinds[question.kind].trial?.(question) ?? trialOf(question)));
};
toys.fill();

/** One toy for each group of questions; of many, one that is chosen. */
function fill(id, groups, toyOf) {
  const place = document.getElementById(id);
  if (groups.length < 3) place?.replaceChildren(...groups.flatMap(({ question, heading }) => [heading(), toyOf(question)]));
  else {
    const part = copy('choose');
    const [select, chosen] = part.children;
    const choose = () => chosen.replaceChildren(toyOf(groups[select.selectedIndex].question));
    select.append(...groups.map(({ question }) => Object.assign(new Option(translate(question.text)), { lang: languageOf(question.text) })));
    select.addEventListener('change', choose);
    place.replaceChildren(part);
    choose();
  }
}

/** Made-up answers, the row of weights of each, and what may arrive. */
function trialOf(question) {
  const { weights } = question.designs[0];
  const [{ names: arrives }] = kinds[question.kind].codes(question);
  const entered = question.kind === 'yes_no' ? textsOf(question) : arrives;
  return { cases: entered.map((name, truth) => ({ name, row: weights[truth] })), arrives };
}

/** Whether a coin either leaves Yes and No as they are or replaces both by the same one. */
function hasTwoFaces({ question }) {
  const { kind, designs: [{ weights }] } = question;
  const faces = kind === 'yes_no' && weights.length === 2 && weights[0][0] >= weights[1][0];
  return faces && kinds.yes_no.codes(question)[0].names[1] === says().yes;
}

/** One flip, and what would arrive. */
function tryCoin({ cases: names }, { weights }) {
  const part = copy('try');
  const face = part.querySelector('.coin').classList;
  const told = part.querySelector('[role="status"]');
  let flips = 0;
  part.querySelectorAll('button').forEach((button, truth) => button.addEventListener('click', () => {
    const [coin] = drawCoins(1);
    // Heads: this coin leaves any answer as it is. Tails: it says the same whatever the answer.
    const stays = weights.every((_, entered) => randomize(entered, coin, weights) === entered);
    const words = { entered: names[truth].name, arrives: names[randomize(truth, coin, weights)].name };
    const mine = (flips += 1);
    told.textContent = '';
    face.remove('heads', 'tails');
    button.getBoundingClientRect(); // lays the page out, so that the same face can be flipped to again
    face.add(stays ? 'heads' : 'tails');
    setTimeout(() => {
      if (mine === flips) told.textContent = put(told.dataset[stays ? 'heads' : 'tails'], words);
    }, matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : FLIP);
  }));
  return part;
}

/** 10,000 flips for one of several answers, counted beside what its row of weights says. */
function testCoin({ cases, arrives }) {
  const part = copy(cases.length === 2 ? 'test' : 'test-any', { times: TIMES });
  const result = part.querySelector('[role="status"]');
  const count = ({ name: entered, row }) => {
    const counts = row.map(() => 0);
    for (const coin of drawCoins(TIMES)) counts[randomize(0, coin, [row])] += 1;
    result.replaceChildren(copy('test-result', { entered }), ...counts.map((found, report) => {
      const share = row[report] / 2 ** 32;
      const bar = copy('bar', { name: arrives[report], count: found, expected: Math.round(TIMES * share) });
      bar.append(drawBar(found / TIMES, share, report ? 'yes' : 'no'));
      return bar;
    }));
  };
  const select = part.querySelector('select');
  select?.append(...cases.map(({ name }) => new Option(name)));
  if (!select) part.querySelector('.pair').append(...cases.map(({ name }) => make('button', { type: 'button' }, name)));
  part.querySelectorAll('button').forEach((button, truth) => {
    button.addEventListener('click', () => count(cases[select?.selectedIndex ?? truth]));
  });
  return part;
}

/** The bar is what was counted, the line what is expected. */
function drawBar(counted, expected, name) {
  const at = `${100 * expected}%`;
  return draw('svg', { class: 'bar', 'aria-hidden': 'true' },
    draw('rect', { class: name, width: `${100 * counted}%`, height: '100%' }),
    draw('line', { x1: at, x2: at, y2: '100%' }));
}
