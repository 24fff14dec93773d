"""How far the probe is: a bar that lives on a terminal, and now and then a line elsewhere."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from typing import TYPE_CHECKING

from ..evidence import OUTCOMES

if TYPE_CHECKING:
    from typing import TextIO

QUIET_S = 10.0
"""Seconds between two lines where there is no terminal."""

_BAR = 20


class Progress:
    """Told each outcome; writes to a stream. `done` counts what earlier runs had answered."""

    def __init__(self, stream: TextIO, total: int, done: Counter[str]) -> None:
        self._stream, self._total, self._counts = stream, total, done
        self._live = stream.isatty()
        self._start = self._shown = time.monotonic()
        self._busy_with = ""
        self._show()

    def add(self, outcome: str, kernel: str) -> None:
        """One more case has its outcome."""
        self._counts[outcome] += 1
        self._busy_with = kernel
        now = time.monotonic()
        if now - self._shown >= (0.1 if self._live else QUIET_S):
            self._show()

    def say(self, words: str) -> None:
        """A line of its own, above the bar."""
        self._stream.write(("\r\x1b[K" if self._live else "") + words + "\n")
        self._stream.flush()
        if self._live:
            self._show()

    def close(self) -> None:
        """Writes the last state."""
        self._busy_with = ""
        self._show()
        if self._live:
            self._stream.write("\n")
            self._stream.flush()

    def _show(self) -> None:
        self._shown = time.monotonic()
        done = self._counts.total()
        counts = " ".join(f"{name} {n}" for name in OUTCOMES if (n := self._counts[name]))
        text = f"{done}/{self._total} {counts} {self._shown - self._start:.0f} s {self._busy_with}"
        if self._live:
            filled = _BAR * done // max(self._total, 1)
            bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {text}"
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[K" + bar[:width])
        else:
            self._stream.write(f"probe: {text.strip()}\n")
        self._stream.flush()
