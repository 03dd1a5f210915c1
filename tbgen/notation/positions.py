"""Positions as text: FEN, Pai's string, the six-integer code and a board diagram.

    fen     4k4/4a4/9/9/9/4N4/9/5K3/9/9 w - - 0 1     Red upper case, side to move w or b
    pai     4K44B49994n495k399                        Red lower case; at the end 0 if Black is to
                                                      move, then : if seen from Black's side
    six     10101040,3,5500000,0,0,0                  `tbgen.indexing.boardcode`, no side to move
    board   ten lines of nine points, with rank and file names and the side to move

`parse_position` recognises a FEN by a slash, a board by line breaks or ten times nine points, the
six integers as digits and separators alone, perhaps after `B[6] =`. Other text is Pai's string. A
label `FEN` or `FEN:` in front is passed over.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tbgen.indexing import boardcode
from tbgen.indexing.errors import InputError, PositionError, enum_member, excerpt, require_text
from tbgen.indexing.position import (
    LETTER_ALIASES,
    LETTERS_BY_CODE,
    START_FEN,
    Position,
    as_position,
    rank_texts,
)
from tbgen.indexing.squares import EMPTY, FILES, RANKS, SQUARES, Side, piece_code

POSITION_STYLES = ("fen", "pai", "six", "board")
"""Styles of `format_position` and `parse_position`."""

_LABEL = re.compile(r"^FEN[\s:\uff1a]+", re.IGNORECASE)
"""Pattern of a label in front of a position."""

_PAI_LETTERS = "kberncp"
"""Pai's letter of each `PieceType`: b is the advisor (guard), e the elephant."""

# No part that follows a run of blanks can begin with a blank: so matching takes linear time.
_SIX_TEXT = re.compile(r"(?:B\s*\[6\]\s*=\s*)?(?:[{\[(]\s*)?([-+\d][-+\d\s,;]*)[}\])]?")
_BLANKS = ".+*-_·"
_FILE_NAMES = "abcdefghi"
_ROW = re.compile(r"([0-9]?)\s*((?:[A-Za-z.+*_·-]\s*){9})")
"""Pattern of a row of a board: nine points, perhaps after the name of the rank."""
_SIDE_LINE = re.compile(r"(red|r|white|w|black|b)(tomove)?")


class PositionText(NamedTuple):
    """A position that was read from text."""

    position: Position
    style: str
    """One of `POSITION_STYLES`."""
    viewpoint: Side
    """Side at the bottom of the board; Black for Pai's `:` and for diagrams seen by Black."""


def parse_position(text: str, side: Side | str | None = None) -> Position:
    """Return the position that `text` describes in any style.

    `side` overrides the side to move of the text; with `side`, the first field of a FEN is enough.
    Without it, six integers, and a diagram that names no side, have Red to move. Raises
    `PositionError` with a hint, and `InputError` for an unknown side.
    """
    return read_position(text, None if side is None else enum_member(Side, side)).position


def read_position(text: str, side: Side | None = None) -> PositionText:
    """Return the position of `text` like `parse_position`, with its style and viewpoint."""
    require_text(text, "position", PositionError, f"give text, as in '{START_FEN}'")
    stripped = _LABEL.sub("", text.strip())
    if not stripped:
        raise PositionError("the position is empty", f"a FEN looks like '{START_FEN}'")
    viewpoint = Side.RED
    if "/" in stripped:
        words = stripped.replace("_", " ").replace("+", " ").split()
        if side is not None and len(words) == 1:
            stripped += " b" if side == Side.BLACK else " w"
        style, position = "fen", Position.from_fen(stripped)
    elif lines := _board_lines(stripped):
        style = "board"
        position, viewpoint = _parse_board(lines)
    elif match := _SIX_TEXT.fullmatch(stripped):
        style, position = "six", _parse_six(match.group(1))
    else:
        style = "pai"
        position, viewpoint = _parse_pai(stripped)
    if side is not None and position.side != side:
        position = Position(position.board, side)
    return PositionText(position, style, viewpoint)


