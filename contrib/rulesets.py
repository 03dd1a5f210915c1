"""The rule sets of the C reader and its JavaScript, made of `indexing/rulesets.py`.

    python contrib/rulesets.py

Rewrites the lines between `begin of rule sets` and `end of rule sets` in `FILES`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tbgen.indexing import rulesets  # noqa: E402
from tbgen.tables import Rules, RuleSet  # noqa: E402

BITS = {
    rulesets.MINOR_CHASES: "UNEQUAL_MINOR",
    rulesets.NEW_BY_VICTIM: "NEW_BY_VICTIM",
    rulesets.CHECK_VOIDS: None,  # of a whole loop, and the reader judges single moves
    rulesets.PAWNS_AT_HOME: "PAWNS_AT_HOME",
    rulesets.UNPROTECTED_ONLY: None,  # without it UNEQUAL is set
}
"""The bits of xqinternal.h, by those of `CHASE_RULES`: every one has an entry."""

_BLOCK = re.compile(r"(begin of rule sets[^\n]*\*/\n).*?( */\* end of rule sets)", re.DOTALL)


def rule_sets() -> list[RuleSet]:
    """The rule sets by their number in C, which programs have compiled in: `Rules` grows behind."""
    found = []
    for rules in Rules:
        found.append(RuleSet(rules))
        if rules.leaves_minor_chases_open:
            found.append(RuleSet(rules, minor_chases=False))
    return found


def constant(rule_set: RuleSet) -> str:
    """The name of a rule set in C."""
    name = str(rule_set).replace("-nominor", "-no-minor")
    return f"XQ_RULES_{name.upper().replace('-', '_')}"


def offences(rule_set: RuleSet) -> str:
    """The word of a rule set in C."""
    rules, word, found = rule_set.rules, rule_set.chase_rules, []
    assert rules is not None
    if rules.judges_checks:
        found.append("CHECKS_LOSE")
    if rules.judges_chases:
        found.append("CHASES_LOSE")
        if not word & rulesets.UNPROTECTED_ONLY:
            found.append("UNEQUAL")
        names = (BITS[bit] for bit in rulesets.CHASE_RULES if word & bit)
        found += [name for name in names if name is not None]
    return " | ".join(found) or "0"


def rows() -> str:
    """The rows of RULES in xqprobe.c."""
    lines = []
    for each in rule_sets():
        assert each.rules is not None
        options = "MINOR_CHASES" if each.options else "0"
        head = f'    {{"{each}", {each.rules.number}, {options},'
        word = offences(each)
        space = " " if len(head) + len(word) < 96 else "\n     "
        lines.append(f"{head}{space}{word}}},\n")
    return "".join(lines)


def constants() -> str:
    """The constants of xq_rules in xqprobe.h, each with its meaning."""
    lines, sets = [], rule_sets()
    for number, each in enumerate(sets):
        assert each.rules is not None
        meaning = each.rules.meaning
        if not each.minor_chases:
            meaning = "the same, but no advisor or elephant chases a protected piece"
        comma = "," if number + 1 < len(sets) else ""
        lines.append(f"    /* {meaning} */\n    {constant(each)} = {number}{comma}\n")
    return "".join(lines)


def union() -> str:
    """The type of names in xqprobe.d.ts."""
    names = [f'  | "{each}"\n' for each in rule_sets()]
    return f"{''.join(names)[:-1]};\n"


FILES: dict[Path, Callable[[], str]] = {
    HERE / "xqprobe.c": rows,
    HERE / "xqprobe.h": constants,
    HERE / "js" / "xqprobe.d.ts": union,
}


def current(path: Path) -> str:
    """The text of a file as it should be."""
    made = FILES[path]()
    return _BLOCK.sub(lambda match: match[1] + made + match[2], path.read_text("utf-8"), count=1)


def main() -> None:
    """Write all files anew."""
    for path in FILES:
        path.write_text(current(path), encoding="utf-8")


if __name__ == "__main__":
    main()
