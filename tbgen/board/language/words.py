"""Names of pieces, squares and endgames; Chinese reasons and verdicts; short phrases.

KNPKAABB    Knight and pawn against two advisors and two elephants     马兵对士象全
R, e4       Red rook; e4                                               红车；五路第5线
红方9步（5回合）胜                          order 0, distance to mate
9步后，黑方最顽强的着法是用炮长捉五路车，判负（3阶）   order 3

`language` is a tag: "en", "zh-Hans" or "zh-Hant".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tbgen.answers import reasons
from tbgen.answers.mechanism import Mechanism
from tbgen.board.language.i18n import localise, text, traditional
from tbgen.indexing import Army, Material, Position, Side
from tbgen.indexing.material import NAME_ORDER
from tbgen.indexing.squares import PieceType, piece_kind, piece_side, square_name
from tbgen.notation.chinese import names, write_name
from tbgen.notation.chinese import piece_name as character
from tbgen.notation.materials import DEFENDERS, ENGLISH
from tbgen.notation.naming import file_number, relative_place
from tbgen.referee import Judgement, Rules, Verdict
from tbgen.referee.reasons import Conduct
from tbgen.referee.record import PERPETUAL_CHASE, PERPETUAL_CHECK
from tbgen.system.units import format_duration
from tbgen.tables.proofs import ProofStatus

_NUMBERS = ("", "", "two", "three", "four", "five")
_DIGITS = "一二三四五六七八九"


def piece_name(code: int, language: str) -> str:
    """Return the name of a piece code with its side: `Red rook`, `红车`."""
    side, kind = Side(piece_side(code)), PieceType(piece_kind(code))
    english = f"{side.name.capitalize()} {ENGLISH[kind]}"
    return localise(language, english, f"{'红黑'[side]}{character(side, kind)}")


def point_name(square: int, language: str) -> str:
    """Return the name of a square from Red's side: `e4`, `e0`; `五路第5线`, `五路底线`."""
    rank = square // 9 + 1
    line = "底线" if rank == 1 else f"第{rank}线"
    return localise(language, square_name(square), f"{file_name(Side.RED, square)}{line}")


def file_name(side: Side, square: int) -> str:
    """Return the Chinese name of a square's file as `side` counts it: `三路`, for Black `７路`."""
    number = file_number(side, square)
    return f"{_DIGITS[number - 1] if side == Side.RED else chr(ord('０') + number)}路"


def name_on_file(position: Position, square: int) -> str:
    """Return the name of a piece and its file in simplified Chinese: `五路车`.

    If its side has more pieces of the kind on the file, the name is that of the Chinese notation of
    moves, such as `前兵`.
    """
    place, side = relative_place(position, square), Side(piece_side(position.board[square]))
    if place.count_on_file == 1:
        return f"{file_name(side, square)}{character(side, place.kind)}"
    # An advisor's or elephant's first name is only its file, since its moves tell it from another.
    name = names(place)[0 if place.is_tandem else 1]
    return write_name(name, side, traditional=False)


def army_name(army: Army, side: Side, language: str) -> str:
    """Return the name of an army without its king: `knight and two pawns`, `马双兵`.

    A king alone is `bare king`, `孤将`. `side` chooses between the Chinese names of pieces, such as
    兵 (Red) and 卒 (Black).
    """
    counts = [(kind, army.count(kind)) for kind in NAME_ORDER if army.count(kind)]
    if language == "en":
        words = [
            f"{_NUMBERS[count]} {ENGLISH[kind]}s" if count > 1 else ENGLISH[kind]
            for kind, count in counts
        ]
        return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:]))) or "bare king"
    defenders = DEFENDERS.get((army.count(PieceType.ADVISOR), army.count(PieceType.ELEPHANT)), "")
    found = ""
    for kind, count in counts:
        if defenders and not kind.is_attacker:
            continue
        found += {1: "", 2: "双"}.get(count, _DIGITS[count - 1]) + character(side, kind)
        if count == 1 and len(counts) == 1 and not kind.is_attacker:
            found = f"单{found}"
    for kind in (PieceType.ADVISOR, PieceType.ELEPHANT):
        defenders = defenders.replace(character(Side.BLACK, kind), character(side, kind))
    found += defenders
    return localise(language, "", found or f"孤{character(side, PieceType.KING)}")


