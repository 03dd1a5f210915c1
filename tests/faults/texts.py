"""Mutated text at every entry point: documented exceptions, valid JSON, an answer to each line.

    functions   every function that reads text, called in this process
    commands    `tbgen` commands with texts as arguments, with and without --json, in this process
    lines       probe - and judge - in processes of their own, with bytes as input

A text is a valid one of some notation with a few changes: characters lost, doubled, exchanged,
replaced by strange ones, parts of another text, enormous numbers. `readers` lists the exceptions
that each function may raise. A command reports every failure by one clear line, and with --json by
JSON.

    python -m tests.faults.texts --count 1000000 --only functions
"""

from __future__ import annotations

import io
import json
import random
import string
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial

from click.testing import CliRunner

from tbgen.board.web.editor import read_sketch
from tbgen.board.web.view import preferred_language, read_view
from tbgen.building.sets import materials_of
from tbgen.cli import main as command_line
from tbgen.engine.ucci import Ucci
from tbgen.engine.uci import Uci
from tbgen.finding.query import read_query
from tbgen.indexing import InputError, Material, Position
from tbgen.indexing.squares import parse_square
from tbgen.notation import (
    MOVE_NOTATIONS,
    begins_with_moves,
    format_position,
    parse_move,
    read_game,
    read_material,
    read_position,
    split_games,
)
from tbgen.publishing.index import read_index
from tbgen.referee.game import Diagram
from tbgen.tables import TableName
from tbgen.tables.certificates import Certificate
from tbgen.tables.statistics import TableStatistics
from tests.faults.campaign import (
    CORRUPT,
    FINDINGS,
    OK,
    REFUSED,
    Budget,
    Tally,
    complaint,
    main,
    run,
    tbgen,
)

MOST_SECONDS = 0.05
FENS = (
    "3k5/9/9/9/9/9/9/9/9/R3K4 w", "9/9/4k4/9/9/9/9/9/1n7/R2K5 b - - 0 1",
    "r1bakab1r/9/1cn1c1n2/p1p1p1p1p/9/9/P1P1P1P1P/1CN1C1N2/9/R1BAKAB1R w",
    "4k4/4a4/9/9/9/4N4/9/5K3/9/9 w", "2bak4/4a4/4b4/9/9/9/9/4B4/4A4/2BAK1R2 w",
)  # fmt: skip
STATISTICS = (
    '{"material":"KRK","rules":"none","metric":"dtm","orders_limit":null,"index_size":4050,'
    '"red_to_move":{"legal":3,"wins":1,"draws":1,"losses":1},"orders":[{"order":1,"positions":2}]}'
)
INDEX = (
    '{"format":1,"files":[{"file":"KRK.wxf.dtm.xqt","bytes":946,"sha256":"'
    + "0f" * 32 + '","digest":"' + "a1" * 16 + '","values":null}]}'
)  # fmt: skip
CERTIFICATE = (
    '{"certificate":1,"table":"KRK.wxf.dtm","digest":"' + "a1" * 16 + '","supporting":[],'
    '"method":"classes","tbgen":"0.1.0","seconds":1.5}'
)
GAMES = (
    f'[Game "Chinese Chess"]\n[FEN "{FENS[0]}"]\n1. a0a1 d9d8 {{a note}} 2. (R2=3) R9-9 $1 1-0',
    "1. 炮二平五 马8进7; a note\n2. h0g2 *",
    "[DhtmlXQ_binit]0919293949596979891777062646668600102030405060708012720323436383"
    "[/DhtmlXQ_binit][DhtmlXQ_movelist]77477062[/DhtmlXQ_movelist]",
    f"{FENS[0]} - - 0 1 moves a0a1 d9d8",
    f'[FEN "{FENS[0]}"]\n1. a0a1 1-0\n[Event "b \\"x\\""]\n*',
    "（红先）1．车九进一，将4退1。《书》第2回合：车一进一！红先胜",
)
TEXTS = (
    *FENS,
    *(format_position(Position.from_fen(fen), "pai") for fen in FENS),
    *(format_position(Position.from_fen(fen), "board") for fen in FENS),
    "11017,30,570,0,0,0", "[11017, 30, 570, 0, 0, 0]", "KRKN", "KRNCAABBKRNC", "KRK.wxf.dtm.xqt",
    "KRNKR.check-o1.dtc.xqt", "h2e2", "a0a1", "a1a10", "R2+1", "C9.8", "+R=3", "車九進一",
    "炮二平五", "前马退4", "后兵进１", "a0a1 d9d8 a1a0 d8d9", "zh-TW,zh;q=0.9,en;q=0.5", "e9",
    "position fen 3k5/9/9/9/9/9/9/9/9/R3K4 w moves a0a1", "setoption name Hash value 64",
    "position startpos moves h2e2 h9g7", "go depth x", "setoption usemillisec true", STATISTICS,
    INDEX, CERTIFICATE, *GAMES, "车马炮对車馬", "krn v kr", "KR*KN*", "KR?KN", "table1", "20",
)  # fmt: skip
STRANGE = (
    *"\0\t\n\r\x1b[]{}();,.:/\\'\"%+-*=#@ \x85\u00a0\u2028\u3000\u200b\ufeff", "\x1b[2J", "\ud800",
    "\U0001f600",
    "９", "٣", "K" * 40, "9" * 30, "1" * 5000, "/" * 200, " " * 2000, "é", "ﬀ", "İ", "-1", "1e999",
    "NaN", "null", "[" * 300, "帥", "車", "二", "moves", "2147483648", "18446744073709551616",
)  # fmt: skip
_LETTERS = string.ascii_letters + string.digits + "/ ,"


