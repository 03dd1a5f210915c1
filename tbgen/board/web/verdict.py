"""Outcome of a position and its moves, as parts of a page.

`headline` is the outcome, `move_groups` the moves by outcome with a folded section of orders and
stored values, `referee` the verdict on a repetition.
"""

from __future__ import annotations

from html import escape

from tbgen.answers.as_json import outcome_name
from tbgen.answers.mechanism import Mechanism, Offence
from tbgen.answers.reasons import explain_move, explain_position
from tbgen.board.drawing.diagram import Arrow
from tbgen.board.knowledge.store import Facts, GameEnd, winner_of
from tbgen.board.language.words import explain_judgement, material_name, order_value, result_name
from tbgen.board.web.layout import details, link, page_link, table
from tbgen.board.web.view import View
from tbgen.indexing import Move, Position
from tbgen.play.preference import RootMove
from tbgen.rules.attacks import attacks
from tbgen.tables import Metric, Outcome, RuleSet, Value

MOST_LISTED = 12
"""Maximum number of rows of the table of moves that keep the outcome; other moves are folded."""

MOST_NAMED = 12
"""Maximum number of pieces of an endgame named in words; a larger one is named by letters."""


def short_value(worth: Value | None) -> str:
    """Format a value in a few characters.

    At order 0 it is the winner's number of moves to mate or conversion, but `#` if the next move
    mates or converts, or if the game has ended. At higher orders it is `↻` and the order. A loss
    begins with a minus sign. A draw is `=`, an unknown value `?`.
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
    """Format a number of plies as moves of one side, `19 moves`: half of it, rounded up.

    At order 0 these are the winner's moves, as the winner makes the last ply.
    """
    moves = (plies + 1) // 2
    return view.text("one_move" if moves == 1 else "n_moves", n=moves)


def rules_name(rule_set: RuleSet, view: View) -> str:
    """Return the name of a rule set, with its limit on orders, in the view's language, as text."""
    name = view.text(f"rules_{rule_set.unlimited}")
    if rule_set.orders is None:
        return name
    return view.text("rules_limited", rules=name, n=rule_set.orders)


def headline(facts: Facts, view: View, mechanism: Mechanism | None) -> str:
    """Return outcome, distance, reason, side to move, endgame, rules and metric, as HTML.

    At an order above 0, a note on who is forced to offend replaces the distance. After the end of
    the game, only its result and the endgame are left.
    """
    result, endgame = facts.result, _endgame(view)
    if facts.over is not None:
        end = f"<h1>{escape(end_in_words(facts.over, view))}</h1>"
        return f'<div class="notice over" role="status">{end}</div><p class="turn">{endgame}</p>'
    turn = f'<p class="turn">{side_to_move(view)} · {endgame}</p>'
    if result is None:
        key = "no_verdict" if can_be_built(facts) else "no_verdict_ever"
        return f'<h1><span class="badge unknown">{view.message(key)}</span></h1>{turn}'
    winner = winner_of(facts.position.side, result.outcome)
    css, how, order_note = outcome_name(result.outcome), "", ""
    reason = view.text("draw_why")
    if winner is not None:
        css += f" {winner.name.lower()}-wins"
        reason = explain_position(facts.position, result, mechanism, view.words)
        if result.order:
            how = view.text("by_rules", side=winner.other)
            key = "order_one" if result.order == 1 else "order_many"
            said = view.message(key, n=result.order, side=winner.other)
            order_note = f'<p class="order">{said}</p>'
        else:
            key = "convert_in" if result.metric == Metric.DTC else "mate_in"
            how = view.text(key, n=moves_in_words(result.plies or 0, view))
    metric = ""
    if result.metric is not None:
        rules, to = rules_name(result.rule_set, view), view.text(str(result.metric))
        metric = f'<p class="under">{view.message("metric_note", rules=rules, to=to)}</p>'
    return (
        f'<h1><span class="badge {css}">{escape(result_name(winner, view.language))}</span> '
        f'<span class="how">{escape(how)}</span></h1>{turn}'
        f'<p class="reason">{escape(reason)}</p>{order_note}{metric}'
    )


def can_be_built(facts: Facts) -> bool:
    """Return whether a position's table is missing and can be built."""
    return bool(getattr(facts.missing, "command", ""))


def side_to_move(view: View) -> str:
    """Return the side to move as HTML: a coloured dot and words."""
    side = view.position.side
    lamp = f'<span class="lamp {side.name.lower()}"></span>'
    return lamp + view.message("to_move", side=side)


def _endgame(view: View) -> str:
    """Return the name of the endgame as HTML: words and letters; if large, letters only."""
    material = view.position.material
    name = f"<code>{material.name}</code>"
    if material.men > MOST_NAMED:
        return name
    words = material_name(material, view.language)
    known = page_link(f"/endgames/{material}", view, words)
    return f"{known if material.needs_table else escape(words)} {name}"


