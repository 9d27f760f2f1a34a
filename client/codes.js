// Codes of invitations, as they are typed and as they are sent: Crockford's base 32, whose look-alikes are forgiven.

const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/;

/** A code in upper case without hyphens and spaces, out of its link if that was pasted; null if it is none. */
export function readCode(text) {
  const pasted = text.slice(0, 2000);
  const mark = pasted.lastIndexOf('#');
  const fragment = mark >= 0 && pasted.slice(0, mark).includes('/s/') ? pasted.slice(mark + 1) : text;
  const narrow = fragment.slice(0, 100)
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
  const kept = narrow.replace(/[\p{Pd}\p{Zs}\p{Cc}\p{Cf}]/gu, '').replace(/[.,;]+$/, '').toUpperCase();
  const code = kept.replace(/O/g, '0').replace(/[IL]/g, '1');
  return CODE.test(code) ? code : null;
}

/** As it is printed; nothing for none. */
export const groupCode = (code) => code?.match(/.{4}/g).join('-') ?? '';

/** The body with a code, in place of another if it has one: the report and the id stay, and so does its length. */
export function withCode(body, code) {
  const entry = `,\n  "invitation": "${code}"\n}`;
  return body.replace(/(,\n {2}"invitation": "[^"]*")?\n}$/, entry);
}

/** The code that a body carries, if it does. */
export const codeOf = (body) => JSON.parse(body).invitation ?? null;
