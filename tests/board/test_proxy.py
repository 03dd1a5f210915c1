"""The board behind a proxy: public addresses, no building, no directory names.

nginx runs with the configuration of docs/board-public.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.web.assets import assets, bundle
from tbgen.board.web.routes import create_app
from tests.helpers.board_server import demo
from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sessions import blocks

FEN = "9/9/4k4/9/9/9/9/3n5/9/R2K5_b"
PUBLIC = {"x-forwarded-host": "b.org", "x-forwarded-proto": "https"}
UNDER = PUBLIC | {"x-forwarded-prefix": "/xiangqi"}


@pytest.fixture(scope="module")
def near() -> Iterator[TestClient]:
    """Yield a client on its board's machine; the board refuses requests for other host names."""
    with open_tablebase(demo().tables) as tables:
        app = create_app(tables, demo().tables, loopback_only=True)
        yield TestClient(app, "http://127.0.0.1:8064", client=("127.0.0.1", 50000))


def links(page: str) -> set[str]:
    return set(re.findall(r'\b(?:href|src|action)="([^"#][^"]*)"', page))


def test_links_frames_and_previews_have_the_public_address(near: TestClient) -> None:
    page = near.get("/", params={"fen": FEN}, headers=UNDER).text
    assert 'property="og:image" content="https://b.org/xiangqi/v1/render.png?' in page
    assert 'property="og:url" content="https://b.org/xiangqi/?fen=' in page
    assert "https://b.org/xiangqi/embed?" in page
    assert "127.0.0.1" not in page
    assert all(link.startswith(("/xiangqi/", "https://b.org/xiangqi/")) for link in links(page))
    assert 'data-root="/xiangqi/"' in page


def test_a_prefix_may_come_with_the_path_or_without(near: TestClient) -> None:
    for path in ("/endgames", "/xiangqi/endgames"):
        assert near.get(path, headers=UNDER).status_code == 200
    # A path with the same prefix is another path.
    assert near.get("/xiangqi2/endgames", headers=UNDER).status_code == 404
    moved = near.get("/endgame.cgi?4K44B49994n495k399", headers=UNDER, follow_redirects=False)
    assert moved.headers["location"].startswith("/xiangqi/?pos=")


def test_the_search_box_is_posted_under_the_prefix(near: TestClient) -> None:
    for path in ("/find", "/xiangqi/find"):
        answer = near.post(path, data={"q": "KRKN"}, headers=UNDER, follow_redirects=False)
        assert answer.headers["location"].startswith("/xiangqi/")


def test_openapi_has_the_prefix(near: TestClient) -> None:
    told = [near.get("/openapi.json", headers=each).json()["servers"] for each in (UNDER, {})]
    assert told == [[{"url": "/xiangqi"}], [{"url": "/"}]]


def test_an_error_is_a_page_under_the_prefix(near: TestClient) -> None:
    page = near.get("/none", headers={**UNDER, "accept": "text/html", "accept-encoding": ""})
    assert page.status_code == 404
    assert len(page.content) == int(page.headers["content-length"])
    assert all(link.startswith("/xiangqi/") for link in links(page.text))


def test_hints_name_no_path(near: TestClient) -> None:
    """A path would be wrong under a prefix."""
    for path in ("/none", "/static/none"):
        assert "/" not in near.get(path, headers=UNDER).json()["hint"]
    assert "See all chapters" in near.get("/handbook/none", headers=UNDER).text


def test_cached_answers_depend_on_the_address(near: TestClient) -> None:
    """The ETag of a page depends on the public host and path prefix that the proxy states."""
    tags = {near.get("/", headers=headers).headers["etag"] for headers in ({}, PUBLIC, UNDER)}
    assert len(tags) == 3


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-host": 'b.org"><script>'}, {"x-forwarded-host": "b.org/x"},
        {"x-forwarded-prefix": '/"onload="x'}, {"x-forwarded-prefix": "//evil.example"},
        {"x-forwarded-proto": "javascript"}, {"x-forwarded-for": "x" * 5000},
    ],
)  # fmt: skip
def test_invalid_proxy_headers_are_ignored(near: TestClient, headers: dict[str, str]) -> None:
    page = near.get("/", params={"fen": FEN}, headers=headers)
    assert page.status_code == 200
    for bad in ("<script>", "onload", "evil.example", "javascript:", "b.org/x"):
        assert bad not in page.text


def test_a_proxy_that_passes_the_host_on_is_told_so(near: TestClient) -> None:
    direct, forwarded = (near.get("/", headers={**each, "host": "b.org"}) for each in ({}, PUBLIC))
    assert direct.status_code == forwarded.status_code == 421
    assert "serve --host" in direct.json()["hint"]
    assert "must not pass Host on" in forwarded.json()["hint"]


def test_proxy_headers_of_other_machines_are_ignored() -> None:
    with open_tablebase(demo().tables) as tables:
        app = create_app(tables)
        far = TestClient(app, "http://tables.example", client=("203.0.113.9", 50000))
        assert "b.org" not in far.get("/", params={"fen": FEN}, headers=PUBLIC).text


