// Number of puzzles solved in a row, stored in this browser. A puzzle fails if the outcome is lost
// or the hint has shown the move. The puzzle that ended last is not counted again.

import { main } from "./drawing.js";
import { onArrival, store, stored } from "./navigation.js";

function kept() {
  return { streak: 0, best: 0, last: "", ...JSON.parse(stored("puzzles") || "{}") };
}

function end(start, solved) {
  const counts = kept();
  if (counts.last === start) return counts;
  counts.last = start;
  counts.streak = solved ? counts.streak + 1 : 0;
  counts.best = Math.max(counts.best, counts.streak);
  store("puzzles", JSON.stringify(counts));
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
