// A scanned receipt comes in the part of the address that browsers never send. It is taken out before anything else is asked for.

const found = location.hash.slice(1);

/** The receipt that the address brought, or nothing. */
export const scanned = /^[0-9a-f]{32}$/.test(found) ? found : '';

if (scanned) history.replaceState(null, '', location.pathname + location.search);
// Another one, scanned into the same page.
addEventListener('hashchange', () => /^#[0-9a-f]{32}$/.test(location.hash) && location.reload());
