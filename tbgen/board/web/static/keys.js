// Keyboard, active while the board has the focus.

import { board, labelOf, clear, main, mark, nameOf, pieceOn, say, square } from "./drawing.js";
import { go, onArrival, state } from "./navigation.js";
import { choose, press } from "./moves.js";
import { edit, editing, movePiece } from "./editor.js";
import { wholeScreen } from "./fullscreen.js";
import { filming, playFilm, seek, stopPlaying } from "./film.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function moveCursor(key) {
  const turned = board().dataset.flip === "1" ? -1 : 1;
  const from = state.cursor || state.chosen || "e4";
  const [dx, dy] = STEPS[key];
  const file = "abcdefghi".indexOf(from[0]) + dx * turned;
  const rank = Number(from[1]) + dy * turned;
  if (file < 0 || file > 8 || rank < 0 || rank > 9) return;
  state.cursor = square(file, rank);
  showCursor();
  const use = pieceOn(state.cursor);
  say((use && labelOf(use)) || nameOf(state.cursor));
}

function showCursor() {
  clear(".cursor");
  if (state.cursor) mark("cursor", state.cursor, 53);
}

function filmKey(key) {
  const where = { ArrowRight: "forward", ArrowLeft: "back", Home: "first", End: "last" }[key];
  if (where) {
    stopPlaying();
    seek(where);
  } else if (key === " ") playFilm();
  else return false;
  return true;
}

function boardKey(key) {
  const data = main().dataset;
  if (key in STEPS) moveCursor(key);
  else if (key === "Enter" && state.cursor) editing() ? edit(state.cursor) : press(state.cursor);
  else if (key === " " && data.suggested) go(data.suggested);
  else if (key === "Backspace" && data.back) go(data.back);
  else if (key === "Home" && data.first) go(data.first);
  else if (key === "Delete" && editing() && state.cursor) {
    movePiece(state.cursor, null);
  } else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !board()) return;
  if (!board().contains(document.activeElement)) return;
  const key = event.key;
  let done = true;
  if (key === "Escape") {
    stopPlaying();
    if (!editing()) choose(null);
  } else if (key === "f") main().querySelector("a.flip")?.click();
  else if (key === "F") wholeScreen();
  else done = filming() ? filmKey(key) : boardKey(key);
  if (done) event.preventDefault();
});

onArrival(() => {
  if (board() && state.cursor) showCursor();
});
