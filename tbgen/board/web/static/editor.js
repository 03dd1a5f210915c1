// Editor: pieces are put onto squares by click or drag, and removed by dragging them off the board,
// by the eraser or by a key.

import { board, cells, main, mark, newPiece, pointer, squareAt, toFen } from "./drawing.js";
import { go, onArrival, root, state } from "./navigation.js";

const ERASER = "x";

export function editing() {
  return main().dataset.mode === "edit";
}

// Load the page of an arrangement (`found`: pieces by square), with the side to move unchanged.
function set(found) {
  const side = main().dataset.fen.split("_")[1];
  return go(main().dataset.edit.replace("@", `${toFen(found)}_${side}`), { animate: false });
}

// Put a piece onto a square; a king moves there, as each side has only one.
function place(letter, name) {
  const found = cells();
  for (const other of Object.keys(found)) {
    if (letter.toLowerCase() === "k" && found[other] === letter) delete found[other];
  }
  found[name] = letter;
  return set(found);
}

// Handle a click on a square, or a drop there (null: off the board).
export function edit(name) {
  const found = cells();
  if (state.chosen) {
    const moved = found[state.chosen];
    delete found[state.chosen];
    if (name && name !== state.chosen) found[name] = moved;
    state.chosen = null;
    return set(found);
  }
  if (state.piece && name) {
    const king = state.piece.toLowerCase() === "k";
    if (state.piece !== ERASER && (king || found[name] !== state.piece)) return place(state.piece, name);
    delete found[name];
    return set(found);
  }
  if (name && found[name]) {
    state.chosen = name;
    mark("selected", name, 51);
  }
  return undefined;
}

export function takePiece(letter) {
  state.piece = state.piece === letter ? null : letter;
  showPalette();
}

function showPalette() {
  for (const button of main().querySelectorAll(".palette .piece")) {
    button.setAttribute("aria-pressed", String(button.dataset.piece === state.piece));
  }
}

// Drag a piece from the palette; a short press only chooses it.
document.addEventListener("pointerdown", (event) => {
  const button = event.target.closest(".palette .piece");
  if (!button || event.button) return;
  const letter = button.dataset.piece;
  let ghost = null;
  const move = (now) => {
    if (!ghost && Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) < 8) return;
    if (!ghost && letter !== ERASER) {
      ghost = newPiece(letter, 0, 0);
      ghost.classList.add("dragging");
      board().append(ghost);
    }
    const at = pointer(now);
    ghost?.setAttribute("transform", `translate(${at.x} ${at.y})`);
  };
  const end = (now) => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    if (!ghost) return;
    ghost.remove();
    const inside = now.type === "pointerup" && board().contains(document.elementFromPoint(now.clientX, now.clientY));
    const name = inside && squareAt(now);
    if (name) place(letter, name);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
  button.releasePointerCapture?.(event.pointerId);
});

document.addEventListener("touchstart", (event) => {
  if (event.target.closest(".palette .piece")) event.preventDefault();
}, { passive: false });

// A tap on the palette causes no click, as its touchstart is prevented.
document.addEventListener("touchend", (event) => {
  const button = event.target.closest(".palette .piece");
  const end = event.changedTouches[0];
  if (button && button.contains(document.elementFromPoint(end.clientX, end.clientY))) takePiece(button.dataset.piece);
});

// Check the text while it is typed. The field keeps the focus and its text, also what is typed while
// the page is loaded.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.matches("form.text textarea")) return;
  clearTimeout(state.typing);
  if (!field.value.trim()) return; // the board stays
  state.typing = setTimeout(async () => {
    const asked = field.value;
    const query = new URLSearchParams(new FormData(field.form));
    if (!(await go(`${root}?${query}`, { animate: false, keep: "replace" }))) return;
    const now = main().querySelector("form.text textarea");
    if (!now) return;
    now.value = field.value;
    now.focus();
    now.setSelectionRange(field.selectionStart, field.selectionEnd);
    if (now.value !== asked) now.dispatchEvent(new Event("input", { bubbles: true }));
  }, 400);
});

onArrival(() => {
  if (editing()) showPalette();
  else state.piece = null;
});
