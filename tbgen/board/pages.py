"""The pages of a position: reading it, playing it, and its line of best play.

    /       every move with order and value, in groups, and why        values shown
    /play   the same board against the table                           values hidden
    /line   best play to the end, the forced loop marked

Every move is a link to the position after it, so the pages work without scripts; pieces on the
board are links too (`from=`), and then the points they can go to.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape

from tbgen.answers.mechanism import Mechanism, mechanism_of
from tbgen.board.diagram import Marks, draw
from tbgen.board.http import HTML, Answer
from tbgen.board.i18n import localise, text
from tbgen.board.layout import details, link, page, table
from tbgen.board.library import Library, Study
from tbgen.board.state import View
from tbgen.board.words import explain_line, explain_move, explain_position
from tbgen.indexing import Move, Side
from tbgen.indexing.squares import square_name
from tbgen.notation import format_move, format_position
from tbgen.play.mainline import Ending
from tbgen.play.preference import RootMove
from tbgen.referee import Verdict
from tbgen.tables import Outcome

_GROUPS = (Outcome.WIN, None, Outcome.DRAW, Outcome.LOSS)
"""Moves by outcome, in the order in which they are listed."""


def reading_page(library: Library, view: View) -> Answer:
    """A position with all that is known of it."""
    study = library.study(view.positions, view.moves)
    mechanism = library.mechanism(study)
    main = (
        f'<div class="left">{_board(study, view)}{_controls(study, view)}</div>'
        f'<div class="right">{_headline(study, view, mechanism)}{_referee(study, view)}'
        f"{_move_groups(study, view, mechanism)}{_game(view)}{_links(view)}{_notes(view)}</div>"
    )
    title = study.position.material.name
    return Answer(page(view, title, main, data=_data(study, view)), HTML)


def playing_page(library: Library, view: View) -> Answer:
    """A game against the table; nothing tells what a move is worth."""
    study = library.study(view.positions, view.moves)
    language = view.language
    over = _game_over(study, view)
    if over:
        task = ""
    elif view.position.side == view.human:
        task = text(language, "hidden")
    else:
        task = text(language, "table_thinks")
    you = text(language, "you_play", side=text(language, view.human.name.lower()))
    main = (
        f'<div class="left">{_board(study, view)}{_controls(study, view)}</div>'
        f'<div class="right"><h1>{study.position.material.name}</h1>'
        f'<p class="turn">{escape(_turn(view))}. {escape(you)}</p>'
        f'{over}<p class="task">{escape(task)}</p>{_referee(study, view)}'
        f"{_plain_moves(study, view)}{_game(view)}{_links(view)}{_notes(view)}</div>"
    )
    data = _data(study, view)
    if study.suggested and not over and view.position.side != view.human:
        data["reply"] = view.after(study.suggested.move).href()
    return Answer(page(view, study.position.material.name, main, data=data), HTML)


def line_page(library: Library, view: View) -> Answer:
    """Best play of both sides; the script plays it on the board."""
    line = library.line(view.position)
    language = view.language
    rows, reached = [], replace(view, mode="read")
    for number, played in enumerate(line.moves):
        move = played.choice.move
        reached = reached.after(move)
        looping = line.loop_start is not None and number >= line.loop_start
        label = format_move(played.position, move, view.notation)
        side = text(language, played.position.side.name.lower())
        loop = f" <i>{escape(text(language, 'loop'))}</i>" if looping else ""
        rows.append(
            f'<li class="{"loop" if looping else ""}" data-move="{move.iccs}">'
            f"{link(reached.href(), label)} <small>{escape(side)}{loop}</small></li>"
        )
    start = "" if line.loop_start is None else str(line.loop_start)
    play = text(language, "show_loop" if line.ending == Ending.LOOP else "autoplay")
    picture = draw(view.position, flip=view.flip, pieces=view.pieces)
    plies = localise(language, f"{len(line.moves)} plies", f"{len(line.moves)}步")
    reason = explain_position(line.start, line.result, language, mechanism_of(line))
    export = reached.href().replace("/?", "/export.pgn?", 1)
    main = (
        f'<div class="left">{picture}<div class="controls">'
        f'<button type="button" class="play-line" data-stop="{escape(text(language, "stop"))}">'
        f"{escape(play)}</button>"
        f"{link(view.href(mode='read'), text(language, 'board'), 'button')}"
        f"{link(export, text(language, 'export'), 'button')}</div></div>"
        f'<div class="right"><h1>{escape(text(language, "best_line"))}: '
        f"{view.position.material.name}</h1>"
        f"<p>{escape(_turn(view))}. {escape(reason)}. {plies}.</p>"
        f'<ol class="line" data-loop="{start}">{"".join(rows)}</ol>'
        f'<p class="end">{escape(text(language, "ends"))}: {escape(explain_line(line, language))}'
        "</p></div>"
    )
    return Answer(page(view, text(language, "best_line"), main), HTML)


# -- the board -------------------------------------------------------------------------------


def _board(study: Study, view: View) -> str:
    """The diagram; what may move is a link, and so is where the chosen piece may go."""
    last = view.moves[-1] if view.moves else None
    links, labels, targets = dict[int, str](), dict[int, str](), list[int]()
    for move in study.moves:
        source, target = move.move
        if source == view.chosen:
            links[target] = view.after(move.move).href()
            labels[target] = square_name(target)
            targets.append(target)
        elif source not in targets:
            links.setdefault(source, view.href(chosen=source))
    if view.chosen is not None:
        links[view.chosen] = view.href(chosen=None)
    marks = Marks(last, links, labels, view.chosen, targets)
    return draw(study.position, flip=view.flip, pieces=view.pieces, marks=marks)


def _controls(study: Study, view: View) -> str:
    """What can be done with the position, as links that look like buttons."""
    language, playing = view.language, view.mode == "play"
    suggested = study.suggested
    found = []
    if suggested is not None:
        key = "suggested"
        if playing and view.position.side != view.human:
            key = "table_move"
        if playing and view.position.side == view.human:
            name = format_move(study.position, suggested.move, view.notation)
            found.append(details(text(language, "hint"), f"<b>{escape(name)}</b>", "hint button"))
        else:
            href = view.after(suggested.move).href()
            found.append(link(href, text(language, key), "button suggested"))
    if view.moves:
        found.append(link(_back(view), text(language, "take_back"), "button back"))
        found.append(
            link(view.back(len(view.moves)).href(), text(language, "start_over"), "button")
        )
    found.append(link(view.href(flip=not view.flip), text(language, "flip"), "button flip"))
    other_mode = "read" if playing else "play"
    human = view.human if playing else view.position.side
    href = view.href(mode=other_mode, human=human, chosen=None)
    found.append(link(href, text(language, other_mode), "button mode"))
    if playing:
        other = view.href(human=view.human.other, chosen=None)
        found.append(link(other, text(language, "switch_sides"), "button"))
    elif study.result is not None and study.result.outcome != Outcome.DRAW and study.moves:
        stop = f' data-stop="{escape(text(language, "stop"))}" hidden'
        found.append(
            f'<button type="button" class="autoplay"{stop}>'
            f"{escape(text(language, 'autoplay'))}</button>"
        )
        key = "show_loop" if study.result.order else "best_line"
        href = view.href(mode="line", chosen=None)
        found.append(link(href, text(language, key), "button"))
    return f'<div class="controls">{"".join(found)}</div>'


def _back(view: View) -> str:
    """Where taking back leads: in the playing mode to the reader's own turn."""
    own_turn = view.mode != "play" or view.position.side != view.human
    return view.back(1 if own_turn or len(view.moves) < 2 else 2).href()