def format_position(
    position: Position | str, style: str = "fen", viewpoint: Side | str = Side.RED
) -> str:
    """Return the text of a position in one of `POSITION_STYLES`.

    Raises `InputError` for other styles and sides, and `PositionError` for a malformed FEN.
    `viewpoint` is the side at the bottom of a diagram; if it is Black, Pai's string ends with `:`.
    FEN and the six-integer code have no viewpoint, and the six-integer code no side to move.
    """
    position, viewpoint = as_position(position), enum_member(Side, viewpoint)
    if style == "fen":
        return position.fen
    if style == "pai":
        text = "".join(rank_texts(position.board, f"1{_PAI_LETTERS} {_PAI_LETTERS.upper()}"))
        text += "0" if position.side == Side.BLACK else ""
        return text + (":" if viewpoint == Side.BLACK else "")
    if style == "six":
        return ",".join(str(value) for value in boardcode.encode(position))
    if style == "board":
        return _format_board(position, viewpoint)
    raise InputError(
        f"{excerpt(str(style))} is no notation of positions", f"choose {', '.join(POSITION_STYLES)}"
    )


def _parse_six(text: str) -> Position:
    """Return the position of six integers, Red to move; raises `PositionError`."""
    words = text.replace(",", " ").replace(";", " ").split()
    for word in words:
        if not re.fullmatch(r"[0-9]{1,10}", word):
            raise PositionError(
                f"{excerpt(word)} is no integer of a board code",
                "the code is six integers of at most nine digits, none negative",
            )
    return Position(boardcode.decode(list(map(int, words))), Side.RED)


def _parse_pai(text: str) -> tuple[Position, Side]:
    """Return the position and the viewpoint of Pai's string; raises `PositionError`."""
    body, viewpoint = text, Side.RED
    if body.endswith(":"):
        body, viewpoint = body[:-1], Side.BLACK
    side = Side.RED
    if body.endswith("0"):
        body, side = body[:-1], Side.BLACK
    board, cell = bytearray(SQUARES), 0
    for letter in body:
        width = int(letter) if letter in "123456789" else 1
        row, column = divmod(cell, FILES)
        if row >= RANKS:
            raise PositionError(
                f"{excerpt(text)} goes on after its tenth row", "only 0 and : may follow the board"
            )
        if column + width > FILES:
            raise PositionError(
                f"row {row + 1} of {excerpt(text)} has more than nine points",
                "blanks are counted row by row and never run into the next row",
            )
        if letter not in "123456789":
            kind = _PAI_LETTERS.find(letter.lower()) if letter.isascii() else -1
            if kind < 0:
                raise PositionError(
                    f"{excerpt(text)} is no position: "
                    f"{excerpt(letter)} is no piece of Pai's string",
                    "give a FEN, Pai's string (k r c n p, b = guard, e = elephant), six integers "
                    "or a board of ten lines",
                )
            owner = Side.RED if letter.islower() else Side.BLACK
            board[FILES * (RANKS - 1 - row) + column] = piece_code(owner, kind)
        cell += width
    if cell != SQUARES:
        raise PositionError(
            f"{excerpt(text)} describes {cell} of {SQUARES} points",
            "Pai's string goes through all ten rows, counting blanks: an empty row is 9",
        )
    return Position(bytes(board), side), viewpoint


def _format_board(position: Position, viewpoint: Side) -> str:
    """Return a diagram with rank and file names and the side to move."""
    ranks, files = range(RANKS - 1, -1, -1), range(FILES)
    if viewpoint == Side.BLACK:
        ranks, files = range(RANKS), range(FILES - 1, -1, -1)
    points = [LETTERS_BY_CODE[code].replace("1", ".") for code in position.board]
    lines = [f"{rank} {' '.join(points[FILES * rank + file] for file in files)}" for rank in ranks]
    lines.append(f"  {' '.join(_FILE_NAMES[file] for file in files)}")
    lines.append(f"{position.side.name.lower()} to move")
    return "\n".join(lines)


