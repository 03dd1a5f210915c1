"""Script, style and icon of the pages: read once, bundled, with a fingerprint in the address.

static/*.js  ->  bundle   board.js: all modules in one file, each wrapped in a function
address("board.js")       /static/board.js?v=5f0c2a9d: cacheable for a year
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources
from typing import NamedTuple

from tbgen.board.drawing.diagram import style
from tbgen.board.drawing.pieces import piece_path
from tbgen.indexing import PieceType, Side

FOREVER = "public, max-age=31536000, immutable"
"""`Cache-Control` of addresses with the fingerprint of their content."""

_IMPORT = re.compile(r'import (?:\{([^}]*)\} from )?"\./(\w+)\.js";\n')
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.MULTILINE)


class Asset(NamedTuple):
    """Static file; `fingerprint` is the start of the SHA-256 of its content, in hexadecimal."""

    content: bytes
    media_type: str
    fingerprint: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return the static files by name: `board.css`, `board.js` (all scripts) and `icon.svg`."""
    folder = resources.files("tbgen.board.web") / "static"
    files = {item.name: item.read_text(encoding="utf-8") for item in folder.iterdir()}
    scripts = {name[:-3]: text for name, text in files.items() if name.endswith(".js")}
    found = {"board.css": files["board.css"], "board.js": bundle(scripts), "icon.svg": _icon()}
    types = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    return {
        name: Asset(
            content := text.encode(),
            types[name.rpartition(".")[2]],
            hashlib.sha256(content).hexdigest()[:8],
        )
        for name, text in found.items()
    }


def address(name: str) -> str:
    """Return the address of the static file `name`, with its fingerprint."""
    return f"/static/{name}?v={assets()[name].fingerprint}"


def bundle(scripts: Mapping[str, str]) -> str:
    """Return JavaScript modules as one script, each after the modules that it imports.

    Raises `graphlib.CycleError` for cyclic imports, `KeyError` for an import of another module.

    scripts : text of each module by name without `.js`; each import or export starts a line
    """
    order: TopologicalSorter[str] = TopologicalSorter()
    for name, text in sorted(scripts.items()):
        order.add(name, *(match[2] for match in _IMPORT.finditer(text)))
    return "".join(_as_function(name, scripts[name]) for name in order.static_order())


def _as_function(name: str, text: str) -> str:
    """Return a JavaScript module as a script that defines `module_NAME`, an object of its exports.

    Indentation, empty lines and comment lines are removed.
    """
    exports = ", ".join(match[1] for match in _EXPORT.finditer(text))
    text = _EXPORT.sub("", text)
    text = _IMPORT.sub(
        lambda match: f"const {{{match[1]}}} = module_{match[2]};\n" if match[1] else "", text
    )
    lines = (line.strip() for line in text.splitlines())
    body = "\n".join(line for line in lines if line and not line.startswith("//"))
    return f"const module_{name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"


def _icon() -> str:
    path = "".join(piece_path(Side.RED, PieceType.KING, "zh"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-50 -50 100 100">'
        f"<style>{style('wood')}</style>"
        f'<g class="red"><circle class="disc" r="45"/>'
        f'<path class="glyph" transform="scale(.58)" d="{path}"/></g></svg>'
    )
