"""House test: files and functions are no longer than their limits."""

from __future__ import annotations

from tests.helpers.sources import functions, name_of, python_files

FUNCTION_LINES = 80
FILE_LINES = 450
FILES = python_files("tbgen", "indexing", "tables", "scripts", "tests")


def test_no_file_is_too_long() -> None:
    lines = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in FILES}
    long = [f"{name}: {count} lines" for name, count in lines.items() if count > FILE_LINES]
    assert not long, "\n" + "\n".join(long)


def test_no_function_is_too_long() -> None:
    long = []
    for path in FILES:
        for function in functions(path):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > FUNCTION_LINES:
                long.append(f"{name_of(path)}: {function.name}: {lines} lines")
    assert not long, "\n" + "\n".join(long)