def mutated(rng: random.Random, texts: Sequence[str] = TEXTS) -> str:
    """Return one of the texts after one, two or four random changes."""
    text = rng.choice(texts)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((1, 1, 1, 5, 30)))
        kind = rng.randrange(7)
        if kind == 0:
            text = text[:at] + text[to:]
        elif kind == 1:
            text = text[:to] + text[at:to] * rng.choice((1, 1, 2, 50)) + text[to:]
        elif kind == 2:
            text = text[:at] + rng.choice(_LETTERS) + text[to:]
        elif kind == 3:
            text = text[:at] + rng.choice(STRANGE) + text[to:]
        elif kind == 4:
            other = rng.choice(texts)
            text = text[:at] + other[rng.randrange(len(other)) :]
        elif kind == 5:
            text = (
                text[:at]
                + chr(rng.choice((rng.randrange(128), rng.randrange(0x11000))))
                + text[at:]
            )
        else:
            text = text.swapcase()
    return text


def readers() -> dict[str, tuple[Callable[[str], object], type[Exception] | tuple[()]]]:
    """Return the functions that read text, by name: (function, exception it may raise or ())."""
    start = Position.from_fen(FENS[2])
    endgame = Position.from_fen(FENS[0])
    found: dict[str, tuple[Callable[[str], object], type[Exception] | tuple[()]]] = {
        "Position.from_fen": (Position.from_fen, InputError),
        "Diagram.from_fen": (Diagram.from_fen, InputError),
        "read_position": (read_position, InputError),
        "Material.parse": (Material.parse, InputError),
        "TableName.parse": (TableName.parse, ()),
        "parse_square": (parse_square, InputError),
        "TableStatistics.from_text": (TableStatistics.from_text, ValueError),
        "preferred_language": (preferred_language, ()),
        "read_game": (read_game, InputError),
        "split_games": (split_games, ()),
        "begins_with_moves": (begins_with_moves, ()),
        "read_sketch": (lambda text: read_sketch({"fen": text, "was": text}, endgame), InputError),
        "read_query": (_wanted, InputError),
        "read_material": (read_material, ()),
        "materials_of": (_materials, InputError),
        "read_index": (lambda text: read_index(text.encode("utf-8", "replace"), ""), InputError),
        "Certificate.from_text": (Certificate.from_text, ValueError),
        "parse_move": (partial(parse_move, start), InputError),
    }
    for notation in MOVE_NOTATIONS:
        reader = partial(parse_move, endgame, notation=notation)
        found[f"parse_move as {notation}"] = (reader, InputError)
    for key in ("fen", "moves", "from", "lang", "pieces"):
        query = partial(_view, key, endgame)
        found[f"read_view {key}"] = (query, InputError)
    for protocol in (Uci, Ucci):
        said: list[str] = []
        found[protocol.__name__] = (partial(_command, protocol(said.append), said), ())
    return found


def _view(key: str, default: Position, text: str) -> object:
    return read_view({key: text}, default)


def _wanted(text: str) -> object:
    return read_query(dict.fromkeys(("turn", "outcome", "decided", "order", "least"), text))


def _materials(text: str) -> object:
    """Select materials of at most four men by words, without `@`, which would name a file."""
    return materials_of(text.replace("@", "").split(), 4)


def _command(protocol: Uci | Ucci, said: list[str], text: str) -> None:
    """Send one line to an engine, and check its answers.

    They must have no line breaks or escape characters inside. The commands `go`, `probe` and
    `quit` are left out.
    """
    said.clear()
    if not text.split()[:1] or text.split()[0] not in ("go", "quit", "probe"):
        protocol.handle(text)
    if any("\n" in line or "\x1b" in line for line in said):
        raise AssertionError(f"an answer that is no line: {said}")


