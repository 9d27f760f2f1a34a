// Beside the editor, as wide as a phone: the respondent's page, at the entry that is being written, or what results
// will look like.

import { tellWaiting } from './waiting.js';

const wide = matchMedia('(min-width: 80em)');

/** Keeps a frame in `place`: `show(number)` loads it again once the draft is another one, `follow(name)` goes to an entry. */
export function previewIn(place) {
  const frames = place.querySelector('#frames');
  const waiting = place.querySelector('#preview-waiting');
  let endWaiting = () => {}; // takes away what is said while results are worked out
  let shown = null; // the number of the draft in the frame
  let view = 'preview';
  let name = '';

  const address = (number) => `${place.dataset[view]}&draft=${number}${view === 'preview' && name ? `#${name}` : ''}`;
  const show = (number) => {
    mark();
    if (!wide.matches || !place.dataset.preview || number === shown) return;
    shown = number;
    const title = view === 'preview' ? place.dataset.title : place.dataset.titleResults;
    const frame = Object.assign(document.createElement('iframe'), { title, src: address(number) });
    endWaiting();
    endWaiting = view === 'results' ? tellWaiting(waiting, waiting.dataset) : () => {};
    // Those before stay until it is there; one that comes late takes nothing newer away.
    frame.addEventListener('load', () => {
      while (frames.firstElementChild !== frame) frames.firstElementChild.remove();
      if (frame === frames.lastElementChild) endWaiting();
    }, { once: true });
    frames.append(frame);
  };
  const mark = () => {
    for (const choice of place.querySelectorAll('[data-view]')) {
      if (choice.dataset.view === view) choice.setAttribute('aria-current', 'true');
      else choice.removeAttribute('aria-current');
    }
  };
  const follow = (entry) => {
    if (!entry || entry === name) return;
    name = entry;
    const frame = frames.lastElementChild;
    if (frame && view === 'preview') frame.contentWindow.location.replace(address(shown));
  };
  place.addEventListener('click', (event) => {
    const chosen = event.target.closest('[data-view]');
    if (!chosen || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation(); // it leads nowhere else
    if (view === chosen.dataset.view) return;
    view = chosen.dataset.view;
    const number = shown;
    shown = null;
    show(number);
  });
  return { show, follow };
}
