"""One run at a time: runs that write under one folder wait for each other."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 2.0
"""Seconds after which a waiting run says what it waits for."""


@contextmanager
def locked(root: Path, *, shared: bool = False) -> Iterator[None]:
    """Holds the folder's lock. Runs that share it, since they only read, do not wait for another.

    The lock is advisory and leaves no file. Where the folder is absent, or the platform or the
    file system knows no locks, there is none.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        descriptor = os.open(root, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        _wait(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, root)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, kind: int, root: Path) -> None:
    from fcntl import LOCK_NB, flock

    end = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                flock(descriptor, kind | LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    break
                time.sleep(0.01)
        print(f"waiting: another attnmatrix gen is at work under {root}", file=sys.stderr)
        flock(descriptor, kind)
    except OSError:  # a file system without locks
        return
