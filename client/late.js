// A survey that takes no answers now: what an earlier visit left on this device is sent all the same, to learn what became
// of it. It may have arrived before, be refused for good, or have to wait. The code of what has arrived is still shown.

import { way } from './design.js';

const main = document.querySelector('main');
if ('over' in main.dataset) way.dropTicket?.(); // it lets nothing in any more
if (!way.resume(main.dataset)) way.showCode?.(main);
