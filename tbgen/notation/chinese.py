"""Chinese move text: 炮二平五, 前车进三, 一兵平四; Black's 炮８平５; simplified and traditional.

    a piece     name and file; of two on one file 前 (front) or 后 (rear) and the name
    pawns       three on one file: 前 中 后; four or five on one file: 一 .. 五 from the front
                several on two files: 一 .. 五 through both, right file first, front to back
    displacement  进 ahead, 退 back, 平 sideways; points moved, or the file reached

Red's numbers are 一..九, Black's １..９, except that pawns are always counted 一..五. Two advisors
or elephants on one file are named by the file: one of them can only go ahead, the other only back.

Source: the computer standard of xqbase.com (cchess_move.htm, 2006). These are read, too: any digits
for either side; 上 and 下 for 进 and 退; either side's names of pieces. 前, 中 and 后 may name the
first, the middle and the last of any number of pawns, also with the file (前兵九平八, 前九平八).
The file alone is read if only one of the pieces on it can make the move.

`split` and `names` return a piece's name with WXF letters and plain digits, such as `C2` or `前C`,
whatever the script of the text. `join` takes such a name, and returns Chinese characters.
"""

from __future__ import annotations

import re
import unicodedata

from tbgen.indexing.squares import PieceType, Side
from tbgen.notation.naming import Displacement, RelativePlace
from tbgen.notation.wxf import LETTERS

_NUMERALS = "一二三四五六七八九"
_FULL_WIDTH = "１２３４５６７８９"
_PIECES = {
    (Side.RED, False): "帅仕相车马炮兵",
    (Side.BLACK, False): "将士象车马炮卒",
    (Side.RED, True): "帥仕相車馬炮兵",
    (Side.BLACK, True): "將士象車馬炮卒",
}
"""Characters of the pieces in the order of `PieceType`, by (side, whether traditional)."""

_DIRECTIONS = {False: "进退平", True: "進退平"}
CHARACTERS = ("帅帥将將", "仕士", "相象", "车車俥", "马馬傌", "炮砲包", "兵卒")
"""Characters of each `PieceType`, simplified or traditional, of either side."""
_READ = str.maketrans(
    "".join(CHARACTERS) + "进進上退下平" + "後" + _NUMERALS,
    "KKKKAAEERRRHHHCCCPP" + "+++--." + "后" + "123456789",
)
"""Characters of moves, and the WXF letters, signs, 后 and digits that replace them in `split`."""
_IN_RECORDS = frozenset(
    "红紅黑方双雙胜勝负負和先行走手局盘盤第回合对對结結果着著变變标標题題赛賽事日期时時间間地点點轮輪次"
    "作者出处處开開评評注註释釋（）《》【】，。、：；！？…"
)
"""Characters of results, players, labels and punctuation in records of games."""
_TEXT = re.compile(r"([KAERHCP][1-9]|[前中后1-5][KAERHCP]|[前中后]P?[1-9])([-+.])([1-9])")


def piece_name(side: Side, kind: PieceType) -> str:
    """Return the simplified Chinese character of a piece."""
    return _PIECES[side, False][kind]


def is_chinese(text: str) -> bool:
    """Return whether the text contains any Chinese character."""
    return bool(re.search(r"[\u4e00-\u9fff]", unicodedata.normalize("NFKC", text)))


def count_characters(text: str) -> int:
    """Return the number of characters of a text that are common in Chinese records of games."""
    return sum(ord(character) in _READ or character in _IN_RECORDS for character in text)


def split(text: str) -> tuple[str, Displacement] | None:
    """Split a move's text into the piece's name (`前C`) and the displacement, or return None."""
    plain = "".join(unicodedata.normalize("NFKC", text).split()).translate(_READ)
    match = _TEXT.fullmatch(plain)
    if match is None or not is_chinese(text):
        return None
    return match.group(1), Displacement(match.group(2), int(match.group(3)))


def join(name: str, moved: Displacement, side: Side, traditional: bool) -> str:
    """Return the Chinese text of a move of `side`, given the piece's name as `split` returns it."""
    digits = _NUMERALS if side == Side.RED else _FULL_WIDTH
    direction = _DIRECTIONS[traditional]["+-.".index(moved.direction)]
    return write_name(name, side, traditional) + direction + digits[moved.number - 1]


def write_name(name: str, side: Side, traditional: bool) -> str:
    """Return the Chinese text of a piece's name as `split` returns it, such as `前兵` for `前P`."""
    digits = _NUMERALS if side == Side.RED else _FULL_WIDTH
    text = ""
    for index, letter in enumerate(name):
        if letter in LETTERS:
            text += _PIECES[side, traditional][LETTERS.index(letter)]
        elif letter.isdecimal():
            # A digit before the piece counts pawns, one after it is a file.
            text += (_NUMERALS if index == 0 else digits)[int(letter) - 1]
        else:
            text += "後" if traditional and letter == "后" else letter
    return text


def names(place: RelativePlace) -> list[str]:
    """Return the names by which a move's text may refer to a piece, with WXF letters (`前C`).

    The first one is the standard's; the others are only read.
    """
    letter, count = LETTERS[place.kind], place.count_on_file
    file = f"{letter}{place.file}"
    if count == 1:
        return [file]
    where = {1: "前", count: "后", (count + 1) / 2: "中"}.get(place.rank, "")
    if not place.is_tandem:
        return [file, where + letter]
    if place.kind != PieceType.PAWN:
        return [where + letter, file]
    others = []
    if where:
        others = [where + letter, f"{where}{letter}{place.file}", f"{where}{place.file}"]
    others.append(file)
    if place.crowded_files > 1:
        return [f"{place.serial}{letter}", *others]
    standard = [where + letter] if count < 4 else []
    return [*standard, f"{place.rank}{letter}", *others]
