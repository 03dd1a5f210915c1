// The board comes alive: links are followed without leaving the page, pieces are clicked, dragged
// and driven with the keys, lines and loops play themselves.
//
//   a click, a drop, a key  ->  the address of a link on the page  ->  fetch  ->  new <main>
//
// All knowledge is the server's: every page says in data attributes where each move leads. The
// script draws nothing that the page without scripts would not show.

const SVG = "http://www.w3.org/2000/svg";
const STEP = 100;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const state = { chosen: null, cursor: null, piece: null, loading: null, player: null, reply: null };

const main = () => document.getElementById("main");
const board = () => main().querySelector("svg.board");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// -- following links -----------------------------------------------------------------------

async function go(href, { push = true, animate = true } = {}) {
  state.loading?.abort();
  clearTimeout(state.reply);
  const request = (state.loading = new AbortController());
  main().classList.add("busy");
  let text;
  try {
    const answer = await fetch(href, { signal: request.signal });
    text = await answer.text();
  } catch (error) {
    if (error.name !== "AbortError") fail();
    return false;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  if (!page.getElementById("main")) {
    location.href = href;
    return false;
  }
  const before = board() && placement();
  const sameForm = main().dataset.mode === page.getElementById("main").dataset.mode;
  for (const part of ["header", "#main", "#settings"]) {
    document.querySelector(part).replaceWith(page.querySelector(part));
  }
  document.title = page.title;
  document.documentElement.lang = page.documentElement.lang;
  const theme = page.documentElement.dataset.theme;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  if (push) history.pushState(null, "", href);
  if (!sameForm) scrollTo(0, 0);
  prepare();
  if (animate && before) slide(before);
  return true;
}

function fail() {
  main().classList.remove("busy");
  const note = document.createElement("p");
  note.className = "notice problem";
  note.setAttribute("role", "alert");
  note.textContent = main().dataset.failed || "?";
  main().querySelector(".right, .wide")?.prepend(note);
}

function follows(link) {
  if (!link || link.origin !== location.origin) return false;
  return ["/", "/play", "/edit", "/line", "/endgames"].includes(link.pathname)
    || link.pathname.startsWith("/endgames/");
}

function address(element) {
  // Links inside a picture carry an SVGAnimatedString.
  const value = element.href;
  return new URL(typeof value === "string" ? value : value.baseVal, location.href);
}

// -- the picture ---------------------------------------------------------------------------

function square(file, rank) {
  return "abcdefghi"[file] + rank;
}

function point(name) {
  const file = "abcdefghi".indexOf(name[0]);
  const rank = Number(name[1]);
  return board().dataset.flip === "1"
    ? [STEP * (8 - file), STEP * rank]
    : [STEP * file, STEP * (9 - rank)];
}

function squareAt(event) {
  const at = new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(board().getScreenCTM().inverse());
  const x = Math.round(at.x / STEP);
  const y = Math.round(at.y / STEP);
  if (x < 0 || x > 8 || y < 0 || y > 9) return null;
  return board().dataset.flip === "1" ? square(8 - x, y) : square(x, 9 - y);
}

function pieceOn(name) {
  return board().querySelector(`.pieces use[data-square="${name}"]`);
}

function placement() {
  const found = {};
  for (const use of board().querySelectorAll(".pieces use")) {
    found[use.dataset.square] = use.getAttribute("href");
  }
  return { pieces: found, flip: board().dataset.flip };
}

function slide(before) {
  const move = main().dataset.last;
  if (!move || calm.matches || !board() || before.flip !== board().dataset.flip) return;
  const use = pieceOn(move.slice(2));
  if (!use || before.pieces[move.slice(0, 2)] !== use.getAttribute("href")) return;
  if (before.pieces[move.slice(2)] === use.getAttribute("href")) return;
  const [x0, y0] = point(move.slice(0, 2));
  const [x, y] = point(move.slice(2));
  use.animate(
    [{ transform: `translate(${x0}px,${y0}px)` }, { transform: `translate(${x}px,${y}px)` }],
    { duration: 180, easing: "ease-out" },
  );
}

function mark(kind, name, radius) {
  const circle = document.createElementNS(SVG, "circle");
  const [x, y] = point(name);
  circle.setAttribute("class", kind);
  circle.setAttribute("cx", x);
  circle.setAttribute("cy", y);
  circle.setAttribute("r", radius);
  board().append(circle);
  return circle;
}

// -- making moves --------------------------------------------------------------------------

function moves() {
  const found = new Map();
  for (const entry of (main().dataset.moves || "").split(" ")) {
    const [move, ...href] = entry.split("=");
    if (move) found.set(move, href.join("="));
  }
  return found;
}

function choose(name) {
  for (const old of board().querySelectorAll(".selected, .target")) old.remove();
  state.chosen = null;
  const own = [...moves().keys()].filter((move) => move.startsWith(name || "-"));
  if (!own.length) return;
  state.chosen = name;
  mark("selected", name, 50);
  for (const move of own) {
    const target = move.slice(2);
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", `target ${pieceOn(target) ? "take" : "go"}`);
    group.append(mark("", target, pieceOn(target) ? 46 : 18));
    board().append(group);
  }
}

function press(name) {
  if (!name) return choose(null);
  const href = state.chosen && moves().get(state.chosen + name);
  if (href) {
    state.chosen = null;
    return go(href);
  }
  return choose(name === state.chosen ? null : name);
}

// -- the editor ----------------------------------------------------------------------------

function editing() {
  return main().dataset.mode === "edit";
}

function readBoard() {
  const cells = {};
  for (const use of board().querySelectorAll(".pieces use")) {
    cells[use.dataset.square] = use.getAttribute("href").slice(3);
  }
  return cells;
}

function writeBoard(cells) {
  const rows = [];
  for (let rank = 9; rank >= 0; rank -= 1) {
    let row = "";
    let blanks = 0;
    for (let file = 0; file < 9; file += 1) {
      const piece = cells[square(file, rank)];
      if (!piece) {
        blanks += 1;
        continue;
      }
      row += (blanks || "") + piece;
      blanks = 0;
    }
    rows.push(row + (blanks || ""));
  }
  const side = main().dataset.fen.split("_")[1];
  return main().dataset.edit.replace("@", `${rows.join("/")}_${side}`);
}

function edit(name) {
  const cells = readBoard();
  if (state.chosen) {
    const moved = cells[state.chosen];
    delete cells[state.chosen];
    // Off the board, or chosen twice: the piece is taken away.
    if (name && name !== state.chosen) cells[name] = moved;
    state.chosen = null;
    return go(writeBoard(cells), { animate: false });
  }
  if (state.piece && name) {
    if (cells[name] === state.piece) delete cells[name];
    else cells[name] = state.piece;
    return go(writeBoard(cells), { animate: false });
  }
  if (name && cells[name]) {
    state.chosen = name;
    mark("selected", name, 50);
  }
  return undefined;
}

function takePiece(name) {
  state.piece = state.piece === name ? null : name;
  showPalette();
}

function showPalette() {
  const palette = main().querySelector(".palette");
  if (!palette) return;
  palette.hidden = false;
  for (const button of palette.querySelectorAll(".piece")) {
    button.setAttribute("aria-pressed", String(button.dataset.piece === state.piece));
  }
}

// -- lines that play themselves ------------------------------------------------------------

async function autoplay(button) {
  if (stopPlaying()) return;
  const player = (state.player = { stopped: false });
  button.textContent = button.dataset.stop;
  while (!player.stopped && main().dataset.suggested) {
    if (!(await go(main().dataset.suggested))) break;
    label(main().querySelector(".autoplay"), true);
    await pause(700);
  }
  if (!player.stopped) stopPlaying();
}

async function playLine(button) {
  if (stopPlaying()) return;
  const player = (state.player = { stopped: false });
  const start = board().outerHTML;
  label(button, true);
  const items = [...main().querySelectorAll("ol.line li")];
  const loop = main().querySelector("ol.line").dataset.loop;
  let turns = loop === "" ? 0 : 3;
  for (let at = 0; at < items.length && !player.stopped; at += 1) {
    await pause(600);
    if (player.stopped || !button.isConnected) break;
    for (const item of items) item.classList.toggle("now", item === items[at]);
    movePiece(items[at].dataset.move);
    if (at === items.length - 1 && turns > 1) {
      turns -= 1;
      at = Number(loop) - 1;
    }
  }
  await pause(900);
  if (button.isConnected) {
    board().outerHTML = start;
    label(button, false);
  }
  if (!player.stopped) stopPlaying();
}

function movePiece(move) {
  const use = pieceOn(move.slice(0, 2));
  if (!use) return;
  pieceOn(move.slice(2))?.remove();
  const [x0, y0] = point(move.slice(0, 2));
  const [x, y] = point(move.slice(2));
  use.dataset.square = move.slice(2);
  use.setAttribute("transform", `translate(${x} ${y})`);
  if (calm.matches) return;
  use.animate(
    [{ transform: `translate(${x0}px,${y0}px)` }, { transform: `translate(${x}px,${y}px)` }],
    { duration: 250, easing: "ease-out" },
  );
}

function label(button, playing) {
  if (!button) return;
  button.dataset.play ??= button.textContent;
  button.textContent = playing ? button.dataset.stop : button.dataset.play;
}

function stopPlaying() {
  if (!state.player) return false;
  state.player.stopped = true;
  state.player = null;
  label(main().querySelector(".autoplay, .play-line"), false);
  return true;
}

// -- what the reader does ------------------------------------------------------------------

document.addEventListener("click", (event) => {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const element = event.target;
  if (element.closest(".piece")) return takePiece(element.closest(".piece").dataset.piece);
  if (element.closest(".autoplay")) return void autoplay(element.closest(".autoplay"));
  if (element.closest(".play-line")) return void playLine(element.closest(".play-line"));
  if (element.closest("svg.board")) {
    event.preventDefault();  // the links on the board are for readers without scripts
    return undefined;
  }
  const link = element.closest("a");
  if (!link || link.hasAttribute("download")) return undefined;
  const href = address(link);
  if (!follows(href)) return undefined;
  event.preventDefault();
  stopPlaying();
  return void go(href.href);
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  go(`${form.action}?${new URLSearchParams(new FormData(form))}`, { animate: false });
});

let drag = null;

document.addEventListener("pointerdown", (event) => {
  if (event.button || !board()?.contains(event.target)) return;
  const from = squareAt(event);
  drag = { from, moved: false, x: event.clientX, y: event.clientY, use: from && pieceOn(from) };
  event.preventDefault();
});

// A finger on a piece drags it; anywhere else it scrolls the page.
document.addEventListener("touchstart", (event) => {
  if (event.target.closest(".pieces use")) event.preventDefault();
}, { passive: false });

document.addEventListener("pointermove", (event) => {
  if (!drag?.use) return;
  if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 8) return;
  if (!drag.moved) {
    drag.moved = true;
    if (!editing()) choose(drag.from);
    drag.use.classList.add("dragging");
  }
  const at = new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(board().getScreenCTM().inverse());
  drag.use.setAttribute("transform", `translate(${at.x} ${at.y})`);
});