def material_name(material: Material, language: str) -> str:
    """Return the name of a material, the first army as Red: `Rook against rook`, `车对车`."""
    first = army_name(material.first, Side.RED, language)
    second = army_name(material.second, Side.BLACK, language)
    english = f"{first} against {second}"
    return localise(language, english[:1].upper() + english[1:], f"{first}对{second}")


class Chinese(reasons.Words):
    """Sentences in simplified Chinese that give the reason for the value of a position."""

    sentences: ClassVar[Mapping[str, str]] = reasons.read_sentences(2)

    def side(self, side: Side) -> str:
        """Return `红方` or `黑方`."""
        return text("zh-Hans", side.name.lower())

    def plies(self, plies: int) -> str:
        """Return a number of plies, such as `9步`."""
        return f"{plies}步"

    def distance(self, plies: int) -> str:
        """Return a distance in plies and in moves, such as `9步（5回合）`."""
        return f"{plies}步（{(plies + 1) // 2}回合）"

    def chase(self, mechanism: Mechanism) -> str:
        """Return a phrase with the chasers and the victim of a chase, such as `用炮长捉五路车`."""
        victim = mechanism.victim
        assert victim is not None
        chasers = dict.fromkeys(character(piece.side, piece.kind) for piece in mechanism.by)
        return f"用{''.join(chasers)}长捉{name_on_file(mechanism.position, victim.square)}"


class Traditional(Chinese):
    """Sentences of `Chinese` in traditional Chinese; phrases of other methods stay simplified."""

    def sentence(self, *fields: Any, **others: Any) -> str:
        """Return the sentence in traditional Chinese."""
        return traditional(super().sentence(*fields, **others))


WORDS = {"en": reasons.ENGLISH, "zh-Hans": Chinese(), "zh-Hant": Traditional()}
"""`Words` of each language, by tag."""


def explain_judgement(judgement: Judgement, rules: Rules, language: str) -> str:
    """Return the referee's sentence on the last position of a game under `rules`, in a language.

    On a repetition, except under `none`, the sentence has the conduct of each side in the loop
    (such as a perpetual check), the verdict, and the article of the rules, if one applies.
    """
    if language == "en":
        return judgement.reason
    return localise(language, "", _judged(judgement, rules))


def _judged(judgement: Judgement, rules: Rules) -> str:
    """Return the sentence of `explain_judgement` in simplified Chinese."""
    if judgement.span is None:
        if judgement.verdict == Verdict.UNDECIDED:
            return "最后局面此前没有出现过"
        black_lost = judgement.verdict == Verdict.RED_WINS
        return "黑方无着可走：红方胜" if black_lost else "红方无着可走：黑方胜"
    if rules == Rules.NONE:
        return "局面重复；不计循环规则，判和"
    red, black = judgement.conducts
    position = judgement.position
    for ply in judgement.plies[: judgement.span[0]]:
        position = position.after(*ply.move)
    both = f"{_conduct(red, position)}，{_conduct(black, position)}"
    if judgement.verdict in (Verdict.RED_WINS, Verdict.BLACK_WINS):
        offender = black if judgement.verdict == Verdict.RED_WINS else red
        article = "art. 8" if red.checks and black.checks else offender.article
        winner = text("zh-Hans", offender.side.other.name.lower())
        return f"{both}：判{winner}胜{_cited([article], rules)}"
    if red.level == PERPETUAL_CHECK:
        return f"双方长将：判和{_cited(['art. 7'], rules)}"
    if red.level == PERPETUAL_CHASE:
        return f"{both}：互捉，判和（图48）"
    if not rules.judges_chases and (red.victims or black.victims):
        return f"{both}：本规则允许长捉，判和"
    if red.is_voided and (red.chasing or black.chasing):
        return f"{both}；循环里有将军，本规则不算捉：判和"
    articles = list(dict.fromkeys(filter(None, (red.article, black.article))))
    return f"{both}：判和{_cited(articles or ['art. 5'], rules)}"


