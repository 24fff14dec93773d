"""The site, built once a session and served on this machine, and pages of a browser that see it."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    pytest.importorskip("material", reason="mkdocs-material builds the site")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a browser that left a page before it had all of it."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, with a slash at the end."""
    handler = functools.partial(_Quiet, directory=str(site))
    with _Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


# No name of another machine resolves, so nothing leaves this one.
_ARGUMENTS = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium: CHROMIUM in the environment, the machine's own, or playwright's."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with api.sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
        except api.Error as error:
            pytest.skip(f"no Chromium starts here: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


class _Pages:
    """Pages that are watched: what they ask of others than the site, and the errors they report."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address
        self.faults: list[str] = []

    def open(self, **options: Any) -> Any:
        """A page of a context of its own, with options of playwright's contexts."""
        context = self.browser.new_context(base_url=self.address, **options)
        context.set_default_timeout(10_000)
        context.on("request", self._watch)
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(f"error on the page: {error}"))
        page.on("console", self._read)
        return page

    def _watch(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:", "about:")):
            self.faults.append(f"request left the site: {request.url}")

    def _read(self, line: Any) -> None:
        if line.type == "error":
            self.faults.append(f"console: {line.text}")


@pytest.fixture
def new_page(browser: Any, address: str) -> Iterator[Any]:
    """Makes a page, with options of playwright's contexts. Fails the test if the page asks for
    anything outside the site, or reports an error."""
    pages = _Pages(browser, address)
    opened = []

    def make(**options: Any) -> Any:
        opened.append(pages.open(**options))
        return opened[-1]

    yield make
    for page in opened:
        page.context.close()
    assert pages.faults == []


@pytest.fixture(scope="session")
def _kept(browser: Any, address: str) -> tuple[_Pages, Any]:
    pages = _Pages(browser, address)
    return pages, pages.open()


@pytest.fixture
def page(_kept: tuple[_Pages, Any]) -> Iterator[Any]:
    """A page of an ordinary window, watched as those of new_page. Tests have it one after another,
    as starting one costs more than most of them; each begins by going somewhere."""
    pages, kept = _kept
    yield kept
    kept.evaluate("localStorage.clear(), sessionStorage.clear()")
    kept.goto("about:blank")
    faults, pages.faults = pages.faults, []
    assert faults == []
