// Choices among options: one of them, whole or as a box for each, any number of them, a point of a scale.

import { answersOf, checkDesign, checkShape, kinds, lossOfWhole, refuseUnless } from './design.js';

const names = ({ options }) => options.map(({ name }) => name);

/** One answer: a row of the one design, or exactly one box ticked. */
export const oneOf = {
  loss: (question) => (question.designs.length === 1 ? lossOfWhole(question) : lossOfOneHot(question)),
  rows: (question, answer) => rowsAt(question, answersOf(question).indexOf(answer)),
};

/** The rows of the answer at a place; [undefined] for none. */
export function rowsAt({ designs }, place) {
  if (designs.length === 1 || place < 0) return [designs[0].weights[place]];
  return designs.map(({ weights }, box) => weights[Number(box === place)]);
}

export const selectMultiple = {
  names,
  loss: (question) => lossesOfBoxes(question).reduce((sum, loss) => sum + loss, 0),
  rows: (question, ticked) => answersOf(question).map((name, box) => question.designs[box].weights[Number(ticked.includes(name))]),
};

kinds.select_one = { names, ...oneOf };
kinds.scale = { names };
kinds.select_multiple = { ...selectMultiple, screen: 'ticks' };

function lossesOfBoxes(question) {
  checkShape(question, answersOf(question).length, 2);
  return question.designs.map(checkDesign);
}

/** Another answer unticks one box and ticks another: the worst ratios of the two, for the worst two boxes. */
function lossOfOneHot(question) {
  lossesOfBoxes(question);
  const ratios = question.designs.map(({ weights: [empty, ticked] }) => {
    const seen = empty.map((weight, report) => ticked[report] / weight).filter((ratio) => ratio >= 0);
    return { ticking: Math.max(...seen), unticking: 1 / Math.min(...seen) };
  });
  refuseUnless(ratios.length > 1, 'format', 'one of a single option says nothing');
  return Math.log(Math.max(...ratios.flatMap(({ ticking }, one) => (
    ratios.map(({ unticking }, other) => (one === other ? 0 : ticking * unticking))))));
}
