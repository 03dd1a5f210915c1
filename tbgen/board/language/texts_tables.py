"""Messages about tables: building, proofs, searches. By key, English and simplified Chinese.

Those of the board itself are in `texts`; `i18n` looks all of them up.
"""

from __future__ import annotations

TABLE_TEXTS: dict[str, tuple[str, str]] = {
    "missing_card": (
        "{name} has not been built. It needs {n} tables; {here} of them here.",
        "尚未生成{name}。需要{n}个残局库，已有{here}个。",
    ),
    "missing_card_one": (
        "{name} has not been built. It needs no other table.",
        "尚未生成{name}。不需要其他残局库。",
    ),
    "missing_cost": (
        "Building takes about {time}, {memory} of memory and {disk} on disk; the first time also "
        "half a minute for compiling.",
        "生成约需{time}、内存{memory}、磁盘{disk}；首次另需约半分钟编译。",
    ),
    "missing_how": (
        "In the directory where the server was started:",
        "在服务器启动的目录中运行：",
    ),
    "missing_never": ("No table can hold {name}: it is too large.", "{name}太大，无法生成残局库。"),
    "missing_captures": (
        "What captures lead to is known where those tables are here.",
        "吃子之后的局面，若有残局库则已列出。",
    ),
    "build_title": ("Build endgames", "生成残局库"),
    "build_it": ("Build it", "立即生成"),
    "build_cancel": ("Cancel", "取消"),
    "build_look": ("Look again", "刷新"),
    "build_goes": ("How the build goes", "生成进度"),
    "build_done": ("{done} of {total} tables", "{total}个残局库已完成{done}个"),
    "build_now": (", now {names}", "，正在生成{names}"),
    "build_time_so_far": ("; {time} so far", "；已用{time}"),
    "build_cancelled": (
        "The build was cancelled; the tables that were finished are here.",
        "已取消；完成的残局库均已保留。",
    ),
    "build_failed": ("The build has failed:", "生成失败："),
    "build_beyond": (
        "That is more than readers may ask for on this server.",
        "超出本服务器允许的范围。",
    ),
    "starters": (
        "Every position of an endgame is solved once, and known from then on. Choose what to begin "
        "with:",
        "一个残局只需生成一次，此后每个局面都有答案。请选择从哪里开始：",
    ),
    "start_done": (
        "The endgames to begin with are all here.",
        "供开始使用的残局库都已在这里。",
    ),
    "start_small": (
        "A few small endgames of every kind",
        "各类小残局若干",
    ),
    "start_rules": (
        "Rook and pawn against rook: repetition decides a third of it",
        "车兵对车：三分之一由循环规则决定",
    ),
    "start_four": ("All endgames of at most four men", "全部四子以内的残局"),
    "chosen": ("Worth a look", "值得一看"),
    "only_rules_day": (
        "Today: {name}, won only because of the rules",
        "今日一局：{name}，全凭循环规则取胜",
    ),
    "only_rules": ("Won only because of the rules", "全凭循环规则取胜"),
    "only_rules_win": ("Won only because of the rules.", "全凭循环规则取胜。"),
    "only_rules_draw": ("Drawn only because of the rules.", "全凭循环规则成和。"),
    "only_rules_else": ("Where {rules}: {result}", "若{rules}：{result}"),
    "only_rules_more": ("More like this", "更多此类局面"),
    "proof_short_proven": ("proven", "已验证"),
    "proof_short_but_for": ("but for others", "依赖他库"),
    "proof_short_unproven": ("unproven", "未验证"),
    "any_class": ("any outcome", "胜负不限"),
    "any_proof": ("proven or not", "验证不限"),
    "proof": ("Proof", "验证"),
    "proof_proven": ("proven from the rules", "已按规则逐局面验证"),
    "proof_but_for": ("proven from the rules, but for ", "已验证，但依赖未验证的"),
    "proof_unproven": ("not proven here (tbgen verify proves it)", "尚未在此验证"),
    "proof_void": ("; there is a certificate that does not hold", "；现有证书无效"),
    "find_title": ("Find positions", "找局面"),
    "find_tab": ("Search", "找局面"),
    "find_only_win": ("One winning move, 15 plies or more", "唯一胜着，15步以上"),
    "find_only_draw": ("One drawing move", "唯一和着"),
    "find_zugzwang": ("Mutual zugzwang", "互相欠行（谁先走谁吃亏）"),
    "find_by_chase": ("Decided by a perpetual chase", "长捉定胜负"),
    "find_by_check": ("Decided by a perpetual check", "长将定胜负"),
    "find_differs": ("The rules change it", "循环规则改变结果"),
    "find_study": ("Studies: unique move by move", "排局：每步唯一"),
    "find_length": (", unique for {n} plies", "，{n}步唯一"),
    "find_sort": ("sorted by", "排序"),
    "find_plies_up": ("fewest plies first", "步数从少到多"),
    "find_plies_down": ("most plies first", "步数从多到少"),
    "find_order_up": ("lowest order first", "阶从低到高"),
    "find_order_down": ("highest order first", "阶从高到低"),
    "find_length_up": ("shortest solution first", "解法从短到长"),
    "find_length_down": ("longest solution first", "解法从长到短"),
    "find_decided": ("decided at once by", "立即决定于"),
    "find_least": ("at least … plies", "至少几步"),
    "find_most": ("at most … plies", "至多几步"),
    "find_at": ("pieces on squares", "指定位置的棋子"),
    "find_only": ("One move alone keeps the result", "只有一着保持结果"),
    "find_others": ("Others", "换一批"),
    "find_none": (
        "No position of this endgame has such a value.",
        "本残局没有这样的值。",
    ),
    "find_all": (
        "{n} positions: all {candidates} with such a value were looked at.",
        "{n}个局面：具有这类值的{candidates}个已全部检查。",
    ),
    "find_sample": (
        "{n} positions, found in {share} of the {candidates} with such a value: a sample.",
        "在具有这类值的{candidates}个局面中检查了{share}，找到{n}个：仅为抽样。",
    ),
    "any": ("any", "任意"),
    "handbook": ("Handbook of practical endgames", "实用残局手册"),
    "handbook_whole": ("With all diagrams, as one document to print", "全部图例，一份可打印的文件"),
    "handbook_missing": (
        "Diagrams of {n} endgames are still missing: load the page again.",
        "尚缺{n}个残局的图例：请刷新页面。",
    ),
    "handbook_all": ("All chapters", "全部章节"),
    "handbook_defender": ("defender", "防守方"),
    "handbook_won": (
        "the attacker wins more than 98% of the positions with the move",
        "进攻方先走，胜率超过98%",
    ),
    "handbook_open": (
        "the position decides: some are won, some are held",
        "视局面而定，有胜有和",
    ),
    "handbook_drawn": (
        "more than 98% of the positions with the attacker to move are drawn",
        "进攻方先走，和率超过98%",
    ),
    "handbook_without": ("under other rules", "换用其他规则"),
    "handbook_said_won": (
        "With the move, the attacker wins {share} of the positions.",
        "进攻方先走，{share}的局面可胜。",
    ),
    "handbook_said_drawn": (
        "With the attacker to move, {share} of the positions are drawn.",
        "进攻方先走，{share}的局面成和。",
    ),
    "handbook_rules": (
        " Rules of repetition decide {share} of all positions.",
        "全部局面中有{share}由循环规则决定。",
    ),
    "handbook_deep": ("won by repetition, order {n}", "凭循环规则取胜，{n}阶"),
    "handbook_win": ("here the attacker wins", "此局可胜"),
    "handbook_draw": ("here the defender holds", "此局可守和"),
    "handbook_loss": ("here the attacker loses", "此局进攻方反负"),
    "matrix": ("At a glance", "一览"),
    "matrix_note": (
        "Who attacks in rows, who defends in columns; the number is the longest win in plies.",
        "横行是进攻方，竖列是防守方；数字为最长胜局的步数。",
    ),
    "matrix_corner": ("side", "子力"),
}
