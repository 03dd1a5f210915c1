// Moves on the board: selecting a piece shows its targets with the value of each move.

import { arrow, board, clear, main, mark, namesOfMoves, pieceOn, say, target, tip } from "./drawing.js";
import { complain, go, onArrival, state } from "./navigation.js";

let known = {};

// Legal moves of the page: { h2e2: [address after it, outcome, value], ... }
export function moves() {
  return known;
}

// Select the piece on a square and mark where it can move; null selects nothing.
export function choose(name) {
  clear(".selected, .target");
  state.chosen = null;
  const own = Object.keys(known).filter((move) => move.startsWith(name || "-"));
  board().classList.toggle("choosing", own.length > 0);
  if (!own.length) return;
  state.chosen = name;
  mark("selected", name, 51);
  say(namesOfMoves(name, own.map((move) => move.slice(2))));
  for (const move of own) target(move.slice(2), known[move][1], known[move][2]);
}

// Handle a click on a square (null: off the board): select a piece, or make a move.
export function press(name) {
  if (!name) return choose(null);
  const made = state.chosen && known[state.chosen + name];
  if (made) {
    state.chosen = null;
    return go(made[0]);
  }
  const own = isOwn(name);
  if (state.chosen && !own) return refuse(state.chosen, name);
  if (own && !state.chosen && !Object.keys(known).some((move) => move.startsWith(name))) complain(main().dataset.stuck);
  return choose(name === state.chosen ? null : name);
}

// Return whether a piece of the side to move is on the square.
function isOwn(name) {
  const letter = pieceOn(name)?.getAttribute("href").slice(3);
  return letter !== undefined && (letter === letter.toUpperCase()) === board().dataset.fen.endsWith("_w");
}

// Request an illegal move, so that the server explains why it is illegal. Only clear the selection
// if the piece has no legal move, or if the target square has a piece of the same side.
export function refuse(from, to) {
  const [legal] = Object.keys(known).filter((move) => move.startsWith(from));
  choose(null);
  if (!legal || isOwn(to)) return undefined;
  const asked = new URL(known[legal][0], location.href);
  const made = asked.searchParams.get("moves").split(",");
  asked.searchParams.set("moves", [...made.slice(0, -1), from + to].join(","));
  return go(asked.pathname + asked.search, { animate: false, keep: "" });
}

// Show the arrow of a move whose link has the pointer or the focus.
function point(event) {
  const link = event.target.closest?.("[data-move]");
  if (!board()) return;
  clear(".arrow.hover");
  if (link && main().contains(link)) arrow(link.dataset.move.slice(0, 2), link.dataset.move.slice(2), "hover");
}

document.addEventListener("mouseover", point);
document.addEventListener("focusin", point);

onArrival(() => {
  known = JSON.parse(main().dataset.moves || "{}");
  state.chosen = null;
  if (board()) for (const use of board().querySelectorAll(".pieces use")) tip(use);
  // Replaces the server's links to targets by marks.
  if (main().dataset.chosen && board()) choose(main().dataset.chosen);
});
