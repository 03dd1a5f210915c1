// Editor: pieces are put onto squares by click or drag, and removed by dragging them off the board,
// by the eraser or by a key.
//
// A change is drawn at once, before its page is loaded, so the next change starts from it. Other
// changes, such as the mirror, are made by the server: what follows them waits for their page.

import {
  board, cells, clear, fromFen, main, mark, newPiece, pieceOn, pointer, showPieces, squareAt, toFen,
} from "./drawing.js";
import { address, enter, go, onArrival, root, state, within } from "./navigation.js";

const ERASER = "x";

// Square of the selected piece, latest request whose arrangement is drawn already, and a promise
// that ends with the changes asked for.
let held = null;
let drawn = null;
let changes = Promise.resolve();

export function editing() {
  return main().dataset.mode === "edit";
}

// Draw an arrangement (`found`: pieces by square) and load its page, with the side to move unchanged.
// If the page cannot be loaded, the board is drawn as before.
async function set(found) {
  const side = main().dataset.fen.split("_")[1];
  select(null);
  showPieces(found);
  const href = main().dataset.edit.replace("@", `${toFen(found)}_${side}`);
  enter("push", within(href));
  const request = go(href, { animate: false, keep: "" });
  drawn = request;
  if (!(await request) && drawn === request) showPieces(fromFen(main().dataset.fen));
}

// Make a change of the arrangement last asked for, once the board shows that.
function inTurn(change) {
  changes = changes.finally(async () => {
    while (state.request && state.request !== drawn) await state.request;
    if (editing()) await change();
  });
}

function select(name) {
  held = name;
  clear(".selected");
  if (name) mark("selected", name, 51);
}

// Follow a link once the current request has ended: the link like it on the page then shown.
export function followLater(link) {
  inTurn(async () => {
    while (state.request) await state.request;
    const alike = [...document.links].filter((other) => other.className === link.className);
    const same = alike.find((other) => other.textContent === link.textContent);
    const found = link.isConnected ? link : same || (alike.length === 1 && alike[0]);
    if (found) go(address(found).href);
  });
}

// Put a piece onto a square; a king moves there, as each side has only one.
function place(letter, name) {
  const found = cells();
  for (const other of Object.keys(found)) {
    if (letter.toLowerCase() === "k" && found[other] === letter) delete found[other];
  }
  found[name] = letter;
  set(found);
}

// Move a piece from a square to another; null removes it.
function shift(from, to) {
  const found = cells();
  const moved = found[from];
  if (!moved) return;
  delete found[from];
  if (to) found[to] = moved;
  set(found);
}

export function movePiece(from, to) {
  inTurn(() => shift(from, to));
}

// Handle a click on a square (null: off the board).
export function edit(name) {
  const letter = state.piece;
  inTurn(() => press(letter, name));
}

function press(letter, name) {
  const standing = cells()[name];
  if (held) shift(held, name === held ? null : name);
  else if (letter && name) {
    const king = letter.toLowerCase() === "k";
    if (letter !== ERASER && (king || standing !== letter)) place(letter, name);
    else shift(name, null);
  } else if (standing) select(name);
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
    if (name) inTurn(() => place(letter, name));
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
  if (!editing()) {
    state.piece = held = null;
    return;
  }
  showPalette();
  select(held && pieceOn(held) ? held : null);
});
