// List of endgames: filter while typing, sort by a column. Buttons that copy texts.

import { main } from "./drawing.js";
import { onArrival, within } from "./navigation.js";

// Show the rows that have the chosen class and proof, and contain each word of the filter's text.
// If that text is the name of an endgame, `material`, only the row of this endgame may be shown.
function narrow(material) {
  const words = main().querySelector("input.filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = [...main().querySelectorAll("select.filter")].map((box) => box.value).filter(Boolean);
  for (const section of main().querySelectorAll("section")) {
    let shown = 0;
    for (const row of section.querySelectorAll("tbody tr")) {
      const text = row.cells[0].textContent.toLowerCase();
      const named = material ? row.cells[0].querySelector("code").textContent === material
        : words.every((word) => text.includes(word));
      row.hidden = !(named && chosen.every((css) => row.querySelector(css)));
      shown += !row.hidden;
    }
    section.hidden = !shown;
    if (words.length || chosen.length) section.querySelector("details").open = true;
  }
}

// Text of the filter, and the material that it names, if the server has found one.
let named = { typed: "", material: null };

// Filter after each input, and ask the server whether a new text names a material. The same text is
// not asked again: a click on a row causes a "change" event, which must not move the row.
async function filter(event) {
  if (!event.target.matches(".filter")) return;
  const typed = main().querySelector("input.filter").value.trim();
  const known = typed === named.typed;
  if (!known) named = { typed, material: null };
  narrow(named.material);
  if (known || !typed) return;
  try {
    const answer = await fetch(within(`/v1/tables?name=${encodeURIComponent(typed)}`));
    const { tables } = await answer.json();
    if (!tables?.length || named.typed !== typed || !main().querySelector("input.filter")) return;
    named.material = tables[0].material;
    narrow(named.material);
  } catch {
    // Without an answer, filter by words only.
  }
}

document.addEventListener("input", filter);
document.addEventListener("change", filter);

function number(cell) {
  const found = cell.textContent.match(/^[<> ]*([\d.]+)/);
  const unit = { B: 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 2 ** 30 }[cell.textContent.split(" ").pop()] || 1;
  return found ? Number(found[1]) * unit : NaN;
}

function sort(head) {
  const table = head.closest("table");
  const column = head.cellIndex;
  const down = head.getAttribute("aria-sort") !== "descending";
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => {
    const [a, b] = [number(one.cells[column]), number(other.cells[column])];
    const [s, t] = [one.cells[column].textContent, other.cells[column].textContent];
    const order = Number.isNaN(a) || Number.isNaN(b) ? t.localeCompare(s) : a - b;
    return down ? -order : order;
  });
  table.tBodies[0].append(...rows);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
}

document.addEventListener("click", async (event) => {
  const head = event.target.closest("table.endgames th");
  if (head) sort(head);
  const button = event.target.closest("button.copy");
  if (!button) return;
  button.textContent = (await copy(button)) ? button.dataset.done : button.dataset.failed;
});

// The clipboard API needs HTTPS or localhost; elsewhere select the text and run the copy command.
async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    return true;
  } catch {
    const shown = button.parentElement.querySelector("code");
    getSelection().selectAllChildren(shown);
    return document.execCommand("copy");
  }
}

onArrival(() => {
  named = { typed: "", material: null };
  for (const boxes of main().querySelectorAll(".filters")) boxes.hidden = false;
  if (matchMedia("(max-width: 52rem)").matches) {
    for (const kind of main().querySelectorAll("section > details:has(.endgames)")) kind.open = false;
  }
  for (const head of main().querySelectorAll("table.endgames th")) {
    head.tabIndex = 0;
    head.onkeydown = (event) => event.key === "Enter" && sort(head);
  }
});
