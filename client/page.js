// Every text is in the page's own templates, in the reader's language; scripts hold none.

const main = document.querySelector('main');
const figures = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 4 });

/** A copy of a template. {name} becomes values[name]; data-one / data-many="name" choose by number. */
export function copy(template, values = {}) {
  const part = document.getElementById(template).content.cloneNode(true);
  for (const element of part.querySelectorAll('[data-one], [data-many]')) {
    const { one, many } = element.dataset;
    if ((values[one ?? many] === 1) !== Boolean(one)) element.remove();
  }
  const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = put(texts.currentNode.data, values);
  return part;
}

/** Replace {name} in one pass: what is put in is not read again. */
export function put(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return typeof value === 'number' ? figures.format(value) : value ?? whole;
  });
}

/** Replace the screen. The heading takes the focus, so that it is read aloud. */
export function show(part, { header = true, focus = true } = {}) {
  document.querySelector('body > header').hidden = !header;
  main.replaceChildren(part);
  scrollTo(0, 0);
  const heading = main.querySelector('h1');
  heading.tabIndex = -1;
  if (focus) heading.focus({ preventScroll: true });
  main.querySelector('.reload')?.addEventListener('click', () => location.reload());
}

/** The researcher's own words: plain text, in their own language. */
export const quote = (element, textContent, lang) => Object.assign(element, { textContent, lang, dir: 'auto' });

export const make = (name, ...rest) => dress(document.createElement(name), ...rest);
export const draw = (name, ...rest) => dress(document.createElementNS('http://www.w3.org/2000/svg', name), ...rest);

function dress(element, attributes, ...children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
