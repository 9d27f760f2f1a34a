// The receipt as a picture: the address of its page, and the receipt in the part that browsers never send. Made here, and saved from here.

import { writePicture } from './picture.js';
import { encode } from './qr.js';
import { read } from './words.js';

const QUIET = 4; // light squares around a code
const card = document.querySelector('.receipt');
const part = card.querySelector('details');

const { receipt } = await read(card.querySelector('output').textContent); // in words, or a number still
const code = encode(`${card.querySelector(':scope > p > a').href}#${receipt}`);
const [side, size] = ['0'.repeat(QUIET), code.length + 2 * QUIET];
const edge = Array(QUIET).fill('0'.repeat(size));
const rows = [...edge, ...code.map((row) => `${side}${row}${side}`), ...edge];
const runs = rows.flatMap((row, y) => Array.from(row.matchAll(/1+/g), ({ 0: { length }, index }) => `M${index} ${y}h${length}v1h-${length}z`));

// Dark on light, also where the page is dark. What pages draw with stands in their one file, of which this is no part.
part.querySelector('div').append(draw('svg', { viewBox: `0 0 ${size} ${size}`, width: 5 * size, 'shape-rendering': 'crispEdges', 'aria-hidden': 'true' },
  draw('path', { fill: '#fff', d: `M0 0h${size}v${size}H0z` }), draw('path', { d: runs.join('') })));
const button = part.querySelector('button');
button?.addEventListener('click', () => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([writePicture(rows)], { type: 'image/png' }));
  link.download = `${button.dataset.name}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
});
part.hidden = false;

function draw(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}
