// The researcher's pages work without this module; it saves them some waiting.
// It computes nothing: every number comes from the server, which has the only formula.

for (const button of document.querySelectorAll("[data-copy]")) copyOnClick(button);
const live = document.querySelector("[data-refresh]");
if (live) refresh(live, 1000 * Number(live.dataset.refresh));

/** Copies the text of the element that `data-copy` names, and says so on the button. */
function copyOnClick(button) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.done;
  });
}

/** Puts the page's newest figures in place, while somebody looks at it. */
function refresh(element, milliseconds) {
  setInterval(async () => {
    if (document.hidden || element.contains(document.activeElement)) return;
    const response = await fetch(location.href).catch(() => null);
    const fresh = response?.ok && parsed(await response.text()).getElementById(element.id);
    if (fresh && fresh.innerHTML !== element.innerHTML) element.replaceChildren(...fresh.childNodes);
  }, milliseconds);
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}
