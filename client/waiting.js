/** Says in a place what is being done, and for how long already; what it returns ends that and leaves the place empty. */
export function tellWaiting(place, busy, passed) {
  const clock = document.createElement("span");
  clock.ariaHidden = "true"; // read out once, not every second
  const began = Date.now();
  const tell = () => (clock.textContent = passed.replace("{seconds}", Math.round((Date.now() - began) / 1000)));
  place.replaceChildren(`${busy} `, clock);
  const ticking = setInterval(tell, 1000);
  return () => {
    clearInterval(ticking);
    place.replaceChildren();
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
