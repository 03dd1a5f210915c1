"""Take the pictures of docs/board.md: pages of `tbgen serve`, shown in Chromium.

    tbgen build KRNKR KRPKR KRKPA KRKN KNKA --tables egtb --rules wxf
    tbgen build KRNKR --tables egtb --rules check
    tbgen build KRNKR --tables egtb --rules none
    tbgen verify KRNKR --tables egtb --rules wxf
    tbgen find KRK --only --limit 1 --tables egtb --rules wxf     # compiles the search
    python scripts/docs/board_pictures.py --tables egtb

Writes docs/board/*.png, each in a window of desktop or phone size. Needs extras `dev` and `web`,
chromium and chromedriver, and a font with Chinese characters.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "measure"))

from frame import ROOT, arguments, serving

ORDER_8 = "fen=9/9/5k3/9/9/9/9/Nr7/9/R2K5_w"
CHASE = "fen=9/9/4k4/9/9/1N7/9/3R5/4r4/3K5_w"
KNIGHT = "fen=9/9/3ak4/9/9/9/9/9/9/N2K5_w"
SLIP = "fen=5k3/9/9/9/9/R8/9/4n4/9/3K5_w"

PICTURES = (
    # name, phone, address, action on the page
    ("board", False, f"/?{ORDER_8}", ""),
    ("targets", False, f"/?{CHASE}&from=d2", ""),
    ("heat", False, f"/?{ORDER_8}&where=a0&board=paper", ""),
    ("chase", False, "/?fen=9/3R5/5k3/9/9/9/9/r8/3K5/N8_w", ""),
    ("loop", False, f"/?mode=line&{ORDER_8}&at=2", ""),
    ("slip", False, f"/?{SLIP}&moves=d0d1", ""),
    ("editor", False, "/?mode=edit&fen=9/9/4k4/9/9/9/9/3n6/9/R2K5_b", ""),
    ("endgame", False, "/endgames/KRNKR?pieces=picture", "scrollTo(0, 420)"),
    ("missing", False, "/?fen=3k1a3/9/9/9/9/9/9/4n4/9/4KR3_w&notation=wxf", ""),
    ("dark", False, f"/?{KNIGHT}&theme=dark&board=slate&from=a0",
     "document.querySelector('.endgame').open = true"),
    ("chinese", False, f"/?mode=line&{ORDER_8}&lang=zh-Hans&at=3", ""),
    ("home", False, "/", ""),
    ("matrix", False, "/endgames", ""),
    ("search", False, "/search/KRPKR?decided=chase", ""),
    ("puzzle", False, f"/?{SLIP}&mode=play&task=win&moves=d0d1", ""),
    ("letters", False, f"/?{KNIGHT}&mode=play&pieces=picture&from=a0", ""),
    ("build", True, "/?fen=3k1a3/9/9/9/9/9/9/4n4/9/4KR3_w&lang=zh-Hans", "scrollTo(0, 0)"),
    ("phone", True, f"/?{ORDER_8}&lang=zh-Hant", ""),
)  # fmt: skip


def browser(phone: bool) -> Any:
    """Start a headless Chromium with the window of a desktop or of a phone; return its driver."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=980,820"):
        options.add_argument(argument)
    if phone:
        metrics = {"width": 390, "height": 844, "pixelRatio": 1.5, "touch": True}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    options.binary_location = shutil.which("chromium") or "chromium-browser"
    os.environ.setdefault("SE_OFFLINE", "true")  # nothing is downloaded
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def main() -> None:
    """Serve the tables, and write the pictures named on the command line, by default all."""
    parser = arguments(__doc__)
    parser.add_argument("--tables", type=Path, default=Path("egtb"))
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "board")
    parser.add_argument("names", nargs="*", help="pictures to take; default: all")
    asked = parser.parse_args()
    with serving(asked.tables, "--rules", "wxf", "--allow-build") as server:
        for phone in (False, True):
            driver = browser(phone)
            try:
                for name, on_phone, address, script in PICTURES:
                    if on_phone == phone and (not asked.names or name in asked.names):
                        driver.get(server.url.rstrip("/") + address)
                        driver.execute_script(script or "return 0")
                        time.sleep(1.5)  # for the table's answer and the animation
                        driver.save_screenshot(str(asked.to / f"{name}.png"))
                        print(asked.to / f"{name}.png")
            finally:
                driver.quit()


if __name__ == "__main__":
    main()
