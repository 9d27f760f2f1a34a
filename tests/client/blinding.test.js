import assert from 'node:assert/strict';
import { test } from 'node:test';

import { blind, finish, fromText, invert, isNamed, isSigned, toNumber, toText } from '../../client/blinding.js';
import { fingerprint } from '../../client/design.js';
import { read } from './vectors.js';

const { n, cases } = read('blind_signatures');
const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const written = (array) => Buffer.from(array).toString('hex');
const modulus = bytes(n);

for (const { name, msg, msg_prefix: prefix, salt, inv, blinded_msg: blinded, blind_sig: answer, sig } of cases) {
  const message = bytes(prefix + msg);
  test(`${name}: blinded and unblinded as RFC 9474 says`, async () => {
    const factor = invert(toNumber(bytes(inv)), toNumber(modulus));
    const asked = await blind(modulus, message, { salt: bytes(salt), factor });
    assert.equal(written(asked.blinded), blinded);
    assert.equal(written(asked.inverse), inv);
    assert.equal(written(await finish(modulus, message, bytes(answer), asked.inverse, bytes(salt).length)), sig);
  });

  test(`${name}: an answer that is off by one bit is refused`, async () => {
    const other = bytes(answer);
    other[17] ^= 1;
    await assert.rejects(finish(modulus, message, other, bytes(inv), bytes(salt).length), /not signed/);
    await assert.rejects(finish(modulus, bytes(`${prefix}${msg}00`), bytes(answer), bytes(inv), bytes(salt).length), /not signed/);
  });
}

test('a message that is blinded twice is sent as two numbers', async () => {
  const asked = [await blind(modulus, bytes('00')), await blind(modulus, bytes('00'))];
  assert.notEqual(written(asked[0].blinded), written(asked[1].blinded));
  assert.notEqual(written(asked[0].inverse), written(asked[1].inverse));
});

test('a key that was made to tell messages apart is refused whenever it could', async () => {
  const odd = toNumber(modulus) * 3n * 5n * 7n * 11n * 13n; // whoever has such a key signs as well as with one of ours
  const poor = bytes(odd.toString(16).padStart(2 * modulus.length + 4, '0').replace(/^(00)+/, ''));
  const tried = await Promise.allSettled(Array.from({ length: 40 }, (_, number) => blind(poor, bytes(number.toString(16).padStart(2, '0')))));
  const sent = tried.filter(({ status }) => status === 'fulfilled').map(({ value }) => toNumber(value.blinded));
  assert.ok(sent.length && sent.length < tried.length);
  for (const factor of [3n, 5n, 7n, 11n, 13n]) assert.ok(sent.every((number) => number % factor), `some are divided by ${factor}`);
});

test('a definition says which key is that of a link, and no other is taken', async () => {
  const { links: [own, other], named } = read('ticket_keys');
  const [key, foreign] = [modulus, bytes('00')];
  const [prints, at] = [Object.values(named), (slug) => `/s/${slug}`];
  assert.ok(await isNamed(key, at(own), named));
  assert.ok(await isNamed(foreign, at(other), named));
  assert.ok(await isNamed(foreign, `/surveys/s/${other}`, named));
  // Sold under the key of another link, which the definition names as well.
  for (const [wrong, path] of [[foreign, at(own)], [key, at(other)], [key, at('23456789bcdg')], [key, `${at(own)}/`]]) {
    assert.ok(!await isNamed(wrong, path, named), path);
  }
  // A definition that exchanges them, for one person or for all, is another one; in which order it names links is not.
  const [[a, x], [b, y]] = Object.entries(named);
  assert.notEqual(await fingerprint({ [a]: y, [b]: x }), await fingerprint(named));
  assert.equal(await fingerprint({ [b]: y, [a]: x }), await fingerprint(named));
  // From before links were named: any of them.
  for (const known of [key, foreign]) assert.ok(await isNamed(known, at(own), prints));
  assert.ok(!await isNamed(bytes('01'), at(own), prints));
  for (const nothing of [undefined, null, {}, [], '']) assert.ok(!await isNamed(key, at(own), nothing));
  // One for each of many, in a definition that everybody is given.
  const many = Object.fromEntries(Array.from({ length: 48 }, (_, place) => [`${place}`.padStart(16, '0'), prints[0]]));
  assert.ok(await isNamed(key, at(own), { ...many, ...named }));
  assert.ok(!await isNamed(key, at(own), { ...many, ...named, f: prints[0] }));
  assert.ok(!await isNamed(key, at(own), [...Array(50).keys(), prints[0]]));
});

test('a ticket is looked at by the key of its link before it is spent', async () => {
  const { msg, msg_prefix: prefix, sig } = cases.find(({ salt }) => salt);
  const other = Uint8Array.from(modulus, (byte, place) => byte ^ (place === 99));
  assert.ok(await isSigned(modulus, bytes(prefix + msg), bytes(sig)));
  assert.ok(!await isSigned(other, bytes(prefix + msg), bytes(sig)));
});

test('bytes are written as base64url', () => {
  assert.equal(toText(bytes('fbefff')), '--__');
  assert.deepEqual(fromText('--__'), bytes('fbefff'));
  assert.deepEqual(fromText(toText(modulus)), modulus);
});
