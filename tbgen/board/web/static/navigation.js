// Navigation without page loads: address of a link -> fetch -> new header, <main> and settings.
//
// If a request fails or its answer is an error page, the page stays, with the message over it, and
// its address stays: history entries are numbered, and the history returns to that of the page. The
// live region announces a new page, and the focus is kept. A page with another game begins at its
// top; in the same game the board stays where it is on the screen.

import { board, cells, glide, main, pieceOn, say } from "./drawing.js";

// Path prefix of the board: "/", or longer behind a proxy.
export const root = document.documentElement.dataset.root;

// Add the prefix to a path from the server.
export function within(path) {
  return path.startsWith("/") && !path.startsWith(root) ? root + path.slice(1) : path;
}

// State that modules share. chosen: selected square; cursor: square of the keyboard cursor; piece:
// letter chosen in the palette; request, loading, address: promise, AbortController and address of
// the current request; entry: number of the history entry shown; player: playback of a film; reply,
// typing: timers of the opponent's reply and of the look-up of typed text.
export const state = {
  chosen: null, cursor: null, piece: null, request: null, loading: null, address: "",
  entry: history.state?.entry ?? 0, player: null, reply: null, typing: null,
};
history.replaceState({ entry: state.entry }, "");

// Value in the browser's storage; "" if it has none, or if there is no storage.
export function stored(key) {
  try {
    return localStorage.getItem(key) || "";
  } catch {
    return "";
  }
}

export function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is kept.
  }
}

const arrivals = [];
let subject = subjectOf(main(), location);

// Subject of a page: mode and first position of a game, film or ladder; its path without a board.
function subjectOf(page, reached) {
  const { mode = reached.pathname, start = "" } = page.dataset;
  return [mode, start, new URLSearchParams(reached.search).get("ladder")].join();
}

// Change the page, and keep the board where it is on the screen. If the page cannot be scrolled far
// enough for that, blank space is added below the verdict.
function inPlace(change) {
  const top = () => board()?.getBoundingClientRect().top;
  const before = top();
  change();
  if (before === undefined || !board()) return;
  scrollBy(0, top() - before);
  const verdict = main().querySelector(".verdict");
  const missing = before - top();
  if (verdict && missing > 0) verdict.style.minHeight = `${verdict.getBoundingClientRect().height + missing}px`;
}

// Register a function to call after each page has been shown.
export function onArrival(what) {
  arrivals.push(what);
}

// Add an entry to the history ("push"), or change the address of the current one ("replace").
export function enter(keep, href) {
  if (keep === "push") history.pushState({ entry: history.state.entry + 1 }, "", href);
  if (keep === "replace") history.replaceState(history.state, "", href);
}

// Load the page of the current history entry, to which the visitor went back or forward.
export function revisit() {
  if (history.state && history.state.entry !== state.entry) {
    return go(location.href, { keep: "", reply: false, errors: true });
  }
  // The page of the entry is shown already; a link to a part of it adds an entry without a number.
  state.loading?.abort();
  main().classList.remove("busy");
  if (!history.state) history.replaceState({ entry: (state.entry += 1) }, "");
  return undefined;
}

// Load the page of an address and show it; return whether it was shown.
// keep: "push" adds a history entry, "replace" replaces the current one, "" changes none;
// animate: slide the moved piece; reply: request the opponent's reply if due; form: fields to post;
// errors: show an error page like any other.
export function go(href, how = {}) {
  if (state.request && !how.form && href === state.address) return state.request; // clicked twice
  state.loading?.abort();
  state.loading = new AbortController();
  state.address = how.form ? "" : href;
  clearTimeout(state.reply);
  clearTimeout(state.typing);
  state.typing = null;
  main().classList.add("busy");
  const request = load(href, state.loading.signal, how).finally(() => {
    if (state.request === request) state.request = null;
  });
  state.request = request;
  return request;
}