def move_groups(facts: Facts, view: View, mechanism: Mechanism | None) -> str:
    """Return all moves in sections by outcome, as HTML; empty after the end of a game.

    Only the section with the outcome of the position (if unknown, of the best move) is open. If its
    moves win or lose, the first `MOST_LISTED` are a table with reasons. All other moves are lists
    with values. Without any known outcome there is one list, without values.
    """
    if facts.over is not None:
        return ""
    if facts.result is None and all(move.outcome is None for move in facts.moves):
        names = "".join(move_link(facts, view, move) for move in facts.moves)
        heading = view.aside(view.text("moves"), len(facts.moves))
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
        name, content = outcome_name(outcome), ""
        heading = view.aside(view.text(f"{name}_moves"), len(moves))
        if outcome == kept and outcome in (Outcome.WIN, Outcome.LOSS):
            head = [view.text(key) for key in ("move", "result", "why")]
            rows = [_row(facts, view, move, mechanism) for move in moves[:MOST_LISTED]]
            content, moves = table(head, rows, "moves"), moves[MOST_LISTED:]
            if moves:
                more = view.text("more_moves", n=len(moves))
                content += details(more, _chips(facts, view, moves))
        else:
            content = _chips(facts, view, moves)
        if outcome == kept and outcome is not None:
            shown = f"<h2>{escape(heading)}</h2>{content}"
            found.append(f'<section class="group {name}">{shown}</section>')
        else:
            found.append(details(heading, content, f"group {name}", is_open=outcome == kept))
    return f'<div id="moves">{"".join(found)}{_technical(facts, view)}</div>'


def _row(facts: Facts, view: View, move: RootMove, mechanism: Mechanism | None) -> list[str]:
    """Return a move's cells as HTML: link, value, reason with tags such as best and forbidden."""
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
    """Return a list of moves with their values as HTML; reasons are tooltips."""
    chips = []
    for move in moves:
        reason = escape(explain_move(facts.result, move, words=view.words))
        badge = value_badge(move.worth) + forbidden(facts, view, move.move)
        chips.append(
            f'<span class="chip" title="{reason}">{move_link(facts, view, move)}{badge}</span>'
        )
    return f'<p class="chips">{"".join(chips)}</p>'


def move_link(facts: Facts, view: View, move: RootMove) -> str:
    """Return a link to the board page after a move."""
    label = view.move_name(facts.position, move.move)
    return link(view.after(move.move).href(), label, "move", f' data-move="{move.move.iccs}"')


def forbidden(facts: Facts, view: View, move: Move) -> str:
    """Return a mark with the referee's reason, as HTML, if a move loses by repetition; else ""."""
    judgement = facts.forbidden.get(move)
    if judgement is None:
        return ""
    reason = escape(explain_judgement(judgement, facts.rules, view.language))
    return f' <strong class="forbidden" title="{reason}">{view.message("forbidden")}</strong>'


def _technical(facts: Facts, view: View) -> str:
    """Return a folded section with order and stored value of the position and of each move."""
    rows = [
        [
            f"<code>{escape(view.move_name(facts.position, move.move))}</code>",
            f"<code>{order_value(move.order, move.value)}</code>",
        ]
        for move in facts.moves
    ]
    own = ""
    if facts.result is not None:
        value = order_value(facts.result.order, facts.result.value)
        own = f'<p><code class="own">{value}</code></p>'
    listed = table([view.text("move"), view.text("value")], rows, "pai")
    content = f"{own}<p>{view.message('pai_note')}</p>{listed}"
    return details(view.text("all_moves"), content, "technical")


def referee(facts: Facts, view: View) -> str:
    """Return the referee's reason for the verdict on a repetition, if there is one, as HTML."""
    judgement = facts.judgement
    if judgement is None or not judgement.conducts:
        return ""
    reason = escape(explain_judgement(judgement, facts.rules, view.language))
    return (
        f'<div class="notice referee" role="status">'
        f"<p><b>{view.pair(view.message('referee'), '')}</b>{reason}</p>"
        f'<p class="under">{view.message("referee_first")}</p></div>'
    )


def end_in_words(over: GameEnd, view: View) -> str:
    """Return the result of a finished game and its reason, as text."""
    result = result_name(over.winner, view.language)
    loser = "" if over.winner is None else over.winner.other
    why = view.text(f"over_{over.why}", side=loser)
    return view.text("game_over", result=result, why=why)


def chase_arrows(position: Position, mechanism: Mechanism | None) -> list[Arrow]:
    """Return arrows to a chase's victim from the chasing pieces that attack it in `position`."""
    if mechanism is None or mechanism.offence != Offence.CHASE or mechanism.victim is None:
        return []
    victim = mechanism.victim.square
    return [
        Arrow(piece.square, victim, "chase")
        for piece in mechanism.by
        if attacks(position.board, piece.square, victim)
    ]
