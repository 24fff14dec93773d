"""Signals that end a process wait until a change is whole, or undone."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Stopped(BaseException):
    """A signal came that ends the process."""


class HeldSignals:
    """While entered, signals that would end the process are noted; on leaving, they take effect.

    Handlers of other programs stay theirs, and so do signals that are ignored, as under nohup.
    """

    def __init__(self) -> None:
        self._noted: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> HeldSignals:
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                before = signal.getsignal(number)
                if before in (signal.SIG_DFL, signal.default_int_handler):
                    self._before[number] = before
                    signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = number

    def check(self) -> None:
        """Raises Stopped if a signal has come."""
        if self._noted is not None:
            raise Stopped

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        if self._noted is not None:
            signal.raise_signal(self._noted)
