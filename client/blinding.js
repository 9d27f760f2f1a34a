// RSA blind signatures (RFC 9474), the part of who asks: RSABSSA-SHA384-PSS with a salt of 48 bytes, or of none. What is sent is a
// number that any message could have become; what comes back is unblinded here, and checked by the browser's own RSA-PSS.

const EXPONENT = 65537n;
const HASH_LENGTH = 48; // bytes, of the salt too
const MOST_LINKS = 50; // that a survey with tickets may have
const LINK_NAME = 16; // hexadecimal digits
const PSS = { name: 'RSA-PSS', hash: 'SHA-384' };

/**
 * A message as it is signed with a salt and a blinding factor: what is sent, and by what the answer is unblinded. An error where it has a
 * factor in common with the key: no blinding hides that, and of a key of ours it is never met.
 */
export async function blind(modulus, message, { salt = randomBytes(HASH_LENGTH), factor } = {}) {
  const n = toNumber(modulus);
  const encoded = toNumber(await encode(message, salt, n.toString(2).length - 1));
  if (invert(encoded, n) === null) throw new Error('a key that could tell messages apart');
  const r = factor ?? drawFactor(n, modulus.length);
  return { blinded: toBytes((encoded * power(r, EXPONENT, n)) % n, modulus.length), inverse: toBytes(invert(r, n), modulus.length) };
}

/** The signature of a message in an answer; an error if it is none. */
export async function finish(modulus, message, answer, inverse, saltLength = HASH_LENGTH) {
  const n = toNumber(modulus);
  const signature = toBytes((toNumber(answer) * toNumber(inverse)) % n, modulus.length);
  if (answer.length !== modulus.length || !await isSigned(modulus, message, signature, saltLength)) throw new Error('not signed by the key of this survey');
  return signature;
}

/** Whether a definition gives the link with this path this key, one for each link; a list, from before they were named, any of them. */
export async function isNamed(modulus, path, named) {
  if (!named || Object.keys(named).length > MOST_LINKS) return false;
  const key = await sha256(modulus);
  if (Array.isArray(named)) return named.includes(key);
  const link = await sha256(new TextEncoder().encode(`Moneda link ${path.split('/').pop()}`));
  return named[link.slice(0, LINK_NAME)] === key;
}

export async function isSigned(modulus, message, signature, saltLength = HASH_LENGTH) {
  const key = await crypto.subtle.importKey('jwk', { kty: 'RSA', n: toText(modulus), e: 'AQAB' }, PSS, false, ['verify']);
  return crypto.subtle.verify({ ...PSS, saltLength }, key, signature, message);
}

export const randomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));

/** Bytes as base64url without an end, and back. */
export const toText = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
export const fromText = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));

const sha256 = async (bytes) => toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
const sha384 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-384', join(...parts)));

function join(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

/** EMSA-PSS (RFC 8017, 9.1.1) in so many bits. */
async function encode(message, salt, bits) {
  const length = Math.ceil(bits / 8);
  const hash = await sha384(new Uint8Array(8), await sha384(message), salt);
  const block = new Uint8Array(length - HASH_LENGTH - 1);
  block[block.length - salt.length - 1] = 1;
  block.set(salt, block.length - salt.length);
  for (let counter = 0; counter * HASH_LENGTH < block.length; counter += 1) {
    const mask = await sha384(hash, new Uint8Array([0, 0, 0, counter])); // MGF1
    for (let place = counter * HASH_LENGTH; place < Math.min(block.length, (counter + 1) * HASH_LENGTH); place += 1) {
      block[place] ^= mask[place % HASH_LENGTH];
    }
  }
  block[0] &= 0xff >> (8 * length - bits);
  return join(block, hash, new Uint8Array([0xbc]));
}

/** Uniform among the numbers that have an inverse: others would tell the factors of the key, and are not met. */
function drawFactor(n, length) {
  for (;;) {
    const drawn = toNumber(randomBytes(length));
    if (drawn > 0n && drawn < n && invert(drawn, n) !== null) return drawn;
  }
}

function power(base, exponent, n) {
  let result = 1n;
  for (let square = base % n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * square) % n;
    square = (square * square) % n;
  }
  return result;
}

/** The inverse modulo n (Euclid's extended algorithm), or null where there is none. */
export function invert(number, n) {
  let [left, right, x, y] = [n, number % n, 0n, 1n];
  while (right > 0n) {
    const times = left / right;
    [left, right] = [right, left - times * right];
    [x, y] = [y, x - times * y];
  }
  return left === 1n ? ((x % n) + n) % n : null;
}

const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export const toNumber = (bytes) => BigInt(`0x${toHex(bytes)}`);

function toBytes(number, length) {
  const digits = number.toString(16).padStart(2 * length, '0');
  return Uint8Array.from({ length }, (_, place) => parseInt(digits.slice(2 * place, 2 * place + 2), 16));
}
