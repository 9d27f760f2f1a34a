// Receipts as words, after BIP-39: 128 bits and a checksum of four are twelve words of a list of 2,048.

/** Of each language; the lists' own files add theirs. */
export const lists = { __proto__: null };

/** Adds the list of a language; a receipt that is shown as a number is in its words from now on. */
export async function addList(language, words) {
  lists[language] = words.trim().split(/\s+/);
  const shown = globalThis.document?.querySelector(`.receipt output[lang=${language}]`);
  if (!shown) return;
  shown.textContent = await spell(shown.textContent.replaceAll(' ', ''), language);
  for (const said of document.querySelectorAll('.receipt .spelled')) said.hidden = false;
}

const WORDS = 12;
const BITS = 11; // of a word
const CHECKSUM = 4;

const toBits = (bytes) => Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
const toBytes = (receipt) => Uint8Array.from(receipt.match(/../g), (pair) => parseInt(pair, 16));

async function sum(bytes) {
  return toBits(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))).slice(0, CHECKSUM);
}

/** 32 hexadecimal digits as twelve words. */
export async function spell(receipt, language) {
  const bytes = toBytes(receipt);
  const bits = toBits(bytes) + await sum(bytes);
  return bits.match(/.{11}/g).map((part) => lists[language][parseInt(part, 2)]).join(' ');
}

/** Words without case, accents, places where they may be divided, and what stands between them. */
const split = (text) => text.normalize('NFKD').replace(/[\p{M}\u00ad]/gu, '').toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** The place of a word in a list, by itself or by its first four letters or more; -1 if it is none of them. */
function find(plain, word) {
  const place = plain.indexOf(word);
  return place < 0 && word.length >= 4 ? plain.findIndex((known) => known.startsWith(word)) : place;
}

/** `{ receipt }` of typed or pasted words, in any of the languages, or of its number; else `{ wrong, ... }`, why it is none. */
export async function read(text) {
  const pieces = split(text);
  const digits = pieces.join('');
  if (/^[0-9a-f]{32}$/.test(digits)) return { receipt: digits };
  const listed = pieces.filter((piece) => /\P{N}/u.test(piece)); // without the numbers of a list
  const words = listed.length ? listed : pieces;
  if (!words.length) return { wrong: 'empty' };
  const found = Object.values(lists).map((list) => {
    const plain = list.map((word) => split(word).join(''));
    return words.map((word) => find(plain, word));
  });
  const misses = (places) => places.filter((place) => place < 0).length;
  const places = found.reduce((best, other) => (misses(other) < misses(best) ? other : best));
  const miss = places.indexOf(-1);
  if (miss >= 0) return { wrong: 'word', place: miss + 1, word: words[miss].slice(0, 30) };
  if (words.length !== WORDS) return { wrong: 'number', n: words.length };
  const bits = places.map((place) => place.toString(2).padStart(BITS, '0')).join('');
  const receipt = bits.slice(0, -CHECKSUM).match(/.{4}/g).map((part) => parseInt(part, 2).toString(16)).join('');
  return bits.endsWith(await sum(toBytes(receipt))) ? { receipt } : { wrong: 'checksum' };
}
