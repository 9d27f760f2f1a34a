import assert from 'node:assert/strict';
import { test } from 'node:test';

import { drawCoins, randomId, randomize } from '../../client/randomize.js';
import { read } from './vectors.js';

const { designs, reports } = read('designs');
const weightsOf = (name) => designs.find((design) => design.name === name).weights;
const fair = weightsOf('two fair coins, gamma 1/4');

/** Run `act` with another crypto object, as on a browser that lacks or replaces it. */
function withCrypto(replacement, act) {
  const original = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
  Object.defineProperty(globalThis, 'crypto', { value: replacement, configurable: true });
  try {
    return act();
  } finally {
    Object.defineProperty(globalThis, 'crypto', original);
  }
}

test('every vector gives its report', () => {
  for (const { design, truth, coin, report } of reports) {
    assert.equal(randomize(truth, coin, weightsOf(design)), report, `${design}, truth ${truth}, coin ${coin}`);
  }
  assert.ok(reports.length > 60);
});

test('rows that are not whole are refused, whichever row is drawn from', () => {
  for (const { name, weights, refused_for: check } of designs) {
    if (check !== 'rows') continue;
    assert.throws(() => weights.forEach((_, truth) => randomize(truth, 0, weights)), RangeError, name);
  }
});

test('truths and coins outside their range are refused', () => {
  for (const truth of [-1, 2, 0.5, NaN, '0', null, undefined, true]) {
    assert.throws(() => randomize(truth, 0, fair), { name: 'RangeError', message: /truth must be an integer in 0 \.\.\. 1/ });
  }
  for (const coin of [-1, 2 ** 32, 0.5, NaN, '0', null, undefined]) {
    assert.throws(() => randomize(0, coin, fair), { name: 'RangeError', message: /coin must be/ });
  }
});

test('an error does not carry the truth', () => {
  assert.throws(() => randomize(73, 0, fair), (error) => !error.message.includes('73'));
});

test('coins are uint32, as many as asked for, also beyond one call of getRandomValues', () => {
  for (const n of [0, 1, 16384, 16385, 40000]) {
    const coins = drawCoins(n);
    assert.ok(coins instanceof Uint32Array);
    assert.equal(coins.length, n);
  }
  // A block left at zero would show: the chance of 64 zero coins at the end is 2^-2048.
  assert.ok(drawCoins(40000).slice(-64).some((coin) => coin > 0));
  for (const n of [-1, 1.5, NaN, '3']) assert.throws(() => drawCoins(n), RangeError);
});

test('coins come from crypto.getRandomValues and from nowhere else', () => {
  const sevens = { getRandomValues: (array) => array.fill(7) };
  assert.deepEqual([...withCrypto(sevens, () => drawCoins(3))], [7, 7, 7]);
  assert.equal(withCrypto(sevens, randomId), '07'.repeat(16));
});

test('without a source of chance it throws', () => {
  for (const missing of [undefined, {}]) {
    assert.throws(() => withCrypto(missing, () => drawCoins(1)), /getRandomValues is missing/);
    assert.throws(() => withCrypto(missing, randomId), /getRandomValues is missing/);
  }
});

test('a failing source is not swallowed', () => {
  const broken = { getRandomValues: () => { throw new Error('no entropy'); } };
  assert.throws(() => withCrypto(broken, () => drawCoins(1)), /no entropy/);
});

test('an id is 32 lowercase hexadecimal digits and does not repeat', () => {
  const ids = Array.from({ length: 1000 }, randomId);
  for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
  assert.equal(new Set(ids).size, ids.length);
});
