// Files that the server writes before it sends any of them: until a browser would show a download, this says what is
// being done. Whatever goes wrong is left to the browser, which opens the link as if there were no script.

import { saveAnswer } from "./saved_answer.js";
import { placeStatus, tellWaiting } from "./waiting.js";

for (const list of document.querySelectorAll("[data-written]")) sayWriting(list);
for (const form of document.querySelectorAll("form[data-packed]")) sayPacking(form);

function sayWriting(list) {
  const { busy, passed, written } = list.dataset;
  const place = placeStatus(list);
  let working = false;
  list.addEventListener("click", async (event) => {
    const link = event.target.closest("a");
    if (!link || event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (working) return;
    working = true;
    link.setAttribute("aria-disabled", "true");
    const stop = tellWaiting(place, { passed, busy: busy.replace("{file}", link.textContent) });
    const name = await fetch(link.href).then(saveAnswer).catch(() => null);
    stop();
    link.removeAttribute("aria-disabled");
    working = false;
    if (name) place.textContent = written.replace("{name}", name);
    else location.assign(link.href);
  });
}

/** A file that a form asks for. What is refused, before anything is done, is asked for once more: the browser then shows why. */
function sayPacking(form) {
  const place = placeStatus(form.querySelector("button").closest("p"));
  const { packed, failed } = form.dataset;
  let working = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (working) return;
    working = true;
    const stop = tellWaiting(place, form.dataset, form);
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.action, { method: "POST", body }).catch(() => null);
    const name = answer && await saveAnswer(answer).catch(() => null);
    stop();
    working = false;
    if (answer?.status >= 400 && answer.status < 500) form.submit();
    else place.textContent = name ? packed.replace("{name}", name) : failed;
  });
}
