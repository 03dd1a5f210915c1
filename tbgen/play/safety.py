"""Safety: moves with which a side does not lose by a repetition of its own.

An *idle* move neither checks nor chases. A *streak* is an unbroken run of checks or chases of one
side (`tbgen.play.streaks`). If play goes on for ever, the side with the graver endless streak
loses; check is graver than chase. The *own* side plays by this module, the *rival* is its opponent.

    Stake   node of a graph: a position with the own side to move, the streaks of both sides, and
            the threats of the rival's last move
    Step    edge: a move and its reply, to the next Stake
    arena   the graph of all reachable Stakes; small, because an idle move has no step
    Rank    distance of a Stake from the steps that must recur (`solve`)

A side that draws is safe once it makes an idle move: the table gives the position after it as
drawn, and earlier offences no longer count. If the side cannot force that, it may still be able to
break its streak again and again by another offence, such as a check after chases. If it cannot
force that either, the position is drawn because the rival must offend as gravely for ever. Then the
rival's streak must be broken only finitely often. A side that wins by the rival's offence needs
both: the rival's streak goes on, and its own is less grave or is broken again and again. These are
the four members of `Aim`.

All four are one game on the graph, in which every step is good, neutral or bad. The own side
succeeds if bad steps occur finitely often and good steps infinitely often. Ranks fall with every
move until the next good step, so that a side that plays by them returns to no Stake on the way.
Different Stakes may share a position. Only on the way to an idle move (`Aim.REST`), where streaks
do not matter, no position is repeated at all. That is why it is the first choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from tbgen.indexing import Position
from tbgen.play.preference import RootMove, equally_good, is_direct_win
from tbgen.play.prober import Prober
from tbgen.play.repetition import move_between
from tbgen.play.streaks import (
    KING,
    NO_VICTIMS,
    Offences,
    Threats,
    Victims,
    extended,
    follow,
    is_irreversible,
)
from tbgen.rules import legal_moves
from tbgen.tables import Outcome, ProbeResult

MAX_STAKES = 1000
"""Maximum number of Stakes in an arena, for one aim (about a second)."""


class Kind(Enum):
    """Kind of a step, seen from the own side."""

    NEUTRAL = auto()
    GOOD = auto()
    """Step that must occur infinitely often."""
    BAD = auto()
    """Step that may occur finitely often only. A step with a good and a bad effect is bad."""


@dataclass(frozen=True, slots=True)
class Stake:
    """A position with the own side to move, and the part of its history that the aim depends on.

    `own` and `rival` are the streaks, empty if irrelevant to the aim. `threats` are the threats of
    the rival's last move, which become an offence depending on the reply; None if that move is
    unknown or irrelevant.
    """

    position: Position
    own: Victims
    rival: Victims = NO_VICTIMS
    threats: Threats | None = None


class Step(NamedTuple):
    """A move of the own side with the rival's reply, and the Stake after both."""

    kind: Kind
    next: Stake


class Option(NamedTuple):
    """A move that keeps the value of its position, and its steps, one for every reply.

    Replies after which the own side is safe are left out; a move without steps is safe.
    """

    move: RootMove
    steps: Sequence[Step]


Arena = dict[Stake, Sequence[Option]]


class Rank(NamedTuple):
    """Distance of a Stake: numbers of bad steps at worst, and of steps to a good one."""

    bad: int
    steps: int


SAFE = Rank(0, 0)
"""Rank of a move without steps: the own side is safe after every reply."""


def solve(arena: Arena) -> dict[Stake, Rank]:
    """Return the ranks of the Stakes from which the own side succeeds against all replies.

    Solves a parity game with three priorities by its nested fixpoints: least over the bad steps,
    greatest over the good steps, least over the steps between two good ones. Stakes outside the
    arena and Stakes without options count as failures.
    """
    ranks: dict[Stake, Rank] = {}
    for bad in range(len(arena)):
        region = [stake for stake in arena if stake not in ranks]
        while True:
            reached = _reach_good(arena, region, ranks, bad)
            if len(reached) == len(region):
                break
            region = list(reached)
        if not reached:
            break
        ranks |= reached
    return ranks


def _reach_good(
    arena: Arena, region: Sequence[Stake], settled: dict[Stake, Rank], bad: int
) -> dict[Stake, Rank]:
    """Return the ranks of Stakes that can force a settled Stake, or a good step in `region`.

    `bad` is the number of bad steps in the returned ranks.
    """
    inside = set(region)
    reached: dict[Stake, Rank] = {}

    def serves(step: Step) -> bool:
        return (
            step.next in settled
            or (step.kind == Kind.GOOD and step.next in inside)
            or (step.kind == Kind.NEUTRAL and step.next in reached)
        )

    for steps in range(1, len(region) + 1):
        new = [
            stake
            for stake in region
            if stake not in reached
            and any(all(serves(step) for step in option.steps) for option in arena[stake])
        ]
        if not new:
            break
        reached |= dict.fromkeys(new, Rank(bad, steps))
    return reached


def rank_of(option: Option, ranks: dict[Stake, Rank]) -> Rank | None:
    """Return the rank of an option; None if one of its steps leads to a Stake without rank."""
    worst = SAFE
    for step in option.steps:
        rank = ranks.get(step.next)
        if rank is None:
            return None
        if step.kind == Kind.NEUTRAL:
            rank = Rank(rank.bad, rank.steps + 1)
        else:
            rank = Rank(rank.bad + (step.kind == Kind.BAD), 1)
        worst = max(worst, rank)
    return worst


