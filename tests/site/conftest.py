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


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, with a slash at the end."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium: CHROMIUM in the environment, the machine's own, or playwright's."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with api.sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"no Chromium starts here: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture
def new_page(browser: Any, address: str) -> Iterator[Any]:
    """Makes a page, with options of playwright's contexts. Fails the test if the page asks for
    anything outside the site, or reports an error."""
    contexts, faults = [], []

    def make(**options: Any) -> Any:
        context = browser.new_context(base_url=address, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)

        def route(route: Any) -> None:
            if route.request.url.startswith((address, "data:", "blob:")):
                route.continue_()
            else:
                faults.append(f"request left the site: {route.request.url}")
                route.abort()

        context.route("**/*", route)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"error on the page: {error}"))
        page.on(
            "console",
            lambda line: faults.append(f"console: {line.text}") if line.type == "error" else None,
        )
        return page

    yield make
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def page(new_page: Any) -> Any:
    """A page of an ordinary window."""
    return new_page()
