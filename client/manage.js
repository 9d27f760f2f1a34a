// The researcher's pages work without this module; it saves them some waiting.
// It computes nothing: every number comes from the server, which has the only formula.

// On a phone the survey's pages are one line: the one that is open shall be in sight.
const current = document.querySelector(".of-survey [aria-current]");
if (current) {
  const line = current.closest("ul");
  line.scrollLeft += current.getBoundingClientRect().left - line.getBoundingClientRect().left - 24;
}
for (const button of document.querySelectorAll("[data-copy]")) copyOnClick(button);

// Who has set no time yet means the clocks where they are.
const zones = document.querySelector("[data-here]");
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zones && [...zones.options].some((option) => option.value === here)) zones.value = here;

/** Copies the text of the element that `data-copy` names, and says so on the button. */
function copyOnClick(button) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.done;
  });
}
