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

let held = null; // square of the selected piece
let drawn = null; // latest request whose arrangement is drawn already
let typed = null; // field in which text was typed last
let touched = null; // button of the palette that a finger touched last
let changes = Promise.resolve(); // ends with the last change asked for

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
  const shown = await request;
  if (shown && state.typing !== null) keepText();
  if (!shown && drawn === request) showPieces(fromFen(main().dataset.fen));
}

// Make a change once earlier changes, and a look-up of text typed before, are shown on the board.
function inTurn(change) {
  lookUp();
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

// Return whether a change must wait for a page, or for text typed to be looked up.
export function awaiting() {
  return state.request !== null || state.typing !== null;
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

// Drag a piece from the palette; a short press only chooses it. A press causes no click if a new page
// has replaced the button meanwhile, and a tap causes none, as its touchstart is prevented.
document.addEventListener("pointerdown", (event) => {
  const button = event.target.closest(".palette .piece");
  if (!button || event.button) return;
  const letter = button.dataset.piece;
  let moved = false;
  let ghost = null;
  const move = (now) => {
    if (!moved && Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) < 8) return;
    moved = true;
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
    if (!moved && now.type === "pointerup" && (touched === button || !button.isConnected)) takePiece(letter);
    if (!ghost) return;
    ghost.remove();
    const inside = now.type === "pointerup" && board().contains(document.elementFromPoint(now.clientX, now.clientY));
    const name = inside && squareAt(now);
    if (name) inTurn(() => place(letter, name));
  };
  touched = null;
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
  button.releasePointerCapture?.(event.pointerId);
});

document.addEventListener("touchstart", (event) => {
  touched = event.target.closest(".palette .piece");
  if (touched) event.preventDefault();
}, { passive: false });

// Check the text while it is typed. The field keeps the focus and its text, also what is typed while
// the page is loaded.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.matches("form.text textarea")) return;
  clearTimeout(state.typing);
  typed = field;
  state.typing = field.value.trim() ? setTimeout(lookUp, 400) : null; // without text the board stays
});

// Look up the text typed, unless that is done already.
async function lookUp() {
  if (state.typing === null) return;
  const query = new URLSearchParams(new FormData(typed.form));
  if (await go(`${root}?${query}`, { animate: false, keep: "replace" })) keepText();
}

// Put the text typed into the field of a new page.
function keepText() {
  const now = main().querySelector("form.text textarea");
  if (!now) return;
  now.value = typed.value;
  if (now === document.activeElement) now.setSelectionRange(typed.selectionStart, typed.selectionEnd);
  if (state.typing !== null) now.dispatchEvent(new Event("input", { bubbles: true }));
}

onArrival(() => {
  if (!editing()) {
    state.piece = held = null;
    return;
  }
  showPalette();
  select(held && pieceOn(held) ? held : null);
});