def _data(study: Study, view: View) -> dict[str, str]:
    """What the script needs to know: where keys lead, and where every move does."""
    data = {
        "mode": view.mode,
        "moves": " ".join(
            f"{move.move.iccs}={view.after(move.move).href()}" for move in study.moves
        ),
        "last": view.moves[-1].iccs if view.moves else "",
        "failed": text(view.language, "failed"),
        "flip": view.href(flip=not view.flip),
    }
    if view.moves:
        data["back"] = _back(view)
    if study.suggested and (view.mode == "read" or view.position.side != view.human):
        data["suggested"] = view.after(study.suggested.move).href()
    return data


# -- the moves -------------------------------------------------------------------------------


def order_value(order: int | None, value: int | None) -> str:
    """Pai's `oo-vvv`; dashes where it is not known."""
    return "--" if order is None or value is None else f"{order:02}-{value:03}"


def _headline(study: Study, view: View, mechanism: Mechanism | None) -> str:
    """Side to move, outcome, order-value, and why."""
    language, result = view.language, study.result
    turn = escape(_turn(view))
    heading = f"<h1>{study.position.material.name}</h1>"
    if result is None:
        what = escape(text(language, "missing"))
        hint = escape(getattr(study.missing, "command", "") or str(study.missing))
        return (
            f'{heading}<p class="turn">{turn}</p><p class="notice">{what}. <code>{hint}</code></p>'
        )
    outcome = result.outcome.name.lower()
    reason = explain_position(study.position, result, language, mechanism)
    rules = text(language, f"rules_{result.rule_set.unlimited if result.rules else 'none'}")
    metric = f", {text(language, 'metric')} {text(language, str(result.metric))}"
    return (
        f'{heading}<p class="turn">{turn}: '
        f'<span class="badge {outcome}">{escape(text(language, outcome))}</span> '
        f'<code title="{escape(text(language, "value"))}">'
        f"{order_value(result.order, result.value)}</code></p>"
        f'<p class="reason">{escape(reason)}</p>'
        f'<p class="under">{escape(text(language, "rules"))}: {escape(rules)}'
        f"{escape(metric) if result.metric else ''}</p>"
    )


