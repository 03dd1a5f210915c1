"""Every text of the board except reasons, in English and in both Chinese scripts.

    text("zh-Hant", "moves")   ->   著法

A message is looked up by a short key; simplified Chinese is written here, traditional characters
follow from it one by one (`_PAIRS`).
"""

from __future__ import annotations

LANGUAGES = {"en": "English", "zh-Hans": "简体", "zh-Hant": "繁體"}
"""Languages by their tags, named in themselves."""

_TEXTS: dict[str, tuple[str, str]] = {
    "title": ("Xiangqi endgames", "象棋残局库"),
    "board": ("Board", "棋盘"),
    "endgames": ("Endgames", "残局目录"),
    "editor": ("Editor", "摆棋"),
    "read": ("Look up answers", "查看答案"),
    "play": ("Playing mode", "对弈模式"),
    "red": ("Red", "红方"),
    "black": ("Black", "黑方"),
    "to_move": ("{side} to move", "轮到{side}走棋"),
    "win": ("win", "胜"),
    "draw": ("draw", "和"),
    "loss": ("loss", "负"),
    "unknown": ("unknown", "未知"),
    "win_moves": ("Winning moves", "胜着"),
    "draw_moves": ("Drawing moves", "和着"),
    "loss_moves": ("Losing moves", "败着"),
    "unknown_moves": ("Unknown (table missing)", "未知（缺少残局库）"),
    "moves": ("Moves", "着法"),
    "no_moves": ("No legal move: {side} has lost.", "无子可动，{side}负。"),
    "move": ("move", "着法"),
    "value": ("order-value", "阶-值"),
    "why": ("why", "原因"),
    "best": ("best", "最佳"),
    "capture": ("capture", "吃子"),
    "check": ("check", "将军"),
    "suggested": ("Suggested move", "推荐着法"),
    "table_move": ("Let the table move", "由残局库走棋"),
    "hint": ("Hint", "提示"),
    "take_back": ("Take back", "悔棋"),
    "start_over": ("Start over", "重新开始"),
    "flip": ("Turn the board", "翻转棋盘"),
    "autoplay": ("Play the best line", "自动演示"),
    "stop": ("Stop", "停止"),
    "show_loop": ("Show the forced loop", "演示循环"),
    "best_line": ("Best line", "最佳变化"),
    "export": ("Export the line", "导出棋谱"),
    "permalink": ("Link to this position", "本局面链接"),
    "switch_sides": ("Play the other side", "换边"),
    "you_play": ("You play {side}.", "您执{side}。"),
    "table_thinks": ("The table is to move.", "轮到残局库走棋。"),
    "hidden": (
        "Values are hidden. Make a move on the board or choose one below.",
        "答案已隐藏。请在棋盘上走子，或从下面选择着法。",
    ),
    "forbidden": ("forbidden repetition", "禁止着法"),
    "referee": ("Referee", "裁判"),
    "verdict_draw": ("The position repeats: draw.", "局面重复，判和。"),
    "verdict_red wins": ("The position repeats: Red wins.", "局面重复，判红方胜。"),
    "verdict_black wins": ("The position repeats: Black wins.", "局面重复，判黑方胜。"),
    "game_over": ("The game is over: {side} wins.", "终局：{side}胜。"),
    "game": ("Game so far", "已走着法"),
    "loop": ("loop", "循环"),
    "ends": ("End", "结果"),
    "language": ("Language", "语言"),
    "notation": ("Moves as", "着法记法"),
    "pieces": ("Pieces", "棋子"),
    "zh": ("Chinese", "汉字"),
    "latin": ("Letters", "字母"),
    "iccs": ("ICCS (h2e2)", "坐标（h2e2）"),
    "fairy": ("ranks 1-10 (h3e3)", "坐标（h3e3）"),
    "wxf": ("WXF (C2.5)", "WXF（C2.5）"),
    "n_zh": ("炮二平五", "炮二平五"),
    "n_zh-hant": ("炮二平五 (traditional)", "炮二平五（繁体）"),
    "theme": ("Colours", "配色"),
    "light": ("light", "浅色"),
    "dark": ("dark", "深色"),
    "values_note": (
        "order-value of the position after the move. At order 0 the value counts plies (one ply "
        "is a move of one side): odd, the side then to move wins; even, it loses; 0 a draw, or "
        "no legal move. At order 1 and above the repetition rules decide, and the value is 255 "
        "minus plies. * best, c capture, + check.",
        "阶-值指走后局面。阶为0时，值为步数（一方走一次为一步）：奇数表示轮走方胜，偶数表示"
        "轮走方负，0表示和棋或无子可动。阶为1及以上时由循环规则决定，值为255减步数。"
        "* 最佳，c 吃子，+ 将军。",
    ),
    "missing": ("No table for this position", "没有此局面的残局库"),
    "impossible": ("This position is impossible", "此局面不合法"),
    "possible": ("This position is possible.", "此局面合法。"),
    "fault_area": (
        "{piece} cannot stand on {square}: kings and advisors stay in the palace, elephants on "
        "their seven points, pawns before their start, on their files until they cross the river",
        "{piece}不能在{square}：将士不出九宫，象只在七个位置，兵不能在起始位置之后，过河前不能横移",
    ),
    "fault_kings": ("{side} has {n} kings, not one", "{side}有{n}个将（帅），应为一个"),
    "fault_count": (
        "{side} has {n} of {piece}; a set has {limit}",
        "{side}有{n}个{piece}，最多{limit}个",
    ),
    "fault_facing": (
        "The kings face each other: put a piece between them or move one",
        "将帅照面：请在中间放一子或移开",
    ),
    "fault_check": (
        "{side} is in check, but {mover} is to move",
        "{side}正被将军，却轮到{mover}走棋",
    ),
    "paste": ("FEN, Pai's string, six-integer code", "FEN、Pai 记法、六整数编码"),
    "set": ("Set up", "设置"),
    "mirror": ("Mirror", "左右镜像"),
    "upside": ("Flip", "上下翻转"),
    "swap": ("Swap colours", "红黑互换"),
    "side": ("Side to move", "轮走方"),
    "clear": ("Clear", "清空"),
    "study": ("Look up this position", "查询此局面"),
    "palette": (
        "Choose a piece, then a point; choose a piece on the board to move it, and again to "
        "remove it.",
        "先选棋子再点位置；点棋盘上的棋子可移动，再点一次则移除。",
    ),
    "not_found": ("There is no such page", "没有此页面"),
    "type_rook": ("Rook", "车类"),
    "type_knight": ("Knight", "马类"),
    "type_cannon": ("Cannon", "炮类"),
    "type_pawn": ("Pawn", "兵类"),
    "type_other": ("Several kinds", "联合类"),
    "material": ("material", "子力"),
    "class": ("outcome", "胜负"),
    "class_won": ("won", "必胜"),
    "class_drawn": ("drawn", "必和"),
    "class_open": ("undetermined", "不定"),
    "class_note": (
        "With Red to move: won if the side named first wins more than 98 % of the positions, "
        "drawn if more than 98 % are drawn.",
        "以先列一方（红方）先走计：胜率超过98%为必胜，和率超过98%为必和。",
    ),
    "longest": ("longest", "最长"),
    "longest_wins": ("Longest wins", "最长胜局"),
    "order": ("order", "阶"),
    "legal": ("Legal positions", "合法局面"),
    "positions": ("positions", "局面数"),
    "results": ("Results", "结果分布"),
    "histogram": ("Distances", "步数分布"),
    "plies": ("plies", "步"),
    "rules": ("Rules", "规则"),
    "rules_none": ("repetition is a draw", "循环作和"),
    "rules_check": ("perpetual check loses", "长将作负"),
    "rules_wxf": ("perpetual check and chase lose", "长将长捉作负"),
    "rules_wxf-nominor": (
        "perpetual check and chase lose, but advisors and elephants may chase protected pieces",
        "长将长捉作负，士象可长捉有根子",
    ),
    "metric": ("Distance", "距离"),
    "dtm": ("to mate", "到将死"),
    "dtc": ("to mate or conversion", "到将死或转换"),
    "rule_decided": ("Decided by repetition", "由循环规则决定"),
    "size": ("Size on disk", "文件大小"),
    "build_time": ("Build time", "生成时间"),
    "seconds": ("{n} s", "{n}秒"),
    "bytes": ("{n} bytes", "{n}字节"),
    "unknown_time": ("not recorded", "无记录"),
    "depends": ("Captures lead to", "吃子后转入"),
    "taking": ("taking {piece}", "吃{piece}"),
    "table_missing": ("no table here", "缺少"),
    "no_table_needed": ("always a draw", "必和"),
    "download": ("As JSON", "下载 JSON"),
    "graph": ("Dependency graph", "依赖图"),
    "no_tables": (
        "There are no tables here. Build some, or start with --demo.",
        "没有残局库。请先生成，或用 --demo 启动。",
    ),
    "notes": ("What the signs mean", "符号说明"),
    "keys": (
        "Keys: arrows move the cursor, Enter chooses, space plays the suggested move, backspace "
        "takes back, f turns the board.",
        "按键：方向键移动光标，回车选择，空格走推荐着法，退格悔棋，f 翻转棋盘。",
    ),
    "waiting": ("Working…", "请稍候……"),
    "failed": ("The server does not answer.", "服务器没有响应。"),
}

