import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Refusal, kinds, rowsOf } from '../../client/design.js';
import { between, binOf, binnedNumber, gridOf, number } from '../../client/numbers.js';
import { randomize } from '../../client/randomize.js';
import { readDecimal } from '../../client/typed_number.js';
import { published, twoByTwo } from './published.js';
import { read } from './vectors.js';

Object.assign(kinds, { number, binned_number: binnedNumber });

const vectors = read('numbers');
const WHOLE = 2 ** 32;

test('every vector gives its row', () => {
  for (const { design, steps, of, row } of vectors.rows) {
    assert.deepEqual(between({ steps, of }, vectors.designs[design]), row, `${design}, ${steps}/${of}`);
  }
  assert.ok(vectors.rows.length > 100);
});

test('every vector gives its report, by the coin that is compared for all other kinds', () => {
  for (const { design, steps, of, coin, report } of vectors.reports) {
    const row = between({ steps, of }, vectors.designs[design]);
    assert.equal(randomize(0, coin, [row]), report, `${design}, ${steps}/${of}, coin ${coin}`);
  }
});

test('rows are those of whole numbers of any length, also where the products are largest', () => {
  const floor = (dividend, divisor) => dividend / divisor - (dividend % divisor < 0n ? 1n : 0n);
  for (const weights of [[[WHOLE - 1, 1], [1, WHOLE - 1]], [[1, WHOLE - 1], [WHOLE - 1, 1]], [[3000000001, 1294967295], [7, WHOLE - 7]]]) {
    for (const of of [2 ** 20, 2 ** 20 - 1, 1_000_003, 3]) {
      for (const steps of [0, 1, 2, of >> 1, of - 2, of - 1, of]) {
        const [low, high] = weights.map(([first]) => BigInt(first));
        const first = Number(low + floor((high - low) * BigInt(steps), BigInt(of)));
        assert.deepEqual(between({ steps, of }, weights), [first, WHOLE - first], `${weights} ${steps}/${of}`);
      }
    }
  }
});

test('steps outside their range are refused, and the error does not carry them', () => {
  const weights = vectors.designs['two fair coins'];
  for (const [steps, of] of [[-1, 7], [8, 7], [0.5, 7], [NaN, 7], ['3', 7], [73, 7], [0, 0], [0, 2 ** 20 + 1], [1, 1.5], [1, undefined]]) {
    assert.throws(() => between({ steps, of }, weights), (error) => error instanceof RangeError && !error.message.includes('73'));
  }
});

test('decimals are counted in exact steps', () => {
  const tenths = gridOf({ low: -1.5, high: 1.5, step: 0.1 });
  assert.equal(tenths.of, 30);
  assert.deepEqual([-1.5, -1.4, 0, 0.3, 1.5].map(tenths.steps), [0, 1, 15, 18, 30]);
  for (const beside of [0.05, 0.30000001, 1.6, -1.6, Infinity, NaN, null, undefined]) assert.equal(tenths.steps(beside), -1);
  assert.equal(gridOf({ low: 1e9, high: 1e9 + 1, step: 0.001 }).steps(1000000000.007), 7);
  assert.equal(gridOf({ low: 0, high: 1e-6, step: 1e-7 }).steps(3e-7), 3);
  assert.equal(gridOf({ low: 0, high: 2e21, step: 1e21 }).of, 2);
  assert.equal(gridOf({ low: 0, high: 1, step: 0.3 }).of, -1);
  assert.equal(gridOf({ low: 0, high: 1, step: 0 }).of, -1);
});

test('a number may be typed with a point or a comma, in digits of three scripts', () => {
  for (const [text, value] of [['1.5', 1.5], ['1,5', 1.5], [' 7 ', 7], ['-2,25', -2.25], ['−3', -3], ['.5', 0.5], ['08', 8], ['2.', 2], ['١٢٫٥', 12.5], ['۷', 7], ['\u200e-5', -5]]) {
    assert.equal(readDecimal(text, 0.25), value, text);
  }
  for (const text of ['', ' ', 'x', '1e3', '1.2.3', '1,2,3', '1 000', '0x10', '5%', '--1', '²', 'Infinity', '.', '-']) {
    assert.equal(readDecimal(text, 0.25), null, text);
  }
});

test('what may be meant as thousands is not taken for a fraction', () => {
  assert.equal(readDecimal('1,500', 1), null);
  assert.equal(readDecimal('1.500', 0.01), null);
  assert.equal(readDecimal('1.500', 0.005), 1.5);
});

const GRID = { low: 0, high: 60, step: 0.5 };

test('a number is a row between those of its ends', () => {
  const question = published({ kind: 'number', ...GRID, designs: [twoByTwo(3 * 2 ** 30, 2 ** 30)] });
  assert.deepEqual(rowsOf(question, 0), [[3 * 2 ** 30, 2 ** 30]]);
  assert.deepEqual(rowsOf(question, 30), [[2 ** 31, 2 ** 31]]);
  assert.deepEqual(rowsOf(question, 60), [[2 ** 30, 3 * 2 ** 30]]);
  for (const beside of [-1, 60.5, 0.25, 'prefer_not_to_say', null]) assert.deepEqual(rowsOf(question, beside), [undefined], beside);
});

test('the bin of a number begins with its cut', () => {
  const cuts = [10, 20.5, 60];
  assert.deepEqual([0, 9.5, 10, 20, 20.5, 59.5, 60].map((value) => binOf({ cuts }, value)), [0, 0, 1, 1, 2, 2, 3]);
});

test('bins are sent whole, or as a box for each', () => {
  const weights = read('designs').designs.find(({ name }) => name.startsWith('three options')).weights;
  const question = { kind: 'binned_number', ...GRID, cuts: [10, 20] };
  assert.deepEqual(rowsOf({ ...question, designs: [{ weights }] }, 20), [weights[2]]);
  const box = twoByTwo(3 * 2 ** 30, 2 ** 31);
  assert.deepEqual(rowsOf({ ...question, designs: [box, box, box] }, 12), [box.weights[0], box.weights[1], box.weights[0]]);
  assert.deepEqual(rowsOf({ ...question, designs: [{ weights }] }, 12.25), [undefined]);
});

test('a grid that is none is refused', () => {
  const designs = [twoByTwo(3 * 2 ** 30, 2 ** 30)];
  const refuses = (question) => assert.throws(() => number.loss(question), (error) => error instanceof Refusal && error.check === 'format');
  assert.equal(number.loss({ kind: 'number', ...GRID, designs }), Math.log(3));
  for (const grid of [{ step: 0.7 }, { step: 0 }, { step: -1 }, { high: 0 }, { high: -60 }, { step: 60 / 2 ** 21 }, { low: 'x' }]) {
    refuses({ kind: 'number', ...GRID, ...grid, designs });
  }
  refuses({ kind: 'number', ...GRID, designs: [] });
  refuses({ kind: 'number', ...GRID, designs: [...designs, ...designs] });
  refuses({ kind: 'number', ...GRID, prefer_not_to_say: true, designs });
  const bins = (cuts) => binnedNumber.loss({ kind: 'binned_number', ...GRID, cuts, designs });
  assert.equal(bins([30]), Math.log(3));
  for (const cuts of [[0], [30.25], [61], [10, 20], []]) {
    assert.throws(() => bins(cuts), (error) => error instanceof Refusal && error.check === 'format', `${cuts}`);
  }
});
