// Progress of a build, by server-sent events; reloads the page at the end.

import { main, say } from "./drawing.js";
import { go, onArrival, within } from "./navigation.js";

let events = null;

onArrival(() => {
  events?.close();
  events = null;
  const card = main().querySelector(".building");
  if (!card) return;
  events = new EventSource(within(card.dataset.events));
  events.onmessage = (message) => {
    const { share, said, ended } = JSON.parse(message.data);
    card.querySelector("progress").value = share;
    card.querySelector(".said").textContent = said;
    if (!ended) return;
    events.close();
    say(said);
    go(location.href, { keep: "", animate: false });
  };
});
