// Makes a piece of the page equal to a fresh one and leaves in place what somebody is using: the element
// that has the focus, what is folded out, and what was typed while the fresh one was on its way.

const FIELDS = ['input', 'textarea', 'select'];

/** Turns `old` into `fresh`. `typed(field)`: whether the reader changed it meanwhile. */
export function morph(old, fresh, typed) {
  for (const { name } of [...old.attributes]) {
    if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (name !== 'open' && name !== 'autofocus' && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if ('keep' in old.dataset) return;
  const field = FIELDS.includes(old.localName);
  const { value, checked } = fresh;
  const kept = field && typed(old);
  if (old.localName !== 'textarea') morphChildren(old, fresh, typed);
  if (!field || kept) return;
  if (old.type === 'checkbox' || old.type === 'radio') old.checked = checked;
  else if (old.value !== value) old.value = value;
}

function morphChildren(old, fresh, typed) {
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const match = partner(at, next);
    if (!match) {
      old.insertBefore(next, at);
      continue;
    }
    while (at !== match) at = removeNode(at);
    at = match.nextSibling;
    if (match.nodeType === Node.ELEMENT_NODE) morph(match, next, typed);
    else if (match.data !== next.data) match.data = next.data;
  }
  while (at) at = removeNode(at);
}

/** What becomes `next`: a node further on with the same id, or, if it has none, a like one without id right here. */
function partner(at, next) {
  if (next.id) {
    while (at && at.id !== next.id) at = at.nextSibling;
  }
  return at?.nodeName === next.nodeName && (at.id ?? '') === (next.id ?? '') ? at : null;
}

function removeNode(node) {
  const following = node.nextSibling;
  node.remove();
  return following;
}
