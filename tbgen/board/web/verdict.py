"""Outcome of a position and its moves, as parts of a page.

Orders and values of all moves are in a section that is folded at first.
"""

from __future__ import annotations

from html import escape

from tbgen.answers.as_json import outcome_name
from tbgen.answers.mechanism import Mechanism, Offence
from tbgen.answers.reasons import explain_move, explain_position
from tbgen.board.drawing.diagram import Arrow
from tbgen.board.knowledge.store import Facts, GameEnd, winner_of
from tbgen.board.language.words import explain_judgement, material_name, order_value, result_name
from tbgen.board.web.layout import details, link, table, with_settings
from tbgen.board.web.view import View
from tbgen.indexing import Move, Position, Side
from tbgen.play.preference import RootMove
from tbgen.rules.attacks import attacks
from tbgen.tables import Metric, Outcome, ProbeResult, RuleSet, Value

MOST_LISTED = 12
"""Most moves of the best outcome that are listed; further ones are folded."""


MOST_NAMED = 12
"""Most pieces of an endgame that is named in words; a larger one is named by letters."""


def short_value(worth: Value | None) -> str:
    """Format a value in a few characters.

    A win or loss of order 0 is the number of moves to its end. It is `#` if the next move mates or
    converts, or if the game has ended. A higher order is `↻` and the order. A loss begins with a
    minus sign. A draw is `=`, an unknown value `?`.
    """
    if worth is None:
        return "?"
    if worth.outcome == Outcome.DRAW:
        return "="
    sign = "" if worth.outcome == Outcome.WIN else "−"
    if worth.order:
        return f"{sign}↻{worth.order}"
    mate = worth.plies <= (worth.outcome == Outcome.WIN)
    return f"{sign}{'#' if mate else (worth.plies + 1) // 2}"


def value_badge(worth: Value | None) -> str:
    """Return a value in the colour of its outcome, as HTML."""
    outcome = outcome_name(None if worth is None else worth.outcome)
    return f'<b class="num {outcome}">{escape(short_value(worth))}</b>'


def moves_in_words(plies: int, view: View) -> str:
    """Format plies as moves of the winner: `19 moves`."""
    moves = (plies + 1) // 2
    return view.text("one_move" if moves == 1 else "n_moves", n=moves)


def rules_name(rule_set: RuleSet, view: View) -> str:
    """Return the text that describes how a rule set judges repetition."""
    return view.text(f"rules_{rule_set.unlimited if rule_set.rules else 'none'}")


def headline(facts: Facts, view: View, mechanism: Mechanism | None) -> str:
    """Return outcome, distance, reason, side to move and endgame of a position.

    After the end of a game: its result and reason in place of the position's value.
    """
    result = facts.result
    if facts.over is not None:
        end = f"<h1>{escape(end_in_words(facts.over, view))}</h1>"
        endgame = _endgame(view)
        return f'<div class="notice over" role="status">{end}</div><p class="turn">{endgame}</p>'
    if result is None:
        key = "no_verdict" if can_be_built(facts) else "no_verdict_ever"
        main = f'<h1><span class="badge unknown">{view.message(key)}</span></h1>'
        return f"{main}{_turn_and_endgame(view)}"
    outcome = result.outcome
    winner = winner_of(facts.position.side, outcome)
    badge = result_name(winner, view.language)
    how = _how(result, winner.other, view) if winner is not None else ""
    reason = explain_position(facts.position, result, mechanism, view.words)
    if outcome == Outcome.DRAW:
        reason = view.text("draw_why")
    metric = ""
    if result.metric is not None:
        rules, to = rules_name(result.rule_set, view), view.text(str(result.metric))
        note = view.text("metric_note", rules=rules, to=to)
        metric = f'<p class="under">{escape(note)}</p>'
    red = "" if winner is None else f" {winner.name.lower()}-wins"
    order_note = ""
    if winner is not None and result.order:
        key = "order_one" if result.order == 1 else "order_many"
        said = view.message(key, n=result.order, side=winner.other)
        order_note = f'<p class="order">{said}</p>'
    return (
        f'<h1><span class="badge {outcome_name(outcome)}{red}">{escape(badge)}</span> '
        f'<span class="how">{escape(how)}</span></h1>{_turn_and_endgame(view)}'
        f'<p class="reason">{escape(reason)}</p>{order_note}'
        f"{metric}"
    )