def _move_groups(study: Study, view: View, mechanism: Mechanism | None) -> str:
    """All moves, in groups by outcome, best first."""
    language = view.language
    if not study.moves:
        side = text(language, study.position.side.name.lower())
        return f'<p class="notice">{escape(text(language, "no_moves", side=side))}</p>'
    found = []
    for outcome in _GROUPS:
        moves = [move for move in study.moves if move.outcome == outcome]
        if not moves:
            continue
        name = "unknown" if outcome is None else outcome.name.lower()
        heading = f"{text(language, f'{name}_moves')} ({len(moves)})"
        head = [text(language, key) for key in ("move", "value", "why")]
        rows = [_move_row(study, view, move, mechanism) for move in moves]
        found.append(
            f'<section class="group {name}"><h2>{escape(heading)}</h2>'
            f"{table(head, rows, 'moves')}</section>"
        )
    return "".join(found)


def _move_row(study: Study, view: View, move: RootMove, mechanism: Mechanism | None) -> list[str]:
    """A move: link, `oo-vvv` with `*` best, `c` capture, `+` check, and why."""
    language = view.language
    label = format_move(study.position, move.move, view.notation)
    marks = "".join(
        f'<abbr title="{escape(text(language, key))}">{sign}</abbr>'
        for sign, key, on in (
            ("*", "best", move.best), ("c", "capture", move.capture), ("+", "check", move.check)
        )
        if on
    )  # fmt: skip
    return [
        link(view.after(move.move).href(), label, "move"),
        f"<code>{order_value(move.order, move.value)}</code> {marks}",
        escape(explain_move(study.result, move, language, mechanism))
        + _forbidden(study, view, move.move),
    ]


