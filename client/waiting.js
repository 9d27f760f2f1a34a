const EACH = 1000; // milliseconds between two looks at the clock, and two at the server
const SOONEST = 2000; // milliseconds of work from which on something can be said of the rest

/**
 * Says in a place what is being done, and for how long already; what it returns ends that and leaves the place empty.
 *
 * `texts` are the attributes that `takes_long` gives: where these say that the server counts what is done, the work has
 * a name in the form, and how far it has come is said, too.
 */
export function tellWaiting(place, texts, form) {
  const clock = document.createElement("span");
  clock.ariaHidden = "true"; // read out once, not every second
  const heard = document.createElement("span"); // read out as each quarter is done
  heard.className = "unseen";
  const began = Date.now();
  const ask = texts.progress && form ? askProgress(texts.progress.replace("NAME", nameWork(form))) : async () => null;
  const word = wordProgress(texts);
  let said = "", quarter = 0, over = false;
  const show = () => {
    const passed = texts.passed.replace("{seconds}", Math.round((Date.now() - began) / 1000));
    clock.textContent = `${passed} ${said}`.trim();
  };
  const tell = async () => {
    show();
    const told = await ask();
    if (over || !told) return;
    said = word(told, Date.now());
    show();
    const now = Math.floor((4 * told.done) / told.of);
    if (now > quarter) heard.textContent = ` ${said}`;
    quarter = Math.max(quarter, now);
  };
  place.replaceChildren(`${texts.busy} `, clock, heard);
  const ticking = setInterval(tell, EACH);
  return () => {
    over = true;
    clearInterval(ticking);
    place.replaceChildren();
  };
}

/** What words how much is done, and about how long the rest takes once a tenth shows that. Neither goes back. */
export function wordProgress({ share, ahead }) {
  let first = null, most = 0, least = Infinity;
  return ({ done, of }, now) => {
    const part = Math.min(done / of, 1);
    first ??= { part, now };
    most = Math.max(most, part);
    // What is not counted comes last, so that all is done only when the answer is there.
    const shown = share.replace("{share}", Math.min(Math.floor(100 * most), 99));
    const passed = now - first.now;
    if (part < 0.1 || part <= first.part || passed < SOONEST) return shown;
    const rest = ((1 - part) / (part - first.part)) * (passed / 1000);
    if (rest > 2 * least) return shown; // much slower than was said: better nothing than that again
    least = Math.min(least, rest);
    const seconds = least > 10 ? 5 * Math.ceil(least / 5) : Math.ceil(least);
    return seconds < 2 ? shown : `${shown} ${ahead.replace("{seconds}", seconds)}`;
  };
}

/** A new name for what a form has done, which stands in it; without this module it has none. */
function nameWork(form) {
  const field = form.querySelector("[name=work]") ?? document.createElement("input");
  field.type = "hidden";
  field.name = "work";
  field.value = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  form.prepend(field); // its last field tells whether it is whole
  return field.value;
}

/** What asks how far a work has come: null where nothing is known, or the question before has no answer yet. */
function askProgress(address) {
  let asking = false;
  return async () => {
    if (asking) return null;
    asking = true;
    const told = await fetch(address).then((answer) => answer.json()).catch(() => null);
    asking = false;
    return told?.of ? told : null;
  };
}

/** A place after an element for what is said of it. */
export function placeStatus(element) {
  const place = document.createElement("p");
  place.setAttribute("role", "status");
  place.className = "fine";
  element.after(place);
  return place;
}