_PAIRS = (
    "为為从從体體决決减減则則动動单單变變后後启啟响響图圖复複将將对對导導库庫开開执執换換择擇数數无無时時杀殺标標残殘毙斃没沒"
    "浅淺点點环環离離码碼类類红紅终終结結继繼续續编編联聯胜勝节節规規计計记記设設询詢语語请請谱譜负負败敗赖賴车車转轉轮輪载載"
    "边邊过過还還进進选選链鏈键鍵镜鏡长長间間阶階隐隱页頁马馬盘盤着著摆擺录錄汉漢应應务務双雙荐薦号號帅帥个個宫宮横橫"
)
"""Simplified characters that occur here or in `words`, each before its traditional form."""

_TRADITIONAL = str.maketrans(_PAIRS[::2], _PAIRS[1::2])


def traditional(simplified: str) -> str:
    """The text in traditional characters."""
    return simplified.translate(_TRADITIONAL)


def localise(language: str, english: str, chinese: str) -> str:
    """One of two versions of a text; the Chinese one is given in simplified characters."""
    if language == "en":
        return english
    return traditional(chinese) if language == "zh-Hant" else chinese


def text(language: str, key: str, **fields: object) -> str:
    """The message of a key, with its `{fields}` filled in."""
    return localise(language, *_TEXTS[key]).format(**fields)
