// Entries that are dragged by their grips, with a mouse, a pen or a finger. With the keyboard, Alt and an arrow move them.

const EDGE = 72; // pixels from the edge of the window at which it scrolls along
const PACE = 12;

/** Lets the rows of `list` be dragged; `drop(from, to)` hears of the places between which one went. */
export function dragIn(list, drop) {
  let held = null; // the row in hand, and where it would go

  list.addEventListener('pointerdown', (event) => {
    const row = event.target.closest('.grip')?.closest('.entry-row');
    if (!row || event.button !== 0) return;
    event.preventDefault();
    held = { row, place: rows().indexOf(row) };
    held.target = held.place;
    list.setPointerCapture(event.pointerId);
    row.classList.add('held');
  });
  list.addEventListener('pointermove', ({ clientY }) => {
    if (!held) return;
    if (clientY < EDGE) scrollBy(0, -PACE);
    else if (clientY > innerHeight - 2 * EDGE) scrollBy(0, PACE);
    aim(clientY);
  });
  list.addEventListener('pointerup', () => letGo(true));
  list.addEventListener('pointercancel', () => letGo(false));
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && letGo(false));

  function rows() {
    return [...list.querySelectorAll('.entry-row')];
  }

  /** Before the first row whose line lies below the pointer, or behind the last. */
  function aim(y) {
    const all = rows();
    const before = all.findIndex((row) => y < middle(row));
    const gap = before < 0 ? all.length : before;
    held.target = gap > held.place ? gap - 1 : gap;
    all.forEach((row, place) => row.classList.toggle('drop', place === gap && held.target !== held.place));
    list.classList.toggle('drop-last', gap === all.length && held.target !== held.place);
  }

  function letGo(done) {
    if (!held) return;
    const { row, place, target } = held;
    held = null;
    row.classList.remove('held');
    list.classList.remove('drop-last');
    for (const other of rows()) other.classList.remove('drop');
    if (done && target !== place) drop(place, target);
  }
}

function middle(row) {
  const { top, height } = row.querySelector('summary').getBoundingClientRect();
  return top + height / 2;
}
