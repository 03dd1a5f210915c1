"""Parts of a game's text: tags, FENs, moves, their numbers, results, and text that is no move.

    text  ->  tokens  ->  Token(kind, name, text, first) of each part that is not passed over

`_PATTERNS` lists the kinds of parts in the order in which they are tried, with examples.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from tbgen.indexing.position import START_FEN
from tbgen.notation.moves import is_move_text

_GAP = r"\s,;:!?|\u2192\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f\u200b\ufeff"
"""Blanks and punctuation between moves, written as part of a regular expression's `[...]`."""

_NUMERALS = "1-9\uff11-\uff19一二三四五六七八九"
_MOVE = (
    rf"[前中后後{_NUMERALS}帅帥将將仕士相象车車俥马馬傌炮砲包兵卒]{{2}}[进進退平上下][{_NUMERALS}]"
)
"""Pattern of a move in Chinese."""

_OTHER = rf"(?:(?![进進退平上下十{_NUMERALS}])[\u4e00-\u9fff])"
"""Pattern of a Chinese character that is neither the direction of a move nor a number."""

_CONTENT = rf"""
    (?: {_MOVE} | (?: [A-Ia-i\uff21-\uff29\uff41-\uff49] (?: 10 | \d ) [-x\uff0d]? ){{2}}
        | [KAERHCPNMBGSkaerhcpnmbgs\uff21-\uff3a\uff41-\uff5a] [\d+-] [^\w\s] \d
        | (?: [0-9A-Za-z]{{1,9}} / ){{9}} )
"""
"""Pattern of a move or a FEN in a line that begins with a label."""

_NOTES = "(?: (?:棋[谱譜])?[标標][题題] | [开開布]局 | [备備附评評]?[注註][释釋解]? )"
"""Pattern of a label whose line may mention moves, and is passed over with them."""

_MOVES_LABEL = r"[着著走]法 (?: [(\uff08] [^()\uff08\uff09\n]* [)\uff09] )?"
"""Pattern of a label that moves follow: 着法, 走法（红先）."""

_SKIPPED = (
    # blanks, punctuation, the dots of a cut move number
    rf"(?:(?!;)[{_GAP}])+",
    r"[.\uff0e\u2026\u2014]+ | \uff0d+ (?![\uff0d+\uff0b.\uff0e=\d])",
    # comments from a semicolon:  "; a note"  " ;note"; a line "% ..."; $14 of PGN
    r";(?!\S)[^\n]*",
    rf"(?<!\S) ; [^{_GAP}\d{_NUMERALS}]+ (?=[{_GAP}]|$) [^\n]*",
    r"(?m:^)%[^\n]*",
    r"\$\d+",
    # the side that begins:  红先
    r"[红紅黑]方?先[行走手]?(?![胜勝负負和])",
    # lines of notes:  标题：...  开局：...  棋谱由...
    rf"(?m:^) (?: {_NOTES} \s*[:\uff1a] | 棋[谱譜]由 ) [^\n]*",
    # labels with moves or a FEN behind them:  着法：  结果：  红方：  局面：  赛事：决赛 着法：
    rf"""(?m:^) (?: (?: {_OTHER}{{1,8}} [:\uff1a] (?: (?!{_CONTENT}) [^\n] )*? )? {_MOVES_LABEL}
            | [结結]果 ) \s*[:\uff1a]""",
    # lines of other labels, without moves:  赛事：决赛
    rf"(?m:^) {_OTHER}{{1,8}} \s*[:\uff1a] (?![^\n]*{_CONTENT}) [^\n]*",
    r"(?m:^) (?: [红紅黑]方? | 局面 ) \s*[:\uff1a]",
    # frames:  [DhtmlXQ] ... [/DhtmlXQ]  START{ ... }END
    r"\[/?DhtmlXQ\]",
    r"(?m:^) START\s*\{ | \}\s*END\b",
    # headings:  第一局  变着二
    rf"""(?m:^) (?: 第\s*[\d十{_NUMERALS}]+\s*[局盘盤] | [变變](?:化|着|著)[\d十{_NUMERALS}]* )
        [^\n\d{_NUMERALS}]* (?![^\n])""",
)
"""Patterns of text that is passed over; but the label of a result is a `Token`."""

