// Lists and texts: the endgames filtered as one types and sorted by a column, codes copied.

import { main } from "./picture.js";
import { onArrival } from "./travel.js";

function narrow(event) {
  if (!event.target.matches(".filter")) return;
  const words = main().querySelector("input.filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = [...main().querySelectorAll("select.filter")].map((box) => box.value).filter(Boolean);
  for (const section of main().querySelectorAll("section")) {
    let shown = 0;
    for (const row of section.querySelectorAll("tbody tr")) {
      const text = row.cells[0].textContent.toLowerCase();
      row.hidden = !(words.every((word) => text.includes(word)) && chosen.every((css) => row.querySelector(css)));
      shown += !row.hidden;
    }
    section.hidden = !shown;
    if (words.length || chosen.length) section.querySelector("details").open = true;
  }
}

document.addEventListener("input", narrow);
document.addEventListener("change", narrow);

function number(cell) {
  const found = cell.textContent.match(/^[\d.]+/);
  const unit = { B: 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 2 ** 30 }[cell.textContent.split(" ").pop()] || 1;
  return found ? Number(found[0]) * unit : NaN;
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

// Browsers give the clipboard to encrypted pages alone; elsewhere a text is selected, and copied as by the keys.
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

const narrowScreen = matchMedia("(max-width: 52rem)");

onArrival(() => {
  for (const boxes of main().querySelectorAll(".filters")) boxes.hidden = false;
  if (narrowScreen.matches) {
    for (const kind of main().querySelectorAll("section > details:has(.endgames)")) kind.open = false;
  }
  for (const head of main().querySelectorAll("table.endgames th")) {
    head.tabIndex = 0;
    head.onkeydown = (event) => event.key === "Enter" && sort(head);
  }
});
