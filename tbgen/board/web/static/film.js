// Playback of a film: best play or a ladder, ply by ply (mode "line"). A shot is a ply with caption
// and arrows. A loop at the end (`film.loop`: plies before it) repeats until playback is stopped.

import { arrow, board, labelPiece, clear, fromFen, glide, main, mark, pieceOn, say, showPieces, point } from "./drawing.js";
import { enter, onArrival, state } from "./navigation.js";

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
let film = null;

export function filming() {
  return film !== null;
}

// Pieces by square after the first `ply` plies of the film.
function placement(ply) {
  const found = fromFen(main().dataset.start);
  for (const shot of film.shots.slice(0, ply)) {
    found[shot.move.slice(2)] = found[shot.move.slice(0, 2)];
    delete found[shot.move.slice(0, 2)];
  }
  return found;
}

function show(ply) {
  const shot = film.shots[ply - 1];
  const forward = ply === film.at + 1 || (film.at === film.shots.length && ply === film.loop + 1);
  clear(".last, .arrow, .checked, .selected");
  if (forward && shot) step(shot.move);
  else showPieces(placement(ply));
  film.at = ply;
  for (const link of main().querySelectorAll(".film .frame")) {
    link.classList.toggle("now", Number(link.dataset.frame) === ply);
  }
  if (shot) {
    mark("last", shot.move.slice(0, 2), 50);
    mark("last", shot.move.slice(2), 50);
    for (const [from, to, kind] of shot.arrows) arrow(from, to, kind);
  }
  reveal(main().querySelector(".film .now"));
  tell(shot);
}

// Scroll the list of moves, but not the page, so that a move of it is visible.
function reveal(link) {
  if (!link) return;
  const list = link.closest(".film");
  const [outer, inner] = [list.getBoundingClientRect(), link.getBoundingClientRect()];
  list.scrollTop += Math.max(0, inner.bottom - outer.bottom) + Math.min(0, inner.top - outer.top);
}

function tell(shot) {
  const now = main().querySelector(".film .now");
  const parts = [now?.textContent, shot?.label];
  if (film.rounds) parts.push(main().dataset.round.replace("@", film.rounds + 1));
  main().querySelector(".caption").textContent = parts.filter(Boolean).join(" · ");
}

function step(move) {
  const use = pieceOn(move.slice(0, 2));
  if (!use) return;
  pieceOn(move.slice(2))?.remove();
  const [x, y] = point(move.slice(2));
  labelPiece(use, use.getAttribute("href").slice(3), move.slice(2));
  use.setAttribute("transform", `translate(${x} ${y})`);
  glide(use, move.slice(0, 2), move.slice(2), 220);
}

// Go to a ply by button or key: "first", "back", "forward", "last" or "loop".
export function seek(where) {
  const last = film.shots.length;
  seekTo({ first: 0, back: Math.max(0, film.at - 1), forward: Math.min(last, film.at + 1), last, loop: film.loop }[where]);
}

export function seekTo(ply) {
  film.rounds = 0;
  show(ply);
  say(main().querySelector(".caption").textContent);
  const address = new URL(location.href);
  if (ply) address.searchParams.set("at", ply);
  else address.searchParams.delete("at");
  address.searchParams.delete("play");
  // One history entry for all steps: "back" returns to the film as the page was loaded.
  enter(film.stepped ? "replace" : "push", address.href);
  state.entry = history.state.entry;
  film.stepped = true;
}

// Start playback, with the board and, if there is room, its caption in view; or stop it.
export async function playFilm() {
  if (stopPlaying()) return;
  for (const part of [main().querySelector(".caption"), board()]) part.scrollIntoView({ block: "nearest" });
  const player = (state.player = { stopped: false });
  const button = main().querySelector(".play-line");
  button.textContent = button.dataset.stop;
  if (film.at === film.shots.length && film.loop === null) show(0);
  while (!player.stopped && button.isConnected) {
    if (film.at === film.shots.length) {
      if (film.loop === null) break;
      film.rounds += 1;
      show(film.loop + 1);
    } else show(film.at + 1);
    await pause(1800 - Number(main().querySelector(".speed input")?.value || 700));
  }
  if (!player.stopped) stopPlaying();
}

// Stop the playback; return whether one was running.
export function stopPlaying() {
  if (!state.player) return false;
  state.player.stopped = true;
  state.player = null;
  const button = main().querySelector(".play-line");
  if (button) button.textContent = button.dataset.play;
  return true;
}

onArrival(() => {
  const data = main().dataset;
  film = null;
  for (const hidden of main().querySelectorAll(".play-line, .speed, .copy")) hidden.hidden = false;
  if (data.mode !== "line" || !board()) return;
  film = { shots: JSON.parse(data.film), loop: data.loop === "" ? null : Number(data.loop), at: Number(data.at), rounds: 0, stepped: false };
  if (film.at) tell(film.shots[film.at - 1]);
  if (data.play) playFilm();
});
