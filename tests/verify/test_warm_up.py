"""What is compiled before the first proof, by two processes: all that it asks for."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest

from tbgen.compiling import second
from tbgen.indexing.rulesets import Rules
from tbgen.verify import warm_up
from tests.kits.paths import ROOT

LEFT = """
import sys
from numba.core.registry import CPUDispatcher
from tbgen.compiling import second
from tbgen.indexing.rulesets import Rules
from tbgen.tables.names import RuleSet
from tbgen.verify import verify, warm_up
from tests.kits.solutions import solution

second.is_compiled = lambda what: True  # nothing is compiled but here
warm_up.compile_rows()
warm_up.compile_checks()
warm_up.compile_chases()
modules = [module for name, module in sys.modules.items() if name.startswith("tbgen.verify")]
kernels = {k for m in modules for k in vars(m).values() if isinstance(k, CPUDispatcher)}
compiled = {kernel: len(kernel.signatures) for kernel in kernels}
rules = Rules.WXF
for name in sys.argv[1:]:
    supporting = lambda child: solution(child.name, rules)
    assert verify(solution(name, rules), supporting, rule_set=RuleSet(rules), threads=1).ok
print(*sorted(k.__name__ for k in kernels if len(k.signatures) > compiled[k]))
"""


def test_what_is_compiled_leaves_nothing() -> None:
    """Neither a kernel nor other types of its arguments."""
    command = [sys.executable, "-c", LEFT, "KRKN", "KNKP"]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert result.stdout.split() == []


class Aside:
    """In place of the second process."""

    def __init__(self, done: bool) -> None:
        self.done = done

    def wait(self) -> bool:
        return self.done


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("rules", [Rules.CHECK, Rules.WXF])
def test_two_processes_compile_together(
    monkeypatch: pytest.MonkeyPatch, rules: Rules, done: bool
) -> None:
    started, here, noted = [], [], []

    def start(*functions: object) -> Aside:
        started.append(functions)
        return Aside(done)

    monkeypatch.setattr(second, "start_beside", start)
    monkeypatch.setattr(second, "is_compiled", lambda what: what in noted)
    monkeypatch.setattr(second, "note_compiled", noted.append)
    for name in ("rows", "checks", "chases"):
        monkeypatch.setattr(warm_up, f"compile_{name}", partial(here.append, name))
    warm_up.warm_up(rules, warm_up.COMPILERS_BYTES)
    names = ["checks", "chases"] if rules == Rules.WXF else ["checks"]
    assert started == [tuple(getattr(warm_up, f"compile_{name}") for name in names)]
    assert here == ["rows", *([] if done else names)]
    assert warm_up.is_compiled(rules)
    warm_up.warm_up(rules, None)
    assert len(started) == 1


def test_without_memory_for_two_each_kernel_is_compiled_when_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start(*functions: object) -> None:
        raise AssertionError

    monkeypatch.setattr(second, "start_beside", start)
    monkeypatch.setattr(second, "is_compiled", lambda what: False)
    warm_up.warm_up(Rules.WXF, warm_up.COMPILERS_BYTES - 1)
