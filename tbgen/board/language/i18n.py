"""Texts of the board except reasons and error messages, in English and in both Chinese scripts.

    text("zh-Hant", "moves")   ->   著法

Messages have a short key in `texts.csv`, with English and simplified Chinese. To derive traditional
from simplified Chinese, words are replaced (`_WORDS`), then characters (`_PAIRS`).
`language` is a key of `LANGUAGES`.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from tbgen.indexing import Side
from tbgen.indexing.rulesets import Rules

LANGUAGES = {"en": "English", "zh-Hans": "简体", "zh-Hant": "繁體"}
"""Languages of the board by language tag; each is named in its own language."""

_PAIRS = (
    "习習题題丢丟约約许許运運这這暂暫为為从從体體决決减減则則动動单單变變后後启啟响響图圖复複将將对對导導库庫开開执執换換择擇数數无無时時杀殺标標残殘毙斃没沒浅淺点點"
    "环環离離码碼类類红紅终終结結继繼续續编編联聯胜勝节節规規计計记記设設询詢语語请請谱譜负負败敗赖賴车車转轉轮輪载載边邊过過还還进進选選链鏈键鍵镜鏡长長间間阶階隐隱"
    "页頁马馬盘盤着著摆擺录錄汉漢应應务務双雙荐薦号號帅帥个個宫宮说說军軍两兩层層处處关關内內写寫别別员員头頭强強态態据據显顯条條来來样樣浏瀏状狀现現称稱筛篩纸紙线線"
    "统統见見览覽试試该該详詳读讀谁誰里裡钟鐘错錯闭閉闲閒随隨与與译譯围圍验驗证證书書检檢亏虧预預击擊戏戲级級连連胁脅仅僅网網画畫达達宽寬顽頑挡擋竖豎横橫须須会會难難实實册冊赛賽"
    "却卻参參范範凭憑于於几幾并並余餘视視满滿种種损損坏壞亚亞缩縮组組断斷纳納鱼魚带帶机機东東给給叠疊占佔属屬张張门門项項补補签籤“「”」"
)
"""Simplified characters of the board's texts, each before its traditional form if it differs."""

_TRADITIONAL = str.maketrans(_PAIRS[::2], _PAIRS[1::2])

_WORDS = {
    "复制": "複製", "标准": "標準", "日志": "日誌", "坐标": "座標", "服务器": "伺服器",
    "程序接口": "程式介面", "程序": "程式", "内存": "記憶體", "磁盘": "磁碟", "文件": "檔案",
    "打印": "列印", "刷新": "重新整理", "链接": "連結", "光标": "游標", "设置": "設定",
    "数据": "資料", "字节": "位元組", "字符": "字元", "导出": "匯出", "运行": "執行",
    "全屏": "全螢幕", "回车": "「Enter」鍵", "位图": "點陣圖", "响应": "回應", "文本": "文字",
    "网络": "網路", "查找": "搜尋", "地址": "網址", "信息": "訊息", "随机数": "亂數",
    "终端": "終端機",
}  # fmt: skip
"""Simplified words for which traditional Chinese has other words. 程序接口 precedes 程序, since the
first word that fits is replaced.
"""

_WORD = re.compile("|".join(_WORDS))


def read_csv(path: str | Path) -> list[list[str]]:
    """Return all rows of a CSV file; a relative path is relative to this package."""
    with (Path(__file__).parent / path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


TEXTS = {key: (english, chinese) for key, english, chinese in read_csv("texts.csv")} | {
    f"rules_{rules}": (rules.meaning, rules.terms.in_chinese) for rules in Rules
}
"""Messages by key, in English and simplified Chinese, and the meaning of each rule set."""


def traditional(simplified: str) -> str:
    """Convert a text from simplified to traditional Chinese."""
    return _WORD.sub(lambda word: _WORDS[word[0]], simplified).translate(_TRADITIONAL)


def localise(language: str, english: str, chinese: str) -> str:
    """Return `english` for English, else `chinese` (simplified) in the script of `language`."""
    if language == "en":
        return english
    return traditional(chinese) if language == "zh-Hant" else chinese


def text(language: str, key: str, **fields: object) -> str:
    """Return the message of a key of `TEXTS` in a language.

    `{name}` in the message is replaced by the argument `name`, a `Side` by its name in `language`.
    """
    for name, value in fields.items():
        if isinstance(value, Side):
            fields[name] = text(language, value.name.lower())
    return localise(language, *TEXTS[key]).format(**fields)
