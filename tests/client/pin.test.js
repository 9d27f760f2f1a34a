import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hashPin, isRightPin, readPin, waitAfter } from '../../client/pin.js';

test('a PIN has 6 to 12 digits, of any keyboard', () => {
  assert.deepEqual(['123456', ' 123456 ', '١٢٣٤٥٦', '۱۲۳۴۵۶', '123456789012'].map(readPin), ['123456', '123456', '123456', '123456', '123456789012']);
  assert.deepEqual(['', '12345', '1234567890123', '12345a', '123 456'].map(readPin), [null, null, null, null, null]);
});

test('it is hashed as RFC 7914 has it for PBKDF2 with SHA-256', async () => {
  // Section 11: the first 32 of 64 bytes for "Password", "NaCl" and 80,000 rounds.
  const { hash } = await hashPin('Password', new TextEncoder().encode('NaCl'), 80000);
  assert.equal(Buffer.from(hash).toString('hex'), '4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56');
});

test('only the same PIN is right, and each has a salt of its own', async () => {
  const [kept, other] = [await hashPin('824193'), await hashPin('824193')];
  assert.notDeepEqual(kept.salt, other.salt);
  assert.notDeepEqual(kept.hash, other.hash);
  assert.ok(kept.rounds >= 600000);
  assert.equal(await isRightPin('824193', kept), true);
  assert.equal(await isRightPin('824194', kept), false);
});

test('whoever tries waits longer every time, up to a quarter of an hour', () => {
  assert.deepEqual([0, 2, 3, 4, 5, 8, 40].map(waitAfter), [0, 0, 30000, 60000, 120000, 900000, 900000]);
});
