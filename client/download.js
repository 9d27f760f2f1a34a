// Downloads of what only this page has: the page stays, says how far it is, and warns before it is left too early.

const form = document.querySelector("[data-download]");
const status = form.querySelector('[role="status"]');
const { busy, done, failed } = form.dataset;
const warn = (event) => event.preventDefault();
let working = false;

addEventListener("beforeunload", warn);

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (working) return;
  working = true;
  const { submitter } = event;
  submitter.setAttribute("aria-disabled", "true");
  const moving = document.createElement("progress");
  moving.ariaHidden = "true"; // the words say it
  status.replaceChildren(moving, ` ${busy}`);
  // A button's own `formAction` is the address of the page where it has none.
  const address = submitter.getAttribute("formaction") ?? form.action;
  const name = await download(address, new URLSearchParams(new FormData(form, submitter))).catch(() => null);
  status.textContent = name ? done.replace("{name}", name) : failed;
  if (name) removeEventListener("beforeunload", warn);
  submitter.removeAttribute("aria-disabled");
  working = false;
});

/** Saves the answer as a file; returns its name, or null if it is none. */
async function download(address, body) {
  const answer = await fetch(address, { method: "POST", body });
  const [, name] = answer.headers.get("content-disposition")?.match(/filename="([^"]+)"/) ?? [];
  if (!answer.ok || !name) return null;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return name;
}
