// Script of the board: navigation without page loads, moves by click, drag and keys, played lines.
//
//   drawing  squares, marks, arrows   navigation    links       moves, editor  effects of a press
//   film     playback of lines        keys          keyboard    board          clicks and drags
//   streak   puzzles in a row         endgame_list  filters     fullscreen, building
//
// The server supplies all chess knowledge: data attributes of a page hold the address of each move.

import { board, main, pieceOn, point, pointer, squareAt, still } from "./drawing.js";
import { address, arrive, dismiss, follows, go, onArrival, revisit, state, store, stored } from "./navigation.js";
import { choose, moves, press, refuse } from "./moves.js";
import { awaiting, edit, editing, followLater, movePiece, takePiece } from "./editor.js";
import { filming, playFilm, seek, seekTo, stopPlaying } from "./film.js";
import { wholeScreen } from "./fullscreen.js";
import "./keys.js";
import "./endgame_list.js";
import "./building.js";
import "./streak.js";

const SETTINGS = ["lang", "notation", "pieces", "board", "theme"];

document.addEventListener("click", (event) => {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return undefined;
  const element = event.target;
  const piece = element.closest(".palette .piece");
  if (piece) {
    event.preventDefault();
    return takePiece(piece.dataset.piece);
  }
  if (element.closest(".play-line")) return void playFilm();
  if (element.closest(".whole-screen")) return void wholeScreen();
  if (element.closest(".stage svg.board") && !element.closest("a.heat")) {
    event.preventDefault();  // links on the board are for pages without scripts
    return undefined;
  }
  const frame = filming() && element.closest("[data-step], [data-frame]");
  if (frame) {
    event.preventDefault();
    stopPlaying();
    return frame.dataset.step ? seek(frame.dataset.step) : seekTo(Number(frame.dataset.frame));
  }
  const link = element.closest("a");
  if (!link || link.hasAttribute("download") || link.classList.contains("skip")) return undefined;
  const href = address(link);
  if (!follows(href)) return undefined;
  event.preventDefault();
  stopPlaying();
  if (link.closest("#settings")) {
    store("settings", new URLSearchParams([...href.searchParams].filter(([name]) => SETTINGS.includes(name))));
  }
  if (editing() && awaiting()) return void followLater(link);
  return void go(href.href);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches(".plain")) return;
  event.preventDefault();
  stopPlaying();
  const fields = new URLSearchParams(new FormData(form));
  const keep = form.matches(".find") ? "push" : "replace";
  if (form.method === "post") go(form.action, { animate: false, keep, form: fields });
  else go(`${form.action}?${fields}`, { animate: false });
});

// An error is shown until the next press. A press on the error itself does not reach what is below.
document.addEventListener("keydown", dismiss);
document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest(".problem.here")) dismiss();
});
document.addEventListener("click", (event) => {
  if (event.target.closest(".problem.here")) dismiss();
});

// -- pieces under the pointer ----------------------------------------------------------------

let drag = null;

document.addEventListener("pointerdown", (event) => {
  if (event.button || !board()?.contains(event.target)) return;
  if (filming() || event.target.closest("a.heat")) return;
  const from = squareAt(event);
  drag = { from, moved: false, x: event.clientX, y: event.clientY, use: from && pieceOn(from) };
  board().focus({ preventScroll: true });
  event.preventDefault();
});

// A touch on a piece drags it; elsewhere it scrolls the page.
document.addEventListener("touchstart", (event) => {
  if (event.target.closest(".stage .pieces use") && !filming()) event.preventDefault();
}, { passive: false });

document.addEventListener("pointermove", (event) => {
  if (!drag?.use) return;
  if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 8) return;
  if (!drag.moved) {
    drag.moved = true;
    if (!editing()) choose(drag.from);
    drag.use.classList.add("dragging");
    board().append(drag.use);
  }
  const at = pointer(event);
  drag.use.setAttribute("transform", `translate(${at.x} ${at.y})`);
});

function putBack({ from, use }) {
  const [x, y] = point(from);
  use.classList.remove("dragging");
  use.setAttribute("transform", `translate(${x} ${y})`);
  board().querySelector(".pieces").append(use);
}

document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const held = drag;
  drag = null;
  if (!board()) return;
  const inside = document.elementFromPoint(event.clientX, event.clientY);
  const name = board().contains(inside) ? squareAt(event) : null;
  stopPlaying();
  if (!held.moved) {
    if (editing()) edit(name);
    else press(name);
    return;
  }
  if (editing()) {
    putBack(held);
    if (name !== held.from) movePiece(held.from, name);
    return;
  }
  const made = name && moves()[held.from + name];
  putBack(held);
  if (made) {
    const [x, y] = point(name);
    held.use.setAttribute("transform", `translate(${x} ${y})`);
    go(made[0], { animate: false });
  } else if (name && name !== held.from) refuse(held.from, name);
  else choose(null);
});

document.addEventListener("pointercancel", () => {
  if (drag?.moved) putBack(drag);
  drag = null;
});

// -- pages -------------------------------------------------------------------------------------

addEventListener("popstate", () => {
  stopPlaying();
  revisit();
});

onArrival((reply) => {
  // In the editor, a press that began on the former page continues on the new one.
  if (editing() && drag) drag = { ...drag, moved: false, use: drag.from && pieceOn(drag.from) };
  else drag = null;
  if (reply && main().dataset.reply) {
    // Replaces the history entry of the visitor's move, so that "back" takes both moves back.
    const answer = () => go(main().dataset.reply, { keep: "replace" });
    state.reply = setTimeout(answer, still() ? 50 : 500);
  }
});

arrive(true);
// Stored settings apply unless the address contains others.
const asked = new URLSearchParams(location.search);
const own = [...new URLSearchParams(stored("settings"))].filter(([name]) => !asked.has(name));
if (own.length) {
  const before = location.search ? `${location.search}&` : "?";
  go(`${location.pathname}${before}${new URLSearchParams(own)}`, { keep: "replace", animate: false });
}
