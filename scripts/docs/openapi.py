"""Write docs/openapi.json: the HTTP interface of `tbgen serve`, for programs.

    python scripts/docs/openapi.py

`tbgen.board.web.openapi` has the addresses, parameters and answers; this adds the address of a
board on the same machine. docs/http.md is the page for people. `tests/docs/test_openapi.py`
requests every example.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

from tbgen.board.web.openapi import description

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "openapi.json"


def document() -> str:
    """Return the text of docs/openapi.json."""
    found = description()
    found["info"] |= {
        "version": "1",
        "description": "The HTTP API of `tbgen serve`; docs/http.md has limits and errors.",
    }
    found["servers"] = [{"url": "http://127.0.0.1:8064"}]
    return json.dumps(found, indent=1) + "\n"


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    FILE.write_text(document(), encoding="utf-8")
