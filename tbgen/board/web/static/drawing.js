// Drawing on the board: pieces, marks and arrows. A square has a name such as "e0"; its point is
// [x, y] in the units of the SVG, 100 from line to line.

const STEP = 100;

export const main = () => document.getElementById("main");
export const board = () => main().querySelector(".stage svg.board");
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const turned = () => board().dataset.flip === "1";

export function square(file, rank) {
  return "abcdefghi"[file] + rank;
}

export function point(name) {
  const file = "abcdefghi".indexOf(name[0]);
  const rank = Number(name[1]);
  return turned() ? [STEP * (8 - file), STEP * rank] : [STEP * file, STEP * (9 - rank)];
}

// Position of the pointer in the units of the SVG: { x, y }.
export function pointer(event) {
  return new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(board().getScreenCTM().inverse());
}

// Square under the pointer; null off the board.
export function squareAt(event) {
  const at = pointer(event);
  const x = Math.round(at.x / STEP);
  const y = Math.round(at.y / STEP);
  if (x < 0 || x > 8 || y < 0 || y > 9) return null;
  return turned() ? square(8 - x, y) : square(x, 9 - y);
}

export function pieceOn(name) {
  return board().querySelector(`.pieces use[data-square="${name}"]`);
}

// Pieces by square: { e0: "K", ... }
export function cells() {
  const uses = [...board().querySelectorAll(".pieces use")];
  return Object.fromEntries(uses.map((use) => [use.dataset.square, use.getAttribute("href").slice(3)]));
}

// Pieces by square of a FEN: { e0: "K", ... }. What follows the first `_` is ignored.
export function fromFen(fen) {
  const found = {};
  const rows = fen.split("_")[0].replace(/\d/g, (blanks) => "1".repeat(blanks)).split("/");
  rows.forEach((row, at) => [...row].forEach((letter, file) => {
    if (letter !== "1") found[square(file, 9 - at)] = letter;
  }));
  return found;
}

// First field of a FEN, from pieces by square. Each run of blank squares (1s) becomes its length.
export function toFen(found) {
  const row = (rank) => [..."abcdefghi"].map((file) => found[file + rank] || "1").join("");
  return [..."9876543210"].map(row).join("/").replace(/1+/g, (blanks) => blanks.length);
}

export function showPieces(found) {
  const group = board().querySelector(".pieces");
  group.replaceChildren();
  for (const [name, letter] of Object.entries(found)) group.append(newPiece(letter, ...point(name), name));
}

// New SVG element with attributes.
function shape(kind, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export function newPiece(letter, x, y, name = "") {
  const use = shape("use", { href: `#p-${letter}`, transform: `translate(${x} ${y})` });
  if (name) labelPiece(use, letter, name);
  return use;
}

// Names in the page's language: { pieces: { K: "Red king", ... }, points: { e0: "e0", ... } }, and the
// separators `stop` and `colon`.
const names = () => JSON.parse(main().dataset.names);

// Set the square of a piece (a <use> element), and its name for screen readers.
export function labelPiece(use, letter, name) {
  const { pieces, points, stop } = names();
  use.dataset.square = name;
  use.setAttribute("role", "img");
  use.setAttribute("aria-label", pieces[letter] + stop + points[name]);
  tip(use);
}

// Name of a square, or of the piece on it with the square.
export function nameOf(square) {
  const { pieces, points, stop } = names();
  const letter = pieceOn(square)?.getAttribute("href").slice(3);
  return (letter ? pieces[letter] + stop : "") + points[square];
}

// Names of a piece and of the squares `targets` to which it can move.
export function namesOfMoves(square, targets) {
  const { colon, stop, points } = names();
  return nameOf(square) + colon + targets.map((target) => points[target]).join(stop);
}

// Name of a piece (a <use> element) for screen readers.
export function labelOf(use) {
  return use.getAttribute("aria-label") || use.closest("a")?.getAttribute("aria-label");
}

// Show the name of a piece as tooltip.
export function tip(use) {
  const words = labelOf(use);
  if (!words) return;
  const title = use.querySelector("title") || use.appendChild(shape("title", {}));
  title.textContent = words;
}

export function glide(use, from, to, milliseconds = 200) {
  if (still()) return;
  const [x0, y0] = point(from);
  const [x, y] = point(to);
  use.animate(
    [{ transform: `translate(${x0}px,${y0}px)` }, { transform: `translate(${x}px,${y}px)` }],
    { duration: milliseconds, easing: "ease-in-out" },
  );
}

export function mark(kind, name, radius) {
  const [cx, cy] = point(name);
  board().insertBefore(shape("circle", { class: kind, cx, cy, r: radius }), board().querySelector(".pieces"));
}

// Mark a square to which the selected piece can move, with the value of the move.
export function target(name, outcome, label) {
  const [x, y] = point(name);
  const css = `target ${pieceOn(name) ? "take" : "go"} ${outcome}`;
  const group = shape("g", { class: css, transform: `translate(${x} ${y})` });
  group.append(shape("circle", { r: 31 }));
  const long = label.length > 2 ? { class: "long" } : {};
  if (label) group.appendChild(shape("text", { y: 10, ...long })).textContent = label;
  board().append(group);
}

export function arrow(from, to, kind) {
  const [x0, y0] = point(from);
  const [x1, y1] = point(to);
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const tip = kind === "hover" ? 12 : 26;
  const [begin, neck, end] = [24, length - tip - 34, length - tip];
  const corners = [[begin, -7], [neck, -9], [neck, -24], [end, 0], [neck, 24], [neck, 9], [begin, 7]];
  const points = corners.map(([along, off]) =>
    `${Math.round(x0 + along * ux - off * uy)},${Math.round(y0 + along * uy + off * ux)}`).join(" ");
  board().append(shape("polygon", { class: `arrow ${kind}`, points }));
}

export function clear(css) {
  for (const old of board().querySelectorAll(css)) old.remove();
}

// Put a text into the live region, which screen readers read aloud.
export function say(words) {
  document.getElementById("said").textContent = words;
}
