"""Standard output that a closed pipe or a full disk cannot break: a command keeps its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO


class Output:
    """While entered, takes the place of sys.stdout: passes text on until that fails, then drops it.

    `error` says why it failed.
    """

    def __init__(self) -> None:
        self.stream: TextIO = sys.stdout
        self.error: OSError | None = None

    def __enter__(self) -> Output:
        sys.stdout = self
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()
        sys.stdout = self.stream
        if self.error is not None:  # or Python would fail again on leaving, with what it holds
            try:  # noqa: SIM105 - contextlib takes longer to import than all of this
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            except OSError:
                pass

    def write(self, text: str) -> int:
        """Passes text on, or drops it."""
        self._try(self.stream.write, text)
        return len(text)

    def flush(self) -> None:
        """Passes on what the stream holds, or drops it."""
        self._try(self.stream.flush)

    def _try(self, do: Callable[..., object], *arguments: object) -> None:
        if self.error is None:
            try:
                do(*arguments)
            except OSError as error:
                self.error = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
