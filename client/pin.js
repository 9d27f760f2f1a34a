// The PIN of whoever hands a tablet round: kept as a slow hash with a salt. Whoever tries others waits, longer every time.

const LEAST = 6; // digits
const MOST = 12;
const ROUNDS = 600000; // of PBKDF2 with SHA-256, as OWASP's cheat sheet on storing passwords has them
const FREE = 3; // wrong ones before the first wait
const WAIT = 30000; // ms, and twice as long after each more
const LONGEST = 900000;

/** The digits of what was typed, also by an Arabic or Persian keyboard; null if they are no PIN. */
export function readPin(typed) {
  const digits = typed.trim().replace(/[٠-٩۰-۹]/g, (digit) => digit.charCodeAt(0) & 15);
  return /^\d+$/.test(digits) && digits.length >= LEAST && digits.length <= MOST ? digits : null;
}

/** What is kept of a PIN. */
export async function hashPin(pin, salt = crypto.getRandomValues(new Uint8Array(16)), rounds = ROUNDS) {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(pin), 'PBKDF2', false, ['deriveBits']);
  const bits = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds }, key, 256);
  return { salt, rounds, hash: new Uint8Array(bits) };
}

export async function isRightPin(pin, { salt, rounds, hash }) {
  const tried = await hashPin(pin, salt, rounds);
  return tried.hash.every((byte, place) => byte === hash[place]);
}

/** How long (ms) nobody may try after so many wrong ones. */
export const waitAfter = (wrong) => (wrong < FREE ? 0 : Math.min(WAIT * 2 ** (wrong - FREE), LONGEST));
