import assert from 'node:assert/strict';
import { test } from 'node:test';

import { way } from '../../client/design.js';
import { withWork } from '../../client/posting.js';
import { writeBody } from '../../client/submit.js';
import '../../client/work.js';
import { read } from './vectors.js';

const HOUR = 3600000;

for (const { link, receipt, hour, work } of read('work')) {
  test(`the work for hour ${hour} is what the server takes`, async () => {
    way.setClock(hour * HOUR + 1000);
    const body = writeBody(receipt, 'a'.repeat(64), [0, 1], [1, 1]);
    const found = await way.work(receipt, `/s/${link}/responses`);
    assert.equal(found, work);
    assert.deepEqual(JSON.parse(withWork(body, found)), { ...JSON.parse(body), work });
  });
}

test('a time that the server does not tell changes nothing', () => {
  way.setClock(NaN);
  assert.match(`${Date.now() / HOUR | 0}`, /^\d{6}$/);
  return way.work('00'.repeat(16), '/s/exam/responses').then((found) => assert.equal(found.slice(0, 6), `${Date.now() / HOUR | 0}`));
});

test('a clock that is far off names an hour all the same, which the server answers with its own', async () => {
  const { now } = Date;
  const found = [];
  for (const clock of [-2 * HOUR, HOUR * 2e6]) {
    Date.now = () => clock;
    found.push((await way.work('00'.repeat(16), '/s/exam/responses')).slice(0, 6));
  }
  Date.now = now;
  assert.deepEqual(found, ['000000', '999999']);
});
