"""Servers and browsers for the tests of the board."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tbgen.cli.workshop import FIRST_SET
from tests.helpers.commands import ENDS_WITH_PARENT
from tests.helpers.paths import ROOT
from tests.helpers.shared import once


@dataclass(frozen=True)
class Demo:
    """A running `tbgen serve`: its address, its process, and its directory of tables.

    `url` has no trailing slash. `entry` is the secret address that allows its visitor to start
    builds; None if the server builds nothing.
    """

    url: str
    pid: int
    tables: Path
    entry: str | None


def serve(folder: Path, *options: str) -> Demo:
    """Start `tbgen serve` on the tables in a folder; the server stops when this process exits.

    Skips the test if uvicorn is not installed. The options are added to the command.
    """
    pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
    command = [sys.executable, "-m", "tbgen", "serve", "--no-open", "--json", *options]
    process = subprocess.Popen(
        [*ENDS_WITH_PARENT, *command, "--port", "0", "--tables", str(folder)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    said: list[str] = []
    threading.Thread(target=lambda: said.extend(process.stderr or []), daemon=True).start()

    def stop() -> None:
        process.terminate()
        process.wait(20)

    atexit.register(stop)
    line = process.stdout.readline()
    assert line, f"the server did not start: {''.join(said)}"
    said_first = json.loads(line)
    return Demo(said_first["url"].rstrip("/"), process.pid, folder, said_first["entry"])


@cache
def demo() -> Demo:
    """Return a server of tables of `FIRST_SET`, started once per test process.

    The tables, with their supporting ones, are built under the default rules, once per test run.
    """

    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "tbgen", "build", *FIRST_SET, "--tables", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    return serve(once("demo", build))


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    raise AssertionError("no VmRSS")


_HEADLESS_SHELL = "/usr/lib/chromium/chromium-headless-shell"
"""Debian's headless shell. The script of this name in /usr/bin does not end with its driver."""


def browser(
    width: int = 1200, height: int = 900, *, scripts: bool = True, touch: bool = False,
    font: int = 16,
):  # fmt: skip
    """Start a headless Chromium, and return its Selenium driver.

    Chromium's headless shell is preferred, which takes two thirds of the processor time. Skips the
    test if Chromium, its driver or Selenium is not installed.

    width, height : size of the window in pixels
    scripts : False to disable JavaScript
    touch : True to emulate a touch screen; a width below 500 pixels always emulates one
    font : font size in pixels that the user has chosen
    """
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = _HEADLESS_SHELL, "chromium", "chromium-browser"
    binary = next(filter(None, map(shutil.which, programs)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no Chromium with its driver: .ci/run installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-software-rasterizer", "--force-prefers-reduced-motion",
        f"--window-size={width},{height}", f"--blink-settings=defaultFontSize={font}",
    ):  # fmt: skip
        options.add_argument(argument)
    if width < 500 or touch:
        metrics = {"width": width, "height": height, "pixelRatio": 2.0, "touch": True}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    os.environ.setdefault("SE_OFFLINE", "true")  # nothing is downloaded
    found = webdriver.Chrome(options=options, service=_service(driver))
    if not scripts:
        found.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    return found


def _service(driver: str):
    from selenium.webdriver.chrome.service import Service

    return Service(driver)
