// Numbers: exact decimals on a grid, and the row of weights for a number between the two ends.

import { PASS, answersOf, checkDesign, checkShape, refuseUnless } from './design.js';
import { oneOf, rowsAt } from './options.js';

const MOST_STEPS = 2 ** 20;
const WHOLE = 2 ** 32;

/**
 * The row for a number that is steps/of of the way from row 0 to row 1: stochastic rounding and the design in one coin.
 *
 * Exact: differences of weights are below 2^32 and steps at most 2^20, so products are below 2^53. A quotient that is not
 * whole is at least 2^-20 from a whole number, and doubles below 2^32 lie at most 2^-21 apart: rounding never reaches it.
 */
export function between({ steps, of }, weights) {
  const sound = Number.isInteger(of) && of > 0 && of <= MOST_STEPS && Number.isInteger(steps) && steps >= 0 && steps <= of;
  // The number is left out of the message: an error must not carry a truth.
  if (!sound) throw new RangeError(`steps must be an integer in 0 ... ${of}, and that one in 1 ... 2^20`);
  const [low, high] = weights;
  const row = low.slice(0, -1).map((weight, report) => weight + Math.floor(((high[report] - weight) * steps) / of));
  return [...row, row.reduce((left, weight) => left - weight, WHOLE)];
}

/** The exact grid of a question: how many steps there are, and how many lead to a number; -1 beside the grid. */
export function gridOf({ low, high, step }) {
  const steps = (number) => {
    if (!Number.isFinite(number)) return -1;
    const [value, from, by] = scale(number, low, step);
    const found = by > 0n && value >= from && (value - from) % by === 0n ? Number((value - from) / by) : -1;
    return found <= of ? found : -1;
  };
  let of = Infinity;
  of = steps(high);
  return { of, steps };
}

/** Decimals as whole numbers of the same small unit. */
function scale(...numbers) {
  const parts = numbers.map((number) => {
    const [digits, exponent = '0'] = String(number).split('e');
    const [whole, fraction = ''] = digits.split('.');
    return { digits: whole + fraction, exponent: Number(exponent) - fraction.length };
  });
  const least = Math.min(...parts.map(({ exponent }) => exponent));
  return parts.map(({ digits, exponent }) => BigInt(digits) * 10n ** BigInt(exponent - least));
}

function checkGrid(question) {
  const { low, high, step } = question;
  const of = [low, high, step].every(Number.isFinite) ? gridOf(question).of : 0;
  refuseUnless(of > 0 && of <= MOST_STEPS, 'format', 'the steps from low to high must be whole, and at most 2^20');
}

export const number = {
  names: () => ['low', 'high'],
  loss(question) {
    checkGrid(question);
    checkShape(question, 1, answersOf(question).length);
    return checkDesign(question.designs[0]);
  },
  rows(question, answer) {
    const { weights } = question.designs[0];
    if (answer === PASS) return [weights[answersOf(question).indexOf(answer)]];
    const { of, steps } = gridOf(question);
    return [steps(answer) < 0 ? undefined : between({ steps: steps(answer), of }, weights)];
  },
};

export const binnedNumber = {
  ...oneOf,
  names: ({ cuts }) => ['0', ...cuts.map((_, bin) => `${bin + 1}`)],
  loss(question) {
    checkGrid(question);
    refuseUnless(question.cuts.every((cut) => gridOf(question).steps(cut) > 0), 'format', 'bins must begin on the grid');
    return oneOf.loss(question);
  },
  rows(question, answer) {
    if (answer === PASS) return oneOf.rows(question, answer);
    return rowsAt(question, gridOf(question).steps(answer) < 0 ? -1 : binOf(question, answer));
  },
};

export const binOf = ({ cuts }, answer) => cuts.filter((cut) => cut <= answer).length;
