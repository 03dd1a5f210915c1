"""Complaints about a request, in the reader's language.

    "rank 3 of the FEN has 10 files"  ->  第3行有10格，应为9格

Messages are made in English where the fault is found; those that a page can show are put into
Chinese here, by their form. One that is not known becomes a general sentence, never English. What
the reader has typed stands between 「 and 」.
"""

from __future__ import annotations

import re

from tbgen.board.language.i18n import localise

_SIDES = {"Red": "红方", "Black": "黑方"}
_KINDS = {"king": "将（帅）", "advisor": "士", "elephant": "象", "rook": "车", "knight": "马",
          "cannon": "炮", "pawn": "兵", "K": "将（帅）", "A": "士", "B": "象", "R": "车", "N": "马",
          "C": "炮", "P": "兵"}  # fmt: skip

_FORMS: tuple[tuple[str, str], ...] = (
    (r"(.+) is no square", "{0}不是棋盘上的点"),
    (r"(.+), in ICCS .*", "看不懂着法{0}"),
    (r"(.+) is no move", "看不懂着法{0}"),
    (r"(.+) is not legal.*", "{0}不是合法着法"),
    (r"(\w+): there is no piece on (\w+)", "{0}：{1}没有棋子"),
    (r"(\w+): the piece on (\w+) is (\w+)'s", "{0}：{1}是{2}的棋子"),
    (r"(\w+): (\w+) is held by (\w+)'s own piece", "{0}：{1}有{2}自己的棋子"),
    (r"(\w+): the (\w+) on (\w+) cannot reach (\w+)", "{0}：{2}的{1}走不到{3}"),
    (r"(\w+): this would leave the kings facing each other", "{0}：走后将帅照面"),
    (r"(\w+): this would leave (\w+)'s king in check", "{0}：走后{1}被将军"),
    (r"(.+) is no piece letter", "{0}不是棋子字母"),
    (r"(.+) is no position: (.+) is no piece of Pai's string", "看不懂{0}：{1}不是棋子字母"),
    (r"(.+) goes on after its tenth row", "{0}在第十行之后还有内容"),
    (r"row (\d+) of (.+) has more than nine points", "第{0}行超过九格"),
    (r"(.+) describes (\d+) of (\d+) points", "{0}只写了{1}格，棋盘有{2}格"),
    (r"rank (\d+) of the FEN has (\d+) files", "底线起第{0}行（0至9）有{1}格，应为9格"),
    (r"the FEN has (\d+) ranks", "有{0}行，应为10行"),
    (r"the FEN has (\d+) fields", "有{0}段，应写棋盘和轮走方"),
    (r"the (?:FEN|position) is empty", "没有写局面"),
    (r"the position has (\d+) characters", "局面有{0}个字符，太长"),
    (r"(.+) is no side to move", "{0}不是轮走方，红方写「w」，黑方写「b」"),
    (r"(.+)'s (\w+) cannot stand on (.+)", "{0}{1}不能在「{2}」"),
    (r"(.+) has (\d+) kings", "{0}有{1}个将（帅），应为一个"),
    (r"(.+) has (\d+) pieces of the kind (\w)", "{0}有{1}个{2}，太多"),
    (r"the kings face each other.*", "将帅照面"),
    (r"(\w+) is in check.*", "{0}正被将军，却不轮到走棋"),
    (r"the game has more than (\d+) moves", "着法超过{0}步"),
    (r"(?:there is )?no table of (\w+).*", "没有{0}的残局库"),
    (r"(\w+) cannot have a table.*", "{0}太大，无法生成残局库"),
    (r"(\w+) is always a draw", "{0}必和，不需要残局库"),
    (r"(.+) is no material", "{0}不是子力名称"),
    (r"(.+) in (.+) is no piece", "{1}中的{0}不是棋子"),
    (r"(.+) does not name two sides", "{0}没有写出双方"),
    (r"there is no such page", "没有此页面"),
    (r"no puzzle was found", "没有找到习题"),
    (r"(\w+) has no such puzzle", "{0}没有这样的习题"),
    (r"the text has no moves", "没有着法"),
    (r"'(.+)' is no endgame, position or game", "{0}不是残局、局面或棋谱"),
    (r"there are no such positions", "没有这样的局面"),
    (r"the server is busy", "服务器繁忙"),
    (r"the engine does not answer", "引擎没有应答"),
    (r"this was asked from elsewhere", "请求不是来自本页面"),
    (r"this page is out of date", "页面已过期"),
    (
        r"only who has started this server may have tables built",
        "只有启动本服务器的人可以生成残局库",
    ),
    (r"this build is beyond the limits of this server", "超出本服务器允许的范围"),
    (r"this cannot be built here", "无法在此生成"),
    (r"a build is running", "正在生成其他残局库"),
    (r"the request does not arrive", "请求没有送达"),
    (r"(.+) has no parameter (.+)", "没有参数{1}"),
    (r"something went wrong here", "服务器内部出错"),
)
"""Patterns of whole messages, and what they are in simplified Chinese."""

