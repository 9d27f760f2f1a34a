// The one place where a script reads HTML: pages of this site that it asked for, under a policy that only the pages have
// whose scripts do so (Trusted Types, where the browser has them).

const policy = globalThis.trustedTypes?.createPolicy('fetched-page', { createHTML: (text) => text });

/** The document of an answer; no script in it runs. */
export async function readPage(response) {
  const text = await response.text();
  return new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html');
}
