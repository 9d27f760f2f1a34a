// Numbers as the page's own texts have them.

/**
 * A number in the digits that the reader has chosen, where their language has several kinds; else in those that readers of every
 * language know, and that codes and addresses are in. The server writes the same, and a minus sign as it does,
 * where browsers write a hyphen.
 */
export function write(value, language, options) {
  const { digits: numberingSystem = 'latn' } = document.documentElement.dataset;
  return new Intl.NumberFormat(language, { numberingSystem, ...options }).format(value).replace('-', '−');
}