document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const { from, moved, use } = drag;
  drag = null;
  if (!board()) return;
  const inside = document.elementFromPoint(event.clientX, event.clientY);
  const name = board().contains(inside) ? squareAt(event) : null;
  stopPlaying();
  if (!moved) {
    if (editing()) edit(name);
    else press(name);
    return;
  }
  const [x, y] = point(from);
  use.classList.remove("dragging");
  if (editing()) {
    if (name === from) return void use.setAttribute("transform", `translate(${x} ${y})`);
    state.chosen = from;
    edit(name);
    return;
  }
  const href = name && moves().get(from + name);
  if (href) {
    const [to, up] = point(name);
    use.setAttribute("transform", `translate(${to} ${up})`);
    go(href, { animate: false });
  } else {
    use.setAttribute("transform", `translate(${x} ${y})`);
    choose(null);
  }
});

document.addEventListener("pointercancel", () => {
  if (drag?.moved) {
    const [x, y] = point(drag.from);
    drag.use.setAttribute("transform", `translate(${x} ${y})`);
    drag.use.classList.remove("dragging");
  }
  drag = null;
});

function moveCursor(key) {
  const turned = board().dataset.flip === "1" ? -1 : 1;
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
  const from = state.cursor || "e0";
  const file = "abcdefghi".indexOf(from[0]) + (state.cursor ? dx * turned : 0);
  const rank = Number(from[1]) + (state.cursor ? dy * turned : 0);
  if (file < 0 || file > 8 || rank < 0 || rank > 9) return;
  state.cursor = square(file, rank);
  showCursor();
}

