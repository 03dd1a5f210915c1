"""HTTP API: the answers of the command line, as JSON, CSV, PGN and other text, and pictures.

`openapi` lists the addresses. `fen` and `pos` take any notation of positions, with `_` or `+` for
blanks. Moves are in ICCS; the field `text`, if a move has it, is the move in `notation`. `lang` is
the language of reasons, and determines the default of `notation`.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from tbgen.answers import failures
from tbgen.answers.as_json import line_answer, move_answer, outcome_name, position_answer
from tbgen.answers.mechanism import Mechanism
from tbgen.answers.schema import POSITION
from tbgen.board.drawing import bitmap
from tbgen.board.drawing.animation import animate
from tbgen.board.knowledge.builds import closure_bound
from tbgen.board.knowledge.games import game_text
from tbgen.board.knowledge.search import MOST_SHOWN, SHOWN, search
from tbgen.board.knowledge.store import MAX_LINE, Facts, TableStore
from tbgen.board.language.error_messages import translate_error
from tbgen.board.language.words import explain_judgement
from tbgen.board.web.embed import frames_of_view, picture
from tbgen.board.web.endgames import MAX_NODES
from tbgen.board.web.http import (
    CSV,
    GIF,
    PNG,
    SVG,
    TEXT,
    Answer,
    EndpointRunner,
    RequestError,
    failure,
)
from tbgen.board.web.schemas import ENTRY
from tbgen.board.web.search_page import fields_of, require_clear_colours
from tbgen.board.web.view import View, number_of, position_text, read_view
from tbgen.finding.query import LARGEST_NUMBER, read_query
from tbgen.indexing import InputError, Material
from tbgen.indexing.position import LETTERS_BY_CODE, START_FEN
from tbgen.indexing.squares import piece_code
from tbgen.notation import parse_position, read_material
from tbgen.referee import Judgement, Rules
from tbgen.rules import in_check
from tbgen.tables import TablebaseError, TableName

DEFAULT_PLIES = 400
"""Default maximum number of plies of a line of best play."""

FORMATS = ("json", "csv", "pgn")
"""Output formats for the positions that a search finds."""

PNG_WIDTH = 640
"""Default width of a PNG in pixels."""

GIF_WIDTH = 480
"""Default width of a GIF in pixels; smaller than a PNG, as a GIF holds many pictures."""

MIN_WIDTH, MAX_WIDTH, MAX_GIF_WIDTH = 64, 2000, 800
"""Limits of a picture's width in pixels: minimum, maximum, and maximum of a GIF."""


