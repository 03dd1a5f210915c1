"""Language checks of pages: find English words, and simplified characters in traditional text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

NAMES = (
    r"「[^」]*」", r"“[^”]*”", r"K[ABCKNPR]*K[ABCNPR]*(\.json)?", r"English", r"简体",
    r"[（(][hC][^）)]*[）)]",
    r"OpenAPI|CSV|ICCS|WXF|SVG|PNG|GIF|JSON|DOT|FEN|PGN|Pai", r"[KMG]?i?B", r"\d+[kMG]",
)  # fmt: skip
"""Regular expressions for text allowed in Chinese pages, such as quotations, endgames, units."""

SIMPLIFIED = set(
    "为从体决减则动单变后启响图复将对导库开执换择数无时杀标残毙没浅点环离码类红终结继续编联胜节规计记设询语请谱负"
    "败车转轮载边过还进选链键镜长间阶隐页马盘摆录汉应务双荐号帅个宫横说军违两张层势处优伤侧关养内写况净击划创别"
    "办华协卫历压县参发员问围国圆场坏块坚声备头夺奖学实审宽对寻导尽岁岛师带广庆异强归当径总恶态战户护报担拟择损据"
    "敌断旧显权条来极构样档检楼欢气测济满灭灯炼热爱状独献现画监盖确种积称稳简粮紧纠纪纯纳线练组细经绕绝统缓缩网"
    "罗罚职脑脱药获营补装见观觉览触订认讨让议论证评识译试话该详误读调谁贝责货质购费资赛赢赶跃轨软较输达迁迟适遗释"
    "钟钥铁银锁错门闭闲队阵阴际陆险随难静顶项顺须顾预领颜题风飞馆驱验骑鱼鸟齿龙与产亲亿仅会余价们举义习书买乱亏"
    "丢约许运这暂杂却参凭视范几于并么东给叠机占属"
) - set("后内")
"""Simplified Chinese characters that are written differently in traditional Chinese.

The list was made for this test.
"""


class Visible(HTMLParser):
    """Parser that collects the texts and labels that a page shows, without code, in `found`."""

    SILENT = ("script", "style", "code", "textarea")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in self.SILENT
        self.found += [
            value or ""
            for name, value in attrs
            if name in ("title", "aria-label", "placeholder", "data-stop", "data-failed")
        ]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self.SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.found.append(data)


def shown(page: str) -> list[str]:
    """List the visible texts and labels of a page, given as HTML."""
    found = Visible()
    found.feed(page)
    return found.found


def misfits(page: str, language: str) -> list[str]:
    """List the texts of a Chinese page that are not in its language or script.

    These texts have English words, English punctuation, a space before a bracket or a unit, or, if
    `language` is `zh-Hant`, simplified characters. Text that matches `NAMES` is allowed.
    """
    found = []
    for text in shown(page):
        plain = re.sub("|".join(NAMES), "", text)
        if (
            re.search(r"[A-Za-z]{2}", plain)
            or re.search(r"[\u4e00-\u9fff] ?[,;:.]( |$)| \(|\d [步回]", plain)
            or (language == "zh-Hant" and set(plain) & SIMPLIFIED)
        ):
            found.append(text)
    return found