def can_be_built(facts: Facts) -> bool:
    """Return whether the missing table of a position can be built."""
    return bool(getattr(facts.missing, "command", ""))


def _how(result: ProbeResult, loser: Side, view: View) -> str:
    """Return the end of a decided position in words: `mate in 19 moves`, or a loss by the rules."""
    if result.order:
        return view.text("by_rules", side=loser)
    key = "convert_in" if result.metric == Metric.DTC else "mate_in"
    return view.text(key, n=moves_in_words(result.plies or 0, view))


def _turn_and_endgame(view: View) -> str:
    """Return the side to move, and the endgame with a link to its figures."""
    side = view.position.side.name.lower()
    turn = view.message("to_move", side=view.position.side)
    return f'<p class="turn"><span class="lamp {side}"></span>{turn} · {_endgame(view)}</p>'


def _endgame(view: View) -> str:
    """Return the name of the endgame with a link to its figures."""
    material = view.position.material
    name = f"<code>{material.name}</code>"
    if material.men <= MOST_NAMED:
        words = material_name(material, view.language)
        href = with_settings(f"/endgames/{material}", view)
        name = f"{link(href, words) if material.needs_table else escape(words)} {name}"
    return name


# -- the moves -------------------------------------------------------------------------------


def move_groups(facts: Facts, view: View, mechanism: Mechanism | None) -> str:
    """Return all moves in sections by outcome; those that give the outcome away are folded.

    Empty after the end of a game.

    Winning and losing moves that keep the outcome are a table with reasons; other moves are a list
    with values.
    """
    if facts.over is not None:
        return ""
    if facts.result is None and all(move.outcome is None for move in facts.moves):
        names = "".join(move_link(facts, view, move) for move in facts.moves)
        heading = f"{view.text('moves')} ({len(facts.moves)})"
        return (
            f'<div id="moves"><section class="group"><h2>{escape(heading)}</h2>'
            f'<p class="chips">{names}</p></section></div>'
        )
    found = []
    kept = facts.result.outcome if facts.result is not None else facts.moves[0].outcome
    for outcome in (Outcome.WIN, Outcome.DRAW, None, Outcome.LOSS):
        moves = [move for move in facts.moves if move.outcome == outcome]
        if not moves:
            continue
        name = outcome_name(outcome)
        heading = f"{view.text(f'{name}_moves')} ({len(moves)})"
        if outcome == kept and outcome is not None:
            content = _listed(facts, view, moves, mechanism)
            found.append(
                f'<section class="group {name}"><h2>{escape(heading)}</h2>{content}</section>'
            )
        else:
            content = _chips(facts, view, moves)
            found.append(details(heading, content, f"group {name}", is_open=outcome == kept))
    return f'<div id="moves">{"".join(found)}{_technical(facts, view)}</div>'


def _listed(
    facts: Facts, view: View, moves: list[RootMove], mechanism: Mechanism | None
) -> str:  # fmt: skip
    """Return the moves that keep the outcome, as HTML.

    The first `MOST_LISTED` moves are a table with reasons, further ones a folded list. Drawing
    moves are a list without a table.
    """
    if moves[0].outcome == Outcome.DRAW:
        return _chips(facts, view, moves)
    head = [view.text(key) for key in ("move", "result", "why")]
    rows = [_row(facts, view, move, mechanism) for move in moves[:MOST_LISTED]]
    rest = ""
    if len(moves) > MOST_LISTED:
        more = view.text("more_moves", n=len(moves) - MOST_LISTED)
        rest = details(more, _chips(facts, view, moves[MOST_LISTED:]))
    return table(head, rows, "moves") + rest


