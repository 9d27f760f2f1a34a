// Work before sending, where a server asks for it: numbers that are found by trial alone, a few at a time, so that the page stays
// smooth. They follow from the link, the receipt and the hour, which are no secret: no server gives anybody a task of their own.

import { way } from './design.js';
import { hex } from './randomize.js';

const HOUR = 3600000; // ms
const LAST_HOUR = 999999; // of six digits: what a clock that is further off says would be refused for good, with the answers
const PARTS = 8; // numbers to be found
const ZEROS = 15; // leading bits of the hash of each
const TRIES = 256; // hashes without a pause: some 5 ms of an old phone

const found = new Map(); // by link, receipt and hour
let drift = 0; // ms that the server's clock is ahead, where it has said so

/** The member `work` of a body that goes by this link now: always of the same length. */
way.work = (id, to) => {
  const hour = Math.min(Math.max(Math.floor((Date.now() + drift) / HOUR), 0), LAST_HOUR);
  const task = [to.split('/').at(-2), `${hour}`.padStart(6, '0'), id].join(':');
  if (!found.has(task)) found.set(task, solve(...task.split(':')));
  return found.get(task);
};

/** What a server says of the time when it misses the work. */
way.setClock = (date) => {
  drift = date - Date.now() || 0;
};

const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

async function solve(slug, hour, id) {
  const stored = await sha256(Uint8Array.from(id.match(/../g), (digits) => parseInt(digits, 16)));
  const seed = new DataView((await sha256(new TextEncoder().encode(`${slug}:${hour}:${hex(stored.subarray(0, 16))}`))).buffer);
  const words = Int32Array.from({ length: 8 }, (_, place) => seed.getInt32(4 * place));
  const numbers = [];
  const { port1, port2 } = new MessageChannel(); // which no browser slows down, as it does timers
  for (let number = 0; numbers.length < PARTS; number += 1) {
    if (number % TRIES === 0) {
      await new Promise((resume) => {
        port1.onmessage = resume;
        port2.postMessage(0);
      });
    }
    if (firstWord(words, number) >>> (32 - ZEROS) === 0) numbers.push(number);
  }
  port1.close();
  return hour + numbers.map((number) => number.toString(16).padStart(6, '0')).join('');
}

// SHA-256 (FIPS 180-4) of 36 bytes, which are one block: calling the browser's for each takes ten times as long.
const primes = [];
for (let number = 2; primes.length < 64; number += 1) if (primes.every((prime) => number % prime)) primes.push(number);
const fraction = (number) => ((number % 1) * 2 ** 32) | 0;
const START = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const ROUNDS = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const schedule = new Int32Array(64);

/** The first 32 bits of the hash of eight words and a number. */
function firstWord(words, number) {
  const w = schedule;
  w.fill(0, 10, 15);
  w.set(words);
  w[8] = number;
  w[9] = 1 << 31; // the end
  w[15] = 36 * 8; // bits
  for (let t = 16; t < 64; t += 1) {
    const [x, y] = [w[t - 15], w[t - 2]];
    const low = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
    const high = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
    w[t] = w[t - 16] + low + w[t - 7] + high;
  }
  let [a, b, c, d, e, f, g, h] = START;
  for (let t = 0; t < 64; t += 1) {
    const one = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (e & f ^ ~e & g) + ROUNDS[t] + w[t] | 0;
    const two = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c) | 0;
    h = g;
    g = f;
    f = e;
    e = d + one | 0;
    d = c;
    c = b;
    b = a;
    a = one + two | 0;
  }
  return START[0] + a | 0;
}
