import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { read, spell } from '../../client/words.js';
import '../../client/words_en.js';
import '../../client/words_es.js';
import '../../client/words_fr.js';
import '../../client/words_pt.js';

// From the test vectors of BIP-39 (github.com/trezor/python-mnemonic, vectors.json).
const VECTORS = [
  ['00000000000000000000000000000000', `${'abandon '.repeat(11)}about`],
  ['7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f', 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
  ['80808080808080808080808080808080', 'letter advice cage absurd amount doctor acoustic avoid letter advice cage above'],
  ['9e885d952ad362caeb4efe34a8e91bd2', 'ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic'],
];

for (const [receipt, words] of VECTORS) {
  test(`spells ${words.slice(0, 20)}… and reads it`, async () => {
    assert.equal(await spell(receipt, 'en'), words);
    assert.deepEqual(await read(words), { receipt });
  });
}

test('reads every way in which words may be typed', async () => {
  for (let time = 0; time < 50; time += 1) {
    const receipt = randomBytes(16).toString('hex');
    for (const language of ['en', 'es', 'fr', 'pt']) {
      const words = await spell(receipt, language);
      const plain = words.normalize('NFD').replace(/\p{M}/gu, '');
      const short = plain.split(' ').map((word) => word.slice(0, 4)).join('\n');
      const listed = words.split(' ').map((word, place) => `${place + 1}. ${word}`).join('\n');
      const divided = words.replace(/(\p{L}\p{M}*)(?=\p{L})/gu, '$1\u00ad');
      for (const typed of [listed, divided, words, words.toUpperCase(), plain, short, `  ${words.replaceAll(' ', ' , ')}\t`]) {
        assert.deepEqual(await read(typed), { receipt }, typed);
      }
    }
    assert.deepEqual(await read(receipt.match(/.{4}/g).join(' ')), { receipt });
  }
});

test('names what is wrong, and where', async () => {
  const words = VECTORS[3][1].split(' ');
  assert.deepEqual(await read(' \n'), { wrong: 'empty' });
  assert.deepEqual(await read(words.slice(1).join(' ')), { wrong: 'number', n: 11 });
  assert.deepEqual(await read('1234'), { wrong: 'word', place: 1, word: '1234' });
  assert.deepEqual(await read(words.with(6, 'Xyzzy').join(' ')), { wrong: 'word', place: 7, word: 'xyzzy' });
  assert.deepEqual(await read(words.with(6, 'pud').join(' ')), { wrong: 'word', place: 7, word: 'pud' });
  const swapped = words.toReversed().join(' ');
  const bits = await read(swapped);
  assert.equal(bits.wrong ?? 'checksum', 'checksum');
});

test('notices fifteen of sixteen words that are another one', async () => {
  const words = VECTORS[3][1].split(' ');
  let noticed = 0;
  for (const other of ['zoo', 'able', 'lunch', 'tiger', 'virus', 'metal', 'noble', 'paper', 'quick', 'river', 'salad', 'table', 'uncle', 'vague', 'wagon', 'youth']) {
    const { wrong } = await read(words.with(2, other).join(' '));
    noticed += wrong === 'checksum';
  }
  assert.ok(noticed >= 10, `${noticed}`); // fewer by chance: 1e-5
});

test('has the lists of BIP-39, word for word', async () => {
  // Fingerprints of english.txt, spanish.txt, french.txt and portuguese.txt (NFC, one word in a line) of the package mnemonic 0.21.
  const { lists } = await import('../../client/words.js');
  const hashes = Object.entries(lists).map(([language, list]) => [language, createHash('sha256').update(`${list.join('\n')}\n`).digest('hex')]);
  assert.deepEqual(Object.fromEntries(hashes), {
    en: '2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda', es: '0c639b0d58b6e56c18dcf418017ff341418a129e45fbf303361e8569edb02efe',
    fr: '431c1d074225d2b7e82db857d7c3ea58051df546e7c8b74c1f6dcab36351fd56', pt: '2685e9c194c82ae67e10ba59d9ea5345a23dc093e92276fc5361f6667d79cd3f',
  });
});
