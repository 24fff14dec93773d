"""One worker process as the probe sees it: what it was asked, since when, and what became of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from .surroundings import child_environment
from .words import ending, last_words

if TYPE_CHECKING:
    from pathlib import Path


class Process:
    """A worker. `asked` is what it works on, `since` when it began (monotonic seconds).

    While it starts, `ready` is false; until it has loaded the library that it is asked about,
    `begun` is. Its log holds all that it and its libraries print.
    """

    def __init__(self, callers: str, device: str, log: Path) -> None:
        self.ready = self.begun = False
        self.asked: Any = None
        self.since = time.monotonic()
        self._log, self._mark, self._rest = log, 0, b""
        self.pipe, ours = os.pipe()
        os.set_blocking(self.pipe, False)
        command = [sys.executable, "-m", "attnmatrix.probe.worker", str(ours), callers, device]
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=(ours,),
                env=child_environment(),
                start_new_session=True,
            )
        os.close(ours)

    def ask(self, asked: Any, request: dict[str, Any]) -> None:
        """Sends a request. A process that has ended meanwhile shows so on its pipe."""
        self.asked, self.begun, self.since = asked, False, time.monotonic()
        self._mark = self._log.stat().st_size
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def begin(self) -> None:
        """The case's time begins."""
        self.begun, self.since = True, time.monotonic()

    def heard(self) -> tuple[list[dict[str, Any]], bool]:
        """The messages that have come, and whether the pipe has ended."""
        ended = False
        while True:
            try:
                read = os.read(self.pipe, 65536)
            except BlockingIOError:
                break
            if not read:
                ended = True
                break
            self._rest += read
        *lines, self._rest = self._rest.split(b"\n")
        return [json.loads(line) for line in lines], ended

    def ended(self) -> bool:
        """Whether the process is gone, though something may still hold its pipe."""
        return self._process.poll() is not None

    def said(self) -> str:
        """The last words that it printed since it was asked."""
        with self._log.open("rb") as log:
            log.seek(self._mark)
            return last_words(log.read())

    def ending(self) -> str:
        """How it ended, and with which words. Waits for it, a moment."""
        try:
            code: int | None = self._process.wait(2)
        except subprocess.TimeoutExpired:
            code = None
        return ": ".join(filter(None, (ending(code), self.said())))

    def kill(self) -> None:
        """Ends it and all that it started. A process that a driver holds goes when that lets go."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        os.close(self.pipe)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
