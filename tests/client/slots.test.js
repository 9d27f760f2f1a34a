import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createKey, fitSize, openSlots, sealSlots } from '../../client/slots.js';
import { writeBody } from '../../client/submit.js';

const bodies = Array.from({ length: 130 }, (_, k) => writeBody(`${k}`.padStart(32, '0'), 'a'.repeat(64), [0, 1, 12], [1, 1, 16]));
const SIZE = fitSize(bodies[0].length);
const WIDTH = SIZE + 28; // 96 bits of vector and 128 of tag, as NIST SP 800-38D has them
const split = (all) => Array.from({ length: all.length / WIDTH }, (_, place) => Buffer.from(all.subarray(place * WIDTH, (place + 1) * WIDTH)).toString('hex'));

test('as many bytes for none as for 64, and for 65 as for 128', async () => {
  const key = await createKey();
  const lengths = await Promise.all([0, 1, 63, 64, 65, 128, 129].map(async (n) => (await sealSlots(key, bodies.slice(0, n), SIZE)).length / WIDTH));
  assert.deepEqual(lengths, [64, 64, 64, 64, 128, 128, 192]);
});

test('what goes in comes out, byte for byte, and nothing of it can be read without the key', async () => {
  const key = await createKey();
  const all = await sealSlots(key, bodies.slice(0, 5), SIZE);
  assert.deepEqual((await openSlots(key, all, SIZE)).sort(), bodies.slice(0, 5));
  assert.deepEqual(await openSlots(await createKey(), all, SIZE), []);
  assert.equal(Buffer.from(all).includes('reports'), false);
  await assert.rejects(crypto.subtle.exportKey('raw', key));
});

test('slots lie in the order of their bytes, and no slot is the same after the next change', async () => {
  const key = await createKey();
  const one = split(await sealSlots(key, bodies.slice(0, 7), SIZE));
  const other = split(await sealSlots(key, bodies.slice(0, 7), SIZE));
  assert.deepEqual(one, one.toSorted());
  assert.equal(new Set([...one, ...other]).size, 128);
});

test('a text that does not fit is refused, and not named', async () => {
  const key = await createKey();
  await assert.rejects(sealSlots(key, ['x'.repeat(513)], 512), { message: 'a text must have at most 512 bytes, not 513' });
  assert.deepEqual([1, 512, 513].map(fitSize), [512, 512, 1024]);
});
