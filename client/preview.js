// The researcher's preview: the address may name the entry to look at, whatever was answered before it.

import { way } from './design.js';

way.preview = (entries, open) => {
  const openNamed = () => {
    const place = 1 + entries.findIndex(({ name }) => `#${name}` === location.hash);
    if (place) open(place);
    return place;
  };
  addEventListener('hashchange', openNamed);
  return openNamed();
};
