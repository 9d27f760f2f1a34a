// Downloads of what only this page has: the page stays, says for how long it has waited, and warns before it is left too early.

import { saveAnswer } from "./saved_answer.js";
import { tellWaiting } from "./waiting.js";

const form = document.querySelector("[data-download]");
const status = form.querySelector('[role="status"]');
const { done, failed } = form.dataset;
const warn = (event) => event.preventDefault();
let working = false;

addEventListener("beforeunload", warn);

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (working) return;
  working = true;
  const { submitter } = event;
  submitter.setAttribute("aria-disabled", "true");
  const stop = tellWaiting(status, form.dataset);
  // A button's own `formAction` is the address of the page where it has none.
  const address = submitter.getAttribute("formaction") ?? form.action;
  const body = new URLSearchParams(new FormData(form, submitter));
  const name = await fetch(address, { method: "POST", body }).then(saveAnswer).catch(() => null);
  stop();
  status.textContent = name ? done.replace("{name}", name) : failed;
  if (name) removeEventListener("beforeunload", warn);
  submitter.removeAttribute("aria-disabled");
  working = false;
});
