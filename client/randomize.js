// Chance. Coins come from the platform's cryptographic source, or it throws, and are compared as integers.

const WHOLE = 2 ** 32; // every row of a design sums to this
const MOST_AT_ONCE = 16384; // getRandomValues refuses more than 65,536 bytes

/** n fresh coins, each uniform on 0 ... 2^32 - 1. */
export function drawCoins(n) {
  if (!Number.isInteger(n) || n < 0) throw new RangeError(`n must be an integer of at least 0, not ${n}`);
  const coins = new Uint32Array(n);
  for (let start = 0; start < n; start += MOST_AT_ONCE) {
    source().getRandomValues(coins.subarray(start, start + MOST_AT_ONCE));
  }
  return coins;
}

/** The report: the first y with coin < weights[truth][0] + ... + weights[truth][y]. */
export function randomize(truth, coin, weights) {
  const row = Number.isInteger(truth) ? weights[truth] : undefined;
  // The value is left out of the message: an error must not carry a truth.
  if (!row) throw new RangeError(`truth must be an integer in 0 ... ${weights.length - 1}`);
  if (!Number.isInteger(coin) || coin < 0 || coin >= WHOLE) throw new RangeError('coin must be an integer in 0 ... 2^32 - 1');
  checkRow(row);
  let threshold = 0;
  return row.findIndex((weight) => coin < (threshold += weight));
}

/** Throws unless the row is made of non-negative integers that sum to 2^32. */
export function checkRow(row) {
  const integers = Array.isArray(row) && row.every((weight) => Number.isSafeInteger(weight) && weight >= 0);
  if (!integers || row.reduce((sum, weight) => sum + weight, 0) !== WHOLE) {
    throw new RangeError('a row of weights must be non-negative integers that sum to 2^32');
  }
}

/** 128 random bits as 32 lowercase hexadecimal digits. */
export const randomId = () => hex(source().getRandomValues(new Uint8Array(16)));

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

function source() {
  if (!globalThis.crypto?.getRandomValues) throw new Error('crypto.getRandomValues is missing: no coin can be flipped');
  return crypto;
}
