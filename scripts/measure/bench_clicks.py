"""Time from a click on a move to the painted answer, in Chromium.

    python scripts/measure/bench_clicks.py --tables egtb --clicks 100

Starts `tbgen serve`, opens random positions of the tables with the most pieces in Chromium, each
once, and clicks on a move. The time is measured in the page: from the click to the second frame
after the new page was inserted. Prints one JSON object with percentiles, and the system load before
and after. Only an idle machine gives figures to compare.
"""

from __future__ import annotations

import json
import os
import sys
import time

from bench_serve import fens_of, percentiles
from frame import ROOT, arguments, serving

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

from board_pictures import browser

GOAL_MS = 100
"""Goal for the 95th percentile in milliseconds, on an idle machine."""

CLICK = """
const done = arguments[0], link = document.querySelector("a.move[data-move]");
if (!link) done(null);
else {
  const old = document.getElementById("main"), begun = performance.now();
  const seen = new MutationObserver(() => {
    if (document.getElementById("main") === old) return;
    seen.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
  });
  seen.observe(document.body, { childList: true, subtree: true });
  link.click();
}
"""


def main() -> None:
    """Measure the clicks on up to `--clicks` positions, and print one JSON object."""
    parser = arguments(__doc__, tables="required")
    parser.add_argument("--clicks", type=int, default=100)
    asked = parser.parse_args()
    before = os.getloadavg()[0]
    driver = browser(phone=False)
    took = []
    try:
        with serving(asked.tables, "--rules", "wxf") as server:
            for fen in fens_of(asked.tables, 2 * asked.clicks):
                driver.get(f"{server.url}?fen={fen.replace(' ', '_')}")
                time.sleep(0.1)
                milliseconds = driver.execute_async_script(CLICK)
                if milliseconds is not None:
                    took.append((milliseconds / 1000, 0))
                if len(took) == asked.clicks:
                    break
    finally:
        driver.quit()
    load = [round(before, 2), round(os.getloadavg()[0], 2)]
    print(json.dumps({"clicks": len(took), **percentiles(took), "goal": GOAL_MS, "load": load}))


if __name__ == "__main__":
    main()