class Api:
    """Endpoints for programs; they raise the errors that `http.failure` turns into answers."""

    def __init__(self, store: TableStore) -> None:
        self._store = store

    # -- positions ---------------------------------------------------------------------------

    def probe(self, request: Request) -> Answer:
        """Return value and moves of a position, or of a game's last position (`board_answer`).

        The deciding offence (`mechanism`) is searched for only with `explain=1`. Without a table
        the answer has status 404, null for unknown values, and also `error` and `hint`.
        """
        view, store = _view(request), self._store
        game = bool(view.moves)
        facts = store.probe_game(view.positions, view.moves) if game else store.probe(view.start)
        explain = request.query_params.get("explain") == "1"
        mechanism = store.mechanism(facts) if explain else None
        answer = board_answer(facts, view, mechanism)
        if facts.missing is None:
            return Answer(answer)
        described = failures.expected(facts.missing)
        error, hint = translate_error(described.message, described.hint, view.language)
        return Answer(answer | {"error": error, "hint": hint}, status=404)

    def mainline(self, request: Request) -> Answer:
        """Return best play of both sides from a position, at most `plies` plies (a parameter)."""
        view = _view(request)
        plies = _number(request, "plies", DEFAULT_PLIES, (1, MAX_LINE))
        line = self._store.line(view.position, plies)
        answer = line_answer(line, words=view.words)
        for entry, played in zip(answer["moves"], line.moves, strict=True):
            entry["text"] = view.move_name(played.position, played.choice.move)
        return Answer(answer)

    def judge(self, request: Request) -> Answer:
        """Return the referee's verdict on a game, under the rules of the tables."""
        view, store = _view(request), self._store
        judgement = store.judge(view.start, view.moves)
        return Answer(judgement_answer(judgement, store.rules, view.language))

    def render(self, request: Request) -> Answer:
        """Return a position as SVG."""
        return Answer(picture(_view(request)), SVG)

    def render_png(self, request: Request) -> Answer:
        """Return a position as PNG; raises `InputError` without resvg."""
        view = _view(request)
        width = _number(request, "width", PNG_WIDTH, (MIN_WIDTH, MAX_WIDTH))
        return Answer(bitmap.png(picture(view), width), PNG)

    def animation(self, request: Request) -> Answer:
        """Return a game, or best play if there are no moves, as animated SVG."""
        view = _view(request)
        return Answer(animate(*frames_of_view(self._store, view), view.look), SVG)

    def animation_gif(self, request: Request) -> Answer:
        """Return `animation` as GIF; raises `InputError` without resvg or Pillow."""
        view = _view(request)
        width = _number(request, "width", GIF_WIDTH, (MIN_WIDTH, MAX_GIF_WIDTH))
        frames = frames_of_view(self._store, view)
        return Answer(bitmap.gif(*frames, view.look, width), GIF)

    def export(self, request: Request) -> Answer:
        """Return a game, or best play if there are no moves, as PGN file."""
        view = _view(request)
        text = game_text(self._store, view.positions, view.moves, view.notation, view.language)
        return _saved(text, "line.pgn", TEXT)

    # -- tables ------------------------------------------------------------------------------

    def tables(self, request: Request) -> Answer:
        """Return main statistics of the tables in use (`TableStore.available`).

        With the parameter `name`, an endgame in any spelling, return only its table, if there is
        one. A table that cannot be read is listed with its error.
        """
        names, asked = self._store.available(), request.query_params.get("name")
        if asked:
            material = read_material(asked)
            names = [name for name in names if name.material == material]
        return Answer({"tables": [self._entry(name) for name in names]})

    def table(self, request: Request) -> Answer:
        """Return the statistics of one table and the status of its proof.

        The fields are those of `tbgen stats --json` except `file`, `values` and `checked`.
        """
        answer = self._figures(_material(request))
        del answer["histogram"]
        return Answer(answer)

    def histogram(self, request: Request) -> Answer:
        """Return the number of positions with each value in a table."""
        material = _material(request)
        figures, _ = self._store.statistics(material)
        return Answer({"material": material.name, "histogram": figures.to_json()["histogram"]})

    def search(self, request: Request) -> Answer:
        """Return positions of a table that meet the query, as JSON, CSV or PGN."""
        material, query = _material(request), request.query_params
        fields, view = fields_of(query), read_view(query, parse_position(START_FEN))
        require_clear_colours(request.path_params["material"], fields)
        limit = _number(request, "limit", SHOWN, (1, MOST_SHOWN))
        seed = _number(request, "seed", 0, (0, LARGEST_NUMBER))
        wanted, sort = read_query(fields), fields.get("sort")
        found = search(self._store, material, wanted, seed, limit, sort=sort)
        form = query.get("format") or "json"
        if form == "pgn":
            games = [
                game_text(self._store, [position], [], view.notation, view.language)
                for position in found.positions
            ]
            return _saved("\n".join(games), f"{material}.pgn", TEXT, found.complete)
        values = [(each, self._store.tables.probe(each)) for each in found.positions]
        if form == "csv":
            lines = ["fen,side,outcome,order,plies"]
            for position, value in values:
                numbers = (position.side, value.outcome, value.order, value.plies or 0)
                lines.append(",".join([position.fen, *(str(int(number)) for number in numbers)]))
            if wanted.study:
                lengths = ["length", *map(str, found.lengths)]
                lines = [",".join(pair) for pair in zip(lines, lengths, strict=True)]
            text = "".join(f"{line}\n" for line in lines)
            return _saved(text, f"{material}.csv", CSV, found.complete)
        positions = [position_answer(*each, words=view.words) for each in values]
        for entry, length in zip(positions, found.lengths, strict=False):
            entry["length"] = length
        return Answer(
            {
                "material": material.name,
                "candidates": found.candidates,
                "share": found.share,
                "positions": positions,
            },
            complete=found.complete,
        )

    def graph(self, request: Request) -> Answer:
        """Return a material and those reachable by captures, with the captures of each, as JSON.

        A material comes after those that its captures lead to.
        """
        material, graph = _graph(request)
        present = set(self._store.materials())
        nodes = [
            {
                "material": node.name,
                "present": node in present,
                "captures": [
                    {"taken": taken, "material": child.name, "needs_table": child.needs_table}
                    for taken, child in captures
                ],
            }
            for node, captures in graph
        ]
        return Answer({"material": material.name, "nodes": nodes})

    def dot(self, request: Request) -> Answer:
        """Return the graph of captures as DOT for Graphviz; only of materials that need a table."""
        material, graph = _graph(request)
        edges = [
            f'  "{node}" -> "{child}" [label="{taken}"];'
            for node, captures in graph
            for taken, child in captures
            if child.needs_table
        ]
        lines = [f'digraph "{material}" {{', f'  "{material}";', *edges, "}"]
        return Answer("\n".join(lines) + "\n", TEXT)

    # -- the server --------------------------------------------------------------------------

    def health(self, request: Request) -> Answer:
        """Return status `ok` and the number of tables, for a health check.

        Raises the errors of scanning the tables and of finding the board's first position.
        """
        _ = self._store.fingerprint, self._store.first_position
        return Answer({"status": "ok", "tables": len(self._store.available())})

    def metrics(self, request: Request) -> Answer:
        """Return metrics for Prometheus: requests, tables, and use of the block cache."""
        runner: EndpointRunner = request.app.state.runner
        lines = ["# TYPE tbgen_requests_total counter"]
        for (name, status), count in sorted(runner.requests.items()):
            lines.append(f'tbgen_requests_total{{endpoint="{name}",status="{status}"}} {count}')
        cache = self._store.tables.cache_info
        for name, kind, number in (
            ("cache_hits_total", "counter", cache.hits),
            ("cache_misses_total", "counter", cache.misses),
            ("cache_bytes", "gauge", cache.bytes),
            ("tables", "gauge", len(self._store.available())),
        ):
            lines += [f"# TYPE tbgen_{name} {kind}", f"tbgen_{name} {number}"]
        return Answer("\n".join(lines) + "\n", "text/plain; version=0.0.4")

    def _figures(self, material: Material) -> dict[str, Any]:
        """Return `TableStore.statistics` and the status of the proof as JSON fields."""
        statistics, file = self._store.statistics(material)
        proof = self._store.proof(material).to_json()
        return statistics.to_json() | file | {"proof": proof}

    def _entry(self, name: TableName) -> dict[str, Any]:
        """Return a table's entry in `tables`; an unreadable table's has nulls and an error."""
        try:
            figures = self._figures(name.material)
        except (TablebaseError, OSError) as error:
            failed = failure(error).body
            assert isinstance(failed, dict)
            return dict.fromkeys(ENTRY["properties"]) | name.to_json() | failed
        return {key: figures[key] for key in ENTRY["properties"]}


