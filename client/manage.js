// The researcher's pages work without this module; it saves them some waiting.
// It computes nothing: every number comes from the server, which has the only formula.

import { placeStatus, tellWaiting } from "./waiting.js";

// On a phone the survey's pages are one line: the one that is open shall be in sight.
const current = document.querySelector(".of-survey [aria-current]");
if (current) {
  const line = current.closest("ul");
  line.scrollLeft += current.getBoundingClientRect().left - line.getBoundingClientRect().left - 24;
}
for (const button of document.querySelectorAll("[data-copy]")) copyOnClick(button);
for (const button of document.querySelectorAll("button[data-busy]")) sendOnce(button);
for (const form of document.querySelectorAll("form[data-unsaved]")) askBeforeLeaving(form);

// Who has set no time yet means the clocks where they are.
const zones = document.querySelector("[data-here]");
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const mine = zones && [...zones.options].find((option) => option.value === here);
if (mine) {
  zones.prepend(mine);
  zones.value = here;
}

/** Copies the text of the element that `data-copy` names, with what `data-sure` names, and says so on the button. */
function copyOnClick(button) {
  button.addEventListener("click", async () => {
    const place = document.getElementById(button.dataset.copy);
    const sure = document.getElementById(button.dataset.sure);
    const text = sure ? `${place.textContent} ${sure.textContent}` : place.textContent.trim();
    const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    if (done || copySelected(place, text)) button.textContent = button.dataset.done;
  });
}

/**
 * Where pages may not write to the clipboard, as without HTTPS: by what is selected, as before there was another way. Where that is
 * refused, too, the text stays selected, to be copied by hand.
 */
function copySelected(place, text) {
  const folded = place.closest("details");
  if (folded) folded.open = true;
  getSelection().selectAllChildren(place);
  const put = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  addEventListener("copy", put);
  const done = document.execCommand("copy");
  removeEventListener("copy", put);
  return done;
}

/** The browser asks before what was typed into a form is left behind; also what comes back refused is kept nowhere. */
function askBeforeLeaving(form) {
  const read = () => new URLSearchParams(new FormData(form)).toString();
  const before = form.dataset.unsaved === "refused" ? null : read();
  let sent = false;
  form.addEventListener("submit", () => { sent = true; });
  addEventListener("beforeunload", (event) => {
    if (!sent && read() !== before) event.preventDefault();
  });
}

/** Has what a button asks for, and takes long, asked for once only; says what is being done, and for how long already. */
function sendOnce(button) {
  const place = placeStatus(button.closest("p, .foot"));
  let stop = null;
  button.form.addEventListener("submit", (event) => {
    if (stop) event.preventDefault();
    if (stop || event.submitter !== button) return;
    stop = tellWaiting(place, button.dataset, button.form);
    button.setAttribute("aria-disabled", "true");
  });
  // Somebody who comes back to the page finds it as it was.
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    stop?.();
    stop = null;
    button.removeAttribute("aria-disabled");
  });
}
