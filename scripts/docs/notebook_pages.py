"""Hook of mkdocs, named in mkdocs.yml: turn the notebooks of docs/ into pages of the site.

    a notebook  ->  a page beside it, with the output and figures of its cells

The page is made from the stored notebook when the site is built. That needs neither Jupyter nor a
plugin, and nothing is committed twice. `notebook.py` runs the cells.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


class Rendered(NamedTuple):
    """A notebook as a page, and the figures beside it by name."""

    page: str
    figures: dict[str, bytes]


def rendered(path: Path) -> Rendered:
    """Return the page (Markdown) of a notebook, with its figures."""
    figures: dict[str, bytes] = {}
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for printed, figure in _outputs(cell):
            if figure:
                name = f"{path.stem}-{len(figures) + 1}.png"
                figures[name] = figure
                parts.append(f"![What the cell draws]({name})")
            else:
                parts.append(f"```text\n{printed}```")
    parts.append(f"This page is a notebook: [{path.name}]({path.name}) is the file, to be run.")
    return Rendered("\n\n".join(parts) + "\n", figures)


def _outputs(cell: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield a pair (text, PNG picture) for each output of a cell; one of the two is empty."""
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            yield "".join(output["text"]), b""
        else:
            yield "", base64.b64decode(output["data"]["image/png"])


# -- hooks: mkdocs calls them by their names --------------------------------------------------


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add to `files` a page for each notebook, with its figures; return `files`."""
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page, figures = rendered(Path(str(notebook.abs_src_path)))
        files.append(File.generated(config, _page_of(notebook.src_uri), content=page))
        folder = notebook.src_uri.rpartition("/")[0]
        for name, figure in figures.items():
            files.append(File.generated(config, f"{folder}/{name}", content=figure))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace links to notebooks in a page by links to the pages made from them.

    Pages that were made from notebooks stay unchanged: they link to the notebook files.
    """
    if page.file.generated_by:
        return markdown
    return re.sub(r"\]\(([^)\s]+\.ipynb)\)", lambda link: f"]({_page_of(link[1])})", markdown)


def _page_of(address: str) -> str:
    return address.removesuffix(".ipynb") + ".md"
