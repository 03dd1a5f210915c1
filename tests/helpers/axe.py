"""Run axe-core on a page in a browser.

`.ci/run` installs axe-core with npm; `TBGEN_AXE` names another `axe.min.js`.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.paths import ROOT

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@cache
def source() -> str:
    """Return the source of axe-core; skips the test if it is not installed."""
    path = Path(os.environ.get("TBGEN_AXE", ROOT / "node_modules/axe-core/axe.min.js"))
    if not path.exists():
        pytest.skip("there is no axe-core: npm install --no-save axe-core")
    return path.read_text("utf-8")


def violations(driver: Any) -> list[str]:
    """Open all folded sections of a Selenium driver's page, and list what axe-core finds wrong.

    Checks the rules that have one of the tags `TAGS`. Each text names the violated rule, the
    element and the reason.
    """
    driver.execute_script(
        "for (const folded of document.querySelectorAll('details')) folded.open = true;"
    )
    driver.execute_script(source())
    found = driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, arguments[0]).then((all) => done(all.violations));",
        {"runOnly": TAGS, "resultTypes": ["violations"]},
    )
    return [
        f"{rule['id']}: {node['target']} {node['html'][:90]} {node['failureSummary'][-160:]}"
        for rule in found
        for node in rule["nodes"]
    ]
