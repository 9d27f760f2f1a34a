// What waits on a tablet, as bytes that tell nobody without the key how many answers are among them: slots of one size, each
// encrypted anew at every change or drawn at random, in the order of their bytes. They hold no time, and no order of people.

const BLOCK = 64; // slots; there are as many blocks as hold all
const STEP = 512; // bytes of text in a slot, or a multiple
const VECTOR = 12; // bytes of AES-GCM, before the text
const TAG = 16; // and behind it

export const createKey = () => crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);

/** The size of slots for texts of so many bytes. */
export const fitSize = (bytes) => STEP * Math.ceil(bytes / STEP);

/** All slots, one after another. Each text ends with a bracket, so that spaces behind it are no part of it. */
export async function sealSlots(key, texts, size) {
  const count = BLOCK * Math.max(1, Math.ceil(texts.length / BLOCK));
  const slots = await Promise.all(Array.from({ length: count }, (_, place) => (
    place < texts.length ? sealText(key, texts[place], size) : drawBytes(VECTOR + size + TAG))));
  slots.sort(compareBytes);
  const all = new Uint8Array(count * (VECTOR + size + TAG));
  slots.forEach((slot, place) => all.set(slot, place * slot.length));
  return all;
}

/** The texts, in the order of their slots. */
export async function openSlots(key, all, size) {
  const width = VECTOR + size + TAG;
  const opened = await Promise.all(Array.from({ length: all.length / width }, (_, place) => (
    openSlot(key, all.subarray(place * width, (place + 1) * width)))));
  return opened.filter(Boolean);
}

async function sealText(key, text, size) {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > size) throw new RangeError(`a text must have at most ${size} bytes, not ${bytes.length}`);
  const padded = new Uint8Array(size).fill(32);
  padded.set(bytes);
  const iv = drawBytes(VECTOR);
  const slot = new Uint8Array(VECTOR + size + TAG);
  slot.set(iv);
  slot.set(new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, padded)), VECTOR);
  return slot;
}

/** Its text; null of one that was drawn. */
async function openSlot(key, slot) {
  try {
    const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: slot.subarray(0, VECTOR) }, key, slot.subarray(VECTOR));
    return new TextDecoder().decode(text).trimEnd();
  } catch {
    return null;
  }
}

const drawBytes = (n) => crypto.getRandomValues(new Uint8Array(n));

function compareBytes(one, other) {
  const place = one.findIndex((byte, index) => byte !== other[index]);
  return place < 0 ? 0 : one[place] - other[place];
}