async function load(href, signal, how) {
  const { keep = "push", animate = true, reply = true, form = null, errors = false } = how;
  let answer, text;
  try {
    const posted = form ? { method: "POST", body: form } : {};
    answer = await fetch(within(href), { signal, headers: { accept: "text/html" }, ...posted });
    text = await answer.text();
  } catch (error) {
    if (error.name !== "AbortError") fail(main().dataset.failed);
    return false;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  const next = page.getElementById("main");
  const refused = !errors && !answer.ok && !next?.dataset.mode && next?.querySelector(".problem h1");
  if (!next || refused) {
    fail(sentences(next?.querySelectorAll(".problem > *") || []) || main().dataset.failed);
    return false;
  }
  const before = board() && { pieces: cells(), flip: board().dataset.flip };
  const focus = focused();
  const reached = new URL(answer.redirected ? answer.url : within(href), location.href);
  const former = subject;
  const replace = () => {
    for (const part of ["header", "svg.symbols", "#main", "#settings"]) {
      document.querySelector(part).replaceWith(page.querySelector(part));
    }
  };
  subject = subjectOf(next, reached);
  if (subject === former) inPlace(replace);
  else replace();
  document.title = page.title;
  document.documentElement.lang = page.documentElement.lang;
  const theme = page.documentElement.dataset.theme;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  enter(keep, reached);
  state.entry = history.state.entry;
  if (subject !== former) scrollTo(0, 0);
  arrive(reply);
  refocus(focus);
  say(sentences(main().querySelectorAll(".verdict h1, .verdict .reply, .verdict .turn, p.notice.over, .problem li")));
  if (animate && before && board()) slide(before);
  return true;
}

export function arrive(reply) {
  main().classList.remove("busy");
  for (const what of arrivals) what(reply);
}

// Show an error, and return to the history entry of the page shown.
function fail(words) {
  complain(words);
  const away = state.entry - history.state.entry;
  if (away) history.go(away);
}

// Remove the error shown over the page.
export function dismiss() {
  main().querySelector(".problem.here")?.remove();
}

// Show an error over the page.
export function complain(words) {
  main().classList.remove("busy");
  dismiss();
  const note = document.createElement("p");
  note.className = "notice problem here";
  note.setAttribute("role", "alert");
  note.textContent = words || "?";
  main().prepend(note);
}

// Text of some elements, as sentences for the live region.
function sentences(parts) {
  const stop = document.documentElement.lang === "en" ? ". " : "。";
  return [...parts].map((part) => part.textContent.trim().replace(/[.。]$/, "")).filter(Boolean).join(stop);
}

// CSS selector that finds the focused element again on the next page; "board" if the board, or an
// element that cannot be found again, has the focus; null if no element has it.
function focused() {
  const active = document.activeElement;
  if (!active || active === document.body) return null;
  if (board()?.contains(active)) return "board";
  const css = [...active.classList].find((name) => !["button", "small"].includes(name));
  return css && main().contains(active) ? `.${css}` : "board";
}

function refocus(css) {
  if (!css) return;
  const found = css !== "board" && main().querySelector(css);
  (found || board())?.focus({ preventScroll: true });
}

// Animate the last move if `before`, the replaced board, showed the position before that move.
function slide(before) {
  const move = main().dataset.last;
  if (!move || before.flip !== board().dataset.flip) return;
  const [from, to] = [move.slice(0, 2), move.slice(2)];
  const use = pieceOn(to);
  const letter = use?.getAttribute("href").slice(3);
  if (letter && before.pieces[from] === letter && before.pieces[to] !== letter) glide(use, from, to);
}

export function address(element) {
  // href of an SVG link is an SVGAnimatedString.
  const value = element.href;
  return new URL(typeof value === "string" ? value : value.baseVal, location.href);
}

// Return whether an address is a page of the board, to be loaded by `go`.
export function follows(link) {
  if (link.origin !== location.origin || !link.pathname.startsWith(root)) return false;
  const path = link.pathname.slice(root.length);
  return !path || ["endgames", "handbook", "puzzle", "api", "build", "search/", "reply"].some((start) => path.startsWith(start));
}
