import assert from 'node:assert/strict';
import { test } from 'node:test';

import { wordProgress } from '../../client/waiting.js';

const TEXTS = { share: '{share} %.', ahead: '{seconds} left.' };

/** What is said of each of these: how many of a thousand are done, at which second. */
function say(...looks) {
  const word = wordProgress(TEXTS);
  return looks.map(([second, done]) => word({ done, of: 1000 }, 1000 * second));
}

test('the rest is said from a tenth and two seconds on, at the pace since the first look', () => {
  // Worked out by hand: 50 a second from the first look on, whatever came before it.
  const said = say([7, 20], [8, 70], [9, 120], [10, 170], [19, 620], [26, 970]);
  assert.deepEqual(said, ['2 %.', '7 %.', '12 %. 20 left.', '17 %. 20 left.', '62 %. 8 left.', '97 %.']);
  assert.deepEqual(say([0, 0], [1, 500]), ['0 %.', '50 %.'], 'two seconds have not passed');
  assert.deepEqual(say([0, 0], [30, 90]), ['0 %.', '9 %.'], 'a tenth is not done');
});

test('nothing that is said goes back, and all is not done before the answer is there', () => {
  assert.deepEqual(say([0, 500], [5, 400], [6, 1000]), ['50 %.', '50 %.', '99 %.']);
  const slowing = say([0, 0], [5, 500], [6, 550], [60, 600], [61, 990]);
  assert.deepEqual(slowing, ['0 %.', '50 %. 5 left.', '55 %. 5 left.', '60 %.', '99 %.']);
});
