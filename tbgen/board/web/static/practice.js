// Puzzles solved in a row, kept in this browser alone. A puzzle counts once: when it is solved without
// the hint that shows the move, or when what was to be kept is gone.

import { main } from "./picture.js";
import { onArrival } from "./travel.js";

const NONE = { streak: 0, best: 0, last: "" };

function kept() {
  try {
    return { ...NONE, ...JSON.parse(localStorage.getItem("puzzles")) };
  } catch {
    return { ...NONE };
  }
}

function keep(counts) {
  try {
    localStorage.setItem("puzzles", JSON.stringify(counts));
  } catch {
    // A browser that keeps nothing counts nothing.
  }
}

function end(start, solved) {
  const counts = kept();
  if (counts.last === start) return counts;
  counts.last = start;
  counts.streak = solved ? counts.streak + 1 : 0;
  counts.best = Math.max(counts.best, counts.streak);
  keep(counts);
  return counts;
}

onArrival(() => {
  const note = main().querySelector("[data-puzzle]");
  if (!note) return;
  const { puzzle, start } = note.dataset;
  const going = puzzle === "open" || puzzle === "right";
  const told = going && main().querySelector(".hint.whole");
  const counts = going && !told ? kept() : end(start, puzzle === "solved");
  const streak = note.querySelector(".streak");
  streak.textContent = streak.dataset.streak.replace("@", counts.streak).replace("#", counts.best);
  streak.hidden = !counts.best;
});
