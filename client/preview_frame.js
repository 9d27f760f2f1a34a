// The respondent's page beside the editor, as wide as a phone, at the entry that is being written.

const wide = matchMedia('(min-width: 80em)');

/** Keeps a frame in `place`: `show(number)` loads it again once the draft is another one, `follow(name)` goes to an entry. */
export function previewIn(place) {
  let shown = null; // the number of the draft in the frame
  let name = '';

  const address = (number) => `${place.dataset.preview}&draft=${number}${name && `#${name}`}`;
  const show = (number) => {
    if (!wide.matches || !place.dataset.preview || number === shown) return;
    shown = number;
    const frame = Object.assign(document.createElement('iframe'), { title: place.dataset.title, src: address(number) });
    // The one before stays until the next is there.
    frame.addEventListener('load', () => {
      for (const other of place.querySelectorAll('iframe')) if (other !== frame) other.remove();
    }, { once: true });
    place.append(frame);
  };
  const follow = (entry) => {
    if (!entry || entry === name) return;
    name = entry;
    const frame = place.querySelector('iframe:last-of-type');
    if (frame) frame.contentWindow.location.replace(address(shown));
  };
  return { show, follow };
}
