// Full screen, for teaching: the board at full height, texts beside it in large letters.

import { main } from "./drawing.js";
import { onArrival } from "./navigation.js";

const root = document.documentElement;

export function wholeScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else if (document.fullscreenEnabled) root.requestFullscreen();
}

function show() {
  const whole = document.fullscreenElement === root;
  root.classList.toggle("class-room", whole);
  const button = main().querySelector(".whole-screen");
  if (!button) return;
  button.hidden = !document.fullscreenEnabled;
  button.textContent = whole ? button.dataset.leave : button.dataset.enter;
}

document.addEventListener("fullscreenchange", show);
onArrival(show);
