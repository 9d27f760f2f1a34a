/** A number as somebody types it, in Latin, Arabic or Persian digits, with a point or a comma; null if it is none, or if it may stand for thousands. */
export function readDecimal(text, step) {
  const latin = text.replace(/[٠-٩۰-۹]/g, (digit) => digit.codePointAt(0) % 16).replace(/[\u200e\u200f\u061c]/g, '');
  const decimal = latin.trim().replace(/^−/, '-').replace(/[,٫]/, '.');
  const thousands = /\.\d{3}$/.test(decimal) && Number(step.toFixed(2)) === step;
  return thousands || !/^-?(\d+\.?\d*|\.\d+)$/.test(decimal) ? null : Number(decimal);
}