_HINTS: tuple[tuple[str, str], ...] = (
    (r"a xiangqi board has ten.*", "棋盘有十行，用斜线分开"),
    (r"every rank has nine files.*", "每行九格"),
    (r"pieces are K A B R N C P.*", "棋子字母为「K A B R N C P」，黑方小写"),
    (r"write w .*", "轮走方写「w」或「b」"),
    (r"(run: .*)", "请运行「{0}」"),
    (r"a FEN looks like .*|give a FEN.*", "请写标准局面串、六整数编码或白氏记法"),
    (r"the board is at /", "请回到棋盘"),
    (r"name an endgame with an attacker", "请选有进攻子力的残局"),
    (r"such as KRKN, .*", "可写「KRKN」、「车对马」、局面串或着法"),
    (r"try another level", "请换一个难度"),
    (r"see the server's log", "详情见服务器日志"),
    (r"load it again", "请重新打开"),
    (r"open the address that its terminal shows", "请打开终端里显示的地址"),
    (r"wait for its end, or cancel it", "请等它完成，或先取消"),
    (r"write (\w+)", "可写{0}"),
    (r"try again in a moment", "请稍后再试"),
    (r"(\w+) is to move", "轮到{0}走棋"),
    (r"choose another square", "请选另一个点"),
    (r"look at what is in its way", "请看走法，或何子挡住了它"),
    (r"keep a piece between them", "请在中间留一子"),
    (r"meet the check, or keep the pin", "请应将，或不动挡将的子"),
    (r"from (\w+): (.*)", "{0}可走{1}"),
    (r"nothing on (.+) may move", "{0}没有可走的子"),
    (r"choose a bar of the histogram", "请选分布图中的一条"),
    (r"begin with a later position", "请从后面的局面开始"),
    (r"try another endgame", "请换一个残局"),
)

_CANNOT = "无法理解这个请求"


def complain(message: str, hint: str, language: str) -> tuple[str, str]:
    """A message and its hint as they are shown; a hint that has no Chinese form is left out."""
    if language == "en":
        return _sentence(message), _sentence(hint)
    said = _translated(message, _FORMS) or _CANNOT
    return localise(language, "", said), localise(language, "", _translated(hint, _HINTS) or "")


def _sentence(english: str) -> str:
    """A text with a capital, unless it begins with a square, a parameter or a command."""
    named = re.match(r"[a-i][0-9]|\w+=|pip |tbgen ", english)
    return english if named else english[:1].upper() + english[1:]


def _translated(message: str, forms: tuple[tuple[str, str], ...]) -> str | None:
    for pattern, chinese in forms:
        match = re.fullmatch(pattern, message, re.DOTALL)
        if match:
            return chinese.format(*(_word(group) for group in match.groups()))
    return None


def _word(found: str) -> str:
    """A side or a piece in Chinese, a number as it is, anything else in corner brackets."""
    if found in _SIDES or found in _KINDS:
        return _SIDES.get(found) or _KINDS[found]
    if found.isdecimal() or found.startswith("run: "):
        return found.removeprefix("run: ")
    return f"「{found}」"
