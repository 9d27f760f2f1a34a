// The researcher's pages work without this module; it saves them some waiting.
// It computes nothing: every number comes from the server, which has the only formula.

const slider = document.querySelector("[data-consequences]");
if (slider) showConsequences(slider);
for (const button of document.querySelectorAll("[data-copy]")) copyOnClick(button);
const live = document.querySelector("[data-refresh]");
if (live) refresh(live, 1000 * Number(live.dataset.refresh));

/** Shows what the slider's setting means, once it has rested for a moment. */
function showConsequences(input) {
  const target = document.getElementById("consequences");
  const value = document.getElementById("gamma-value");
  let timer;
  let latest = 0;
  input.addEventListener("input", () => {
    // A setting between the steps stands exactly as it was imported until it is moved.
    input.step = "0.01";
    value.textContent = Number(input.value).toLocaleString(document.documentElement.lang);
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const asked = ++latest;
      const questions = document.getElementsByName("text").length;
      const query = new URLSearchParams({ gamma: input.value, questions });
      const response = await fetch(`${input.dataset.consequences}?${query}`).catch(() => null);
      if (response?.ok && asked === latest) target.replaceChildren(...parsed(await response.text()).body.childNodes);
    }, 60);
  });
}

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