def functions(tally: Tally, budget: Budget, seed: int) -> None:
    """Test random readers with random texts, one reader and one text per try."""
    rng = random.Random(seed)
    every = list(readers().items())
    while budget.take():
        tally.count("texts")
        name, (reader, allowed) = rng.choice(every)
        text = mutated(rng)
        begun = time.thread_time()
        try:
            reader(text)
        except allowed as error:
            tally.count("refused")
            line = str(error)
            tally.expect(line.isprintable() and len(line) < 1000, f"{name}: no line: {line!r}")
        except Exception as error:  # any other exception is a finding
            tally.finding(f"{name}({text[:80]!r}): {type(error).__name__}: {error}")
        seconds = time.thread_time() - begun
        tally.largest("most_cpu_seconds", seconds)
        tally.expect(seconds <= MOST_SECONDS, f"{name}({text[:80]!r}): {seconds:.3f} s")


def commands(tally: Tally, budget: Budget, seed: int) -> None:
    """Test the command line in this process, in an empty directory of tables."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-texts-") as tables:
        while budget.take():
            tally.count("commands")
            words = _words(rng, tables)
            as_json = rng.random() < 0.5
            stdin = mutated(rng).encode("utf-8", "surrogatepass") if "-" in words else b""
            options = ["--json"] if as_json else []
            begun = time.thread_time()
            result = CliRunner().invoke(command_line, [words[0], *options, *words[1:]], input=stdin)
            tally.largest("most_cpu_seconds", time.thread_time() - begun)
            what = f"{words!r:.200}"
            tally.expect(result.exit_code in (OK, FINDINGS, REFUSED, CORRUPT),
                         f"{what}: {result.exception!r}")  # fmt: skip
            tally.count("refused", result.exit_code != OK)
            if as_json and "-h" not in words:
                _check_json(tally, result.stdout, what)


def _words(rng: random.Random, tables: str) -> list[str]:
    """Return the words of a random command with random texts, on a directory of tables."""
    one, two = (mutated(rng) for _ in range(2))
    where = ["--tables", tables]
    return rng.choice(
        (
            ["convert", "--", one], ["convert", f"--move={two}", "--", one], ["convert", "-"],
            ["convert", f"--to={two}", "--", one], ["convert", f"--move={two}", FENS[0]],
            ["judge", "--", one, *two.split()], ["judge", FENS[0], "--", *two.split()],
            ["probe", *where, "--", one], ["line", *where, "--", one],
            ["plan", *where, "--", one], ["stats", *where, "--", one], ["ls", *where],
            ["dump", *where, f"--out={tables}/x", "--", one], ["plan", f"--memory={two}", "KRK"],
        )
    )  # fmt: skip


def _check_json(tally: Tally, output: str, what: str) -> None:
    """Check that every line of an output is JSON."""
    # Not `splitlines`, which breaks at characters that JSON may hold.
    lines = output.rstrip("\n").split("\n") if output else []
    for line in lines:
        try:
            json.loads(line)
        except ValueError:
            tally.finding(f"{what}: no JSON: {line[:80]!r}")
            return
    tally.count("json_answers", len(lines))


def lines(tally: Tally, budget: Budget, seed: int) -> None:
    """Send thousands of lines to `probe -` or `judge -` in one process, and check the answers.

    At least 80 % of the lines must be answered, since only blank ones get no answer. Every answer
    must be JSON.
    """
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tbgen-texts-") as tables:
        while not budget.spent:
            sent = [_line(rng) for _ in budget.take_up_to(5000)]
            tally.count("lines", len(sent))
            name = rng.choice(("probe", "judge"))
            words = [name, "-", "--json", *(["--tables", tables] if name == "probe" else [])]
            ended = run(tbgen(*words), stdin=b"\n".join([*sent, FENS[0].encode()]))
            wrong = complaint(ended, [OK, FINDINGS, REFUSED])
            tally.expect(ended.status in (FINDINGS, REFUSED) and "Traceback" not in ended.stderr,
                         f"{words}: {wrong}")  # fmt: skip
            output = ended.stdout.decode("utf-8", "replace")
            # Lines that are blank after decoding get no answer, so the number is unknown.
            answers = output.count("\n")
            tally.expect(answers >= 0.8 * len(sent), f"{words}: {answers} answers")
            _check_json(tally, output, name)
            tally.largest("mean_cpu_seconds", ended.seconds / len(sent))


def _line(rng: random.Random) -> bytes:
    """Return one or two random texts as bytes on one line; some are no valid UTF-8."""
    text = mutated(rng).replace("\n", " ")
    if rng.random() < 0.5:
        text += ";" + mutated(rng).replace("\n", ",")
    encoding = rng.choice(("utf-8",) * 18 + ("gbk", "utf-16"))
    data = bytearray(text.encode(encoding, "replace"))
    if data and rng.random() < 0.1:
        data[rng.randrange(len(data))] = rng.randrange(128, 256)
    return bytes(data).replace(b"\n", b" ")


PARTS = {"functions": functions, "commands": commands, "lines": lines}

if __name__ == "__main__":
    sys.stdin = io.StringIO()
    main("texts", __doc__, PARTS, 100_000)
