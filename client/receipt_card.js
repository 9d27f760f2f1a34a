// The receipt on the last screen, in words. Loaded once the response has arrived: the same for everybody, whatever was entered.

import { way } from './design.js';
import { spell } from './words.js';

/** Puts words in the place of the number that is shown. */
way.spell = async (part) => {
  const receipt = part.querySelector('.receipt output');
  receipt.textContent = await spell(receipt.textContent.replaceAll(' ', ''), receipt.lang);
};

const shown = document.querySelector('main');
if (shown.querySelector('.receipt')) way.spell(shown);