def _plain_moves(study: Study, view: View) -> str:
    """The moves in the playing mode, by name."""
    if view.position.side != view.human or not study.moves:
        return ""
    moves = sorted(study.moves, key=lambda move: move.move.iccs)
    links = [
        link(view.after(move.move).href(),
             format_move(study.position, move.move, view.notation), "move")
        + _forbidden(study, view, move.move)
        for move in moves
    ]  # fmt: skip
    heading = f"{text(view.language, 'moves')} ({len(moves)})"
    warnings = "".join(
        f'<p class="notice referee"><b>{escape(text(view.language, "referee"))}:</b> '
        f"{escape(format_move(study.position, move, view.notation))}: "
        f'<span lang="en">{escape(reason)}</span></p>'
        for move, reason in (study.forbidden or {}).items()
    )
    listed = f'<p class="plain-moves">{" ".join(links)}</p>'
    return f"<h2>{escape(heading)}</h2>{warnings}{listed}"


def _forbidden(study: Study, view: View, move: Move) -> str:
    """What the referee says of a move that loses by repetition."""
    if not study.forbidden or move not in study.forbidden:
        return ""
    reason = escape(study.forbidden[move])
    label = escape(text(view.language, "forbidden"))
    return f' <strong class="forbidden" title="{reason}">{label}</strong>'


# -- the game --------------------------------------------------------------------------------


def _turn(view: View) -> str:
    """`Red to move`."""
    return text(view.language, "to_move", side=text(view.language, view.position.side.name.lower()))


def _referee(study: Study, view: View) -> str:
    """The verdict on a repetition; its reason is the referee's own, in English."""
    judgement = study.judgement
    if judgement is None or judgement.verdict == Verdict.UNDECIDED:
        return ""
    language = view.language
    return (
        f'<p class="notice referee" role="status"><b>{escape(text(language, "referee"))}:</b> '
        f"{escape(text(language, f'verdict_{judgement.verdict.text}'))} "
        f'<span lang="en">{escape(judgement.reason)}</span></p>'
    )


def _game_over(study: Study, view: View) -> str:
    """Who has won, if there is no move left or a repetition has decided the game."""
    language = view.language
    winner = None
    if not study.moves:
        winner = study.position.side.other
    elif study.judgement and study.judgement.verdict in (Verdict.RED_WINS, Verdict.BLACK_WINS):
        winner = Side.RED if study.judgement.verdict == Verdict.RED_WINS else Side.BLACK
    if winner is None:
        return ""
    side = text(language, winner.name.lower())
    return f'<p class="notice">{escape(text(language, "game_over", side=side))}</p>'


def _game(view: View) -> str:
    """The moves played, each a link to the position after it."""
    if not view.moves:
        return ""
    links = []
    for number, (position, move) in enumerate(zip(view.positions, view.moves, strict=False), 1):
        reached = view.back(len(view.moves) - number)
        links.append(link(reached.href(), format_move(position, move, view.notation)))
    heading = f"{text(view.language, 'game')} ({len(links)})"
    return f'<h2>{escape(heading)}</h2><p class="game">{" ".join(links)}</p>'


def _links(view: View) -> str:
    """The position and the line to take away."""
    language = view.language
    pai = format_position(view.position, "pai", Side.BLACK if view.flip else Side.RED)
    export = view.href(mode="read", chosen=None).replace("/?", "/export.pgn?", 1)
    picture = view.href(mode="read", chosen=None).replace("/?", "/v1/render.svg?", 1)
    single = view.at(view.position).href()
    return (
        f'<p class="links">{link(single, text(language, "permalink"))} '
        f"{link(export, text(language, 'export'))} {link(picture, 'SVG')}</p>"
        f'<p class="codes"><code>{escape(view.position.fen)}</code><br>'
        f"<code>{escape(pai)}</code></p>"
    )


def _notes(view: View) -> str:
    """What the signs mean, and the keys."""
    keys = ("keys",) if view.mode == "play" else ("values_note", "keys")
    content = "".join(f"<p>{escape(text(view.language, key))}</p>" for key in keys)
    return details(text(view.language, "notes"), content, "notes")
