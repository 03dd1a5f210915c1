"""Console sessions in pages: their commands, and a comparison of shown and real output."""

from __future__ import annotations

import re
from textwrap import dedent

OMITTED = "..."

Step = tuple[str, list[str]]
"""A command and its output lines; `...` stands for any lines, or for the rest of a line."""


def blocks(page: str, language: str) -> list[str]:
    """List the code blocks of a Markdown page in a language, such as `console`, dedented."""
    form = rf"^( *)```{language}\n(.*?)^\1```$"
    return [dedent(text) for _, text in re.findall(form, page, re.MULTILINE | re.DOTALL)]


def steps_of(block: str) -> list[Step]:
    """List (command without `$ `, output lines) of a console block, which begins with a command."""
    steps: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps


def normalised(line: str) -> str:
    """Return a line with every time, such as `2.5 s`, replaced by `TIME`."""
    return re.sub(r"\b[\d.]+ (?:s|min|h)\b", "TIME", line)


def agrees(printed: str, shown: str) -> bool:
    """Return whether a printed line matches a line shown on a page.

    Times may differ. If the shown line ends with ` ...`, any text may follow its other words.
    """
    if shown.endswith(" " + OMITTED):
        return normalised(printed).startswith(normalised(shown.removesuffix(OMITTED)))
    return normalised(printed) == normalised(shown)


def mismatch(printed: list[str], shown: list[str]) -> str | None:
    """Return the first line shown on a page that the printed output lacks at its place.

    Returns None if both agree; `more:` and the next printed line if the output goes on after the
    last line shown. A shown line `...` stands for any lines.
    """
    at, anywhere = 0, False
    for line in shown:
        if line == OMITTED:
            anywhere = True
            continue
        found = [i for i in range(at, len(printed)) if agrees(printed[i], line)]
        if not found or (found[0] > at and not anywhere):
            return line
        at, anywhere = found[0] + 1, False
    return None if at == len(printed) or anywhere else f"more: {printed[at]}"


def without_compiling(printed: str) -> list[str]:
    """Return the lines of an output, without progress of compiling and of the phase `legality`."""
    compiling = re.compile(
        r": (compile|legality)(; about .* left)?$|\bcompiling the (kernels|solver|search)\b"
    )
    return [line for line in printed.splitlines() if not compiling.search(line)]