class Aim(Enum):
    """Goal of the own side."""

    REST = auto()
    """Make an idle move; streaks do not matter."""
    BREAK = auto()
    """Break the own streak, if only by another offence; the rival's streak does not matter."""
    OUTLAST = auto()
    """Keep the rival in an endless streak that is at least as grave as the own one."""
    WIN = auto()
    """Keep the rival in a streak for ever; the own one is less grave, or broken again and again."""

    @property
    def heeds_rival(self) -> bool:
        """Return whether the aim depends on the rival's streak."""
        return self in (Aim.OUTLAST, Aim.WIN)

    def kind(self, own: Victims, breaks: bool, rival: Victims, rival_breaks: bool) -> Kind:
        """Return the kind of a step under this aim: good, neutral or bad.

        Every step is neutral if the aim ignores the rival's streak. Otherwise a step that breaks
        the rival's streak is bad. The kind of other steps depends on which side's streak is the
        graver one, and under `WIN` on `breaks`.

        own, rival : the streaks of both sides after the step
        breaks, rival_breaks : whether the step breaks them
        """
        if not self.heeds_rival:
            return Kind.NEUTRAL
        if rival_breaks:
            return Kind.BAD
        if self == Aim.OUTLAST:
            return Kind.BAD if KING in own and KING not in rival else Kind.GOOD
        is_graver = KING in rival and KING not in own
        return Kind.GOOD if breaks or is_graver else Kind.NEUTRAL


class StreakGame:
    """Graph of moves and replies for an aim, at positions with the value of `root`."""

    def __init__(self, tables: Prober, root: ProbeResult, offences: Offences, aim: Aim) -> None:
        self._tables = tables
        self._root = root
        self._offences = offences
        self._aim = aim

    def stake(self, game: Sequence[Position]) -> Stake:
        """Return the Stake at the end of a game with the own side to move."""
        own = NO_VICTIMS if self._aim == Aim.REST else self._offences.streak(game)
        move = move_between(*game[-2:]) if len(game) > 1 else None
        if not self._aim.heeds_rival or move is None:
            return Stake(game[-1], own)
        threats = self._offences.threats(game[-2], move, game[-1])
        return Stake(game[-1], own, self._offences.streak(game[:-1]), threats)

    def ranked(self, game: Sequence[Position]) -> list[tuple[RootMove, Rank | None]]:
        """Return the moves that keep the value of a game's last position, with their ranks.

        The rank is None if the rival can prevent the aim, or the arena is too large to decide it.
        """
        start = self.stake(game)
        arena, ranks = self.arena(start)
        return [(option.move, rank_of(option, ranks)) for option in arena[start]]

    def options(self, stake: Stake) -> list[Option]:
        """Return the options at a Stake: moves that keep its value, each with its steps."""
        moves = equally_good(*self._tables.probe_with_moves(stake.position))
        return [Option(move, tuple(self._steps(stake, move))) for move in moves]

    def arena(self, start: Stake) -> tuple[Arena, dict[Stake, Rank]]:
        """Return the arena from a Stake on, at most `MAX_STAKES` large, and its ranks.

        If the aim ignores the rival's streak, the arena grows by one move at a time until the start
        has a rank: that rank is then minimal, and falls with the next move.
        """
        arena: Arena = {}
        ranks: dict[Stake, Rank] = {}
        layer = [start]
        while layer and start not in ranks and len(arena) < MAX_STAKES:
            layer = layer[: MAX_STAKES - len(arena)]
            arena |= {stake: self.options(stake) for stake in layer}
            if not self._aim.heeds_rival:
                ranks = solve(arena)
            layer = _open_ends(arena, ranks, start)
        return arena, ranks or solve(arena)

    def _steps(self, stake: Stake, move: RootMove) -> Iterator[Step]:
        """Yield the steps of a move, one for each reply that does not make the side safe."""
        offences, after = self._offences, move.after
        threats = offences.threats(stake.position, move.move, after)
        wins = self._aim == Aim.WIN
        if is_irreversible(stake.position, move.move) or not (threats or wins):
            return
        rival, rival_breaks = NO_VICTIMS, False
        if stake.threats is not None:
            offence = offences.offence(stake.threats, move.move, after)
            rival, rival_breaks = extended(follow(stake.rival, move.move), offence)
        for reply in legal_moves(after):
            now = after.after(*reply)
            offence = offences.offence(threats, reply, now)
            own, breaks = extended(follow(stake.own, reply), offence)
            if is_irreversible(after, reply) or (breaks and not wins) or not self._matters(now):
                continue
            if self._aim == Aim.REST:
                own = NO_VICTIMS
            kind = self._aim.kind(own, breaks, rival, rival_breaks)
            answer = offences.threats(after, reply, now) if self._aim.heeds_rival else None
            yield Step(kind, Stake(now, own, rival, answer))

    def _matters(self, position: Position) -> bool:
        """Return whether a position has the value of `root`, so that streaks still matter.

        Any other position is better for the own side, which is then safe.
        """
        value = self._tables.probe(position)
        if self._aim == Aim.WIN:
            return is_direct_win(value) and value.order == self._root.order
        return value.outcome == Outcome.DRAW


def _open_ends(arena: Arena, ranks: dict[Stake, Rank], start: Stake) -> list[Stake]:
    """Return the Stakes outside the arena by which the arena must be extended.

    They are reached from `start` through Stakes without rank.
    """
    seen = {start: None}
    agenda = [start]
    while agenda:
        stake = agenda.pop()
        if stake in ranks or stake not in arena:
            continue
        for option in arena[stake]:
            new = [step.next for step in option.steps if step.next not in seen]
            seen |= dict.fromkeys(new)
            agenda += new
    return [stake for stake in seen if stake not in arena]