_PATTERNS = {
    # the side of the next move:  红：炮二平五
    "side": rf"(?P<colour> [红紅黑] ) 方? (?: \s* [:\uff1a] )? \s* (?={_MOVE})",
    "skipped": " | ".join(_SKIPPED),
    # a header of a WXF file:  RED Lü Qin;;
    "header": rf"""(?m:^) (?P<field> FORMAT|GAME|EVENT|DATE|TIME|ROUND|RED|BLACK|RESULT ) (?!\S)
        (?![^\n]*{_CONTENT}) (?P<rest> [^\n]* )""",
    # [DhtmlXQ_binit]8979...[/DhtmlXQ_binit]
    "dhtmlxq": r"""\[DhtmlXQ_ (?P<part>\w+) \] (?P<content>.*?)
        (?: \[/DhtmlXQ_ (?P<closing>\w+) \] | (?=\[DhtmlXQ_) | \Z )""",
    # [FEN "..."]
    "tag": r"""\[\s* (?P<name>\w+) \s+" (?P<value>(?:[^"\\]|\\.)*) "\s*\]""",
    # [FEN "...
    "malformed": r"""\[\s* [A-Za-z]\w* \s* ["“”] [^\n]* | (?m:^) \[\s* [A-Za-z]+ \s [^\n]*""",
    "bracket": "[({（《【]",
    # 12.  1...  12)  第十二回合  ⑫  十二、  第三局
    "number": rf"""(?: 第\s*[\d十{_NUMERALS}]+\s*(?:回合|[局盘手步]) | [\u2460-\u2473]
            | [十一二三四五六七八九]{{1,3}}\u3001
            | \d{{1,6}} (?: \s*[.\uff0e\u2026]+(?!\d) | [\u3001)\uff09] )
            | \d{{1,3}}(?=\s|{_MOVE}) )
        (?: [{_GAP}]* [.\uff0e\u2026\u2014]+ )?""",
    # 1-0  红胜  判黑方胜定  和棋
    "result": rf"""(?:1-0 | 0-1 | 1/2(?:-1/2)? | \*) (?=[{_GAP}]|$)
        | 判?[红紅黑双雙][方先棋]?[^{_GAP}{_NUMERALS}()（）进進退平]{{0,8}}?[胜勝负負和][棋局]?定?
        | [成作弈例官判]?和 (?: [棋局] | (?=[{_GAP}]|$) ) | 平局""",
    # 4k4/9/.../4K4 w - - 0 1;  the counters are no part of `board`
    "fen": r"""(?P<board> [0-9A-Za-z]+/[0-9A-Za-z/]+
            (?: [\s_+]+(?:[A-Za-z]|[红紅黑]方?(?:走|先[行走手]?)?)(?![^\s_+;,]))? )
        (?: [\s_+]+-[\s_+]+- (?:[\s_+]+\d+[\s_+]+\d+(?![^\s_+;,]))? )? \s*;?""",
    # 炮二平五, also without a blank behind it
    "move": rf"[^{_GAP}]{{2,4}}? [进進退平上下] [{_NUMERALS}]",
    # h2e2  C2.5  position  and all other text
    "word": rf"[^{_GAP}()\[\]{{}}（）《》【】]+ | .",
}
"""Patterns of the kinds of parts of a game's text; at each place the first that matches counts."""

_PART = re.compile(
    "|".join(f"(?P<{kind}> {pattern} )" for kind, pattern in _PATTERNS.items()),
    re.VERBOSE | re.DOTALL,
)
"""Pattern of the next part of a game's text; it matches at every index before the end."""

_TAG_LINE = re.compile(r'^\[(?:DhtmlXQ|\s*\w+\s+")', re.MULTILINE)
"""Pattern of a tag at the beginning of a line, before which each open bracket must be closed."""

_REMARK = re.compile(rf"(?![前中后後帅帥將将仕士相象车車俥马馬傌炮砲包兵卒]+$){_OTHER}+")
_CLOSING = {"{": "}", "《": "》", "【": "】"}
_FAULTY = frozenset("()[]{}（）《》【】;")
"""Characters that are an invalid move if they stand alone as a word."""


