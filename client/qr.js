// A QR code (ISO/IEC 18004) of a text: bytes, error correction M, in as many versions as the longest address of a receipt can need.

const PARITY = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24]; // bytes of a block, by version
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9];
const hex = (number, digits) => number.toString(16).padStart(digits, '0');

/** The rows of the code, from the top, a character for each module: 1 is dark. Null where the text is too long. */
export function encode(text) {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => hex(byte, 2));
  const version = 1 + PARITY.findIndex((_, place) => bytes.length + (place < 9 ? 2 : 3) <= dataRoom(place + 1));
  if (!version) return null;
  const stream = `4${hex(bytes.length, version < 10 ? 2 : 4)}${bytes.join('')}0`.match(/../g).map((pair) => parseInt(pair, 16));
  for (let pad = 0xec; stream.length < dataRoom(version); pad ^= 0xfd) stream.push(pad);
  return draw(version, addParity(stream, version));
}

/** Bytes of a version, for data and parity. */
function wholeRoom(version) {
  const marks = Math.floor(version / 7) + 2;
  const fixed = version < 2 ? 0 : (25 * marks - 10) * marks - 55 + (version < 7 ? 0 : 36);
  return Math.floor(((16 * version + 128) * version + 64 - fixed) / 8);
}

const dataRoom = (version) => wholeRoom(version) - PARITY[version - 1] * BLOCKS[version - 1];

/** A product in the field of 256 that the parity is reckoned in. */
function multiply(a, b) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ ((b >> bit & 1) * a);
  return product;
}

/** The remainder by the polynomial whose zeros are the first powers of 2. */
function reckonParity(block, length) {
  let divisor = [1];
  for (let k = 0, power = 1; k < length; k += 1, power = multiply(power, 2)) {
    divisor = [...divisor, 0].map((term, place) => term ^ multiply(divisor[place - 1] ?? 0, power));
  }
  let rest = Array(length).fill(0);
  for (const byte of block) {
    const factor = byte ^ rest[0];
    rest = [...rest.slice(1), 0].map((term, place) => term ^ multiply(divisor[place + 1], factor));
  }
  return rest;
}

/** The blocks, each with its parity, byte by byte in turns. */
function addParity(stream, version) {
  const n = BLOCKS[version - 1];
  const short = Math.floor(stream.length / n);
  const long = stream.length % n;
  const blocks = Array.from({ length: n }, (_, place) => {
    const start = place * short + Math.max(0, place - n + long);
    return stream.slice(start, start + short + (place >= n - long));
  });
  const interleave = (parts) => parts.at(-1).flatMap((_, place) => parts.flatMap((part) => part[place] ?? []));
  return [...interleave(blocks), ...interleave(blocks.map((block) => reckonParity(block, PARITY[version - 1])))];
}

/** A version followed by its parity of twelve bits. */
function protect(version) {
  let rest = version;
  for (let bit = 0; bit < 12; bit += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  return version << 12 | rest;
}

/** Under the first of the eight masks, a chessboard, as the codes of printed cards: readers take any. */
function draw(version, stream) {
  const size = 4 * version + 17;
  const rows = Array.from({ length: size }, () => Array(size).fill(null));
  const set = (x, y, dark) => { if (y in rows && x in rows) rows[y][x] = Number(dark); };
  const ring = (x, y, radius, light) => {
    for (let dx = -radius; dx <= radius; dx += 1) {
      for (let dy = -radius; dy <= radius; dy += 1) set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
    }
  };
  for (let place = 0; place < size; place += 1) {
    set(6, place, place % 2 === 0);
    set(place, 6, place % 2 === 0);
  }
  const last = size - 7;
  const marks = Math.floor(version / 7) + 2;
  const step = 2 * Math.ceil((last - 6) / (2 * marks - 2));
  const places = version < 2 ? [] : Array.from({ length: marks }, (_, place) => (place ? last - step * (marks - 1 - place) : 6));
  const isCorner = (x, y) => [x, y].includes(6) && [6, last].includes(x) && [6, last].includes(y);
  for (const x of places) for (const y of places) if (!isCorner(x, y)) ring(x, y, 2, [1]);
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) ring(x, y, 4, [2, 4]);
  const format = 0x5412; // error correction M, the first mask, and their parity
  for (let bit = 0; bit < 15; bit += 1) {
    const dark = format >> bit & 1;
    // Around the first corner, but for the dotted lines; once more, half by each of the others.
    set(8, bit < 6 ? bit : bit < 8 ? bit + 1 : size - 15 + bit, dark);
    set(bit < 8 ? size - 1 - bit : bit < 9 ? 7 : 14 - bit, 8, dark);
  }
  set(8, size - 8, true);
  if (version >= 7) {
    const about = protect(version);
    for (let bit = 0; bit < 18; bit += 1) {
      const [near, far] = [Math.floor(bit / 3), size - 11 + bit % 3];
      set(near, far, about >> bit & 1);
      set(far, near, about >> bit & 1);
    }
  }
  let bit = 0;
  for (let column = 0, right = size - 1; right > 0; column += 1, right -= right === 8 ? 3 : 2) {
    for (let line = 0; line < size; line += 1) {
      for (const x of [right, right - 1]) {
        const y = column % 2 ? line : size - 1 - line;
        if (rows[y][x] !== null) continue;
        rows[y][x] = (stream[bit >> 3] >> (7 - bit % 8) & 1) ^ ((x + y) % 2 === 0);
        bit += 1;
      }
    }
  }
  return rows.map((row) => row.join(''));
}