def _board_lines(text: str) -> list[str]:
    """Return the lines of a text, or the parts of a board that is written in a single line.

    The parts are its ten rows, the names of files if they follow, and the rest of the text, such as
    the side to move. Returns an empty list for any other single line.
    """
    lines, at = text.splitlines(), 0
    if len(lines) > 1:
        return lines
    rows = []
    while match := _ROW.match(text, at):
        rows.append(f"{match[1]}{match[2]}")
        at = match.end()
        if len(rows) == RANKS:
            files = _ROW.match(text, at)
            if files and "".join(files[2].split()).lower() in (_FILE_NAMES, _FILE_NAMES[::-1]):
                rows.append(files[2])
                at = files.end()
            return [*rows, text[at:]]
    return []


def is_board_line(line: str) -> bool:
    """Return whether a line can begin a board: a row, the file names, or the side to move."""
    letters = "".join(line.split())
    if _SIDE_LINE.fullmatch(letters.lower()):
        return True
    _, points = _name_and_points(letters)
    return len(points) == FILES and (
        points.lower() in (_FILE_NAMES, _FILE_NAMES[::-1]) or min(map(_piece_code, points)) >= EMPTY
    )


def _name_and_points(letters: str) -> tuple[str, str]:
    """Return the rank name on either edge of a row of a board, perhaps empty, and its points.

    letters : the row without blanks, not empty
    """
    if letters[0] in "0123456789":
        return letters[0], letters[1:].removesuffix(letters[0])
    if letters[-1] in "0123456789":
        return letters[-1], letters[:-1]
    return "", letters


def _piece_code(letter: str) -> int:
    """Return the code of a point of a board, `EMPTY` for an empty one; -1 for another letter."""
    if letter in _BLANKS:
        return EMPTY
    code = LETTERS_BY_CODE.find(letter.translate(LETTER_ALIASES))
    return code if code > EMPTY else -1


def _parse_board(lines: list[str]) -> tuple[Position, Side]:
    """Return the position and the viewpoint of a diagram of ten lines of nine points.

    Optional are rank names on either edge, a line of file names, and a line with the side to move
    (Red without it). The viewpoint follows from the rank names, without them from the file names;
    without both it is Red. Raises `PositionError`.
    """
    side, turned_files = Side.RED, None
    rows: list[tuple[str, str]] = []
    for line in lines:
        letters = "".join(line.split())
        if not letters:
            continue
        if letters.lower() in (_FILE_NAMES, _FILE_NAMES[::-1]):
            turned_files = letters.lower() != _FILE_NAMES
        elif match := _SIDE_LINE.fullmatch(letters.lower()):
            side = Side.BLACK if match.group(1).startswith("b") else Side.RED
        else:
            name, points = _name_and_points(letters)
            if len(points) != FILES:
                raise PositionError(
                    f"line {excerpt(line)} of the board has {len(points)} points, not {FILES}",
                    "draw nine points a line: piece letters, and '.' where the board is empty",
                )
            rows.append((name, points))
    if len(rows) != RANKS:
        raise PositionError(f"the board has {len(rows)} lines", "a xiangqi board has ten ranks")
    names = "".join(name for name, _ in rows)
    if names not in ("", "9876543210", "0123456789"):
        raise PositionError(
            f"the board's ranks are named {excerpt(names)}", "ranks run from 9 to 0, or from 0 to 9"
        )
    turned = names.startswith("0")
    if turned_files is None:
        turned_files = turned
    elif not names:
        turned = turned_files
    board = bytearray(SQUARES)
    for index, (_, points) in enumerate(rows):
        rank = index if turned else RANKS - 1 - index
        for file, letter in enumerate(reversed(points) if turned_files else points):
            code = _piece_code(letter)
            if code < EMPTY:
                raise PositionError(
                    f"{excerpt(letter)} is no piece letter",
                    "pieces are K A B R N C P, Black's in lower case, and '.' an empty point",
                )
            board[FILES * rank + file] = code
    return Position(bytes(board), side), Side.BLACK if turned else Side.RED
