"""The search box: a text leads to an endgame, a position or a game, or to a message."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen.board.web.middleware import MAX_BODY
from tests.board.test_pages import JUDGED, LOOP, page


def test_the_search_box_finds_endgames_and_positions(client: TestClient) -> None:
    def found(words: str) -> str:
        answer = client.get("/find", params={"q": words}, follow_redirects=False)
        return str(answer.headers.get("location"))

    for words in ("KRKN", "krkn", "R v N", "车对马", "車對馬", "Chariot versus a horse"):
        assert found(words) == "/endgames/KRKN", words
    for words in ("rook", "车", "单车", "俥", "KR", "kr"):
        assert found(words) == "/handbook/KR", words
    for words in ("车马炮", "rook, knight and cannon", "KRNC", "kRhc", "kcrn"):
        assert found(words) == "/endgames/KRNCK", words
    assert found("单车对光将") == found("单车擒光将") == "/endgames/KRK"
    assert "rook against knight" in page(client, "/find", 400, q="bare king")
    assert "is no endgame, position or game" in page(client, "/find", 400, q="nonsense")
    assert "「nonsense」不是" in page(client, "/find", 400, q="nonsense", lang="zh-Hant")
    assert "“nonsense”不是残局、局面或棋谱" in page(
        client, "/find", 400, q="nonsense", lang="zh-Hans"
    )
    for words in ("K", "krnx"):
        assert "is no endgame, position or game" in page(client, "/find", 400, q=words), words
    for words in ("车车车对将", "KRRRK", "krrr"):
        refused = page(client, "/find", 400, q=words, lang="zh-Hans")
        assert "一方有3个车" in refused
        assert "最多2个" in refused
    assert found("9/9/4k4/9/9/9/9/9/1n7/R2K5 紅方先") == f"/?fen={LOOP}"
    assert "of the FEN has 10 files" in page(client, "/find", 400, q=LOOP.replace("1n7", "1n8"))
    assert found("994K4999991N7r2k5") == f"/?fen={LOOP}"
    assert found("9/9/4k4/9/9/9/9/9/1n7/R2K5 w") == f"/?fen={LOOP}"
    assert found("") == "/"


GAMES = (
    "炮二平五 马8进7 马二进三 车９平８",
    "1. h2e2 h9g7 2. h0g2 i9h9",
    "C2.5 H8+7 H2+3 R9.8",
    '[Game "Chinese Chess"]\n[Red "?"]\n1. C2.5 {a comment} H8+7 (1... H2+3) 2. H2+3 R9.8 *',
    "[DhtmlXQ_binit]8979695949392919097717866646260600102030405060708012720323436383"
    "[/DhtmlXQ_binit][DhtmlXQ_movelist]7747706279678070[/DhtmlXQ_movelist]",
)
"""One opening of four plies in five notations or file formats."""


@pytest.mark.parametrize("given", GAMES)
def test_games_are_read_from_any_text(client: TestClient, given: str) -> None:
    answer = client.get("/find", params={"q": given}, follow_redirects=False)
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert asked["moves"] == ["h2e2,h9g7,h0g2,i9h9"]
    assert asked["fen"] == ["rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR_w"]


def test_two_games_are_not_merged(client: TestClient) -> None:
    fen = LOOP.replace("_", " ")
    text = f'[FEN "{fen}"]\n1. d0d1 *\n\n[FEN "{fen}"]\n1. a0a1 *\n'
    assert "The text has 2 games" in page(client, "/find", 400, q=text)
    assert "有2盘棋" in page(client, "/find", 400, q=text, lang="zh-Hans")


def test_long_games_are_posted(client: TestClient) -> None:
    """The form of the box takes a game of 300 plies, whose text is too long for an address."""
    moves = "炮二平三 炮8平7 炮三平二 炮7平8 " * 75
    assert 'action="/find" method="post"' in page(client, "/")
    answer = client.post("/find", data={"q": moves}, follow_redirects=False)
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert asked["moves"][0].count(",") == 299
    short = client.post("/find", data={"q": "炮二平五", "lang": "en"}, follow_redirects=False)
    assert short.headers["location"].startswith("/find?q=")
    raw = "q=炮二平五&lang=en".encode()  # not encoded as a form
    found = client.post("/find", content=raw, follow_redirects=False)
    assert found.headers["location"] == short.headers["location"]
    assert client.post("/find", data={"q": moves * 2}).status_code == 400  # more than 400 moves
    assert client.post("/find", data={"q": "x" * MAX_BODY}).status_code == 413
    assert client.post("/find", data={"x": moves}).status_code == 400  # an unknown field


def test_a_game_is_judged_ply_by_ply_beside_the_tables(client: TestClient) -> None:
    fen = LOOP.replace("_", " ")
    text = page(client, "/find", q=f"{fen} - - 0 1 moves {JUDGED.replace(',', ' ')}")
    record = text.split('<p class="game">')[1].split("</p>")[0]
    assert record.count('<i class="check">check</i>') == 2
    assert record.count('<b class="num win">') == 2
    assert record.count('<b class="num loss">') == 2
    assert "art. 6" in text
    hidden = page(client, "/", fen=LOOP, moves=JUDGED, mode="play")
    assert 'class="num' not in hidden
    wrong = page(client, "/find", 400, q=f"{fen} d0d1 a0a9")
    assert 'class="notice problem"' in wrong


@pytest.mark.parametrize(
    ("moves", "result", "said"),
    [
        ("d0d1", "1/2-1/2", "The text says “Draw”, but the tables say “Red wins”."),
        (JUDGED, "0-1", "The text says “Black wins”, but the rules say “Red wins”."),
        ("d0d1", "1-0", ""),
        ("d0d1", "*", ""),
    ],
)
def test_a_stated_result_is_compared(
    client: TestClient, moves: str, result: str, said: str
) -> None:
    """A pasted game gets a remark if its stated result disagrees with the tables or with the rules.

    The result is read from the PGN tag, or from the end of the moves.
    """
    game = f'[FEN "{LOOP.replace("_", " ")}"]\n{moves.replace(",", " ")}'
    for given in (f'[Result "{result}"]\n{game}', f"{game} {result}"):
        answer = client.get("/find", params={"q": given, "lang": "en"}, follow_redirects=False)
        assert answer.status_code == (200 if said else 303)
        assert said in answer.text
    chinese = page(client, "/find", 200, q=f"{game} {result}", lang="zh-Hant")
    assert ("棋譜記為「" in chinese) == bool(said)


def test_a_bad_move_keeps_the_moves_before_it(client: TestClient) -> None:
    found = client.get("/find", params={"q": "1. 炮二平五 马8进9 hello", "lang": "en"})
    assert found.status_code == 400
    assert "Move 2 of Red: &#x27;hello&#x27; is no move" in found.text
    assert "The position after 2 plies is shown." in found.text
    assert found.text.count("Write h2e2") == 1
    assert "Moves (" in found.text  # of a position that no table can hold
    assert '<b class="num unknown">' not in found.text
    assert "moves=h2e2,h9i7" in found.text
    after_one = client.get("/find", params={"q": "炮二平五 a9b9", "lang": "en"})
    assert "The position after 1 ply is shown." in after_one.text
    chinese = client.get("/find", params={"q": "炮二平五 a9b9", "lang": "zh-Hans"})
    assert "第1回合黑方：" in chinese.text
    first = client.get("/find", params={"q": "马4进2", "lang": "zh-Hans"})
    assert "“马4进2”不是合法着法" in first.text  # no position
    alone = client.get("/find", params={"q": "h2e2 a9b9", "lang": "en"})
    assert "Move 1 of Black: a9b9: b9 is held" in alone.text  # squares are in lower case


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        ("77477", "&#x27;7&#x27; is no move of a DhtmlXQ move list"),
        ("ab77", "&#x27;ab77&#x27; is no move of a DhtmlXQ move list"),
        ("7771", "h2h8"),  # no legal move
    ],
)
def test_a_bad_dhtmlxq_move_list_is_named(client: TestClient, moves: str, said: str) -> None:
    game = f"[DhtmlXQ_movelist]{moves}[/DhtmlXQ_movelist]"
    found = client.get("/find", params={"q": game, "lang": "en"})
    assert found.status_code == 400
    assert said in found.text
    assert "FEN" not in found.text
