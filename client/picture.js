// A picture of black and white squares as a PNG file, made here: what reads a canvas is disturbed by browsers that protect their users.

const SCALE = 8; // dots of a square's side

const bytesOf = (number) => [24, 16, 8, 0].map((shift) => number >>> shift & 255);

/** The check that PNG asks for (CRC-32, as in its specification). */
function reckonCheck(bytes) {
  return ~bytes.reduce((rest, byte) => {
    let next = rest ^ byte;
    for (let bit = 0; bit < 8; bit += 1) next = next >>> 1 ^ (next & 1 && 0xedb88320);
    return next;
  }, -1);
}

/** The sum that zlib asks for (Adler-32). */
function addUp(bytes) {
  const [first, second] = bytes.reduce(([one, two], byte) => [(one + byte) % 65521, (two + one + byte) % 65521], [1, 0]);
  return second * 65536 + first;
}

function writeChunk(name, bytes) {
  const named = [...new TextEncoder().encode(name), ...bytes];
  return [...bytesOf(bytes.length), ...named, ...bytesOf(reckonCheck(named))];
}

/** A file of rows of 0 and 1, dark, in one block that is not compressed: of fewer than 2^16 bytes. */
export function writePicture(rows) {
  const lines = rows.flatMap((row) => {
    const dots = row.replace(/./g, (square) => (square === '1' ? '0' : '1').repeat(SCALE));
    const line = [0, ...dots.match(/.{8}/g).map((byte) => parseInt(byte, 2))];
    return Array(SCALE).fill(line).flat();
  });
  const size = bytesOf(rows.length * SCALE);
  const [, , high, low] = bytesOf(lines.length);
  return Uint8Array.from([
    0x89, ...new TextEncoder().encode('PNG\r\n\x1a\n'),
    ...writeChunk('IHDR', [...size, ...size, 1, 0, 0, 0, 0]), // one bit for a dot, no colours
    ...writeChunk('IDAT', [0x78, 1, 1, low, high, low ^ 255, high ^ 255, ...lines, ...bytesOf(addUp(lines))]),
    ...writeChunk('IEND', []),
  ]);
}