function showCursor() {
  for (const old of board().querySelectorAll(".cursor")) old.remove();
  if (state.cursor) mark("cursor", state.cursor, 52);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !board()) return;
  if (event.target.closest("input, textarea, select")) return;
  const onControl = event.target.closest("button, summary, main a:not(svg a), nav a, footer a");
  const data = main().dataset;
  const key = event.key;
  if (key.startsWith("Arrow")) moveCursor(key);
  else if (key === "Enter" && state.cursor && !onControl) editing() ? edit(state.cursor) : press(state.cursor);
  else if (key === "Enter" && event.target.closest("svg a")) {
    const use = event.target.closest("svg a").querySelector("use");
    if (use) press(use.dataset.square);
  } else if (key === " " && data.suggested && !onControl) go(data.suggested);
  else if (key === "Backspace" && data.back) go(data.back);
  else if (key === "f") main().querySelector("a.flip")?.click();
  else if (key === "Escape") {
    stopPlaying();
    choose(null);
  } else return;
  event.preventDefault();
});

addEventListener("popstate", () => {
  stopPlaying();
  go(location.href, { push: false });
});

function prepare() {
  state.chosen = null;
  main().classList.remove("busy");
  const button = main().querySelector(".autoplay");
  if (button) button.hidden = false;
  showPalette();
  if (board() && state.cursor) showCursor();
  if (state.player && button) label(button, true);
  // Without scripts the chosen piece shows its targets as links; here they are marks.
  const chosen = new URL(location.href).searchParams.get("from");
  if (chosen && board() && !editing()) choose(chosen);
  if (main().dataset.reply) {
    state.reply = setTimeout(() => go(main().dataset.reply), calm.matches ? 50 : 500);
  }
}

prepare();
