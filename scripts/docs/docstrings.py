"""For the site alone: examples in docstrings (`>>>`) become blocks of code.

An extension of griffe, which reads docstrings for mkdocstrings; mkdocs.yml names it. Docstrings are
plain text, in which Markdown would take `>>>` for a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
"""From a prompt to the next empty line."""


class FencedExamples(griffe.Extension):
    """Fences the examples of every object."""

    def on_instance(self, *, obj: griffe.Object, **others: Any) -> None:
        """Called for each module, class, function and attribute when it has been read."""
        if obj.docstring is not None:
            fenced = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
            obj.docstring.value = fenced