def board_answer(facts: Facts, view: View, mechanism: Mechanism | None) -> dict[str, Any]:
    """Return the JSON of a position, described by `schemas.SCHEMAS` (`probe`, `missing`)."""
    position, result, moves = facts.position, facts.result, []
    for each in facts.moves:
        move = move_answer(position, result, each, "iccs", mechanism, view.words)
        move["fen"] = each.after.fen
        if view.notation != "iccs":
            move["text"] = view.move_name(position, each.move)
        if each.move in facts.forbidden:
            judgement = facts.forbidden[each.move]
            move["forbidden"] = explain_judgement(judgement, facts.rules, view.language)
        moves.append(move)
    if result is not None:
        answer = position_answer(position, result, mechanism, view.words)
    else:
        answer = dict.fromkeys(POSITION) | {
            "fen": position.fen,
            "material": position.material.name,
            "side": position.side.name.lower(),
            "outcome": outcome_name(None),
            "in_check": in_check(position),
            "reason": translate_error(f"no table of {position.material}", "", view.language)[0],
        }
    answer["terminal"] = not moves
    if view.moves:
        answer["suggested"] = facts.suggested.move.iccs if facts.suggested else None
        judged = facts.judgement
        answer["judgement"] = judged and judgement_answer(judged, facts.rules, view.language)
    return answer | {"moves": moves}


def judgement_answer(judgement: Judgement, rules: Rules, language: str) -> dict[str, Any]:
    """Return the JSON of the referee's judgement, with its reason in a language."""
    return judgement.as_json() | {"reason": explain_judgement(judgement, rules, language)}


def _view(request: Request) -> View:
    """Return the view of a request's query; raises `InputError`, also without a position."""
    query = request.query_params
    if position_text(query) is None:
        raise InputError("no position is given", "add ?fen= and a position")
    return read_view(query, parse_position(START_FEN))


def _number(request: Request, name: str, default: int, limits: tuple[int, int]) -> int:
    """Return a number from the query, `default` without one; raise `RequestError` off limits."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    least, most = limits
    number = number_of(text, -1, digits=7)
    if not least <= number <= most:
        message = f"{name} is no number from {least} to {most}"
        raise RequestError(400, message, f"{name}={default}")
    return number


def _material(request: Request) -> Material:
    """Return the material in the path; raises `MaterialError`, `RequestError` if all is drawn."""
    material = Material.parse(request.path_params["material"])
    if not material.needs_table:
        raise RequestError(
            404, f"{material} has no table: without an attacker all is drawn", "try KRKN"
        )
    return material


def _graph(request: Request) -> tuple[Material, list[tuple[Material, list[tuple[str, Material]]]]]:
    """Return the material in the path, and the materials of its closure, each with its captures.

    A capture is (FEN letter of the captured piece, material left). Raises like `_material`, and
    `RequestError` if the `closure_bound` is more than ten times `MAX_NODES`.
    """
    material = _material(request)
    if closure_bound(material) > 10 * MAX_NODES:
        raise RequestError(400, "the graph is too large", "ask for one with fewer pieces")
    letter = LETTERS_BY_CODE
    return material, [
        (node, [(letter[piece_code(*taken)], child) for taken, child in node.captures().items()])
        for node in material.closure()
    ]


def _saved(text: str, name: str, media_type: str, complete: bool = True) -> Answer:
    """Return an answer that the browser saves as file `name`."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Answer(text, media_type, headers=headers, complete=complete)
