import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codeOf, groupCode, readCode, withCode } from '../../client/codes.js';
import { writeBody } from '../../client/submit.js';
import { read } from './vectors.js';

const vectors = read('codes');
const BODY = writeBody('8c1f02b7d4e65ae98c1f02b7d4e65ae9', 'a'.repeat(64), [0, 1, 12], [1, 1, 16]);
const [ONE, OTHER] = ['0123456789ABCDEF', 'GHJKMNPQRSTVWXYZ'];

for (const [typed, code] of vectors.read) {
  test(`${JSON.stringify(typed)} is read as the server reads it`, () => assert.equal(readCode(typed), code));
}

for (const typed of vectors.refused) {
  test(`${JSON.stringify(typed)} is no code, here as on the server`, () => assert.equal(readCode(typed), null));
}

test('a code is shown as it is printed', () => {
  assert.equal(groupCode(ONE), '0123-4567-89AB-CDEF');
  assert.equal(groupCode(null), '');
  assert.equal(readCode(groupCode(OTHER)), OTHER);
});

test('a body takes one code, and another in its place, and nothing else of it changes', () => {
  const signed = withCode(BODY, ONE);
  assert.deepEqual(JSON.parse(signed), { ...JSON.parse(BODY), invitation: ONE });
  assert.equal(codeOf(signed), ONE);
  assert.equal(codeOf(BODY), null);
  const again = withCode(signed, OTHER);
  assert.equal(again, withCode(BODY, OTHER));
  assert.equal(again, signed.replace(ONE, OTHER));
  assert.equal(signed.length, BODY.length + ',\n  "invitation": ""'.length + ONE.length);
});

test('bodies of the same survey have the same length with a code as without', () => {
  const [few, many] = [[0, 7, 0], [1, 16, 255]].map((reports) => (
    withCode(writeBody('8c'.repeat(16), 'a'.repeat(64), reports, [1, 16, 255]), ONE)));
  assert.equal(few.length, many.length);
});