class Token(NamedTuple):
    """A part of a game's text that is not passed over."""

    kind: str
    """`tag`, `malformed` (a tag), `fen`, `position` (the word of UCI), `number` (of a move), `side`
    (of the next move), `move` (also text that is no move), `label` (of a result) or `result`."""
    name: str
    """Name of a tag, lower case on a DhtmlXQ board, else upper case; digits of a number, empty if
    it counts games (`第一局`); first character of a side; else empty."""
    text: str
    """Value of a tag; board, side to move and no counters of a FEN; else the part itself."""
    first: int
    """Index of the part's first character."""


def tokens(text: str) -> Iterator[Token]:
    """Yield each part of a text that is not passed over, in order.

    A bracket that is not closed before the next line with a tag is one `move` with all text
    between.
    """
    at = tag_line = 0
    while match := _PART.match(text, at):
        first, at, kind, value = match.start(), match.end(), match.lastgroup, match[0]
        if kind == "dhtmlxq":
            yield Token("tag", match["part"], match["content"].strip(), first)
            if match["part"] in ("binit", "movelist") and match["part"] != match["closing"]:
                yield Token("malformed", "", value, first)
        elif kind == "side":
            yield Token("side", match["colour"], value, first)
        elif kind == "header":
            yield Token("tag", match["field"], match["rest"].strip(), first)
        elif kind == "tag":
            unescaped = re.sub(r"\\(.)", r"\1", match["value"])
            yield Token("tag", match["name"].upper(), unescaped, first)
        elif kind == "bracket":
            if tag_line <= first:
                found = _TAG_LINE.search(text, first + 1)
                tag_line = found.start() if found else len(text)
            at = _end_of_bracket(text, first, tag_line)
            if at < 0:
                at = tag_line
                yield Token("move", "", text[first:at], first)
        elif kind == "number":
            is_game = "局" in value or "盘" in value
            yield Token("number", "" if is_game else str(_number_of(value)), value, first)
        elif kind == "fen":
            yield Token("fen", "", match["board"], first)
        elif kind == "word":
            if value == "position":
                yield Token("position", "", "", first)
            elif value == "startpos":
                yield Token("fen", "", START_FEN, first)
            elif value.lower() not in ("fen", "moves") and (
                value in _FAULTY or any(map(str.isalnum, value))
            ):
                yield Token("move", "", value, first)
        elif kind != "skipped":
            yield Token(kind or "", "", value, first)
        elif value.startswith(("结果", "結果")):
            yield Token("label", "", value, first)
        elif value[0] == ";" and text[first - 1 : first].strip() and _is_moves(value):
            yield Token("move", "", value, first)


def open_brackets(text: str) -> int:
    """Return the number of brackets of comments that a text opens, less those that it closes."""
    return sum(map(text.count, "({（《【")) - sum(map(text.count, ")}）》】"))


def is_remark(word: str) -> bool:
    """Return whether a word is passed over after the last move, such as 绝杀."""
    return _REMARK.fullmatch(word) is not None


def _is_moves(comment: str) -> bool:
    """Return whether a text consists of moves, with or without numbers and semicolons."""
    found = _PART.finditer(comment.replace(";", " "))
    ignored = ("skipped", "number", "result", "side")
    words = [match[0] for match in found if match.lastgroup not in ignored]
    return bool(words) and all(map(is_move_text, words))


def _number_of(text: str) -> int:
    """Return the number in a text such as `12.`, `⑫`, `第十二回合` or `十二、`."""
    plain = unicodedata.normalize("NFKC", text)
    if digits := "".join(re.findall(r"\d", plain)):
        return int(digits)
    units = "零一二三四五六七八九"
    tens, ten, ones = "".join(re.findall("[十一二三四五六七八九]", plain)).rpartition("十")
    number = units.index(ones or "零")
    return number + 10 * units.index(tens or "一") if ten else number


def _end_of_bracket(text: str, start: int, end: int) -> int:
    """Return the index after the bracket that closes the one at `start`; -1 if none before `end`.

    Round brackets, half and full width, may be nested. Those in comments {...} do not count.
    """
    closing = _CLOSING.get(text[start])
    if closing is not None:
        return text.find(closing, start, end) + 1 or -1
    depth = 0
    for match in re.compile(r"([(\uff08])|([)\uff09])|\{[^}]*").finditer(text, start, end):
        depth += bool(match[1]) - bool(match[2])
        if not depth:
            return match.end()
    return -1
