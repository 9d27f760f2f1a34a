import assert from 'node:assert/strict';
import { test } from 'node:test';

import { read } from './vectors.js';

/** As much of a page as builds nodes. */
class Element {
  children = [];
  constructor(localName) { this.localName = localName; }
  append(...nodes) { this.children.push(...nodes); }
  setAttribute(name, value) { this[name] = value; }
}
globalThis.document = {
  documentElement: { lang: 'en' },
  querySelector: () => new Element('main'),
  getElementById: () => null,
  createElement: (name) => new Element(name),
};
const { blocks } = await import('../../client/markdown.js');

const MARKS = { strong: 's', em: 'e' };

function runs(nodes, marks = '') {
  return nodes.flatMap((node) => {
    if (typeof node === 'string') return [marks ? [node, marks] : [node]];
    if (node.localName === 'a') return [[node.children.join(''), marks, node.href]];
    return runs(node.children, marks + MARKS[node.localName]);
  });
}

/** The runs between line ends. */
function lines({ children }) {
  const found = [[]];
  for (const node of children) {
    if (node.localName === 'br') found.push([]);
    else found.at(-1).push(node);
  }
  return found.map((line) => runs(line));
}

test('paragraphs, lists, bold, italic and links are those that reports draw', () => {
  for (const [text, drawn] of read('markdown').texts) {
    const found = blocks(text).map((block) => [
      block.localName,
      block.localName === 'ul' ? block.children.map((item) => runs(item.children)) : lines(block),
    ]);
    assert.deepEqual(found, drawn, text);
  }
});