def _conduct(conduct: Conduct, position: Position) -> str:
    """Return a clause in simplified Chinese on a side's conduct in the loop from `position`."""
    side = text("zh-Hans", conduct.side.name.lower())
    if conduct.checks == conduct.plies:
        return f"{side}步步将军"
    if conduct.victims:
        chasers = "".join(character(conduct.side, kind) for kind in dict.fromkeys(conduct.chasers))
        victims = "和".join(
            character(conduct.side.other, victim.kind)
            if victim.is_only
            else name_on_file(position, victim.square)
            for victim in conduct.victims
        )
        return f"{side}{chasers}步步捉{victims}"
    if conduct.checks:
        return f"{side}{'将捉并用' if conduct.chasing else '只有部分着法将军'}"
    if conduct.chasing:
        return f"{side}{'轮捉不同的子' if conduct.chasing == conduct.plies else '只有部分着法捉子'}"
    return f"{side}走闲着"


def _cited(articles: Sequence[str], rules: Rules) -> str:
    """Cite articles of the rules in Chinese: `（亚洲规则第15条）` for `art. 15`.

    An article (`Conduct.article`) is `art. 15`, `point 4` (of docs/referee.md), or a text with
    `root` (on victims without protection). Under `wxf` the first `art.` names the rule book.
    """
    named, book = [], "亚洲规则" if rules == Rules.WXF else ""
    for article in articles:
        kind, _, number = article.rpartition(" ")
        if "root" in kind:
            named.append("捉无根子或假根子")
        elif kind == "point":
            named.append(f"裁判说明第{number}点")
        else:
            named.append(f"{book}第{number}条")
            book = ""
    return f"（{'、'.join(named)}）"


def result_name(winner: Side | None, language: str) -> str:
    """Return `Red wins`, `Black wins`, or `Draw` if `winner` is None."""
    if winner is None:
        return text(language, "drawn")
    return text(language, "wins", side=winner)


def time_in_words(seconds: float, language: str) -> str:
    """Return a time as text: `under 1 s`, `12 s` or `12秒`; in seconds, minutes or hours."""
    if seconds < 1:
        return localise(language, "under 1 s", "不到1秒")
    for most, length, unit in ((120, 1, "秒"), (7200, 60, "分钟")):
        if seconds < most:
            return localise(language, format_duration(seconds), f"{seconds / length:.0f}{unit}")
    return localise(language, format_duration(seconds), f"{seconds / 3600:.1f}小时")


def proof_in_words(status: ProofStatus | None, language: str) -> str:
    """Return the proof status of a table as text, such as `proven from the rules, but for KRK`.

    KRK is here a table after captures that is unproven, changed, damaged or missing. The status is
    None while files are being read.
    """
    if status is None:
        return text(language, "proof_unread")
    said = text(language, f"proof_{status.state.name.lower()}")
    if status.gaps:
        names = dict.fromkeys(gap.table.material.name for gap in status.gaps)
        said += text(language, "names_stop").join(names)
    if status.reason:
        said += text(language, "proof_void")
    return said


def order_value(order: int | None, value: int | None) -> str:
    """Return order and value (`Value.number`), such as `01-254`; `--` if one of them is None.

    The order has at least two digits, the value three, as in the query system of Jih-tung Pai.
    """
    return "--" if order is None or value is None else f"{order:02}-{value:03}"
