// A survey that takes no answers now: what an earlier visit left on this device is sent all the same, to learn what became
// of it. It may have arrived before, be refused for good, or have to wait.

import { resume } from './delivery.js';

resume(document.querySelector('main').dataset);