def _row(facts: Facts, view: View, move: RootMove, mechanism: Mechanism | None) -> list[str]:
    """Return the cells of a move: link, value, reason with the tags best, capture and check."""
    refused = forbidden(facts, view, move.move)
    signs = (
        ("best", move.best and not refused), ("capture", move.capture), ("check", move.check),
    )  # fmt: skip
    tags = "".join(
        f' <small class="tag {key}">{view.message(key)}</small>' for key, on in signs if on
    )
    return [
        move_link(facts, view, move),
        value_badge(move.worth),
        escape(explain_move(facts.result, move, mechanism, view.words)) + tags + refused,
    ]


def _chips(facts: Facts, view: View, moves: list[RootMove]) -> str:
    """Return moves with their values, and the reasons as tooltips."""
    chips = []
    for move in moves:
        reason = escape(explain_move(facts.result, move, words=view.words))
        badge = value_badge(move.worth) + forbidden(facts, view, move.move)
        chips.append(
            f'<span class="chip" title="{reason}">{move_link(facts, view, move)}{badge}</span>'
        )
    return f'<p class="chips">{"".join(chips)}</p>'


def move_link(facts: Facts, view: View, move: RootMove) -> str:
    """Return a link to the position after a move."""
    label = view.move_name(facts.position, move.move)
    return link(view.after(move.move).href(), label, "move", f' data-move="{move.move.iccs}"')


def forbidden(facts: Facts, view: View, move: Move) -> str:
    """Return a mark with the referee's reason if a move loses by repetition; else nothing."""
    if not facts.forbidden or move not in facts.forbidden:
        return ""
    judgement = facts.forbidden[move]
    reason = escape(explain_judgement(judgement, facts.rules, view.language))
    label = view.message("forbidden")
    return f' <strong class="forbidden" title="{reason}">{label}</strong>'


def _technical(facts: Facts, view: View) -> str:
    """Return a folded section of a page that lists order and value of every move."""
    rows = [
        [
            f"<code>{escape(view.move_name(facts.position, move.move))}</code>",
            f"<code>{order_value(move.order, move.value)}</code>",
        ]
        for move in facts.moves
    ]
    own = ""
    if facts.result is not None:
        own = (
            f'<p><code class="own">{order_value(facts.result.order, facts.result.value)}</code></p>'
        )
    note = f"<p>{view.message('pai_note')}</p>"
    head = [view.text("move"), view.text("value")]
    content = own + note + table(head, rows, "pai")
    return details(view.text("all_moves"), content, "technical")


# -- the game --------------------------------------------------------------------------------


def referee(facts: Facts, view: View) -> str:
    """Return the referee's verdict on the repetition in a game, with its reason.

    Empty if no repetition was judged.
    """
    judgement = facts.judgement
    if judgement is None or not judgement.conducts:
        return ""
    reason = escape(explain_judgement(judgement, facts.rules, view.language))
    name = escape(view.text("referee") + view.text("colon"))
    note = view.message("referee_first")
    return (
        f'<div class="notice referee" role="status"><p><b>{name}</b>{reason}</p>'
        f'<p class="under">{note}</p></div>'
    )


def end_in_words(over: GameEnd, view: View) -> str:
    """Return the winner of a finished game, and the reason."""
    result = result_name(over.winner, view.language)
    loser = "" if over.winner is None else over.winner.other
    why = view.text(f"over_{over.why}", side=loser)
    return view.text("game_over", result=result, why=why)


# -- arrows ----------------------------------------------------------------------------------


def chase_arrows(position: Position, mechanism: Mechanism | None) -> list[Arrow]:
    """Return arrows from chasers to the victim, if they attack it now."""
    if mechanism is None or mechanism.offence != Offence.CHASE or mechanism.victim is None:
        return []
    victim = mechanism.victim.square
    return [
        Arrow(piece.square, victim, "chase")
        for piece in mechanism.by
        if attacks(position.board, piece.square, victim)
    ]