def test_public_pages_name_no_directory(near: TestClient) -> None:
    query = {"fen": "3akr3/9/9/9/9/9/9/9/9/3K1RR2_w"}
    assert f"--tables {demo().tables}" in near.get("/", params=query).text
    for host in ("b.org", "localhost"):  # with the documented nginx the client chooses it
        forwarded = PUBLIC | {"x-forwarded-host": host}
        assert str(demo().tables) not in near.get("/", params=query, headers=forwarded).text


def test_files_with_a_fingerprint_are_cached_permanently(near: TestClient) -> None:
    page = near.get("/", params={"fen": FEN}).text
    files = sorted(link for link in links(page) if link.startswith("/static/"))
    assert [file.split("?")[0] for file in files] == [
        "/static/board.css", "/static/board.js", "/static/icon.svg",
    ]  # fmt: skip
    for file in files:
        assert "immutable" in near.get(file).headers["cache-control"]
    old = near.get("/static/board.js?v=00000000")
    assert "immutable" not in old.headers["cache-control"]
    assert set(assets()) == {"board.css", "board.js", "icon.svg"}


def test_modules_are_bundled_in_the_order_of_their_imports() -> None:
    scripts = {
        "a": 'import { two } from "./b.js";\nimport "./c.js";\nshow(two());\n',
        "b": 'import { one } from "./c.js";\nexport function two() {\n  return one + 1;\n}\n',
        "c": "// A comment.\nexport const one = 1;\n",
    }
    text = bundle(scripts)
    assert re.findall(r"const module_(\w)", text) == ["c", "b", "a"]
    assert "A comment" not in text
    with pytest.raises(ValueError, match="cycle"):
        bundle({"a": 'import "./b.js";\n', "b": 'import "./a.js";\n'})


def test_robots_txt(near: TestClient) -> None:
    lines = near.get("/robots.txt", headers=UNDER).text.splitlines()
    assert "Allow: /xiangqi/endgames" in lines
    assert lines[-1] == "Disallow: /xiangqi/"


# -- the recipe ------------------------------------------------------------------------------

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def public(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """URL of nginx in front of a running board, and the path of the board's request log."""
    if NGINX is None:
        pytest.skip("there is no nginx")
    log, inner, outer = tmp_path / "log", free_port(), free_port()
    (recipe,) = blocks((DOCS / "board-public.md").read_text("utf-8"), "nginx")
    recipe = recipe.replace("127.0.0.1:8064", f"127.0.0.1:{inner}")
    recipe = recipe.replace("listen 80;", f"listen 127.0.0.1:{outer};")
    folders = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"daemon off; pid {tmp_path}/pid; error_log stderr; worker_processes 1;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{folders}{recipe}}}\n"
    )
    command = [sys.executable, "-m", "tbgen", "serve", "--no-open", "--log", "--port", str(inner)]
    with (
        log.open("w") as lines,
        running([*command, "--tables", str(demo().tables)], cwd=ROOT, stderr=lines),
        running([NGINX, "-c", str(config), "-p", str(tmp_path)], stderr=subprocess.DEVNULL),
    ):
        wait_for(f"http://127.0.0.1:{outer}/xiangqi/healthz")
        yield f"http://127.0.0.1:{outer}", log


@contextmanager
def running(command: list[str], **options: Any) -> Iterator[None]:
    """Run a process for the duration of the context."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield
        finally:
            process.terminate()


def wait_for(address: str) -> None:
    for _ in range(200):
        try:
            urlopen(address).close()
        except URLError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"nothing answers at {address}")


class Stay(HTTPRedirectHandler):
    """URL handler that returns a redirect as the answer, instead of following it."""

    def redirect_request(self, *_: object) -> None:
        return None


def test_the_recipe_for_nginx(public: tuple[str, Path]) -> None:
    server, log = public
    page = urlopen(f"{server}/xiangqi/?fen={FEN}").read().decode()
    assert f'property="og:url" content="{server}/xiangqi/?fen=' in page
    for link in links(page):
        address = link.replace("&amp;", "&")
        if address.startswith("/xiangqi/static/"):
            urlopen(server + address).close()
        assert address.startswith(("/xiangqi/", f"{server}/xiangqi/"))
    with pytest.raises(HTTPError) as moved:
        build_opener(Stay).open(f"{server}/xiangqi/endgame.cgi?4K44B49994n495k399")
    assert moved.value.headers["location"].startswith("/xiangqi/?pos=")
    answer = json.load(urlopen(f"{server}/xiangqi/v1/probe?fen={FEN}"))
    assert answer["outcome"] == "loss"
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(f"{server}/xiangqi/build", data=b"material=KRK"))
    assert refused.value.code in (403, 405)
    assert b"Disallow: /xiangqi/\n" in urlopen(f"{server}/robots.txt").read()
    lines = log.read_text()
    assert re.search(r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} .* 127\.0\.0\.1:0 - ", lines)


def test_systemd_accepts_the_service(tmp_path: Path) -> None:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("there is no systemd")
    (unit,) = blocks((DOCS / "board-public.md").read_text("utf-8"), "ini")
    program = tmp_path / "tbgen"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = tmp_path / "board.service"
    file.write_text(unit.replace("/opt/tbgen/.venv/bin/tbgen", str(program)))
    checked = subprocess.run([tool, "verify", file], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
