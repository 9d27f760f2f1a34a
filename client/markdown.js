// The researcher's texts: paragraphs, lists, bold, italic and links, built as nodes. Nothing else of Markdown, and never HTML.

import { languageOf, make, own, quote, translate } from './page.js';

const INLINE = /\*\*(\S|\S.*?\S)\*\*|\*([^\s*]|[^\s*].*?[^\s*])\*|\[([^\][]+)\]\(((?:https:\/\/|mailto:)[^\s()<>"]+)\)/;

own.write = (element, text, lang = languageOf(text)) => {
  quote(element, '', lang).append(...blocks(translate(text)));
  return element;
};

/** Paragraphs and lists, separated by empty lines; a list may also follow a paragraph at once. */
export function blocks(text) {
  const found = [];
  let block = null;
  for (const line of text.split('\n')) {
    const item = /^\s*- +(.+)/.exec(line)?.[1];
    const name = item ? 'ul' : 'p';
    if (!line.trim()) block = null;
    else {
      if (block?.localName !== name) found.push(block = make(name, {}));
      else if (!item) block.append(make('br', {}));
      block.append(...(item ? [make('li', {}, ...inline(item))] : inline(line)));
    }
  }
  return found;
}

function inline(text) {
  const [whole, bold, italic, words, href] = INLINE.exec(text) ?? [];
  if (!whole) return text ? [text] : [];
  const at = text.indexOf(whole);
  const element = bold ? make('strong', {}, ...inline(bold))
    : italic ? make('em', {}, ...inline(italic))
      : make('a', { href, target: '_blank', rel: 'noopener noreferrer' }, words);
  return [...inline(text.slice(0, at)), element, ...inline(text.slice(at + whole.length))];
}
