"""Lists of rule sets that are written by hand in pages have every rule set."""

from __future__ import annotations

import pytest

from tbgen.indexing.rulesets import Rules
from tests.helpers.paths import DOCS

BY_NAME = (
    "engines.md", "format.md", "repetition.md", "zh/engines.md", "zh/repetition.md",
)  # fmt: skip
"""Pages of docs/ that list the names of all rule sets as code."""


@pytest.mark.parametrize("rules", Rules)
@pytest.mark.parametrize("page", BY_NAME)
def test_pages_name_every_rule_set(page: str, rules: Rules) -> None:
    assert f"`{rules}`" in (DOCS / page).read_text("utf-8"), f"docs/{page} lacks {rules}"


@pytest.mark.parametrize("rules", Rules)
def test_the_engine_page_has_the_names_of_guis(rules: Rules) -> None:
    assert f"`{rules.terms.option}`" in (DOCS / "engine.md").read_text("utf-8"), rules


def test_the_format_page_numbers_every_rule_set() -> None:
    """Readers refuse a file whose number of rules is larger than the last one listed."""
    text = (DOCS / "format.md").read_text("utf-8")
    assert ", ".join(f"{rules.number} {rules}" for rules in Rules) in text
    assert f"rules (above {len(Rules) - 1} is" in text
