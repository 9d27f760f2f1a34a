// What the labels of numbers say, and the words for their bins.

import { PASS, kinds } from './design.js';
import { write } from './digits.js';
import { ofChoice } from './labels.js';
import { between, binnedNumber, gridOf, number } from './numbers.js';
import { copy, picture, put, reader, says, translate } from './page.js';

// As the reader's language writes them, whatever the survey speaks: where a comma is for decimals, 1,500 is one and a half.
export const figures = { format: (value, options) => write(value, reader(), { maximumFractionDigits: 20, ...options }) };
const either = (names) => new Intl.ListFormat(reader(), { type: 'disjunction' }).format(names);

export const withUnit = (value, { unit = '' }) => [figures.format(value), translate(unit)].filter(Boolean).join(' ');
const passes = ({ prefer_not_to_say: may }) => (may ? [says()[PASS]] : []);
const ends = (question) => [withUnit(question.low, question), withUnit(question.high, question), ...passes(question)];

/** The words for each bin: its lowest number and its highest. */
export function bins(question) {
  const { low, high, step, cuts } = question;
  const starts = [low, ...cuts];
  return starts.map((start, bin) => {
    const end = bin < cuts.length ? Number((cuts[bin] - step).toPrecision(12)) : high;
    return end === start ? withUnit(start, question) : put(says().span, { low: figures.format(start), high: withUnit(end, question) });
  });
}

/** A question whose answers are its bins, for what is said of other choices. */
const asChoice = (question) => ({ ...question, options: bins(question).map((text, bin) => ({ name: String(bin), text })) });

kinds.number = {
  ...number,
  screen: 'field',
  codes: (question) => [{ names: ends(question) }],
  label(question, { across } = {}) {
    const { people, counts: [[, low], [, high], pass] } = question.designs[0].odds;
    const [lowest, highest] = ends(question);
    const part = copy('label-line', { people, low, high, lowest, highest, all: either(ends(question)) });
    if (pass) part.append(copy('label-pass', { people, among: question.designs[0].odds.counts[0][2], pass: pass[2] }));
    return picture(part, people, [low, high, pass?.[2]], across);
  },
  trial(question) {
    const [{ weights }] = question.designs;
    const { of } = gridOf(question);
    const half = Math.round(of / 2);
    const middle = withUnit(Number((question.low + half * question.step).toPrecision(12)), question);
    const [lowest, highest, ...others] = ends(question).map((name, truth) => ({ name, row: weights[truth] }));
    const inside = of > 1 ? [{ name: middle, row: between({ steps: half, of }, weights) }] : [];
    return { cases: [lowest, ...inside, highest, ...others], arrives: ends(question) };
  },
};

kinds.binned_number = {
  ...binnedNumber,
  screen: 'field',
  codes: (question) => ofChoice.codes(asChoice(question)),
  trial: (question) => ofChoice.trial(asChoice(question)),
  label(question, options) {
    const part = copy('label-bins');
    part.append(ofChoice.label(question, options));
    return part;
  },
};
