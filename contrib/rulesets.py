"""Write the rule sets of the C reader and its JavaScript, from `indexing/rulesets.py`.

    python contrib/rulesets.py

Rewrites the lines between `begin of rule sets` and `end of rule sets` in `FILES`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from tbgen.indexing import rulesets
from tbgen.tables import Rules, RuleSet

HERE = Path(__file__).parent
FLAGS = ("PAWNS_AT_HOME", "NEW_BY_VICTIM", "EVEN_EXCHANGES")
"""Properties that the reader needs; replies and whole loops matter only to referees."""

_BLOCK = re.compile(r"(begin of rule sets[^\n]*\*/\n).*?( */\* end of rule sets)", re.DOTALL)


def rule_sets() -> list[RuleSet]:
    """List the rule sets in the order of their numbers in C, from 0.

    The numbers are stable, as `Rules` only grows.
    """
    found = []
    for rules in Rules:
        found.append(RuleSet(rules))
        if rules.leaves_minor_chases_open:
            found.append(RuleSet(rules, minor_chases=False))
    return found


def constant(rule_set: RuleSet) -> str:
    """Return the name of a rule set in C, such as `XQ_RULES_WXF`."""
    name = str(rule_set).replace("-nominor", "-no-minor")
    return f"XQ_RULES_{name.upper().replace('-', '_')}"


_SYNONYMS = """};

/* Other names of a set. */
static const struct {
    const char *name;
    xq_rules rules;
} SYNONYMS[] = {
"""


def rows() -> str:
    """Return the generated lines of xqprobe.c: the rows of RULES and of SYNONYMS."""
    lines = []
    for each in rule_sets():
        assert each.rules is not None
        options = "MINOR_CHASES" if each.options else "0"
        word = each.chase_rules if each.rules.judges_chases else 0
        offences = f"{{{int(each.rules.judges_checks)}, {word:#x}}}"
        lines.append(f'    {{"{each}", {each.rules.number}, {options}, {offences}}},\n')
    lines.append(_SYNONYMS)
    for name, rules in rulesets.SYNONYMS.items():
        lines.append(f'    {{"{name}", {constant(RuleSet(rules))}}},\n')
    return "".join(lines)


def bits() -> str:
    """Return the generated lines of xqinternal.h: the bits of a word of chase rules."""
    lines = [
        "    /* the first bits of kinds that chase and are chased, and of pairs of kinds that\n"
        "     * chase in spite of protection (points 1, 2 and 4a) */\n"
    ]
    lines += [
        f"    {name} = {getattr(rulesets, name)},\n" for name in ("CHASERS", "CHASED", "PROTECTED")
    ]
    lines.append("    /* properties that a set has or has not (points 2, 5 and 6) */\n")
    lines += [f"    {name} = {getattr(rulesets, name):#x},\n" for name in FLAGS]
    return "".join(lines)


def constants() -> str:
    """Return the generated lines of xqprobe.h: the constants of xq_rules and their meanings."""
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
    """Return the generated lines of xqprobe.d.ts: a union of the names of all rule sets."""
    names = [f'  | "{each}"\n' for each in rule_sets()]
    return f"{''.join(names)[:-1]};\n"


FILES: dict[Path, Callable[[], str]] = {
    HERE / "xqinternal.h": bits,
    HERE / "xqprobe.c": rows,
    HERE / "xqprobe.h": constants,
    HERE / "js" / "xqprobe.d.ts": union,
}


def expected_text(path: Path) -> str:
    """Return the text of a file, with the lines of the rule sets generated anew."""
    made = FILES[path]()
    return _BLOCK.sub(lambda match: match[1] + made + match[2], path.read_text("utf-8"), count=1)


def main() -> None:
    """Rewrite the generated lines of all `FILES`."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for path in FILES:
        path.write_text(expected_text(path), encoding="utf-8")


if __name__ == "__main__":
    main()
